"""How far two arrays are apart: in bits, in units in the last place, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]

FLOATS = frozenset(map(np.dtype, (
    np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)))
"""Dtypes with a sign bit and a magnitude whose order is that of their bits."""


@dataclass(frozen=True)
class Spot:
    """One element on two devices: its index as the array's shape has it, the values and their bits there."""

    index: Index
    values: tuple[Any, Any]
    bits: tuple[str, str]

    def __str__(self) -> str:
        index = f"[{', '.join(map(str, self.index))}]"
        first, second = (f"{value_text(value)} (bits {bits})"
                         for value, bits in zip(self.values, self.bits, strict=True))
        return f"{index}: {first} there, {second} here"


@dataclass(frozen=True)
class Difference:
    """An array on one device against the same array on the reference.

    differing: elements whose values differ; a NaN equals every NaN, and -0 equals +0. other_bits: elements that are
    equal and have other bits all the same. not_numbers: differing elements of which one is a NaN; they are no number
    of ulps apart. most_ulps: the largest distance in units in the last place (of integers and of raw bytes: the
    difference), 0 if none differ. first, largest: the first element that differs, and the one that is farthest apart.
    """

    array: str
    argument: int
    dtype: str
    shape: tuple[int, ...]
    device: str
    elements: int
    differing: int
    other_bits: int
    not_numbers: int
    most_ulps: int
    first: Spot | None
    largest: Spot | None
    is_float: bool

    @property
    def share(self) -> float:
        """How many of the elements differ, from 0 to 1."""
        return self.differing / self.elements if self.elements else 0.0

    def is_within(self, ulps: int) -> bool:
        """Whether no element is farther apart than so many ulps."""
        return not self.not_numbers and self.most_ulps <= ulps

    @property
    def distance(self) -> str:
        """The largest distance as a text."""
        if self.not_numbers:
            return "NaN"
        return f"{self.most_ulps} ulp{'s' * (self.most_ulps != 1)}" if self.is_float else str(self.most_ulps)

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it; the values of floating-point numbers are texts that Python reads."""
        found = asdict(self)
        found["share"] = self.share
        for name in ("first", "largest"):
            spot: Spot | None = getattr(self, name)
            if spot is not None:
                found[name]["values"] = [value_text(value) for value in spot.values]
        return found

    def __str__(self) -> str:
        if not self.differing:
            return "equal" + (f"; other bits in {count_of(self.other_bits, 'element')}" if self.other_bits else "")
        text = (f"{self.differing} of {count_of(self.elements, 'element')} differ ({self.share:.3%}), by at most "
                f"{self.distance} at {self.largest}")
        return text + (f"; other bits in {self.other_bits} more" if self.other_bits else "")


def differences(name: str, argument: int, device: str, reference: Array, found: Array) -> Iterator[Difference]:
    """An array on a device against that of the reference, which has the same dtype and shape; of an array of
    structures, one for each field."""
    if found.dtype.names is not None:
        for field in found.dtype.names:
            yield from differences(f"{name}.{field}", argument, device, reference[field], found[field])
        return
    if found.dtype.kind == "V" and found.dtype not in FLOATS:
        bytes_of = np.dtype(np.uint8), (found.dtype.itemsize,)
        reference, found = (np.ascontiguousarray(array).view(np.dtype(bytes_of)) for array in (reference, found))
    yield _difference(name, argument, device, np.atleast_1d(reference), np.atleast_1d(found))


def _difference(name: str, argument: int, device: str, reference: Array, found: Array) -> Difference:
    is_float = found.dtype in FLOATS
    other_bits = bits_of(reference) != bits_of(found)
    differs = differs_from(reference, found) if other_bits.any() else other_bits
    first = largest = None
    most = not_numbers = 0
    if differs.any():
        places = np.nonzero(differs)
        one, other = reference[places], found[places]
        apart = ulps_between(one, other)
        if is_float:
            with np.errstate(invalid="ignore"):  # signalling NaNs
                is_nan = np.isnan(one) | np.isnan(other)
            not_numbers = int(is_nan.sum())
            worst = int(np.argmax(is_nan)) if not_numbers else int(np.argmax(apart))
            apart = apart[~is_nan]
        else:
            worst = int(np.argmax(apart))
        most = int(apart.max()) if apart.size else 0
        first, largest = (_spot(reference, found, tuple(int(axis[n]) for axis in places)) for n in (0, worst))
    count = int(differs.sum())
    return Difference(name, argument, str(found.dtype), found.shape, device, found.size, count,
                      int(other_bits.sum()) - count, not_numbers, most, first, largest, is_float)


def count_of(number: int, what: str) -> str:
    """``1 element``, ``3 elements``."""
    return f"{number} {what}{'s' * (number != 1)}"


def _spot(reference: Array, found: Array, index: Index) -> Spot:
    return Spot(index, (reference[index], found[index]), (bits_text(reference[index]), bits_text(found[index])))


def bits_of(array: Array) -> Array:
    """The bits of each element, as an unsigned number."""
    return array.view(f"u{array.dtype.itemsize}")


def differs_from(one: Array, other: Array) -> Array:
    """Where values differ: a NaN equals every NaN, and -0 equals +0."""
    if one.dtype not in FLOATS:
        return bits_of(one) != bits_of(other)
    with np.errstate(invalid="ignore"):
        return np.asarray((one != other) & ~(np.isnan(one) & np.isnan(other)))


def ulps_between(one: Array, other: Array) -> Array:
    """The distance of each pair of numbers as an unsigned number: of floating-point numbers in units in the last place
    (how many steps there are from one to the other), of integers their difference. That of a NaN means nothing."""
    if one.dtype in FLOATS:
        one, other = _ordered(one), _ordered(other)
    elif one.dtype.kind != "u":
        one, other = (array.astype(np.int64) for array in (one, other))
    high, low = np.maximum(one, other), np.minimum(one, other)
    return np.asarray(high.astype(np.uint64) - low.astype(np.uint64))  # right modulo 2**64, and it fits there


def _ordered(array: Array) -> Array:
    """Integers in the order of floating-point numbers; both zeros are 0."""
    width = array.dtype.itemsize
    bits = array.view(f"i{width}").astype(np.int64)
    magnitude = bits & ((1 << 8 * width - 1) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


def bits_text(value: Any) -> str:
    """The bits of a number as hexadecimal digits: ``0x3F800001``."""
    array = np.asarray(value)
    return f"0x{int(bits_of(array.reshape(1))[0]):0{2 * array.dtype.itemsize}X}"


def value_text(value: Any) -> str:
    """A number in as few digits as tell it from its neighbours."""
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return str(array.item())
    return str(array[()]) if array.dtype.itemsize < 8 else repr(float(array))
