"""Cooperative matrices: memory layouts, multiply-accumulate, arithmetic, conversions, component access."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import (
    Error,
    Misaligned,
    OutOfBounds,
    SimulationError,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import DTYPES, module, run

RNG = np.random.default_rng(29)
LINE = '%file = OpString "kernel.cl"'
ROW, COLUMN, PACKED = 0, 1, 2
COMPONENTS = [kind for kind in DTYPES if kind != "bf16"]
SHAPES = [(1, 1), (8, 16), (16, 8), (3, 5), (16, 16), (7, 1), (32, 32)]


def random(kind: str, *shape: int) -> np.ndarray:
    """Random numbers of a type: all bit patterns of integers, ordinary floats."""
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind == "i":
        return np.frombuffer(RNG.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
    return RNG.standard_normal(shape).astype(dtype)


def name_of(kind: str, rows: int, columns: int, use: int = 2) -> str:
    return f"m_{kind}_{rows}x{columns}_{use}"


def copy_kernel(kind: str, rows: int, columns: int, source: int, target: int, use: int = 2, *,
                pointee: str | None = None, between: str = "", value: str = "%m", operands: str = "",
                result: str | None = None, out: str | None = None):
    """Load a matrix from ``a`` (stride sa), do something with it, store it to ``out`` (stride so)."""
    matrix, pointee = name_of(kind, rows, columns, use), pointee or kind
    return module(f"g_{out or result or pointee} out, g_{pointee} a, i64 so, i64 sa", f"""
        OpLine %file 30 1
        %m = OpCooperativeMatrixLoadKHR %{matrix} %a %i32_c{source} %sa {operands}
        {between}
        OpLine %file 31 1
        OpCooperativeMatrixStoreKHR %out {value} %i32_c{target} %so""", strings=LINE)


# --------------------------------------------------------------------------------------
# Load and store
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("source", "target"), [(ROW, ROW), (ROW, COLUMN), (COLUMN, ROW), (COLUMN, COLUMN)])
def test_layouts_and_strides(kind: str, source: int, target: int) -> None:
    for rows, columns in SHAPES:
        a = random(kind, *((rows, columns + 3) if source == ROW else (columns, rows + 3)))
        out = np.zeros((rows, columns + 2) if target == ROW else (columns, rows + 2), a.dtype)
        run(copy_kernel(kind, rows, columns, source, target), [out, a, out.shape[1], a.shape[1]])
        matrix = a[:, :-3] if source == ROW else a[:, :-3].T
        stored = out[:, :-2] if target == ROW else out[:, :-2].T
        np.testing.assert_array_equal(stored, matrix)
        assert (out[:, -2:] == 0).all()


def test_stride_zero_repeats_the_row() -> None:
    a, out = random("i32", 8), np.zeros((4, 8), np.int32)
    run(copy_kernel("i32", 4, 8, ROW, ROW), [out, a, 8, 0])
    np.testing.assert_array_equal(out, np.broadcast_to(a, (4, 8)))
    with pytest.raises(UndefinedBehavior, match="stride of 0"):
        run(copy_kernel("i32", 4, 8, ROW, ROW), [out, a, 0, 0])


@pytest.mark.parametrize(("kind", "pointee", "factor"), [
    ("f32", "i8", 4), ("f32", "v4_f32", 0.25), ("i8", "i32", 0.25), ("f16", "v2_i32", 0.25), ("i64", "f32", 2),
    ("i8", "v3_i32", 1 / 16)])
def test_the_stride_counts_elements_of_the_pointee(kind: str, pointee: str, factor: float) -> None:
    a = random(kind, 8, 32)
    out = np.zeros_like(a)
    stride = int(32 * factor)
    run(copy_kernel(kind, 8, 32, ROW, ROW, pointee=pointee), [out, a, stride, stride])
    np.testing.assert_array_equal(out, a)


def test_every_sub_group_has_its_own_place_and_stride() -> None:
    """Addresses, strides and layouts that differ between sub-groups, and sub-groups that sit out."""
    source = module("g_i32 out, g_i32 a", """
        %s = OpUConvert %i64 %sub_group
        %g = OpIMul %i64 %wx %i64_c4
        %n = OpIAdd %i64 %g %s
        %some = OpINotEqual %bool %n %i64_c2
        OpBranchConditional %some %then %end
        %then = OpLabel
        %at = OpIMul %i64 %n %i64_c40
        %p = OpPtrAccessChain %g_i32 %a %at
        %q = OpPtrAccessChain %g_i32 %out %at
        %stride = OpIAdd %i64 %n %i64_c4
        %bit = OpBitwiseAnd %i32 %sub_group %i32_c1
        %m = OpCooperativeMatrixLoadKHR %m_i32_4x4_2 %p %bit %stride
        OpCooperativeMatrixStoreKHR %q %m %i32_c0 %i64_c4
        OpBranch %end
        %end = OpLabel""")
    a, out = random("i32", 8, 40), np.zeros((8, 40), np.int32)
    run(source, [out, a], 128, 64)
    for n in range(8):
        rows = np.lib.stride_tricks.as_strided(a[n], (4, 4), (4 * (n + 4), 4))
        expected = np.zeros((4, 4)) if n == 2 else rows.T if n % 2 else rows
        np.testing.assert_array_equal(out[n, :16].reshape(4, 4), expected)


def test_packed_layout_of_b() -> None:
    """Rows are interleaved into 32-bit words: element (k, n) is at row k / q, column n * q + k mod q."""
    for kind, q in (("i8", 4), ("f16", 2), ("i16", 2)):
        b = random(kind, 16, 8)
        packed = b.reshape(16 // q, q, 8).transpose(0, 2, 1).reshape(16 // q, 8 * q).copy()
        out = np.zeros_like(b)
        run(copy_kernel(kind, 16, 8, PACKED, ROW, use=1), [out, packed, 8, 8 * q])
        np.testing.assert_array_equal(out, b)
        out = np.zeros_like(packed)
        run(copy_kernel(kind, 16, 8, ROW, PACKED, use=1), [out, b, 8 * q, 8])
        np.testing.assert_array_equal(out, packed)
        out = np.zeros_like(b)
        run(copy_kernel(kind, 16, 8, PACKED, ROW, use=0), [out, b, 8, 8])  # A is not interleaved
        np.testing.assert_array_equal(out, b)


@pytest.mark.parametrize(("layout", "use"), [(PACKED, 2), (3, 0), (4202, 1)])
def test_a_layout_that_does_not_exist(layout: int, use: int) -> None:
    with pytest.raises(UndefinedBehavior, match=f"layout {layout}"):
        run(copy_kernel("i8", 16, 16, layout, ROW, use), [np.zeros((16, 16), np.int8)] * 2 + [16, 16])


@pytest.mark.parametrize(("rows", "columns"), [(8, 16), (5, 7), (1, 1)])
@pytest.mark.parametrize("layout", [ROW, COLUMN])
def test_four_bit_components_lie_two_in_a_byte(rows: int, columns: int, layout: int) -> None:
    outer, inner = (rows, columns) if layout == ROW else (columns, rows)
    elements = RNG.integers(0, 16, (outer, inner + inner % 2), np.uint8)
    a = np.zeros((outer, 16), np.uint8)
    a[:, :elements.shape[1] // 2] = elements[:, ::2] | elements[:, 1::2] << 4
    out = np.full_like(a, 0xA5)
    run(copy_kernel("i4", rows, columns, layout, layout, pointee="i8"), [out, a, 16, 16])
    expected = np.full_like(a, 0xA5)
    expected[:, :elements.shape[1] // 2] = a[:, :elements.shape[1] // 2]
    if inner % 2:  # the neighbour of the last component is not touched
        expected[:, inner // 2] = a[:, inner // 2] & 15 | 0xA0
    np.testing.assert_array_equal(out, expected)


def test_local_memory_and_work_groups() -> None:
    source = module("g_i32 out, g_i32 a, w_i32 tile", """
        %at = OpIMul %i64 %wx %i64_c64
        %p = OpPtrAccessChain %g_i32 %a %at
        %q = OpPtrAccessChain %g_i32 %out %at
        %m = OpCooperativeMatrixLoadKHR %m_i32_8x8_2 %p %i32_c0 %i64_c8
        OpCooperativeMatrixStoreKHR %tile %m %i32_c1 %i64_c8
        OpControlBarrier %i32_c2 %i32_c2 %i32_c272
        %t = OpCooperativeMatrixLoadKHR %m_i32_8x8_2 %tile %i32_c0 %i64_c8
        OpCooperativeMatrixStoreKHR %q %t %i32_c0 %i64_c8""")
    a, out = random("i32", 6, 8, 8), np.zeros((6, 8, 8), np.int32)
    run(source, [out, a, LocalMemory(256)], 96, 16)
    np.testing.assert_array_equal(out, a.transpose(0, 2, 1))
    with pytest.raises(OutOfBounds) as error:
        run(source, [out, a, LocalMemory(252)], 96, 16)
    assert error.value.where.buffer == "argument 2 'tile'"


@pytest.mark.parametrize(("offset", "row", "column"), [(40, 7, 8), (-3, 0, 0)])
@pytest.mark.parametrize("layout", [ROW, COLUMN])
def test_out_of_bounds_names_the_element(offset: int, row: int, column: int, layout: int) -> None:
    """Sub-group 2 is at fault; the first element outside, counted along the rows, is named."""
    if layout == COLUMN and offset > 0:
        row, column = 0, 15  # the last column, from its row 0 on: 15 * 8 + 40 = 160
    constant = f"%i64_c{offset}" if offset >= 0 else f"%i64_cm{-offset}"
    stride = 16 if layout == ROW else 8
    source = module("g_f32 a", f"""
        OpLine %file 9 4
        %third = OpIEqual %bool %sub_group %i32_c2
        %at = OpSelect %i64 %third {constant} %i64_c0
        %p = OpPtrAccessChain %g_f32 %a %at
        %m = OpCooperativeMatrixLoadKHR %m_f32_8x16_2 %p %i32_c{layout} %i64_c{stride}""", strings=LINE)
    size = 160 if offset > 0 else 128
    with pytest.raises(OutOfBounds) as error:
        run(source, [np.zeros(size, np.float32)], 64, 64)
    where, element = error.value.where, row * 16 + column
    at = offset + (row * 16 + column if layout == ROW else column * 8 + row)
    assert (where.location, where.sub_group, where.lane) == ("kernel.cl:9:4", 2, element % 16)
    assert (where.buffer, where.element) == ("argument 0 'a'", at)
    name = "row_major" if layout == ROW else "col_major"
    assert f"loads element ({row}, {column}) of the 8x16 float32 matrix, {name} with stride {stride}, at byte " \
           f"{4 * at};" in str(error.value)


def test_a_negative_stride_is_checked_like_any_other() -> None:
    source = module("g_i32 out, g_i32 a, i64 s", """
        %p = OpPtrAccessChain %g_i32 %a %i64_c24
        %m = OpCooperativeMatrixLoadKHR %m_i32_4x8_2 %p %i32_c0 %s
        OpCooperativeMatrixStoreKHR %out %m %i32_c0 %i64_c8""")
    a, out = random("i32", 4, 8), np.zeros((4, 8), np.int32)
    run(source, [out, a, -8])
    np.testing.assert_array_equal(out, a[::-1])
    with pytest.raises(OutOfBounds):
        run(source, [out, a, -9])


def test_without_bounds_checks_matrices_outside_are_zero() -> None:
    options = SimulatorOptions(bounds=False)
    out = np.full((4, 8), -1, np.int32)
    run(copy_kernel("i32", 4, 8, ROW, ROW), [out, np.ones(31, np.int32), 8, 8], options=options)
    assert (out == 0).all()


def test_misaligned_pointer_and_stride() -> None:
    a, out = np.zeros(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(Misaligned, match=r"stride .* multiple of the component size, 4 bytes; it is 34"):
        run(copy_kernel("f32", 2, 2, ROW, ROW, pointee="i16"), [out, a, 4, 17])
    source = module("g_i8 a", """
        %p = OpPtrAccessChain %g_i8 %a %i64_c6
        %m = OpCooperativeMatrixLoadKHR %m_f32_2x2_2 %p %i32_c0 %i64_c8""")
    with pytest.raises(Misaligned, match="multiple of 4 bytes; it is byte 6"):
        run(source, [a.view(np.int8)])
    source = module("g_f32 a", """
        %p = OpPtrAccessChain %g_f32 %a %i64_c8
        %m = OpCooperativeMatrixLoadKHR %m_f32_2x2_2 %p %i32_c0 %i64_c2 Aligned 64""")
    with pytest.raises(Misaligned, match="multiple of 64"):
        run(source, [a])


def test_private_and_null_pointers_are_refused() -> None:
    source = module("", """
        %v = OpVariable %p_a16_f32 Function
        %p = OpBitcast %p_f32 %v
        %m = OpCooperativeMatrixLoadKHR %m_f32_4x4_2 %p %i32_c0 %i64_c4""")
    with pytest.raises(OutOfBounds, match="private memory, variable 'v'"):
        run(source, [])
    with pytest.raises(OutOfBounds, match="this one is a null pointer"):
        run(copy_kernel("f32", 4, 4, ROW, ROW), [np.zeros(16, np.float32), None, 4, 4])


def test_a_matrix_is_not_stored_to_read_only_memory() -> None:
    out = np.zeros(16, np.float32)
    out.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only"):
        run(copy_kernel("f32", 4, 4, ROW, ROW), [out, np.zeros(16, np.float32), 4, 4])


@pytest.mark.parametrize(("what", "line"), [
    ("pointer", "%m = OpCooperativeMatrixLoadKHR %m_i32_4x4_2 %p %i32_c0 %i64_c4"),
    ("stride", "%m = OpCooperativeMatrixLoadKHR %m_i32_4x4_2 %a %i32_c0 %odd"),
    ("layout", "%m = OpCooperativeMatrixLoadKHR %m_i32_4x4_2 %a %bit %i64_c4"),
    ("component", "%m = OpCompositeConstruct %m_i32_4x4_2 %lane")])
def test_operands_that_differ_in_a_sub_group(what: str, line: str) -> None:
    source = module("g_i32 a", f"""
        %twelve = OpSGreaterThan %bool %lane %i32_c11
        %odd = OpSelect %i64 %twelve %i64_c5 %i64_c4
        %bit = OpSelect %i32 %twelve %i32_c1 %i32_c0
        %p = OpPtrAccessChain %g_i32 %a %odd
        {line}""")
    with pytest.raises(UndefinedBehavior, match=f"the {what} of .* must be the same") as error:
        run(source, [np.zeros(99, np.int32)])
    lane = 1 if what == "component" else 12
    assert error.value.where.lane == lane
    assert "lane 0 has" in str(error.value)
    assert f"lane {lane} has" in str(error.value)
    if what == "pointer":
        assert "of the coop_mat_load (OpCooperativeMatrixLoadKHR)" in str(error.value)
        assert "lane 0 has element 4 of argument 0 'a' and lane 12 has element 5 of argument 0 'a'" in str(error.value)


@pytest.mark.parametrize(("pointer", "stride", "byte"), [
    ("%i64_c4611686018427387904", "%i64_c4", 1 << 64), ("%i64_cm2305843009213693952", "%i64_c4", -(1 << 63)),
    ("%i64_c0", "%i64_c4611686018427387904", None), ("%i64_c0", "%i64_cm4611686018427387904", None)])
def test_pointers_and_strides_that_wrap(pointer: str, stride: str, byte: int | None) -> None:
    """An index or stride that is 0 modulo 2**64 bytes, or too large for an address, is out of bounds."""
    source = module("g_i32 a", f"""
        %p = OpPtrAccessChain %g_i32 %a {pointer}
        %m = OpCooperativeMatrixLoadKHR %m_i32_4x4_2 %p %i32_c0 {stride}""")
    with pytest.raises(OutOfBounds, match=r"coop_mat_load .* loads element") as error:
        run(source, [np.zeros(99, np.int32)])
    assert error.value.where.buffer == "argument 0 'a'"
    if byte is not None:
        assert error.value.where.element == byte // 4


# --------------------------------------------------------------------------------------
# Multiply-accumulate
# --------------------------------------------------------------------------------------

FLAGS = ("MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR", "MatrixCSignedComponentsKHR",
         "MatrixResultSignedComponentsKHR", "SaturatingAccumulationKHR")


def multiply(a_kind: str, c_kind: str, m: int, n: int, k: int, flags: int = 0, result: str | None = None):
    result = result or c_kind
    names = "|".join(name for bit, name in enumerate(FLAGS) if flags >> bit & 1)
    return module(f"g_{result} out, g_{a_kind} a, g_{a_kind} b, g_{c_kind} c", f"""
        %ma = OpCooperativeMatrixLoadKHR %{name_of(a_kind, m, k, 0)} %a %i32_c0 %i64_c{k}
        %mb = OpCooperativeMatrixLoadKHR %{name_of(a_kind, k, n, 1)} %b %i32_c0 %i64_c{n}
        %mc = OpCooperativeMatrixLoadKHR %{name_of(c_kind, m, n)} %c %i32_c0 %i64_c{n}
        %md = OpCooperativeMatrixMulAddKHR %{name_of(result, m, n)} %ma %mb %mc {names}
        OpCooperativeMatrixStoreKHR %out %md %i32_c0 %i64_c{n}""")


def read_as(array: np.ndarray, signed: bool) -> np.ndarray:
    """Integers as Python objects, read with a sign or without."""
    return array.view(f"{'i' if signed else 'u'}{array.dtype.itemsize}").astype(object)


@pytest.mark.parametrize("flags", range(32))
@pytest.mark.parametrize(("a_kind", "c_kind"), [("i8", "i32"), ("i16", "i32"), ("i32", "i32"), ("i8", "i64")])
def test_integer_products_with_all_flags(a_kind: str, c_kind: str, flags: int) -> None:
    """Extended as the flags say, exact, modulo 2**bits or (bit 16) the last addition clamped."""
    m, n, k = 5, 7, 9
    a, b, c = random(a_kind, m, k), random(a_kind, k, n), random(c_kind, m, n)
    bits = 8 * c.dtype.itemsize
    signed = [bool(flags >> bit & 1) for bit in range(4)]
    product = read_as(a, signed[0]) @ read_as(b, signed[1])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed[3] else (0, (1 << bits) - 1)
    exact = product + read_as(c, signed[2])
    defined = np.full((m, n), True)
    if flags & 16:
        defined = (product >= low) & (product <= high)
        exact = np.minimum(np.maximum(exact, low), high)
    expected = ((exact - low) % (1 << bits) + low).astype(f"{'i' if signed[3] else 'u'}{bits // 8}").view(c.dtype)
    out = np.zeros_like(c)
    run(multiply(a_kind, c_kind, m, n, k, flags), [out, a, b, c])
    np.testing.assert_array_equal(out[defined.astype(bool)], expected[defined.astype(bool)])


@pytest.mark.parametrize(("a_kind", "c_kind", "result"), [
    ("f16", "f32", "f32"), ("f16", "f16", "f16"), ("f16", "f32", "f16"), ("bf16", "f32", "f32"),
    ("bf16", "bf16", "bf16"), ("f32", "f32", "f32"), ("f64", "f64", "f64")])
def test_floating_point_products_are_rounded_once(a_kind: str, c_kind: str, result: str) -> None:
    """Small multiples of powers of two: every order of additions is exact in float64."""
    m, n, k = 8, 16, 12
    a, b, c = (RNG.integers(-40, 41, shape) / 8 for shape in ((m, k), (k, n), (m, n)))
    a, b, c = a.astype(DTYPES[a_kind]), b.astype(DTYPES[a_kind]), c.astype(DTYPES[c_kind])
    exact = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    out = np.zeros((m, n), DTYPES[result])
    run(multiply(a_kind, c_kind, m, n, k, result=result), [out, a, b, c])
    np.testing.assert_array_equal(out, exact.astype(np.float32).astype(DTYPES[result]) if result == "bf16"
                                  else exact.astype(DTYPES[result]))


def test_tf32_and_bf16_interpretations() -> None:
    """Operands of SPV_INTEL_joint_matrix: fp32 read as tf32, int16 read as bf16."""
    code = """
        %ma = OpCooperativeMatrixLoadKHR %{0} %a %i32_c0 %i64_c8
        %mb = OpCooperativeMatrixLoadKHR %{1} %b %i32_c0 %i64_c8
        %mc = OpCooperativeMatrixLoadKHR %m_f32_8x8_2 %c %i32_c0 %i64_c8
        %md = OpCooperativeMatrixMulAddKHR %m_f32_8x8_2 %ma %mb %mc {2}
        OpCooperativeMatrixStoreKHR %out %md %i32_c0 %i64_c8"""
    c, out = random("f32", 8, 8), np.zeros((8, 8), np.float32)
    a, b = random("f32", 8, 8), random("f32", 8, 8)
    names = (name_of("f32", 8, 8, 0), name_of("f32", 8, 8, 1), "MatrixAAndBTF32ComponentsINTEL")
    run(module("g_f32 out, g_f32 a, g_f32 b, g_f32 c", code.format(*names)), [out, a, b, c])
    cut = [(x.view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32).astype(np.float64) for x in (a, b)]
    np.testing.assert_array_equal(out, (cut[0] @ cut[1] + c).astype(np.float32))
    a, b = (RNG.standard_normal((8, 8)).astype(ml_dtypes.bfloat16) for _ in range(2))
    names = (name_of("i16", 8, 8, 0), name_of("i16", 8, 8, 1), "MatrixAAndBBFloat16ComponentsINTEL")
    source = module("g_f32 out, g_i16 a, g_i16 b, g_f32 c", code.format(*names))
    run(source, [out, a.view(np.int16), b.view(np.int16), c])
    np.testing.assert_array_equal(out, (a.astype(np.float64) @ b.astype(np.float64) + c).astype(np.float32))
    names = (name_of("f16", 8, 8, 0), name_of("f16", 8, 8, 1), "MatrixAAndBTF32ComponentsINTEL")
    source = module("g_f32 out, g_f16 a, g_f16 b, g_f32 c", code.format(*names))
    with pytest.raises(ValidationError, match="float32"):
        run(source, [])


@pytest.mark.parametrize("flags", [0, 3])
def test_four_bit_products(flags: int) -> None:
    a, b = RNG.integers(0, 256, (8, 8), np.uint8), RNG.integers(0, 256, (8, 16), np.uint8)
    code = f"""
        %ma = OpCooperativeMatrixLoadKHR %m_i4_8x16_0 %a %i32_c0 %i64_c8
        %mb = OpCooperativeMatrixLoadKHR %m_i4_16x16_1 %b %i32_c1 %i64_c8
        %mc = OpCompositeConstruct %m_i32_8x16_2 %i32_c5
        %md = OpCooperativeMatrixMulAddKHR %m_i32_8x16_2 %ma %mb %mc {"|".join(FLAGS[:2]) if flags else ""}
        OpCooperativeMatrixStoreKHR %out %md %i32_c0 %i64_c16"""
    b = RNG.integers(0, 256, (16, 8), np.uint8)
    out = np.zeros((8, 16), np.int32)
    run(module("g_i32 out, g_i8 a, g_i8 b", code), [out, a, b])
    wide = [np.stack([x & 15, x >> 4], 2).reshape(len(x), -1).astype(np.int64) for x in (a, b)]
    if flags:
        wide = [x - 16 * (x >> 3) for x in wide]
    np.testing.assert_array_equal(out, wide[0] @ wide[1].T + 5)


@pytest.mark.parametrize(("line", "message"), [
    ("%d = OpCooperativeMatrixMulAddKHR %m_i32_8x8_2 %mc %mb %mc", "use A, B, accumulator"),
    ("%d = OpCooperativeMatrixMulAddKHR %m_i32_8x8_2 %ma %mb %mw", "do not go together"),
    ("%d = OpCooperativeMatrixMulAddKHR %m_f32_8x8_2 %ma %mb %mf", "all integers or all floating-point"),
    ("%d = OpCooperativeMatrixMulAddKHR %m_i32_8x8_2 %ma %mb %i32_c0", "no cooperative matrix")])
def test_products_that_do_not_go_together(line: str, message: str) -> None:
    source = module("", f"""
        %ma = OpUndef %m_i8_8x8_0
        %mb = OpUndef %m_i8_8x8_1
        %mc = OpUndef %m_i32_8x8_2
        %mw = OpUndef %m_i32_8x9_2
        %mf = OpUndef %m_f32_8x8_2
        {line}""")
    with pytest.raises(Error, match=message):
        run(source, [])


# --------------------------------------------------------------------------------------
# Arithmetic, conversions, selection
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*COMPONENTS])
def test_elementwise_arithmetic(kind: str) -> None:
    a, b = random(kind, 5, 7), random(kind, 5, 7)
    b[b == 0] = 1
    letter = "I" if kind.startswith("i") else "F"
    cases = [(f"Op{letter}Add", a + b), (f"Op{letter}Sub", a - b), (f"Op{letter}Mul", a * b)]
    if letter == "F":
        cases.append(("OpFDiv", a / b))
    else:
        wide_a, wide_b = a.astype(object), b.astype(object)
        quotient = abs(wide_a) // abs(wide_b) * np.where((a < 0) == (b < 0), 1, -1)
        cases.append(("OpSDiv", (quotient % (1 << 8 * a.itemsize)).astype(f"u{a.itemsize}").view(a.dtype)))
        cases.append(("OpUDiv", (a.view(f"u{a.itemsize}") // b.view(f"u{a.itemsize}")).view(a.dtype)))
    matrix = name_of(kind, 5, 7)
    for operation, expected in cases:
        source = module(f"g_{kind} out, g_{kind} a, g_{kind} b", f"""
            %x = OpCooperativeMatrixLoadKHR %{matrix} %a %i32_c0 %i64_c7
            %y = OpCooperativeMatrixLoadKHR %{matrix} %b %i32_c0 %i64_c7
            %z = {operation} %{matrix} %x %y
            OpCooperativeMatrixStoreKHR %out %z %i32_c0 %i64_c7""")
        out = np.zeros_like(a)
        run(source, [out, a, b])
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kind", COMPONENTS)
def test_negation_and_scalar_product(kind: str) -> None:
    a = random(kind, 4, 8)
    letter = "S" if kind.startswith("i") else "F"
    matrix, out = name_of(kind, 4, 8), np.zeros_like(a)
    run(copy_kernel(kind, 4, 8, ROW, ROW, between=f"%n = Op{letter}Negate %{matrix} %m", value="%n"), [out, a, 8, 8])
    np.testing.assert_array_equal(out, -a)
    times = f"%n = OpMatrixTimesScalar %{matrix} %m %{kind}_cm3"
    run(copy_kernel(kind, 4, 8, ROW, ROW, between=times, value="%n"), [out, a, 8, 8])
    np.testing.assert_array_equal(out, a * a.dtype.type(-3))


def test_division_by_a_zero_component_names_its_lane() -> None:
    b = np.ones((4, 8), np.int32)
    b[2, 5] = 0  # element 21: component 1 of lane 5
    source = module("g_i32 b", """
        %y = OpCooperativeMatrixLoadKHR %m_i32_4x8_2 %b %i32_c0 %i64_c8
        %z = OpSDiv %m_i32_4x8_2 %y %y""")
    with pytest.raises(UndefinedBehavior, match="divided by zero") as error:
        run(source, [b])
    assert error.value.where.lane == 5


@pytest.mark.parametrize(("operation", "kind", "target"), [
    ("OpFConvert", "f16", "f32"), ("OpFConvert", "f32", "bf16"), ("OpFConvert", "f64", "f16"),
    ("OpFConvert", "bf16", "f32"), ("OpConvertSToF", "i8", "f16"), ("OpConvertUToF", "i8", "f32"),
    ("OpConvertFToS", "f32", "i8"), ("OpConvertFToU", "f32", "i16"), ("OpSConvert", "i8", "i32"),
    ("OpUConvert", "i8", "i32"), ("OpSConvert", "i32", "i8"), ("OpBitcast", "i16", "i16"), ("OpSConvert", "i8", "i4"),
    ("OpUConvert", "i4", "i32"), ("OpSConvert", "i4", "i32")])
def test_conversions(operation: str, kind: str, target: str) -> None:
    if operation.startswith("OpConvertFTo"):
        a = RNG.uniform(0, 120, (4, 8)).astype(DTYPES[kind])
    else:
        a = random("i8" if kind == "i4" else kind, 4, 8)
    pointee = "i8" if kind == "i4" else kind
    read = (a.astype(np.int64) & 15) if kind == "i4" else a
    if operation in ("OpUConvert", "OpConvertUToF") and kind != "i4":
        read = a.view(f"u{a.itemsize}")
    elif operation == "OpSConvert" and kind == "i4":
        read = read - 16 * (read >> 3)
    stride = 8
    if kind == "i4":
        packed = (a[:, ::2] & 15 | a[:, 1::2] << 4).astype(np.int8)
        a, stride = packed, 4
    if target == "i4":
        expected = (read[:, ::2] & 15 | read[:, 1::2] << 4).astype(np.int8)
        out = np.zeros((4, 4), np.int8)
    else:
        with np.errstate(all="ignore"):
            expected = read.astype(DTYPES[target])
        out = np.zeros((4, 8), DTYPES[target])
    convert = f"%n = {operation} %{name_of(target, 4, 8)} %m"
    source = copy_kernel(kind, 4, 8, ROW, ROW, pointee=pointee, between=convert, value="%n",
                         out="i8" if target == "i4" else target)
    run(source, [out, a, out.shape[1], stride])
    np.testing.assert_array_equal(out, expected)


def test_select_phi_and_functions_with_matrices() -> None:
    """A matrix chosen by sub-group, by select, by phi and through a function's parameter and result."""
    matrix = name_of("i32", 4, 4)
    functions = f"""
        %twice_type = OpTypeFunction %{matrix} %{matrix}
        %twice = OpFunction %{matrix} None %twice_type
        %t = OpFunctionParameter %{matrix}
        %t_entry = OpLabel
        %t2 = OpIAdd %{matrix} %t %t
        OpReturnValue %t2
        OpFunctionEnd"""
    source = module("g_i32 out", f"""
        %one = OpCompositeConstruct %{matrix} %i32_c1
        %five = OpCompositeConstruct %{matrix} %i32_c5
        %bit = OpBitwiseAnd %i32 %sub_group %i32_c1
        %odd = OpIEqual %bool %bit %i32_c1
        %s = OpSelect %{matrix} %odd %one %five
        %high = OpSGreaterThan %bool %sub_group %i32_c1
        OpBranchConditional %high %then %end
        %then = OpLabel
        %d = OpFunctionCall %{matrix} %twice %s
        OpBranch %end
        %end = OpLabel
        %p = OpPhi %{matrix} %s %entry %d %then
        %copy = OpCopyObject %{matrix} %p
        %wide = OpUConvert %i64 %sub_group
        %at = OpIMul %i64 %wide %i64_c16
        %q = OpPtrAccessChain %g_i32 %out %at
        OpCooperativeMatrixStoreKHR %q %copy %i32_c0 %i64_c4""", functions=functions)
    out = np.zeros((4, 4, 4), np.int32)
    run(source, [out], 64, 64)
    assert [set(group.reshape(-1).tolist()) for group in out] == [{5}, {1}, {10}, {2}]


def test_constant_null_and_undefined_matrices() -> None:
    matrix = name_of("f16", 4, 4)
    source = module("g_f16 out", f"""
        %u = OpUndef %{matrix}
        %sum = OpFAdd %{matrix} %zero %filled
        OpCooperativeMatrixStoreKHR %out %sum %i32_c0 %i64_c4""", declarations=f"""
        %zero = OpConstantNull %{matrix}
        %filled = OpConstantComposite %{matrix} %f16_c2p5""")
    out = np.zeros(16, np.float16)
    run(source, [out])
    assert (out == 2.5).all()


# --------------------------------------------------------------------------------------
# Components, variables, arrays
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns", "size"), [(8, 16, 16), (4, 4, 16), (3, 5, 8), (1, 1, 16), (16, 16, 32)])
def test_length_and_coordinates(rows: int, columns: int, size: int) -> None:
    """The coordinates of all components of all lanes, without the padding, are all elements, once each."""
    matrix = name_of("f32", rows, columns)
    length = -(-rows * columns // size)
    seen = []
    for component in range(length):
        source = module("g_i32 out, g_v2_i32 where", f"""
            %m = OpUndef %{matrix}
            %n = OpCooperativeMatrixLengthKHR %i32 %{matrix}
            OpStore %out %n
            %c = OpCooperativeMatrixGetElementCoordINTEL %v2_i32 %m %i32_c{component}
            %p = OpPtrAccessChain %g_v2_i32 %where %gx
            OpStore %p %c""", modes=[f"SubgroupSize {size}"])
        out, where = np.zeros(1, np.int32), np.zeros((size, 2), np.int32)
        run(source, [out, where], size, size)
        assert out[0] == length
        seen += [tuple(row) for row in where.tolist() if row[0] < rows]
    assert sorted(seen) == [(r, c) for r in range(rows) for c in range(columns)]


def test_coordinates_of_a_component_that_does_not_exist() -> None:
    source = module("", """
        %m = OpUndef %m_f32_8x8_2
        %c = OpCooperativeMatrixGetElementCoordINTEL %v2_i32 %m %lane""")
    with pytest.raises(UndefinedBehavior, match="below the length 4") as error:
        run(source, [])
    assert error.value.where.lane == 4


# Every lane multiplies each of its components by 100 and adds the row it is in: by value and by pointer.
BY_VALUE = """
    %x = OpCompositeExtract %i32 {matrix_in} {i}
    %w{i} = OpCooperativeMatrixGetElementCoordINTEL %v2_i32 %m %i32_c{i}
    %row{i} = OpCompositeExtract %i32 %w{i} 0
    %y{i} = OpIMul %i32 %x{i} %i32_c100
    %z{i} = OpIAdd %i32 %y{i} %row{i}
    {matrix_out} = OpCompositeInsert %m_i32_6x5_2 %z{i} {matrix_in} {i}"""


def test_components_by_value() -> None:
    a = random("i8", 6, 5).astype(np.int32)
    lines = [BY_VALUE.format(i=i, matrix_in="%m" if i == 0 else f"%n{i - 1}", matrix_out=f"%n{i}").replace(
        "%x =", f"%x{i} =") for i in range(2)]
    out = np.zeros_like(a)
    run(copy_kernel("i32", 6, 5, ROW, ROW, between="\n".join(lines), value="%n1"), [out, a, 5, 5])
    np.testing.assert_array_equal(out, 100 * a + np.arange(6)[:, None])


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("index", ["constant", "run-time"])
def test_components_by_pointer(index: str, in_memory: bool) -> None:
    """An access chain into a matrix variable; some lanes only; the variable a register or in memory."""
    number = "%i32_c1" if index == "constant" else "%one"
    escape = "%e = OpFunctionCall %void %touch %v" if in_memory else ""
    functions = """
        %touch_type = OpTypeFunction %void %p_m_i32_6x5_2
        %touch = OpFunction %void None %touch_type
        %t = OpFunctionParameter %p_m_i32_6x5_2
        %t_entry = OpLabel
        OpReturn
        OpFunctionEnd""" if in_memory else ""
    source = module("g_i32 out, g_i32 a, i32 one", f"""
        %v = OpVariable %p_m_i32_6x5_2 Function
        %m = OpCooperativeMatrixLoadKHR %m_i32_6x5_2 %a %i32_c0 %i64_c5
        OpStore %v %m
        {escape}
        %p = OpAccessChain %p_i32 %v {number}
        %few = OpSLessThan %bool %lane %i32_c9
        OpBranchConditional %few %then %end
        %then = OpLabel
        %x = OpLoad %i32 %p
        %y = OpIAdd %i32 %x %i32_c1000
        OpStore %p %y
        OpBranch %end
        %end = OpLabel
        %n = OpLoad %m_i32_6x5_2 %v
        OpCooperativeMatrixStoreKHR %out %n %i32_c0 %i64_c5""", functions=functions)
    a = random("i8", 6, 5).astype(np.int32)
    out = np.zeros_like(a)
    run(source, [out, a, 1])
    expected = a.reshape(-1).copy()
    expected[16:25] += 1000  # component 1 of lane l is element 16 + l
    np.testing.assert_array_equal(out.reshape(-1), expected)


@pytest.mark.parametrize("pointer", ["register", "memory", "bitcast"])
def test_arrays_and_structures_of_matrices(pointer: str) -> None:
    """An array in a structure; indexed by constants and by a value of the sub-group; LLVM's pointer casts."""
    chains = {
        "register": ("%p0 = OpAccessChain %p_m_f32_4x4_2 %v %i32_c1 %i32_c0",
                     "%p1 = OpInBoundsAccessChain %p_m_f32_4x4_2 %v %i32_c1 %which"),
        "memory": ("%whole = OpCopyObject %p_pair %v\n%p0 = OpAccessChain %p_m_f32_4x4_2 %whole %i32_c1 %i32_c0",
                   "%p1 = OpAccessChain %p_m_f32_4x4_2 %whole %i32_c1 %which"),
        "bitcast": ("%arr = OpAccessChain %p_a2_m_f32_4x4_2 %v %i32_c1\n%p0 = OpBitcast %p_m_f32_4x4_2 %arr",
                    "%p1 = OpPtrAccessChain %p_m_f32_4x4_2 %p0 %which"),
    }
    source = module("g_f32 out", f"""
        %v = OpVariable %p_pair Function
        %bit = OpBitwiseAnd %i32 %sub_group %i32_c1
        %which = OpCopyObject %i32 %bit
        %one = OpCompositeConstruct %m_f32_4x4_2 %f32_c1
        %two = OpCompositeConstruct %m_f32_4x4_2 %f32_c2
        {chains[pointer][0]}
        {chains[pointer][1]}
        OpStore %p0 %one
        OpStore %p1 %two
        %x = OpLoad %m_f32_4x4_2 %p0
        %y = OpLoad %m_f32_4x4_2 %p1
        %ten = OpMatrixTimesScalar %m_f32_4x4_2 %x %f32_c10
        %z = OpFAdd %m_f32_4x4_2 %ten %y
        %wide = OpUConvert %i64 %sub_group
        %at = OpIMul %i64 %wide %i64_c16
        %q = OpPtrAccessChain %g_f32 %out %at
        OpCooperativeMatrixStoreKHR %q %z %i32_c0 %i64_c4""", declarations="""
        %pair = OpTypeStruct %i32 %a2_m_f32_4x4_2""")
    out = np.zeros((4, 16), np.float32)
    run(source, [out], 64, 64)
    assert out.tolist() == [[22.0] * 16, [12.0] * 16] * 2


def test_an_array_of_matrices_has_bounds() -> None:
    source = module("", """
        %v = OpVariable %p_a2_m_f32_4x4_2 Function
        %one = OpCompositeConstruct %m_f32_4x4_2 %f32_c1
        %p = OpAccessChain %p_m_f32_4x4_2 %v %sub_group
        OpStore %p %one""")
    with pytest.raises(OutOfBounds, match="index 2 is outside of the 2") as error:
        run(source, [], 64, 64)
    assert (error.value.where.buffer, error.value.where.sub_group) == ("variable 'v'", 2)


def test_variables_keep_the_matrices_of_sub_groups_that_wait() -> None:
    """Each sub-group leaves the loop after its own number of rounds."""
    source = module("g_i32 out", """
        %v = OpVariable %p_m_i32_4x4_2 Function
        %zero = OpCompositeConstruct %m_i32_4x4_2 %i32_c0
        %one = OpCompositeConstruct %m_i32_4x4_2 %i32_c1
        OpStore %v %zero
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i32 %i32_c0 %entry %i1 %body
        %more = OpSLessThan %bool %i %sub_group
        OpBranchConditional %more %body %end
        %body = OpLabel
        %x = OpLoad %m_i32_4x4_2 %v
        %y = OpIAdd %m_i32_4x4_2 %x %one
        OpStore %v %y
        %i1 = OpIAdd %i32 %i %i32_c1
        OpBranch %head
        %end = OpLabel
        %z = OpLoad %m_i32_4x4_2 %v
        %wide = OpUConvert %i64 %sub_group
        %at = OpIMul %i64 %wide %i64_c16
        %q = OpPtrAccessChain %g_i32 %out %at
        OpCooperativeMatrixStoreKHR %q %z %i32_c0 %i64_c4""")
    out = np.zeros((4, 16), np.int32)
    run(source, [out], 64, 64)
    assert out.tolist() == [[n] * 16 for n in range(4)]


@pytest.mark.parametrize(("declaration", "message"), [
    ("%bad = OpTypeCooperativeMatrixKHR %f32 %i32_c1 %i32_c4 %i32_c4 %i32_c2", "scope 1"),
    ("%bad = OpTypeCooperativeMatrixKHR %f32 %i32_c2 %i32_c16 %i32_c16 %i32_c2", "must require a work-group size"),
    ("%bad = OpTypeCooperativeMatrixKHR %f32 %i32_c3 %i32_c0 %i32_c4 %i32_c2", "0x4"),
    ("%bad = OpTypeCooperativeMatrixKHR %bool %i32_c3 %i32_c4 %i32_c4 %i32_c2", "cannot be bool")])
def test_matrix_types_that_are_refused(declaration: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        run(module("", "%m = OpUndef %bad", declarations=declaration), [])
