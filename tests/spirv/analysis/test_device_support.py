"""What a module needs of a device, and the message when the device does not have it."""

from __future__ import annotations

import pytest

from coopmat.devices import ARCHITECTURES, describe
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.device_support import check_supported
from coopmat.spirv.analysis.matrix_uses import MultiplyAccumulate, required_matrix_uses
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from tests.kit.targets.short_kernels import module

KINDS = {"sint8": "i8", "uint8": "i8", "sint32": "i32", "uint32": "i32", "fp16": "f16", "bf16": "bf16", "fp32": "f32",
         "fp64": "f64", "tf32": "f32"}
SIGNS = ("MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR", "MatrixCSignedComponentsKHR",
         "MatrixResultSignedComponentsKHR")


def product(formats: tuple[str, str, str, str], m: int, n: int, k: int, signs: str = "abcd") -> Module:
    """A kernel with one multiply-accumulate; ``signs`` are the operands whose flags are set if signed."""
    a, b, c, d = (KINDS[name] for name in formats)
    flags = [flag for flag, name, letter in zip(SIGNS, formats, "abcd", strict=True)
             if name.startswith("sint") and letter in signs]
    if "tf32" in formats:
        flags.append("MatrixAAndBTF32ComponentsINTEL")
    return module("", f"""
        %a = OpUndef %m_{a}_{m}x{k}_0
        %b = OpUndef %m_{b}_{k}x{n}_1
        %c = OpUndef %m_{c}_{m}x{n}_2
        %d = OpCooperativeMatrixMulAddKHR %m_{d}_{m}x{n}_2 %a %b %c {"|".join(flags)}""")


def test_uses_are_found_in_called_functions_only() -> None:
    functions = """
        %f_type = OpTypeFunction %void
        %called = OpFunction %void None %f_type
        %called_entry = OpLabel
        %m = OpUndef %m_f16_4x4_0
        OpReturn
        OpFunctionEnd
        %idle = OpFunction %void None %f_type
        %idle_entry = OpLabel
        %n = OpUndef %m_f16_5x5_0
        OpReturn
        OpFunctionEnd"""
    uses = required_matrix_uses(module("", "%x = OpFunctionCall %void %called", functions=functions))
    assert [(kind.rows, kind.columns) for kind in uses.matrices] == [(4, 4)]
    assert uses.operations == {}


def test_an_operation_covers_its_matrices() -> None:
    uses = required_matrix_uses(product(("sint8", "sint8", "sint32", "sint32"), 8, 16, 32))
    assert uses.matrices == {}
    assert list(uses.operations) == [MultiplyAccumulate(("sint8", "sint8", "sint32", "sint32"), 8, 16, 32)]


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "generic"])
def test_every_row_of_the_tables_is_supported(name: str) -> None:
    description = describe(name)
    for row in description.combinations:
        m, n, k = (exact or limit for exact, limit in (
            (row.msize, row.max_msize), (row.nsize, row.max_nsize), (row.ksize, row.max_ksize)))
        for signs in ("abcd", "ab"):  # without a flag the accumulators may be meant as either
            check_supported(product(row.types, m, n, k, signs), description)
        with pytest.raises(KernelNotSupported):
            check_supported(product(row.types, m + 70, n + 70, k + 70), description)


def test_the_message_names_the_combination_the_device_and_the_nearest_ones() -> None:
    source = product(("sint8", "sint8", "sint32", "sint32"), 8, 8, 32)
    with pytest.raises(KernelNotSupported) as error:
        simulator.compile(source, describe("intel_gpu_pvc"))
    assert str(error.value).startswith("intel_gpu_pvc does not support the matrix multiply-accumulate "
                                       "sint8*sint8 + sint32 -> sint32, M=8 N=8 K=32; nearest supported: ")
    assert "sint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32" in str(error.value)
    simulator.compile(source, describe("generic"))


def test_absent_flags_mean_unsigned_operands() -> None:
    source = product(("sint8", "sint8", "sint32", "sint32"), 8, 16, 32, signs="")
    (operation,) = required_matrix_uses(source).operations
    assert operation.formats == ("uint8", "uint8", "uint32", "uint32")
    check_supported(source, describe("intel_gpu_pvc"))  # uint8*uint8 + sint32 -> sint32 is in its table


def test_a_matrix_that_occurs_in_no_operation() -> None:
    check_supported(module("", "%m = OpUndef %m_i8_8x32_0"), describe("intel_gpu_pvc"))
    with pytest.raises(KernelNotSupported, match="does not support a 9x32 sint8 matrix with use 'a'"):
        check_supported(module("", "%m = OpUndef %m_i8_9x32_0"), describe("intel_gpu_pvc"))
    check_supported(module("", "%m = OpUndef %m_f32_8x8_0"), describe("intel_gpu_pvc"))  # tf32 in its container
    check_supported(module("", "%m = OpUndef %m_i32_9x9_2"), describe("generic"))


def test_what_lies_between_two_conversions_is_asked_of_no_device() -> None:
    """A of bf16 becomes B by way of an accumulator of bf16, which the device does not have."""
    conversions = """
        %a = OpUndef %m_bf16_16x16_0
        %c = OpCooperativeMatrixConvertUseEXT %m_bf16_16x16_2 %a
        %b = OpCooperativeMatrixConvertUseEXT %m_bf16_16x16_1 %c"""
    uses = required_matrix_uses(module("", conversions))
    assert sorted(kind.use for kind in uses.matrices) == [0, 1]
    check_supported(module("", conversions), describe("intel_gpu_pvc"))
    used = conversions + """
        %v = OpVariable %p_m_bf16_16x16_2 Function
        OpStore %v %c"""
    with pytest.raises(KernelNotSupported, match="16x16 bf16 matrix with use 'accumulator'"):
        check_supported(module("", used), describe("intel_gpu_pvc"))
    with pytest.raises(KernelNotSupported, match="16x16 bf16 matrix with use 'accumulator'"):  # the last one of all
        check_supported(module("", """
            %a = OpUndef %m_bf16_16x16_0
            %c = OpCooperativeMatrixConvertUseEXT %m_bf16_16x16_2 %a"""), describe("intel_gpu_pvc"))


def test_tf32_is_named() -> None:
    wanted = product(("tf32", "tf32", "fp32", "fp32"), 16, 16, 8)
    check_supported(wanted, describe("nvidia_gpu_sm_80"))
    check_supported(product(("tf32", "tf32", "fp32", "fp32"), 8, 16, 8), describe("intel_gpu_pvc"))
    for device in ("nvidia_gpu_sm_75", "amd_gpu_gfx90a", "intel_gpu_dg2_g10", "intel_cpu_gnr"):
        with pytest.raises(KernelNotSupported, match=rf"{device} does not support the matrix multiply-accumulate "
                                                     r"tf32\*tf32 \+ fp32 -> fp32, M=16 N=16 K=8"):
            check_supported(wanted, describe(device))


def test_kernels_are_checked_one_by_one() -> None:
    source = product(("fp16", "fp16", "fp32", "fp32"), 3, 3, 3)
    check_supported(source, describe("intel_gpu_pvc"), kernel="another")
    with pytest.raises(KernelNotSupported):
        check_supported(source, describe("intel_gpu_pvc"), kernel="kernel")


def test_kernel_information() -> None:
    program = simulator.compile(module("g_f32 out, w_i32 t, i64 n", "OpNop", modes=["SubgroupSize 16"]),
                                describe("generic"))
    kernel = program.kernels["kernel"]
    assert (kernel.name, kernel.required_sub_group_size, kernel.required_local_size) == ("kernel", 16, None)
    assert [(p.name, p.kind) for p in kernel.parameters] == [("out", "global"), ("t", "local"), ("n", "value")]
    assert kernel.matrix_uses.operations == {}
