"""Which memory of a work-group or work-item a pointer points into, and in what units that memory is read and written.

A shader's pointers to such memory cannot be computed with. So all variables that one pointer may point into lie in one
array of units, a *region*, and a pointer is the position of an element. Units are unsigned integers, or vectors of
them, as wide as the narrowest access allows: wider values are composed. Variables that hold cooperative matrices keep
their types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.offsets import factor_of, granularity, steps
from coopmat.spirv.analysis.types import (
    BoolType,
    MatrixType,
    PointerType,
    Type,
    TypeTable,
    contains_matrix,
)
from coopmat.spirv.grammar import CooperativeMatrixLayout, MemoryAccess, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Function
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.types import LOCAL, U64, as_number, is_leaf, members

WIDEST = 16
"""Bytes of the widest unit."""
_SAME = frozenset({Op.AccessChain, Op.InBoundsAccessChain, Op.PtrAccessChain, Op.InBoundsPtrAccessChain, Op.CopyObject,
                   Op.Bitcast})
CHAINS = {Op.AccessChain: 1, Op.InBoundsAccessChain: 1, Op.PtrAccessChain: 1, Op.InBoundsPtrAccessChain: 1}
_OF_MATRICES = frozenset({Op.CooperativeMatrixLoadKHR, Op.CooperativeMatrixStoreKHR})
_ESCAPED = -1


@dataclass(eq=False)
class Region:
    """An array in the shader: ``unit`` bytes wide are its elements; ``members`` are the variables and parameters in it.
    ``is_typed``: it is a single variable with its own type. ``has_null``: a null pointer may meet its pointers."""

    storage: int
    members: list[int] = field(default_factory=list)
    unit: int = WIDEST
    is_typed: bool = False


class Regions:
    """The regions of one function; of a pointer to global memory there is none."""

    def __init__(self, module: Module, function: Function, types: TypeTable) -> None:
        self.module = module
        self.types = types
        self._parent: dict[tuple[int, int], tuple[int, int]] = {}
        self._rows = [row for block in function.blocks for row in block.instructions]
        self._sources = [*(row for row in module.of_opcode(Op.Variable)), *function.parameters]
        for row in (*self._rows, *self._sources):
            self._unite(row)
        self._found: dict[tuple[int, int], Region] = {}
        for row in self._sources:
            self._add_member(row)
        for row in self._rows:
            self._narrow(row)

    def of(self, pointer: int) -> Region | None:
        """The region that a pointer points into."""
        kind = self._local(pointer)
        if kind is None:
            return None
        return self._found.setdefault(self._root((kind.storage, pointer)), Region(kind.storage))

    def of_stored(self, storage: int) -> Region:
        """The region that pointers in memory point into, or those made of integers."""
        return self._found.setdefault(self._root((storage, _ESCAPED)), Region(storage))

    def all(self) -> Iterable[Region]:
        """Every region, in the order of the variables."""
        return dict.fromkeys(self._found.values())

    def _local(self, identifier: int) -> PointerType | None:
        """The type of a pointer to memory that is no global memory; None for anything else."""
        row = self.module.definition(identifier)
        kind = self.types[row.type_id] if row.type_id is not None and row.opcode != Op.Function else None
        return kind if isinstance(kind, PointerType) and kind.storage in LOCAL else None

    def _root(self, node: tuple[int, int]) -> tuple[int, int]:
        while node in self._parent:
            node = self._parent[node]
        return node

    def _join(self, first: int, second: int) -> None:
        """Let two pointers point into one region; _ESCAPED stands for those that are in memory."""
        kind = self._local(first if first != _ESCAPED else second)
        other = kind if _ESCAPED in (first, second) else self._local(second)
        if kind is None or other is None:
            return
        one, two = self._root((kind.storage, first)), self._root((other.storage, second))
        if one != two:
            self._parent[two] = one

    def _unite(self, row: Instruction) -> None:
        result = row.result_id or 0
        if row.opcode in _SAME and self._local(result) is not None:
            self._join(result, row.words[0] if self._local(row.words[0]) is not None else _ESCAPED)
        elif row.opcode in (Op.Phi, Op.Select):
            values = row.words[::2] if row.opcode == Op.Phi else row.words[1:]
            for value in values if self._local(result) is not None else ():
                if self.module.definition(value).opcode not in (Op.ConstantNull, Op.Undef):
                    self._join(result, value)
        elif row.opcode in (Op.PtrEqual, Op.PtrNotEqual, Op.PtrDiff, Op.IEqual, Op.INotEqual):
            self._join(*row.words)
        elif row.opcode == Op.Store:
            self._join(row.words[1], _ESCAPED)
        elif row.opcode in _TAKING or row.opcode in _GIVING:
            taken = _TAKING.get(Op(row.opcode), _no_words)(row)
            for identifier in (*taken, result) if row.opcode in _GIVING else taken:
                self._join(identifier, _ESCAPED)

    def _add_member(self, row: Instruction) -> None:
        region = self.of(row.result_id or 0)
        if region is None:
            return
        region.members.append(row.result_id or 0)
        kind = self.types.pointee(self.types[row.type_id or 0])
        if contains_matrix(kind):
            region.is_typed = True
        if region.is_typed and len(region.members) > 1:
            raise Error("one pointer to several variables, one of which holds cooperative matrices, cannot be "
                        "translated to a shader")

    def _narrow(self, row: Instruction) -> None:
        """Make a region's units as narrow as one of its accesses needs."""
        if row.opcode in CHAINS:
            region = self.of(row.result_id or 0)
            for size in self._steps(row) if region is not None and not region.is_typed else ():
                self._at_most(region, size)
            return
        for pointer, kind, alignment in accesses(self.module, self.types, row):
            region = self.of(pointer)
            if region is not None and not region.is_typed:
                self._at_most(region, alignment)
                for size in _leaf_sizes(kind) if row.opcode not in _OF_MATRICES else ():
                    self._at_most(region, size)

    def _at_most(self, region: Region | None, size: int) -> None:
        if region is not None and size:
            region.unit = min(region.unit, size & -size)

    def _steps(self, row: Instruction) -> Iterator[int]:
        """The offsets and strides of a chain."""
        base = self.module.definition(row.words[0]).type_id or 0
        for step in steps(self.module, self.types, base, row):
            yield granularity(self.module, step)


_GIVING = frozenset({Op.Load, Op.CompositeExtract, Op.ConvertUToPtr, Op.AtomicExchange, Op.AtomicLoad, Op.Bitcast,
                     Op.VectorExtractDynamic})
"""Instructions whose results may be pointers out of other values."""


def _no_words(row: Instruction) -> tuple[int, ...]:
    return ()


_TAKING: dict[Op, Callable[[Instruction], tuple[int, ...]]] = {
    Op.CompositeConstruct: lambda row: row.words, Op.CompositeInsert: lambda row: row.words[:1],
    Op.ConvertPtrToU: lambda row: row.words[:1], Op.Bitcast: lambda row: row.words[:1],
    Op.AtomicExchange: lambda row: row.words[3:], Op.AtomicStore: lambda row: row.words[3:],
    Op.VectorInsertDynamic: lambda row: row.words[1:2],
}
"""Instructions that put pointers into other values, with the operands that may be such pointers."""


def _leaf_sizes(kind: Type) -> Iterator[int]:
    """The bytes of what is loaded and stored as a whole."""
    if is_leaf(kind):
        number = as_number(kind)
        yield number.scalar.size * (1 if isinstance(number.scalar, BoolType) else number.count)
    else:
        for _, member in members(kind):
            yield from _leaf_sizes(member)


def access_alignment(words: Iterable[int], natural: int) -> int:
    """The alignment that memory operands tell; without one, that of the type."""
    found = tuple(words)
    if found and found[0] & MemoryAccess.Aligned:
        return found[1]
    return natural


def accesses(module: Module, types: TypeTable, row: Instruction) -> Iterator[tuple[int, Type, int]]:
    """The pointers through which an instruction reads or writes, with the type of what is there and its alignment."""
    def pointee(pointer: int) -> Type:
        return types.pointee(types[module.definition(pointer).type_id or 0])

    name = row.name
    if row.opcode == Op.Load:
        kind = types[row.type_id or 0]
        yield row.words[0], kind, access_alignment(row.words[1:], _alignment(kind))
    elif row.opcode == Op.Store:
        kind = types[module.definition(row.words[1]).type_id or 0]
        yield row.words[0], kind, access_alignment(row.words[2:], _alignment(kind))
    elif row.opcode in (Op.CopyMemory, Op.GroupAsyncCopy):
        for pointer in row.words[:2] if row.opcode == Op.CopyMemory else row.words[1:3]:
            yield pointer, pointee(pointer), pointee(pointer).alignment
    elif row.opcode == Op.CopyMemorySized:
        size = module.constant_value(row.words[2]) if _is_constant(module, row.words[2]) else 1
        alignment = access_alignment(row.words[3:], 1)
        for pointer in row.words[:2]:
            yield pointer, U64, min(alignment, int(size or 1) & -int(size or 1))
    elif name.startswith("OpAtomic"):
        yield row.words[0], pointee(row.words[0]), pointee(row.words[0]).size
    elif row.opcode in _OF_MATRICES:
        yield row.words[0], pointee(row.words[0]), _alignment_of_lines(module, types, row)
    elif row.opcode == Op.ExtInst:
        for pointer in row.words[2:]:
            definition = module.definition(pointer)
            found = types[definition.type_id] if definition.type_id else None
            if isinstance(found, PointerType):
                yield pointer, types.pointee(found), types.pointee(found).scalar.size
    elif row.opcode in (Op.SubgroupBlockReadINTEL, Op.SubgroupBlockWriteINTEL):
        for pointer in row.words[:1]:
            yield pointer, pointee(pointer), pointee(pointer).scalar.size


def _alignment_of_lines(module: Module, types: TypeTable, row: Instruction) -> int:
    """Of the rows or columns of a matrix that is loaded or stored, if the first one is aligned well; also what divides
    their length."""
    is_load = row.opcode == Op.CooperativeMatrixLoadKHR
    pointer, layout, *rest = row.words if is_load else (row.words[0], *row.words[2:])
    matrix = types[row.type_id or 0] if is_load else types[module.definition(row.words[1]).type_id or 0]
    kind = types.pointee(types[module.definition(pointer).type_id or 0])
    if not isinstance(matrix, MatrixType) or not _is_constant(module, layout):
        return kind.scalar.size
    is_by_rows = module.constant_value(layout) == CooperativeMatrixLayout.RowMajorKHR
    length = (matrix.columns if is_by_rows else matrix.rows) * matrix.component.size
    stride = kind.size * factor_of(module, rest[0]) if rest else WIDEST
    return min(WIDEST, length & -length, stride & -stride)


def _is_constant(module: Module, identifier: int) -> bool:
    return module.definition(identifier).opcode in (Op.Constant, Op.ConstantNull)


def _alignment(kind: Type) -> int:
    return 1 if contains_matrix(kind) else kind.alignment
