"""What the CPU's random orders and the simulator's race check say of a kernel."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

import coopmat as cm
from coopmat.targets.cpu.host.interleaving import InOrder, RandomOrder
from coopmat.targets.cpu.host.races import RacePlan
from tests.kit.fuzz.barrier_kernels import Kernel, generate

ORDERS = 4  # random ones of each kernel
CPU = cm.CpuOptions(races=True)


def on_cpu(kernel: Kernel, removed: Collection[int] = ()) -> list[list[np.ndarray]]:
    """The buffers after a launch in the usual order, and after those in random orders."""
    device = cm.device("cpu", options=CPU)
    program = device.load(cm.build(kernel.text(removed), device=device).module)
    size, local = ((one,) for one in kernel.sizes)
    found = []
    for order in (InOrder(), *(RandomOrder(kernel.seed * ORDERS + number) for number in range(ORDERS))):
        arguments = kernel.arguments()
        plan = program.launcher("k", size, local, arguments).__self__
        assert isinstance(plan, RacePlan)
        plan.run_in(order, arguments)
        found.append(arguments)
    return found


def simulated(kernel: Kernel, removed: Collection[int] = ()) -> list[np.ndarray] | cm.Error:
    """The buffers after a launch in the simulator with all checks on, or what it reports."""
    arguments = kernel.arguments()
    try:
        cm.Queue("sim:generic").enqueue(cm.build(kernel.text(removed)).kernel("k"), *kernel.sizes, *arguments).wait()
    except cm.SimulationError as error:
        return error
    return arguments


def differ(results: list[list[np.ndarray]]) -> bool:
    """Whether some results are not those of the first order."""
    return any((a != b).any() for other in results[1:] for a, b in zip(results[0], other, strict=True))


def of_correct(seed: int) -> str:
    """What is wrong with a correct kernel; empty if nothing is."""
    kernel = generate(seed)
    expected, found = simulated(kernel), on_cpu(kernel)
    if isinstance(expected, Exception):
        return f"seed {seed}: a correct kernel is accused: {expected}"
    if differ([expected, *found]):
        return f"seed {seed}: results of a correct kernel differ"
    return ""


def of_removed(seed: int) -> tuple[str, bool, bool]:
    """What is wrong with a kernel without some of its barriers; whether results differ, and whether a race is reported.
    """
    kernel = generate(seed)
    removed = kernel.some_barriers()
    reported, found = simulated(kernel, removed), on_cpu(kernel, removed)
    is_race, differs = isinstance(reported, cm.DataRace), differ(found)
    what = f"seed {seed}, without barriers {sorted(removed)}"
    if differs and not is_race:
        return f"{what}: results differ, the simulator says {reported}", differs, is_race
    if not isinstance(reported, Exception) and differ([reported, *found]):
        return f"{what}: another result in the simulator", differs, is_race
    return "", differs, is_race
