"""Random kernels of matrices that work-groups share, beside numpy: small integers, of which every sum is exact.

Types, tiles, layouts and ragged sizes; one loop along K or two, products of a batch whose addresses the kernel
computes, barriers, sums that begin with C, and epilogues: a bias for each column, one for each row, a residual,
functions of elements, reductions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import coopmat as cm
from coopmat.sycl import kernel
from tests.kit.targets.work_group_gemm import ELEMENTS

TYPES = (("bf16", "bf16", "fp32"), ("fp16", "fp16", "fp32"), ("fp16", "fp16", "fp16"), ("tf32", "tf32", "fp32"),
         ("sint8", "sint8", "sint32"), ("uint8", "sint8", "sint32"))
EPILOGUES = ("bias", "scales", "residual", "twice", "relu", "position", "rows")
WIDEST = {"fp16": 2048}
"""Up to where a type has all integers."""
MOST_ELEMENTS = 128  # of a sum, that a work-item has

TEXT = """
@kernel(work_group_size=(1, 1, {items}))
def kernel_{seed}(item: nd_item[3], A: ptr[const[{A}]], B: ptr[const[{B}]], C: ptr[{D}], R: ptr[const[{D}]],
          bias: ptr[const[{D}]], M: int32, N: int32, K: int32, strideA: int32, strideB: int32, strideC: int32,
          split: int32, sizeA: int32, sizeB: int32, sizeC: int32):
    g = item.get_group()
    row, column = g.get_group_id(1) * {m}, g.get_group_id(2) * {n}
    number = g.get_group_id(0)
    a = joint_matrix(work_group, {a}, use.a, {m}, {k}, layout.{of_a})
    b = joint_matrix(work_group, {b}, use.b, {k}, {n}, layout.{of_b})
    c = joint_matrix(work_group, {c}, use.accumulator, {m}, {n})
    {start}
    for at in range(0, split, {k}):
        joint_matrix_load_checked(g, a, A{at_number_a}, strideA, {lines_a}, {at_a})
        joint_matrix_load_checked(g, b, B{at_number_b}, strideB, {lines_b}, {at_b})
        joint_matrix_mad(g, c, a, b, c)
{barrier}{second}{epilogue}
    joint_matrix_store_checked(g, c, C{at_number_c}, strideC, layout.{of_c}, {lines_c}, {at_c})
"""
SECOND = """
    d = joint_matrix(work_group, {a}, use.a, {m}, {deep}, layout.{of_a})
    e = joint_matrix(work_group, {b}, use.b, {deep}, {n}, layout.{of_b})
    for step in range(0, K - split, {deep}):
        at = split + step
        joint_matrix_load_checked(g, d, A{at_number_a}, strideA, {lines_a}, {at_a})
        joint_matrix_load_checked(g, e, B{at_number_b}, strideB, {lines_b}, {at_b})
        joint_matrix_mad(g, c, d, e, c)
"""


@dataclass(frozen=True)
class Choice:
    """What a kernel is. by_rows: of A, B and C. deep: K of a second loop's tiles, 0 for none. numbers: of products.
    gap: elements between lines."""

    seed: int
    formats: tuple[str, str, str]
    tile: tuple[int, int, int]
    items: int
    by_rows: tuple[bool, bool, bool]
    sizes: tuple[int, int, int]
    gap: int
    deep: int
    numbers: int
    accumulates: bool
    has_barrier: bool
    epilogues: tuple[str, ...]


def choose(seed: int) -> Choice:
    """The kernel of a seed."""
    rng = np.random.default_rng(seed)
    formats = TYPES[rng.integers(len(TYPES))]
    m, n = int(rng.choice([16, 32, 64, 96, 128, 192])), int(rng.choice([16, 32, 48, 64, 96, 112, 128, 160]))
    k = int(rng.choice([32, 64] if "int" in formats[2] else [16, 32, 64]))
    items = int(rng.choice([one for one in (32, 64, 96, 128, 192, 256, 384)
                            if one <= max(2 * m, m * n // MOST_ELEMENTS) and m * n <= MOST_ELEMENTS * one]))
    sizes = tuple(int(rng.integers(1, 2 * extent + 20)) for extent in (m, n, k))
    if rng.integers(3):  # multiples of 16 bytes
        sizes = tuple(-(-one // 16) * 16 for one in sizes)
    epilogues = tuple(map(str, rng.permutation(EPILOGUES)[:rng.integers(4)]))
    return Choice(seed, formats, (m, n, k), items, tuple(map(bool, rng.integers(0, 2, 3))), sizes,  # type: ignore[arg-type]
                  int(rng.choice([0, 0, 0, 8, 1, 2, 5])), int(rng.choice([0, 0, 32, 64])), int(rng.choice([1, 1, 2])),
                  bool(rng.integers(2)), not rng.integers(4), epilogues)


def text_of(chosen: Choice) -> str:
    """The kernel."""
    (m, n, k), by_rows = chosen.tile, dict(zip("abc", chosen.by_rows, strict=True))
    a, b, c = (ELEMENTS[one] for one in chosen.formats)
    order = {f"of_{one}": "row_major" if rows else "col_major" for one, rows in by_rows.items()}
    spelt = {}
    for one, lines, places in (("a", ("M", "K"), ("row", "at")), ("b", ("K", "N"), ("at", "column")),
                               ("c", ("M", "N"), ("row", "column"))):
        turn = 1 if by_rows[one] else -1
        spelt |= {f"lines_{one}": ", ".join(lines[::turn]), f"at_{one}": ", ".join(places[::turn]),
                  f"at_number_{one}": f" + number * size{one.upper()}" if chosen.numbers > 1 else ""}
    named = {"items": chosen.items, "seed": chosen.seed, "A": a.stored, "B": b.stored, "D": c.stored, "a": a.name,
             "b": b.name, "c": c.name, "m": m, "n": n, "k": k, "deep": chosen.deep, **order, **spelt}
    start = "joint_matrix_fill(g, c, 0)"
    if chosen.accumulates:
        start = "joint_matrix_load_checked(g, c, C{at_number_c}, strideC, layout.{of_c}, {lines_c}, {at_c})"
    lines = []
    for number, one in enumerate(chosen.epilogues):
        loaded = f"x{number} = joint_matrix(work_group, {c.name}, use.accumulator, {m}, {n})"
        lines += {
            "bias": [loaded, f"joint_matrix_load_checked(g, x{number}, bias, 0, layout.row_major, M, N, row, column)",
                     f"c = c + x{number}"],
            "scales": [loaded, f"joint_matrix_load_checked(g, x{number}, bias, 0, layout.col_major, N, M, column, row)",
                       f"c = c + x{number}"],
            "residual": [loaded, f"joint_matrix_load_checked(g, x{number}, R{{at_number_c}}, strideC, layout.{{of_c}}, "
                                 "{lines_c}, {at_c})", f"c = c + x{number}"],
            "twice": ["joint_matrix_apply(g, c, lambda x: x + x)"],
            "relu": ["joint_matrix_apply(g, c, lambda x: max(x, 0))"],
            "position": ["joint_matrix_apply(g, c, lambda x, i, j: x + (int(i) - int(j)))"],
            "rows": [f"x{number} = joint_matrix_reduce(g, c, 'row', 'max')", f"c = c - x{number}"]}[one]
    barrier = "        group_barrier(g)\n" if chosen.has_barrier else ""
    return TEXT.format(start=start.format(**named), barrier=barrier,
                       second=SECOND.format(**named) if chosen.deep else "",
                       epilogue="".join(f"    {one.format(**named)}\n" for one in lines), **named)


def expected_of(chosen: Choice, a: np.ndarray, b: np.ndarray, c: np.ndarray, r: np.ndarray, bias: np.ndarray
                ) -> np.ndarray:
    """What it computes, tile by tile, as reductions are of the tile with the zeros around the matrix."""
    (m, n, _), (rows, columns, _) = chosen.tile, chosen.sizes
    down, beside = -(-rows // m), -(-columns // n)

    def wide(one: np.ndarray) -> np.ndarray:
        return np.pad(one.astype(np.int64), [(0, 0)] * (one.ndim - 2) + [(0, down * m - rows),
                                                                        (0, beside * n - columns)])

    found = wide(np.matmul(a.astype(np.int64), b.astype(np.int64)))
    if chosen.accumulates:
        found = found + wide(c)
    for one in chosen.epilogues:
        if one == "bias":
            found = found + wide(np.broadcast_to(bias[:columns], (rows, columns)))
        elif one == "scales":
            found = found + wide(np.broadcast_to(bias[:rows, None], (rows, columns)))
        elif one == "residual":
            found = found + wide(r)
        elif one == "twice":
            found = found + found
        elif one == "relu":
            found = np.maximum(found, 0)
        elif one == "position":
            i, j = np.indices(found.shape[-2:])
            found = found + (i % m - j % n)
        else:
            tiles = found.reshape(found.shape[0], down, m, beside, n)
            found = (tiles - tiles.max(-1, keepdims=True)).reshape(found.shape)
    return found[:, :rows, :columns]


def disagreement(seed: int, device: str) -> str | None:
    """What is wrong with a kernel on a device; None if nothing is."""
    chosen = choose(seed)
    rows, columns, depth = chosen.sizes
    rng = np.random.default_rng(seed)
    types = [ELEMENTS[one].dtype for one in chosen.formats]
    lowest = 0 if "uint8" in chosen.formats else -2

    def matrix(shape: tuple[int, int], dtype: Any) -> np.ndarray:
        return rng.integers(lowest, 3, (chosen.numbers, *shape)).astype(dtype)

    a, b, c, r = (matrix(shape, dtype) for shape, dtype in zip(
        ((rows, depth), (depth, columns), (rows, columns), (rows, columns)), (*types, types[2]), strict=True))
    bias = rng.integers(-2, 3, max(rows, columns)).astype(types[2])
    expected = expected_of(chosen, a, b, c, r, bias)
    if np.abs(expected).max(initial=0) > WIDEST.get(chosen.formats[2], 1 << 24):
        return None  # not exact
    orders = (*chosen.by_rows, chosen.by_rows[2])
    memory = [np.pad(one if by_rows else one.swapaxes(1, 2), ((0, 0), (0, 0), (0, chosen.gap))).copy()
              for one, by_rows in zip((a, b, c, r), orders, strict=True)]
    split = depth if not chosen.deep else depth // 2 // chosen.tile[2] * chosen.tile[2]
    (m, n, _), (at_a, at_b, at_c, at_r) = chosen.tile, memory
    sizes = (-(-columns // n) * chosen.items, -(-rows // m), chosen.numbers), (chosen.items, 1, 1)
    program = cm.build(kernel.from_source(text_of(chosen)), device=device)
    try:
        cm.Queue(device).enqueue(
            program.kernel(f"kernel_{seed}"), *sizes, at_a, at_b, at_c, at_r, bias, rows, columns, depth,
            at_a.shape[2], at_b.shape[2], at_c.shape[2], split, *(one[0].size for one in (at_a, at_b, at_c))).wait()
    except cm.LaunchError as error:
        if "bytes of local memory" not in str(error):
            raise
        return None  # refused: matrices that no warps share lie in local memory, of which there may be too little
    found = at_c[:, :, :at_c.shape[2] - chosen.gap].astype(np.int64)
    found = found if chosen.by_rows[2] else found.swapaxes(1, 2)
    if (found != expected).any():
        places = np.argwhere(found != expected)
        first = tuple(places[0])
        return f"{chosen}: {len(places)} differ, first {first}: {found[first]}, expected {expected[first]}"
    if chosen.gap and at_c[:, :, -chosen.gap:].any():
        return f"{chosen}: something was stored between the lines"
    return None
