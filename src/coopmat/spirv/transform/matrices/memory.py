"""Matrices in memory as sub-group code: each work-item loads and stores its own components."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from coopmat.devices.lane_layout import Indices
from coopmat.diagnostics import KernelNotSupported
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrices.layout import Chosen
from coopmat.spirv.transform.matrices.lowering import INT4, Components, Lowering
from coopmat.spirv.transform.matrices.places import NIBBLE, PER_BYTE, Places, coordinates, order_of

# --- strided rectangles ------------------------------------------------------------------


def load(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixLoadKHR."""
    matrix = to.cut.components(row.type_id)
    if matrix is None:
        return False
    pointer, layout, *rest = row.words
    places = Places(to, matrix, pointer, order_of(to, matrix, layout, row), rest[:1])
    for component, result in enumerate(to.results(row)):
        places.loaded(component, rest[1:], result)
    return True


def store(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixStoreKHR."""
    pointer, value, layout, *rest = row.words
    matrix = to.matrix(value)
    if matrix is None:
        return False
    places = Places(to, matrix, pointer, order_of(to, matrix, layout, row), rest[:1])
    values, is_held = to.tiles_of(value), elements(matrix)
    if matrix.kind.component == INT4:
        values, is_held = _bytes(to, matrix, places, values)
    to.synchronize(pointer)
    for chosen, components in _alike(is_held):
        def put(components: Sequence[int] = components) -> None:
            for component in components:
                places.stored(component, values[component], rest[1:])

        if chosen.all():
            put()
        else:
            to.when(to.lanes.flag(chosen), put)
    to.synchronize(pointer)
    return True


def elements(matrix: Components) -> list[Chosen]:
    """Of each component in which work-items it is an element."""
    spread = matrix.spread
    return [(spread.rows_of(component) < spread.rows) & (spread.columns_of(component) < spread.columns)
            for component in range(spread.length)]


def _alike(is_held: Sequence[Chosen]) -> Iterator[tuple[Chosen, list[int]]]:
    """The components that the same work-items have, together."""
    found: dict[bytes, list[int]] = {}
    for component, chosen in enumerate(is_held):
        if chosen.any():
            found.setdefault(chosen.tobytes(), []).append(component)
    return ((is_held[components[0]], components) for components in found.values())


def _bytes(to: Lowering, matrix: Components, places: Places, values: Sequence[int]
           ) -> tuple[list[int], list[Chosen]]:
    """Components of 4 bits, two in a byte: that of the first of both, in the work-items that have it."""
    spread, held = matrix.spread, matrix.spread.held
    at_row, at_column = np.indices((spread.rows, spread.columns))
    outer, inner = coordinates(matrix, places.order, at_row, at_column)
    place_at = np.full((outer.max() + 1, inner.max() + 1), -1)
    place_at[outer, inner] = np.arange(spread.rows * spread.columns).reshape(spread.rows, spread.columns)
    type_id, made, writing = matrix.tile_id, [], []
    for component, valid in enumerate(elements(matrix)):
        own_outer, own_inner = places.coordinates(component)
        number = place_at[own_outer, np.minimum(own_inner - own_inner % PER_BYTE + 1, inner.max())]
        upper = to.taken(values, held.lane.reshape(-1)[number], held.value.reshape(-1)[number], type_id)
        lower = to.let(Op.BitwiseAnd, type_id, values[component], to.number((1 << NIBBLE) - 1, type_id))
        moved = to.let(Op.ShiftLeftLogical, type_id, upper, to.number(NIBBLE, type_id))
        is_last = own_inner - own_inner % PER_BYTE + 1 > inner.max()
        if is_last.any():  # what is behind the end stays as it is
            byte = to.let(Op.Load, type_id, places.pointer(component))
            kept = to.let(Op.BitwiseAnd, type_id, byte, to.number(0xF0, type_id))
            moved = to.let(Op.Select, type_id, to.lanes.flag(is_last), kept, moved)
        made.append(to.let(Op.BitwiseOr, type_id, lower, moved))
        writing.append(valid & (own_inner % PER_BYTE == 0))
    return made, writing


# --- windows (SPV_INTEL_joint_matrix) ------------------------------------------------------


class _Window:
    """Which components lie inside of a window: ``coordinates`` gives their rows and columns in it."""

    def __init__(self, to: Lowering, row: int, column: int, height: int, width: int,
                 coordinates: Callable[[int], tuple[Indices, Indices]]) -> None:
        self.to = to
        self.coordinates = coordinates
        bits = max(to.editor.definition(to.type_id(one)).words[0] for one in (row, column, height, width))
        self.type_id = to.integer(bits)
        self.starts = [to.resized(one, self.type_id) for one in (row, column)]
        self.sizes = [self._unsigned(one) for one in (height, width)]
        self.known: dict[tuple[int, bytes], int] = {}

    def _unsigned(self, value: int) -> int:
        return value if self.to.type_id(value) == self.type_id else self.to.let(Op.UConvert, self.type_id, value)

    def prepare(self, count: int) -> None:
        """Ask for all rows and columns before there are branches."""
        for component in range(count):
            for axis, numbers in enumerate(self.coordinates(component)):
                self._is_within(axis, numbers)

    def _is_within(self, axis: int, numbers: Indices) -> int:
        key = axis, numbers.tobytes()
        if key not in self.known:
            to = self.to
            varying, further = to.lanes.parts(numbers, self.type_id)
            place = to.plus(self.starts[axis], further)
            if varying is not None:
                place = to.let(Op.IAdd, self.type_id, place, varying)
            self.known[key] = to.let(Op.ULessThan, to.bool, place, self.sizes[axis])
        return self.known[key]

    def inside(self, component: int) -> int:
        """The condition that a component lies inside."""
        both = [self._is_within(axis, numbers) for axis, numbers in enumerate(self.coordinates(component))]
        return self.to.let(Op.LogicalAnd, self.to.bool, *both)


def load_checked(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixLoadCheckedINTEL: 0 outside of the window."""
    matrix = to.cut.components(row.type_id)
    if matrix is None:
        return False
    pointer, x, y, layout, height, width, *rest = row.words
    places, window = _checked(to, matrix, row, (pointer, x, y, layout, height, width), rest[:1])
    nothing = to.editor.unique(Op.ConstantNull, type_id=matrix.tile_id)
    for component, (valid, result) in enumerate(zip(elements(matrix), to.results(row), strict=True)):
        condition = _within(to, window, component, valid)
        found = to.value_when(condition, matrix.tile_id, lambda component=component: places.loaded(  # type: ignore[misc]
            component, rest[1:]), nothing)
        to.let(Op.CopyObject, matrix.tile_id, found, result=result)
    return True


def store_checked(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixStoreCheckedINTEL: nothing outside of the window."""
    pointer, x, y, value, layout, height, width, *rest = row.words
    matrix = to.matrix(value)
    if matrix is None:
        return False
    places, window = _checked(to, matrix, row, (pointer, x, y, layout, height, width), rest[:1])
    values = to.tiles_of(value)
    to.synchronize(pointer)
    for component, valid in enumerate(elements(matrix)):
        if valid.any():
            to.when(_within(to, window, component, valid), lambda component=component: places.stored(  # type: ignore[misc]
                component, values[component], rest[1:]))
    to.synchronize(pointer)
    return True


def _checked(to: Lowering, matrix: Components, row: Instruction, words: Sequence[int], stride: Sequence[int]
             ) -> tuple[Places, _Window]:
    if matrix.kind.component == INT4:
        raise KernelNotSupported(f"{row.name}: the components of a matrix in a window have at least 8 bits", None,
                                 place_of(to.editor.module, row))
    pointer, x, y, layout, height, width = words
    places = Places(to, matrix, pointer, order_of(to, matrix, layout, row), stride)
    places.move(x, y)
    window = _Window(to, x, y, height, width, places.coordinates)
    for component in range(matrix.count):
        places.pointer(component)  # what all need is computed before there are branches
    window.prepare(matrix.count)
    return places, window


def _within(to: Lowering, window: _Window, component: int, valid: Chosen) -> int:
    inside = window.inside(component)
    return inside if valid.all() else to.let(Op.LogicalAnd, to.bool, inside, to.lanes.flag(valid))


def construct_checked(to: Lowering, row: Instruction) -> bool:
    """OpCooperativeMatrixConstructCheckedINTEL: a value inside of a window, 0 outside."""
    matrix = to.cut.components(row.type_id)
    if matrix is None:
        return False
    x, y, height, width, value = row.words
    spread = matrix.spread
    window = _Window(to, x, y, height, width, lambda component: (spread.rows_of(component),
                                                                spread.columns_of(component)))
    nothing = to.editor.unique(Op.ConstantNull, type_id=matrix.tile_id)
    for component, result in enumerate(to.results(row)):
        to.let(Op.Select, matrix.tile_id, window.inside(component), value, nothing, result=result)
    return True


def drop(to: Lowering, row: Instruction) -> bool:
    """A hint that nobody takes."""
    return True
