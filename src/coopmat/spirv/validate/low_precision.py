"""Rules of the extensions for tf32, bfloat16, 4-bit integers and 8-bit floats."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import Op
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Types

_BFLOAT16_CONVERSIONS = {Op.ConvertFToBF16INTEL: ((Op.TypeFloat, 32), (Op.TypeInt, 16)),
                         Op.ConvertBF16ToFINTEL: ((Op.TypeInt, 16), (Op.TypeFloat, 32))}
_NAMES = {Op.TypeFloat: "floats", Op.TypeInt: "integers"}


def _is(kind: Types, opcode: Op, width: int) -> np.ndarray:
    """Scalars, vectors and cooperative matrices of components of this kind and width."""
    return kind.scalar.is_kind(opcode) & (kind.scalar.width == width)


@rule("tf32-rounding", "OpRoundFToTF32INTEL gives 32-bit floats of the operand's type.",
      "SPV_INTEL_tensor_float32_conversion (TF-1, TF-2)", Op.RoundFToTF32INTEL)
def tf32_rounding(group: Group) -> Findings:
    yield ~_is(group.result, Op.TypeFloat, 32), "the result of {op} is of 32-bit floats, not {type}"
    yield group.value(0) != group.result, "{op} rounds {type}, not {type0}"


@rule("bfloat16-conversion", "bfloat16 conversions are between 32-bit floats and as many 16-bit integers.",
      "SPV_INTEL_bfloat16_conversion (BC-1, BC-2)", *_BFLOAT16_CONVERSIONS)
def bfloat16_conversion(group: Group) -> Findings:
    given, wanted = _BFLOAT16_CONVERSIONS[Op(int(group.view.opcode[group.indices[0]]))]
    operand = group.value(0)
    yield ~_is(operand, *given), f"{{op}} converts {given[1]}-bit {_NAMES[given[0]]}, not {{type0}}"
    yield ~_is(group.result, *wanted), f"the result of {{op}} is of {wanted[1]}-bit {_NAMES[wanted[0]]}, not {{type}}"
    yield operand.components != group.result.components, "{op} of {type0} cannot give {type}"


_INTEGER_INSTRUCTIONS = (
    Op.SNegate, Op.Not, Op.IAdd, Op.ISub, Op.IMul, Op.UDiv, Op.SDiv, Op.UMod, Op.SRem, Op.SMod, Op.BitwiseOr,
    Op.BitwiseXor, Op.BitwiseAnd, Op.ShiftRightLogical, Op.ShiftRightArithmetic, Op.ShiftLeftLogical, Op.IEqual,
    Op.INotEqual, Op.UGreaterThan, Op.SGreaterThan, Op.UGreaterThanEqual, Op.SGreaterThanEqual, Op.ULessThan,
    Op.SLessThan, Op.ULessThanEqual, Op.SLessThanEqual, Op.BitCount, Op.BitReverse,
)


@rule("int4-arithmetic", "4-bit integers have no arithmetic: they are converted, moved and multiplied in matrices.",
      "SPV_INTEL_int4 (I4-3)", *_INTEGER_INSTRUCTIONS)
def int4_arithmetic(group: Group) -> Findings:
    operand = group.value(0)
    inner = Types(operand.table, operand.scalar.places)
    yield inner.is_kind(Op.TypeInt) & (inner.width == 4), \
        "{op} is not defined for {type0}: convert it to a wider integer type first"
