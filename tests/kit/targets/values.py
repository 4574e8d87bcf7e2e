"""Random operands with the edges of their formats among them."""

from __future__ import annotations

import numpy as np

from tests.kit.targets.short_kernels import DTYPES


def integers(rng: np.random.Generator, width: int, count: int = 96) -> np.ndarray:
    """Random integers of a width, the edges of the range and small numbers among them."""
    dtype = np.dtype(f"i{width // 8}")
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, -1, 0, 1, 2, info.max - 1, info.max], dtype)
    values = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()
    values[:8] = edges
    values[8:16] = edges[::-1]
    return values


def floats(rng: np.random.Generator, kind: str, count: int = 256) -> np.ndarray:
    """Random bit patterns of a format (NaN, infinities, subnormals among them) and ordinary numbers."""
    dtype = np.dtype(DTYPES[kind])
    patterns = np.frombuffer(rng.bytes(count // 2 * dtype.itemsize), dtype)
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5], dtype)
    ordinary = (rng.standard_normal(count - len(patterns) - 8) * 10).astype(dtype)
    return np.concatenate([patterns, special, ordinary])


def unsigned(value: int, width: int) -> int:
    """An integer modulo 2**width."""
    return value % (1 << width)


def wrapped(values: list[int], width: int) -> np.ndarray:
    """Integers of any size as signed ones of a width, modulo 2**width."""
    half = 1 << width - 1
    return np.array([(value + half) % (2 * half) - half for value in values], f"i{width // 8}")
