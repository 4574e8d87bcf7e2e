"""Cases of the family matrix2."""

from __future__ import annotations

from tests.kit.spirv.case import broken, kernel, module, valid

EXTENSION = "SPV_NV_cooperative_matrix2 SPV_KHR_cooperative_matrix"
ACC, A, B = "%matrix_acc_16x16_float", "%matrix_a_16x16_float", "%matrix_b_16x16_float"
MAIN = """%main = OpFunction %void None %main_type
%entry = OpLabel
{body}
OpReturn
OpFunctionEnd
"""
FUNCTION = """%{name} = OpFunction {returns} None %{name}_type
{parameters}
%{name}_entry = OpLabel
%{name}_value = OpUndef {returns}
OpReturnValue %{name}_value
OpFunctionEnd
"""


def use(capability: str, body: str, function: tuple[str, str] | None = None, declarations: str = "",
        extension: str = EXTENSION, **rest: str) -> str:
    """A module whose kernel has this body; ``function``: result and parameters of the function ``%f``."""
    text = MAIN.format(body=body)
    declarations += "\n%main_type = OpTypeFunction %void"
    if function is not None:
        returns, parameters = function
        text += FUNCTION.format(name="f", returns=returns, parameters="\n".join(
            f"%f{i} = OpFunctionParameter {kind}" for i, kind in enumerate(parameters.split())))
        declarations += f"\n%f_type = OpTypeFunction {returns} {parameters}"
    return module(text, declarations=declarations, capabilities=f"CooperativeMatrix{capability}",
                  extensions=extension, **rest)


def convert(given: str, result: str, op: str = "Convert", **rest: str) -> str:
    return use("ConversionsNV", f"%x = OpUndef {given}\n%r = OpCooperativeMatrix{op}NV {result} %x", **rest)


MAINTENANCE = "SPV_EXT_cooperative_matrix_maintenance1 SPV_KHR_cooperative_matrix"
TRANSPOSED = "OpDecorate %r CooperativeMatrixTransposeEXT"


def back(given: str, result: str, annotations: str = "", op: str = "CooperativeMatrixConvertUseEXT") -> str:
    """A change of use with SPV_EXT_cooperative_matrix_maintenance1."""
    return use("ConversionsEXT", f"%x = OpUndef {given}\n%r = Op{op} {result} %x", extension=MAINTENANCE,
               annotations=annotations)


def transpose(given: str, result: str, **rest: str) -> str:
    return convert(given, result, "Transpose", **rest)


def reduce(what: str, result: str, given: str = ACC, function: tuple[str, str] = ("%float", "%float %float"),
           **rest: str) -> str:
    return use("ReductionsNV", f"%x = OpUndef {given}\n%r = OpCooperativeMatrixReduceNV {result} %x {what} %f",
               function, **rest)


def each(more: str = "", function: tuple[str, str] = ("%float", "%uint %uint %float"), result: str = ACC,
         given: str = ACC) -> str:
    return use("PerElementOperationsNV", f"%x = OpUndef {given}\n%y = OpUndef %half\n"
               f"%r = OpCooperativeMatrixPerElementOpNV {result} %x %f {more}", function)


def of_work_groups(name: str, rows: int, columns: int, use_: int, component: str = "%float") -> dict[str, str]:
    return {"declarations": f"%{name} = OpTypeCooperativeMatrixKHR {component} %uint_2 %uint_{rows} %uint_{columns} "
                            f"%uint_{use_}", "modes": "OpExecutionMode %main LocalSize 64 1 1"}


CONVERSIONS = [
    valid("an accumulator becomes A", convert(ACC, A)),
    valid("an accumulator becomes B", convert(ACC, B)),
    valid("A becomes an accumulator with SPV_EXT_cooperative_matrix_maintenance1", back(A, ACC)),
    broken("matrix2-conversion", "A becomes an accumulator", convert(A, ACC), says="turns an accumulator"),
    broken("matrix2-conversion", "A becomes B", convert(A, B), says="turns an accumulator"),
    broken("matrix2-conversion", "an accumulator becomes one", convert(ACC, ACC), says="turns an accumulator"),
    broken("matrix2-conversion", "a number becomes A", convert("%float", A), says="into another"),
    broken("matrix2-conversion", "the component type changes", convert(ACC, "%matrix_a_16x16_half"),
           says="keeps the component type"),
    broken("matrix2-conversion", "the shape changes with the use", convert(ACC, "%matrix_a_8x32_float"),
           says="keeps the shape"),
    broken("matrix2-conversion", "the scope changes with the use",
           convert(ACC, "%other", **of_work_groups("other", 16, 16, 0)), says="keeps the scope"),
    valid("B becomes an accumulator of another component type",
          back("%matrix_b_16x16_half", ACC, op="FConvert")),
    broken("matrix-conversion", "A becomes a B of another component type",
           back("%matrix_a_16x16_half", B, op="FConvert"), says="changes the use of a matrix from"),
    valid("a transposition by decoration", back("%matrix_acc_8x16_float", "%matrix_b_16x8_float", TRANSPOSED)),
    valid("a conversion that transposes",
          back("%matrix_acc_8x16_float", "%matrix_a_16x8_half", TRANSPOSED, "FConvert")),
    broken("matrix-transposition", "a transposition by decoration that keeps the shape",
           back("%matrix_acc_8x16_float", "%matrix_b_8x16_float", TRANSPOSED), says="swaps rows and columns"),
    broken("matrix-transposition", "a conversion that transposes and keeps the shape",
           back("%matrix_acc_8x16_float", "%matrix_b_8x16_half", TRANSPOSED, "FConvert"),
           says="swaps rows and columns"),
    broken("matrix-transposition", "a conversion transposes A",
           back("%matrix_a_16x8_half", "%matrix_acc_8x16_float", TRANSPOSED, "FConvert"),
           says="turns an accumulator"),
    broken("matrix-transposition", "a conversion of numbers transposes",
           back("%half", "%float", TRANSPOSED, "FConvert"), says="converts cooperative matrices"),
    broken("decoration-target", "a sum is transposed",
           back(ACC, ACC, TRANSPOSED, "FAdd").replace("FAdd %matrix_acc_16x16_float %x",
                                                      "FAdd %matrix_acc_16x16_float %x %x"),
           says="conversions of cooperative matrices"),
    valid("a transposition", transpose("%matrix_acc_8x16_float", "%matrix_b_16x8_float")),
    broken("matrix2-transposition", "a transposition that keeps the shape",
           transpose("%matrix_acc_8x16_float", "%matrix_b_8x16_float"), says="swaps rows and columns"),
    broken("matrix2-transposition", "a transposed A", transpose("%matrix_a_8x16_float", "%matrix_b_16x8_float"),
           says="takes an accumulator"),
    broken("matrix2-transposition", "a transposition to A", transpose("%matrix_acc_8x16_float", "%matrix_a_16x8_float"),
           says="gives a matrix of use B"),
    broken("matrix2-transposition", "a transposed number", transpose("%float", B), says="into another"),
    broken("matrix2-transposition", "a transposition to another scope",
           transpose(ACC, "%other", **of_work_groups("other", 16, 16, 1)), says="keeps the scope"),
]

REDUCTIONS = [
    valid("rows are reduced", reduce("Row", "%matrix_acc_16x8_float")),
    valid("columns are reduced", reduce("Column", "%matrix_acc_8x16_float")),
    valid("rows and columns are reduced", reduce("Row|Column", "%matrix_acc_4x4_float")),
    valid("squares are reduced", reduce("2x2", "%matrix_acc_8x8_float")),
    broken("matrix2-reduction", "rows are reduced to fewer", reduce("Row", "%matrix_acc_8x8_float"),
           says="of rows keeps their number"),
    broken("matrix2-reduction", "columns are reduced to fewer", reduce("Column", "%matrix_acc_8x8_float"),
           says="of columns keeps their number"),
    broken("matrix2-reduction", "squares that keep the rows", reduce("2x2", "%matrix_acc_16x8_float"),
           says="halves rows and columns"),
    broken("matrix2-reduction", "rows and squares", reduce("Row|2x2", "%matrix_acc_8x8_float"), says="not 5"),
    broken("matrix2-reduction", "nothing is reduced", reduce("Row", ACC), says="not 0",
           words=(("OpCooperativeMatrixReduceEXT", 4, 0),)),
    broken("matrix2-reduction", "A is reduced", reduce("Row", "%matrix_acc_16x8_float", A),
           says="accumulators (use 2)"),
    broken("matrix2-reduction", "a reduction to B", reduce("Row", B), says="accumulators (use 2)"),
    broken("matrix2-reduction", "another component type", reduce("Row", "%matrix_acc_16x8_half"),
           says="keeps the component type"),
    broken("matrix2-reduction", "another scope", reduce("Row", "%other", **of_work_groups("other", 16, 8, 2)),
           says="keeps the scope"),
    broken("matrix2-reduction", "a number is reduced", reduce("Row", ACC, "%float"), says="into another"),
    broken("matrix2-combination", "a function of three",
           reduce("Row", ACC, function=("%float", "%float %float %float"))),
    broken("matrix2-combination", "a function of halves", reduce("Row", ACC, function=("%float", "%half %half"))),
    broken("matrix2-combination", "a function that gives an integer", reduce("Row", ACC, function=("%uint",
                                                                                                "%float %float"))),
    broken("matrix2-tangled", "a function with a barrier for every element",
           each().replace("%f_entry = OpLabel\n", "%f_entry = OpLabel\nOpControlBarrier %uint_2 %uint_2 %uint_16\n"),
           "SPV_NV_cooperative_matrix2 2.16.1 allows no tangled instructions in these functions; SPIRV-Tools does not "
           "look into them"),
    broken("matrix2-tangled", "a reduction's function that calls one with a group operation",
           reduce("Row", "%matrix_acc_16x8_float").replace("%f_value = OpUndef %float",
                                                           "%f_value = OpGroupFAdd %float %uint_3 Reduce %f0")
           .replace("OpCapability Addresses", "OpCapability Addresses\nOpCapability Groups"),
           "SPV_NV_cooperative_matrix2 2.16.1 allows no tangled instructions in these functions; SPIRV-Tools does not "
           "look into them"),
    broken("recursion", "a function for every element that calls itself",
           each().replace("%f_value = OpUndef %float", "%f_value = OpFunctionCall %float %f %f0 %f1 %f2"),
           "SPIR-V 2.16.1 allows no recursion; SPIRV-Tools looks for it from entry points by calls only",
           says="from within it"),
    valid("a function for every element", each()),
    valid("a function with a further operand", each("%y", ("%float", "%uint %uint %float %half"))),
    valid("a function with a further matrix", each("%x", ("%float", "%uint %uint %float %float"))),
    broken("matrix2-per-element", "a further matrix of another type",
           use("PerElementOperationsEXT", f"%x = OpUndef {ACC}\n%y = OpUndef {A}\n"
               f"%r = OpCooperativeMatrixPerElementOpEXT {ACC} %x %f %y", ("%float", "%uint %uint %float %float"),
               extension=MAINTENANCE), says="further matrices"),
    broken("matrix2-per-element", "a function without position", each(function=("%float", "%float"))),
    broken("matrix2-per-element", "a function of 64-bit positions", each(function=("%float", "%ulong %ulong %float"))),
    broken("matrix2-per-element", "a function of another element", each(function=("%float", "%uint %uint %half"))),
    broken("matrix2-per-element", "a function that gives another type", each(function=("%half", "%uint %uint %float"))),
    broken("matrix2-per-element", "an operand that the function does not take", each("%y"), says="further operands"),
    broken("matrix2-per-element", "a function for every element changes the type",
           each(result="%matrix_acc_16x16_half"), says="cannot give"),
    broken("matrix2-per-element", "a function for a number", each(result="%float", given="%float"),
           says="works on a cooperative matrix"),
]

def access(op: str, given: str = ACC, result: str = "", pointer: str = "%ptr_local_float",
           layout: str = "%layout_type") -> str:
    """A load or store with a tensor layout."""
    return kernel(f"%x = OpUndef {given}\n%layout = OpUndef {layout}\n" + "%m = " * bool(result)
                  + f"OpCooperativeMatrix{op}TensorNV {result} %p0 %x %layout None None", parameters=pointer,
                  declarations="%layout_type = OpTypeTensorLayoutNV %uint_2 %uint_0",
                  capabilities="CooperativeMatrixTensorAddressingNV TensorAddressingNV CooperativeMatrixKHR",
                  extensions=f"SPV_NV_tensor_addressing {EXTENSION}")


TENSORS = [
    valid("a load with a tensor layout", access("Load", result=ACC)),
    valid("a store with a tensor layout", access("Store")),
    broken("matrix2-tensor-access", "a load into another type", access("Load", result="%matrix_acc_16x16_half"),
           says="cannot give"),
    broken("matrix2-tensor-access", "a store of a number", access("Store", "%float"),
           says="works on a cooperative matrix"),
    broken("matrix2-tensor-access", "a store without pointer", access("Store", pointer="%ulong"),
           says="needs a pointer"),
    broken("matrix2-tensor-access", "a store with a number as layout", access("Store", layout="%uint"),
           says="needs a tensor layout"),
]

CASES = [*CONVERSIONS, *REDUCTIONS, *TENSORS]
