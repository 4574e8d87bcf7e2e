"""Cases of the family declarations."""

from __future__ import annotations

from collections.abc import Callable

from tests.kit.spirv.case import broken, kernel, shader, valid


def declare(text: str, make: Callable[..., str] = kernel, **rest: str) -> str:
    """A kernel that does nothing, with declarations."""
    return make("", declarations=text, **rest)


FUNCTION = "%f = OpTypeFunction %uint\n"
LIST = "%list = OpTypeStruct %uint %link\n%link = OpTypePointer CrossWorkgroup %list"
FLOAT8 = {"capabilities": "Float8EXT", "extensions": "SPV_EXT_float8"}

CASES = [
    *(valid(f"integers of {width} bits", kernel(f"%a = OpUndef %{name}"))
      for width, name in ((4, "int4"), (8, "uchar"), (16, "ushort"), (64, "ulong"))),
    broken("integer-type capability-missing", "an integer of 24 bits", declare("%t = OpTypeInt 24 0")),
    broken("integer-type capability-missing", "an integer of 0 bits", declare("%t = OpTypeInt 0 0")),
    broken("integer-type", "a signedness of 2", declare("%t = OpTypeInt 32 2")),
    valid("an integer of 24 bits with the extension for it",
          declare("%t = OpTypeInt 24 0", capabilities="ArbitraryPrecisionIntegersALTERA",
                  extensions="SPV_INTEL_arbitrary_precision_integers")),
    broken("integer-type", "0 bits are too few for the extension, too",
           declare("%t = OpTypeInt 0 0", capabilities="ArbitraryPrecisionIntegersALTERA",
                   extensions="SPV_INTEL_arbitrary_precision_integers")),
    broken("kernel-signedness", "a signed integer in a kernel module", declare("%t = OpTypeInt 32 1")),
    valid("a signed integer in a shader module", declare("%t = OpTypeInt 32 1", shader)),
    valid("a half", kernel("%a = OpUndef %half")),
    valid("a bfloat16", kernel("%a = OpUndef %bfloat16")),
    valid("a float of 8 bits with an encoding", declare("%t = OpTypeFloat 8 Float8E4M3EXT", **FLOAT8)),
    broken("float-type", "a float of 24 bits", declare("%t = OpTypeFloat 24")),
    broken("float-type", "a float of 8 bits without an encoding", declare("%t = OpTypeFloat 8", **FLOAT8)),
    broken("float-type", "a bfloat16 of 32 bits",
           declare("%t = OpTypeFloat 32 BFloat16KHR", capabilities="BFloat16TypeKHR", extensions="SPV_KHR_bfloat16")),
    *(valid(f"a vector of {count}", kernel(f"%a = OpUndef %v{count}uint")) for count in (2, 3, 4, 8, 16)),
    broken("vector-type", "a vector of pointers", declare("%t = OpTypeVector %ptr_global_uint 2")),
    broken("vector-type", "a vector of vectors", declare("%t = OpTypeVector %v2uint 2")),
    broken("vector-type capability-missing", "a vector of one", declare("%t = OpTypeVector %uint 1")),
    valid("a matrix of 4 columns", declare("%t = OpTypeMatrix %v2float 4", shader)),
    broken("matrix-type", "a matrix of integers", declare("%t = OpTypeMatrix %v2uint 2", capabilities="Matrix")),
    broken("matrix-type", "a matrix of scalars", declare("%t = OpTypeMatrix %float 2", shader)),
    broken("matrix-type", "a matrix of one column", declare("%t = OpTypeMatrix %v2float 1", shader)),
    broken("matrix-type", "a matrix of 5 columns", declare("%t = OpTypeMatrix %v2float 5", shader)),
    valid("an array of one", declare("%t = OpTypeArray %uint %uint_1")),
    valid("an array whose length can be specialised",
          declare("%length = OpSpecConstant %uint 8\n%t = OpTypeArray %uint %length")),
    valid("an array of unknown length", declare("%t = OpTypeRuntimeArray %uint", shader)),
    broken("array-type", "an array of length 0", declare("%t = OpTypeArray %uint %uint_0")),
    broken("array-type", "an array of null length",
           declare("%none = OpConstantNull %uint\n%t = OpTypeArray %uint %none")),
    broken("array-type", "an array of negative length", declare("%t = OpTypeArray %uint %sint_n1", shader)),
    broken("array-type", "an array of undefined length",
           declare("%some = OpUndef %uint\n%t = OpTypeArray %uint %some")),
    broken("array-type", "an array of void", declare("%t = OpTypeArray %void %uint_2")),
    broken("array-type", "an array of functions", declare(FUNCTION + "%t = OpTypeArray %f %uint_2")),
    broken("array-type", "an array of unknown length of void", declare("%t = OpTypeRuntimeArray %void", shader)),
    broken("array-type", "a float as length", declare("%t = OpTypeArray %uint %float_2")),
    broken("array-type", "a boolean as length", declare("%t = OpTypeArray %uint %true")),
    valid("a structure without members", declare("%t = OpTypeStruct")),
    broken("structure-type", "a void member", declare("%t = OpTypeStruct %uint %void")),
    broken("structure-type", "a function as member", declare(FUNCTION + "%t = OpTypeStruct %f")),
    broken("structure-type", "a structure within itself", declare("%t = OpTypeStruct %uint %t")),
    valid("a list of structures", declare("OpTypeForwardPointer %link CrossWorkgroup\n" + LIST)),
    broken("type-before-use", "a member declared later",
           declare("%t = OpTypeStruct %later\n%later = OpTypeStruct %uint")),
    broken("type-before-use", "a pointer that is not announced", declare(LIST)),
    broken("type-before-use", "a pointer that is announced too late", declare(
        "%list = OpTypeStruct %uint %link\nOpTypeForwardPointer %link CrossWorkgroup\n"
        "%link = OpTypePointer CrossWorkgroup %list")),
    broken("forward-pointer", "another storage class is announced",
           declare("OpTypeForwardPointer %link Function\n" + LIST)),
    broken("forward-pointer", "a structure is announced",
           declare("OpTypeForwardPointer %s CrossWorkgroup\n%s = OpTypeStruct %uint")),
    broken("forward-pointer", "a pointer to an integer is announced",
           declare("OpTypeForwardPointer %link CrossWorkgroup\n%link = OpTypePointer CrossWorkgroup %uint")),
    valid("a function of a structure", declare("%s = OpTypeStruct %uint\n%t = OpTypeFunction %s %s %ptr_global_uint")),
    broken("function-type", "a void parameter", declare("%t = OpTypeFunction %uint %void")),
    broken("function-type", "a function as parameter", declare(FUNCTION + "%t = OpTypeFunction %uint %f")),
    broken("function-type", "a function as result", declare(FUNCTION + "%t = OpTypeFunction %f")),
    valid("a pointer to void", declare("%t = OpTypePointer CrossWorkgroup %void")),
    broken("pointer-type", "a pointer to a function", declare(FUNCTION + "%t = OpTypePointer Function %f")),
    valid("a pointer to a function with the extension for it",
          declare(FUNCTION + "%t = OpTypePointer CodeSectionINTEL %f", capabilities="FunctionPointersINTEL",
                  extensions="SPV_INTEL_function_pointers")),
    broken("type-unique", "the same integer twice", kernel("%a = OpUndef %uint", declarations="%t = OpTypeInt 32 0")),
    broken("type-unique", "the same function type twice",
           declare(FUNCTION + "%g = OpTypeFunction %uint")),
    broken("type-unique", "the same vector twice", declare("%t = OpTypeVector %uint 2\n%u = OpTypeVector %uint 2")),
    valid("aggregates may be declared twice", declare("%s = OpTypeStruct %uint\n%t = OpTypeStruct %uint")),
    valid("arrays may be declared twice",
          declare("%s = OpTypeArray %uint %uint_2\n%t = OpTypeArray %uint %uint_2")),
    valid("pointers may be declared twice",
          declare("%s = OpTypePointer Function %uint\n%t = OpTypePointer Function %uint")),
]
