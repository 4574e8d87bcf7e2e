"""Multiply-accumulates on the CPU against numpy: every row of every table, and shapes of all kinds.

Integers are equal. Floating-point numbers lie within the bound of docs/cpu.md: ``K + 2`` roundings of the sum of the
absolute products and C, and one to the type of D.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from coopmat.devices import ARCHITECTURES
from coopmat.devices.lane_layout import rows_per_word
from coopmat.formats import format_of
from coopmat.runtime.executable import executable
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.module import Module
from coopmat.targets.cpu.features import LEVELS, VARIABLE, cpu_features
from coopmat.targets.cpu.options import CpuOptions
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.short_kernels import DTYPES, module

ROW, COLUMN, PACKED = map(int, (Layout.RowMajorKHR, Layout.ColumnMajorKHR, Layout.PackedINTEL))
A, B, ACCUMULATOR = 0, 1, 2
COMPONENTS = {"bf16": "bf16", "fp16": "f16", "tf32": "f32", "fp32": "f32", "fp64": "f64"}
SIGNED = ("MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR", "MatrixCSignedComponentsKHR",
          "MatrixResultSignedComponentsKHR")
MANTISSAS = {"bf16": 8, "fp16": 11, "fp32": 24, "fp64": 53}  # bits, the first one included
SLOWEST = 45.0  # seconds that a compilation may take on a machine that is three times as busy as it should be


@dataclass(frozen=True)
class Case:
    """One multiply-accumulate: formats of A, B, C and D, sizes, layouts of A, B and C, elements between rows."""

    formats: tuple[str, str, str, str]
    m: int
    n: int
    k: int
    layouts: tuple[int, int, int] = (ROW, ROW, ROW)
    gap: int = 0
    saturating: bool = False

    def __str__(self) -> str:
        layouts = "".join({ROW: "r", COLUMN: "c", PACKED: "p"}[layout] for layout in self.layouts)
        return (f"{'-'.join(self.formats)}-{self.m}x{self.n}x{self.k}-{layouts}{self.gap or ''}"
                f"{'-sat' if self.saturating else ''}")


def component(fmt: str) -> str:
    """The kit's name of an element type."""
    return COMPONENTS.get(fmt) or f"i{format_of(fmt).bits}"


def pointee(fmt: str) -> str:
    """What the pointer to a matrix points to: bytes for 4-bit elements."""
    return "i8" if format_of(fmt).bits == 4 else component(fmt)


# ------------------------------------------------------------------ memory


def lines_of(elements: np.ndarray, fmt: str, use: int, layout: int) -> np.ndarray:
    """A matrix as lines of memory, element by element."""
    together = rows_per_word(format_of(fmt).bits)
    if layout == COLUMN:
        return elements.T
    if layout == PACKED and use == B and together > 1:
        rows, columns = elements.shape
        return elements.reshape(rows // together, together, columns).transpose(0, 2, 1).reshape(rows // together, -1)
    return elements


def memory_of(elements: np.ndarray, fmt: str, use: int, layout: int, gap: int) -> np.ndarray:
    """A matrix in memory, with a gap behind each line."""
    lines = lines_of(elements, fmt, use, layout)
    if format_of(fmt).bits == 4:
        even = np.pad(lines & 15, ((0, 0), (0, lines.shape[1] % 2))).astype(np.uint8)
        lines = (even[:, ::2] | even[:, 1::2] << 4).view(np.int8)
    return np.ascontiguousarray(np.pad(lines, ((0, 0), (0, gap))))


def program_text(case: Case, strides: list[int]) -> Module:
    """A kernel of the multiply-accumulate."""
    shapes = ((case.m, case.k), (case.k, case.n), (case.m, case.n), (case.m, case.n))
    types = [f"m_{component(fmt)}_{rows}x{columns}_{use}" for fmt, (rows, columns), use in
             zip(case.formats, shapes, (A, B, ACCUMULATOR, ACCUMULATOR), strict=True)]
    flags = [name for name, fmt in zip(SIGNED, case.formats, strict=True) if fmt.startswith("sint")]
    flags += ["MatrixAAndBTF32ComponentsINTEL"] * (case.formats[0] == "tf32")
    flags += ["SaturatingAccumulationKHR"] * case.saturating
    loads = "\n".join(f"%m{name} = OpCooperativeMatrixLoadKHR %{kind} %{name} %i32_c{layout} %i64_c{stride}"
                      for name, kind, layout, stride in zip("abc", types, case.layouts, strides, strict=False))
    parameters = ", ".join(f"g_{pointee(fmt)} {name}" for name, fmt in zip("abcd", case.formats, strict=True))
    return module(parameters, f"""{loads}
        %md = OpCooperativeMatrixMulAddKHR %{types[3]} %ma %mb %mc {"|".join(flags)}
        OpCooperativeMatrixStoreKHR %d %md %i32_c{case.layouts[2]} %i64_c{strides[3]}""")


# ------------------------------------------------------------------ numbers


def random_elements(rng: np.random.Generator, fmt: str, shape: tuple[int, int]) -> np.ndarray:
    """Elements of a format: integers of the whole range (C: far from the ends), normal floating-point numbers."""
    kind = format_of(fmt)
    if kind.is_integer:
        low = -(1 << kind.bits - 1) if kind.is_signed else 0
        high = (1 << kind.bits - 1 if kind.is_signed else 1 << kind.bits) - 1
        dtype = np.dtype(f"{'i' if kind.is_signed else 'u'}{max(kind.bits, 8) // 8}")
        return rng.integers(low, high, shape, dtype, endpoint=True)
    numbers = rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 4, shape)
    return numbers.astype(ml_dtypes.bfloat16 if fmt == "bf16" else DTYPES[component(fmt)])


def exact(elements: np.ndarray, fmt: str) -> np.ndarray:
    """The values that are multiplied: integers without a limit, or long doubles; tf32 loses its low 13 bits."""
    if format_of(fmt).is_integer:
        return elements.astype(object)
    if fmt == "tf32":
        elements = (elements.view(np.uint32) & ~np.uint32(0x1FFF)).view(np.float32)
    return elements.astype(np.float64).astype(np.longdouble)


def check(case: Case, found: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    """Compare D with the exact product and sum."""
    a, b, c = (exact(one, fmt) for one, fmt in zip((a, b, c), case.formats, strict=False))
    expected, fmt = a @ b + c, case.formats[3]
    kind = format_of(fmt)
    if kind.is_integer:
        lowest = -(1 << kind.bits - 1) if kind.is_signed else 0
        size = 1 << kind.bits
        wanted = np.clip(expected, lowest, lowest + size - 1) if case.saturating else expected
        np.testing.assert_array_equal(found.astype(object) % size, wanted % size)
        return
    step = 2.0 ** (1 - MANTISSAS["fp64" if "fp64" in case.formats else "fp32"])
    allowed = (case.k + 2) * step * (np.abs(a) @ np.abs(b) + np.abs(c))
    allowed = allowed + 2.0 ** -MANTISSAS[fmt] * (np.abs(expected) + allowed)
    difference = np.abs(found.astype(np.float64).astype(np.longdouble) - expected)
    assert (difference <= allowed).all(), f"{float((difference / allowed).max()):.3g} times what is allowed"


def run(case: Case, level: str, seed: int = 0) -> None:
    """Compile and launch a case, and compare."""
    rng = np.random.default_rng(seed)
    shapes = ((case.m, case.k), (case.k, case.n), (case.m, case.n))
    numbers = [random_elements(rng, fmt, shape) for fmt, shape in zip(case.formats, shapes, strict=False)]
    arrays = [memory_of(one, fmt, use, layout, case.gap) for one, fmt, use, layout in
              zip(numbers, case.formats, (A, B, ACCUMULATOR), case.layouts, strict=False)]
    blank = np.zeros((case.m, case.n), random_elements(rng, case.formats[3], (1, 1)).dtype)
    out = memory_of(blank, case.formats[3], ACCUMULATOR, case.layouts[2], case.gap)
    out.view(np.uint8)[...] = 0x5A
    gap = out[:, out.shape[1] - case.gap:].copy()
    program = CpuProgram(executable(program_text(case, [array.shape[1] for array in (*arrays, out)])),
                         cpu_features({VARIABLE: level}))
    start = time.perf_counter()
    program.launcher("kernel", (16,), (16,), [*arrays, out])
    assert time.perf_counter() - start < SLOWEST
    program.launch("kernel", (16,), (16,), [*arrays, out])
    np.testing.assert_array_equal(out[:, out.shape[1] - case.gap:].view(np.uint8), gap.view(np.uint8))
    lines = out[:, :out.shape[1] - case.gap]
    check(case, lines.T if case.layouts[2] == COLUMN else lines, *numbers)


# ------------------------------------------------------------------ rows of the tables


@cache
def table_cases() -> list[Case]:
    """Each distinct row: the largest shape."""
    rows = {(row.atype, row.btype, row.ctype, row.dtype, *row.largest): None
            for description in ARCHITECTURES.values() for row in description.combinations}
    return [Case((a, b, c, d), m, n, k) for a, b, c, d, m, n, k in rows]


def levels(*always: str) -> list[Any]:
    """Every level; those that are not ``always`` run in the long form."""
    return [level if level in always else pytest.param(level, marks=pytest.mark.slow) for level in LEVELS]


@pytest.mark.parametrize("level", levels("amx", "avx2"))
@pytest.mark.parametrize("case", table_cases(), ids=str)
def test_rows_of_the_tables(case: Case, level: str) -> None:
    run(case, level)


@pytest.mark.oracle("amx")
@pytest.mark.parametrize("layout", [ROW, COLUMN, PACKED])
@pytest.mark.parametrize("case", [case for case in table_cases() if case.formats[0] in ("sint8", "uint8", "bf16")],
                         ids=str)
def test_rows_in_tiles(case: Case, layout: int) -> None:
    """On a processor with AMX: B in every layout, rows further apart than they are long."""
    run(replace(case, layouts=(ROW, layout, ROW), gap=3), "amx")


# ------------------------------------------------------------------ other shapes

FLOATS = [("bf16", "bf16", "fp32", "fp32"), ("fp16", "fp16", "fp32", "fp32"), ("fp16", "fp16", "fp16", "fp32"),
          ("fp16", "fp16", "fp32", "fp16"), ("fp16", "fp16", "fp16", "fp16"), ("bf16", "bf16", "bf16", "bf16"),
          ("bf16", "bf16", "fp32", "bf16"), ("tf32", "tf32", "fp32", "fp32"), ("fp32", "fp32", "fp32", "fp32"),
          ("fp64", "fp64", "fp64", "fp64")]
INTEGERS = ["sint4", "uint4", "sint8", "uint8", "sint16", "uint16", "sint32", "uint32"]
LARGE = [(64, 64, 64), (128, 16, 32), (16, 128, 16), (1, 1, 1), (1, 40, 3), (40, 1, 40), (32, 64, 16), (8, 16, 32)]


def random_case(seed: int) -> Case:
    """A case of any shape, type and layout."""
    rng = np.random.default_rng(seed)
    m, n, k = LARGE[seed // 4 % len(LARGE)] if seed % 4 == 3 else (int(size) for size in rng.integers(1, 41, 3))
    if seed % 2:
        formats = FLOATS[seed // 2 % len(FLOATS)]
        saturating = False
    else:
        bits = INTEGERS[2 * (seed // 2 % 4):][:2]
        accumulators = ["sint32", "uint32", "sint64", "uint64"] if seed // 2 % 4 < 3 else ["sint64", "uint64"]
        c, d = rng.choice(accumulators, 2)
        formats = (str(rng.choice(bits)), str(rng.choice(bits)), str(c), str(d))
        saturating = bool(rng.integers(2))
    together = rows_per_word(format_of(formats[1]).bits)
    layouts_of_b = [ROW, COLUMN, *[PACKED] * (together > 1 and k % together == 0)]
    return Case(formats, m, n, k, (int(rng.choice([ROW, COLUMN, PACKED])), int(rng.choice(layouts_of_b)),
                                   int(rng.choice([ROW, COLUMN]))), int(rng.integers(0, 6)), saturating)


@pytest.mark.parametrize("seed", range(24))
def test_random_shapes(seed: int) -> None:
    run(random_case(seed), list(LEVELS)[seed // 4 % len(LEVELS)], seed)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(24, 184))
def test_more_random_shapes(seed: int, level: str) -> None:
    run(random_case(seed), level, seed)


# ------------------------------------------------------------------ denormal numbers


@pytest.mark.parametrize("level", LEVELS)
def test_denormal_bf16_numbers(level: str) -> None:
    """The instructions of AMX and AVX512-BF16 take denormal operands as zeros; other code computes with them."""
    case = Case(("bf16", "bf16", "fp32", "fp32"), 16, 16, 32)
    a = np.full((16, 32), 2.0**-130, ml_dtypes.bfloat16)
    b, c, out = np.full((32, 16), 2.0**100, ml_dtypes.bfloat16), np.zeros((16, 16), np.float32), np.zeros((16, 16),
                                                                                                          np.float32)
    features = cpu_features({VARIABLE: level})
    CpuProgram(executable(program_text(case, [32, 16, 16, 16])), features).launch("kernel", (16,), (16,),
                                                                                  [a, b, c, out])
    flushes = bool({"amx-bf16", "avx512bf16"} & features.used)
    assert (out == (0 if flushes else 2.0**-25)).all()


# ------------------------------------------------------------------ bf16 in integers


@pytest.mark.parametrize("numerics", ["hardware", "exact", "intel_gpu_pvc"])
@pytest.mark.parametrize("level", LEVELS)
def test_bf16_numbers_in_16_bit_integers(level: str, numerics: str) -> None:
    """SPV_INTEL_joint_matrix: operand bits say that A, B, C and the result are bf16. Sums are exact in float."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-8, 9, (16, 16)).astype(ml_dtypes.bfloat16) for _ in range(3))
    out = np.zeros((16, 16), np.int16)
    source = module("g_i16 a, g_i16 b, g_i16 c, g_i16 d", """
        %ma = OpCooperativeMatrixLoadKHR %m_i16_16x16_0 %a %i32_c0 %i64_c16
        %mb = OpCooperativeMatrixLoadKHR %m_i16_16x16_1 %b %i32_c0 %i64_c16
        %mc = OpCooperativeMatrixLoadKHR %m_i16_16x16_2 %c %i32_c0 %i64_c16
        %md = OpCooperativeMatrixMulAddKHR %m_i16_16x16_2 %ma %mb %mc MatrixAAndBBFloat16ComponentsINTEL|""" +
                    """MatrixCBFloat16ComponentsINTEL|MatrixResultBFloat16ComponentsINTEL
        OpCooperativeMatrixStoreKHR %d %md %i32_c0 %i64_c16""")
    program = CpuProgram(executable(source), cpu_features({VARIABLE: level}), CpuOptions(numerics=numerics))
    program.launch("kernel", (16,), (16,), [a.view(np.int16), b.view(np.int16), c.view(np.int16), out])
    expected = a.astype(np.float32) @ b.astype(np.float32) + c.astype(np.float32)
    np.testing.assert_array_equal(out, expected.astype(ml_dtypes.bfloat16).view(np.int16))
