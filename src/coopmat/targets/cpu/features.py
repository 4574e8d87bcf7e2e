"""What this machine's processor can do, and what of it is used.

``COOPMAT_CPU_FEATURES`` takes features away: names with a minus sign (``-amx-tile,-avx512f``), or one of the levels of
:data:`LEVELS`, so that every path can be tested on one machine.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from coopmat.diagnostics import Error

VARIABLE = "COOPMAT_CPU_FEATURES"

LEVELS: dict[str, tuple[str, ...]] = {
    "amx": (),
    "avx512": ("amx-",),
    "avx2": ("amx-", "avx512", "avx10", "evex512"),
    "baseline": ("amx-", "avx", "evex512", "fma", "f16c", "vaes", "vpclmulqdq", "xop"),
}
"""Beginnings of the names of the features that each level goes without."""

IMPLIED: dict[str, tuple[str, ...]] = {
    "avx2": ("avx512f", "avxvnni", "avxvnniint8", "avxneconvert", "avxifma", "avxvnniint16", "vaes", "vpclmulqdq"),
    "avx512f": ("avx512bw", "avx512vl", "avx512dq", "avx512cd", "avx512vnni", "avx512bf16", "avx512fp16", "avx512vbmi",
                "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512ifma", "avx512vp2intersect", "evex512"),
    "avx512bw": ("avx512bf16", "avx512fp16", "avx512vbmi", "avx512vbmi2", "avx512bitalg"),
    "avx512vl": ("avx512fp16",),
    "amx-tile": ("amx-int8", "amx-bf16", "amx-fp16", "amx-complex", "amx-tf32", "amx-fp8", "amx-avx512", "amx-movrs",
                 "amx-transpose"),
    "fma": ("avx2", "avx512f"),
}
"""The features that need a feature, and go with it."""

OF_EMISSION = frozenset({"amx-tile", "avx", "avx2", "avx512bw", "avx512dq", "avx512f", "avx512vnni", "avx512vl",
                         "avxvnni", "f16c"})
"""The features that the code written for a kernel depends on; LLVM looks at all of them."""


@dataclass(frozen=True)
class CpuFeatures:
    """What code may use.

    cpu: LLVM's name of the processor. found: the features that it has; used: those that are not taken away; unusable:
    those that cannot be used, with the reasons.
    """

    cpu: str
    found: frozenset[str]
    used: frozenset[str]
    unusable: tuple[tuple[str, str], ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.used

    @property
    def for_llvm(self) -> str:
        """The features as LLVM's target machine takes them: every one that was found, with or without."""
        return ",".join(("+" if name in self.used else "-") + name for name in sorted(self.found))


def cpu_features(environment: Mapping[str, str] = os.environ) -> CpuFeatures:
    """The features of this machine's processor that are used. Error for what COOPMAT_CPU_FEATURES cannot mean."""
    return _features(environment.get(VARIABLE, ""))


@cache
def _features(wish: str) -> CpuFeatures:
    cpu, found, known = _host()
    unusable: list[tuple[str, str]] = []
    lost = {"prefer-256-bit"} & found
    if "amx-tile" in found:
        reason = request_amx()
        if reason:
            amx = {name for name in found if name.startswith("amx-")}
            unusable += [(name, reason) for name in sorted(amx)]
            lost |= amx
    lost |= _taken_away(wish, found, known)
    lost = _with_dependents(lost) & found | lost
    return CpuFeatures(cpu, found, found - lost, tuple(unusable))


@cache
def _host() -> tuple[str, frozenset[str], frozenset[str]]:
    """LLVM's name of the processor, the features that it has, and all that LLVM knows of its kind."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return llvm.get_host_cpu_name(), frozenset(name for name, has in features.items() if has), frozenset(features)


def _taken_away(wish: str, found: frozenset[str], known: frozenset[str]) -> set[str]:
    lost: set[str] = set()
    for item in filter(None, (part.strip() for part in wish.split(","))):
        if item in LEVELS:
            lost |= {name for name in found if name.startswith(LEVELS[item])} if LEVELS[item] else set()
        elif item.startswith("-") and item[1:] in known:
            lost.add(item[1:])
        else:
            near = difflib.get_close_matches(item, [*LEVELS, *(f"-{name}" for name in sorted(known))], 3)
            raise Error(f"{VARIABLE}: expected features to go without, such as '-avx512f', or one of "
                        f"{', '.join(LEVELS)}; found '{item}'" + (f" (is it {' or '.join(near)}?)" if near else ""))
    return lost


def _with_dependents(lost: set[str]) -> set[str]:
    waiting, found = list(lost), set(lost)
    while waiting:
        for name in IMPLIED.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


_ARCH_REQ_XCOMP_PERM = 0x1023
_XTILEDATA = 18
_ARCH_PRCTL = 158  # the number of the system call on x86-64


@cache
def request_amx() -> str | None:
    """Ask Linux for AMX's tiles, once for the process; the reason if they cannot be had."""
    import ctypes
    import sys

    if not sys.platform.startswith("linux"):
        return f"{sys.platform} is not asked for tiles here"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILEDATA) == 0:
        return None
    return f"the system does not give the permission (arch_prctl: {os.strerror(ctypes.get_errno())})"
