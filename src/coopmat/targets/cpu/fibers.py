"""The loop over work-groups, and sub-groups that wait for each other.

A barrier of a work-group of several sub-groups needs all of them to come to it. Each has a stack of its own then, and a
barrier goes on with the next sub-group: the first one continues when the last one has come. That keeps everything
that lives across a barrier where the compiler put it.
"""

from __future__ import annotations

_KEPT = ("rbp", "rbx", "r12", "r13", "r14", "r15")
_SWITCH = "\\0A".join([*(f"pushq %{name}" for name in _KEPT), "movq %rsp, (%rdi)", "movq (%rsi), %rsp",
                      *(f"popq %{name}" for name in reversed(_KEPT)), "retq"])

SWITCHING = r"""
; Save what a function keeps for its caller, and the stack pointer at %from; take the stack at %to.
define internal void @switch_stack(ptr %from, ptr %to) naked noinline nounwind {
  call void asm sideeffect "SWITCH", "~{memory}"()
  unreachable
}

; Where a new stack begins: its fiber is in rbx, the code in r12.
define internal void @begin_stack() naked noinline nounwind {
  call void asm sideeffect "movq %rbx, %rdi\0Acallq *%r12\0Aud2", "~{memory}"()
  unreachable
}

; A fiber: its stack pointer, then group and sub-group, what they all share, and the next one.
%fiber = type { ptr, i64, i64, i64, i64, ptr, ptr, ptr, ptr, ptr }

define internal void @barrier(ptr %fiber) noinline nounwind {
  %alone = icmp eq ptr %fiber, null
  br i1 %alone, label %done, label %wait
wait:
  %at = getelementptr %fiber, ptr %fiber, i64 0, i32 9
  %next = load ptr, ptr %at
  call void @switch_stack(ptr %fiber, ptr %next)
  br label %done
done:
  ret void
}

define internal void @fiber_main(ptr %fiber) noinline nounwind {
  %gx.at = getelementptr %fiber, ptr %fiber, i64 0, i32 1
  %gy.at = getelementptr %fiber, ptr %fiber, i64 0, i32 2
  %gz.at = getelementptr %fiber, ptr %fiber, i64 0, i32 3
  %sg.at = getelementptr %fiber, ptr %fiber, i64 0, i32 4
  %launch.at = getelementptr %fiber, ptr %fiber, i64 0, i32 5
  %arguments.at = getelementptr %fiber, ptr %fiber, i64 0, i32 6
  %local.at = getelementptr %fiber, ptr %fiber, i64 0, i32 7
  %shared.at = getelementptr %fiber, ptr %fiber, i64 0, i32 8
  %next.at = getelementptr %fiber, ptr %fiber, i64 0, i32 9
  %gx = load i64, ptr %gx.at
  %gy = load i64, ptr %gy.at
  %gz = load i64, ptr %gz.at
  %sg = load i64, ptr %sg.at
  %launch = load ptr, ptr %launch.at
  %arguments = load ptr, ptr %arguments.at
  %local = load ptr, ptr %local.at
  %shared = load ptr, ptr %shared.at
  %next = load ptr, ptr %next.at
  call void @sub_group(ptr %launch, ptr %arguments, ptr %local, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber)
  %running.at = getelementptr i64, ptr %shared, i64 1
  %running = load i64, ptr %running.at
  %left = sub i64 %running, 1
  store i64 %left, ptr %running.at
  br label %leave
leave:
  %still = load i64, ptr %running.at
  %last = icmp eq i64 %still, 0
  %to = select i1 %last, ptr %shared, ptr %next
  call void @switch_stack(ptr %fiber, ptr %to)
  br label %leave
}

; One work-group: a stack for each sub-group in %scratch, behind the local memory. The first words of %shared: the stack
; pointer of the thread, and how many sub-groups are running.
define internal void @work_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz,
                                 i64 %count) noinline nounwind {
entry:
  %bytes.at = getelementptr i64, ptr %launch, i64 17
  %bytes = load i64, ptr %bytes.at
  %stack.at = getelementptr i64, ptr %launch, i64 19
  %stack = load i64, ptr %stack.at
  %shared = getelementptr i8, ptr %scratch, i64 %bytes
  %stacks = getelementptr i8, ptr %shared, i64 64
  %running.at = getelementptr i64, ptr %shared, i64 1
  store i64 %count, ptr %running.at
  br label %prepare
prepare:
  %i = phi i64 [ 0, %entry ], [ %i.next, %prepare ]
  %i.next = add i64 %i, 1
  %is.last = icmp eq i64 %i.next, %count
  %following = select i1 %is.last, i64 0, i64 %i.next
  %offset = mul i64 %i, %stack
  %fiber = getelementptr i8, ptr %stacks, i64 %offset
  %next.offset = mul i64 %following, %stack
  %next = getelementptr i8, ptr %stacks, i64 %next.offset
  %end = getelementptr i8, ptr %fiber, i64 %stack
  %top = getelementptr i8, ptr %end, i64 -120
  store i64 0, ptr %top
  %r14 = getelementptr i64, ptr %top, i64 1
  store i64 0, ptr %r14
  %r13 = getelementptr i64, ptr %top, i64 2
  store i64 0, ptr %r13
  %r12 = getelementptr i64, ptr %top, i64 3
  store ptr @fiber_main, ptr %r12
  %rbx = getelementptr i64, ptr %top, i64 4
  store ptr %fiber, ptr %rbx
  %rbp = getelementptr i64, ptr %top, i64 5
  store i64 0, ptr %rbp
  %return = getelementptr i64, ptr %top, i64 6
  store ptr @begin_stack, ptr %return
  store ptr %top, ptr %fiber
  %f1 = getelementptr %fiber, ptr %fiber, i64 0, i32 1
  store i64 %gx, ptr %f1
  %f2 = getelementptr %fiber, ptr %fiber, i64 0, i32 2
  store i64 %gy, ptr %f2
  %f3 = getelementptr %fiber, ptr %fiber, i64 0, i32 3
  store i64 %gz, ptr %f3
  %f4 = getelementptr %fiber, ptr %fiber, i64 0, i32 4
  store i64 %i, ptr %f4
  %f5 = getelementptr %fiber, ptr %fiber, i64 0, i32 5
  store ptr %launch, ptr %f5
  %f6 = getelementptr %fiber, ptr %fiber, i64 0, i32 6
  store ptr %arguments, ptr %f6
  %f7 = getelementptr %fiber, ptr %fiber, i64 0, i32 7
  store ptr %scratch, ptr %f7
  %f8 = getelementptr %fiber, ptr %fiber, i64 0, i32 8
  store ptr %shared, ptr %f8
  %f9 = getelementptr %fiber, ptr %fiber, i64 0, i32 9
  store ptr %next, ptr %f9
  br i1 %is.last, label %start, label %prepare
start:
  call void @switch_stack(ptr %shared, ptr %stacks)
  ret void
}
""".replace("SWITCH", _SWITCH)

_ALONE = """
  br label %sub.groups
sub.groups:
  %sg = phi i64 [ 0, %group ], [ %sg.next, %sub.groups ]
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr null)
  %sg.next = add i64 %sg, 1
  %sg.more = icmp ult i64 %sg.next, %count
  br i1 %sg.more, label %sub.groups, label %next.group
"""

_TOGETHER = """
  %several = icmp ugt i64 %count, 1
  br i1 %several, label %together, label %alone
together:
  call void @work_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %count)
  br label %next.group
alone:
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 0, ptr null)
  br label %next.group
"""


BAND = 8  # rows of work-groups


def run_function(waits: bool) -> str:
    """The function that takes work-groups, some at a time, until there are none.

    They come in bands of some rows, column by column, so that what neighbours of both dimensions share stays in caches:
    rows of A and columns of B, where each work-group computes a part of a matrix.
    """
    return f"""
define void @run(ptr %launch, ptr %arguments, ptr %scratch) nounwind {{
entry:
  %nx.at = getelementptr i64, ptr %launch, i64 9
  %nx = load i64, ptr %nx.at
  %ny.at = getelementptr i64, ptr %launch, i64 10
  %ny = load i64, ptr %ny.at
  %plane = mul i64 %nx, %ny
  %band.groups = mul i64 %nx, {BAND}
  %total.at = getelementptr i64, ptr %launch, i64 13
  %total = load i64, ptr %total.at
  %taken.at = getelementptr i64, ptr %launch, i64 14
  %chunk.at = getelementptr i64, ptr %launch, i64 15
  %chunk = load i64, ptr %chunk.at
  %count.at = getelementptr i64, ptr %launch, i64 16
  %count = load i64, ptr %count.at
  %stop.at = getelementptr i64, ptr %launch, i64 18
  br label %take
take:
  %first = atomicrmw add ptr %taken.at, i64 %chunk monotonic
  %stop = load atomic i64, ptr %stop.at monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  %over = icmp uge i64 %first, %total
  %leave = or i1 %over, %stopped
  br i1 %leave, label %done, label %some
some:
  %end.wanted = add i64 %first, %chunk
  %beyond = icmp ugt i64 %end.wanted, %total
  %end = select i1 %beyond, i64 %total, i64 %end.wanted
  br label %group
group:
  %g = phi i64 [ %first, %some ], [ %g.next, %next.group ]
  %gz = udiv i64 %g, %plane
  %in.plane = urem i64 %g, %plane
  %band = udiv i64 %in.plane, %band.groups
  %in.band = urem i64 %in.plane, %band.groups
  %first.row = mul i64 %band, {BAND}
  %rows.left = sub i64 %ny, %first.row
  %is.short = icmp ult i64 %rows.left, {BAND}
  %height = select i1 %is.short, i64 %rows.left, i64 {BAND}
  %gx = udiv i64 %in.band, %height
  %in.column = urem i64 %in.band, %height
  %gy = add i64 %first.row, %in.column
{_TOGETHER if waits else _ALONE}
next.group:
  %g.next = add i64 %g, 1
  %more = icmp ult i64 %g.next, %end
  br i1 %more, label %group, label %take
done:
  ret void
}}
"""
