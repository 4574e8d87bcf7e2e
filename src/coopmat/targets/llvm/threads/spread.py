"""How elements are spread over the threads of a sub-group, as code computes it.

A layout is regular where the position of a component is the sum of one of its own and one of the thread's, and the
thread's is made of the bits of its number. That is so in all fragments of instructions, and in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coopmat.devices.lane_layout import Held
from coopmat.support.cached import cached_property
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number

Position = tuple[Number, Number]  # row and column


@dataclass(frozen=True)
class LaneBits:
    """Neighbouring bits of a thread's number, and how far one step leads."""

    first: int
    count: int
    rows: int
    columns: int


class Spread:
    """A layout's positions. Those of components that repeat others are left out."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.lanes, count = held.row.shape
        while count % 2 == 0 and all(np.array_equal(part[:, :count // 2], part[:, count // 2:count]) for part in held):
            count //= 2
        self.components = count

    @cached_property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Of each component, the rows and columns from the thread's first element."""
        row, column = (part[0, :self.components] - part[0, 0] for part in self.held[:2])
        return tuple(zip(row.tolist(), column.tolist(), strict=True))

    @cached_property
    def component_at(self) -> dict[tuple[int, int], int]:
        """The component with given offsets; of several, the first."""
        return {offset: number for number, offset in reversed([*enumerate(self.offsets)])}

    @cached_property
    def lane_bits(self) -> tuple[LaneBits, ...]:
        """How a thread's number leads to its first element."""
        found: list[LaneBits] = []
        for bit in range((self.lanes - 1).bit_length()):
            row, column = (int(part[1 << bit, 0] - part[0, 0]) for part in self.held[:2])
            last = found[-1] if found else None
            if last is not None and (row, column) == (last.rows << last.count, last.columns << last.count):
                found[-1] = LaneBits(last.first, last.count + 1, last.rows, last.columns)
            else:
                found.append(LaneBits(bit, 1, row, column))
        return tuple(found)

    @cached_property
    def is_regular(self) -> bool:
        """Whether positions are such sums."""
        lanes = np.arange(self.lanes)
        start = [np.zeros(self.lanes, np.intp), np.zeros(self.lanes, np.intp)]
        for part in self.lane_bits:
            step = lanes >> part.first & (1 << part.count) - 1
            start = [start[0] + step * part.rows, start[1] + step * part.columns]
        offsets = np.array(self.offsets).T
        return all(found[0, 0] == 0 and np.array_equal(found[:, :self.components], own[:, None] + more)
                   for found, own, more in zip(self.held[:2], start, offsets, strict=True))

    @cached_property
    def everywhere(self) -> tuple[bool, ...]:
        """Whether a component holds an element in all threads."""
        return tuple(map(bool, np.all(self.held.valid, axis=0)[:self.components]))

    @cached_property
    def nowhere(self) -> tuple[bool, ...]:
        """Whether a component holds an element in no thread."""
        return tuple(map(bool, ~np.any(self.held.valid, axis=0)[:self.components]))

    def start(self, emitter: Emitter, lane: Number) -> Position:
        """The position of a thread's first element, by its number, as integers of the same type; the layout is
        regular."""
        llvm = lane.type
        row, column = emitter.constant(llvm, 0), emitter.constant(llvm, 0)
        for part in self.lane_bits:
            step = lane
            if part.first:
                step = emitter.apply("lshr {t} {0}, {1}", llvm, step, emitter.constant(llvm, part.first))
            if part is not self.lane_bits[-1]:
                step = emitter.apply("and {t} {0}, {1}", llvm, step, emitter.constant(llvm, (1 << part.count) - 1))
            row, column = _further(emitter, row, step, part.rows), _further(emitter, column, step, part.columns)
        return row, column

    def positions(self, emitter: Emitter, lane: Number) -> list[Position]:
        """The position of each component; the layout is regular."""
        row, column = self.start(emitter, lane)
        llvm = lane.type
        return [(add(emitter, row, emitter.constant(llvm, down)), add(emitter, column, emitter.constant(llvm, beside)))
                for down, beside in self.offsets]


def _further(emitter: Emitter, number: Number, step: Number, distance: int) -> Number:
    if not distance:
        return number
    way = multiply(emitter, step, emitter.constant(step.type, distance))
    return way if number.base == "0" else add(emitter, number, way)
