"""Cooperative-matrix expressions in the simulator, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from coopmat.lowering import to_spirv
from coopmat.spirv.grammar import Capability, Op
from coopmat.tree import nodes as n
from coopmat.tree import types as t
from tests.kit.lowering.trees import (
    assign,
    at,
    binary,
    block,
    declare,
    element,
    function,
    gid,
    if_,
    kernel,
    load,
    member,
    num,
    place,
    pointer,
    run,
    update,
    variable,
    while_,
)
from tests.lowering.test_number_conversions import DTYPES

ROWS, COLUMNS, SIZE = 4, 8, 16
RNG = np.random.default_rng(7)


def matrix(scalar: t.Scalar, rows: int = ROWS, columns: int = COLUMNS, use: t.Use = t.Use.ACCUMULATOR) -> t.Matrix:
    return t.Matrix(scalar, t.ExecutionScope.SUBGROUP, rows, columns, use)


def read(type_: t.Matrix, source: n.Variable, stride: int | None = None, layout: int = 0) -> n.MatrixLoad:
    return n.MatrixLoad(type_, None, load(source), layout, num(stride or type_.columns, t.ULONG))


def write(target: n.Variable, value: n.Expression, stride: int | None = None, layout: int = 0) -> n.MatrixStore:
    assert isinstance(value.type, t.Matrix)
    return n.MatrixStore(t.VOID, None, load(target), value, layout, num(stride or value.type.columns, t.ULONG))


def random_values(scalar: t.Scalar, shape: tuple[int, ...] = (ROWS, COLUMNS)) -> np.ndarray:
    if scalar.is_integer:
        low = -100 if scalar.is_signed else 0
        return RNG.integers(low, 100, shape).astype(DTYPES[scalar])
    return RNG.integers(-64, 64, shape).astype(np.float32).astype(DTYPES[scalar])


def launch(parameters: list[n.Variable], body: list[n.Statement | n.Expression], *arguments: np.ndarray,
           helpers: tuple[n.Function, ...] = ()) -> None:
    program = n.Program([*helpers, kernel("k", parameters, *body, required_sub_group_size=SIZE)])
    run(program, "k", SIZE, *arguments)


def through(operation: object, scalar: t.Scalar, *inputs: np.ndarray, result: t.Scalar | None = None) -> np.ndarray:
    """The matrix that ``operation`` makes from matrices that hold ``inputs``."""
    assert callable(operation)
    sources = [variable(f"p{i}", pointer(scalar, const=True)) for i in range(len(inputs))]
    target = variable("out", pointer(result or scalar))
    values = [read(matrix(scalar), source) for source in sources]
    out = np.zeros((ROWS, COLUMNS), DTYPES[result or scalar])
    launch([target, *sources], [write(target, operation(*values))], out, *inputs)
    return out


@pytest.mark.parametrize("scalar", [t.CHAR, t.USHORT, t.INT, t.HALF, t.FLOAT, t.DOUBLE], ids=str)
@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_arithmetic_by_component(scalar: t.Scalar, operator: str) -> None:
    a, b = random_values(scalar), random_values(scalar)
    with np.errstate(over="ignore"):
        expected = {"+": np.add, "-": np.subtract, "*": np.multiply}[operator](a, b)
    np.testing.assert_array_equal(through(lambda x, y: binary(operator, x, y), scalar, a, b), expected)


@pytest.mark.parametrize("scalar", [t.CHAR, t.UINT, t.FLOAT], ids=str)
def test_division_negation_and_scalar_factor(scalar: t.Scalar) -> None:
    a, b = random_values(scalar), random_values(scalar)
    b[b == 0] = 1
    quotient = a / b if scalar.is_float else np.trunc(a.astype("f8") / b).astype(a.dtype)
    np.testing.assert_array_equal(through(lambda x, y: binary("/", x, y), scalar, a, b), quotient)
    negated = through(lambda x: n.Unary(x.type, None, n.UnaryOperator.NEGATE, x), scalar, a)
    np.testing.assert_array_equal(negated, (0 - a.astype("i8")).astype(a.dtype) if scalar.is_integer else -a)
    scaled = through(lambda x: n.MatrixTimesScalar(x.type, None, x, num(3, scalar)), scalar, a)
    np.testing.assert_array_equal(scaled, (a.astype("i8") * 3).astype(a.dtype) if scalar.is_integer else a * 3)


CONVERSIONS = [
    (t.CHAR, t.INT), (t.UCHAR, t.INT), (t.INT, t.CHAR), (t.INT, t.UINT), (t.UCHAR, t.LONG), (t.CHAR, t.FLOAT),
    (t.UCHAR, t.HALF), (t.HALF, t.FLOAT), (t.FLOAT, t.HALF), (t.FLOAT, t.INT), (t.DOUBLE, t.CHAR),
    (t.BFLOAT16, t.FLOAT), (t.FLOAT, t.BFLOAT16), (t.UCHAR, t.BFLOAT16), (t.BFLOAT16, t.CHAR), (t.HALF, t.BFLOAT16)]


@pytest.mark.parametrize(("source", "target"), CONVERSIONS, ids=str)
def test_conversions(source: t.Scalar, target: t.Scalar) -> None:
    a = random_values(source)
    found = through(lambda x: n.Convert(matrix(target), None, x), source, a, result=target)
    np.testing.assert_array_equal(found, a.astype("f8").astype("i8" if target.is_integer else "f8").astype(found.dtype))


def test_multiply_add_with_column_major_operands() -> None:
    a_type, b_type, c_type = (matrix(t.CHAR, 4, 16, t.Use.A), matrix(t.CHAR, 16, 8, t.Use.B), matrix(t.INT))
    a, b, c = variable("a", pointer(t.CHAR)), variable("b", pointer(t.CHAR)), variable("c", pointer(t.INT))
    product = n.MatrixMultiplyAdd(c_type, None, read(a_type, a), read(b_type, b, 16, layout=1), read(c_type, c), 0xF)
    left, right, total = random_values(t.CHAR, (4, 16)), random_values(t.CHAR, (8, 16)), random_values(t.INT)
    expected = left.astype("i4") @ right.T.astype("i4") + total
    launch([a, b, c], [write(c, product)], left, right, total)
    np.testing.assert_array_equal(total, expected)


def test_components_are_read_and_written_by_index() -> None:
    out, m, i = variable("out", pointer(t.FLOAT)), variable("m", matrix(t.FLOAT)), variable("i", t.UINT)
    component = element(place(m), load(i))
    double = update(component, "*", num(2.0, t.FLOAT))
    length = n.MatrixLength(t.UINT, None, matrix(t.FLOAT))
    body = [declare(m, read(matrix(t.FLOAT), out)), declare(i, num(0, t.UINT)),
            while_(binary("<", load(i), length), block(double), step=update(i, "+", num(1, t.UINT))),
            write(out, load(m))]
    values = random_values(t.FLOAT)
    expected = values * 2
    launch([out], body, values)
    np.testing.assert_array_equal(values, expected)


def test_a_component_of_a_value_and_its_coordinates() -> None:
    """out[row][column] = component, for the constant index 0 and the run-time index 1."""
    source, out, i = variable("source", pointer(t.INT)), variable("out", pointer(t.INT)), variable("i", t.INT)
    value = read(matrix(t.INT), source)

    def put(index: n.Expression) -> n.Expression:
        spot = n.MatrixCoordinates(t.Vector(t.INT, 2), None, value, index)
        row, column = (n.Swizzle(t.INT, None, spot, (c,)) for c in (0, 1))
        target = at(out, binary("+", binary("*", row, num(COLUMNS)), column))
        return assign(target, n.ExtractComponent(t.INT, None, value, index))

    given, found = random_values(t.INT), np.zeros((ROWS, COLUMNS), np.int32)
    launch([out, source], [declare(i, num(1)), put(num(0)), put(load(i))], found, given)
    np.testing.assert_array_equal(found, given)


def test_matrices_in_arrays_records_and_functions() -> None:
    type_ = matrix(t.FLOAT)
    record = t.Record("Tiles", fields=(t.Field("tiles", t.Array(type_, 2)), t.Field("factor", t.FLOAT)))
    x = variable("x", type_)
    helper = function("twice", type_, [x], n.Return(None, binary("+", load(x), load(x))))
    out, held = variable("out", pointer(t.FLOAT)), variable("held", record)
    tiles = member(place(held), "tiles")
    body = [declare(held), assign(element(tiles, 0), read(type_, out)),
            assign(element(tiles, 1), n.Call(type_, None, helper, (load(element(tiles, 0)),))),
            assign(member(place(held), "factor"), num(0.5, t.FLOAT)),
            write(out, n.MatrixTimesScalar(type_, None, load(element(tiles, 1)), load(member(place(held), "factor"))))]
    values = random_values(t.FLOAT)
    expected = values.copy()
    launch([out], body, values, helpers=(helper,))
    np.testing.assert_array_equal(values, expected)


def test_zero_and_choice() -> None:
    out, flag, m = variable("out", pointer(t.INT)), variable("flag", t.INT), variable("m", matrix(t.INT))
    chosen = n.Conditional(m.type, None, binary("!=", load(flag), num(0)), n.MatrixFill(m.type, None, num(7)),
                           n.Zero(m.type, None))
    body = [declare(m, chosen), if_(binary("==", load(flag), num(2)), assign(m, n.Zero(m.type, None))),
            write(out, load(m))]
    for value, expected in ((0, 0), (1, 7), (2, 0)):
        result = np.full((ROWS, COLUMNS), -1, np.int32)
        launch([out, flag], body, result, np.int32(value))
        assert (result == expected).all()


@pytest.mark.parametrize(("scalar", "dtype"), [(t.INT, np.int32), (t.BFLOAT16, ml_dtypes.bfloat16)], ids=str)
def test_capabilities_and_extensions(scalar: t.Scalar, dtype: type) -> None:
    out = variable("out", pointer(scalar))
    value = read(matrix(scalar), out)
    program = n.Program([kernel("k", [out], write(out, value, stride=COLUMNS, layout=1))])
    module = to_spirv(program)
    bfloat = {Capability.BFloat16CooperativeMatrixKHR} if scalar is t.BFLOAT16 else {Capability.CooperativeMatrixKHR}
    assert bfloat <= set(module.capabilities)
    assert "SPV_KHR_cooperative_matrix" in module.extensions
    assert ("SPV_KHR_bfloat16" in module.extensions) == (scalar is t.BFLOAT16)
    assert np.dtype(dtype) == DTYPES[scalar]


def test_a_sign_change_of_one_width_costs_nothing() -> None:
    out = variable("out", pointer(t.UINT))
    value = n.Convert(matrix(t.UINT), None, read(matrix(t.INT), out))
    module = to_spirv(n.Program([kernel("k", [out], write(out, value))]))
    assert not [item for item in module.instructions if item.opcode in (Op.Bitcast, Op.SConvert, Op.UConvert)]


def test_a_work_item_may_change_its_own_components_only() -> None:
    out, m = variable("out", pointer(t.INT)), variable("m", matrix(t.INT))
    lane = binary("==", gid(), num(0, t.ULONG))
    body = [declare(m, n.MatrixFill(m.type, None, num(1))), if_(lane, assign(element(place(m), 0), num(5))),
            write(out, load(m))]
    result = np.zeros((ROWS, COLUMNS), np.int32)
    launch([out], body, result)
    assert sorted(result.ravel().tolist()) == [1] * (ROWS * COLUMNS - 1) + [5]
