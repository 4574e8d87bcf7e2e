"""Statements that do not do what their layout says, and values that nobody uses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema.checks.conditions import COMPARISONS, EQUALITIES
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Assign, Call, Expression, MatrixStore, Operation, Update
from coopmat.tree.types import VOID, Pointer
from coopmat.tree.walk import descendants

# ------------------------------------------------------------------ layout


def _line(location: SourceLocation) -> tuple[object, int]:
    return location.file, location.physical_line if location.physical_line is not None else location.line


def _indentation(location: SourceLocation) -> int | None:
    """The column of a place, if nothing stands before it in its line."""
    before = location.source_line[:location.column - 1]
    return len(before.expandtabs()) + 1 if not before.strip() and location.macro is None else None


def block(context: Context, items: list[syntax.Statement]) -> None:
    """The statements of a block, each with the one behind it."""
    for item, following in zip_longest(items, items[1:]):
        _empty_body(context, item, following)
        if following is not None:
            _misleading_indentation(context, item, following)


def _misleading_indentation(context: Context, item: syntax.Statement, following: syntax.Statement) -> None:
    """A statement that stands as if it belonged to the if or loop before it."""
    keyword, place, body = _tail(item)
    if body is None or place is None or isinstance(body, syntax.Compound):
        return
    columns = _indentation(place), _indentation(_start(body))
    start = _start(following)
    if columns[1] is None or _line(start) == _line(place) or isinstance(following, syntax.Labelled) \
            or start.macro is not None:
        return
    own = columns[0] if columns[0] is not None else 0
    column = _indentation(start)
    if (column is None and _line(start) == _line(_start(body))) or (column == columns[1] and columns[1] > own > 0):
        context.report(warnings.MISLEADING_INDENTATION, start,
                       (note("previous statement is here", place),), keyword=keyword)


def _tail(item: syntax.Statement) -> tuple[str, SourceLocation | None, syntax.Statement | None]:
    """The keyword whose body a statement ends with, where it stands, and the body."""
    match item:
        case syntax.If(otherwise=syntax.If() as inner):
            return _tail(inner)
        case syntax.If(otherwise=syntax.Statement() as body, else_location=place):
            return "else", place, body
        case syntax.If(then=body):
            return "if", item.location, body
        case syntax.For(body=body):
            return "for", item.location, body
        case syntax.While(body=body, tests_last=False):
            return "while", item.location, body
    return "", None, None


def _start(statement: syntax.Statement) -> SourceLocation:
    if isinstance(statement, syntax.ExpressionStatement) and statement.expression is not None:
        return start_of(statement.expression)
    return statement.location


def _is_empty(statement: syntax.Statement) -> bool:
    return isinstance(statement, syntax.ExpressionStatement) and statement.expression is None


def _empty_body(context: Context, item: syntax.Statement, following: syntax.Statement | None) -> None:
    """``if (x);`` and its like; a loop is suspicious only if what follows looks like its body."""
    match item:
        case syntax.If(then=body, close=close, otherwise=None):
            suspicious = True
        case syntax.Switch(body=body, close=close):
            suspicious = True
        case syntax.For(body=body, close=close) | syntax.While(body=body, close=close, tests_last=False):
            suspicious = following is not None and (
                isinstance(following, syntax.Compound) or (_start(following).column > item.location.column
                                                           and not _is_empty(following)))
        case _:
            return
    if suspicious and _is_empty(body) and close is not None and close.macro is None \
            and _line(close) == _line(body.location):
        keyword = type(item).__name__.lower()
        context.report(warnings.EMPTY_BODY, body.location,
                       (note("put the semicolon on a separate line to silence this warning", body.location),),
                       keyword=keyword, what="loop" if keyword in ("for", "while") else "statement")


def dangling_else(context: Context, node: syntax.If) -> None:
    """An ``else`` that belongs to the inner one of two ifs without braces."""
    if node.otherwise is not None:
        return
    inner = node.then
    while isinstance(inner, syntax.For | syntax.While):
        inner = inner.body
    if isinstance(inner, syntax.If) and inner.otherwise is not None:
        context.report(warnings.DANGLING_ELSE, inner.else_location)


# ------------------------------------------------------------------ unused values


def unused_value(context: Context, node: syntax.Expression, value: Expression) -> None:
    """An expression whose value is thrown away though it has no effect. ``value`` is what it means."""
    if node.location.macro is not None:
        return
    if isinstance(node, syntax.FunctionCall):
        if value.type != VOID and _is_pure(value):
            context.report(warnings.UNUSED_CALL, node.location)
        return
    useless = next(_useless(node), None)
    if useless is None:
        return
    inner, place = useless
    if isinstance(inner, syntax.Binary) and inner.operator in COMPARISONS and inner.parentheses is None:
        kind = {"==": "equality", "!=": "inequality"}.get(inner.operator, "relational")
        replacement = {"==": "=", "!=": "|="}.get(inner.operator)
        notes = (note(f"use '{replacement}' to turn this {kind} comparison into an "
                      f"{'assignment' if replacement == '=' else 'or-assignment'}", place),) \
            if inner.operator in EQUALITIES else ()
        context.report(warnings.UNUSED_COMPARISON, place, notes, kind=kind)
    else:
        context.report(warnings.UNUSED_VALUE, place)


def left_of_comma(context: Context, node: syntax.Expression) -> None:
    """The left operand of a comma, which is there for its effect only."""
    is_call = isinstance(node, syntax.FunctionCall)
    if node.location.macro is None and not is_call and next(_useless(node), None) is not None:
        context.report(warnings.USELESS_LEFT_OPERAND, start_of(node))


Useless = tuple[syntax.Expression, SourceLocation]


def _useless(node: syntax.Expression) -> Iterator[Useless]:
    """The expression whose result is not used, and where to point; nothing if there is an effect."""
    match node:
        case syntax.Binary(operator=","):
            yield from _useless(node.right)
        case syntax.Binary(operator="&&" | "||", right=right):
            if next(_useless(right), None) is not None:
                yield node, node.location
        case syntax.Conditional(if_true=syntax.Expression() as first, if_false=second):
            if next(_useless(first), None) is not None:
                yield from _useless(second)
        case syntax.Conditional(if_true=None, if_false=second):
            yield from _useless(second)
        case syntax.StatementExpression(body=syntax.Compound(items=[*_, syntax.ExpressionStatement(
                expression=syntax.Expression() as last)])):
            yield from _useless(last)
        case syntax.Unary(operator=operator) if operator in ("++", "--"):
            return
        case syntax.Cast(type_name=name) if "void" in name.specifiers.type_words:
            return
        case syntax.Index(end=SourceLocation() as end):
            yield node, end
        case syntax.Member():
            yield node, start_of(node)
        case syntax.Binary() | syntax.Name() | syntax.IntegerLiteral() | syntax.FloatLiteral() \
                | syntax.StringLiteral() | syntax.Unary() | syntax.Index() | syntax.Cast() \
                | syntax.SizeOf():
            yield node, node.location


_GROUPS = ("core.Group", "core.Control", "core.Memory", "core.Atomic", "core.Subgroup")


def _is_pure(value: Expression) -> bool:
    """Whether evaluating an expression changes nothing."""
    return not any(isinstance(part, (Call, Assign, Update, MatrixStore))
                   or (isinstance(part, Operation) and not _is_pure_operation(part)) for part in descendants(value))


def _is_pure_operation(operation: Operation) -> bool:
    if operation.name.startswith(_GROUPS):
        return False
    writes = any(isinstance(argument.type, Pointer) for argument in operation.arguments)
    return operation.name.startswith("std.vload") or not writes
