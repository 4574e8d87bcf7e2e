"""Every row of every device table: all operations of joint_matrix on the simulated device, bit for bit.

Products are compared with ``cm.matrix_multiply_accumulate``, the other operations with numpy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES, Combination
from coopmat.sycl import layout, nd_range
from tests.kit.sycl.row_kernels import OF_C, OF_D, PRODUCTS, copies_of, kernel_of, stride_of
from tests.kit.sycl.row_operands import KINDS, arithmetic_of, assert_same, operands

COUNT = 2 * len(KINDS)  # matrices of a launch, each of a work-group
SHORT = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Which of 1, something in between and the maximum M, N and K have: each value of each dimension once."""


class Row(NamedTuple):
    """A row of a table with one of its shapes."""

    architecture: str
    combination: Combination
    shape: tuple[int, int, int]

    def __str__(self) -> str:
        return f"{self.architecture}-{'-'.join(self.combination.types)}-{'x'.join(map(str, self.shape))}"


def shapes(row: Combination, chosen: Iterator[tuple[int, int, int]] | tuple) -> list[tuple[int, int, int]]:
    """The shapes of a row; of a size that has a maximum 1, something in between, and the maximum."""
    sizes = [(exact,) * 3 if exact else (1, limit // 2 + 1, limit) for exact, limit in
             ((row.msize, row.max_msize), (row.nsize, row.max_nsize), (row.ksize, row.max_ksize))]
    return list(dict.fromkeys(tuple(size[index] for size, index in zip(sizes, place, strict=True))
                              for place in chosen))


ROWS = [Row(description.name, row, shape) for description in ARCHITECTURES.values()
        for row in description.combinations for shape in shapes(row, SHORT)]
LONG_ROWS = [Row(description.name, row, shape) for description in ARCHITECTURES.values()
             for row in description.combinations for shape in shapes(row, itertools.product(range(3), repeat=3))]


@cache
def operations(combination: Combination, shape: tuple[int, int, int], sub_group_size: int):
    """The kernel of a row, which devices that have the same row share."""
    return kernel_of(combination, *shape, sub_group_size)


class Operands(NamedTuple):
    """The matrices of one launch and what fills other ones."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    fill_a: np.generic
    fill_b: np.generic
    fill_c: np.generic


def make_operands(row: Row, seed: int) -> Operands:
    rng = np.random.default_rng((seed, *str(row).encode()))
    m, n, k = row.shape
    a_type, b_type, c_type, _ = row.combination.types
    matrices = (operands(rng, a_type, (COUNT, m, k)), operands(rng, b_type, (COUNT, k, n)),
                operands(rng, c_type, (COUNT, m, n)))
    return Operands(*matrices, *(operands(rng, name, (2, 1, 1))[1, 0, 0] for name in (a_type, b_type, c_type)))


def in_memory(matrices: np.ndarray, order: layout) -> np.ndarray:
    """Matrices as they lie in memory, with numbers between the rows or columns that nothing may touch."""
    lines = matrices if order is layout.row_major else matrices.swapaxes(1, 2)
    found = np.full((*lines.shape[:2], stride_of(lines.shape[2])), 77, matrices.dtype)
    found[:, :, :lines.shape[2]] = lines
    return found


def launch(row: Row, given: Operands, order: layout, size: int) -> dict[str, np.ndarray]:
    """Run the kernel; D and each result by its name."""
    m, n, _ = row.shape
    c_type, d_type = given.c.dtype, cm.formats.FORMATS[row.combination.dtype].dtype
    d = in_memory(np.zeros((COUNT, m, n), d_type), order)
    results = [np.zeros((len(names), COUNT, m, n), dtype)
               for names, dtype in ((PRODUCTS, d_type), (OF_C, c_type), (OF_D, d_type))]
    arrays = [in_memory(matrix, layout_) for matrix in (given.a, given.b)
              for layout_ in (layout.row_major, layout.col_major)]
    cm.Queue(f"sim:{row.architecture}").parallel_for(
        nd_range(COUNT * size, size), operations(row.combination, row.shape, size), *arrays, in_memory(given.c, order),
        d, *results, given.fill_a, given.fill_b, given.fill_c, order).wait()
    found = {name: values for names, array in zip((PRODUCTS, OF_C, OF_D), results, strict=True)
             for name, values in zip(names, array, strict=True)}
    missing = [name for name, is_made in copies_of(*row.shape).items() if not is_made]
    return {"D": d, **{name: values for name, values in found.items() if name not in missing}}


def product(row: Row, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    a_type, b_type, c_type, d_type = row.combination.types
    return cm.matrix_multiply_accumulate(a, b, c, a_type=a_type, b_type=b_type, c_type=c_type, d_type=d_type,
                                         architecture=arithmetic_of(row.architecture))


def scaled(x: np.ndarray) -> np.ndarray:
    """``x * 1.5``, of bfloat16 computed in float; of integers ``x * 5 - 3``, which wraps."""
    if x.dtype.kind in "iu":
        return (x.astype(np.int32) * 5 - 3).astype(x.dtype)
    if x.dtype.kind == "V":
        return (x.astype(np.float32) * np.float32(1.5)).astype(x.dtype)
    return x * x.dtype.type(1.5)


def reduced(x: np.ndarray) -> np.ndarray:
    """``x * 1.5``; of integers ``x // 5 - 3``, whose quotient truncates."""
    return scaled(x) if x.dtype.kind == "f" else (np.sign(x) * (np.abs(x.astype(np.int64)) // 5) - 3).astype(x.dtype)


def expected_results(row: Row, given: Operands) -> dict[str, np.ndarray]:
    """What each result must be."""
    a, b, c, *fills = given
    full_a, full_b, full_c = (np.full_like(matrix, fill) for matrix, fill in zip((a, b, c), fills, strict=True))
    d = product(row, a, b, c)
    m, n, k = row.shape
    found = {**dict.fromkeys((*PRODUCTS[:4], "A copied to col_major"), d),
             "A filled": product(row, full_a, b, c), "B filled": product(row, a, full_b, c),
             "A applied": product(row, scaled(a), b, c), "C filled": full_c, "C applied": reduced(c),
             "D copied to C": d.astype(c.dtype), "C copied to D": c.astype(d.dtype),
             "D applied": np.where(d < 0, -d, d)}
    if n == k:
        found |= {"A copied to C": a.astype(c.dtype), "C copied to A": product(row, c.astype(a.dtype), b, c)}
    if m == k:
        found |= {"B copied to C": b.astype(c.dtype), "C copied to B": product(row, a, c.astype(b.dtype), c)}
    if m == n == k:
        found |= {"A copied to B": product(row, a, a.astype(b.dtype), c),
                  "B copied to A": product(row, b.astype(a.dtype), b, c)}
    return found


ORDERS = (layout.row_major, layout.col_major)


def check(row: Row, seed: int, size: int, orders: tuple[layout, ...] = ORDERS) -> None:
    given = make_operands(row, seed)
    with np.errstate(all="ignore"):
        expected = expected_results(row, given)
    for order in orders:
        found = launch(row, given, order, size)
        assert_same(found.pop("D"), in_memory(expected["row·row"], order), f"{row}, D, {order}")
        assert found.keys() == expected.keys()
        for name, values in found.items():
            assert_same(values, expected[name], f"{row}, {name}")


@pytest.mark.parametrize(("number", "row"), [pytest.param(*one, id=str(one[1])) for one in enumerate(ROWS)])
def test_every_operation_of_every_row(number: int, row: Row, long_form: bool) -> None:
    """In the short form, the layouts in memory take turns."""
    check(row, seed=0, size=ARCHITECTURES[row.architecture].sub_group_sizes[0],
          orders=ORDERS if long_form else (ORDERS[number % 2],))


@pytest.mark.slow
@pytest.mark.parametrize("row", LONG_ROWS, ids=str)
def test_every_shape_of_every_row(row: Row) -> None:
    for seed, size in enumerate((*ARCHITECTURES[row.architecture].sub_group_sizes,) * 2, 1):
        check(row, seed, size)


def test_every_row_is_there() -> None:
    listed = {(row.architecture, row.combination) for row in ROWS}
    assert listed == {(name, row) for name, found in ARCHITECTURES.items() for row in found.combinations}
