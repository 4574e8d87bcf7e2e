"""Types of the kernel tree: scalars, vectors, pointers, aggregates and cooperative matrices.

Types are immutable and compare by structure, except records, which compare by identity as C's
structures do. Sizes and alignments are those of OpenCL C on a 64-bit device (OpenCL C 6.1.5, 6.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class AddressSpace(Enum):
    """Where an object lives; the values are the address-space numbers of LLVM's SPIR targets."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4

    def __str__(self) -> str:
        return f"__{self.name.lower()}"


class Use(Enum):
    """Role of a cooperative matrix in ``D = A*B + C``; the values are SPIR-V's."""

    A = 0
    B = 1
    ACCUMULATOR = 2

    def __str__(self) -> str:
        return f"CLK_COOPERATIVE_MATRIX_{self.name}"


class ExecutionScope(Enum):
    """Scopes of execution; the values are SPIR-V's."""

    CROSS_DEVICE = 0
    DEVICE = 1
    WORKGROUP = 2
    SUBGROUP = 3
    INVOCATION = 4


class Type:
    """Base of all types."""

    __slots__ = ()

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer scalar (bool and enumerations excluded)."""
        return isinstance(self, Scalar) and self.kind in ("sint", "uint")

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point scalar, bfloat16 included."""
        return isinstance(self, Scalar) and self.kind in ("float", "bfloat")

    @property
    def is_arithmetic(self) -> bool:
        """Whether this is a scalar that takes part in arithmetic."""
        return isinstance(self, (Scalar, Enumeration))

    @property
    def element(self) -> Type:
        """The element type of a vector or matrix; the type itself otherwise."""
        return self


@dataclass(frozen=True, slots=True)
class Void(Type):
    """The type of expressions without a value."""

    def __str__(self) -> str:
        return "void"


_SCALAR_NAMES = {
    ("bool", 1): "bool",
    ("sint", 8): "char", ("sint", 16): "short", ("sint", 32): "int", ("sint", 64): "long",
    ("uint", 8): "uchar", ("uint", 16): "ushort", ("uint", 32): "uint", ("uint", 64): "ulong",
    ("float", 16): "half", ("float", 32): "float", ("float", 64): "double",
    ("bfloat", 16): "__bf16",
}

# Names of the spec's ``matrix_type`` for the element types of matrices.
_FORMAT_NAMES = {("float", 16): "fp16", ("float", 32): "fp32", ("float", 64): "fp64", ("bfloat", 16): "bf16"}


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """A scalar: ``kind`` is bool, sint, uint, float or bfloat; ``bits`` its width in bits."""

    kind: str
    bits: int

    def __post_init__(self) -> None:
        if (self.kind, self.bits) not in _SCALAR_NAMES:
            raise ValueError(f"no scalar type {self.kind}{self.bits}")

    @property
    def is_signed(self) -> bool:
        """Whether values can be negative."""
        return self.kind in ("sint", "float", "bfloat")

    @property
    def format_name(self) -> str:
        """The name in :data:`coopmat.formats.FORMATS`."""
        return _FORMAT_NAMES.get((self.kind, self.bits), f"{self.kind}{self.bits}")

    def __str__(self) -> str:
        return _SCALAR_NAMES[self.kind, self.bits]


@dataclass(frozen=True, slots=True)
class Enumeration(Type):
    """A C enumeration; its values are those of the integer type ``underlying``."""

    name: str
    underlying: Scalar = Scalar("sint", 32)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Event(Type):
    """What an asynchronous copy returns, and wait_group_events waits for; its only constant is the null event."""

    def __str__(self) -> str:
        return "event_t"


@dataclass(frozen=True, slots=True)
class Vector(Type):
    """An OpenCL vector of 2, 3, 4, 8 or 16 scalars (a vector of bool is the result of a comparison)."""

    scalar: Scalar
    count: int

    @property
    def element(self) -> Type:
        return self.scalar

    def __str__(self) -> str:
        return f"{self.scalar}{self.count}"


@dataclass(frozen=True, slots=True)
class Matrix(Type):
    """A cooperative matrix, spread over the work-items of ``scope`` (RFC 4.1)."""

    scalar: Scalar
    scope: ExecutionScope
    rows: int
    columns: int
    use: Use

    @property
    def element(self) -> Type:
        return self.scalar

    def __str__(self) -> str:
        return (f"{self.scalar} __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_{self.scope.name}, "
                f"{self.rows}, {self.columns}, {self.use})))")


@dataclass(frozen=True, slots=True)
class Pointer(Type):
    """A pointer; ``const`` and ``volatile`` qualify what it points to.

    ``alignment`` is that of what it points to where a type name with ``aligned`` says so; it is no part
    of the type's identity.
    """

    pointee: Type
    address_space: AddressSpace
    const: bool = False
    volatile: bool = False
    alignment: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        qualifiers = "".join(f"{word} " for word in ("const", "volatile") if getattr(self, word))
        return f"{self.address_space} {qualifiers}{self.pointee} *"


@dataclass(frozen=True, slots=True)
class Array(Type):
    """An array of ``count`` elements."""

    item: Type
    count: int

    def __str__(self) -> str:
        dimensions, item = f"[{self.count}]", self.item
        while isinstance(item, Array):
            dimensions, item = f"{dimensions}[{item.count}]", item.item
        return f"{item}{dimensions}"


@dataclass(frozen=True, slots=True)
class Field:
    """One member of a record. ``type_alignment`` is that of its type where a type name with ``aligned`` says
    so, ``alignment`` what ``aligned`` asks for at least; a ``packed`` member needs no other. ``of_device``:
    the device decides its size (``size_t``)."""

    name: str
    type: Type
    const: bool = False
    type_alignment: int | None = None
    alignment: int | None = None
    packed: bool = False
    of_device: bool = False


@dataclass(eq=False, slots=True)
class Record(Type):
    """A structure or union. ``fields`` is None until the type is completed. ``most_alignment`` is what the
    members are aligned to at most (``#pragma pack``)."""

    name: str
    is_union: bool = False
    fields: tuple[Field, ...] | None = None
    packed: bool = False
    alignment: int | None = None  # __attribute__((aligned(n))), in bytes
    most_alignment: int | None = None
    _layout: tuple[object, Layout] | None = field(default=None, init=False, repr=False)  # what it is for, and it

    def field_index(self, name: str) -> int | None:
        """Position of the member called ``name``, or None."""
        for index, member in enumerate(self.fields or ()):
            if member.name == name:
                return index
        return None

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return f"{'union' if self.is_union else 'struct'} {self.name}"


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    """The type of a function."""

    result: Type
    parameters: tuple[Type, ...]

    def __str__(self) -> str:
        return f"{self.result} ({', '.join(map(str, self.parameters))})"


VOID = Void()
EVENT = Event()
BOOL = Scalar("bool", 1)
CHAR, SHORT, INT, LONG = (Scalar("sint", bits) for bits in (8, 16, 32, 64))
UCHAR, USHORT, UINT, ULONG = (Scalar("uint", bits) for bits in (8, 16, 32, 64))
HALF, FLOAT, DOUBLE = (Scalar("float", bits) for bits in (16, 32, 64))
BFLOAT16 = Scalar("bfloat", 16)
SIZE_T = ULONG
PTRDIFF_T = LONG
POINTER_BYTES = EVENT_BYTES = 8

SCALARS: dict[str, Scalar] = {str(scalar): scalar for scalar in (
    BOOL, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, HALF, FLOAT, DOUBLE, BFLOAT16)}
VECTOR_COUNTS = (2, 3, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Layout:
    """Size and alignment in bytes; for records also the members' offsets."""

    size: int
    alignment: int
    offsets: tuple[int, ...] = field(default=())


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def layout_of(type_: Type) -> Layout:
    """Size, alignment and member offsets of ``type_`` in memory; ValueError for an incomplete type."""
    match type_:
        case Scalar(bits=bits):
            size = max(1, bits // 8)
            return Layout(size, size)
        case Enumeration(underlying=underlying):
            return layout_of(underlying)
        case Vector(scalar=scalar, count=count):
            size = layout_of(scalar).size * (4 if count == 3 else count)
            return Layout(size, size)
        case Pointer():
            return Layout(POINTER_BYTES, POINTER_BYTES)
        case Event():
            return Layout(EVENT_BYTES, EVENT_BYTES)
        case Array(item=item, count=count):
            inner = layout_of(item)
            return Layout(inner.size * count, inner.alignment)
        case Matrix(scalar=scalar, rows=rows, columns=columns):
            inner = layout_of(scalar)
            return Layout(inner.size * rows * columns, inner.alignment)
        case Record():
            return _record_layout(type_)
    raise ValueError(f"'{type_}' has no size")


def _record_layout(record: Record) -> Layout:
    """Computed once: records inside one another may hold each other many times."""
    described = record.fields, record.packed, record.alignment, record.most_alignment
    if record._layout is None or record._layout[0] != described:
        record._layout = described, _new_record_layout(record)
    return record._layout[1]


def _new_record_layout(record: Record) -> Layout:
    if record.fields is None:
        raise ValueError(f"'{record}' is incomplete")
    offsets: list[int] = []
    end, alignment = 0, 1
    for member in record.fields:
        step = _member_alignment(record, member)
        alignment = max(alignment, step)
        offset = 0 if record.is_union else _round_up(end, step)
        offsets.append(offset)
        end = max(end, offset + size_of(member.type))
    alignment = max(alignment, record.alignment or 1)
    return Layout(_round_up(end, alignment), alignment, tuple(offsets))


def _member_alignment(record: Record, member: Field) -> int:
    """What a member's offset is a multiple of."""
    own = 1 if record.packed or member.packed else member.type_alignment or layout_of(member.type).alignment
    wanted = max(own, member.alignment or 1)
    return wanted if record.most_alignment is None else min(wanted, record.most_alignment)


def size_of(type_: Type) -> int:
    """Size of ``type_`` in bytes."""
    return layout_of(type_).size


def contains_matrix(type_: Type) -> bool:
    """Whether ``type_`` is a cooperative matrix or an aggregate that holds one."""
    pending, seen = [type_], set[Record]()
    while pending:
        match pending.pop():
            case Matrix():
                return True
            case Array(item=item):
                pending.append(item)
            case Record(fields=fields) as record if record not in seen:
                seen.add(record)
                pending += [member.type for member in fields or ()]
    return False
