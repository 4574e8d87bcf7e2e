"""Rules for products of vectors and matrices (SPIR-V 3.3.13)."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

SECTION = "SPIR-V 3.3.13 Arithmetic Instructions"


def _same_shape(one: Types, rows: object, columns: object) -> Booleans:
    """Whether a matrix has this many rows and columns."""
    return (one.element.length == rows) & (one.length == columns)


@rule("vector-times-scalar", "A vector of floats is multiplied by a scalar of its component type.", SECTION,
      Op.VectorTimesScalar)
def vector_times_scalar(group: Group) -> Findings:
    result = group.result
    vector = result.is_vector(Op.TypeFloat)
    yield ~vector, "the result of {op} is a vector of floats, not {type}"
    yield group.value(0) != result, "{op} of {type0} gives a value of that type, not {type}"
    yield vector & (group.value(1) != result.element), \
        "{op} needs a scalar of the component type of {type}, not {type1}"


@rule("dot-product", "OpDot multiplies two vectors of floats of one type and gives their component type.", SECTION,
      Op.Dot)
def dot_product(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeFloat), "the result of {op} is a float, not {type}"
    for place in (0, 1):
        vector = group.value(place)
        yield ~vector.is_vector(Op.TypeFloat) | (vector.element != group.result), \
            f"{{op}} giving {{type}} multiplies vectors of it, not {{type{place}}}"
    yield group.value(0).length != group.value(1).length, "the vectors of {op} differ: {type0} and {type1}"


@rule("matrix-times-scalar-types", "A matrix is multiplied by a scalar of its component type.", SECTION,
      Op.MatrixTimesScalar)
def matrix_times_scalar_types(group: Group) -> Findings:
    matrix = group.value(0)
    others = ~matrix.is_matrix & ~group.result.is_matrix  # matrix-times-scalar looks at cooperative matrices
    good = matrix.is_kind(Op.TypeMatrix) & (matrix == group.result)
    yield others & ~good, "{op} multiplies a matrix and gives one of the same type, not {type} for {type0}"
    yield others & good & (group.value(1) != matrix.element.element), \
        "{op} needs a scalar of the component type of {type0}, not {type1}"


@rule("matrix-products", "Products of vectors and matrices have fitting sizes and one component type.", SECTION,
      Op.VectorTimesMatrix, Op.MatrixTimesVector, Op.MatrixTimesMatrix, Op.OuterProduct)
def matrix_products(group: Group) -> Findings:
    left, right, result = group.value(0), group.value(1), group.result
    vector, matrix = Op.TypeVector, Op.TypeMatrix
    wanted = {Op.VectorTimesMatrix: (vector, matrix, vector), Op.MatrixTimesVector: (matrix, vector, vector),
              Op.MatrixTimesMatrix: (matrix, matrix, matrix), Op.OuterProduct: (vector, vector, matrix)}[group.opcode]
    fits = left.is_kind(wanted[0]) & right.is_kind(wanted[1]) & result.is_kind(wanted[2])
    names = ["a vector" if kind == vector else "a matrix" for kind in wanted]
    yield ~fits, f"{{op}} makes {names[2]} of {names[0]} and {names[1]}, not {{type}} of {{type0}} and {{type1}}"
    component = [_component(kind) for kind in (left, right, result)]
    yield fits & (~component[2].is_kind(Op.TypeFloat) | (component[0] != component[2])
                  | (component[1] != component[2])), \
        "{op} needs floats of one type: {type} of {type0} and {type1}"
    if group.opcode == Op.VectorTimesMatrix:
        good = (left.length == right.element.length) & (result.length == right.length)
    elif group.opcode == Op.MatrixTimesVector:
        good = (left.length == right.length) & (result.length == left.element.length)
    elif group.opcode == Op.MatrixTimesMatrix:
        good = (left.length == right.element.length) & _same_shape(result, left.element.length, right.length)
    else:
        good = _same_shape(result, left.length, right.length)
    yield fits & ~good, "the sizes do not fit: {op} of {type0} and {type1} cannot give {type}"


def _component(kind: Types) -> Types:
    """The component type of a vector or matrix."""
    inner = kind.element
    return Types(inner.table, inner.table.scalar[inner.places])
