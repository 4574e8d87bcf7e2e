"""The functions that compiled code calls for its bounds checks."""

from __future__ import annotations

from coopmat.targets.cpu.checks.faults import MOST_VALUES, Fault
from coopmat.targets.cpu.host.frame import Field

ENTRY_WORDS = 3  # of a buffer in the launch's table: its address, the bytes that can be read, those that can be written

NOTED_WORDS = ("site", "lane", "gx", "gy", "gz", "sg", "address", "start", "bytes",
          *(f"value{number}" for number in range(MOST_VALUES)))
_NOTED = "\n".join(f"  %{name}.at = getelementptr i64, ptr %launch, i64 {Field.ERROR + Fault.SITE + place}\n"
                   f"  store i64 %{name}, ptr %{name}.at" for place, name in enumerate(NOTED_WORDS))
_PARAMETERS = ", ".join(f"i64 %{name}" for name in NOTED_WORDS)
OUT_OF_BOUNDS = f"""
; Note the launch's first fault, and stop the launch.
define internal void @out_of_bounds(ptr %launch, {_PARAMETERS}) cold noinline nounwind {{
  %state = getelementptr i64, ptr %launch, i64 {Field.ERROR + Fault.STATE}
  %pair = cmpxchg ptr %state, i64 0, i64 1 seq_cst seq_cst
  %is.first = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %is.first, label %note, label %stop
note:
{_NOTED}
  br label %stop
stop:
  %stop.at = getelementptr i64, ptr %launch, i64 {int(Field.STOP)}
  store atomic i64 1, ptr %stop.at seq_cst, align 8
  ret void
}}
"""
IN_BUFFERS = f"""
; Whether %span bytes from an address on lie in one of the buffers of a table, in local or in private memory.
define internal i1 @in_buffers(i64 %table, i64 %count, i64 %local, i64 %local.bytes, i64 %bottom, i64 %top,
                               i64 %address, i64 %span, i64 %word) nounwind {{
entry:
  %buffers = inttoptr i64 %table to ptr
  %local.offset = sub i64 %address, %local
  %local.more = add i64 %local.bytes, 1
  %local.limit = call i64 @llvm.usub.sat.i64(i64 %local.more, i64 %span)
  %is.local = icmp ult i64 %local.offset, %local.limit
  %private.offset = sub i64 %address, %bottom
  %private.bytes = sub i64 %top, %bottom
  %private.more = add i64 %private.bytes, 1
  %private.limit = call i64 @llvm.usub.sat.i64(i64 %private.more, i64 %span)
  %is.private = icmp ult i64 %private.offset, %private.limit
  %is.own = or i1 %is.local, %is.private
  br i1 %is.own, label %found, label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %buffer ]
  %is.end = icmp eq i64 %i, %count
  br i1 %is.end, label %none, label %buffer
buffer:
  %first = mul i64 %i, {ENTRY_WORDS}
  %start.at = getelementptr i64, ptr %buffers, i64 %first
  %start = load i64, ptr %start.at
  %bytes.at = getelementptr i64, ptr %start.at, i64 %word
  %bytes = load i64, ptr %bytes.at
  %offset = sub i64 %address, %start
  %more = add i64 %bytes, 1
  %limit = call i64 @llvm.usub.sat.i64(i64 %more, i64 %span)
  %is.inside = icmp ult i64 %offset, %limit
  %is.there = icmp ne i64 %start, 0
  %is.found = and i1 %is.inside, %is.there
  %i.next = add i64 %i, 1
  br i1 %is.found, label %found, label %next
found:
  ret i1 true
none:
  ret i1 false
}}
"""
