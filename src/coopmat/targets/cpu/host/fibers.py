"""The loop over work-groups, and sub-groups that wait for each other.

LLVM does not unroll these loops: it would compile a kernel several times for nothing. Where it has matrices it may
peel the loop over sub-groups: it would copy AMX's tiles through memory else.

A barrier of a work-group of several sub-groups needs all of them to come to it. Each has a stack of its own then, and a
barrier goes on with the next sub-group: the first one continues when the last one has come. That keeps everything
that lives across a barrier where the compiler put it.
"""

from __future__ import annotations

from coopmat.targets.cpu.host.frame import KEPT_BYTES, PLACE_AT, TURN_BYTES, Field
from coopmat.targets.llvm.writer import ROLLED

_KEPT = ("rbp", "rbx", "r12", "r13", "r14", "r15")
_SWITCH = "\\0A".join([*(f"pushq %{name}" for name in _KEPT), "movq %rsp, (%rdi)", "movq (%rsi), %rsp",
                      *(f"popq %{name}" for name in reversed(_KEPT)), "retq"])

_FIRST = {"r15": "i64 0", "r14": "i64 0", "r13": "i64 0", "r12": "ptr @fiber_main", "rbx": "ptr %fiber", "rbp": "i64 0",
          "return": "ptr @begin_stack"}
"""What lies on a new stack, from its top: what switch_stack takes off, and where it returns to."""

MEMBERS = {"gx": "i64", "gy": "i64", "gz": "i64", "sg": "i64", "launch": "ptr", "arguments": "ptr", "scratch": "ptr",
           "shared": "ptr", "next": "ptr"}
"""Of a fiber, behind its stack pointer: group and sub-group, what they all share, and the next one."""
FIBER = f"%fiber = type {{ ptr, {', '.join(MEMBERS.values())} }}"


def _member(name: str) -> str:
    return f"  %{name}.at = getelementptr %fiber, ptr %fiber, i64 0, i32 {1 + list(MEMBERS).index(name)}"


def load_members(*names: str) -> str:
    """Load members of %fiber."""
    return "\n".join([*map(_member, names), *(f"  %{name} = load {MEMBERS[name]}, ptr %{name}.at" for name in names)])


def _store_members() -> str:
    return "\n".join(f"{_member(name)}\n  store {llvm} %{name}, ptr %{name}.at" for name, llvm in MEMBERS.items())


def store_first() -> str:
    """Put what a new stack begins with at %top."""
    return "\n".join(f"  %{name}.at = getelementptr i64, ptr %top, i64 {place}\n  store {operand}, ptr %{name}.at"
                     for place, (name, operand) in enumerate(_FIRST.items()))


def load_word(name: str, place: int) -> str:
    """Load a word of the launch."""
    return f"  %{name}.at = getelementptr i64, ptr %launch, i64 {place}\n  %{name} = load i64, ptr %{name}.at"


SWITCH = rf"""
; Save what a function keeps for its caller, and the stack pointer at %from; take the stack at %to.
define internal void @switch_stack(ptr %from, ptr %to) naked noinline nounwind {{
  call void asm sideeffect "{_SWITCH}", "~{{memory}}"()
  unreachable
}}

; Where a new stack begins: its fiber is in rbx, the code in r12.
define internal void @begin_stack() naked noinline nounwind {{
  call void asm sideeffect "movq %rbx, %rdi\0Acallq *%r12\0Aud2", "~{{memory}}"()
  unreachable
}}

{FIBER}
"""

SWITCHING = rf"""{SWITCH}
define internal void @barrier(ptr %fiber) noinline nounwind {{
  %alone = icmp eq ptr %fiber, null
  br i1 %alone, label %done, label %wait
wait:
{load_members("next")}
  call void @switch_stack(ptr %fiber, ptr %next)
  br label %done
done:
  ret void
}}

define internal void @fiber_main(ptr %fiber) noinline nounwind {{
{load_members(*MEMBERS)}
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber)
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
}}

; One work-group: a stack for each sub-group in %scratch, behind the local memory. The first words of %shared: the stack
; pointer of the thread, and how many sub-groups are running.
define internal void @work_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz,
                                 i64 %count) noinline nounwind {{
entry:
{load_word("bytes", Field.LOCAL_BYTES)}
{load_word("stack", Field.STACK_BYTES)}
  %shared = getelementptr i8, ptr %scratch, i64 %bytes
  %stacks = getelementptr i8, ptr %shared, i64 64
  %running.at = getelementptr i64, ptr %shared, i64 1
  store i64 %count, ptr %running.at
  br label %prepare
prepare:
  %sg = phi i64 [ 0, %entry ], [ %sg.next, %prepare ]
  %sg.next = add i64 %sg, 1
  %is.last = icmp eq i64 %sg.next, %count
  %following = select i1 %is.last, i64 0, i64 %sg.next
  %offset = mul i64 %sg, %stack
  %fiber = getelementptr i8, ptr %stacks, i64 %offset
  %next.offset = mul i64 %following, %stack
  %next = getelementptr i8, ptr %stacks, i64 %next.offset
  %end = getelementptr i8, ptr %fiber, i64 %stack
  %top = getelementptr i8, ptr %end, i64 -120
{store_first()}
  store ptr %top, ptr %fiber
{_store_members()}
  br i1 %is.last, label %start, label %prepare, !llvm.loop {ROLLED}
start:
  call void @switch_stack(ptr %shared, ptr %stacks)
  ret void
}}
"""


def _alone(has_matrices: bool) -> str:
    """Sub-groups that do not wait, one after the other."""
    rolled = "" if has_matrices else f", !llvm.loop {ROLLED}"
    return f"""
  br label %sub.groups
sub.groups:
  %sg = phi i64 [ 0, %place ], [ %sg.next, %sub.groups ]
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr null)
  %sg.next = add i64 %sg, 1
  %sg.more = icmp ult i64 %sg.next, %count
  br i1 %sg.more, label %sub.groups, label %next.group{rolled}
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


_IN_BANDS = f"""  %band = udiv i64 %in.plane, %band.groups
  %in.band = urem i64 %in.plane, %band.groups
  %first.row = mul i64 %band, {BAND}
  %rows.left = sub i64 %ny, %first.row
  %is.short = icmp ult i64 %rows.left, {BAND}
  %height = select i1 %is.short, i64 %rows.left, i64 {BAND}
  %x = udiv i64 %in.band, %height
  %in.column = urem i64 %in.band, %height
  %y = add i64 %first.row, %in.column"""
_IN_LINES = {0: """  %x = urem i64 %in.plane, %nx
  %y = udiv i64 %in.plane, %nx""",
             1: """  %y = urem i64 %in.plane, %ny
  %x = udiv i64 %in.plane, %ny"""}


_PORTION = f"""
; The first work-group of the next portion for a thread; -1 if there is none.
define internal i64 @portion(ptr %launch, ptr %scratch) alwaysinline nounwind {{
entry:
{load_word("total", Field.TOTAL)}
{load_word("chunk", Field.CHUNK)}
{load_word("owners", Field.OWNERS)}
{load_word("turns", Field.TURNS)}
  %all.turns = getelementptr i8, ptr %launch, i64 %turns
  %place.at = getelementptr i8, ptr %scratch, i64 {PLACE_AT - KEPT_BYTES}
  %place = load i64, ptr %place.at
  %own = urem i64 %place, %owners
  %stop.at = getelementptr i64, ptr %launch, i64 {Field.STOP}
  %stop = load atomic i64, ptr %stop.at monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %none, label %look
look:
  %whose = phi i64 [ %own, %entry ], [ %whose.next, %other ]
  %offset = mul i64 %whose, {TURN_BYTES}
  %turn.at = getelementptr i8, ptr %all.turns, i64 %offset
  %known = load atomic i64, ptr %turn.at monotonic, align 8
  %known.first = call i64 @portion_start(i64 %known, i64 %owners, i64 %whose, i64 %chunk)
  %is.known = icmp uge i64 %known.first, %total
  br i1 %is.known, label %other, label %take
take:
  %turn = atomicrmw add ptr %turn.at, i64 1 monotonic
  %first = call i64 @portion_start(i64 %turn, i64 %owners, i64 %whose, i64 %chunk)
  %is.over = icmp uge i64 %first, %total
  br i1 %is.over, label %other, label %some
some:
  ret i64 %first
other:
  %following = add i64 %whose, 1
  %is.end = icmp eq i64 %following, %owners
  %whose.next = select i1 %is.end, i64 0, i64 %following
  %is.all = icmp eq i64 %whose.next, %own
  br i1 %is.all, label %none, label %look
none:
  ret i64 -1
}}

define internal i64 @portion_start(i64 %turn, i64 %owners, i64 %whose, i64 %chunk) alwaysinline nounwind {{
  %round = mul i64 %turn, %owners
  %portion = add i64 %round, %whose
  %first = mul i64 %portion, %chunk
  ret i64 %first
}}
"""
"""Each owner has every so many portions for its own, and takes those first: the same from launch to launch, so that
its caches have what it wrote last. One that has none left takes those of others. If there is one owner, all threads
take work-groups in their order."""


def run_function(waits: bool, fast: int | None = None, *, has_matrices: bool) -> str:
    """The function that takes work-groups, a portion at a time, until there are none.

    They come in bands of some rows, column by column, so that what neighbours of both dimensions share stays in caches:
    rows of A and columns of B, where each work-group computes a part of a matrix. ``fast``: the axis along which they
    follow each other, instead. Where there is one row, a work-group's place is its number. Where it ``has_matrices``,
    LLVM is not told that a kernel does not write to what says how it is launched, which it then keeps in registers:
    AMX's tiles, of which it copies some through memory then, are worth more.
    """
    alone = "" if has_matrices else "noalias "
    return f"""{_PORTION}
define void @run(ptr {alone}%launch, ptr {alone}%arguments, ptr %scratch) nounwind {{
entry:
{load_word("nx", Field.GROUPS)}
{load_word("ny", Field.GROUPS + 1)}
  %plane = mul i64 %nx, %ny
  %band.groups = mul i64 %nx, {BAND}
{load_word("total", Field.TOTAL)}
  %is.row = icmp eq i64 %nx, %total
{load_word("chunk", Field.CHUNK)}
{load_word("count", Field.SUB_GROUPS)}
  br label %take
take:
  %first = call i64 @portion(ptr %launch, ptr %scratch)
  %leave = icmp slt i64 %first, 0
  br i1 %leave, label %done, label %some
some:
  %end.wanted = add i64 %first, %chunk
  %beyond = icmp ugt i64 %end.wanted, %total
  %end = select i1 %beyond, i64 %total, i64 %end.wanted
  br label %group
group:
  %g = phi i64 [ %first, %some ], [ %g.next, %next.group ]
  br i1 %is.row, label %place, label %find
find:
  %z = udiv i64 %g, %plane
  %in.plane = urem i64 %g, %plane
{_IN_BANDS if fast is None else _IN_LINES[fast]}
  br label %place
place:
  %gx = phi i64 [ %g, %group ], [ %x, %find ]
  %gy = phi i64 [ 0, %group ], [ %y, %find ]
  %gz = phi i64 [ 0, %group ], [ %z, %find ]
{_TOGETHER if waits else _alone(has_matrices)}
next.group:
  %g.next = add i64 %g, 1
  %more = icmp ult i64 %g.next, %end
  br i1 %more, label %group, label %take, !llvm.loop {ROLLED}
done:
  ret void
}}
"""
