"""Rules of SPV_NV_cooperative_matrix2 and SPV_EXT_cooperative_matrix_maintenance1."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.analysis.callees import CALLING, callees_of
from coopmat.spirv.grammar import CooperativeMatrixReduce as Reduce
from coopmat.spirv.grammar import CooperativeMatrixUse, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.cooperative_matrices import (
    UNKNOWN,
    Shapes,
    differ,
    may_change_use,
    shapes,
    transposed,
)
from coopmat.spirv.validate.families.functions import reached
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group

MATRIX2 = "SPV_NV_cooperative_matrix2"
MATRICES = (Op.TypeCooperativeMatrixKHR, Op.TypeCooperativeMatrixNV)
_B, _ACCUMULATOR = int(CooperativeMatrixUse.MatrixBKHR), int(CooperativeMatrixUse.MatrixAccumulatorKHR)


def _matrices(group: Group) -> tuple[Types, Types, Booleans, Shapes, Shapes]:
    """The types of the operand and of the result, where both are matrices, and their shapes."""
    given, result = group.value(0), group.result
    return given, result, given.is_matrix & result.is_matrix, shapes(group.view, given), shapes(group.view, result)


def _same_component(given: Types, result: Types) -> Booleans:
    """Whether the components have one type, the signedness of integers apart."""
    one, other = given.element, result.element
    return (one == other) | one.is_kind(Op.TypeInt) & other.is_kind(Op.TypeInt) & (one.width == other.width)


@rule("matrix2-conversion", "A change of use keeps component type, scope and shape.",
      f"{MATRIX2}, OpCooperativeMatrixConvertNV", Op.CooperativeMatrixConvertNV)
def matrix2_conversion(group: Group) -> Findings:
    given, result, both, before, after = _matrices(group)
    yield ~both, "{op} turns a cooperative matrix into another, not {type0} into {type}"
    yield both & ~_same_component(given, result), "{op} keeps the component type: {type0} to {type}"
    yield differ(before.scope, after.scope), "{op} keeps the scope: {type0} to {type}"
    yield ~transposed(group) & (differ(before.rows, after.rows) | differ(before.columns, after.columns)), \
        "{op} keeps the shape: {type0} to {type}"
    known = (before.use != UNKNOWN) & (after.use != UNKNOWN)
    yield both & known & ~may_change_use(group.view, before.use, after.use), \
        "{op} turns an accumulator (use 2) into A or B, with CooperativeMatrixConversionsEXT also back, not {type0} " \
        "into {type}"


@rule("matrix2-transposition", "A transposition turns an accumulator into a B with rows and columns swapped.",
      f"{MATRIX2}, OpCooperativeMatrixTransposeNV", Op.CooperativeMatrixTransposeNV)
def matrix2_transposition(group: Group) -> Findings:
    _, _, both, before, after = _matrices(group)
    yield ~both, "{op} turns a cooperative matrix into another, not {type0} into {type}"
    yield differ(before.scope, after.scope), "{op} keeps the scope: {type0} to {type}"
    yield differ(before.rows, after.columns) | differ(before.columns, after.rows), \
        "{op} swaps rows and columns: {type0} to {type}"
    yield differ(before.use, np.full(len(group), _ACCUMULATOR)), "{op} takes an accumulator (use 2), not {type0}"
    yield differ(after.use, np.full(len(group), _B)), "{op} gives a matrix of use B (1), not {type}"


@rule("matrix2-reduction", "A reduction works on accumulators of one component type; what it reduces decides "
      "which sizes stay.", f"{MATRIX2}, OpCooperativeMatrixReduceNV", Op.CooperativeMatrixReduceNV)
def matrix2_reduction(group: Group) -> Findings:
    given, result, both, before, after = _matrices(group)
    yield ~both, "{op} turns a cooperative matrix into another, not {type0} into {type}"
    accumulator = np.full(len(group), _ACCUMULATOR)
    yield differ(before.use, accumulator) | differ(after.use, accumulator), \
        "{op} works on accumulators (use 2), not {type0} to {type}"
    yield both & (given.element != result.element), "{op} keeps the component type: {type0} to {type}"
    yield differ(before.scope, after.scope), "{op} keeps the scope: {type0} to {type}"
    what = group.word(1)
    row, column, squares = int(Reduce.Row), int(Reduce.Column), int(Reduce._2x2)
    yield ~np.isin(what, (row, column, row | column, squares)), \
        "{op} reduces Row (1), Column (2), both (3) or 2x2 (4), not {word1}"
    yield (what == row) & differ(before.rows, after.rows), "{op} of rows keeps their number: {type0} to {type}"
    yield (what == column) & differ(before.columns, after.columns), \
        "{op} of columns keeps their number: {type0} to {type}"
    known = (after.rows != UNKNOWN) & (after.columns != UNKNOWN)
    halved = (before.rows == 2 * after.rows) & (before.columns == 2 * after.columns)
    yield (what == squares) & known & (before.rows != UNKNOWN) & (before.columns != UNKNOWN) & ~halved, \
        "{op} of 2x2 halves rows and columns: {type0} to {type}"


def _signatures(group: Group, place: int) -> list[list[int] | None]:
    """The types of result and parameters of the functions at a place; None for what is no function."""
    found: list[list[int] | None] = []
    for identifier in group.word(place).tolist():
        function = group.view.definition(identifier)
        kind = group.view.definition(function.words[1]) if function.opcode == Op.Function else function
        found.append(list(kind.words) if kind.opcode == Op.TypeFunction else None)
    return found


@rule("matrix2-combination", "A reduction's function combines two components into one.",
      f"{MATRIX2}, OpCooperativeMatrixReduceNV", Op.CooperativeMatrixReduceNV)
def matrix2_combination(group: Group) -> Findings:
    components = group.value(0).element.table.identifier[group.value(0).element.places]
    bad = [signature != [component] * 3
           for signature, component in zip(_signatures(group, 2), components.tolist(), strict=True)]
    yield np.array(bad, bool) & group.value(0).is_matrix, \
        "{id2} must take two components of {type0} and return one for {op}"


@rule("matrix2-per-element", "An operation on every element keeps the type of the matrix; its function takes row, "
      "column, the element and the further operands.", f"{MATRIX2}, OpCooperativeMatrixPerElementOpNV",
      Op.CooperativeMatrixPerElementOpNV)
def matrix2_per_element(group: Group) -> Findings:
    given = group.value(0)
    yield ~given.is_matrix, "{op} works on a cooperative matrix, not on {type0}"
    yield given != group.result, "{op} of {type0} cannot give {type}"
    bad = [not _fits(group, at, signature) for at, signature in enumerate(_signatures(group, 1))]
    yield given.is_matrix & np.array([_has_other_matrix(group, at) for at in range(len(group))], bool), \
        "further matrices of {op} must have the type of the first, {type0}"
    yield np.array(bad, bool) & given.is_matrix, \
        "{id1} must take two 32-bit integers, a component of {type0} and the further operands of {op}, and return " \
        "a component"


def _further(group: Group, at: int) -> list[Instruction]:
    """The types of the further operands of an instruction."""
    view, first = group.view, int(group.first[at])
    return [view.definition(int(view.type_id[view.defined_by[word]]))
            for word in view.words[first + 2:first + int(group.size[at])]]


def _has_other_matrix(group: Group, at: int) -> bool:
    """Whether a further operand is a matrix of another type."""
    kind = int(group.view.type_id[group.view.defined_by[group.word(0)[at]]])
    return any(item.opcode in MATRICES and item.result_id != kind for item in _further(group, at))


def _fits(group: Group, at: int, signature: list[int] | None) -> bool:
    """Whether a function can be applied to the elements of the matrix."""
    view = group.view
    kind = view.definition(int(view.type_id[view.defined_by[group.word(0)[at]]]))
    if signature is None or len(signature) < 4 or kind.opcode != Op.TypeCooperativeMatrixKHR:
        return False
    types = [item.words[0] if item.opcode in MATRICES else item.result_id for item in _further(group, at)]
    positions = [view.definition(word) for word in signature[1:3]]
    return all(item.opcode == Op.TypeInt and item.words[0] == 32 for item in positions) \
        and [signature[0], *signature[3:]] == [kind.words[0], kind.words[0], *types]


@rule("matrix2-tensor-access", "A load or store with a tensor layout moves a cooperative matrix through a pointer.",
      f"{MATRIX2}, OpCooperativeMatrixLoadTensorNV and OpCooperativeMatrixStoreTensorNV",
      Op.CooperativeMatrixLoadTensorNV, Op.CooperativeMatrixStoreTensorNV)
def matrix2_tensor_access(group: Group) -> Findings:
    address, matrix = group.value(0), group.value(1)
    yield ~address.is_pointer, "{op} needs a pointer, not {type0}"
    yield ~matrix.is_matrix, "{op} works on a cooperative matrix, not on {type1}"
    if group.opcode == Op.CooperativeMatrixLoadTensorNV:
        yield matrix != group.result, "{op} with an object of {type1} cannot give {type}"
    layout = group.value(2)
    yield ~layout.is_kind(Op.TypeTensorLayoutNV), "{op} needs a tensor layout, not {type2}"


_TOGETHER = ("Group", "Subgroup", "CooperativeMatrix", "ControlBarrier")
_TANGLED = np.array([op for op in Op if op.spelling.startswith(_TOGETHER) and op != Op.CooperativeMatrixLengthKHR])
"""Instructions that invocations execute together (SPIR-V 2.2.5 and the extensions)."""


@rule("matrix2-tangled", "What a matrix instruction calls for every element does nothing together with other "
      "invocations.", f"{MATRIX2}, 2.16.1 Universal Validation Rules", *sorted(CALLING - {Op.FunctionCall}))
def matrix2_tangled(group: Group) -> Findings:
    view = group.view
    tangled = set(view.flow.function_of[np.isin(view.opcode, _TANGLED)].tolist())
    bad = [any(tangled & reached(view, int(view.flow.function_of[view.defined_by[callee]]))
               for callee in callees_of(view.items[index])) for index in group.indices.tolist()]
    yield np.array(bad, bool), "{op} calls a function that works together with other invocations: barriers, group " \
                               "and matrix instructions are not possible in it"
