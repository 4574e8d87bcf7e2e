"""Which matrices of a module a driver has, which are cut into those, and which become sub-group code."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.devices import USES
from coopmat.diagnostics import KernelNotSupported, ValidationError
from coopmat.spirv.analysis.matrix_uses import possible_formats
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixOperands as Flags
from coopmat.spirv.grammar import ExecutionMode, Op
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.cut import cut
from coopmat.spirv.transform.cut.choice import LOADS, Matrices, Set_, Unfit
from coopmat.spirv.transform.goal import (
    EXTENSIONS,
    JOINT_MATRIX,
    MATRIX_FUNCTIONS,
    MATRIX_FUNCTIONS_NV,
    Goal,
    MatrixSupport,
    Say,
)
from coopmat.spirv.transform.matrices.intel import missing
from coopmat.spirv.transform.matrices.plain import plain
from coopmat.spirv.transform.matrices.work_groups import check_work_groups, is_of_work_groups

_OF_JOINT_MATRIX = frozenset({
    Op.CooperativeMatrixLoadCheckedINTEL, Op.CooperativeMatrixStoreCheckedINTEL,
    Op.CooperativeMatrixConstructCheckedINTEL, Op.CooperativeMatrixGetElementCoordINTEL})
_OF_FUNCTIONS = frozenset({Op.CooperativeMatrixPerElementOpEXT, Op.CooperativeMatrixReduceEXT,
                           Op.CooperativeMatrixConvertUseEXT, Op.CooperativeMatrixTransposeNV})
_JOINT_FLAGS = (Flags.MatrixAAndBTF32ComponentsINTEL | Flags.MatrixAAndBBFloat16ComponentsINTEL
                | Flags.MatrixCBFloat16ComponentsINTEL | Flags.MatrixResultBFloat16ComponentsINTEL)


def matrices(module: Module, goal: Goal, say: Say) -> Module:
    """The module with matrices that the goal has: larger ones are cut, all others become sub-group code; without a
    goal all of them. KernelNotSupported for what can become neither."""
    support = goal.matrices or MatrixSupport("the goal")
    if support.any_combination and support.extensions == EXTENSIONS:
        say(f"nothing is changed: {support.name} has every shape")
        return module
    known = Matrices(module, Goal(driver=support))
    types: list[int] = []
    for one in known.sets():
        if goal.driver is not None and not support.any_combination and is_of_work_groups(known, one):
            check_work_groups(known, support, one)
            continue
        reason = _reason(known, support, one)
        if reason is None:
            continue
        if is_of_work_groups(known, one):
            say(f"{known.text(one.types)} left: only matrices of sub-groups become sub-group code, and {reason}")
            continue
        unknown = [known.refused[type_id] for type_id in one.types if type_id in known.unknown]
        if unknown:
            say(f"{known.text(one.types)} left: {unknown[0]}")
            continue
        say(f"{known.text(one.types)}: sub-group code, as {reason}")
        types += one.types
    others = missing(module, support)
    for op in others:
        say(f"Op{Op(op).name}: sub-group code, as {support.name} does not have it")
    if types or others:
        try:
            module = plain(module, types, support, sub_group_size(module, support), others)
        except ValidationError as error:  # such as a layout of somebody's own
            if goal.driver is not None:
                raise KernelNotSupported(str(error)) from error
            say(f"nothing is changed: {error}")
            return module
    if not support.any_combination and any(True for _ in module.of_opcode(Op.TypeCooperativeMatrixKHR)):
        _say_native(module, support, say)
        module = cut(module, Goal(goal.device, driver=support), say)
    return module


def sub_group_size(module: Module, support: MatrixSupport) -> int:
    """The size of sub-groups of all kernels. KernelNotSupported where they require several."""
    required = {words[0] for entry in module.entry_points for mode, words in module.execution_modes(entry.function_id)
                if mode == ExecutionMode.SubgroupSize}
    if len(required) > 1:
        raise KernelNotSupported(f"kernels of one module require sub-groups of {sorted(required)} work-items, "
                                 "and matrices become sub-group code of one size: build each by itself")
    return next(iter(required), None) or support.sub_group_size


# --- reasons -------------------------------------------------------------------------------------


def _reason(known: Matrices, support: MatrixSupport, one: Set_) -> str | None:
    """Why a set of matrices becomes sub-group code; None where the driver has it, whole or cut."""
    if not support.combinations and not support.any_combination:
        return f"{support.name} has no matrices"
    for type_id, what in _needs(known, support):
        if type_id in one.types:
            return f"{support.name} does not have {what}"
    if support.any_combination:
        return None
    try:
        tiles = known.solved(one)
    except Unfit as reason:
        return str(reason)
    for type_id, tile in tiles.items():
        kind = known.types[type_id]
        use = USES[kind.use]
        if not any(support.supports_matrix(name, use, *tile) for name in possible_formats(kind)):
            return f"{support.name} has no {tile[0]}x{tile[1]} {kind.component} matrix of use '{use}'"
    return None


def _needs(known: Matrices, support: MatrixSupport) -> Iterator[tuple[int, str]]:
    """Matrix types, and the extensions that instructions on them need and the driver does not have."""
    has_joint = JOINT_MATRIX in support.extensions
    has_functions = bool({MATRIX_FUNCTIONS, MATRIX_FUNCTIONS_NV} & support.extensions)
    for row in known.module.instructions:
        if not has_joint and _is_of_joint_matrix(known.module, row):
            yield from ((type_id, f"{JOINT_MATRIX}, which {row.name} is of" if row.opcode in _OF_JOINT_MATRIX else
                         f"{JOINT_MATRIX}, which an operand of {row.name} is of") for type_id in _types(known, row))
        elif not has_functions and row.opcode in _OF_FUNCTIONS:
            yield from ((type_id, f"{MATRIX_FUNCTIONS}, which {row.name} is of") for type_id in _types(known, row))


def _is_of_joint_matrix(module: Module, row: Instruction) -> bool:
    if row.opcode in _OF_JOINT_MATRIX:
        return True
    if row.opcode == Op.CooperativeMatrixMulAddKHR:
        return len(row.words) > 3 and bool(row.words[3] & _JOINT_FLAGS)
    return row.opcode in LOADS and module.constant_value(row.words[LOADS[Op(row.opcode)][1]]) == Layout.PackedINTEL


def _types(known: Matrices, row: Instruction) -> Iterator[int]:
    """The matrix types of an instruction."""
    if row.type_id in known.types:
        yield row.type_id or 0
    for word in row.ids():
        type_id = known.module.definition(word).type_id if known.module.defines(word) else None
        if type_id in known.types:
            yield type_id or 0


def _say_native(module: Module, support: MatrixSupport, say: Say) -> None:
    known = Matrices(module, Goal(driver=support))
    for one in known.sets():
        if _reason(known, support, one) is not None:
            continue  # what is left
        tiles = known.solved(one)
        whole = [type_id for type_id in one.types if tiles[type_id] == known.shape(type_id)]
        if whole:
            say(f"{known.text(whole)}: as {support.name} has it")
