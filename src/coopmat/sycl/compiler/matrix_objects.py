"""Matrices as objects and as values: the elements of an object, and objects that get elements."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.values import Aggregate, Matrix, MatrixValue, NewMatrix, Value, leaves, root_of
from coopmat.tree import nodes as n

if TYPE_CHECKING:
    from coopmat.sycl.compiler.function import FunctionCompiler


def matrix_value(f: FunctionCompiler, value: Value, node: ast.AST) -> MatrixValue | None:
    """The elements of a matrix; None for other values."""
    if isinstance(value, NewMatrix):
        value = f.declare_matrix(value, "", node)
    if isinstance(value, Matrix):
        return MatrixValue(value.type, value.load(f.location(node)))
    return value if isinstance(value, MatrixValue) else None


def is_same_type(one: Matrix | MatrixValue, other: Matrix | MatrixValue) -> bool:
    """Whether two matrices can meet: their shape, use and elements are the same."""
    return (one.type.tree, one.type.element) == (other.type.tree, other.type.element)


def released(f: FunctionCompiler, value: Value, node: ast.AST) -> Value:
    """What a function returns of its own matrices, which end with it: their elements."""
    if isinstance(value, Aggregate):
        return value.with_items(released(f, item, node) for item in value.items)
    if isinstance(value, Matrix) and isinstance(root_of(value.place), n.VariablePlace):
        return MatrixValue(value.type, value.load(f.location(node)))
    return value


def assign_matrix(f: FunctionCompiler, name: str, place: Matrix, value: MatrixValue, node: ast.AST, *,
                  in_place: bool = False) -> None:
    """Store elements in the matrix that the source calls ``name``. ``in_place``: by ``m += …``, which changes it under
    its other names, too."""
    if not is_same_type(place, value):
        raise f.fail(messages.REBOUND, node, name=name, before=place, after=value)
    if not in_place and _has_other_names(f, name, place):
        raise f.fail(messages.MATRIX_SHARED, node, name=name)
    f.perform(n.Assign(place.type.tree, f.location(node), place.place, value.expression))


def _has_other_names(f: FunctionCompiler, name: str, matrix: Matrix) -> bool:
    """Whether a matrix is a caller's, or has another name here: assigning to one would change what the other means."""
    if not isinstance(matrix.place, n.VariablePlace):
        return True
    variable = matrix.place.variable
    whole = re.split(r"[.\[]", name)[0]
    return any(_holds(value, variable) for other, value in f.names.items() if other != whole)


def _holds(value: Value, variable: n.Variable) -> bool:
    return any(isinstance(leaf, Matrix) and isinstance(leaf.place, n.VariablePlace) and leaf.place.variable is variable
               for leaf in leaves(value))
