"""Errors and diagnostics: source locations, carets, and the exception classes of the public contract.

A front end creates :class:`Diagnostic` objects and collects them in a :class:`DiagnosticSink`;
``DiagnosticSink.finish`` raises :class:`CompileError` with all of them.  Every exception that a
user of the package can meet derives from :class:`Error`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

TAB_WIDTH = 8
SNIPPET_WIDTH = 160  # of a longer source line, the part around the caret is shown


# --------------------------------------------------------------------------------------
# Source locations
# --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The text of one source file (or of a string given a name), split into lines on demand."""

    name: str
    text: str = field(repr=False, compare=False)

    def line(self, number: int) -> str:
        """Line ``number``, counted from 1, without its line end; empty past the end of the file."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in a source file. ``line`` and ``column`` count from 1; ``length`` is in characters.

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

    @property
    def name(self) -> str:
        """The file name that messages and ``__FILE__`` show."""
        return self.presumed_name if self.presumed_name is not None else self.file.name

    @property
    def source_line(self) -> str:
        """The text of the source line."""
        return self.file.line(self.physical_line if self.physical_line is not None else self.line)

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}" if self.line else self.name


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


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about the user's source; ``str()`` shows it as clang would, with a caret."""

    severity: str
    message: str
    location: SourceLocation | None
    code: str | None = None
    option: str | None = None
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, message: Message, location: SourceLocation | None,
           notes: Iterable[Diagnostic] = (), **values: Any) -> Diagnostic:
        """Fill in a row of a message table."""
        return cls(message.severity, message.template.format(**values), location,
                   message.code, message.option, tuple(notes))

    @property
    def header(self) -> str:
        """The one-line form: ``file:line:column: severity: message [CM1234]``."""
        place = f"{self.location}: " if self.location is not None else ""
        labels = [label for label in (self.code, f"-W{self.option}" if self.option else None) if label]
        suffix = f" [{', '.join(labels)}]" if labels else ""
        return f"{place}{self.severity}: {self.message}{suffix}"

    def __str__(self) -> str:
        parts = [self.header, *_snippet(self.location)]
        parts += _macro_trail(self.location)
        parts += [str(note) for note in self.notes]
        return "\n".join(parts)


def _snippet(location: SourceLocation | None) -> list[str]:
    """The source line and, below it, a caret with tildes over the token's length."""
    if location is None or not location.source_line:
        return []
    line, column = location.source_line, location.column - 1
    start = max(0, column - SNIPPET_WIDTH // 2) if len(line) > SNIPPET_WIDTH else 0
    shown = line[start : start + SNIPPET_WIDTH]
    before = shown[: column - start].expandtabs(TAB_WIDTH)
    width = max(1, min(location.length, start + len(shown) - column))
    gutter = f"{location.line:5} | "
    return [gutter + shown.expandtabs(TAB_WIDTH),
            " " * (len(gutter) - 2) + "| " + " " * len(before) + "^" + "~" * (width - 1)]


def _macro_trail(location: SourceLocation | None) -> list[str]:
    """One note per macro that produced the token, the innermost first."""
    trail: list[str] = []
    while location is not None and location.spelling is not None:
        note = Diagnostic("note", f"expanded from macro '{location.macro}'", location.spelling)
        trail += [note.header, *_snippet(location.spelling)]
        location = location.spelling
    return trail


def note(text: str, location: SourceLocation | None) -> Diagnostic:
    """A note to hang below another diagnostic."""
    return Diagnostic("note", text, location)


class DiagnosticSink:
    """Collects the diagnostics of one compilation.

    ``ignored`` holds the names of warnings that are turned off (``-Wno-<name>``; ``"all"`` for
    ``-w``), ``warnings_as_errors`` is ``-Werror``. After ``error_limit`` errors the compilation stops;
    ``error_count`` is how many there were so far. The same message at the same place counts once.
    """

    def __init__(self, *, ignored: Iterable[str] = (), warnings_as_errors: bool = False,
                 error_limit: int = 50) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.error_count = 0
        self._seen: set[Diagnostic] = set()
        self.ignored = frozenset(ignored)
        self.warnings_as_errors = warnings_as_errors
        self.error_limit = error_limit

    def report(self, message: Message, location: SourceLocation | None,
               notes: Iterable[Diagnostic] = (), **values: Any) -> None:
        """Add a diagnostic made from a row of a message table."""
        self.add(Diagnostic.of(message, location, notes, **values))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic, unless it is a warning that is turned off."""
        if diagnostic.severity == "warning":
            if "all" in self.ignored or diagnostic.option in self.ignored:
                return
            if self.warnings_as_errors:
                diagnostic = Diagnostic("error", diagnostic.message, diagnostic.location,
                                        diagnostic.code, diagnostic.option, diagnostic.notes)
        if diagnostic in self._seen:
            return
        self._seen.add(diagnostic)
        self.diagnostics.append(diagnostic)
        if diagnostic.severity == "error":
            self.error_count += 1
            if self.error_count >= self.error_limit:
                raise CompileError(self.diagnostics)

    def finish(self) -> list[Diagnostic]:
        """Raise :class:`CompileError` if there was an error; else return the warnings, in source order."""
        if self.error_count:
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


class CompileError(Error):
    """The kernel's source has errors; ``diagnostics`` holds them all in source order, warnings included."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = in_source_order(diagnostics)
        super().__init__("\n".join(str(d) for d in self.diagnostics))


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
    """The device has no such matrix combination (SYCL's ``errc::kernel_not_supported``)."""


class LaunchError(Error):
    """A kernel cannot be launched like this: arguments, sizes, or the kernel's name."""


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


class Misaligned(SimulationError):
    """An access whose address is not a multiple of the alignment that the type needs."""


class UndefinedBehavior(SimulationError):
    """An operation whose result the specification leaves undefined for these operands."""
