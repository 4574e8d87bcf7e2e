"""``assert`` in kernels: a KernelAssertion with place and work-item, on both targets; off with -DNDEBUG."""

from __future__ import annotations

import linecache
import subprocess
import sys

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.sycl import group_barrier, int32, kernel, nd_item, nd_range, ptr
from tests.kit.oracles import intel_runtime
from tests.kit.sycl.refused import loaded

DEVICES = {"simulator": lambda: cm.device("sim:generic"), "cpu": lambda: cm.device("cpu"),
           "cpu with bounds": lambda: cm.device("cpu", options=cm.CpuOptions(bounds=True))}


def failure(k, *arguments, device="sim:generic", sizes=(64, 16)) -> cm.KernelAssertion:
    with pytest.raises(cm.KernelAssertion) as caught:
        cm.Queue(device).parallel_for(nd_range(*sizes), k, *arguments).wait()
    return caught.value


def below(value, limit):
    assert value < limit, "too large"
    return value


@kernel
def checked(item: nd_item[1], limit: int32, y: ptr[int32]):
    i = int(item.get_global_id(0))
    y[i] = below(i, limit) + 1
    assert y[i] == i + 1


@pytest.mark.parametrize("device", DEVICES)
def test_a_failed_assertion_names_condition_message_place_and_work_item(device: str) -> None:
    y = np.zeros(64, np.int32)
    error = failure(checked, 37, y, device=DEVICES[device]())
    where = error.where
    line = int(where.location.rsplit(":", 2)[1])
    assert linecache.getline(__file__, line).strip() == 'assert value < limit, "too large"'
    assert str(error).startswith("assertion failed: value < limit: too large (kernel checked, at ")
    assert (where.kernel, where.work_group, where.sub_group, where.lane) == ("checked", (2, 0, 0), 0, 5)
    assert isinstance(error, cm.SimulationError)
    assert error.code() == cm.sycl.errc.kernel


@pytest.mark.parametrize("device", DEVICES)
def test_nothing_is_said_of_assertions_that_hold(device: str) -> None:
    y = np.zeros(64, np.int32)
    cm.Queue(DEVICES[device]()).parallel_for(nd_range(64, 16), checked, 64, y).wait()
    assert (y == np.arange(64) + 1).all()


@pytest.mark.parametrize("device", DEVICES)
def test_a_message_with_values_is_printed(capsys, device: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        assert i != 3, f"item {i:03d} of {y[0]}"

    error = failure(k, np.full(1, 7, np.int32), device=DEVICES[device](), sizes=(16, 16))
    assert str(error).startswith("assertion failed: i != 3: f'item {i:03d} of {y[0]}' (kernel k, at ")
    assert capsys.readouterr().out == "item 003 of 7\n"


@pytest.mark.parametrize("device", DEVICES)
def test_a_loop_that_would_not_end_is_left(device: str) -> None:
    @kernel
    def k(item: nd_item[1], step: int32, y: ptr[int32]):
        i = int(item.get_global_id(0))
        while i < 1000:
            assert step > 0
            i += step
        group_barrier(item.get_group())
        y[0] = i

    assert "assertion failed: step > 0 (" in str(failure(k, 0, np.zeros(1, np.int32), device=DEVICES[device]()))


def test_conditions_that_are_known() -> None:
    size, table = 4, (1, 2)

    @kernel
    def holds(item: nd_item[1], y: ptr[int32]):
        assert size == 4, undefined_name  # noqa: F821 (never compiled)
        assert len(table) == 2
        y[0] = 1

    assert "__devicelib_assert_fail" not in cm.build(holds).spirv_asm

    @kernel
    def never(item: nd_item[1], n: int32):
        if n > 2:
            assert False, "unreachable"  # noqa: B011, PT015

    cm.Queue("sim:generic").parallel_for(nd_range(1, 1), never, 2).wait()
    assert str(failure(never, 3, sizes=(1, 1))).startswith("assertion failed: False: unreachable (kernel never")


def test_assertions_are_off_with_ndebug() -> None:
    @kernel(options="-DNDEBUG")
    def off(item: nd_item[1], n: int32, y: ptr[int32]):
        assert n > 3
        y[0] = n

    y = np.zeros(1, np.int32)
    cm.Queue("sim:generic").parallel_for(nd_range(1, 1), off, 1, y).wait()
    assert y[0] == 1
    for options, is_on in (((), True), ("-DNDEBUG", False), (("-D", "NDEBUG=1"), False), ("-DNDEBUG -UNDEBUG", True),
                           ("-g -O2 -Wall", True)):
        assert ("__devicelib_assert_fail" in cm.build(checked, options=options).spirv_asm) == is_on
    assert "__devicelib_assert_fail" in cm.build(off, options="-UNDEBUG").spirv_asm


def test_options_of_python_kernels() -> None:
    @kernel(options=("-Wno-maybe-unassigned",))
    def quiet(item: nd_item[1], n: int32, y: ptr[int32]):
        if n > 3:
            v = n
        y[0] = v

    assert cm.build(quiet).warnings == []
    with pytest.raises(cm.CompileError, match="'v' may have no value here"):
        cm.build(quiet, options="-Wmaybe-unassigned -Werror")
    for options, message in (("-DK=64", "has no macros except NDEBUG, which turns assert off; found 'K': a variable"),
                             ("-I include", "its options are -DNDEBUG, those of warnings"),
                             ("-cl-std=CL1.2", "the others are OpenCL C's"), ("-wrong", "unknown option '-wrong'")):
        with pytest.raises(cm.Error, match=message):
            cm.build(quiet, options=options)
    with pytest.raises(cm.Error, match="has no macros except NDEBUG"):
        kernel(lambda item: None, options="-DK")


def test_assertions_are_off_where_pythons_own_are() -> None:
    """python -O."""
    program = ("from coopmat.sycl import *\nimport coopmat as cm\n@kernel\ndef k(item: nd_item[1], n: int32):\n"
               "    assert n > 3\nprint('assert_fail' in cm.build(k).spirv_asm)")
    for flags, expected in (((), "True"), (("-O",), "False")):
        run = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == expected


OPENCL_C = """
void __assert_fail(__constant char *expression, __constant char *file, unsigned line, __constant char *function);
#define assert(condition) do if (!(condition)) __assert_fail(#condition, __FILE__, __LINE__, __func__); while (0)
kernel void k(int n, global int *y)
{
    assert(get_global_id(0) < n);
    y[get_global_id(0)] = n;
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_assert_fail_of_c(device: str) -> None:
    found = DEVICES[device]()
    program = cm.build(OPENCL_C, device=found)
    assert program.module.validate() == []
    y = np.zeros(32, np.int32)
    with pytest.raises(cm.KernelAssertion) as caught:
        cm.Queue(found).enqueue(program.kernel("k"), 32, 16, 20, y).wait()
    assert str(caught.value).startswith("assertion failed: get_global_id(0) < n (kernel k, at <source>:6:")
    assert (caught.value.where.work_group, caught.value.where.lane) == ((1, 0, 0), 4)


@pytest.mark.parametrize("device", DEVICES)
def test_a_failed_assertion_of_an_optimised_module_has_a_place(device: str) -> None:
    """LLVM's SPIR-V has no source lines, but the call has file and line as arguments."""
    found = DEVICES[device]()
    program = cm.build(OPENCL_C, device=found).optimized(2)
    with pytest.raises(cm.KernelAssertion) as caught:
        cm.Queue(found).enqueue(program.kernel("k"), 32, 16, 20, np.zeros(32, np.int32)).wait()
    assert str(caught.value).startswith("assertion failed: get_global_id(0) < n (kernel k, at <source>:6, work-group")
    null = OPENCL_C.replace("__FILE__", "(__constant char *)0")
    with pytest.raises(cm.KernelAssertion, match=r"get_global_id\(0\) < n \(kernel k, work-group"):
        cm.Queue(found).enqueue(cm.build(null, device=found).optimized(2).kernel("k"), 32, 16, 20,
                                np.zeros(32, np.int32)).wait()


def test_the_llvm_form_does_the_same(tmp_path) -> None:
    path = tmp_path / "k.ll"
    path.write_text(cm.build(checked).llvm_ir)
    program = cm.build(path)
    assert program.module.validate() == []
    with pytest.raises(cm.KernelAssertion, match="assertion failed: value < limit: too large"):
        cm.Queue("sim:generic").enqueue(program.kernel("checked"), 64, 16, 37, np.zeros(64, np.int32)).wait()


def test_a_text_that_is_not_known_or_not_there() -> None:
    """Modules of other compilers: the text may come from anywhere, and functions without a body that are no assertion
    stay unresolved."""
    asm = cm.build(OPENCL_C).spirv_asm
    other = asm.replace('"__assert_fail" Import', '"somebodys" Import')
    assert other != asm
    program = cm.build(Module.from_text(other))
    for device in ("sim:generic", "cpu"):
        with pytest.raises(cm.Error, match="the function 'somebodys' is imported"):
            cm.Queue(device).enqueue(program.kernel("k"), 1, 1, 0, np.zeros(1, np.int32))


@pytest.mark.skipif(intel_runtime.library() is None, reason="Intel's CPU runtime for OpenCL is not installed")
def test_intels_runtime_has_the_function() -> None:
    program = cm.build(checked, device="sim:intel_cpu_spr")
    y = np.zeros(32, np.int32)
    found = intel_runtime.run(program.spirv, "checked", (32,), (16,), [np.int32(32).tobytes(), y])
    assert (found[1] == np.arange(32) + 1).all()
    expected = r": below: global id: \[20,0,0\], local id: \[4,0,0\] Assertion `value < limit: too large` failed"
    with pytest.raises(RuntimeError, match=expected):
        intel_runtime.run(program.spirv, "checked", (32,), (16,), [np.int32(20).tobytes(), y])


def test_texts_that_a_string_cannot_hold() -> None:
    _, names = loaded("from coopmat.sycl import *\n@kernel\ndef k(item: nd_item[1], n: int32):\n"
                      "    assert n > 3, 'a\\0b\\ud800c'\n")
    assert str(failure(names["k"], 1, sizes=(1, 1))).startswith("assertion failed: n > 3: abc (")
