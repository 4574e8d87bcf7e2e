"""Private variables that live in a slot of the frame instead of in memory.

A variable of Function storage of which only loads, stores and access chains use the address needs no
address: its value is held as any other value (an aggregate as a tuple). That keeps uniform values
uniform, and it is what makes unoptimised code fast. All other variables lie in private memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from coopmat.diagnostics import OutOfBounds, ValidationError
from coopmat.spirv.analysis.types import (
    ArrayType,
    MatrixType,
    StructType,
    Type,
    TypeTable,
    VectorType,
    contains_matrix,
)
from coopmat.spirv.grammar import CHAINS, LIFETIMES, Op
from coopmat.spirv.module import Function, Instruction, Module
from coopmat.targets.base.out_of_bounds import index_outside
from coopmat.targets.simulator.address_space import first_of
from coopmat.targets.simulator.matrix_groups import agreed_value, matrix_in
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array, Value, blend, from_slices, slices_of

MOST_MEMBERS = 256


@dataclass(frozen=True)
class Index:
    """One index of an access chain: a constant, or the slot of the frame that holds it."""

    constant: int | None
    slot: int = -1


@dataclass(frozen=True)
class RegisterPlace:
    """What a pointer that is known at compile time points to: a register variable, or a part of it.

    ``root`` reads the whole variable; ``slot`` is where a store puts it back (None: read-only).
    """

    name: str
    root: Callable[[Frame], Value]
    slot: int | None
    kind: Type
    path: tuple[Index, ...] = ()

    def load(self, frame: Frame, site: Site) -> Value:
        """The value at the place; of a variable never written, zero."""
        value = self.root(frame)
        return _Access(self, frame, site).read(self.kind, value, self.path) if self.path else value

    def store(self, frame: Frame, value: Value, site: Site) -> None:
        """Replace the value at the place for the active lanes."""
        assert self.slot is not None
        slots, slot = frame.slots, self.slot
        old = slots[slot]
        lanes = frame.mask.lanes if frame.merge else None
        if not self.path:
            slots[slot] = value if lanes is None else blend(self.kind, lanes, value, old)
            return
        slots[slot] = _Access(self, frame, site).update(self.kind, old, self.path, value, lanes)


class _Access:
    """One read or update along a path of indices."""

    def __init__(self, place: RegisterPlace, frame: Frame, site: Site) -> None:
        self.place = place
        self.frame = frame
        self.site = site

    def read(self, kind: Type, value: Value, path: tuple[Index, ...]) -> Value:
        if not path:
            return value
        step, rest = path[0], path[1:]
        if isinstance(kind, StructType | ArrayType):
            if step.constant is not None:
                member = _member(kind, step.constant)
                return self.read(member, value[step.constant], rest)
            return self._read_any(kind, value, step, rest)
        if isinstance(kind, MatrixType):
            value = slices_of(kind, value)
        if step.constant is not None:
            return value[..., step.constant]
        index = self._checked(step, value.shape[-1])
        return take_component(value, index)

    def _read_any(self, kind: Type, value: Value, step: Index, rest: tuple[Index, ...]) -> Value:
        """Read the member that a run-time index chooses, lane by lane if it must be."""
        assert isinstance(kind, ArrayType)
        index = self._checked(step, kind.length)
        leaf = path_type(kind, (step, *rest))
        self._check_agreement(index, leaf)
        chosen = np.unique(self.frame.mask.active(index)).tolist()
        result = self.read(kind.element, value[chosen[0]], rest)
        for number in chosen[1:]:
            result = blend(leaf, index == number, self.read(kind.element, value[number], rest), result)
        return result

    def update(self, kind: Type, old: Value, path: tuple[Index, ...], new: Value,
               lanes: Array | None) -> Value:
        if not path:
            return new if lanes is None else blend(kind, lanes, new, old)
        step, rest = path[0], path[1:]
        if isinstance(kind, StructType | ArrayType):
            return self._update_member(kind, old, step, rest, new, lanes)
        if isinstance(kind, MatrixType):
            slices = self._update_component(slices_of(kind, old), step, new, lanes)
            return from_slices(kind, slices)
        return self._update_component(old, step, new, lanes)

    def _update_member(self, kind: StructType | ArrayType, old: Value, step: Index, rest: tuple[Index, ...],
                       new: Value, lanes: Array | None) -> Value:
        members = list(old)
        if step.constant is not None:
            member = _member(kind, step.constant)
            members[step.constant] = self.update(member, old[step.constant], rest, new, lanes)
            return tuple(members)
        assert isinstance(kind, ArrayType)
        index = self._checked(step, kind.length)
        self._check_agreement(index, path_type(kind, (step, *rest)))
        chosen = np.unique(self.frame.mask.active(index)).tolist()
        for number in chosen:
            there = index == number if lanes is None else lanes & (index == number)
            there = lanes if len(chosen) == 1 else there
            members[number] = self.update(kind.element, old[number], rest, new, there)
        return tuple(members)

    def _update_component(self, old: Array, step: Index, new: Array, lanes: Array | None) -> Array:
        if step.constant is not None:
            index = np.full((1, 1), step.constant)
        else:
            index = self._checked(step, old.shape[-1])
        return put_component(old, index, new, lanes)

    def _check_agreement(self, index: Array, leaf: Type) -> None:
        """UndefinedBehavior if work-items of a group choose different matrices where they need a whole one; a
        component is each one's own."""
        matrix = matrix_in(leaf)
        if matrix is not None:
            agreed_value(self.frame, matrix, index, self.site, "index")

    def _checked(self, step: Index, length: int) -> Array:
        """The run-time index, brought into range where lanes are not active; OutOfBounds if an active lane's is not
        below ``length``."""
        index: Array = self.frame.slots[step.slot]
        if index.min() >= 0 and index.max() < length:
            return index
        active = self.frame.mask.active(index)
        if self.frame.batch.options.bounds and (active.min() < 0 or active.max() >= length):
            self._out_of_bounds(index, length)
        return np.clip(index, 0, length - 1)

    def _out_of_bounds(self, index: Array, length: int) -> NoReturn:
        lanes = self.frame.mask.expanded
        full = np.broadcast_to(index, lanes.shape)
        sub_group, lane = first_of(lanes & ((full < 0) | (full >= length)))
        element = int(full[sub_group, lane])
        raise OutOfBounds(index_outside(element, length),
                          self.site.where(self.frame, sub_group, lane, self.place.name, element))


def take_component(vector: Array, index: Array) -> Array:
    """Component ``index`` (per lane, in range) of ``[S, L, n]``."""
    if index.size == 1:
        return vector[..., int(index.item())]
    shape = np.broadcast_shapes(vector.shape[:2], index.shape)
    full = np.broadcast_to(vector, (*shape, vector.shape[-1]))
    return np.take_along_axis(full, np.broadcast_to(index, shape)[..., None].astype(np.intp), -1)[..., 0]


def put_component(vector: Array, index: Array, new: Array, lanes: Array | None = None) -> Array:
    """``[S, L, n]`` with component ``index`` replaced by ``new`` in the lanes of ``lanes``."""
    here = np.arange(vector.shape[-1]) == index[..., None]
    if lanes is not None:
        here = here & lanes[..., None]
    return np.where(here, new[..., None], vector)


def _member(kind: StructType | ArrayType, index: int) -> Type:
    count = len(kind.members) if isinstance(kind, StructType) else kind.length
    if not 0 <= index < count:
        raise ValidationError("access-chain-index", f"index {index} is outside of the {kind}")
    return kind.members[index] if isinstance(kind, StructType) else kind.element


def path_type(kind: Type, path: Iterable[Index]) -> Type:
    """The type that a path leads to; ValidationError where it leads nowhere."""
    for step in path:
        if isinstance(kind, StructType):
            if step.constant is None:
                raise ValidationError("access-chain-index", "the index into a structure must be a constant")
            kind = _member(kind, step.constant)
        elif isinstance(kind, ArrayType):
            kind = _member(kind, step.constant or 0)
        elif isinstance(kind, VectorType | MatrixType):
            count = kind.slice_length if isinstance(kind, MatrixType) else kind.length
            if step.constant is not None and not 0 <= step.constant < count:
                raise ValidationError("access-chain-index", f"index {step.constant} is outside of the {kind}")
            kind = kind.scalar
        else:
            raise ValidationError("access-chain-index", f"there is nothing to index in a value of type {kind}")
    return kind


# --------------------------------------------------------------------------------------
# Which variables need no address
# --------------------------------------------------------------------------------------


def register_variables(module: Module, types: TypeTable, function: Function) -> set[int]:
    """The ids of the function's variables that can live in slots."""
    users: dict[int, list[Instruction]] = {}
    variables = []
    for block in function.blocks:
        for row in block.instructions:
            if row.opcode == Op.Variable:
                variables.append(row)
            for used in set(row.ids()):
                users.setdefault(used, []).append(row)
    result = set()
    for row in variables:
        assert row.type_id is not None
        assert row.result_id is not None
        kind = types.pointee(types[row.type_id])
        if _members(kind) <= MOST_MEMBERS and _stays(module, users, row.result_id, kind):
            result.add(row.result_id)
    return result


def _members(kind: Type) -> int:
    """Number of scalars, vectors and matrices that make up a type."""
    if isinstance(kind, ArrayType):
        return kind.length * _members(kind.element)
    if isinstance(kind, StructType):
        return sum(map(_members, kind.members))
    return 1


def _stays(module: Module, users: dict[int, list[Instruction]], pointer: int, kind: Type) -> bool:
    """Whether every use of ``pointer``, which points to ``kind``, is one that a slot can serve."""
    for row in users.get(pointer, ()):
        words = row.words
        if row.opcode == Op.Load or row.opcode in LIFETIMES:
            continue
        if row.opcode == Op.Store and words[1] != pointer:
            continue
        if row.opcode == Op.CopyMemory:
            continue
        if row.opcode == Op.Bitcast and _only_lifetimes(users, row):
            continue
        if row.opcode in CHAINS and words[0] == pointer and pointer not in words[1:]:
            assert row.result_id is not None
            part = _chain_target(module, row, kind)
            if part is not None and _stays(module, users, row.result_id, part):
                continue
        return False
    return True


def _only_lifetimes(users: dict[int, list[Instruction]], row: Instruction) -> bool:
    assert row.result_id is not None
    return all(user.opcode in LIFETIMES for user in users.get(row.result_id, ()))


def constant_index(module: Module, identifier: int) -> int | None:
    """The value of an index that is an integer constant, else None."""
    value = module.constant_value(identifier)
    return int(value) if isinstance(value, int) else None


def _chain_target(module: Module, row: Instruction, kind: Type) -> Type | None:
    """The type that an access chain leads to, or None if a slot cannot serve it."""
    first = CHAINS[Op(row.opcode)]
    if first == 2 and constant_index(module, row.words[1]) != 0:
        return None
    for word in row.words[first:]:
        index = constant_index(module, word)
        if isinstance(kind, ArrayType) and index is None and not contains_matrix(kind):
            return None
        if not isinstance(kind, ArrayType | StructType | VectorType | MatrixType):
            return None
        kind = path_type(kind, [Index(index)])
    return kind


