"""The usual joint_matrix programs on several devices, against numpy and cm.matrix_multiply_accumulate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import ARCHITECTURES
from coopmat.sycl import bfloat16, float32, half, int8, int32, layout, nd_range, precision, round_to_tf32, uint8, use
from tests.kit.sycl import ported_kernels as ports
from tests.kit.sycl.row_operands import KINDS, arithmetic_of, assert_same, operands


class Target(NamedTuple):
    """A device, and the matrices that it multiplies: element types of A and B and of C, and M, N and K."""

    architecture: str
    tile: tuple[Any, Any, int, int, int]

    def __str__(self) -> str:
        return f"{self.architecture} {' '.join(map(str, self.tile))}"

    @property
    def size(self) -> int:
        """Work-items of a sub-group."""
        return ARCHITECTURES[self.architecture].sub_group_sizes[0]

    def launch(self, kernel: Any, groups: tuple[int, ...], *arguments: Any, sub_groups: int = 1) -> None:
        """Run with so many work-groups, each of ``sub_groups`` sub-groups."""
        local = (*(1 for _ in groups[1:]), sub_groups * self.size)
        ranges = nd_range(tuple(count * step for count, step in zip(groups, local, strict=True)), local)
        cm.Queue(f"sim:{self.architecture}").parallel_for(ranges, kernel, *arguments).wait()

    def matrices(self, *shapes: tuple[int, int], seed: int = 0, kind: str = "cancelling") -> list[np.ndarray]:
        """Random A, B and C of these shapes."""
        rng = np.random.default_rng(seed)
        T, Tc, *_ = self.tile
        return [operands(rng, type_.format, (len(KINDS), *shape))[KINDS.index(kind)]
                for type_, shape in zip((T, T, Tc), shapes, strict=False)]

    def product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """C + A*B, block by block of K as the kernels do."""
        T, Tc, _, _, k = self.tile
        for inner in range(0, a.shape[-1], k):
            c = cm.matrix_multiply_accumulate(
                a[..., inner:inner + k], b[..., inner:inner + k, :], c, a_type=T.format, b_type=T.format,
                c_type=Tc.format, architecture=arithmetic_of(self.architecture))
        return c


PVC = Target("intel_gpu_pvc", (bfloat16, float32, 8, 16, 16))
PVC_INT8 = Target("intel_gpu_pvc", (int8, int32, 8, 16, 32))
PVC_TF32 = Target("intel_gpu_pvc", (precision.tf32, float32, 8, 16, 8))
DG2 = Target("intel_gpu_dg2_g10", (bfloat16, float32, 8, 8, 16))
SPR = Target("intel_cpu_spr", (uint8, int32, 16, 16, 64))
GNR = Target("intel_cpu_gnr", (half, float32, 16, 16, 32))
GNR_SQUARE = Target("intel_cpu_gnr", (half, float32, 16, 16, 16))
SM_80 = Target("nvidia_gpu_sm_80", (half, half, 16, 16, 16))
SM_80_TO_FLOAT = Target("nvidia_gpu_sm_80", (half, float32, 16, 16, 16))
SM_80_TF32 = Target("nvidia_gpu_sm_80", (precision.tf32, float32, 16, 16, 8))
SM_90 = Target("nvidia_gpu_sm_90", (bfloat16, float32, 32, 8, 16))
AMD = Target("amd_gpu_gfx90a", (half, float32, 32, 32, 8))
GENERIC, GENERIC_INT8 = (Target("generic", target.tile) for target in (PVC, PVC_INT8))
targets = pytest.mark.parametrize("target", [PVC, PVC_INT8, SPR, SM_80, SM_90, AMD, DG2], ids=str)
floating = pytest.mark.parametrize("target", [PVC, GNR, SM_90, AMD], ids=str)
intel = pytest.mark.parametrize("target", [PVC, PVC_INT8, SPR, DG2], ids=str)


@targets
@pytest.mark.parametrize("order_of_a", [layout.row_major, layout.col_major])
@pytest.mark.parametrize("order_of_b", [layout.row_major, layout.col_major])
def test_register_blocked_gemm(target: Target, order_of_a: layout, order_of_b: layout) -> None:
    _, _, m, n, k = target.tile
    rows, columns = 2, 3
    M, N, K = 2 * rows * m, 2 * columns * n, 3 * k
    a, b, c = target.matrices((M, K), (K, N), (M, N), kind="any")
    expected = target.product(a, b, c)
    in_memory = [matrix if order is layout.row_major else np.ascontiguousarray(matrix.T)
                 for matrix, order in ((a, order_of_a), (b, order_of_b))]
    for matrix in in_memory:
        matrix.flags.writeable = False
    target.launch(ports.register_blocked(target.tile, rows, columns, order_of_a, order_of_b), (2, 2), *in_memory, c,
                  M, N, K)
    assert_same(c, expected, "C")


@floating
def test_gemm_with_bias_and_relu(target: Target) -> None:
    _, Tc, m, n, k = target.tile
    M, N, K = 2 * m, 3 * n, 2 * k
    a, b = target.matrices((M, K), (K, N))
    bias, d = np.random.default_rng(1).normal(size=N).astype(np.float32), np.zeros((M, N), Tc.dtype)
    target.launch(ports.with_bias(target.tile, ports.relu), (2, 3), a, b, bias, d, N, K)
    with np.errstate(invalid="ignore"):
        sums = target.product(a, b, np.zeros_like(d)) + bias
    assert_same(d, np.where(sums > 0, sums, np.float32(0)), "D")


@floating
def test_gemm_with_bias_and_gelu(target: Target) -> None:
    _, Tc, m, n, k = target.tile
    M, N, K = 2 * m, 3 * n, 2 * k
    a, b = ((0.1 * np.random.default_rng(shape[0]).normal(size=shape)).astype(target.tile[0].dtype)
            for shape in ((M, K), (K, N)))
    bias, d = np.random.default_rng(1).normal(size=N).astype(np.float32), np.zeros((M, N), Tc.dtype)
    target.launch(ports.with_bias(target.tile, ports.gelu), (2, 3), a, b, bias, d, N, K)
    sums = a.astype(np.float64) @ b.astype(np.float64) + bias
    assert np.abs(sums).max() > 1
    np.testing.assert_allclose(d, np.vectorize(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))))(sums), rtol=1e-5,
                               atol=1e-6)


@targets
def test_gemm_through_local_memory(target: Target) -> None:
    _, Tc, m, n, k = target.tile
    rows, columns, depth = 2, 2, 2
    M, N, K = 2 * rows * m, 2 * columns * n, 2 * depth * k
    a, b = target.matrices((M, K), (K, N))
    c = np.zeros((M, N), Tc.dtype)
    target.launch(ports.through_local_memory(target.tile, rows, columns, depth), (2, 2), a, b, c, N, K,
                  sub_groups=rows * columns)
    assert_same(c, target.product(a, b, np.zeros_like(c)), "C")


@pytest.mark.parametrize("target", [PVC_TF32, SM_80_TF32], ids=str)
def test_tf32_gemm(target: Target) -> None:
    _, _, m, n, k = target.tile
    M, N, K = 2 * m, 2 * n, 3 * k
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(M, K)).astype(np.float32), rng.normal(size=(K, N)).astype(np.float32)
    rounded_there, rounded_here, truncated = (np.zeros((M, N), np.float32) for _ in range(3))
    target.launch(ports.rounding_to_tf32(target.tile), (2, 2), a, b, rounded_there, N, K)
    product = ports.register_blocked(target.tile, 1, 1)
    target.launch(product, (2, 2), round_to_tf32(a), round_to_tf32(b), rounded_here, M, N, K)
    target.launch(product, (2, 2), a, b, truncated, M, N, K)
    zero = np.zeros((M, N), np.float32)
    assert_same(rounded_there, rounded_here, "C")
    assert_same(rounded_there, target.product(round_to_tf32(a), round_to_tf32(b), zero), "C")
    assert_same(truncated, target.product(a, b, zero), "C")
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(rounded_there - exact).mean() < np.abs(truncated - exact).mean()


@targets
def test_transposed_c(target: Target) -> None:
    _, _, m, n, k = target.tile
    M, N, K = 2 * m, 3 * n, 2 * k
    a, b, c = target.matrices((M, K), (K, N), (M, N), kind="any")
    in_memory = np.ascontiguousarray(c.T)
    target.launch(ports.transposed(target.tile), (2, 3), a, b, in_memory, M, N, K)
    assert_same(in_memory, np.ascontiguousarray(target.product(a, b, c).T), "C")


@pytest.mark.parametrize(("target", "Td", "role"), [
    (PVC, bfloat16, use.a), (GNR_SQUARE, half, use.b), (SM_80_TO_FLOAT, half, use.accumulator),
    (GENERIC, bfloat16, use.accumulator), (GENERIC_INT8, int8, use.accumulator)], ids=str)
def test_down_conversion(target: Target, Td: Any, role: use) -> None:
    _, _, m, n, k = target.tile
    M, N, K = 2 * m, 2 * n, 2 * k
    a, b = target.matrices((M, K), (K, N), kind="ordinary")
    d = np.zeros((M, N), Td.dtype)
    target.launch(ports.converted_down(target.tile, Td, role), (2, 2), a, b, d, N, K, 0.5)
    with np.errstate(all="ignore"):
        sums = target.product(a, b, np.zeros((M, N), target.tile[1].dtype))
        assert_same(d, (sums * np.float32(0.5)).astype(sums.dtype).astype(Td.dtype), "D")


@intel
@pytest.mark.parametrize("more", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (3, 5, 7)])
def test_out_of_bounds_checked_gemm(target: Target, more: tuple[int, int, int]) -> None:
    _, Tc, m, n, k = target.tile
    M, N, K = (2 * size + extra for size, extra in zip((m, n, k), more, strict=True))
    a, b = target.matrices((M, K), (K, N), kind="ordinary")
    d, v = np.full((M, N), 77, Tc.dtype), 3
    target.launch(ports.checked(target.tile), (-(-M // m), -(-N // n)), a, b, d, M, N, K, v)
    padded = [np.pad(matrix, ((0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)))
              for matrix, rows, columns in ((a, m, k), (b, k, n))]
    expected = target.product(*padded, np.full((padded[0].shape[0], padded[1].shape[1]), v, Tc.dtype))
    assert_same(d, np.ascontiguousarray(expected[:M, :N]), "D")


@targets
def test_batched_gemm_with_prefetches(target: Target) -> None:
    _, Tc, m, n, k = target.tile
    M, N, K, batch = 2 * m, 2 * n, 2 * k, 3
    pairs = [target.matrices((M, K), (K, N), seed=seed, kind="any") for seed in range(batch)]
    a, b = (np.stack(matrices) for matrices in zip(*pairs, strict=True))
    d = np.zeros((batch, M, N), Tc.dtype)
    target.launch(ports.batched(target.tile), (batch, 2, 2), a, b, d, M, N, K)
    assert_same(d, target.product(a, b, np.zeros_like(d)), "D")
