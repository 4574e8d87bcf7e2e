"""NVIDIA's checker of kernels while they run: in the wheel nvidia-cuda-sanitizer-api, in a toolkit, or on the path."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


@cache
def executable() -> str | None:
    """Where it is; None if it is not here."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    in_wheels = [path for folder in folders or () for path in sorted(Path(folder).glob("**/compute-sanitizer"))
                 if os.access(path, os.X_OK) and path.is_file()]
    in_toolkits = shutil.which("compute-sanitizer", path="/usr/local/cuda/bin")
    return str(in_wheels[0]) if in_wheels else shutil.which("compute-sanitizer") or in_toolkits


def report(tool: str, command: Sequence[str], environment: dict[str, str], timeout: float) -> tuple[int, str]:
    """How many errors a tool finds while a command runs (-1: it gave no summary), and what it and the command say."""
    done = subprocess.run([str(executable()), "--tool", tool, *command], capture_output=True, text=True, check=False,
                          env=environment, timeout=timeout)
    text = done.stdout + done.stderr
    numbers = [int(one or other) for one, other in _SUMMARY.findall(text)]
    return (sum(numbers) if numbers else -1), text
