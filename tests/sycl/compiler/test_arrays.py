"""Lists whose indices the kernel computes: private arrays and tables of constants compute what Python computes."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float2,
    float32,
    half,
    int32,
    int64,
    joint_matrix,
    joint_matrix_fill,
    kernel,
    nd_item,
    nd_range,
    ptr,
    sub_group,
    uint8,
    use,
)
from tests.kit.sycl.language import COUNT, error_of, results

ITEMS = range(COUNT)
TAPS = (1, 4, 6, 4, 1)
GRID = [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_a_list_is_indexed_by_what_the_kernel_computes(device: str) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[int32], n: int, y: ptr[int32]):
        i = int(item.get_global_id(0))
        counts = [0] * 8
        for j in range(n):
            counts[(x[j] + i) % 8] += 1
        best = 0
        for j in range(1, 8):
            if counts[j] > counts[best]:
                best = j
        stack, top = [i] * 4, 0
        while top < 3:
            stack[top + 1] = stack[top] * 2 + 1
            top += 1
        y[i] = best + 10 * counts[best] + 1000 * stack[top] + counts[-1] * 100

    def expected(i: int) -> int:
        counts = [0] * 8
        for value in x:
            counts[(value + i) % 8] += 1
        best = max(range(8), key=lambda j: (counts[j], -j))
        stack = [i]
        for _ in range(3):
            stack.append(stack[-1] * 2 + 1)
        return best + 10 * counts[best] + 1000 * stack[-1] + counts[-1] * 100

    x = np.random.default_rng(0).integers(0, 100, 50).astype(np.int32)
    found = np.zeros(COUNT, np.int32)
    cm.Queue(device).parallel_for(nd_range(COUNT, COUNT), k, x, len(x), found).wait()
    assert found.tolist() == [expected(i) for i in ITEMS]


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_rows_and_tables_of_constants(device: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_global_id(0))
        table = [[0.0] * 4 for _ in range(3)]
        for row in range(3):
            for column in range(4):
                table[(row + i) % 3][column] = row * 10 + column
        line = table[i % 3]
        line[i % 4] += 0.25
        order = [2, 0, 1]
        y[i] = table[i % 3][i % 4] + GRID[i % 2][i % 3] * 100 + TAPS[i % 5] * 10000 + order[i % 3] + GRID[i % 2][1]

    def expected(i: int) -> float:
        table = [[0.0] * 4 for _ in range(3)]
        for row in range(3):
            for column in range(4):
                table[(row + i) % 3][column] = row * 10 + column
        table[i % 3][i % 4] += 0.25
        return (table[i % 3][i % 4] + GRID[i % 2][i % 3] * 100 + TAPS[i % 5] * 10000 + [2, 0, 1][i % 3]
                + GRID[i % 2][1])

    found = np.zeros(COUNT, np.float32)
    cm.Queue(device).parallel_for(nd_range(COUNT, COUNT), k, found).wait()
    assert found.tolist() == [expected(i) for i in ITEMS]
    variables = [line for line in cm.build(k).spirv_asm.splitlines() if "OpVariable" in line]
    assert sum("UniformConstant" in line for line in variables) == 3


def test_arrays_reach_helpers_by_reference() -> None:
    def swap(values, a, b):
        values[a], values[b] = values[b], values[a]

    def sort(values, count):
        for i in range(count):
            for j in range(count - 1 - i):
                if values[j] > values[j + 1]:
                    swap(values, j, j + 1)

    def at(values, index):
        return values[index]

    @kernel
    def k(item: nd_item[1], x: ptr[int32], y: ptr[int32]):
        i = int(item.get_global_id(0))
        values = [x[j] * (i + 1) % 17 for j in range(6)]
        same = values
        sort(same, 6)
        first = at((i, 2, 3), i % 3)
        y[i] = values[0] + 100 * values[i % 6] + 10000 * at(TAPS, i % 5) + 100000 * first

    x = np.array([5, 3, 9, 1, 12, 7], np.int32)

    def expected(i: int) -> int:
        values = sorted(int(v) * (i + 1) % 17 for v in x)
        return values[0] + 100 * values[i % 6] + 10000 * TAPS[i % 5] + 100000 * (i, 2, 3)[i % 3]

    assert results(k, x) == [expected(i) for i in ITEMS]


def test_element_types() -> None:
    @kernel
    def k(item: nd_item[1], h: half, y: ptr[int32]):
        i = int(item.get_global_id(0))
        narrow: list[uint8] = [250] * 4
        narrow[i % 4] += 10
        wide = [0, 1 << 40]
        mixed = [0, h, 1]
        pairs = [float2(0), float2(1, 2)]
        pairs[i % 2].x += i
        flags = [False] * 3
        flags[i % 3] = True
        y[i] = narrow[i % 4] + narrow[(i + 1) % 4] + (wide[i % 2] >> 38) + int(mixed[i % 3] * 2)
        y[i] += int(pairs[i % 2].x) * 1000 + flags[0] * 100000

    assert results(k, 2.5) == [4 + 250 + 4 * (i % 2) + [0, 5, 2][i % 3] + 1000 * (i + i % 2) + 100000 * (i % 3 == 0)
                               for i in ITEMS]


def test_what_needs_no_memory_gets_none() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        values = [y[0], 2, 3]
        for j in range(3):
            values[j] += 1
        y[item.get_global_id(0)] = values[0] + values[-1]

    assert "OpTypeArray" not in cm.build(k).spirv_asm


def test_an_index_outside_is_found() -> None:
    @kernel
    def k(item: nd_item[1], n: int, y: ptr[int32]):
        values = [1, 2, 3]
        values[n] = 7
        y[0] = values[0]

    with pytest.raises(cm.OutOfBounds, match=r"the buffer has 12 bytes, 3 elements.*variable 'values', element 3"):
        results(k, 3)


def test_what_is_refused() -> None:
    @kernel
    def matrices(item: nd_item[1], n: int):
        sg = item.get_sub_group()
        tiles = [joint_matrix(sub_group, int32, use.accumulator, 8, 16) for _ in range(2)]
        joint_matrix_fill(sg, tiles[n], 0)

    assert error_of(matrices)[:2] == (
        "CM6041", "the elements of a list of 2 are no numbers, so the index must be known when the kernel is compiled; "
                  "found a value of type int32; a loop over range(…) of constants makes its variable known")

    @kernel
    def types(item: nd_item[1], n: int, y: ptr[float32]):
        values = [n, y[0]]
        y[1] = values[n]

    assert error_of(types)[:2] == (
        "CM6074", "the kernel computes an index of this list, so its elements lie in memory and are numbers of one "
                  "type; found int32 and float32")

    @kernel
    def rows(item: nd_item[1], n: int, y: ptr[int32]):
        values = [[n, 1], [2]]
        y[1] = values[n][0]

    assert error_of(rows)[1].endswith("found a row of 2 and a row of 1")

    @kernel
    def constants(item: nd_item[1], n: int, y: ptr[int32]):
        TAPS[n] = 3

    assert error_of(constants)[0] == "CM6029"

    @kernel
    def annotated(item: nd_item[1], n: int, y: ptr[int32]):
        values: list[int64] = n
        y[0] = values

    assert error_of(annotated)[:2] == (
        "CM6008", "expected a type, such as int32 or ptr[float32]; found list[int64] for a value of type int32")
