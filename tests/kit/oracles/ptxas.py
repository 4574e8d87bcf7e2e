"""NVIDIA's assembler of PTX: in the wheel nvidia-cuda-nvcc, or on the path."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path


@cache
def executable() -> str | None:
    """Where it is; None if it is not here."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    in_wheels = [path for folder in folders or () for path in sorted(Path(folder).glob("*/bin/ptxas"))]
    return str(in_wheels[0]) if in_wheels else shutil.which("ptxas")


@cache
def chips() -> frozenset[str]:
    """The chips that it makes code for: CUDA 13 has left out those before sm_75."""
    text = subprocess.run([str(executable()), "--help"], capture_output=True, text=True, check=True).stdout
    return frozenset(re.findall(r"'(sm_\d+[af]?)'", text))
