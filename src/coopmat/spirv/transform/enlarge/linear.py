"""Kernels of one row of work-groups that take its number apart: ``id / columns`` and ``id % columns``.

Launched with a grid of work-groups instead, such a kernel has its tile's row and column without a division, and where
its matrices lie can be seen. The kernel for a grid is the same one, whose numbers come from the grid; which grid it is
follows from the arguments of a launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor, first_place, input_variable, replace_uses
from coopmat.spirv.grammar import BuiltIn, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, LEAST
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.matrices import AXES, scope_of, taken_apart
from coopmat.spirv.transform.enlarge.requirements import KNOWN, Number
from coopmat.spirv.transform.facts import PURE
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal

_SHIFTS = (Op.ShiftRightLogical, Op.ShiftRightArithmetic)
_QUOTIENTS = (Op.UDiv, Op.SDiv, *_SHIFTS)
_RESTS = (Op.UMod, Op.SRem, Op.SMod, Op.BitwiseAnd)
_ROW = {BuiltIn.WorkgroupId: 0, BuiltIn.GlobalInvocationId: 0, BuiltIn.NumWorkgroups: 1, BuiltIn.GlobalSize: 1,
        BuiltIn.GlobalLinearId: 0}
"""What tells something of the grid, and its value along the axes that a row does not have."""
_TOLD = frozenset({"argument"})
_MOST_DIVISIONS = 2


def split(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int
          ) -> tuple[Module, tuple[Number, ...]]:
    """A kernel for a grid, and by what its number along x is divided, one division after the other; none if it does
    not take it apart. What is left is x, the last quotient is y, and the one before z. ``module`` has values instead of
    variables."""
    divisions: list[Number] = []
    while len(divisions) < _MOST_DIVISIONS:
        editor, body = taken_apart(module, kernel)
        one = _Splitting(editor, body, Indices(editor, body, local_size, sub_group_size, scope_of(module)),
                         len(divisions))
        divisor = one.done()
        if divisor is None or any(condition.otherwise == LEAST and not one.indices.is_made_of(condition.value, KNOWN)
                                  for condition in one.indices.conditions):
            break
        divisions.append(Number.of(one.indices, divisor))
        module = fold(editor.done(), Goal(), lambda _: None)
    return module, tuple(divisions)


class _Splitting:
    """One division of the number of a work-group. done_before: how many there were."""

    def __init__(self, editor: FunctionEditor, body: Body, indices: Indices, done_before: int) -> None:
        self.editor, self.body, self.indices, self.done_before = editor, body, indices, done_before
        self.long = editor.unique(Op.TypeInt, ADDRESS_BITS, 0)
        kind = "outer" if indices.positions.groups[0] > 1 else "group"
        self.number = Polynomial.atom(kind, 0)
        self.from_last = Polynomial.atom(f"{kind}s", 0) - Polynomial.constant(1) - self.number
        """The number of a work-group, and the number that it has if they are counted from the last one."""

    def done(self) -> Polynomial | None:
        """Change the kernel; by what the number is divided, None if it is not, or used as what is not known here."""
        inputs = list(self._inputs())
        chosen = next(self._divisions(), None)
        if chosen is None:
            return None
        divided, divisor, identifier = chosen
        head: list[Instruction] = []
        size = self._size(divisor, identifier, head)
        if size is None:
            return None
        x, y = self._positions(head)
        whole = self._put(head, Op.IAdd, self._put(head, Op.IMul, y, size), x)
        if divided == self.from_last:
            whole = self._put(head, Op.ISub, self._put(head, Op.ISub, self._total(head), self._one()), whole)
        same: dict[int, int] = {}
        for builtin, row in inputs:
            found = self._along(builtin, row, whole, head)
            if found is None:
                return None
            same[row.result_id or 0] = found
        same |= self._parts(divided, divisor, x, y, head)
        entry = self.body.blocks[0]
        own = {row.result_id for row in head}
        replace_uses(self.body, same)
        entry.instructions[first_place(entry):first_place(entry)] = [row for row in head if row.result_id in own]
        return divisor

    def _inputs(self) -> Iterator[tuple[BuiltIn, Instruction]]:
        """What tells something of the grid: components of built-in values, and these if they are numbers."""
        loads = {row.result_id: builtin for row in self.body.rows() if (builtin := self.indices.builtin(row)) in _ROW}
        for row in self.body.rows():
            if loads.get(row.result_id) == BuiltIn.GlobalLinearId:
                yield BuiltIn.GlobalLinearId, row
            for word in row.ids():
                builtin = loads.get(word)
                if builtin is not None and builtin != BuiltIn.GlobalLinearId:
                    yield builtin, row

    def _divisions(self) -> Iterator[tuple[Polynomial, Polynomial, int]]:
        """What is divided, and by what: each with the divisor's id, the largest ones (that are no constants) first."""
        found: dict[tuple[Polynomial, Polynomial], int] = {}
        for row, divided, divisor in self._taken_apart():
            if self.indices.is_made_of(divisor, _TOLD):
                is_size = row.opcode in (Op.UDiv, Op.SDiv, Op.UMod, Op.SRem)
                found.setdefault((divided, divisor), row.words[1] if is_size else 0)
        yield from ((*one, identifier) for one, identifier in sorted(
            found.items(), key=lambda one: one[0][1].known is not None))

    def _taken_apart(self) -> Iterator[tuple[Instruction, Polynomial, Polynomial]]:
        """Divisions of the number of a work-group, with what is divided, and by what; there is one along the other
        axes."""
        others = {Atom("group", axis): Polynomial() for axis in range(self.done_before + 1, AXES)}
        for row in self.body.rows():
            if row.opcode in (*_QUOTIENTS, *_RESTS) and self.indices.is_integer(row.result_id or 0):
                divided, divisor = self.indices.of(row.words[0]).replaced(others), self._divisor(row)
                if divided in (self.number, self.from_last) and divisor is not None:
                    yield row, divided, divisor

    def _divisor(self, row: Instruction) -> Polynomial | None:
        """What a division is by; None if that is not known."""
        by = self.indices.of(row.words[1])
        if row.opcode in _SHIFTS:
            return None if by.known is None or not 0 <= by.known < 31 else Polynomial.constant(1 << by.known)
        if row.opcode == Op.BitwiseAnd:
            return None if by.known is None else by + Polynomial.constant(1)
        return by

    def _parts(self, divided: Polynomial, divisor: Polynomial, x: int, y: int, head: list[Instruction]
               ) -> dict[int, int]:
        """What stands for quotients and rests."""
        found = {}
        for row, *taken in self._taken_apart():
            if taken == [divided, divisor]:
                number = y if row.opcode in _QUOTIENTS else x
                is_long = self.indices.bits(row.result_id or 0) == ADDRESS_BITS
                found[row.result_id or 0] = number if is_long else self._put(head, Op.UConvert, number, row.type_id)
        return found

    # --- what is new ------------------------------------------------------------------------

    def _put(self, head: list[Instruction], op: Op, *words: int | None) -> int:
        """An instruction at the kernel's start; of OpUConvert, the type may stand behind its operand."""
        type_id = words[1] if op == Op.UConvert and len(words) > 1 else self.long
        operands = words[:1] if op == Op.UConvert else words
        head.append(self.editor.row(op, type_id or 0, *(word or 0 for word in operands)))
        return head[-1].result_id or 0

    def _size(self, divisor: Polynomial, identifier: int, head: list[Instruction]) -> int | None:
        """What the number is divided by; None if that cannot be said at the kernel's start."""
        if divisor.known is not None:
            return self.editor.constant(divisor.known, ADDRESS_BITS)
        copy = self._copy(identifier, head, {})
        if copy is None or self.indices.bits(identifier) == ADDRESS_BITS:
            return copy
        return self._put(head, Op.UConvert, copy)

    def _vector(self, head: list[Instruction], builtin: BuiltIn) -> int:
        vector = self.editor.unique(Op.TypeVector, self.long, 3)
        variable = input_variable(self.editor, self.body.id, builtin, vector)
        head.append(self.editor.row(Op.Load, vector, variable))
        return head[-1].result_id or 0

    def _positions(self, head: list[Instruction]) -> tuple[int, int]:
        """What is left of the number, and the quotient: those of earlier divisions move on by an axis."""
        vector = self._vector(head, BuiltIn.WorkgroupId)
        self.axes = [self._put(head, Op.CompositeExtract, vector, axis) for axis in range(3)]
        return self.axes[0], self.axes[1]

    def _one(self) -> int:
        return self.editor.constant(1, ADDRESS_BITS)

    def _total(self, head: list[Instruction]) -> int:
        """How many work-groups there were along x."""
        vector = self._vector(head, BuiltIn.NumWorkgroups)
        return self._put(head, Op.IMul, *(self._put(head, Op.CompositeExtract, vector, axis) for axis in range(2)))

    def _along(self, builtin: BuiltIn, row: Instruction, whole: int, head: list[Instruction]) -> int | None:
        """What a component of a built-in value, or a number, was; None if that is not known, or all components are used
        together."""
        axis, is_number = row.words[-1], builtin == BuiltIn.GlobalLinearId
        if not is_number and (row.opcode != Op.CompositeExtract or len(row.words) != 2):
            return None
        if axis > self.done_before and not is_number:
            return self.editor.constant(_ROW[builtin], ADDRESS_BITS)
        if builtin == BuiltIn.WorkgroupId:
            return self.axes[axis + 1] if axis else whole
        if builtin == BuiltIn.NumWorkgroups:
            return self._put(head, Op.CompositeExtract, self._vector(head, builtin), axis + 1) if axis else (
                self._total(head))
        if axis and not is_number:
            return None
        size = self.editor.constant(self.indices.positions.local_size[0], ADDRESS_BITS)
        if builtin == BuiltIn.GlobalSize:
            return self._put(head, Op.IMul, self._total(head), size)
        local = self._put(head, Op.CompositeExtract, self._vector(head, BuiltIn.LocalInvocationId), 0)
        return self._put(head, Op.IAdd, self._put(head, Op.IMul, whole, size), local)

    def _copy(self, identifier: int, head: list[Instruction], known: dict[int, int]) -> int | None:
        """A number that is made of arguments and constants, computed at the kernel's start; None if it is not."""
        row = self.editor.definition(identifier)
        if row not in set(self.body.rows()):
            return identifier
        if row.opcode not in PURE:
            return None
        if identifier not in known:
            words = list(row.words)
            for place in row.id_places():
                found = self._copy(words[place], head, known)
                if found is None:
                    return None
                words[place] = found
            head.append(self.editor.row(Op(row.opcode), row.type_id or 0, *words))
            known[identifier] = head[-1].result_id or 0
        return known[identifier]
