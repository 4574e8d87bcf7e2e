"""Two simulations side by side: each instruction's value on one device is held against that on the other.

One simulation runs in a thread of its own and hands over what its instructions give; the other takes that, and both
stop at the first instruction whose value differs in an active lane. Values are never changed in place, so nothing is
copied; the first one waits while too much is under way, which bounds the memory and changes no result.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from coopmat.comparison.values import Place, first_difference, size_of
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type, VoidType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets import simulator
from coopmat.targets.base.output import Output
from coopmat.targets.simulator import SimulatedProgram
from coopmat.targets.simulator.compiler import FunctionCompiler, Instrument
from coopmat.targets.simulator.state import Frame, Mask, Site, Step
from coopmat.targets.simulator.values import Value

MOST_EVENTS = 4096
MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class Launch:
    """A launch on a simulated device. make_arguments gives fresh ones, as the simulator takes them."""

    label: str
    program: SimulatedProgram
    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    make_arguments: Callable[[], Sequence[Any]]

    @property
    def sub_group_size(self) -> int:
        """Of the kernel on this device."""
        return self.program.kernels[self.kernel].required_sub_group_size or self.program.description.sub_group_sizes[0]

    def run(self, instrument: Instrument, arguments: Sequence[Any]) -> None:
        """Run it in memory of its own, watched; nothing is printed again, and it may take any time."""
        watched = simulator.compile(
            self.program.module, self.program.description, replace(self.program.options, time_limit=None),
            is_checked=True, instruments=[_silence, instrument])
        watched.launch(self.kernel, self.global_size, self.local_size, arguments)


class _Silent(Output):
    """Takes what a kernel prints, and shows nothing."""

    @staticmethod
    def _show(text: str) -> None:
        pass


def _silence(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
    """An instrument: printf prints nowhere, and gives what it would."""
    if row.opcode != Op.ExtInst or step is None or compiler.source is None:
        return step
    inner = step

    def execute(frame: Frame) -> None:
        batch = frame.batch
        if not isinstance(batch.output, _Silent):
            batch.output = _Silent(batch.output.kernel, batch.output.limit)
        inner(frame)

    return execute


@dataclass(frozen=True)
class Watched:
    """An instruction with a result: its place, and what it takes and gives."""

    row: Instruction
    site: Site
    kind: Type
    operands: tuple[tuple[int, Type], ...]  # ids and types of those that are values
    compiler: FunctionCompiler


class Event(NamedTuple):
    """An instruction that was executed. ``times``: how often in this batch, this time included."""

    watched: Watched
    frame: Frame
    mask: Mask
    value: Value
    operands: tuple[Value, ...]
    times: int

    @property
    def what(self) -> tuple[int | None, int]:
        """What both simulations must execute next to be in step: which instruction, in which batch."""
        return self.watched.row.result_id, self.frame.batch.first_group


@dataclass(frozen=True)
class Apart:
    """The first instruction whose value differs, on both devices, and where in it."""

    events: tuple[Event, Event]
    place: Place


class OutOfStep(Exception):
    """The simulations do not execute the same instructions."""


class _Stop(Exception):
    """Ends a simulation that is not needed any more."""


def watch(take: Callable[[Event], None]) -> Instrument:
    """An instrument that hands over each execution of an instruction with a result."""

    def instrument(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
        watched = _watched(compiler, row, step)
        if watched is None or step is None:
            return step
        inner, result = step, compiler.result(row)
        slots = [compiler.slot(identifier) for identifier, _ in watched.operands]
        counts: dict[int, int] = {}

        def execute(frame: Frame) -> None:
            operands = tuple(frame.slots[slot] for slot in slots)
            inner(frame)
            first = frame.batch.first_group
            if first not in counts:
                counts.clear()
                counts[first] = 0
            counts[first] += 1
            take(Event(watched, frame, frame.mask, frame.slots[result], operands, counts[first]))

        return execute

    return instrument


def _watched(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Watched | None:
    if compiler.source is None or step is None or row.result_id is None or row.opcode == Op.Variable:
        return None
    kind = compiler.result_type(row)
    if isinstance(kind, VoidType) or row.result_id in compiler.places:
        return None
    operands = [(identifier, _type_of_value(compiler, identifier)) for identifier in row.ids()]
    return Watched(row, compiler.site(row), kind,
                   tuple((identifier, type_) for identifier, type_ in operands if type_ is not None), compiler)


def _type_of_value(compiler: FunctionCompiler, identifier: int) -> Type | None:
    """The type of an operand that is a value in a slot; None for types, labels, functions and variables without an
    address."""
    if identifier in compiler.places:
        return None
    definition = compiler.module.definition(identifier)
    if definition.type_id is None or definition.opcode in (Op.Function, Op.ExtInstImport):
        return None
    try:
        compiler.slot(identifier)
        return compiler.type_of(identifier)
    except Error:
        return None


# --------------------------------------------------------------------------------------
# Side by side
# --------------------------------------------------------------------------------------


class _Channel:
    """What the first simulation hands to the second."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: deque[tuple[Event, int]] = deque()
        self._bytes = 0
        self._is_open = True
        self._is_wanted = True
        self.error: BaseException | None = None

    def put(self, event: Event) -> None:
        size = size_of(event.value)
        with self._changed:
            while self._is_wanted and self._events and (
                    len(self._events) >= MOST_EVENTS or self._bytes + size > MOST_BYTES):
                self._changed.wait()
            if not self._is_wanted:
                raise _Stop
            self._events.append((event, size))
            self._bytes += size
            self._changed.notify()

    def take(self) -> Event | None:
        """The next event; None after the last one."""
        with self._changed:
            while not self._events and self._is_open:
                self._changed.wait()
            if not self._events:
                return None
            event, size = self._events.popleft()
            self._bytes -= size
            self._changed.notify()
            return event

    def close(self, error: BaseException | None = None) -> None:
        """The first simulation has ended."""
        with self._changed:
            self._is_open = False
            self.error = error
            self._changed.notify()

    def leave(self) -> None:
        """The second simulation wants no more."""
        with self._changed:
            self._is_wanted = False
            self._events.clear()
            self._changed.notify()


def first_apart(first: Launch, second: Launch) -> Apart | None:
    """The first instruction whose value differs in an active lane; None if none does.

    Raises OutOfStep if the devices execute different instructions although no value differs.
    """
    channel = _Channel()
    found: list[Apart] = []

    def hand_over() -> None:
        try:
            first.run(watch(channel.put), first.make_arguments())
        except _Stop:
            channel.close()
        except BaseException as error:
            channel.close(error)
        else:
            channel.close()

    def hold_against(event: Event) -> None:
        other = channel.take()
        if other is None or other.what != event.what or not np.array_equal(other.mask.lanes, event.mask.lanes):
            raise OutOfStep
        place = first_difference(event.watched.kind, other.value, event.value, event.mask)
        if place is not None:
            found.append(Apart((other, event), place))
            raise _Stop

    thread = threading.Thread(target=hand_over, name="coopmat-compare", daemon=True)
    thread.start()
    try:
        second.run(watch(hold_against), second.make_arguments())
        if channel.take() is not None:
            raise OutOfStep
    except _Stop:
        pass
    finally:
        channel.leave()
        thread.join()
    if found:
        return found[0]
    if channel.error is not None:
        raise channel.error
    return None
