"""What the tests of the host side share: a queue, a kernel, and reading any memory."""

from __future__ import annotations

import numpy as np

import coopmat as cm

q = cm.Queue("sim:generic")
SOURCE = """kernel void add(global const char* in, global char* out, local int* sum, int n)
{
    sum[get_local_id(0)] = in[get_global_id(0)] + n;
    out[get_global_id(0)] = sum[get_local_id(0)];
}"""
ADD = cm.build(SOURCE).kernel("add")
A = np.zeros(4)  # an array for commands that are refused


def read(source, dtype, count: int) -> np.ndarray:
    """The first elements of any memory, by a copy of its bytes."""
    found = np.zeros(count, dtype)
    q.memcpy(found, source, found.nbytes).wait()
    return found
