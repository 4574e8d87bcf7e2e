"""The rules about devices: what a valid module asks of each."""

from __future__ import annotations

import pytest

from coopmat.devices import ARCHITECTURES, describe
from coopmat.diagnostics import Error
from coopmat.spirv import Module
from tests.kit.spirv.case import kernel

COMPONENTS = {"sint8": "uchar", "uint8": "uchar", "sint32": "uint", "uint32": "uint", "fp16": "half",
              "bf16": "bfloat16", "fp32": "float", "fp64": "double", "tf32": "float"}
NEEDS = {"bf16": ("BFloat16CooperativeMatrixKHR", ""),
         "tf32": ("CooperativeMatrixTF32ComponentTypeINTEL", "SPV_INTEL_joint_matrix")}
SIGNS = ("MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR", "MatrixCSignedComponentsKHR",
         "MatrixResultSignedComponentsKHR")
INT8 = ("sint8", "sint8", "sint32", "sint32")


def product(formats: tuple[str, str, str, str], m: int, n: int, k: int) -> Module:
    """A kernel with one multiply-accumulate of these formats and sizes."""
    a, b, c, d = (COMPONENTS[name] for name in formats)
    flags = [flag for flag, name in zip(SIGNS, formats, strict=True) if name.startswith("sint")]
    if "tf32" in formats:
        flags.append("MatrixAAndBTF32ComponentsINTEL")
    needs = [NEEDS[name] for name in {*formats} & {*NEEDS}]
    return Module.from_text(kernel(
        f"%a = OpUndef %matrix_a_{m}x{k}_{a}\n%b = OpUndef %matrix_b_{k}x{n}_{b}\n"
        f"%c = OpUndef %matrix_acc_{m}x{n}_{c}\n"
        f"%d = OpCooperativeMatrixMulAddKHR %matrix_acc_{m}x{n}_{d} %a %b %c {'|'.join(flags)}",
        capabilities=" ".join(need[0] for need in needs), extensions=" ".join(need[1] for need in needs)))


def test_a_device_without_the_combination() -> None:
    source = product(INT8, 8, 8, 32)
    assert source.validate() == []
    (found,) = source.validate("sim:intel_gpu_pvc")
    assert (found.rule, found.severity) == ("device-matrix", "error")
    assert "nearest supported: sint8*sint8 + sint32 -> sint32, M<=8 N=16 K=32" in found.message
    assert found.instruction is not None
    assert "OpCooperativeMatrixMulAddKHR" in found.instruction
    assert source.validate("sim:intel_gpu_dg2_g10") == []


def test_a_device_without_the_sub_group_size() -> None:
    source = Module.from_text(kernel("", modes="OpExecutionMode %main SubgroupSize 8", capabilities="SubgroupDispatch"))
    (found,) = source.validate("intel_gpu_pvc")
    assert (found.rule, found.message) == ("device-sub-group-size",
                                           "intel_gpu_pvc has no sub-groups of 8; its sizes are 16, 32")
    assert source.validate(describe("intel_gpu_dg2_g10")) == []


def test_a_device_without_a_capability() -> None:
    source = Module.from_text(kernel("%x = OpUndef %double"))
    (found,) = source.validate("sim:intel_gpu_dg2_g10")
    assert found.rule == "device-capability"
    assert "does not have cl_khr_fp64, which the capability Float64 needs" in found.message
    assert source.validate("sim:intel_gpu_pvc") == []


def test_rounding_to_tf32_is_simulated_everywhere() -> None:
    source = Module.from_text(kernel("%x = OpUndef %float\n%y = OpRoundFToTF32INTEL %float %x",
                                     capabilities="TensorFloat32RoundingINTEL",
                                     extensions="SPV_INTEL_tensor_float32_conversion"))
    assert source.validate("sim:intel_gpu_pvc") == []
    (found,) = source.validate("sim:nvidia_gpu_sm_80")
    assert (found.rule, found.severity) == ("device-simulated", "warning")
    assert "cl_intel_subgroup_matrix_multiply_accumulate_tf32" in found.message


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_row_of_the_tables_is_valid_on_its_device(name: str) -> None:
    for row in describe(name).combinations:
        m, n, k = (exact or limit for exact, limit in (
            (row.msize, row.max_msize), (row.nsize, row.max_nsize), (row.ksize, row.max_ksize)))
        assert product(row.types, m, n, k).validate(f"sim:{name}") == [], str(row)
        assert product(row.types, m + 70, n + 70, k + 70).validate(f"sim:{name}") != [], str(row)


def test_a_device_is_asked_of_valid_modules_only() -> None:
    source = product(INT8, 8, 8, 32)
    source.instructions[-3].words = (1, 1, 1)  # ids of no matrices
    assert source.validate() != []
    assert "device-matrix" not in {found.rule for found in source.validate("sim:intel_gpu_pvc")}


def test_what_is_no_device() -> None:
    source = product(INT8, 8, 8, 32)
    with pytest.raises(Error, match="did you mean 'intel_gpu_pvc'"):
        source.validate("sim:intel_gpu_pcv")
    with pytest.raises(Error, match=r"a device is a coopmat.Device or a name such as 'sim:generic', not int"):
        source.validate(3)  # type: ignore[arg-type]
