"""The copies of a work-group on a GPU: neighbouring threads copy neighbouring chunks, 16 bytes each where they may."""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.llvm.lanes import GroupCopy
from coopmat.targets.llvm.writer import Writer

WIDTHS = (16, 4)  # bytes of a chunk, which are also its alignment
Move = Callable[[int], str]
"""IR that copies a chunk of so many bytes from ``%from.at`` to ``%to.at``."""

HEAD = """
; Copy what thread %thread of %threads does of %count elements, which have a size; they lie %to.step and %from.step
; bytes apart.
define internal void @NAME(ptr %to, ptr %from, i64 %to.step, i64 %from.step, i64 %count, i64 %thread,
                           i64 %threads) alwaysinline nounwind {
entry:
  %to.is.dense = icmp eq i64 %to.step, SIZE
  %from.is.dense = icmp eq i64 %from.step, SIZE
  %is.dense = and i1 %to.is.dense, %from.is.dense
  %bytes = mul i64 %count, SIZE
  %to.place = ptrtoint ptr %to to i64
  %from.place = ptrtoint ptr %from to i64
  %places = or i64 %to.place, %from.place
  br i1 %is.dense, label %try.FIRST, label %each.start
"""
CHUNKS = """
try.WIDTH:
  %low.WIDTH = and i64 %places, LOW
  %fits.WIDTH = icmp eq i64 %low.WIDTH, 0
  br i1 %fits.WIDTH, label %start.WIDTH, label %NEXT
start.WIDTH:
  %chunks.WIDTH = udiv i64 %bytes, WIDTH
  %some.WIDTH = icmp ult i64 %thread, %chunks.WIDTH
  br i1 %some.WIDTH, label %chunk.WIDTH, label %rest.WIDTH
chunk.WIDTH:
  %c.WIDTH = phi i64 [ %thread, %start.WIDTH ], [ %c.next.WIDTH, %chunk.WIDTH ]
  %offset.WIDTH = mul i64 %c.WIDTH, WIDTH
  %to.at.WIDTH = getelementptr i8, ptr %to, i64 %offset.WIDTH
  %from.at.WIDTH = getelementptr i8, ptr %from, i64 %offset.WIDTH
  MOVE
  %c.next.WIDTH = add i64 %c.WIDTH, %threads
  %c.more.WIDTH = icmp ult i64 %c.next.WIDTH, %chunks.WIDTH
  br i1 %c.more.WIDTH, label %chunk.WIDTH, label %rest.WIDTH
rest.WIDTH:
  %done.bytes.WIDTH = mul i64 %chunks.WIDTH, WIDTH
  %done.elements.WIDTH = udiv i64 %done.bytes.WIDTH, SIZE
  br label %each.start
"""
TAIL = """
each.start:
  %first = phi i64 FIRSTS
  %own = add i64 %first, %thread
  %some = icmp ult i64 %own, %count
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [ %own, %each.start ], [ %next, %each ]
  %to.offset = mul i64 %i, %to.step
  %from.offset = mul i64 %i, %from.step
  %to.element = getelementptr i8, ptr %to, i64 %to.offset
  %from.element = getelementptr i8, ptr %from, i64 %from.offset
  call void @llvm.memcpy.p0.p0.i64(ptr align ALIGN %to.element, ptr align ALIGN %from.element, i64 SIZE, i1 false)
  %next = add i64 %i, %threads
  %more = icmp ult i64 %next, %count
  br i1 %more, label %each, label %done
done:
  ret void
}
"""
MEMCPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


def moved_by_registers(width: int) -> str:
    """A chunk that a thread loads and stores."""
    kind = f"<{width // 4} x i32>" if width > 4 else "i32"
    return (f"%word.{width} = load {kind}, ptr %from.at.{width}, align {width}\n"
            f"  store {kind} %word.{width}, ptr %to.at.{width}, align {width}")


def copy_by_threads(writer: Writer, copy: GroupCopy, thread: str, threads: int, name: str = "copy_together",
                    move: Move = moved_by_registers) -> None:
    """Have a thread copy its chunks; ``name``: of the function with this way to move them."""
    helper = f"{name}.{copy.size}.{copy.alignment}"
    writer.declarations["llvm.memcpy.p0.p0.i64"] = MEMCPY
    nexts = [f"try.{width}" for width in WIDTHS[1:]] + ["each.start"]
    chunks = "".join(CHUNKS.replace("MOVE", move(width)).replace("WIDTH", str(width)).replace("LOW", str(width - 1))
                     .replace("NEXT", label) for width, label in zip(WIDTHS, nexts, strict=True))
    firsts = ", ".join(["[ 0, %entry ]", f"[ 0, %try.{WIDTHS[-1]} ]",
                        *(f"[ %done.elements.{width}, %rest.{width} ]" for width in WIDTHS)])
    text = HEAD.replace("FIRST", str(WIDTHS[0])) + chunks + TAIL.replace("FIRSTS", firsts)
    writer.helper(helper, text.replace("NAME", helper).replace("ALIGN", str(copy.alignment))
                  .replace("SIZE", str(copy.size)))
    writer.call("void", helper, [("ptr", copy.to), ("ptr", copy.source), ("i64", copy.steps[0]),
                                 ("i64", copy.steps[1]), ("i64", copy.count), ("i64", thread), ("i64", str(threads))])
