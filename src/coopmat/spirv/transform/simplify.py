"""Instructions whose value is known, or has been computed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from coopmat.spirv.edit.functions import Body, Graph, replace_uses, with_words
from coopmat.spirv.edit.ordering import LINES
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.constant_values import COMPUTED, evaluate
from coopmat.spirv.transform.facts import PURE, Facts

_ZERO_RIGHT = frozenset({Op.IAdd, Op.ISub, Op.BitwiseOr, Op.BitwiseXor, Op.ShiftLeftLogical, Op.ShiftRightLogical,
                         Op.ShiftRightArithmetic, Op.LogicalOr})
_ZERO_LEFT = frozenset({Op.IAdd, Op.BitwiseOr, Op.BitwiseXor, Op.LogicalOr})
_ONE_RIGHT = frozenset({Op.IMul, Op.UDiv, Op.SDiv, Op.LogicalAnd})
_ONE_LEFT = frozenset({Op.IMul, Op.LogicalAnd})
_DECIDED_BY = {Op.IMul: 0, Op.BitwiseAnd: 0, Op.LogicalAnd: 0, Op.LogicalOr: 1}
"""What one operand may be that is the result, whatever the other one is."""


class Simplifying:
    """One walk over a function, from each block to those that it dominates: what has the same value as another one is
    replaced by it."""

    def __init__(self, facts: Facts, body: Body, found: Counter[str]) -> None:
        self.facts = facts
        self.editor = facts.editor
        self.body = body
        self.found = found
        self.same: dict[int, int] = {}
        self.rows: dict[int, Instruction] = {}

    def done(self) -> None:
        graph = Graph.of(self.body)
        children = graph.children()
        waiting: list[tuple[int, dict[tuple[object, ...], int]]] = [(0, {})]
        while waiting:
            index, known = waiting.pop()
            block = self.body.blocks[index]
            block.instructions = list(self._block(block, known))
            waiting += [(child, dict(known)) for child in reversed(children.get(index, ()))]
        replace_uses(self.body, self.same)

    def _block(self, block: Block, known: dict[tuple[object, ...], int]) -> Iterator[Instruction]:
        for row in block.instructions:
            if row.result_id is None or row.opcode in LINES:
                yield row
                continue
            if self.same and any(word in self.same for word in row.words):
                row = _with_same(row, self.same)
            found = self._simpler(row)
            if found is None and self._is_shared(row):
                key = (row.opcode, row.type_id, _in_order(row), row.context,
                       self.facts.decorated.get(row.result_id or 0, ()))
                found = known.get(key)
                if found is not None:
                    self.found["instructions computed before"] += 1
                known.setdefault(key, row.result_id or 0)
            elif found is not None:
                self.found["instructions folded"] += 1
            if found is not None:
                self.same[row.result_id or 0] = self.same.get(found, found)
                continue
            self.rows[row.result_id or 0] = row
            yield row

    def _is_shared(self, row: Instruction) -> bool:
        if row.opcode == Op.Load:
            pointer = self.editor.definition(row.words[0])
            return pointer.opcode == Op.Variable and pointer.words[0] == StorageClass.Input
        return row.opcode in PURE or (row.opcode == Op.ExtInst and self.facts.is_pure_function(row))

    # --- one instruction ----------------------------------------------------------------

    def _simpler(self, row: Instruction) -> int | None:
        """What has the value of an instruction, if that is known."""
        if row.opcode == Op.Phi:
            values = set(row.words[::2]) - {row.result_id}
            return values.pop() if len(values) == 1 else None
        if row.opcode == Op.CopyObject or (row.opcode == Op.CooperativeMatrixPerElementOpEXT
                                           and self.facts.gives_element(row.words[1])):
            return row.words[0]
        if row.opcode in _SIMPLER:
            found = _SIMPLER[row.opcode](self, row)
            if found is not None:
                return found
        if row.opcode in COMPUTED:
            return self._computed(row) or self._neutral(row)
        return None

    def _computed(self, row: Instruction) -> int | None:
        facts = self.facts
        kind = facts.kind(row.type_id or 0)
        if kind is None or facts.decorated.get(row.result_id or 0, ()):
            return None
        given = [facts.bits(word) for word in row.words]
        kinds = [facts.kind(self.editor.type_of(word).result_id or 0) for word in row.words]
        values = [bits for bits in given if bits is not None]
        known = [one.scalar for one in kinds if one is not None]
        if len(values) < len(row.words) or len(known) < len(row.words):
            return None
        if row.opcode == Op.Select and len(values[0]) < kind.count:
            values[0] *= kind.count
        results = [evaluate(row.opcode, kind.scalar, known, [bits[place] for bits in values])
                   for place in range(kind.count)]
        found = tuple(one for one in results if one is not None)
        return facts.constant(row.type_id or 0, found) if len(found) == kind.count else None

    def _neutral(self, row: Instruction) -> int | None:
        """The other operand of one that changes nothing, or the one that decides alone."""
        if len(row.words) != 2:
            return None
        for word in row.words:
            decided = self.facts.bits(word) if row.opcode in _DECIDED_BY else None
            if decided is not None and set(decided) == {_DECIDED_BY[Op(row.opcode)]} and (
                    self.editor.type_of(word).result_id == row.type_id):
                return word
        for place, zeros, ones in ((1, _ZERO_RIGHT, _ONE_RIGHT), (0, _ZERO_LEFT, _ONE_LEFT)):
            other = row.words[1 - place]
            if row.opcode not in zeros | ones or self.editor.type_of(other).result_id != row.type_id:
                continue
            bits = self.facts.bits(row.words[place])
            if bits is not None and all(one == (row.opcode in ones) for one in bits):
                return other
        return None

    def _select(self, row: Instruction) -> int | None:
        condition, chosen, other = row.words
        bits = self.facts.bits(condition)
        if chosen == other:
            return chosen
        if bits is None or len(set(bits)) != 1:
            return None
        return chosen if bits[0] else other

    def _extract(self, row: Instruction) -> int | None:
        """A part of a composite that is known."""
        value, *path = row.words
        while path:
            made = self.rows.get(value)
            if made is None:
                return self._constant_part(row, value, path)
            if made.opcode == Op.CompositeInsert:
                part, whole, *there = made.words
                if there == path[:len(there)]:
                    value, path = part, path[len(there):]
                elif path == there[:len(path)]:
                    return None
                else:
                    value = whole
            elif made.opcode == Op.CompositeConstruct and self._has_members(made):
                value, path = made.words[path[0]], path[1:]
            elif made.opcode == Op.CompositeConstruct and self._is_matrix(made):
                return made.words[0]
            else:
                return None
            value = self.same.get(value, value)
        return value

    def _constant_part(self, row: Instruction, value: int, path: Sequence[int]) -> int | None:
        made = self.editor.definition(value)
        for index in path:
            if made.opcode == Op.ConstantNull:
                return self.editor.unique(Op.ConstantNull, type_id=row.type_id) if self._is_number(row) else None
            if made.opcode == Op.Undef:
                return self.editor.undefined(row.type_id or 0)
            if made.opcode != Op.ConstantComposite:
                return None
            made = self.editor.definition(made.words[0 if self._is_matrix(made) else index])
        return made.result_id

    def _is_number(self, row: Instruction) -> bool:
        return self.facts.kind(row.type_id or 0) is not None

    def _has_members(self, made: Instruction) -> bool:
        """Whether each operand of an OpCompositeConstruct is one member of the result."""
        kind = self.editor.definition(made.type_id or 0)
        if kind.opcode == Op.TypeVector:
            return len(made.words) == kind.words[1]
        return kind.opcode in (Op.TypeStruct, Op.TypeArray)

    def _is_matrix(self, made: Instruction) -> bool:
        return self.editor.definition(made.type_id or 0).opcode == Op.TypeCooperativeMatrixKHR

    def _chain(self, row: Instruction) -> int | None:
        """A pointer moved by nothing."""
        base, *indices = row.words
        if self.editor.type_of(base).result_id == row.type_id and all(self.editor.integer(word) == 0
                                                                       for word in indices[:1]) and len(indices) == 1:
            return base
        return None

    def _unchanged(self, row: Instruction) -> int | None:
        """A value converted to its own type."""
        if self.facts.decorated.get(row.result_id or 0, ()):
            return None
        return row.words[0] if self.editor.type_of(row.words[0]).result_id == row.type_id else None


_SIMPLER: dict[int, Callable[[Simplifying, Instruction], int | None]] = {
    Op.Select: Simplifying._select,
    Op.CompositeExtract: Simplifying._extract,
    Op.PtrAccessChain: Simplifying._chain,
    Op.InBoundsPtrAccessChain: Simplifying._chain,
    Op.Bitcast: Simplifying._unchanged,
    Op.UConvert: Simplifying._unchanged,
    Op.SConvert: Simplifying._unchanged,
    Op.FConvert: Simplifying._unchanged,
}
_COMMUTATIVE = frozenset({Op.IAdd, Op.IMul, Op.BitwiseAnd, Op.BitwiseOr, Op.BitwiseXor, Op.LogicalAnd, Op.LogicalOr,
                          Op.LogicalEqual, Op.LogicalNotEqual, Op.IEqual, Op.INotEqual})


def _in_order(row: Instruction) -> tuple[int, ...]:
    return tuple(sorted(row.words)) if row.opcode in _COMMUTATIVE else row.words


def _with_same(row: Instruction, same: dict[int, int]) -> Instruction:
    words = list(row.words)
    for place in row.id_places():
        words[place] = same.get(words[place], words[place])
    return with_words(row, words)
