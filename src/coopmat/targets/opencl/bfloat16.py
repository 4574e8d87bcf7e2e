"""bf16 numbers for drivers without that type: integers of 16 bits, converted by integer arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Capability, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.to_vulkan.bfloat16 import without_bfloat16
from coopmat.targets.opencl.host.description import DriverDevice

_CONVERSIONS = (Op.ConvertBF16ToFINTEL, Op.ConvertFToBF16INTEL)


def replaced(module: Module, device: DriverDevice) -> Module:
    """The module without what the driver does not say it has: the type, and its conversions."""
    capabilities = device.spirv_capabilities or frozenset()
    if Capability.BFloat16TypeKHR not in capabilities:
        module = without_bfloat16(module)
    has_conversions = Capability.BFloat16ConversionINTEL in capabilities
    if has_conversions or not any(row.opcode in _CONVERSIONS for row in module.instructions):
        return module
    editor = Editor(module)
    editor.rewrite_functions(lambda row: _converted(editor, row) if row.opcode in _CONVERSIONS else None)
    return editor.finish()


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
