"""Comparisons whose result is known beforehand, or depends on a sign: -Wtautological-compare, -Wsign-compare."""

from __future__ import annotations

from coopmat.diagnostics import note
from coopmat.opencl.base.ranges import range_of, range_of_constant
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema.context import Context
from coopmat.tree import constants
from coopmat.tree.conversions import common_type, is_bool_valued, promoted_type
from coopmat.tree.nodes import Expression
from coopmat.tree.types import BOOL, Pointer, Scalar, Type

Operand = syntax.TypeName | syntax.Expression

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def check(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """A comparison of two values, before their types are made one."""
    is_literal = isinstance(node.left, syntax.IntegerLiteral)
    if node.location.macro is None and _same(node.left, node.right) and not left.type.element.is_float \
            and not is_literal:
        context.report(warnings.SELF_COMPARISON, node.location,
                       result="true" if node.operator in ("==", "<=", ">=") else "false")
    elif _is_integer(left.type) and _is_integer(right.type) and not _check_constant(context, node, left, right):
        _check_signs(context, node, left, right)


def _is_integer(type_: Type) -> bool:
    return isinstance(type_, Scalar) and not type_.is_float


def _same(left: syntax.Expression, right: syntax.Expression) -> bool:
    """Whether two expressions without effects name the same thing."""
    match left, right:
        case syntax.Name(name=first), syntax.Name(name=second):
            return first == second
        case syntax.IntegerLiteral(value=one), syntax.IntegerLiteral(value=other):
            return one == other
        case syntax.Index(base=first_base, index=first_index), syntax.Index(base=second_base, index=second_index):
            return (_same(first_base, second_base) and _same(first_index, second_index)
                    and not isinstance(first_base, syntax.IntegerLiteral))
        case syntax.Member(base=first_base, name=first), syntax.Member(base=second_base, name=second):
            return first == second and _same(first_base, second_base)
    return False


# ------------------------------------------------------------------ constants


def _check_constant(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> bool:
    """Whether one side is a constant that the other one's type decides about; that is reported."""
    values = constants.evaluate(left), constants.evaluate(right)
    if (values[0] is None) == (values[1] is None):
        return values[0] is not None
    other, value = (right, values[0]) if values[0] is not None else (left, values[1])
    operator = node.operator if other is left else _MIRRORED.get(node.operator, node.operator)
    assert isinstance(value, int)
    result = _result(context, operator, other, value, common_type(left.type, right.type))
    if result is None:
        return False
    is_truth = other.type == BOOL or is_bool_valued(other)
    low, high = _limits(other)
    if low <= value <= high and not is_truth:
        comparison = f"{operator} {value}" if other is left else f"{value} {node.operator}"
        context.report(warnings.UNSIGNED_WITH_ZERO, node.location, comparison=comparison, result=result)
        return False
    what = "boolean expression" if is_bool_valued(other) else f"expression of type '{other.type}'"
    message = warnings.BOOLEAN_COMPARISON if low <= value <= high else warnings.OUT_OF_RANGE_COMPARISON
    context.report(message, node.location, constant=value, what=what, result=result)
    return True


def _limits(expression: Expression) -> tuple[int, int]:
    """The least and the greatest value of an expression's type; of a truth value 0 and 1."""
    if expression.type == BOOL or is_bool_valued(expression):
        return 0, 1
    assert isinstance(expression.type, Scalar)
    signed = expression.type.kind == "sint"
    return (-(1 << expression.type.bits - 1), (1 << expression.type.bits - 1) - 1) if signed \
        else (0, (1 << expression.type.bits) - 1)


def _result(context: Context, operator: str, other: Expression, value: int, common: Scalar) -> str | None:
    """``true`` or ``false`` if comparing any value of ``other`` with a constant gives that."""
    low, high = _limits(other)
    if low < 0 and common.kind == "uint":
        return None
    value = constants.wrap(value, common)
    equal = None if low <= value <= high else "false"
    less = "true" if high < value else "false" if low >= value else None
    greater = "true" if low > value else "false" if high <= value else None
    opposite = {"true": "false", "false": "true", None: None}
    is_only_bound = (low <= value <= high and low != 0) or (value == high and (low, high) != (0, 1))
    found = {"==": equal, "!=": opposite[equal], "<": less, ">=": opposite[less], ">": greater,
             "<=": opposite[greater]}[operator]
    return None if is_only_bound else found


# ------------------------------------------------------------------ signs


def _check_signs(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """A signed value that may be negative, compared as unsigned."""
    common = common_type(left.type, right.type)
    kinds = [getattr(promoted_type(side.type), "kind", None) for side in (left, right)]
    if common.kind != "uint" or sorted(map(str, kinds)) != ["sint", "uint"]:
        return
    signed, unsigned = (left, right) if kinds[0] == "sint" else (right, left)
    if range_of(signed).is_positive:
        return
    constant = constants.evaluate(unsigned)
    if node.operator in ("==", "!=") and isinstance(constant, int) \
            and range_of_constant(constant).width < common.bits:
        return
    context.report(warnings.SIGN_COMPARE, node.location, left=left.type, right=right.type)


# ------------------------------------------------------------------ assignments and sizes


def assignment(context: Context, node: syntax.Assignment, type_: Type) -> None:
    """``x = x``, which clang says of variables only."""
    names = isinstance(node.target, syntax.Name) and isinstance(node.value, syntax.Name)
    if names and node.operator in ("=", "&=", "|=") and _same(node.target, node.value) \
            and node.location.macro is None:
        context.report(warnings.SELF_ASSIGNMENT, node.location, type=type_)


def quotient(context: Context, node: syntax.Binary) -> None:
    """``sizeof(p) / sizeof(*p)`` of a pointer ``p``, which is no array's length."""
    match node.left, node.right:
        case (syntax.SizeOf(operand=syntax.Name(name=name)), syntax.SizeOf(operand=divisor)):
            symbol = context.lookup(name)
            type_ = getattr(symbol, "type", None)
            if isinstance(type_, Pointer) and context.operand_type(divisor) == type_.pointee:
                declared = getattr(symbol, "location", None)
                context.report(warnings.SIZE_OF_POINTER, node.location,
                               (note(f"pointer '{name}' declared here", declared),), name=name)
