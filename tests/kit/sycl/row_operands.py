"""Operands for products that are compared bit for bit: every kind of number that a format has, of a fixed seed."""

from __future__ import annotations

import numpy as np

from coopmat.formats import FORMATS, storage_from_bits
from coopmat.numerics import MODELS
from tests.kit.rational_model import FIELDS

KINDS = ("any", "ordinary", "subnormal", "cancelling")


def arithmetic_of(architecture: str) -> str:
    """The architecture whose arithmetic model the simulated device has: its own, or exact arithmetic."""
    return architecture if architecture in MODELS else "generic"


def operands(rng: np.random.Generator, name: str, shape: tuple[int, int, int]) -> np.ndarray:
    """A batch of matrices [count, rows, columns] of a format: of the whole range of integers with the extremes, and
    of floats one matrix of each of KINDS after the other, each with a row or a column of infinities and NaNs."""
    form = FORMATS[name]
    if form.is_integer:
        return _integers(rng, form.dtype, shape)
    matrices = [_floats(rng, name, shape[1:], KINDS[index % len(KINDS)]) for index in range(shape[0])]
    return np.stack(matrices)


def _integers(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    info = np.iinfo(dtype)
    found = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    extremes = np.array([info.min, info.max, 0, info.min // 2], dtype)
    return np.where(rng.random(shape) < 0.25, rng.choice(extremes, shape), found)


def _floats(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
    exponent_bits, fraction_bits, padding = FIELDS[name]
    bias = (1 << exponent_bits - 1) - 1
    low, high = {"any": (0, 2 * bias), "ordinary": (bias - 3, bias + 3), "subnormal": (0, 1),
                 "cancelling": (bias, bias + fraction_bits)}[kind]
    exponent = rng.integers(low, high, shape, np.uint64, endpoint=True)
    fraction = rng.integers(0, 1 << fraction_bits + padding, shape, np.uint64)
    sign = rng.integers(0, 2, shape, np.uint64)
    bits = (sign << exponent_bits | exponent) << fraction_bits + padding | fraction
    line = rng.integers(0, shape[0]), slice(None)
    special = _specials(name)
    if kind == "any":
        bits[line] = rng.choice(special, bits[line].shape)
        bits[:, rng.integers(0, shape[1])] = rng.choice(special[:3], shape[0])
    else:
        bits[rng.integers(0, shape[0]), rng.integers(0, shape[1])] = rng.choice(special)
    return storage_from_bits(bits, name)


def _specials(name: str) -> np.ndarray:
    """Zero, minus zero, the smallest number, the largest ones, infinities and a NaN."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    infinity = (1 << exponent_bits) - 1 << fraction_bits + padding
    minus = 1 << exponent_bits + fraction_bits + padding
    return np.array([0, minus, 1 << padding, infinity - (1 << padding), minus | infinity - (1 << padding), infinity,
                     minus | infinity, infinity | 1 << fraction_bits + padding - 1], np.uint64)


def same(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Where two arrays have the same bits; one NaN is as good as another."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    unsigned = f"u{found.dtype.itemsize}"
    equal = found.view(unsigned) == expected.view(unsigned)
    if found.dtype.kind in "iu":
        return equal
    with np.errstate(invalid="ignore"):
        return equal | (np.isnan(found) & np.isnan(expected))


def assert_same(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Fail, and show the first element that differs."""
    equal = same(np.ascontiguousarray(found), np.ascontiguousarray(expected))
    if not equal.all():
        place = tuple(int(part) for part in np.argwhere(~equal)[0])
        raise AssertionError(f"{what}: {np.count_nonzero(~equal)} of {equal.size} elements differ; {place} is "
                             f"{found[place]!r}, expected {expected[place]!r}")
