"""Sweeps on processes of this machine: outcomes as they come, errors, processes that end, and records."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.machines import places
from coopmat.machines.places import Died
from coopmat.machines.sweeps import _batches, _Job

pytestmark = pytest.mark.oracle("loky")


def square(x: int) -> int:
    if x == 13:
        raise ValueError("an unlucky number")
    return x * x


def launched(seed: int) -> int:
    data = np.arange(64, dtype=np.int32)
    program = cm.build("kernel void k(global int *o, int n) { o[get_global_id(0)] += n; }")
    cm.Queue(cm.device("sim:generic")).enqueue(program.kernel("k"), 64, 16, data, seed).wait()
    return int(data.sum())


def deadly(x: int) -> int:
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_outcomes_and_errors() -> None:
    outcomes = {one.configuration: one for one in cm.sweep(square, range(40), processes=2)}
    assert {x: one.value for x, one in outcomes.items() if one.error is None} == {
        x: x * x for x in range(40) if x != 13}
    assert outcomes[13].error == "ValueError: an unlucky number"


def test_launches_in_other_processes() -> None:
    found = {one.configuration: one.value for one in cm.sweep(launched, range(20), processes=2)}
    assert found == {seed: 64 * 63 // 2 + 64 * seed for seed in range(20)}


def test_launches_of_a_kernel(tmp_path: Path) -> None:
    source = "kernel void scale(global float *o, global const float *x, float n) { o[get_global_id(0)] = " \
             "x[get_global_id(0)] * n; }"
    kernel, x = cm.build(source).kernel("scale"), np.arange(64, dtype=np.float32)
    launches = [{"device": name, "global_size": 64, "arguments": [np.zeros(64, np.float32), x, factor]}
                for name in ("cpu", "sim:generic") for factor in (2.0, 3.0)]
    for _ in range(2):
        outcomes = list(cm.sweep(kernel, launches, record=tmp_path / "record", progress=False, processes=1))
        assert len(outcomes) == len(launches)
        for one in outcomes:
            np.testing.assert_array_equal(one.value[0], x * one.configuration["arguments"][2])
    assert all(one.is_recorded for one in outcomes)
    assert not launches[0]["arguments"][0].any()
    with pytest.raises(cm.Error, match=r"a dict with 'global_size' and 'arguments', .*found 3"):
        list(cm.sweep(kernel, [3]))


def test_a_configuration_that_ends_processes_is_given_up() -> None:
    outcomes = {one.configuration: one for one in cm.sweep(deadly, range(12), processes=2)}
    assert "in quarantine: it has ended 3 processes" in (outcomes[5].error or "")
    assert {x: one.value for x, one in outcomes.items() if x != 5} == {x: x for x in range(12) if x != 5}


def test_a_sweep_that_is_left_ends_what_runs() -> None:
    start = time.monotonic()
    assert next(cm.sweep(time.sleep, [0, *[200 + x for x in range(5)]], processes=2)).configuration == 0
    assert len(list(cm.sweep(abs, range(4), processes=2))) == 4
    assert time.monotonic() - start < 100


def test_a_record_goes_on(tmp_path: Path) -> None:
    record = tmp_path / "record.sqlite"
    first = cm.sweep(square, range(10, 20), record=record, processes=2)
    next(first)
    first.close()  # interrupted
    second = list(cm.sweep(square, range(10, 20), record=record, processes=2))
    assert len(second) == 10
    assert any(one.is_recorded for one in second)
    third = list(cm.sweep(square, range(10, 20), record=record, processes=2))
    assert [one.configuration for one in third if not one.is_recorded] == [13]  # errors are tried again
    assert sqlite3.connect(record).execute("SELECT count(*) FROM outcomes").fetchone() == (10,)


def test_what_cannot_be_sent(tmp_path: Path) -> None:
    with pytest.raises(cm.Error, match="cannot be sent to another process"):
        cm.sweep(square, [open(os.devnull)])  # noqa: SIM115
    with pytest.raises(cm.Error, match="runs on 'local' or on a farm"):
        cm.sweep(square, [1], on=3)  # type: ignore[arg-type]
    broken = tmp_path / "broken"
    broken.write_text("no database, and long enough to be seen as none" * 30)
    with pytest.raises(cm.Error, match="cannot be a sweep's record"):
        cm.sweep(square, [1], record=broken)


class Chance:
    """Processes that end by a fixed chance, and always at one configuration."""

    processes = 4

    def __init__(self, seed: int, deadly: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.deadly = deadly

    def submit(self, function: places.Function, configurations: list[int]) -> object:
        dies = self.deadly in configurations or self.rng.random() < 0.3
        return None if dies and not (len(configurations) == 1 and self.deadly not in configurations
                                     and self.rng.random() < 0.7) else tuple(configurations)

    def completed(self, futures: list[object]) -> list[object]:
        return futures[:int(self.rng.integers(1, len(futures) + 1))]

    def result(self, future: object) -> list[places.Result]:
        if future is None:
            raise Died("by chance")
        return [(one, None, 0.0) for one in future]  # type: ignore[attr-defined]

    def give_up(self, futures: list[object]) -> None:
        assert not futures


@pytest.mark.parametrize("seed", range(20))
def test_no_outcome_is_lost_or_told_twice(seed: int) -> None:
    """Futures that are alike would be one in a dictionary: each batch's is its own."""

    class Own(Chance):
        def submit(self, function: places.Function, configurations: list[int]) -> object:
            return [super().submit(function, configurations)].__iter__()

        def result(self, future: object) -> list[places.Result]:
            return super().result(next(future))  # type: ignore[call-overload]

    jobs = [_Job(str(x), x) for x in range(50)]
    found = [outcome for batch in _batches(square, jobs, Own(seed, 7)) for _, outcome in batch]
    assert sorted(one.configuration for one in found) == list(range(50))
    assert found[[one.configuration for one in found].index(7)].error


def test_overhead_of_a_local_launch() -> None:
    list(cm.sweep(abs, range(64), processes=2))  # starts the processes
    start = time.perf_counter()
    assert len(list(cm.sweep(abs, range(5000), processes=2))) == 5000
    assert (time.perf_counter() - start) / 5000 < 3e-3  # 0.05 ms on a quiet machine
