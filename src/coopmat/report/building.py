"""Runs a launch on its simulated device, and makes the report of what was counted."""

from __future__ import annotations

from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from coopmat.debugger.engine import Launch
from coopmat.devices.performance import NOMINAL, PERFORMANCE, Performance
from coopmat.diagnostics import LaunchError, value_text
from coopmat.report.advice import advice_for
from coopmat.report.classes import CLASSES
from coopmat.report.counting import Counted, Counter, Line, Stream, StreamKey
from coopmat.report.footprint import Footprint, footprint_of
from coopmat.report.model import (
    Access,
    BufferRow,
    Intensity,
    LineRow,
    MatrixRow,
    MixRow,
    Occupancy,
    Roof,
    Roofline,
    SpaceRow,
    Times,
)
from coopmat.report.report import Report
from coopmat.report.sectors import SECTOR
from coopmat.spirv.analysis.matrix_uses import MultiplyAccumulate
from coopmat.spirv.grammar import Scope
from coopmat.targets import simulator
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.simulator.address_space import Extent

GLOBAL = ("global", "constant")
"""The spaces that lie in the device's memory."""
AROUND = 3
"""Lines of the source that are shown before the first one that counts, and after the last one."""


def report_of(launch: Launch, group_limit: int | None = None) -> Report:
    """Run a launch, once, and report what it did; with a limit only its first work-groups. Raises what the launch
    raises, and LaunchError for a limit that is no positive integer."""
    if group_limit is not None and (not isinstance(group_limit, int) or group_limit < 1):
        raise LaunchError(f"the number of work-groups to count is an integer of at least 1; found "
                          f"{value_text(group_limit)}")
    performance = PERFORMANCE.get(launch.description.name, NOMINAL)
    counter = Counter(performance.banks, group_limit)
    program = simulator.compile(launch.module, launch.description, launch.options, is_checked=True,
                                instruments=[counter.instrument], traffic=counter)
    program.launch(launch.kernel, launch.global_size, launch.local_size, launch.arguments, group_limit=group_limit)
    compiled = program._compile(launch.kernel)
    geometry = Geometry.checked(compiled.signature, launch.global_size, launch.local_size, None,
                                compiled.sub_group_size)
    local = sum(row.nbytes for row in compiled.buffers if row.extent is Extent.GROUP)
    local += sum(argument.nbytes for argument, parameter in zip(launch.arguments, compiled.signature.parameters,
                                                                strict=True) if parameter.kind == "local")
    footprint = footprint_of(launch.module, launch.kernel, launch.description, geometry.sub_group_size,
                             geometry.local_total)
    return _Builder(launch, counter, geometry, performance, local, footprint).report()


class _Builder:
    """Puts a report together."""

    def __init__(self, launch: Launch, counter: Counter, geometry: Geometry, performance: Performance,
                 local_memory: int, footprint: Footprint | None) -> None:
        self.launch = launch
        self.counter = counter
        self.geometry = geometry
        self.performance = performance
        self.local_memory = local_memory
        self.footprint = footprint
        self.is_nominal = performance is NOMINAL

    def report(self) -> Report:
        """The report, and the advice that follows from it."""
        geometry, performance = self.geometry, self.performance
        lines, times = self._lines()
        matrices, intensity = self._matrices(), self._intensity()
        report = Report(
            self.launch.kernel, self.launch.description.device_name, performance.product, self.is_nominal,
            performance.source, performance.units, performance.unit_name, tuple(self.launch.global_size),
            tuple(self.launch.local_size), geometry.sub_group_size, geometry.group_total,
            min(geometry.group_total, self.counter.group_limit or geometry.group_total),
            geometry.group_total * geometry.sub_groups_per_group, _share(self.counter.instructions), self._mix(),
            matrices, self._spaces(), self._buffers(), self._accesses(), intensity, self.local_memory, self.footprint,
            self._occupancy(), self._roofline(matrices, intensity), times, lines, ())
        return replace(report, advice=advice_for(report, self.counter, self.launch.description))

    # --- what was executed ------------------------------------------------------------

    def _mix(self) -> tuple[MixRow, ...]:
        sub_groups, items = Tally[str](), Tally[str]()
        for counted in self.counter.instructions:
            sub_groups[counted.cost.kind] += counted.sub_groups * counted.cost.operations
            items[counted.cost.kind] += counted.items * counted.cost.operations
        return tuple(MixRow(name, row.words, sub_groups[name], items[name]) for name, row in CLASSES.items()
                     if sub_groups[name])

    def _matrices(self) -> tuple[MatrixRow, ...]:
        counts = Tally[MultiplyAccumulate]()
        for counted in self.counter.instructions:
            if counted.cost.multiply is not None and counted.sub_groups:
                counts[counted.cost.multiply] += self._times_executed(counted)
        return tuple(MatrixRow(*kind.formats, kind.m, kind.n, kind.k,
                               "work-group" if kind.scope == Scope.Workgroup else "sub-group", count,
                               count * kind.m * kind.n * kind.k) for kind, count in counts.items())

    def _times_executed(self, counted: Counted) -> int:
        """How often a matrix instruction was executed by the group that shares the matrices."""
        multiply = counted.cost.multiply
        per = self.geometry.sub_groups_per_group if multiply and multiply.scope == Scope.Workgroup else 1
        return counted.sub_groups // per

    def _multiply_adds(self, counted: Counted) -> int:
        """Of elements of matrices."""
        kind = counted.cost.multiply
        return 0 if kind is None else self._times_executed(counted) * kind.m * kind.n * kind.k

    # --- memory -----------------------------------------------------------------------

    def _spaces(self) -> tuple[SpaceRow, ...]:
        found: dict[str, Tally[str]] = {}
        for key, stream in self.counter.streams.items():
            row = found.setdefault(key.space, Tally())
            row[key.action] += stream.nbytes
            row["requests"] += stream.requests
        return tuple(SpaceRow(space, found[space]["load"], found[space]["store"], found[space]["atomic"],
                              found[space]["requests"]) for space in CLASSES if space in found)

    def _buffers(self) -> tuple[BufferRow, ...]:
        asked: dict[str, Tally[str]] = {}
        for key, stream in self.counter.streams.items():
            if key.space in GLOBAL:
                row = asked.setdefault(key.buffer, Tally())
                for way in ("load", "store") if key.action == "atomic" else (key.action,):
                    row[way] += stream.nbytes
        return tuple(BufferRow(name, row["load"], self._unique(name, "load"), row["store"], self._unique(name, "store"))
                     for name, row in asked.items())

    def _unique(self, buffer: str, way: str) -> int:
        touched = self.counter.touched.get((buffer, way))
        return 0 if touched is None else touched.count

    def _accesses(self) -> tuple[Access, ...]:
        streams = self.counter.streams
        return tuple(_access(key, streams[key]) for key in sorted(streams) if streams[key].requests)

    def _intensity(self) -> Intensity:
        operations = sum(counted.items * counted.cost.flops + 2 * self._multiply_adds(counted)
                         for counted in self.counter.instructions)
        buffers = self._buffers()
        return Intensity(operations, sum(row.loaded + row.stored for row in buffers),
                         sum(row.unique_loaded + row.unique_stored for row in buffers))

    # --- time -------------------------------------------------------------------------

    def _lines(self) -> tuple[tuple[LineRow, ...], Times]:
        """The lines, and the time of all."""
        instructions, streams = defaultdict(list), defaultdict(list)
        for counted in self.counter.instructions:
            instructions[counted.line].append(counted)
        for key, stream in self.counter.streams.items():
            streams[key.line].append((key, stream))
        lines = sorted({*instructions, *streams})
        times = {line: self._times(instructions[line], streams[line]) for line in lines}
        total = Times()
        for one in times.values():
            total = total.plus(one)
        shown = [self._line(line, instructions[line], streams[line], times.get(line, Times()), total)
                 for line in self._shown(lines)]
        return tuple(shown), total

    def _shown(self, lines: list[Line]) -> Iterable[Line]:
        """The lines that count, and those between them, in the order of the source."""
        for file in dict.fromkeys(line.file for line in lines):
            numbers = [line.number for line in lines if line.file == file]
            text = self.launch.text_of(file)
            if text is None or 0 in numbers:
                yield from (Line(file, number) for number in numbers)
                continue
            first, last = max(1, numbers[0] - AROUND), min(len(text.splitlines()), numbers[-1] + AROUND)
            yield from (Line(file, number) for number in range(first, max(last, numbers[-1]) + 1))

    def _times(self, instructions: list[Counted], streams: list[tuple[StreamKey, Stream]]) -> Times:
        """The time of a line: see docs/report.md."""
        performance = self.performance
        slots = sum(counted.sub_groups * counted.cost.operations * CLASSES[counted.cost.kind].slots
                    for counted in instructions)
        sectors = sum(stream.sectors for _, stream in streams)
        passes = sum(stream.passes for _, stream in streams)
        matrix = sum(2 * self._multiply_adds(counted) / self._peak(counted.cost.multiply) for counted in instructions
                     if counted.cost.multiply is not None)
        return Times(slots * self.geometry.sub_group_size / performance.lane_rate,
                     sectors * SECTOR / performance.bytes_per_second, passes / performance.passes_per_second, matrix)

    def _peak(self, multiply: MultiplyAccumulate) -> float:
        """Of matrices of a type; where none is published, that of fp32 scalars."""
        return self.performance.matrix_peak(multiply.formats[0]) or 2 * self.performance.lane_rate

    def _line(self, line: Line, instructions: list[Counted], streams: list[tuple[StreamKey, Stream]], times: Times,
              total: Times) -> LineRow:
        text = (self.launch.text_of(line.file) or "").splitlines()
        in_memory = [stream for key, stream in streams if key.space in GLOBAL]
        branches = [branch for branch in self.counter.branches if branch.line == line]
        return LineRow(
            line.file, line.number, text[line.number - 1] if 0 < line.number <= len(text) else "",
            times.total / total.total if total.total else 0.0, times,
            sum(counted.sub_groups * counted.cost.operations for counted in instructions),
            _share(instructions) if any(counted.lanes for counted in instructions) else None,
            sum(stream.nbytes for stream in in_memory), sum(stream.requests for stream in in_memory),
            sum(stream.sectors for stream in in_memory), sum(stream.ideal_sectors for stream in in_memory),
            sum(stream.passes for _, stream in streams), sum(stream.ideal_passes for _, stream in streams),
            sum(map(self._multiply_adds, instructions)),
            sum(counted.items * counted.cost.flops for counted in instructions),
            sum(branch.executed for branch in branches), sum(branch.divergent for branch in branches))

    # --- the device -------------------------------------------------------------------

    def _occupancy(self) -> Occupancy | None:
        room, geometry = self.performance.room, self.geometry
        if room is None:
            return None
        per = geometry.sub_groups_per_group
        limits = {"sub-groups": room.sub_groups // per}
        if room.work_groups is not None:
            limits["work-groups"] = room.work_groups
        if self.footprint is not None:
            limits["registers"] = room.registers // max(1, 4 * self.footprint.registers * per * geometry.sub_group_size)
        if self.local_memory:
            limits["local memory"] = room.local_memory // self.local_memory
        name = min(limits, key=lambda name: limits[name])
        groups = max(1, limits[name])
        return Occupancy(groups, groups * per, min(1.0, groups * per / room.sub_groups), limits, name, room.source)

    def _roofline(self, matrices: tuple[MatrixRow, ...], intensity: Intensity) -> Roofline | None:
        if self.is_nominal or not intensity.operations:
            return None
        performance = self.performance
        used = {row.a.replace("uint", "sint"): row.multiply_adds for row in sorted(matrices, key=lambda row:
                                                                                   row.multiply_adds)}
        roofs = [Roof(f"matrices of {name}", peak) for name in reversed(used)
                 if (peak := performance.matrix_peak(name)) is not None]
        scalar = Roof("scalars of fp32", 2 * performance.lane_rate)
        ceiling = roofs[0].peak if roofs else scalar.peak

        def attainable(operations_per_byte: float | None) -> float | None:
            return None if operations_per_byte is None else min(ceiling,
                                                                operations_per_byte * performance.bytes_per_second)

        return Roofline(performance.bytes_per_second, (*roofs, scalar), attainable(intensity.compulsory),
                        attainable(intensity.requested))


def _share(instructions: Iterable[Counted]) -> float:
    """The mean share of active work-items."""
    rows = list(instructions)
    lanes = sum(counted.lanes for counted in rows)
    return sum(counted.items for counted in rows) / lanes if lanes else 1.0


def _access(key: StreamKey, stream: Stream) -> Access:
    unique = stream.group_unique
    return Access(key.line.file, key.line.number, key.space, key.buffer, key.action, key.form, stream.size,
                  stream.requests, stream.accesses, stream.nbytes, stream.sectors, stream.ideal_sectors, stream.passes,
                  stream.ideal_passes, stream.largest_degree, stream.stride,
                  stream.group_bytes / unique if unique else 0.0)
