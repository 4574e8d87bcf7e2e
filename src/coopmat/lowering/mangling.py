"""Names that tell the types of a function's parameters, as clang makes them, by the Itanium C++ ABI.

They name the functions of OpenCL C that LLVM IR calls, and the program's own functions where several have one name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from coopmat.tree import nodes as n
from coopmat.tree import types as t

_SCALAR_CODES = {
    t.BOOL: "b", t.CHAR: "c", t.UCHAR: "h", t.SHORT: "s", t.USHORT: "t", t.INT: "i", t.UINT: "j",
    t.LONG: "l", t.ULONG: "m", t.HALF: "Dh", t.FLOAT: "f", t.DOUBLE: "d", t.BFLOAT16: "DF16b",
}
_MATRIX_KINDS = {"sint": "s", "uint": "u", "float": "f", "bfloat": "bf"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def function_name(function: n.Function) -> str:
    """The name of one of the program's functions. A kernel keeps its own, by which the host finds it."""
    if function.is_kernel or not function.overloadable:
        return function.name
    return mangled(function.name, function.type.parameters)


def mangled(name: str, types: Iterable[t.Type]) -> str:
    """The name of a function with parameters of these types."""
    return f"_Z{len(name)}{name}{parameter_codes(types)}"


def parameter_codes(types: Iterable[t.Type]) -> str:
    """The codes of a parameter list."""
    mangler = _Mangler()
    return "".join(mangler.code(_Qualified(type_)) for type_ in types) or "v"


def matrix_code(matrix: t.Matrix) -> str:
    """``f32_sc3_8x16_u2``: element, scope, rows and columns, use."""
    scalar = matrix.scalar
    return (f"{_MATRIX_KINDS[scalar.kind]}{scalar.bits}_sc{matrix.scope.value}_{matrix.rows}x{matrix.columns}"
            f"_u{matrix.use.value}")


@dataclass(frozen=True, slots=True)
class _Qualified:
    """A type with its qualifiers; ``space`` is set for what a pointer points to."""

    type: t.Type
    space: t.AddressSpace | None = None
    const: bool = False
    volatile: bool = False

    @property
    def qualifiers(self) -> str:
        """Their codes, the address space first; the private one, though a qualifier, has none."""
        space = "" if self.space in (None, t.AddressSpace.PRIVATE) else f"U3AS{self.space.value}"
        return space + "V" * self.volatile + "K" * self.const


class _Mangler:
    """Writes one parameter list; a compound type that occurs again is ``S_``, ``S0_``, ..."""

    def __init__(self) -> None:
        self._seen: list[_Qualified] = []

    def code(self, item: _Qualified) -> str:
        if item.space is None and isinstance(item.type, t.Scalar | t.Void):
            return self._plain(item)
        if item in self._seen:
            index = self._seen.index(item)
            return "S_" if index == 0 else f"S{_base36(index - 1)}_"
        if item.space is not None and not isinstance(item.type, t.Array):  # an array's elements are qualified
            code = item.qualifiers + self.code(_Qualified(item.type))
        else:
            code = self._plain(item)
        self._seen.append(item)
        return code

    def _plain(self, item: _Qualified) -> str:
        match item.type:
            case t.Void():
                return "v"
            case t.Scalar() as scalar:
                return _SCALAR_CODES[scalar]
            case t.Vector(scalar=scalar, count=count):
                return f"Dv{count}_{_SCALAR_CODES[scalar]}"
            case t.Pointer(pointee=pointee, address_space=space, const=const, volatile=volatile):
                return "P" + self.code(_Qualified(pointee, space, const, volatile))
            case t.Array(item=element, count=count):
                return f"A{count}_" + self.code(replace(item, type=element))
            case t.Matrix() as matrix:
                name = f"coop_mat_{matrix_code(matrix)}"
                return f"u{len(name)}{name}"
            case t.Event():
                return "9ocl_event"
        name = re.sub(r"\W", "_", re.sub(r"^(struct|union|enum) ", "", str(item.type)))
        return f"{len(name)}{name}"


def _base36(number: int) -> str:
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return _DIGITS[number] + digits
