"""Asynchronous copies between global and local memory, which a whole work-group makes (OpenCL C 6.15.11)."""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import NUMBERS, BuiltinCall, Row
from coopmat.tree.nodes import Expression
from coopmat.tree.types import SIZE_T, ExecutionScope


def copy(call: BuiltinCall) -> Expression:
    """A copy of neighbouring elements."""
    destination, source, count, event = call.arguments
    return _copy(call, destination, source, count, call.constant(1, SIZE_T), event)


def strided_copy(call: BuiltinCall) -> Expression:
    """A copy that gathers from global memory, or scatters to it."""
    return _copy(call, *call.arguments)


def _copy(call: BuiltinCall, *operands: Expression) -> Expression:
    return call.operation("core.GroupAsyncCopy", call.constant(ExecutionScope.WORKGROUP.value), *operands)


def wait(call: BuiltinCall) -> Expression:
    """Wait until the copies of these events are done."""
    return call.operation("core.GroupWaitEvents", call.constant(ExecutionScope.WORKGROUP.value), *call.arguments)


_DIRECTIONS = ("local gen*, global const gen*", "global gen*, local const gen*")

ROWS = (
    *(Row("async_work_group_copy", f"event_t({pointers}, size_t, event_t)", copy, NUMBERS)
      for pointers in _DIRECTIONS),
    *(Row("async_work_group_strided_copy", f"event_t({pointers}, size_t, size_t, event_t)", strided_copy, NUMBERS)
      for pointers in _DIRECTIONS),
    Row("wait_group_events", "void(int, any const event_t*)", wait),
)
