"""One SPIR-V instruction: its words, and its operands as the grammar reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import (
    ANY_IDS,
    ENUMERATIONS,
    EXTENDED_INSTRUCTIONS,
    ID_KINDS,
    PAIRS,
    InstructionRow,
    Mask,
    Op,
    OperandSpec,
    Row,
    extended_operands,
    instruction,
    operands_of,
    parameters,
)
from coopmat.spirv.module.operands import (
    RAW,
    Operand,
    decode_number,
    decode_string,
    encode_string,
    has_parameters,
    id_positions,
    mask_bits,
)
from coopmat.spirv.text.lines import instruction_to_text

MAX_WORDS = 0xFFFF
"""The largest word count of an instruction."""

_ANY_WORDS = (OperandSpec(RAW, "*"),)


class Instruction:
    """An instruction of a module.

    ``words`` are the raw operand words after the result type and the result id.  ``offset`` is the byte
    offset in the binary that it came from, or None.  ``context`` is what decoding the operands needs beyond
    the grammar: for OpExtInst the name of the instruction set (None: ``OpenCL.std``), for OpSwitch the
    number of words of a case literal (None: 1).
    """

    __slots__ = ("_operands", "context", "offset", "opcode", "result_id", "type_id", "words")

    def __init__(self, opcode: int, type_id: int | None, result_id: int | None, words: tuple[int, ...],
                 offset: int | None = None, context: int | str | None = None) -> None:
        self.opcode = opcode
        self.type_id = type_id
        self.result_id = result_id
        self.words = words
        self.offset = offset
        self.context = context
        self._operands: tuple[Operand, ...] | None = None

    @property
    def name(self) -> str:
        """``"OpIAdd"``; ``"Op<number>"`` for an unknown opcode."""
        row = instruction(self.opcode)
        return row.name if row is not None else f"Op{self.opcode}"

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands after the result id, decoded once.  Raises ValidationError if they are malformed."""
        if self._operands is None:
            self._operands = _Decoder(self).decode()
        return self._operands

    @property
    def instruction_set(self) -> str:
        """Of an OpExtInst, the name of its set; empty if that is not known."""
        return "OpenCL.std" if self.context is None else str(self.context)

    def ids(self) -> Iterator[int]:
        """The ids that this instruction uses: its result type and its id operands, in order."""
        if self.type_id is not None:
            yield self.type_id
        positions = id_positions(self.opcode, len(self.words))
        if positions is not None:
            for position in positions:
                yield self.words[position]
            return
        for kind, value in self.operands:
            if kind in ID_KINDS:
                assert isinstance(value, int)
                yield value

    def id_places(self) -> tuple[int, ...]:
        """Which of ``words`` are ids.  Empty for an unknown opcode: nobody can tell."""
        known = id_positions(self.opcode, len(self.words))
        if known is not None:
            return known
        found = []
        position = 0
        for operand in self.operands:
            if operand.kind in ID_KINDS:
                found.append(position)
            position += self._word_count(operand)
        return tuple(found)

    def _word_count(self, operand: Operand) -> int:
        if operand.kind == "LiteralString":
            return len(encode_string(str(operand.value)))
        if operand.kind == "LiteralContextDependentNumber":
            return len(self.words)
        if self.opcode == Op.Switch and operand.kind == "LiteralInteger":
            return int(self.context or 1)
        return 1

    def with_ids(self, new: Callable[[int], int]) -> Instruction:
        """The same instruction with ``new(id)`` in place of every id: result type, result and operands."""
        words = list(self.words)
        for place in self.id_places():
            words[place] = new(words[place])
        return Instruction(self.opcode, None if self.type_id is None else new(self.type_id),
                           None if self.result_id is None else new(self.result_id), tuple(words), None, self.context)

    def to_words(self) -> tuple[int, ...]:
        """The whole instruction as it stands in a binary."""
        ids = tuple(i for i in (self.type_id, self.result_id) if i is not None)
        count = 1 + len(ids) + len(self.words)
        if count > MAX_WORDS:
            raise ValidationError("word-count", f"{self.name} has {count} words; at most {MAX_WORDS} fit",
                                  self.offset)
        return (count << 16 | self.opcode, *ids, *self.words)

    def __str__(self) -> str:
        return instruction_to_text(self)

    def __repr__(self) -> str:
        return f"<{self}>"


def make(op: Op, *operands: int | str | IntEnum, type_id: int | None = None, result_id: int | None = None,
         context: int | str | None = None) -> Instruction:
    """An instruction from its operands: a number is a word, a string becomes a literal string."""
    words: list[int] = []
    for operand in operands:
        if isinstance(operand, str):
            words += encode_string(operand)
        elif 0 <= operand <= 0xFFFFFFFF:
            words.append(int(operand))
        else:
            raise ValueError(f"{int(operand)} is no word of Op{op.spelling}: expected 0 to 4294967295")
    return Instruction(int(op), type_id, result_id, tuple(words), None, context)


# --------------------------------------------------------------------------------------
# Decoding
# --------------------------------------------------------------------------------------


class _Decoder:
    """Reads the operands of one instruction by its grammar row."""

    def __init__(self, source: Instruction) -> None:
        self.source = source
        self.words = source.words
        self.position = 0
        self.found: list[Operand] = []

    def decode(self) -> tuple[Operand, ...]:
        row = instruction(self.source.opcode)
        self.read_all(operands_of(row, len(self.words)) if row is not None else _ANY_WORDS)
        if self.position < len(self.words):
            self.fail("operand-surplus", f"{self.source.name} has {len(self.words)} operand words, but its "
                      f"operands take {self.position}")
        return tuple(self.found)

    def fail(self, rule: str, message: str) -> None:
        raise ValidationError(rule, message, self.source.offset)

    def read_all(self, specs: Sequence[OperandSpec]) -> None:
        for kind, quantifier in specs:
            if quantifier == "*":
                while self.position < len(self.words):
                    self.read(kind)
            elif quantifier != "?" or self.position < len(self.words):
                self.read(kind)
            if kind == "LiteralExtInstInteger":
                return  # the extended instruction says what follows, and how much of it

    def read(self, kind: str) -> None:
        """Read one operand, with the operands that it brings along."""
        if self.position >= len(self.words):
            self.fail("operand-missing", f"{self.source.name} ends before its operand of kind {kind}")
        enumeration = ENUMERATIONS.get(kind)
        if enumeration is not None:
            self.read_enumerant(kind, enumeration)
        elif kind in PAIRS:
            self.read_pair(kind)
        elif kind == "LiteralString":
            self.read_string()
        elif kind == "LiteralContextDependentNumber":
            self.add_number(kind, len(self.words) - self.position)
        elif kind == "LiteralSpecConstantOpInteger":
            self.read_constant_operation(kind)
        elif kind == "LiteralExtInstInteger":
            self.read_extended(kind)
        else:
            self.add_number(kind, 1)

    def add_number(self, kind: str, count: int) -> int:
        end = self.position + count
        if end > len(self.words):
            self.fail("operand-missing", f"{self.source.name} ends within an operand of kind {kind}")
        value = self.words[self.position] if count == 1 else decode_number(self.words[self.position:end])
        self.found.append(Operand(kind, value))
        self.position = end
        return value

    def read_string(self) -> None:
        decoded = decode_string(self.words, self.position)
        if decoded is None:
            self.fail("string-terminator", f"the string of {self.source.name} has no terminating zero")
        else:
            text, self.position = decoded
            self.found.append(Operand("LiteralString", text))

    def read_pair(self, kind: str) -> None:
        first, second = PAIRS[kind]
        is_case = self.source.opcode == Op.Switch and isinstance(self.source.context, int)
        self.add_number(first, int(self.source.context or 1) if is_case else 1)
        self.read(second)

    def read_enumerant(self, kind: str, enumeration: type[Row] | type[Mask]) -> None:
        value = self.words[self.position]
        self.position += 1
        if issubclass(enumeration, Mask):
            self.read_mask(kind, enumeration, value)
            return
        member = enumeration._value2member_map_.get(value)
        if isinstance(member, Row):
            self.found.append(Operand(kind, member))
            self.read_all(parameters(member))
        else:
            self.found.append(Operand(RAW, value))
            if has_parameters(enumeration):
                self.read_all(_ANY_WORDS)

    def read_mask(self, kind: str, enumeration: type[Mask], value: int) -> None:
        bits = mask_bits(enumeration, value)
        if bits is None:
            self.found.append(Operand(RAW, value))
            if has_parameters(enumeration):
                self.read_all(_ANY_WORDS)
            return
        self.found.append(Operand(kind, enumeration(value)))
        for bit in bits:
            self.read_all(parameters(bit))

    def read_constant_operation(self, kind: str) -> None:
        """The opcode inside OpSpecConstantOp and that instruction's operands."""
        opcode = self.words[self.position]
        self.position += 1
        row: InstructionRow | None = instruction(opcode)
        if row is None:
            self.found.append(Operand(RAW, opcode))
            self.read_all(_ANY_WORDS)
        elif row.opcode == Op.SpecConstantOp:
            self.fail("operand-value", "OpSpecConstantOp cannot hold another OpSpecConstantOp")
        else:
            self.found.append(Operand(kind, row.opcode))
            self.read_all(row.operands)

    def read_extended(self, kind: str) -> None:
        """The number of an extended instruction and its operands."""
        instruction_set = self.source.instruction_set
        number = self.add_number(kind, 1)
        specs = extended_operands(instruction_set, number)
        if specs is None:
            takes_ids = instruction_set in EXTENDED_INSTRUCTIONS or instruction_set.startswith("NonSemantic.")
            specs = ANY_IDS if takes_ids else _ANY_WORDS
        self.read_all(specs)
