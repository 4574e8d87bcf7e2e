"""The tree that the fuzzer generates: types of OpenCL C, and nodes that the reducer can cut down.

A node renders to text by joining its parts. An expression also knows its type and, for integers, an interval of
its values: a signed operation is written plainly only where it cannot overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

BITS = {"char": 8, "short": 16, "int": 32, "long": 64, "float": 32, "double": 64}
VECTOR_COUNTS = (2, 3, 4, 8, 16)


@dataclass(frozen=True)
class Type:
    """A scalar (count 1) or a vector."""

    name: str
    count: int = 1

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.name}{self.count}"

    @property
    def is_float(self) -> bool:
        return self.name in ("float", "double")

    @property
    def is_signed(self) -> bool:
        return self.name in BITS

    @property
    def bits(self) -> int:
        """The width of an element."""
        return BITS[self.name if self.is_signed else self.name[1:]]

    @property
    def element(self) -> Type:
        return replace(self, count=1)

    @property
    def low(self) -> int:
        """The least value of an element (integers)."""
        return -(1 << self.bits - 1) if self.is_signed else 0

    @property
    def high(self) -> int:
        """The greatest value of an element (integers)."""
        return (1 << self.bits - self.is_signed) - 1

    def of_count(self, count: int) -> Type:
        return replace(self, count=count)

    def signed(self) -> Type:
        """The signed integer type of the same width and count."""
        return Type(_SIGNED[self.bits], self.count)

    def unsigned(self) -> Type:
        """The unsigned integer type of the same width and count."""
        return Type(f"u{_SIGNED[self.bits]}", self.count)


_SIGNED = {8: "char", 16: "short", 32: "int", 64: "long"}
INT, UINT, LONG, ULONG = Type("int"), Type("uint"), Type("long"), Type("ulong")
FLOAT, DOUBLE = Type("float"), Type("double")
INTEGERS = tuple(Type(prefix + name) for name in _SIGNED.values() for prefix in ("", "u"))
WIDE_INTEGERS = (INT, UINT, LONG, ULONG)
FLOATS = (FLOAT, DOUBLE)
SCALARS = INTEGERS + FLOATS


def promoted(type_: Type) -> Type:
    """C99 6.3.1.1: what an integer becomes in an expression."""
    return INT if type_.bits < 32 else type_


def common(left: Type, right: Type) -> Type:
    """C99 6.3.1.8: the type of an arithmetic operation on two scalars."""
    for type_ in reversed(FLOATS):
        if type_ in (left, right):
            return type_
    left, right = promoted(left), promoted(right)
    if left.bits != right.bits:
        return max(left, right, key=lambda type_: type_.bits)
    return left if not left.is_signed else right


class Node:
    """Text with nodes inside it."""

    def __init__(self, *parts: str | Node) -> None:
        self.parts: list[str | Node] = list(parts)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def children(self) -> Iterator[tuple[Node, int, Node]]:
        """Every node below this one, outermost first, with the place where it hangs: (parent, index, node)."""
        for index, part in enumerate(self.parts):
            if isinstance(part, Node):
                yield self, index, part
                yield from part.children()


class Expression(Node):
    """A value. ``low`` and ``high`` bound an integer scalar; the defaults are those of its type."""

    def __init__(self, type_: Type, *parts: str | Node, low: int | None = None, high: int | None = None) -> None:
        super().__init__(*parts)
        self.type = type_
        if type_.is_float:
            self.low = self.high = 0
        elif low is None or high is None or low < type_.low or high > type_.high:  # unknown, or it wraps
            self.low, self.high = type_.low, type_.high
        else:
            self.low, self.high = low, high

    def may_replace(self, other: Expression) -> bool:
        """Whether the kernel stays well defined with this expression in the other's place."""
        return self.type == other.type and other.low <= self.low and self.high <= other.high


class Statement(Node):
    """A statement or declaration, without its line's indentation."""


class Block(Node):
    """Statements, one below the other."""

    def __str__(self) -> str:
        lines = "\n".join(map(str, self.parts)).splitlines()
        return "{\n" + "".join(f"    {line}\n" for line in lines) + "}"


@dataclass
class Place:
    """Something of a type that can be read and, if writable, assigned. ``root`` is the variable it is part of."""

    type: Type
    root: str
    parts: tuple[str | int, ...]
    """Text, and numbers: a number n stands for an index below n."""
    writable: bool = True
    low: int | None = None
    high: int | None = None


@dataclass
class Array:
    """An array variable (or a pointer to its first element): what vload and pointer arithmetic work on."""

    element: Type
    length: int
    name: str
    root: str
    space: str = "private"


@dataclass
class Scope:
    """What is visible at a point of a function."""

    places: list[Place] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)

    def inner(self) -> Scope:
        return Scope(list(self.places), list(self.arrays))
