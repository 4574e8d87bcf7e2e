"""Functions that modules import: calls of those that failed assertions call are replaced, all others are refused.

A driver has none of them; some do not launch a kernel that calls one, and say nothing. A failed assertion prints what
it says, by the driver's printf, and the work-item goes on.
"""

from __future__ import annotations

from collections.abc import Collection

from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.analysis.imports import imported_name, is_assertion, unresolved
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.edit.linker import ALL_VARIABLES
from coopmat.spirv.grammar import OPENCL_STD, Decoration, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.matrices.lanes import add_to_interfaces

_TEXT = b"coopmat: a work-item's assertion failed: %s\n\0"


def resolved(module: Module) -> Module:
    """The module with what prints its failed assertions. Error for another function that is imported and called."""
    for row in reachable_instructions(module, None):
        for callee in callees_of(row) if row.opcode == Op.FunctionCall else ():
            name = imported_name(module, callee)
            if name is not None and not is_assertion(module, callee):
                raise unresolved("function", name)
    imported = {function.id for function in module.functions if is_assertion(module, function.id)}
    if not imported:
        return module
    editor = FunctionEditor(module)
    text = _text(editor)
    editor.bodies = [body for body in editor.bodies if body.id not in imported]
    for body in editor.bodies:
        for block in body.blocks:
            block.instructions[:] = [
                one for row in block.instructions
                for one in (_printed(editor, text, row) if _calls(row, imported) else [row])]
    editor.head = [row for row in editor.head if not (
        row.opcode in (Op.Name, Op.Decorate) and row.words[0] in imported)]
    return editor.done()


def _calls(row: Instruction, imported: Collection[int]) -> bool:
    return row.opcode == Op.FunctionCall and row.words[0] in imported


def _text(editor: FunctionEditor) -> int:
    """A pointer to the format."""
    byte = editor.unique(Op.TypeInt, 8, 0)
    kind = editor.row(Op.TypeArray, 0, byte, editor.constant(len(_TEXT)))
    kind = make(Op.TypeArray, byte, editor.constant(len(_TEXT)), result_id=kind.result_id)
    editor.head.append(editor.add(kind))
    content = editor.row(Op.ConstantComposite, kind.result_id or 0, *(editor.constant(one, 8) for one in _TEXT))
    variable = editor.row(Op.Variable, editor.type_pointer(StorageClass.UniformConstant, kind.result_id or 0),
                          StorageClass.UniformConstant, content.result_id or 0)
    editor.head += [content, variable]
    editor.annotate([make(Op.Decorate, variable.result_id or 0, Decoration.Constant)])
    if editor.module.version >= ALL_VARIABLES:
        add_to_interfaces(editor, variable.result_id or 0)
    return variable.result_id or 0


def _printed(editor: FunctionEditor, text: int, call: Instruction) -> list[Instruction]:
    """What prints the first argument of a call, which is the assertion's text: in the place of the call, as drivers
    want to see where texts come from."""
    byte = editor.type_pointer(StorageClass.UniformConstant, editor.unique(Op.TypeInt, 8, 0))
    zero = editor.constant(0)
    first = editor.row(Op.InBoundsPtrAccessChain, byte, text, zero, zero)
    printed = make(Op.ExtInst, editor.extended_set(), int(OPENCL_STD["printf"]), first.result_id or 0, call.words[1],
                   type_id=editor.unique(Op.TypeInt, 32, 0), result_id=editor.new_id(), context="OpenCL.std")
    return [first, editor.add(printed)]
