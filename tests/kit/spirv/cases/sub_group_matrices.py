"""Cases of the family sub_group_matrices; test_sub_group_matrices.py goes through the
tables."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, valid

UNCHECKED = ("{}; SPIRV-Tools has no rules for OpSubgroupMatrixMultiplyAccumulateINTEL")
TYPES = UNCHECKED.format("SPV_INTEL_subgroup_matrix_multiply_accumulate asks for numbers or vectors of them, and the "
                         "combination for C of the result's type")
K = UNCHECKED.format("SPV_INTEL_subgroup_matrix_multiply_accumulate asks for a constant of a 32-bit integer as K Dim")
FLAGS = UNCHECKED.format("the table of Matrix Multiply Accumulate Operands says which types each bit is valid for")
TABLE = UNCHECKED.format("cl_intel_subgroup_matrix_multiply_accumulate lists the legal combinations for each sub-group "
                         "size")
INT8 = "MatrixASignedComponentsINTEL|MatrixBSignedComponentsINTEL|MatrixAPackedInt8INTEL|MatrixBPackedInt8INTEL"
TF32 = "MatrixATF32INTEL|MatrixBTF32INTEL"
HALF = "MatrixAPackedFloat16INTEL|MatrixBPackedFloat16INTEL"
BFLOAT16 = "MatrixAPackedBFloat16INTEL|MatrixBPackedBFloat16INTEL"


def multiply(k: str = "%uint_32", a: str = "%v8ushort", b: str = "%v8uint", c: str = "%v8uint", flags: str = INT8,
             result: str | None = None, size: str = "16", **rest: str) -> str:
    return kernel(f"%a = OpUndef {a}\n%b = OpUndef {b}\n%c = OpUndef {c}\n"
                  f"%r = OpSubgroupMatrixMultiplyAccumulateINTEL {result or c} {k} %a %b %c {flags}",
                  modes=f"OpExecutionMode %main SubgroupSize {size}" if size else "",
                  capabilities="SubgroupMatrixMultiplyAccumulateINTEL" + (" SubgroupDispatch" if size else ""),
                  extensions="SPV_INTEL_subgroup_matrix_multiply_accumulate", **rest)


def tf32(a: str = "%v4float", b: str = "%v8float", c: str = "%v8float", **rest: str) -> str:
    return multiply("%uint_8", a, b, c, TF32, **rest)


def through_function(size: str) -> str:
    """A kernel that calls a function which multiplies matrices for sub-groups of 16."""
    return multiply(size=size).replace("%main = OpFunction %void None", "%work = OpFunction %void None", 1).replace(
        'OpEntryPoint Kernel %main "main"', 'OpEntryPoint Kernel %main "main"') + (
        "%main = OpFunction %void None %main_type\n%start = OpLabel\n%called = OpFunctionCall %void %work\n"
        "OpReturn\nOpFunctionEnd\n")


CASES = [
    valid("int8 for sub-groups of 16", multiply()),
    valid("int8 for sub-groups of 8", multiply(a="%v8uint", size="8")),
    valid("one row", multiply(a="%ushort", c="%uint")),
    valid("tf32", tf32()),
    valid("tf32 of one row", tf32("%float", c="%float")),
    valid("tf32 of two rows", tf32("%float", c="%v2float")),
    valid("a specialised K", multiply("%k", declarations="%k = OpSpecConstant %uint 32")),
    valid("a product in a function that a kernel calls", through_function("16")),
    broken("sub-group-matrix-size", "no required size", multiply(size=""), says="requires no size"),
    broken("sub-group-matrix-size", "no required size for tf32", tf32(size=""), says="sub-groups of 16"),
    broken("sub-group-matrix-types", "C has another type", multiply(c="%v8float", result="%v8uint"), TYPES,
           says="C of"),
    broken("sub-group-matrix-types sub-group-matrix-flags sub-group-matrix-combination", "a boolean as A",
           multiply(a="%bool"), TYPES, says="A of"),
    broken("sub-group-matrix-types sub-group-matrix-flags sub-group-matrix-combination", "booleans as B",
           multiply(b="%v8bool", declarations="%v8bool = OpTypeVector %bool 8", ).replace(
               "OpCapability SubgroupDispatch", "OpCapability Vector16\nOpCapability SubgroupDispatch"), TYPES,
           says="B of"),
    broken("sub-group-matrix-types sub-group-matrix-combination", "booleans as the result", multiply(c="%bool"), TYPES,
           says="the result of"),
    broken("sub-group-matrix-k", "a 64-bit K", multiply("%ulong_32"), K),
    broken("sub-group-matrix-k", "a float as K", multiply("%float_32"), K),
    broken("sub-group-matrix-k", "a K that is no constant", multiply("%p0", parameters="%uint"), K),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "tf32 of integers",
           multiply("%uint_8", flags=TF32), FLAGS, says="MatrixATF32INTEL needs 32-bit floats"),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "tf32 of half", tf32("%v4half"), FLAGS,
           says="MatrixATF32INTEL needs 32-bit floats"),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "packed int8 of floats",
           multiply(a="%v8float"), FLAGS, says="MatrixAPackedInt8INTEL needs integers"),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "packed half in B of floats",
           multiply("%uint_16", b="%v8float", c="%v8float", flags=HALF), FLAGS, says="MatrixBPackedFloat16INTEL"),
    broken("sub-group-matrix-flags sub-group-matrix-combination", "bfloat16 accumulators of floats",
           multiply("%uint_16", c="%v8float", flags=f"{BFLOAT16}|MatrixCBFloat16INTEL|MatrixResultBFloat16INTEL"),
           FLAGS, says="MatrixResultBFloat16INTEL needs integers as the result"),
    broken("sub-group-matrix-combination", "tf32's A with as many components as rows", tf32("%v8float"), TABLE,
           says="A of 4 x float"),
    broken("sub-group-matrix-combination", "the A of sub-groups of 8 with 16", multiply(a="%v8uint"), TABLE,
           says="works on sub-groups of 8; the kernel main requires 16"),
    broken("sub-group-matrix-combination", "the A of sub-groups of 16 with 8", multiply(size="8"), TABLE,
           says="works on sub-groups of 16; the kernel main requires 8"),
    broken("sub-group-matrix-combination", "sub-groups of 32", multiply(size="32"), TABLE,
           says="the kernel main requires 32"),
    broken("sub-group-matrix-combination", "a function for 16 that a kernel for 8 calls", through_function("8"), TABLE,
           says="the kernel main requires 8"),
    broken("sub-group-matrix-combination", "K = 16 for int8", multiply("%uint_16"), TABLE,
           says="it would be with K 32"),
    broken("sub-group-matrix-combination", "three rows", multiply(a="%v3ushort", c="%v3uint"), TABLE),
    broken("sub-group-matrix-combination", "fewer rows in A than in the result", multiply(a="%v4ushort"), TABLE,
           says="A of 8 x int of 16 bits (sub-groups of 16)"),
    broken("sub-group-matrix-combination", "a B of four components", multiply(b="%v4uint"), TABLE,
           says="B of 8 x int of 32 bits"),
    broken("sub-group-matrix-combination", "no flags", multiply(flags=""), TABLE, says="the operand bits 0x33"),
    broken("sub-group-matrix-combination", "a flag too many",
           multiply(flags=f"{INT8}|MatrixAPackedInt4INTEL"), TABLE, says="the operand bits 0x73 is in no table"),
    broken("sub-group-matrix-combination", "8-bit floats of a draft", multiply(c="%v8float"),
           says="0xc000 is in no table", words=(("OpSubgroupMatrixMultiplyAccumulateINTEL", 7, 0xC000),)),
    broken("sub-group-matrix-combination", "a bfloat16 result and a float C",
           multiply("%uint_16", c="%v8ushort", flags=f"{BFLOAT16}|MatrixResultBFloat16INTEL"), TABLE,
           says="the operand bits 0x300c (sub-groups of 16)"),
    broken("sub-group-matrix-combination", "a specialised K with bits of no row",
           multiply("%k", flags="MatrixAPackedInt8INTEL", declarations="%k = OpSpecConstant %uint 32"), TABLE),
]
