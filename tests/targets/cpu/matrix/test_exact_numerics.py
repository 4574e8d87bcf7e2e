"""``numerics="exact"`` on the CPU: ``A*B + C`` as exact rational numbers have it, rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import coopmat as cm
from coopmat.formats import format_of, storage_from_bits, to_bits
from coopmat.runtime.executable import executable
from coopmat.targets.cpu.features import LEVELS, VARIABLE, cpu_features
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.rational_model import FIELDS, round_exactly
from tests.kit.targets.matrix_rows import FLOATS, Case, program_text
from tests.numerics.test_exact import element_bits

Formats = tuple[str, str, str, str]
RNG = np.random.default_rng(5)
SHAPES = [(1, 1, 1), (4, 8, 16), (3, 5, 7), (2, 33, 2)]
EXACT = CpuOptions(numerics="exact")


def multiply(formats: Formats, level: str, *bits: np.ndarray) -> np.ndarray:
    """The bits of D from those of A, B and C, computed by the CPU."""
    (m, k), n = bits[0].shape, bits[1].shape[1]
    arrays = [np.ascontiguousarray(storage_from_bits(one, name)) for one, name in zip(bits, formats, strict=False)]
    out = np.zeros((m, n), format_of(formats[3]).dtype)
    source = program_text(Case(formats, m, n, k), [k, n, n, n])
    program = CpuProgram(executable(source), cpu_features({VARIABLE: level}), EXACT)
    program.launch("kernel", (16,), (16,), [*arrays, out])
    return to_bits(out, formats[3])


def check(formats: Formats, level: str, *bits: np.ndarray) -> None:
    """Compare with the rational model, bit for bit."""
    found = multiply(formats, level, *bits)
    a, b, c = (one.astype(object) for one in bits)
    expected = [[element_bits(list(row), list(column), c[i, j], formats) for j, column in enumerate(b.T)]
                for i, row in enumerate(a)]
    np.testing.assert_array_equal(found.astype(object), np.array(expected, object))


def any_bits(fmt: str, shape: tuple[int, int]) -> np.ndarray:
    """Patterns of every kind: zeros, subnormal numbers, infinities and NaNs more often than by chance."""
    exponent_bits, fraction_bits, padding = FIELDS[fmt]
    largest = (1 << exponent_bits) - 1
    exponent = RNG.choice([0, 1, largest - 1, largest, largest // 2], shape, p=[0.1, 0.1, 0.02, 0.01, 0.77])
    exponent = np.where(RNG.random(shape) < 0.3, RNG.integers(0, largest, shape), exponent)
    fraction = RNG.integers(0, 1 << fraction_bits, shape) * RNG.integers(0, 2, shape)
    whole = (RNG.integers(0, 2, shape) << exponent_bits | exponent) << fraction_bits | fraction
    return (whole << padding).astype(format_of(fmt).bits_dtype)


def near_bits(fmt: str, shape: tuple[int, int], spread: int) -> np.ndarray:
    """Patterns of numbers about 1, of few bits, so that sums cancel and ties happen."""
    exponent_bits, fraction_bits, padding = FIELDS[fmt]
    exponent = (1 << exponent_bits - 1) - 1 + RNG.integers(-spread, spread + 1, shape)
    fraction = RNG.choice([0, 1, (1 << fraction_bits) - 1, 1 << fraction_bits - 1], shape)
    whole = (RNG.integers(0, 2, shape) << exponent_bits | exponent) << fraction_bits | fraction
    return (whole << padding).astype(format_of(fmt).bits_dtype)


def shapes_of(m: int, n: int, k: int) -> tuple[tuple[int, int], ...]:
    return (m, k), (k, n), (m, n)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("level", ["avx512", "baseline"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("formats", FLOATS, ids="-".join)
def test_numbers_of_every_kind(formats: Formats, shape: tuple[int, int, int], level: str) -> None:
    check(formats, level, *(any_bits(fmt, size) for fmt, size in zip(formats, shapes_of(*shape), strict=False)))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("spread", [1, 6, 13])
@pytest.mark.parametrize("formats", FLOATS, ids="-".join)
def test_cancellation_and_ties(formats: Formats, spread: int) -> None:
    check(formats, "avx2", *(near_bits(fmt, size, spread)
                             for fmt, size in zip(formats, shapes_of(8, 16, 9), strict=False)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("formats", [("bf16", "bf16", "fp32", "fp32"), ("fp32", "fp32", "fp32", "fp32")], ids="-".join)
def test_a_sum_that_double_cannot_hold(formats: Formats, level: str) -> None:
    """2**24 + 1 is a tie; one part in 2**100 decides it. Large products that cancel hide it from double."""
    tiny, huge = 2.0**-60, 2.0**60
    rows = [[2.0**24, 1, tiny, huge, -huge], [2.0**24, 1, -tiny, huge, -huge], [2.0**24, 1, 0, huge, -huge]]
    a = np.array(rows).astype(format_of(formats[0]).dtype)
    b = np.tile(np.array([[1], [1], [tiny], [huge], [huge]]), (1, 16)).astype(a.dtype)
    bits = [to_bits(one, name) for one, name in zip((a, b), formats, strict=False)]
    found = multiply(formats, level, *bits, np.zeros((3, 16), np.uint32)).view(np.float32)
    np.testing.assert_array_equal(found, np.tile([[2.0**24 + 2], [2.0**24], [2.0**24]], (1, 16)))


@pytest.mark.parametrize(("terms", "expected"), [
    ([(-0.0, 1.0), (0.0, -1.0)], -0.0), ([(-0.0, 1.0), (0.0, 1.0)], 0.0), ([(1.0, 1.0), (-1.0, 1.0)], 0.0)])
@pytest.mark.parametrize("fmt", ["fp16", "fp32", "fp64"])
def test_signs_of_zeros(fmt: str, terms: list[tuple[float, float]], expected: float) -> None:
    """The sum is -0 where C, which is -0, and all products are."""
    dtype = format_of(fmt).dtype
    a, b = (np.array([column]).astype(dtype) for column in zip(*terms, strict=True))
    bits = [to_bits(one, fmt) for one in (a, b.T, np.full((1, 1), -0.0, dtype))]
    found = multiply((fmt,) * 4, "avx2", *bits)
    assert int(found[0, 0]) == round_exactly(Fraction(0), fmt, negative=str(expected) == "-0.0")


def test_products_of_full_width_and_small_c() -> None:
    """One product, added to a C that may break a tie."""
    few = 40
    for name in ("fp16", "bf16"):
        exponent_bits, fraction_bits, _ = FIELDS[name]
        middle = (1 << exponent_bits - 1) - 1 << fraction_bits
        a = (middle + RNG.integers(0, 1 << fraction_bits, (few, 1))).astype(np.uint16)
        b = (middle + RNG.integers(0, 1 << fraction_bits, (1, few))).astype(np.uint16)
        c = RNG.integers(0, 1 << fraction_bits + 4, (few, few)).astype(np.uint16)
        check((name,) * 4, "avx2", a, b, c)


def test_the_option_of_a_device() -> None:
    """From OpenCL C: three terms that float cannot add up one after the other, 2**24 + 1 + 2**-10."""
    source = """
    #pragma OPENCL EXTENSION cl_intel_subgroup_matrix_multiply_accumulate : enable
    __attribute__((intel_reqd_sub_group_size(16)))
    kernel void sums(global float *out, global const short *a, global const int8 *b)
    {
        out[get_global_id(0)] = intel_sub_group_f16_f16_matrix_mad_k16(a[get_global_id(0)], b[get_global_id(0)], 0.0f);
    }
    """
    a = np.array([2.0**12, 1, 2.0**-10, *[0] * 13], np.float16)
    pairs = np.zeros((16, 8, 2), np.float16)
    pairs[:, 0], pairs[:, 1, 0] = (2.0**12, 1), 1
    results = {}
    for numerics in ("hardware", "exact"):
        device = cm.device("cpu", options=cm.CpuOptions(numerics=numerics))
        out = np.zeros(16, np.float32)
        kernel = cm.build(source, device=device).kernel("sums")
        cm.Queue(device).enqueue(kernel, 16, 16, out, a.view(np.int16), pairs.view(np.int32).reshape(16, 8)).wait()
        results[numerics] = out
    np.testing.assert_array_equal(results["hardware"], np.full(16, 2.0**24, np.float32))
    np.testing.assert_array_equal(results["exact"], np.full(16, 2.0**24 + 2, np.float32))
