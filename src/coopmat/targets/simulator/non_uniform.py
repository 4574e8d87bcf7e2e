"""OpGroupNonUniform*: the operations of those work-items of a sub-group that are there together.

A value that a shuffle reads from a work-item that is not there is undefined. Programs read such values and drop them,
so that alone is no error: it is zero, and ``frame.absent`` says which lanes have it (see ``definedness``). A broadcast
from there is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, UndefinedBehavior
from coopmat.spirv.grammar import GroupOperation, Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.group_scopes import known_cluster, known_scan, known_scope
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.group_operations import all_hold, any_holds, chosen_member
from coopmat.targets.simulator.lanes import REDUCTIONS, GroupRows, Reduction, take_lanes
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, unsigned

BALLOT_BITS = 128
Evaluate = Callable[..., Array]  # (frame, values of the operands...) -> result


def _non_uniform(evaluate: Evaluate) -> Handler:
    """An instruction whose operands after the scope are all values."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
        slots, result = [compiler.slot(word) for word in row.words[1:]], compiler.result(row)

        def execute(frame: Frame) -> None:
            values = frame.slots
            values[result] = evaluate(frame, *[values[slot] for slot in slots])

        return execute

    return handle


def lane_numbers(frame: Frame) -> Array:
    """Each lane's own number, ``[1, L]``."""
    return np.arange(frame.batch.lanes)[None, :]


def _first(frame: Frame) -> Array:
    """The first active lane of each sub-group, ``[S, 1]``; 0 where none is."""
    return np.argmax(frame.mask.expanded, axis=1)[:, None]


# --------------------------------------------------------------------------------------
# Votes and broadcasts
# --------------------------------------------------------------------------------------


def _elect(frame: Frame) -> Array:
    return lane_numbers(frame) == _first(frame)


def all_of(frame: Frame, predicate: Array) -> Array:
    """OpGroupNonUniformAll."""
    return all_hold(predicate, frame.mask.expanded)


def any_of(frame: Frame, predicate: Array) -> Array:
    """OpGroupNonUniformAny."""
    return any_holds(predicate, frame.mask.expanded)


def all_equal(frame: Frame, value: Array) -> Array:
    """OpGroupNonUniformAllEqual."""
    equal = value == broadcast_first(frame, value)
    if equal.ndim == 3:
        equal = equal.all(axis=-1)
    return all_hold(equal, frame.mask.expanded)


def broadcast_first(frame: Frame, value: Array) -> Array:
    """OpGroupNonUniformBroadcastFirst."""
    return take_lanes(value, _first(frame), frame.mask.expanded.shape)[:, :1]


def _broadcast(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
    value, lane = compiler.slot(row.words[1]), compiler.slot(row.words[2])
    site, result = compiler.site(row), compiler.result(row)

    def execute(frame: Frame) -> None:
        slots = frame.slots
        source = chosen_member(GroupRows.of(frame, Scope.Subgroup), unsigned(slots[lane]).astype(np.int64), site)
        slots[result] = take_lanes(slots[value], source[:, None], frame.mask.expanded.shape)[:, :1]

    return execute


# --------------------------------------------------------------------------------------
# Ballots: four 32-bit words, bit i for lane i
# --------------------------------------------------------------------------------------


def ballot(frame: Frame, predicate: Array) -> Array:
    """OpGroupNonUniformBallot."""
    bits = np.broadcast_to(predicate, frame.mask.expanded.shape) & frame.mask.expanded
    padded = np.pad(bits, ((0, 0), (0, BALLOT_BITS - bits.shape[1])))
    words = np.packbits(padded, axis=1, bitorder="little").view("<i4").astype(np.int32)
    return words[:, None, :]


def _bits_of(ballot: Array) -> Array:
    """The bits of ballots ``[S, L, 4]``: ``[S, L, 128]``."""
    data = np.ascontiguousarray(ballot.astype("<i4")).view(np.uint8)
    return np.unpackbits(data, axis=-1, bitorder="little").astype(np.bool_)


def _inverse_ballot(frame: Frame, ballot: Array) -> Array:
    return _bit_extract(frame, ballot, lane_numbers(frame))


def _bit_extract(frame: Frame, ballot: Array, index: Array) -> Array:
    shape = np.broadcast_shapes(ballot.shape[:2], index.shape)
    bits = np.broadcast_to(_bits_of(ballot), (*shape, BALLOT_BITS))
    place = np.broadcast_to(index.astype(np.int64), shape)
    inside = (place >= 0) & (place < frame.batch.lanes)
    return np.take_along_axis(bits, np.where(inside, place, 0)[..., None], axis=-1)[..., 0] & inside


def _bit_count(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
    operation, ballot = known_scan(row.words[1], row.name), compiler.slot(row.words[2])
    result, dtype = compiler.result(row), compiler.result_type(row).dtype

    def execute(frame: Frame) -> None:
        bits = _bits_of(frame.slots[ballot])[..., :frame.batch.lanes]
        if operation != GroupOperation.Reduce:
            own = lane_numbers(frame)[..., None]
            other = np.arange(frame.batch.lanes)
            bits = bits & (other <= own if operation == GroupOperation.InclusiveScan else other < own)
        frame.slots[result] = bits.sum(axis=-1).astype(dtype)

    return execute


def _find(last: bool) -> Handler:
    """FindLSB and FindMSB: -1 if no bit is set."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step | None:
        dtype = compiler.result_type(row).dtype

        def evaluate(frame: Frame, ballot: Array) -> Array:
            bits = _bits_of(ballot)[..., :frame.batch.lanes]
            found = frame.batch.lanes - 1 - np.argmax(bits[..., ::-1], axis=-1) if last else np.argmax(bits, axis=-1)
            return np.where(bits.any(axis=-1), found, -1).astype(dtype)

        return _non_uniform(evaluate)(compiler, row)

    return handle


# --------------------------------------------------------------------------------------
# Shuffles
# --------------------------------------------------------------------------------------


def shuffled(frame: Frame, value: Array, source: Array) -> Array:
    """The value of lane ``source`` for each lane; zero where that lane is not active."""
    shape = frame.mask.expanded.shape
    lane = np.broadcast_to(source, shape)
    safe = np.clip(lane, 0, shape[1] - 1)
    there = (lane == safe) & np.take_along_axis(frame.mask.expanded, safe, axis=1)
    found = take_lanes(value, safe, shape)
    if there.all():
        return found
    frame.absent = (~there, lane)
    return np.where(there.reshape(*shape, *[1] * (value.ndim - 2)), found, np.zeros((), found.dtype))


def _shuffle(source_of: Callable[[Array, Array], Array]) -> Handler:
    """A shuffle from the lane that ``source_of`` gives for the own lane and the (unsigned) operand."""

    def evaluate(frame: Frame, value: Array, operand: Array) -> Array:
        return shuffled(frame, value, source_of(lane_numbers(frame), unsigned(operand).astype(np.int64)))

    return _non_uniform(evaluate)


def _check_cluster(frame: Frame, size: int, where: Any) -> None:
    if size > frame.batch.lanes:
        raise UndefinedBehavior(f"{where.instruction} has clusters of {size}, more than the {frame.batch.lanes} "
                                "work-items of a sub-group", where.where(frame, *frame.mask.first))


def _rotate(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
    value, delta, result = compiler.slot(row.words[1]), compiler.slot(row.words[2]), compiler.result(row)
    clustered = known_cluster(compiler.constant(row.words[3]), row.name) if len(row.words) > 3 else None
    site = compiler.site(row)

    def execute(frame: Frame) -> None:
        size = clustered or frame.batch.lanes
        _check_cluster(frame, size, site)
        lane, slots = lane_numbers(frame), frame.slots
        source = (lane + slots[delta].astype(np.int64)) % size + lane // size * size
        slots[result] = shuffled(frame, slots[value], source)

    return execute


# --------------------------------------------------------------------------------------
# Arithmetic
# --------------------------------------------------------------------------------------


def _arithmetic(reduction: Reduction) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        known_scope(compiler.constant(row.words[0]), row.name, Scope.Subgroup)
        operation, value = row.words[1], compiler.slot(row.words[2])
        result, site = compiler.result(row), compiler.site(row)
        if operation == GroupOperation.ClusteredReduce:
            if len(row.words) < 4:
                raise Error(f"{row.name} with ClusteredReduce needs a cluster size")
            size = known_cluster(compiler.constant(row.words[3]), row.name)

            def execute_clustered(frame: Frame) -> None:
                _check_cluster(frame, size, site)
                rows = GroupRows.of(frame, Scope.Subgroup)
                frame.slots[result] = reduction.apply_clustered(rows.arrange(frame.slots[value]), rows.active, size)

            return execute_clustered
        known_scan(operation, row.name)

        def execute(frame: Frame) -> None:
            rows = GroupRows.of(frame, Scope.Subgroup)
            frame.slots[result] = reduction.apply(operation, rows.arrange(frame.slots[value]), rows.active)

        return execute

    return handle


OPERATIONS: dict[int, Handler] = {
    Op.GroupNonUniformElect: _non_uniform(_elect),
    Op.GroupNonUniformAll: _non_uniform(all_of),
    Op.GroupNonUniformAny: _non_uniform(any_of),
    Op.GroupNonUniformAllEqual: _non_uniform(all_equal),
    Op.GroupNonUniformBroadcast: _broadcast,
    Op.GroupNonUniformBroadcastFirst: _non_uniform(broadcast_first),
    Op.GroupNonUniformBallot: _non_uniform(ballot),
    Op.GroupNonUniformInverseBallot: _non_uniform(_inverse_ballot),
    Op.GroupNonUniformBallotBitExtract: _non_uniform(_bit_extract),
    Op.GroupNonUniformBallotBitCount: _bit_count,
    Op.GroupNonUniformBallotFindLSB: _find(last=False),
    Op.GroupNonUniformBallotFindMSB: _find(last=True),
    Op.GroupNonUniformShuffle: _shuffle(lambda lane, chosen: chosen),
    Op.GroupNonUniformShuffleXor: _shuffle(lambda lane, mask: lane ^ mask),
    Op.GroupNonUniformShuffleUp: _shuffle(lambda lane, delta: lane - delta),
    Op.GroupNonUniformShuffleDown: _shuffle(lambda lane, delta: lane + delta),
    Op.GroupNonUniformRotateKHR: _rotate,
    Op.GroupNonUniformIAdd: _arithmetic(REDUCTIONS["IAdd"]),
    Op.GroupNonUniformFAdd: _arithmetic(REDUCTIONS["FAdd"]),
    Op.GroupNonUniformIMul: _arithmetic(REDUCTIONS["IMul"]),
    Op.GroupNonUniformFMul: _arithmetic(REDUCTIONS["FMul"]),
    Op.GroupNonUniformSMin: _arithmetic(REDUCTIONS["SMin"]),
    Op.GroupNonUniformUMin: _arithmetic(REDUCTIONS["UMin"]),
    Op.GroupNonUniformFMin: _arithmetic(REDUCTIONS["FMin"]),
    Op.GroupNonUniformSMax: _arithmetic(REDUCTIONS["SMax"]),
    Op.GroupNonUniformUMax: _arithmetic(REDUCTIONS["UMax"]),
    Op.GroupNonUniformFMax: _arithmetic(REDUCTIONS["FMax"]),
    Op.GroupNonUniformBitwiseAnd: _arithmetic(REDUCTIONS["BitwiseAnd"]),
    Op.GroupNonUniformBitwiseOr: _arithmetic(REDUCTIONS["BitwiseOr"]),
    Op.GroupNonUniformBitwiseXor: _arithmetic(REDUCTIONS["BitwiseXor"]),
    Op.GroupNonUniformLogicalAnd: _arithmetic(REDUCTIONS["LogicalAnd"]),
    Op.GroupNonUniformLogicalOr: _arithmetic(REDUCTIONS["LogicalOr"]),
    Op.GroupNonUniformLogicalXor: _arithmetic(REDUCTIONS["LogicalXor"]),
}
