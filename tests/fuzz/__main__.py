"""Cut the kernel of a seed down to what still disagrees: ``python -m tests.fuzz SEED [llvm|intel-source|...]``."""

from __future__ import annotations

import re
import sys

from tests.fuzz import executions
from tests.fuzz.executions import Result
from tests.fuzz.generator import Kernel, generate
from tests.fuzz.nodes import Node
from tests.fuzz.reduce import reduced

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
        elif other == "llvm":
            found.append((ours, executions.through_llvm(program, variant)))
        else:
            jobs.append(executions.intel_jobs(program, variant, plain=True)[other])
            found.append((ours, jobs[-1]))
    results = iter(executions.run_on_intel(jobs))
    return [_verdict(ours, next(results) if isinstance(theirs, executions.Job) else theirs)
            for ours, theirs in found]


def _verdict(ours: Result, theirs: Result) -> str:
    if isinstance(ours, str):
        return ""
    if isinstance(theirs, str):
        return re.sub("[0-9]+", "N", theirs)[:90]
    return "" if executions.same(ours, theirs) else "differs"


def main() -> None:
    kernel, other = generate(int(sys.argv[1])), (sys.argv[2:] or ["llvm"])[0]
    (first,) = verdicts(kernel, [kernel.source], other)
    print(f"// seed {kernel.seed}, {other}: {first or 'agrees'}")
    if first:
        print(reduced(kernel, lambda sources: [v == first for v in verdicts(kernel, sources, other)], BATCH))


if __name__ == "__main__":
    main()
