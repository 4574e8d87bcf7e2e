"""How a launch is written: arguments by position, by name and by default; sizes that the runtime chooses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, int32, kernel, layout, nd_item, nd_range, ptr
from tests.kit.lenient import lenient

SOURCE = """
kernel void scale(global float *out, global const float *in, float factor, int n)
{
    int i = get_global_id(0);
    if (i < n)
        out[i] = in[i] * factor;
}
kernel void shape(global int *out)
{
    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
        for (int i = 0; i < 3; i++)
            out[i] = get_local_size(i);
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *out)
{
    if (get_global_id(0) + get_global_id(1) == 0) { out[0] = get_local_size(0); out[1] = get_local_size(1); }
}
"""
SUB_GROUPS = """
kernel void shape(global int *out) { if (get_global_id(0) == 0) out[0] = get_local_size(0) + 0 * get_sub_group_id(); }
kernel __attribute__((intel_reqd_sub_group_size(32))) void wide(global int *out)
{
    if (get_global_id(0) == 0) out[0] = get_local_size(0);
}
"""
CAPTURED = np.arange(16, dtype=np.float32)


@pytest.fixture(scope="module", params=["sim:generic", "cpu"])
def queue(request: pytest.FixtureRequest) -> cm.Queue:
    return cm.Queue(request.param)


@pytest.fixture(scope="module")
def program() -> cm.Program:
    return cm.build(SOURCE)


@kernel
def normalize(item: nd_item[1], out: ptr[float32], x: ptr[float32], eps: float32 = 1e-5, *, shift: int32 = 3,
              order: layout = layout.row_major):
    i = item.get_global_id(0)
    out[i] = x[i] * eps + CAPTURED[i] + shift + (100 if order == layout.col_major else 0)


def expected(x: np.ndarray, eps: float = 1e-5, shift: int = 3) -> np.ndarray:
    return x * np.float32(eps) + CAPTURED + np.float32(shift)


# ------------------------------------------------------------------ arguments


@pytest.mark.parametrize(("args", "named", "eps", "shift"), [
    ((), {}, 1e-5, 3), ((0.5,), {}, 0.5, 3), ((), {"eps": 0.5}, 0.5, 3), ((), {"shift": 7}, 1e-5, 7),
    ((0.1,), {"shift": -2}, 0.1, -2), ((), {"shift": 1, "eps": 2}, 2, 1),
    ((), {"order": layout.col_major}, 1e-5, 103)])
@pytest.mark.parametrize("how", ["parallel_for", "enqueue"])
def test_defaults_and_names_of_python_kernels(queue: cm.Queue, how: str, args: tuple, named: dict, eps: float,
                                              shift: int) -> None:
    x, out = np.linspace(1, 2, 16, dtype=np.float32), np.zeros(16, np.float32)
    if how == "parallel_for":
        queue.parallel_for(nd_range(16, 16), normalize, out, x, *args, **named).wait()
    else:
        built = cm.build(normalize, device=queue.device).kernel("normalize")
        queue.enqueue(built, 16, 16, out, x, *args, **named).wait()
    np.testing.assert_allclose(out, expected(x, eps, shift), rtol=1e-6)


def test_command_groups_pass_names_on(queue: cm.Queue) -> None:
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    queue.submit(lambda handler: handler.parallel_for(nd_range(16, 16), normalize, out, x=x, shift=5)).wait()
    np.testing.assert_allclose(out, expected(x, shift=5), rtol=1e-6)


def test_names_of_opencl_kernels(queue: cm.Queue, program: cm.Program) -> None:
    source, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    queue.enqueue(program.kernel("scale"), 16, 16, out, source, n=16, factor=0.5).wait()
    np.testing.assert_array_equal(out, source / 2)


SHOWN = ("normalize(out: ptr[float32], x: ptr[float32], eps: float32 = 1e-05, *, shift: int32 = 3, "
         "order: layout = layout.row_major)")


@pytest.mark.parametrize(("args", "named", "message"), [
    ((), {}, "found 0: 'out' and 'x' have no value: "),
    ((1,), {}, "found 1: 'x' has no value: "),
    ((1, 2, 3, 4), {}, "found 4: 4 is too much: "),
    ((1, 2, 3, "text", [5]), {}, "found 5: 'text' and [5] are too much: "),
    ((1, 2), {"shfit": 3}, "found 3: it has no parameter 'shfit' (did you mean 'shift'?): "),
    ((1, 2), {"item": 3}, "found 3: it has no parameter 'item'"),
    ((1, 2), {"CAPTURED": CAPTURED}, "it has no parameter 'CAPTURED': "),
    ((1, 2), {"x": 3}, "found 3: 'x' is given by position and by name: "),
])
def test_what_is_missing_or_too_much_is_named(queue: cm.Queue, args: tuple, named: dict, message: str) -> None:
    start = "kernel 'normalize' takes 5 arguments after its nd_item, "
    with pytest.raises(cm.LaunchError, match="^" + re.escape(start) + ".*" + re.escape(message)) as caught:
        queue.parallel_for(nd_range(16, 16), normalize, *args, **named)
    assert str(caught.value).endswith(SHOWN)


def test_what_an_opencl_kernel_lacks(queue: cm.Queue, program: cm.Program) -> None:
    with pytest.raises(cm.LaunchError, match=r"^kernel 'scale' takes 4 arguments, found 3: 'n' has no value: scale"
                                             r"\(global float\* out, global const float\* in, float factor, int n\)$"):
        queue.enqueue(program.kernel("scale"), 16, 16, CAPTURED, CAPTURED, 1.0)


# ------------------------------------------------------------------ sizes


@pytest.mark.parametrize(("size", "chosen"), [
    (4096, (256, 1, 1)), (96, (96, 1, 1)), (80, (80, 1, 1)), (7, (7, 1, 1)), (257, (1, 1, 1)),
    ((512, 6), (256, 1, 1)), ((8, 64), (8, 32, 1)), ((2, 3, 16), (2, 3, 16)), ((6, 10), (6, 10, 1)),
    ((48, 48), (16, 16, 1)),
])
def test_the_runtime_chooses_whole_sub_groups(queue: cm.Queue, program: cm.Program, size: object,
                                              chosen: tuple) -> None:
    out = np.zeros(3, np.int32)
    queue.enqueue(program.kernel("shape"), size, None, out).wait()
    assert tuple(out) == chosen


def test_a_kernel_of_sub_groups_gets_one(queue: cm.Queue) -> None:
    program, out = cm.build(SUB_GROUPS), np.zeros(1, np.int32)
    for name, size in (("shape", 16), ("wide", 32)):
        queue.enqueue(program.kernel(name), 4096, None, out).wait()
        assert out[0] == size


TOGETHER = """
#define TILE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
int sum(int x) { return sub_group_reduce_add(x); }
int outer(int x) { return sum(x) + 1; }
kernel void direct(global int *p) { p[0] = sub_group_reduce_add(1); }
kernel void called(global int *p) { p[0] = outer(1); }
kernel void number(global int *p) { p[0] = get_sub_group_local_id(); }
kernel void matrix(global int *p) { int TILE m = coop_mat_init(1); m = m + m; }
kernel void needs(global int *p) __attribute__((intel_reqd_sub_group_size(16))) { p[0] = 1; }
kernel void alone(global int *p) { p[get_global_id(0) & 3] = get_local_size(0); }
kernel void barriers(global int *p) { barrier(CLK_GLOBAL_MEM_FENCE); p[0] = 1; }
"""


@pytest.mark.parametrize("device", ["sim:intel_gpu_pvc", "sim:generic", "cpu"])
def test_what_other_kernels_do_is_no_matter(device: str) -> None:
    """Each kernel by itself decides its local size, together with the functions that it calls."""
    program, alone = cm.build(TOGETHER, device=device), cm.build(TOGETHER[TOGETHER.index("kernel void alone"):])
    assert [name for name, one in program.kernels.items() if not one.uses_sub_groups] == ["alone", "barriers"]
    for size, local_size in ((1000, 250), (4096, 256)):
        for one in (program.kernel("alone"), alone.kernel("alone")):
            out = np.zeros(4, np.int32)
            cm.Queue(lenient(device)).enqueue(one, size, None, out).wait()
            assert out[0] == local_size


def test_modules_of_other_compilers_tell_who_uses_sub_groups(tmp_path: Path) -> None:
    """Functions of OpenCL C are imports in them."""
    path = tmp_path / "two.ll"
    path.write_text("""target triple = "spirv64-unknown-unknown"
declare spir_func i32 @_Z22get_sub_group_local_idv()
define spir_kernel void @with(ptr addrspace(1) %p) {
  %n = call spir_func i32 @_Z22get_sub_group_local_idv()
  store i32 %n, ptr addrspace(1) %p
  ret void
}
define spir_kernel void @without(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p
  ret void
}
""")
    kernels = cm.build(path).kernels
    assert (kernels["with"].uses_sub_groups, kernels["without"].uses_sub_groups) == (True, False)


def test_a_required_size_is_chosen(queue: cm.Queue, program: cm.Program) -> None:
    out = np.zeros(2, np.int32)
    queue.enqueue(program.kernel("required"), (8, 8), None, out).wait()
    assert tuple(out) == (4, 2)
    with pytest.raises(cm.LaunchError, match="differ in their number of dimensions"):
        queue.enqueue(program.kernel("required"), 8, None, out)
    with pytest.raises(cm.LaunchError, match="9 in dimension 0 is not a multiple of the local size 4"):
        queue.enqueue(program.kernel("required"), (9, 8), None, out)
