"""Checks of accesses: what the compiler asks of them; a machine that has none gives none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.targets.llvm.values import Number


@dataclass(frozen=True)
class Extent:
    """The bytes that a whole sub-group accesses, as operands: the lowest address and how many follow, both i64, and
    whether they are farther apart than any memory reaches, an i1."""

    low: str
    span: str
    is_far: str


class AccessChecks(Protocol):
    """Writes the check before an access of the author's."""

    def access(self, pointer: Number, size: int, writing: bool, identifier: int | None = None) -> None:
        """``size`` bytes at each work-item's address. ``identifier``: the pointer's, if it is not the operand of the
        instruction that usually is."""

    def parts(self, pointer: Number, kind: Type, writing: bool) -> None:
        """A value of a type: each scalar and vector in it by itself."""

    def bytes(self, pointer: Number, count: Number, writing: bool) -> None:
        """As many bytes as a number, an i64, says."""

    def index(self, index: Number, length: int, variable: int, leaves: int = 1) -> None:
        """A run-time index into a variable in slots, below ``length``; it counts numbers, of which an element has
        ``leaves``."""

    def extent(self, kind: str, identifier: int, address: str, extent: Extent, values: Sequence[str], *, size: int,
               writing: bool, matrix: MatrixType | None = None, layout: int = 0, detail: Sequence[int] = (),
               is_empty: str = "false") -> None:
        """What a sub-group accesses together, through the pointer ``address``. ``kind``: matrix, window, block or copy,
        ``matrix``, ``layout``, ``detail``: what else is known of it; ``values``: what its message needs, each an i64.
        ``is_empty``: whether that is nothing, an i1."""

    def assertion(self, text: str, place: str | None) -> None:
        """An assertion that has failed; ``text``: its condition, ``place``: where it says that it is."""
