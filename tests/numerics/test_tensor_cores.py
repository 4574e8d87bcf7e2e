"""The models of Hopper's tensor cores against an H200's results, which benchmarks/hardware/tensor_cores.py recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fragments import INSTRUCTIONS, Instruction, places
from inputs import KINDS
from tensor_cores import RECORDED, inputs_of, key, model

FOLDER = Path(__file__).parent.parent.parent / "benchmarks" / "hardware"


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "results" / "nvidia_h200.npz") as results:
        return dict(results)


@pytest.mark.parametrize("found", INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_the_chip_computes_what_the_model_says(found: Instruction, recorded: dict[str, np.ndarray]) -> None:
    for kind in KINDS:
        chip = recorded[key(found, kind).replace("/", " ")]
        ours = model(found, *inputs_of(INSTRUCTIONS.index(found), kind, RECORDED))
        np.testing.assert_array_equal(ours, chip, kind)


@pytest.mark.parametrize("found", INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_every_element_is_in_one_place(found: Instruction) -> None:
    shapes = {"a": (found.m, found.k), "b": (found.k, found.n), "accumulator": (found.m, found.n)}
    for use, (rows, columns) in places(found).items():
        height, width = shapes[use]
        count = np.zeros((height, width), int)
        np.add.at(count, np.broadcast_arrays(rows, columns), 1)
        assert (count == 1).all()
