"""Which registers of a thread hold which elements of a matrix, from the layout tables of the devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.support.cached import cached_property
from coopmat.targets.llvm.threads.spread import LaneBits, Spread
from coopmat.targets.llvm.values import llvm_type

REGISTER_BITS = 32


@dataclass(frozen=True)
class Fragment:
    """A thread's part of a matrix.

    bits: of a component. per_register: components that share a register. register: LLVM's type of one.
    """

    kind: MatrixType
    bits: int
    per_register: int
    register: str

    @cached_property
    def spread(self) -> Spread:
        """Where the components lie in the matrix."""
        return Spread(self.kind.layout.held)

    @property
    def components(self) -> int:
        """Components of a thread, without those that repeat others."""
        return self.spread.components

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

    def is_by_rows(self, step: int) -> bool:
        """Whether four neighbouring threads of a warp hold elements of one row, ``step`` apart, and the next four those
        of the next row: so mma.sync has A, and accumulators in steps of two."""
        return self.spread.is_regular and self.spread.lane_bits == (LaneBits(0, 2, 0, step), LaneBits(2, 3, 1, 0))

    def is_by_columns(self, step: int) -> bool:
        """The same along the columns: so mma.sync has B."""
        return self.spread.is_regular and self.spread.lane_bits == (LaneBits(0, 2, step, 0), LaneBits(2, 3, 0, 1))

    def lies_like(self, other: Fragment) -> bool:
        """Whether threads have the same places of both, so far as these have the same size."""
        return self.spread.is_regular and other.spread.is_regular and self.spread.lane_bits == other.spread.lane_bits


@lru_cache(maxsize=1024)
def fragment_of(kind: MatrixType) -> Fragment:
    """The fragment of a matrix type."""
    component = kind.component
    if component == IntType(4):
        return Fragment(kind, 4, REGISTER_BITS // 4, "i32")
    bits = 8 * component.size
    if bits >= REGISTER_BITS:
        return Fragment(kind, bits, 1, llvm_type(component))
    return Fragment(kind, bits, REGISTER_BITS // bits, "i32")
