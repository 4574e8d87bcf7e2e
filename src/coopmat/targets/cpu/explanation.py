"""What was chosen for a launch on the CPU, and why not something faster, in lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coopmat.spirv.analysis.places import place_of, reachable_instructions
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.merge import Merged
from coopmat.spirv.transform.goal import counted
from coopmat.targets.cpu.host.launch import Plan
from coopmat.targets.cpu.merging import MergedForm


def explained(name: str, plan: Plan, processor: str, form: MergedForm | str) -> Iterator[str]:
    """The lines of a kernel. form: the merged one that ran, or why it did not."""
    yield (f"{name}: sub-groups of {plan.sub_group_size} work-items on {processor}, "
           f"{counted(plan.groups, 'work-group')} on {counted(plan.threads, 'thread')}")
    if isinstance(form, str):
        yield f"  not merged: {form}"
    else:
        yield f"  merged: {_said(form.merged)}"
        if form.is_raised:
            yield "  products of Intel's sub-group functions are products of cooperative matrices"
    for note in plan.kernel.code.notes:
        yield f"  {note}"


def _said(merged: Merged) -> str:
    """What became one, down and across as COOPMAT_MERGE has it."""
    count, down = math.prod(merged.factors), merged.factors[merged.row_axis]
    if count == 1:
        return "each work-group stays one, and takes more of K at once"
    return (f"{down} x {count // down} neighbouring work-groups are one (down and across), with matrices as large as "
            "all of theirs")


def places(module: Module, kernel: str) -> Iterator[str]:
    """Where the products of a kernel stand in its source, if the module tells."""
    found = [place_of(module, row) for row in reachable_instructions(module, kernel)
             if row.opcode in (Op.CooperativeMatrixMulAddKHR, Op.SubgroupMatrixMultiplyAccumulateINTEL)]
    lines = dict.fromkeys(f"{one.file.name}:{one.line}" for one in found if one is not None)
    if lines:
        yield f"  multiplied at {', '.join(lines)}"
