"""The executions that must agree, and the comparison.

``ours`` is our SPIR-V in our simulator; ``llvm`` the SPIR-V that LLVM makes from our IR at a level of its optimiser, in
our simulator;
``intel-source`` what Intel's CPU runtime makes of the source with its own compiler; ``intel-plain`` the same without
optimisation; ``intel-spirv`` our SPIR-V on Intel's runtime.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import coopmat as cm
from tests.kit.fuzz.generator import Kernel
from tests.kit.lenient import lenient
from tests.kit.oracles import intel_runtime

Result = list[np.ndarray] | str
"""The buffers afterwards, or what went wrong."""


@dataclass
class Job:
    """What a child process builds and launches: a source with build options, or SPIR-V."""

    program: str | bytes
    options: tuple[str, ...]
    global_size: int
    local_size: int
    arguments: list[np.ndarray]


def simulate(program: cm.Program, kernel: Kernel) -> list[np.ndarray]:
    arguments = kernel.arguments()
    queue = cm.Queue(lenient("sim:generic", undefined=False))
    queue.enqueue(program.kernel("k"), kernel.global_size, kernel.local_size, *arguments).wait()
    return arguments


def attempt(make: Callable[[], list[np.ndarray]]) -> Result:
    """The result of a call, or its exception."""
    try:
        return make()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ours(kernel: Kernel) -> tuple[cm.Program | None, Result]:
    """Our SPIR-V in our simulator."""
    try:
        program = cm.build(kernel.source)
    except Exception as error:
        return None, f"build: {type(error).__name__}: {error}"
    return program, attempt(lambda: simulate(program, kernel))


def through_llvm(program: cm.Program, kernel: Kernel, level: int = 0) -> Result:
    """LLVM's SPIR-V of our IR, optimised at a level, in our simulator; or why LLVM makes none at that level."""
    def launch() -> list[np.ndarray]:
        made = program.optimized(level)
        lowered = made.warnings[len(program.warnings):]
        if lowered:
            raise Lowered(lowered[0].message)
        broken = [found for found in made.module.validate() if found.severity == "error"]
        if broken:
            raise ValueError(str(broken[0]))
        return simulate(made, kernel)

    return attempt(launch)


class Lowered(Exception):
    """LLVM's back end cannot translate what its optimiser makes at a level: it makes no wrong code."""


def is_lowered(result: Result) -> bool:
    """Whether a result is missing as LLVM makes no module at that level."""
    return isinstance(result, str) and result.startswith(Lowered.__name__)


INTEL_PAIRS = (("ours", "intel-source"), ("ours", "intel-spirv"))
SOURCE_OPTIONS = ("-cl-std=CL3.0", "-w")


def intel_jobs(program: cm.Program | None, kernel: Kernel, plain: bool = False) -> dict[str, Job]:
    """What to run on Intel's runtime for this kernel."""
    def job(what: str | bytes, *options: str) -> Job:
        return Job(what, options, kernel.global_size, kernel.local_size, kernel.arguments())

    jobs = {"intel-source": job(kernel.source, *SOURCE_OPTIONS)}
    if plain:
        jobs["intel-plain"] = job(kernel.source, *SOURCE_OPTIONS, "-cl-opt-disable")
    if program is not None:
        jobs["intel-spirv"] = job(program.spirv)
    return jobs


def run_on_intel(jobs: list[Job], timeout: float = 60) -> list[Result]:
    """The jobs in child processes: a new one follows where one dies. Results are in the jobs' order."""
    results: list[Result] = []
    while len(results) < len(jobs):
        rest = jobs[len(results):]
        done, failure = _child_results(rest, timeout + 2 * len(rest))
        results += done
        if len(done) < len(rest):
            results.append(f"died: {failure}")
    return results


def _child_results(jobs: list[Job], timeout: float) -> tuple[list[Result], str]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**intel_runtime.environment(Path(folder)), "PYOPENCL_COMPILER_OUTPUT": "0"}
        output = Path(folder) / "results"
        plain = [vars(job) for job in jobs]
        failure = ""
        try:
            child = subprocess.run([sys.executable, str(Path(__file__).with_name("intel_child.py")), str(output)],
                                   input=pickle.dumps(plain), env=environment, capture_output=True, timeout=timeout,
                                   check=False)
            failure = f"exit code {child.returncode}: {child.stderr.decode(errors='replace')[-500:]}"
        except subprocess.TimeoutExpired:
            failure = f"no result within {timeout} s"
        results: list[Result] = []
        if output.exists():
            with output.open("rb") as stream, contextlib.suppress(EOFError, pickle.UnpicklingError):
                while True:
                    results.append(pickle.load(stream))
    return results, failure


def same(left: Result, right: Result) -> bool:
    """Whether both are results and equal bit for bit."""
    if isinstance(left, str) or isinstance(right, str):
        return False
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def difference(kernel: Kernel, results: dict[str, Result], first: str, second: str) -> str:
    """Where two results differ first, or which of them failed."""
    left, right = results[first], results[second]
    if isinstance(left, str) or isinstance(right, str):
        failed = "; ".join(f"{name}: {results[name]}" for name in (first, second) if isinstance(results[name], str))
        return f"seed {kernel.seed}: {failed}"
    buffer = next(index for index, (a, b) in enumerate(zip(left, right, strict=True)) if not np.array_equal(a, b))
    at = int(np.flatnonzero(left[buffer] != right[buffer])[0])
    return (f"seed {kernel.seed}: {('out', 'memory', 'in')[buffer]}[{at}] is {left[buffer][at]:#x} in {first}, "
            f"{right[buffer][at]:#x} in {second}")


def disagreements(kernel: Kernel, results: dict[str, Result], pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [difference(kernel, results, a, b) for a, b in pairs
            if a in results and b in results and not same(results[a], results[b])]
