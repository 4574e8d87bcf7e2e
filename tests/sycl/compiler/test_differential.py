"""Random kernels compute what clang's code for the same program in OpenCL C computes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import nd_range
from tests.kit.oracles.native import needed, run_natively
from tests.kit.sycl.programs import SLOTS, write

CASES = 6


def inputs(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    count = CASES * SLOTS
    integers = rng.integers(-2**62, 2**62, count) >> rng.integers(0, 62, count)
    return [integers, np.round(rng.normal(0, 50, count), 2), np.zeros(count, np.int64), np.zeros(count)]


def run_in_python(folder: Path, text: str, arrays: list[np.ndarray]) -> None:
    path = folder / "random_kernel.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("random_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cm.Queue("sim:generic").parallel_for(nd_range((1,), (1,)), module.k, *arrays).wait()


def compare(seed: int, folder: Path) -> None:
    python, c = write(seed, CASES)
    ours, theirs = inputs(seed), inputs(seed)
    run_in_python(folder, python, ours)
    run_natively(folder)(c, theirs)
    for mine, native in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, native, f"seed {seed}")


@needed
@pytest.mark.parametrize("seed", range(12))
def test_programs(seed: int, tmp_path: Path) -> None:
    compare(seed, tmp_path)


@needed
@pytest.mark.slow
def test_many_programs(tmp_path: Path) -> None:
    for seed in range(100, 1100):
        compare(seed, tmp_path)
