"""Aligned sums in rational numbers, by the rule as it is published, and with choices that a chip may make otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from coopmat.formats import FORMATS, Format, from_bits, to_bits
from coopmat.probing import Multiply
from tests.kit.probing.arithmetics import Types, model

Rounded = Callable[[Fraction], int]

EVEN: Rounded = round
ZERO: Rounded = math.trunc
UP: Rounded = math.ceil
DOWN: Rounded = math.floor


def AWAY(value: Fraction) -> int:
    """To nearest, ties away from zero."""
    return math.floor(abs(value) + Fraction(1, 2)) * (1 if value > 0 else -1)


def exponent_of(value: Fraction, fmt: Format | None = None) -> int:
    """Of a number that is not zero; of a format's subnormal numbers the least one."""
    exponent = math.frexp(float(value))[1] - 1
    return exponent if fmt is None else max(exponent, fmt.min_exponent)


def aligned_sum(types: Types, *, bits: int, floor: int, cut: Rounded = ZERO, result: Rounded = ZERO,
                is_normalised: bool = False) -> Multiply:
    """All products and C at once: cut off ``bits`` below the largest exponent, which is at least ``floor``, and rounded
    to D; dot products with infinities and NaNs as on Hopper."""
    a_format, b_format, c_format, d_format = (FORMATS[name] for name in types)
    special = model("nvidia_gpu_sm_90", types)

    def term(x: float, y: float) -> tuple[int, Fraction]:
        value = Fraction(x) * Fraction(y)
        if is_normalised:
            return exponent_of(value), value
        return exponent_of(Fraction(x), a_format) + exponent_of(Fraction(y), b_format), value

    def total(row: list[float], column: list[float], c: float) -> float:
        terms = [term(x, y) for x, y in zip(row, column, strict=True) if x and y]
        terms += [(exponent_of(Fraction(c), c_format), Fraction(c))] if c else []
        if not terms:
            return 0.0
        quantum = Fraction(2) ** (max(floor, *(exponent for exponent, _ in terms)) - bits)
        return rounded(sum(cut(value / quantum) for _, value in terms) * quantum)

    def rounded(value: Fraction) -> float:
        if not value:
            return 0.0
        quantum = Fraction(2) ** (exponent_of(value, d_format) - d_format.fraction_bits)
        number = float(result(value / quantum) * quantum)
        return math.copysign(math.inf, number) if abs(number) > d_format.max_value else number + 0.0

    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        found = special(a, b, c)
        rows, columns, added = from_bits(a[:, 0, :], a_format), from_bits(b[:, :, 0], b_format), from_bits(
            c[:, 0, 0], c_format)
        for index, (row, column, one) in enumerate(zip(rows.tolist(), columns.tolist(), added.tolist(), strict=True)):
            if all(map(math.isfinite, (*row, *column, one))):
                found[index] = to_bits([total(row, column, one)], d_format)[0]
        return found

    return multiply
