"""Kernels whose neighbouring work-groups are one, with matrices as large as all of theirs (see enlarge/merge.py).

Launched with fewer work-groups, a kernel computes what it computed, bit for bit. It gets three more parameters,
integers of 64 bits behind its own: how many of the work-groups that it was written for there are along each axis.
OpModuleProcessed says how many of these are one (:func:`merged_of`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.places import reachable_instructions
from coopmat.spirv.edit.processing import processed
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Module
from coopmat.spirv.transform.enlarge.element_stores import stored_elements
from coopmat.spirv.transform.enlarge.guards import without_guards
from coopmat.spirv.transform.enlarge.last_rounds import SHORT
from coopmat.spirv.transform.enlarge.merge import Block, Merged, Neighbours, NoMerge
from coopmat.spirv.transform.enlarge.pack import packed
from coopmat.spirv.transform.enlarge.pipelines import in_turn
from coopmat.spirv.transform.goal import Goal, Say
from coopmat.spirv.transform.without_variables import with_values, without_variables

USUAL = (2, 2)
"""How many work-groups become one, down and across, where nobody says."""
NAME = "coopmat-merged"
_SAID = re.compile(rf"{NAME}:(?P<kernel>.*):(?P<groups>\d+x\d+x\d+):(?P<factors>\d+x\d+x\d+)", re.DOTALL)


@dataclass(frozen=True)
class MergedGrid:
    """How a merged kernel is launched. groups: how many groups with matrices of their own a work-group had along each
    axis; factors: how many of these are one now."""

    groups: tuple[int, int, int]
    factors: tuple[int, int, int]

    def group_counts(self, before: tuple[int, int, int]) -> tuple[int, int, int]:
        """The work-groups of a launch that had so many."""
        x, y, z = (-(-count // factor) for count, factor in zip(self.given(before), self.factors, strict=True))
        return x, y, z

    def given(self, before: tuple[int, int, int]) -> tuple[int, int, int]:
        """The arguments behind the kernel's own."""
        x, y, z = (count * own for count, own in zip(before, self.groups, strict=True))
        return x, y, z


def merged_of(module: Module) -> dict[str, MergedGrid]:
    """The kernels of a module whose work-groups are merged, by name."""
    found = (_SAID.fullmatch(text) for text in module.processed)
    return {one["kernel"]: MergedGrid(_three(one["groups"]), _three(one["factors"])) for one in found if one}


def merge(module: Module, goal: Goal, say: Say) -> Module:
    """The module with its kernels merged, as many work-groups as ``goal.merge`` says; what cannot be merged stays as it
    is, and a note says why."""
    done = merged_of(module)
    try:
        signatures = dict(module.kernel_signatures)
    except Error as error:
        say(f"no kernel is merged: {error}")
        return module
    for name, signature in signatures.items():
        if name in done:
            say(f"kernel '{name}' is merged already")
            continue
        try:
            found = _merged(module, name, signature, goal)
        except NoMerge as reason:
            say(f"kernel '{name}' is not merged: {reason}")
            continue
        module = processed(found.module, f"{NAME}:{name}:{_text(found.groups)}:{_text(found.factors)}")
        say(_described(name, signature, found))
    return module


def _merged(module: Module, name: str, signature: KernelSignature, goal: Goal) -> Merged:
    local_size = signature.work_group_size or goal.work_group
    if local_size is None:
        raise NoMerge("it requires no work-group size, and none is given (--work-group)")
    size = signature.sub_group_size or (goal.device.sub_group_sizes[0] if goal.device is not None else None)
    if size is None:
        raise NoMerge("it requires no sub-group size, and no device is given (--device)")
    if not any(row.opcode == Op.CooperativeMatrixMulAddKHR for row in reachable_instructions(module, name)):
        raise NoMerge("it multiplies no matrices")
    elements = stored_elements(without_variables(module), name)
    values = with_values(elements.module, element_loops=False, device=goal.device, sub_group_size=size)
    guarded = without_guards(values, name, local_size, size, asks=False)
    one_by_one, of_rounds, computed = in_turn(guarded.module, name, local_size, size)
    side_by_side, conditions, apart = packed(one_by_one, name, local_size, size)
    conditions = (*elements.conditions, *guarded.conditions, *of_rounds, *conditions)
    found = Neighbours(side_by_side, name, local_size, size, conditions, (*elements.apart, *apart),
                       computed={**guarded.computed, **computed}, limits=guarded.limits, everywhere=guarded.everywhere)
    down, across = goal.merge or USUAL
    rows, columns = found.own_extents()
    work_group = (size, 1, 1) if found.scope == Scope.Subgroup else local_size
    merged = found.merged(Block(rows * down, columns * across, 1, work_group, found.scope))
    if merged.factors == (1, 1, 1):
        raise NoMerge("a block of work-groups would be one work-group")
    return merged


def _described(name: str, signature: KernelSignature, found: Merged) -> str:
    """What became of a kernel, and how it is launched."""
    own = "work-groups" if found.groups == (1, 1, 1) else "sub-groups of its work-groups"
    first = len(signature.parameters)
    text = (f"kernel '{name}': {_text(found.factors, ' x ')} neighbouring {own} (along x, y, z) are one; it is "
            f"launched with that many times fewer, rounded up, in work-groups of {_text(found.local_size, ' x ')} "
            f"work-items; its parameters {first}, {first + 1} and {first + 2} take how many there were along x, y and "
            "z")
    if found.conditions or found.everywhere:
        text += "; integers that say where its matrices lie must not wrap around"
    if found.everywhere:
        text += "; what its guards compare positions with, and what that is made of, must not be negative"
    if any(one.otherwise == SHORT for one in found.conditions):
        text += "; the sizes must be such that a loop that loads a round ahead has something to load"
    for pair in found.apart:
        one, other = (signature.parameters[place].name or f"parameter {place}" for place in pair)
        text += f"; {one} and {other} must not share memory"
    return text


def _text(sizes: tuple[int, int, int], between: str = "x") -> str:
    return between.join(map(str, sizes))


def _three(text: str) -> tuple[int, int, int]:
    x, y, z = map(int, text.split("x"))
    return x, y, z
