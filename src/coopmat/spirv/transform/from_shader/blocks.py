"""Blocks whose members are parameters: push constants, and uniform buffers that hold addresses."""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.shader_layout import Layout, Placed
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation

Path = tuple[int, ...]


class Blocks:
    """The values of such blocks, by variable and path, in a function being translated. ``places``: the shader's
    pointers into them; ``copies``: those that lead into a copy of a block in a variable."""

    def __init__(self, translation: Translation) -> None:
        self.to = translation
        self.layout: Layout = translation.types.layout
        self.values: dict[int, dict[Path, int]] = {}
        self.places: dict[int, tuple[int, Path, Placed]] = {}
        self.copies: set[int] = set()

    def add(self, variable: int, path: Path, value: int) -> None:
        """A member's value."""
        self.values.setdefault(variable, {})[path] = value
        self.places[variable] = variable, (), Placed(self.to.type_of(variable).words[1])

    def chain(self, row: Instruction) -> None:
        """An access chain into a block."""
        variable, path, placed = self.places[row.words[0]]
        assert row.result_id is not None
        for position, index in enumerate(row.words[1:]):
            number = self.to.number(index)
            if number is None:
                self._chain_into_copy(row, variable, path, placed, row.words[1 + position:])
                return
            if self.layout.definition(placed).opcode == Op.TypeStruct:
                placed = self.layout.member(placed, number)[0]
            elif number < self.layout.length(placed):
                placed = self.layout.element(placed)[0]
            else:
                raise Error(f"an index of {number} leads out of an array of {self.layout.length(placed)} elements")
            path = (*path, number)
        self.places[row.result_id] = variable, path, placed

    def load(self, old: int) -> int:
        """The value of what a pointer into a block points to."""
        return self._value(*self.places[old])

    def _value(self, variable: int, path: Path, placed: Placed) -> int:
        values = self.values[variable]
        for length in range(len(path), -1, -1):
            if path[:length] in values:
                found, rest = values[path[:length]], path[length:]
                return found if not rest else self.to.value(Op.CompositeExtract, self.to.types[placed.type_id], found,
                                                            *rest)
        parts = [self._value(variable, (*path, index), part)
                 for index, (part, _) in enumerate(self.layout.parts(placed))]
        return self.to.composite(self.to.types[placed.type_id], parts)

    def _chain_into_copy(self, row: Instruction, variable: int, path: Path, placed: Placed,
                         indices: tuple[int, ...]) -> None:
        """What is chosen by an index that is no constant is in a variable."""
        kind = self.to.types[placed.type_id]
        copy = self.to.builder.local_variable(kind)
        self.to.builder.emit(Op.Store, copy, self._value(variable, path, placed))
        pointee = self.to.types[self.to.module.definition(row.type_id or 0).words[1]]
        pointer = self.to.builder.type_pointer(StorageClass.Function, pointee)
        self.to.define(row, self.to.value(Op.InBoundsAccessChain, pointer, copy, *map(self.to.id, indices)))
        self.copies.add(row.result_id or 0)
