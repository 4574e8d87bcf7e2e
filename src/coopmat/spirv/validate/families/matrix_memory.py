"""Rules about the loads, stores and lengths of SPV_KHR_cooperative_matrix."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.analysis.matrix_addresses import counted_in_bytes
from coopmat.spirv.grammar import Capability, CooperativeMatrixLayout, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.validate.families.cooperative_matrices import SECTION, UNKNOWN, shapes
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Types
from coopmat.spirv.validate.view import Group, ModuleView

_STRIDED = (CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR)
_BLOCKED = (CooperativeMatrixLayout["RowBlockedInterleavedARM"], CooperativeMatrixLayout["ColumnBlockedInterleavedARM"])
_MEMORY_CLASSES = (StorageClass.Workgroup, StorageClass.CrossWorkgroup, StorageClass.Generic)
_ARRAYS = (Op.TypeArray, Op.TypeRuntimeArray)


def memory_operands(group: Group, matrix: Types, pointer: int, layout: int, stride: int) -> Findings:
    """What loads and stores have in common; the numbers are the places of the operands."""
    shown = "{type}" if group.result.known.any() else "{type1}"
    yield ~matrix.is_matrix, f"{{op}} works on a cooperative matrix, not on {shown}"
    address = group.value(pointer)
    yield ~address.is_pointer, f"{{op}} needs a pointer, not {{type{pointer}}}"
    pointee = address.element
    typed = address.is_kind(Op.TypePointer)
    yield typed & ~pointee.scalars_of(Op.TypeInt, Op.TypeFloat), \
        f"{{op}} needs a pointer to a number or to a vector of numbers, not to {{pointee{pointer}}}"
    yield from layout_operands(group, layout, stride)


def layout_operands(group: Group, layout: int, stride: int) -> Findings:
    """The layout of a matrix in memory and its stride."""
    yield ~(group.value(layout).is_int(32) & group.is_constant(layout)), \
        f"the layout of {{op}} is a constant 32-bit integer, not {{def{layout}}} of {{type{layout}}}"
    value = group.constant(layout)
    yield (value != UNKNOWN) & ~np.isin(value, list(CooperativeMatrixLayout)), \
        f"the layout of {{op}} is RowMajorKHR (0), ColumnMajorKHR (1) or one of an extension, not {{def{layout}}}"
    yield np.isin(value, _STRIDED) & ~group.has(stride), "{op} with a row- or column-major layout needs a stride"
    yield group.has(stride) & ~group.value(stride).is_kind(Op.TypeInt), \
        f"the stride of {{op}} is an integer, not {{type{stride}}}"


@rule("matrix-load", "A load gives a cooperative matrix from a pointer to numbers, a constant layout and a stride.",
      f"{SECTION}, OpCooperativeMatrixLoadKHR", Op.CooperativeMatrixLoadKHR)
def matrix_load(group: Group) -> Findings:
    yield from memory_operands(group, group.result, 0, 1, 2)


@rule("matrix-store", "A store writes a cooperative matrix through a pointer to numbers, with a constant layout and a "
      "stride.", f"{SECTION}, OpCooperativeMatrixStoreKHR", Op.CooperativeMatrixStoreKHR)
def matrix_store(group: Group) -> Findings:
    yield from memory_operands(group, group.value(1), 0, 2, 3)
    yield group.has(3) & (group.constant(3) == 0), "the stride of {op} is 0: all rows or columns would lie in one place"


@rule("matrix-blocked-layout", "A blocked layout has a constant stride of 1, 2 or 4, and sizes of whole blocks.",
      "SPV_ARM_cooperative_matrix_layouts, 2.16.1 Universal Validation Rules", Op.CooperativeMatrixLoadKHR,
      Op.CooperativeMatrixStoreKHR)
def matrix_blocked_layout(group: Group) -> Findings:
    loads = group.opcode == Op.CooperativeMatrixLoadKHR
    layout_at, stride_at = (1, 2) if loads else (2, 3)
    matrix, shown = (group.result, "{type}") if loads else (group.value(1), "{type1}")
    layout, stride = group.constant(layout_at), group.constant(stride_at)
    blocked = np.isin(layout, _BLOCKED)
    if not blocked.any():
        return
    yield blocked & ~group.has(stride_at), "{op} with a blocked layout needs a stride"
    yield blocked & group.has(stride_at) & ~group.is_constant(stride_at), \
        f"the stride of {{op}} with a blocked layout is a constant, not {{def{stride_at}}}"
    known = blocked & group.has(stride_at) & (stride >= 0)
    yield known & ~np.isin(stride, (1, 2, 4)), \
        f"the stride of {{op}} with a blocked layout is 1, 2 or 4, not {{def{stride_at}}}"
    shape = shapes(group.view, matrix)
    by_rows = layout == _BLOCKED[0]
    rows = 4 * np.where(by_rows, 1, stride)
    columns = 16 // np.maximum(matrix.element.width // 8, 1) * np.where(by_rows, stride, 1)
    good = (shape.rows % np.maximum(rows, 1) == 0) & (shape.columns % np.maximum(columns, 1) == 0)
    yield known & np.isin(stride, (1, 2, 4)) & (shape.rows > 0) & (shape.columns > 0) & ~good, \
        f"the sizes of {shown} are no multiples of the blocks of 4 rows of 16 bytes that {{op}} moves, times the stride"


@rule("matrix-pointer-storage", "OpenCL loads and stores cooperative matrices in global and local memory only, "
      "through pointers to it or generic ones.", "OpenCL SPIR-V environment, cl_khr_cooperative_matrix",
      Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixStoreKHR)
def matrix_pointer_storage(group: Group) -> Findings:
    if Capability.Kernel in group.view.declared.all:
        address = group.value(0)
        yield address.is_pointer & ~np.isin(address.storage, _MEMORY_CLASSES), \
            "{op} needs a pointer to CrossWorkgroup, Workgroup or Generic memory, not {type0}"


@rule("matrix-pointer-array", "In shader modules, cooperative matrices are loaded and stored through pointers into "
      "arrays.", f"{SECTION}, OpCooperativeMatrixLoadKHR and OpCooperativeMatrixStoreKHR",
      Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixStoreKHR)
def matrix_pointer_array(group: Group) -> Findings:
    if group.view.has(Capability.Shader):
        outside = np.array([_outside_arrays(group.view, identifier) for identifier in group.word(0).tolist()], bool)
        yield outside, "{op} needs a pointer into an array; {def0} leads into none"


def _outside_arrays(view: ModuleView, identifier: int) -> bool:
    """Whether a pointer is a variable, or made of one by access chains, without an array on the way."""
    item = view.definition(identifier)
    seen: set[int | None] = set()
    while item.opcode in (Op.AccessChain, Op.InBoundsAccessChain) and item.result_id not in seen:
        seen.add(item.result_id)
        if _passes_array(view, item):
            return False
        item = view.definition(item.words[0])
    return item.opcode == Op.Variable and _pointee(view, item).opcode not in _ARRAYS


def _pointee(view: ModuleView, pointer: Instruction) -> Instruction:
    """What a pointer points to, or its type if that does not say."""
    kind = view.definition(pointer.type_id or 0)
    return view.definition(kind.words[1]) if kind.opcode == Op.TypePointer else kind


def _passes_array(view: ModuleView, chain: Instruction) -> bool:
    """Whether an access chain selects an element of an array, in any of its steps."""
    kind = _pointee(view, view.definition(chain.words[0]))
    for index in chain.words[1:]:
        if kind.opcode in _ARRAYS:
            return True
        if kind.opcode not in (Op.TypeStruct, Op.TypeVector, Op.TypeMatrix):
            return False
        member = view.constant(index) or 0 if kind.opcode == Op.TypeStruct else 0
        kind = view.definition(kind.words[min(member, len(kind.words) - 1)])
    return False


@rule("matrix-bytes", "Cooperative matrices in memory are reached by access chains: no count of bytes tells which one "
      "is meant.", "SPV_KHR_cooperative_matrix: the size of a matrix is the device's own", severity="warning")
def matrix_bytes(view: ModuleView) -> Findings:
    counted = set(map(id, counted_in_bytes(view.module)))
    yield np.array([at for at, item in enumerate(view.items) if id(item) in counted], np.int64), \
        "{op} counts in bytes what {def0} leads to: cooperative matrices, which have no size in SPIR-V"


@rule("matrix-length", "The length of a matrix type is an unsigned 32-bit integer.",
      f"{SECTION}, OpCooperativeMatrixLengthKHR", Op.CooperativeMatrixLengthKHR)
def matrix_length(group: Group) -> Findings:
    result = group.result
    yield ~(result.is_kind(Op.TypeInt) & (result.width == 32) & (result.signed == 0)), \
        "the result of {op} is an integer of 32 bits and signedness 0, not {type}"
    yield ~group.type(0).is_matrix, "{op} takes a cooperative matrix type, not {def0}"
