"""Comparisons, logic and selection."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.floats import bits, from_bf16, infinity
from coopmat.targets.llvm.instructions.integers import Function, each, elementwise, is_bf16, plain
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, float_bits, llvm_type

SMALLEST_NORMAL = {"half": 0x0400, "float": 0x00800000, "double": 0x0010000000000000}


def compare(predicate: str) -> Function:
    """``icmp`` or ``fcmp`` with a predicate, such as ``icmp eq``."""
    return lambda emitter, a, b: emitter.apply(predicate + " {t} {0}, {1}", "i1", a, b)


def on_float_operands(function: Function) -> Handler:
    """A handler for tests of floating-point numbers, bf16 among them."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        operands = []
        for word in row.words:
            numbers = emitter.numbers(word)
            if is_bf16(emitter.type_of(word).scalar):
                numbers = tuple(from_bf16(emitter, one) for one in numbers)
            operands.append(numbers)
        return each(emitter, function, operands)

    return handle


def _is_infinite(emitter: NumberWriter, number: Number) -> Number:
    return compare("fcmp oeq")(emitter, magnitude(emitter, number), Number(number.type, infinity(number.type)))


def magnitude(emitter: NumberWriter, number: Number) -> Number:
    """|a|."""
    return emitter.intrinsic("fabs", number.type, number)


def is_finite(emitter: NumberWriter, number: Number) -> Number:
    """Neither infinite nor NaN."""
    return compare("fcmp one")(emitter, magnitude(emitter, number), Number(number.type, infinity(number.type)))


def _is_normal(emitter: NumberWriter, number: Number) -> Number:
    smallest = Number(number.type, float_bits(number.type, SMALLEST_NORMAL[number.type]))
    return emitter.apply("and {t} {0}, {1}", "i1", is_finite(emitter, number),
                         compare("fcmp oge")(emitter, magnitude(emitter, number), smallest))


def _sign_bit(emitter: NumberWriter, number: Number) -> Number:
    whole = bits(emitter, number)
    return compare("icmp slt")(emitter, whole, emitter.constant(whole.type, 0))


def _reduced(operation: str) -> Handler:
    """OpAny and OpAll. LLVM's back end makes them of OpenCL C's functions, whose operands are integers: there the
    highest bit decides."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        numbers = emitter.numbers(row.words[0])
        if not isinstance(emitter.type_of(row.words[0]).scalar, BoolType):
            numbers = tuple(compare("icmp slt")(emitter, one, emitter.constant(one.type, 0)) for one in numbers)
        result = numbers[0]
        for one in numbers[1:]:
            result = emitter.apply(operation + " {t} {0}, {1}", "i1", result, one)
        return (result,)

    return handle


def _select(emitter: Emitter, row: Instruction) -> Value:
    """OpSelect: per component if the condition is a vector."""
    conditions = emitter.numbers(row.words[0])
    chosen, other = emitter.value(row.words[1]), emitter.value(row.words[2])
    return tuple(_choose(emitter, conditions[place if len(conditions) > 1 else 0], *pair)
                 for place, pair in enumerate(zip(chosen, other, strict=True)))


def _choose(emitter: Emitter, condition: Number, chosen: Leaf, other: Leaf) -> Leaf:
    if isinstance(chosen, Matrix) or isinstance(other, Matrix):
        assert isinstance(chosen, Matrix)
        assert isinstance(other, Matrix)
        llvm = emitter.matrix_type(chosen.kind)
        whether = emitter.lane_of(condition, emitter.first_lane())
        return Matrix(chosen.kind, emitter.writer.let(
            f"select i1 {whether}, {llvm} {chosen.text}, {llvm} {other.text}"))
    return emitter.select(condition, chosen, other)


def _pointer_difference(emitter: Emitter, row: Instruction) -> Value:
    """OpPtrDiff: in elements of the pointee."""
    from coopmat.targets.llvm.instructions.integers import resized, subtract

    size = emitter.pointee(row.words[0]).size
    a, b = (emitter.number(word) for word in row.words)
    if a.is_linear and b.is_linear and a.stride == b.stride:  # of vectors of such pointers LLVM may fail an assertion
        a, b = Number("ptr", a.base), Number("ptr", b.base)
    a, b = (emitter.apply("ptrtoint {t} {0} to {r}", "i64", one) for one in (a, b))
    count = emitter.apply("sdiv {t} {0}, {1}", "i64", subtract(emitter, a, b), emitter.constant("i64", size))
    return (resized(emitter, count, llvm_type(emitter.result_type(row)), signed=True),)


INTEGERS = {Op.IEqual: "eq", Op.INotEqual: "ne", Op.UGreaterThan: "ugt", Op.SGreaterThan: "sgt",
            Op.UGreaterThanEqual: "uge", Op.SGreaterThanEqual: "sge", Op.ULessThan: "ult", Op.SLessThan: "slt",
            Op.ULessThanEqual: "ule", Op.SLessThanEqual: "sle", Op.LogicalEqual: "eq", Op.LogicalNotEqual: "ne",
            Op.PtrEqual: "eq", Op.PtrNotEqual: "ne"}
FLOATS = {Op.FOrdEqual: "oeq", Op.FUnordEqual: "ueq", Op.FOrdNotEqual: "one", Op.FUnordNotEqual: "une",
          Op.FOrdLessThan: "olt", Op.FUnordLessThan: "ult", Op.FOrdGreaterThan: "ogt", Op.FUnordGreaterThan: "ugt",
          Op.FOrdLessThanEqual: "ole", Op.FUnordLessThanEqual: "ule", Op.FOrdGreaterThanEqual: "oge",
          Op.FUnordGreaterThanEqual: "uge", Op.LessOrGreater: "one", Op.Ordered: "ord", Op.Unordered: "uno"}

OPERATIONS: dict[int, Handler] = {
    **{op: elementwise(compare(f"icmp {predicate}")) for op, predicate in INTEGERS.items()},
    **{op: on_float_operands(compare(f"fcmp {predicate}")) for op, predicate in FLOATS.items()},
    Op.Any: _reduced("or"),
    Op.All: _reduced("and"),
    Op.IsNan: on_float_operands(lambda emitter, one: compare("fcmp uno")(emitter, one, one)),
    Op.IsInf: on_float_operands(_is_infinite),
    Op.IsFinite: on_float_operands(is_finite),
    Op.IsNormal: on_float_operands(_is_normal),
    Op.SignBitSet: on_float_operands(_sign_bit),
    Op.LogicalOr: elementwise(plain("or {t} {0}, {1}")),
    Op.LogicalAnd: elementwise(plain("and {t} {0}, {1}")),
    Op.LogicalNot: elementwise(lambda emitter, one: emitter.apply("xor {t} {0}, {1}", "i1", one,
                                                                  Number("i1", "true"))),
    Op.Select: _select,
    Op.PtrDiff: _pointer_difference,
}
