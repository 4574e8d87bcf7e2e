"""Atomic functions, C11's and the older ones (OpenCL C 6.15.12).

The older ones are relaxed. C11's take an order and a scope, which must be constants.
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.opencl.builtins.patterns import Build, BuiltinCall, Row
from coopmat.opencl.builtins.synchronization import checked, order_argument, scope_argument
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
    Unary,
    UnaryOperator,
    VariablePlace,
)
from coopmat.tree.operations import (
    ACQUIRE,
    ACQUIRE_RELEASE,
    FLOAT_READ_MODIFY_WRITE,
    READ_MODIFY_WRITE,
    RELAXED,
    RELEASE,
    SEQUENTIALLY_CONSISTENT,
    STORAGE_SEMANTICS,
    strengthened,
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
    ExecutionScope,
    Pointer,
    Scalar,
)


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
        scope = call.constant((ExecutionScope.WORKGROUP if local else ExecutionScope.DEVICE).value)
        orders = [call.constant(RELAXED)]
        if instruction == "AtomicCompareExchange":
            orders, values = orders * 2, values[::-1]
        return call.operation(f"core.{instruction}", pointer, scope, *orders, *values)
    return build


def atomic(instruction: str, operands: int, forbidden: tuple[int, ...] = ()) -> Build:
    """A C11 atomic function: an object, ``operands`` values, and perhaps an order and a scope."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        order = order_argument(call, 1 + operands, SEQUENTIALLY_CONSISTENT, forbidden)
        scope = scope_argument(call, 2 + operands, ExecutionScope.DEVICE)
        return call.operation(f"core.{instruction}", call.arguments[0], scope, _semantics(call, order),
                              *call.arguments[1:1 + operands])
    return build


@checked
def atomic_difference(call: BuiltinCall) -> Expression:
    """atomic_fetch_sub of floating-point numbers, for which there is an addition only."""
    pointer, value, *rest = call.arguments
    negative = Unary(value.type, call.location, UnaryOperator.NEGATE, value)
    return atomic(FLOAT_READ_MODIFY_WRITE["add"], 1)(replace(call, arguments=(pointer, negative, *rest)))


def initialize(call: BuiltinCall) -> Expression:
    """atomic_init: a store that nobody else can see yet."""
    pointer, value = call.arguments
    scope = call.constant(ExecutionScope.INVOCATION.value)
    return call.operation("core.AtomicStore", pointer, scope, call.constant(RELAXED), value)


@checked
def compare_exchange(call: BuiltinCall) -> Expression:
    """Exchange if the object equals ``*expected``; otherwise ``*expected`` gets the object's value.

    The instruction compares integers, and C11 compares representations, so floating values are
    exchanged as integers.
    """
    failure = order_argument(call, 4, SEQUENTIALLY_CONSISTENT, (RELEASE, ACQUIRE_RELEASE))
    success = strengthened(order_argument(call, 3, SEQUENTIALLY_CONSISTENT), failure)
    scope = scope_argument(call, 5, ExecutionScope.DEVICE)
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
WIDE_INTEGERS = (LONG, ULONG)
ATOMIC_INTEGERS = LEGACY_INTEGERS + WIDE_INTEGERS
ATOMIC_TYPES = (*ATOMIC_INTEGERS, FLOAT, DOUBLE)

_BASE = {  # name: instruction, values besides the pointer
    "add": ("AtomicIAdd", 1), "sub": ("AtomicISub", 1), "xchg": ("AtomicExchange", 1), "inc": ("AtomicIIncrement", 0),
    "dec": ("AtomicIDecrement", 0), "cmpxchg": ("AtomicCompareExchange", 2),
}
_EXTENDED = {name: (instruction, 1) for name, instruction in READ_MODIFY_WRITE.items() if name not in _BASE}


def _legacy(prefix: str, functions: dict[str, tuple[str, int]], domain: tuple[Scalar, ...],
            needs: tuple[str, ...] = ()) -> tuple[Row, ...]:
    """Functions of OpenCL 1.x of one prefix, on global and local memory."""
    return tuple(Row(f"{prefix}_{name}", f"gen(shared volatile gen*{', gen' * values})", legacy_atomic(instruction),
                     domain, (1,), needs)
                 for name, (instruction, values) in functions.items())


def _with_orders(name: str, result: str, parameters: str, build: Build, domain: tuple[Scalar, ...],
                 orders: str = "memory_order", needs: tuple[str, ...] = ()) -> tuple[Row, ...]:
    """A C11 function in its plain form and in its two ``_explicit`` forms."""
    forms = ((name, parameters), (f"{name}_explicit", f"{parameters}, {orders}"),
             (f"{name}_explicit", f"{parameters}, {orders}, memory_scope"))
    return tuple(Row(form, f"{result}({given})", build, domain, (1,), needs) for form, given in forms)


_OBJECT = "any volatile gen*"

LONG_ATOMICS = (*_legacy("atom", _BASE, WIDE_INTEGERS, ("cl_khr_int64_base_atomics",)),
                *_legacy("atom", _EXTENDED, WIDE_INTEGERS, ("cl_khr_int64_extended_atomics",)))
"""The functions of two extensions, on long and ulong."""

LEGACY_ATOMICS = (
    *(row for prefix in ("atomic", "atom") for row in _legacy(prefix, _BASE | _EXTENDED, LEGACY_INTEGERS)),
    *_legacy("atomic", {"xchg": _BASE["xchg"]}, (FLOAT,)),
    *LONG_ATOMICS,
)
"""OpenCL C 6.15.12.8; with the prefix atom, those of OpenCL 1.0's extensions."""

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
    *(row for name, instruction in READ_MODIFY_WRITE.items()
      for row in _with_orders(f"atomic_fetch_{name}", "gen", f"{_OBJECT}, gen", atomic(instruction, 1),
                              ATOMIC_INTEGERS)),
    *_with_orders("atomic_flag_test_and_set", "bool", "any volatile atomic_flag*",
                  atomic("AtomicFlagTestAndSet", 0), ()),
    *_with_orders("atomic_flag_clear", "void", "any volatile atomic_flag*",
                  atomic("AtomicFlagClear", 0, (ACQUIRE, ACQUIRE_RELEASE)), ()),
)
"""OpenCL C 6.15.12.7."""

FLOAT_ATOMICS = tuple(
    row for name, build in (*((name, atomic(instruction, 1)) for name, instruction in FLOAT_READ_MODIFY_WRITE.items()),
                            ("sub", atomic_difference))
    for row in _with_orders(f"atomic_fetch_{name}", "gen", f"{_OBJECT}, gen", build, (FLOAT, DOUBLE),
                            needs=("cl_ext_float_atomics",)))
"""cl_ext_float_atomics, except for half."""

ROWS = (*LEGACY_ATOMICS, *ATOMICS, *FLOAT_ATOMICS)
