"""Group operations: of sub-groups those of shaders, of work-groups composed of them through local memory."""

from __future__ import annotations

from coopmat.spirv.analysis.types import BoolType, FloatType, IntType, Type
from coopmat.spirv.grammar import BuiltIn, GroupOperation, MemorySemantics, Op, Scope, StorageClass
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.to_vulkan.instructions import built_ins
from coopmat.spirv.transform.to_vulkan.instructions.composites import copied, of_scalars, scalars_of
from coopmat.spirv.transform.to_vulkan.memory import Place
from coopmat.spirv.transform.to_vulkan.translation import Handler, Translation
from coopmat.spirv.transform.to_vulkan.types import U32, UNSIGNED, as_number, is_long

_BARRIER = (MemorySemantics.AcquireRelease | MemorySemantics.WorkgroupMemory | MemorySemantics.MakeAvailable
            | MemorySemantics.MakeVisible)
_UNIFORM: dict[int, Op] = {
    Op.GroupIAdd: Op.GroupNonUniformIAdd, Op.GroupFAdd: Op.GroupNonUniformFAdd, Op.GroupFMin: Op.GroupNonUniformFMin,
    Op.GroupUMin: Op.GroupNonUniformUMin, Op.GroupSMin: Op.GroupNonUniformSMin, Op.GroupFMax: Op.GroupNonUniformFMax,
    Op.GroupUMax: Op.GroupNonUniformUMax, Op.GroupSMax: Op.GroupNonUniformSMax,
    Op.GroupIMulKHR: Op.GroupNonUniformIMul, Op.GroupFMulKHR: Op.GroupNonUniformFMul,
    Op.GroupBitwiseAndKHR: Op.GroupNonUniformBitwiseAnd, Op.GroupBitwiseOrKHR: Op.GroupNonUniformBitwiseOr,
    Op.GroupBitwiseXorKHR: Op.GroupNonUniformBitwiseXor, Op.GroupLogicalAndKHR: Op.GroupNonUniformLogicalAnd,
    Op.GroupLogicalOrKHR: Op.GroupNonUniformLogicalOr, Op.GroupLogicalXorKHR: Op.GroupNonUniformLogicalXor,
}
_COMBINE: dict[Op, Op | str] = {
    Op.GroupNonUniformIAdd: Op.IAdd, Op.GroupNonUniformFAdd: Op.FAdd, Op.GroupNonUniformFMin: "NMin",
    Op.GroupNonUniformUMin: "UMin", Op.GroupNonUniformSMin: "SMin", Op.GroupNonUniformFMax: "NMax",
    Op.GroupNonUniformUMax: "UMax", Op.GroupNonUniformSMax: "SMax", Op.GroupNonUniformIMul: Op.IMul,
    Op.GroupNonUniformFMul: Op.FMul, Op.GroupNonUniformBitwiseAnd: Op.BitwiseAnd,
    Op.GroupNonUniformBitwiseOr: Op.BitwiseOr, Op.GroupNonUniformBitwiseXor: Op.BitwiseXor,
    Op.GroupNonUniformLogicalAnd: Op.LogicalAnd, Op.GroupNonUniformLogicalOr: Op.LogicalOr,
    Op.GroupNonUniformLogicalXor: Op.LogicalNotEqual,
}


def _sub_group(t: Translation) -> int:
    return t.writer.integer(Scope.Subgroup)


def lane(t: Translation) -> int:
    """The work-item's number in its sub-group."""
    return built_ins.number(t, BuiltIn.SubgroupLocalInvocationId)


def _is_of_work_group(t: Translation, row: Instruction) -> bool:
    return t.integer_of(row.words[0]) == Scope.Workgroup


def _non_uniform(t: Translation, row: Instruction) -> None:
    """As it is; scalars of a vector one by one where it is long."""
    kind = t.result_type(row)
    if not is_long(kind):
        copied(t, row)
        return
    found = []
    for scalar in scalars_of(t, t.value(row.words[-1]), kind):
        found.append(t.writer.op(Op(row.opcode), kind.scalar, t.value(row.words[0]), *row.words[1:-1], scalar))
    t.define(row, of_scalars(t, kind, found))


def _arithmetic(t: Translation, row: Instruction) -> None:
    scope, operation, value = row.words
    op, kind = _UNIFORM[row.opcode], t.result_type(row)
    found = []
    for scalar in scalars_of(t, t.value(value), kind):
        if t.integer_of(scope) == Scope.Workgroup:
            found.append(_across(t, op, operation, kind.scalar, scalar))
        else:
            found.append(t.writer.op(op, kind.scalar, _sub_group(t), operation, scalar))
    t.define(row, of_scalars(t, kind, found))


def _across(t: Translation, op: Op, operation: int, kind: Type, value: int) -> int:
    """A reduction or scan over a work-group: each sub-group's total in local memory, then those before one's own."""
    writer = t.writer
    total = writer.op(op, kind, _sub_group(t), GroupOperation.Reduce, value)
    totals = scratch(t, kind, t.most_sub_groups())
    sub_group, count = (built_ins.number(t, one) for one in (BuiltIn.SubgroupId, BuiltIn.NumSubgroups))
    first = writer.op(Op.GroupNonUniformElect, BoolType(), _sub_group(t))
    with writer.if_then(first):
        put(t, kind, totals, sub_group, total)
    barrier(t)
    is_scan = operation != GroupOperation.Reduce
    end = sub_group if is_scan else count
    own = writer.op(op, kind, _sub_group(t), operation, value) if is_scan else 0
    identity = _identity(t, op, kind)
    found = _accumulated(t, op, kind, totals, end, identity)
    barrier(t)
    return combined(t, op, kind, found, own) if is_scan else found


def _accumulated(t: Translation, op: Op, kind: Type, totals: int, end: int, identity: int) -> int:
    """The combination of the first totals."""
    writer = t.writer
    sums = writer.out.local_variable(writer.types(kind))
    writer.out.emit(Op.Store, sums, identity)

    def add(index: int) -> None:
        before = writer.op(Op.Load, kind, sums)
        writer.out.emit(Op.Store, sums, combined(t, op, kind, before, take(t, kind, totals, index)))

    writer.count(writer.integer(0), end, writer.integer(1), add)
    return writer.op(Op.Load, kind, sums)


def combined(t: Translation, op: Op, kind: Type, a: int, b: int) -> int:
    """Two values by what a group operation does."""
    found = _COMBINE[op]
    return t.writer.glsl(found, kind, a, b) if isinstance(found, str) else t.writer.op(found, kind, a, b)


def _identity(t: Translation, op: Op, kind: Type) -> int:
    writer = t.writer
    if isinstance(kind, BoolType):
        return writer.out.constant_bool(op == Op.GroupNonUniformLogicalAnd)
    if isinstance(kind, FloatType):
        infinity = float("inf")
        return writer.number({Op.GroupNonUniformFMin: infinity, Op.GroupNonUniformFMax: -infinity,
                              Op.GroupNonUniformFMul: 1.0}.get(op, 0.0), kind)
    bits = kind.size * 8
    return writer.integer({
        Op.GroupNonUniformIMul: 1, Op.GroupNonUniformBitwiseAnd: -1, Op.GroupNonUniformUMin: -1,
        Op.GroupNonUniformSMin: (1 << bits - 1) - 1, Op.GroupNonUniformSMax: -(1 << bits - 1)}.get(op, 0), kind)


# -- local memory of our own ---------------------------------------------------------------


def barrier(t: Translation) -> None:
    """All work-items of the work-group, and what they have written to local memory."""
    scope = t.writer.integer(Scope.Workgroup)
    t.writer.out.emit(Op.ControlBarrier, scope, scope, t.writer.integer(_BARRIER))


def _unit(kind: Type) -> IntType:
    return UNSIGNED[as_number(kind).size]


def scratch(t: Translation, kind: Type, count: int) -> int:
    """An array of local memory for values of a type, ``count`` of them (the id of a constant)."""
    key = (_unit(kind).size, count)
    if key not in t.scratch:
        out = t.writer.out
        t.scratch[key] = out.global_variable(StorageClass.Workgroup, out.type_array_of(
            t.writer.types(_unit(kind)), count))
    return t.scratch[key]


def _at(kind: Type, array: int, index: int) -> Place:
    size = _unit(kind).size
    return Place(index, size, 0, array, size, StorageClass.Workgroup)


def put(t: Translation, kind: Type, array: int, index: int, value: int) -> None:
    """Store a scalar in such an array."""
    t.memory.store(kind, value, _at(kind, array, index))


def take(t: Translation, kind: Type, array: int, index: int) -> int:
    """Load a scalar from it."""
    return t.memory.load(kind, _at(kind, array, index))


# -- votes and broadcasts ------------------------------------------------------------------


def _vote(op: Op, across: Op) -> Handler:
    def vote(t: Translation, row: Instruction) -> None:
        value = t.value(row.words[1])
        if _is_of_work_group(t, row):
            t.define(row, _across(t, across, GroupOperation.Reduce, BoolType(), value))
        else:
            t.writer.op(op, BoolType(), _sub_group(t), value, result=t.result(row))
    return vote


def _broadcast(t: Translation, row: Instruction) -> None:
    scope, value, source = row.words
    kind = t.result_type(row)
    is_wide = t.integer_of(scope) == Scope.Workgroup
    where = _linear(t, source) if is_wide else t.writer.converted(t.value(source), t.type_of(source), U32)
    found = [_broadcast_across(t, kind.scalar, scalar, where) if is_wide else _from_lane(t, kind.scalar, scalar, where)
             for scalar in scalars_of(t, t.value(value), kind)]
    t.define(row, of_scalars(t, kind, found))


def _from_lane(t: Translation, kind: Type, value: int, where: int) -> int:
    return t.writer.op(Op.GroupNonUniformBroadcast, kind, _sub_group(t), value, where)


def _linear(t: Translation, source: int) -> int:
    """The number of a work-item in its work-group, of its local id in one to three dimensions."""
    kind = t.type_of(source)
    parts = [t.writer.converted(part, kind.scalar, U32) for part in scalars_of(t, t.value(source), kind)]
    found = parts[-1]
    for dimension in range(len(parts) - 2, -1, -1):
        found = t.writer.add(U32, t.writer.multiply(U32, found, t.local_size[dimension]), parts[dimension])
    return found


def _broadcast_across(t: Translation, kind: Type, value: int, where: int) -> int:
    array = scratch(t, kind, t.most_sub_groups())
    here = built_ins.number(t, BuiltIn.LocalInvocationIndex)
    zero = t.writer.integer(0)
    with t.writer.if_then(t.writer.op(Op.IEqual, BoolType(), here, where)):
        put(t, kind, array, zero, value)
    barrier(t)
    found = take(t, kind, array, zero)
    barrier(t)
    return found


# -- Intel's shuffles and blocks -----------------------------------------------------------


def _each(t: Translation, row: Instruction, op: Op, *values: int, extra: int) -> list[int]:
    kind = t.result_type(row)
    return [t.writer.op(op, kind.scalar, _sub_group(t), scalar, extra)
            for value in values for scalar in scalars_of(t, t.value(value), kind)]


def _shuffle(t: Translation, row: Instruction) -> None:
    op = Op.GroupNonUniformShuffleXor if row.opcode == Op.SubgroupShuffleXorINTEL else Op.GroupNonUniformShuffle
    t.define(row, of_scalars(t, t.result_type(row), _each(t, row, op, row.words[0], extra=t.value(row.words[1]))))


def _shuffle_pair(t: Translation, row: Instruction) -> None:
    """A window of a sub-group's width, moved over two values of it."""
    first, second, delta = row.words
    kind, writer = t.result_type(row), t.writer
    size = built_ins.number(t, BuiltIn.SubgroupSize)
    down = row.opcode == Op.SubgroupShuffleDownINTEL
    index = writer.op(Op.IAdd if down else Op.ISub, U32, lane(t), t.value(delta))
    # Downwards the second value follows the first one; upwards the first one comes before it.
    where = index if down else writer.op(Op.IAdd, U32, index, size)
    is_first = writer.op(Op.ULessThan, BoolType(), where, size)
    inside = writer.op(Op.Select, U32, is_first, where, writer.op(Op.ISub, U32, where, size))
    found = []
    for one, other in zip(scalars_of(t, t.value(first), kind), scalars_of(t, t.value(second), kind), strict=True):
        values = [writer.op(Op.GroupNonUniformShuffle, kind.scalar, _sub_group(t), value, inside)
                  for value in (one, other)]
        found.append(writer.op(Op.Select, kind.scalar, is_first, *values))
    t.define(row, of_scalars(t, kind, found))


def _block_places(t: Translation, pointer: int, kind: Type) -> list[Place]:
    """Where the work-item's elements of a block are: the lanes' side by side."""
    scalar = kind.scalar
    base = t.place(pointer, scalar.size)
    unit = base.unit or 1
    size = built_ins.number(t, BuiltIn.SubgroupSize)
    places = []
    for index in range(kind.count):
        element = t.writer.add(U32, t.writer.multiply(U32, size, t.writer.integer(index)), lane(t))
        moved = t.writer.multiply(base.type, t.writer.converted(element, U32, base.type),
                                  t.writer.integer(scalar.size // unit, base.type))
        places.append(Place(t.writer.add(base.type, base.position, moved), base.alignment, 0, base.array, base.unit,
                            base.storage))
    return places


def _block_read(t: Translation, row: Instruction) -> None:
    kind = t.result_type(row)
    found = [t.memory.load(kind.scalar, place) for place in _block_places(t, row.words[0], kind)]
    t.define(row, of_scalars(t, kind, found))


def _block_write(t: Translation, row: Instruction) -> None:
    pointer, value = row.words
    kind = t.type_of(value)
    for place, scalar in zip(_block_places(t, pointer, kind), scalars_of(t, t.value(value), kind), strict=True):
        t.memory.store(kind.scalar, scalar, place)


_NON_UNIFORM = frozenset(op for op in Op if Op.GroupNonUniformElect <= op <= Op.GroupNonUniformQuadSwap)

HANDLERS: dict[int, Handler] = {
    **dict.fromkeys(_UNIFORM, _arithmetic), **dict.fromkeys(_NON_UNIFORM, _non_uniform),
    Op.GroupAll: _vote(Op.GroupNonUniformAll, Op.GroupNonUniformLogicalAnd),
    Op.GroupAny: _vote(Op.GroupNonUniformAny, Op.GroupNonUniformLogicalOr), Op.GroupBroadcast: _broadcast,
    Op.SubgroupShuffleINTEL: _shuffle, Op.SubgroupShuffleXorINTEL: _shuffle,
    Op.SubgroupShuffleDownINTEL: _shuffle_pair, Op.SubgroupShuffleUpINTEL: _shuffle_pair,
    Op.SubgroupBlockReadINTEL: _block_read, Op.SubgroupBlockWriteINTEL: _block_write,
}
OF_WORK_GROUPS = frozenset({*_UNIFORM, Op.GroupAll, Op.GroupAny, Op.GroupBroadcast})
"""Instructions that become several blocks where their scope is a work-group."""

