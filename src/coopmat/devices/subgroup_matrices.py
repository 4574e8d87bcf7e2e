"""The matrix shapes and types of cl_intel_subgroup_matrix_multiply_accumulate and its tf32 extension.

The rows are those of "Modifications to the OpenCL SPIR-V Environment Specification" in both documents.
Each stands for M = 1, 2, 4 and 8; N is the sub-group size.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from coopmat.formats import Format, format_of

M_SIZES = (1, 2, 4, 8)
B_COMPONENTS = 8
"""Every work-item holds a column of B in a vector of 8 components of 32 bits."""

_SIGNED_BIT, _ACCUMULATORS_BFLOAT16 = 0x1, 0xC
_PACKING_BITS = {("integer", 8): 0x10, ("integer", 4): 0x40, "tf32": 0x100, "fp16": 0x400, "bf16": 0x1000}


@dataclass(frozen=True, slots=True)
class SubgroupMatrixMad:
    """``D = A*B + C`` by a sub-group of ``sub_group_size`` (which is N); types are names of formats."""

    sub_group_size: int
    k: int
    a: str
    b: str
    accumulator: str

    @property
    def name(self) -> str:
        """The OpenCL C function."""
        return f"intel_sub_group_{_short_name(self.a)}_{_short_name(self.b)}_matrix_mad_k{self.k}"

    @property
    def extension(self) -> str:
        """The OpenCL extension that has it."""
        base = "cl_intel_subgroup_matrix_multiply_accumulate"
        return f"{base}_tf32" if self.a == "tf32" else base

    @property
    def a_bits(self) -> int:
        """Bits of A that a work-item holds of each row (16, 32), or of every other row of tf32 (32)."""
        bits = format_of(self.a).bits
        return 32 if self.a == "tf32" else bits * self.k // self.sub_group_size

    def a_components(self, m: int) -> int:
        """Number of components of A that a work-item holds: one for each row, or for every other row of tf32."""
        return -(-m // 2) if self.a == "tf32" else m

    @property
    def operands(self) -> int:
        """SPIR-V's Matrix Multiply Accumulate Operands; the bits of B are next to those of A."""
        accumulators = _ACCUMULATORS_BFLOAT16 if self.accumulator == "bf16" else 0
        return _operand_bits(self.a) | _operand_bits(self.b) << 1 | accumulators


def _short_name(fmt: str) -> str:
    """``i8`` for sint8, ``u4`` for uint4, ``f16`` for fp16; bf16 and tf32 keep their names."""
    return fmt.replace("sint", "i").replace("uint", "u").replace("fp", "f")


def _operand_bits(fmt: str) -> int:
    """The operand bits of A for one element type: how it is packed, and whether it is signed."""
    described: Format = format_of(fmt)
    if described.is_float:
        return _PACKING_BITS[fmt]
    return _PACKING_BITS["integer", described.bits] | (_SIGNED_BIT if fmt.startswith("s") else 0)


def _pairs(*formats: str) -> tuple[tuple[str, str], ...]:
    return tuple(itertools.product(formats, formats))


# (sub-group size, K, types of A and B, types of C and D)
_TABLE: tuple[tuple[int, int, tuple[tuple[str, str], ...], tuple[str, ...]], ...] = (
    (8, 32, _pairs("sint8", "uint8"), ("sint32",)),
    (8, 64, _pairs("sint4", "uint4"), ("sint32",)),
    (8, 16, _pairs("bf16"), ("fp32",)),
    (8, 16, _pairs("fp16"), ("fp32",)),
    (16, 32, _pairs("sint8", "uint8"), ("sint32",)),
    (16, 64, _pairs("sint4", "uint4"), ("sint32",)),
    (16, 16, _pairs("bf16"), ("fp32", "bf16")),
    (16, 16, _pairs("fp16"), ("fp32", "fp16")),
    (16, 8, _pairs("tf32"), ("fp32",)),
)

SUBGROUP_MATRIX_MADS: tuple[SubgroupMatrixMad, ...] = tuple(
    SubgroupMatrixMad(size, k, a, b, accumulator)
    for size, k, pairs, accumulators in _TABLE for a, b in pairs for accumulator in accumulators)
"""Every combination, each for all of :data:`M_SIZES`."""
