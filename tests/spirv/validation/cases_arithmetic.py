"""Cases of the rules in coopmat.spirv.validate.arithmetic."""

from __future__ import annotations

from tests.spirv.validation.cases import broken, kernel, shader, valid

CASES = [
    valid("integers are added", kernel("%a = OpUndef %v4uint\n%r = OpIAdd %v4uint %a %a")),
    valid("signedness may differ", shader("%a = OpUndef %uint\n%b = OpUndef %sint\n%r = OpIAdd %sint %a %b")),
    broken("integer-arithmetic", "floats in an integer addition",
           kernel("%a = OpUndef %float\n%r = OpIAdd %float %a %a")),
    broken("integer-arithmetic", "a scalar added to a vector",
           kernel("%a = OpUndef %v4uint\n%b = OpUndef %uint\n%r = OpIAdd %v4uint %a %b")),
    broken("integer-arithmetic", "widths differ",
           kernel("%a = OpUndef %ulong\n%r = OpBitwiseAnd %uint %a %a")),
    broken("unsigned-division", "a signed result of OpUDiv", shader("%a = OpUndef %sint\n%r = OpUDiv %sint %a %a")),
    valid("the shift may have another width",
          kernel("%a = OpUndef %ulong\n%b = OpUndef %uint\n%r = OpShiftLeftLogical %ulong %a %b")),
    broken("shift-operands", "more shifts than bases",
           kernel("%a = OpUndef %uint\n%b = OpUndef %v2uint\n%r = OpShiftLeftLogical %uint %a %b")),
    valid("floats are multiplied", kernel("%a = OpUndef %v3float\n%r = OpFMul %v3float %a %a")),
    broken("float-arithmetic", "precisions differ",
           kernel("%a = OpUndef %double\n%b = OpUndef %float\n%r = OpFMul %float %a %b")),
    broken("low-precision-use", "bfloat16 is added",
           kernel("%a = OpUndef %bfloat16\n%r = OpFAdd %bfloat16 %a %a")),
    broken("comparison-types", "a comparison gives an integer",
           kernel("%a = OpUndef %uint\n%r = OpIEqual %uint %a %a")),
    broken("comparison-types", "one boolean for a vector",
           kernel("%a = OpUndef %v2uint\n%r = OpULessThan %bool %a %a")),
    broken("float-test-types", "an integer is tested for NaN", kernel("%a = OpUndef %uint\n%r = OpIsNan %bool %a")),
    broken("logical-types", "integers in a logical and", kernel("%a = OpUndef %uint\n%r = OpLogicalAnd %bool %a %a")),
    broken("any-all-types", "any of a scalar", kernel("%a = OpUndef %bool\n%r = OpAny %bool %a")),
]
