"""Cut the kernel of a seed down to what still disagrees.

``python -m tests.kit.fuzz SEED [llvm|llvm-2|intel-source|...]``, where the number is the level of LLVM's optimiser;
with ``cpu``, ``cuda:0`` or ``vulkan:0``, the kernel for targets of that seed.
"""

from __future__ import annotations

import dataclasses
import re
import sys

from tests.kit.fuzz import executions, kernels_for_targets, targets
from tests.kit.fuzz.executions import Result
from tests.kit.fuzz.generator import Kernel, generate
from tests.kit.fuzz.nodes import Node
from tests.kit.fuzz.reduce import reduced

BATCH = 6  # sources that share a child process


def verdicts(kernel: Kernel, sources: list[str], other: str) -> list[str]:
    """For each source: "" where ours and the other execution agree, else how they do not."""
    found: list[tuple[Result, Result | executions.Job]] = []
    jobs: list[executions.Job] = []
    for source in sources:
        variant = Kernel(kernel.seed, Node(source), kernel.global_size, kernel.local_size, kernel.slots)
        program, ours = executions.ours(variant)
        if program is None or isinstance(ours, str):
            found.append((ours, ours))
        elif other.startswith("llvm"):
            level = int(other.partition("-")[2] or 0)
            found.append((ours, executions.through_llvm(program, variant, level)))
        else:
            jobs.append(executions.intel_jobs(program, variant, plain=True)[other])
            found.append((ours, jobs[-1]))
    results = iter(executions.run_on_intel(jobs))
    return [_verdict(ours, next(results) if isinstance(theirs, executions.Job) else theirs)
            for ours, theirs in found]


def verdicts_of_targets(kernel: kernels_for_targets.TargetKernel, sources: list[str], device: str) -> list[str]:
    """For each source: "" where the simulator and the device agree, or where the simulator refuses it."""
    found = [targets.disagreement(source, dataclasses.replace(kernel, root=Node(source)), device) for source in sources]
    return ["" if "simulator:" in text else re.sub("[0-9]+", "N", text)[:90] for text in found]


def _verdict(ours: Result, theirs: Result) -> str:
    if isinstance(ours, str):
        return ""
    if isinstance(theirs, str):
        return re.sub("[0-9]+", "N", theirs)[:90]
    return "" if executions.same(ours, theirs) else "differs"


def main() -> None:
    seed, other = int(sys.argv[1]), (sys.argv[2:] or ["llvm"])[0]
    kernel = kernels_for_targets.generate(seed) if other.startswith(("cpu", "cuda", "vulkan")) else generate(seed)

    def found(sources: list[str]) -> list[str]:
        if isinstance(kernel, kernels_for_targets.TargetKernel):
            return verdicts_of_targets(kernel, sources, other)
        return verdicts(kernel, sources, other)

    (first,) = found([kernel.source])
    print(f"// seed {kernel.seed}, {other}: {first or 'agrees'}")
    if first:
        print(reduced(kernel, lambda sources: [v == first for v in found(sources)], BATCH))


if __name__ == "__main__":
    main()
