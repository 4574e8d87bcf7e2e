"""Arithmetic, functions, reductions and conversions of whole matrices, against numpy; what names mean then."""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.numerics.folding import fold
from coopmat.spirv.grammar import Op
from coopmat.sycl import (
    abs_diff,
    atan2,
    bfloat16,
    clamp,
    cos,
    exp,
    float32,
    float64,
    floor,
    half,
    hypot,
    int8,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_reduce,
    joint_matrix_store,
    joint_matrix_transpose,
    kernel,
    layout,
    maximum,
    minimum,
    multiplies,
    nd_item,
    nd_range,
    plus,
    ptr,
    queue,
    sin,
    sub_group,
    tanh,
    uint32,
    use,
)

ROWS, COLUMNS = 5, 7
SIZE = ROWS * COLUMNS
DEVICES = ["sim:generic", "cpu"]
DTYPES = {half: np.float16, float32: np.float32, float64: np.float64, bfloat16: ml_dtypes.bfloat16, int8: np.int8,
          int32: np.int32, uint32: np.uint32}


def values(dtype: type, seed: int) -> np.ndarray:
    numbers = np.random.default_rng(seed).integers(1, 8, (ROWS, COLUMNS))
    return numbers.astype(dtype)


def run(device: str, function: object, *arguments: object) -> None:
    queue(device).parallel_for(nd_range(16, 16), function, *arguments).wait()


# ------------------------------------------------------------------ operators and functions


def arithmetic(T: object, role: use) -> object:
    """A kernel that stores what many operators give, and the number of its results."""
    where = (layout.row_major,) if role is not use.accumulator else ()
    order = () if where else (layout.row_major,)
    tile = joint_matrix[(sub_group, T, role, ROWS, COLUMNS, *where)]
    is_float = T in (half, float32, float64, bfloat16)

    @kernel(sub_group_size=16)
    def compute(item: nd_item[1], A: ptr[T], B: ptr[T], out: ptr[T], s: int32):
        sg = item.get_sub_group()
        a, b = tile(), tile()
        joint_matrix_load(sg, a, A, COLUMNS, *order)
        joint_matrix_load(sg, b, B, COLUMNS, *order)
        results = [a + b, a - b, a * b, a / b, -a, +a, a * T(s) + 1, 2 - a, 6 / b, a ** 2, max(a, b), min(a, s),
                   abs(-a), a - b * a + b]
        if is_float:
            more = [exp(-a), math.sqrt(a), np.maximum(a, b), clamp(a, 0, b), a ** b]
        else:
            more = [a // b, a % b, a & b, a | 8, a << 1, abs_diff(a, b)]
        for i in range(len(results)):
            joint_matrix_store(sg, results[i], out + i * SIZE, COLUMNS, *order)
        for i in range(len(more)):
            joint_matrix_store(sg, more[i], out + (len(results) + i) * SIZE, COLUMNS, *order)

    return compute


@pytest.mark.thinned(2)
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("role", [use.a, use.b, use.accumulator], ids=str)
@pytest.mark.parametrize("T", DTYPES, ids=str)
def test_operators(T: object, role: use, device: str) -> None:
    dtype = DTYPES[T]
    a, b = values(dtype, 1), values(dtype, 2)
    wide = np.float32 if dtype is ml_dtypes.bfloat16 else dtype
    x, y = a.astype(wide), b.astype(wide)

    def rounded(found: np.ndarray) -> np.ndarray:
        return found.astype(dtype).astype(wide)

    quotient = x / y if np.dtype(wide).kind == "f" else x // y
    six = (6 / y).astype(wide) if np.dtype(wide).kind == "f" else (6 // y)
    expected = [x + y, x - y, x * y, quotient, -x, x, rounded(x * 3) + 1, 2 - x, six, x * x, np.maximum(x, y),
                np.minimum(x, 3), -x if dtype is np.uint32 else x, x - rounded(y * x) + y]
    if np.dtype(wide).kind == "f":
        expected += [np.exp(-x), np.sqrt(x), np.maximum(x, y), np.minimum(np.maximum(x, 0), y), x ** y]
    else:
        expected += [x // y, x % y, x & y, x | 8, x << 1, np.where(x > y, x - y, y - x)]
    out = np.zeros((len(expected), ROWS, COLUMNS), dtype)
    run(device, arithmetic(T, role), a, b, out, 3)
    tolerance = {2: 2e-3, 4: 1e-6, 8: 1e-14}.get(np.dtype(dtype).itemsize, 0)
    tolerance = 1e-2 if dtype is ml_dtypes.bfloat16 else tolerance
    for number, (found, wanted) in enumerate(zip(out, expected, strict=True)):
        np.testing.assert_allclose(found.astype(float), wanted.astype(dtype).astype(float), tolerance,
                                   err_msg=str(number))


# ------------------------------------------------------------------ reductions


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("T", [float32, bfloat16, int8], ids=str)
def test_reductions(T: object, device: str) -> None:
    @kernel(sub_group_size=16)
    def reduce(item: nd_item[1], A: ptr[T], out: ptr[T]):
        sg = item.get_sub_group()
        a = joint_matrix(sub_group, T, use.accumulator, ROWS, COLUMNS)
        joint_matrix_load(sg, a, A, COLUMNS, layout.row_major)
        i = 0
        for axis in ("row", "column", "all"):
            for op in ("add", "min", "max", "mul", plus(), minimum(), maximum(), multiplies()):
                joint_matrix_store(sg, joint_matrix_reduce(sg, a, axis, op), out + i * SIZE, COLUMNS, layout.row_major)
                i += 1

    dtype = DTYPES[T]
    a = values(dtype, 3)
    out = np.zeros((24, ROWS, COLUMNS), dtype)
    run(device, reduce, a, out)
    combine = [np.add, np.minimum, np.maximum, np.multiply] * 2
    for number, found in enumerate(out):
        of_bfloat = dtype is ml_dtypes.bfloat16
        function = combine[number % 8]
        one = (lambda x, y, of=function: of(x.astype(np.float32), y.astype(np.float32)).astype(dtype)) if of_bfloat \
            else function
        wanted = fold(one, a, 0) if number >= 8 else a
        wanted = fold(one, wanted, 1) if number // 8 != 1 else wanted
        np.testing.assert_array_equal(found, np.broadcast_to(wanted, a.shape))


# ------------------------------------------------------------------ names


def test_a_name_keeps_its_matrix() -> None:
    """Reassigned, changed in place, in loops, in branches, by helpers, in lists."""
    tile = joint_matrix[sub_group, int32, use.accumulator, ROWS, COLUMNS]

    def doubled(m):
        return m + m

    def changed(m):
        m += 1
        m *= 2

    def chosen(m, n):
        r = m * 0
        if n > 2:
            r = m + n
        return r

    @kernel(sub_group_size=16)
    def names(item: nd_item[1], A: ptr[int32], out: ptr[int32], n: int32):
        sg = item.get_sub_group()
        a = tile()
        joint_matrix_load(sg, a, A, COLUMNS, layout.row_major)
        b = doubled(a)
        for i in range(n):
            b = b + a * i
        if n > 3:
            b = b * 2
        c = b + 0
        changed(c)
        a, b = b + 0, a + 0
        many = [a * i for i in range(3)]
        many[1] = many[2] + doubled(many[1])
        many[0] -= 5
        changed(b * 7)
        for i, m in enumerate([a, b, c, many[0], many[1], many[2], chosen(b, n), chosen(b, 1)]):
            joint_matrix_store(sg, m, out + i * SIZE, COLUMNS, layout.row_major)

    a = values(np.int32, 5)
    out = np.zeros((8, ROWS, COLUMNS), np.int32)
    run("sim:generic", names, a, out, 5)
    b = 2 * (2 * a + a * 10)
    c = (b + 1) * 2
    for found, wanted in zip(out, [b, a, c, 0 * b - 5, 4 * b, 2 * b, a + 5, a * 0], strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_objects_and_names_mean() -> None:
    """Parts of objects and elements of lists get new matrices, also in methods; names may change places."""
    tile = joint_matrix[sub_group, int32, use.accumulator, ROWS, COLUMNS]

    @dataclass
    class State:
        first: joint_matrix
        second: joint_matrix

        def step(self, x):
            self.first = max(self.first + x, self.second)

        def twice(self, x):
            self.step(x)
            self.step(x)

    def kept(m):
        m = m * 3
        m += 1
        return m

    def made(sg, value):
        m = tile()
        joint_matrix_fill(sg, m, value)
        return m

    def activated(m, kind):
        return m if kind == "none" else m * m

    def doubled(matrices):
        for i in range(2):
            matrices[i] = matrices[i] * 2

    @kernel(sub_group_size=16)
    def names(item: nd_item[1], A: ptr[int32], out: ptr[int32], n: int32):
        sg = item.get_sub_group()
        a = tile()
        joint_matrix_load(sg, a, A, COLUMNS, layout.row_major)
        state = State(a + 0, a - 5)
        for i in range(n):
            state.twice(i)
        b, c = kept(a), a * 5
        b, c = c, b
        for _ in range(n):
            b, c = c, b + c
        pair = [a + 1, a + 2]
        doubled(pair)
        chosen = +a if n > 3 else a - 1
        first, last = (a + 7, n) if n < 3 else (a - 7, 2 * n)
        joint_matrix_apply(sg, a, first, lambda x, y, row, col: y * int32(row) + int32(col) - x)
        for i in range(2):
            t = made(sg, i)
            chosen += t
        for _ in range(2):
            t = tile()
            joint_matrix_fill(sg, t, 10)
            chosen += t
        chosen = activated(chosen, "none") + activated(a, "square")
        results = [state.first, b, c, *pair, chosen, first * last, max([a, c, chosen])]
        for i in range(8):
            joint_matrix_store(sg, results[i], out + i * SIZE, COLUMNS, layout.row_major)

    a = values(np.int32, 5)
    rows, columns = np.indices(a.shape)
    for device, n in (("sim:generic", 5), ("cpu", 2)):
        out = np.zeros((8, ROWS, COLUMNS), np.int32)
        run(device, names, a, out, n)
        state, b, c = a, 5 * a, 3 * a + 1
        for i in range(n):
            for _ in range(2):
                state = np.maximum(state + i, a - 5)
            b, c = c, b + c
        chosen = (a if n > 3 else a - 1) + 21 + a * a
        first = ((a + 7 if n < 3 else a - 7) * rows + columns - a) * (n if n < 3 else 2 * n)
        wanted = [state, b, c, 2 * a + 2, 2 * a + 4, chosen, first, np.maximum(np.maximum(a, c), chosen)]
        np.testing.assert_array_equal(out, wanted)


def test_functions_of_elements_are_told_apart() -> None:
    """Several in one kernel, of one type: each is its own."""
    @kernel(sub_group_size=16)
    def functions(item: nd_item[1], A: ptr[float32], out: ptr[float32]):
        sg = item.get_sub_group()
        a = joint_matrix(sub_group, float32, use.accumulator, ROWS, COLUMNS)
        joint_matrix_load(sg, a, A, COLUMNS, layout.row_major)
        joint_matrix_store(sg, exp(a) * tanh(a) + floor(a), out, COLUMNS, layout.row_major)
        joint_matrix_store(sg, sin(a) + cos(exp(a)) - np.sqrt(abs(a)), out + SIZE, COLUMNS, layout.row_major)
        joint_matrix_store(sg, hypot(a, a + 1) + atan2(a, a + 3), out + 2 * SIZE, COLUMNS, layout.row_major)

    a = np.random.default_rng(0).uniform(-2, 2, (ROWS, COLUMNS)).astype(np.float32)
    wide = a.astype(np.float64)
    wanted = [np.exp(wide) * np.tanh(wide) + np.floor(wide),
              np.sin(wide) + np.cos(np.exp(wide)) - np.sqrt(np.abs(wide)),
              np.hypot(wide, wide + 1) + np.arctan2(wide, wide + 3)]
    for device in ("sim:generic", "cpu"):
        out = np.zeros((3, ROWS, COLUMNS), np.float32)
        run(device, functions, a, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)


def test_values_as_operands() -> None:
    """Where a matrix is only read, what an operation gives will do."""
    @kernel(sub_group_size=16)
    def product(item: nd_item[1], A: ptr[half], B: ptr[half], C: ptr[float32], D: ptr[half]):
        sg = item.get_sub_group()
        a = joint_matrix(sub_group, half, use.a, 8, 16, layout.row_major)
        b = joint_matrix(sub_group, half, use.b, 16, 16, layout.row_major)
        c = joint_matrix(sub_group, float32, use.accumulator, 8, 16)
        joint_matrix_load(sg, a, A, 16)
        joint_matrix_load(sg, b, B, 16)
        joint_matrix_fill(sg, c, 1)
        joint_matrix_mad(sg, c, a * 2, b + 1, c - 1)
        joint_matrix_store(sg, c / 2, C, 16, layout.row_major)
        joint_matrix_copy(sg, max(c, 0), a)
        turned = joint_matrix(sub_group, half, use.b, 16, 8, layout.row_major)
        joint_matrix_transpose(sg, c, turned)
        joint_matrix_store(sg, a, D, 16)
        joint_matrix_store(sg, turned, D + 8 * 16, 8)

    rng = np.random.default_rng(6)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((8, 16), (16, 16)))
    c, d = np.zeros((8, 16), np.float32), np.zeros((2, 8 * 16), np.float16)
    run("cpu", product, a, b, c, d)
    wanted = (2 * a).astype(np.float32) @ (b + 1).astype(np.float32)
    np.testing.assert_array_equal(c, wanted / 2)
    np.testing.assert_array_equal(d[0].reshape(8, 16), np.maximum(wanted, 0).astype(np.float16))
    np.testing.assert_array_equal(d[1].reshape(16, 8), wanted.T.astype(np.float16))


# ------------------------------------------------------------------ joint_matrix_apply


def opcodes(function: object) -> list[int]:
    module = cm.build(function).module
    assert module.validate() == []
    return [row.opcode for row in module.instructions]


@pytest.mark.parametrize(("apply", "is_instruction"), [
    (lambda sg, m, p, s: joint_matrix_apply(sg, m, lambda x: x * s), True),
    (lambda sg, m, p, s: joint_matrix_apply(sg, m, lambda x, row, col: x + p[col] * s), True),
    (lambda sg, m, p, s: joint_matrix_apply(sg, m, exp), True),
], ids=["captured number", "captured pointer", "built-in"])
def test_functions_that_only_compute_become_an_instruction(apply: object, is_instruction: bool) -> None:
    @kernel(sub_group_size=16)
    def applied(item: nd_item[1], C: ptr[float32], s: float32):
        sg = item.get_sub_group()
        m = joint_matrix(sub_group, float32, use.accumulator, ROWS, COLUMNS)
        joint_matrix_load(sg, m, C, COLUMNS, layout.row_major)
        apply(sg, m, C, s)
        joint_matrix_store(sg, m, C, COLUMNS, layout.row_major)

    assert (Op.CooperativeMatrixPerElementOpEXT in opcodes(applied)) == is_instruction


def test_functions_that_do_more_are_called_in_a_loop() -> None:
    @kernel(sub_group_size=16)
    def applied(item: nd_item[1], C: ptr[float32], counts: ptr[float32]):
        sg = item.get_sub_group()
        m = joint_matrix(sub_group, float32, use.accumulator, 4, 8)
        joint_matrix_load(sg, m, C, 8, layout.row_major)

        def noted(x, row, col):
            counts[row * 8 + col] = x
            return x + 1

        joint_matrix_apply(sg, m, noted)
        joint_matrix_store(sg, m, C, 8, layout.row_major)

    assert Op.CooperativeMatrixPerElementOpEXT not in opcodes(applied)
    c, counts = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    run("sim:generic", applied, c, counts)
    np.testing.assert_array_equal(c, np.arange(32) + 1)
    np.testing.assert_array_equal(counts, np.arange(32))
