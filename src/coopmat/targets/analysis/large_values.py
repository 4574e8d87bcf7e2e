"""Arrays and structures of many numbers: variables instead of values.

What a value of at most :data:`MOST_LEAVES` numbers is to LLVM, one register for each, takes too long for larger ones. A
kernel gets a variable for each of these; what makes or moves one copies memory, and its parts are reached by access
chains. The module gets the types of their pointers, and variables with the constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, TypeTable
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import Block, Module
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.analysis.leaves import MOST_LEAVES, is_large

# --------------------------------------------------------------------------------------
# The module
# --------------------------------------------------------------------------------------


@dataclass
class Prepared:
    """A module with what large values need: ``large`` are their types by id, ``pointers`` the ids of the types of
    pointers to them and to their parts, ``constants`` the variables that hold large constants, ``indices`` the ids of
    the numbers of parts. ``large`` is empty where a module has no such types; then it is the given one."""

    module: Module
    large: dict[int, Type] = field(default_factory=dict)
    pointers: dict[int, int] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    indices: dict[int, int] = field(default_factory=dict)


def prepared(module: Module) -> Prepared:
    """The module with what its large values need."""
    types, large = TypeTable(module, 1), {}
    for row in module.of_opcode(Op.TypeArray, Op.TypeStruct):
        try:
            kind = types[row.result_id or 0]
        except Error:
            continue  # who uses it says what is wrong
        if is_large(kind):
            large[row.result_id or 0] = kind
    return _Preparation(module, large).done() if large else Prepared(module)


class _Preparation:
    """Adds declarations to a module."""

    def __init__(self, module: Module, large: dict[int, Type]) -> None:
        self.module = module
        self.found = Prepared(module, large)
        self.editor = Editor(module)

    def done(self) -> Prepared:
        """The module, and what was added."""
        head, functions = list(self.editor.head), self.editor.functions
        for identifier in self.found.large:
            self._reach(identifier)
        for row in head:
            if row.type_id in self.found.large and row.opcode != Op.Variable:
                self._hold(row)
        for index in sorted({index for row in functions for index in self._literals(row)}):
            self.found.indices[index] = self.editor.constant(index)
        self.found.module = self.module.with_instructions([*self.editor.head, *functions])
        return self.found

    def _reach(self, identifier: int) -> None:
        """Declare pointers to a type and to its parts."""
        if identifier in self.found.pointers:
            return
        self.found.pointers[identifier] = self.editor.type_pointer(StorageClass.Function, identifier)
        for part in _parts(self.module.definition(identifier)):
            self._reach(part)

    def _hold(self, constant: Instruction) -> None:
        """A variable with a constant, or with zeros for what is not defined."""
        assert constant.result_id is not None
        assert constant.type_id is not None
        pointer = self.editor.type_pointer(StorageClass.UniformConstant, constant.type_id)
        initial = () if constant.opcode == Op.Undef else (constant.result_id,)
        variable = self.found.constants[constant.result_id] = self.editor.new_id()
        self.editor.head.append(make(Op.Variable, StorageClass.UniformConstant, *initial, type_id=pointer,
                                     result_id=variable))

    def _literals(self, row: Instruction) -> Iterable[int]:
        """The numbers of the parts that an instruction takes from a large value, or puts into one."""
        if row.opcode == Op.CompositeExtract and self._is_large(row.words[0]):
            return row.words[1:]
        if row.opcode == Op.CompositeInsert and row.type_id in self.found.large:
            return row.words[2:]
        return range(len(row.words)) if row.opcode == Op.CompositeConstruct and row.type_id in self.found.large else ()

    def _is_large(self, identifier: int) -> bool:
        return self.module.defines(identifier) and self.module.definition(identifier).type_id in self.found.large


def _parts(row: Instruction) -> Sequence[int]:
    """The types of a composite type's parts, by their ids."""
    if row.opcode in (Op.TypeArray, Op.TypeVector):
        return row.words[:1]
    return row.words if row.opcode == Op.TypeStruct else ()


# --------------------------------------------------------------------------------------
# A kernel
# --------------------------------------------------------------------------------------


def in_variables(flat: Flat, known: Prepared) -> Flat:
    """The kernel with variables instead of large values."""
    if known.large:
        _Rewriting(flat, known).run()
    return flat


class _Rewriting:
    """Rewrites a kernel's blocks in place."""

    def __init__(self, flat: Flat, known: Prepared) -> None:
        self.flat, self.known = flat, known
        self.bound = max(known.module.bound, *(one + 1 for one in flat.definitions),
                         *(block.label + 1 for block in flat.blocks))
        self.variables: dict[int, int] = {}  # value → its variable
        self.added: list[Instruction] = []  # variables
        self.incoming: dict[int, list[Instruction]] = {}  # label → copies at the end of a block

    def run(self) -> None:
        """Rewrite all blocks."""
        rewritten = [self._block(block) for block in self.flat.blocks]
        for block, rows in zip(self.flat.blocks, rewritten, strict=True):
            end = len(rows) - 1
            while end and rows[end - 1].opcode in (Op.SelectionMerge, Op.LoopMerge):
                end -= 1
            block.instructions[:] = [*rows[:end], *self.incoming.get(block.label, ()), *rows[end:]]
        self.flat.blocks[0].instructions[:0] = self.added

    def _block(self, block: Block) -> list[Instruction]:
        phis: list[Instruction] = []
        found: list[Instruction] = []
        for row in block.instructions:
            if row.opcode == Op.Phi and row.type_id in self.known.large:
                found += self._phi(row)
            elif row.opcode == Op.Phi:
                phis.append(row)
            else:
                found += self._row(row)
        return [*phis, *found]

    def _row(self, row: Instruction) -> list[Instruction]:
        large, words = row.type_id in self.known.large, row.words
        match row.opcode:
            case Op.Undef if large:
                self._variable(row)
                return []
            case Op.Variable if len(words) > 1 and self._is_large(words[1]):
                assert row.result_id is not None
                variable = Instruction(row.opcode, row.type_id, row.result_id, words[:1], row.offset)
                return [variable, _copy(row.result_id, self._memory(words[1]), row)]
            case Op.Load if large:
                return [_copy(self._variable(row), words[0], row, words[1:])]
            case Op.Store if self._is_large(words[1]):
                return [_copy(words[0], self._memory(words[1]), row, words[2:])]
            case Op.CopyObject if large:
                return [_copy(self._variable(row), self._memory(words[0]), row)]
            case Op.CopyLogical if large and self._have_one_layout(row.type_id or 0, self._type_of(words[0])):
                return [_copy(self._variable(row), self._memory(words[0]), row)]
            case Op.Select if large:
                return self._chosen(row)
            case Op.CompositeExtract if self._is_large(words[0]):
                return self._extracted(row)
            case Op.CompositeInsert if large:
                target = self._variable(row)
                return [_copy(target, self._memory(words[1]), row), *self._put(row, target, words[0], words[2:])]
            case Op.CompositeConstruct if large:
                target = self._variable(row)
                return [one for number, part in enumerate(words) for one in self._put(row, target, part, (number,))]
        if large or any(map(self._is_large, row.ids())):
            raise Error(f"a value of more than {MOST_LEAVES} numbers can only be copied, taken apart and put together, "
                        f"found {row.name}")
        return [row]

    def _phi(self, row: Instruction) -> list[Instruction]:
        """Copies, in two steps, so that phis can exchange their values."""
        target, between = self._variable(row), self._new_variable(row.type_id or 0)
        for value, label in zip(row.words[::2], row.words[1::2], strict=True):
            self.incoming.setdefault(label, []).append(_copy(between, self._memory(value, row.type_id), row))
        return [_copy(target, between, row)]

    def _extracted(self, row: Instruction) -> list[Instruction]:
        target, *indices = row.words
        steps, pointer = self._chain(row, self._memory(target), self._type_of(target), indices)
        if row.type_id in self.known.large:
            return [*steps, _copy(self._variable(row), pointer, row)]
        assert row.result_id is not None
        loaded = Instruction(Op.Load, row.type_id, row.result_id, (pointer,), row.offset)
        self.flat.definitions[row.result_id] = loaded
        return [*steps, loaded]

    def _chosen(self, row: Instruction) -> list[Instruction]:
        """A copy of what one of two pointers leads to."""
        condition, *values = row.words
        chosen = Instruction(Op.Select, self.known.pointers[row.type_id or 0], self._fresh(),
                             (condition, *map(self._memory, values)), row.offset)
        self.flat.definitions[chosen.result_id or 0] = chosen
        return [chosen, _copy(self._variable(row), chosen.result_id or 0, row)]

    def _have_one_layout(self, one: int, other: int) -> bool:
        """Whether the numbers of two types, which are alike, lie at the same places."""
        first, second = self.known.large[one], self.known.large[other]
        return first.size == second.size and _places(first) == _places(second)

    def _put(self, row: Instruction, target: int, part: int, indices: Sequence[int]) -> list[Instruction]:
        """Store a part into a variable."""
        steps, pointer = self._chain(row, target, row.type_id or 0, indices)
        if self._is_large(part):
            return [*steps, _copy(pointer, self._memory(part), row)]
        return [*steps, Instruction(Op.Store, None, None, (pointer, part), row.offset)]

    def _chain(self, row: Instruction, base: int, kind: int, indices: Sequence[int]) -> tuple[list[Instruction], int]:
        for index in indices:
            parts = _parts(self.known.module.definition(kind))
            kind = parts[index if len(parts) > 1 else 0]
        result = self._fresh()
        chain = Instruction(Op.AccessChain, self.known.pointers[kind], result,
                            (base, *(self.known.indices[index] for index in indices)), row.offset)
        self.flat.definitions[result] = chain
        return [chain], result

    # --- variables --------------------------------------------------------------------

    def _memory(self, value: int, kind: int | None = None) -> int:
        """The pointer to a value's memory; ``kind``: its type, where it may not be reached yet."""
        if value in self.known.constants:
            return self.known.constants[value]
        if value not in self.variables:
            self.variables[value] = self._new_variable(kind if kind is not None else self._type_of(value))
        return self.variables[value]

    def _variable(self, row: Instruction) -> int:
        """The variable of an instruction's result, which is no value any more."""
        assert row.result_id is not None
        return self._memory(row.result_id, row.type_id)

    def _new_variable(self, kind: int) -> int:
        identifier = self._fresh()
        row = Instruction(Op.Variable, self.known.pointers[kind], identifier, (int(StorageClass.Function),), 0)
        self.added.append(row)
        self.flat.definitions[identifier] = row
        return identifier

    def _fresh(self) -> int:
        self.bound += 1
        return self.bound - 1

    def _type_of(self, value: int) -> int:
        return self.flat.definition(value).type_id or 0

    def _is_large(self, identifier: int) -> bool:
        if identifier not in self.flat.definitions and not self.known.module.defines(identifier):
            return False
        return self._type_of(identifier) in self.known.large


def _places(kind: Type) -> object:
    """Where the numbers of a type lie."""
    if isinstance(kind, StructType):
        return tuple(zip(kind.offsets, map(_places, kind.members), strict=True))
    return (kind.stride, kind.length, _places(kind.element)) if isinstance(kind, ArrayType) else kind


def _copy(target: int, source: int, row: Instruction, operands: Sequence[int] = ()) -> Instruction:
    return Instruction(Op.CopyMemory, None, None, (target, source, *operands), row.offset)
