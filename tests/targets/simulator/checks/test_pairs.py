from __future__ import annotations
import re, pytest
from tests.kit.checks.pairs import Marked
from tests.targets.simulator.checks.pairs.tables import PAIRS
from tests.targets.simulator.checks.test_planted import check
MARKED = [m for p in PAIRS for m in p.both()]

@pytest.mark.parametrize("planted", MARKED, ids=str)
def test_bug(planted): check(planted)
@pytest.mark.parametrize("planted", MARKED, ids=str)
def test_twin(planted): planted.run(planted.fix)
