"""Loops without a condition at their heads, ``while (true) { if (…) break; … }``, with the one that stands first there.

What counts a loop's rounds looks for its condition at the head. Where the first thing that a round does is to leave or
not, that block becomes a part of the head.
"""

from __future__ import annotations

from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    Graph,
    change_phis,
    current_line,
    rename_parent,
    with_words,
)
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make


def with_conditions(module: Module) -> Module:
    """The module with conditions at the heads of such loops; the same one if there are none."""
    editor = FunctionEditor(module)
    changed = [_change(body, header) for body in editor.bodies for header in list(body.blocks)
               if any(row.opcode == Op.LoopMerge for row in header.instructions[-2:-1])]
    return editor.done() if any(changed) else module


def _change(body: Body, header: Block) -> bool:
    """Put a loop's first block into its head, if that may be."""
    merge, end = header.instructions[-2:]
    first = body.block(end.words[0]) if end.opcode == Op.Branch else header
    parents = _parents(body)
    if first is header or first.label in merge.words[:2] or parents[first.label] != [header.label] or (
            first.terminator.opcode != Op.BranchConditional):
        return False
    rows = [row for row in first.instructions[:-1] if row.opcode != Op.SelectionMerge]
    ways = {label: body.block(label) for label in first.terminator.words[1:3]}
    leaving = [block for label, block in ways.items() if label == merge.words[0] or (
        _only_leads_to(block, merge.words[0]) and parents[label] == [first.label])]
    if len(ways) != 2 or len(leaving) != 1 or any(row.opcode in (Op.LoopMerge, Op.Phi) for row in rows):
        return False
    (out,), behind = leaving, body.block(merge.words[0])
    line = [make(Op.NoLine)] if current_line(header.instructions) is not None else []
    header.instructions[-2:] = [*line, *rows, merge, with_words(first.terminator, (
        behind.label if word == out.label else word for word in first.terminator.words))]
    gone = [first] if out is behind else [first, out]
    for block in gone:
        change_phis(behind, lambda row, old=block.label: _renamed(row, old, header.label))  # type: ignore[misc]
    body.blocks = [block for block in body.blocks if block not in gone]
    rename_parent(body, header, first.label)
    return True


def _parents(body: Body) -> dict[int, list[int]]:
    """The labels of the blocks that lead to each one."""
    graph = Graph.of(body)
    return {block.label: [body.blocks[one].label for one in graph.predecessors[number]]
            for number, block in enumerate(body.blocks)}


def _only_leads_to(block: Block, target: int) -> bool:
    """Whether a block does nothing but to branch to another one."""
    return [(row.opcode, row.words) for row in block.instructions if row.opcode not in LINES] == [
        (Op.Branch, (target,))]


def _renamed(phi: Instruction, old: int, new: int) -> Instruction:
    """A phi that names another block."""
    return with_words(phi, (new if place % 2 and word == old else word for place, word in enumerate(phi.words)))
