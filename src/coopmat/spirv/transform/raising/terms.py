"""What numbers are made of: components of vectors that are put together, cast, and taken apart again."""

from __future__ import annotations

from typing import NamedTuple

from coopmat.spirv.analysis.types import Type, TypeTable
from coopmat.spirv.edit.functions import FunctionEditor
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction

BYTE = 8
SCALAR = -1
_UNDEFINED = 0xFFFFFFFF  # of OpVectorShuffle


class Term(NamedTuple):
    """A number: a component of a vector, or the whole value (:data:`SCALAR`)."""

    identifier: int
    component: int


class Piece(NamedTuple):
    """A byte of a number."""

    term: Term
    byte: int


class Terms:
    """The numbers of a module."""

    def __init__(self, editor: FunctionEditor, types: TypeTable) -> None:
        self.editor, self.types = editor, types

    def row(self, term: Term) -> Instruction:
        """The instruction that makes a number, or the vector that it is a component of."""
        return self.editor.definition(term.identifier)

    def kind(self, identifier: int) -> Type:
        """The type of a value."""
        return self.types[self.editor.definition(identifier).type_id or 0]

    def type_id(self, term: Term) -> int:
        """The type of a number."""
        return self.editor.component(self.editor.type_of(term.identifier)).result_id or 0

    def of(self, identifier: int) -> tuple[Term, ...]:
        """The components of a value."""
        count = self.kind(identifier).count
        places = range(count) if count > 1 else (SCALAR,)
        return tuple(self.normal(Term(identifier, place)) for place in places)

    def normal(self, term: Term) -> Term:
        """The number as what it was first."""
        while (found := self._before(term)) is not None:
            term = found
        return term

    def _before(self, term: Term) -> Term | None:
        """The same number one step before; None if it is made here."""
        row, component = self.row(term), term.component
        if row.opcode == Op.CopyObject:
            return Term(row.words[0], component)
        if row.opcode == Op.Bitcast:
            is_alike = self.kind(row.words[0]).count == self.kind(term.identifier).count
            return Term(row.words[0], component) if is_alike and self._is_number(row.words[0]) else None
        if component == SCALAR:
            is_component = row.opcode == Op.CompositeExtract and len(row.words) == 2 and (
                self.editor.type_of(row.words[0]).opcode == Op.TypeVector)
            return Term(row.words[0], row.words[1]) if is_component else None
        if row.opcode == Op.ConstantComposite:
            return Term(row.words[component], SCALAR)
        if row.opcode == Op.CompositeConstruct:
            return self._constituent(row, component)
        if row.opcode == Op.CompositeInsert and len(row.words) == 3:
            part, whole, place = row.words
            return Term(part, SCALAR) if place == component else Term(whole, component)
        return self._shuffled(row, component) if row.opcode == Op.VectorShuffle else None

    def _is_number(self, identifier: int) -> bool:
        return self.editor.component(self.editor.type_of(identifier)).opcode in (Op.TypeInt, Op.TypeFloat)

    def _constituent(self, row: Instruction, component: int) -> Term | None:
        for word in row.words:
            count = self.kind(word).count
            if component < count:
                return Term(word, component if count > 1 else SCALAR)
            component -= count
        return None

    def _shuffled(self, row: Instruction, component: int) -> Term | None:
        one, two, *chosen = row.words
        place = chosen[component]
        first = self.kind(one).count
        if place == _UNDEFINED:
            return None
        return Term(one, place) if place < first else Term(two, place - first)

    # --- bytes ------------------------------------------------------------------------------

    def bytes(self, term: Term) -> tuple[Piece | None, ...]:
        """The bytes of a number, the lowest first, as those of what was first; None for zeros."""
        term = self.normal(term)
        row, size = self.row(term), self.kind(term.identifier).scalar.size
        itself = tuple(Piece(term, byte) for byte in range(size))
        if row.opcode == Op.Bitcast and self._is_number(row.words[0]):
            whole = [piece for part in self.of(row.words[0]) for piece in self.bytes(part)]
            start = max(term.component, 0) * size
            return tuple(whole[start:start + size])
        if row.opcode == Op.ConstantNull or self.editor.integer(term.identifier) == 0:
            return (None,) * size
        if row.opcode == Op.UConvert:
            found = self.bytes(Term(row.words[0], term.component))
            return (*found, *(None,) * size)[:size]
        if row.opcode == Op.ShiftLeftLogical:
            return self._shifted(row, term) or itself
        if row.opcode == Op.BitwiseOr:
            one, two = (self.bytes(Term(word, term.component)) for word in row.words)
            if all(a is None or b is None for a, b in zip(one, two, strict=True)):
                return tuple(a or b for a, b in zip(one, two, strict=True))
        return itself

    def _shifted(self, row: Instruction, term: Term) -> tuple[Piece | None, ...] | None:
        count = self.editor.integer(self.normal(Term(row.words[1], term.component)).identifier)
        if count is None or count % BYTE:
            return None
        found = self.bytes(Term(row.words[0], term.component))
        return ((None,) * (count // BYTE) + found)[:len(found)]
