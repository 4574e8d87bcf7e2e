"""How matrices lie in memory, and what of a thread's part of one are neighbours there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.devices.lane_layout import can_be_packed, rows_per_word
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.targets.cuda.matrix.fragments import fragment_of

MOST_BITS = 128  # of an access of a thread


@dataclass(frozen=True)
class Order:
    """How a matrix lies in memory. along: the axis of neighbouring elements, 0: down a column, 1: along a row.
    together: rows of B that share a word; 1 in other layouts."""

    along: int
    together: int = 1

    @classmethod
    def of(cls, kind: MatrixType, layout: Layout) -> Order:
        """The order of a layout. Error for one that the matrix cannot have."""
        if layout == Layout.RowMajorKHR or (layout == Layout.PackedINTEL and kind.use == Use.MatrixAKHR):
            return cls(1)
        if layout == Layout.ColumnMajorKHR:
            return cls(0)
        bits = fragment_of(kind).bits
        if layout == Layout.PackedINTEL and kind.use == Use.MatrixBKHR and can_be_packed(kind.rows, bits):
            return cls(0, rows_per_word(bits))
        raise Error(f"layout {layout.name} is not possible for a {kind} of use {kind.use}")


@dataclass(frozen=True)
class Runs:
    """Accesses of several elements. count: registers at once. register: the type of one. nbytes: of an access.
    offsets: of the first element of each."""

    count: int
    register: str
    nbytes: int
    offsets: list[tuple[int, int]]

    @property
    def type(self) -> str:
        """LLVM's type of what is accessed."""
        return self.register if self.count == 1 else f"<{self.count} x {self.register}>"

    @classmethod
    def of(cls, kind: MatrixType, layout: Layout) -> Runs | None:
        """How registers, one or several at once, are neighbours in memory; None where they are not."""
        fragment, order = fragment_of(kind), Order.of(kind, layout)
        spread = fragment.spread
        if not spread.is_regular or not all(spread.everywhere):
            return None
        for count in (4, 2, 1):
            size = count * fragment.per_register
            starts = [offset[order.along] for offset in spread.offsets[::size]] + [
                (part.rows, part.columns)[order.along] for part in spread.lane_bits]
            if (1 < size <= MOST_BITS // fragment.bits and spread.components % size == 0
                    and (order.together == 1 or order.together == size)
                    and not any(start % size for start in starts)
                    and all(are_neighbours(spread.offsets[first:first + size], order.along)
                            for first in range(0, spread.components, size))):
                return cls(count, fragment.register, size * fragment.bits // 8, list(spread.offsets[::size]))
        return None


def are_neighbours(offsets: Sequence[tuple[int, int]], along: int) -> bool:
    """Whether elements follow each other along an axis."""
    first = offsets[0]
    return all(offset[along] == first[along] + place and offset[1 - along] == first[1 - along]
               for place, offset in enumerate(offsets))
