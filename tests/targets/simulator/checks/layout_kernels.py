"""Matrices that are loaded with another layout than they were stored with."""

from __future__ import annotations

import numpy as np

import coopmat as cm
from tests.kit.checks.planted import Planted

SOURCE = """
#define MATRIX(r, c, use) \\
    float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global const float *a, global float *c) {
    local float t[256];
    MATRIX(16, 16, ACCUMULATOR) m = coop_mat_load(a, ROW, 16);
    coop_mat_store(t, m, STORED, 16);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    BETWEEN
    MATRIX(16, 16, ACCUMULATOR) n = coop_mat_load(t, {}, 16);  // HERE
    coop_mat_store(c, n, ROW, 16);
}"""


def floats():
    return [np.arange(256, dtype=np.float32), np.zeros(256, np.float32)]


def planted(name: str, stored: str, bug: str, fix: str, words: tuple[str, ...]) -> Planted:
    return Planted(name, SOURCE.replace("STORED", stored).replace("BETWEEN", ""), bug, fix, cm.LayoutWarning, words,
                   floats, (16,), (16,), "sim:generic")


PYTHON = """
@kernel(sub_group_size=16)
def k(item: nd_item[1], a: ptr[float32], c: ptr[float32]):
    sg = item.get_sub_group()
    m = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    n = joint_matrix(sub_group, float32, use.accumulator, 16, 16)
    t = group_local_memory_for_overwrite[float32, 256](item.get_group()).get_multi_ptr()
    joint_matrix_load(sg, m, a, 16, layout.row_major)
    STORE
    group_barrier(sg)
    LOAD
    joint_matrix_store(sg, n, c, 16, layout.row_major)
"""


def python(name: str, store: str, load: str, bug: str, fix: str) -> Planted:
    return Planted(name, PYTHON.replace("STORE", store).replace("LOAD", f"{load}  # HERE"), bug, fix, cm.LayoutWarning,
                   ("what was stored row-major",), floats, (16,), (16,), "sim:generic")


LAYOUTS = [
    python("in Python", "joint_matrix_store(sg, m, t, 16, layout.row_major)",
           "joint_matrix_load(sg, n, t, 16, layout.{})", "col_major", "row_major"),
    python("windows", "joint_matrix_store_checked(sg, m, t, 16, layout.row_major, 16, 16, 0, 0)",
           "joint_matrix_load_checked(sg, n, t, 16, layout.{}, 16, 16, 0, 0)", "col_major", "row_major"),
    planted("stored by rows, loaded by columns", "ROW", "COLUMN", "ROW",
            ("loads column-major what was stored row-major", ":9:", "'t'")),
    planted("stored by columns, loaded by rows", "COLUMN", "ROW", "COLUMN",
            ("loads row-major what was stored column-major",)),
]
NO_LAYOUT = Planted("changed by work-items", SOURCE.replace("STORED", "ROW").replace(
    "BETWEEN", "t[get_local_id(0)] = 0; sub_group_barrier(CLK_LOCAL_MEM_FENCE);"), "COLUMN", "COLUMN", cm.LayoutWarning,
    (), floats, (16,), (16,), "sim:generic")
