"""Several of NVIDIA's GPUs that share launches, on a driver without a GPU: order, memory, prepared launches, times."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.shares import Shares
from tests.kit.targets.fake_cuda import FakeDriver, Launch, installed
from tests.runtime.test_cuda_device import Foreign

SOURCE = """
kernel void scale(global int *out, global const int *in, int factor)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}
kernel void add(global int *data, int n) { data[get_global_id(0)] += n; }
kernel void count(global int *data) { atomic_inc(data); }
"""
ITEMS, GROUP = 4096, 32


def part(launch: Launch, offset: int) -> slice:
    """The work-items of a part, whose first work-group along x is told at an offset."""
    first = int(launch.value(offset, np.int64)) * launch.group[0]
    return slice(first, first + launch.items)


def scale(launch: Launch) -> None:
    out, given = (launch.pointer(offset, np.int32, ITEMS) for offset in (0, 8))
    out[part(launch, 24)] = given[part(launch, 24)] * launch.value(16, np.int32)


def add(launch: Launch) -> None:
    launch.pointer(0, np.int32, ITEMS)[part(launch, 16)] += launch.value(8, np.int32)


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with installed(gpus=2) as driver:
        driver.kernels = {"scale": scale, "add": add}
        yield driver


@pytest.fixture
def queue(gpu: FakeDriver) -> cm.Queue:
    return cm.Queue("cuda:*")


@pytest.fixture
def program() -> cm.Program:
    return cm.build(SOURCE)


def test_launches_are_submitted_and_come_one_after_the_other(gpu: FakeDriver, queue: cm.Queue, program: cm.Program
                                                             ) -> None:
    """Work-items write memory of the other GPU, and nothing is done before somebody waits."""
    data = [Foreign(np.arange(ITEMS, dtype=np.int32), device=number) for number in (0, 1)]
    for round_ in range(4):
        event = queue.enqueue(program.kernel("add"), ITEMS, GROUP, data[0], 1)
        assert not event.is_complete
        assert data[0].view[0] == round_
        event = queue.enqueue(program.kernel("scale"), ITEMS, GROUP, data[1], data[0], 3)
    event.wait()
    assert event.is_complete
    assert 0 < event.elapsed < 1
    assert event.submitted_at <= event.started_at <= event.ended_at
    np.testing.assert_array_equal(data[0].view, np.arange(ITEMS) + 4)
    np.testing.assert_array_equal(data[1].view, 3 * (np.arange(ITEMS) + 4))
    host = np.zeros(ITEMS, np.int32)
    queue.enqueue(program.kernel("scale"), ITEMS, GROUP, host, data[1], 2).wait()  # of both kinds
    np.testing.assert_array_equal(host, 6 * (np.arange(ITEMS) + 4))


def test_launches_come_after_and_before_the_work_of_other_libraries(gpu: FakeDriver, queue: cm.Queue,
                                                                   program: cm.Program) -> None:
    _, theirs = gpu.cuStreamCreate(1)
    data = Foreign(np.zeros(ITEMS, np.int32), device=1, stream=int(theirs))
    launch = queue.prepare(program.kernel("add"), ITEMS, GROUP, data, 1)
    seen = np.zeros(ITEMS, np.int32)
    for submit in (lambda: queue.enqueue(program.kernel("add"), ITEMS, GROUP, data, 1), launch):
        gpu.cuMemsetD32Async(data.address, 5, ITEMS, theirs)
        submit()
        gpu.cuMemcpyAsync(seen.ctypes.data, data.address, seen.nbytes, theirs)
        gpu.cuStreamSynchronize(theirs)
        assert (seen == 6).all()


@pytest.mark.parametrize("is_prepared", [False, True])
def test_what_is_read_is_copied_when_it_has_changed(gpu: FakeDriver, queue: cm.Queue, program: cm.Program,
                                                    is_prepared: bool) -> None:
    out, given = (cm.malloc_device[np.int32](ITEMS, queue) for _ in range(2))
    assert [len(one) for one in gpu.mapped.values()] == [2, 2]  # a piece on each GPU
    kernel = program.kernel("scale")
    launch = (queue.prepare(kernel, ITEMS, GROUP, out, given, 2) if is_prepared else
              lambda: queue.enqueue(kernel, ITEMS, GROUP, out, given, 2))
    copies = []
    for round_ in range(3):
        queue.fill(given, round_ + 1, ITEMS)
        for _ in range(3):
            gpu.calls.clear()
            launch().wait()
            copies.append(gpu.calls.count("cuMemcpy"))
            assert (out.to_host() == 2 * (round_ + 1)).all()
    assert copies == [0, 2, 0] * 3  # what is read once is read where it is
    queue.fill(given, 9, ITEMS)
    queue.prefetch(given, ITEMS)
    gpu.calls.clear()
    launch().wait()
    assert gpu.calls.count("cuMemcpy") == 2  # at once where that was asked for
    assert (out.to_host() == 18).all()
    del launch
    cm.free(out)
    cm.free(given)
    gc.collect()
    assert not gpu.mapped


def test_a_prepared_launch_asks_little_of_the_driver(gpu: FakeDriver, queue: cm.Queue, program: cm.Program) -> None:
    data = cm.malloc_device[np.int32](ITEMS, queue)
    launch = queue.prepare(program.kernel("add"), ITEMS, GROUP, data, 1)
    for _ in range(8):
        launch().wait()
    gpu.calls.clear()
    launch()
    assert sorted(set(gpu.calls) - {"cuCtxGetCurrent", "cuCtxSetCurrent"}) == [
        "cuEventRecord", "cuLaunchKernelEx", "cuStreamWaitEvent"]
    assert [gpu.calls.count(one) for one in ("cuEventRecord", "cuLaunchKernelEx", "cuStreamWaitEvent")] == [2, 2, 2]
    queue.wait()
    assert (data.to_host() == 9).all()


def test_copies_fills_and_events_of_other_queues(gpu: FakeDriver, queue: cm.Queue, program: cm.Program) -> None:
    data, other = cm.malloc_device[np.int32](ITEMS, queue), cm.Queue("cuda:1")
    elsewhere = cm.malloc_device[np.int32](ITEMS, other)
    queue.memcpy(data, np.arange(ITEMS, dtype=np.int32), 4 * ITEMS)
    queue.enqueue(program.kernel("add"), ITEMS, GROUP, data, 1)
    queue.wait_for(other.fill(elsewhere, 7, ITEMS))
    queue.memcpy(data, elsewhere, 2 * ITEMS)
    event = queue.enqueue(program.kernel("add"), ITEMS, GROUP, data, 1)
    other.wait_for(event)
    assert event.is_complete
    expected = np.where(np.arange(ITEMS) < ITEMS // 2, 8, np.arange(ITEMS) + 2)
    np.testing.assert_array_equal(data.to_host(), expected)


def test_other_libraries_keep_the_gpu_that_they_have_chosen(gpu: FakeDriver, queue: cm.Queue, program: cm.Program
                                                            ) -> None:
    data, source = (cm.malloc_device[np.int32](ITEMS, queue) for _ in range(2))
    launch = queue.prepare(program.kernel("scale"), ITEMS, GROUP, data, source, 1)
    for work in (launch, lambda: queue.enqueue(program.kernel("add"), ITEMS, GROUP, data, 1).wait(), data.to_host,
                 lambda: launch().wait(), lambda: queue.fill(data, 1, ITEMS), queue.wait,
                 lambda: queue.device.timer().times(launch, 2), lambda: cm.malloc_device[np.int32](ITEMS, queue),
                 gc.collect):
        gpu.device = 1
        work()
        assert gpu.device == 1


def test_counters_on_gpus_are_refused(queue: cm.Queue, program: cm.Program) -> None:
    with pytest.raises(cm.LaunchError, match="those of a GPU are its own"):
        queue.enqueue(program.kernel("count"), ITEMS, GROUP, cm.malloc_device[np.int32](1, queue))


def test_times(queue: cm.Queue, program: cm.Program) -> None:
    data = cm.malloc_device[np.int32](ITEMS, queue)
    launch = queue.prepare(program.kernel("add"), ITEMS, GROUP, data, 1)
    times = queue.device.timer().times(launch, 3)
    assert times == pytest.approx([1.001e-3] * 3, rel=0.01)
    assert "cuda:0 and cuda:1" in queue.device.timer().note


class Taken:
    """An event that tells how long a part took."""

    is_complete = True

    def __init__(self, elapsed: float) -> None:
        self.elapsed = elapsed


def test_shares_follow_the_times() -> None:
    """Two devices, one three times as fast as the other, within a few launches; then parts stay."""
    shares = Shares((1, 256, 1), 2, {})
    for _ in range(40):
        parts = shares.following()
        if shares.wants_times:
            shares.watch(parts, [Taken(one.counts[1] / speed) for one, speed in zip(parts, (3e3, 1e3), strict=True)])
    assert [one.counts[1] for one in parts] == [192, 64]
    assert all(shares.following() is parts for _ in range(200))
