"""C's arithmetic conversions on the typed tree, which both front ends follow (C99 6.3.1)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.tree import constants
from coopmat.tree.nodes import Constant, Convert, Expression
from coopmat.tree.types import BOOL, DOUBLE, FLOAT, INT, Enumeration, Scalar, Type


def is_bool_valued(expression: Expression) -> bool:
    """Whether ``expression`` is a bool that C's rules made an int."""
    return isinstance(expression, Convert) and expression.type == INT and expression.operand.type == BOOL


def make_convert(expression: Expression, type_: Type, location: SourceLocation | None = None) -> Expression:
    """Convert between scalars or between vectors of one length; constants are converted at once."""
    if expression.type == type_:
        return expression
    location = location or expression.location
    if isinstance(expression, Convert) and is_bool_valued(expression):
        return make_convert(expression.operand, type_, location)  # 0 or 1 either way
    if isinstance(expression, Constant):
        value = constants.convert_number(expression.value, expression.type, type_)
        if value is not None:
            return Constant(type_, location, value)
    return Convert(type_, location, expression)


def promoted_type(type_: Type) -> Type:
    """The type after the integer promotions (C99 6.3.1.1): int for everything smaller."""
    if isinstance(type_, Enumeration):
        return promoted_type(type_.underlying)
    if isinstance(type_, Scalar) and type_.kind in ("bool", "sint", "uint") and type_.bits < 32:
        return INT
    return type_


def promote(expression: Expression) -> Expression:
    """Apply the integer promotions."""
    return make_convert(expression, promoted_type(expression.type))


_FLOAT_RANKS = {("float", 16): 1, ("float", 32): 2, ("float", 64): 3}


def common_type(left: Type, right: Type) -> Scalar:
    """The usual arithmetic conversions' type for two scalars (C99 6.3.1.8; half below float).

    A bfloat16 mixes with integers as bfloat16; with half, neither of which holds the other, as float.
    """
    left, right = promoted_type(left), promoted_type(right)
    assert isinstance(left, Scalar)
    assert isinstance(right, Scalar)
    if left == right:
        return left
    floats = [type_ for type_ in (left, right) if type_.is_float]
    if len(floats) == 1:
        return floats[0]
    if floats:
        if "bfloat" in (left.kind, right.kind):
            return DOUBLE if DOUBLE in floats else FLOAT
        return max(floats, key=lambda type_: _FLOAT_RANKS[type_.kind, type_.bits])
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return left if left.kind == "uint" else right
