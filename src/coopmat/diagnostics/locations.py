"""Source files, and places in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from coopmat.diagnostics.quoting import LONGEST_NAME, shortened


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


def position(location: SourceLocation | None) -> tuple[int, int]:
    """Where a place stands in its file, to be compared."""
    if location is None:
        return 0, 0
    return location.line if location.physical_line is None else location.physical_line, location.column
