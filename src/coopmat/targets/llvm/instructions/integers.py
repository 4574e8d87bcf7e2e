"""Integer and bit arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.integers import (
    bit_and,
    borrow,
    carry,
    each,
    extended_product,
    extract_signed_field,
    extract_unsigned_field,
    insert_field,
    invert,
    modulo,
    plain,
    remainder,
    resized,
    reverse_bits,
    shift_left,
    shift_right,
)
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.elementwise import on_matrices, on_numbers
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, Value, llvm_type


def _and(emitter: Emitter, row: Instruction) -> Value:
    """OpBitwiseAnd. LLVM's back end truncates with it: it leaves operands wider than the result."""
    llvm = llvm_type(emitter.result_type(row).scalar)
    operands = [tuple(resized(emitter, one, llvm, signed=False) for one in emitter.numbers(word)) for word in row.words]
    return each(emitter, bit_and, operands)


def _count_bits(emitter: Emitter, row: Instruction) -> Value:
    """Number of one bits, in the result's type."""
    llvm = llvm_type(emitter.result_type(row).scalar)
    return tuple(resized(emitter, emitter.intrinsic("ctpop", one.type, one), llvm, signed=False)
                 for one in emitter.numbers(row.words[0]))


def _pairs(function: Callable[[NumberWriter, Number, Number], tuple[Number, Number]]) -> Handler:
    """A handler for two results in a structure: those of all components, the first ones before the second ones."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        a, b = (emitter.numbers(word) for word in row.words)
        found = [function(emitter, x, y) for x, y in zip(a, b, strict=True)]
        return (*(first for first, _ in found), *(second for _, second in found))

    return handle


OPERATIONS: dict[int, Handler] = {
    **{Op[name]: on_matrices(name) for name in ("SNegate", "IAdd", "ISub", "IMul", "UDiv", "SDiv")},
    Op.UMod: on_numbers(remainder(False)),
    Op.SRem: on_numbers(remainder(True)),
    Op.SMod: on_numbers(modulo),
    Op.IAddCarry: _pairs(carry),
    Op.ISubBorrow: _pairs(borrow),
    Op.UMulExtended: _pairs(extended_product(False)),
    Op.SMulExtended: _pairs(extended_product(True)),
    Op.ShiftLeftLogical: on_numbers(shift_left),
    Op.ShiftRightLogical: on_numbers(shift_right("lshr")),
    Op.ShiftRightArithmetic: on_numbers(shift_right("ashr")),
    Op.BitwiseOr: on_numbers(plain("or {t} {0}, {1}")),
    Op.BitwiseXor: on_numbers(plain("xor {t} {0}, {1}")),
    Op.BitwiseAnd: _and,
    Op.Not: on_numbers(invert),
    Op.BitFieldInsert: on_numbers(insert_field),
    Op.BitFieldSExtract: on_numbers(extract_signed_field),
    Op.BitFieldUExtract: on_numbers(extract_unsigned_field),
    Op.BitReverse: on_numbers(reverse_bits),
    Op.BitCount: _count_bits,
}
