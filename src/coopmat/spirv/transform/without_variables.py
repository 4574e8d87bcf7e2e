"""The form of a module in which it is seen what its matrices are: values instead of variables, and no calls."""

from __future__ import annotations

from coopmat.devices import DeviceDescription
from coopmat.spirv.module import Module
from coopmat.spirv.transform.element_functions import element_functions
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.loop_heads import with_conditions
from coopmat.spirv.transform.toggles import without_toggles
from coopmat.spirv.transform.unroll import unroll
from coopmat.spirv.transform.values import values

PASSES = (inline, values, fold)


def without_variables(module: Module) -> Module:
    """Values instead of variables, but for matrices of which components are taken, and no calls."""
    for one in PASSES:
        module = one(module, Goal(), _unheard)
    return with_conditions(module)


def with_values(module: Module, *, element_loops: bool = True, device: DeviceDescription | None = None,
                sub_group_size: int | None = None) -> Module:
    """Values instead of variables, arrays of matrices included, and no calls. element_loops: whether loops over the
    components of matrices stay, which keep these in variables; otherwise they become functions of each element.
    device: on which they run, in sub-groups of ``sub_group_size``, if that is known."""
    module = without_variables(module)
    goal = Goal(device, sub_group_size=sub_group_size)
    without_loops = module if element_loops else element_functions(module, goal, _unheard)
    changed = unroll(without_loops, Goal(), _unheard)
    if not element_loops:
        changed = without_toggles(changed)
    for one in (fold, values, fold) if changed is not module else ():
        changed = one(changed, Goal(), _unheard)
    return changed


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""
