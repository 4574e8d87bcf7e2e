"""Loops along K that can take several rounds at once, with larger matrices: those that do nothing but to add up
products of tiles that follow each other."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from coopmat.spirv.analysis.polynomials import Atom, Polynomial
from coopmat.spirv.grammar import CONVERSIONS, CooperativeMatrixOperands, Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.accesses import LOADS, STORES, Access
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS
from coopmat.spirv.transform.enlarge.dimensions import Dimension
from coopmat.spirv.transform.enlarge.matrices import FUNCTION, Matrices


class Loop(NamedTuple):
    """What grows when a loop takes several rounds at once: the K of its products. extent: what of it a round takes;
    period: where the next one begins. most: of how many rounds a divisor may become one; 0 for any number."""

    classes: frozenset[Dimension]
    extent: int
    period: int
    most: int = 0


def loops_along_k(matrices: Matrices, axes: Collection[Dimension]) -> dict[int, Loop]:
    """The loops that can take several rounds at once, by their headers. Runs are those of a kernel: they must be alike
    in all loops, and no product elsewhere may have more of K than one."""
    found = {header: loop for header in matrices.indices.counters
             if (loop := _K(matrices, header).found()) is not None and loop.classes.isdisjoint(axes)}
    in_runs = {(loop.extent, loop.period) for loop in found.values() if loop.period != loop.extent}
    if not in_runs:
        return found
    length, _ = next(iter(in_runs))
    own = {one for loop in found.values() for one in loop.classes}
    elsewhere = [matrices.extent(k) for row in matrices.products
                 if (k := matrices.dimensions.find((row.words[0], 1))) not in own]
    if len({(loop.extent, loop.period) for loop in found.values()}) == 1 and max(elsewhere, default=0) <= length:
        return found
    return {header: loop for header, loop in found.items() if loop.period == loop.extent}


class _K:
    """A loop that does nothing but to add up products of tiles that follow each other."""

    def __init__(self, matrices: Matrices, header: int) -> None:
        self.matrices, self.header = matrices, header
        self.body = matrices.indices.loops.blocks(header)
        self.computed = {row.result_id for block in self.body for row in block.instructions}

    def found(self) -> Loop | None:
        """The classes of its products' K; None if there is anything else."""
        dimensions = self.matrices.dimensions
        rows = [row for block in self.body for row in block.instructions if self._concerns(row)]
        products = [row for row in rows if row.opcode == Op.CooperativeMatrixMulAddKHR]
        classes = {dimensions.find((row.words[0], 1)) for row in products}
        if not products or any(one.opcode == Op.LoopMerge and block.label != self.header
                               for block in self.body for one in block.instructions[-2:-1]):
            return None
        if not self.matrices.indices.loops.leaves_at_header(self.header) or self._is_asked_later():
            return None
        allowed = (Op.CooperativeMatrixMulAddKHR, *LOADS, *(CONVERSIONS if self.matrices.converted else ()), Op.Phi)
        functions = [row for row in rows if self.matrices.converted and row.opcode == FUNCTION]
        if any(row.opcode not in allowed for row in rows if row not in functions):
            return None
        most = math.gcd(*(self._most(row, classes) for row in functions))
        if most == 1 or not all(self._adds_up(row) for row in products):
            return None
        if len([row for row in rows if row.opcode == Op.Phi]) != len(products):
            return None
        loads = [access for access in self.matrices.accesses if access.row in rows]
        along = {access.matrix for access in self.matrices.accesses for place in range(2)
                 if dimensions.find((access.matrix, place)) in classes}
        others = [row for row in self.matrices.products if row not in products]
        if along != {access.matrix for access in loads} or any(
                dimensions.find((row.words[0], 1)) in classes for row in others):
            return None
        if any(self._own(access.start(place)) for access in loads for place in range(2)):
            return None
        loop = self._loop(frozenset(classes), loads, in_runs=self.matrices.in_runs and not functions)
        return None if loop is None else loop._replace(most=most)

    def _loop(self, classes: frozenset[Dimension], loads: Sequence[Access], *, in_runs: bool) -> Loop | None:
        """The loop, if in each round all tiles lie equally far along K, one extent further, or ``in_runs`` some."""
        found = {(self.matrices.extent(one), self._times(access, classes)) for one in classes for access in loads}
        extent, times = next(iter(found), (0, 0))
        is_simple = len(classes) == times == 1
        if len(found) != 1 or times < 1 or not (is_simple or in_runs):
            return None
        return Loop(classes, extent, extent * times)

    def _is_asked_later(self) -> bool:
        """Whether something behind the loop depends on how often it has run."""
        atom = Atom("round", self.header)
        indices = self.matrices.indices
        inside = {id(row) for block in self.body for row in block.instructions}
        asked = [value for access in self.matrices.accesses if id(access.row) not in inside
                 for value in (access.line, access.along)]
        asked += [value for counter in indices.counters.values() for value in (counter.start, counter.limit)]
        asked += [self.matrices.operands[word][1] for row in indices.body.rows()
                  if row.opcode == FUNCTION and id(row) not in inside
                  for word in row.words[2:] if word in self.matrices.operands]
        return any(atom in value.atoms for value in asked)

    def _most(self, function: Instruction, classes: Collection[Dimension]) -> int:
        """In how many rounds, or a divisor of that, numbers that a function of elements of A or B gets rise by as much
        in each, or do not change; 0 for any number. 1 if the loop computes others of them."""
        if not any(self.matrices.dimensions.find((function.result_id or 0, place)) in classes for place in range(2)):
            return 1
        most = 0
        for word in function.words[2:]:
            if self.matrices.kind(word) is None:
                base, value = self.matrices.operands.get(word, (word, Polynomial()))
                is_known = base not in self.computed and value.coefficient(Atom("round", self.header)) is not None
                most = math.gcd(most, *map(self._steady, self._own(value))) if is_known else 1
        return most

    def _own(self, value: Polynomial) -> list[Atom]:
        """What in a number the loop computes, of which nothing else is known."""
        return [atom for atom in value.atoms if atom.kind == "value" and atom.number in self.computed]

    def _steady(self, atom: Atom) -> int:
        """In how many rounds a number that is computed by a division stays the same, if they begin at a multiple of
        that; 1 where that is not known."""
        one, this = self.matrices.indices.computed.get(atom.number), Atom("round", self.header)
        step, other = (None, None) if one is None else (one.value.coefficient(this), one.other.known)
        if one is None or step is None or step.known is None or step.known < 1 or other is None or other < 1:
            return 1
        start = (one.value - step * Polynomial.atom(this.kind, this.number)).known
        size = {"truncated": other, "rounded down": other, "shifted": 1 << min(other, ADDRESS_BITS)}.get(one.operation)
        if start is None or start < 0 or size is None or size % step.known or start % step.known:
            return 1
        return math.gcd(size, start) // step.known

    def _concerns(self, row: Instruction) -> bool:
        return row.opcode in STORES or (row.result_id is not None and self.matrices.kind(row.result_id) is not None)

    def _adds_up(self, product: Instruction) -> bool:
        """Whether a product is added to a phi of the loop, and is that in the next round; it does not saturate."""
        phi = self.matrices.editor.definition(product.words[2])
        flags = product.words[3] if len(product.words) > 3 else 0
        header = self.matrices.indices.body.block(self.header)
        return (phi.opcode == Op.Phi and phi in header.instructions and product.result_id in phi.words[::2]
                and not flags & CooperativeMatrixOperands.SaturatingAccumulationKHR)

    def _times(self, access: Access, classes: Collection[Dimension]) -> int:
        """How many extents further a tile lies in each round, along K; 0 if it lies elsewhere."""
        places = [place for place in range(2) if self.matrices.dimensions.find((access.matrix, place)) in classes]
        factors = [access.start(place).coefficient(Atom("round", self.header)) for place in range(2)]
        known = [None if factor is None else factor.known for factor in factors]
        if len(places) != 1 or known[1 - places[0]] != 0:
            return 0
        times, rest = divmod(known[places[0]] or 0, self.matrices.extent((access.matrix, places[0])))
        return 0 if rest else times
