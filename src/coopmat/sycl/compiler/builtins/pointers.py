"""Pointers made in a kernel: address_space_cast, multi_ptr and annotated_ptr."""

from __future__ import annotations

from typing import Any

from coopmat.sycl import constraints
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins.matrix_memory import pointer_argument
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.values import Runtime, Static, Value
from coopmat.sycl.enumerations import address_space, decorated
from coopmat.sycl.pointers import annotated_ptr, cache_hints
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def address_space_cast(call: CallSite) -> Value:
    """The same pointer, moved out of the generic address space where it is in that."""
    template = [*call.template, decorated.no][:2]
    if len(call.template) not in (1, 2) or not isinstance(template[0], address_space) \
            or not isinstance(template[1], decorated):
        raise call.f.fail(messages.TEMPLATE_ARGUMENTS, call.node.func, name=call.name,
                          expected="an address space and access.decorated.no or .yes",
                          found=", ".join(map(str, call.template)) or "none")
    if len(call.arguments) != 1 or call.named:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature="[…](pointer)",
                          reason=f"it takes one pointer, found {len(call.arguments)} arguments")
    value, pointer = pointer_argument(call, call.arguments[0], "pointer", 0)
    space = template[0]
    if pointer.space is space:
        return value
    if address_space.generic_space not in (pointer.space, space):
        raise call.f.fail(messages.NOT_CONVERTIBLE, call.place(0), found=value, type=f"a pointer to {space}")
    assert isinstance(value.type, t.Pointer)
    moved = t.Pointer(value.type.pointee, space.value, value.type.const)
    return Runtime(n.CastAddressSpace(moved, call.f.location(call.node), value.expression), value.hints)


def _annotated(call: CallSite) -> Value:
    """``annotated_ptr(p, properties(...))``: the pointer with cache hints."""
    if not 1 <= len(call.arguments) <= 2 or call.named:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name="annotated_ptr", signature="(pointer, properties(…))",
                          reason=f"found {len(call.arguments)} arguments")
    value, _ = pointer_argument(call, call.arguments[0], "pointer", 0)
    if len(call.arguments) == 1:
        return value
    given = call.arguments[1]
    if not isinstance(given, Static):
        raise call.f.fail(constraints.NOT_A_POINTER, call.place(1), name="annotated_ptr", parameter="properties",
                          found=given)
    with call.f.host_errors_at(call.place(1)):
        return Runtime(value.expression, cache_hints(given.value))


PYTHON_FUNCTIONS: dict[Any, CallHandler] = {annotated_ptr: _annotated}
DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "address_space_cast": address_space_cast,
}
