"""Generic pointers as arguments of built-in functions that take pointers to named address spaces."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from tests.kit.opencl.reports import reports

READ = "intel_sub_group_2d_block_read_16b_8r16x1c(in, 64, 8, 64, (int2)(0, 0), {})"
VARIABLES = "struct { int4 other; int4 member; } structure; int array[4]; short8 data; void *pointer = &data;"


@pytest.mark.parametrize(("variable", "pointer"), [
    ("data", "(ushort *)&data"),
    ("data", "(ushort *)(void *)&data"),
    ("data", "(ushort *)(volatile int *)(void *)&data"),
    ("data", "(ushort *)&data + 0"),
    ("data", "&((ushort *)&data)[0]"),
    ("data", "(ushort *)((char *)&data + 2) - 1"),
    ("data", "(private ushort *)(ushort *)&data"),
    ("data", "(private ushort *)pointer"),
    ("array", "(ushort *)array"),
    ("structure.member", "(ushort *)&structure.member"),
])
def test_private_pointers_that_casts_made_generic(variable: str, pointer: str) -> None:
    source = f"""
        __attribute__((intel_reqd_sub_group_size(16))) kernel void k(global ushort *out, global ushort *in) {{
            {VARIABLES}
            {READ.format(pointer)};
            vstore8(*(private ushort8 *)&{variable}, get_global_id(0), out);
        }}"""
    device = cm.device("sim:intel_gpu_pvc")
    out, surface = np.zeros((16, 8), np.uint16), np.arange(256, dtype=np.uint16).reshape(8, 32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (16,), (16,), out, surface).wait()
    np.testing.assert_array_equal(out, surface[:, :16].T)


def test_global_and_local_pointers_that_casts_made_generic() -> None:
    source = """
        kernel void k(global uint *out, global uint *in, local uint *l) {
            l[get_local_id(0)] = 100 + get_local_id(0);
            barrier(CLK_LOCAL_MEM_FENCE);
            prefetch((const uint *)in, 1);
            atomic_add((uint *)(void *)out, 1);
            out[16 + get_local_id(0)] = intel_sub_group_block_read((const uint *)in);
            out[32 + get_local_id(0)] = intel_sub_group_block_read((uint *)l);
            if (get_local_id(0) == 0) *(uint *)&out[1] = 7;
        }"""
    device = cm.device("sim:generic")
    out, numbers = np.zeros(48, np.uint32), np.arange(16, dtype=np.uint32)
    cm.Queue(device).enqueue(cm.build(source, device=device).kernel("k"), (16,), (16,), out, numbers,
                             cm.local(64)).wait()
    assert out.tolist() == [16, 7, *[0] * 14, *range(16), *range(100, 116)]


@pytest.mark.parametrize(("statement", "expected"), [
    (READ.format("(ushort *)pointer"),
     "argument 6 of 'intel_sub_group_2d_block_read_16b_8r16x1c' points to the __generic address space; expected a "
     "pointer to __private; if that is where it points, cast it: '(__private ushort *)' [CM3705]"),
    ("atomic_add(any, 1)",
     "argument 1 of 'atomic_add' points to the __generic address space; expected a pointer to __global or __local; "
     "if that is where it points, cast it: '(__global int *)' or '(__local int *)' [CM3705]"),
    (READ.format("(ushort *)in"),
     "argument 6 of 'intel_sub_group_2d_block_read_16b_8r16x1c' points to the __global address space; expected a "
     "pointer to __private [CM3705]"),
    (READ.format("(const ushort *)&data"),
     "argument 6 of 'intel_sub_group_2d_block_read_16b_8r16x1c' is a pointer to 'const ushort', which the function "
     "would write; expected a pointer to 'ushort' [CM3706]"),
])
def test_reports(statement: str, expected: str) -> None:
    column = 1 + statement.index("(ushort *)" if "(ushort" in statement else
                                 "(const ushort *)" if "(const" in statement else "any")
    source = f"void f(global ushort *in, int *any) {{ {VARIABLES}\n{statement}; }}"
    assert reports(source) == [f"2:{column}: error: {expected}"]
