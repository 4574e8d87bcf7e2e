"""What stands behind a loop and is what one more round would do becomes one more round.

A loop that loads a round ahead leaves the last products to what stands behind it. These are the products of its rounds,
of the values that it carries on: as many rounds more, and nothing stands behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coopmat.spirv.edit.functions import MERGES, Body, FunctionEditor, replace_outside, uses_of, with_words
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import TERMINATORS, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.transform.enlarge.accesses import LOADS
from coopmat.spirv.transform.enlarge.ahead import EARLIER
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition, Counter
from coopmat.spirv.transform.enlarge.indices import Indices

_MATCHING = EARLIER | frozenset(LOADS)
_FREE = EARLIER | MERGES | LINES | TERMINATORS | {Op.Phi}
"""What a further round may do though nothing behind the loop does it."""
SHORT = "the last product of a loop that loads a round ahead stands behind it, and there is no round for it"


class LastRounds:
    """The loops of a function. conditions: what must hold in a launch for what is changed."""

    def __init__(self, editor: FunctionEditor, body: Body, indices: Indices) -> None:
        self.editor, self.body, self.indices, self.loops = editor, body, indices, indices.loops
        self.conditions: dict[Condition, None] = {}

    def done(self) -> bool:
        """Let one loop run once more; whether there was one."""
        for header in self.body.blocks:
            counter = self.indices.counters.get(header.label)
            ways = self.loops.ways(header) if counter is not None else None
            if counter is not None and ways is not None and self._is_straight(header):
                found = _Round(self, header, ways[1])
                if found.same and found.is_all() and self._run_once_more(header, counter):
                    replace_outside(self.body, self.loops.blocks(header.label), found.same)
                    return True
        return False

    def _is_straight(self, header: Block) -> bool:
        """Whether each round of a loop does the same."""
        return all(block is header or block.terminator.opcode == Op.Branch for block in self.loops.blocks(header.label))

    def _run_once_more(self, header: Block, counter: Counter) -> bool:
        """Raise a loop's limit; whether that is possible."""
        row = self.editor.definition(counter.condition)
        step = [self.indices.step(self.indices.of(word), header) for word in row.words]
        if row not in header.instructions or len([one for one in step if one]) != 1:
            return False
        place = 0 if step[1] else 1  # of the limit
        type_id = self.editor.definition(row.words[place]).type_id or 0
        more = self.editor.constant(step[1 - place], self.indices.bits(row.words[place]))
        limit = self.editor.row(Op.IAdd, type_id, row.words[place], more)
        words = list(row.words)
        words[place] = limit.result_id or 0
        at = header.instructions.index(row)
        header.instructions[at:at + 1] = [limit, self.editor.add(with_words(row, words))]
        left = counter.limit - counter.start
        condition = Condition(left, 1 - counter.step, (1 << ADDRESS_BITS - 1) - 1, SHORT, where=self.indices.line(row))
        self.conditions[condition] = None
        return True


class _Round:
    """What stands behind a loop of what one more round would do. same: the values behind the loop → what the loop
    carries on, after one more round."""

    def __init__(self, loops: LastRounds, header: Block, end: Block) -> None:
        self.editor, self.end = loops.editor, end
        self.rows = [row for block in loops.loops.blocks(header.label) for row in block.instructions]
        self.inside = {row.result_id for row in self.rows if row.result_id is not None}
        self.uses = uses_of(loops.body)
        self.matched: dict[int, int] = {}
        """Values behind the loop → those of a round."""
        phis = {row.result_id or 0: found[1] for row in header.instructions
                if row.opcode == Op.Phi and (found := loops.loops.ends(row)) is not None}
        self.same: dict[int, int] = {}
        for phi, following in phis.items():
            if loops.editor.type_of(phi).opcode == Op.TypeCooperativeMatrixKHR:
                self.same |= dict.fromkeys(self._like(following), phi)
        if self.same:
            self.same |= {following: phi for phi, following in phis.items() if following in phis and phi != following}

    def _like(self, identifier: int) -> Iterator[int]:
        """What is computed behind the loop as a value is in it."""
        for row in self.end.instructions:
            if row.result_id is not None and row.opcode in _MATCHING:
                found = self._matches(row.result_id, identifier)
                if found:
                    self.matched |= found
                    yield row.result_id

    def _matches(self, one: int, other: int) -> Mapping[int, int] | None:
        """What is computed alike where a value behind the loop is that of one more round; None if it is not."""
        if one == other:
            return {}
        row, like = self.editor.definition(one), self.editor.definition(other)
        if row not in self.end.instructions or other not in self.inside or row.opcode not in _MATCHING or (
                row.opcode, row.type_id, len(row.words)) != (like.opcode, like.type_id, len(like.words)):
            return None
        found, ids = {one: other}, set(row.id_places())
        for place, (word, its) in enumerate(zip(row.words, like.words, strict=True)):
            further = self._matches(word, its) if place in ids else {} if word == its else None
            if further is None:
                return None
            found |= further
        return found

    def is_all(self) -> bool:
        """Whether nothing behind the loop needs anything else of it, and a further round does nothing else."""
        done = set(self.matched.values())
        if any(row.opcode not in _FREE and row.result_id not in done for row in self.rows):
            return False
        behind = {id(row): row for row in self.rows}
        for value in self.inside:
            outside = [row for row in self.uses.get(value or 0, ()) if id(row) not in behind]
            if value not in self.same and any(row.result_id not in self.matched for row in outside):
                return False
        return all(row.result_id in self.matched for value in self.matched if value not in self.same
                   for row in self.uses.get(value, ()))
