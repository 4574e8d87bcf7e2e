"""Random kernels compute the same after LLVM's optimiser, at each level, in the simulator and on the CPU; matrices in
memory also what a model in numpy computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kit.fuzz import modelled_matrices, targets

BATCH, LONG_BATCH = 2, 25
Check = Callable[[int], str]
SHORT: dict[Check, range] = {targets.of_levels: range(2600, 2604), targets.of_model: range(8)}
LONG: dict[Check, range] = {targets.of_levels: range(4000, 4800), targets.of_model: range(1000, 2600)}


def batches(checks: dict[Check, range], size: int) -> list:
    return [pytest.param(check, seeds[start:start + size], id=f"{check.__name__}-{seeds[start]}")
            for check, seeds in checks.items() for start in range(0, len(seeds), size)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("check", "seeds"), batches(SHORT, BATCH))
def test_levels_agree(check: Check, seeds: range) -> None:
    found = [text for seed in seeds if (text := check(seed))]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize(("check", "seeds"), batches(LONG, LONG_BATCH))
def test_levels_agree_long(check: Check, seeds: range) -> None:
    """LLVM's back end cannot make SPIR-V of all that its optimiser makes: few kernels are optimised less."""
    found = [text for seed in seeds if (text := check(seed))]
    lowered = [text for text in found if "LLVM cannot make SPIR-V" in text and ";" not in text.partition("; it is")[2]]
    assert found == lowered, "\n".join(found)
    assert len(lowered) <= 1, "\n".join(lowered)


def test_a_seed_gives_one_kernel() -> None:
    kernel = modelled_matrices.generate
    assert kernel(7).source == kernel(7).source != kernel(8).source


def test_what_is_generated() -> None:
    """Everything that the generator is for is among the programs of the long form."""
    text = "".join(modelled_matrices.generate(seed).source for seed in LONG[targets.of_model][:60])
    for word in ("tile v0[2][3][2]", "inner v0[2][2]", "outer v0[2]", "break;", "continue;", "switch", "swap(&",
                 "turn(", "bump(&", "made(", "middle(", "pick(", "coop_mat_mulAdd", "(uint)i[", "[e] ^=", "[x][y] =",
                 "? v1", "[(own *", "tile *p = (", "bump(("):
        assert word in text, word
