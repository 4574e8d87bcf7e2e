"""Which SPIR-V instruction an operator or conversion is, by the kind of its operands' elements."""

from __future__ import annotations

from coopmat.spirv.grammar import FPRoundingMode, Op
from coopmat.tree.nodes import BinaryOperator as B
from coopmat.tree.nodes import UnaryOperator as U

UNARY: dict[U, dict[str, Op]] = {
    U.NEGATE: {"sint": Op.SNegate, "uint": Op.SNegate, "float": Op.FNegate},
    U.COMPLEMENT: {"sint": Op.Not, "uint": Op.Not},
    U.NOT: {"bool": Op.LogicalNot},
}


def _row(sint: Op, uint: Op | None = None, float: Op | None = None,
         bool: Op | None = None) -> dict[str, Op]:
    kinds = {"sint": sint, "uint": uint or sint, "float": float, "bool": bool}
    return {kind: op for kind, op in kinds.items() if op is not None}


BINARY: dict[B, dict[str, Op]] = {
    B.ADD: _row(Op.IAdd, float=Op.FAdd),
    B.SUBTRACT: _row(Op.ISub, float=Op.FSub),
    B.MULTIPLY: _row(Op.IMul, float=Op.FMul),
    B.DIVIDE: _row(Op.SDiv, Op.UDiv, Op.FDiv),
    B.REMAINDER: _row(Op.SRem, Op.UMod, Op.FRem),
    B.AND: _row(Op.BitwiseAnd, bool=Op.LogicalAnd),
    B.OR: _row(Op.BitwiseOr, bool=Op.LogicalOr),
    B.XOR: _row(Op.BitwiseXor, bool=Op.LogicalNotEqual),
    B.SHIFT_LEFT: _row(Op.ShiftLeftLogical),
    B.SHIFT_RIGHT: _row(Op.ShiftRightArithmetic, Op.ShiftRightLogical),
    B.EQUAL: _row(Op.IEqual, float=Op.FOrdEqual, bool=Op.LogicalEqual),
    B.NOT_EQUAL: _row(Op.INotEqual, float=Op.FUnordNotEqual, bool=Op.LogicalNotEqual),
    B.LESS: _row(Op.SLessThan, Op.ULessThan, Op.FOrdLessThan),
    B.LESS_EQUAL: _row(Op.SLessThanEqual, Op.ULessThanEqual, Op.FOrdLessThanEqual),
    B.GREATER: _row(Op.SGreaterThan, Op.UGreaterThan, Op.FOrdGreaterThan),
    B.GREATER_EQUAL: _row(Op.SGreaterThanEqual, Op.UGreaterThanEqual, Op.FOrdGreaterThanEqual),
}

CONVERT: dict[tuple[str, str], Op] = {
    ("sint", "sint"): Op.SConvert, ("sint", "uint"): Op.SConvert,
    ("uint", "sint"): Op.UConvert, ("uint", "uint"): Op.UConvert,
    ("sint", "float"): Op.ConvertSToF, ("uint", "float"): Op.ConvertUToF,
    ("float", "sint"): Op.ConvertFToS, ("float", "uint"): Op.ConvertFToU,
    ("float", "float"): Op.FConvert, ("float", "bfloat"): Op.FConvert, ("bfloat", "float"): Op.FConvert,
}
"""By the kinds of source and target; integers are extended by the source's sign."""

MAY_OVERFLOW = frozenset({Op.IAdd, Op.ISub, Op.IMul, Op.SNegate})
HAS_FAST_MATH = frozenset({Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FMod})
"""What FPFastMathMode may say something of in every version of SPIR-V (3.20, Decoration)."""

ROUNDING_MODES = {"rte": FPRoundingMode.RTE, "rtz": FPRoundingMode.RTZ, "rtp": FPRoundingMode.RTP,
                  "rtn": FPRoundingMode.RTN}

WITHOUT_LINE = frozenset({Op.Branch, Op.Phi})
"""Instructions that need no source location."""

CANNOT_FAIL = frozenset({
    *UNARY[U.NEGATE].values(), *UNARY[U.COMPLEMENT].values(), *UNARY[U.NOT].values(),
    *(op for operator, row in BINARY.items()
      if operator not in (B.DIVIDE, B.REMAINDER, B.SHIFT_LEFT, B.SHIFT_RIGHT) for op in row.values()),
    Op.FDiv, Op.SConvert, Op.UConvert, Op.FConvert, Op.ConvertSToF, Op.ConvertUToF, Op.Bitcast, Op.Select,
    Op.CompositeConstruct, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle, Op.AccessChain,
    Op.PtrAccessChain, Op.ConvertPtrToU, Op.ConvertUToPtr, Op.PtrCastToGeneric, Op.GenericCastToPtr,
    Op.BranchConditional, Op.Switch, Op.Return, Op.ReturnValue,
})
"""Instructions that no message is about: for them the line is enough, whatever the column."""
