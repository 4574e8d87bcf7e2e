"""Random kernels compute the same bits on lavapipe and in the simulator: graphs of blocks with operations of
sub-groups, group functions where work-items part, barriers, generic pointers, and whatever the generator of kernels for
all targets makes.

The long form runs more than 300 of them; otherwise there are some twenty.
"""

from __future__ import annotations

import pytest

from tests.kit.fuzz.vulkan_child import MAKERS, disagreements

SHORT = {"graph": (500, 8), "lock_step": (500, 5), "barriers": (500, 4), "source": (500, 3), "generic": (0, 8)}
LONG = {"graph": (1000, 120), "lock_step": (1000, 80), "barriers": (1000, 40), "generic": (0, 8), "source": (1000, 100)}


FOUND = {"source": (2104, 2273)}
"""Seeds that have shown something: sub-groups that met other numbers of barriers were lost."""


def check(maker: str, first: int, number: int) -> None:
    found = list(disagreements(maker, first, number))
    assert not found, "\n".join(found)


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("maker", SHORT)
def test_lavapipe_agrees(maker: str) -> None:
    check(maker, *SHORT[maker])


@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize(("maker", "seed"), [(maker, seed) for maker, seeds in FOUND.items() for seed in seeds])
def test_what_was_found_is_mended(maker: str, seed: int) -> None:
    check(maker, seed, 1)


@pytest.mark.slow
@pytest.mark.oracle("lavapipe")
@pytest.mark.parametrize("maker", MAKERS)
def test_lavapipe_agrees_long(maker: str) -> None:
    check(maker, *LONG[maker])
