"""bf16 numbers for drivers without that type: integers of 16 bits, converted by integer arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.analysis.types import BFLOAT16_ENCODING, FloatType, MatrixType, TypeTable
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.bfloat16 import without_bfloat16
from coopmat.targets.opencl.host.description import DriverDevice

_BF16 = FloatType(16, BFLOAT16_ENCODING)
_FLAGS = (Flags.MatrixAAndBBFloat16ComponentsINTEL, Flags.MatrixCBFloat16ComponentsINTEL,
          Flags.MatrixResultBFloat16ComponentsINTEL)
_CONVERSIONS = (Op.ConvertBF16ToFINTEL, Op.ConvertFToBF16INTEL)


def replaced(module: Module, device: DriverDevice) -> Module:
    """The module without what the driver does not say it has: the type, and its conversions."""
    capabilities = device.spirv_capabilities or frozenset()
    if Capability.BFloat16TypeKHR not in capabilities:
        module = without_bfloat16(_with_flags(module))
    has_conversions = Capability.BFloat16ConversionINTEL in capabilities
    if has_conversions or not any(row.opcode in _CONVERSIONS for row in module.instructions):
        return module
    editor = Editor(module)
    editor.rewrite_functions(lambda row: _converted(editor, row) if row.opcode in _CONVERSIONS else None)
    return editor.finish()


def _with_flags(module: Module) -> Module:
    """The module whose products of bf16 matrices say that the integers in them are bf16."""
    types = TypeTable(module, 1)

    def change(row: Instruction) -> Iterator[Instruction] | None:
        if row.opcode != Op.CooperativeMatrixMulAddKHR:
            return None
        flags = row.words[3] if len(row.words) > 3 else 0
        for flag, value in zip(_FLAGS, (row.words[0], row.words[2], row.result_id or 0), strict=True):
            kind = types[module.definition(value).type_id or 0]
            flags |= flag if isinstance(kind, MatrixType) and kind.component == _BF16 else 0
        return iter([make(Op.CooperativeMatrixMulAddKHR, *row.words[:3], *([flags] if flags else []),
                          type_id=row.type_id, result_id=row.result_id)])

    editor = Editor(module)
    editor.rewrite_functions(change)
    return Module([*editor.head, *editor.functions], version=module.version, generator=module.generator,
                  bound=module.bound, schema=module.schema)


def _converted(editor: Editor, row: Instruction) -> Iterator[Instruction]:
    """A conversion, rounding to the nearest even; a NaN stays one."""
    kind = editor.definition(row.type_id or 0)
    count = kind.words[1] if kind.opcode == Op.TypeVector else 1
    word, short, truth = (_vector(editor, one, count) for one in (
        editor.unique(Op.TypeInt, 32, 0), editor.unique(Op.TypeInt, 16, 0), editor.unique(Op.TypeBool)))
    sixteen, half, one, quiet = (_constant(editor, word, value, count) for value in (16, 0x7FFF, 1, 0x40))
    rows: list[Instruction] = []

    def value(op: Op, type_id: int, *operands: int) -> int:
        rows.append(editor.add(make(op, *operands, type_id=type_id, result_id=editor.new_id())))
        return rows[-1].result_id or 0

    source, result = row.words[0], row.result_id
    if row.opcode == Op.ConvertBF16ToFINTEL:
        shifted = value(Op.ShiftLeftLogical, word, value(Op.UConvert, word, source), sixteen)
        return iter([*rows, make(Op.Bitcast, shifted, type_id=row.type_id, result_id=result)])
    bits = value(Op.Bitcast, word, source)
    high = value(Op.ShiftRightLogical, word, bits, sixteen)
    up = value(Op.IAdd, word, half, value(Op.BitwiseAnd, word, high, one))
    rounded = value(Op.ShiftRightLogical, word, value(Op.IAdd, word, bits, up), sixteen)
    nan = value(Op.BitwiseOr, word, high, quiet)
    chosen = value(Op.Select, word, value(Op.IsNan, truth, source), nan, rounded)
    return iter([*rows, make(Op.UConvert, chosen, type_id=short, result_id=result)])


def _vector(editor: Editor, scalar: int, count: int) -> int:
    return scalar if count == 1 else editor.unique(Op.TypeVector, scalar, count)


def _constant(editor: Editor, type_id: int, number: int, count: int) -> int:
    scalar = editor.constant(number)
    return scalar if count == 1 else editor.unique(Op.ConstantComposite, *[scalar] * count, type_id=type_id)
