"""A whole program as SYCL programs are written: query, malloc_device, memcpy, command groups; checked exactly."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    access,
    address_space_cast,
    architecture,
    exception,
    free,
    info,
    int8,
    int32,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_store,
    kernel,
    layout,
    malloc_device,
    matrix_params,
    nd_item,
    nd_range,
    queue,
    sub_group,
)

ARCHITECTURES = [name for name in architecture
                 if any(row.types == ("sint8", "sint8", "sint32", "sint32")
                        for row in cm.device(f"sim:{name}").matrix_combinations)]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_int8_gemm_of_default_sizes(name: str) -> None:
    q = queue(lambda device: 1 if device.ext_oneapi_architecture_is(name) else -1)
    lanes = q.get_device().get_info(info.device.sub_group_sizes)[0]
    params = matrix_params(name, int8, int8, int32)
    M, N, K = 2 * params.M, 2 * params.N, 2 * params.K
    rng = np.random.default_rng(5)
    a, b = rng.integers(-128, 128, (M, K), np.int8), rng.integers(-128, 128, (K, N), np.int8)
    c = np.zeros((M, N), np.int32)
    A, B, C = malloc_device[int8](M * K, q), malloc_device[int8](K * N, q), malloc_device[int32](M * N, q)

    @kernel
    def gemm(item: nd_item[2]):
        pA = address_space_cast[access.address_space.global_space, access.decorated.no](A)
        sg = item.get_sub_group()
        row = item.get_group(0) * params.M
        column = item.get_group(1) * params.N
        tA = params.joint_matrix_a(sub_group, layout.row_major)
        tB = params.joint_matrix_b(sub_group, layout.row_major)
        tC = params.joint_matrix_c(sub_group)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, params.K):
            joint_matrix_load(sg, tA, pA + row * K + k, K)
            joint_matrix_load(sg, tB, B + k * N + column, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, C + row * N + column, N, layout.row_major)

    copied = [q.memcpy(A, a, a.nbytes), q.copy[int8](b, B, b.size)]

    def group(h) -> None:
        h.depends_on(copied)
        h.parallel_for(nd_range((2, 2 * lanes), (1, lanes)), gemm)

    product = q.submit(group)
    q.memcpy(c, C, c.nbytes, product).wait()
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))

    free(B, q)
    with pytest.raises(exception, match=r"malloc_device\[int8\]\(\d+\) was freed"):
        q.submit(group)
