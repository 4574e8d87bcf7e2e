"""The passes from SPIR-V to SPIR-V: a table, and a function that runs some of them.

Each takes a valid module of kernels and gives one that computes the same. Source lines stay with their instructions;
names and decorations stay with what they name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.diagnostics import Error, ValidationError
from coopmat.spirv.edit.editor import Editor
from coopmat.spirv.grammar import Capability
from coopmat.spirv.module import Module
from coopmat.spirv.transform.cut import cut
from coopmat.spirv.transform.element_functions import element_functions
from coopmat.spirv.transform.enlarge.pack import pack
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal, Say
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.matrices import matrices
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.spirv.transform.merge import merge
from coopmat.spirv.transform.opencl_std import opencl_std
from coopmat.spirv.transform.parts import parts
from coopmat.spirv.transform.raise_products import raise_products
from coopmat.spirv.transform.spaces import spaces
from coopmat.spirv.transform.structure import structure
from coopmat.spirv.transform.unroll import unroll
from coopmat.spirv.transform.values import values


@dataclass(frozen=True)
class Pass:
    """One transformation. ``is_usual``: it is one of those that run where nobody chooses. ``is_launched_alike``:
    kernels are launched with the same sizes and arguments as before."""

    name: str
    summary: str
    apply: Callable[[Module, Goal, Say], Module]
    is_usual: bool = True
    is_launched_alike: bool = True


@dataclass(frozen=True)
class Note:
    """What a pass did, or what it did not do and why."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def _loops(module: Module, goal: Goal, say: Say) -> Module:
    changed = with_loops(module)
    if changed is module:
        return module
    say("operations on each element, and reductions by other than usual functions, became loops")
    return Editor(changed).finish()


PASSES = (
    Pass("inline", "calls are replaced by what they call", inline),
    Pass("values", "variables of functions become values (SSA), those with members one value for each", values),
    Pass("cut", "large cooperative matrices are cut into those that the device has", cut),
    Pass("fold", "constants and branches on them are folded; what is unused or computed twice is removed", fold),
    Pass("raise", "products of vectors that work-items hold (Intel's sub-group functions) become those of cooperative "
         "matrices", raise_products, is_usual=False),
    Pass("element-functions", "loops over the components of cooperative matrices become functions of each element",
         element_functions, is_usual=False),
    Pass("unroll", "loops over arrays of cooperative matrices are written out", unroll, is_usual=False),
    Pass("pack", "cooperative matrices that lie side by side in memory become larger ones", pack, is_usual=False),
    Pass("merge", "neighbouring work-groups become one with larger matrices; fewer are launched, with three more "
         "arguments", merge, is_usual=False, is_launched_alike=False),
    Pass("parts", "kernels get parameters that tell which part of a launch they run", parts, is_usual=False,
         is_launched_alike=False),
    Pass("matrices", "cooperative matrices that the device has not are cut into its own, or become sub-group code",
         matrices, is_usual=False),
    Pass("element-loops", "matrix instructions that run functions become loops over components", _loops,
         is_usual=False),
    Pass("opencl-std", "functions of OpenCL.std become core SPIR-V", opencl_std, is_usual=False),
    Pass("spaces", "generic pointers become pointers into one memory each, or integers with a tag", spaces,
         is_usual=False),
    Pass("structure", "any control flow becomes structured control flow, as shaders have it", structure,
         is_usual=False),
)
"""In the order in which they run where nobody chooses."""


def chosen(names: Sequence[str]) -> list[Pass]:
    """The passes with these names; Error, naming those that there are, for another one."""
    by_name = {one.name: one for one in PASSES}
    for name in names:
        if name not in by_name:
            raise Error(f"there is no pass '{name}': the passes are {', '.join(by_name)}")
    return [by_name[name] for name in names]


def usual() -> list[Pass]:
    """The passes that run where nobody chooses."""
    return [one for one in PASSES if one.is_usual]


def transform(module: Module, passes: Sequence[Pass], goal: Goal | None = None) -> tuple[Module, list[Note]]:
    """The module after some passes, in that order, and what they tell.

    Raises ValidationError for a module that is not valid, and Error for one that is no module of kernels or has
    instructions that are unknown here.
    """
    check(module)
    notes: list[Note] = []
    for one in passes:
        module = one.apply(module, goal or Goal(), lambda text, name=one.name: notes.append(Note(name, text)))  # type: ignore[misc]
    return module, notes


def check(module: Module) -> None:
    """Raise ValidationError for a module that breaks a rule, and Error for one of shaders."""
    if Capability.Shader in module.capabilities:
        raise Error("the passes take modules of kernels (capability Kernel), and this is one of shaders (capability "
                    "Shader)")
    broken = next((one for one in module.validate() if one.severity == "error"), None)
    if broken is not None:
        raise ValidationError(broken.rule, broken.message, broken.offset)
