"""The language in which the table of built-in functions is written, and its expansion to overloads.

A signature such as ``"gen(gen, any gen*)"`` gives a result and parameters. Its terms are

========================= ==================================================================
``gen``                   the generic type: an element type of the row's domain, or a vector of it
``scalar``                the element type of ``gen``
``sgen``, ``ugen``        the signed and unsigned integer types with the width and count of ``gen``
``wide``                  the integer type of twice ``gen``'s width, with its signedness and count
``gen4`` …                a vector of 4 of ``gen``'s elements, whatever the count of ``gen``
``char4`` …               that vector
``intn``, ``floatn`` …    a type with as many components as ``gen``
``int``, ``size_t`` …     that type
========================= ==================================================================

A pointer is ``<space> [const] [volatile] <term>*``. The space names those that are allowed:
``any`` (all that can be written), ``readable`` (``__constant`` too), ``shared`` (global and local),
``global``, ``local`` or ``private``. A pointer to ``void`` takes a pointer to any type; a result
``void*`` is typed by the function that builds the call's node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.builtins.predefined_types import TYPEDEFS
from coopmat.tree.nodes import Constant, Expression, Operation, Splat
from coopmat.tree.types import (
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SCALARS,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_COUNTS,
    VOID,
    AddressSpace,
    Pointer,
    Scalar,
    Type,
    Vector,
)

FLOATS = (FLOAT, DOUBLE, HALF)
SIGNED = (CHAR, SHORT, INT, LONG)
UNSIGNED = (UCHAR, USHORT, UINT, ULONG)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = INTEGERS + FLOATS

COUNTS = (1, *VECTOR_COUNTS)
"""The component counts of gentype; 1 is the scalar."""

WRITABLE_SPACES = frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.GLOBAL, AddressSpace.GENERIC})
SPACES: dict[str, frozenset[AddressSpace]] = {
    "any": WRITABLE_SPACES,
    "readable": WRITABLE_SPACES | {AddressSpace.CONSTANT},
    "shared": frozenset({AddressSpace.LOCAL, AddressSpace.GLOBAL}),
    "global": frozenset({AddressSpace.GLOBAL}),
    "local": frozenset({AddressSpace.LOCAL}),
    "private": frozenset({AddressSpace.PRIVATE}),
}
_SINGLE_SPACES = ("global", "local", "private")

# Enumerators are ints, so int is what the parameters of enumeration type take best.
FIXED_TYPES: dict[str, Type] = {"void": VOID, **SCALARS, **TYPEDEFS, "memory_order": INT, "memory_scope": INT}
"""The types that a term can name."""


@dataclass(frozen=True, slots=True)
class PointerPattern:
    """A pointer parameter: what it points to (VOID: anything), where, and which qualifiers it admits."""

    pointee: Type
    spaces: frozenset[AddressSpace]
    const: bool
    volatile: bool

    def __str__(self) -> str:
        words = [space for space, spaces in SPACES.items() if spaces == self.spaces and space in _SINGLE_SPACES]
        words += [word for word in ("const", "volatile") if getattr(self, word)]
        return " ".join([*words, f"{self.pointee} *"])

    def takes(self, type_: Type) -> bool:
        """Whether a value of this type is such a pointer."""
        return (isinstance(type_, Pointer)
                and self.pointee in (type_.pointee, VOID)
                and type_.address_space in self.spaces
                and (self.const or not type_.const)
                and (self.volatile or not type_.volatile))

    def nearest(self, type_: Pointer) -> Pointer:
        """A pointer to the same pointee whose address space and qualifiers the parameter admits."""
        space = type_.address_space if type_.address_space in self.spaces else min(
            self.spaces, key=lambda space: space.value)
        return replace(type_, address_space=space, const=type_.const and self.const,
                       volatile=type_.volatile and self.volatile)


Parameter = Type | PointerPattern


@dataclass(frozen=True, slots=True)
class Overload:
    """One concrete built-in function; ``element`` and ``count`` say what its generic type is."""

    name: str
    result: Type
    parameters: tuple[Parameter, ...]
    row: Row
    element: Scalar | None
    count: int

    def __str__(self) -> str:
        return f"{self.result} {self.name}({', '.join(map(str, self.parameters))})"

    def has_parameters(self, types: Sequence[Type]) -> bool:
        """Whether a function with parameters of these types takes the same, so that it takes this one's place."""
        return len(types) == len(self.parameters) and all(
            parameter.takes(type_) if isinstance(parameter, PointerPattern) else parameter == type_
            for parameter, type_ in zip(self.parameters, types, strict=True))


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A call whose overload is known: what the functions that build nodes work on.

    ``arguments`` are converted to the parameters' types.
    """

    context: Analysis
    overload: Overload
    arguments: tuple[Expression, ...]
    location: SourceLocation | None

    @property
    def result(self) -> Type:
        """The type of the call."""
        return self.overload.result

    def operation(self, name: str, *arguments: Expression, type_: Type | None = None,
                  literals: tuple[int, ...] = ()) -> Operation:
        """An operation; ``{name}`` stands for the function's name, ``{sign}`` for s or u by gentype."""
        element = self.overload.element
        sign = "u" if element is not None and element.kind == "uint" else "s"
        filled = name.format(name=self.overload.name, sign=sign, SIGN=sign.upper())
        return Operation(type_ or self.result, self.location, filled, arguments, literals)

    def constant(self, value: int, type_: Type = UINT) -> Constant:
        """An integer constant."""
        return Constant(type_, self.location, value)

    def widened(self) -> tuple[Expression, ...]:
        """The arguments, scalars made vectors where the generic type is a vector."""
        count = self.overload.count
        return tuple(Splat(Vector(argument.type, count), argument.location, argument)
                     if count > 1 and isinstance(argument.type, Scalar) else argument
                     for argument in self.arguments)


Build = Callable[[BuiltinCall], Expression]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    ``names`` are separated by blanks; ``{n}`` in a name stands for the component count, and for
    nothing where that is 1. ``build`` is the name of an operation that takes the arguments as they
    are, or a function that builds nodes. ``needs``: the device must define one of these macros.
    """

    names: str
    signature: str
    build: str | Build
    domain: tuple[Scalar, ...] = ()
    counts: tuple[int, ...] = COUNTS
    needs: tuple[str, ...] = ()

    def functions(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Each function's name, and the component counts for which it exists."""
        for name in self.names.split():
            if "{n}" in name:
                yield from ((name.format(n=count if count > 1 else ""), (count,)) for count in self.counts)
            else:
                yield name, self.counts if self.domain else (1,)

    def make(self, call: BuiltinCall) -> Expression:
        """The node of a call."""
        if isinstance(self.build, str):
            return call.operation(self.build, *call.arguments)
        return self.build(call)

    def describe(self, name: str, counts: tuple[int, ...]) -> str:
        """The signature as a message shows it, with the types that gentype stands for."""
        result, parameters = _split(self.signature)
        shown = f"{_spell(result)} {name}({', '.join(map(_spell, parameters))})"
        if "gentype" not in shown:
            return shown
        names = ", ".join(map(str, self.domain))
        vectors = " or ".join(str(count) for count in counts if count > 1)
        if not vectors:
            return f"{shown} with gentype {names}"
        scalars = "scalars or " if 1 in counts else ""
        return f"{shown} with gentype {scalars}vectors (of {vectors}) of {names}"


# ------------------------------------------------------------------ reading signatures


@cache
def _split(signature: str) -> tuple[str, tuple[str, ...]]:
    """The term of the result and those of the parameters."""
    result, _, rest = signature.partition("(")
    return result.strip(), tuple(term.strip() for term in rest.rstrip(")").split(",") if term.strip())


_SPELLINGS = {"gen": "gentype", "scalar": "sgentype", "sgen": "igentype", "ugen": "ugentype",
              "wide": "upsampled gentype"}


def _spell(term: str) -> str:
    """A term in the words of the OpenCL C specification."""
    words = [word for word in term.split() if word not in ("any", "readable", "shared")]
    text = " ".join(words).replace("*", " *")
    return re.sub(rf"\b({'|'.join(_SPELLINGS)})(?=\d*\b)", lambda match: _SPELLINGS[match[0]], text)


def _with_count(scalar: Type, count: int) -> Type:
    return Vector(scalar, count) if count > 1 and isinstance(scalar, Scalar) else scalar


def _type(term: str, element: Scalar | None, count: int) -> Type:
    """The type that a term means for one generic type."""
    if term in FIXED_TYPES:
        return FIXED_TYPES[term]
    if term.endswith("n") and term[:-1] in SCALARS:
        return _with_count(SCALARS[term[:-1]], count)
    fixed = re.fullmatch(r"([a-z]+)(\d+)", term)
    if fixed is not None and fixed[1] in SCALARS:
        return Vector(SCALARS[fixed[1]], int(fixed[2]))
    match = re.fullmatch(r"(gen|sgen|ugen|scalar|wide)(\d*)", term)
    assert match is not None, term
    assert element is not None, term
    scalars = {"gen": element, "scalar": element, "sgen": Scalar("sint", element.bits),
               "ugen": Scalar("uint", element.bits)}
    scalar = scalars[match[1]] if match[1] in scalars else Scalar(element.kind, 2 * element.bits)
    if match[1] == "scalar":
        return scalar
    return _with_count(scalar, int(match[2]) if match[2] else count)


def _parameter(term: str, element: Scalar | None, count: int) -> Parameter:
    if not term.endswith("*"):
        return _type(term, element, count)
    words = term[:-1].split()
    return PointerPattern(_type(words[-1], element, count), SPACES[words[0]],
                          "const" in words, "volatile" in words)


@cache
def expand(row: Row, name: str, counts: tuple[int, ...]) -> tuple[Overload, ...]:
    """All overloads of one function of a row."""
    result, parameters = _split(row.signature)
    overloads = []
    for element in row.domain or (None,):
        for count in counts:
            overloads.append(Overload(
                name, _type(result.rstrip("*"), element, count),
                tuple(_parameter(term, element, count) for term in parameters), row, element, count))
    return tuple(overloads)


def elements_of(overload: Overload) -> set[Type]:
    """The scalar types that the overload's signature is made of (what pointers point to excepted)."""
    types = [overload.result, *(p for p in overload.parameters if not isinstance(p, PointerPattern))]
    return {type_.element for type_ in types}
