"""What integers and pointers of a kernel are made of: arguments, positions of work-groups, rounds of loops.

Numbers of fewer bits than addresses wrap around. They are taken as if they did not, and what must hold for that is
noted: conditions that a launch fulfils or not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from coopmat.diagnostics import SourceLocation
from coopmat.spirv.analysis.places import in_line, places_in
from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import OPENCL_STD, BuiltIn, Decoration, Op, Scope
from coopmat.spirv.module.content import Block
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, LEAST, Computed, Condition, Placing, fitting
from coopmat.spirv.transform.enlarge.loops import Loops
from coopmat.spirv.transform.enlarge.positions import Positions

CHAINS_OF_ELEMENTS = (Op.PtrAccessChain, Op.InBoundsPtrAccessChain)
_CHOICES = {OPENCL_STD[f"{sign}_{name}"]: (operation, sign == "s") for sign in "su" for name, operation in (
    ("min", "least"), ("max", "most"), ("clamp", "clamped"))}
"""Functions that choose one of their numbers → how, and whether these have a sign."""
_SAME = frozenset({Op.CopyObject, Op.Bitcast})
_RIGHT = (Op.ShiftRightLogical, Op.ShiftRightArithmetic)
_BYTE = 8


class Integers:
    """The polynomials of a function in SSA form.

    local_size: the work-items of a work-group; None if that is not known: then positions are values of their own, and
    nothing is taken that would have to hold in a launch, except that numbers with a sign do not overflow.
    sub_group_size, scope, placing, turned: see :class:`Positions`.
    """

    def __init__(self, editor: FunctionEditor, body: Body, local_size: Sequence[int] | None, sub_group_size: int = 1,
                 scope: Scope = Scope.Subgroup, placing: Placing | None = None, turned: Collection[int] = ()
                 ) -> None:
        self.editor, self.body = editor, body
        self.is_strict = local_size is None
        self.loops = Loops(body)
        x, y, z = local_size or (1, 1, 1)
        self.positions = Positions((x, y, z), sub_group_size, scope, placing, turned)
        self.conditions: dict[Condition, None] = {}
        self.computed: dict[int, Computed] = {}
        self._arguments = {row.result_id or 0: place for place, row in enumerate(body.parameters)}
        self._known: dict[int, Polynomial] = {}
        self._pointers: dict[int, tuple[int, Polynomial]] = {}

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
        self.computed = {one: replace(each, value=each.value.replaced(atoms), other=each.other.replaced(atoms))
                         for one, each in self.computed.items()}

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
        """Whether a number is made of atoms of some kinds, and of what is computed of such numbers."""
        for atom in value.atoms:
            one = self.computed.get(atom.number) if atom.kind == "value" else None
            is_known = atom.kind in kinds if one is None else (
                self.is_made_of(one.value, kinds) and self.is_made_of(one.other, kinds))
            if not is_known:
                return False
        return True

    def atoms(self, value: Polynomial) -> set[Atom]:
        """The atoms of a number, and of what is computed in it."""
        found = set(value.atoms)
        for atom in value.atoms:
            one = self.computed.get(atom.number) if atom.kind == "value" else None
            if one is not None:
                found |= self.atoms(one.value) | self.atoms(one.other)
        return found

    def is_integer(self, identifier: int) -> bool:
        """Whether a value is an integer, and no vector of them."""
        return self.editor.type_of(identifier).opcode == Op.TypeInt

    def _fits(self, value: Polynomial, bits: int, row: Instruction, *, signed: bool) -> Polynomial:
        """A value that an instruction reads as a number of so many bits: it must be one."""
        self.conditions |= dict.fromkeys(fitting(value, bits, signed=signed, where=self.line(row)))
        return value

    def line(self, row: Instruction) -> str:
        """The line where an instruction stands, as messages end, if the module tells."""
        place = self._places.get(row)
        return "" if place is None else in_line(place)

    @cached_property
    def _places(self) -> dict[Instruction, SourceLocation]:
        return places_in(self.editor.module, (block.instructions for block in self.body.blocks))

    def _chosen(self, row: Instruction) -> Polynomial | None:
        """The smaller or larger one of two numbers. The smaller one of a constant and of a number that depends on the
        position is the constant, where that holds for all positions."""
        known = self.editor.module.instruction_sets.get(row.words[0]) == "OpenCL.std" and _CHOICES.get(row.words[1])
        if self.is_strict or not known or not self.is_integer(row.result_id or 0):
            return None
        operation, signed = known
        value, other, *more = map(self.of, row.words[2:])
        if operation == "least":
            value, other = (other, value) if other.known is None else (value, other)
            if other.known is not None and any(atom.kind in ("group", "outer") for atom in value.atoms):
                self.conditions[Condition(value - other, 0, (1 << ADDRESS_BITS - 1) - 1, LEAST)] = None
                return other
        if more:  # no less than one number, no more than another one
            inside = Atom("value", -(row.result_id or 0))
            self.computed[inside.number] = Computed("most", value, other)
            operation, value, (other,) = "least", Polynomial((((inside,), 1),)), more
        return self._computed(row, operation, value, other, signed=signed)

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
        value = self._fits(value, self.bits(row.words[0]), row, signed=signed)
        return self._fits(value, self.bits(row.result_id or 0), row, signed=signed)

    def _shifted(self, row: Instruction) -> Polynomial | None:
        count = self.of(row.words[1]).known
        return None if count is None or not 0 <= count < ADDRESS_BITS else self.of(row.words[0]).scaled(1 << count)

    def _divided(self, row: Instruction) -> Polynomial | None:
        """A division by a constant, of a multiple of it and a rest that lies in between."""
        if self.is_strict:
            return None
        value, by = map(self.of, row.words)
        divisor, operation = by.known, "shifted" if row.opcode in _RIGHT else "truncated"
        if row.opcode in _RIGHT and divisor is not None:
            divisor = 1 << divisor if 0 <= divisor < ADDRESS_BITS else None
        found = self.positions.divided(value, divisor) if divisor is not None and divisor > 0 else None
        signed = row.opcode in (Op.SDiv, Op.ShiftRightArithmetic)
        if found is None:
            return self._computed(row, operation, value, by, signed=signed)
        if row.opcode != Op.ShiftRightArithmetic and found[1].terms:  # of negative numbers, SDiv rounds the other way
            signed = False
        self._fits(value, self.bits(row.words[0]), row, signed=signed)
        return found[0]

    def _computed(self, row: Instruction, operation: str, value: Polynomial, other: Polynomial, *, signed: bool
                  ) -> Polynomial:
        """A value of its own, of which it is known of what it is computed."""
        bits = self.bits(row.result_id or 0)
        self.computed[row.result_id or 0] = Computed(operation, self._fits(value, bits, row, signed=signed),
                                                     self._fits(other, bits, row, signed=signed))
        return self._opaque(row.result_id or 0)

    def _rest(self, row: Instruction) -> Polynomial | None:
        """The rest of a division."""
        if self.is_strict:
            return None
        value, by = map(self.of, row.words)
        found = self.positions.divided(value, by.known) if by.known is not None and by.known > 0 else None
        if found is None:
            return self._computed(row, "rest", value, by, signed=False)
        self._fits(value, self.bits(row.words[0]), row, signed=False)
        return found[1]

    def _masked(self, row: Instruction) -> Polynomial | None:
        """The lowest bits of a number, or all others: whether it is negative, or has wrapped around, does not matter.
        """
        if self.is_strict:
            return None
        value, by = map(self.of, row.words)
        value, by = (by, value) if by.known is None else (value, by)
        mask = by.known
        if mask is None:
            return None
        size = mask + 1 if mask >= 0 else -mask
        if size & size - 1:
            return None
        found = self.positions.divided(value, size)
        if found is None:
            return self._computed(row, "rest" if mask >= 0 else "rounded down", value, Polynomial.constant(size),
                                  signed=True)
        return found[1] if mask >= 0 else found[0].scaled(size)

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
            one = self.computed.get(atom.number) if atom.kind == "value" else None
            if one is not None:
                if not self._is_fixed(one.value, header) or not self._is_fixed(one.other, header):
                    return False
            elif atom == Atom("round", header.label) or (
                    atom.kind == "value" and self.loops.is_computed_in(atom.number, header)
                    and self.editor.definition(atom.number).opcode != Op.CooperativeMatrixLengthKHR):
                return False
        return True

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
            return base, offset + self._fits(self.of(row.words[1]), self.bits(row.words[1]), row, signed=True)
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

    def address(self, identifier: int) -> Polynomial | None:
        """What a pointer is as a number of bytes: from where it is reached, and how far; None if its elements are no
        numbers."""
        element = self.editor.definition(self.editor.type_of(identifier).words[1])
        if element.opcode not in (Op.TypeInt, Op.TypeFloat):
            return None
        base, offset = self.pointer(identifier)
        return Polynomial.atom("address", base) + offset.scaled(element.words[0] // _BYTE)

    def _converted(self, row: Instruction) -> Polynomial | None:
        return None if self.is_strict or self.bits(row.result_id or 0) < ADDRESS_BITS else self.address(row.words[0])

    def _between(self, row: Instruction) -> Polynomial | None:
        """By how many elements two pointers that are reached from one lie apart."""
        (base, offset), (other, before) = map(self.pointer, row.words)
        return offset - before if base == other and not self.is_strict else None


_HANDLERS: dict[int, Callable[[Integers, Instruction], Polynomial | None]] = {
    **dict.fromkeys((Op.IAdd, Op.ISub, Op.IMul), Integers._combined), **dict.fromkeys(_SAME, Integers._same),
    Op.SConvert: Integers._extended, Op.UConvert: Integers._extended, Op.ShiftLeftLogical: Integers._shifted,
    **dict.fromkeys((Op.UDiv, Op.SDiv, *_RIGHT), Integers._divided),
    **dict.fromkeys((Op.UMod, Op.SRem), Integers._rest), Op.BitwiseAnd: Integers._masked,
    Op.ConvertPtrToU: Integers._converted, Op.PtrDiff: Integers._between, Op.ExtInst: Integers._chosen,
    Op.CompositeExtract: Integers._extracted, Op.Load: Integers._loaded, Op.Phi: Integers._phi}
