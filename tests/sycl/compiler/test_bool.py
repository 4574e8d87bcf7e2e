"""bool as the type of a kernel's parameters, of memory, of captured arrays and of a helper's parameters."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import boolean, int32, kernel, nd_item, nd_range, ptr, queue

captured = np.array([True, False, False, True])


def flipped(x: boolean):
    return not x


@kernel
def choose(item: nd_item[1], flag: bool, source: ptr[bool], target: ptr[boolean], out: ptr[int32]):
    i = item.get_global_id(0)
    small: bool = i < 2
    target[i] = flipped(source[i]) and flag
    out[i] = (100 if flag else 0) + 10 * small + captured[i]


@pytest.mark.parametrize("flag", [True, False, np.bool_(True), 0, 7])
def test_values(flag) -> None:
    source, target, out = np.array([True, False, True, False]), np.zeros(4, np.bool_), np.zeros(4, np.int32)
    queue("sim:generic").parallel_for(nd_range(4, 4), choose, flag, source, target, out).wait()
    assert target.tolist() == [bool(flag) and not x for x in source]
    assert out.tolist() == [100 * bool(flag) + 10 * (i < 2) + captured[i] for i in range(4)]


def test_module_is_valid() -> None:
    """SPIR-V's bool is in no memory and no parameter of a kernel."""
    assert cm.build(choose).module.validate() == []


def test_arrays_of_other_types_are_refused() -> None:
    wrong = np.zeros(4, np.int16)
    with pytest.raises(cm.LaunchError, match="expected an array of bool, int8 or uint8, found int16"):
        queue("sim:generic").parallel_for(nd_range(4, 4), choose, True, wrong, captured, wrong)


def test_arrays_of_bool_do_not_bind_to_pointers_to_int8() -> None:
    char = cm.build("kernel void k(global char *x) { x[0] = 2; }").kernel("k")
    with pytest.raises(cm.LaunchError, match="expected an array of int8 or uint8, found bool"):
        cm.Queue("sim:generic").enqueue(char, 1, 1, np.zeros(1, np.bool_))
