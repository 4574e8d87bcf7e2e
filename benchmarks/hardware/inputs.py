"""Operands for comparing arithmetic models with hardware: bit patterns, random and hostile, the same for every run.

The kinds of floating-point operands: ``ordinary`` near 1, ``wide`` exponents far apart, ``cancelling`` products that
undo each other, ``small`` subnormal and least normal numbers, ``vanishing`` products near the smallest number,
``huge`` near the largest, ``special`` any exponent, with NaNs, infinities and zeros of both signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[Any]
KINDS = ("ordinary", "wide", "cancelling", "small", "vanishing", "huge", "special")
FIELDS = {"fp16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "fp32": (8, 23), "fp64": (11, 52)}
"""Bits of exponent and fraction; tf32 with the bits that it does not use."""
WIDTHS = {"fp16": 16, "bf16": 16, "tf32": 32, "fp32": 32, "fp64": 64, "sint8": 8, "uint8": 8, "sint32": 32}


def operands(seed: tuple[int, ...], kind: str, formats: tuple[str, str, str], shapes: tuple[tuple[int, ...], ...],
             ) -> tuple[Bits, Bits, Bits]:
    """A [count, M, K], B [count, K, N] and C [count, M, N] as unsigned integers."""
    rng = np.random.default_rng(seed)
    a, b, c = (_bits(rng, name, shape, kind) for name, shape in zip(formats, shapes, strict=True))
    if kind == "cancelling" and formats[0] in FIELDS:
        _undo(rng, a, b)
    return a, b, c


def _bits(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str) -> Bits:
    return _float_bits(rng, name, shape, kind) if name in FIELDS else _integer_bits(rng, name, shape, kind)


def _integer_bits(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str) -> Bits:
    width = WIDTHS[name]
    dtype = np.dtype(f"u{width // 8}")
    if kind == "huge":
        half = 1 << width - 1
        edges = np.array([0, 1, half - 1, half, 2 * half - 1], np.uint64).astype(dtype)
        return edges[rng.integers(0, len(edges), shape)]
    return rng.integers(0, 1 << width, shape, dtype=np.uint64).astype(dtype)


def _float_bits(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str) -> Bits:
    exponent_bits, fraction_bits = FIELDS[name]
    top, bias = (1 << exponent_bits) - 1, (1 << exponent_bits - 1) - 1
    sign = rng.integers(0, 2, shape).astype(np.uint64) << np.uint64(exponent_bits + fraction_bits)
    fraction = rng.integers(0, 1 << fraction_bits, shape, dtype=np.uint64)
    exponent = _exponents(rng, shape, kind, bias, top)
    chance = rng.random(shape)
    if kind == "cancelling":
        short = rng.integers(0, 4, shape).astype(np.uint64) << np.uint64(fraction_bits - 2)
        fraction = np.where(chance < 0.7, short, fraction)
    if kind == "special":
        exponent = np.where(chance < 0.03, top, exponent)
        fraction = np.where(chance < 0.02, 0, fraction)
    bits = sign | exponent.astype(np.uint64) << np.uint64(fraction_bits) | fraction
    zeros = rng.random(shape) < (0.25 if kind in ("special", "small") else 0.05)
    return np.where(zeros, sign, bits).astype(f"u{WIDTHS[name] // 8}")


def _exponents(rng: np.random.Generator, shape: tuple[int, ...], kind: str, bias: int, top: int) -> NDArray[Any]:
    """Biased exponents."""
    spread = min(bias - 2, 14)
    middle = bias // 2 + 2
    ranges = {"wide": (bias - spread, bias + spread + 1), "cancelling": (bias - 3, bias + 4), "small": (0, 4),
              "vanishing": (max(0, middle - 8), middle + 8), "huge": (top - 4, top), "special": (0, top + 1)}
    if kind == "ordinary":
        return bias + np.clip(np.rint(rng.normal(0, 2, shape)), -8, 8).astype(np.int64)
    return rng.integers(*ranges[kind], shape)


def _undo(rng: np.random.Generator, a: Bits, b: Bits) -> None:
    """Most products of the second half of k are those of the first with the other sign."""
    half = a.shape[-1] // 2
    sign = a.dtype.type(1 << 8 * a.dtype.itemsize - 1)
    same = rng.random(a[..., :half].shape) < 0.8
    a[..., half:2 * half] = np.where(same, a[..., :half] ^ sign, a[..., half:2 * half])
    b[..., half:2 * half, :] = b[..., :half, :]
