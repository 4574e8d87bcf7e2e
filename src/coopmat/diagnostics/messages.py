"""Messages about the user's source: rows of message tables, and the diagnostics that are made from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from coopmat.diagnostics.locations import SourceFile, SourceLocation, position
from coopmat.diagnostics.quoting import LONGEST_WORD, is_long, number_text, shortened
from coopmat.diagnostics.rendering import NO_MARKS, Marks, expansions, include_trail, snippet


@dataclass(frozen=True, slots=True)
class Message:
    """One row of a front end's message table: the code, its severity and its text template."""

    code: str  # "CM1234"
    severity: str  # "error" | "warning" | "note"
    template: str  # str.format template
    option: str | None = None  # the warning's name in -W<name>
    is_on: bool = True  # whether the warning is shown without -W<name>


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about the user's source; ``str()`` shows it as clang would, with a caret."""

    severity: str
    message: str
    location: SourceLocation | None
    code: str | None = None
    option: str | None = None
    notes: tuple[Diagnostic, ...] = ()
    marks: Marks = field(default=NO_MARKS, compare=False)

    def __post_init__(self) -> None:
        if len(self.message) > LONGEST_WORD:
            object.__setattr__(self, "message", shortened(self.message))

    @classmethod
    def of(cls, message: Message, location: SourceLocation | None,
           notes: Iterable[Diagnostic] = (), marks: Marks = NO_MARKS, **values: Any) -> Diagnostic:
        """Fill in a row of a message table."""
        shown = {name: number_text(value) if is_long(value) else value for name, value in values.items()}
        return cls(message.severity, message.template.format(**shown), location,
                   message.code, message.option, tuple(notes), marks)

    @property
    def header(self) -> str:
        """The one-line form: ``file:line:column: severity: message [CM1234]``."""
        place = f"{self.location}: " if self.location is not None else ""
        labels = [label for label in (self.code, f"-W{self.option}" if self.option else None) if label]
        suffix = f" [{', '.join(labels)}]" if labels else ""
        return f"{place}{self.severity}: {self.message}{suffix}"

    def __str__(self) -> str:
        return "\n".join([*include_trail(self.location), *self._lines()])

    def _lines(self) -> list[str]:
        """The message, its source line, the macros that it came through, and its notes."""
        parts = [self.header, *snippet(self.location, self.marks), *_macro_trail(self.location)]
        for inner in self.notes:
            parts += inner._lines()
        return parts


def _macro_trail(location: SourceLocation | None) -> list[str]:
    """One note per macro that produced the token, the innermost first."""
    trail: list[str] = []
    for macro, place in expansions(location):
        trail += [Diagnostic("note", f"expanded from macro '{macro}'", place).header, *snippet(place)]
    return trail


def note(text: str, location: SourceLocation | None, marks: Marks = NO_MARKS) -> Diagnostic:
    """A note to hang below another diagnostic."""
    return Diagnostic("note", text, location, marks=marks)


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics as text; how a file was included is said once for all that follow from it."""
    parts: list[str] = []
    shown: list[str] = []
    for diagnostic in diagnostics:
        trail = include_trail(diagnostic.location)
        parts += [*(trail if trail != shown else ()), *diagnostic._lines()]
        shown = trail
    return "\n".join(parts)


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics by position within each file; the files, and what has no place or the same one, keep the
    order in which they appear."""
    given = list(diagnostics)
    files: dict[SourceFile | None, int] = {}
    for diagnostic in given:
        files.setdefault(_file_of(diagnostic), len(files))
    return sorted(given, key=lambda diagnostic: (files[_file_of(diagnostic)], position(diagnostic.location)))


def _file_of(diagnostic: Diagnostic) -> SourceFile | None:
    return None if diagnostic.location is None else diagnostic.location.file
