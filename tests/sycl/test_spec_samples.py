"""The samples of the extension on every simulated device that has their types: results, what the SPIR-V says of hints
and types, and whether our validator and SPIRV-Tools find the module valid; and the samples about queries."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.sycl import (
    SYCL_EXT_ONEAPI_MATRIX,
    architecture,
    device,
    errc,
    exception,
    float32,
    info,
    int8,
    int32,
    kernel,
    matrix_params,
    nd_item,
    nd_range,
    precision,
    ptr,
    queue,
)
from tests.kit.sycl.spec_samples import SAMPLES, WITH_BYTES, WITH_TF32, Sample, copy_of, shape

RUNS = [pytest.param(sample, name, id=f"{sample.name}-{name}") for sample in SAMPLES for name in sample.architectures]


@pytest.mark.parametrize(("sample", "name"), RUNS)
def test_result(sample: Sample, name: str) -> None:
    launch = sample.make(name)
    queue(f"sim:{name}").parallel_for(launch.range, launch.kernel, *launch.arguments).wait()
    np.testing.assert_array_equal(launch.result, launch.expected)


def built(sample: Sample, name: str) -> cm.Program:
    return cm.build(sample.make(name).kernel, device=f"sim:{name}")


@pytest.mark.parametrize(("sample", "name"), RUNS)
def test_module(sample: Sample, name: str) -> None:
    """It is valid, and hints, prefetch levels and tf32 flags are in it."""
    program = built(sample, name)
    assert program.module.validate() == []
    for pattern in sample.shows:
        assert re.search(pattern, program.spirv_asm, re.S), pattern


def spirv_val(module: Module) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["spirv-val", "--target-env", "spv1.4", "-"], input=module.to_bytes(),
                          capture_output=True, check=False)


def is_known(module: Module) -> bool:
    """Whether the installed spirv-val knows the capabilities and extensions of a module."""
    lines = module.to_text().splitlines()
    head = [line for line in lines if line.split()[:1] in (["OpCapability"], ["OpExtension"])]
    probe = Module.from_text("\n".join(["OpCapability Linkage", *head, "OpMemoryModel Physical64 OpenCL", ""]))
    return spirv_val(probe).returncode == 0


@pytest.mark.oracle("spirv-val")
@pytest.mark.parametrize(("sample", "name"), RUNS)
def test_spirv_val(sample: Sample, name: str) -> None:
    module = built(sample, name).module
    if not is_known(module):
        pytest.skip(f"this spirv-val does not know all of {', '.join(module.extensions)}")
    found = spirv_val(module)
    assert found.returncode == 0, found.stderr.decode()


# ------------------------------------------------------------------ samples without a kernel, and what they refuse


@pytest.mark.parametrize("name", WITH_TF32)
def test_copy_of_tf32_is_refused_where_no_table_has_its_accumulator(name: str) -> None:
    """M x K is no shape of an accumulator there; the submission says so before anything runs."""
    tM, _, tK = shape(name, precision.tf32, precision.tf32, float32)
    launch = copy_of(name, precision.tf32, tM, tK)
    with pytest.raises(cm.KernelNotSupported, match=f"{tM}x{tK} fp32 matrix with use 'accumulator'") as caught:
        queue(f"sim:{name}").parallel_for(launch.range, launch.kernel, *launch.arguments)
    assert caught.value.code() is errc.kernel_not_supported
    assert not launch.result.any()


def test_validation_example() -> None:
    """Sixteen rows are too many for int8 on PVC; eight are not."""
    with pytest.raises(exception, match=r"intel_gpu_pvc does not support .* M=16 N=16 K=32"):
        matrix_params(architecture.intel_gpu_pvc, int8, int8, int32, int32, 16, 16, 32)
    myparams = matrix_params(architecture.intel_gpu_pvc, int8, int8, int32, int32, 8, 16, 32)
    assert (64 // myparams.M, 64 // myparams.N) == (8, 4)


@pytest.mark.parametrize("name", WITH_BYTES)
def test_runtime_query_example(name: str) -> None:
    """The loop over the combinations finds the shapes that the compile-time query takes."""
    Ta = Tb = int8
    Tc = Td = int32
    found = []
    for one in device(f"sim:{name}").get_info(info.device.matrix_combinations):
        if Ta == one.atype and Tb == one.btype and Tc == one.ctype and Td == one.dtype:
            found.append((one.max_msize or one.msize, one.max_nsize or one.nsize, one.max_ksize or one.ksize))
    assert found
    for sizes in found:
        params = matrix_params(architecture(name), Ta, Tb, Tc, Td, *sizes)
        assert sizes == (params.M, params.N, params.K)


def test_feature_test_macro() -> None:
    """Known on the host, and when a kernel is compiled."""
    found = np.zeros(1, np.int32)

    @kernel
    def version(item: nd_item[1], out: ptr[int32]):
        if SYCL_EXT_ONEAPI_MATRIX == 1:
            out[0] = SYCL_EXT_ONEAPI_MATRIX

    queue("sim:generic").parallel_for(nd_range(1, 1), version, found).wait()
    assert found[0] == SYCL_EXT_ONEAPI_MATRIX == 1
