"""SPV_INTEL_2d_block_io: a sub-group loads or stores rectangular blocks of a matrix in global memory.

devices/subgroup_layout.py says which element each work-item gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.devices.subgroup_layout import block_elements
from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.analysis.blocks_2d import ELEMENT_SIZES, UNITS, block_of
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import require_full_sub_groups, uniform_value
from coopmat.targets.simulator.races.memory import watch_read
from coopmat.targets.simulator.state import Frame, Mask, Site, Step
from coopmat.targets.simulator.traffic import traffic_of
from coopmat.targets.simulator.values import Array

DTYPES: dict[int, np.dtype[Any]] = {size: np.dtype(f"i{size}") for size in ELEMENT_SIZES}
LARGEST = 1 << 24  # bytes in a row, and rows
BASE_ALIGNMENT = 64
PITCH_MULTIPLE = 16


@dataclass(frozen=True)
class Surface:
    """The matrix in memory, for each sub-group: arrays ``[S]`` or ``[1]``; width and pitch are bytes."""

    base: Array
    width: Array
    height: Array
    pitch: Array
    x: Array
    y: Array


Constraint = tuple[str, Callable[[Surface, int], Array]]

CONSTRAINTS: tuple[Constraint, ...] = (
    (f"the base address must be a multiple of {BASE_ALIGNMENT} bytes",
     lambda surface, size: surface.base % BASE_ALIGNMENT == 0),
    ("the width of the memory must be from 64 to 2**24 bytes",
     lambda surface, size: (surface.width >= 64) & (surface.width <= LARGEST)),
    ("the width of the memory must be a multiple of 4 bytes and of the element size",
     lambda surface, size: surface.width % max(4, size) == 0),
    ("the height of the memory must be from 1 to 2**24 rows",
     lambda surface, size: (surface.height >= 1) & (surface.height <= LARGEST)),
    ("the pitch must not be less than the width", lambda surface, size: surface.pitch >= surface.width),
    (f"the pitch must be a multiple of {PITCH_MULTIPLE} bytes",
     lambda surface, size: surface.pitch % PITCH_MULTIPLE == 0),
    ("the x coordinate must be a multiple of 4 for 1-byte elements and of 2 for 2-byte elements",
     lambda surface, size: surface.x % UNITS[size] == 0),
)
"""What the extension requires at run time, and how to test it for all sub-groups."""


class Access:
    """One instruction: its block, where its operands are, and the elements of each lane."""

    def __init__(self, compiler: FunctionCompiler, row: Instruction, surface: int, *, transpose: bool = False,
                 transform: bool = False) -> None:
        """``surface``: position of the base pointer among the words; width, height, pitch, coordinate follow."""
        self.block = block_of(row, [compiler.constant(word) for word in row.words[:4]], transform=transform)
        self.site = compiler.site(row)
        size = self.block.element_size
        self.dtype = DTYPES[size]
        self.elements = block_elements(self.block.width, self.block.height, self.block.count,
                                       compiler.types.sub_group_size, transpose=transpose,
                                       rows_per_word=4 // size if transform else 1)
        self._slots = [compiler.slot(word) for word in row.words[surface:surface + 5]]

    def surface(self, frame: Frame) -> Surface:
        """The operands, which must be the same in each sub-group, after all checks."""
        require_full_sub_groups(frame, self.site)
        names = ("base pointer", "memory width", "memory height", "memory pitch")
        values = [frame.slots[slot] for slot in self._slots]
        coordinate = values.pop()
        numbers = [uniform_value(frame, value, self.site, name).astype(np.int64)
                   for value, name in zip(values, names, strict=True)]
        numbers += [uniform_value(frame, coordinate[..., i], self.site, "coordinate").astype(np.int64) for i in (0, 1)]
        surface = Surface(*numbers)
        for text, holds in CONSTRAINTS:
            self._require(frame, holds(surface, self.block.element_size), text)
        storage = frame.memory.storage_of(surface.base)
        self._require(frame, (storage == StorageClass.CrossWorkgroup) | (storage < 0),
                      "the base pointer must point to global memory")
        return surface

    def _require(self, frame: Frame, holds: Array, text: str) -> None:
        wrong = frame.mask.some & ~holds
        if wrong.any():
            raise UndefinedBehavior(f"{self.site.instruction}: {text}", self.site.where(frame, int(np.argmax(wrong))))

    def components(self, frame: Frame, surface: Surface) -> Iterator[tuple[Array, Mask]]:
        """For each component: the lanes' addresses ``[S, L]``, and which lanes have an element in bounds."""
        size = self.block.element_size
        for row, column, valid in zip(*(array.T for array in self.elements), strict=True):
            y, start = surface.y[:, None] + row, (surface.x[:, None] + column) * size
            inside = valid & (y >= 0) & (y < surface.height[:, None])
            inside = inside & (start >= 0) & (start + size <= surface.width[:, None])
            address = surface.base[:, None] + y * surface.pitch[:, None] + start
            yield address, Mask(frame.mask.expanded & inside, frame.mask.lane_count)


def _load(*, transpose: bool = False, transform: bool = False) -> Handler:
    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        access = Access(compiler, row, 4, transpose=transpose, transform=transform)
        target, site = compiler.slot(row.words[9]), compiler.site(row)
        count = access.elements.row.shape[1]

        def execute(frame: Frame) -> None:
            surface = access.surface(frame)
            loaded = np.zeros((*frame.mask.expanded.shape, count), access.dtype)
            for position, (address, mask) in enumerate(access.components(frame, surface)):
                loaded[..., position] = _read(frame, address, mask, access.dtype, site)
            frame.memory.write_elements(frame, frame.slots[target], loaded, access.dtype.itemsize, site)

        return execute

    return handle


def _read(frame: Frame, address: Array, mask: Mask, dtype: np.dtype[Any], site: Site) -> Array:
    """An element per lane, zero in the lanes outside of ``mask``."""
    result = np.zeros(mask.expanded.shape, dtype)
    if mask.empty:
        return result
    for part in frame.memory.locate(frame, address, dtype, 1, dtype.itemsize, site, writing=False, mask=mask):
        watch_read(frame, part, dtype.itemsize, site)
        traffic = traffic_of(frame)
        if traffic is not None:
            traffic.read(frame, part, dtype.itemsize, dtype.itemsize, site)
        lanes = part.mask.expanded
        result[lanes] = part.view[np.broadcast_to(part.positions, lanes.shape)[lanes]]
    return result


def _store(compiler: FunctionCompiler, row: Instruction) -> Step:
    access = Access(compiler, row, 5)
    source, site = compiler.slot(row.words[4]), compiler.site(row)
    count = access.elements.row.shape[1]

    def execute(frame: Frame) -> None:
        surface = access.surface(frame)
        data = frame.memory.read_elements(frame, frame.slots[source], access.dtype, count, access.dtype.itemsize, site)
        full = np.broadcast_to(data, (*frame.mask.expanded.shape, count))
        for position, (address, mask) in enumerate(access.components(frame, surface)):
            if mask.empty:
                continue
            for part in frame.memory.locate(frame, address, access.dtype, 1, access.dtype.itemsize, site,
                                            writing=True, mask=mask):
                frame.memory.write_part(frame, part, full[..., position:position + 1], site)

    return execute


def _prefetch(compiler: FunctionCompiler, row: Instruction) -> Step:
    """No effect, but the rules of the operands hold for it as well."""
    access = Access(compiler, row, 4)

    def execute(frame: Frame) -> None:
        access.surface(frame)

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.Subgroup2DBlockLoadINTEL: _load(),
    Op.Subgroup2DBlockLoadTransformINTEL: _load(transform=True),
    Op.Subgroup2DBlockLoadTransposeINTEL: _load(transpose=True),
    Op.Subgroup2DBlockPrefetchINTEL: _prefetch,
    Op.Subgroup2DBlockStoreINTEL: _store,
}
