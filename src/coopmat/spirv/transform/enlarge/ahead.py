"""Matrices that a loop loads a round ahead are loaded in the round that uses them.

A kernel that hides how long loads take multiplies in each round what the round before has loaded, and loads what the
next one multiplies. Where nothing writes to memory meanwhile, the pointer can be carried on instead of the matrix, and
the kernel is the simple one, whose tiles follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.edit.functions import Body, FunctionEditor, first_place, replace_uses, with_words
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.clamped import another_round, clamped
from coopmat.spirv.transform.enlarge.conditions import Condition
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.order import Order
from coopmat.spirv.transform.facts import PURE

_DIVISIONS = frozenset({Op.UDiv, Op.SDiv, Op.UMod, Op.SRem, Op.SMod})
EARLIER = PURE - _DIVISIONS
"""What may be computed though nobody needs it."""
_PLACES = {Op.CooperativeMatrixLoadKHR: 1, Op.CooperativeMatrixLoadCheckedINTEL: 3}
"""Load → how many of its operands say where the matrix is, those before layout and size."""


@dataclass(frozen=True)
class _Ahead:
    """A matrix that a loop carries on. first, later: its loads before the loop and in it. If not each round does the
    later one: earlier, what its place is computed by, and arm, the block of both, behind ``above``."""

    phi: Instruction
    first: Instruction
    later: Instruction
    earlier: Sequence[Instruction] = ()
    arm: Block | None = None
    above: Block | None = None


class Ahead:
    """The loops of a function. conditions: what must hold in a launch for what is changed."""

    def __init__(self, editor: FunctionEditor, body: Body, indices: Indices) -> None:
        self.editor, self.body, self.indices, self.loops = editor, body, indices, indices.loops
        self.order = Order(indices, asks=False)
        self.conditions: dict[Condition, None] = {}

    def done(self) -> bool:
        """Change one loop; whether there was one."""
        for header in self.body.blocks:
            if any(row.opcode == Op.LoopMerge for row in header.instructions[-2:-1]):
                found = [one for row in header.instructions if row.opcode == Op.Phi
                         and (one := self._ahead(row)) is not None]
                ways = self.loops.ways(header)
                if found and ways is not None and self._stays(header, found) and not any(
                        block is header for one in found for block in self._uses(one.phi)):
                    if not self._without_limits(header, found):
                        self._change(header, found, *ways)
                    return True
        return False

    # --- what is ahead ----------------------------------------------------------------------

    def _ahead(self, phi: Instruction) -> _Ahead | None:
        """What a phi of a loop's header carries on, if that is what was loaded."""
        ends = self.loops.ends(phi)
        if ends is None or self.editor.type_of(phi.result_id or 0).opcode != Op.TypeCooperativeMatrixKHR:
            return None
        first, later, header = self.editor.definition(ends[0]), self.editor.definition(ends[1]), ends[2]
        found = _Ahead(phi, first, later)
        if later.opcode == Op.Phi and later is not phi:
            chosen = self._chosen(phi, first, later, header)
            if chosen is None:
                return None
            found = chosen
        return found if first.opcode in _PLACES and self._are_alike(first, found.later) else None

    def _are_alike(self, one: Instruction, other: Instruction) -> bool:
        """Whether two loads differ in nothing but where the matrix is."""
        if (one.opcode, one.type_id, len(one.words)) != (other.opcode, other.type_id, len(other.words)):
            return False
        count = _PLACES[Op(one.opcode)]
        pairs = list(zip(one.words, other.words, strict=True))
        if any(self.editor.type_of(left) is not self.editor.type_of(right) for left, right in pairs[:count]):
            return False
        ids = set(one.id_places())
        return all(left == right or (place in ids and self.indices.is_integer(left) and self.indices.is_integer(right)
                                     and self.indices.of(left) == self.indices.of(right))
                   for place, (left, right) in enumerate(pairs) if place >= count)

    def _chosen(self, phi: Instruction, first: Instruction, later: Instruction, header: Block) -> _Ahead | None:
        """A load that a round does if there is another round."""
        for word in later.words[::2]:
            row = self.editor.definition(word)
            if row.opcode not in _PLACES:
                continue
            arm = self.body.blocks[self.order.block(row)]
            above = self.loops.only_parent(arm)
            if above is None or above.instructions[-2].opcode != Op.SelectionMerge or (
                    later not in self.body.block(above.instructions[-2].words[0]).instructions):
                continue
            earlier = self._needed(row, arm)
            inside = self.loops.blocks(header.label)
            if earlier is not None and self._goes_on(above.terminator, arm, header) and all(
                    block in inside for block in self._uses(phi)):
                return _Ahead(phi, first, row, earlier, arm, above)
        return None

    def _needed(self, load: Instruction, arm: Block) -> list[Instruction] | None:
        """What computes in a block where a load's matrix is; None if that may only be done there."""
        wanted = set(load.words[:_PLACES[Op(load.opcode)]])
        found: list[Instruction] = []
        for row in reversed(arm.instructions):
            if row.result_id in wanted:
                if row.opcode not in EARLIER:
                    return None
                found.insert(0, row)
                wanted.update(row.ids())
        return found

    def _goes_on(self, end: Instruction, arm: Block, header: Block) -> bool:
        """Whether a branch leads to a block in all rounds but the last one."""
        counter = self.indices.counters.get(header.label)
        if counter is None or end.opcode != Op.BranchConditional or end.words[1] == end.words[2]:
            return False
        found = self.indices.negative(self.editor.definition(end.words[0]), holds=end.words[1] == arm.label)
        if found is None or found[0] != another_round(counter):
            return False
        self.conditions |= dict.fromkeys(found[1])
        return True

    def _stays(self, header: Block, found: Sequence[_Ahead]) -> bool:
        """Whether nothing is written between what is loaded ahead and the rounds that use it."""
        if any(self.order.has_effects(row) for block in self.loops.blocks(header.label)
               for row in block.instructions[:-1]):
            return False
        before, _ = self.loops.parents(header.label)
        for one in found:
            number, place = self.order.places[id(one.first)]
            block = self.body.blocks[number]
            if [block.label] != before or any(map(self.order.has_effects, block.instructions[place + 1:-1])):
                return False
        return True

    def _without_limits(self, header: Block, found: Sequence[_Ahead]) -> bool:
        """Take limits away that only the last round reaches, whose loads are not used: they will not be done."""
        inside = self.loops.blocks(header.label)
        loads = {one.later.result_id or 0 for one in found if all(block in inside for block in self._uses(one.phi))}
        limits = list(clamped(self.indices, header, loads))
        replace_uses(self.body, {one.row.result_id or 0: one.number for one in limits})
        self.conditions |= dict.fromkeys(condition for one in limits for condition in one.conditions)
        return bool(limits)

    # --- what becomes of it -----------------------------------------------------------------

    def _change(self, header: Block, found: Sequence[_Ahead], begin: Block, end: Block) -> None:
        """Load in the loop's first block, and behind the loop, what is used there."""
        inside = self.loops.blocks(header.label)
        new: dict[int, list[Instruction]] = {begin.label: [], end.label: []}
        same: dict[int, Mapping[int, int]] = {}
        for one in found:
            self._compute_earlier(one)
            places = self._carried(header, one)
            used = {begin.label if block in inside else end.label for block in self._uses(one.phi)}
            loads = {label: self.editor.row(Op(one.first.opcode), one.first.type_id or 0, *places,
                                            *one.first.words[len(places):]) for label in used}
            for label, row in loads.items():
                new[label].append(row)
            same[one.phi.result_id or 0] = {label: row.result_id or 0 for label, row in loads.items()}
        gone = {id(one.phi) for one in found}
        header.instructions = [row for row in header.instructions if id(row) not in gone]
        for block in self.body.blocks:
            block.instructions = [self._with_loads(row, block, same, inside, begin, end) for row in block.instructions]
        for block in (begin, end):
            place = first_place(block)
            block.instructions[place:place] = new[block.label]

    def _compute_earlier(self, one: _Ahead) -> None:
        """Compute where a load's matrix is before the branch to the load."""
        if one.arm is not None and one.above is not None:
            moved = {id(row) for row in one.earlier}
            rows = [row for row in one.arm.instructions if id(row) in moved]  # another load may have moved some
            one.arm.instructions = [row for row in one.arm.instructions if id(row) not in moved]
            one.above.instructions[-2:-2] = rows

    def _carried(self, header: Block, one: _Ahead) -> list[int]:
        """Where the matrix is: what the loop carries on instead of it."""
        (before,), (after,) = self.loops.parents(header.label)
        found: list[int] = []
        for start, following in zip(one.first.words, one.later.words, strict=True):
            if len(found) == _PLACES[Op(one.first.opcode)]:
                break
            if start != following:
                type_id = self.editor.definition(start).type_id or 0
                header.instructions.insert(0, self.editor.row(Op.Phi, type_id, start, before, following, after))
                start = header.instructions[0].result_id or 0
            found.append(start)
        return found

    def _with_loads(self, row: Instruction, block: Block, same: Mapping[int, Mapping[int, int]],
                    inside: Sequence[Block], begin: Block, end: Block) -> Instruction:
        """An instruction that uses what was loaded instead of what was carried on."""
        if not any(row.words[place] in same for place in row.id_places()):
            return row
        words = list(row.words)
        for place in row.id_places():
            if words[place] in same:
                user = self.body.block(words[place + 1]) if row.opcode == Op.Phi else block
                words[place] = same[words[place]][begin.label if user in inside else end.label]
        return with_words(row, words)

    def _uses(self, phi: Instruction) -> Iterator[Block]:
        """The blocks in which a value is used; of phis, those at whose ends it is."""
        for block in self.body.blocks:
            for row in block.instructions:
                if row.opcode == Op.Phi:
                    yield from (self.body.block(parent) for value, parent in zip(row.words[::2], row.words[1::2],
                                                                                 strict=True)
                                if value == phi.result_id)
                elif phi.result_id in list(row.ids()):
                    yield block
