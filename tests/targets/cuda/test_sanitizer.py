"""Examples under NVIDIA's compute-sanitizer: no access outside of memory, no race, no barrier that only some reach."""

from __future__ import annotations

import os
import sys

import pytest

from tests.kit.oracles import compute_sanitizer
from tests.kit.paths import EXAMPLES, ROOT
from tests.kit.targets.gpu import GPU

pytestmark = [pytest.mark.oracle("cuda"), pytest.mark.oracle("compute-sanitizer")]

SECONDS = 300
SHORT = [("memcheck", "joint_matrix_work_group"), ("racecheck", "joint_matrix_blocked")]
LONG = [(tool, file.stem) for tool in ("memcheck", "racecheck", "synccheck")
        for file in sorted(EXAMPLES.glob("joint_matrix_*.py"))]


@pytest.mark.parametrize(("tool", "example"), [
    one if one in SHORT else pytest.param(*one, marks=pytest.mark.slow) for one in LONG])
def test_examples(tool: str, example: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
                   "COOPMAT_CACHE_DIR": "off"}
    command = [sys.executable, str(EXAMPLES / f"{example}.py"), GPU]
    errors, text = compute_sanitizer.report(tool, command, environment, SECONDS)
    assert errors == 0, text[-4000:]
    assert "right" in text or "does not support" in text, text[-4000:]
