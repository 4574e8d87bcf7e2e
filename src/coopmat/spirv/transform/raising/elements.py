"""What is computed from the components of products, as functions of the elements of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from coopmat.spirv.analysis.types import TypeTable
from coopmat.spirv.edit.functions import DECORATIONS, Body, FunctionEditor, with_words
from coopmat.spirv.grammar import CHAINS, CONVERSIONS, FunctionControl, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make
from coopmat.spirv.transform.facts import PURE, Facts
from coopmat.spirv.transform.raising.terms import SCALAR, Term, Terms

_NO_NUMBERS = frozenset({
    *CHAINS, *CONVERSIONS, Op.CompositeConstruct, Op.CompositeExtract, Op.CompositeInsert, Op.VectorShuffle,
    Op.VectorExtractDynamic, Op.VectorInsertDynamic, Op.CopyObject, Op.Bitcast, Op.Undef, Op.Dot, Op.Any, Op.All})
"""What only computes, and is no operation on each number of a vector."""


def is_elementwise(facts: Facts, row: Instruction) -> bool:
    """Whether an instruction computes each component of its result from the same components of its operands."""
    if row.opcode == Op.ExtInst:
        return facts.is_pure_function(row)
    return row.opcode == Op.Select or (row.opcode in PURE and row.opcode not in _NO_NUMBERS)


def operands_of(terms: Terms, row: Instruction, component: int) -> list[tuple[int, Term]]:
    """The operands of such an instruction, as far as they make up one component, each with its place."""
    first = 2 if row.opcode == Op.ExtInst else 0
    return [(place, terms.normal(Term(row.words[place], component if terms.kind(row.words[place]).count > 1
                                      else SCALAR)))
            for place in row.id_places() if place >= first]


def copy_decorations(editor: FunctionEditor, row: Instruction, other: Instruction) -> tuple[tuple[int, ...], ...]:
    """Decorate an instruction as another one is; the decorations."""
    found = [one for one in editor.annotations().get(row.result_id or 0, ()) if one.opcode in DECORATIONS]
    editor.annotate(with_words(one, (other.result_id or 0, *one.words[1:])) for one in found)
    return tuple(one.words[1:] for one in found)


@dataclass
class Expression:
    """A function of elements being made. matrices, numbers: what it is given, as ids of the kernel."""

    editor: FunctionEditor
    types: TypeTable
    matrices: dict[int, int] = field(default_factory=dict)  # id → that of the parameter
    numbers: dict[int, int] = field(default_factory=dict)
    rows: list[Instruction] = field(default_factory=list)
    known: dict[tuple[Term, ...], int] = field(default_factory=dict)
    decorations: list[tuple[tuple[int, ...], ...]] = field(default_factory=list)  # of each of the rows

    def matrix(self, identifier: int) -> int:
        """The element of a matrix."""
        return _parameter(self.editor, self.matrices, identifier)

    def number(self, identifier: int) -> int:
        """A number that is the same for all elements; constants stay what they are."""
        if self.editor.definition(identifier).opcode in (Op.Constant, Op.ConstantNull, Op.ConstantTrue,
                                                         Op.ConstantFalse):
            return identifier
        return _parameter(self.editor, self.numbers, identifier)

    def operation(self, row: Instruction, type_id: int, operands: Sequence[tuple[int, int]]) -> int:
        """An instruction of a kernel, on single numbers."""
        words = list(row.words)
        for place, operand in operands:
            words[place] = operand
        opcode = Op.FMul if row.opcode == Op.VectorTimesScalar else Op(row.opcode)
        self.rows.append(self.editor.row(opcode, type_id, *words))
        self.decorations.append(copy_decorations(self.editor, row, self.rows[-1]))
        return self.rows[-1].result_id or 0

    def key(self) -> tuple[object, ...]:
        """What tells it from other functions: its instructions and what it is given, by their places."""
        inner = [*self.matrices.values(), *self.numbers.values(), *(row.result_id or 0 for row in self.rows)]
        places = {identifier: (place,) for place, identifier in enumerate(inner)}
        types = [self.editor.definition(outer).type_id for outer in self.numbers]
        return (*(self.editor.type_of(outer).words[0] for outer in self.matrices), *types, *self.decorations,
                *((row.opcode, row.type_id, *(places.get(word, word) for word in row.words)) for row in self.rows))

    def made(self, result: int, body: Body) -> int:
        """The function, which returns a number; it stands before ``body``."""
        editor = self.editor
        element = editor.definition(result).type_id or 0
        uint = editor.unique(Op.TypeInt, 32, 0)
        given = {**{inner: editor.type_of(outer).words[0] for outer, inner in self.matrices.items()},
                 **{inner: editor.definition(outer).type_id or 0 for outer, inner in self.numbers.items()}}
        types = [uint, uint, *given.values()]
        head = [editor.row(Op.Function, element, FunctionControl(0), editor.unique(Op.TypeFunction, element, *types))]
        head += [editor.row(Op.FunctionParameter, uint) for _ in range(2)]
        head += [editor.row(Op.FunctionParameter, type_id, result=inner) for inner, type_id in given.items()]
        block = Block(editor.new_id(), [*self.rows, make(Op.ReturnValue, result)])
        function = Body(head, [block])
        editor.bodies.insert(editor.bodies.index(body), function)
        return function.id


def _parameter(editor: FunctionEditor, known: dict[int, int], identifier: int) -> int:
    """The parameter that stands for a value."""
    if identifier not in known:
        known[identifier] = editor.new_id()
    return known[identifier]
