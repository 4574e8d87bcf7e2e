"""Kernels that clang compiled, unoptimised and optimised: modules of another producer, without merge instructions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coopmat import llvm
from coopmat.devices import describe
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from coopmat.targets.base.local_memory import LocalMemory
from tests.kit.cases import ASYNC_COPIES, CASES, CONTROL, MEMORY, Case, copies

# What opencl-c-base.h would declare, as far as the kernels need it: ziglang ships no OpenCL headers.
PRELUDE = """
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long size_t;
typedef float float3 __attribute__((ext_vector_type(3)));
typedef float float4 __attribute__((ext_vector_type(4)));
#define CLK_LOCAL_MEM_FENCE 1
#define OVERLOADABLE __attribute__((overloadable))
size_t OVERLOADABLE get_global_id(uint);
size_t OVERLOADABLE get_local_id(uint);
size_t OVERLOADABLE get_group_id(uint);
size_t OVERLOADABLE get_local_size(uint);
void OVERLOADABLE __attribute__((convergent)) barrier(uint);
int OVERLOADABLE atomic_add(volatile global int *, int);
int OVERLOADABLE atomic_inc(volatile local int *);
size_t OVERLOADABLE get_global_size(uint);
size_t OVERLOADABLE get_num_groups(uint);
#define CONVERGENT OVERLOADABLE __attribute__((convergent))
#define COPIES(T) \\
    event_t CONVERGENT async_work_group_copy(local T *, const global T *, size_t, event_t); \\
    event_t CONVERGENT async_work_group_copy(global T *, const local T *, size_t, event_t); \\
    event_t CONVERGENT async_work_group_strided_copy(local T *, const global T *, size_t, size_t, event_t); \\
    event_t CONVERGENT async_work_group_strided_copy(global T *, const local T *, size_t, size_t, event_t);
COPIES(short) COPIES(int) COPIES(float3)
void CONVERGENT wait_group_events(int, event_t *);
"""
WITHOUT_CLANG_FORM = "histogram"  # LLVM's back end does not know the atomics under the names of these prototypes


def run_clang(source: str, folder: Path, *options: str) -> bytes:
    file, output = folder / "kernel.cl", folder / "kernel.out"
    file.write_text(PRELUDE + source, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", *options,
                    "--target=spirv64-unknown-unknown", str(file), "-o", str(output)], check=True, timeout=120)
    return output.read_bytes()


def compile_with_clang(source: str, level: str, folder: Path) -> Module:
    """The module that clang writes."""
    return Module.from_bytes(run_clang(source, folder, level, "-c"))


def compile_clangs_ir(source: str, level: str, folder: Path) -> Module:
    """The module that the package makes of clang's LLVM IR."""
    return Module.from_bytes(llvm.to_spirv(run_clang(source, folder, level, "-S", "-emit-llvm").decode()))


def check_cases(module: Module, source: Path) -> None:
    program = simulator.compile(module, describe("generic"))
    cases: list[Case] = [case for case in CASES if case.source == source and case.kernel != WITHOUT_CLANG_FORM]
    assert cases
    for case in cases:
        arguments = case.arguments(np.random.default_rng(20))
        expected = case.expected(copies(arguments))
        program.launch(case.kernel, case.global_size, case.local_size, arguments)
        for index, result in expected.items():
            np.testing.assert_array_equal(arguments[index], result, err_msg=f"{case.name}, argument {index}")


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("source", [CONTROL, MEMORY], ids=lambda path: path.stem)
def test_kernels_compiled_by_clang(source: Path, level: str, tmp_path: Path) -> None:
    check_cases(compile_with_clang(source.read_text(encoding="utf-8"), level, tmp_path), source)


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_asynchronous_copies_in_clangs_ir(level: str, tmp_path: Path) -> None:
    """Clang's own module has no valid null event where a file uses more than one; the package repairs that."""
    check_cases(compile_clangs_ir(ASYNC_COPIES.read_text(encoding="utf-8"), level, tmp_path), ASYNC_COPIES)


ONE_NULL_EVENT = """
kernel void k(global int *out, global const int *in, local int *tile, int every) {
    size_t n = get_local_size(0);
    event_t events[2];
    events[0] = async_work_group_strided_copy(tile, in + get_group_id(0) * n * every, n, every, 0);
    events[1] = async_work_group_copy(tile + n, in + get_group_id(0) * n, n, events[0]);
    wait_group_events(2, events);
    out[get_global_id(0)] = tile[get_local_id(0)] - tile[2 * n - 1 - get_local_id(0)];
}"""


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_asynchronous_copies_in_clangs_module(level: str, tmp_path: Path) -> None:
    module = compile_with_clang(ONE_NULL_EVENT, level, tmp_path)
    data, out = np.arange(96, dtype=np.int32) ** 2, np.zeros(32, np.int32)
    simulator.compile(module, describe("generic")).launch(
        "k", (32,), (16,), [out, data, LocalMemory(128), 3])
    np.testing.assert_array_equal(out, data[::3] - data[:32].reshape(2, 16)[:, ::-1].ravel())
