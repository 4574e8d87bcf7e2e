"""The pictures of devices' matrices against execution: what a component holds after a load, and where it says it is."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.layout import DeviceMatrix
from tests.kit.layout.device_matrices import Matrix
from tests.kit.layout.pictures import nodes

TYPES = {"sint32": ("int", np.int32), "fp32": ("float", np.float32), "sint8": ("char", np.int8),
         "fp16": ("half", np.float16), "fp64": ("double", np.float64)}

GENERIC = [Matrix("generic", use, "sint32", m, n, k, size)
           for size in (4, 8, 16, 32, 64) for use, m, n, k in (
               ("a", 8, 1, 16), ("b", 1, 8, 32), ("accumulator", 8, 8, 1), ("a", 3, 1, 5))]
DEVICES = [Matrix(*words) for words in (
    ("intel_cpu_spr", "b", "sint8", 16, 16, 64), ("intel_cpu_gnr", "a", "fp16", 7, 16, 32),
    ("intel_gpu_pvc", "a", "sint8", 8, 16, 32), ("intel_gpu_pvc", "b", "sint8", 8, 16, 32),
    ("intel_gpu_pvc", "accumulator", "fp32", 32, 64, 16), ("intel_gpu_dg2_g10", "a", "fp16", 8, 8, 16),
    ("nvidia_gpu_sm_70", "a", "fp16", 16, 16, 16), ("nvidia_gpu_sm_70", "b", "fp16", 16, 16, 16),
    ("nvidia_gpu_sm_70", "accumulator", "fp32", 16, 16, 16), ("nvidia_gpu_sm_80", "a", "fp16", 16, 16, 16),
    ("nvidia_gpu_sm_80", "b", "fp16", 8, 32, 16), ("nvidia_gpu_sm_80", "b", "sint8", 32, 8, 16),
    ("nvidia_gpu_sm_80", "accumulator", "fp64", 8, 8, 4), ("amd_gpu_gfx90a", "a", "fp16", 32, 32, 8),
    ("amd_gpu_gfx90a", "accumulator", "fp32", 32, 32, 8), ("amd_gpu_gfx90a", "b", "fp64", 16, 16, 4))]


def all_places(shown: DeviceMatrix) -> set[tuple[int, int, int, int]]:
    """Row, column, lane and component of every place that the picture's titles name."""
    return {(int(node.attrib["data-row"]), int(node.attrib["data-column"]), int(lane), int(component))
            for node in nodes(shown.to_svg())
            for lane, component in re.findall(r"lane (\d+), component (\d+)", "".join(node.itertext()))}


@pytest.mark.parametrize("matrix", [*GENERIC, *DEVICES], ids=str)
def test_components_are_where_they_are_drawn(matrix: Matrix) -> None:
    shown = matrix.layout()
    layout, count = shown.layout, shown.layout.components
    name, dtype = TYPES[matrix.type]
    memory = np.arange(layout.rows * layout.columns).reshape(layout.rows, layout.columns)
    sources = [part.astype(dtype) for part in np.divmod(memory, 32)]  # small numbers: exact in every type
    held = np.full((2, layout.sub_group_size, count), -1, dtype)
    coordinates = np.full((layout.sub_group_size, count, 2), -1, np.int32)
    device = cm.device(shown.device)
    kernel = cm.build(f"""__attribute__((intel_reqd_sub_group_size({layout.sub_group_size})))
    kernel void k(global const {name} *memory, global {name} *held, global int2 *coordinates) {{
        {name} __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {layout.rows}, {layout.columns},
                                       CLK_COOPERATIVE_MATRIX_{matrix.use.upper()}))) m;
        m = coop_mat_load(memory, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {layout.columns});
        if (coop_mat_length(m) == {count})
            for (uint i = 0; i < {count}; ++i) {{
                held[get_local_id(0) * {count} + i] = m[i];
                coordinates[get_local_id(0) * {count} + i] = coop_mat_get_coord(m, i);
            }}
    }}""", device=device).kernel("k")
    for source, result in zip(sources, held, strict=True):
        cm.Queue(device).enqueue(kernel, layout.sub_group_size, layout.sub_group_size, source, result,
                                 coordinates).wait()
    places = all_places(shown)
    assert len({place[:2] for place in places}) == memory.size
    for row, column, lane, component in places:
        assert [int(part[lane, component]) for part in held] == [*divmod(int(memory[row, column]), 32)]
        assert tuple(coordinates[lane, component]) == (row, column)
