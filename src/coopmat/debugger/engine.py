"""Runs a launch step by step, forwards and, by running it again, backwards.

The kernel runs in a thread of its own, which stands still while somebody looks: :meth:`Engine.resume` lets it go on and
returns where it stops next. A simulated launch does the same each time: to go back, it is run again from copies of its
arguments up to an instruction that has been counted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

import numpy as np

from coopmat.debugger.activations import Activation
from coopmat.debugger.code import Code, CodeTable, Line, Watcher
from coopmat.debugger.evaluation import evaluate, truth
from coopmat.debugger.expressions import Node
from coopmat.debugger.items import Item, item_at, items_of, place_in
from coopmat.debugger.points import Breakpoint, Change, Message, Points, Stop, Watchpoint
from coopmat.debugger.scope import Known, Scope
from coopmat.debugger.showing import message_text
from coopmat.debugger.watching import Watches
from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.simulator import SimulatorOptions
from coopmat.targets.simulator.address_space import first_of
from coopmat.targets.simulator.state import Batch, Frame
from coopmat.targets.simulator.values import Array

NO_END = sys.maxsize
RUNS_ON = ("continue", "step", "next", "finish")
"""How :meth:`Engine.resume` and :meth:`Engine.reverse` may go; back, ``finish`` leads before the call."""


class Abandoned(BaseException):
    """Ends a launch that nobody waits for; no error of the kernel."""


@dataclass(frozen=True)
class Launch:
    """What is debugged: a kernel of a module on a device, its sizes in OpenCL's order and its arguments in the form
    that targets take. ``text_of`` gives the text of a source file, or None."""

    module: Module
    description: DeviceDescription
    options: SimulatorOptions
    kernel: str
    global_size: Sequence[int]
    local_size: Sequence[int]
    arguments: Sequence[Any]
    text_of: Callable[[str], str | None]


@dataclass(frozen=True)
class Goal:
    """Where a run ends. ``way``: one of RUNS_ON; ``depth``: of the call stack where it began; ``until``: the
    instruction to stop at whatever happens; ``only_notes``: stops before that are noted and not made."""

    way: str
    depth: int = 0
    until: int = NO_END
    only_notes: bool = False
    is_first: bool = False  # the first stop is noted, not the last one


class Engine(Watcher):
    """A launch that can be stopped.

    ``points`` are its breakpoints and watchpoints, ``item`` the work-item that steps follow; ``stop`` is where it
    stands (None before it runs), ``activations`` its call stack, the kernel first. ``write`` gets what the kernel
    prints, ``log`` the messages of breakpoints; both are called by the kernel's thread.
    """

    def __init__(self, launch: Launch, write: Callable[[str], None] | None = None,
                 log: Callable[[Breakpoint, str], None] | None = None) -> None:
        self.launch = launch
        self.points = Points()
        self.stop: Stop | None = None
        self.activations: list[Activation] = []
        self.batch: Batch | None = None
        self.clock = 0
        self.returned: tuple[Code, Frame] | None = None
        self.table = CodeTable(self)
        self._write = write if write is not None else _to_standard_output
        self.log = log if log is not None else lambda _, text: self._write(f"{text}\n")
        self._program = simulator.compile(launch.module, launch.description, replace(launch.options, time_limit=None),
                                          is_checked=True, instruments=[self.table.instrument])
        self._run = self._program.launcher(launch.kernel, launch.global_size, launch.local_size, launch.arguments)
        self.geometry = Geometry.checked(self._program.kernels[launch.kernel].signature, launch.global_size,
                                         launch.local_size, None, self._program._compile(launch.kernel).sub_group_size)
        self._arrays = [argument.reshape(-1).view(np.uint8) for argument in launch.arguments
                        if isinstance(argument, np.ndarray) and argument.flags.writeable and argument.size]
        self._arrays += list(self._program._kept.values())
        self._copies = [array.copy() for array in self._arrays]
        x, y, z = self.geometry.global_offset
        self.item: Item = (x, y, z)
        self._place: tuple[int, int] | None = None
        self._goal = Goal("continue")
        self._noted: int | None = None
        self._watching = Watches(self)
        self._printed = self._shown = 0  # characters
        self._ordinal = 0
        self._worker: threading.Thread | None = None
        self._go: SimpleQueue[bool] = SimpleQueue()
        self._stops: SimpleQueue[Stop | BaseException] = SimpleQueue()
        self._is_abandoned = False
        self._interrupted = False

    # --- what a user does -------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether the launch stands somewhere, so that it can go on."""
        return self._worker is not None and self._worker.is_alive()

    @property
    def has_state(self) -> bool:
        """Whether there are variables to look at."""
        return self.stop is not None and self.stop.reason != "end"

    def start(self, way: str = "step") -> Stop:
        """Run the launch from its start, with the arguments as they were: to the first line of the chosen work-item, or
        on to the first stop."""
        self._shown = 0
        self.points.stand_at(0)
        stop = self._begin(Goal(way, NO_END))
        return replace(stop, reason="start") if stop.reason == "step" else stop

    def resume(self, way: str) -> Stop:
        """Go on: to the next line of the chosen work-item (``step``), to that without calls (``next``), until its
        function has returned (``finish``), or to the next stop."""
        if not self.is_running:
            return self.start("step" if way in ("step", "next") else way)
        self._goal = Goal(way, self._depth)
        self._go.put(True)
        return self._wait()

    def reverse(self, way: str) -> Stop:
        """Go back to where a way in the other direction would have stopped last; at the earliest to the start. An
        interrupt leaves the kernel where it is on its way there. Error if the launch has not run."""
        if self.stop is None:
            raise Error("the kernel has not run: there is nothing to go back to")
        depth = self._depth if self.stop.reason != "end" else NO_END
        stop = self._begin(Goal(way, depth, self.stop.clock if self.is_running else NO_END, only_notes=True))
        if stop.reason == "interrupt":
            return stop
        found = self._noted
        if found is None:
            return self._to_start()
        return self._begin(Goal(way, depth, found))

    def _to_start(self) -> Stop:
        """Back to the first line of the chosen work-item."""
        self._begin(Goal("step", NO_END, only_notes=True, is_first=True))
        return replace(self._begin(Goal("step", NO_END, self._noted or 1)), reason="start")

    def select(self, item: Item) -> None:
        """Choose the work-item that steps follow."""
        self.item = item
        if self.batch is not None:
            self._place = place_in(self.batch, item)
        for activation in self.activations:
            activation.forget_focus()

    def interrupt(self) -> None:
        """Stop as soon as possible."""
        self._interrupted = True

    def close(self) -> None:
        """End the launch, and leave its arguments as they are."""
        if self.is_running:
            assert self._worker is not None
            self._is_abandoned = True
            self._go.put(True)
            self._worker.join()
            while not self._stops.empty():
                self._stops.get()
        self._worker = None

    # --- looking ----------------------------------------------------------------------

    @property
    def place(self) -> tuple[int, int] | None:
        """Sub-group and lane of the chosen work-item in the running batch."""
        return self._place

    def stack(self, place: tuple[int, int] | None = None) -> list[Activation]:
        """The activations that the work-item at a place in the batch is in, by default the chosen one; the innermost
        first."""
        at = place if place is not None else self._place
        return [activation for activation in reversed(self.activations) if at is not None and activation.has(at)]

    def lane(self, place: tuple[int, int]) -> Array:
        """One lane of the running batch, as a mask."""
        assert self.batch is not None
        lanes = np.zeros((self.batch.sub_groups, self.batch.lanes), np.bool_)
        lanes[place] = True
        return lanes

    def scope(self, activation: Activation, lanes: Array | None = None) -> Scope:
        """The names of an activation, for some lanes; by default for the chosen work-item."""
        if lanes is None:
            if self._place is None:
                raise Error("the chosen work-item does not run now: its work-group is in another batch")
            lanes = self.lane(self._place)
        return Scope(activation, lanes)

    def evaluate(self, node: Node, activation: Activation | None = None,
                 place: tuple[int, int] | None = None) -> tuple[Known, Scope]:
        """An expression for the work-item at a place in the batch, by default for the chosen one, and in the innermost
        function that it is in; and where it was evaluated. Error if there is nothing to look at."""
        found = activation if activation is not None else next(iter(self.stack(place)), None)
        if not self.has_state or found is None:
            raise Error("the kernel does not stand anywhere where this work-item has variables")
        scope = self.scope(found, self.lane(place) if place is not None else None)
        return scope.load(evaluate(node, scope)), scope

    @property
    def _depth(self) -> int:
        return len(self.activations)

    # --- points -----------------------------------------------------------------------

    def lines_of(self, file: str) -> list[int]:
        """The lines of a file that can be stopped at."""
        return self.table.lines(file)

    def entry(self, name: str) -> Line | None:
        """The first line of a function; Error, naming the functions, if there is none of that name."""
        for function in self.table.functions.values():
            if function.name == name:
                return function.first_line
        known = ", ".join(function.name for function in self.table.functions.values())
        raise Error(f"no function '{name}'; the functions are {known}")

    def add(self, point: Breakpoint | Watchpoint) -> None:
        """Set a point; its hits count from here on."""
        point.since = self.clock
        self.points.add(point)

    def watch(self, node: Node) -> Watchpoint:
        """A new watchpoint on what an expression names: an element of memory, or a variable."""
        point = self.watchable(node)
        self.watch_for(point)
        return point

    def watchable(self, node: Node, activation: Activation | None = None,
                  place: tuple[int, int] | None = None) -> Watchpoint:
        """A watchpoint that is not set yet; activation and place as for :meth:`evaluate`. Error for what cannot be
        watched."""
        return self._watching.watchable(node, activation, place)

    def watch_for(self, point: Watchpoint) -> None:
        """Set a watchpoint."""
        self.add(point)
        self._watching.begin(point)

    # --- the worker -------------------------------------------------------------------

    def _begin(self, goal: Goal) -> Stop:
        """Run the launch from its start towards a goal."""
        self.close()
        for array, copy in zip(self._arrays, self._copies, strict=True):
            array[:] = copy
        self._goal, self._noted, self._interrupted, self._is_abandoned = goal, None, False, False
        self.clock = self._printed = self._ordinal = 0
        self.batch, self.activations, self.returned, self.stop, self._place = None, [], None, None, None
        self._watching.restart()
        self.points.restart()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        return self._wait()

    def _work(self) -> None:
        """The launch, in its own thread."""
        found: Stop | BaseException
        try:
            self._run(self.launch.arguments)
            found = Stop("end", self.clock)
        except Abandoned:
            return
        except Error as error:
            found = Stop("error", self.clock, self.activations[-1].code if self.activations else None, error=error)
        except BaseException as error:
            found = error
        self._stops.put(found)

    def _wait(self) -> Stop:
        """The next stop; a keyboard interrupt makes one."""
        while True:
            try:
                found = self._stops.get()
                break
            except KeyboardInterrupt:
                self._interrupted = True
        if isinstance(found, BaseException):
            raise found
        if found.reason in ("end", "error") and self._worker is not None:
            self._worker.join()
        self.stop = found
        if not self._goal.only_notes:
            self.points.stand_at(found.clock)
            self._follow(found)
        return found

    def _follow(self, stop: Stop) -> None:
        """Forget what was temporary, and follow a work-item that was stopped."""
        if stop.breakpoint is not None and stop.breakpoint.is_temporary:
            self.points.breakpoints.pop(stop.breakpoint.number, None)
        if stop.error is not None and self.batch is not None:
            self._follow_error(stop.error)
        elif stop.lanes is not None and self.batch is not None and stop.reason == "breakpoint" and (
                self._place is None or not stop.lanes[self._place]):
            self.select(items_of(self.batch, stop.lanes)[0])

    def _follow_error(self, error: Error) -> None:
        where = getattr(error, "where", None)
        if where is None or where.work_group is None or where.lane is None or self.batch is None:
            return
        for sub_group in range(self.batch.sub_groups):
            if self.batch.work_group(sub_group) == tuple(where.work_group):
                self.select(item_at(self.batch, sub_group + where.sub_group, where.lane))
                return

    def _print(self, text: str) -> None:
        """Print what has not been printed in a run before."""
        self._printed += len(text)
        new = self._printed - self._shown
        if new > 0:
            self._shown = self._printed
            self._write(text[-new:])

    # --- while the kernel runs: the worker's side ---------------------------------------

    def before(self, frame: Frame, code: Code) -> None:
        """See :class:`~coopmat.debugger.code.Watcher`."""
        self.clock += 1
        if frame.batch is not self.batch:
            self._new_batch(frame.batch)
        activation = self.activations[-1]
        activation.frame, activation.code = frame, code
        changes = self._watching.changes(frame, code) if self.points.watchpoints else ()
        arrives = code.line is not None and activation.arrive(frame.mask, code)
        stop = self._decide(activation, frame, code, arrives, changes)
        if code.line is not None:
            activation.is_new = False
        if stop is not None or self.clock == self._goal.until:
            self._pause(stop, frame, code)

    def enter(self, frame: Frame) -> None:
        """See :class:`~coopmat.debugger.code.Watcher`."""
        self._ordinal += 1
        self.activations.append(Activation(self._ordinal))

    def leave(self, frame: Frame, code: Code) -> None:
        """See :class:`~coopmat.debugger.code.Watcher`."""
        self.activations.pop()
        self.returned = (code, frame)

    def _new_batch(self, batch: Batch) -> None:
        self.batch = batch
        batch.output.show = self._print
        self._ordinal += 1
        self.activations = [Activation(self._ordinal)]
        self._place = place_in(batch, self.item)
        self._watching.restart()

    def _decide(self, activation: Activation, frame: Frame, code: Code, arrives: bool,
                changes: tuple[Change, ...]) -> Stop | None:
        """Whether to stop here, and why."""
        goal, place = self._goal, self._place
        is_here = place is not None and bool(frame.mask.expanded[place])
        comes = is_here and code.line is not None and activation.focus_arrives(code)
        lanes = frame.mask.expanded
        broken = self._broken(activation, code, lanes) if arrives and self.points.breakpoints else None
        if self._interrupted:
            return broken or Stop("interrupt", self.clock, code, lanes)
        if changes:
            return Stop("watchpoint", self.clock, code, lanes, changes=changes)
        if broken is not None:
            return broken
        if comes and (goal.way == "step" or (goal.way == "next" and self._depth <= goal.depth)):
            return Stop("step", self.clock, code, lanes)
        if goal.way == "finish" and is_here and self._depth < goal.depth:
            return Stop("finish", self.clock, code, lanes)
        return None

    def _broken(self, activation: Activation, code: Code, lanes: Array) -> Stop | None:
        """The stop at a breakpoint, if one holds here; messages are printed."""
        stop = None
        for point in list(self.points.breakpoints.values()):
            if point.function is not None and not (activation.is_new and code.function.name == point.function):
                continue
            if point.function is None and point.line != code.line:
                continue
            found, trouble = self._stopped(point, activation, lanes)
            if found is None or not (point.hit(self.clock) or trouble):
                continue
            if point.message is not None:
                self._log(point, point.message, activation, found)
            elif stop is None:
                stop = Stop("breakpoint", self.clock, code, found, point, trouble=trouble)
        return stop

    def _log(self, point: Breakpoint, message: Message, activation: Activation, lanes: Array) -> None:
        """Print a breakpoint's message on the way forward: for the chosen work-item, or the first that is here."""
        if self._goal.only_notes or self._goal.until < NO_END:
            return
        place = self._place
        if place is None or not lanes[place]:
            place = first_of(lanes)
        self.log(point, message_text(message, Scope(activation, self.lane(place)), place))

    def _stopped(self, point: Breakpoint, activation: Activation, lanes: Array) -> tuple[Array | None, str]:
        """The lanes that a breakpoint stops; and what is wrong with its condition, which stops them, too."""
        if point.item is not None:
            assert self.batch is not None
            place = place_in(self.batch, point.item)
            if place is None or not lanes[place]:
                return None, ""
            lanes = self.lane(place)
        if point.condition is None:
            return lanes, ""
        try:
            lanes = truth(point.condition, Scope(activation, np.asarray(lanes)))
        except Error as error:
            return lanes, str(error)
        return (lanes if lanes.any() else None), ""

    def _pause(self, stop: Stop | None, frame: Frame, code: Code) -> None:
        """Stand still until somebody lets the kernel go on; or only note the place."""
        goal = self._goal
        if goal.only_notes and self.clock < goal.until and not self._interrupted:
            if not (goal.is_first and self._noted is not None):
                self._noted = self.clock
            return
        if not goal.only_notes and self.clock < goal.until < NO_END and not self._interrupted:
            return
        self._interrupted = False
        self._stops.put(stop if stop is not None else Stop("step", self.clock, code, frame.mask.expanded))
        self._go.get()
        if self._is_abandoned:
            raise Abandoned


def _to_standard_output(text: str) -> None:
    if sys.stdout is not None:
        sys.stdout.write(text)
