"""The code for AMX, which is compiled on any x86-64 machine; and what it computes, on one that has AMX."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.llvm.process import client
from coopmat.runtime.executable import executable
from coopmat.targets.analysis.large_values import Prepared
from coopmat.targets.cpu.features import CpuFeatures, cpu_features
from coopmat.targets.cpu.kernel import KernelCode, kernel_code, type_table
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.matrix.lowering import lower
from coopmat.targets.cpu.program import CpuProgram
from coopmat.targets.llvm.kernel import flattened, traced
from tests.kit.fuzz import kernels_for_targets, modelled_matrices
from tests.kit.fuzz.products import SOURCE, drawn
from tests.kit.paths import EXAMPLES

FEATURES = frozenset({"amx-tile", "amx-int8", "amx-bf16", "avx", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"})
BF16 = ("-DIN=__bf16", "-DOUT=float", "-DTM=16", "-DTN=16", "-DTK=32", "-DFLAGS=0")
INT8 = ("-DIN=char", "-DOUT=int", "-DTM=16", "-DTN=16", "-DTK=64", "-DFLAGS=15")
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="LLVM compiles for this machine's architecture, and "
                            "AMX is x86-64's")
with_amx = pytest.mark.skipif("amx-bf16" not in cpu_features(), reason="this processor has no AMX, or it is taken away")


def code_of(source: str | Path, options: tuple[str, ...] = (), numerics: str = "hardware") -> KernelCode:
    """A module's first kernel for a processor with AMX."""
    program = cm.build(source, options)
    entry = program.module.entry_points[0]
    variant = Variant(16, True, True, numerics=numerics, features=FEATURES)
    prepared = Prepared(program.module)
    return kernel_code(traced(flattened(prepared, entry, type_table(prepared, entry, variant))), entry, variant)


@cache
def assembly(name: str, options: tuple[str, ...], numerics: str = "hardware") -> str:
    code = code_of(EXAMPLES / name, options, numerics)
    ir = client.compile_for_host(code.ir, "sapphirerapids", "", 3, "ir").decode()
    return client.compile_for_host(lower(ir, code.matrices, FEATURES).ir, "sapphirerapids", "", 3, "asm").decode()


def blocks_with(text: str, pattern: str) -> list[str]:
    """The basic blocks of an assembly text in which a pattern occurs."""
    return [block for block in re.split(r"^\.?\w+:.*$", text, flags=re.MULTILINE) if re.search(pattern, block)]


@on_x86
@pytest.mark.parametrize("numerics", ["exact", "intel_cpu_spr", "nvidia_gpu_sm_90"])
def test_numerics_that_are_not_the_processors_need_no_tiles(numerics: str) -> None:
    assert "tdpbf16ps" in assembly("gemm.cl", BF16)
    assert not re.search(r"\b(tdp\w+|tile\w+)\b", assembly("gemm.cl", BF16, numerics))
    assert "tdpbssd" in assembly("gemm.cl", INT8, numerics)


@on_x86
@pytest.mark.parametrize(("options", "instruction"), [(BF16, "tdpbf16ps"), (INT8, "tdpbssd")])
@pytest.mark.parametrize("name", ["gemm_blocked.cl", "gemm_tuned.cl"])
def test_accumulators_stay_in_tiles_over_the_k_loop(name: str, options: tuple[str, ...], instruction: str) -> None:
    blocks = blocks_with(assembly(name, options), instruction)
    assert blocks
    for block in blocks:
        lines = re.findall(r"\b(tdp\w+|tilestored|tilezero|ldtilecfg)\b", block)
        first, last = (number for number, line in enumerate(lines) if line == instruction), len(lines)
        start = next(first)
        end = last - lines[::-1].index(instruction)
        assert set(lines[start:end]) == {instruction}, "tiles are moved between products"
        assert lines.count(instruction) % 4 == 0


@on_x86
@pytest.mark.parametrize("options", [BF16, INT8])
@pytest.mark.parametrize("name", ["gemm.cl", "gemm_blocked.cl", "gemm_tuned.cl"])
def test_no_tile_of_zeros_is_copied(name: str, options: tuple[str, ...]) -> None:
    """LLVM copies tiles through the stack; four accumulators that begin with zeros are four tiles of zeros."""
    moves = re.findall(r"\b(tilezero|tilestored|tileloadd)\b(.*)", assembly(name, (*options, "-DPACKED_B")))
    zeros = [place for place, (instruction, _) in enumerate(moves) if instruction == "tilezero"]
    assert zeros
    for place in zeros:
        following = next((operands for instruction, operands in moves[place + 1:] if instruction != "tilezero"), "")
        assert "(%rsp" not in following, following


@on_x86
def test_variables_that_llvm_makes_of_an_array() -> None:
    """An array of matrices that is taken apart, with pointers to its elements: LLVM declares variables of matrices."""
    code = code_of(SOURCE, drawn(8358, most_groups=4, most_rounds=3).options)
    ir = client.compile_for_host(code.ir, "sapphirerapids", "", 3, "ir").decode()
    assert re.search(r"= alloca target\(.spirv.CooperativeMatrixKHR", ir)
    text = lower(ir, code.matrices, FEATURES, stay_in_tiles=False).ir  # there are more of them than tiles
    assert "tdpbuud" in client.compile_for_host(text, "sapphirerapids", "", 3, "asm").decode()


@on_x86
def test_tiles_are_configured_once() -> None:
    text = assembly("gemm_blocked.cl", BF16)
    assert text.count("ldtilecfg") == 1
    assert "tilerelease" in text


KERNEL = """
#define MATRIX(rows, columns, use) \\
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
typedef __bf16 matrix_a MATRIX(16, 32, A);
typedef __bf16 matrix_b MATRIX(32, 16, B);
typedef float matrix_c MATRIX(16, 16, ACCUMULATOR);
kernel void product(global const __bf16 *A, global __bf16 *B, global float *C)
{
    global __bf16 *p = B;
    for (int k = 0; k < 2; k++) {
        matrix_a a = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 32);
        matrix_b b = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
        matrix_c c = coop_matmul_add(a, b, (matrix_c)coop_mat_init(0), CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
        coop_mat_store(C + 256 * k, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
        CHANGE
    }
}
""".replace("(matrix_c)coop_mat_init(0)", "zero").replace("        matrix_c c = coop", "        matrix_c zero = "
                                                          "coop_mat_init(0);\n        matrix_c c = coop")


@on_x86
def test_no_tile_is_moved_in_a_loop_over_components() -> None:
    change = "for (uint i = 0; i < coop_mat_length(c); i++) c[i] = exp(c[i]) + log(c[i]);"
    code = code_of(KERNEL.replace("CHANGE", "").replace("coop_mat_store(", f"{change} coop_mat_store("))
    ir = client.compile_for_host(code.ir, "sapphirerapids", "", 3, "ir").decode()
    lowered = lower(ir, code.matrices, FEATURES)
    text = client.compile_for_host(lowered.ir, "sapphirerapids", "", 3, "asm").decode()
    blocks = blocks_with(text, r"\bvscalefps\b")
    assert blocks
    for block in blocks:
        loop = re.split(r"^\s*j\w+\s", block, flags=re.MULTILINE)[0]
        assert "vscalefps" in loop
        assert not re.search(r"\btile", loop)


@pytest.mark.parametrize(("change", "reused"), [
    ("", [1]),
    ("C[0] = p[1];", [1]),
    ("p[get_local_id(0)] = C[0];", []),
    ("global __bf16 *q = p + 1; q[0] = C[0];", []),
    ("*(global ushort *)B = 1;", []),
    ("atomic_add((volatile global int *)(B + 2), 1);", []),
    ("p = k ? B : (global __bf16 *)C; ", []),
])
def test_only_memory_that_is_not_written_is_kept(change: str, reused: list[int]) -> None:
    assert code_of(KERNEL.replace("CHANGE", change)).reused == reused


ATTENTION = ("-DIN=__bf16", "-DTM=8", "-DTN=8", "-DD=32")


def for_amx(program: cm.Program) -> CpuProgram:
    """A program for a processor with AMX, which need not be this one: for a look at its code."""
    features = frozenset({*FEATURES, "avx512dq", "fma", "f16c", "avx512bf16"})
    return CpuProgram(executable(program.module), CpuFeatures("sapphirerapids", features, features))


@on_x86
def test_more_matrices_than_tiles() -> None:
    """LLVM finds no place for all of them: each multiplication puts its own into tiles."""
    program = for_amx(cm.build(EXAMPLES / "flash_attention.cl", ATTENTION))
    code = program.assembly()
    products = len(re.findall(r"\btdpbf16ps\b", code))
    assert products == 8
    assert len(re.findall(r"\btileloadd", code)) == 3 * products
    with pytest.raises(cm.CompileError, match="ran out of registers"):
        program.translated("flash_attention", program.variant(
            program.signatures["flash_attention"], (16, 1, 1))).by_llvm("asm")


@on_x86
@pytest.mark.parametrize(("make", "seeds"), [(kernels_for_targets.generate, range(2600, 2604)),
                                             (modelled_matrices.generate, range(14, 17))], ids=["kernels", "in memory"])
def test_random_kernels_have_code_for_amx(make: Callable[[int], Any], seeds: range) -> None:
    """Also such that use more matrices than there are tiles, and zeros where other names have numbers, too."""
    code = "".join(for_amx(cm.build(make(seed).source)).assembly() for seed in seeds)
    assert re.search(r"\btdpb", code)


@with_amx
def test_kept_tiles_are_those_of_the_launch() -> None:
    """The same kernel on the same arrays, whose content changes in between, also where arrays overlap."""
    kernel = cm.build(KERNEL.replace("CHANGE", "")).kernel("product")
    queue, rng = cm.Queue("cpu"), np.random.default_rng(7)
    memory = np.zeros(32 * 16 + 2 * 512 * 2, ml_dtypes.bfloat16)
    b = memory[:512]
    for _ in range(3):
        a = rng.standard_normal((16, 32)).astype(ml_dtypes.bfloat16)
        b[:] = rng.standard_normal(512).astype(ml_dtypes.bfloat16)
        c = np.zeros(512, np.float32)
        queue.enqueue(kernel, 64, 16, a, b, c).wait()
        expected = a.astype(np.float32) @ b.reshape(32, 16).astype(np.float32)
        np.testing.assert_allclose(c.reshape(2, 16, 16), np.stack([expected, expected]), rtol=1e-5, atol=1e-5)
