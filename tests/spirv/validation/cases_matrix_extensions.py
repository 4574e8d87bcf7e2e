"""Cases of the rules about sub-group matrices, integer dot products and low-precision types."""

from __future__ import annotations

from collections.abc import Callable

from tests.spirv.validation.cases import broken, kernel, shader, valid

NO_SUCH_RULE = "SPIRV-Tools does not check this"
INT8_FLAGS = ("MatrixASignedComponentsINTEL|MatrixBSignedComponentsINTEL|MatrixAPackedInt8INTEL|"
              "MatrixBPackedInt8INTEL")
SUB_GROUP_MATRICES = {"capabilities": "SubgroupMatrixMultiplyAccumulateINTEL",
                      "extensions": "SPV_INTEL_subgroup_matrix_multiply_accumulate"}
DOT = {"extensions": "SPV_KHR_integer_dot_product"}


def multiply(k: str = "%uint_32", a: str = "%v8ushort", b: str = "%v8uint", c: str = "%v8uint",
             flags: str = INT8_FLAGS, result: str | None = None, size: str = "16") -> str:
    return kernel(f"%a = OpUndef {a}\n%b = OpUndef {b}\n%c = OpUndef {c}\n"
                  f"%r = OpSubgroupMatrixMultiplyAccumulateINTEL {result or c} {k} %a %b %c {flags}",
                  modes=f"OpExecutionMode %main SubgroupSize {size}" if size else "",
                  capabilities=SUB_GROUP_MATRICES["capabilities"] + (" SubgroupDispatch" if size else ""),
                  extensions=SUB_GROUP_MATRICES["extensions"])


def dot(op: str, vector: str, result: str = "%uint", second: str | None = None, rest: str = "",
        capabilities: str = "DotProduct DotProductInputAll", make: Callable[..., str] = kernel) -> str:
    return make(f"%a = OpUndef {vector}\n%b = OpUndef {second or vector}\n%c = OpUndef {result}\n"
                f"%r = Op{op} {result} %a %b {rest}", capabilities=capabilities, **DOT)


PACKED = "DotProduct DotProductInput4x8BitPacked"

CASES = [
    valid("int8 for sub-groups of 16", multiply()),
    valid("int8 for sub-groups of 8", multiply(a="%v8uint", size="8")),
    valid("one row", multiply(a="%ushort", c="%uint")),
    valid("no required size", multiply(size="")),
    valid("tf32", multiply("%uint_8", "%v4float", "%v8float", "%v8float", "MatrixATF32INTEL|MatrixBTF32INTEL")),
    valid("tf32 of one row",
          multiply("%uint_8", "%float", "%v8float", "%float", "MatrixATF32INTEL|MatrixBTF32INTEL")),
    broken("sub-group-matrix-combination", "tf32's A with as many components as rows",
           multiply("%uint_8", "%v8float", "%v8float", "%v8float", "MatrixATF32INTEL|MatrixBTF32INTEL"),
           NO_SUCH_RULE),
    broken("sub-group-matrix-combination", "the A of sub-groups of 8 with 16", multiply(a="%v8uint"), NO_SUCH_RULE),
    broken("sub-group-matrix-combination", "K = 16 for int8", multiply("%uint_16"), NO_SUCH_RULE),
    broken("sub-group-matrix-combination", "three rows", multiply(a="%v3ushort", c="%v3uint"), NO_SUCH_RULE),
    broken("sub-group-matrix-combination", "no flags", multiply(flags=""), NO_SUCH_RULE),
    broken("sub-group-matrix-combination", "sub-groups of 32", multiply(size="32"), NO_SUCH_RULE),
    broken("sub-group-matrix-types", "C has another type",
           multiply(c="%v8float", result="%v8uint"), NO_SUCH_RULE),
    broken("sub-group-matrix-types sub-group-matrix-flags sub-group-matrix-combination", "a boolean as A",
           multiply(a="%bool"), NO_SUCH_RULE),
    broken("sub-group-matrix-k", "a 64-bit K", multiply("%ulong_32"), NO_SUCH_RULE),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "tf32 of integers",
           multiply("%uint_8", flags="MatrixATF32INTEL|MatrixBTF32INTEL"), NO_SUCH_RULE),
    valid("a dot product of vectors", dot("SDot", "%v4uchar")),
    valid("a packed dot product", dot("SDot", "%uint", rest="PackedVectorFormat4x8Bit", capabilities=PACKED)),
    valid("a saturating dot product", dot("SUDotAccSat", "%v2ushort", rest="%c")),
    broken("dot-vectors", "floats", dot("SDot", "%v4float")),
    broken("dot-vectors", "scalars without a format", dot("SDot", "%uint", capabilities=PACKED)),
    broken("dot-vectors", "vectors with a format", dot("SDot", "%v4uchar", rest="PackedVectorFormat4x8Bit"),
           NO_SUCH_RULE),
    broken("dot-vectors", "packed in 64 bits",
           dot("SDot", "%ulong", result="%ulong", rest="PackedVectorFormat4x8Bit", capabilities=PACKED)),
    broken("dot-vectors", "the vectors differ", dot("SDot", "%v4uchar", second="%v4ushort")),
    broken("dot-vectors", "numbers of components differ", dot("SUDot", "%v4uchar", second="%v2uchar")),
    broken("dot-signedness", "a signed result of OpUDot", dot("UDot", "%v4uchar", result="%sint", make=shader)),
    broken("dot-signedness", "a signed vector 2",
           dot("SUDot", "%v2sint", result="%sint", make=shader)),
    broken("dot-result", "a float result", dot("SDot", "%v4uchar", result="%float")),
    broken("dot-result", "a narrow result", dot("SDot", "%v2ushort", result="%uchar")),
    broken("dot-accumulator", "an accumulator of another type",
           kernel("%a = OpUndef %v4uchar\n%c = OpUndef %ulong\n%r = OpSDotAccSat %uint %a %a %c",
                  capabilities="DotProduct DotProductInput4x8Bit", **DOT)),
    valid("rounding to tf32",
          kernel("%a = OpUndef %v4float\n%r = OpRoundFToTF32INTEL %v4float %a",
                 capabilities="TensorFloat32RoundingINTEL", extensions="SPV_INTEL_tensor_float32_conversion")),
    broken("tf32-rounding", "rounding doubles to tf32",
           kernel("%a = OpUndef %double\n%r = OpRoundFToTF32INTEL %double %a",
                  capabilities="TensorFloat32RoundingINTEL", extensions="SPV_INTEL_tensor_float32_conversion"),
           NO_SUCH_RULE),
    valid("a bfloat16 conversion",
          kernel("%a = OpUndef %v4float\n%r = OpConvertFToBF16INTEL %v4ushort %a",
                 capabilities="BFloat16ConversionINTEL", extensions="SPV_INTEL_bfloat16_conversion")),
    broken("bfloat16-conversion", "numbers of components differ",
           kernel("%a = OpUndef %v4float\n%r = OpConvertFToBF16INTEL %v2ushort %a",
                  capabilities="BFloat16ConversionINTEL", extensions="SPV_INTEL_bfloat16_conversion"),
           NO_SUCH_RULE),
    broken("bfloat16-conversion", "a conversion from half",
           kernel("%a = OpUndef %ushort\n%r = OpConvertBF16ToFINTEL %half %a",
                  capabilities="BFloat16ConversionINTEL", extensions="SPV_INTEL_bfloat16_conversion"),
           NO_SUCH_RULE),
    broken("low-precision-use", "4-bit integers are added", kernel("%a = OpUndef %int4\n%r = OpIAdd %int4 %a %a"),
           NO_SUCH_RULE),
]
