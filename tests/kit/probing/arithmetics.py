"""Arithmetics to probe: callables on batches of bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.formats import FORMATS, from_bits, to_bits
from coopmat.numerics.hardware import multiply_accumulate
from coopmat.probing import Multiply, Property, claims, compare, probe, setup_of

Types = tuple[str, str, str, str]
FP16 = ("fp16", "fp16", "fp32", "fp32")
FP16_ONLY = ("fp16", "fp16", "fp16", "fp16")
BF16 = ("bf16", "bf16", "fp32", "fp32")
TF32 = ("tf32", "tf32", "fp32", "fp32")
FP64 = ("fp64", "fp64", "fp64", "fp64")
INT8 = ("sint8", "uint8", "sint32", "sint32")


def model(architecture: str, types: Types, **options: Any) -> Multiply:
    """The model of an architecture."""
    names = dict(zip(("a_format", "b_format", "c_format", "d_format"), types, strict=True))

    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        stored = (bits.view(FORMATS[name].dtype) for bits, name in zip((a, b, c), types, strict=False))
        return multiply_accumulate(architecture, *stored, **names, **options).view(FORMATS[types[3]].bits_dtype)

    return multiply


def summed(types: Types, total: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Multiply:
    """Exact products [count, K] and C [count], both float32, added by ``total``."""
    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        rows, columns = from_bits(a[:, 0, :], types[0]), from_bits(b[:, :, 0], types[1])
        with np.errstate(all="ignore"):
            products = (rows * columns).astype(np.float32)
            result = total(products, from_bits(c[:, 0, 0], types[2]).astype(np.float32))
        return to_bits(np.broadcast_to(result[:, None, None], c.shape), types[3])

    return multiply


def compared(multiply: Multiply, architecture: str, types: Types, k: int, **options: Any) -> list[Property]:
    """What is found beside an architecture's claims, on matrices of 2 by 3."""
    setup = setup_of(types, k)
    return compare(probe(multiply, setup, 2, 3), claims(architecture, setup, **options))


def differing(multiply: Multiply, architecture: str, types: Types, k: int, **options: Any) -> dict[str, str]:
    """The properties that are not as claimed, with what was found."""
    return {each.name: each.found for each in compared(multiply, architecture, types, k, **options)
            if not each.agrees}
