"""What runs on ``vulkan:0`` in a process that sees lavapipe, or the driver in its place, with the validation layer
where it is switched on."""

from __future__ import annotations

import gc
import os
import pickle
import re
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import coopmat as cm
from coopmat import sycl
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.failures import failure
from coopmat.targets.vulkan.host.context import device_facts
from tests.kit.paths import EXAMPLES
from tests.kit.targets import driver_cases

VALIDATES = bool(os.environ.get("VK_INSTANCE_LAYERS"))
DISCRETE = "COOPMAT_TEST_DISCRETE"
"""Switches on that the device is taken for one with memory of its own, to which arrays are copied."""


@cache
def _device(**options: Any) -> cm.Device:
    device: Any = cm.device("vulkan:0", options=cm.VulkanOptions(validation=VALIDATES, **options))
    if os.environ.get(DISCRETE):
        object.__setattr__(device.gpu.facts, "kind", "discrete GPU")
    return device  # type: ignore[no-any-return]


def _sub_group_size() -> int:
    return _device().sub_group_sizes[0]


def _kernel(source: str, name: str = "k") -> cm.Kernel:
    return cm.build(source, device=_device()).kernel(name)


def _run(source: str, size: Any, local: Any, *arguments: Any) -> cm.Event:
    return cm.Queue(_device()).enqueue(_kernel(source), size, local, *arguments).wait()


def _raises(error: type[BaseException], words: str, action: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(words)):
        action()


# --------------------------------------------------------------------------- kernels and arguments


def remainders() -> None:
    """Of negative numbers, too: Vulkan's own instruction leaves them undefined."""
    random = np.random.default_rng(3)
    x = random.integers(-1000, 1000, 64).astype(np.int32)
    y = (random.integers(1, 50, 64) * random.choice([-1, 1], 64)).astype(np.int32)
    out, small = np.zeros(64, np.int32), np.zeros(256, np.int8)
    _run("kernel void k(global int *o, global char4 *s, global const int *x, global const int *y) {"
         " size_t i = get_global_id(0); o[i] = x[i] % y[i]; s[i] = convert_char4((int4)(x[i], -x[i], 3, -7) / 8)"
         " % (char4)(5, -3, 2, 4); }", 64, 8, out, small, x, y)
    assert (out == np.fmod(x, y)).all()
    tens = np.stack([x, -x, np.full_like(x, 3), np.full_like(x, -7)], 1)
    quotients = np.trunc(tens / 8).astype(np.int8)
    assert (small.reshape(64, 4) == np.fmod(quotients, np.array([5, -3, 2, 4], np.int8))).all()


def parts_of_sub_groups_hold_no_matrices() -> None:
    source = """
    kernel void k(global float *o)
    {
        float __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
            c = coop_mat_init(1.0f);
        coop_mat_store(o, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    }"""
    out, size = np.zeros(64, np.float32), _sub_group_size()
    for part in (size // 2, size + size // 2):
        _raises(cm.LaunchError, f"a work-group of {part} is not made of whole ones",
                lambda part=part: _run(source, part, part, out))
    assert not out.any()
    _run(source, size, size, out)
    assert (out == 1).all()


def products() -> None:
    random = np.random.default_rng(1)
    bytes_, halves = ("sint8", "sint8", "sint32", "sint32"), ("fp16", "fp16", "fp32", "fp32")
    options = ("-DIN=half", "-DOUT=float", "-DFLAGS=CLK_COOPERATIVE_MATRIX_OPERAND_NONE")
    size = _sub_group_size()
    for name, types, dtype, out, more in (("gemm", bytes_, np.int8, np.int32, ()),
                                          ("gemm_blocked", bytes_, np.int8, np.int32, ()),
                                          ("gemm", halves, np.float16, np.float32, options)):
        own = next((row.largest for row in _device().own_matrices if row.types == types), None)  # type: ignore[attr-defined]
        m, n, k = own or (8, 8, 8)
        program = cm.build(EXAMPLES / f"{name}.cl", (f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", *more), device=_device())
        blocks = 1 if name == "gemm" else 2
        a = random.integers(-9, 9, (8 * m, 4 * k)).astype(dtype)
        b = random.integers(-9, 9, (4 * k, 12 * n)).astype(dtype)
        c = np.zeros((8 * m, 12 * n), out)
        cm.Queue(_device()).enqueue(program.kernel("gemm"), (12 // blocks * size, 8 // blocks), (size, 1), a, b, c,
                                    12 * n, 4 * k).wait()
        assert (c == a.astype(out) @ b.astype(out)).all(), name
        line, = program.load(_device()).explanation()  # type: ignore[attr-defined]
        assert f"arguments in push constants, sub-groups of {size}, matrices " in line, line
        assert ("matrices of the driver" in line) == (own is not None), line


def scalars_of_every_type() -> None:
    driver_cases.scalars_of_every_type(_run)


def halves() -> None:
    found = np.arange(64, dtype=np.float16)
    _run("kernel void k(global half *p, half h) { p[get_global_id(0)] *= h; }", 64, 8, found, 1.5)
    assert (found == (np.arange(64) * 1.5).astype(np.float16)).all()


def local_arguments() -> None:
    driver_cases.local_arguments(_run)


def null_pointers_and_const_ones() -> None:
    driver_cases.null_pointers_and_const_ones(_run)


def arrays_that_overlap() -> None:
    source = "kernel void k(global const int *x, global int *y) { size_t i = get_global_id(0); y[i] = x[i] + 1; }"
    for start in range(4):  # at places of every alignment
        memory = np.arange(100, dtype=np.int32)
        _run(source, 32, 8, memory[start:start + 32], memory[start + 32:start + 64])
        assert (memory[start + 32:start + 64] == np.arange(start, start + 32) + 1).all()
        same = np.arange(32, dtype=np.int32)
        _run(source, 32, 8, same, same)
        assert (same == np.arange(32) + 1).all()


def large_arguments() -> None:
    """More than push constants hold."""
    count = 60
    parameters = ", ".join(f"long a{n}" for n in range(count))
    source = f"kernel void k(global long *o, {parameters}) {{ {''.join(f'o[{n}] = a{n};' for n in range(count))} }}"
    found = np.zeros(count, np.int64)
    _run(source, 1, 1, found, *range(100, 100 + count))
    assert (found == np.arange(100, 100 + count)).all()


def large_grids() -> None:
    """More work-groups than the driver takes at once."""
    source = """kernel void k(global uint *o, global ulong *sizes) {
        o[get_global_id(0)] = get_group_id(0) + 1;
        if (get_global_id(0) == 0) { sizes[0] = get_num_groups(0); sizes[1] = get_global_size(0); } }"""
    groups = 70000
    found, sizes = np.zeros(8 * groups, np.uint32), np.zeros(2, np.uint64)
    _run(source, 8 * groups, 8, found, sizes)
    assert (found == np.arange(8 * groups) // 8 + 1).all()
    assert sizes.tolist() == [groups, 8 * groups]


def invalid_modules() -> None:
    driver_cases.invalid_modules(_device())


def three_dimensions() -> None:
    driver_cases.three_dimensions(_run)


def variables_of_the_program() -> None:
    program = cm.build("""constant int table[4] = {2, 3, 5, 7}; global int counter = 40;
        kernel void first(global int *o) { counter += table[3]; o[0] = counter; }
        kernel void second(global int *o) { counter += table[1]; o[0] = counter; }""", device=_device())
    found, queue = np.zeros(1, np.int32), cm.Queue(_device())
    seen = []
    for name in ("first", "second", "first"):
        queue.enqueue(program.kernel(name), 1, 1, found).wait()
        seen.append(int(found[0]))
    assert seen == [47, 50, 57], seen


def assertions_that_fail() -> None:
    """The first is an error when the launch has ended, and what its work-item does afterwards is done."""
    source = """void __assert_fail(constant char *expression, constant char *file, unsigned line,
                                   constant char *function);
        kernel void k(global int *o, int n) {
            int i = get_global_id(0);
            if (i >= n) __assert_fail("i < n", "f.cl", 7, "k");
            o[i] = i;
        }"""
    out = np.zeros(16, np.int32)
    _run(source, 16, 8, out, 16)
    _raises(cm.KernelAssertion, "assertion failed: i < n", lambda: _run(source, 16, 8, out, 5))
    assert (out == np.arange(16)).all()


def printing() -> None:
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        _run('kernel void k(int n) { printf("%d %s %.2f\\n", n, "times", 1.5); }', 2, 2, 7)
    assert text.getvalue() == "7 times 1.50\n" * 2, text.getvalue()


# --------------------------------------------------------------------------- memory, queues, events


def memory_of_the_device() -> None:
    queue = cm.Queue(_device())
    kernel = _kernel("kernel void k(global int *p, int n) { p[get_global_id(0)] += n; }")
    memory = cm.malloc_device[sycl.int32](64, queue)
    assert (memory.to_host() == 0).all()
    queue.memcpy(memory, np.arange(64, dtype=np.int32), 256)
    queue.enqueue(kernel, 64, 8, memory, 5)
    queue.enqueue(kernel, 32, 8, memory + 32, 1)
    expected = np.arange(64) + 5 + (np.arange(64) >= 32)
    assert (memory.to_host() == expected).all()
    target = np.zeros(64, np.int32)
    queue.memcpy(target, memory, 256).wait()
    assert (target == expected).all()
    queue.fill(memory, 7, 10)
    queue.memset(memory + 20, 1, 7)
    found = memory.to_host()
    assert (found[:10] == 7).all()
    assert found.view(np.uint8)[80:88].tolist() == [1] * 7 + [0]
    other = cm.malloc_device[sycl.int32](64, queue)
    queue.memcpy(other + 1, memory, 40).wait()
    assert (other.to_host()[:12] == [0, *[7] * 10, 0]).all()
    cm.free(memory, queue)
    _raises(cm.LaunchError, "was freed", lambda: queue.enqueue(kernel, 64, 8, memory, 5))


def memory_that_both_reach() -> None:
    queue = cm.Queue(_device())
    kernel = _kernel("kernel void k(global int *p) { p[get_global_id(0)] *= 2; }")
    for make in (cm.malloc_shared, cm.malloc_host):
        memory = make[sycl.int32](64, queue)
        memory[:] = np.arange(64)
        event = queue.enqueue(kernel, 64, 8, memory)
        event.wait()
        queue.enqueue(kernel, 32, 8, memory[32:]).wait()
        assert (memory == np.arange(64) * np.where(np.arange(64) < 32, 2, 4)).all()
    del memory
    gc.collect()


def events() -> None:
    queue, other = cm.Queue(_device()), cm.Queue(_device())
    kernel = _kernel("""kernel void k(global float *p) { float x = p[get_global_id(0)];
        for (int i = 0; i < 20000; i++) x = x * 1.0001f + 1.0f; p[get_global_id(0)] = x; }""")
    memory = cm.malloc_device[sycl.float32](256, queue)
    before = time.perf_counter_ns()
    first = queue.enqueue(kernel, 256, 64, memory)
    second = other.enqueue(kernel, 256, 64, memory)
    other.wait_for(first)
    second.wait()
    after = time.perf_counter_ns()
    assert first.is_complete
    assert second.is_complete
    assert 0 < first.elapsed < 60
    assert before <= first.submitted_at <= first.started_at <= first.ended_at
    assert first.ended_at <= second.started_at + 1000
    assert second.ended_at <= after
    sycl_info = sycl.info.event_profiling
    assert first.get_profiling_info(sycl_info.command_end) == first.ended_at
    launch = queue.prepare(kernel, 256, 64, memory)
    assert launch().wait().elapsed > 0
    times = cm.do_bench(lambda: queue.enqueue(kernel, 256, 64, memory))
    assert times > 0


def threads() -> None:
    kernel = _kernel("kernel void k(global int *p) { p[get_global_id(0)] += 1; }")
    arrays = [np.zeros(64, np.int32) for _ in range(4)]

    def work(array: np.ndarray) -> None:
        queue = cm.Queue(_device())
        for _ in range(20):
            queue.enqueue(kernel, 64, 8, array).wait()

    workers = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((array == 20).all() for array in arrays)


def devices_are_pickled() -> None:
    device = _device()
    assert device.gpu is pickle.loads(pickle.dumps(device)).gpu  # type: ignore[attr-defined]


# --------------------------------------------------------------------------- what is refused


def too_much_memory() -> None:
    queue = cm.Queue(_device())
    _raises(cm.LaunchError, "malloc_device: 1099511627776 bytes", lambda: cm.malloc_device(1 << 40, queue))
    kernel = _kernel("kernel void k(global int *p, local int *s) { p[0] = s[0]; }")
    _raises(cm.LaunchError, "bytes of local memory", lambda: queue.enqueue(kernel, 8, 8, np.zeros(8, np.int32),
                                                                            cm.local(1 << 20)))
    found = np.zeros(8, np.int32)  # nothing was lost
    queue.enqueue(kernel, 8, 8, found, cm.local(64)).wait()


def sizes_that_do_not_fit() -> None:
    kernel = _kernel("kernel void k(global int *p) { p[0] = 1; }")
    _raises(cm.LaunchError, "at most 1024", lambda: cm.Queue(_device()).enqueue(kernel, 2048, 2048,
                                                                                np.zeros(1, np.int32)))


def sub_groups_of_other_sizes() -> None:
    """They are refused where it makes a difference."""
    sizes = _device().sub_group_sizes
    other, has = next(size for size in (16, 64, 128) if size not in sizes), " or ".join(map(str, sizes))
    source = f"__attribute__((intel_reqd_sub_group_size({other}))) kernel void k(global int *p) {{{{ *p = {{}}; }}}}"
    words = f"requires sub-groups of {other}; vulkan:0 has {has}: let it require {has}, or none"
    _raises(cm.KernelNotSupported, words, lambda: _run(source.format("get_sub_group_size()"), other, other,
                                                       np.zeros(1, np.int32)))
    found = np.zeros(1, np.int32)
    _run(source.format("7"), other, other, found)
    assert found == [7]


def functions_of_work_groups() -> None:
    driver_cases.functions_of_work_groups(_run)


def generic_pointers() -> None:
    driver_cases.generic_pointers(_run, tells=True)


def values_across_barriers() -> None:
    driver_cases.values_across_barriers(_run)


def sub_groups_meet_other_numbers_of_barriers() -> None:
    driver_cases.sub_groups_meet_other_numbers_of_barriers(_run, _sub_group_size())


def shaders_are_tried() -> None:
    """In a process of its own, with the same results."""
    device = cm.device("vulkan:0", options=cm.VulkanOptions(tries_shaders=True))
    found = np.zeros(16, np.int32)
    kernel = cm.build("kernel void k(global int *p) { p[get_global_id(0)] = 9; }", device=device).kernel("k")
    cm.Queue(device).enqueue(kernel, 16, 16, found).wait()
    assert (found == 9).all()


def memory_of_others() -> None:
    kernel = _kernel("kernel void k(global int *p) { p[0] = 1; }")

    class Elsewhere:
        __cuda_array_interface__ = {"data": (4096, False), "shape": (8,), "typestr": "<i4", "version": 3}

    _raises(cm.LaunchError, "vulkan:0 reaches its own", lambda: cm.Queue(_device()).enqueue(kernel, 8, 8, Elsewhere()))


def what_there_is_not() -> None:
    program = cm.build("kernel void k(global int *p) { p[0] = 1; }", device=_device())
    _raises(cm.Error, "gives no assembly", lambda: program.asm)
    _raises(cm.Error, "no NVIDIA GPU", lambda: program.ptx)
    _raises(cm.Error, "no stream", lambda: cm.Queue(_device(), stream=1))
    _raises(cm.Error, "graphs are of NVIDIA", lambda: cm.Queue(_device()).graph())
    _raises(cm.Error, "show vulkan:0 only", lambda: cm.device("vulkan:7"))
    _raises(cm.Error, "VulkanOptions", lambda: cm.device("vulkan:0", options=cm.CpuOptions()))
    _raises(cm.Error, "timeout must be", lambda: cm.VulkanOptions(timeout=-1))


def what_it_is() -> None:
    device: Any = _device()
    facts = device_facts(0)
    assert device.name == "vulkan:0"
    assert device.architecture == facts.name
    assert device.is_gpu() == (facts.kind != "CPU")
    assert device.sub_group_sizes == facts.sub_group_sizes
    sizes = np.zeros(1, np.int32)
    _run("kernel void k(global int *p) { *p = get_sub_group_size(); }", device.sub_group_sizes[0],
         device.sub_group_sizes[0], sizes)
    assert sizes == device.sub_group_sizes[0]
    usual = cm.device(environment={})  # a CPU of Vulkan's is not the usual device, and there may be other GPUs
    assert usual.is_gpu() if device.is_gpu() else usual.name != "vulkan:0"
    native = [row for row in device.matrix_combinations if row.native]
    assert native == device.own_matrices
    assert device in cm.devices() or VALIDATES


# --------------------------------------------------------------------------- at last: what ends all use of the device


def zz_a_lost_device() -> None:
    """The driver is made to say so."""
    device = cm.device("vulkan:0", options=cm.VulkanOptions(validation=VALIDATES, printf_limit=100))
    context, kernel = device.gpu, _kernel("kernel void k(global int *p) { p[0] = 1; }")  # type: ignore[attr-defined]
    queue, memory = cm.Queue(device), np.zeros(8, np.int32)

    def lost(*_: Any) -> int:
        raise failure(vk.ERROR_DEVICE_LOST, "vkQueueSubmit")

    context.commands.QueueSubmit = lost
    _raises(cm.LaunchError, "kernel 'k'", lambda: queue.enqueue(kernel, 8, 8, memory))
    _raises(cm.LaunchError, "cannot be used any more", lambda: queue.enqueue(kernel, 8, 8, memory))
    _raises(cm.LaunchError, "cannot be used any more", lambda: cm.malloc_device(8, queue))
