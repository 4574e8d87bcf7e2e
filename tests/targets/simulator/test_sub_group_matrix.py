"""OpSubgroupMatrixMultiplyAccumulateINTEL, against a reference written from the extension's text.

The reference unpacks the operands lane by lane, multiplies Python integers or fractions, and rounds once.
"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from coopmat.devices import describe
from coopmat.devices.subgroup_layout import SUB_GROUP_MATRIX_ROWS
from coopmat.diagnostics import (
    DivergentGroupOperation,
    KernelNotSupported,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.spirv.analysis.matrix_uses import required_matrix_uses
from coopmat.targets import simulator
from coopmat.targets.cpu.sub_group_matrix import a_word
from tests.kit.targets import short_kernels
from tests.kit.targets.short_kernels import module, refuses, run

RNG = np.random.default_rng(11)
SIZES = (1, 2, 4, 8)

# name: (bits, flag of A, flag of B)
INTEGERS = {"s8": (8, 0x11, 0x22), "u8": (8, 0x10, 0x20), "s4": (4, 0x41, 0x82), "u4": (4, 0x40, 0x80)}
FLOATS = {  # name: (bits, flags, type that numpy reads the bits as)
    "f16": (16, 0xC00, np.float16), "bf16": (16, 0x3000, ml_dtypes.bfloat16), "tf32": (32, 0x300, np.float32)}
ACCUMULATORS = {  # of floating-point numbers: (kit's type, significand bits, smallest and largest exponent, dtype)
    "f32": ("f32", 24, -126, 127, np.float32), "f16": ("f16", 11, -14, 15, np.float16),
    "bf16": ("i16", 8, -126, 127, ml_dtypes.bfloat16)}
NAMES = ("MatrixASignedComponentsINTEL", "MatrixBSignedComponentsINTEL", "MatrixCBFloat16INTEL",
         "MatrixResultBFloat16INTEL", "MatrixAPackedInt8INTEL", "MatrixBPackedInt8INTEL", "MatrixAPackedInt4INTEL",
         "MatrixBPackedInt4INTEL", "MatrixATF32INTEL", "MatrixBTF32INTEL", "MatrixAPackedFloat16INTEL",
         "MatrixBPackedFloat16INTEL", "MatrixAPackedBFloat16INTEL", "MatrixBPackedBFloat16INTEL")

INTEGER_ROWS = [(size, a, b) for size in (8, 16) for a in INTEGERS for b in INTEGERS if a[1] == b[1]]
FLOAT_ROWS = [(8, "f16", "f32"), (8, "bf16", "f32"), (16, "f16", "f32"), (16, "bf16", "f32"), (16, "f16", "f16"),
              (16, "bf16", "bf16"), (16, "tf32", "f32")]


def device_of(size: int) -> str:
    return {8: "intel_gpu_dg2_g10", 16: "intel_gpu_pvc"}[size]


def vector(kind: str, count: int) -> str:
    return kind if count == 1 else f"v{count}_{kind}"


def operand_names(flags: int) -> str:
    """Operand bits as text has them."""
    return "|".join(name for bit, name in enumerate(NAMES) if flags >> bit & 1) or "None"


def kernel(size: int | None, k: int, m: int, a: str, b: str, c: str, flags: int, *, condition: str = ""):
    """A kernel in which each work-item loads its vectors, multiplies, and stores its result."""
    names = operand_names(flags)
    c_type = vector(c, m)
    loads = "".join(f"""
        %p{name} = OpPtrAccessChain %g_{kind} %{name} %gx
        %v{name} = OpLoad %{kind} %p{name}""" for name, kind in (("a", a), ("b", b), ("c", c_type)))
    return module(f"g_{c_type} out, g_{a} a, g_{b} b, g_{c_type} c", f"""{loads}
        {condition}
        %d = OpSubgroupMatrixMultiplyAccumulateINTEL %{c_type} %i32_c{k} %va %vb %vc {names}
        %q = OpPtrAccessChain %g_{c_type} %out %gx
        OpStore %q %d""", modes=[f"SubgroupSize {size}"] if size else [])


def integer_types(size: int, a: str, m: int) -> tuple[str, str, str]:
    return vector("i32" if size == 8 else "i16", m), "v8_i32", "i32"


def words(dtype: type, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return np.frombuffer(RNG.bytes(count * np.dtype(dtype).itemsize), dtype).reshape(shape).copy()


def fields(word: int, bits: int, count: int, signed: bool) -> list[int]:
    """The elements of a word, from the least significant bits on."""
    found = [word >> bits * i & (1 << bits) - 1 for i in range(count)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in found]


def unpack(a: np.ndarray, b: np.ndarray, bits: int, k: int, signs: tuple[bool, bool]) -> tuple[list, list]:
    """Rows of A and columns of B of one sub-group from the lanes' vectors [lanes, components]."""
    lanes, m = a.shape
    per_lane = k // lanes
    rows = [[x for lane in range(lanes) for x in fields(int(a[lane, i]), bits, per_lane, signs[0])] for i in range(m)]
    columns = [[x for j in range(8) for x in fields(int(b[lane, j]), bits, 32 // bits, signs[1])]
               for lane in range(lanes)]
    return rows, columns


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize(("size", "a_name", "b_name"), INTEGER_ROWS)
def test_integer_rows(size: int, a_name: str, b_name: str, m: int) -> None:
    """Random and extreme operands, with accumulators at the ends of the range: results wrap."""
    bits, a_flag, _ = INTEGERS[a_name]
    k, items = 256 // bits, 4 * size
    a = words(np.uint32 if size == 8 else np.uint16, items, m)
    b, c = words(np.uint32, items, 8), words(np.int32, items, m)
    extreme = [0, 0xFFFFFFFF, 0x80808080 if bits == 8 else 0x88888888, 0x7F7F7F7F if bits == 8 else 0x77777777]
    half = slice(2 * size, None)
    a[half] = RNG.choice(extreme, (2 * size, m)) & np.iinfo(a.dtype).max
    b[half] = RNG.choice(extreme, (2 * size, 8))
    c[half] = RNG.choice([np.iinfo(np.int32).min, np.iinfo(np.int32).max, 0], (2 * size, m))
    source = kernel(size, k, m, *integer_types(size, a_name, m), a_flag | INTEGERS[b_name][2])
    for device in (device_of(size), "generic"):
        out = np.zeros_like(c)
        run(source, [out, a, b, c], items, 2 * size, device=device)
        for start in range(0, items, size):
            here = slice(start, start + size)
            rows, columns = unpack(a[here], b[here], bits, k, (a_name[0] == "s", b_name[0] == "s"))
            for lane, column in enumerate(columns):
                for i, row in enumerate(rows):
                    exact = int(c[start + lane, i]) + sum(x * y for x, y in zip(row, column, strict=True))
                    assert out[start + lane, i] == (exact + 2**31) % 2**32 - 2**31


# --------------------------------------------------------------------------------------
# Floating point
# --------------------------------------------------------------------------------------


def nearest(exact: Fraction, precision: int, low: int, high: int) -> float:
    """A number rounded once, ties to even, with subnormal numbers, to infinity beyond the range."""
    if not exact:
        return 0.0
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    exponent -= abs(exact) < Fraction(2) ** exponent
    quantum = Fraction(2) ** (max(exponent, low) - precision + 1)
    rounded = round(exact / quantum) * quantum
    return float(rounded) if abs(rounded) < Fraction(2) ** (high + 1) else float("inf") * (1 if exact > 0 else -1)


def float_operands(size: int, name: str, m: int, numbers: np.ndarray, b_numbers: np.ndarray) -> tuple:
    """The lanes' vectors of A [M, K] and B [K, N] in the packing of the extension."""
    bits, _, dtype = FLOATS[name]
    k = 256 // bits
    stored = numbers.astype(dtype)
    if name == "tf32":
        a = RNG.standard_normal((size, -(-m // 2))).astype(np.float32)
        for lane in range(size):
            for component in range(-(-m // 2)):
                row = 2 * component + lane // k
                if row < m:
                    a[lane, component] = stored[row, lane % k]
        return a, b_numbers.astype(np.float32).T.copy()
    a_bits = np.ascontiguousarray(stored).view(np.uint16)
    b_bits = np.ascontiguousarray(b_numbers.astype(dtype)).view(np.uint16).astype(np.uint32)
    if size == 8:
        a = np.array([[int(a_bits[i, 2 * lane]) | int(a_bits[i, 2 * lane + 1]) << 16 for i in range(m)]
                      for lane in range(size)], np.uint32)
    else:
        a = np.array([[a_bits[i, lane] for i in range(m)] for lane in range(size)], np.uint16)
    b = np.array([[int(b_bits[2 * j, lane]) | int(b_bits[2 * j + 1, lane]) << 16 for j in range(8)]
                  for lane in range(size)], np.uint32)
    return a, b


def float_kernel(size: int, name: str, accumulator: str, m: int, **more: object):
    bits, flags, _ = FLOATS[name]
    if name == "tf32":
        types = (vector("f32", -(-m // 2)), "v8_f32")
    else:
        types = (vector("i32" if size == 8 else "i16", m), "v8_i32")
    return kernel(size, 256 // bits, m, *types, ACCUMULATORS[accumulator][0],
                  flags | (0xC if accumulator == "bf16" else 0), **more)


def multiply(size: int, name: str, accumulator: str, a: np.ndarray, b: np.ndarray, c: np.ndarray,
             device: str = "generic", numerics: str = "exact") -> np.ndarray:
    """D [M, N] of matrices of numbers, computed by a sub-group."""
    m = len(a)
    dtype = ACCUMULATORS[accumulator][4]
    vectors = np.ascontiguousarray(c.astype(dtype).T)
    out = np.zeros_like(vectors)
    run(float_kernel(size, name, accumulator, m), [out, *float_operands(size, name, m, a, b), vectors], size, size,
        device=device, options=simulator.SimulatorOptions(numerics=numerics))
    return out.T


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize(("size", "name", "accumulator"), FLOAT_ROWS)
@pytest.mark.parametrize("spread", [0, 8, 60])
def test_float_rows(size: int, name: str, accumulator: str, m: int, spread: int) -> None:
    """Random numbers, alike and far apart in size: the exact sum, rounded once; processors' own within their bound."""
    bits, _, dtype = FLOATS[name]
    k = 256 // bits
    spread = min(spread, 12) if "f16" in (name, accumulator) and name != "bf16" else spread
    a, b, c = (np.ldexp(RNG.standard_normal(shape), RNG.integers(-spread, spread + 1, shape)).astype(kind)
               for shape, kind in (((m, k), dtype), ((k, size), dtype), ((m, size), ACCUMULATORS[accumulator][4])))
    c.flat[0] = 0
    found = None if short_kernels.TARGET == "cuda" else multiply(size, name, accumulator, a, b, c, device_of(size))
    own = None if short_kernels.TARGET == "simulator" else multiply(
        size, name, accumulator, a, b, c, numerics="hardware")
    if name == "tf32":  # the multiplication does not see the low 13 bits
        a, b = ((array.view(np.uint32) & 0xFFFFE000).view(np.float32) for array in (a, b))
    precision, low, high = ACCUMULATORS[accumulator][1:4]
    for i in range(m):
        for j in range(size):
            products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j], strict=True)]
            exact = Fraction(float(c[i, j])) + sum(products)
            expected = nearest(exact, precision, low, high)
            assert found is None or float(found[i, j]) == expected
            if own is not None and np.isfinite(expected):  # sums as float, rounded to the accumulator's type
                error = Fraction(k, 1 << 23) * (abs(Fraction(float(c[i, j]))) + sum(map(abs, products)))
                error += Fraction(float(np.spacing(np.abs(own[i, j])))) if precision < 24 else 0
                assert abs(Fraction(float(own[i, j])) - exact) <= error


@pytest.mark.parametrize(("size", "name", "accumulator"), FLOAT_ROWS)
def test_infinities_nan_overflow_and_subnormals(size: int, name: str, accumulator: str) -> None:
    bits, _, dtype = FLOATS[name]
    k = 256 // bits
    info = ml_dtypes.finfo(ACCUMULATORS[accumulator][4])
    large = float(ml_dtypes.finfo(dtype).max) if name != "tf32" else 2.0**127 * (2 - 2.0**-10)
    a, b, c = np.zeros((8, k)), np.zeros((k, size)), np.zeros((8, size))
    b[0], b[1, 0] = 1, np.inf
    a[0, 0], a[1, 0], a[2, 0] = np.inf, -np.inf, np.nan
    a[3, 1] = 1                       # meets the infinity in column 0
    a[4, 0] = large
    c[4] = float(info.max)
    c[5] = float(info.smallest_subnormal)
    c[6] = -float(info.smallest_subnormal)
    a[6, 0] = 0.0
    c[7] = np.inf
    a[7, 0] = -np.inf
    found = multiply(size, name, accumulator, a, b, c).astype(np.float64)
    assert np.isnan(found[0, 0])  # 0 * infinity
    assert (found[0, 1:] == np.inf).all()
    assert (found[1, 1:] == -np.inf).all()
    assert np.isnan(found[2]).all()
    assert found[3, 0] == np.inf
    assert (found[3, 1:] == 0).all()
    assert (found[4, 1:] == np.inf).all() == (large >= 2.0 ** (ACCUMULATORS[accumulator][3] - 9))
    assert (found[5, 1:] == float(info.smallest_subnormal)).all()
    assert (found[6, 1:] == -float(info.smallest_subnormal)).all()
    assert np.isnan(found[7]).all()


def test_the_upper_work_items_are_ignored_for_one_row_of_tf32() -> None:
    b, c = RNG.standard_normal((16, 8)).astype(np.float32), np.zeros(16, np.float32)
    source = float_kernel(16, "tf32", "f32", 1)
    results = []
    for upper in (0.0, np.nan, 1e30):
        a = np.arange(16, dtype=np.float32)
        a[8:] = upper
        out = np.zeros(16, np.float32)
        run(source, [out, a, b, c], 16, 16)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    assert np.isfinite(results[0]).all()


# --------------------------------------------------------------------------------------
# What is not possible
# --------------------------------------------------------------------------------------

INT8 = (32, 2, "v2_i16", "v8_i32", "i32", 0x33)  # of sub-groups of 16


def arguments(size: int = 16) -> list[np.ndarray]:
    return [np.zeros((size, 2), np.int32), np.zeros((size, 2), np.int16), np.zeros((size, 8), np.int32),
            np.zeros((size, 2), np.int32)]


def test_the_whole_sub_group_must_take_part() -> None:
    condition = """%some = OpSLessThan %bool %lane %i32_c3
        OpBranchConditional %some %then %end
        %end = OpLabel
        OpReturn
        %then = OpLabel"""
    with refuses(DivergentGroupOperation, "3 of its 16 work-items"):
        run(kernel(16, *INT8, condition=condition), arguments())
    with refuses(DivergentGroupOperation, "needs full sub-groups"):
        run(kernel(16, *INT8), arguments(8), 8, 8)


def test_another_sub_group_size_is_undefined_behaviour() -> None:
    source = kernel(32, *INT8)
    simulator.compile(source, describe("intel_gpu_pvc"))
    refusal = UndefinedBehavior if short_kernels.TARGET == "simulator" else KernelNotSupported
    with pytest.raises(refusal, match=r"needs sub-groups of 16 work-items, but this kernel has .* of 32"):
        run(source, arguments(32), 32, 32, device="intel_gpu_pvc")
    with pytest.raises(refusal, match="needs sub-groups of 8"):  # 16 where a kernel requires none
        run(kernel(None, 32, 2, "v2_i32", "v8_i32", "i32", 0x33), [np.zeros((16, 2), np.int32)] * 2 + arguments()[2:])


@pytest.mark.parametrize(("size", "device"), [(16, "intel_gpu_dg2_g11"), (8, "intel_gpu_pvc")])
def test_each_device_has_the_rows_of_its_smallest_sub_group_size(size: int, device: str) -> None:
    source = kernel(None, 32, 2, *integer_types(size, "s8", 2), 0x33)
    with pytest.raises(KernelNotSupported, match=f"{device} does not support the sub-group matrix multiply") as error:
        simulator.compile(source, describe(device))
    assert f"nearest supported, for M = 1, 2, 4 and 8: sint8*sint8 + sint32 -> sint32, N={24 - size} K=32" in str(
        error.value)


@pytest.mark.parametrize("device", ["intel_cpu_spr", "nvidia_gpu_sm_80", "amd_gpu_gfx90a"])
def test_other_devices_do_not_have_the_instruction(device: str) -> None:
    with pytest.raises(KernelNotSupported, match="devices that have this instruction: intel_gpu_pvc, intel_gpu_dg2"):
        simulator.compile(kernel(None, *INT8), describe(device))


@pytest.mark.parametrize("change", [
    {"k": 64}, {"m": 3, "a": "v3_i16"}, {"a": "v4_i16"}, {"b": "v4_i32"}, {"flags": 0}, {"flags": 0x3B}, {"c": "f32"},
    {"a": "v2_f16"}, {"b": "v8_f32"}, {"flags": 0x13}])
def test_combinations_that_no_table_has(change: dict) -> None:
    row = dict(zip(("k", "m", "a", "b", "c", "flags"), INT8, strict=True)) | change
    with pytest.raises(KernelNotSupported, match="generic does not support"):
        simulator.compile(kernel(16, *row.values()), describe("generic"))


def test_operands_that_are_no_numbers() -> None:
    source = module("g_i32 p", """
        %d = OpSubgroupMatrixMultiplyAccumulateINTEL %i32 %i32_c32 %p %p %p None""")
    with pytest.raises(ValidationError) as error:
        simulator.compile(source, describe("generic"))
    assert error.value.rule == "sub-group-matrix-types"
    source = module("i32 k, i32 a, v8_i32 b", """
        %d = OpSubgroupMatrixMultiplyAccumulateINTEL %i32 %k %a %b %a None""")
    with pytest.raises(ValidationError) as error:
        simulator.compile(source, describe("generic"))
    assert error.value.rule == "sub-group-matrix-k"


@pytest.mark.parametrize("m", SIZES)
def test_words_of_a_follow_each_other(m: int) -> None:
    """What the CPU takes for granted: all elements of a word of A lie beside each other in one component."""
    for row in SUB_GROUP_MATRIX_ROWS:
        layout = row.layout("a", m)
        places, bits = layout.of_elements, layout.element_bits
        for i in range(m):
            component, _ = a_word(layout, i, 0)
            for k in range(row.k):
                start = int(places.lane[i, k]) * layout.register_bits + int(places.bit[i, k])
                word, rest = divmod(k * bits, 32)
                assert a_word(layout, i, word) == (component, start // 32)
                assert (int(places.register[i, k]), start % 32) == (component, rest)


def test_uses_are_reported() -> None:
    (use,) = required_matrix_uses(kernel(16, *INT8)).sub_group_operations
    assert (use.m, use.k, int(use.flags)) == (2, 32, 0x33)
    assert str(use) == ("M=2 K=32, A int16 vector of 2, B int32 vector of 8, C int32 vector of 2, "
                        "result int32 vector of 2, operand bits MatrixASignedComponentsINTEL|"
                        "MatrixBSignedComponentsINTEL|MatrixAPackedInt8INTEL|MatrixBPackedInt8INTEL")
