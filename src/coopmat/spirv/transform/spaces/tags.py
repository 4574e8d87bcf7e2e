"""Generic pointers as 64-bit integers: an address in its memory, and in the two highest bits which memory that is.

Null is 0. What is read or written through such a pointer is, for each memory that it may be, in an arm of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.offsets import steps, stride_of
from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.edit.functions import (
    Body,
    FunctionEditor,
    change_phis,
    current_line,
    keep_header,
    with_words,
)
from coopmat.spirv.grammar import CHAINS, LIFETIMES, Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.spaces.storages import MEMORIES, Storages

BITS = 64
TAG_SHIFT = 62
TAGS: dict[int, int] = {StorageClass.CrossWorkgroup: 0, StorageClass.Workgroup: 1, StorageClass.Function: 2,
                        StorageClass.Private: 3}
"""The two highest bits of a pointer into each storage class."""
_ADDRESS = (1 << TAG_SHIFT) - 1
_SHARED = frozenset({StorageClass.CrossWorkgroup, StorageClass.Workgroup})
"""The storage classes that instructions of groups and atomic ones take."""


class Tagging:
    """One function. Types are left as they are: what was a generic pointer is an integer in all but its type."""

    def __init__(self, editor: FunctionEditor, body: Body, storages: Storages, types: TypeTable) -> None:
        self.editor = editor
        self.body = body
        self.storages = storages
        self.types = types
        self.word = editor.unique(Op.TypeInt, BITS, 0)
        self.boolean = editor.unique(Op.TypeBool)
        self.blocks: list[Block] = []
        self.last: dict[int, int] = {}

    def done(self) -> None:
        """Change the function."""
        for block in list(self.body.blocks):
            if any(len(self._choices(row, place)) > 1 for row in block.instructions
                   for place in self.storages.through(row)):
                keep_header(self.editor, self.body, block)
        for block in self.body.blocks:
            self.blocks.append(Block(block.label))
            for row in block.instructions:
                self._row(row)
            if self.current.label != block.label:
                self.last[block.label] = self.current.label
        self.body.blocks = self.blocks
        for block in self.blocks:
            change_phis(block, self._with_parents)

    @property
    def current(self) -> Block:
        """The block that is being written."""
        return self.blocks[-1]

    def _with_parents(self, phi: Instruction) -> Instruction:
        return with_words(phi, (self.last.get(word, word) if place % 2 else word
                                for place, word in enumerate(phi.words)))

    def _op(self, op: Op, type_id: int, *words: int, result: int | None = None) -> int:
        """Write an instruction. With ``result`` it takes the place of one whose type is still looked at."""
        if result is None:
            row = self.editor.row(op, type_id, *words)
        else:
            row = make(op, *words, type_id=type_id, result_id=result)
        self.current.instructions.append(row)
        return row.result_id or 0

    def _number(self, value: int) -> int:
        return self.editor.constant(value, BITS)

    # --- instructions on pointers ---------------------------------------------------------

    def _row(self, row: Instruction) -> None:
        result = row.result_id or 0
        source = row.words[0] if row.words else 0
        if row.opcode in _WRITERS:
            generic = result if row.opcode in (Op.PtrCastToGeneric, Op.ConvertUToPtr) else source
            if self.storages.is_generic(generic):
                _WRITERS[Op(row.opcode)](self, row)
                return
        elif row.opcode == Op.Bitcast and (self._is_word(result) and self._is_word(source)):
            row = Instruction(Op.CopyObject, row.type_id, result, row.words, row.offset)
        self._access(row, tuple(self.storages.through(row)))

    def _is_word(self, value: int) -> bool:
        return self.storages.is_generic(value) or self.editor.definition(value).type_id == self.word

    def _to_generic(self, row: Instruction) -> None:
        pointer, result = row.words[0], row.result_id
        storage = self.storages.storage(pointer)
        if TAGS.get(storage) is None:
            raise Error(f"generic pointers into storage class {StorageClass(storage).name} are not possible")
        if not TAGS[storage]:
            self._op(Op.ConvertPtrToU, self.word, pointer, result=result)
            return
        number = self._op(Op.ConvertPtrToU, self.word, pointer)
        tag = self._number(TAGS[storage] << TAG_SHIFT)
        if self._is_never_null(pointer):
            self._op(Op.BitwiseOr, self.word, number, tag, result=result)
            return
        tagged = self._op(Op.BitwiseOr, self.word, number, tag)
        null = self.editor.unique(Op.ConstantNull, type_id=self.editor.definition(pointer).type_id)
        nothing = self._op(Op.ConvertPtrToU, self.word, null)
        is_null = self._op(Op.IEqual, self.boolean, number, nothing)
        self._op(Op.Select, self.word, is_null, self._number(0), tagged, result=result)

    def _is_never_null(self, pointer: int) -> bool:
        row = self.editor.definition(pointer)
        while row.opcode in (*CHAINS, Op.Bitcast, Op.CopyObject) and self.storages.storage(row.words[0]) >= 0:
            row = self.editor.definition(row.words[0])
        return row.opcode == Op.Variable

    def _pointer(self, value: int, storage: int, pointee: int, result: int | None = None) -> int:
        """The pointer into a storage class that a generic one is."""
        type_id = self.editor.type_pointer(storage, pointee)
        address = value
        if TAGS[storage]:
            address = self._op(Op.BitwiseAnd, self.word, value, self._number(_ADDRESS))
        return self._op(Op.ConvertUToPtr, type_id, address, result=result)

    def _from_generic(self, row: Instruction) -> None:
        """To a storage class; null stays null."""
        value, (storage, pointee) = row.words[0], self.editor.definition(row.type_id or 0).words
        if not TAGS[storage] and row.opcode == Op.GenericCastToPtr:
            self._pointer(value, storage, pointee, row.result_id)
            return
        pointer = self._pointer(value, storage, pointee)
        null = self.editor.unique(Op.ConstantNull, type_id=row.type_id)
        if row.opcode == Op.GenericCastToPtr:
            is_null = self._op(Op.IEqual, self.boolean, value, self._number(0))
            self._op(Op.Select, row.type_id or 0, is_null, null, pointer, result=row.result_id)
        else:
            self._op(Op.Select, row.type_id or 0, self._is_in(value, storage), pointer, null, result=row.result_id)

    def _is_in(self, value: int, storage: int) -> int:
        tag = self._op(Op.ShiftRightLogical, self.word, value, self._number(TAG_SHIFT))
        return self._op(Op.IEqual, self.boolean, tag, self._number(TAGS[storage]))

    def _semantics(self, row: Instruction) -> None:
        """Which memory a pointer points into; none for private memory and null."""
        value, type_id = row.words[0], row.type_id or 0
        found = self.editor.unique(Op.Constant, 0, type_id=type_id)
        for storage, semantics in MEMORIES.items():
            bits = self.editor.unique(Op.Constant, semantics, type_id=type_id)
            found = self._op(Op.Select, type_id, self._is_in(value, storage), bits, found)
        is_null = self._op(Op.IEqual, self.boolean, value, self._number(0))
        none = self.editor.unique(Op.Constant, 0, type_id=type_id)
        self._op(Op.Select, type_id, is_null, none, found, result=row.result_id)

    def _chain(self, row: Instruction) -> None:
        address = row.words[0]
        for step in steps(self.editor.module, self.types, self.editor.definition(address).type_id or 0, row):
            moved = self._number(step.size)
            if step.index is not None:
                moved = self._op(Op.IMul, self.word, self._widened(step.index), moved)
            address = self._op(Op.IAdd, self.word, address, moved)
        self._op(Op.CopyObject, row.type_id or 0, address, result=row.result_id)

    def _widened(self, index: int) -> int:
        """An index as a 64-bit number; indices are signed."""
        known = self.editor.integer(index)
        bits = self.editor.type_of(index).words[0]
        if known is not None:
            return self._number((known ^ 1 << bits - 1) - (1 << bits - 1) & (1 << BITS) - 1)
        return index if bits == BITS else self._op(Op.SConvert, self.word, index)

    def _converted(self, row: Instruction) -> None:
        """Between a generic pointer and an integer of another width."""
        source = row.words[0]
        target = self.editor.definition(row.type_id or 0)
        kind = self.editor.type_of(source) if row.opcode == Op.ConvertUToPtr else target
        op = Op.CopyObject if kind.words[0] == BITS else Op.UConvert
        self._op(op, row.type_id or 0, source, result=row.result_id)

    def _compared(self, row: Instruction) -> None:
        op = Op.IEqual if row.opcode == Op.PtrEqual else Op.INotEqual
        self._op(op, row.type_id or 0, *row.words, result=row.result_id)

    def _difference(self, row: Instruction) -> None:
        """In elements; signed."""
        pointee = self.types.pointee(self.types[self.editor.definition(row.words[0]).type_id or 0])
        found = self._op(Op.ISub, self.word, *row.words)
        found = self._op(Op.SDiv, self.word, found, self._number(stride_of(pointee)))
        op = Op.CopyObject if row.type_id == self.word else Op.SConvert
        self._op(op, row.type_id or 0, found, result=row.result_id)

    def _nothing(self, row: Instruction) -> None:
        """Where a variable is in use is of no interest to those who have its address as a number."""

    # --- accesses -------------------------------------------------------------------------

    def _choices(self, row: Instruction, place: int) -> Sequence[int]:
        """The storage classes that an instruction may access through a pointer."""
        found = self.storages.possible(row.words[place])
        if row.name.startswith(("OpAtomic", "OpCooperativeMatrix")):
            found = found & _SHARED or frozenset({StorageClass.CrossWorkgroup})
        return sorted(found, key=TAGS.__getitem__)

    def _access(self, row: Instruction, places: Sequence[int]) -> int:
        """An instruction through pointers: the pointers at these places are generic ones still. Gives its result."""
        if not places:
            self.current.instructions.append(row)
            return row.result_id or 0
        place, *others = places
        return self._chosen(row, place, others, self._choices(row, place))

    def _chosen(self, row: Instruction, place: int, others: Sequence[int], choices: Sequence[int]) -> int:
        value = row.words[place]
        pointee = self.editor.type_of(value).words[1]
        first, *rest = choices
        if not rest:
            pointer = self._pointer(value, first, pointee)
            words = (*row.words[:place], pointer, *row.words[place + 1:])
            return self._access(with_words(row, words), others)
        condition = self._is_in(value, first)
        line = current_line(self.current.instructions)
        labels = [self.editor.new_id() for _ in range(3)]
        self.current.instructions += [make(Op.SelectionMerge, labels[2], 0),
                                      make(Op.BranchConditional, condition, *labels[:2])]
        values: list[int] = []
        for label, chosen in zip(labels, ([first], rest), strict=False):
            self._begin(label, line)
            found = self._chosen(self._fresh(row), place, others, chosen)
            values += [found, self.current.label]
            self.current.instructions.append(make(Op.Branch, labels[2]))
        self._begin(labels[2], None)
        if row.result_id is not None and self.editor.definition(row.type_id or 0).opcode != Op.TypeVoid:
            self._op(Op.Phi, row.type_id or 0, *values, result=row.result_id)
        self.current.instructions += [line] if line is not None else []
        return row.result_id or 0

    def _begin(self, label: int, line: Instruction | None) -> None:
        self.blocks.append(Block(label, [] if line is None else [line]))

    def _fresh(self, row: Instruction) -> Instruction:
        result = None if row.result_id is None else self.editor.new_id()
        return Instruction(row.opcode, row.type_id, result, row.words, row.offset, row.context)


_WRITERS = {
    Op.PtrCastToGeneric: Tagging._to_generic, Op.GenericCastToPtr: Tagging._from_generic,
    Op.GenericCastToPtrExplicit: Tagging._from_generic, Op.GenericPtrMemSemantics: Tagging._semantics,
    Op.ConvertPtrToU: Tagging._converted, Op.ConvertUToPtr: Tagging._converted, Op.PtrEqual: Tagging._compared,
    Op.PtrNotEqual: Tagging._compared, Op.PtrDiff: Tagging._difference,
    **dict.fromkeys(CHAINS, Tagging._chain), **dict.fromkeys(LIFETIMES, Tagging._nothing),
}


def without_generic_types(editor: FunctionEditor) -> Iterator[Instruction]:
    """The declarations with 64-bit integers in the place of generic pointers; what became equal to another type is that
    one. Functions are changed, too."""
    word = editor.unique(Op.TypeInt, BITS, 0)
    new: dict[int, int] = {item.result_id or 0: word for item in editor.head
                           if item.opcode == Op.TypePointer and item.words[0] == StorageClass.Generic}
    known: dict[tuple[object, ...], int] = {}
    for item in editor.head:
        if item.result_id in new or (item.opcode == Op.TypeForwardPointer and item.words[0] in new):
            continue
        changed = _with_types(item, new)
        if item.opcode in _ONCE:
            key = (item.opcode, changed.words)
            first = known.setdefault(key, item.result_id or 0)
            if first != item.result_id:
                new[item.result_id or 0] = first
                continue
        yield _converted_constant(changed)
    for body in editor.bodies:
        body.head = [_with_types(item, new) for item in body.head]
        for block in body.blocks:
            block.instructions = [_with_types(item, new) for item in block.instructions]


_ONCE = frozenset({Op.TypePointer, Op.TypeFunction})


def _with_types(item: Instruction, new: dict[int, int]) -> Instruction:
    if item.type_id not in new and not any(word in new for word in item.words):
        return item
    found = item.with_ids(lambda identifier: new.get(identifier, identifier))
    found.offset = item.offset
    return found


def _converted_constant(item: Instruction) -> Instruction:
    """A constant generic pointer to a variable in global memory."""
    if item.opcode == Op.SpecConstantOp and item.words[0] == Op.PtrCastToGeneric:
        return with_words(item, (Op.ConvertPtrToU, *item.words[1:]))
    return item
