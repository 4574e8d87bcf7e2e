"""joint_matrix_load, _store, _prefetch and the checked forms (sections "Load", "Store", "Prefetch")."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from coopmat.sycl import constraints
from coopmat.sycl import matrix_functions as stubs
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import CallHandler, CallSite, Compiler
from coopmat.sycl.compiler.numbers import expression, integer, type_of
from coopmat.sycl.compiler.values import (
    Group,
    LayoutValue,
    LocalArray,
    Matrix,
    MatrixValue,
    NewMatrix,
    Nothing,
    Runtime,
    Static,
    Value,
)
from coopmat.sycl.enumerations import layout
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.sycl.pointers import PointerType
from coopmat.sycl.properties import PrefetchHint, properties
from coopmat.tree import nodes as n
from coopmat.tree import types as t

_SPACES = (t.AddressSpace.GLOBAL, t.AddressSpace.LOCAL, t.AddressSpace.GENERIC)


# ------------------------------------------------------------------ operands


def group_scope(call: CallSite, group: Value) -> t.ExecutionScope:
    """The scope of the first argument of every operation: the sub-group or the work-group."""
    if not isinstance(group, Group):
        raise call.f.fail(constraints.NOT_A_GROUP, call.place(0), name=call.name, found=group)
    return group.scope


def require_scope(call: CallSite, scope: t.ExecutionScope, matrix: JointMatrixType) -> None:
    """The group that carries out an operation must be the one that shares its matrices."""
    if matrix.scope is not scope:
        raise call.f.fail(constraints.NOT_ITS_GROUP, call.place(0), name=call.name, expected=_SOURCES[matrix.scope],
                          found=_SOURCES[scope], matrix=matrix)


_SOURCES = {t.ExecutionScope.SUBGROUP: "the sub_group that item.get_sub_group() returns",
            t.ExecutionScope.WORKGROUP: "the group that item.get_group() returns"}


def matrix_argument(call: CallSite, scope: t.ExecutionScope, value: Value, parameter: str, index: int) -> Matrix:
    """An argument that is a joint_matrix object of the group that carries out the call."""
    if not isinstance(value, Matrix):
        raise call.f.fail(constraints.NOT_A_MATRIX, call.place(index), name=call.name, parameter=parameter,
                          kind=" that has a name" if isinstance(value, NewMatrix | MatrixValue) else "", found=value)
    require_scope(call, scope, value.type)
    return value


def matrix_operand(call: CallSite, scope: t.ExecutionScope, value: Value, parameter: str, index: int) -> Matrix:
    """An argument that is only read: a joint_matrix object, or what an operation on matrices gives."""
    if isinstance(value, MatrixValue):
        value = call.f.declare_matrix(value, "", call.place(index))
    return matrix_argument(call, scope, value, parameter, index)


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a matrix lies: pointer and stride as tree expressions; a layout, or an expression that is 0 or 1."""

    pointer: n.Expression
    stride: n.Expression
    layout: layout | n.Expression


def pointer_argument(call: CallSite, value: Value, parameter: str, index: int) -> tuple[Runtime, PointerType]:
    """An argument that is a pointer to elements in global or local memory."""
    f, node = call.f, call.place(index)
    if isinstance(value, LocalArray):
        value = Runtime(value.pointer)
    value = f.loaded(value, node)
    pointer = value.pointer if isinstance(value, Runtime) else None
    if pointer is None or pointer.space.value not in _SPACES:
        raise f.fail(constraints.NOT_A_POINTER, node, name=call.name, parameter=parameter, found=value)
    assert isinstance(value, Runtime)
    return value, pointer


def _memory(call: CallSite, matrix: Matrix, source: Value, stride: Value, given: Value | None, *, index: int,
            parameter: str, is_store: bool) -> Memory:
    """The operands of a load (argument 2) or store, checked against the matrix."""
    f = call.f
    value, pointer = pointer_argument(call, source, parameter, index)
    storage = matrix.type.element.storage
    if pointer.element != storage:
        raise f.fail(constraints.ELEMENT_MISMATCH, call.place(index), name=call.name, expected=storage,
                     element=matrix.type.element, found=pointer)
    if is_store and pointer.const:
        raise f.fail(constraints.CONST_DESTINATION, call.place(index), name=call.name, found=pointer)
    return Memory(hinted(value, f.location(call.place(index))), stride_argument(call, stride, 3),
                  _layout(call, matrix, given))


def hinted(value: Runtime, location: object) -> n.Expression:
    """The pointer, with the cache controls of an annotated_ptr."""
    loads, stores = value.hints.controls("read_hint"), value.hints.controls("write_hint")
    if not loads and not stores:
        return value.expression
    return n.WithCacheControls(value.type, value.expression.location, value.expression, loads, stores)


def stride_argument(call: CallSite, stride: Value, index: int) -> n.Expression:
    """The stride, in elements: a size_t. A load may take one row for all (0), as a bias is."""
    f, node = call.f, call.place(index)
    least, expected = (0, "a") if call.name.startswith("joint_matrix_load") else (1, "a positive")
    if not type_of(f, stride, node).is_integer or (isinstance(stride, Static) and stride.value < least):
        raise f.fail(constraints.STRIDE, node, name=call.name, expected=expected, found=stride)
    return integer(f, stride, node, t.SIZE_T)


def _layout(call: CallSite, matrix: Matrix, given: Value | None) -> layout | n.Expression:
    """The layout in memory: that of A's or B's type, or of an accumulator the one that the call gives."""
    declared = matrix.type.layout
    node = call.place(4)
    if declared is not layout.dynamic:
        if given is not None:
            if call.name == "joint_matrix_store":
                raise call.f.fail(constraints.STORE_ACCUMULATOR, node, found=matrix.type)
            raise call.f.fail(constraints.HAS_LAYOUT, node, name=call.name, layout=declared)
        return declared
    if given is None:
        raise call.f.fail(constraints.NEEDS_LAYOUT, call.node, name=call.name)
    return layout_argument(call, given, node)


def layout_argument(call: CallSite, given: Value, node: ast.AST) -> layout | n.Expression:
    """A layout in memory, row_major or col_major."""
    if isinstance(given, LayoutValue):
        return given.expression
    if isinstance(given, Static) and given.value in (layout.row_major, layout.col_major):
        found: layout = given.value
        return found
    raise call.f.fail(constraints.MEMORY_LAYOUT, node, name=call.name, found=given)


def by_layout(f: Compiler, memory: Memory, make: object, node: ast.AST) -> Nothing:
    """The operation for a layout; for one that is known at run time only, both, and a choice between them."""
    assert callable(make)
    if isinstance(memory.layout, layout):
        return Nothing(make(memory.layout.value))
    location = f.location(node)
    is_row = n.Binary(t.BOOL, location, n.BinaryOperator.EQUAL, memory.layout,
                      n.Constant(memory.layout.type, location, layout.row_major.value))
    sides = [n.Block(location, (n.Evaluate(location, make(choice.value)),))
             for choice in (layout.row_major, layout.col_major)]
    f.emit(n.If(location, is_row, sides[0], sides[1]))
    return Nothing(None)


# ------------------------------------------------------------------ load and store


def load(call: CallSite) -> Value:
    """``res = …`` with the layout of its type, or of the call."""
    bound = call.bind(stubs.joint_matrix_load.signature)
    scope = group_scope(call, bound["g"])
    matrix = matrix_argument(call, scope, bound["res"], "res", 1)
    memory = _memory(call, matrix, bound["src"], bound["stride"], bound.get("Layout"), index=2, parameter="src",
                     is_store=False)
    return _load(call, matrix, memory, None)


def _load(call: CallSite, matrix: Matrix, memory: Memory, window: n.Window | None) -> Value:
    location, type_ = call.f.location(call.node), matrix.type.tree

    def make(order: int) -> n.Expression:
        loaded = n.MatrixLoad(type_, location, memory.pointer, order, memory.stride, window)
        return n.Assign(type_, location, matrix.place, loaded)

    return by_layout(call.f, memory, make, call.node)


def store(call: CallSite) -> Value:
    """Accumulators with a layout; A and B (sycl_ext_intel_matrix) without."""
    bound = call.bind(stubs.joint_matrix_store.signature)
    scope = group_scope(call, bound["g"])
    matrix = matrix_operand(call, scope, bound["src"], "src", 1)
    memory = _memory(call, matrix, bound["dest"], bound["stride"], bound.get("Layout"), index=2, parameter="dest",
                     is_store=True)
    return _store(call, matrix, memory, None)


def _store(call: CallSite, matrix: Matrix, memory: Memory, window: n.Window | None) -> Value:
    location = call.f.location(call.node)

    def make(order: int) -> n.Expression:
        return n.MatrixStore(t.VOID, location, memory.pointer, matrix.load(location), order, memory.stride, window)

    return by_layout(call.f, memory, make, call.node)


# ------------------------------------------------------------------ checked forms


def _rest(bound: dict[str, Any]) -> list[Value]:
    """The arguments after the stride."""
    return list(bound.get("rest", ()))


def _checked(call: CallSite, rest: list[Value], matrix: Matrix) -> tuple[Value | None, n.Window]:
    """``[Layout,] height, width, row, col``."""
    given = rest.pop(0) if len(rest) == 5 else None
    if len(rest) != 4:
        raise call.f.fail(messages.BAD_ARGUMENTS, call.node, name=call.name,
                          signature="(g, matrix, pointer, stride, [Layout,] height, width, row, col)",
                          reason=f"found {len(rest)} arguments after the stride")
    if given is None and matrix.type.layout is layout.dynamic:
        raise call.f.fail(constraints.NEEDS_LAYOUT, call.node, name=call.name)
    return given, window_of(call, rest, len(call.arguments) - 4)


def window_of(call: CallSite, values: list[Value], first: int) -> n.Window:
    """Height, width, row and column as a window."""
    f, found = call.f, []
    for index, (name, value) in enumerate(zip(("height", "width", "row", "col"), values, strict=True), first):
        if not type_of(f, value, call.place(index)).is_integer:
            raise f.fail(constraints.CHECKED_SIZE, call.place(index), name=call.name, parameter=name, found=value)
        found.append(expression(f, value, call.place(index)))
    height, width, row, column = found
    return n.Window(row, column, height, width)


def load_checked(call: CallSite) -> Value:
    """A load that fills what lies outside with zeros."""
    bound = call.bind(stubs.joint_matrix_load_checked.signature)
    scope = group_scope(call, bound["g"])
    matrix = matrix_argument(call, scope, bound["res"], "res", 1)
    given, window = _checked(call, _rest(bound), matrix)
    memory = _memory(call, matrix, bound["src"], bound["stride"], given, index=2, parameter="src", is_store=False)
    return _load(call, matrix, memory, window)


def store_checked(call: CallSite) -> Value:
    """A store that leaves out what lies outside."""
    bound = call.bind(stubs.joint_matrix_store_checked.signature)
    scope = group_scope(call, bound["g"])
    matrix = matrix_operand(call, scope, bound["src"], "src", 1)
    given, window = _checked(call, _rest(bound), matrix)
    memory = _memory(call, matrix, bound["dest"], bound["stride"], given, index=2, parameter="dest", is_store=True)
    return _store(call, matrix, memory, window)


# ------------------------------------------------------------------ prefetch


def prefetch(call: CallSite) -> Value:
    """A hint; the level is that of the properties."""
    bound = call.bind(stubs.joint_matrix_prefetch.signature)
    group_scope(call, bound["g"])
    sizes = [size for size in call.template if type(size) is int and size > 0]
    if len(call.template) != 2 or len(sizes) != 2:
        shown = f"[{', '.join(map(str, call.template))}]" if call.template else "none"
        raise call.f.fail(constraints.PREFETCH_SHAPE, call.node.func, found=shown)
    pointer, _ = pointer_argument(call, bound["ptr"], "ptr", 1)
    stride = stride_argument(call, bound["stride"], 2)
    order = layout_argument(call, bound["Layout"], call.place(3))
    level = _level(call, bound.get("Properties"))
    location = call.f.location(call.node)

    def make(number: int) -> n.Expression:
        return n.MatrixPrefetch(t.VOID, location, pointer.expression, sizes[0], sizes[1], level, number, stride)

    return by_layout(call.f, Memory(pointer.expression, stride, order), make, call.node)


def _level(call: CallSite, given: Value | None) -> int:
    found = given.value if isinstance(given, Static) else properties()
    if given is not None and (not isinstance(found, properties)
                              or not all(isinstance(item, PrefetchHint) for item in found.items)):
        raise call.f.fail(constraints.PREFETCH_PROPERTIES, call.place(4), found=given)
    level: int = found.prefetch_level.value
    return level


DEVICE_FUNCTIONS: dict[str, CallHandler] = {
    "joint_matrix_load": load, "joint_matrix_store": store, "joint_matrix_load_checked": load_checked,
    "joint_matrix_store_checked": store_checked, "joint_matrix_prefetch": prefetch,
}
