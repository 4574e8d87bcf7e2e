"""Large matrices, put into a function's text: each value becomes an address, of memory that only its definition writes.

What moves values without an operation, a phi for instance, copies them. A phi's value comes in two steps, so that phis
of one block can exchange theirs. Values that are not needed at the same time share memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.text import CALL, move_of, operands_of

ZEROS = "@matrix.zeros"
COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
_NUMBERED = re.compile(r"(%|^(?=\d+:))(\d+)\b")
"""Values and labels without names, whose numbers LLVM expects in their order."""
_LABEL = re.compile(r"([\w.$-]+):")
_SUCCESSOR = re.compile(r"label %([\w.$-]+)")
_TERMINATOR = re.compile(r"  (?:br|switch|ret|unreachable)\b")
_INCOMING = re.compile(r"\[ ([^,]+), %([^ ]+) \]")
_NO_VALUE = ("undef", "poison")


@dataclass
class _Line:
    """A line of text, and the values whose memory it reads and writes."""

    text: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    is_copy: bool = False


@dataclass
class _Block:
    """Lines, in three parts: phis and what leads to them, all others, and copies at the end, before the terminator."""

    phis: list[_Line] = field(default_factory=list)
    lines: list[_Line] = field(default_factory=list)
    copies: list[_Line] = field(default_factory=list)
    end: list[_Line] = field(default_factory=list)

    @property
    def all_lines(self) -> list[_Line]:
        """In their order."""
        return [*self.phis, *self.lines, *self.copies, *self.end]


class LargeValues:
    """Rewrites functions. types: the large types, by their text. ``bytes``: the memory that the functions' values need.
    """

    def __init__(self, types: Mapping[str, MatrixType]) -> None:
        self.sizes = {name: kind.rows * kind.columns * kind.component.size for name, kind in types.items()}
        self.bytes = 0
        self._values: dict[str, int] = {}  # of the function at hand: name → bytes
        self._blocks: dict[str, _Block] = {}
        self._block = _Block()

    def rewritten(self, lines: list[str]) -> list[str]:
        """The lines of a function with values of large types in memory."""
        if not any(name in line for line in lines for name in self.sizes) or not lines[0].startswith("define "):
            return lines
        lines = [_NUMBERED.sub(r"\1unnamed.\2", line) for line in lines]
        self._values, self._block = {}, _Block()
        labels = [found[1] for found in map(_LABEL.match, lines) if found]
        self._blocks = {"": self._block, **{label: _Block() for label in labels}}
        for line in lines[1:]:
            label = _LABEL.match(line)
            if label:
                self._block = self._blocks[label[1]]
            self._add(line)
        slots, places = self._in_slots()
        text = [line.text for block in self._blocks.values() for line in block.all_lines]
        start = 1 if _LABEL.match(text[0]) else 0
        return [lines[0], *text[:start], *slots, *places, *text[start:]]

    # --- lines ------------------------------------------------------------------------

    def _add(self, line: str) -> None:
        """Add a line to the block at hand."""
        block = self._block
        name = next((name for name in self.sizes if name in line), None)
        if name is not None:
            self._add_large(line, name)
        elif block.end or _TERMINATOR.match(line):
            block.end.append(_Line(line))
        elif _LABEL.match(line) or " = phi " in line:
            block.phis.insert(sum(not one.writes for one in block.phis), _Line(line))
        else:
            block.lines.append(_Line(line))

    def _add_large(self, line: str, name: str) -> None:
        call = CALL.match(line)
        if call:
            self._block.lines.append(self._call(*call.groups()))
            return
        move, operands = move_of(line, name)
        getattr(self, f"_{move}")(self.sizes[name], *operands)

    def _call(self, result: str | None, returned: str, function: str, operands: str) -> _Line:
        texts, reads = [], []
        for operand in operands_of(operands):
            if any(operand.startswith(name) for name in self.sizes):
                value = operand.split()[-1]
                reads += [value] if value.startswith("%") else []
                texts.append(f"ptr {value if value.startswith('%') else ZEROS}")
            else:
                texts.append(operand)
        if result is not None and returned in self.sizes:
            self._values[result] = self.sizes[returned]
            return _Line(f"  call void @{function}({', '.join([f'ptr {result}', *texts])})", tuple(reads), (result,))
        start = f"{result} = " if result else ""
        return _Line(f"  {start}call {returned} @{function}({', '.join(texts)})", tuple(reads))

    # --- moves ------------------------------------------------------------------------

    def _phi(self, nbytes: int, result: str, sources: str) -> None:
        incoming = f"{result}.in"
        self._values |= {result: nbytes, incoming: nbytes}
        self._block.phis.append(self._copy(nbytes, result, incoming))
        for value, label in _INCOMING.findall(sources):
            if value not in _NO_VALUE:
                self._blocks[label].copies.append(self._copy(nbytes, incoming, value))

    def _load(self, nbytes: int, result: str, address: str) -> None:
        self._values[result] = nbytes
        self._block.lines.append(self._copy(nbytes, result, address))

    def _store(self, nbytes: int, value: str, address: str) -> None:
        if value not in _NO_VALUE:
            self._block.lines.append(self._copy(nbytes, address, value))

    def _select(self, nbytes: int, result: str, condition: str, *operands: str) -> None:
        chosen, known = f"{result}.chosen", [one if one.startswith("%") else ZEROS for one in operands]
        self._values[result] = nbytes
        self._block.lines.append(_Line(f"  {chosen} = select i1 {condition}, ptr {known[0]}, ptr {known[1]}"))
        copy = self._copy(nbytes, result, chosen)
        self._block.lines.append(_Line(copy.text, tuple(known), copy.writes))

    def _freeze(self, nbytes: int, result: str, value: str) -> None:
        self._values[result] = nbytes
        self._block.lines.append(self._copy(nbytes, result, value if value.startswith("%") else ZEROS))

    def _copy(self, nbytes: int, target: str, source: str) -> _Line:
        source = ZEROS if source == "zeroinitializer" else source
        return _Line(f"  call void @llvm.memcpy.p0.p0.i64(ptr align 64 {target}, ptr align 64 {source}, i64 {nbytes}, "
                     "i1 false)", (source,), (target,), True)

    # --- memory -----------------------------------------------------------------------

    def _in_slots(self) -> tuple[list[str], list[str]]:
        """Lines that reserve memory, and lines that give each value its place there."""
        neighbours = self._neighbours()
        slots: list[int] = []  # bytes of each
        chosen: dict[str, int] = {}
        for name, nbytes in self._values.items():
            taken = {chosen[other] for other in neighbours[name] if other in chosen}
            number = next((one for one in range(len(slots)) if one not in taken), len(slots))
            slots[number:number + 1] = [max([nbytes, *slots[number:number + 1]])]
            chosen[name] = number
        self.bytes += sum(slots)
        return ([f"  %large.{number} = alloca [{nbytes} x i8], align 64" for number, nbytes in enumerate(slots)],
                [f"  {name} = getelementptr i8, ptr %large.{number}, i64 0" for name, number in chosen.items()])

    def _neighbours(self) -> dict[str, set[str]]:
        """The values that must not share each one's memory: those that are still needed where it is written, and what
        an operation makes it of."""
        found: dict[str, set[str]] = {name: set() for name in self._values}
        needed = self._needed()
        for block in self._blocks.values():
            live = set().union(*(needed[follower] for follower in self._followers(block)))
            for line in reversed(block.all_lines):
                for name in self._own(line.writes):
                    found[name] |= (live | (set() if line.is_copy else self._own(line.reads))) - {name}
                live = live - self._own(line.writes) | self._own(line.reads)
        for name, others in found.items():
            for other in others:
                found[other].add(name)
        return found

    def _needed(self) -> dict[str, set[str]]:
        """The values that are read in each block, or later, before they are written."""
        read: dict[str, set[str]] = {}
        written: dict[str, set[str]] = {}
        for label, block in self._blocks.items():
            read[label], written[label] = set(), set()
            for line in block.all_lines:
                read[label] |= self._own(line.reads) - written[label]
                written[label] |= self._own(line.writes)
        needed, changed = read, True
        while changed:
            changed = False
            for label, block in reversed(self._blocks.items()):
                later = set().union(*(needed[follower] for follower in self._followers(block)))
                if not later - written[label] <= needed[label]:
                    needed[label] |= later - written[label]
                    changed = True
        return needed

    def _own(self, names: tuple[str, ...]) -> set[str]:
        return {name for name in names if name in self._values}

    def _followers(self, block: _Block) -> set[str]:
        """The labels of the blocks that come next."""
        return {name for line in block.end for name in _SUCCESSOR.findall(line.text)}
