"""How many groups of a launch take part, as a merged kernel computes it from its arguments before anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coopmat.spirv.analysis.polynomials import Atom
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed, Limit
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.writing import Writing


class Limits(Writing):
    """The limits of a kernel. counts: how many groups there are along each axis; computed: the values in limits that
    are. ``present``: the number of those that take part along an axis that has limits."""

    def __init__(self, indices: Indices, limits: Sequence[Limit], computed: Mapping[int, Computed],
                 counts: Sequence[int]) -> None:
        super().__init__(indices)
        self.limits, self.counts, self._computed = limits, counts, computed
        self.present = {limit.axis: self.editor.new_id() for limit in limits}

    def blocks(self, first: Mapping[int, int], begin: int) -> list[Block]:
        """What stands before the kernel's block ``begin``: it computes the numbers, and ends where the first group of
        a merged one (axis → its number) takes no part."""
        self.rows = []
        counts = {limit.axis: self.counts[limit.axis] for limit in self.limits}
        for limit in self.limits:
            counts[limit.axis] = self.chosen(Op.ULessThan, self._within(limit), counts[limit.axis])
        zero, kind = self._constant(0), self.editor.unique(Op.TypeBool)
        self.rows += [self.editor.row(Op.IAdd, self.long, count, zero, result=self.present[axis])
                      for axis, count in counts.items()]
        inside, *more = [self.let(Op.ULessThan, kind, first[axis], self.present[axis]) for axis in counts]
        for one in more:
            inside = self.let(Op.LogicalAnd, kind, inside, one)
        outside = Block(self.editor.new_id(), [make(Op.Return)])
        return [Block(self.editor.new_id(), [*self.rows, make(Op.SelectionMerge, begin, 0), make(
            Op.BranchConditional, inside, begin, outside.label)]), outside]

    def _within(self, limit: Limit) -> int:
        """How many groups a limit leaves: those below it, in units of a step, rounded up."""
        value = self.number(limit.value)
        whole = self.let(Op.SDiv, self.long, self.let(Op.ISub, self.long, value, self._constant(1)),
                         self._constant(limit.step))
        count = self.let(Op.IAdd, self.long, whole, self._constant(1))
        is_any = self.let(Op.SGreaterThan, self.editor.unique(Op.TypeBool), value, self._constant(0))
        count = self.let(Op.Select, self.long, is_any, count, self._constant(0))
        return self.let(Op.IMul, self.long, count, self._constant(limit.times)) if limit.times > 1 else count

    def atom(self, atom: Atom) -> int:
        """An atom's value of 64 bits."""
        if atom.kind == "argument":
            return self.wide(self.indices.body.parameters[atom.number].result_id or 0)
        return self.counts[atom.number] if atom.kind == "groups" else self.computed(self._computed[atom.number])

    def _constant(self, number: int) -> int:
        return self.editor.constant(number, ADDRESS_BITS)
