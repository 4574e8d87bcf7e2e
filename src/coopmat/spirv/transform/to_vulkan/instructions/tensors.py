"""Matrices of work-groups in global memory, loaded and stored by way of tensor layouts (SPV_NV_tensor_addressing).

NVIDIA's driver makes copies of whole lines to local memory of these, where it sees how they are aligned, and takes
minutes for plain loads of the same matrices. A tensor is what lies at an address in lines of elements: a window of so
many lines, of which a matrix is a slice. In tame launches (:mod:`coopmat.spirv.transform.to_vulkan.tame`) every matrix
begins at a tensor of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.analysis.types import BoolType, MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout, Op, TensorAddressingOperands, TensorClampMode
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.memory import Place, flags_of
from coopmat.spirv.transform.to_vulkan.translation import Translation
from coopmat.spirv.transform.to_vulkan.types import U32, U64

BASE_ALIGNMENT = 16
"""Bytes to which the address of a tensor must be aligned."""
NEEDED = ("cooperativeMatrixWorkgroupScope", "cooperativeMatrixFlexibleDimensions", "cooperativeMatrixTensorAddressing")


@dataclass(frozen=True)
class Window:
    """A tensor and where a matrix begins in it: the ids of numbers of 32 bits, in elements, and that of the address."""

    address: int
    row: int
    column: int
    height: int
    width: int
    stride: int
    clamp: int


def load(t: Translation, row: Instruction) -> None:
    """OpCooperativeMatrixLoadKHR."""
    pointer, layout, *rest = row.words
    kind = _matrix(t, row.type_id or 0)
    window = _whole(t, pointer, kind, layout, tuple(rest[:1]))
    _load(t, row, kind, layout, window, tuple(rest[1:]))


def store(t: Translation, row: Instruction) -> None:
    """OpCooperativeMatrixStoreKHR."""
    pointer, matrix, layout, *rest = row.words
    kind = _matrix_of(t, matrix)
    window = _whole(t, pointer, kind, layout, tuple(rest[:1]))
    _store(t, matrix, kind, layout, window, tuple(rest[1:]))


def load_checked(t: Translation, row: Instruction) -> None:
    """OpCooperativeMatrixLoadCheckedINTEL: elements outside of the window are 0."""
    pointer, line, column, layout, height, width, *rest = row.words
    kind = _matrix(t, row.type_id or 0)
    _load(t, row, kind, layout, _checked(t, pointer, kind, (line, column, height, width), tuple(rest[:1])),
          tuple(rest[1:]))


def store_checked(t: Translation, row: Instruction) -> None:
    """OpCooperativeMatrixStoreCheckedINTEL: elements outside of the window are left out."""
    pointer, line, column, matrix, layout, height, width, *rest = row.words
    kind = _matrix_of(t, matrix)
    _store(t, matrix, kind, layout, _checked(t, pointer, kind, (line, column, height, width), tuple(rest[:1])),
           tuple(rest[1:]))


# -- windows -------------------------------------------------------------------------------


def _matrix(t: Translation, type_id: int) -> MatrixType:
    kind = t.table[type_id]
    assert isinstance(kind, MatrixType)
    return kind


def _matrix_of(t: Translation, matrix: int) -> MatrixType:
    return _matrix(t, t.module.definition(matrix).type_id or 0)


def _is_by_columns(t: Translation, layout: int) -> bool:
    found = t.integer_of(layout)
    if found not in (CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR):
        raise t.refuse("a matrix in memory that is neither row-major nor column-major")
    return found == CooperativeMatrixLayout.ColumnMajorKHR


def lines_of(kind: MatrixType, is_by_columns: bool) -> tuple[int, int]:
    """How many lines a matrix has in memory, and of how many elements."""
    return (kind.columns, kind.rows) if is_by_columns else (kind.rows, kind.columns)


def _address(t: Translation, pointer: int) -> int:
    if t.regions.of(pointer) is not None:
        raise t.refuse("a matrix of a work-group is loaded from, or stored to, local memory: use matrices of "
                       "sub-groups there, or global memory")
    return t.value(pointer)


def _stride(t: Translation, pointer: int, kind: MatrixType, words: tuple[int, ...]) -> int:
    """In elements of the matrix."""
    value = t.writer.converted(t.value(words[0]), t.type_of(words[0]), U32)
    size, element = t.pointee(pointer).size, kind.component.size
    if size < element:
        shift = t.writer.integer((element // size).bit_length() - 1)
        return t.writer.arithmetic(Op.ShiftRightArithmetic, U32, value, shift)
    return t.writer.multiply(U32, value, t.writer.integer(size // element))


def _whole(t: Translation, pointer: int, kind: MatrixType, layout: int, stride: tuple[int, ...]) -> Window:
    """The matrix itself is the window."""
    lines, length = lines_of(kind, _is_by_columns(t, layout))
    zero, width = t.writer.integer(0), t.writer.integer(length)
    step = _stride(t, pointer, kind, stride) if stride else zero
    return Window(_address(t, pointer), zero, zero, t.writer.integer(lines), step if stride else width, step,
                  t.writer.integer(TensorClampMode.Undefined))


def _checked(t: Translation, pointer: int, kind: MatrixType, words: tuple[int, int, int, int],
             stride: tuple[int, ...]) -> Window:
    """A window that begins at the row of the matrix, if that is in it: places in a tensor have 32 bits only. If columns
    are left of the window, it stays where it is, as they must be left of what the address is aligned to, too."""
    writer = t.writer
    line, column, height, width = (writer.converted(t.value(one), t.type_of(one), U32, signed=True) for one in words)
    zero = writer.integer(0)
    step = _stride(t, pointer, kind, stride) if stride else width
    if t.is_tame:
        address = _moved(t, pointer, kind, (line, step, column))
        return Window(address, zero, zero, height, step, step, writer.integer(TensorClampMode.Undefined))
    first = writer.glsl("SMax", U32, writer.glsl("SMin", U32, line, height), zero)
    first = writer.op(Op.Select, U32, writer.op(Op.SLessThan, BoolType(), column, zero), zero, first)
    return Window(_moved(t, pointer, kind, (first, step, zero)), writer.arithmetic(Op.ISub, U32, line, first), column,
                  writer.arithmetic(Op.ISub, U32, height, first), width, step,
                  writer.integer(TensorClampMode.Constant))


def _moved(t: Translation, pointer: int, kind: MatrixType, place: tuple[int, int, int]) -> int:
    """The address of an element: the number of the line, elements from one to the next, and the number in it."""
    writer = t.writer
    line, step, column = (writer.converted(one, U32, U64) for one in place)
    elements = writer.add(U64, writer.multiply(U64, line, step), column)
    moved = writer.multiply(U64, elements, writer.integer(kind.component.size, U64))
    return writer.add(U64, _address(t, pointer), moved)


# -- instructions --------------------------------------------------------------------------


def _load(t: Translation, row: Instruction, kind: MatrixType, layout: int, window: Window,
          access: tuple[int, ...]) -> None:
    pointer, tensor, addressing = _tensor(t, kind, layout, window)
    type_id = t.writer.types(kind)
    t.writer.op(Op.CooperativeMatrixLoadTensorNV, type_id, pointer, t.writer.out.undef(type_id), tensor,
                *_operands(t, access), *addressing, result=t.result(row))


def _store(t: Translation, matrix: int, kind: MatrixType, layout: int, window: Window,
           access: tuple[int, ...]) -> None:
    pointer, tensor, addressing = _tensor(t, kind, layout, window)
    t.writer.out.emit(Op.CooperativeMatrixStoreTensorNV, pointer, t.value(matrix), tensor, *_operands(t, access),
                      *addressing)


def _operands(t: Translation, access: tuple[int, ...]) -> tuple[int, ...]:
    return t.memory.operands(Place(0, BASE_ALIGNMENT, flags_of(access)), BASE_ALIGNMENT)


def _aligned(t: Translation, address: int, kind: MatrixType) -> tuple[int, int]:
    """The address of a tensor that begins somewhere before an address, and how many elements that is."""
    writer = t.writer
    low = writer.op(Op.BitwiseAnd, U32, writer.converted(address, U64, U32), writer.integer(BASE_ALIGNMENT - 1))
    rest = writer.op(Op.ShiftRightLogical, U32, low, writer.integer(kind.component.size.bit_length() - 1))
    return writer.op(Op.BitwiseAnd, U64, address, writer.integer(-BASE_ALIGNMENT, U64)), rest


def _tensor(t: Translation, kind: MatrixType, layout: int, window: Window) -> tuple[int, int, tuple[int, ...]]:
    """The pointer to the tensor, its layout, and the addressing operands: a view where columns are lines."""
    writer, out = t.writer, t.writer.out
    is_by_columns = _is_by_columns(t, layout)
    lines, length = (writer.integer(one) for one in lines_of(kind, is_by_columns))
    address, rest = (window.address, writer.integer(0)) if t.is_tame else _aligned(t, window.address, kind)
    two, one = writer.integer(2), writer.integer(1)
    type_id = out.type_opaque(Op.TypeTensorLayoutNV, two, window.clamp)
    tensor = writer.op(Op.CreateTensorLayoutNV, type_id)
    width = writer.add(U32, window.width, rest)
    tensor = writer.op(Op.TensorLayoutSetDimensionNV, type_id, tensor, window.height, width)
    tensor = writer.op(Op.TensorLayoutSetStrideNV, type_id, tensor, window.stride, one)
    column = writer.add(U32, window.column, rest)
    tensor = writer.op(Op.TensorLayoutSliceNV, type_id, tensor, window.row, lines, column, length)
    pointer = t.memory.pointer(kind.component, Place(address, BASE_ALIGNMENT))
    for feature in NEEDED:
        t.need(feature)
    if not is_by_columns:
        return pointer, tensor, (TensorAddressingOperands.None_,)
    view = out.type_opaque(Op.TypeTensorViewNV, two, out.constant_bool(False), one, writer.integer(0))
    return pointer, tensor, (TensorAddressingOperands.TensorView, writer.op(Op.CreateTensorViewNV, view))
