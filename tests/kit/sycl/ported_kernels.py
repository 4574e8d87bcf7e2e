"""The usual joint_matrix programs, written from their descriptions: each function makes the kernel for element types
and a shape of the matrices (``tile``: element types of A and B, and of C, and M, N, K)."""

import math

from coopmat.sycl import (
    const,
    float32,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_fill_checked,
    joint_matrix_load,
    joint_matrix_load_checked,
    joint_matrix_mad,
    joint_matrix_prefetch,
    joint_matrix_store,
    joint_matrix_store_checked,
    kernel,
    layout,
    local_accessor,
    nd_item,
    prefetch_hint_L2,
    prefetch_hint_L3,
    properties,
    ptr,
    round_to_tf32,
    sub_group,
    use,
)

ROW, COLUMN = layout.row_major, layout.col_major


def register_blocked(tile, rows, columns, order_of_a=ROW, order_of_b=ROW):
    """C += A*B, where each sub-group computes rows x columns matrices; A and B lie in memory in either layout."""
    T, Tc, m, n, k = tile

    @kernel
    def gemm(item: nd_item[2], A: ptr[const[T.storage]], B: ptr[const[T.storage]], C: ptr[Tc], M: int32, N: int32,
             K: int32):
        sg = item.get_sub_group()
        first_row = item.get_group(0) * rows * m
        first_column = item.get_group(1) * columns * n
        a = [joint_matrix(sub_group, T, use.a, m, k, order_of_a) for _ in range(rows)]
        b = [joint_matrix(sub_group, T, use.b, k, n, order_of_b) for _ in range(columns)]
        c = [[joint_matrix(sub_group, Tc, use.accumulator, m, n) for _ in range(columns)] for _ in range(rows)]
        for i in range(rows):
            for j in range(columns):
                joint_matrix_load(sg, c[i][j], C + (first_row + i * m) * N + first_column + j * n, N, ROW)
        for inner in range(0, K, k):
            for i, part in enumerate(a):
                row = first_row + i * m
                if order_of_a == ROW:
                    joint_matrix_load(sg, part, A + row * K + inner, K)
                else:
                    joint_matrix_load(sg, part, A + inner * M + row, M)
            for j, part in enumerate(b):
                column = first_column + j * n
                if order_of_b == ROW:
                    joint_matrix_load(sg, part, B + inner * N + column, N)
                else:
                    joint_matrix_load(sg, part, B + column * K + inner, K)
            for i in range(rows):
                for j in range(columns):
                    joint_matrix_mad(sg, c[i][j], a[i], b[j], c[i][j])
        for i in range(rows):
            for j in range(columns):
                joint_matrix_store(sg, c[i][j], C + (first_row + i * m) * N + first_column + j * n, N, ROW)

    return gemm


def gelu(x):
    """x times the normal distribution's probability of less than x."""
    return 0.5 * x * (1 + math.erf(x * 0.7071067811865476))


def relu(x):
    return x if x > 0 else 0


def with_bias(tile, activation):
    """D = activation(A*B + bias of the column)."""
    T, Tc, m, n, k = tile

    @kernel
    def layer(item: nd_item[2], A: ptr[T.storage], B: ptr[T.storage], bias: ptr[float32], D: ptr[Tc], N: int32,
              K: int32):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n

        def finished(x, _, j):
            return activation(x + bias[column + j])

        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        joint_matrix_fill(sg, c, 0)
        for inner in range(0, K, k):
            joint_matrix_load(sg, a, A + row * K + inner, K)
            joint_matrix_load(sg, b, B + inner * N + column, N)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_apply(sg, c, finished)
        joint_matrix_store(sg, c, D + row * N + column, N, ROW)

    return layer


def through_local_memory(tile, rows, columns, depth):
    """C = A*B: each work-group of rows x columns sub-groups copies blocks of A and B to local memory, ``depth``
    matrices deep, which its sub-groups share."""
    T, Tc, m, n, k = tile
    height, width, step = rows * m, columns * n, depth * k
    block_of_a = local_accessor[T.storage, 2]((height, step))
    block_of_b = local_accessor[T.storage, 2]((step, width))

    @kernel
    def gemm(item: nd_item[2], A: ptr[T.storage], B: ptr[T.storage], C: ptr[Tc], N: int32, K: int32):
        sg = item.get_sub_group()
        work_item, work_items = item.get_local_linear_id(), item.get_group().get_local_linear_range()
        first_row, first_column = item.get_group(0) * height, item.get_group(1) * width
        i, j = sg.get_group_linear_id() // columns * m, sg.get_group_linear_id() % columns * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        joint_matrix_fill(sg, c, 0)
        for block in range(0, K, step):
            for index in range(work_item, height * step, work_items):
                y, x = index // step, index % step
                block_of_a[y, x] = A[(first_row + y) * K + block + x]
            for index in range(work_item, step * width, work_items):
                y, x = index // width, index % width
                block_of_b[y, x] = B[(block + y) * N + first_column + x]
            item.barrier()
            for inner in range(0, step, k):
                joint_matrix_load(sg, a, block_of_a.get_multi_ptr() + i * step + inner, step)
                joint_matrix_load(sg, b, block_of_b.get_multi_ptr() + inner * width + j, width)
                joint_matrix_mad(sg, c, a, b, c)
            item.barrier()
        joint_matrix_store(sg, c, C + (first_row + i) * N + first_column + j, N, ROW)

    return gemm


def rounding_to_tf32(tile):
    """C = A*B in tf32, whose operands are rounded in the matrices."""
    T, Tc, m, n, k = tile

    @kernel
    def gemm(item: nd_item[2], A: ptr[float32], B: ptr[float32], C: ptr[float32], N: int32, K: int32):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        joint_matrix_fill(sg, c, 0)
        for inner in range(0, K, k):
            joint_matrix_load(sg, a, A + row * K + inner, K)
            joint_matrix_load(sg, b, B + inner * N + column, N)
            joint_matrix_apply(sg, a, round_to_tf32)
            joint_matrix_apply(sg, b, lambda x: round_to_tf32(x))
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_store(sg, c, C + row * N + column, N, ROW)

    return gemm


def transposed(tile):
    """The transposed of C + A*B, in its place: C is loaded and stored col_major."""
    T, Tc, m, n, k = tile

    @kernel
    def gemm(item: nd_item[2], A: ptr[T.storage], B: ptr[T.storage], C: ptr[Tc], M: int32, N: int32, K: int32):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        joint_matrix_load(sg, c, C + column * M + row, M, COLUMN)
        for inner in range(0, K, k):
            joint_matrix_load(sg, a, A + row * K + inner, K)
            joint_matrix_load(sg, b, B + inner * N + column, N)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_store(sg, c, C + column * M + row, M, COLUMN)

    return gemm


def converted_down(tile, Td, role):
    """D = A*B, computed in C's type and stored in Td: in a matrix of that type with the use ``role``."""
    T, Tc, m, n, k = tile
    narrow = joint_matrix[sub_group, Td, role, m, n] if role is use.accumulator else joint_matrix[
        sub_group, Td, role, m, n, ROW]

    @kernel
    def gemm(item: nd_item[2], A: ptr[T.storage], B: ptr[T.storage], D: ptr[Td], N: int32, K: int32, alpha: float32):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        d = narrow()
        joint_matrix_fill(sg, c, 0)
        for inner in range(0, K, k):
            joint_matrix_load(sg, a, A + row * K + inner, K)
            joint_matrix_load(sg, b, B + inner * N + column, N)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_apply(sg, c, lambda x: x * alpha)
        joint_matrix_copy(sg, c, d)
        if role == use.accumulator:
            joint_matrix_store(sg, d, D + row * N + column, N, ROW)
        else:
            joint_matrix_store(sg, d, D + row * N + column, N)

    return gemm


def checked(tile):
    """D = A*B + v for sizes that are no multiples of the matrices': what lies outside is neither read nor written."""
    T, Tc, m, n, k = tile

    @kernel
    def gemm(item: nd_item[2], A: ptr[T.storage], B: ptr[T.storage], D: ptr[Tc], M: int32, N: int32, K: int32, v: Tc):
        sg = item.get_sub_group()
        row, column = item.get_group(0) * m, item.get_group(1) * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        joint_matrix_fill_checked(sg, c, v, M, N, row, column)
        for inner in range(0, K, k):
            joint_matrix_load_checked(sg, a, A, K, M, K, row, inner)
            joint_matrix_load_checked(sg, b, B, N, K, N, inner, column)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_store_checked(sg, c, D, N, ROW, M, N, row, column)

    return gemm


def batched(tile):
    """D[i] = A[i]*B[i], the batch in the first dimension of the index space; everything is prefetched before."""
    T, Tc, m, n, k = tile

    @kernel
    def gemm(item: nd_item[3], A: ptr[T.storage], B: ptr[T.storage], D: ptr[Tc], M: int32, N: int32, K: int32):
        sg = item.get_sub_group()
        batch, row, column = item.get_group(0), item.get_group(1) * m, item.get_group(2) * n
        a = joint_matrix(sub_group, T, use.a, m, k, ROW)
        b = joint_matrix(sub_group, T, use.b, k, n, ROW)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        from_a, from_b = A + batch * M * K + row * K, B + batch * K * N + column
        joint_matrix_prefetch[m, n](sg, D + batch * M * N + row * N + column, N, ROW)
        joint_matrix_fill(sg, c, 0)
        for inner in range(0, K, k):
            joint_matrix_prefetch[m, k](sg, from_a + inner + k, K, ROW, properties(prefetch_hint_L2))
            joint_matrix_prefetch[k, n](sg, from_b + (inner + k) * N, N, ROW, properties(prefetch_hint_L3))
            joint_matrix_load(sg, a, from_a + inner, K)
            joint_matrix_load(sg, b, from_b + inner * N, N)
            joint_matrix_mad(sg, c, a, b, c)
        joint_matrix_store(sg, c, D + batch * M * N + row * N + column, N, ROW)

    return gemm
