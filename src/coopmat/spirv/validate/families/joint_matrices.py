"""Rules of SPV_INTEL_joint_matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.validate.families.cooperative_matrices import differ, shapes
from coopmat.spirv.validate.families.matrix_memory import layout_operands, memory_operands
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

JOINT = "SPV_INTEL_joint_matrix"


def _is(kind: Types, opcode: Op, width: int) -> Booleans:
    return kind.is_kind(opcode) & (kind.width == width)


@rule("joint-interpretation", "Components are reinterpreted as tf32 or bfloat16 only from types that carry these.",
      f"{JOINT}, Cooperative Matrix Operands", Op.CooperativeMatrixMulAddKHR)
def joint_interpretation(group: Group) -> Findings:
    flags = group.word(3)
    a, b, c, result = (kind.element for kind in (group.value(0), group.value(1), group.value(2), group.result))
    of_both = ("{type0}", "{type1}")
    for flag, kinds, places, carrier, signs in (
            (Flags.MatrixAAndBTF32ComponentsINTEL, (a, b), of_both, (Op.TypeFloat, 32), Flags(0)),
            (Flags.MatrixAAndBBFloat16ComponentsINTEL, (a, b), of_both, (Op.TypeInt, 16),
             Flags.MatrixASignedComponentsKHR | Flags.MatrixBSignedComponentsKHR),
            (Flags.MatrixCBFloat16ComponentsINTEL, (c,), ("{type2}",), (Op.TypeInt, 16),
             Flags.MatrixCSignedComponentsKHR),
            (Flags.MatrixResultBFloat16ComponentsINTEL, (result,), ("{type}",), (Op.TypeInt, 16),
             Flags.MatrixResultSignedComponentsKHR)):
        used = flags & int(flag) != 0
        what = "32-bit floats" if carrier[0] == Op.TypeFloat else "16-bit integers"
        for kind, shown in zip(kinds, places, strict=True):
            yield used & ~_is(kind, *carrier), f"{flag.spelling} needs components that are {what}, not {shown}"
        if signs:
            yield used & (flags & int(signs) != 0), \
                f"{flag.spelling} does not go together with {' or '.join(sign.spelling for sign in signs)}"


# Instruction → places of the offsets, of the sizes, and of the matrix value (None: the result).
_CHECKED = {
    Op.CooperativeMatrixLoadCheckedINTEL: ((1, 2), (4, 5)),
    Op.CooperativeMatrixStoreCheckedINTEL: ((1, 2), (5, 6)),
    Op.CooperativeMatrixConstructCheckedINTEL: ((0, 1), (2, 3)),
}


@rule("joint-checked", "Checked instructions have 32-bit offsets, integer sizes and a cooperative matrix.",
      JOINT, *_CHECKED)
def joint_checked(group: Group) -> Findings:
    opcode = group.opcode
    offsets, sizes = _CHECKED[opcode]
    for place in offsets:
        yield ~_is(group.value(place), Op.TypeInt, 32), f"an offset of {{op}} is a 32-bit integer, not {{type{place}}}"
    for place in sizes:
        yield ~group.value(place).is_kind(Op.TypeInt), f"a size of {{op}} is an integer, not {{type{place}}}"
    if opcode == Op.CooperativeMatrixLoadCheckedINTEL:
        yield from memory_operands(group, group.result, 0, 3, 6)
    elif opcode == Op.CooperativeMatrixStoreCheckedINTEL:
        yield from memory_operands(group, group.value(3), 0, 4, 7)
    else:
        yield ~group.result.is_matrix, "{op} gives a cooperative matrix, not {type}"
        yield group.result.is_matrix & (group.value(4) != group.result.element), \
            "the value of {op} has type {type4}; the component type of {type} is needed"


@rule("joint-apply", "A function applied to a cooperative matrix keeps its type.", JOINT,
      Op.CooperativeMatrixApplyFunctionINTEL)
def joint_apply(group: Group) -> Findings:
    yield ~group.value(1).is_matrix, "{op} works on a cooperative matrix, not on {type1}"
    yield group.value(1) != group.result, "{op} of {type1} cannot give {type}"


@rule("joint-coordinate", "The coordinate of an element is two 32-bit integers.", JOINT,
      Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT)
def joint_coordinate(group: Group) -> Findings:
    result = group.result
    yield ~(result.scalars_of(Op.TypeInt) & (result.components == 2) & (result.scalar.width == 32)), \
        "{op} gives a vector of two 32-bit integers, not {type}"
    yield ~group.value(0).is_matrix, "{op} takes a cooperative matrix, not {type0}"
    yield ~_is(group.value(1), Op.TypeInt, 32), "the index of {op} is a 32-bit integer, not {type1}"


@rule("joint-prefetch", "A prefetch takes a pointer, perhaps 32-bit offsets, constant numbers of rows and columns, a "
      "constant layout and a stride.", f"{JOINT}; without offsets, as LLVM and the SPIR-V translator have it",
      Op.CooperativeMatrixPrefetchINTEL)
def joint_prefetch(group: Group) -> Findings:
    yield ~group.value(0).is_pointer, "{op} needs a pointer, not {type0}"
    with_offsets = group.has(_LAYOUT)
    for chosen, first in ((with_offsets, 3), (~with_offsets, 1)):
        if chosen.any():
            for wrong, message in _prefetch(group.take(chosen), first):
                yield group.spread(chosen, wrong), message


_LAYOUT = 6  # the place of a prefetch's layout, if there are offsets


def _prefetch(group: Group, first: int) -> Iterator[tuple[Booleans, str]]:
    """What is wrong with prefetches whose number of rows is operand ``first``."""
    for place in range(1, first):
        yield ~_is(group.value(place), Op.TypeInt, 32), f"an offset of {{op}} is a 32-bit integer, not {{type{place}}}"
    for place, what in ((first, "rows"), (first + 1, "columns")):
        yield ~(_is(group.value(place), Op.TypeInt, 32) & group.is_constant(place)), \
            f"the number of {what} of {{op}} is a constant 32-bit integer, not {{def{place}}} of {{type{place}}}"
    yield from layout_operands(group, first + 3, first + 4)


# Instruction → the capability with which it works on cooperative matrices.
_CONVERSIONS = {Op.RoundFToTF32INTEL: Capability.CooperativeMatrixTF32ComponentTypeINTEL,
                Op.ConvertFToBF16INTEL: Capability.CooperativeMatrixBFloat16ComponentTypeINTEL,
                Op.ConvertBF16ToFINTEL: Capability.CooperativeMatrixBFloat16ComponentTypeINTEL}


@rule("joint-conversion", "Conversions to tf32 and to and from bfloat16 take cooperative matrices with the "
      "capability for such components, and keep their shape.", JOINT, *_CONVERSIONS)
def joint_conversion(group: Group) -> Findings:
    given, result = group.value(0), group.result
    needed = _CONVERSIONS[group.opcode]
    if not group.view.has(needed):
        yield given.is_matrix | result.is_matrix, \
            f"{{op}} of a cooperative matrix, {{type0}}, needs the capability {needed.spelling}"
    yield given.is_matrix != result.is_matrix, "{op} converts matrices to matrices only: {type0} to {type}"
    before, after = shapes(group.view, given), shapes(group.view, result)
    changed = [differ(one, other) for one, other in zip(before, after, strict=True)]
    yield np.logical_or.reduce(changed), "{op} keeps the scope, shape and use of a matrix: {type0} to {type}"
