"""Which arithmetic each architecture has for which types, as the tables of devices say, and the multiply-accumulate
that follows it.

Sources and what was verified on hardware: docs/numerics.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coopmat.devices import ARCHITECTURES
from coopmat.devices.arithmetic import (
    AmxTiles,
    ArithmeticFacts,
    Float64Steps,
    MatrixCoreTrees,
    TensorCoreBlocks,
    XmxStages,
)
from coopmat.diagnostics import Error
from coopmat.formats import FORMATS, Format, round_to
from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.integers import multiply_accumulate_integers
from coopmat.numerics.operands import Operands, check_operands
from coopmat.numerics.terms import Terms, all_terms
from coopmat.numerics.xmx import Chain, XmxArithmetic


class Arithmetic(Protocol):
    """How the elements of D are computed from their terms."""

    def accumulate(self, terms: Terms, d_format: Format) -> NDArray[Any]:
        """The elements of ``A*B + C``, of the shape of ``terms.c``, as numbers or in storage of D's format."""


@dataclass(frozen=True, slots=True)
class Row:
    """The arithmetic of one instruction: the formats of A and B, and of D. ``c_format`` is the one that C is converted
    to first; ``nan`` is the bit pattern of every NaN, None where the model says which one comes out.

    ``only_c``: the row is for this format of C only; such rows come first.
    """

    inputs: str
    d_format: str
    arithmetic: Arithmetic
    nan: int | None
    c_format: str
    only_c: str | None = None

    def fits(self, types: tuple[str, str, str, str]) -> bool:
        """Whether the row is the one for these formats of A, B, C and D, unless an earlier one is."""
        a, b, c, d = types
        return a == b == self.inputs and d == self.d_format and self.only_c in (None, c)


# --------------------------------------------------------------------------------------
# The rows of each family, from what the tables of devices know of it
# --------------------------------------------------------------------------------------


@cache
def rows_of(architecture: str, xmx: XmxArithmetic | None = None) -> tuple[Row, ...]:
    """The floating-point arithmetic of an architecture; of Intel XMX, the one of those that its documents allow."""
    choices = XmxArithmetic() if xmx is None else xmx
    return tuple(row for known in ARCHITECTURES[architecture].arithmetic for row in _rows(known, choices))


def _rows(known: ArithmeticFacts, choices: XmxArithmetic) -> Iterator[Row]:
    match known:
        case AmxTiles():
            for inputs, products in known.products.items():
                yield Row(inputs, "fp32", TwoChains(products), None, "fp32")
        case XmxStages():
            yield from _xmx_rows(known, choices)
        case TensorCoreBlocks():
            yield from _tensor_core_rows(known)
        case MatrixCoreTrees():
            for inputs, products in known.products.items():
                yield Row(inputs, "fp32", PairwiseTree(products, _least_normal(inputs)), known.nan, "fp32")
        case Float64Steps():
            yield Row("fp64", "fp64", Float64Chain(known.default_nan, known.nan_order), None, "fp64")


def _xmx_rows(known: XmxStages, choices: XmxArithmetic) -> Iterator[Row]:
    """D is of fp32, or of the type of A and B; there are no accumulators of tf32."""
    for inputs, products in known.products.items():
        for d_format in ("fp32", *({inputs} - {"tf32"})):
            yield Row(inputs, d_format, Chain(products, _least_normal(inputs), choices), None, "fp32")


def _tensor_core_rows(known: TensorCoreBlocks) -> Iterator[Row]:
    """D of fp32 for all inputs, then of fp16 with a C of fp32, which is added in fp32, and with a C of fp16."""
    def row(inputs: str, d_format: str) -> Row:
        model = AlignedSum(known.products[inputs], known.fraction_bits, known.floors[d_format],
                           truncates=d_format == "fp32")
        return Row(inputs, d_format, model, known.nans[d_format], d_format)

    yield from (row(inputs, "fp32") for inputs in known.products)
    yield replace(row("fp16", "fp32"), d_format="fp16", nan=known.nans["fp16"], only_c="fp32")
    yield row("fp16", "fp16")


def _least_normal(name: str) -> float:
    return 2.0 ** FORMATS[name].min_exponent


ROWS: dict[str, tuple[Row, ...]] = {name: rows_of(name) for name, row in ARCHITECTURES.items() if row.arithmetic}
"""The floating-point arithmetic of each architecture; integers are exact, modulo 2**bits, on all of them."""

WITH_XMX = tuple(name for name, row in ARCHITECTURES.items()
                 if any(isinstance(known, XmxStages) for known in row.arithmetic))
"""The architectures whose documents leave some of their arithmetic open."""

# --------------------------------------------------------------------------------------
# The multiply-accumulate
# --------------------------------------------------------------------------------------


def multiply_accumulate(architecture: str, a: ArrayLike, b: ArrayLike, c: ArrayLike, *, a_format: str | Format,
                        b_format: str | Format, c_format: str | Format, d_format: str | Format,
                        saturating: bool = False, xmx: XmxArithmetic | None = None) -> NDArray[Any]:
    """``D = A*B + C`` as an architecture computes it; arguments and result as those of
    :func:`coopmat.numerics.matrix_multiply_accumulate_exact`. ``xmx`` is for architectures with Intel's XMX.

    Raises Error for types that the architecture has no arithmetic for.
    """
    operands = check_operands(a, b, c, a_format=a_format, b_format=b_format, c_format=c_format, d_format=d_format)
    if not operands.is_float:
        return multiply_accumulate_integers(operands, saturating)
    if saturating:
        raise Error(f"only integers are accumulated with saturation, not {operands.d_format}")
    formats = (operands.a_format.name, operands.b_format.name, operands.c_format.name, operands.d_format.name)
    if xmx is None:
        return _accumulate(row_of(architecture, ROWS[architecture], formats), operands)
    if xmx.tf32_operands == "nearest_even" and operands.a_format.name == operands.b_format.name == "tf32":
        operands = replace(operands, a=round_to(operands.a, "tf32"), b=round_to(operands.b, "tf32"))
    return _accumulate(row_of(architecture, rows_of(architecture, xmx), formats), operands)


def row_of(architecture: str, rows: tuple[Row, ...], formats: tuple[str, str, str, str]) -> Row:
    """The row of an architecture for the formats of a multiply-accumulate. Error if it has none."""
    found = next((row for row in rows if row.fits(formats)), None)
    if found is None:
        a, b, c, d = formats
        known = ", ".join(dict.fromkeys(f"{row.inputs}*{row.inputs} -> {row.d_format}" for row in rows))
        raise Error(f"there is no model of {a}*{b} + {c} -> {d} on {architecture}; there are {known}")
    return found


def _accumulate(row: Row, operands: Operands) -> NDArray[Any]:
    converted = _with_accumulator_format(operands, FORMATS[row.c_format])
    result = np.empty(operands.shape, operands.d_format.dtype)
    batch = result.reshape(math.prod(operands.shape[:-2]), *operands.shape[-2:])
    for place, terms in all_terms(converted):
        with np.errstate(all="ignore"):
            batch[place] = row.arithmetic.accumulate(terms, operands.d_format).astype(result.dtype, copy=False)
    if row.nan is not None:
        is_nan = np.isnan(result)
        if is_nan.any():
            result.view(operands.d_format.bits_dtype)[is_nan] = row.nan
    return result


def _with_accumulator_format(operands: Operands, fmt: Format) -> Operands:
    """The operands with C in another format; a narrower one rounds to nearest, ties to even."""
    return operands if operands.c_format == fmt else replace(operands, c=round_to(operands.c, fmt), c_format=fmt)
