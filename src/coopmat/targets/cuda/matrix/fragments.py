"""Which registers of a thread hold which elements of a matrix, from the layout tables of the devices.

A layout is regular where the position of a component is the sum of one of its own and one of the thread's, and the
thread's is made of the bits of its number; that is so in all fragments of instructions. Where the elements are dealt
out, positions are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from coopmat.spirv.analysis.types import FloatType, IntType, MatrixType
from coopmat.support.cached import cached_property
from coopmat.targets.llvm.values import llvm_type

REGISTER_BITS = 32


@dataclass(frozen=True)
class LaneBits:
    """Neighbouring bits of a thread's number, and how far one step leads in the matrix."""

    first: int
    count: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Fragment:
    """A thread's part of a matrix.

    bits: of a component. per_register: components that share a register. register: LLVM's type of one.
    """

    kind: MatrixType
    bits: int
    per_register: int
    register: str

    @property
    def lanes(self) -> int:
        """The threads that hold the matrix."""
        return self.kind.sub_group_size

    @cached_property
    def components(self) -> int:
        """Components that differ: where a layout repeats what there is, the first ones."""
        rows, columns, valid = self.kind.layout.held
        count = rows.shape[1]
        while count % 2 == 0 and all(np.array_equal(part[:, :count // 2], part[:, count // 2:count])
                                     for part in (rows, columns, valid)):
            count //= 2
        return count

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return -(-self.components // self.per_register)

    @property
    def type(self) -> str:
        """LLVM's type of a thread's part."""
        return f"[{self.registers} x {self.register}]"

    @property
    def element(self) -> str:
        """LLVM's type of a component as a number."""
        return llvm_type(self.kind.component)

    # --- positions --------------------------------------------------------------------

    @cached_property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Of each component, the rows and columns from the thread's first element."""
        rows, columns, _ = self.kind.layout.held
        return tuple((int(row - rows[0, 0]), int(column - columns[0, 0]))
                     for row, column in zip(rows[0, :self.components], columns[0, :self.components], strict=True))

    @cached_property
    def component_at(self) -> dict[tuple[int, int], int]:
        """The component with given offsets."""
        return {offset: number for number, offset in reversed([*enumerate(self.offsets)])}

    @cached_property
    def lane_bits(self) -> tuple[LaneBits, ...]:
        """How a thread's number leads to its first element."""
        rows, columns, _ = self.kind.layout.held
        found: list[LaneBits] = []
        for bit in range(self.lanes.bit_length() - 1):
            row, column = (int(part[1 << bit, 0] - part[0, 0]) for part in (rows, columns))
            last = found[-1] if found else None
            if last is not None and (row, column) == (last.rows << last.count, last.columns << last.count):
                found[-1] = LaneBits(last.first, last.count + 1, last.rows, last.columns)
            else:
                found.append(LaneBits(bit, 1, row, column))
        return tuple(found)

    @cached_property
    def is_regular(self) -> bool:
        """Whether positions are sums."""
        rows, columns, _ = self.kind.layout.held
        lanes = np.arange(self.lanes)
        row, column = np.zeros(self.lanes, np.intp), np.zeros(self.lanes, np.intp)
        for part in self.lane_bits:
            step = lanes >> part.first & (1 << part.count) - 1
            row, column = row + step * part.rows, column + step * part.columns
        offsets = np.array(self.offsets)
        return bool((rows[0, 0] == 0 == columns[0, 0])
                    and np.array_equal(rows[:, :self.components], row[:, None] + offsets[:, 0])
                    and np.array_equal(columns[:, :self.components], column[:, None] + offsets[:, 1]))

    @cached_property
    def everywhere(self) -> tuple[bool, ...]:
        """Whether a component holds an element in all threads."""
        return tuple(map(bool, self.kind.layout.held.valid.all(axis=0)[:self.components]))

    @cached_property
    def nowhere(self) -> tuple[bool, ...]:
        """Whether a component holds an element in no thread."""
        return tuple(map(bool, (~self.kind.layout.held.valid).all(axis=0)[:self.components]))

    def is_by_rows(self, step: int) -> bool:
        """Whether four neighbouring threads of a warp hold elements of one row, ``step`` apart, and the next four those
        of the next row: so mma.sync has A, and accumulators in steps of two."""
        return self.is_regular and self.lane_bits == (LaneBits(0, 2, 0, step), LaneBits(2, 3, 1, 0))

    def is_by_columns(self, step: int) -> bool:
        """The same along the columns: so mma.sync has B."""
        return self.is_regular and self.lane_bits == (LaneBits(0, 2, step, 0), LaneBits(2, 3, 0, 1))


@lru_cache(maxsize=1024)
def fragment_of(kind: MatrixType) -> Fragment:
    """The fragment of a matrix type."""
    component = kind.component
    if component == IntType(4):
        return Fragment(kind, 4, REGISTER_BITS // 4, "i32")
    bits = 8 * component.size
    if bits >= REGISTER_BITS:
        return Fragment(kind, bits, 1, llvm_type(component))
    assert isinstance(component, IntType | FloatType)
    return Fragment(kind, bits, REGISTER_BITS // bits, "i32")
