"""What integers and pointers of a kernel are made of, and which of its loops count."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor, targets
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Condition, Counter, Placing, fitting
from coopmat.spirv.transform.enlarge.integers import Integers

_MOST = (1 << ADDRESS_BITS - 1) - 1
_EFFECTS = ("OpCooperativeMatrix", "OpStore", "OpAtomic", "OpFunctionCall", "OpCopyMemory", "OpControlBarrier")
_ONCE = "a loop that asks behind its rounds would do none if it asked before"
_STEPS = "a loop does not end exactly where it asks if it has"


class _Read(NamedTuple):
    """A comparison that holds, its numbers in an order that the table has. more: what the limit is larger by; bits,
    signed: of the numbers."""

    row: Instruction
    opcode: Op
    one: Polynomial
    two: Polynomial
    more: int
    bits: int
    signed: bool


class Indices(Integers):
    """The polynomials of a function in SSA form, and its loops that count; see :class:`Integers`."""

    def __init__(self, editor: FunctionEditor, body: Body, local_size: Sequence[int] | None, sub_group_size: int = 1,
                 scope: Scope = Scope.Subgroup, placing: Placing | None = None, turned: Collection[int] = ()
                 ) -> None:
        super().__init__(editor, body, local_size, sub_group_size, scope, placing, turned)
        self.counters: dict[int, Counter] = {}
        for block in body.blocks:
            if any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1]):
                counter = self._counter(block)
                if counter is not None:
                    self.counters[block.label] = counter

    def _counter(self, header: Block) -> Counter | None:
        """The loop of a header, if it counts up to a limit, and does in the header nothing but that: what stands there
        is done once more than there are rounds."""
        if header.label in targets(header) or any(
                row.name.startswith(_EFFECTS) and row.opcode != Op.CooperativeMatrixLengthKHR
                for row in header.instructions):
            return None
        end, merge = header.terminator, header.instructions[-2]
        if end.opcode != Op.BranchConditional or merge.words[0] not in end.words[1:3]:
            return None
        enters = end.words[2] == merge.words[0]
        row, is_behind = self._asked(header, enters=enters)
        read = self._read(row, holds=enters)
        found = None if read is None else self._counted(read, header, is_behind=is_behind)
        if found is None:
            return None
        start, step, limit = found
        return Counter(header.label, row.result_id or 0, enters, start, step, limit)

    def _asked(self, header: Block, *, enters: bool) -> tuple[Instruction, bool]:
        """What a loop asks to do another round, and whether it does so behind the round before: then it does the first
        one in any case (see transform/loop_heads.py)."""
        row = self.editor.definition(header.terminator.words[0])
        ends = self.loops.ends(row) if row.opcode == Op.Phi else None
        is_behind = ends is not None and ends[2] is header and self.editor.definition(ends[0]).opcode == (
            Op.ConstantTrue if enters else Op.ConstantFalse)
        return (self.editor.definition(ends[1]), True) if ends is not None and is_behind else (row, False)

    def _counted(self, read: _Read, header: Block, *, is_behind: bool) -> tuple[Polynomial, int, Polynomial] | None:
        """Where a loop begins to count, its step, and its limit."""
        this, zero = Atom("round", header.label), Polynomial()
        one, two = read.one, read.two
        if is_behind:
            before = {this: Polynomial.atom("round", header.label) - Polynomial.constant(1)}
            one, two = one.replaced(before), two.replaced(before)
        ways = [(one, two, 1), (-two, -one, -1)]  # the first number rises to the second, or that falls to the first
        if read.opcode == Op.INotEqual:
            ways += [(two, one, 1), (-one, -two, -1)]
        value, limit, sign = next(((value, limit, sign) for value, limit, sign in ways if self._unit(value, header)
                                   and self._is_fixed(limit, header)), (zero, zero, 0))
        step, unit = self._unit(value, header) or (0, zero)
        if not sign:
            return None
        start = value.replaced({this: zero})
        limit += Polynomial.constant(read.more)
        first = start + unit.scaled(step) if is_behind else start
        self._fits(first.scaled(sign), read.bits, read.row, signed=read.signed)
        last = limit + unit.scaled(step) - Polynomial.constant(1)
        self._fits(last.scaled(sign), read.bits, read.row, signed=read.signed)
        start, limit = _without_shared(start, limit)
        if unit.known != 1:
            whole, rest = (limit - start).divided(unit)
            if self.is_strict or (rest.terms and read.opcode == Op.INotEqual):
                return None
            self._require(unit, 1, row=read.row)
            self._require(-rest, 0, row=read.row)  # less than one of the units is no round more
            self._require(unit + rest, 1, row=read.row)
            start, limit = zero, whole
        if any(atom.kind == "address" for atom in start.atoms | limit.atoms):
            return None
        least = (limit - start).known if self.is_strict else None
        if self.is_strict and (read.opcode == Op.INotEqual or (is_behind and (least is None or least < 1))):
            return None
        if read.opcode == Op.INotEqual:
            self._require(limit - start, 0, _STEPS, row=read.row, multiple_of=step)
        if is_behind:
            self._require(limit - start, 1, _ONCE, row=read.row)
        return start, step, limit

    def _require(self, value: Polynomial, low: int, otherwise: str = Condition.otherwise, *, row: Instruction,
                 multiple_of: int = 1) -> None:
        """Note that a value must not be less than a number, for what an instruction asks."""
        if value.known is None or value.known < low or value.known % multiple_of:
            self.conditions[Condition(value, low, _MOST, otherwise, multiple_of, self.line(row))] = None

    def _unit(self, value: Polynomial, header: Block) -> tuple[int, Polynomial] | None:
        """How much more a value is in each round of a loop: so many times what is no number, such as an argument, or 1.
        None if that is not known, or less."""
        step = value.coefficient(Atom("round", header.label))
        if step is None or len(step.terms) != 1:
            return None
        (monomial, factor), = step.terms
        is_known = all(atom.kind == "argument" for atom in monomial)
        return (factor, Polynomial(((monomial, 1),))) if factor > 0 and is_known else None

    def _read(self, row: Instruction, *, holds: bool) -> _Read | None:
        """A comparison that holds, or does not; None if it is none of integers, or of pointers."""
        opcode = _OF_POINTERS.get(Op(row.opcode), Op(row.opcode))
        if not holds:
            opcode = _OPPOSITE.get(opcode, Op.Nop)
        if opcode not in _COMPARISONS:
            return None
        swaps, more, signed = _COMPARISONS[opcode]
        numbers = [self._number(word) for word in row.words]
        one, two = numbers[::-1] if swaps else numbers
        bits = self.bits(row.words[0]) if self.is_integer(row.words[0]) else ADDRESS_BITS
        return None if one is None or two is None else _Read(row, opcode, one, two, more, bits, signed)

    def _number(self, identifier: int) -> Polynomial | None:
        """An integer, or a pointer as one; None of anything else."""
        if self.is_integer(identifier):
            return self.of(identifier)
        is_pointer = self.editor.type_of(identifier).opcode == Op.TypePointer
        return self.address(identifier) if is_pointer and not self.is_strict else None

    def negative(self, row: Instruction, *, holds: bool) -> tuple[Polynomial, list[Condition]] | None:
        """A number that is negative exactly where a comparison holds, or does not, and what must hold for that: that
        nothing wraps around. None if the comparison is not of that kind."""
        read = self._read(row, holds=holds)
        if read is None or read.opcode == Op.INotEqual:
            return None
        return read.one - read.two - Polynomial.constant(read.more), [
            condition for value in (read.one, read.two)
            for condition in fitting(value, read.bits, signed=read.signed, where=self.line(row))]

    def step(self, value: Polynomial, header: Block) -> int:
        """How much more a value is in each round of a loop; 0 if that is not known."""
        step = value.coefficient(Atom("round", header.label))
        return 0 if step is None else step.known or 0


def _without_shared(one: Polynomial, other: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Two numbers that are compared, without what both begin with, such as the pointer that they are reached from."""
    shared = Polynomial.of(term for term in one.terms if term[0] and term in other.terms)
    return one - shared, other - shared


_OF_POINTERS = {Op.PtrEqual: Op.IEqual, Op.PtrNotEqual: Op.INotEqual}
_OPPOSITE = {Op.SGreaterThanEqual: Op.SLessThan, Op.UGreaterThanEqual: Op.ULessThan, Op.SGreaterThan: Op.SLessThanEqual,
             Op.UGreaterThan: Op.ULessThanEqual, Op.SLessThan: Op.SGreaterThanEqual, Op.ULessThan: Op.UGreaterThanEqual,
             Op.SLessThanEqual: Op.SGreaterThan, Op.ULessThanEqual: Op.UGreaterThan, Op.IEqual: Op.INotEqual}
"""The comparison that is true where another one is not."""
_COMPARISONS = {Op.SLessThan: (False, 0, True), Op.ULessThan: (False, 0, False), Op.SLessThanEqual: (False, 1, True),
                Op.ULessThanEqual: (False, 1, False), Op.SGreaterThan: (True, 0, True),
                Op.UGreaterThan: (True, 0, False), Op.SGreaterThanEqual: (True, 1, True),
                Op.UGreaterThanEqual: (True, 1, False), Op.INotEqual: (False, 0, True)}
"""Comparisons of a counter with its limit: whether they stand the other way round, how much is to be added to the
limit, and whether the numbers have a sign."""
