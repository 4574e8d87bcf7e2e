"""Products of vectors that work-items hold become products of cooperative matrices (see raising/).

Kernels with Intel's sub-group functions (OpSubgroupMatrixMultiplyAccumulateINTEL) load and store themselves what each
work-item has of a matrix. Where that is all of a matrix in memory, the kernel is written with cooperative matrices
instead, which every device has, and which can be packed and merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.diagnostics import Error
from coopmat.spirv.analysis.callees import callees_of
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.edit.functions import Body, FunctionEditor
from coopmat.spirv.grammar import ExecutionModel
from coopmat.spirv.module import Module
from coopmat.spirv.module.content import Content
from coopmat.spirv.transform.enlarge.conditions import Computed, Condition
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal, Say, counted
from coopmat.spirv.transform.inline import inline
from coopmat.spirv.transform.raising.kernel import AsItIs, Form, Raising
from coopmat.spirv.transform.raising.pieces import Pieces
from coopmat.spirv.transform.raising.spots import PRODUCT, NotKnown
from coopmat.spirv.transform.unroll import unroll_private
from coopmat.spirv.transform.values import values


class NotRaised(Exception):
    """Why a kernel's products do not become those of cooperative matrices."""


class Raised(NamedTuple):
    """A kernel with cooperative matrices, and what must hold in its launches. products: how many it has."""

    module: Module
    conditions: tuple[Condition, ...] = ()
    computed: Mapping[int, Computed] = MappingProxyType({})
    products: int = 0


def _as_it_is(row: SubGroupMatrixRow) -> AsItIs:
    return "same"


def raise_products(module: Module, goal: Goal, say: Say) -> Module:
    """The module with products of cooperative matrices; kernels of which that cannot be said stay as they are, and a
    note tells why."""
    names = [entry.name for entry in module.entry_points if entry.model == ExecutionModel.Kernel
             and has_products(module, entry.function_id)]
    sizes: dict[str, tuple[Sequence[int], int]] = {}
    for name in names:
        try:
            sizes[name] = _sizes(module.kernel_signatures[name], goal)
        except (NotRaised, Error) as reason:
            say(_unchanged(name, reason))
    if not sizes:
        return module
    changed, count = _prepared(module, {name: size for name, (_, size) in sizes.items()}), 0
    for name, (local_size, size) in sizes.items():
        try:
            found = _raised(changed, name, local_size, size, _as_it_is)
        except NotRaised as reason:
            say(_unchanged(name, reason))
            continue
        changed, count = found.module, count + 1
        say(f"kernel '{name}': {counted(found.products, 'product')} of work-items' vectors became "
            f"{'one' if found.products == 1 else 'products'} of cooperative matrices" + (
                "; integers that say where its matrices lie must not wrap around" if found.conditions else ""))
    return fold(changed, Goal(), _unheard) if count else module


def _sizes(signature: KernelSignature, goal: Goal) -> tuple[Sequence[int], int]:
    """The work-items of a work-group, and of a sub-group."""
    local_size = signature.work_group_size or goal.work_group
    size = signature.sub_group_size or (goal.device.sub_group_sizes[0] if goal.device is not None else None)
    if local_size is None:
        raise NotRaised("it requires no work-group size, and none is given (--work-group)")
    if size is None:
        raise NotRaised("it requires no sub-group size, and no device is given (--device)")
    return local_size, size


def _unchanged(name: str, reason: Exception) -> str:
    return f"kernel '{name}' keeps its products of work-items' vectors: {reason}"


def has_products(module: Content, function: int) -> bool:
    """Whether a function, or one that it calls, multiplies vectors of work-items."""
    functions = {one.id: one for one in module.functions}
    waiting, seen = [function], set[int]()
    while waiting:
        one = functions.get(waiting.pop())
        if one is None or one.id in seen:
            continue
        seen.add(one.id)
        for block in one.blocks:
            for row in block.instructions:
                if row.opcode == PRODUCT:
                    return True
                waiting += callees_of(row)
    return False


def raised(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int, form: Form = _as_it_is
           ) -> Raised:
    """A kernel, in work-groups and sub-groups of these sizes, with products of cooperative matrices. ``form``: how a
    combination is multiplied. NotRaised, with the reason and the line, where that is not possible."""
    found = _raised(_prepared(module, {kernel: sub_group_size}), kernel, local_size, sub_group_size, form)
    return found._replace(module=fold(found.module, Goal(), _unheard))


def _prepared(module: Module, sizes: Mapping[str, int]) -> Module:
    """The module with values instead of variables, also of those whose addresses are cast in some kernels, which have
    sub-groups of these sizes."""
    for change in (inline, values, fold):
        module = change(module, Goal(), _unheard)
    editor = FunctionEditor(fold(unroll_private(module), Goal(), _unheard))
    for name, size in sizes.items():
        Pieces(editor, _body(editor, name), size).done()
    module = editor.done()
    for change in (values, fold):
        module = change(module, Goal(), _unheard)
    return module


def _raised(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int, form: Form) -> Raised:
    """The same of a module that was prepared for it; what is not needed any more may be left."""
    if local_size[0] % sub_group_size:
        raise NotRaised(f"a work-group of {' x '.join(map(str, local_size))} work-items is not made of sub-groups of "
                        f"{sub_group_size} along its first axis")
    editor = FunctionEditor(module)
    body = _body(editor, kernel)
    indices = Indices(editor, body, local_size, sub_group_size)
    try:
        count = Raising(editor, body, indices, sub_group_size, form).done()
    except NotKnown as reason:
        place = place_of(module, reason.row)
        raise NotRaised(f"{reason}" + ("" if place is None else f" ({place.file.name}:{place.line})")) from None
    return Raised(editor.done(), tuple(indices.conditions), dict(indices.computed), count)


def _body(editor: FunctionEditor, kernel: str) -> Body:
    entry = next(one for one in editor.module.entry_points if one.name == kernel
                 and one.model == ExecutionModel.Kernel)
    return next(one for one in editor.bodies if one.id == entry.function_id)


def _unheard(text: str) -> None:
    """What passes tell is not asked for here."""
