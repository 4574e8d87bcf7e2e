"""Kernels that met defects of LLVM's SPIR-V back end: our IR goes around them, and both modules agree."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm

MEMORY = np.array([0, 0x12345678, 0x89ABABCD, 0x77777701, 0x89ABCDEF, 0, 0, 0], np.uint32)
KERNELS = {
    "zext of trunc": ("kernel void k(global uint *o) { o[0] = (uchar)(((ulong)o[1] << 32) | o[2]); }", [0xCD]),
    "zext of sext, vectors": (
        "kernel void k(global uint2 *o) { char2 c = as_char4(o[1].x).xy; o[0] = convert_uint2(convert_ushort2(c)); }",
        [0xFFCD, 0xFFAB]),
    "zext of trunc, vectors": (
        "kernel void k(global uint2 *o) { o[0] = convert_uint2(convert_uchar2(o[1])); }", [0xCD, 0x01]),
    "shift of two constant vectors": (
        "kernel void k(global uint4 *o) { uint a[16] = {o[1].x}; o[0] = ((uint4)(4) >> (uint4)(1)) + a[0]; }",
        [0x89ABCDF1] * 4),
    "and of two constant vectors": (
        "kernel void k(global uint2 *o) { uint a[16] = {o[1].x}; o[0] = ((uint2)(1073741826u, 5u) & 3u) + a[1]; }",
        [2, 1]),
    "complement of a constant vector": (
        "kernel void k(global uint2 *o) { uint a[16] = {o[1].x}; o[0] = convert_uint2(~(short2)(0)) + a[1]; }",
        [2**32 - 1] * 2),
    "constant address within an array of records": (
        "typedef struct { uchar a; uint b[3]; } R; global R t[4]; global uint *global at = &t[2].b[1]; "
        "kernel void k(global uint *o) { o[0] = at - &t[0].b[0]; o[1] = (global uchar *)at - (global uchar *)t; }",
        [9, 40]),
    "constant address of another type": (
        "constant uint t[2] = {7, 0x01020304}; constant uchar *constant at = (constant uchar *)&t[1] + 1; "
        "kernel void k(global uint *o) { o[0] = at[0]; o[1] = at[1]; }", [3, 2]),
}


@pytest.mark.parametrize("through_llvm", [False, True], ids=["ours", "llvm"])
@pytest.mark.parametrize("name", KERNELS)
def test_result(name: str, through_llvm: bool) -> None:
    source, expected = KERNELS[name]
    program = cm.build(source)
    if through_llvm:
        program = cm.build(llvm.to_spirv(program.llvm_ir))
    memory = MEMORY.copy()
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, memory).wait()
    np.testing.assert_array_equal(memory[: len(expected)], np.array(expected, np.uint32))
