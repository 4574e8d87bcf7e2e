"""The program that probes an H200, on the models instead of the chip."""

from __future__ import annotations

import pytest
from fragments import INSTRUCTIONS, Instruction
from probe_tensor_cores import ARCHITECTURE, report
from tensor_cores import model

from coopmat.probing import names


@pytest.mark.parametrize("found", INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_every_instruction_is_probed(found: Instruction) -> None:
    lines, differences = report(found, lambda a, b, c: model(found, a, b, c))
    assert differences == 0
    assert lines[0] == found.mnemonic
    assert len(lines) > 5


def test_a_difference_is_shown() -> None:
    found = next(each for each in INSTRUCTIONS if each.a == "fp16" and each.d == "fp32")
    lines, differences = report(found, lambda a, b, c: model(found, a, b, c) ^ (1 << 31))
    assert differences > 5
    assert any(line.startswith(f"  {names.DIFFERENCE}:") and "DIFFERS from the claim: +0" in line for line in lines)
    assert ARCHITECTURE == "nvidia_gpu_sm_90"
