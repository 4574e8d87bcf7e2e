"""printf of OpenCL.std: one call by many work-items, printed in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, OutOfBounds, UndefinedBehavior
from coopmat.printf import FLOATS, INTEGERS, SIGNED, Specifier, Value, parse, text_of
from coopmat.spirv.module import Instruction
from coopmat.spirv.types import FloatType, MatrixType, PointerType, Type
from coopmat.targets.simulator.compile import FunctionCompiler
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, members_of

TOGETHER = 1024  # work-items whose arguments are taken out of the arrays at once
STRING_STEP = 4096  # bytes in which the end of a string is searched at once
INT_BITS = 32


def printf(compiler: FunctionCompiler, row: Instruction) -> Step:
    """The step of a call. It gives 0, and -1 in the work-items whose text is dropped."""
    template, *operands = row.words[2:]
    kinds = [compiler.type_of(operand) for operand in operands]
    for kind in kinds:
        if members_of(kind) is not None or isinstance(kind, MatrixType):
            raise Error(f"printf cannot print a value of type {kind}")
    slots, result, site = [compiler.slot(o) for o in operands], compiler.result(row), compiler.site(row)
    pointer, dtype = compiler.slot(template), compiler.result_type(row).dtype

    def execute(frame: Frame) -> None:
        lanes = np.argwhere(frame.mask.expanded)
        values = [frame.slots[slot] for slot in (pointer, *slots)]
        printed = _Call(frame, site, kinds).run(lanes, values)
        outcome = np.zeros(frame.mask.expanded.shape, dtype)
        outcome[tuple(lanes[printed:].T)] = -1
        frame.slots[result] = outcome

    return execute


@dataclass(frozen=True, slots=True)
class _Conversion:
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


class _Call:
    """One execution of a printf instruction."""

    def __init__(self, frame: Frame, site: Site, kinds: Sequence[Type]) -> None:
        self.frame = frame
        self.site = site
        self.kinds = kinds
        self.output = frame.batch.output
        self.formats: dict[int, list[bytes | _Conversion]] = {}

    def run(self, lanes: Array, values: Sequence[Array]) -> int:
        """Print for ``lanes``, rows of sub-group and lane; ``values`` are the formats' addresses and the
        arguments. Returns how many of them were printed, the first ones."""
        for start in range(0, len(lanes), TOGETHER):
            part = lanes[start:start + TOGETHER]
            rows = zip(*(self._taken(value, part) for value in values), strict=True)
            printed = 0 if self.output.is_full else self._print(part.tolist(), rows)
            if printed < len(part):
                self.output.dropped += len(lanes) - start - printed
                return start + printed
        return len(lanes)

    def _taken(self, value: Array, lanes: Array) -> list[Any]:
        """The value of each lane."""
        shape = (*self.frame.mask.expanded.shape, *value.shape[2:])
        taken = np.broadcast_to(value, shape)[lanes[:, 0], lanes[:, 1]]
        found: list[Any] = (taken.astype(np.float32) if taken.dtype.kind == "V" else taken).tolist()
        return found

    def _print(self, lanes: list[list[int]], rows: Iterable[tuple[Any, ...]]) -> int:
        """Print up to the first text that does not fit; what comes before an error is printed, too."""
        texts: list[bytes] = []
        try:
            for (sub_group, lane), (address, *arguments) in zip(lanes, rows, strict=True):
                text = self._text(address, arguments, sub_group, lane)
                if text is None or not self.output.fits(len(text)):
                    break
                texts.append(text)
        finally:
            self.output.write(b"".join(texts))
        return len(texts)

    def _text(self, address: int, arguments: Sequence[Any], sub_group: int, lane: int) -> bytes | None:
        """What one work-item prints; None if there is no room for it."""
        if address not in self.formats:
            self.formats[address] = self._conversions(self._string(address, None, sub_group, lane), sub_group, lane)
        parts: list[bytes] = []
        room = self.output.left
        for part in self.formats[address]:
            if isinstance(part, _Conversion):
                if part.specifier.least > room:
                    return None
                argument = arguments[part.index]
                if part.specifier.letter == "s":
                    argument = self._string(argument, part.specifier.precision, sub_group, lane)
                part = part.text(argument)
            parts.append(part)
            room -= len(part)
        return b"".join(parts)

    # --- formats --------------------------------------------------------------------------

    def _conversions(self, format: bytes, sub_group: int, lane: int) -> list[bytes | _Conversion]:
        """A format's parts with their arguments. Raises UndefinedBehavior for what is not defined."""
        parts: list[bytes | _Conversion] = []
        index = 0
        for part in parse(format):
            if isinstance(part, bytes):
                parts.append(part)
                continue
            shown = format[part.start:part.end].decode("utf-8", "replace")
            complaint = part.fault.value if part.fault is not None else self._mismatch(part, index)
            if complaint:
                raise UndefinedBehavior(f"the format of printf has '{shown}': {complaint}",
                                        self.site.where(self.frame, sub_group, lane))
            if not part.takes_argument:
                parts.append(b"%")
                continue
            parts.append(_conversion(part, index, self.kinds[index]))
            index += 1
        return parts

    def _mismatch(self, specifier: Specifier, index: int) -> str | None:
        """Why a specifier cannot print an argument, or None. Integers of another width are no reason."""
        if not specifier.takes_argument:
            return None
        if index >= len(self.kinds):
            return f"there is no argument for it, the call has {len(self.kinds)}"
        kind = self.kinds[index]
        is_float = isinstance(kind.scalar, FloatType)
        is_pointer = isinstance(kind, PointerType)
        fits = {"s": is_pointer, **dict.fromkeys(FLOATS, is_float)}.get(specifier.letter, not is_float)
        if fits and kind.count == specifier.count:
            return None
        return f"it prints {_wanted(specifier)}, but argument {index + 1} is of type {kind}"

    # --- strings --------------------------------------------------------------------------

    def _string(self, address: int, most: int | None, sub_group: int, lane: int) -> bytes:
        """The characters up to a zero; at most ``most`` bytes are read, and no more than have room."""
        memory = self.frame.memory
        buffer = memory.buffer_at(address)
        room = self.output.left + 1
        start = memory.offset_in(address)
        if buffer is None or not 0 <= start < buffer.row.nbytes:
            if most == 0 or not self.frame.batch.options.bounds:
                return b""
            raise OutOfBounds(f"printf reads a string at {memory.describe(address, 1)}",
                              self.site.where(self.frame, sub_group, lane))
        end = buffer.row.nbytes if most is None else min(buffer.row.nbytes, start + most)
        first = 0
        if buffer.instances is not None:
            first = int(np.broadcast_to(buffer.instances, self.frame.mask.expanded.shape)[sub_group, lane])
        found = b""
        for position in range(start, end, STRING_STEP):
            piece = bytes(buffer.memory[first + position:first + min(end, position + STRING_STEP)])
            text, zero, _ = piece.partition(b"\0")
            found += text
            if zero or len(found) > room:
                return found
        if end == buffer.row.nbytes and len(found) != most and self.frame.batch.options.bounds:
            raise OutOfBounds(f"printf reads a string without an end: no zero follows in the {len(found)} bytes up to "
                              "the end of the buffer",
                              self.site.where(self.frame, sub_group, lane, buffer.row.name, start))
        return found


def _conversion(specifier: Specifier, index: int, kind: Type) -> _Conversion:
    """A vector specifier without length modifier means the vector's own components."""
    bits = kind.dtype.itemsize * 8
    if specifier.is_vector and specifier.length not in specifier.lengths:
        length = next((length for length, width in specifier.lengths.items() if width == bits), specifier.length)
        specifier = replace(specifier, length=length)
    return _Conversion(specifier, index, bits)


def _wanted(specifier: Specifier) -> str:
    """What a specifier prints."""
    if specifier.letter == "s":
        return "a string"
    if specifier.is_vector:
        return f"a vector of {specifier.count} {'floating-point numbers' if specifier.letter in FLOATS else 'integers'}"
    return "a floating-point number" if specifier.letter in FLOATS else "an integer"
