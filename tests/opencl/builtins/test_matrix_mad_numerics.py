"""Every sub-group matrix function on the simulator against numpy: elements are packed as the documents say.

cl_intel_subgroup_matrix_multiply_accumulate: with p = K / (sub-group size), work-item l holds columns
l * p … l * p + p - 1 of A, the first in the lowest bits, row i in component i; column l of B, as many rows in
each 32 bits as fit, the first in the lowest; column l of the accumulator and of the result.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.opencl.builtins.patterns import Overload
from tests.kit.opencl.overload_kernels import overloads_of

OVERLOADS = overloads_of(r"intel_sub_group_\w+_matrix_mad_k\d+")
BITS = {"i8": 8, "u8": 8, "i4": 4, "u4": 4, "f16": 16, "bf16": 16, "tf32": 32}
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32}
ACCUMULATORS = {"int": np.int32, "float": np.float32, "half": np.float16, "short": ml_dtypes.bfloat16}
GROUPS = 2


class Shape:
    """What an overload's name and types tell."""

    def __init__(self, overload: Overload) -> None:
        words = overload.name.removeprefix("intel_sub_group_").split("_")
        self.a, self.b, self.k = words[0], words[1], int(words[-1][1:])
        self.a_type, self.b_type, self.acc_type = map(str, overload.parameters)
        self.m = overload.count
        self.acc = ACCUMULATORS[self.acc_type.rstrip("0123456789")]
        self.n = 16 if self.a_type.startswith(("short", "ushort", "float")) else 8


def random_elements(kind: str, shape: tuple[int, ...], random: np.random.Generator, extreme: bool) -> np.ndarray:
    """Elements as numbers: integers of the whole range, or floating-point numbers."""
    if kind in DTYPES:
        if not extreme:
            return random.integers(-4, 5, shape).astype(DTYPES[kind])
        return (random.standard_normal(shape) * 2.0 ** random.integers(-6, 6, shape)).astype(DTYPES[kind])
    bits = BITS[kind]
    low, high = (0, 2**bits - 1) if kind.startswith("u") else (-2**(bits - 1), 2**(bits - 1) - 1)
    return random.choice([low, high], shape) if extreme else random.integers(low, high + 1, shape)


def bits_of(kind: str, elements: np.ndarray) -> np.ndarray:
    """The elements' bits, as unsigned numbers."""
    if kind in DTYPES:
        return elements.view(np.uint16 if BITS[kind] == 16 else np.uint32).astype(np.uint64)
    return (elements % 2**BITS[kind]).astype(np.uint64)


def pack(bits: np.ndarray, width: int, per_word: int) -> np.ndarray:
    """Words of ``per_word`` numbers along the last axis, the first in the lowest bits."""
    parts = bits.reshape(*bits.shape[:-1], -1, per_word)
    return (parts << (np.arange(per_word, dtype=np.uint64) * np.uint64(width))).sum(axis=-1, dtype=np.uint64)


def pack_a(shape: Shape, a: np.ndarray) -> np.ndarray:
    """[group, m, k] elements of A → [group, work-item, component]."""
    if shape.a == "tf32":
        return pack_a_of_tf32(shape, a)
    per_item = shape.k // shape.n
    words = pack(bits_of(shape.a, a), BITS[shape.a], per_item)  # [group, m, work-item]
    return words.transpose(0, 2, 1).astype(np.uint16 if BITS[shape.a] * per_item == 16 else np.uint32)


def pack_a_of_tf32(shape: Shape, a: np.ndarray) -> np.ndarray:
    """The first 8 work-items hold the even rows, the others the odd ones; what M = 1 ignores is NaN."""
    packed = np.full((GROUPS, 16, max(1, shape.m // 2)), np.nan, np.float32)
    packed[:, :8] = a[:, 0::2].transpose(0, 2, 1)
    if shape.m > 1:
        packed[:, 8:] = a[:, 1::2].transpose(0, 2, 1)
    return packed


def pack_b(shape: Shape, b: np.ndarray) -> np.ndarray:
    """[group, k, n] elements of B → [group, work-item, 8 words]."""
    columns = bits_of(shape.b, np.ascontiguousarray(b.transpose(0, 2, 1)))
    words = pack(columns, BITS[shape.b], 32 // BITS[shape.b]).astype(np.uint32)
    return words.view(np.float32) if shape.b == "tf32" else words


def run(shape: Shape, name: str, device: str, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The result as [group, m, n]; work-item l holds column l, row i in component i."""
    source = f"""__attribute__((intel_reqd_sub_group_size({shape.n})))
    kernel void k(global {shape.a_type} *a, global {shape.b_type} *b, global {shape.acc_type} *c) {{
        size_t i = get_global_id(0);
        c[i] = {name}(a[i], b[i], c[i]);
    }}"""
    target = cm.device(device)
    held = np.ascontiguousarray(c.transpose(0, 2, 1))
    raw = held.view(np.int16) if held.dtype == ml_dtypes.bfloat16 else held
    cm.Queue(target).enqueue(cm.build(source, device=target).kernel("k"), (GROUPS * shape.n,), (GROUPS * shape.n,),
                             np.ascontiguousarray(pack_a(shape, a)), pack_b(shape, b), raw).wait()
    return held.transpose(0, 2, 1)


def data(shape: Shape, extreme: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    a = random_elements(shape.a, (GROUPS, shape.m, shape.k), random, extreme)
    b = random_elements(shape.b, (GROUPS, shape.k, shape.n), random, extreme)
    size = (GROUPS, shape.m, shape.n)
    if shape.acc is not np.int32:
        c = random.standard_normal(size) if extreme else random.integers(-9, 10, size)
    else:
        c = random.choice([-2**31, 2**31 - 1], size) if extreme else random.integers(-2**31, 2**31, size)
    return a, b, c.astype(shape.acc)


def devices(shape: Shape) -> tuple[str, ...]:
    return ("sim:generic", "sim:intel_gpu_dg2_g10" if shape.n == 8 else "sim:intel_gpu_pvc")


@pytest.mark.parametrize("overload", OVERLOADS, ids=str)
def test_exact(overload: Overload) -> None:
    """Integers of the whole range and at its ends, which wrap; small floating-point numbers."""
    shape = Shape(overload)
    for device in devices(shape):
        for extreme in (False, True) if shape.acc is np.int32 else (False,):
            a, b, c = data(shape, extreme, seed=int(extreme))
            exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
            if shape.acc is np.int32:
                exact = (exact.astype(np.int64) + 2**31) % 2**32 - 2**31
            found = run(shape, overload.name, device, a, b, c)
            np.testing.assert_array_equal(found.astype(np.float64), exact.astype(shape.acc).astype(np.float64))


def truncated(values: np.ndarray) -> np.ndarray:
    """tf32 operands lose their low 13 bits."""
    return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("overload", [o for o in OVERLOADS if Shape(o).acc is not np.int32], ids=str)
def test_rounded(overload: Overload) -> None:
    """Floating-point results are within the error of summing K + 1 terms in the accumulator's format."""
    shape = Shape(overload)
    epsilon = float(ml_dtypes.finfo(shape.acc).eps)
    for device in devices(shape):
        a, b, c = data(shape, True, seed=3)
        if shape.a == "tf32":
            wide_a, wide_b = truncated(a).astype(np.float64), truncated(b).astype(np.float64)
        else:
            wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        exact = wide_a @ wide_b + c.astype(np.float64)
        magnitude = np.abs(wide_a) @ np.abs(wide_b) + np.abs(c.astype(np.float64))
        found = run(shape, overload.name, device, a, b, c).astype(np.float64)
        largest = float(ml_dtypes.finfo(shape.acc).max)
        within = np.abs(exact) < largest
        assert (np.abs(found - exact) <= (shape.k + 1) * epsilon * magnitude)[within].all()
        assert within.any()
