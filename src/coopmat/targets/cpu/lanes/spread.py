"""Numbers that lie a few places apart, or in the opposite order: whole vectors of memory, and shuffles."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.targets.llvm.values import Number, suffix
from coopmat.targets.llvm.writer import Writer

MOST_STEPS = 4  # further apart, a vector holds too few of them


@dataclass(frozen=True)
class Spread:
    """The numbers of ``count`` work-items in memory: each lies ``steps`` places of ``size`` bytes from the one before.

    base: the lowest one's address. is_reversed: the last work-item has that one.
    """

    base: str
    back: int
    size: int
    steps: int
    count: int

    @classmethod
    def of(cls, pointer: Number, size: int, count: int) -> Spread | None:
        """What a pointer leads to, if that is of use."""
        if not pointer.is_linear or not size or pointer.stride % size:
            return None
        steps = abs(pointer.stride) // size
        if not 0 < steps <= MOST_STEPS or (pointer.stride > 0 and steps == 1):
            return None
        back = steps * (count - 1) * size if pointer.stride < 0 else 0
        return cls(pointer.base, back, size, steps, count)

    @property
    def places(self) -> list[int]:
        """Where each work-item's number lies."""
        found = [lane * self.steps for lane in range(self.count)]
        return found[::-1] if self.back else found

    @property
    def parts(self) -> list[int]:
        """Where vectors begin that hold all of them; none goes beyond the last number, or before the first one."""
        last = (self.count - 1) * self.steps + 1 - self.count
        return [min(part * self.count, last) for part in range(self.steps)]

    def address(self, writer: Writer, part: int) -> str:
        """The address of a place."""
        return writer.let(f"getelementptr i8, ptr {self.base}, i64 {part * self.size - self.back}")


def load_spread(writer: Writer, spread: Spread, llvm: str, alignment: int) -> str:
    """The vector of the work-items' numbers."""
    count, vector = spread.count, f"<{spread.count} x {llvm}>"
    found = ""
    for number, part in enumerate(spread.parts):
        loaded = writer.let(f"load {vector}, ptr {spread.address(writer, part)}, align {min(alignment, spread.size)}")
        picks = []
        for lane, place in enumerate(spread.places):
            is_here = place // count == number
            picks.append(f"i32 {place - part + (count if found else 0)}" if is_here
                         else f"i32 {lane}" if found and place // count < number else "i32 poison")
        found = writer.let(f"shufflevector {vector} {found or loaded}, {vector} {loaded if found else 'poison'}, "
                           f"<{count} x i32> <{', '.join(picks)}>")
    return found


def store_spread(writer: Writer, spread: Spread, llvm: str, lanes: str, alignment: int, *, masked: bool) -> None:
    """Write the vector of the work-items' numbers, and nothing between them; one by one if stores are not
    ``masked``."""
    count, vector, mask = spread.count, f"<{spread.count} x {llvm}>", f"<{spread.count} x i1>"
    aligned = f"align {min(alignment, spread.size)}"
    if not masked:
        for lane, place in enumerate(spread.places):
            one = writer.let(f"extractelement {vector} {lanes}, i32 {lane}")
            writer.do(f"store {llvm} {one}, ptr {spread.address(writer, place)}, {aligned}")
        return
    owners = {place: lane for lane, place in enumerate(spread.places)}
    for number in range(spread.steps):
        places = [owners.get(number * count + place) for place in range(count)]
        picks = ", ".join("i32 poison" if owner is None else f"i32 {owner}" for owner in places)
        moved = writer.let(f"shufflevector {vector} {lanes}, {vector} poison, <{count} x i32> <{picks}>")
        there = ", ".join("i1 false" if owner is None else "i1 true" for owner in places)
        address = spread.address(writer, number * count)
        writer.call("void", f"llvm.masked.store.{suffix(vector)}.p0", [
            (vector, moved), ("ptr", f"{aligned} {address}"), (mask, f"<{there}>")])
