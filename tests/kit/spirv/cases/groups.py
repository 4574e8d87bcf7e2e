"""Cases of the family groups and intel_groups."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

NON_UNIFORM = ("GroupNonUniform GroupNonUniformVote GroupNonUniformBallot GroupNonUniformArithmetic "
               "GroupNonUniformShuffle "
               "GroupNonUniformShuffleRelative GroupNonUniformClustered GroupNonUniformQuad GroupNonUniformRotateKHR")
VALUES = "%i = OpUndef %uint\n%f = OpUndef %float\n%b = OpUndef %bool\n%w = OpUndef %v2uint\n%q = OpUndef %v4uint\n"
ROTATE = "SPV_KHR_subgroup_rotate"
SCOPE = ("SPIR-V 3.3.21 has Workgroup and Subgroup as scopes of OpGroup instructions; SPIRV-Tools does not look at "
         "the scope "
         "of these")


def group(text: str, capabilities: str = "Groups", **rest: str) -> str:
    """A kernel with an instruction on undefined values %i (uint), %f (float), %b (bool), %w (v2uint), %q (v4uint)."""
    return kernel(f"{VALUES}%r = {text}", capabilities=capabilities, **rest)


def non_uniform(text: str, **rest: str) -> str:
    return group(text, NON_UNIFORM, extensions=ROTATE, **rest)


def partitioned(ballot: str) -> str:
    return group(f"OpGroupNonUniformIAdd %uint %uint_3 PartitionedReduceEXT %i {ballot}",
                 "GroupNonUniformPartitionedEXT", extensions="SPV_EXT_shader_subgroup_partitioned")


def signed(text: str) -> str:
    """A shader with an instruction on the signed %s, too."""
    return shader(f"%s = OpUndef %sint\n{VALUES}%r = {text}", kind=f"Shader {NON_UNIFORM}", extensions=ROTATE)


def copy(target: str = "%p0", source: str = "%p1", count: str = "%n", stride: str = "%n", event: str = "%e",
         result: str = "%event", parameters: str = "%ptr_local_uint %ptr_global_uint") -> str:
    return kernel(f"%n = OpUndef %ulong\n%e = OpUndef %event\n%i = OpUndef %uint\n"
                  f"%r = OpGroupAsyncCopy {result} %uint_2 {target} {source} {count} {stride} {event}",
                  parameters=parameters, declarations="%event = OpTypeEvent")


def wait(number: str = "%uint_1", events: str = "%v") -> str:
    return kernel(f"%v = OpVariable %ptr_event Function\n%x = OpVariable %ptr_private_uint Function\n"
                  f"%n = OpUndef %ulong\nOpGroupWaitEvents %uint_2 {number} {events}",
                  declarations="%event = OpTypeEvent\n%ptr_event = OpTypePointer Function %event")


SCOPES = [
    valid("a sum over the work-group", group("OpGroupIAdd %uint %uint_2 Reduce %i")),
    valid("a sum over the sub-group", group("OpGroupFAdd %float %uint_3 InclusiveScan %f")),
    broken("group-scope", "a sum over the device", group("OpGroupIAdd %uint %uint_1 Reduce %i"), SCOPE,
           says="Workgroup (2) or Subgroup (3)"),
    broken("group-scope", "a non-uniform sum over the work-group",
           non_uniform("OpGroupNonUniformIAdd %uint %uint_2 Reduce %i"),
           says="is Subgroup (3)"),
    broken("group-scope", "a vote of the device", group("OpGroupAll %bool %uint_1 %b"), SCOPE, says="Workgroup (2)"),
    valid("a non-uniform sum", non_uniform("OpGroupNonUniformIAdd %uint %uint_3 Reduce %i")),
]

ARITHMETIC = [
    *(valid(f"OpGroupNonUniform{op}", non_uniform(f"OpGroupNonUniform{op} {kind} %uint_3 ExclusiveScan {value}"))
      for op, kind,
      value in (("FMax", "%float", "%f"), ("LogicalXor", "%bool", "%b"), ("BitwiseAnd", "%v2uint", "%w"))),
    broken("group-arithmetic", "integers added as floats", group("OpGroupFAdd %uint %uint_2 Reduce %i"),
           says="combines floating-point numbers"),
    broken("group-arithmetic", "floats added as integers", group("OpGroupIAdd %float %uint_2 Reduce %f"),
           says="combines integers"),
    broken("group-arithmetic", "integers combined as booleans",
           non_uniform("OpGroupNonUniformLogicalAnd %uint %uint_3 Reduce %i"), says="combines booleans"),
    broken("group-arithmetic", "a sum of another type", group("OpGroupIAdd %ulong %uint_2 Reduce %i"),
           says="cannot give"),
    broken("group-arithmetic", "a clustered sum over a work-group's items",
           group("OpGroupIAdd %uint %uint_2 ClusteredReduce %i", "Groups GroupNonUniformClustered"),
           "SPIR-V 3.3.21 gives OpGroup instructions no place for a cluster size; SPIRV-Tools does not look at their "
           "group "
           "operation",
           says="is a reduction or a scan"),
    broken("group-arithmetic", "a signed minimum of unsigned numbers",
           signed("OpGroupNonUniformUMin %sint %uint_3 Reduce %s"), says="signedness 0"),
    valid("a sum over clusters", non_uniform("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i %uint_8")),
    broken("group-arithmetic", "clusters of no size",
           non_uniform("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i"),
           says="needs a cluster size"),
    broken("group-arithmetic", "clusters of a size of run time",
           non_uniform("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i %i"), says="is a constant"),
    broken("group-arithmetic", "clusters of a signed size",
           signed("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i %sint_8"), says="the cluster size of"),
    valid("a sum over partitions", partitioned("%q")),
    broken("group-arithmetic", "a sum over partitions without ballot", partitioned(""), says="needs a ballot"),
    broken("group-arithmetic", "a sum over partitions with a number", partitioned("%i"), says="the ballot of"),
    broken("cluster-size", "clusters of 6",
           non_uniform("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i %uint_6"),
           says="is no power of two"),
    broken("cluster-size", "clusters of 0",
           non_uniform("OpGroupNonUniformIAdd %uint %uint_3 ClusteredReduce %i %uint_0"),
           says="is no power of two"),
]

EXCHANGES = [
    valid("a vote", non_uniform("OpGroupNonUniformAny %bool %uint_3 %b")),
    valid("an election", non_uniform("OpGroupNonUniformElect %bool %uint_3")),
    valid("a comparison", non_uniform("OpGroupNonUniformAllEqual %bool %uint_3 %w")),
    broken("group-vote", "a vote that gives a number", group("OpGroupAny %uint %uint_2 %b"), says="gives a boolean"),
    broken("group-vote", "a vote on a number", group("OpGroupAll %bool %uint_2 %i"), says="takes a boolean"),
    broken("group-vote", "a non-uniform vote on a number", non_uniform("OpGroupNonUniformAll %bool %uint_3 %i"),
           says="takes a boolean"),
    broken("group-vote", "an election that gives a number", non_uniform("OpGroupNonUniformElect %uint %uint_3"),
           says="gives a boolean"),
    broken("group-vote", "a comparison of pointers",
           kernel("%r = OpGroupNonUniformAllEqual %bool %uint_3 %p0", parameters="%ptr_global_uint",
                  capabilities=NON_UNIFORM, extensions=ROTATE), says="compares numbers or booleans"),
    valid("a broadcast", group("OpGroupBroadcast %uint %uint_2 %i %w")),
    valid("a non-uniform broadcast", non_uniform("OpGroupNonUniformBroadcast %float %uint_3 %f %uint_5")),
    valid("a shuffle", non_uniform("OpGroupNonUniformShuffle %v2uint %uint_3 %w %i")),
    valid("a rotation", non_uniform("OpGroupNonUniformRotateKHR %uint %uint_3 %i %uint_1 %uint_8")),
    broken("group-exchange", "a broadcast of another type", group("OpGroupBroadcast %float %uint_2 %i %w"),
           says="cannot give"),
    broken("group-exchange", "a broadcast from a float", group("OpGroupBroadcast %uint %uint_2 %i %f"),
           "SPIR-V 3.3.21 asks for integers as LocalId; SPIRV-Tools has no rule for OpGroupBroadcast",
           says="is an integer or a vector"),
    broken("group-exchange", "a shuffle of pointers",
           kernel(f"{VALUES}%r = OpGroupNonUniformShuffle %ptr_global_uint %uint_3 %p0 %i",
                  parameters="%ptr_global_uint",
                  capabilities=NON_UNIFORM, extensions=ROTATE), says="exchanges numbers"),
    broken("group-exchange", "a shuffle with a float as position",
           non_uniform("OpGroupNonUniformShuffle %uint %uint_3 %i %f"), says="signedness 0"),
    broken("group-exchange", "a shuffle with a signed position",
           signed("OpGroupNonUniformShuffleXor %uint %uint_3 %i %s"), says="signedness 0"),
    broken("group-exchange", "a broadcast from a position of run time before SPIR-V 1.5",
           non_uniform("OpGroupNonUniformBroadcast %uint %uint_3 %i %i"), says="is a constant before SPIR-V 1.5"),
    valid("a broadcast from a position of run time in SPIR-V 1.5",
          non_uniform("OpGroupNonUniformBroadcast %uint %uint_3 %i %i", version="1.5")),
    broken("group-exchange", "a swap in a direction of run time",
           non_uniform("OpGroupNonUniformQuadSwap %uint %uint_3 %i %i"), says="is a constant"),
    broken("group-exchange", "a rotation in clusters of a size of run time",
           non_uniform("OpGroupNonUniformRotateKHR %uint %uint_3 %i %uint_1 %i"), says="the cluster size of"),
    broken("group-exchange", "a rotation in clusters of a float",
           non_uniform("OpGroupNonUniformRotateKHR %uint %uint_3 %i %uint_1 %float_8"), says="signedness 0"),
    broken("cluster-size", "a rotation in clusters of 6",
           non_uniform("OpGroupNonUniformRotateKHR %uint %uint_3 %i %uint_1 %uint_6"),
           "SPV_KHR_subgroup_rotate leaves clusters whose size is no power of two undefined: a warning here, an error "
           "of "
           "SPIRV-Tools"),
    valid("a ballot", non_uniform("OpGroupNonUniformBallot %v4uint %uint_3 %b")),
    *(valid(f"OpGroupNonUniform{op}", non_uniform(f"OpGroupNonUniform{op} {text}"))
      for op, text in (("InverseBallot", "%bool %uint_3 %q"), ("BallotBitExtract", "%bool %uint_3 %q %i"),
                       ("BallotBitCount", "%uint %uint_3 Reduce %q"), ("BallotFindLSB", "%uint %uint_3 %q"))),
    broken("group-ballot", "a ballot of two words", non_uniform("OpGroupNonUniformBallot %v2uint %uint_3 %b"),
           says="gives a vector of four"),
    broken("group-ballot", "a ballot of numbers", non_uniform("OpGroupNonUniformBallot %v4uint %uint_3 %i"),
           says="takes a boolean"),
    broken("group-ballot", "a count of two words",
           non_uniform("OpGroupNonUniformBallotBitCount %uint %uint_3 Reduce %w"),
           says="takes a vector of four"),
    broken("group-ballot", "a bit that is a number",
           non_uniform("OpGroupNonUniformBallotBitExtract %uint %uint_3 %q %i"),
           says="gives a boolean"),
    broken("group-ballot", "a bit at a float", non_uniform("OpGroupNonUniformBallotBitExtract %bool %uint_3 %q %f"),
           says="the position for"),
    broken("group-ballot", "a count that is a float", non_uniform("OpGroupNonUniformBallotFindMSB %float %uint_3 %q"),
           says="gives an integer"),
]

COPIES = [
    valid("a copy to local memory", copy()),
    valid("a copy to global memory", copy("%p1", "%p0")),
    broken("async-copy", "a copy that gives a number", copy(result="%uint"), says="gives an event"),
    broken("async-copy", "a copy to a number", copy(target="%i"), says="writes through a pointer"),
    broken("async-copy", "a copy from a number", copy(source="%i"), says="reads through a pointer"),
    broken("async-copy", "a copy of booleans", copy(parameters="%ptr_local_bool %ptr_global_bool"),
           says="copies numbers"),
    broken("async-copy", "a copy between types", copy(parameters="%ptr_local_uint %ptr_global_float"),
           says="copies between"),
    broken("async-copy", "a copy within global memory", copy(parameters="%ptr_global_uint %ptr_global_uint"),
           says="Workgroup and CrossWorkgroup"),
    broken("async-copy", "a 32-bit number of elements", copy(count="%i"), says="the number of elements"),
    broken("async-copy", "a 32-bit stride", copy(stride="%i"), says="the stride of"),
    broken("async-copy", "a copy after a number", copy(event="%n"), says="takes an event"),
    valid("waiting for events", wait()),
    broken("wait-events", "a 64-bit number of events", wait("%n"), says="the number of events"),
    broken("wait-events", "waiting for numbers", wait(events="%x"), says="a pointer to events"),
]

CASES = [*SCOPES, *ARITHMETIC, *EXCHANGES, *COPIES]
