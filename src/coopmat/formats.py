"""Element formats: the numbers that matrices, vectors and scalars are made of.

One table, :data:`FORMATS`, holds every format under the name that the public contract uses (the
names of SYCL's ``matrix_type``, plus the 4-bit integers). Three representations occur:

*values*
    float64 arrays for floating-point formats (exact for all of them), int64 arrays for integer
    formats (uint64 for ``uint64``);
*bits*
    unsigned arrays as wide as the format's container; 4-bit elements lie in the low half of a byte;
*storage*
    arrays of ``Format.dtype``, the numpy or ml_dtypes type that users' arrays have. tf32 is stored
    as float32 whose 13 low bits mean nothing.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from enum import StrEnum, auto
from fractions import Fraction
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from coopmat.diagnostics import Error, value_text

Kind = Literal["float", "uint", "sint"]
Rounding = Literal["rte", "rtz", "rtp", "rtn"]
"""To nearest even, toward zero, toward plus infinity, toward minus infinity (OpenCL's suffixes)."""
IntegerOverflow = Literal["wrap", "saturate"]

_FLOAT64_FRACTION_BITS = 52
_FLOAT64_BIAS = 1023
_FLOAT64_EXPONENT_MASK = 0x7FF
_WORD_DTYPES = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@dataclass(frozen=True, slots=True)
class Format:
    """One element format.

    ``bits`` is the width of one packed element (32 for tf32, whose ``unused_bits`` low bits are
    zero); ``dtype`` is the storage type. A row checks itself.
    """

    name: str
    kind: Kind
    bits: int
    exponent_bits: int
    fraction_bits: int
    dtype: np.dtype[Any]
    unused_bits: int = 0

    def __post_init__(self) -> None:
        if self.dtype.itemsize * 8 != max(self.bits, 8):
            raise ValueError(f"{self.name}: {self.dtype} does not hold elements of {self.bits} bits")
        fields = 1 + self.exponent_bits + self.fraction_bits + self.unused_bits
        if self.kind == "float" and fields != self.bits:
            raise ValueError(f"{self.name}: the fields make {fields} bits, not {self.bits}")
        if self.kind != "float" and fields != 1:
            raise ValueError(f"{self.name}: an integer format has no exponent, fraction or unused bits")

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point format."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer format, signed or unsigned."""
        return self.kind != "float"

    @property
    def is_signed(self) -> bool:
        """Whether the format has negative numbers."""
        return self.kind != "uint"

    @property
    def bits_dtype(self) -> np.dtype[Any]:
        """The unsigned type of the container: uint8, uint16, uint32 or uint64."""
        return np.dtype(_WORD_DTYPES[max(self.bits, 8)])

    @property
    def max_exponent(self) -> int:
        """Exponent of the largest finite numbers of a floating-point format; also its bias."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number of a floating-point format."""
        return 1 - self.max_exponent

    @property
    def max_value(self) -> int | float:
        """The largest finite value."""
        if self.is_float:
            return (2.0 - 2.0**-self.fraction_bits) * 2.0**self.max_exponent
        return (1 << (self.bits - self.is_signed)) - 1

    @property
    def min_value(self) -> int | float:
        """The smallest (most negative) finite value."""
        if self.is_float:
            return -self.max_value
        return -(1 << (self.bits - 1)) if self.is_signed else 0


def _float_row(name: str, exponent_bits: int, fraction_bits: int, dtype: DTypeLike,
               unused_bits: int = 0) -> Format:
    bits = 1 + exponent_bits + fraction_bits + unused_bits
    return Format(name, "float", bits, exponent_bits, fraction_bits, np.dtype(dtype), unused_bits)


def _integer_row(kind: Kind, bits: int, dtype: DTypeLike) -> Format:
    return Format(f"{kind}{bits}", kind, bits, 0, 0, np.dtype(dtype))


FORMATS: dict[str, Format] = {row.name: row for row in (
    _float_row("bf16", 8, 7, ml_dtypes.bfloat16),
    _float_row("fp16", 5, 10, np.float16),
    _float_row("tf32", 8, 10, np.float32, unused_bits=13),
    _float_row("fp32", 8, 23, np.float32),
    _float_row("fp64", 11, 52, np.float64),
    _integer_row("sint", 4, ml_dtypes.int4),
    _integer_row("sint", 8, np.int8),
    _integer_row("sint", 16, np.int16),
    _integer_row("sint", 32, np.int32),
    _integer_row("sint", 64, np.int64),
    _integer_row("uint", 4, ml_dtypes.uint4),
    _integer_row("uint", 8, np.uint8),
    _integer_row("uint", 16, np.uint16),
    _integer_row("uint", 32, np.uint32),
    _integer_row("uint", 64, np.uint64),
)}
"""Every format by its name."""

OTHER_NAMES = {
    **{f"int{bits}": f"sint{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"{sign}{bits}": f"{sign}int{bits}" for sign in "su" for bits in (4, 8, 32)},
    **dict.fromkeys(("half", "float16", "f16"), "fp16"), "bfloat16": "bf16",
    **dict.fromkeys(("float", "float32", "f32"), "fp32"), **dict.fromkeys(("double", "float64", "f64"), "fp64"),
}
"""What other languages call some formats: for hints, they are not accepted."""


def format_of(name: str | Format) -> Format:
    """The format called ``name``; a :class:`Format` is returned as it is.

    Raises :class:`coopmat.Error` naming the known formats if there is none of that name.
    """
    if isinstance(name, Format):
        return name
    if isinstance(name, str) and name in FORMATS:
        return FORMATS[name]
    meant = OTHER_NAMES.get(str(name)) or next(iter(difflib.get_close_matches(str(name), FORMATS, n=1)), None)
    hint = f"; did you mean '{meant}'?" if meant else ""
    raise Error(f"unknown element type {value_text(name)}{hint} (known: {', '.join(FORMATS)})")


class matrix_type(StrEnum):
    """Element types of matrices as the run-time query names them (sycl_ext_oneapi_matrix, section "Runtime Query").
    Members equal their names, and print as these. Error for a name that is none."""

    bf16 = auto()
    fp16 = auto()
    tf32 = auto()
    fp32 = auto()
    fp64 = auto()
    sint8 = auto()
    sint16 = auto()
    sint32 = auto()
    sint64 = auto()
    uint8 = auto()
    uint16 = auto()
    uint32 = auto()
    uint64 = auto()

    def __repr__(self) -> str:
        return f"matrix_type.{self.name}"

    @classmethod
    def _missing_(cls, value: object) -> None:
        format_of(str(value))  # whose message says which there are


# --------------------------------------------------------------------------------------
# Conversions
# --------------------------------------------------------------------------------------


def to_bits(values: ArrayLike, fmt: str | Format) -> NDArray[Any]:
    """The bit patterns of ``values`` in ``fmt``, as unsigned integers of the container's width.

    An array of the storage type is taken bit by bit (except for tf32); anything else is rounded as
    :func:`round_to` does by default.
    """
    fmt = format_of(fmt)
    bits = round_to(values, fmt).view(fmt.bits_dtype)
    return bits & fmt.bits_dtype.type(0xF) if fmt.bits == 4 else bits


def from_bits(bits: ArrayLike, fmt: str | Format) -> NDArray[Any]:
    """The values of bit patterns: float64, or int64 (uint64 for ``uint64``).

    Bits beyond the format's width and the unused bits of tf32 are ignored. A signalling NaN becomes
    the quiet NaN with the same payload, as in hardware; the bits of fp64 are kept.
    """
    fmt = format_of(fmt)
    storage = storage_from_bits(bits, fmt)
    if fmt.is_integer:
        return storage.astype(np.uint64 if fmt.name == "uint64" else np.int64)
    return _widen(storage)


def storage_from_bits(bits: ArrayLike, fmt: str | Format) -> NDArray[Any]:
    """The array of ``fmt.dtype`` that has these bit patterns (any integer type; excess bits are dropped)."""
    fmt = format_of(fmt)
    words = np.asarray(bits)
    if words.dtype.kind not in "iu":
        raise Error(f"bit patterns are integers, not {words.dtype}")
    container = words.astype(fmt.bits_dtype)
    if fmt.bits == 4:
        container &= fmt.bits_dtype.type(0xF)
    return drop_unused_bits(container.view(fmt.dtype), fmt)


def drop_unused_bits(storage: NDArray[Any], fmt: str | Format) -> NDArray[Any]:
    """What a multiplication sees of stored elements: the 13 low bits of tf32 are cut off.

    A NaN stays a NaN even if its payload was in those bits. Other formats come back unchanged.
    """
    fmt = format_of(fmt)
    if not fmt.unused_bits:
        return storage
    bits = storage.view(fmt.bits_dtype)
    quiet = np.where(np.isnan(storage), fmt.bits_dtype.type(_quiet_bit(fmt)), fmt.bits_dtype.type(0))
    kept = fmt.bits_dtype.type((1 << fmt.bits) - (1 << fmt.unused_bits))
    return np.asarray((bits | quiet) & kept).view(fmt.dtype)


def round_to(values: ArrayLike, fmt: str | Format, *, rounding: Rounding = "rte",
             overflow: IntegerOverflow = "wrap") -> NDArray[Any]:
    """``values``, rounded once to ``fmt``, as a new array of ``fmt.dtype`` and of the same shape.

    values: real numbers of any numpy or ml_dtypes type up to 64 bits, or a sequence of such.
    rounding: direction for values between two representable ones.
    overflow: what an integer format does with a number out of its range: ``"wrap"`` keeps it modulo
        2**bits, ``"saturate"`` gives the nearest end of the range.

    To a floating-point format: overflow gives infinity (or the largest finite value where
    ``rounding`` points toward zero), a NaN becomes quiet and keeps its sign and the top bits of its
    payload. To an integer format: NaN gives 0; an infinity gives the end of the range when
    saturating, else 0.
    Raises :class:`coopmat.Error` if ``values`` are not real numbers of at most 64 bits.
    """
    fmt = format_of(fmt)
    array = np.asarray(values)
    if array.dtype == fmt.dtype and not fmt.unused_bits:
        return array.astype(fmt.dtype)
    source = _exact_values(array)
    flat = source.reshape(-1)
    convert = _to_float if fmt.is_float else _to_integer
    return convert(flat, fmt, rounding, overflow).reshape(source.shape)


def _exact_values(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers as float64, int64 or uint64."""
    name = array.dtype.name
    if array.dtype.kind == "b" or (array.dtype.kind == "u" and array.dtype.itemsize == 8):
        return array.astype(np.uint64)
    if array.dtype.kind in "iu" or name in ("int4", "uint4", "int2", "uint2"):
        return array.astype(np.int64)
    if (array.dtype.kind == "f" and array.dtype.itemsize <= 8) or name == "bfloat16":
        return _widen(array)
    raise Error(f"expected real numbers of at most 64 bits, found an array of type {name}")


def _widen(array: NDArray[Any]) -> NDArray[np.float64]:
    """Floating-point storage as float64; NaNs of narrower formats become quiet, whatever the machine does."""
    if array.dtype == np.float64:
        return array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        wide = np.asarray(array.astype(np.float64))
    nan = np.isnan(wide)
    if nan.any():
        wide.view(np.uint64)[nan] |= np.uint64(_quiet_bit(FORMATS["fp64"]))
    return wide


def _quiet_bit(fmt: Format) -> int:
    return 1 << (fmt.fraction_bits + fmt.unused_bits - 1)


def _to_float(values: NDArray[Any], fmt: Format, rounding: Rounding,
              _overflow: IntegerOverflow) -> NDArray[Any]:
    if values.dtype != np.float64:
        # Rounding to odd here makes the second rounding, to a narrower format, the only one that counts.
        values = _integers_to_float64(values, rounding if fmt.name == "fp64" else "odd")
    if fmt.name == "fp64":
        return values.astype(fmt.dtype)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        result = _round_to_precision(values, fmt, rounding).astype(fmt.dtype)
    nan = np.isnan(values)
    if nan.any():
        result.view(fmt.bits_dtype)[nan] = _nan_bits(values[nan], fmt)
    return result


_INTEGRAL = {"rte": np.rint, "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor}
_OVERFLOWS_TO_INFINITY = {"rte": (True, True), "rtz": (False, False), "rtp": (False, True),
                          "rtn": (True, False)}  # (negative numbers, positive numbers)


def _round_to_precision(values: NDArray[np.float64], fmt: Format, rounding: Rounding) -> NDArray[np.float64]:
    """Float64 numbers rounded to the nearest ones that ``fmt``, narrower than fp64, can hold.

    A value is divided by the distance of its neighbours in ``fmt`` (a power of two: exact), rounded
    to an integer and multiplied back.
    """
    exponent = (values.view(np.int64) >> _FLOAT64_FRACTION_BITS) & _FLOAT64_EXPONENT_MASK
    exponent -= _FLOAT64_BIAS
    np.maximum(exponent, fmt.min_exponent, out=exponent)
    exponent += _FLOAT64_BIAS - fmt.fraction_bits
    quantum = (exponent << _FLOAT64_FRACTION_BITS).view(np.float64)
    rounded: NDArray[np.float64] = _INTEGRAL[rounding](values / quantum) * quantum
    too_large = np.abs(rounded) > fmt.max_value
    if too_large.any():
        negative, positive = _OVERFLOWS_TO_INFINITY[rounding]
        to_infinity = np.where(np.signbit(values), negative, positive) | np.isinf(values)
        limit = np.where(to_infinity, np.inf, fmt.max_value)
        rounded = np.where(too_large, np.copysign(limit, values), rounded)
    return rounded


def _nan_bits(values: NDArray[np.float64], fmt: Format) -> NDArray[Any]:
    """The bits of float64 NaNs in ``fmt``: sign and upper payload kept, quiet."""
    bits = values.view(np.uint64)
    sign = (bits >> np.uint64(63)) << np.uint64(fmt.bits - 1)
    fraction = (bits & np.uint64((1 << _FLOAT64_FRACTION_BITS) - 1))
    payload = fraction >> np.uint64(_FLOAT64_FRACTION_BITS - fmt.fraction_bits)
    exponent = (1 << (fmt.bits - 1)) - (1 << (fmt.fraction_bits + fmt.unused_bits))
    merged = sign | np.uint64(exponent | _quiet_bit(fmt)) | (payload << np.uint64(fmt.unused_bits))
    return merged.astype(fmt.bits_dtype)


def _integers_to_float64(values: NDArray[Any], rounding: Rounding | Literal["odd"]) -> NDArray[np.float64]:
    """64-bit integers to float64, rounded once.

    Both halves are exact in float64, so their rounded sum and its rounding error are known exactly.
    """
    high = (values >> values.dtype.type(32)).astype(np.float64) * 2.0**32
    low = (values & values.dtype.type(0xFFFFFFFF)).astype(np.float64)
    return round_pair(high, low, rounding)


def round_pair(high: NDArray[np.float64], low: NDArray[np.float64],
               rounding: Rounding | Literal["odd"]) -> NDArray[np.float64]:
    """The exact sum ``high + low``, rounded once to float64.

    ``"odd"`` gives, of the two neighbours of an inexact sum, the one with an odd significand; a
    later rounding to a format with at least two bits less is then right, as if there had been only
    one. The sum must not overflow.
    """
    total = high + low
    low_part = total - high
    error = (high - (total - low_part)) + (low - low_part)
    if rounding == "rte":
        return total
    up = np.where(error > 0, np.inf, -np.inf)
    if rounding == "odd":
        is_even = (total.view(np.uint64) & np.uint64(1)) == 0
        return np.where((error != 0) & is_even, np.nextafter(total, up), total)
    directions = {"rtz": -np.sign(total), "rtp": np.ones_like(total), "rtn": -np.ones_like(total)}
    misses = error * directions[rounding] > 0
    return np.where(misses, np.nextafter(total, up), total)


def _to_integer(values: NDArray[Any], fmt: Format, rounding: Rounding,
                overflow: IntegerOverflow) -> NDArray[Any]:
    if overflow == "saturate":
        return _saturate(values, fmt, rounding)
    if values.dtype == np.float64:
        values = _float_modulo_2_64(values, rounding)
    return _low_bits(values, fmt)


def _float_modulo_2_64(values: NDArray[np.float64], rounding: Rounding) -> NDArray[np.uint64]:
    """Float64 numbers rounded to integers, modulo 2**64; 0 for NaN and infinities."""
    finite = np.where(np.isfinite(values), values, 0.0)
    remainder = np.fmod(_INTEGRAL[rounding](finite), 2.0**64)
    magnitude = np.abs(remainder).astype(np.uint64)
    return np.where(remainder < 0, np.uint64(0) - magnitude, magnitude)


def _low_bits(values: NDArray[Any], fmt: Format) -> NDArray[Any]:
    """The low ``fmt.bits`` bits of 64-bit integers, as storage."""
    container = values.astype(fmt.bits_dtype)
    if fmt.bits == 4:
        container &= fmt.bits_dtype.type(0xF)
    return container.view(fmt.dtype)


def _saturate(values: NDArray[Any], fmt: Format, rounding: Rounding) -> NDArray[Any]:
    """Numbers rounded to integers and clamped to the range of ``fmt``; 0 for NaN."""
    if values.dtype == np.float64:
        values = _INTEGRAL[rounding](np.where(np.isnan(values), 0.0, values))
    # The ends are compared as exact integers: float(2**63 - 1) would be 2**63.
    above = values >= float(fmt.max_value + 1) if values.dtype == np.float64 else values > fmt.max_value
    below = values < fmt.min_value
    inside = np.where(above | below, values.dtype.type(0), values)
    as_integers = inside if values.dtype != np.float64 else _float_modulo_2_64(inside, "rtz")
    stored = _low_bits(as_integers, fmt)
    stored[above] = fmt.dtype.type(fmt.max_value)
    stored[below] = fmt.dtype.type(fmt.min_value)
    return stored


# --------------------------------------------------------------------------------------
# Packing
# --------------------------------------------------------------------------------------


def pack(elements: ArrayLike, fmt: str | Format, word_bits: int = 32) -> NDArray[Any]:
    """Pack elements along the last axis into words, the lowest element in the least significant bits.

    elements: shape [..., n] in storage (taken bit by bit) or values (rounded as by :func:`to_bits`).
    Returns unsigned words, shape [..., n * fmt.bits / word_bits].
    Raises :class:`coopmat.Error` if the words are not 8, 16, 32 or 64 bits wide, are narrower than
    an element, or n does not fill whole words.
    """
    fmt = format_of(fmt)
    per_word = _elements_per_word(fmt, word_bits)
    bits = to_bits(elements, fmt)
    if bits.ndim == 0 or bits.shape[-1] % per_word:
        found = f"{bits.shape[-1]} along the last axis" if bits.ndim else "a single one"
        raise Error(f"{word_bits}-bit words hold {per_word} {fmt} elements each: "
                    f"expected a multiple of {per_word} elements, found {found}")
    word = _WORD_DTYPES[word_bits]
    groups = bits.reshape(*bits.shape[:-1], bits.shape[-1] // per_word, per_word).astype(word)
    return np.bitwise_or.reduce(groups << _shifts(fmt, per_word, word), axis=-1)


def unpack(words: ArrayLike, fmt: str | Format) -> NDArray[Any]:
    """The elements of packed words: the inverse of :func:`pack`.

    words: integers, signed or not, shape [..., n]; their type says how wide they are.
    Returns storage, shape [..., n * elements per word].
    Raises :class:`coopmat.Error` if the words are not integers or are narrower than an element.
    """
    fmt = format_of(fmt)
    array = np.asarray(words)
    if array.dtype.kind not in "iu":
        raise Error(f"packed words are integers, not {array.dtype}")
    word_bits = array.dtype.itemsize * 8
    per_word = _elements_per_word(fmt, word_bits)
    word = _WORD_DTYPES[word_bits]
    shifted = array.astype(word)[..., np.newaxis] >> _shifts(fmt, per_word, word)
    return storage_from_bits(shifted.reshape(*array.shape[:-1], -1), fmt)


def _elements_per_word(fmt: Format, word_bits: int) -> int:
    if word_bits not in _WORD_DTYPES or word_bits < fmt.bits:
        raise Error(f"{fmt} elements have {fmt.bits} bits: expected words of 8, 16, 32 or 64 bits that hold "
                    f"at least one, found {word_bits} bits")
    return word_bits // fmt.bits


def _shifts(fmt: Format, per_word: int, word: Any) -> NDArray[Any]:
    return np.arange(0, per_word * fmt.bits, fmt.bits).astype(word)


def round_fraction(exact: Fraction, fmt: Format) -> float:
    """The number of format ``fmt`` nearest to a non-negative rational, ties to even."""
    if exact == 0:
        return 0.0
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, fmt.min_exponent) - fmt.fraction_bits
    significand = round(exact / Fraction(2) ** exponent)
    if significand.bit_length() + exponent > fmt.max_exponent + 1:
        return math.inf
    return math.ldexp(significand, exponent)
