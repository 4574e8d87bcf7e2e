"""Expressions: constants, names, operators, choices, indices, attributes, lists."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from functools import partial
from types import ModuleType

from coopmat.sycl.compiler import aggregates, arrays, messages, texts, vectors
from coopmat.sycl.compiler.context import Compiler, ExpressionHandler
from coopmat.sycl.compiler.loops import bind_target, known_items
from coopmat.sycl.compiler.matrix_objects import is_same_type
from coopmat.sycl.compiler.numbers import common, constant_integer, expression, integer, negated, truth
from coopmat.sycl.compiler.operators import SYMBOLS, binary, make_list, offset, unary
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import (
    MATRICES,
    Aggregate,
    AtomicRef,
    Element,
    Group,
    Item,
    LayoutValue,
    LocalArray,
    Matrix,
    MatrixValue,
    Method,
    NewMatrix,
    Runtime,
    Sequence,
    Static,
    Value,
    owner_of,
)
from coopmat.sycl.enumerations import decorated, layout
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def _constant(f: Compiler, node: ast.Constant) -> Value:
    if isinstance(node.value, (complex, bytes)) or node.value is ...:
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, node, what=repr(node.value), advice="use numbers and bools")
    return Static(node.value)


def _name(f: Compiler, node: ast.Name) -> Value:
    return f.lookup(node.id, node)


# ------------------------------------------------------------------ operators


def _unary(f: Compiler, node: ast.UnaryOp) -> Value:
    return unary(f, SYMBOLS[type(node.op)], f.read(node.operand), node)


def _binary(f: Compiler, node: ast.BinOp) -> Value:
    """A long sum leans to the left: its operators are walked without recursion."""
    chain: list[ast.BinOp] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        chain.append(first)
        first = first.left
    value = f.read(first)
    for part in reversed(chain):
        value = binary(f, SYMBOLS[type(part.op)], value, f.read(part.right), part)
    return value


def _compare(f: Compiler, node: ast.Compare) -> Value:
    """``a < b < c``: every operand is evaluated once, and only as far as needed."""
    return _compared(f, node, f.read(node.left), 0)


def _compared(f: Compiler, node: ast.Compare, left: Value, index: int) -> Value:
    """The comparisons from one on, whose left operand is known."""
    right = f.read(node.comparators[index])
    is_last = index == len(node.ops) - 1
    if not is_last:
        right = f.held(right, node.comparators[index])
    test = comparison(f, SYMBOLS[type(node.ops[index])], left, right, node)
    return test if is_last else _and_or(f, True, test, node, lambda: _compared(f, node, right, index + 1))


def _and_or(f: Compiler, is_and: bool, left: Value, node: ast.expr, right: Callable[[], Value]) -> Value:
    """``and`` or ``or``: the right side is compiled only if it may matter, and computed only if it does."""
    if isinstance(left, Static):
        return right() if f.known_truth(left, node) == is_and else left
    value, statements = f.nested(right)
    condition = truth(f, value, node)
    if statements:
        condition = n.StatementExpression(t.BOOL, condition.location, statements, condition)
    return Runtime(n.Logical(t.BOOL, f.location(node), is_and, truth(f, left, node), condition))


def comparison(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr) -> Value:
    if symbol in ("is", "is not", "==", "!=") and _is_none(left) != _is_none(right):
        return _compared_with_none(f, symbol, left, right, node)
    if symbol in ("is", "is not", "in", "not in"):
        return _static_comparison(f, symbol, left, right, node)
    if symbol in ("==", "!=") and any(isinstance(side, LayoutValue) for side in (left, right)):
        first, second = (_number_of_layout(f, side, node) for side in (left, right))
        if first is not None and second is not None:
            return binary(f, symbol, Runtime(first), Runtime(second), node)
    return binary(f, symbol, left, right, node)


def _static_comparison(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr) -> Value:
    """Identity and membership, of what is known when the kernel is compiled."""
    if symbol.endswith("in") and all(isinstance(side, Static) and isinstance(side.value, str)
                                     for side in (left, right)):
        return Static((left.value in right.value) == (symbol == "in"))  # type: ignore[attr-defined]
    if symbol.endswith("in") and not isinstance(right, Sequence):
        right = _items_of_range(f, symbol, left, right, node)
    if symbol.endswith("in") and isinstance(right, Sequence) and not all(
            isinstance(item, Static) for item in (left, *right.items)):
        return _membership(f, symbol, left, right, node)
    items = right.items if isinstance(right, Sequence) else (right,)
    if not isinstance(left, Static) or not all(isinstance(item, Static) for item in items):
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right,
                     hint="; use == and !=")
    values = [item.value for item in items if isinstance(item, Static)]
    if symbol.endswith("in"):
        with f.host_errors_at(node):
            return Static((left.value in values) == (symbol == "in"))
    return Static((left.value is values[0]) == (symbol == "is"))


def _is_none(value: Value) -> bool:
    return isinstance(value, Static) and value.value is None


def _compared_with_none(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr) -> Value:
    """``p is None``: whether a pointer is null; other things are never None."""
    value = right if _is_none(left) else left
    is_equal = symbol in ("is", "==")
    if not isinstance(value, Runtime) or not isinstance(value.type, t.Pointer):
        return Static(not is_equal)
    found = Runtime(truth(f, value, node))
    return negated(f, found, node) if is_equal else found


def _items_of_range(f: Compiler, symbol: str, left: Value, right: Value, node: ast.expr) -> Sequence:
    """The numbers of a range, of which one is looked for."""
    if not isinstance(right, Static) or not isinstance(right.value, range):
        raise f.fail(messages.INVALID_OPERANDS, node, operator=symbol, left=left, right=right,
                     hint="; it looks for a number in a list, a tuple or a range of constants")
    return Sequence(tuple(known_items(f, right, node)), is_list=False)


def _membership(f: Compiler, symbol: str, left: Value, right: Sequence, node: ast.expr) -> Value:
    """``x in (1, 2)`` of numbers that the kernel computes: one comparison after the other."""
    location = f.location(node)
    if isinstance(left, Runtime):
        left = f.temporary(left.expression, node)
    found: n.Expression = n.Constant(t.BOOL, location, False)
    for item in right.items:
        test = truth(f, binary(f, "==", left, f.loaded(item, node), node), node)
        found = test if isinstance(found, n.Constant) else n.Logical(t.BOOL, location, False, found, test)
    return Runtime(found if symbol == "in" else n.Unary(t.BOOL, location, n.UnaryOperator.NOT, found))


def _logical(f: Compiler, node: ast.BoolOp) -> Value:
    """``and`` and ``or`` give a bool; what is known decides what else is compiled."""
    is_and = isinstance(node.op, ast.And)
    result = f.read(node.values[0])
    for operand in node.values[1:]:
        result = _and_or(f, is_and, result, operand, partial(f.read, operand))
    return result


def _choice(f: Compiler, node: ast.IfExp) -> Value:
    """``a if c else b``: the operands have their common type."""
    test = f.read(node.test)
    if isinstance(test, Static):
        return f.evaluate(node.body if f.known_truth(test, node.test) else node.orelse)
    condition = truth(f, test, node.test)
    layouts = [_layout_number(f, part) for part in (node.body, node.orelse)]
    if all(side is not None for side in layouts):
        return LayoutValue(n.Conditional(t.INT, f.location(node), condition, *layouts))  # type: ignore[arg-type]
    (first, before), (second, after) = (f.nested(partial(f.read, part)) for part in (node.body, node.orelse))
    text = texts.chosen(f, condition, (first, second), node)
    if text is not None:
        return text
    if any(isinstance(side, (Aggregate, *MATRICES)) for side in (first, second)):
        return _chosen_parts(f, condition, (first, before), (second, after), node)
    type_ = common(f, first, second, node)
    sides = [expression(f, value, part, type_) for value, part in ((first, node.body), (second, node.orelse))]
    sides = [n.StatementExpression(type_, side.location, statements, side) if statements else side
             for side, statements in zip(sides, (before, after), strict=True)]
    return Runtime(n.Conditional(type_, f.location(node), condition, *sides))


Side = tuple[Value, tuple[n.Statement, ...]]


def _chosen_parts(f: Compiler, condition: n.Expression, one: Side, other: Side, node: ast.IfExp) -> Value:
    """The choice between matrices, or between tuples and objects of one form: each part becomes a variable."""
    location = f.location(node)
    sides: tuple[list[n.Statement], list[n.Statement]] = ([*one[1]], [*other[1]])

    def assign(place: n.Place, *values: n.Expression) -> None:
        for side, value in zip(sides, values, strict=True):
            side.append(n.Evaluate(location, n.Assign(place.type, location, place, value)))

    def choose(first: Value, second: Value) -> Value:
        if isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.is_like(second):
            pairs = zip(first.items, second.items, strict=True)
            return first.with_items(choose(*(f.loaded(item, node) for item in pair)) for pair in pairs)
        if isinstance(first, MatrixValue) and isinstance(second, MatrixValue) and is_same_type(first, second):
            matrix = f.declare_matrix(NewMatrix(first.type), "", node)
            assign(matrix.place, first.expression, second.expression)
            return MatrixValue(first.type, matrix.load(location))
        for value, part in ((first, node.body), (second, node.orelse)):
            if isinstance(value, Matrix | NewMatrix):
                is_whole = isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
                raise f.fail(messages.MATRIX_COPY, part, source=ast.unparse(part) if is_whole else "m")
        if any(isinstance(value, (Aggregate, *MATRICES)) for value in (first, second)):
            raise f.fail(messages.CHOICE_DIFFERS, node, left=first, right=second)
        if isinstance(first, Static) and isinstance(second, Static) and first.value is second.value:
            return first
        type_ = common(f, first, second, node)
        variable = f.declare("", type_, node, None)
        assign(variable.place, expression(f, first, node.body, type_), expression(f, second, node.orelse, type_))
        return f.loaded(variable, node)

    found = choose(one[0], other[0])
    f.emit(n.If(location, condition, *(n.Block(location, tuple(side)) for side in sides)))
    return found


def _layout_number(f: Compiler, node: ast.expr) -> n.Expression | None:
    """A layout in memory as a number, if the expression is one."""
    if not isinstance(node, ast.Attribute | ast.Name):
        return None
    return _number_of_layout(f, f.read(node), node)


def _number_of_layout(f: Compiler, value: Value, node: ast.expr) -> n.Expression | None:
    if isinstance(value, LayoutValue):
        return value.expression
    if isinstance(value, Static) and value.value in (layout.row_major, layout.col_major):
        return n.Constant(t.INT, f.location(node), value.value.value)
    return None


# ------------------------------------------------------------------ lists and indices


def _list(f: Compiler, node: ast.List) -> Value:
    return make_list(f, tuple(_elements(f, node)), True, node)


def _tuple(f: Compiler, node: ast.Tuple) -> Value:
    return make_list(f, tuple(_elements(f, node)), False, node)


def _elements(f: Compiler, node: ast.List | ast.Tuple) -> Iterator[Value]:
    """The values between brackets: ``[a, *b]``."""
    for item in node.elts:
        if isinstance(item, ast.Starred):
            yield from (f.loaded(value, item) for value in known_items(f, f.read(item.value), item.value))
        else:
            yield f.read(item)


def _comprehension(f: Compiler, node: ast.ListComp | ast.GeneratorExp) -> Value:
    """A list whose length is known: the element is compiled for each step of the loops. A generator is a tuple."""
    found: list[Value] = []
    outside, assigned = dict(f.names), f.assignments.certain
    _expand(f, node, 0, found)
    f.assignments.certain = assigned
    f.names = {name: value for name, value in f.names.items() if name in outside} | {
        name: outside[name] for name in outside}
    return make_list(f, tuple(found), isinstance(node, ast.ListComp), node)


def _expand(f: Compiler, node: ast.ListComp | ast.GeneratorExp, depth: int, found: list[Value]) -> None:
    if depth == len(node.generators):
        found.append(f.read(node.elt))
        return
    generator = node.generators[depth]
    for item in known_items(f, f.read(generator.iter), generator.iter):
        f.unit.count_copies(f, 1, generator.iter)
        bind_target(f, generator.target, item)
        tests = [f.read(condition) for condition in generator.ifs]
        for test, condition in zip(tests, generator.ifs, strict=True):
            if not isinstance(test, Static):
                raise f.fail(messages.NOT_CONSTANT, condition, what="the condition of a list comprehension", found=test)
        if all(f.known_truth(test, node) for test in tests if isinstance(test, Static)):
            _expand(f, node, depth + 1, found)


def _subscript(f: Compiler, node: ast.Subscript) -> Value:
    place = f.evaluate(node.value)
    if isinstance(place, Runtime | Element) and vectors.vector_type(place) is not None:
        return vectors.item(f, place, f.read(node.slice), node)
    base = f.loaded(place, node.value)
    if isinstance(base, Static):
        return _static_subscript(f, base, node)
    if isinstance(base, Sequence):
        return _item(f, base, node)
    if isinstance(base, LocalArray):
        return _local_element(f, base, node)
    if isinstance(base, Runtime) and isinstance(base.type, t.Pointer):
        return element_at(f, base, f.read(node.slice), node)
    if isinstance(base, Runtime) and base.type in (t.UINT, t.SIZE_T):
        return _component(f, base, node)
    if isinstance(base, Method):
        template = f.read(node.slice)
        if isinstance(base.receiver, LocalArray) and base.name == "get_multi_ptr" and isinstance(template, Static) \
                and isinstance(template.value, decorated):  # which changes nothing here
            return base
        if isinstance(base.receiver, Runtime | Element) and isinstance(template, Static):
            return replace(base, template=(template.value,))
    raise f.fail(messages.NOT_SUBSCRIPTABLE, node, found=base)


def _component(f: Compiler, base: Runtime, node: ast.Subscript) -> Runtime:
    """``sg.get_local_id()[0]``: the only component of a one-dimensional id."""
    index = constant_integer(f, f.read(node.slice), node.slice, "the index of an id")
    if index != 0:
        raise f.fail(messages.INDEX_OUT_OF_RANGE, node.slice, index=index, found="a one-dimensional id")
    return base


def element_at(f: Compiler, base: Runtime, index: Value, node: ast.expr) -> Element:
    """``pointer[index]``."""
    assert isinstance(base.type, t.Pointer)
    pointer = offset(f, base.expression, index, node)
    return Element(n.Dereference(base.type.pointee, f.location(node), pointer))


def _item(f: Compiler, base: Sequence, node: ast.Subscript) -> Value:
    if isinstance(node.slice, ast.Slice):
        bounds = [None if part is None else constant_integer(f, f.read(part), part, "a bound of a slice")
                  for part in (node.slice.lower, node.slice.upper, node.slice.step)]
        return Sequence(tuple(f.held(item, node) for item in base.items[slice(*bounds)]), base.is_list)
    value = f.read(node.slice)
    if not isinstance(value, Static):
        return arrays.item(f, base, value, node)
    index = constant_integer(f, value, node.slice, "the index of a list")
    if not -len(base.items) <= index < len(base.items):
        raise f.fail(messages.INDEX_OUT_OF_RANGE, node.slice, index=index, found=base)
    return base.items[index]


def _local_element(f: Compiler, base: LocalArray, node: ast.Subscript) -> Value:
    """``tile[i, j]``, or ``tile[i]``, which is the rest where there are more dimensions."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > len(base.shape):
        raise f.fail(messages.INDEX_COUNT, node, found=base, expected=f"{len(base.shape)} indices", count=len(parts))
    location = f.location(node)
    pointer = base.pointer
    for dimension, part in enumerate(parts):
        step = 1
        for extent in base.shape[dimension + 1:]:
            assert extent is not None
            step *= extent
        index = integer(f, f.read(part), part, t.LONG)
        if step != 1:
            index = n.Binary(t.LONG, location, n.BinaryOperator.MULTIPLY, index, n.Constant(t.LONG, location, step))
        pointer = n.PointerOffset(pointer.type, location, pointer, index)
    rest = base.shape[len(parts):]
    if rest:
        return LocalArray(pointer, rest)
    assert isinstance(pointer.type, t.Pointer)
    return Element(n.Dereference(pointer.type.pointee, location, pointer))


def _static_subscript(f: Compiler, base: Static, node: ast.Subscript) -> Value:
    """``joint_matrix_prefetch[8, 32]``, ``ptr[int8]``, or an element of a captured tuple."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    values = [f.read(part) for part in parts]
    for value, part in zip(values, parts, strict=True):
        if not isinstance(value, Static):
            raise f.fail(messages.NOT_CONSTANT, part, what="what is in these square brackets", found=value)
    index = tuple(value.value for value in values if isinstance(value, Static))
    if not hasattr(type(base.value), "__getitem__") and not hasattr(base.value, "__class_getitem__"):
        raise f.fail(messages.NOT_SUBSCRIPTABLE, node.value, found=base)
    with f.host_errors_at(node):
        return static_value(f, base.value[index if isinstance(node.slice, ast.Tuple) else index[0]], node)


# ------------------------------------------------------------------ attributes


def _attribute(f: Compiler, node: ast.Attribute) -> Value:
    place = f.evaluate(node.value)
    if isinstance(place, Runtime | Element) and vectors.vector_type(place) is not None:
        part = vectors.part(f, place, node.attr, node)
        if part is None and node.attr not in vectors.METHODS:
            raise f.fail(messages.NO_ATTRIBUTE, node, found=place, name=node.attr,
                         hint=f"; it has x, xy, s0, lo, hi and the like, {', '.join(vectors.METHODS)}")
        return part or Method(place, node.attr)
    receiver = f.loaded(place, node.value)
    if isinstance(receiver, Aggregate) and owner_of(receiver) is not None:
        return aggregates.attribute(f, receiver, node.attr, node)
    if isinstance(receiver, (Item, Group, Runtime, Sequence, LocalArray, AtomicRef)):
        return Method(receiver, node.attr)
    if not isinstance(receiver, Static):
        raise f.fail(messages.NO_ATTRIBUTE, node, found=receiver, name=node.attr, hint="")
    found = receiver.value
    with f.host_errors_at(node):
        is_known = not node.attr.startswith("_") and hasattr(found, node.attr)
    if not is_known:
        close = difflib.get_close_matches(node.attr, [name for name in dir(found) if not name.startswith("_")], n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        if isinstance(found, type) and issubclass(found, Enum):
            hint = f"; it has {', '.join(found.__members__)}"
        shown = f"module {found.__name__}" if isinstance(found, ModuleType) else receiver
        raise f.fail(messages.NO_ATTRIBUTE, node, found=shown, name=node.attr, hint=hint)
    with f.host_errors_at(node):
        return static_value(f, getattr(found, node.attr), node)


def _lambda(f: Compiler, node: ast.Lambda) -> Value:
    return f.local(node)


EXPRESSIONS: dict[type[ast.expr], ExpressionHandler] = {
    ast.Constant: _constant, ast.Name: _name, ast.UnaryOp: _unary, ast.BinOp: _binary, ast.Compare: _compare,
    ast.BoolOp: _logical, ast.IfExp: _choice, ast.List: _list, ast.Tuple: _tuple, ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension, ast.Subscript: _subscript, ast.Attribute: _attribute, ast.Lambda: _lambda,
    ast.JoinedStr: texts.formatted_string,
}
"""What expressions become; :mod:`.calls` has calls."""
