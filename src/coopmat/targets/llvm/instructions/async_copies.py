"""OpGroupAsyncCopy and OpGroupWaitEvents: a work-group copies between global and local memory.

An event is a number that is not the null event's; what else it says is the machine's.
"""

from __future__ import annotations

from coopmat.spirv.analysis.types import round_up
from coopmat.spirv.grammar import Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.async_copies import check_events, copied_type, scatters
from coopmat.targets.analysis.group_scopes import known_scope
from coopmat.targets.llvm.checks import AccessChecks
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.extents import FARTHEST, product, rows_of_bytes
from coopmat.targets.llvm.lanes import GroupCopy
from coopmat.targets.llvm.values import Value


def _copy(emitter: Emitter, row: Instruction) -> Value:
    """The words: scope, destination, source, number of elements, stride, event."""
    known_scope(emitter.constant_of(row.words[0]), row.name, Scope.Workgroup)
    pointers = [emitter.type_of(word) for word in row.words[1:3]]
    kind = copied_type(emitter.types, pointers, row)
    size, writer = round_up(kind.size, kind.alignment), emitter.writer
    to, source, count, stride = emitter.execution.first(*(emitter.number(word) for word in row.words[1:5]))
    wide = writer.let(f"mul i64 {stride}, {size}")
    steps = (wide, str(size)) if scatters(pointers[0]) else (str(size), wide)
    if emitter.checks is not None:
        strides = (stride, "1") if scatters(pointers[0]) else ("1", stride)
        _check(emitter, emitter.checks, row, size, (to, source), count, strides)
    alignment = min(kind.alignment, size & -size)
    return (emitter.execution.copy_together(GroupCopy(to, source, steps, count, size, alignment,
                                                      fills_local=not scatters(pointers[0]))),)


def _check(emitter: Emitter, checks: AccessChecks, row: Instruction, size: int, addresses: tuple[str, str], count: str,
           strides: tuple[str, str]) -> None:
    """Have both sides of the whole copy checked, the destination first; strides are in elements."""
    writer = emitter.writer
    is_far = writer.let(f"icmp ugt i64 {count}, {FARTHEST}")
    is_empty = writer.let(f"icmp eq i64 {count}, 0")
    for place, (address, stride) in enumerate(zip(addresses, strides, strict=True)):
        step, overflows = product(emitter, stride, str(size))
        start = writer.let(f"ptrtoint ptr {address} to i64")
        extent = rows_of_bytes(emitter, start, ("0", count), step, ("0", str(size)),
                               writer.let(f"or i1 {is_far}, {overflows}"))
        checks.extent("copy", row.words[1 + place], address, extent, [count, stride], size=size, writing=place == 0,
                      is_empty=is_empty)


def _wait(emitter: Emitter, row: Instruction) -> None:
    known_scope(emitter.constant_of(row.words[0]), row.name, Scope.Workgroup)
    check_events(emitter.types, emitter.type_of(row.words[2]), row)
    emitter.execution.wait_for(emitter.number(row.words[1]), emitter.number(row.words[2]))


OPERATIONS: dict[int, Handler] = {
    Op.GroupAsyncCopy: _copy,
    Op.GroupWaitEvents: _wait,
}
