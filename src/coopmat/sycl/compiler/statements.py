"""Statements: assignments, if, while, return and their like; for loops are in :mod:`.loops`."""

from __future__ import annotations

import ast

from coopmat.sycl.compiler import loops, messages
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.assignments import Names
from coopmat.sycl.compiler.calls import METHODS, Call
from coopmat.sycl.compiler.elementwise import assign_matrix
from coopmat.sycl.compiler.function import STATEMENTS, FunctionCompiler
from coopmat.sycl.compiler.operators import SYMBOLS, binary, expression, truth, type_of
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import (
    MATRICES,
    AtomicRef,
    Element,
    Erroneous,
    Matrix,
    MatrixValue,
    Nothing,
    Runtime,
    Static,
    Value,
    shown_type,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.element_types import ElementType
from coopmat.sycl.pointers import PointerType
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def _expression(f: FunctionCompiler, node: ast.Expr) -> None:
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
    else:
        f.warn(messages.UNUSED_EXPRESSION, node)


def _pass(f: FunctionCompiler, node: ast.Pass) -> None:
    """Nothing."""


# ------------------------------------------------------------------ assignments


def _assign(f: FunctionCompiler, node: ast.Assign) -> None:
    value = f.read(node.value)
    if isinstance(value, Nothing):
        raise f.fail(messages.NO_VALUE, node.value, what="this call")
    if isinstance(value, Matrix):
        raise f.fail(messages.MATRIX_COPY, node.value, source=ast.unparse(node.value))
    if len(node.targets) > 1:
        value = f.materialize(value, "", node.value, variables=False)
        value = f.loaded(value, node.value)
        if isinstance(value, MATRICES):
            raise f.fail(messages.MATRIX_COPY, node.value, source=ast.unparse(node.value))
    for target in node.targets:
        store(f, target, value, node.value)


def store(f: FunctionCompiler, target: ast.expr, value: Value, node: ast.expr) -> None:
    """Assign a value to a name, an element, or several."""
    if isinstance(target, ast.Tuple | ast.List):
        _unpack(f, target, value, node)
    elif isinstance(target, ast.Name):
        _store_name(f, target, value, node)
    elif isinstance(target, ast.Subscript):
        _refuse_tuple(f, target)
        place = f.evaluate(target)
        if isinstance(place, Matrix) and isinstance(value, MatrixValue):
            base = target.value.id if isinstance(target.value, ast.Name) else ""
            assign_matrix(f, base, place, value, target)
            return
        if isinstance(place, Matrix):
            raise f.fail(messages.MATRIX_COPY, node, source=ast.unparse(target))
        if not isinstance(place, Element):
            raise f.fail(messages.PARAMETER_ASSIGNED, target, name=ast.unparse(target), found=place)
        _check_writable(f, place, target)
        f.assign(place, _stored(f, value, place, node), node)
    else:
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, target, what="assigning to this",
                     advice="assign to a name or to an element")


def _stored(f: FunctionCompiler, value: Value, place: Element, node: ast.AST) -> n.Expression:
    """What is stored; a floating-point constant takes the type of its place at once, without a detour by float32."""
    is_constant = isinstance(value, Static) and isinstance(value.value, float) and place.type.is_float
    return expression(f, value, node, place.type if is_constant else None)


def _refuse_tuple(f: FunctionCompiler, target: ast.expr) -> None:
    """The elements of a tuple keep their values."""
    if isinstance(target, ast.Subscript):
        base = f.read(target.value)
        if isinstance(base, ValueSequence) and not base.is_list:
            raise f.fail(messages.PARAMETER_ASSIGNED, target, name=ast.unparse(target), found="an element of a tuple")


def _check_writable(f: FunctionCompiler, place: Element, node: ast.expr) -> None:
    """Nothing is written through a pointer to const."""
    if isinstance(place.place, n.Dereference):
        pointer = place.place.pointer.type
        if isinstance(pointer, t.Pointer) and pointer.const:
            raise f.fail(messages.PARAMETER_ASSIGNED, node, name=ast.unparse(node),
                         found=f"behind a {shown_type(pointer)}, which is only read,")


def _unpack(f: FunctionCompiler, target: ast.Tuple | ast.List, value: Value, node: ast.expr) -> None:
    """``a, b = b, a``: all values are read before the first is assigned."""
    if isinstance(value, Static) and isinstance(value.value, (tuple, list)):
        value = ValueSequence(tuple(static_value(f, item, node) for item in value.value), False)
    if not isinstance(value, ValueSequence):
        raise f.fail(messages.UNPACK, node, expected=len(target.elts), found=value)
    if len(value.items) != len(target.elts):
        raise f.fail(messages.UNPACK, node, expected=len(target.elts), found=len(value.items))
    items = [f.temporary(loaded.expression, node, loaded.hints) if isinstance(loaded, Runtime) else loaded
             for loaded in (f.loaded(item, node) for item in value.items)]
    is_written_out = isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(items)
    places = node.elts if isinstance(node, ast.Tuple | ast.List) and is_written_out else [node] * len(items)
    if len(items) > 1:
        items = [MatrixValue(item.type, f.declare_matrix(item, "", node).load(f.location(node)))
                 if isinstance(item, MatrixValue) else item for item in items]
    for part, item, place in zip(target.elts, items, places, strict=True):
        if isinstance(item, Matrix):
            raise f.fail(messages.MATRIX_COPY, place, source=ast.unparse(place))
        store(f, part, item, place)


def _store_name(f: FunctionCompiler, target: ast.Name, value: Value, node: ast.expr) -> None:
    name = target.id
    before = f.names.get(name)
    if isinstance(before, Erroneous):
        before = None
    if isinstance(before, Element):
        _store_variable(f, name, before, value, node)
    elif before is None or f.scope.is_assigned_once(name):
        f.names[name] = _first_value(f, name, value, node)
    elif isinstance(before, Static) and isinstance(value, Static) and before.value is value.value:
        return
    elif isinstance(before, Matrix) and isinstance(value, MatrixValue):
        assign_matrix(f, name, before, value, target)
    elif isinstance(before, AtomicRef):
        raise f.fail(messages.ATOMIC_ASSIGNED, target, name=name, found=before)
    else:
        raise f.fail(messages.REBOUND, target, name=name, before=before, after=value)


def _first_value(f: FunctionCompiler, name: str, value: Value, node: ast.AST) -> Value:
    """What the first assignment binds: a constant that stays one, an object, or a new variable."""
    facts = f.scope.names.get(name)
    if isinstance(value, Static) and value.is_number:
        if f.scope.is_assigned_once(name):
            return value
        found = expression(f, value, node)
        return f.declare(name, found.type, node, found)
    return f.materialize(value, name, node, variables=bool(facts and facts.item_stores))


def _store_variable(f: FunctionCompiler, name: str, variable: Element, value: Value, node: ast.expr) -> None:
    """A later assignment converts to the variable's type, except from floating-point to integer."""
    if not isinstance(value, (Runtime, Static)) or (isinstance(value, Static) and not value.is_number
                                                    and not hasattr(value.value, "dtype")):
        raise f.fail(messages.REBOUND, node, name=name, before=variable, after=value)
    found = type_of(f, value, node)
    if found.is_float and not variable.type.is_float:
        raise f.fail(messages.TYPE_CHANGES, node, name=name, type=shown_type(variable.type), found=value,
                     hint=_float_hint(variable.type))
    if isinstance(found, t.Pointer) != isinstance(variable.type, t.Pointer):
        raise f.fail(messages.TYPE_CHANGES, node, name=name, type=shown_type(variable.type), found=value, hint="")
    f.assign(variable, _stored(f, value, variable, node), node)
    f.assignments.assign(name)


def _float_hint(type_: t.Type) -> str:
    return f"; make its first value a floating-point number, or convert with {shown_type(type_)}(…)"


def _annotated(f: FunctionCompiler, node: ast.AnnAssign) -> None:
    """``x: float64 = 0``: a variable of that type."""
    type_ = type_of_annotation(f, node.annotation)
    if not isinstance(type_, (ElementType, PointerType)):
        raise f.fail(messages.NOT_A_TYPE, node.annotation, found=type_)
    if not isinstance(node.target, ast.Name):
        raise f.fail(messages.UNSUPPORTED_EXPRESSION, node.target, what="a type for this", advice="give it to a name")
    tree = type_.scalar if isinstance(type_, ElementType) else type_.tree
    hints = type_.hints if isinstance(type_, PointerType) else None
    value = None if node.value is None else expression(f, f.read(node.value), node.value, tree)
    before = f.names.get(node.target.id)
    if isinstance(before, Element):
        if before.type != tree:
            raise f.fail(messages.TYPE_CHANGES, node, name=node.target.id, type=shown_type(before.type),
                         found=f"a variable of type {type_}", hint="")
        if value is not None:
            f.assign(before, value, node)
        return
    if before is not None and not isinstance(before, Erroneous):
        raise f.fail(messages.REBOUND, node, name=node.target.id, before=before, after=f"a variable of type {type_}")
    f.names[node.target.id] = f.declare(node.target.id, tree, node, value,
                                        *([hints] if hints is not None else []))


def _augmented(f: FunctionCompiler, node: ast.AugAssign) -> None:
    """``x += 1``: the place is found once."""
    symbol = SYMBOLS[type(node.op)]
    _refuse_tuple(f, node.target)
    place = f.evaluate(node.target)
    if isinstance(place, AtomicRef):
        written = ast.copy_location(ast.Call(node.target, [node.value], []), node)
        result = METHODS[AtomicRef](Call(f, f"{symbol}=", written, [f.read(node.value)], receiver=place))
        f.perform(expression(f, result, node))
        return
    if isinstance(place, Matrix):
        value = binary(f, symbol, place, f.read(node.value), node)
        if isinstance(value, MatrixValue):
            assign_matrix(f, ast.unparse(node.target), place, value, node, in_place=True)
            return
    if not isinstance(place, Element):
        raise f.fail(messages.INVALID_OPERAND, node, operator=f"{symbol}=", found=place, hint="")
    _check_writable(f, place, node.target)
    current = n.CurrentValue(place.type, f.location(node))
    value = binary(f, symbol, Runtime(current, place.hints), f.read(node.value), node)
    found = type_of(f, value, node)
    if isinstance(node.target, ast.Name) and found.is_float and not place.type.is_float:
        raise f.fail(messages.TYPE_CHANGES, node, name=node.target.id, type=shown_type(place.type), found=value,
                     hint=_float_hint(place.type))
    update = n.Update(place.type, f.location(node), place.place, current,
                      expression(f, value, node, place.type))
    f.perform(update)


# ------------------------------------------------------------------ control flow


def _if(f: FunctionCompiler, node: ast.If) -> None:
    """A condition that is known decides what is compiled, as C++'s if constexpr does."""
    test = f.read(node.test)
    if isinstance(test, Static):
        chosen = node.body if f.known_truth(test, node.test) else node.orelse
        if chosen:
            f.emit(f.block(chosen, node))
        return
    condition = truth(f, test, node.test)
    with f.assignments.choice() as ends:
        sides = [_side(f, statements, node, ends) for statements in (node.body, node.orelse)]
    f.emit(n.If(f.location(node), condition, sides[0], sides[1] if node.orelse else None))


def _side(f: FunctionCompiler, statements: list[ast.stmt], node: ast.AST, ends: list[Names | None]) -> n.Statement:
    """One side of a choice that the kernel makes."""
    f.loops.append(loops.branch(f))
    try:
        with f.assignments.side(ends):
            return f.block(statements, node)
    finally:
        f.loops.pop()


def _return(f: FunctionCompiler, node: ast.Return) -> None:
    value: Value = Static(None) if node.value is None else f.read(node.value)
    if isinstance(value, Matrix) and isinstance(value.place, n.VariablePlace):  # it ends with this function
        value = MatrixValue(value.type, value.load(f.location(node)))
    if isinstance(value, Nothing):
        if value.expression is not None:
            f.perform(value.expression)
        value = Static(None)
    f.returned.append((value, node))
    is_empty = isinstance(value, Static) and value.value is None
    location = f.location(node)
    if is_empty and f.result is not None and f.result != t.VOID and f.apply_to is None:
        raise f.fail(messages.MISSING_RETURN, node, name=f.node.name if isinstance(f.node, ast.FunctionDef) else "")
    if f.apply_to is not None:
        f.emit(n.Return(location, apply_result(f, None if is_empty else value, node)))
    elif is_empty or f.result is None or f.result == t.VOID:
        f.emit(n.Return(location))
    elif isinstance(value, MatrixValue) and value.expression.type == f.result:
        f.emit(n.Return(location, value.expression))
    else:
        f.emit(n.Return(location, expression(f, value, node, f.result)))
    f.assignments.leave()


def apply_result(f: FunctionCompiler, value: Value | None, node: ast.AST) -> n.Expression:
    """What a function given to joint_matrix_apply returns: its value, or its parameter's last one."""
    variable = f.apply_to
    assert variable is not None
    location = f.location(node)
    if value is None:
        return n.Load(variable.type, location, n.VariablePlace(variable.type, location, variable))
    return expression(f, value, node, variable.type)


def _function(f: FunctionCompiler, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        raise f.fail(messages.UNSUPPORTED_STATEMENT, node.decorator_list[0], what="a decorator inside of a kernel",
                     advice="leave it out")
    if node.name in f.names and not f.scope.is_assigned_once(node.name):
        raise f.fail(messages.REBOUND, node, name=node.name, before=f.names[node.name], after="a function")
    f.names[node.name] = f.local(node)


STATEMENTS.update({
    ast.Expr: _expression, ast.Pass: _pass, ast.Assign: _assign, ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented, ast.If: _if, ast.Return: _return, ast.FunctionDef: _function,
    ast.For: loops.for_statement, ast.While: loops.while_statement, ast.Break: loops.break_statement,
    ast.Continue: loops.continue_statement,
})
