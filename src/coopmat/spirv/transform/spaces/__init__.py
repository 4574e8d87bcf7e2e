"""Generic pointers become pointers into the memory that they can only point into, and integers with a tag elsewhere.

What cannot be told: pointers that come out of memory or from parameters. So functions are inlined and variables made
values first, where that matters.
"""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.edit.functions import Body, FunctionEditor, first_place, replace_uses, with_words
from coopmat.spirv.edit.ordering import ordered
from coopmat.spirv.grammar import AddressingModel, Capability, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.spirv.transform.spaces.resolving import Resolving
from coopmat.spirv.transform.spaces.storages import Storages
from coopmat.spirv.transform.spaces.tags import Tagging, without_generic_types

_TAKING_GENERIC = frozenset({Capability.Pipes, Capability.DeviceEnqueue})


def spaces(module: Module, goal: Goal, say: Say) -> Module:
    """The module without generic pointers. Error where addresses have 32 bits and tags are needed."""
    module = resolved(module, goal, say)
    if not has_generic_pointers(module) or _TAKING_GENERIC.intersection(module.capabilities):
        return module
    say(f"{_tagged(module)} of the remaining ones became integers with a tag")
    return _with_tags(module)


def resolved(module: Module, goal: Goal, say: Say) -> Module:
    """The module without those generic pointers that can only lead to one memory."""
    if not has_generic_pointers(module):
        return module
    if _TAKING_GENERIC.intersection(module.capabilities):
        say("pipes and queues of the device take generic pointers: left")
        return module
    editor = FunctionEditor(module)
    for body in editor.bodies:
        if body.id in {entry.function_id for entry in module.entry_points}:
            _with_global_parameters(editor, body)
    count = _resolve(editor)
    if count:
        say(f"{counted(count, 'generic pointer')} resolved")
    return editor.done()


def has_generic_pointers(module: Module) -> bool:
    """Whether there are any."""
    return any(item.words[0] == StorageClass.Generic for item in module.of_opcode(Op.TypePointer))


def _resolve(editor: FunctionEditor) -> int:
    storages = Storages(editor)
    functions = [Resolving(editor, body, storages) for body in editor.bodies if body.blocks]
    for function in functions:
        function.done()
    return sum(function.count for function in functions)


def _tagged(module: Module) -> int:
    editor = FunctionEditor(module)
    storages = Storages(editor)
    return sum(row.result_id is not None and storages.is_generic(row.result_id)
               for body in editor.bodies for row in (*body.parameters, *body.rows()))


def _with_global_parameters(editor: FunctionEditor, body: Body) -> None:
    """What a host binds to a generic parameter of a kernel is global memory."""
    casts: list[Instruction] = []
    same: dict[int, int] = {}
    for index, item in enumerate(body.head):
        kind = editor.definition(item.type_id) if item.opcode == Op.FunctionParameter and item.type_id else None
        if kind is None or kind.opcode != Op.TypePointer or kind.words[0] != StorageClass.Generic:
            continue
        known = editor.type_pointer(StorageClass.CrossWorkgroup, kind.words[1])
        body.head[index] = editor.add(Instruction(item.opcode, known, item.result_id, item.words, item.offset))
        casts.append(editor.row(Op.PtrCastToGeneric, item.type_id or 0, item.result_id or 0))
        same[item.result_id or 0] = casts[-1].result_id or 0
    if not casts or not body.blocks:
        return
    replace_uses(body, same)
    place = first_place(body.blocks[0])
    body.blocks[0].instructions[place:place] = casts
    result = body.instruction.type_id or 0
    signature = editor.unique(Op.TypeFunction, result, *(item.type_id or 0 for item in body.parameters))
    body.head = [with_words(item, (item.words[0], signature)) if item.opcode == Op.Function else item
                 for item in body.head]


def _with_tags(module: Module) -> Module:
    if any(item.words[0] != AddressingModel.Physical64 for item in module.of_opcode(Op.MemoryModel)):
        raise Error("generic pointers that may point into several memories become 64-bit integers: the module's "
                    "addresses must have 64 bits (addressing model Physical64)")
    editor = FunctionEditor(module)
    storages, types = Storages(editor), TypeTable(module, 1)
    for body in editor.bodies:
        if body.blocks:
            Tagging(editor, body, storages, types).done()
    head = list(without_generic_types(editor))
    place = next(index for index, item in enumerate(head) if item.type_id is not None or
                 item.name.startswith("OpType"))
    editor.head = [*head[:place], *ordered(head[place:])]
    return editor.done()
