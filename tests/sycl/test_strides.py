"""NVIDIA's rule for strides: multiples of 8 for half and of 4 for float, in Python and in OpenCL C."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.sycl import (
    bfloat16,
    float32,
    float64,
    half,
    int8,
    int32,
    joint_matrix,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    precision,
    ptr,
    sub_group,
    use,
)

NVIDIA = [name for name in ARCHITECTURES if name.startswith("nvidia")]
SOURCE = """
typedef half A_type __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef float C_type
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

kernel void load_a(global const half *a, uint stride)
{
    A_type m = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, stride);
}
kernel void store_c(global float *c, uint stride)
{
    C_type m = coop_mat_init(0.0f);
    coop_mat_store(c, m, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, stride);
}
"""


def kernel_of(T, C, m, n, k):
    """D = A*B + C with a stride for A and B, and one for C and D."""
    @kernel
    def multiply(item: nd_item[1], A: ptr[T.storage], B: ptr[T.storage], D: ptr[C], stride: int32, stride_of_D: int32):
        sg = item.get_sub_group()
        a = joint_matrix(sub_group, T, use.a, m, k, layout.row_major)
        b = joint_matrix(sub_group, T, use.b, k, n, layout.col_major)
        d = joint_matrix(sub_group, C, use.accumulator, m, n)
        joint_matrix_load(sg, a, A, stride)
        joint_matrix_load(sg, b, B, stride)
        joint_matrix_load(sg, d, D, stride_of_D, layout.row_major)
        joint_matrix_mad(sg, d, a, b, d)
        joint_matrix_store(sg, d, D, stride_of_D, layout.row_major)
    return multiply


def launch(architecture: str, given: tuple, stride: int, stride_of_d: int) -> None:
    size = ARCHITECTURES[architecture].sub_group_sizes[0]
    T, C, m, n, _ = given
    arrays = np.zeros((m, stride), T.dtype), np.zeros((n, stride), T.dtype), np.zeros((m, stride_of_d), C.dtype)
    cm.Queue(f"sim:{architecture}").parallel_for(nd_range(size, size), kernel_of(*given), *arrays, stride,
                                                 stride_of_d).wait()


HALF_TO_FLOAT, HALF_TO_HALF = (half, float32, 16, 16, 16), (half, half, 16, 16, 16)


@pytest.mark.parametrize("architecture", NVIDIA)
@pytest.mark.parametrize(("given", "strides", "line", "rule"), [
    (HALF_TO_FLOAT, (20, 16), "joint_matrix_load(sg, a, A, stride)", r"multiple of 8 elements .* it is 20"),
    (HALF_TO_FLOAT, (17, 16), "joint_matrix_load(sg, a, A, stride)", r"multiple of 8 elements .* it is 17"),
    (HALF_TO_FLOAT, (16, 18), "joint_matrix_load(sg, d, D, stride_of_D", r"multiple of 4 elements .* it is 18"),
    (HALF_TO_HALF, (16, 20), "joint_matrix_load(sg, d, D, stride_of_D", r"multiple of 8 elements .* it is 20")])
def test_a_stride_that_nvidia_devices_refuse(architecture: str, given: tuple, strides: tuple[int, int], line: str,
                                             rule: str) -> None:
    with pytest.raises(cm.Misaligned, match=rule) as error:
        launch(architecture, given, *strides)
    assert architecture in str(error.value)
    file, number, *_ = str(error.value.where.location).split(":")
    assert file == __file__
    with open(__file__, encoding="utf-8") as text:
        assert line in text.read().splitlines()[int(number) - 1]


@pytest.mark.parametrize(("given", "strides"), [
    (HALF_TO_FLOAT, (24, 20)), (HALF_TO_HALF, (16, 24)), ((int8, int32, 16, 16, 16), (17, 17)),
    ((bfloat16, float32, 16, 16, 16), (19, 28)), ((precision.tf32, float32, 16, 16, 8), (9, 36)),
    ((float64, float64, 8, 8, 4), (5, 9))])
def test_strides_that_nvidia_devices_accept(given: tuple, strides: tuple[int, int]) -> None:
    launch("nvidia_gpu_sm_90", given, *strides)


def test_other_devices_have_no_rule() -> None:
    launch("amd_gpu_gfx90a", HALF_TO_FLOAT, 17, 19)
    launch("intel_gpu_pvc", (half, float32, 8, 16, 16), 17, 19)
    launch("generic", HALF_TO_HALF, 17, 19)


@pytest.mark.parametrize(("name", "dtype", "stride", "line", "rule"), [
    ("load_a", np.float16, 20, 8, "multiple of 8 elements"), ("store_c", np.float32, 18, 13, "multiple of 4 elements")])
def test_the_rule_holds_in_opencl_c(name: str, dtype: type, stride: int, line: int, rule: str) -> None:
    program = cm.build(SOURCE, device=cm.device("sim:nvidia_gpu_sm_80"))
    queue, memory = cm.Queue("sim:nvidia_gpu_sm_80"), np.zeros((16, 32), dtype)
    with pytest.raises(cm.Misaligned, match=f"nvidia_gpu_sm_80 the stride .* {rule} .* it is {stride}") as error:
        queue.enqueue(program.kernel(name), 32, 32, memory, stride)
    assert f":{line}:" in str(error.value.where.location)
    queue.enqueue(program.kernel(name), 32, 32, memory, 24).wait()
