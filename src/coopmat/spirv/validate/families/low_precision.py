"""Rules of the extensions for tf32, bfloat16, 4-bit integers and 8-bit floats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import (
    CONVERSIONS,
    EXTENDED_INSTRUCTIONS,
    OPENCL_STD_NAMES,
    Capability,
    FPEncoding,
    Op,
    StorageClass,
)
from coopmat.spirv.validate.families.declarations import parts
from coopmat.spirv.validate.roles import Role
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import NO_ENCODING, Booleans, Types
from coopmat.spirv.validate.view import Group, ModuleView

_BFLOAT16_CONVERSIONS = {Op.ConvertFToBF16INTEL: ((Op.TypeFloat, 32), (Op.TypeInt, 16)),
                         Op.ConvertBF16ToFINTEL: ((Op.TypeInt, 16), (Op.TypeFloat, 32))}
_NAMES = {Op.TypeFloat: "floats", Op.TypeInt: "integers"}


def _is(kind: Types, opcode: Op, width: int) -> np.ndarray:
    """Scalars, vectors and cooperative matrices of components of this kind and width."""
    return kind.scalar.is_kind(opcode) & (kind.scalar.width == width)


@rule("tf32-rounding", "OpRoundFToTF32INTEL gives 32-bit floats of the operand's type.",
      "SPV_INTEL_tensor_float32_conversion", Op.RoundFToTF32INTEL)
def tf32_rounding(group: Group) -> Findings:
    yield ~_is(group.result, Op.TypeFloat, 32), "the result of {op} is of 32-bit floats, not {type}"
    yield group.value(0) != group.result, "{op} rounds {type}, not {type0}"


@rule("bfloat16-conversion", "bfloat16 conversions are between 32-bit floats and as many 16-bit integers.",
      "SPV_INTEL_bfloat16_conversion", *_BFLOAT16_CONVERSIONS)
def bfloat16_conversion(group: Group) -> Findings:
    given, wanted = _BFLOAT16_CONVERSIONS[group.opcode]
    operand = group.value(0)
    yield ~_is(operand, *given), f"{{op}} converts {given[1]}-bit {_NAMES[given[0]]}, not {{type0}}"
    yield ~_is(group.result, *wanted), f"the result of {{op}} is of {wanted[1]}-bit {_NAMES[wanted[0]]}, not {{type}}"
    yield operand.components != group.result.components, "{op} of {type0} gives as many numbers, not {type}"


# --------------------------------------------------------------------------------------
# Types that are moved and converted, but not computed with
# --------------------------------------------------------------------------------------

_MOVING = frozenset(op for op in Op
                    if op.spelling.startswith(("Constant", "SpecConstant", "Composite", "Copy", "Vector"))
                    ) - {Op.VectorTimesScalar, Op.VectorTimesMatrix} | {
    Op.Undef, Op.PoisonKHR, Op.FreezeKHR, Op.Name, Op.Decorate, Op.DecorateId, Op.DecorateString, Op.GroupDecorate,
    Op.EntryPoint, Op.Function, Op.FunctionParameter, Op.FunctionCall, Op.FunctionPointerCallINTEL, Op.Variable,
    Op.UntypedVariableKHR, Op.Load, Op.Store, Op.PredicatedLoadINTEL, Op.PredicatedStoreINTEL, Op.MaskedGatherINTEL,
    Op.MaskedScatterINTEL, Op.Select, Op.Phi, Op.ReturnValue, Op.LifetimeStart, Op.LifetimeStop, Op.Bitcast,
    Op.Transpose, Op.ConditionalCopyObjectINTEL,
}
_CONVERTING = CONVERSIONS | {Op.SatConvertSToU, Op.SatConvertUToS, Op.BitcastExtractEXT}
_OF_MATRICES = frozenset(op for op in Op if op.spelling.startswith("CooperativeMatrix"))
_MIXED = frozenset({Op.FDot2MixAcc32VALVE, Op.FDot2MixAcc16VALVE, Op.FDot4MixAcc32VALVE})
"""Dot products that SPV_VALVE_mixed_float_dot_product defines for small floats."""
_FREE = _MIXED | _MOVING | _CONVERTING | _OF_MATRICES
_FREE_EXTENDED = frozenset({"printf"})

class _Restricted(NamedTuple):
    """Types of a kind that few instructions take: which of the table's types they are, how a message calls them, and
    the instructions that take them beside those that take all."""

    types: Booleans
    name: str
    more: frozenset[Op]


def _restricted(view: ModuleView) -> Iterator[_Restricted]:
    rows = view.type_table.rows
    everything = view.types(np.array([row.identifier for row in rows], np.int64)).scalar
    floats = everything.is_kind(Op.TypeFloat)
    bfloat16 = everything.encoding == int(FPEncoding.BFloat16KHR)
    if not view.declared.unknown:  # which may allow arithmetic
        yield _Restricted(floats & bfloat16, "bfloat16 numbers", frozenset({Op.Dot}))
    yield _Restricted(floats & (everything.encoding != NO_ENCODING) & ~bfloat16, \
        "floats of 8 bits or fewer", frozenset())
    if not view.has(Capability.ArbitraryPrecisionIntegersALTERA):
        yield _Restricted(everything.is_int(4), "4-bit integers", frozenset())


@rule("low-precision-use", "bfloat16, 8-bit floats and 4-bit integers are moved, converted and multiplied in matrices, "
      "not computed with.", "SPV_KHR_bfloat16, SPV_EXT_float8, SPV_INTEL_int4")
def low_precision_use(view: ModuleView) -> Findings:
    for kind in _restricted(view):
        if not kind.types.any():
            continue
        at, _, ids, role = view.uses
        using = at[kind.types[view.value_types(ids).places] & (role != Role.TYPE)]
        making = np.flatnonzero(kind.types[view.types(view.type_id).places])
        for index in np.unique(np.concatenate([using, making])).tolist():
            is_other = int(view.operation[index]) not in _FREE | kind.more
            if is_other and not view.broken[index] and not _is_printf(view, index):
                yield index, f"{{op}} is not defined for {kind.name}: convert them to a wider type first"


def _is_printf(view: ModuleView, index: int) -> bool:
    item = view.items[index]
    if item.opcode != Op.ExtInst:
        return False
    name = view.module.instruction_sets.get(item.words[0], "")
    return name not in EXTENDED_INSTRUCTIONS or OPENCL_STD_NAMES.get(item.words[1]) in _FREE_EXTENDED


@rule("int4-storage", "A variable of 4-bit integers outside functions holds vectors of an even number of them.",
      "SPV_INTEL_int4", Op.Variable)
def int4_storage(group: Group) -> Findings:
    view = group.view
    alone = np.zeros(len(view.type_table.rows), bool)
    for place, item in enumerate(view.type_table.instructions):
        if item is None:
            continue
        if item.opcode == Op.TypeInt:
            alone[place] = item.words[0] == 4
        elif item.opcode == Op.TypeVector:
            alone[place] = alone[view.type_table.position.get(item.words[0], 0)] and item.words[1] % 2 == 1
        elif item.opcode != Op.TypeCooperativeMatrixKHR:
            alone[place] = any(alone[view.type_table.position.get(part, 0)] for part in parts(item))
    inside = np.isin(group.word(0), (StorageClass.Function, StorageClass.Private))
    yield alone[group.result.element.places] & ~inside, \
        "a variable in this storage class cannot hold 4-bit integers but in vectors of an even number of them"
