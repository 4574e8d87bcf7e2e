"""NVIDIA's GPUs as devices, on a driver without a GPU: arguments, order, events, graphs, memory, errors."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.support import dlpack
from tests.kit.paths import EXAMPLES
from tests.kit.targets.fake_cuda import FakeDriver, IllegalAccess, Launch, at, installed

SOURCE = """
kernel void scale(global float *out, global const float *in, float factor)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}
kernel void add(global int *data, int n) { data[get_global_id(0)] += n; }
kernel void shift(global short *out) { out[get_global_id(0)] <<= 1; }
kernel void talk(global int *p) { printf("%d", p[0]); }
"""


def scale(launch: Launch) -> None:
    out, given = (launch.pointer(offset, np.float32, launch.items) for offset in (0, 8))
    out[:] = given * launch.value(16, np.float32)


def add(launch: Launch) -> None:
    launch.pointer(0, np.int32, launch.items)[:] += launch.value(8, np.int32)


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with installed(gpus=2) as driver:
        driver.kernels = {"scale": scale, "add": add}
        yield driver


@pytest.fixture
def program() -> cm.Program:
    return cm.build(SOURCE)


@pytest.fixture
def queue(gpu: FakeDriver) -> cm.Queue:
    return cm.Queue("cuda:0")


class Foreign:
    """An array of a library that speaks ``__cuda_array_interface__``, over memory of the GPU."""

    def __init__(self, content: np.ndarray, device: int = 0, stream: int | None = None, is_read_only: bool = False,
                 **more: Any) -> None:
        driver = sys.modules["cuda.bindings.driver"]
        _, self.address = driver._allocate(max(content.nbytes, 1))
        driver.move(self.address, device)
        self.dtype, self.shape = content.dtype, content.shape
        self.view = at(self.address, content.nbytes).view(content.dtype).reshape(content.shape)
        self.view[...] = content
        self.__cuda_array_interface__ = {"data": (self.address, is_read_only), "shape": content.shape, "version": 3,
                                         "typestr": content.dtype.str, "strides": None, "stream": stream, **more}


# ------------------------------------------------------------------ arguments


def test_arrays_of_the_host_are_copied_there_and_back(queue: cm.Queue, program: cm.Program) -> None:
    out, given = np.zeros(64, np.float32), np.arange(64, dtype=np.float32)
    event = queue.enqueue(program.kernel("scale"), 64, 16, out, given, 2.0)
    np.testing.assert_array_equal(out, given * 2)  # done when it returns
    assert event.is_complete
    assert event.elapsed == pytest.approx(1.001e-3)
    assert event.submitted_at <= event.started_at <= event.ended_at


def test_memory_of_the_gpu_is_used_as_it_is_and_waited_for(queue: cm.Queue, program: cm.Program) -> None:
    out, given = Foreign(np.zeros(64, np.float32)), Foreign(np.arange(64, dtype=np.float32))
    event = queue.enqueue(program.kernel("scale"), 64, 16, out, given, 2.0)
    assert not event.is_complete
    assert not out.view.any()
    event.wait()
    np.testing.assert_array_equal(out.view, np.arange(64) * 2)
    host = np.zeros(64, np.float32)
    queue.enqueue(program.kernel("scale"), 64, 16, host, out, 2.0).wait()  # of both kinds
    np.testing.assert_array_equal(host, np.arange(64) * 4)


def test_arrays_that_overlap_stay_so(queue: cm.Queue, program: cm.Program) -> None:
    both = np.arange(96, dtype=np.float32)
    queue.enqueue(program.kernel("scale"), 64, 16, both[:64], both[:64], 3.0).wait()
    np.testing.assert_array_equal(both, [*np.arange(64) * 3, *range(64, 96)])


def test_launches_come_after_and_before_the_work_of_other_libraries(gpu: FakeDriver, queue: cm.Queue,
                                                                   program: cm.Program) -> None:
    """Their streams do nothing until somebody waits: only what is ordered is right."""
    _, theirs = gpu.cuStreamCreate(1)
    data = Foreign(np.zeros(32, np.int32), stream=int(theirs))
    gpu.cuMemsetD32Async(data.address, 5, 32, theirs)
    queue.enqueue(program.kernel("add"), 32, 32, data, 1)
    seen = np.zeros(32, np.int32)
    gpu.cuMemcpyAsync(seen.ctypes.data, data.address, 128, theirs)
    gpu.cuStreamSynchronize(theirs)
    assert (seen == 6).all()


def torch_like(current: int) -> ModuleType:
    """As much of torch as arguments need."""
    torch = ModuleType("torch")

    class Tensor:
        is_cuda = property(lambda self: self.array is not None)

        def __init__(self, array: Foreign, dtype: str, strides: tuple[int, ...]) -> None:
            self.array, self.dtype, self.strides = array, f"torch.{dtype}", strides
            self.shape, self.device = array.shape, SimpleNamespace(index=0)

        def is_contiguous(self) -> bool:
            return self.strides[-1] == 1

        def stride(self) -> tuple[int, ...]:
            return self.strides

        def element_size(self) -> int:
            return self.array.dtype.itemsize

        def data_ptr(self) -> int:
            return self.array.address

    torch.Tensor = Tensor  # type: ignore[attr-defined]
    torch.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        current_stream=lambda index: SimpleNamespace(cuda_stream=current))
    return torch


def test_tensors_of_torch(gpu: FakeDriver, queue: cm.Queue, program: cm.Program,
                          monkeypatch: pytest.MonkeyPatch) -> None:
    _, current = gpu.cuStreamCreate(1)
    torch = torch_like(int(current))
    monkeypatch.setitem(sys.modules, "torch", torch)
    gpu.kernels["shift"] = lambda launch: None
    numbers = Foreign(np.zeros(32, np.int32))
    gpu.cuMemsetD32Async(numbers.address, 7, 32, current)
    queue.enqueue(program.kernel("add"), 32, 32, torch.Tensor(numbers, "int32", (1,)), 1).wait()
    assert (numbers.view == 8).all()
    halves = Foreign(np.zeros(8, np.uint16))
    queue.enqueue(program.kernel("shift"), 8, 8, torch.Tensor(halves, "bfloat16", (1,))).wait()
    for tensor, message in ((torch.Tensor(halves, "float16", (1,)), "expected an array of .*, found float16"),
                            (torch.Tensor(halves, "int16", (2,)), r"strides \(4,\)\): pass .* tensor.contiguous\(\)"),
                            (torch.Tensor(halves, "quint8", (1,)), r"torch.quint8 cannot be passed")):
        with pytest.raises(cm.LaunchError, match=rf"argument 0 of kernel 'shift'.*{message}"):
            queue.enqueue(program.kernel("shift"), 8, 8, tensor)


class Lent:
    """An array of a library that speaks DLPack only."""

    def __init__(self, array: Foreign, kind: int = dlpack.Kind.CUDA) -> None:
        self.array, self.kind = array, kind
        self.streams: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 0

    def __dlpack__(self, stream: Any = None) -> Any:
        self.streams.append(stream)
        return dlpack.capsule(self.array.address, self.kind, 0, self.array.shape, self.array.dtype, self.array)


def test_arrays_by_dlpack_are_kept_until_the_launch_has_ended(gpu: FakeDriver, queue: cm.Queue,
                                                              program: cm.Program) -> None:
    array = Foreign(np.zeros(32, np.int32))
    lent = Lent(array)
    gpu.cuMemsetD32Async(array.address, 2, 32, 1)  # on the stream that the capsule is made for
    queue.enqueue(program.kernel("add"), 32, 32, lent, 1)
    assert lent.streams == [1]
    assert len(dlpack._MADE) == 1
    queue.wait()
    assert (array.view == 3).all()
    assert not dlpack._MADE
    bf16 = Lent(Foreign(np.zeros(8, ml_dtypes.bfloat16)))
    gpu.kernels["shift"] = lambda launch: None
    queue.enqueue(program.kernel("shift"), 8, 8, bf16).wait()
    with pytest.raises(cm.LaunchError, match="expected an array of int32 or uint32, found bfloat16"):
        queue.enqueue(program.kernel("add"), 8, 8, bf16, 1)


def test_arrays_of_the_host_by_dlpack(program: cm.Program) -> None:
    """Such as a tensor of torch on the CPU, of bfloat16, too."""
    data = np.arange(32, dtype=np.int32)
    holder = SimpleNamespace(address=data.ctypes.data, shape=data.shape, dtype=data.dtype)
    cm.Queue("cpu").enqueue(program.kernel("add"), 32, 32, Lent(holder, dlpack.Kind.CPU), 1).wait()  # type: ignore[arg-type]
    np.testing.assert_array_equal(data, np.arange(32) + 1)


def test_arguments_that_do_not_fit(queue: cm.Queue, program: cm.Program) -> None:
    good = Foreign(np.zeros(32, np.int32))
    cases = [
        (Foreign(np.zeros(32, np.float32)), "expected an array of int32 or uint32, found float32"),
        (Foreign(np.zeros(32, np.int32), strides=(8,)), r"not contiguous \(strides \(8,\)\)"),
        (Foreign(np.zeros(32, np.int32), is_read_only=True), "read-only"),
        (Foreign(np.zeros(32, np.int32), mask=good), "knows no masks"),
        (Foreign(np.zeros(32, np.int32), device=1), "is on cuda:1, and the launch is on cuda:0: launch on a queue of"),
        ([1, 2], "a pointer takes a numpy array"), (np.zeros(32), "found float64"),
    ]
    for argument, message in cases:
        with pytest.raises(cm.LaunchError, match=rf"argument 0 of kernel 'add' \(.*data\): .*{message}"):
            queue.enqueue(program.kernel("add"), 32, 32, argument, 1)
    for device in ("cpu", "sim:generic"):
        with pytest.raises(cm.LaunchError, match=rf"argument 0 .*its memory is on a GPU, and the device '{device}' "
                                                 "reaches the host's only: pass a copy, .*, or launch on cuda:0"):
            cm.Queue(device).enqueue(program.kernel("add"), 32, 32, good, 1)
    with pytest.raises(cm.LaunchError, match="memcpy: the source: its memory is on a GPU"):
        cm.Queue("cpu").memcpy(np.zeros(8), good, 8)


# ------------------------------------------------------------------ memory


def test_memory_of_malloc(gpu: FakeDriver, queue: cm.Queue, program: cm.Program) -> None:
    device = cm.malloc_device[np.int32](32, queue)
    shared, host = cm.malloc_shared[np.int32](32, queue), cm.malloc_host[np.int32](32, queue)
    assert not device.to_host().any()
    assert not shared.any()
    for memory in (device, shared, host):
        queue.enqueue(program.kernel("add"), 32, 32, memory, 3)
    assert not shared.any()  # nothing is done before somebody waits
    queue.wait()
    for found in (device.to_host(), shared, host):
        assert (found == 3).all()
    queue.enqueue(program.kernel("add"), 16, 16, device + 16, 1)
    queue.memcpy(host, device, 128)
    queue.wait()
    assert list(host) == [3] * 16 + [4] * 16
    with pytest.raises(cm.Error, match=r"not accessible on the host: copy it with .* or memory\.to_host"):
        device[0]
    before = gpu.allocated
    cm.free(device, queue)
    with pytest.raises(cm.LaunchError, match="was freed"):
        queue.enqueue(program.kernel("add"), 32, 32, device, 3)
    del shared, host, found, memory
    gc.collect()
    assert gpu.allocated <= before - 1
    with pytest.raises(cm.LaunchError, match=r"malloc_device: 4294967296 bytes are more than cuda:0 has, 1073741824"):
        cm.malloc_device(1 << 32, queue)


def test_memory_of_malloc_for_other_libraries(gpu: FakeDriver, queue: cm.Queue) -> None:
    memory = cm.malloc_device[np.float32](8, queue) + 2
    interface = memory.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["strides"]) == ((6,), "<f4", None)
    shown = dlpack.read(memory.__dlpack__())
    assert (shown.address, shown.shape, shown.kind) == (interface["data"][0], (6,), dlpack.Kind.CUDA)
    assert memory.__dlpack_device__() == (2, 0)
    assert dlpack.read(cm.malloc_device[ml_dtypes.bfloat16](4, queue).__dlpack__()).dtype == ml_dtypes.bfloat16
    assert not hasattr(cm.malloc_device[np.float32](8, cm.device("cpu")), "__cuda_array_interface__")


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.int64])
def test_commands_on_memory(gpu: FakeDriver, queue: cm.Queue, dtype: Any) -> None:
    size = np.dtype(dtype).itemsize
    memory, host = cm.malloc_device[dtype](16, queue), np.zeros(16, dtype)
    queue.fill[dtype](memory, 3, 16)
    queue.memset(memory + 12, 0xFF, 4 * size)
    queue.prefetch(memory, size)
    assert "cuMemPrefetchAsync" not in gpu.calls
    queue.prefetch(cm.malloc_shared[dtype](16, queue), size)
    assert "cuMemPrefetchAsync" in gpu.calls
    queue.copy(memory, host, 14)
    expected = np.full(16, 3, dtype)
    expected[12:14] = np.frombuffer(b"\xff" * 2 * size, dtype)
    expected[14:] = 0
    np.testing.assert_array_equal(host.view(f"u{size}"), expected.view(f"u{size}"))
    queue.memcpy(memory, np.arange(16, dtype=dtype), 16 * size)
    queue.fill(host, 1, 16)  # of the host
    queue.memcpy(host, memory, 8 * size)
    np.testing.assert_array_equal(host, [*range(8), *[1] * 8])
    with pytest.raises(cm.LaunchError, match="bytes are more than the destination has"):
        queue.memcpy(memory + 8, host, 16 * size)


# ------------------------------------------------------------------ queues and events


def test_queues_wait_for_events_of_others(gpu: FakeDriver, program: cm.Program) -> None:
    first, second = cm.Queue("cuda:0"), cm.Queue("cuda:0")
    assert first.stream != second.stream
    memory = cm.malloc_device[np.int32](32, first)
    event = first.fill(memory, 5, 32)
    second.wait_for(event)
    second.enqueue(program.kernel("add"), 32, 32, memory, 1)
    second.wait()
    assert (memory.to_host() == 6).all()
    event = first.fill(memory, 7, 32)
    host = np.zeros(32, np.int32)
    second.memcpy(host, memory, 128, depends_on=event)
    assert (host == 7).all()
    assert cm.Queue("cpu").stream is None
    with pytest.raises(cm.LaunchError, match="expected an event"):
        second.wait_for(5)  # type: ignore[arg-type]


def test_a_queue_on_the_stream_of_another_library(gpu: FakeDriver, program: cm.Program) -> None:
    _, stream = gpu.cuStreamCreate(1)
    queue, data = cm.Queue("cuda:0", stream=int(stream)), Foreign(np.zeros(32, np.int32), stream=int(stream))
    gpu.cuMemsetD32Async(data.address, 5, 32, stream)
    waits = gpu.calls.count("cuStreamWaitEvent")
    queue.enqueue(program.kernel("add"), 32, 32, data, 1)
    assert gpu.calls.count("cuStreamWaitEvent") == waits  # it is in order by itself
    gpu.cuStreamSynchronize(stream)
    assert (data.view == 6).all()
    for wrong in (-1, "0", True):
        with pytest.raises(cm.LaunchError, match="the handle of a CUDA stream"):
            cm.Queue("cuda:0", stream=wrong)  # type: ignore[arg-type]
    with pytest.raises(cm.Error, match="streams are of NVIDIA's GPUs"):
        cm.Queue("cpu", stream=1)


def test_times_of_events_follow_each_other(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    events = [queue.enqueue(program.kernel("add"), 32, 32, memory, 1) for _ in range(3)]
    assert all(event.elapsed == pytest.approx(1.001e-3) for event in events)
    assert all(event.submitted_at <= event.started_at < event.ended_at for event in events)


def test_prepared_launches(gpu: FakeDriver, queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    launch = queue.prepare(program.kernel("add"), 32, 32, memory, 2)
    launch()
    start = len(gpu.calls)
    launch()
    assert sorted(gpu.calls[start:]) == ["cuCtxGetCurrent", *["cuCtxSetCurrent"] * 2, "cuLaunchKernelEx"]
    event = launch()
    event.wait()
    assert event.is_complete
    assert "complete" in repr(event)
    for times in (lambda: event.elapsed, lambda: event.started_at, lambda: event.ended_at):
        with pytest.raises(cm.LaunchError, match="a prepared launch is not timed"):
            times()
    second = cm.Queue(queue.device)
    second.wait_for(launch())
    assert (memory.to_host() == 8).all()
    assert all(one >= 0 for one in queue.device.timer().times(launch, 2))
    host = np.zeros(32, np.int32)
    again = queue.prepare(program.kernel("add"), 32, 32, host, 2)
    again()
    again()
    assert (host == 4).all()
    on_cpu = cm.Queue("cpu").prepare(program.kernel("add"), 32, 32, host, 2)
    on_cpu().wait()
    assert (host == 6).all()


def test_graphs(gpu: FakeDriver, queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    prepared = queue.prepare(program.kernel("add"), 32, 32, memory, 10)
    with queue.graph() as graph:
        queue.fill(memory, 1, 32)
        captured = queue.enqueue(program.kernel("add"), 32, 32, memory, 2)
        prepared()
        with pytest.raises(cm.LaunchError, match=r"wait for graph\.launch"):
            captured.wait()
        with pytest.raises(cm.LaunchError, match=r"wait for graph\.launch"):
            queue.wait()
        with pytest.raises(cm.LaunchError, match=r"cannot be part of a graph: argument 0 \(.*data\) is memory of the "
                                                 "host"):
            queue.enqueue(program.kernel("add"), 32, 32, np.zeros(32, np.int32), 2)
        with pytest.raises(cm.LaunchError, match="it has printf"):
            queue.enqueue(program.kernel("talk"), 1, 1, memory)
        with pytest.raises(cm.LaunchError, match="a graph takes copies between memory of the GPU"):
            queue.memcpy(np.zeros(8), memory, 8)
        with pytest.raises(cm.LaunchError, match="being taken by a graph already"), queue.graph():
            pass
    queue.wait()
    assert not memory.to_host().any()
    graph.launch()
    assert graph.launch().wait().elapsed > 0
    assert (memory.to_host() == 13).all()
    with pytest.raises(cm.LaunchError, match="takes commands once"), graph:
        pass
    with pytest.raises(ValueError, match="mine"), queue.graph() as broken:
        raise ValueError("mine")
    with pytest.raises(cm.LaunchError, match="no commands yet"):
        broken.launch()
    queue.enqueue(program.kernel("add"), 32, 32, memory, 1).wait()
    with pytest.raises(cm.Error, match=r"graphs are of NVIDIA's GPUs"):
        cm.Queue("cpu").graph()


def test_timer_and_snapshot(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    restore = queue.device.snapshot(memory)
    found = cm.do_bench(lambda: queue.enqueue(program.kernel("add"), 32, 32, memory, 1), device="cuda:0", warmup=1,
                        rep=5)
    assert found == pytest.approx(1.001e-3)
    assert memory.to_host().all()
    assert restore is not None
    restore()
    assert not memory.to_host().any()
    timer = queue.device.timer()
    assert "Fake GPU" in timer.hardware
    assert len(timer.times(lambda: None, 3)) == 3


# ------------------------------------------------------------------ errors


def fail(launch: Launch) -> None:
    raise IllegalAccess


def test_an_illegal_access_names_the_kernel_and_ends_all_use(gpu: FakeDriver, queue: cm.Queue,
                                                             program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    gpu.kernels["shift"] = lambda launch: None
    queue.enqueue(program.kernel("shift"), 8, 8, cm.malloc_device[np.int16](8, queue)).wait()  # it is not suspected
    gpu.kernels["add"] = fail
    event = queue.enqueue(program.kernel("add"), 32, 32, memory, 1)
    with pytest.raises(cm.LaunchError, match=r"^kernel 'add' of <source>: a work-item accessed memory that is not "
                                             r"there: CUDA_ERROR_ILLEGAL_ADDRESS .*context is lost.*started again"):
        event.wait()
    for action in (lambda: queue.enqueue(program.kernel("add"), 32, 32, memory, 1), queue.wait,
                   lambda: cm.malloc_device(8, queue), lambda: cm.Queue("cuda:0")):
        with pytest.raises(cm.LaunchError, match=r"cuda:0 cannot be used any more in this process, since kernel 'add'"):
            action()


@pytest.mark.parametrize("on_gpu", [False, True])
def test_an_illegal_access_is_diagnosed_by_the_simulator(gpu: FakeDriver, program: cm.Program, on_gpu: bool) -> None:
    gpu.kernels["add"] = fail
    queue = cm.Queue(cm.device("cuda:0", options=cm.CudaOptions(diagnose=True)))
    memory = cm.malloc_device[np.int32](32, queue) if on_gpu else np.zeros(32, np.int32)
    with pytest.raises(cm.OutOfBounds, match=r"read of 4 bytes .* at <source>:7:.*buffer argument 0 'data', element 32"
                       ) as caught:
        queue.enqueue(program.kernel("add"), 64, 32, memory, 1)
    assert "ILLEGAL_ADDRESS" in caught.value.__notes__[0]


def test_what_the_simulator_does_not_find(gpu: FakeDriver, program: cm.Program,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.kernels["add"] = fail
    queue = cm.Queue(cm.device("cuda:0", options=cm.CudaOptions(diagnose=True)))
    with pytest.raises(cm.LaunchError, match="kernel 'add'") as caught:
        queue.enqueue(program.kernel("add"), 32, 32, np.zeros(32, np.int32), 1)
    assert "finds no access outside of a buffer" in caught.value.__notes__[0]


def test_other_errors_of_options_and_devices(gpu: FakeDriver) -> None:
    assert [one.name for one in cm.devices()][:3] == ["cpu", "cuda:0", "cuda:1"]
    with pytest.raises(cm.Error, match=r"there is no device cuda:2: the driver shows 2 GPUs, cuda:0 to cuda:1"):
        cm.device("cuda:2")
    with pytest.raises(cm.Error, match="diagnose must be True or False"):
        cm.CudaOptions(diagnose=1)  # type: ignore[arg-type]


def test_other_libraries_keep_the_gpu_that_they_have_chosen(gpu: FakeDriver, program: cm.Program) -> None:
    queue = cm.Queue("cuda:1")
    memory = cm.malloc_device[np.int32](32, queue)
    host = np.zeros(32, np.int32)
    launch = queue.prepare(program.kernel("add"), 32, 32, memory, 1)
    for work in (lambda: queue.enqueue(program.kernel("add"), 32, 32, memory, 1), launch, memory.to_host, queue.wait,
                 lambda: launch().wait(), lambda: queue.memcpy(memory, host, 128),
                 lambda: queue.fill(memory, 1, 32).is_complete, lambda: cm.malloc_host(8, queue),
                 lambda: queue.device.timer().times(launch, 2), gc.collect, lambda: cm.free(memory)):
        gpu.device = 0
        work()
        assert gpu.device == 0


def test_threads_launch_at_once_on_several_gpus(gpu: FakeDriver, program: cm.Program) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            queue = cm.Queue(f"cuda:{number % 2}")
            for _ in range(5):
                host = np.full(32, number, np.int32)
                queue.enqueue(program.kernel("add"), 32, 32, host, 1)
                assert (host == number + 1).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_forked_child_is_told_so(queue: cm.Queue, program: cm.Program) -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            cm.Queue("cuda:0").enqueue(program.kernel("add"), 32, 32, np.zeros(32, np.int32), 1)
            os.write(writing, b"nothing")
        except cm.Error as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    text = os.read(reading, 4096).decode()
    os.close(reading)
    os.close(writing)
    assert "CUDA was in use before this process was forked" in text
    assert "spawn" in text


def test_sub_groups_that_are_not_whole(gpu: FakeDriver, queue: cm.Queue) -> None:
    """They share no matrices."""
    program = cm.build((EXAMPLES / "gemm.cl").read_text(), ["-DIN=half", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=16",
                                                           "-DFLAGS=0"], device=queue.device)
    a, c = np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32)
    with pytest.raises(cm.LaunchError, match=r"of 48 work-items a sub-group has 16, which share no matrix: make the"):
        queue.enqueue(program.kernel("gemm"), (48, 1), (48, 1), a, a, c, 16, 16)
