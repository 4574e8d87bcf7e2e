"""The code samples of sycl_ext_oneapi_matrix that have a kernel, ported; test_spec_samples.py runs them.

Arrays hold small integers, so that every device's arithmetic is exact and numpy gives the one right result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coopmat.sycl import (
    access,
    address_space_cast,
    annotated_ptr,
    architecture,
    bfloat16,
    cache_control,
    cache_level,
    cache_mode,
    const,
    float32,
    int8,
    int32,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_copy,
    joint_matrix_fill,
    joint_matrix_load,
    joint_matrix_mad,
    joint_matrix_prefetch,
    joint_matrix_store,
    kernel,
    layout,
    malloc_shared,
    matrix_params,
    nd_item,
    nd_range,
    precision,
    prefetch_hint_L2,
    properties,
    ptr,
    queue,
    read_hint,
    sub_group,
    use,
)

SUB_GROUP_SIZES = {"intel_gpu_pvc": 16, "intel_cpu_spr": 16, "nvidia_gpu_sm_80": 32, "amd_gpu_gfx90a": 64,
                   "generic": 16}
WITH_BYTES = WITH_BF16 = ("intel_gpu_pvc", "intel_cpu_spr", "nvidia_gpu_sm_80", "amd_gpu_gfx90a")
WITH_TF32 = ("intel_gpu_pvc", "nvidia_gpu_sm_80")


@dataclass
class Launch:
    """A ported sample on a device: what is launched, and what ``result`` holds afterwards."""

    kernel: Any
    range: nd_range
    arguments: tuple[Any, ...]
    result: np.ndarray
    expected: np.ndarray


@dataclass(frozen=True)
class Sample:
    """A code sample: how it is set up for an architecture, where it runs, and what its SPIR-V must contain (regular
    expressions whose dot takes line ends, too)."""

    name: str
    make: Callable[[str], Launch]
    architectures: tuple[str, ...]
    shows: tuple[str, ...] = field(default=())


def numbers(shape: tuple[int, ...], element: Any, low: int = -4, high: int = 5) -> np.ndarray:
    """Small integers in memory of an element type."""
    rng = np.random.default_rng(sum(shape))
    memory = malloc_shared[element](int(np.prod(shape)), queue("sim:generic"))
    memory[:] = rng.integers(low, high, memory.size).astype(memory.dtype)
    return memory.reshape(shape)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A * B, exactly."""
    return a.astype(np.float64) @ b.astype(np.float64)


def shape(name: str, *types: Any) -> tuple[int, int, int]:
    """The shape that matrix_params suggests; the device without a table takes any."""
    if name == "generic":
        return 8, 16, 8
    params = matrix_params(architecture(name), *types)
    return params.M, params.N, params.K


# ------------------------------------------------------------------ Group Memory Scope


def declaration(name: str) -> Launch:
    """The one-line declaration, filled and multiplied."""
    tM, tN, tK = shape(name, int8, int8, int32)
    B, C = numbers((tK, tN), int8), np.zeros((tM, tN), np.int32)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def declare(it: nd_item[1], B: ptr[int8], C: ptr[int32]):
        sg = it.get_sub_group()
        tA = joint_matrix(sub_group, int8, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, int8, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, int32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tA, -2)
        joint_matrix_load(sg, tB, B, tN)
        joint_matrix_fill(sg, tC, 0)
        joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, C, tN, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(declare, nd_range(size, size), (B, C), C, product(np.full((tM, tK), -2), B))


# ------------------------------------------------------------------ Load: annotated_ptr


def annotated_load(name: str) -> Launch:
    """The loads of A through a pointer whose accesses are to be cached in L2."""
    tM, tN, tK = shape(name, bfloat16, bfloat16, float32)
    SG_SIZE, M, N, K = SUB_GROUP_SIZES[name], 2 * tM, 2 * tN, 2 * tK
    A, B, C = numbers((M, K), bfloat16), numbers((K, N), bfloat16), np.zeros((M, N), np.float32)
    A_ptr = annotated_ptr(A, properties(read_hint[cache_control[cache_mode.cached, cache_level.L2]]))

    @kernel(sub_group_size=SG_SIZE)
    def load(it: nd_item[2], B: ptr[bfloat16], C: ptr[float32]):
        sg = it.get_sub_group()
        sg_startx = it.get_global_id(0) - it.get_local_id(0)
        sg_starty = it.get_global_id(1) - it.get_local_id(1)
        tA = joint_matrix(sub_group, bfloat16, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, bfloat16, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, A_ptr + sg_startx * tM * K + k, K)
            joint_matrix_load(sg, tB, B + k * N + sg_starty / SG_SIZE * tN, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, C + sg_startx * tM * N + sg_starty / SG_SIZE * tN, N, layout.row_major)

    return Launch(load, nd_range((M // tM, N // tN * SG_SIZE), (1, SG_SIZE)), (B, C), C, product(A, B))


# ------------------------------------------------------------------ Element-wise operations: alpha and relu


def relu(x):
    return x if x > 0 else 0


def scale_and_relu(name: str) -> Launch:
    """C = relu(alpha * C) by joint_matrix_apply."""
    tM, tN, _ = shape(name, bfloat16, bfloat16, float32)
    memory = numbers((tM, tN), float32)
    expected = np.maximum(memory * np.float32(1.5), 0)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def apply(it: nd_item[1], memory: ptr[float32], alpha: float32):
        sg = it.get_sub_group()
        C = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_load(sg, C, memory, tN, layout.row_major)

        def scaled(x):
            x *= alpha
            x = relu(x)

        joint_matrix_apply(sg, C, scaled)
        joint_matrix_store(sg, C, memory, tN, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(apply, nd_range(size, size), (memory, 1.5), memory, expected)


# ------------------------------------------------------------------ Prefetch


def prefetch(name: str) -> Launch:
    """The next tile of A is fetched into L2 while this one is multiplied; nothing changes but the time."""
    tM, tN, tK = shape(name, bfloat16, bfloat16, float32)
    SG_SIZE, M, N, K = SUB_GROUP_SIZES[name], tM, tN, 3 * tK
    memA, memB, memC = numbers((M, K), bfloat16), numbers((K, N), bfloat16), np.zeros((M, N), np.float32)

    @kernel(sub_group_size=SG_SIZE)
    def fetch(it: nd_item[2], memA: ptr[bfloat16], memB: ptr[bfloat16], memC: ptr[float32]):
        sg = it.get_sub_group()
        tA = joint_matrix(sub_group, bfloat16, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, bfloat16, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_prefetch[tM, tK](sg, memA + k + tK, K, layout.row_major, properties(prefetch_hint_L2))
            joint_matrix_load(sg, tA, memA + k, K)
            joint_matrix_load(sg, tB, memB + k * N, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, memC, N, layout.row_major)

    return Launch(fetch, nd_range((1, SG_SIZE), (1, SG_SIZE)), (memA, memB, memC), memC, product(memA, memB))


# ------------------------------------------------------------------ precision.tf32: declare, load, fill, apply, store


def tf32_product(name: str) -> Launch:
    """tf32 matrices are loaded from memory of float32 through a multi_ptr."""
    tM, tN, tK = shape(name, precision.tf32, precision.tf32, float32)
    bufA, bufB, bufC = numbers((tM, tK), float32), numbers((tK, tN), float32), np.zeros((tM, tN), np.float32)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def load(it: nd_item[1], bufA: ptr[float32], bufB: ptr[const[float32]], bufC: ptr[float32]):
        sg = it.get_sub_group()
        pA = address_space_cast[access.address_space.global_space, access.decorated.no](bufA)
        tA = joint_matrix(sub_group, precision.tf32, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, precision.tf32, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        joint_matrix_load(sg, tA, pA, tK)
        joint_matrix_load(sg, tB, bufB, tN)
        joint_matrix_fill(sg, tC, 0)
        joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, bufC, tN, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(load, nd_range(size, size), (bufA, bufB, bufC), bufC, product(bufA, bufB))


def tf32_fill(name: str) -> Launch:
    """A tf32 matrix is filled with a float; 42 needs six bits of its ten."""
    tM, tN, tK = shape(name, precision.tf32, precision.tf32, float32)
    bufB, bufC = numbers((tK, tN), float32), np.zeros((tM, tN), np.float32)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def fill(it: nd_item[1], bufB: ptr[float32], bufC: ptr[float32]):
        sg = it.get_sub_group()
        tA = joint_matrix(sub_group, precision.tf32, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, precision.tf32, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tN)
        v = 42.0
        joint_matrix_fill(sg, tA, v)
        joint_matrix_load(sg, tB, bufB, tN)
        joint_matrix_fill(sg, tC, 0)
        joint_matrix_mad(sg, tC, tA, tB, tC)
        joint_matrix_store(sg, tC, bufC, tN, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(fill, nd_range(size, size), (bufB, bufC), bufC, product(np.full((tM, tK), 42.0), bufB))


def tf32_apply_and_store(name: str) -> Launch:
    """An accumulator of tf32: the function gets float32 elements, memory holds float32."""
    tM, tN, _ = shape(name, precision.tf32, precision.tf32, float32)
    buf, alpha = numbers((tM, tN), float32), 2.5
    expected = buf * np.float32(alpha)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def store(it: nd_item[1], buf: ptr[float32]):
        sg = it.get_sub_group()
        pBuf = address_space_cast[access.address_space.global_space, access.decorated.no](buf)
        tC = joint_matrix(sub_group, precision.tf32, use.accumulator, tM, tN)
        joint_matrix_load(sg, tC, pBuf, tN, layout.row_major)

        def scaled(x):
            x *= alpha

        joint_matrix_apply(sg, tC, scaled)
        joint_matrix_store(sg, tC, pBuf, tN, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(store, nd_range(size, size), (buf,), buf, expected)


def copy_of(name: str, element: Any, tM: int, tK: int) -> Launch:
    """An accumulator of float32 becomes matrix A, and A an accumulator."""
    buf, out = numbers((tM, tK), float32), np.zeros((tM, tK), np.float32)

    @kernel(sub_group_size=SUB_GROUP_SIZES[name])
    def copy(it: nd_item[1], buf: ptr[float32], out: ptr[float32]):
        sg = it.get_sub_group()
        tA = joint_matrix(sub_group, element, use.a, tM, tK, layout.row_major)
        tC = joint_matrix(sub_group, float32, use.accumulator, tM, tK)
        tD = joint_matrix(sub_group, float32, use.accumulator, tM, tK)
        joint_matrix_load(sg, tC, buf, tK, layout.row_major)
        joint_matrix_copy(sg, tC, tA)
        joint_matrix_copy(sg, tA, tD)
        joint_matrix_store(sg, tD, out, tK, layout.row_major)

    size = SUB_GROUP_SIZES[name]
    return Launch(copy, nd_range(size, size), (buf, out), out, buf.copy())


def tf32_copy(name: str) -> Launch:
    """No table has an accumulator whose columns are tf32's K: the sample runs on the device that takes all shapes."""
    return copy_of(name, precision.tf32, 8, 8)


def bf16_copy(name: str) -> Launch:
    """The same call with a type whose K is a number of columns that accumulators have."""
    return copy_of(name, bfloat16, 16 if name != "intel_gpu_pvc" else 8, 16)


# ------------------------------------------------------------------ Example using int8_t type


def int8_gemm(name: str) -> Launch:
    """The example for int8_t, with its index arithmetic."""
    tM, tN, tK = shape(name, int8, int8, int32)
    SG_SIZE, M, N, K, alpha = SUB_GROUP_SIZES[name], 2 * tM, 3 * tN, 2 * tK, 3
    memA, memB = numbers((M, K), int8, -128, 128), numbers((K, N), int8, -128, 128)
    memC = malloc_shared[int32](M * N, queue("sim:generic")).reshape(M, N)
    pA, pB, pC = (address_space_cast[access.address_space.global_space, access.decorated.no](memory)
                  for memory in (memA, memB, memC))

    @kernel(sub_group_size=SG_SIZE)
    def example(item: nd_item[2]):
        global_idx = item.get_global_id(0)
        global_idy = item.get_global_id(1)
        sg_startx = global_idx - item.get_local_id(0)
        sg_starty = global_idy - item.get_local_id(1)
        sg = item.get_sub_group()
        tA = joint_matrix(sub_group, int8, use.a, tM, tK, layout.row_major)
        tB = joint_matrix(sub_group, int8, use.b, tK, tN, layout.row_major)
        tC = joint_matrix(sub_group, int32, use.accumulator, tM, tN)
        joint_matrix_fill(sg, tC, 0)
        for k in range(0, K, tK):
            joint_matrix_load(sg, tA, pA + sg_startx * tM * K + k, K)
            joint_matrix_load(sg, tB, pB + k * N + sg_starty / SG_SIZE * tN, N)
            joint_matrix_mad(sg, tC, tA, tB, tC)

        def scaled(x):
            x *= alpha

        joint_matrix_apply(sg, tC, scaled)
        joint_matrix_store(sg, tC, pC + sg_startx * tM * N + sg_starty / SG_SIZE * tN, N, layout.row_major)

    return Launch(example, nd_range((M // tM, N // tN * SG_SIZE), (1, SG_SIZE)), (), memC, product(memA, memB) * 3)


# ------------------------------------------------------------------ Compile-time query


def default_values(name: str) -> Launch:
    """Ranges and matrices from matrix_params without sizes."""
    myparams = matrix_params(architecture(name), int8, int8, int32)
    SG_SIZE, M, N, K = SUB_GROUP_SIZES[name], 2 * myparams.M, 2 * myparams.N, myparams.K
    memA, memB, memC = numbers((M, K), int8), numbers((K, N), int8), np.zeros((M, N), np.int32)

    @kernel(sub_group_size=SG_SIZE)
    def defaults(it: nd_item[2], A: ptr[int8], B: ptr[int8], C: ptr[int32]):
        sg = it.get_sub_group()
        row, column = it.get_group(0) * myparams.M, it.get_group(1) * myparams.N
        sub_a = myparams.joint_matrix_a(sub_group, layout.row_major)
        sub_b = myparams.joint_matrix_b(sub_group, layout.row_major)
        sub_c = myparams.joint_matrix_c(sub_group)
        joint_matrix_fill(sg, sub_c, 0)
        joint_matrix_load(sg, sub_a, A + row * K, K)
        joint_matrix_load(sg, sub_b, B + column, N)
        joint_matrix_mad(sg, sub_c, sub_a, sub_b, sub_c)
        joint_matrix_store(sg, sub_c, C + row * N + column, N, layout.row_major)

    NDRangeM, NDRangeN = M // myparams.M, N // myparams.N
    return Launch(defaults, nd_range((NDRangeM, NDRangeN * SG_SIZE), (1, SG_SIZE)), (memA, memB, memC), memC,
                  product(memA, memB))


TF32_PRODUCT = r"OpCooperativeMatrixMulAddKHR( %\w+){4} MatrixAAndBTF32ComponentsINTEL\n"
SAMPLES = (
    Sample("declaration", declaration, WITH_BYTES),
    Sample("annotated_ptr", annotated_load, WITH_BF16,
           (r"OpDecorate (%\w+) CacheControlLoadINTEL 1 CachedINTEL\n.*OpCooperativeMatrixLoadKHR %\w+ \1 ",)),
    Sample("apply", scale_and_relu, WITH_BF16),
    Sample("prefetch", prefetch, WITH_BF16,
           (r"OpCapability CooperativeMatrixPrefetchINTEL\n", r"OpCooperativeMatrixPrefetchINTEL %\w+ %\w+ %\w+ 1 ")),
    Sample("tf32 load", tf32_product, WITH_TF32,
           (r"OpCapability CooperativeMatrixTF32ComponentTypeINTEL\n", TF32_PRODUCT)),
    Sample("tf32 fill", tf32_fill, WITH_TF32, (TF32_PRODUCT,)),
    Sample("tf32 apply and store", tf32_apply_and_store, WITH_TF32),
    Sample("tf32 copy", tf32_copy, ("generic",)),
    Sample("copy", bf16_copy, WITH_BF16),
    Sample("int8_t", int8_gemm, WITH_BYTES),
    Sample("default values", default_values, WITH_BYTES),
)
