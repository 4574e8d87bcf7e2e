"""Names of built-in functions in LLVM IR: what ``_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1fim`` says.

Three producers spell them in three ways, all of which :func:`parse` reads (``docs/llvm-ir.md`` shows them):
the cooperative-matrix RFC (``_Z<length><name>`` and anything after it), clang's patch (the plain name, then
``_`` and the types), and the SPIR-V translator (Itanium mangling, with ``_R<type>``, ``_sat`` and a rounding
mode as part of the identifier). Parameter types follow the Itanium C++ ABI, as far as OpenCL C has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SPIRV_PREFIX = "__spirv_"

# Itanium codes of the scalar types: kind and bits.
SCALAR_CODES: dict[str, tuple[str, int]] = {
    "b": ("bool", 1),
    "c": ("sint", 8), "a": ("sint", 8), "h": ("uint", 8),
    "s": ("sint", 16), "t": ("uint", 16),
    "i": ("sint", 32), "j": ("uint", 32),
    "l": ("sint", 64), "m": ("uint", 64), "x": ("sint", 64), "y": ("uint", 64),
    "Dh": ("float", 16), "DF16_": ("float", 16), "f": ("float", 32), "d": ("float", 64),
    "DF16b": ("bfloat", 16), "u6__bf16": ("bfloat", 16),
}


@dataclass(frozen=True, slots=True)
class ScalarCode:
    """A scalar parameter, or a vector of ``count`` of them; kinds as in :class:`coopmat.tree.types.Scalar`."""

    kind: str
    bits: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class PointerCode:
    """A pointer parameter; ``pointee`` is None if it is nothing that :class:`ScalarCode` can say."""

    pointee: ScalarCode | None


@dataclass(frozen=True, slots=True)
class OtherCode:
    """A parameter of another type: a matrix, an image, a structure."""

    name: str


ParameterCode = ScalarCode | PointerCode | OtherCode


@dataclass(frozen=True, slots=True)
class BuiltinName:
    """A function's name, taken apart.

    ``name`` is the identifier without prefix and modifiers. ``family`` tells what it names: "spirv" an
    instruction (``__spirv_``), "std" one of the OpenCL.std set (``__spirv_ocl_``), "opencl" an OpenCL C
    function. ``parameters`` are the types that the name tells, in order, as far as they could be read.
    """

    name: str
    family: str
    parameters: tuple[ParameterCode, ...] = ()
    result: str | None = None  # the OpenCL C type behind _R
    saturates: bool = False
    rounding: str | None = None


_MANGLED = re.compile(r"_Z(\d+)")
_MODIFIERS = re.compile(r"(?:_R(?P<result>\w+?))?(?P<sat>_sat)?(?:_(?P<rounding>rt[eznp]))?\Z")


def parse(function: str) -> BuiltinName:
    """Take the name of a declared function apart."""
    mangled = _MANGLED.match(function)
    if mangled is not None:
        identifier, tail = _identifier(function[mangled.end():], int(mangled.group(1)))
        parameters = parse_parameters(tail)
    else:
        identifier, parameters = function, ()
    if not identifier.startswith(SPIRV_PREFIX):
        return BuiltinName(identifier, "opencl", parameters)
    identifier = identifier.removeprefix(SPIRV_PREFIX)
    if identifier.startswith("ocl_"):
        return BuiltinName(identifier.removeprefix("ocl_"), "std", parameters)
    base = re.match(r"[A-Za-z0-9]*", identifier)
    assert base is not None
    modifiers = _MODIFIERS.match(identifier, base.end())
    if modifiers is None:  # clang's types, or a suffix that makes the name unique
        return BuiltinName(base.group(), "spirv", parameters)
    return BuiltinName(base.group(), "spirv", parameters, modifiers["result"], modifiers["sat"] is not None,
                       modifiers["rounding"])


def _identifier(text: str, length: int) -> tuple[str, str]:
    return text[:length], text[length:]


# --------------------------------------------------------------------------------------
# Parameter types
# --------------------------------------------------------------------------------------


class _Unreadable(Exception):
    """The rest is no parameter list, or uses mangling that built-in functions do not have."""


def parse_parameters(text: str) -> tuple[ParameterCode, ...]:
    """The parameter types in an Itanium parameter list, up to what cannot be read."""
    return _ParameterParser(text).parse()


class _ParameterParser:
    """Recursive descent over the few productions that OpenCL C and SPIR-V built-ins use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.substitutions: list[ParameterCode] = []

    def parse(self) -> tuple[ParameterCode, ...]:
        found: list[ParameterCode] = []
        try:
            if self.accept("I"):
                self.skip_template_arguments()
                self.accept("v")  # a template's name holds its result type
            while self.position < len(self.text) and self.text[self.position] not in "._$":
                found.append(self.type())
        except _Unreadable:
            pass
        return tuple(found)

    def accept(self, token: str) -> bool:
        if not self.text.startswith(token, self.position):
            return False
        self.position += len(token)
        return True

    def match(self, pattern: str) -> str:
        found = re.compile(pattern).match(self.text, self.position)
        if found is None:
            raise _Unreadable
        self.position = found.end()
        return found.group(1)

    def skip_template_arguments(self) -> None:
        """Types and ``L<type><number>E`` up to the closing E."""
        while not self.accept("E"):
            if self.accept("L"):
                self.match(r"[A-Za-z]+?(n?\d+)E")
            else:
                self.type()

    def type(self) -> ParameterCode:
        if self.accept("P"):
            return self.remember(self.pointer())
        if self.accept("S"):
            return self.substitution()
        if self.accept("Dv"):
            return self.remember(self.vector())
        for code, (kind, bits) in SCALAR_CODES.items():
            if self.accept(code):
                return ScalarCode(kind, bits)
        return self.remember(self.named())

    def remember(self, code: ParameterCode) -> ParameterCode:
        self.substitutions.append(code)
        return code

    def substitution(self) -> ParameterCode:
        digits = self.match(r"([0-9A-Z]*)_")
        index = int(digits, 36) + 1 if digits else 0
        if index >= len(self.substitutions):
            raise _Unreadable
        return self.substitutions[index]

    def vector(self) -> ParameterCode:
        count = int(self.match(r"(\d{1,4})_"))
        element = self.type()
        if not isinstance(element, ScalarCode):
            raise _Unreadable
        return ScalarCode(element.kind, element.bits, count)

    def named(self) -> ParameterCode:
        length = int(self.match(r"(\d{1,4})"))
        name, _ = _identifier(self.text[self.position:], length)
        self.position += length
        return OtherCode(name)

    def pointer(self) -> ParameterCode:
        """``U3AS1VKf``: what a pointer points to is a candidate for substitution beside the pointer. It is
        qualified even where that does not show, by the private address space, whose code is empty."""
        if self.accept("U3AS"):
            self.match(r"(\d)")
        while self.position < len(self.text) and self.text[self.position] in "rVK":
            self.position += 1
        pointee = self.remember(OtherCode("void") if self.accept("v") else self.type())
        return PointerCode(pointee if isinstance(pointee, ScalarCode) else None)
