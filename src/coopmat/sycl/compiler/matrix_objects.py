"""Matrices as objects and as values: the elements of an object, and objects that get elements."""

from __future__ import annotations

import ast
import re

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.values import Aggregate, Matrix, MatrixValue, NewMatrix, Value, leaves
from coopmat.tree import nodes as n


def matrix_value(f: Compiler, value: Value, node: ast.AST) -> MatrixValue | None:
    """The elements of a matrix; None for other values."""
    if isinstance(value, NewMatrix):
        value = f.declare_matrix(value, "", node)
    if isinstance(value, Matrix):
        return MatrixValue(value.type, value.load(f.location(node)))
    return value if isinstance(value, MatrixValue) else None


def is_same_type(one: Matrix | MatrixValue, other: Matrix | MatrixValue | NewMatrix) -> bool:
    """Whether two matrices can meet: their shape, use and elements are the same."""
    return (one.type.tree, one.type.element) == (other.type.tree, other.type.element)


def is_same_place(one: n.Place, other: n.Place) -> bool:
    """Whether two places are one variable, or what one parameter points to."""
    if isinstance(one, n.VariablePlace) and isinstance(other, n.VariablePlace):
        return one.variable is other.variable
    parameters = [parameter_of(place) for place in (one, other)]
    return parameters[0] is not None and parameters[0] is parameters[1]


def parameter_of(place: n.Place) -> n.Variable | None:
    """The parameter that points to a place; None for a variable of the function."""
    pointer = place.pointer if isinstance(place, n.Dereference) else None
    held = pointer.place if isinstance(pointer, n.Load) else None
    return held.variable if isinstance(held, n.VariablePlace) else None


def released(f: Compiler, value: Value, node: ast.AST) -> Value:
    """What a function returns of matrices: their elements, which make new ones where it is called."""
    if isinstance(value, Aggregate):
        return value.with_items(released(f, item, node) for item in value.items)
    return matrix_value(f, value, node) or value


def assign_matrix(f: Compiler, name: str, place: Matrix, value: MatrixValue, node: ast.AST, *,
                  in_place: bool = False) -> None:
    """Store elements in the matrix that the source calls ``name``. ``in_place``: by ``m += …``, which changes it under
    its other names, too."""
    if not is_same_type(place, value):
        raise f.fail(messages.REBOUND, node, name=name, before=place, after=value)
    if not in_place:
        parameter = parameter_of(place.place)
        is_part = parameter is not None and not name.isidentifier()  # of a caller's object, which keeps the new one
        if has_several_names(f, place.place) if is_part else has_other_names(f, name, place):
            raise f.fail(messages.MATRIX_SHARED, node, name=name)
        if parameter is not None:
            f.rebound.add(parameter)
    f.perform(n.Assign(place.type.tree, f.location(node), place.place, value.expression))


def has_other_names(f: Compiler, name: str, matrix: Matrix) -> bool:
    """Whether a matrix is a caller's, or has another name here: assigning to one would change what the other means."""
    if not isinstance(matrix.place, n.VariablePlace):
        return True
    whole = re.split(r"[.\[]", name)[0]
    return any(matrix.place.variable in held_by(value) for other, value in f.names.items() if other != whole)


def has_several_names(f: Compiler, place: n.Place) -> bool:
    """Whether a matrix has names here other than that of one object which it is a part of."""
    variable = place.variable if isinstance(place, n.VariablePlace) else parameter_of(place)
    return len({held for value in f.names.values() if variable in (held := held_by(value))}) > 1


def held_by(value: Value) -> tuple[n.Variable, ...]:
    """The variables, or the parameters that point to such, of the matrices in a value."""
    places = [leaf.place for leaf in leaves(value) if isinstance(leaf, Matrix)]
    found = [place.variable if isinstance(place, n.VariablePlace) else parameter_of(place) for place in places]
    return tuple(variable for variable in found if variable is not None)
