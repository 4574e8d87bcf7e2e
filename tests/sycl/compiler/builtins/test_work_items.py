"""The methods of nd_item, group and sub_group against a model of the index space, and sizes that kernels require."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import fence_space, group, int64, kernel, nd_item, nd_range, ptr, sub_group
from coopmat.sycl.kernel import SyclKernel

SPACES = [((12,), (4,)), ((4, 6), (2, 3)), ((2, 4, 6), (1, 2, 3)), ((3, 2, 8), (3, 1, 4))]
SUB_GROUP = 16

Model = Callable[[tuple[int, ...], tuple[int, ...], tuple[int, ...], int], list[int]]


def linear(index: tuple[int, ...], extent: tuple[int, ...]) -> int:
    """Row-major: the last dimension is the fastest."""
    found = 0
    for i, n in zip(index, extent, strict=True):
        found = found * n + i
    return found


def model_of_dimension(at: tuple[int, ...], extent: tuple[int, ...], local: tuple[int, ...], d: int) -> list[int]:
    """What the kernel below stores for one dimension."""
    groups = [n // size for n, size in zip(extent, local, strict=True)]
    group_id, local_id = at[d] // local[d], at[d] % local[d]
    return [at[d], local_id, group_id, extent[d], local[d], groups[d], 0,
            group_id, local_id, local[d], groups[d], local[d], at[d], at[d]]


def model_of_item(at: tuple[int, ...], extent: tuple[int, ...], local: tuple[int, ...]) -> list[int]:
    """What it stores for the linear ids."""
    groups = tuple(n // size for n, size in zip(extent, local, strict=True))
    group_id = tuple(i // size for i, size in zip(at, local, strict=True))
    local_id = tuple(i % size for i, size in zip(at, local, strict=True))
    in_group = linear(local_id, local)
    size = math.prod(local)
    sub_groups = -(-size // SUB_GROUP)
    return [linear(at, extent), in_group, linear(group_id, groups), in_group, linear(group_id, groups), size,
            math.prod(groups), int(in_group == 0), in_group % SUB_GROUP, in_group // SUB_GROUP, sub_groups,
            SUB_GROUP, int(in_group % SUB_GROUP == 0), in_group % SUB_GROUP, sub_groups]


def stored_by_dimension(item, y, dimensions, place):
    g, index = item.get_group(), item.get_global_id()
    for d in range(dimensions):
        values = [item.get_global_id(d), item.get_local_id(d), item.get_group(d), item.get_global_range(d),
                  item.get_local_range(d), item.get_group_range(d), item.get_offset()[d], g.get_group_id(d),
                  g.get_local_id(d), g.get_local_range(d), g.get_group_range(d), g.get_max_local_range()[d],
                  item.get_global_id()[d], index[d]]
        for column, value in enumerate(values):
            y[place + d * 14 + column] = value


def stored_of_item(item, y, place):
    g, sg = item.get_group(), item.get_sub_group()
    values = [item.get_global_linear_id(), item.get_local_linear_id(), item.get_group_linear_id(),
              g.get_local_linear_id(), g.get_group_linear_id(), g.get_local_linear_range(), g.get_group_linear_range(),
              g.leader(), sg.get_local_id(), sg.get_group_id(), sg.get_group_range(), sg.get_max_local_range(),
              sg.leader(), sg.get_local_linear_id(), sg.get_group_linear_range()]
    for index, value in enumerate(values):
        y[place + index] = value


@kernel(sub_group_size=SUB_GROUP)
def of_one(item: nd_item[1], y: ptr[int64]):
    place = item.get_global_linear_id() * 57
    stored_by_dimension(item, y, 1, place)
    stored_of_item(item, y, place + 42)


@kernel(sub_group_size=SUB_GROUP)
def of_two(item: nd_item[2], y: ptr[int64]):
    place = item.get_global_linear_id() * 57
    stored_by_dimension(item, y, 2, place)
    stored_of_item(item, y, place + 42)


@kernel(sub_group_size=SUB_GROUP)
def of_three(item: nd_item[3], y: ptr[int64]):
    place = item.get_global_linear_id() * 57
    stored_by_dimension(item, y, 3, place)
    stored_of_item(item, y, place + 42)


@pytest.mark.parametrize(("extent", "local"), SPACES)
def test_the_index_space(extent: tuple[int, ...], local: tuple[int, ...]) -> None:
    found = np.full((math.prod(extent), 57), -1)
    k = (of_one, of_two, of_three)[len(extent) - 1]
    cm.Queue("sim:generic").parallel_for(nd_range(extent, local), k, found).wait()
    for row, at in enumerate(itertools.product(*map(range, extent))):
        expected = [value for d in range(len(extent)) for value in model_of_dimension(at, extent, local, d)]
        assert found[row, :len(expected)].tolist() == expected, at
        assert found[row, 42:].tolist() == model_of_item(at, extent, local), at


def test_a_dimension_of_the_run_time() -> None:
    @kernel
    def k(item: nd_item[3], y: ptr[int64]):
        i = item.get_global_linear_id() * 3
        for d in range(3):
            y[i + d] = item.get_global_id(d) + 100 * item.get_local_range(d) + 10_000 * item.get_group_range(d)

    found = np.zeros((2, 4, 6, 3), np.int64)
    cm.Queue("sim:generic").parallel_for(nd_range((2, 4, 6), (1, 2, 3)), k, found).wait()
    for at in itertools.product(range(2), range(4), range(6)):
        assert found[at].tolist() == [at[d] + 100 * (1, 2, 3)[d] + 10_000 * 2 for d in range(3)]


@pytest.mark.parametrize("space", [None, *fence_space])
def test_barriers_order_memory(space: fence_space | None) -> None:
    words = {None: 0x300, fence_space.local_space: 0x100, fence_space.global_space: 0x200,
             fence_space.global_and_local: 0x300}

    if space is None:
        @kernel
        def k(item: nd_item[1], y: ptr[int64]):
            item.barrier()
    else:
        @kernel
        def k(item: nd_item[1], y: ptr[int64]):
            item.barrier(space)

    module = cm.build(k).module
    (barrier,) = [one for one in module.instructions if one.name == "OpControlBarrier"]
    values = {one.result_id: one.operands[-1].value for one in module.instructions if one.name == "OpConstant"}
    assert [values[operand.value] for operand in barrier.operands] == [2, 2, words[space] | 0x10]


# ------------------------------------------------------------------ required sizes


def modes_of(k: SyclKernel) -> list[str]:
    return [line.split("%", 1)[1].split(" ", 1)[1] for line in cm.build(k).spirv_asm.splitlines()
            if "OpExecutionMode " in line]


def required(dimensions: int, **sizes) -> SyclKernel:
    type_ = nd_item[dimensions]

    @kernel(**sizes)
    def k(item: type_, y: ptr[int64]):
        y[item.get_global_linear_id()] = item.get_sub_group().get_max_local_range()
    return k


@pytest.mark.parametrize(("dimensions", "sizes", "modes"), [
    (1, {}, []),
    (1, {"sub_group_size": 16}, ["SubgroupSize 16"]),
    (1, {"work_group_size": 32}, ["LocalSize 32 1 1"]),
    (2, {"work_group_size": (4, 8)}, ["LocalSize 8 4 1"]),
    (3, {"work_group_size": (2, 4, 8), "sub_group_size": np.int64(8)}, ["LocalSize 8 4 2", "SubgroupSize 8"])])
def test_required_sizes_are_execution_modes(dimensions: int, sizes: dict, modes: list[str]) -> None:
    assert sorted(modes_of(required(dimensions, **sizes))) == modes


@pytest.mark.parametrize("sizes", [
    {"sub_group_size": 0}, {"sub_group_size": "16"}, {"sub_group_size": True}, {"sub_group_size": 2**40},
    {"work_group_size": ()}, {"work_group_size": (1, 2, 3, 4)}, {"work_group_size": (1, -2)},
    {"work_group_size": (128, 128)}, {"work_group_size": "ab"}, {"work_group_size": 1.5}])
def test_sizes_that_are_refused(sizes: dict) -> None:
    with pytest.raises(cm.Error, match="size"):
        required(1, **sizes)


def test_launches_that_do_not_fit() -> None:
    queue, found = cm.Queue("sim:generic"), np.zeros(64, np.int64)
    queue.parallel_for(nd_range((8, 8), (2, 4)), required(2, work_group_size=(2, 4)), found).wait()
    with pytest.raises(cm.Error, match="work-group"):
        queue.parallel_for(nd_range((8, 8), (4, 2)), required(2, work_group_size=(2, 4)), found)
    with pytest.raises(cm.LaunchError, match=r"kernel 'k' has an nd_item\[2\], and the nd_range has 1 dimensions"):
        queue.parallel_for(nd_range(8, 8), required(2), found)
    with pytest.raises(cm.LaunchError, match=r"has an nd_item\[3\], and the nd_range has 1 dimensions"):
        queue.parallel_for(nd_range(8, 8), of_three, found)
    with pytest.raises(cm.Error, match="17"):
        cm.Queue("sim:intel_gpu_pvc").parallel_for(nd_range(17, 17), required(1, sub_group_size=17), found)


def test_groups_are_types_of_helpers() -> None:
    def rank(g: group[1], sg: sub_group) -> int64:
        return g.get_local_linear_id() + sg.get_group_linear_id()

    @kernel(sub_group_size=16)
    def k(item: nd_item[1], y: ptr[int64]):
        y[item.get_global_id(0)] = rank(item.get_group(), item.get_sub_group())

    found = np.zeros(64, np.int64)
    cm.Queue("sim:generic").parallel_for(nd_range(64, 32), k, found).wait()
    assert found.tolist() == [i % 32 + i % 32 // 16 for i in range(64)]
