"""Memory of malloc_shared, malloc_host and malloc_device, and free."""

from __future__ import annotations

import gc
import mmap

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime import memory
from coopmat.runtime.element_types import VALUE_TYPES, float64, int8, int32, precision, uint8
from coopmat.runtime.memory import free, malloc_device, malloc_shared
from coopmat.sycl.pointers import multi_ptr
from tests.kit.sycl.host import ADD, q, read

ON_THE_HOST = [memory.malloc_shared, memory.malloc_host]
EVERY = [*ON_THE_HOST, memory.malloc_device]
ALIGNED = [memory.aligned_alloc_shared, memory.aligned_alloc_host, memory.aligned_alloc_device]


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


UNWRITTEN = cm.build("""
kernel void fill(global float *to, int count) { if (get_global_id(0) < count) to[get_global_id(0)] = 3; }
kernel void next(global const float *from, global float *to) { to[get_global_id(0)] = from[get_global_id(0)] + 1; }
""")


def test_device_memory_that_nobody_has_written() -> None:
    """Simulated devices know it: what the host or kernels write is defined, and what is copied as much as it was."""
    queue, out = cm.Queue("sim:intel_gpu_pvc"), np.zeros(64, np.float32)
    one, other = (cm.malloc_device[cm.sycl.float32](64, queue) for _ in range(2))

    def reads(memory: object, element: int) -> None:
        message = rf"element {element} of argument 1 'to' .* on argument 0 'from', of which a part has not been written"
        with pytest.raises(cm.UninitializedRead, match=message):
            queue.enqueue(UNWRITTEN.kernel("next"), 64, 16, memory, out).wait()

    reads(one, 0)
    queue.enqueue(UNWRITTEN.kernel("fill"), 64, 16, one, 40).wait()
    reads(one, 40)
    reads(one + 0, 40)
    queue.memcpy(other, one, one.nbytes).wait()
    reads(other, 40)
    queue.fill(other + 40, 2.0, 24).wait()
    queue.enqueue(UNWRITTEN.kernel("next"), 64, 16, other, out).wait()
    assert out.tolist() == [4.0] * 40 + [3.0] * 24
    cm.Queue("cpu").enqueue(UNWRITTEN.kernel("fill"), 64, 16, one, 64).wait()
    queue.enqueue(UNWRITTEN.kernel("next"), 64, 16, one, out).wait()
    assert out.tolist() == [4.0] * 64
