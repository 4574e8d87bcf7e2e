"""The programs that probe tensor cores and tiles: on the models instead of the hardware, and tiles where they are."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import amx
import probe_amx
import probe_tensor_cores
import pytest
import tensor_cores
from fragments import INSTRUCTIONS, Instruction

from coopmat.probing import names
from tests.numerics.test_amx_hardware import ON_HARDWARE


@pytest.mark.parametrize("found", INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_every_instruction_of_tensor_cores_is_probed(found: Instruction) -> None:
    lines, differences = probe_tensor_cores.instruction_report(found, partial(tensor_cores.model, found))
    assert differences == 0
    assert lines[0] == found.mnemonic
    assert len(lines) > 5


@pytest.mark.parametrize("found", amx.INSTRUCTIONS, ids=lambda found: found.name)
def test_every_instruction_of_tiles_is_probed(found: amx.Instruction) -> None:
    lines, differences = probe_amx.instruction_report(found, partial(amx.model, found))
    assert differences == 0
    assert lines[0] == found.name
    assert len(lines) > 5


@pytest.mark.parametrize("found", ON_HARDWARE)
def test_the_processor_is_as_the_model_claims(found: amx.Instruction, tmp_path: Path) -> None:
    lines, differences = probe_amx.instruction_report(found, partial(amx.Tiles(tmp_path).multiply, found))
    assert differences == 0, "\n".join(lines)


def test_a_difference_is_shown() -> None:
    found = next(each for each in INSTRUCTIONS if each.a == "fp16" and each.d == "fp32")
    lines, differences = probe_tensor_cores.instruction_report(
        found, lambda a, b, c: tensor_cores.model(found, a, b, c) ^ (1 << 31))
    assert differences > 5
    assert any(line.startswith(f"  {names.DIFFERENCE}:") and "DIFFERS from the claim: +0" in line for line in lines)
