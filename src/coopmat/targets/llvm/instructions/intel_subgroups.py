"""SPV_INTEL_subgroups: shuffles of two data sources, block reads and writes."""

from __future__ import annotations

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.access import load_checked, moved, store_checked
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.memory import nothing
from coopmat.targets.llvm.instructions.non_uniform import SOURCES, shuffle
from coopmat.targets.llvm.values import Number, Value, llvm_type


def _shuffle(name: str) -> Handler:
    """Shuffle and ShuffleXor: one data source."""
    evaluate = shuffle(SOURCES[name])
    return lambda emitter, row: evaluate(emitter, row, tuple(row.words))


def _shuffle_relative(*, down: bool) -> Handler:
    """ShuffleDown and ShuffleUp: two data sources that lie beside each other. They are (current, next) for ShuffleDown,
    and (previous, current) for ShuffleUp."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        one, two = (emitter.numbers(word) for word in row.words[:2])
        return emitter.execution.shuffle_two(one, two, emitter.number(row.words[2]), down=down)

    return handle


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
    [address] = emitter.execution.first(emitter.number(row.words[0]))
    return emitter.execution.beside(address, kind.scalar.size)


def _component(emitter: Emitter, start: Number, place: int, size: int) -> Number:
    return moved(emitter, start, place * emitter.sub_group_size * size)


def _block_read(emitter: Emitter, row: Instruction) -> Value:
    kind = emitter.result_type(row)
    start, size = _block(emitter, row, kind), kind.scalar.size
    return tuple(load_checked(emitter, _component(emitter, start, place, size), llvm_type(kind.scalar), size)
                 for place in range(kind.count))


def _block_write(emitter: Emitter, row: Instruction) -> None:
    kind = emitter.type_of(row.words[1])
    start, size = _block(emitter, row, kind), kind.scalar.size
    for place, number in enumerate(emitter.numbers(row.words[1])):
        store_checked(emitter, _component(emitter, start, place, size), number, size)


OPERATIONS: dict[int, Handler] = {
    Op.SubgroupShuffleINTEL: _shuffle("Shuffle"),
    Op.SubgroupShuffleXorINTEL: _shuffle("ShuffleXor"),
    Op.SubgroupShuffleDownINTEL: _shuffle_relative(down=True),
    Op.SubgroupShuffleUpINTEL: _shuffle_relative(down=False),
    Op.SubgroupBlockReadINTEL: _block_read,
    Op.SubgroupBlockWriteINTEL: _block_write,
    Op.SubgroupBlockPrefetchINTEL: nothing,
}
