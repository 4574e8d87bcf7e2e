"""Calls of built-in functions become instructions, whoever named them."""

from __future__ import annotations

import pytest

from coopmat import llvm
from coopmat.diagnostics import CompileError
from coopmat.llvm.process import client
from coopmat.llvm.to_spirv import imports
from coopmat.spirv.grammar import Capability, Decoration, Op
from coopmat.spirv.module import Module
from tests.kit.llvm.modules import called, code, compiled, describe, kernel, matrix

C, A, B = matrix(), matrix("half", 8, 32, 0), matrix("half", 32, 16, 1)
INTS, BYTES = matrix("i32"), matrix("i8")
SOURCE = "ptr addrspace(1) %p"


def body(*lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines)


def call(name: str, result: str, *arguments: str) -> str:
    """A call whose result, if any, is ``%r``."""
    target = "" if result == "void" else "%r = "
    return f"  {target}call spir_func {result} @{name}({', '.join(arguments)})"


def instructions(ir: str) -> list[str]:
    return code(compiled(ir))


# --------------------------------------------------------------------------------------
# Instructions
# --------------------------------------------------------------------------------------

FLOATS_X, INTS_X, BYTES_X = f"{C} %x", f"{INTS} %x", f"{BYTES} %x"
ON_MATRICES = [
    # the RFC
    ("_Z34__spirv_CooperativeMatrixBinaryAdd", C, [FLOATS_X, FLOATS_X], ["FAdd :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinarySub", C, [FLOATS_X, FLOATS_X], ["FSub :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinaryMul", C, [FLOATS_X, FLOATS_X], ["FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinaryDiv", C, [FLOATS_X, FLOATS_X], ["FDiv :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinaryAdd", INTS, [INTS_X, INTS_X], ["IAdd :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinarySub", INTS, [INTS_X, INTS_X], ["ISub :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinaryMul", INTS, [INTS_X, INTS_X], ["IMul :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixBinaryDiv", INTS, [INTS_X, INTS_X], ["SDiv :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarNeg", C, [FLOATS_X], ["FNegate :f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarNeg", INTS, [INTS_X], ["SNegate :i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarMul", C, [FLOATS_X, "float 4.0"],
     ["CompositeConstruct :f32[8x16]2 4.0", "FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarMul", INTS, ["i32 4", INTS_X],
     ["CompositeConstruct :i32[8x16]2 4", "IMul :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarMul", C, [FLOATS_X, "i32 4"],  # as in the RFC's example
     ["ConvertSToF :f32 4", "CompositeConstruct :f32[8x16]2 f32", "FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixScalarMul", C, [FLOATS_X, "double 4.0"],
     ["FConvert :f32 4.0", "CompositeConstruct :f32[8x16]2 f32", "FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    # clang's patch
    ("__spirv_CooperativeMatrixFAdd", C, [FLOATS_X, FLOATS_X], ["FAdd :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("__spirv_CooperativeMatrixFSub_f32_sc3_8x16_u2", C, [FLOATS_X, FLOATS_X],
     ["FSub :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("__spirv_CooperativeMatrixUDiv", INTS, [INTS_X, INTS_X], ["UDiv :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("__spirv_CooperativeMatrixScalarMulKHR", C, [FLOATS_X, "float 4.0"],
     ["CompositeConstruct :f32[8x16]2 4.0", "FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("__spirv_CooperativeMatrixScalarNeg", INTS, [INTS_X], ["SNegate :i32[8x16]2 i32[8x16]2"]),
    ("__spirv_CompositeConstruct_f32_sc3_8x16_u2", C, ["float 1.5"], ["CompositeConstruct :f32[8x16]2 1.5"]),
    ("__spirv_CooperativeMatrixLengthKHR.3", "i32", [FLOATS_X], ["CooperativeMatrixLengthKHR :i32 f32[8x16]2"]),
    # the SPIR-V translator and SYCL
    ("_Z12__spirv_FMulPU3AS145__spirv_CooperativeMatrixKHR__float_3_8_16_2S1_", C, [FLOATS_X, FLOATS_X],
     ["FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z12__spirv_UDiv", INTS, [INTS_X, INTS_X], ["UDiv :i32[8x16]2 i32[8x16]2 i32[8x16]2"]),
    ("_Z25__spirv_MatrixTimesScalar", C, [FLOATS_X, "float 4.0"],
     ["CompositeConstruct :f32[8x16]2 4.0", "FMul :f32[8x16]2 f32[8x16]2 f32[8x16]2"]),
    ("_Z26__spirv_CompositeConstructFloat", C, ["float 1.5"], ["CompositeConstruct :f32[8x16]2 1.5"]),
    ("_Z34__spirv_CooperativeMatrixLengthKHRPU3AS144__spirv_CooperativeMatrixKHR__float_3_8_16_2", "i32", [FLOATS_X],
     ["CooperativeMatrixLengthKHR :i32 f32[8x16]2"]),
    ("_Z74__spirv_ConvertFToU_RPU3AS144__spirv_CooperativeMatrixKHR__uint_3_8_16_2PU3AS1", INTS, [FLOATS_X],
     ["ConvertFToU :i32[8x16]2 f32[8x16]2"]),
    ("_Z16__spirv_FConvert_1", matrix("half"), [FLOATS_X], ["FConvert :f16[8x16]2 f32[8x16]2"]),
    ("_Z16__spirv_SConvert_1", INTS, [BYTES_X], ["SConvert :i32[8x16]2 i8[8x16]2"]),
    ("_Z16__spirv_UConvert_1", BYTES, [INTS_X], ["UConvert :i8[8x16]2 i32[8x16]2"]),
    ("_Z15__spirv_Bitcast_1", INTS, [INTS_X], ["Bitcast :i32[8x16]2 i32[8x16]2"]),
    ("_Z25__spirv_RoundFToTF32INTEL", C, [FLOATS_X], ["RoundFToTF32INTEL :f32[8x16]2 f32[8x16]2"]),
    ("_Z27__spirv_ConvertFToBF16INTEL", matrix("i16"), [FLOATS_X], ["ConvertFToBF16INTEL :i16[8x16]2 f32[8x16]2"]),
    ("_Z24__spirv_CompositeExtract", "float", [FLOATS_X, "i32 3"], ["CompositeExtract :f32 f32[8x16]2 #3"]),
    ("_Z23__spirv_CompositeInsert", C, ["float 1.5", FLOATS_X, "i32 3"],
     ["CompositeInsert :f32[8x16]2 1.5 f32[8x16]2 #3"]),
    ("_Z45__spirv_CooperativeMatrixGetElementCoordINTEL", "<2 x i32>", [FLOATS_X, "i32 3"],
     ["CooperativeMatrixGetElementCoordINTEL :i32x2 f32[8x16]2 3"]),
    ("_Z34__spirv_CooperativeMatrixMulAddKHR", C, [f"{A} undef", f"{B} undef", FLOATS_X],
     ["CooperativeMatrixMulAddKHR :f32[8x16]2 f16[8x32]0 f16[32x16]1 f32[8x16]2"]),
    ("_Z34__spirv_CooperativeMatrixMulAddKHR", C, [f"{A} undef", f"{B} undef", FLOATS_X, "i8 31"],
     ["CooperativeMatrixMulAddKHR :f32[8x16]2 f16[8x32]0 f16[32x16]1 f32[8x16]2 #31"]),
]


@pytest.mark.parametrize(("name", "result", "arguments", "expected"), ON_MATRICES,
                         ids=[f"{row[0]}-{index}" for index, row in enumerate(ON_MATRICES)])
def test_on_matrices(name: str, result: str, arguments: list[str], expected: list[str]) -> None:
    subject = next((argument.removesuffix(" %x") for argument in arguments if argument.endswith("%x")), C)
    ir = called(body(f"%v = alloca {subject}", f"%x = load {subject}, ptr %v") + "\n" + call(name, result, *arguments))
    found = instructions(ir)
    assert [line for line in found if not line.startswith("Load")] == expected


ON_NUMBERS = [
    ("__spirv_SDotKHR", "i32", ["<4 x i8> %a", "<4 x i8> %a"], "SDot :i32 i8x4 i8x4"),
    ("_Z15__spirv_UDotKHRjj", "i32", ["i32 %i", "i32 %i", "i32 0"], "UDot :i32 i32 i32 #0"),
    ("_Z24__spirv_SUDotAccSatKHR", "i32", ["<4 x i8> %a", "<4 x i8> %a", "i32 %i"], "SUDotAccSat :i32 i8x4 i8x4 i32"),
    ("_Z12__spirv_FAddff", "float", ["float %f", "float %f"], "FAdd :f32 f32 f32"),
    ("_Z27__spirv_GroupNonUniformIAddjjj", "i32", ["i32 3", "i32 0", "i32 %i"], "GroupNonUniformIAdd :i32 3 #0 i32"),
    ("_Z22__spirv_ControlBarrieriii", "void", ["i32 3", "i32 3", "i32 272"], "ControlBarrier 3 3 272"),
    ("_Z25__spirv_RoundFToTF32INTELf", "float", ["float %f"], "RoundFToTF32INTEL :f32 f32"),
    ("_Z45__spirv_SubgroupMatrixMultiplyAccumulateINTEL", "<8 x float>",
     ["i32 16", "<8 x i16> zeroinitializer", "<8 x i32> zeroinitializer", "<8 x float> zeroinitializer", "i32 12288"],
     "SubgroupMatrixMultiplyAccumulateINTEL :f32x8 16 i16x8 i32x8 f32x8 #12288"),
    ("_Z17__spirv_ocl_s_maxii", "i32", ["i32 %i", "i32 %i"], "ExtInst :i32 set #156 i32 i32"),
]


@pytest.mark.parametrize(("name", "result", "arguments", "expected"), ON_NUMBERS, ids=[row[0] for row in ON_NUMBERS])
def test_on_numbers(name: str, result: str, arguments: list[str], expected: str) -> None:
    ir = called(call(name, result, *arguments), "float %f, i32 %i, <4 x i8> %a")
    assert instructions(ir) == [expected]


def test_no_trace_of_the_imports_stays() -> None:
    module = compiled(called(call("_Z12__spirv_FAddff", "float", "float %f", "float %f"), "float %f"))
    assert Capability.Linkage not in module.capabilities
    assert len(module.functions) == 1
    assert not any("spirv" in name for name in module.names.values())
    assert not any(module.decorations(item.result_id) for item in module.of_opcode(Op.FAdd) if item.result_id)


def test_capabilities_and_extensions_of_the_new_instructions() -> None:
    module = compiled(called(call("__spirv_SDotKHR", "i32", "<4 x i8> %a", "<4 x i8> %a"), "<4 x i8> %a"))
    assert {Capability.DotProduct, Capability.DotProductInput4x8Bit} <= set(module.capabilities)
    assert module.extensions == ("SPV_KHR_integer_dot_product",)


@pytest.mark.parametrize("name", ["__spirv_ConvertFToS_Rint_sat_rte", "__spirv_ConvertFToS_sat_rte"])
def test_modifiers_of_conversions(name: str) -> None:
    module = compiled(called(call(f"_Z{len(name)}{name}f", "i32", "float %f"), "float %f"))
    conversion, = module.of_opcode(Op.ConvertFToS)
    assert module.decorations(conversion.result_id or 0) == [
        (Decoration.SaturatedConversion, ()), (Decoration.FPRoundingMode, (0,))]


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------

LOAD = "CooperativeMatrixLoadKHR :f32[8x16]2 {} 0 16"


@pytest.mark.parametrize(("name", "pointee"), [
    ("_Z32__spirv_CooperativeMatrixLoadKHR", "f32*5"),  # no type in the name: the matrix's elements
    ("_Z32__spirv_CooperativeMatrixLoadKHR_1", "f32*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1fim", "f32*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Kf.f32_sc3_8x16_u2", "f32*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1cim", "i8*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1Dv4_fim", "f32x4*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1DF16bim", "bf16*5"),
    ("_Z32__spirv_CooperativeMatrixLoadKHRIfLj3ELj8ELj16ELj2EEvPU3AS1Dhim", "f16*5"),
    ("__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_8x16_u2", "f32*5"),
    ("_Z86__spirv_CooperativeMatrixLoadKHR_RPU3AS144__spirv_CooperativeMatrixKHR__float_3_8_16_2PU3AS1ili", "i32*5"),
])
def test_the_stride_counts_what_the_name_says(name: str, pointee: str) -> None:
    module = compiled(called(call(name, C, SOURCE, "i32 0", "i64 16"), SOURCE))
    assert code(module) == [LOAD.format(pointee)]
    parameter, = module.functions[0].parameters
    assert describe(module, parameter) == f"FunctionParameter :{pointee}"


def test_a_pointer_of_another_type_is_cast() -> None:
    ir = called(body(f"%v = load i32, {SOURCE}") + "\n"
                + call("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1fim", C, SOURCE, "i32 1", "i64 16"), SOURCE)
    assert "CooperativeMatrixLoadKHR :f32[8x16]2 f32*5 1 16" in instructions(ir)


@pytest.mark.parametrize(("operands", "expected"), [
    (["i32 0", "i64 16"], "0 16"),
    (["i32 1", "i32 16", "i32 0"], "1 16 #0"),
    (["i32 0", "i64 16", "i32 1"], "0 16 #1"),
    (["i32 0", "i64 16", "i32 2", "i32 64"], "0 16 #2 #64"),
    (["i32 0", "i64 16", "i32 7", "i32 64"], "0 16 #7 #64"),
])
def test_memory_operands(operands: list[str], expected: str) -> None:
    store = call("_Z33__spirv_CooperativeMatrixStoreKHR", "void", SOURCE, f"{C} undef", *operands)
    load = call("_Z32__spirv_CooperativeMatrixLoadKHR", C, SOURCE, *operands)
    assert instructions(called(f"{load}\n{store}", SOURCE)) == [
        f"CooperativeMatrixLoadKHR :f32[8x16]2 f32*5 {expected}",
        f"CooperativeMatrixStoreKHR f32*5 f32[8x16]2 {expected}"]


def test_a_prefetch_keeps_its_operands() -> None:
    name = "_Z44__spirv_CooperativeMatrixPrefetchINTELPU3AS1f"
    ir = called(call(name.replace("44", "38"), "void", SOURCE, "i32 %i", "i32 0", "i32 8", "i32 16", "i32 1", "i32 0",
                     "i64 64"), f"{SOURCE}, i32 %i")
    assert instructions(ir) == ["CooperativeMatrixPrefetchINTEL f32*5 i32 0 8 16 #1 0 64"]


def test_a_prefetch_without_offsets_as_dpcpp_has_it() -> None:
    name = "_Z38__spirv_CooperativeMatrixPrefetchINTELPU3AS1fjjjjm"
    ir = called(call(name, "void", SOURCE, "i32 8", "i32 16", "i32 1", "i32 0", "i64 64"), SOURCE)
    assert instructions(ir) == ["CooperativeMatrixPrefetchINTEL f32*5 8 16 #1 0 64"]


def test_components_are_reached_through_access_chains() -> None:
    ir = called(body(f"%v = alloca {C}", f"store {C} undef, ptr %v") + "\n"
                + call("_Z19__spirv_AccessChainPvl", "ptr", "ptr %v", "i64 %i") + "\n"
                + body("%old = load float, ptr %r", "%new = fadd float %old, 1.0", "store float %new, ptr %r"),
                "i64 %i")
    assert instructions(ir)[1:] == [
        "AccessChain :f32*7 f32[8x16]2*7 i64", "Load :f32 f32*7 #2 #4", "FAdd :f32 f32 1.0",
        "Store f32*7 f32 #2 #4"]


def test_access_chains_into_structures() -> None:
    ir = called(body("%v = alloca { i32, [3 x <2 x float>] }") + "\n"
                + call("_Z19__spirv_AccessChainPviii", "ptr", "ptr %v", "i32 1", "i32 2", "i32 %i") + "\n"
                + body("store float 1.0, ptr %r"), "i32 %i")
    assert [line.replace("struct*7", "*") for line in instructions(ir)] == [
        "AccessChain :f32*7 * 1 2 i32", "Store f32*7 1.0 #2 #4"]


# --------------------------------------------------------------------------------------
# A second opinion, and the three ways to spell a kernel
# --------------------------------------------------------------------------------------

UNDERSTOOD_BY_LLVM = [
    call("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1f.f32_sc3_8x16_u2", C, SOURCE, "i32 0", "i64 16"),
    call("_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1f.f32_sc3_8x16_u2", "void", SOURCE, f"{C} undef", "i32 0",
         "i64 16"),
    call("_Z34__spirv_CooperativeMatrixMulAddKHR_f16_sc3_8x32_u0_f16_sc3_32x16_u1_f32_sc3_8x16_u2", C,
         f"{A} undef", f"{B} undef", f"{C} undef", "i32 0"),
    call("_Z34__spirv_CooperativeMatrixLengthKHR_f32_sc3_8x16_u2", "i32", f"{C} undef"),
    call("_Z26__spirv_CompositeConstruct_f32_sc3_8x16_u2", C, "float 1.5"),
    call("_Z16__spirv_FConvert_f16_sc3_8x32_u0_f32_sc3_8x32_u0", matrix("float", 8, 32, 0), f"{A} undef"),
    call("_Z19__spirv_ConvertFToS_f16_sc3_8x32_u0_s32_sc3_8x32_u0", matrix("i32", 8, 32, 0), f"{A} undef"),
]


@pytest.mark.parametrize("line", UNDERSTOOD_BY_LLVM, ids=[line.split("__spirv_")[1].split("_")[0] for line in
                                                          UNDERSTOOD_BY_LLVM])
def test_llvm_makes_the_same_of_what_it_understands(line: str) -> None:
    ir = called(line, SOURCE)
    alone = imports.resolve(Module.from_bytes(client.emit_spirv(ir, {})), {})
    declared = client.declarations(ir)
    assert imports.hidden_names(declared)
    assert code(compiled(ir)) == code(alone)


SPELLINGS = {
    "rfc": ("_Z32__spirv_CooperativeMatrixLoadKHR", "_Z34__spirv_CooperativeMatrixBinaryAdd",
            "_Z34__spirv_CooperativeMatrixScalarNeg", "_Z33__spirv_CooperativeMatrixStoreKHR"),
    "clang": ("__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_8x16_u2", "__spirv_CooperativeMatrixFAdd",
              "__spirv_CooperativeMatrixScalarNeg", "__spirv_CooperativeMatrixStoreKHR_global_f32_sc3_8x16_u2"),
    "translator": ("_Z32__spirv_CooperativeMatrixLoadKHR_1", "_Z12__spirv_FAdd", "_Z15__spirv_FNegate",
                   "_Z33__spirv_CooperativeMatrixStoreKHR_1"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_three_spellings_of_one_kernel(spelling: str) -> None:
    load, add, negate, store = SPELLINGS[spelling]
    lines = (call(load, C, SOURCE, "i32 0", "i64 16").replace("%r", "%a"),
             call(add, C, f"{C} %a", f"{C} %a").replace("%r", "%b"),
             call(negate, C, f"{C} %b"),
             call(store, "void", SOURCE, f"{C} %r", "i32 0", "i64 16"))
    assert instructions(called("\n".join(lines), SOURCE)) == [
        LOAD.format("f32*5"), "FAdd :f32[8x16]2 f32[8x16]2 f32[8x16]2", "FNegate :f32[8x16]2 f32[8x16]2",
        "CooperativeMatrixStoreKHR f32*5 f32[8x16]2 0 16"]


# --------------------------------------------------------------------------------------
# OpenCL C functions
# --------------------------------------------------------------------------------------

OPENCL = [
    ("_Z11convert_intc", "i32", ["i8 %b"], ["SConvert :i32 i8"]),
    ("_Z12convert_uintc", "i32", ["i8 %b"], ["SConvert :i32 i8"]),
    ("_Z11convert_inth", "i32", ["i8 %b"], ["UConvert :i32 i8"]),
    ("_Z12convert_chari", "i8", ["i32 %i"], ["SConvert :i8 i32"]),
    ("_Z11convert_intj", "i32", ["i32 %i"], ["CopyObject :i32 i32"]),
    ("_Z16convert_char_sati", "i8", ["i32 %i"],
     ["ExtInst :i32 set #149 i32 4294967168 127", "SConvert :i8 i32"]),
    ("_Z17convert_uchar_sati", "i8", ["i32 %i"], ["ExtInst :i32 set #149 i32 0 255", "SConvert :i8 i32"]),
    ("_Z17convert_uchar_satj", "i8", ["i32 %i"], ["ExtInst :i32 set #150 i32 0 255", "UConvert :i8 i32"]),
    ("_Z16convert_uint_sati", "i32", ["i32 %i"],
     ["ExtInst :i32 set #149 i32 0 2147483647", "CopyObject :i32 i32"]),
    ("_Z17convert_char4_satDv4_i", "<4 x i8>", ["<4 x i32> %v"],
     ["ExtInst :i32x4 set #149 i32x4 i32x4 i32x4", "SConvert :i8x4 i32x4"]),
    ("_Z15convert_int_rtef", "i32", ["float %f"], ["ConvertFToS :i32 f32"]),
    ("_Z12convert_halff", "half", ["float %f"], ["FConvert :f16 f32"]),
    ("_Z6as_intf", "i32", ["float %f"], ["Bitcast :i32 f32"]),
    ("_Z17sub_group_barrierj", "void", ["i32 1"], ["ControlBarrier 3 3 272"]),
    ("_Z17sub_group_barrierj12memory_scope", "void", ["i32 2", "i32 1"], ["ControlBarrier 3 3 528"]),
    ("_Z9mem_fencej", "void", ["i32 3"], ["MemoryBarrier 2 776"]),
    ("_Z14read_mem_fencej", "void", ["i32 1"], ["MemoryBarrier 2 258"]),
    ("_Z15write_mem_fencej", "void", ["i32 2"], ["MemoryBarrier 2 516"]),
    ("_Z12vloada_half3mPU3AS1KDh", "<3 x float>", ["i64 7", SOURCE], ["ExtInst :f32x3 set #179 7 f16*5 #3"]),
]


@pytest.mark.parametrize(("name", "result", "arguments", "expected"), OPENCL, ids=[row[0] for row in OPENCL])
def test_opencl_functions_that_llvm_gets_wrong(name: str, result: str, arguments: list[str],
                                               expected: list[str]) -> None:
    ir = called(call(name, result, *arguments), f"{SOURCE}, float %f, i32 %i, i8 %b, <4 x i32> %v")
    assert instructions(ir) == expected


def test_built_in_variables_are_not_imported() -> None:
    module = compiled(called(call("_Z13get_global_idj", "i64", "i32 0")))
    variable, = module.of_opcode(Op.Variable)
    assert [decoration for decoration, _ in module.decorations(variable.result_id or 0)] == [
        Decoration.Constant, Decoration.BuiltIn]
    assert Capability.Linkage not in module.capabilities


# --------------------------------------------------------------------------------------
# Kernels' parameters
# --------------------------------------------------------------------------------------


def test_metadata_gives_unused_parameters_their_types() -> None:
    ir = ('define spir_kernel void @"my kernel"(ptr addrspace(1) %a, ptr addrspace(3) %b, i32 %c, ptr addrspace(1) %d) '
          '!kernel_arg_addr_space !0 !kernel_arg_type !1 {\n  ret void\n}\n'
          '!0 = !{i32 1, i32 3, i32 0}\n!1 = !{!"float*", !"ushort3*", !"uint", !"thing\\2A*"}\n')
    module = compiled(ir)
    assert [describe(module, parameter) for parameter in module.functions[0].parameters] == [
        f"FunctionParameter :{type_}" for type_ in ("f32*5", "i16x3*4", "i32", "i8*5")]
    assert list(module.strings.values()) == ["kernel_arg_type.my kernel.float*,ushort3*,uint,thing**,"]


@pytest.mark.parametrize(("types", "expected"), [
    ('!"float*"', "f32*5"), ('!"int4*"', "i32x4*5"), ('!"thing*"', "i8*5"),
])
def test_metadata_win_over_what_the_kernel_does_with_a_parameter(types: str, expected: str) -> None:
    """A byte offset makes the pointee a byte for LLVM; the host still gives an array of what was declared."""
    ir = ("define spir_kernel void @k(ptr addrspace(1) %a) !kernel_arg_type !0 {\n"
          "  %p = getelementptr i8, ptr addrspace(1) %a, i64 4\n  store i8 1, ptr addrspace(1) %p\n  ret void\n}\n"
          f"!0 = !{{{types}}}\n")
    module = compiled(ir)
    assert describe(module, module.functions[0].parameters[0]) == f"FunctionParameter :{expected}"
    assert len(list(module.of_opcode(Op.Bitcast))) == (expected != "i8*5")


def test_a_parameter_used_in_two_ways_keeps_bytes() -> None:
    loads = "\n".join(call(f"_Z32__spirv_CooperativeMatrixLoadKHRP{code}", type_, SOURCE, "i32 0", "i64 16")
                      .replace("%r", f"%r{code}") for code, type_ in (("f", C), ("i", INTS)))
    module = compiled(called(loads, SOURCE))
    assert describe(module, module.functions[0].parameters[0]) in (
        "FunctionParameter :i8*5", "FunctionParameter :f32*5", "FunctionParameter :i32*5")
    found = [line for line in code(module) if line.startswith("Coop")]
    assert found == [LOAD.format("f32*5"), LOAD.format("i32*5").replace(":f32", ":i32")]


# --------------------------------------------------------------------------------------
# Errors
# --------------------------------------------------------------------------------------

MULADD = "_Z34__spirv_CooperativeMatrixMulAddKHR"
ERRORS = [
    (call("helper", "void"), "function 'helper' is called, but not defined, and it is no built-in function"),
    (call("__spirv_Nonsense", "void"), "function '__spirv_Nonsense' is called, but not defined"),
    (call("__spirv_TypeInt", "void"), "function '__spirv_TypeInt' is called, but not defined"),
    (call("__spirv_CooperativeMatrixCross", C, f"{C} undef"), "'__spirv_CooperativeMatrixCross' is called, but not"),
    (call(MULADD, C, f"{A} undef", f"{B} undef", f"{C} undef", "i32 %i"),
     f"call of '{MULADD}': expected an integer constant as OpCooperativeMatrixMulAddKHR's operand of kind"),
    (call(MULADD, C, f"{A} undef", f"{B} undef"),
     r"OpCooperativeMatrixMulAddKHR has more operands than the 2 arguments given; the next one is of kind IdRef"),
    (call(MULADD, C, f"{A} undef", f"{B} undef", f"{C} undef", "i32 0", "i32 0"),
     "OpCooperativeMatrixMulAddKHR takes 4 operands, found 5 arguments"),
    (call(MULADD, "void", f"{A} undef", f"{B} undef", f"{C} undef"),
     "OpCooperativeMatrixMulAddKHR has a result, but the function is declared to return void"),
    (call("_Z32__spirv_CooperativeMatrixLoadKHR", C, SOURCE, "i32 %i", "i64 1"),
     "expected an integer constant as the layout"),
    (call("_Z32__spirv_CooperativeMatrixLoadKHR", C, SOURCE), "expected at least 2 arguments, found 1"),
    (call("_Z32__spirv_CooperativeMatrixLoadKHR", C, "i64 7", "i32 0"), "expected a pointer as argument 1"),
    (call("_Z33__spirv_CooperativeMatrixStoreKHR", C, SOURCE, "float 1.0", "i32 0"),
     "expected a cooperative matrix as argument 2"),
    (call("_Z34__spirv_CooperativeMatrixBinaryAdd", C, f"{C} undef"), "expected 2 arguments, found 1"),
    (call("_Z34__spirv_CooperativeMatrixScalarMul", C, f"{C} undef", SOURCE), "expected a number as the scalar factor"),
    (call("_Z34__spirv_CooperativeMatrixLengthKHR", "i32", f"{C} undef", "i32 1"), "expected 1 argument, found 2"),
    (call("_Z19__spirv_AccessChain", "ptr addrspace(1)", SOURCE, "i64 0"),
     "the pointer points to OpTypeInt, which has no part"),
    (call("_Z11convert_int", "i32", "i8 1"), "the name does not tell the type that is converted"),
    (call("_Z17sub_group_barrierj", "void", "i32 %i"), "expected an integer constant as the memory fence flags"),
]


@pytest.mark.parametrize(("line", "message"), ERRORS, ids=[message[:50] for _, message in ERRORS])
def test_errors(line: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        llvm.to_spirv(called(line, f"{SOURCE}, i32 %i"), source_name="bad.ll")


def test_an_error_names_the_file() -> None:
    with pytest.raises(CompileError, match=r"^bad\.ll: error: function 'helper'"):
        llvm.to_spirv(called(call("helper", "void")), source_name="bad.ll")


def test_the_address_of_a_built_in_function() -> None:
    ir = kernel("  %v = alloca ptr\n  store ptr @_Z12__spirv_FAddff, ptr %v",
                ["float @_Z12__spirv_FAddff(float, float)"])
    with pytest.raises(CompileError, match=r"^bad\.ll: error: a function has no address in SPIR-V"):
        llvm.to_spirv(ir, source_name="bad.ll")


def test_a_declaration_that_is_not_called_does_no_harm() -> None:
    assert instructions(kernel("", ["void @helper()", f"{C} @__spirv_CooperativeMatrixCross({C})"])) == []


@pytest.mark.parametrize(("type_", "message"), [
    ('target("spirv.CooperativeMatrixKHR", float, 8, 4, 0, 0)',
     r"bad.ll:1:26: error: .* at least one row and one column, found 4 and 0: after the element type come scope"),
    ('target("spirv.CooperativeMatrixKHR", float, 8, 4, 3, 0)',
     r"scope .* is 2 \(Workgroup\) or 3 \(Subgroup\), found 8"),
    ('target("spirv.CooperativeMatrixKHR", float, 3, 8, 4, 3)',
     r"the use .* is 0 \(A\), 1 \(B\) or 2 \(accum.*, found 3"),
    ('target("spirv.CooperativeMatrixKHR", i1, 3, 8, 4, 0)', "a cooperative matrix of bool elements does not exist"),
])
def test_matrices_that_cannot_exist(type_: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        llvm.to_spirv(f"define spir_func void @f({type_} %x) {{\n  ret void\n}}\n", source_name="bad.ll")


# --------------------------------------------------------------------------------------
# Functions that matrix instructions run
# --------------------------------------------------------------------------------------

DEFINED = """
define internal spir_func float @sum(float %a, float %b) {
  %s = fadd float %a, %b
  ret float %s
}
define internal spir_func float @biased(i32 %row, i32 %column, float %x, ptr addrspace(1) %p, float %y) {
  %q = getelementptr float, ptr addrspace(1) %p, i32 %column
  %b = load float, ptr addrspace(1) %q
  %s = fadd float %x, %b
  %r = fmul float %s, %y
  ret float %r
}
"""


@pytest.mark.parametrize(("call", "name"), [
    (f"_Z34__spirv_CooperativeMatrixReduceEXT({C} %m, i32 3, ptr @sum)", "CooperativeMatrixReduceEXT"),
    (f"__spirv_CooperativeMatrixReduceNV({C} %m, i32 1, ptr @sum)", "CooperativeMatrixReduceEXT"),
    (f"_Z40__spirv_CooperativeMatrixPerElementOpEXT({C} %m, ptr @biased, {SOURCE}, {C} %m)",
     "CooperativeMatrixPerElementOpEXT"),
    (f"_Z39__spirv_CooperativeMatrixPerElementOpNV({C} %m, ptr @biased, {SOURCE}, {C} %m)",
     "CooperativeMatrixPerElementOpEXT")])
def test_functions_are_passed_by_their_address(call: str, name: str) -> None:
    load = f"%m = call spir_func {C} @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_8x16_u2({SOURCE}, i32 0, i64 16)"
    module = compiled(called(body(load, f"%r = call spir_func {C} @{call}"), SOURCE) + DEFINED)
    assert module.validate() == []
    [row] = [item for item in module.instructions if item.name == f"Op{name}"]
    assert module.definition(row.words[2 if "Reduce" in name else 1]).opcode == Op.Function
    assert not any("FunctionPointer" in item.name for item in module.instructions)
    assert not any("function_pointers" in one for one in module.extensions)


@pytest.mark.parametrize(("operand", "message"), [
    ("ptr null", "expected the address of a function as argument 3"),
    ("ptr @k", "OpCooperativeMatrixReduceEXT calls the entry point")])
def test_other_addresses_are_errors(operand: str, message: str) -> None:
    load = f"%m = call spir_func {C} @__spirv_CooperativeMatrixLoadKHR_global_f32_sc3_8x16_u2({SOURCE}, i32 0, i64 16)"
    call = f"%r = call spir_func {C} @__spirv_CooperativeMatrixReduceEXT({C} %m, i32 3, {operand})"
    try:
        found = "\n".join(map(str, compiled(called(body(load, call), SOURCE)).validate()))
    except CompileError as error:
        found = str(error)
    assert message in found
