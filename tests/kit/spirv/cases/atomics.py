"""Cases of the family atomics."""

from __future__ import annotations

from typing import Any

from tests.kit.spirv.case import broken, kernel, shader, valid

GLOBAL = "%ptr_global_uint"
UNTYPED = {"capabilities": "UntypedPointersKHR", "extensions": "SPV_KHR_untyped_pointers",
           "declarations": "%bytes = OpTypeUntypedPointerKHR CrossWorkgroup"}
FLOAT_ADD = {"capabilities": "AtomicFloat32AddEXT", "extensions": "SPV_EXT_shader_atomic_float_add"}
WIDTH = ("OpenCL SPIR-V environment, Validation Rules: atomics work on 32-bit integers, on 64-bit ones with "
         "Int64Atomics; SPIRV-Tools does not look at the width")
RELAXED, ACQUIRE, RELEASE, BOTH, SEQUENTIAL = (f"%uint_{bits}" for bits in (0, 2, 4, 8, 16))


def modify(op: str, result: str = "%uint", pointer: str = GLOBAL, value: str = "%uint", semantics: str = RELAXED,
           **rest: Any) -> str:
    """An atomic that combines a value with memory; "" for one that takes no value."""
    operand, undef = ("%x", f"%x = OpUndef {value}\n") if value else ("", "")
    return kernel(f"{undef}%r = OpAtomic{op} {result} %p0 %uint_1 {semantics} {operand}", parameters=pointer, **rest)


def load(semantics: str = RELAXED, result: str = "%uint", pointer: str = GLOBAL, **rest: Any) -> str:
    return modify("Load", result, pointer, "", semantics, **rest)


def store(semantics: str = RELAXED, value: str = "%uint", pointer: str = GLOBAL, **rest: Any) -> str:
    return kernel(f"%x = OpUndef {value}\nOpAtomicStore %p0 %uint_1 {semantics} %x", parameters=pointer, **rest)


def exchange(equal: str = RELAXED, unequal: str = RELAXED, result: str = "%uint", value: str = "%uint",
             comparator: str = "%uint", **rest: Any) -> str:
    return kernel(f"%x = OpUndef {value}\n%c = OpUndef {comparator}\n"
                  f"%r = OpAtomicCompareExchange {result} %p0 %uint_1 {equal} {unequal} %x %c",
                  parameters=GLOBAL, **rest)


def flag(op: str, pointer: str = GLOBAL, semantics: str = RELAXED, **rest: Any) -> str:
    return kernel(f"{op} %p0 %uint_1 {semantics}", parameters=pointer, **rest)


CASES = [
    *(valid(f"an addition with semantics {bits}", modify("IAdd", semantics=f"%uint_{bits}"))
      for bits in (0, 0x202, 0x204, 0x108, 0x310)),
    valid("a load that acquires", load(ACQUIRE)),
    broken("atomic-order", "a load that releases", load(RELEASE)),
    broken("atomic-order", "a load that acquires and releases", load(BOTH)),
    valid("a store that releases", store(RELEASE)),
    broken("atomic-order", "a store that acquires", store(ACQUIRE)),
    broken("atomic-order", "a store that acquires and releases", store(BOTH)),
    broken("atomic-order", "clearing a flag acquires", flag("OpAtomicFlagClear", semantics=ACQUIRE)),
    valid("a failed exchange is weaker", exchange(BOTH, ACQUIRE)),
    valid("an exchange that is sequentially consistent", exchange(SEQUENTIAL, SEQUENTIAL)),
    broken("atomic-order", "a failed exchange releases", exchange(BOTH, RELEASE)),
    broken("atomic-order", "a failed exchange acquires and releases", exchange(BOTH, BOTH)),
    broken("atomic-order", "a failed exchange acquires more", exchange(RELAXED, ACQUIRE)),
    broken("atomic-order", "a failed exchange is sequentially consistent alone", exchange(BOTH, SEQUENTIAL)),
    valid("a load of a float", load(result="%float", pointer="%ptr_global_float")),
    valid("an exchange of a float", modify("Exchange", "%float", "%ptr_local_float", "%float")),
    valid("an addition of floats", modify("FAddEXT", "%float", "%ptr_global_float", "%float", **FLOAT_ADD)),
    valid("an increment in generic memory",
          kernel("%g = OpPtrCastToGeneric %ptr_generic_uint %p0\n%r = OpAtomicIIncrement %uint %g %uint_1 %uint_0",
                 parameters=GLOBAL)),
    valid("an atomic in private memory",
          kernel("%v = OpVariable %ptr_private_uint Function\n%r = OpAtomicIAdd %uint %v %uint_1 %uint_0 %uint_1")),
    valid("an atomic through a pointer without type", modify("IAdd", pointer="%bytes", **UNTYPED)),
    valid("an atomic of 64 bits",
          modify("UMax", "%ulong", "%ptr_global_ulong", "%ulong", capabilities="Int64Atomics")),
    broken("capability-missing", "an atomic of 64 bits without its capability",
           modify("UMax", "%ulong", "%ptr_global_ulong", "%ulong")),
    broken("capability-missing", "an addition of floats without its capability",
           modify("FAddEXT", "%float", "%ptr_global_float", "%float")),
    broken("capability-missing", "an addition of doubles with the capability for floats",
           modify("FAddEXT", "%double", "%ptr_global_double", "%double", **FLOAT_ADD),
           "SPV_EXT_shader_atomic_float_add: 64-bit additions need AtomicFloat64AddEXT; SPIRV-Tools compares width and "
           "capability in shader modules only"),
    broken("atomic-types", "an integer atomic on floats", modify("IAdd", "%float", "%ptr_global_float", "%float")),
    broken("atomic-types", "a float atomic on integers", modify("FAddEXT", **FLOAT_ADD)),
    broken("atomic-types", "a load of a vector", load(result="%v2uint", pointer="%ptr_global_v2uint")),
    broken("atomic-types", "an atomic on a number", modify("IAdd", pointer="%uint")),
    broken("atomic-types", "a pointer to something else", modify("IAdd", pointer="%ptr_global_float")),
    broken("atomic-types", "a value of another width", modify("Or", value="%ushort")),
    broken("atomic-types", "a new value of another type", exchange(value="%float")),
    broken("atomic-types", "a comparator of another type", exchange(comparator="%float")),
    broken("atomic-types", "an atomic on constant memory", modify("ISub", pointer="%ptr_constant_uint")),
    broken("atomic-types", "an atomic in private memory of a shader",
           shader("%v = OpVariable %ptr_private_uint Function\n%r = OpAtomicIAdd %uint %v %uint_1 %uint_0 %uint_1")),
    broken("atomic-width", "an atomic of 16 bits", modify("IAdd", "%ushort", "%ptr_global_ushort", "%ushort"),
           WIDTH),
    broken("atomic-width", "a store of 8 bits", store(value="%uchar", pointer="%ptr_global_uchar"),
           WIDTH),
    valid("a store", store(SEQUENTIAL, "%float", "%ptr_local_float")),
    broken("atomic-store", "a store of a vector", store(value="%v2uint", pointer="%ptr_global_v2uint")),
    broken("atomic-store", "a store through a number", store(pointer="%uint")),
    broken("atomic-store", "a store of another type", store(value="%float")),
    broken("atomic-store", "a store to constant memory", store(pointer="%ptr_constant_uint")),
    valid("a flag", flag("%r = OpAtomicFlagTestAndSet %bool")),
    broken("atomic-flag", "a flag of 64 bits", flag("%r = OpAtomicFlagTestAndSet %bool", "%ptr_global_ulong",
                                                    capabilities="Int64Atomics")),
    broken("atomic-flag", "a flag through a pointer without type", flag("OpAtomicFlagClear", "%bytes", **UNTYPED)),
    broken("atomic-flag", "a flag in constant memory", flag("OpAtomicFlagClear", "%ptr_constant_uint")),
    broken("atomic-flag", "a flag that was an integer", flag("%r = OpAtomicFlagTestAndSet %uint")),
]
