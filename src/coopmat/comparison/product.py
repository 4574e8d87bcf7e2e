"""Why a matrix multiply-accumulate differs: the partial sums of one element by two arithmetics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from coopmat.comparison.differences import bits_text, differs_from, value_text
from coopmat.formats import FORMATS, Format, drop_unused_bits
from coopmat.numerics import EXACT, XmxArithmetic, model_of
from coopmat.numerics.account import ONCE, Account, account_of
from coopmat.support.cached import cached_property

Array = np.ndarray[Any, Any]
Formats = tuple[str, str, str, str]


@dataclass(frozen=True)
class Arithmetic:
    """How a device multiplies matrices: an architecture's model, with the choices for XMX."""

    architecture: str
    xmx: XmxArithmetic | None

    def account(self, formats: Formats) -> Account:
        """In words and steps."""
        return ONCE if self.architecture == EXACT else account_of(self.architecture, formats, self.xmx)

    def sums(self, a: Array, b: Array, c: Array, formats: Formats, ends: list[int]) -> list[Any]:
        """D of one element, a [K], b [K] and c [], if the product ended at each of the ``ends``."""
        model = model_of(self.architecture, self.xmx)
        names = dict(zip(("a_format", "b_format", "c_format", "d_format"), formats, strict=True))
        return [model(a[None, :end], b[:end, None], c.reshape(1, 1), **names)[0, 0] for end in ends]


@dataclass(frozen=True)
class PartialSum:
    """What D is on both devices if the product ends before k = ``stop``, in D's format."""

    start: int
    stop: int
    values: tuple[Any, Any]

    @property
    def is_equal(self) -> bool:
        """Whether both devices have the same number."""
        one, other = (np.asarray(value).reshape(1) for value in self.values)
        return not differs_from(one, other).any()


@dataclass(frozen=True)
class Product:
    """One element of a ``D = A*B + C`` that two devices compute otherwise.

    row, column: which element. formats: of A, B, C and D. a, b, c: its row of A, column of B, and element of C.
    accounts: how each adds, in words. sums: the partial sums where both devices have one. inside: the sums of each
    device from C to the end of the first step that differs, as far as it goes on from just these numbers.
    """

    devices: tuple[str, str]
    shape: tuple[int, int, int]
    row: int
    column: int
    formats: Formats
    a: Array
    b: Array
    c: Any
    accounts: tuple[Account, Account]
    sums: tuple[PartialSum, ...]
    inside: tuple[tuple[Sum, ...], tuple[Sum, ...]]

    @property
    def step(self) -> PartialSum:
        """The first step after which the sums differ."""
        return next(one for one in self.sums if not one.is_equal)

    @cached_property
    def terms(self) -> list[Fraction] | None:
        """C and the products, as exact numbers; None if there are infinities or NaNs."""
        a, b = (drop_unused_bits(values, FORMATS[name]).astype(np.float64)
                for values, name in zip((self.a, self.b), self.formats[:2], strict=True))
        if not (np.isfinite(a).all() and np.isfinite(b).all() and math.isfinite(float(self.c))):
            return None
        products = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        return [Fraction(float(self.c)), *products]

    @property
    def exact_sum(self) -> Fraction | None:
        """The sum of C and all products up to the end of the step, without any rounding."""
        return None if self.terms is None else sum(self.terms[:self.step.stop + 1], Fraction())

    def error(self, side: int) -> str:
        """How far a device's sum after the step is from the exact one."""
        return self._error(self.exact_sum, self.step.values[side])

    def _error(self, exact: Fraction | None, value: Any) -> str:
        """How far a sum is from the exact one, in units of its last place; an empty text where that means nothing."""
        if exact is None or not math.isfinite(float(value)):
            return ""
        wrong = Fraction(float(value)) - exact
        return "exact" if not wrong else f"{float(wrong / last_place(float(value), FORMATS[self.formats[3]])):+.3g} ulp"

    def roundings(self, side: int) -> list[str]:
        """The sums of a device up to the end of the step that are not exact, each against what it should be by the sum
        before it: where that device's error comes from."""
        found = []
        for one, other in pairwise(self.inside[side]):
            if self.terms is None or not math.isfinite(float(one[1])):
                return []
            exact = Fraction(float(one[1])) + sum(self.terms[one[0] + 1:other[0] + 1], Fraction())
            error = self._error(exact, other[1])
            if error.endswith("ulp"):
                found.append(f"k = {_range(one[0], other[0])}: {error}")
        return found

    def lines(self) -> list[str]:
        """The explanation."""
        m, n, k = self.shape
        a, b, c, d = self.formats
        step = self.step
        number = self.sums.index(step) + 1
        lines = [f"the product is {m} x {n} x {k}, {a} * {b} + {c} -> {d}; of element ({self.row}, {self.column}) the "
                 f"sums differ first in step {number} of {len(self.sums)}, k = {_range(step.start, step.stop)}"]
        width = max(map(len, self.devices))
        lines += [f"  {name:{width}}: {account.words}"
                  for name, account in zip(self.devices, self.accounts, strict=True)]
        before = self.sums[number - 2].values[0] if number > 1 else self.c
        lines.append(f"  sum before the step: {_hex(before)}")
        lines.append(f"  its products: {self._products(step)}")
        for side, name in enumerate(self.devices):
            value = step.values[side]
            lines.append(f"  sum after it, {name:{width}}: {_hex(value)} ({value_text(value)}, bits "
                         f"{bits_text(value)}){self._told(self.error(side))}")
            inexact = self.roundings(side)
            if inexact:
                more = f" and {len(inexact) - MOST_SHOWN} more" if len(inexact) > MOST_SHOWN else ""
                lines.append(f"    it has rounded at {', '.join(inexact[:MOST_SHOWN])}{more}")
        return lines

    @staticmethod
    def _told(error: str) -> str:
        return f", {error} from the exact sum" if error.endswith("ulp") else f", {error}" if error else ""

    def _products(self, step: PartialSum) -> str:
        part = slice(step.start, step.stop)
        products = self.a[part].astype(np.float64) * self.b[part].astype(np.float64)
        shown = list(map(_hex, products[:MOST_SHOWN]))
        return ", ".join(shown) + (f" and {len(products) - len(shown)} more" if len(products) > len(shown) else "")

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it; numbers are texts in Python's hexadecimal form."""
        step = self.step
        return {"shape": list(self.shape), "element": [self.row, self.column], "formats": list(self.formats),
                "a": list(map(_hex, self.a)), "b": list(map(_hex, self.b)), "c": _hex(self.c),
                "arithmetic": [one.words for one in self.accounts],
                "sums": [{"start": one.start, "stop": one.stop, "values": list(map(_hex, one.values))}
                         for one in self.sums],
                "step": self.sums.index(step), "errors": [self.error(0), self.error(1)],
                "roundings": [self.roundings(0), self.roundings(1)]}


MOST_SHOWN = 8  # products and roundings
Sum = tuple[int, Any]
"""Before which k a sum ends, and the number."""


def _hex(value: Any) -> str:
    """A number in Python's hexadecimal form, without zeros at its end."""
    return re.sub(r"\.?0*p", "p", float(value).hex())


def _range(start: int, stop: int) -> str:
    return str(start) if stop == start + 1 else f"{start} to {stop - 1}"


def last_place(value: float, fmt: Format) -> Fraction:
    """The unit in the last place of a number of a format."""
    exponent = max(math.frexp(value)[1] - 1 if value else fmt.min_exponent, fmt.min_exponent)
    return Fraction(2) ** (exponent - fmt.fraction_bits)


def product_of(devices: tuple[str, str], arithmetics: tuple[Arithmetic, Arithmetic], formats: Formats,
               matrices: Callable[[], tuple[Array, Array, Array]], element: tuple[int, int]) -> Product | None:
    """The explanation for one element of matrices a [M, K], b [K, N], c [M, N], which are in storage of their formats;
    None if the arithmetics agree on it, as they do on integers."""
    if not FORMATS[formats[3]].is_float:
        return None
    a, b, c = matrices()
    row, column = element
    accounts = arithmetics[0].account(formats), arithmetics[1].account(formats)
    k = a.shape[1]
    length = math.lcm(accounts[0].products, accounts[1].products)
    ends = [*range(length, k, length), k]
    ours = a[row], b[:, column], np.asarray(c[row, column])
    found = [one.sums(*ours, formats, ends) for one in arithmetics]
    sums = tuple(PartialSum(start, stop, pair) for start, stop, pair in
                 zip([0, *ends], ends, zip(*found, strict=True), strict=False))
    wrong = next((one for one in sums if not one.is_equal), None)
    if wrong is None:
        return None
    inside = tuple(_inside(one, account, ours, formats, wrong.stop)
                   for one, account in zip(arithmetics, accounts, strict=True))
    return Product(devices, (a.shape[0], b.shape[1], k), row, column, formats, ours[0], ours[1], c[row, column],
                   accounts, sums, (inside[0], inside[1]))


def _inside(arithmetic: Arithmetic, account: Account, operands: tuple[Array, Array, Array], formats: Formats,
            stop: int) -> tuple[Sum, ...]:
    """The sums of one device from C to the end of a step."""
    if not account.is_kept or formats[2] != formats[3]:
        return ()
    ends = [*range(account.products, stop, account.products), stop]
    return ((0, operands[2]), *zip(ends, arithmetic.sums(*operands, formats, ends), strict=True))
