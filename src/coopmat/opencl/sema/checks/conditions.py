"""Operators that bind otherwise than they look, and assignments that look like comparisons: -Wparentheses."""

from __future__ import annotations

from dataclasses import replace

from coopmat.diagnostics import Diagnostic, FixIt, Marks, note
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import end_of, extent, start_of
from coopmat.opencl.sema.context import Context
from coopmat.tree import constants
from coopmat.tree.nodes import Expression
from coopmat.tree.types import BOOL

EQUALITIES = frozenset({"==", "!="})
COMPARISONS = EQUALITIES | {"<", ">", "<=", ">="}
BITWISE = frozenset({"&", "^", "|"})
SUMS = frozenset({"+", "-"})
LOGICAL = frozenset({"&&", "||"})


def condition(context: Context, node: syntax.Expression) -> None:
    """What stands in the parentheses behind if, while and for."""
    if isinstance(node, syntax.Assignment) and node.operator == "=" and node.parentheses is None:
        notes = (_parenthesize("assignment", node),
                 note("use '==' to turn this assignment into an equality comparison", node.location,
                      Marks(fix=FixIt(node.location, "=="))))
        context.report(warnings.ASSIGNMENT_AS_CONDITION, node.location, notes)
    elif (isinstance(node, syntax.Binary) and node.operator == "==" and node.parentheses is not None
          and node.location.macro is None and isinstance(node.left, syntax.Name | syntax.Index | syntax.Member)):
        notes = (note("remove extraneous parentheses around the comparison to silence this warning", node.location,
                      Marks(ranges=node.parentheses)),
                 note("use '=' to turn this equality comparison into an assignment", node.location,
                      Marks(fix=FixIt(node.location, "="))))
        context.report(warnings.EXTRA_PARENTHESES, node.location, notes)


def conditional(context: Context, node: syntax.Conditional) -> None:
    """``a + b ? c : d`` where b is a condition itself."""
    test = node.condition
    if (isinstance(test, syntax.Binary) and test.parentheses is None and test.operator in SUMS | {"*", "/", "%"}
            and (_looks_boolean(test.right) or _is_known_boolean(context, test.right))):
        context.report(warnings.SUM_AS_CONDITION, node.location, (_parenthesize(f"'{test.operator}'", test),),
                       inner=test.operator)


def binary(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """An operator whose operand is another operator without parentheses."""
    operator = node.operator
    if operator in BITWISE:
        for side in (node.left, node.right):
            _comparison_in_bits(context, node, side)
            _bits_in_bits(context, node, side)
    elif operator in ("<<", ">>"):
        for side in (node.left, node.right):
            _sum_in_shift(context, node, side)
    elif operator == "||":
        _and_within_or(context, node, left, right)
    if operator in LOGICAL:
        _constant_operand(context, node, left, right)
    elif operator in COMPARISONS | {"&", "|", "^"}:
        _not_of_left_side(context, node, left, right)


def _is_plain(node: syntax.Expression, operators: frozenset[str]) -> bool:
    """Whether this is one of these operators without parentheses around it, written where it stands."""
    return isinstance(node, syntax.Binary) and node.operator in operators and node.parentheses is None


def _parenthesize(what: str, node: syntax.Expression) -> Diagnostic:
    """The note that parentheses around an expression say that it is meant so."""
    return note(f"place parentheses around the {what} expression to silence this warning"
                if what != "assignment" else "place parentheses around the assignment to silence this warning",
                node.location, _around(node))


def _around(node: syntax.Expression) -> Marks:
    """An opening and a closing parenthesis below an expression."""
    first, last = start_of(node), end_of(node)
    width = last.column + last.length - first.column
    is_one_line = (first.file, first.line) == (last.file, last.line) and first.macro is None and last.macro is None
    if not is_one_line:
        return Marks()
    return Marks(fix=FixIt(replace(first, column=max(1, first.column - 1)), f"({' ' * width})"))


def _comparison_in_bits(context: Context, node: syntax.Binary, side: syntax.Expression) -> None:
    """``a & b == c``; with comparisons on both sides it is meant so."""
    other = node.right if side is node.left else node.left
    if not _is_plain(side, COMPARISONS) or _is_plain(other, COMPARISONS) or not isinstance(side, syntax.Binary):
        return
    notes = (_parenthesize(f"'{side.operator}'", side),)
    context.report(warnings.COMPARISON_FIRST, node.location, notes, outer=node.operator, inner=side.operator)


def _bits_in_bits(context: Context, node: syntax.Binary, side: syntax.Expression) -> None:
    inner = {"|": BITWISE - {"|"}, "^": frozenset({"&"})}.get(node.operator, frozenset())
    if isinstance(side, syntax.Binary) and _is_plain(side, frozenset(inner)):
        context.report(warnings.BITWISE_WITHIN, side.location, (_parenthesize(f"'{side.operator}'", side),),
                       inner=side.operator, outer=node.operator)


def _sum_in_shift(context: Context, node: syntax.Binary, side: syntax.Expression) -> None:
    if isinstance(side, syntax.Binary) and _is_plain(side, SUMS):
        context.report(warnings.SUM_IN_SHIFT, side.location, (_parenthesize(f"'{side.operator}'", side),),
                       inner=side.operator, outer=node.operator)


def _and_within_or(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """``a && b || c``; a constant 0 on the other side makes no difference."""
    for side, other in ((node.left, right), (node.right, left)):
        if isinstance(side, syntax.Binary) and _is_plain(side, frozenset({"&&"})) and constants.evaluate(other) != 0:
            context.report(warnings.AND_WITHIN_OR, side.location, (_parenthesize("'&&'", side),))


def _constant_operand(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """``a && 4``, where ``&`` may have been meant."""
    if node.location.macro is not None or node.right.location.macro is not None:
        return
    if not (left.type.is_integer and right.type.is_integer) or constants.evaluate(right) in (None, 0, 1):
        return
    bitwise = node.operator[0]
    notes = (note(f"use '{bitwise}' for a bitwise operation", node.location,
                  Marks(fix=FixIt(node.location, bitwise))),
             note("remove constant to silence this warning", node.location, Marks(ranges=(extent(node.right),))))
    context.report(warnings.CONSTANT_LOGICAL_OPERAND, node.location, notes, operator=node.operator)


def _not_of_left_side(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """``!a == b``, unless both are truth values."""
    inner = node.left
    if not (isinstance(inner, syntax.Unary) and inner.operator == "!" and inner.parentheses is None):
        return
    if _looks_boolean(inner.operand) or _looks_boolean(node.right) or right.type == BOOL \
            or not left.type.is_arithmetic or _is_known_boolean(context, inner.operand):
        return
    what = "comparison" if node.operator in COMPARISONS else "bitwise operator"
    notes = (note(f"add parentheses after the '!' to evaluate the {what} first", inner.location),
             note("add parentheses around left hand side expression to silence this warning", inner.location))
    context.report(warnings.NOT_OF_LEFT_SIDE, inner.location, notes, what=what)


def _is_known_boolean(context: Context, node: syntax.Expression) -> bool:
    """Whether a name is that of a bool."""
    symbol = context.lookup(node.name) if isinstance(node, syntax.Name) else None
    return getattr(symbol, "type", None) == BOOL


def _looks_boolean(node: syntax.Expression) -> bool:
    """Whether an expression is a truth value by its form."""
    match node:
        case syntax.Binary(operator=operator):
            return operator in COMPARISONS | LOGICAL
        case syntax.Unary(operator=operator):
            return operator == "!"
    return False
