"""Cases about arithmetic with cooperative matrices and their conversions."""

from __future__ import annotations

from collections.abc import Callable

from tests.kit.spirv.case import broken, kernel, shader, valid

VULKAN = {"kind": "Shader VulkanMemoryModel", "model": "OpMemoryModel Logical Vulkan",
          "extensions": "SPV_KHR_vulkan_memory_model SPV_KHR_cooperative_matrix"}
F, N, H = "%matrix_acc_8x16_float", "%matrix_acc_8x16_uint", "%matrix_acc_8x16_half"
SIGNED = "%matrix_acc_8x16_sint"
BITCAST = ("SPV_KHR_cooperative_matrix allows OpBitcast between integer components of one width only; "
           "SPIRV-Tools compares the {}")


def compute(op: str, result: str, *operands: str, make: Callable[..., str] = kernel, **rest: str) -> str:
    """An instruction on undefined values of these types."""
    values = "".join(f"%x{i} = OpUndef {kind}\n" for i, kind in enumerate(operands))
    return make(f"{values}%r = Op{op} {result} " + " ".join(f"%x{i}" for i in range(len(operands))), **rest)


def convert(op: str, given: str, result: str, **rest: str) -> str:
    return compute(op, result, given, **rest)


NV = {"capabilities": "CooperativeMatrixConversionsNV", "extensions": "SPV_NV_cooperative_matrix2"}
EXT = {"capabilities": "CooperativeMatrixConversionsEXT", "extensions": "SPV_EXT_cooperative_matrix_maintenance1"}
A, B = "%matrix_a_8x16_half", "%matrix_b_8x16_half"

ARITHMETIC = [
    *(valid(f"Op{op} of matrices of floats", compute(op, F, *[F] * (1 if op == "FNegate" else 2)))
      for op in ("FNegate", "FAdd", "FSub", "FMul", "FDiv")),
    *(valid(f"Op{op} of matrices of integers", compute(op, N, *[N] * (1 if op == "SNegate" else 2)))
      for op in ("SNegate", "IAdd", "ISub", "IMul", "SDiv", "UDiv")),
    *(broken("float-arithmetic", f"Op{op} of matrices", compute(op, F, F, F)) for op in ("FRem", "FMod")),
    *(broken("integer-arithmetic", f"Op{op} of matrices", compute(op, N, N, N)) for op in ("SRem", "SMod", "UMod")),
    broken("integer-arithmetic", "bitwise operations on matrices", compute("BitwiseAnd", N, N, N)),
    broken("shift-operands", "matrices are shifted", compute("ShiftLeftLogical", N, N, N)),
    broken("float-arithmetic", "integers are added as floats", compute("FAdd", N, N, N)),
    broken("integer-arithmetic", "floats are added as integers", compute("IAdd", F, F, F)),
    broken("comparison-types", "matrices are compared", compute("FOrdEqual", "%bool", F, F)),
    broken("dot-product", "a dot product of matrices", compute("Dot", "%float", F, F)),
    broken("transpose", "a cooperative matrix is transposed",
           compute("Transpose", "%matrix_acc_16x8_float", F, capabilities="Matrix")),
    broken("math-types", "the root of a matrix", kernel(f"%x = OpUndef {F}\n%r = OpExtInst {F} %std sqrt %x")),
    broken("matrix-arithmetic", "shapes differ", compute("IAdd", N, N, "%matrix_acc_8x8_uint"), says="operand 2 of"),
    broken("float-arithmetic", "uses differ", compute("FAdd", H, A, H), says="operand 1 of"),
    broken("matrix-arithmetic", "uses of integers differ", compute("IAdd", N, "%matrix_a_8x16_uint", N)),
    broken("float-arithmetic", "widths differ", compute("FAdd", F, F, H),
           "SPV_KHR_cooperative_matrix asks for operands of one type in binary arithmetic; SPIRV-Tools "
           "compares shapes and the kinds of components, not their widths"),
    broken("float-arithmetic", "a number is added to a matrix", compute("FAdd", F, F, "%float")),
    broken("unsigned-division", "a signed quotient of OpUDiv", compute("UDiv", SIGNED, SIGNED, SIGNED, make=shader,
                                                                       **VULKAN)),
    valid("a matrix is scaled", compute("MatrixTimesScalar", F, F, "%float", capabilities="Matrix")),
    valid("a matrix of integers is scaled", compute("MatrixTimesScalar", N, N, "%uint", capabilities="Matrix")),
    broken("matrix-times-scalar", "a scalar of another type",
           compute("MatrixTimesScalar", F, F, "%double", capabilities="Matrix"), says="component type"),
    broken("matrix-times-scalar", "a scaled matrix of another type",
           compute("MatrixTimesScalar", "%matrix_acc_8x8_float", F, "%float", capabilities="Matrix"),
           says="cannot give"),
]

CONVERSIONS = [
    valid("floats are narrowed", convert("FConvert", F, H)),
    valid("floats become integers", convert("ConvertFToS", F, N)),
    valid("floats become unsigned integers", convert("ConvertFToU", F, N)),
    valid("integers become floats", convert("ConvertSToF", N, F)),
    valid("unsigned integers become floats", convert("ConvertUToF", N, F)),
    valid("integers are widened", convert("SConvert", "%matrix_acc_8x16_ushort", N)),
    valid("unsigned integers are narrowed", convert("UConvert", N, "%matrix_acc_8x16_uchar")),
    broken("matrix-conversion", "floats of one width", convert("FConvert", F, F), says="have the same"),
    broken("matrix-conversion", "the shape changes", convert("FConvert", F, "%matrix_acc_16x8_half"),
           says="scope or shape"),
    broken("matrix-conversion", "the scope changes",
           convert("FConvert", F, "%other", modes="OpExecutionMode %main LocalSize 64 1 1",
                   declarations="%other = OpTypeCooperativeMatrixKHR %half %uint_2 %uint_8 %uint_16 %uint_2"),
           says="scope or shape"),
    broken("capability-missing", "the use changes without a capability", convert("FConvert", F, A),
           says="CooperativeMatrixConversionsEXT or CooperativeMatrixConversionsNV"),
    valid("an accumulator becomes A with SPV_NV_cooperative_matrix2", convert("FConvert", F, A, **NV)),
    valid("an accumulator becomes B with SPV_NV_cooperative_matrix2", convert("FConvert", F, B, **NV)),
    broken("capability-missing", "A becomes an accumulator with SPV_NV_cooperative_matrix2",
           convert("FConvert", A, F, **NV), says="CooperativeMatrixConversionsEXT"),
    valid("A becomes an accumulator with SPV_EXT_cooperative_matrix_maintenance1", convert("FConvert", A, F, **EXT)),
    broken("matrix-conversion", "A becomes B", convert("FConvert", "%matrix_a_8x16_float", B, **EXT)),
    broken("matrix-conversion", "a scalar becomes a matrix", convert("ConvertFToS", "%float", N),
           says="matrices to matrices only"),
    broken("matrix-conversion", "a matrix becomes a scalar", convert("FConvert", F, "%half"),
           says="matrices to matrices only"),
    broken("number-conversion", "integers of a matrix are converted as floats", convert("FConvert", N, H)),
    valid("only the signedness changes", convert("Bitcast", SIGNED, N, make=shader, **VULKAN)),
    broken("matrix-bitcast-kind", "floats become integers", convert("Bitcast", F, N)),
    broken("matrix-bitcast", "widths differ", convert("Bitcast", "%matrix_acc_8x16_ushort", N),
           BITCAST.format("shapes only")),
    broken("matrix-bitcast", "the use changes in a bitcast",
           convert("Bitcast", SIGNED, "%matrix_a_8x16_uint", make=shader, **VULKAN)),
    broken("matrix-bitcast", "a matrix becomes a vector", convert("Bitcast", N, "%v4uint")),
]

CASES = [*ARITHMETIC, *CONVERSIONS]
