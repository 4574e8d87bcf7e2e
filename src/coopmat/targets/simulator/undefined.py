"""Operations that are undefined for some operands: who did one, with which values, and what would mend it.

A handler tests cheaply whether any lane's operands may be out of range; only then :func:`refuse` looks which lanes are
active, and says what is wrong. ``SimulatorOptions.undefined`` switches all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.diagnostics import UndefinedBehavior
from coopmat.spirv.analysis.types import MatrixType, Type, VectorType
from coopmat.spirv.grammar import CONVERSIONS, Op
from coopmat.spirv.module import Instruction
from coopmat.spirv.module.generators import GENERATOR
from coopmat.targets.simulator.compiler import FunctionCompiler
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.matrix_groups import held
from coopmat.targets.simulator.state import Frame, Site
from coopmat.targets.simulator.values import Array, slices_of

COMPUTATIONS = frozenset({
    *(op for first, last in ((Op.SNegate, Op.SMulExtended), (Op.Any, Op.FUnordGreaterThanEqual),
                             (Op.ShiftRightLogical, Op.BitCount)) for op in Op if first <= op <= last),
    *CONVERSIONS, Op.Bitcast,
})
"""Instructions that only compute."""
Words = Callable[..., str]  # (the operands' components) -> what is wrong with them, and the remedy


def refuse(frame: Frame, site: Site, kind: Type, wrong: Array, words: Words, *values: Array) -> None:
    """UndefinedBehavior for the first active lane with a component for which ``wrong`` holds.

    ``wrong`` and ``values`` have the shape of a value of type ``kind``, or broadcast to it; ``words`` gets the values
    of the component as Python numbers.
    """
    components = _components(kind, wrong)
    if isinstance(kind, MatrixType):
        components = components & held(frame, kind).valid
    place = first_active(frame, np.asarray(components.any(axis=-1)))
    if place is None:
        return
    shape = (*frame.mask.expanded.shape, components.shape[-1])
    component = int(np.argmax(np.broadcast_to(components, shape)[place]))
    chosen = [np.broadcast_to(_components(kind, value), shape)[place][component].item() for value in values]
    raise UndefinedBehavior(f"{_part(frame, kind, place, component)}{words(*chosen)}", site.where(frame, *place))


def _components(kind: Type, value: Array) -> Array:
    """The components of each lane, ``[S, L, n]``."""
    if isinstance(kind, MatrixType):
        return slices_of(kind, value)
    return value if value.ndim == 3 else value[..., None]


def _part(frame: Frame, kind: Type, place: tuple[int, int], component: int) -> str:
    """Which part of a vector or matrix it is about, in words before the message."""
    if isinstance(kind, VectorType):
        return f"component {component}: "
    if isinstance(kind, MatrixType):
        row, column, _ = (np.broadcast_to(part, (len(frame.mask.lanes), *part.shape[1:]))[place][component]
                          for part in held(frame, kind))
        return f"element ({int(row)}, {int(column)}) of the matrix: "
    return ""


def known(compiler: FunctionCompiler, identifier: int) -> Any:
    """The value of a constant, or None for anything else."""
    row = compiler.module.definition(identifier)
    return compiler.kernel.value(identifier) if compiler.kernel.is_constant(row) else None


def may_be_moved(compiler: FunctionCompiler, row: Instruction) -> bool:
    """Whether another compiler may have moved an instruction out of a branch: where it could prove no harm, LLVM writes
    a shift and an OpSelect that drops what is undefined for a branch around the shift. No modules of coopmat have that.

    So where the result goes, by computations alone, into an OpSelect nothing is said of it.
    """
    if compiler.module.generator == GENERATOR or compiler.source is None:
        return False
    waiting, seen = [row.result_id], {row.result_id}
    for identifier in waiting:
        for user in compiler.users.get(identifier, ()):
            if user.opcode == Op.Select:
                return True
            if user.result_id not in seen and user.opcode in COMPUTATIONS:
                seen.add(user.result_id)
                waiting.append(user.result_id)
    return False


def limits(width: int, is_signed: bool) -> tuple[int, int]:
    """The smallest and the largest integer of a width."""
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
