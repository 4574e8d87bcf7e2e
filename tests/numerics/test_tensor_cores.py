"""The models of Hopper's tensor cores against an H200's results, which benchmarks/hardware/tensor_cores.py recorded."""

from __future__ import annotations

import numpy as np
import pytest
import wmma_fragments
from fragments import INSTRUCTIONS, Instruction, places
from inputs import KINDS
from tensor_cores import RECORDED, RECORDED_INSTRUCTIONS, inputs_of, key, model
from wmma import ROWS

from tests.kit.numerics.recorded import recorded_products, recorded_wmma


@pytest.mark.parametrize("found", RECORDED_INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_the_chip_computes_what_the_model_says(found: Instruction) -> None:
    for kind in KINDS:
        chip = recorded_products()[key(found, kind).replace("/", " ")]
        ours = model(found, *inputs_of(INSTRUCTIONS.index(found), kind, RECORDED))
        np.testing.assert_array_equal(ours, chip, kind)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_wmma_computes_what_the_model_says(row) -> None:
    for kind in KINDS:
        chip = recorded_wmma()[wmma_fragments.product_key(row, kind)]
        ours = wmma_fragments.model(row, *wmma_fragments.inputs_of(row, kind, wmma_fragments.RECORDED))
        np.testing.assert_array_equal(ours, chip, kind)


@pytest.mark.parametrize("found", INSTRUCTIONS, ids=lambda found: found.mnemonic)
def test_every_element_is_in_one_place(found: Instruction) -> None:
    shapes = {"a": (found.m, found.k), "b": (found.k, found.n), "accumulator": (found.m, found.n)}
    for use, (rows, columns) in places(found).items():
        height, width = shapes[use]
        count = np.zeros((height, width), int)
        np.add.at(count, np.broadcast_arrays(rows, columns), 1)
        assert (count == 1).all()
