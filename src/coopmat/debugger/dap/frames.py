"""Threads and their call stacks.

A thread of the protocol is a sub-group, of the work-group that the chosen work-item is in: the work-items of a
sub-group run together on a device, and a work-group has few of them, where a launch may have millions of work-items. A
thread shows one of its work-items, the chosen one if it is among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.debugger.activations import Activation
from coopmat.debugger.dap.sources import Sources
from coopmat.debugger.engine import Engine
from coopmat.debugger.items import item_at, show_item
from coopmat.debugger.showing import Place
from coopmat.debugger.states import line_of_lane
from coopmat.diagnostics import Error


@dataclass(frozen=True)
class StackFrame:
    """An activation, as the work-item at a place in the batch sees it."""

    place: Place
    activation: Activation


class Frames:
    """What can be asked while a kernel stands still; :meth:`forget` begins the next such time."""

    def __init__(self, engine: Engine, sources: Sources) -> None:
        self.engine = engine
        self.sources = sources
        self._frames: list[StackFrame] = []
        self._threads: dict[int, tuple[Place | None, str]] = {1: (None, "the first sub-group")}

    def forget(self) -> None:
        """The kernel stands somewhere else."""
        self._frames = []
        batch, place = self.engine.batch, self.engine.place
        if batch is None or place is None:
            self._threads = {thread: (None, name) for thread, (_, name) in self._threads.items()}
            return
        first = place[0] // batch.sub_groups_per_group * batch.sub_groups_per_group
        found: dict[int, tuple[Place | None, str]] = {}
        for sub_group in range(first, first + batch.sub_groups_per_group):
            lane = place[1] if sub_group == place[0] else self._lane(sub_group)
            if lane is None:
                continue
            item = show_item(item_at(batch, sub_group, lane))
            name = f"sub-group {sub_group - first} of work-group {show_item(batch.work_group(first))}, work-item {item}"
            found[batch.first_group * batch.sub_groups_per_group + sub_group + 1] = ((sub_group, lane), name)
        self._threads = found

    def _lane(self, sub_group: int) -> int | None:
        """The lane that a sub-group shows: the first of those that have come to where the kernel stands, or of those
        that run at all."""
        stop, batch = self.engine.stop, self.engine.batch
        assert batch is not None
        if stop is not None and stop.lanes is not None and stop.lanes[sub_group].any():
            return int(np.argmax(stop.lanes[sub_group]))
        return next((lane for lane in range(batch.lanes) if self.engine.stack((sub_group, lane))), None)

    def threads(self) -> list[dict[str, Any]]:
        """All of them."""
        return [{"id": thread, "name": name} for thread, (_, name) in self._threads.items()]

    @property
    def chosen(self) -> int:
        """The thread of the chosen work-item."""
        return next((thread for thread, (place, _) in self._threads.items() if place == self.engine.place),
                    next(iter(self._threads)))

    def place_of(self, thread: int) -> Place | None:
        """The work-item that a thread shows, if it has one now. Error if there is no such thread."""
        if thread not in self._threads:
            raise Error(f"there is no thread {thread}; the threads are {', '.join(map(str, self._threads))}")
        return self._threads[thread][0]

    def follow(self, thread: int) -> None:
        """Choose the work-item that a thread shows."""
        place = self.place_of(thread)
        if place is not None and place != self.engine.place and self.engine.batch is not None:
            self.engine.select(item_at(self.engine.batch, *place))

    def stack(self, thread: int) -> list[dict[str, Any]]:
        """A thread's call stack, the innermost function first."""
        place = self.place_of(thread)
        if place is None or not self.engine.has_state:
            return []
        return [self._shown(StackFrame(place, activation)) for activation in self.engine.stack(place)
                if activation.code is not None]

    def _shown(self, frame: StackFrame) -> dict[str, Any]:
        self._frames.append(frame)
        line, state = line_of_lane(frame.activation, frame.place)
        assert frame.activation.code is not None
        name = frame.activation.code.function.name
        return {"id": len(self._frames), "name": f"{name} ({state})" if state else name, **self.sources.place(line)}

    def frame(self, number: int) -> StackFrame:
        """A frame by its number, 0 for the innermost one of the chosen work-item. Error if there is none."""
        if number == 0:
            stack = self.engine.stack() if self.engine.has_state else []
            if not stack or self.engine.place is None:
                raise Error("the kernel does not stand anywhere where this work-item has variables")
            return StackFrame(self.engine.place, stack[0])
        if not 0 < number <= len(self._frames):
            raise Error(f"there is no stack frame {number}: the kernel has gone on since")
        return self._frames[number - 1]
