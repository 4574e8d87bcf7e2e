"""Where sub-groups of a kernel let others go on: meetings of the work-group, and rounds of loops that wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coopmat.spirv.analysis.lock_step import Flow
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module import Block, Instruction
from coopmat.targets.analysis.flatten import LINES
from coopmat.targets.simulator.state import Site
from coopmat.targets.simulator.turns.deadlock import Poll
from coopmat.targets.simulator.turns.loops import waiting_loops
from coopmat.targets.simulator.turns.scheduler import Turns

if TYPE_CHECKING:
    from coopmat.targets.simulator.compiler import FunctionCompiler, KernelCompiler

BARRIERS = frozenset({Op.ControlBarrier, Op.ControlBarrierArriveEXT, Op.ControlBarrierWaitEXT})


def is_meeting(kernel: KernelCompiler, row: Instruction) -> bool:
    """Whether a work-group meets at an instruction."""
    if row.opcode in BARRIERS or row.name.startswith("OpGroup"):
        return kernel.module.constant_value(row.words[0]) == Scope.Workgroup
    if not row.name.startswith("OpCooperativeMatrix"):
        return False
    definitions = map(kernel.module.definition, (row.result_id, *row.ids()) if row.result_id else row.ids())
    kinds = (kernel.types[found.type_id] for found in definitions if found.type_id is not None)
    return any(isinstance(kind, MatrixType) and kind.is_of_work_group for kind in kinds)


def turns_of(compiler: FunctionCompiler, flow: Flow, sites: Mapping[int, Site]) -> Turns | None:
    """The places in a function that ``cut`` has made, by the order of its blocks in ``flow``; None if nobody waits in
    its loops. ``sites``: of its instructions, by their ``id()``."""
    assert compiler.source is not None
    blocks = compiler.source.blocks
    waiting = waiting_loops(blocks, flow.loops, compiler.type_of)
    if not waiting:
        return None
    latches = {max(map(flow.place.__getitem__, found.loop.members)):
               tuple(_poll(compiler, row, sites[id(row)]) for row in found.polls) for found in waiting}
    heads = {flow.place[number]: _first(block) for number, block in enumerate(blocks) if number in flow.place}
    meetings = {place: sites[id(row)] for place, row in heads.items() if is_meeting(compiler.kernel, row)}
    return Turns(meetings, latches)


def _first(block: Block) -> Instruction:
    """The first instruction of a block that does something."""
    return next(row for row in block.instructions if row.opcode not in LINES and row.opcode != Op.Phi)


def _poll(compiler: FunctionCompiler, row: Instruction, site: Site) -> Poll:
    return Poll(compiler.slot(row.words[0]), compiler.result(row), compiler.result_type(row), site)
