"""Random kernels: our SPIR-V, LLVM's from our IR, clang's, and Intel's compiler and runtime compute the same bits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import coopmat as cm
from tests.kit.fuzz import executions
from tests.kit.fuzz.executions import Result
from tests.kit.fuzz.generator import Kernel, generate
from tests.kit.oracles import clang_modules

BATCH = 8
SEEDS = range(16)
CLANG_SEEDS = range(24, 32)
CLANG_DEFECTS = {1394}  # four bytes are written to a variable of two
LONG_SEEDS = range(1000, 1600)


@cache
def simulated(seed: int) -> tuple[Kernel, cm.Program, Result]:
    kernel = generate(seed)
    program, result = executions.ours(kernel)
    assert program is not None, f"seed {seed}: {result}"
    assert not isinstance(result, str), f"seed {seed}: {result}"
    return kernel, program, result


def test_a_seed_gives_one_kernel() -> None:
    assert generate(7).source == generate(7).source != generate(8).source


def check_llvm(seeds: range, every_level: bool) -> None:
    """At every level of the optimiser, or at two of them; LLVM 22's back end knows integers and vectors of some sizes
    only."""
    found, lowered = [], []
    for seed in seeds:
        kernel, program, ours = simulated(seed)
        for level in range(4) if every_level else (seed % 2, 2 + seed % 2):
            results = {"ours": ours, f"-O{level}": executions.through_llvm(program, kernel, level)}
            if executions.is_lowered(results[f"-O{level}"]):
                lowered.append((seed, level))
            else:
                found += executions.disagreements(kernel, results, [("ours", f"-O{level}")])
    assert not found, "\n".join(found)
    assert len(lowered) <= len(seeds) // 2, f"not optimised at their level: {lowered}"


def check_intel(seeds: range) -> None:
    """Our module and the source, each on Intel's runtime. Where those two differ from each other, it is Intel's
    compiler that is wrong."""
    names, jobs = [], []
    for seed in seeds:
        kernel, program, _ = simulated(seed)
        for name, job in executions.intel_jobs(program, kernel).items():
            names.append((seed, name))
            jobs.append(job)
    results: dict[int, dict[str, Result]] = {seed: {"ours": simulated(seed)[2]} for seed in seeds}
    for (seed, name), result in zip(names, executions.run_on_intel(jobs), strict=True):
        results[seed][name] = result
    found = [text for seed in seeds
             for text in executions.disagreements(simulated(seed)[0], results[seed], executions.INTEL_PAIRS)]
    assert not found, "\n".join(found)


def check_clang(seeds: range, folder: Path) -> None:
    """Clang's modules, unoptimised and optimised, in our simulator; its back end dies on a few."""
    found, refused = [], 0
    for seed in sorted(set(seeds) - CLANG_DEFECTS):
        kernel = generate(seed)
        source = clang_modules.plain(kernel.source)
        results = {"ours": executions.attempt(lambda k=kernel, s=source: executions.simulate(cm.build(s), k))}
        for level in ("-O0", "-O2"):
            module = clang_modules.compile_to_spirv(source, level, folder)
            if module is None:
                refused += 1
                continue
            results[level] = executions.attempt(lambda k=kernel, m=module: executions.simulate(cm.build(m), k))
            found += executions.disagreements(kernel, results, [("ours", level)])
    assert not found, "\n".join(found)
    assert refused <= len(seeds) // 2


def batches(seeds: range) -> list[range]:
    return [seeds[start:start + BATCH] for start in range(0, len(seeds), BATCH)]


@pytest.mark.parametrize("seeds", batches(SEEDS), ids=str)
def test_llvm_computes_the_same(seeds: range) -> None:
    check_llvm(seeds, every_level=False)


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("seeds", batches(CLANG_SEEDS), ids=str)
def test_clang_computes_the_same(seeds: range, tmp_path: Path) -> None:
    check_clang(seeds, tmp_path)


@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("seeds", batches(SEEDS), ids=str)
def test_intel_computes_the_same(seeds: range) -> None:
    check_intel(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", batches(LONG_SEEDS), ids=str)
def test_llvm_computes_the_same_long(seeds: range) -> None:
    check_llvm(seeds, every_level=True)


@pytest.mark.slow
@pytest.mark.oracle("intel-opencl")
@pytest.mark.parametrize("seeds", batches(LONG_SEEDS), ids=str)
def test_intel_computes_the_same_long(seeds: range) -> None:
    check_intel(seeds)


@pytest.mark.slow
@pytest.mark.oracle("clang")
@pytest.mark.parametrize("seeds", batches(LONG_SEEDS), ids=str)
def test_clang_computes_the_same_long(seeds: range, tmp_path: Path) -> None:
    check_clang(seeds, tmp_path)
