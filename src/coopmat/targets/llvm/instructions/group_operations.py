"""OpGroup*: votes, broadcasts, reductions and scans of a whole sub-group or work-group."""

from __future__ import annotations

from coopmat.spirv.grammar import GroupOperation, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import known_scan, known_scope
from coopmat.targets.cpu.host.frame import Field, field
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.barriers import Shared, wait
from coopmat.targets.llvm.instructions.integers import add, multiply, resized
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
        return tuple(folding.scan(operation, number) for number in numbers)
    shared = Shared(emitter)
    if operation == GroupOperation.Reduce:
        for place, number in enumerate(numbers):
            shared.put(place, folding.total(number, _so_far(emitter, shared, place, folding)))
        return shared.agreed([folding.llvm] * len(numbers))
    found = tuple(_scan(emitter, shared, place, operation, folding, number) for place, number in enumerate(numbers))
    wait(emitter)
    return found


def _is_first_sub_group(emitter: Emitter) -> Number:
    return Number("i1", emitter.writer.let("icmp eq i64 %sg, 0"))


def _so_far(emitter: Emitter, shared: Shared, place: int, folding: Folding) -> Number:
    """The reduction of the sub-groups before this one."""
    return emitter.select(_is_first_sub_group(emitter), folding.neutral, shared.get(place, folding.llvm))


def _scan(emitter: Emitter, shared: Shared, place: int, operation: int, folding: Folding, number: Number) -> Number:
    before = _so_far(emitter, shared, place, folding)
    prefixes = folding.prefixes(number, before)
    shared.put(place, Number(folding.llvm, emitter.lane_of(prefixes, str(emitter.size - 1))))
    if operation == GroupOperation.InclusiveScan:
        return prefixes
    return folding.before(prefixes, emitter.select(_is_first_sub_group(emitter), folding.identity, before))


# --------------------------------------------------------------------------------------
# Broadcasts
# --------------------------------------------------------------------------------------


def broadcast(emitter: Emitter, numbers: tuple[Number, ...], lane: Number) -> tuple[Number, ...]:
    """The numbers of one work-item of a sub-group for all; that there is one is the program's duty."""
    if lane.is_uniform and lane.base.isdigit():
        text = str(min(int(lane.base), emitter.size - 1))
    else:
        one = Number(lane.type, emitter.lane_of(lane, emitter.first_lane()))
        within = emitter.intrinsic("umin", one.type, one, emitter.constant(one.type, emitter.size - 1))
        text = resized(emitter, within, "i32", signed=False).base
    return tuple(Number(number.type, emitter.lane_of(number, text)) for number in numbers)


def _broadcast(emitter: Emitter, row: Instruction) -> Value:
    numbers = emitter.numbers(row.words[1])
    if _scope(emitter, row) == Scope.Subgroup:
        return broadcast(emitter, numbers, emitter.number(row.words[2]))
    member, size, writer = _linear(emitter, emitter.numbers(row.words[2])), emitter.size, emitter.writer
    is_own = writer.let(f"icmp eq i64 {writer.let(f'udiv i64 {member}, {size}')}, %sg")
    own, others = (writer.fresh(name)[1:] for name in ("own", "others"))
    shared = Shared(emitter)
    writer.do(f"br i1 {is_own}, label %{own}, label %{others}")
    writer.label(own)
    lane = Number("i64", writer.let(f"urem i64 {member}, {size}"))
    for place, number in enumerate(broadcast(emitter, numbers, lane)):
        assert isinstance(number, Number)
        shared.put(place, number)
    writer.do(f"br label %{others}")
    writer.label(others)
    return shared.agreed([number.type for number in numbers])


def _linear(emitter: Emitter, local_id: tuple[Number, ...]) -> str:
    """A local id as the position in the work-group."""
    first = emitter.first_lane()
    parts = [resized(emitter, Number(part.type, emitter.lane_of(part, first)), "i64", signed=False)
             for part in local_id]
    position = parts[-1]
    for axis in reversed(range(len(parts) - 1)):
        size = Number("i64", field(emitter, Field.LOCAL_SIZE + axis))
        position = add(emitter, multiply(emitter, position, size), parts[axis])
    return position.base


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
