"""Where the diagnostics of a compilation are collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from coopmat.diagnostics.errors import CompileError
from coopmat.diagnostics.locations import SourceFile, SourceLocation, position
from coopmat.diagnostics.messages import Diagnostic, Message, in_source_order
from coopmat.diagnostics.rendering import NO_MARKS, Marks
from coopmat.diagnostics.warning_levels import Level, WarningLevels

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
            self._changes.setdefault(place.file, []).append((position(place), levels))
            place = place.file.included_from

    def enter(self, file: SourceFile) -> None:
        """An included file begins: the levels that hold where it is included hold in it."""
        if self._changes:
            self._changes.setdefault(file, []).append(((0, 0), self.levels))

    def levels_at(self, location: SourceLocation | None) -> WarningLevels:
        """The levels at a place."""
        changes = self._changes.get(location.file, ()) if location is not None else ()
        for start, levels in reversed(changes):
            if start <= position(location):
                return levels
        return self._first_levels

    def finish(self) -> list[Diagnostic]:
        """Raise :class:`CompileError` if there was an error; else return the warnings, in source order."""
        if self._shown_errors:
            raise CompileError(self.diagnostics)
        return in_source_order(self.diagnostics)
