"""What happens to the elements of plain matrices by themselves: fills, arithmetic, conversions, other uses."""

from __future__ import annotations

from typing import Any

from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import Op
from coopmat.targets.cpu.matrix.body import Body, Made, is_large, plain_type
from coopmat.targets.cpu.matrix.memory import is_inside
from coopmat.targets.cpu.matrix.operations import element_type
from coopmat.targets.llvm.instructions.conversions import converted
from coopmat.targets.llvm.instructions.floats import through_float
from coopmat.targets.llvm.instructions.integers import MATRIX_FUNCTIONS, is_bf16
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, zero_of


def fill(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    element = element_type(kind)
    return [element], plain_type(kind), body.each(lambda numbers: numbers.splat(element, "%0"), kind)


def inside_fill(body: Body) -> Made:
    """The value inside of a window, zero outside."""
    kind = body.operation.result
    assert kind is not None
    slot, element = body.result(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        let = body.writer.let
        x, y = let(f"add i64 {row}, %1"), let(f"add i64 {column}, %2")
        value = let(f"select i1 {is_inside(body, x, y, '%3', '%4')}, {element} %0, {element} {zero_of(element)}")
        body.writer.do(f"store {element} {value}, ptr {body.address(slot, element, number)}")

    body.each_element(kind, move)
    return [element, *["i64"] * 4], plain_type(kind), body.from_buffer(slot, kind)


def _wrapped(rows: NumberWriter, number: Number, kind: MatrixType) -> str:
    """The operand of a row of results; 4-bit integers wrap."""
    if kind.component == IntType(4):
        four = rows.constant("i8", 4)
        number = rows.apply("ashr {t} {0}, {1}", "i8", rows.apply("shl {t} {0}, {1}", "i8", number, four), four)
    return rows.lanes(number)


def elementwise(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    function = through_float(MATRIX_FUNCTIONS[str(body.operation.detail[0])], is_bf16(kind.component))
    operands = [(f"%{place}", one) for place, one in enumerate(body.operation.operands)]
    found = body.each(lambda numbers, *given: _wrapped(numbers, function(numbers, *given), kind), kind, operands)
    return [plain_type(one) for one in body.operation.operands], plain_type(kind), found


def scale(body: Body) -> Made:
    kind = body.operation.result
    assert kind is not None
    element = element_type(kind)
    name = "IMul" if isinstance(kind.component, IntType) else "FMul"
    function = through_float(MATRIX_FUNCTIONS[name], is_bf16(kind.component))

    def scaled(numbers: NumberWriter, given: Number) -> str:
        return _wrapped(numbers, function(numbers, given, Number(element, lanes=numbers.splat(element, "%1"))), kind)

    return [plain_type(kind), element], plain_type(kind), body.each(scaled, kind, [("%0", kind)])


def convert(body: Body) -> Made:
    kind, given = body.operation.result, body.operation.operands[0]
    assert kind is not None
    op, rounding, saturate = body.operation.detail
    found = body.each(lambda numbers, number: convert_element(numbers, op, number, given, kind, rounding, saturate),
                      kind, [("%0", given)])
    return [plain_type(given)], plain_type(kind), found


def convert_element(rows: NumberWriter, op: Any, number: Number, given: MatrixType, kind: MatrixType, rounding: Any,
                    saturate: Any) -> str:
    """A row of elements in another type; 4-bit ones are read with or without sign, and wrap or saturate."""
    if given.component == IntType(4) and op in (Op.UConvert, Op.ConvertUToF):
        number = rows.apply("and {t} {0}, {1}", "i8", number, rows.constant("i8", 15))
    return _wrapped(rows, converted(rows, op, number, given.component, kind.component, rounding, saturate), kind)


def use(body: Body) -> Made:
    """The same elements for another use, transposed if ``detail`` says so."""
    kind, given = body.operation.result, body.operation.operands[0]
    assert kind is not None
    if not body.operation.detail[0]:
        return [plain_type(given)], plain_type(kind), body.from_buffer("%0", kind) if is_large(kind) else "%0"
    source, target, element = body.to_buffer("%0", given), body.result(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        let = body.writer.let
        line = let(f"mul i64 {column}, {given.columns}")
        place = let(f"add i64 {line}, {row}")
        value = let(f"load {element}, ptr {body.address(source, element, place)}")
        body.writer.do(f"store {element} {value}, ptr {body.address(target, element, number)}")

    body.each_element(kind, move)
    return [plain_type(given)], plain_type(kind), body.from_buffer(target, kind)
