"""Numbers of a kernel written out again: as sums of products of arguments, positions and rounds of loops."""

from __future__ import annotations

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.edit.functions import first_place, input_variable
from coopmat.spirv.grammar import BuiltIn, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.enlarge.writing import Writing

_AXES = 3


class Numbers(Writing):
    """Writes instructions, ``rows``, into one function of a kernel."""

    def __init__(self, indices: Indices) -> None:
        super().__init__(indices)
        self.at_start: list[Instruction] = []
        self._axes: dict[BuiltIn, list[int]] = {}
        self._rounds: dict[int, int] = {}

    def taken(self) -> list[Instruction]:
        """What has been written since this was asked last."""
        rows, self.rows = self.rows, []
        return rows

    def short(self, value: Polynomial) -> int:
        """A value of 32 bits, as a constant if it is known."""
        known = value.known
        return super().short(value) if known is None else self.editor.constant(known & 0xFFFFFFFF)

    def atom(self, atom: Atom) -> int:
        """An atom's value of 64 bits."""
        positions = self.indices.positions
        if atom.kind == "argument":
            return self.wide(self.indices.body.parameters[atom.number].result_id or 0)
        if atom.kind == "value":
            return self.wide(atom.number)
        if atom.kind == "round":
            return self._round(atom.number)
        if atom.kind == "outer" or (atom.kind == "group" and positions.groups[atom.number] == 1):
            return self._axis(BuiltIn.WorkgroupId, atom.number)
        whole = {"group": BuiltIn.GlobalInvocationId, "groups": BuiltIn.GlobalSize}[atom.kind]
        size = positions.size[atom.number]
        found = self._axis(whole, atom.number)
        return found if size == 1 else self.let(Op.UDiv, self.long, found, self.editor.constant(size, ADDRESS_BITS))

    def _axis(self, builtin: BuiltIn, axis: int) -> int:
        """A component of a built-in value."""
        if builtin not in self._axes:
            vector = self.editor.unique(Op.TypeVector, self.long, _AXES)
            variable = input_variable(self.editor, self.indices.body.id, builtin, vector)
            load = self.editor.row(Op.Load, vector, variable)
            parts = [self.editor.row(Op.CompositeExtract, self.long, load.result_id or 0, place)
                     for place in range(_AXES)]
            self.at_start += [load, *parts]
            self._axes[builtin] = [one.result_id or 0 for one in parts]
        return self._axes[builtin][axis]

    def _round(self, header: int) -> int:
        """How often a loop has come back."""
        if header not in self._rounds:
            block = self.indices.body.block(header)
            before, after = self.indices.loops.parents(header)
            phi, following = self.editor.new_id(), self.editor.new_id()
            zero = self.editor.constant(0, ADDRESS_BITS)
            words = [word for labels, value in ((before, zero), (after, following)) for label in labels
                     for word in (value, label)]
            block.instructions.insert(first_place(block), self.editor.row(
                Op.IAdd, self.long, phi, self.editor.constant(1, ADDRESS_BITS), result=following))
            block.instructions.insert(0, self.editor.row(Op.Phi, self.long, *words, result=phi))
            self._rounds[header] = phi
        return self._rounds[header]

    def cast(self, base: int, pointer_type: int) -> int:
        """A pointer as one of another type; one that is not made in the function is cast at its start."""
        if self.editor.definition(base).type_id == pointer_type:
            return base
        row = self.editor.row(Op.Bitcast, pointer_type, base)
        is_given = self.editor.definition(base).opcode in (Op.FunctionParameter, Op.Variable)
        (self.at_start if is_given else self.rows).append(row)
        return row.result_id or 0

    def written(self) -> None:
        """Put what belongs there to the function's start."""
        entry = self.indices.body.blocks[0]
        place = first_place(entry)
        entry.instructions[place:place] = self.at_start
