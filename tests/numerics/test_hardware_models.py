"""The arithmetic models against the rules that they claim, computed element by element with rational numbers and with
numpy's float32."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from inputs import KINDS, operands

import coopmat as cm
from coopmat.devices import ARCHITECTURES, EVIDENCE
from coopmat.devices.arithmetic import INTEGERS
from coopmat.diagnostics import Error
from coopmat.formats import FORMATS
from coopmat.numerics.hardware import ROWS, multiply_accumulate
from tests.kit.rational_model import FIELDS, decode, round_exactly

# generation: fraction bits kept, least exponent for fp32 and fp16 results, products in a block
TENSOR_CORES = {
    "nvidia_gpu_sm_70": (23, None, -19, {"fp16": 4}),
    "nvidia_gpu_sm_72": (23, None, -19, {"fp16": 4}),
    "nvidia_gpu_sm_75": (24, -132, -20, {"fp16": 8}),
    **dict.fromkeys(("nvidia_gpu_sm_80", "nvidia_gpu_sm_86", "nvidia_gpu_sm_89"),
                    (24, -132, -20, {"fp16": 8, "bf16": 8, "tf32": 4})),
    "nvidia_gpu_sm_90": (25, -133, -21, {"fp16": 16, "bf16": 16, "tf32": 8}),
}


def exponent_of(bits: int, name: str) -> int:
    exponent_bits, fraction_bits, padding = FIELDS[name]
    biased = bits >> (fraction_bits + padding) & ((1 << exponent_bits) - 1)
    return max(biased, 1) - ((1 << exponent_bits - 1) - 1)


def truncated(value: Fraction) -> int:
    return abs(value).__floor__() * (-1 if value < 0 else 1)


def aligned_sum(a: list[int], b: list[int], c: int, name: str, d: str, kept: int, floor: int | None) -> int:
    """One block, on bit patterns; finite operands."""
    terms = [(decode(x, name) * decode(y, name), exponent_of(x, name) + exponent_of(y, name))
             for x, y in zip(a, b, strict=True)]
    terms.append((decode(c, d), exponent_of(c, d)))
    terms = [(value, exponent) for value, exponent in terms if value]
    if not terms:
        return 0
    top = max(exponent for _, exponent in terms)
    quantum = Fraction(2) ** ((top if floor is None else max(top, floor)) - kept)
    total = sum(truncated(value / quantum) for value, _ in terms) * quantum
    if d == "fp16":
        bits = round_exactly(total, d)
        return 0 if bits == 0x8000 else bits
    if abs(total) >= Fraction(2) ** 128:
        return 0x7F800000 | (total < 0) << 31
    bits = round_exactly(total, d, "rtz")
    return 0 if bits == 0x80000000 else bits


def finite(bits: np.ndarray, name: str) -> np.ndarray:
    """Ones in place of NaNs and infinities."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    top = ((1 << exponent_bits) - 1) << (fraction_bits + padding)
    one = ((1 << exponent_bits - 1) - 1) << (fraction_bits + padding)
    return np.where((bits & bits.dtype.type(top)) == top, bits.dtype.type(one), bits)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "huge"])
@pytest.mark.parametrize("architecture", TENSOR_CORES)
def test_tensor_cores(architecture: str, kind: str) -> None:
    kept, floor32, floor16, blocks = TENSOR_CORES[architecture]
    for name, block in blocks.items():
        for d, floor in (("fp32", floor32), *((("fp16", floor16),) if name == "fp16" else ())):
            a, b, c = operands((3, kept), kind, (name, name, d), ((40, 1, 16), (40, 16, 1), (40, 1, 1)))
            a, b, c = finite(a, name), finite(b, name), finite(c, d)
            if name == "tf32":
                a, b = a & np.uint32(0xFFFFE000), b & np.uint32(0xFFFFE000)
            found = run(architecture, a, b, c, name, d)
            for index in range(len(a)):
                expected = int(c[index, 0, 0])
                for start in range(0, 16, block):
                    part = slice(start, start + block)
                    if isinstance(decode(expected, d), float):
                        break  # overflowed: the next blocks are finite and change nothing
                    expected = aligned_sum(a[index, 0, part].tolist(), b[index, part, 0].tolist(), expected, name, d,
                                           kept, floor)
                assert int(found[index, 0, 0]) == expected, (name, d, index)


def run(architecture: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, name: str, d: str) -> np.ndarray:
    result = multiply_accumulate(architecture, a.view(FORMATS[name].dtype), b.view(FORMATS[name].dtype),
                                 c.view(FORMATS[d].dtype), a_format=name, b_format=name, c_format=d, d_format=d)
    return result.view(FORMATS[d].bits_dtype)


def flush(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < np.float32(2.0**-126), np.copysign(np.float32(0), values), values)


@pytest.mark.parametrize("kind", ["ordinary", "wide", "cancelling", "small", "vanishing"])
@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_matrix_cores(name: str, kind: str) -> None:
    """CDNA2 with numpy's float32: pairs of pairs, added to C; zeros in place of subnormal numbers."""
    a, b, c = operands((4,), kind, (name, name, "fp32"), ((200, 4, 8), (200, 8, 4), (200, 4, 4)))
    found = run("amd_gpu_gfx90a", a, b, c, name, "fp32").view(np.float32)
    least = 2.0 ** FORMATS[name].min_exponent
    x, y = (bits.view(FORMATS[name].dtype).astype(np.float32) for bits in (a, b))
    x, y = (np.where((np.abs(values) < least) & (values != 0), np.float32(0), values) for values in (x, y))
    total = c.view(np.float32)
    total = np.where((np.abs(total) < 2.0**-126) & (total != 0), np.float32(0), total)
    with np.errstate(all="ignore"):
        for start in (0, 4):
            p = [flush(x[:, :, k, None] * y[:, k, None, :]) for k in range(start, start + 4)]
            total = flush(total + flush(flush(p[0] + p[1]) + flush(p[2] + p[3])))
    np.testing.assert_array_equal(found.view(np.uint32), total.view(np.uint32))


@pytest.mark.parametrize("kind", ["ordinary", "wide", "cancelling"])
@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_matrix_engines(name: str, kind: str) -> None:
    """XMX: a chain of fused multiply-adds, which without overflow and underflow of products is float32's own."""
    a, b, c = operands((5,), kind, (name, name, "fp32"), ((100, 2, 16), (100, 16, 2), (100, 2, 2)))
    found = run("intel_gpu_pvc", a, b, c, name, "fp32")
    for index in np.ndindex(100, 2, 2):
        total = int(c[index])
        for k in range(16):
            product = decode(int(a[index[0], index[1], k]), name) * decode(int(b[index[0], k, index[2]]), name)
            before = decode(total, "fp32")
            total = round_exactly(product + before, "fp32", negative=total == 0x80000000 and product == 0)
        assert int(found[index]) & 0x7FFFFFFF == total & 0x7FFFFFFF
        assert int(found[index]) == total or not total & 0x7FFFFFFF


@pytest.mark.parametrize("kind", ["ordinary", "wide", "cancelling", "small", "vanishing", "huge"])
@pytest.mark.parametrize("architecture", ["nvidia_gpu_sm_80", "amd_gpu_gfx90a"])
def test_double_precision(architecture: str, kind: str) -> None:
    """A chain of fused multiply-adds, each rounded once."""
    a, b, c = operands((6,), kind, ("fp64",) * 3, ((60, 2, 4), (60, 4, 2), (60, 2, 2)))
    found = run(architecture, a, b, c, "fp64", "fp64")
    for index in np.ndindex(60, 2, 2):
        total = int(c[index])
        for k in range(4):
            before = decode(total, "fp64")
            if isinstance(before, float):
                break
            product = decode(int(a[index[0], index[1], k]), "fp64") * decode(int(b[index[0], k, index[2]]), "fp64")
            total = round_exactly(product + before, "fp64")
        mask = (1 << 63) - 1
        assert int(found[index]) & mask == total & mask


@pytest.mark.parametrize(("architecture", "name", "d"), [
    ("nvidia_gpu_sm_70", "fp16", "fp16"), ("nvidia_gpu_sm_80", "tf32", "fp32"), ("intel_cpu_spr", "bf16", "fp32"),
    ("intel_gpu_pvc", "bf16", "bf16"), ("amd_gpu_gfx90a", "fp16", "fp32"), ("nvidia_gpu_sm_80", "fp64", "fp64")])
def test_pieces(architecture: str, name: str, d: str) -> None:
    """Products too large to be computed at once, and empty ones, against their rows one by one."""
    for m, n, k in ((300, 40, 37), (3, 2000, 130), (5, 4, 0), (0, 4, 4), (4, 0, 4)):
        a, b, c = operands((8,), "special", (name, name, d), ((2, 1, m, k), (3, k, n), (2, 3, m, n)))
        found = run(architecture, a, b, c, name, d)
        assert found.shape == (2, 3, m, n)
        for row in range(0, m, 50):
            part = slice(row, row + 1)
            alone = run(architecture, a[1, :, part], b[2:], c[1, 2:, part], name, d)
            np.testing.assert_array_equal(found[1, 2:, part], alone)


def test_llvm_is_loaded_for_float64_only() -> None:
    script = """
import sys
import numpy as np
import coopmat as cm
x = np.ones((2, 2), np.float16)
cm.matrix_multiply_accumulate(x, x, x, a_type="fp16", b_type="fp16", c_type="fp16", architecture="nvidia_gpu_sm_90")
assert not any(name.startswith("llvmlite") for name in sys.modules)
x = np.full((1, 1), 1 + 2.0**-30)
d = cm.matrix_multiply_accumulate(x, x, -x * x, a_type="fp64", b_type="fp64", c_type="fp64",
                                  architecture="nvidia_gpu_sm_90")
assert "llvmlite" in sys.modules and d == 2.0**-60
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_every_row_of_every_table_has_a_model() -> None:
    for name, description in ARCHITECTURES.items():
        for row in description.combinations:
            if FORMATS[row.atype].is_float:
                models = {(model.inputs, model.d_format) for model in ROWS[name]}
                assert (row.atype, row.dtype) in models, (name, row)


def test_every_model_states_its_source() -> None:
    """Once, as the integers of every architecture do."""
    stated = [(name, inputs) for row in EVIDENCE for name in row.architectures for inputs in row.inputs]
    assert len(set(stated)) == len(stated)
    models = {(name, row.inputs) for name, rows in ROWS.items() for row in rows}
    integers = {(name, INTEGERS) for name, description in ARCHITECTURES.items() if name in ROWS
                and any(not FORMATS[row.atype].is_float for row in description.combinations)}
    assert models | integers == set(stated)


@pytest.mark.parametrize("architecture", ["generic", *ROWS])
def test_integers_wrap_or_are_clamped(architecture: str) -> None:
    """Random and extreme operands of 8 bits in every mix of signs, against Python's integers."""
    types = [("sint8", "sint8"), ("sint8", "uint8"), ("uint8", "sint8"), ("uint8", "uint8")]
    for number, (a_type, b_type) in enumerate(types):
        for kind in ("ordinary", "huge"):
            shapes = ((3, 4, 64), (3, 64, 4), (3, 4, 4))
            a, b, c = (bits.view(FORMATS[name].dtype) for bits, name in zip(
                operands((10, number), kind, (a_type, b_type, "sint32"), shapes), (a_type, b_type, "sint32"),
                strict=True))
            exact = a.astype(object) @ b.astype(object) + c.astype(object)
            for saturating, expected in ((False, (exact + 2**31) % 2**32 - 2**31),
                                         (True, np.clip(exact, -2**31, 2**31 - 1))):
                found = cm.matrix_multiply_accumulate(a, b, c, a_type=a_type, b_type=b_type, c_type="sint32",
                                                      architecture=architecture, saturating=saturating)
                assert (found == expected).all()


def test_only_integers_are_clamped() -> None:
    x = np.zeros((2, 2), np.float16)
    with pytest.raises(Error, match=r"^only integers are accumulated with saturation, not fp16$"):
        cm.matrix_multiply_accumulate(x, x, x, a_type="fp16", b_type="fp16", c_type="fp16", saturating=True,
                                      architecture="nvidia_gpu_sm_90")


def test_what_is_not_in_the_table_is_refused() -> None:
    x = np.zeros((2, 2))
    with pytest.raises(Error, match=r"^there is no model of fp64\*fp64 \+ fp64 -> fp64 on intel_gpu_pvc; there are "):
        multiply_accumulate("intel_gpu_pvc", x, x, x, a_format="fp64", b_format="fp64", c_format="fp64",
                            d_format="fp64")


@pytest.mark.parametrize("architecture", TENSOR_CORES)
@pytest.mark.parametrize("kind", KINDS)
def test_half_results_from_single_accumulators(architecture: str, kind: str) -> None:
    """wmma with D of fp16 and C of fp32, as the H200 does it: the fp32 result, rounded by numpy at the end."""
    a, b, c = operands((9,), kind, ("fp16", "fp16", "fp32"), ((50, 16, 16), (50, 16, 8), (50, 16, 8)))
    wide = run(architecture, a, b, c, "fp16", "fp32").view(np.float32)
    found = multiply_accumulate(architecture, a.view(np.float16), b.view(np.float16), c.view(np.float32),
                                a_format="fp16", b_format="fp16", c_format="fp32", d_format="fp16")
    with np.errstate(over="ignore"):
        expected = np.where(np.isnan(wide), np.uint16(0x7FFF), wide.astype(np.float16).view(np.uint16))
    np.testing.assert_array_equal(found.view(np.uint16), expected)


def test_eight_products_of_tf32_at_a_time() -> None:
    """mma.sync and wgmma of Hopper add eight; in two calls, as wmma does it, the rest beside 2**24 is lost. The shape
    of the matrices changes nothing."""
    a = np.zeros((16, 8), np.float32)
    a[:, :3], a[:, 4] = (2.0**24, 1.0, 0.5), -(2.0**24)

    def product(left: np.ndarray, c: np.ndarray) -> np.ndarray:
        ones = np.ones((left.shape[1], c.shape[1]), np.float32)
        return multiply_accumulate("nvidia_gpu_sm_90", left, ones, c, a_format="tf32", b_format="tf32",
                                   c_format="fp32", d_format="fp32")

    for n in (8, 16):
        zero = np.zeros((16, n), np.float32)
        assert np.unique(product(a, zero)).tolist() == [1.5]
        assert np.unique(product(a[:, 4:], product(a[:, :4], zero))).tolist() == [0.0]


@pytest.mark.parametrize("architecture", ROWS)
def test_more_products_than_an_instruction_has_are_chained(architecture: str) -> None:
    """One call is the chain of calls with the products of one instruction each, on the same bits."""
    for row in ROWS[architecture]:
        if row.only_c is not None or row.d_format != row.c_format:
            continue
        for kind in KINDS:
            types = (row.inputs, row.inputs, row.d_format)
            a, b, c = operands((10,), kind, types, ((40, 3, 96), (40, 96, 2), (40, 3, 2)))
            once, chained = run(architecture, a, b, c, row.inputs, row.d_format), c
            for start in range(0, 96, 32):
                part = slice(start, start + 32)
                chained = run(architecture, a[..., part], b[..., part, :], chained, row.inputs, row.d_format)
            np.testing.assert_array_equal(once, chained, f"{row} {kind}")
