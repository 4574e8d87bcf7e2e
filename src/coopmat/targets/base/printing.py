"""What a call of printf makes of its arguments, on every target: formats with the arguments that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import ArrayType, FloatType, MatrixType, PointerType, StructType, Type
from coopmat.support.printf import FLOATS, INTEGERS, SIGNED, Specifier, Value, parse, text_of

INT_BITS = 32


class FormatFault(Exception):
    """A format asks for what is not defined; the text says what."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A specifier and the argument that belongs to it."""

    specifier: Specifier
    index: int
    bits: int  # of the argument, or of its components

    def text(self, argument: Any) -> bytes:
        """What is printed; ``argument`` is a number, a list of them, or a string's bytes."""
        specifier = self.specifier
        values: list[Value] = argument if isinstance(argument, list) else [argument]
        if specifier.letter in INTEGERS and specifier.letter not in SIGNED and self.bits >= INT_BITS:
            values = [int(value) & (1 << self.bits) - 1 for value in values]
        return text_of(specifier, values)


def check_printable(kinds: Sequence[Type]) -> None:
    """Error if there is an argument of a type that no specifier prints."""
    for kind in kinds:
        if isinstance(kind, StructType | ArrayType | MatrixType):
            raise Error(f"printf cannot print a value of type {kind}")


def conversions(format: bytes, kinds: Sequence[Type]) -> list[bytes | Conversion]:
    """A format's parts with their arguments, which have the types ``kinds``. FormatFault for what is not defined."""
    parts: list[bytes | Conversion] = []
    index = 0
    for part in parse(format):
        if isinstance(part, bytes):
            parts.append(part)
            continue
        shown = format[part.start:part.end].decode("utf-8", "replace")
        complaint = part.fault.value if part.fault is not None else _mismatch(part, index, kinds)
        if complaint:
            raise FormatFault(f"the format of printf has '{shown}': {complaint}")
        if not part.takes_argument:
            parts.append(b"%")
            continue
        parts.append(_conversion(part, index, kinds[index]))
        index += 1
    return parts


def formatted(parts: Sequence[bytes | Conversion], arguments: Sequence[Any], room: int,
              string: Callable[[Any, int | None], bytes]) -> bytes | None:
    """What a call prints; None once it is known not to have room.

    ``string`` gives the bytes of an argument for ``%s``, and gets the precision, too.
    """
    found: list[bytes] = []
    for part in parts:
        if isinstance(part, Conversion):
            if part.specifier.least > room:
                return None
            argument = arguments[part.index]
            if part.specifier.letter == "s":
                argument = string(argument, part.specifier.precision)
            part = part.text(argument)
        found.append(part)
        room -= len(part)
    return b"".join(found)


def _mismatch(specifier: Specifier, index: int, kinds: Sequence[Type]) -> str | None:
    """Why a specifier cannot print an argument, or None. Integers of another width are no reason."""
    if not specifier.takes_argument:
        return None
    if index >= len(kinds):
        return f"there is no argument for it, the call has {len(kinds)}"
    kind = kinds[index]
    is_float = isinstance(kind.scalar, FloatType)
    is_pointer = isinstance(kind, PointerType)
    fits = {"s": is_pointer, **dict.fromkeys(FLOATS, is_float)}.get(specifier.letter, not is_float)
    if fits and kind.count == specifier.count:
        return None
    return f"it prints {_wanted(specifier)}, but argument {index + 1} is of type {kind}"


def _conversion(specifier: Specifier, index: int, kind: Type) -> Conversion:
    """A vector specifier without length modifier means the vector's own components."""
    bits = kind.dtype.itemsize * 8
    if specifier.is_vector and specifier.length not in specifier.lengths:
        length = next((length for length, width in specifier.lengths.items() if width == bits), specifier.length)
        specifier = replace(specifier, length=length)
    return Conversion(specifier, index, bits)


def _wanted(specifier: Specifier) -> str:
    """What a specifier prints."""
    if specifier.letter == "s":
        return "a string"
    if specifier.is_vector:
        return f"a vector of {specifier.count} {'floating-point numbers' if specifier.letter in FLOATS else 'integers'}"
    return "a floating-point number" if specifier.letter in FLOATS else "an integer"
