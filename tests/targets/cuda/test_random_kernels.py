"""Random kernels compute the same bits on an NVIDIA GPU and in the simulator.

The long form has more than 1,000 programs. Kernels with control flow graphs at random take part where it does not
matter which work-items meet, which a GPU does not say.
"""

from __future__ import annotations

import pytest

from tests.kit.fuzz import kernels_for_targets, random_graphs, targets
from tests.kit.fuzz.targets import Check
from tests.kit.targets.gpu import GPU

pytestmark = pytest.mark.oracle("cuda")

BATCH, LONG_BATCH = 6, 20
SHORT: dict[Check, range] = {targets.of_source: range(30), targets.of_llvm: range(18, 24), targets.of_graph: range(18)}
LONG: dict[Check, range] = {targets.of_source: range(1000, 1700), targets.of_llvm: range(3000, 3100),
                            targets.of_graph: range(1000, 1400)}


MEETING = frozenset({1165, 1235})
"""Sources whose results tell which work-items meet in a loop that is all of another loop's body: LLVM makes one of
them."""


def batches(checks: dict[Check, range], size: int) -> list:
    return [pytest.param(check, seeds[start:start + size], id=f"{check.__name__}-{seeds[start]}")
            for check, seeds in checks.items() for start in range(0, len(seeds), size)]


def is_for_gpus(check: Check, seed: int) -> bool:
    """Whether a GPU has the sub-groups, and the program says what it computes."""
    if check is targets.of_graph:
        graph = random_graphs.generate(seed)
        return "OpGroup" not in graph.text and "SubgroupSize 64" not in graph.text
    if check is targets.of_source and seed in MEETING:
        return False
    return kernels_for_targets.generate(seed).source.find("intel_reqd_sub_group_size(64)") < 0


def disagreements(check: Check, seeds: range) -> list[str]:
    found = [check(seed, GPU) for seed in seeds if is_for_gpus(check, seed)]
    return [text for text in found if text and targets.SLOW not in text]


@pytest.mark.parametrize(("check", "seeds"), batches(SHORT, BATCH))
def test_targets_agree(check: Check, seeds: range) -> None:
    found = disagreements(check, seeds)
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize(("check", "seeds"), batches(LONG, LONG_BATCH))
def test_targets_agree_long(check: Check, seeds: range) -> None:
    found = disagreements(check, seeds)
    assert not found, "\n".join(found)
