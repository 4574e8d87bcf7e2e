"""Kernels that clang compiled, unoptimised and optimised: modules of another producer, without merge instructions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coopmat.devices import describe
from coopmat.spirv.module import Module
from coopmat.targets import simulator
from tests.cases import CASES, CONTROL, MEMORY, Case, copies

# What opencl-c-base.h would declare, as far as the kernels need it: ziglang ships no OpenCL headers.
PRELUDE = """
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long size_t;
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
"""
WITHOUT_CLANG_FORM = "histogram"  # LLVM's back end does not know the atomics under the names of these prototypes


def compile_with_clang(source: Path, level: str, folder: Path) -> Module:
    file, output = folder / "kernel.cl", folder / "kernel.spv"
    file.write_text(PRELUDE + source.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", level,
                    "--target=spirv64-unknown-unknown", "-c", str(file), "-o", str(output)], check=True, timeout=120)
    return Module.from_bytes(output.read_bytes())


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("source", [CONTROL, MEMORY], ids=lambda path: path.stem)
def test_kernels_compiled_by_clang(source: Path, level: str, tmp_path: Path) -> None:
    program = simulator.compile(compile_with_clang(source, level, tmp_path), describe("generic"))
    cases: list[Case] = [case for case in CASES if case.source == source and case.kernel != WITHOUT_CLANG_FORM]
    assert cases
    for case in cases:
        arguments = case.arguments(np.random.default_rng(20))
        expected = case.expected(copies(arguments))
        program.launch(case.kernel, case.global_size, case.local_size, arguments)
        for index, result in expected.items():
            np.testing.assert_array_equal(arguments[index], result, err_msg=f"{case.name}, argument {index}")
