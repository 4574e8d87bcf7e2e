"""Combinations of types and shapes that a device does not have, and a kernel of each."""

from typing import Any, NamedTuple

from coopmat.sycl import (
    architecture,
    bfloat16,
    float32,
    float64,
    half,
    int8,
    int32,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_mad,
    kernel,
    layout,
    matrix_params,
    nd_item,
    precision,
    ptr,
    sub_group,
    uint8,
    uint32,
    use,
)


class Unsupported(NamedTuple):
    """What a device does not have: element types of A, B, C and D, and M, N and K; and what the error says."""

    architecture: str
    matrices: tuple[Any, ...]
    message: str = "does not support the matrix multiply-accumulate .* nearest supported: "

    def __str__(self) -> str:
        return f"{self.architecture}: {' '.join(map(str, self.matrices))}"


BF16, FP16 = (bfloat16, bfloat16, float32, float32), (half, half, float32, float32)
TF32, INT8 = (precision.tf32, precision.tf32, float32, float32), (int8, int8, int32, int32)

UNSUPPORTED = [
    Unsupported("intel_gpu_pvc", (*INT8, 16, 16, 32), "sint8.sint8 . sint32 -> sint32, M=16 N=16 K=32; nearest "
                                                      "supported: sint8.sint8 . sint32 -> sint32, M<=8 N=16 K=32"),
    Unsupported("intel_gpu_pvc", (*INT8, 8, 8, 32)),
    Unsupported("intel_gpu_pvc", (*INT8, 8, 16, 16)),
    Unsupported("intel_gpu_pvc", (*TF32, 8, 16, 16)),
    Unsupported("intel_gpu_pvc", (half, half, float32, half, 8, 16, 16)),
    Unsupported("intel_gpu_pvc", (half, half, half, half, 8, 16, 16)),
    Unsupported("intel_gpu_pvc", (float64,) * 4 + (8, 8, 4)),
    Unsupported("intel_gpu_pvc", (int8, int8, int32, uint32, 8, 16, 32)),
    Unsupported("intel_gpu_pvc", (int8, int8, uint32, uint32, 8, 16, 32)),
    Unsupported("intel_gpu_dg2_g10", (*INT8, 8, 16, 32)),
    Unsupported("intel_gpu_dg2_g12", (*TF32, 8, 8, 8)),
    Unsupported("intel_cpu_spr", (*FP16, 16, 16, 32)),
    Unsupported("intel_cpu_spr", (*BF16, 16, 16, 33)),
    Unsupported("intel_cpu_spr", (*INT8, 17, 16, 64)),
    Unsupported("intel_cpu_gnr", (half, half, half, half, 16, 16, 32)),
    Unsupported("nvidia_gpu_sm_70", (*INT8, 16, 16, 16)),
    Unsupported("nvidia_gpu_sm_72", (*BF16, 16, 16, 16)),
    Unsupported("nvidia_gpu_sm_75", (*TF32, 16, 16, 8)),
    Unsupported("nvidia_gpu_sm_80", (int8, uint8, int32, int32, 16, 16, 16)),
    Unsupported("nvidia_gpu_sm_80", (*TF32, 8, 32, 8)),
    Unsupported("nvidia_gpu_sm_80", (float32,) * 4 + (16, 16, 8)),
    Unsupported("nvidia_gpu_sm_90", (*FP16, 16, 16, 32)),
    Unsupported("nvidia_gpu_sm_90", (*FP16, 8, 16, 16)),
    Unsupported("amd_gpu_gfx90a", (half, half, half, half, 16, 16, 16)),
    Unsupported("amd_gpu_gfx90a", (*FP16, 16, 16, 8)),
    Unsupported("amd_gpu_gfx90a", (uint8, uint8, int32, int32, 16, 16, 16)),
]


def product_of(Ta, Tb, Tc, Td, m, n, k):
    """A kernel that writes to memory and then multiplies."""
    @kernel
    def multiply(item: nd_item[1], C: ptr[int32]):
        sg = item.get_sub_group()
        C[item.get_global_id(0)] = 1
        a = joint_matrix(sub_group, Ta, use.a, m, k, layout.row_major)
        b = joint_matrix(sub_group, Tb, use.b, k, n, layout.row_major)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        d = joint_matrix(sub_group, Td, use.accumulator, m, n)
        joint_matrix_fill(sg, a, 1)
        joint_matrix_fill(sg, b, 1)
        joint_matrix_fill(sg, c, 0)
        joint_matrix_mad(sg, d, a, b, c)
    return multiply


def filled(T, role, rows, columns):
    """A kernel that has a single matrix."""
    Layout = layout.dynamic if role is use.accumulator else layout.row_major

    @kernel
    def fill(item: nd_item[1], C: ptr[int32]):
        C[item.get_global_id(0)] = 1
        m = joint_matrix(sub_group, T, role, rows, columns, Layout)
        joint_matrix_fill(item.get_sub_group(), m, 1)
    return fill


@kernel
def declared(item: nd_item[1], C: ptr[int32]):
    """A matrix that nothing is done with."""
    C[item.get_global_id(0)] = 1
    _m = joint_matrix(sub_group, int8, use.a, 9, 32, layout.row_major)


@kernel
def in_helpers(item: nd_item[1], C: ptr[int32]):
    def made(depth):
        m = joint_matrix(sub_group, int8, use.a, 8, 16 * depth, layout.row_major)
        joint_matrix_fill(item.get_sub_group(), m, depth)

    C[item.get_global_id(0)] = 1
    made(2)
    made(3)


@kernel
def chosen(item: nd_item[1], C: ptr[int32]):
    """What is not compiled, because its condition is known to be false, need not be supported."""
    C[item.get_global_id(0)] = 1
    if matrix_params(architecture.intel_gpu_pvc, int8, int8, int32).M > 8:
        m = joint_matrix(sub_group, int8, use.a, 16, 32, layout.row_major)
    else:
        m = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    joint_matrix_fill(item.get_sub_group(), m, 1)


MATRICES = [("intel_gpu_pvc", float64, use.a, 8, 4), ("intel_gpu_pvc", int8, use.a, 9, 32),
            ("intel_gpu_pvc", int8, use.b, 16, 32), ("intel_gpu_pvc", int8, use.accumulator, 8, 16),
            ("intel_cpu_spr", half, use.a, 8, 16), ("intel_cpu_spr", bfloat16, use.b, 33, 16),
            ("nvidia_gpu_sm_75", bfloat16, use.a, 16, 16), ("nvidia_gpu_sm_80", float32, use.a, 16, 8),
            ("intel_gpu_pvc", uint32, use.accumulator, 8, 16), ("intel_cpu_spr", float32, use.b, 8, 16),
            ("amd_gpu_gfx90a", bfloat16, use.a, 16, 4), ("amd_gpu_gfx90a", float32, use.accumulator, 16, 32)]
