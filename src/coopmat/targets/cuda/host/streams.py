"""Streams of a GPU, marks in them, and times between marks.

A mark is an event of the driver. Streams and marks that nobody uses any more serve again.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from typing import Any

from coopmat.diagnostics import Error
from coopmat.targets.base.device_array import LEGACY_STREAM
from coopmat.targets.cuda.host.context import Context
from coopmat.targets.cuda.host.driver import bindings, call, failure, is_done

MOST_IDLE = 256
MOST_NAMED = 8  # kernels that an error names
ANCHOR_LIFE = 1_000_000_000  # ns for which a pair of the two clocks serves


class Mark:
    """A place in a stream; it knows when the GPU came there."""

    __slots__ = ("context", "handle")

    def __init__(self, context: Context) -> None:
        self.context = context
        idle = context.idle_marks
        try:
            self.handle = idle.pop()
        except IndexError:
            context.use()
            self.handle = call("cuEventCreate", 0)

    def is_done(self) -> bool:
        """Whether the GPU has come there."""
        return is_done("cuEventQuery", self.handle)

    def after(self, other: Mark) -> float:
        """The milliseconds from another mark to this one; the GPU has come to both."""
        return float(call("cuEventElapsedTime", other.handle, self.handle))

    def __del__(self) -> None:
        idle = self.context.idle_marks
        if len(idle) < MOST_IDLE:
            idle.append(self.handle)


class Stream:
    """A stream of a GPU: what is submitted there is done in order. handle: of one that another library has made; by
    default it is one of its own, which waits for no other stream by itself.

    is_capturing: whether a graph takes what is submitted. taken: the arguments of what it has taken.
    """

    def __init__(self, context: Context, handle: int | None = None) -> None:
        self.context = context
        context.use()
        self.is_own = handle is None
        if handle is not None:
            self.handle = bindings().CUstream(handle or LEGACY_STREAM)
        elif context.idle_streams:
            self.handle = context.idle_streams.pop()
        else:
            self.handle = call("cuStreamCreate", 1)  # CU_STREAM_NON_BLOCKING
        self.number = int(self.handle)
        self.is_capturing = False
        self.taken: list[Any] = []
        self._last: Any = None  # the handle of the last mark
        self._launched: deque[str] = deque(maxlen=MOST_NAMED)
        self._held: deque[tuple[Mark, Any]] = deque()

    def launched(self, what: str) -> None:
        """Note a kernel, or something else, for the words of an error."""
        if not self._launched or self._launched[-1] != what:
            self._launched.append(what)

    def mark(self) -> Mark:
        """A mark after everything that was submitted."""
        mark = Mark(self.context)
        status, = bindings().cuEventRecord(mark.handle, self.handle)
        if status:
            raise failure(status, "cuEventRecord")
        self._last = mark.handle
        return mark

    def wait_for(self, mark: Mark) -> None:
        """What is submitted from now on comes after a mark in another stream."""
        status, = bindings().cuStreamWaitEvent(self.handle, mark.handle, 0)
        if status:
            raise failure(status, "cuStreamWaitEvent")

    def follow(self, other: int) -> None:
        """What is submitted from now on comes after everything in the stream of another library."""
        mark = Mark(self.context)
        call("cuEventRecord", mark.handle, bindings().CUstream(other))
        self.wait_for(mark)

    def lead(self, other: int, mark: Mark) -> None:
        """What another library submits to its stream from now on comes after a mark in this one."""
        call("cuStreamWaitEvent", bindings().CUstream(other), mark.handle, 0)

    def hold(self, mark: Mark, owner: Any) -> None:
        """Keep something until the GPU has come to a mark."""
        held = self._held
        while held and held[0][0].is_done():
            held.popleft()
        held.append((mark, owner))

    def synchronize(self, what: str = "") -> None:
        """Return when everything has been done. LaunchError, naming what was submitted, for what has failed."""
        call("cuStreamSynchronize", self.handle, what=what or self.described())
        self._launched.clear()
        self._held.clear()

    def reach(self, mark: Mark) -> None:
        """Return when the GPU has come to a mark in this stream. LaunchError as above."""
        call("cuEventSynchronize", mark.handle, what=self.described())
        if mark.handle is self._last:
            self._launched.clear()

    def described(self) -> str:
        """What may have failed, for errors."""
        names = list(dict.fromkeys(self._launched))
        if not names:
            return f"cuda:{self.context.ordinal}"
        return names[0] if len(names) == 1 else f"one of {', '.join(names)}"

    def __del__(self) -> None:
        if not hasattr(self, "number") or not self.is_own or self.is_capturing:
            return
        if self.context.lost is None:
            with contextlib.suppress(Error, TypeError):  # at the interpreter's end
                if self._held:
                    self.synchronize()
                self.context.idle_streams.append(self.handle)


class Clock:
    """The host's time of marks, in nanoseconds (:func:`time.perf_counter_ns`), by pairs of both clocks."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._anchor: tuple[Mark, int] | None = None

    def time_of(self, mark: Mark, submitted_at: int) -> int:
        """When the GPU came to a mark: it has; ``submitted_at``: when that was asked for."""
        anchor, at = self._pair()
        if submitted_at < at:
            return at - int(anchor.after(mark) * 1e6)
        return at + int(mark.after(anchor) * 1e6)

    def _pair(self) -> tuple[Mark, int]:
        now = time.perf_counter_ns()
        if self._anchor is None or now - self._anchor[1] > ANCHOR_LIFE:
            mark = self._stream.mark()
            self._stream.reach(mark)
            self._anchor = mark, time.perf_counter_ns()
        return self._anchor


def clock_of(context: Context) -> Clock:
    """The clock of a GPU."""
    if context.clock is None:
        context.clock = Clock(Stream(context))
    found: Clock = context.clock
    return found
