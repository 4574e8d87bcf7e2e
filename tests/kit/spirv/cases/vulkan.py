"""Cases of the families vulkan and vulkan_memory: compute shaders for Vulkan."""

from __future__ import annotations

from dataclasses import replace

from tests.kit.spirv.case import Case, broken, shader, valid

PHYSICAL = {"kind": "Shader Int64 PhysicalStorageBufferAddresses VulkanMemoryModel", "version": "1.5",
            "model": "OpMemoryModel PhysicalStorageBuffer64 Vulkan"}
ADDRESS = "%pointer = OpTypePointer PhysicalStorageBuffer %uint"
GROUPS = {"kind": "Shader VulkanMemoryModel GroupNonUniform GroupNonUniformArithmetic", "version": "1.5",
          "model": "OpMemoryModel Logical Vulkan"}
BLOCK = "OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\n"
BOUND = "OpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0"


def variable(storage: str, annotations: str, members: str = "%uint", before: str = "", **rest: str) -> str:
    """A shader with a variable of a structure ``%s``."""
    return shader("", annotations=annotations, entry='OpEntryPoint GLCompute %main "main" %v', version="1.4",
                  declarations=f"{before}\n%s = OpTypeStruct {members}\n%ptr = OpTypePointer {storage} %s\n"
                               f"%v = OpVariable %ptr {storage}", **rest)


def array(stride: str, storage: str = "PushConstant", block: str = BLOCK) -> str:
    """A variable with an array of two numbers in it."""
    return variable(storage, f"{block}{stride}", "%a", "%a = OpTypeArray %uint %uint_2")


def built_in(name: str, kind: str, storage: str = "Input", **rest: str) -> str:
    """A shader that declares a built-in."""
    settings = {"annotations": f"OpDecorate %v BuiltIn {name}", "entry": 'OpEntryPoint GLCompute %main "main" %v',
                "version": "1.4", **rest}
    return shader(f"%x = OpLoad {kind} %v",
                  declarations=f"%ptr = OpTypePointer {storage} {kind}\n%v = OpVariable %ptr {storage}", **settings)


def barrier(scope: int, memory: int = 2) -> str:
    return shader(f"OpControlBarrier %uint_{scope} %uint_{memory} %uint_264")


def reduced(scope: int) -> str:
    return shader(f"%r = OpGroupNonUniformIAdd %uint %uint_{scope} Reduce %uint_1", **GROUPS)


def initialised(storage: str, value: str) -> str:
    return shader("", declarations=f"%null = OpConstantNull %uint\n%ptr = OpTypePointer {storage} %uint\n"
                                   f"%v = OpVariable %ptr {storage} {value}")


_CASES = [
    valid("a compute shader", shader("")),
    broken("vulkan-work-groups", "a compute shader without a size", shader("", modes="")),
    broken("vulkan-capabilities", "a shader with linkage", shader("", capabilities="Linkage")),
    broken("vulkan-capabilities", "a shader with vectors of sixteen",
           shader("%x = OpUndef %v16uint")),
    broken("vulkan-addressing vulkan-capabilities", "a shader with addresses",
           shader("", capabilities="Addresses", model="OpMemoryModel Physical64 GLSL450")),
    valid("a barrier of a work-group", barrier(2)),
    valid("a barrier of a sub-group", barrier(3)),
    broken("vulkan-scopes", "a barrier of the device", barrier(1), says="execution scope"),
    broken("vulkan-scopes", "a barrier for the memory of all devices", barrier(2, 0), says="memory scope"),
    valid("a sum of a sub-group", reduced(3)),
    broken("vulkan-scopes group-scope", "a sum of a work-group", reduced(2)),
    valid("a private variable with a value", initialised("Private", "%uint_1")),
    broken("vulkan-initializer", "a shared variable with a value", initialised("Workgroup", "%uint_1")),
    broken("vulkan-initializer", "a buffer with a value",
           variable("StorageBuffer", BLOCK + BOUND).replace("%v = OpVariable %ptr StorageBuffer",
                                                            "%null = OpConstantNull %s\n"
                                                            "%v = OpVariable %ptr StorageBuffer %null")),
    broken("vulkan-storage", "a variable in global memory",
           shader("", declarations="%ptr = OpTypePointer CrossWorkgroup %uint\n%v = OpVariable %ptr CrossWorkgroup")),
    valid("a buffer", variable("StorageBuffer", BLOCK + BOUND)),
    broken("vulkan-resources", "a buffer without a binding", variable("StorageBuffer", BLOCK)),
    valid("push constants", variable("PushConstant", BLOCK)),
    broken("vulkan-resources", "push constants that are no block",
           variable("PushConstant", "OpMemberDecorate %s 0 Offset 0")),
    broken("vulkan-resources", "two variables of push constants",
           variable("PushConstant", BLOCK).replace('"main" %v', '"main" %v %w').replace(
               "%v = OpVariable", "%w = OpVariable %ptr PushConstant\n%v = OpVariable")),
    broken("vulkan-layout", "a member without offset", variable("PushConstant", "OpDecorate %s Block")),
    broken("vulkan-layout", "a member at an odd place",
           variable("PushConstant", "OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 2")),
    valid("an array with a stride", array("OpDecorate %a ArrayStride 4")),
    broken("vulkan-layout", "an array without a stride", array("")),
    broken("vulkan-layout", "an array with an odd stride", array("OpDecorate %a ArrayStride 6")),
    broken("vulkan-layout", "a shared array with a stride", array("OpDecorate %a ArrayStride 4", "Workgroup", "")),
    broken("vulkan-layout", "a shared structure with offsets", variable("Workgroup", "OpMemberDecorate %s 0 Offset 0")),
    valid("the number of a work-item", built_in("LocalInvocationId", "%v3uint")),
    broken("vulkan-builtins", "the number of a work-item, too wide",
           built_in("LocalInvocationId", "%v3ulong", capabilities="Int64")),
    broken("vulkan-builtins", "the number of a work-group as one number", built_in("WorkgroupId", "%uint")),
    broken("vulkan-builtins", "the number of a work-item in private memory",
           built_in("LocalInvocationId", "%v3uint", "Private")),
    broken("vulkan-builtins", "the size of a sub-group, too wide",
           built_in("SubgroupSize", "%ulong", capabilities="Int64 GroupNonUniform", version="1.5")),
    valid("an address of 64 bits", shader("%p = OpConvertUToPtr %pointer %ulong_64\n%x = OpLoad %uint %p Aligned 4",
                                          declarations=ADDRESS, **PHYSICAL)),
    broken("vulkan-addresses", "an address of 32 bits", shader("%p = OpConvertUToPtr %pointer %uint_64",
                                                               declarations=ADDRESS, **PHYSICAL)),
    broken("vulkan-addresses", "a pointer to a buffer ahead of its type",
           shader("", declarations="OpTypeForwardPointer %next StorageBuffer\n%node = OpTypeStruct %next\n"
                                   "%next = OpTypePointer StorageBuffer %node", **PHYSICAL)),
    broken("vulkan-matrix-memory", "a matrix in private memory",
           shader("%e = OpAccessChain %element %v %uint_0\n"
                  "%m = OpCooperativeMatrixLoadKHR %matrix_a_8x8_float %e %uint_0 %uint_8",
                  declarations="%ptr = OpTypePointer Private %arr64_float\n%v = OpVariable %ptr Private\n"
                  "%element = OpTypePointer Private %float",
                  entry='OpEntryPoint GLCompute %main "main" %v', version="1.6",
                  capabilities="VulkanMemoryModel", model="OpMemoryModel Logical Vulkan")),
]
CASES: list[Case] = [replace(case, environment="vulkan1.3") for case in _CASES]
