"""Rules of SPV_KHR_cooperative_matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import (
    Capability,
    CooperativeMatrixLayout,
    CooperativeMatrixUse,
    Op,
    Scope,
    StorageClass,
)
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.validate.arithmetic import MATRIX_ARITHMETIC
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Integers, Types
from coopmat.spirv.validate.view import ModuleView

SECTION = "SPV_KHR_cooperative_matrix"
UNKNOWN = -1

MATRIX_TYPES = (Op.TypeCooperativeMatrixKHR,)
_STRIDED = (CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR)
_LAYOUTS = (*CooperativeMatrixLayout, 4202, 4203)
"""Those of the tables, and the two of SPV_ARM_cooperative_matrix_layouts."""
_MEMORY_CLASSES = (StorageClass.Workgroup, StorageClass.CrossWorkgroup)
_SIGNS = (Flags.MatrixASignedComponentsKHR, Flags.MatrixBSignedComponentsKHR, Flags.MatrixCSignedComponentsKHR,
          Flags.MatrixResultSignedComponentsKHR)
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
      "columns and use.", f"{SECTION}, OpTypeCooperativeMatrixKHR (CM-1 to CM-5)", Op.TypeCooperativeMatrixKHR)
def matrix_type_operands(group: Group) -> Findings:
    yield ~group.type(0).is_kind(Op.TypeInt, Op.TypeFloat), \
        "the components of a cooperative matrix are integers or floats, not {def0}"
    for place, what in ((1, "scope"), (2, "number of rows"), (3, "number of columns"), (4, "use")):
        kind = group.value(place)
        yield ~(kind.is_kind(Op.TypeInt) & (kind.width == 32)), \
            f"the {what} of a cooperative matrix is a constant 32-bit integer, not {{def{place}}} of {{type{place}}}"
    for place, what in ((2, "rows"), (3, "columns")):
        yield group.constant(place) == 0, f"a cooperative matrix of 0 {what}: at least 1 is needed"
    use = group.constant(4)
    yield (use != UNKNOWN) & ~np.isin(use, list(CooperativeMatrixUse)), \
        "the use of a cooperative matrix is 0 (A), 1 (B) or 2 (accumulator)"


@rule("matrix-scope", "A cooperative matrix belongs to a sub-group; with SPV_NV_cooperative_matrix2 also to a "
      "work-group.", f"{SECTION}, OpTypeCooperativeMatrixKHR (CM-2)", Op.TypeCooperativeMatrixKHR)
def matrix_scope(group: Group) -> Findings:
    scope = group.constant(1)
    yield (scope != UNKNOWN) & ~np.isin(scope, (Scope.Subgroup, Scope.Workgroup)), \
        "the scope of a cooperative matrix is Subgroup (3) or Workgroup (2)"


@rule("matrix-vulkan-memory-model", "With the capability Shader, cooperative matrices need VulkanMemoryModel.",
      f"{SECTION}, CooperativeMatrixKHR (CM-7)", Op.TypeCooperativeMatrixKHR)
def matrix_vulkan_memory_model(group: Group) -> Findings:
    declared = group.view.declared.all
    if Capability.Shader in declared and Capability.VulkanMemoryModel not in declared:
        yield np.ones(len(group), bool), \
            "{op} in a module with the capability Shader needs the capability VulkanMemoryModel, too"


@rule("matrix-storage", "Cooperative matrices live in Function and Private variables only.",
      f"{SECTION}, 2.16.1 Universal Validation Rules (CM-9)", Op.Variable)
def matrix_storage(group: Group) -> Findings:
    holds = holds_matrix(group.view)[group.result.element.places]
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
      "accumulator, of one scope.", f"{SECTION}, OpCooperativeMatrixMulAddKHR (CM-20, CM-24)",
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


@rule("matrix-multiply-shapes", "A is M x K, B is K x N, C and the result are M x N.",
      f"{SECTION}, OpCooperativeMatrixMulAddKHR (CM-21 to CM-23)", Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_shapes(group: Group) -> Findings:
    a, b, c = (shapes(group.view, group.value(place)) for place in range(3))
    result = shapes(group.view, group.result)
    yield differ(a.columns, b.rows), "A has another number of columns than B has rows: {type0} and {type1}"
    yield differ(a.rows, result.rows), "A has another number of rows than the result: {type0} and {type}"
    yield differ(b.columns, result.columns), "B has another number of columns than the result: {type1} and {type}"
    yield differ(c.rows, result.rows) | differ(c.columns, result.columns), \
        "C has another shape than the result: {type2} and {type}"


@rule("matrix-multiply-signs", "Only a matrix of integers is flagged as signed.",
      f"{SECTION}, Cooperative Matrix Operands (CM-26)", Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_signs(group: Group) -> Findings:
    flags = group.word(3)
    kinds = (group.value(0), group.value(1), group.value(2), group.result)
    for kind, flag, name in zip(kinds, _SIGNS, _NAMES, strict=True):
        integers = kind.is_matrix & kind.element.is_kind(Op.TypeInt)
        yield (flags & int(flag) != 0) & ~integers, f"{flag.spelling} needs a matrix of integers; {name} is none"


@rule("matrix-multiply-kinds", "Integer matrices are multiplied with integer matrices, floating with floating.",
      f"{SECTION}, OpCooperativeMatrixMulAddKHR (CM-25)", Op.CooperativeMatrixMulAddKHR)
def matrix_multiply_kinds(group: Group) -> Findings:
    kinds = (group.value(0), group.value(1), group.value(2), group.result)
    matrices = kinds[0].is_matrix & kinds[1].is_matrix & kinds[2].is_matrix & kinds[3].is_matrix
    floats = [kind.element.is_kind(Op.TypeFloat) for kind in kinds]
    yield matrices & (floats[0] != floats[1]), "A and B must both hold integers or both floats: {type0}, {type1}"
    yield matrices & (floats[2] != floats[3]), "C and result must both hold integers or both floats: {type2}, {type}"


@rule("matrix-saturation", "Saturating accumulation is for integer results.",
      f"{SECTION}, Cooperative Matrix Operands", Op.CooperativeMatrixMulAddKHR)
def matrix_saturation(group: Group) -> Findings:
    saturating = group.word(3) & int(Flags.SaturatingAccumulationKHR) != 0
    yield saturating & ~group.result.element.is_kind(Op.TypeInt), \
        "SaturatingAccumulationKHR needs a result of integers, not {type}"


# --------------------------------------------------------------------------------------
# Load, store, length
# --------------------------------------------------------------------------------------


def _memory_operands(group: Group, matrix: Types, pointer: int, layout: int, stride: int) -> Findings:
    """What load and store have in common; the numbers are the places of the operands."""
    yield ~matrix.is_matrix, "{op} works on a cooperative matrix"
    address = group.value(pointer)
    yield ~address.is_pointer, f"{{op}} needs a pointer, not {{type{pointer}}}"
    pointee = address.element
    typed = address.is_kind(Op.TypePointer)
    yield typed & ~pointee.scalars_of(Op.TypeInt, Op.TypeFloat), \
        f"{{op}} needs a pointer to a number or to a vector of numbers, not to {{pointee{pointer}}}"
    kind = group.value(layout)
    yield ~(kind.is_kind(Op.TypeInt) & (kind.width == 32)), \
        f"the layout of {{op}} is a constant 32-bit integer, not {{def{layout}}}"
    value = group.constant(layout)
    yield (value != UNKNOWN) & ~np.isin(value, _LAYOUTS), \
        f"the layout of {{op}}, {{def{layout}}}, has no known value"
    yield np.isin(value, _STRIDED) & ~group.has(stride), "{op} with a row- or column-major layout needs a stride"
    yield group.has(stride) & ~group.value(stride).is_kind(Op.TypeInt), \
        f"the stride of {{op}} is an integer, not {{type{stride}}}"


@rule("matrix-load", "A load gives a cooperative matrix from a pointer to numbers, a constant layout and a stride.",
      f"{SECTION}, OpCooperativeMatrixLoadKHR (CM-40 to CM-45)", Op.CooperativeMatrixLoadKHR)
def matrix_load(group: Group) -> Findings:
    yield from _memory_operands(group, group.result, 0, 1, 2)


@rule("matrix-store", "A store writes a cooperative matrix through a pointer to numbers, with a constant layout and a "
      "stride.", f"{SECTION}, OpCooperativeMatrixStoreKHR (CM-40 to CM-46)", Op.CooperativeMatrixStoreKHR)
def matrix_store(group: Group) -> Findings:
    yield from _memory_operands(group, group.value(1), 0, 2, 3)
    yield group.has(3) & (group.constant(3) == 0), "the stride of {op} is 0: all rows would lie in one place"


@rule("matrix-pointer-storage", "OpenCL loads and stores cooperative matrices in global and local memory only.",
      "OpenCL SPIR-V environment, cl_khr_cooperative_matrix (CM-50)", Op.CooperativeMatrixLoadKHR,
      Op.CooperativeMatrixStoreKHR)
def matrix_pointer_storage(group: Group) -> Findings:
    if Capability.Kernel in group.view.declared.all:
        address = group.value(0)
        yield address.is_pointer & ~np.isin(address.storage, _MEMORY_CLASSES), \
            "{op} needs a pointer to CrossWorkgroup or Workgroup memory, not {type0}"


@rule("matrix-length", "The length of a matrix type is an unsigned 32-bit integer.",
      f"{SECTION}, OpCooperativeMatrixLengthKHR (CM-60, CM-61)", Op.CooperativeMatrixLengthKHR)
def matrix_length(group: Group) -> Findings:
    result = group.result
    yield ~(result.is_kind(Op.TypeInt) & (result.width == 32) & (result.signed == 0)), \
        "the result of {op} is an integer of 32 bits and signedness 0, not {type}"
    yield ~group.type(0).is_matrix, "{op} takes a cooperative matrix type, not {def0}"


# --------------------------------------------------------------------------------------
# Arithmetic and conversions
# --------------------------------------------------------------------------------------

_CONVERSIONS = (Op.ConvertFToU, Op.ConvertFToS, Op.ConvertSToF, Op.ConvertUToF, Op.UConvert, Op.SConvert, Op.FConvert)


@rule("matrix-arithmetic", "Operands and result of arithmetic on cooperative matrices have one type.",
      f"{SECTION}, 3.3.13 Arithmetic Instructions (CM-80, CM-82)", *sorted(MATRIX_ARITHMETIC))
def matrix_arithmetic(group: Group) -> Findings:
    for place in group.places():
        operand = group.value(place)
        matrices = operand.is_matrix & group.result.is_matrix
        yield matrices & (operand != group.result) & ~_same_but_sign(group.view, operand, group.result), \
            f"operand {place + 1} of {{op}} is {{type{place}}}; the result type {{type}} is needed"


def _same_but_sign(view: ModuleView, one: Types, other: Types) -> Booleans:
    """Matrices of one shape whose components differ at most in signedness."""
    first, second = shapes(view, one), shapes(view, other)
    same = (one.element.kind == other.element.kind) & (one.element.width == other.element.width)
    for a, b in zip(first, second, strict=True):
        same &= ~differ(a, b)
    return same & one.element.is_kind(Op.TypeInt)


@rule("matrix-times-scalar", "A matrix is multiplied by a scalar of its component type.",
      f"{SECTION}, OpMatrixTimesScalar (CM-83)", Op.MatrixTimesScalar)
def matrix_times_scalar(group: Group) -> Findings:
    matrix, scalar = group.value(0), group.value(1)
    chosen = matrix.is_matrix | group.result.is_matrix
    yield chosen & (matrix != group.result), "{op} of {type0} cannot give {type}"
    yield chosen & (scalar != group.result.element), "{op} needs a scalar of the matrix's component type, not {type1}"


@rule("matrix-conversion", "A conversion keeps the scope, shape and use of a cooperative matrix.",
      f"{SECTION}, 3.3.11 Conversion Instructions (CM-90, CM-91)", *_CONVERSIONS)
def matrix_conversion(group: Group) -> Findings:
    given, result = group.value(0), group.result
    yield given.is_matrix != result.is_matrix, "{op} converts matrices to matrices only: {type0} to {type}"
    both = given.is_matrix & result.is_matrix
    first, second = shapes(group.view, given), shapes(group.view, result)
    yield both & (differ(first.scope, second.scope) | differ(first.rows, second.rows)
                  | differ(first.columns, second.columns)), "{op} cannot change the scope or shape: {type0} to {type}"
    may_change_use = {Capability.CooperativeMatrixConversionsNV, Capability.CooperativeMatrixConversionsEXT}
    if not may_change_use & group.view.declared.all:
        yield both & differ(first.use, second.use), \
            "{op} cannot change the use of a matrix without CooperativeMatrixConversionsNV: {type0} to {type}"


@rule("matrix-bitcast", "OpBitcast keeps everything of a cooperative matrix but the signedness of its integers.",
      f"{SECTION}, OpBitcast (CM-90, CM-92)", Op.Bitcast)
def matrix_bitcast(group: Group) -> Findings:
    given, result = group.value(0), group.result
    chosen = given.is_matrix | result.is_matrix
    good = given.is_matrix & result.is_matrix & _same_but_sign(group.view, given, result)
    yield chosen & ~good, "{op} of {type0} cannot give {type}: integer matrices of one width and shape are needed"
