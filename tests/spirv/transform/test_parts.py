"""Kernels that run a part of a launch: all parts together are the launch, whatever the axis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.transform.parts import in_parts

GLOBAL, LOCAL = (8, 6, 4), (4, 2, 1)
COUNTS = tuple(whole // local for whole, local in zip(GLOBAL, LOCAL, strict=True))
FIELDS = 9
POSITIONS = """
size_t place(uint axis) { return get_group_id(axis); }  // not all that asks is in the kernel itself
kernel void positions(global ulong *out, uint axis)
{
    size_t group = (get_group_id(2) * get_num_groups(1) + place(1)) * get_num_groups(0) + place(0);
    size_t item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    global ulong *o = out + (group * get_local_size(0) * get_local_size(1) + item) * 9;
    o[0] = get_global_id(0); o[1] = get_global_id(axis); o[2] = get_global_linear_id(); o[3] = get_global_size(axis);
    o[4] = get_num_groups(axis); o[5] = place(axis); o[6] = get_local_id(axis); o[7] = get_global_offset(0);
    o[8] = get_enqueued_local_size(axis);
}
"""


def slices(count: int) -> list[tuple[int, int]]:
    """An axis in two, if it can be cut."""
    return [(0, count)] if count == 1 else [(0, count // 2), (count // 2, count)]


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
@pytest.mark.parametrize("axis", range(3))
def test_all_parts_are_the_launch(device: str, axis: int) -> None:
    queue = cm.Queue(cm.device(device))
    whole = cm.build(POSITIONS)
    expected = np.zeros(np.prod(GLOBAL) * FIELDS, np.uint64)
    queue.enqueue(whole.kernel("positions"), GLOBAL, LOCAL, expected, axis).wait()
    parted = cm.build(in_parts(whole.module).to_bytes()).kernel("positions")
    found = np.full_like(expected, -1 % 2**64)
    for ranges in product(*map(slices, COUNTS)):
        first = [start for start, _ in ranges]
        size = [(end - start) * local for (start, end), local in zip(ranges, LOCAL, strict=True)]
        queue.enqueue(parted, size, LOCAL, found, axis, *first, *COUNTS).wait()
    np.testing.assert_array_equal(found, expected)


def test_a_recursive_function_that_asks_is_refused() -> None:
    text = cm.build(POSITIONS).spirv_asm
    name = next(line.split()[0] for line in text.splitlines() if "OpFunction " in line and "place" in line)
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip().startswith(f"{name} = OpFunction"))
    lines[start] = lines[start].replace(" None ", " DontInline ").replace(" Pure ", " DontInline ")
    with pytest.raises(cm.Error, match="cannot run in parts"):
        in_parts(Module.from_text("\n".join(lines)))
