"""Short loops are marked as such, so that drivers write them out: arrays of a work-item become registers then."""

from __future__ import annotations

from coopmat.spirv.edit.functions import Body, FunctionEditor, with_words
from coopmat.spirv.grammar import LoopControl, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.transform.enlarge.indices import Counter, Indices

MOST_ROUNDS = 64
MOST_INSTRUCTIONS = 4096
"""Of a loop that is written out, with what is written out in it."""


def with_hints(module: Module) -> Module:
    """The module with the control Unroll at loops whose few rounds are known, unless they say something themselves."""
    if not any(True for _ in module.of_opcode(Op.LoopMerge)):
        return module
    editor = FunctionEditor(module)
    changed = [_mark(editor, body) for body in editor.bodies if body.blocks]
    return editor.done() if any(changed) else module


def _mark(editor: FunctionEditor, body: Body) -> bool:
    """Mark the loops of a function, inner ones first."""
    indices = Indices(editor, body, None)
    loops = sorted(((indices.blocks_of_loop(one.header), one) for one in indices.counters.values()),
                   key=lambda found: len(found[0]))
    sizes = {block.label: len(block.instructions) for block in body.blocks}
    changed = False
    for blocks, counter in loops:
        rounds = _rounds(counter)
        size = sum(sizes[block.label] for block in blocks)
        header = next(block for block in blocks if block.label == counter.header)
        if rounds is None or size * rounds > MOST_INSTRUCTIONS or header.instructions[-2].words[2] != LoopControl.None_:
            continue
        sizes |= {block.label: sizes[block.label] * max(1, rounds) for block in blocks}
        _set_control(header)
        changed = True
    return changed


def _rounds(counter: Counter) -> int | None:
    """How often a loop runs, if that is known and not often."""
    found = counter.rounds({})
    return found[1] if found is not None and found[0] == found[1] <= MOST_ROUNDS else None


def _set_control(header: Block) -> None:
    row = header.instructions[-2]
    header.instructions[-2] = with_words(row, (*row.words[:2], LoopControl.Unroll))
