"""Multiply-accumulates of any types, shapes and layouts as kernels, with numbers for them and the bound of results.

Integers are equal. Floating-point numbers lie within the bound of docs/cpu.md: ``K + 2`` roundings of the sum of the
absolute products and C, and one to the type of D.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np

from coopmat.devices import ARCHITECTURES
from coopmat.devices.lane_layout import rows_per_word
from coopmat.formats import format_of
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.module import Module
from tests.kit.targets.short_kernels import DTYPES, module

ROW, COLUMN, PACKED = map(int, (Layout.RowMajorKHR, Layout.ColumnMajorKHR, Layout.PackedINTEL))
A, B, ACCUMULATOR = 0, 1, 2
COMPONENTS = {"bf16": "bf16", "fp16": "f16", "tf32": "f32", "fp32": "f32", "fp64": "f64"}
SIGNED = ("MatrixASignedComponentsKHR", "MatrixBSignedComponentsKHR", "MatrixCSignedComponentsKHR",
          "MatrixResultSignedComponentsKHR")
PATTERN = 0x5A
MANTISSAS = {"bf16": 8, "fp16": 11, "fp32": 24, "fp64": 53}  # bits, the first one included


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


def check(case: Case, found: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, *, fewest: int = 0) -> None:
    """Compare D with the exact product and sum. ``fewest``: the sum of so many products may be rounded to fp16, if that
    is the type of D."""
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
    if fewest and fmt == "fp16":
        allowed = allowed + -(-case.k // fewest) * 2.0 ** -MANTISSAS[fmt] * (np.abs(a) @ np.abs(b) + np.abs(c))
    allowed = allowed + 2.0 ** -MANTISSAS[fmt] * (np.abs(expected) + allowed)
    difference = np.abs(found.astype(np.float64).astype(np.longdouble) - expected)
    assert (difference <= allowed).all(), f"{float((difference / allowed).max()):.3g} times what is allowed"


def numbers_for(case: Case, seed: int) -> list[np.ndarray]:
    """Random elements of A, B and C."""
    rng, shapes = np.random.default_rng(seed), ((case.m, case.k), (case.k, case.n), (case.m, case.n))
    return [random_elements(rng, fmt, shape) for fmt, shape in zip(case.formats, shapes, strict=False)]


def memory_for(case: Case, numbers: list[np.ndarray]) -> list[np.ndarray]:
    """A, B, C and D in memory; D is filled with a pattern, gaps included."""
    arrays = [memory_of(one, fmt, use, layout, case.gap) for one, fmt, use, layout in
              zip(numbers, case.formats, (A, B, ACCUMULATOR), case.layouts, strict=False)]
    blank = np.zeros((case.m, case.n), random_elements(np.random.default_rng(0), case.formats[3], (1, 1)).dtype)
    out = memory_of(blank, case.formats[3], ACCUMULATOR, case.layouts[2], case.gap)
    out.view(np.uint8)[...] = PATTERN
    return [*arrays, out]


def result_in(case: Case, memory: np.ndarray) -> np.ndarray:
    """D, from its memory, of which the gaps are as they were."""
    width = memory.shape[1] - case.gap
    assert (np.ascontiguousarray(memory[:, width:]).view(np.uint8) == PATTERN).all()
    return memory[:, :width].T if case.layouts[2] == COLUMN else memory[:, :width]


# ------------------------------------------------------------------ rows of the tables


@cache
def table_cases() -> list[Case]:
    """Each distinct row: the largest shape."""
    rows = {(row.atype, row.btype, row.ctype, row.dtype, *row.largest): None
            for description in ARCHITECTURES.values() for row in description.combinations}
    return [Case((a, b, c, d), m, n, k) for a, b, c, d, m, n, k in rows]


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
