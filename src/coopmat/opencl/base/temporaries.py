"""Values that are kept in temporary variables."""

from __future__ import annotations

from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.values import pointer_to
from coopmat.tree.nodes import (
    AddressOf,
    Assign,
    Comma,
    Constant,
    Dereference,
    Expression,
    Load,
    Place,
    Variable,
    VariablePlace,
)


def materialize(context: Analysis, expression: Expression) -> Place:
    """A place that holds a value: a temporary variable, set where the place is used."""
    place = VariablePlace(expression.type, expression.location,
                          context.temporary(expression.type, expression.location))
    pointer_type = pointer_to(place, expression.type)
    store = Assign(expression.type, expression.location, place, expression)
    address = AddressOf(pointer_type, expression.location, place)
    return Dereference(expression.type, expression.location,
                       Comma(pointer_type, expression.location, store, address))


def hold(context: Analysis, expression: Expression) -> tuple[Expression | None, Expression]:
    """A value for use more than once: the assignment to a temporary that comes first, and what to use. No
    assignment is needed for a constant and a plain variable."""
    match expression:
        case Constant() | Load(place=VariablePlace(variable=Variable(volatile=False))):
            return None, expression
    held = VariablePlace(expression.type, expression.location,
                         context.temporary(expression.type, expression.location))
    return (Assign(expression.type, expression.location, held, expression),
            Load(expression.type, expression.location, held))
