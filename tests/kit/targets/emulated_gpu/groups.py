"""Work-groups, whose threads run side by side and meet."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Collection, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

WARP = 32
PATIENCE = 300.0  # seconds until threads that wait are taken for stuck


class Stuck(Exception):
    """Threads wait for others that do not come."""


@dataclass
class Meeting:
    """Threads that come to an instruction together: what each brings, and what each gets. members: who is waited for;
    a number: whoever comes; None: those of a warp that come until nobody in it goes on otherwise."""

    members: frozenset[int] | int | None
    answer: Callable[[dict[int, Any]], dict[int, Any]]
    given: dict[int, Any] = field(default_factory=dict)
    found: dict[int, Any] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)


class Group:
    """The threads of a work-group; ``grid`` and ``number``: work-groups along the axes, and which it is; ``local``: the
    addresses of its local memory."""

    def __init__(self, size: tuple[int, int, int], grid: tuple[int, int, int], number: tuple[int, int, int],
                 local: range) -> None:
        self.size, self.grid, self.number, self.local = size, grid, number, local
        self.count = size[0] * size[1] * size[2]
        self.failure: Exception | None = None
        self.barriers: dict[int, Any] = {}  # those in shared memory, by their addresses
        self.lock = threading.Lock()
        self.news = threading.Condition()  # of barriers
        self._ended: set[int] = set()
        self._meetings: dict[Hashable, Meeting] = {}

    def meet(self, key: Hashable, members: Collection[int] | int | None, thread: int, given: Any,
             answer: Callable[[dict[int, Any]], dict[int, Any]]) -> Any:
        """What a thread gets when all members that still run have come, from ``answer`` of what they bring."""
        with self.lock:
            new = Meeting(frozenset(members) if isinstance(members, Collection) else members, answer)
            meeting = self._meetings.setdefault(key, new)
            assert thread not in meeting.given, f"thread {thread} comes twice to {key}"
            meeting.given[thread] = given
            self._close_whole()
            self._close_open(thread)
        if not meeting.done.wait(PATIENCE):
            raise Stuck(f"threads {sorted(meeting.given)} wait for others of {meeting.members} at {key}")
        if self.failure is not None:
            raise Stuck("another thread has failed")
        return meeting.found.get(thread)

    def _close_whole(self) -> None:
        """Close the meetings to which all have come."""
        for key, meeting in list(self._meetings.items()):
            if self._is_whole(meeting):
                self._close(key, meeting)

    def _is_whole(self, meeting: Meeting) -> bool:
        if isinstance(meeting.members, int):
            return len(meeting.given) == meeting.members
        return meeting.members is not None and meeting.members - self._ended <= meeting.given.keys()

    def _close_open(self, thread: int) -> None:
        """When nobody in a thread's warp goes on, close the first open meeting there."""
        first = thread - thread % WARP
        waiting = {one for meeting in self._meetings.values() for one in meeting.given}
        if not set(range(first, min(first + WARP, self.count))) <= waiting | self._ended:
            return
        for key, meeting in self._meetings.items():
            if meeting.members is None and min(meeting.given) in range(first, first + WARP):
                self._close(key, meeting)
                return

    def _close(self, key: Hashable, meeting: Meeting) -> None:
        del self._meetings[key]
        try:
            meeting.found = meeting.answer(meeting.given)
        except Exception as error:  # (native code is above: it is raised when the kernel has ended)
            self.fail(error)
        meeting.done.set()

    def fail(self, error: Exception) -> None:
        """Note the first failure, and let nobody wait."""
        self.failure = self.failure or error
        for meeting in list(self._meetings.values()):
            meeting.done.set()

    def end(self, thread: int) -> None:
        """A thread has ended: nobody waits for it."""
        with self.lock:
            self._ended.add(thread)
            self._close_whole()
            self._close_open(thread)


Copy = tuple[int, int, int, int]
"""To, from, bytes, and how many of them are read; the others are zero."""


class Here(threading.local):
    """The thread of the GPU that a thread of this process is. stack: an address in its private memory. copies: those
    that are in no group yet. groups: of copies that are under way."""

    group: Group
    number: int
    stack: int
    copies: list[Copy]
    groups: list[list[Copy]]

    @property
    def lane(self) -> int:
        """Its number in the warp."""
        return self.number % WARP

    @property
    def warp(self) -> range:
        """The threads of its warp."""
        first = self.number - self.lane
        return range(first, min(first + WARP, self.group.count))


HERE = Here()


def run_group(pool: ThreadPoolExecutor, group: Group, run: Callable[[int], None], block: bytes) -> None:
    """Run a kernel's function by all threads of a work-group. Raises what failed."""

    def thread(number: int) -> None:
        HERE.group, HERE.number, HERE.copies, HERE.groups = group, number, [], []
        own = ctypes.create_string_buffer(block, len(block) + 128)
        start = -(-ctypes.addressof(own) // 64) * 64
        ctypes.memmove(start, block, len(block))
        try:
            run(start)
        finally:
            group.end(number)

    for one in [pool.submit(thread, number) for number in range(group.count)]:
        one.result()
    if group.failure is not None:
        raise group.failure
