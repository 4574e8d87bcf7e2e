"""Threads that wait in compiled code, so that work reaches them, and its end the thread that gave it, in microseconds.

A thread has a desk, and a launch a job; both are words in memory. Who gives work puts the job on the desks and wakes
the first two sleepers; each who begins wakes the next two. A thread that has nothing to do looks at its desk for a
while before it sleeps; one that wakes who waits for a job's end sleeps at once, and leaves its core to that. Work that
nobody has begun is taken back when the rest is done. (Linux: sleeping is its futex.)
"""

from __future__ import annotations

from enum import IntEnum

PROCESSOR, LEVEL = "x86-64", 2  # that LLVM compiles the code for, and how
WORD_BYTES = 8
PATIENCE = 5000  # looks, a few hundred microseconds, before a thread sleeps: longer than between launches in a row
SLICE = 50_000_000  # nanoseconds that it sleeps at once while it waits for a job's end: Python has Ctrl-C to see


class State(IntEnum):
    """Of a desk: nothing to do, asleep, work is there, being done."""

    IDLE = 0
    ASLEEP = 1
    GIVEN = 2
    WORKING = 3


class Desk(IntEnum):
    """The words of a desk, by their positions. SLEPT: whether its thread slept when work was given; PLACE: among the
    desks of the job."""

    STATE = 0
    JOB = 1
    SCRATCH = 2
    SLEPT = 3
    PLACE = 4
    COUNT = 8


class Job(IntEnum):
    """The words of a job. PENDING: desks that have not ended it; WAITS: somebody sleeps until they have; RUN, LAUNCH,
    ARGUMENTS: what is called; SCRATCH: memory of the thread that gives the work, 0 if it does not take part; UNBEGUN:
    desks that it was taken back from."""

    PENDING = 0
    WAITS = 1
    DESKS = 2
    RUN = 3
    LAUNCH = 4
    ARGUMENTS = 5
    SCRATCH = 6
    UNBEGUN = 7
    FIRST = 8


def _load(name: str, llvm: str, base: str, place: int) -> str:
    return (f"  %{name}.at = getelementptr i64, ptr {base}, i64 {place}\n"
            f"  %{name} = load {llvm}, ptr %{name}.at")


def _store(llvm: str, value: str, base: str, place: int, name: str) -> str:
    return (f"  %{name}.at = getelementptr i64, ptr {base}, i64 {place}\n"
            f"  store {llvm} {value}, ptr %{name}.at")


_CALL = f"""{_load("run", "ptr", "%job", Job.RUN)}
{_load("launch", "ptr", "%job", Job.LAUNCH)}
{_load("arguments", "ptr", "%job", Job.ARGUMENTS)}
  call void %run(ptr %launch, ptr %arguments, ptr %scratch)"""

_SYSTEM_CALL = "={rax},{rax},{rdi},{rsi},{rdx},{r10},~{rcx},~{r11},~{memory}"

CODE = f"""
declare void @llvm.x86.sse2.pause()

; Linux's futex: wait while a word has a value, as long as a time, or wake one who waits.
define internal void @futex(ptr %word, i64 %operation, i64 %value, ptr %time) noinline nounwind {{
  %done = call i64 asm sideeffect "syscall", "{_SYSTEM_CALL}"(
      i64 202, ptr %word, i64 %operation, i64 %value, ptr %time)
  ret void
}}

; Wake the thread at a place among a job's desks, if there is one and it sleeps.
define internal void @wake(ptr %job, i64 %place) noinline nounwind {{
{_load("desks", "i64", "%job", Job.DESKS)}
  %is.one = icmp ult i64 %place, %desks
  br i1 %is.one, label %look, label %done
look:
  %number = add i64 %place, {Job.FIRST}
  %desk.at = getelementptr i64, ptr %job, i64 %number
  %desk = load ptr, ptr %desk.at
{_load("slept", "i64", "%desk", Desk.SLEPT)}
  %awake = icmp eq i64 %slept, 0
  br i1 %awake, label %done, label %asleep
asleep:
  call void @futex(ptr %desk, i64 129, i64 1, ptr null)
  br label %done
done:
  ret void
}}

; What a thread does from now on.
define void @serve(ptr %desk) nounwind {{
entry:
  br label %idle
idle:
  br label %look
look:
  %looks = phi i64 [ 0, %idle ], [ %looks.next, %again ]
  %state = load atomic i32, ptr %desk acquire, align 64
  switch i32 %state, label %again [ i32 {State.GIVEN}, label %take
                                    i32 {State.ASLEEP}, label %sleep ]
again:
  call void @llvm.x86.sse2.pause()
  %looks.next = add i64 %looks, 1
  %is.tired = icmp eq i64 %looks.next, {PATIENCE}
  br i1 %is.tired, label %doze, label %look
doze:
  %dozing = cmpxchg ptr %desk, i32 {State.IDLE}, i32 {State.ASLEEP} seq_cst seq_cst
  br label %idle
sleep:
  call void @futex(ptr %desk, i64 128, i64 {State.ASLEEP}, ptr null)
  br label %idle
take:
  %taking = cmpxchg ptr %desk, i32 {State.GIVEN}, i32 {State.WORKING} seq_cst seq_cst
  %is.mine = extractvalue {{ i32, i1 }} %taking, 1
  br i1 %is.mine, label %work, label %idle
work:
{_load("job", "ptr", "%desk", Desk.JOB)}
{_load("scratch", "ptr", "%desk", Desk.SCRATCH)}
{_load("place", "i64", "%desk", Desk.PLACE)}
  %twice = shl i64 %place, 1
  %one = add i64 %twice, 2
  %other = add i64 %twice, 3
  call void @wake(ptr %job, i64 %one)
  call void @wake(ptr %job, i64 %other)
{_CALL}
  store atomic i32 {State.IDLE}, ptr %desk release, align 64
  %before = atomicrmw sub ptr %job, i32 1 seq_cst
  %waits.at = getelementptr i64, ptr %job, i64 {Job.WAITS}
  %waits = load atomic i32, ptr %waits.at seq_cst, align 8
  %is.awaited = icmp ne i32 %waits, 0
  br i1 %is.awaited, label %tell, label %idle
tell:
  call void @futex(ptr %job, i64 129, i64 1, ptr null)
  br label %doze
}}

; Give a job to its desks, the last one first: who begins knows who of the next two sleeps. Take part, if there is
; scratch memory for that, take back what nobody has begun then, and wait a while for the others.
define void @together(ptr %job) nounwind {{
entry:
{_load("count", "i64", "%job", Job.DESKS)}
  %count.narrow = trunc i64 %count to i32
{_store("i64", "0", "%job", Job.WAITS, "waits")}
{_store("i64", "0", "%job", Job.UNBEGUN, "unbegun")}
  store atomic i32 %count.narrow, ptr %job seq_cst, align 64
  br label %give
give:
  %left = phi i64 [ %count, %entry ], [ %place, %given ]
  %is.none = icmp eq i64 %left, 0
  br i1 %is.none, label %start, label %given
given:
  %place = sub i64 %left, 1
  %number = add i64 %place, {Job.FIRST}
  %desk.at = getelementptr i64, ptr %job, i64 %number
  %desk = load ptr, ptr %desk.at
{_store("ptr", "%job", "%desk", Desk.JOB, "desk.job")}
{_store("i64", "%place", "%desk", Desk.PLACE, "desk.place")}
  %old = atomicrmw xchg ptr %desk, i32 {State.GIVEN} seq_cst
  %slept = icmp eq i32 %old, {State.ASLEEP}
  %slept.wide = zext i1 %slept to i64
{_store("i64", "%slept.wide", "%desk", Desk.SLEPT, "desk.slept")}
  br label %give
start:
  call void @wake(ptr %job, i64 0)
  call void @wake(ptr %job, i64 1)
{_load("scratch", "ptr", "%job", Job.SCRATCH)}
  %is.alone = icmp eq ptr %scratch, null
  br i1 %is.alone, label %done, label %part
part:
{_CALL}
  call void @take_back(ptr %job)
  call void @look_at(ptr %job, i32 0)
  br label %done
done:
  ret void
}}

; Take a job back from the desks whose threads have not begun. They count as asleep: they may be, or fall asleep.
define void @take_back(ptr %job) nounwind {{
entry:
{_load("count", "i64", "%job", Job.DESKS)}
  br label %look
look:
  %place = phi i64 [ 0, %entry ], [ %next, %following ]
  %is.last = icmp eq i64 %place, %count
  br i1 %is.last, label %done, label %try
try:
  %number = add i64 %place, {Job.FIRST}
  %desk.at = getelementptr i64, ptr %job, i64 %number
  %desk = load ptr, ptr %desk.at
  %taking = cmpxchg ptr %desk, i32 {State.GIVEN}, i32 {State.ASLEEP} seq_cst seq_cst
  %is.back = extractvalue {{ i32, i1 }} %taking, 1
  br i1 %is.back, label %back, label %following
back:
  %pending = atomicrmw sub ptr %job, i32 1 seq_cst
{_load("unbegun", "i64", "%job", Job.UNBEGUN)}
  %more = add i64 %unbegun, 1
  store i64 %more, ptr %unbegun.at
  br label %following
following:
  %next = add i64 %place, 1
  br label %look
done:
  ret void
}}

; Look for a while whether at most so many have not ended a job.
define internal void @look_at(ptr %job, i32 %most) noinline nounwind {{
entry:
  br label %look
look:
  %looks = phi i64 [ 0, %entry ], [ %looks.next, %again ]
  %pending = load atomic i32, ptr %job seq_cst, align 64
  %is.done = icmp sle i32 %pending, %most
  br i1 %is.done, label %done, label %again
again:
  call void @llvm.x86.sse2.pause()
  %looks.next = add i64 %looks, 1
  %is.tired = icmp eq i64 %looks.next, {PATIENCE}
  br i1 %is.tired, label %done, label %look
done:
  ret void
}}

; Wait until at most so many have not ended a job, or some time is over. Who does not look first sleeps at once, and
; leaves its core to others.
define void @await(ptr %job, i32 %most, i32 %looks) nounwind {{
entry:
  %time = alloca [2 x i64]
  store i64 0, ptr %time
{_store("i64", str(SLICE), "%time", 1, "nanoseconds")}
  %is.blind = icmp eq i32 %looks, 0
  br i1 %is.blind, label %rest, label %look
look:
  call void @look_at(ptr %job, i32 %most)
  br label %rest
rest:
  %waits.at = getelementptr i64, ptr %job, i64 {Job.WAITS}
  store atomic i32 1, ptr %waits.at seq_cst, align 8
  %pending = load atomic i32, ptr %job seq_cst, align 64
  %is.done = icmp sle i32 %pending, %most
  br i1 %is.done, label %done, label %sleep
sleep:
  %value = zext i32 %pending to i64
  call void @futex(ptr %job, i64 128, i64 %value, ptr %time)
  store atomic i32 0, ptr %waits.at seq_cst, align 8
  br label %done
done:
  ret void
}}
"""
