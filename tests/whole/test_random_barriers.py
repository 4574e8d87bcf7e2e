"""Random kernels with barriers, and without some of them: wherever two orders of the CPU differ, the simulator reports
a race, and it never does in kernels that are correct by construction."""

from __future__ import annotations

import pytest

from tests.kit.fuzz.barrier_kernels import generate
from tests.kit.fuzz.race_checks import of_correct, of_removed

SHORT, BATCH = range(20), 5
LONG, LONG_BATCH = range(1000, 2000), 50


def batches(seeds: range, size: int) -> list:
    return [pytest.param(seeds[start:start + size], id=f"{seeds[start]}") for start in range(0, len(seeds), size)]


def check_correct(seeds: range) -> None:
    found = [text for seed in seeds if (text := of_correct(seed))]
    assert not found, "\n".join(found)


def check_removed(seeds: range) -> None:
    """Some of them do differ, or nothing would be shown."""
    found, differing, reported = zip(*map(of_removed, seeds), strict=True)
    assert not any(found), "\n".join(filter(None, found))
    assert 0.4 * len(seeds) <= sum(differing) <= sum(reported)


@pytest.mark.parametrize("seeds", batches(SHORT, BATCH))
def test_correct_kernels(seeds: range) -> None:
    check_correct(seeds)


@pytest.mark.parametrize("seeds", batches(SHORT, BATCH))
def test_kernels_without_some_barriers(seeds: range) -> None:
    check_removed(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(LONG, LONG_BATCH))
def test_correct_kernels_long(seeds: range) -> None:
    check_correct(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(LONG, LONG_BATCH))
def test_kernels_without_some_barriers_long(seeds: range) -> None:
    check_removed(seeds)


def test_what_is_generated() -> None:
    """A seed gives one kernel; all seeds together have everything."""
    assert generate(7).text() == generate(7).text() != generate(8).text()
    kernels = [generate(seed) for seed in range(100)]
    texts = "\n".join(kernel.text() for kernel in kernels)
    for part in ("sub_group_barrier(", "barrier_arrive", "GLOBAL_MEM", "atomic_add", "coop_mat_store", "for (uint n"):
        assert part in texts
    for kernel in kernels:
        removed = kernel.some_barriers()
        assert removed
        assert kernel.text(removed).count("barrier") < kernel.text().count("barrier")
