"""Queues, command groups, events and exceptions of SYCL, and what binds to the parameters of kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import errc
from coopmat.runtime.element_types import float32, int8, int32
from coopmat.runtime.information import event_command_status, info
from coopmat.runtime.memory import malloc_device
from coopmat.sycl import exception
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.enumerations import access, cache_level, cache_mode, layout
from coopmat.sycl.joint_matrices import joint_matrix_type
from coopmat.sycl.pointers import annotated_ptr, cast_address_space, local_accessor, multi_ptr
from coopmat.sycl.properties import cache_control, properties, read_hint
from coopmat.sycl.selectors import gpu_selector_v
from tests.kit.sycl.host import ADD, A, q, read

# ------------------------------------------------------------------ imports


def test_the_package_imports_no_front_end_of_python_kernels() -> None:
    code = "import sys, coopmat; print([name for name in sys.modules if name.startswith('coopmat.sycl')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ------------------------------------------------------------------ what binds to a kernel's parameters


def pointers(array: np.ndarray) -> list:
    """Memory with the contents of an array, in each form."""
    device = malloc_device[int8](16, q)
    q.copy(array, device, 16)
    longer = malloc_device[int8](20, q)
    q.copy(array, longer + 4, 16)
    hint = properties(read_hint[cache_control[cache_mode.cached, cache_level.L2]])
    cast = cast_address_space(access.address_space.global_space, access.decorated.no, device)
    return [array, device, longer + 4, multi_ptr(array), annotated_ptr(array, hint), cast, annotated_ptr(cast),
            multi_ptr(cast)]


@pytest.mark.parametrize("source", range(8))
@pytest.mark.parametrize("target", range(8))
def test_every_pointer_binds(source: int, target: int) -> None:
    numbers = np.arange(16, dtype=np.int8)
    given_, out = pointers(numbers)[source], pointers(np.zeros(16, np.int8))[target]
    q.enqueue(ADD, 16, 8, given_, out, local_accessor[int32](8), 5).wait()
    assert read(out, np.int8, 16).tolist() == list(range(5, 21))


def test_a_local_accessor_has_its_size() -> None:
    with pytest.raises(cm.OutOfBounds, match="sum"):
        q.enqueue(ADD, 16, 8, np.zeros(16, np.int8), np.zeros(16, np.int8), local_accessor[int32](7), 5)
    two = local_accessor[int32, 2]((2, 4))
    q.enqueue(ADD, 16, 8, np.zeros(16, np.int8), np.zeros(16, np.int8), two, 5)


@pytest.mark.parametrize(("position", "argument", "message"), [
    (0, local_accessor[int32](8), "a global pointer takes an array, found local memory"),
    (2, malloc_device[int8](4, q), "expected coopmat.local"),
    (1, malloc_device[float32](16, q), "expected an array of int8 or uint8, found float32"),
    (3, malloc_device[int8](1, q), "expected a number")])
def test_what_does_not_bind(position: int, argument, message: str) -> None:
    arguments = [np.zeros(16, np.int8), np.zeros(16, np.int8), cm.local(64), 5]
    arguments[position] = argument
    with pytest.raises(cm.LaunchError, match=message):
        q.enqueue(ADD, 16, 16, *arguments)


def test_casts_of_address_spaces() -> None:
    array = np.zeros(4)
    for space in (access.address_space.global_space, access.address_space.generic_space):
        found = cast_address_space(space, access.decorated.yes, array)
        assert found.get() is array
        assert found.array is array
        assert found.space is space
    device = malloc_device[int8](4, q)
    assert cast_address_space(space, access.decorated.no, device).get() is device
    assert cast_address_space(space, access.decorated.no, found).get() is array


@pytest.mark.parametrize(("arguments", "message"), [
    *(((space, access.decorated.no, np.zeros(4)), f"cannot make a pointer to {space}: memory that the host program")
      for space in access.address_space if space.name in ("local_space", "private_space", "constant_space")),
    ((0, access.decorated.no, np.zeros(4)), "takes an address space, such as .*; found 0"),
    ((access.address_space.global_space, False, np.zeros(4)), "takes access.decorated.no .*; found False"),
    ((access.address_space.global_space, access.decorated.no, [0]), r"takes memory, .*; found \[0\]")])
def test_impossible_casts(arguments, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        cast_address_space(*arguments)


# ------------------------------------------------------------------ queues, command groups, events


def test_a_queue_tells() -> None:
    queue = cm.Queue(gpu_selector_v)
    assert queue.get_device().is_gpu()
    assert queue.get_context().get_devices() == [queue.get_device()]
    assert queue.is_in_order()
    queue.wait()
    queue.wait_and_throw()


def test_each_command_in_a_group() -> None:
    array, out = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    first = q.submit(lambda h: h.memcpy(out, array, 8))
    assert out.tolist() == [0, 1, 0, 0]

    def group(h) -> None:
        h.depends_on(first)
        h.depends_on([first, first])
        h.copy[int32](array, out, 3)

    q.submit(group).wait_and_throw()
    assert out.tolist() == [0, 1, 2, 0]
    q.submit(lambda h: h.copy(array, out, 4)).wait()
    assert out.tolist() == [0, 1, 2, 3]
    q.submit(lambda h: h.fill[int32](out, 9, 2)).wait()
    q.submit(lambda h: h.memset(out, 0, 4)).wait()
    q.submit(lambda h: h.prefetch(out, 4)).wait()
    assert out.tolist() == [0, 9, 2, 3]


def test_a_command_runs_when_its_group_is_complete() -> None:
    array = np.zeros(1, np.int8)

    def group(h) -> None:
        h.memset(array, 1, 1)
        assert array[0] == 0

    q.submit(group)
    assert array[0] == 1


def test_one_command_in_a_group() -> None:
    array = np.zeros(4, np.int8)

    def two(h) -> None:
        h.memset(array, 1, 4)
        h.fill(array, 2, 4)

    with pytest.raises(cm.LaunchError, match="a command group has one command: found fill after memset; submit two"):
        q.submit(two)
    assert not array.any()


def test_an_empty_group_is_an_event() -> None:
    assert q.submit(lambda h: None).wait().elapsed >= 0


def test_a_handler_that_was_kept() -> None:
    kept: list = []
    q.submit(kept.append)
    with pytest.raises(cm.LaunchError, match="memset: a handler takes its command while its command group runs"):
        kept[0].memset(A, 0, 1)


@pytest.mark.parametrize(("group", "message"), [
    (5, "submit takes a function of one parameter, the handler; found 5"),
    (lambda h: h.depends_on(5), "depends_on: expected an event"),
    (lambda h: h.memcpy(A, A, 33), "33 bytes are more than the destination has")])
def test_groups_that_are_refused(group, message: str) -> None:
    with pytest.raises(cm.LaunchError, match=message):
        q.submit(group)


def test_the_times_of_an_event() -> None:
    event = q.enqueue(ADD, 16, 8, np.zeros(16, np.int8), np.zeros(16, np.int8), cm.local(32), 5)
    submit, start, end = (event.get_profiling_info[descriptor]() for descriptor in (
        info.event_profiling.command_submit, info.event_profiling.command_start, info.event_profiling.command_end))
    assert submit <= start < end
    assert event.get_profiling_info(info.event_profiling.command_end) == end
    assert event.elapsed == pytest.approx((end - start) * 1e-9)
    assert event.get_info[info.event.command_execution_status]() is event_command_status.complete
    assert event.wait() is event
    later = q.memset(A, 0, 1, [event])
    assert later.get_profiling_info(info.event_profiling.command_start) >= end
    with pytest.raises(cm.Error, match=r"expected one of info\.event_profiling.command_submit, .*; found 5"):
        event.get_profiling_info(5)


# ------------------------------------------------------------------ exceptions


def caught(function) -> cm.Error:
    with pytest.raises(exception) as found:
        function()
    return found.value


@pytest.mark.parametrize(("fail", "code"), [
    (lambda: q.memset(A, 0, 999), errc.invalid),
    (lambda: cm.build("kernel void k( {"), errc.build),
    (lambda: joint_matrix_type(5, int8, None, 1, 1, layout.dynamic), errc.build),
    (lambda: cm.device("sim:intel_gpu_pvc").description.require("fp64", "fp64", "fp64", "fp64", 1, 1, 1),
     errc.kernel_not_supported),
    (lambda: q.enqueue(ADD, 16, 8, np.zeros(1, np.int8), np.zeros(16, np.int8), cm.local(32), 5), errc.kernel),
    (lambda: cm.device("sim:nothing"), errc.runtime)])
def test_codes(fail, code: errc) -> None:
    error = caught(fail)
    assert error.code() is code
    assert error.what() == str(error)


def test_every_class_of_errors_has_its_code() -> None:
    codes = {cm.KernelNotSupported: errc.kernel_not_supported, cm.LaunchError: errc.invalid,
             cm.CompileError: errc.build, BrokenConstraint: errc.build, cm.ValidationError: errc.build,
             cm.SimulationError: errc.kernel, cm.Error: errc.runtime}
    for kind, code in codes.items():
        assert kind.__new__(kind).code() is code
    assert cm.OutOfBounds("x").code() is errc.kernel
