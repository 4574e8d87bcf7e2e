"""Threads that share the work-groups of launches.

The thread that launches a kernel takes part; others wait in compiled code for work (:mod:`.teams`). They live as long
as the process, in teams: a launch has a team of its own as long as it runs.

Python's main thread, which Ctrl-C goes to, leaves work that may not end to others, and only waits. Those that do not
end soon after an interruption are left alone with what they use.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coopmat.llvm.process import client
from coopmat.support.cache import Cache, key
from coopmat.support.forks import after_fork
from coopmat.support.native import NativeCode
from coopmat.targets.cpu.host import teams
from coopmat.targets.cpu.host.frame import (
    KEPT_BYTES,
    PANEL_BYTES,
    PLACE_AT,
    REUSE_BYTES,
    SHARED_AT,
    SHARED_BYTES,
    TAG_BYTES,
    TILES,
    Shared,
)
from coopmat.targets.cpu.host.teams import WORD_BYTES, Desk, Job
from coopmat.targets.cpu.options import available_cores

ALIGNMENT = 64
_PATIENCE = 1.0  # seconds that an interrupted launch waits for its threads
_HAVE_SLEEP = sys.platform == "linux"


def aligned(size: int) -> np.ndarray:
    """Bytes at an aligned address."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:start + size]


class Scratch:
    """Memory of a thread, kept from launch to launch; it grows. What kernels keep lies before it, zero at the start,
    the address of what the threads of a launch share, and the thread's place among them."""

    def __init__(self, shared: int, place: int) -> None:
        self._shared, self._place = shared, place
        self._memory = np.empty(0, np.uint8)
        self._address = 0

    def address(self, size: int) -> int:
        """The address of at least ``size`` bytes."""
        if size > self._memory.size - KEPT_BYTES:
            self._memory = aligned(KEPT_BYTES + size)
            self._memory[PANEL_BYTES:KEPT_BYTES - REUSE_BYTES + TILES * TAG_BYTES] = 0
            for offset, word in ((SHARED_AT, self._shared), (PLACE_AT, self._place)):
                self._memory[offset:offset + WORD_BYTES].view(np.int64)[0] = word
            self._address = self._memory.ctypes.data + KEPT_BYTES
        return self._address


class TeamCode:
    """The functions of :mod:`.teams`, as native code."""

    def __init__(self, native: NativeCode) -> None:
        self.native = native
        word, narrow = ctypes.c_void_p, ctypes.c_int32
        self.serve, self.together, self.take_back = (
            native.function(name, word) for name in ("serve", "together", "take_back"))
        self.wait = native.function("await", word, narrow, narrow)


def team_key() -> str:
    """The key of that code in a cache."""
    import llvmlite

    return key("teams", llvmlite.__version__)


def team_code(cache: Cache) -> TeamCode:
    """The code that all teams of the process run, whatever the kernels; ``cache``: where it may be already."""
    if not _team_code:
        name = team_key()
        made = cache.get(name)
        if made is None:
            made = client.compile_for_host(teams.CODE, teams.PROCESSOR, "", teams.LEVEL, "object", source_name="teams")
            cache.put(name, made)
        _team_code.append(TeamCode(NativeCode(made)))
    return _team_code[0]


_team_code: list[TeamCode] = []


class Kernel(Protocol):
    """Code that runs: a function of the addresses of words, arguments and scratch memory."""

    run: Any

    @property
    def run_address(self) -> int:
        """Where it begins."""

    @property
    def team(self) -> TeamCode:
        """What several threads run it by."""


@dataclass(frozen=True)
class Share:
    """The work of a launch: the kernel, and the addresses of the launch's words and arguments. used: what must stay."""

    kernel: Kernel
    launch: int
    arguments: int
    scratch_bytes: int
    used: object


class _Desk:
    """A thread's desk."""

    def __init__(self, shared: int, place: int) -> None:
        self.words = aligned(Desk.COUNT * WORD_BYTES).view(np.int64)
        self.words[:] = 0
        self.address = self.words.ctypes.data
        self._scratch = Scratch(shared, place)
        self._bytes = -1

    def have(self, scratch_bytes: int) -> None:
        """Have scratch memory there; the thread must have nothing to do."""
        if scratch_bytes > self._bytes:
            self.words[Desk.SCRATCH] = self._scratch.address(scratch_bytes)
            self._bytes = scratch_bytes


class Team:
    """A thread that gives work, and others that do it with it."""

    def __init__(self) -> None:
        self._desks: list[_Desk] = []
        self._shared_memory = aligned(SHARED_BYTES)
        self._shared = self._shared_memory[:Shared.WORDS * WORD_BYTES].view(np.int64)
        self._scratch = Scratch(self._shared.ctypes.data, 0)
        self._job = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._desks)

    def grow(self, helpers: int, kernel: Kernel) -> None:
        """Have so many threads, or as many as the system gives."""
        if helpers <= len(self._desks) or not _HAVE_SLEEP:
            return
        while len(self._desks) < helpers:
            desk = _Desk(self._shared.ctypes.data, len(self._desks) + 1)
            try:
                threading.Thread(target=_serve, args=(kernel.team, desk), daemon=True, name="coopmat").start()
            except RuntimeError:
                break
            self._desks.append(desk)
        self._job = aligned((Job.FIRST + len(self._desks)) * WORD_BYTES).view(np.int64)
        self._job[:Job.FIRST] = 0
        self._job[Job.FIRST:] = [desk.address for desk in self._desks]

    def run(self, share: Share, helpers: int, stop: Callable[[], None], *, takes_part: bool) -> int:
        """Do the work with some helpers, and return when all have ended it; about how many nanoseconds it takes one
        thread. ``takes_part``: whether this thread does any of it. Raises what the wait was interrupted by."""
        own = self._scratch.address(share.scratch_bytes) if takes_part else 0
        for desk in self._desks[:helpers]:
            desk.have(share.scratch_bytes)
        job, code = self._job, share.kernel.team
        self._share(is_alone=helpers + takes_part == 1)
        job[Job.PENDING:Job.UNBEGUN] = (0, 0, helpers, share.kernel.run_address, share.launch, share.arguments, own)
        address, start = job.ctypes.data, time.perf_counter_ns()
        try:
            code.together(address)
            if not takes_part:
                self._wait(code, helpers - 1, looks=helpers < available_cores())
                code.take_back(address)
            self._wait(code, 0)
        except BaseException:  # Ctrl-C
            stop()
            code.take_back(address)
            self._wait(code, 0, time.monotonic() + _PATIENCE)
            raise
        elapsed = time.perf_counter_ns() - start
        return elapsed * (helpers - int(job[Job.UNBEGUN]) + takes_part)

    @property
    def pending(self) -> int:
        """The threads that have not ended their work."""
        return int(self._job[Job.PENDING]) if self._job.size else 0

    def _wait(self, code: TeamCode, most: int, end: float = float("inf"), *, looks: bool = True) -> None:
        """Wait until at most so many are pending, or until a time. ``looks``: whether there is a core for a thread that
        looks for a while before it sleeps."""
        while self.pending > most and time.monotonic() < end:
            code.wait(self._job.ctypes.data, most, looks)

    def _share(self, *, is_alone: bool) -> None:
        """Begin with a launch that has no panels yet."""
        self._shared[:] = 0
        self._shared[Shared.ROOM], self._shared[Shared.ALONE] = PANEL_BYTES, is_alone

    def alone(self, share: Share) -> int:
        """Do all of the work in this thread; how many nanoseconds it took."""
        scratch = self._scratch.address(share.scratch_bytes)
        self._share(is_alone=True)
        start = time.perf_counter_ns()
        share.kernel.run(share.launch, share.arguments, scratch)
        return time.perf_counter_ns() - start


def _serve(code: TeamCode, desk: _Desk) -> None:
    """The life of a helper."""
    code.serve(desk.address)


class ThreadPool:
    """Teams for all launches of the process. Safe with threads and forks."""

    def __init__(self) -> None:
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        """No teams: the threads of another process are not here."""
        self._teams: list[Team] = []  # that no launch uses
        self._left: list[Any] = []  # teams that did not end, with what they use

    def run(self, share: Share, threads: int, stop: Callable[[], None], *, ends: bool) -> int:
        """Let up to ``threads`` threads do the work; return when all are done. This thread is one of them, unless it is
        Python's main thread and the work may not end (``ends``). ``stop`` tells the others to end early, should this
        thread be interrupted.

        Returns about how many nanoseconds the work takes one thread.
        """
        takes_part = ends or threading.current_thread() is not threading.main_thread()
        helpers = threads - takes_part
        try:
            team = self._teams.pop()
        except IndexError:
            team = Team()
        try:
            if helpers:
                team.grow(helpers, share.kernel)
            helpers = min(helpers, len(team))
            return team.run(share, helpers, stop, takes_part=takes_part) if helpers else team.alone(share)
        finally:
            if team.pending:
                self._left.append((team, share))
            else:
                self._teams.append(team)


POOL = ThreadPool()


def interruptible(work: Callable[[], object], stop: Callable[[], None]) -> None:
    """Call something that may not end; from Python's main thread, which Ctrl-C goes to, in another one. Raises what it
    raises, and what the wait is interrupted by, after ``stop``."""
    if threading.current_thread() is not threading.main_thread():
        work()
        return
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # the waiting thread raises it
            raised.append(error)

    thread = threading.Thread(target=guarded, daemon=True, name="coopmat")
    thread.start()
    try:
        thread.join()
    except BaseException:  # Ctrl-C
        stop()
        thread.join(_PATIENCE)
        raise
    for error in raised:
        raise error
