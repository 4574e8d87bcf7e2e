"""Checks of the operands of all instructions of a binary: their number and form, and the ids among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import ID_KINDS, Op, extended_operands
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.module.operands import id_positions, kinds_of_words, leading_ids

Integers = NDArray[Any]

EXTENDED_SET = 3
"""The word of OpExtInst that names the instruction set; the next one is the number."""


class Checker:
    """Checks the operands of the instructions that a reader found: their form, and that ids are within the bound.

    Instructions of one opcode and word count are checked together; ``places_of_ids`` has, by their first word, which
    words are ids whatever the others are.
    """

    def __init__(self, words: tuple[int, ...], places_of_ids: dict[int, tuple[int, ...]], bound: int) -> None:
        self.words = np.array(words, np.uint32)
        self.places_of_ids = places_of_ids
        self.bound = bound
        self.decoded: set[tuple[object, ...]] = set()
        self.errors: list[ValidationError] = []

    def check(self, items: list[Instruction]) -> None:
        """Raise ValidationError for the first instruction that is malformed."""
        start = np.array([item.offset for item in items], np.int64) // 4
        first = self.words[start]
        order = np.argsort(first, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(first[order])) + 1) if items else ():
            places = self.places_of_ids[int(first[group[0]])]
            if places:
                self.check_ids(items, group, self.words[start[group][:, None] + np.array(places)])
            representative = items[int(group[0])]
            if representative.opcode == Op.ExtInst and len(representative.words) > 1:
                self.check_extended(items, group, start[group] + EXTENDED_SET)
            elif id_positions(representative.opcode, len(representative.words)) is None:
                self.check_operands(items, group)
        if self.errors:
            raise min(self.errors, key=lambda error: error.offset or 0)

    def check_ids(self, items: list[Instruction], group: Integers, ids: Integers) -> None:
        bad = (ids == 0) | (ids >= self.bound)
        if bad.any():
            at = int(bad.any(axis=1).argmax())
            self.bad_id(items[int(group[at])], int(ids[at][bad[at]][0]))

    def bad_id(self, item: Instruction, identifier: int) -> None:
        self.errors.append(ValidationError("id-bound", f"{item.name} uses id {identifier}; ids run from 1 to "
                                           f"bound - 1 = {self.bound - 1}", item.offset))

    def check_extended(self, items: list[Instruction], group: Integers, start: Integers) -> None:
        """The same for OpExtInst, whose set and number, which begin at ``start``, decide what the other words are."""
        key = self.words[start].astype(np.int64) << 32 | self.words[start + 1]
        order = np.argsort(key, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            item = items[int(group[part[0]])]
            specs = extended_operands(item.instruction_set, item.words[1])
            kinds = kinds_of_words(specs, len(item.words) - 2) if specs is not None else None
            if kinds is None:
                self.check_operands(items, group[part])
                continue
            places = [2 + place for place, kind in enumerate(kinds) if kind in ID_KINDS]
            if places:
                self.check_ids(items, group[part], self.words[start[part][:, None] + np.array(places)])

    def check_operands(self, items: list[Instruction], group: Integers) -> None:
        """Decode the operands, which raises if they are malformed, and check the ids among them; the same words
        once."""
        skipped = leading_ids(items[int(group[0])].opcode)
        for index in group.tolist():
            item = items[index]
            key = (item.opcode, item.context, item.words[skipped:], len(item.words))
            if key in self.decoded:
                continue
            self.decoded.add(key)
            try:
                bad = next((i for i in item.ids() if not 0 < i < self.bound), None)
            except ValidationError as error:
                self.errors.append(error)
                return
            if bad is not None:
                self.bad_id(item, bad)
                return
