"""Which LLVM instruction, or which function on matrices, an operator or conversion is."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.tree.nodes import BinaryOperator as B
from coopmat.tree.types import Scalar


def _row(sint: str, uint: str | None = None, float: str | None = None, bool: str | None = None) -> dict[str, str]:
    kinds = {"sint": sint, "uint": uint or sint, "float": float, "bool": bool}
    return {kind: text for kind, text in kinds.items() if text is not None}


BINARY: dict[B, dict[str, str]] = {
    B.ADD: _row("add", float="fadd"),
    B.SUBTRACT: _row("sub", float="fsub"),
    B.MULTIPLY: _row("mul", float="fmul"),
    B.DIVIDE: _row("sdiv", "udiv", "fdiv"),
    B.REMAINDER: _row("srem", "urem", "frem"),
    B.AND: _row("and", bool="and"),
    B.OR: _row("or", bool="or"),
    B.XOR: _row("xor", bool="xor"),
    B.SHIFT_LEFT: _row("shl"),
    B.SHIFT_RIGHT: _row("ashr", "lshr"),
    B.EQUAL: _row("icmp eq", float="fcmp oeq", bool="icmp eq"),
    B.NOT_EQUAL: _row("icmp ne", float="fcmp une", bool="icmp ne"),
    B.LESS: _row("icmp slt", "icmp ult", "fcmp olt"),
    B.LESS_EQUAL: _row("icmp sle", "icmp ule", "fcmp ole"),
    B.GREATER: _row("icmp sgt", "icmp ugt", "fcmp ogt"),
    B.GREATER_EQUAL: _row("icmp sge", "icmp uge", "fcmp oge"),
}
"""By the kind of the left operand's elements."""

# The RFC's names leave the sign open; LLVM's types have none, so an unsigned division is named as in SPIR-V.
_MATRIX_NAMES = {B.ADD: "CooperativeMatrixBinaryAdd", B.SUBTRACT: "CooperativeMatrixBinarySub",
                 B.MULTIPLY: "CooperativeMatrixBinaryMul", B.DIVIDE: "CooperativeMatrixBinaryDiv"}

MATRIX_BINARY: dict[tuple[B, str], str] = {
    **{(operator, kind): name for operator, name in _MATRIX_NAMES.items()
       for kind in ("sint", "uint", "float", "bfloat")},
    (B.DIVIDE, "uint"): "UDiv",
}
"""The function that does an operation on matrices, by the kind of their elements."""


def conversion_instruction(source: Scalar, target: Scalar) -> str:
    """The SPIR-V conversion between two numbers; integers are extended by the source's sign."""
    if source.is_float and target.is_float:
        return "FConvert"
    if source.is_float:
        return "ConvertFToS" if target.is_signed else "ConvertFToU"
    if target.is_float:
        return "ConvertSToF" if source.is_signed else "ConvertUToF"
    return "SConvert" if source.is_signed else "UConvert"


def _resize(extend: str, truncate: str) -> Callable[[Scalar, Scalar], str]:
    return lambda source, target: extend if target.bits > source.bits else truncate


CONVERT: dict[str, Callable[[Scalar, Scalar], str]] = {
    "FConvert": _resize("fpext", "fptrunc"),
    "SConvert": _resize("sext", "trunc"),
    "UConvert": _resize("zext", "trunc"),
    "ConvertFToS": lambda source, target: "fptosi",
    "ConvertFToU": lambda source, target: "fptoui",
    "ConvertSToF": lambda source, target: "sitofp",
    "ConvertUToF": lambda source, target: "uitofp",
}
"""SPIR-V conversion -> the LLVM instruction for scalars and vectors."""
