"""Instructions to text, a line each.

What the grammar tables do not know, and what plain syntax could not restore word for word (a string with
bytes after its terminator, a number wider than its type), is written as ``!0x…`` words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import getitem
from typing import Protocol

from coopmat.spirv.grammar import (
    ENUMERATIONS,
    ID_KINDS,
    Mask,
    Op,
    Row,
    extended_names,
    extended_operands,
    instruction,
)
from coopmat.spirv.module.literals import float_layout, float_text
from coopmat.spirv.module.operands import (
    RAW,
    Operand,
    decode_number,
    encode_number,
    encode_string,
    kinds_of_words,
    leading_ids,
    mask_bits,
    word_kinds,
)

INDENT = 15
"""The column of the opcodes."""

_MARGIN = " " * INDENT

LONGEST_TAIL = 4
"""Texts of so many words are kept, in case the same words come again."""

_BY_TYPE = (Op.Constant, Op.SpecConstant, Op.Switch)
"""Instructions with numbers whose form a type decides."""


class InstructionWords(Protocol):
    """What the text of an instruction is made of; :class:`coopmat.spirv.module.instruction.Instruction` has it."""

    opcode: int
    type_id: int | None
    result_id: int | None
    words: tuple[int, ...]
    context: int | str | None

    @property
    def name(self) -> str:
        """``"OpIAdd"``."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands after the result id."""

    @property
    def instruction_set(self) -> str:
        """Of an OpExtInst, the name of its set."""

    def to_words(self) -> tuple[int, ...]:
        """The whole instruction as it stands in a binary."""


def instruction_to_text(item: InstructionWords) -> str:
    """One instruction by itself: numbers whose type stands elsewhere are written as words."""
    return LineWriter().line(item).strip()


class ScalarTypes:
    """The scalar types of a module and, with ``of_values``, the types of its values, as far as it has been read."""

    def __init__(self, *, of_values: bool = True) -> None:
        self._of_values = of_values
        self._scalars: dict[int, InstructionWords] = {}
        self._values: dict[int, int] = {}

    def add(self, item: InstructionWords) -> None:
        """Take in an instruction."""
        if item.type_id is None:
            if item.result_id is not None and item.opcode in (Op.TypeInt, Op.TypeFloat):
                self._scalars[item.result_id] = item
        elif self._of_values and item.result_id is not None:
            self._values[item.result_id] = item.type_id

    def scalar(self, type_id: int | None) -> InstructionWords | None:
        """The OpTypeInt or OpTypeFloat with this id."""
        return self._scalars.get(type_id or 0)

    def of_value(self, identifier: int) -> InstructionWords | None:
        """The scalar type of a value."""
        return self.scalar(self._values.get(identifier))


def number_text(words: Sequence[int], kind: InstructionWords | None) -> str | None:
    """A number of a scalar type; None if the words are not the canonical form of a number of that type."""
    if kind is None or kind.words[0] > 64 or len(words) != (kind.words[0] + 31) // 32:
        return None
    width, bits = kind.words[0], decode_number(words)
    if kind.opcode == Op.TypeFloat:
        layout = float_layout(*kind.words[:2])
        return float_text(bits, layout) if layout is not None and not bits >> width else None
    value = bits & (1 << width) - 1
    if kind.words[1] and value >> width - 1:
        value -= 1 << width
    return str(value) if encode_number(value, len(words)) == tuple(words) else None


class _Texts(dict[int, str]):
    """The texts of words, each made once."""

    def __init__(self, make: Callable[[int], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: int) -> str:
        text = self[word] = self._make(word)
        return text


class LineWriter:
    """Writes the instructions of a module, in order; ``name`` gives the names of ids, ``types`` are the types of
    values so far.

    In most instructions each operand is one word with a text of its own, which is looked up.  The others are
    decoded.
    """

    def __init__(self, name: Callable[[int], str] = str, types: ScalarTypes | None = None) -> None:
        self._ids = _Texts(lambda word: f"%{name(word)}")
        self._texts: dict[str, _Texts] = {}
        self._columns: dict[tuple[int, ...], tuple[_Texts, ...] | None] = {}
        self._tails: dict[tuple[int, tuple[int, ...]], str | None] = {}
        self._types = types if types is not None else ScalarTypes()

    def line(self, item: InstructionWords) -> str:
        """The line of an instruction."""
        row = instruction(item.opcode)
        if row is None:
            return _MARGIN + " ".join(map(_raw, item.to_words()))
        head = _MARGIN if item.result_id is None else f"{self._ids[item.result_id]} = ".rjust(INDENT)
        kind = "" if item.type_id is None else f" {self._ids[item.type_id]}"
        text = f"{head}{row.name}{kind}{self._operands(item)}"
        self._types.add(item)
        return text

    def _operands(self, item: InstructionWords) -> str:
        """The operands after the result id, with a space before each."""
        words = item.words
        if not words:
            return ""
        key = (item.opcode, len(words), *words[:2]) if item.opcode == Op.ExtInst else (item.opcode, len(words))
        if key not in self._columns:
            self._columns[key] = self._columns_of(item)
        columns = self._columns[key]
        if columns is not None:
            return " " + " ".join(map(getitem, columns, words))
        return self._tail(item) or "".join(f" {text}" for text in self._decoded(item))

    def _columns_of(self, item: InstructionWords) -> tuple[_Texts, ...] | None:
        """How each operand word is written, if its place alone decides that."""
        kinds = word_kinds(item.opcode, len(item.words))
        if item.opcode == Op.ExtInst and len(item.words) > 1:
            specs = extended_operands(item.instruction_set, item.words[1])
            rest = kinds_of_words(specs, len(item.words) - 2) if specs is not None else None
            name = _Texts(lambda number: _extended_name(item.instruction_set, number))
            return None if rest is None else (self._ids, name, *map(self._texts_of, rest))
        if kinds is None or "LiteralContextDependentNumber" in kinds:
            return None
        return tuple(self._texts_of(kind) for kind in kinds)

    def _texts_of(self, kind: str) -> _Texts:
        if kind in ID_KINDS:
            return self._ids
        if kind not in self._texts:
            self._texts[kind] = _Texts(lambda word: _word_text(kind, word))
        return self._texts[kind]

    def _tail(self, item: InstructionWords) -> str | None:
        """The operands of an instruction that has ids first and then a few words without ids, whose text is
        kept; None for others."""
        first = leading_ids(item.opcode)
        rest = item.words[first:]
        if len(rest) > LONGEST_TAIL or item.opcode in _BY_TYPE:
            return None
        key = (item.opcode, rest)
        if key not in self._tails:
            is_plain = all(operand.kind not in ID_KINDS for operand in item.operands[first:]) and _is_canonical(item)
            self._tails[key] = "".join(f" {text}" for text in self._decoded(item)[first:]) if is_plain else None
        tail = self._tails[key]
        return None if tail is None else "".join([f" {self._ids[word]}" for word in item.words[:first]]) + tail

    def _decoded(self, item: InstructionWords) -> list[str]:
        """The texts of the operands, decoded one by one."""
        if item.opcode in (Op.Constant, Op.SpecConstant):
            text = number_text(item.words, self._types.scalar(item.type_id))
            return [text] if text is not None else _raw_words(item)
        if item.opcode == Op.Switch:
            return _switch_texts(item, self._types, self._ids)
        if not _is_canonical(item):
            return _raw_words(item)
        return [_operand_text(operand, item, self._ids) for operand in item.operands]


def _switch_texts(item: InstructionWords, types: ScalarTypes, ids: _Texts) -> list[str]:
    selector, default, *cases = item.operands
    kind = types.of_value(int(selector.value))
    count = int(item.context or 1)
    texts = [ids[int(selector.value)], ids[int(default.value)]]
    for literal, label in zip(cases[::2], cases[1::2], strict=True):
        text = number_text(encode_number(int(literal.value), count), kind)
        if text is None:
            return _raw_words(item)
        texts += [text, ids[int(label.value)]]
    return texts


def _is_canonical(item: InstructionWords) -> bool:
    """Whether the strings among the operands have the form that the assembler gives them."""
    strings = [str(operand.value) for operand in item.operands if operand.kind == "LiteralString"]
    if not strings:
        return True
    if any("\r" in text or any("\ud800" <= c <= "\udfff" for c in text) for text in strings):
        return False
    encoded = [encode_string(text) for text in strings]
    others = len(item.operands) - len(strings)
    if others + sum(map(len, encoded)) != len(item.words):
        return False
    position = 0
    for operand in item.operands:
        size = 1
        if operand.kind == "LiteralString":
            words = encode_string(str(operand.value))
            size = len(words)
            if list(item.words[position:position + size]) != words:
                return False
        position += size
    return True


def _operand_text(operand: Operand, item: InstructionWords, ids: _Texts) -> str:
    kind, value = operand
    if kind in ID_KINDS:
        return ids[int(value)]
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind == "LiteralExtInstInteger":
        return _extended_name(item.instruction_set, value)
    return _word_text(kind, value)


def _word_text(kind: str, word: int) -> str:
    """The text of an operand that its kind and its value decide."""
    if kind == RAW:
        return _raw(word)
    if kind == "LiteralSpecConstantOpInteger":
        return Op(word).spelling
    enumeration = ENUMERATIONS.get(kind)
    return _enumerant_text(enumeration, word) if enumeration is not None else str(word)


def _enumerant_text(enumeration: type[Row] | type[Mask], value: int) -> str:
    """The name of a value, the names of a mask's bits; the word if it has none."""
    if issubclass(enumeration, Mask):
        bits = mask_bits(enumeration, value)
        if bits is None:
            return _raw(value)
        return "|".join(bit.spelling for bit in bits) or enumeration(0).spelling or "None"
    member = enumeration._value2member_map_.get(value)
    return member.spelling if isinstance(member, Row) else _raw(value)


def _extended_name(instruction_set: str, number: int) -> str:
    """The name of an extended instruction; a number in sets whose numbers are not fixed by the tables."""
    text = extended_names(instruction_set).get(number)
    if text is not None:
        return text
    return str(number) if instruction_set.startswith("NonSemantic.") else _raw(number)


def _raw(word: int) -> str:
    return f"!{word:#010x}"


def _raw_words(item: InstructionWords) -> list[str]:
    return [_raw(word) for word in item.words]
