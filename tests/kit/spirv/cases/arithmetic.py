"""Cases of the family arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.kit.spirv.case import broken, kernel, shader, valid

PAIRS = ("%pair = OpTypeStruct %uint %uint\n%triple = OpTypeStruct %uint %uint %uint\n"
         "%mixed = OpTypeStruct %uint %ulong\n%floats = OpTypeStruct %float %float\n"
         "%vectors = OpTypeStruct %v2uint %v2uint")
"""Results of the arithmetic with carry, right and wrong."""
SIGNS = {"make": shader, "declarations": "%signs = OpTypeStruct %sint %sint"}


def apply(op: str, result: str, *operands: str, make: Callable[..., str] = kernel, **rest: Any) -> str:
    """An instruction on undefined values of these types."""
    values = "\n".join(f"%x{i} = OpUndef {type_}" for i, type_ in enumerate(operands))
    return make(f"{values}\n%r = Op{op} {result} {' '.join(f'%x{i}' for i in range(len(operands)))}", **rest)


def bits(op: str, result: str, *operands: str) -> str:
    """An instruction that kernels have through SPV_KHR_bit_instructions."""
    return apply(op, result, *operands, capabilities="BitInstructions", extensions="SPV_KHR_bit_instructions")


def carry(op: str, result: str, *operands: str, **rest: str) -> str:
    return apply(op, result, *operands, declarations=PAIRS, **rest)


def fused(result: str, *operands: str) -> str:
    return apply("FmaKHR", result, *operands, capabilities="FMAKHR", extensions="SPV_KHR_fma")


CASES = [
    valid("integers are added", apply("IAdd", "%v4uint", "%v4uint", "%v4uint")),
    valid("signedness may differ", apply("IAdd", "%sint", "%uint", "%sint", make=shader)),
    valid("a vector is complemented", apply("Not", "%v2uchar", "%v2uchar")),
    broken("integer-arithmetic", "floats in an integer addition", apply("IAdd", "%float", "%float", "%float")),
    broken("integer-arithmetic", "booleans in a bitwise and", apply("BitwiseAnd", "%bool", "%bool", "%bool")),
    broken("integer-arithmetic", "floats added to an integer", apply("ISub", "%uint", "%float", "%float")),
    broken("integer-arithmetic", "a scalar added to a vector", apply("IAdd", "%v4uint", "%v4uint", "%uint")),
    broken("integer-arithmetic", "widths differ", apply("BitwiseAnd", "%uint", "%ulong", "%ulong")),
    broken("integer-arithmetic", "a negation changes the width", apply("SNegate", "%ulong", "%uint")),
    broken("integer-arithmetic", "addresses are added",
           apply("IAdd", "%ptr_global_uint", "%ptr_global_uint", "%ulong")),
    valid("an unsigned division", apply("UDiv", "%uint", "%uint", "%uint")),
    valid("a signed remainder of what kernels have", apply("SRem", "%uint", "%uint", "%uint")),
    broken("unsigned-division", "a signed result of OpUDiv", apply("UDiv", "%sint", "%sint", "%sint", make=shader)),
    broken("unsigned-division", "a signed result of OpUMod", apply("UMod", "%sint", "%uint", "%uint", make=shader)),
    broken("unsigned-division", "a signed divisor", apply("UDiv", "%uint", "%uint", "%sint", make=shader)),
    valid("the shift may have another width", apply("ShiftLeftLogical", "%ulong", "%ulong", "%uint")),
    broken("shift-operands", "floats are shifted", apply("ShiftLeftLogical", "%float", "%float", "%uint")),
    broken("shift-operands", "the base has another width", apply("ShiftRightLogical", "%ulong", "%uint", "%uint")),
    broken("shift-operands", "the base is a vector", apply("ShiftRightLogical", "%uint", "%v2uint", "%uint")),
    broken("shift-operands", "more shifts than bases", apply("ShiftLeftLogical", "%uint", "%uint", "%v2uint")),
    broken("shift-operands", "one shift for a vector", apply("ShiftRightArithmetic", "%v2uint", "%v2uint", "%uint")),
    broken("shift-operands", "a shift by a float", apply("ShiftLeftLogical", "%uint", "%uint", "%float")),
    valid("a bit field is inserted", bits("BitFieldInsert", "%v2uint", "%v2uint", "%v2uint", "%uint", "%ulong")),
    valid("a bit field is extracted", bits("BitFieldSExtract", "%uint", "%uint", "%uint", "%uint")),
    broken("bit-field", "a bit field of floats",
           bits("BitFieldInsert", "%float", "%float", "%float", "%uint", "%uint")),
    broken("bit-field", "another type is inserted",
           bits("BitFieldInsert", "%uint", "%uint", "%ulong", "%uint", "%uint")),
    broken("bit-field", "extraction from another type", bits("BitFieldUExtract", "%uint", "%ulong", "%uint", "%uint")),
    broken("bit-field", "a float as offset", bits("BitFieldUExtract", "%uint", "%uint", "%float", "%uint")),
    broken("bit-field", "a vector as count", bits("BitFieldSExtract", "%v2uint", "%v2uint", "%uint", "%v2uint")),
    valid("bits are counted in another width", apply("BitCount", "%uint", "%ulong")),
    valid("bits are reversed", bits("BitReverse", "%v4uchar", "%v4uchar")),
    broken("bit-count", "a float counts bits", apply("BitCount", "%float", "%uint")),
    broken("bit-count", "the bits of a float", apply("BitCount", "%uint", "%float")),
    broken("bit-count", "one count for a vector", apply("BitCount", "%uint", "%v2uint")),
    broken("bit-count", "reversing changes the width", bits("BitReverse", "%uint", "%ulong")),
    valid("an addition with carry", carry("IAddCarry", "%pair", "%uint", "%uint")),
    valid("a wide product of vectors", carry("UMulExtended", "%vectors", "%v2uint", "%v2uint")),
    broken("extended-arithmetic", "one integer for sum and carry", carry("IAddCarry", "%uint", "%uint", "%uint")),
    broken("extended-arithmetic", "three members", carry("ISubBorrow", "%triple", "%uint", "%uint")),
    broken("extended-arithmetic", "members of two types", carry("UMulExtended", "%mixed", "%uint", "%uint")),
    broken("extended-arithmetic", "float members", carry("UMulExtended", "%floats", "%float", "%float")),
    broken("extended-arithmetic", "operands wider than the members",
           carry("SMulExtended", "%pair", "%ulong", "%ulong")),
    broken("extended-arithmetic", "a signed carry",
           apply("IAddCarry", "%signs", "%sint", "%sint", **SIGNS)),
    valid("a signed wide product",
          apply("SMulExtended", "%signs", "%sint", "%sint", **SIGNS)),
    valid("floats are multiplied", apply("FMul", "%v3float", "%v3float", "%v3float")),
    valid("a float is negated", apply("FNegate", "%half", "%half")),
    broken("float-arithmetic", "integers are multiplied as floats", apply("FMul", "%uint", "%uint", "%uint")),
    broken("float-arithmetic", "precisions differ", apply("FMul", "%float", "%double", "%float")),
    broken("float-arithmetic", "a scalar times a vector", apply("FMul", "%v2float", "%float", "%v2float")),
    broken("float-arithmetic", "a negation becomes wider", apply("FNegate", "%double", "%float")),
    broken("low-precision-use", "bfloat16 is added", apply("FAdd", "%bfloat16", "%bfloat16", "%bfloat16")),
    valid("a fused multiply-add", fused("%v2float", "%v2float", "%v2float", "%v2float")),
    broken("fused-arithmetic", "integers are fused", fused("%uint", "%uint", "%uint", "%uint")),
    broken("fused-arithmetic", "an addend of another precision", fused("%float", "%float", "%float", "%double")),
    valid("vectors are compared", apply("SLessThan", "%v3bool", "%v3uint", "%v3uint")),
    valid("floats are compared", apply("FUnordGreaterThan", "%bool", "%double", "%double")),
    valid("an unordered pair", apply("Unordered", "%v2bool", "%v2float", "%v2float")),
    broken("comparison-types", "a comparison gives an integer", apply("IEqual", "%uint", "%uint", "%uint")),
    broken("comparison-types", "one boolean for a vector", apply("ULessThan", "%bool", "%v2uint", "%v2uint")),
    broken("comparison-types", "floats are compared as integers", apply("SLessThan", "%bool", "%float", "%float")),
    broken("comparison-types", "integers are compared as floats", apply("FOrdLessThan", "%bool", "%uint", "%uint")),
    broken("comparison-types", "pointers are compared as integers",
           apply("IEqual", "%bool", "%ptr_global_uint", "%ptr_global_uint")),
    broken("comparison-types", "integers of two widths are compared", apply("IEqual", "%bool", "%uint", "%ulong")),
    broken("comparison-types", "precisions differ in a comparison", apply("FOrdEqual", "%bool", "%float", "%half")),
    broken("comparison-types", "a vector is compared with a scalar",
           apply("INotEqual", "%v2bool", "%v2uint", "%uint")),
    valid("a vector is tested for infinity", apply("IsInf", "%v2bool", "%v2double")),
    broken("float-test-types", "an integer is tested for NaN", apply("IsNan", "%bool", "%uint")),
    broken("float-test-types", "a test gives an integer", apply("IsFinite", "%uint", "%float")),
    broken("float-test-types", "one boolean for a vector of signs", apply("SignBitSet", "%bool", "%v2float")),
    valid("a vector of booleans is negated", apply("LogicalNot", "%v4bool", "%v4bool")),
    broken("logical-types", "integers in a logical and", apply("LogicalAnd", "%bool", "%uint", "%uint")),
    broken("logical-types", "a logical or gives an integer", apply("LogicalOr", "%uint", "%bool", "%bool")),
    broken("logical-types", "booleans of two sizes", apply("LogicalEqual", "%v2bool", "%v2bool", "%bool")),
    valid("any of a vector", apply("Any", "%bool", "%v8bool", capabilities="Vector16")),
    broken("any-all-types", "any of a scalar", apply("Any", "%bool", "%bool")),
    broken("any-all-types", "all of integers", apply("All", "%bool", "%v2uint")),
    broken("any-all-types", "any gives an integer", apply("Any", "%uint", "%v2bool")),
]
