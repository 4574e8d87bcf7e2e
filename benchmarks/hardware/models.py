"""The models' products on bit patterns, for comparing them with hardware."""

from __future__ import annotations

from inputs import Bits

from coopmat.formats import FORMATS
from coopmat.numerics.hardware import multiply_accumulate


def product(architecture: str, types: tuple[str, str, str, str], a: Bits, b: Bits, c: Bits, *,
            saturating: bool = False) -> Bits:
    """D's bits as the model of an architecture computes them; ``types`` are those of A, B, C and D."""
    arrays = (bits.view(FORMATS[name].dtype) for bits, name in zip((a, b, c), types, strict=False))
    a_type, b_type, c_type, d_type = types
    result = multiply_accumulate(architecture, *arrays, a_format=a_type, b_format=b_type, c_format=c_type,
                                 d_format=d_type, saturating=saturating)
    bits: Bits = result.view(FORMATS[d_type].bits_dtype)
    return bits
