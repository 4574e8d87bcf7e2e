"""Changes SPIR-V modules in place: new types and constants, new instructions in functions, things removed.

Types and constants are unique.  :meth:`Editor.finish` gives the changed module, which declares what it needs then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum

from coopmat.spirv.analysis.requirements import Needs
from coopmat.spirv.grammar import Decoration, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.module.operands import encode_number

_UNIQUE = frozenset({
    Op.TypeVoid, Op.TypeBool, Op.TypeInt, Op.TypeFloat, Op.TypeVector, Op.TypePointer, Op.TypeFunction,
    Op.TypeEvent, Op.TypeCooperativeMatrixKHR, Op.Constant, Op.ConstantNull, Op.ConstantTrue, Op.ConstantFalse,
    Op.ConstantComposite, Op.Undef,
})
_ANNOTATIONS = frozenset({Op.Name, Op.MemberName, Op.Decorate, Op.DecorateId, Op.DecorateString,
                          Op.MemberDecorate, Op.MemberDecorateString})
_BEFORE_STRINGS = frozenset({Op.MemoryModel, Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId})
_REMOVABLE_GLOBALS = frozenset({
    Op.TypeVoid, Op.TypeBool, Op.TypeInt, Op.TypeFloat, Op.TypeVector, Op.TypeArray, Op.TypeStruct,
    Op.TypePointer, Op.TypeFunction, Op.Undef, Op.Constant, Op.ConstantNull, Op.ConstantComposite,
    Op.ConstantTrue, Op.ConstantFalse, Op.ConstantFunctionPointerINTEL, Op.TypeCooperativeMatrixKHR,
})


class Editor:
    """A module being changed: ``head`` up to the first function, ``functions`` from there on."""

    def __init__(self, module: Module) -> None:
        self.module = module
        start = next((i for i, item in enumerate(module.instructions) if item.opcode == Op.Function),
                     len(module.instructions))
        self.head = module.instructions[:start]
        self.functions = module.instructions[start:]
        self._next_id = module.bound
        self._definitions = {item.result_id: item for item in module.instructions
                             if item.result_id is not None}
        self._unique = {_key(item): item.result_id for item in self.head if item.opcode in _UNIQUE}

    def new_id(self) -> int:
        """A fresh id."""
        self._next_id += 1
        return self._next_id - 1

    def add(self, item: Instruction) -> Instruction:
        """Make the definition of a new instruction known; the caller puts it where it belongs."""
        if item.result_id is not None:
            self._definitions[item.result_id] = item
        return item

    # -- looking things up -----------------------------------------------------------

    def definition(self, identifier: int) -> Instruction:
        """The instruction with this result id."""
        return self._definitions[identifier]

    def type_of(self, identifier: int) -> Instruction:
        """The type of a value."""
        type_id = self.definition(identifier).type_id
        assert type_id is not None
        return self.definition(type_id)

    def component(self, type_: Instruction) -> Instruction:
        """The component type of a vector or matrix; the type itself otherwise."""
        if type_.opcode in (Op.TypeVector, Op.TypeCooperativeMatrixKHR):
            return self.definition(type_.words[0])
        return type_

    def integer(self, identifier: int) -> int | None:
        """The value of an integer constant; None for anything else."""
        item = self.definition(identifier)
        if item.opcode == Op.ConstantNull:
            return 0
        if item.opcode == Op.Constant and self.type_of(identifier).opcode == Op.TypeInt:
            return sum(word << 32 * position for position, word in enumerate(item.words))
        return None

    # -- types and constants ---------------------------------------------------------

    def unique(self, op: Op, *words: int | IntEnum, type_id: int | None = None) -> int:
        """The id of the one type or constant with these operands."""
        item = make(op, *words, type_id=type_id, result_id=self._next_id)
        key = _key(item)
        if key not in self._unique:
            self.head.append(self.add(item))
            self._unique[key] = self.new_id()
        found = self._unique[key]
        assert found is not None
        return found

    def constant(self, value: int, bits: int = 32) -> int:
        """An integer constant."""
        type_id = self.unique(Op.TypeInt, bits, 0)
        return self.unique(Op.Constant, *encode_number(value, max(1, bits // 32)), type_id=type_id)

    def type_pointer(self, storage: StorageClass | int, pointee: int) -> int:
        """The type of a pointer."""
        return self.unique(Op.TypePointer, storage, pointee)

    def decorate(self, target: int, *decoration: int | str | IntEnum) -> None:
        """Decorate a result."""
        place = next((i for i, item in enumerate(self.head) if item.opcode in _REMOVABLE_GLOBALS),
                     len(self.head))
        self.head.insert(place, make(Op.Decorate, target, *decoration))

    def rename_import(self, identifier: int, name: str) -> None:
        """Give an imported function the name under which another module exports it."""
        self.head = [make(Op.Decorate, identifier, Decoration.LinkageAttributes, name, item.words[-1])
                     if item.opcode == Op.Decorate and item.words[0] == identifier
                     and item.words[1] == Decoration.LinkageAttributes else item for item in self.head]

    def string(self, text: str) -> None:
        """Add an OpString."""
        place = 1 + max(i for i, item in enumerate(self.head) if item.opcode in _BEFORE_STRINGS)
        self.head.insert(place, self.add(make(Op.String, text, result_id=self.new_id())))

    def extended_set(self, name: str = "OpenCL.std") -> int:
        """The id of an imported set of extended instructions."""
        for item in self.head:
            if item.opcode == Op.ExtInstImport and self.module.instruction_sets.get(item.result_id or 0) == name:
                assert item.result_id is not None
                return item.result_id
        place = next(i for i, item in enumerate(self.head) if item.opcode == Op.MemoryModel)
        item = self.add(make(Op.ExtInstImport, name, result_id=self.new_id()))
        self.head.insert(place, item)
        return self._next_id - 1

    # -- finishing -------------------------------------------------------------------

    def rewrite_functions(self, change: Callable[[Instruction], Iterable[Instruction] | None]) -> None:
        """Replace instructions of functions: ``change`` gives what takes an instruction's place, or None
        to leave it."""
        changed: list[Instruction] = []
        for item in self.functions:
            replacement = change(item)
            changed += (item,) if replacement is None else replacement
        self.functions = changed

    def remove(self, identifiers: set[int]) -> None:
        """Take out declared functions, and names and decorations of what is removed."""
        kept: list[Instruction] = []
        removing = False
        for item in self.functions:
            removing = removing or (item.opcode == Op.Function and item.result_id in identifiers)
            if removing:
                if item.result_id is not None:
                    identifiers.add(item.result_id)
                removing = item.opcode != Op.FunctionEnd
            else:
                kept.append(item)
        self.functions = kept
        self.head = [item for item in self.head
                     if not (item.opcode in _ANNOTATIONS and item.words[0] in identifiers)
                     and item.result_id not in identifiers]

    def sweep(self) -> None:
        """Take out types and constants that nothing uses any more."""
        while True:
            uses = Counter(used for item in (*self.head, *self.functions)
                           if item.opcode not in _ANNOTATIONS for used in item.ids())
            unused = {item.result_id for item in self.head
                      if item.opcode in _REMOVABLE_GLOBALS and item.result_id is not None
                      and not uses[item.result_id]}
            if not unused:
                return
            self.remove(unused)

    def finish(self) -> Module:
        """The changed module; it declares exactly the capabilities and extensions that it needs."""
        rest = [item for item in (*self.head, *self.functions)
                if item.opcode not in (Op.Capability, Op.Extension)]
        needs = Needs((self.module.version >> 16, self.module.version >> 8 & 0xFF))
        for item in rest:
            needs.add(item)
        declarations = [make(Op.Capability, capability) for capability in needs.capabilities()]
        declarations += [make(Op.Extension, name) for name in needs.extensions()]
        return Module([*declarations, *rest], version=self.module.version, generator=self.module.generator,
                      bound=self._next_id, schema=self.module.schema)


def _key(item: Instruction) -> tuple[object, ...]:
    return item.opcode, item.type_id, item.words


def substitute(item: Instruction, same: Mapping[int, int]) -> Instruction:
    """The instruction with other ids in the place of some of its operands.

    No instruction that uses a pointer has an operand of several words, so words and operands correspond.
    """
    if not any(word in same for word in item.words) or len(item.operands) != len(item.words):
        return item
    words = tuple(same.get(word, word) if operand.is_id else word
                  for operand, word in zip(item.operands, item.words, strict=True))
    return Instruction(item.opcode, item.type_id, item.result_id, words, item.offset, item.context)
