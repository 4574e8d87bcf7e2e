"""Memory for the simulator, which takes and frees some at every instruction: what the C library does with what is
freed, and zeros that nobody writes."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

_THRESHOLDS = {  # numbers of parameters in <malloc.h>, and bytes
    "MALLOC_TRIM_THRESHOLD_": (-1, 1 << 28),  # free memory that stays with the process
    "MALLOC_MMAP_THRESHOLD_": (-3, 1 << 25),  # what is mapped by itself
}
KEEPING = {name: size for name, (_, size) in _THRESHOLDS.items()}
"""The environment of a process whose C library keeps memory from its start, as :func:`keep_freed_memory` has it."""
LAZY = 1 << 20  # bytes from which on zeros are the system's
_SETTINGS = (*_THRESHOLDS, "MALLOC_TOP_PAD_")


@cache
def keep_freed_memory() -> None:
    """Let the GNU C library keep memory that is freed, where a setting of the environment has it give that back at
    once. Dask has its workers do so, and every allocation then costs page faults."""
    if is_set(os.environ) and platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for parameter, size in _THRESHOLDS.values():
            library.mallopt(parameter, size)


def is_set(environment: Mapping[str, str]) -> bool:
    """Whether the environment says when memory is given back. By itself the library learns that from the program."""
    return any(name in environment for name in _SETTINGS) or "glibc.malloc" in environment.get("GLIBC_TUNABLES", "")


def zeros(count: int, dtype: Any) -> np.ndarray:
    """As many zeros, which cost nothing until they are used: the C library would write them into memory that it has."""
    kind = np.dtype(dtype)
    size = count * kind.itemsize
    if size < LAZY or os.name != "posix":
        return np.zeros(count, kind)
    return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), kind)
