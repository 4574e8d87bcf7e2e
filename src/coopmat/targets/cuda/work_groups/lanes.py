"""The threads of a kernel in two roles: those that compute, and the warp that fetches tiles for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.spirv.grammar import Scope
from coopmat.targets.cuda.lanes import CONVERGENT, SHARED, WARP, CudaLanes, Variant
from coopmat.targets.cuda.work_groups.pipeline import CLUSTER
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import GroupCopy, Numbers
from coopmat.targets.llvm.values import Number, zero_of

GROUP = ("%gx", "%gy", "%gz")
"""The parameters of a role's function that are the work-group's position."""
EXISTS = "%exists"
"""The parameter that says whether there is such a work-group: of a cluster, one may be too many, which does what its
neighbour does, and stores nothing."""
COMPUTING_BARRIER = 1  # its number; 0 is all threads'


class RoleLanes(CudaLanes):
    """What both roles have in common: the position of the work-group is given, work-items are counted along x."""

    def __init__(self, emitter: Emitter, variant: Variant) -> None:
        super().__init__(emitter, variant)
        self.looping: frozenset[int] = frozenset()

    def hardware_group_id(self) -> Numbers:
        """The work-group's position in this part of the launch."""
        return tuple(Number("i64", name) for name in GROUP)

    def thread(self) -> Number:
        """The number of a thread."""
        return self._register("tid.x")

    def warp(self) -> str:
        """The number of the warp, of which the compiler knows that its threads have it alike."""
        number = self.writer.let(f"lshr i32 {self.thread().base}, {WARP.bit_length() - 1}")
        return self.writer.call("i32", "llvm.nvvm.shfl.sync.idx.i32", [
            ("i32", "-1"), ("i32", number), ("i32", "0"), ("i32", "31")], CONVERGENT)

    def local_id(self) -> Numbers:
        """The position in the work-group, from the thread's number."""
        emitter, (x, y, _) = self.emitter, self.local_size
        number = resized(emitter, self.thread(), "i64", signed=False)
        width, height = emitter.constant("i64", x), emitter.constant("i64", y)
        row = emitter.apply("udiv {t} {0}, {1}", "i64", number, width)
        return (emitter.apply("urem {t} {0}, {1}", "i64", number, width),
                emitter.apply("urem {t} {0}, {1}", "i64", row, height),
                emitter.apply("udiv {t} {0}, {1}", "i64", row, height))

    def position(self) -> Number:
        """A work-item's position in its work-group: its thread's number."""
        return resized(self.emitter, self.thread(), "i64", signed=False)

    def _splits(self, scope: Scope) -> bool:
        """The fetching warp does not arrive."""
        return False

    @property
    def cluster(self) -> int:
        """The work-groups that share tiles."""
        return 1 if self.variant.cluster is None else CLUSTER

    def rank(self) -> str:
        """The number of the work-group in its cluster."""
        return self._register("cluster.ctarank").base if self.cluster > 1 else "0"

    def shared(self, offset: str) -> str:
        """The address of a place in shared memory, in that address space; the offset is an i32."""
        return self.writer.let(
            f"getelementptr i8, ptr addrspace({SHARED}) @local_memory, i32 {offset}")


class ComputingLanes(RoleLanes):
    """The threads that compute."""

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        """Write a number, if the work-group exists."""
        self.writer.when(EXISTS, lambda: super(ComputingLanes, self).store(
            pointer, number, alignment, volatile=volatile))

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        """Copy bytes, if the work-group exists."""
        self.writer.when(EXISTS, lambda: super(ComputingLanes, self).copy_bytes(target, source, count))

    def copy_together(self, copy: GroupCopy) -> Number:
        """Begin a thread's part of a copy; to global memory if the work-group exists."""
        if copy.fills_local:
            return super().copy_together(copy)
        copy_here = super().copy_together

        def when_it_exists() -> None:
            copy_here(copy)

        self.writer.when(EXISTS, when_it_exists)
        return self.emitter.constant("i64", 1)

    def barrier(self, scope: Scope) -> None:
        """Wait for those that compute; the fetching warp goes its own way."""
        if scope != Scope.Workgroup:
            super().barrier(scope)
            return
        self.writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.count", [
            ("i32", str(COMPUTING_BARRIER)), ("i32", str(self.total))], CONVERGENT)


class FetchingLanes(RoleLanes):
    """The fetching warp: it follows the kernel, and does nothing but fetch."""

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        """Nothing."""

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        """Nothing."""

    def each(self, name: str, operands: Sequence[Number], result: str | None,
             body: Callable[..., str | None]) -> Number:
        """Nothing."""
        return Number(result or "", zero_of(result) if result else "")

    def copy_together(self, copy: GroupCopy) -> Number:
        """Nothing."""
        return self.emitter.constant("i64", 1)

    def wait_for(self, count: Number, events: Number) -> None:
        """Nothing."""

    def barrier(self, scope: Scope) -> None:
        """Nothing."""

    def fence(self, scope: int | None, order: str) -> None:
        """Nothing."""
