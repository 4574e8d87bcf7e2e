"""Running all experiments, and the report: what was found beside what a model claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np

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
    """The setup of four element types and a number of products."""
    a, b, c, d = map(format_of, types)
    return Setup(a, b, c, d, k)


def experiments(setup: Setup) -> list[tuple[Hashable, Dot]]:
    """All dot products, decided beforehand, with their keys."""
    if not setup.is_float:
        return list(integers.dots(setup))
    return [found for part in (order, alignment, quantum, rounding, ranges, nonfinite) for found in part.dots(setup)]


def matrices(setup: Setup, m: int, n: int) -> tuple[Bits, Bits, Bits]:
    """The bits of A [count, M, K], B [count, K, N] and C [count, M, N]: in each matrix all rows of A, all columns of B
    and all elements of C are alike."""
    found = [dot for _, dot in experiments(setup)]
    a = np.array([dot.a for dot in found], np.uint64).astype(setup.a.bits_dtype)
    b = np.array([dot.b for dot in found], np.uint64).astype(setup.b.bits_dtype)
    c = np.array([dot.c for dot in found], np.uint64).astype(setup.c.bits_dtype)
    return (np.repeat(a[:, None, :], m, axis=1), np.repeat(b[:, :, None], n, axis=2),
            np.repeat(np.repeat(c[:, None, None], m, axis=1), n, axis=2))


def found(setup: Setup, d: Bits) -> dict[str, str]:
    """The properties that results show: d has the bits [count, M, N] of the products of :func:`matrices`."""
    answers = Answers([key for key, _ in experiments(setup)], d[:, 0, 0], setup.d)
    result = {names.ALIKE: _alike(d)}
    if not setup.is_float:
        return result | integers.found(setup, answers)
    tree = order.tree(setup, answers)
    result |= order.found(setup, tree)
    rounded = rounding.found(setup, answers, tree)
    result |= alignment.found(setup, answers, tree)
    result |= quantum.found(setup, answers, tree, rounded[names.RESULT])
    return result | rounded | ranges.found(setup, answers) | nonfinite.found(setup, answers)


def _alike(d: Bits) -> str:
    differing = int((d != d[:, :1, :1]).any(axis=(1, 2)).sum())
    return "yes" if differing == 0 else f"no: elements differ in {differing} of {len(d)} matrices"


def compare(seen: Mapping[str, str], claimed: Mapping[str, str] | None) -> list[Property]:
    """What was found beside what is claimed."""
    return [Property(name, text, (claimed or {}).get(name, "")) for name, text in seen.items()]


def probe(multiply: Multiply, setup: Setup, m: int, n: int) -> dict[str, str]:
    """The properties of an arithmetic."""
    return found(setup, multiply(*matrices(setup, m, n)))
