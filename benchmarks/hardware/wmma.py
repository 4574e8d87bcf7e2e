"""PTX programs for wmma, whose fragments PTX leaves opaque: which element each lane holds, and products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from fragments import PTX_TYPES
from inputs import WIDTHS, Bits
from ptx import Driver

from coopmat.devices import ARCHITECTURES, USES, Combination, Use

Order = Literal["row", "col"]
ROWS = ARCHITECTURES["nvidia_gpu_sm_90"].combinations
LANES = 32
_LETTERS: dict[Use, str] = {"a": "a", "b": "b", "accumulator": "c"}


@dataclass(frozen=True)
class Matrix:
    """A matrix of wmma, by the shape of the product that it is part of."""

    use: Use
    fmt: str
    m: int
    n: int
    k: int

    @property
    def rows(self) -> int:
        """Of the matrix."""
        return self.k if self.use == "b" else self.m

    @property
    def columns(self) -> int:
        """Of the matrix."""
        return self.k if self.use == "a" else self.n

    @property
    def registers(self) -> int:
        """Of a lane; fp16 fragments of A and B have eight in all shapes (PTX ISA, wmma fragments)."""
        if self.fmt == "fp16" and self.use != "accumulator":
            return 8
        return self.rows * self.columns // (LANES * max(1, 32 // WIDTHS[self.fmt]))

    @property
    def register(self) -> str:
        """The type of the registers."""
        if self.fmt == "fp64":
            return "f64"
        return "f32" if self.fmt == "fp32" else "b32"

    def load(self, order: Order) -> str:
        """The instruction that loads the matrix from ``[x]`` in global memory."""
        stride = self.columns if order == "row" else self.rows
        return (f"wmma.load.{_LETTERS[self.use]}.sync.aligned.{order}.m{self.m}n{self.n}k{self.k}.global."
                f"{PTX_TYPES[self.fmt]} {self.list_}, [x], {stride};")

    @property
    def list_(self) -> str:
        """The registers, as instructions name them."""
        return "{" + ", ".join(f"r{_LETTERS[self.use]}{number}" for number in range(self.registers)) + "}"

    @property
    def declaration(self) -> str:
        """Of the registers."""
        return f".reg .{self.register} r{_LETTERS[self.use]}<{self.registers}>;"

    @property
    def nbytes(self) -> int:
        """In memory."""
        return self.rows * self.columns * WIDTHS[self.fmt] // 8


def matrices() -> list[Matrix]:
    """Every matrix of every row of the table."""
    found = {}
    for row in ROWS:
        for use in USES:
            for fmt in row.types_of(use):
                matrix = Matrix(use, fmt, *row.largest)
                found.setdefault((use, fmt, matrix.rows, matrix.columns), matrix)
    return list(found.values())


_DUMP = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry program(.param .u64 pa, .param .u64 pb) {{
.reg .b64 a, b, x, o; .reg .u32 lane; {declaration}
ld.param.u64 x, [pa]; ld.param.u64 b, [pb]; mov.u32 lane, %tid.x;
{load}
mul.wide.u32 o, lane, {size}; add.u64 b, b, o;
{stores}
ret; }}"""


def elements(driver: Driver, matrix: Matrix, order: Order) -> Bits:
    """The number, counted along the rows, of the element in each component of each lane: [lanes, components]."""
    numbers = np.arange(matrix.rows * matrix.columns).reshape(matrix.rows, matrix.columns)
    result = None
    for shift in range(0, 16, min(16, WIDTHS[matrix.fmt])):  # what 8 bits cannot hold takes two runs
        part = _dump(driver, matrix, order, numbers >> shift) << shift
        result = part if result is None else result | part
    assert result is not None
    return result


def _dump(driver: Driver, matrix: Matrix, order: Order, bits: Bits) -> Bits:
    unit = np.dtype(f"u{WIDTHS[matrix.fmt] // 8}")
    width = 8 if matrix.fmt == "fp64" else 4
    stored = np.ascontiguousarray((bits if order == "row" else bits.T).astype(unit))
    out = np.zeros((LANES, matrix.registers * width), np.uint8)
    letter = _LETTERS[matrix.use]
    stores = "\n".join(f"st.global.{matrix.register} [b+{number * width}], r{letter}{number};"
                       for number in range(matrix.registers))
    driver.launch(_DUMP.format(declaration=matrix.declaration, load=matrix.load(order), size=matrix.registers * width,
                               stores=stores), [stored, out], 1, LANES)
    return out.view(unit).astype(np.int64)


_STORE = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry program(.param .u64 pa, .param .u64 pb) {{
.reg .b64 a, x, o; .reg .u32 lane; {declaration}
ld.param.u64 a, [pa]; ld.param.u64 x, [pb]; mov.u32 lane, %tid.x;
mul.wide.u32 o, lane, {size}; add.u64 a, a, o;
{loads}
wmma.store.d.sync.aligned.row.{shape}.global.{type} [x], {list_}, {stride};
ret; }}"""


def stored(driver: Driver, matrix: Matrix) -> Bits:
    """For each element of an accumulator, the number of the component, counted through all lanes, that it is stored
    from: [rows, columns]."""
    unit = np.dtype(f"u{WIDTHS[matrix.fmt] // 8}")
    width = 8 if matrix.fmt == "fp64" else 4
    size = matrix.registers * width
    numbers = np.arange(LANES * size // unit.itemsize).astype(unit)
    out = np.zeros((matrix.rows, matrix.columns), unit)
    loads = "\n".join(f"ld.global.{matrix.register} rc{number}, [a+{number * width}];"
                      for number in range(matrix.registers))
    driver.launch(_STORE.format(declaration=matrix.declaration, loads=loads, size=size, list_=matrix.list_,
                                shape=f"m{matrix.m}n{matrix.n}k{matrix.k}", type=PTX_TYPES[matrix.fmt],
                                stride=matrix.columns), [numbers, out], 1, LANES)
    return out.astype(np.int64)


_PRODUCT = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry program(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{
.reg .b64 a, b, c, d, x, o; .reg .u32 block; .reg .{register} rd<{count}>;
{declarations}
ld.param.u64 a, [pa]; ld.param.u64 b, [pb]; ld.param.u64 c, [pc]; ld.param.u64 d, [pd]; mov.u32 block, %ctaid.x;
{loads}
{product}
mul.wide.u32 o, block, {size}; add.u64 x, d, o;
wmma.store.d.sync.aligned.row.{shape}.global.{type} [x], {list_}, {stride};
ret; }}"""


def multiply(driver: Driver, row: Combination, a: Bits, b: Bits, c: Bits, *, saturating: bool = False) -> Bits:
    """D's bits [count, M, N] for those of A [count, M, K], B [count, K, N] and C [count, M, N]."""
    shape = row.largest
    given = [Matrix(use, fmt, *shape) for use, fmt in zip(USES, row.types, strict=False)]
    d = Matrix("accumulator", row.dtype, *shape)
    loads = [f"mul.wide.u32 o, block, {matrix.nbytes}; add.u64 x, {_LETTERS[matrix.use]}, o;\n{matrix.load('row')}"
             for matrix in given]
    list_ = d.list_.replace("rc", "rd")
    types = [PTX_TYPES[name] for name in row.types]
    kinds = f"{types[3]}.{types[2]}" if row.atype == "fp16" else f"{types[3]}.{types[0]}.{types[1]}.{types[2]}"
    name = "m{}n{}k{}".format(*shape)
    product = (f"wmma.mma.sync.aligned.row.row.{name}.{kinds}{'.satfinite' * saturating} {list_}, {given[0].list_}, "
               f"{given[1].list_}, {given[2].list_};")
    result = np.zeros((len(a), row.largest[0], row.largest[1]), f"u{WIDTHS[row.dtype] // 8}")
    text = _PRODUCT.format(register=d.register, count=d.registers, loads="\n".join(loads), product=product,
                           declarations=" ".join(matrix.declaration for matrix in given), size=d.nbytes, shape=name,
                           type=types[3], list_=list_, stride=d.columns)
    arrays = [np.ascontiguousarray(array) for array in (a, b, c)]
    driver.launch(text, [*arrays, result], len(a), LANES)
    return result
