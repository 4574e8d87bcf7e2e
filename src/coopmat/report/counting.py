"""Counts what a launch does, while it runs: an instrument of the simulator, and a watch of its memory.

Instructions are counted block by block: all of a block run for the same work-items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coopmat.report.classes import SPACES, Cost, cost_of
from coopmat.report.sectors import SECTOR, covered, least, passes, tile_passes
from coopmat.spirv.grammar import TERMINATORS, Op, StorageClass
from coopmat.spirv.module import Instruction

if TYPE_CHECKING:
    from coopmat.targets.simulator.address_space import Buffer, Part
    from coopmat.targets.simulator.compiler import FunctionCompiler
    from coopmat.targets.simulator.state import Batch, Frame, Mask, Site, Step

Array = np.ndarray[Any, Any]

MOST_PLACES = 1 << 20
"""So many starts of accesses are kept before those that are there twice are dropped."""


class Line(NamedTuple):
    """A line of the source; number 0 where the module tells none."""

    file: str
    number: int


def line_of(location: str | None) -> Line:
    """The line of a place as the simulator has it: ``file:line[:column]``."""
    parts = (location or "").rsplit(":", 2)
    numbers = [part for part in parts[1:] if part.isdigit()]
    if not numbers:
        return Line("", 0)
    return Line((location or "").rsplit(":", len(numbers))[0], int(numbers[0]))


@dataclass
class Counted:
    """An instruction: how often sub-groups and work-items executed it. ``lanes`` are all of those sub-groups."""

    line: Line
    cost: Cost
    sub_groups: int = 0
    items: int = 0
    lanes: int = 0


@dataclass
class Branch:
    """A branch: how often sub-groups came to it, and how often their work-items took different ways."""

    line: Line
    executed: int = 0
    divergent: int = 0


class StreamKey(NamedTuple):
    """What is counted together: the accesses of a line to a buffer. ``action``: "load", "store" or "atomic"; ``form``:
    "items", where each work-item has an address, or "matrix" or "copy", where a group moves something together."""

    line: Line
    space: str
    buffer: str
    action: str
    form: str


@dataclass
class Stream:
    """The accesses of a line to a buffer.

    ``requests``: of sub-groups; ``accesses``: of work-items, or of elements of a matrix; ``nbytes``: what they ask for;
    ``distinct``: the same, what several work-items of a request want counted once. ``sectors`` of global memory and
    ``passes`` through the banks of local memory, beside the fewest that were possible. ``stride``: bytes from one
    work-item to the next in the first request of most work-items (``stride_items``), None where it is not the same for
    all.
    ``group_bytes`` are the distinct bytes of one work-group, ``places`` where its accesses start, by their bytes.
    """

    size: int
    requests: int = 0
    accesses: int = 0
    nbytes: int = 0
    distinct: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    passes: int = 0
    ideal_passes: int = 0
    largest_degree: int = 0
    stride: int | None = None
    stride_items: int = 0
    group_bytes: int = 0
    places: dict[int, list[Array]] = field(default_factory=dict)

    def note_stride(self, starts: Array, mask: Mask) -> None:
        """Look at how far apart a request's accesses are, if more work-items make it than any before."""
        counts = np.count_nonzero(mask.expanded, axis=1)
        row = int(counts.argmax())
        if counts[row] > self.stride_items:
            places = np.broadcast_to(starts, mask.expanded.shape)[row][mask.expanded[row]]
            steps = np.unique(np.diff(places))
            self.stride_items = int(counts[row])
            self.stride = 0 if not len(steps) else int(steps[0]) if len(steps) == 1 else None

    def note_group(self, starts: Array, size: int, distinct: int) -> None:
        """Accesses of ``size`` bytes of the work-group that is looked at, ``distinct`` bytes in their requests."""
        self.group_bytes += distinct
        known = self.places.setdefault(size, [])
        known.append(np.unique(starts))
        if sum(map(len, known)) > MOST_PLACES:
            self.places[size] = [np.unique(np.concatenate(known))]

    @property
    def group_unique(self) -> int:
        """Bytes of that work-group's accesses, each counted once."""
        parts = [(start, start + size) for size, known in self.places.items()
                 for start in (np.unique(np.concatenate(known)),)]
        if not parts:
            return 0
        starts, ends = (np.concatenate(side) for side in zip(*parts, strict=True))
        order = np.argsort(starts)
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        return int((ends[0] - starts[0]) + np.maximum(ends[1:] - np.maximum(starts[1:], ends[:-1]), 0).sum())


class Touched:
    """Which bytes of a buffer a launch has touched."""

    def __init__(self, nbytes: int) -> None:
        self.marks = np.zeros(nbytes, np.uint8)

    def add(self, starts: Array, nbytes: int) -> None:
        """Accesses of ``nbytes`` at the bytes ``starts``."""
        bits = int(np.bitwise_or.reduce(starts, axis=None)) | nbytes
        unit = min(8, bits & -bits)
        whole = len(self.marks) // unit * unit
        view = self.marks[:whole].view(f"u{unit}")
        places = starts // unit
        for step in range(nbytes // unit):
            view[places + step] = np.iinfo(view.dtype).max

    @property
    def count(self) -> int:
        """Bytes."""
        return int(np.count_nonzero(self.marks))


@dataclass(eq=False)
class Counter:
    """The counts of one launch. ``banks``: of the device's local memory, 0 if it has none; ``group_limit``: of how many
    work-groups, None for all.

    It is an instrument of :func:`coopmat.targets.simulator.compile` and the ``Traffic`` of its memory.
    """

    banks: int
    group_limit: int | None = None
    instructions: list[Counted] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    streams: dict[StreamKey, Stream] = field(default_factory=dict)
    touched: dict[tuple[str, str], Touched] = field(default_factory=dict)
    _open: dict[FunctionCompiler, list[Counted]] = field(default_factory=dict)
    _lines: dict[str | None, Line] = field(default_factory=dict)
    _chosen: range = range(0)

    # --- instructions -----------------------------------------------------------------

    def instrument(self, compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
        """See :data:`coopmat.targets.simulator.compiler.Instrument`."""
        if compiler.source is None:
            return step
        is_last = row.opcode in TERMINATORS
        cost = cost_of(compiler, row) if step is not None or is_last else None
        line = self._line(compiler.site(row).location)
        block = self._open.setdefault(compiler, [])
        if cost is not None:
            block.append(Counted(line, cost))
        if not is_last:
            return step
        self._open[compiler] = []
        self.instructions += block
        branch, slot = None, -1
        if row.opcode in (Op.BranchConditional, Op.Switch):
            branch, slot = Branch(line), compiler.slot(row.words[0])
            self.branches.append(branch)
        return partial(_count_block, block, branch, slot, step)

    def _line(self, location: str | None) -> Line:
        found = self._lines.get(location)
        if found is None:
            found = self._lines[location] = line_of(location)
        return found

    # --- memory: see coopmat.targets.simulator.traffic.Traffic ------------------------

    def added(self, buffer: Buffer) -> None:
        """There is nothing to know of it yet."""

    def begin(self, batch: Batch) -> None:
        """Other work-groups run: the one in the middle of the launch is looked at more closely."""
        total = min(batch.geometry.group_total, self.group_limit or batch.geometry.group_total)
        per, middle = batch.sub_groups_per_group, total // 2 - batch.first_group
        self._chosen = range(middle * per, (middle + 1) * per) if 0 <= middle < batch.group_count else range(0)

    def read(self, frame: Frame, part: Part, nbytes: int, size: int, site: Site) -> None:
        """A load of ``nbytes`` in each lane."""
        self._items(frame, part, nbytes, site, "load")

    def write(self, frame: Frame, part: Part, value: Array, store: Callable[[], None], site: Site) -> None:
        """A store of ``[S, L, count]``."""
        store()
        self._items(frame, part, value.dtype.itemsize * value.shape[-1], site, "store")

    def atomic(self, frame: Frame, part: Part, nbytes: int, site: Site) -> None:
        """An atomic access of ``nbytes`` in each lane."""
        self._items(frame, part, nbytes, site, "atomic")

    def _stream(self, site: Site, buffer: Buffer, action: str, form: str, size: int) -> Stream:
        space = SPACES.get(StorageClass(buffer.row.storage), "private")
        key = StreamKey(self._line(site.location), space, buffer.row.name, action, form)
        found = self.streams.get(key)
        if found is None:
            found = self.streams[key] = Stream(size)
        return found

    def _items(self, frame: Frame, part: Part, nbytes: int, site: Site, action: str) -> None:
        """An access of each active lane."""
        stream = self._stream(site, part.buffer, action, "items", nbytes)
        mask: Mask = part.mask
        accesses = int(np.count_nonzero(mask.expanded))
        stream.accesses += accesses
        stream.nbytes += accesses * nbytes
        stream.requests += int(mask.some.sum())
        unit = 1 if part.width > 1 else part.view.dtype.itemsize
        if part.buffer.row.storage in (StorageClass.Function, StorageClass.Private):
            stream.note_stride(part.positions * unit - part.buffer.instances, mask)
            return
        sub_groups, starts, times = _requests(part.positions * unit, mask)
        stream.note_stride(part.positions * unit, mask)
        self._count(stream, part.buffer, starts, nbytes, times, action)
        chosen = (sub_groups >= self._chosen.start) & (sub_groups < self._chosen.stop)
        if chosen.any():
            mine = np.broadcast_to(starts, (len(sub_groups), starts.shape[1]))[chosen]
            stream.note_group(mine, nbytes, int(covered(mine, nbytes, 1).sum()))

    def _count(self, stream: Stream, buffer: Buffer, starts: Array, nbytes: int, times: int, action: str) -> None:
        """Requests of sorted ``starts``, each of which is made ``times`` times."""
        distinct = covered(starts, nbytes, 1)
        stream.distinct += times * int(distinct.sum())
        if buffer.row.storage == StorageClass.Workgroup:
            if self.banks:
                self._note_passes(stream, *passes(starts, nbytes, self.banks), times)
            return
        stream.sectors += times * int(covered(starts, nbytes, SECTOR).sum())
        stream.ideal_sectors += times * int(least(distinct, SECTOR).sum())
        self._touch(buffer, action, starts, nbytes)

    def _note_passes(self, stream: Stream, taken: Array, needed: Array, times: int) -> None:
        stream.passes += times * int(taken.sum())
        stream.ideal_passes += times * int(needed.sum())
        stream.largest_degree = max(stream.largest_degree, int((taken // np.maximum(needed, 1)).max()))

    def _touch(self, buffer: Buffer, action: str, starts: Array, nbytes: int) -> None:
        for way in ("load", "store") if action == "atomic" else (action,):
            known = self.touched.get((buffer.row.name, way))
            if known is None:
                known = self.touched[buffer.row.name, way] = Touched(len(buffer.memory))
            known.add(starts, nbytes)

    # --- what groups move together ----------------------------------------------------

    def tiles(self, buffer: Buffer, sub_groups: Array, starts: Array, places: Array, size: int, site: Site, *,
              writing: bool) -> None:
        """Matrices, one at each of ``starts``."""
        action = "store" if writing else "load"
        stream, places = self._stream(site, buffer, action, "matrix", size), np.sort(places.reshape(-1))
        chosen = starts[(sub_groups >= self._chosen.start) & (sub_groups < self._chosen.stop)]
        if len(chosen):
            stream.note_group(chosen[:, None] + places, size, len(chosen) * len(places) * size)
        stream.requests += len(starts)
        stream.accesses += len(starts) * len(places)
        stream.nbytes += len(starts) * len(places) * size
        different, times = np.unique(starts, return_counts=True)
        each = int(covered(places[None], size, 1)[0])
        stream.distinct += len(starts) * each
        if buffer.row.storage == StorageClass.Workgroup:
            if self.banks:
                self._note_passes(stream, *tile_passes(places, size, self.banks), len(starts))
            return
        offsets, inverse = np.unique(different % SECTOR, return_inverse=True)
        sectors = covered(offsets[:, None] + places, size, SECTOR)
        stream.sectors += int((sectors[inverse] * times).sum())
        stream.ideal_sectors += len(starts) * int(least(np.array(each), SECTOR))
        self._touch(buffer, action, different[:, None] + places, size)

    def elements(self, buffer: Buffer, sub_groups: Array, starts: Array, size: int, site: Site, form: str, *,
                 writing: bool) -> None:
        """Elements that groups move together."""
        if not len(starts):
            return
        action = "store" if writing else "load"
        stream = self._stream(site, buffer, action, form, size)
        for sub_group in np.unique(sub_groups).tolist():
            places = np.sort(starts[sub_groups == sub_group])
            stream.requests += 1
            stream.accesses += len(places)
            stream.nbytes += len(places) * size
            if sub_group in self._chosen:
                stream.note_group(places, size, len(places) * size)
            if buffer.row.storage == StorageClass.Workgroup:
                stream.distinct += len(places) * size
                if self.banks:
                    self._note_passes(stream, *tile_passes(places, size, self.banks), 1)
            else:
                self._count(stream, buffer, places[None], size, 1, action)


def _count_block(block: list[Counted], branch: Branch | None, slot: int, step: Step | None, frame: Frame) -> None:
    """Count the instructions of a block that ends now."""
    mask = frame.mask
    sub_groups = int(mask.some.sum())
    items = int(np.count_nonzero(mask.lanes)) * (mask.lane_count if mask.lanes.shape[1] == 1 else 1)
    for counted in block:
        counted.sub_groups += sub_groups
        counted.items += items
        counted.lanes += sub_groups * mask.lane_count
    if branch is not None:
        branch.executed += sub_groups
        value: Array = frame.slots[slot]
        if value.shape[1] > 1:
            branch.divergent += _parted(value, mask)
    if step is not None:
        step(frame)


def _parted(value: Array, mask: Mask) -> int:
    """In how many sub-groups active lanes have different values."""
    lanes = mask.expanded
    full = np.broadcast_to(value, lanes.shape)
    first = full[np.arange(len(full)), lanes.argmax(axis=1)]
    return int(np.count_nonzero((lanes & (full != first[:, None])).any(axis=1)))


def _requests(starts: Array, mask: Mask) -> tuple[Array, Array, int]:
    """The sub-groups that are there; their sorted starts ``[requests, lanes]``, or, where all are the same, one row of
    them; and how often each row counts."""
    active = mask.sub_groups
    sub_groups = np.arange(len(mask.lanes)) if active is None else active
    if starts.shape[1] > 1 and mask.lanes.shape[1] > 1:
        lanes = mask.lanes[sub_groups]
        rows = np.broadcast_to(starts, (len(mask.lanes), starts.shape[1]))[sub_groups]
        first = rows[np.arange(len(rows)), lanes.argmax(axis=1)]
        rows = np.where(lanes, rows, first[:, None])
    else:
        rows = starts if len(starts) == 1 else starts[sub_groups]
    if rows.shape[1] > 1 and (rows[:, 1:] < rows[:, :-1]).any():
        rows = np.sort(rows, axis=1)
    return sub_groups, rows, len(sub_groups) // len(rows)
