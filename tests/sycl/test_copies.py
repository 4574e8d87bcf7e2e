"""Copies and fills of a queue: what they write, and that they write nothing where they are refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm
from coopmat.runtime.element_types import VALUE_TYPES, bfloat16, float32, float64, half, int8, int32, precision, uint8
from coopmat.runtime.memory import malloc_device, malloc_host, malloc_shared
from tests.kit.sycl.host import A, q, read


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


@pytest.mark.parametrize(("command", "message"), [
    (lambda: q.memcpy(A, 5, 1), "memcpy: the source must be a numpy array, or .*, or memory of malloc_.*; found int"),
    (lambda: q.memcpy([0], A, 1), "the destination must be .*; found list"),
    (lambda: q.memcpy(A, np.array([None]), 1), "the source: an array of object holds Python objects"),
    (lambda: q.memcpy(A, np.ma.zeros(3), 1), "found MaskedArray"),
    (lambda: q.memcpy(A, A, -1), "the number of bytes must be an int, 0 or more; found -1"),
    (lambda: q.memcpy(A, A, 8.0), r"found 8\.0"),
    (lambda: q.memcpy(A, A, True), "found True"),
    (lambda: q.memcpy(READ_ONLY, A, 8), "memcpy: the destination: its memory is read-only"),
    (lambda: q.memcpy(np.zeros((4, 4))[:, 1], A, 8), r"array of shape \(4,\) is not contiguous \(strides \(32,\)\)"),
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
