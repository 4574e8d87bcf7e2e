"""Which words of a module are ids, found for all instructions of one form at once.

A *form* is an opcode, a number of words, and the values of those words that decide what the others are
(enumerants and masks with parameters, the number of an extended instruction).  All instructions of a form have
their ids at the same places and bring the same enumerants along, so one of them stands for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from coopmat.spirv.grammar import ENUMERATIONS, PAIRS, Op, OperandSpec, instruction, operands_of
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import Operand, has_parameters, is_one_word
from coopmat.spirv.validate.types import Integers

_BY_INSTRUCTION = frozenset({Op.Switch, Op.SpecConstantOp, Op.EntryPoint, Op.Source, Op.ExtInst,
                             Op.ExtInstWithForwardRefsKHR})
"""Instructions whose form depends on values that differ from one to the next."""


class Form(NamedTuple):
    """Instructions of one form: their indices, and the places of the ids among the operand words."""

    indices: Integers
    id_words: tuple[int, ...]


def forms(items: Sequence[Instruction], opcode: Integers, size: Integers, words: Integers,
          start: Integers) -> Iterator[Form]:
    """The forms of all instructions.  ``size`` counts the operand words, which begin at ``words[start]``."""
    key = opcode << 16 | size
    order = np.argsort(key, kind="stable")
    for indices in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        if len(indices) == 0:
            continue
        number, count = int(opcode[indices[0]]), int(size[indices[0]])
        row = instruction(number)
        if row is None:
            continue
        specs = operands_of(row, count)
        if number == Op.ExtInst:
            yield from _extended(items, indices, words, start)
        elif number in _BY_INSTRUCTION or _string_within(specs):
            yield from (Form(np.array([i]), items[i].id_places()) for i in indices.tolist())
        else:
            yield from _split(items, indices, specs, words, start)


@cache
def enumerants(opcode: int) -> tuple[tuple[int, str], ...]:
    """Place and kind of the enumerants among an instruction's operands, up to the first of unknown length."""
    row = instruction(opcode)
    found: list[tuple[int, str]] = []
    for place, (kind, quantifier) in enumerate(row.operands if row is not None else ()):
        if kind in ENUMERATIONS:
            found.append((place, kind))
        if quantifier == "*" or not is_one_word(kind):
            break
    return tuple(found)


def _string_within(specs: Sequence[OperandSpec]) -> bool:
    """Whether more operands follow a literal string."""
    kinds = [spec.kind for spec in specs]
    return "LiteralString" in kinds[:-1]


def _extended(items: Sequence[Instruction], indices: Integers, words: Integers, start: Integers) -> Iterator[Form]:
    """OpExtInst: the set and the number decide."""
    first = start[indices]
    for part in _equal(indices, words[first] << 32 | words[first + 1]):
        yield Form(part, items[part[0]].id_places())


def _split(items: Sequence[Instruction], indices: Integers, specs: Sequence[OperandSpec], words: Integers,
           start: Integers) -> Iterator[Form]:
    """Split by the value of the enumerant that brings operands along, if there is one."""
    column = _parameters_at(specs, len(items[indices[0]].words))
    if column is None:
        yield Form(indices, items[indices[0]].id_places())
        return
    for part in _equal(indices, words[start[indices] + column]):
        if _more_decides(items[part[0]].operands[column + 1:]):
            yield from (Form(np.array([i]), items[i].id_places()) for i in part.tolist())
        else:
            yield Form(part, items[part[0]].id_places())


def _parameters_at(specs: Sequence[OperandSpec], size: int) -> int | None:
    """The place of the first enumerant whose kind brings operands along."""
    for column, spec in enumerate(specs[:size]):
        if spec.kind in ENUMERATIONS and has_parameters(ENUMERATIONS[spec.kind]):
            return column
        if spec.quantifier == "*" or spec.kind in PAIRS:
            break
    return None


def _more_decides(operands: Sequence[Operand]) -> bool:
    """Whether one of these operands decides about others, too."""
    return any(kind == "LiteralString" or (kind in ENUMERATIONS and has_parameters(ENUMERATIONS[kind]))
               for kind, _ in operands)


def _equal(indices: Integers, key: Integers) -> Iterator[Integers]:
    """The indices in parts of equal key."""
    order = np.argsort(key, kind="stable")
    yield from np.split(indices[order], np.flatnonzero(np.diff(key[order])) + 1)
