"""Small products of cooperative matrices that show whether a driver computes them: kernels, arguments, exact results.

A driver that accepts a module has proven nothing: some write nothing, some something else. The products here have whole
numbers that every format holds, so that each result is exact in any order of summation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coopmat.formats import FORMATS, Format, format_of
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixOperands as Operands
from coopmat.spirv.grammar import (
    CooperativeMatrixUse,
    Decoration,
    ExecutionMode,
    FPEncoding,
    FunctionParameterAttribute,
    Op,
    Scope,
    StorageClass,
)
from coopmat.spirv.module import Module

KERNEL = "product"
STEPS = 2  # products that one kernel adds up
ALIGNMENT = 16  # of rows, in bytes
_LARGEST = 3  # of elements: sums of all products fit fp16 with k up to 100
_PROBED = frozenset(name for name, row in FORMATS.items() if row.bits >= 8 and name != "tf32")
_SIGNED = (Operands.MatrixASignedComponentsKHR, Operands.MatrixBSignedComponentsKHR,
           Operands.MatrixCSignedComponentsKHR, Operands.MatrixResultSignedComponentsKHR)
_ENCODINGS = {"bf16": FPEncoding.BFloat16KHR}

Layouts = tuple[int, int, int, int]
ROW_MAJOR: Layouts = (0, 0, 0, 0)


@dataclass(frozen=True)
class MatrixProbe:
    """One product ``D = A1*B1 + (A0*B0 + C)`` of a sub-group, or of a work-group (``scope``).

    types: of A, B, C and D. sizes: M, N and K. layouts: those that A, B, C and D are loaded and stored with, as SPIR-V
    numbers them. saturating: the products saturate, which these numbers never need.
    """

    types: tuple[str, str, str, str]
    sizes: tuple[int, int, int]
    layouts: Layouts = ROW_MAJOR
    sub_group_size: int = 16
    saturating: bool = False
    requires_size: bool = field(default=True)
    """Whether the kernel says which size its sub-groups have."""
    scope: Scope = Scope.Subgroup

    @property
    def is_possible(self) -> bool:
        """Whether there is a probe for these types: elements of less than a byte, and tf32, have none."""
        return _PROBED.issuperset(self.types)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of A, B, C and D."""
        m, n, k = self.sizes
        return [(m, k), (k, n), (m, n), (m, n)]

    def stride(self, place: int) -> int:
        """From one row (column, row of words) in memory to the next, in elements; there is a gap between them."""
        lines = _line_length(self.shapes[place], self.layouts[place], format_of(self.types[place]))
        size = format_of(self.types[place]).dtype.itemsize
        return -(-lines * size // ALIGNMENT) * ALIGNMENT // size + ALIGNMENT // size

    # --- the kernel -------------------------------------------------------------------

    def module(self, version: tuple[int, int] = (1, 4)) -> Module:
        """A kernel :data:`KERNEL` of pointers to A, B, C and D and of their four strides, each of 64 bits."""
        made = ModuleBuilder(version=version)
        components = [_component(made, format_of(name)) for name in self.types]
        pointers = [made.type_pointer(StorageClass.CrossWorkgroup, one) for one in components]
        long = made.type_int(64)
        uses = (CooperativeMatrixUse.MatrixAKHR, CooperativeMatrixUse.MatrixBKHR,
                CooperativeMatrixUse.MatrixAccumulatorKHR, CooperativeMatrixUse.MatrixAccumulatorKHR)
        kinds = [made.type_cooperative_matrix(component, self.scope, *shape, use)
                 for component, shape, use in zip(components, self.shapes, uses, strict=True)]
        layouts = [made.constant(made.type_int(32), layout) for layout in self.layouts]
        void = made.type_void()
        function = made.begin_function(void, made.type_function(void, [*pointers, *[long] * len(pointers)]))
        parameters = [made.parameter(kind) for kind in pointers]
        strides = [made.parameter(long) for _ in pointers]
        made.begin_block()

        def load(place: int, step: int) -> int:
            start = made.value(Op.PtrAccessChain, pointers[place], parameters[place],
                               made.constant(long, step * self._elements(place)))
            return made.value(Op.CooperativeMatrixLoadKHR, kinds[place], start, layouts[place], strides[place])

        total, kind = load(2, 0), kinds[2]
        for step in range(STEPS):
            kind = kinds[3]
            total = made.value(Op.CooperativeMatrixMulAddKHR, kind, load(0, step), load(1, step), total,
                               Operands(self._operands()))
            if step + 1 < STEPS and kinds[2] != kinds[3]:  # the sum is no C any more: the last product counts
                total = load(2, 0)
        made.emit(Op.CooperativeMatrixStoreKHR, parameters[3], total, layouts[3], strides[3])
        made.emit(Op.Return)
        made.end_function()
        made.entry_point(function, KERNEL)
        for parameter in parameters[:3]:
            made.decorate(parameter, Decoration.FuncParamAttr, FunctionParameterAttribute.NoWrite)
        if self.requires_size:
            made.execution_mode(function, ExecutionMode.SubgroupSize, self.sub_group_size)
        return made.finish()

    def _operands(self) -> int:
        flags = sum(int(flag) for flag, name in zip(_SIGNED, self.types, strict=True)
                    if format_of(name).is_integer and format_of(name).is_signed)
        return flags | (int(Operands.SaturatingAccumulationKHR) if self.saturating else 0)

    # --- what it works on -------------------------------------------------------------

    def arguments(self) -> list[np.ndarray[Any, Any]]:
        """The memory of A, B, C and D, and the strides, as :meth:`module`'s kernel takes them. D and the gaps hold
        numbers that must not matter, and stay as they are."""
        found = [self._memory(place, values) for place, values in enumerate([*self._values(), [self._unwritten()]])]
        return [*found, *(np.array(self.stride(place), np.int64) for place in range(4))]

    def is_right(self, after: Sequence[np.ndarray[Any, Any]]) -> bool:
        """Whether the memory of D holds the product after a launch, and all else is as before."""
        before = self.arguments()
        before[3] = self._memory(3, [self.expected()])
        return all(a.tobytes() == b.tobytes() for a, b in zip(before[:4], after[:4], strict=True))

    def expected(self) -> np.ndarray[Any, Any]:
        """The product, as float64 or int64."""
        a, b, (c,) = self._values()
        first = 0 if self.types[2] == self.types[3] else STEPS - 1
        total = c
        for step in range(first, STEPS):
            total = total + a[step] @ b[step]
        return total

    def _values(self) -> list[list[np.ndarray[Any, Any]]]:
        """A and B of each step, and C, as whole numbers."""
        random = np.random.default_rng(sum(self.sizes))
        return [[random.integers(0 if _is_unsigned(self.types[place]) else -_LARGEST, _LARGEST, self.shapes[place],
                                 endpoint=True).astype(_wide(self.types[place])) for _ in range(count)]
                for place, count in ((0, STEPS), (1, STEPS), (2, 1))]

    def _unwritten(self) -> np.ndarray[Any, Any]:
        return np.full(self.shapes[3], 77, _wide(self.types[3]))

    def _elements(self, place: int) -> int:
        """Of one matrix in memory, gaps included."""
        return self.stride(place) * _line_count(self.shapes[place], self.layouts[place], format_of(self.types[place]))

    def _memory(self, place: int, values: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        row = format_of(self.types[place])
        found = np.full((len(values), self._elements(place) // self.stride(place), self.stride(place)), 99,
                        _wide(row.name))
        for matrix, value in zip(found, values, strict=True):
            lines = _lines(value, self.layouts[place], row)
            matrix[:, :lines.shape[1]] = lines
        return found.reshape(-1).astype(row.dtype)


def _is_unsigned(name: str) -> bool:
    return format_of(name).is_integer and not format_of(name).is_signed


def _wide(name: str) -> type[np.generic]:
    return np.int64 if format_of(name).is_integer else np.float64


def _component(made: ModuleBuilder, row: Format) -> int:
    return made.type_int(row.bits) if row.is_integer else made.type_float(row.bits, _ENCODINGS.get(row.name))


def _lines(matrix: np.ndarray[Any, Any], layout: int, row: Format) -> np.ndarray[Any, Any]:
    """A matrix as lines in memory."""
    if layout == Layout.ColumnMajorKHR:
        return matrix.T
    if layout == Layout.PackedINTEL:
        return packed(matrix, 32 // row.bits)
    return matrix


def packed(matrix: np.ndarray[Any, Any], per_word: int) -> np.ndarray[Any, Any]:
    """In VNNI order: ``per_word`` rows interleaved, so that each word of 32 bits holds elements of one column. The
    number of rows is a multiple of ``per_word``."""
    rows, columns = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows // per_word, per_word, columns).transpose(0, 2, 1)
                                ).reshape(rows // per_word, -1)


def _line_length(shape: tuple[int, int], layout: int, row: Format) -> int:
    rows, columns = shape
    if layout == Layout.ColumnMajorKHR:
        return rows
    return columns * (32 // row.bits if layout == Layout.PackedINTEL else 1)


def _line_count(shape: tuple[int, int], layout: int, row: Format) -> int:
    rows, columns = shape
    if layout == Layout.ColumnMajorKHR:
        return columns
    return rows // (32 // row.bits if layout == Layout.PackedINTEL else 1)
