"""Loops that start at a work-item's own number: rounds in which all work-items are, and then the rest.

    for (i = lid; i < n; i += lsz) ...      becomes      for (i = lid; all(i < n); i += lsz) ...
                                                         for (; i < n; i += lsz) ...

The first loop is left by all work-items together, so that it needs no masks, and what rises steadily from work-item to
work-item keeps doing so. The second one is the loop as it was; mostly it has one round, or none. What counts is that a
loop's variable starts at a number that differs among the work-items of a sub-group, and that the loop's head compares
it; what all work-items have alike is found when code is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.control_flow import successors_of
from coopmat.spirv.analysis.lock_step import Loop
from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.grammar import BuiltIn, Decoration, Op
from coopmat.spirv.module import Block, Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.values import values
from coopmat.targets.analysis.flatten import LINES, Flat, flatten, labels_of

MOST_INSTRUCTIONS = 2048  # of a loop that is written twice
MOST_TOTAL = 1 << 14  # of a kernel with such loops
IN_ROW = (BuiltIn.LocalInvocationId, BuiltIn.GlobalInvocationId)
"""Vectors whose first component counts a sub-group's work-items; the others are alike for them."""
NUMBERS = (BuiltIn.LocalInvocationIndex, BuiltIn.GlobalLinearId, BuiltIn.SubgroupLocalInvocationId)
COMPARISONS = frozenset({
    Op.ULessThan, Op.SLessThan, Op.ULessThanEqual, Op.SLessThanEqual,
    Op.UGreaterThan, Op.SGreaterThan, Op.UGreaterThanEqual, Op.SGreaterThanEqual})


def with_values(module: Module) -> Module:
    """The module with values instead of variables, if a kernel has such loops then; otherwise the module."""
    if not any(decoration.words[1:2] == (Decoration.BuiltIn,) and decoration.words[2] in (*IN_ROW, *NUMBERS)
               for decoration in module.of_opcode(Op.Decorate)):
        return module
    try:
        found = values(inline(module, Goal(), _unheard), Goal(), _unheard)
        has_some = any(_has_loops(found, entry.function_id) for entry in found.entry_points)
    except Error:  # who compiles the kernel says what is wrong
        return module
    return found if has_some else module


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""


def _has_loops(module: Module, function: int) -> bool:
    return any(True for _ in _Search(flatten(module, function, TypeTable(module, 1))).loops())


def in_full_rounds(flat: Flat) -> Flat:
    """The kernel with such loops in two; ``full_rounds`` are the heads of the first ones."""
    total = sum(len(block.instructions) for block in flat.blocks)
    tried: set[int] = set()
    while True:
        search = _Search(flat)
        head, loop = next(((label, loop) for label, loop in search.loops() if label not in tried), (0, None))
        if loop is None:
            return flat
        tried.add(head)
        size = search.size(loop)
        if size <= MOST_INSTRUCTIONS and total + size <= MOST_TOTAL:
            total += size
            flat, new = _Doubling(flat, loop).done()
            tried |= new


def blocks_of_rests(flat: Flat) -> set[int]:
    """The blocks of the second ones of loops in two: of what is left when a work-item leaves the first one."""
    heads = set(flat.full_rounds.values())
    return {number for loop in flat.flow.loops if flat.blocks[loop.head].label in heads for number in loop.members}


def reason_against(flat: Flat, loop: Loop) -> str:
    """Why a loop is not in two."""
    search = _Search(flat)
    if not search._is_counted(loop):
        return "no comparison in their head is of a number that counts from a work-item's own"
    if not search._is_closed(loop):
        return "they are left in their middle, too, and what they computed is used behind"
    return f"they have more than {MOST_INSTRUCTIONS} instructions, or the kernel has more than {MOST_TOTAL} with them"


class _Search:
    """Finds loops in which work-items may have different numbers of rounds."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.blocks = flat.blocks
        self.successors = successors_of(flat.blocks)
        self._differs: dict[int, bool] = {}

    def size(self, loop: Loop) -> int:
        """The instructions of a loop."""
        return sum(len(self.blocks[number].instructions) for number in _members(self.flat, loop))

    def loops(self) -> Iterator[tuple[int, Loop]]:
        """The loops, outer ones first, with the labels of their heads."""
        for loop in self.flat.flow.loops:
            if self._is_counted(loop) and self._is_closed(loop):
                yield self.blocks[loop.head].label, loop

    def _is_counted(self, loop: Loop) -> bool:
        """Whether the head decides by a comparison of a number that begins differently for each work-item."""
        head = self.blocks[loop.head]
        end = head.terminator
        if end.opcode != Op.BranchConditional:
            return False
        inside = [number in loop.members for number in self.successors[loop.head]]
        condition = self.flat.definitions.get(end.words[0])
        if inside.count(True) != 1 or len(inside) != 2 or condition is None or condition.opcode not in COMPARISONS:
            return False
        phis = self._phis(condition, head)
        return any(self.differs(value) for phi in phis for value, parent in _sources(phi)
                   if parent not in self._labels(loop))

    def _labels(self, loop: Loop) -> set[int]:
        return {self.blocks[number].label for number in _members(self.flat, loop)}

    def _phis(self, row: Instruction, head: Block) -> list[Instruction]:
        """The head's phis that a number in it is made of."""
        own = {one.result_id: one for one in head.instructions if one.result_id is not None}
        found, waiting = [], [row]
        while waiting:
            one = waiting.pop()
            if one.opcode == Op.Phi:
                found.append(one)
            else:
                waiting += [own.pop(word) for word in one.ids() if word in own]
        return found

    def _is_closed(self, loop: Loop) -> bool:
        """Whether the loop is entered at its head only, and what it has made is used behind its head's exit only."""
        members = set(_members(self.flat, loop))
        labels = {self.blocks[number].label for number in members}
        made = {row.result_id for number in members for row in self.blocks[number].instructions}
        leaves_elsewhere = any(target not in members for number in members if number != loop.head
                               for target in self.successors[number])
        for number, block in enumerate(self.blocks):
            if number in members:
                continue
            if any(target in members and target != loop.head for target in self.successors[number]):
                return False
            if leaves_elsewhere and any(row.opcode != Op.Phi and not made.isdisjoint(row.ids())
                                        for row in block.instructions):
                return False
            if leaves_elsewhere and any(value in made and parent not in labels for row in block.instructions
                                        if row.opcode == Op.Phi for value, parent in _sources(row)):
                return False
        return True

    def differs(self, identifier: int) -> bool:
        """Whether a number is made of one that the work-items of a sub-group have different ones of."""
        if identifier not in self._differs:
            self._differs[identifier] = False  # in a circle of phis
            self._differs[identifier] = self._found(identifier)
        return self._differs[identifier]

    def _found(self, identifier: int) -> bool:
        row = self.flat.definitions.get(identifier)
        if row is None:
            return False
        if row.opcode == Op.Load:
            return self._builtin(row.words[0]) in NUMBERS
        if row.opcode == Op.CompositeExtract:
            source = self.flat.definitions.get(row.words[0])
            if source is not None and source.opcode == Op.Load and self._builtin(source.words[0]) in IN_ROW:
                return row.words[1:] == (0,)
        return any(self.differs(word) for word in row.ids())

    def _builtin(self, pointer: int) -> int | None:
        return next((words[0] for decoration, words in self.flat.module.decorations(self.flat.original(pointer))
                     if decoration == Decoration.BuiltIn), None)


def _members(flat: Flat, loop: Loop) -> Iterator[int]:
    """The blocks of a loop, without latches that were added."""
    return (number for number in loop.members if number < len(flat.blocks))


def _sources(phi: Instruction) -> Iterator[tuple[int, int]]:
    return zip(phi.words[::2], phi.words[1::2], strict=True)


@dataclass
class _Doubling:
    """Puts a copy of a loop before it, which is left where a work-item would leave the loop."""

    flat: Flat
    loop: Loop

    def done(self) -> tuple[Flat, set[int]]:
        """The kernel, and the heads of loops that are not to be doubled: those of the copied loop in the rest of it."""
        flat, head = self.flat, self.flat.blocks[self.loop.head]
        inside = [flat.blocks[number] for number in sorted(_members(flat, self.loop))]
        names = self._names(inside)
        labels = {block.label for block in inside}
        copies = [Block(names[block.label], [self._renamed(row, names) for row in block.instructions])
                  for block in inside]
        first = copies[inside.index(head)]
        self._change_heads(head, first, labels, names)
        blocks: list[Block] = []
        for block in flat.blocks:
            if block is head:
                blocks += copies
            blocks.append(block if block.label in labels else self._redirected(block, head.label, names))
        found = replace(flat, blocks=blocks, definitions={
            **{row.result_id or 0: row for row in flat.parameters},
            **{row.result_id: row for block in blocks for row in block.instructions if row.result_id is not None}},
            origin=flat.origin | {new: flat.original(old) for old, new in names.items()},
            kept=[*flat.kept, *((names[one], names.get(other, other)) for one, other in flat.kept if one in names)],
            full_rounds=flat.full_rounds | {first.label: head.label})
        numbers = labels_of(found.blocks)
        return found, {first.label, *(label for label in labels if label in numbers)}

    def _names(self, inside: list[Block]) -> dict[int, int]:
        """New ids for all that a loop defines."""
        flat = self.flat
        following = max(flat.module.bound, *flat.definitions, *(block.label for block in flat.blocks)) + 1
        old = [identifier for block in inside
               for identifier in (block.label, *(row.result_id for row in block.instructions))]
        return {identifier: following + place for place, identifier in enumerate(old) if identifier is not None}

    def _renamed(self, row: Instruction, names: Mapping[int, int]) -> Instruction:
        if row.opcode in LINES:
            return row
        found = row.with_ids(lambda identifier: names.get(identifier, identifier))
        found.offset = row.offset
        return found

    def _change_heads(self, head: Block, first: Block, labels: set[int], names: Mapping[int, int]) -> None:
        """The copy is entered from outside and goes on to the loop, which is entered from the copy only."""
        exits = [word for word in head.terminator.words[1:3] if word not in labels]
        first.instructions = [self._changed(row, {exits[0]: head.label}) if row is first.terminator else row
                              for row in first.instructions]
        for place, row in enumerate(head.instructions):
            if row.opcode != Op.Phi:
                continue
            words = [word for pair in _sources(row) if pair[1] in labels for word in pair]
            words += [names[row.result_id or 0], first.label]
            head.instructions[place] = Instruction(row.opcode, row.type_id, row.result_id, tuple(words), row.offset)

    def _changed(self, row: Instruction, targets: Mapping[int, int]) -> Instruction:
        found = row.with_ids(lambda identifier: targets.get(identifier, identifier))
        found.offset = row.offset
        return found

    def _redirected(self, block: Block, head: int, names: Mapping[int, int]) -> Block:
        """A block outside: it enters the copy, and its phis have what both loops leave."""
        rows: list[Instruction] = []
        for row in block.instructions:
            found = row
            if row.opcode == Op.Phi:
                more = [(names.get(value, value), names[parent]) for value, parent in _sources(row)
                        if parent in names and parent != head]
                if more:
                    words = (*row.words, *(word for pair in more for word in pair))
                    found = Instruction(row.opcode, row.type_id, row.result_id, words, row.offset)
            elif row is block.terminator:
                found = self._changed(row, {head: names[head]})
            rows.append(found)
        return Block(block.label, rows)
