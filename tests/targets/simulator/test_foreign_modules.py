"""Constructs of other producers' modules, which our own code generator does not write."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error, UndefinedBehavior
from coopmat.spirv.module import Module
from tests.kit.targets.short_kernels import STORAGES, module, refuses, run

STORE = """
    %place = OpInBoundsPtrAccessChain %g_i32 %out %gx
    OpStore %place %value Aligned 4"""
ITEMS = np.arange(16)


def values(body: str, **more: str) -> np.ndarray:
    """What 16 work-items store to an array of 32-bit integers."""
    out = np.zeros(16, np.int32)
    run(module("g_i32 out", body, **more), [out])
    return out


# --------------------------------------------------------------------------------------
# What LLVM's back end writes
# --------------------------------------------------------------------------------------


def test_a_structure_passed_by_value_is_the_callees_own() -> None:
    """Clang passes the caller's variable itself, where the parameter has the attribute ByVal."""
    found = values("""
        %pair = OpVariable %p_a2_i32 Function
        %first = OpInBoundsAccessChain %p_i32 %pair %i32_c0
        %n = OpUConvert %i32 %gx
        OpStore %first %n
        %result = OpFunctionCall %i32 %double %pair
        %again = OpFunctionCall %i32 %double %pair
        %old = OpLoad %i32 %first
        %hundred = OpIMul %i32 %old %i32_c100
        %sum = OpIAdd %i32 %result %again
        %value = OpIAdd %i32 %hundred %sum
        """ + STORE, decorations="OpDecorate %own FuncParamAttr ByVal", functions="""
        %double_type = OpTypeFunction %i32 %p_a2_i32
        %double = OpFunction %i32 None %double_type
        %own = OpFunctionParameter %p_a2_i32
        %double_entry = OpLabel
        %own_first = OpInBoundsAccessChain %p_i32 %own %i32_c0
        %given = OpLoad %i32 %own_first
        %doubled = OpIAdd %i32 %given %given
        OpStore %own_first %doubled
        %back = OpLoad %i32 %own_first
        OpReturnValue %back
        OpFunctionEnd""")
    np.testing.assert_array_equal(found, 104 * ITEMS)


@pytest.mark.parametrize("used", ["%chosen", "%shifted"])
def test_a_shift_that_llvm_has_moved_out_of_its_branch(used: str) -> None:
    """Where an OpSelect drops what is undefined, it is not reported; in a module of coopmat it is the author's."""
    source = module("g_i32 out", f"""
        %n = OpUConvert %i32 %gx
        %amount = OpIMul %i32 %n %i32_c5
        %moved = OpShiftLeftLogical %i32 %i32_c1 %amount
        %shifted = OpIAdd %i32 %moved %i32_c1
        %fits = OpULessThan %bool %amount %i32_c32
        {"%chosen = OpSelect %i32 %fits %shifted %i32_c0" if used == "%chosen" else ""}
        %value = OpCopyObject %i32 {used}{STORE}""")
    foreign = Module(source.instructions, version=source.version, bound=source.bound, generator=0x2B0001)
    out = np.zeros(16, np.int32)
    if used == "%chosen":
        run(foreign, [out])
        np.testing.assert_array_equal(out, [(1 << 5 * n) + 1 if 5 * n < 32 else 0 for n in range(16)])
    for checked in (source,) if used == "%chosen" else (source, foreign):
        with refuses(UndefinedBehavior, "shifted by 35"):
            run(checked, [out])


def test_truncation_by_bitwise_and() -> None:
    found = values("%wide = OpIMul %i64 %gx %i64_c4294967301\n%value = OpBitwiseAnd %i32 %wide %i32_c255" + STORE)
    np.testing.assert_array_equal(found, ITEMS * 5)


@pytest.mark.parametrize(("op", "expected"), [("OpAny", ITEMS < 9), ("OpAll", ITEMS < 3)])
def test_any_and_all_of_integers_look_at_the_highest_bits(op: str, expected: np.ndarray) -> None:
    found = values(f"""
        %n = OpUConvert %i32 %gx
        %a = OpISub %i32 %n %i32_c9
        %b = OpISub %i32 %n %i32_c3
        %pair = OpCompositeConstruct %v2_i32 %a %b
        %holds = {op} %bool %pair
        %value = OpSelect %i32 %holds %i32_c1 %i32_c0""" + STORE)
    np.testing.assert_array_equal(found, expected)


BUILTINS = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Float64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
OpDecorate %inc LinkageAttributes "_Z10atomic_incPU3AS1Vi" Import
OpDecorate %umax LinkageAttributes "_Z10atomic_maxPU3AS1Vjj" Import
OpDecorate %cmpxchg LinkageAttributes "_Z14atomic_cmpxchgPU3AS1Viii" Import
OpDecorate %convert LinkageAttributes "_Z20convert_int2_sat_rteDv2_d" Import
OpDecorate %user LinkageAttributes "user_function" Import
%void = OpTypeVoid
%i32 = OpTypeInt 32 0
%double = OpTypeFloat 64
%v2i32 = OpTypeVector %i32 2
%v2double = OpTypeVector %double 2
%global = OpTypePointer CrossWorkgroup %i32
%one_type = OpTypeFunction %i32 %global
%two_type = OpTypeFunction %i32 %global %i32
%three_type = OpTypeFunction %i32 %global %i32 %i32
%convert_type = OpTypeFunction %v2i32 %v2double
%kernel_type = OpTypeFunction %void %global
%zero = OpConstant %i32 0
%one = OpConstant %i32 1
%two = OpConstant %i32 2
%three = OpConstant %i32 3
%minus = OpConstant %i32 4294967295
%half = OpConstant %double 2.5
%large = OpConstant %double 1e30
%pair = OpConstantComposite %v2double %half %large
%inc = OpFunction %i32 None %one_type
%p1 = OpFunctionParameter %global
OpFunctionEnd
%umax = OpFunction %i32 None %two_type
%p2 = OpFunctionParameter %global
%p3 = OpFunctionParameter %i32
OpFunctionEnd
%cmpxchg = OpFunction %i32 None %three_type
%p4 = OpFunctionParameter %global
%p5 = OpFunctionParameter %i32
%p6 = OpFunctionParameter %i32
OpFunctionEnd
%convert = OpFunction %v2i32 None %convert_type
%p7 = OpFunctionParameter %v2double
OpFunctionEnd
%user = OpFunction %i32 None %one_type
%p8 = OpFunctionParameter %global
OpFunctionEnd
%kernel = OpFunction %void None %kernel_type
%out = OpFunctionParameter %global
%entry = OpLabel
%counter = OpInBoundsPtrAccessChain %global %out %zero
%highest = OpInBoundsPtrAccessChain %global %out %one
%exchanged = OpInBoundsPtrAccessChain %global %out %two
%result = OpInBoundsPtrAccessChain %global %out %three
%r1 = OpFunctionCall %i32 %inc %counter
%r2 = OpFunctionCall %i32 %umax %highest %minus
%r3 = OpFunctionCall %i32 %cmpxchg %exchanged %three %minus
%r4 = OpFunctionCall %v2i32 %convert %pair
%first = OpCompositeExtract %i32 %r4 0
%second = OpCompositeExtract %i32 %r4 1
%sum = OpIAdd %i32 %first %second
OpStore %result %sum
{call}
OpReturn
OpFunctionEnd
"""


def built(call: str = "") -> cm.Program:
    return cm.build(Module.from_text(BUILTINS.replace("{call}", call)).to_bytes())


def test_imports_of_opencls_functions_are_resolved() -> None:
    out = np.array([0, 5, 3, 0], np.int32)
    device = cm.device("sim:generic", options=cm.SimulatorOptions(races=False))
    cm.Queue(device).enqueue(built().kernel("kernel"), 16, 16, out).wait()
    np.testing.assert_array_equal(out, [16, -1, -1, 2 + 2**31 - 1 - 2**32])
    assert "_Z10atomic_inc" in built().spirv_asm  # the module itself stays as it is


def test_other_imports_are_reported_when_a_kernel_reaches_them() -> None:
    program = built("%r5 = OpFunctionCall %i32 %user %out")
    with pytest.raises(Error, match="the function 'user_function' is imported, and no module"):
        cm.Queue("sim:generic").enqueue(program.kernel("kernel"), 16, 16, np.zeros(4, np.int32)).wait()


# --------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------

DATA = """
    %i32_c7 = OpConstant %i32 7
    %record = OpTypeStruct %i8 %i32 %a3_i32
    %three = OpConstantComposite %a3_i32 %i32_c1 %i32_c2 %i32_c3
    %initial = OpConstantComposite %record %i8_c5 %i32_c7 %three
    %table = OpVariable %c_record UniformConstant %initial
    %words = OpVariable %c_a3_i32 UniformConstant %three
    %i64_c2 = OpConstant %i64 2
    %second = OpSpecConstantOp %c_i32 InBoundsAccessChain %words %i32_c1
    %first_word = OpSpecConstantOp %c_i32 Bitcast %words
    %third = OpSpecConstantOp %c_i32 InBoundsPtrAccessChain %first_word %i64_c2
    %addresses_value = OpConstantComposite %a2_c_i32 %second %third
    %addresses = OpVariable %c_a2_c_i32 UniformConstant %addresses_value"""


def test_variables_that_begin_with_structures_and_addresses() -> None:
    found = values("""
        %from_table = OpInBoundsAccessChain %c_i32 %table %i32_c2 %i32_c1
        %a = OpLoad %i32 %from_table Aligned 4
        %odd = OpBitwiseAnd %i64 %gx %i64_c1
        %entry_of = OpInBoundsAccessChain %c_c_i32 %addresses %odd
        %pointer = OpLoad %c_i32 %entry_of Aligned 8
        %b = OpLoad %i32 %pointer Aligned 4
        %tens = OpIMul %i32 %a %i32_c10
        %value = OpIAdd %i32 %tens %b""" + STORE, declarations=DATA)
    np.testing.assert_array_equal(found, np.where(ITEMS % 2, 23, 22))


def test_a_variable_of_a_function_with_an_initialiser() -> None:
    found = values("""
        %copy = OpVariable %p_record Function %initial
        %member = OpInBoundsAccessChain %p_i32 %copy %i32_c1
        %seven = OpLoad %i32 %member
        %n = OpUConvert %i32 %gx
        %value = OpIAdd %i32 %seven %n
        OpStore %member %value""" + STORE, declarations=DATA)
    np.testing.assert_array_equal(found, 7 + ITEMS)


def test_an_array_of_packed_structures() -> None:
    data = np.zeros(16, np.dtype([("tag", "i1"), ("value", "<i4"), ("rest", "<i2", 3)]))
    data["value"], data["rest"] = ITEMS * 1000003, ITEMS[:, None] + [0, 100, 200]
    out = np.zeros(16, np.int32)
    run(module("g_i32 out, g_packed data", """
        %member = OpPtrAccessChain %g_i32 %data %gx %i32_c1
        %a = OpLoad %i32 %member Aligned 1
        %short = OpInBoundsPtrAccessChain %g_i16 %data %gx %i32_c2 %i32_c2
        %b = OpLoad %i16 %short Aligned 1
        %wide = OpSConvert %i32 %b
        %value = OpIAdd %i32 %a %wide""" + STORE, decorations="OpDecorate %packed CPacked",
        declarations="%packed = OpTypeStruct %i8 %i32 %a3_i16"), [out, data.view(np.uint8)])
    np.testing.assert_array_equal(out, ITEMS * 1000003 + ITEMS + 200)


def test_booleans_in_memory() -> None:
    found = values("""
        %flags = OpVariable %p_a5_bool Function
        %index = OpUMod %i64 %gx %i64_c5
        %flag = OpInBoundsAccessChain %p_bool %flags %index
        %is_even = OpIEqual %bool %even %i64_c0
        OpStore %flag %is_even
        %back = OpLoad %bool %flag
        %value = OpSelect %i32 %back %i32_c1 %i32_c2""".replace(
        "%is_even", "%even = OpBitwiseAnd %i64 %gx %i64_c1\n%is_even", 1) + STORE)
    np.testing.assert_array_equal(found, 1 + ITEMS % 2)


def test_decorations_and_hints_change_nothing() -> None:
    found = values("""
        %slot = OpVariable %p_f32 Function
        OpLifetimeStart %slot 4
        %x = OpConvertUToF %f32 %gx
        %product = OpFMul %f32 %x %f32_c3
        %total = OpFAdd %f32 %product %f32_c1p5
        OpStore %slot %total Volatile|Aligned 4
        %back = OpLoad %f32 %slot Nontemporal
        OpLifetimeStop %slot 4
        %frozen = OpFreezeKHR %f32 %back
        %value = OpConvertFToS %i32 %frozen""" + STORE, decorations="""
        OpDecorate %product NoContraction
        OpDecorate %total FPFastMathMode Fast
        OpDecorate %slot Alignment 4""")
    np.testing.assert_array_equal(found, 3 * ITEMS + 1)


def test_generic_pointers_and_sizes() -> None:
    found = values("""
        %own = OpVariable %p_i32 Function
        %n = OpUConvert %i32 %gx
        OpStore %own %n
        %generic = OpPtrCastToGeneric %x_i32 %own
        %global = OpPtrCastToGeneric %x_i32 %out
        %back = OpGenericCastToPtr %p_i32 %generic
        %a = OpLoad %i32 %back
        %none = OpGenericPtrMemSemantics %i32 %generic
        %cross = OpGenericPtrMemSemantics %i32 %global
        %size = OpSizeOf %i32 %out
        %sum = OpIAdd %i32 %a %none
        %more = OpIAdd %i32 %sum %cross
        %value = OpIAdd %i32 %more %size""" + STORE)
    np.testing.assert_array_equal(found, ITEMS + 0x200 + 4)


# --------------------------------------------------------------------------------------
# Control flow
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "large"), [(8, 200), (16, 50000), (32, 4000000000), (64, 1 << 63)])
def test_switches_of_every_width_with_phis(width: int, large: int) -> None:
    kind = f"i{width}"
    found = values(f"""
        %big = OpIEqual %bool %gx %i64_c5
        %narrow = {"OpCopyObject" if width == 64 else "OpUConvert"} %{kind} %gx
        %selector = OpSelect %{kind} %big %large %narrow
        OpSwitch %selector %other 0 %zero 3 %other {large} %huge
        %zero = OpLabel
        OpBranch %end
        %huge = OpLabel
        OpBranch %end
        %other = OpLabel
        %n = OpUConvert %i32 %gx
        OpBranch %end
        %end = OpLabel
        %value = OpPhi %i32 %i32_c100 %zero %i32_c200 %huge %n %other""" + STORE,
        declarations=f"%large = OpConstant %{kind} {large}")
    np.testing.assert_array_equal(found, np.select([ITEMS == 0, ITEMS == 5], [100, 200], ITEMS))


def test_a_loop_with_two_entries() -> None:
    """Odd work-items enter it at the second block: no structured loop has such a form."""
    found = values("""
        %n = OpUConvert %i32 %gx
        %low = OpBitwiseAnd %i32 %n %i32_c1
        %odd = OpIEqual %bool %low %i32_c1
        OpBranchConditional %odd %second %first
        %first = OpLabel
        %a = OpPhi %i32 %i32_c0 %entry %c %second
        %b = OpIAdd %i32 %a %i32_c10
        OpBranch %second
        %second = OpLabel
        %in = OpPhi %i32 %b %first %i32_c1 %entry
        %c = OpIAdd %i32 %in %n
        %large = OpSGreaterThan %bool %c %i32_c50
        OpBranchConditional %large %end %first
        %end = OpLabel
        %value = OpCopyObject %i32 %c""" + STORE)
    expected = []
    for n in ITEMS.tolist():
        c = n + (1 if n & 1 else 10)
        while c <= 50:
            c += 10 + n
        expected.append(c)
    np.testing.assert_array_equal(found, expected)


def test_phis_exchange_their_values() -> None:
    found = values("""
        %n = OpUConvert %i32 %gx
        OpBranch %loop
        %loop = OpLabel
        %i = OpPhi %i32 %i32_c0 %entry %next %loop
        %x = OpPhi %i32 %i32_c1 %entry %y %loop
        %y = OpPhi %i32 %i32_c2 %entry %x %loop
        %next = OpIAdd %i32 %i %i32_c1
        %again = OpSLessThan %bool %i %n
        OpBranchConditional %again %loop %end
        %end = OpLabel
        %value = OpCopyObject %i32 %x""" + STORE)
    np.testing.assert_array_equal(found, 1 + ITEMS % 2)


def test_an_unreachable_block_is_only_an_error_where_it_is_reached() -> None:
    body = """
        %is_large = OpUGreaterThan %bool %gx %i64_c{limit}
        OpBranchConditional %is_large %never %end
        %never = OpLabel
        OpUnreachable
        %end = OpLabel
        %value = OpUConvert %i32 %gx""" + STORE
    np.testing.assert_array_equal(values(body.replace("{limit}", "15")), ITEMS)
    with pytest.raises(UndefinedBehavior, match="OpUnreachable"):
        values(body.replace("{limit}", "14"))


def test_a_way_to_unreachable_code_is_no_way_around_a_barrier() -> None:
    """LLVM leaves such blocks where it knows that nobody comes: the others still meet behind the branch."""
    found = values("""
        %n = OpUConvert %i32 %gx
        OpSwitch %n %many 0 %none 1 %one 99 %never
        %never = OpLabel
        %impossible = OpIEqual %bool %n %i32_c7
        OpBranchConditional %impossible %never1 %never2
        %never1 = OpLabel
        OpUnreachable
        %never2 = OpLabel
        OpUnreachable
        %none = OpLabel
        OpBranch %end
        %one = OpLabel
        OpBranch %end
        %many = OpLabel
        %large = OpSGreaterThan %bool %n %i32_c70
        OpBranchConditional %large %never1 %end
        %end = OpLabel
        %value = OpPhi %i32 %i32_c50 %none %i32_c60 %one %n %many
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %total = OpGroupIAdd %i32 %i32_c2 Reduce %value
        %place = OpInBoundsPtrAccessChain %g_i32 %out %gx
        OpStore %place %total""")
    np.testing.assert_array_equal(found, [110 + sum(range(2, 16))] * 16)


# --------------------------------------------------------------------------------------
# What is not simulated
# --------------------------------------------------------------------------------------

SHADER = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main "main"
OpExecutionMode %main OriginUpperLeft
%void = OpTypeVoid
%type = OpTypeFunction %void
%main = OpFunction %void None %type
%entry = OpLabel
OpReturn
OpFunctionEnd
"""


def test_a_module_of_shaders() -> None:
    data = Module.from_text(SHADER).to_bytes()
    with pytest.raises(Error, match=r"is made of shaders \(Fragment 'main'\), and only kernels run here"):
        cm.build(data, device="sim:generic")
    with pytest.raises(cm.LaunchError, match="it has no kernels, only shaders: 'main'"):
        cm.build(data).kernel("main")


IMAGE = """
OpCapability Kernel
OpCapability Addresses
OpCapability ImageBasic
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %plain "plain"
OpEntryPoint Kernel %picture "picture"
%void = OpTypeVoid
%int = OpTypeInt 32 0
%pair = OpTypeVector %int 2
%seven = OpConstant %int 7
%global = OpTypePointer CrossWorkgroup %int
%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
%plain_type = OpTypeFunction %void %global
%picture_type = OpTypeFunction %void %image
%plain = OpFunction %void None %plain_type
%out = OpFunctionParameter %global
%plain_entry = OpLabel
OpStore %out %seven Aligned 4
OpReturn
OpFunctionEnd
%picture = OpFunction %void None %picture_type
%shown = OpFunctionParameter %image
%picture_entry = OpLabel
%size = OpImageQuerySize %pair %shown
OpReturn
OpFunctionEnd
"""


def test_a_kernel_with_an_image_leaves_the_others_alone() -> None:
    program = cm.build(Module.from_text(IMAGE).to_bytes(), device="sim:generic")
    out, queue = np.zeros(1, np.int32), cm.Queue("sim:generic")
    queue.enqueue(program.kernel("plain"), 1, 1, out).wait()
    assert out[0] == 7
    with pytest.raises(cm.LaunchError, match=r"argument 0 of kernel 'picture' \(image .*\): images cannot be passed"):
        queue.enqueue(program.kernel("picture"), 1, 1, 0).wait()


@pytest.mark.parametrize(("kind", "path"), [("v4_i32", "3"), ("a5_i32", "4"), ("a3_v2_i32", "2 1")])
def test_replicated_composites(kind: str, path: str) -> None:
    part = "%both" if kind.startswith("a3") else "%i32_c7"
    found = values(f"""
        %n = OpUConvert %i32 %gx
        %pair = OpCompositeConstructReplicateEXT %v2_i32 %n
        %all = OpCompositeConstructReplicateEXT %{kind} {"%pair" if part == "%both" else "%n"}
        %a = OpCompositeExtract %i32 %all {path}
        %b = OpCompositeExtract %i32 %sevens {path}
        %value = OpIMul %i32 %a %b""" + STORE, declarations=f"""
        %both = OpConstantCompositeReplicateEXT %v2_i32 %i32_c7
        %sevens = OpConstantCompositeReplicateEXT %{kind} {part}""")
    np.testing.assert_array_equal(found, 7 * ITEMS)


@pytest.mark.parametrize(("declaration", "kind", "message"), [
    ("%odd = OpConstantFunctionPointerINTEL %g_i32 %kernel", "g_i32",
     "function pointers are not supported; call functions by"),
    ("%sampler = OpTypeSampler\n%odd = OpConstantSampler %sampler None 0 Nearest", "sampler",
     "images and samplers are not supported"),
])
def test_constants_that_are_not_simulated(declaration: str, kind: str, message: str) -> None:
    with pytest.raises(Error, match=f"cannot .* '%.*Op.*, at byte 0x.*: {message}"):
        values(f"%copy = OpCopyObject %{kind} %odd\n%value = OpLoad %i32 %out" + STORE, declarations=declaration)


NUMBER = """
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
%void = OpTypeVoid
%number = {number}
%pointer = OpTypePointer CrossWorkgroup %number
%type = OpTypeFunction %void {parameter}
%kernel = OpFunction %void None %type
%x = OpFunctionParameter {parameter}
%entry = OpLabel
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize(("number", "parameter"), [
    ("OpTypeFloat 8 Float8E4M3EXT", "%number"), ("OpTypeFloat 128", "%number"), ("OpTypeFloat 128", "%pointer"),
    ("OpTypeInt 17 0", "%number"), ("OpTypeInt 17 0", "%pointer")])
def test_parameters_of_formats_that_nobody_here_has(number: str, parameter: str) -> None:
    program = cm.build(Module.from_text(NUMBER.format(number=number, parameter=parameter)).to_bytes())
    argument = 1 if parameter == "%number" else np.zeros(4, np.int32)
    with pytest.raises(Error, match=r"bits are not supported|integers of 17 bits cannot be passed"):
        cm.Queue("sim:generic").enqueue(program.kernel("kernel"), 1, 1, argument).wait()


# --------------------------------------------------------------------------------------
# What the SPIR-V translator of LLVM writes
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["c", "g"])
def test_built_in_variables_outside_of_input_storage(storage: str) -> None:
    """Their values are the same, whether read as a whole or one component of them."""
    declarations = f"%id = OpVariable %{storage}_v3_i64 {STORAGES[storage]}"
    found = values(f"""
        %all = OpLoad %v3_i64 %id
        %whole = OpCompositeExtract %i64 %all 0
        %chain = OpInBoundsAccessChain %{storage}_i64 %id %i32_c0
        %again = OpLoad %i64 %chain
        %sum = OpIAdd %i64 %whole %again
        %value = OpUConvert %i32 %sum""" + STORE,
                   declarations=declarations, decorations="OpDecorate %id BuiltIn GlobalInvocationId")
    np.testing.assert_array_equal(found, 2 * ITEMS)


def test_a_kernel_with_a_bool_and_a_generic_pointer() -> None:
    out = np.zeros(1, np.int32)
    for chosen, expected in ((True, 7), (False, -3)):
        run(module("x_i32 out, bool chosen", "%v = OpSelect %i32 %chosen %i32_c7 %i32_cm3\nOpStore %out %v Aligned 4"),
            [out, chosen], 1, 1)
        assert out[0] == expected
