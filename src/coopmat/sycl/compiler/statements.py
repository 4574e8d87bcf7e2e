"""Statements: assignments, if, while, return and their like; for loops are in :mod:`.loops`."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable
from functools import partial

from coopmat.runtime.element_types import ElementType
from coopmat.sycl.compiler import aggregates, loops, messages, vectors
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.assignments import Names
from coopmat.sycl.compiler.builtins import local_memory
from coopmat.sycl.compiler.context import CallSite, Compiler, StatementHandler
from coopmat.sycl.compiler.matrix_objects import assign_matrix, has_other_names, is_same_type, released
from coopmat.sycl.compiler.numbers import expression, truth, type_of
from coopmat.sycl.compiler.operators import SYMBOLS, binary
from coopmat.sycl.compiler.returning import returned
from coopmat.sycl.compiler.values import (
    MATRICES,
    Aggregate,
    AtomicRef,
    Element,
    Erroneous,
    Matrix,
    MatrixValue,
    Method,
    NewMatrix,
    Nothing,
    Runtime,
    Sequence,
    Static,
    Value,
    is_number,
    leaves,
    owner_of,
    shown_type,
)
from coopmat.sycl.pointers import PointerType
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def _expression(f: Compiler, node: ast.Expr) -> None:
    """An expression for its effects; a docstring says nothing to the device."""
    if isinstance(node.value, ast.Constant):
        return
    value = f.evaluate(node.value)
    if isinstance(value, Nothing):
        if value.expression is not None:
            f.perform(value.expression)
    elif isinstance(value, Runtime):
        f.perform(value.expression)
        if isinstance(value.expression, n.Call):
            f.warn(messages.UNUSED_RESULT, node, name=value.expression.function.name.split(".")[0])
        elif not isinstance(value.expression, (n.Operation, n.Update, n.Assign, n.Comma)):
            f.warn(messages.UNUSED_EXPRESSION, node)
    elif isinstance(node.value, ast.Call) and isinstance(value, Aggregate):
        f.warn(messages.UNUSED_RESULT, node, name=ast.unparse(node.value.func))
    elif not isinstance(node.value, ast.Call):
        f.warn(messages.UNUSED_EXPRESSION, node)


def _pass(f: Compiler, node: ast.Pass) -> None:
    """Nothing."""


# ------------------------------------------------------------------ assignments


def _assign(f: Compiler, node: ast.Assign) -> None:
    value = f.read(node.value)
    if isinstance(value, Nothing):
        name = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
        purpose = ", which changes a matrix that it is given," if name.startswith("joint_matrix_") else ""
        raise f.fail(messages.NO_VALUE, node.value, what=f"{name}(…){purpose}")
    if isinstance(value, Matrix) and not isinstance(node.value, ast.Subscript | ast.Attribute):
        raise f.fail(messages.MATRIX_COPY, node.value, source=ast.unparse(node.value))
    if len(node.targets) > 1:
        value = f.materialize(value, "", node.value, variables=False)
        value = f.loaded(value, node.value)
        if isinstance(value, MATRICES):
            raise f.fail(messages.MATRIX_COPY, node.value, source=ast.unparse(node.value))
    for target in node.targets:
        store(f, target, value, node.value)


def store(f: Compiler, target: ast.expr, value: Value, node: ast.expr) -> None:
    """Assign a value to a name, an element, or several."""
    match target:
        case ast.Tuple() | ast.List():
            _unpack(f, target, value, node)
        case ast.Name():
            _store_name(f, target, value, node)
        case ast.Subscript() | ast.Attribute():
            _store_part(f, target, value, node)
        case _:
            raise f.fail(messages.UNSUPPORTED_EXPRESSION, target, what="assigning to this",
                         advice="assign to a name or to an element")


def _store_part(f: Compiler, target: ast.Subscript | ast.Attribute, value: Value, node: ast.expr) -> None:
    """Assign to an element of memory or of a list, or to a field."""
    _refuse_immutable(f, target)
    place = f.evaluate(target)
    if isinstance(place, Matrix) and isinstance(value, MatrixValue):
        assign_matrix(f, ast.unparse(target), place, value, target)
    elif isinstance(place, Matrix):
        raise f.fail(messages.MATRIX_COPY, node, source=ast.unparse(target))
    elif isinstance(place, Aggregate) and not (isinstance(place, Sequence) and place.is_list):
        aggregates.assign(f, place, value, ast.unparse(target), node)
    elif isinstance(place, Element):
        _check_writable(f, place, target)
        f.assign(place, aggregates.stored(f, value, place, node), node)
    elif isinstance(place, Method):
        raise f.fail(messages.NO_ATTRIBUTE, target, found=place.receiver, name=place.name, hint="")
    else:
        raise f.fail(messages.PARAMETER_ASSIGNED, target, name=ast.unparse(target), found=place)


def _refuse_immutable(f: Compiler, target: ast.expr) -> None:
    """The elements of a tuple, and the fields of what is frozen, keep their values."""
    if isinstance(target, ast.Subscript | ast.Attribute):
        base = f.read(target.value)
        if isinstance(base, Aggregate) and not base.is_mutable:
            what = "an element of a tuple" if owner_of(base) is None else f"part of {base}, which cannot be changed,"
            raise f.fail(messages.PARAMETER_ASSIGNED, target, name=ast.unparse(target), found=what)


def _check_writable(f: Compiler, place: Element, node: ast.expr) -> None:
    """Nothing is written through a pointer to const."""
    if isinstance(place.place, n.Dereference):
        pointer = place.place.pointer.type
        if isinstance(pointer, t.Pointer) and pointer.const:
            raise f.fail(messages.PARAMETER_ASSIGNED, node, name=ast.unparse(node),
                         found=f"behind a {shown_type(pointer)}, which is only read,")


def _unpack(f: Compiler, target: ast.Tuple | ast.List, value: Value, node: ast.expr) -> None:
    """``a, b = b, a``: all values are read before the first is assigned; the matrices of a list get names."""
    if isinstance(value, Runtime) and vectors.vector_type(value) is not None:
        value = Sequence(tuple(vectors.items(f, value, node)), is_list=False)
    if not isinstance(value, Sequence):
        raise f.fail(messages.UNPACK, node, expected=len(target.elts), found=value)
    items = [f.held(item, node) for item in value.items]
    targets, items = _starred(f, target, items, node)
    is_written_out = isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(items)
    places = node.elts if isinstance(node, ast.Tuple | ast.List) and is_written_out else [node] * len(items)
    if is_written_out:  # a, b = b, a
        names = set(map(ast.unparse, targets))
        items = [f.held(released(f, item, node), node) if ast.unparse(place) in names else item
                 for item, place in zip(items, places, strict=True)]
    for part, item, place in zip(targets, items, places, strict=True):
        if isinstance(item, Matrix) and is_written_out:
            raise f.fail(messages.MATRIX_COPY, place, source=ast.unparse(place))
        store(f, part, item, place)


def _starred(f: Compiler, target: ast.Tuple | ast.List, items: list[Value],
             node: ast.expr) -> tuple[list[ast.expr], list[Value]]:
    """The targets and what each gets: one with a star gets a list of what the others leave."""
    star = next((index for index, part in enumerate(target.elts) if isinstance(part, ast.Starred)), None)
    more = len(items) - len(target.elts)
    if more if star is None else more < -1:
        expected = len(target.elts) if star is None else f"{len(target.elts) - 1} or more"
        raise f.fail(messages.UNPACK, node, expected=expected, found=len(items))
    if star is None:
        return target.elts, items
    starred = target.elts[star]
    assert isinstance(starred, ast.Starred)
    after = star + more + 1
    rest = Sequence(tuple(items[star:after]), is_list=True)
    return [*target.elts[:star], starred.value, *target.elts[star + 1:]], [*items[:star], rest, *items[after:]]


def _store_name(f: Compiler, target: ast.Name, value: Value, node: ast.expr) -> None:
    name = target.id
    before = f.names.get(name)
    if isinstance(before, Erroneous):
        before = None
    if isinstance(before, Element):
        aggregates.assign(f, before, value, name, node)
        f.assignments.assign(name)
    elif before is None or f.is_assigned_once(name):
        _check_sharing(f, name, value, node)
        local_memory.give_name(value, name)
        f.bind(name, _first_value(f, name, value, node))
    elif isinstance(before, Static) and isinstance(value, Static) and before.value is value.value:
        f.assignments.assign(name)
    elif isinstance(before, Matrix) and isinstance(value, NewMatrix) and is_same_type(before, value):
        if has_other_names(f, name, before):
            raise f.fail(messages.MATRIX_SHARED, node, name=name)
        f.assignments.assign(name)  # it is as undefined as a new one
    elif isinstance(before, Matrix) and isinstance(value, MatrixValue):
        if is_same_type(before, value) and has_other_names(f, name, before) and f.is_straight:
            f.bind(name, f.declare_matrix(value, name, node))  # the others keep theirs
        else:
            assign_matrix(f, name, before, value, target)
        f.assignments.assign(name)
    elif isinstance(before, AtomicRef):
        raise f.fail(messages.ATOMIC_ASSIGNED, target, name=name, found=before)
    elif isinstance(before, Aggregate):
        _store_aggregate(f, name, before, value, node)
    else:
        raise f.fail(messages.REBOUND, target, name=name, before=before, after=value)


def _first_value(f: Compiler, name: str, value: Value, node: ast.AST) -> Value:
    """What the first assignment binds: a constant that stays one, an object, or a new variable."""
    facts = f.scope.names.get(name)
    is_once = f.is_assigned_once(name)
    stays = f.holds_wherever_used(name)
    if isinstance(value, Static) and is_number(value):
        if stays and is_once:
            return value
        found = expression(f, value, node)
        return f.declare(name, found.type, node, found)
    is_changed = bool(facts and facts.item_stores) or not is_once
    if not is_once:
        value = aggregates.opened(f, value, node)
    return f.materialize(value, name, node, variables=is_changed or not stays)


def _store_aggregate(f: Compiler, name: str, before: Aggregate, value: Value, node: ast.expr) -> None:
    """A later assignment of a tuple or structure is one of its parts. One that can change must not have two names,
    because both would change."""
    if before.is_mutable and (aggregates.is_shared(before) or aggregates.roots(value) or _sharers(f, name, before)):
        raise f.fail(messages.REBOUND, node, name=name, before=before, after=value)
    aggregates.assign(f, before, value, name, node)
    f.assignments.assign(name)


def _check_sharing(f: Compiler, name: str, value: Value, node: ast.expr) -> None:
    """A list or structure that gets a second name is assigned once under each, and is none of constants."""
    if not isinstance(value, Aggregate) or not value.is_mutable:
        return
    sharers = _sharers(f, name, value)
    for one in (name, *sharers) if sharers else ():
        if f.scope.count_stores(one, f.left_out) > 1:
            reason = f"and '{one}' is assigned more than once; assign its parts one by one, or use different names"
            raise f.fail(messages.SHARED, node, name=name, found=value, reason=reason)
    facts = f.scope.names.get(name)
    is_other = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(
        getattr(node, "slice", None), ast.Slice)
    if is_other and facts is not None and facts.item_stores and any(
            isinstance(leaf, Static) and is_number(leaf) for leaf in leaves(value)):
        copy = f"; write list({ast.unparse(node)}) to copy it" if isinstance(value, Sequence) else ""
        raise f.fail(messages.SHARED, node, name=name, found=value, reason=f"whose elements are constants{copy}")


def _sharers(f: Compiler, name: str, value: Aggregate) -> list[str]:
    """The other names of a list or structure."""
    roots = aggregates.roots(value)
    return [other for other, held in f.names.items()
            if other != name and isinstance(held, Aggregate) and held.is_mutable and roots & aggregates.roots(held)]


def _annotated(f: Compiler, node: ast.AnnAssign) -> None:
    """``x: float64 = 0``: a variable of that type."""
    type_ = type_of_annotation(f, node.annotation)
    if typing.get_origin(type_) is list and isinstance(node.target, ast.Name) and node.value is not None:
        elements = aggregates.elements_of_type(f, f.read(node.value), typing.get_args(type_)[0], node)
        _store_name(f, node.target, elements, node.value)
        return
    if not isinstance(type_, (ElementType, VectorType, PointerType)):
        raise f.fail(messages.NOT_A_TYPE, node.annotation, found=type_)
    if not isinstance(node.target, ast.Name):
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, node.target, what="a type for this", advice="give it to a name")
    tree = type_.tree if isinstance(type_, PointerType) else type_.type
    hints = type_.hints if isinstance(type_, PointerType) else None
    value = None if node.value is None else expression(f, f.read(node.value), node.value, tree)
    before = f.names.get(node.target.id)
    if isinstance(before, Element):
        if before.type != tree:
            raise f.fail(messages.TYPE_CHANGES, node, name=node.target.id, type=shown_type(before.type),
                         found=f"a variable of type {type_}", hint="")
        if value is not None:
            f.assign(before, value, node)
            f.assignments.assign(node.target.id)
        return
    if before is not None and not isinstance(before, Erroneous):
        raise f.fail(messages.REBOUND, node, name=node.target.id, before=before, after=f"a variable of type {type_}")
    f.names[node.target.id] = f.declare(node.target.id, tree, node, value,
                                        *([hints] if hints is not None else []))


def _augmented(f: Compiler, node: ast.AugAssign) -> None:
    """``x += 1``: the place is found once."""
    symbol = SYMBOLS[type(node.op)]
    _refuse_immutable(f, node.target)
    place = f.evaluate(node.target)
    if isinstance(place, AtomicRef):
        written = ast.copy_location(ast.Call(node.target, [node.value], []), node)
        given = CallSite(f, f"{symbol}=", written, [f.read(node.value)], receiver=place)
        result = f.unit.handlers.methods[AtomicRef](given)
        f.perform(expression(f, result, node))
        return
    if isinstance(place, Matrix):
        value = binary(f, symbol, place, f.read(node.value), node)
        if isinstance(value, MatrixValue):
            assign_matrix(f, ast.unparse(node.target), place, value, node, in_place=True)
            return
    if isinstance(place, Aggregate) and owner_of(place) is not None:
        store(f, node.target, binary(f, symbol, place, f.read(node.value), node), node.value)
        return
    if not isinstance(place, Element):
        raise f.fail(messages.INVALID_OPERAND, node, operator=f"{symbol}=", found=place, hint="")
    _check_writable(f, place, node.target)
    current = n.CurrentValue(place.type, f.location(node))
    value = binary(f, symbol, Runtime(current, place.hints), f.read(node.value), node)
    found = type_of(f, value, node)
    if isinstance(node.target, ast.Name) and found.is_float and not place.type.is_float:
        raise f.fail(messages.TYPE_CHANGES, node, name=node.target.id, type=shown_type(place.type), found=value,
                     hint=aggregates.float_hint(place.type))
    update = n.Update(place.type, f.location(node), place.place, current,
                      expression(f, value, node, place.type))
    f.perform(update)


# ------------------------------------------------------------------ control flow


def _if(f: Compiler, node: ast.If) -> None:
    """A condition that is known decides what is compiled, as C++'s if constexpr does."""
    test = f.read(node.test)
    if isinstance(test, Static):
        sides = (node.body, node.orelse)
        chosen, other = sides if f.known_truth(test, node.test) else sides[::-1]
        f.left_out.add(id(other))
        f.unconditional.add(id(chosen))
        if chosen:
            f.emit(f.block(chosen, node))
        return
    choose(f, truth(f, test, node.test), node, *(partial(f.block, side, node) for side in (node.body, node.orelse)))


def choose(f: Compiler, condition: n.Expression, node: ast.AST, then: Callable[[], n.Block],
           otherwise: Callable[[], n.Block]) -> None:
    """A choice that the kernel makes; the sides are compiled by functions."""
    with f.assignments.choice() as ends:
        first, second = (_side(f, side, ends) for side in (then, otherwise))
    f.emit(n.If(f.location(node), condition, first, second if second.statements else None))


def _side(f: Compiler, side: Callable[[], n.Block], ends: list[Names | None]) -> n.Block:
    """One side of a choice."""
    f.loops.append(loops.branch(f))
    try:
        with f.assignments.side(ends):
            return side()
    finally:
        f.loops.pop()


def _return(f: Compiler, node: ast.Return) -> None:
    value: Value = Static(None) if node.value is None else released(f, f.read(node.value), node)
    if isinstance(value, Nothing):
        if value.expression is not None:
            f.perform(value.expression)
        value = Static(None)
    f.returned.append((value, node))
    is_empty = isinstance(value, Static) and value.value is None
    location = f.location(node)
    if is_empty and f.result is not None and not f.result.is_nothing and f.apply_to is None:
        raise f.fail(messages.MISSING_RETURN, node, name=f.node.name if isinstance(f.node, ast.FunctionDef) else "")
    if f.apply_to is not None:
        f.emit(n.Return(location, apply_result(f, None if is_empty else value, node)))
    else:
        f.emit(n.Return(location, None if f.result is None else returned(f, f.result, value, node)))
    f.assignments.leave()


def apply_result(f: Compiler, value: Value | None, node: ast.AST) -> n.Expression:
    """What a function given to joint_matrix_apply returns: its value, or its parameter's last one."""
    variable = f.apply_to
    assert variable is not None
    location = f.location(node)
    if value is None:
        return n.Load(variable.type, location, n.VariablePlace(variable.type, location, variable))
    return expression(f, value, node, variable.type)


def _function(f: Compiler, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        raise f.fail(messages.UNSUPPORTED_STATEMENT, node.decorator_list[0], what="a decorator inside of a kernel",
                     advice="leave it out")
    if node.name in f.names and not f.is_assigned_once(node.name):
        raise f.fail(messages.REBOUND, node, name=node.name, before=f.names[node.name], after="a function")
    f.bind(node.name, f.local(node))


STATEMENTS: dict[type[ast.stmt], StatementHandler] = {
    ast.Expr: _expression, ast.Pass: _pass, ast.Assign: _assign, ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented, ast.If: _if, ast.Return: _return, ast.FunctionDef: _function,
    ast.For: loops.for_statement, ast.While: loops.while_statement, ast.Break: loops.break_statement,
    ast.Continue: loops.continue_statement,
}
"""What statements become; ``assert`` and ``match`` have modules of their own."""
