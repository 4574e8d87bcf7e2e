"""What drivers do within a work-group, and where: functions of work-groups, values across barriers, generic pointers.

Rusticl on a CPU has functions of work-groups that are those of sub-groups, and ends the process at loads through
generic pointers; PoCL 7 loads again behind a barrier what it had loaded from local memory before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import BuiltIn, GroupOperation, MemorySemantics, Op, Scope, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.spaces import spaces
from coopmat.targets.opencl.declarations import declared_for
from coopmat.targets.opencl.host.description import DriverDevice
from coopmat.targets.opencl.host.trial import Trial

KERNEL = "work_group"
ITEMS = 64
_SOURCE = 5  # the work-item that broadcasts
_ORDER = MemorySemantics.SequentiallyConsistent | MemorySemantics.WorkgroupMemory
Arrays = Sequence[np.ndarray[Any, Any]]


class _Kernel:
    """A kernel being made: of an array, of which each work-item has one element; ``value`` is what is in it."""

    def __init__(self) -> None:
        made = self.made = ModuleBuilder(version=(1, 2))
        self.word, self.long = made.type_int(32), made.type_int(64)
        self.truth, self.triple = made.type_bool(), made.type_vector(self.long, 3)
        self.pointer = made.type_pointer(StorageClass.CrossWorkgroup, self.word)
        items = made.builtin(BuiltIn.LocalInvocationId, self.triple)
        self.function = made.begin_function(made.type_void(), made.type_function(made.type_void(), [self.pointer]))
        self.memory = made.parameter(self.pointer)
        made.begin_block()
        self.item = made.value(Op.CompositeExtract, self.long, made.value(Op.Load, self.triple, items), 0)
        self.element = made.value(Op.PtrAccessChain, self.pointer, self.memory, self.item)
        self.value = made.value(Op.Load, self.word, self.element)

    def number(self, value: int) -> int:
        return self.made.constant(self.long, value)

    def local(self, count: int) -> int:
        """An array in local memory."""
        array = self.made.type_array_of(self.word, self.made.constant(self.word, count))
        return self.made.global_variable(StorageClass.Workgroup, array)

    def part(self, storage: StorageClass, array: int, index: int) -> int:
        """A pointer to an element of an array."""
        pointer = self.made.type_pointer(storage, self.word)
        return self.made.value(Op.InBoundsAccessChain, pointer, array, index)

    def barrier(self) -> None:
        scope = self.made.constant(self.word, Scope.Workgroup)
        self.made.emit(Op.ControlBarrier, scope, scope, self.made.constant(self.word, _ORDER))

    def trial(self, device: DriverDevice, result: int, changed: Callable[[Module], Module] = lambda one: one) -> Trial:
        """The launch, whose work-items put a result in the place of what they have. ``changed``: the module in another
        form."""
        made = self.made
        made.emit(Op.Store, self.element, result)
        made.emit(Op.Return)
        made.end_function()
        made.entry_point(self.function, KERNEL)
        module = declared_for(device, changed(made.finish()))
        return Trial(module.to_bytes(), KERNEL, (ITEMS,), (ITEMS,), (_given(),))


def _given() -> np.ndarray[Any, Any]:
    return np.arange(ITEMS, dtype=np.int32) ** 2 % 37 + 1


# --- functions of work-groups ---------------------------------------------------------------------


def functions(device: DriverDevice) -> Trial:
    """A launch that reduces, scans and broadcasts. KernelNotSupported if the driver does not list such functions."""
    one = _Kernel()
    made, scope = one.made, one.made.constant(one.word, Scope.Workgroup)
    total = made.value(Op.GroupIAdd, one.word, scope, GroupOperation.Reduce, one.value)
    before = made.value(Op.GroupIAdd, one.word, scope, GroupOperation.ExclusiveScan, one.value)
    most = made.value(Op.GroupUMax, one.word, scope, GroupOperation.InclusiveScan, one.value)
    sent = made.value(Op.GroupBroadcast, one.word, scope, one.value, one.number(_SOURCE))
    some = made.value(Op.GroupAny, one.truth, scope, made.value(Op.IEqual, one.truth, one.item,
                                                                one.number(_SOURCE)))
    found = made.value(Op.Select, one.word, some, made.constant(one.word, 1), made.constant(one.word, 0))
    for value in (total, before, most, sent):
        hashed = made.value(Op.IMul, one.word, found, made.constant(one.word, 31))
        found = made.value(Op.IAdd, one.word, hashed, value)
    return one.trial(device, found)


def functions_are_right(found: Arrays) -> bool:
    """Whether each work-item has what all of them give."""
    x = _given()
    expected = np.ones_like(x)
    for value in (x.sum(), np.cumsum(x) - x, np.maximum.accumulate(x), x[_SOURCE]):
        expected = expected * 31 + value
    return bool((found[0] == expected).all())


# --- values across barriers -----------------------------------------------------------------------


def exchange(device: DriverDevice) -> Trial:
    """A launch that loads from local memory, and stores behind a barrier to where others have loaded."""
    one = _Kernel()
    made, array = one.made, one.local(ITEMS)
    own = one.part(StorageClass.Workgroup, array, one.item)
    made.emit(Op.Store, own, one.value)
    one.barrier()
    other = made.value(Op.ISub, one.long, one.number(ITEMS - 1), one.item)
    theirs = made.value(Op.Load, one.word, one.part(StorageClass.Workgroup, array, other))
    one.barrier()
    made.emit(Op.Store, own, made.value(Op.IAdd, one.word, theirs, theirs))
    one.barrier()
    return one.trial(device, made.value(Op.Load, one.word, own))


def is_exchanged(found: Arrays) -> bool:
    """Whether each work-item has twice what its opposite had."""
    return bool((found[0] == 2 * _given()[::-1]).all())


# --- generic pointers -----------------------------------------------------------------------------

_PART = 4
"""Elements that a generic pointer of the trial leads to."""


def generic(device: DriverDevice) -> Trial:
    """A launch that loads through pointers that lead to local or private memory, by the work-item's number."""
    return _generic(device, lambda module: module)


def tagged(device: DriverDevice) -> Trial:
    """The same, with integers in the place of generic pointers."""
    return _generic(device, lambda module: spaces(module, Goal(), lambda _: None))


def _generic(device: DriverDevice, changed: Callable[[Module], Module]) -> Trial:
    one = _Kernel()
    made, array, first = one.made, one.local(ITEMS * _PART), one.number(0)
    start = made.value(Op.IMul, one.long, one.item, one.number(_PART))
    own = made.local_variable(made.type_array_of(one.word, made.constant(one.word, _PART)))
    for place in range(_PART):
        value = made.value(Op.IAdd, one.word, one.value, made.constant(one.word, place))
        made.emit(Op.Store, one.part(StorageClass.Function, own, one.number(place)), value)
        there = made.value(Op.IAdd, one.long, start, one.number(place))
        made.emit(Op.Store, one.part(StorageClass.Workgroup, array, there),
                  made.value(Op.IMul, one.word, value, value))
    one.barrier()
    anywhere = made.type_pointer(StorageClass.Generic, one.word)
    private, local = (made.value(Op.PtrCastToGeneric, anywhere, pointer) for pointer in (
        one.part(StorageClass.Function, own, first), one.part(StorageClass.Workgroup, array, start)))
    is_odd = made.value(Op.IEqual, one.truth, one.number(1),
                        made.value(Op.BitwiseAnd, one.long, one.item, one.number(1)))
    chosen = made.value(Op.Select, anywhere, is_odd, local, private)
    found = made.constant(one.word, 0)
    for place in range(_PART):
        there = made.value(Op.PtrAccessChain, anywhere, chosen, one.number(place))
        tripled = made.value(Op.IMul, one.word, found, made.constant(one.word, 3))
        found = made.value(Op.IAdd, one.word, tripled, made.value(Op.Load, one.word, there))
    return one.trial(device, found, changed)


def generic_is_right(found: Arrays) -> bool:
    """Whether each work-item has what its pointer leads to."""
    x = _given() + np.arange(_PART)[:, None]
    chosen = np.where(np.arange(ITEMS) % 2, x * x, x)
    return bool((found[0] == [27, 9, 3, 1] @ chosen).all())
