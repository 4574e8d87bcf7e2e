"""The geometric functions of OpenCL.std, on the components of vectors in double."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.llvm.instructions.opencl.real import library
from coopmat.targets.llvm.terms import Term, choose

Vector = tuple[Term, ...]
HYPOT = library("hypot")


def _norm(vector: Vector) -> Term:
    """The length, without overflow of the squares."""
    total = vector[0].magnitude
    for one in vector[1:]:
        total = HYPOT(total, one)
    return total


def _length(vector: Vector) -> Vector:
    return (_norm(vector),)


def _distance(a: Vector, b: Vector) -> Vector:
    return (_norm(tuple(x - y for x, y in zip(a, b, strict=True))),)


def _normalize(vector: Vector) -> Vector:
    """The vector divided by its length; a zero vector as it is. Infinite components count as 1 beside zeros."""
    infinite = [one.is_infinite for one in vector]
    any_infinite = infinite[0]
    for one in infinite[1:]:
        any_infinite = any_infinite | one
    finite = tuple(choose(any_infinite, choose(is_infinite, one.constant(1.0), 0.0).with_sign(one), one)
                   for one, is_infinite in zip(vector, infinite, strict=True))
    norm = _norm(finite)
    divisor = choose(norm.equals(0.0), 1.0, norm)
    return tuple(one / divisor for one in finite)


def _cross(a: Vector, b: Vector) -> Vector:
    """The cross product of 3-component vectors; a fourth component becomes 0."""
    turns = ((1, 2), (2, 0), (0, 1))
    return (*(a[i] * b[j] - a[j] * b[i] for i, j in turns), *(one.constant(0.0) for one in a[3:]))


GEOMETRY: dict[str, Callable[..., Vector]] = {
    "cross": _cross,
    **{prefix + name: formula for prefix in ("", "fast_") for name, formula in (
        ("length", _length), ("distance", _distance), ("normalize", _normalize))},
}
"""Functions of vectors of doubles, by name."""
