"""How long compiling takes, as processor time, so that other processes do not matter; benchmarks/ has the figures."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import coopmat as cm
from tests.kit.clock import assert_takes_at_most
from tests.kit.paths import ROOT

LARGE = ROOT / "benchmarks" / "large_kernel.cl"


def least_time(cache_dir: str | Path, runs: int) -> float:
    """The processor time in seconds of the fastest of several builds."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        program = cm.build(LARGE, (), "sim:intel_gpu_pvc", cache_dir=cache_dir)
        assert len(program.module.functions) == 60  # a module from the cache is read when it is looked at
        times.append(time.process_time() - start)
    assert len(program.kernels) == 31
    assert program.warnings == []
    return min(times)


def test_a_kernel_in_python_compiles_in_300_milliseconds_and_comes_from_the_cache_in_20(tmp_path: Path) -> None:
    """The first build of a process has to import the compiler."""
    numbers = count()
    script = ("import sys, time, coopmat as cm; sys.path.insert(0, sys.argv[1]); from hello_gemm import gemm\n"
              "for _ in range(2):\n"
              "    start = time.process_time()\n"
              "    cm.build(gemm, device='sim:intel_gpu_pvc', cache_dir=sys.argv[2])\n"
              "    print(time.process_time() - start)\n")

    def times() -> list[float]:
        command = [sys.executable, "-c", script, str(LARGE.parent), str(tmp_path / str(next(numbers)))]
        return [float(text) for text in
                subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]

    assert_takes_at_most(0.3, lambda: times()[0])
    assert_takes_at_most(0.02, lambda: times()[1])


def test_a_large_file_compiles_in_two_seconds() -> None:
    assert_takes_at_most(2, lambda: least_time("off", 1))


def test_a_large_file_comes_from_the_cache_in_50_milliseconds(tmp_path: Path) -> None:
    assert_takes_at_most(0.05, lambda: least_time(tmp_path, 6))
