"""Products of ragged matrices by tiles of a work-group, as kernels of Python: of any types, layouts and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import coopmat as cm
from coopmat.sycl import kernel

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True)
class Element:
    """An element type: coopmat.sycl's name, that of what memory has, and numpy's."""

    name: str
    stored: str
    dtype: Any


ELEMENTS = {
    "bf16": Element("bfloat16", "bfloat16", BFLOAT16), "fp16": Element("half", "half", np.float16),
    "tf32": Element("precision.tf32", "float32", np.float32), "fp32": Element("float32", "float32", np.float32),
    "fp64": Element("float64", "float64", np.float64), "sint8": Element("int8", "int8", np.int8),
    "uint8": Element("uint8", "uint8", np.uint8), "sint32": Element("int32", "int32", np.int32)}
"""By the format's name."""
WGMMA = [("bf16", "bf16", "fp32"), ("fp16", "fp16", "fp32"), ("tf32", "tf32", "fp32"),
         *((a, b, "sint32") for a in ("sint8", "uint8") for b in ("sint8", "uint8")), ("fp16", "fp16", "fp16")]
"""The types that wgmma multiplies."""

_TEXT = """
@kernel(work_group_size=(1, {items}))
def gemm(item: nd_item[2], A: ptr[const[{A}]], B: ptr[const[{B}]], C: ptr[{D}], M: int32, N: int32, K: int32,
         strideA: int32, strideB: int32, strideC: int32):
    g = item.get_group()
    row, column = g.get_group_id(0) * {m}, g.get_group_id(1) * {n}
    a = joint_matrix(work_group, {a}, use.a, {m}, {k}, layout.{of_a})
    b = joint_matrix(work_group, {b}, use.b, {k}, {n}, layout.{of_b})
    c = joint_matrix(work_group, {c}, use.accumulator, {m}, {n})
    {start}
    for at in range(0, K, {k}):
        joint_matrix_load_checked(g, a, A, strideA, {lines_a}, {at_a})
        joint_matrix_load_checked(g, b, B, strideB, {lines_b}, {at_b})
        joint_matrix_mad(g, c, a, b, c)
    {end}
    joint_matrix_store_checked(g, {stored}, C, strideC, layout.{of_c}, {lines_c}, {at_c})
"""


@dataclass(frozen=True)
class Gemm:
    """``C = A*B``, or ``C = A*B + C`` (``accumulates``). formats: of A, B and the accumulator. rows_of: which of A, B
    and C lie row by row, as letters. result: the format of C, if it is another than the accumulator's."""

    formats: tuple[str, str, str]
    tile: tuple[int, int, int] = (128, 128, 64)
    items: int = 128
    rows_of: str = "ABC"
    accumulates: bool = False
    result: str = ""

    def __str__(self) -> str:
        types = "-".join((*self.formats, self.result) if self.result else self.formats)
        return (f"{types}-{'x'.join(map(str, self.tile))}-{self.items}-{self.rows_of or 'columns'}"
                f"{'-added' if self.accumulates else ''}")

    @property
    def d(self) -> str:
        """The format of C in memory."""
        return self.result or self.formats[2]

    @property
    def text(self) -> str:
        """The kernel."""
        (m, n, k), by_rows = self.tile, {one: one in self.rows_of for one in "ABC"}
        a, b, c = (ELEMENTS[one] for one in self.formats)
        d = ELEMENTS[self.d]
        order = {one: "row_major" if rows else "col_major" for one, rows in by_rows.items()}
        lines = {one: sizes if by_rows[one] else reversed(sizes)
                 for one, sizes in (("A", ("M", "K")), ("B", ("K", "N")), ("C", ("M", "N")))}
        at = {one: places if by_rows[one] else reversed(places)
              for one, places in (("A", ("row", "at")), ("B", ("at", "column")), ("C", ("row", "column")))}
        spelt = {f"{kind}_{one.lower()}": ", ".join(found[one]) for kind, found in (("lines", lines), ("at", at))
                 for one in "ABC"}
        start, end, stored = "joint_matrix_fill(g, c, 0)", "", "c"
        if self.accumulates:
            start = f"joint_matrix_load_checked(g, c, C, strideC, layout.{order['C']}, {spelt['lines_c']}, " \
                    f"{spelt['at_c']})"
        if self.result:
            end = f"d = joint_matrix(work_group, {d.name}, use.accumulator, {m}, {n})\n    joint_matrix_copy(g, c, d)"
            stored = "d"
        return _TEXT.format(
            items=self.items, A=a.stored, B=b.stored, D=d.stored, a=a.name, b=b.name, c=c.name, m=m, n=n, k=k,
            of_a=order["A"], of_b=order["B"], of_c=order["C"], start=start, end=end, stored=stored, **spelt)

    @property
    def kernel(self) -> Any:
        return _kernel(self)

    def run(self, device: cm.Device | str, a: np.ndarray, b: np.ndarray, c: np.ndarray, *, gap: int = 0,
            copies: bool = True) -> np.ndarray:
        """The product of matrices on a device, which is added to ``c`` or replaces it; a new array. gap: elements
        between the lines in memory. copies: whether A and B get arrays of their own."""
        launch = self._launch((a.shape[0], b.shape[1], a.shape[1]), gap)
        memory = [_in_memory(one, rows, gap) if copies or one is c else one.reshape(-1)
                  for one, rows in zip((a, b, c), self._by_rows, strict=True)]
        program = self.program(cm.device(device))
        cm.Queue(device).enqueue(program.kernel("gemm"), *launch[:2], *memory, *launch[2]).wait()
        return _out_of_memory(memory[2], c.shape, self._by_rows[2], gap)

    def program(self, device: cm.Device) -> cm.Program:
        """The kernel, built for a device."""
        return _program(self, device)

    @property
    def _by_rows(self) -> list[bool]:
        return [letter in self.rows_of for letter in "ABC"]

    def _launch(self, sizes: tuple[int, int, int], gap: int) -> tuple[tuple[int, int], tuple[int, int], list[int]]:
        """Global and local size, and the arguments behind the matrices."""
        rows, columns, depth = sizes
        m, n, _ = self.tile
        shapes = ((rows, depth), (depth, columns), (rows, columns))
        strides = [shape[by_rows] + gap for shape, by_rows in zip(shapes, self._by_rows, strict=True)]
        return (-(-columns // n) * self.items, -(-rows // m)), (self.items, 1), [*sizes, *strides]

    def takes_pipeline(self, device: str, sizes: tuple[int, int, int], gap: int) -> bool:
        """Whether an NVIDIA GPU takes a variant with a pipeline for matrices of zeros."""
        rows, columns, depth = sizes
        shapes = ((rows, depth), (depth, columns), (rows, columns))
        formats = (*self.formats[:2], self.d)
        arrays = [np.zeros(shape, ELEMENTS[fmt].dtype) for shape, fmt in zip(shapes, formats, strict=True)]
        program = self.program(cm.device(device)).load(cm.device(device))
        program._plans.clear()  # type: ignore[attr-defined]
        self.run(device, *arrays, gap=gap)
        [plan] = program._plans.values()  # type: ignore[attr-defined]
        return bool(plan.used.code.maps)


@cache
def _program(gemm: Gemm, device: cm.Device) -> cm.Program:
    return cm.build(gemm.kernel, device=device)


@cache
def _kernel(gemm: Gemm) -> Any:
    return kernel.from_source(gemm.text)


def _in_memory(matrix: np.ndarray, by_rows: bool, gap: int) -> np.ndarray:
    """A matrix in a row of elements, zeros between its lines."""
    return np.pad(matrix if by_rows else matrix.T, ((0, 0), (0, gap))).reshape(-1)


def _out_of_memory(memory: np.ndarray, shape: tuple[int, int], by_rows: bool, gap: int) -> np.ndarray:
    height, width = shape if by_rows else shape[::-1]
    lines = memory.reshape(height, width + gap)
    assert not np.ascontiguousarray(lines[:, width:]).view(np.uint8).any()
    return np.ascontiguousarray(lines[:, :width] if by_rows else lines[:, :width].T)
