"""A generated kernel on the simulator and on another target: ``python -m tests.kit.fuzz SEED cpu``, or ``cuda``, cuts
down what disagrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import coopmat as cm
from coopmat import llvm
from tests.kit.fuzz import kernels_for_targets, modelled_matrices
from tests.kit.fuzz.executions import Result, attempt, same
from tests.kit.fuzz.kernels_for_targets import TargetKernel
from tests.kit.fuzz.random_graphs import Graph
from tests.kit.lenient import lenient
from tests.kit.targets.gpu import WarpSimulator

LEVELS = range(4)
DEVICES = ("sim:generic", "cpu")
Check = Callable[..., str]
"""What differs for a seed; takes the seed and the device beside the simulator, the CPU if it is not given."""
SLOW = "LLVM did not finish"
"""Begins what a compilation says that takes longer than it may: a limit of this machine, and no wrong code."""


def on_device(program: str | bytes, kernel: TargetKernel | Graph, device: str | cm.Device) -> Result:
    """The buffers after a launch, or what went wrong."""
    def launch() -> list:
        arguments = kernel.arguments()
        chosen = lenient(device) if isinstance(device, str) else device
        built = cm.build(program) if chosen.name.startswith("sim:") else cm.build(program, device=chosen)
        cm.Queue(chosen).enqueue(built.kernel("k"), *kernel.sizes, *arguments).wait()
        return arguments

    return attempt(launch)


def disagreement(program: str | bytes, kernel: TargetKernel | Graph, device: str = "cpu") -> str:
    """What differs between the simulator and a device, or failed; empty where they agree."""
    simulator = WarpSimulator() if device.startswith("cuda") else "sim:generic"
    simulated, found = on_device(program, kernel, simulator), on_device(program, kernel, device)
    if isinstance(simulated, str):
        return f"seed {kernel.seed}, simulator: {simulated[-400:]}"
    if isinstance(found, str):
        return f"seed {kernel.seed}, {device}: {found[-400:]}"
    if same(simulated, found):
        return ""
    differing = [f"{int((a != b).sum())} of {a.size} in argument {place}"
                 for place, (a, b) in enumerate(zip(simulated, found, strict=True)) if (a != b).any()]
    return f"seed {kernel.seed}, sizes {kernel.sizes}: differing {', '.join(differing)}"


def of_source(seed: int, device: str = "cpu") -> str:
    """The disagreement about a kernel in OpenCL C."""
    kernel = kernels_for_targets.generate(seed)
    return disagreement(kernel.source, kernel, device)


def of_llvm(seed: int, device: str = "cpu") -> str:
    """About LLVM's SPIR-V of the kernel, which has phis; where LLVM's back end cannot make it, about the source."""
    kernel = kernels_for_targets.generate(seed)
    made = attempt(lambda: [llvm.to_spirv(cm.build(kernel.source).llvm_ir)])  # type: ignore[list-item]
    return disagreement(kernel.source if isinstance(made, str) else made[0], kernel, device)


def of_levels(seed: int) -> str:
    """About a kernel in OpenCL C, optimised by LLVM at each level, on both targets."""
    kernel = kernels_for_targets.generate(seed)
    program = cm.build(kernel.source)
    ours = on_device(program.spirv, kernel, "sim:generic")
    if isinstance(ours, str):
        return f"seed {seed}: {ours[-400:]}"
    found = [_of_level(program, level, lambda spirv, device: on_device(spirv, kernel, device), ours, f"seed {seed}")
             for level in LEVELS]
    return "\n".join(filter(None, found))


def of_model(seed: int) -> str:
    """About a kernel with matrices in memory, as written and at each level, beside its model. The CPU takes one of
    these forms: most of the time is its compiler's."""
    kernel = modelled_matrices.generate(seed)
    program = cm.build(kernel.source)

    def launched(spirv: bytes, device: str) -> Result:
        def launch() -> list:
            arguments = kernel.arguments()
            size = kernel.sub_group_size
            cm.Queue(lenient(device)).enqueue(cm.build(spirv).kernel("k"), size, size, *arguments).wait()
            return arguments[:1]

        return attempt(launch)

    expected: Result = [kernel.expected]
    found = [] if same(launched(program.spirv, "sim:generic"), expected) else [f"model {seed}: differs as written"]
    for level in LEVELS:
        devices = DEVICES if seed % len(LEVELS) == level else DEVICES[:1]
        found.append(_of_level(program, level, launched, expected, f"model {seed}", devices))
    return "\n".join(filter(None, found))


def _of_level(program: cm.Program, level: int, launched: Callable[[bytes, str], Result], expected: Result, what: str,
              devices: Sequence[str] = DEVICES) -> str:
    """What is wrong with a program once LLVM has optimised it: an invalid module, other results, a lower level."""
    made = program.optimized(level)
    wrong = [f"{found.message} [{found.rule}]" for found in made.module.validate()
             if found.severity == "error" or found.rule == "matrix-bytes"]
    wrong += [found.message for found in made.warnings[len(program.warnings):]]
    for device in devices:
        result = launched(made.spirv, device)
        if not same(result, expected):
            wrong.append(f"{device}: {result[-400:] if isinstance(result, str) else 'differs'}")
    return f"{what} at -O{level}: {'; '.join(wrong)}" if wrong else ""


def of_graph(seed: int, device: str = "cpu") -> str:
    """About a kernel with a random control flow graph."""
    from tests.kit.fuzz import random_graphs

    graph = random_graphs.generate(seed)
    return disagreement(graph.spirv, graph, device)
