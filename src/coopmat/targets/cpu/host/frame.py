"""What a kernel's code gets from the host: the fields of a launch, and the built-in variables computed from them."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import IntType, Type
from coopmat.spirv.grammar import BuiltIn, Decoration
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.instructions.integers import resized
from coopmat.targets.llvm.places import Place
from coopmat.targets.llvm.values import Number, llvm_type

TILES = 512  # that a thread keeps (matrix/reuse.py)
TAG_BYTES = 32  # of each: address, stride, launch and operation; zero at the start
TILE_BYTES = 1024
REUSE_BYTES = TILES * (TAG_BYTES + TILE_BYTES)
"""What lies before a thread's local memory: first all tags, then all tiles."""


class Field(IntEnum):
    """The 64-bit words of a launch, by their positions."""

    GLOBAL_SIZE = 0  # three words each
    LOCAL_SIZE = 3
    OFFSET = 6
    GROUPS = 9
    DIMENSIONS = 12
    TOTAL = 13  # work-groups
    NEXT = 14  # the next work-group that nobody has taken
    CHUNK = 15  # work-groups that are taken at once
    SUB_GROUPS = 16  # of each work-group
    LOCAL_BYTES = 17  # of each work-group
    STOP = 18  # not 0: no more work-groups shall begin
    STACK_BYTES = 19  # of each sub-group, where sub-groups wait for each other
    BUFFERS = 20  # the table of buffers, where accesses are checked (bounds.py)
    BUFFER_COUNT = 21
    REUSE = 22  # the number of a launch that keeps converted tiles (matrix/reuse.py); 0: it keeps none
    OUTPUT = 32  # the buffer of printf
    ERROR = 40  # what went wrong first (faults.Fault)
    COUNT = 56


def field(emitter: Emitter, place: int) -> str:
    """A word of the launch as an operand; read once, at the kernel's start."""
    known: dict[int, str] = emitter.extra.setdefault("fields", {})
    if place not in known:
        address, value = emitter.writer.fresh("at"), emitter.writer.fresh("field")
        emitter.writer.entry += [f"  {address} = getelementptr i64, ptr %launch, i64 {place}",
                                 f"  {value} = load i64, ptr {address}, align 8, !invariant.load !0"]
        known[place] = value
    return known[place]


# --------------------------------------------------------------------------------------
# Built-in variables
# --------------------------------------------------------------------------------------

Numbers = tuple[Number, ...]


def _words(first: int) -> Callable[[Emitter], Numbers]:
    return lambda emitter: tuple(Number("i64", field(emitter, first + axis)) for axis in range(3))


def _word(place: int) -> Callable[[Emitter], Numbers]:
    return lambda emitter: (Number("i64", field(emitter, place)),)


def _group_id(emitter: Emitter) -> Numbers:
    return tuple(Number("i64", name) for name in ("%gx", "%gy", "%gz"))


def linear_id(emitter: Emitter) -> Number:
    """Position of each work-item in its work-group."""
    first = emitter.writer.let(f"mul i64 %sg, {emitter.size}")
    return Number("i64", first, 1, is_id=True)


def _local_id(emitter: Emitter) -> Numbers:
    """The dimensions of the position; where a sub-group lies in a row of the first one, the others are uniform."""
    linear = linear_id(emitter)
    x, y = (Number("i64", field(emitter, Field.LOCAL_SIZE + axis)) for axis in range(2))
    if emitter.variant.is_straight:
        first = Number("i64", linear.base)
        whole = emitter.apply("udiv {t} {0}, {1}", "i64", first, x)
        in_row = emitter.apply("urem {t} {0}, {1}", "i64", first, x)
        return (Number("i64", in_row.base, 1, is_id=True), emitter.apply("urem {t} {0}, {1}", "i64", whole, y),
                emitter.apply("udiv {t} {0}, {1}", "i64", whole, y))
    small = [emitter.apply("trunc {t} {0} to {r}", "i32", one) for one in (x, y)]
    position = emitter.apply("trunc {t} {0} to {r}", "i32", Number("i64", lanes=emitter.lanes(linear)))
    from coopmat.targets.llvm.instructions.integers import divide, remainder

    row = divide(False)(emitter, position, small[0])
    parts = (remainder(False)(emitter, position, small[0]), remainder(False)(emitter, row, small[1]),
             divide(False)(emitter, row, small[1]))
    return tuple(emitter.apply("zext {t} {0} to {r}", "i64", one) for one in parts)


def _sum(emitter: Emitter, a: Number, b: Number) -> Number:
    if a.is_linear and b.is_linear:
        return Number("i64", emitter.writer.let(f"add i64 {a.base}, {b.base}"), a.stride + b.stride,
                      is_id=a.is_id or b.is_id)
    return emitter.apply("add {t} {0}, {1}", "i64", a, b)


def _global_id(emitter: Emitter) -> Numbers:
    found = []
    for axis, (group, local) in enumerate(zip(_group_id(emitter), _local_id(emitter), strict=True)):
        size, offset = field(emitter, Field.LOCAL_SIZE + axis), field(emitter, Field.OFFSET + axis)
        start = emitter.writer.let(f"mul i64 {group.base}, {size}")
        start = emitter.writer.let(f"add i64 {start}, {offset}")
        found.append(_sum(emitter, local, Number("i64", start)))
    return tuple(found)


def _global_linear_id(emitter: Emitter) -> Numbers:
    """It counts from the global offset (OpenCL C 6.15.1)."""
    x, y, z = (emitter.apply("sub {t} {0}, {1}", "i64", one, Number("i64", field(emitter, Field.OFFSET + axis)))
               if not one.is_linear else Number("i64", emitter.writer.let(
                   f"sub i64 {one.base}, {field(emitter, Field.OFFSET + axis)}"), one.stride, is_id=one.is_id)
               for axis, one in enumerate(_global_id(emitter)))
    width, height = (Number("i64", field(emitter, Field.GLOBAL_SIZE + axis)) for axis in range(2))
    rows = _sum(emitter, emitter.apply("mul {t} {0}, {1}", "i64", z, height), y)
    return (_sum(emitter, emitter.apply("mul {t} {0}, {1}", "i64", rows, width), x),)


def _sub_group_size(emitter: Emitter) -> Numbers:
    """Work-items that exist; the last sub-group of a work-group may have fewer."""
    if emitter.variant.is_whole:
        return (emitter.constant("i64", emitter.size),)
    return (Number("i64", "%existing"),)


def _sub_group_id(emitter: Emitter) -> Numbers:
    return (Number("i64", "%sg"),)


def _lane(emitter: Emitter) -> Numbers:
    return (emitter.lane_number("i64"),)


def _lane_mask(relation: Callable[[int, int], bool]) -> Callable[[Emitter], Numbers]:
    """128 bits, the lowest first: those of the lanes that stand in a relation to a lane's own number."""

    def read(emitter: Emitter) -> Numbers:
        words = []
        for word in range(4):
            values = []
            for lane in range(emitter.size):
                bits = sum(1 << bit - 32 * word for bit in range(32 * word, 32 * word + 32)
                           if bit < emitter.size and relation(bit, lane))
                values.append(f"i32 {bits - (1 << 32) if bits >> 31 else bits}")
            words.append(emitter.varying("i32", f"<{', '.join(values)}>"))
        return tuple(words)

    return read


INPUTS: dict[BuiltIn, Callable[[Emitter], Numbers]] = {
    BuiltIn.NumWorkgroups: _words(Field.GROUPS),
    BuiltIn.WorkgroupSize: _words(Field.LOCAL_SIZE),
    BuiltIn.EnqueuedWorkgroupSize: _words(Field.LOCAL_SIZE),
    BuiltIn.WorkgroupId: _group_id,
    BuiltIn.LocalInvocationId: _local_id,
    BuiltIn.GlobalInvocationId: _global_id,
    BuiltIn.LocalInvocationIndex: lambda emitter: (linear_id(emitter),),
    BuiltIn.WorkDim: _word(Field.DIMENSIONS),
    BuiltIn.GlobalSize: _words(Field.GLOBAL_SIZE),
    BuiltIn.GlobalOffset: _words(Field.OFFSET),
    BuiltIn.GlobalLinearId: _global_linear_id,
    BuiltIn.SubgroupSize: _sub_group_size,
    BuiltIn.SubgroupMaxSize: lambda emitter: (emitter.constant("i64", emitter.size),),
    BuiltIn.NumSubgroups: _word(Field.SUB_GROUPS),
    BuiltIn.NumEnqueuedSubgroups: _word(Field.SUB_GROUPS),
    BuiltIn.SubgroupId: _sub_group_id,
    BuiltIn.SubgroupLocalInvocationId: _lane,
    BuiltIn.SubgroupEqMask: _lane_mask(lambda bit, lane: bit == lane),
    BuiltIn.SubgroupGeMask: _lane_mask(lambda bit, lane: bit >= lane),
    BuiltIn.SubgroupGtMask: _lane_mask(lambda bit, lane: bit > lane),
    BuiltIn.SubgroupLeMask: _lane_mask(lambda bit, lane: bit <= lane),
    BuiltIn.SubgroupLtMask: _lane_mask(lambda bit, lane: bit < lane),
}


def input_place(emitter: Emitter, row: Instruction) -> Place:
    """The place of a built-in variable; its value is computed at the kernel's start."""
    assert row.result_id is not None
    kind = emitter.pointee(row.result_id)
    for decoration, words in emitter.module.decorations(row.result_id):
        if decoration == Decoration.BuiltIn:
            builtin = _known(words[0], kind)
            lines, emitter.writer.lines = emitter.writer.lines, emitter.writer.entry
            numbers = INPUTS[builtin](emitter)
            for axis, number in enumerate(numbers[:kind.count]):
                sized = resized(emitter, number, llvm_type(kind.scalar), signed=False)
                emitter.store_slot((("input", row.result_id), axis), sized, None)
            emitter.writer.lines = lines
            return Place(("input", row.result_id), kind, kind)
    raise Error(f"the input variable '{emitter.module.names.get(row.result_id)}' is no built-in")


def _known(number: int, kind: Type) -> BuiltIn:
    """The built-in, if there is one with this type."""
    builtin = BuiltIn(number) if number in BuiltIn._value2member_map_ else None
    if builtin not in INPUTS:
        raise Error(f"the built-in variable {builtin.name if builtin else number} is not supported")
    assert builtin is not None
    if kind.count not in (1, 3, 4) or not isinstance(kind.scalar, IntType):
        raise Error(f"the built-in variable {builtin.name} cannot have the type {kind}")
    return builtin
