"""The rows of chips."""

from __future__ import annotations

import pytest

from coopmat.devices import ARCHITECTURES
from coopmat.diagnostics import Error
from coopmat.llvm.process import client
from coopmat.targets.cuda.chips import CHIPS, TRIPLE, chip_for, chip_of

KERNEL = "define ptx_kernel void @k() { ret void }"


@pytest.mark.parametrize("name", CHIPS)
def test_llvm_knows_the_chip(name: str) -> None:
    """By its name, in the PTX version that the row says."""
    chip = CHIPS[name]
    text = client.compile(KERNEL, TRIPLE, chip.name, chip.features, 0, "asm").decode()
    assert f".version {chip.ptx // 10}.{chip.ptx % 10}\n" in text
    assert f".target {name}\n" in text
    assert chip.table in ARCHITECTURES


@pytest.mark.parametrize(("capability", "name"), [
    (70, "sm_70"), (75, "sm_75"), (86, "sm_86"), (90, "sm_90a"), (100, "sm_100a"), (120, "sm_120a"), (121, "sm_121a"),
    (88, "sm_87"), (110, "sm_103"), (130, "sm_121")])  # an unknown chip takes the code of the last one before it
def test_the_chip_of_a_capability(capability: int, name: str) -> None:
    assert chip_of(capability).name == name


def test_a_chip_that_is_too_old() -> None:
    with pytest.raises(Error, match=r"compute capability 6\.1 is too old: code is made for 7\.0 and later"):
        chip_of(61)


def test_the_chip_of_an_architecture() -> None:
    for name, description in ARCHITECTURES.items():
        found = chip_for(description)
        assert (found is not None) == name.startswith("nvidia")
        assert found is None or found.table == name
