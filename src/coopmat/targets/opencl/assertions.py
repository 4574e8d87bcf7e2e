"""Functions that modules import: those that failed assertions call are defined here, all others are refused.

A driver has none of them; some do not launch a kernel that calls one, and say nothing. A failed assertion prints what
it says, by the driver's printf, and the work-item goes on.
"""

from __future__ import annotations

from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.analysis.imports import imported_name, is_assertion, unresolved
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import OPENCL_STD, Decoration, FunctionControl, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import make

_TEXT = b"coopmat: a work-item's assertion failed: %s\n\0"


def resolved(module: Module) -> Module:
    """The module with functions for its assertions. Error for another function that is imported and called."""
    called = {callee for row in reachable_instructions(module, None) if row.opcode == Op.FunctionCall
              for callee in callees_of(row)}
    imported = {one: name for one in called if (name := imported_name(module, one)) is not None}
    for one, name in imported.items():
        if not is_assertion(module, one):
            raise unresolved("function", name)
    if not imported:
        return module
    editor = FunctionEditor(module)
    text = _text(editor)
    for body in editor.bodies:
        if body.id in imported:
            _define(editor, body, text)
    editor.head = [row for row in editor.head if not (
        row.opcode == Op.Decorate and row.words[0] in imported and row.words[1] == Decoration.LinkageAttributes)]
    defined = [body for body in editor.bodies if body.id in imported]
    editor.bodies = [*(body for body in editor.bodies if not body.blocks),
                     *defined, *(body for body in editor.bodies if body.blocks and body not in defined)]
    return editor.done()


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
    return variable.result_id or 0


def _define(editor: FunctionEditor, body: Body, text: int) -> None:
    """Give a declared function a body that prints its first argument, which is the assertion's text."""
    byte = editor.type_pointer(StorageClass.UniformConstant, editor.unique(Op.TypeInt, 8, 0))
    zero = editor.constant(0)
    first = editor.row(Op.InBoundsPtrAccessChain, byte, text, zero, zero)
    said = next((one for one in body.parameters if editor.definition(one.type_id or 0).opcode == Op.TypePointer), None)
    words = [first.result_id or 0, *([] if said is None else [said.result_id or 0])]
    printed = make(Op.ExtInst, editor.extended_set(), int(OPENCL_STD["printf"]), *words,
                   type_id=editor.unique(Op.TypeInt, 32, 0), result_id=editor.new_id(), context="OpenCL.std")
    function = body.instruction
    body.head = [make(Op.Function, FunctionControl.DontInline, *row.words[1:], type_id=row.type_id,
                      result_id=row.result_id) if row is function else row for row in body.head]
    label = editor.new_id()
    editor.add(make(Op.Label, result_id=label))
    body.blocks.append(Block(label, [first, editor.add(printed), make(Op.Return)]))
