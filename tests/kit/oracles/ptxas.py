"""NVIDIA's assembler of PTX: in the wheel nvidia-cuda-nvcc, or on the path."""

from __future__ import annotations

from functools import cache

from coopmat.targets.cuda.assembler import find_ptxas


@cache
def executable() -> str | None:
    """Where it is; None if it is not here."""
    return find_ptxas()
