"""Barriers and fences."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import known_barrier_scope
from coopmat.targets.analysis.memory_semantics import order_of
from coopmat.targets.llvm.emitter import Emitter, Handler


def _barrier(emitter: Emitter, row: Instruction) -> None:
    """OpControlBarrier. A work-item need not wait for itself."""
    _part(emitter, row, emitter.execution.barrier)


def _arrive(emitter: Emitter, row: Instruction) -> None:
    """The first half of a split barrier."""
    _part(emitter, row, emitter.execution.arrive)


def _wait(emitter: Emitter, row: Instruction) -> None:
    """The second half."""
    _part(emitter, row, emitter.execution.wait_for_arrivals)


def _part(emitter: Emitter, row: Instruction, part: Callable[[Scope], None]) -> None:
    scope = known_barrier_scope(emitter.constant_of(row.words[0]), row.name)
    if scope == Scope.Invocation or not emitter.execution.barriers_order(scope, emitter.constant_of(row.words[1])):
        _fence(emitter, *row.words[1:3])
    if scope != Scope.Invocation:
        part(scope)


def _memory_barrier(emitter: Emitter, row: Instruction) -> None:
    _fence(emitter, *row.words[:2])


def _fence(emitter: Emitter, scope: int, semantics: int) -> None:
    found = emitter.constant_of(semantics)
    order = order_of(found)
    if order is not None:
        emitter.execution.fence(emitter.constant_of(scope), order)


OPERATIONS: dict[int, Handler] = {
    Op.ControlBarrier: _barrier,
    Op.ControlBarrierArriveEXT: _arrive,
    Op.ControlBarrierWaitEXT: _wait,
    Op.MemoryBarrier: _memory_barrier,
}
