"""Every planted mistake is found, with its class and its line; no repaired twin is accused."""

from __future__ import annotations

import re

import pytest

import coopmat as cm
from tests.kit.checks.planted import Planted
from tests.targets.simulator.checks.access_kernels import DIVERGENT, MISALIGNED, OUTSIDE
from tests.targets.simulator.checks.deadlock_kernels import DEADLOCKS
from tests.targets.simulator.checks.layout_kernels import LAYOUTS, NO_LAYOUT
from tests.targets.simulator.checks.pairs.tables import KINDS, MARKED, PAIRS
from tests.targets.simulator.checks.race_kernels import RACES
from tests.targets.simulator.checks.undefined_kernels import UNDEFINED
from tests.targets.simulator.checks.uninitialized_kernels import UNINITIALIZED

ALL = [*RACES, *UNINITIALIZED, *LAYOUTS, *UNDEFINED, *OUTSIDE, *MISALIGNED, *DIVERGENT, *DEADLOCKS, *MARKED]


@pytest.mark.parametrize("planted", ALL, ids=str)
def test_mistakes_are_found(planted: Planted) -> None:
    with pytest.raises(planted.error) as error:
        planted.run(planted.bug)
    message = str(error.value)
    for words in planted.words:
        assert re.search(words, message), message
    if planted.error is cm.LaunchError:
        return  # it comes before any line runs
    found = re.search(r"at .*?:(\d+):\d+,", message[message.rindex("(kernel"):])
    assert found is not None, message
    assert int(found[1]) == planted.line, message


@pytest.mark.parametrize("planted", [*ALL, NO_LAYOUT], ids=str)
def test_repaired_twins_are_not_accused(planted: Planted) -> None:
    planted.run(planted.fix)


def test_every_kind_of_mistake_is_planted_in_every_language_that_can_make_it() -> None:
    found: dict[str, set[str]] = {}
    for pair in PAIRS:
        found.setdefault(pair.kind, set()).update(marked.name.partition(":")[0] for marked in pair.both())
    assert found == KINDS
    assert len({(marked.name, marked.source) for marked in MARKED}) == len(MARKED) >= 120
