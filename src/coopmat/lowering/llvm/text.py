"""The text of LLVM IR as it grows: a function's blocks and names, and the module's metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from coopmat.diagnostics import SourceLocation
from coopmat.lowering.llvm.types import identifier


class Names:
    """Hands out names: the wanted one, or that with a number."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """A name that nobody has yet."""
        name = wanted
        while name in self._taken:
            self._counts[wanted] = self._counts.get(wanted, 0) + 1
            name = f"{wanted}{self._counts[wanted]}"
        self._taken.add(name)
        return name


@dataclass(slots=True)
class FunctionText:
    """One function: its first line, its variables, its blocks in order."""

    head: str
    takes_matrix_pointers: bool
    names: Names = field(default_factory=Names)
    _variables: list[str] = field(default_factory=list)
    _blocks: list[tuple[str, list[str]]] = field(default_factory=list)
    _opened: set[str] = field(default_factory=set)
    _location: tuple[str, int] | None = None
    _commented: tuple[str, int] | None = None

    def name(self, wanted: str) -> str:
        """A new ``%name``."""
        return identifier("%", self.names.take(wanted))

    def open(self, label: str) -> None:
        """Begin the block ``label``, a ``%name``."""
        self._blocks.append((label, []))
        self._opened.add(label)
        self._commented = None

    def has_opened(self, label: str) -> bool:
        """Whether the block has begun already: a jump there goes back."""
        return label in self._opened

    @property
    def block(self) -> str:
        """The ``%name`` of the open block."""
        return self._blocks[-1][0]

    def locate(self, location: SourceLocation | None) -> None:
        """Where the following lines come from."""
        self._location = None if location is None else (location.name, location.line)

    def add(self, line: str) -> None:
        """Append an instruction, after a comment if its source line is another one."""
        lines = self._blocks[-1][1]
        if self._location is not None and self._location != self._commented:
            self._commented = self._location
            name, number = self._location
            lines.append(f"; {_one_line(name)}:{number}")
        lines.append(line)

    def add_variable(self, line: str) -> None:
        """Put an alloca into the entry block."""
        self._variables.append(line)

    def text(self) -> str:
        """The whole function."""
        parts = [f"{self.head} {{"]
        for position, (label, lines) in enumerate(self._blocks):
            body = [*self._variables, *lines] if position == 0 else lines
            parts.append(f"{label.removeprefix('%')}:")
            parts += (f"  {line}" for line in body)
        return "\n".join([*parts, "}"])


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "?", text)


class Metadata:
    """Numbered nodes; equal ones are one."""

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}

    def node(self, operands: Iterable[str]) -> str:
        """``!n`` for a node with these operands."""
        text = f"!{{{', '.join(operands)}}}"
        return f"!{self._nodes.setdefault(text, len(self._nodes))}"

    def loop(self, hints: Iterable[str]) -> str:
        """``!n`` for a loop, which has a node of its own that begins with itself."""
        number = len(self._nodes)
        self._nodes[f"distinct !{{{', '.join([f'!{number}', *hints])}}}"] = number
        return f"!{number}"

    def lines(self) -> list[str]:
        """The definitions."""
        return [f"!{number} = {text}" for text, number in self._nodes.items()]
