"""Cases of the family low_precision: tf32, bfloat16, 4-bit integers and 8-bit floats."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

TF32 = {"capabilities": "TensorFloat32RoundingINTEL", "extensions": "SPV_INTEL_tensor_float32_conversion"}
CONVERSION = {"capabilities": "BFloat16ConversionINTEL", "extensions": "SPV_INTEL_bfloat16_conversion"}
INT4 = {"capabilities": "Int4CooperativeMatrixINTEL", "extensions": "SPV_INTEL_int4 SPV_KHR_cooperative_matrix"}
FLOAT8 = "%fp8 = OpTypeFloat 8 Float8E4M3EXT"
WITH_FLOAT8 = {"capabilities": "Float8EXT", "extensions": "SPV_EXT_float8"}
NO_TF32 = ("SPV_INTEL_tensor_float32_conversion asks for 32-bit floats and one type; SPIRV-Tools has no rule for "
           "OpRoundFToTF32INTEL")
NO_BFLOAT16 = ("SPV_INTEL_bfloat16_conversion asks for 32-bit floats and as many 16-bit integers; SPIRV-Tools has "
               "no rule for its conversions")
NO_INT4 = ("SPV_INTEL_int4 lists the instructions that take 4-bit integers, arithmetic not among them; "
           "SPIRV-Tools has no rule for it")
NO_STORAGE = ("SPV_INTEL_int4 allows 4-bit integers outside of functions only in vectors of an even number of them "
              "; SPIRV-Tools has no rule for it")
BF = "%matrix_{}_16x16_bfloat16"


def rounding(result: str, given: str, **rest: str) -> str:
    return kernel(f"%a = OpUndef {given}\n%r = OpRoundFToTF32INTEL {result} %a", **{**TF32, **rest})


def to_bfloat16(result: str, given: str, op: str = "FToBF16") -> str:
    return kernel(f"%a = OpUndef {given}\n%r = OpConvert{op}INTEL {result} %a", **CONVERSION)


def stored(kind: str, storage: str = "CrossWorkgroup") -> str:
    return kernel("", declarations=f"%p = OpTypePointer {storage} {kind}\n%v = OpVariable %p {storage}")


def of_float8(body: str) -> str:
    return kernel(body, declarations=FLOAT8, **WITH_FLOAT8)


def of_matrices(body: str, **rest: str) -> str:
    """A kernel with values of bfloat16 matrices."""
    return kernel(f"%a = OpUndef {BF.format('a')}\n%b = OpUndef {BF.format('b')}\n{body}",
                  capabilities="BFloat16CooperativeMatrixKHR", **rest)


CONVERSIONS = [
    valid("rounding to tf32", rounding("%v4float", "%v4float")),
    broken("tf32-rounding", "rounding doubles to tf32", rounding("%double", "%double"), NO_TF32,
           says="of 32-bit floats"),
    broken("tf32-rounding", "rounding integers to tf32", rounding("%uint", "%uint"), NO_TF32,
           says="of 32-bit floats"),
    broken("tf32-rounding", "rounding half to float", rounding("%float", "%half"), NO_TF32,
           says="rounds"),
    broken("tf32-rounding", "rounding a vector to a number", rounding("%float", "%v4float"), NO_TF32,
           says="rounds"),
    valid("a bfloat16 conversion", to_bfloat16("%v4ushort", "%v4float")),
    valid("a conversion from bfloat16", to_bfloat16("%float", "%ushort", "BF16ToF")),
    broken("bfloat16-conversion", "numbers of components differ", to_bfloat16("%v2ushort", "%v4float"),
           NO_BFLOAT16, says="as many numbers"),
    broken("bfloat16-conversion", "half to bfloat16", to_bfloat16("%ushort", "%half"), NO_BFLOAT16,
           says="converts 32-bit floats"),
    broken("bfloat16-conversion", "bfloat16 in 32 bits", to_bfloat16("%uint", "%float"), NO_BFLOAT16,
           says="16-bit integers"),
    broken("bfloat16-conversion", "bfloat16 to half", to_bfloat16("%half", "%ushort", "BF16ToF"),
           NO_BFLOAT16, says="the result of"),
    broken("bfloat16-conversion", "bfloat16 from 32 bits", to_bfloat16("%float", "%uint", "BF16ToF"),
           NO_BFLOAT16, says="converts 16-bit integers"),
]

BFLOAT16 = [
    broken("float-type", "bfloat16 of 32 bits",
           kernel("", declarations="%t = OpTypeFloat 32 BFloat16KHR", capabilities="BFloat16TypeKHR",
                  extensions="SPV_KHR_bfloat16")),
    valid("a bfloat16 is converted, stored and chosen",
          kernel("%v = OpVariable %ptr_private_bfloat16 Function\n%f = OpUndef %float\n%a = OpFConvert %bfloat16 %f\n"
                 "%c = OpUndef %bool\n%s = OpSelect %bfloat16 %c %a %a\nOpStore %v %s\n%l = OpLoad %bfloat16 %v")),
    *(broken("low-precision-use", f"Op{op} of bfloat16", kernel(f"%a = OpUndef %bfloat16\n%r = Op{op} {operands}"))
      for op, operands in (("FMul", "%bfloat16 %a %a"), ("FNegate", "%bfloat16 %a"),
                           ("FOrdLessThan", "%bool %a %a"))),
    broken("low-precision-use", "the root of a bfloat16",
           kernel("%a = OpUndef %bfloat16\n%r = OpExtInst %bfloat16 %std sqrt %a")),
    valid("a product of bfloat16 matrices",
          of_matrices("%c = OpUndef %matrix_acc_16x16_float\n"
                      "%r = OpCooperativeMatrixMulAddKHR %matrix_acc_16x16_float %a %b %c")),
    broken("low-precision-use", "bfloat16 matrices are added", of_matrices(f"%r = OpFAdd {BF.format('a')} %a %a")),
    broken("low-precision-use", "a bfloat16 matrix is scaled",
           of_matrices(f"%s = OpUndef %bfloat16\n%r = OpMatrixTimesScalar {BF.format('a')} %a %s").replace(
               "OpCapability Kernel", "OpCapability Kernel\nOpCapability Matrix")),
    valid("a bfloat16 matrix becomes one of floats", of_matrices("%r = OpFConvert %matrix_a_16x16_float %a")),
]

INTEGERS4 = [
    valid("a 4-bit integer is widened", kernel("%a = OpUndef %int4\n%r = OpUConvert %uint %a")),
    *(broken("low-precision-use", f"Op{op} of 4-bit integers",
             kernel(f"%a = OpUndef %int4\n%r = Op{op} {operands}"), NO_INT4)
      for op, operands in (("IAdd", "%int4 %a %a"), ("BitwiseAnd", "%int4 %a %a"), ("IEqual", "%bool %a %a"))),
    valid("a product of 4-bit integers",
          kernel("%a = OpUndef %matrix_a_8x64_int4\n%b = OpUndef %matrix_b_64x16_int4\n"
                 "%c = OpUndef %matrix_acc_8x16_uint\n"
                 "%r = OpCooperativeMatrixMulAddKHR %matrix_acc_8x16_uint %a %b %c "
                 "MatrixASignedComponentsKHR", **INT4)),
    valid("4-bit integers are loaded as bytes",
          kernel("%m = OpCooperativeMatrixLoadKHR %matrix_a_8x64_int4 %p0 %uint_0 %uint_32",
                 parameters="%ptr_global_uchar", **INT4)),
    valid("a private 4-bit integer", kernel("%v = OpVariable %ptr_private_int4 Function")),
    valid("pairs of 4-bit integers in global memory", stored("%v4int4")),
    broken("int4-storage", "a 4-bit integer in global memory", stored("%int4"), NO_STORAGE),
    broken("int4-storage", "three 4-bit integers in local memory", stored("%v3int4", "Workgroup"), NO_STORAGE),
    broken("int4-storage", "an array of 4-bit integers in global memory", stored("%arr4_int4"), NO_STORAGE),
]

FLOATS8 = [
    valid("an 8-bit float is converted", of_float8("%f = OpUndef %float\n%a = OpFConvert %fp8 %f")),
    broken("low-precision-use", "8-bit floats are added", of_float8("%a = OpUndef %fp8\n%r = OpFAdd %fp8 %a %a")),
    broken("low-precision-use", "a dot product of 8-bit floats",
           kernel("%a = OpUndef %v2fp8\n%r = OpDot %fp8 %a %a",
                  declarations=f"{FLOAT8}\n%v2fp8 = OpTypeVector %fp8 2", **WITH_FLOAT8)),
    broken("float-type", "an 8-bit float of 16 bits",
           kernel("", declarations="%t = OpTypeFloat 16 Float8E4M3EXT", **WITH_FLOAT8)),
    broken("float-type", "an 8-bit float without encoding",
           kernel("", declarations="%t = OpTypeFloat 8", **WITH_FLOAT8)),
    broken("low-precision-use", "bfloat16 in a shader is negated",
           shader("%a = OpUndef %bfloat16\n%r = OpFNegate %bfloat16 %a")),
]

CASES = [*CONVERSIONS, *BFLOAT16, *INTEGERS4, *FLOATS8]
