"""What is probed, ``D = A*B + C`` of certain types with K products, and the dot products of the experiments."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.formats import Format, from_bits, round_to

_FARTHEST = 60  # exponents of the terms of experiments about order and alignment are between -60 and 60
Bits = NDArray[Any]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Dot:
    """The bit patterns of a row of A, a column of B, and an element of C."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int


Dots = Iterator[tuple[Hashable, Dot]]
"""Dot products with the keys under which their results are looked up."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The formats of A, B, C and D, and the number of products of a dot product."""

    a: Format
    b: Format
    c: Format
    d: Format
    k: int

    @property
    def types(self) -> tuple[str, str, str, str]:
        """The names of the formats."""
        return self.a.name, self.b.name, self.c.name, self.d.name

    @property
    def is_float(self) -> bool:
        """Whether these are floating-point formats."""
        return self.d.is_float

    @property
    def low(self) -> int:
        """The least exponent that products, C and D have as normal numbers; not below -60."""
        return max(self.a.min_exponent + self.b.min_exponent, self.c.min_exponent, self.d.min_exponent, -_FARTHEST)

    @property
    def high(self) -> int:
        """The largest exponent that products, C and D have; at most 60."""
        return min(self.largest_product, self.c.max_exponent, self.d.max_exponent, _FARTHEST)

    @property
    def largest_product(self) -> int:
        """The exponent of the largest products of powers of two."""
        return self.a.max_exponent + self.b.max_exponent

    @property
    def least_product(self) -> int:
        """The exponent of the smallest products of normal numbers."""
        return self.a.min_exponent + self.b.min_exponent

    @property
    def tiny_product(self) -> int:
        """The exponent of the smallest products other than zero, of subnormal numbers."""
        return self.least_product - self.a.fraction_bits - self.b.fraction_bits

    def product(self, value: float) -> Pair:
        """Bits of two numbers whose product is ``value``, a power of two times a number of A's precision."""
        if value == 0:
            return 0, 0
        fraction, exponent = math.frexp(value)
        return self.power(exponent - 1, 2 * fraction)

    def power(self, exponent: int, significand: float = 1.0) -> Pair:
        """Bits of two numbers whose product is ``significand * 2**exponent``, which may be too small for a float."""
        of_a = min(max(exponent // 2, self.a.min_exponent), self.a.max_exponent)
        of_b = min(max(exponent - of_a, self.b.min_exponent), self.b.max_exponent)
        of_a = exponent - of_b
        if exponent < self.least_product:
            of_a, of_b = exponent // 2, exponent - exponent // 2
        return self.factors(math.ldexp(significand, of_a), math.ldexp(1.0, of_b))

    def factors(self, a: float, b: float) -> Pair:
        """The bits of an element of A and one of B."""
        return encode(self.a, a), encode(self.b, b)

    def dot(self, products: Mapping[int, Pair], c: int = 0, rest: Pair = (0, 0)) -> Dot:
        """A dot product with the given factors, C's bits, and ``rest`` for all other factors."""
        pairs = [products.get(index, rest) for index in range(self.k)]
        return Dot(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), c)

    def sum(self, terms: Mapping[int, float], rest: float = 0.0) -> Dot:
        """A dot product whose terms have these values: product number k, or C for number K."""
        products = {index: self.product(value) for index, value in terms.items() if index < self.k}
        return self.dot(products, encode(self.c, terms.get(self.k, rest)), self.product(rest))


def encode(fmt: Format, value: float) -> int:
    """The bits of a number; ValueError if the format does not have it."""
    if fmt.is_integer:
        return int(value) & (1 << fmt.bits) - 1
    return _encoded(fmt, value, math.copysign(1.0, value))


@lru_cache(maxsize=1 << 16)
def _encoded(fmt: Format, value: float, _sign: float) -> int:  # -0 and +0 are the same key but for the sign
    stored = round_to(np.array([value], np.float64), fmt)
    if stored[0].item() != value:
        raise ValueError(f"{fmt} does not have {value!r}")
    return int(stored.view(fmt.bits_dtype)[0])


class Answers:
    """The results of the dot products: elements of D by the keys of the experiments."""

    def __init__(self, keys: list[Hashable], bits: Bits, fmt: Format) -> None:
        self._places = {key if isinstance(key, tuple) else (key,): index for index, key in enumerate(keys)}
        self._bits = bits.tolist()
        self._values = from_bits(bits, fmt).tolist()

    def value(self, *key: Hashable) -> Any:
        """The number: a float, or an int."""
        return self._values[self._places[key]]

    def bits(self, *key: Hashable) -> int:
        """The bit pattern."""
        return int(self._bits[self._places[key]])
