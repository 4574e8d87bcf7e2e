"""atomic_ref, its methods and operators, and atomic_fence (SYCL 4.15.3 and 4.15.1)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from coopmat.runtime.element_types import ElementType, element_type, float32, float64, int32, int64, uint32, uint64
from coopmat.sycl import atomic_functions as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.builtins import work_items
from coopmat.sycl.compiler.builtins.mathematics import number
from coopmat.sycl.compiler.context import CallHandler, CallSite
from coopmat.sycl.compiler.numbers import expression
from coopmat.sycl.compiler.values import AtomicRef, Nothing, Runtime, Static, Value
from coopmat.sycl.enumerations import address_space, memory_order, memory_scope
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from coopmat.tree.operations import (
    FLOAT_READ_MODIFY_WRITE,
    READ_MODIFY_WRITE,
    STORAGE_SEMANTICS,
    strengthened,
)

_ELEMENTS = (int32, uint32, int64, uint64, float32, float64)
_SPACES = (t.AddressSpace.GLOBAL, t.AddressSpace.LOCAL, t.AddressSpace.GENERIC)
_DEFAULTS = (memory_order.relaxed, memory_order.acq_rel, memory_order.seq_cst)
_READ_ORDERS = (memory_order.relaxed, memory_order.acquire, memory_order.seq_cst)
_WRITE_ORDERS = (memory_order.relaxed, memory_order.release, memory_order.seq_cst)
_ALL_ORDERS = tuple(memory_order)
_TEMPLATE = "a type, a memory_order, a memory_scope and perhaps an access.address_space"


# ------------------------------------------------------------------ atomic_ref


def atomic_ref(call: CallSite) -> Value:
    """The address of an element, and the defaults."""
    f, node = call.f, call.node
    value = f.loaded(call.bind(stubs.atomic_ref.signature)["ref"], node)
    element, order, scope, space = _template(call)
    place = value.expression.place if isinstance(value, Runtime) and isinstance(value.expression, n.Load) else None
    if not isinstance(place, n.Dereference) or place.address_space not in _SPACES:
        raise call.wrong("ref", "an element of global or local memory, such as A[i]", value, call.place(0))
    pointer = place.pointer
    assert isinstance(pointer.type, t.Pointer)
    if place.type != element.scalar or pointer.type.const:
        what = "an element that can be written" if place.type == element.scalar else f"of type {element}"
        raise call.wrong("ref", what, Runtime(pointer) if pointer.type.const else value, call.place(0))
    if space is not None and t.AddressSpace.GENERIC not in (space.value, place.address_space) \
            and space.value is not place.address_space:
        raise call.wrong("ref", f"in {space}", Runtime(pointer), call.place(0))
    return AtomicRef(pointer, order.value, scope.value)


def _template(call: CallSite) -> tuple[ElementType, memory_order, memory_scope, address_space | None]:
    """What is in the square brackets."""
    first, order, scope, space = [*call.template, None, None, None, None][:4]
    element = element_type(first)
    kinds = isinstance(order, memory_order) and isinstance(scope, memory_scope)
    expected = None
    if len(call.template) not in (3, 4) or not kinds or not isinstance(space, address_space | None):
        expected = f"{_TEMPLATE}, such as atomic_ref[int32, memory_order.relaxed, memory_scope.device]"
    elif element not in _ELEMENTS:
        expected = f"a type of {', '.join(map(str, _ELEMENTS[:-1]))} or {_ELEMENTS[-1]}"
    elif order not in _DEFAULTS:
        expected = f"a default order of {_named(_DEFAULTS)}"
    elif space is not None and space.value not in _SPACES:
        expected = "the global, local or generic address space"
    if expected is not None:
        found = ", ".join(map(str, call.template)) or "none"
        raise call.f.fail(messages.TEMPLATE_ARGUMENTS, call.node.func, name=call.name, expected=expected, found=found)
    assert element is not None
    return element, order, scope, space


def _named(orders: tuple[memory_order, ...]) -> str:
    *rest, last = map(str, orders)
    return f"{', '.join(rest)} or {last}"


# ------------------------------------------------------------------ operands of the instructions


def _signature(call: CallSite, given: tuple[Value, ...] | list[Value], names: tuple[str, ...],
               optional: tuple[str, ...] = ("order", "scope")) -> dict[str, Value]:
    """The arguments of a method by name."""
    bound = dict(zip((*names, *optional), given, strict=False))
    for name, value in call.named.items():
        if name in bound or name not in (*names, *optional):
            raise _bad_arguments(call, names, optional,
                                 f"argument '{name}' {'is given twice' if name in bound else 'does not exist'}")
        bound[name] = value
    if len(given) > len(names) + len(optional) or any(name not in bound for name in names):
        raise _bad_arguments(call, names, optional, f"found {len(given) + len(call.named)} arguments")
    return bound


def _bad_arguments(call: CallSite, names: tuple[str, ...], optional: tuple[str, ...], reason: str) -> Exception:
    shown = ", ".join([*names, *(f"{name}=…" for name in optional)])
    return call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name, signature=f"({shown})", reason=reason)


def _enumerator(call: CallSite, bound: Mapping[str, Value], parameter: str, allowed: tuple[Any, ...],
                default: int) -> int:
    """An order or scope, in SPIR-V's numbers."""
    value = bound.get(parameter)
    if value is None:
        return default
    if not isinstance(value, Static) or value.value not in allowed:
        raise call.wrong(parameter, _named(allowed), value, _place(call, bound, parameter))
    number = value.value.value
    return number.value if isinstance(number, t.ExecutionScope) else number


def _scope(call: CallSite, ref: AtomicRef, bound: Mapping[str, Value]) -> n.Constant:
    return _uint(call, _enumerator(call, bound, "scope", tuple(memory_scope), ref.scope.value))


def _uint(call: CallSite, value: int) -> n.Constant:
    return n.Constant(t.UINT, call.f.location(call.node), value)


def _semantics(call: CallSite, ref: AtomicRef, order: int) -> n.Constant:
    """Memory Semantics; a relaxed access orders nothing."""
    assert isinstance(ref.pointer.type, t.Pointer)
    return _uint(call, order | STORAGE_SEMANTICS[ref.pointer.type.address_space] if order else 0)


def _default(ref: AtomicRef, allowed: tuple[memory_order, ...]) -> int:
    """The default order of a read, a write or both: of acq_rel, the half that there is (SYCL 4.15.3)."""
    if ref.order != memory_order.acq_rel.value or memory_order.acq_rel in allowed:
        return ref.order
    return (memory_order.acquire if memory_order.acquire in allowed else memory_order.release).value


def _place(call: CallSite, bound: Mapping[str, Value], parameter: str) -> ast.AST:
    return call.place_of(parameter) if parameter in call.named else call.place(list(bound).index(parameter))


def _operand(call: CallSite, ref: AtomicRef, bound: Mapping[str, Value], name: str) -> n.Expression:
    node = _place(call, bound, name)
    return expression(call.f, number(call, name, bound[name], node), node, ref.type)


def _access(call: CallSite, ref: AtomicRef, instruction: str, bound: Mapping[str, Value],
            operands: tuple[n.Expression, ...], allowed: tuple[memory_order, ...] = _ALL_ORDERS,
            type_: t.Type | None = None) -> n.Operation:
    """An instruction with one order."""
    order = _enumerator(call, bound, "order", allowed, _default(ref, allowed))
    fixed = (ref.pointer, _scope(call, ref, bound), _semantics(call, ref, order))
    return n.Operation(type_ or ref.type, call.f.location(call.node), f"core.{instruction}", (*fixed, *operands))


# ------------------------------------------------------------------ methods


def _load(call: CallSite, ref: AtomicRef) -> Value:
    bound = _signature(call, call.arguments, ())
    return Runtime(_access(call, ref, "AtomicLoad", bound, (), _READ_ORDERS))


def _store(call: CallSite, ref: AtomicRef) -> Value:
    bound = _signature(call, call.arguments, ("operand",))
    operand = _operand(call, ref, bound, "operand")
    return Nothing(_access(call, ref, "AtomicStore", bound, (operand,), _WRITE_ORDERS, t.VOID))


def _exchange(call: CallSite, ref: AtomicRef) -> Value:
    bound = _signature(call, call.arguments, ("operand",))
    return Runtime(_access(call, ref, "AtomicExchange", bound, (_operand(call, ref, bound, "operand"),)))


def _update(call: CallSite, ref: AtomicRef, what: str) -> Value:
    """fetch_add and its like, and the operators; floating-point numbers are subtracted by adding the opposite."""
    bound = _signature(call, call.arguments, ("operand",))
    operand = _operand(call, ref, bound, "operand")
    if not ref.type.is_float:
        sign = "S" if ref.type.is_signed else "U"
        return Runtime(_access(call, ref, READ_MODIFY_WRITE[what].format(SIGN=sign), bound, (operand,)))
    if what == "sub":
        what, operand = "add", n.Unary(ref.type, operand.location, n.UnaryOperator.NEGATE, operand)
    if what not in FLOAT_READ_MODIFY_WRITE:
        raise call.f.fail(messages.NO_FUNCTION_FOR, call.node, name=call.name, types=ref.type_name,
                          expected="it is for integers")
    return Runtime(_access(call, ref, FLOAT_READ_MODIFY_WRITE[what], bound, (operand,)))


def _compare_exchange(call: CallSite, ref: AtomicRef) -> Value:
    """Whether the element was exchanged. The instruction compares integers, so floating-point numbers are exchanged
    as integers of their width."""
    f, location = call.f, call.f.location(call.node)
    names, optional = ("expected", "desired"), ("order", "scope")
    if len(call.arguments) == 5 or {"success", "failure"} & call.named.keys() or (
            len(call.arguments) == 4 and isinstance(last := call.arguments[3], Static)
            and isinstance(last.value, memory_order)):
        optional = ("success", "failure", "scope")  # type: ignore[assignment]
    bound = _signature(call, call.arguments, names, optional)
    success = _enumerator(call, bound, "order" if "order" in optional else "success", _ALL_ORDERS, ref.order)
    default = {memory_order.acq_rel.value: memory_order.acquire.value,
               memory_order.release.value: memory_order.relaxed.value}.get(success, success)
    failure = _enumerator(call, bound, "failure", _READ_ORDERS, default)
    integer = t.Scalar("uint", ref.type.bits) if ref.type.is_float else ref.type
    assert isinstance(ref.pointer.type, t.Pointer)
    pointer = _cast(ref.pointer, t.Pointer(integer, ref.pointer.type.address_space))
    expected = f.temporary(_cast(_operand(call, ref, bound, "expected"), integer), call.node).expression
    desired = _cast(_operand(call, ref, bound, "desired"), integer)
    operands = (pointer, _scope(call, ref, bound), _semantics(call, ref, strengthened(success, failure)),
                _semantics(call, ref, failure), desired, expected)
    found = n.Operation(integer, location, "core.AtomicCompareExchange", operands)
    held = n.VariablePlace(integer, location, f.variable("", integer, call.node))
    f.emit(n.Declare(location, held.variable))
    test = n.Binary(t.BOOL, location, n.BinaryOperator.EQUAL, n.Load(integer, location, held), expected)
    return Runtime(n.Comma(t.BOOL, location, n.Assign(integer, location, held, found), test))


def _cast(value: n.Expression, type_: t.Type) -> n.Expression:
    return value if value.type == type_ else n.Bitcast(type_, value.location, value)


_METHODS = {"load": _load, "store": _store, "exchange": _exchange, "compare_exchange_strong": _compare_exchange,
            "compare_exchange_weak": _compare_exchange}
_UPDATES = {f"fetch_{what}": what for what in READ_MODIFY_WRITE}
_OPERATORS = {"+=": "add", "-=": "sub", "&=": "and", "|=": "or", "^=": "xor"}


def _method(call: CallSite) -> Value:
    """A method of an atomic_ref, or an operator such as ``+=``."""
    ref = call.receiver
    assert isinstance(ref, AtomicRef)
    if call.name in _METHODS:
        return _METHODS[call.name](call, ref)
    what = _UPDATES.get(call.name) or _OPERATORS.get(call.name)
    if what is not None:
        return _update(call, ref, what)
    if call.name.endswith("="):
        raise call.f.fail(messages.INVALID_OPERAND, call.node, operator=call.name, found=ref,
                          hint=f"; it has {', '.join(_OPERATORS)}")
    raise work_items.no_method(call, (*_METHODS, *_UPDATES))


METHODS: dict[type[Value], CallHandler] = {AtomicRef: _method}


# ------------------------------------------------------------------ fences


def atomic_fence(call: CallSite) -> Value:
    """OpMemoryBarrier; a relaxed fence has no effect."""
    bound = call.bind(stubs.atomic_fence.signature)
    order = _enumerator(call, bound, "order", _ALL_ORDERS, 0)
    scope = _enumerator(call, bound, "scope", tuple(memory_scope), 0)
    if not order:
        return Nothing(None)
    operands = (_uint(call, scope), _uint(call, order | STORAGE_SEMANTICS[t.AddressSpace.GENERIC]))
    return Nothing(n.Operation(t.VOID, call.f.location(call.node), "core.MemoryBarrier", operands))


DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "atomic_ref": atomic_ref, "atomic_fence": atomic_fence,
}
