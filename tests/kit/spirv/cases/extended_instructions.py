"""Cases of the family extended_instructions."""

from __future__ import annotations

from typing import Any

from tests.kit.spirv.case import broken, kernel, valid

POINTERS = "\n".join(f"%{name} = OpTypePointer {storage} %{pointee}" for name, storage, pointee in (
    ("to_void", "CrossWorkgroup", "void"), ("to_array", "UniformConstant", "arr4_uchar")))
PHYSICAL32 = {"model": "OpMemoryModel Physical32 OpenCL"}
RELAXED = {"extensions": "SPV_EXT_relaxed_printf_string_address_space"}


def call(name: str, result: str, *operands: str, literals: str = "", **rest: Any) -> str:
    """An instruction of OpenCL.std on undefined values of these types."""
    values = "\n".join(f"%x{i} = OpUndef {type_}" for i, type_ in enumerate(operands))
    ids = " ".join(f"%x{i}" for i in range(len(operands)))
    return kernel(f"{values}\n%r = OpExtInst {result} %std {name} {ids} {literals}", declarations=POINTERS, **rest)


def importing(name: str, extension: str = "") -> str:
    return kernel("", extensions=extension).replace("OpMemoryModel", f'%set = OpExtInstImport "{name}"\nOpMemoryModel')


def vload(result: str, count: int, pointer: str = "%ptr_global_float", offset: str = "%ulong", name: str = "vloadn",
          **rest: Any) -> str:
    return call(name, result, offset, pointer, literals=str(count), **rest)


def vstore(data: str, pointer: str = "%ptr_global_float", offset: str = "%ulong", name: str = "vstoren",
           result: str = "%void", **rest: Any) -> str:
    return call(name, result, data, offset, pointer, **rest)


WIDTH_OF_HALF = ("OpenCL Extended Instruction Set, 2.6: vload_half gives 32-bit floats; SPIRV-Tools takes floats of "
                 "any width")
UNKNOWN_SET = ("SPIR-V, OpExtInstImport: the name of a set is free; SPIRV-Tools refuses modules with sets that it does "
               "not know")

CASES = [
    broken("extended-number", "an instruction that does not exist", kernel("%r = OpExtInst %float %std 999 %float_1")),
    broken("extended-set", "an unknown set of instructions", importing("Vendor.math"), UNKNOWN_SET),
    valid("a set without semantics", importing("NonSemantic.Vendor", "SPV_KHR_non_semantic_info")),
    *(valid(f"{name} of {type_}", call(name, type_, *[type_] * count)) for name, type_, count in (
        ("cos", "%float", 1), ("fma", "%v4double", 3), ("atan2", "%v16half", 2), ("half_sqrt", "%v2float", 1),
        ("s_abs", "%v3uchar", 1), ("u_mad_sat", "%uint", 3), ("s_mul24", "%v8uint", 2), ("clz", "%ulong", 1),
        ("popcount", "%v2ushort", 1), ("mix", "%float", 3), ("fclamp", "%half", 3), ("fast_normalize", "%v4float", 1))),
    broken("math-types", "the cosine of an integer", call("cos", "%float", "%uint")),
    broken("math-types", "a cosine that is an integer", call("cos", "%uint", "%uint")),
    broken("math-types", "the cosine becomes wider", call("cos", "%double", "%float")),
    broken("math-types", "a power of a scalar by a vector", call("pow", "%v2float", "%v2float", "%float")),
    broken("math-types", "a clamp with a bound of another type", call("fclamp", "%float", "%float", "%float", "%half")),
    broken("math-types", "a maximum of floats as integers", call("s_max", "%float", "%float", "%float")),
    broken("math-types", "a rotation by another width", call("rotate", "%uint", "%uint", "%ulong")),
    broken("math-types", "24 of 64 bits", call("u_mul24", "%ulong", "%ulong", "%ulong")),
    broken("math-types", "24 of 16 bits", call("s_mad24", "%ushort", "%ushort", "%ushort", "%ushort")),
    broken("reduced-precision-types", "a native cosine of doubles", call("native_cos", "%double", "%double")),
    broken("reduced-precision-types", "a half_ logarithm of halves", call("half_log", "%v2half", "%v2half")),
    valid("a scaled float", call("ldexp", "%v2double", "%v2double", "%v2uint")),
    broken("math-integer-operand", "a scale of 64 bits", call("ldexp", "%double", "%double", "%ulong")),
    broken("math-integer-operand", "one exponent for a vector", call("pown", "%v2float", "%v2float", "%uint")),
    broken("math-integer-operand", "a float as root", call("rootn", "%float", "%float", "%float")),
    valid("an exponent of a double", call("ilogb", "%v2uint", "%v2double")),
    valid("a NaN", call("nan", "%double", "%ulong")),
    broken("ilogb-nan-types", "an exponent of 64 bits", call("ilogb", "%ulong", "%double")),
    broken("ilogb-nan-types", "the exponent of an integer", call("ilogb", "%uint", "%uint")),
    broken("ilogb-nan-types", "one exponent of a vector", call("ilogb", "%uint", "%v2float")),
    broken("ilogb-nan-types", "a NaN of another width", call("nan", "%float", "%ulong")),
    broken("ilogb-nan-types", "a NaN of a float", call("nan", "%float", "%float")),
    broken("ilogb-nan-types", "a NaN that is an integer", call("nan", "%uint", "%uint")),
    valid("a fraction", call("fract", "%v2float", "%v2float", "%ptr_private_v2float")),
    valid("a quotient", call("remquo", "%double", "%double", "%double", "%ptr_generic_uint")),
    broken("math-pointer-operand", "a fraction without a pointer", call("fract", "%float", "%float", "%float")),
    broken("math-pointer-operand", "a fraction into constant memory",
           call("modf", "%float", "%float", "%ptr_constant_float")),
    broken("math-pointer-operand", "a cosine of another type",
           call("sincos", "%float", "%float", "%ptr_global_double")),
    broken("math-pointer-operand", "an exponent into floats", call("frexp", "%float", "%float", "%ptr_global_float")),
    broken("math-pointer-operand", "an exponent into 64 bits", call("frexp", "%float", "%float", "%ptr_global_ulong")),
    broken("math-pointer-operand", "one sign for a vector",
           call("lgamma_r", "%v2float", "%v2float", "%ptr_global_uint")),
    valid("a distance", call("distance", "%half", "%v4half", "%v4half")),
    broken("geometric-types", "a length that is a vector", call("length", "%v2float", "%v2float")),
    broken("geometric-types", "a length of another precision", call("fast_length", "%double", "%v2float")),
    broken("geometric-types", "the length of integers", call("length", "%uint", "%v2uint")),
    broken("geometric-types", "a distance of two sizes", call("distance", "%float", "%v2float", "%v3float")),
    broken("geometric-types", "a length of 8 components", call("length", "%float", "%v8float")),
    broken("geometric-types", "8 components are normalised", call("normalize", "%v8float", "%v8float")),
    valid("a cross product", call("cross", "%v3float", "%v3float", "%v3float")),
    broken("geometric-types", "a cross product of 2 components", call("cross", "%v2float", "%v2float", "%v2float")),
    broken("geometric-types", "a cross product of two sizes", call("cross", "%v3float", "%v3float", "%v4float")),
    valid("a choice by bits", call("bitselect", "%v2double", "%v2double", "%v2double", "%v2double")),
    valid("a choice by signs", call("select", "%v2float", "%v2float", "%v2float", "%v2uint")),
    broken("select-extended-types", "a choice between booleans", call("bitselect", "%bool", "%bool", "%bool", "%bool")),
    broken("select-extended-types", "a choice between two types",
           call("bitselect", "%uint", "%uint", "%ulong", "%uint")),
    broken("select-extended-types", "a condition of another width",
           call("select", "%float", "%float", "%float", "%ulong")),
    broken("select-extended-types", "a float as condition", call("select", "%float", "%float", "%float", "%float")),
    broken("select-extended-types", "one condition for a vector",
           call("select", "%v2float", "%v2float", "%v2float", "%uint")),
    valid("two bytes become a short", call("u_upsample", "%v2ushort", "%v2uchar", "%v2uchar")),
    broken("upsample-types", "two bytes become an integer", call("u_upsample", "%uint", "%uchar", "%uchar")),
    broken("upsample-types", "parts of two widths", call("s_upsample", "%uint", "%ushort", "%uchar")),
    broken("upsample-types", "vectors become a scalar", call("s_upsample", "%ulong", "%v2uint", "%v2uint")),
    broken("upsample-types", "halves are joined", call("u_upsample", "%float", "%half", "%half")),
    valid("components are shuffled", call("shuffle", "%v4half", "%v8half", "%v4ushort")),
    valid("two vectors are shuffled", call("shuffle2", "%v2uint", "%v4uint", "%v4uint", "%v2uint")),
    broken("shuffle-extended-types", "three components are shuffled", call("shuffle", "%v4uint", "%v3uint", "%v4uint")),
    broken("shuffle-extended-types", "components of another type", call("shuffle", "%v4float", "%v4uint", "%v4uint")),
    broken("shuffle-extended-types", "two vectors of two sizes",
           call("shuffle2", "%v4uint", "%v4uint", "%v2uint", "%v4uint")),
    broken("shuffle-extended-types", "a mask of another width", call("shuffle", "%v4uint", "%v4uint", "%v4uchar")),
    broken("shuffle-extended-types", "a mask of another size", call("shuffle", "%v4uint", "%v4uint", "%v2uint")),
    broken("shuffle-extended-types", "a mask of floats", call("shuffle", "%v4float", "%v4float", "%v4float")),
    valid("a vector is loaded", vload("%v3float", 3)),
    valid("a vector is loaded from constant memory", vload("%v2uint", 2, "%ptr_constant_uint")),
    valid("an offset of 32 bits", vload("%v2float", 2, offset="%uint", **PHYSICAL32)),
    valid("halves are loaded", vload("%v4float", 4, "%ptr_local_half", name="vloada_halfn")),
    valid("a half is loaded", call("vload_half", "%float", "%ulong", "%ptr_global_half")),
    valid("a vector is stored", vstore("%v16float")),
    valid("halves are stored", vstore("%v2double", "%ptr_generic_half", name="vstore_halfn_r", literals="RTZ")),
    broken("vector-memory-types", "an offset narrower than an address", vload("%v2float", 2, offset="%uint")),
    broken("vector-memory-types", "a float as offset", vstore("%v2float", offset="%float")),
    broken("vector-memory-types", "a load through a number", vload("%v2float", 2, "%ulong")),
    broken("vector-memory-types", "a store to constant memory", vstore("%v2float", "%ptr_constant_float")),
    broken("vector-memory-types", "a load of a scalar", vload("%float", 1)),
    broken("vector-memory-types", "a store of a scalar", vstore("%float")),
    broken("vector-memory-types", "a load of another type", vload("%v2uint", 2)),
    broken("vector-memory-types", "a load through a pointer to vectors", vload("%v2float", 2, "%ptr_global_v2float")),
    broken("vector-memory-types", "a load of another number of components", vload("%v4float", 3)),
    broken("vector-memory-types", "a store that gives a value", vstore("%v2float", result="%float")),
    broken("vector-memory-types", "a half is loaded as double",
           call("vload_half", "%double", "%ulong", "%ptr_global_half"), WIDTH_OF_HALF),
    broken("vector-memory-types", "halves are loaded as integers", vload("%v2uint", 2, "%ptr_global_half",
                                                                         name="vload_halfn")),
    broken("vector-memory-types", "halves are loaded from floats", vload("%v2float", 2, name="vload_halfn")),
    broken("vector-memory-types", "a vector is stored as one half",
           vstore("%v2float", "%ptr_global_half", name="vstore_half")),
    broken("vector-memory-types", "a half is stored as half", vstore("%half", "%ptr_global_half", name="vstore_half")),
    valid("a message", call("printf", "%uint", "%ptr_constant_uchar", "%float")),
    valid("a message in an array", call("printf", "%uint", "%to_array")),
    valid("a message in global memory with the extension for it",
          call("printf", "%uint", "%ptr_global_uchar", **RELAXED)),
    broken("extension-missing", "a message in global memory", call("printf", "%uint", "%ptr_global_uchar")),
    broken("extension-missing", "a message in global memory, after one in constant memory",
           kernel("".join(f"%r{number} = OpExtInst %uint %std printf %p{number}\n" for number in range(2)),
                  parameters="%ptr_constant_uchar %ptr_global_uchar")),
    broken("extension-missing printf-types", "a message in an input", call("printf", "%uint", "%ptr_input_uchar")),
    broken("printf-types", "a message that gives nothing", call("printf", "%void", "%ptr_constant_uchar")),
    broken("printf-types", "a message of integers", call("printf", "%uint", "%ptr_constant_uint")),
    broken("printf-types", "a number as message", call("printf", "%uint", "%ulong")),
    valid("a prefetch", call("prefetch", "%void", "%ptr_global_v2float", "%ulong")),
    broken("prefetch-types", "a prefetch that gives a number", call("prefetch", "%uint", "%ptr_global_uint", "%ulong")),
    broken("prefetch-types", "a prefetch of local memory", call("prefetch", "%void", "%ptr_local_uint", "%ulong")),
    broken("prefetch-types", "a prefetch of void", call("prefetch", "%void", "%to_void", "%ulong")),
    broken("prefetch-types", "a prefetch of a narrow number of elements",
           call("prefetch", "%void", "%ptr_global_uint", "%uint")),
]
