"""Numbers of a kernel written out as instructions: polynomials as sums of products of 64 bits."""

from __future__ import annotations

from abc import ABC, abstractmethod

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed
from coopmat.spirv.transform.enlarge.indices import Indices


class Writing(ABC):
    """Collects instructions of a kernel, ``rows``. What an atom is, who derives from this knows."""

    def __init__(self, indices: Indices) -> None:
        self.indices, self.editor = indices, indices.editor
        self.long, self.int = (self.editor.unique(Op.TypeInt, bits, 0) for bits in (ADDRESS_BITS, 32))
        self.rows: list[Instruction] = []

    def let(self, op: Op, type_id: int, *words: int) -> int:
        """An instruction with a result; its id."""
        self.rows.append(self.editor.row(op, type_id, *words))
        return self.rows[-1].result_id or 0

    def short(self, value: Polynomial) -> int:
        """A value of 32 bits."""
        return self.let(Op.UConvert, self.int, self.number(value))

    def number(self, value: Polynomial) -> int:
        """A value of 64 bits."""
        total = 0
        for monomial, factor in value.terms:
            product = 0
            for atom in monomial:
                found = self.atom(atom) if atom.kind != "address" else self.let(Op.ConvertPtrToU, self.long,
                                                                                atom.number)
                product = self.let(Op.IMul, self.long, product, found) if product else found
            if not product or factor != 1:
                constant = self.editor.constant(factor, ADDRESS_BITS)
                product = self.let(Op.IMul, self.long, product, constant) if product else constant
            total = self.let(Op.IAdd, self.long, total, product) if total else product
        return total or self.editor.constant(0, ADDRESS_BITS)

    def wide(self, identifier: int) -> int:
        """An integer with its sign in 64 bits."""
        if self.editor.definition(identifier).type_id == self.long:
            return identifier
        narrow = self.indices.bits(identifier) < ADDRESS_BITS
        return self.let(Op.SConvert if narrow else Op.Bitcast, self.long, identifier)

    def computed(self, one: Computed) -> int:
        """A value that is computed of two others; what may only be positive counts as 1 at least."""
        value, other = self.number(one.value), self.number(one.other)
        if one.operation in ("least", "most"):
            return self.chosen(Op.SLessThan if one.operation == "least" else Op.SGreaterThan, value, other)
        if one.operation == "shifted":
            return self.let(Op.ShiftRightArithmetic, self.long, value, other)
        divisor = self.chosen(Op.SGreaterThan, other, self.editor.constant(1, ADDRESS_BITS))
        if one.operation == "truncated":
            return self.let(Op.SDiv, self.long, value, divisor)
        rest = self.let(Op.SMod, self.long, value, divisor)
        return rest if one.operation == "rest" else self.let(Op.ISub, self.long, value, rest)

    def chosen(self, opcode: Op, one: int, other: int) -> int:
        """The first of two numbers where a comparison holds, otherwise the second one."""
        return self.let(Op.Select, self.long, self.let(opcode, self.editor.unique(Op.TypeBool), one, other), one, other)

    @abstractmethod
    def atom(self, atom: Atom) -> int:
        """An atom's value of 64 bits."""
