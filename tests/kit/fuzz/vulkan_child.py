"""Random kernels on a device of Vulkan beside the simulator, in a process of its own: drivers may end it.

``python -m tests.kit.fuzz.vulkan_child MAKER FIRST COUNT`` takes the next COUNT seeds from FIRST on whose kernels have
sub-groups as the device has them, and prints a line of JSON for each: the seed, once before and once after, then with
what differs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import numpy as np

import coopmat as cm
from tests.kit.fuzz import barrier_kernels, kernels_for_targets, lock_step_kernels, random_graphs, targets
from tests.kit.oracles import vulkan
from tests.kit.paths import ROOT

DEVICE = "vulkan:0"
LONGEST = 120
"""Seconds for one kernel."""


@cache
def sub_group_size() -> int:
    """Of the device."""
    return cm.device(DEVICE).sub_group_sizes[0]


@dataclass(frozen=True)
class Launch:
    """A kernel as :func:`targets.disagreement` takes it."""

    seed: int
    sizes: tuple[Any, Any]
    arguments: Callable[[], list[Any]]
    sub_group_size: int
    program: str | bytes


def graph(seed: int) -> Launch:
    """A random graph of blocks."""
    made = random_graphs.generate(seed)
    size = re.search(r"SubgroupSize (\d+)", made.text)
    return Launch(seed, made.sizes, made.arguments, int(size[1]) if size else 0, made.spirv)


def source(seed: int) -> Launch:
    """OpenCL C with functions of sub-groups and work-groups."""
    made = kernels_for_targets.generate(seed)
    size = re.search(r"intel_reqd_sub_group_size\((\d+)\)", made.source)
    return Launch(seed, made.sizes, made.arguments, int(size[1]) if size else 0, made.source)


def lock_step(seed: int) -> Launch:
    """Group functions wherever work-items part."""
    made = lock_step_kernels.generate(seed)
    return Launch(seed, made.sizes, made.arguments, made.sub_group, made.source)


def barriers(seed: int) -> Launch:
    """Barriers and local memory; split barriers are nothing that Vulkan has."""
    made = barrier_kernels.generate(seed)
    text = made.text()
    size = 0 if "split" in text or "arrive" in text else made.sub_group
    return Launch(seed, made.sizes, made.arguments, size, text)


def generic(seed: int) -> Launch:
    """A kernel of tests/kernels/generic.cl, by its number."""
    text = (ROOT / "tests" / "kernels" / "generic.cl").read_text()
    name = re.findall(r"kernel void (\w+)", text)[seed]
    return Launch(seed, (32, 32), lambda: [np.arange(320, dtype=np.int32), cm.local(128)], sub_group_size(),
                  f"#define {name} k\n{text}")


MAKERS: dict[str, Callable[[int], Launch]] = {one.__name__: one for one in (graph, source, lock_step, barriers,
                                                                            generic)}


def _optimised(launch: Launch) -> Launch:
    """Every third kernel in OpenCL C as LLVM's optimiser leaves it."""
    if isinstance(launch.program, bytes) or launch.seed % 3:
        return launch
    program = cm.build(launch.program).optimized(1 + launch.seed % 2).spirv
    return Launch(launch.seed, launch.sizes, launch.arguments, launch.sub_group_size, program)


def main(maker: str, first: int, number: int) -> None:
    """Run so many kernels."""
    for seed in count(first):
        launch = MAKERS[maker](seed)
        if launch.sub_group_size != sub_group_size():
            continue
        if number == 0:
            return
        number -= 1
        print(json.dumps([seed]), flush=True)
        text = targets.disagreement(_optimised(launch).program, launch, DEVICE)  # type: ignore[arg-type]
        print(json.dumps([seed, text]), flush=True)


def disagreements(maker: str, first: int, number: int) -> Iterator[str]:
    """What differs, or ended the process, for the next kernels from a seed on."""
    python = vulkan.python()
    assert python is not None
    while number:
        try:
            run = subprocess.run([python, "-m", "tests.kit.fuzz.vulkan_child", maker, str(first), str(number)],
                                 cwd=ROOT, env=vulkan.environment(), capture_output=True, text=True, check=False,
                                 timeout=LONGEST * number)
            output, error = run.stdout, run.stderr
        except subprocess.TimeoutExpired as expired:
            output, error = (expired.stdout or b"").decode(), "it does not end"
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("[")]
        done = [line for line in lines if len(line) == 2]
        yield from (text for _, text in done if text)
        if len(done) == number:
            return
        lost = lines[-1][0] if lines else first
        yield f"seed {lost}: the process ended: {error[-400:]}"
        number -= len(done) + 1
        first = lost + 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
