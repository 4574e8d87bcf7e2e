"""Marks: values of a type whose one bits say what is undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, UninitializedRead
from coopmat.spirv.analysis.types import MatrixType, Type, VectorType
from coopmat.targets.simulator.state import RESULT, Frame
from coopmat.targets.simulator.values import Array, Value, blend, members_of, slices_of, zero


class Origin(NamedTuple):
    """Where undefined data comes from: what was never written, in words, and the line that reads it."""

    what: str
    location: str | None = None
    effect: str = ""  # how it has spread
    error: type[UndefinedBehavior] = UninitializedRead
    remedy: str = "write it before"

    def __str__(self) -> str:
        return f"{self.what}{f' (read at {self.location})' if self.location else ''}{self.effect}"


UNDEFINED = Origin("an undefined value of the module (OpUndef)")


class Mark(NamedTuple):
    """What is undefined of a value, and where that comes from first."""

    value: Value
    origin: Origin


def bits_of(value: Array) -> Array:
    """An array as unsigned integers, or booleans, without a copy."""
    return value if value.dtype == np.bool_ else value.view(f"u{value.dtype.itemsize}")


def all_ones(kind: Type) -> Value:
    """The mark of a value of which nothing is defined: the same in all lanes."""
    members = members_of(kind)
    if members is not None:
        return tuple(map(all_ones, members))
    nothing = zero(kind)
    return ~nothing if nothing.dtype == np.bool_ else (~bits_of(nothing)).view(nothing.dtype)


def is_any(value: Value) -> bool:
    """Whether anything is undefined."""
    if isinstance(value, tuple):
        return any(map(is_any, value))
    return value is not None and bool(bits_of(value).any())


def elements(value: Value, kind: Type) -> Array:
    """Which elements of a value are not wholly defined: of an aggregate as one, ``[S, L]``."""
    members = members_of(kind)
    if members is None:
        return bits_of(value) != 0
    found: Array = np.zeros((1, 1), np.bool_)
    for member, one in zip(members, value, strict=True):
        found = found | lanes(one, member)
    return found


def lanes(value: Value, kind: Type) -> Array:
    """The lanes, ``[S, L]`` or fewer, whose part of a value is not wholly defined."""
    found = elements(value, kind)
    if isinstance(kind, MatrixType):
        return np.asarray(slices_of(kind, found).any(axis=-1))
    return _of_lanes(found)


def from_elements(found: Array, kind: Type) -> Value:
    """The mark in which elements, as :func:`elements` gives them, are undefined as a whole."""
    members = members_of(kind)
    if members is not None:
        return tuple(from_elements(found if members_of(member) is not None else _like(found, kind, member), member)
                     for member in members)
    return np.where(found, all_ones(kind), zero(kind))


def _like(found: Array, kind: Type, member: Type) -> Array:
    return fitted(found, None, member)


def fitted(found: Array, kind: Type | None, target: Type) -> Array:
    """Undefined elements of an operand as those of a result that depends on it: element by element where both have the
    same, and otherwise each on all of its lane. ``kind`` None: ``found`` is by lanes."""
    if isinstance(target, MatrixType):
        if isinstance(kind, MatrixType) and found.shape[1:] == zero(target).shape[1:]:
            return found
        if target.is_of_work_group:
            return _of_lanes(found)[..., None]
        return np.asarray(found.any(axis=tuple(range(1, found.ndim))))[:, None, None]
    if isinstance(kind, MatrixType) and not kind.is_of_work_group:
        found = np.asarray(found.any(axis=(1, 2)))[:, None]
    if isinstance(target, VectorType):
        if found.ndim == 2:
            return found[..., None]
        return found if found.shape[-1] in (1, target.length) else _of_lanes(found)[..., None]
    return _of_lanes(found)


def _of_lanes(found: Array) -> Array:
    """Which lanes have an undefined component."""
    return np.asarray(found.any(axis=-1)) if found.ndim == 3 else found


def joined(kind: Type, here: Array, new: Value, old: Value) -> Value:
    """``new`` in the lanes of ``here``, ``old`` elsewhere."""
    return blend(kind, here, new, old)


# --------------------------------------------------------------------------------------
# The marks of a frame
# --------------------------------------------------------------------------------------

NOTHING = Origin("")


def set_mark(frame: Frame, slot: int, kind: Type, value: Value | None, origin: Origin) -> None:
    """What is undefined of a value from now on, in the lanes that are here; None: nothing."""
    marks, old = frame.undefined, frame.undefined.get(slot)
    if frame.merge and (old is not None or value is not None):
        value = joined(kind, frame.mask.lanes, zero(kind) if value is None else value,
                       zero(kind) if old is None else old.value)
        origin = old.origin if old is not None and origin is NOTHING else origin
    if value is not None and is_any(value):
        marks[slot] = Mark(value, origin)
    else:
        marks.pop(slot, None)


def take_marks(frame: Frame, phis: Sequence[tuple[int, int, Type]]) -> None:
    """OpPhi, all at once: (slot of the phi, slot of the value, type)."""
    found = [frame.undefined.get(source) for _, source, _ in phis]
    for (slot, _, kind), mark in zip(phis, found, strict=True):
        set_mark(frame, slot, kind, *((None, NOTHING) if mark is None else mark))


def return_mark(frame: Frame, slot: int, kind: Type) -> None:
    """What is undefined of what lanes return; those that returned before keep theirs."""
    mark, old = frame.undefined.get(slot), frame.undefined.get(RESULT)
    if mark is None and old is None:
        return
    value = joined(kind, frame.mask.lanes, zero(kind) if mark is None else mark.value,
                   zero(kind) if old is None else old.value)
    frame.undefined[RESULT] = Mark(value, (mark or old or Mark(None, NOTHING)).origin)
