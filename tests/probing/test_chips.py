"""The programs that probe an H200 and a processor with AMX, on the models instead of the chip; and on AMX itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import amx
import probe_amx
import probe_tensor_cores
import pytest
import tensor_cores
import wmma_fragments
from fragments import INSTRUCTIONS, Instruction
from probes import report

from coopmat.probing import names
from tests.numerics.test_amx_hardware import ON_HARDWARE


@pytest.mark.parametrize("found", [found for found in INSTRUCTIONS if found.n == 8], ids=lambda found: found.mnemonic)
def test_instructions_of_tensor_cores(found: Instruction) -> None:
    lines, differences = report(probe_tensor_cores.of_instruction(found), partial(tensor_cores.model, found))
    assert differences == 0
    assert lines[0] == found.mnemonic
    assert len(lines) > 5


@pytest.mark.parametrize("saturating", [False, True])
@pytest.mark.parametrize("row", probe_tensor_cores.PROBED_ROWS, ids=str)
def test_rows_of_wmma(row, saturating: bool) -> None:
    if saturating and row.dtype != "sint32":
        return
    lines, differences = report(probe_tensor_cores.of_row(row, saturating=saturating),
                                partial(wmma_fragments.model, row, saturating=saturating))
    assert differences == 0
    assert lines[0].startswith(f"wmma {row}")


@pytest.mark.parametrize("found", amx.INSTRUCTIONS, ids=lambda found: found.name)
def test_instructions_of_amx(found: amx.Instruction) -> None:
    lines, differences = report(probe_amx.of_instruction(found), partial(amx.model, found))
    assert differences == 0
    assert lines[0] == found.name


@pytest.mark.parametrize("found", ON_HARDWARE)
def test_amx_itself(tmp_path: Path, found: amx.Instruction) -> None:
    lines, differences = report(probe_amx.of_instruction(found), partial(amx.Tiles(tmp_path).multiply, found))
    assert differences == 0, "\n".join(lines)


def test_a_difference_is_shown() -> None:
    found = next(each for each in INSTRUCTIONS if each.a == "fp16" and each.d == "fp32")
    lines, differences = report(probe_tensor_cores.of_instruction(found),
                                lambda a, b, c: tensor_cores.model(found, a, b, c) ^ (1 << 31))
    assert differences > 5
    assert any(line.startswith(f"  {names.DIFFERENCE}:") and "DIFFERS from the claim: +0" in line for line in lines)
