"""Errors and diagnostics: source locations, carets, and the exception classes of the public contract.

A front end creates :class:`Diagnostic` objects and collects them in a :class:`DiagnosticSink`;
``DiagnosticSink.finish`` raises :class:`CompileError` with all of them.  Every exception that a
user of the package can meet derives from :class:`Error`.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar

from coopmat.diagnostics.warning_levels import Level, WarningLevels

TAB_WIDTH = 8
SNIPPET_WIDTH = 160  # of a longer source line, the part around the caret is shown
LONGEST_WORD, LONGEST_MESSAGE = 256, 3072  # of a longer word or message, beginning and end are shown
LONGEST_NAME = 4096  # of a word in an error that quotes no source: a path, at most

# --------------------------------------------------------------------------------------
# What a source may hold, and a message should not
# --------------------------------------------------------------------------------------


def shortened(text: str, word: int = LONGEST_WORD, whole: int = LONGEST_MESSAGE) -> str:
    """A text of which no word is longer than ``word`` characters, and which is no longer than ``whole``."""
    if len(text) <= word:
        return text
    text = re.sub(rf"\S{{{word + 1},}}", lambda match: _ends(match[0], word), text)
    return _ends(text, whole)


def _ends(text: str, length: int) -> str:
    """The beginning and the end of a text that is longer than this."""
    return text if len(text) <= length else f"{text[:length * 2 // 3]}…{text[len(text) - length // 4:]}"


def number_text(value: float) -> str:
    """A number as messages show it: in hexadecimal digits if it has more than Python makes decimal ones of."""
    return f"{value:#x}" if _is_long(value) else str(value)


def value_text(value: object) -> str:
    """What messages quote of a value that a caller gave: its ``repr``, of a long one a line's worth."""
    return _ends(_QUOTATION.repr(value), SNIPPET_WIDTH)


class _Quotation(reprlib.Repr):
    """Takes no time over long values, and integers of any length."""

    def __init__(self) -> None:
        super().__init__()
        self.maxother = 2 * SNIPPET_WIDTH  # so that it is not this class that shortens

    def repr_int(self, x: int, level: int) -> str:
        return _ends(number_text(x), SNIPPET_WIDTH)

    def repr_str(self, x: str, level: int) -> str:
        return repr(_ends(x, SNIPPET_WIDTH))


_QUOTATION = _Quotation()


def _is_long(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > 1 << 12


# --------------------------------------------------------------------------------------
# Source locations
# --------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _lines(text: str) -> list[str]:
    """The lines of a text, kept for the next diagnostic."""
    return text.split("\n")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one source file (or of a string given a name), split into lines on demand.

    ``included_from`` is the place of the #include that brought it; no warnings are shown for what ``is_system``.
    """

    name: str
    text: str = field(repr=False, compare=False)
    included_from: SourceLocation | None = field(default=None, repr=False, compare=False)
    is_system: bool = field(default=False, repr=False, compare=False)

    def line(self, number: int) -> str:
        """Line ``number``, counted from 1, without its line end; empty past the end of the file."""
        lines = _lines(self.text)
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(slots=True, unsafe_hash=True)  # every token has one, and frozen ones take five times as long to make
class SourceLocation:
    """A place in a source file, never changed. ``line`` and ``column`` count from 1; ``length`` is in characters.

    A token that a macro produced carries the place where the macro was used (that is what a
    message points at) and, in ``spelling``, the place in the macro's definition; ``macro`` is the
    macro's name. ``#line`` changes ``line`` and ``name``, never ``physical_line``. Line 0 is the file as
    a whole (:meth:`whole`).
    """

    file: SourceFile
    line: int
    column: int
    length: int = 1
    macro: str | None = None
    spelling: SourceLocation | None = None
    presumed_name: str | None = None
    physical_line: int | None = None

    @classmethod
    def whole(cls, file: SourceFile) -> SourceLocation:
        """A file, where a message has no line."""
        return cls(file, 0, 0)

    @classmethod
    def at(cls, file: SourceFile, offset: int, length: int = 1) -> SourceLocation:
        """So many characters at an offset of a file's text, all in one line."""
        line = file.text.count("\n", 0, offset) + 1
        return cls(file, line, offset - file.text.rfind("\n", 0, offset), length)

    @property
    def name(self) -> str:
        """The file name that messages and ``__FILE__`` show."""
        return self.presumed_name if self.presumed_name is not None else self.file.name

    @property
    def source_line(self) -> str:
        """The text of the source line."""
        return self.file.line(self.physical_line if self.physical_line is not None else self.line)

    def __str__(self) -> str:
        name = shortened(self.name, LONGEST_NAME)
        return f"{name}:{self.line}:{self.column}" if self.line else name


# --------------------------------------------------------------------------------------
# Diagnostics
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """One row of a front end's message table: the code, its severity and its text template."""

    code: str  # "CM1234"
    severity: str  # "error" | "warning" | "note"
    template: str  # str.format template
    option: str | None = None  # the warning's name in -W<name>
    is_on: bool = True  # whether the warning is shown without -W<name>


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
        shown = {name: number_text(value) if _is_long(value) else value for name, value in values.items()}
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
        return "\n".join([*_include_trail(self.location), *self._lines()])

    def _lines(self) -> list[str]:
        """The message, its source line, the macros that it came through, and its notes."""
        parts = [self.header, *_snippet(self.location, self.marks), *_macro_trail(self.location)]
        for inner in self.notes:
            parts += inner._lines()
        return parts


def _include_trail(location: SourceLocation | None) -> list[str]:
    """One line per file on the way from the main file to an included one, the innermost first."""
    trail: list[str] = []
    place = location.file.included_from if location is not None else None
    while place is not None:
        name = shortened(place.name, LONGEST_NAME)
        trail.append(f"{'In file included' if not trail else '                '} from {name}:{place.line}:")
        place = place.file.included_from
    return trail


def render(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics as text; how a file was included is said once for all that follow from it."""
    parts: list[str] = []
    shown: list[str] = []
    for diagnostic in diagnostics:
        trail = _include_trail(diagnostic.location)
        parts += [*(trail if trail != shown else ()), *diagnostic._lines()]
        shown = trail
    return "\n".join(parts)


def _snippet(location: SourceLocation | None, marks: Marks = NO_MARKS) -> list[str]:
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
            stop = min(place.column - 1 - start + place.length, len(shown))
            pointers[first:stop] = "~" * max(0, stop - first)
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


def _macro_trail(location: SourceLocation | None) -> list[str]:
    """One note per macro that produced the token, the innermost first."""
    trail: list[str] = []
    while location is not None and location.spelling is not None:
        note = Diagnostic("note", f"expanded from macro '{location.macro}'", location.spelling)
        trail += [note.header, *_snippet(location.spelling)]
        location = location.spelling
    return trail


def note(text: str, location: SourceLocation | None, marks: Marks = NO_MARKS) -> Diagnostic:
    """A note to hang below another diagnostic."""
    return Diagnostic("note", text, location, marks=marks)


TOO_MANY_ERRORS = Message("CM0001", "error", "too many errors emitted, stopping now [-ferror-limit={limit}]")


class DiagnosticSink:
    """Collects the diagnostics of one compilation.

    ``levels`` says which warnings are shown and which are errors; a source may change that from a place on
    (:meth:`change_levels`). After ``error_limit`` errors (0: never) the compilation stops; ``error_count`` is
    how many there were so far, warnings that are made errors left out. The same message at the same place
    counts once.
    """

    def __init__(self, levels: WarningLevels | None = None, *, error_limit: int = 20) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.error_count = 0
        self._shown_errors = 0
        self.error_limit = error_limit
        self.levels = levels if levels is not None else WarningLevels()
        self._seen: set[Diagnostic] = set()
        self._changes: dict[SourceFile, list[tuple[tuple[int, int], WarningLevels]]] = {}
        self._first_levels = self.levels

    def report(self, message: Message, location: SourceLocation | None,
               notes: Iterable[Diagnostic] = (), marks: Marks = NO_MARKS, **values: Any) -> None:
        """Add a diagnostic made from a row of a message table."""
        if self.is_on(message, location):
            self.add(Diagnostic.of(message, location, notes, marks, **values))

    def is_on(self, message: Message, location: SourceLocation | None = None) -> bool:
        """Whether a message would be shown at a place; without a place, whether it would be anywhere."""
        if message.severity != "warning":
            return True
        states = [self.levels_at(location)] if location is not None else [self._first_levels, *(
            levels for changes in self._changes.values() for _, levels in changes)]
        return any(levels.level(message.option, message.is_on) is not Level.IGNORED for levels in states)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic, unless it is a warning that is turned off."""
        is_warning = diagnostic.severity == "warning"
        if is_warning:
            level = self.levels_at(diagnostic.location).level(diagnostic.option)
            system = diagnostic.location is not None and diagnostic.location.file.is_system
            if system or level is Level.IGNORED:
                return
            if level is Level.ERROR:
                diagnostic = replace(diagnostic, severity="error")
        if diagnostic in self._seen:
            return
        self._seen.add(diagnostic)
        self.diagnostics.append(diagnostic)
        if diagnostic.severity == "error":
            self.error_count += not is_warning
            self._shown_errors += 1
            if self._shown_errors == self.error_limit:
                raise CompileError([*self.diagnostics, Diagnostic.of(TOO_MANY_ERRORS, None, limit=self.error_limit)])

    # ------------------------------------------------------------------ levels by place

    def change_levels(self, location: SourceLocation, levels: WarningLevels) -> None:
        """From ``location`` on, and in the files that include this one from there on, other levels hold."""
        self.levels = levels
        place: SourceLocation | None = location
        while place is not None:
            self._changes.setdefault(place.file, []).append((_position(place), levels))
            place = place.file.included_from

    def enter(self, file: SourceFile) -> None:
        """An included file begins: the levels that hold where it is included hold in it."""
        if self._changes:
            self._changes.setdefault(file, []).append(((0, 0), self.levels))

    def levels_at(self, location: SourceLocation | None) -> WarningLevels:
        """The levels at a place."""
        changes = self._changes.get(location.file, ()) if location is not None else ()
        for position, levels in reversed(changes):
            if position <= _position(location):
                return levels
        return self._first_levels

    def finish(self) -> list[Diagnostic]:
        """Raise :class:`CompileError` if there was an error; else return the warnings, in source order."""
        if self._shown_errors:
            raise CompileError(self.diagnostics)
        return in_source_order(self.diagnostics)


def in_source_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics by position within each file; the files, and what has no place or the same one, keep the
    order in which they appear."""
    given = list(diagnostics)
    files: dict[SourceFile | None, int] = {}
    for diagnostic in given:
        files.setdefault(_file_of(diagnostic), len(files))
    return sorted(given, key=lambda diagnostic: (files[_file_of(diagnostic)], _position(diagnostic.location)))


def _file_of(diagnostic: Diagnostic) -> SourceFile | None:
    return None if diagnostic.location is None else diagnostic.location.file


def _position(location: SourceLocation | None) -> tuple[int, int]:
    if location is None:
        return 0, 0
    return location.line if location.physical_line is None else location.physical_line, location.column


# --------------------------------------------------------------------------------------
# Exceptions
# --------------------------------------------------------------------------------------


class Error(Exception):
    """Root of every error that coopmat raises on purpose; ``str()`` is the message for the user."""

    _longest_word: ClassVar[int] = LONGEST_NAME  # a file's name may be as long
    _longest: ClassVar[int | None] = None

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, self._longest_word, self._longest or len(message)))

    def code(self) -> Any:
        """SYCL's error code, a member of ``coopmat.sycl.errc`` (SYCL 4.13.2)."""
        from coopmat.sycl.exceptions import code_of

        return code_of(self)

    def what(self) -> str:
        """The message, as C++ calls it."""
        return str(self)


class CompileError(Error):
    """The kernel's source has errors; ``diagnostics`` holds them all in source order, warnings included."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = in_source_order(diagnostics)
        super().__init__(render(self.diagnostics))


class CompileWarning(UserWarning):
    """A warning about a kernel's source, shown where it is built; ``Program.warnings`` has them all."""


class ValidationError(Error):
    """A SPIR-V module is malformed; ``rule`` names the broken rule, ``offset`` the word's byte offset."""

    def __init__(self, rule: str, message: str, offset: int | None = None, file: str | None = None) -> None:
        self.rule = rule
        self.message = message
        self.offset = offset
        place = f"{offset:#x}" if offset is not None else None
        if file is not None:
            super().__init__(f"{file}:{f'{place}:' if place else ''} error: {message} [{rule}]")
        else:
            super().__init__(f"{message}{f' at byte {place}' if place else ''} [{rule}]")

    def in_file(self, file: str) -> ValidationError:
        """The same error, naming the file that the module came from."""
        return ValidationError(self.rule, self.message, self.offset, file)


class KernelNotSupported(Error):
    """The device has no such matrix combination (SYCL's ``errc::kernel_not_supported``).

    ``kernel`` is the name of the kernel that uses it, and ``location`` the place where it does; None where that is not
    known.
    """

    def __init__(self, message: str, kernel: str | None = None, location: SourceLocation | None = None) -> None:
        self.message = message
        self.kernel = kernel
        self.location = location
        text = shortened(message if kernel is None else f"{message} (kernel {kernel})")
        super().__init__(text if location is None else str(Diagnostic("error", text, location)))

    def with_source(self, text: str) -> KernelNotSupported:
        """The same error with the line of a source text."""
        assert self.location is not None
        word = _WORD.match(SourceFile("", text).line(self.location.line), self.location.column - 1)
        location = replace(self.location, file=SourceFile(self.location.name, text), length=len(word[0]) if word else 1)
        return KernelNotSupported(self.message, self.kernel, location)


_WORD = re.compile(r"\w+")


class LaunchError(Error):
    """A kernel cannot be launched like this: arguments, sizes, or the kernel's name."""

    _longest_word, _longest = LONGEST_WORD, LONGEST_MESSAGE


@dataclass(frozen=True, slots=True)
class Where:
    """Where in the execution of a kernel something happened; what is not known is None."""

    kernel: str | None = None
    location: str | None = None  # "file:line:column"
    work_group: tuple[int, ...] | None = None
    sub_group: int | None = None
    lane: int | None = None
    buffer: str | None = None
    element: int | None = None

    def __str__(self) -> str:
        names = ("kernel", "location", "work_group", "sub_group", "lane", "buffer", "element")
        labels = ("kernel", "at", "work-group", "sub-group", "lane", "buffer", "element")
        known = [(label, getattr(self, name)) for name, label in zip(names, labels, strict=True)]
        known = [(label, shortened(value) if label in ("kernel", "buffer") and value else value)
                 for label, value in known]
        return ", ".join(f"{label} {value}" for label, value in known if value is not None)


class SimulationError(Error):
    """The simulator found the kernel doing something undefined; ``where`` says at which place."""

    def __init__(self, message: str, where: Where | None = None) -> None:
        self.where = where if where is not None else Where()
        place = str(self.where)
        super().__init__(f"{message} ({place})" if place else message)


class OutOfBounds(SimulationError):
    """An access outside of a buffer, of local memory, or of a private variable."""


class DivergentGroupOperation(SimulationError):
    """A group operation (matrix operation, barrier, …) was reached by only a part of its group."""


class KernelAssertion(SimulationError):
    """An ``assert`` of the kernel failed."""


class Misaligned(SimulationError):
    """An access whose address is not a multiple of the alignment that the type needs."""


class UndefinedBehavior(SimulationError):
    """An operation whose result the specification leaves undefined for these operands."""
