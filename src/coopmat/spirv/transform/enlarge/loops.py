"""The loops of a function: their blocks, the ways into them and back, and the values that they carry on."""

from __future__ import annotations

from coopmat.spirv.edit.functions import Body, Graph, targets
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction


class Loops:
    """Those of one function. A loop is named by its header's label."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._blocks = {row.result_id: number for number, block in enumerate(body.blocks) for row in block.instructions
                        if row.result_id is not None}
        self._numbers = {block.label: number for number, block in enumerate(body.blocks)}
        self._graph = Graph.of(body)

    def ends(self, row: Instruction) -> tuple[int, int, Block] | None:
        """What a loop header's phi is at first, and what it is then."""
        number = self._blocks[row.result_id or 0]
        header = self.body.blocks[number]
        if len(row.words) != 4 or not any(one.opcode == Op.LoopMerge for one in header.instructions[-2:-1]):
            return None
        parents = {self.body.blocks[one].label for one in self._graph.predecessors[number]
                   if self.is_inside(one, number)}
        (one, before), (two, after) = zip(row.words[::2], row.words[1::2], strict=True)
        if (before in parents) == (after in parents):
            return None
        return (two, one, header) if before in parents else (one, two, header)

    def carries_on(self, row: Instruction) -> bool:
        """Whether a phi is that of a loop's header."""
        header = self.body.blocks[self._blocks[row.result_id or 0]]
        return any(one.opcode == Op.LoopMerge for one in header.instructions[-2:-1])

    def is_inside(self, block: int, header: int) -> bool:
        """Whether a header dominates a block."""
        while block != header and block in self._graph.parent and block != self._graph.parent[block]:
            block = self._graph.parent[block]
        return block == header

    def dominator(self, block: Block) -> Block:
        """The last block through which all ways to another one lead."""
        return self.body.blocks[self._graph.parent[self._numbers[block.label]]]

    def blocks(self, header: int) -> list[Block]:
        """The blocks of a loop, by its header's label: those from which a way leads back to it."""
        number = self._numbers[header]
        found = {number}
        waiting = [one for one in self._graph.predecessors[number] if self.is_inside(one, number)]
        while waiting:
            block = waiting.pop()
            if block not in found:
                found.add(block)
                waiting += self._graph.predecessors[block]
        return [self.body.blocks[one] for one in sorted(found)]

    def parents(self, header: int) -> tuple[list[int], list[int]]:
        """The labels of the blocks from which a loop is entered, and of those from which it comes back."""
        number = self._numbers[header]
        inside = {one: self.is_inside(one, number) for one in self._graph.predecessors[number]}
        before, after = ([self.body.blocks[one].label for one, flag in inside.items() if flag is wanted]
                         for wanted in (False, True))
        return before, after

    def only_parent(self, block: Block) -> Block | None:
        """The block that leads to another one, if no other does."""
        found = self._graph.predecessors[self._numbers[block.label]]
        return self.body.blocks[found[0]] if len(found) == 1 else None

    def leaves_at_header(self, header: int) -> bool:
        """Whether no round ends a loop in the middle."""
        found = self.blocks(header)
        inside = {block.label for block in found}
        return all(inside.issuperset(targets(block)) for block in found if block.label != header)

    def ways(self, header: Block) -> tuple[Block, Block] | None:
        """The first block of a loop's rounds, and the one behind the loop, which both are entered from nowhere but its
        header; None if there are no such blocks."""
        inside = {block.label for block in self.blocks(header.label)}
        found = header.terminator.words[1:3] if header.terminator.opcode == Op.BranchConditional else ()
        if {label in inside for label in found} != {True, False} or not self.leaves_at_header(header.label):
            return None
        begin, end = (self.body.block(label) for label in sorted(found, key=lambda label: label not in inside))
        return (begin, end) if self.only_parent(begin) is header and self.only_parent(end) is header else None

    def successors(self, label: int) -> list[int]:
        """The blocks that may come after one."""
        return [self.body.blocks[one].label for one in self._graph.successors[self._numbers[label]]]

    def is_computed_in(self, identifier: int, header: Block) -> bool:
        """Whether a value is computed in blocks that a loop's header dominates, or is none of an instruction."""
        return self.is_inside(self._blocks.get(identifier, 0), self._numbers[header.label])
