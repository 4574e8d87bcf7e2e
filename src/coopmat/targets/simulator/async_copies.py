"""OpGroupAsyncCopy and OpGroupWaitEvents: a work-group copies between global and local memory.

The data moves when the group waits. A kernel that does not wait for the event finds in the destination what
was there before, as it may on a device; bounds are checked where the copy begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from coopmat.diagnostics import Error, OutOfBounds, SimulationError, UndefinedBehavior
from coopmat.spirv.analysis.types import Type, round_up
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.analysis.async_copies import check_events, copied_type, scatters
from coopmat.targets.analysis.group_scopes import known_scope
from coopmat.targets.base import out_of_bounds as say
from coopmat.targets.simulator.address_space import AddressSpace
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import group_uniform_value, require_work_groups
from coopmat.targets.simulator.definedness.instrument import known_of
from coopmat.targets.simulator.events import NULL_EVENT, Region, Transfer
from coopmat.targets.simulator.lanes import GroupRows
from coopmat.targets.simulator.races.detector import Access
from coopmat.targets.simulator.races.memory import races_of
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.traffic import traffic_of
from coopmat.targets.simulator.values import Array

MOST_SIZE = (1 << 64) - 1  # of a size_t
MOST_EVENTS = 1 << 16  # in one wait
OPERANDS = ("destination", "source", "number of elements", "stride", "event")


def _copy(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Workgroup)
    pointers = [compiler.type_of(word) for word in row.words[1:3]]
    kind, site, result = copied_type(compiler.types, pointers, row), compiler.site(row), compiler.result(row)
    slots = [compiler.slot(word) for word in row.words[1:6]]
    strides_destination = scatters(pointers[0])

    def execute(frame: Frame) -> None:
        require_work_groups(frame, site)
        for slot in slots[:2]:
            frame.memory.check_alignment(frame, frame.slots[slot], kind.alignment, site)
        values = [group_uniform_value(frame, frame.slots[slot], site, what)
                  for slot, what in zip(slots, OPERANDS, strict=True)]
        new = frame.batch.copies.new_event()
        events = np.where(values[4] == NULL_EVENT, new, values[4])
        for group in _active_groups(frame):
            destination, source, count, stride, event = (int(column[group]) for column in values)
            _check_event(frame, group, event, site)
            _begin(frame, site, group, int(events[group]), kind, (destination, source), count & MOST_SIZE,
                   stride & MOST_SIZE, strides_destination)
        frame.slots[result] = GroupRows.of(frame, Scope.Workgroup).restore(events[:, None])

    return execute


def _active_groups(frame: Frame) -> Iterator[int]:
    """The work-groups that are here."""
    rows = GroupRows.of(frame, Scope.Workgroup)
    return iter(np.flatnonzero(rows.active.any(axis=1)).tolist())


def _check_event(frame: Frame, group: int, event: int, site: Site) -> None:
    if not frame.batch.copies.is_event(event):
        raise UndefinedBehavior(f"the event of {site.in_words} is none that an asynchronous copy has returned",
                                site.where(frame, group * frame.batch.sub_groups_per_group, 0))


def _begin(frame: Frame, site: Site, group: int, event: int, kind: Type, addresses: tuple[int, int], count: int,
           stride: int, strides_destination: bool) -> None:
    """Check one work-group's copy, and keep it until the group waits."""
    size = round_up(kind.size, kind.alignment)
    steps = (stride * size, size) if strides_destination else (size, stride * size)
    sub_group = group * frame.batch.sub_groups_per_group
    sides = []
    for address, step, writing in zip(addresses, steps, (True, False), strict=True):
        fitting = _fitting(frame, site, sub_group, address, count, step, size, writing)
        if fitting < count:
            if frame.batch.options.bounds:
                _out_of_bounds(frame, site, sub_group, address, fitting, step, size, count, writing)
            count = fitting
        if count:
            sides.append(_region(frame.memory, sub_group, address, step))
            _count(frame, site, sub_group, address, sides[-1], count, size, writing)
    if count:
        begun = site.where(frame, sub_group, 0)
        destination, source = (_watched(frame, site, sub_group, side, count, size) for side in sides)
        races = races_of(frame)
        if races is not None:
            races.begin_copy(source, destination)
        frame.batch.copies.begin(group, event, Transfer(sides[0], sides[1], count, size, begun, site.in_words,
                                                        (source, destination),
                                                        _marks(frame, sub_group, addresses, steps)))


def _count(frame: Frame, site: Site, sub_group: int, address: int, side: Region, count: int, size: int,
           writing: bool) -> None:
    """Tell who counts accesses of one side of a copy."""
    traffic, buffer = traffic_of(frame), frame.memory.buffer_at(address)
    if traffic is not None and buffer is not None:
        traffic.elements(buffer, np.full(count, sub_group), side.start + side.step * np.arange(count), size, site,
                         "copy", writing=writing)


def _marks(frame: Frame, sub_group: int, addresses: tuple[int, int],
           steps: tuple[int, int]) -> tuple[Region, Region] | None:
    """Source and destination of what is undefined."""
    known = known_of(frame)
    if known is None:
        return None
    destination, source = (_region(known.memory, sub_group, address, step)
                           for address, step in zip(addresses, steps, strict=True))
    return source, destination


def _watched(frame: Frame, site: Site, sub_group: int, side: Region, count: int, size: int) -> Access | None:
    """One side of a copy as it is watched for races."""
    races = races_of(frame)
    if races is None or side.watched is None:
        return None
    start = side.start + side.step * np.arange(count)
    agent = np.repeat(races.of_matrix(frame.batch, np.array([sub_group]), None), count)
    return Access(side.watched, start, size, agent, agent, size, site)


def _fitting(frame: Frame, site: Site, sub_group: int, address: int, count: int, step: int, size: int,
             writing: bool) -> int:
    """How many of ``count`` elements, from the first on, lie in the buffer."""
    buffer = frame.memory.buffer_at(address)
    if buffer is None or not count:
        return 0
    if writing and not buffer.row.writable:
        raise SimulationError(say.READ_ONLY, site.where(frame, sub_group, 0, buffer.row.name))
    return say.copied_inside(frame.memory.offset_in(address), buffer.row.nbytes, count, step, size)


def _out_of_bounds(frame: Frame, site: Site, sub_group: int, address: int, index: int, step: int, size: int,
                   count: int, writing: bool) -> NoReturn:
    """Report the element of a copy that is not in the buffer."""
    what = say.copy_in_words(site.in_words, count, size, writing)
    buffer = frame.memory.buffer_at(address)
    if buffer is None:
        raise OutOfBounds(f"{what} through {frame.memory.describe(address, size)}", site.where(frame, sub_group, 0))
    offset = frame.memory.offset_in(address) + index * step
    raise OutOfBounds(say.copy_outside(what, index, offset, buffer.row.nbytes, size),
                      site.where(frame, sub_group, 0, buffer.row.name, offset // size))


def _region(memory: AddressSpace, sub_group: int, address: int, step: int) -> Region:
    """One side of a copy in the memory of a work-group."""
    buffer = memory.buffer_at(address)
    assert buffer is not None
    start = memory.offset_in(address)
    if buffer.instances is not None:
        start += int(buffer.instances[sub_group, 0])
    return Region(buffer.memory, start, step, buffer.watched)


# --------------------------------------------------------------------------------------
# Waiting
# --------------------------------------------------------------------------------------


def _wait(compiler: FunctionCompiler, row: Instruction) -> Step:
    known_scope(compiler.constant(row.words[0]), row.name, Scope.Workgroup)
    number, pointer, site = compiler.slot(row.words[1]), compiler.slot(row.words[2]), compiler.site(row)
    kind = check_events(compiler.types, compiler.type_of(row.words[2]), row)

    def execute(frame: Frame) -> None:
        require_work_groups(frame, site)
        counts = group_uniform_value(frame, frame.slots[number], site, "number of events")
        rows = GroupRows.of(frame, Scope.Workgroup)
        for count in np.unique(counts[rows.active.any(axis=1)]).tolist():
            here = Frame(frame.batch, frame.slots, frame.mask.select(rows.restore((counts == count)[:, None])))
            _wait_for(here, frame.slots[pointer], count, kind, site)

    return execute


def _wait_for(frame: Frame, pointer: Array, count: int, kind: Type, site: Site) -> None:
    """Make the copies of ``count`` events."""
    if count < 0:
        raise UndefinedBehavior(f"the number of events of {site.in_words} is negative: {count}", site.where(frame))
    if count > MOST_EVENTS:
        raise Error(f"{site.instruction} of {count} events is not supported; at most {MOST_EVENTS} are possible")
    for index in range(count):
        address = frame.memory.displaced(frame, pointer, [], index * kind.size)
        value = frame.memory.read(frame, address, kind, kind.alignment, site)
        events = group_uniform_value(frame, value, site, f"event {index}")
        for group in _active_groups(frame):
            _check_event(frame, group, int(events[group]), site)
            for transfer in frame.batch.copies.finish(group, int(events[group])):
                races = races_of(frame)
                if races is not None:
                    races.end_copy(*transfer.watched)


OPERATIONS: dict[int, Handler] = {
    Op.GroupAsyncCopy: _copy,
    Op.GroupWaitEvents: _wait,
}
