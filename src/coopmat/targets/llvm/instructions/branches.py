"""Branches: from the end of a block to others."""

from __future__ import annotations

from coopmat.spirv.analysis.control_flow import switch_cases
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.emitter import Emitter, Handler


def _branch(emitter: Emitter, row: Instruction) -> None:
    emitter.execution.jump(row.words[0])


def _return(emitter: Emitter, row: Instruction) -> None:
    emitter.execution.end()


def _branch_conditional(emitter: Emitter, row: Instruction) -> None:
    emitter.execution.branch(emitter.number(row.words[0]), *row.words[1:3])


def _switch(emitter: Emitter, row: Instruction) -> None:
    value = emitter.number(row.words[0])
    emitter.execution.switch(value, *switch_cases(row, emitter.type_of(row.words[0]).size))


OPERATIONS: dict[int, Handler] = {
    Op.Branch: _branch,
    Op.BranchConditional: _branch_conditional,
    Op.Return: _return,
    Op.Switch: _switch,
    Op.Unreachable: _return,
}
