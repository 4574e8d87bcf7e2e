"""What a running kernel consists of: active lanes, activations of functions, the batch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coopmat.diagnostics import SimulationError, Where
from coopmat.support.cached import cached_property
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.output import Output
from coopmat.targets.base.wording import in_words
from coopmat.targets.simulator.events import Arrivals, PendingCopies
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.values import Array, Value

if TYPE_CHECKING:
    from coopmat.targets.simulator.address_space import AddressSpace

Step = Callable[["Frame"], None]
WATCHED = 10_000  # basic blocks before the limit: a loop that is left and entered again in them is not an endless one
RESULT = -1  # in the place of a slot: what a function returns


class Mask:
    """The active lanes: ``lanes`` is ``[S, 1]`` where whole sub-groups are on or off, else ``[S, L]``.

    What is derived from it is computed once: one mask serves many instructions.
    """

    def __init__(self, lanes: Array, lane_count: int) -> None:
        self.lanes = lanes
        self.lane_count = lane_count

    @classmethod
    def all(cls, sub_groups: int, lane_count: int) -> Mask:
        """All lanes of all sub-groups."""
        return cls(np.ones((sub_groups, 1), np.bool_), lane_count)

    @cached_property
    def full(self) -> bool:
        """Whether every lane is active."""
        return bool(self.lanes.all())

    @cached_property
    def empty(self) -> bool:
        return not self.lanes.any()

    @cached_property
    def expanded(self) -> Array:
        """The mask as ``[S, L]``."""
        return np.broadcast_to(self.lanes, (self.lanes.shape[0], self.lane_count))

    @cached_property
    def some(self) -> Array:
        """``[S]``: sub-groups with an active lane."""
        return np.asarray(self.lanes.any(axis=1))

    @cached_property
    def whole(self) -> Array:
        """``[S]``: sub-groups in which all lanes are active."""
        return np.asarray(self.lanes.all(axis=1))

    @cached_property
    def sub_groups(self) -> Array | None:
        """The indices of the sub-groups with an active lane, or None for all of them."""
        return None if self.some.all() else np.flatnonzero(self.some)

    @cached_property
    def first(self) -> tuple[int, int]:
        """Sub-group and lane of the first active lane."""
        index = int(np.argmax(self.expanded))
        return divmod(index, self.lane_count)

    def of_shape(self, shape: tuple[int, ...]) -> Array:
        """The mask reduced to a value's leading axes: true where any lane that shares it is active."""
        lanes = self.lanes
        if shape[1] == 1 and lanes.shape[1] != 1:
            lanes = self.some[:, None]
        if shape[0] == 1 and lanes.shape[0] != 1:
            lanes = np.asarray(lanes.any(axis=0, keepdims=True))
        return lanes

    def select(self, condition: Array) -> Mask:
        """The active lanes in which ``condition`` holds."""
        return self._with(self.lanes & condition)

    def union(self, other: Mask) -> Mask:
        """The lanes of both masks."""
        return self._with(self.lanes | other.lanes)

    def _with(self, lanes: Array) -> Mask:
        if lanes.shape[1] > 1 and (lanes == lanes[:, :1]).all():
            lanes = lanes[:, :1]
        return Mask(lanes, self.lane_count)

    def active(self, value: Array) -> Array:
        """The elements of a scalar value ``[S, L]`` that active lanes see, in lane order, flat.

        A value that is the same along an axis is given once per distinct element.
        """
        if self.full or value.size == 1:
            return value.reshape(-1)
        lanes = self.of_shape(value.shape)
        shape = np.broadcast_shapes(lanes.shape, value.shape)
        return np.broadcast_to(value, shape)[np.broadcast_to(lanes, shape)]


@dataclass(frozen=True)
class Site:
    """The place of an instruction, for messages."""

    kernel: str
    location: str | None  # file:line[:column]
    instruction: str
    language: int  # SourceLanguage

    @property
    def in_words(self) -> str:
        """The instruction, as messages call it."""
        return in_words(self.instruction, self.language)

    def where(self, frame: Frame, sub_group: int | None = None, lane: int | None = None,
              buffer: str | None = None, element: int | None = None) -> Where:
        """The place in the execution; ``sub_group`` counts within the batch."""
        batch = frame.batch
        group = index = None
        if sub_group is not None:
            group, index = batch.work_group(sub_group), sub_group % batch.sub_groups_per_group
        return Where(self.kernel, self.location, group, index, lane, buffer, element)


class Frame:
    """One activation of a function: its values by slot, and which lanes run.

    ``merge``: other lanes of this activation wait elsewhere, so what they hold must be kept; ``waiting``: those lanes,
    by the number of the block that they wait at. ``undefined``: what is not defined of values, by slot, and by RESULT
    of the result. ``absent``: the lanes whose last shuffle has read from one that takes no part, and the lanes that all
    have read from.
    """

    __slots__ = ("absent", "batch", "mask", "memory", "merge", "result", "slots", "undefined", "waiting")

    def __init__(self, batch: Batch, slots: list[Value], mask: Mask) -> None:
        self.batch = batch
        self.memory = batch.memory
        self.slots = slots
        self.mask = mask
        self.merge = False
        self.result: Value = None
        self.undefined: dict[int, Any] = {}  # of Mark
        self.waiting: dict[int, Mask] = {}
        self.absent: tuple[Array, Array] | None = None


class Batch:
    """The work-groups that run together, in lock-step: ``first_group`` and the next ones. ``races`` watches their
    accesses, ``definedness`` knows what nobody has written, if that is wanted."""

    races: Any = None  # a RaceDetector: see races.races_of
    layouts: Any = None  # a LayoutWatch
    definedness: Any = None  # a Definedness: see definedness.instrument.known_of
    traffic: Any = None  # a Traffic: see traffic.traffic_of

    def __init__(self, geometry: Geometry, first_group: int, group_count: int, memory: AddressSpace,
                 options: SimulatorOptions, counter: StepCounter, output: Output) -> None:
        self.geometry = geometry
        self.first_group = first_group
        self.group_count = group_count
        self.memory = memory
        self.options = options
        self.counter = counter
        self.output = output
        self.sub_groups_per_group = geometry.sub_groups_per_group
        self.sub_groups = group_count * self.sub_groups_per_group
        self.lanes = geometry.sub_group_size
        self.inputs: dict[Any, Value] = {}
        self.copies = PendingCopies()
        self.arrivals = Arrivals()
        self.warned: set[tuple[str | None, str]] = set()  # the warnings of this launch: line, and about what
        self.existing = self._existing_lanes()

    def _existing_lanes(self) -> Mask:
        """All lanes but those past the end of each work-group's last sub-group."""
        total = self.geometry.local_total
        if total % self.lanes == 0:
            return Mask.all(self.sub_groups, self.lanes)
        index = np.arange(self.sub_groups_per_group * self.lanes).reshape(-1, self.lanes)
        return Mask(np.tile(index < total, (self.group_count, 1)), self.lanes)

    def work_group(self, sub_group: int) -> tuple[int, int, int]:
        """The work-group's position in the grid, of a sub-group counted within the batch."""
        index = self.first_group + sub_group // self.sub_groups_per_group
        x, y, _ = self.geometry.group_counts
        return index % x, index // x % y, index // (x * y)


@dataclass(frozen=True)
class LoopSite:
    """A loop of a function: the numbers of its blocks, and where it begins."""

    blocks: frozenset[int]
    site: Site


class StepCounter:
    """Counts the basic blocks that a batch executes, and ends the launch at a limit.

    Each batch has its own count: an endless loop never leaves its batch, and a launch of many
    work-groups may take as many batches as it needs. The time is that of the whole launch.
    """

    def __init__(self, options: SimulatorOptions, start: float) -> None:
        self.options = options
        self.left = options.step_limit
        self.deadline = math.inf if options.time_limit is None else start + options.time_limit
        self._watched = min(WATCHED, options.step_limit // 2)
        self._last: set[int] = set()  # the id() of the sites of the blocks that were executed last
        self._what = ""
        self._ended: SimulationError | None = None
        self._loop_is_known = False

    def count(self, frame: Frame, site: Site) -> None:
        """Count one block; SimulationError if it is one too many, or if the time is over."""
        self.left -= 1
        if self.left < self._watched:
            self._last.add(id(site))
            if self.left < 0:
                self._end(frame, site, f"executed {self.options.step_limit} basic blocks", "step_limit")
        if self.deadline < math.inf and time.monotonic() > self.deadline:
            self._last.add(id(site))
            self._end(frame, site, f"run for {self.options.time_limit} seconds", "time_limit")

    def _end(self, frame: Frame, site: Site, what: str, option: str) -> NoReturn:
        self._what = (f"the kernel has {what} without an end: an endless loop? (the simulator's option {option} allows "
                      "more)")
        self._ended = self._error(frame, site)
        raise self._ended

    def _error(self, frame: Frame, site: Site) -> SimulationError:
        sub_group, lane = frame.mask.first
        return SimulationError(self._what, site.where(frame, sub_group, lane))

    def in_loop(self, error: SimulationError, frame: Frame, number: int, sites: Sequence[Site],
                loops: Sequence[LoopSite]) -> SimulationError:
        """The error with the line of the loop that does not end: the smallest of the function's ``loops``, which hold
        smaller ones first, that has the block ``number`` and all of the function's that were executed last; ``sites``
        are those of its blocks. The error itself if there is none (it may be a loop of a caller), if it is another
        error, or if it names a loop already."""
        if error is not self._ended or self._loop_is_known:
            return error
        last = {number} | {other for other, site in enumerate(sites) if id(site) in self._last}
        found = next((loop for loop in loops if last <= loop.blocks), None)
        if found is None:
            return error
        self._loop_is_known = True
        self._ended = self._error(frame, found.site)
        return self._ended
