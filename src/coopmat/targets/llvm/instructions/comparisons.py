"""Comparisons, logic and selection."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.comparisons import compare, is_finite, is_infinite, is_normal, sign_bit
from coopmat.targets.llvm.arithmetic.integers import plain, resized, subtract
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.elementwise import on_float_operands, on_numbers
from coopmat.targets.llvm.values import Leaf, Matrix, Number, Value, llvm_type


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
        llvm = emitter.matrices.type(chosen.kind)
        [whether] = emitter.execution.first(condition)
        return Matrix(chosen.kind, emitter.writer.let(
            f"select i1 {whether}, {llvm} {chosen.text}, {llvm} {other.text}"))
    return emitter.select(condition, chosen, other)


def _pointer_difference(emitter: Emitter, row: Instruction) -> Value:
    """OpPtrDiff: in elements of the pointee."""
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
    **{op: on_numbers(compare(f"icmp {predicate}")) for op, predicate in INTEGERS.items()},
    **{op: on_float_operands(compare(f"fcmp {predicate}")) for op, predicate in FLOATS.items()},
    Op.Any: _reduced("or"),
    Op.All: _reduced("and"),
    Op.IsNan: on_float_operands(lambda emitter, one: compare("fcmp uno")(emitter, one, one)),
    Op.IsInf: on_float_operands(is_infinite),
    Op.IsFinite: on_float_operands(is_finite),
    Op.IsNormal: on_float_operands(is_normal),
    Op.SignBitSet: on_float_operands(sign_bit),
    Op.LogicalOr: on_numbers(plain("or {t} {0}, {1}")),
    Op.LogicalAnd: on_numbers(plain("and {t} {0}, {1}")),
    Op.LogicalNot: on_numbers(lambda emitter, one: emitter.apply("xor {t} {0}, {1}", "i1", one,
                                                                  Number("i1", "true"))),
    Op.Select: _select,
    Op.PtrDiff: _pointer_difference,
}
