"""The data of a report. docs/report.md says what each number means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coopmat.report.footprint import Footprint


@dataclass(frozen=True)
class Times:
    """Seconds of the model: issue slots, global memory, local memory, the matrix engine."""

    issue: float = 0.0
    global_memory: float = 0.0
    local_memory: float = 0.0
    matrix: float = 0.0

    @property
    def total(self) -> float:
        """As if nothing overlapped."""
        return self.issue + self.global_memory + self.local_memory + self.matrix

    @property
    def bound(self) -> str:
        """What takes most of it, in words."""
        return max(TIMES, key=lambda name: float(getattr(self, name)))

    def plus(self, other: Times) -> Times:
        """Both, one after the other."""
        return Times(*(getattr(self, name) + getattr(other, name) for name in TIMES))


TIMES = {"issue": "issue slots", "global_memory": "global memory", "local_memory": "local memory",
         "matrix": "matrix engine"}
"""The parts of a time, in words."""


@dataclass(frozen=True)
class MixRow:
    """Instructions of a class: how often sub-groups executed them, and how often active work-items."""

    name: str
    words: str
    sub_groups: int
    items: int


@dataclass(frozen=True)
class MatrixRow:
    """Matrix multiply-adds of one kind: how many were executed, and the multiply-adds of elements in them."""

    a: str
    b: str
    c: str
    d: str
    m: int
    n: int
    k: int
    scope: str
    count: int
    multiply_adds: int


@dataclass(frozen=True)
class Access:
    """What one line does with one buffer.

    ``action``: "load", "store" or "atomic"; ``form``: "items", or "matrix" or "copy" where a group moves something
    together.
    ``requests``: of sub-groups; ``nbytes``: asked for. ``sectors`` of 32 bytes, ``ideal_sectors`` the fewest that hold
    the same bytes; ``passes`` through the banks of local memory, ``ideal_passes`` without conflicts; ``degree``: the
    largest ratio of a request. ``stride``: bytes from one work-item to the next, None where they differ; of private
    memory, how much further the next one is in its own.
    ``repeats``: how often a work-group (the one in the middle of the launch) asks for each byte.
    """

    file: str
    line: int
    space: str
    buffer: str
    action: str
    form: str
    size: int
    requests: int
    accesses: int
    nbytes: int
    sectors: int
    ideal_sectors: int
    passes: int
    ideal_passes: int
    degree: int
    stride: int | None
    repeats: float


@dataclass(frozen=True)
class SpaceRow:
    """Bytes that work-items asked for in a memory space."""

    space: str
    loaded: int
    stored: int
    atomic: int
    requests: int


@dataclass(frozen=True)
class BufferRow:
    """A buffer in global or constant memory: bytes asked for, and bytes touched, each counted once."""

    name: str
    loaded: int
    unique_loaded: int
    stored: int
    unique_stored: int


@dataclass(frozen=True)
class LineRow:
    """A line of the source: its share of the modelled time, and its counters. ``active``: the mean share of active
    work-items, None where nothing was executed; ``divergent`` of ``branches``: sub-groups whose work-items took
    different ways."""

    file: str
    number: int
    text: str
    share: float
    times: Times
    instructions: int
    active: float | None
    global_bytes: int
    requests: int
    sectors: int
    ideal_sectors: int
    passes: int
    ideal_passes: int
    multiply_adds: int
    flops: int
    branches: int
    divergent: int


@dataclass(frozen=True)
class Intensity:
    """Operations (2 for each multiply-add of matrices, and floating-point ones) for each byte of global memory: of
    those asked for, and of those touched, each counted once."""

    operations: int
    requested_bytes: int
    compulsory_bytes: int

    @property
    def requested(self) -> float | None:
        return self.operations / self.requested_bytes if self.requested_bytes else None

    @property
    def compulsory(self) -> float | None:
        return self.operations / self.compulsory_bytes if self.compulsory_bytes else None


@dataclass(frozen=True)
class Occupancy:
    """How many work-groups a unit has room for at the same time; ``limits``: by what; ``share``: of the sub-groups that
    it could have."""

    work_groups: int
    sub_groups: int
    share: float
    limits: Mapping[str, int]
    limited_by: str
    source: str


@dataclass(frozen=True)
class Roof:
    """A published peak, in operations a second."""

    words: str
    peak: float


@dataclass(frozen=True)
class Roofline:
    """What the product can do with the kernel's intensity: bytes a second of its memory, the peaks, and the operations
    a second that are possible (``attainable``) by the compulsory and by the requested bytes."""

    bandwidth: float
    roofs: tuple[Roof, ...]
    attainable_compulsory: float | None
    attainable_requested: float | None


@dataclass(frozen=True)
class Advice:
    """A cause of slowness: which rule has found it, at which line (None: the whole launch), and what would mend it."""

    rule: str
    file: str
    line: int | None
    cause: str
    remedy: str
    share: float


@dataclass(frozen=True)
class ReportData:
    """What a launch did, counted on a simulated device.

    ``work_groups`` and ``sub_groups`` are those of the launch, of which ``counted_groups`` work-groups were counted.
    ``product`` is the one whose published numbers are used, ``is_nominal`` tells that there are none and a nominal
    device stands for it. ``times`` and the shares of ``lines`` are a model, not a measurement.
    """

    kernel: str
    device: str
    product: str
    is_nominal: bool
    source: str
    units: int
    unit_name: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    sub_group_size: int
    work_groups: int
    counted_groups: int
    sub_groups: int
    active: float
    mix: tuple[MixRow, ...]
    matrices: tuple[MatrixRow, ...]
    spaces: tuple[SpaceRow, ...]
    buffers: tuple[BufferRow, ...]
    accesses: tuple[Access, ...]
    intensity: Intensity
    local_memory: int
    footprint: Footprint | None
    occupancy: Occupancy | None
    roofline: Roofline | None
    times: Times
    lines: tuple[LineRow, ...]
    advice: tuple[Advice, ...]

    @property
    def work_items(self) -> int:
        """That were counted."""
        return self.counted_groups * math.prod(self.local_size)
