"""2D blocks in variables of every form on the CPU, against numpy: inside of the surface, over its edges, beyond it."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm

WIDTH, HEIGHT, LANES = 64, 24, 16
PLACES = ((0, 0), (16, 8), (48, 16), (56, 20), (-8, -3), (60, 2), (4, 23), (1000, 0), (0, -100))
HEAD = f"""
#pragma OPENCL EXTENSION cl_intel_subgroup_2d_block_io : enable
__attribute__((intel_reqd_sub_group_size({LANES})))
kernel void k(global uint *out, global TYPE *at, int x, int y)
{{
    int lane = get_sub_group_local_id();
    const int width = {WIDTH} * sizeof(TYPE), height = {HEIGHT};
    int2 place = (int2)(x, y);
    BODY
}}
"""
READS = {
    "an array": ("ushort", "ushort rows[8]; intel_sub_group_2d_block_read_16b_8r16x1c(at, width, height, width, place, "
                 "rows); for (int i = 0; i < 8; i++) out[i * 16 + lane] = rows[i];"),
    "a vector": ("ushort", "short8 rows; intel_sub_group_2d_block_read_16b_8r16x1c(at, width, height, width, place, "
                 "(private ushort *)&rows); for (int i = 0; i < 8; i++) out[i * 16 + lane] = (ushort)rows[i];"),
    "a part of an array": (
        "ushort", "ushort rows[3][12]; intel_sub_group_2d_block_read_16b_8r16x1c(at, width, height, width, place, "
        "&rows[1][3]); for (int i = 0; i < 8; i++) out[i * 16 + lane] = rows[1][i + 3];"),
    "one of some vectors": (
        "ushort", "ushort8 rows[2]; for (int j = 0; j < 2; j++) intel_sub_group_2d_block_read_16b_8r16x1c(at, width, "
        "height, width, place, (private ushort *)&rows[j]); for (int i = 0; i < 8; i++) out[i * 16 + lane] = "
        "rows[1][i];"),
    "an array in memory": (  # as its address is computed with
        "ushort", "ushort rows[16]; private ushort *one = rows + (width > 3); "
        "intel_sub_group_2d_block_read_16b_8r16x1c(at, width, height, width, place, one); "
        "for (int i = 0; i < 8; i++) out[i * 16 + lane] = rows[i + 1];"),
    "pairs of bytes": (
        "uchar", "ushort rows[8]; intel_sub_group_2d_block_read_8b_8r32x1c(at, width, height, width, place, rows); "
        "for (int i = 0; i < 8; i++) { out[i * 32 + 2 * lane] = rows[i] & 255; "
        "out[i * 32 + 2 * lane + 1] = rows[i] >> 8; }"),
}


def program(kind: str, body: str, *, bounds: bool) -> tuple[cm.Queue, cm.Kernel]:
    device = cm.device("cpu", options=cm.CpuOptions(bounds=bounds))
    return cm.Queue(device), cm.build(HEAD.replace("TYPE", kind).replace("BODY", body), "", device).kernel("k")


def block(surface: np.ndarray, x: int, y: int, columns: int) -> np.ndarray:
    """Eight rows of a surface, with zeros outside of it."""
    wide = np.zeros((HEIGHT + 3000, WIDTH + 3000), surface.dtype)
    wide[1000:1000 + HEIGHT, 1000:1000 + WIDTH] = surface
    return wide[1000 + y:1008 + y, 1000 + x:1000 + x + columns]


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize("form", READS)
def test_reads(form: str, bounds: bool) -> None:
    kind, body = READS[form]
    queue, kernel = program(kind, body, bounds=bounds)
    surface = np.random.default_rng(1).integers(1, 200, (HEIGHT, WIDTH)).astype(
        np.uint8 if kind == "uchar" else np.uint16)
    columns = 32 if kind == "uchar" else 16
    for x, y in PLACES:
        out = np.full((8, columns), 7, np.uint32)
        queue.enqueue(kernel, LANES, LANES, out, surface, x, y).wait()
        np.testing.assert_array_equal(out, block(surface, x, y, columns), f"{x}, {y}")


def test_writes() -> None:
    queue, kernel = program("ushort", "ushort rows[8]; for (int i = 0; i < 8; i++) rows[i] = out[i * 16 + lane]; "
                            "intel_sub_group_2d_block_write_16b_8r16x1c(at, width, height, width, place, rows);",
                            bounds=False)
    given = np.arange(1, 129, dtype=np.uint32).reshape(8, 16)
    for x, y in PLACES:
        surface, wanted = np.zeros((2, HEIGHT, WIDTH), np.uint16)
        for row, column in np.ndindex(8, 16):
            if 0 <= y + row < HEIGHT and 0 <= x + column < WIDTH:
                wanted[y + row, x + column] = given[row, column]
        queue.enqueue(kernel, LANES, LANES, given, surface, x, y).wait()
        np.testing.assert_array_equal(surface, wanted, f"{x}, {y}")
