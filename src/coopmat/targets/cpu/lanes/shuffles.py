"""The numbers of a sub-group's work-items in another order."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.targets.cpu.lanes.masks import Masks
from coopmat.targets.llvm.arithmetic.integers import bounded, resized
from coopmat.targets.llvm.lanes import Numbers, Source
from coopmat.targets.llvm.values import Number, bits_of, suffix, zero_of

Places = Sequence["int | None"]


class Shuffles(Masks):
    """Takes numbers from other lanes of a vector."""

    def shuffle(self, numbers: Numbers, operand: Number, source: Source) -> Numbers:
        """The numbers of another work-item; zero where that is not here."""
        known = self._known(operand)
        if known is not None and (source.written is not None or operand.stride):
            places = [source.of(lane, chosen) for lane, chosen in enumerate(known)]
            return tuple(self._taken_from(number, places) for number in numbers)
        emitter = self.emitter
        lane = resized(emitter, operand, "i32", signed=False) if source.wraps else bounded(emitter, operand)
        if source.written is not None:
            lane = source.written(emitter, emitter.lane_number(), lane)
        return tuple(self._taken(number, lane) for number in numbers)

    def shuffle_two(self, ones: Numbers, twos: Numbers, delta: Number, *, down: bool) -> Numbers:
        """The one of two numbers ``delta`` further on, counted from the first ones, or back, from the second ones."""
        emitter, pairs, sign = self.emitter, list(zip(ones, twos, strict=True)), 1 if down else -1
        known = self._known(delta)
        if known is not None:
            start = 0 if down else self.size
            places = [start + lane + sign * by for lane, by in enumerate(known)]
            return tuple(self._from_both(one, two, places) for one, two in pairs)
        step = "add {t} {0}, {1}" if down else "sub {t} {0}, {1}"
        index = emitter.apply(step, "i32", emitter.lane_number(), bounded(emitter, delta))
        size = emitter.constant("i32", self.size)
        place = index if down else emitter.apply("add {t} {0}, {1}", "i32", index, size)
        beyond = emitter.apply("sub {t} {0}, {1}", "i32", place, size)
        is_first = emitter.apply("icmp ult {t} {0}, {1}", "i1", place, size)
        return tuple(emitter.select(is_first, self._taken(one, place), self._taken(two, beyond)) for one, two in pairs)

    def broadcast_first(self, numbers: Numbers) -> Numbers:
        """The numbers of the first work-item that is here, for all."""
        return tuple(Number(number.type, text) for number, text in zip(numbers, self.first(*numbers), strict=True))

    def broadcast(self, numbers: Numbers, lane: Number) -> Numbers:
        """The numbers of one work-item of a sub-group for all; that there is one is the program's duty."""
        if lane.is_single and lane.base.isdigit():
            text = str(min(int(lane.base), self.size - 1))
        else:
            one = Number(lane.type, self.first(lane)[0])
            within = self.emitter.intrinsic("umin", one.type, one, self.emitter.constant(one.type, self.size - 1))
            text = resized(self.emitter, within, "i32", signed=False).base
        return tuple(Number(number.type, self.lane_of(number, text)) for number in numbers)

    # --- what shuffles are made of ----------------------------------------------------

    def present(self, number: Number, instead: Number) -> Number:
        """The number in the work-items that are here, another one elsewhere."""
        if self.mask is None:
            return number
        return self.emitter.select(Number("i1", lanes=self.mask), number, instead)

    def rearranged(self, number: Number, sources: Places, other: Number) -> Number:
        """For each work-item the number of another one; where that is None, ``other``. Both may be vectors: lane
        ``size + i`` is lane i of ``other``."""
        emitter, vector = self.emitter, self.emitter.vector(number.type)
        places = ", ".join(f"i32 {self.size if source is None else source}" for source in sources)
        return emitter.varying(number.type, self.writer.let(
            f"shufflevector {vector} {emitter.lanes(number)}, {vector} {emitter.lanes(other)}, "
            f"<{self.size} x i32> <{places}>"))

    def _known(self, number: Number) -> list[int] | None:
        """The number of each work-item, if the compiler knows them."""
        if not number.is_linear or not number.base.lstrip("-").isdigit():
            return None
        wrap = 1 << bits_of(number.type)
        return [(int(number.base) + lane * number.stride) % wrap for lane in range(self.size)]

    def _taken(self, number: Number, source: Number) -> Number:
        """For each work-item the number of work-item ``source``; zero where that is not here."""
        emitter, zero = self.emitter, Number(number.type, zero_of(number.type))
        here = self.present(number, zero)
        known = self._known(source)
        if known is not None and source.stride:
            return self._taken_from(number, known)
        index = bounded(emitter, source)
        exists = emitter.apply("icmp ult {t} {0}, {1}", "i1", index, emitter.constant("i32", self.size))
        return emitter.select(exists, self._chosen(here, index), zero)

    def _taken_from(self, number: Number, sources: Sequence[int]) -> Number:
        """As ``_taken``, where the sources are known."""
        zero = Number(number.type, zero_of(number.type))
        here = self.present(number, zero)
        places = [source if 0 <= source < self.size else None for source in sources]
        if here.is_single and None not in places:
            return here
        return self.rearranged(here, places, zero)

    def _from_both(self, one: Number, two: Number, places: Sequence[int]) -> Number:
        """Of each work-item the number that lies at a place of both, beside each other; zero elsewhere."""
        zero = Number(one.type, zero_of(one.type))
        one, two = (self.present(number, zero) for number in (one, two))
        exists = [0 <= place < 2 * self.size for place in places]
        found = self.rearranged(one, [place if here else 0 for place, here in zip(places, exists, strict=True)], two)
        if all(exists):
            return found
        return self.rearranged(found, [lane if here else None for lane, here in enumerate(exists)], zero)

    def _chosen(self, number: Number, index: Number) -> Number:
        """The number of another work-item, by its number modulo the sub-group's size."""
        emitter = self.emitter
        within = emitter.apply("and {t} {0}, {1}", "i32", index, emitter.constant("i32", self.size - 1))
        if number.is_single:
            return number
        if within.is_single:
            return Number(number.type, self.lane_of(number, within.base))
        if number.type == "i1":
            wide = emitter.apply("zext {t} {0} to {r}", "i8", number)
            return emitter.apply("trunc {t} {0} to {r}", "i1", self._permuted(wide, within))
        return self._permuted(number, within)

    def _permuted(self, number: Number, index: Number) -> Number:
        """Written as the extractions and insertions of which LLVM makes the processor's permutations, if it has
        them."""
        emitter = self.emitter
        vector, indices = emitter.vector(number.type), emitter.vector("i32")
        name = f"permute.{suffix(vector)}"
        lines, result = [], "poison"
        for lane in range(self.size):
            lines += [f"  %i{lane} = extractelement {indices} %index, i32 {lane}",
                      f"  %n{lane} = extractelement {vector} %number, i32 %i{lane}",
                      f"  %r{lane} = insertelement {vector} {result}, {number.type} %n{lane}, i32 {lane}"]
            result = f"%r{lane}"
        inlining = "noinline" if number.type == "i16" else "alwaysinline"  # LLVM 22 fails where i16 then becomes i64
        self.writer.helper(name, "\n".join([
            f"define internal {vector} @{name}({vector} %number, {indices} %index) {inlining} nounwind {{", *lines,
            f"  ret {vector} {result}", "}"]))
        return emitter.varying(number.type, self.writer.call(vector, name, [
            (vector, emitter.lanes(number)), (indices, emitter.lanes(index))]))
