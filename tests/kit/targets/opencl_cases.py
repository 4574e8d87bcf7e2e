"""What runs on ``opencl:0`` in a process that sees one of OpenCL's drivers."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat import sycl
from coopmat.runtime.opencl_device import OpenCLDevice
from tests.kit.oracles import intel_runtime
from tests.kit.paths import EXAMPLES, ROOT
from tests.kit.targets import driver_cases

SUB_GROUP_SIZES = {"Intel(R) OpenCL": (16, 4, 8, 32, 64), "rusticl": (8,), "Portable Computing Language": (1,)}
"""By the driver's name: the first are those of kernels that require none. 1: there are no sub-groups."""


def _is_intel() -> bool:
    return _device().facts.platform_name == "Intel(R) OpenCL"


def _device(**options: Any) -> OpenCLDevice:
    return OpenCLDevice(0, cm.OpenCLOptions(**options))


def _run(source: str, size: Any, local: Any, *arguments: Any, **options: Any) -> cm.Event:
    device = _device(**options)
    return cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), size, local, *arguments).wait()


def _raises(error: type[BaseException], words: str, action: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(words)):
        action()


# --------------------------------------------------------------------------- the device


def the_device_is_listed() -> None:
    device = next(one for one in cm.devices() if one.name == "opencl:0")
    assert device == cm.device("opencl") == cm.device("opencl:0")
    assert device.is_cpu()
    assert not device.is_gpu()
    assert device.sub_group_sizes == SUB_GROUP_SIZES[_device().facts.platform_name]
    assert device.architecture == _device().facts.name
    _raises(cm.Error, "there is no device opencl:7: there are 1, counted from 0", lambda: cm.device("opencl:7"))
    _raises(cm.Error, "the options of the device 'opencl:0' are OpenCLOptions, not CpuOptions",
            lambda: cm.device("opencl:0", options=cm.CpuOptions()))
    _raises(cm.Error, "option host_memory must be True or False; found 1", lambda: cm.OpenCLOptions(host_memory=1))  # type: ignore[arg-type]


def doctor_tells_of_the_driver() -> None:
    from coopmat.command_line.opencl_drivers import lines, unusable

    found = list(lines())
    text = "\n".join(f"{name}: {words}" for name, _, words in found)
    assert all(works is not False for _, works, _ in found), text
    sizes = _device().sub_group_sizes
    expected = "none: the driver lists neither" if sizes == (1,) else f"sizes {', '.join(map(str, sizes))}\n"
    assert f"opencl:0 sub-groups: {expected}" in text
    assert ("opencl:0 barriers: sub-groups wait for their own work-items only: no, " in text) != (sizes == (1,))
    assert "cl_khr_spirv_queries" in text
    assert not unusable()


# --------------------------------------------------------------------------- arguments


def scalars_of_every_type() -> None:
    driver_cases.scalars_of_every_type(_run)


def structures_by_value() -> None:
    source = """typedef struct { char a; long b; float c[2]; } thing;
    kernel void k(global long *o, thing t, int n) { o[0] = t.a; o[1] = t.b; o[2] = t.c[1]; o[3] = n; }"""
    kind = np.dtype([("a", "i1"), ("b", "i8"), ("c", "f4", 2)], align=True)
    found = np.zeros(4, np.int64)
    _run(source, 1, 1, found, np.array((-5, 1 << 40, (1, 7)), kind)[()], 9)
    assert found.tolist() == [-5, 1 << 40, 7, 9]


def local_arguments() -> None:
    driver_cases.local_arguments(_run)


def null_pointers_and_const_ones() -> None:
    driver_cases.null_pointers_and_const_ones(_run)


def invalid_modules() -> None:
    driver_cases.invalid_modules(_device())


def three_dimensions() -> None:
    driver_cases.three_dimensions(_run)


def arrays_in_place_and_copied() -> None:
    """Overlapping arrays, those at odd addresses and read-only ones: the same in both ways."""
    source = "kernel void k(global const int *x, global int *y) { size_t i = get_global_id(0); y[i] = x[i] + 1; }"
    for in_place in (True, False):
        whole = np.arange(200, dtype=np.int32)
        _run(source, 64, 16, whole[:64], whole[64:128], host_memory=in_place)
        assert (whole[64:128] == np.arange(1, 65)).all()
        assert (whole[128:] == np.arange(128, 200)).all()
        odd = np.zeros(64 * 4 + 4, np.uint8)[4:].view(np.int32)
        source_array = np.arange(64, dtype=np.int32)
        source_array.flags.writeable = False
        _run(source, 64, 16, source_array, odd, host_memory=in_place)
        assert (odd == np.arange(1, 65)).all()
        empty = np.zeros(0, np.int32)
        _run("kernel void k(global int *x, global int *y) { y[0] = 4; }", 1, 1, empty, odd, host_memory=in_place)
        assert odd[0] == 4


def functions_of_work_groups() -> None:
    driver_cases.functions_of_work_groups(_run)


def generic_pointers() -> None:
    driver_cases.generic_pointers(_run, tells=not _is_intel())


def values_across_barriers() -> None:
    driver_cases.values_across_barriers(_run)


def variables_keep_their_content() -> None:
    """In all kernels, in work-groups of any size."""
    device = _device()
    program = cm.build("""global int count = 5; constant int steps[3] = {1, 10, 100};
        kernel void first(global int *o) {
            if (!get_local_id(0)) o[0] = atomic_fetch_add((atomic_int *)&count, steps[1]); }
        kernel void second(global int *o) { if (!get_local_id(0)) o[0] = ++count; }""", device=device)
    found = []
    for name, size in (("first", 1), ("second", 1), ("first", 4)):
        o = np.zeros(1, np.int32)
        cm.Queue(device).enqueue(program.kernel(name), size, size, o).wait()
        found.append(int(o[0]))
    assert found == [5, 16, 16]


def kernels_print() -> None:
    with tempfile.TemporaryFile() as file:
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            _run('kernel void k(int n) { printf("%d of %s\\n", n, "seven"); }', 1, 1, 3)
            _run("""void __assert_fail(constant char *expression, constant char *file, unsigned line,
                                       constant char *function);
                kernel void k(int n) { if (n != 4) __assert_fail("n == 4", "f.cl", 1, "k"); }""", 1, 1, 3)
        finally:
            os.dup2(before, 1)
        file.seek(0)
        printed = file.read().decode()
    assert "3 of seven\n" in printed
    assert "assertion failed: n == 4" in printed


# --------------------------------------------------------------------------- events and times


def events_are_timed_by_the_driver() -> None:
    source = """kernel void k(global float *p) {
        float x = p[0];
        for (int i = 0; i < 1000000; i++) x = x * 0.5f + 1;
        p[0] = x; }"""
    event = _run(source, 1, 1, np.zeros(1, np.float32))
    assert event.is_complete
    assert 1e-5 < event.elapsed < 10
    assert event.submitted_at <= event.started_at <= event.ended_at
    launch = cm.Queue(_device()).prepare(cm.build(source, device=_device()).kernel("k"), 1, 1, np.zeros(1, np.float32))
    found = cm.do_bench(launch, device="opencl:0", warmup=0.01, rep=0.05)
    assert found is not None


# --------------------------------------------------------------------------- sub-groups and instructions


def sub_groups_of_every_size() -> None:
    for size in cm.device("opencl:0").sub_group_sizes:
        found = np.zeros((3, 128), np.int32)
        _run(f"""__attribute__((intel_reqd_sub_group_size({size})))
            kernel void k(global int *o) {{ size_t i = get_global_id(0);
                o[i] = get_sub_group_size(); o[128 + i] = sub_group_reduce_add((int)i);
                o[256 + i] = sub_group_shuffle_xor((int)i, 1u); }}""", 128, 128, found)
        assert (found[0] == size).all()
        assert (found[1].reshape(-1, size) == np.arange(128).reshape(-1, size).sum(1, keepdims=True)).all()
        assert (found[2] == np.arange(128) ^ 1).all()
    sizes = ", ".join(map(str, sorted(cm.device("opencl:0").sub_group_sizes)))
    _raises(cm.KernelNotSupported, f"has no sub-groups of 2; its sizes are {sizes}", lambda: _run(
        "__attribute__((intel_reqd_sub_group_size(2))) kernel void k(global int *o) { *o = get_sub_group_size(); }", 1,
        1, np.zeros(1, np.int32)))


def sizes_of_sub_groups_that_make_no_difference() -> None:
    found = np.zeros(16, np.int32)
    _run("__attribute__((intel_reqd_sub_group_size(2))) kernel void k(global int *o) { o[get_global_id(0)] = 5; }", 16,
         16, found)
    assert (found == 5).all()


def sub_groups_meet_other_numbers_of_barriers() -> None:
    driver_cases.sub_groups_meet_other_numbers_of_barriers(_run, _device().sub_group_sizes[0])


def dot_products() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (64, 4), np.int8), rng.integers(-128, 128, (64, 4), np.int8)
    found = np.zeros(64, np.int32)
    _run("""kernel void k(global const char4 *a, global const char4 *b, global int *o) {
        size_t i = get_global_id(0); o[i] = dot_acc_sat(a[i], b[i], (int)i); }""", 64, 16, a.reshape(-1),
         b.reshape(-1), found)
    assert (found == (a.astype(int) * b).sum(1) + np.arange(64)).all()


def bf16_numbers_convert() -> None:
    given = np.array([1, 1.00390625, 1.01171875, -3e38, np.inf, np.nan, 1e-40, 0.1], np.float32)
    found, back = np.zeros(8, ml_dtypes.bfloat16), np.zeros(8, np.float32)
    _run("kernel void k(global const float *x, global __bf16 *y, global float *z) { size_t i = get_global_id(0);"
         " y[i] = x[i]; z[i] = y[i]; }", 8, 8, given, found, back)
    assert found.tobytes() == given.astype(ml_dtypes.bfloat16).tobytes()
    np.testing.assert_array_equal(back, found.astype(np.float32))


# --------------------------------------------------------------------------- matrices

_BYTES = (np.int8, np.int32, ())
_HALVES = (np.float16, np.float32, ("-DIN=half", "-DOUT=float"))
_BF16 = (ml_dtypes.bfloat16, np.float32, ("-DIN=__bf16", "-DOUT=float"))


def _product(kind: tuple[Any, Any, tuple[str, ...]], tile: tuple[int, int, int], **options: Any) -> list[str]:
    """gemm.cl in a tile; what was done to it for the driver."""
    dtype, sums, words = kind
    device = _device(**options)
    m, n, k = tile
    program = cm.build(EXAMPLES / "gemm.cl", (f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", *words), device=device)
    rng = np.random.default_rng(sum(tile))
    a, b = (rng.integers(-5, 5, shape).astype(dtype) for shape in ((4 * m, 2 * k), (2 * k, 3 * n)))
    c = np.zeros((4 * m, 3 * n), sums)
    size = device.sub_group_sizes[0]
    cm.Queue(device).enqueue(program.kernel("gemm"), (3 * size, 4), (size, 1), a, b, c, 3 * n, 2 * k).wait()
    np.testing.assert_array_equal(c, a.astype(sums) @ b.astype(sums))
    return device.explanation(program.load(device))


def matrices_become_sub_group_code() -> None:
    tiles = ((16, 16, 16), (8, 8, 32), (3, 5, 8)) if _is_intel() else ((8, 8, 8),)  # rusticl's compiler is slow
    for kind in (_BYTES, _HALVES, _BF16):
        for tile in tiles:
            assert "sub-group code" in "\n".join(_product(kind, tile, native_matrices=False))


def matrices_on_the_driver() -> None:
    """With AMX they are those of Intel's driver, B packed by the kernel; others have none."""
    native = [row for row in cm.device("opencl:0").matrix_combinations if row.native]
    assert bool(native) == (_is_intel() and intel_runtime.has_matrices())
    if not native:
        return
    for kind, name, k in ((_BYTES, "sint8", 64), (_BF16, "bf16", 32), (_HALVES, "fp16", 32)):
        has = any(row.atype == name for row in native)
        for tile in ((16, 16, k), (8, 16, k // 2), (1, 16, k), (32, 32, 2 * k)):
            notes = "\n".join(_product(kind, tile))
            assert ("sub-group code" in notes) != has, (name, tile, notes)


def matrices_of_other_layouts_and_local_memory() -> None:
    source = """#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define M(r, c, u) __attribute__((coop_mat(SCOPE, r, c, CLK_COOPERATIVE_MATRIX_##u)))
    typedef char a_t M(16, 64, A); typedef char b_t M(64, 16, B); typedef int c_t M(16, 16, ACCUMULATOR);
    kernel void k(global const char *A, global const char *B, global int *C, local char *staged) {
        for (int i = get_local_id(0); i < 1024; i += get_local_size(0)) staged[i] = B[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        a_t a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_LAYOUT_A, 64);
        b_t b = coop_mat_load(staged, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 64);
        c_t start = coop_mat_init(1), c = coop_matmul_add(a, b, start, 15);
        coop_mat_store(C + 256 * get_sub_group_id(), c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16); }"""
    rng = np.random.default_rng(4)
    a, b = rng.integers(-9, 9, (16, 64), np.int8), rng.integers(-9, 9, (64, 16), np.int8)
    expected = a.astype(np.int32) @ b.astype(np.int32) + 1
    for layout, given in (("ROW_MAJOR", a), ("COLUMN_MAJOR", None)):
        text = source.replace("LAYOUT_A, 64", f"{layout}, {64 if given is not None else 16}")
        memory = given if given is not None else np.ascontiguousarray(a.T)
        found = np.zeros((2, 16, 16), np.int32)
        size = 2 * _device().sub_group_sizes[0]
        _run(text, size, size, memory.reshape(-1), np.ascontiguousarray(b.T).reshape(-1), found, cm.local(1024))
        for part in found:
            np.testing.assert_array_equal(part, expected)


def matrices_of_work_groups() -> None:
    """Their sub-groups share them: no driver of OpenCL has any."""
    options = ["-DTM=32", "-DTN=32", "-DTK=32", "-DRM=1", "-DRN=1", "-DIN=char", "-DOUT=int", "-DFLAGS=15",
               "-DSCOPE=WORKGROUP", "-DITEMS=64"]
    kernel = cm.build(ROOT / "benchmarks" / "kernels" / "gemm.cl", options, _device()).kernel("gemm")
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-128, 128, (64, 64), np.int8) for _ in range(2))
    c = np.zeros((64, 64), np.int32)
    cm.Queue(_device()).enqueue(kernel, (128, 2), (64, 1), a, b, c, 64, 64, 64).wait()
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def kernels_in_python() -> None:
    @sycl.kernel
    def scaled(item: sycl.nd_item[1], x: sycl.ptr[sycl.float32], factor: sycl.float32):
        x[item.get_global_id(0)] *= factor

    x = np.arange(64, dtype=np.float32)
    cm.Queue("opencl:0").parallel_for(sycl.nd_range(64, 16), scaled, x, 2.5).wait()
    assert (x == np.arange(64) * 2.5).all()


# --------------------------------------------------------------------------- errors


def what_cannot_be_done_is_refused() -> None:
    device = cm.device("opencl:0")
    _raises(cm.LaunchError, "local memory", lambda: _run("kernel void k(local int *p) { p[0] = 1; }", 1, 1,
                                                         cm.local(1 << 24)))
    _raises(cm.LaunchError, "work-items", lambda: _run("kernel void k() {}", 1 << 20, 1 << 20))
    if _is_intel():  # the others take any words
        _raises(cm.CompileError, "does not compile the program (CL_", lambda: _run(
            "kernel void k(global int *p) { p[0] = 1; }", 1, 1, np.zeros(1, np.int32), build_options="-not-an-option"))
    _raises(cm.Error, "a queue on 'opencl:0' has no stream", lambda: cm.Queue(device, stream=3))


def compiled_programs_are_kept() -> None:
    """A program that was compiled before is found again."""
    source = "kernel void k(global int *p) { p[get_global_id(0)] = 77; }"
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            device = cm.device("opencl:0")
            found = np.zeros(16, np.int32)
            program = cm.build(source, device=device, cache_dir=folder)
            cm.Queue(device).enqueue(program.kernel("k"), 16, 16, found).wait()
            assert (found == 77).all()
