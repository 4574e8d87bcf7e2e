"""Barriers and group operations on the CPU, where the sub-groups of a work-group wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Error
from coopmat.targets.cpu.program import CpuProgram
from tests.kit.targets.short_kernels import cpu_program, module

RNG = np.random.default_rng(11)


def launch(source: str, size: int, local: int, *arguments: object) -> None:
    """Run the kernel ``k`` of a program in OpenCL C."""
    CpuProgram(cm.build(source)._executable).launch("k", (size,), (local,), arguments)


EXCHANGE = """
__attribute__((intel_reqd_sub_group_size(SIZE)))
kernel void k(global int *data, int rounds) {
    local int shared[256];
    int own = data[get_global_id(0)], l = get_local_id(0), n = get_local_size(0);
    for (int i = 0; i < rounds; i++) {
        shared[l] = own + i;
        barrier(CLK_LOCAL_MEM_FENCE);
        own ^= shared[(l + 7 * i + 1) % n] * 3;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[get_global_id(0)] = own;
}"""


@pytest.mark.parametrize("size", [4, 8, 16, 32, 64])
@pytest.mark.parametrize("local", [1, 40, 64, 72, 256])
def test_barriers_in_a_loop(size: int, local: int) -> None:
    """Every round each work-item reads what another one wrote in it; whatever the last sub-group lacks."""
    groups, rounds = 3, 5
    data = RNG.integers(-1000, 1000, groups * local).astype(np.int32)
    expected = data.reshape(groups, local).copy()
    for i in range(rounds):
        expected ^= 3 * (expected + i)[:, (np.arange(local) + 7 * i + 1) % local]
    launch(EXCHANGE.replace("SIZE", str(size)), groups * local, local, data, rounds)
    np.testing.assert_array_equal(data.reshape(groups, local), expected)


def test_many_values_live_across_a_barrier() -> None:
    """More vectors than there are registers, in stack slots that need the alignment of the widest."""
    source = """
        kernel void k(global double *out, global const double *in, local double *shared) {
            int l = get_local_id(0), g = get_global_id(0);
            double own[COUNT];
            for (int i = 0; i < COUNT; i++)
                own[i] = in[COUNT * g + i];
            shared[l] = own[3];
            barrier(CLK_LOCAL_MEM_FENCE);
            double sum = shared[get_local_size(0) - 1 - l];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < COUNT; i++)
                sum = sum * own[i] + own[COUNT - 1 - i];
            out[g] = sum;
        }""".replace("COUNT", "48")
    data, out = RNG.integers(-2, 3, (160, 48)).astype(np.float64), np.zeros(160)
    launch(source, 160, 80, out, data, cm.local(640))
    expected = data.reshape(2, 80, 48)[:, ::-1, 3].reshape(160)
    for i in range(48):
        expected = expected * data[:, i] + data[:, 47 - i]
    np.testing.assert_array_equal(out, expected)


def test_a_barrier_that_some_sub_groups_have_left() -> None:
    """OpenCL forbids it; here it ends, and the others go on."""
    source = """
        kernel void k(global int *out) {
            if (get_local_id(0) < 16)
                return;
            for (int i = 0; i < 3; i++)
                barrier(CLK_LOCAL_MEM_FENCE);
            out[get_global_id(0)] = 1;
        }"""
    out = np.zeros(128, np.int32)
    launch(source, 128, 64, out)
    np.testing.assert_array_equal(out.reshape(2, 64), [[0] * 16 + [1] * 48] * 2)


def test_split_barriers() -> None:
    source = module("g_i32 out", """
        %p = OpPtrAccessChain %w_i32 %first %lx
        %n = OpUConvert %i32 %lx
        OpStore %p %n
        OpControlBarrierArriveINTEL %i32_c2 %i32_c2 %i32_c264
        %m = OpISub %i64 %i64_c63 %lx
        OpControlBarrierWaitINTEL %i32_c2 %i32_c2 %i32_c264
        %q = OpPtrAccessChain %w_i32 %first %m
        %v = OpLoad %i32 %q
        %r = OpPtrAccessChain %g_i32 %out %gx
        OpStore %r %v""", declarations="""
        %array = OpTypeArray %i32 %i32_c64
        %w_array = OpTypePointer Workgroup %array
        %shared = OpVariable %w_array Workgroup
        %first = OpSpecConstantOp %w_i32 InBoundsAccessChain %shared %i32_c0""")
    out = np.zeros(128, np.int32)
    cpu_program(source).launch("kernel", (128,), (64,), [out])
    np.testing.assert_array_equal(out.reshape(2, 64), np.tile(np.arange(64)[::-1], (2, 1)))


@pytest.mark.parametrize("local", [16, 40, 100])
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_sums_over_a_work_group_are_made_in_order(name: str, local: int) -> None:
    """In float, where each other order gives another result; also of the last sub-group that is not full."""
    source = """
        kernel void k(global float *total, global float *upto, global float *before, global const float *in) {
            for (int round = 0; round < 2; round++) {
                float own = in[get_global_id(0)] + round;
                total[get_global_id(0)] = work_group_reduce_NAME(own);
                upto[get_global_id(0)] = work_group_scan_inclusive_NAME(own);
                before[get_global_id(0)] = work_group_scan_exclusive_NAME(own);
            }
        }""".replace("NAME", name)
    data = (RNG.standard_normal(3 * local) * 10.0 ** RNG.integers(-3, 4, 3 * local)).astype(np.float32)
    total, upto, before = (np.zeros_like(data) for _ in range(3))
    launch(source, 3 * local, local, total, upto, before, data)
    function, first = {"add": (np.add, 0), "min": (np.minimum, np.inf), "max": (np.maximum, -np.inf)}[name]
    expected = function.accumulate((data + np.float32(1)).reshape(3, local), axis=1, dtype=np.float32)
    np.testing.assert_array_equal(upto.reshape(3, local), expected)
    np.testing.assert_array_equal(total.reshape(3, local), np.repeat(expected[:, -1:], local, axis=1))
    np.testing.assert_array_equal(before.reshape(3, local)[:, 1:], expected[:, :-1])
    np.testing.assert_array_equal(before.reshape(3, local)[:, 0], first)


LARGE = """
    kernel void k(global double *out, int n) {
        double own[COUNT];
        int l = get_local_id(0);
        for (int i = 0; i < n; i++)
            own[(i * 7 + l) % COUNT] = i + l;
        barrier(CLK_LOCAL_MEM_FENCE);
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += own[(i * 7 + l) % COUNT];
        out[get_global_id(0)] = sum;
    }"""


def test_large_variables_have_room_on_each_stack() -> None:
    out, count = np.zeros(128), 3000
    launch(LARGE.replace("COUNT", str(count)), 128, 64, out, count)
    np.testing.assert_array_equal(out, np.tile(sum(range(count)) + count * np.arange(64), 2))


def test_variables_that_no_stack_has_room_for() -> None:
    source = """
        __attribute__((intel_reqd_sub_group_size(64)))
        kernel void k(global double *out, int n) {
            double a[4000], b[4000], c[4000];
            int i = n + get_local_id(0);
            a[i] = b[i + 1] = c[i + 2] = i;
            out[get_global_id(0)] = a[n] + b[n] + c[n];
        }"""
    with pytest.raises(Error, match="more than 4 MiB; keep them in global or local memory"):
        launch(source, 64, 64, np.zeros(64), 1)


SIZES = (4, 8, 16, 32, 64)
OTHERS = """
    __attribute__((intel_reqd_sub_group_size(SIZE)))
    kernel void k(global TYPE *out, global const TYPE *in, global const int *other, int by) {
        int g = get_global_id(0);
        TYPE own = in[g];
        out[g] = CALL;
    }"""
SHUFFLES = {  # call: the lane that a lane reads from, by its operand and that which is the same for all
    "sub_group_shuffle(own, other[g])": lambda lane, other, by, size: other % size,
    "sub_group_shuffle(own, by)": lambda lane, other, by, size: 0 * lane + by,
    "sub_group_shuffle_xor(own, 3)": lambda lane, other, by, size: lane ^ 3,
    "sub_group_shuffle_xor(own, by)": lambda lane, other, by, size: lane ^ by,
    "sub_group_rotate(own, other[g])": lambda lane, other, by, size: (lane + other) % size,
    "sub_group_rotate(own, by)": lambda lane, other, by, size: (lane + by) % size,
    "sub_group_clustered_rotate(own, 3, 4)": lambda lane, other, by, size: lane // 4 * 4 + (lane + 3) % 4,
    "sub_group_broadcast(own, 1)": lambda lane, other, by, size: 0 * lane + 1,
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", SHUFFLES)
@pytest.mark.parametrize(("kind", "dtype"), [("char", np.int8), ("short", np.int16), ("float", np.float32),
                                             ("long", np.int64)])
def test_shuffles_in_sub_groups_of_every_size(kind: str, dtype: type, call: str, size: int) -> None:
    data, lane = RNG.integers(-99, 99, 128).astype(dtype), np.arange(128) % size
    other, out = RNG.integers(0, size, 128).astype(np.int32), np.zeros(128, dtype)
    launch(OTHERS.replace("CALL", call).replace("SIZE", str(size)).replace("TYPE", kind), 128, 128, out, data, other, 2)
    np.testing.assert_array_equal(out, data[np.arange(128) - lane + SHUFFLES[call](lane, other, 2, size)])


FOLDS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "dtype", "name"), [
    *(("char", np.int8, name) for name in FOLDS), *(("uint", np.uint32, name) for name in FOLDS),
    *(("float", np.float32, name) for name in FOLDS if name != "xor")])
def test_sums_of_the_work_items_that_are_here(kind: str, dtype: type, name: str, size: int) -> None:
    """In divergent code, in sub-groups of every size, the last of them not full."""
    source = OTHERS.replace("out[g] = CALL;", f"""
        if (other[g] > 0) {{
            out[3 * g] = sub_group_non_uniform_reduce_{name}(own);
            out[3 * g + 1] = sub_group_non_uniform_scan_inclusive_{name}(own);
            out[3 * g + 2] = sub_group_clustered_reduce_{name}(own, 4);
        }}""")
    data, other = RNG.integers(-9, 9, 130).astype(dtype), RNG.integers(0, 3, 130).astype(np.int32)
    if kind == "float":
        data *= dtype(1 / 3)
    out, expected = (np.zeros((130, 3), dtype) for _ in range(2))
    launch(source.replace("SIZE", str(size)).replace("TYPE", kind), 130, 130, out, data, other, 0)

    def fold(items: list[int]) -> np.ndarray:
        return FOLDS[name].accumulate(data[items], dtype=dtype)

    for start in range(0, 130, size):
        here = [i for i in range(start, min(start + size, 130)) if other[i]]
        for place, i in enumerate(here):
            near = [j for j in here if j // 4 == i // 4]
            expected[i] = fold(here)[-1], fold(here)[place], fold(near)[-1]
    np.testing.assert_array_equal(out, expected)
