"""The twenty-line GEMM in Python, whose compilation is measured."""

from coopmat.sycl import *


@kernel(sub_group_size=16)
def gemm(item: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32], M: int32, N: int32, K: int32):
    sg = item.get_sub_group()
    sg_startx = item.get_global_id(0) - item.get_local_id(0)
    sg_starty = item.get_global_id(1) - item.get_local_id(1)
    tA = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    tB = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    tC = joint_matrix(sub_group, int32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, tC, 0)
    for k in range(0, K, 32):
        joint_matrix_load(sg, tA, A + sg_startx * 8 * K + k, K)
        joint_matrix_load(sg, tB, B + k * N + sg_starty // 16 * 16, N)
        joint_matrix_mad(sg, tC, tA, tB, tC)
    joint_matrix_store(sg, tC, C + sg_startx * 8 * N + sg_starty // 16 * 16, N, layout.row_major)
