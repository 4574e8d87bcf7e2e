"""Values of two simulations: where they differ, in lanes that are active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.comparison.differences import differs_from
from coopmat.formats import storage_from_bits
from coopmat.spirv.analysis.matrix_uses import FLOAT_FORMATS
from coopmat.spirv.analysis.types import FloatType, MatrixType, Type, VectorType
from coopmat.targets.simulator.state import Batch, Mask
from coopmat.targets.simulator.values import Array, Value, members_of, spread


@dataclass(frozen=True)
class Place:
    """One number in a value. sub_group: in the batch. index: in the rest of the array. path: of aggregates, the members
    that lead to it; kind is the type of the last one."""

    kind: Type
    path: tuple[int, ...]
    sub_group: int
    index: tuple[int, ...]

    def number_in(self, value: Value) -> Any:
        """The number that a value has there, as numpy has its type."""
        for member in self.path:
            value = value[member]
        whole = (self.sub_group, *self.index)
        return numbers_of(self.kind, value)[tuple(0 if value.shape[axis] == 1 else n for axis, n in enumerate(whole))]


def number_type(kind: Type) -> Type:
    """The type of the numbers that a value consists of."""
    return kind.component if isinstance(kind, MatrixType) else kind.scalar if isinstance(kind, VectorType) else kind


def numbers_of(kind: Type, value: Array) -> Array:
    """A value with the dtype of its numbers: the simulator holds bf16 as integers."""
    component = number_type(kind)
    if isinstance(component, FloatType) and component.encoding is not None and value.dtype.kind == "i":
        return storage_from_bits(value, FLOAT_FORMATS[component])
    return value


def size_of(value: Value) -> int:
    """The bytes of a value."""
    if isinstance(value, tuple):
        return sum(map(size_of, value))
    return int(value.nbytes) if isinstance(value, np.ndarray) else 0


def first_difference(kind: Type, one: Value, other: Value, mask: Mask) -> Place | None:
    """Where two values of a type differ first, in lanes of ``mask``; NaNs are equal, and so are zeros."""
    if one is other:
        return None
    members = members_of(kind)
    if members is not None:
        for number, (member, left, right) in enumerate(zip(members, one, other, strict=True)):
            found = first_difference(member, left, right, mask)
            if found is not None:
                return Place(found.kind, (number, *found.path), found.sub_group, found.index)
        return None
    if one.shape == other.shape and one.tobytes() == other.tobytes():
        return None
    differs = differs_from(*np.broadcast_arrays(numbers_of(kind, one), numbers_of(kind, other)))
    if not differs.any():
        return None
    differs = differs & spread(kind, mask.lanes)
    if not differs.any():
        return None
    sub_group, *index = np.unravel_index(int(np.argmax(differs)), differs.shape)
    return Place(kind, (), int(sub_group), tuple(map(int, index)))


def element_of(batch: Batch, place: Place) -> tuple[int | None, tuple[int, ...] | None]:
    """The lane that holds a number, and which element it is: of a matrix its row and column, of a vector its
    component."""
    kind, index = place.kind, place.index
    if not isinstance(kind, MatrixType):
        return index[0], index[1:] or None
    if not kind.is_of_work_group:
        lane, _ = kind.layout.owner
        return int(lane[index]), index
    lane_index, component = index
    row, column, _ = kind.layout.held
    item = place.sub_group % batch.sub_groups_per_group * batch.lanes + lane_index
    return lane_index, (int(row[item, component]), int(column[item, component]))
