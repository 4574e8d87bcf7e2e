"""Sub-groups that stop wherever somebody may look at memory, so that the host decides who goes on (interleaving.py).

Each sub-group has a stack of its own, as where sub-groups wait for each other at barriers (fibers.py), but it always
goes back to the host: at a barrier, when it has ended, and when it has come to as many accesses as it was given.
"""

from __future__ import annotations

from enum import IntEnum

from coopmat.targets.cpu.host.fibers import MEMBERS, SWITCH, load_members, load_word, store_first
from coopmat.targets.cpu.host.frame import Field


class Stop(IntEnum):
    """Why a sub-group has stopped."""

    NEW = 0  # it has not begun
    PAUSE = 1  # it has come to as many accesses as it was given
    BARRIER = 2
    TURN = 3  # a barrier behind which the sub-groups go on in their order, each until it stops
    END = 4


class Word(IntEnum):
    """The words of a fiber that the host writes, by their positions."""

    GROUP = 1  # three words
    SUB_GROUP = 4
    LAUNCH = 5
    ARGUMENTS = 6
    LOCAL = 7
    SHARED = 8
    STOP = 1 + len(MEMBERS)  # a Stop


SHARED_WORDS = 2
"""The thread's stack pointer, and the accesses that the sub-group which runs may still make."""


def _stop(why: Stop) -> str:
    """Go back to the host."""
    return f"""  %stop.at = getelementptr i64, ptr %fiber, i64 {Word.STOP}
  store i64 {why.value}, ptr %stop.at
  call void @switch_stack(ptr %fiber, ptr %shared)"""


def _stopping(name: str, why: Stop) -> str:
    return f"""
define internal void @{name}(ptr %fiber) noinline nounwind {{
{load_members("shared")}
{_stop(why)}
  ret void
}}
"""


PAUSING = rf"""{SWITCH}
define internal void @pause(ptr %fiber) noinline nounwind {{
{load_members("shared")}
  %left.at = getelementptr i64, ptr %shared, i64 1
  %left = load i64, ptr %left.at
  %less = sub i64 %left, 1
  store i64 %less, ptr %left.at
  %goes.on = icmp sgt i64 %less, 0
  br i1 %goes.on, label %done, label %stop
stop:
{_stop(Stop.PAUSE)}
  br label %done
done:
  ret void
}}
{_stopping("barrier", Stop.BARRIER)}{_stopping("turn", Stop.TURN)}
define internal void @fiber_main(ptr %fiber) noinline nounwind {{
{load_members(*list(MEMBERS)[:-1])}
  call void @sub_group(ptr %launch, ptr %arguments, ptr %scratch, i64 %gx, i64 %gy, i64 %gz, i64 %sg, ptr %fiber)
{_stop(Stop.END)}
  unreachable
}}
"""

RUN = f"""
; Let a sub-group go on until it stops.
define void @run(ptr %launch, ptr %arguments, ptr %fiber) nounwind {{
{load_members("shared")}
{load_word("stack", Field.STACK_BYTES)}
  %stop.at = getelementptr i64, ptr %fiber, i64 {Word.STOP}
  %stop = load i64, ptr %stop.at
  %is.new = icmp eq i64 %stop, {Stop.NEW.value}
  br i1 %is.new, label %prepare, label %go
prepare:
  %end = getelementptr i8, ptr %fiber, i64 %stack
  %top = getelementptr i8, ptr %end, i64 -120
{store_first()}
  store ptr %top, ptr %fiber
  br label %go
go:
  call void @switch_stack(ptr %shared, ptr %fiber)
  ret void
}}
"""
