"""GEMM kernels in Python and in OpenCL C that say the same, statement by statement."""

from coopmat.sycl import (
    bfloat16,
    float32,
    int8,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    ptr,
    sub_group,
    use,
)

TYPES = """
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SIGNED(operand) CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_##operand##_SIGNED
#define NONE CLK_COOPERATIVE_MATRIX_OPERAND_NONE
"""


@kernel(sub_group_size=16)
def plain(item: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32], M: int32, N: int32, K: int32):
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


PLAIN = TYPES + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void plain(global char *A, global char *B, global int *C, int M, int N, int K)
{
    ulong sg_startx = get_global_id(1) - get_local_id(1);
    ulong sg_starty = get_global_id(0) - get_local_id(0);
    char MATRIX(8, 32, A) tA;
    char MATRIX(32, 16, B) tB;
    int MATRIX(8, 16, ACCUMULATOR) tC;
    tC = coop_mat_init(0);
    for (int k = 0; k < K; k += 32) {
        tA = coop_mat_load(A + sg_startx * 8 * K + k, ROW, K);
        tB = coop_mat_load(B + k * N + sg_starty / 16 * 16, ROW, N);
        tC = coop_matmul_add(tA, tB, tC, SIGNED(A) | SIGNED(B) | SIGNED(C) | SIGNED(RESULT));
    }
    coop_mat_store(C + sg_startx * 8 * N + sg_starty / 16 * 16, tC, ROW, N);
}
"""


@kernel(sub_group_size=16)
def blocked(item: nd_item[2], A: ptr[bfloat16], B: ptr[bfloat16], C: ptr[float32], N: int32, K: int32):
    sg = item.get_sub_group()
    row = item.get_group(0) * 16
    column = item.get_group(1) * 32
    tA = [joint_matrix(sub_group, bfloat16, use.a, 8, 16, layout.row_major) for _ in range(2)]
    tB = [joint_matrix(sub_group, bfloat16, use.b, 16, 16, layout.row_major) for _ in range(2)]
    tC = [[joint_matrix(sub_group, float32, use.accumulator, 8, 16) for _ in range(2)] for _ in range(2)]
    for i in range(2):
        for j in range(2):
            joint_matrix_fill(sg, tC[i][j], 0)
    for k in range(0, K, 16):
        for i in range(2):
            joint_matrix_load(sg, tA[i], A + (row + i * 8) * K + k, K)
        for j in range(2):
            joint_matrix_load(sg, tB[j], B + k * N + column + j * 16, N)
        for i in range(2):
            for j in range(2):
                joint_matrix_mad(sg, tC[i][j], tA[i], tB[j], tC[i][j])
    for i in range(2):
        for j in range(2):
            joint_matrix_store(sg, tC[i][j], C + (row + i * 8) * N + column + j * 16, N, layout.row_major)


BLOCKED = TYPES + """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void blocked(global __bf16 *A, global __bf16 *B, global float *C, int N, int K)
{
    ulong row = get_group_id(1) * 16;
    ulong column = get_group_id(0) * 32;
    __bf16 MATRIX(8, 16, A) tA0, tA1;
    __bf16 MATRIX(16, 16, B) tB0, tB1;
    float MATRIX(8, 16, ACCUMULATOR) tC00, tC01, tC10, tC11;
    tC00 = coop_mat_init(0.0f); tC01 = coop_mat_init(0.0f); tC10 = coop_mat_init(0.0f); tC11 = coop_mat_init(0.0f);
    for (int k = 0; k < K; k += 16) {
        tA0 = coop_mat_load(A + (row + 0) * K + k, ROW, K);
        tA1 = coop_mat_load(A + (row + 8) * K + k, ROW, K);
        tB0 = coop_mat_load(B + k * N + column + 0, ROW, N);
        tB1 = coop_mat_load(B + k * N + column + 16, ROW, N);
        tC00 = coop_matmul_add(tA0, tB0, tC00, NONE);
        tC01 = coop_matmul_add(tA0, tB1, tC01, NONE);
        tC10 = coop_matmul_add(tA1, tB0, tC10, NONE);
        tC11 = coop_matmul_add(tA1, tB1, tC11, NONE);
    }
    coop_mat_store(C + (row + 0) * N + column + 0, tC00, ROW, N);
    coop_mat_store(C + (row + 0) * N + column + 16, tC01, ROW, N);
    coop_mat_store(C + (row + 8) * N + column + 0, tC10, ROW, N);
    coop_mat_store(C + (row + 8) * N + column + 16, tC11, ROW, N);
}
"""


@kernel(sub_group_size=16)
def epilogue(item: nd_item[2], A: ptr[bfloat16], B: ptr[bfloat16], C: ptr[float32], K: int32, alpha: float32):
    def scaled(x, alpha):
        return x * alpha if x > 0 else 0.0

    sg = item.get_sub_group()
    tA = joint_matrix(sub_group, bfloat16, use.a, 8, 16, layout.row_major)
    tB = joint_matrix(sub_group, bfloat16, use.b, 16, 16, layout.row_major)
    tC = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_fill(sg, tC, 0)
    for k in range(0, K, 16):
        joint_matrix_load(sg, tA, A + k, K)
        joint_matrix_load(sg, tB, B + k * 16, 16)
        joint_matrix_mad(sg, tC, tA, tB, tC)
    joint_matrix_apply(sg, tC, lambda x: scaled(x, alpha))
    joint_matrix_store(sg, tC, C, 16, layout.row_major)


EPILOGUE = TYPES + """
static float scaled(float x, float alpha)
{
    return x > 0 ? x * alpha : 0.0f;
}
static float apply(float alpha, float x) /* what a lambda captures comes first, as in C++ its object does */
{
    return scaled(x, alpha);
}
static float each(uint row, uint column, float x, float alpha)
{
    return apply(alpha, x);
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void epilogue(global __bf16 *A, global __bf16 *B, global float *C, int K, float alpha)
{
    __bf16 MATRIX(8, 16, A) tA;
    __bf16 MATRIX(16, 16, B) tB;
    float MATRIX(8, 16, ACCUMULATOR) tC;
    tC = coop_mat_init(0.0f);
    for (int k = 0; k < K; k += 16) {
        tA = coop_mat_load(A + k, ROW, K);
        tB = coop_mat_load(B + k * 16, ROW, 16);
        tC = coop_matmul_add(tA, tB, tC, NONE);
    }
    tC = coop_mat_apply(tC, each, alpha);
    coop_mat_store(C, tC, ROW, 16);
}
"""


@kernel(sub_group_size=16)
def with_bias(item: nd_item[1], C: ptr[float32], bias: ptr[float32]):
    tC = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
    joint_matrix_load(item.get_sub_group(), tC, C, 16, layout.row_major)
    joint_matrix_apply(item.get_sub_group(), tC, lambda x, row, col: x + bias[col])
    joint_matrix_store(item.get_sub_group(), tC, C, 8, layout.col_major)


WITH_BIAS = TYPES + """
static float apply(global float *bias, float x, ulong row, ulong col)
{
    return x + bias[col];
}
static float each(uint row, uint column, float x, global float *bias)
{
    return apply(bias, x, row, column);
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void with_bias(global float *C, global float *bias)
{
    float MATRIX(8, 16, ACCUMULATOR) tC;
    tC = coop_mat_load(C, ROW, 16);
    tC = coop_mat_apply(tC, each, bias);
    coop_mat_store(C, tC, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8);
}
"""
