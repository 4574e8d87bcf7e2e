"""Rules of SPV_INTEL_joint_matrix and SPV_NV_cooperative_matrix2."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.grammar import CooperativeMatrixUse, Op
from coopmat.spirv.validate.cooperative_matrices import UNKNOWN, differ, shapes
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types

JOINT = "SPV_INTEL_joint_matrix"
MATRIX2 = "SPV_NV_cooperative_matrix2"
_A, _B, _ACCUMULATOR = (int(use) for use in CooperativeMatrixUse)


def _is(kind: Types, opcode: Op, width: int) -> Booleans:
    return kind.is_kind(opcode) & (kind.width == width)


@rule("joint-interpretation", "Components are reinterpreted as tf32 or bfloat16 only from types that carry these.",
      f"{JOINT}, Cooperative Matrix Operands (JM-2 to JM-5)", Op.CooperativeMatrixMulAddKHR)
def joint_interpretation(group: Group) -> Findings:
    flags = group.word(3)
    a, b, c, result = (kind.element for kind in (group.value(0), group.value(1), group.value(2), group.result))
    for flag, kinds, carrier, signs in (
            (Flags.MatrixAAndBTF32ComponentsINTEL, (a, b), (Op.TypeFloat, 32), Flags(0)),
            (Flags.MatrixAAndBBFloat16ComponentsINTEL, (a, b), (Op.TypeInt, 16),
             Flags.MatrixASignedComponentsKHR | Flags.MatrixBSignedComponentsKHR),
            (Flags.MatrixCBFloat16ComponentsINTEL, (c,), (Op.TypeInt, 16), Flags.MatrixCSignedComponentsKHR),
            (Flags.MatrixResultBFloat16ComponentsINTEL, (result,), (Op.TypeInt, 16),
             Flags.MatrixResultSignedComponentsKHR)):
        used = flags & int(flag) != 0
        what = "32-bit floats" if carrier[0] == Op.TypeFloat else "16-bit integers"
        for kind in kinds:
            yield used & ~_is(kind, *carrier), f"{flag.spelling} needs components that are {what}"
        yield used & (flags & int(signs) != 0), f"{flag.spelling} does not go together with signed components"


# Instruction → places of the offsets, of the sizes, and of the matrix value (None: the result).
_CHECKED = {
    Op.CooperativeMatrixLoadCheckedINTEL: ((1, 2), (4, 5)),
    Op.CooperativeMatrixStoreCheckedINTEL: ((1, 2), (5, 6)),
    Op.CooperativeMatrixConstructCheckedINTEL: ((0, 1), (2, 3)),
}


@rule("joint-checked", "Checked instructions have 32-bit offsets, integer sizes and a cooperative matrix.",
      f"{JOINT} (JM-6, JM-7)", *_CHECKED)
def joint_checked(group: Group) -> Findings:
    opcode = group.opcode
    offsets, sizes = _CHECKED[opcode]
    for place in offsets:
        yield ~_is(group.value(place), Op.TypeInt, 32), f"an offset of {{op}} is a 32-bit integer, not {{type{place}}}"
    for place in sizes:
        yield ~group.value(place).is_kind(Op.TypeInt), f"a size of {{op}} is an integer, not {{type{place}}}"
    if opcode == Op.CooperativeMatrixStoreCheckedINTEL:
        yield ~group.value(3).is_matrix, "{op} stores a cooperative matrix, not {type3}"
    else:
        yield ~group.result.is_matrix, "{op} gives a cooperative matrix, not {type}"
    if opcode == Op.CooperativeMatrixConstructCheckedINTEL:
        yield group.value(4) != group.result.element, "the value of {op} has type {type4}; the component type is needed"
    else:
        yield ~group.value(0).is_pointer, "{op} needs a pointer, not {type0}"


@rule("joint-coordinate", "The coordinate of an element is two 32-bit integers.", f"{JOINT} (JM-9)",
      Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT)
def joint_coordinate(group: Group) -> Findings:
    result = group.result
    yield ~(result.scalars_of(Op.TypeInt) & (result.components == 2) & (result.scalar.width == 32)), \
        "{op} gives a vector of two 32-bit integers, not {type}"
    yield ~group.value(0).is_matrix, "{op} takes a cooperative matrix, not {type0}"
    yield ~_is(group.value(1), Op.TypeInt, 32), "the index of {op} is a 32-bit integer, not {type1}"


@rule("joint-prefetch", "A prefetch takes a pointer and constant numbers of rows and columns.", f"{JOINT} (JM-6)",
      Op.CooperativeMatrixPrefetchINTEL)
def joint_prefetch(group: Group) -> Findings:
    yield ~group.value(0).is_pointer, "{op} needs a pointer, not {type0}"
    with_offsets = group.size >= 7
    for short, full, what in ((1, 3, "rows"), (2, 4, "columns")):
        for place, chosen in ((short, ~with_offsets), (full, with_offsets)):
            good = _is(group.value(place), Op.TypeInt, 32) & (group.constant(place) != UNKNOWN)
            yield chosen & ~good, f"the number of {what} of {{op}} is a constant 32-bit integer, not {{def{place}}}"


# --------------------------------------------------------------------------------------
# SPV_NV_cooperative_matrix2
# --------------------------------------------------------------------------------------


@rule("matrix2-conversion", "A change of use keeps component type, scope and shape; a transposition swaps the sizes.",
      MATRIX2, Op.CooperativeMatrixConvertNV, Op.CooperativeMatrixTransposeNV)
def matrix2_conversion(group: Group) -> Findings:
    given, result = group.value(0), group.result
    yield ~(given.is_matrix & result.is_matrix), "{op} turns a cooperative matrix into another, not {type0} into {type}"
    before, after = shapes(group.view, given), shapes(group.view, result)
    yield given.element != result.element, "{op} keeps the component type: {type0}, {type}"
    yield differ(before.scope, after.scope), "{op} keeps the scope: {type0}, {type}"
    if group.opcode == Op.CooperativeMatrixTransposeNV:
        yield differ(before.rows, after.columns) | differ(before.columns, after.rows), \
            "{op} swaps rows and columns: {type0}, {type}"
        yield differ(after.use, np.full(len(group), _B)), "{op} gives a matrix of use B (1)"
    else:
        yield differ(before.rows, after.rows) | differ(before.columns, after.columns), \
            "{op} keeps the shape: {type0}, {type}"


@rule("matrix2-reduction", "A reduction works on accumulators of one component type.", MATRIX2,
      Op.CooperativeMatrixReduceNV)
def matrix2_reduction(group: Group) -> Findings:
    given, result = group.value(0), group.result
    yield ~(given.is_matrix & result.is_matrix), "{op} turns a cooperative matrix into another, not {type0} into {type}"
    before, after = shapes(group.view, given), shapes(group.view, result)
    accumulator = np.full(len(group), _ACCUMULATOR)
    yield differ(before.use, accumulator) | differ(after.use, accumulator), "{op} works on accumulators (use 2)"
    yield given.element != result.element, "{op} keeps the component type: {type0}, {type}"


@rule("matrix2-per-element", "An operation on every element keeps the type of the matrix.", MATRIX2,
      Op.CooperativeMatrixPerElementOpNV)
def matrix2_per_element(group: Group) -> Findings:
    yield group.value(0) != group.result, "{op} of {type0} cannot give {type}"
    yield group.definition(1) != int(Op.Function), "{op} calls a function, not {def1}"
