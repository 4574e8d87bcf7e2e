"""Methods of vectors (SYCL 4.14.2.1), and the same bits as another type: bit_cast and reinterpret_cast."""

from __future__ import annotations

from coopmat.runtime.element_types import ElementType, element_type
from coopmat.sycl import pointer_functions as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins import work_items
from coopmat.sycl.compiler.builtins.matrix_memory import pointer_argument
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.numbers import expression, integer, type_of
from coopmat.sycl.compiler.values import Element, Nothing, Runtime, Static, Value, shown_type
from coopmat.sycl.compiler.vectors import converted, vector_type
from coopmat.sycl.pointers import PointerType
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def _method(call: CallSite) -> Value:
    """A method of a vector; of other values that are no objects, those of ids."""
    value = call.receiver
    assert isinstance(value, Runtime | Element)
    type_ = vector_type(value)
    if type_ is None:
        return work_items.of_value(call)
    match call.name:
        case "load" | "store":
            return _memory(call, value, type_)
        case "convert":
            return _convert(call, value)
        case "as_":
            return _bits(call, call.f.loaded(value, call.node), call.template)
    return Static(type_.count)  # size, get_count


def _memory(call: CallSite, value: Runtime | Element, type_: t.Vector) -> Value:
    """``v.load(offset, p)`` reads the vector at element ``offset * N`` of p, ``v.store(offset, p)`` writes it."""
    f, node, location = call.f, call.node, call.f.location(call.node)
    if len(call.arguments) != 2 or call.named:
        raise f.fail(messages.BAD_ARGUMENTS, node, name=call.name, signature="(offset, pointer)",
                     reason=f"found {len(call.arguments) + len(call.named)} arguments")
    offset = integer(f, call.arguments[0], call.place(0), t.ULONG)
    source, pointer = pointer_argument(call, call.arguments[1], "pointer", 1)
    is_load = call.name == "load"
    if pointer.element.type != type_.scalar or (pointer.const and not is_load):
        raise call.wrong("pointer", f"a pointer to {shown_type(type_.scalar)}{'' if is_load else ' that is not const'}",
                         source, call.place(1))
    if is_load:
        if not isinstance(value, Element):
            raise call.wrong("self", "a vector that has a name", value)
        loaded = n.Operation(type_, location, "std.vloadn", (offset, source.expression), (type_.count,))
        return Nothing(n.Assign(type_, location, value.place, loaded))
    stored = expression(f, value, node)
    return Nothing(n.Operation(t.VOID, location, "std.vstoren", (stored, offset, source.expression)))


def _convert(call: CallSite, value: Value) -> Value:
    """``v.convert[int32]()``."""
    target = element_type(call.template[0]) if len(call.template) == 1 else None
    if target is None or target.is_abstract or call.arguments or call.named:
        found = ", ".join(map(str, call.template)) or "none"
        raise call.f.fail(messages.TEMPLATE_ARGUMENTS, call.node.func, name=call.name,
                          expected="an element type, such as v.convert[int32]()", found=found)
    return Runtime(converted(expression(call.f, value, call.node), target.scalar))


def bit_cast(call: CallSite) -> Value:
    """The same bits as another type of the same size."""
    return _bits(call, call.bind(stubs.bit_cast.signature)["value"], call.template)


def _bits(call: CallSite, value: Value, template: tuple[object, ...]) -> Value:
    f, node = call.f, call.node
    given = template[0] if len(template) == 1 else None
    target = given if isinstance(given, VectorType) else element_type(given)
    if target is None or (isinstance(target, ElementType) and (target.is_abstract or target.format is None)):
        raise f.fail(messages.TEMPLATE_ARGUMENTS, node.func, name=call.name,
                     expected="a type, such as bit_cast[uint32](x) or bit_cast[half2](x)",
                     found=", ".join(map(str, template)) or "none")
    source = type_of(f, value, node)
    if not isinstance(source, t.Scalar | t.Vector) or source == t.BOOL or t.size_of(source) != t.size_of(target.type):
        raise call.wrong("value", f"a number or vector of {t.size_of(target.type)} bytes, as {target} is", value,
                         call.place(0))
    found = expression(f, value, node)
    return Runtime(found if source == target.type else n.Bitcast(target.type, f.location(node), found))


def reinterpret_cast(call: CallSite) -> Value:
    """The same address as a pointer to another type."""
    f, node = call.f, call.node
    value, pointer = pointer_argument(call, call.bind(stubs.reinterpret_cast.signature)["pointer"], "pointer", 0)
    target = call.template[0] if len(call.template) == 1 else None
    if not isinstance(target, PointerType) or target.space is not pointer.space or (pointer.const and not target.const):
        expected = f"a pointer type in {pointer.space}, such as reinterpret_cast[ptr[float4]](p)"
        raise f.fail(messages.TEMPLATE_ARGUMENTS, node.func, name=call.name,
                     expected=f"{expected}{', to const' if pointer.const else ''}",
                     found=", ".join(map(str, call.template)) or "none")
    return Runtime(n.Bitcast(target.tree, f.location(node), value.expression), target.hints)


METHODS: dict[type[Value], CallHandler] = {Runtime: _method, Element: _method}
DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "bit_cast": bit_cast, "reinterpret_cast": reinterpret_cast,
}
