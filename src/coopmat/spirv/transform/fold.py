"""Constants are folded, branches on them resolved, what is computed twice or never used is removed.

Specialisation constants are no constants: a module keeps them. Memory is not looked at: what loads and stores do to
each other, :mod:`coopmat.spirv.transform.values` knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from coopmat.spirv.analysis.control_flow import successors_of, switch_cases
from coopmat.spirv.analysis.dominators import preorder
from coopmat.spirv.edit.functions import (
    MERGES,
    Body,
    FunctionEditor,
    Graph,
    change_phis,
    current_line,
    remove_unreachable,
    rename_parent,
    replace_uses,
    without_parents,
)
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import MemoryAccess, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.facts import PURE, Facts
from coopmat.spirv.transform.goal import Goal, Say
from coopmat.spirv.transform.simplify import Simplifying

MOST_ROUNDS = 20
"""What is folded lets more be folded; nearly always two rounds find it all."""

_UNUSED_TOO = PURE | {Op.Phi, Op.Variable, Op.Load, Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixLoadCheckedINTEL}
_LOADS = {Op.Load: 1, Op.CooperativeMatrixLoadKHR: 3, Op.CooperativeMatrixLoadCheckedINTEL: 7}
"""Load → the place of its memory operands."""


def fold(module: Module, goal: Goal, say: Say) -> Module:
    """The module with less in it."""
    editor = FunctionEditor(module)
    found: Counter[str] = Counter()
    for body in editor.bodies:
        if body.blocks:
            _Folding(editor, body, found).done()
    for what, count in found.items():
        if count:
            say(f"{what}: {count}")
    return editor.done() if found.total() else module


class _Folding:
    """One function."""

    def __init__(self, editor: FunctionEditor, body: Body, found: Counter[str]) -> None:
        self.editor = editor
        self.body = body
        self.found = found
        self.facts = Facts(editor)

    def done(self) -> None:
        for _ in range(MOST_ROUNDS):
            before = self.found.total()
            self.found["blocks removed that nobody reaches"] += remove_unreachable(self.body)
            Simplifying(self.facts, self.body, self.found).done()
            self.found["unused instructions removed"] += remove_unused(self.facts, self.body)
            self._resolve_branches()
            self._join_blocks()
            if self.found.total() == before:
                return

    # --- branches -----------------------------------------------------------------------

    def _resolve_branches(self) -> None:
        for block in self.body.blocks:
            target = self._only_target(block.terminator) or self._meeting(block)
            if target is not None and self._goes_to(block, target):
                self.found["branches resolved"] += 1
        heads = [number for number, block in enumerate(self.body.blocks)
                 if any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1])]
        if not heads:
            return
        graph = Graph.of(self.body)
        for head in heads:
            if head in graph.order and not _comes_back(graph, head):
                del self.body.blocks[head].instructions[-2]
                self.found["loops of one round opened"] += 1

    def _only_target(self, end: Instruction) -> int | None:
        if end.opcode == Op.BranchConditional:
            chosen, other = end.words[1:3]
            known = self.facts.bits(end.words[0])
            return chosen if chosen == other or (known and known[0]) else other if known else None
        if end.opcode == Op.Switch:
            known = self.facts.bits(end.words[0])
            if known is None:
                return None
            kind = self.facts.types[self.editor.type_of(end.words[0]).result_id or 0]
            default, cases = switch_cases(end, kind.size)
            return cases.get(known[0], default)
        return None

    def _meeting(self, block: Block) -> int | None:
        """Where the arms of a selection lead that do nothing; None if they do anything."""
        merge = block.instructions[-2:-1]
        if not merge or merge[0].opcode != Op.SelectionMerge or block.terminator.opcode != Op.BranchConditional:
            return None
        meeting, arms = merge[0].words[0], block.terminator.words[1:3]
        if any(row.opcode == Op.Phi for row in self.body.block(meeting).instructions):
            return None
        does_nothing = all(label == meeting or [row.words for row in self.body.block(label).instructions
                                                if row.opcode not in LINES] == [(meeting,)] for label in arms)
        return (meeting if meeting in arms else arms[0]) if does_nothing else None

    def _goes_to(self, block: Block, target: int) -> bool:
        """Let a block branch to one of its targets only; not where that would leave a loop without the way to its merge
        block, by which all know what belongs to the loop."""
        old = list(block.instructions)
        lost = {label for label in _labels(block.terminator) if label != target}
        loops = self._loops()
        block.instructions[-1] = Instruction(Op.Branch, None, None, (target,), block.terminator.offset)
        if len(old) > 1 and old[-2].opcode == Op.SelectionMerge:
            del block.instructions[-2]
        if loops and not self._keeps(loops):
            block.instructions = old
            return False
        for other in self.body.blocks:
            if other.label in lost:
                change_phis(other, lambda row: without_parents(row, {block.label}))
        return True

    def _loops(self) -> list[tuple[int, int]]:
        """The heads and the merge blocks of loops, both of which can be reached, as numbers."""
        numbers = {block.label: number for number, block in enumerate(self.body.blocks)}
        found = [(number, numbers[row.words[0]]) for number, block in enumerate(self.body.blocks)
                 for row in block.instructions[-2:-1] if row.opcode == Op.LoopMerge]
        if not found:
            return []
        entered = set(preorder(0, successors_of(self.body.blocks).__getitem__)[0])
        return [loop for loop in found if entered.issuperset(loop)]

    def _keeps(self, loops: Sequence[tuple[int, int]]) -> bool:
        """Whether the merge blocks of those loops can be reached that are loops still."""
        graph = Graph.of(self.body)
        entered = set(graph.order)
        return all(merge in entered or head not in entered or not _comes_back(graph, head) for head, merge in loops)

    def _join_blocks(self) -> None:
        """Let a block that only one other leads to be the end of that one."""
        named = {word for row in self.body.rows() if row.opcode in MERGES
                 for word in row.words[:2 if row.opcode == Op.LoopMerge else 1]}
        sources = Counter(label for block in self.body.blocks for label in dict.fromkeys(_labels(block.terminator)))
        by_label = {block.label: block for block in self.body.blocks}
        same: dict[int, int] = {}
        gone: set[int] = set()
        for block in self.body.blocks:
            while block.label not in gone and block.terminator.opcode == Op.Branch:
                label = block.terminator.words[0]
                has_merge = len(block.instructions) > 1 and block.instructions[-2].opcode in MERGES
                if has_merge or sources[label] != 1 or label in named or label in gone or label == block.label:
                    break
                following = by_label[label]
                same |= {row.result_id or 0: row.words[0] for row in following.instructions if row.opcode == Op.Phi}
                rest = [row for row in following.instructions if row.opcode != Op.Phi]
                line = [make(Op.NoLine)] if current_line(block.instructions) is not None else []
                block.instructions[-1:] = [*line, *rest]
                rename_parent(self.body, block, label)
                gone.add(label)
                self.found["blocks joined to the one before"] += 1
        self.body.blocks = [block for block in self.body.blocks if block.label not in gone]
        replace_uses(self.body, same)


# --- what is not used -------------------------------------------------------------------


def remove_unused(facts: Facts, body: Body, also: Callable[[Instruction], bool] = lambda _: False) -> int:
    """Take out instructions without an effect whose result nobody uses, directly or in a circle; how many. ``also``:
    whether another one may go."""
    def may_go(row: Instruction) -> bool:
        return also(row) or _may_go(facts, row)

    definitions = {row.result_id: row for row in body.rows() if row.result_id is not None}
    waiting = [row for row in body.rows() if not may_go(row) and row.opcode not in LINES]
    needed: set[int] = set()
    while waiting:
        for identifier in waiting.pop().ids():
            if identifier in definitions and identifier not in needed:
                needed.add(identifier)
                waiting.append(definitions[identifier])
    removed = 0
    for block in body.blocks:
        kept = [row for row in block.instructions
                if row.result_id is None or row.result_id in needed or not may_go(row)]
        removed += len(block.instructions) - len(kept)
        block.instructions = kept
    return removed


def _may_go(facts: Facts, row: Instruction) -> bool:
    if row.opcode in _LOADS:
        access = row.words[_LOADS[Op(row.opcode)]:]
        return not (access and access[0] & MemoryAccess.Volatile)
    if row.opcode == Op.CooperativeMatrixPerElementOpEXT:
        return facts.only_computes(row.words[1])
    return row.opcode in _UNUSED_TOO or (row.opcode == Op.ExtInst and facts.is_pure_function(row))


# --- the graph --------------------------------------------------------------------------


def _labels(end: Instruction) -> Sequence[int]:
    if end.opcode == Op.Branch:
        return end.words[:1]
    if end.opcode == Op.BranchConditional:
        return end.words[1:3]
    if end.opcode == Op.Switch:
        size = int(end.context or 1) + 1
        return (end.words[1], *end.words[1 + size::size])
    return ()


def _is_dominated(graph: Graph, block: int, above: int) -> bool:
    while block != above and block in graph.parent:
        block = graph.parent[block]
    return block == above


def _comes_back(graph: Graph, head: int) -> bool:
    """Whether a block is the head of a loop."""
    return any(_is_dominated(graph, source, head) for source in graph.predecessors[head])
