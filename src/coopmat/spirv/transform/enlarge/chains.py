"""Chains of products along K: each goes on with the sum of the one before, in the same block."""

from __future__ import annotations

from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction


class Chains:
    """Those of a function."""

    def __init__(self, editor: FunctionEditor, body: Body) -> None:
        self.editor = editor
        self._blocks = {row.result_id or 0: block.label for block in body.blocks for row in block.instructions
                        if row.opcode == Op.CooperativeMatrixMulAddKHR}
        self._continued = {row.words[2] for block in body.blocks for row in block.instructions
                           if row.opcode == Op.CooperativeMatrixMulAddKHR
                           and self._blocks.get(row.words[2]) == block.label}

    def of(self, identifier: int) -> list[Instruction]:
        """A product, and those whose sums it goes on with, the last one first."""
        found = [self.editor.definition(identifier)]
        while True:
            before = self.editor.definition(found[-1].words[2])
            if self._blocks.get(before.result_id or 0, 0) != self._blocks[identifier] or (
                    before.words[3:] != found[0].words[3:]):
                return found
            found.append(before)

    def ends(self, row: Instruction) -> bool:
        """Whether an instruction is the last product of several."""
        result = row.result_id or 0
        return result in self._blocks and result not in self._continued and len(self.of(result)) > 1
