"""Vectors in memory: a thread loads and stores them at once, and what cannot be so is refused before the launch."""

from __future__ import annotations

import re

import numpy as np
import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets.emulated_gpu.driver import emulated
from tests.kit.targets.ptx import assembled, ptx_of

SOURCE = """
kernel void turn(global float4 *out, global const float4 *in)
{
    local float4 t[32];
    t[get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float4 other = t[get_local_id(0) ^ 31];
    out[get_global_id(0)] = other.wzyx;
}
kernel void unaligned(global float *out, global const float *in)
{
    vstore4(vload4(get_global_id(0), in), get_global_id(0), out);
}
"""


def test_ptx() -> None:
    program = PtxProgram(executable(cm.build(SOURCE).module), CHIPS["sm_80"])
    for kernel, loads in (("turn", ["global.v4.b32", "shared.v4.b32"]), ("unaligned", ["global.b32"] * 4)):
        for found in ptx_of(program, kernel, (32,)):
            for access in ("ld", "st"):
                assert sorted(re.findall(rf"\b{access}\.((?:global|shared)\S*)", found.text)) == loads
            assembled(found)


def test_arguments_must_be_aligned() -> None:
    with emulated(80):
        queue = cm.Queue("cuda:0")
        program = cm.build(SOURCE, device="cuda:0")
        memory = cm.malloc_device[np.float32](136, queue)
        queue.copy(np.arange(136, dtype=np.float32), memory, 136)
        out = cm.malloc_device[np.float32](128, queue)
        queue.enqueue(program.kernel("turn"), 32, 32, out, memory + 4).wait()
        np.testing.assert_array_equal(out.to_host(), np.arange(4, 132, dtype=np.float32)[::-1])
        with pytest.raises(cm.LaunchError, match=r"kernel 'turn'.*: argument 1 'in' lies at an address that is no "
                                                 "multiple of 16, which float32 x 4 needs on a GPU"):
            queue.enqueue(program.kernel("turn"), 32, 32, out, memory + 1)
        queue.enqueue(program.kernel("unaligned"), 32, 32, out, memory + 1).wait()
        np.testing.assert_array_equal(out.to_host(), np.arange(1, 129, dtype=np.float32))


def test_arrays_of_the_host_may_lie_anywhere() -> None:
    """They are copied to where they are aligned."""
    numbers, out = np.arange(136, dtype=np.float32), np.zeros(128, np.float32)
    for start in range(4):
        with emulated(80):
            queue = cm.Queue("cuda:0")
            program = cm.build(SOURCE, device="cuda:0")
            queue.enqueue(program.kernel("turn"), 32, 32, out, numbers[start:start + 128]).wait()
        np.testing.assert_array_equal(out, numbers[start:start + 128][::-1])
