"""The memory of a module's own variables: constants, and variables that keep their content between launches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.imports import imported_name, unresolved
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, TypeTable, VectorType, contains_matrix, round_up
from coopmat.spirv.grammar import CHAINS, Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_number
from coopmat.support.forks import UNBROKEN

NULLS = frozenset({Op.ConstantNull, Op.Undef, Op.PoisonKHR, Op.ConstantFalse, Op.SpecConstantFalse})
TRUTHS = frozenset({Op.ConstantTrue, Op.SpecConstantTrue})
NUMBERS = frozenset({Op.Constant, Op.SpecConstant})
COMPOSITES = frozenset({Op.ConstantComposite, Op.SpecConstantComposite})
REPLICATED = frozenset({Op.ConstantCompositeReplicateEXT, Op.SpecConstantCompositeReplicateEXT})
SAME_BITS = frozenset({Op.Bitcast, Op.PtrCastToGeneric, Op.GenericCastToPtr, Op.GenericCastToPtrExplicit,
                       Op.ConvertPtrToU, Op.ConvertUToPtr, Op.CopyObject})
ALIGNMENT = 64  # of variables
STORAGES = (StorageClass.CrossWorkgroup, StorageClass.UniformConstant)


class GlobalMemory:
    """The variables of a module that all its kernels share; each gets its memory when its address is first needed."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._types = TypeTable(module, 1)
        self._memory: dict[int, np.ndarray] = {}

    def address(self, identifier: int) -> int:
        """The address of a variable. Error for one that is imported, in other storage, or too large; and for an
        initial value that cannot be computed here."""
        return int(self.content(identifier).ctypes.data)

    def content(self, identifier: int) -> np.ndarray:
        """The bytes of a variable: the memory itself. Error as for its address."""
        with UNBROKEN:
            if identifier not in self._memory:
                self._make(self._module.definition(identifier))
            return self._memory[identifier]

    def regions(self) -> Iterator[tuple[int, np.ndarray, bool]]:
        """The variables that have memory: id, memory, whether kernels may write there."""
        with UNBROKEN:
            found = list(self._memory.items())
        for identifier, memory in found:
            yield identifier, memory, self._module.definition(identifier).words[0] != StorageClass.UniformConstant

    def name(self, identifier: int) -> str:
        """The name that the module gives a variable, or its id."""
        return self._module.names.get(identifier) or f"%{identifier}"

    def _make(self, row: Instruction) -> None:
        assert row.result_id is not None
        name = imported_name(self._module, row.result_id)
        if name is not None:
            raise unresolved("variable", name)
        kind = self._types.pointee(self._types[row.type_id or 0])
        if row.words[0] not in STORAGES or contains_matrix(kind):
            raise Error(f"the variable '{self._name(row)}' of type {kind} in storage class "
                        f"{StorageClass(row.words[0]).name} has no address that a constant can hold")
        try:
            memory = np.zeros(kind.size + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError) as error:
            raise Error(f"the variable '{self._name(row)}' needs {kind.size} bytes, more memory than there is"
                        ) from error
        start = -memory.ctypes.data % ALIGNMENT
        self._memory[row.result_id] = memory[start:start + kind.size]
        if len(row.words) > 1:
            try:  # an initial value may have addresses, of this variable, too
                self._write(self._memory[row.result_id], kind, row.words[1])
            except Error:
                del self._memory[row.result_id]
                raise

    def _name(self, row: Instruction) -> str:
        return self.name(row.result_id or 0)

    # --- initial values ---------------------------------------------------------------

    def _write(self, memory: np.ndarray, kind: Type, identifier: int) -> None:
        """Write a constant to memory that is zero."""
        row = self._module.definition(identifier)
        if row.opcode in NULLS:
            return
        if row.opcode in COMPOSITES | REPLICATED:
            for number, (part, offset) in enumerate(_parts(kind)):
                word = row.words[number if row.opcode in COMPOSITES else 0]
                self._write(memory[offset:offset + part.size], part, word)
            return
        value = self._number(row) & (1 << 8 * kind.size) - 1
        memory[:] = np.frombuffer(value.to_bytes(kind.size, "little"), np.uint8)

    def _number(self, row: Instruction) -> int:
        """The bits of a scalar; addresses are those of variables."""
        if row.opcode == Op.Variable:
            return self.address(row.result_id or 0)
        if row.opcode in NUMBERS:
            return decode_number(row.words)
        if row.opcode in NULLS | TRUTHS:
            return int(row.opcode in TRUTHS)
        if row.opcode == Op.SpecConstantOp:
            opcode, *words = row.words
            if opcode in SAME_BITS:
                return self._number(self._module.definition(words[0]))
            if opcode in CHAINS:
                return self._chain(Op(opcode), words)
            if opcode in _ARITHMETIC:
                return _ARITHMETIC[Op(opcode)](*(self._number(self._module.definition(word)) for word in words))
            raise Error(f"Op{Op(opcode).name} is not possible in the initial value of a variable; possible are "
                        "constants, addresses of variables, and sums of those")
        raise Error(f"{row.name} is not possible in the initial value of a variable")

    def _chain(self, opcode: Op, words: Sequence[int]) -> int:
        """The address of a part of a variable."""
        base = self._module.definition(words[0])
        kind = self._types.pointee(self._types[base.type_id or 0])
        address = self._number(base)
        first = CHAINS[opcode]
        if first == 2:
            address += self._index(words[1]) * round_up(kind.size, kind.alignment)
        for word in words[first:]:
            index = self._index(word)
            if isinstance(kind, StructType) and 0 <= index < len(kind.members):
                address, kind = address + kind.offsets[index], kind.members[index]
            elif isinstance(kind, ArrayType):
                address, kind = address + index * kind.stride, kind.element
            elif isinstance(kind, VectorType):
                address, kind = address + index * kind.component.size, kind.component
            else:
                raise Error(f"Op{opcode.name} in a constant: there is no part {index} in a value of type {kind}")
        return address

    def _index(self, word: int) -> int:
        """An index: a number with a sign."""
        row = self._module.definition(word)
        bits = 8 * self._types[row.type_id or 0].size
        value = self._number(row) % (1 << bits)
        return value - (value >> bits - 1 << bits)


_ARITHMETIC: dict[Op, Callable[[int, int], int]] = {Op.IAdd: lambda a, b: a + b, Op.ISub: lambda a, b: a - b}


def _parts(kind: Type) -> Iterator[tuple[Type, int]]:
    """The types of a composite's constituents, and their offsets in bytes."""
    if isinstance(kind, StructType):
        yield from zip(kind.members, kind.offsets, strict=True)
    elif isinstance(kind, ArrayType):
        yield from ((kind.element, number * kind.stride) for number in range(kind.length))
    elif isinstance(kind, VectorType):
        yield from ((kind.component, number * kind.component.size) for number in range(kind.length))
