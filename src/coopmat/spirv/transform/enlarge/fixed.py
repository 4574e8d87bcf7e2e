"""Axes of the grid along which work-groups stay apart, as they do more with their position than to place matrices.

A branch that depends on a work-group's row is the same for all that become one if those are of one row. Along such an
axis none are put together, and what depends on the position is computed from that of the merged work-group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.matrices import Matrices
from coopmat.spirv.transform.facts import PURE

_POSITIONS = frozenset({"group", "outer"})
_COUNTS = frozenset({"groups", "outers"})
_LIKE = frozenset({"argument", "group"}) | _COUNTS
"""What numbers are made of that may be computed from the position of a merged work-group, and from how many groups
there were."""


class Fixed(NamedTuple):
    """axes: each with an instruction that depends on the position along it; numbers: the ids of integers that are
    computed from the position for it."""

    axes: Mapping[int, Instruction]
    numbers: frozenset[int]


def fixed_of(matrices: Matrices) -> Fixed:
    """Those of a kernel."""
    search = _Search(matrices)
    for row, identifier in search.effects():
        search.walk(row, identifier)
    return Fixed(search.axes, frozenset(search.numbers))


class _Search:
    """Goes back from what has effects to what depends on positions."""

    def __init__(self, matrices: Matrices) -> None:
        self.matrices, self.indices, self.editor = matrices, matrices.indices, matrices.editor
        self.rows = {row.result_id or 0: row for row in self.indices.body.rows() if row.result_id is not None}
        self.axes: dict[int, Instruction] = {}
        self.numbers: set[int] = set()
        self._seen: set[int] = set()

    def effects(self) -> Iterator[tuple[Instruction, int]]:
        """What something else depends on than where a matrix lies: instructions, and ids that they use."""
        accesses = {id(one.row): one for one in self.matrices.accesses}
        counted = self._counted()
        for row in self.indices.body.rows():
            access = accesses.get(id(row))
            if access is not None:
                yield from ((row, word) for word in (access.base, access.stride, *(access.sizes or ())))
                yield from (one for value in (access.line, access.along) for one in self._values(row, value))
            elif row.opcode in (Op.BranchConditional, Op.Switch):
                if row.words[0] not in counted:
                    yield row, row.words[0]
            elif row.opcode == Op.CooperativeMatrixPerElementOpEXT:
                for word in row.words[2:]:
                    number = self.matrices.operands.get(word)
                    yield from [(row, word)] if number is None else [(row, number[0]), *self._values(row, number[1])]
            elif row.result_id in self.matrices.declared and row.opcode != Op.Phi:
                yield from ((row, word) for word in row.ids())

    def _counted(self) -> set[int]:
        """The conditions of loops that are written anew: how often they run is what has effects."""
        found = set()
        for header, counter in self.indices.counters.items():
            end = self.indices.body.block(header).terminator
            distance = counter.limit - counter.start
            self._note(end, distance)
            for row, identifier in self._values(end, distance):
                self.walk(row, identifier)
            if not any(atom.kind == "value" for atom in (counter.start + counter.limit).atoms):
                found.add(end.words[0])
        return found

    def _values(self, row: Instruction, value: Polynomial) -> Iterator[tuple[Instruction, int]]:
        """The ids in a number of which nothing else is known."""
        yield from ((row, atom.number) for atom in value.atoms if atom.kind in ("value", "address"))

    def _note(self, row: Instruction, value: Polynomial) -> None:
        """Note the axes of the positions that a number is made of."""
        for atom in value.atoms:
            if atom.kind in _POSITIONS:
                self.axes.setdefault(atom.number, row)

    def walk(self, effect: Instruction, identifier: int) -> None:
        """Go back from an id that an instruction uses."""
        waiting = [identifier]
        while waiting:
            one = waiting.pop()
            row = self.rows.get(one)
            if row is None or one in self._seen or one in self.matrices.declared:
                continue
            self._seen.add(one)
            is_position = row.opcode == Op.Load and self.indices.builtin(row) is not None
            is_position |= row.opcode == Op.CompositeExtract and self._is_builtin(row.words[0])
            if self.editor.type_of(one).opcode == Op.TypeInt and (is_position or row.opcode in PURE):
                value = self.indices.of(one)
                if all(atom.kind in _LIKE for atom in value.atoms):
                    self._note(effect, value)
                    if any(atom.kind == "group" or atom.kind in _COUNTS for atom in value.atoms):
                        self.numbers.add(one)
                    continue
                if is_position:
                    self._note(effect, value)
            waiting += row.ids()

    def _is_builtin(self, identifier: int) -> bool:
        row = self.rows.get(identifier)
        return row is not None and self.indices.builtin(row) is not None
