"""The shaders of NVIDIA's benchmark of cooperative matrices (github.com/jeffbolznv/vk_cooperative_matrix_perf), in a
checkout that the environment variable COOPMAT_MATRIX_PERF names; nothing of them is kept here."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "COOPMAT_MATRIX_PERF"


def folder() -> Path | None:
    """The folder of its shaders; None if there is no checkout."""
    found = Path(os.environ.get(VARIABLE, "")) / "shaders"
    return found if VARIABLE in os.environ and found.is_dir() else None
