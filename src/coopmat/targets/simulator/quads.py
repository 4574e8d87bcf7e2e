"""Quads, four neighbouring work-items of a sub-group; and votes and ballots in the forms without a scope operand.

The latter are those of SPV_KHR_subgroup_vote and SPV_KHR_shader_ballot, from before SPIR-V had group scopes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import UndefinedBehavior, ValidationError
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.group_scopes import QUAD, QUAD_SWAPS, known_scope
from coopmat.targets.simulator import non_uniform
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.non_uniform import Evaluate, lane_numbers, shuffled
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, unsigned


def _broadcast(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
    value, index, result, site = (*map(compiler.slot, row.words[1:3]), compiler.result(row), compiler.site(row))

    def execute(frame: Frame) -> None:
        chosen = unsigned(frame.slots[index]).astype(np.int64)
        place = first_active(frame, chosen >= QUAD)
        if place is not None and frame.batch.options.undefined:
            raise UndefinedBehavior(f"the index of {site.instruction} must be below {QUAD}; it is "
                                    f"{int(np.broadcast_to(chosen, frame.mask.expanded.shape)[place])}",
                                    site.where(frame, *place))
        frame.slots[result] = shuffled(frame, frame.slots[value], lane_numbers(frame) // QUAD * QUAD + chosen)

    return execute


def _swap(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
    value, direction, result = compiler.slot(row.words[1]), compiler.constant(row.words[2]), compiler.result(row)
    if direction is None or not 0 <= direction < len(QUAD_SWAPS):
        raise ValidationError("quad-swap-direction", f"the direction of {row.name} must be a constant from 0 to "
                              f"{len(QUAD_SWAPS) - 1}, found {direction}", row.offset)
    change = QUAD_SWAPS[direction]

    def execute(frame: Frame) -> None:
        frame.slots[result] = shuffled(frame, frame.slots[value], lane_numbers(frame) ^ change)

    return execute


def _quads(frame: Frame, value: Array) -> Array:
    """A value per work-item as ``[..., quads, 4]``."""
    full = np.broadcast_to(value, frame.mask.expanded.shape)
    padded = np.pad(full, ((0, 0), (0, -full.shape[1] % QUAD)))
    return padded.reshape(len(full), -1, QUAD)


def _any_in_quad(frame: Frame, predicate: Array) -> Array:
    holds = (_quads(frame, predicate) & _quads(frame, frame.mask.expanded)).any(axis=-1)
    return np.repeat(holds, QUAD, axis=1)[:, :frame.batch.lanes]


def _all_in_quad(frame: Frame, predicate: Array) -> Array:
    return ~_any_in_quad(frame, ~predicate)


def _without_scope(evaluate: Evaluate) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        slots, result = [compiler.slot(word) for word in row.words], compiler.result(row)

        def execute(frame: Frame) -> None:
            frame.slots[result] = evaluate(frame, *[frame.slots[slot] for slot in slots])

        return execute

    return handle


def _read_invocation(frame: Frame, value: Array, index: Array) -> Array:
    return shuffled(frame, value, unsigned(index).astype(np.int64))


_PLAIN: dict[int, Callable[..., Array]] = {
    Op.GroupNonUniformQuadAllKHR: _all_in_quad,
    Op.GroupNonUniformQuadAnyKHR: _any_in_quad,
    Op.SubgroupAllKHR: non_uniform.all_of,
    Op.SubgroupAnyKHR: non_uniform.any_of,
    Op.SubgroupAllEqualKHR: non_uniform.all_equal,
    Op.SubgroupBallotKHR: non_uniform.ballot,
    Op.SubgroupFirstInvocationKHR: non_uniform.broadcast_first,
    Op.SubgroupReadInvocationKHR: _read_invocation,
}
OPERATIONS: dict[int, Handler] = {
    Op.GroupNonUniformQuadBroadcast: _broadcast,
    Op.GroupNonUniformQuadSwap: _swap,
    **{op: _without_scope(evaluate) for op, evaluate in _PLAIN.items()},
}
