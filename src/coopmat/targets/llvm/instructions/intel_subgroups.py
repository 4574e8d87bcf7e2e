"""SPV_INTEL_subgroups: shuffles of two data sources, block reads and writes."""

from __future__ import annotations

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.cpu.shuffles import bounded, known_lanes, present, rearranged, taken
from coopmat.targets.llvm.access import load_number, moved, store_number
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.memory import nothing
from coopmat.targets.llvm.instructions.non_uniform import SHUFFLES
from coopmat.targets.llvm.values import Number, Value, llvm_type, zero_of


def _shuffle(name: str) -> Handler:
    """Shuffle and ShuffleXor: one data source."""
    return lambda emitter, row: SHUFFLES[name](emitter, row, tuple(row.words))


def _shuffle_relative(sign: int) -> Handler:
    """ShuffleDown (1) and ShuffleUp (-1): two data sources that lie beside each other. They are (current, next) for
    ShuffleDown, and the first lane of the first one is 0; (previous, current) for ShuffleUp, where the second one's
    is."""
    first_lane = 0 if sign > 0 else -1

    def handle(emitter: Emitter, row: Instruction) -> Value:
        one, two = (emitter.numbers(word) for word in row.words[:2])
        delta = emitter.number(row.words[2])
        known = known_lanes(emitter, delta)
        if known is not None:
            places = [lane + sign * by - first_lane * emitter.size for lane, by in enumerate(known)]
            return tuple(_from_both(emitter, a, b, places) for a, b in zip(one, two, strict=True))
        step = "add {t} {0}, {1}" if sign > 0 else "sub {t} {0}, {1}"
        index = emitter.apply(step, "i32", emitter.lane_number(), bounded(emitter, delta))
        size = emitter.constant("i32", emitter.size)
        place = index if sign > 0 else emitter.apply("add {t} {0}, {1}", "i32", index, size)
        beyond = emitter.apply("sub {t} {0}, {1}", "i32", place, size)
        is_first = emitter.apply("icmp ult {t} {0}, {1}", "i1", place, size)
        return tuple(emitter.select(is_first, taken(emitter, a, place), taken(emitter, b, beyond))
                     for a, b in zip(one, two, strict=True))

    return handle


def _from_both(emitter: Emitter, one: Number, two: Number, places: list[int]) -> Number:
    """Of each work-item the number that lies at a place of both, beside each other; zero elsewhere."""
    zero = Number(one.type, zero_of(one.type))
    one, two = (present(emitter, number, zero) for number in (one, two))
    exists = [0 <= place < 2 * emitter.size for place in places]
    found = rearranged(emitter, one, [place if here else 0 for place, here in zip(places, exists, strict=True)], two)
    if all(exists):
        return found
    return rearranged(emitter, found, [lane if here else None for lane, here in enumerate(exists)], zero)


# --------------------------------------------------------------------------------------
# Block reads and writes
# --------------------------------------------------------------------------------------


def _block(emitter: Emitter, row: Instruction, kind: Type) -> Number:
    """Where the work-items' first components lie: beside each other. The components of one are so many elements apart
    as the sub-group has work-items."""
    pointee = emitter.pointee(row.words[0])
    if pointee != kind.scalar:
        raise ValidationError("block-io-type", f"{row.name} of {kind} needs a pointer to {kind.scalar}, "
                              f"not to {pointee}", row.offset)
    pointer = emitter.number(row.words[0])
    return Number("ptr", emitter.lane_of(pointer, emitter.first_lane()), kind.scalar.size)


def _block_read(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    start, size = _block(emitter, row, kind), kind.scalar.size
    return tuple(load_number(emitter, moved(emitter, start, place * emitter.size * size), llvm_type(kind.scalar), size)
                 for place in range(kind.count))


def _block_write(emitter: Emitter, row: Instruction) -> None:
    kind = emitter.type_of(row.words[1])
    start, size = _block(emitter, row, kind), kind.scalar.size
    for place, number in enumerate(emitter.numbers(row.words[1])):
        store_number(emitter, moved(emitter, start, place * emitter.size * size), number, size)


OPERATIONS: dict[int, Handler] = {
    Op.SubgroupShuffleINTEL: _shuffle("Shuffle"),
    Op.SubgroupShuffleXorINTEL: _shuffle("ShuffleXor"),
    Op.SubgroupShuffleDownINTEL: _shuffle_relative(1),
    Op.SubgroupShuffleUpINTEL: _shuffle_relative(-1),
    Op.SubgroupBlockReadINTEL: _block_read,
    Op.SubgroupBlockWriteINTEL: _block_write,
    Op.SubgroupBlockPrefetchINTEL: nothing,
}
