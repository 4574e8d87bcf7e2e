"""The host side of SYCL: memory, copies, command groups, events, exceptions, and what binds to kernels."""

from __future__ import annotations

import gc
import mmap
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm
from coopmat.sycl import memory
from coopmat.sycl.constraints import BrokenConstraint
from coopmat.sycl.element_types import VALUE_TYPES, bfloat16, float32, float64, half, int8, int32, precision, uint8
from coopmat.sycl.enumerations import access, cache_level, cache_mode, errc, event_command_status, layout
from coopmat.sycl.exceptions import CODES, code_of, exception
from coopmat.sycl.info import info
from coopmat.sycl.joint_matrices import joint_matrix_type
from coopmat.sycl.memory import free, malloc_device, malloc_host, malloc_shared
from coopmat.sycl.pointers import annotated_ptr, cast_address_space, local_accessor, multi_ptr
from coopmat.sycl.properties import cache_control, properties, read_hint
from coopmat.sycl.selectors import gpu_selector_v

q = cm.Queue("sim:generic")
SOURCE = """kernel void add(global const char* in, global char* out, local int* sum, int n)
{
    sum[get_local_id(0)] = in[get_global_id(0)] + n;
    out[get_global_id(0)] = sum[get_local_id(0)];
}"""
ADD = cm.build(SOURCE).kernel("add")
ON_THE_HOST = [memory.malloc_shared, memory.malloc_host]
EVERY = [*ON_THE_HOST, memory.malloc_device]
ALIGNED = [memory.aligned_alloc_shared, memory.aligned_alloc_host, memory.aligned_alloc_device]


def read(source, dtype, count: int) -> np.ndarray:
    """The first elements of any memory, by a copy of its bytes."""
    found = np.zeros(count, dtype)
    q.memcpy(found, source, found.nbytes).wait()
    return found


# ------------------------------------------------------------------ imports


def test_the_package_imports_no_front_end_of_python_kernels() -> None:
    code = "import sys, coopmat; print([name for name in sys.modules if name.startswith('coopmat.sycl')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ------------------------------------------------------------------ allocation


@pytest.mark.parametrize("malloc", ON_THE_HOST, ids=str)
@pytest.mark.parametrize("element", VALUE_TYPES, ids=str)
def test_arrays_of_each_type(malloc, element) -> None:
    array = malloc[element](33, q)
    assert isinstance(array, np.ndarray)
    assert (array.dtype, array.shape) == (element.dtype, (33,))
    assert not array.any()
    assert array.ctypes.data % mmap.PAGESIZE == 0
    array[:] = element(1)
    assert array.sum() == 33 or element.dtype == np.bool_
    free(array, q)


@pytest.mark.parametrize("arguments", [(), (q,), (q.device,), (q.device, q.get_context()), (q.get_context(),)])
@pytest.mark.parametrize("malloc", EVERY, ids=str)
def test_where_memory_is_may_be_said_as_in_cpp(malloc, arguments) -> None:
    assert read(malloc[int32](5, *arguments), np.int32, 5).tolist() == [0] * 5
    assert malloc(6, *arguments).nbytes == 6


def test_without_a_type_the_size_is_in_bytes() -> None:
    assert malloc_shared(6, q).dtype == np.uint8
    assert malloc_device(6, q).element is uint8


@pytest.mark.parametrize("malloc", ALIGNED, ids=str)
@pytest.mark.parametrize("alignment", [1, 64, 1 << 16])
def test_alignment(malloc, alignment: int) -> None:
    found = malloc[float64](alignment, 3, q)
    assert (found.nbytes, read(found, np.float64, 3).tolist()) == (24, [0, 0, 0])
    if isinstance(found, np.ndarray):
        assert found.ctypes.data % alignment == 0


@pytest.mark.parametrize("malloc", EVERY, ids=str)
@pytest.mark.parametrize(("allocate", "message"), [
    (lambda malloc: malloc[str](4, q), r"malloc_\w+\[T\] takes an element type, such as malloc_\w+\[float32\]; found"),
    (lambda malloc: malloc[precision.tf32](4, q), r"memory has the storage type, malloc_\w+\[float32\]"),
    (lambda malloc: malloc[int8](-1, q), "the number of elements must be an int, 0 or more; found -1"),
    (lambda malloc: malloc(1.5, q), r"the number of bytes must be an int, 0 or more; found 1\.5"),
    (lambda malloc: malloc[int8](4, "sim:generic"), "takes a queue, or a device and a context; found 'sim:generic'"),
    (lambda malloc: malloc[int8](4, q, q, q), "found 3 arguments after the size"),
    (lambda malloc: malloc[float64](2**60, q), f"cannot allocate {2**63} bytes"),
])
def test_allocations_that_fail(malloc, allocate, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        allocate(malloc)


@pytest.mark.parametrize("alignment", [0, 48, -4, 1 << 40, 8.0])
def test_alignments_that_there_are_not(alignment) -> None:
    with pytest.raises(cm.Error, match="aligned_alloc_host: the alignment must be"):
        memory.aligned_alloc_host[int8](alignment, 4, q)


def test_each_allocation_documents_itself() -> None:
    for function in (*EVERY, *ALIGNED):
        assert f"{function!r}[T](" in function.__doc__


# ------------------------------------------------------------------ free


@pytest.mark.parametrize("malloc", EVERY, ids=str)
def test_memory_is_freed_once(malloc) -> None:
    given_out = malloc[int8](4, q)
    free(given_out, q)
    with pytest.raises(cm.Error, match="free"):
        free(given_out, q)


def test_a_view_of_an_allocation_can_be_freed() -> None:
    matrix = malloc_shared[int8](12, q).reshape(3, 4)
    gc.collect()
    free(matrix, q.get_context())


@pytest.mark.parametrize(("make", "message"), [
    (lambda: np.zeros(4), r"free takes what a malloc function returned, once; found an array of shape \(4,\)"),
    (lambda: malloc_shared[int8](4, q)[1:], r"found an array of shape \(3,\)"),
    (lambda: malloc_device[int8](4, q) + 1, r"found malloc_device\[int8\]\(3\), a place 1 elements in"),
    (lambda: 5, "found 5")])
def test_what_cannot_be_freed(make, message: str) -> None:
    with pytest.raises(cm.Error, match=message):
        free(make(), q)


def test_freeing_nothing() -> None:
    free(None, q)
    with pytest.raises(cm.Error, match="free takes memory and a queue or a context; found 5"):
        free(None, 5)


# ------------------------------------------------------------------ memory of the device


@pytest.mark.parametrize("look", [
    lambda d: d[0], lambda d: d[1:2], lambda d: np.asarray(d), lambda d: list(d), len, lambda d: np.zeros(4) + d, bytes,
    lambda d: d.__setitem__(0, 1), np.sum])
def test_the_host_cannot_read_it(look) -> None:
    with pytest.raises(cm.Error, match=r"malloc_device is not accessible on the host: copy it with q\.memcpy"):
        look(malloc_device[int8](4, q))


def test_it_has_no_buffer() -> None:
    with pytest.raises(TypeError):
        memoryview(malloc_device[int8](4, q))  # type: ignore[arg-type]


def test_places_in_it() -> None:
    whole = malloc_device[int32](10, q)
    q.copy(np.arange(10, dtype=np.int32), whole, 10)
    assert whole
    assert (repr(whole), whole.count, whole.nbytes) == ("malloc_device[int32](10)", 10, 40)
    assert read(whole + 3, np.int32, 7).tolist() == list(range(3, 10))
    assert read(2 + whole + np.int64(3) - 1, np.int32, 2).tolist() == [4, 5]
    assert (whole + 10).count == 0
    for step in (11, -1):
        with pytest.raises(cm.Error, match=r"malloc_device\[int32\]\(10\) \+ -?\d+ is outside of the allocation"):
            whole + step
    with pytest.raises(TypeError):
        whole + 1.5
    with pytest.raises(TypeError):
        whole - "1"


def test_after_free_it_cannot_be_used() -> None:
    gone = malloc_device[int8](16, q)
    place, pointer = gone + 1, multi_ptr(gone)
    free(gone, q)
    for memory_ in (gone, place, pointer):
        with pytest.raises(cm.LaunchError, match=r"malloc_device\[int8\]\(1[56]\) was freed"):
            q.memset(memory_, 0, 1)
        with pytest.raises(cm.LaunchError, match=r"argument 1 of kernel 'add' \(global char\* out\): malloc_device"):
            q.enqueue(ADD, 16, 16, np.zeros(16, np.int8), memory_, cm.local(64), 1)


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
    (0, local_accessor[int32](8), "expected a numpy array for a global pointer, found local memory"),
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


# ------------------------------------------------------------------ copies and fills

@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 50), st.booleans(), st.booleans())
def test_memcpy_copies_all_or_nothing(target: int, source: int, count: int, to_device: bool, from_device: bool) -> None:
    content = np.arange(1, source + 1, dtype=np.uint8)
    src, dest = ((malloc_device if device else malloc_shared)(size, q)
                 for device, size in ((from_device, source), (to_device, target)))
    q.copy(content, src, source)
    if count <= min(target, source):
        q.memcpy(dest, src, count).wait()
        expected = [*content[:count].tolist(), *[0] * (target - count)]
    else:
        small = "destination" if count > target else "source"
        size = target if count > target else source
        with pytest.raises(cm.LaunchError, match=f"memcpy: {count} bytes are more than the {small} has, {size} "):
            q.memcpy(dest, src, count)
        expected = [0] * target
    assert read(dest, np.uint8, target).tolist() == expected


def test_memory_of_any_shape_and_type() -> None:
    numbers = np.arange(12.0).reshape(3, 4)
    target = np.zeros(24, np.int32)
    q.memcpy(target, numbers, 96)
    assert target.tobytes() == numbers.tobytes()
    scalar = np.zeros((), np.float64)
    q.memcpy(scalar, numbers.ravel()[5:], 8)
    assert scalar == 5


def test_copies_within_one_array() -> None:
    array = np.arange(10, dtype=np.int8)
    q.memcpy(array[2:], array, 8)
    assert array.tolist() == [0, 1, 0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("element", VALUE_TYPES, ids=str)
def test_copy_and_fill_of_each_type(element) -> None:
    device = malloc_device[element](9, q)
    q.fill(device, 1, 9)
    q.fill[element](device + 2, element(0), 3).wait()
    expected = [1, 1, 0, 0, 0, 1, 1, 1, 1]
    assert read(device, element.dtype, 9).tolist() == expected
    host = malloc_host[element](9, q)
    q.copy[element](device, host, 9).wait()
    assert host.tolist() == expected
    q.copy(device + 5, host, 4)
    assert host.tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_fill_rounds_floats_and_views_memory_as_its_type() -> None:
    array = np.zeros(8, np.uint8)
    q.fill[float32](array, 0.1, 2)
    assert array.view(np.float32).tolist() == [np.float32(0.1)] * 2
    q.fill[bfloat16](array, 0.1, 4)
    assert (array.view(ml_dtypes.bfloat16) == ml_dtypes.bfloat16(0.1)).all()
    q.fill[half](array, float("-inf"), 4)
    assert (array.view(np.float16) == -np.inf).all()
    q.fill[float32](array, float("nan"), 2)
    assert np.isnan(array.view(np.float32)).all()


@pytest.mark.parametrize(("element", "value"), [
    (int8, 128), (int8, 1.5), (uint8, -1), (int32, 2**31), (int32, float("nan")), (int32, float("inf")), (half, 65520),
    (float32, 1e39), (float32, 10**400), (float64, 1j), (float32, "1"), (float32, None), (int8, np.zeros(2))])
def test_values_that_the_type_does_not_hold(element, value) -> None:
    array = np.full(16, 7, np.uint8)
    with pytest.raises(cm.LaunchError, match=rf"fill\[{element}\]: .* is no value of type {element}"):
        q.fill[element](array, value, 1)
    assert (array == 7).all()


def test_memset() -> None:
    array = np.zeros(4, np.int16)
    q.memset(array, -2, 6)
    assert array.tolist() == [-258, -258, -258, 0]
    q.memset(array, 255, 1)
    assert array.tolist() == [-257, -258, -258, 0]


READ_ONLY = np.zeros(4)
READ_ONLY.flags.writeable = False
A = np.zeros(4)


@pytest.mark.parametrize(("command", "message"), [
    (lambda: q.memcpy(A, 5, 1), "memcpy: the source must be a numpy array or memory of malloc_.*; found int"),
    (lambda: q.memcpy([0], A, 1), "the destination must be .*; found list"),
    (lambda: q.memcpy(A, np.array([None]), 1), "the source must be"),
    (lambda: q.memcpy(A, np.ma.zeros(3), 1), "found MaskedArray"),
    (lambda: q.memcpy(A, A, -1), "the number of bytes must be an int, 0 or more; found -1"),
    (lambda: q.memcpy(A, A, 8.0), r"found 8\.0"),
    (lambda: q.memcpy(A, A, True), "found True"),
    (lambda: q.memcpy(READ_ONLY, A, 8), "memcpy: the destination is a read-only array"),
    (lambda: q.memcpy(np.zeros((4, 4))[:, 1], A, 8), r"array of shape \(4,\), is not contiguous \(strides \(32,\)\)"),
    (lambda: q.memcpy(A, A, 8, 5), "memcpy: expected an event, or a list of events, to depend on; found 5"),
    (lambda: q.memset(A, 256, 8), "memset: the value must be a byte, an int from -128 to 255; found 256"),
    (lambda: q.memset(A, 0.0, 8), r"found 0\.0"),
    (lambda: q.memset(A, 0, 33), r"33 bytes are more than the destination has, 32 \(4 elements of float64\)"),
    (lambda: q.fill(A, 0, 5), "40 bytes are more than the destination has"),
    (lambda: q.fill[precision.tf32](A, 0, 1), "memory has its storage type, float32"),
    (lambda: q.fill[str](A, 0, 1), r"fill\[T\] takes an element type, such as fill\[float32\]"),
    (lambda: q.fill(np.zeros(4, np.complex64), 0, 1), "elements of complex64, which kernels do not know; use memcpy"),
    (lambda: q.copy(A, A, 5), "copy: 40 bytes are more than the destination has, 32"),
    (lambda: q.copy(A, np.zeros(4, np.int64), 4), r"copy\[float64\]: the destination has elements of int64"),
    (lambda: q.copy[int8](A, A, 4), r"copy\[int8\]: the source has elements of float64"),
    (lambda: q.copy(A, A, 4, [5]), "found 5"),
    (lambda: q.prefetch(A, 33), "33 bytes are more than the memory has")])
def test_commands_that_are_refused(command, message: str) -> None:
    with pytest.raises(cm.LaunchError, match=message):
        command()


def test_prefetch_changes_nothing() -> None:
    array = np.arange(4)
    assert isinstance(q.prefetch(array, 32), cm.Event)
    assert array.tolist() == [0, 1, 2, 3]


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


def test_every_class_of_errors_has_the_code_of_its_row() -> None:
    assert [kind for kind, _ in CODES][-1] is cm.Error
    for kind, code in CODES:
        assert code_of(kind.__new__(kind)) is code
    assert code_of(cm.OutOfBounds("x")) is errc.kernel
    assert BrokenConstraint in dict(CODES)
