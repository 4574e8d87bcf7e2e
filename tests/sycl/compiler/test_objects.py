"""Dataclasses and named tuples: captured, made in kernels, passed, returned, with methods and operators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    float32,
    float64,
    int32,
    joint_matrix,
    joint_matrix_fill,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    queue,
    sub_group,
    use,
)
from tests.kit.sycl.language import COUNT, error_of, results

ITEMS = range(COUNT)


class Shape(NamedTuple):
    """A named tuple with a default, a property and a method."""

    rows: int
    columns: int = 16

    @property
    def size(self):
        return self.rows * self.columns

    def index(self, row, column):
        return row * self.columns + column


@dataclass(frozen=True)
class Config:
    shape: Shape
    scale: float = 2.5
    dtype: object = int32
    taps: tuple = (1, 2, 3)


@dataclass
class Complex:
    """Operators, a class method and a static one."""

    re: float
    im: float = 0.0

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        if isinstance_of_complex(other):
            return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
        return Complex(self.re * other, self.im * other)

    def __rmul__(self, factor):
        return self * factor

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def norm(self):
        return self.re * self.re + self.im * self.im

    def turn(self):
        self.re, self.im = -self.im, self.re

    @classmethod
    def unit(cls):
        return cls(1.0)

    @staticmethod
    def product(a, b):
        return a * b


def isinstance_of_complex(value):
    match value:
        case Complex():
            return True
        case _:
            return False


CONFIG = Config(Shape(8), taps=(4, 5))


@pytest.mark.parametrize("device", ["sim:intel_gpu_pvc", "cpu"])
def test_captured_objects_are_constants(device: str) -> None:
    shape = Shape(8, 16)

    @kernel(sub_group_size=16)
    def k(item: nd_item[1], y: ptr[int32], z: ptr[float32]):
        sg = item.get_sub_group()
        rows, columns = shape
        m = joint_matrix(sub_group, CONFIG.dtype, use.accumulator, CONFIG.shape.rows, shape.columns)
        joint_matrix_fill(sg, m, shape[0] + CONFIG.taps[1] + len(shape))
        joint_matrix_store(sg, m, y, columns, layout.row_major)
        z[item.get_global_id(0)] = CONFIG.scale + rows + shape.index(1, 2) + CONFIG.shape.size

    found, real = np.zeros(128, np.int32), np.zeros(16, np.float32)
    cm.Queue(device).parallel_for(nd_range(16, 16), k, found, real).wait()
    assert (found == 15).all()
    assert (real == 2.5 + 8 + 18 + 128).all()


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_objects_are_made_and_their_operators_run(device: str) -> None:
    def square(z):
        return z * z

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_global_id(0))
        c = Complex(0.125 * i, 0.5)
        z = Complex(0)
        for _ in range(5):
            z = square(z) + c
        z += Complex.unit() * 0.5
        w = -z
        w.turn()
        w.re += 1
        y[i] = 2 * w.norm() + (2 * w).re + Complex.product(w, Complex(im=1.0, re=0.0)).im

    def expected(i: int) -> np.float32:
        c, z = complex(0.125 * i, 0.5), 0j
        for _ in range(5):
            z = z * z + c
        w = -(z + 0.5) * 1j + 1
        return np.float32(2 * abs(w) ** 2 + 2 * w.real + (w * 1j).imag)

    found = np.zeros(5, np.float32)
    cm.Queue(device).parallel_for(nd_range(5, 5), k, found).wait()
    np.testing.assert_allclose(found, [expected(i) for i in range(5)], rtol=1e-5)


def test_fields_convert_to_their_types() -> None:
    class Mixed(NamedTuple):
        whole: int
        real: float
        wide: float64

    @kernel
    def k(item: nd_item[1], y: ptr[float64]):
        i = item.get_global_id(0)
        m = Mixed(3.75 + 0 * i, i, 0.1)
        y[i] = m.whole + m.real / 2 + m.wide

    assert results(k, dtype=np.float64) == [3 + i / 2 + 0.1 for i in ITEMS]


def test_an_object_is_passed_by_reference_and_a_named_tuple_by_value() -> None:
    def advance(state, by):
        state.re += by
        return state.re

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = item.get_global_id(0)
        state = Complex(1.0 * i)
        same = state
        first = advance(same, 2)
        place = Shape(i, 3)
        moved = place._replace(rows=place.rows + 1)
        other = replace(state, im=7.0)
        other.re = 0.5
        y[i] = first + state.re + 100 * (moved.rows - place.rows) + other.im + other.re

    assert results(k, dtype=np.float32) == [2 * (i + 2) + 107.5 for i in ITEMS]


def test_objects_in_lists_with_matrices_and_defaults() -> None:
    @dataclass
    class Tile:
        matrix: object
        row: int
        history: list = field(default_factory=lambda: [0, 0])

    @kernel(sub_group_size=16)
    def k(item: nd_item[1], y: ptr[int32]):
        sg = item.get_sub_group()
        tiles = [Tile(joint_matrix(sub_group, int32, use.accumulator, 8, 16), 8 * i) for i in range(2)]
        for tile in tiles:
            tile.history[1] += tile.row + 1
            joint_matrix_fill(sg, tile.matrix, tile.history[1])
        for tile in tiles:
            joint_matrix_store(sg, tile.matrix, y + tile.row * 16, 16, layout.row_major)

    found = np.zeros((2, 128), np.int32)
    queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), k, found).wait()
    assert (found == [[1], [9]]).all()


def test_comparisons() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = (Shape(i, 3) == Shape(4, 3)) + 10 * (Complex(i) != Complex(2.0)) + 100 * (Shape(i) == (i, 16))

    assert results(k) == [(i == 4) + 10 * (i != 2) + 100 * 0 for i in ITEMS]


def test_a_result_may_be_an_object() -> None:
    def split(x) -> Shape:
        return Shape(x // 4, x % 4)

    def best(a, b):
        return a if a.re > b.re else b

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        rows, columns = split(i)
        y[i] = 10 * rows + columns + 1000 * split(2 * i).rows

    assert results(k) == [10 * (i // 4) + i % 4 + 1000 * (2 * i // 4) for i in ITEMS]


def test_the_state_of_a_loop_may_begin_with_a_captured_object() -> None:
    start = Complex(1.0, 0.0)

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = item.get_global_id(0)
        state = start
        for _ in range(i):
            state = state * Complex(0.0, 1.0)
        y[i] = state.re + 10 * state.im

    assert results(k, dtype=np.float32) == [[1, 10, -1, -10][i % 4] for i in ITEMS]


def test_what_is_refused() -> None:
    shape = Shape(1, 2)

    @kernel
    def a_field_of_a_named_tuple(item: nd_item[1], n: int, y: ptr[int32]):
        s = Shape(n, n)
        s.rows = 3

    assert error_of(a_field_of_a_named_tuple)[:2] == (
        "CM6029", "'s.rows' is part of a Shape, which cannot be changed, and cannot be assigned")

    @kernel
    def an_unknown_field(item: nd_item[1], n: int, y: ptr[int32]):
        y[0] = Shape(n, n).row

    assert error_of(an_unknown_field)[:2] == ("CM6023", "a Shape has no attribute 'row'; did you mean 'rows'?")

    @kernel
    def too_many(item: nd_item[1], n: int, y: ptr[int32]):
        y[0] = Shape(n, n, n).rows

    assert error_of(too_many)[:2] == ("CM6051", "Shape(rows[, columns]): too many positional arguments")

    @kernel
    def a_captured_one(item: nd_item[1], n: int, y: ptr[int32]):
        shape.rows = n

    assert error_of(a_captured_one)[0] == "CM6029"

    @dataclass
    class Checked:
        x: int

        def __post_init__(self):
            self.x += 1

    @kernel
    def own_code(item: nd_item[1], n: int, y: ptr[int32]):
        y[0] = Checked(n).x

    assert error_of(own_code)[:2] == (
        "CM6050", "'test_what_is_refused.<locals>.Checked' cannot be called in a kernel; its __post_init__ runs on the "
                  "host only: make the object there, or give the class none")

    @kernel
    def two_names(item: nd_item[1], n: int, y: ptr[float32]):
        p = Complex(1.0)
        q = p
        p = Complex(2.0)
        y[0] = q.re

    assert error_of(two_names)[0] == "CM6069"


def test_a_changed_method_of_a_captured_class_is_compiled_again(tmp_path) -> None:
    """The key of a kernel tells what the methods, operators and properties of the classes that it reads are."""
    from tests.kit.sycl.refused import loaded

    text = """from coopmat.sycl import *
from typing import NamedTuple
class P(NamedTuple):
    x: int
    def __add__(self, other):
        return P(self.x + other.x)
    @property
    def twice(self):
        return 2 * self.x
ORIGIN = P(1)
@kernel
def k(item: nd_item[1], y: ptr[int32]):
    y[0] = (ORIGIN + P(3)).twice
"""
    keys = set()
    for changed in (text, text.replace("self.x + other.x", "self.x - other.x"), text.replace("2 * self", "3 * self"),
                    text.replace("P(1)", "P(2)")):
        _, names = loaded(changed)
        y = np.zeros(1, np.int32)
        queue("sim:generic").parallel_for(nd_range(1, 1), names["k"], y).wait()
        first = names["k"].key()
        assert names["k"].key() is first
        keys.add((first.partition("\0")[2], int(y[0])))
    assert sorted(value for _, value in keys) == [-4, 8, 10, 12]
