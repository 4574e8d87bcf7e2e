"""Cooperative matrices: as they are, with strides of 32 bits and the alignment of their memory."""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import CooperativeMatrixLayout, CooperativeMatrixUse, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import tensors
from coopmat.spirv.transform.to_vulkan.memory import Place, flags_of
from coopmat.spirv.transform.to_vulkan.regions import access_alignment
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U32, UNITS

_LAYOUTS = frozenset({CooperativeMatrixLayout.RowMajorKHR, CooperativeMatrixLayout.ColumnMajorKHR})


def _layout(t: Translation, identifier: int) -> int:
    found = t.integer_of(identifier)
    if found is None or found not in _LAYOUTS:
        raise t.refuse("a matrix in memory that is neither row-major nor column-major")
    return t.writer.integer(found)


def _access(t: Translation, pointer: int, words: tuple[int, ...]) -> tuple[Place, Type]:
    """The place, and the type to which the shader's pointer points."""
    kind = t.pointee(pointer)
    place = t.place(pointer, access_alignment(words, t.alignments.get(pointer, kind.alignment)), flags_of(words))
    return place, UNITS[place.unit] if place.array else kind


def _stride(t: Translation, pointer: int, words: tuple[int, ...], place: Place) -> int:
    """Of 32 bits, in what the shader's pointer points to; without one, memory is read from the same place again."""
    if not words:
        return t.writer.integer(0)
    value = t.writer.converted(t.value(words[0]), t.type_of(words[0]), U32)
    size = t.pointee(pointer).size
    unit = place.unit if place.array else size
    if unit > size:
        shift = t.writer.integer((unit // size).bit_length() - 1)
        return t.writer.arithmetic(Op.ShiftRightArithmetic, U32, value, shift)
    return t.writer.multiply(U32, value, t.writer.integer(size // unit))


def _load(t: Translation, row: Instruction) -> None:
    if _is_of_work_group(t.result_type(row)):
        tensors.load(t, row)
        return
    pointer, layout, *rest = row.words
    place, kind = _access(t, pointer, tuple(rest[1:]))
    t.writer.op(Op.CooperativeMatrixLoadKHR, t.result_type(row), t.memory.pointer(kind, place), _layout(t, layout),
                _stride(t, pointer, tuple(rest[:1]), place), *t.memory.operands(place, place.alignment),
                result=t.result(row))


def _store(t: Translation, row: Instruction) -> None:
    if _is_of_work_group(t.type_of(row.words[1])):
        tensors.store(t, row)
        return
    pointer, matrix, layout, *rest = row.words
    place, kind = _access(t, pointer, tuple(rest[1:]))
    t.writer.out.emit(Op.CooperativeMatrixStoreKHR, t.memory.pointer(kind, place), t.value(matrix), _layout(t, layout),
                      _stride(t, pointer, tuple(rest[:1]), place), *t.memory.operands(place, place.alignment))


def _is_of_work_group(kind: Type) -> bool:
    return isinstance(kind, MatrixType) and kind.is_of_work_group


def _length(t: Translation, row: Instruction) -> None:
    kind = t.table[row.words[0]]
    assert isinstance(kind, MatrixType)
    t.writer.op(Op.CooperativeMatrixLengthKHR, t.result_type(row), t.writer.types(kind), result=t.result(row))


def converted(t: Translation, row: Instruction) -> None:
    """A matrix of other components. Mesa's drivers take the sign from the integer type and not from the instruction:
    signed conversions are of matrices of signed integers, which OpBitcast makes."""
    source, kind = t.type_of(row.words[0]), t.result_type(row)
    value = t.value(row.words[0])
    if row.opcode in (Op.SConvert, Op.ConvertSToF):
        value = t.writer.op(Op.Bitcast, _signed(t, source), value)
    if row.opcode in (Op.SConvert, Op.ConvertFToS):
        found = t.writer.op(Op(row.opcode), _signed(t, kind), value)
        t.writer.op(Op.Bitcast, kind, found, result=t.result(row))
    else:
        t.writer.op(Op(row.opcode), kind, value, result=t.result(row))


def _signed(t: Translation, kind: Type) -> int:
    assert isinstance(kind, MatrixType)
    out = t.writer.out
    component = out.type_opaque(Op.TypeInt, kind.component.size * 8, 1)
    return out.type_cooperative_matrix(component, kind.scope, kind.rows, kind.columns, CooperativeMatrixUse(kind.use))


HANDLERS: dict[int, Handler] = {
    Op.CooperativeMatrixLoadKHR: _load, Op.CooperativeMatrixStoreKHR: _store, Op.CooperativeMatrixLengthKHR: _length,
    Op.CooperativeMatrixLoadCheckedINTEL: tensors.load_checked,
    Op.CooperativeMatrixStoreCheckedINTEL: tensors.store_checked,
}
