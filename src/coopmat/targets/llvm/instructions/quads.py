"""Quads, four neighbouring work-items of a sub-group; and votes and ballots in the forms without a scope operand."""

from __future__ import annotations

from coopmat.diagnostics import ValidationError
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import QUAD, QUAD_SWAPS
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions import non_uniform
from coopmat.targets.llvm.instructions.non_uniform import SOURCES, Evaluate, scoped, shuffle
from coopmat.targets.llvm.lanes import Source
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.reductions import REDUCTIONS
from coopmat.targets.llvm.values import Number, Value


def _in_quad(numbers: NumberWriter, lane: Number, index: Number) -> Number:
    start = numbers.apply("and {t} {0}, {1}", "i32", lane, numbers.constant("i32", -QUAD))
    return numbers.apply("add {t} {0}, {1}", "i32", start, index)


_OF_QUAD = Source(lambda lane, index: lane // QUAD * QUAD + index, _in_quad)


def _swap(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
    direction = emitter.constant_of(words[1])
    if direction is None or not 0 <= direction < len(QUAD_SWAPS):
        raise ValidationError("quad-swap-direction", f"the direction of {row.name} must be a constant from 0 to "
                              f"{len(QUAD_SWAPS) - 1}, found {direction}", row.offset)
    distance = emitter.constant("i32", QUAD_SWAPS[direction])
    return emitter.execution.shuffle(emitter.numbers(words[0]), distance, SOURCES["ShuffleXor"])


def _vote(name: str) -> Evaluate:
    """A vote of each quad."""

    def evaluate(emitter: Emitter, row: Instruction, words: tuple[int, ...]) -> Value:
        folding = REDUCTIONS[name].of(emitter, emitter.type_of(words[0]), row.name)
        return (emitter.execution.clustered(folding, emitter.number(words[0]), QUAD),)

    return evaluate


def _without_scope(evaluate: Evaluate) -> Handler:
    return lambda emitter, row: evaluate(emitter, row, tuple(row.words))


_PLAIN: dict[int, Evaluate] = {
    Op.GroupNonUniformQuadAllKHR: _vote("LogicalAnd"),
    Op.GroupNonUniformQuadAnyKHR: _vote("LogicalOr"),
    Op.SubgroupAllKHR: non_uniform.all_of,
    Op.SubgroupAnyKHR: non_uniform.any_of,
    Op.SubgroupAllEqualKHR: non_uniform.all_equal,
    Op.SubgroupBallotKHR: non_uniform.ballot,
    Op.SubgroupFirstInvocationKHR: non_uniform.broadcast_first,
    Op.SubgroupReadInvocationKHR: shuffle(SOURCES["Shuffle"]),
}
OPERATIONS: dict[int, Handler] = {
    Op.GroupNonUniformQuadBroadcast: scoped(shuffle(_OF_QUAD)),
    Op.GroupNonUniformQuadSwap: scoped(_swap),
    **{op: _without_scope(evaluate) for op, evaluate in _PLAIN.items()},
}
