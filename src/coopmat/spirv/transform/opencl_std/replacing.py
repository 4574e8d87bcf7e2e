"""The pass itself: which instructions are replaced, and the linking of what they call."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.edit.linker import link
from coopmat.spirv.grammar import Decoration, Op, extended_names
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_string
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.spirv.transform.opencl_std import functions, library
from coopmat.spirv.transform.opencl_std.code import Code, Imports
from coopmat.spirv.transform.opencl_std.memory import HANDLERS as MEMORY

SET = "OpenCL.std"
_OPERANDS = 2  # where they begin, behind the set and the number
_ALWAYS_KEPT = frozenset({"printf"})


def opencl_std(module: Module, goal: Goal, say: Say) -> Module:
    """The module without instructions of OpenCL.std, but for printf and those that the goal keeps."""
    count = sum(1 for name, _ in _uses(module) if name not in _ALWAYS_KEPT)
    changed = without_opencl_std(module, goal.functions)
    if changed is not module:
        say(f"{counted(count, 'function')} of OpenCL.std became core SPIR-V")
    return changed


def without_opencl_std(module: Module, kept: Collection[str] = ()) -> Module:
    """The module without instructions of OpenCL.std, but for printf and those that are kept: ``fma`` of all types, or
    ``fma.f32`` of one.

    Raises Error for a function of a type for which OpenCL.std has none.
    """
    wanted = frozenset(kept)
    changed, called = _replaced(module, wanted)
    modules, found, waiting = [changed], set(called), list(called)
    while waiting:
        one, more = _of_library(waiting.pop(), wanted)
        modules.append(one)
        waiting += [name for name in more if name not in found]
        found |= set(more)
    return changed if len(modules) == 1 else without_exports(link(modules), found)


@lru_cache(maxsize=1024)
def _of_library(name: str, kept: frozenset[str]) -> tuple[Module, tuple[str, ...]]:
    return _replaced(library.function(name), kept)


def _uses(module: Module) -> list[tuple[str, Instruction]]:
    names = extended_names(SET)
    return [(names.get(row.words[1], ""), row) for row in module.of_opcode(Op.ExtInst) if row.instruction_set == SET]


def _replaced(module: Module, kept: frozenset[str]) -> tuple[Module, tuple[str, ...]]:
    """The module with calls of the library in the place of instructions, and the functions that it calls."""
    uses = {id(row): name for name, row in _uses(module)}
    if not uses:
        return module, ()
    editor = Editor(module)
    imports = Imports(editor)
    is_changed = False

    def change(row: Instruction) -> list[Instruction] | None:
        nonlocal is_changed
        name = uses.get(id(row))
        if name is None:
            return None
        code = Code(imports, row)
        if _is_kept(code, name, kept):
            return None
        is_changed = True
        return _changed(code, name)

    editor.rewrite_functions(change)
    if not is_changed:
        return module, ()
    editor.functions[:0] = imports.declarations
    if not any(row.opcode == Op.ExtInst and row.instruction_set == SET for row in editor.functions):
        editor.head = [row for row in editor.head if not (
            row.opcode == Op.ExtInstImport and module.instruction_sets.get(row.result_id or 0) == SET)]
    editor.sweep()
    return editor.finish(), imports.names


def _is_kept(code: Code, name: str, kept: frozenset[str]) -> bool:
    if name in _ALWAYS_KEPT or name in kept:
        return True
    return bool(kept) and f"{name}.{_kind(code)}" in kept


def _kind(code: Code) -> str:
    """The type of a function's first operand, or of its result where there is none."""
    words = code.row.words[_OPERANDS:]
    kind = code.type_of(words[0])
    is_number = code.editor.definition(code.scalar(kind)).opcode in (Op.TypeInt, Op.TypeFloat)
    return code.kind(kind) if is_number else ""


def _changed(code: Code, name: str) -> list[Instruction]:
    operands = code.row.words[_OPERANDS:]
    if name in MEMORY:
        return MEMORY[name](code, operands)
    if name == "remquo":
        return functions.remquo(code, operands)
    if name in functions.PAIRS:
        return functions.pair(code, name, operands)
    plain = name if f"{name}_{_kind(code)}" in library.names() else functions.plain_name(name)
    if plain == "popcount" and _kind(code) == "i32":
        return code.named(code.value(Op.BitCount, code.row.type_id or 0, *operands))
    if plain in functions.CORE:
        return functions.CORE[plain](code, operands)
    if plain in functions.GEOMETRY:
        return functions.geometric(code, plain, operands)
    return functions.by_components(code, plain, operands)


def without_exports(module: Module, names: Collection[str]) -> Module:
    """The module whose functions from the library are its own."""
    editor = Editor(module)
    editor.head = [row for row in editor.head if not (
        row.opcode == Op.Decorate and row.words[1] == Decoration.LinkageAttributes
        and (text := decode_string(row.words, 2)) is not None and text[0] in names)]
    return editor.finish()
