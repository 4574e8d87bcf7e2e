"""A sub-group as a SIMD vector: the CPU's execution model."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.grammar import BuiltIn
from coopmat.targets.cpu import library
from coopmat.targets.cpu.byte_products import ByteProducts, Signs
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.blocks import Blocks
from coopmat.targets.cpu.lanes.groups import Groups
from coopmat.targets.cpu.lanes.inputs import INPUTS
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import Lanes, Numbers
from coopmat.targets.llvm.values import Number


class VectorLanes(Blocks, Groups):
    """The work-items of a sub-group side by side; see :class:`~coopmat.targets.llvm.lanes.Lanes`."""

    def input(self, builtin: BuiltIn) -> Numbers | None:
        """The numbers of a built-in variable; None if there is none."""
        return INPUTS[builtin](self) if builtin in INPUTS else None

    def output(self) -> str:
        """The address of the launch's buffer for printf, an i64."""
        return self.frame.field(Field.OUTPUT)

    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        """A function of the C library."""
        return library.call(self.emitter, name, numbers)

    def dot_bytes(self, a: Numbers, b: Numbers, signs: Signs) -> Number | None:
        """The dot product of words of four bytes; None without VNNI, or of numbers that all have alike."""
        emitter, count = self.emitter, self.size
        products = ByteProducts(emitter, self.variant.features)
        if products.widest(count) is None or all(number.is_single for number in (*a, *b)):
            return None
        total = over = "zeroinitializer"
        for x, y in zip(a, b, strict=True):
            left, right = emitter.lanes(products.turned(x, signs)), emitter.lanes(y)
            total = products.accumulated(total, left, right, count, signs)
            over = products.excess(over, right, count, signs)
        if over != "zeroinitializer":
            total = self.writer.let(f"sub <{count} x i32> {total}, {over}")
        return emitter.varying("i32", total)


def lanes_of(emitter: Emitter) -> VectorLanes:
    """The lanes of an emitter of this machine."""
    lanes: Lanes = emitter.execution
    assert isinstance(lanes, VectorLanes)
    return lanes
