"""What binds to a kernel's parameters: numbers, memory of any kind, null pointers, structures."""

from __future__ import annotations

import array
import ctypes
import mmap
import re
import struct
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm

SOURCE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void keep_float(global float *out, float x) { out[0] = x; }
kernel void keep_half(global half *out, half x) { out[0] = x; }
kernel void keep_double(global double *out, double x) { out[0] = x; }
kernel void keep_bfloat(global __bf16 *out, __bf16 x) { out[0] = x; }
kernel void keep_vector(global float *out, float3 x) { vstore3(x, 0, out); }
kernel void keep_int(global int *out, int x) { out[0] = x; }
kernel void twice(global float *out, global const float *in) { out[get_global_id(0)] = 2 * in[get_global_id(0)]; }
kernel void add_one(global uchar *data) { data[get_global_id(0)] += 1; }
kernel void bits(global ushort *out, global const ushort *in) { out[get_global_id(0)] = in[get_global_id(0)]; }
kernel void halve(global __bf16 *data) { data[get_global_id(0)] *= (__bf16)0.5f; }

struct Inner { short tag; float weight[2]; };
struct Scale { float factor; int shift; float3 bias; struct Inner inner; };
union Either { int i; float f; };
struct Choice { int which; union Either value; };
kernel void scaled(global float *out, struct Scale s)
{
    out[0] = s.factor; out[1] = s.shift; out[2] = s.bias.x; out[3] = s.bias.z; out[4] = s.inner.tag;
    out[5] = s.inner.weight[1];
}
kernel void choice(global float *out, struct Choice c) { out[0] = c.which ? c.value.f : c.value.i; }
kernel void of_many(global float *out, global const struct Inner *all)
{
    size_t i = get_global_id(0);
    out[i] = all[i].tag + all[i].weight[1];
}
"""
SCALE = np.dtype({"names": ["factor", "shift", "bias", "inner"],
                  "formats": ["f4", "i4", ("f4", 3), [("tag", "i2"), ("pad", "i2"), ("weight", "f4", 2)]],
                  "offsets": [0, 4, 16, 32], "itemsize": 48})
INNER = np.dtype([("tag", "i2"), ("weight", "f4", 2)], align=True)


@pytest.fixture(scope="module", params=["sim:generic", "cpu"])
def queue(request: pytest.FixtureRequest) -> cm.Queue:
    return cm.Queue(request.param)


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(SOURCE)


def run(queue: cm.Queue, program: cm.Program, name: str, *arguments: object, items: int = 1) -> None:
    queue.enqueue(program.kernel(name), items, items, *arguments).wait()


# ------------------------------------------------------------------ numbers

FLOATS = {"keep_float": np.float32, "keep_half": np.float16, "keep_double": np.float64,
          "keep_bfloat": ml_dtypes.bfloat16}


@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_rounded_as_numpy_does(program: cm.Program, name: str, value: float) -> None:
    """To the nearest number of the parameter's type; what becomes infinite is refused."""
    kernel, dtype = program.kernel(name), FLOATS[name]
    with np.errstate(over="ignore"):
        rounded = np.array(value).astype(dtype)
    if np.isinf(rounded.astype(np.float64)):
        with pytest.raises(cm.LaunchError, match="is too large for"):
            kernel.bound([np.zeros(1, dtype), value])
    else:
        assert kernel.bound([np.zeros(1, dtype), value])[1] == rounded.tobytes()


@pytest.mark.parametrize("value", [0.1, np.float64(0.1), np.float32(0.1), np.array(0.1), 3, True, -0.0, float("inf"),
                                   float("-inf"), 1e-46, ml_dtypes.bfloat16(0.3)])
def test_numbers_of_any_kind_are_floats(queue: cm.Queue, program: cm.Program, value: object) -> None:
    out = np.full(1, 7, np.float32)
    run(queue, program, "keep_float", out, value)
    expected = np.float32(float(value))
    assert out.view(np.int32)[0] == expected.view(np.int32)


def test_components_of_vectors_are_rounded(queue: cm.Queue, program: cm.Program) -> None:
    out = np.zeros(3, np.float32)
    run(queue, program, "keep_vector", out, [0.1, 1 / 3, 2])
    np.testing.assert_array_equal(out, np.array([0.1, 1 / 3, 2], np.float32))


@pytest.mark.parametrize(("name", "value", "message"), [
    ("keep_float", 1e39, "1e+39 is too large for float32"),
    ("keep_half", 65520, "65520 is too large for float16"),
    ("keep_bfloat", 3.4e38, "3.4e+38 is too large for bfloat16"),
    ("keep_double", 10**400, "is too large for float64"),
    ("keep_float", 2**128, f"{2**128} is too large for float32"),
    ("keep_half", 2**70, f"{2**70} is too large for float16"),
    ("keep_vector", [1, 2, -10**50], f"{-10**50} is too large for float32"),
    ("keep_float", Fraction(10**400), "too large for float32"),
    ("keep_double", np.finfo(np.longdouble).max, "too large for float64"),
    ("keep_int", 1.5, "1.5 is not an integer: convert it first"),
    ("keep_int", 2**31, "2147483648 is out of range: -2147483648 to 2147483647"),
    ("keep_int", None, "expected a number, found None of type NoneType"),
    ("keep_vector", [1, 2], "expected 3 numbers, found [1, 2]"),
    ("keep_vector", [1, 2, 1e39], "too large for float32"),
])
def test_numbers_that_do_not_fit(program: cm.Program, name: str, value: object, message: str) -> None:
    out = np.zeros(1, np.int32 if name == "keep_int" else FLOATS.get(name, np.float32))
    with pytest.raises(cm.LaunchError, match=re.escape(message)):
        program.kernel(name).bound([out, value])


HUGE = {"number": 10**5000, "negative": -10**5000, "list": [1.0] * 10**6, "numbers": [10**5000] * 3,
        "text": "1" * 10**6, "fraction": Fraction(10**5000), "array": np.zeros(10**6), "tuples": ((1,) * 10**6,) * 3}


@pytest.mark.parametrize("value", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("name", ["keep_float", "keep_half", "keep_double", "keep_bfloat", "keep_int", "keep_vector",
                                  "scaled"])
def test_messages_quote_a_line_of_a_value(program: cm.Program, name: str, value: object) -> None:
    """Also of numbers that Python itself makes no decimal digits of."""
    with pytest.raises(cm.LaunchError, match=f"argument 1 of kernel '{name}'") as caught:
        program.kernel(name).bound([bytearray(48), value])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("size", [10**5000, [10**5000], (1,) * 10**6, "1" * 10**6, [[1] * 10**6]],
                         ids=["int", "ints", "long", "text", "nested"])
def test_messages_quote_a_line_of_a_size(queue: cm.Queue, program: cm.Program, size: object) -> None:
    for sizes in ((size, 1), (1, size)):
        with pytest.raises(cm.LaunchError, match="size") as caught:
            queue.enqueue(program.kernel("keep_int"), *sizes, np.zeros(1, np.int32), 1)
        assert len(str(caught.value)) < 500


def test_surplus_arguments_and_defaults_of_any_size(program: cm.Program) -> None:
    with pytest.raises(cm.LaunchError, match="are too much") as caught:
        cm.Queue("sim:generic").enqueue(program.kernel("keep_int"), 1, 1, bytearray(4), 1, 10**5000, [1] * 10**6)
    assert len(str(caught.value)) < 700


# ------------------------------------------------------------------ memory


class Showing:
    """An object with __array_interface__, as many libraries have them."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data
        self.__array_interface__ = data.__array_interface__


def memories(data: np.ndarray) -> list[object]:
    """Objects of all kinds that hold the same floats."""
    mapped = mmap.mmap(-1, data.nbytes)
    mapped[:] = data.tobytes()
    return [data.copy(), bytearray(data.tobytes()), memoryview(bytearray(data.tobytes())), memoryview(data.copy()),
            array.array("f", data.tolist()), mapped, (ctypes.c_float * data.size)(*data.tolist()), Showing(data.copy()),
            memoryview(bytearray(data.tobytes())).cast("f")]


KINDS = [type(one).__name__ + str(number) for number, one in enumerate(memories(np.zeros(4, np.float32)))]


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_memory_of_every_kind_binds_and_is_written_in_place(queue: cm.Queue, program: cm.Program, kind: int) -> None:
    values = np.arange(8, dtype=np.float32)
    source, target = memories(values)[kind], memories(np.zeros(8, np.float32))[kind]
    run(queue, program, "twice", target, source, items=8)
    content = target.data if isinstance(target, Showing) else target
    np.testing.assert_array_equal(np.frombuffer(content, np.float32), values * 2)


def test_bytes_and_read_only_memory_bind_to_const_only(queue: cm.Queue, program: cm.Program) -> None:
    values, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    frozen = values.copy()
    frozen.flags.writeable = False
    for source in (values.tobytes(), memoryview(values.tobytes()), frozen, memoryview(frozen)):
        out[:] = 0
        run(queue, program, "twice", out, source, items=4)
        np.testing.assert_array_equal(out, values * 2)
        with pytest.raises(cm.LaunchError, match="is read-only, but the kernel may write through this pointer"):
            run(queue, program, "twice", source, values, items=4)


def test_an_array_of_no_dimension_is_memory(queue: cm.Queue, program: cm.Program) -> None:
    out = np.array(0, np.float32)
    run(queue, program, "keep_float", out, np.array(3.0))
    assert out == 3


def test_bfloat16_arrays_bind_to_ushort_and_back(queue: cm.Queue, program: cm.Program) -> None:
    numbers = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
    out = np.zeros(3, np.uint16)
    run(queue, program, "bits", out, numbers, items=3)
    np.testing.assert_array_equal(out, numbers.view(np.uint16))
    back = np.zeros(3, ml_dtypes.bfloat16)
    run(queue, program, "bits", back, out, items=3)
    np.testing.assert_array_equal(back, numbers)
    for dtype in (np.uint16, np.int16, ml_dtypes.bfloat16):
        raw = numbers.view(dtype).copy()
        run(queue, program, "halve", raw, items=3)
        np.testing.assert_array_equal(raw.view(ml_dtypes.bfloat16).astype(float), numbers.astype(float) / 2)


@pytest.mark.parametrize(("memory", "message"), [
    ([1.0], "a pointer takes a numpy array, or an object that shows its memory by the buffer protocol or "
            "__array_interface__; found list"),
    (3.0, "found float"),
    (np.float32(3), "found float32"),
    ("text", "found str"),
    (bytearray(7), "7 bytes are no whole number of elements of float32, 4 bytes each"),
    (memoryview(bytearray(9))[1:], "the memory of a pointer to float32 must begin at a multiple of 4 bytes"),
    (memoryview(bytearray(8))[::2], "is not contiguous"),
    (array.array("d", [1.0]), "expected an array of float32, found float64"),
    (np.ma.zeros(4, np.float32), "found MaskedArray; a kernel knows no masks: pass array.data, or array.filled(value)"),
    (np.zeros(4, object), "an array of object holds Python objects, not numbers"),
    (np.zeros(4, ">f4"), "byte order is not this machine's: found >f4; pass a copy made with array.astype('float32')"),
    (cm.local(16), "a global pointer takes an array, found local memory"),
    (np.zeros(4, np.uint32), "expected an array of float32, found uint32"),
    (np.zeros(4, ml_dtypes.bfloat16), "expected an array of float32, found bfloat16"),
])
def test_memory_that_does_not_bind(program: cm.Program, memory: object, message: str) -> None:
    with pytest.raises(cm.LaunchError, match=re.escape(message)):
        program.kernel("twice").bound([memory, np.zeros(4, np.float32)])


# ------------------------------------------------------------------ structures


class CInner(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_int16), ("weight", ctypes.c_float * 2)]


class CScale(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_float), ("shift", ctypes.c_int32), ("gap", ctypes.c_int32 * 2),
                ("bias", ctypes.c_float * 4), ("inner", CInner), ("end", ctypes.c_int32)]


def scale() -> np.void:
    made = np.zeros((), SCALE)
    made["factor"], made["shift"], made["bias"] = 0.5, -3, (7, 8, 9)
    made["inner"]["tag"], made["inner"]["weight"] = 4, (5, 6)
    return made[()]


def c_scale() -> CScale:
    return CScale(0.5, -3, (0, 0), (7, 8, 9, 0), CInner(4, (5, 6)), 0)


@pytest.mark.parametrize("make", [scale, c_scale, lambda: np.array(scale()), lambda: scale().tobytes(),
                                  lambda: bytearray(bytes(c_scale()))],
                         ids=["scalar", "ctypes", "array", "bytes", "bytearray"])
def test_structures_by_value(queue: cm.Queue, program: cm.Program, make) -> None:
    out = np.zeros(6, np.float32)
    run(queue, program, "scaled", out, make())
    np.testing.assert_array_equal(out, [0.5, -3, 7, 9, 4, 6])


def test_unions_are_not_looked_into(queue: cm.Queue, program: cm.Program) -> None:
    out = np.zeros(1, np.float32)
    for which, kind, value in ((1, "f4", 2.5), (0, "i4", 7)):
        made = np.zeros((), np.dtype([("which", "i4"), ("value", kind)]))
        made["which"], made["value"] = which, value
        run(queue, program, "choice", out, made[()])
        assert out[0] == value


def test_arrays_of_structures(queue: cm.Queue, program: cm.Program) -> None:
    out, all_ = np.zeros(3, np.float32), np.zeros(3, INNER)
    all_["tag"], all_["weight"] = [1, 2, 3], [[0, 0.5], [0, 1.5], [0, 2.5]]
    for memory in (all_, all_.tobytes(), all_.view(np.uint8), (CInner * 3).from_buffer_copy(all_.tobytes())):
        run(queue, program, "of_many", out, memory, items=3)
        np.testing.assert_array_equal(out, [1.5, 3.5, 5.5])


def swapped() -> np.void:
    """The structure with two members of equal size exchanged."""
    return np.zeros((), np.dtype({"names": ["shift", "factor"], "formats": ["i4", "f4"], "offsets": [0, 4],
                                  "itemsize": 48}))[()]


@pytest.mark.parametrize(("value", "message"), [
    (swapped(), "the kernel's member 'factor' is float32 at byte 0, and 'shift' is int32 at byte 0"),
    (np.zeros((), np.dtype([("a", "f4", 12)]))[()],
     "the kernel's member 'shift' is int32 at byte 4, and 'a[1]' is float32 at byte 4"),
    (np.zeros((), np.dtype([("a", "f8", 6)]))[()], "'factor' is float32 at byte 0, and 'a[0]' is float64 at byte 0"),
    (np.zeros((), INNER)[()], "it has 12 bytes"),
    (CInner(), "it has 12 bytes"),
    (bytes(47), "expected a structure of 48 bytes, found 47 bytes"),
    (5, "expected a structure of 48 bytes: a structured scalar of numpy, one of ctypes, or bytes; found 5"),
])
def test_structures_of_another_layout(program: cm.Program, value: object, message: str) -> None:
    with pytest.raises(cm.LaunchError, match=re.escape(message)):
        program.kernel("scaled").bound([np.zeros(6, np.float32), value])


def test_arrays_of_structures_of_another_layout(program: cm.Program) -> None:
    wrong = np.zeros(3, np.dtype([("weight", "f4", 2), ("tag", "i2"), ("gap", "i2")]))
    with pytest.raises(cm.LaunchError, match=r"member 'tag' is int16 at byte 0, and 'weight\[0\]' is float32"):
        program.kernel("of_many").bound([np.zeros(3, np.float32), wrong])


OTHER_ORDER = "<" if sys.byteorder == "big" else ">"
OTHER_STRUCTURE = ctypes.LittleEndianStructure if sys.byteorder == "big" else ctypes.BigEndianStructure
OTHER_INNER = np.dtype([("tag", "i2"), ("weight", f"{OTHER_ORDER}f4", 2)], align=True)  # an array inside alone


class COtherScale(OTHER_STRUCTURE):
    _fields_ = [*CScale._fields_[:4], ("tag", ctypes.c_int16), ("weight", ctypes.c_float * 2), ("end", ctypes.c_int32)]


@pytest.mark.parametrize(("value", "remedy"), [
    (scale().astype(SCALE.newbyteorder(OTHER_ORDER)),
     "pass a copy made with value.astype(value.dtype.newbyteorder('='))"),
    (COtherScale(), "derive it from ctypes.Structure"),
], ids=["numpy", "ctypes"])
def test_structures_of_another_byte_order(program: cm.Program, value: np.void, remedy: str) -> None:
    kernel = program.kernel("scaled")
    with pytest.raises(cm.LaunchError, match=f"the structure's byte order is not this machine's.*{re.escape(remedy)}"):
        kernel.bound([np.zeros(6, np.float32), value])
    if isinstance(value, np.void):
        kernel.bound([np.zeros(6, np.float32), value.astype(value.dtype.newbyteorder("="))])


@pytest.mark.parametrize("dtype", [INNER.newbyteorder(OTHER_ORDER), OTHER_INNER])
def test_arrays_of_structures_of_another_byte_order(program: cm.Program, dtype: np.dtype) -> None:
    kernel, array = program.kernel("of_many"), np.zeros(3, dtype)
    message = "pass a copy made with array.astype(array.dtype.newbyteorder('='))"
    with pytest.raises(cm.LaunchError, match=f"byte order is not this machine's.*{re.escape(message)}"):
        kernel.bound([np.zeros(3, np.float32), array])
    kernel.bound([np.zeros(3, np.float32), array.astype(array.dtype.newbyteorder("="))])


def test_the_bytes_of_integers(program: cm.Program) -> None:
    kernel = program.kernel("keep_int")
    for value in (0, 1, -1, 2**31 - 1, -(2**31), np.int64(5), np.uint8(200), 7.0, True, np.array(9)):
        assert kernel.bound([np.zeros(1, np.int32), value])[1] == struct.pack("<i", int(value))


# ------------------------------------------------------------------ null pointers

OPTIONAL = """
kernel void with_bias(global float *out, global const float *bias, int n)
{
    size_t i = get_global_id(0);
    out[i] = i;
    if (bias)
        out[i] += bias[i];
}
kernel void careless(global float *out, global const float *bias, int where)
{
    out[get_global_id(0)] = bias[where];
}
kernel void either(global float *out, global const float *bias, int where)
{
    global const float *from = where < 0 ? bias : out;
    out[get_global_id(0) + 8] = from[where & 7] + 1;
}
kernel void writes(global float *out, global const float *bias, int where)
{
    global float *to = where ? out : (global float *)bias;
    if (get_global_id(0) == 2) *to = 1;
}
"""


@pytest.fixture(scope="module", params=["sim:generic", "cpu", "checked"])
def any_queue(request: pytest.FixtureRequest) -> cm.Queue:
    if request.param == "checked":
        return cm.Queue(cm.device("cpu", options=cm.CpuOptions(bounds=True)))
    return cm.Queue(request.param)


def test_none_is_a_null_pointer(any_queue: cm.Queue) -> None:
    kernel, out = cm.build(OPTIONAL).kernel("with_bias"), np.zeros(16, np.float32)
    for bias in (None, np.full(16, 0.5, np.float32), None):
        any_queue.enqueue(kernel, 16, 8, out, bias, 16).wait()
        np.testing.assert_array_equal(out, np.arange(16) + (0 if bias is None else 0.5))


@pytest.mark.parametrize("where", [0, 3, 10**6])
def test_what_is_behind_a_null_pointer_is_out_of_bounds(any_queue: cm.Queue, where: int) -> None:
    """On every device, with the source line; the process lives on."""
    kernel, out = cm.build(OPTIONAL).kernel("careless"), np.zeros(16, np.float32)
    moved = f", which is in no buffer \\(a null pointer plus {4 * where} bytes\\)" if where else ""
    with pytest.raises(cm.OutOfBounds, match=f"read of 4 bytes through (a null pointer|the address [0-9a-fx]+{moved}).*"
                                             "kernel careless, at <source>:11"):
        any_queue.enqueue(kernel, 16, 8, out, None, where).wait()


@pytest.mark.parametrize("distance", [2**20, 2**36, 2**42, 2**46, -(2**42)])
def test_an_address_far_from_a_null_pointer_is_told_truly(any_queue: cm.Queue, distance: int) -> None:
    kernel = cm.build("kernel void k(global char *p, long d) { p[d] = 1; }").kernel("k")
    how = f"{'plus' if distance > 0 else 'minus'} {abs(distance)} bytes"
    address = f"{distance & 2**64 - 1:#x}"
    with pytest.raises(cm.OutOfBounds, match=rf"the address {address}, which is in no buffer \(a null pointer {how}\)"):
        any_queue.enqueue(kernel, 1, 1, None, distance).wait()


def test_a_pointer_that_may_be_null(any_queue: cm.Queue) -> None:
    kernel, out = cm.build(OPTIONAL).kernel("either"), np.arange(16, dtype=np.float32)
    any_queue.enqueue(kernel, 8, 8, out, None, 5).wait()
    np.testing.assert_array_equal(out[8:], 6)
    with pytest.raises(cm.OutOfBounds, match="null pointer"):
        any_queue.enqueue(kernel, 16, 16, out, None, -1).wait()


def test_a_write_through_a_null_pointer(any_queue: cm.Queue) -> None:
    kernel, out = cm.build(OPTIONAL).kernel("writes"), np.zeros(4, np.float32)
    any_queue.enqueue(kernel, 16, 16, out, None, 1).wait()
    with pytest.raises(cm.OutOfBounds, match=r"write of 4 bytes through a null pointer.*work-item 2\b|lane 2\b"):
        any_queue.enqueue(kernel, 16, 16, out, None, 0).wait()


MATRIX = """
#define MATRIX(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, use)))
typedef float tile MATRIX(CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
kernel void k(global float *out, global const float *bias, int asks)
{
    tile c = coop_mat_init(1);
    if (!asks || bias) {
        tile b = coop_mat_load(bias, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
        c = c + b;
    }
    coop_mat_store(out, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""


def test_a_matrix_behind_a_null_pointer(any_queue: cm.Queue) -> None:
    kernel, out = cm.build(MATRIX).kernel("k"), np.zeros((8, 8), np.float32)
    any_queue.enqueue(kernel, 16, 16, out, None, 1).wait()
    np.testing.assert_array_equal(out, 1)
    any_queue.enqueue(kernel, 16, 16, out, np.ones((8, 8), np.float32), 0).wait()
    np.testing.assert_array_equal(out, 2)
    with pytest.raises(cm.OutOfBounds, match=r"coop_mat_load.*a null pointer"):
        any_queue.enqueue(kernel, 16, 16, out, None, 0).wait()
