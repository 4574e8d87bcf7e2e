"""Cooperative matrices that a module reaches by counting bytes.

A matrix has no size that SPIR-V knows: what leads into an array or a structure with matrices is an access chain. LLVM,
to which a matrix is as large as a pointer, makes pointers to bytes of such pointers and steps on by multiples of eight.
What it means is lost once a device lays matrices out in its own way.
"""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import CHAINS, Op
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.classes import Classes

_SAME_PLACE: dict[int, slice] = {  # instructions whose result leads where a pointer among these operands leads
    Op.Bitcast: slice(0, 1), Op.CopyObject: slice(0, 1), Op.PtrCastToGeneric: slice(0, 1),
    Op.GenericCastToPtr: slice(0, 1), Op.GenericCastToPtrExplicit: slice(0, 1), Op.Select: slice(1, 3),
    Op.Phi: slice(0, None, 2),
}
_ACCESSES: dict[int, int] = {Op.Load: 1, Op.Store: 1, Op.CopyMemory: 2, Op.CopyMemorySized: 2}  # of how many pointers
_STEPS: dict[int, int] = {int(op): count for op, count in CHAINS.items()}
_ARRAYS = (Op.TypeArray, Op.TypeRuntimeArray)
_TYPES = (*_ARRAYS, Op.TypeStruct, Op.TypeCooperativeMatrixKHR)


def check(module: Content) -> None:
    """Raise Error for a module that counts bytes to reach cooperative matrices."""
    counted = counted_in_bytes(module)
    if counted:
        name = next((module.names.get(function.id) or f"%{function.id}" for function in module.functions
                     for block in function.blocks if any(row is counted[0] for row in block.instructions)), "?")
        raise Error(f"{counted[0].name} in function '{name}' counts bytes to reach cooperative matrices, which have no "
                    "size in SPIR-V: what is meant cannot be told. An optimiser has made that of the module's source, "
                    "which took every matrix to be as large as a pointer")


def counted_in_bytes(module: Content) -> list[Instruction]:
    """The instructions that use a pointer to something else, such as bytes, to step on to cooperative matrices, or to
    read or write them."""
    opcodes = {row.opcode for row in module.instructions}
    if Op.TypeCooperativeMatrixKHR not in opcodes or opcodes.isdisjoint((Op.Bitcast, Op.CopyMemorySized)):
        return []
    pointers = _Pointers(module)
    return [row for row in pointers.uses if pointers.is_in_bytes(row)]


class _Pointers:
    """The pointers of a module, in classes of those that may lead into the same variable."""

    def __init__(self, module: Content) -> None:
        self._module = module
        self._classes = Classes[int]()
        self._elements: dict[int, int] = {}  # of arrays
        self._first: dict[int, int] = {}  # what structures and arrays begin with
        self._holding: set[int] = set()  # types with matrices in them
        self.uses: list[Instruction] = []
        for row in module.instructions:
            self._note(row)
        self._to_matrices: dict[int, set[int]] = {}  # classes that lead to matrices: the parts that those lie in
        for pointer in list(self._classes):
            if self._is_to_matrix(pointer):
                parts = self._to_matrices.setdefault(self._classes.find(pointer), set())
                parts.add(self._core(self._pointee(pointer) or 0))

    def _note(self, row: Instruction) -> None:
        if row.opcode in _ACCESSES or row.opcode in _STEPS:
            self.uses.append(row)
        if row.result_id is not None and row.opcode in _TYPES:
            self._note_type(row, row.result_id)
        if row.result_id is None or self._pointee(row.result_id) is None:
            return
        if row.opcode in _SAME_PLACE:
            for word in row.words[_SAME_PLACE[row.opcode]]:
                if not self._is_first_part(row.result_id, word):
                    self._classes.unite(word, row.result_id)
        elif _STEPS.get(row.opcode) == len(row.words):  # to another element
            self._classes.unite(row.words[0], row.result_id)

    def _note_type(self, row: Instruction, type_id: int) -> None:
        if row.opcode in _ARRAYS:
            self._elements[type_id] = row.words[0]
        self._first[type_id] = next(iter(row.words), type_id)
        parts = row.words if row.opcode == Op.TypeStruct else row.words[:1]
        if row.opcode == Op.TypeCooperativeMatrixKHR or not self._holding.isdisjoint(parts):
            self._holding.add(type_id)

    def is_in_bytes(self, row: Instruction) -> bool:
        """Whether an instruction uses a pointer that leads to matrices as one to something else, or copies bytes."""
        used = row.words[:_ACCESSES.get(row.opcode, 1)]
        if row.opcode == Op.CopyMemorySized and any(map(self._is_to_matrix, used)):
            return True
        used = tuple(word for word in used if word in self._classes and self._classes.find(word) in self._to_matrices)
        if not all(map(self._is_to_matrix, used)):
            return True
        return row.opcode in _STEPS and bool(used) and self._counts_wrong_parts(row)

    def _counts_wrong_parts(self, chain: Instruction) -> bool:
        """Whether an access chain steps on through what is laid out as something else: its pointer was cast, and the
        variable is made of other parts. A matrix's own components are no such parts."""
        base = chain.words[0]
        is_matrix = self._module.definition(self._pointee(base) or 0).opcode == Op.TypeCooperativeMatrixKHR
        if self._module.definition(base).opcode not in _SAME_PLACE or (is_matrix and _STEPS[chain.opcode] == 1):
            return False
        return len(self._to_matrices[self._classes.find(base)]) > 1

    def _pointee(self, value: int) -> int | None:
        """What a value points to; None of one that is no pointer."""
        type_id = self._module.definition(value).type_id if self._module.defines(value) else None
        type_ = self._module.definition(type_id) if type_id is not None and self._module.defines(type_id) else None
        return type_.words[1] if type_ is not None and type_.opcode == Op.TypePointer else None

    def _is_to_matrix(self, pointer: int) -> bool:
        return self._pointee(pointer) in self._holding

    def _core(self, type_id: int) -> int:
        """What arrays of arrays are made of."""
        seen: set[int] = set()
        while type_id in self._elements and type_id not in seen:
            seen.add(type_id)
            type_id = self._elements[type_id]
        return type_id

    def _is_first_part(self, pointer: int, whole: int) -> bool:
        """Whether a pointer is to a part without matrices that what ``whole`` points to begins with."""
        pointee, kind = self._pointee(pointer), self._pointee(whole)
        seen: set[int] = set()
        while kind is not None and kind not in seen:
            if kind == pointee:
                return kind not in self._holding
            seen.add(kind)
            kind = self._first.get(kind)
        return False
