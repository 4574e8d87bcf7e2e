"""Cases of the family low_precision; more of them stand among the matrix extensions."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, valid
from tests.kit.spirv.cases.arithmetic import apply
from tests.kit.spirv.cases.declarations import declare

TF32 = {"capabilities": "TensorFloat32RoundingINTEL", "extensions": "SPV_INTEL_tensor_float32_conversion"}
BF16 = {"capabilities": "BFloat16ConversionINTEL", "extensions": "SPV_INTEL_bfloat16_conversion"}
FLOAT8 = {"capabilities": "Float8EXT", "extensions": "SPV_EXT_float8",
          "declarations": "%float8 = OpTypeFloat 8 Float8E4M3EXT"}
BFLOAT16_MATRIX = {"capabilities": "BFloat16CooperativeMatrixKHR"}
INT4_MATRIX = {"capabilities": "Int4CooperativeMatrixINTEL"}
NO_TF32_RULE = ("SPV_INTEL_tensor_float32_conversion: result and operand are 32-bit floats of one type; SPIRV-Tools "
                "has no rule for this instruction")
NO_BF16_RULE = ("SPV_INTEL_bfloat16_conversion: 32-bit floats become 16-bit integers and back, one for one; "
                "SPIRV-Tools has no rule for these instructions")
NO_INT4_RULE = ("SPV_INTEL_int4: 4-bit integers are moved, converted and multiplied in matrices only; SPIRV-Tools "
                "does not look at their use")
NO_INT4_STORAGE = ("SPV_INTEL_int4: in memory that others see, 4-bit integers stand in vectors of even length; "
                   "SPIRV-Tools does not look at where they are stored")


def variable(type_: str, storage: str = "CrossWorkgroup", before: str = "") -> str:
    """A variable outside functions."""
    return declare(f"{before}%pointer = OpTypePointer {storage} {type_}\n%v = OpVariable %pointer {storage}",
                   extensions="SPV_INTEL_int4", capabilities="Int4TypeINTEL")


CASES = [
    valid("a scalar is rounded to tf32", apply("RoundFToTF32INTEL", "%float", "%float", **TF32)),
    broken("tf32-rounding", "halves are rounded to tf32", apply("RoundFToTF32INTEL", "%v2half", "%v2half", **TF32),
           NO_TF32_RULE),
    broken("tf32-rounding", "rounding to tf32 gives integers", apply("RoundFToTF32INTEL", "%uint", "%float", **TF32),
           NO_TF32_RULE),
    broken("tf32-rounding", "rounding to tf32 changes the number of components",
           apply("RoundFToTF32INTEL", "%v2float", "%v4float", **TF32), NO_TF32_RULE),
    valid("bfloat16 bits become a float", apply("ConvertBF16ToFINTEL", "%v2float", "%v2ushort", **BF16)),
    broken("bfloat16-conversion", "a double becomes bfloat16 bits",
           apply("ConvertFToBF16INTEL", "%ushort", "%double", **BF16), NO_BF16_RULE),
    broken("bfloat16-conversion", "bfloat16 bits of 32 bits", apply("ConvertFToBF16INTEL", "%uint", "%float", **BF16),
           NO_BF16_RULE),
    broken("bfloat16-conversion", "bfloat16 bits of a half", apply("ConvertBF16ToFINTEL", "%float", "%half", **BF16),
           NO_BF16_RULE),
    broken("bfloat16-conversion", "bfloat16 bits become a vector",
           apply("ConvertBF16ToFINTEL", "%v2float", "%ushort", **BF16), NO_BF16_RULE),
    valid("a bfloat16 is loaded, chosen and stored",
          kernel("%x = OpLoad %bfloat16 %p0\n%y = OpSelect %bfloat16 %true %x %x\nOpStore %p0 %y",
                 parameters="%ptr_global_bfloat16")),
    valid("a dot product of bfloat16",
          apply("Dot", "%bfloat16", "%v4bfloat16", "%v4bfloat16", capabilities="BFloat16DotProductKHR")),
    broken("capability-missing", "a dot product of bfloat16 without its capability",
           apply("Dot", "%bfloat16", "%v4bfloat16", "%v4bfloat16")),
    valid("a matrix of bfloat16 becomes one of floats",
          apply("FConvert", "%matrix_acc_8x16_float", "%matrix_acc_8x16_bfloat16", **BFLOAT16_MATRIX)),
    broken("low-precision-use", "a bfloat16 is negated", apply("FNegate", "%bfloat16", "%bfloat16")),
    broken("low-precision-use", "bfloat16 numbers are compared",
           apply("FOrdLessThan", "%bool", "%bfloat16", "%bfloat16")),
    broken("low-precision-use", "vectors of bfloat16 are multiplied",
           apply("FMul", "%v2bfloat16", "%v2bfloat16", "%v2bfloat16")),
    broken("low-precision-use", "matrices of bfloat16 are added",
           apply("FAdd", *["%matrix_acc_8x16_bfloat16"] * 3, **BFLOAT16_MATRIX)),
    broken("low-precision-use", "a matrix of bfloat16 is scaled",
           apply("MatrixTimesScalar", "%matrix_acc_8x16_bfloat16", "%matrix_acc_8x16_bfloat16", "%bfloat16",
                 capabilities="BFloat16CooperativeMatrixKHR Matrix")),
    broken("low-precision-use", "the cosine of a bfloat16",
           kernel("%x = OpUndef %bfloat16\n%r = OpExtInst %bfloat16 %std cos %x")),
    valid("a float of 8 bits becomes wider", apply("FConvert", "%half", "%float8", **FLOAT8)),
    broken("low-precision-use", "floats of 8 bits are added", apply("FAdd", "%float8", "%float8", "%float8", **FLOAT8)),
    valid("4-bit integers become wider", apply("SConvert", "%v2uint", "%v2int4")),
    valid("a matrix of 4-bit integers",
          kernel("%x = OpUndef %matrix_a_8x32_int4\n%n = OpCooperativeMatrixLengthKHR %uint %matrix_a_8x32_int4",
                 **INT4_MATRIX)),
    broken("low-precision-use", "4-bit integers are compared",
           apply("IEqual", "%bool", "%int4", "%int4"), NO_INT4_RULE),
    broken("low-precision-use", "4-bit integers are shifted",
           apply("ShiftLeftLogical", "%v2int4", "%v2int4", "%v2uint"), NO_INT4_RULE),
    broken("low-precision-use", "matrices of 4-bit integers are added",
           apply("IAdd", *["%matrix_acc_8x16_int4"] * 3, **INT4_MATRIX), NO_INT4_RULE),
    valid("a 4-bit integer in private memory", kernel("%v = OpVariable %ptr_private_int4 Function")),
    valid("pairs of 4-bit integers in global memory", variable("%v2int4")),
    valid("an array of vectors of 4-bit integers", variable("%list", before="%list = OpTypeArray %v8int4 %uint_4\n")),
    broken("int4-storage", "a 4-bit integer in global memory", variable("%int4"), NO_INT4_STORAGE),
    broken("int4-storage", "three 4-bit integers in local memory", variable("%v3int4", "Workgroup"), NO_INT4_STORAGE),
    broken("int4-storage", "a structure with a 4-bit integer in global memory",
           variable("%s", before="%s = OpTypeStruct %uint %int4\n"), NO_INT4_STORAGE),
]
