"""What -Wformat checks: whether the arguments of printf fit its format string (OpenCL C 6.15.14.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coopmat.diagnostics import Message, SourceLocation, note
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.symbols import KnownString
from coopmat.opencl.base.types import FP64_FEATURES
from coopmat.opencl.messages import printf as messages
from coopmat.opencl.preprocess.literals import place_in_string
from coopmat.support.printf import (
    FLAGS,
    FLOATS,
    FOREIGN_BITS,
    INTEGERS,
    LETTERS,
    SIGNED,
    WITH_PRECISION,
    Fault,
    Specifier,
    parse,
)
from coopmat.tree.nodes import (
    AddressOf,
    Aggregate,
    Bitcast,
    Comma,
    Conditional,
    Constant,
    ElementPlace,
    Expression,
    Load,
    Place,
    PointerOffset,
    Variable,
    VariablePlace,
    Zero,
)
from coopmat.tree.types import CHAR, INT, UCHAR, AddressSpace, Pointer, Scalar, Type, Vector


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of printf: its value as it is passed, the type that it was given with, and where."""

    value: Expression
    type: Type
    location: SourceLocation


def check(context: Analysis, format: Expression, location: SourceLocation, arguments: Sequence[Argument]) -> None:
    """Warn of what is wrong with a call; ``location`` is where the format begins."""
    found = strings(context, format)
    if found is None:
        context.report(messages.NOT_A_LITERAL if arguments else messages.INSECURE, location)
        return
    used = [_Check(context, string, location, arguments).run() for string in found]
    most = max(used)
    if most < len(arguments):
        context.report(messages.EXTRA_ARGUMENT, arguments[most].location)


# --------------------------------------------------------------------------------------
# Strings that are known
# --------------------------------------------------------------------------------------


def strings(context: Analysis, pointer: Expression) -> list[KnownString] | None:
    """The strings that a pointer may point to, or None if not all of them are known."""
    match pointer:
        case Bitcast(operand=operand, type=Pointer(pointee=pointee)) if pointee in (CHAR, UCHAR):
            return strings(context, operand)
        case Comma(second=second):
            return strings(context, second)
        case Conditional(if_true=if_true, if_false=if_false):
            sides = strings(context, if_true), strings(context, if_false)
            return None if sides[0] is None or sides[1] is None else list(dict.fromkeys(sides[0] + sides[1]))
        case PointerOffset(pointer=base, offset=Constant(value=offset)):
            return _moved(strings(context, base), int(offset))
        case Load(place=VariablePlace(variable=variable)):
            return context.strings.get(variable)
        case AddressOf(place=ElementPlace(base=base, index=index)):
            return _string_at(context, base, context.constant_integer(index))
    return None


def remember(context: Analysis, variable: Variable, value: Expression) -> None:
    """Note what a const pointer points to, if that are strings."""
    found = strings(context, value)
    if found is not None:
        context.strings[variable] = [replace(string, is_named=True) for string in found]


def _moved(found: list[KnownString] | None, offset: int) -> list[KnownString] | None:
    """Strings from a later character on."""
    if found is None or any(not 0 <= offset <= len(string.text) for string in found):
        return None
    return [replace(string, start=string.start + offset, text=string.text[offset:]) for string in found]


def _string_at(context: Analysis, base: Place, index: int | None) -> list[KnownString] | None:
    """The characters of an array from ``index`` on."""
    variable, array = _constant_array(context, base)
    if variable is None or array is None or index is None or not 0 <= index < len(array.elements):
        return None
    if not all(isinstance(element, (Constant, Zero)) for element in array.elements[index:]):
        return None
    text = bytes(int(element.value) & 0xFF if isinstance(element, Constant) else 0
                 for element in array.elements[index:])
    literal = context.literals.get(variable)
    is_named = literal is None or variable.location != literal.location
    return [KnownString(variable, index, text, is_named)]


def _constant_array(context: Analysis, place: Place) -> tuple[Variable | None, Aggregate | None]:
    """What an array in constant memory holds, and the variable that it is part of."""
    match place:
        case VariablePlace(variable=Variable(address_space=AddressSpace.CONSTANT, initializer=Aggregate() as array)):
            return place.variable, array
        case ElementPlace(base=base, index=index):
            variable, outer = _constant_array(context, base)
            position = context.constant_integer(index)
            if outer is not None and position is not None and 0 <= position < len(outer.elements):
                inner = outer.elements[position]
                return (variable, inner) if isinstance(inner, Aggregate) else (None, None)
    return None, None


# --------------------------------------------------------------------------------------
# One format
# --------------------------------------------------------------------------------------


class _Check:
    """The check of one format string against the arguments of a call."""

    def __init__(self, context: Analysis, string: KnownString, location: SourceLocation,
                 arguments: Sequence[Argument]) -> None:
        self.context = context
        self.string = string
        self.location = location
        self.arguments = arguments
        self.literal = context.literals.get(string.variable)

    def run(self) -> int:
        """Report; returns how many arguments are used."""
        self._check_zeros()
        used = 0
        for part in parse(self.string.text):
            if isinstance(part, bytes) or not part.takes_argument:
                continue
            if part.fault is Fault.INCOMPLETE:
                self._report(messages.INCOMPLETE, part)
                return len(self.arguments)
            if part.fault is Fault.LETTER:
                self._report_letter(part)
            elif used >= len(self.arguments):
                self._report(messages.INSUFFICIENT_ARGUMENTS, part)
                return used
            else:
                self._check_specifier(part, self.arguments[used])
            stars = self.string.text[part.start:part.end].count(b"*")
            used = min(used + stars + 1, len(self.arguments))
        return used

    def _report(self, message: Message, part: Specifier, **values: Any) -> None:
        """At the specifier; where the call only names the format, at the call with a note."""
        self._report_at(message, part.start, part.end, **values)

    def _report_at(self, message: Message, start: int, end: int, **values: Any) -> None:
        place = self._place(start, end)
        if self.string.is_named:
            self.context.report(message, self.location, (note("format string is defined here", place),), **values)
        else:
            self.context.report(message, place, (), **values)

    def _place(self, start: int, end: int) -> SourceLocation | None:
        """The place of a part of the format in the literal that it comes from."""
        if self.literal is None:
            return self.string.variable.location
        start, end = start + self.string.start, end + self.string.start
        for token in self.literal.tokens:
            size = len(token.value) if isinstance(token.value, bytes) else 0
            if start < size:
                return place_in_string(token, start, min(end, size))
            start, end = start - size, end - size
        return self.literal.location

    def _check_zeros(self) -> None:
        """A zero in the literal ends the format before its end."""
        if self.literal is None:
            return
        zero = self.literal.value.find(b"\0", self.string.start)
        if zero >= 0:
            start = zero - self.string.start
            self._report_at(messages.EMBEDDED_ZERO, start, start + 1)

    # --- one specifier --------------------------------------------------------------------

    def _report_letter(self, part: Specifier) -> None:
        letter = part.letter if part.letter.isascii() and part.letter.isprintable() else f"\\x{ord(part.letter):02x}"
        self._report(messages.INVALID_LETTER, part, letter=letter,
                     reason=" for a vector" if part.letter in LETTERS else "")

    def _check_specifier(self, part: Specifier, argument: Argument) -> None:
        if part.fault is Fault.STAR:
            self._report(messages.STAR, part)
            return
        if part.fault is Fault.COUNT:
            self._report(messages.VECTOR_COUNT, part)
            return
        self._check_flags(part)
        if not self._check_length(part, argument):
            return
        type_ = argument.value.type
        if not _fits(part, type_):
            self._report(messages.TYPE_MISMATCH, part, expected=_expected(self.context, part), found=argument.type,
                         advice=_advice(part, type_))
        elif part.letter == "s" and isinstance(type_, Pointer) and type_.address_space is not AddressSpace.CONSTANT:
            self._report(messages.STRING_ARGUMENT, part, space=type_.address_space)

    def _check_flags(self, part: Specifier) -> None:
        flags = dict.fromkeys(part.flags)
        for flag in flags:
            other = _OVERRIDING.get(flag)
            if part.letter not in FLAGS[flag]:
                self._report(messages.FLAG, part, flag=flag, letter=part.letter)
            elif other in flags:
                self._report(messages.IGNORED_FLAG, part, flag=flag, other=other)
        if part.precision is not None and part.letter not in WITH_PRECISION:
            self._report(messages.PRECISION, part, letter=part.letter)

    def _check_length(self, part: Specifier, argument: Argument) -> bool:
        """Whether the specifier tells what it prints, so that the argument can be compared with it."""
        if part.length in part.lengths or (not part.length and not part.is_vector):
            return True
        advice = _advice(part, argument.value.type)
        if not part.length:
            self._report(messages.NEEDS_LENGTH, part, advice=advice)
        elif part.length in FOREIGN_BITS and part.letter in INTEGERS:
            self._report(messages.FOREIGN_LENGTH, part, length=part.length, advice=advice)
        else:
            self._report(messages.LENGTH_MODIFIER, part, length=part.length, letter=part.letter, advice=advice)
        return False


_OVERRIDING = {" ": "+", "0": "-"}
"""Flags, and those in whose presence they mean nothing."""


# --------------------------------------------------------------------------------------
# Types
# --------------------------------------------------------------------------------------


def _fits(part: Specifier, type_: Type) -> bool:
    """Whether a specifier prints an argument that is passed with this type; the sign does not matter."""
    if part.letter in "sp":
        return isinstance(type_, Pointer) and (part.letter == "p" or type_.pointee in (CHAR, UCHAR))
    if isinstance(type_, Vector):
        return (part.is_vector and type_.count == part.count and type_.scalar.is_float == (part.letter in FLOATS)
                and type_.scalar.bits == part.lengths.get(part.length))
    if part.is_vector or not isinstance(type_, Scalar):
        return False
    if part.letter in FLOATS or type_.is_float:
        return type_.is_float and part.letter in FLOATS
    return type_.bits == max(INT.bits, part.lengths.get(part.length, INT.bits))


def _expected(context: Analysis, part: Specifier) -> str:
    """The type that a specifier takes, as messages name it."""
    if part.letter in "sp":
        return "constant char *" if part.letter == "s" else "void *"
    if part.letter in FLOATS:
        bits = part.lengths[part.length] if part.is_vector else 64 if context.has(*FP64_FEATURES) else 32
        scalar = Scalar("float", bits)
    else:
        kind = "sint" if part.letter in f"{SIGNED}c" else "uint"
        scalar = Scalar(kind, part.lengths.get(part.length, INT.bits))
    return str(Vector(scalar, part.count) if part.is_vector else scalar)


def _advice(part: Specifier, type_: Type) -> str:
    """``; use '%ld'``: the specifier that prints an argument, or nothing."""
    scalar = type_.element
    count = type_.count if isinstance(type_, Vector) else 1
    length = ""
    if isinstance(type_, Pointer):
        letter = "s" if type_.pointee in (CHAR, UCHAR) and type_.address_space is AddressSpace.CONSTANT else "p"
    elif isinstance(scalar, Scalar) and scalar.is_float:
        letter = part.letter if part.letter in FLOATS else "f"
    elif isinstance(scalar, Scalar):
        keeps = part.letter in "oxX" or (part.letter == "c" and scalar.bits == INT.bits and count == 1)
        letter = part.letter if keeps else "du"[scalar.kind == "uint"]
    else:
        return ""
    fitting = replace(part, letter=letter, count=count)
    if isinstance(scalar, Scalar) and (letter in INTEGERS or count > 1):
        length = next(name for name, bits in fitting.lengths.items() if bits == scalar.bits)
    flags = "".join(flag for flag in part.flags if letter in FLAGS[flag])
    precision = f".{part.precision}" if part.precision is not None and letter in WITH_PRECISION else ""
    vector = f"v{count}" if count > 1 else ""
    return f"; use '%{flags}{part.width or ''}{precision}{vector}{length}{letter}'"
