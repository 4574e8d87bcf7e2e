"""Branches that keep work-groups within the limits of matrices, in launches of which no work-group is beyond them.

``if (row >= m) return;`` stands in kernels for the last work-groups of a launch. Where the arguments and sizes of a
launch show that all of them are inside, such comparisons have one result; that this is so is a condition of the launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coopmat.spirv.analysis.polynomials import Polynomial
from coopmat.spirv.edit.functions import FunctionEditor, replace_uses
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.enlarge.conditions import ADDRESS_BITS, Computed, Condition, Placing
from coopmat.spirv.transform.enlarge.growth import scope_of
from coopmat.spirv.transform.enlarge.indices import Indices
from coopmat.spirv.transform.fold import fold
from coopmat.spirv.transform.goal import Goal

_LESS = {Op.SLessThan: 1, Op.ULessThan: 1, Op.SLessThanEqual: 0, Op.ULessThanEqual: 0}
_MORE = {Op.SGreaterThanEqual: 1, Op.UGreaterThanEqual: 1, Op.SGreaterThan: 0, Op.UGreaterThan: 0}
"""Comparisons of a position with a limit that are true, or false, inside → by how much the limit is larger at least."""
_TURNED = {Op.SLessThan: Op.SGreaterThan, Op.ULessThan: Op.UGreaterThan, Op.SLessThanEqual: Op.SGreaterThanEqual,
           Op.ULessThanEqual: Op.UGreaterThanEqual, Op.SGreaterThan: Op.SLessThan, Op.UGreaterThan: Op.ULessThan,
           Op.SGreaterThanEqual: Op.SLessThanEqual, Op.UGreaterThanEqual: Op.ULessThanEqual}
_POSITIONS = frozenset({"group", "outer", "inner", "local"})
_KNOWN = _POSITIONS | {"argument", "groups"}
_BEYOND = "work-groups of the launch are beyond a limit that the kernel compares their position with"
_MOST = (1 << ADDRESS_BITS - 1) - 1


def without_guards(module: Module, kernel: str, local_size: Sequence[int], sub_group_size: int,
                   placing: Placing | None = None
                   ) -> tuple[Module, tuple[Condition, ...], Mapping[int, Computed]]:
    """A kernel for launches in which positions are within the limits that it compares them with, and what must hold for
    that: conditions, and the values in them that are computed. ``module`` has values instead of variables. NoMerge for
    matrices of several scopes."""
    editor = FunctionEditor(module)
    entry = next(one for one in module.entry_points if one.name == kernel and one.model == ExecutionModel.Kernel)
    body = next(one for one in editor.bodies if one.id == entry.function_id)
    indices = Indices(editor, body, local_size, sub_group_size, scope_of(module), placing)
    same: dict[int, int] = {}
    conditions: dict[Condition, None] = {}
    for row in body.rows():
        found = _guard(indices, row)
        if found is not None:
            left, is_true = found
            conditions[Condition(left, 0, _MOST, _BEYOND)] = None
            same[row.result_id or 0] = editor.unique(Op.ConstantTrue if is_true else Op.ConstantFalse,
                                                     type_id=row.type_id)
    if not same:
        return module, (), {}
    replace_uses(body, same)
    kept = (one for one in indices.conditions if indices.is_made_of(one.value, _KNOWN))
    return fold(editor.done(), Goal(), lambda _: None), (*conditions, *kept), indices.computed


def _guard(indices: Indices, row: Instruction) -> tuple[Polynomial, bool] | None:
    """How far a position is from a limit that it is compared with, and what the comparison gives inside."""
    if row.opcode not in _TURNED or not indices.is_integer(row.words[0]):
        return None
    opcode = Op(row.opcode)
    position, limit = map(indices.of, row.words)
    if _is_position(indices, limit):
        position, limit, opcode = limit, position, _TURNED[opcode]
    if not _is_position(indices, position) or not indices.is_made_of(limit, ("argument",)):
        return None
    is_true = opcode in _LESS
    return limit - position - Polynomial.constant((_LESS if is_true else _MORE)[opcode]), is_true


def _is_position(indices: Indices, value: Polynomial) -> bool:
    """Whether a value is made of positions, and of what is known when a kernel is launched."""
    return any(atom.kind in _POSITIONS for atom in value.atoms) and indices.is_made_of(value, _KNOWN)
