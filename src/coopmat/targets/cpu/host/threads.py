"""Threads that share the work-groups of launches: Python's own, which compiled code lets run beside each other.

The thread that launches a kernel takes part. Others are asked to help; whoever comes when the work is done does
nothing, and only those that have begun are waited for. Two are woken by the launching thread, and each wakes two more,
so that many threads start in a few steps. Helpers live as long as the process and serve every launch.

Python's main thread, which Ctrl-C goes to, leaves work that may not end to helpers, and only waits. Helpers that do not
end soon after an interruption are left alone with what they use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import numpy as np

from coopmat.support.forks import after_fork
from coopmat.targets.cpu.host.frame import KEPT_BYTES, PANEL_BYTES, REUSE_BYTES, TAG_BYTES, TILES

ALIGNMENT = 64
_WOKEN_AT_ONCE = 2
_QUEUED_PER_HELPER = 4
_PATIENCE = 1.0  # seconds that an interrupted launch waits for its helpers

Work = Callable[[int], object]
"""Does what there is to do, with memory of the thread's own at an address."""


def aligned(size: int) -> np.ndarray:
    """Bytes at an aligned address."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:start + size]


class Scratch:
    """Memory of a thread, kept from launch to launch; it grows. What kernels keep lies before it, zero at the start."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)
        self._address = 0

    def address(self, size: int) -> int:
        """The address of at least ``size`` bytes."""
        if size > self._memory.size - KEPT_BYTES:
            self._memory = aligned(KEPT_BYTES + size)
            self._memory[PANEL_BYTES:KEPT_BYTES - REUSE_BYTES + TILES * TAG_BYTES] = 0
            self._address = self._memory.ctypes.data + KEPT_BYTES
        return self._address


class _Job:
    """Work that several threads do together. Lists stand for counts, because taking from a list is one step."""

    __slots__ = ("asked", "begun", "ended", "helpers", "results", "scratch_bytes", "tickets", "wakes", "work")

    def __init__(self, work: Work, scratch_bytes: int, helpers: int, asked: SimpleQueue[_Job]) -> None:
        self.work = work
        self.scratch_bytes = scratch_bytes
        self.helpers = helpers
        self.asked = asked
        self.begun = helpers  # have begun, or may still begin
        self.tickets = [None] * helpers  # as many may still begin
        self.wakes = [None] * helpers  # as many have not been asked
        self.results: list[BaseException | None] = []
        self.ended: SimpleQueue[None] = SimpleQueue()

    def wake(self) -> None:
        """Ask helpers that nobody has asked."""
        for _ in range(_WOKEN_AT_ONCE):
            if self.asked.qsize() < _QUEUED_PER_HELPER * self.helpers and _taken(self.wakes):
                self.asked.put(self)

    def help(self, scratch: Scratch) -> None:
        """A helper's part, if it may still begin."""
        if not _taken(self.tickets):
            return
        result: BaseException | None = None
        try:
            self.wake()
            self.work(scratch.address(self.scratch_bytes))
        except BaseException as error:  # the launching thread raises it
            result = error
        self.results.append(result)
        self.ended.put(None)

    def finish(self, stop: Callable[[], None], *, is_done: bool) -> int:
        """Wait for the helpers that have begun, and let nobody begin; where the work is not done already
        (``is_done``), wait for one of them first. Returns how many have begun.

        Raises what the wait was interrupted by, or what a helper raised. ``stop`` makes helpers hurry after an
        interruption; those that take their time are :attr:`left`.
        """
        interruption: BaseException | None = None
        try:
            if not is_done:
                self.ended.get()
            self._close()
            while self.left:
                self.ended.get()
        except BaseException as error:  # Ctrl-C
            interruption = error
            stop()
            self._close()
            self._wait_until(time.monotonic() + _PATIENCE)
        for found in (interruption, *self.results):
            if found is not None:
                raise found
        return len(self.results)

    def _close(self) -> None:
        """Let nobody begin from now on."""
        while _taken(self.tickets):
            self.begun -= 1

    @property
    def left(self) -> int:
        """The helpers that have begun, or still may, and have not ended."""
        return self.begun - len(self.results)

    def _wait_until(self, end: float) -> None:
        while self.left:
            try:
                self.ended.get(timeout=max(0.0, end - time.monotonic()))
            except BaseException:  # it is time, or Ctrl-C once more
                return


def _taken(tickets: list[None]) -> bool:
    try:
        tickets.pop()
    except IndexError:
        return False
    return True


class ThreadPool:
    """Helpers for all launches of the process. Safe with threads and forks."""

    def __init__(self) -> None:
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        """No helpers: those of another process are not here."""
        self._lock = threading.Lock()
        self._count = 0
        self._asked: SimpleQueue[_Job] = SimpleQueue()
        self._scratches: list[Scratch] = []  # of launching threads, while none uses them

    def run(self, work: Work, scratch_bytes: int, threads: int, stop: Callable[[], None], *,
            ends: bool = True) -> int:
        """Let up to ``threads`` threads do ``work``, each with ``scratch_bytes`` bytes of its own; return when all are
        done. This thread is one of them, unless it is Python's main thread and the work may not end (``ends``).
        ``stop`` tells the others to end early, should this thread be interrupted.

        Returns about how many nanoseconds the work takes one thread.
        """
        if not ends and threading.current_thread() is threading.main_thread() and self._grow(threads):
            return self._run_elsewhere(work, scratch_bytes, threads, stop)
        scratch = self._scratch()
        try:
            if threads > 1:
                return self._run_together(work, scratch, scratch_bytes, threads - 1, stop)
            return _timed(work, scratch, scratch_bytes)
        finally:
            self._scratches.append(scratch)

    def _run_elsewhere(self, work: Work, scratch_bytes: int, threads: int, stop: Callable[[], None]) -> int:
        start = time.perf_counter_ns()
        job = _Job(work, scratch_bytes, threads, self._asked)
        job.wake()
        begun = self._finished(job, stop, is_done=False)
        return (time.perf_counter_ns() - start) * begun

    def _run_together(self, work: Work, scratch: Scratch, scratch_bytes: int, helpers: int,
                      stop: Callable[[], None]) -> int:
        self._grow(helpers)
        job = _Job(work, scratch_bytes, helpers, self._asked)
        job.wake()
        try:
            own = _timed(work, scratch, scratch_bytes)
        finally:
            begun = self._finished(job, stop, is_done=True)
        return own * (1 + begun)

    def _finished(self, job: _Job, stop: Callable[[], None], *, is_done: bool) -> int:
        """Finish a job; helpers that are left alone are helpers no more."""
        try:
            return job.finish(stop, is_done=is_done)
        finally:
            if job.left:
                with self._lock:
                    self._count -= job.left

    def _scratch(self) -> Scratch:
        try:
            return self._scratches.pop()
        except IndexError:
            return Scratch()

    def _grow(self, helpers: int) -> bool:
        """Have so many helpers, or as many as the system gives; whether there is one."""
        if self._count < helpers:
            with self._lock:
                while self._count < helpers and self._started(self._count + 1):
                    self._count += 1
        return self._count > 0

    def _started(self, number: int) -> bool:
        try:
            threading.Thread(target=_serve, args=(self._asked,), daemon=True, name=f"coopmat-{number}").start()
        except RuntimeError:
            return False
        return True


def _timed(work: Work, scratch: Scratch, scratch_bytes: int) -> int:
    memory = scratch.address(scratch_bytes)
    start = time.perf_counter_ns()
    work(memory)
    return time.perf_counter_ns() - start


def _serve(asked: SimpleQueue[_Job]) -> None:
    scratch = Scratch()
    while True:
        asked.get().help(scratch)


POOL = ThreadPool()
