"""NVIDIA's assembler of PTX: in the wheel nvidia-cuda-nvcc, or on the path."""

from __future__ import annotations

import re
import subprocess
from functools import cache

from coopmat.targets.cuda.assembler import find_ptxas


@cache
def executable() -> str | None:
    """Where it is; None if it is not here."""
    return find_ptxas()


@cache
def chips() -> frozenset[str]:
    """The chips that it makes code for: CUDA 13 has left out those before sm_75."""
    text = subprocess.run([str(executable()), "--help"], capture_output=True, text=True, check=True).stdout
    return frozenset(re.findall(r"'(sm_\d+[af]?)'", text))
