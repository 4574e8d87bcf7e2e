"""Running one kernel twice: as native code that clang makes for this machine, and in the simulator."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm

Run = Callable[[str, list[np.ndarray]], None]


def needed(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs clang, and a Linux for the library that clang's code is put into."""
    skip = pytest.mark.skipif(sys.platform != "linux", reason="builds a shared library for Linux")
    return pytest.mark.oracle("clang")(skip(test))


def run_natively(folder: Path) -> Run:
    """What calls a source's kernel ``k`` with arrays, compiled without optimisation and with wrapping arithmetic."""
    def run(source: str, arrays: list[np.ndarray]) -> None:
        (folder / "k.cl").write_text(source, encoding="utf-8")
        zig = [sys.executable, "-m", "ziglang"]
        target = ["-target", f"{platform.machine()}-linux-gnu"]
        options = ["-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", "-O0", "-fwrapv", "-w", "-fPIC"]
        for command in (["clang", *target, *options, "-c", "k.cl", "-o", "k.o"],
                        ["cc", *target, "-shared", "k.o", "-o", "k.so"]):
            subprocess.run([*zig, *command], cwd=folder, check=True, timeout=120)
        ctypes.CDLL(str(folder / "k.so")).k(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    return run


def run_simulated(source: str | Path, arrays: list[np.ndarray]) -> None:
    """The same in the simulator, by one work-item."""
    device = cm.device("sim:generic")
    kernel = cm.build(source, device=device).kernel("k")
    cm.Queue(device).enqueue(kernel, (1,), (1,), *arrays).wait()
