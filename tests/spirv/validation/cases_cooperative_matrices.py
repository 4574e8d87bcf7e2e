"""Cases of the rules in coopmat.spirv.validate.cooperative_matrices."""

from __future__ import annotations

from tests.spirv.validation.cases import broken, kernel, valid

MATRICES = {"capabilities": "CooperativeMatrixKHR", "extensions": "SPV_KHR_cooperative_matrix"}
MULTIPLY = """%a = OpUndef %matrix_a_{a}
%b = OpUndef %matrix_b_{b}
%c = OpUndef %matrix_acc_{c}
%r = OpCooperativeMatrixMulAddKHR %matrix_acc_{r} %a %b %c {flags}"""


def multiply(a: str = "8x16_half", b: str = "16x16_half", c: str = "8x16_float", r: str | None = None,
             flags: str = "", **rest: str) -> str:
    return kernel(MULTIPLY.format(a=a, b=b, c=c, r=r or c, flags=flags), **rest)


def load(operands: str, pointer: str = "%ptr_global_float", matrix: str = "%matrix_acc_8x16_float",
         **rest: str) -> str:
    return kernel(f"%m = OpCooperativeMatrixLoadKHR {matrix} %p0 {operands}", parameters=pointer, **rest)


def store(operands: str, value: str = "%matrix_acc_8x16_float", pointer: str = "%ptr_global_float",
          **rest: str) -> str:
    return kernel(f"%m = OpUndef {value}\nOpCooperativeMatrixStoreKHR %p0 %m {operands}", parameters=pointer, **rest)


def declare(text: str) -> str:
    return kernel("", declarations=f"%t = OpTypeCooperativeMatrixKHR {text}", **MATRICES)


NO_SUCH_RULE = "SPIRV-Tools does not check this"

CASES = [
    valid("a matrix type", declare("%float %uint_3 %uint_8 %uint_16 %uint_2")),
    valid("a specialisation constant as rows",
          kernel("", declarations="%rows = OpSpecConstant %uint 8\n"
                 "%t = OpTypeCooperativeMatrixKHR %float %uint_3 %rows %uint_16 %uint_2",
                 **MATRICES)),
    broken("matrix-type-operands", "booleans as components", declare("%bool %uint_3 %uint_8 %uint_16 %uint_2")),
    broken("matrix-type-operands", "vectors as components", declare("%v2float %uint_3 %uint_8 %uint_16 %uint_2")),
    broken("matrix-type-operands", "a float as scope", declare("%float %float_3 %uint_8 %uint_16 %uint_2")),
    broken("matrix-type-operands", "a 64-bit number of rows",
           declare("%float %uint_3 %ulong_8 %uint_16 %uint_2"), NO_SUCH_RULE),
    broken("matrix-type-operands", "no columns", declare("%float %uint_3 %uint_8 %uint_0 %uint_2"), NO_SUCH_RULE),
    broken("matrix-type-operands", "a use beyond 2", declare("%float %uint_3 %uint_8 %uint_16 %uint_3"), NO_SUCH_RULE),
    broken("matrix-scope", "the scope of a device", declare("%float %uint_1 %uint_8 %uint_16 %uint_2")),
    broken("matrix-storage", "a matrix in local memory",
           kernel("", declarations="%p = OpTypePointer Workgroup %matrix_acc_8x16_float\n"
                  "%v = OpVariable %p Workgroup")),
    broken("matrix-storage", "a structure with a matrix in local memory",
           kernel("", declarations="%s = OpTypeStruct %uint %matrix_acc_8x16_float\n"
                  "%p = OpTypePointer Workgroup %s\n%v = OpVariable %p Workgroup")),
    valid("a private variable", kernel("%v = OpVariable %ptr_private_matrix_acc_8x16_float Function")),
    valid("a product of fp16", multiply()),
    valid("a signed product", multiply("8x32_uchar", "32x16_uchar", "8x16_uint",
                                       flags="MatrixASignedComponentsKHR|SaturatingAccumulationKHR")),
    broken("matrix-multiply-types", "the accumulator as A",
           kernel("%a = OpUndef %matrix_acc_16x16_half\n%b = OpUndef %matrix_b_16x16_half\n"
                  "%c = OpUndef %matrix_acc_16x16_float\n"
                  "%r = OpCooperativeMatrixMulAddKHR %matrix_acc_16x16_float %a %b %c")),
    broken("matrix-multiply-types", "a scalar as C",
           kernel("%a = OpUndef %matrix_a_8x16_half\n%b = OpUndef %matrix_b_16x16_half\n%c = OpUndef %float\n"
                  "%r = OpCooperativeMatrixMulAddKHR %matrix_acc_8x16_float %a %b %c")),
    broken("matrix-multiply-shapes", "K differs", multiply(b="8x16_half")),
    broken("matrix-multiply-shapes", "M differs", multiply(a="4x16_half")),
    broken("matrix-multiply-shapes", "N differs", multiply(b="16x8_half")),
    broken("matrix-multiply-shapes", "C has another shape", multiply(c="8x8_float", r="8x16_float")),
    broken("matrix-multiply-signs", "a signed A of floats", multiply(flags="MatrixASignedComponentsKHR"), NO_SUCH_RULE),
    broken("matrix-multiply-signs", "a signed result of floats", multiply(flags="MatrixResultSignedComponentsKHR"),
           NO_SUCH_RULE),
    broken("matrix-multiply-kinds", "integers times floats", multiply(a="8x16_ushort"), NO_SUCH_RULE),
    broken("matrix-multiply-kinds", "integers added to floats",
           multiply(c="8x16_uint", r="8x16_float"), NO_SUCH_RULE),
    broken("matrix-saturation", "floats that saturate", multiply(flags="SaturatingAccumulationKHR"), NO_SUCH_RULE),
    valid("a load", load("%uint_0 %uint_16")),
    valid("a load through bytes", load("%uint_1 %ulong_64", "%ptr_global_uchar")),
    valid("a load through vectors", load("%uint_0 %uint_4", "%ptr_local_v4float")),
    broken("matrix-load", "no stride", load("%uint_0")),
    broken("matrix-load", "an unknown layout", load("%uint_77 %uint_16"), NO_SUCH_RULE),
    broken("matrix-load", "a float as stride", load("%uint_0 %float_16")),
    broken("matrix-load", "no matrix", load("%uint_0 %uint_16", matrix="%float", **MATRICES)),
    broken("matrix-load", "a pointer to a structure",
           load("%uint_0 %uint_16", "%ptr_global_pair", declarations="%pair = OpTypeStruct %float %float\n"
                "%ptr_global_pair = OpTypePointer CrossWorkgroup %pair")),
    broken("matrix-pointer-storage", "a load from constant memory",
           load("%uint_0 %uint_16", "%ptr_constant_float"), NO_SUCH_RULE),
    valid("a store", store("%uint_0 %uint_16")),
    broken("matrix-store", "no stride", store("%uint_1")),
    broken("matrix-store", "stride 0", store("%uint_0 %uint_0"), NO_SUCH_RULE),
    broken("matrix-store", "a scalar is stored", store("%uint_0 %uint_16", value="%float", **MATRICES)),
    valid("a length", kernel("%l = OpCooperativeMatrixLengthKHR %uint %matrix_a_8x16_half")),
    broken("matrix-length", "a 64-bit length", kernel("%l = OpCooperativeMatrixLengthKHR %ulong %matrix_a_8x16_half")),
    broken("matrix-length", "the length of a vector",
           kernel("%x = OpUndef %matrix_a_8x16_half\n%l = OpCooperativeMatrixLengthKHR %uint %v4float")),
    valid("matrices are added",
          kernel("%x = OpUndef %matrix_acc_8x16_float\n%r = OpFAdd %matrix_acc_8x16_float %x %x")),
    broken("integer-arithmetic", "bitwise operations on matrices",
           kernel("%x = OpUndef %matrix_acc_8x16_uint\n%r = OpBitwiseAnd %matrix_acc_8x16_uint %x %x")),
    broken("matrix-arithmetic", "shapes differ",
           kernel("%x = OpUndef %matrix_acc_8x16_uint\n%y = OpUndef %matrix_acc_8x8_uint\n"
                  "%r = OpIAdd %matrix_acc_8x16_uint %x %y")),
    valid("a matrix is scaled",
          kernel("%x = OpUndef %matrix_acc_8x16_float\n%s = OpUndef %float\n"
                 "%r = OpMatrixTimesScalar %matrix_acc_8x16_float %x %s", capabilities="Matrix")),
    broken("matrix-times-scalar", "a scalar of another type",
           kernel("%x = OpUndef %matrix_acc_8x16_float\n%s = OpUndef %double\n"
                  "%r = OpMatrixTimesScalar %matrix_acc_8x16_float %x %s", capabilities="Matrix")),
    valid("a conversion", kernel("%x = OpUndef %matrix_acc_8x16_float\n%r = OpFConvert %matrix_acc_8x16_half %x")),
    broken("matrix-conversion", "the shape changes",
           kernel("%x = OpUndef %matrix_acc_8x16_float\n%r = OpFConvert %matrix_acc_16x8_half %x")),
    broken("matrix-conversion", "the use changes",
           kernel("%x = OpUndef %matrix_acc_8x16_float\n%r = OpFConvert %matrix_a_8x16_half %x")),
    broken("matrix-conversion", "a scalar becomes a matrix",
           kernel("%x = OpUndef %float\n%r = OpConvertFToS %matrix_acc_8x16_uint %x")),
    broken("matrix-bitcast", "floats become integers",
           kernel("%x = OpUndef %matrix_acc_8x16_float\n%r = OpBitcast %matrix_acc_8x16_uint %x"),
           NO_SUCH_RULE),
    broken("matrix-bitcast", "a matrix becomes a vector",
           kernel("%x = OpUndef %matrix_acc_8x16_uint\n%r = OpBitcast %v4uint %x")),
]
