"""Tidies a module that LLVM's back end wrote: pointers that were cast to bytes and back, kernel parameters
whose pointee LLVM could not know, constant addresses, linkage of built-in variables, and what nothing uses any
more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from coopmat.llvm.to_spirv.metadata import pointee
from coopmat.llvm.to_spirv.types import type_of
from coopmat.spirv.edit.editor import Editor, substitute
from coopmat.spirv.grammar import LIFETIMES, OPENCL_STD, Decoration, FunctionParameterAttribute, Op
from coopmat.spirv.module.instruction import Instruction, make

_LOADED_FROM, _STORED_TO = 3, 4  # operands, behind the set and the number
_POINTER_OF = {OPENCL_STD["vloadn"]: _LOADED_FROM, OPENCL_STD["vstoren"]: _STORED_TO}
_BEFORE_CASTS = frozenset({Op.FunctionParameter, Op.Label, Op.Variable, Op.Line, Op.NoLine})


def clean_up(editor: Editor, argument_types: Mapping[str, Sequence[str]]) -> None:
    """Apply all of it; ``argument_types`` are the OpenCL C types of kernels' parameters, where known.

    They are noted as the SPIR-V translator does, in a string ``kernel_arg_type.<kernel>.<type>,<type>,``.
    """
    _drop_variable_linkage(editor)
    _mend_alignments(editor)
    _mend_lifetimes(editor)
    _mend_memory_instructions(editor)
    _mend_composites(editor)
    _mend_constant_addresses(editor)
    _fold_pointer_casts(editor)
    _retype_parameters(editor, argument_types)
    for kernel, types in argument_types.items():
        editor.string(f"kernel_arg_type.{kernel}.{''.join(f'{type_},' for type_ in types)}")
    _fold_pointer_casts(editor)
    editor.sweep()


def _drop_variable_linkage(editor: Editor) -> None:
    """A variable with a BuiltIn decoration is imported from nowhere."""
    built_in = {item.words[0] for item in editor.head
                if item.opcode == Op.Decorate and item.words[1] == Decoration.BuiltIn}
    editor.head = [item for item in editor.head
                   if not (item.opcode == Op.Decorate and item.words[0] in built_in
                           and item.words[1] == Decoration.LinkageAttributes)]


# --------------------------------------------------------------------------------------
# Operands that the back end writes wrongly
# --------------------------------------------------------------------------------------


def _mend_alignments(editor: Editor) -> None:
    """Of an alignment only eight bits arrive, the first of which is taken for a sign."""
    for place, item in enumerate(editor.head):
        if item.opcode == Op.Decorate and item.words[1] == Decoration.Alignment and item.words[2] >> 31:
            editor.head[place] = make(Op.Decorate, *item.words[:2], item.words[2] & 0xFF)
    editor.head = [item for item in editor.head
                   if not (item.opcode == Op.Decorate and item.words[1:] == (Decoration.Alignment, 0))]


def _mend_lifetimes(editor: Editor) -> None:
    """A lifetime is that of the whole variable, not of bytes there."""
    def mended(item: Instruction) -> list[Instruction] | None:
        if item.opcode not in LIFETIMES:
            return None
        variable = _before_casts(editor, item.words[0])
        return [make(Op(item.opcode), variable, 0)] if editor.definition(variable).opcode == Op.Variable else []

    editor.rewrite_functions(mended)


def _mend_memory_instructions(editor: Editor) -> None:
    """vloadn and the like get a pointer to the numbers that they read or write."""
    functions = {item.result_id for item in editor.head if item.opcode == Op.ExtInstImport
                 and editor.module.instruction_sets.get(item.result_id or 0) == "OpenCL.std"}

    def mended(item: Instruction) -> list[Instruction] | None:
        place = _POINTER_OF.get(item.words[1]) if item.opcode == Op.ExtInst and item.words[0] in functions else None
        if place is None or item.type_id is None:
            return None
        pointer = item.words[place]
        data = editor.definition(item.type_id) if place == _LOADED_FROM else editor.type_of(item.words[2])
        kind, wanted = editor.type_of(pointer), editor.component(data).result_id or 0
        if kind.words[1] == wanted:
            return None
        cast = editor.add(make(Op.Bitcast, pointer, type_id=editor.type_pointer(kind.words[0], wanted),
                               result_id=editor.new_id()))
        words = (*item.words[:place], cast.result_id or 0, *item.words[place + 1:])
        return [cast, editor.add(make(Op.ExtInst, *words, type_id=item.type_id, result_id=item.result_id))]

    editor.rewrite_functions(mended)


def _mend_composites(editor: Editor) -> None:
    """Pointers that are put into structures and arrays, and taken out of them, have the types of their members."""
    def cast(pointer: int, type_id: int, result_id: int = 0) -> Instruction:
        return editor.add(make(Op.Bitcast, pointer, type_id=type_id, result_id=result_id or editor.new_id()))

    def is_other(type_id: int | None, wanted: int) -> bool:
        return type_id != wanted and editor.definition(wanted).opcode == Op.TypePointer

    def mended(item: Instruction) -> list[Instruction] | None:
        if item.type_id is None or item.opcode not in (Op.CompositeInsert, Op.CompositeConstruct, Op.CompositeExtract):
            return None
        if item.opcode == Op.CompositeExtract:
            wanted = _part(editor, editor.type_of(item.words[0]), item.words[1:])
            if not is_other(item.type_id, wanted):
                return None
            taken = editor.add(make(Op.CompositeExtract, *item.words, type_id=wanted, result_id=editor.new_id()))
            return [taken, cast(taken.result_id or 0, item.type_id, item.result_id or 0)]
        whole = editor.definition(item.type_id)
        parts = {0: _part(editor, whole, item.words[2:])} if item.opcode == Op.CompositeInsert else {
            place: _part(editor, whole, (place,)) for place in range(len(item.words))
            if whole.opcode in (Op.TypeStruct, Op.TypeArray)}
        casts = {place: cast(item.words[place], wanted) for place, wanted in parts.items()
                 if is_other(editor.definition(item.words[place]).type_id, wanted)}
        if not casts:
            return None
        words = (casts[place].result_id or 0 if place in casts else word for place, word in enumerate(item.words))
        return [*casts.values(), editor.add(make(Op(item.opcode), *words, type_id=item.type_id,
                                                 result_id=item.result_id))]

    editor.rewrite_functions(mended)


def _part(editor: Editor, whole: Instruction, indices: Sequence[int]) -> int:
    """The type of what indices lead to."""
    for index in indices:
        whole = editor.definition(whole.words[index if whole.opcode == Op.TypeStruct else 0])
    return whole.result_id or 0


# --------------------------------------------------------------------------------------
# Constant addresses
# --------------------------------------------------------------------------------------


_COMPOSITES = (Op.ConstantComposite, Op.SpecConstantComposite)


def _mend_constant_addresses(editor: Editor) -> None:
    """Where a variable begins with an address, LLVM counts bytes in an index into whatever lies there, and puts
    pointers of several types into one array."""
    mended: list[Instruction] = []
    for item in editor.head:
        if item.opcode == Op.SpecConstantOp and item.words[0] == Op.InBoundsPtrAccessChain:
            item = _in_bytes(editor, item, mended)
        elif item.opcode in _COMPOSITES:
            item = _composite(editor, item.words, item.type_id or 0, item.result_id or 0, mended)
        mended.append(editor.add(item))
    editor.head = mended


def _in_bytes(editor: Editor, item: Instruction, before: list[Instruction]) -> Instruction:
    """A constant access chain whose result points to bytes, but its base does not: the offset is one in bytes."""
    assert item.type_id is not None
    _, base, *indices = item.words
    if len(indices) != 2 or editor.type_of(base).words[1] == editor.definition(item.type_id).words[1]:
        return item
    cast = _constant_cast(editor, base, item.type_id)
    before.append(cast)
    return make(Op.SpecConstantOp, Op.InBoundsPtrAccessChain, cast.result_id or 0, indices[1], type_id=item.type_id,
                result_id=item.result_id)


def _constant_cast(editor: Editor, pointer: int, type_id: int) -> Instruction:
    return editor.add(make(Op.SpecConstantOp, Op.Bitcast, pointer, type_id=type_id, result_id=editor.new_id()))


def _composite(editor: Editor, parts: Sequence[int], type_id: int, result_id: int,
               before: list[Instruction]) -> Instruction:
    """A constant composite whose parts have the types that its own type asks for."""
    type_ = editor.definition(type_id)
    wanted = type_.words if type_.opcode == Op.TypeStruct else type_.words[:1] * len(parts)
    parts = [_as_type(editor, part, part_type, before) for part, part_type in zip(parts, wanted, strict=True)]
    is_computed = any(editor.definition(part).opcode in (Op.SpecConstantOp, Op.SpecConstantComposite) for part in parts)
    op = Op.SpecConstantComposite if is_computed else Op.ConstantComposite
    return make(op, *parts, type_id=type_id, result_id=result_id)


def _as_type(editor: Editor, constant: int, type_id: int, before: list[Instruction]) -> int:
    """A constant as one of a type that differs in what pointers point to."""
    item = editor.definition(constant)
    if item.type_id == type_id:
        return constant
    if editor.definition(type_id).opcode == Op.TypePointer:
        new = _constant_cast(editor, constant, type_id)
    elif item.opcode in _COMPOSITES:
        new = editor.add(_composite(editor, item.words, type_id, editor.new_id(), before))
    elif item.opcode in (Op.ConstantNull, Op.Undef):
        new = editor.add(make(Op(item.opcode), type_id=type_id, result_id=editor.new_id()))
    else:
        return constant
    before.append(new)
    return new.result_id or 0


# --------------------------------------------------------------------------------------
# Casts
# --------------------------------------------------------------------------------------


def _fold_pointer_casts(editor: Editor) -> None:
    """Use a pointer itself where it was cast to another type and back, then drop casts without a use."""
    same: dict[int, int] = {}
    for item in editor.functions:
        if _is_pointer_cast(editor, item):
            assert item.result_id is not None
            source = _earlier(editor, item.words[0], item.type_id, same)
            if source is not None:
                same[item.result_id] = source
    editor.functions = [substitute(item, same) for item in editor.functions]
    for item in editor.functions:
        editor.add(item)
    used = {identifier for item in editor.functions for identifier in item.ids()}
    dead = {item.result_id for item in editor.functions
            if _is_pointer_cast(editor, item) and item.result_id not in used and item.result_id is not None}
    if dead:
        editor.functions = [item for item in editor.functions if item.result_id not in dead]
        editor.remove(dead)
        _fold_pointer_casts(editor)


def _is_pointer_cast(editor: Editor, item: Instruction) -> bool:
    return (item.opcode == Op.Bitcast and item.type_id is not None
            and editor.definition(item.type_id).opcode == Op.TypePointer
            and editor.type_of(item.words[0]).opcode == Op.TypePointer)


def _before_casts(editor: Editor, pointer: int) -> int:
    """The pointer that was cast."""
    while _is_pointer_cast(editor, editor.definition(pointer)):
        pointer = editor.definition(pointer).words[0]
    return pointer


def _earlier(editor: Editor, pointer: int, type_id: int | None, same: dict[int, int]) -> int | None:
    """A pointer of type ``type_id`` that ``pointer`` was cast from, or ``pointer`` itself."""
    while True:
        pointer = same.get(pointer, pointer)
        item = editor.definition(pointer)
        if item.type_id == type_id:
            return pointer
        if not _is_pointer_cast(editor, item):
            return None
        pointer = item.words[0]


# --------------------------------------------------------------------------------------
# Kernel parameters
# --------------------------------------------------------------------------------------


def _retype_parameters(editor: Editor, argument_types: Mapping[str, Sequence[str]]) -> None:
    """Give the pointer parameters of kernels the type that the metadata tell; where they tell none, one that is
    only ever cast to one other type gets that. What used the old type uses a cast. A value's type is known."""
    by_value = {item.words[0] for item in editor.head if item.opcode == Op.Decorate
                and item.words[1:] == (Decoration.FuncParamAttr, FunctionParameterAttribute.ByVal)}
    kernels = {entry.function_id: list(argument_types.get(entry.name, ()))
               for entry in editor.module.entry_points}
    users: defaultdict[int, list[Instruction]] = defaultdict(list)
    for item in editor.functions:
        for identifier in item.ids():
            users[identifier].append(item)
    changed: list[Instruction] = []
    casts: dict[int, Instruction] = {}  # by the parameter
    names: list[str] | None = None  # of the types of a kernel's parameters that are still to come
    for item in editor.functions:
        if item.opcode == Op.Function:
            names = kernels.get(item.result_id or 0)
        elif item.opcode == Op.FunctionParameter and names is not None:
            assert item.result_id is not None
            name = names.pop(0) if names else ""
            wanted = _better_type(editor, item, users[item.result_id], name) if item.result_id not in by_value else None
            if wanted not in (None, item.type_id):
                casts[item.result_id] = editor.add(make(Op.Bitcast, item.result_id, type_id=item.type_id,
                                                        result_id=editor.new_id()))
                item = editor.add(make(Op.FunctionParameter, type_id=wanted, result_id=item.result_id))
        changed.append(item)
    editor.functions = _with_function_types(editor, _with_casts(changed, casts))


def _better_type(editor: Editor, parameter: Instruction, users: list[Instruction], type_name: str) -> int | None:
    """The type that a kernel's parameter should have; None if there is nothing to go by."""
    assert parameter.type_id is not None
    type_ = editor.definition(parameter.type_id)
    if type_.opcode != Op.TypePointer:
        return None
    code = pointee(type_name)
    if code is not None:
        return editor.type_pointer(type_.words[0], type_of(code, editor))
    return _only_cast(editor, users) if not type_name else None


def _with_casts(items: list[Instruction], casts: Mapping[int, Instruction]) -> list[Instruction]:
    """The functions with the casts behind the variables of their first block, used instead of the parameters."""
    replaced = {parameter: cast.result_id for parameter, cast in casts.items() if cast.result_id is not None}
    result: list[Instruction] = []
    due: list[Instruction] = []
    for item in items:
        cast = casts.get(item.result_id or 0)
        if item.opcode == Op.FunctionParameter and cast is not None:
            due.append(cast)
        elif due and item.opcode not in _BEFORE_CASTS:
            result += due
            due = []
        result.append(substitute(item, replaced))
    return result


def _only_cast(editor: Editor, users: list[Instruction]) -> int | None:
    """The type that all the users, which are casts, cast to."""
    types = {item.type_id if _is_pointer_cast(editor, item) else None for item in users}
    return types.pop() if len(types) == 1 else None


def _with_function_types(editor: Editor, items: list[Instruction]) -> list[Instruction]:
    """The functions with types that agree with their parameters."""
    result = list(items)
    for start, item in enumerate(items):
        if item.opcode != Op.Function:
            continue
        parameters = []
        for follower in items[start + 1:]:
            if follower.opcode != Op.FunctionParameter:
                break
            assert follower.type_id is not None
            parameters.append(follower.type_id)
        assert item.type_id is not None
        type_id = editor.unique(Op.TypeFunction, item.type_id, *parameters)
        if type_id != item.words[1]:
            result[start] = make(Op.Function, item.words[0], type_id, type_id=item.type_id,
                                 result_id=item.result_id)
    return result
