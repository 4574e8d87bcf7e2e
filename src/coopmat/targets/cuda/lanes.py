"""The threads of NVIDIA's GPUs: a sub-group is a warp, or a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coopmat.spirv.analysis.types import EVENT_BYTES
from coopmat.spirv.grammar import Scope, StorageClass
from coopmat.targets.cuda import library
from coopmat.targets.cuda.atomics import UPDATES, update
from coopmat.targets.cuda.chips import Chip
from coopmat.targets.cuda.copies import SHARED, AsynchronousCopies
from coopmat.targets.cuda.split_barriers import OBJECT_BYTES, SplitBarrier
from coopmat.targets.llvm.access import moved
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.lanes import GroupCopy, Numbers, Ordering
from coopmat.targets.llvm.threads.launch import LaunchBlock
from coopmat.targets.llvm.threads.threads import ThreadLanes
from coopmat.targets.llvm.values import Number

WARP = 32
MOST_PARAMETER_BYTES = 4096  # of a kernel; newer chips and drivers take more
SCOPES = {Scope.Workgroup: "block", Scope.Subgroup: "block", Scope.Invocation: "singlethread", Scope.Device: "device"}
"""LLVM's names of scopes; None: all of the system."""
IN_STORAGE = {StorageClass.Workgroup: "shared", StorageClass.Function: "local", StorageClass.Private: "local",
              StorageClass.CrossWorkgroup: "global"}


_WITHIN = {Scope.Workgroup: (Scope.Workgroup, Scope.Subgroup, Scope.Invocation),
           Scope.Subgroup: (Scope.Subgroup, Scope.Invocation)}
"""The scopes within a scope."""
Pipeline = Literal["none", "copies", "loads", "loads and stores"]


@dataclass(frozen=True)
class Variant:
    """What code is made for. chip: the GPU. local_size: the work-items of a work-group. sub_group_size: 32, or part of
    a warp. nulls: the positions of arguments that are null pointers. pipeline: whether tiles of work-groups are
    fetched ahead, by copies of threads or by tensor maps, and whether results leave by these, too (work_groups/).
    cluster: the axis along which two work-groups share tiles, if they do."""

    chip: Chip
    local_size: tuple[int, int, int]
    sub_group_size: int = WARP
    nulls: tuple[int, ...] = ()
    pipeline: Pipeline = "none"
    cluster: int | None = None


class CudaLanes(ThreadLanes):
    """See :class:`~coopmat.targets.llvm.lanes.Lanes`."""

    def __init__(self, emitter: Emitter, variant: Variant) -> None:
        super().__init__(emitter, LaunchBlock(emitter.writer, 0, MOST_PARAMETER_BYTES))
        self.variant = variant
        self.size = variant.sub_group_size
        self.local_size = variant.local_size
        self.is_whole = self.total % self.size == 0
        self.copies = AsynchronousCopies(emitter)
        self._split: SplitBarrier | None = None

    # --- where a thread is ------------------------------------------------------------

    def _register(self, name: str) -> Number:
        return Number("i32", self.writer.call("i32", f"llvm.nvvm.read.ptx.sreg.{name}", []))

    def _axes(self, name: str) -> Numbers:
        return tuple(resized(self.emitter, self._register(f"{name}.{axis}"), "i64", signed=False) for axis in "xyz")

    def local_id(self) -> Numbers:
        """The position in the work-group."""
        zero = self.emitter.constant("i64", 0)
        return tuple(one if size > 1 else zero for one, size in zip(self._axes("tid"), self.local_size, strict=True))

    def hardware_group_id(self) -> Numbers:
        """The work-group's position in this part of the launch."""
        return self._axes("ctaid")

    def lane_number(self, llvm: str) -> Number:
        """The position in the sub-group: threads are counted along the axes, as work-items are."""
        lane = self._register("laneid")
        if self.size < WARP:
            lane = self.emitter.apply("and {t} {0}, {1}", "i32", lane, self.emitter.constant("i32", self.size - 1))
        return resized(self.emitter, lane, llvm, signed=False)

    # --- the warp ---------------------------------------------------------------------

    def _base(self) -> Number:
        """The first thread of a sub-group in its warp."""
        return self.emitter.apply("and {t} {0}, {1}", "i32", self._register("laneid"),
                                  self.emitter.constant("i32", -self.size))

    def here(self) -> Number:
        """The threads of the sub-group that are here: all that exist, or those that the hardware runs together."""
        emitter = self.emitter
        if self.is_uniform:
            lanes = emitter.apply("trunc {t} {0} to {r}", "i32", self.present())
            rest = emitter.apply("sub {t} {0}, {1}", "i32", emitter.constant("i32", WARP), lanes)
            return emitter.apply("lshr {t} {0}, {1}", "i32", emitter.constant("i32", -1), rest)
        return self._of_sub_group(Number("i32", self.writer.call("i32", "llvm.nvvm.activemask", [], CONVERGENT)))

    def _of_sub_group(self, bits: Number) -> Number:
        """The bits of a warp that are the sub-group's."""
        if self.size == WARP:
            return bits
        emitter = self.emitter
        moved = emitter.apply("lshr {t} {0}, {1}", "i32", bits, self._base())
        return emitter.apply("and {t} {0}, {1}", "i32", moved, emitter.constant("i32", (1 << self.size) - 1))

    def _members(self) -> str:
        """The threads of the warp that come to an instruction together, as its mask."""
        if not (self.is_uniform or self.all_are_here):
            return self.writer.call("i32", "llvm.nvvm.activemask", [], CONVERGENT)
        if self.size == WARP:
            return "-1"
        emitter = self.emitter
        return emitter.apply("shl {t} {0}, {1}", "i32", emitter.constant("i32", (1 << self.size) - 1),
                             self._base()).base

    def votes(self, predicate: Number) -> Number:
        """Who is here and has a predicate hold."""
        bits = self.writer.call("i32", "llvm.nvvm.vote.ballot.sync", [
            ("i32", self._members()), ("i1", predicate.base)], CONVERGENT)
        return self._of_sub_group(Number("i32", bits))

    def word_of(self, word: str, lane: str) -> str:
        """The word of another thread of the sub-group."""
        limit = WARP - self.size << 8 | WARP - 1
        return self.writer.call("i32", "llvm.nvvm.shfl.sync.idx.i32", [
            ("i32", self._members()), ("i32", word), ("i32", lane), ("i32", str(limit))], CONVERGENT)

    # --- barriers and fences ----------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        """Wait for all work-items of the work-group or the sub-group."""
        if scope == Scope.Workgroup and self.total > WARP:
            self.writer.call("void", "llvm.nvvm.barrier.cta.sync.aligned.all", [("i32", "0")], CONVERGENT)
        elif self.total > 1:
            members = "-1" if self.size == WARP or scope == Scope.Workgroup else self._members()
            self.writer.call("void", "llvm.nvvm.bar.warp.sync", [("i32", members)], CONVERGENT)

    def arrive(self, scope: Scope) -> None:
        """Say that a thread is there, where the chip has barriers in memory."""
        if self._splits(scope):
            self._split_barrier().arrive()

    def wait_for_arrivals(self, scope: Scope) -> None:
        """Wait for those that have not arrived."""
        if self._splits(scope):
            self._split_barrier().wait()
        else:
            self.barrier(scope)

    def _splits(self, scope: Scope) -> bool:
        """Whether the halves of a barrier are of its own kind."""
        return scope == Scope.Workgroup and self.variant.chip.has(80) and self.total > WARP

    def _split_barrier(self) -> SplitBarrier:
        if self._split is None:
            address = self.local(OBJECT_BYTES)
            with self.emitter.writer.in_entry():
                thread = resized(self.emitter, self.position(), "i32", signed=False)
            self._split = SplitBarrier(self.emitter, address, self.total, thread)
        return self._split

    def barriers_order(self, scope: Scope, memory: int | None) -> bool:
        """The hardware's barriers order what their threads access, for these."""
        return memory in _WITHIN[scope]

    def scope_name(self, scope: Scope) -> str | None:
        """LLVM's names."""
        return SCOPES.get(scope)

    def updated(self, name: str, address: str, number: Number, ordering: Ordering) -> str:
        """``atomicrmw``, of which LLVM forgets order and scope where PTX has an instruction."""
        scope = self.name_of(ordering)
        if number.type not in UPDATES.get(name, {}) or (ordering.order == "monotonic" and scope is not None):
            return super().updated(name, address, number, ordering)
        if ordering.order == "seq_cst":
            self.fence(ordering.scope, "seq_cst")
        return update(self.writer, name, address, number, ordering.order, scope)

    # --- copies -----------------------------------------------------------------------

    def copy_together(self, copy: GroupCopy) -> Number:
        """Begin a thread's part of a copy: asynchronously to local memory, where the chip has cp.async."""
        if not (copy.fills_local and self.variant.chip.has(80)):
            return super().copy_together(copy)
        return self.copies.begin(copy, self.position().base, self.total)

    def wait_for(self, count: Number, events: Number) -> None:
        """Wait for copies, and for the threads that copy."""
        if self.variant.chip.has(80):
            self.copies.wait_for(count, lambda place: self.load(moved(self.emitter, events, EVENT_BYTES * place), "i64",
                                                                EVENT_BYTES))
        self.barrier(Scope.Workgroup)

    # --- memory -----------------------------------------------------------------------

    def local(self, nbytes: int) -> str:
        """So many bytes of shared memory."""
        return self.local_at(str(self.block.local(nbytes)))

    def local_at(self, offset: str) -> str:
        """The generic address of a place in shared memory."""
        place, text = self.writer.fresh("place"), self.writer.fresh("local")
        self.writer.entry += [
            f"  {place} = getelementptr i8, ptr addrspace({SHARED}) @{LOCAL_MEMORY}, i64 {offset}",
            f"  {text} = addrspacecast ptr addrspace({SHARED}) {place} to ptr"]
        return text

    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        """Whether a generic pointer leads to a storage class."""
        name = IN_STORAGE[StorageClass(storage)]
        return Number("i1", self.writer.call("i1", f"llvm.nvvm.isspacep.{name}", [("ptr", pointer.base)]))

    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        """A hint, which is not followed: threads wait for memory while others run."""

    # --- what the machine gives -------------------------------------------------------

    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        """A function of C's mathematical library: libdevice has it."""
        return library.call(self.writer, name, numbers)

    def dot_bytes(self, a: Numbers, b: Numbers, signs: tuple[bool, bool]) -> Number | None:
        """The dot product of words of four bytes."""
        name = f"llvm.nvvm.idp4a.{'.'.join('s' if signed else 'u' for signed in signs)}"
        total = "0"
        for x, y in zip(a, b, strict=True):
            total = self.writer.call("i32", name, [("i32", x.base), ("i32", y.base), ("i32", total)])
        return Number("i32", total)


CONVERGENT = "convergent nounwind"
LOCAL_MEMORY = "local_memory"
"""The module's array of shared memory, whose size the launch says."""
