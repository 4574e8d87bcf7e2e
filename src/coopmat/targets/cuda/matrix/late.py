"""Matrices that are loaded where they are used, part by part: whole ones would take registers beside the sums that they
are added to, of which a thread has half of all that there are.

Such a matrix is an accumulator in global memory with one use behind its load, in the same block, by an operation on
each element; between them nothing writes to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.flatten import LINES, Flat
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.values import Number

AT_ONCE = 32  # components of a part
LOADS = (Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL)
FEWEST = 2 * AT_ONCE  # components of a thread for which it is worth while
_ENDS = frozenset({Op.CooperativeMatrixPerElementOpEXT, Op.MatrixTimesScalar, *(Op[name] for name in ELEMENTWISE)})
_ALSO = frozenset({*_ENDS, *LOADS, *LINES, Op.FConvert, Op.ConvertSToF, Op.ConvertUToF, Op.ConvertFToS, Op.ConvertFToU,
                   Op.SConvert, Op.UConvert, Op.Bitcast, Op.CompositeConstruct, Op.CompositeExtract, Op.Load,
                   Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain, Op.CopyObject,
                   Op.Undef})
"""What may stand between a load and its use."""


@dataclass(frozen=True)
class Late:
    """A matrix by its parts: ``part`` gives the components of a range of their numbers."""

    kind: MatrixType
    part: Callable[[range], list[Number]]


def parts(count: int) -> Iterator[range]:
    """The ranges of so many components."""
    return (range(first, min(first + AT_ONCE, count)) for first in range(0, count, AT_ONCE))


class LateUses:
    """Which instructions of a kernel give matrices that are used late."""

    def __init__(self, flat: Flat) -> None:
        self._counts: dict[int, int] = {}
        for block in flat.blocks:
            for row in block.instructions:
                for word in row.ids():
                    self._counts[word] = self._counts.get(word, 0) + 1
        self._late: set[int] = set()
        for block in flat.blocks:
            for place, row in enumerate(block.instructions):
                if row.opcode in LOADS and self._is_late(flat, row):
                    self._late |= self._chain(block.instructions[place:])

    def __contains__(self, identifier: int | None) -> bool:
        return identifier in self._late

    @staticmethod
    def _is_late(flat: Flat, row: Instruction) -> bool:
        kind = flat.type_of(row.result_id or 0)
        if not isinstance(kind, MatrixType) or kind.use != Use.MatrixAccumulatorKHR:
            return False
        fragment = fragment_of(kind)
        return fragment.bits >= 8 and fragment.components >= FEWEST

    def _chain(self, rows: list[Instruction]) -> set[int]:
        """The load that rows begin with, and the conversion behind it, if what becomes of them is used late."""
        found, current = set[int](), rows[0].result_id or 0
        for row in rows[1:]:
            if row.opcode not in _ALSO or self._counts.get(current, 0) != 1:
                return set()
            if current in row.ids():
                found.add(current)
                if row.opcode in _ENDS:
                    return found
                if row.opcode != Op.FConvert:
                    return set()
                current = row.result_id or 0
        return set()
