"""Prefetches: cache lines that will be used soon, asked for ahead of their use. They never fault."""

from __future__ import annotations

from coopmat.targets.llvm.writer import Writer

CACHE_LINE = 64  # bytes

READ, WRITE = 0, 1  # what lines are asked for


def _function(name: str, purpose: int) -> str:
    """The function that asks for lines."""
    return f"""
; Ask for %rows rows of %bytes bytes, %stride apart.
define internal void @{name}(ptr %start, i64 %rows, i64 %bytes, i64 %stride) nounwind {{
entry:
  %any.rows = icmp sgt i64 %rows, 0
  %any.bytes = icmp sgt i64 %bytes, 0
  %any = and i1 %any.rows, %any.bytes
  br i1 %any, label %row, label %done
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %offset = mul i64 %r, %stride
  %line.start = getelementptr i8, ptr %start, i64 %offset
  br label %line
line:
  %at = phi i64 [ 0, %row ], [ %next, %line ]
  %address = getelementptr i8, ptr %line.start, i64 %at
  call void @llvm.prefetch.p0(ptr %address, i32 {purpose}, i32 3, i32 1)
  %next = add i64 %at, {CACHE_LINE}
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %line, label %row.end
row.end:
  %r.next = add i64 %r, 1
  %more.rows = icmp slt i64 %r.next, %rows
  br i1 %more.rows, label %row, label %done
done:
  ret void
}}
"""


def prefetch(writer: Writer, address: str, rows: str, row_bytes: str, stride: str, purpose: int = READ) -> None:
    """Ask for some rows of memory; operands, the numbers of 64 bits. ``purpose``: READ or WRITE."""
    name = "prefetch.write" if purpose == WRITE else "prefetch"
    writer.helper(name, _function(name, purpose))
    writer.declarations["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
    writer.call("void", name, [("ptr", address), ("i64", rows), ("i64", row_bytes), ("i64", stride)])
