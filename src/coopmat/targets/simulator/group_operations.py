"""OpGroup*: votes, broadcasts, reductions and scans of a whole sub-group or work-group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.group_scopes import known_scan, known_scope
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import require_sub_groups, require_work_groups
from coopmat.targets.simulator.lanes import REDUCTIONS, GroupRows, Reduction
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array

REQUIREMENTS: dict[Scope, Callable[[Frame, Site], None]] = {
    Scope.Workgroup: require_work_groups, Scope.Subgroup: require_sub_groups}


def _scope(compiler: FunctionCompiler, row: Instruction) -> Scope:
    return known_scope(compiler.constant(row.words[0]), row.name, *REQUIREMENTS)


def _vote(holds: Callable[[Array, Array], Array]) -> Handler:
    """OpGroupAll and OpGroupAny; ``holds`` takes predicates and active members, ``[groups, members]``."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        scope, site = _scope(compiler, row), compiler.site(row)
        predicate, result = compiler.slot(row.words[1]), compiler.result(row)

        def execute(frame: Frame) -> None:
            REQUIREMENTS[scope](frame, site)
            rows = GroupRows.of(frame, scope)
            frame.slots[result] = rows.restore(holds(rows.arrange(frame.slots[predicate]), rows.active))

        return execute

    return handle


def all_hold(predicate: Array, active: Array) -> Array:
    """Whether it holds for all active members: ``[groups, 1]``."""
    return np.asarray((predicate | ~active).all(axis=1, keepdims=True))


def any_holds(predicate: Array, active: Array) -> Array:
    """Whether it holds for an active member: ``[groups, 1]``."""
    return np.asarray((predicate & active).any(axis=1, keepdims=True))


def _arithmetic(reduction: Reduction) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        scope, site, operation = _scope(compiler, row), compiler.site(row), known_scan(row.words[1], row.name)
        value, result = compiler.slot(row.words[2]), compiler.result(row)

        def execute(frame: Frame) -> None:
            REQUIREMENTS[scope](frame, site)
            rows = GroupRows.of(frame, scope)
            frame.slots[result] = rows.restore(
                reduction.apply(operation, rows.arrange(frame.slots[value]), rows.active))

        return execute

    return handle


def _broadcast(compiler: FunctionCompiler, row: Instruction) -> Step:
    scope, site = _scope(compiler, row), compiler.site(row)
    value, local_id, result = compiler.slot(row.words[1]), compiler.slot(row.words[2]), compiler.result(row)

    def execute(frame: Frame) -> None:
        REQUIREMENTS[scope](frame, site)
        rows = GroupRows.of(frame, scope)
        member = chosen_member(rows, _linear(frame, frame.slots[local_id], scope, site), site)
        values = rows.arrange(frame.slots[value])
        index = member.reshape(-1, *[1] * (values.ndim - 1))
        frame.slots[result] = rows.restore(np.take_along_axis(values, index, axis=1))

    return execute


def _linear(frame: Frame, local_id: Array, scope: Scope, site: Site) -> Array:
    """A local id as the position in the group; -1 where it is outside of the work-group."""
    index = local_id.astype(np.int64)
    if scope == Scope.Subgroup:
        return index
    parts = index if index.ndim == 3 else index[..., None]
    sizes = np.array(frame.batch.geometry.local_size[:parts.shape[-1]])
    inside = ((parts >= 0) & (parts < sizes)).all(axis=-1)
    steps = np.cumprod(np.concatenate([[1], sizes[:-1]]))
    return np.where(inside, (parts * steps).sum(axis=-1), -1)


def chosen_member(rows: GroupRows, position: Array, site: Site) -> Array:
    """The one member that all active members of each group choose, ``[groups]``.

    UndefinedBehavior if they choose different ones, or one that does not take part.
    """
    active, choices = rows.active, rows.arrange(position)
    first = np.argmax(active, axis=1)
    groups = np.arange(len(active))
    member = choices[groups, first]
    differs = active & (choices != member[:, None])
    if differs.any() and rows.frame.batch.options.undefined:
        group, other = map(int, np.argwhere(differs)[0])
        raise UndefinedBehavior(
            f"the work-item that {site.in_words} broadcasts from must be the same for the whole group; one "
            f"chooses {member[group]}, another {choices[group, other]}",
            site.where(rows.frame, *rows.place(group, other)))
    safe = np.clip(member, 0, active.shape[1] - 1)
    wrong = active.any(axis=1) & ((member != safe) | ~active[groups, safe])
    if wrong.any() and rows.frame.batch.options.undefined:
        group = int(np.argmax(wrong))
        raise UndefinedBehavior(
            f"{site.in_words} broadcasts from work-item {member[group]}, which takes no part; the group has "
            f"{int(active[group].sum())} active work-items of {active.shape[1]}",
            site.where(rows.frame, *rows.place(group, int(first[group]))))
    return safe


OPERATIONS: dict[int, Handler] = {
    Op.GroupAll: _vote(all_hold),
    Op.GroupAny: _vote(any_holds),
    Op.GroupBroadcast: _broadcast,
    Op.GroupIAdd: _arithmetic(REDUCTIONS["IAdd"]),
    Op.GroupFAdd: _arithmetic(REDUCTIONS["FAdd"]),
    Op.GroupFMin: _arithmetic(REDUCTIONS["FMin"]),
    Op.GroupUMin: _arithmetic(REDUCTIONS["UMin"]),
    Op.GroupSMin: _arithmetic(REDUCTIONS["SMin"]),
    Op.GroupFMax: _arithmetic(REDUCTIONS["FMax"]),
    Op.GroupUMax: _arithmetic(REDUCTIONS["UMax"]),
    Op.GroupSMax: _arithmetic(REDUCTIONS["SMax"]),
    Op.GroupIMulKHR: _arithmetic(REDUCTIONS["IMul"]),
    Op.GroupFMulKHR: _arithmetic(REDUCTIONS["FMul"]),
    Op.GroupBitwiseAndKHR: _arithmetic(REDUCTIONS["BitwiseAnd"]),
    Op.GroupBitwiseOrKHR: _arithmetic(REDUCTIONS["BitwiseOr"]),
    Op.GroupBitwiseXorKHR: _arithmetic(REDUCTIONS["BitwiseXor"]),
    Op.GroupLogicalAndKHR: _arithmetic(REDUCTIONS["LogicalAnd"]),
    Op.GroupLogicalOrKHR: _arithmetic(REDUCTIONS["LogicalOr"]),
    Op.GroupLogicalXorKHR: _arithmetic(REDUCTIONS["LogicalXor"]),
}
