"""Rules for group and sub-group instructions (SPIR-V 3.3.21, 3.3.24; SPV_INTEL_subgroups, SPV_INTEL_2d_block_io)."""

from __future__ import annotations

import numpy as np

from coopmat.spirv.grammar import GroupOperation, Op, Scope, StorageClass
from coopmat.spirv.validate.group import Group
from coopmat.spirv.validate.rules import Findings, rule
from coopmat.spirv.validate.types import Booleans, Types

GROUPS = "SPIR-V 3.3.21 Group and Subgroup Instructions"
NON_UNIFORM = "SPIR-V 3.3.24 Non-Uniform Instructions"
INTEL = "SPV_INTEL_subgroups"
BLOCKS_2D = "SPV_INTEL_2d_block_io"

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
_VOTES = (Op.GroupAll, Op.GroupAny, Op.GroupNonUniformAll, Op.GroupNonUniformAny)
_EXCHANGES = (Op.GroupBroadcast, Op.GroupNonUniformBroadcast, Op.GroupNonUniformShuffle, Op.GroupNonUniformShuffleXor,
              Op.GroupNonUniformShuffleUp, Op.GroupNonUniformShuffleDown, Op.GroupNonUniformRotateKHR,
              Op.GroupNonUniformQuadBroadcast)
_WITH_SCOPE = (*_KIND_OF, *_VOTES, *_EXCHANGES, Op.GroupNonUniformElect, Op.GroupNonUniformAllEqual,
               Op.GroupNonUniformBroadcastFirst, Op.GroupNonUniformBallot)


@rule("group-scope", "A group operation is for a work-group or a sub-group.", f"{GROUPS}; {NON_UNIFORM}", *_WITH_SCOPE)
def group_scope(group: Group) -> Findings:
    scope = group.constant(0)
    non_uniform = "NonUniform" in group.opcode.spelling
    allowed = (Scope.Subgroup,) if non_uniform else (Scope.Workgroup, Scope.Subgroup)
    yield (scope >= 0) & ~np.isin(scope, allowed), \
        "the scope of {op} is " + " or ".join(f"{s.spelling} ({int(s)})" for s in allowed)


@rule("group-arithmetic", "A group's reduction or scan gives the type that it combines.", f"{GROUPS}; {NON_UNIFORM}",
      *_KIND_OF)
def group_arithmetic(group: Group) -> Findings:
    kind = _KIND_OF[group.opcode]
    yield ~group.result.scalars_of(kind), f"{{op}} combines {_NAMES[kind]}, not {{type}}"
    yield group.value(2) != group.result, "{op} of {type2} cannot give {type}"
    operation = group.word(1)
    clustered = operation == int(GroupOperation.ClusteredReduce)
    yield clustered & ~group.has(3), "{op} with ClusteredReduce needs a cluster size"
    size = group.constant(3)
    yield clustered & group.has(3) & (size >= 0) & ((size == 0) | (size & (size - 1) != 0)), \
        "the cluster size of {op} is a power of two"
    yield clustered & group.has(3) & (size < 0), "the cluster size of {op} is a constant"


@rule("group-vote", "A vote takes a boolean and gives one.", f"{GROUPS}; {NON_UNIFORM}", *_VOTES)
def group_vote(group: Group) -> Findings:
    yield ~group.result.is_kind(_BOOL), "{op} gives a boolean, not {type}"
    yield ~group.value(1).is_kind(_BOOL), "{op} takes a boolean, not {type1}"


@rule("group-exchange", "What is exchanged in a group keeps its type; positions are integers.",
      f"{GROUPS}; {NON_UNIFORM}", *_EXCHANGES)
def group_exchange(group: Group) -> Findings:
    yield ~group.result.scalars_of(_INT, _FLOAT, _BOOL), "{op} exchanges numbers or vectors of them, not {type}"
    yield group.value(1) != group.result, "{op} of {type1} cannot give {type}"
    position = group.value(2)
    broadcast = group.opcode == Op.GroupBroadcast
    fits = position.scalars_of(_INT) if broadcast else position.is_kind(_INT)
    yield ~fits, "the position for {op} is an integer, not {type2}"


@rule("group-ballot", "A ballot gives four 32-bit integers.", NON_UNIFORM, Op.GroupNonUniformBallot)
def group_ballot(group: Group) -> Findings:
    result = group.result
    yield ~(result.scalars_of(_INT) & (result.components == 4) & (result.scalar.width == 32)), \
        "{op} gives a vector of four 32-bit integers, not {type}"
    yield ~group.value(1).is_kind(_BOOL), "{op} takes a boolean, not {type1}"


_INTEL_SHUFFLES = {Op.SubgroupShuffleINTEL: 1, Op.SubgroupShuffleXorINTEL: 1, Op.SubgroupShuffleDownINTEL: 2,
                   Op.SubgroupShuffleUpINTEL: 2}


@rule("intel-shuffle", "A shuffle exchanges values of its result type, at 32-bit positions.", INTEL, *_INTEL_SHUFFLES)
def intel_shuffle(group: Group) -> Findings:
    position = _INTEL_SHUFFLES[group.opcode]
    yield ~group.result.scalars_of(_INT, _FLOAT), "{op} exchanges numbers or vectors of them, not {type}"
    for place in range(position):
        yield group.value(place) != group.result, f"{{op}} of {{type{place}}} cannot give {{type}}"
    kind = group.value(position)
    yield ~(kind.is_kind(_INT) & (kind.width == 32)), \
        f"the position for {{op}} is a 32-bit integer, not {{type{position}}}"


@rule("block-read-write", "A block is read or written through a pointer to its components.", INTEL,
      Op.SubgroupBlockReadINTEL, Op.SubgroupBlockWriteINTEL)
def block_read_write(group: Group) -> Findings:
    reads = group.opcode == Op.SubgroupBlockReadINTEL
    data, shown = (group.result, "{type}") if reads else (group.value(1), "{type1}")
    yield ~data.scalars_of(_INT, _FLOAT), f"{{op}} moves numbers or vectors of them, not {shown}"
    address = group.value(0)
    yield ~address.is_pointer, "{op} needs a pointer, not {type0}"
    yield address.is_kind(Op.TypePointer) & (address.element != data.scalar), \
        f"{{op}} of {shown} needs a pointer to its component type, not {{type0}}"


_BLOCK_2D = (Op.Subgroup2DBlockLoadINTEL, Op.Subgroup2DBlockLoadTransformINTEL, Op.Subgroup2DBlockLoadTransposeINTEL,
             Op.Subgroup2DBlockPrefetchINTEL, Op.Subgroup2DBlockStoreINTEL)


def _is_int32(kind: Types) -> Booleans:
    return kind.is_kind(_INT) & (kind.width == 32)


@rule("block-2d", "A 2D block instruction has constant sizes, a pointer to global memory, 32-bit surface sizes and a "
      "pair of coordinates.", BLOCKS_2D, *_BLOCK_2D)
def block_2d(group: Group) -> Findings:
    for place, what in enumerate(("element size", "block width", "block height", "block count")):
        yield ~_is_int32(group.value(place)) | (group.constant(place) < 0), \
            f"the {what} of {{op}} is a constant 32-bit integer, not {{def{place}}}"
    opcode = group.opcode
    stores, prefetches = opcode == Op.Subgroup2DBlockStoreINTEL, opcode == Op.Subgroup2DBlockPrefetchINTEL
    base = 5 if stores else 4
    address = group.value(base)
    yield ~(address.is_pointer & (address.storage == int(StorageClass.CrossWorkgroup))), \
        f"the surface of {{op}} is a pointer to CrossWorkgroup memory, not {{type{base}}}"
    for place, what in enumerate(("width", "height", "pitch"), base + 1):
        yield ~_is_int32(group.value(place)), f"the surface {what} of {{op}} is a 32-bit integer, not {{type{place}}}"
    coordinate = group.value(base + 4)
    yield ~(coordinate.scalars_of(_INT) & (coordinate.components == 2) & (coordinate.scalar.width == 32)), \
        f"the coordinate of {{op}} is two 32-bit integers, not {{type{base + 4}}}"
    if not prefetches:
        private = 4 if stores else 9
        yield ~group.value(private).is_pointer, f"the block of {{op}} is a pointer, not {{type{private}}}"
