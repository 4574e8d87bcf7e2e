"""Rules for group instructions (SPIR-V 3.3.21, 3.3.24)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import AddressingModel, GroupOperation, Op, Scope, StorageClass
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types
from coopmat.spirv.validate.view import Group, ModuleView

GROUPS = "SPIR-V 3.3.21 Group and Subgroup Instructions"
NON_UNIFORM = "SPIR-V 3.3.24 Non-Uniform Instructions"

_INT, _FLOAT, _BOOL = Op.TypeInt, Op.TypeFloat, Op.TypeBool
_ARITHMETIC = {
    _INT: (Op.GroupIAdd, Op.GroupUMin, Op.GroupSMin, Op.GroupUMax, Op.GroupSMax, Op.GroupIMulKHR,
           Op.GroupBitwiseAndKHR, Op.GroupBitwiseOrKHR, Op.GroupBitwiseXorKHR, Op.GroupNonUniformIAdd,
           Op.GroupNonUniformIMul, Op.GroupNonUniformSMin, Op.GroupNonUniformUMin, Op.GroupNonUniformSMax,
           Op.GroupNonUniformUMax, Op.GroupNonUniformBitwiseAnd, Op.GroupNonUniformBitwiseOr,
           Op.GroupNonUniformBitwiseXor),
    _FLOAT: (Op.GroupFAdd, Op.GroupFMin, Op.GroupFMax, Op.GroupFMulKHR, Op.GroupNonUniformFAdd,
             Op.GroupNonUniformFMul, Op.GroupNonUniformFMin, Op.GroupNonUniformFMax),
    _BOOL: (Op.GroupLogicalAndKHR, Op.GroupLogicalOrKHR, Op.GroupLogicalXorKHR, Op.GroupNonUniformLogicalAnd,
            Op.GroupNonUniformLogicalOr, Op.GroupNonUniformLogicalXor),
}
_KIND_OF = {op: kind for kind, ops in _ARITHMETIC.items() for op in ops}
_NAMES = {_INT: "integers", _FLOAT: "floating-point numbers", _BOOL: "booleans"}
_UNSIGNED = (Op.GroupNonUniformUMin, Op.GroupNonUniformUMax)
_VOTES = (Op.GroupAll, Op.GroupAny, Op.GroupNonUniformAll, Op.GroupNonUniformAny)
_EXCHANGES = (Op.GroupBroadcast, Op.GroupNonUniformBroadcast, Op.GroupNonUniformShuffle, Op.GroupNonUniformShuffleXor,
              Op.GroupNonUniformShuffleUp, Op.GroupNonUniformShuffleDown, Op.GroupNonUniformRotateKHR,
              Op.GroupNonUniformQuadBroadcast, Op.GroupNonUniformQuadSwap, Op.GroupNonUniformBroadcastFirst)
_OF_BALLOTS = (Op.GroupNonUniformInverseBallot, Op.GroupNonUniformBallotBitExtract, Op.GroupNonUniformBallotBitCount,
               Op.GroupNonUniformBallotFindLSB, Op.GroupNonUniformBallotFindMSB)
_WITH_SCOPE = (*_KIND_OF, *_VOTES, *_EXCHANGES, *_OF_BALLOTS, Op.GroupNonUniformElect, Op.GroupNonUniformAllEqual,
               Op.GroupNonUniformBallot, Op.GroupAsyncCopy, Op.GroupWaitEvents)
_WITH_CLUSTER = {**{op: 3 for op in _KIND_OF if op.spelling.startswith("GroupNonUniform")},
                 Op.GroupNonUniformRotateKHR: 3}
"""Instruction → place of the size of its clusters."""
_CLUSTERED = int(GroupOperation.ClusteredReduce)
_PARTITIONED = tuple(int(operation) for operation in GroupOperation if operation.spelling.startswith("Partitioned"))
_CONSTANT_BEFORE_1_5 = (Op.GroupNonUniformBroadcast, Op.GroupNonUniformQuadBroadcast)


def _is_ballot(kind: Types) -> Booleans:
    return kind.is_vector(_INT) & (kind.length == 4) & (kind.scalar.width == 32) & (kind.scalar.signed == 0)


def _is_unsigned(kind: Types) -> Booleans:
    return kind.is_kind(_INT) & (kind.signed == 0)


@rule("group-scope", "A group operation is for a work-group or a sub-group, a non-uniform one for a sub-group.",
      f"{GROUPS}; {NON_UNIFORM}", *_WITH_SCOPE)
def group_scope(group: Group) -> Findings:
    scope = group.constant(0)
    only_sub_groups = "NonUniform" in group.opcode.spelling and group.opcode != Op.GroupNonUniformRotateKHR
    if not only_sub_groups and not group.view.runs_kernels and group.opcode != Op.GroupNonUniformRotateKHR:
        return
    allowed = (Scope.Subgroup,) if only_sub_groups else (Scope.Workgroup, Scope.Subgroup)
    yield (scope >= 0) & ~np.isin(scope, allowed), \
        "the scope of {op} is " + " or ".join(f"{s.spelling} ({int(s)})" for s in allowed)


@rule("group-arithmetic", "A group's reduction or scan gives the type that it combines; clusters have a constant size.",
      f"{GROUPS}; {NON_UNIFORM}", *_KIND_OF)
def group_arithmetic(group: Group) -> Findings:
    kind = _KIND_OF[group.opcode]
    yield ~group.result.scalars_of(kind), f"{{op}} combines {_NAMES[kind]}, not {{type}}"
    if group.opcode in _UNSIGNED:
        yield group.result.scalar.signed == 1, "{op} combines integers of signedness 0, not {type}"
    yield group.value(2) != group.result, "{op} of {type2} cannot give {type}"
    operation = group.word(1)
    clustered, partitioned = operation == _CLUSTERED, np.isin(operation, _PARTITIONED)
    if group.opcode not in _WITH_CLUSTER:
        yield clustered | partitioned, "{op} is a reduction or a scan"
        return
    yield clustered & ~group.has(3), "{op} with ClusteredReduce needs a cluster size"
    yield ~partitioned & group.has(3) & ~_is_unsigned(group.value(3)), \
        "the cluster size of {op} is an integer of signedness 0, not {type3}"
    yield ~partitioned & group.has(3) & ~group.is_constant(3), "the cluster size of {op} is a constant, not {def3}"
    yield partitioned & ~group.has(3), "{op} of partitions needs a ballot"
    yield partitioned & group.has(3) & ~(group.value(3).is_vector(_INT) & (group.value(3).length == 4)), \
        "the ballot of {op} is a vector of four integers, not {type3}"


@rule("cluster-size", "The size of a cluster is a power of two.", NON_UNIFORM, *_WITH_CLUSTER, severity="warning")
def cluster_size(group: Group) -> Findings:
    place = _WITH_CLUSTER[group.opcode]
    size = group.constant(place)
    clustered = group.has(place)
    if group.opcode in _KIND_OF:
        clustered &= ~np.isin(group.word(1), _PARTITIONED)
    yield clustered & (size >= 0) & ((size == 0) | (size & (size - 1) != 0)), \
        "the cluster size of {op} is no power of two: what it does is undefined"


@rule("group-vote", "A vote takes a boolean and gives one.", f"{GROUPS}; {NON_UNIFORM}", *_VOTES,
      Op.GroupNonUniformElect, Op.GroupNonUniformAllEqual)
def group_vote(group: Group) -> Findings:
    yield ~group.result.is_kind(_BOOL), "{op} gives a boolean, not {type}"
    if group.opcode in _VOTES:
        yield ~group.value(1).is_kind(_BOOL), "{op} takes a boolean, not {type1}"
    elif group.opcode == Op.GroupNonUniformAllEqual:
        yield ~group.value(1).scalars_of(_INT, _FLOAT, _BOOL), "{op} compares numbers or booleans, not {type1}"


@rule("group-exchange", "What is exchanged in a group keeps its type; positions are unsigned integers.",
      f"{GROUPS}; {NON_UNIFORM}", *_EXCHANGES)
def group_exchange(group: Group) -> Findings:
    yield ~group.result.scalars_of(_INT, _FLOAT, _BOOL), "{op} exchanges numbers or vectors of them, not {type}"
    yield group.value(1) != group.result, "{op} of {type1} cannot give {type}"
    position = group.value(2)
    if group.opcode == Op.GroupBroadcast:
        yield ~position.scalars_of(_INT), "the position for {op} is an integer or a vector of them, not {type2}"
    elif group.opcode != Op.GroupNonUniformBroadcastFirst:
        yield ~_is_unsigned(position), "the position for {op} is an integer of signedness 0, not {type2}"
    early = group.opcode in _CONSTANT_BEFORE_1_5 and group.view.module.version < 0x10500
    if early or group.opcode == Op.GroupNonUniformQuadSwap:
        yield ~group.is_constant(2), \
            "the position for {op} is a constant" + " before SPIR-V 1.5" * early + ", not {def2}"
    if group.opcode == Op.GroupNonUniformRotateKHR:
        yield group.has(3) & ~_is_unsigned(group.value(3)), \
            "the cluster size of {op} is an integer of signedness 0, not {type3}"
        yield group.has(3) & ~group.is_constant(3), "the cluster size of {op} is a constant, not {def3}"


@rule("group-ballot", "A ballot is four 32-bit integers, made of a boolean.", NON_UNIFORM, Op.GroupNonUniformBallot,
      *_OF_BALLOTS)
def group_ballot(group: Group) -> Findings:
    opcode, result = group.opcode, group.result
    if opcode == Op.GroupNonUniformBallot:
        yield ~_is_ballot(result), "{op} gives a vector of four 32-bit integers of signedness 0, not {type}"
        yield ~group.value(1).is_kind(_BOOL), "{op} takes a boolean, not {type1}"
        return
    place = 2 if opcode == Op.GroupNonUniformBallotBitCount else 1
    yield ~_is_ballot(group.value(place)), \
        f"{{op}} takes a vector of four 32-bit integers of signedness 0, not {{type{place}}}"
    if opcode in (Op.GroupNonUniformInverseBallot, Op.GroupNonUniformBallotBitExtract):
        yield ~result.is_kind(_BOOL), "{op} gives a boolean, not {type}"
    else:
        yield ~_is_unsigned(result), "{op} gives an integer of signedness 0, not {type}"
    if opcode == Op.GroupNonUniformBallotBitExtract:
        yield ~_is_unsigned(group.value(2)), "the position for {op} is an integer of signedness 0, not {type2}"


# --------------------------------------------------------------------------------------
# Asynchronous copies
# --------------------------------------------------------------------------------------


def size_t(view: ModuleView) -> tuple[int, ...]:
    """The widths that integers as wide as a pointer may have."""
    return {int(AddressingModel.Physical32): (32,), int(AddressingModel.Physical64): (64,)}.get(
        view.memory_model[0], (32, 64))


@rule("async-copy",
      "An asynchronous copy is between local and global memory, of numbers of one type, with sizes as wide "
      "as a pointer, and gives an event.", GROUPS, Op.GroupAsyncCopy)
def async_copy(group: Group) -> Findings:
    yield ~group.result.is_kind(Op.TypeEvent), "{op} gives an event, not {type}"
    target, source = group.value(1), group.value(2)
    for place, address, what in ((1, target, "writes"), (2, source, "reads")):
        yield ~address.is_pointer, f"{{op}} {what} through a pointer, not {{type{place}}}"
        yield address.is_kind(Op.TypePointer) & ~address.element.scalars_of(_INT, _FLOAT), \
            f"{{op}} copies numbers or vectors of them, not {{pointee{place}}}"
    yield target.is_kind(Op.TypePointer) & source.is_kind(Op.TypePointer) & (target.element != source.element), \
        "{op} copies between {type2} and {type1}"
    local, world = (StorageClass.Workgroup,), (StorageClass.CrossWorkgroup,)
    good = target.in_storage(*local) & source.in_storage(*world) | target.in_storage(*world) & source.in_storage(*local)
    yield target.is_pointer & source.is_pointer & ~good, \
        "{op} copies between Workgroup and CrossWorkgroup memory, not from {type2} to {type1}"
    widths = size_t(group.view)
    for place, what in ((3, "number of elements"), (4, "stride")):
        yield ~group.value(place).is_int(*widths), \
            f"the {what} of {{op}} is an integer as wide as a pointer, not {{type{place}}}"
    yield ~group.value(5).is_kind(Op.TypeEvent), "{op} takes an event, not {type5}"


@rule("wait-events", "Waiting takes a 32-bit number of events and a pointer to the first.", GROUPS, Op.GroupWaitEvents)
def wait_events(group: Group) -> Findings:
    yield ~group.value(1).is_int(32), "the number of events of {op} is a 32-bit integer, not {type1}"
    address = group.value(2)
    yield ~(address.is_pointer & (address.element.is_kind(Op.TypeEvent) | address.is_kind(Op.TypeUntypedPointerKHR))), \
        "{op} takes a pointer to events, not {type2}"
