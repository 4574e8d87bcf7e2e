"""Loops without a condition at their heads, with one there: what counts a loop's rounds looks for it there.

Where the first thing that a round does is to leave or not, ``while (true) { if (…) break; … }``, that block becomes a
part of the head. Where the last thing is to begin another one or not, ``do … while (…)``, the head asks what has been
found, which is at first that there is a round. That is done to loops with matrices only, as nobody else looks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.edit.functions import (
    MERGES,
    Body,
    FunctionEditor,
    Graph,
    change_phis,
    current_line,
    keep_header,
    rename_parent,
    replace_outside,
    targets,
    with_words,
)
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.loops import Loops
from coopmat.spirv.transform.facts import PURE


def with_conditions(module: Module) -> Module:
    """The module with conditions at the heads of such loops; the same one if there are none."""
    editor = FunctionEditor(module)
    changed = [_change(body, header) for body in editor.bodies for header in list(body.blocks) if _is_head(header)]
    changed += [_turn(editor, body, header) for body in editor.bodies for header in list(body.blocks)
                if _is_head(header)]
    return editor.done() if any(changed) else module


def _is_head(block: Block) -> bool:
    return any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1])


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


# --- conditions behind a round ---------------------------------------------------------


def _turn(editor: FunctionEditor, body: Body, header: Block) -> bool:
    """Let a loop ask at its head what it asks at its end, if that is where it ends."""
    loops = Loops(body)
    inside, (before, after) = loops.blocks(header.label), loops.parents(header.label)
    last, out = body.block(after[0]), body.block(header.instructions[-2].words[0])
    labels, end = {block.label for block in inside}, last.terminator
    if len(after) != 1 or end.opcode != Op.BranchConditional or set(end.words[1:3]) != {header.label, out.label} or (
            loops.only_parent(out) is not last or not all(
                labels.issuperset(targets(block)) for block in inside if block is not last)):
        return False
    if not any(_is_matrix(editor, row.type_id) for block in inside for row in block.instructions):
        return False
    if len(before) == 1:
        _move_fixed(body, body.block(before[0]), inside, end.words[0])
    if last is header or any(row.opcode not in (Op.Phi, *LINES) for row in header.instructions[:-2]):
        keep_header(editor, body, header)
        inside = Loops(body).blocks(header.label)
        last = next(block for block in inside if block is not header and header.label in targets(block))
    goes_on = end.words[1] == header.label
    first_time = editor.unique(Op.ConstantTrue if goes_on else Op.ConstantFalse, type_id=editor.unique(Op.TypeBool))
    asked = editor.row(Op.Phi, editor.unique(Op.TypeBool), *_ways(first_time, before, end.words[0], last.label))
    _carry_on(editor, body, header, inside, before, last)
    first = header.terminator.words[0]
    header.instructions.insert(0, asked)
    header.instructions[-1] = make(Op.BranchConditional, asked.result_id or 0,
                                   *((first, out.label) if goes_on else (out.label, first)))
    last.instructions[-1] = make(Op.Branch, header.label)
    change_phis(out, lambda row: _renamed(row, last.label, header.label))
    return True


def _is_matrix(editor: FunctionEditor, type_id: int | None) -> bool:
    return type_id is not None and editor.definition(type_id).opcode == Op.TypeCooperativeMatrixKHR


def _ways(start: int, before: Sequence[int], following: int, last: int) -> list[int]:
    """The words of a loop's phi."""
    return [*(word for label in before for word in (start, label)), following, last]


def _used_behind(body: Body, inside: Sequence[Block]) -> list[int]:
    """What is computed in a loop and used behind it."""
    made = {row.result_id for block in inside for row in block.instructions}
    return list(dict.fromkeys(word for block in body.blocks if block not in inside for row in block.instructions
                              for word in row.ids() if word in made))


def _move_fixed(body: Body, before: Block, inside: Sequence[Block], condition: int) -> None:
    """Compute before a loop what is the same in all rounds, of what its condition and what stands behind it are made
    of: all of it is computed in the first round."""
    homes = {row.result_id or 0: block for block in inside for row in block.instructions if row.opcode in PURE}
    wanted, needed = [condition, *_used_behind(body, inside)], set[int]()
    while wanted:
        one = wanted.pop()
        if one in homes and one not in needed:
            needed.add(one)
            wanted += next(row for row in homes[one].instructions if row.result_id == one).ids()
    moving = {row.result_id for block in inside for row in block.instructions if row.result_id is not None}
    place = -2 if before.instructions[-2:-1] and before.instructions[-2].opcode in MERGES else -1
    for block in inside:
        for row in list(block.instructions):
            if row.result_id in needed and moving.isdisjoint(row.ids()):
                moving.remove(row.result_id)
                block.instructions.remove(row)
                before.instructions[place:place] = [row]


def _carry_on(editor: FunctionEditor, body: Body, header: Block, inside: Sequence[Block], before: Sequence[int],
              last: Block) -> None:
    """Let what is used behind a loop be what its head carries on: what the last round has left."""
    made = {row.result_id: row for block in inside for row in block.instructions if row.result_id is not None}
    carried = {row.words[row.words.index(last.label) - 1]: row.result_id or 0 for row in header.instructions
               if row.opcode == Op.Phi}
    same: dict[int, int] = {}
    for word in _used_behind(body, inside):
        if word not in carried:
            type_id = made[word].type_id or 0
            header.instructions.insert(0, editor.row(Op.Phi, type_id, *_ways(editor.undefined(type_id), before, word,
                                                                             last.label)))
            carried[word] = header.instructions[0].result_id or 0
        same[word] = carried[word]
    replace_outside(body, inside, same)
