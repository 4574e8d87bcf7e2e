"""Generic pointers that can point into one storage class only become pointers into that one."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.spirv.edit.functions import Body, FunctionEditor, replace_uses
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.spaces.storages import COMPARISONS, MEMORIES, SAME_PLACE, Storages

_CASTS_BACK = frozenset({Op.GenericCastToPtr, Op.GenericCastToPtrExplicit})
_RETYPED = frozenset({*SAME_PLACE, Op.Phi, Op.Select})


class Resolving:
    """One function. ``count``: how many pointers were resolved."""

    def __init__(self, editor: FunctionEditor, body: Body, storages: Storages) -> None:
        self.editor = editor
        self.body = body
        self.storages = storages
        self.resolved: dict[int, int] = {}
        self.pointees: dict[int, int] = {}
        self.same: dict[int, int] = {}
        for row in body.rows():
            storage = storages.only(row.result_id or 0)
            if storage is not None:
                self.resolved[row.result_id or 0] = storage
                self.pointees[row.result_id or 0] = editor.definition(row.type_id or 0).words[1]
        self.count = len(self.resolved)

    def done(self) -> None:
        """Change the function."""
        if not self.resolved:
            return
        for block in self.body.blocks:
            block.instructions = list(self._changed(block))
        self._cast_for_phis()
        replace_uses(self.body, self.same)

    def _changed(self, block: Block) -> Iterator[Instruction]:
        for row in block.instructions:
            if row.opcode in LINES or self._is_known(row):
                if row.opcode in LINES:
                    yield row
                continue
            if row.result_id in self.resolved:
                yield self._retyped(row)
            elif row.opcode in COMPARISONS:
                yield from self._compared(row)
            elif row.opcode == Op.Phi:
                yield row  # its values are cast where they come from
            else:
                yield from self._with_casts(row)

    def _is_known(self, row: Instruction) -> bool:
        """Whether another value stands for an instruction, which goes."""
        result, editor = row.result_id or 0, self.editor
        source = row.words[0] if row.words else 0
        if row.opcode == Op.PtrCastToGeneric and result in self.resolved:
            self.same[result] = source
        elif row.opcode in _CASTS_BACK and source in self.resolved:
            is_same = self.resolved[source] == editor.definition(row.type_id or 0).words[0]
            self.same[result] = source if is_same else editor.unique(Op.ConstantNull, type_id=row.type_id)
        elif row.opcode == Op.GenericPtrMemSemantics and source in self.resolved:
            self.same[result] = editor.unique(Op.Constant, MEMORIES.get(self.resolved[source], 0), type_id=row.type_id)
        else:
            return False
        return True

    def _type(self, value: int) -> int:
        return self.editor.type_pointer(self.resolved[value], self.pointees[value])

    def _retyped(self, row: Instruction) -> Instruction:
        result, words = row.result_id or 0, list(row.words)
        for place in row.id_places() if row.opcode in _RETYPED else ():
            value = words[place]
            is_label = row.opcode == Op.Phi and place % 2
            if not is_label and value not in self.resolved and self.storages.is_generic(value):
                words[place] = self._null(value, self.resolved[result])
        return Instruction(row.opcode, self._type(result), result, tuple(words), row.offset, row.context)

    def _null(self, value: int, storage: int) -> int:
        """A pointer to nothing, in a storage class."""
        type_id = self.editor.type_pointer(storage, self.editor.type_of(value).words[1])
        return self.editor.unique(Op.ConstantNull, type_id=type_id)

    def _compared(self, row: Instruction) -> Iterator[Instruction]:
        """Pointers into one storage class, or null, are compared as what they are."""
        found = {self.resolved[word] for word in row.words if word in self.resolved}
        others = [word for word in row.words if word not in self.resolved]
        if len(found) == 1 and all(self.storages.is_nowhere(word) for word in others):
            storage = found.pop()
            words = tuple(word if word in self.resolved else self._null(word, storage) for word in row.words)
            yield Instruction(row.opcode, row.type_id, row.result_id, words, row.offset)
        else:
            yield from self._with_casts(row)

    # --- where a generic pointer is needed ------------------------------------------------

    def _with_casts(self, row: Instruction) -> Iterator[Instruction]:
        through = set(self.storages.through(row))
        words = list(row.words)
        for place in row.id_places():
            if words[place] in self.resolved and place not in through and not self._takes_any(row, words[place]):
                cast = self._cast(words[place])
                words[place] = cast.result_id or 0
                yield cast
        yield Instruction(row.opcode, row.type_id, row.result_id, tuple(words), row.offset, row.context)

    def _takes_any(self, row: Instruction, value: int) -> bool:
        """Whether a pointer need not be generic for an instruction. As a number it must, so that 0 is null only."""
        is_number = row.opcode == Op.ConvertPtrToU or row.opcode == Op.Bitcast
        return is_number and self.resolved[value] == StorageClass.CrossWorkgroup

    def _cast(self, value: int) -> Instruction:
        generic = self.editor.type_pointer(StorageClass.Generic, self.pointees[value])
        return self.editor.row(Op.PtrCastToGeneric, generic, value)

    def _cast_for_phis(self) -> None:
        blocks = {block.label: block for block in self.body.blocks}
        for block in self.body.blocks:
            for index, row in enumerate(block.instructions):
                if row.opcode != Op.Phi or row.result_id in self.resolved:
                    continue
                words = list(row.words)
                for place in range(0, len(words), 2):
                    if words[place] in self.resolved:
                        cast = self._cast(words[place])
                        _append(blocks[words[place + 1]], cast)
                        words[place] = cast.result_id or 0
                block.instructions[index] = Instruction(row.opcode, row.type_id, row.result_id, tuple(words),
                                                        row.offset)


def _append(block: Block, row: Instruction) -> None:
    """Put an instruction at a block's end, before its merge instruction and its branch."""
    has_merge = len(block.instructions) > 1 and block.instructions[-2].opcode in (Op.SelectionMerge, Op.LoopMerge)
    block.instructions.insert(len(block.instructions) - 1 - has_merge, row)
