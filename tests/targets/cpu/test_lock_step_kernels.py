"""Group functions in random divergent code give on the CPU and in the simulator what the source means."""

from __future__ import annotations

import pytest

import coopmat as cm
from coopmat.targets.cpu.features import VARIABLE
from tests.kit.fuzz.lock_step_kernels import generate

LEVELS = ("avx512", "avx2", "baseline")
BATCH = 50


def differing(seed: int, device: str) -> str:
    """What a kernel computes otherwise than its source says."""
    kernel = generate(seed)
    out, values = kernel.arguments()
    program = cm.build(kernel.source, device="cpu" if device == "cpu" else None)
    cm.Queue(device).enqueue(program.kernel("k"), *kernel.sizes, out, values).wait()
    wrong = int((out != kernel.expected()).sum())
    return f"seed {seed}, {device}: {wrong} of {out.size}" if wrong else ""


def check(seeds: range, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for seed in seeds:
        monkeypatch.setenv(VARIABLE, LEVELS[seed % len(LEVELS)])
        found.append(differing(seed, device))
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_what_the_source_means(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(4), device, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
@pytest.mark.parametrize("start", range(1000, 1500, BATCH))
def test_what_the_source_means_long(start: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(range(start, start + BATCH), device, monkeypatch)


def test_what_is_generated() -> None:
    text = "".join(generate(seed).source for seed in range(1000, 1050))
    for word in ("break;", "continue;", "return;", "switch", "default:", "do {", "for (uint i = 0;;)", "f0(x);", "||"):
        assert word in text, word
