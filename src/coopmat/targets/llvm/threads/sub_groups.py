"""What the threads of a sub-group give each other: votes, shuffles, reductions and scans.

Where it is certain that all threads of a sub-group are here, partners are found by their distance; elsewhere, and where
the last sub-group of a work-group is a part, one after the other adds what those before it have.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable

from coopmat.spirv.grammar import GroupOperation
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted
from coopmat.targets.llvm.arithmetic.integers import bounded, resized
from coopmat.targets.llvm.lanes import Numbers, Source
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.threads.memory import Memory
from coopmat.targets.llvm.values import Number, bits_of, zero_of

WORD_BITS = 32


class SubGroups(Memory):
    """Does what a sub-group does together. size: work-items of a sub-group. is_whole: whether work-groups consist of
    whole sub-groups."""

    size: int
    is_whole: bool

    # --- of the hardware --------------------------------------------------------------

    @abstractmethod
    def here(self) -> Number:
        """The threads of the sub-group that run this together: an integer with a bit for each."""

    @abstractmethod
    def votes(self, predicate: Number) -> Number:
        """An integer with the bits of the threads that are here and have a predicate hold."""

    @abstractmethod
    def word_of(self, word: str, lane: str) -> str:
        """The 32-bit word that another thread has, by its position in the sub-group."""

    # --- who is here ------------------------------------------------------------------

    @property
    def is_uniform(self) -> bool:
        """Whether the instruction is one that all work-items of a sub-group must come to."""
        row = self.emitter.row
        return row is None or not ("NonUniform" in row.name or re.fullmatch("OpSubgroup.*KHR", row.name))

    @property
    def all_are_here(self) -> bool:
        """Whether it is certain that all threads of a whole sub-group are here."""
        return self.is_whole and (self.is_uniform or self.emitter.block in self.common)

    def _mask(self, bits: int) -> Number:
        return self.emitter.constant(self.mask_type, bits)

    @property
    def mask_type(self) -> str:
        """The integer that holds a bit for each work-item of a sub-group."""
        return "i64" if self.size > WORD_BITS else "i32"

    def ballot(self, predicate: Number) -> Number:
        """Who is here and has a predicate hold."""
        return resized(self.emitter, self.votes(predicate), f"i{self.size}", signed=False)

    def any(self, predicate: Number) -> Number:
        """Whether a predicate holds for one that is here."""
        return self.emitter.apply("icmp ne {t} {0}, {1}", "i1", self.votes(predicate), self._mask(0))

    def all(self, predicate: Number) -> Number:
        """Whether a predicate holds for all that are here."""
        other = self.emitter.apply("xor {t} {0}, {1}", "i1", predicate, Number("i1", "true"))
        return self.emitter.apply("xor {t} {0}, {1}", "i1", self.any(other), Number("i1", "true"))

    def elect(self) -> Number:
        """Whether a work-item is the first that is here."""
        return self.emitter.apply("icmp eq {t} {0}, {1}", "i1", self.lane_number("i32"), self._first_lane())

    def _first_lane(self) -> Number:
        if self.all_are_here:
            return self.emitter.constant("i32", 0)
        return self._lowest(self.here())

    def _lowest(self, bits: Number) -> Number:
        lane = self.emitter.intrinsic("cttz", bits.type, bits, immediate=[("i1", "true")])
        return resized(self.emitter, lane, "i32", signed=False)

    def own_bit(self, bits: Number) -> Number:
        """Of an integer that all have alike the bit of each work-item."""
        moved = self.emitter.apply("lshr {t} {0}, {1}", bits.type, bits, self.lane_number(bits.type))
        return self.emitter.apply("trunc {t} {0} to {r}", "i1", moved)

    def bits_before(self, llvm: str, *, own: bool) -> Number:
        """An integer with a bit for each work-item before one, and for itself."""
        emitter, one = self.emitter, self.emitter.constant(llvm, 1)
        bit = emitter.apply("shl {t} {0}, {1}", llvm, one, self.lane_number(llvm))
        below = emitter.apply("sub {t} {0}, {1}", llvm, bit, one)
        return emitter.apply("or {t} {0}, {1}", llvm, below, bit) if own else below

    def _is_here(self, lane: Number) -> Number:
        """Whether a thread is here; the position may be any."""
        emitter = self.emitter
        exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", lane, emitter.constant("i32", self.size))
        if self.all_are_here:
            return exists
        within = emitter.apply("and {t} {0}, {1}", "i32", lane, emitter.constant("i32", self.size - 1))
        moved = emitter.apply("lshr {t} {0}, {1}", self.mask_type, self.here(),
                              resized(emitter, within, self.mask_type, signed=False))
        return emitter.apply("and {t} {0}, {1}", "i1", exists, emitter.apply("trunc {t} {0} to {r}", "i1", moved))

    # --- shuffles ---------------------------------------------------------------------

    def taken(self, number: Number, lane: Number) -> Number:
        """The number of another thread that is here, by words of 32 bits."""
        emitter, llvm = self.emitter, number.type
        width, bits = bits_of(llvm), max(bits_of(llvm), WORD_BITS)
        [whole] = (number,) if llvm == "i1" else reinterpreted(emitter, (number,), f"i{width}")
        words = reinterpreted(emitter, (resized(emitter, whole, f"i{bits}", signed=False),), "i32")
        moved = tuple(Number("i32", self.word_of(word.base, lane.base)) for word in words)
        [back] = reinterpreted(emitter, moved, f"i{bits}")
        narrow = resized(emitter, back, f"i{width}", signed=False)
        return narrow if llvm == "i1" else reinterpreted(emitter, (narrow,), llvm)[0]

    def _taken_if(self, number: Number, lane: Number) -> Number:
        return self.emitter.select(self._is_here(lane), self.taken(number, lane),
                                   Number(number.type, zero_of(number.type)))

    def shuffle(self, numbers: Numbers, operand: Number, source: Source) -> Numbers:
        """The numbers of another work-item; zero where that is not here."""
        emitter = self.emitter
        lane = resized(emitter, operand, "i32", signed=False) if source.wraps else bounded(emitter, operand)
        if source.written is not None:
            lane = source.written(emitter, self.lane_number("i32"), lane)
        return tuple(self._taken_if(number, lane) for number in numbers)

    def shuffle_two(self, ones: Numbers, twos: Numbers, delta: Number, *, down: bool) -> Numbers:
        """As ``shuffle``, of two numbers of each work-item, the second ones behind the first ones."""
        emitter, size = self.emitter, self.emitter.constant("i32", self.size)
        by = bounded(emitter, delta)
        place = emitter.apply("add {t} {0}, {1}" if down else "sub {t} {0}, {1}", "i32", self.lane_number("i32"), by)
        place = place if down else emitter.apply("add {t} {0}, {1}", "i32", place, size)
        beyond = emitter.apply("sub {t} {0}, {1}", "i32", place, size)
        is_first = emitter.apply("icmp ult {t} {0}, {1}", "i1", place, size)
        return tuple(emitter.select(is_first, self._taken_if(one, place), self._taken_if(two, beyond))
                     for one, two in zip(ones, twos, strict=True))

    def broadcast(self, numbers: Numbers, lane: Number) -> Numbers:
        """The numbers of one work-item for all."""
        one = resized(self.emitter, lane, "i32", signed=False)
        return tuple(self.taken(number, one) for number in numbers)

    def broadcast_first(self, numbers: Numbers) -> Numbers:
        """The numbers of the first work-item that is here, for all."""
        return self.broadcast(numbers, self._first_lane())

    # --- reductions and scans ---------------------------------------------------------

    def clustered(self, folding: Folding, number: Number, size: int) -> Number:
        """The reduction of every ``size`` neighbouring work-items."""
        if self.all_are_here:
            return (self._in_order if folding.is_ordered else self._butterfly)(folding, number, min(size, self.size))
        start = self.emitter.apply("and {t} {0}, {1}", "i32", self.lane_number("i32"),
                                   self.emitter.constant("i32", -min(size, self.size)))
        cluster = self.emitter.constant(self.mask_type, (1 << min(size, self.size)) - 1)
        members = self.emitter.apply("shl {t} {0}, {1}", self.mask_type, cluster,
                                     resized(self.emitter, start, self.mask_type, signed=False))

        def is_member(lane: Number) -> Number:
            bit = self.emitter.apply("lshr {t} {0}, {1}", self.mask_type, members,
                                     resized(self.emitter, lane, self.mask_type, signed=False))
            return self.emitter.apply("trunc {t} {0} to {r}", "i1", bit)

        return self._one_by_one(folding, number, is_member)

    def scan(self, operation: int, folding: Folding, number: Number) -> Number:
        """A reduction or a scan of the sub-group's work-items that are here."""
        if not self.all_are_here:
            found = self._one_by_one(folding, number, self._counts(operation))
            if operation != GroupOperation.ExclusiveScan:
                return found
            is_first = self.emitter.apply("icmp eq {t} {0}, {1}", "i1", self.lane_number("i32"), self._first_lane())
            return self.emitter.select(is_first, folding.identity, found)
        if operation == GroupOperation.Reduce:
            return (self._in_order if folding.is_ordered else self._butterfly)(folding, number, self.size)
        found = (self._prefixes if folding.is_ordered else self._summed)(folding, number)
        return found if operation == GroupOperation.InclusiveScan else self._behind(found, 1, folding.identity)

    def _counts(self, operation: int) -> Callable[[Number], Number]:
        """Whether the number of a thread counts for a scan's result."""
        predicate = {GroupOperation.InclusiveScan: "ule", GroupOperation.ExclusiveScan: "ult"}.get(
            GroupOperation(operation))
        if predicate is None:
            return lambda lane: Number("i1", "true")
        return lambda lane: self.emitter.apply(f"icmp {predicate} {{t}} {{0}}, {{1}}", "i1", lane,
                                               self.lane_number("i32"))

    def _butterfly(self, folding: Folding, number: Number, size: int) -> Number:
        distance = 1
        while distance < size:
            lane = self._lane_at("xor {t} {0}, {1}", distance)
            number = folding.both(number, self.taken(number, lane))
            distance *= 2
        return number

    def _summed(self, folding: Folding, number: Number) -> Number:
        distance = 1
        while distance < self.size:
            number = folding.both(self._behind(number, distance, folding.neutral), number)
            distance *= 2
        return number

    def _lane_at(self, template: str, distance: int) -> Number:
        return self.emitter.apply(template, "i32", self.lane_number("i32"), self.emitter.constant("i32", distance))

    def _behind(self, number: Number, distance: int, otherwise: Number) -> Number:
        lane = self._lane_at("sub {t} {0}, {1}", distance)
        exists = self.emitter.apply("icmp sge {t} {0}, {1}", "i1", lane, self.emitter.constant("i32", 0))
        return self.emitter.select(exists, self.taken(number, lane), otherwise)

    def _in_order(self, folding: Folding, number: Number, size: int) -> Number:
        """A sum whose order makes a difference: of the first, the second, and so on, of each cluster."""
        emitter = self.emitter
        start = emitter.apply("and {t} {0}, {1}", "i32", self.lane_number("i32"), emitter.constant("i32", -size))
        found = self.taken(number, start)
        for place in range(1, size):
            lane = emitter.apply("or {t} {0}, {1}", "i32", start, emitter.constant("i32", place))
            found = folding.both(found, self.taken(number, lane))
        return found

    def _prefixes(self, folding: Folding, number: Number) -> Number:
        """The inclusive scan of one whose order makes a difference."""
        emitter, own = self.emitter, self.lane_number("i32")
        total = found = self.taken(number, emitter.constant("i32", 0))
        for place in range(1, self.size):
            lane = emitter.constant("i32", place)
            total = folding.both(total, self.taken(number, lane))
            found = emitter.select(emitter.apply("icmp uge {t} {0}, {1}", "i1", own, lane), total, found)
        return found

    def _one_by_one(self, folding: Folding, number: Number, counts: Callable[[Number], Number]) -> Number:
        """What the threads have that are here and count, added up in their order."""
        emitter, writer, mask = self.emitter, self.writer, self.mask_type
        left, total = writer.slot(mask), writer.slot(folding.llvm)
        writer.do(f"store {mask} {self.here().base}, ptr {left}")
        writer.do(f"store {folding.llvm} {folding.neutral.base}, ptr {total}")
        again, done = writer.fresh("again")[1:], writer.fresh("scanned")[1:]
        writer.do(f"br label %{again}")
        writer.label(again)
        bits = Number(mask, writer.let(f"load {mask}, ptr {left}"))
        lane = self._lowest(bits)
        before = Number(folding.llvm, writer.let(f"load {folding.llvm}, ptr {total}"))
        sum_ = folding.both(before, self.taken(number, lane))
        writer.do(f"store {folding.llvm} {emitter.select(counts(lane), sum_, before).base}, ptr {total}")
        less = emitter.apply("sub {t} {0}, {1}", mask, bits, emitter.constant(mask, 1))
        rest = emitter.apply("and {t} {0}, {1}", mask, bits, less)
        writer.do(f"store {mask} {rest.base}, ptr {left}")
        is_done = emitter.apply("icmp eq {t} {0}, {1}", "i1", rest, emitter.constant(mask, 0))
        writer.do(f"br i1 {is_done.base}, label %{done}, label %{again}")
        writer.label(done)
        return Number(folding.llvm, writer.let(f"load {folding.llvm}, ptr {total}"))
