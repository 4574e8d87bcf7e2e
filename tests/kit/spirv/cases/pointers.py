"""Cases of the family pointers."""

from __future__ import annotations

from typing import Any

from tests.kit.spirv.case import broken, kernel, shader, valid
from tests.kit.spirv.cases.arithmetic import apply
from tests.kit.spirv.cases.declarations import declare

TYPES = ("%pair = OpTypeStruct %uint %float\n%pairs = OpTypeArray %pair %uint_4\n"
         "%to_pair = OpTypePointer CrossWorkgroup %pair\n%to_pairs = OpTypePointer CrossWorkgroup %pairs\n")
UNTYPED = {"capabilities": "UntypedPointersKHR GenericPointer", "extensions": "SPV_KHR_untyped_pointers"}
BYTES = TYPES + "%bytes = OpTypeUntypedPointerKHR CrossWorkgroup\n%own = OpTypeUntypedPointerKHR Workgroup\n" \
        "%any = OpTypeUntypedPointerKHR Generic\n"


def chain(result: str, indices: str, base: str = "%to_pairs", op: str = "InBoundsAccessChain") -> str:
    return kernel(f"%r = Op{op} {result} %p0 {indices}", parameters=f"{base} %uint", declarations=TYPES)


def logical(index: str) -> str:
    """A chain from a variable of a shader."""
    return shader(f"%v = OpVariable %ptr_private_arr4_uint Function\n%r = OpAccessChain %ptr_private_uint %v {index}")


def step(result: str, indices: str, base: str = "%to_pair") -> str:
    return chain(result, indices, base, "InBoundsPtrAccessChain")


def untyped(result: str, indices: str, type_: str = "%pairs", base: str = "%bytes",
            op: str = "UntypedInBoundsAccessChainKHR") -> str:
    return kernel(f"%r = Op{op} {result} {type_} %p0 {indices}", parameters=f"{base} %uint", declarations=BYTES,
                  **UNTYPED)


def untyped_variable(text: str) -> str:
    return declare(f"{BYTES}%v = OpUntypedVariableKHR {text}", **UNTYPED)


def compare(op: str, result: str, one: str, two: str, **rest: Any) -> str:
    return apply(op, result, one, two, **{"version": "1.4", **rest})


def size(result: str, pointer: str, **rest: Any) -> str:
    return kernel(f"%r = OpSizeOf {result} %p0", parameters=pointer, capabilities="Pipes", version="1.4", **rest)


NO_SEMANTICS_RULE = ("SPIR-V, OpGenericPtrMemSemantics: a generic pointer gives a 32-bit integer; SPIRV-Tools has no "
                     "rule for this instruction")
NO_SIZE_RULE = ("SPIR-V, OpSizeOf: a pointer to a type with size gives a 32-bit integer; SPIRV-Tools has no rule for "
                "this instruction")
LOGICAL = {"make": shader, "declarations": "%shared = OpTypePointer Workgroup %uint"}
PHYSICAL = {"make": shader, "kind": "Shader PhysicalStorageBufferAddresses",
            "model": "OpMemoryModel PhysicalStorageBuffer64 GLSL450", "extensions": "SPV_KHR_physical_storage_buffer",
            "declarations": "%pointer = OpTypePointer PhysicalStorageBuffer %uint"}

CASES = [
    valid("a pointer to a member", chain("%ptr_global_float", "%p1 %uint_1")),
    valid("a pointer to a component", chain("%ptr_global_uint", "%p1", "%ptr_global_v4uint", "AccessChain")),
    valid("no index", chain("%to_pairs", "")),
    broken("access-chain", "a chain from a number", chain("%ptr_global_uint", "%uint_0", "%ulong")),
    broken("access-chain", "a chain that ends in a value", chain("%float", "%uint_0 %uint_1")),
    broken("access-chain", "a chain to another storage class", chain("%ptr_local_float", "%uint_0 %uint_1")),
    broken("access-chain", "a float as index of a chain", chain("%ptr_global_float", "%float_0 %uint_1")),
    broken("access-chain", "a member of another type in a chain", chain("%ptr_global_uint", "%uint_0 %uint_1")),
    broken("access-chain", "a member beyond the last in a chain", chain("%ptr_global_uint", "%uint_0 %uint_2")),
    broken("access-chain", "a member by a variable in a chain", chain("%ptr_global_uint", "%uint_0 %p1")),
    broken("access-chain", "a part of a number in a chain", chain("%ptr_global_uint", "%uint_0 %uint_0 %uint_0")),
    broken("access-chain", "256 indices of a chain", chain("%ptr_global_uint", "%uint_0 " * 256)),
    broken("access-chain", "a negative index of a logical pointer", logical("%sint_n1")),
    valid("a signed index of a logical pointer", logical("%sint_1")),
    valid("a pointer to the next element", step("%to_pair", "%p1")),
    valid("a pointer to a member of another element", step("%ptr_global_float", "%ulong_7 %uint_1")),
    broken("pointer-access-chain", "a step from a number", step("%ptr_global_uint", "%uint_0", "%ulong")),
    broken("pointer-access-chain", "a step to another storage class", step("%ptr_local_float", "%uint_0 %uint_1")),
    broken("pointer-access-chain", "a float as step", step("%to_pair", "%float_0"),
           "SPIR-V, OpPtrAccessChain: Element is an integer; SPIRV-Tools 2026.4 checks only the indices behind it"),
    broken("pointer-access-chain", "a step to another type", step("%ptr_global_uint", "%uint_0")),
    broken("pointer-access-chain", "a member beyond the last after a step",
           step("%ptr_global_uint", "%uint_0 %uint_2")),
    valid("an untyped chain", untyped("%bytes", "%p1 %uint_1")),
    valid("an untyped step", untyped("%bytes", "%p1 %uint_1", "%pair", op="UntypedPtrAccessChainKHR")),
    broken("untyped-access-chain", "an untyped chain to a typed pointer", untyped("%ptr_global_float", "%p1 %uint_1")),
    broken("untyped-access-chain", "an untyped chain from a number", untyped("%bytes", "%p1 %uint_1", base="%uint")),
    broken("untyped-access-chain", "an untyped chain to another storage class", untyped("%own", "%p1 %uint_1")),
    broken("untyped-access-chain", "a member by a variable in an untyped chain", untyped("%bytes", "%uint_0 %p1")),
    broken("untyped-access-chain", "a float as index of an untyped chain", untyped("%bytes", "%float_0 %uint_1")),
    broken("untyped-access-chain", "an untyped chain through a pointer", untyped("%bytes", "", "%ptr_global_uint")),
    broken("untyped-variable", "a generic variable without type", untyped_variable("%any Generic")),
    valid("a variable without type", untyped_variable("%bytes CrossWorkgroup")),
    valid("a variable that names the type it holds", untyped_variable("%own Workgroup %uint")),
    broken("untyped-variable", "a variable without type of a typed pointer",
           untyped_variable("%ptr_global_uint CrossWorkgroup %uint")),
    broken("untyped-variable", "an untyped variable in another storage class", untyped_variable("%own CrossWorkgroup")),
    broken("untyped-variable", "local memory without a type", untyped_variable("%own Workgroup")),
    valid("pointers are compared", compare("PtrEqual", "%bool", "%ptr_global_uint", "%ptr_global_uint")),
    valid("pointers are subtracted", compare("PtrDiff", "%ulong", "%ptr_global_uint", "%ptr_global_uint")),
    broken("pointer-comparison", "comparing pointers gives an integer",
           compare("PtrNotEqual", "%uint", "%ptr_global_uint", "%ptr_global_uint")),
    broken("pointer-comparison", "a difference that is a boolean",
           compare("PtrDiff", "%bool", "%ptr_global_uint", "%ptr_global_uint")),
    broken("pointer-comparison", "pointers to two types",
           compare("PtrEqual", "%bool", "%ptr_global_uint", "%ptr_global_float")),
    broken("pointer-comparison", "numbers are compared as pointers", compare("PtrEqual", "%bool", "%uint", "%uint")),
    broken("pointer-comparison", "a pointer minus a number",
           compare("PtrDiff", "%ulong", "%ptr_global_uint", "%ulong")),
    valid("variable pointers are compared",
          compare("PtrEqual", "%bool", "%shared", "%shared", capabilities="VariablePointers", **LOGICAL)),
    broken("pointer-comparison", "logical pointers are compared",
           compare("PtrEqual", "%bool", "%shared", "%shared", **LOGICAL)),
    broken("pointer-comparison", "private logical pointers are compared",
           compare("PtrEqual", "%bool", "%ptr_private_uint", "%ptr_private_uint", capabilities="VariablePointers",
                   make=shader)),
    broken("pointer-comparison", "pointers to physical memory are compared",
           compare("PtrEqual", "%bool", "%pointer", "%pointer", **PHYSICAL)),
    broken("pointer-comparison", "pointers to local memory with the capability for buffers",
           compare("PtrEqual", "%bool", "%shared", "%shared", capabilities="VariablePointersStorageBuffer", **LOGICAL)),
    valid("the semantics of a generic pointer", apply("GenericPtrMemSemantics", "%uint", "%ptr_generic_uint")),
    broken("generic-semantics", "the semantics of a global pointer",
           apply("GenericPtrMemSemantics", "%uint", "%ptr_global_uint", capabilities="GenericPointer"),
           NO_SEMANTICS_RULE),
    broken("generic-semantics", "semantics of 64 bits", apply("GenericPtrMemSemantics", "%ulong", "%ptr_generic_uint"),
           NO_SEMANTICS_RULE),
    valid("a size", size("%uint", "%ptr_global_v4uint")),
    broken("size-of", "a size of 64 bits", size("%ulong", "%ptr_global_uint"), NO_SIZE_RULE),
    broken("size-of", "the size of a number", size("%uint", "%uint"), NO_SIZE_RULE),
    broken("size-of", "the size of an event",
           size("%uint", "%to_event", declarations="%event = OpTypeEvent\n"
                "%to_event = OpTypePointer CrossWorkgroup %event"), NO_SIZE_RULE),
    broken("size-of", "the size of void", size("%uint", "%to_void",
                                               declarations="%to_void = OpTypePointer CrossWorkgroup %void"),
           NO_SIZE_RULE),
]
