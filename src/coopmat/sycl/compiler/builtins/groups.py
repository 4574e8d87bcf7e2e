"""Group functions: barriers, broadcasts, reductions, scans, votes and shuffles (SYCL 4.17.3 and 4.17.4).

Integers of fewer than 32 bits, bools and bfloat16 pass through the instructions as int32, uint32 and float32: the
instructions of sub-groups take the narrow ones with extensions only.
"""

from __future__ import annotations

from dataclasses import replace

from coopmat.sycl import group_functions as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins import work_items
from coopmat.sycl.compiler.builtins.mathematics import number
from coopmat.sycl.compiler.builtins.python import maximum, minimum
from coopmat.sycl.compiler.calls import call_value
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.numbers import convert, expression, integer, truth, type_of
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.values import Group, Runtime, Sequence, Static, Value, shown_type
from coopmat.sycl.enumerations import memory_scope
from coopmat.sycl.group_functions import FunctionObject
from coopmat.tree import constants
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.conversions import make_convert
from coopmat.tree.operations import COMBINATIONS, EXCLUSIVE_SCAN, INCLUSIVE_SCAN, REDUCE, UNIFORM_OPERATIONS

_OPERATORS = (stubs.plus, stubs.multiplies, stubs.minimum, stubs.maximum, stubs.bit_and, stubs.bit_or, stubs.bit_xor,
              stubs.logical_and, stubs.logical_or)


# ------------------------------------------------------------------ arguments


def _group(call: CallSite, value: Value, sub_group_only: bool = False) -> Group:
    if not isinstance(value, Group) or (sub_group_only and value.dimensions):
        expected = "a sub_group (item.get_sub_group())"
        raise call.wrong("g", expected if sub_group_only else f"{expected} or a work-group (item.get_group())", value,
                         call.place(0))
    return value


def _value(call: CallSite, value: Value, parameter: str = "x", index: int = 1) -> tuple[n.Expression, t.Scalar]:
    """A number as the instructions take it, and its own type."""
    value = number(call, parameter, value, call.place(index))
    type_ = type_of(call.f, value, call.place(index))
    assert isinstance(type_, t.Scalar)
    return make_convert(expression(call.f, value, call.place(index)), _carrier(type_)), type_


def _carrier(type_: t.Scalar) -> t.Scalar:
    """The type in which the instructions have values of ``type_``."""
    if type_ == t.BFLOAT16:
        return t.FLOAT
    if type_.is_float or type_.bits >= 32:
        return type_
    return t.INT if type_.kind == "sint" else t.UINT


def _uint(call: CallSite, value: int) -> n.Constant:
    return n.Constant(t.UINT, call.f.location(call.node), value)


def _instruction(call: CallSite, name: str, type_: t.Type, group: Group, *operands: n.Expression,
                 literals: tuple[int, ...] = ()) -> n.Operation:
    scope = _uint(call, group.scope.value)
    return n.Operation(type_, call.f.location(call.node), f"core.{name}", (scope, *operands), literals)


# ------------------------------------------------------------------ barriers and broadcasts


def group_barrier(call: CallSite) -> Value:
    """OpControlBarrier."""
    bound = call.bind(stubs.group_barrier.signature)
    group = _group(call, bound["g"])
    fence = bound.get("fence_scope", Static(None))
    if isinstance(fence, Static) and fence.value is None:
        return work_items.barrier(call, group.scope, group.scope)
    if not isinstance(fence, Static) or not isinstance(fence.value, memory_scope):
        raise call.wrong("fence_scope", "a memory_scope", fence, call.place(1))
    return work_items.barrier(call, group.scope, fence.value.value)


def group_broadcast(call: CallSite) -> Value:
    """OpGroupBroadcast."""
    bound = call.bind(stubs.group_broadcast.signature)
    group = _group(call, bound["g"])
    value, type_ = _value(call, bound["x"])
    position = _position(call, group, bound.get("local_id", Static(0)))
    return Runtime(make_convert(_instruction(call, "GroupBroadcast", value.type, group, value, position), type_))


def _position(call: CallSite, group: Group, given: Value) -> n.Expression:
    """A local id as OpGroupBroadcast takes it: OpenCL's dimension 0 is the fastest, SYCL's the slowest."""
    f, node = call.f, call.place(2)
    if not group.dimensions:
        return integer(f, given, node, t.UINT)
    if isinstance(given, Sequence):
        if len(given.items) != group.dimensions:
            expected = "1 number" if group.dimensions == 1 else f"{group.dimensions} numbers"
            raise f.fail(messages.INDEX_COUNT, node, found="this local id", expected=expected, count=len(given.items))
        parts = [integer(f, part, node, t.SIZE_T) for part in reversed(given.items)]
    else:
        parts = _components(call, f.temporary(integer(f, given, node, t.SIZE_T), node), group.dimensions)
    return parts[0] if len(parts) == 1 else n.VectorOf(t.Vector(t.SIZE_T, len(parts)), f.location(node), tuple(parts))


def _components(call: CallSite, linear: Value, dimensions: int) -> list[n.Expression]:
    """The components of a linear id, OpenCL's dimension 0 first."""
    f, node, parts = call.f, call.node, []
    for dimension in range(dimensions - 1):
        extent = Runtime(n.WorkItemQuery(t.SIZE_T, f.location(node), "WorkgroupSize", _uint(call, dimension)))
        parts.append(expression(f, binary(f, "%", linear, extent, node), node))
        linear = binary(f, "/", linear, extent, node)
    return [*parts, expression(f, linear, node)]


# ------------------------------------------------------------------ reductions and scans


def reduce_over_group(call: CallSite) -> Value:
    """OpGroupIAdd and its like."""
    return _combine(call, REDUCE, init_first=True)


def exclusive_scan_over_group(call: CallSite) -> Value:
    """The same with the Group Operation ExclusiveScan."""
    return _combine(call, EXCLUSIVE_SCAN, init_first=True)


def inclusive_scan_over_group(call: CallSite) -> Value:
    """The same with the Group Operation InclusiveScan."""
    return _combine(call, INCLUSIVE_SCAN, init_first=False)


def _combine(call: CallSite, how: int, *, init_first: bool) -> Value:
    if call.named or not 3 <= len(call.arguments) <= 4:
        order = "init, op" if init_first else "op, init"
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature=f"(g, x, op) or (g, x, {order})",
                          reason=f"found {len(call.arguments) + len(call.named)} arguments")
    group, given, *rest = call.arguments
    init_at = 2 if init_first and len(rest) == 2 else 3
    init = call.arguments[init_at] if len(rest) == 2 else None
    function = _operator(call, rest[-1] if init_first else rest[0], len(call.arguments) - 1 if init_first else 2)
    group = _group(call, group)
    if not function.what:
        return _logical(call, group, function, how, given, init)
    value, type_ = _value(call, given)
    instruction = _combination(call, group, function, type_)
    result = make_convert(_instruction(call, instruction, value.type, group, value, literals=(how,)), value.type)
    if how == EXCLUSIVE_SCAN:
        result = _in_range(call, function, result, type_)
    result = make_convert(result, type_)
    if init is None:
        return Runtime(result)
    start, start_type = _value(call, init, "init", init_at)
    if isinstance(init, Static) and init.is_number:
        start_type = _type_of_constant(init.value, type_, start_type)
    first = Runtime(convert(call.f, start, start_type, call.node))
    combined = _apply(call, function, first, Runtime(result))
    return Runtime(expression(call.f, combined, call.node, start_type))


def _type_of_constant(number: int | float, type_: t.Scalar, own: t.Scalar) -> t.Scalar:
    """The type of a constant init: that of the values if it can hold it."""
    if type_.is_float:
        return type_
    return type_ if isinstance(number, int) and constants.wrap(number, type_) == number else own


def _operator(call: CallSite, value: Value, index: int) -> FunctionObject:
    if not isinstance(value, Static) or value.value not in _OPERATORS:
        raise call.wrong("op", ", ".join(map(str, _OPERATORS[:-1])) + f" or {_OPERATORS[-1]}", value, call.place(index))
    found: FunctionObject = value.value
    return found


def _combination(call: CallSite, group: Group, function: FunctionObject, type_: t.Scalar) -> str:
    """The instruction: of the uniform group where all devices have it, else the sub-group's non-uniform one, or that
    of SPV_KHR_uniform_group_instructions."""
    end = COMBINATIONS[function.what].get(_carrier(type_).kind)
    if end is None:
        raise call.f.fail(messages.NO_FUNCTION_FOR, call.place(1), name=f"{call.name} with {function}",
                          types=shown_type(type_), expected="it takes integers")
    if function.what in UNIFORM_OPERATIONS:
        return f"Group{end}"
    return f"Group{end}KHR" if group.dimensions else f"GroupNonUniform{end}"


def _in_range(call: CallSite, function: FunctionObject, result: n.Expression, type_: t.Scalar) -> n.Expression:
    """The identity of a signed minimum or maximum is an end of the wide type's range: it becomes the narrow one's."""
    if function.what not in ("min", "max") or type_.kind != "sint" or type_.bits >= 32:
        return result
    greatest = (1 << type_.bits - 1) - 1
    limit = greatest if function.what == "min" else -greatest - 1
    bound = n.Constant(result.type, result.location, limit)
    return n.Operation(result.type, result.location, f"std.s_{function.what}", (result, bound))


def _apply(call: CallSite, function: FunctionObject, first: Value, second: Value) -> Value:
    """``function(first, second)``."""
    if function.symbol:
        return binary(call.f, function.symbol, first, second, call.node)
    handler = minimum if function.what == "min" else maximum
    return handler(replace(call, arguments=[first, second]))


def _logical(call: CallSite, group: Group, function: FunctionObject, how: int, given: Value,
             init: Value | None) -> Value:
    """logical_and and logical_or: the least and the greatest of ones and zeros, which all devices have."""
    f, location = call.f, call.f.location(call.node)
    value = make_convert(truth(f, number(call, "x", given, call.place(1)), call.place(1)), t.UINT)
    name = "GroupUMin" if function is stubs.logical_and else "GroupUMax"
    result = make_convert(_instruction(call, name, t.UINT, group, value, literals=(how,)), t.BOOL)
    if init is not None:
        start = truth(f, number(call, "init", init, call.node), call.node)
        result = n.Binary(t.BOOL, location, n.BinaryOperator(function.symbol), start, result)
    return Runtime(result)


# ------------------------------------------------------------------ votes


def _vote(call: CallSite, instruction: str) -> n.Expression:
    bound = call.bind(stubs.any_of_group.signature)
    group = _group(call, bound["g"])
    value = number(call, "x", bound["x"], call.place(1))
    predicate = bound.get("pred")
    if predicate is not None:
        value = number(call, "pred", call_value(call.f, predicate, call.node, [value]), call.place(2))
    return _instruction(call, instruction, t.BOOL, group, truth(call.f, value, call.place(1)))


def any_of_group(call: CallSite) -> Value:
    """OpGroupAny."""
    return Runtime(_vote(call, "GroupAny"))


def all_of_group(call: CallSite) -> Value:
    """OpGroupAll."""
    return Runtime(_vote(call, "GroupAll"))


def none_of_group(call: CallSite) -> Value:
    """OpGroupAny, negated."""
    found = _vote(call, "GroupAny")
    return Runtime(n.Unary(t.BOOL, found.location, n.UnaryOperator.NOT, found))


# ------------------------------------------------------------------ shuffles

_SHUFFLES = {  # function: instruction, name of the last parameter
    "shift_group_left": ("GroupNonUniformShuffleDown", "delta"),
    "shift_group_right": ("GroupNonUniformShuffleUp", "delta"),
    "permute_group_by_xor": ("GroupNonUniformShuffleXor", "mask"),
    "select_from_group": ("GroupNonUniformShuffle", "remote_local_id"),
}
_METHODS = {"shuffle": "select_from_group", "shuffle_down": "shift_group_left", "shuffle_up": "shift_group_right",
            "shuffle_xor": "permute_group_by_xor"}
"""Methods that sub_group had before SYCL 2020 and the functions that took their place."""


def _shuffle(call: CallSite) -> Value:
    """The value of another work-item of the sub-group."""
    instruction, parameter = _SHUFFLES[call.name]
    bound = call.bind(getattr(stubs, call.name).signature)
    group = _group(call, bound["g"], sub_group_only=True)
    value, type_ = _value(call, bound["x"])
    position = bound.get(parameter, Static(1))
    if isinstance(position, Sequence) and len(position.items) == 1:
        position = position.items[0]
    index = integer(call.f, position, call.place(2), t.UINT)
    return Runtime(make_convert(_instruction(call, instruction, value.type, group, value, index), type_))


def _method(call: CallSite) -> Value:
    """``sg.shuffle(x, id)`` and its like."""
    assert call.receiver is not None
    return _shuffle(replace(call, name=_METHODS[call.name], arguments=[call.receiver, *call.arguments], receiver=None))


SUB_GROUP_METHODS: dict[str, CallHandler] = dict.fromkeys(_METHODS, _method)
DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "group_barrier": group_barrier, "group_broadcast": group_broadcast, "reduce_over_group": reduce_over_group,
    "exclusive_scan_over_group": exclusive_scan_over_group, "inclusive_scan_over_group": inclusive_scan_over_group,
    "any_of_group": any_of_group, "all_of_group": all_of_group, "none_of_group": none_of_group,
    **dict.fromkeys(_SHUFFLES, _shuffle),
}
