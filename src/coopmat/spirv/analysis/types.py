"""The types of a module as those who run it see them: numpy dtype, size and alignment in memory.

Integers have no sign in SPIR-V. Values of integers are *signed* two's-complement numpy arrays of their width
(a 4-bit integer in an ``int8``, sign-extended); an operation that reads its operand as unsigned views it as such.
Pointers are ``int64`` addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from coopmat.devices import USES
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.layouts import MOST_ELEMENTS, matrix_layout, work_group_layout
from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.grammar import CooperativeMatrixUse, Decoration, Op, Scope
from coopmat.spirv.module.content import Content
from coopmat.spirv.module.instruction import Instruction
from coopmat.support.cached import cached_property
from coopmat.support.limits import DEEPEST_TYPE

BFLOAT16_ENCODING = 0  # FPEncoding BFloat16KHR
INT_DTYPES = {4: np.int8, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
FLOAT_DTYPES = {(16, None): np.float16, (32, None): np.float32, (64, None): np.float64,
                (16, BFLOAT16_ENCODING): ml_dtypes.bfloat16}
ADDRESS_BYTES = EVENT_BYTES = 8
MATRIX_SCOPES = (Scope.Workgroup, Scope.Subgroup)
VECTOR_LENGTHS = (2, 3, 4, 8, 16)


@dataclass(frozen=True)
class Type:
    """Base of all types. ``size`` and ``alignment`` are bytes in memory, padding included."""

    @property
    def size(self) -> int:
        raise Error(f"a value of type {self} has no size in memory")

    @property
    def alignment(self) -> int:
        return self.size

    @property
    def scalar(self) -> Type:
        """The type of one component of a scalar, vector or matrix."""
        return self

    @property
    def count(self) -> int:
        """Number of components: of a vector its length, of a scalar 1."""
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of the components."""
        raise Error(f"a value of type {self} is not a number")


@dataclass(frozen=True)
class VoidType(Type):
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True)
class BoolType(Type):
    @property
    def size(self) -> int:
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.bool_)

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True)
class IntType(Type):
    width: int

    @property
    def size(self) -> int:
        return self.dtype.itemsize

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(INT_DTYPES[self.width])

    def __str__(self) -> str:
        return f"int{self.width}"


@dataclass(frozen=True)
class FloatType(Type):
    width: int
    encoding: int | None = None

    @property
    def size(self) -> int:
        return self.width // 8

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(FLOAT_DTYPES[self.width, self.encoding])

    def __str__(self) -> str:
        return "bf16" if self.encoding == BFLOAT16_ENCODING else f"float{self.width}"


@dataclass(frozen=True)
class PointerType(Type):
    """A pointer. ``pointee_id`` is the pointee's type id: pointers may be declared ahead of it."""

    storage: int
    pointee_id: int

    @property
    def size(self) -> int:
        return ADDRESS_BYTES

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64)

    def __str__(self) -> str:
        return "pointer"


@dataclass(frozen=True)
class VectorType(Type):
    component: Type
    length: int

    @property
    def size(self) -> int:
        return self.component.size * (4 if self.length == 3 else self.length)

    @property
    def scalar(self) -> Type:
        return self.component

    @property
    def count(self) -> int:
        return self.length

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.component.dtype

    def __str__(self) -> str:
        return f"{self.component} vector of {self.length}"


@dataclass(frozen=True)
class ArrayType(Type):
    element: Type
    length: int

    @property
    def stride(self) -> int:
        """Bytes from one element to the next."""
        return round_up(self.element.size, self.element.alignment)

    @property
    def size(self) -> int:
        return self.stride * self.length

    @property
    def alignment(self) -> int:
        return self.element.alignment

    def __str__(self) -> str:
        return f"array of {self.length} {self.element}"


@dataclass(frozen=True)
class StructType(Type):
    members: tuple[Type, ...]
    packed: bool = False

    @cached_property
    def _ends(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each member: C's rules, without padding where ``packed``."""
        ends: list[tuple[int, int]] = []
        for member in self.members:
            start = ends[-1][1] if ends else 0
            start = start if self.packed else round_up(start, member.alignment)
            ends.append((start, start + member.size))
        return tuple(ends)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Byte offset of each member."""
        return tuple(start for start, _ in self._ends)

    @property
    def size(self) -> int:
        return round_up(self._ends[-1][1], self.alignment) if self.members else 0

    @property
    def alignment(self) -> int:
        return 1 if self.packed or not self.members else max(m.alignment for m in self.members)

    def __str__(self) -> str:
        return f"structure of {len(self.members)} members"


@dataclass(frozen=True)
class MatrixType(Type):
    """A cooperative matrix; in memory it is each work-item's slice of components (private storage only).

    work_items: of the group that shares it, a sub-group or, at scope Workgroup, a work-group.
    """

    component: Type
    rows: int
    columns: int
    use: int
    work_items: int = 1
    architecture: str = "generic"
    scope: Scope = Scope.Subgroup

    @property
    def is_of_work_group(self) -> bool:
        """Whether the work-items of a work-group share it."""
        return self.scope == Scope.Workgroup

    @property
    def layout(self) -> LaneLayout:
        """Which work-item holds which element."""
        find = work_group_layout if self.is_of_work_group else matrix_layout
        return find(self.architecture, USES[self.use], self._format, self.rows, self.columns, self.work_items)

    @property
    def _format(self) -> str:
        """The format that device tables know the matrix by: floats of A and B hold tf32, 16-bit integers bf16."""
        if isinstance(self.component, IntType):
            return "bf16" if self.component.width == 16 else f"sint{self.component.width}"
        assert isinstance(self.component, FloatType)
        if self.component.encoding is not None:
            return "bf16"
        is_operand = self.use != CooperativeMatrixUse.MatrixAccumulatorKHR
        return "tf32" if is_operand and self.component.width == 32 else f"fp{self.component.width}"

    @property
    def slice_length(self) -> int:
        """Components that each lane owns, padding included."""
        return self.layout.components

    @property
    def size(self) -> int:
        return self.component.size * self.slice_length

    @property
    def alignment(self) -> int:
        return self.component.size

    @property
    def scalar(self) -> Type:
        return self.component

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.component.dtype

    def __str__(self) -> str:
        shared = " of a work-group" if self.is_of_work_group else ""
        return f"{self.rows}x{self.columns} {self.component} matrix{shared}"


@dataclass(frozen=True)
class FunctionType(Type):
    result: Type
    parameters: tuple[Type, ...]


@dataclass(frozen=True)
class EventType(Type):
    """An event of an asynchronous copy: its number."""

    @property
    def size(self) -> int:
        return EVENT_BYTES

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int64)

    def __str__(self) -> str:
        return "event"


@dataclass(frozen=True)
class OpaqueType(Type):
    name: str

    def __str__(self) -> str:
        return self.name


class TypeTable:
    """The types of one module, made on demand; matrices have the slices of one sub-group size on one architecture,
    those of work-groups the slices of so many work-items (``work_group_items``, None: the kernel does not say how many;
    where nobody asks for slices, it may be left out).

    Raises :class:`ValidationError` for an id that is no type or a malformed one, and
    :class:`Error` for a type that no target has.
    """

    def __init__(self, module: Content, sub_group_size: int, architecture: str = "generic", *,
                 work_group_items: int | None = 1) -> None:
        self.module = module
        self.work_group_items = work_group_items
        self.sub_group_size = sub_group_size
        self.architecture = architecture
        self._types: dict[int, Type] = {}
        self._open: set[int] = set()

    def __getitem__(self, identifier: int) -> Type:
        if identifier not in self._types:
            if identifier in self._open:
                raise ValidationError("type-recursion", f"the type %{identifier} contains itself")
            if len(self._open) >= DEEPEST_TYPE:
                raise ValidationError("type-nesting", f"types are nested more than {DEEPEST_TYPE} deep")
            self._open.add(identifier)
            self._types[identifier] = self._make(self.module.definition(identifier))
            self._open.discard(identifier)
        return self._types[identifier]

    def pointee(self, pointer: Type) -> Type:
        """The type that a pointer type points to."""
        if not isinstance(pointer, PointerType):
            raise ValidationError("pointer-type", f"a pointer is needed, not a value of type {pointer}")
        return self[pointer.pointee_id]

    def _make(self, row: Instruction) -> Type:
        maker = _MAKERS.get(row.opcode)
        if maker is None and row.name.startswith("OpType"):
            raise Error(f"the type {row.name} is not supported")
        if maker is None:
            raise ValidationError("type-id", f"{row.name} is not a type", row.offset)
        return maker(self, row)

    def _constant(self, identifier: int) -> int:
        value = self.module.constant_value(identifier)
        if not isinstance(value, int):
            raise ValidationError("type-constant", f"%{identifier} must be an integer constant")
        return value


def _int_type(table: TypeTable, row: Instruction) -> Type:
    if row.words[0] not in INT_DTYPES:
        raise Error(f"integers of {row.words[0]} bits are not supported; the widths are 4, 8, 16, 32 and 64")
    return IntType(row.words[0])


def _float_type(table: TypeTable, row: Instruction) -> Type:
    encoding = row.words[1] if len(row.words) > 1 else None
    if (row.words[0], encoding) not in FLOAT_DTYPES:
        raise Error(f"{row.words[0]}-bit floating point of encoding {encoding} is not supported; "
                    "the formats are fp16, bf16, fp32 and fp64")
    return FloatType(row.words[0], encoding)


def _vector_type(table: TypeTable, row: Instruction) -> Type:
    component = table[row.words[0]]
    if not is_number(component) or isinstance(component, VectorType | EventType):
        raise ValidationError("vector-component", f"a vector of {component} is not possible", row.offset)
    if row.words[1] not in VECTOR_LENGTHS:
        raise ValidationError("vector-length", f"a vector of {row.words[1]} components is not possible", row.offset)
    if component == IntType(4):
        raise Error("vectors of 4-bit integers are not supported")
    return VectorType(component, row.words[1])


def _array_type(table: TypeTable, row: Instruction) -> Type:
    return ArrayType(table[row.words[0]], table._constant(row.words[1]))


def _struct_type(table: TypeTable, row: Instruction) -> Type:
    assert row.result_id is not None
    packed = any(name == Decoration.CPacked for name, _ in table.module.decorations(row.result_id))
    return StructType(tuple(table[member] for member in row.words), packed)


def _matrix_type(table: TypeTable, row: Instruction) -> Type:
    component = table[row.words[0]]
    if not isinstance(component, IntType | FloatType):
        raise ValidationError("matrix-type-operands", f"the components of a matrix cannot be {component}", row.offset)
    scope, rows, columns, use = (table._constant(word) for word in row.words[1:5])
    if scope not in MATRIX_SCOPES:
        raise Error(f"matrices of scope {scope} are not supported; the scope must be Workgroup (2) or Subgroup (3)")
    if rows * columns > MOST_ELEMENTS:
        raise Error(f"a matrix of {rows}x{columns} components is too large; at most {MOST_ELEMENTS} are possible")
    if rows < 1 or columns < 1:
        raise ValidationError("matrix-type-operands", f"a matrix of {rows}x{columns} components is not possible",
                              row.offset)
    if use >= len(USES):
        raise ValidationError("matrix-type-operands", f"a matrix of use {use} is not possible", row.offset)
    work_items = table.work_group_items if scope == Scope.Workgroup else table.sub_group_size
    if work_items is None:
        raise ValidationError("matrix-scope", "a kernel with cooperative matrices of a work-group must require a "
                              "work-group size (execution mode LocalSize or LocalSizeId)", row.offset)
    return MatrixType(component, rows, columns, use, work_items, table.architecture, Scope(scope))


def _function_type(table: TypeTable, row: Instruction) -> Type:
    return FunctionType(table[row.words[0]], tuple(table[word] for word in row.words[1:]))


_MAKERS: dict[int, Callable[[TypeTable, Instruction], Type]] = {
    Op.TypeVoid: lambda table, row: VoidType(),
    Op.TypeBool: lambda table, row: BoolType(),
    Op.TypeInt: _int_type,
    Op.TypeFloat: _float_type,
    Op.TypeVector: _vector_type,
    Op.TypeArray: _array_type,
    Op.TypeStruct: _struct_type,
    Op.TypePointer: lambda table, row: PointerType(row.words[0], row.words[1]),
    Op.TypeCooperativeMatrixKHR: _matrix_type,
    Op.TypeFunction: _function_type,
    Op.TypeEvent: lambda table, row: EventType(),
    Op.TypeOpaque: lambda table, row: OpaqueType("opaque type"),
}


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple


def is_number(kind: Type) -> bool:
    """Whether the type is a scalar or vector with a numpy dtype (pointers and events included)."""
    return isinstance(kind, VectorType | BoolType | IntType | FloatType | PointerType | EventType)


def contains_matrix(kind: Type) -> bool:
    """Whether a cooperative matrix is part of the type."""
    if isinstance(kind, ArrayType):
        return contains_matrix(kind.element)
    if isinstance(kind, StructType):
        return any(map(contains_matrix, kind.members))
    return isinstance(kind, MatrixType)
