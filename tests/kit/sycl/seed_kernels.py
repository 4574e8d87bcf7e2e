"""Valid kernels, which tests/kit/sycl/mutations.py changes: between them they use every part of the language."""

from __future__ import annotations

from coopmat.sycl import (
    bfloat16,
    const,
    float32,
    half,
    int8,
    int32,
    int64,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    local_accessor,
    local_ptr,
    nd_item,
    precision,
    ptr,
    round_to_tf32,
    sub_group,
    uint8,
    uint32,
    uint64,
    use,
)

WIDTH = 4
WEIGHTS = (1, 2.5, 3)
TILE = local_accessor[float32, 2]((4, 4))


def clamp(x, low=0, high: int = 100):
    if x < low:
        return low
    return high if x > high else x


def collatz(n: int64) -> int32:
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    return steps


def accumulate(values, start, by):
    for j in range(len(values)):
        values[j] += start * by(j)


def fill_all(sg, matrices, value):
    for m in matrices:
        joint_matrix_fill(sg, m, value)


@kernel
def control(item: nd_item[1], x: ptr[int32], y: ptr[int32], n: int):
    i = int(item.get_global_id(0))
    total = 0
    for j in range(n, -1, -2):
        if j == 3:
            continue
        total += j if j % 2 else -j
        while total > 50 and not total % 7 < 1:
            total -= 7
    if (0 <= i < n and x[i] != 5) or i == 9:
        y[i] = clamp(total, high=x[i]) + collatz(x[i] & 0xFF)
    elif n:
        y[i] = total << 2 ^ 3
    else:
        y[i] = ~total >> 1
    for j in range(3):
        total = total + j
    y[i] += total


@kernel
def lists(item: nd_item[1], y: ptr[float32], a: float):
    i = item.get_global_id(0)
    acc = [0.0] * WIDTH
    grid = [[i * j + k for k in range(2)] for j in range(3) if j != 1]
    pairs = [(1, 2), (3, WEIGHTS[1])]
    accumulate(acc, a, lambda j: j * 2 + a)
    for (first, second), value in zip(pairs, reversed(WEIGHTS), strict=False):
        acc[first] += value * second
    for k, row in enumerate(grid):
        for value in row:
            acc[k] = max(acc[k], value, 0.5)
    low, last = min(acc[:2]), acc[3]
    head, tail = acc[0], acc[1:]
    y[i] = head + sum(tail) + len(acc) + acc[-1] ** 2 + low - last


@kernel(sub_group_size=16, work_group_size=16)
def matrices(item: nd_item[2], A: ptr[const[int8]], B: ptr[int8], C: ptr[int32], N: int32, K: int32):
    sg = item.get_sub_group()
    row, column = item.get_group(0) * 8, item.get_group(1) * 16
    tA = joint_matrix(sub_group, int8, use.a, 8, 32, layout.row_major)
    tB = joint_matrix(sub_group, int8, use.b, 32, 16, layout.row_major)
    tC = [joint_matrix(sub_group, int32, use.accumulator, 8, 16) for _ in range(2)]
    fill_all(sg, tC, 0)
    for k in range(0, K, 32):
        joint_matrix_load(sg, tA, A + row * K + k, K)
        joint_matrix_load(sg, tB, B + k * N + column, N)
        for c in tC:
            joint_matrix_mad(sg, c, tA, tB, c)
    joint_matrix_apply(sg, tC[1], lambda x: x * 2 + WIDTH)
    joint_matrix_copy(sg, tC[1], tC[0])
    joint_matrix_store(sg, tC[0], C + row * N + column, N, layout.row_major)


@kernel(sub_group_size=16)
def tf32(item: nd_item[1], A: ptr[float32], C: ptr[float32], order: layout):
    sg = item.get_sub_group()
    a = joint_matrix(sub_group, precision.tf32, use.a, 8, 8, layout.row_major)
    c = joint_matrix(sub_group, float32, use.accumulator, 8, 8)

    def rounded(x):
        return round_to_tf32(x) if x > 0 else x

    joint_matrix_load(sg, a, A, 8)
    joint_matrix_apply(sg, a, rounded)
    joint_matrix_copy(sg, a, c)
    joint_matrix_apply(sg, c, lambda x, row, col: x + row * 8 + col)
    joint_matrix_store(sg, c, C, 8, order)


@kernel
def local_memory(item: nd_item[1], y: ptr[float32], scratch: local_ptr[float32], more: local_accessor[int32]):
    i = int(item.get_local_id(0))
    TILE[i // 4, i % 4] = i
    scratch[i] = 2 * i
    more[i] = i - 1
    item.barrier()
    group = item.get_group()
    y[item.get_global_linear_id()] = TILE[i % 4][i // 4] + scratch[15 - i] + more[0] + group.get_local_range(0)


@kernel
def numbers(item: nd_item[3], x: ptr[half], b: ptr[bfloat16], y: ptr[float32], u: ptr[uint8], w: uint64):
    i = item.get_global_id(2) + item.get_global_range(2) * item.get_global_id(1)
    v: float32 = x[i] * b[i] + 0.1
    narrow = int8(v) + uint8(300) - uint32(w)
    p = y + i
    q = p - 3
    q += 3
    y[q - y] = abs(v) ** 2 + float(narrow) / 3 if p == q else -v
    u[i] = w % 7 in (1, 2, 3) and i > 2
