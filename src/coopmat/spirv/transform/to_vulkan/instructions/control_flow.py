"""Branches and merges."""

from __future__ import annotations

from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation

_CONTROLS = 0x1FF
"""Bits of loop controls that shaders have, too."""


def _branch(t: Translation, row: Instruction) -> None:
    t.writer.out.emit(Op.Branch, t.value(row.words[0]))


def _conditional(t: Translation, row: Instruction) -> None:
    condition, yes, no, *weights = row.words
    if yes == no:  # not allowed from version 1.6 on
        t.writer.out.emit(Op.Branch, t.value(yes))
        return
    t.writer.out.emit(Op.BranchConditional, t.value(condition), t.value(yes), t.value(no), *weights)


def _switch(t: Translation, row: Instruction) -> None:
    words = list(row.words)
    for place in row.id_places():
        words[place] = t.value(words[place])
    t.writer.out.append(make(Op.Switch, *words, context=row.context))


def _selection_merge(t: Translation, row: Instruction) -> None:
    if t.end.opcode == Op.BranchConditional and t.end.words[1] == t.end.words[2]:
        return
    t.writer.out.emit(Op.SelectionMerge, t.value(row.words[0]), row.words[1])


def _loop_merge(t: Translation, row: Instruction) -> None:
    merge, going_on, control, *rest = row.words
    if control & ~_CONTROLS:
        control, rest = 0, []
    t.writer.out.emit(Op.LoopMerge, t.value(merge), t.value(going_on), control, *rest)


def _return(t: Translation, row: Instruction) -> None:
    t.writer.out.emit(Op.Return)


def _unreachable(t: Translation, row: Instruction) -> None:
    t.writer.out.emit(Op.Unreachable)


def _line(t: Translation, row: Instruction) -> None:
    file, line, column = row.words
    t.writer.out.line(t.writer.out.string(t.module.strings[file]), line, column)


def _no_line(t: Translation, row: Instruction) -> None:
    """A line ends with its block at the latest."""


HANDLERS: dict[int, Handler] = {
    Op.Branch: _branch, Op.BranchConditional: _conditional, Op.Switch: _switch, Op.SelectionMerge: _selection_merge,
    Op.LoopMerge: _loop_merge, Op.Return: _return, Op.Unreachable: _unreachable, Op.Line: _line, Op.NoLine: _no_line,
}
