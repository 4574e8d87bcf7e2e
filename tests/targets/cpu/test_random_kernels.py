"""Random kernels compute the same bits on the CPU and in the simulator, with each level of the processor's features.

The long form runs more than 2,000 programs; otherwise there are a few, whose levels take turns.
"""

from __future__ import annotations

import pytest

from coopmat.spirv import Module
from coopmat.targets.cpu.features import VARIABLE
from tests.kit.fuzz import kernels_for_targets, random_graphs, targets
from tests.kit.fuzz.targets import Check

LEVELS = ("avx512", "avx2", "baseline")
BATCH, LONG_BATCH = 4, 50
SHORT: dict[Check, range] = {targets.of_source: range(8), targets.of_llvm: range(18, 20), targets.of_graph: range(8)}
LONG: dict[Check, range] = {targets.of_source: range(1000, 2600), targets.of_llvm: range(3000, 3400),
                            targets.of_graph: range(1000, 2000)}


def batches(checks: dict[Check, range], size: int) -> list:
    return [pytest.param(check, seeds[start:start + size], id=f"{check.__name__}-{seeds[start]}")
            for check, seeds in checks.items() for start in range(0, len(seeds), size)]


def run(check: Check, seed: int, level: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(VARIABLE, level)
    return check(seed)


@pytest.mark.parametrize(("check", "seeds"), batches(SHORT, BATCH))
def test_targets_agree(check: Check, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [run(check, seed, LEVELS[seed % len(LEVELS)], monkeypatch) for seed in seeds]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("check", "seeds"), batches(LONG, LONG_BATCH))
def test_targets_agree_long(check: Check, seeds: range, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM may take longer than it may for one program of a batch, on a machine that has other work."""
    found = [text for text in (run(check, seed, level, monkeypatch) for seed in seeds) if text]
    slow = [text for text in found if targets.SLOW in text]
    assert found == slow, "\n".join(found)
    assert len(slow) <= 1, "\n".join(slow)


def test_a_seed_gives_one_kernel() -> None:
    kernel, graph = kernels_for_targets.generate, random_graphs.generate
    assert kernel(7).source == kernel(7).source != kernel(8).source
    assert graph(7).text == graph(7).text != graph(8).text


def test_graphs_are_valid() -> None:
    for seed in SHORT[targets.of_graph]:
        assert not Module.from_bytes(random_graphs.generate(seed).spirv).validate()


def test_what_is_generated() -> None:
    """Every group size, and everything that the generator is for, is among the programs of the long form."""
    kernels = [kernels_for_targets.generate(seed) for seed in LONG[targets.of_source][:200]]
    assert {(kernel.local, kernel.groups) for kernel in kernels} == {
        (local, groups) for _, local, groups in kernels_for_targets.GEOMETRIES}
    text = "".join(kernel.source for kernel in kernels)
    for word in ("break;", "continue;", "return;", "switch", "default:", "do {", "barrier", "work_group_reduce_add",
                 "sub_group_ballot(", "sub_group_shuffle(", "sub_group_non_uniform_scan_exclusive_mul",
                 "sub_group_clustered_reduce", "atomic_max", "coop_mat_mulAdd", "coop_mat_get_coord", "cs[group",
                 "vload3", "struct", "union", "local "):
        assert word in text, word
