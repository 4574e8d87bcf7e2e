"""Cases of the rules in coopmat.spirv.validate.conversions."""

from __future__ import annotations

from tests.spirv.validation.cases import broken, kernel, shader, valid
from tests.spirv.validation.cases_arithmetic import apply

LOGICAL = {"make": shader, "kind": "Shader Addresses"}
PHYSICAL = {"model": "OpMemoryModel PhysicalStorageBuffer64 GLSL450", "make": shader,
            "capabilities": "PhysicalStorageBufferAddresses", "extensions": "SPV_KHR_physical_storage_buffer",
            "declarations": "%pointer = OpTypePointer PhysicalStorageBuffer %uint"}


def explicit(result: str, operand: str, storage: str) -> str:
    return kernel(f"%a = OpUndef {operand}\n%r = OpGenericCastToPtrExplicit {result} %a {storage}")


CASES = [
    valid("floats become integers", apply("ConvertFToS", "%v2uchar", "%v2double")),
    valid("integers become floats", apply("ConvertUToF", "%half", "%ulong")),
    valid("integers become narrower", apply("SConvert", "%uchar", "%uint")),
    valid("floats become wider", apply("FConvert", "%v4double", "%v4half")),
    valid("a half becomes a bfloat16", apply("FConvert", "%bfloat16", "%half")),
    valid("saturation keeps the width", apply("SatConvertSToU", "%uint", "%uint")),
    broken("number-conversion", "an integer taken for a float", apply("ConvertFToS", "%uint", "%uint")),
    broken("number-conversion", "a float is to be an integer", apply("ConvertFToU", "%float", "%double")),
    broken("number-conversion", "a float taken for an integer", apply("ConvertSToF", "%float", "%float")),
    broken("number-conversion", "an integer is to be a float", apply("ConvertUToF", "%uint", "%uint")),
    broken("number-conversion", "a boolean becomes an integer", apply("UConvert", "%uint", "%bool")),
    broken("number-conversion", "numbers of components differ", apply("ConvertFToS", "%v2uint", "%v3float")),
    broken("number-conversion", "a vector becomes a scalar", apply("FConvert", "%float", "%v2double")),
    broken("number-conversion", "the width stays", apply("UConvert", "%uint", "%uint")),
    broken("number-conversion", "the precision stays", apply("FConvert", "%float", "%float")),
    broken("number-conversion", "the width of signed integers stays", apply("SConvert", "%v2ulong", "%v2ulong")),
    broken("number-conversion", "a signed result of OpConvertFToU",
           apply("ConvertFToU", "%sint", "%float", make=shader)),
    broken("number-conversion", "a signed result of OpUConvert", apply("UConvert", "%sint", "%ushort", make=shader)),
    broken("number-conversion", "saturation of floats", apply("SatConvertUToS", "%uint", "%float")),
    valid("rounding to halves", apply("QuantizeToF16", "%v2float", "%v2float", make=shader)),
    broken("quantization", "doubles are rounded to halves", apply("QuantizeToF16", "%double", "%double", make=shader)),
    broken("quantization", "rounding changes the type", apply("QuantizeToF16", "%float", "%v2float", make=shader)),
    valid("a pointer becomes an integer", apply("ConvertPtrToU", "%ulong", "%ptr_global_uint")),
    valid("an integer becomes a pointer", apply("ConvertUToPtr", "%ptr_local_uint", "%uint")),
    broken("pointer-conversion", "a pointer becomes a float", apply("ConvertPtrToU", "%float", "%ptr_global_uint")),
    broken("pointer-conversion", "an integer taken for a pointer", apply("ConvertPtrToU", "%ulong", "%ulong")),
    broken("pointer-conversion", "a float becomes a pointer", apply("ConvertUToPtr", "%ptr_global_uint", "%float")),
    broken("pointer-conversion", "an integer is to be a pointer", apply("ConvertUToPtr", "%ulong", "%ulong")),
    broken("pointer-conversion", "a pointer that is no address",
           apply("ConvertPtrToU", "%uint", "%ptr_private_uint", **LOGICAL)),
    valid("a pointer to physical memory", apply("ConvertPtrToU", "%ulong", "%pointer", **PHYSICAL)),
    broken("pointer-conversion", "a pointer to other memory in a physical module",
           apply("ConvertPtrToU", "%ulong", "%ptr_local_uint", **PHYSICAL)),
    valid("a pointer becomes generic", apply("PtrCastToGeneric", "%ptr_generic_uint", "%ptr_local_uint")),
    valid("a generic pointer becomes private", apply("GenericCastToPtr", "%ptr_private_uint", "%ptr_generic_uint")),
    valid("a generic pointer may be global", explicit("%ptr_global_uint", "%ptr_generic_uint", "CrossWorkgroup")),
    broken("generic-cast", "a global pointer becomes local",
           apply("PtrCastToGeneric", "%ptr_local_uint", "%ptr_global_uint")),
    broken("generic-cast", "a constant pointer becomes generic",
           apply("PtrCastToGeneric", "%ptr_generic_uint", "%ptr_constant_uint")),
    broken("generic-cast", "a local pointer taken for a generic one",
           apply("GenericCastToPtr", "%ptr_global_uint", "%ptr_local_uint")),
    broken("generic-cast", "a generic pointer stays generic",
           apply("GenericCastToPtr", "%ptr_generic_uint", "%ptr_generic_uint")),
    broken("generic-cast", "another type is pointed to",
           apply("PtrCastToGeneric", "%ptr_generic_float", "%ptr_global_uint")),
    broken("generic-cast", "an integer becomes generic", apply("PtrCastToGeneric", "%ptr_generic_uint", "%ulong")),
    broken("generic-cast", "the storage class that is named differs",
           explicit("%ptr_global_uint", "%ptr_generic_uint", "Workgroup")),
    broken("generic-cast", "a constant pointer is asked for",
           explicit("%ptr_constant_uint", "%ptr_generic_uint", "UniformConstant")),
    valid("the bits of a float", apply("Bitcast", "%uint", "%float")),
    valid("a vector with other components", apply("Bitcast", "%v2ulong", "%v4float")),
    valid("a pointer to something else", apply("Bitcast", "%ptr_global_float", "%ptr_global_uint")),
    valid("the number of a pointer", apply("Bitcast", "%ulong", "%ptr_global_uint")),
    valid("a pointer as vector in SPIR-V 1.5", apply("Bitcast", "%v2uint", "%ptr_global_uint", version="1.5")),
    broken("bitcast", "the bits of a boolean", apply("Bitcast", "%uint", "%bool")),
    broken("bitcast", "bits become a boolean", apply("Bitcast", "%bool", "%uint")),
    broken("bitcast", "the bits of a structure",
           apply("Bitcast", "%ulong", "%s", declarations="%s = OpTypeStruct %uint %uint")),
    broken("bitcast", "the number of bits changes", apply("Bitcast", "%ulong", "%uint")),
    broken("bitcast", "a vector has fewer bits", apply("Bitcast", "%v4uchar", "%v3ushort")),
    broken("bitcast", "the storage class changes", apply("Bitcast", "%ptr_local_uint", "%ptr_global_uint"),
           "SPIR-V, OpBitcast: both pointers point into one storage class; SPIRV-Tools does not compare the classes"),
    broken("bitcast-identity", "nothing changes", apply("Bitcast", "%uint", "%uint")),
    broken("bitcast", "a pointer and the bits of a float", apply("Bitcast", "%double", "%ptr_global_uint")),
    broken("bitcast", "a pointer as vector in SPIR-V 1.4", apply("Bitcast", "%v2uint", "%ptr_global_uint")),
]
