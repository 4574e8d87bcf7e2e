"""Cases of the family hints."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, valid
from tests.kit.spirv.cases.arithmetic import apply

EXPECT = {"capabilities": "ExpectAssumeKHR", "extensions": "SPV_KHR_expect_assume"}
NO_PREFETCH_RULE = ("SPV_INTEL_subgroup_buffer_prefetch: a pointer to an integer in CrossWorkgroup memory and a "
                    "constant 32-bit number of bytes; SPIRV-Tools has no rule for this instruction")


def assume(condition: str) -> str:
    return kernel(f"OpAssumeTrueKHR {condition}", **EXPECT)


def expect(result: str, value: str, expected: str) -> str:
    return apply("ExpectKHR", result, value, expected, **EXPECT)


def prefetch(pointer: str, size: str = "%uint_16", parameters: str = "") -> str:
    return kernel(f"OpSubgroupBlockPrefetchINTEL %p0 {size}", parameters=f"{pointer} {parameters}",
                  capabilities="SubgroupBufferPrefetchINTEL", extensions="SPV_INTEL_subgroup_buffer_prefetch")


CASES = [
    valid("an assumption", assume("%true")),
    broken("assume-condition", "an assumed integer", assume("%uint_1")),
    valid("an expected vector", expect("%v2uint", "%v2uint", "%v2uint")),
    valid("an expected boolean", expect("%bool", "%bool", "%bool")),
    broken("expect-types", "an expected float", expect("%float", "%float", "%float")),
    broken("expect-types", "an expected pointer", expect("%ptr_global_uint", "%ptr_global_uint", "%ptr_global_uint")),
    broken("expect-types", "an expected value of another width", expect("%uint", "%uint", "%ulong")),
    broken("expect-types", "a value of another type", expect("%uint", "%bool", "%uint")),
    valid("a block prefetch", prefetch("%ptr_global_ushort")),
    broken("block-prefetch", "a block prefetch of local memory", prefetch("%ptr_local_uint"), NO_PREFETCH_RULE),
    broken("block-prefetch", "a block prefetch of floats", prefetch("%ptr_global_float"), NO_PREFETCH_RULE),
    broken("block-prefetch", "a block prefetch of a 64-bit number of bytes", prefetch("%ptr_global_uint", "%ulong_16"),
           NO_PREFETCH_RULE),
    broken("block-prefetch", "a block prefetch of a variable number of bytes",
           prefetch("%ptr_global_uint", "%p1", "%uint"), NO_PREFETCH_RULE),
]
