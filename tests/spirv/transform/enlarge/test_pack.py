"""Matrices side by side become one, but for stores between which something else happens to the same memory."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv.transform.passes import chosen, transform

SOURCE = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
typedef int tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
                                         CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
__attribute__((intel_reqd_sub_group_size(8)))
kernel void k(global const int *in, global int *RESTRICT out, global int *other)
{
    tile left = coop_mat_load(in, ROW, 16), right = coop_mat_load(in + 8, ROW, 16);
    coop_mat_store(out, left, ROW, 16);
    BETWEEN;
    coop_mat_store(out + 8, right, ROW, 16);
}
"""
FENCE = "sub_group_barrier(CLK_GLOBAL_MEM_FENCE)"
BETWEEN = {
    "nothing": ("", True),
    "a matrix elsewhere": ("coop_mat_store(other, left, ROW, 8)", True),
    "a matrix that may lie there": ("/* aliased */ coop_mat_store(other, left, ROW, 8)", False),
    "a number": (f"{FENCE}; if (get_sub_group_local_id() == 0) out[3] = 7; {FENCE}", False),
    "an atomic": (f"{FENCE}; atomic_add(out, 5); {FENCE}", False),
    "a vector": (f"{FENCE}; if (get_sub_group_local_id() == 0) vstore4((int4)7, 0, out); {FENCE}", False),
    "a block": (f"{FENCE}; intel_sub_group_block_write((global uint *)out, 7); {FENCE}", False),
    "a matrix with another stride": ("coop_mat_store(out, right, ROW, 32)", False),
    "a matrix by columns": (f"{FENCE}; coop_mat_store(out, right, COLUMN, 16)", False),
    "a barrier": (f"{FENCE}; other[get_sub_group_local_id()] = out[get_sub_group_local_id()]; {FENCE}", False),
}
"""What stands between two stores of neighbours → whether these may become one."""


@pytest.mark.parametrize("between", BETWEEN)
def test_stores(between: str) -> None:
    """The packed module stores what the kernel does, in the simulator with all checks."""
    text, packs = BETWEEN[between]
    restrict = "" if "aliased" in text else "restrict"
    module = cm.build(SOURCE.replace("BETWEEN", text).replace("RESTRICT", restrict)).module
    changed, notes = transform(module, chosen(["inline", "values", "pack"]))
    assert any(note.name == "pack" for note in notes) == packs
    results = []
    for one in (module, changed):
        out, other = np.zeros(16 * 32, np.int32), np.zeros(64, np.int32)
        cm.Queue("sim:generic").enqueue(cm.build(one).kernel("k"), 8, 8, np.arange(128, dtype=np.int32), out,
                                        other).wait()
        results.append((out, other))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
