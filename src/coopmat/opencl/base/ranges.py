"""How many bits the value of an integer expression may need, whatever its type: clang's IntRange."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.tree.nodes import Binary, BinaryOperator, Conditional, Constant, Convert, Expression, Logical, Unary
from coopmat.tree.nodes import UnaryOperator as U
from coopmat.tree.types import Enumeration, Scalar, Type


@dataclass(frozen=True, slots=True)
class IntegerRange:
    """Values of ``width`` bits, the sign's included unless the value ``is_positive`` (or zero)."""

    width: int
    is_positive: bool

    def join(self, other: IntegerRange) -> IntegerRange:
        """The range of what may be in either."""
        return IntegerRange(max(self.width, other.width), self.is_positive and other.is_positive)


BIT = IntegerRange(1, True)


def range_of_type(type_: Type) -> IntegerRange:
    """All values of an integer type."""
    if isinstance(type_, Enumeration):
        return IntegerRange(32, False)
    assert isinstance(type_, Scalar)
    return IntegerRange(type_.bits, type_.kind in ("uint", "bool"))


def range_of_constant(value: int) -> IntegerRange:
    """Just the bits that a number needs."""
    return IntegerRange(value.bit_length(), True) if value >= 0 else IntegerRange((~value).bit_length() + 1, False)


def range_of(expression: Expression) -> IntegerRange:
    """The values that an integer expression may have."""
    match expression:
        case Constant(value=value):
            return range_of_constant(int(value))
        case Convert(operand=operand) if _is_integer(operand.type):
            inner, outer = range_of(operand), range_of_type(expression.type)
            if inner.width < outer.width or (inner.width == outer.width and inner.is_positive == outer.is_positive):
                return IntegerRange(inner.width, inner.is_positive or outer.is_positive)
            return outer
        case Conditional(if_true=first, if_false=second):
            return range_of(first).join(range_of(second))
        case Logical() | Unary(operator=U.NOT):
            return BIT
        case Binary():
            return _range_of_binary(expression)
    return range_of_type(expression.type)


def _is_integer(type_: Type) -> bool:
    return type_.is_arithmetic and not type_.is_float


def _range_of_binary(expression: Binary) -> IntegerRange:
    whole = range_of_type(expression.type) if _is_integer(expression.type) else BIT
    if expression.operator.is_comparison or not _is_integer(expression.left.type):
        return BIT if expression.operator.is_comparison else whole
    left, right = range_of(expression.left), range_of(expression.right)
    match expression.operator:
        case BinaryOperator.AND:
            positive = [side.width for side in (left, right) if side.is_positive]
            return IntegerRange(min(positive), True) if positive else left.join(right)
        case BinaryOperator.SHIFT_RIGHT:
            amount = expression.right.value if isinstance(expression.right, Constant) else 0
            return IntegerRange(max(0 if left.is_positive else 1, left.width - int(amount) % whole.width),
                                left.is_positive)
        case BinaryOperator.DIVIDE:
            divisor = expression.right.value if isinstance(expression.right, Constant) else 1
            reduced = left.width - max(0, int(divisor).bit_length() - 1) if divisor > 0 else left.width
            return IntegerRange(max(1, reduced), left.is_positive and right.is_positive)
        case BinaryOperator.REMAINDER:
            return IntegerRange(min(left.width, right.width), left.is_positive)
        case BinaryOperator.SHIFT_LEFT | BinaryOperator.SUBTRACT:
            return whole
    joined = left.join(right)
    return IntegerRange(min(joined.width, whole.width), joined.is_positive or whole.is_positive)
