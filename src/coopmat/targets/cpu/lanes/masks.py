"""The work-items that are here, and single ones among them, in code for a sub-group that is a vector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coopmat.spirv.transform.enlarge.runs import ALL, Runs
from coopmat.targets.cpu.frame import Frame
from coopmat.targets.cpu.lanes.places import Places
from coopmat.targets.cpu.lanes.shapes import UNIFORM, Shape
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number


@dataclass(frozen=True)
class Variant:
    """What the code of a kernel is made for.

    sub_group_size: work-items of a sub-group. is_whole: every sub-group has that many. is_straight: the work-items of a
    sub-group follow each other in the first dimension. bounds: accesses are checked. nulls: the positions of the
    parameters that are null pointers; accesses through those are checked in any case. numerics: how
    floating-point matrices are multiplied and accumulated (the option of CpuOptions). features: those of the processor
    that change what is written (:data:`~coopmat.targets.cpu.features.OF_EMISSION`). step, runs: of products
    (:class:`~coopmat.targets.cpu.matrix.operation.Product`). fast: the axis of the grid along which work-groups follow
    each other; None for bands of rows. shared: whether several work-groups take the same of A, and of B. is_row: a
    work-group has no other dimension than the first.
    """

    sub_group_size: int
    is_whole: bool
    is_straight: bool
    bounds: bool = False
    nulls: tuple[int, ...] = ()
    numerics: str = HARDWARE
    features: frozenset[str] = frozenset()
    step: int = 0
    runs: Runs = ALL
    fast: int | None = None
    shared: tuple[bool, bool] = (False, True)
    pauses: bool = False
    is_row: bool = False

    @property
    def is_checked(self) -> bool:
        """Whether some accesses are checked."""
        return self.bounds or bool(self.nulls)


@dataclass
class Assumptions:
    """What passes over the code have found; each pass begins with what the ones before it know.

    Which values are uniform is found by writing the code, and writing it again while what was assumed of a variable, or
    of a branch, turns out to be wrong; all assumptions begin with "uniform" and move towards "varies", so that this
    ends.
    """

    shapes: dict[Any, Shape] = field(default_factory=dict)
    divergent: set[int] = field(default_factory=set)
    changed: bool = False

    def shape_of(self, key: Any) -> Shape:
        """What is known of the number in a slot."""
        return self.shapes.get(key, UNIFORM)

    def join(self, key: Any, shape: Shape) -> None:
        """Note that a slot holds a number of this shape."""
        old = self.shapes.get(key)
        new = shape if old is None else old.join(shape)
        if new != old:
            self.shapes[key] = new
            self.changed = True

    def diverges(self, block: int) -> None:
        """Note that the branch of a block sends work-items to several places."""
        if block not in self.divergent:
            self.divergent.add(block)
            self.changed = True


class Masks:
    """Knows which work-items are here.

    mask: a vector of truths; None: all work-items. whole_mask: those that exist; None: all.
    """

    def __init__(self, emitter: Emitter, variant: Variant, known: Assumptions) -> None:
        self.emitter = emitter
        self.writer = emitter.writer
        self.size = emitter.size
        self.variant = variant
        self.known = known
        self.frame = Frame(emitter.writer, emitter.sub_group_size, is_whole=variant.is_whole)
        self.mask: str | None = None
        self.whole_mask = None if variant.is_whole else "%exists"
        self.accesses = Places()

    @property
    def mask_type(self) -> str:
        """The type of a mask."""
        return f"<{self.size} x i1>"

    @property
    def mask_text(self) -> str:
        """The work-items that are here as an operand."""
        return self.mask if self.mask is not None else "splat (i1 true)"

    def is_part(self, mask: str | None) -> bool:
        """Whether a mask may lack work-items that exist."""
        return mask is not None and mask != self.whole_mask

    def mask_bits(self, mask: str | None = None) -> str:
        """A mask as an integer of so many bits as the sub-group has work-items; bit i is work-item i."""
        return self.writer.let(f"bitcast {self.mask_type} {mask or self.mask_text} to i{self.size}")

    def any_of(self, mask: str) -> str:
        """Whether a mask has a work-item."""
        bits = self.mask_bits(mask)
        return self.writer.let(f"icmp ne i{self.size} {bits}, 0")

    def last_lane(self) -> str:
        """The last work-item that is here, as an i32."""
        if self.mask is None:
            return str(self.size - 1)
        return self._edge_lane("ctlz")

    def first_lane(self) -> str:
        """The first work-item that is here, as an i32."""
        return "0" if self.mask is None else self._edge_lane("cttz")

    def _edge_lane(self, counting: str) -> str:
        bits, width = self.mask_bits(), f"i{self.size}"
        found = self.writer.call(width, f"llvm.{counting}.{width}", [(width, bits), ("i1", "true")])
        wide = found if self.size == 32 else self.writer.let(
            f"{'zext' if self.size < 32 else 'trunc'} {width} {found} to i32")
        return wide if counting == "cttz" else self.writer.let(f"sub i32 {self.size - 1}, {wide}")

    def lane_of(self, number: Number, lane: str) -> str:
        """The operand of one work-item."""
        if number.is_single:
            return number.base
        vector = self.emitter.vector(number.type)
        return self.writer.let(f"extractelement {vector} {self.emitter.lanes(number)}, i32 {lane}")

    def lane_number(self, llvm: str) -> Number:
        """Each work-item's position in its sub-group."""
        return Number(llvm, "0", 1, is_id=True)

    def first(self, *numbers: Number) -> list[str]:
        """The operands of the first work-item that is here."""
        lane = self.first_lane()
        return [self.lane_of(number, lane) for number in numbers]

    def last(self, number: Number) -> str:
        """The operand of the last work-item that is here."""
        return number.base if number.is_single else self.lane_of(number, self.last_lane())

    def is_joint(self, number: Number) -> bool:
        """Whether a number is known to be the same for all work-items."""
        return number.is_single
