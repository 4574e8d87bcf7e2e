"""printf: a record in the print buffer, whose form is that of the other targets (targets/llvm/print_buffer.py).

A buffer, and not NonSemantic.DebugPrintf, because drivers show that only with the validation layer, without vectors of
8 and 16, and in an order and a place of their own. Counters have 64 bits there; their lower halves are counted with
atomics of 32 bits, which every driver has.
"""

from __future__ import annotations

from coopmat.spirv.analysis.known_strings import text_of, variable_of_string
from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, PointerType, Type
from coopmat.spirv.grammar import OPENCL_STD, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions.composites import scalars_of
from coopmat.spirv.transform.to_vulkan.instructions.pointers import to_bytes
from coopmat.spirv.transform.to_vulkan.memory import Place
from coopmat.spirv.transform.to_vulkan.shader import PrintedCall
from coopmat.spirv.transform.to_vulkan.translation import Translation
from coopmat.spirv.transform.to_vulkan.types import U8, U32, U64
from coopmat.support.printf import Specifier, least_text, parse

WORD = 8
USED, END, CHARACTERS, DROPPED, CAPACITY, LIMIT, FAILED, HEADER_WORDS = 0, 1, 2, 3, 4, 5, 6, 8
"""Positions of the header's words."""
NO_STRING = (1 << 64) - 1
LONGEST_FORMAT = 1 << 20


def is_printf(row: Instruction) -> bool:
    """Whether an instruction prints."""
    return row.opcode == Op.ExtInst and row.instruction_set == "OpenCL.std" and row.words[1] == OPENCL_STD["printf"]


def printf(t: Translation, row: Instruction) -> None:
    """A call: 0, and -1 in the work-items for whose text there is no room."""
    template, *operands = row.words[2:]
    kinds = tuple(t.type_of(operand) for operand in operands)
    format = known_string(t, template)
    strings = _strings(format, kinds)
    t.print_calls.append(PrintedCall(format, kinds, strings))
    record = _Record(t, len(t.print_calls) - 1)
    if format is None:
        record.add_string(t.value(template), LONGEST_FORMAT)
    for index, operand in enumerate(operands):
        if index in strings:
            record.add_string(_address(t, operand), strings[index])
        else:
            for number in _numbers(t, operand, kinds[index]):
                record.add_number(number)
    t.define(row, record.written(least_text(format), t.result_type(row)))


def _strings(format: bytes | None, kinds: tuple[Type, ...]) -> dict[int, int | None]:
    """Which arguments are strings, with the most bytes that are read; none where the format is not defined."""
    found: dict[int, int | None] = {}
    index = 0
    for part in parse(format or b""):
        if not isinstance(part, Specifier) or not part.takes_argument:
            continue
        if part.fault is not None or index >= len(kinds):
            return {}
        if part.letter == "s":
            if not isinstance(kinds[index], PointerType):
                return {}
            found[index] = part.precision
        index += 1
    return found


def known_string(t: Translation, pointer: int) -> bytes | None:
    """The bytes that a pointer to a constant points to, up to a zero."""
    variable = variable_of_string(t.module, pointer, t.module.definition, t.integer_of)
    if variable is None or variable not in t.image.offsets:
        return None
    start = t.image.offsets[variable]
    return text_of(bytes(t.image.content[start:start + t.pointee(variable).size]))


def _address(t: Translation, pointer: int) -> int:
    if t.regions.of(pointer) is not None:
        raise t.refuse("printf of a string in local or private memory")
    return t.value(pointer)


def _numbers(t: Translation, operand: int, kind: Type) -> list[int]:
    """The words of an argument: integers with their sign, floating-point numbers as doubles."""
    if isinstance(kind, PointerType):
        return [to_bytes(t, operand)]
    return [_word(t, scalar, kind.scalar) for scalar in scalars_of(t, t.value(operand), kind)]


def _word(t: Translation, value: int, kind: Type) -> int:
    writer = t.writer
    if isinstance(kind, BoolType):
        return writer.op(Op.Select, U64, value, writer.integer(1, U64), writer.integer(0, U64))
    if isinstance(kind, IntType):
        return writer.converted(value, kind, U64, signed=True)
    if not isinstance(kind, FloatType):
        raise t.refuse(f"printf of a value of type {kind}")
    if kind.size == U64.size:
        return writer.op(Op.Bitcast, U64, value)
    single = FloatType(32)
    if kind != single:
        value = writer.op(Op.FConvert, single, value)
    return double_bits(t, writer.op(Op.Bitcast, U32, value))


def double_bits(t: Translation, bits: int) -> int:
    """The bits of the double that a float with these bits is; no driver needs doubles for it."""
    writer = t.writer

    def op(name: Op, *words: int) -> int:
        return writer.op(name, U64, *words)

    def number(value: int) -> int:
        return writer.integer(value, U64)

    wide = writer.converted(bits, U32, U64)
    exponent = op(Op.BitwiseAnd, op(Op.ShiftRightLogical, wide, number(23)), number(0xFF))
    fraction = op(Op.BitwiseAnd, wide, number(0x7FFFFF))
    sign = op(Op.ShiftLeftLogical, op(Op.ShiftRightLogical, wide, number(31)), number(63))
    shifted = op(Op.ShiftLeftLogical, fraction, number(29))
    normal = op(Op.BitwiseOr, op(Op.ShiftLeftLogical, op(Op.IAdd, exponent, number(896)), number(52)), shifted)
    special = op(Op.BitwiseOr, number(0x7FF << 52), shifted)
    small = _of_denormal(t, fraction)
    is_special = writer.op(Op.IEqual, BoolType(), exponent, number(0xFF))
    is_small = writer.op(Op.IEqual, BoolType(), exponent, number(0))
    found = op(Op.Select, is_special, special, op(Op.Select, is_small, small, normal))
    return op(Op.BitwiseOr, sign, found)


def _of_denormal(t: Translation, fraction: int) -> int:
    """The bits of the double for a fraction without exponent: its highest bit becomes the one that is not written."""
    writer = t.writer
    low = writer.converted(fraction, U64, U32)
    is_zero = writer.op(Op.IEqual, BoolType(), low, writer.integer(0))
    some = writer.op(Op.Select, U32, is_zero, writer.integer(1), low)
    highest = writer.converted(writer.glsl("FindUMsb", U32, some), U32, U64)
    moved = writer.op(Op.ShiftLeftLogical, U64, fraction, writer.op(
        Op.ISub, U64, writer.integer(52, U64), highest))
    kept = writer.op(Op.BitwiseAnd, U64, moved, writer.integer((1 << 52) - 1, U64))
    exponent = writer.op(Op.ShiftLeftLogical, U64, writer.op(
        Op.IAdd, U64, highest, writer.integer(874, U64)), writer.integer(52, U64))
    return writer.op(Op.Select, U64, is_zero, writer.integer(0, U64), writer.op(
        Op.BitwiseOr, U64, exponent, kept))


class _Record:
    """What one call writes: numbers, and strings as (address, length)."""

    def __init__(self, t: Translation, number: int) -> None:
        self.t = t
        self.writer = t.writer
        self.buffer = t.block.hidden("printf")
        self.parts: list[tuple[int, int]] = [(self.writer.integer(number, U64), 0)]  # number; or length and address
        self.size = self.writer.integer(WORD, U64)

    def add_number(self, number: int) -> None:
        self.parts.append((number, 0))
        self.size = self.writer.add(U64, self.size, self.writer.integer(WORD, U64))

    def add_string(self, address: int, most: int | None) -> None:
        writer = self.writer
        length = self._length(address, most)
        self.parts.append((length, address))
        self.size = writer.add(U64, self.size, writer.integer(WORD, U64))
        self.size = writer.op(Op.IAdd, U64, self.size, self._padded(length))

    def written(self, least: int, kind: Type) -> int:
        """Take the room that the record needs and write it; what the call gives."""
        writer, out = self.writer, self.writer.out
        outcome = out.local_variable(writer.types(kind))
        out.emit(Op.Store, outcome, writer.integer(-1, kind))
        characters = writer.integer(least)
        full = self._above(self._now(CHARACTERS), writer.integer(0, U64), LIMIT)
        with writer.if_then(writer.op(Op.LogicalNot, BoolType(), full)):
            before = self._atomic(Op.AtomicIAdd, CHARACTERS, characters)
            above = self._above(writer.converted(before, U32, U64), writer.integer(least, U64), LIMIT)
            with writer.if_then(writer.op(Op.LogicalNot, BoolType(), above)):
                self._place(outcome, kind)
        found = writer.op(Op.Load, kind, outcome)
        failed = writer.op(Op.INotEqual, BoolType(), found, writer.integer(0, kind))
        with writer.if_then(failed):
            self._atomic(Op.AtomicIAdd, DROPPED, writer.integer(1))
        return found

    def _place(self, outcome: int, kind: Type) -> None:
        writer = self.writer
        start = self._atomic(Op.AtomicIAdd, USED, writer.converted(self.size, U64, U32))
        wide = writer.converted(start, U32, U64)
        above = self._above(wide, self.size, CAPACITY)
        with writer.if_then(above):
            self._atomic(Op.AtomicUMin, END, start)
        with writer.if_then(writer.op(Op.LogicalNot, BoolType(), above)):
            first = writer.op(Op.IAdd, U64, self._header(HEADER_WORDS), wide)
            self._write(first)
            writer.out.emit(Op.Store, outcome, writer.integer(0, kind))

    def _write(self, place: int) -> None:
        t, writer = self.t, self.writer
        word = writer.integer(WORD, U64)
        for number, address in self.parts:
            t.memory.store(U64, number, Place(place, WORD))
            place = writer.op(Op.IAdd, U64, place, word)
            if address:
                self._copy(place, address, number)
                place = writer.op(Op.IAdd, U64, place, self._padded(number))

    def _copy(self, place: int, address: int, length: int) -> None:
        t, writer = self.t, self.writer
        known = self._is_some(length)
        count = writer.op(Op.Select, U32, known, writer.converted(length, U64, U32), writer.integer(0))

        def byte(index: int) -> None:
            offset = writer.converted(index, U32, U64)
            there, here = (Place(writer.op(Op.IAdd, U64, start, offset), 1) for start in (place, address))
            t.memory.store(U8, t.memory.load(U8, here), there)

        writer.count(writer.integer(0), count, writer.integer(1), byte)

    # -- strings -----------------------------------------------------------------------

    def _length(self, address: int, most: int | None) -> int:
        """The bytes of a string before its zero; all ones for a null pointer."""
        writer, out = self.writer, self.writer.out
        length = out.local_variable(writer.types(U64))
        out.emit(Op.Store, length, writer.integer(0 if most == 0 else NO_STRING, U64))
        if most == 0:
            return writer.op(Op.Load, U64, length)
        is_there = writer.op(Op.INotEqual, BoolType(), address, writer.integer(0, U64))
        room = self._room(most)
        with writer.if_then(is_there):
            found = writer.repeat(U64, writer.integer(NO_STRING, U64), lambda at: self._next(address, at, room))
            out.emit(Op.Store, length, found)
        return writer.op(Op.Load, U64, length)

    def _next(self, address: int, at: int, room: int) -> tuple[int, int]:
        """One byte further on (from -1): whether the string ends there, and where that is."""
        t, writer = self.t, self.writer
        here = writer.op(Op.IAdd, U64, at, writer.integer(1, U64))
        is_full = writer.op(Op.UGreaterThanEqual, BoolType(), here, room)
        # What lies behind the last byte that may be read is not looked at.
        offset = writer.op(Op.Select, U64, is_full, writer.integer(0, U64), here)
        byte = t.memory.load(U8, Place(writer.op(Op.IAdd, U64, address, offset), 1))
        is_zero = writer.op(Op.IEqual, BoolType(), byte, writer.integer(0, U8))
        return writer.op(Op.LogicalOr, BoolType(), is_full, is_zero), here

    def _room(self, most: int | None) -> int:
        writer = self.writer
        if most == LONGEST_FORMAT:
            return writer.integer(most, U64)
        room = writer.op(Op.IAdd, U64, self._now(LIMIT), writer.integer(1, U64))
        return room if most is None else writer.glsl("UMin", U64, room, writer.integer(most, U64))

    def _is_some(self, length: int) -> int:
        return self.writer.op(Op.INotEqual, BoolType(), length, self.writer.integer(NO_STRING, U64))

    def _padded(self, length: int) -> int:
        """The bytes that a string takes; that of a null pointer none."""
        writer = self.writer
        more = writer.op(Op.IAdd, U64, length, writer.integer(WORD - 1, U64))
        whole = writer.op(Op.BitwiseAnd, U64, more, writer.integer(-WORD, U64))
        return writer.op(Op.Select, U64, self._is_some(length), whole, writer.integer(0, U64))

    # -- the header --------------------------------------------------------------------

    def _header(self, word: int) -> int:
        return self.writer.add(U64, self.buffer, self.writer.integer(word * WORD, U64))

    def _now(self, word: int) -> int:
        return self.t.memory.load(U64, Place(self._header(word), WORD))

    def _above(self, start: int, size: int, limit: int) -> int:
        """Whether something ends above a limit."""
        writer = self.writer
        end = writer.add(U64, start, size)
        return writer.op(Op.UGreaterThan, BoolType(), end, self._now(limit))

    def _atomic(self, op: Op, word: int, value: int) -> int:
        t, writer = self.t, self.writer
        pointer = t.memory.pointer(U32, Place(self._header(word), 4))
        return writer.op(op, U32, pointer, writer.integer(t.device_scope()), writer.integer(0), value)
