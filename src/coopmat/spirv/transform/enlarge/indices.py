"""What integers and pointers of a kernel are made of: arguments, positions of work-groups, rounds of loops.

Numbers of fewer bits than addresses wrap around. They are taken as if they did not, and what must hold for that is
noted: conditions that a launch fulfils or not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor, targets
from coopmat.spirv.grammar import OPENCL_STD, BuiltIn, Decoration, Op, Scope
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import LEAST, Condition, Counter, Placing, Quotient
from coopmat.spirv.transform.enlarge.loops import Loops
from coopmat.spirv.transform.enlarge.positions import Positions

ADDRESS_BITS = 64
CHAINS_OF_ELEMENTS = (Op.PtrAccessChain, Op.InBoundsPtrAccessChain)
_LEAST = frozenset(OPENCL_STD[name] for name in ("s_min", "u_min"))
_SAME = frozenset({Op.CopyObject, Op.Bitcast})
_EFFECTS = ("OpCooperativeMatrix", "OpStore", "OpAtomic", "OpFunctionCall", "OpCopyMemory", "OpControlBarrier")


class Indices:
    """The polynomials of a function in SSA form.

    local_size: the work-items of a work-group; None if that is not known: then positions are values of their own, and
    nothing is taken that would have to hold in a launch, except that numbers with a sign do not overflow.
    sub_group_size, scope, placing: see :class:`Positions`.
    """

    def __init__(self, editor: FunctionEditor, body: Body, local_size: Sequence[int] | None, sub_group_size: int = 1,
                 scope: Scope = Scope.Subgroup, placing: Placing | None = None) -> None:
        self.editor, self.body = editor, body
        self.is_strict = local_size is None
        self.loops = Loops(body)
        x, y, z = local_size or (1, 1, 1)
        self.positions = Positions((x, y, z), sub_group_size, scope, placing)
        self.conditions: dict[Condition, None] = {}
        self.quotients: dict[int, Quotient] = {}
        self.counters: dict[int, Counter] = {}
        self._arguments = {row.result_id or 0: place for place, row in enumerate(body.parameters)}
        self._known: dict[int, Polynomial] = {}
        self._pointers: dict[int, tuple[int, Polynomial]] = {}
        for block in body.blocks:
            if any(row.opcode == Op.LoopMerge for row in block.instructions[-2:-1]):
                counter = self._counter(block)
                if counter is not None:
                    self.counters[block.label] = counter

    # --- integers ---------------------------------------------------------------------------

    def of(self, identifier: int) -> Polynomial:
        """What an integer is made of; an atom of its own where that is not known."""
        if identifier not in self._known:
            is_phi = self.editor.definition(identifier).opcode == Op.Phi
            if is_phi:  # what it is made of may be made of it
                self._known[identifier] = self._opaque(identifier)
            found = self._known[identifier] = self._found(identifier)
            if is_phi and found != self._opaque(identifier):
                self._replace({Atom("value", identifier): found})
        return self._known[identifier]

    def _replace(self, atoms: Mapping[Atom, Polynomial]) -> None:
        """Put what a phi turned out to be into what was found with it."""
        self._known = {one: value.replaced(atoms) if value.atoms & atoms.keys() else value
                       for one, value in self._known.items()}
        self.conditions = {replace(one, value=one.value.replaced(atoms)): None for one in self.conditions}
        self._pointers = {one: (base, offset.replaced(atoms)) for one, (base, offset) in self._pointers.items()}

    def _opaque(self, identifier: int) -> Polynomial:
        return Polynomial.atom("value", identifier)

    def _found(self, identifier: int) -> Polynomial:
        if identifier in self._arguments:
            return Polynomial.atom("argument", self._arguments[identifier])
        known = self._constant(identifier)
        if known is not None:
            return Polynomial.constant(known)
        row = self.editor.definition(identifier)
        handler = _HANDLERS.get(row.opcode)
        found = handler(self, row) if handler is not None else None
        return self._opaque(identifier) if found is None else found

    def _constant(self, identifier: int) -> int | None:
        """An integer constant, with its sign."""
        value = self.editor.integer(identifier)
        if value is None:
            return None
        bits = self.bits(identifier)
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> bits - 1 else value

    def bits(self, identifier: int) -> int:
        """The width of an integer."""
        return self.editor.type_of(identifier).words[0]

    def is_made_of(self, value: Polynomial, kinds: Collection[str]) -> bool:
        """Whether a number is made of atoms of some kinds, and of quotients of such numbers."""
        for atom in value.atoms:
            quotient = self.quotients.get(atom.number) if atom.kind == "value" else None
            is_known = atom.kind in kinds if quotient is None else (
                self.is_made_of(quotient.value, kinds) and self.is_made_of(quotient.divisor, kinds))
            if not is_known:
                return False
        return True

    def atoms(self, value: Polynomial) -> set[Atom]:
        """The atoms of a number, and of the quotients in it."""
        found = set(value.atoms)
        for atom in value.atoms:
            quotient = self.quotients.get(atom.number) if atom.kind == "value" else None
            if quotient is not None:
                found |= self.atoms(quotient.value) | self.atoms(quotient.divisor)
        return found

    def is_integer(self, identifier: int) -> bool:
        """Whether a value is an integer, and no vector of them."""
        return self.editor.type_of(identifier).opcode == Op.TypeInt

    def _fits(self, value: Polynomial, bits: int, *, signed: bool) -> Polynomial:
        """A value that is read as a number of so many bits: it must be one."""
        self.conditions |= dict.fromkeys(fitting(value, bits, signed=signed))
        return value

    def _least(self, row: Instruction) -> Polynomial | None:
        """The smaller one of a constant and of a number that depends on the position: the constant, where that holds
        for all positions."""
        is_least = self.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std" and row.words[1] in _LEAST
        if self.is_strict or not is_least or not self.is_integer(row.result_id or 0):
            return None
        value, least = map(self.of, row.words[2:])
        value, least = (least, value) if least.known is None else (value, least)
        if least.known is None or not any(atom.kind in ("group", "outer") for atom in value.atoms):
            return None
        self.conditions[Condition(value - least, 0, (1 << ADDRESS_BITS - 1) - 1, LEAST)] = None
        return least

    def _combined(self, row: Instruction) -> Polynomial:
        one, two = map(self.of, row.words)
        return {Op.IAdd: one + two, Op.ISub: one - two, Op.IMul: one * two}[Op(row.opcode)]

    def _same(self, row: Instruction) -> Polynomial | None:
        return self.of(row.words[0]) if self.is_integer(row.words[0]) else None

    def _extended(self, row: Instruction) -> Polynomial | None:
        """A conversion of a width; where that is less, the number must fit, too."""
        signed = row.opcode == Op.SConvert
        value = self.of(row.words[0])
        if self.is_strict and (self.bits(row.words[0]) > self.bits(row.result_id or 0)
                               or not (signed or len(value.terms) == 1 == len(value.atoms))):
            return None
        value = self._fits(value, self.bits(row.words[0]), signed=signed)
        return self._fits(value, self.bits(row.result_id or 0), signed=signed)

    def _shifted(self, row: Instruction) -> Polynomial | None:
        count = self.of(row.words[1]).known
        return None if count is None or not 0 <= count < ADDRESS_BITS else self.of(row.words[0]).scaled(1 << count)

    def _divided(self, row: Instruction) -> Polynomial | None:
        """A division by a constant, of a multiple of it and a rest that lies in between."""
        if self.is_strict:
            return None
        value, by = map(self.of, row.words)
        divisor = by.known
        if divisor is not None and row.opcode == Op.ShiftRightLogical and 0 <= divisor < ADDRESS_BITS:
            divisor = 1 << divisor
        if divisor is None or divisor <= 0:
            return self._quotient(row, value, by)
        found = self.positions.divided(value, divisor)
        if found is None:
            return self._quotient(row, value, Polynomial.constant(divisor))
        self._fits(value, self.bits(row.words[0]), signed=False)  # of negative numbers, SDiv rounds the other way
        return found[0]

    def _quotient(self, row: Instruction, value: Polynomial, divisor: Polynomial) -> Polynomial:
        """A value of its own, of which the operands are known."""
        operation = {Op.ShiftRightLogical: Op.UDiv, Op.BitwiseAnd: Op.UMod}.get(Op(row.opcode), Op(row.opcode))
        signed = operation in (Op.SDiv, Op.SRem)
        bits = self.bits(row.words[0])
        self.quotients[row.result_id or 0] = Quotient(operation, self._fits(value, bits, signed=signed),
                                                      self._fits(divisor, bits, signed=signed))
        return self._opaque(row.result_id or 0)

    def _rest(self, row: Instruction) -> Polynomial | None:
        """The rest of a division, or the lowest bits."""
        if self.is_strict:
            return None
        value, by = map(self.of, row.words)
        if row.opcode == Op.BitwiseAnd:
            value, by = (by, value) if by.known is None else (value, by)
            if by.known is None or by.known < 0 or by.known & by.known + 1:
                return None
            by += Polynomial.constant(1)
        found = self.positions.divided(value, by.known) if by.known is not None and by.known > 0 else None
        if found is None:
            return self._quotient(row, value, by)
        self._fits(value, self.bits(row.words[0]), signed=False)
        return found[1]

    def _extracted(self, row: Instruction) -> Polynomial | None:
        """A component of a built-in's value."""
        if len(row.words) != 2 or self.is_strict:
            return None
        builtin = self.builtin(self.editor.definition(row.words[0]))
        axis = row.words[1]
        return None if builtin is None or axis > 2 else self.positions.component(builtin, axis)

    def _loaded(self, row: Instruction) -> Polynomial | None:
        """A built-in that is a number."""
        builtin = None if self.is_strict else self.builtin(row)
        return None if builtin is None else self.positions.number(builtin)

    def builtin(self, row: Instruction) -> BuiltIn | None:
        """The built-in that an instruction loads."""
        if row.opcode != Op.Load:
            return None
        return next((BuiltIn(words[0]) for decoration, words in self.editor.module.decorations(row.words[0])
                     if decoration == Decoration.BuiltIn), None)

    # --- loops ------------------------------------------------------------------------------

    def _phi(self, row: Instruction) -> Polynomial | None:
        """What a loop counts: its start, and a step for every round; or what it had computed in the round before."""
        found = self.loops.ends(row)
        if found is None:
            return None
        start, following, header = found
        value = self.of(following)
        step = value - self._opaque(row.result_id or 0)
        if self._is_fixed(step, header):
            return self.of(start) + step * Polynomial.atom("round", header.label)
        return self._of_last_round(self.of(start), value, header)

    def _of_last_round(self, start: Polynomial, value: Polynomial, header: Block) -> Polynomial | None:
        """What a value of a loop was in the round before, if there is a start that goes on like it."""
        this = Atom("round", header.label)
        first = value.replaced({this: Polynomial.constant(-1)})
        before = Polynomial.atom("round", header.label) - Polynomial.constant(1)
        return value.replaced({this: before}) if first == start and self._is_fixed(first, header) else None

    def _is_fixed(self, value: Polynomial, header: Block) -> bool:
        """Whether a value is the same in all rounds of a loop."""
        for atom in value.atoms:
            quotient = self.quotients.get(atom.number) if atom.kind == "value" else None
            if quotient is not None:
                if not self._is_fixed(quotient.value, header) or not self._is_fixed(quotient.divisor, header):
                    return False
            elif atom == Atom("round", header.label) or (
                    atom.kind == "value" and self.loops.is_computed_in(atom.number, header)
                    and self.editor.definition(atom.number).opcode != Op.CooperativeMatrixLengthKHR):
                return False
        return True

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
        row = self.editor.definition(end.words[0])
        read = self._read(row, holds=enters)
        if read is None:
            return None
        opcode, one, two, more, signed = read
        ways = [(one, two, 1), (-two, -one, -1)]  # the first number rises to the second, or that falls to the first
        if opcode == Op.INotEqual:
            ways += [(two, one, 1), (-one, -two, -1)]
        found = next((way for way in ways if self.step(way[0], header) > 0 and self._is_fixed(way[1], header)), None)
        if found is None:
            return None
        value, limit, sign = found
        step = self.step(value, header)
        start = value - Polynomial.atom("round", header.label).scaled(step)
        if opcode == Op.INotEqual:
            if step > 1 or self.is_strict:
                return None
            self.conditions[Condition(limit - start, 0, (1 << ADDRESS_BITS - 1) - 1)] = None
        limit += Polynomial.constant(more)
        bits = self.bits(row.words[0])
        self._fits(start.scaled(sign), bits, signed=signed)
        self._fits((limit + Polynomial.constant(step - 1)).scaled(sign), bits, signed=signed)
        return Counter(header.label, end.words[0], enters, start, step, limit)

    def _read(self, row: Instruction, *, holds: bool) -> tuple[Op, Polynomial, Polynomial, int, bool] | None:
        """A comparison that holds or does not: which one it is with its numbers in an order that the table has, these,
        and what the table says."""
        opcode = Op(row.opcode) if holds else _OPPOSITE.get(Op(row.opcode))
        if opcode not in _COMPARISONS or not self.is_integer(row.words[0]):
            return None
        swaps, more, signed = _COMPARISONS[opcode]
        one, two = map(self.of, row.words[::-1] if swaps else row.words)
        return opcode, one, two, more, signed

    def negative(self, row: Instruction, *, holds: bool) -> tuple[Polynomial, list[Condition]] | None:
        """A number that is negative exactly where a comparison holds, or does not, and what must hold for that: that
        nothing wraps around. None if the comparison is not of that kind."""
        read = self._read(row, holds=holds)
        if read is None or read[0] == Op.INotEqual:
            return None
        _, one, two, more, signed = read
        return one - two - Polynomial.constant(more), [
            condition for value in (one, two) for condition in fitting(value, self.bits(row.words[0]), signed=signed)]

    def step(self, value: Polynomial, header: Block) -> int:
        """How much more a value is in each round of a loop; 0 if that is not known."""
        step = value.coefficient(Atom("round", header.label))
        return 0 if step is None else step.known or 0

    # --- pointers ---------------------------------------------------------------------------

    def pointer(self, identifier: int) -> tuple[int, Polynomial]:
        """The pointer from which one is reached, and by how many elements."""
        if identifier not in self._pointers:
            if self.editor.definition(identifier).opcode == Op.Phi:
                self._pointers[identifier] = (identifier, Polynomial())
            found, further = self._pointers[identifier] = self._reached(identifier)
            if found != identifier:
                self._pointers |= {one: (found, further + offset) for one, (base, offset) in self._pointers.items()
                                   if base == identifier}
        return self._pointers[identifier]

    def _reached(self, identifier: int) -> tuple[int, Polynomial]:
        row = self.editor.definition(identifier)
        if row.opcode in CHAINS_OF_ELEMENTS and len(row.words) == 2:
            base, offset = self.pointer(row.words[0])
            return base, offset + self._fits(self.of(row.words[1]), self.bits(row.words[1]), signed=True)
        if row.opcode == Op.Bitcast and self.editor.definition(row.words[0]).type_id == row.type_id:
            return self.pointer(row.words[0])
        if row.opcode == Op.Phi and (found := self.loops.ends(row)) is not None:
            start, following, header = found
            base, step = self.pointer(following)
            first, offset = self.pointer(start)
            if base == identifier and self._is_fixed(step, header):
                return first, offset + step * Polynomial.atom("round", header.label)
            if base == first and (found_before := self._of_last_round(offset, step, header)) is not None:
                return first, found_before
        return identifier, Polynomial()


def fitting(value: Polynomial, bits: int, *, signed: bool) -> list[Condition]:
    """What must hold for a value to be a number of so many bits."""
    if value.known is not None or (bits == ADDRESS_BITS and signed):
        return []
    bits = min(bits, ADDRESS_BITS - 1) if not signed else bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [Condition(value, low, high)]


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
_HANDLERS: dict[int, Callable[[Indices, Instruction], Polynomial | None]] = {
    **dict.fromkeys((Op.IAdd, Op.ISub, Op.IMul), Indices._combined), **dict.fromkeys(_SAME, Indices._same),
    Op.SConvert: Indices._extended, Op.UConvert: Indices._extended, Op.ShiftLeftLogical: Indices._shifted,
    **dict.fromkeys((Op.UDiv, Op.SDiv, Op.ShiftRightLogical), Indices._divided),
    **dict.fromkeys((Op.UMod, Op.SRem, Op.BitwiseAnd), Indices._rest),
    Op.ExtInst: Indices._least, Op.CompositeExtract: Indices._extracted, Op.Load: Indices._loaded, Op.Phi: Indices._phi}
