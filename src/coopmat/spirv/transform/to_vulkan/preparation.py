"""A module of kernels brought to the form that is translated: one kernel without calls."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.callees import CALLING, callees_of
from coopmat.spirv.analysis.imports import imported_name
from coopmat.spirv.edit.functions import FunctionEditor, keep_header, with_words
from coopmat.spirv.edit.specialization import frozen
from coopmat.spirv.grammar import Capability, ExecutionModel, FunctionControl, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Function
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.bfloat16 import without_bfloat16
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import BFLOAT16, Goal, MatrixSupport
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.matrices import matrices
from coopmat.spirv.transform.matrices.shares import shared_out
from coopmat.spirv.transform.matrix_functions import with_loops
from coopmat.spirv.transform.opencl_std import opencl_std
from coopmat.spirv.transform.spaces import spaces
from coopmat.spirv.transform.structure import structure
from coopmat.spirv.transform.to_vulkan.instructions import mathematics
from coopmat.spirv.transform.to_vulkan.instructions.assertions import is_failure
from coopmat.spirv.transform.to_vulkan.loops import with_hints
from coopmat.spirv.transform.to_vulkan.replacements import replaced
from coopmat.spirv.transform.to_vulkan.shader import VulkanTarget
from coopmat.spirv.transform.values import values

_PER_KERNEL = frozenset({Op.EntryPoint, Op.ExecutionMode, Op.ExecutionModeId})
_PASSES: tuple[Callable[[Module, Goal, Callable[[str], None]], Module], ...] = (
    replaced, opencl_std, inline, values, fold, spaces, matrices, inline, values, fold, structure)


def prepared(module: Module, kernel: str, target: VulkanTarget,
             divides: Callable[[Module, Instruction], bool]) -> tuple[Module, Module, Function]:
    """The module with its constants frozen; the same with one kernel whose calls are replaced; the kernel's function.

    ``divides``: whether an instruction becomes several blocks; heads of loops have none such.

    Raises ValidationError for a module that is not valid, Error where there is no such kernel or where something that
    it calls is imported or calls itself.
    """
    if Capability.Shader in module.capabilities:
        raise Error("the module is one of shaders (capability Shader): there is nothing to translate")
    whole = frozen(module)
    module = with_loops(_only(whole, kernel))
    goal = Goal(driver=_matrices_of(target), functions=mathematics.KEPT)
    for one in _PASSES:
        if one is matrices and target.work_group is not None and goal.driver is not None:
            module = shared_out(module, goal.driver, prod(target.work_group), target.sub_group_size)
        module = one(module, goal, _unheard)
    if "shaderBFloat16Type" not in target.features or not _has_matrices(module):
        module = without_bfloat16(module)
    module = with_hints(_without_heads(module, divides))
    function = next(one for one in module.functions if one.id == module.entry_points[0].function_id)
    _check_calls(module, function, kernel)
    return whole, module, function


def _only(module: Module, kernel: str) -> Module:
    """The module with one kernel and what it calls; calls that were not to be inlined may be."""
    entry = next((one for one in module.entry_points if one.name == kernel and one.model == ExecutionModel.Kernel),
                 None)
    if entry is None:
        known = ", ".join(one.name for one in module.entry_points) or "none"
        raise Error(f"the module has no kernel '{kernel}'; its kernels: {known}")
    editor = FunctionEditor(module)
    bodies = {body.id: body for body in editor.bodies}
    used: set[int] = set()
    waiting = [entry.function_id]
    while waiting:
        identifier = waiting.pop()
        if identifier in bodies and identifier not in used:
            used.add(identifier)
            waiting += [callee for row in bodies[identifier].rows() if row.opcode in CALLING
                        for callee in callees_of(row)]
    editor.bodies = [body for body in editor.bodies if body.id in used]
    for body in editor.bodies:
        body.head = [with_words(row, (row.words[0] & ~FunctionControl.DontInline, *row.words[1:]))
                     if row.opcode == Op.Function else row for row in body.head]
    is_first = True
    head = []
    for row in editor.head:
        if row.opcode in _PER_KERNEL:
            function = row.words[1] if row.opcode == Op.EntryPoint else row.words[0]
            if function != entry.function_id or (row.opcode == Op.EntryPoint and not is_first):
                continue
            is_first = is_first and row.opcode != Op.EntryPoint
        head.append(row)
    editor.head = head
    return editor.done()


def _has_matrices(module: Module) -> bool:
    return any(True for _ in module.of_opcode(Op.TypeCooperativeMatrixKHR))


def _matrices_of(target: VulkanTarget) -> MatrixSupport:
    """What the driver has for matrices: those of SPV_KHR_cooperative_matrix, and bf16 if it says so."""
    has_matrices = "cooperativeMatrix" in target.features
    extensions = {BFLOAT16} if "shaderBFloat16Type" in target.features else set()
    return MatrixSupport("the Vulkan driver", (target.combinations or ()) if has_matrices else (),
                         any_combination=has_matrices and target.combinations is None,
                         extensions=frozenset(extensions), sub_group_size=target.sub_group_size,
                         work_groups=target.work_groups if has_matrices else ())


def _without_heads(module: Module, divides: Callable[[Module, Instruction], bool]) -> Module:
    """The module with what becomes several blocks outside of the heads of loops."""
    editor = FunctionEditor(module)
    changed = False
    for body in editor.bodies:
        for block in list(body.blocks):
            is_head = any(row.opcode == Op.LoopMerge for row in block.instructions)
            if is_head and any(divides(module, row) for row in block.instructions):
                keep_header(editor, body, block)
                changed = True
    return editor.done() if changed else module


def _check_calls(module: Module, function: Function, kernel: str) -> None:
    for row in (row for block in function.blocks for row in block.instructions):
        if row.opcode == Op.FunctionCall and not is_failure(module, row):
            name = imported_name(module, row.words[0])
            raise Error(f"kernel '{kernel}' calls '{name}', which the module only imports" if name else
                        f"kernel '{kernel}' has a function that calls itself, or too many instructions with all that "
                        "it calls: a shader has no such calls")


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""
