"""Conditions under which a round of a loop over components stores an element: that its row or its column is below a
limit (``if (row + at.x < m && column + at.y < n)``), as where C has less rows than work-groups have together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import targets
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.indices import Indices

Decision = tuple[int, bool]
"""A condition, and what it must be."""
_JOINED = {True: (Op.LogicalAnd, Op.ConstantFalse), False: (Op.LogicalOr, Op.ConstantTrue)}
"""What is only true (false) if both of its operands are → the instruction, and the constant that a choice has else."""
_NOT_NEGATIVE = frozenset({Op.UConvert, Op.SConvert, Op.IAdd, Op.IMul, Op.UDiv, Op.UMod, Op.ShiftRightLogical})


class Unknown(Exception):
    """It is not known under which conditions an instruction is done."""


class Distance(NamedTuple):
    """A number that is negative where a comparison holds, and only there, if some others are ``not_negative``."""

    value: Polynomial
    not_negative: tuple[Polynomial, ...]


@dataclass(frozen=True)
class ElementLimits:
    """Those of a loop with this header. places: what is an element's row or column."""

    indices: Indices
    header: Block
    places: Mapping[Atom, Polynomial]

    def distances(self, row: Instruction) -> list[Distance]:
        """Numbers that are negative for all elements for which a round comes to an instruction, and for no others, all
        of them; none if each round does. Raises Unknown."""
        block = next(one for one in self.indices.loops.blocks(self.header.label) if row in one.instructions)
        return [self._distance(*one) for one in dict.fromkeys(self._decisions(block))]

    def _distance(self, condition: int, holds: bool) -> Distance:
        read = self.indices.negative(self.indices.editor.definition(condition), holds=holds)
        if read is None:
            raise Unknown
        value, fits = read  # numbers with a sign do not overflow; the others may wrap around
        return Distance(value.replaced(self.places), tuple(one.value.replaced(self.places) for one in fits
                                                           if one.low == 0))

    # --- what decides -----------------------------------------------------------------------

    def _decisions(self, block: Block) -> Iterator[Decision]:
        """What decides whether a round comes to a block. Raises Unknown where that is not a few conditions, all of
        which must hold."""
        loops = self.indices.loops
        above = loops.dominator(block)
        while above is not self.header:
            if self._leads_past(above, block):
                end = above.terminator
                if end.opcode != Op.BranchConditional or loops.only_parent(block) is not above:
                    raise Unknown
                yield from self._parts(end.words[0], end.words[1] == block.label)
            block, above = above, loops.dominator(above)

    def _leads_past(self, above: Block, block: Block) -> bool:
        """Whether a way leads from a block to the next round, and not through another one."""
        seen, waiting = {block.label}, [above.label]
        while waiting:
            label = waiting.pop()
            if label == self.header.label:
                return True
            if label not in seen:
                seen.add(label)
                waiting += targets(self.indices.body.block(label))
        return False

    def _parts(self, condition: int, holds: bool) -> Iterator[Decision]:
        """The comparisons that must hold, or not, for a condition to do so."""
        row = self.indices.editor.definition(condition)
        joined, constant = _JOINED[holds]
        if row.opcode == Op.LogicalNot:
            yield from self._parts(row.words[0], not holds)
        elif row.opcode == joined:
            for word in row.words:
                yield from self._parts(word, holds)
        elif row.opcode == Op.Phi:  # of what is behind a branch, where the second of two conditions is asked
            others = [(value, label) for value, label in zip(row.words[::2], row.words[1::2], strict=True)
                      if self.indices.editor.definition(value).opcode != constant]
            if len(others) != 1 or self.indices.loops.carries_on(row):
                raise Unknown
            before = self.indices.body.block(others[0][1])
            if before.terminator.opcode != Op.Branch:
                raise Unknown
            yield from self._decisions(before)
            yield from self._parts(others[0][0], holds)
        else:
            yield condition, holds

    # --- numbers ----------------------------------------------------------------------------

    def is_negative(self, value: Polynomial) -> bool:
        """Whether a number may be negative, though no argument is."""
        return any(factor < 0 or not all(map(self._is_natural, monomial)) for monomial, factor in value.terms)

    def _is_natural(self, atom: Atom) -> bool:
        return atom.kind in ("argument", "place") or (atom.kind == "value" and self._is_position(atom.number))

    def _is_position(self, identifier: int) -> bool:
        """Whether an integer is computed from positions and constants so that it is not negative."""
        row = self.indices.editor.definition(identifier)
        if row.opcode == Op.Load:
            return self.indices.builtin(row) is not None
        if row.opcode == Op.CompositeExtract:
            return self._is_position(row.words[0])
        known = self.indices.editor.integer(identifier)
        if known is not None:
            return 0 <= known < 1 << self.indices.bits(identifier) - 1
        return row.opcode in _NOT_NEGATIVE and all(map(self._is_position, row.words))
