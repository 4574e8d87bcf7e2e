"""Which memory generic pointers may point into, and where instructions read or write through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.spirv.edit.functions import MERGES, FunctionEditor
from coopmat.spirv.grammar import CHAINS, OPENCL_STD, TERMINATORS, MemorySemantics, Op, StorageClass
from coopmat.spirv.module.instruction import Instruction

ANY = -1
"""Among the storage classes of a pointer: nobody knows which."""
SAME_PLACE = frozenset({*CHAINS, Op.Bitcast, Op.CopyObject})
"""Instructions that make of a pointer, their first operand, another one into the same memory."""
COMPARISONS = frozenset({Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff})
NOWHERE = frozenset({Op.ConstantNull, Op.Undef})
"""Pointers to nothing."""
_VALUES: dict[int, slice] = {
    Op.Store: slice(1, 2), Op.AtomicStore: slice(3, 4), Op.AtomicExchange: slice(3, 4),
    Op.AtomicCompareExchange: slice(4, 6), Op.CompositeInsert: slice(0, 1), Op.VectorInsertDynamic: slice(1, 2),
}
"""Instructions that read or write through pointers, with the operands that are pointers as values."""
_ONLY_VALUES = frozenset({
    *SAME_PLACE, *COMPARISONS, Op.Phi, Op.Select, Op.FunctionCall, Op.ReturnValue, Op.CompositeConstruct,
    Op.ConvertPtrToU, Op.GenericCastToPtr, Op.GenericCastToPtrExplicit, Op.GenericPtrMemSemantics, Op.LifetimeStart,
    Op.LifetimeStop, *MERGES, *TERMINATORS,
})
MEMORIES: dict[int, int] = {StorageClass.Workgroup: MemorySemantics.WorkgroupMemory,
                            StorageClass.CrossWorkgroup: MemorySemantics.CrossWorkgroupMemory}
"""What OpGenericPtrMemSemantics gives for pointers into a storage class; 0 for others."""
_PRINTF = OPENCL_STD["printf"]


class Storages:
    """The storage classes of the generic pointers of a module's functions."""

    def __init__(self, editor: FunctionEditor) -> None:
        self.editor = editor
        self.module = editor.module
        self._known: dict[int, set[int]] = {}
        self._followers: dict[int, list[int]] = {}
        rows = [row for body in editor.bodies for row in (*body.parameters, *body.rows())]
        changed = [row.result_id or 0 for row in rows if row.result_id is not None and self.is_generic(row.result_id)
                   and self._begin(row)]
        while changed:
            value = changed.pop()
            for follower in self._followers.get(value, ()):
                if not self._known[value] <= self._known[follower]:
                    self._known[follower] |= self._known[value]
                    changed.append(follower)
        casts = {self.storage(row.words[0]) for row in rows if row.opcode == Op.PtrCastToGeneric}
        self._all = frozenset(casts | {StorageClass.CrossWorkgroup})

    def is_generic(self, value: int) -> bool:
        """Whether a value is a generic pointer."""
        return self.storage(value) == StorageClass.Generic

    def storage(self, value: int) -> int:
        """The storage class of a pointer's type; ANY for what is no pointer."""
        type_id = self.editor.definition(value).type_id
        kind = self.editor.definition(type_id) if type_id is not None else None
        return kind.words[0] if kind is not None and kind.opcode == Op.TypePointer else ANY

    def only(self, value: int) -> int | None:
        """The one storage class into which a generic pointer can point, if that is known."""
        found = self._known.get(value, set())
        return next(iter(found)) if len(found) == 1 and ANY not in found else None

    def is_nowhere(self, value: int) -> bool:
        """Whether a generic pointer is never one to something."""
        return not self._known.get(value, set())

    def possible(self, value: int) -> frozenset[int]:
        """The storage classes into which a generic pointer can point; at least one."""
        found = self._known.get(value, set())
        return self._all if ANY in found else frozenset(found or {StorageClass.CrossWorkgroup})

    def _begin(self, row: Instruction) -> bool:
        """Enter a generic pointer; whether anything is known of it at first."""
        found: set[int] = set()
        sources: Sequence[int] = ()
        if row.opcode == Op.PtrCastToGeneric:
            found = {self.storage(row.words[0])}
        elif row.opcode in SAME_PLACE and self.storage(row.words[0]) != ANY:
            sources = row.words[:1]
        elif row.opcode == Op.Phi:
            sources = row.words[::2]
        elif row.opcode == Op.Select:
            sources = row.words[1:]
        elif row.opcode not in NOWHERE:
            found = {ANY}
        for source in sources:
            self._followers.setdefault(source, []).append(row.result_id or 0)
            found |= self._of_constant(source)
        self._known[row.result_id or 0] = found
        return bool(found)

    def _of_constant(self, value: int) -> set[int]:
        row = self.editor.definition(value)
        return {ANY} if row.opcode in (Op.SpecConstantOp, Op.ConstantComposite) else set()

    def through(self, row: Instruction) -> Iterator[int]:
        """The places of the generic pointers through which an instruction reads or writes."""
        if row.opcode in _ONLY_VALUES or (row.opcode == Op.ExtInst and self._prints(row)):
            return
        values = range(*_VALUES[row.opcode].indices(len(row.words))) if row.opcode in _VALUES else ()
        for place in row.id_places():
            if place not in values and self._is_pointer(row.words[place]):
                yield place

    def _is_pointer(self, identifier: int) -> bool:
        row = self.editor.definition(identifier)
        return row.opcode != Op.Function and row.type_id is not None and self.is_generic(identifier)

    def _prints(self, row: Instruction) -> bool:
        return row.words[1] == _PRINTF and self.module.instruction_sets.get(row.words[0]) == "OpenCL.std"
