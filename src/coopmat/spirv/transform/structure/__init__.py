"""Any control flow becomes structured control flow, as shaders need it (SPIR-V 2.11)."""

from __future__ import annotations

from collections import Counter

from coopmat.spirv.edit.functions import (
    MERGES,
    Body,
    FunctionEditor,
    change_phis,
    remove_unreachable,
    with_words,
)
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.spirv.transform.structure.constructs import Writer, targets_of
from coopmat.spirv.transform.structure.parting import parting, with_branches
from coopmat.spirv.transform.structure.repair import Phis, Repair
from coopmat.spirv.transform.values import promote
from coopmat.spirv.validate.families.structured import is_structured
from coopmat.spirv.validate.view import ModuleView


def structure(module: Module, goal: Goal, say: Say) -> Module:
    """The module with structured control flow in all functions; those that have it stay as they are, if work-items meet
    in shaders where they do in kernels.

    Work-items meet again where they did before, and no instruction but branches and phis is written twice. Error for
    loops nested too deep.
    """
    module = with_branches(module)
    editor = FunctionEditor(module)
    if sum(map(remove_unreachable, editor.bodies)):
        module = editor.done()
    chosen = unstructured(module) | parting(module)
    if not chosen:
        return module
    editor = FunctionEditor(module)
    for body in editor.bodies:
        if body.id in chosen:
            _structure(editor, body)
    say(f"the control flow of {counted(len(chosen), 'function')} became structured")
    return editor.done()


def unstructured(module: Module) -> set[int]:
    """The functions whose control flow breaks the rules for shaders."""
    view = ModuleView(module)
    return {module.instructions[function.first].result_id or 0 for function in view.flow.functions
            if function.blocks and not is_structured(view, function)}


def _structure(editor: FunctionEditor, body: Body) -> None:
    phis = Phis(editor, body)
    writer = Writer(editor, body, phis.stores)
    body.blocks = writer.written()
    repair = Repair(editor, body)
    repair.done()
    added = [*phis.variables, *repair.variables.values()]
    body.blocks[0].instructions[:0] = added
    promote(editor, body, {row.result_id or 0 for row in (writer.where, *added)})
    _remove_empty(body)


def _remove_empty(body: Body) -> None:
    """Take out blocks that do nothing but go on, where the one block that leads to them can do that."""
    sources: dict[int, list[Block]] = {}
    for block in body.blocks:
        for label in dict.fromkeys(targets_of(block.terminator)):
            sources.setdefault(label, []).append(block)
    named = Counter(word for row in body.rows() if row.opcode in MERGES
                    for word in row.words[:2 if row.opcode == Op.LoopMerge else 1])
    by_label = {block.label: block for block in body.blocks}
    gone: set[int] = set()
    for block in body.blocks[1:]:
        before, end = sources.get(block.label, []), block.terminator
        if len(block.instructions) > 1 or end.opcode != Op.Branch or len(before) != 1 or block.label in named:
            continue
        source, target = before[0], end.words[0]
        last = source.terminator
        if target in targets_of(last) or (last.opcode == Op.Switch and target != source.instructions[-2].words[0]):
            continue
        source.instructions[-1] = with_words(last, (
            target if place in last.id_places() and word == block.label else word
            for place, word in enumerate(last.words)))
        change_phis(by_label[target], lambda phi, old=block.label, new=source.label: with_words(phi, (  # type: ignore[misc]
            new if place % 2 and word == old else word for place, word in enumerate(phi.words))))
        sources[target] = [source if one is block else one for one in sources[target]]
        gone.add(block.label)
    body.blocks = [block for block in body.blocks if block.label not in gone]
