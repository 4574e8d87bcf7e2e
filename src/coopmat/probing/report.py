"""Running all experiments, and the report: what was found beside what a model claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from coopmat.devices.operands import types_are_consistent, types_text
from coopmat.diagnostics import Error
from coopmat.formats import format_of
from coopmat.probing import alignment, integers, names, nonfinite, order, quantum, ranges, rounding
from coopmat.probing.setup import Answers, Bits, Dot, Setup

Multiply = Callable[[Bits, Bits, Bits], Bits]
"""D's bits [count, M, N] for those of A [count, M, K], B [count, K, N] and C [count, M, N]."""


@dataclass(frozen=True, slots=True)
class Property:
    """One property; ``claimed`` is empty where the model says nothing."""

    name: str
    found: str
    claimed: str

    @property
    def agrees(self) -> bool:
        """Whether what was found is what is claimed, if anything is."""
        if self.claimed == nonfinite.ANY_NAN:
            return self.found.startswith(("NaN ", "that of ")) or self.found == nonfinite.OPERAND
        return self.claimed in ("", self.found)


def setup_of(types: tuple[str, str, str, str], k: int) -> Setup:
    """The setup of four element types and a number of products.

    Raises :class:`coopmat.Error` for unknown types, integers mixed with floating-point numbers, and too many products.
    """
    a, b, c, d = map(format_of, types)
    if not types_are_consistent(*types):
        raise Error(f"A, B, C and D are either all integers or all floating-point numbers; found {types_text(*types)}")
    if d.is_float and (a != b or -(d.fraction_bits + 2) < Setup(a, b, c, d, k).tiny_product):
        raise Error(f"{types_text(*types)} cannot be probed: A and B must be of one type, with products as fine as D")
    if not 1 <= k <= order.MOST_PRODUCTS:
        raise Error(f"dot products of 1 to {order.MOST_PRODUCTS} products can be probed, found K={k}")
    return Setup(a, b, c, d, k)


@lru_cache(maxsize=16)
def experiments(setup: Setup) -> tuple[tuple[Hashable, Dot], ...]:
    """All dot products, decided beforehand, with their keys."""
    if not setup.is_float:
        return tuple(integers.dots(setup))
    parts = (order, alignment, quantum, rounding, ranges, nonfinite)
    return tuple(found for part in parts for found in part.dots(setup))


def inputs(setup: Setup) -> tuple[Bits, Bits, Bits]:
    """The bits of all rows of A [count, K], columns of B [count, K] and elements of C [count]."""
    found = [dot for _, dot in experiments(setup)]
    return (np.array([dot.a for dot in found], np.uint64).astype(setup.a.bits_dtype),
            np.array([dot.b for dot in found], np.uint64).astype(setup.b.bits_dtype),
            np.array([dot.c for dot in found], np.uint64).astype(setup.c.bits_dtype))


def matrices(setup: Setup, m: int, n: int) -> tuple[Bits, Bits, Bits]:
    """The bits of A [count, M, K], B [count, K, N] and C [count, M, N]: in each matrix all rows of A, all columns of B
    and all elements of C are alike."""
    a, b, c = inputs(setup)
    return (np.repeat(a[:, None, :], m, axis=1), np.repeat(b[:, :, None], n, axis=2),
            np.repeat(np.repeat(c[:, None, None], m, axis=1), n, axis=2))


def found(setup: Setup, d: Bits) -> dict[str, str]:
    """The properties that results show: d has the bits [count, M, N] of the products of :func:`matrices`."""
    answers = Answers([key for key, _ in experiments(setup)], d[:, 0, 0], setup.d)
    seen = {names.ALIKE: _alike(d)} | (_of_floats if setup.is_float else integers.found)(setup, answers)
    return {name: seen[name] for name in names.IN_ORDER if name in seen}


def _of_floats(setup: Setup, answers: Answers) -> dict[str, str]:
    tree = order.tree(setup, answers)
    rounded = rounding.found(setup, answers, tree)
    return {**order.found(setup, tree), **alignment.found(setup, answers, tree), **rounded,
            **quantum.found(setup, answers, tree, rounded.get(names.RESULT)), **ranges.found(setup, answers),
            **nonfinite.found(setup, answers)}


def _alike(d: Bits) -> str:
    differing = int((d != d[:, :1, :1]).any(axis=(1, 2)).sum())
    return "yes" if differing == 0 else f"no: elements differ in {differing} of {len(d)} matrices"


def compare(seen: Mapping[str, str], claimed: Mapping[str, str] | None) -> list[Property]:
    """What was found beside what is claimed."""
    return [Property(name, text, (claimed or {}).get(name, "")) for name, text in seen.items()]


def probe(multiply: Multiply, setup: Setup, m: int, n: int) -> dict[str, str]:
    """The properties of an arithmetic."""
    return found(setup, multiply(*matrices(setup, m, n)))
