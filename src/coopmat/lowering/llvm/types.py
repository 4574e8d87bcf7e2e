"""Tree types and constants as LLVM IR text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from coopmat.formats import FORMATS, to_bits
from coopmat.lowering.memory import memory_type, physical_record
from coopmat.tree import types as t

DATA_LAYOUT = ("e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-"
               "n8:16:32:64-G1")
"""The data layout of LLVM's SPIR-V targets with 64-bit pointers."""

TRIPLE = "spirv64-unknown-unknown"

_FLOAT_NAMES = {("float", 16): "half", ("float", 32): "float", ("float", 64): "double",
                ("bfloat", 16): "bfloat"}
_PLAIN_IDENTIFIER = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*\Z")


def identifier(sigil: str, name: str) -> str:
    """``%name`` or ``@name``, quoted where LLVM's syntax asks for it."""
    if _PLAIN_IDENTIFIER.match(name):
        return sigil + name
    return f"{sigil}{quoted(name)}"


def quoted(text: str) -> str:
    """A string between quotes; what is not printable ASCII is escaped byte by byte."""
    escaped = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
                      for byte in text.encode("utf-8", "surrogateescape"))
    return f'"{escaped}"'


class TypeText:
    """Writes types; remembers the definitions of named structures in ``definitions``."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}
        self._records: dict[t.Record, str] = {}

    def value(self, type_: t.Type) -> str:
        """The type of values of ``type_``."""
        match type_:
            case t.Void():
                return "void"
            case t.Scalar():
                return scalar_text(type_)
            case t.Vector(scalar=scalar, count=count):
                return f"<{count} x {scalar_text(scalar)}>"
            case t.Matrix(scalar=scalar, scope=scope, rows=rows, columns=columns, use=use):
                return (f'target("spirv.CooperativeMatrixKHR", {scalar_text(scalar)}, {scope.value}, '
                        f"{rows}, {columns}, {use.value})")
            case t.Pointer(address_space=space):
                return "ptr" if space is t.AddressSpace.PRIVATE else f"ptr addrspace({space.value})"
            case t.Event():
                return 'target("spirv.Event")'
            case t.Array(item=item, count=count):
                return f"[{count} x {self.memory(item)}]"
            case t.Record():
                return self._record(type_)
        return self.value(memory_type(type_))

    def memory(self, type_: t.Type) -> str:
        """The type that holds a value of ``type_`` in memory."""
        return self.value(memory_type(type_))

    def _record(self, record: t.Record) -> str:
        if record not in self._records:
            base = name = str(record).replace(" ", ".")
            taken = set(self._records.values())
            while identifier("%", name) in taken:
                name = f"{base}.{len(self._records)}"
            self._records[record] = identifier("%", name)
            physical = physical_record(record)
            members = f"{{ {', '.join(map(self.memory, physical.members))} }}" if physical.members else "{}"
            self.definitions[self._records[record]] = f"<{members}>" if physical.packed else members
        return self._records[record]


def scalar_text(scalar: t.Scalar) -> str:
    """``i32``, ``half``, ..."""
    return _FLOAT_NAMES.get((scalar.kind, scalar.bits), f"i{scalar.bits}")


def zero_text(type_: t.Type) -> str:
    """The zero value of any type."""
    if isinstance(type_, t.Pointer):
        return "null"
    if isinstance(type_, t.Scalar):
        return scalar_constant(type_, 0)
    return "zeroinitializer"


def scalar_constant(scalar: t.Scalar, value: int | float | bool) -> str:
    """A constant of a scalar type."""
    if scalar.kind == "bool":
        return "true" if value else "false"
    if not scalar.is_float:
        return str(int(value))
    return _float_constant(scalar, float(value))


def _float_constant(scalar: t.Scalar, value: float) -> str:
    """Six decimals where they are exact, as LLVM itself prints; else the bits.

    float and double are written with the bits of a double, the 16-bit types with their own.
    """
    fmt = FORMATS[scalar.format_name]
    bits = int(to_bits(np.array([value]), fmt)[0])
    if fmt.bits == 16:
        return f"0x{'R' if scalar.kind == 'bfloat' else 'H'}{bits:04X}"
    if fmt.bits == 32:
        value = float(np.array(bits, np.uint32).view(np.float32))
    decimal = f"{value:.6e}"
    if np.isfinite(value) and float(decimal) == value:
        return decimal
    return f"0x{int(np.array(value, np.float64).view(np.uint64)):016X}"


def composite_constant(type_: t.Type, element_type: str, elements: Iterable[str]) -> str:
    """An array, vector or structure; a structure's elements carry their types already."""
    match type_:
        case t.Record():
            members = f"{{ {', '.join(elements)} }}"
            return f"<{members}>" if physical_record(type_).packed else members
        case t.Vector():
            return f"<{', '.join(f'{element_type} {element}' for element in elements)}>"
    return f"[{', '.join(f'{element_type} {element}' for element in elements)}]"
