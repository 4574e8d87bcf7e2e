"""What happens to the elements of plain matrices by themselves: fills, arithmetic, conversions, other uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import Op
from coopmat.targets.cpu.matrix.body import RESULT, Body, Made, is_large, plain_type
from coopmat.targets.cpu.matrix.copies import Copy
from coopmat.targets.cpu.matrix.memory import is_inside
from coopmat.targets.cpu.matrix.operation import ChangeUse, Convert, Elementwise, Fill, Inside, OfElements, Scale
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.arithmetic.conversions import converted
from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import is_bf16
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, zero_of


def function_of(operation: OfElements, scalars: Sequence[str]) -> Callable[..., str]:
    """What an operation does to elements: of a writer of numbers, and as many elements of each of its matrices, it
    makes the operand of those of the result. scalars: its operands that are no matrices."""
    kind = operation.result
    element = element_type(kind)
    match operation:
        case Fill():
            return lambda numbers: numbers.splat(element, scalars[0])
        case Elementwise(function=name):
            function = through_float(ELEMENTWISE[name], is_bf16(kind.component))
            return lambda numbers, *given: _wrapped(numbers, function(numbers, *given), kind)
        case Scale():
            name = "IMul" if isinstance(kind.component, IntType) else "FMul"
            times = through_float(ELEMENTWISE[name], is_bf16(kind.component))
            return lambda numbers, given: _wrapped(numbers, times(numbers, given, Number(
                element, lanes=numbers.splat(element, scalars[0]))), kind)
        case Convert():
            return lambda numbers, given: _converted(numbers, operation, given)
    return lambda numbers, given: numbers.lanes(given)


def fill(body: Body, operation: Fill) -> Made:
    kind = operation.result
    return [element_type(kind)], plain_type(kind), body.each(function_of(operation, ["%0"]), kind)


def inside(body: Body, operation: Inside) -> Made:
    kind = operation.result
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


def elementwise(body: Body, operation: Elementwise) -> Made:
    kind = operation.result
    operands = [(f"%{place}", one) for place, one in enumerate(operation.operands)]
    found = body.each(function_of(operation, ()), kind, operands)
    return [plain_type(one) for one in operation.operands], plain_type(kind), found


def scale(body: Body, operation: Scale) -> Made:
    kind = operation.result
    found = body.each(function_of(operation, ["%1"]), kind, [("%0", kind)])
    return [plain_type(kind), element_type(kind)], plain_type(kind), found


def convert(body: Body, operation: Convert) -> Made:
    kind, given = operation.result, operation.operands[0]
    return [plain_type(given)], plain_type(kind), body.each(function_of(operation, ()), kind, [("%0", given)])


def _converted(rows: NumberWriter, operation: Convert, number: Number) -> str:
    """A row of elements in another type; 4-bit ones are read with or without sign, and wrap or saturate."""
    kind, given, instruction = operation.result, operation.operands[0], operation.instruction
    if given.component == IntType(4) and instruction in (Op.UConvert, Op.ConvertUToF):
        number = rows.apply("and {t} {0}, {1}", "i8", number, rows.constant("i8", 15))
    return _wrapped(rows, converted(rows, instruction, number, given.component, kind.component, operation.rounding,
                                    operation.saturates), kind)


def change_use(body: Body, operation: ChangeUse) -> Made:
    kind, given = operation.result, operation.operands[0]
    if not operation.transposes:
        return [plain_type(given)], plain_type(kind), body.from_buffer("%0", kind) if is_large(kind) else "%0"
    if is_large(kind) and is_large(given):
        Copy(body, kind, RESULT, "%0", str(given.columns * given.component.size), True, True).whole()
        return [plain_type(given)], plain_type(kind), RESULT
    source, target, element = body.to_buffer("%0", given), body.result(kind), element_type(kind)

    def move(row: str, column: str, number: str) -> None:
        let = body.writer.let
        line = let(f"mul i64 {column}, {given.columns}")
        place = let(f"add i64 {line}, {row}")
        value = let(f"load {element}, ptr {body.address(source, element, place)}")
        body.writer.do(f"store {element} {value}, ptr {body.address(target, element, number)}")

    body.each_element(kind, move)
    return [plain_type(given)], plain_type(kind), body.from_buffer(target, kind)
