"""Read out which element each lane of wmma holds, for every matrix of the table, and compare it with the layouts of
coopmat.devices; then compare the products of every row with the models:

    python benchmarks/hardware/wmma_fragments.py [--dots 40000] [--record FILE.npz]

Every element is loaded with its own number in it, from row-major and from column-major memory; accumulators are also
stored with the numbers of lane and component in them. Needs an H100 or H200 and cuda-bindings. ``--record`` keeps the
numbers, and the products of a few matrices.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

import numpy as np
from inputs import KINDS, Bits, operands
from models import product
from ptx import Driver
from wmma import LANES, ROWS, Matrix, elements, matrices, multiply, stored

from coopmat.devices import Combination
from coopmat.devices.layouts import matrix_layout

SEED = 20261122
ARCHITECTURE = "nvidia_gpu_sm_90"
RECORDED = 1  # matrices of each row and kind


def layout_key(matrix: Matrix) -> str:
    """The name of a recorded array: what each component holds."""
    return f"{matrix.use} {matrix.fmt} {matrix.rows}x{matrix.columns}"


def product_key(row: Combination, kind: str) -> str:
    """The name of a recorded array: bits of D."""
    return f"{row} {kind}"


def said(matrix: Matrix) -> Bits:
    """The numbers of the elements that our layout says each component holds."""
    held = matrix_layout(ARCHITECTURE, matrix.use, matrix.fmt, matrix.rows, matrix.columns, LANES).held
    return held.row * matrix.columns + held.column


def inputs_of(row: Combination, kind: str, count: int) -> tuple[Bits, Bits, Bits]:
    """The operands of ``count`` matrices for a row of the table."""
    m, n, k = row.largest
    return operands((SEED, ROWS.index(row), KINDS.index(kind), count), kind, row.types[:3],
                    ((count, m, k), (count, k, n), (count, m, n)))


def model(row: Combination, a: Bits, b: Bits, c: Bits, *, saturating: bool = False) -> Bits:
    """What the model computes, as bits: for tf32, which wmma adds four products at a time, in two calls."""
    if row.atype == "tf32":
        c = product(ARCHITECTURE, row.types, a[..., :4], b[..., :4, :], c)
        a, b = a[..., 4:], b[..., 4:, :]
    return product(ARCHITECTURE, row.types, a, b, c, saturating=saturating)


def compare_layout(driver: Driver, matrix: Matrix) -> int:
    """Print whether a matrix lies as the table says; 0 if it does."""
    expected = said(matrix)
    right = all(np.array_equal(elements(driver, matrix, order), expected) for order in ("row", "col"))
    if matrix.use == "accumulator":
        places = stored(driver, matrix).reshape(-1)
        right = right and np.array_equal(places[expected], np.arange(expected.size).reshape(expected.shape))
    print(f"{layout_key(matrix)}: {'as' if right else 'NOT as'} the table says", flush=True)
    return 0 if right else 1


def compare_products(driver: Driver, row: Combination, dots: int, *, saturating: bool) -> int:
    """Print how many dot products agree; the number of those that do not."""
    total = wrong = 0
    for kind in KINDS:
        a, b, c = inputs_of(row, kind, max(1, dots // (row.largest[0] * row.largest[1])))
        differs = multiply(driver, row, a, b, c, saturating=saturating) != model(row, a, b, c, saturating=saturating)
        total, wrong = total + differs.size, wrong + int(differs.sum())
    print(f"wmma {row}{', saturating' * saturating}: {total - wrong} of {total} equal", flush=True)
    return wrong


def main() -> int:
    """Compare all matrices and all rows; 0 if the tables and the models are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dots", type=int, default=40_000)
    parser.add_argument("--record")
    options = parser.parse_args()
    driver = Driver()
    print(f"{driver.name}, {datetime.now(UTC):%Y-%m-%d}, seed {SEED}", flush=True)
    wrong = sum(compare_layout(driver, matrix) for matrix in matrices())
    for row in ROWS:
        for saturating in (False, True) if row.dtype == "sint32" else (False,):
            wrong += compare_products(driver, row, options.dots, saturating=saturating)
    if options.record:
        recorded = {layout_key(matrix): elements(driver, matrix, "row").astype(np.uint16) for matrix in matrices()}
        recorded |= {product_key(row, kind): multiply(driver, row, *inputs_of(row, kind, RECORDED))
                     for row in ROWS for kind in KINDS}
        np.savez_compressed(options.record, **recorded)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
