"""do_bench and the timers: work of known duration, what is called how often, what caches and clocks are said to be."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime import timing
from coopmat.tuning.benchmark import measure


def test_the_median_of_work_of_a_known_duration() -> None:
    found = cm.do_bench(lambda: time.sleep(0.004), device="sim:generic", warmup=0, rep=40)
    assert 0.004 <= found < 0.02
    quantiles = cm.do_bench(lambda: time.sleep(0.002), quantiles=(0, 0.5, 1), device="sim:generic", warmup=0, rep=30)
    assert quantiles == sorted(quantiles)
    assert quantiles[0] >= 0.002


def test_what_returns_an_event_is_timed_by_it() -> None:
    def work() -> cm.Event:
        time.sleep(0.002)
        return cm.Event(0, 5_000_000, 7_000_000)

    assert cm.do_bench(work, device="sim:generic", warmup=0, rep=10) == pytest.approx(0.002, rel=1e-12)


def test_repetitions_fill_the_time_and_what_comes_before_is_not_timed() -> None:
    calls = {"before": 0, "action": 0}

    def count(name: str, seconds: float) -> None:
        calls[name] += 1
        time.sleep(seconds)

    timer = timing.simulation_timer("a device")
    times = measure(lambda: count("action", 0.001), timer, warmup=10, rep=20, before=lambda: count("before", 0.003))
    assert calls["before"] == calls["action"]
    assert len(times) == pytest.approx(10, abs=3)  # as many as fit without what comes before, if they are few
    assert max(times) < 0.1
    assert np.median(times) < 0.003
    assert len(measure(lambda: time.sleep(0.01), timer, warmup=0, rep=5)) == 3
    assert len(measure(lambda: time.sleep(0.2), timer, warmup=0, rep=5)) == 1
    pauses = [0.0, 0.02]  # the run that is not counted, and one that the system holds up
    found = measure(lambda: time.sleep(pauses.pop(0) if pauses else 0.0005), timer, warmup=0, rep=10)
    assert len(found) > 3
    assert np.median(found) < 0.01


def test_the_buffer_is_larger_than_the_cache_and_is_written_before_each_call(tmp_path: Path) -> None:
    for index, text in enumerate(("48K", "2M\n", "1024K", "?")):
        (tmp_path / f"cache/index{index}").mkdir(parents=True)
        (tmp_path / f"cache/index{index}/size").write_text(text)
    assert timing.last_level_cache(tmp_path) == 2 << 20
    assert timing.last_level_cache(tmp_path / "none") == timing.UNKNOWN_CACHE
    timer = timing.HostTimer(4096, "")
    seen = []

    def look() -> None:
        seen.append(int(timer._buffer.sum()))
        timer._buffer.fill(0)

    timer.times(look, 3)
    timer.times(look, 1, flush=False)
    assert seen == [4096, 4096, 4096, 0]


def test_whether_the_clock_is_locked(tmp_path: Path) -> None:
    folder = tmp_path / "cpu0"
    (folder / "cpufreq").mkdir(parents=True)
    assert "does not tell" in timing.clock_note(folder)
    for name, text in (("min_freq", "800000"), ("max_freq", "3500000"), ("governor", "powersave")):
        (folder / f"cpufreq/scaling_{name}").write_text(f"{text}\n")
    assert "not locked (0.80 to 3.50 GHz, governor 'powersave')" in timing.clock_note(folder)
    (folder / "cpufreq/scaling_min_freq").write_text("3500000")
    assert timing.clock_note(folder) == "the processor's clock is locked at 3.50 GHz"
    assert "say nothing of the device's speed" in cm.device("sim:intel_gpu_pvc").timer().note
    assert "cores" in cm.device("cpu").timer().hardware


@pytest.mark.parametrize(("arguments", "message"), [
    ({"fn": 5}, "takes a function that submits work"),
    ({"quantiles": (0.5, 2)}, "numbers from 0 to 1"),
    ({"quantiles": ()}, "numbers from 0 to 1"),
    ({"rep": 0}, "rep is a time in milliseconds, more than 0"),
    ({"warmup": float("nan")}, "warmup is a time in milliseconds, 0 or more"),
    ({"device": "cpu:7"}, "no device 'cpu:7'"),
])
def test_options_that_make_no_sense(arguments: dict, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        cm.do_bench(**{"fn": lambda: None, **arguments})
