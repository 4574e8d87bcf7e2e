"""What a work-group does to global memory, and in which order: tiles are fetched before their time, and results that
leave by tensor maps arrive after theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.control_flow import successors_of
from coopmat.spirv.analysis.types import PointerType
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.cuda.work_groups.pipeline import NoSchedule


@dataclass(frozen=True)
class _Access:
    """root: the parameter or variable whose memory it is; None if that is not known."""

    row: Instruction
    block: int
    place: int
    root: int | None
    writes: bool


class MemoryOrder:
    """The accesses of a kernel. apart: positions of parameters whose memory must not overlap, in pairs."""

    def __init__(self, origins: Origins) -> None:
        flat = origins.uses.flat
        self.apart: set[tuple[int, int]] = set()
        self._positions = {row.result_id: place for place, row in enumerate(flat.parameters)
                           if isinstance(flat.type_of(row.result_id or 0), PointerType)}
        self._accesses = [_Access(row, number, place, root, writes)
                          for number, block in enumerate(flat.blocks) for place, row in enumerate(block.instructions)
                          for root, writes in origins.accesses(row)]
        successors = successors_of(flat.blocks)
        self._later = [_reached(number, successors) for number in range(len(flat.blocks))]

    def check_load(self, row: Instruction) -> None:
        """NoSchedule if memory that a load reads may have been written before it by the kernel itself."""
        for load in self._of(row):
            for one in self._accesses:
                if one.writes and self._follows(one, load) and not self._are_apart(one, load):
                    raise NoSchedule("a tile is loaded from memory that the kernel may have written before")

    def may_be_late(self, row: Instruction, late: list[Instruction]) -> bool:
        """Whether a store may end after what follows it has begun; ``late``: the others that do, which wait for it."""
        return all(self._are_apart(store, one) for store in self._of(row) for one in self._accesses
                   if one.row is not row and one.row not in late and self._follows(store, one))

    def is_overtaken(self, row: Instruction, late: list[Instruction]) -> bool:
        """Whether a store comes behind one of the late ones to the same memory."""
        return any(one.row in late and self._follows(one, store) and not self._are_apart(one, store)
                   for store in self._of(row) for one in self._accesses)

    def _of(self, row: Instruction) -> Iterator[_Access]:
        return (one for one in self._accesses if one.row is row)

    def _follows(self, first: _Access, second: _Access) -> bool:
        """Whether the second one may come after the first one."""
        return second.block in self._later[first.block] or (
            first.block == second.block and first.place < second.place)

    def _are_apart(self, one: _Access, other: _Access) -> bool:
        """Whether the memory of two accesses is not the same, if :attr:`apart` holds in a launch."""
        if one.root is None or other.root is None or one.root == other.root:
            return False
        places = [self._positions[root] for root in (one.root, other.root) if root in self._positions]
        if len(places) == 2:
            self.apart.add((min(places), max(places)))
        return True


def _reached(start: int, successors: list[list[int]]) -> set[int]:
    """The blocks that may come after a block; itself in a loop."""
    found, pending = set[int](), list(successors[start])
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += successors[one]
    return found

