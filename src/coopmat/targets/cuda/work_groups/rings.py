"""The pipeline of tiles in shared memory: stages, and the barriers by which both roles tell each other about them.

A stage has two barriers (PTX, mbarrier): full, at which its bytes arrive, and empty, at which every warp group that
has read it does. The position in a ring runs on from one work-group to the next.
"""

from __future__ import annotations

from coopmat.targets.cuda.lanes import CONVERGENT, SHARED
from coopmat.targets.cuda.work_groups.lanes import RoleLanes
from coopmat.targets.cuda.work_groups.pipeline import BARRIER_BYTES, Ring

_SHARED = f"ptr addrspace({SHARED})"
CLUSTER_POINTER = "ptr addrspace(7)"
"""LLVM's type of a pointer to the shared memory of a cluster."""
STATE = "%rings"
"""The parameter of a role's function that points to the positions: for every ring its stage and the phase, each an
i32."""


class RingPosition:
    """Writes the code that goes along a ring."""

    def __init__(self, lanes: RoleLanes, ring: Ring) -> None:
        self.lanes, self.writer, self.ring = lanes, lanes.writer, ring
        self._stage_at, self._phase_at = 8 * ring.number, 8 * ring.number + 4
        self.stage = self.phase = ""

    def read(self) -> None:
        """Read the position, at the start of a turn."""
        self.stage, self.phase = (self.writer.let(f"load i32, ptr {self._address(place)}")
                                  for place in (self._stage_at, self._phase_at))

    def _address(self, place: int) -> str:
        return self.writer.let(f"getelementptr i8, ptr {STATE}, i64 {place}")

    def advance(self) -> None:
        """Go to the next stage."""
        let = self.writer.let
        following = let(f"add i32 {self.stage}, 1")
        wraps = let(f"icmp eq i32 {following}, {self.ring.stages}")
        stage = let(f"select i1 {wraps}, i32 0, i32 {following}")
        phase = let(f"xor i32 {self.phase}, {let(f'zext i1 {wraps} to i32')}")
        self.writer.do(f"store i32 {stage}, ptr {self._address(self._stage_at)}")
        self.writer.do(f"store i32 {phase}, ptr {self._address(self._phase_at)}")

    def tile(self, offset: int) -> str:
        """The place of a tile of the stage in shared memory, an i32."""
        start = self.writer.let(f"mul i32 {self.stage}, {self.ring.stage_bytes}")
        return self.writer.let(f"add i32 {start}, {self.ring.offset + offset}")

    def full(self) -> str:
        """The address of the barrier at which the stage's bytes arrive."""
        return self._barrier(0)

    def empty(self) -> str:
        """That of the one at which its readers arrive."""
        return self._barrier(self.ring.stages)

    def _barrier(self, first: int) -> str:
        place = self.writer.let(f"mul i32 {self.stage}, {BARRIER_BYTES}")
        return self.lanes.shared(self.writer.let(
            f"add i32 {place}, {self.ring.barriers + first * BARRIER_BYTES}"))

    def wait(self, barrier: str, phase: str) -> None:
        """Wait until a phase of a barrier is over."""
        writer = self.writer
        again, done = writer.fresh("wait")[1:], writer.fresh("arrived")[1:]
        writer.do(f"br label %{again}")
        writer.label(again)
        look = "try" if self.lanes.variant.chip.has(90) else "test"  # the first sleeps until it is so, for some time
        is_over = writer.call("i1", f"llvm.nvvm.mbarrier.{look}.wait.parity.scope.cta.space.cta", [
            (_SHARED, barrier), ("i32", phase)], CONVERGENT)
        writer.do(f"br i1 {is_over}, label %{done}, label %{again}")
        writer.label(done)

    def wait_until_full(self) -> None:
        """Wait for the stage's bytes."""
        self.wait(self.full(), self.phase)

    def wait_until_empty(self) -> None:
        """Wait until all have read the stage; at the first turn it is empty."""
        self.wait(self.empty(), self.writer.let(f"xor i32 {self.phase}, 1"))

    def expect(self, nbytes: int) -> None:
        """Tell the full barrier how many bytes arrive."""
        self.writer.call("i64", "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", [
            (_SHARED, self.full()), ("i32", str(nbytes))], CONVERGENT)

    def brought(self, by_themselves: str) -> None:
        """Tell the full barrier that a thread has brought its part; copies under way do once they are done, what a
        thread has stored itself (``by_themselves``, an i1) it does."""
        writer = self.writer
        stored, copied, end = (writer.fresh(name)[1:] for name in ("stored", "copied", "told"))
        full = [(_SHARED, self.full())]
        writer.do(f"br i1 {by_themselves}, label %{stored}, label %{copied}")
        writer.label(stored)
        writer.call("void", "llvm.nvvm.cp.async.wait.all", [])
        writer.call("i64", "llvm.nvvm.mbarrier.arrive.shared", full, CONVERGENT)
        writer.do(f"br label %{end}")
        writer.label(copied)
        writer.call("void", "llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", full, CONVERGENT)
        writer.do(f"br label %{end}")
        writer.label(end)

    def release(self, thread: str) -> None:
        """Tell that a warp group, or a warp, has read the stage. So many threads do as work-groups share tiles, each
        tells one; ``thread``: its number there, an i32."""
        if self.lanes.cluster == 1:
            self.writer.call("i64", "llvm.nvvm.mbarrier.arrive.shared", [(_SHARED, self.empty())], CONVERGENT)
            return
        other = self.writer.call(CLUSTER_POINTER, "llvm.nvvm.mapa.shared.cluster", [
            (_SHARED, self.empty()), ("i32", thread)], CONVERGENT)
        self.writer.call("void", "llvm.nvvm.mbarrier.arrive.scope.cta.space.cluster", [
            (CLUSTER_POINTER, other), ("i32", "1")], CONVERGENT)
