"""The blocks of one SPIR-V function, while they are being filled."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from coopmat.diagnostics import SourceLocation
from coopmat.lowering.spirv.operations import CANNOT_FAIL, WITHOUT_LINE
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction, make


@dataclass(slots=True)
class _Block:
    label: int
    code: list[Instruction] = field(default_factory=list)
    successors: tuple[int, ...] = ()


class BlockWriter:
    """Collects instructions block by block, with the OpLines between them, and writes them out in an
    order that SPIR-V accepts: each block after the one that dominates it (2.4, "Logical Layout")."""

    def __init__(self, module: ModuleBuilder) -> None:
        self._module = module
        self._blocks: dict[int, _Block] = {}
        self._current: _Block | None = None
        self._location: SourceLocation | None = None
        self._line: tuple[str, int, int] | None = None  # of the last OpLine in the open block

    @property
    def label(self) -> int:
        """The open block's label."""
        return self._open.label

    @property
    def _open(self) -> _Block:
        if self._current is None:
            raise ValueError("no block is open")
        return self._current

    def begin(self, label: int) -> None:
        """Open a block."""
        if self._current is not None:
            raise ValueError("the block before has not ended")
        self._current = self._blocks[label] = _Block(label)
        self._line = None

    def locate(self, location: SourceLocation | None) -> None:
        """Where the following instructions come from."""
        self._location = location

    def append(self, item: Instruction) -> None:
        """Add an instruction, after an OpLine if its place differs from the one before."""
        if item.opcode not in WITHOUT_LINE:
            self._write_line(exact=item.opcode not in CANNOT_FAIL)
        self._open.code.append(item)

    def terminate(self, item: Instruction, successors: tuple[int, ...], merge: Instruction | None = None) -> None:
        """Close the block; ``merge`` stands directly before the terminator."""
        if merge is not None or item.opcode not in WITHOUT_LINE:  # a loop without end is known by its header's line
            self._write_line(exact=False)
        self._open.code += [item] if merge is None else [merge, item]
        self._open.successors = successors
        self._current = None

    def _write_line(self, exact: bool) -> None:
        location = self._location
        if location is None:
            if self._line is not None:
                self._open.code.append(make(Op.NoLine))
                self._line = None
            return
        line = (location.name, location.line, location.column)
        if line == self._line or (not exact and self._line is not None and line[:2] == self._line[:2]):
            return
        self._line = line
        self._open.code.append(make(Op.Line, self._module.string(location.name), location.line,
                                    location.column))

    def write(self) -> None:
        """Hand the blocks over to the module."""
        for label in self._order():
            self._module.begin_block(label)
            for item in self._blocks[label].code:
                self._module.append(item)

    def _order(self) -> list[int]:
        """The blocks as written, but none before one of its predecessors has been; then those that are
        never reached.

        Every block thus ends a path from the entry through blocks before it, and what dominates the block
        lies on that path.
        """
        labels = list(self._blocks)
        position = {label: index for index, label in enumerate(labels)}
        order: list[int] = []
        waiting, seen = [0], {0}
        while waiting:
            label = labels[heappop(waiting)]
            order.append(label)
            for successor in {position[s] for s in self._blocks[label].successors} - seen:
                seen.add(successor)
                heappush(waiting, successor)
        return order + [label for label in labels if position[label] not in seen]
