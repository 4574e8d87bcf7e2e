"""Queues, memory and arrays of other libraries on a real NVIDIA GPU."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm

pytestmark = pytest.mark.oracle("cuda")
N = 1 << 16
SOURCE = """
kernel void add(global int *data, int n) { data[get_global_id(0)] += n; }
kernel void scale(global float *out, global const float *in, float factor)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * factor;
}
kernel void doubled(global short *bits, global const float *in)
{
    size_t i = get_global_id(0);
    bits[i] = as_uint(in[i] * 2) >> 16;  // exact for small numbers
}
kernel void spin(global int *data, int rounds)
{
    int h = data[get_global_id(0)];
    for (int r = 0; r < rounds; r++)
        h = h * 1664525 + 1013904223;
    data[get_global_id(0)] = h;
}
kernel void wild(global int *data, long where) { data[where] = 1; }
kernel void say(global int *p) { if (get_global_id(0) == 0) printf("says %d\\n", p[0]); }
"""


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(SOURCE, device="cuda:0")


@pytest.fixture
def queue() -> cm.Queue:
    return cm.Queue("cuda:0")


def test_memory_of_every_kind(queue: cm.Queue, program: cm.Program) -> None:
    memory = [make[np.int32](N, queue) for make in (cm.malloc_device, cm.malloc_shared, cm.malloc_host)]
    plain = np.zeros(N, np.int32)
    for one in (*memory, plain):
        queue.enqueue(program.kernel("add"), N, 256, one, 3)
        queue.enqueue(program.kernel("add"), N // 2, 256, one, 1)
    queue.wait()
    expected = np.repeat([4, 3], N // 2)
    for found in (memory[0].to_host(), *memory[1:], plain):
        np.testing.assert_array_equal(found, expected)
    for one in memory:
        cm.free(one)


def test_launches_are_submitted_and_timed_by_the_gpu(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](N, queue)
    queue.enqueue(program.kernel("spin"), N, 256, memory, 1).wait()
    start = time.perf_counter()
    event = queue.enqueue(program.kernel("spin"), N, 256, memory, 5_000_000)
    submitted = time.perf_counter() - start
    assert not event.is_complete
    assert event.wait().elapsed > 2 * submitted
    assert event.submitted_at <= event.started_at <= event.ended_at <= time.perf_counter_ns() + 1_000_000
    assert event.ended_at - event.started_at == pytest.approx(event.elapsed * 1e9, rel=1e-3)


def test_queues_are_ordered_by_events(program: cm.Program) -> None:
    first, second = cm.Queue("cuda:0"), cm.Queue("cuda:0")
    memory = cm.malloc_device[np.int32](N, first)
    for _ in range(20):
        first.fill(memory, 0, N)
        slow = first.enqueue(program.kernel("spin"), N, 256, memory, 100_000)
        first.fill(memory, 5, N)
        second.wait_for(first.memset(memory, 0, 4), slow)
        done = second.enqueue(program.kernel("add"), N, 256, memory, 1)
        first.wait_for(done)
        found = np.zeros(N, np.int32)
        first.memcpy(found, memory, 4 * N)
        assert found[0] == 1
        assert (found[1:] == 6).all()


@pytest.mark.parametrize("dtype", [np.int8, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.uint64])
def test_commands_on_memory(queue: cm.Queue, dtype: Any) -> None:
    memory, host = cm.malloc_device[dtype](1000, queue), np.zeros(1000, dtype)
    queue.fill[dtype](memory, 3, 1000)
    queue.copy(memory + 500, host, 500)
    assert (host[:500] == dtype(3)).all()
    assert not host[500:].any()
    queue.memcpy(memory, np.arange(1000).astype(dtype), 1000 * np.dtype(dtype).itemsize)
    np.testing.assert_array_equal(memory.to_host(), np.arange(1000).astype(dtype))


def test_graphs(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](N, queue)
    prepared = queue.prepare(program.kernel("add"), N, 256, memory, 10)
    with queue.graph() as graph:
        queue.fill(memory, 1, N)
        queue.enqueue(program.kernel("add"), N, 256, memory, 2)
        prepared()
        with pytest.raises(cm.LaunchError, match="memory of the host"):
            queue.enqueue(program.kernel("add"), N, 256, np.zeros(N, np.int32), 2)
    assert not memory.to_host().any()
    for _ in range(3):
        assert graph.launch().wait().elapsed > 0
    prepared().wait()
    assert (memory.to_host() == 23).all()


def test_prepared_launches_follow_each_other(queue: cm.Queue) -> None:
    """The next one's work-groups may begin early: they read what the last ones of those before have written."""
    program = cm.build("kernel void turn(global const int *from, global int *to) { size_t i = get_global_id(0), n = "
                       "get_global_size(0); int slow = 0; for (int j = 0; j < (int)(i / 64 % 7) * 50; j++) slow += "
                       "to[(i + j) % n] & 0; to[n - 1 - i] = from[i] * 3 + 1 + slow; }", device=queue.device)
    count, rounds = 132 * 2048 * 2, 200
    memories = [cm.malloc_device[np.int32](count, queue) for _ in range(2)]
    queue.copy(np.arange(count, dtype=np.int32), memories[0], count).wait()
    both = [queue.prepare(program.kernel("turn"), count, 256, *order) for order in (memories, memories[::-1])]
    for _ in range(rounds // 2):
        both[0]()
        both[1]()
    expected = np.arange(count, dtype=np.uint32)
    for _ in range(rounds):
        expected = (expected * np.uint32(3) + np.uint32(1))[::-1]
    np.testing.assert_array_equal(memories[0].to_host().view(np.uint32), expected)


def test_prepared_launches_take_few_microseconds(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](256, queue)
    launch = queue.prepare(program.kernel("add"), 256, 256, memory, 1)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(200):
            launch()
        times.append((time.perf_counter() - start) / 200)
        queue.wait()
    assert (memory.to_host() == 4000).all()
    assert min(times) < 20e-6  # 10 on a quiet machine: benchmarks/hardware/launches_cuda.py


def test_printf_of_device_memory(queue: cm.Queue, program: cm.Program, capfd: pytest.CaptureFixture[str]) -> None:
    memory = cm.malloc_device[np.int32](32, queue)
    queue.fill(memory, 7, 32)
    queue.enqueue(program.kernel("say"), 32, 32, memory)
    assert capfd.readouterr().out == "says 7\n"


def test_threads(program: cm.Program) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            queue = cm.Queue("cuda:0")
            memory = cm.malloc_device[np.int32](N, queue)
            for _ in range(50):
                queue.enqueue(program.kernel("add"), N, 256, memory, number)
                host = np.full(N, number, np.int32)
                queue.enqueue(program.kernel("add"), N, 256, host, 1)
                assert (host == number + 1).all()
            assert (memory.to_host() == 50 * number).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_times_with_empty_caches(queue: cm.Queue, program: cm.Program) -> None:
    memory = cm.malloc_device[np.int32](1 << 20, queue)

    def launch() -> cm.Event:
        return queue.enqueue(program.kernel("add"), 1 << 20, 256, memory, 1)

    warm, cold = (cm.do_bench(launch, device="cuda:0", flush=flush, rep=20) for flush in (False, True))
    assert 0 < warm < cold < 1e-2


def test_resources_and_code(program: cm.Program) -> None:
    found = program.kernel("scale").resources
    assert 8 <= found.registers <= 64
    assert found.spills == 0
    assert found.most_threads is not None
    assert ".entry scale" in program.ptx
    assert program.cubin[:4] == b"\x7fELF"


# ------------------------------------------------------------------ arrays of other libraries


def torch_scaled(queue: Callable[[Any], cm.Queue], program: cm.Program) -> None:
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        target = queue(stream.cuda_stream)
        for _ in range(20):
            given = torch.full((N,), 1.0, device="cuda:0")
            for _ in range(20):
                given = given * 2  # takes its time on torch's stream
            out = torch.zeros(N, device="cuda:0")
            target.enqueue(program.kernel("scale"), N, 256, out, given, 0.5)
            assert (out + 1 == 2.0**19 + 1).all().item()  # on torch's stream, which comes after the launch


def test_tensors_of_torch_on_its_stream_and_on_another(program: cm.Program) -> None:
    pytest.importorskip("torch")
    torch_scaled(lambda _: cm.Queue("cuda:0"), program)
    torch_scaled(lambda handle: cm.Queue("cuda:0", stream=handle), program)


def test_bfloat16_of_torch(queue: cm.Queue, program: cm.Program) -> None:
    torch = pytest.importorskip("torch")
    given = torch.arange(64, device="cuda:0", dtype=torch.float32)
    out = torch.zeros(64, device="cuda:0", dtype=torch.bfloat16)
    queue.enqueue(program.kernel("doubled"), 64, 64, out, given).wait()
    assert (out.float() == 2 * given).all().item()
    for wrong, message in ((given.to(torch.int32), "found int32"), (given[::2], "not contiguous"),
                           (given.cpu().double(), "found float64")):
        with pytest.raises(cm.LaunchError, match=message):
            queue.enqueue(program.kernel("scale"), 32, 32, out.float(), wrong, 2.0)
    with pytest.raises(cm.LaunchError, match=r"on cuda:0, and the device 'cpu' .* tensor.cpu\(\)"):
        cm.Queue("cpu").enqueue(program.kernel("scale"), 64, 64, given, given, 2.0)
    host = torch.zeros(64)  # a tensor of the host is as numpy's arrays
    queue.enqueue(program.kernel("scale"), 64, 64, host, given, 2.0)
    assert (host == 2 * given.cpu()).all().item()
    memory = cm.malloc_device[np.float32](64, queue)
    queue.fill(memory, 3, 64).wait()
    assert (torch.as_tensor(memory, device="cuda:0") == 3).all().item()
    assert (torch.from_dlpack(memory) == 3).all().item()


def test_arrays_of_cupy(queue: cm.Queue, program: cm.Program) -> None:
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Stream(non_blocking=True):
        for _ in range(20):
            given = cupy.ones(N, cupy.float32)
            for _ in range(20):
                given = given * 2
            out = cupy.zeros(N, cupy.float32)
            queue.enqueue(program.kernel("scale"), N, 256, out, given, 0.5)
            assert bool((out + 1 == 2.0**19 + 1).all())
    memory = cm.malloc_device[np.float32](64, queue)
    queue.fill(memory, 3, 64).wait()
    assert bool((cupy.asarray(memory) == 3).all())


def test_arrays_of_numba(queue: cm.Queue, program: cm.Program) -> None:
    pytest.importorskip("numba")
    from numba import cuda

    given, out = cuda.to_device(np.arange(N, dtype=np.float32)), cuda.device_array(N, np.float32)
    queue.enqueue(program.kernel("scale"), N, 256, out, given, 0.5).wait()
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(N, dtype=np.float32) / 2)


def test_arrays_of_jax(queue: cm.Queue, program: cm.Program) -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    given = jax.numpy.arange(N, dtype=jax.numpy.float32) * 2
    out = np.zeros(N, np.float32)
    queue.enqueue(program.kernel("scale"), N, 256, out, given, 0.5).wait()
    np.testing.assert_array_equal(out, np.arange(N))


# ------------------------------------------------------------------ what ends the use of a GPU, in processes of its own

START = f"""
import os, sys
import numpy as np
import coopmat as cm
program = cm.build({SOURCE!r}, device="cuda:0", cache_dir="off")
"""


def output(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=300,
                          check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def test_an_illegal_access() -> None:
    text = output("""
queue = cm.Queue("cuda:0")
memory = cm.malloc_device[np.int32](32, queue)
event = queue.enqueue(program.kernel("wild"), 32, 32, memory, 1 << 42)
for action in (event.wait, queue.wait, lambda: queue.enqueue(program.kernel("add"), 32, 32, memory, 1)):
    try:
        action()
    except cm.LaunchError as error:
        print(error)
print([one.name for one in cm.devices()][:2])
""").splitlines()
    assert ("kernel 'wild' of <source>: a work-item accessed memory that is not there: "
            "CUDA_ERROR_ILLEGAL_ADDRESS") in text[0]
    assert "context is lost" in text[0]
    assert all(line.startswith("cuda:0 cannot be used any more in this process, since kernel 'wild'")
               for line in text[1:3])
    assert text[3] == "['cpu', 'cuda:0']"


def test_an_illegal_access_is_diagnosed() -> None:
    text = output("""
queue = cm.Queue(cm.device("cuda:0", options=cm.CudaOptions(diagnose=True)))
memory = cm.malloc_device[np.int32](32, queue)
queue.enqueue(program.kernel("add"), 32, 32, memory, 1)
try:
    queue.enqueue(program.kernel("wild"), 32, 32, memory, 1 << 42)
except cm.OutOfBounds as error:
    print(error, error.__notes__)
""")
    assert "write of 4 bytes" in text
    assert "buffer argument 0 'data'" in text
    assert "at <source>:20:" in text
    assert "ILLEGAL_ADDRESS" in text


def test_forks() -> None:
    """A child of a process that has used the GPU is told so; one that is forked before uses it."""
    text = output("""
queue = cm.Queue("cuda:0")
sys.stdout.flush()
if not os.fork():
    try:
        cm.Queue("cuda:0")
    except cm.Error as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
""")
    assert "CUDA was in use before this process was forked" in text
    code = f"""
import os, numpy as np, coopmat as cm
if not os.fork():
    program, data = cm.build({SOURCE!r}, device="cuda:0", cache_dir="off"), np.zeros(32, np.int32)
    cm.Queue("cuda:0").enqueue(program.kernel("add"), 32, 32, data, 5).wait()
    print(data.sum(), flush=True)
    os._exit(0)
os.wait()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "160\n", done.stderr
