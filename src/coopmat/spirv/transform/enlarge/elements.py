"""Functions of elements that ask where these are, when work-groups are merged.

Such a function knows the row and column of an element in its tile, and gets numbers that depend on the work-group, such
as the tile's first column. Of a matrix that is as large as those of several work-groups, row and column tell which of
them an element was in, and where in its tile: the function is called by another one that finds that out. Elements of
work-groups that there are not have no numbers: for them a function that reads memory, or divides, is not called. The
same goes for rounds of a loop along K, for A and B; those of rounds that there are not are zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import FunctionControl, Op
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction, make

_MAY_FAIL = frozenset({Op.SDiv, Op.UDiv, Op.SRem, Op.SMod, Op.UMod})
_BITS = 64


@dataclass(frozen=True)
class Moved:
    """A number, or a pointer, that a function of elements gets: ``start`` is that of the first work-group (of a
    pointer: how far it is from ``base``), and ``steps`` how much more it is for each one down (0) and across (1); or
    of the first round."""

    operand: int
    start: Polynomial
    steps: Mapping[int, Polynomial]
    base: int = 0


def moved(operand: int, value: Polynomial, ways: Mapping[int, Atom], moving: Collection[Atom], base: int = 0
          ) -> Moved | None:
    """How a number differs between work-groups, or rounds, that become one; ways: by rows (0) and columns (1) of the
    matrix, the positions or the numbers of rounds by which they follow each other; moving: all of which several become
    one. None if it does not just rise along these."""
    steps, alone = {}, value
    for place, atom in ways.items():
        step = value.coefficient(atom)
        if step is None:
            return None
        steps[place] = step
        alone -= step * Polynomial.atom(atom.kind, atom.number)
    if any(not one.atoms.isdisjoint(moving) for one in (alone, *steps.values())):
        return None
    return Moved(operand, value, steps, base)


def may_fail(editor: FunctionEditor, function: int) -> bool:
    """Whether a function divides integers."""
    return any(row.opcode in _MAY_FAIL or (row.opcode == Op.FunctionCall and may_fail(editor, row.words[0]))
               for row in next(body for body in editor.bodies if body.id == function).rows())


@dataclass
class Caller:
    """A function that calls one of elements for those of several work-groups. extents: rows and columns of their tiles,
    0 where they have only one; elements: how many of its parameters are elements of matrices; guarded: whether it gets
    (behind everything else) whether all work-groups are there, and how many are down and across. moved: by its place
    among the further operands, what differs between work-groups; of it the function gets start and steps."""

    editor: FunctionEditor
    function: int
    extents: tuple[int, int]
    elements: int
    moved: Mapping[int, Moved]
    guarded: bool

    def made(self) -> Body:
        """It, without steps that are 0; its further operands are those of the function, each with its steps behind it,
        and what guards."""
        editor = self.editor
        called = next(body for body in editor.bodies if body.id == self.function)
        self.long, self.bool = editor.unique(Op.TypeInt, _BITS, 0), editor.unique(Op.TypeBool)
        types = [row.type_id or 0 for row in called.parameters]
        self.short, self.element = types[0], editor.definition(self.function).type_id or 0
        fixed, further = types[:2 + self.elements], types[2 + self.elements:]
        taken: list[int] = []
        for place, type_id in enumerate(further):
            taken += [type_id, *[self.long] * len(self.moved[place].steps)] if place in self.moved else [type_id]
        guards = [self.bool, *[self.long for extent in self.extents if extent]] if self.guarded else []
        all_types = [*fixed, *taken, *guards]
        head = [editor.row(Op.Function, self.element, FunctionControl(0),
                           editor.unique(Op.TypeFunction, self.element, *all_types))]
        head += [editor.row(Op.FunctionParameter, one) for one in all_types]
        names = [row.result_id or 0 for row in head[1:]]
        self.rows: list[Instruction] = []
        groups, places = self._parted(names[:2])
        arguments = [*places, *names[2:2 + self.elements],
                     *self._further(further, names[2 + self.elements:len(names) - len(guards)], groups)]
        if not self.guarded:
            blocks = [Block(editor.new_id(), [*self.rows, *self._returned(arguments)])]
        else:
            blocks = self._guarded(arguments, groups, names[len(names) - len(guards):])
        return Body(head, blocks)

    def _let(self, op: Op, type_id: int, *words: int) -> int:
        row = self.editor.row(op, type_id, *words)
        self.rows.append(row)
        return row.result_id or 0

    def _parted(self, given: Sequence[int]) -> tuple[dict[int, int], list[int]]:
        """The work-groups down and across that row and column are in, and row and column there."""
        groups, places = {}, list(given)
        for place, extent in enumerate(self.extents):
            if extent:
                size = self.editor.unique(Op.Constant, extent, type_id=self.short)
                groups[place] = self._let(Op.UConvert, self.long, self._let(Op.UDiv, self.short, given[place], size))
                places[place] = self._let(Op.UMod, self.short, given[place], size)
        return groups, places

    def _further(self, types: Sequence[int], names: Sequence[int], groups: Mapping[int, int]) -> list[int]:
        """The further operands of the function."""
        found, waiting = [], iter(names)
        for place, type_id in enumerate(types):
            number = next(waiting)
            if place in self.moved:
                terms = [self._let(Op.IMul, self.long, groups[one], next(waiting)) for one in self.moved[place].steps]
                number = self._plus(type_id, number, terms)
            found.append(number)
        return found

    def _plus(self, type_id: int, number: int, terms: Sequence[int]) -> int:
        """A number, or a pointer, and more."""
        kind = self.editor.definition(type_id)
        for term in terms:
            if kind.opcode == Op.TypePointer:
                number = self._let(Op.PtrAccessChain, type_id, number, term)
                continue
            if kind.words[0] != _BITS:
                term = self._let(Op.UConvert, type_id, term)
            number = self._let(Op.IAdd, type_id, number, term)
        return number

    def _returned(self, arguments: Sequence[int]) -> list[Instruction]:
        call = self.editor.row(Op.FunctionCall, self.element, self.function, *arguments)
        return [call, make(Op.ReturnValue, call.result_id or 0)]

    def _guarded(self, arguments: Sequence[int], groups: Mapping[int, int], guards: Sequence[int]) -> list[Block]:
        """The call where all work-groups are there, and otherwise for those that are; other elements are zero."""
        editor = self.editor
        entry, whole, parts, inside, outside, last = (Block(editor.new_id()) for _ in range(6))
        is_whole, *counts = guards
        entry.instructions = [*self.rows, make(Op.SelectionMerge, last.label, 0),
                              make(Op.BranchConditional, is_whole, whole.label, parts.label)]
        whole.instructions = self._returned(arguments)
        self.rows = []
        tests = [self._let(Op.ULessThan, self.bool, groups[place], count)
                 for place, count in zip(groups, counts, strict=True)]
        is_inside = tests[0] if len(tests) == 1 else self._let(Op.LogicalAnd, self.bool, *tests)
        parts.instructions = [*self.rows, make(Op.SelectionMerge, outside.label, 0),
                              make(Op.BranchConditional, is_inside, inside.label, outside.label)]
        inside.instructions = self._returned(arguments)
        outside.instructions = [make(Op.ReturnValue, editor.unique(Op.ConstantNull, type_id=self.element))]
        last.instructions = [make(Op.Unreachable)]
        return [entry, whole, parts, inside, outside, last]
