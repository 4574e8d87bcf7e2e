"""Kernels that number their tiles, as kernels of a grid of work-groups: valid modules, the same results in the
simulator with all checks, and launches that are no such grid."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.transform.enlarge.grids import Grid, grid_of
from coopmat.spirv.transform.enlarge.matrices import NoMerge
from coopmat.spirv.transform.enlarge.rounds_apart import OVERLAP
from coopmat.spirv.transform.without_variables import with_values
from tests.kit.fuzz.products import LOOPS, SOURCE, TILES
from tests.kit.oracles.vulkan import spirv_val

OPTIONS = ("-DIN=char", "-DOUT=int", "-DFLAGS=15", "-DTM=8", "-DTN=16", "-DTK=8", "-DRM=2", "-DRN=1",
           "-DBY_COLUMNS_A=0", "-DBY_COLUMNS_B=0", "-DTOGETHER=1", "-DEND=", "-DSTART=coop_mat_init(0)",
           f"-DLOOP={LOOPS['simple']}")
M, N, K = 16 * 3, 16 * 5, 16
SIZE = 16
GROUPS = {"a grid": (5, 3), "upwards": (5, 3), "a row": (15, 1), "a row from the last one": (15, 1),
          "in both directions": (2, 2), "along a column": (5, 2)}


def grid(source: str, options: list[str], groups: tuple[int, int], items: int = SIZE) -> Grid | None:
    module = with_values(cm.build(source, options).module, element_loops=False)
    return grid_of(module, next(iter(module.kernel_signatures)), (items, 1, 1), SIZE, (*groups, 1))


@pytest.mark.parametrize("tiles", TILES)
def test_results(tiles: str, tmp_path: Path) -> None:
    groups = GROUPS.get(tiles, (4, 1))
    names = zip(("TILES", "ROW_OF", "COLUMN_OF"), TILES[tiles], strict=True)
    options = [*OPTIONS, *(f"-D{name}={text}" for name, text in names)]
    found = grid(SOURCE, options, groups)
    if tiles in ("a grid", "upwards"):
        assert found is None
        return
    assert found is not None
    assert found.module.validate() == []
    counts = found.counts((0, 0, 0, 0, M, N, K), (*groups, 1))
    assert counts == (5, 3, 1)
    if (tool := spirv_val()) is not None:
        (tmp_path / "grid.spv").write_bytes(found.module.to_bytes())
        subprocess.run([tool, "--target-env", "spv1.4", tmp_path / "grid.spv"], check=True)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((M, K), (K, N)))
    out, bias = np.zeros((M, N), np.int32), np.zeros(1, np.int32)
    sizes = tuple(count * size for count, size in zip(counts, found.local_size, strict=True))
    kernel = cm.build(found.module.to_bytes()).kernel("gemm")
    cm.Queue("sim:generic").enqueue(kernel, sizes, found.local_size, a, b, bias, out, M, N, K).wait()
    np.testing.assert_array_equal(out, a.astype(np.int32) @ b)


PLACED = """
#define M(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
kernel void f(global const char *a, global int *c, int tiles, int step, int stride, int first)
{
    char M(A) x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    char M(B) y = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    for (NUMBER t = START; t < tiles; t += STEP) {
        int M(ACCUMULATOR) s = coop_mat_init(0);
        s = coop_matmul_add(x, y, s, 15);
        coop_mat_store(c + t * step, s, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, stride);
    }
}
"""


@cache
def placed(start: str = "get_group_id(0)", step: str = "get_num_groups(0)", number: str = "int", items: int = SIZE
           ) -> Grid | None:
    return grid(PLACED, [f"-DNUMBER={number}", f"-DSTART={start}", f"-DSTEP={step}"], (3, 1), items)


@pytest.mark.parametrize(("tiles", "step", "stride", "expected"), [
    (5, 64, 8, (5, 1, 1)), (5, 63, 8, OVERLAP), (5, 8, 40, (5, 1, 1)), (5, 8, 39, OVERLAP), (5, 7, 40, OVERLAP),
    (5, -64, 8, (5, 1, 1)), (1, 0, 8, (1, 1, 1)), (2, 0, 8, OVERLAP), (5, 64, 7, OVERLAP), (0, 64, 8, ""),
    (-3, 64, 8, ""), ((1 << 31) - 1, 8, 8, ""), ((1 << 31) - 4, 8, (1 << 31) - 1, OVERLAP)])
def test_rounds_that_overlap(tiles: int, step: int, stride: int, expected: tuple[int, int, int] | str) -> None:
    """Tiles of 8 x 8 a step after each other; numbers that do not wrap around."""
    found = placed()
    assert found is not None
    counts = found.counts((0, 0, tiles, step, stride, 0), (3, 1, 1))
    assert counts[:len(expected)] == expected


@pytest.mark.parametrize(("start", "step", "items", "local_size"), [
    ("get_group_id(0)", "get_num_groups(0)", 64, 64), ("get_global_id(0) / 16", "get_global_size(0) / 16", 64, 16),
    ("get_group_id(0) * 4 + get_sub_group_id()", "get_num_groups(0) * 4", 64, 16),
    ("get_group_id(0)", "get_num_groups(0) + 1", 16, 0), ("get_group_id(0) + first", "get_num_groups(0)", 16, 0),
    ("get_group_id(0)", "first", 16, 0), ("get_group_id(0) * 2", "get_num_groups(0)", 16, 0),
    ("get_sub_group_id()", "get_num_sub_groups()", 64, 0)])
def test_loops_over_tiles(start: str, step: str, items: int, local_size: int) -> None:
    """A grid has work-groups, or sub-groups by themselves, where these take all tiles, each one once."""
    found = placed(start, step, "uint", items)
    assert (0 if found is None else found.local_size[0]) == local_size


def test_what_is_stored_is_read() -> None:
    """What is read from elsewhere in memory that is stored to must be known to be a tile of the same round."""
    source = PLACED.replace("global int *c", "global int *c, global const int *d").replace(
        "coop_mat_init(0)", "coop_mat_init(d[t])")
    options = ["-DNUMBER=int", "-DSTART=get_group_id(0)", "-DSTEP=get_num_groups(0)"]
    found = grid(source, options, (3, 1))
    assert found is not None
    assert found.pairs == ((0, 1), (1, 2))
    with pytest.raises(NoMerge, match="this reads, not as a matrix, what is stored"):
        grid(source.replace("d[t]", "c[t]"), options, (3, 1))
