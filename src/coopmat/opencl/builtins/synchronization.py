"""Barriers, fences and atomic functions (OpenCL C 6.15.8, 6.15.9 and 6.15.12), with their memory semantics.

Orders, scopes and fence flags become SPIR-V's Memory Semantics and Scope, so they must be constants.
"""

from __future__ import annotations

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.opencl.builtins.predefined_types import ENUM_CONSTANTS, MEMORY_ORDER
from coopmat.opencl.messages import builtins as messages
from coopmat.tree.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Bitcast,
    Comma,
    Conditional,
    Constant,
    Dereference,
    Expression,
    Load,
    VariablePlace,
)
from coopmat.tree.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    AddressSpace,
    Pointer,
    Scalar,
    Scope,
)

# ------------------------------------------------------------------ scopes, orders and flags

SCOPES = {0: Scope.INVOCATION, 1: Scope.WORKGROUP, 2: Scope.DEVICE, 3: Scope.CROSS_DEVICE, 4: Scope.SUBGROUP}
"""The values of memory_scope."""

RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIALLY_CONSISTENT = 0, 0x2, 0x4, 0x8, 0x10
ORDERS = {0: RELAXED, 2: ACQUIRE, 3: RELEASE, 4: ACQUIRE_RELEASE, 5: SEQUENTIALLY_CONSISTENT}
"""The values of memory_order, as bits of Memory Semantics."""

FENCES = {1: 0x100, 2: 0x200, 4: 0x800}
"""The cl_mem_fence_flags, as bits of Memory Semantics: Workgroup, CrossWorkgroup and Image memory."""

STORAGE_SEMANTICS = {
    AddressSpace.GLOBAL: 0x200, AddressSpace.LOCAL: 0x100, AddressSpace.GENERIC: 0x300, AddressSpace.PRIVATE: 0,
}
"""The Memory Semantics bits of the memory in which an atomic object lies."""


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


def _choice(call: BuiltinCall, index: int, what: str, values: dict[int, int] | dict[int, Scope]) -> int:
    """The SPIR-V value for a constant argument of an enumeration type."""
    value = constant_argument(call, index, what)
    if value not in values:
        call.context.report(messages.INVALID_ENUM_VALUE, call.arguments[index].location, what=what, value=value,
                            name=call.overload.name)
        raise Reported
    chosen = values[value]
    return chosen.value if isinstance(chosen, Scope) else chosen


def _scope(call: BuiltinCall, index: int, default: Scope) -> Constant:
    """The memory scope argument at ``index``, or the default if it is absent."""
    present = index < len(call.arguments)
    return call.constant(_choice(call, index, "memory_scope", SCOPES) if present else default.value)


def _order(call: BuiltinCall, index: int, default: int, forbidden: tuple[int, ...] = ()) -> int:
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


def barrier(execution: Scope) -> Build:
    """A control barrier; it orders memory accesses if there are fence flags."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        storage = _fence_bits(call, 0)
        semantics = storage | SEQUENTIALLY_CONSISTENT if storage else 0
        return call.operation("core.ControlBarrier", call.constant(execution.value), _scope(call, 1, execution),
                              call.constant(semantics))
    return build


def split_barrier(instruction: str, order: int) -> Build:
    """One half of a work-group barrier (cl_intel_split_work_group_barrier)."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        storage = _fence_bits(call, 0)
        return call.operation(f"core.{instruction}", call.constant(Scope.WORKGROUP.value),
                              _scope(call, 1, Scope.WORKGROUP), call.constant(storage | order if storage else 0))
    return build


def fence(order: int) -> Build:
    """mem_fence and its like order the accesses of this work-item as seen in its work-group."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        semantics = _fence_bits(call, 0) | order
        return call.operation("core.MemoryBarrier", call.constant(Scope.WORKGROUP.value), call.constant(semantics))
    return build


@checked
def work_item_fence(call: BuiltinCall) -> Expression:
    """atomic_work_item_fence(flags, order, scope)."""
    semantics = _fence_bits(call, 0) | _order(call, 1, RELAXED)
    return call.operation("core.MemoryBarrier", _scope(call, 2, Scope.DEVICE), call.constant(semantics))


SPLIT_BARRIER = ("cl_intel_split_work_group_barrier",)

SYNCHRONIZATION = (
    Row("barrier", "void(cl_mem_fence_flags)", barrier(Scope.WORKGROUP)),
    Row("work_group_barrier", "void(cl_mem_fence_flags)", barrier(Scope.WORKGROUP)),
    Row("work_group_barrier", "void(cl_mem_fence_flags, memory_scope)", barrier(Scope.WORKGROUP)),
    Row("sub_group_barrier", "void(cl_mem_fence_flags)", barrier(Scope.SUBGROUP)),
    Row("sub_group_barrier", "void(cl_mem_fence_flags, memory_scope)", barrier(Scope.SUBGROUP)),
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

# ------------------------------------------------------------------ atomics


def _semantics(call: BuiltinCall, order: int) -> Constant:
    """Memory semantics of an access through the first argument; a relaxed access orders nothing."""
    pointer = call.arguments[0].type
    assert isinstance(pointer, Pointer)
    return call.constant(order | STORAGE_SEMANTICS[pointer.address_space] if order else 0)


def legacy_atomic(instruction: str) -> Build:
    """An OpenCL 1.x atomic function: relaxed, visible where its memory is shared."""
    def build(call: BuiltinCall) -> Expression:
        pointer, *values = call.arguments
        assert isinstance(pointer.type, Pointer)
        local = pointer.type.address_space is AddressSpace.LOCAL
        scope = call.constant((Scope.WORKGROUP if local else Scope.DEVICE).value)
        orders = [call.constant(RELAXED)]
        if instruction == "AtomicCompareExchange":
            orders, values = orders * 2, values[::-1]
        return call.operation(f"core.{instruction}", pointer, scope, *orders, *values)
    return build


def atomic(instruction: str, operands: int, forbidden: tuple[int, ...] = ()) -> Build:
    """A C11 atomic function: an object, ``operands`` values, and perhaps an order and a scope."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        order = _order(call, 1 + operands, SEQUENTIALLY_CONSISTENT, forbidden)
        scope = _scope(call, 2 + operands, Scope.DEVICE)
        return call.operation(f"core.{instruction}", call.arguments[0], scope, _semantics(call, order),
                              *call.arguments[1:1 + operands])
    return build


def initialize(call: BuiltinCall) -> Expression:
    """atomic_init: a store that nobody else can see yet."""
    pointer, value = call.arguments
    scope = call.constant(Scope.INVOCATION.value)
    return call.operation("core.AtomicStore", pointer, scope, call.constant(RELAXED), value)


@checked
def compare_exchange(call: BuiltinCall) -> Expression:
    """Exchange if the object equals ``*expected``; otherwise ``*expected`` gets the object's value.

    The instruction compares integers, and C11 compares representations, so floating values are
    exchanged as integers.
    """
    success = _order(call, 3, SEQUENTIALLY_CONSISTENT)
    failure = _order(call, 4, SEQUENTIALLY_CONSISTENT, (RELEASE, ACQUIRE_RELEASE))
    scope = _scope(call, 5, Scope.DEVICE)
    element = call.overload.element
    assert element is not None
    integer = Scalar("uint", element.bits) if element.is_float else element
    pointer, expected_pointer, desired = (_as_integer(argument, integer) for argument in call.arguments[:3])
    context, location = call.context, call.location
    if context.at_file_scope:
        return context.error(messages.NOT_AT_FILE_SCOPE, location, name=call.overload.name)
    assert isinstance(expected_pointer.type, Pointer)

    target = VariablePlace(expected_pointer.type, location, context.temporary(expected_pointer.type, location))
    comparator, found = (VariablePlace(integer, location, context.temporary(integer, location)) for _ in range(2))
    expected = Dereference(integer, location, Load(target.type, location, target))
    exchange = call.operation("core.AtomicCompareExchange", pointer, scope, _semantics(call, success),
                              _semantics(call, failure), desired, Load(integer, location, comparator),
                              type_=integer)
    exchanged = Binary(BOOL, location, BinaryOperator.EQUAL, Load(integer, location, found),
                       Load(integer, location, comparator))
    failed = Comma(BOOL, location, Assign(integer, location, expected, Load(integer, location, found)),
                   Constant(BOOL, location, False))
    steps = (Assign(target.type, location, target, expected_pointer),
             Assign(integer, location, comparator, Load(integer, location, expected)),
             Assign(integer, location, found, exchange))
    result: Expression = Conditional(BOOL, location, exchanged, Constant(BOOL, location, True), failed)
    for step in reversed(steps):
        result = Comma(BOOL, location, step, result)
    return result


def _as_integer(argument: Expression, integer: Scalar) -> Expression:
    """A pointer to an integer of the same width, or the value's bits."""
    type_ = argument.type
    if isinstance(type_, Pointer):
        wanted: Pointer | Scalar = Pointer(integer, type_.address_space, type_.const, type_.volatile)
    else:
        wanted = integer
    return argument if wanted == type_ else Bitcast(wanted, argument.location, argument)


LEGACY_INTEGERS = (INT, UINT)
ATOM_INTEGERS = (INT, UINT, LONG, ULONG)
ATOMIC_TYPES = (*ATOM_INTEGERS, FLOAT, DOUBLE)

_READ_MODIFY_WRITE = {
    "add": "AtomicIAdd", "sub": "AtomicISub", "min": "Atomic{SIGN}Min", "max": "Atomic{SIGN}Max",
    "and": "AtomicAnd", "or": "AtomicOr", "xor": "AtomicXor",
}


def _legacy_rows() -> tuple[Row, ...]:
    """atomic_… on int and uint, atom_… on long and ulong too; atomic_xchg also on float."""
    rows: list[Row] = []
    for prefix, domain in (("atomic", LEGACY_INTEGERS), ("atom", ATOM_INTEGERS)):
        pointer = "shared volatile gen*"
        rows += [Row(f"{prefix}_{name}", f"gen({pointer}, gen)", legacy_atomic(instruction), domain, (1,))
                 for name, instruction in _READ_MODIFY_WRITE.items()]
        rows += [Row(f"{prefix}_inc", f"gen({pointer})", legacy_atomic("AtomicIIncrement"), domain, (1,)),
                 Row(f"{prefix}_dec", f"gen({pointer})", legacy_atomic("AtomicIDecrement"), domain, (1,)),
                 Row(f"{prefix}_xchg", f"gen({pointer}, gen)", legacy_atomic("AtomicExchange"),
                     (*domain, FLOAT) if prefix == "atomic" else domain, (1,)),
                 Row(f"{prefix}_cmpxchg", f"gen({pointer}, gen, gen)", legacy_atomic("AtomicCompareExchange"),
                     domain, (1,))]
    return tuple(rows)


def _with_orders(name: str, result: str, parameters: str, build: Build, domain: tuple[Scalar, ...],
                 orders: str = "memory_order") -> tuple[Row, ...]:
    """A C11 function in its plain form and in its two ``_explicit`` forms."""
    counts = (1,)
    return (Row(name, f"{result}({parameters})", build, domain, counts),
            Row(f"{name}_explicit", f"{result}({parameters}, {orders})", build, domain, counts),
            Row(f"{name}_explicit", f"{result}({parameters}, {orders}, memory_scope)", build, domain, counts))


_OBJECT = "any volatile gen*"

LEGACY_ATOMICS = _legacy_rows()
"""OpenCL C 6.15.12.8 and the cl_khr_int64_base_atomics and _extended_atomics functions."""

ATOMICS = (
    Row("atomic_init", f"void({_OBJECT}, gen)", initialize, ATOMIC_TYPES, (1,)),
    *_with_orders("atomic_store", "void", f"{_OBJECT}, gen",
                  atomic("AtomicStore", 1, (ACQUIRE, ACQUIRE_RELEASE)), ATOMIC_TYPES),
    *_with_orders("atomic_load", "gen", _OBJECT,
                  atomic("AtomicLoad", 0, (RELEASE, ACQUIRE_RELEASE)), ATOMIC_TYPES),
    *_with_orders("atomic_exchange", "gen", f"{_OBJECT}, gen", atomic("AtomicExchange", 1), ATOMIC_TYPES),
    *(row for strength in ("strong", "weak")
      for row in _with_orders(f"atomic_compare_exchange_{strength}", "bool", f"{_OBJECT}, any gen*, gen",
                              compare_exchange, ATOMIC_TYPES, "memory_order, memory_order")),
    *(row for name, instruction in _READ_MODIFY_WRITE.items()
      for row in _with_orders(f"atomic_fetch_{name}", "gen", f"{_OBJECT}, gen", atomic(instruction, 1),
                              ATOM_INTEGERS)),
    *_with_orders("atomic_flag_test_and_set", "bool", "any volatile atomic_flag*",
                  atomic("AtomicFlagTestAndSet", 0), ()),
    *_with_orders("atomic_flag_clear", "void", "any volatile atomic_flag*",
                  atomic("AtomicFlagClear", 0, (ACQUIRE, ACQUIRE_RELEASE)), ()),
)
"""OpenCL C 6.15.12.7."""

ROWS = (*SYNCHRONIZATION, *LEGACY_ATOMICS, *ATOMICS)
