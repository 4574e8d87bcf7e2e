"""How products are added up: the type of sums, elements in it and back, and one product more."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.formats import Format
from coopmat.spirv.analysis.matrix_uses import FLOAT_FORMATS
from coopmat.spirv.analysis.types import IntType, MatrixType, Type
from coopmat.targets.cpu.matrix.body import Features
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.arithmetic.conversions import narrowed, saturated
from coopmat.targets.llvm.arithmetic.floats import from_bf16
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number

FUSED = frozenset({"fma", "avx512f"})  # features with fused multiply-adds
MOST_UNROLLED = 256
"""Multiply-adds of registers that stand one after the other in a kernel, for a kind of product: LLVM is slow on more,
and keeps what it needs of them in memory."""
FLOAT_TYPES: dict[str, Type] = {name: kind for kind, name in FLOAT_FORMATS.items()}


def register_bytes(features: Features) -> int:
    """The size of a vector register."""
    return next((nbytes for name, nbytes in (("avx512f", 64), ("avx", 32)) if name in features), 16)


def sum_registers(features: Features) -> int:
    """How many vector registers sums may take, beside what they are made of."""
    return 24 if "avx512f" in features else 12


def work_type(formats: Sequence[Format], saturating: bool) -> str:
    """The type that sums are formed in."""
    if formats[0].is_float:
        return "double" if any(one.bits == 64 for one in formats) else "float"
    widest = max(one.bits for one in formats)
    if saturating:
        return "i64" if widest <= 32 else "i128"
    return "i64" if widest == 64 else "i32"


def to_work(rows: NumberWriter, number: Number, fmt: Format, work: str) -> Number:
    """Elements of a format as the type that sums are formed in."""
    if fmt.is_float:
        if fmt.name == "bf16":
            number = from_bf16(rows, number)
        elif fmt.name == "tf32":
            bits = rows.apply("bitcast {t} {0} to {r}", "i32", number)
            kept = rows.apply("and {t} {0}, {1}", "i32", bits, rows.constant("i32", ~0x1FFF))
            number = rows.apply("bitcast {t} {0} to {r}", "float", kept)
        return number if number.type == work else rows.apply("fpext {t} {0} to {r}", work, number)
    if fmt.name == "uint4":
        number = rows.apply("and {t} {0}, {1}", "i8", number, rows.constant("i8", 15))
    if number.type == work:
        return number
    return rows.apply(("sext" if fmt.is_signed else "zext") + " {t} {0} to {r}", work, number)


def from_work(rows: NumberWriter, number: Number, fmt: Format, kind: MatrixType, saturating: bool) -> Number:
    """Sums as elements of D."""
    if fmt.is_float:
        return narrowed(rows, number, FLOAT_TYPES[fmt.name], "rte")
    llvm = element_type(kind)
    if saturating:
        return saturated(rows, number, llvm, from_signed=True, to_signed=fmt.is_signed)
    result = resized(rows, number, llvm, signed=True)
    if kind.component == IntType(4):
        four = rows.constant("i8", 4)
        result = rows.apply("ashr {t} {0}, {1}", "i8", rows.apply("shl {t} {0}, {1}", "i8", result, four), four)
    return result


def add_product(features: Features, rows: NumberWriter, total: Number, a: Number, b: Number) -> Number:
    """``total`` plus a product, in the type of sums."""
    if total.type in ("float", "double"):
        if features & FUSED:
            return rows.intrinsic("fma", total.type, a, b, total)
        return rows.apply("fadd {t} {0}, {1}", total.type, total, rows.apply("fmul {t} {0}, {1}", total.type, a, b))
    return rows.apply("add {t} {0}, {1}", total.type, total, rows.apply("mul {t} {0}, {1}", total.type, a, b))
