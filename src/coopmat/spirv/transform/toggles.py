"""Arrays of two that a loop takes in turn, ``buffer[turn]`` and ``buffer[turn ^ 1]``, with indices that are constant.

Where an index changes between 0 and 1 in each round, the element that is meant now may be number 0 in all rounds, and
the other one number 1, if they change places at a round's end. Then both can become values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from coopmat.spirv.edit.functions import Body, FunctionEditor, uses_of, with_words
from coopmat.spirv.grammar import CHAINS, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.enlarge.loops import Loops

_CONVERSIONS = frozenset({Op.SConvert, Op.UConvert, Op.Bitcast, Op.CopyObject})
_RESTS = frozenset({Op.UMod, Op.SRem, Op.SMod})
_PLACE = 1  # of the index in an access chain to an array


class _Parity(NamedTuple):
    """What a number is, modulo 2: a phi and so much more. is_bit: it is 0 or 1; keeps_bits: it is if the phi is."""

    phi: Instruction
    more: int
    is_bit: bool = False
    keeps_bits: bool = False


class _Turn(NamedTuple):
    """An index that is, modulo 2, the number of a loop's round and so much more."""

    header: int
    more: int


def without_toggles(module: Module) -> Module:
    """The module with constant indices of such arrays; the same one if there are none."""
    editor = FunctionEditor(module)
    changed = [_Toggles(editor, body).done() for body in editor.bodies if body.blocks]
    return editor.done() if any(changed) else module


class _Toggles:
    """One function."""

    def __init__(self, editor: FunctionEditor, body: Body) -> None:
        self.editor, self.body, self.loops, self.uses = editor, body, Loops(body), uses_of(body)
        self.blocks = {id(row): block for block in body.blocks for row in block.instructions}

    def done(self) -> bool:
        """Change the arrays; whether there were any."""
        found = [(row, turns) for row in self.body.blocks[0].instructions
                 if row.opcode == Op.Variable and self._is_pair(row) and (turns := self._turns(row)) is not None]
        for variable, turns in found:
            self._change(variable, *turns)
        return bool(found)

    def _is_pair(self, variable: Instruction) -> bool:
        kind = self.editor.definition(self.editor.definition(variable.type_id or 0).words[1])
        return kind.opcode == Op.TypeArray and self.editor.integer(kind.words[1]) == 2

    # --- which arrays -------------------------------------------------------------------

    def _turns(self, variable: Instruction) -> tuple[Block, dict[int, int]] | None:
        """The header of the loop that takes an array's elements in turn, and by their ids, which element each chain of
        accesses means in it: 0 the one with the round's number, modulo 2. None if that is not so."""
        whole = [row for row in self.uses.get(variable.result_id or 0, []) if row.opcode in (Op.Load, Op.Store)]
        chains = [row for row in self.uses.get(variable.result_id or 0, []) if row not in whole]
        if not all(row.opcode in CHAINS and CHAINS[Op(row.opcode)] == _PLACE < len(row.words)
                   and row.words[0] == variable.result_id for row in chains):
            return None
        turns = {row.result_id or 0: self._turn(row.words[_PLACE]) for row in chains
                 if self.editor.integer(row.words[_PLACE]) is None}
        headers = {None if turn is None else turn.header for turn in turns.values()}
        header = headers.pop() if len(headers) == 1 else None
        if header is None:
            return None
        inside = {block.label for block in self.loops.blocks(header)}
        _, back = self.loops.parents(header)
        after = self._after(header)
        if any(self.body.block(label).terminator.opcode != Op.Branch for label in back) or any(
                self.blocks[id(row)].label in after for row in whole) or any(
                header in self.loops.successors(label) for label in after - inside):
            return None
        for row in chains:
            constant = self.editor.integer(row.words[_PLACE])
            if constant is not None and (constant not in (0, 1) or self.blocks[id(row)].label in after):
                return None
            turns.setdefault(row.result_id or 0, _Turn(header, constant or 0))
        if not all(self._stays(self.editor.definition(key), inside) for key in turns):
            return None
        return self.body.block(header), {key: turn.more & 1 for key, turn in turns.items() if turn is not None}

    def _after(self, header: int) -> set[int]:
        """The labels of the blocks that may run after a loop has begun."""
        waiting, found = [header], set[int]()
        while waiting:
            label = waiting.pop()
            if label not in found:
                found.add(label)
                waiting += self.loops.successors(label)
        return found

    def _stays(self, pointer: Instruction, inside: set[int]) -> bool:
        """Whether a pointer is used for nothing but accesses, and not in another round, or behind the loop, than where
        it was computed."""
        is_inside = self.blocks[id(pointer)].label in inside
        for user in self.uses.get(pointer.result_id or 0, ()):
            is_access = user.opcode == Op.Load or (user.opcode == Op.Store and user.words[1] != pointer.result_id)
            is_chain = user.opcode in CHAINS and user.words[0] == pointer.result_id
            if not (is_access or (is_chain and self._stays(user, inside))) or (
                    (self.blocks[id(user)].label in inside) != is_inside):
                return False
        return True

    def _turn(self, index: int) -> _Turn | None:
        """What an index is, if it is 0 and 1 in turn."""
        parity = self._parity(index)
        if parity is None:
            return None
        ends = self.loops.ends(parity.phi)
        if ends is None:
            return None
        start, following, header = ends
        first, step = self.editor.integer(start), self._parity(following)
        if first is None or step is None or step.phi is not parity.phi or not step.more & 1:
            return None
        is_bit = first in (0, 1) and (step.is_bit or step.keeps_bits)
        if not parity.is_bit and not (parity.keeps_bits and is_bit):
            return None
        return _Turn(header.label, first + parity.more)

    def _parity(self, identifier: int) -> _Parity | None:
        """A number, modulo 2."""
        row = self.editor.definition(identifier)
        if row.opcode == Op.Phi:
            return _Parity(row, 0, keeps_bits=True)
        if row.opcode in _CONVERSIONS:
            return self._parity(row.words[0])
        if row.opcode == Op.Select:
            return self._negated(row)
        if len(row.words) != 2 or row.opcode not in _RESTS | {Op.BitwiseAnd, Op.BitwiseXor, Op.IAdd, Op.ISub}:
            return None
        place = next((place for place, word in enumerate(row.words) if self.editor.integer(word) is not None), None)
        if place is None:
            return None
        constant, other = self.editor.integer(row.words[place]) or 0, self._parity(row.words[1 - place])
        if other is None:
            return None
        if (row.opcode in _RESTS and place == 1 and constant == 2) or (row.opcode == Op.BitwiseAnd and constant == 1):
            return other._replace(is_bit=True)
        if (row.opcode == Op.BitwiseXor and constant == 1) or (
                row.opcode == Op.ISub and place == 0 and constant == 1):
            return other._replace(more=other.more + 1)
        if row.opcode in (Op.IAdd, Op.ISub):
            return _Parity(other.phi, other.more + constant)
        return None

    def _negated(self, row: Instruction) -> _Parity | None:
        """``!bit`` as a number: 1 where a bit is 0, and 0 where it is not."""
        condition = self.editor.definition(row.words[0])
        numbers = [self.editor.integer(word) for word in row.words[1:]]
        if condition.opcode == Op.LogicalNot:
            condition, numbers = self.editor.definition(condition.words[0]), numbers[::-1]
        if condition.opcode not in (Op.IEqual, Op.INotEqual) or self.editor.integer(condition.words[1]) != 0:
            return None
        given = self._parity(condition.words[0])
        if numbers != ([1, 0] if condition.opcode == Op.IEqual else [0, 1]) or given is None:
            return None
        return _Parity(given.phi, given.more + 1, given.is_bit, given.keeps_bits)

    # --- what becomes of them -----------------------------------------------------------

    def _change(self, variable: Instruction, header: Block, places: Mapping[int, int]) -> None:
        """Give chains constant indices, and let the elements change places at the ends of rounds."""
        for block in self.body.blocks:
            block.instructions = [row if (place := places.get(row.result_id or 0)) is None
                                  else self._with_index(row, place) for row in block.instructions]
        pointer = self.editor.definition(variable.type_id or 0)
        element = self.editor.definition(pointer.words[1]).words[0]
        kind = self.editor.type_pointer(pointer.words[0], element)
        _, back = self.loops.parents(header.label)
        for label in back:
            rows = [self.editor.row(Op.AccessChain, kind, variable.result_id or 0, self.editor.constant(place))
                    for place in range(2)]
            rows += [self.editor.row(Op.Load, element, row.result_id or 0) for row in rows]
            one, other, *loaded = (row.result_id or 0 for row in rows)
            self.body.block(label).instructions[-1:-1] = [
                *rows, make(Op.Store, one, loaded[1]), make(Op.Store, other, loaded[0])]

    def _with_index(self, row: Instruction, place: int) -> Instruction:
        return with_words(row, (row.words[0], self.editor.constant(place), *row.words[2:]))
