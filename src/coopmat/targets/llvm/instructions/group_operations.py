"""OpGroup*: votes, broadcasts, reductions and scans of a whole sub-group or work-group."""

from __future__ import annotations

from coopmat.spirv.grammar import GroupOperation, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import known_scan, known_scope
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.reductions import REDUCTIONS, Folding
from coopmat.targets.llvm.values import Number, Value


def _scope(emitter: Emitter, row: Instruction) -> Scope:
    return known_scope(emitter.constant_of(row.words[0]), row.name, Scope.Workgroup, Scope.Subgroup)


def _vote(name: str) -> Handler:
    def handle(emitter: Emitter, row: Instruction) -> Value:
        folding = REDUCTIONS[name].of(emitter, emitter.type_of(row.words[1]), row.name)
        return _reduced(emitter, _scope(emitter, row), GroupOperation.Reduce, folding, emitter.numbers(row.words[1]))

    return handle


def _arithmetic(name: str) -> Handler:
    def handle(emitter: Emitter, row: Instruction) -> Value:
        scope, operation = _scope(emitter, row), known_scan(row.words[1], row.name)
        folding = REDUCTIONS[name].of(emitter, emitter.result_type(row), row.name)
        return _reduced(emitter, scope, operation, folding, emitter.numbers(row.words[2]))

    return handle


def _reduced(emitter: Emitter, scope: Scope, operation: int, folding: Folding, numbers: tuple[Number, ...]) -> Value:
    if scope == Scope.Subgroup:
        return tuple(emitter.execution.scan(operation, folding, number) for number in numbers)
    return emitter.execution.scan_work_group(operation, folding, numbers)


def _broadcast(emitter: Emitter, row: Instruction) -> Value:
    numbers = emitter.numbers(row.words[1])
    if _scope(emitter, row) == Scope.Subgroup:
        return emitter.execution.broadcast(numbers, emitter.number(row.words[2]))
    return emitter.execution.broadcast_work_group(numbers, emitter.numbers(row.words[2]))


OPERATIONS: dict[int, Handler] = {
    Op.GroupAll: _vote("LogicalAnd"),
    Op.GroupAny: _vote("LogicalOr"),
    Op.GroupBroadcast: _broadcast,
    Op.GroupIAdd: _arithmetic("IAdd"),
    Op.GroupFAdd: _arithmetic("FAdd"),
    Op.GroupFMin: _arithmetic("FMin"),
    Op.GroupUMin: _arithmetic("UMin"),
    Op.GroupSMin: _arithmetic("SMin"),
    Op.GroupFMax: _arithmetic("FMax"),
    Op.GroupUMax: _arithmetic("UMax"),
    Op.GroupSMax: _arithmetic("SMax"),
    **{Op[f"Group{name}KHR"]: _arithmetic(name) for name in (
        "IMul", "FMul", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "LogicalAnd", "LogicalOr", "LogicalXor")},
}
