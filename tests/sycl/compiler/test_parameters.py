"""Parameters of kernels of every type, and pointers: arithmetic, comparison, const, address spaces, hints."""

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import (
    access,
    address_space_cast,
    annotated_ptr,
    bfloat16,
    boolean,
    cache_control,
    cache_level,
    cache_mode,
    const,
    float32,
    float64,
    global_ptr,
    half,
    int8,
    int16,
    int32,
    int64,
    kernel,
    local_accessor,
    local_ptr,
    multi_ptr,
    nd_item,
    nd_range,
    properties,
    ptr,
    read_hint,
    size_t,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tests.kit.sycl.language import COUNT, error_of, results

SCALARS = [(int8, -100), (int16, -30_000), (int32, -2**31), (int64, -2**63), (uint8, 200), (uint16, 65_000),
           (uint32, 2**32 - 1), (uint64, 2**63), (half, 0.5), (bfloat16, -3.0), (float32, 0.1), (float64, 0.1),
           (size_t, 7), (int, -5), (float, 0.25), (bool, True), (boolean, False), (np.int16, -7), (np.float64, 0.5)]


@pytest.mark.parametrize(("type_", "value"), SCALARS, ids=lambda given: getattr(given, "__name__", str(given)))
def test_scalars(type_, value) -> None:
    @kernel
    def k(item: nd_item[1], x: type_, y: ptr[float64]):
        y[item.get_global_id(0)] = x

    given = np.float32(value) if type_ is float32 else value
    assert results(k, given, dtype=np.float64) == [float(given)] * COUNT


@pytest.mark.parametrize("type_", [int8, int16, int32, int64, uint8, uint16, uint32, uint64, half, bfloat16, float32,
                                   float64], ids=str)
def test_pointers_to_every_type(type_) -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[const[type_]], y: global_ptr[type_], scratch: local_ptr[type_],
          more: local_accessor[type_]):
        i = item.get_global_id(0)
        scratch[i] = x[i]
        more[i] = x[i]
        item.barrier()
        y[i] = scratch[COUNT - 1 - i] if i % 2 else more[COUNT - 1 - i]

    x = np.arange(COUNT).astype(type_.dtype)
    x.flags.writeable = False
    scratch = cm.local(COUNT * x.itemsize)
    found = np.zeros(COUNT, type_.dtype)
    cm.Queue("sim:generic").parallel_for(nd_range(COUNT, COUNT), k, x, found, scratch,
                                         local_accessor[type_](COUNT)).wait()
    assert found.tolist() == x[::-1].tolist()


def test_arguments_that_do_not_fit() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32], n: int):
        y[0] = n

    queue, y = cm.Queue("sim:generic"), np.zeros(4, np.int32)
    for given in ((), (y,), (y, 1, 2), (np.zeros(4, np.float32), 1), (y, 1.5), (y, 2**31), (1, y), (y, None), (y, "1")):
        with pytest.raises(cm.Error):
            queue.parallel_for(nd_range(4, 4), k, *given)


def test_pointer_arithmetic_differences_and_comparisons() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[const[int16]], y: ptr[int32]):
        i = int(item.get_global_id(0))
        p = x + i
        q = 3 + p - 1
        p += 5
        p -= uint8(2)
        y[i] = p[-3] + 10 * q[0] + 1000 * (p - q) + 10_000 * (q - x)
        y[i] += 100_000 * ((p == q) + 2 * (p > q) + 4 * (p != x) + 8 * (q <= p) + 16 * (x < p))

    x = np.arange(20, dtype=np.int16)
    found = np.zeros(COUNT, np.int32)
    cm.Queue("sim:generic").parallel_for(nd_range(COUNT, COUNT), k, x, found).wait()
    assert found.tolist() == [i + 10 * (i + 2) + 1000 + 10_000 * (i + 2) + 100_000 * (2 + 4 + 8 + 16)
                              for i in range(COUNT)]


def test_pointers_of_const_are_only_read() -> None:
    @kernel
    def assigned(item: nd_item[1], x: ptr[const[int32]]):
        x[0] = 1

    @kernel
    def updated(item: nd_item[1], x: ptr[const[int32]]):
        x[0] += 1

    def written(p: ptr[int32]):
        p[0] = 1

    @kernel
    def passed(item: nd_item[1], x: ptr[const[int32]]):
        written(x)

    captured = np.zeros(3)
    captured.flags.writeable = False

    @kernel
    def held(item: nd_item[1]):
        captured[0] = 1

    assert [error_of(k)[0] for k in (assigned, updated, passed, held)] == ["CM6029", "CM6029", "CM6038", "CM6029"]


def test_helpers_take_pointers_to_const_and_to_others() -> None:
    def first(p: ptr[const[int32]], i):
        return p[i]

    def doubled(p, i):
        return p[i] * 2

    @kernel
    def k(item: nd_item[1], x: ptr[const[int32]], y: ptr[int32]):
        i = item.get_global_id(0)
        y[i] = first(x, i) + doubled(x, i)
        y[i] += first(y, i) + doubled(y, i)

    assert results(k, np.arange(COUNT, dtype=np.int32)) == [12 * i for i in range(COUNT)]


@pytest.mark.parametrize("wrapped", [
    lambda p: address_space_cast[access.address_space.global_space, access.decorated.no](p),
    lambda p: address_space_cast[access.address_space.global_space](p).get(),
    lambda p: annotated_ptr(p),
    lambda p: annotated_ptr(p, properties(read_hint[cache_control[cache_mode.cached, cache_level.L1]])),
    lambda p: annotated_ptr(p + 1) - 1])
def test_pointers_made_in_kernels(wrapped) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        q = wrapped(y)
        q[item.get_global_id(0)] = 5

    assert results(k) == [5] * COUNT


def test_pointers_made_on_the_host() -> None:
    hints = properties(read_hint[cache_control[cache_mode.uncached, cache_level.L1]])

    @kernel
    def k(item: nd_item[1], x: annotated_ptr[int32, hints], y: ptr[int32]):
        y[item.get_global_id(0)] = x[item.get_global_id(0)]

    x, found = np.arange(COUNT, dtype=np.int32), np.zeros(COUNT, np.int32)
    queue = cm.Queue("sim:generic")
    for given in (x, annotated_ptr(x, hints)):
        found[:] = 0
        queue.parallel_for(nd_range(COUNT, COUNT), k, given, found).wait()
        assert found.tolist() == x.tolist()
    made = address_space_cast[access.address_space.global_space, access.decorated.no](found)
    assert isinstance(made, multi_ptr)
    queue.parallel_for(nd_range(COUNT, COUNT), k, x + 1, made).wait()
    assert found.tolist() == (x + 1).tolist()


@pytest.mark.parametrize(("use", "code"), [
    (lambda y: y + 1.5, "CM6030"), (lambda y: y * 2, "CM6030"), (lambda y: y + y, "CM6030"),
    (lambda y: 1 - y, "CM6030"),
    (lambda y: y < 3, "CM6030"), (lambda y: int(y), "CM6038"), (lambda y: address_space_cast(y), "CM6056"),
    (lambda y: address_space_cast[access.address_space.local_space](y), "CM6038"),
    (lambda y: annotated_ptr(y, 3), "CM6060"), (lambda y: y[1.5], "CM6033"), (lambda y: y[0, 1], "CM6032"),
    (lambda y: y.foo(), "CM6023")])
def test_what_is_refused(use, code: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        use(y)

    assert error_of(k)[0] == code


def test_arrays_of_ml_dtypes_are_arguments() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[bfloat16]):
        i = item.get_global_id(0)
        y[i] = y[i] * y[i] + 0.5

    y = np.linspace(-3, 3, COUNT).astype(ml_dtypes.bfloat16)
    expected = y * y + ml_dtypes.bfloat16(0.5)
    cm.Queue("sim:generic").parallel_for(nd_range(COUNT, COUNT), k, y).wait()
    assert y.tolist() == expected.tolist()
