"""Pointers of shaders to memory that is laid out by decorations, as pointers of kernels to scalars and vectors.

An access chain becomes a step of so many elements of what the pointer points to, or of bytes where the offset is no
multiple of these. What is loaded or stored as a whole is in parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.shader_layout import COMPOSITES, Placed
from coopmat.spirv.grammar import Decoration, MemoryAccess, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation
from coopmat.spirv.transform.from_shader.types import Leaf

MOST_PARTS = 4096
"""Scalars and vectors of a composite that is loaded or stored as a whole."""
LONG = 64
_KEPT = MemoryAccess.Volatile | MemoryAccess.Nontemporal
_LITERALS = MemoryAccess.Aligned | MemoryAccess.MakePointerAvailable | MemoryAccess.MakePointerVisible


@dataclass(frozen=True, slots=True)
class Pointer:
    """A kernel's pointer: its id, its storage class, what it points to, and the bytes that its address is known to be
    a multiple of."""

    id: int
    storage: StorageClass
    leaf: Leaf
    alignment: int


@dataclass(frozen=True, slots=True)
class Access:
    """The memory operands of an instruction: those that kernels have, and the alignment, 1 if there is none."""

    mask: int = 0
    alignment: int = 1

    @classmethod
    def of(cls, words: Sequence[int]) -> Access:
        """The access that operand words tell."""
        if not words:
            return cls()
        mask = MemoryAccess(words[0])
        return cls(int(mask & _KEPT), words[1] if mask & MemoryAccess.Aligned else 1)

    def words(self, alignment: int = 1) -> tuple[int, ...]:
        """The operand words for an access at an address that is a multiple of so many bytes; none if they say
        nothing."""
        alignment = max(alignment, self.alignment)
        if alignment == 1:
            return (self.mask,) if self.mask else ()
        return self.mask | MemoryAccess.Aligned, alignment

    @staticmethod
    def length(words: Sequence[int]) -> int:
        """How many words the first of several memory operands takes."""
        return 0 if not words else 1 + (words[0] & int(_LITERALS)).bit_count()


@dataclass(frozen=True, slots=True)
class Step:
    """Where a chain of indices leads: to ``placed``, ``offset`` bytes and ``terms``, pairs of an index of the
    shader and a stride in bytes, away."""

    placed: Placed
    offset: int = 0
    terms: tuple[tuple[int, int], ...] = ()

    @property
    def alignment(self) -> int:
        """What all that is added is a multiple of; 0 where nothing is."""
        return math.gcd(self.offset, *(stride for _, stride in self.terms))


class Memory:
    """The laid out memory of a function being translated. ``pointers``: of the shader's ids."""

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.types = translation.types
        self.layout = translation.types.layout
        self.pointers: dict[int, Pointer] = {}
        self.placed: dict[int, Placed] = {}

    def pointer(self, old: int) -> Pointer:
        """The kernel's pointer for a shader's id."""
        if old not in self.pointers:
            type_id = self.to.module.definition(old).type_id or 0
            leaf = self.types.leaf(self.place(old))
            return Pointer(self.to.id(old), self.types.storage(type_id), leaf, 1)
        return self.pointers[old]

    def place(self, old: int) -> Placed:
        """What a pointer of the shader points to."""
        return self.placed.get(old) or Placed(self.to.type_of(old).words[1])

    # --- access chains ------------------------------------------------------------------

    def chain(self, row: Instruction) -> None:
        """An access chain into laid out memory."""
        base, indices = row.words[0], row.words[1:]
        step = Step(self.place(base))
        if row.opcode in (Op.PtrAccessChain, Op.InBoundsPtrAccessChain):
            step = self._added(step, indices[0], self._pointer_stride(base))
            indices = indices[1:]
        for index in indices:
            step = self._inside(step, index)
        found = self.at(self.pointer(base), step)
        assert row.result_id is not None
        self.placed[row.result_id] = step.placed
        self.to.define(row, found.id)
        self.pointers[row.result_id] = replace(found, id=self.to.ids[row.result_id])

    def _pointer_stride(self, base: int) -> int:
        """The bytes from one of what a pointer points to to the next."""
        type_ = self.to.type_of(base)
        found = dict(self.to.module.decorations(type_.result_id or 0))
        if Decoration.ArrayStride not in found:
            raise Error("OpPtrAccessChain is used with a pointer type without ArrayStride")
        return found[Decoration.ArrayStride][0]

    def _added(self, step: Step, index: int, stride: int) -> Step:
        number = self.to.number(index)
        if number is not None:
            return replace(step, offset=step.offset + number * stride)
        return replace(step, terms=(*step.terms, (index, stride)))

    def _inside(self, step: Step, index: int) -> Step:
        if self.layout.definition(step.placed).opcode == Op.TypeStruct:
            number = self.to.number(index)
            if number is None:
                raise Error("a structure's member is chosen by an index that is no constant")
            placed, offset = self.layout.member(step.placed, number)
            return replace(step, placed=placed, offset=step.offset + offset)
        placed, stride = self.layout.element(step.placed)
        return self._added(replace(step, placed=placed), index, stride)

    def at(self, base: Pointer, step: Step) -> Pointer:
        """The pointer to what a step leads to."""
        leaf = self.types.leaf(step.placed)
        alignment = math.gcd(base.alignment, step.alignment)
        identifier = base.id
        unit = base.leaf
        if step.alignment:
            if step.alignment % unit.size:
                unit = self.types.bytes
                identifier = self._cast(identifier, base, unit)
            identifier = self.to.value(Op.InBoundsPtrAccessChain, self._type(base, unit), identifier,
                                       self._count(step, unit.size))
        if unit != leaf:
            identifier = self._cast(identifier, base, leaf)
        return Pointer(identifier, base.storage, leaf, alignment)

    def _type(self, base: Pointer, leaf: Leaf) -> int:
        return self.to.builder.type_pointer(base.storage, leaf.type_id)

    def _cast(self, identifier: int, base: Pointer, leaf: Leaf) -> int:
        return self.to.value(Op.Bitcast, self._type(base, leaf), identifier)

    def _count(self, step: Step, size: int) -> int:
        """How many units of a size a step takes."""
        if len(step.terms) == 1 and step.offset == 0 and step.terms[0][1] == size:
            return self.to.id(step.terms[0][0])
        long = self.to.builder.type_int(LONG)
        found = None if step.offset == 0 and step.terms else self.to.uint(step.offset // size, LONG)
        for index, stride in step.terms:
            part = self._long(index)
            if stride != size:
                part = self.to.value(Op.IMul, long, part, self.to.uint(stride // size, LONG))
            found = part if found is None else self.to.value(Op.IAdd, long, found, part)
        assert found is not None
        return found

    def _long(self, index: int) -> int:
        """An index of the shader in 64 bits; indices have a sign (SPIR-V, OpAccessChain)."""
        if self.to.type_of(index).words[0] == LONG:
            return self.to.id(index)
        return self.to.value(Op.SConvert, self.to.builder.type_int(LONG), self.to.id(index))

    # --- loads and stores ---------------------------------------------------------------

    def load(self, old: int, access: Access) -> int:
        """The value of all that a pointer of the shader points to."""
        placed = self.place(old)
        self._check_size(placed)
        return self._load(self.pointer(old), Step(placed), access)

    def _load(self, base: Pointer, step: Step, access: Access) -> int:
        placed = step.placed
        type_ = self.layout.definition(placed)
        if self._is_in_parts(placed):
            parts = [self._load(base, replace(step, placed=part, offset=step.offset + offset), access)
                     for part, offset in self.layout.parts(placed)]
            return self.to.composite(self.types[placed.type_id], parts)
        found, leaf = self.at(base, step), self.types.leaf(placed)
        value = self.to.value(Op.Load, leaf.type_id, found.id, *self._words(found, step, access))
        if type_.opcode == Op.TypePointer:
            value = self.to.value(Op.ConvertUToPtr, self.types[placed.type_id], value)
        return value

    def store(self, old: int, value: int, access: Access) -> None:
        """Store a value of the kernel to all that a pointer of the shader points to."""
        placed = self.place(old)
        self._check_size(placed)
        self._store(self.pointer(old), Step(placed), value, access)

    def _store(self, base: Pointer, step: Step, value: int, access: Access) -> None:
        placed = step.placed
        if self._is_in_parts(placed):
            for index, (part, offset) in enumerate(self.layout.parts(placed)):
                member = self.to.value(Op.CompositeExtract, self.types[part.type_id], value, index)
                self._store(base, replace(step, placed=part, offset=step.offset + offset), member, access)
            return
        if self.layout.definition(placed).opcode == Op.TypePointer:
            value = self.to.value(Op.ConvertPtrToU, self.to.builder.type_int(LONG), value)
        found = self.at(base, step)
        self.to.builder.emit(Op.Store, found.id, value, *self._words(found, step, access))

    def _is_in_parts(self, placed: Placed) -> bool:
        type_ = self.layout.definition(placed)
        return type_.opcode in COMPOSITES or (type_.opcode == Op.TypeVector and not self.layout.is_plain_vector(placed))

    def _words(self, found: Pointer, step: Step, access: Access) -> tuple[int, ...]:
        """The memory operands of an access to a part: its alignment is what is known, at least that of a scalar."""
        scalar = self.types.leaf(Placed(next(self.layout.scalars(step.placed)))).size
        told = math.gcd(access.alignment, step.offset) if step.offset else access.alignment
        known = max(scalar, told, found.alignment)
        return replace(access, alignment=1).words(min(known, found.leaf.size))

    def _check_size(self, placed: Placed) -> None:
        if self.layout.definition(placed).opcode == Op.TypeRuntimeArray or self._parts(placed) > MOST_PARTS:
            raise Error(f"a composite of more than {MOST_PARTS} parts is loaded or stored as a whole")

    def _parts(self, placed: Placed) -> int:
        type_ = self.layout.definition(placed)
        if type_.opcode == Op.TypeStruct:
            return sum(self._parts(part) for part, _ in self.layout.parts(placed))
        if type_.opcode in COMPOSITES:
            return self.layout.length(placed) * self._parts(self.layout.element(placed)[0])
        return 1
