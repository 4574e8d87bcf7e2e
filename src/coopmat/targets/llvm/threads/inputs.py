"""The built-in variables of a thread, from its position and the words of the launch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from coopmat.spirv.grammar import BuiltIn
from coopmat.targets.llvm.arithmetic.integers import add, subtract
from coopmat.targets.llvm.lanes import Numbers
from coopmat.targets.llvm.threads.launch import Word
from coopmat.targets.llvm.threads.work_groups import WorkGroups
from coopmat.targets.llvm.values import Number

MASK_WORDS = 4


class Inputs(WorkGroups):
    """Knows the built-in variables."""

    @abstractmethod
    def local_id(self) -> Numbers:
        """A work-item's position in its work-group along each axis, i64."""

    @abstractmethod
    def hardware_group_id(self) -> Numbers:
        """The work-group's position in this part of the launch along each axis, i64."""

    def input(self, builtin: BuiltIn) -> Numbers | None:
        """The numbers of a built-in variable; None if there is none."""
        return INPUTS[builtin](self) if builtin in INPUTS else None

    def output(self) -> str:
        """The address of the launch's buffer for printf, an i64."""
        return self.block.word(Word.OUTPUT)

    def words(self, first: int) -> Numbers:
        """Three words of the launch."""
        return tuple(Number("i64", self.block.word(first + axis)) for axis in range(3))

    def local_sizes(self) -> Numbers:
        """The work-items of a work-group along each axis."""
        return tuple(self.emitter.constant("i64", size) for size in self.local_size)

    def position(self) -> Number:
        """A work-item's position in its work-group."""
        return self._linear(self.local_id(), self.local_sizes())

    def group_id(self) -> Numbers:
        """The work-group's position."""
        return self._sums(self.hardware_group_id(), self.words(Word.FIRST_GROUP))

    def global_id(self, *, with_offset: bool = True) -> Numbers:
        """A work-item's position in the launch."""
        start = tuple(self.emitter.apply("mul {t} {0}, {1}", "i64", group, size)
                      for group, size in zip(self.group_id(), self.local_sizes(), strict=True))
        found = self._sums(start, self.local_id())
        return self._sums(found, self.words(Word.OFFSET)) if with_offset else found

    def sub_group(self) -> Number:
        """The number of a work-item's sub-group."""
        return Number("i64", self.writer.let(f"udiv i64 {self.position().base}, {self.size}"))

    def present(self) -> Number:
        """The work-items of a sub-group; the last one may have fewer."""
        size = self.emitter.constant("i64", self.size)
        if self.is_whole:
            return size
        before = self.emitter.apply("mul {t} {0}, {1}", "i64", self.sub_group(), size)
        left = subtract(self.emitter, self.emitter.constant("i64", self.total), before)
        return self.emitter.intrinsic("umin", "i64", left, size)

    def _sums(self, ones: Numbers, others: Numbers) -> Numbers:
        return tuple(add(self.emitter, one, other) for one, other in zip(ones, others, strict=True))

    def _linear(self, ids: Numbers, sizes: Numbers) -> Number:
        """The position that ids along each axis make."""
        (x, y, z), (width, height, depth) = ids, sizes
        if height.base == depth.base == "1":
            return x
        multiply = "mul {t} {0}, {1}"
        rows = add(self.emitter, self.emitter.apply(multiply, "i64", z, height), y)
        return add(self.emitter, self.emitter.apply(multiply, "i64", rows, width), x)

    def linear_id(self) -> Number:
        """A work-item's position in the launch, counted along the axes from the global offset (OpenCL C 6.15.1)."""
        return self._linear(self.global_id(with_offset=False), self.words(Word.GLOBAL_SIZE))

    def lane_mask(self, *, before: bool, own: bool) -> Numbers:
        """128 bits, the lowest first: those of the work-items of the sub-group before one or behind it, and its own."""
        emitter, llvm = self.emitter, "i128"
        bit = emitter.apply("shl {t} {0}, {1}", llvm, emitter.constant(llvm, 1), self.lane_number(llvm))
        below = subtract(emitter, bit, emitter.constant(llvm, 1))
        if not before:
            until = below if own else emitter.apply("or {t} {0}, {1}", llvm, below, bit)
            below = emitter.apply("xor {t} {0}, {1}", llvm, until, emitter.constant(llvm, (1 << self.size) - 1))
        elif own:
            below = emitter.apply("or {t} {0}, {1}", llvm, below, bit)
        return self._mask_words(below)

    def own_mask(self) -> Numbers:
        """The bit of a work-item of the sub-group."""
        one = self.emitter.constant("i128", 1)
        return self._mask_words(self.emitter.apply("shl {t} {0}, {1}", "i128", one, self.lane_number("i128")))

    def _mask_words(self, mask: Number) -> Numbers:
        emitter = self.emitter
        parts = (emitter.apply("lshr {t} {0}, {1}", "i128", mask, emitter.constant("i128", 32 * place))
                 for place in range(MASK_WORDS))
        return tuple(emitter.apply("trunc {t} {0} to {r}", "i32", part) for part in parts)


def _sizes(lanes: Inputs) -> Numbers:
    return lanes.local_sizes()


def _sub_groups(lanes: Inputs) -> Numbers:
    return (lanes.emitter.constant("i64", -(-lanes.total // lanes.size)),)


def _words(first: Word) -> Callable[[Inputs], Numbers]:
    return lambda lanes: lanes.words(first)


INPUTS: dict[BuiltIn, Callable[[Inputs], Numbers]] = {
    BuiltIn.NumWorkgroups: _words(Word.GROUPS),
    BuiltIn.WorkgroupSize: _sizes,
    BuiltIn.EnqueuedWorkgroupSize: _sizes,
    BuiltIn.WorkgroupId: lambda lanes: lanes.group_id(),
    BuiltIn.LocalInvocationId: lambda lanes: lanes.local_id(),
    BuiltIn.GlobalInvocationId: lambda lanes: lanes.global_id(),
    BuiltIn.LocalInvocationIndex: lambda lanes: (lanes.position(),),
    BuiltIn.WorkDim: lambda lanes: (Number("i64", lanes.block.word(Word.DIMENSIONS)),),
    BuiltIn.GlobalSize: _words(Word.GLOBAL_SIZE),
    BuiltIn.GlobalOffset: _words(Word.OFFSET),
    BuiltIn.GlobalLinearId: lambda lanes: (lanes.linear_id(),),
    BuiltIn.SubgroupSize: lambda lanes: (lanes.present(),),
    BuiltIn.SubgroupMaxSize: lambda lanes: (lanes.emitter.constant("i64", lanes.size),),
    BuiltIn.NumSubgroups: _sub_groups,
    BuiltIn.NumEnqueuedSubgroups: _sub_groups,
    BuiltIn.SubgroupId: lambda lanes: (lanes.sub_group(),),
    BuiltIn.SubgroupLocalInvocationId: lambda lanes: (lanes.lane_number("i64"),),
    BuiltIn.SubgroupEqMask: lambda lanes: lanes.own_mask(),
    BuiltIn.SubgroupGeMask: lambda lanes: lanes.lane_mask(before=False, own=True),
    BuiltIn.SubgroupGtMask: lambda lanes: lanes.lane_mask(before=False, own=False),
    BuiltIn.SubgroupLeMask: lambda lanes: lanes.lane_mask(before=True, own=True),
    BuiltIn.SubgroupLtMask: lambda lanes: lanes.lane_mask(before=True, own=False),
}
