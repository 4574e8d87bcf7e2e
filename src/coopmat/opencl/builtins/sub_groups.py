"""Functions of sub-groups and work-groups: votes, broadcasts, reductions, scans, shuffles, ballots.

OpenCL C 6.15.16 (work-groups) and 6.15.19 (sub-groups), the cl_khr_subgroup_ extensions, and those of
cl_intel_subgroups, cl_intel_subgroups_char and cl_intel_subgroups_short.
"""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.opencl.base.conversions import condition
from coopmat.opencl.builtins.patterns import COUNTS, FLOATS, INTEGERS, NUMBERS, Build, BuiltinCall, Row
from coopmat.opencl.builtins.synchronization import Reported, checked, constant_argument
from coopmat.opencl.messages import builtins as messages
from coopmat.tree.nodes import Convert, Expression, VectorOf, WorkItemQuery
from coopmat.tree.operations import (
    CLUSTERED_REDUCE,
    COMBINATIONS,
    EXCLUSIVE_SCAN,
    INCLUSIVE_SCAN,
    REDUCE,
    UNIFORM_OPERATIONS,
)
from coopmat.tree.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    SIZE_T,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_COUNTS,
    ExecutionScope,
    Scalar,
    Vector,
)

SUBGROUPS = ("__opencl_c_subgroups", "cl_khr_subgroups", "cl_intel_subgroups")
WORK_GROUPS = ("__opencl_c_work_group_collective_functions",)
EXTENDED_TYPES = ("cl_khr_subgroup_extended_types",)

WIDE = (INT, UINT, LONG, ULONG, *FLOATS)
NARROW = (CHAR, UCHAR, SHORT, USHORT)

COMBINING = {"reduce": REDUCE, "scan_inclusive": INCLUSIVE_SCAN, "scan_exclusive": EXCLUSIVE_SCAN}
NUMBER_OPERATIONS = ("add", "mul", "min", "max")
BIT_OPERATIONS = ("and", "or", "xor")

# ------------------------------------------------------------------ building nodes


def group(instruction: str, scope: ExecutionScope = ExecutionScope.SUBGROUP, literals: tuple[int, ...] = ()) -> Build:
    """An instruction whose first operand is the scope."""
    return lambda call: call.operation(f"core.{instruction}", call.constant(scope.value), *call.arguments,
                                       literals=literals)


def predicate(instruction: str, scope: ExecutionScope = ExecutionScope.SUBGROUP,
              literals: tuple[int, ...] = ()) -> Build:
    """An instruction on a bool, which OpenCL C's functions take as an int that is zero or not."""
    def build(call: BuiltinCall) -> Expression:
        (value,) = call.arguments
        type_ = call.result if isinstance(call.result, Vector) else BOOL
        found = call.operation(f"core.{instruction}", call.constant(scope.value), condition(call.context, value),
                               type_=type_, literals=literals)
        return found if type_ is not BOOL else Convert(call.result, call.location, found)
    return build


def test(instruction: str) -> Build:
    """An instruction that gives a bool; the function's result is 1 or 0."""
    def build(call: BuiltinCall) -> Expression:
        found = call.operation(f"core.{instruction}", call.constant(ExecutionScope.SUBGROUP.value), *call.arguments,
                               type_=BOOL)
        return Convert(call.result, call.location, found)
    return build


def combine(prefix: str, what: str, how: int, scope: ExecutionScope = ExecutionScope.SUBGROUP) -> Build:
    """A reduction or scan; the instruction depends on the kind of the elements."""
    def build(call: BuiltinCall) -> Expression:
        element = call.overload.element
        assert element is not None
        return group(f"{prefix}{COMBINATIONS[what][element.kind]}", scope, (how,))(call)
    return build


def _cluster_size(call: BuiltinCall, index: int) -> Expression:
    """The cluster size argument: a constant power of two."""
    value = constant_argument(call, index, "cluster size")
    if value < 1 or value & (value - 1):
        call.context.report(messages.INVALID_CLUSTER, call.arguments[index].location, name=call.overload.name,
                            value=value)
        raise Reported
    return call.constant(value)


def clustered(what: str) -> Build:
    """A reduction of each cluster of work-items."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        element = call.overload.element
        assert element is not None
        return call.operation(f"core.GroupNonUniform{COMBINATIONS[what][element.kind]}",
                              call.constant(ExecutionScope.SUBGROUP.value), call.arguments[0], _cluster_size(call, 1),
                              literals=(CLUSTERED_REDUCE,))
    return build


def clustered_logical(what: str) -> Build:
    """A logical reduction of each cluster of work-items."""
    @checked
    def build(call: BuiltinCall) -> Expression:
        value = condition(call.context, call.arguments[0])
        sub_group = call.constant(ExecutionScope.SUBGROUP.value)
        found = call.operation(f"core.GroupNonUniformLogical{what}", sub_group, value, _cluster_size(call, 1),
                               type_=BOOL, literals=(CLUSTERED_REDUCE,))
        return Convert(call.result, call.location, found)
    return build


@checked
def clustered_rotate(call: BuiltinCall) -> Expression:
    """A rotation within each cluster of work-items."""
    value, delta, _ = call.arguments
    return call.operation("core.GroupNonUniformRotateKHR", call.constant(ExecutionScope.SUBGROUP.value), value, delta,
                          _cluster_size(call, 2))


def non_uniform_broadcast(call: BuiltinCall) -> Expression:
    """The value of one work-item, the same one for all.

    Before SPIR-V 1.5 OpGroupNonUniformBroadcast takes a constant index only; a shuffle takes any.
    """
    value, index = call.arguments
    scope, constant = call.constant(ExecutionScope.SUBGROUP.value), call.context.constant_integer(index)
    if constant is None:
        return call.operation("core.GroupNonUniformShuffle", scope, value, index)
    return call.operation("core.GroupNonUniformBroadcast", scope, value, call.constant(constant % (1 << 32)))


def work_group_broadcast(call: BuiltinCall) -> Expression:
    """The value of the work-item with this local id, which has one to three components."""
    value, *position = call.arguments
    local_id = position[0] if len(position) == 1 else VectorOf(Vector(SIZE_T, len(position)), call.location,
                                                               tuple(position))
    return call.operation("core.GroupBroadcast", call.constant(ExecutionScope.WORKGROUP.value), value, local_id)


def mask(builtin: str) -> Build:
    """A mask of work-items, which is a built-in variable."""
    return lambda call: WorkItemQuery(call.result, call.location, builtin)


# ------------------------------------------------------------------ rows

SCALAR = (1,)


def _combinations(prefix: str, instruction: str, operations: Iterable[str], domain: tuple[Scalar, ...],
                  needs: tuple[str, ...], scope: ExecutionScope = ExecutionScope.SUBGROUP) -> tuple[Row, ...]:
    """``<prefix>_reduce_add`` and so on."""
    return tuple(Row(f"{prefix}_{way}_{what}", "gen(gen)", combine(instruction, what, how, scope), domain, SCALAR,
                     needs)
                 for way, how in COMBINING.items() for what in operations)


WORK_GROUP_ROWS = (
    Row("work_group_all", "int(int)", predicate("GroupAll", ExecutionScope.WORKGROUP), needs=WORK_GROUPS),
    Row("work_group_any", "int(int)", predicate("GroupAny", ExecutionScope.WORKGROUP), needs=WORK_GROUPS),
    *(Row("work_group_broadcast", f"gen(gen{', size_t' * dimensions})", work_group_broadcast, WIDE, SCALAR,
          WORK_GROUPS) for dimensions in (1, 2, 3)),
    *_combinations("work_group", "Group", UNIFORM_OPERATIONS, WIDE, WORK_GROUPS, ExecutionScope.WORKGROUP),
)
"""OpenCL C 6.15.16."""

UNIFORM = (
    Row("sub_group_all", "int(int)", predicate("GroupAll"), needs=SUBGROUPS),
    Row("sub_group_any", "int(int)", predicate("GroupAny"), needs=SUBGROUPS),
    Row("sub_group_broadcast", "gen(gen, uint)", group("GroupBroadcast"), WIDE, SCALAR, SUBGROUPS),
    *_combinations("sub_group", "Group", UNIFORM_OPERATIONS, WIDE, SUBGROUPS),
    Row("sub_group_broadcast", "gen(gen, uint)", group("GroupBroadcast"), NARROW, SCALAR, EXTENDED_TYPES),
    Row("sub_group_broadcast", "gen(gen, uint)", group("GroupBroadcast"), NUMBERS, VECTOR_COUNTS, EXTENDED_TYPES),
    *_combinations("sub_group", "Group", UNIFORM_OPERATIONS, NARROW, EXTENDED_TYPES),
)
"""OpenCL C 6.15.19, and cl_khr_subgroup_extended_types."""

_VOTE, _BALLOT = ("cl_khr_subgroup_non_uniform_vote",), ("cl_khr_subgroup_ballot",)
_ARITHMETIC, _CLUSTERED = ("cl_khr_subgroup_non_uniform_arithmetic",), ("cl_khr_subgroup_clustered_reduce",)
_SHUFFLE, _RELATIVE = ("cl_khr_subgroup_shuffle",), ("cl_khr_subgroup_shuffle_relative",)
_ROTATE = ("cl_khr_subgroup_rotate",)
_LOGICAL = {"and": "And", "or": "Or", "xor": "Xor"}

NON_UNIFORM = (
    Row("sub_group_elect", "int()", test("GroupNonUniformElect"), needs=_VOTE),
    Row("sub_group_non_uniform_all", "int(int)", predicate("GroupNonUniformAll"), needs=_VOTE),
    Row("sub_group_non_uniform_any", "int(int)", predicate("GroupNonUniformAny"), needs=_VOTE),
    Row("sub_group_non_uniform_all_equal", "int(gen)", test("GroupNonUniformAllEqual"), NUMBERS, SCALAR, _VOTE),
    Row("sub_group_non_uniform_broadcast", "gen(gen, uint)", non_uniform_broadcast, NUMBERS, COUNTS, _BALLOT),
    Row("sub_group_broadcast_first", "gen(gen)", group("GroupNonUniformBroadcastFirst"), NUMBERS, SCALAR, _BALLOT),
    Row("sub_group_ballot", "uint4(int)", predicate("GroupNonUniformBallot"), needs=_BALLOT),
    Row("sub_group_inverse_ballot", "int(uint4)", test("GroupNonUniformInverseBallot"), needs=_BALLOT),
    Row("sub_group_ballot_bit_extract", "int(uint4, uint)", test("GroupNonUniformBallotBitExtract"), needs=_BALLOT),
    *(Row(f"sub_group_ballot_{name}", "uint(uint4)", group("GroupNonUniformBallotBitCount", literals=(how,)),
          needs=_BALLOT)
      for name, how in (("bit_count", REDUCE), ("inclusive_scan", INCLUSIVE_SCAN),
                        ("exclusive_scan", EXCLUSIVE_SCAN))),
    Row("sub_group_ballot_find_lsb", "uint(uint4)", group("GroupNonUniformBallotFindLSB"), needs=_BALLOT),
    Row("sub_group_ballot_find_msb", "uint(uint4)", group("GroupNonUniformBallotFindMSB"), needs=_BALLOT),
    *(Row(f"get_sub_group_{name}_mask", "uint4()", mask(f"Subgroup{name.capitalize()}Mask"), needs=_BALLOT)
      for name in ("eq", "ge", "gt", "le", "lt")),
    *_combinations("sub_group_non_uniform", "GroupNonUniform", NUMBER_OPERATIONS, NUMBERS, _ARITHMETIC),
    *_combinations("sub_group_non_uniform", "GroupNonUniform", BIT_OPERATIONS, INTEGERS, _ARITHMETIC),
    *(Row(f"sub_group_non_uniform_{way}_logical_{what}", "int(int)",
          predicate(f"GroupNonUniformLogical{end}", literals=(how,)), needs=_ARITHMETIC)
      for way, how in COMBINING.items() for what, end in _LOGICAL.items()),
    *(Row(f"sub_group_clustered_reduce_{what}", "gen(gen, uint)", clustered(what), domain, SCALAR, _CLUSTERED)
      for operations, domain in ((NUMBER_OPERATIONS, NUMBERS), (BIT_OPERATIONS, INTEGERS)) for what in operations),
    *(Row(f"sub_group_clustered_reduce_logical_{what}", "int(int, uint)", clustered_logical(end), needs=_CLUSTERED)
      for what, end in _LOGICAL.items()),
    Row("sub_group_shuffle", "gen(gen, uint)", group("GroupNonUniformShuffle"), NUMBERS, SCALAR, _SHUFFLE),
    Row("sub_group_shuffle_xor", "gen(gen, uint)", group("GroupNonUniformShuffleXor"), NUMBERS, SCALAR, _SHUFFLE),
    Row("sub_group_shuffle_up", "gen(gen, uint)", group("GroupNonUniformShuffleUp"), NUMBERS, SCALAR, _RELATIVE),
    Row("sub_group_shuffle_down", "gen(gen, uint)", group("GroupNonUniformShuffleDown"), NUMBERS, SCALAR, _RELATIVE),
    Row("sub_group_rotate", "gen(gen, int)", group("GroupNonUniformRotateKHR"), NUMBERS, SCALAR, _ROTATE),
    Row("sub_group_clustered_rotate", "gen(gen, int, uint)", clustered_rotate, NUMBERS, SCALAR, _ROTATE),
)
"""The cl_khr_subgroup_ extensions."""

_INTEL_SHUFFLES = (
    (("cl_intel_subgroups",), (FLOAT, INT, UINT), COUNTS),
    (("cl_intel_subgroups",), (LONG, ULONG, DOUBLE, HALF), SCALAR),
    (("cl_intel_subgroups_short",), (SHORT, USHORT), COUNTS),
    (("cl_intel_subgroups_char",), (CHAR, UCHAR), (1, 2, 4, 8, 16)),
)
"""Types for which intel_sub_group_shuffle and its like exist."""

INTEL = (
    *(row for needs, domain, counts in _INTEL_SHUFFLES for row in (
        Row("intel_sub_group_shuffle", "gen(gen, uint)", "core.SubgroupShuffleINTEL", domain, counts, needs),
        Row("intel_sub_group_shuffle_xor", "gen(gen, uint)", "core.SubgroupShuffleXorINTEL", domain, counts, needs),
        Row("intel_sub_group_shuffle_down", "gen(gen, gen, uint)", "core.SubgroupShuffleDownINTEL", domain, counts,
            needs),
        Row("intel_sub_group_shuffle_up", "gen(gen, gen, uint)", "core.SubgroupShuffleUpINTEL", domain, counts,
            needs))),
    *(row for needs, domain, counts in ((("cl_intel_subgroups_short",), (SHORT, USHORT), (1, 2, 3, 4, 8)),
                                        (("cl_intel_subgroups_char",), (CHAR, UCHAR), SCALAR)) for row in (
        Row("intel_sub_group_broadcast", "gen(gen, uint)", group("GroupBroadcast"), domain, counts, needs),
        *_combinations("intel_sub_group", "Group", UNIFORM_OPERATIONS, domain, needs))),
)
"""cl_intel_subgroups, _short and _char."""

ROWS = (*WORK_GROUP_ROWS, *UNIFORM, *NON_UNIFORM, *INTEL)
