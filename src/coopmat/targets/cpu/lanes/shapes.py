"""What is known of a number before its code is written: the same for all work-items, rising steadily, or varying."""

from __future__ import annotations

from typing import NamedTuple

from coopmat.targets.llvm.values import Leaf, Matrix


class Shape(NamedTuple):
    """What is known of a number before it is there: its stride, or None if it varies."""

    stride: int | None
    is_id: bool = False

    @classmethod
    def of(cls, leaf: Leaf) -> Shape:
        """The shape of a leaf; matrices are uniform."""
        if isinstance(leaf, Matrix):
            return UNIFORM
        return cls(leaf.stride, leaf.is_id) if leaf.is_linear else VARYING

    def join(self, other: Shape) -> Shape:
        """What is known of a number that is one or the other."""
        if self.stride != other.stride:
            return VARYING
        return Shape(self.stride, self.is_id and other.is_id)


UNIFORM, VARYING = Shape(0), Shape(None)
