"""The short form of the tests that the CPU shares with the simulator: some variants of each."""

from __future__ import annotations

from collections import defaultdict

import pytest

MOST_VARIANTS = 5
"""How many variants of a shared test, spread over all, the short form runs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    variants: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.path.name == "test_shared.py":
            variants[getattr(item, "originalname", item.name)].append(item)
    for found in variants.values():
        chosen = {place * len(found) // MOST_VARIANTS for place in range(MOST_VARIANTS)}
        for place, item in enumerate(found):
            if place not in chosen:
                item.add_marker(pytest.mark.slow)
