"""Functions that matrix instructions run for elements, and what both front ends need beside to make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.diagnostics import SourceLocation
from coopmat.tree import nodes as n
from coopmat.tree.types import BFLOAT16, FLOAT, UINT, Scalar, Type

ROW, COLUMN = 1, 2
AXES = {"row": ROW, "column": COLUMN, "all": ROW | COLUMN}
"""What a reduction makes one element of (SPIR-V's Cooperative Matrix Reduce)."""

_ARITHMETIC = {"add": n.BinaryOperator.ADD, "mul": n.BinaryOperator.MULTIPLY}
COMBINATIONS = ("add", "min", "max", "mul")
"""What a reduction computes of two elements. Of a number and a NaN, minimum and maximum are the number."""


def computable(scalar: Scalar) -> Scalar:
    """The type in which arithmetic on elements is done: bfloat16 has none of its own."""
    return FLOAT if scalar == BFLOAT16 else scalar


def converted(expression: n.Expression, type_: Type) -> n.Expression:
    """A number, or matrix, as another type."""
    return expression if expression.type == type_ else n.Convert(type_, expression.location, expression)


def combination(operation: str, element: Scalar) -> n.Function:
    """The function that combines two elements in a reduction."""
    type_ = computable(element)

    def combined(values: Sequence[n.Expression]) -> n.Expression:
        if operation in _ARITHMETIC:
            return n.Binary(type_, None, _ARITHMETIC[operation], *values)
        prefix = "f" if type_.is_float else "s_" if type_.kind == "sint" else "u_"
        return n.Operation(type_, None, f"std.{prefix}{operation}", tuple(values))

    return _function(f"reduce_{operation}", element, [n.Variable(name, element, None) for name in "xy"], combined)


def of_elements(name: str, element: Scalar, others: Sequence[Type],
                compute: Callable[[Sequence[n.Expression]], n.Expression],
                location: SourceLocation | None = None) -> n.Function:
    """A function for :class:`coopmat.tree.nodes.MatrixApply` that does not ask for an element's place: ``compute`` gets
    the element and, of types ``others``, what else there is, as it can be computed with."""
    place = [n.Variable(name, UINT, location) for name in ("row", "column")]
    values = [n.Variable("x", element, location),
              *(n.Variable(f"y{number}", type_, location) for number, type_ in enumerate(others))]
    return _function(name, element, values, compute, place, location)


def _function(name: str, element: Scalar, values: Sequence[n.Variable],
              compute: Callable[[Sequence[n.Expression]], n.Expression], before: Sequence[n.Variable] = (),
              location: SourceLocation | None = None) -> n.Function:
    given = [value_of(variable, location) for variable in values]
    result = converted(compute([converted(one, computable(one.type)) if isinstance(one.type, Scalar) else one
                                for one in given]), element)
    body = n.Block(location, (n.Return(location, result),))
    return n.Function(name, element, [*before, *values], location, body=body)


def value_of(variable: n.Variable, location: SourceLocation | None) -> n.Load:
    """The value of a variable."""
    return n.Load(variable.type, location, n.VariablePlace(variable.type, location, variable))
