"""Sums of integers that a loop forms beside each other, and that are added behind it, are one sum.

Even and odd rounds of a loop that was unrolled by hand have sums of their own. Integers wrap around, so that their
order does not matter; sums of floats are rounded, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coopmat.spirv.edit.functions import MERGES, Body, FunctionEditor, replace_uses, uses_of, with_words
from coopmat.spirv.grammar import CooperativeMatrixOperands, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import Condition
from coopmat.spirv.transform.enlarge.indices import Indices

_SATURATES = CooperativeMatrixOperands.SaturatingAccumulationKHR


@dataclass(frozen=True)
class _Sum:
    """What a loop adds to a phi in each round: a chain of products in one block. start: with what it begins."""

    phi: Instruction
    start: int
    header: Block
    block: Block
    chain: tuple[Instruction, ...]


class Sums:
    """Those of a function. conditions: what must hold in a launch for what is changed, which is nothing."""

    def __init__(self, editor: FunctionEditor, body: Body, indices: Indices) -> None:
        self.editor, self.body, self.loops = editor, body, indices.loops
        self.conditions: Mapping[Condition, None] = {}
        self.uses = uses_of(body)

    def done(self) -> bool:
        """Make one sum of two; whether there were two."""
        for row in list(self.body.rows()):
            if row.opcode == Op.IAdd and self._is_matrix(row):
                one, other = map(self._sum, row.words)
                if one is not None and other is not None and one.phi is not other.phi and (
                        one.header is other.header and one.block is other.block):
                    self._unite(one, other)
                    for block in self.body.blocks:
                        block.instructions = [each for each in block.instructions if each is not row]
                    replace_uses(self.body, {row.result_id or 0: other.phi.result_id or 0})
                    return True
        return False

    def _is_matrix(self, row: Instruction) -> bool:
        return self.editor.type_of(row.result_id or 0).opcode == Op.TypeCooperativeMatrixKHR

    def _sum(self, identifier: int) -> _Sum | None:
        """The sum that a phi is, if nobody but one instruction behind the loop uses it."""
        phi = self.editor.definition(identifier)
        ends = self.loops.ends(phi) if phi.opcode == Op.Phi else None
        if ends is None:
            return None
        start, following, header = ends
        blocks = self.loops.blocks(header.label)
        chain: list[Instruction] = []
        while following != identifier:
            row = self.editor.definition(following)
            if row.opcode != Op.CooperativeMatrixMulAddKHR or any(word & _SATURATES for word in row.words[3:]) or (
                    len(self.uses.get(following, ())) != 1):
                return None
            chain.insert(0, row)
            following = row.words[2]
        home = [block for block in blocks if chain and chain[0] in block.instructions]
        users = self.uses.get(identifier, ())
        if len(home) != 1 or any(row not in home[0].instructions for row in chain) or len(users) != 2 or any(
                user in block.instructions for user in users if user not in chain for block in blocks):
            return None
        return _Sum(phi, start, header, home[0], tuple(chain))

    def _unite(self, one: _Sum, other: _Sum) -> None:
        """Let the second sum be that of both: its chain goes on from the first one's."""
        block = one.block
        chain = [*self._from(one.chain, other.phi), *self._from(other.chain, one.chain[-1])]
        behind = max(block.instructions.index(row) for row in (*one.chain, *other.chain)) + 1
        old = (*one.chain, *other.chain)
        block.instructions = [*(row for row in block.instructions[:behind] if row not in old), *chain,
                              *block.instructions[behind:]]
        (before,), (after,) = self.loops.parents(one.header.label)
        start = self._start(self.body.block(before), one, other)
        phi = with_words(other.phi, (start, before, other.chain[-1].result_id or 0, after))
        one.header.instructions = [self.editor.add(phi) if row is other.phi else row
                                   for row in one.header.instructions if row is not one.phi]

    def _from(self, chain: tuple[Instruction, ...], start: Instruction) -> list[Instruction]:
        """A chain of products that goes on from a sum."""
        first, *others = chain
        return [self.editor.add(with_words(first, (*first.words[:2], start.result_id or 0, *first.words[3:]))), *others]

    def _start(self, before: Block, one: _Sum, other: _Sum) -> int:
        """With what the sum of both begins."""
        starts = [each.start for each in (one, other) if not self._is_zero(each.start)] or [other.start]
        if len(starts) == 1:
            return starts[0]
        row = self.editor.row(Op.IAdd, other.phi.type_id or 0, *starts)
        place = -2 if len(before.instructions) > 1 and before.instructions[-2].opcode in MERGES else -1
        before.instructions[place:place] = [row]
        return row.result_id or 0

    def _is_zero(self, identifier: int) -> bool:
        """Whether a matrix is known to be zeros."""
        row = self.editor.definition(identifier)
        return row.opcode == Op.ConstantNull or (
            row.opcode in (Op.CompositeConstruct, Op.ConstantComposite) and self.editor.integer(row.words[0]) == 0)
