"""What the C library does with memory that is freed: the simulator frees and takes some at every instruction."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Mapping
from functools import cache

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of <malloc.h>
KEPT, MAPPED = 1 << 28, 1 << 25  # bytes: free memory that stays with the process; what is mapped by itself
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
