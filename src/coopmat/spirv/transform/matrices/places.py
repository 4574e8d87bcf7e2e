"""Where the components of a matrix lie in memory: so many strides and so many elements behind its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

import numpy as np

from coopmat.devices.lane_layout import Indices, can_be_packed, rows_per_word
from coopmat.diagnostics import KernelNotSupported, ValidationError
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.types import IntType, VectorType
from coopmat.spirv.grammar import AddressingModel, MemoryAccess, Op
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrices.layout import Spread
from coopmat.spirv.transform.matrices.lowering import INT4, Components, Lowering

NIBBLE = 4
PER_BYTE = 2


def coordinates(matrix: Components, order: int, row: Indices, column: Indices) -> tuple[Indices, Indices]:
    """Of elements how many strides they lie behind the beginning, and how many elements besides."""
    kind = matrix.kind
    if order == Layout.ColumnMajorKHR:
        return column, row
    if order == Layout.PackedINTEL and kind.use == Use.MatrixBKHR:
        together = rows_per_word(kind.component.width if isinstance(kind.component, IntType) else
                                 8 * kind.component.size)
        return row // together, column * together + row % together
    return row, column


def order_of(to: Lowering, matrix: Components, layout: int, row: Instruction) -> int:
    """The layout of a matrix in memory. KernelNotSupported where it is not known, ValidationError for an impossible
    one."""
    module, kind = to.editor.module, matrix.kind
    order = module.constant_value(layout) if module.defines(layout) else None
    if not isinstance(order, int):
        raise KernelNotSupported(f"the layout of {row.name} must be a constant where matrices become sub-group code",
                                 None, place_of(module, row))
    bits = kind.component.width if isinstance(kind.component, IntType) else 8 * kind.component.size
    if order in (Layout.RowMajorKHR, Layout.ColumnMajorKHR) or (order == Layout.PackedINTEL and (
            kind.use == Use.MatrixAKHR or (kind.use == Use.MatrixBKHR and can_be_packed(kind.rows, bits)))):
        return order
    raise ValidationError("matrix-layout", f"layout {order} is not possible for a {kind} of use {kind.use}", row.offset)


class Places:
    """The addresses of a matrix's components, for one instruction. ``moved``: how many elements further all lie.

    Where the last components are padding their addresses are those of the last row or column.
    """

    def __init__(self, to: Lowering, matrix: Components, pointer: int, order: int, stride: Sequence[int]) -> None:
        self.to = to
        self.matrix = matrix
        self.order = order
        model = next(iter(to.editor.module.of_opcode(Op.MemoryModel))).words[0]
        self.index = to.integer(64 if model == AddressingModel.Physical64 else 32)
        self.moved: int | None = None
        self.is_narrow = matrix.kind.component == INT4
        self.size = matrix.kind.component.size
        self._point(pointer)
        self.stride = self._scaled(to.resized(stride[0], self.index), self.per_stride) if stride else to.number(
            0, self.index)
        self.strides: dict[int, int] = {0: to.number(0, self.index), 1: self.stride}
        self.starts: dict[tuple[int | None, int | None], int | None] = {}

    def _point(self, pointer: int) -> None:
        """What the pointer points to; ``per_stride`` and ``per_element``: that many of what addresses count make up
        one of what the stride counts, and one component."""
        to, type_id = self.to, self.to.type_id(pointer)
        self.storage, pointee = to.editor.definition(type_id).words
        kind = to.kind(pointee)
        self.base, self.pointee, self.vector = pointer, pointee, 0
        self.per_stride = self.per_element = 1
        self.cast = False
        if kind.size == self.size and kind.scalar is kind:
            return
        if isinstance(kind, VectorType) and kind.component.size == self.size and kind.length in (2, 4, 8, 16):
            self.vector = self.per_stride = kind.length
            self.pointee = to.editor.definition(pointee).words[0]
        elif kind.size % self.size == 0:
            self.per_stride = kind.size // self.size
            self.pointee = self.matrix.tile_id
            self.base = to.let(Op.Bitcast, to.editor.type_pointer(self.storage, self.pointee), pointer)
        elif self.size % kind.size == 0:
            self.per_element = self.size // kind.size
            self.cast = True
        else:
            raise ValidationError("matrix-pointer", f"a {self.matrix.kind} cannot be reached by pointers to {kind}")

    def _scaled(self, value: int, factor: int) -> int:
        to = self.to
        return value if factor == 1 else to.let(Op.IMul, self.index, value, to.number(factor, self.index))

    def move(self, outer: int, inner: int) -> None:
        """Let all lie so many strides and elements further."""
        to = self.to
        strides = to.let(Op.IMul, self.index, to.resized(outer, self.index), self.stride)
        elements = self._scaled(to.resized(inner, self.index), self.per_element)
        self.moved = to.let(Op.IAdd, self.index, strides, elements)

    # --- one component ---------------------------------------------------------------------

    def coordinates(self, component: int) -> tuple[Indices, Indices]:
        """How many strides and elements a component lies behind the beginning, in each work-item."""
        spread: Spread = self.matrix.spread
        row = np.minimum(spread.rows_of(component), spread.rows - 1)
        column = np.minimum(spread.columns_of(component), spread.columns - 1)
        return coordinates(self.matrix, self.order, row, column)

    def pointer(self, component: int) -> int:
        """The address of a component, or of the byte that it is in."""
        outer, inner = self.coordinates(component)
        to = self.to
        if self.is_narrow:
            inner = inner // PER_BYTE
        offset = self._offset(outer, inner)
        if self.vector:
            length = to.number(self.vector, self.index)
            parts = (to.let(Op.UDiv, self.index, offset, length), to.let(Op.UMod, self.index, offset, length))
            return to.let(Op.PtrAccessChain, to.editor.type_pointer(self.storage, self.pointee), self.base, *parts)
        found = to.let(Op.PtrAccessChain, to.type_id(self.base), self.base, offset)
        if not self.cast:
            return found
        return to.let(Op.Bitcast, to.editor.type_pointer(self.storage, self.matrix.tile_id), found)

    def _offset(self, outer: Indices, inner: Indices) -> int:
        """So many strides and elements: what differs between work-items once for all components, then constants."""
        to = self.to
        (strides, count), (elements, further) = (to.lanes.parts(one, self.index) for one in (outer, inner))
        key = strides, elements
        if key not in self.starts:
            terms = [self.moved] if self.moved is not None else []
            if strides is not None:
                terms.append(to.let(Op.IMul, self.index, strides, self.stride))
            if elements is not None:
                terms.append(self._scaled(elements, self.per_element))
            self.starts[key] = self._sum(terms)
        if count not in self.strides:
            self.strides[count] = to.let(Op.IMul, self.index, self.stride, to.number(count, self.index))
        start = self.starts[key]
        terms = [one for one, wanted in ((start, start is not None), (self.strides[count], count),
                                         (to.number(further * self.per_element, self.index), further))
                 if wanted and one is not None]
        return self._sum(terms) or to.number(0, self.index)

    def _sum(self, terms: Sequence[int]) -> int | None:
        total = None
        for one in terms:
            total = one if total is None else self.to.let(Op.IAdd, self.index, total, one)
        return total

    def access(self, words: Sequence[int]) -> list[int]:
        """The memory operands of a component: it is aligned only as far as all are."""
        if not words or not words[0] & MemoryAccess.Aligned:
            return list(words)
        return [words[0], gcd(words[1], self.size), *words[2:]]

    # --- values ----------------------------------------------------------------------------

    def loaded(self, component: int, access: Sequence[int], result: int | None = None) -> int:
        """A component from memory."""
        to, wanted = self.to, self.matrix.tile_id
        kind = wanted if self.cast else self.pointee
        last = kind == wanted and not self.is_narrow
        found = to.let(Op.Load, kind, self.pointer(component), *self.access(access), result=result if last else None)
        if kind != wanted:
            found = to.let(Op.Bitcast, wanted, found, result=None if self.is_narrow else result)
        return self._nibble(found, component, result) if self.is_narrow else found

    def _nibble(self, byte: int, component: int, result: int | None) -> int:
        """The lower or the upper half of a byte, with its sign."""
        to, type_id = self.to, self.matrix.tile_id
        upper = self.coordinates(component)[1] % PER_BYTE
        lanes = to.lanes.index((1 - upper) * NIBBLE)
        by = lanes if type_id == to.uint else to.let(Op.UConvert, type_id, lanes)
        moved = to.let(Op.ShiftLeftLogical, type_id, byte, by)
        return to.let(Op.ShiftRightArithmetic, type_id, moved, to.number(NIBBLE, type_id), result=result)

    def stored(self, component: int, value: int, access: Sequence[int]) -> None:
        """A component to memory."""
        to = self.to
        kind = self.matrix.tile_id if self.cast else self.pointee
        if to.type_id(value) != kind:
            value = to.let(Op.Bitcast, kind, value)
        to.do(Op.Store, self.pointer(component), value, *self.access(access))
