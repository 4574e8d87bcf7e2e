"""The kernels of a module, what they require, and which functions they reach."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.grammar import ExecutionMode, ExecutionModel
from coopmat.spirv.validate.families.functions import reached
from coopmat.spirv.validate.view import ModuleView


@dataclass(frozen=True)
class Kernel:
    """A kernel: its entry point's instruction, name, required sub-group size (None: none), functions reached."""

    index: int
    name: str
    sub_group_size: int | None
    functions: frozenset[int]


def kernels(view: ModuleView) -> list[Kernel]:
    """The kernels in order.  Functions are numbered as in ``view.flow``."""
    found = []
    for entry in view.entry_points:
        if entry.model == ExecutionModel.Kernel:
            sizes = [words[0] for mode, words in view.module.execution_modes(entry.function)
                     if mode == ExecutionMode.SubgroupSize and words]
            start = int(view.flow.function_of[view.defined_by[entry.function]])
            found.append(Kernel(entry.index, entry.name, sizes[0] if sizes else None,
                                frozenset(reached(view, start))))
    return found


def callers(view: ModuleView) -> dict[int, list[Kernel]]:
    """For each function that kernels reach, these kernels."""
    found: dict[int, list[Kernel]] = {}
    for kernel in view.derived(kernels):
        for function in kernel.functions:
            found.setdefault(function, []).append(kernel)
    return found
