"""The errors of accesses outside of buffers: what compiled code has noted of the first one, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from coopmat.devices.subgroup_layout import block_elements
from coopmat.diagnostics import KernelAssertion, OutOfBounds, SimulationError, Where
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.support import assertions
from coopmat.targets.base import out_of_bounds as say
from coopmat.targets.base.matrix_grid import PACKED_WORD, grid_of

NEAR_NULL = 1 << 16  # bytes around address 0 that belong to nobody
NEARBY = 1 << 20  # bytes from a buffer that an address is still told by it
MOST_VALUES = 5


class Fault(IntEnum):
    """The words that compiled code writes, by their positions behind Field.ERROR."""

    STATE = 0  # not 0: there is a fault
    SITE = 1
    LANE = 2
    GROUP = 3  # three words
    SUB_GROUP = 6
    ADDRESS = 7
    START = 8  # of the buffer, where the pointer's is known
    BYTES = 9  # of that buffer
    VALUES = 10  # what else the message needs
    COUNT = 10 + MOST_VALUES


@dataclass(frozen=True)
class AccessSite:
    """A place in the code where memory is accessed.

    kind: access, bytes (as many as a number says), index, matrix, window, block, copy, assertion. instruction: as
    messages call it, of an assertion its condition. location: in the source. size: bytes of an element; of an index,
    the elements that there are. buffer: its name, None if the pointer may lead to several. matrix and layout: of
    matrices. detail: of blocks the operands of block_elements; of an index the unit that it counts; of matrices not
    empty where the memory is private. sub_group_size: of matrices, work-items of a sub-group.
    """

    kind: str
    instruction: str
    location: str | None
    writing: bool
    size: int
    buffer: str | None = None
    matrix: MatrixType | None = None
    layout: int = 0
    detail: tuple[int, ...] = ()
    sub_group_size: int = 0


class Region(NamedTuple):
    """Memory of a launch: its name, its address, its size in bytes."""

    name: str
    start: int
    nbytes: int


@dataclass
class _Found:
    """A fault, and where it leads to."""

    site: AccessSite
    where: Where
    address: int
    region: Region | None
    values: Sequence[int]

    @property
    def offset(self) -> int:
        assert self.region is not None
        return self.address - self.region.start

    def error(self, message: str, byte: int | None = None, *, lane: int | None = None, sub_group: int | None = None,
              size: int = 0, kind: type[SimulationError] = OutOfBounds) -> SimulationError:
        """The error; ``byte`` of the buffer, ``size`` of an element there."""
        known = self.where
        region = self.region.name if self.region is not None else None
        element = None if byte is None else byte // (size or self.site.size)
        lane = known.lane if lane is None else lane
        sub_group = known.sub_group if sub_group is None else sub_group
        return kind(message, Where(known.kernel, known.location, known.work_group, sub_group, lane, region, element))

    def nowhere(self) -> str | None:
        """The address in words, if it belongs to no buffer."""
        if self.region is not None and not self.region.start:  # what is derived from a null pointer is told by it
            self.region = None
            return say.no_buffer(self.address, say.MOST_ADDRESS)
        if self.region is None or abs(self.address) < NEAR_NULL:
            self.region = None
            return say.no_buffer(self.address, NEAR_NULL)
        return None


def fault_of(words: np.ndarray, sites: Sequence[AccessSite], kernel: str, regions: Sequence[Region]) -> SimulationError:
    """The error of a launch. ``words``: of the fault. ``regions``: all buffers of the launch."""
    numbers = [int(word) for word in words]
    site = sites[numbers[Fault.SITE]]
    group = (numbers[Fault.GROUP], numbers[Fault.GROUP + 1], numbers[Fault.GROUP + 2])
    where = Where(kernel, site.location, group, numbers[Fault.SUB_GROUP], numbers[Fault.LANE])
    address = numbers[Fault.ADDRESS]
    region = (_nearest(address, regions) if site.buffer is None
              else Region(site.buffer, numbers[Fault.START], numbers[Fault.BYTES]))
    return _MESSAGES[site.kind](_Found(site, where, address, region, numbers[Fault.VALUES:]))


def _nearest(address: int, regions: Sequence[Region]) -> Region | None:
    """The buffer that an address lies in, or behind, or before."""
    def distance(region: Region) -> int:
        return max(region.start - address, address - region.start - region.nbytes, 0)

    found = min((region for region in regions if region.start), key=distance, default=None)
    return found if found is not None and distance(found) <= NEARBY else None


# --------------------------------------------------------------------------------------
# One function for each kind of site
# --------------------------------------------------------------------------------------


def _access(found: _Found) -> SimulationError:
    return _sized_access(found, found.site.size)


def _bytes(found: _Found) -> SimulationError:
    return _sized_access(found, found.values[0])


def _sized_access(found: _Found, size: int) -> SimulationError:
    writing, nowhere = found.site.writing, found.nowhere()
    if nowhere is not None:
        return found.error(say.access_nowhere(writing, size, nowhere))
    assert found.region is not None
    if writing and 0 <= found.offset <= found.region.nbytes - size:
        return found.error(say.READ_ONLY, kind=SimulationError)
    return found.error(say.access_outside(writing, size, found.offset, found.region.nbytes), found.offset, size=size)


def _index(found: _Found) -> SimulationError:
    index = found.values[0] // found.site.detail[0]
    return found.error(say.index_outside(index, found.site.size), index, size=1)


def _copy(found: _Found) -> SimulationError:
    site, (count, step) = found.site, found.values[:2]
    count, step = count % (1 << 64), step % (1 << 64)
    what = say.copy_in_words(site.instruction, count, site.size, site.writing)
    nowhere = found.nowhere()
    if nowhere is not None:
        return found.error(f"{what} through {nowhere}", lane=0)
    assert found.region is not None
    nbytes = found.region.nbytes
    index = say.copied_inside(found.offset, nbytes, count, step * site.size, site.size)
    if index >= count:
        return found.error(say.READ_ONLY, lane=0, kind=SimulationError)
    byte = found.offset + index * step * site.size
    return found.error(say.copy_outside(what, index, byte, nbytes, site.size), byte, lane=0)


def _not_shared(found: _Found) -> SimulationError | None:
    """The error of a matrix in private memory or nowhere."""
    nowhere = found.nowhere()
    if nowhere is None and found.site.detail:
        assert found.region is not None
        nowhere, name = "", found.region.name
        found.region = None
        return found.error(say.not_shared(found.site.instruction, f"points to private memory, {name}"))
    return None if nowhere is None else found.error(say.not_shared(found.site.instruction, f"is {nowhere}"))


def _element(found: _Found, row: int, column: int, byte: int, size: int, *, is_window: bool = False) -> SimulationError:
    site, region = found.site, found.region
    assert site.matrix is not None
    assert region is not None
    lane, sub_group = int(site.matrix.layout.owner[0][row, column]), None
    if site.matrix.is_of_work_group:
        sub_group, lane = divmod(lane, site.sub_group_size)
    memory = say.InMemory(site.matrix, site.layout, found.values[0], found.offset)
    message = say.element_outside(site.instruction, site.writing, (row, column), memory, byte, region.nbytes, size,
                                  is_window=is_window)
    return found.error(message, byte, lane=lane, sub_group=sub_group, size=size)


def _matrix(found: _Found) -> SimulationError:
    error = _not_shared(found)
    if error is not None:
        return error
    site, region = found.site, found.region
    assert site.matrix is not None
    assert region is not None
    grid = grid_of(site.matrix, site.layout, found.values[0])
    assert grid is not None
    first = say.first_outside(site.matrix, grid, found.offset, region.nbytes)
    if first is None:
        return found.error(say.MATRIX_READ_ONLY, kind=SimulationError)
    return _element(found, *first, grid.dtype.itemsize)


def _window(found: _Found) -> SimulationError:
    error = _not_shared(found)
    if error is not None:
        return error
    site, region = found.site, found.region
    assert site.matrix is not None
    assert region is not None
    stride, first_row, first_column, height, width = found.values
    size = site.matrix.component.size
    together = PACKED_WORD // size if site.layout == Layout.PackedINTEL and site.matrix.use == Use.MatrixBKHR else 1
    for row, column in np.ndindex(site.matrix.rows, site.matrix.columns):
        down, right = (column, row) if site.layout == Layout.ColumnMajorKHR else \
            (row // together, column * together + row % together)
        line, place = first_row + down, first_column + right
        byte = found.offset + line * stride + place * size
        if 0 <= line < height % (1 << 64) and 0 <= place < width % (1 << 64) and not 0 <= byte <= region.nbytes - size:
            return _element(found, row, column, byte, size, is_window=True)
    return found.error(say.MATRIX_READ_ONLY, kind=SimulationError)


def _block(found: _Found) -> SimulationError:
    """A two-dimensional block: the first component, and its first work-item, that is not in the buffer."""
    site, nowhere = found.site, found.nowhere()
    if nowhere is not None:
        return found.error(say.access_nowhere(site.writing, site.size, nowhere))
    region = found.region
    assert region is not None
    width, height, pitch, x, y = found.values
    block_width, block_height, count, lanes, transposes, rows_per_word = site.detail
    held = block_elements(block_width, block_height, count, lanes, transpose=bool(transposes),
                          rows_per_word=rows_per_word)
    for rows, columns, valid in zip(*(array.T for array in held), strict=True):
        for lane in np.flatnonzero(valid).tolist():
            line, start = y + int(rows[lane]), (x + int(columns[lane])) * site.size
            byte = found.offset + line * pitch + start
            is_there = 0 <= line < height and 0 <= start <= width - site.size
            if is_there and not 0 <= byte <= region.nbytes - site.size:
                return found.error(say.access_outside(site.writing, site.size, byte, region.nbytes), byte, lane=lane)
    return found.error(say.READ_ONLY, kind=SimulationError)


def _assertion(found: _Found) -> SimulationError:
    found.region = None
    return found.error(assertions.message(found.site.instruction.encode()), kind=KernelAssertion)


_MESSAGES = {"access": _access, "assertion": _assertion, "bytes": _bytes, "index": _index, "matrix": _matrix,
             "window": _window, "block": _block, "copy": _copy}
