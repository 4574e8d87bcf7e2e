"""Cases of the family joint_matrices."""

from __future__ import annotations

import re

from tests.kit.spirv.case import broken, kernel, valid

UNKNOWN = "SPV_INTEL_joint_matrix defines the capability; SPIRV-Tools does not know the extension"
EXTENSIONS = "SPV_INTEL_joint_matrix SPV_KHR_cooperative_matrix"
ACC = "%matrix_acc_8x16_float"


def multiply(flags: str, a: str = "8x8_float", b: str = "8x16_float", c: str = "8x16_float", r: str | None = None,
             capability: str = "TF32") -> str:
    return kernel(f"%a = OpUndef %matrix_a_{a}\n%b = OpUndef %matrix_b_{b}\n%c = OpUndef %matrix_acc_{c}\n"
                  f"%r = OpCooperativeMatrixMulAddKHR %matrix_acc_{r or c} %a %b %c {flags}",
                  capabilities=f"CooperativeMatrix{capability}ComponentTypeINTEL", extensions=EXTENSIONS)


def bfloat16(flags: str, a: str = "8x16_ushort", b: str = "16x16_ushort", c: str = "8x16_float",
             r: str | None = None) -> str:
    return multiply(flags, a, b, c, r, "BFloat16")


def use(capability: str, body: str, pointer: str = "%ptr_global_float", **rest: str) -> str:
    return kernel(body, parameters=f"{pointer} %uint", capabilities=f"CooperativeMatrix{capability}INTEL",
                  extensions=EXTENSIONS, **rest)


def load(operands: str = "%p1 %p1 %uint_0 %uint_7 %uint_9 %uint_16", result: str = ACC,
         pointer: str = "%ptr_global_float") -> str:
    return use("CheckedInstructions", f"%m = OpCooperativeMatrixLoadCheckedINTEL {result} %p0 {operands}", pointer)


def store(operands: str = "%p1 %p1 %m %uint_0 %uint_7 %uint_9 %uint_16", value: str = ACC) -> str:
    return use("CheckedInstructions", f"%m = OpUndef {value}\nOpCooperativeMatrixStoreCheckedINTEL %p0 {operands}")


def construct(operands: str = "%p1 %p1 %uint_7 %uint_9 %float_1", result: str = ACC) -> str:
    return use("CheckedInstructions", f"%m = OpCooperativeMatrixConstructCheckedINTEL {result} {operands}")


def prefetch(operands: str = "%p1 %p1 %uint_8 %uint_16 1 %uint_0 %uint_16", pointer: str = "%ptr_global_float") -> str:
    return use("Prefetch", f"OpCooperativeMatrixPrefetchINTEL %p0 {operands}", pointer)


def coordinate(result: str = "%v2uint", matrix: str = ACC, index: str = "%uint_3") -> str:
    return use("InvocationInstructions", f"%m = OpUndef {matrix}\n"
               f"%r = OpCooperativeMatrixGetElementCoordINTEL {result} %m {index}")


INTERPRETATION = [
    valid("tf32 of floats", multiply("MatrixAAndBTF32ComponentsINTEL"), UNKNOWN),
    valid("bfloat16 of shorts", bfloat16("MatrixAAndBBFloat16ComponentsINTEL"), UNKNOWN),
    valid("bfloat16 everywhere", bfloat16(
        "MatrixAAndBBFloat16ComponentsINTEL|MatrixCBFloat16ComponentsINTEL|MatrixResultBFloat16ComponentsINTEL",
        c="8x16_ushort"), UNKNOWN),
    broken("joint-interpretation", "tf32 of half", multiply("MatrixAAndBTF32ComponentsINTEL", "8x8_half", "8x16_half"),
           says="needs components that are 32-bit floats"),
    broken("joint-interpretation", "tf32 of half in B only",
           multiply("MatrixAAndBTF32ComponentsINTEL", b="8x16_half"), says="32-bit floats"),
    broken("joint-interpretation", "bfloat16 of half",
           bfloat16("MatrixAAndBBFloat16ComponentsINTEL", "8x16_half", "16x16_half"), says="16-bit integers"),
    broken("joint-interpretation", "signed bfloat16",
           bfloat16("MatrixASignedComponentsKHR|MatrixAAndBBFloat16ComponentsINTEL"),
           says="does not go together with MatrixASignedComponentsKHR or MatrixBSignedComponentsKHR"),
    broken("joint-interpretation", "bfloat16 in C of floats", bfloat16("MatrixCBFloat16ComponentsINTEL"),
           says="MatrixCBFloat16ComponentsINTEL needs"),
    broken("joint-interpretation", "signed bfloat16 in C",
           bfloat16("MatrixCSignedComponentsKHR|MatrixCBFloat16ComponentsINTEL", c="8x16_ushort", r="8x16_ushort"),
           says="MatrixCSignedComponentsKHR"),
    broken("joint-interpretation", "bfloat16 as a result of floats", bfloat16("MatrixResultBFloat16ComponentsINTEL"),
           says="MatrixResultBFloat16ComponentsINTEL needs"),
    broken("joint-interpretation", "a signed bfloat16 result",
           bfloat16("MatrixResultSignedComponentsKHR|MatrixResultBFloat16ComponentsINTEL", c="8x16_ushort"),
           says="MatrixResultSignedComponentsKHR"),
    broken("capability-missing", "tf32 without its capability",
           multiply("MatrixAAndBTF32ComponentsINTEL", capability="BFloat16")),
    broken("capability-missing", "tf32 without its capability, after a product of floats",
           re.sub("(%r = )(.*) (Matrix.*)", r"%first = \2 None\n\1\2 \3",
                  multiply("MatrixAAndBTF32ComponentsINTEL", capability="BFloat16"))),
    broken("capability-missing", "bfloat16 without its capability",
           multiply("MatrixAAndBBFloat16ComponentsINTEL", "8x16_ushort", "16x16_ushort")),
]

CHECKED = [
    valid("a checked load", load(), UNKNOWN),
    valid("a checked load of packed components without stride",
          use("CheckedInstructions",
              "%m = OpCooperativeMatrixLoadCheckedINTEL %matrix_b_16x16_half %p0 %p1 %p1 %uint_2 %uint_7 "
              "%uint_9", "%ptr_global_uint").replace(
                  "OpCapability CooperativeMatrixCheckedInstructionsINTEL",
                  "OpCapability CooperativeMatrixCheckedInstructionsINTEL\nOpCapability PackedCooperativeMatrixINTEL"),
          UNKNOWN),
    broken("capability-missing", "a checked load of packed components without their capability",
           load("%p1 %p1 %uint_2 %uint_7 %uint_9 %uint_16"), says="PackedCooperativeMatrixINTEL"),
    broken("joint-checked", "a 64-bit offset", load("%p1 %ulong_1 %uint_0 %uint_7 %uint_9 %uint_16"),
           says="an offset of"),
    broken("joint-checked", "a float as height", load("%p1 %p1 %uint_0 %float_7 %uint_9 %uint_16"), says="a size of"),
    broken("joint-checked", "a checked load of a number", load(result="%float"), says="works on a cooperative matrix"),
    broken("joint-checked", "a checked load without stride", load("%p1 %p1 %uint_0 %uint_7 %uint_9"),
           says="needs a stride"),
    broken("joint-checked", "a checked load without pointer", load(pointer="%ulong"), says="needs a pointer"),
    broken("joint-checked", "a layout of run time", load("%p1 %p1 %p1 %uint_7 %uint_9 %uint_16"), says="the layout of"),
    valid("a checked store", store(), UNKNOWN),
    broken("joint-checked", "a checked store of a number", store(value="%float"), says="works on a cooperative matrix"),
    broken("joint-checked", "a float as offset of a store", store("%float_1 %p1 %m %uint_0 %uint_7 %uint_9 %uint_16"),
           says="an offset of"),
    broken("joint-checked", "a store with a float as stride", store("%p1 %p1 %m %uint_0 %uint_7 %uint_9 %float_16"),
           says="the stride of"),
    valid("a matrix filled within bounds", construct(), UNKNOWN),
    broken("joint-checked", "a matrix filled with values of another type", construct("%p1 %p1 %uint_7 %uint_9 %half_1"),
           says="component type"),
    broken("joint-checked", "a number filled within bounds", construct(result="%float"),
           says="gives a cooperative matrix"),
    broken("joint-checked", "a float as width", construct("%p1 %p1 %uint_7 %float_9 %float_1"), says="a size of"),
    valid("a coordinate", coordinate(), UNKNOWN),
    broken("joint-coordinate", "a coordinate of three", coordinate("%v3uint"), says="two 32-bit integers"),
    broken("joint-coordinate", "a 64-bit coordinate", coordinate("%v2ulong"), says="two 32-bit integers"),
    broken("joint-coordinate", "the coordinate of a number", coordinate(matrix="%float"),
           says="takes a cooperative matrix"),
    broken("joint-coordinate", "a 64-bit index", coordinate(index="%ulong_3"), says="the index of"),
    valid("a prefetch", prefetch(), UNKNOWN),
    broken("joint-prefetch", "no pointer", prefetch(pointer="%ulong"), says="needs a pointer"),
    broken("joint-prefetch", "a 64-bit offset", prefetch("%ulong_1 %p1 %uint_8 %uint_16 1 %uint_0 %uint_16"),
           says="an offset of"),
    broken("joint-prefetch", "rows of run time", prefetch("%p1 %p1 %p1 %uint_16 1 %uint_0 %uint_16"),
           says="the number of rows"),
    broken("joint-prefetch", "64-bit columns", prefetch("%p1 %p1 %uint_8 %ulong_16 1 %uint_0 %uint_16"),
           says="the number of columns"),
    broken("joint-prefetch", "a prefetch without stride", prefetch("%p1 %p1 %uint_8 %uint_16 1 %uint_0"),
           says="needs a stride"),
    broken("joint-prefetch", "a prefetch of an unknown layout",
           prefetch("%p1 %p1 %uint_8 %uint_16 1 %uint_9 %uint_16"), says="the layout of"),
    valid("a prefetch without offsets", prefetch("%uint_8 %uint_16 1 %uint_0 %uint_16"), UNKNOWN),
    broken("joint-prefetch", "rows of run time without offsets", prefetch("%p1 %uint_16 1 %uint_0 %uint_16"),
           says="the number of rows"),
    broken("joint-prefetch", "a prefetch of an unknown layout without offsets",
           prefetch("%uint_8 %uint_16 1 %uint_9 %uint_16"), says="the layout of"),
    broken("joint-prefetch", "a prefetch without offsets and stride", prefetch("%uint_8 %uint_16 1 %uint_0"),
           says="needs a stride"),
    broken("capability-missing", "a prefetch of packed components without their capability",
           prefetch("%uint_8 %uint_16 1 %uint_2 %uint_16"), says="PackedCooperativeMatrixINTEL"),
    broken("joint-apply", "a function applied that changes the type",
           use("InvocationInstructions", f"%m = OpUndef {ACC}\n"
               "%r = OpCooperativeMatrixApplyFunctionINTEL %matrix_acc_8x16_half %main %m"), says="cannot give"),
    broken("joint-apply", "a function applied to a number",
           use("InvocationInstructions", "%m = OpUndef %float\n"
               "%r = OpCooperativeMatrixApplyFunctionINTEL %float %main %m"), says="works on a cooperative matrix"),
    valid("a function applied", use("InvocationInstructions", f"%m = OpUndef {ACC}\n"
                                    f"%r = OpCooperativeMatrixApplyFunctionINTEL {ACC} %main %m"), UNKNOWN),
]

def convert(op: str, given: str, result: str, own: str, capability: str) -> str:
    """A conversion of matrices, with the capability of its own extension and perhaps that for matrices."""
    extension = {"TensorFloat32RoundingINTEL": "SPV_INTEL_tensor_float32_conversion",
                 "BFloat16ConversionINTEL": "SPV_INTEL_bfloat16_conversion"}[own]
    return kernel(f"%m = OpUndef {given}\n%r = Op{op}INTEL {result} %m", capabilities=f"{own} {capability}",
                  extensions=f"{extension} {EXTENSIONS}")


def rounding(given: str = ACC, result: str = ACC, capability: str = "CooperativeMatrixTF32ComponentTypeINTEL") -> str:
    return convert("RoundFToTF32", given, result, "TensorFloat32RoundingINTEL", capability)


def to_bfloat16(given: str = ACC, result: str = "%matrix_acc_8x16_ushort",
                capability: str = "CooperativeMatrixBFloat16ComponentTypeINTEL") -> str:
    return convert("ConvertFToBF16", given, result, "BFloat16ConversionINTEL", capability)


WITHOUT = ("SPV_INTEL_joint_matrix lets {} take cooperative matrices with the capability {} only; SPIRV-Tools "
           "knows no rules of this extension")
CONVERSIONS = [
    valid("a matrix is rounded to tf32", rounding(), UNKNOWN),
    valid("a matrix becomes one of bfloat16", to_bfloat16(), UNKNOWN),
    broken("joint-conversion", "a matrix is rounded to tf32 without the capability", rounding(capability=""),
           WITHOUT.format("OpRoundFToTF32INTEL", "CooperativeMatrixTF32ComponentTypeINTEL"),
           says="needs the capability"),
    broken("joint-conversion", "a matrix becomes one of bfloat16 without the capability", to_bfloat16(capability=""),
           WITHOUT.format("OpConvertFToBF16INTEL", "CooperativeMatrixBFloat16ComponentTypeINTEL"),
           says="needs the capability"),
    broken("joint-conversion", "a matrix of another shape", to_bfloat16(result="%matrix_acc_16x8_ushort"),
           says="keeps the scope, shape and use"),
    broken("joint-conversion", "a matrix of another use", to_bfloat16(result="%matrix_a_8x16_ushort"),
           says="keeps the scope, shape and use"),
    broken("joint-conversion", "a matrix becomes a number", to_bfloat16(result="%ushort"),
           says="matrices to matrices only"),
]

CASES = [*CONVERSIONS, *INTERPRETATION, *CHECKED]
