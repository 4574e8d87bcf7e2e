"""Instructions in the words that shaders have for them.

Functions of OpenCL.std stand for instructions that shaders have not as exact: remainders of floats, which Vulkan lets
drivers compute of a rounded quotient, and fp64 rounded to integers, where lavapipe rounds halves down; and for Intel's
integer functions. Votes and ballots of extensions that came before SPIR-V 1.3 are those of a sub-group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coopmat.spirv.analysis.integer_functions import OPENCL_NAMES
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, Decoration, FPRoundingMode, Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.goal import Goal

_OPENCL = "OpenCL.std"
_OF_SUB_GROUPS = {
    Op.SubgroupAllKHR: Op.GroupNonUniformAll, Op.SubgroupAnyKHR: Op.GroupNonUniformAny,
    Op.SubgroupAllEqualKHR: Op.GroupNonUniformAllEqual, Op.SubgroupBallotKHR: Op.GroupNonUniformBallot,
    Op.SubgroupFirstInvocationKHR: Op.GroupNonUniformBroadcastFirst,
    Op.SubgroupReadInvocationKHR: Op.GroupNonUniformShuffle}
_BY_LOW_HALF = {Op.IMul32x16INTEL: Op.ShiftRightArithmetic, Op.UMul32x16INTEL: Op.ShiftRightLogical}
_ROUNDED: dict[int | None, str] = {FPRoundingMode.RTE: "rint", FPRoundingMode.RTP: "ceil", FPRoundingMode.RTN: "floor"}
_REMAINDERS = frozenset({Op.FRem, Op.FMod})
_CONVERSIONS = frozenset({Op.ConvertFToS, Op.ConvertFToU})
_REPLACED = (*_REMAINDERS, *_CONVERSIONS, *OPENCL_NAMES, *_OF_SUB_GROUPS, *_BY_LOW_HALF)


def replaced(module: Module, _goal: Goal, _note: Callable[[str], None]) -> Module:
    """The module with other words in their place; functions are OpenCL.std's, for the pass ``opencl-std``."""
    return _Replacing(module).done() if module.of_opcode(*_REPLACED) else module


class _Replacing:
    def __init__(self, module: Module) -> None:
        self.editor = Editor(module)
        self.done_with: set[int] = set()
        """Conversions that are of whole numbers now."""

    def done(self) -> Module:
        editor = self.editor
        editor.rewrite_functions(self._replaced)
        editor.head = [row for row in editor.head if not (
            row.opcode == Op.Decorate and row.words[0] in self.done_with and row.words[1] == Decoration.FPRoundingMode)]
        return editor.finish()

    def _replaced(self, row: Instruction) -> Iterator[Instruction] | None:
        if row.opcode in _REMAINDERS and self._width(row.words[0]):
            return self._remainder(row)
        if row.opcode in _CONVERSIONS and self._width(row.words[0]) == 64:
            function = _ROUNDED.get(self.editor.module.rounding_mode(row.result_id or 0))
            return self._converted(row, function) if function is not None else None
        if row.opcode in OPENCL_NAMES:
            return iter((self._call(OPENCL_NAMES[Op(row.opcode)], row.type_id or 0, *row.words, result=row.result_id),))
        if row.opcode in _OF_SUB_GROUPS:
            return iter((make(_OF_SUB_GROUPS[Op(row.opcode)], self.editor.constant(Scope.Subgroup), *row.words,
                              type_id=row.type_id, result_id=row.result_id),))
        return self._product(row) if row.opcode in _BY_LOW_HALF else None

    def _width(self, value: int) -> int:
        """The bits of numbers that are no bf16, alone or in a vector; 0 of others."""
        kind = self.editor.type_of(value)
        scalar = self.editor.definition(kind.words[0]) if kind.opcode == Op.TypeVector else kind
        return scalar.words[0] if scalar.opcode == Op.TypeFloat and len(scalar.words) == 1 else 0

    def _call(self, name: str, kind: int, *words: int, result: int | None = None) -> Instruction:
        number = EXTENDED_INSTRUCTIONS[_OPENCL][name]
        return self.editor.add(make(Op.ExtInst, self.editor.extended_set(_OPENCL), number, *words, type_id=kind,
                                    result_id=self.editor.new_id() if result is None else result, context=_OPENCL))

    def _converted(self, row: Instruction, function: str) -> Iterator[Instruction]:
        value, result = row.words[0], row.result_id or 0
        rounded = self._call(function, self.editor.definition(value).type_id or 0, value)
        self.done_with.add(result)
        yield rounded
        yield make(Op(row.opcode), rounded.result_id or 0, type_id=row.type_id, result_id=result)

    def _product(self, row: Instruction) -> Iterator[Instruction]:
        """The product of 32-bit integers, of the second one only its low 16 bits."""
        editor, kind, (value, factor) = self.editor, row.type_id or 0, row.words
        half = editor.constant(16)
        if editor.definition(kind).opcode == Op.TypeVector:
            half = editor.unique(Op.ConstantComposite, *[half] * editor.definition(kind).words[1], type_id=kind)
        for op in (Op.ShiftLeftLogical, _BY_LOW_HALF[Op(row.opcode)]):
            shifted = editor.add(make(op, factor, half, type_id=kind, result_id=editor.new_id()))
            yield shifted
            factor = shifted.result_id or 0
        yield make(Op.IMul, value, factor, type_id=kind, result_id=row.result_id)

    def _remainder(self, row: Instruction) -> Iterator[Instruction]:
        """fmod; FMod has the divisor's sign: where that is another one, the divisor is added."""
        kind, result, (value, divisor) = row.type_id or 0, row.result_id or 0, row.words
        if row.opcode == Op.FRem:
            yield self._call("fmod", kind, value, divisor, result=result)
            return
        editor = self.editor
        boolean = editor.unique(Op.TypeBool)
        if editor.definition(kind).opcode == Op.TypeVector:
            boolean = editor.unique(Op.TypeVector, boolean, editor.definition(kind).words[1])
        zero = editor.unique(Op.ConstantNull, type_id=kind)

        def op(opcode: Op, type_id: int, *words: int) -> Instruction:
            return editor.add(make(opcode, *words, type_id=type_id, result_id=editor.new_id()))

        rest = self._call("fmod", kind, value, divisor)
        found = rest.result_id or 0
        rows = [rest, op(Op.FOrdLessThan, boolean, found, zero), op(Op.FOrdLessThan, boolean, divisor, zero),
                op(Op.FOrdNotEqual, boolean, found, zero), op(Op.FAdd, kind, found, divisor)]
        below, negative, something, other = (one.result_id or 0 for one in rows[1:])
        rows.append(op(Op.LogicalNotEqual, boolean, below, negative))
        rows.append(op(Op.LogicalAnd, boolean, something, rows[-1].result_id or 0))
        yield from rows
        yield make(Op.Select, rows[-1].result_id or 0, other, found, type_id=kind, result_id=result)
