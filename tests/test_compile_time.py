"""How long compiling takes, as processor time, so that other processes do not matter; benchmarks/ has the figures."""

from __future__ import annotations

import time
from pathlib import Path

import coopmat as cm

LARGE = Path(__file__).parent.parent / "benchmarks" / "large_kernel.cl"


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


def test_a_large_file_compiles_in_two_seconds() -> None:
    assert least_time("off", 2) < 2


def test_a_large_file_comes_from_the_cache_in_50_milliseconds(tmp_path: Path) -> None:
    assert least_time(tmp_path, 6) < 0.05
