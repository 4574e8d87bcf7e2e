"""Barriers and function calls: what concerns whole groups, or other functions.

Lock-step execution makes a barrier free: when all of its group is there, all earlier accesses of the
group have happened. What watches for races is told of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from coopmat.diagnostics import KernelAssertion
from coopmat.spirv.analysis.imports import is_assertion
from coopmat.spirv.grammar import Decoration, FunctionParameterAttribute, Op, Scope, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.support.assertions import EXPRESSION, FILE, LINE, LONGEST_EXPRESSION, message, place
from coopmat.targets.analysis.group_scopes import known_barrier_scope
from coopmat.targets.simulator.address_space import BufferRow, Extent
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.convergence import require_sub_groups, require_work_groups
from coopmat.targets.simulator.definedness.instrument import known_of
from coopmat.targets.simulator.definedness.marks import NOTHING, set_mark
from coopmat.targets.simulator.events import Arrivals
from coopmat.targets.simulator.printing import string_at
from coopmat.targets.simulator.races import RaceDetector
from coopmat.targets.simulator.races.memory import races_of
from coopmat.targets.simulator.races.ordering import ALL_SEMANTICS
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Value

REQUIREMENTS: dict[int, Callable[[Frame, Site], None]] = {
    Scope.Workgroup: require_work_groups,
    Scope.Subgroup: require_sub_groups,
    Scope.Invocation: lambda frame, site: None,
}


def _barrier(compiler: FunctionCompiler, row: Instruction) -> Step:
    scope, site = known_barrier_scope(compiler.constant(row.words[0]), row.name), compiler.site(row)
    require, semantics = REQUIREMENTS[scope], _semantics(compiler, row.words[2])
    ordering: dict[int, Callable[[RaceDetector, Frame], None]] = {
        Op.ControlBarrier: lambda races, frame: races.barrier(frame, scope, semantics),
        Op.ControlBarrierArriveEXT: lambda races, frame: races.arrive(frame, semantics),
        Op.ControlBarrierWaitEXT: lambda races, frame: races.wait(frame, semantics)}
    order = ordering[row.opcode]
    pair = {Op.ControlBarrierArriveEXT: Arrivals.arrive, Op.ControlBarrierWaitEXT: Arrivals.wait}.get(Op(row.opcode))

    def execute(frame: Frame) -> None:
        require(frame, site)
        if pair is not None and frame.batch.options.convergence:
            here = np.flatnonzero(frame.mask.expanded.any(axis=1)).tolist()
            pair(frame.batch.arrivals, here, lambda sub_group: site.where(frame, sub_group))
        races = races_of(frame)
        if races is not None:
            order(races, frame)

    return execute


def _fence(compiler: FunctionCompiler, row: Instruction) -> Step:
    semantics = _semantics(compiler, row.words[1])

    def execute(frame: Frame) -> None:
        races = races_of(frame)
        if races is not None:
            races.fence(frame, semantics)

    return execute


def _semantics(compiler: FunctionCompiler, identifier: int) -> int:
    """Memory semantics; all of them where they are not known before the kernel runs."""
    semantics = compiler.constant(identifier)
    return ALL_SEMANTICS if semantics is None else semantics


def _call(compiler: FunctionCompiler, row: Instruction) -> Step:
    if is_assertion(compiler.module, row.words[0]):
        return _assertion(compiler, row)
    callee = compiler.kernel.function(row.words[0])
    result = compiler.result(row)
    arguments = [_argument(compiler, row, word, parameter.result_id or 0) for word, parameter in
                 zip(row.words[1:], compiler.module.function(row.words[0]).parameters, strict=True)]

    slots = [None if compiler.place(word) is not None else compiler.slot(word) for word in row.words[1:]]
    kind = compiler.result_type(row)

    def execute(frame: Frame) -> None:
        marks = {number: frame.undefined[slot] for number, slot in enumerate(slots)
                 if slot in frame.undefined} if frame.undefined else {}
        frame.slots[result], mark = callee.call_marked(frame.batch, frame.mask,
                                                       [argument(frame) for argument in arguments], marks)
        if mark is not None or frame.undefined:
            set_mark(frame, result, kind, *((None, NOTHING) if mark is None else mark))

    return execute


def _assertion(compiler: FunctionCompiler, row: Instruction) -> Step:
    """A failed assertion: an error for the first work-item that is here."""
    site = compiler.site(row)
    slots = [compiler.slot(word) for word in row.words[1:2 + LINE]]

    def fail(frame: Frame) -> None:
        sub_group, lane = frame.mask.first
        given = [int(np.broadcast_to(frame.slots[slot], frame.mask.expanded.shape)[sub_group, lane]) for slot in slots]

        def text(index: int) -> bytes | None:
            return string_at(frame, site, given[index], LONGEST_EXPRESSION, LONGEST_EXPRESSION, (sub_group, lane),
                             "an assertion") if len(given) > index else None

        found = site
        if site.location is None and len(given) > LINE and given[FILE]:
            found = replace(site, location=place(text(FILE), given[LINE]))
        raise KernelAssertion(message(text(EXPRESSION)), found.where(frame, sub_group, lane))

    return fail


def _argument(compiler: FunctionCompiler, row: Instruction, argument: int, parameter: int) -> Callable[[Frame], Value]:
    """What a call passes; for a parameter that is passed by value through a pointer, the address of a copy."""
    slot = compiler.slot(argument)
    by_value = any(decoration == Decoration.FuncParamAttr and words[0] == FunctionParameterAttribute.ByVal
                   for decoration, words in compiler.module.decorations(parameter))
    if not by_value:
        return lambda frame: frame.slots[slot]
    size, site = compiler.types.pointee(compiler.type_of(argument)).size, compiler.site(row)
    name = f"copy of '{compiler.kernel.name(parameter)}'"
    copy = compiler.kernel.add_buffer(BufferRow(name, size, Extent.LANE, StorageClass.Function))

    def copied(frame: Frame) -> Value:
        frame.memory.copy(frame, copy, frame.slots[slot], size, site)
        known = known_of(frame)
        if known is not None:
            known.memory.copy(frame, copy, frame.slots[slot], size, site)
        return copy

    return copied


OPERATIONS: dict[int, Handler] = {
    Op.ControlBarrier: _barrier,
    Op.ControlBarrierArriveEXT: _barrier,
    Op.ControlBarrierWaitEXT: _barrier,
    Op.MemoryBarrier: _fence,
    Op.FunctionCall: _call,
}
