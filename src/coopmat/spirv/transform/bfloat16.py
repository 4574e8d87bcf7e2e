"""bf16 numbers as 16-bit integers, computed with in floats of 32 bits: no driver has more than conversions of them."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.types import BFLOAT16_ENCODING
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.edit.ordering import ordered
from coopmat.spirv.grammar import Decoration, FPRoundingMode, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make

_PLAIN = frozenset({
    Op.Load, Op.Store, Op.Phi, Op.Select, Op.CompositeConstruct, Op.CompositeExtract, Op.CompositeInsert,
    Op.VectorShuffle, Op.VectorExtractDynamic, Op.VectorInsertDynamic, Op.CopyObject, Op.Bitcast, Op.Variable,
    Op.FunctionParameter, Op.Undef, Op.GroupNonUniformShuffle, Op.GroupNonUniformBroadcast, Op.GroupBroadcast,
    Op.GroupNonUniformShuffleXor, Op.GroupNonUniformShuffleUp, Op.GroupNonUniformShuffleDown,
    Op.SubgroupBlockReadINTEL, Op.SubgroupBlockWriteINTEL, Op.Function, Op.ReturnValue,
})
"""Instructions that do with the bits of a number what they do with those of any other."""
_ARITHMETIC = frozenset({
    Op.FAdd, Op.FSub, Op.FMul, Op.FDiv, Op.FRem, Op.FMod, Op.FNegate, Op.VectorTimesScalar, Op.Dot, Op.ExtInst,
    Op.ConvertFToS, Op.ConvertFToU, Op.ConvertSToF, Op.ConvertUToF, Op.IsNan, Op.IsInf, Op.IsFinite, Op.IsNormal,
    Op.SignBitSet, Op.LessOrGreater, Op.Ordered, Op.Unordered,
    *(op for op in Op if Op.FOrdEqual <= op <= Op.FUnordGreaterThanEqual)})


def without_bfloat16(module: Module) -> Module:
    """The module with integers in the place of bf16 numbers; KernelNotSupported for arithmetic on them."""
    kinds = [row for row in module.of_opcode(Op.TypeFloat) if row.words == (16, BFLOAT16_ENCODING)]
    return _Replacing(module, kinds[0].result_id or 0).done() if kinds else module


class _Replacing:
    def __init__(self, module: Module, bfloat16: int) -> None:
        self.editor = Editor(module)
        self.bfloat16 = bfloat16
        self.integer = self.editor.unique(Op.TypeInt, 16, 0)
        self.single = self.editor.unique(Op.TypeFloat, 32)
        self.changed = {row.result_id: row.words[1] for row in self.editor.head if row.opcode == Op.TypeVector
                        and row.words[0] == bfloat16}
        self.changed[bfloat16] = 1

    def done(self) -> Module:
        editor = self.editor
        editor.rewrite_functions(self._rewritten)
        same = {self.bfloat16: self.integer} | {
            identifier: editor.unique(Op.TypeVector, self.integer, count)
            for identifier, count in self.changed.items() if identifier is not None and identifier != self.bfloat16}
        rows = [*editor.head, *editor.functions]
        kept = [row.with_ids(lambda word: same.get(word, word)) for row in rows if row.result_id not in same]
        start = next(number for number, row in enumerate(kept) if row.opcode == Op.Function)
        first = next(number for number, row in enumerate(kept) if row.name.startswith("OpType"))
        editor.head = [*kept[:first], *ordered(kept[first:start])]
        editor.functions = kept[start:]
        return editor.finish()

    def _rewritten(self, row: Instruction) -> Iterator[Instruction] | None:
        if row.opcode == Op.FConvert:
            before, after = self.editor.definition(row.words[0]).type_id, row.type_id
            if before in self.changed or after in self.changed:
                return self._converted(row, before in self.changed, after in self.changed)
        elif row.opcode in _ARITHMETIC and (row.type_id in self.changed or any(
                self._kind_of(word) in self.changed for word in self._values(row))):
            return self._computed(row)
        elif row.opcode not in _PLAIN and row.type_id in self.changed:
            raise KernelNotSupported(f"{row.name} on bf16 numbers needs the Vulkan feature shaderBFloat16Type")
        return None

    def _kind_of(self, identifier: int) -> int | None:
        return self.editor.definition(identifier).type_id

    def _values(self, row: Instruction) -> tuple[int, ...]:
        return row.words[2:] if row.opcode == Op.ExtInst else row.words

    def _single(self, kind: int | None) -> int:
        """The type of floats of 32 bits in the place of one of bf16 numbers."""
        count = self.changed[kind]
        return self.single if count == 1 else self.editor.unique(Op.TypeVector, self.single, count)

    def _computed(self, row: Instruction) -> Iterator[Instruction]:
        """In floats of 32 bits, rounded once at the end."""
        words = list(row.words)
        for place in range(2 * (row.opcode == Op.ExtInst), len(words)):
            kind = self._kind_of(words[place])
            if kind in self.changed:
                wide = self.editor.new_id()
                yield self.editor.add(make(Op.ConvertBF16ToFINTEL, words[place], type_id=self._single(kind),
                                           result_id=wide))
                words[place] = wide
        type_id, result = row.type_id or 0, row.result_id or 0
        if type_id not in self.changed:
            yield Instruction(row.opcode, type_id, result, tuple(words), None, row.context)
            return
        exact = self._rounded_as(result)
        yield self.editor.add(Instruction(row.opcode, self._single(type_id), exact, tuple(words), None, row.context))
        yield make(Op.ConvertFToBF16INTEL, exact, type_id=type_id, result_id=result)

    def _rounded_as(self, result: int) -> int:
        """A float that is rounded as what is made of it, if that is up, down or towards zero."""
        made, mode = self.editor.new_id(), self.editor.module.rounding_mode(result)
        if mode not in (None, FPRoundingMode.RTE):
            self.editor.decorate(made, Decoration.FPRoundingMode, mode)
        return made

    def _converted(self, row: Instruction, is_before: bool, is_after: bool) -> Iterator[Instruction]:
        """By way of a float of 32 bits."""
        count = self.changed[row.type_id if is_after else self.editor.definition(row.words[0]).type_id]
        single = self.single if count == 1 else self.editor.unique(Op.TypeVector, self.single, count)
        source, type_id, result = row.words[0], row.type_id or 0, row.result_id or 0
        if is_before and is_after:
            yield make(Op.CopyObject, source, type_id=type_id, result_id=result)
            return
        first = Op.ConvertBF16ToFINTEL if is_before else Op.FConvert
        if is_before and type_id == single:
            yield make(first, source, type_id=type_id, result_id=result)
            return
        if not (is_after and self.editor.definition(source).type_id == single):
            middle = self._rounded_as(result) if is_after else self.editor.new_id()
            yield self.editor.add(make(first, source, type_id=single, result_id=middle))
            source = middle
        yield make(Op.FConvert if is_before else Op.ConvertFToBF16INTEL, source, type_id=type_id, result_id=result)

