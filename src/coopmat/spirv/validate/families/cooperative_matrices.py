"""Rules of SPV_KHR_cooperative_matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import (
    CONVERSIONS,
    Capability,
    CooperativeMatrixUse,
    Decoration,
    ExecutionMode,
    Op,
    Scope,
    StorageClass,
)
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.validate.families.arithmetic import MATRIX_ARITHMETIC
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers, Types
from coopmat.spirv.validate.view import Group, ModuleView

SECTION = "SPV_KHR_cooperative_matrix"
UNKNOWN = -1

_LOCAL_SIZES = (ExecutionMode.LocalSize, ExecutionMode.LocalSizeId)
_SIGNS = (Flags.MatrixASignedComponentsKHR, Flags.MatrixBSignedComponentsKHR, Flags.MatrixCSignedComponentsKHR,
          Flags.MatrixResultSignedComponentsKHR)
_AS_BFLOAT16 = (Flags.MatrixAAndBBFloat16ComponentsINTEL, Flags.MatrixAAndBBFloat16ComponentsINTEL,
                Flags.MatrixCBFloat16ComponentsINTEL, Flags.MatrixResultBFloat16ComponentsINTEL)
"""Of A, B, C and the result: the flag under which 16-bit integers stand for bfloat16."""
_NAMES = ("A", "B", "C", "the result")


class Shapes(NamedTuple):
    """Scope, rows, columns and use of matrix types; UNKNOWN where a specialisation constant decides."""

    scope: Integers
    rows: Integers
    columns: Integers
    use: Integers


def shapes(view: ModuleView, types: Types) -> Shapes:
    """The shapes of these types; UNKNOWN for what is no cooperative matrix."""
    table = np.full((len(view.type_table.rows), 4), UNKNOWN)
    for place, item in enumerate(view.type_table.instructions):
        if item is not None and item.opcode == Op.TypeCooperativeMatrixKHR:
            for column, identifier in enumerate(item.words[1:5]):
                value = view.constant(identifier)
                table[place, column] = UNKNOWN if value is None else value
    return Shapes(*table[types.places].T)


def differ(one: Integers, other: Integers) -> Booleans:
    """Whether two numbers are known and not equal."""
    return (one != UNKNOWN) & (other != UNKNOWN) & (one != other)


@rule("matrix-type-operands", "A cooperative matrix has numbers as components, and constants for scope, rows, "
      "columns and use.", f"{SECTION}, OpTypeCooperativeMatrixKHR", Op.TypeCooperativeMatrixKHR)
def matrix_type_operands(group: Group) -> Findings:
    yield ~group.type(0).is_kind(Op.TypeInt, Op.TypeFloat), \
        "the components of a cooperative matrix are integers or floats, not {def0}"
    for place, what in ((1, "scope"), (2, "number of rows"), (3, "number of columns"), (4, "use")):
        yield ~(group.value(place).is_int(32) & group.is_constant(place)), \
            f"the {what} of a cooperative matrix is a constant 32-bit integer, not {{def{place}}} of {{type{place}}}"
    for place, what in ((2, "rows"), (3, "columns")):
        yield group.constant(place) == 0, f"a cooperative matrix of 0 {what}: at least 1 is needed"
    use = group.constant(4)
    yield (use != UNKNOWN) & ~np.isin(use, list(CooperativeMatrixUse)), \
        "the use of a cooperative matrix is 0 (A), 1 (B) or 2 (accumulator), not {def4}"


@rule("matrix-scope", "A cooperative matrix belongs to a sub-group or to a work-group, whose size the module gives.",
      f"{SECTION}, OpTypeCooperativeMatrixKHR; SPV_NV_cooperative_matrix2, 2.16.1 Universal Validation Rules "
      "", Op.TypeCooperativeMatrixKHR)
def matrix_scope(group: Group) -> Findings:
    scope = group.constant(1)
    yield (scope != UNKNOWN) & ~np.isin(scope, (Scope.Subgroup, Scope.Workgroup)), \
        "the scope of a cooperative matrix is Subgroup (3) or Workgroup (2), not {def1}"
    of_work_groups = scope == Scope.Workgroup
    if not of_work_groups.any():
        return
    view = group.view
    for entry in view.entry_points:
        sizes = [(mode, ids) for mode, ids in view.module.execution_modes(entry.function) if mode in _LOCAL_SIZES]
        if not sizes:
            yield of_work_groups, "a cooperative matrix of a work-group needs the execution mode LocalSize or " \
                                  f"LocalSizeId on the entry point '{entry.name}'"
        for identifier in (i for mode, ids in sizes if mode == ExecutionMode.LocalSizeId for i in ids):
            yield of_work_groups & (view.defined_by[identifier] > group.indices), \
                f"{{named{identifier}}}, a LocalSizeId of '{entry.name}', must be defined before a cooperative " \
                "matrix of a work-group"


@rule("matrix-vulkan-memory-model",
      "A module that declares Shader and CooperativeMatrixKHR declares VulkanMemoryModel, too.",
      f"{SECTION}, CooperativeMatrixKHR")
def matrix_vulkan_memory_model(view: ModuleView) -> Findings:
    at = view.declared.capabilities.get(Capability.CooperativeMatrixKHR)
    if at is not None and Capability.Shader in view.declared.all and not view.has(Capability.VulkanMemoryModel):
        yield at, "CooperativeMatrixKHR in a module with the capability Shader needs the capability " \
                  "VulkanMemoryModel, too"


@rule("matrix-storage", "Cooperative matrices live in Function and Private variables only.",
      f"{SECTION}, 2.16.1 Universal Validation Rules", Op.Variable)
def matrix_storage(group: Group) -> Findings:
    holds = group.view.derived(holds_matrix)[group.result.element.places]
    allowed = np.isin(group.word(0), (StorageClass.Function, StorageClass.Private))
    yield holds & ~allowed, "a variable that is or holds a cooperative matrix must be in Function or Private storage"


def holds_matrix(view: ModuleView) -> Booleans:
    """For each type of the table, whether it is or contains a cooperative matrix (not through pointers)."""
    found = np.zeros(len(view.type_table.rows), bool)
    for place, item in enumerate(view.type_table.instructions):
        if item is None:
            continue
        if item.opcode == Op.TypeCooperativeMatrixKHR:
            found[place] = True
        elif item.opcode in (Op.TypeArray, Op.TypeRuntimeArray, Op.TypeStruct):
            inner = item.words if item.opcode == Op.TypeStruct else item.words[:1]
            found[place] = any(found[view.type_table.position.get(word, 0)] for word in inner)
    return found


# --------------------------------------------------------------------------------------
# Multiply-accumulate
# --------------------------------------------------------------------------------------


@rule("matrix-multiply-types", "A, B, C and the result are cooperative matrices of use A, B, accumulator and "
      "accumulator, of one scope.", f"{SECTION}, OpCooperativeMatrixMulAddKHR",
      Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_types(group: Group) -> Findings:
    kinds = (group.value(0), group.value(1), group.value(2), group.result)
    uses = (CooperativeMatrixUse.MatrixAKHR, CooperativeMatrixUse.MatrixBKHR,
            CooperativeMatrixUse.MatrixAccumulatorKHR, CooperativeMatrixUse.MatrixAccumulatorKHR)
    scope = shapes(group.view, kinds[3]).scope
    for place, (kind, use, name) in enumerate(zip(kinds, uses, _NAMES, strict=True)):
        shown = f"{{type{place}}}" if place < 3 else "{type}"
        yield ~kind.is_matrix, f"{name} of {{op}} must be a cooperative matrix, not {shown}"
        shape = shapes(group.view, kind)
        yield differ(shape.use, np.full(len(group), int(use))), \
            f"{name} of {{op}} must have use {int(use)} ({use.spelling}): {shown}"
        yield differ(shape.scope, scope), f"{name} of {{op}} has another scope than the result: {shown}"


@rule("matrix-multiply-shapes", "A is M x K, B is K x N, C and the result are M x N, as far as the sizes are "
      "known.", f"{SECTION}, OpCooperativeMatrixMulAddKHR", Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_shapes(group: Group) -> Findings:
    a, b, c = (shapes(group.view, group.value(place)) for place in range(3))
    result = shapes(group.view, group.result)
    yield differ(a.columns, b.rows), "A has another number of columns than B has rows: {type0} and {type1}"
    yield differ(a.rows, result.rows), "A has another number of rows than the result: {type0} and {type}"
    yield differ(b.columns, result.columns), "B has another number of columns than the result: {type1} and {type}"
    yield differ(c.rows, result.rows) | differ(c.columns, result.columns), \
        "C has another shape than the result: {type2} and {type}"


@rule("matrix-multiply-signs", "Only a matrix of integers is flagged as signed.",
      f"{SECTION}, Cooperative Matrix Operands", Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_signs(group: Group) -> Findings:
    flags = group.word(3)
    kinds = (group.value(0), group.value(1), group.value(2), group.result)
    for kind, flag, name in zip(kinds, _SIGNS, _NAMES, strict=True):
        integers = kind.is_matrix & kind.element.is_kind(Op.TypeInt)
        yield (flags & int(flag) != 0) & ~integers, f"{flag.spelling} needs a matrix of integers; {name} is none"


@rule("matrix-multiply-kinds", "No device multiplies integer matrices with floating ones, or adds one to the other.",
      f"{SECTION}, OpCooperativeMatrixMulAddKHR", Op.CooperativeMatrixMulAddKHR, severity="warning")
def matrix_multiply_kinds(group: Group) -> Findings:
    kinds = (group.value(0), group.value(1), group.value(2), group.result)
    matrices = kinds[0].is_matrix & kinds[1].is_matrix & kinds[2].is_matrix & kinds[3].is_matrix
    flags = group.word(3)
    floats = [kind.element.is_kind(Op.TypeFloat) | (flags & int(flag) != 0)
              for kind, flag in zip(kinds, _AS_BFLOAT16, strict=True)]
    yield matrices & (floats[0] != floats[1]), \
        "A and B of {op}, {type0} and {type1}, are of integers and of floats: no client API offers that"
    yield matrices & (floats[2] != floats[3]), \
        "C and the result of {op}, {type2} and {type}, are of integers and of floats: no client API offers that"


@rule("matrix-saturation", "Saturation has a meaning for integer results only.",
      f"{SECTION}, OpCooperativeMatrixMulAddKHR", Op.CooperativeMatrixMulAddKHR, severity="warning")
def matrix_saturation(group: Group) -> Findings:
    saturating = group.word(3) & int(Flags.SaturatingAccumulationKHR) != 0
    yield saturating & group.result.element.is_kind(Op.TypeFloat), \
        "SaturatingAccumulationKHR says nothing about a result of floats, {type}"


# --------------------------------------------------------------------------------------
# Arithmetic and conversions
# --------------------------------------------------------------------------------------


@rule("matrix-arithmetic", "Operands and result of integer arithmetic on cooperative matrices have one type, but for "
      "the signedness of their components.", f"{SECTION}, 3.3.13 Arithmetic Instructions",
      *sorted(op for op in MATRIX_ARITHMETIC if not op.spelling.startswith("F")))
def matrix_arithmetic(group: Group) -> Findings:
    for place in group.places():
        operand = group.value(place)
        matrices = operand.is_matrix & group.result.is_matrix
        yield matrices & (operand != group.result) & ~_same_but_sign(group.view, operand, group.result), \
            f"operand {place + 1} of {{op}} is {{type{place}}}; the result type {{type}} is needed"


def _same_but_sign(view: ModuleView, one: Types, other: Types) -> Booleans:
    """Matrices of integers that differ at most in signedness."""
    return _same_shape_and_width(view, one, other) & (one.element.is_kind(Op.TypeInt)
                                                      & other.element.is_kind(Op.TypeInt))


def _same_shape_and_width(view: ModuleView, one: Types, other: Types) -> Booleans:
    """Matrices that differ at most in what the bits of their components mean."""
    same = one.element.width == other.element.width
    for a, b in zip(shapes(view, one), shapes(view, other), strict=True):
        same &= ~differ(a, b)
    return same


@rule("matrix-times-scalar", "A matrix is multiplied by a scalar of its component type.",
      f"{SECTION}, OpMatrixTimesScalar", Op.MatrixTimesScalar)
def matrix_times_scalar(group: Group) -> Findings:
    matrix, scalar = group.value(0), group.value(1)
    chosen = matrix.is_matrix | group.result.is_matrix
    yield chosen & (matrix != group.result), "{op} of {type0} cannot give {type}"
    yield chosen & (scalar != group.result.element), "{op} needs a scalar of the matrix's component type, not {type1}"


@rule("matrix-conversion", "A conversion keeps the scope and shape of a cooperative matrix, and its use but where an "
      "accumulator becomes A or B, or the other way.",
      f"{SECTION}, 3.3.11 Conversion Instructions", *sorted(CONVERSIONS))
def matrix_conversion(group: Group) -> Findings:
    given, result = group.value(0), group.result
    yield given.is_matrix != result.is_matrix, "{op} converts matrices to matrices only: {type0} to {type}"
    both = given.is_matrix & result.is_matrix
    first, second = shapes(group.view, given), shapes(group.view, result)
    turned = transposed(group)
    yield both & (differ(first.scope, second.scope) | ~turned & (
        differ(first.rows, second.rows) | differ(first.columns, second.columns))), \
        "{op} cannot change the scope or shape: {type0} to {type}"
    if group.opcode in (Op.FConvert, Op.SConvert, Op.UConvert):
        before, after = given.scalar, result.scalar
        yield both & (before.width == after.width) & (before.encoding == after.encoding), \
            "{op} changes the width of components; {type0} and {type} have the same"
    accumulator = int(CooperativeMatrixUse.MatrixAccumulatorKHR)
    yield both & differ(first.use, second.use) & (first.use != accumulator) & (second.use != accumulator), \
        "{op} changes the use of a matrix from accumulator (use 2) to A or B, or back: not {type0} to {type}"


def transposed(group: Group) -> Booleans:
    """Which of these instructions are decorated with CooperativeMatrixTransposeEXT."""
    targets = list(group.view.annotations.targets(Decoration.CooperativeMatrixTransposeEXT))
    return np.isin(group.view.result_id[group.indices], targets)


@rule("matrix-transposition", "A conversion that transposes turns an accumulator into an A or B with rows and columns "
      "swapped.", "SPV_EXT_cooperative_matrix_maintenance1, CooperativeMatrixTransposeEXT",
      *sorted(CONVERSIONS), Op.CooperativeMatrixConvertUseEXT)
def matrix_transposition(group: Group) -> Findings:
    turned, given, result = transposed(group), group.value(0), group.result
    both = turned & given.is_matrix & result.is_matrix
    yield turned & ~both, "{op} with CooperativeMatrixTransposeEXT converts cooperative matrices, not {type0} to {type}"
    first, second = shapes(group.view, given), shapes(group.view, result)
    yield both & (differ(first.rows, second.columns) | differ(first.columns, second.rows)), \
        "{op} with CooperativeMatrixTransposeEXT swaps rows and columns: {type0} to {type}"
    accumulator = int(CooperativeMatrixUse.MatrixAccumulatorKHR)
    yield both & ((first.use != UNKNOWN) & (first.use != accumulator) | (second.use == accumulator)), \
        "{op} with CooperativeMatrixTransposeEXT turns an accumulator (use 2) into A or B, not {type0} into {type}"


def may_change_use(view: ModuleView, before: Integers, after: Integers) -> Booleans:
    """Whether the capabilities allow this change of use."""
    accumulator = int(CooperativeMatrixUse.MatrixAccumulatorKHR)
    both_ways = view.has(Capability.CooperativeMatrixConversionsEXT)
    one_way = both_ways or view.has(Capability.CooperativeMatrixConversionsNV)
    return one_way & (before == accumulator) & (after != accumulator) | \
        both_ways & (before != accumulator) & (after == accumulator)


@rule("matrix-bitcast", "OpBitcast keeps everything of a cooperative matrix but its components' type.",
      f"{SECTION}, OpBitcast", Op.Bitcast)
def matrix_bitcast(group: Group) -> Findings:
    given, result = group.value(0), group.result
    chosen = given.is_matrix | result.is_matrix
    good = given.is_matrix & result.is_matrix & _same_shape_and_width(group.view, given, result)
    yield chosen & ~good, "{op} of {type0} cannot give {type}: matrices of one width and shape are needed"


@rule("matrix-bitcast-kind", "OpBitcast is between cooperative matrices of integers.", f"{SECTION}, OpBitcast",
      Op.Bitcast, severity="warning")
def matrix_bitcast_kind(group: Group) -> Findings:
    given, result = group.value(0), group.result
    both = given.is_matrix & result.is_matrix & _same_shape_and_width(group.view, given, result)
    yield both & ~(given.element.is_kind(Op.TypeInt) & result.element.is_kind(Op.TypeInt)), \
        "{op} of {type0} gives {type}: only matrices of integers are sure to be known"
