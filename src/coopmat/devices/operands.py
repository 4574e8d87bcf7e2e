"""The matrices of ``D = A*B + C``: their uses, shapes and types. A is M x K, B is K x N, C and D are M x N."""

from __future__ import annotations

from typing import Literal

from coopmat.formats import format_of

Use = Literal["a", "b", "accumulator"]
USES: tuple[Use, ...] = ("a", "b", "accumulator")


def shape_of(use: Use, m: int, n: int, k: int) -> tuple[int, int]:
    """Rows and columns of a matrix of this use in a multiply-accumulate of M, N and K."""
    return {"a": (m, k), "b": (k, n), "accumulator": (m, n)}[use]


def types_text(a: str, b: str, c: str, d: str) -> str:
    """The types of a multiply-accumulate as messages show them."""
    return f"{a}*{b} + {c} -> {d}"


def types_are_consistent(*types: str) -> bool:
    """Whether the element types are all integers or all floating-point numbers."""
    return len({format_of(name).is_float for name in types}) == 1
