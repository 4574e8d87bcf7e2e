"""Reductions and scans over the lanes of a vector: in their order where the order makes a difference."""

from __future__ import annotations

from coopmat.spirv.grammar import GroupOperation
from coopmat.targets.cpu.lanes.shuffles import Shuffles
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.values import Number, suffix


class Scans(Shuffles):
    """Folds the numbers of a sub-group."""

    def scan(self, operation: int, folding: Folding, number: Number) -> Number:
        """A reduction or a scan of a sub-group."""
        if operation == GroupOperation.Reduce:
            return self.total(folding, number)
        prefixes = self.prefixes(folding, number)
        if operation == GroupOperation.InclusiveScan:
            return prefixes
        return self.before(prefixes, folding.identity)

    def total(self, folding: Folding, number: Number, start: Number | None = None) -> Number:
        """The reduction of a sub-group, after ``start``."""
        emitter, llvm = self.emitter, folding.llvm
        here = self.present(number, folding.neutral)
        if not folding.whole:
            return Number(llvm, self.lane_of(self.prefixes(folding, number, start), str(self.size - 1)))
        vector = emitter.vector(llvm)
        first = start if start is not None else folding.neutral
        operands = [(vector, emitter.lanes(here))]
        if folding.is_ordered:
            operands.insert(0, (llvm, first.base))
        found = Number(llvm, self.writer.call(llvm, f"llvm.vector.reduce.{folding.whole}.{suffix(vector)}", operands))
        return found if folding.is_ordered or start is None else folding.both(start, found)

    def prefixes(self, folding: Folding, number: Number, start: Number | None = None) -> Number:
        """The reduction of the work-items up to and including each, after ``start``."""
        here = self.present(number, folding.neutral)
        if folding.is_ordered:
            return self._one_after_other(folding, here, start)
        distance = 1
        while distance < self.size:
            shifted = self.rearranged(here, self._behind(distance), folding.neutral)
            here = folding.both(shifted, here)
            distance *= 2
        return here if start is None else folding.both(start, here)

    def _behind(self, distance: int) -> list[int | None]:
        return [lane - distance if lane >= distance else None for lane in range(self.size)]

    def _one_after_other(self, folding: Folding, number: Number, start: Number | None) -> Number:
        vector = self.emitter.vector(folding.llvm)
        found, result = start, "poison"
        for lane in range(self.size):
            own = Number(folding.llvm, self.lane_of(number, str(lane)))
            found = own if found is None else folding.both(found, own)
            result = self.writer.let(f"insertelement {vector} {result}, {folding.llvm} {found.base}, i32 {lane}")
        return self.emitter.varying(folding.llvm, result)

    def before(self, prefixes: Number, first: Number) -> Number:
        """Of an inclusive scan the exclusive one; ``first`` is for the first work-item."""
        emitter = self.emitter
        shifted = self.rearranged(prefixes, self._behind(1), first)
        if not self.is_part(self.mask):
            return shifted
        is_first = emitter.apply("icmp ule {t} {0}, {1}", "i1", emitter.lane_number(),
                                 Number("i32", self.first_lane()))
        return emitter.select(is_first, first, shifted)

    def clustered(self, folding: Folding, number: Number, size: int) -> Number:
        """The reduction of every ``size`` neighbouring work-items, for each of them."""
        if size >= self.size:
            return self.total(folding, number)
        here = self.present(number, folding.neutral)
        starts = [lane // size * size for lane in range(self.size)]
        if folding.is_ordered:
            members = [self.rearranged(here, [start + place for start in starts], here) for place in range(size)]
            found = members[0]
            for member in members[1:]:
                found = folding.both(found, member)
            return found
        distance = 1
        while distance < size:
            other = self.rearranged(here, [lane ^ distance for lane in range(self.size)], here)
            here = folding.both(here, other)
            distance *= 2
        return here
