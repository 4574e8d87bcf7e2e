"""SPIR-V binaries: words to instructions and back (SPIR-V specification, section 2.3).

The reader takes either byte order and checks all that later code relies on: the header, word counts, the
number and form of every instruction's operands, ids within the bound, one definition per id.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import MAGIC, Op, instruction
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import decode_string, id_positions, leading_ids
from coopmat.support.collector import collector_paused

HEADER_WORDS = 5
MAX_BOUND = 0x3FFFFF + 1
"""Ids above 0x3FFFFF are beyond SPIR-V's universal limits."""
VERSIONS = ((1, 0), (1, 6))


class Header(NamedTuple):
    """The words after the magic number."""

    version: int
    generator: int
    bound: int
    schema: int


class Parsed(NamedTuple):
    """What a binary holds: its header, its instructions, and the instruction that defines each id; and the names
    that ids had in a text, which a binary does not keep."""

    header: Header
    instructions: list[Instruction]
    definitions: dict[int, Instruction]
    names: Mapping[int, str] = MappingProxyType({})


def check_header(header: Header) -> None:
    """Raise ValidationError if the version or the id bound is out of range."""
    major, minor = header.version >> 16, header.version >> 8 & 0xFF
    if not VERSIONS[0] <= (major, minor) <= VERSIONS[1] or header.version & 0xFF:
        raise ValidationError("header-version", f"the version word is {header.version:#010x}; expected "
                              "0x00010000 (1.0) to 0x00010600 (1.6)", 4)
    if not 0 < header.bound <= MAX_BOUND:
        raise ValidationError("header-bound", f"the id bound is {header.bound}; expected 1 to {MAX_BOUND}",
                              12)


def read_header(data: bytes) -> Header:
    """The header of a binary.  Raises ValidationError if it is malformed."""
    header = Header(*_unpack(data[:4 * HEADER_WORDS])[1:])
    check_header(header)
    return header


def _unpack(data: bytes) -> tuple[int, ...]:
    """The words of a binary in this machine's terms, whatever its byte order."""
    if len(data) % 4:
        raise ValidationError("word-size", f"a SPIR-V binary is a sequence of 4-byte words, but this one has "
                              f"{len(data)} bytes", len(data) - len(data) % 4)
    if len(data) < 4 * HEADER_WORDS:
        raise ValidationError("header-size", f"a SPIR-V binary begins with {HEADER_WORDS} header words; "
                              f"found {len(data) // 4}", len(data))
    for order in "<>":
        if struct.unpack_from(order + "I", data)[0] == MAGIC:
            return struct.unpack(f"{order}{len(data) // 4}I", data)
    raise ValidationError("header-magic", f"the first word is {data[:4].hex()}; expected the magic number "
                          f"{MAGIC:#010x} in either byte order", 0)


class _Layout(NamedTuple):
    """How the words of an instruction with one opcode and word count are cut up and checked.

    ``body`` is the index of the first operand word.  ``ids`` is the indices of the words that are ids whatever the
    others are.
    """

    opcode: int
    body: int
    has_type: bool
    has_result: bool
    ids: tuple[int, ...]


def _layout(first: int, offset: int) -> _Layout:
    count, opcode = first >> 16, first & 0xFFFF
    if count == 0:
        raise ValidationError("word-count", "an instruction has word count 0", offset)
    row = instruction(opcode)
    if row is None:
        return _Layout(opcode, 1, False, False, ())
    body = 1 + row.has_type + row.has_result
    if count < body:
        raise ValidationError("operand-missing", f"{row.name} has {count} words; at least {body} are needed",
                              offset)
    positions = id_positions(opcode, count - body)
    known = positions if positions is not None else range(min(leading_ids(opcode), count - body))
    ids = (*range(1, body), *(body + position for position in known))
    return _Layout(opcode, body, row.has_type, row.has_result, ids)


_WITH_CONTEXT = (Op.ExtInstImport, Op.ExtInst, Op.ExtInstWithForwardRefsKHR, Op.Switch)
"""The instructions whose operands depend on others, and those that the others are."""


class _Reader:
    """Reads the instructions of one module."""

    def __init__(self, words: tuple[int, ...]) -> None:
        self.words = words
        self.layouts: dict[int, _Layout] = {}
        self.found: list[Instruction] = []
        self.definitions: dict[int, Instruction] = {}
        self.sets: dict[int, str] = {}

    def read(self) -> None:
        """Cut the words up."""
        words, definitions, layouts, found = self.words, self.definitions, self.layouts, self.found
        position, total = HEADER_WORDS, len(words)
        while position < total:
            first = words[position]
            end = position + (first >> 16)
            if end > total:
                raise ValidationError("word-count", f"the binary ends {end - total} words before the end of its last "
                                      "instruction", 4 * position)
            layout = layouts.get(first)
            if layout is None:
                layout = layouts[first] = _layout(first, 4 * position)
            opcode, body, has_type, has_result, _ = layout
            type_id = words[position + 1] if has_type else None
            result_id = words[position + body - 1] if has_result else None
            new = Instruction(opcode, type_id, result_id, words[position + body:end], 4 * position)
            if opcode in _WITH_CONTEXT:
                self.add_context(new)
            if has_result:
                assert result_id is not None
                if result_id in definitions:
                    self.redefined(new)
                definitions[result_id] = new
            found.append(new)
            position = end

    def check(self, bound: int) -> None:
        """Raise ValidationError for the first of the instructions found that is malformed."""
        from coopmat.spirv.module.operand_checks import Checker  # needs numpy

        ids = {first: layout.ids for first, layout in self.layouts.items()}
        Checker(self.words, ids, bound).check(self.found)

    def redefined(self, new: Instruction) -> None:
        before = self.definitions[new.result_id or 0]
        raise ValidationError("id-unique", f"{new.name} defines id {new.result_id}, which {before.name} at "
                              f"byte {before.offset:#x} has defined", new.offset)

    def add_context(self, new: Instruction) -> None:
        """Take note of what decoding the operands needs beyond the grammar."""
        if new.opcode in (Op.ExtInst, Op.ExtInstWithForwardRefsKHR) and new.words:
            new.context = self.sets.get(new.words[0], "")
        elif new.opcode == Op.Switch and new.words:
            new.context = self.selector_words(new.words[0])
        elif new.opcode == Op.ExtInstImport and new.result_id is not None:
            name = decode_string(new.words, 0)
            self.sets[new.result_id] = name[0] if name is not None else ""

    def selector_words(self, selector: int) -> int:
        """The number of words of a case literal, from the selector's type."""
        definition = self.definitions.get(selector)
        type_id = definition.type_id if definition is not None else None
        kind = self.definitions.get(type_id) if type_id is not None else None
        if kind is not None and kind.opcode == Op.TypeInt and kind.words and kind.words[0] > 32:
            return (min(kind.words[0], 64) + 31) // 32
        return 1


def read(data: bytes, *, is_valid: bool = False) -> Parsed:
    """Read a binary.  Raises ValidationError, with the byte offset, if it is malformed; ``is_valid`` says that it
    is not, because it was checked before it was written."""
    words = _unpack(data)
    header = Header(*words[1:HEADER_WORDS])
    check_header(header)
    reader = _Reader(words)
    with collector_paused():  # reading makes no reference cycles
        try:
            reader.read()
        finally:  # what is wrong further up comes first
            if not is_valid:
                reader.check(header.bound)
        return Parsed(header, reader.found, reader.definitions)


def write(header: Header, instructions: Sequence[Instruction]) -> bytes:
    """The little-endian binary of a module."""
    words: list[int] = [MAGIC, *header]
    for item in instructions:
        words += item.to_words()
    return struct.pack(f"<{len(words)}I", *words)
