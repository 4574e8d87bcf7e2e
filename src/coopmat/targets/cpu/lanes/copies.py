"""The copies of a work-group: a sub-group copies its share at once, so that waiting is a barrier."""

from __future__ import annotations

from coopmat.targets.llvm.lanes import GroupCopy
from coopmat.targets.llvm.writer import Writer

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


def copy_elements(writer: Writer, copy: GroupCopy, first: str, end: str) -> None:
    """Copy the elements from one to another one, which is left out."""
    name = f"copy_elements.{copy.size}"
    writer.declarations["llvm.memmove.p0.p0.i64"] = MEMMOVE
    writer.helper(name, COPY.replace("SIZE", str(copy.size)))
    writer.call("void", name, [("ptr", copy.to), ("ptr", copy.source), ("i64", copy.steps[0]), ("i64", copy.steps[1]),
                               ("i64", first), ("i64", end)])
