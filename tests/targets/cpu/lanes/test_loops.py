"""Loops that start at a work-item's own number compute on the CPU, and in the simulator, what they do in Python."""

from __future__ import annotations

import pytest

import coopmat as cm
from coopmat.targets.cpu.features import VARIABLE
from tests.kit.fuzz.lane_loops import generate

LEVELS = ("avx512", "avx2", "baseline")
BATCH = 50


def differing(seed: int, device: cm.Device) -> str:
    """What a kernel computes otherwise than it means."""
    kernel = generate(seed)
    arguments = kernel.arguments()
    program = cm.build(kernel.source, "", device)
    cm.Queue(device).enqueue(program.kernel("k"), kernel.global_size, kernel.local_size, *arguments).wait()
    wrong = sum(int((found != wanted).sum()) for found, wanted in zip(arguments, kernel.expected(), strict=False))
    return f"seed {seed}: {wrong} numbers" if wrong else ""


def check(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for seed in seeds:
        monkeypatch.setenv(VARIABLE, LEVELS[seed % len(LEVELS)])
        found.append(differing(seed, cm.device("cpu", options=cm.CpuOptions(bounds=seed % 4 == 3))))
    assert not any(found), "\n".join(filter(None, found))


def test_random_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(12), monkeypatch)


@pytest.mark.parametrize("seed", range(4))
def test_random_loops_in_the_simulator(seed: int) -> None:
    assert differing(seed, cm.device("sim:generic")) == ""


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 2000, BATCH))
def test_random_loops_long(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(start, start + BATCH), monkeypatch)
