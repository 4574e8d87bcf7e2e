"""NVIDIA's assembler of PTX: in the wheel nvidia-cuda-nvcc, and on the path."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache

from coopmat.targets.cuda.assembler import find_ptxas


@cache
def executables() -> list[str]:
    """Those that are here, the one that coopmat takes first; none if there is none."""
    return [*dict.fromkeys(filter(None, (find_ptxas(), shutil.which("ptxas"))))]


@cache
def chips(executable: str) -> frozenset[str]:
    """The chips that one makes code for: CUDA 13 has left out those before sm_75."""
    text = subprocess.run([executable, "--help"], capture_output=True, text=True, check=True).stdout
    return frozenset(re.findall(r"'(sm_\d+[af]?)'", text))


def for_chip(name: str) -> str | None:
    """The first that knows a chip; None if there is none."""
    return next((one for one in executables() if name in chips(one)), None)
