"""Structures and arrays as values, of which LLVM's SPIR-V back end knows few operations.

It stops at a phi, a select or a freeze of such a value, and where one is taken out of another. Here these operations
work on the numbers, pointers and matrices that the values are made of.

All of it expects IR as LLVM prints it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from coopmat.llvm.to_spirv.ir_text import VALUE, Types, functions, operands, split_operand, split_type

_CONCERNED = re.compile(rf"  ({VALUE}) = (phi|select|freeze|extractvalue) (.*)")
_SIGN = re.compile(r"=\s*(?:phi\s+[\[{%]|freeze\s+[\[{%]|select[^\n]*,\s*[\[{%]|extractvalue\b)|<\{")
_LABEL = re.compile(r'("[^"]*"|[-\w.$]+):')
_INCOMING = re.compile(rf"\[ (.*), ({VALUE}) \]")
_END = re.compile(r"  (?:br|switch|ret|unreachable|indirectbr)\b")
_ALL_ALIKE = ("zeroinitializer", "undef", "poison")  # what is so in all its parts

_MOST_PARTS = 1024  # of a structure or an array

Path = tuple[int, ...]


def are_concerned(ir: str) -> bool:
    """Whether IR, in any form, may have such operations."""
    return _SIGN.search(ir) is not None


def in_parts(ir: str) -> str:
    """The IR without operations on structures and arrays that the back end does not know."""
    types = Types(ir)
    return "\n".join(line for part in functions(ir) for line in _Function(part, types).lines())


class _Function:
    """One function, whose operations are taken apart."""

    def __init__(self, lines: Sequence[str], types: Types) -> None:
        self._lines = lines
        self._types = types
        self._names = 0
        self._at_end: defaultdict[str, list[str]] = defaultdict(list)  # what a phi needs at the end of a block

    def lines(self) -> Iterator[str]:
        """The function's lines."""
        changed = {number: new for number, line in enumerate(self._lines) if (new := self._changed(line)) is not None}
        if not changed:
            yield from self._lines
            return
        labels = {f"%{label.group(1)}" for line in self._lines if (label := _LABEL.match(line))}
        block = next((name for name in self._at_end if name not in labels), "")  # the first may have a number only
        behind_phis: list[str] = []
        for number, line in enumerate(self._lines):
            if (label := _LABEL.match(line)) is not None:
                block = f"%{label.group(1)}"
            new = changed.get(number, [line])
            if " = phi " in line:
                yield from (one for one in new if " = phi " in one)
                behind_phis += [one for one in new if " = phi " not in one]
                continue
            yield from behind_phis
            behind_phis = []
            if _END.match(line):
                yield from self._at_end.pop(block, ())
            yield from new

    def _changed(self, line: str) -> list[str] | None:
        """The lines for one; None if it stays."""
        found = _CONCERNED.match(line)
        if found is None:
            return None
        name, operation, text = found.groups()
        given = [part for part in operands(text) if not part.startswith("!")]
        type_, first = split_type(given[operation == "select"])
        outer = tuple(map(int, given[1:])) if operation == "extractvalue" else ()
        for index in outer:
            type_ = self._types.part(type_, index) or ""
        leaves = self._leaves(type_)
        if leaves[0] == ((), type_):
            return None
        code: list[str] = []
        parts = []
        for path, kind in leaves:
            match operation:
                case "phi":
                    parts.append(self._phi(f"phi {kind}", [first, *given[1:]], type_, path, code))
                case "select":
                    chosen = (f"{kind} {self._part(value, path, code)}" for value in given[1:])
                    parts.append(self._new(f"select {given[0]}, {', '.join(chosen)}", code))
                case "freeze":
                    parts.append(self._new(f"freeze {kind} {self._part(given[0], path, code)}", code))
                case _:
                    parts.append(self._part(given[0], (*outer, *path), code))
        return [*code, *self._rebuilt(name, type_, leaves, parts)]

    def _phi(self, head: str, incoming: Sequence[str], type_: str, path: Path, code: list[str]) -> str:
        pairs = []
        for pair in incoming:
            found = _INCOMING.fullmatch(pair)
            assert found is not None
            value, block = found.groups()
            pairs.append(f"[ {self._part(f'{type_} {value}', path, self._at_end[block])}, {block} ]")
        return self._new(f"{head} {', '.join(pairs)}", code)

    # -- Parts -----------------------------------------------------------------------

    def _leaves(self, type_: str) -> list[tuple[Path, str]]:
        """The paths to all parts of a type that have none themselves, and their types."""
        found: list[tuple[Path, str]] = []
        waiting: list[tuple[Path, str]] = [((), type_)]
        while waiting:
            path, kind = waiting.pop()
            _, count = self._types.parts(kind)
            if not count or count > _MOST_PARTS:
                found.append((path, kind))
            else:
                waiting += [((*path, index), self._types.part(kind, index) or "") for index in reversed(range(count))]
        return found

    def _part(self, operand: str, path: Path, code: list[str]) -> str:
        """A part of a value."""
        _, value = split_operand(operand)
        return value if value in _ALL_ALIKE else self._new(
            f"extractvalue {operand}, {', '.join(map(str, path))}", code)

    def _new(self, text: str, code: list[str]) -> str:
        name = f"%coopmat.part.{self._names}"
        self._names += 1
        code.append(f"  {name} = {text}")
        return name

    def _rebuilt(self, name: str, type_: str, leaves: Sequence[tuple[Path, str]],
                 parts: Sequence[str]) -> Iterator[str]:
        """The value of its parts."""
        whole = "poison"
        for number, ((path, kind), part) in enumerate(zip(leaves, parts, strict=True), 1):
            text = f"insertvalue {type_} {whole}, {kind} {part}, {', '.join(map(str, path))}"
            if number == len(parts):
                yield f"  {name} = {text}"
            else:
                code: list[str] = []
                whole = self._new(text, code)
                yield from code
