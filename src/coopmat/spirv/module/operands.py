"""Operands of instructions: their kinds, and the words that literals are made of."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from coopmat.spirv.grammar import ENUMERATIONS, ID_KINDS, Mask, OperandSpec, Row, instruction, operands_of

RAW = "Raw"
"""Operand kind of a word that the tables cannot name."""


class Operand(NamedTuple):
    """An operand: its kind in the grammar and its value.

    ``value`` is the number of an id or of a literal, the text of a string, or the member of an enumeration.
    """

    kind: str
    value: int | str

    @property
    def is_id(self) -> bool:
        """Whether the value is the result id of another instruction."""
        return self.kind in ID_KINDS


# --------------------------------------------------------------------------------------
# Literals
# --------------------------------------------------------------------------------------


def encode_string(text: str) -> list[int]:
    """The words of a literal string: UTF-8, a terminating zero, padded with zeros.  ValueError for one that holds a
    zero byte."""
    if "\0" in text:
        raise ValueError(f"a literal string cannot hold a zero byte: {text[:40]!r}")
    data = text.encode("utf-8", "surrogateescape")
    data += b"\0" * (4 - len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def decode_string(words: Sequence[int], start: int) -> tuple[str, int] | None:
    """The literal string at ``words[start]`` and the position after it; None if it has no terminator.

    Bytes that are not UTF-8 become surrogates, so that :func:`encode_string` restores them.
    """
    data = struct.pack(f"<{max(0, len(words) - start)}I", *words[start:])
    end = data.find(0)
    return (data[:end].decode("utf-8", "surrogateescape"), start + end // 4 + 1) if end >= 0 else None


def encode_number(value: int, words: int) -> tuple[int, ...]:
    """A number as little-endian words, two's complement."""
    return tuple(value >> 32 * i & 0xFFFFFFFF for i in range(words))


def decode_number(words: Sequence[int]) -> int:
    """The unsigned number that the words hold, low word first."""
    return sum(word << 32 * i for i, word in enumerate(words))


# --------------------------------------------------------------------------------------
# Kinds of words
# --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def word_kinds(opcode: int, count: int) -> tuple[str, ...] | None:
    """The kinds of ``count`` operand words, one for each; None if the words' values decide what they are, or if
    they do not fit the grammar: then decoding tells.  A number may have several words of its kind."""
    row = instruction(opcode)
    return kinds_of_words(operands_of(row, count), count) if row is not None else (RAW,) * count


def kinds_of_words(specs: Sequence[OperandSpec], count: int) -> tuple[str, ...] | None:
    """:func:`word_kinds` for operands of these kinds."""
    kinds: list[str] = []
    for kind, quantifier in specs:
        left = count - len(kinds)
        if quantifier and not left:
            continue
        takes_rest = quantifier == "*" or kind == "LiteralContextDependentNumber"
        if kind == "PairIdRefIdRef" and takes_rest and left % 2 == 0:
            kinds += ["IdRef"] * left
        elif is_one_word(kind):
            kinds += [kind] * (max(left, 1) if takes_rest else 1)
        else:
            return None
    return tuple(kinds) if len(kinds) == count else None


@lru_cache(maxsize=4096)
def id_positions(opcode: int, count: int) -> tuple[int, ...] | None:
    """Which of ``count`` operand words are ids; None if that depends on the words."""
    kinds = word_kinds(opcode, count)
    return None if kinds is None else tuple(i for i, kind in enumerate(kinds) if kind in ID_KINDS)


@lru_cache(maxsize=4096)
def leading_ids(opcode: int) -> int:
    """How many ids the operand words of an instruction begin with, whatever follows."""
    row = instruction(opcode)
    found = 0
    for kind, quantifier in row.operands if row is not None else ():
        if quantifier or kind not in ID_KINDS:
            break
        found += 1
    return found


def is_one_word(kind: str) -> bool:
    """Whether an operand takes one word, whatever its value (a number may take more)."""
    if kind in ID_KINDS or kind in ("LiteralInteger", "LiteralContextDependentNumber"):
        return True
    enumeration = ENUMERATIONS.get(kind)
    return enumeration is not None and not has_parameters(enumeration)


_WITH_PARAMETERS: dict[type[Row] | type[Mask], bool] = {}


def has_parameters(enumeration: type[Row] | type[Mask]) -> bool:
    """Whether members bring operands along (then an unknown one may, too)."""
    if enumeration not in _WITH_PARAMETERS:
        _WITH_PARAMETERS[enumeration] = any(member.signature for member in enumeration)
    return _WITH_PARAMETERS[enumeration]


def mask_bits(enumeration: type[Mask], value: int) -> list[Mask] | None:
    """The members whose bits ``value`` has, lowest first; None if it has a bit without a name."""
    bits: list[Mask] = []
    bit = 1
    while bit <= value:
        if value & bit:
            member = enumeration._value2member_map_.get(bit)
            if not isinstance(member, Mask) or member.name is None:
                return None
            bits.append(member)
        bit <<= 1
    return bits
