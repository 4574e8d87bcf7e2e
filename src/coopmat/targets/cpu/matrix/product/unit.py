"""The units that multiply: what they take in a lane, what they add it to, and which of them a product gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coopmat.formats import Format, format_of
from coopmat.targets.cpu.matrix import amx
from coopmat.targets.cpu.matrix.body import Features
from coopmat.targets.cpu.matrix.operation import Formats
from coopmat.targets.cpu.matrix.sums import work_type
from coopmat.targets.llvm.values import bits_of

LINE = 64  # bytes: of a row of a tile, and of the widest vector


@dataclass(frozen=True)
class Unit:
    """Instructions that multiply words of A and B, and add the products to sums.

    kind: AMX's tiles; dot products of four bytes, of two bf16 numbers, or of two 16-bit integers; fused multiply-adds,
    or multiplications and additions. word: LLVM's type of a word. together: the elements along K in one. total: LLVM's
    type of a sum. instruction: of tiles.
    """

    kind: Literal["tiles", "bytes", "pairs", "shorts", "numbers"]
    word: str
    together: int
    total: str
    instruction: str = ""

    def takes_packed(self, together: int) -> bool:
        """Whether lines of which so many rows share a word can be put into strips."""
        return together == self.together or (self.kind in ("numbers", "shorts") and together % self.together == 0)

    @property
    def word_bytes(self) -> int:
        """The bytes of a word, and of a sum."""
        return bits_of(self.word) // 8

    @property
    def is_float(self) -> bool:
        """Whether its sums are floating-point numbers."""
        return self.total in ("float", "double")

    @property
    def lanes(self) -> int:
        """The words of a line: rows of A, or columns of B, that are multiplied together."""
        return LINE // self.word_bytes


def unit_of(formats: Formats, saturates: bool, features: Features) -> Unit:
    """The unit for elements of these formats."""
    name, needed = amx.INSTRUCTIONS.get(formats, ("", ""))
    if name and not saturates and {"amx-tile", needed} <= features:
        return Unit("tiles", "i32", 2 if format_of(formats[0]).is_float else 4,
                    "float" if format_of(formats[0]).is_float else "i32", name)
    described = [format_of(one) for one in formats]
    if not saturates and _are_bytes(described) and features & {"avx512vnni", "avxvnni"}:
        return Unit("bytes", "i32", 4, "i32")
    if formats == ("bf16", "bf16", "fp32", "fp32") and "avx512bf16" in features:
        return Unit("pairs", "i32", 2, "float")
    if not saturates and _are_shorts(described):
        return Unit("shorts", "i32", 2, "i32")
    work = work_type(described, saturates)
    return Unit("numbers", work, 1, work)


def _are_bytes(formats: Sequence[Format]) -> bool:
    a, b, c, d = formats
    return a.is_integer and a.bits == b.bits == 8 and c.bits == d.bits == 32


def _are_shorts(formats: Sequence[Format]) -> bool:
    """Whether elements are 16-bit integers with a sign, or become such."""
    a, b, c, d = formats
    return c.is_integer and c.bits == d.bits == 32 and all(
        one.bits < 16 or (one.bits == 16 and one.is_signed) for one in (a, b))
