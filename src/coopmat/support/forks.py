"""Forks while other threads work: what a child gets is whole, and no lock stays closed in it.

In a forked child only the forking thread lives on. What another one was in the middle of stays as it was, and a lock
that it held is never opened again. So a fork waits for what is short and cannot be cut off: imports, LLVM's calls in
this process (:data:`UNBROKEN` for our own). Locks that are held for long are new in the child (:class:`ForkSafeLock`);
nothing depends on what they guarded there.
"""

from __future__ import annotations

import _imp
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

UNBROKEN = threading.RLock()
"""Held for what must not be half done in a forked child; a fork waits for it. Hold it briefly."""

_LONGEST_WAIT = 30.0  # seconds for imports of ours; something is wrong with one that takes longer
_LONGEST_WAIT_FOR_OTHERS = 1.0  # some programs live inside of an import
_OURS = ("coopmat", "llvmlite")


class ForkSafeLock:
    """A lock that is free in a forked process, whoever held it; for modules, as it is never given up.
    ``make``: threading.RLock for one that its thread may take again."""

    def __init__(self, make: Callable[[], Any] = threading.Lock) -> None:
        self._make = make
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._lock = self._make()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def after_fork(reset: Callable[[], None]) -> None:
    """Have something called in every forked child, where the system has forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=reset)


class ProcessBound:
    """What does not survive a fork once it has been started, such as a GPU's driver. is_started: whether this process
    has; is_child: whether it is the child of one that had. ``forget``: called in such a child."""

    def __init__(self, forget: Callable[[], object] = lambda: None) -> None:
        self.is_started = False
        self.is_child = False
        self._forget = forget
        after_fork(self._forked)

    def _forked(self) -> None:
        self.is_child = self.is_child or self.is_started
        self.is_started = False
        self._forget()


class _ImportLock:
    """The lock of the import system: while it is held, nobody begins an import."""

    def __enter__(self) -> None:
        _imp.acquire_lock()

    def __exit__(self, *_: object) -> None:
        _imp.release_lock()


_IMPORTS = _ImportLock()
_held: list[Any] = []
"""What is held while this process forks: the locks that a child shall find open."""


def _hold() -> None:
    """Before a fork: wait until nobody imports, and hold what nobody shall be inside of."""
    start = time.monotonic()
    while True:
        _take(_IMPORTS)
        names = _imported_elsewhere()
        is_ours = any(name.startswith(_OURS) for name in names)
        if not names or time.monotonic() - start > (_LONGEST_WAIT if is_ours else _LONGEST_WAIT_FOR_OTHERS):
            break
        _give_back()
        time.sleep(0.001)
    _take(UNBROKEN)
    llvm = _lock_of_llvmlite()
    if llvm is not None:
        _take(llvm)


def _take(lock: Any) -> None:
    lock.__enter__()
    _held.append(lock)


def _give_back() -> None:
    """After a fork, in both processes."""
    while _held:
        _held.pop().__exit__(None, None, None)


def _imported_elsewhere() -> list[str]:
    """The modules that other threads are importing, by the locks that the import system has for them."""
    locks = getattr(sys.modules.get("importlib._bootstrap"), "_module_locks", {})
    found, me = [], threading.get_ident()
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner is not None and owner != me:
            found.append(name)
    return found


def _lock_of_llvmlite() -> Any:
    """The lock that each of llvmlite's calls holds, once it is loaded."""
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    return getattr(library, "_lock", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_give_back, after_in_child=_give_back)
