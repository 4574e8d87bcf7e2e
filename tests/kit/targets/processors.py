"""Processors that need not be here, for what is decided before anything runs."""

from __future__ import annotations

from coopmat.targets.cpu.features import LEVELS, CpuFeatures

XEON = frozenset({"amx-bf16", "amx-int8", "amx-tile", "avx", "avx2", "avx512bf16", "avx512bw", "avx512dq", "avx512f",
                  "avx512vbmi", "avx512vl", "avx512vnni", "f16c", "fma"})
"""What code for matrices takes of a Xeon with AMX."""


def processor(level: str) -> CpuFeatures:
    """A Xeon with AMX that goes without what a level of COOPMAT_CPU_FEATURES takes away."""
    lost = {name for name in XEON if name.startswith(LEVELS[level])} if LEVELS[level] else set()
    return CpuFeatures("sapphirerapids", XEON, XEON - lost)
