"""Kernels with other values of what they capture: each value where it is read, and nothing else touched."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import kernel, nd_item, nd_range, ptr

TILE = 3
WEIGHTS = np.array([10, 20, 30, 40], np.int32)


def tiled(i):
    return TILE * i if i < 2 else odd(i)


def odd(i):
    return TILE + i


def ran(chosen: object, count: int = 4) -> list[int]:
    data = np.zeros(count, np.int32)
    cm.Queue("sim:generic").parallel_for(nd_range(count), chosen, data).wait()
    return data.tolist()


def test_globals_and_variables_of_functions_around_in_helpers_too() -> None:
    step, late = 100, 5

    def stepped(value):
        return value + step + late

    @kernel
    def fill(item: nd_item[1], p: ptr[int]):
        i = item.get_global_id(0)
        p[i] = stepped(tiled(i)) + step + WEIGHTS[i]

    step = 7  # the kernel has captured 100
    before = [base + (step + late) + 100 + weight for base, weight in zip((0, 3, 5, 6), WEIGHTS, strict=True)]
    assert ran(fill) == [int(one) for one in before]
    other = fill.with_values({"TILE": 4, "step": 1})
    expected = [base + (1 + late) + 1 + weight for base, weight in zip((0, 4, 6, 7), WEIGHTS, strict=True)]
    assert ran(other) == [int(one) for one in expected]
    assert ran(fill) == [int(one) for one in before]
    assert TILE == 3
    assert other.key() != fill.key()
    assert other.key() == fill.with_values({"step": 1, "TILE": 4}).key()
    with pytest.raises(cm.Error, match=r"'fill' reads no variable 'TILES' from around it; did you mean 'TILE'\?"):
        fill.with_values({"TILES": 1})
    with pytest.raises(cm.Error, match=r"reads no variable 'x' from around it; it reads TILE, late, step"):
        fill.with_values({"x": 1})
