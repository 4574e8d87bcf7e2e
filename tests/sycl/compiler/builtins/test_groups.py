"""Group functions on simulated devices, against Python over the members of each group."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.sycl import (
    access,
    all_of_group,
    any_of_group,
    bit_and,
    bit_or,
    bit_xor,
    exclusive_scan_over_group,
    float32,
    group,
    group_barrier,
    group_broadcast,
    inclusive_scan_over_group,
    int32,
    kernel,
    logical_and,
    logical_or,
    maximum,
    memory_scope,
    minimum,
    multiplies,
    nd_item,
    none_of_group,
    permute_group_by_xor,
    plus,
    reduce_over_group,
    select_from_group,
    shift_group_left,
    shift_group_right,
    sub_group,
)
from tests.kit.sycl.launches import DEVICES, launch, validate
from tests.kit.sycl.refused import Case, check, read_cases

SIZES = {"intel_gpu_pvc": (16, 32), "nvidia_gpu_sm_80": (32,), "amd_gpu_gfx90a": (64,), "intel_cpu_spr": (16, 8),
         "generic": (4, 16)}
ON_DEVICES = [(device, size) for device in DEVICES for size in SIZES[device]]
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = {"half": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
WORK_GROUP = 64


def wrap(value: int, dtype: np.dtype) -> int:
    """An integer as the type holds it."""
    info = np.iinfo(dtype)
    return (value - int(info.min)) % (1 << info.bits) + int(info.min)


def combining_kernel(x, out, operators, inits, of_work_group: bool, sub_group_size: int | None = None):
    """Each operator's reduction and scans, with and without an initial value."""
    size = len(x)

    @kernel(sub_group_size=sub_group_size)
    def combined(item: nd_item[1]):
        i = item.get_global_id(0)
        g = item.get_group() if of_work_group else item.get_sub_group()
        for row, (op, init) in enumerate(zip(operators, inits)):  # noqa: B905
            first = 6 * size * row + i
            out[first] = reduce_over_group(g, x[i], op)
            out[first + size] = reduce_over_group(g, x[i], init, op)
            out[first + 2 * size] = exclusive_scan_over_group(g, x[i], op)
            out[first + 3 * size] = exclusive_scan_over_group(g, x[i], init, op)
            out[first + 4 * size] = inclusive_scan_over_group(g, x[i], op)
            out[first + 5 * size] = inclusive_scan_over_group(g, x[i], op, init)
    return combined


def expected_of(members: list, compute, identity, init) -> list[list]:
    """The six rows of one group's results, exactly."""
    scan = list(accumulate(members, compute))
    before = [identity, *scan[:-1]]
    total = [scan[-1]] * len(members)
    return [total, [compute(init, v) for v in total], before, [compute(init, v) for v in before], scan,
            [compute(v, init) for v in scan]]


# op → (on Python's integers, identity in the type)
COMBINE = {
    plus: (lambda a, b: a + b, lambda info: 0), multiplies: (lambda a, b: a * b, lambda info: 1),
    minimum: (min, lambda info: int(info.max)), maximum: (max, lambda info: int(info.min)),
    bit_and: (lambda a, b: a & b, lambda info: -1), bit_or: (lambda a, b: a | b, lambda info: 0),
    bit_xor: (lambda a, b: a ^ b, lambda info: 0),
}


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
@pytest.mark.parametrize("element", INTEGERS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_reductions_and_scans_of_integers(element: str, of_work_group: bool, data: st.DataObject) -> None:
    info = np.iinfo(element)
    number = st.one_of(st.sampled_from([int(info.min), int(info.max), 0, 1]),
                       st.integers(int(info.min), int(info.max)))
    x = np.array(data.draw(st.lists(number, min_size=WORK_GROUP, max_size=WORK_GROUP)), element)
    init = x.dtype.type(data.draw(number))
    check_integers(x, init, of_work_group, 16, "generic")


def check_integers(x: np.ndarray, init: np.generic, of_work_group: bool, sub_group_size: int, device: str) -> None:
    operators = list(COMBINE)
    out = np.zeros((len(operators), 6, len(x)), x.dtype)
    found = combining_kernel(x, out, operators, [init] * len(operators), of_work_group, sub_group_size)
    launch(found, len(x), WORK_GROUP, device=device)
    size = WORK_GROUP if of_work_group else sub_group_size
    for op, rows in zip(operators, out, strict=True):
        compute, identity = COMBINE[op]
        for start in range(0, len(x), size):
            members = [int(v) for v in x[start:start + size]]
            expected = expected_of(members, compute, identity(np.iinfo(x.dtype)), int(init))
            assert rows[:, start:start + size].tolist() == [
                [wrap(v, x.dtype) for v in row] for row in expected], op


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
@pytest.mark.parametrize(("device", "size"), ON_DEVICES)
def test_reductions_and_scans_on_devices(device: str, size: int, of_work_group: bool) -> None:
    x = np.random.default_rng(3).integers(-2**31, 2**31, 2 * WORK_GROUP).astype(np.int32)
    check_integers(x, np.int32(7), of_work_group, size, device)


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
@pytest.mark.parametrize("element", FLOATS)
def test_reductions_and_scans_of_floats(element: str, of_work_group: bool) -> None:
    """Small multiples of 1/4, whose sums are exact in every type and order."""
    dtype = FLOATS[element]
    x = (np.random.default_rng(4).integers(-4, 5, WORK_GROUP) / 4).astype(dtype)
    operators = [plus, minimum, maximum]
    out = np.zeros((3, 6, WORK_GROUP), dtype)
    launch(combining_kernel(x, out, operators, [0.5] * 3, of_work_group, 16), WORK_GROUP, WORK_GROUP)
    size = WORK_GROUP if of_work_group else 16
    references = [(lambda a, b: a + b, 0.0), (min, np.inf), (max, -np.inf)]
    for rows, (compute, identity) in zip(out, references, strict=True):
        for start in range(0, WORK_GROUP, size):
            expected = expected_of([float(v) for v in x[start:start + size]], compute, identity, 0.5)
            assert rows[:, start:start + size].astype(float).tolist() == expected


@pytest.mark.parametrize("of_work_group", [False, True], ids=["sub_group", "group"])
def test_logical_operators(of_work_group: bool) -> None:
    x = np.ones(WORK_GROUP, np.int32)
    x[[3, 40]] = 0
    operators = [logical_and, logical_or, logical_and]
    out = np.zeros((3, 6, WORK_GROUP), np.int32)
    launch(combining_kernel(x, out, operators, [True, False, 0], of_work_group, 16), WORK_GROUP, WORK_GROUP)
    size = WORK_GROUP if of_work_group else 16
    both, either = (lambda a, b: a and b), (lambda a, b: a or b)
    for rows, (compute, identity, init) in zip(
            out, [(both, True, True), (either, False, False), (both, True, False)], strict=True):
        for start in range(0, WORK_GROUP, size):
            members = [bool(v) for v in x[start:start + size]]
            expected = expected_of(members, compute, identity, init)
            assert rows[:, start:start + size].tolist() == [[int(v) for v in row] for row in expected]


def test_the_initial_value_decides_the_type() -> None:
    x = np.full(16, 100, np.int8)
    out, narrow = np.zeros((3, 16), np.int32), np.zeros(16, np.int32)

    @kernel(sub_group_size=16)
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        sg = item.get_sub_group()
        out[i] = reduce_over_group(sg, x[i], int32(1000), maximum[int32]())
        out[16 + i] = reduce_over_group(sg, x[i], 1000, maximum())
        out[32 + i] = reduce_over_group(sg, x[i], 5, plus())
        narrow[i] = reduce_over_group(sg, int32(x[i]), plus)

    launch(k, 16, 16)
    assert out[:, 0].tolist() == [1000, 1000, wrap(1605, np.dtype(np.int8))]
    assert narrow[0] == 1600


# ------------------------------------------------------------------ votes, broadcasts, shuffles


@pytest.mark.parametrize(("device", "size"), ON_DEVICES)
def test_votes(device: str, size: int) -> None:
    x = np.zeros(2 * WORK_GROUP, np.int32)
    x[WORK_GROUP:] = 7
    x[2] = 9
    out = np.zeros((7, 2 * WORK_GROUP), np.int32)
    n = len(x)

    @kernel(sub_group_size=size)
    def votes(item: nd_item[1]):
        i = item.get_global_id(0)
        sg, g = item.get_sub_group(), item.get_group()
        out[i] = any_of_group(sg, x[i] > 0)
        out[n + i] = all_of_group(sg, x[i] > 0)
        out[2 * n + i] = none_of_group(sg, x[i])
        out[3 * n + i] = any_of_group(g, x[i], lambda v: v == 9)
        out[4 * n + i] = all_of_group(g, x[i], lambda v: v == 7)
        out[5 * n + i] = none_of_group(g, x[i], lambda v: v == 9)
        out[6 * n + i] = any_of_group(g, x[i] == 8)

    launch(votes, n, WORK_GROUP, device=device)
    by_sub_group, by_group = x.reshape(-1, size), x.reshape(-1, WORK_GROUP)
    expected = [(by_sub_group > 0).any(1), (by_sub_group > 0).all(1), ~(by_sub_group > 0).any(1)]
    for row, values in zip(out, [v.repeat(size) for v in expected] + [v.repeat(WORK_GROUP) for v in (
            (by_group == 9).any(1), (by_group == 7).all(1), ~(by_group == 9).any(1), (by_group == 8).any(1))],
            strict=True):
        assert row.tolist() == values.astype(int).tolist()


ELEMENTS = {**{name: np.dtype(name).type for name in INTEGERS}, **FLOATS}


@pytest.mark.parametrize("element", ELEMENTS)
def test_shuffles_and_broadcasts_move_every_type(element: str) -> None:
    bits = np.random.default_rng(5).integers(0, 200, WORK_GROUP)
    x = bits.astype(ELEMENTS[element])
    out = np.zeros((10, WORK_GROUP), ELEMENTS[element])
    n = WORK_GROUP

    @kernel(sub_group_size=16)
    def moves(item: nd_item[1]):
        i = item.get_global_id(0)
        sg, g = item.get_sub_group(), item.get_group()
        lane = sg.get_local_id()
        left, right, down = shift_group_left(sg, x[i]), shift_group_right(sg, x[i], 3), sg.shuffle_down(x[i], 2)
        if lane < 15:
            out[i] = left
        if lane >= 3:
            out[n + i] = right
        out[2 * n + i] = permute_group_by_xor(sg, x[i], 5)
        out[3 * n + i] = select_from_group(sg, x[i], (lane * 7 + 1) % 16)
        out[4 * n + i] = group_broadcast(sg, x[i])
        out[5 * n + i] = group_broadcast(sg, x[i], 9)
        out[6 * n + i] = group_broadcast(g, x[i], 33)
        out[7 * n + i] = sg.shuffle(x[i], lane ^ 1)
        out[8 * n + i] = sg.shuffle_xor(x[i], 2)
        if lane < 14:
            out[9 * n + i] = down

    launch(moves, n, n)
    lanes, members = np.arange(16), x.reshape(4, 16)
    assert out[0].reshape(4, 16)[:, :15].tolist() == members[:, 1:].tolist()
    assert out[1].reshape(4, 16)[:, 3:].tolist() == members[:, :13].tolist()
    for row, chosen in ((2, lanes ^ 5), (3, (lanes * 7 + 1) % 16), (4, lanes * 0), (5, lanes * 0 + 9),
                        (7, lanes ^ 1), (8, lanes ^ 2)):
        assert out[row].reshape(4, 16).tolist() == members[:, chosen].tolist()
    assert set(out[6].tolist()) == {x[33].item()}
    assert out[9].reshape(4, 16)[:, :14].tolist() == members[:, 2:].tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_broadcasts_in_work_groups_of_three_dimensions(device: str) -> None:
    """Ids are linear with the last dimension as the fastest; an id of three dimensions names the same work-item."""
    shape = (2, 4, 8)
    x = np.arange(64, dtype=np.int32) * 3
    out = np.zeros((3, 64), np.int32)

    @kernel
    def broadcasts(item: nd_item[3]):
        g = item.get_group()
        i = item.get_local_linear_id()
        out[i] = group_broadcast(g, x[i], 43)
        out[64 + i] = group_broadcast(g, x[i], (1, 1, 3))
        out[128 + i] = inclusive_scan_over_group(g, x[i], plus())

    launch(broadcasts, shape, shape, device=device)
    assert set(out[0]) == {43 * 3}
    assert set(out[1]) == {x.reshape(shape)[1, 1, 3]}
    assert out[2].tolist() == np.cumsum(x).tolist()


# ------------------------------------------------------------------ barriers and helpers


def test_barriers_order_local_memory() -> None:
    tile = cm.sycl.local_accessor[int32, 1](WORK_GROUP)
    out = np.zeros(WORK_GROUP, np.int32)

    @kernel(sub_group_size=16)
    def reversed_by_barriers(item: nd_item[1]):
        i = item.get_local_linear_id()
        sg = item.get_sub_group()
        tile[i] = int32(i)
        group_barrier(item.get_group())
        found = tile[WORK_GROUP - 1 - i]
        item.barrier(access.fence_space.local_space)
        tile[i] = found
        group_barrier(sg, memory_scope.work_group)
        sg.barrier()
        out[i] = tile[i ^ 1]

    launch(reversed_by_barriers, WORK_GROUP, WORK_GROUP)
    assert out.tolist() == [(WORK_GROUP - 1 - i) ^ 1 for i in range(WORK_GROUP)]


def total_of(g, x):
    return reduce_over_group(g, x, plus())


def test_helpers_take_groups_and_operators() -> None:
    x, out = np.arange(32, dtype=np.float32), np.zeros((2, 32), np.float32)

    def of(g: sub_group, x: float32, op):
        return reduce_over_group(g, x, op)

    @kernel(sub_group_size=16)
    def k(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = total_of(item.get_group(), x[i]) + of(item.get_sub_group(), x[i], maximum())
        out[32 + i] = total_of(item.get_sub_group(), x[i])

    launch(k, 32, 32)
    assert out[0].tolist() == [496 + 15] * 16 + [496 + 31] * 16
    assert out[1].tolist() == [120] * 16 + [376] * 16


@pytest.mark.oracle("spirv-val")
def test_spirv_val_accepts_them(tmp_path) -> None:
    x = np.zeros(WORK_GROUP, np.int16)
    out = np.zeros((7, 6, WORK_GROUP), np.int16)
    init = np.int16(1)
    text = validate(combining_kernel(x, out, list(COMBINE), [init] * 7, True), tmp_path)
    assert "OpGroupIMulKHR" in text
    assert "SPV_KHR_uniform_group_instructions" in text
    text = validate(combining_kernel(x, out, list(COMBINE), [init] * 7, False), tmp_path)
    assert "OpGroupNonUniformIMul" in text
    assert "OpGroupSMin" in text
    assert reduce(lambda count, line: count + ("OpGroup" in line), text.split("\n"), 0) == 6 * 7


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize("case", read_cases("groups.txt"), ids=lambda case: case.text)
def test_a_message(case: Case) -> None:
    check(case)


def test_they_are_for_kernels_only() -> None:
    with pytest.raises(cm.Error, match="group_barrier is a device function: it can be called in kernels only"):
        group_barrier(None)
    assert plus()(2, 3) == 5
    assert maximum[int32]()(2, 3) == 3
    assert str(group[2]) == "group[2]"
