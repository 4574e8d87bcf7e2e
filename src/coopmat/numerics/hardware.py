"""Which arithmetic each architecture has for which types: one table, and the multiply-accumulate that follows it.

Sources and what was verified on hardware: docs/numerics.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


_NANS = {"fp32": 0x7FFFFFFF, "fp16": 0x7FFF}  # NVIDIA's


def _nvidia(inputs: str, d_format: str, products: int, fraction_bits: int, floors: dict[str, int | None]) -> Row:
    model = AlignedSum(products, fraction_bits, floors[d_format], truncates=d_format == "fp32")
    return Row(inputs, d_format, model, _NANS[d_format], d_format)


def _tensor_cores(fraction_bits: int, floors: dict[str, int | None], products: dict[str, int]) -> tuple[Row, ...]:
    """A generation of tensor cores; ``products`` in one block, by input format."""
    rows = {inputs: _nvidia(inputs, "fp32", count, fraction_bits, floors) for inputs, count in products.items()}
    narrowed = replace(rows["fp16"], d_format="fp16", nan=_NANS["fp16"], only_c="fp32")
    return (*rows.values(), narrowed, _nvidia("fp16", "fp16", products["fp16"], fraction_bits, floors))


@cache
def xmx_rows(choices: XmxArithmetic) -> tuple[Row, ...]:
    """Intel XMX with one arithmetic of those that its documents allow."""
    return tuple(Row(inputs, d_format, Chain(products, 2.0 ** FORMATS[inputs].min_exponent, choices), None, "fp32")
                 for inputs, products in (("bf16", 2), ("fp16", 2), ("tf32", 1))
                 for d_format in ("fp32", *({inputs} - {"tf32"})))


_NO_FLOOR: dict[str, int | None] = {"fp32": None, "fp16": -19}
_AMPERE_FLOOR: dict[str, int | None] = {"fp32": -132, "fp16": -20}
_HOPPER_FLOOR: dict[str, int | None] = {"fp32": -133, "fp16": -21}
_FLOAT64 = Row("fp64", "fp64", Float64Chain(0xFFF8000000000000, "bca"), None, "fp64")

VOLTA = _tensor_cores(23, _NO_FLOOR, {"fp16": 4})
TURING = _tensor_cores(24, _AMPERE_FLOOR, {"fp16": 8})
AMPERE = (*_tensor_cores(24, _AMPERE_FLOOR, {"fp16": 8, "bf16": 8, "tf32": 4}), _FLOAT64)
HOPPER = (*_tensor_cores(25, _HOPPER_FLOOR, {"fp16": 16, "bf16": 16, "tf32": 8}), _FLOAT64)

AMX = tuple(Row(inputs, "fp32", TwoChains(32), None, "fp32") for inputs in ("bf16", "fp16"))
XMX = xmx_rows(XmxArithmetic())
CDNA2 = (*(Row(inputs, "fp32", PairwiseTree(4, 2.0 ** FORMATS[inputs].min_exponent), 0x7FC00000, "fp32")
           for inputs in ("fp16", "bf16")), _FLOAT64)

ROWS: dict[str, tuple[Row, ...]] = {
    "intel_cpu_spr": AMX, "intel_cpu_gnr": AMX,
    "intel_gpu_pvc": XMX, "intel_gpu_dg2_g10": XMX, "intel_gpu_dg2_g11": XMX, "intel_gpu_dg2_g12": XMX,
    "nvidia_gpu_sm_70": VOLTA, "nvidia_gpu_sm_72": VOLTA, "nvidia_gpu_sm_75": TURING, "nvidia_gpu_sm_80": AMPERE,
    "nvidia_gpu_sm_86": AMPERE, "nvidia_gpu_sm_89": AMPERE, "nvidia_gpu_sm_90": HOPPER,
    "amd_gpu_gfx90a": CDNA2,
}
"""The floating-point arithmetic of each architecture; integers are exact, modulo 2**bits, on all of them."""


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
    return _accumulate(row_of(architecture, xmx_rows(xmx), formats), operands)


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
