"""Several devices share launches: the same results as on one, and what cannot be shared out is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import int32, kernel, nd_item, nd_range, ptr
from coopmat.targets.analysis.sharing import sharing_of
from coopmat.targets.base.partition import partition
from tests.kit.cases import CASES, Case, copies
from tests.kit.fuzz import generator
from tests.kit.fuzz.executions import attempt, same, simulate
from tests.kit.lenient import lenient

KERNELS = """
kernel void add(global int *o) { o[get_global_id(0)] += 1; }
kernel void count(global const uchar *x, global uint *h, global int *most)
{
    atomic_add(h + x[get_global_id(0)], 1u);
    atomic_max(most, (int)x[get_global_id(0)]);
}
kernel void race(global int *o) { if (get_local_id(0) == 0) o[0] = get_group_id(0); }
kernel void ticket(global int *o, global uint *next) { o[atomic_inc(next)] = 1; }
kernel void copy(global int *o, global const int *x) { o[get_global_id(0)] = x[get_global_id(0)]; }
"""
LATE_RACE = "kernel void race(global int *o) { if (get_group_id(0) > 4) o[0] = get_group_id(0); }"
SEED = 7


def several(count: int, name: str = "sim:generic") -> cm.Device:
    return cm.device(",".join([name] * count))


@pytest.fixture(scope="module", params=["sim:generic,sim:generic", "cpu,cpu,cpu", "cpu,sim:generic"])
def queue(request: pytest.FixtureRequest) -> cm.Queue:
    return cm.Queue(cm.device(request.param))


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(KERNELS)


def test_what_is_read_and_written(queue: cm.Queue, program: cm.Program) -> None:
    for size in (8, 64, 1024):
        data = np.arange(size, dtype=np.int32)
        for _ in range(3):  # the later ones are shared out by speed
            queue.enqueue(program.kernel("add"), size, 8, data).wait()
        np.testing.assert_array_equal(data, np.arange(size) + 3)


def test_counters_are_added_up(queue: cm.Queue, program: cm.Program) -> None:
    data = np.random.default_rng(SEED).integers(0, 200, 4096).astype(np.uint8)
    counts, most = np.full(256, 5, np.uint32), np.full(1, 150, np.int32)
    queue.enqueue(program.kernel("count"), 4096, 64, data, counts, most).wait()
    np.testing.assert_array_equal(counts, 5 + np.bincount(data, minlength=256))
    assert most[0] == data.max()


def test_work_groups_that_race_change_nothing(program: cm.Program) -> None:
    data = np.full(64, -1, np.int32)
    with pytest.raises(cm.LaunchError, match=r"'o'.*different values to element 0.*race between work-groups"):
        cm.Queue(several(2, "cpu")).enqueue(program.kernel("race"), 64, 8, data).wait()
    assert (data == -1).all()


def test_what_must_see_the_same_memory_is_refused_unless_it_is_forced(queue: cm.Queue, program: cm.Program) -> None:
    data, counter = np.zeros(64, np.int32), np.zeros(1, np.uint32)
    with pytest.raises(cm.LaunchError, match=r"OpAtomicIIncrement on 'next'.*split='unchecked'"):
        queue.enqueue(program.kernel("ticket"), 64, 8, data, counter).wait()
    forced = cm.device("cpu,cpu", options=cm.SplitOptions(split="unchecked"))
    with pytest.raises(cm.Error, match="the option split must be"):
        cm.SplitOptions(split="no")  # type: ignore[arg-type]
    cm.Queue(forced).enqueue(program.kernel("ticket"), 64, 8, data, counter).wait()
    assert 8 <= data.sum() <= 56  # both parts took their tickets from the first one on


def test_one_array_twice_and_arrays_that_overlap(queue: cm.Queue, program: cm.Program) -> None:
    data = np.arange(64, dtype=np.int32)
    queue.enqueue(program.kernel("copy"), 64, 8, data, data).wait()
    np.testing.assert_array_equal(data, np.arange(64))
    queue.enqueue(program.kernel("copy"), 32, 8, data[:40], data[32:]).wait()
    np.testing.assert_array_equal(data, [*range(32, 64), *range(32, 64)])


def test_devices(program: cm.Program) -> None:
    assert cm.device("cpu,cpu") == cm.device("cpu, cpu")
    assert cm.device("cpu,sim:intel_gpu_pvc").sub_group_sizes == (16, 32)
    assert cm.device("sim:intel_gpu_pvc,sim:generic").matrix_combinations == (
        cm.device("sim:intel_gpu_pvc").matrix_combinations)
    with pytest.raises(cm.Error, match="no sub-group size in common"):
        cm.device("sim:nvidia_gpu_sm_90,sim:amd_gpu_gfx90a")
    with pytest.raises(cm.Error, match="no device 'simgeneric'"):
        cm.device("cpu,simgeneric")
    with pytest.raises(cm.Error, match="SplitOptions"):
        cm.device("cpu,cpu", options=cm.CpuOptions())


def test_errors_of_a_part_are_the_launchs(program: cm.Program) -> None:
    with pytest.raises(cm.OutOfBounds):
        cm.Queue(several(2)).enqueue(program.kernel("add"), 64, 8, np.zeros(63, np.int32)).wait()
    with pytest.raises(cm.OutOfBounds) as found:  # told for the whole launch
        cm.Queue(several(2)).enqueue(program.kernel("copy"), 64, 8, *np.zeros((2, 63), np.int32)).wait()
    assert found.value.where.work_group == (7, 0, 0)
    assert "work-group (7, 0, 0)" in str(found.value)
    with pytest.raises(cm.DataRace, match=r"work-groups are counted from \(4, 0, 0\) here"):
        cm.Queue(several(2)).enqueue(cm.build(LATE_RACE).kernel("race"), 64, 8, np.zeros(1, np.int32)).wait()


def test_assertions(queue: cm.Queue) -> None:
    """They read texts of the program, and write nothing."""
    @kernel
    def below(item: nd_item[1], out: ptr[int32], limit: int):
        i = item.get_global_id(0)
        assert i < limit
        out[i] = i

    out = np.zeros(64, np.int32)
    queue.parallel_for(nd_range((64,), (8,)), below, out, 64).wait()
    np.testing.assert_array_equal(out, np.arange(64))
    out[:] = -1
    with pytest.raises(cm.Error, match=r"assertion failed: i < limit .*work-group \(7, 0, 0\)"):
        queue.parallel_for(nd_range((64,), (8,)), below, out, 60).wait()
    assert (out == -1).all()


def test_what_parts_print_comes_in_their_order(queue: cm.Queue, capsys: pytest.CaptureFixture[str]) -> None:
    source = 'kernel void say(void) { if (get_local_id(0) == 0) printf("%d\\n", (int)get_group_id(0)); }'
    queue.enqueue(cm.build(source).kernel("say"), 144, 8).wait()
    shown = [int(line) for line in capsys.readouterr().out.split()]
    assert len(shown) == 18
    count = len(queue.device.name.split(","))  # equal parts of the first launch
    parts = [set(shown[part * 18 // count:(part + 1) * 18 // count]) for part in range(count)]
    assert all(max(one) < min(other) for one, other in itertools.pairwise(parts))


def test_parts() -> None:
    """Any grid is covered once, in shares as near to the speeds as slices can be."""
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        counts = tuple(int(one) for one in rng.integers(1, 70, 3))
        speeds = [float(one) for one in rng.random(int(rng.integers(1, 6))) + 0.01]
        covered = np.zeros(counts, int)
        for part in partition(counts, speeds):  # type: ignore[arg-type]
            covered[tuple(slice(start, start + size) for start, size in zip(part.first, part.counts, strict=True))] += 1
            share = np.prod(part.counts) / np.prod(counts)
            assert abs(share - speeds[part.owner] / sum(speeds)) < 1.01 / max(counts[2] if counts[2] >= 16 * len(speeds)
                                                                             else 1, 1)
        assert (covered == 1).all()


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.name)
def test_kernels(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = case.arguments(np.random.default_rng(SEED))
    before, program = copies(arguments), cm.build(case.source, case.options)
    if sharing_of(program.module, case.kernel).reasons:
        with pytest.raises(cm.LaunchError, match="cannot be split"):
            case.run(program, several(3), arguments)
        expected = {index: one for index, one in enumerate(before) if isinstance(one, np.ndarray)}
    else:
        expected = case.expected(before)
        case.run(program, several(3), arguments)
    for index, result in expected.items():
        np.testing.assert_array_equal(arguments[index], result)


def test_random_kernels(long_form: bool) -> None:
    for seed in range(300 if long_form else 8):
        kernel = generator.generate(seed)
        program = cm.build(kernel.source)
        devices = [lenient("sim:generic", undefined=False)] * (2, 3, 7)[seed % 3]

        def split(program: cm.Program = program, kernel: generator.Kernel = kernel,
                  devices: list[cm.Device] = devices) -> list[np.ndarray]:
            from coopmat.runtime.split_device import SplitDevice

            arguments = kernel.arguments()
            cm.Queue(SplitDevice(devices)).enqueue(program.kernel("k"), kernel.global_size, kernel.local_size,
                                                   *arguments).wait()
            return arguments

        found = attempt(split)
        assert isinstance(found, list) or "cannot be split" in found, (seed, found)
        if isinstance(found, list):
            assert same(found, attempt(lambda program=program, kernel=kernel: simulate(program, kernel))), seed  # type: ignore[misc]
