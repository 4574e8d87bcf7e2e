"""The compiler without matrices on machines whose work-items are threads: code for NVIDIA's and AMD's GPUs."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

import coopmat as cm
from coopmat import llvm
from coopmat.runtime.executable import executable
from coopmat.targets.analysis.large_values import Prepared, prepared
from tests.kit.oracles import ptxas
from tests.kit.targets.thread_lanes import AMD, NVIDIA, Gpu, kernel_ir

KERNELS = Path(__file__).parents[2] / "kernels"
LEVEL = 2  # of LLVM's optimiser
GROUPS = """
#pragma OPENCL EXTENSION all : enable
kernel void sub_groups(global int *a, global float *b, global ulong *c, global half *h)
{
    size_t i = get_global_id(0);
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    a[i] = sub_group_reduce_add(a[i]) + sub_group_scan_inclusive_max(a[i]) + sub_group_scan_exclusive_min(a[i]);
    b[i] = sub_group_shuffle(b[i], get_sub_group_size() - 1 - get_sub_group_local_id());
    b[i] += sub_group_shuffle_xor(b[i], 3);
    c[i] = sub_group_broadcast(c[i], 2) + sub_group_shuffle_down(c[i], 1) + sub_group_ballot(a[i] > 0).x;
    h[i] = sub_group_shuffle_up(h[i], 2);
    a[i] += sub_group_all(a[i] > 3) + sub_group_any(a[i] < 3) + sub_group_elect();
    a[i] += sub_group_clustered_reduce_add(a[i], 4) + sub_group_non_uniform_all_equal(a[i]);
    b[i] += sub_group_broadcast_first(b[i]) + sub_group_ballot_bit_count(sub_group_ballot(a[i] & 1));
}
kernel void work_groups(global int *a, global float *b, local float *l)
{
    size_t i = get_global_id(0), j = get_local_id(0);
    l[j] = b[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[i] = l[get_local_size(0) - 1 - j] + work_group_reduce_add(b[i]);
    a[i] = work_group_scan_exclusive_add(a[i]) + work_group_broadcast(a[i], 3) + work_group_any(a[i] > 1);
    a[i] += get_global_linear_id() + get_num_groups(0) + get_sub_group_id() + get_num_sub_groups();
}
kernel void atomics(global int *a, global float *f, volatile local int *l)
{
    atomic_add(a, 1);
    a[1] = atomic_max(l, (int)get_local_id(0)) + atomic_cmpxchg(a + 2, 1, 2);
    atomic_fetch_add_explicit((volatile global atomic_int *)a, 4, memory_order_acq_rel, memory_scope_device);
    atomic_xchg(f, 2.0f);
}
kernel void mathematics(global float *x, global double *y, global float4 *v, int n)
{
    int i = get_global_id(0);
    x[i] = sin(x[i]) + exp(x[i]) + pow(x[i], 1.5f) + fmod(x[i], 3.0f) + ldexp(x[i], n) + rsqrt(x[i]);
    y[i] = cos(y[i]) + log(y[i]) + sqrt(y[i]) + hypot(y[i], 2.0);
    v[i] = normalize(v[i]) + cross(v[i], v[0]) + (float4)(dot(v[i], v[1]));
}
"""


@cache
def modules() -> dict[str, Prepared]:
    """The kernels without matrices, prepared for a compiled target."""
    found = {file.stem: cm.build(file) for file in sorted(KERNELS.glob("*.cl")) if file.stem != "matrices"}
    found["groups"] = cm.build(GROUPS)
    return {name: prepared(executable(program.module)) for name, program in found.items()}


@cache
def ir_of(name: str, kernel: str, gpu: Gpu) -> str:
    module = modules()[name]
    entry = next(entry for entry in module.module.entry_points if entry.name == kernel)
    return kernel_ir(module, entry, gpu)


CASES = [(name, entry.name) for name, module in modules().items() for entry in module.module.entry_points]


@pytest.mark.parametrize("gpu", [NVIDIA, AMD], ids=["nvidia", "amd"])
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_every_number_is_one(name: str, kernel: str, gpu: Gpu) -> None:
    """No vector is written, and LLVM accepts the module."""
    ir = ir_of(name, kernel, gpu)
    llvm.verify(ir, source_name=kernel)
    assert "<1 x " not in ir
    assert f"<{gpu.sub_group_size} x " not in ir


@cache
def ptx_of(name: str, kernel: str) -> str:
    return llvm.compile(ir_of(name, kernel, NVIDIA), NVIDIA.triple, NVIDIA.cpu, NVIDIA.features, LEVEL, "asm").decode()


@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_ptx(name: str, kernel: str) -> None:
    ptx = ptx_of(name, kernel)
    assert f".target {NVIDIA.cpu}" in ptx
    assert f".entry {kernel}(" in ptx


@pytest.mark.oracle("ptxas")
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_ptxas_assembles_it(name: str, kernel: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.ptx").write_text(ptx_of(name, kernel))
    done = subprocess.run([str(ptxas.executable()), "-arch", NVIDIA.cpu, "-c", "-o", str(tmp_path / "kernel.o"),
                           str(tmp_path / "kernel.ptx")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kernel.o").read_bytes().startswith(b"\x7fELF")


def test_sub_groups_wait() -> None:
    """Threads of a sub-group go on by themselves; a barrier of a sub-group is an instruction."""
    assert "bar.warp.sync" in ptx_of("groups", "sub_groups")
    assert "llvm.amdgcn.wave.barrier" in ir_of("groups", "sub_groups", AMD)


def test_what_a_machine_lacks_is_an_error() -> None:
    """A machine without checks takes no kernel with assertions."""
    program = cm.build("""
        void __assert_fail(const constant char *text, const constant char *file, unsigned line, const constant char *f);
        kernel void asserts(global int *a) { if (a[0]) __assert_fail("a", "b", 1, "c"); }""")
    module = prepared(executable(program.module))
    with pytest.raises(cm.Error, match=r"cannot compile '%.* = OpFunctionCall .*' for the GPU"):
        kernel_ir(module, module.module.entry_points[0], NVIDIA)


@cache
def object_of(name: str, kernel: str) -> bytes:
    return llvm.compile(ir_of(name, kernel, AMD), AMD.triple, AMD.cpu, AMD.features, LEVEL, "object")


@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_an_object_for_amd(name: str, kernel: str) -> None:
    code = object_of(name, kernel)
    assert int.from_bytes(code[18:20], "little") == 224  # EM_AMDGPU
    assert f"{kernel}.kd".encode() in code


@pytest.mark.oracle("llvm-objdump")
@pytest.mark.parametrize(("name", "kernel"), CASES)
def test_the_object_is_disassembled(name: str, kernel: str, tmp_path: Path) -> None:
    (tmp_path / "kernel.o").write_bytes(object_of(name, kernel))
    text = subprocess.run([str(shutil.which("llvm-objdump")), "-d", f"--mcpu={AMD.cpu}", str(tmp_path / "kernel.o")],
                          capture_output=True, text=True, check=True).stdout
    assert f"<{kernel}>:" in text
    assert "s_endpgm" in text
    assert "<unknown>" not in text
