"""Functions of numbers, lists and objects give what they give when Python runs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    group_barrier,
    group_local_memory_for_overwrite,
    int32,
    kernel,
    nd_item,
    nd_range,
    ptr,
    queue,
)
from tests.kit.sycl.refused import diagnostics_of


@dataclass
class Sum:
    value: float = 0.0

    def add(self, x):
        self.value += x


@dataclass
class Key:
    number: int
    other: int

    def __eq__(self, key):
        return self.number == key.number


class Choice(NamedTuple):
    score: float
    index: int


def better(one, other):
    return one if one.score > other.score else other


def loop_variables(item: nd_item[1], out: ptr[float32], n: int32):
    numbers = [1.0 * n, 2.0 * n]
    for x in numbers:
        x *= 2
        out[0] += x
    out[1], out[2] = numbers[0], x
    for i, j in [(0, 1), (2, 3)]:
        j += n
        out[3 + i] = j
    for y in (1, 2):
        y = y * n
        out[6] += y


def references(item: nd_item[1], out: ptr[float32], n: int32):
    total = Sum(n * 0.0)
    sums = [total, Sum(1.0)]
    for one in sums:
        one.add(2.0)
    pair = (total, n)
    pair[0].add(4.0)
    rows = [[0.0] * 2 for _ in range(2)]
    rows[0][1] = 3.0
    out[0], out[1], out[2], out[3] = total.value, sums[1].value, rows[1][1], rows[0][1]


def comparisons(item: nd_item[1], out: ptr[float32], n: int32):
    out[0] = Key(1, n) == Key(1, 5)
    out[1] = Key(1, n) != Key(1, 5)
    out[2] = Key(2, n) != Key(1, 5)
    best = Choice(-1.0, -1)
    for i in range(n):
        best = better(best, Choice((i * 7 + 3) % 5 * 0.5, i))
    out[3], out[4] = best
    first, step = (10, 1) if n > 3 else (20, n)
    out[5], out[6] = first, step
    out[7], out[8] = divmod(n * 5, 4)
    out[9] = 1 if n is None else 2


def displays(item: nd_item[1], out: ptr[float32], n: int32):
    some = [n, n + 1]
    more = (*some, 7, *[x * 2 for x in some])
    for i, x in enumerate([*more, len(more)]):
        out[i] = x


FUNCTIONS = (loop_variables, references, comparisons, displays)


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_python_runs_it(function, n: int, device: str) -> None:
    wanted, found = np.zeros((2, 12), np.float32)
    function(None, wanted, n)
    queue(device).parallel_for(nd_range(1, 1), kernel(function), found, n).wait()
    np.testing.assert_array_equal(found, wanted)


# ------------------------------------------------------------------ what Python itself does not have


def optional(item: nd_item[1], out: ptr[int32], a: ptr[int32] | None = None,
             b: Optional[ptr[int32]] = None,  # noqa: UP045
             c: ptr[int32] = None):
    out[0] = 1 if a is None else a[0]
    out[1] = b[0] if b is not None else 2
    if c != None:  # noqa: E711
        out[2] = c[0]


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_pointers_that_may_be_none(name: str) -> None:
    found = np.zeros(3, np.int32)
    queue("cpu").parallel_for(nd_range(1, 1), kernel(optional), found, **{name: np.array([9], np.int32)}).wait()
    assert found.tolist() == [9 if name == "a" else 1, 9 if name == "b" else 2, 9 if name == "c" else 0]


class Sparse(NamedTuple):
    starts: np.ndarray
    blocks: list


def test_arrays_in_captured_tuples_and_lists() -> None:
    sparse = Sparse(np.array([3, 4], np.int32), [np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int32) * 10])

    @kernel
    def k(item: nd_item[1], out: ptr[int32]):
        for i, block in enumerate(sparse.blocks):
            out[i] = block[sparse.starts[i]]
        sparse.blocks[1][0] = 7

    found = np.zeros(2, np.int32)
    for _ in range(2):
        queue("cpu").parallel_for(nd_range(1, 1), k, found).wait()
        assert found.tolist() == [3, 40]
        assert sparse.blocks[1][0] == 7
        sparse.blocks[1] = np.arange(5, dtype=np.int32) * 10  # each launch takes what is there


def test_local_arrays_are_pointers_to_their_first_element() -> None:
    @kernel
    def k(item: nd_item[1], out: ptr[float32]):
        line = group_local_memory_for_overwrite[float32, 32](item.get_group())
        grid = group_local_memory_for_overwrite[float32, 4, 8](item.get_group())
        i = item.get_local_id(0)
        line[i] = i
        grid[i // 8, i % 8] = 2 * i
        group_barrier(item.get_group())
        middle = line + 4
        out[i] = middle[i % 4] + (middle - 1)[0] + (grid[1] + 2)[0] + (2 + line)[0]

    found = np.zeros(32, np.float32)
    queue("cpu").parallel_for(nd_range(32, 32), k, found).wait()
    assert found.tolist() == [4 + i % 4 + 3 + 20 + 2 for i in range(32)]


def test_long_loops_over_lists_are_loops() -> None:
    """A triangular system: unrolled it would be 2,016 steps, whose code no compiler likes."""
    size = 64

    @kernel
    def solve(item: nd_item[1], A: ptr[float32], b: ptr[float32]):
        x = [b[i] for i in range(size)]
        for i in range(size):
            for j in range(i):
                x[i] -= x[j] * A[i * size + j]
            x[i] /= A[i * size + i]
        for i in range(size):
            b[i] = x[i]

    program = cm.build(solve)
    assert len(program.spirv) < 1 << 14
    rng = np.random.default_rng(0)
    A = (np.tril(rng.random((size, size))) + np.eye(size) * size).astype(np.float32)
    b = rng.random(size).astype(np.float32)
    wanted = np.linalg.solve(A.astype(np.float64), b)
    queue("cpu").parallel_for(nd_range(1, 1), solve, A, b).wait()
    np.testing.assert_allclose(b, wanted, rtol=1e-5)


def launched(function) -> float:
    """What a function that a kernel captures makes of 2."""
    @kernel
    def k(item: nd_item[1], out: ptr[float32]):
        out[0] = function(out[0])

    found = np.full(1, 2, np.float32)
    queue("cpu").parallel_for(nd_range(1, 1), k, found).wait()
    return float(found[0])


def test_lambdas_of_one_line_are_told_apart() -> None:
    for function in [lambda x: 1 / x, lambda x: 5 + x], (lambda x: x * 3, lambda x: x - 9):
        assert [launched(one) for one in function] == [one(2) for one in function]


@pytest.mark.parametrize(("text", "code"), [
    ("rows = [[0.0] * 2] * 2", "CM6030"),  # one list twice
    ("row = [0.0] * 2; rows = [row, row]; rows[0][1] = x", "CM6069"),
    ("row = [0.0] * 2; rows = (row, n); rows[0][1] = x; B[0] = row[1]", "CM6069"),
    ("v = c if n > 3 else c * 2", "CM6027"),
    ("s = 'a' if n > 3 else 'b'\nif s == 'a': B[0] = 1", "CM6030"),  # texts that the kernel completes
    ("s = f'{n}'\nmatch s:\n    case '5': B[0] = 1", "CM6030"),
    ("v = (1, 2) if n > 3 else (1, 2, 3)", "CM6091"),
    ("v, w = c * 2, c * 3; v, w = w, v\nfor i in range(n): t = [v, w]\nt[0] = t[0] + 1", "CM6090"),
])
def test_what_would_mean_something_else_is_refused(text: str, code: str) -> None:
    head = ("from coopmat.sycl import *\n@kernel(sub_group_size=16)\n"
            "def refused(item: nd_item[1], B: ptr[float32], n: int32, x: float32):\n"
            "    c = joint_matrix(sub_group, int32, use.accumulator, 8, 16)\n"
            "    joint_matrix_fill(item.get_sub_group(), c, 0)\n")
    _, found = diagnostics_of(head + "".join(f"    {line}\n" for line in text.splitlines()))
    assert [one.code for one in found if one.severity == "error"] == [code]


def test_chained_comparisons_stop_where_the_answer_is_known() -> None:
    def noted(count, value):
        count[0] += 1
        return value

    @kernel
    def k(item: nd_item[1], count: ptr[int32], n: int32):
        count[1] = noted(count, 1) < noted(count, n) < noted(count, 9)

    for n in (0, 5, 20):
        found, wanted = np.zeros(2, np.int32), [0, 0]
        wanted[1] = int(noted(wanted, 1) < noted(wanted, n) < noted(wanted, 9))
        queue("cpu").parallel_for(nd_range(1), k, found, n).wait()
        assert found.tolist() == wanted
