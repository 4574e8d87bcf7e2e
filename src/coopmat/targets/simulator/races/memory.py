"""What accesses of a batch's memory tell the race detector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.simulator.address_space import Buffer, Extent, Part
from coopmat.targets.simulator.races.detector import Access, Equal, RaceDetector, Watched
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array


def races_of(frame: Frame) -> RaceDetector | None:
    """What watches the accesses of a frame, if anything does."""
    found: RaceDetector | None = frame.batch.races
    return found


@dataclass(frozen=True)
class RaceWatch:
    """The ``AccessWatch`` of an address space."""

    races: RaceDetector

    def added(self, buffer: Buffer) -> None:
        """Watch it if work-items share it."""
        row = buffer.row
        if row.extent is not Extent.LANE:
            buffer.watched = self.races.watched(row.storage, buffer.memory, row.name,
                                                row.stride if row.extent is Extent.GROUP else 0)

    def read(self, frame: Frame, part: Part, nbytes: int, size: int, site: Site) -> None:
        """A load."""
        if part.buffer.watched is not None:
            self.races.read(self.access(frame, part, nbytes, size, site))

    def write(self, frame: Frame, part: Part, value: Array, store: Callable[[], None], site: Site) -> None:
        """A store."""
        lanes, size, count = part.mask.expanded, value.dtype.itemsize, value.shape[-1]
        if part.buffer.watched is None:
            store()
            return
        if not self.races.allows_equal:
            store()
            self.races.write(self.access(frame, part, size * count, size, site))
            return
        access = self.access(frame, whole(part), size * count, size, site)
        before = _bytes_at(part, access)
        store()
        after = _bytes_at(part, access)
        stored = np.ascontiguousarray(np.broadcast_to(value, (*lanes.shape, count))[lanes]).view(np.uint8)
        equal = Equal((before == after).all(axis=1), (stored.reshape(after.shape) == after).all(axis=1))
        self.races.write(access, equal)

    def access(self, frame: Frame, part: Part, nbytes: int, size: int, site: Site) -> Access:
        """A part of an access as the detector has it: of ``nbytes`` in each lane, of elements of ``size`` bytes."""
        positions, watched = part.positions, part.buffer.watched
        assert isinstance(watched, Watched)
        if positions.shape[0] == 1 and positions.shape[1] > 1:
            positions = whole(part).positions
        who = self.races.agents.of_lanes(frame.batch, part.mask, positions.shape)
        start = positions.reshape(-1) if who.lanes is None else positions[who.lanes]
        return Access(watched, start * (1 if part.width > 1 else part.view.dtype.itemsize), nbytes, who.first, who.last,
                      size, site)


def whole(part: Part) -> Part:
    """A part of an access with a position for each lane."""
    return part._replace(positions=np.broadcast_to(part.positions, part.mask.expanded.shape))


def _bytes_at(part: Part, access: Access) -> Array:
    """What is in memory where an access goes: ``[n, bytes]``."""
    return part.buffer.memory[access.start[:, None] + np.arange(access.nbytes)]


def watch_read(frame: Frame, part: Part, size: int, site: Site) -> None:
    """A load of one element of ``size`` bytes in each lane."""
    races = races_of(frame)
    if races is not None:
        RaceWatch(races).read(frame, part, size, size, site)


def watch_atomic(frame: Frame, part: Part, site: Site, scope: int, semantics: int, *, loads: bool,
                 writes: bool) -> None:
    """An atomic access of one element in each lane."""
    races, size = races_of(frame), part.view.dtype.itemsize * part.width
    if races is not None and part.buffer.watched is not None:
        races.atomic(RaceWatch(races).access(frame, whole(part), size, size, site), scope, semantics, loads=loads,
                     writes=writes)


def watch_elements(frame: Frame, kind: MatrixType, buffer: Buffer, sub_groups: Array, start: Array, size: int,
                   site: Site, *, writing: bool) -> None:
    """Elements of matrices, of ``size`` bytes at the bytes ``start`` of a buffer, and which sub-groups move them."""
    races = races_of(frame)
    if races is not None and buffer.watched is not None:
        agents = races.of_matrix(frame.batch, sub_groups, kind)
        (races.write if writing else races.read)(Access(buffer.watched, start, size, agents, agents, size, site))
