"""Cases of the family cooperative_matrices."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, shader, valid

MATRICES = {"capabilities": "CooperativeMatrixKHR", "extensions": "SPV_KHR_cooperative_matrix"}
MULTIPLY = """%a = OpUndef %matrix_a_{a}
%b = OpUndef %matrix_b_{b}
%c = OpUndef %matrix_acc_{c}
%r = OpCooperativeMatrixMulAddKHR %matrix_acc_{r} %a %b %c {flags}"""


def multiply(a: str = "8x16_half", b: str = "16x16_half", c: str = "8x16_float", r: str | None = None,
             flags: str = "", **rest: str) -> str:
    return kernel(MULTIPLY.format(a=a, b=b, c=c, r=r or c, flags=flags), **rest)


def declare(text: str) -> str:
    return kernel("", declarations=f"%t = OpTypeCooperativeMatrixKHR {text}", **MATRICES)


VALUES = ("SPV_KHR_cooperative_matrix asks for {}; SPIRV-Tools looks at the kind of the constant, not at its width and "
          "value")
OPERAND_BITS = ("SPV_KHR_cooperative_matrix 2.16.1 allows the Signed operands for matrices of integers only; "
                "SPIRV-Tools does not look at the operands of OpCooperativeMatrixMulAddKHR")
WORK_GROUPS = "%float %uint_2 %uint_8 %uint_16 %uint_2"
VULKAN = {"kind": "Shader VulkanMemoryModel", "model": "OpMemoryModel Logical Vulkan",
          "extensions": "SPV_KHR_vulkan_memory_model SPV_KHR_cooperative_matrix"}


def stored(storage: str, declarations: str, kind: str) -> str:
    """A module with a variable of a type that holds a matrix."""
    return kernel("", declarations=f"{declarations}\n%p = OpTypePointer {storage} {kind}\n%v = OpVariable %p {storage}")


def parts(a: str = "%matrix_a_8x16_half", b: str = "%matrix_b_16x16_half", c: str = "%matrix_acc_8x16_float",
          r: str = "%matrix_acc_8x16_float", **rest: str) -> str:
    """A product of values of any types."""
    return kernel(f"%a = OpUndef {a}\n%b = OpUndef {b}\n%c = OpUndef {c}\n"
                  f"%r = OpCooperativeMatrixMulAddKHR {r} %a %b %c", **rest)


def of_scope(matrix: str, scope: str) -> str:
    """Declares ``%other``, the accumulator 8 x 16 of floats (or A of half) with another scope."""
    component, use = {"a": ("%half", "%uint_0"), "acc": ("%float", "%uint_2")}[matrix]
    return f"%other = OpTypeCooperativeMatrixKHR {component} {scope} %uint_8 %uint_16 {use}"


TYPES = [
    valid("a matrix type", declare("%float %uint_3 %uint_8 %uint_16 %uint_2")),
    valid("a specialisation constant as rows",
          kernel("", declarations="%rows = OpSpecConstant %uint 8\n"
                 "%t = OpTypeCooperativeMatrixKHR %float %uint_3 %rows %uint_16 %uint_2",
                 **MATRICES)),
    valid("a specialisation constant as scope",
          kernel("", declarations="%scope = OpSpecConstant %uint 3\n"
                 "%t = OpTypeCooperativeMatrixKHR %float %scope %uint_8 %uint_16 %uint_2", **MATRICES)),
    broken("matrix-type-operands", "booleans as components", declare("%bool %uint_3 %uint_8 %uint_16 %uint_2"),
           says="integers or floats"),
    broken("matrix-type-operands", "vectors as components", declare("%v2float %uint_3 %uint_8 %uint_16 %uint_2"),
           says="integers or floats"),
    broken("matrix-type-operands", "a float as scope", declare("%float %float_3 %uint_8 %uint_16 %uint_2"),
           says="the scope of a cooperative matrix"),
    broken("matrix-type-operands", "a 64-bit number of rows", declare("%float %uint_3 %ulong_8 %uint_16 %uint_2"),
           VALUES.format("a 32-bit constant as Rows"), says="the number of rows"),
    broken("matrix-type-operands", "a 64-bit number of columns", declare("%float %uint_3 %uint_8 %ulong_16 %uint_2"),
           VALUES.format("a 32-bit constant as Columns"), says="the number of columns"),
    broken("matrix-type-operands", "an 8-bit use", declare("%float %uint_3 %uint_8 %uint_16 %uchar_2"),
           VALUES.format("a 32-bit constant as Use"), says="the use of a cooperative matrix is a constant"),
    broken("matrix-type-operands", "rows that are undefined",
           kernel("", declarations="%rows = OpUndef %uint\n"
                  "%t = OpTypeCooperativeMatrixKHR %float %uint_3 %rows %uint_16 %uint_2", **MATRICES)),
    broken("id-role", "rows that are a variable",
           kernel("", declarations="%rows = OpVariable %ptr_global_uint CrossWorkgroup\n"
                  "%t = OpTypeCooperativeMatrixKHR %float %uint_3 %rows %uint_16 %uint_2", **MATRICES)),
    broken("matrix-type-operands", "no columns", declare("%float %uint_3 %uint_8 %uint_0 %uint_2"),
           "no client API has matrices without columns; SPIRV-Tools does not look at the number", says="0 columns"),
    broken("matrix-type-operands", "no rows", declare("%float %uint_3 %uint_0 %uint_16 %uint_2"),
           "no client API has matrices without rows; SPIRV-Tools does not look at the number", says="0 rows"),
    broken("matrix-type-operands", "a use beyond 2", declare("%float %uint_3 %uint_8 %uint_16 %uint_3"),
           VALUES.format("a Use of 0, 1 or 2"), says="0 (A), 1 (B) or 2"),
    broken("type-unique", "the same matrix type twice",
           kernel("%x = OpUndef %matrix_a_8x16_half",
                  declarations="%t = OpTypeCooperativeMatrixKHR %half %uint_3 %uint_8 %uint_16 %uint_0")),
    broken("matrix-scope", "the scope of a device", declare("%float %uint_1 %uint_8 %uint_16 %uint_2"),
           says="Subgroup (3) or Workgroup (2)"),
    broken("matrix-scope", "the scope of an invocation", declare("%float %uint_4 %uint_8 %uint_16 %uint_2")),
    broken("matrix-scope", "a matrix of a work-group of no fixed size", declare(WORK_GROUPS),
           says="LocalSize or LocalSizeId on the entry point 'main'"),
    valid("a matrix of a work-group of 64",
          kernel("", declarations=f"%t = OpTypeCooperativeMatrixKHR {WORK_GROUPS}",
                 modes="OpExecutionMode %main LocalSize 64 1 1", **MATRICES)),
    valid("a matrix of a work-group whose size constants say",
          kernel("", declarations=f"%size = OpSpecConstant %uint 64\n%t = OpTypeCooperativeMatrixKHR {WORK_GROUPS}",
                 modes="OpExecutionModeId %main LocalSizeId %size %uint_1 %uint_1", **MATRICES)),
    broken("matrix-scope", "a matrix of a work-group before the constant of its size",
           kernel("", declarations=f"%t = OpTypeCooperativeMatrixKHR {WORK_GROUPS}\n%size = OpSpecConstant %uint 64",
                  modes="OpExecutionModeId %main LocalSizeId %size %uint_1 %uint_1", **MATRICES),
           says="must be defined before"),
    broken("matrix-vulkan-memory-model", "a shader without the Vulkan memory model",
           shader("%x = OpUndef %matrix_a_8x16_half")),
    valid("a shader with the Vulkan memory model", shader("%x = OpUndef %matrix_a_8x16_half", **VULKAN)),
    broken("matrix-storage", "a matrix in local memory", stored("Workgroup", "", "%matrix_acc_8x16_float")),
    broken("matrix-storage", "a matrix in global memory", stored("CrossWorkgroup", "", "%matrix_acc_8x16_float")),
    broken("matrix-storage", "a structure with a matrix in local memory",
           stored("Workgroup", "%s = OpTypeStruct %uint %matrix_acc_8x16_float", "%s")),
    broken("matrix-storage", "an array of matrices in local memory",
           stored("Workgroup", "%s = OpTypeArray %matrix_acc_8x16_float %uint_2", "%s")),
    valid("a private variable", kernel("%v = OpVariable %ptr_private_matrix_acc_8x16_float Function")),
    valid("an array of matrices in a private variable",
          kernel("%v = OpVariable %p Function", declarations="%s = OpTypeArray %matrix_acc_8x16_float %uint_2\n"
                 "%p = OpTypePointer Function %s")),
    broken("kernel-parameters", "a kernel with a pointer to matrices as parameter",
           kernel("", parameters="%ptr_global_matrix_acc_8x16_float"),
           "a cooperative matrix cannot be allocated by a host (SPV_KHR_cooperative_matrix 2.16.1: Function and "
           "Private storage only); SPIRV-Tools looks at variables", says="holds or points to"),
    broken("kernel-parameters", "a kernel with a matrix as parameter",
           kernel("", parameters="%matrix_acc_8x16_float"),
           "a cooperative matrix cannot be allocated by a host (SPV_KHR_cooperative_matrix 2.16.1: Function and "
           "Private storage only); SPIRV-Tools looks at variables"),
]

MULTIPLY_ADD = [
    valid("a product of fp16", multiply()),
    valid("a signed product", multiply("8x32_uchar", "32x16_uchar", "8x16_uint",
                                       flags="MatrixASignedComponentsKHR|SaturatingAccumulationKHR")),
    valid("all four matrices signed",
          multiply("8x32_uchar", "32x16_uchar", "8x16_uint", flags="MatrixASignedComponentsKHR|"
                   "MatrixBSignedComponentsKHR|MatrixCSignedComponentsKHR|MatrixResultSignedComponentsKHR")),
    valid("operands of None", multiply(flags="NoneKHR")),
    valid("components of several widths", multiply("8x32_uchar", "32x16_ushort", "8x16_ushort", "8x16_uint")),
    valid("rows that a specialisation decides",
          parts(a="%other", declarations="%rows = OpSpecConstant %uint 4\n"
                "%other = OpTypeCooperativeMatrixKHR %half %uint_3 %rows %uint_16 %uint_0")),
    broken("matrix-multiply-types", "the accumulator as A", parts(a="%matrix_acc_8x16_half"), says="A of"),
    broken("matrix-multiply-types", "A as B", parts(b="%matrix_a_16x16_half"), says="use 1 (MatrixBKHR)"),
    broken("matrix-multiply-types", "B as C", parts(c="%matrix_b_8x16_float"), says="C of"),
    broken("matrix-multiply-types", "A as the result", parts(r="%matrix_a_8x16_float"),
           "SPV_KHR_cooperative_matrix asks for a result of use MatrixAccumulatorKHR; SPIRV-Tools looks at the "
           "uses of A, B and C only", says="the result of"),
    broken("matrix-multiply-types", "a scalar as A", parts(a="%half"), says="must be a cooperative matrix"),
    broken("matrix-multiply-types", "a vector as B", parts(b="%v8half"), says="B of"),
    broken("matrix-multiply-types", "a scalar as C", parts(c="%float"), says="C of"),
    broken("matrix-multiply-types", "a scalar as the result", parts(r="%float"), says="the result of"),
    broken("matrix-multiply-types", "A of another scope",
           parts(a="%other", declarations=of_scope("a", "%uint_2"), modes="OpExecutionMode %main LocalSize 64 1 1"),
           says="another scope than the result"),
    broken("matrix-multiply-types", "C of another scope",
           parts(c="%other", declarations=of_scope("acc", "%uint_2"), modes="OpExecutionMode %main LocalSize 64 1 1"),
           says="another scope than the result"),
    broken("matrix-multiply-shapes", "K differs", multiply(b="8x16_half"), says="columns than B has rows"),
    broken("matrix-multiply-shapes", "M differs", multiply(a="4x16_half"), says="rows than the result"),
    broken("matrix-multiply-shapes", "N differs", multiply(b="16x8_half"), says="columns than the result"),
    broken("matrix-multiply-shapes", "C has other columns", multiply(c="8x8_float", r="8x16_float"),
           says="C has another shape"),
    broken("matrix-multiply-shapes", "C has other rows", multiply(c="4x16_float", r="8x16_float"),
           says="C has another shape"),
    *(broken("matrix-multiply-signs", f"a signed {name} of floats", multiply(flags=f"Matrix{name}SignedComponentsKHR"),
             OPERAND_BITS, says=f"Matrix{name}SignedComponentsKHR") for name in ("A", "B", "C", "Result")),
    broken("matrix-multiply-kinds", "integers times floats", multiply(a="8x16_ushort"), says="A and B of"),
    broken("matrix-multiply-kinds", "integers added to floats", multiply(c="8x16_uint", r="8x16_float"),
           says="C and the result of"),
    broken("matrix-saturation", "floats that saturate", multiply(flags="SaturatingAccumulationKHR")),
]

CASES = [*TYPES, *MULTIPLY_ADD]
