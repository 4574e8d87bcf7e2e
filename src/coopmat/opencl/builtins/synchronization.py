"""Barriers and fences (OpenCL C 6.15.8 and 6.15.9), and the memory semantics that atomic functions share.

Orders, scopes and fence flags become SPIR-V's Memory Semantics and ExecutionScope, so they must be constants.
"""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.opencl.builtins.predefined_types import ENUM_CONSTANTS, MEMORY_ORDER
from coopmat.opencl.messages import builtins as messages
from coopmat.tree.nodes import Constant, Expression
from coopmat.tree.operations import ACQUIRE, ACQUIRE_RELEASE, RELAXED, RELEASE, SEQUENTIALLY_CONSISTENT
from coopmat.tree.types import ExecutionScope

# ------------------------------------------------------------------ scopes, orders and flags

SCOPES = {0: ExecutionScope.INVOCATION, 1: ExecutionScope.WORKGROUP, 2: ExecutionScope.DEVICE,
          3: ExecutionScope.CROSS_DEVICE, 4: ExecutionScope.SUBGROUP}
"""The values of memory_scope."""

ORDERS = {0: RELAXED, 2: ACQUIRE, 3: RELEASE, 4: ACQUIRE_RELEASE, 5: SEQUENTIALLY_CONSISTENT}
"""The values of memory_order, as bits of Memory Semantics."""

FENCES = {1: 0x100, 2: 0x200, 4: 0x800}
"""The cl_mem_fence_flags, as bits of Memory Semantics: Workgroup, CrossWorkgroup and Image memory."""


class Reported(Exception):
    """A constant operand was wrong; the report has been made."""


def constant_argument(call: BuiltinCall, index: int, what: str) -> int:
    """The value of an argument that must be a constant."""
    argument = call.arguments[index]
    value = call.context.constant_integer(argument)
    if value is None:
        call.context.report(messages.NOT_CONSTANT, argument.location, what=what, name=call.overload.name)
        raise Reported
    return value


def _choice(call: BuiltinCall, index: int, what: str, values: dict[int, int] | dict[int, ExecutionScope]) -> int:
    """The SPIR-V value for a constant argument of an enumeration type."""
    value = constant_argument(call, index, what)
    if value not in values:
        call.context.report(messages.INVALID_ENUM_VALUE, call.arguments[index].location, what=what, value=value,
                            name=call.overload.name)
        raise Reported
    chosen = values[value]
    return chosen.value if isinstance(chosen, ExecutionScope) else chosen


def scope_argument(call: BuiltinCall, index: int, default: ExecutionScope) -> Constant:
    """The memory scope argument at ``index``, or the default if it is absent."""
    present = index < len(call.arguments)
    return call.constant(_choice(call, index, "memory_scope", SCOPES) if present else default.value)


def order_argument(call: BuiltinCall, index: int, default: int, forbidden: tuple[int, ...] = ()) -> int:
    """The memory order argument at ``index``, or the default if it is absent."""
    if index >= len(call.arguments):
        return default
    order = _choice(call, index, "memory_order", ORDERS)
    if order in forbidden:
        allowed = [name for name, (enumeration, value) in ENUM_CONSTANTS.items()
                   if enumeration is MEMORY_ORDER and ORDERS[value] not in forbidden]
        call.context.report(messages.INVALID_ORDER, call.arguments[index].location, name=call.overload.name,
                            allowed=", ".join(allowed))
        raise Reported
    return order


def _fence_bits(call: BuiltinCall, index: int) -> int:
    """The Memory Semantics bits of a cl_mem_fence_flags argument."""
    flags = constant_argument(call, index, "cl_mem_fence_flags")
    if flags & ~sum(FENCES) or flags < 0:
        call.context.report(messages.INVALID_FENCE, call.arguments[index].location, value=flags)
        raise Reported
    return sum(bits for flag, bits in FENCES.items() if flags & flag)


def checked(build: Build) -> Build:
    """Make a node, or the error expression if a constant argument was wrong."""
    def build_or_error(call: BuiltinCall) -> Expression:
        try:
            return build(call)
        except Reported:
            return call.context.error_expression(call.location)
    return build_or_error


# ------------------------------------------------------------------ barriers and fences


def barrier(execution: ExecutionScope) -> Build:
    """A control barrier; it orders memory accesses if there are fence flags."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        storage = _fence_bits(call, 0)
        semantics = storage | SEQUENTIALLY_CONSISTENT if storage else 0
        return call.operation("core.ControlBarrier", call.constant(execution.value),
                              scope_argument(call, 1, execution), call.constant(semantics))
    return build


def split_barrier(instruction: str, order: int) -> Build:
    """One half of a work-group barrier (cl_intel_split_work_group_barrier), which has its order without flags, too."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        semantics = _fence_bits(call, 0) | order
        return call.operation(f"core.{instruction}", call.constant(ExecutionScope.WORKGROUP.value),
                              scope_argument(call, 1, ExecutionScope.WORKGROUP), call.constant(semantics))
    return build


def fence(order: int) -> Build:
    """mem_fence and its like order the accesses of this work-item as seen in its work-group."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        semantics = _fence_bits(call, 0) | order
        return call.operation("core.MemoryBarrier", call.constant(ExecutionScope.WORKGROUP.value),
                              call.constant(semantics))
    return build


@checked
def work_item_fence(call: BuiltinCall) -> Expression:
    """atomic_work_item_fence(flags, order, scope)."""
    semantics = _fence_bits(call, 0) | order_argument(call, 1, RELAXED)
    return call.operation("core.MemoryBarrier", scope_argument(call, 2, ExecutionScope.DEVICE),
                          call.constant(semantics))


SPLIT_BARRIER = ("cl_intel_split_work_group_barrier",)

ROWS = (
    Row("barrier", "void(cl_mem_fence_flags)", barrier(ExecutionScope.WORKGROUP)),
    Row("work_group_barrier", "void(cl_mem_fence_flags)", barrier(ExecutionScope.WORKGROUP)),
    Row("work_group_barrier", "void(cl_mem_fence_flags, memory_scope)", barrier(ExecutionScope.WORKGROUP)),
    Row("sub_group_barrier", "void(cl_mem_fence_flags)", barrier(ExecutionScope.SUBGROUP)),
    Row("sub_group_barrier", "void(cl_mem_fence_flags, memory_scope)", barrier(ExecutionScope.SUBGROUP)),
    *(Row(name, signature, split_barrier(instruction, order), needs=SPLIT_BARRIER)
      for signature in ("void(cl_mem_fence_flags)", "void(cl_mem_fence_flags, memory_scope)")
      for name, instruction, order in (
          ("intel_work_group_barrier_arrive", "ControlBarrierArriveINTEL", RELEASE),
          ("intel_work_group_barrier_wait", "ControlBarrierWaitINTEL", ACQUIRE))),
    Row("mem_fence", "void(cl_mem_fence_flags)", fence(ACQUIRE_RELEASE)),
    Row("read_mem_fence", "void(cl_mem_fence_flags)", fence(ACQUIRE)),
    Row("write_mem_fence", "void(cl_mem_fence_flags)", fence(RELEASE)),
    Row("atomic_work_item_fence", "void(cl_mem_fence_flags, memory_order, memory_scope)", work_item_fence),
)
