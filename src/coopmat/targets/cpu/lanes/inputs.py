"""The built-in variables of a sub-group that is a vector, computed from the words of the launch."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.spirv.grammar import BuiltIn
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.masks import Masks
from coopmat.targets.llvm.arithmetic.integers import divide, remainder
from coopmat.targets.llvm.lanes import Numbers
from coopmat.targets.llvm.values import Number


def _words(first: int) -> Callable[[Masks], Numbers]:
    return lambda lanes: tuple(Number("i64", lanes.frame.field(first + axis)) for axis in range(3))


def _word(place: int) -> Callable[[Masks], Numbers]:
    return lambda lanes: (Number("i64", lanes.frame.field(place)),)


def _group_id(lanes: Masks) -> Numbers:
    return tuple(Number("i64", name) for name in ("%gx", "%gy", "%gz"))


def _linear_id(lanes: Masks) -> Number:
    """Position of each work-item in its work-group."""
    first = lanes.writer.let(f"mul i64 %sg, {lanes.size}")
    return Number("i64", first, 1, is_id=True)


def _local_id(lanes: Masks) -> Numbers:
    """The dimensions of the position; where a sub-group lies in a row of the first one, the others are uniform."""
    emitter, linear = lanes.emitter, _linear_id(lanes)
    if lanes.variant.is_row:
        return (linear, emitter.constant("i64", 0), emitter.constant("i64", 0))
    x, y = (Number("i64", lanes.frame.local_size(axis)) for axis in range(2))
    if lanes.variant.is_straight:
        first = Number("i64", linear.base)
        whole = emitter.apply("udiv {t} {0}, {1}", "i64", first, x)
        in_row = emitter.apply("urem {t} {0}, {1}", "i64", first, x)
        return (Number("i64", in_row.base, 1, is_id=True), emitter.apply("urem {t} {0}, {1}", "i64", whole, y),
                emitter.apply("udiv {t} {0}, {1}", "i64", whole, y))
    small = [emitter.apply("trunc {t} {0} to {r}", "i32", one) for one in (x, y)]
    position = emitter.apply("trunc {t} {0} to {r}", "i32", Number("i64", lanes=emitter.lanes(linear)))
    row = divide(False)(emitter, position, small[0])
    parts = (remainder(False)(emitter, position, small[0]), remainder(False)(emitter, row, small[1]),
             divide(False)(emitter, row, small[1]))
    return tuple(emitter.apply("zext {t} {0} to {r}", "i64", one) for one in parts)


def _sum(lanes: Masks, a: Number, b: Number) -> Number:
    if a.is_linear and b.is_linear:
        return Number("i64", lanes.writer.let(f"add i64 {a.base}, {b.base}"), a.stride + b.stride,
                      is_id=a.is_id or b.is_id)
    return lanes.emitter.apply("add {t} {0}, {1}", "i64", a, b)


def _global_id(lanes: Masks) -> Numbers:
    found = []
    for axis, (group, local) in enumerate(zip(_group_id(lanes), _local_id(lanes), strict=True)):
        size, offset = lanes.frame.local_size(axis), lanes.frame.field(Field.OFFSET + axis)
        start = lanes.writer.let(f"mul i64 {group.base}, {size}")
        start = lanes.writer.let(f"add i64 {start}, {offset}")
        found.append(_sum(lanes, local, Number("i64", start)))
    return tuple(found)


def _global_linear_id(lanes: Masks) -> Numbers:
    """It counts from the global offset (OpenCL C 6.15.1)."""
    emitter, frame = lanes.emitter, lanes.frame
    x, y, z = (emitter.apply("sub {t} {0}, {1}", "i64", one, Number("i64", frame.field(Field.OFFSET + axis)))
               if not one.is_linear else Number("i64", lanes.writer.let(
                   f"sub i64 {one.base}, {frame.field(Field.OFFSET + axis)}"), one.stride, is_id=one.is_id)
               for axis, one in enumerate(_global_id(lanes)))
    width, height = (Number("i64", frame.field(Field.GLOBAL_SIZE + axis)) for axis in range(2))
    rows = _sum(lanes, emitter.apply("mul {t} {0}, {1}", "i64", z, height), y)
    return (_sum(lanes, emitter.apply("mul {t} {0}, {1}", "i64", rows, width), x),)


def _sub_group_size(lanes: Masks) -> Numbers:
    """Work-items that exist; the last sub-group of a work-group may have fewer."""
    if lanes.variant.is_whole:
        return (lanes.emitter.constant("i64", lanes.size),)
    return (Number("i64", "%existing"),)


def _lane_mask(relation: Callable[[int, int], bool]) -> Callable[[Masks], Numbers]:
    """128 bits, the lowest first: those of the lanes that stand in a relation to a lane's own number."""

    def read(lanes: Masks) -> Numbers:
        words = []
        for word in range(4):
            values = []
            for lane in range(lanes.size):
                bits = sum(1 << bit - 32 * word for bit in range(32 * word, 32 * word + 32)
                           if bit < lanes.size and relation(bit, lane))
                values.append(f"i32 {bits - (1 << 32) if bits >> 31 else bits}")
            words.append(lanes.emitter.varying("i32", f"<{', '.join(values)}>"))
        return tuple(words)

    return read


INPUTS: dict[BuiltIn, Callable[[Masks], Numbers]] = {
    BuiltIn.NumWorkgroups: _words(Field.GROUPS),
    BuiltIn.WorkgroupSize: _words(Field.LOCAL_SIZE),
    BuiltIn.EnqueuedWorkgroupSize: _words(Field.LOCAL_SIZE),
    BuiltIn.WorkgroupId: _group_id,
    BuiltIn.LocalInvocationId: _local_id,
    BuiltIn.GlobalInvocationId: _global_id,
    BuiltIn.LocalInvocationIndex: lambda lanes: (_linear_id(lanes),),
    BuiltIn.WorkDim: _word(Field.DIMENSIONS),
    BuiltIn.GlobalSize: _words(Field.GLOBAL_SIZE),
    BuiltIn.GlobalOffset: _words(Field.OFFSET),
    BuiltIn.GlobalLinearId: _global_linear_id,
    BuiltIn.SubgroupSize: _sub_group_size,
    BuiltIn.SubgroupMaxSize: lambda lanes: (lanes.emitter.constant("i64", lanes.size),),
    BuiltIn.NumSubgroups: _word(Field.SUB_GROUPS),
    BuiltIn.NumEnqueuedSubgroups: _word(Field.SUB_GROUPS),
    BuiltIn.SubgroupId: lambda lanes: (Number("i64", "%sg"),),
    BuiltIn.SubgroupLocalInvocationId: lambda lanes: (lanes.emitter.lane_number("i64"),),
    BuiltIn.SubgroupEqMask: _lane_mask(lambda bit, lane: bit == lane),
    BuiltIn.SubgroupGeMask: _lane_mask(lambda bit, lane: bit >= lane),
    BuiltIn.SubgroupGtMask: _lane_mask(lambda bit, lane: bit > lane),
    BuiltIn.SubgroupLeMask: _lane_mask(lambda bit, lane: bit <= lane),
    BuiltIn.SubgroupLtMask: _lane_mask(lambda bit, lane: bit < lane),
}
