"""Cases of the family linear_algebra."""

from __future__ import annotations

from tests.kit.spirv.case import broken, valid
from tests.kit.spirv.cases.arithmetic import apply

TYPES = "\n".join(("%m23 = OpTypeMatrix %v2float 3", "%m32 = OpTypeMatrix %v3float 2", "%m22 = OpTypeMatrix %v2float 2",
                   "%m33 = OpTypeMatrix %v3float 3", "%d32 = OpTypeMatrix %v3double 2"))
"""Matrices: m23 has 2 rows and 3 columns."""


def multiply(op: str, result: str, one: str, two: str) -> str:
    return apply(op, result, one, two, declarations=TYPES, capabilities="Matrix")


CASES = [
    valid("a scaled vector", apply("VectorTimesScalar", "%v2float", "%v2float", "%float")),
    broken("vector-times-scalar", "a vector of integers", apply("VectorTimesScalar", "%v2uint", "%v2uint", "%uint")),
    broken("vector-times-scalar", "a scalar times a scalar", apply("VectorTimesScalar", "%float", "%float", "%float")),
    broken("vector-times-scalar", "a longer vector is scaled",
           apply("VectorTimesScalar", "%v2float", "%v3float", "%float")),
    broken("vector-times-scalar", "a scalar of another precision",
           apply("VectorTimesScalar", "%v2float", "%v2float", "%double")),
    broken("vector-times-scalar", "a vector as scalar",
           apply("VectorTimesScalar", "%v2float", "%v2float", "%v2float")),
    valid("the dot product of vectors", apply("Dot", "%float", "%v3float", "%v3float")),
    broken("dot-product", "the dot product of integers", apply("Dot", "%uint", "%v3uint", "%v3uint")),
    broken("dot-product", "the dot product of scalars", apply("Dot", "%float", "%float", "%float")),
    broken("dot-product", "the dot product of two precisions", apply("Dot", "%float", "%v3float", "%v3double")),
    broken("dot-product", "a wider dot product", apply("Dot", "%double", "%v3float", "%v3float")),
    broken("dot-product", "vectors of two sizes", apply("Dot", "%float", "%v3float", "%v2float")),
    valid("a scaled matrix", multiply("MatrixTimesScalar", "%m23", "%m23", "%float")),
    broken("matrix-times-scalar-types", "scaling changes the shape",
           multiply("MatrixTimesScalar", "%m32", "%m23", "%float")),
    broken("matrix-times-scalar-types", "a matrix scaled by a double",
           multiply("MatrixTimesScalar", "%m23", "%m23", "%double")),
    broken("matrix-times-scalar-types", "a vector scaled as a matrix",
           multiply("MatrixTimesScalar", "%v2float", "%v2float", "%float")),
    valid("a row times a matrix", multiply("VectorTimesMatrix", "%v3float", "%v2float", "%m23")),
    broken("matrix-products", "a row as long as the matrix is wide",
           multiply("VectorTimesMatrix", "%v3float", "%v3float", "%m23")),
    broken("matrix-products", "a row of as many components as rows",
           multiply("VectorTimesMatrix", "%v2float", "%v2float", "%m23")),
    broken("matrix-products", "a matrix before the row", multiply("VectorTimesMatrix", "%v3float", "%m23", "%v2float")),
    valid("a matrix times a column", multiply("MatrixTimesVector", "%v2float", "%m23", "%v3float")),
    broken("matrix-products", "a column as long as the matrix is high",
           multiply("MatrixTimesVector", "%v2float", "%m23", "%v2float")),
    broken("matrix-products", "a column of as many components as columns",
           multiply("MatrixTimesVector", "%v3float", "%m23", "%v3float")),
    broken("matrix-products", "a column of doubles", multiply("MatrixTimesVector", "%v2double", "%m23", "%v3float")),
    valid("a product of matrices", multiply("MatrixTimesMatrix", "%m22", "%m23", "%m32")),
    broken("matrix-products", "a product of the other shape", multiply("MatrixTimesMatrix", "%m33", "%m23", "%m32")),
    broken("matrix-products", "matrices that do not fit", multiply("MatrixTimesMatrix", "%m22", "%m23", "%m23")),
    broken("matrix-products", "matrices of two precisions", multiply("MatrixTimesMatrix", "%m22", "%m23", "%d32")),
    valid("an outer product", multiply("OuterProduct", "%m23", "%v2float", "%v3float")),
    broken("matrix-products", "an outer product of the other shape",
           multiply("OuterProduct", "%m32", "%v2float", "%v3float")),
    broken("matrix-products", "an outer product that is a vector",
           multiply("OuterProduct", "%v2float", "%v2float", "%v2float")),
    broken("matrix-products", "an outer product of two precisions",
           multiply("OuterProduct", "%m22", "%v2float", "%v2double")),
]
