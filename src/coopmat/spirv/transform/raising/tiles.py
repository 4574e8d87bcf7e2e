"""Numbers of work-items that make up a matrix: whether they lie in memory as one, by rows, by columns or packed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coopmat.devices.lane_layout import LaneLayout, can_be_packed, rows_per_word
from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.raising.spots import NotKnown, Spot
from coopmat.spirv.transform.raising.terms import BYTE

Numbers = NDArray[np.int64]
ELSEWHERE = "what its work-items have of a matrix does not lie in memory as one does, by rows, by columns or packed"


@dataclass(frozen=True)
class Tile:
    """A matrix in memory. spot: one of the numbers in it; start, stride: from that one's base to element (0, 0), and
    from line to line, in bits; of a 2D block ``line`` and ``along`` (in bits) are from the block's corner to that
    element. rows: all instructions that load or store it; spots: of the numbers; unit: between lines, in bytes, where
    that is no constant."""

    spot: Spot
    layout: Layout
    start: Polynomial
    stride: Polynomial
    line: int
    along: int
    rows: tuple[Instruction, ...]
    spots: tuple[Spot, ...]
    unit: Polynomial


def tile_of(spots: Sequence[Sequence[tuple[Spot, int]]], layout: LaneLayout, use: str, *, is_loaded: bool = True
            ) -> Tile:
    """The matrix that numbers are. spots: of each register of a work-item, and each byte of it, where the number lies
    that it is part of, and which byte of that it is. NotKnown if it is none."""
    first = spots[0][0][0]
    found = {id(spot): spot for register in spots for spot, _ in register}
    rows = tuple({id(spot.row): spot.row for spot in found.values()}.values())
    distances = _of_surfaces(found, first) if first.surface is not None else _of_pointers(found, first)
    places = layout.of_elements
    line, along = (np.zeros(places.lane.shape, np.int64) for _ in range(2))
    for (row, column), lane in np.ndenumerate(places.lane):
        register, bit = int(places.register[row, column]), int(places.bit[row, column])
        spot, byte = spots[register][bit // BYTE]
        down, across = distances[id(spot)](int(lane))
        line[row, column], along[row, column] = down, BYTE * (across + byte) + bit % BYTE
    start = int(line[0, 0]), int(along[0, 0])
    unit = _unit(found, first)
    order, step = _order(line - start[0], along - start[1], layout.element_bits, use, rows[0])
    if first.surface is not None and step not in (None, (1, 0)):
        raise NotKnown(ELSEWHERE, rows[0])
    if step is None:
        stride = _any_stride(first, layout.element_bits, 0 if is_loaded else layout.element_bits * layout.columns)
    else:
        stride = unit.scaled(BYTE * step[0]) + Polynomial.constant(step[1])
    origin = (first.start + unit.scaled(start[0])).scaled(BYTE) + Polynomial.constant(start[1])
    return Tile(first, order, origin, stride, start[0], start[1], rows, tuple(found.values()), unit)


def _any_stride(spot: Spot, bits: int, usual: int) -> Polynomial:
    """The distance between lines, in bits, of a matrix that has only one: where the place of a work-group is multiplied
    by a number that the kernel gets, it is that number."""
    for monomial, _ in spot.start.terms:
        others = tuple(atom for atom in monomial if atom.kind not in ("group", "outer"))
        if others and len(others) < len(monomial):
            return Polynomial.of([(others, bits)])
    return Polynomial.constant(usual)


def _order(line: Numbers, along: Numbers, bits: int, use: str, row: Instruction
           ) -> tuple[Layout, tuple[int, int] | None]:
    """The layout of a matrix whose elements lie so many lines and bits behind the first one, and how far its lines are
    apart, if it has several."""
    count, _ = line.shape
    rows, columns = np.indices(line.shape)
    for order, together in _orders(use, bits, count):
        by_rows = order != Layout.ColumnMajorKHR
        lines, elements = (rows // together, columns * together + rows % together) if by_rows else (columns, rows)
        second = (together, 0) if by_rows else (0, 1)
        is_single = lines.max() == 0
        down, across = (0, 0) if is_single else (int(line[second]), int(along[second]))
        if (line == lines * down).all() and (along == lines * across + elements * bits).all():
            return order, None if is_single else (down, across)
    raise NotKnown(ELSEWHERE, row)


def _orders(use: str, bits: int, count: int) -> Iterator[tuple[Layout, int]]:
    """The layouts that a matrix may have, and how many rows share a word."""
    yield Layout.RowMajorKHR, 1
    yield Layout.ColumnMajorKHR, 1
    if use == "b" and can_be_packed(count, bits):
        yield Layout.PackedINTEL, rows_per_word(bits)


def _of_pointers(spots: dict[int, Spot], first: Spot) -> dict[int, Any]:
    """How many lines and bytes behind the first spot's number that of a work-item lies, as functions of its lane."""
    unit = _unit(spots, first)
    found = {}
    for key, spot in spots.items():
        if spot.surface is not None or spot.base != first.base:
            raise NotKnown("a matrix is loaded from different places", spot.row)
        (down, across), (lower, beside) = (split(value, unit, spot.row) for value in (
            spot.start - first.start, spot.step))
        found[key] = lambda lane, at=(down, across), by=(lower, beside): (
            at[0] + lane * by[0], at[1] + lane * by[1])
    return found


def _of_surfaces(spots: dict[int, Spot], first: Spot) -> dict[int, Any]:
    """The same of 2D blocks of one surface."""
    found = {}
    for key, spot in spots.items():
        down, across = (spot.y - first.y).known, (spot.x - first.x).known
        if spot.surface != first.surface or down is None or across is None:
            raise NotKnown("a matrix is loaded from different places", spot.row)
        found[key] = lambda lane, spot=spot, at=(down, across): (
            at[0] + int(spot.lines[lane]), at[1] + int(spot.bytes[lane]))
    return found


def _unit(spots: dict[int, Spot], first: Spot) -> Polynomial:
    """What distances of more than some bytes are multiples of: that between lines."""
    if first.surface is not None:
        return Polynomial()
    for spot in spots.values():
        for value in (spot.start - first.start, spot.step):
            terms = [(monomial, factor) for monomial, factor in value.terms if monomial]
            if terms:
                divisor = math.gcd(*(factor for _, factor in terms)) * (-1 if terms[0][1] < 0 else 1)
                return Polynomial.of((monomial, factor // divisor) for monomial, factor in terms)
    return Polynomial()


def split(value: Polynomial, unit: Polynomial, row: Instruction) -> tuple[int, int]:
    """A distance as lines and bytes."""
    rest = dict(value.terms).get((), 0)
    multiple = value - Polynomial.constant(rest)
    if not multiple.terms:
        return 0, rest
    lines, left = divmod(multiple.terms[0][1], unit.terms[0][1]) if unit.terms else (0, 1)
    if left or unit.scaled(lines) != multiple:
        raise NotKnown(ELSEWHERE, row)
    return lines, rest
