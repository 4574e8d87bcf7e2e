"""NVIDIA's assembler of PTX: in the wheels nvidia-cuda-nvcc and nvidia-cuda-nvcc-cu12, or on the path."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path


@cache
def executables() -> list[str]:
    """Those that are here, the newest first; none if there is none."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    in_wheels = [str(path) for folder in folders or () for path in sorted(Path(folder).glob("*/bin/ptxas"))]
    on_path = shutil.which("ptxas")
    return [*in_wheels, *([on_path] if on_path else [])]


@cache
def chips(executable: str) -> frozenset[str]:
    """The chips that one makes code for: CUDA 13 has left out those before sm_75."""
    text = subprocess.run([executable, "--help"], capture_output=True, text=True, check=True).stdout
    return frozenset(re.findall(r"'(sm_\d+[af]?)'", text))


def for_chip(name: str) -> str | None:
    """The newest that knows a chip; None if there is none."""
    return next((one for one in executables() if name in chips(one)), None)
