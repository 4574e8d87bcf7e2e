"""What is known of a chip's floating-point arithmetic, as numbers; :mod:`coopmat.numerics` computes with them.

A record for each family of hardware; docs/numerics.md says what they mean. Integers are exact, modulo 2**bits, on all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coopmat.formats import FORMATS

INTEGERS = "integers"


@dataclass(frozen=True, slots=True)
class AmxTiles:
    """Intel AMX: two chains for each tile of so many ``products``, by format of A and B."""

    products: Mapping[str, int]

    def __post_init__(self) -> None:
        _check_products(self.products)


@dataclass(frozen=True, slots=True)
class XmxStages:
    """Intel XMX: a stage adds so many ``products``, by format of A and B. What else there is to know its documents
    leave open: coopmat.XmxArithmetic."""

    products: Mapping[str, int]

    def __post_init__(self) -> None:
        _check_products(self.products)


@dataclass(frozen=True, slots=True)
class TensorCoreBlocks:
    """NVIDIA's tensor cores: blocks of so many ``products``, by format of A and B, of which fp16 is one.

    fraction_bits: kept below the largest exponent of a block's terms.
    floors: the least exponent that terms are aligned at, by format of D; None for no limit.
    nans: the bits of every NaN, by format of D.
    """

    products: Mapping[str, int]
    fraction_bits: int
    floors: Mapping[str, int | None]
    nans: Mapping[str, int]

    def __post_init__(self) -> None:
        _check_products(self.products)
        if "fp16" not in self.products:
            raise ValueError(f"tensor cores multiply fp16, found {', '.join(self.products)}")
        if self.fraction_bits < 1 or not {*self.floors} == {*self.nans} == {"fp32", "fp16"}:
            raise ValueError(f"expected fraction bits, and floors and NaNs for D of fp32 and fp16, found {self}")


@dataclass(frozen=True, slots=True)
class MatrixCoreTrees:
    """AMD's matrix cores: trees of so many ``products``, by format of A and B; ``nan`` is what every NaN looks like."""

    products: Mapping[str, int]
    nan: int

    def __post_init__(self) -> None:
        _check_products(self.products)


@dataclass(frozen=True, slots=True)
class Float64Steps:
    """fp64 by IEEE's fused multiply-adds: what an invalid operation gives, and which of several NaNs comes out, as the
    letters of a, b and c in their order."""

    default_nan: int
    nan_order: str

    def __post_init__(self) -> None:
        if sorted(self.nan_order) != ["a", "b", "c"]:
            raise ValueError(f"an order of NaNs has the letters a, b and c, found {self.nan_order!r}")


ArithmeticFacts = AmxTiles | XmxStages | TensorCoreBlocks | MatrixCoreTrees | Float64Steps


def _check_products(products: Mapping[str, int]) -> None:
    if not products or min(products.values()) < 1 or not all(FORMATS[name].is_float for name in products):
        raise ValueError(f"expected formats of floating-point numbers and how many products, found {dict(products)}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the arithmetic of some architectures comes from, for some types of A and B (or :data:`INTEGERS`), and what
    the model was compared with: a row of a table of docs/numerics.md."""

    architectures: tuple[str, ...]
    inputs: tuple[str, ...]
    source: str
    compared: str
