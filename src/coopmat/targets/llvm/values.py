"""How values stand in the IR of a sub-group: numbers that are the same for all work-items, rise steadily, or vary.

A value of any type is the flat tuple of its leaves, in the order of the declaration: numbers and matrices.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import (
    BoolType,
    EventType,
    FloatType,
    IntType,
    MatrixType,
    PointerType,
    Type,
)


class Near(NamedTuple):
    """What a number of ``lanes`` is as well, under a condition: base + stride * lane. condition: an i1; empty: unless
    it wraps between two work-items, which an index into an array cannot. low: in so many of the lowest bits it is so
    without any condition."""

    base: str
    stride: int
    condition: str = ""
    low: int = 0


@dataclass(frozen=True, slots=True)
class Number:
    """One number of every work-item of a sub-group.

    type: LLVM's type of one of them. base: the operand for the first work-item, where the others' are known by it: each
    is ``stride`` above the one before it (0: all are the same). lanes: the operand for all of them, if they vary.
    is_id: it is a work-item's id or a part of one, far below 2**32. near: for numbers that have ``lanes``, what is
    mostly known of them; addresses are computed with it.
    """

    type: str
    base: str = ""
    stride: int = 0
    lanes: str = ""
    is_id: bool = False
    near: Near | None = None

    @property
    def is_single(self) -> bool:
        """Whether it is one operand: where work-items are lanes, the same for all of them."""
        return not self.lanes and self.stride == 0

    @property
    def is_linear(self) -> bool:
        """Whether it is known by its first work-item's."""
        return not self.lanes

    @property
    def nearly(self) -> Near | None:
        """Its base and stride, if they are known or mostly known."""
        return self.near if self.lanes else Near(self.base, self.stride, low=bits_of(self.type))


@dataclass(frozen=True, slots=True)
class Matrix:
    """A cooperative matrix: one value of the whole sub-group."""

    kind: MatrixType
    text: str


Leaf = Number | Matrix
Value = tuple[Leaf, ...]


def llvm_type(kind: Type) -> str:
    """LLVM's type of a scalar. bf16 numbers are held as their bits."""
    if isinstance(kind, BoolType):
        return "i1"
    if isinstance(kind, IntType):
        return f"i{8 * kind.size}"
    if isinstance(kind, FloatType):
        return "i16" if kind.encoding is not None else {16: "half", 32: "float", 64: "double"}[kind.width]
    if isinstance(kind, PointerType):
        return "ptr"
    if isinstance(kind, EventType):
        return "i64"
    raise Error(f"there is no number of type {kind}")


def bits_of(llvm: str) -> int:
    """The width of a number's type."""
    return {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}.get(llvm) or int(llvm[1:])


def size_of(llvm: str) -> int:
    """The bytes of a number, a vector, or an array of them, in memory."""
    if llvm[0] not in "[<":
        return bits_of(llvm) // 8
    count, part = llvm[1:-1].split(" x ", 1)
    whole = int(count) if llvm[0] == "[" else 1 << (int(count) - 1).bit_length()
    return whole * size_of(part)


_FLOAT_FORMATS = {"half": ("<e", "i16"), "float": ("<f", "i32"), "double": ("<d", "i64")}


def literal(llvm: str, value: float | bool) -> str:
    """A constant as an operand."""
    if llvm in _FLOAT_FORMATS:
        code, integer = _FLOAT_FORMATS[llvm]
        bits = int.from_bytes(struct.pack(code, value), "little")
        return f"bitcast ({integer} {bits} to {llvm})"
    if llvm == "ptr":
        return "null" if not value else f"inttoptr (i64 {int(value)} to ptr)"
    if llvm == "i1":
        return "true" if value else "false"
    width = int(llvm[1:])
    return str((int(value) + (1 << width - 1)) % (1 << width) - (1 << width - 1))


def float_bits(llvm: str, bits: int) -> str:
    """A floating-point constant by its bits."""
    return f"bitcast (i{bits_of(llvm)} {bits} to {llvm})"


def zero_of(llvm: str) -> str:
    """The zero of a type as an operand."""
    return {"half": "0.0", "float": "0.0", "double": "0.0", "ptr": "null", "i1": "false"}.get(llvm, "0")


def suffix(llvm: str) -> str:
    """How intrinsics' names spell a type: ``v16f32``, ``p0``, ``i32``."""
    if llvm.startswith("<"):
        count, element = llvm[1:-1].split(" x ")
        return f"v{count}{suffix(element)}"
    return {"half": "f16", "float": "f32", "double": "f64", "ptr": "p0"}.get(llvm, llvm)
