"""Writes a function's blocks again, in selections and loops.

One variable, *where*, tells for each work-item which block is its next one. Control that goes on to another block of
the same round than what comes next here, goes to the merge block of its selection, and from there over all that it
does not wait at: where several blocks can be waited at, a test of the variable stands before the first of them. Control
that leaves the round or the loop branches to the loop's continue target or merge block at once.

Each block is written once. So work-items meet where they met before: a block waits for all that can still come to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.control_flow import targets
from coopmat.spirv.edit.functions import Body, FunctionEditor, with_words
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.structure.regions import OUTSIDE, Region, region_of

MOST_NESTED = 64
"""So deep selections are nested; below that, arms are written behind each other instead."""
DEEPEST_LOOPS = 200
"""So deep loops (with the selections around them) may be nested."""
Store = Callable[[int, int], list[Instruction]]
"""What is to be done on the way from one block to another one."""


class Writer:
    """Writes one function. ``store``: what is done on each way from block to block."""

    def __init__(self, editor: FunctionEditor, body: Body, store: Store) -> None:
        self.editor = editor
        self.source = body.blocks
        self.store = store
        self.region, self.graph = region_of(body.blocks)
        self.where = editor.row(Op.Variable, editor.type_pointer(StorageClass.Function, self._word()),
                                StorageClass.Function)
        self.blocks: list[Block] = []
        self.arrivals: dict[int, set[int]] = {}
        self.loops: list[tuple[int, int]] = []

    def written(self) -> list[Block]:
        """The new blocks, which use ``where``."""
        self._level(self.region, Block(0), self.region.children[OUTSIDE], {0}, 0, 0)
        self.blocks[0].instructions.insert(0, self.where)
        return self.blocks

    def _word(self) -> int:
        return self.editor.unique(Op.TypeInt, 32, 0)

    def _begin(self, label: int = 0) -> Block:
        block = Block(label or self.editor.new_id())
        self.blocks.append(block)
        return block

    def _label(self) -> int:
        label = self.editor.new_id()
        self.arrivals[label] = set()
        return label

    # --- what is in a region --------------------------------------------------------------

    def _level(self, region: Region, at: Block, items: Sequence[int], arrived: set[int], join: int,
               depth: int) -> None:
        """Write items and all that they dominate, behind the open block ``at``, where control waits that is to go to
        one of the blocks ``arrived`` (without any, the block is not open any more); what goes elsewhere in the round
        goes to the label ``join``."""
        if depth > DEEPEST_LOOPS:
            raise Error(f"loops are nested more than {DEEPEST_LOOPS} deep: they cannot become structured control flow")
        waiting = deque(items)
        while waiting:
            item = waiting.popleft()
            here = arrived & region.starts(item)
            assert here, "control comes to each block"
            write = self._item if here == arrived else self._guarded
            at, arrived, behind = write(region, at, item, arrived, depth)
            waiting.extendleft(reversed(behind))
            at, arrived = self._left(region, at, arrived)
        if arrived:
            self._go(at, join, arrived)

    def _go(self, at: Block, label: int, arrived: set[int]) -> None:
        at.instructions.append(make(Op.Branch, label))
        self.arrivals.setdefault(label, set()).update(arrived)

    def _merged(self, label: int) -> tuple[Block, set[int]]:
        """Begin a merge block, and who comes to it."""
        block = self._begin(label)
        if not self.arrivals[label]:
            block.instructions.append(make(Op.Unreachable))
        return block, self.arrivals[label]

    def _left(self, region: Region, at: Block, arrived: set[int]) -> tuple[Block, set[int]]:
        """Let what leaves a round or its loop do so at once."""
        if region.head == OUTSIDE:
            return at, arrived
        merge, target = self.loops[-1]
        outside = {block for block in arrived if block not in region.members}
        for leaving, label in ((arrived & {region.head}, target), (outside, merge)):
            if not leaving:
                continue
            arrived = arrived - leaving
            if not arrived:
                self._go(at, label, leaving)
                return at, arrived
            way, behind = self._label(), self._label()
            self._choose(at, leaving, arrived, way, behind, behind)
            self._go(self._begin(way), label, leaving)
            at = self._begin(behind)
        return at, arrived

    def _item(self, region: Region, at: Block, item: int, arrived: set[int],
              depth: int) -> tuple[Block, set[int], Sequence[int]]:
        """One item, for all. Gives what is open behind it, who comes there, and the items that come next there."""
        if item in region.inner:
            return *self._loop(region.inner[item], at, arrived, depth), region.children.get(item, ())
        return self._block(region, at, item, depth)

    def _guarded(self, region: Region, at: Block, item: int, arrived: set[int],
                 depth: int) -> tuple[Block, set[int], Sequence[int]]:
        """One item, for those only that wait at it, with what it dominates unless that is too deep."""
        here = arrived & region.starts(item)
        inside, join = self._label(), self._label()
        self._choose(at, here, arrived - here, inside, join, join)
        self.arrivals[join] |= arrived - here
        behind: Sequence[int] = ()
        if depth < MOST_NESTED:
            self._level(region, self._begin(inside), [item], here, join, depth + 1)
        else:
            at, gone, behind = self._item(region, self._begin(inside), item, here, depth + 1)
            at, gone = self._left(region, at, gone)
            self._level(region, at, (), gone, join, depth + 1)
        return *self._merged(join), behind

    def _choose(self, at: Block, chosen: set[int], others: set[int], label: int, other: int, merge: int) -> None:
        """Branch to a label where the next block is one of those chosen, and else to another label."""
        if len(others) < len(chosen):
            chosen, label, other = others, other, label
        editor = self.editor
        boolean = editor.unique(Op.TypeBool)
        now = editor.row(Op.Load, self._word(), self.where.result_id or 0)
        rows, found = [now], 0
        for number in sorted(chosen):
            rows.append(editor.row(Op.IEqual, boolean, now.result_id or 0, editor.constant(number)))
            if found:
                rows.append(editor.row(Op.LogicalOr, boolean, found, rows[-1].result_id or 0))
            found = rows[-1].result_id or 0
        at.instructions += [*rows, make(Op.SelectionMerge, merge, 0), make(Op.BranchConditional, found, label, other)]

    # --- loops ----------------------------------------------------------------------------

    def _loop(self, loop: Region, at: Block, arrived: set[int], depth: int) -> tuple[Block, set[int]]:
        header, merge, target, first = (self._label() for _ in range(4))
        at.instructions.append(make(Op.Branch, header))
        self._begin(header).instructions += [self._loop_merge(loop, merge, target), make(Op.Branch, first)]
        self.loops.append((merge, target))
        self._level(loop, self._begin(first), loop.children[OUTSIDE], arrived | {loop.head}, 0, depth + 1)
        self.loops.pop()
        self._begin(target).instructions.append(make(Op.Branch, header))
        return self._merged(merge)

    def _loop_merge(self, loop: Region, merge: int, target: int) -> Instruction:
        """As the loop's head has it, if it has one."""
        before = self.source[loop.head].instructions[-2:-1]
        if before and before[0].opcode == Op.LoopMerge:
            return with_words(before[0], (merge, target, *before[0].words[2:]))
        return make(Op.LoopMerge, merge, target, 0)

    # --- blocks ---------------------------------------------------------------------------

    def _block(self, region: Region, at: Block, number: int,
               depth: int) -> tuple[Block, set[int], Sequence[int]]:
        """A block, and the arms of the selection that it begins. Gives what is open behind it, and the items that come
        next there."""
        source = self.source[number]
        at.instructions.append(make(Op.Branch, source.label))
        block = self._begin(source.label)
        block.instructions += source.instructions[:-1]
        if block.instructions and block.instructions[-1].opcode in (Op.SelectionMerge, Op.LoopMerge):
            del block.instructions[-1]
        end, children = source.terminator, region.children.get(number, [])
        following = self.graph[number]
        if not following:
            block.instructions.append(end)
            return block, set(), ()
        if len(following) == 1:
            self._way(block, number, following[0])
            return block, {following[0]}, children
        join = self._label()
        ways = {target: self.editor.new_id() for target in following}
        inside = self._inside(region, number, depth)
        block.instructions += [make(Op.SelectionMerge, join, 0), self._renamed(end, ways)]
        for target in following:
            way = self._begin(ways[target])
            self._way(way, number, target)
            way, arrived = self._left(region, way, {target})
            self._level(region, way, [region.item_of[target]] if target in inside else [], arrived, join, depth + 1)
        return *self._merged(join), [item for item in children if item not in map(region.item_of.get, inside)]

    def _way(self, block: Block, source: int, target: int) -> None:
        block.instructions += [*self.store(source, target),
                               make(Op.Store, self.where.result_id or 0, self.editor.constant(target))]

    def _renamed(self, end: Instruction, ways: dict[int, int]) -> Instruction:
        """A terminator with other labels."""
        labels = set(targets_of(end))
        new = {self.source[target].label: label for target, label in ways.items()}
        places = [place for place in end.id_places() if place > 0 and end.words[place] in labels]
        return with_words(end, (new[word] if place in places else word for place, word in enumerate(end.words)))

    def _inside(self, region: Region, number: int, depth: int) -> set[int]:
        """The targets of a block that become arms of its selection, with all that they dominate.

        One of them stands behind the selection instead if no other way comes out of that.
        """
        if depth >= MOST_NESTED:
            return set()
        following = [target for target in self.graph[number] if region.holds(target)]
        items = [region.item_of[target] for target in following]
        arms = [target for target, item in zip(following, items, strict=True)
                if region.sources[item] == {number} and items.count(item) == 1]
        passing = [target for target in following if target not in arms or region.item_of[target] in region.passed]
        for target in reversed(arms):
            if all(other == target for other in passing):
                return set(arms) - {target}
        return set(arms)


def targets_of(end: Instruction) -> list[int]:
    """The labels of a terminator."""
    return targets(Block(0, [end]))
