"""The numbers and matrices that a value of any type consists of: its leaves, in the order of the declaration."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, VectorType, VoidType

MOST_LEAVES = 4096  # of a value; larger ones belong into memory


class LeafType(NamedTuple):
    """A leaf of a type: its own type, and its offset in memory in bytes."""

    kind: Type
    offset: int


@lru_cache(maxsize=4096)
def leaves_of(kind: Type) -> tuple[LeafType, ...]:
    """The leaves of a type in order."""
    found: list[LeafType] = []
    _collect(kind, 0, found)
    return tuple(found)


def _collect(kind: Type, offset: int, found: list[LeafType]) -> None:
    if len(found) >= MOST_LEAVES:
        raise Error(f"a value of more than {MOST_LEAVES} numbers is too large for registers: copy it by its parts "
                    f"(found one at byte {offset}, of type {kind})")
    if isinstance(kind, StructType):
        for member, start in zip(kind.members, kind.offsets, strict=True):
            _collect(member, offset + start, found)
    elif isinstance(kind, ArrayType):
        for index in range(kind.length):
            _collect(kind.element, offset + index * kind.stride, found)
    elif isinstance(kind, VectorType):
        for index in range(kind.length):
            found.append(LeafType(kind.component, offset + index * kind.component.size))
    elif not isinstance(kind, VoidType):
        found.append(LeafType(kind, offset))


def first_leaf(kind: Type) -> Type:
    """The type of the first leaf of a type that has one."""
    while isinstance(kind, StructType | ArrayType | VectorType):
        kind = (next(one for one in kind.members if leaf_count(one)) if isinstance(kind, StructType)
                else kind.element if isinstance(kind, ArrayType) else kind.component)
    return kind


@lru_cache(maxsize=4096)
def leaf_count(kind: Type) -> int:
    """The number of leaves of a type."""
    if isinstance(kind, StructType):
        return sum(map(leaf_count, kind.members))
    if isinstance(kind, ArrayType):
        return kind.length * leaf_count(kind.element)
    if isinstance(kind, VectorType):
        return kind.length
    return 0 if isinstance(kind, VoidType) else 1


def is_large(kind: Type) -> bool:
    """Whether a value has more numbers than registers are made for; it lies in memory then (large_values.py)."""
    return isinstance(kind, ArrayType | StructType) and leaf_count(kind) > MOST_LEAVES


def part_of(kind: Type, index: int) -> tuple[Type, int]:
    """The type of a member, and the number of leaves before it. ValidationError if there is none."""
    count = (len(kind.members) if isinstance(kind, StructType)
             else kind.length if isinstance(kind, ArrayType | VectorType) else None)
    if count is not None and not 0 <= index < count:
        raise ValidationError("access-chain-index", f"index {index} is outside of the {kind}")
    if isinstance(kind, StructType):
        return kind.members[index], sum(leaf_count(member) for member in kind.members[:index])
    if isinstance(kind, ArrayType):
        return kind.element, index * leaf_count(kind.element)
    if isinstance(kind, VectorType):
        return kind.component, index
    raise ValidationError("access-chain-index", f"there is nothing to index in a value of type {kind}")
