"""Modules to text, in the syntax of SPIR-V's assembly language.

What the grammar tables do not know, and what plain syntax could not restore word for word (a string with
bytes after its terminator, a number wider than its type), is written as ``!0x…`` words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from coopmat.spirv.generators import generator_text
from coopmat.spirv.grammar import ID_KINDS, Mask, Op, Row, extended_names, instruction
from coopmat.spirv.instruction import (
    RAW,
    Instruction,
    Operand,
    decode_number,
    encode_number,
    encode_string,
    mask_bits,
)
from coopmat.spirv.literals import float_layout, float_text

if TYPE_CHECKING:
    from coopmat.spirv.module import Module

INDENT = 15
"""The column of the opcodes."""


def disassemble(module: Module, *, friendly_names: bool = False) -> str:
    """The text of a module: header comments, then one instruction a line."""
    name: Callable[[int], str] = str
    if friendly_names:
        from coopmat.spirv.names import FriendlyNames

        name = FriendlyNames(module).name
    lines = [
        "; SPIR-V",
        f"; Version: {module.version_text}",
        f"; Generator: {generator_text(module.generator)}",
        f"; Bound: {module.bound}",
        f"; Schema: {module.schema}",
    ]
    types = TypeTable()
    for item in module.instructions:
        lines.append(_line(item, types, name))
        types.add(item)
    return "\n".join(lines) + "\n"


def instruction_to_text(item: Instruction) -> str:
    """One instruction by itself: numbers whose type stands elsewhere are written as words."""
    return _line(item, TypeTable(), str).strip()


class TypeTable:
    """The scalar types of a module and the types of its values, as far as it has been read."""

    def __init__(self) -> None:
        self._scalars: dict[int, Instruction] = {}
        self._values: dict[int, int] = {}

    def add(self, item: Instruction) -> None:
        """Take in an instruction."""
        if item.result_id is not None:
            if item.opcode in (Op.TypeInt, Op.TypeFloat):
                self._scalars[item.result_id] = item
            elif item.type_id is not None:
                self._values[item.result_id] = item.type_id

    def scalar(self, type_id: int | None) -> Instruction | None:
        """The OpTypeInt or OpTypeFloat with this id."""
        return self._scalars.get(type_id or 0)

    def of_value(self, identifier: int) -> Instruction | None:
        """The scalar type of a value."""
        return self.scalar(self._values.get(identifier))


def number_text(words: Sequence[int], kind: Instruction | None) -> str | None:
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


def _line(item: Instruction, types: TypeTable, name: Callable[[int], str]) -> str:
    row = instruction(item.opcode)
    if row is None:
        return " " * INDENT + " ".join(_raw(word) for word in item.to_words())
    head = f"%{name(item.result_id)} = " if item.result_id is not None else ""
    parts = [head.rjust(INDENT) + row.name]
    if item.type_id is not None:
        parts.append("%" + name(item.type_id))
    parts += _operand_texts(item, types, name)
    return " ".join(parts)


def _operand_texts(item: Instruction, types: TypeTable, name: Callable[[int], str]) -> list[str]:
    if item.opcode in (Op.Constant, Op.SpecConstant):
        text = number_text(item.words, types.scalar(item.type_id))
        return [text] if text is not None else _raw_words(item)
    if item.opcode == Op.Switch:
        return _switch_texts(item, types, name)
    if not _is_canonical(item):
        return _raw_words(item)
    return [_operand_text(operand, item, name) for operand in item.operands]


def _switch_texts(item: Instruction, types: TypeTable, name: Callable[[int], str]) -> list[str]:
    selector, default, *cases = item.operands
    kind = types.of_value(int(selector.value))
    count = int(item.context or 1)
    texts = [f"%{name(int(selector.value))}", f"%{name(int(default.value))}"]
    for literal, label in zip(cases[::2], cases[1::2], strict=True):
        text = number_text(encode_number(int(literal.value), count), kind)
        if text is None:
            return _raw_words(item)
        texts += [text, f"%{name(int(label.value))}"]
    return texts


def _is_canonical(item: Instruction) -> bool:
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


def _operand_text(operand: Operand, item: Instruction, name: Callable[[int], str]) -> str:
    kind, value = operand
    if kind == RAW:
        return _raw(int(value))
    if kind in ID_KINDS:
        return "%" + name(int(value))
    if isinstance(value, Mask):
        return _mask_text(value)
    if isinstance(value, Row):
        return value.spelling
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if kind == "LiteralExtInstInteger":
        return _extended_name(str(item.context or "OpenCL.std"), value)
    return str(value)


def _mask_text(value: Mask) -> str:
    if value == 0:
        zero = type(value)(0)
        return zero.spelling or "None"
    return "|".join(bit.spelling for bit in mask_bits(type(value), int(value)) or ())


def _extended_name(instruction_set: str, number: int) -> str:
    """The name of an extended instruction; a number in sets whose numbers are not fixed by the tables."""
    text = extended_names(instruction_set).get(number)
    if text is not None:
        return text
    return str(number) if instruction_set.startswith("NonSemantic.") else _raw(number)


def _raw(word: int) -> str:
    return f"!{word:#010x}"


def _raw_words(item: Instruction) -> list[str]:
    return [_raw(word) for word in item.words]
