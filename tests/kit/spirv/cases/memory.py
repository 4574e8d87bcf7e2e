"""Cases of the family memory."""

from __future__ import annotations

from typing import Any

from tests.kit.spirv.case import broken, kernel, shader, valid
from tests.kit.spirv.cases.declarations import declare

VULKAN = {"model": "OpMemoryModel Logical Vulkan", "kind": "Shader VulkanMemoryModel",
          "extensions": "SPV_KHR_vulkan_memory_model"}
PHYSICAL = {"kind": "Shader PhysicalStorageBufferAddresses", "extensions": "SPV_KHR_physical_storage_buffer",
            "model": "OpMemoryModel PhysicalStorageBuffer64 GLSL450",
            "declarations": "%pointer = OpTypePointer PhysicalStorageBuffer %uint"}
LIST = ("%numbers = OpTypeRuntimeArray %uint\n%list = OpTypeStruct %uint %numbers\n"
        "%to_list = OpTypePointer StorageBuffer %list\n%v = OpVariable %to_list StorageBuffer")
LAYOUT = ("OpDecorate %numbers ArrayStride 4\nOpDecorate %list Block\nOpMemberDecorate %list 0 Offset 0\n"
          "OpMemberDecorate %list 1 Offset 4\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0")
UNTYPED = {"capabilities": "UntypedPointersKHR", "extensions": "SPV_KHR_untyped_pointers",
           "declarations": "%bytes = OpTypeUntypedPointerKHR CrossWorkgroup"}


def load(operands: str = "", result: str = "%uint", pointer: str = "%ptr_global_uint", **rest: Any) -> str:
    return kernel(f"%r = OpLoad {result} %p0 {operands}", parameters=pointer, **rest)


def store(operands: str = "", value: str = "%uint", pointer: str = "%ptr_global_uint") -> str:
    return kernel(f"%x = OpUndef {value}\nOpStore %p0 %x {operands}", parameters=pointer)


def copy(operands: str = "", target: str = "%ptr_global_uint", source: str = "%ptr_local_uint", **rest: Any) -> str:
    return kernel(f"OpCopyMemory %p0 %p1 {operands}", parameters=f"{target} {source}", **rest)


def copy_sized(size: str, target: str = "%ptr_global_uchar", source: str = "%ptr_local_uchar") -> str:
    return kernel(f"OpCopyMemorySized %p0 %p1 {size}", parameters=f"{target} {source}")


def shared(operands: str, write: bool = False) -> str:
    """An access to memory that others share, in the Vulkan memory model."""
    return in_shader(f"OpStore %v %uint_1 {operands}" if write else f"%r = OpLoad %uint %v {operands}", **VULKAN)


def in_shader(body: str, pointee: str = "%uint", **rest: Any) -> str:
    """A compute shader with the variable %v, which its work-group shares."""
    return shader(body, entry='OpEntryPoint GLCompute %main "main" %v', declarations=
                  f"%pointer = OpTypePointer Workgroup {pointee}\n%v = OpVariable %pointer Workgroup", **rest)


def physical(operands: str) -> str:
    return shader(f"%p = OpUndef %pointer\n%r = OpLoad %uint %p {operands}", **PHYSICAL)


def length(result: str, member: str, version: str = "1.3", operand: str = "%v", declarations: str = LIST) -> str:
    return shader(f"%n = OpArrayLength {result} {operand} {member}", declarations=declarations, annotations=LAYOUT,
                  version=version)


def holding(pointee: str, storage: str, capability: str = "VariablePointers") -> str:
    """A shader's variable that holds a pointer in a structure."""
    return shader("", version="1.3", capabilities=capability, declarations=
                  f"%inner = OpTypePointer {pointee} %uint\n%s = OpTypeStruct %uint %inner\n"
                  f"%pointer = OpTypePointer {storage} %s\n%v = OpVariable %pointer {storage}")


def lifetime(size: str, pointer: str = "%ptr_private_uint", storage: str = "Function", **rest: Any) -> str:
    return kernel(f"%v = OpVariable {pointer} {storage}\nOpLifetimeStart %v {size}", **rest)


OF_OPENCL = "OpenCL cannot initialise local memory (OpenCL C, local address space); SPIRV-Tools has no such rule for " \
            "kernels"

CASES = [
    valid("a private variable", kernel("%v = OpVariable %ptr_private_uint Function %uint_1")),
    valid("a local variable", declare("%v = OpVariable %ptr_local_uint Workgroup")),
    broken("variable-type", "a variable of an integer type", kernel("%v = OpVariable %uint Function")),
    broken("variable-type", "another storage class than its type's",
           declare("%v = OpVariable %ptr_global_uint Workgroup")),
    broken("variable-type", "a variable of nothing",
           declare("%pointer = OpTypePointer CrossWorkgroup %void\n%v = OpVariable %pointer CrossWorkgroup"),
           "SPIR-V 2.2.1: an object, such as a variable holds, is of a non-void type; SPIRV-Tools does not look at "
           "what a kernel's variable holds"),
    broken("variable-type", "a generic variable", declare("%v = OpVariable %ptr_generic_uint Generic")),
    broken("variable-scope", "a local variable within a function", kernel("%v = OpVariable %ptr_local_uint Workgroup")),
    broken("variable-scope", "a private variable outside functions",
           declare("%v = OpVariable %ptr_private_uint Function")),
    valid("a pointer to a variable initialises a pointer",
          declare("%v = OpVariable %ptr_global_uint CrossWorkgroup\n%pointer = OpTypePointer CrossWorkgroup "
                  "%ptr_global_uint\n%w = OpVariable %pointer CrossWorkgroup %v")),
    broken("variable-initializer", "a float initialises an integer",
           declare("%v = OpVariable %ptr_constant_uint UniformConstant %float_1")),
    broken("variable-initializer", "a value that is no constant",
           kernel("%v = OpVariable %ptr_private_uint Function %p0", parameters="%uint")),
    broken("variable-initializer", "a private variable initialises a pointer",
           kernel("%v = OpVariable %ptr_private_uint Function\n%w = OpVariable %pointer Function %v",
                  declarations="%pointer = OpTypePointer Function %ptr_private_uint")),
    broken("variable-initializer", "a local variable with an initialiser",
           declare("%v = OpVariable %ptr_local_uint Workgroup %uint_1"), OF_OPENCL),
    broken("variable-initializer", "an input with an initialiser",
           declare("%v = OpVariable %ptr_input_uint Input %uint_1")),
    broken("variable-type", "a variable in physical memory",
           shader("", **{**PHYSICAL, "declarations": PHYSICAL["declarations"]
                         + "\n%v = OpVariable %pointer PhysicalStorageBuffer"})),
    *(valid(f"a pointer to {pointee} memory in a {storage} variable", holding(pointee, storage))
      for pointee, storage in (("Workgroup", "Private"), ("StorageBuffer", "Private"))),
    broken("logical-pointer-variable", "a pointer to private memory in a variable", holding("Private", "Private")),
    broken("logical-pointer-variable", "a pointer in a local variable", holding("Workgroup", "Workgroup")),
    broken("logical-pointer-variable", "a pointer to local memory with the capability for buffers",
           holding("Workgroup", "Private", "VariablePointersStorageBuffer")),
    broken("logical-pointer-variable", "a structure with a pointer without a capability for it",
           holding("Workgroup", "Private", "")),
    valid("a local boolean", declare("%v = OpVariable %ptr_local_bool Workgroup")),
    broken("boolean-storage", "a boolean in a buffer",
           shader("", declarations="%s = OpTypeStruct %bool\n%pointer = OpTypePointer StorageBuffer %s\n"
                  "%v = OpVariable %pointer StorageBuffer", version="1.3", annotations="OpDecorate %s Block\n"
                  "OpMemberDecorate %s 0 Offset 0\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0")),
    broken("boolean-storage", "a boolean input", shader("", declarations="%v = OpVariable %ptr_input_bool Input")),
    valid("a load", load()),
    valid("a load of a vector", load("Aligned 16", "%v4float", "%ptr_global_v4float")),
    valid("a load through a pointer without type",
          kernel("%r = OpLoad %uint %p0", parameters="%bytes", **UNTYPED)),
    broken("load-types", "a load through an integer", load(pointer="%ulong")),
    broken("load-types", "a load of another type", load(result="%float")),
    broken("load-types", "a load of nothing", load(result="%void", pointer="%pointer",
                                                   declarations="%pointer = OpTypePointer CrossWorkgroup %void"),
           "SPIR-V 2.2.1: an object, such as a load gives, is of a non-void type; SPIRV-Tools refuses stores through "
           "pointers to void, but not loads"),
    broken("load-types", "a load of an array of unknown length",
           shader("%r = OpLoad %list %v", declarations=LIST, annotations=LAYOUT, version="1.3")),
    valid("a store", store()),
    broken("store-types", "a store through an integer", store(pointer="%ulong")),
    broken("store-types", "a store of another type", store(value="%float")),
    broken("store-types", "a store to constant memory", store(pointer="%ptr_constant_uint")),
    broken("store-types", "a function without result is stored",
           kernel("%x = OpFunctionCall %void %other\nOpStore %p0 %x", parameters="%ptr_global_uint",
                  declarations="%other_type = OpTypeFunction %void").replace(
               "OpFunctionEnd", "OpFunctionEnd\n%other = OpFunction %void None %other_type\n%start = OpLabel\n"
                                "OpReturn\nOpFunctionEnd")),
    valid("an alignment of 1", load("Volatile|Aligned 1")),
    broken("alignment", "an alignment of 3", load("Aligned 3")),
    broken("alignment", "an alignment of 0", store("Aligned 0")),
    broken("alignment", "an alignment of 12 in a copy", copy("Aligned 12")),
    valid("what is read is made visible", shared("MakePointerVisible|NonPrivatePointer %uint_2")),
    valid("what is written is made available", shared("MakePointerAvailable|NonPrivatePointer %uint_2", write=True)),
    broken("memory-operands", "what is read is made available",
           shared("MakePointerAvailable|NonPrivatePointer %uint_2")),
    broken("memory-operands", "what is written is made visible",
           shared("MakePointerVisible|NonPrivatePointer %uint_2", write=True)),
    broken("memory-operands", "private memory is made visible", shared("MakePointerVisible %uint_2")),
    broken("memory-operands", "private memory that is not private",
           shader("%v = OpVariable %ptr_private_uint Function\n%r = OpLoad %uint %v NonPrivatePointer", **VULKAN)),
    broken("memory-operand-scope", "a float as scope of what is made visible",
           shared("MakePointerVisible|NonPrivatePointer %float_2")),
    broken("memory-operand-scope", "an unknown scope of what is made available",
           shared("Aligned|MakePointerAvailable|NonPrivatePointer 4 %uint_9", write=True)),
    broken("memory-operand-scope", "what is read is made visible to a device",
           shared("MakePointerVisible|NonPrivatePointer %uint_1")),
    broken("memory-operand-scope", "the source of a copy is made visible to a device",
           in_shader("OpCopyMemory %v %v Aligned 4 MakePointerVisible|NonPrivatePointer %uint_1", **VULKAN)),
    broken("enumerant-unknown memory-operands memory-operand-scope", "bits without a meaning", load("Aligned 4"),
           words=(("OpLoad", 4, 0xF8),)),
    valid("a copy whose alignment looks like bits of operands",
          kernel("OpCopyMemorySized %p0 %p1 %uint_128 Aligned 64", parameters="%ptr_global_uchar %ptr_global_uchar")),
    valid("a copy with operands for both sides", copy("Aligned 4 Aligned 8")),
    broken("memory-operands", "two sets of operands before SPIR-V 1.4", copy("Aligned 4 Aligned 8", version="1.3")),
    broken("memory-operands", "the target of a copy is made visible",
           in_shader("OpCopyMemory %v %v MakePointerVisible|NonPrivatePointer %uint_2 None", **VULKAN)),
    broken("memory-operands", "the source of a copy is made available",
           in_shader("OpCopyMemory %v %v None MakePointerAvailable|NonPrivatePointer %uint_2", **VULKAN)),
    valid("an aligned access to physical memory", physical("Aligned 4")),
    broken("physical-alignment", "an access to physical memory without alignment", physical("")),
    valid("a copy", copy()),
    broken("copy-memory", "a copy of another type", copy(source="%ptr_local_float")),
    broken("copy-memory", "a copy to constant memory", copy(target="%ptr_constant_uint"),
           "UniformConstant memory is read-only (SPIR-V 3.2.6 Storage Class); SPIRV-Tools refuses stores to it, but "
           "not copies"),
    broken("copy-memory", "a copy to a number", copy(target="%uint")),
    broken("copy-memory", "a copy from a number", copy(source="%uint")),
    broken("copy-memory", "a copy of nothing",
           copy(target="%pointer", source="%pointer", declarations="%pointer = OpTypePointer CrossWorkgroup %void")),
    broken("copy-memory", "a copy without any type",
           kernel("OpCopyMemory %p0 %p1", parameters="%bytes %bytes", **UNTYPED)),
    valid("a copy of 16 bytes", copy_sized("%ulong_16")),
    broken("copy-memory", "a copy of 0 bytes", copy_sized("%ulong_0")),
    broken("copy-memory", "a copy of float bytes", copy_sized("%float_16")),
    broken("copy-memory vulkan-capabilities", "a copy of -16 bytes",
           in_shader("OpCopyMemorySized %v %v %sint_n16", kind="Shader Addresses")),
    valid("the length of an array", length("%uint", "1")),
    broken("array-length", "a float as length of an array", length("%float", "1")),
    broken("array-length", "the length of another member", length("%uint", "0")),
    broken("array-length", "the length of a number", length("%uint", "1", operand="%uint_1")),
    broken("array-length", "the length of an array in no structure",
           in_shader("%n = OpArrayLength %uint %v 0", "%arr4_uint")),
    valid("a lifetime", lifetime("0")),
    valid("the lifetime of a variable without type",
          kernel("%v = OpUntypedVariableKHR %own Function %uint\nOpLifetimeStart %v 4", **{
              **UNTYPED, "declarations": "%own = OpTypeUntypedPointerKHR Function"}),
          "SPV_KHR_untyped_pointers lets lifetimes take pointers without type; SPIRV-Tools asks for an OpTypePointer"),
    broken("lifetime-size", "a lifetime with a size beside a type", lifetime("4")),
    broken("lifetime", "the lifetime of a number", kernel("OpLifetimeStop %p0 0", parameters="%uint")),
    broken("lifetime", "the lifetime of global memory", kernel("OpLifetimeStart %p0 0", parameters="%ptr_global_uint")),
    broken("lifetime lifetime-size vulkan-capabilities", "a size without the capability Addresses",
           shader("%v = OpVariable %ptr_private_uint Function\nOpLifetimeStart %v 4", kind="Shader Kernel")),
]
