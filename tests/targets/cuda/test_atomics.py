"""Orders and scopes of atomic instructions in PTX."""

from __future__ import annotations

import re

import pytest

import coopmat as cm
from coopmat.runtime.executable import executable
from coopmat.targets.cuda.chips import CHIPS
from coopmat.targets.cuda.program import PtxProgram
from tests.kit.targets.ptx import assembled, ptx_of

HEAD = "#pragma OPENCL EXTENSION cl_ext_float_atomics : enable\n#define O(order) memory_order_##order\n"
ADD = "atomic_fetch_add_explicit(i, 5, O({}), memory_scope_{});"
LOAD = "*out = atomic_load_explicit(i, O({}), memory_scope_{});"
STORE = "atomic_store_explicit(i, 5, O({}), memory_scope_{});"
SWAP = "atomic_compare_exchange_strong_explicit(i, out, 5, O({}), O({}), memory_scope_device);"
CASES = [
    (ADD.format("relaxed", "work_group"), ["atom.global.add.u32"]),  # PTX's default: relaxed, of the GPU
    (ADD.format("relaxed", "device"), ["atom.global.add.u32"]),
    (ADD.format("relaxed", "all_svm_devices"), ["atom.relaxed.sys.add.u32"]),
    (ADD.format("acquire", "work_group"), ["atom.acquire.cta.add.u32"]),
    (ADD.format("release", "device"), ["atom.release.gpu.add.u32"]),
    (ADD.format("acq_rel", "all_svm_devices"), ["atom.acq_rel.sys.add.u32"]),
    (ADD.format("seq_cst", "device"), ["fence.sc.gpu", "atom.acq_rel.gpu.add.u32"]),
    ("atomic_fetch_sub_explicit(i, 5, O(release), memory_scope_device);", ["atom.release.gpu.add.u32"]),
    ("atomic_fetch_min_explicit(i, 5, O(release), memory_scope_device);", ["atom.release.gpu.min.s32"]),
    ("atomic_fetch_max_explicit(u, 5, O(release), memory_scope_device);", ["atom.release.gpu.max.u64"]),
    ("atomic_exchange_explicit(u, 5, O(acquire), memory_scope_device);", ["atom.acquire.gpu.exch.b64"]),
    ("atomic_fetch_or_explicit(i, 5, O(acquire), memory_scope_device);", ["atom.acquire.gpu.or.b32"]),
    ("atomic_fetch_add_explicit(f, 5, O(acquire), memory_scope_device);", ["atom.acquire.gpu.add.f32"]),
    (LOAD.format("relaxed", "device"), ["ld.relaxed.gpu.global.b32"]),
    (LOAD.format("acquire", "work_group"), ["ld.acquire.cta.global.b32"]),
    (LOAD.format("seq_cst", "all_svm_devices"), ["fence.sc.sys", "ld.acquire.sys.global.b32"]),
    (STORE.format("release", "device"), ["st.release.gpu.global.b32"]),
    (STORE.format("seq_cst", "device"), ["fence.sc.gpu", "st.release.gpu.global.b32"]),
    (SWAP.format("acq_rel", "acquire"), ["atom.acq_rel.gpu.global.cas.b32"]),
    (SWAP.format("relaxed", "relaxed"), ["atom.relaxed.gpu.global.cas.b32"]),
    ("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, O(release), memory_scope_device);", ["fence.acq_rel.gpu"]),
]


@pytest.mark.parametrize(("call", "expected"), CASES)
def test_orders_and_scopes(call: str, expected: list[str]) -> None:
    source = (f"{HEAD}kernel void f(global atomic_int *i, global atomic_ulong *u, global atomic_float *f, "
              f"global int *out) {{ {call} }}")
    program = PtxProgram(executable(cm.build(source).module), CHIPS["sm_70"])
    for found in ptx_of(program, "f", (32, 1)):
        there = re.findall(r"^\s*((?:fence|atom|ld\.(?:acq|rel)|st\.rel)[\w.]*)", found.text, re.MULTILINE)
        assert there == expected
        assembled(found)
