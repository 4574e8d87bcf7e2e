"""The elements of a 2D block as values of the work-items: vectors from the block's rows, and back to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coopmat.targets.analysis.blocks_2d import BlockHeld
from coopmat.targets.cpu.lanes.spread import Spread, load_spread
from coopmat.targets.cpu.lanes.vector import lanes_of
from coopmat.targets.llvm.arithmetic.conversions import reinterpreted
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.place import SlotPlace
from coopmat.targets.llvm.places import check_indices, read_place, write_place
from coopmat.targets.llvm.values import Number, bits_of, llvm_type

MOST_IN_VALUES = 64
"""Of a work-item's elements of a block; more of them are left in memory."""
Places = Sequence["int | None"]


class BlockValues:
    """The numbers of one instruction.

    place: where they are kept. integer: the type of one, of so many elements ``together``. offsets: of each work-item
    the offsets of its elements among the block's rows, or None.
    """

    def __init__(self, emitter: Emitter, held: BlockHeld, offsets: Sequence[Places], place: SlotPlace) -> None:
        self.emitter, self.writer = emitter, emitter.writer
        self.size, self.count = held.block.element_size, emitter.size
        self.place = place
        self.element, self.integer = f"i{8 * self.size}", f"i{bits_of(llvm_type(place.kind))}"
        self.together = place.kind.size // self.size
        self.components: list[Places] = list(zip(*offsets, strict=True))

    # --- in slots ---------------------------------------------------------------------

    def keep(self, vectors: Sequence[str]) -> None:
        """Store the numbers, for the work-items that are here."""
        place = self.place
        check_indices(self.emitter, place)
        for number, text in enumerate(vectors):
            found = reinterpreted(self.emitter, (self.emitter.varying(self.integer, text),), llvm_type(place.kind))
            write_place(self.emitter, replace(place, first=place.first + number), found)

    def given(self) -> list[str]:
        """The numbers; zero for work-items that are not here."""
        place = self.place
        check_indices(self.emitter, place)
        lanes, found = lanes_of(self.emitter), []
        for number in range(len(self.components) // self.together):
            value = read_place(self.emitter, replace(place, first=place.first + number))
            (one,) = reinterpreted(self.emitter, tuple(leaf for leaf in value if isinstance(leaf, Number)),
                                   self.integer)
            assert isinstance(one, Number)
            found.append(self.emitter.lanes(lanes.present(one, self.emitter.constant(self.integer, 0))))
        return found

    # --- in rows ----------------------------------------------------------------------

    def taken(self, rows: str) -> list[str]:
        """The numbers of all work-items, from the block's rows."""
        elements = [self._element(rows, places) for places in self.components]
        return [self._joined(elements[first:first + self.together])
                for first in range(0, len(elements), self.together)]

    def _joined(self, elements: Sequence[str]) -> str:
        """Elements as one number, the first in its lowest bits."""
        if len(elements) == 1:
            return elements[0]
        vector, found = self.emitter.vector(self.integer), ""
        for place, element in enumerate(elements):
            wide = self.writer.let(f"zext {self.emitter.vector(self.element)} {element} to {vector}")
            bits = self.emitter.splat(self.integer, str(8 * self.size * place))
            moved = self.writer.let(f"shl {vector} {wide}, {bits}") if place else wide
            found = self.writer.let(f"or {vector} {found}, {moved}") if found else moved
        return found

    def _element(self, rows: str, places: Places) -> str:
        spread = self._spread(rows, places)
        if spread is not None:
            return load_spread(self.writer, spread, self.element, self.size)
        found = "zeroinitializer"
        for first, length in self._runs(places):
            loaded = self.writer.let(f"load <{length} x {self.element}>, ptr {self._at(rows, places[first])}, "
                                     f"align {self.size}")
            if length == self.count:
                return loaded
            inside = range(first, first + length)
            picks = [f"i32 {lane - first}" if lane in inside else "i32 poison" for lane in range(self.count)]
            wide = self._shuffled(loaded, "poison", length, picks)
            found = self._shuffled(found, wide, self.count, [
                f"i32 {lane + self.count * (lane in inside)}" for lane in range(self.count)])
        return found

    def put(self, numbers: Sequence[str], rows: str) -> None:
        """The numbers of all work-items, to the block's rows."""
        elements = [self._part(text, place) for text in numbers for place in range(self.together)]
        for text, places in zip(elements, self.components, strict=True):
            for first, length in self._runs(places):
                part = text if length == self.count else self._shuffled(
                    text, "poison", self.count, [f"i32 {lane}" for lane in range(first, first + length)])
                self.writer.do(f"store <{length} x {self.element}> {part}, ptr {self._at(rows, places[first])}, "
                               f"align {self.size}")

    def _part(self, number: str, place: int) -> str:
        """One element of those in a number."""
        if self.together == 1:
            return number
        vector, bits = self.emitter.vector(self.integer), self.emitter.splat(self.integer, str(8 * self.size * place))
        moved = self.writer.let(f"lshr {vector} {number}, {bits}") if place else number
        return self.writer.let(f"trunc {vector} {moved} to {self.emitter.vector(self.element)}")

    def _spread(self, rows: str, places: Places) -> Spread | None:
        """Elements that all lie a few places apart."""
        first, second = places[:2]
        if first is None or second is None or list(places) != [
                first + lane * (second - first) for lane in range(self.count)]:
            return None
        return Spread.of(Number("ptr", self._at(rows, first), second - first), self.size, self.count)

    def _runs(self, places: Places) -> Iterator[tuple[int, int]]:
        """The work-items whose elements lie side by side: the first one, and how many."""
        first = 0
        for lane in range(1, self.count + 1):
            before, here = places[lane - 1], places[lane] if lane < self.count else None
            if here is None or before is None or here != before + self.size:
                if before is not None:
                    yield first, lane - first
                first = lane

    def _at(self, rows: str, offset: int | None) -> str:
        return self.writer.let(f"getelementptr i8, ptr {rows}, i64 {offset}")

    def _shuffled(self, one: str, other: str, length: int, picks: Sequence[str]) -> str:
        vector = f"<{length} x {self.element}>"
        return self.writer.let(f"shufflevector {vector} {one}, {vector} {other}, <{len(picks)} x i32> "
                               f"<{', '.join(picks)}>")
