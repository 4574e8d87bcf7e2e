"""Matrices that are loaded with another layout than they were stored with: their elements are in other places, and no
other check sees it. It is a warning, as a matrix may be transposed that way on purpose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import LayoutWarning
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.support.allocator import zeros
from coopmat.targets.base.output import warn
from coopmat.targets.simulator.address_space import Buffer, Part
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array

NAMES = {int(Layout.RowMajorKHR): "row-major", int(Layout.ColumnMajorKHR): "column-major",
         int(Layout.PackedINTEL): "packed"}
NO_MATRIX = 0
"""What a byte is noted with that no matrix was stored to last; others have their layout plus 1."""


class LayoutWatch:
    """With which layout each byte of a batch's memory was stored last. An ``AccessWatch`` of the address space."""

    def __init__(self, shown: set[tuple[str | None, str]]) -> None:
        self._stored: dict[int, Array] = {}  # by buffer; those that matrices are stored to
        self._sites: dict[int, Site] = {}  # by layout: the last store
        self._shown = shown

    def added(self, buffer: Buffer) -> None:
        """There is nothing to know of it yet."""

    def read(self, frame: Frame, part: Part, nbytes: int, size: int, site: Site) -> None:
        """A work-item's own load may read what it likes."""

    def write(self, frame: Frame, part: Part, value: Array, store: Callable[[], None], site: Site) -> None:
        """What work-items store themselves has no layout that is known."""
        store()
        stored = self._stored.get(id(part.buffer))
        if stored is None:
            return
        size = value.dtype.itemsize
        start = part.positions * (1 if part.width > 1 else size)
        lanes = part.mask.expanded
        places = np.broadcast_to(start, lanes.shape)[lanes]
        stored[places[:, None] + np.arange(size * value.shape[-1])] = NO_MATRIX

    def knows(self, buffer: Buffer) -> bool:
        """Whether matrices have been stored there."""
        return id(buffer) in self._stored

    def matrix_stored(self, buffer: Buffer, places: Array, size: int, layout: int, site: Site) -> None:
        """Matrices are stored, whose elements of ``size`` bytes lie at the bytes ``places``."""
        stored = self._stored.setdefault(id(buffer), zeros(len(buffer.memory), np.uint8))
        stored[places if size == 1 else (places[:, None] + np.arange(size)).reshape(-1)] = layout + 1
        self._sites[layout] = site

    def matrix_loaded(self, frame: Frame, buffer: Buffer, places: Array, layout: int, site: Site,
                      sub_groups: Array) -> None:
        """Matrices are loaded, one of each of ``sub_groups``, whose elements lie at the bytes ``places``."""
        stored = self._stored.get(id(buffer))
        if stored is None or not len(places):
            return
        found = stored[places].reshape(len(sub_groups), -1)
        others = (found != NO_MATRIX) & (found != layout + 1)
        wrong = others.all(axis=1) & (found == found[:, :1]).all(axis=1)
        if wrong.any():
            first = int(np.argmax(wrong))
            self._warn(frame, buffer, int(found[first, 0]) - 1, layout, site, int(sub_groups[first]))

    def _warn(self, frame: Frame, buffer: Buffer, stored: int, loaded: int, site: Site, sub_group: int) -> None:
        key = site.location, buffer.row.name
        if key in self._shown:
            return
        self._shown.add(key)
        line = self._sites[stored].location
        at = f" at {line}" if line else ""
        warn(LayoutWarning(
            f"{site.in_words} loads {_name(loaded)} what was stored {_name(stored)}{at}: its elements are in other "
            "places, so this is the transposed matrix at best; load it with the layout that it was stored with "
            f"({site.where(frame, sub_group, None, buffer.row.name)})"))


def layouts_of(frame: Frame) -> LayoutWatch | None:
    """What knows the layouts of a frame's memory, if anything does; nothing where marks are moved, which have none."""
    found: LayoutWatch | None = frame.batch.layouts if frame.memory is frame.batch.memory else None
    return found


def _name(layout: int) -> str:
    return NAMES.get(layout, f"with layout {layout}")
