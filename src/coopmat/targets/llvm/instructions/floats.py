"""Floating-point arithmetic. bf16 numbers, held as their bits, are computed with as float and rounded."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.arithmetic.floats import modulo, negate, remainder, through_float
from coopmat.targets.llvm.arithmetic.integers import is_bf16, plain
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.elementwise import on_floats, on_matrices
from coopmat.targets.llvm.values import Value


def _negate(emitter: Emitter, row: Instruction) -> Value | None:
    if is_bf16(emitter.result_type(row).scalar):
        return tuple(emitter.apply("xor {t} {0}, {1}", "i16", one, emitter.constant("i16", 0x8000))
                     for one in emitter.numbers(row.words[0]))
    return on_floats(negate)(emitter, row)


def _dot(emitter: Emitter, row: Instruction) -> Value:
    """OpDot: rounded after each operation."""
    a, b = (emitter.numbers(word) for word in row.words)
    narrow = is_bf16(emitter.result_type(row).scalar)
    product = through_float(plain("fmul {t} {0}, {1}"), narrow)
    total = through_float(plain("fadd {t} {0}, {1}"), narrow)
    found = [product(emitter, x, y) for x, y in zip(a, b, strict=True)]
    result = found[0]
    for one in found[1:]:
        result = total(emitter, result, one)
    return (result,)


OPERATIONS: dict[int, Handler] = {
    Op.FNegate: on_matrices("FNegate", _negate),
    **{Op[name]: on_matrices(name, on_floats(ELEMENTWISE[name])) for name in ("FAdd", "FSub", "FMul", "FDiv")},
    Op.FRem: on_floats(remainder),
    Op.FMod: on_floats(modulo),
    Op.VectorTimesScalar: on_floats(plain("fmul {t} {0}, {1}")),
    Op.Dot: _dot,
}
