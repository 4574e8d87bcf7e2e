"""A generated kernel on the simulator and on the CPU: ``python -m tests.fuzz SEED cpu`` cuts down what disagrees."""

from __future__ import annotations

import coopmat as cm
from coopmat import llvm
from tests.fuzz import kernels_for_targets
from tests.fuzz.executions import Result, attempt, same
from tests.fuzz.kernels_for_targets import TargetKernel
from tests.fuzz.random_graphs import Graph

SLOW = "LLVM did not finish"
"""Begins what a compilation says that takes longer than it may: a limit of this machine, and no wrong code."""


def on_device(program: str | bytes, kernel: TargetKernel | Graph, device: str) -> Result:
    """The buffers after a launch, or what went wrong."""
    def launch() -> list:
        arguments = kernel.arguments()
        built = cm.build(program, device="cpu") if device == "cpu" else cm.build(program)
        cm.Queue(device).enqueue(built.kernel("k"), *kernel.sizes, *arguments).wait()
        return arguments

    return attempt(launch)


def disagreement(program: str | bytes, kernel: TargetKernel | Graph) -> str:
    """What differs between the two targets, or failed; empty where they agree."""
    simulated, found = (on_device(program, kernel, device) for device in ("sim:generic", "cpu"))
    if isinstance(simulated, str):
        return f"seed {kernel.seed}, simulator: {simulated[-400:]}"
    if isinstance(found, str):
        return f"seed {kernel.seed}, cpu: {found[-400:]}"
    if same(simulated, found):
        return ""
    differing = [f"{int((a != b).sum())} of {a.size} in argument {place}"
                 for place, (a, b) in enumerate(zip(simulated, found, strict=True)) if (a != b).any()]
    return f"seed {kernel.seed}, sizes {kernel.sizes}: differing {', '.join(differing)}"


def of_source(seed: int) -> str:
    """The disagreement about a kernel in OpenCL C."""
    kernel = kernels_for_targets.generate(seed)
    return disagreement(kernel.source, kernel)


def of_llvm(seed: int) -> str:
    """About LLVM's SPIR-V of the kernel, which has phis; where LLVM's back end cannot make it, about the source."""
    kernel = kernels_for_targets.generate(seed)
    made = attempt(lambda: [llvm.to_spirv(cm.build(kernel.source).llvm_ir)])  # type: ignore[list-item]
    return disagreement(kernel.source if isinstance(made, str) else made[0], kernel)


def of_graph(seed: int) -> str:
    """About a kernel with a random control flow graph."""
    from tests.fuzz import random_graphs

    graph = random_graphs.generate(seed)
    return disagreement(graph.spirv, graph)
