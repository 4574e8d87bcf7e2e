"""What drivers are told of loops: which are short, so that they write them out and arrays of a work-item become
registers; and that signed counters do not wrap around, as a loop that counts so far would not end."""

from __future__ import annotations

from collections.abc import Set

from coopmat.spirv.edit.functions import Body, FunctionEditor, with_words
from coopmat.spirv.grammar import Decoration, LoopControl, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.enlarge.conditions import Counter
from coopmat.spirv.transform.enlarge.indices import Indices

MOST_ROUNDS = 64
MOST_INSTRUCTIONS = 4096
"""Of a loop that is written out, with what is written out in it."""
_SIGNED = frozenset({Op.SLessThan, Op.SLessThanEqual, Op.SGreaterThan, Op.SGreaterThanEqual})


def with_hints(module: Module) -> Module:
    """The module with the control Unroll at loops whose few rounds are known, unless they say something themselves, and
    with NoSignedWrap at the steps of counters."""
    if not any(True for _ in module.of_opcode(Op.LoopMerge)):
        return module
    editor = FunctionEditor(module)
    changed = [_mark(editor, body) for body in editor.bodies if body.blocks]
    return editor.done() if any(changed) else module


def _mark(editor: FunctionEditor, body: Body) -> bool:
    """Mark the loops of a function, inner ones first; whether there are any to be marked."""
    indices = Indices(editor, body, None)
    loops = sorted(((indices.loops.blocks(one.header), one) for one in indices.counters.values()),
                   key=lambda found: len(found[0]))
    sizes = {block.label: len(block.instructions) for block in body.blocks}
    changed = False
    for blocks, counter in loops:
        rounds = _rounds(counter)
        size = sum(sizes[block.label] for block in blocks)
        header = next(block for block in blocks if block.label == counter.header)
        changed |= _mark_steps(editor, header, counter)
        if rounds is None or size * rounds > MOST_INSTRUCTIONS or header.instructions[-2].words[2] != LoopControl.None_:
            continue
        sizes |= {block.label: sizes[block.label] * max(1, rounds) for block in blocks}
        _set_control(header)
        changed = True
    return changed


def _mark_steps(editor: FunctionEditor, header: Block, counter: Counter) -> bool:
    """Mark the additions that make the counter of the next round."""
    comparison = editor.definition(counter.condition)
    if comparison.opcode not in _SIGNED:
        return False
    counters = {row.result_id for row in header.instructions if row.opcode == Op.Phi} & set(comparison.words)
    steps = {value for row in header.instructions if row.opcode == Op.Phi and row.result_id in counters
             for value in row.words[::2] if _adds_to(editor, value, counters)}
    editor.annotate(make(Op.Decorate, value, Decoration.NoSignedWrap) for value in steps)
    return bool(steps)


def _adds_to(editor: FunctionEditor, value: int, counters: Set[int | None]) -> bool:
    row = editor.definition(value)
    return row.opcode == Op.IAdd and not counters.isdisjoint(row.words) and not any(
        name == Decoration.NoSignedWrap for name, _ in editor.module.decorations(value))


def _rounds(counter: Counter) -> int | None:
    """How often a loop runs, if that is known and not often."""
    found = counter.rounds({})
    return found[1] if found is not None and found[0] == found[1] <= MOST_ROUNDS else None


def _set_control(header: Block) -> None:
    row = header.instructions[-2]
    header.instructions[-2] = with_words(row, (*row.words[:2], LoopControl.Unroll))
