"""What a work-item finds in its components, on every device and for every matrix of its table: that is the layout."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES, USES, Use
from coopmat.devices.layouts import matrix_layout
from coopmat.devices.operands import shape_of
from coopmat.sycl import (
    float32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_load,
    kernel,
    layout,
    nd_item,
    nd_range,
    precision,
    ptr,
    queue,
    sub_group,
    use,
)

Matrix = tuple[str, Use, str, int, int]
TYPES = {"sint8": ("char", np.int8), "uint8": ("uchar", np.uint8), "fp16": ("half", np.float16),
         "bf16": ("__bf16", ml_dtypes.bfloat16), "sint32": ("int", np.int32), "fp32": ("float", np.float32),
         "fp64": ("double", np.float64)}
SOURCE = """
typedef {element} tile __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {rows}, {columns},
                                               CLK_COOPERATIVE_MATRIX_{use})));
__attribute__((reqd_work_group_size({size}, 1, 1)))
kernel void look(global const {element} *numbers, global {element} *found, global int2 *places, global int *length) {{
    tile m = coop_mat_load(numbers, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {stride});
    if (get_local_id(0) == 0)
        *length = coop_mat_length(m);
    for (int i = 0; i < coop_mat_length(m); ++i) {{
        found[get_local_id(0) * coop_mat_length(m) + i] = m[i];
        places[get_local_id(0) * coop_mat_length(m) + i] = coop_mat_get_coord(m, i);
    }}
}}
kernel void change(global {element} *numbers) {{
    tile m = coop_mat_load(numbers, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {stride});
    for (int i = 0; i < coop_mat_length(m); ++i)
        m[i] = m[i] + ({element})1;
    coop_mat_store(numbers, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, {stride});
}}
"""


def matrices(name: str) -> list[Matrix]:
    """Every matrix of a device's table that OpenCL C has a type for: largest shapes, and odd ones where they vary."""
    found: dict[Matrix, None] = {}
    for row in ARCHITECTURES[name].combinations:
        small = tuple(exact or limit // 3 for limit, exact in (
            (row.max_msize, row.msize), (row.max_nsize, row.nsize), (row.max_ksize, row.ksize)))
        for m, n, k in (row.largest, small):
            for role in USES:
                for fmt in row.types_of(role):
                    if fmt in TYPES:
                        found[name, role, fmt, *shape_of(role, m, n, k)] = None
    return list(found)


@pytest.mark.parametrize(("name", "use", "fmt", "rows", "columns"),
                         [matrix for name in ARCHITECTURES for matrix in matrices(name)])
def test_components_are_where_the_layout_says(name: str, use: Use, fmt: str, rows: int, columns: int) -> None:
    element, dtype = TYPES[fmt]
    device = cm.device(f"sim:{name}")
    size = device.sub_group_sizes[0]
    expected = matrix_layout(name, use, fmt, rows, columns, size)
    stride = -(-columns // 8) * 8
    program = cm.build(SOURCE.format(element=element, rows=rows, columns=columns, size=size, stride=stride,
                                     use=use.upper()), device=device)
    numbers = np.zeros((rows, stride), dtype)
    numbers[:, :columns] = np.arange(rows * columns).reshape(rows, columns) % 120
    found = np.zeros((size, expected.components), dtype)
    places = np.zeros((size, expected.components, 2), np.int32)
    length = np.zeros(1, np.int32)
    cm.Queue(device).enqueue(program.kernel("look"), size, size, numbers, found, places, length).wait()
    row, column, valid = expected.held
    assert length.tolist() == [expected.components]
    np.testing.assert_array_equal(places[valid], np.stack([row, column], axis=-1)[valid])
    np.testing.assert_array_equal(found[valid], numbers[row[valid], column[valid]])

    changed = numbers.copy()
    cm.Queue(device).enqueue(program.kernel("change"), size, size, changed).wait()
    numbers[:, :columns] += dtype(1)
    np.testing.assert_array_equal(changed, numbers)  # once each, also where an element is held twice


@pytest.mark.parametrize(("name", "use_of_matrix", "rows", "columns"), [
    ("intel_gpu_pvc", "a", 8, 8), ("intel_gpu_pvc", "a", 3, 8), ("intel_gpu_pvc", "b", 8, 16),
    ("nvidia_gpu_sm_80", "a", 16, 8), ("nvidia_gpu_sm_80", "b", 8, 16)])
def test_components_of_tf32(name: str, use_of_matrix: Use, rows: int, columns: int) -> None:
    """Coordinates in joint_matrix_apply; each component writes what it holds to its own place."""
    kind = use.a if use_of_matrix == "a" else use.b
    device = cm.device(f"sim:{name}")
    size = device.sub_group_sizes[0]

    @kernel
    def look(item: nd_item[1], numbers: ptr[float32], found: ptr[float32]):
        sg = item.get_sub_group()
        m = joint_matrix(sub_group, precision.tf32, kind, rows, columns, layout.row_major)
        joint_matrix_load(sg, m, numbers, columns)
        lane = sg.get_local_linear_id()

        def write(value, row, column):
            if row < rows:  # else it is padding
                found[row * columns + column] = value + 1000 * lane
            return value

        joint_matrix_apply(sg, m, write)

    numbers = np.arange(rows * columns, dtype=np.float32)
    found = np.zeros(rows * columns, np.float32)
    queue(device).parallel_for(nd_range((size,), (size,)), look, numbers, found).wait()
    expected = matrix_layout(name, use_of_matrix, "tf32", rows, columns, size)
    np.testing.assert_array_equal(found, numbers + 1000 * expected.owner[0].reshape(-1))
