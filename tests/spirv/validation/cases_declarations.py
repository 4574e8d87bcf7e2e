"""Cases of the rules in coopmat.spirv.validate.declarations."""

from __future__ import annotations

from tests.spirv.validation.cases import broken, kernel, valid

CASES = [
    broken("integer-type capability-missing", "an integer of 24 bits",
           kernel("", declarations="%t = OpTypeInt 24 0")),
    broken("kernel-signedness", "a signed integer in a kernel module", kernel("", declarations="%t = OpTypeInt 32 1")),
    broken("float-type", "a float of 24 bits", kernel("", declarations="%t = OpTypeFloat 24")),
    valid("a bfloat16", kernel("%a = OpUndef %bfloat16")),
    broken("vector-type", "a vector of pointers", kernel("", declarations="%t = OpTypeVector %ptr_global_uint 2")),
    broken("vector-type capability-missing", "a vector of one",
           kernel("", declarations="%t = OpTypeVector %uint 1")),
    broken("matrix-type", "a matrix of integers",
           kernel("", declarations="%t = OpTypeMatrix %v2uint 2", capabilities="Matrix")),
    broken("array-type", "an array of length 0", kernel("", declarations="%t = OpTypeArray %uint %uint_0")),
    broken("array-type", "an array of void", kernel("", declarations="%t = OpTypeArray %void %uint_2")),
    broken("array-type", "a float as length", kernel("", declarations="%t = OpTypeArray %uint %float_2")),
    broken("structure-type", "a void member", kernel("", declarations="%t = OpTypeStruct %uint %void")),
    broken("type-before-use", "a member declared later",
           kernel("", declarations="%t = OpTypeStruct %later\n%later = OpTypeStruct %uint")),
    broken("function-type", "a void parameter", kernel("", declarations="%t = OpTypeFunction %uint %void")),
    broken("type-unique", "the same integer twice", kernel("%a = OpUndef %uint", declarations="%t = OpTypeInt 32 0")),
    valid("aggregates may be declared twice",
          kernel("", declarations="%s = OpTypeStruct %uint\n%t = OpTypeStruct %uint")),
    broken("boolean-constant", "true as an integer", kernel("", declarations="%c = OpConstantTrue %uint")),
    broken("composite-constant", "too few constituents",
           kernel("", declarations="%c = OpConstantComposite %v2uint %uint_1")),
    broken("composite-constant", "a constituent of another type",
           kernel("", declarations="%c = OpConstantComposite %v2uint %uint_1 %float_1")),
    valid("a vector constant", kernel("", declarations="%c = OpConstantComposite %v2uint %uint_1 %uint_2")),
    valid("one value fills a cooperative matrix",
          kernel("", declarations="%c = OpConstantComposite %matrix_acc_8x16_float %float_1")),
    broken("null-constant", "a null void", kernel("", declarations="%c = OpConstantNull %void")),
    broken("undef-type", "an undefined void", kernel("%a = OpUndef %void")),
]
