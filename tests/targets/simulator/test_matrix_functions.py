"""Matrix instructions that run functions: reductions against numpy's fold in the documented order, and operations on
each element; conversions that change the use and transpose."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import DivergentGroupOperation
from coopmat.numerics.folding import fold
from tests.kit.targets.short_kernels import DTYPES, module, run

RNG = np.random.default_rng(31)
ROW, COLUMN, BOTH, SQUARES = 1, 2, 3, 4
SHAPES = [(8, 16), (16, 16), (5, 3), (1, 7), (32, 32), (4, 130)]
BFLOAT = ml_dtypes.bfloat16


def function(kind: str, lines: str) -> str:
    """A function ``%combine`` of ``%x`` and ``%y`` that returns ``%z``."""
    return f"""%combine_type = OpTypeFunction %{kind} %{kind} %{kind}
        %combine = OpFunction %{kind} None %combine_type
        %x = OpFunctionParameter %{kind}
        %y = OpFunctionParameter %{kind}
        %combine_entry = OpLabel
        {lines}
        OpReturnValue %z
        OpFunctionEnd"""


def of_two(instruction: str, kind: str) -> str:
    return function(kind, f"%z = {instruction.replace('KIND', kind)} %x %y")


def standard(name: str) -> str:
    return f"OpExtInst %KIND %std {name}"


def in_float(operation: str) -> str:
    """Of bf16: computed in float, and rounded."""
    return function("bf16", f"%wx = OpFConvert %f32 %x\n%wy = OpFConvert %f32 %y\n%w = {operation} %f32 %wx %wy\n"
                            "%z = OpFConvert %bf16 %w")


def rounded(combine: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda a, b: combine(a.astype(np.float32), b.astype(np.float32)).astype(BFLOAT)


BRANCHES = """OpBranchConditional %less %lower %upper
    %lower = OpLabel
    OpReturnValue %y
    %upper = OpLabel"""
SMALLER_MAGNITUDE = f"""%mx = OpExtInst %f32 %std fabs %x
    %my = OpExtInst %f32 %std fabs %y
    %less = OpFOrdLessThan %bool %my %mx
    OpSelectionMerge %upper None
    {BRANCHES}
    %z = OpCopyObject %f32 %x"""
FUNCTIONS: dict[str, tuple[str, str, Callable[..., np.ndarray]]] = {
    **{f"{kind} add": (kind, of_two("OpFAdd %KIND", kind), np.add) for kind in ("f16", "f32", "f64")},
    **{f"{kind} add": (kind, of_two("OpIAdd %KIND", kind), np.add) for kind in ("i8", "i32")},
    "f32 mul": ("f32", of_two("OpFMul %KIND", "f32"), np.multiply),
    "i16 mul": ("i16", of_two("OpIMul %KIND", "i16"), np.multiply),
    "f32 max": ("f32", of_two(standard("fmax"), "f32"), np.fmax),
    "f16 min": ("f16", of_two(standard("fmin"), "f16"), np.fmin),
    "i32 max": ("i32", of_two(standard("s_max"), "i32"), np.maximum),
    "i8 min": ("i8", of_two(standard("u_min"), "i8"),
               lambda a, b: np.minimum(a.view(np.uint8), b.view(np.uint8)).view(np.int8)),
    "i64 xor": ("i64", of_two("OpBitwiseXor %KIND", "i64"), np.bitwise_xor),
    "bf16 add": ("bf16", in_float("OpFAdd"), rounded(np.add)),
    "unusual": ("i32", function("i32", "%d = OpISub %i32 %x %y\n%z = OpBitwiseOr %i32 %d %i32_c1"),
                lambda a, b: a - b | 1),
    "branches": ("f32", function("f32", SMALLER_MAGNITUDE), lambda a, b: np.where(abs(b) < abs(a), b, a)),
}


def given(kind: str, rows: int, columns: int) -> np.ndarray:
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind == "i":
        return np.frombuffer(RNG.bytes(rows * columns * dtype.itemsize), dtype).reshape(rows, columns).copy()
    return RNG.standard_normal((rows, columns)).astype(dtype)


def reduced(combine: Callable[..., np.ndarray], values: np.ndarray, axes: int) -> np.ndarray:
    if axes == SQUARES:
        rows, columns = values.shape
        squares = values.reshape(rows // 2, 2, columns // 2, 2)
        pairs = combine(squares[:, 0], squares[:, 1])
        return combine(pairs[..., 0], pairs[..., 1])
    values = fold(combine, values, 0) if axes & COLUMN else values
    return fold(combine, values, 1) if axes & ROW else values


def shapes_of(rows: int, columns: int) -> list[tuple[int, tuple[int, int]]]:
    """The axes and the shapes of results that the instruction permits, of some."""
    squares = [(SQUARES, (rows // 2, columns // 2))] if rows % 2 == columns % 2 == 0 else []
    return [(ROW, (rows, columns)), (ROW, (rows, 4)), (COLUMN, (rows, columns)), (COLUMN, (3, columns)),
            (BOTH, (rows, columns)), (BOTH, (2, 5)), *squares]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions(name: str, shape: tuple[int, int]) -> None:
    kind, text, combine = FUNCTIONS[name]
    values, wanted = given(kind, *shape), shapes_of(*shape)
    lines = [f"%m = OpCooperativeMatrixLoadKHR %m_{kind}_{shape[0]}x{shape[1]}_2 %a %i32_c0 %i64_c{shape[1]}"]
    for place, (axes, (rows, columns)) in enumerate(wanted):
        mask = {ROW: "Row", COLUMN: "Column", BOTH: "Row|Column", SQUARES: "2x2"}[axes]
        lines += [f"%r{place} = OpCooperativeMatrixReduceEXT %m_{kind}_{rows}x{columns}_2 %m {mask} %combine",
                  f"OpCooperativeMatrixStoreKHR %out{place} %r{place} %i32_c0 %i64_c{columns}"]
    parameters = ", ".join([f"g_{kind} a", *(f"g_{kind} out{place}" for place in range(len(wanted)))])
    outs = [np.zeros(of, values.dtype) for _, of in wanted]
    run(module(parameters, "\n".join(lines), functions=text), [values, *outs])
    with np.errstate(over="ignore"):
        for out, (axes, of) in zip(outs, wanted, strict=True):
            np.testing.assert_array_equal(out, np.broadcast_to(reduced(combine, values, axes), of))


def test_a_nan_counts_as_missing() -> None:
    values = np.float32([[1, np.nan, 3, -2], [np.nan] * 4, [np.inf, np.nan, -np.inf, 0]])
    out = np.zeros((3, 4), np.float32)
    run(module("g_f32 a, g_f32 out", """
        %m = OpCooperativeMatrixLoadKHR %m_f32_3x4_2 %a %i32_c0 %i64_c4
        %r = OpCooperativeMatrixReduceEXT %m_f32_3x4_2 %m Row %combine
        OpCooperativeMatrixStoreKHR %out %r %i32_c0 %i64_c4""", functions=FUNCTIONS["f32 max"][1]), [values, out])
    np.testing.assert_array_equal(out, np.repeat(np.float32([[3], [np.nan], [np.inf]]), 4, axis=1))


def test_each_sub_group_reduces_its_own_matrix() -> None:
    values, out = given("f32", 64, 16), np.zeros((64, 16), np.float32)
    run(module("g_f32 a, g_f32 out", """
        %size = OpIMul %i64 %wx %i64_c4
        %group = OpUConvert %i64 %sub_group
        %number = OpIAdd %i64 %size %group
        %first = OpIMul %i64 %number %i64_c128
        %p = OpPtrAccessChain %g_f32 %a %first
        %q = OpPtrAccessChain %g_f32 %out %first
        %m = OpCooperativeMatrixLoadKHR %m_f32_8x16_2 %p %i32_c0 %i64_c16
        %r = OpCooperativeMatrixReduceEXT %m_f32_8x16_2 %m Column %combine
        OpCooperativeMatrixStoreKHR %q %r %i32_c0 %i64_c16""", modes=["SubgroupSize 16"],
               functions=FUNCTIONS["f32 add"][1]), [values, out], 128, 64)
    expected = np.repeat(fold(np.add, values.reshape(8, 8, 16), 1), 8, axis=1).reshape(64, 16)
    np.testing.assert_array_equal(out, expected)


# --------------------------------------------------------------------------------------
# Each element
# --------------------------------------------------------------------------------------


def per_element(kind: str, parameters: str, lines: str) -> str:
    """A function ``%each`` of ``%row``, ``%column``, ``%x`` and further parameters, that returns ``%z``."""
    others = [parameter.split() for parameter in parameters.split(",") if parameter]
    return "\n".join([
        f"%each_type = OpTypeFunction %{kind} %i32 %i32 %{kind} {' '.join(f'%{of}' for of, _ in others)}",
        f"%each = OpFunction %{kind} None %each_type", "%row = OpFunctionParameter %i32",
        "%column = OpFunctionParameter %i32", f"%x = OpFunctionParameter %{kind}",
        *(f"%{name} = OpFunctionParameter %{of}" for of, name in others), "%each_entry = OpLabel", lines,
        "OpReturnValue %z", "OpFunctionEnd"])


@pytest.mark.parametrize("use", [0, 1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_element_with_its_place(shape: tuple[int, int], use: int) -> None:
    rows, columns = shape
    values, out = given("i32", *shape), np.zeros(shape, np.int32)
    kind = f"m_i32_{rows}x{columns}_{use}"
    run(module("g_i32 a, g_i32 out, i32 factor", f"""
        %m = OpCooperativeMatrixLoadKHR %{kind} %a %i32_c0 %i64_c{columns}
        %r = OpCooperativeMatrixPerElementOpEXT %{kind} %m %each %factor %m
        OpCooperativeMatrixStoreKHR %out %r %i32_c0 %i64_c{columns}""", functions=per_element("i32", "i32 f,i32 y", """
        %place = OpIMul %i32 %row %i32_c1000
        %both = OpIAdd %i32 %place %column
        %product = OpIMul %i32 %x %f
        %sum = OpIAdd %i32 %both %product
        %z = OpBitwiseXor %i32 %sum %y""")), [values, out, np.int32(7)])
    place = np.arange(rows)[:, None] * 1000 + np.arange(columns)
    np.testing.assert_array_equal(out, (place + values * 7).astype(np.int32) ^ values)


def test_functions_with_loops_and_branches() -> None:
    """In a loop of the kernel, under a condition that all work-items share: Collatz steps until 1."""
    values, out = RNG.integers(1, 1000, (8, 16)).astype(np.int32), np.zeros((8, 16), np.int32)
    run(module("g_i32 a, g_i32 out, i32 turns", """
        %m = OpCooperativeMatrixLoadKHR %m_i32_8x16_2 %a %i32_c0 %i64_c16
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i32 %i32_c0 %entry %next %latch
        %v = OpPhi %m_i32_8x16_2 %m %entry %w %latch
        OpLoopMerge %end %latch None
        %more = OpSLessThan %bool %i %turns
        OpBranchConditional %more %body %end
        %body = OpLabel
        %w = OpCooperativeMatrixPerElementOpEXT %m_i32_8x16_2 %v %each
        OpBranch %latch
        %latch = OpLabel
        %next = OpIAdd %i32 %i %i32_c1
        OpBranch %head
        %end = OpLabel
        OpCooperativeMatrixStoreKHR %out %v %i32_c0 %i64_c16
        OpReturn""", functions=per_element("i32", "", """
        %bit = OpBitwiseAnd %i32 %x %i32_c1
        %odd = OpIEqual %bool %bit %i32_c1
        OpSelectionMerge %merged None
        OpBranchConditional %odd %up %down
        %up = OpLabel
        %triple = OpIMul %i32 %x %i32_c3
        %higher = OpIAdd %i32 %triple %i32_c1
        OpBranch %merged
        %down = OpLabel
        %lower = OpShiftRightLogical %i32 %x %i32_c1
        OpBranch %merged
        %merged = OpLabel
        %z = OpPhi %i32 %higher %up %lower %down""")), [values, out, np.int32(25)])
    for _ in range(25):
        values = np.where(values & 1, 3 * values + 1, values >> 1)
    np.testing.assert_array_equal(out, values)


@pytest.mark.parametrize(("line", "functions"), [
    ("OpCooperativeMatrixReduceEXT %m_f32_8x16_2 %m Row %combine", FUNCTIONS["f32 add"][1]),
    ("OpCooperativeMatrixPerElementOpEXT %m_f32_8x16_2 %m %each", per_element("f32", "", "%z = OpFNegate %f32 %x"))])
def test_all_work_items_of_a_sub_group_take_part(line: str, functions: str) -> None:
    source = module("g_f32 a", f"""
        %m = OpCooperativeMatrixLoadKHR %m_f32_8x16_2 %a %i32_c0 %i64_c16
        %few = OpSLessThan %bool %lane %i32_c3
        OpSelectionMerge %end None
        OpBranchConditional %few %then %end
        %then = OpLabel
        %r = {line}
        OpBranch %end
        %end = OpLabel
        OpReturn""", functions=functions)
    with pytest.raises(DivergentGroupOperation):
        run(source, [given("f32", 8, 16)])


# --------------------------------------------------------------------------------------
# Other uses, transposed
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "result"), [
    ("OpFConvert", "f16"), ("OpFConvert", "bf16"), ("OpCooperativeMatrixConvertUseEXT", "f32"),
    ("OpConvertFToS", "i8")])
@pytest.mark.parametrize("use", [0, 1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_accumulators_as_other_matrices(line: str, result: str, use: int, transposed: bool) -> None:
    values = RNG.integers(-100, 100, (8, 16)).astype(np.float32)
    rows, columns = (16, 8) if transposed else (8, 16)
    out = np.zeros((rows, columns), DTYPES[result])
    run(module(f"g_f32 a, g_{result} out", f"""
        %m = OpCooperativeMatrixLoadKHR %m_f32_8x16_2 %a %i32_c0 %i64_c16
        %r = {line} %m_{result}_{rows}x{columns}_{use} %m
        OpCooperativeMatrixStoreKHR %out %r %i32_c0 %i64_c{columns}""",
               decorations="OpDecorate %r CooperativeMatrixTransposeEXT" if transposed else ""), [values, out])
    np.testing.assert_array_equal(out, (values.T if transposed else values).astype(out.dtype))


def test_coordinates_of_components() -> None:
    out = np.zeros((5, 7), np.int32)
    run(module("g_i32 out", """
        %v = OpVariable %p_m_i32_5x7_2 Function
        %zero = OpCompositeConstruct %m_i32_5x7_2 %i32_c0
        OpStore %v %zero
        %n = OpCooperativeMatrixLengthKHR %i32 %m_i32_5x7_2
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %i32 %i32_c0 %entry %next %head
        %place = OpCooperativeMatrixGetCoordinateEXT %v2_i32 %zero %i
        %row = OpCompositeExtract %i32 %place 0
        %column = OpCompositeExtract %i32 %place 1
        %wide = OpIMul %i32 %row %i32_c100
        %both = OpIAdd %i32 %wide %column
        %p = OpAccessChain %p_i32 %v %i
        OpStore %p %both
        %next = OpIAdd %i32 %i %i32_c1
        %more = OpULessThan %bool %next %n
        OpLoopMerge %end %head None
        OpBranchConditional %more %head %end
        %end = OpLabel
        %m = OpLoad %m_i32_5x7_2 %v
        OpCooperativeMatrixStoreKHR %out %m %i32_c0 %i64_c7
        OpReturn"""), [out])
    np.testing.assert_array_equal(out, np.arange(5)[:, None] * 100 + np.arange(7))
