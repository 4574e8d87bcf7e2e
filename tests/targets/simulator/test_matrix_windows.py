"""Checked instructions of SPV_INTEL_joint_matrix, prefetches, and changes of use: what may go wrong at run time."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import (
    DivergentGroupOperation,
    Error,
    Misaligned,
    OutOfBounds,
    SimulationError,
    UndefinedBehavior,
    ValidationError,
)
from coopmat.spirv.module import Module
from coopmat.targets.base.local_memory import LocalMemory
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.targets.short_kernels import module, run

LINE = '%file = OpString "kernel.cl"'
ROW, COLUMN, PACKED = 0, 1, 2
TILE = "m_f32_4x8_2"
PARAMETERS = "g_f32 out, g_f32 a, i32 x, i32 y, i32 h, i32 w, i64 stride"


def loading(x: str = "%x", y: str = "%y", pointer: str = "%a", before: str = "") -> Module:
    """Load a 4 x 8 matrix from a window of ``a``, and store it whole."""
    return module(PARAMETERS, f"""
        {before}
        OpLine %file 12 1
        %m = OpCooperativeMatrixLoadCheckedINTEL %{TILE} {pointer} {x} {y} %i32_c0 %h %w %stride
        OpCooperativeMatrixStoreKHR %out %m %i32_c0 %i64_c8""", strings=LINE)


def storing() -> Module:
    """Store a matrix of ones to a window of ``a``."""
    return module(PARAMETERS, f"""
        %m = OpCompositeConstruct %{TILE} %f32_c1
        OpLine %file 21 1
        OpCooperativeMatrixStoreCheckedINTEL %a %x %y %m %i32_c0 %h %w %stride""", strings=LINE)


def arguments(a: np.ndarray, x: int, y: int, h: int, w: int, stride: int | None = None) -> list[object]:
    return [np.full((4, 8), -1, np.float32), a, *map(np.int32, (x, y, h, w)),
            np.int64(a.shape[1] if stride is None else stride)]


def test_only_what_is_inside_must_be_in_the_buffer() -> None:
    """The buffer ends behind the last element of the window; the rest of the tile would lie behind it."""
    a = np.arange(15, dtype=np.float32).reshape(3, 5)
    given = arguments(a, 1, 2, 3, 5)
    run(loading(), given)
    found = given[0]
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found[:2, :3], a[1:, 2:])
    assert found.sum() == a[1:, 2:].sum()


def test_a_window_without_elements_accesses_nothing() -> None:
    null = "%null = OpConvertUToPtr %g_f32 %i64_c0"
    for x, y in ((100, 0), (-4, 0), (0, -8), (2147483647, 0), (-2147483648, -2147483648)):
        given = arguments(np.zeros((1, 1), np.float32), x, y, 50, 50)
        run(loading(pointer="%null", before=null), given)
        np.testing.assert_array_equal(given[0], np.zeros((4, 8)))
        run(storing(), given)


@pytest.mark.parametrize(("size", "says"), [
    ((4, 5), r"loads element \(2, 0\) of the 4x8 float32 matrix, row_major with stride 5, at byte 68; the buffer has "
             r"60 bytes, 15 elements of this size \("),
    ((3, 6), r"loads element \(1, 3\) of the 4x8 float32 matrix, row_major with stride 5, at byte 60")])
def test_a_window_larger_than_the_buffer(size: tuple[int, int], says: str) -> None:
    a = np.zeros((3, 5), np.float32)
    with pytest.raises(OutOfBounds, match=says) as caught:
        run(loading(), arguments(a, 1, 2, *size))
    assert "kernel.cl:12:1" in str(caught.value)
    given = arguments(a, 1, 2, *size)
    run(loading(), given, options=SimulatorOptions(bounds=False))
    with pytest.raises(OutOfBounds, match=r"stores element .*buffer has 60 bytes"):
        run(storing(), arguments(a, 1, 2, *size))


def test_sizes_have_no_sign() -> None:
    """A height of -1 is one of 4294967295: the window has every row, and the buffer ends first."""
    with pytest.raises(OutOfBounds, match=r"loads element \(3, 0\)"):
        run(loading(), arguments(np.zeros((3, 8), np.float32), 0, 0, -1, 8))


def test_a_far_row_with_a_large_stride_is_out_of_bounds() -> None:
    with pytest.raises(OutOfBounds):
        run(loading(), arguments(np.zeros((4, 8), np.float32), 2_000_000_000, 0, -1, 8, 1 << 40))


def test_offsets_and_sizes_are_the_same_in_the_sub_group() -> None:
    with pytest.raises(UndefinedBehavior, match=r"the X offset of .* must be the same in the whole sub-group; lane 0 "
                                                r"has 0 and lane 1 has 1"):
        run(loading(x="%lane"), arguments(np.zeros((20, 20), np.float32), 0, 0, 20, 20))
    with pytest.raises(UndefinedBehavior, match="the Y offset of"):
        run(loading(y="%lane"), arguments(np.zeros((20, 20), np.float32), 0, 0, 20, 20))


def test_each_sub_group_has_its_own_window_and_the_last_one_wins() -> None:
    source = module("g_f32 out, i32 h, i32 w, i64 stride", f"""
        %number = OpConvertSToF %f32 %sub_group
        %x = OpIMul %i32 %sub_group %i32_c3
        %m = OpCompositeConstruct %{TILE} %number
        OpCooperativeMatrixStoreCheckedINTEL %out %x %i32_cm1 %m %i32_c0 %h %w %stride""")
    found = np.full((9, 6), -1, np.float32)
    run(source, [found, np.int32(9), np.int32(6), np.int64(6)], 64, 64,
        options=SimulatorOptions(races=False))
    expected = np.repeat(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], np.float32), 6).reshape(9, 6)
    np.testing.assert_array_equal(found, expected)


def test_a_sub_group_that_is_not_there_writes_nothing() -> None:
    source = module("g_f32 out, i32 h, i32 w, i64 stride", f"""
        %second = OpIEqual %bool %sub_group %i32_c1
        OpBranchConditional %second %then %end
        %then = OpLabel
        %m = OpCompositeConstruct %{TILE} %f32_c5
        OpCooperativeMatrixStoreCheckedINTEL %out %sub_group %sub_group %m %i32_c0 %h %w %stride
        OpBranch %end
        %end = OpLabel
        OpReturn""")
    found = np.zeros((8, 8), np.float32)
    run(source, [found, np.int32(4), np.int32(8), np.int64(8)], 32, 32)
    assert (found[1:4, 1:] == 5).all()
    assert found.sum() == 5 * 21


def test_local_memory_has_windows_too() -> None:
    source = module("g_f32 out, w_f32 t", f"""
        %m = OpCompositeConstruct %{TILE} %f32_c3
        OpCooperativeMatrixStoreCheckedINTEL %t %i32_cm1 %i32_cm2 %m %i32_c0 %i32_c3 %i32_c6 %i64_c6
        OpControlBarrier %i32_c3 %i32_c3 %i32_c272
        %b = OpCooperativeMatrixLoadCheckedINTEL %{TILE} %t %i32_c0 %i32_c0 %i32_c0 %i32_c3 %i32_c5 %i64_c6
        %x = OpIMul %i64 %wx %i64_c32
        %p = OpPtrAccessChain %g_f32 %out %x
        OpCooperativeMatrixStoreKHR %p %b %i32_c0 %i64_c8""")
    found = np.full((8, 8), -1, np.float32)
    run(source, [found, LocalMemory(72)], 32, 16)
    expected = np.zeros((4, 8), np.float32)
    expected[:3, :5] = 3
    np.testing.assert_array_equal(found, np.concatenate([expected, expected]))


def test_packed_matrices_count_the_rows_and_columns_of_what_is_packed() -> None:
    """B of int8: four rows lie side by side; the window is over rows of 4 * N bytes."""
    whole = np.random.default_rng(3).integers(-9, 9, (12, 6), np.int8)
    packed = whole.reshape(3, 4, 6).swapaxes(1, 2).reshape(3, 24)
    source = module("g_i8 out, g_i8 a, i32 x, i32 y", """
        %m = OpCooperativeMatrixLoadCheckedINTEL %m_i8_8x4_1 %a %x %y %i32_c2 %i32_c3 %i32_c24 %i64_c24
        OpCooperativeMatrixStoreKHR %out %m %i32_c0 %i64_c4""")
    for x, y in ((0, 0), (1, 8), (2, 16), (-1, -4)):
        found = np.full((8, 4), 77, np.int8)
        run(source, [found, packed, np.int32(x), np.int32(y)])
        around = np.zeros((52, 46), np.int8)
        around[20:32, 20:26] = whole
        row, column = 20 + 4 * x, 20 + y // 4
        np.testing.assert_array_equal(found, around[row:row + 8, column:column + 4])


def test_a_layout_that_the_matrix_cannot_have() -> None:
    source = module("g_f32 a", f"""
        %m = OpCooperativeMatrixLoadCheckedINTEL %{TILE} %a %i32_c0 %i32_c0 %i32_c2 %i32_c4 %i32_c8 %i64_c8""")
    with pytest.raises(UndefinedBehavior, match=r"layout 2 is not possible for a 4x8 float32 matrix of use 2"):
        run(source, [np.zeros(32, np.float32)])


def test_pointers_and_strides_of_whole_components() -> None:
    source = module("g_i8 a, i64 stride, i64 start", f"""
        %p = OpPtrAccessChain %g_i8 %a %start
        %m = OpCooperativeMatrixLoadCheckedINTEL %{TILE} %p %i32_c0 %i32_c0 %i32_c0 %i32_c4 %i32_c8 %stride""")
    for stride, start, what in ((32, 2, "pointer"), (33, 0, "stride")):
        with pytest.raises(Misaligned, match=f"the {what} of"):
            run(source, [np.zeros(1000, np.int8), np.int64(stride), np.int64(start)])


def test_memory_that_cannot_be_written() -> None:
    constant = np.zeros((4, 8), np.float32)
    constant.flags.writeable = False
    with pytest.raises(SimulationError, match="read-only memory"):
        run(storing(), arguments(constant, 0, 0, 4, 8))
    with pytest.raises(UndefinedBehavior, match="stride of 0"):
        run(storing(), arguments(np.zeros((4, 8), np.float32), 0, 0, 4, 8, 0))
    private = module("", f"""
        %v = OpVariable %p_f32 Function
        %m = OpCooperativeMatrixLoadCheckedINTEL %{TILE} %v %i32_c0 %i32_c0 %i32_c0 %i32_c4 %i32_c8 %i64_c8""")
    with pytest.raises(OutOfBounds, match="needs a pointer to global or local memory"):
        run(private, [])


def test_a_part_of_a_sub_group_cannot_do_it() -> None:
    for line in (f"%m = OpCooperativeMatrixLoadCheckedINTEL %{TILE} %a %i32_c0 %i32_c0 %i32_c0 %i32_c4 %i32_c8 %i64_c8",
                 f"%m = OpCooperativeMatrixConstructCheckedINTEL %{TILE} %i32_c0 %i32_c0 %i32_c4 %i32_c8 %f32_c1"):
        source = module("g_f32 a", f"""
            %some = OpULessThan %bool %lane %i32_c3
            OpBranchConditional %some %then %end
            %then = OpLabel
            {line}
            OpBranch %end
            %end = OpLabel
            OpReturn""")
        with pytest.raises(DivergentGroupOperation):
            run(source, [np.zeros(32, np.float32)])


def test_components_of_four_bits_have_no_windows() -> None:
    source = module("g_i8 a", """
        %m = OpCooperativeMatrixLoadCheckedINTEL %m_i4_8x8_0 %a %i32_c0 %i32_c0 %i32_c0 %i32_c8 %i32_c8 %i64_c8""")
    with pytest.raises(Error, match="the components of a matrix in a window have at least 8 bits"):
        run(source, [np.zeros(64, np.int8)])


def test_a_checked_fill() -> None:
    source = module("g_bf16 out, bf16 v, i32 x, i32 y", """
        %m = OpCooperativeMatrixConstructCheckedINTEL %m_bf16_4x8_0 %x %y %i32_c10 %i32_c20 %v
        OpCooperativeMatrixStoreKHR %out %m %i32_c0 %i64_c8""")
    found = np.ones((4, 8), ml_dtypes.bfloat16)
    run(source, [found, ml_dtypes.bfloat16(1.5), np.int32(8), np.int32(-3)])
    expected = np.zeros((4, 8))
    expected[:2, 3:] = 1.5
    np.testing.assert_array_equal(found.astype("f8"), expected)
    varying = module("", """
        %v = OpConvertSToF %f32 %lane
        %m = OpCooperativeMatrixConstructCheckedINTEL %m_f32_4x8_2 %i32_c0 %i32_c0 %i32_c4 %i32_c8 %v""")
    with pytest.raises(UndefinedBehavior, match="the component of"):
        run(varying, [])


def test_a_prefetch_of_anything() -> None:
    source = module("g_f32 a", """
        %null = OpConvertUToPtr %g_f32 %i64_c0
        OpCooperativeMatrixPrefetchINTEL %null %i32_cm1 %i32_c7 %i32_c8 %i32_c16 3 %i32_c0 %i64_c64
        OpCooperativeMatrixPrefetchINTEL %null %i32_c8 %i32_c16 0 %i32_c0 %i64_c64""")
    run(source, [np.zeros(1, np.float32)])


# --------------------------------------------------------------------------------------
# Changes of use
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "decorations"), [
    ("OpCooperativeMatrixTransposeNV", ""),
    ("OpCooperativeMatrixConvertUseEXT", "OpDecorate %t CooperativeMatrixTransposeEXT")])
def test_a_transposition(line: str, decorations: str) -> None:
    source = module("g_f32 out, g_f32 a", f"""
        %m = OpCooperativeMatrixLoadKHR %{TILE} %a %i32_c0 %i64_c8
        %t = {line} %m_f32_8x4_1 %m
        OpCooperativeMatrixStoreKHR %out %t %i32_c0 %i64_c4""", decorations=decorations)
    a, found = np.arange(32, dtype=np.float32).reshape(4, 8), np.zeros((8, 4), np.float32)
    run(source, [found, a])
    np.testing.assert_array_equal(found, a.T)


@pytest.mark.parametrize(("result", "says"), [
    ("m_f16_4x8_0", "keeps components and shape"), ("m_f32_8x4_0", "keeps components and shape"),
    ("f32", "needs a cooperative matrix")])
def test_a_change_of_use_that_changes_more(result: str, says: str) -> None:
    source = module("", f"""
        %m = OpUndef %{TILE}
        %t = OpCooperativeMatrixConvertUseEXT %{result} %m""")
    with pytest.raises(ValidationError, match=says):
        run(source, [])
