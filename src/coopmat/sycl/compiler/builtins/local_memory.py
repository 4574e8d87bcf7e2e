"""group_local_memory_for_overwrite: arrays in local memory that a kernel declares."""

from __future__ import annotations

import ast
import math

from coopmat.runtime.element_types import element_type, precision
from coopmat.runtime.ranges import MAX_DIMENSIONS
from coopmat.sycl import local_memory as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import CallHandler, CallSite, Compiler, OperatorHandler
from coopmat.sycl.compiler.operators import binary
from coopmat.sycl.compiler.values import Group, LocalArray, Runtime, Value
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t

UNNAMED = "local"
_LIMIT = 1 << 32
_EXPECTED = f"an element type and up to {MAX_DIMENSIONS} positive sizes, such as [float32, 16, 16]"


def group_local_memory_for_overwrite(call: CallSite) -> Value:
    """A variable of the work-group, and the address of its first element."""
    f, location = call.f, call.f.location(call.node)
    given = call.bind(stubs.group_local_memory_for_overwrite.signature)["g"]
    if not isinstance(given, Group) or not given.dimensions:
        raise call.wrong("g", "a work-group (item.get_group())", given, call.place(0))
    first, *shape = call.template or (None,)
    element = first if isinstance(first, VectorType) else element_type(first)
    if element is None or element == precision.tf32 or len(shape) > MAX_DIMENSIONS or not all(map(_is_size, shape)):
        raise f.fail(messages.TEMPLATE_ARGUMENTS, call.node.func, name=call.name, expected=_EXPECTED,
                     found=", ".join(map(str, call.template)) or "none")
    shape = shape or [1]
    count = math.prod(shape)
    octets = count * element.nbytes
    if octets >= _LIMIT:
        raise f.fail(messages.LOCAL_TOO_LARGE, call.node, octets=octets, limit=_LIMIT)
    type_ = t.Array(element.type, count)
    variable = n.Variable(UNNAMED, type_, location, t.AddressSpace.LOCAL)
    f.emit(n.Declare(location, variable))
    whole = n.VariablePlace(type_, location, variable)
    place = n.ElementPlace(element.type, location, whole, n.Constant(t.INT, location, 0))
    pointer = n.AddressOf(t.Pointer(element.type, t.AddressSpace.LOCAL), location, place)
    return LocalArray(pointer, tuple(shape))


def give_name(value: Value, name: str) -> None:
    """Call a new array as the variable is called that it is assigned to, or that a pointer to it is: messages and
    debuggers show that name."""
    pointer = value.expression if isinstance(value, Runtime) else getattr(value, "pointer", None)
    place = pointer.place if isinstance(pointer, n.AddressOf) else None
    whole = place.base if isinstance(place, n.ElementPlace) else None
    if isinstance(whole, n.VariablePlace) and whole.variable.name == UNNAMED:
        whole.variable.name = name


def _operator(f: Compiler, symbol: str, operands: list[Value], node: ast.expr | ast.stmt) -> Value:
    """``tile + n``: an array of one dimension is a pointer to its first element, as in C++."""
    array = next(operand for operand in operands if isinstance(operand, LocalArray))
    hint = "; get_multi_ptr() gives a pointer to its first element"
    if len(operands) == 1:
        raise f.fail(messages.INVALID_OPERAND, node, operator=symbol, found=array, hint=hint)
    if symbol not in ("+", "-") or len(array.shape) > 1:
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=operands[0], right=operands[1], hint=hint)
    left, right = (Runtime(one.pointer) if isinstance(one, LocalArray) else one for one in operands)
    return binary(f, symbol, left, right, node)


OPERATORS: dict[type[Value], OperatorHandler] = {LocalArray: _operator}


def _is_size(extent: object) -> bool:
    return isinstance(extent, int) and not isinstance(extent, bool) and extent > 0


DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "group_local_memory_for_overwrite": group_local_memory_for_overwrite,
}
