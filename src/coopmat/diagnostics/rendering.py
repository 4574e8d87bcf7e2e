"""How a place is shown below a message: the source line with a caret, the files and macros on the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.diagnostics.locations import SourceLocation
from coopmat.diagnostics.quoting import LONGEST_NAME, SNIPPET_WIDTH, shortened

TAB_WIDTH = 8


@dataclass(frozen=True, slots=True)
class FixIt:
    """Text that would mend the source: in place of what ``location`` spans, or, with ``length`` 0, before it."""

    location: SourceLocation
    text: str


@dataclass(frozen=True, slots=True)
class Marks:
    """What is shown below the source line besides the caret: ``ranges`` underlined, and a text to insert."""

    ranges: tuple[SourceLocation, ...] = ()
    fix: FixIt | None = None


NO_MARKS = Marks()


def include_trail(location: SourceLocation | None) -> list[str]:
    """One line per file on the way from the main file to an included one, the innermost first."""
    trail: list[str] = []
    place = location.file.included_from if location is not None else None
    while place is not None:
        name = shortened(place.name, LONGEST_NAME)
        trail.append(f"{'In file included' if not trail else '                '} from {name}:{place.line}:")
        place = place.file.included_from
    return trail


def snippet(location: SourceLocation | None, marks: Marks = NO_MARKS) -> list[str]:
    """The source line; below it a caret with tildes over the token's length and under the ranges, and below
    that the text of a fix."""
    if location is None or not location.source_line:
        return []
    line, column = location.source_line, location.column - 1
    start = max(0, column - SNIPPET_WIDTH // 2) if len(line) > SNIPPET_WIDTH else 0
    shown = line[start : start + SNIPPET_WIDTH]
    pointers = [" "] * (len(shown) + 1)
    for place in (*marks.ranges, location):
        if _same_line(place, location):
            first = max(0, place.column - 1 - start)
            stop = max(first, min(place.column - 1 - start + place.length, len(shown)))
            pointers[first:stop] = "~" * (stop - first)
    position = min(column - start, len(shown))
    pointers[position] = "^"
    gutter = f"{location.line:5} | "
    margin = " " * (len(gutter) - 2) + "| "
    rows = [gutter + shown.expandtabs(TAB_WIDTH), margin + _aligned(shown, "".join(pointers))]
    if marks.fix is not None and _same_line(marks.fix.location, location):
        before = max(0, marks.fix.location.column - 1 - start)
        rows.append(margin + _aligned(shown, " " * before) + shortened(marks.fix.text, SNIPPET_WIDTH, SNIPPET_WIDTH))
    return rows


def _same_line(place: SourceLocation, other: SourceLocation) -> bool:
    return (place.file, place.line, place.physical_line) == (other.file, other.line, other.physical_line)


def _aligned(line: str, marks: str) -> str:
    """``marks``, which stand below the characters of ``line``, where tabs are as wide as they are shown."""
    parts: list[str] = []
    width = 0
    for index, mark in enumerate(marks):
        is_tab = index < len(line) and line[index] == "\t"
        step = TAB_WIDTH - width % TAB_WIDTH if is_tab else 1
        parts.append(mark + (mark if mark == "~" else " ") * (step - 1))
        width += step
    text = "".join(parts)
    return text.rstrip() if marks.strip() else text


def expansions(location: SourceLocation | None) -> Iterator[tuple[str | None, SourceLocation]]:
    """The macros that produced the token at a place, the innermost first: the name, and the place in the definition."""
    while location is not None and location.spelling is not None:
        yield location.macro, location.spelling
        location = location.spelling
