"""Split barriers of a work-group by a barrier object in shared memory (PTX ISA, mbarrier)."""

from __future__ import annotations

from coopmat.targets.cuda.copies import SHARED
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Number

OBJECT_BYTES = 8
INITIALISE = ("{ .reg .pred %is_first; setp.eq.u32 %is_first, $2, 0; "
              "@%is_first mbarrier.init.shared.b64 [$0], $1; }")
WAIT = f"""
; Wait until the phase in which %state was given has ended.
define internal void @wait_for_phase(ptr addrspace({SHARED}) %object, i64 %state) alwaysinline nounwind {{
entry:
  br label %again
again:
  %is.done = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace({SHARED}) %object, i64 %state)
  br i1 %is.done, label %done, label %again
done:
  ret void
}}
"""


class SplitBarrier:
    """The object of a work-group, whose phases follow each other: all arrive, and the next one begins."""

    def __init__(self, emitter: Emitter, address: str, threads: int, thread: Number) -> None:
        """``address``: generic, of 8 bytes in shared memory. Written into the entry block, where all threads are;
        ``thread``: a number there, 0 in one of them, an i32."""
        self.writer = writer = emitter.writer
        with writer.in_entry():
            self._object = writer.let(f"addrspacecast ptr {address} to ptr addrspace({SHARED})")
            writer.do(f'call void asm sideeffect "{INITIALISE}", "r,r,r,~{{memory}}"(ptr addrspace({SHARED}) '
                      f"{self._object}, i32 {threads}, i32 {thread.base})")
            writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")], "convergent nounwind")
        self._state = writer.slot("i64", align=8, initial="0")

    def arrive(self) -> None:
        """Say that a thread is there; its accesses before are done for who waits."""
        state = self.writer.call("i64", "llvm.nvvm.mbarrier.arrive.shared", [(f"ptr addrspace({SHARED})",
                                                                            self._object)])
        self.writer.do(f"store i64 {state}, ptr {self._state}")

    def wait(self) -> None:
        """Wait until all threads have arrived as often as this one."""
        self.writer.declarations["llvm.nvvm.mbarrier.test.wait.shared"] = (
            f"declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace({SHARED}), i64)")
        self.writer.helper("wait_for_phase", WAIT)
        state = self.writer.let(f"load i64, ptr {self._state}")
        self.writer.call("void", "wait_for_phase", [(f"ptr addrspace({SHARED})", self._object), ("i64", state)])
