"""Multiplying batches of matrices on a device, through a kernel as users write it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from coopmat.diagnostics import Error
from coopmat.formats import FORMATS
from coopmat.probing.report import Multiply
from coopmat.probing.setup import Bits
from coopmat.runtime import Device, Queue
from coopmat.runtime.element_types import BY_FORMAT
from coopmat.sycl import (
    joint_matrix,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    nd_item,
    nd_range,
    ptr,
    sub_group,
    use,
)
from coopmat.sycl.kernel import SyclKernel

Types = tuple[str, str, str, str]
Shape = tuple[int, int, int]


def multiplier(device: Device, types: Types, shape: Shape) -> Multiply:
    """What multiplies batches of matrices with these types and M, N and K on a device.

    Raises :class:`coopmat.Error` for types that kernels do not have; the function that is returned raises
    :class:`coopmat.KernelNotSupported` where the device has no such matrices.
    """
    missing = [name for name in types if name not in BY_FORMAT]
    if missing:
        raise Error(f"kernels have no matrices of {missing[0]} (they have {', '.join(BY_FORMAT)}); for a chip that "
                    "has them there are --export and --results")
    size = device.sub_group_sizes[0]
    product = _kernel(types, shape, size)

    def multiply(a: Bits, b: Bits, c: Bits) -> Bits:
        stored = [bits.view(FORMATS[name].dtype) for bits, name in zip((a, b, c), types, strict=False)]
        d = np.zeros(c.shape, FORMATS[types[3]].dtype)
        Queue(device).parallel_for(nd_range(len(a) * size, size), product, *stored, d).wait()
        return d.view(FORMATS[types[3]].bits_dtype)

    return multiply


@lru_cache
def _kernel(types: Types, shape: Shape, size: int) -> SyclKernel:
    """One multiplication for each sub-group, each with matrices of its own, dense and row by row."""
    Ta, Tb, Tc, Td = (BY_FORMAT[name] for name in types)
    m, n, k = shape

    @kernel(sub_group_size=size)
    def products(item: nd_item[1], A: ptr[Ta.storage], B: ptr[Tb.storage], C: ptr[Tc.storage], D: ptr[Td.storage]):
        sg, number = item.get_sub_group(), item.get_group(0)
        a = joint_matrix(sub_group, Ta, use.a, m, k, layout.row_major)
        b = joint_matrix(sub_group, Tb, use.b, k, n, layout.row_major)
        c = joint_matrix(sub_group, Tc, use.accumulator, m, n)
        d = joint_matrix(sub_group, Td, use.accumulator, m, n)
        joint_matrix_load(sg, a, A + number * m * k, k)
        joint_matrix_load(sg, b, B + number * k * n, n)
        joint_matrix_load(sg, c, C + number * m * n, n, layout.row_major)
        joint_matrix_mad(sg, d, a, b, c)
        joint_matrix_store(sg, d, D + number * m * n, n, layout.row_major)

    return products
