"""Barriers and what they make visible, in the terms of the Vulkan memory model."""

from __future__ import annotations

from coopmat.spirv.grammar import MemorySemantics, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation

_ORDERS = (MemorySemantics.Acquire | MemorySemantics.Release | MemorySemantics.AcquireRelease
           | MemorySemantics.SequentiallyConsistent)
_WIDE = frozenset({Scope.CrossDevice, Scope.Device})


def scope(t: Translation, identifier: int) -> int:
    """A scope of execution or memory; a device is a queue family where the driver has no scope of devices."""
    found = t.integer_of(identifier)
    if found is None:
        raise t.refuse("a scope that is not constant")
    if found in _WIDE:
        found = t.device_scope()
    return t.writer.integer(found)


def semantics(t: Translation, identifier: int, *, reads: bool = True, writes: bool = True, own: int = 0) -> int:
    """Memory semantics: no sequential consistency, and what is ordered is made available and visible.

    ``own``: the storage class that an atomic works on. ``reads``, ``writes``: what the instruction does.
    """
    before = t.integer_of(identifier)
    if before is None:
        raise t.refuse("memory semantics that are not constant")
    return semantics_of(t, before, reads=reads, writes=writes, own=own)


def semantics_of(t: Translation, before: int, *, reads: bool = True, writes: bool = True, own: int = 0) -> int:
    """The same for known semantics."""
    order = before & _ORDERS
    if not order:
        return t.writer.integer(0)
    acquires = reads and order != MemorySemantics.Release
    releases = writes and order != MemorySemantics.Acquire
    if not acquires and not releases:
        return t.writer.integer(0)
    after = (MemorySemantics.AcquireRelease if acquires and releases else
             MemorySemantics.Acquire if acquires else MemorySemantics.Release)
    after |= MemorySemantics.MakeVisible if acquires else MemorySemantics.None_
    after |= MemorySemantics.MakeAvailable if releases else MemorySemantics.None_
    return t.writer.integer(after | _classes(before | own))


def _classes(before: int) -> int:
    """The storage classes; where none is named, all."""
    found = before & MemorySemantics.WorkgroupMemory
    if before & (MemorySemantics.CrossWorkgroupMemory | MemorySemantics.UniformMemory):
        found |= MemorySemantics.UniformMemory
    return found or MemorySemantics.WorkgroupMemory | MemorySemantics.UniformMemory


def _control(t: Translation, row: Instruction) -> None:
    execution, memory, order = row.words
    if t.target.in_step and t.integer_of(execution) == Scope.Subgroup:
        # Lavapipe ends a work-group when a sub-group has ended that has met fewer barriers than another one.
        _ordered(t, memory, order)
        return
    t.writer.out.emit(Op.ControlBarrier, scope(t, execution), scope(t, memory), semantics(t, order))


def _memory(t: Translation, row: Instruction) -> None:
    _ordered(t, *row.words)


def _ordered(t: Translation, memory: int, before: int) -> None:
    order = semantics(t, before)
    if t.writer.known(order):
        t.writer.out.emit(Op.MemoryBarrier, scope(t, memory), order)


def _arrive(t: Translation, row: Instruction) -> None:
    """The first half of a barrier: who waits later waits for all of it."""


def _wait(t: Translation, row: Instruction) -> None:
    """The second half does what a whole barrier does, and releases what was written before the first one."""
    execution, memory, order = row.words
    before = t.integer_of(order) or 0
    both = semantics_of(t, before | MemorySemantics.AcquireRelease)
    t.writer.out.emit(Op.ControlBarrier, scope(t, execution), scope(t, memory), both)


HANDLERS: dict[int, Handler] = {Op.ControlBarrier: _control, Op.MemoryBarrier: _memory,
                               Op.ControlBarrierArriveINTEL: _arrive, Op.ControlBarrierWaitINTEL: _wait}
