"""The largest work-group and the local memory of each device: what it tells, what a launch may use, the docs."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES, CPU
from coopmat.devices.model import Limits
from coopmat.sycl import float32, info, kernel, local_accessor, nd_item, nd_range, ptr
from tests.devices.test_tables import KIB

HOSTS = ("intel_cpu_spr", "intel_cpu_gnr", "generic")
SOURCE = """
kernel void both(global int *out, local char *given, int last)
{
    local int own[1024];
    own[get_local_id(0)] = 1;
    if (get_local_id(0) == 0)
        given[last] = 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = own[get_local_id(0)] + given[last];
}
"""
OWN = 4096


@pytest.mark.parametrize("name", [*(f"sim:{name}" for name in ARCHITECTURES), "cpu"])
def test_a_device_has_what_the_real_one_has(name: str) -> None:
    device, row = cm.device(name), cm.device(name).description
    expected = (64 << 20, 8192) if name == "cpu" or row.name in HOSTS else (KIB[row.name] << 10, 1024)
    assert (device.local_memory_size, device.max_work_group_size) == expected
    assert device.get_info(info.device.local_mem_size) == expected[0]
    assert device.get_info(info.device.max_work_group_size) == expected[1]


@pytest.mark.parametrize("name", ["sim:intel_gpu_pvc", "sim:intel_gpu_dg2_g10", "sim:nvidia_gpu_sm_80", "sim:generic",
                                  "sim:amd_gpu_gfx90a", "cpu"])
def test_static_and_given_memory_count_together(name: str) -> None:
    queue, out = cm.Queue(name), np.zeros(64, np.int32)
    most = queue.device.local_memory_size
    both = cm.build(SOURCE, device=name).kernel("both")
    queue.enqueue(both, 64, 64, out, cm.local(most - OWN), most - OWN - 1).wait()
    np.testing.assert_array_equal(out, 3)
    with pytest.raises(cm.LaunchError, match=f"'both' needs {most + 64} bytes of local memory for each work-group "
                                             rf"\({OWN} for .*, {most - OWN + 64} for argument 1 'given'\); {name} has "
                                             rf"{most} bytes \({most >> 10} KiB\)"):
        queue.enqueue(both, 64, 64, out, cm.local(most - OWN + 64), 0)


@pytest.mark.parametrize("name", ["sim:nvidia_gpu_sm_90", "cpu"])
def test_a_work_group_is_as_large_as_the_devices(name: str) -> None:
    queue = cm.Queue(name)
    most = queue.device.max_work_group_size
    out = np.zeros(2 * most, np.int32)
    ids = cm.build("kernel void ids(global int *out) { out[get_global_id(0)] = get_local_id(0); }").kernel("ids")
    queue.enqueue(ids, 2 * most, most, out).wait()
    np.testing.assert_array_equal(out, np.tile(np.arange(most), 2))
    with pytest.raises(cm.LaunchError, match=f"has {2 * most} work-items; the device takes at most {most}"):
        queue.enqueue(ids, 2 * most, 2 * most, out)


def test_python_kernels_have_the_same_limits() -> None:
    scratch = local_accessor[float32](20_000)

    @kernel
    def k(item: nd_item[1], out: ptr[float32]):
        scratch[item.get_local_id(0)] = 1.0
        out[item.get_global_id(0)] = scratch[item.get_local_id(0)]

    out = np.zeros(16, np.float32)
    cm.Queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), k, out).wait()
    assert (out == 1).all()
    with pytest.raises(cm.LaunchError, match=r"80000 for argument 1 'scratch'.*sim:intel_gpu_dg2_g10 has 65536 bytes"):
        cm.Queue("sim:intel_gpu_dg2_g10").parallel_for(nd_range(16, 16), k, out)


def test_rows_have_a_source() -> None:
    for row in (*ARCHITECTURES.values(), CPU):
        assert row.limits.source
    with pytest.raises(ValueError, match="positive and have a source"):
        Limits(1, 1, "")
