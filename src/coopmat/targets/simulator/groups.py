"""Barriers and function calls: what concerns whole groups, or other functions.

Lock-step execution makes a barrier free: when all of its group is there, all earlier accesses of the
group have happened.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compile import FunctionCompiler, Handler
from coopmat.targets.simulator.composites import nothing
from coopmat.targets.simulator.convergence import require_sub_groups, require_work_groups
from coopmat.targets.simulator.state import Frame, Site, Step

REQUIREMENTS: dict[int, Callable[[Frame, Site], None]] = {
    Scope.Workgroup: require_work_groups,
    Scope.Subgroup: require_sub_groups,
    Scope.Invocation: lambda frame, site: None,
}


def _barrier(compiler: FunctionCompiler, row: Instruction) -> Step:
    scope, site = compiler.constant(row.words[0]), compiler.site(row)
    if scope is None or scope not in REQUIREMENTS:
        shown = Scope(scope).name if scope in set(Scope) else scope
        raise Error(f"{row.name} with execution scope {shown} is not supported; the scopes are Workgroup, "
                    "Subgroup and Invocation")
    require = REQUIREMENTS[scope]
    return lambda frame: require(frame, site)


def _call(compiler: FunctionCompiler, row: Instruction) -> Step:
    callee = compiler.kernel.function(row.words[0])
    result = compiler.result(row)
    arguments = [compiler.slot(word) for word in row.words[1:]]

    def execute(frame: Frame) -> None:
        slots = frame.slots
        slots[result] = callee.call(frame.batch, frame.mask, [slots[slot] for slot in arguments])

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.ControlBarrier: _barrier,
    Op.ControlBarrierArriveEXT: _barrier,
    Op.ControlBarrierWaitEXT: _barrier,
    Op.MemoryBarrier: nothing,
    Op.FunctionCall: _call,
}
