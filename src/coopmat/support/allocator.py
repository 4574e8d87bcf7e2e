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

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of <malloc.h>
KEPT, MAPPED = 1 << 28, 1 << 25  # bytes: free memory that stays with the process; what is mapped by itself
LAZY = 1 << 20  # bytes from which on zeros are the system's
_SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_")


@cache
def keep_freed_memory() -> None:
    """Let the GNU C library keep memory that is freed, where a setting of the environment has it give that back at
    once. Dask has its workers do so, and every allocation then costs page faults."""
    if is_set(os.environ) and platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        library.mallopt(_TRIM, KEPT)
        library.mallopt(_MAP, MAPPED)


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
