"""OpGroupAsyncCopy and OpGroupWaitEvents: a work-group copies between global and local memory.

Each sub-group, or work-item, copies its share at once, and waiting is a barrier. So an event has nothing to say: it is
a number that is not the null event's.
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
from coopmat.targets.llvm.values import Value

COPY = """
; Copy the elements from %first to %end, which have a size; they lie %to.step and %from.step bytes apart.
define internal void @copy_elements.SIZE(ptr %to, ptr %from, i64 %to.step, i64 %from.step, i64 %first,
                                         i64 %end) nounwind {
entry:
  %steps = or i64 %to.step, %from.step
  %both = and i64 %to.step, %from.step
  %is.all = icmp eq i64 %steps, SIZE
  %is.both = icmp eq i64 %both, SIZE
  %is.dense = and i1 %is.all, %is.both
  %some = icmp ult i64 %first, %end
  br i1 %some, label %choose, label %done
choose:
  br i1 %is.dense, label %dense, label %each
dense:
  %count = sub i64 %end, %first
  %bytes = mul i64 %count, SIZE
  %start = mul i64 %first, SIZE
  %dense.to = getelementptr i8, ptr %to, i64 %start
  %dense.from = getelementptr i8, ptr %from, i64 %start
  call void @llvm.memmove.p0.p0.i64(ptr %dense.to, ptr %dense.from, i64 %bytes, i1 false)
  br label %done
each:
  %i = phi i64 [ %first, %choose ], [ %next, %each ]
  %to.offset = mul i64 %i, %to.step
  %from.offset = mul i64 %i, %from.step
  %to.at = getelementptr i8, ptr %to, i64 %to.offset
  %from.at = getelementptr i8, ptr %from, i64 %from.offset
  call void @llvm.memmove.p0.p0.i64(ptr %to.at, ptr %from.at, i64 SIZE, i1 false)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %each, label %done
done:
  ret void
}
"""
MEMMOVE = "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)"


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
    first, end = emitter.execution.share(count)
    name = f"copy_elements.{size}"
    writer.declarations["llvm.memmove.p0.p0.i64"] = MEMMOVE
    writer.helper(name, COPY.replace("SIZE", str(size)))
    writer.call("void", name, [("ptr", to), ("ptr", source), ("i64", steps[0]), ("i64", steps[1]), ("i64", first),
                               ("i64", end)])
    return (emitter.constant("i64", 1),)


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
    emitter.execution.barrier(Scope.Workgroup)


OPERATIONS: dict[int, Handler] = {
    Op.GroupAsyncCopy: _copy,
    Op.GroupWaitEvents: _wait,
}
