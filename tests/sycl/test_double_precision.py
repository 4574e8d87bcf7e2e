"""A device without double precision refuses kernels that need it, before anything runs."""

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float64, kernel, nd_item, nd_range, ptr, queue


@kernel
def halve(item: nd_item[1], x: ptr[float64]):
    x[item.get_global_id(0)] *= 0.5


def test_a_device_without_fp64() -> None:
    x = np.ones(16)
    with pytest.raises(cm.KernelNotSupported,
                       match=r":12:5: error: intel_gpu_dg2_g10 has no double precision \(fp64\).*\(kernel halve\)"):
        queue("sim:intel_gpu_dg2_g10").parallel_for(nd_range(16, 16), halve, x)
    assert (x == 1).all()


def test_a_device_with_fp64() -> None:
    x = np.ones(16)
    queue("sim:intel_gpu_pvc").parallel_for(nd_range(16, 16), halve, x).wait()
    assert (x == 0.5).all()
