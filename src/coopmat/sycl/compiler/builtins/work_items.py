"""Methods of nd_item, group, sub_group and pointers (SYCL 4.9.1).

SYCL's last dimension is the fastest, OpenCL's dimension 0 is: dimension d of D is OpenCL's D-1-d.
"""

from __future__ import annotations

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.calls import constant_argument
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.numbers import integer
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.values import (
    Group,
    Item,
    LocalArray,
    Nothing,
    Runtime,
    Sequence,
    Static,
    Value,
)
from coopmat.sycl.enumerations import fence_space, memory_scope
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.operations import SEQUENTIALLY_CONSISTENT

_BY_DIMENSION = {  # method: BuiltIn, value outside of the dimensions
    "get_global_id": "GlobalInvocationId", "get_local_id": "LocalInvocationId", "get_group": "WorkgroupId",
    "get_group_id": "WorkgroupId", "get_global_range": "GlobalSize", "get_local_range": "WorkgroupSize",
    "get_group_range": "NumWorkgroups", "get_offset": "GlobalOffset", "get_max_local_range": "WorkgroupSize",
}
_LINEAR = {"get_global_linear_id": "GlobalLinearId", "get_local_linear_id": "LocalInvocationIndex"}
_OF_SUB_GROUP = {
    "get_local_id": "SubgroupLocalInvocationId", "get_local_linear_id": "SubgroupLocalInvocationId",
    "get_local_range": "SubgroupSize", "get_local_linear_range": "SubgroupSize",
    "get_max_local_range": "SubgroupMaxSize", "get_group_id": "SubgroupId", "get_group_linear_id": "SubgroupId",
    "get_group_range": "NumSubgroups", "get_group_linear_range": "NumSubgroups",
}
_ITEM_METHODS = ("get_global_id", "get_local_id", "get_group", "get_global_range", "get_local_range",
                 "get_group_range", "get_offset", "get_global_linear_id", "get_local_linear_id",
                 "get_group_linear_id", "get_sub_group", "barrier")
_GROUP_METHODS = ("get_group_id", "get_local_id", "get_local_range", "get_group_range", "get_max_local_range",
                  "get_local_linear_id", "get_group_linear_id", "get_local_linear_range", "get_group_linear_range",
                  "leader")
SUB_GROUP_METHODS: dict[str, CallHandler] = {}
"""Methods of a sub-group that are functions of groups, too."""


def no_method(call: CallSite, known: tuple[str, ...]) -> Exception:
    import difflib

    close = difflib.get_close_matches(call.name, known, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(known)}"
    return call.f.fail(messages.NO_ATTRIBUTE, call.node.func, found=call.receiver, name=call.name, hint=hint)


def _item(call: CallSite) -> Value:
    item = call.receiver
    assert isinstance(item, Item)
    if call.name not in _ITEM_METHODS:
        raise no_method(call, _ITEM_METHODS)
    if call.name == "barrier":
        return _barrier(call, t.ExecutionScope.WORKGROUP)
    if call.name == "get_group" and not call.arguments:
        return Group(item.dimensions)
    if call.name == "get_sub_group":
        _no_arguments(call)
        return Group()
    if call.name == "get_group_linear_id":
        return _group_linear_id(call, item.dimensions)
    if call.name in _LINEAR:
        _no_arguments(call)
        return query(call, _LINEAR[call.name], t.SIZE_T)
    return by_dimension(call, _BY_DIMENSION[call.name], item.dimensions)


def _no_arguments(call: CallSite) -> None:
    if call.arguments or call.named:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="()",
                          reason="it takes no arguments")


def query(call: CallSite, builtin: str, type_: t.Scalar) -> Runtime:
    """The value of a scalar built-in."""
    return Runtime(n.WorkItemQuery(type_, call.f.location(call.node), builtin))


def by_dimension(call: CallSite, builtin: str, dimensions: int) -> Value:
    """``get_global_id(d)``; without d, a tuple of all dimensions."""
    if len(call.arguments) > 1 or call.named:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="(dimension)",
                          reason=f"it takes a dimension, found {len(call.arguments) + len(call.named)} arguments")
    if not call.arguments:
        return Sequence(tuple(_of(call, builtin, dimensions, Static(d)) for d in range(dimensions)), False)
    return _of(call, builtin, dimensions, call.arguments[0])


def _of(call: CallSite, builtin: str, dimensions: int, dimension: Value) -> Runtime:
    f, place = call.f, call.place(0)
    location = f.location(call.node)
    if isinstance(dimension, Static):
        number = constant_argument(call, dimension, "the dimension", place)
        if not 0 <= number < dimensions:
            raise f.fail(messages.INDEX_OUT_OF_RANGE, place, index=number, found=f"the {dimensions} dimensions of "
                                                                                   f"{call.receiver}")
        return Runtime(n.WorkItemQuery(t.SIZE_T, location, builtin,
                                       n.Constant(t.UINT, location, dimensions - 1 - number)))
    last = n.Constant(t.UINT, location, dimensions - 1)
    given = integer(f, dimension, place, t.UINT)
    swapped = n.Binary(t.UINT, location, n.BinaryOperator.SUBTRACT, last, given)
    outside = 1 if builtin in ("GlobalSize", "WorkgroupSize", "NumWorkgroups") else 0
    return Runtime(n.WorkItemQuery(t.SIZE_T, location, builtin, swapped, outside))


def _group_linear_id(call: CallSite, dimensions: int) -> Value:
    """Row-major over the groups, the last dimension the fastest."""
    _no_arguments(call)
    result: Value = _of(call, "WorkgroupId", dimensions, Static(0))
    for dimension in range(1, dimensions):
        extent = _of(call, "NumWorkgroups", dimensions, Static(dimension))
        result = binary(call.f, "*", result, extent, call.node)
        result = binary(call.f, "+", result, _of(call, "WorkgroupId", dimensions, Static(dimension)), call.node)
    return result


def _product(call: CallSite, builtin: str, dimensions: int) -> Value:
    _no_arguments(call)
    result: Value = _of(call, builtin, dimensions, Static(0))
    for dimension in range(1, dimensions):
        result = binary(call.f, "*", result, _of(call, builtin, dimensions, Static(dimension)), call.node)
    return result


def _barrier(call: CallSite, scope: t.ExecutionScope) -> Value:
    """``item.barrier()``, or with the memory that it orders; also of a sub_group."""
    space = call.arguments[0] if call.arguments else Static(fence_space.global_and_local)
    is_known = isinstance(space, Static) and isinstance(space.value, fence_space)
    if len(call.arguments) > 1 or call.named or not is_known:
        raise call.wrong("access_space", "fence_space.local_space, .global_space or .global_and_local", space)
    assert isinstance(space, Static)
    return barrier(call, scope, scope, space.value.value)


def barrier(call: CallSite, execution: t.ExecutionScope, memory: t.ExecutionScope, storage: int = 0x300) -> Nothing:
    """A barrier that orders the accesses to ``storage`` (Memory Semantics bits)."""
    location = call.f.location(call.node)
    operands = (execution.value, memory.value, storage | SEQUENTIALLY_CONSISTENT)
    arguments = tuple(n.Constant(t.UINT, location, value) for value in operands)
    return Nothing(n.Operation(t.VOID, location, "core.ControlBarrier", arguments))


def _group(call: CallSite) -> Value:
    group = call.receiver
    assert isinstance(group, Group)
    if not group.dimensions:
        return _sub_group(call)
    if call.name not in _GROUP_METHODS:
        raise no_method(call, _GROUP_METHODS)
    if call.name == "leader":
        return _is_zero(call, query(call, "LocalInvocationIndex", t.SIZE_T))
    if call.name == "get_group_linear_id":
        return _group_linear_id(call, group.dimensions)
    if call.name == "get_local_linear_range":
        return _product(call, "WorkgroupSize", group.dimensions)
    if call.name == "get_group_linear_range":
        return _product(call, "NumWorkgroups", group.dimensions)
    if call.name in _LINEAR:
        _no_arguments(call)
        return query(call, _LINEAR[call.name], t.SIZE_T)
    return by_dimension(call, _BY_DIMENSION[call.name], group.dimensions)


def _sub_group(call: CallSite) -> Value:
    if call.name == "leader":
        return _is_zero(call, query(call, "SubgroupLocalInvocationId", t.UINT))
    if call.name == "barrier":
        return _barrier(call, t.ExecutionScope.SUBGROUP)
    others = call.f.unit.handlers.sub_group_methods
    if call.name in others:
        return others[call.name](call)
    if call.name not in _OF_SUB_GROUP:
        raise no_method(call, (*_OF_SUB_GROUP, "leader", "barrier", *others))
    for argument in call.arguments:
        if constant_argument(call, argument, "the dimension", call.place(0)) != 0:
            raise call.f.fail(messages.INDEX_OUT_OF_RANGE, call.place(0), index=1, found="a sub_group's one dimension")
    return query(call, _OF_SUB_GROUP[call.name], t.UINT)


def _is_zero(call: CallSite, value: Runtime) -> Value:
    _no_arguments(call)
    return binary(call.f, "==", value, Static(0), call.node)


def of_value(call: CallSite) -> Value:
    """``multi_ptr.get()`` and its like give the pointer; a one-dimensional id is its only component."""
    value = call.receiver
    assert isinstance(value, Runtime)
    names = ("get", "get_raw", "get_decorated") if isinstance(value.type, t.Pointer) else ("get",)
    if call.name not in names:
        raise no_method(call, names)
    if isinstance(value.type, t.Pointer):
        _no_arguments(call)
    return value


def of_tuple(call: CallSite) -> Value:
    """``id.get(d)``, ``range.size()``."""
    value = call.receiver
    assert isinstance(value, Sequence)
    if call.name == "get" and len(call.arguments) == 1:
        index = constant_argument(call, call.arguments[0], "the dimension", call.place(0))
        if not 0 <= index < len(value.items):
            raise call.f.fail(messages.INDEX_OUT_OF_RANGE, call.place(0), index=index, found=value)
        return value.items[index]
    if call.name == "size" and not value.is_list:
        result: Value = Static(1)
        for item in value.items:
            result = binary(call.f, "*", item, result, call.node)
        return result
    raise call.f.fail(messages.NO_ATTRIBUTE, call.node.func, found=value, name=call.name,
                      hint="; a list in a kernel has a constant length: make it with [… for … in range(n)]")


def _of_local_array(call: CallSite) -> Value:
    """``local_accessor.get_multi_ptr()`` and its like."""
    value = call.receiver
    assert isinstance(value, LocalArray)
    if call.name not in ("get_multi_ptr", "get_pointer"):
        raise no_method(call, ("get_multi_ptr", "get_pointer"))
    _no_arguments(call)
    return Runtime(value.pointer)


METHODS: dict[type[Value], CallHandler] = {Item: _item, Group: _group, LocalArray: _of_local_array}
__all__ = ["barrier", "by_dimension", "memory_scope", "query"]
