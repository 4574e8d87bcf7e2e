"""One kernel of a module by itself."""

from __future__ import annotations

from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.edit.functions import DECORATIONS, NAMES, Body, FunctionEditor
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module import Module

_OF_ENTRIES = frozenset({Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId})


def alone(module: Module, kernel: str) -> Module:
    """The module without other kernels, and without functions and variables that only these need."""
    entries = list(zip(module.of_opcode(Op.EntryPoint), module.entry_points, strict=True))
    own, entry = next((row, one) for row, one in entries if one.name == kernel and one.model == ExecutionModel.Kernel)
    if len(entries) == 1:
        return module
    editor = FunctionEditor(module)
    editor.bodies = _reached(editor, entry.function_id)
    kept = [row for row in editor.head if row is own or row.opcode not in _OF_ENTRIES or (
        row.opcode != Op.EntryPoint and row.words[0] == entry.function_id)]
    waiting = [row for row in kept if row.opcode not in NAMES | DECORATIONS | {Op.Variable}]
    waiting += [row for body in editor.bodies for row in body.rows()]
    variables = {row.result_id: row for row in kept if row.opcode == Op.Variable}
    used: set[int | None] = set()
    while waiting:
        found = variables.keys() & set(waiting.pop().ids()) - used
        used |= found
        waiting += [variables[one] for one in found]
    editor.head = [row for row in kept if row.opcode != Op.Variable or row.result_id in used]
    return editor.done()


def _reached(editor: FunctionEditor, function: int) -> list[Body]:
    """The functions that one needs, and itself."""
    bodies = {body.id: body for body in editor.bodies}
    found: set[int] = set()
    waiting = [function]
    while waiting:
        identifier = waiting.pop()
        if identifier in bodies and identifier not in found:
            found.add(identifier)
            waiting += [callee for row in bodies[identifier].rows() for callee in callees_of(row)]
    return [body for body in editor.bodies if body.id in found]
