"""A kernel that can be left at its barriers: without calls, and with a block's beginning at each meeting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from coopmat.spirv.grammar import FunctionControl, Op
from coopmat.spirv.module import Block, Function, Instruction, Module
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.targets.analysis.flatten import LINES, with_parents

BEFORE = LINES | {Op.Phi}
MERGES = frozenset({Op.LoopMerge, Op.SelectionMerge})


def without_calls(module: Module) -> Module:
    """The module with each call replaced by what it calls."""
    return inline(module.rewritten(_may_be_inlined), Goal(), lambda note: None)


def _may_be_inlined(row: Instruction) -> Instruction:
    if row.opcode != Op.Function or not row.words[0] & FunctionControl.DontInline:
        return row
    words = (row.words[0] & ~FunctionControl.DontInline, *row.words[1:])
    return Instruction(row.opcode, row.type_id, row.result_id, words, row.offset)


def cut(source: Function, bound: int, meets: Callable[[Instruction], bool]) -> Function:
    """The function with a block of its own before each instruction at which a work-group meets. ``bound``: ids from
    there on are free."""
    blocks: list[Block] = []
    last: dict[int, int] = {}  # label of a block → label of what its end became
    for block in source.blocks:
        current = Block(block.label)
        blocks.append(current)
        merge = block.instructions[-2:-1] if block.instructions[-2:-1] and block.instructions[-2].opcode in MERGES \
            else []
        line: Instruction | None = None
        for row in block.instructions[:-1 - len(merge)]:
            if meets(row) and any(one.opcode not in BEFORE for one in current.instructions):
                following = Block(bound)
                bound += 1
                end = Instruction(Op.Branch, None, None, (following.label,), row.offset)
                current.instructions += [*(one for one in merge if one.opcode == Op.LoopMerge), end]
                merge = [one for one in merge if one.opcode != Op.LoopMerge]
                current = following
                blocks.append(current)
                current.instructions += [line] if line is not None else []
                last[block.label] = current.label
            line = row if row.opcode in LINES else line
            current.instructions.append(row)
        current.instructions += [*merge, block.terminator]
    return replace(source, blocks=[with_parents(block, last) for block in blocks])
