"""The kernels of a module, what they require, and which functions they reach."""

from __future__ import annotations

from dataclasses import dataclass

from coopmat.spirv.grammar import ExecutionMode, ExecutionModel, Op
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
    callees = _callees(view)
    number_of = {view.items[f.first].result_id: i for i, f in enumerate(view.flow.functions)}
    found = []
    for index, item in view.of_opcode(Op.EntryPoint):
        if item.words[0] != ExecutionModel.Kernel or item.words[1] not in number_of:
            continue
        sizes = [words[0] for mode, words in view.module.execution_modes(item.words[1])
                 if mode == ExecutionMode.SubgroupSize and words]
        found.append(Kernel(index, str(item.operands[2].value), sizes[0] if sizes else None,
                            _reached(number_of[item.words[1]], callees)))
    return found


def _callees(view: ModuleView) -> dict[int, set[int]]:
    """Function → the functions that it calls, by number."""
    number_of = {view.items[f.first].result_id: i for i, f in enumerate(view.flow.functions)}
    found: dict[int, set[int]] = {}
    for index, item in view.of_opcode(Op.FunctionCall):
        callee = number_of.get(item.words[0])
        if callee is not None:
            found.setdefault(int(view.flow.function_of[index]), set()).add(callee)
    return found


def _reached(start: int, callees: dict[int, set[int]]) -> frozenset[int]:
    seen = {start}
    waiting = [start]
    while waiting:
        for callee in callees.get(waiting.pop(), ()):
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return frozenset(seen)
