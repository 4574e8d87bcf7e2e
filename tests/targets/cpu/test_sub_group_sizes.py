"""Sub-groups of twice as many work-items, where they make no difference but for speed."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.targets.cpu.features import cpu_features
from coopmat.targets.cpu.program import CpuProgram

PLAIN = "y[i] = exp(x[i]);"
KERNELS = {
    "function": (PLAIN, 64, 32),
    "two dimensions": (PLAIN, (32, 2), 32),
    "work-group of one and a half": (PLAIN, 48, 16),
    "rows of half": (PLAIN, (16, 4), 16),
    "branch": ("if (x[i] > 0.5f) y[i] = exp(x[i]); else y[i] = exp(x[i]);", 64, 16),
    "copy": ("y[i] = x[i];", 64, 16),
    "asks for the size": ("y[i] = exp(x[i]) + get_sub_group_size() - 16;", 64, 16),
    "sub-group function": ("y[i] = exp(x[i]) + sub_group_reduce_add(1) - 16;", 64, 16),
    "barrier": ("barrier(CLK_LOCAL_MEM_FENCE); y[i] = exp(x[i]);", 64, 16),
}


@pytest.mark.skipif("avx512f" not in cpu_features(), reason="a register holds eight floats")
@pytest.mark.parametrize("name", KERNELS)
def test_where_sub_groups_are_not_noticed(name: str) -> None:
    body, local, size = KERNELS[name]
    source = (f"kernel void k(global float *y, global const float *x) "
              f"{{ size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0); {body} }}")
    device = cm.device("cpu")
    program = cm.build(source, (), device)
    x = np.linspace(0, 1, 192, dtype=np.float32)
    y = np.zeros_like(x)
    sizes = (192, local) if isinstance(local, int) else ((local[0], 192 // local[0]), local)
    cm.Queue(device).enqueue(program.kernel("k"), *sizes, y, x).wait()
    loaded = program.load(device)
    assert isinstance(loaded, CpuProgram)
    assert f"sub-groups of {size} work-items" in loaded.explanation()[0]
    if name != "copy":
        np.testing.assert_allclose(y, np.exp(x), rtol=2e-6)
