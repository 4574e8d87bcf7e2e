"""Cases of the family synchronization."""

from __future__ import annotations

import re
from typing import Any

from tests.kit.spirv.case import broken, kernel, shader, valid

SPLIT = {"capabilities": "SplitBarrierINTEL", "extensions": "SPV_INTEL_split_barrier"}
ARRIVE = "OpControlBarrierArriveINTEL %uint_2 %uint_2 %uint_0x104\n"
WAIT = "OpControlBarrierWaitINTEL %uint_2 %uint_2 %uint_0x102\n"
NAMED = {"capabilities": "NamedBarrier", "declarations": "%named = OpTypeNamedBarrier"}
ACQUIRE, RELEASE, BOTH, SEQUENTIAL, UNIFORM, LOCAL, AVAILABLE, VISIBLE, VOLATILE = (
    0x2, 0x4, 0x8, 0x10, 0x40, 0x100, 0x2000, 0x4000, 0x8000)


def number(value: int) -> str:
    return f"%uint_{value}"


def barrier(execution: str = "%uint_2", memory: str = "%uint_2", semantics: str = number(BOTH | LOCAL),
            **rest: Any) -> str:
    return kernel(f"OpControlBarrier {execution} {memory} {semantics}", **rest)


def fence(semantics: int, scope: str = "%uint_2", **rest: Any) -> str:
    return kernel(f"OpMemoryBarrier {scope} {number(semantics)}", **rest)


def split(arrive: str = ARRIVE, wait: str = WAIT) -> str:
    return kernel(re.sub("0x[0-9]+", lambda match: str(int(match[0], 16)), arrive + wait), **SPLIT)


def vulkan(body: str, device: bool = False, **rest: str) -> str:
    """A shader of the Vulkan memory model with the variable %v, which its work-group shares."""
    return shader(body, model="OpMemoryModel Logical Vulkan", version="1.3",
                  kind="Shader VulkanMemoryModel" + " VulkanMemoryModelDeviceScope" * device,
                  extensions="SPV_KHR_vulkan_memory_model SPV_EXT_split_barrier", **rest,
                  declarations="%shared = OpTypePointer Workgroup %uint\n%v = OpVariable %shared Workgroup")


def atomic(semantics: int, scope: str = "%uint_2", **rest: Any) -> str:
    return vulkan(f"%r = OpAtomicIAdd %uint %v {scope} {number(semantics)} %uint_1", **rest)


def exchange(equal: int, unequal: int) -> str:
    return vulkan(f"%r = OpAtomicCompareExchange %uint %v %uint_2 {number(equal)} {number(unequal)} %uint_1 %uint_1")


def split_in_shader(arrive: int, wait: int) -> str:
    return vulkan("".join(f"OpControlBarrier{op}EXT %uint_2 %uint_2 {number(semantics | LOCAL)}\n"
                          for op, semantics in (("Arrive", arrive), ("Wait", wait))), capabilities="SplitBarrierEXT")


def in_shader(body: str, **rest: Any) -> str:
    return shader(f"%s = OpCopyObject %uint %uint_2\n{body}", version="1.3", **rest)


WORK_GROUPS = ("OpenCL SPIR-V environment, Validation Rules: barriers are executed by a work-group or a sub-group; "
               "SPIRV-Tools checks this for Vulkan only")
SPLIT_BARRIERS = ("cl_intel_split_work_group_barrier, SPIR-V environment: a work-group arrives with Release and waits "
                  "with Acquire; SPIRV-Tools checks this for Vulkan only")

CASES = [
    valid("a barrier of a work-group", barrier()),
    valid("a barrier of a sub-group", barrier("%uint_3", "%uint_3", number(BOTH | 0x80))),
    valid("a scope that is no constant", barrier(memory="%p0", parameters="%uint")),
    valid("a fence for all devices", fence(SEQUENTIAL | 0x200, "%uint_0")),
    broken("scope-value", "a scope of 64 bits", barrier(memory="%ulong_2")),
    broken("scope-value", "a float as scope", barrier(memory="%float_2")),
    broken("scope-value", "a scope that does not exist", barrier(memory="%uint_7")),
    broken("scope-value", "a scope of a shader that is no constant",
           in_shader("OpMemoryBarrier %s %uint_264")),
    broken("scope-vulkan", "a queue family in a kernel", fence(BOTH | LOCAL, "%uint_5")),
    valid("a queue family in the Vulkan memory model", atomic(BOTH | LOCAL, "%uint_5")),
    broken("scope-vulkan", "a device in the Vulkan memory model", atomic(BOTH | LOCAL, "%uint_1")),
    valid("a device with the capability for it", atomic(BOTH | LOCAL, "%uint_1", device=True)),
    *(valid(f"a fence with semantics {bits:#x}", fence(bits))
      for bits in (ACQUIRE | LOCAL, RELEASE | 0x200, SEQUENTIAL)),
    valid("semantics that are no constant", barrier(semantics="%p0", parameters="%uint")),
    broken("memory-semantics", "semantics of 64 bits", barrier(semantics="%ulong_264")),
    broken("memory-semantics", "semantics of a shader that are no constant", in_shader("OpMemoryBarrier %uint_2 %s")),
    broken("memory-semantics", "two orders", fence(ACQUIRE | RELEASE | LOCAL)),
    broken("memory-semantics", "an order beside sequential consistency", fence(BOTH | SEQUENTIAL | LOCAL)),
    broken("memory-semantics", "bits without a meaning in a shader", shader("OpMemoryBarrier %uint_2 %uint_265"),
           "SPIR-V 3.2.24: where semantics must be constant they are made of the bits of the table only; SPIRV-Tools "
           "does not look at others"),
    broken("memory-semantics", "uniform memory in a kernel", fence(BOTH | UNIFORM)),
    broken("memory-semantics", "what is released becomes available in a kernel", fence(RELEASE | LOCAL | AVAILABLE)),
    valid("what is released becomes available", atomic(RELEASE | LOCAL | AVAILABLE)),
    valid("what is acquired becomes visible", atomic(ACQUIRE | LOCAL | VISIBLE)),
    broken("memory-semantics", "what is acquired becomes available", atomic(ACQUIRE | LOCAL | AVAILABLE)),
    broken("memory-semantics", "what is released becomes visible", atomic(RELEASE | LOCAL | VISIBLE)),
    valid("a volatile atomic", atomic(BOTH | LOCAL | VOLATILE)),
    broken("memory-semantics", "a volatile fence",
           vulkan(f"OpMemoryBarrier %uint_2 {number(BOTH | LOCAL | VOLATILE)}")),
    broken("memory-semantics-vulkan", "sequential consistency", atomic(SEQUENTIAL | LOCAL)),
    broken("memory-semantics-vulkan", "an order without a storage class", atomic(BOTH)),
    broken("memory-semantics-vulkan", "a storage class without an order", atomic(LOCAL)),
    broken("memory-semantics-vulkan", "an order within one invocation", atomic(BOTH | LOCAL, "%uint_4")),
    broken("memory-semantics-vulkan", "a fence without an order", vulkan("OpMemoryBarrier %uint_2 %uint_0")),
    valid("a failed exchange that does less", exchange(BOTH | LOCAL, ACQUIRE | LOCAL)),
    broken("memory-semantics-vulkan", "a failed exchange with more storage classes",
           exchange(BOTH | LOCAL, ACQUIRE | LOCAL | UNIFORM)),
    broken("memory-semantics-vulkan", "a failed exchange that makes visible",
           exchange(BOTH | LOCAL, ACQUIRE | LOCAL | VISIBLE)),
    broken("memory-semantics-vulkan", "an exchange that is volatile where it fails",
           exchange(BOTH | LOCAL, ACQUIRE | LOCAL | VOLATILE)),
    valid("a split barrier of a shader", split_in_shader(RELEASE, ACQUIRE)),
    broken("memory-semantics-vulkan", "arriving acquires", split_in_shader(BOTH, ACQUIRE)),
    broken("memory-semantics-vulkan", "waiting releases", split_in_shader(RELEASE, BOTH)),
    broken("barrier-scope", "a barrier of a device", barrier("%uint_1"), WORK_GROUPS),
    broken("barrier-scope", "a barrier of one invocation", barrier("%uint_4"), WORK_GROUPS),
    valid("a split barrier", split()),
    broken("split-barrier", "a sub-group arrives",
           split(ARRIVE.replace("%uint_2", "%uint_3", 1)), SPLIT_BARRIERS),
    broken("split-barrier", "a device waits", split(wait=WAIT.replace("%uint_2", "%uint_1", 1)), SPLIT_BARRIERS),
    broken("split-barrier", "arriving acquires in a kernel", split(ARRIVE.replace("0x104", "0x102")), SPLIT_BARRIERS),
    broken("split-barrier", "waiting is relaxed in a kernel", split(wait=WAIT.replace("0x102", "0x100")),
           SPLIT_BARRIERS),
    valid("a split barrier that orders nothing",
          split(ARRIVE.replace("%uint_0x104", "%uint_0"), WAIT.replace("%uint_0x102", "%uint_0"))),
    broken("split-barrier-pair", "nobody waits", split(wait="")),
    broken("split-barrier-pair", "nobody arrives", split("")),
    valid("a named barrier", kernel("%b = OpNamedBarrierInitialize %named %uint_2\nOpMemoryNamedBarrier %b %uint_2 "
                                    "%uint_264", version="1.1", **NAMED)),
    broken("named-barrier", "a named barrier that is a number",
           kernel("%b = OpNamedBarrierInitialize %uint %uint_2", version="1.1", **NAMED)),
    broken("named-barrier", "a named barrier of float sub-groups",
           kernel("%b = OpNamedBarrierInitialize %named %float_2", version="1.1", **NAMED)),
    broken("named-barrier", "waiting at a number",
           kernel("OpMemoryNamedBarrier %uint_1 %uint_2 %uint_264", version="1.1", **NAMED)),
]
