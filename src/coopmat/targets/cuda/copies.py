"""Asynchronous copies to local memory: cp.async, in groups that are done in their order (PTX ISA, cp.async).

An event is the number of the group, counted by every thread alike; waiting for it is waiting until no more groups are
under way than were begun after it.
"""

from __future__ import annotations

from collections.abc import Callable

from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import GroupCopy
from coopmat.targets.llvm.threads.copies import WIDTHS, copy_by_threads
from coopmat.targets.llvm.values import Number

SHARED, GLOBAL = 3, 1  # LLVM's address spaces
CACHED = {16: "cg", 4: "ca"}
"""In which caches chunks are kept on their way: 16 bytes pass by the first level."""
MOST_UNDER_WAY = 7  # groups for which code waits exactly; where there are more, it waits until there are so many
MOST_EVENTS = 8  # of a list that is read; of a longer one, all copies are waited for

WAIT = """
; Wait until at most %most groups are under way.
define internal void @wait_for_copies(i64 %most) alwaysinline nounwind {{
entry:
  switch i64 %most, label %all [ {cases} ]
all:
  %is.many = icmp sgt i64 %most, {last}
  br i1 %is.many, label %at.{last}, label %at.0
{blocks}
done:
  ret void
}}
"""


def _waiting() -> str:
    numbers = range(MOST_UNDER_WAY + 1)
    blocks = "".join(f"at.{number}:\n  call void @llvm.nvvm.cp.async.wait.group(i32 {number})\n  br label %done\n"
                     for number in numbers)
    return WAIT.format(cases=" ".join(f"i64 {number}, label %at.{number}" for number in numbers), blocks=blocks,
                       last=MOST_UNDER_WAY)


def moved_asynchronously(width: int) -> str:
    """A chunk that goes to local memory while the thread goes on."""
    return (f"%to.shared.{width} = addrspacecast ptr %to.at.{width} to ptr addrspace({SHARED})\n"
            f"  %from.global.{width} = addrspacecast ptr %from.at.{width} to ptr addrspace({GLOBAL})\n"
            f"  call void @{_intrinsic(width)}(ptr addrspace({SHARED}) %to.shared.{width}, "
            f"ptr addrspace({GLOBAL}) %from.global.{width})")


def _intrinsic(width: int) -> str:
    return f"llvm.nvvm.cp.async.{CACHED[width]}.shared.global.{width}"


class AsynchronousCopies:
    """The copies of a thread. The barrier that makes them visible to others is not here."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.writer = emitter.writer
        self._begun: str | None = None

    def begin(self, copy: GroupCopy, thread: str, threads: int) -> Number:
        """Begin a copy to local memory; its event."""
        writer = self.writer
        for width in WIDTHS:
            name = _intrinsic(width)
            writer.declarations[name] = f"declare void @{name}(ptr addrspace({SHARED}), ptr addrspace({GLOBAL}))"
        copy_by_threads(writer, copy, thread, threads, "copy_asynchronously", moved_asynchronously)
        writer.call("void", "llvm.nvvm.cp.async.commit.group", [])
        number = writer.let(f"add i64 {writer.let(f'load i64, ptr {self._count()}')}, 1")
        writer.do(f"store i64 {number}, ptr {self._count()}")
        return Number("i64", number)

    def wait_for(self, count: Number, event: Callable[[int], Number]) -> None:
        """Wait for so many events, each of which ``event`` reads."""
        writer = self.writer
        writer.declarations["llvm.nvvm.cp.async.wait.group"] = "declare void @llvm.nvvm.cp.async.wait.group(i32)"
        writer.helper("wait_for_copies", _waiting())
        most = "0"
        if count.base.isdigit() and int(count.base) <= MOST_EVENTS:
            last = "0"
            for place in range(int(count.base)):
                last = writer.call("i64", "llvm.umax.i64", [("i64", last), ("i64", event(place).base)])
            most = writer.let(f"sub i64 {writer.let(f'load i64, ptr {self._count()}')}, {last}")
        writer.call("void", "wait_for_copies", [("i64", most)])

    def _count(self) -> str:
        """Where a thread counts the groups that it has begun."""
        if self._begun is None:
            self._begun = self.writer.slot("i64", align=8, initial="0")
        return self._begun
