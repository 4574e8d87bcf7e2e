"""Votes and ballots of a sub-group, barriers, and what the sub-groups of a work-group give each other.

The sub-groups of a work-group run on one thread; each runs until it comes to a barrier (host/fibers.py). Two things
follow. Between two barriers they run in their order, so that what one leaves in local memory is there for the next one:
sums over a work-group are made like that (where the order is random, behind a barrier of their own). And memory is in
order without fences, except for other work-groups.
"""

from __future__ import annotations

from coopmat.spirv.grammar import GroupOperation, Scope
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.copies import copy_elements
from coopmat.targets.cpu.lanes.scans import Scans
from coopmat.targets.llvm.arithmetic.integers import add, multiply, resized, subtract
from coopmat.targets.llvm.lanes import GroupCopy, Numbers, Ordering, Update
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.values import Number, bits_of

NARROW_SCOPES = (Scope.Workgroup, Scope.Subgroup, Scope.Invocation)  # on one thread
LEAF_BYTES = 8
MOST_SHARED = 16  # numbers that a group instruction has: the components of a vector


class Groups(Scans):
    """Does what a group does together.

    waits: whether sub-groups wait for each other.
    """

    waits = False
    _shared: str | None = None

    # --- the sub-group ----------------------------------------------------------------

    def elect(self) -> Number:
        """Whether a work-item is the first that is here."""
        lanes = Number("i32", lanes=self.emitter.lanes(self.emitter.lane_number()))
        return self.emitter.apply("icmp eq {t} {0}, {1}", "i1", lanes, Number("i32", self.first_lane()))

    def all(self, predicate: Number) -> Number:
        """Whether a predicate holds for all that are here."""
        if predicate.is_single:
            return predicate
        here = self.present(predicate, self.emitter.constant("i1", True))
        return Number("i1", self.writer.let(f"icmp eq i{self.size} {self.mask_bits(self.emitter.lanes(here))}, -1"))

    def any(self, predicate: Number) -> Number:
        """Whether a predicate holds for one that is here."""
        if predicate.is_single:
            return predicate
        here = self.present(predicate, self.emitter.constant("i1", False))
        return Number("i1", self.any_of(self.emitter.lanes(here)))

    def ballot(self, predicate: Number) -> Number:
        """Who is here and has a predicate hold."""
        here = self.present(predicate, self.emitter.constant("i1", False))
        return Number(f"i{self.size}", self.mask_bits(self.emitter.lanes(here)))

    def own_bit(self, bits: Number) -> Number:
        """Of an integer that all have alike the bit of each work-item."""
        return self.emitter.varying("i1", self.writer.let(f"bitcast {bits.type} {bits.base} to {self.mask_type}"))

    def bits_before(self, llvm: str, *, own: bool) -> Number:
        """An integer with a bit for each work-item before one, and for itself."""
        masks = ", ".join(f"{llvm} {(1 << lane + own) - 1 - (lane + own == 64 and 1 << 64)}"
                          for lane in range(self.size))
        return self.emitter.varying(llvm, f"<{masks}>")

    # --- atomics ----------------------------------------------------------------------

    def ordered(self, ordering: Ordering) -> str:
        """For all threads: processors have no scopes."""
        return ordering.order

    def updated(self, name: str, address: str, number: Number, ordering: Ordering) -> str:
        """``atomicrmw``."""
        return self.writer.let(f"atomicrmw {name} ptr {address}, {number.type} {number.base} {ordering.order}")

    def update_together(self, update: Update, pointer: Number, number: Number, ordering: Ordering, *,
                        is_used: bool) -> Number | None:
        """One update of memory for all work-items, where all change one number: if nobody asks what each has found
        there, or if that can be told from what the first one has found."""
        if not pointer.is_single or not update.reduction:
            return None
        if not is_used:
            return self._all_at_once(update, pointer, number, ordering)
        can_count = update.reduction == "add" and number.is_single
        return self._counted(update, pointer, number, ordering) if can_count else None

    def _all_at_once(self, update: Update, pointer: Number, number: Number, ordering: Ordering) -> Number:
        """One update with what all operands make together; the result is not used."""
        emitter, llvm, vector = self.emitter, number.type, self.emitter.vector(number.type)
        lanes = emitter.lanes(number)
        if self.mask is not None:
            neutral = emitter.splat(llvm, emitter.constant(llvm, update.neutral(bits_of(llvm))).base)
            lanes = self.writer.let(f"select {self.mask_type} {self.mask}, {vector} {lanes}, {vector} {neutral}")
        total = self.writer.call(llvm, f"llvm.vector.reduce.{update.reduction}.v{self.size}{llvm}", [(vector, lanes)])
        return Number(llvm, self.updated(update.name, pointer.base, Number(llvm, total), ordering))

    def _counted(self, update: Update, pointer: Number, number: Number, ordering: Ordering) -> Number:
        """One sum of the same operand for all: each work-item finds what those before it have made of the number."""
        emitter, llvm = self.emitter, number.type
        if self.mask is None:
            count, rank = emitter.constant(llvm, self.size), Number(llvm, "0", 1)
        else:
            own, bits = f"i{self.size}", Number(f"i{self.size}", self.mask_bits())
            before = emitter.varying(own, "<" + ", ".join(
                f"{own} {emitter.constant(own, (1 << lane) - 1).base}" for lane in range(self.size)) + ">")
            earlier = emitter.apply("and {t} {0}, {1}", own, bits, before)
            count, rank = (resized(emitter, emitter.intrinsic("ctpop", own, one), llvm, signed=False)
                           for one in (bits, earlier))
        total = multiply(emitter, count, number)
        old = Number(llvm, self.updated(update.name, pointer.base, total, ordering))
        change = multiply(emitter, rank, number)
        return add(emitter, old, change) if update.name == "add" else subtract(emitter, old, change)

    # --- the work-group ---------------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        """Wait for the other sub-groups of the work-group; the work-items of a sub-group do everything together."""
        if scope != Scope.Workgroup:
            return
        self.waits = True
        self.writer.do("call void @barrier(ptr %fiber)")

    def _in_turn(self) -> None:
        """From here to the next barrier the sub-groups of the work-group go in their order."""
        self.waits = True
        if self.variant.pauses:
            self.writer.do("call void @turn(ptr %fiber)")

    def pause(self) -> None:
        """Let others go on, if they shall."""
        self.writer.do("call void @pause(ptr %fiber)")

    def arrive(self, scope: Scope) -> None:
        """Nothing: who waits, waits for all to come there, and so for more than it must."""

    wait_for_arrivals = barrier

    def barriers_order(self, scope: Scope, memory: int | None) -> bool:
        """Only for those on one thread, which need no fences."""
        return False

    def fence(self, scope: int | None, order: str) -> None:
        """Keep accesses in order for other threads, which other work-groups may run on."""
        if scope not in NARROW_SCOPES:
            self.writer.do(f"fence {order}")

    def scan_work_group(self, operation: int, folding: Folding, numbers: Numbers) -> Numbers:
        """A reduction or a scan of all work-items of the work-group."""
        self._shared_base()
        self._in_turn()
        if operation == GroupOperation.Reduce:
            for place, number in enumerate(numbers):
                self._put(place, self.total(folding, number, self._so_far(place, folding)))
            return self._agreed([folding.llvm] * len(numbers))
        found = tuple(self._work_group_scan(place, operation, folding, number) for place, number in enumerate(numbers))
        self.barrier(Scope.Workgroup)
        return found

    def _work_group_scan(self, place: int, operation: int, folding: Folding, number: Number) -> Number:
        before = self._so_far(place, folding)
        prefixes = self.prefixes(folding, number, before)
        self._put(place, Number(folding.llvm, self.lane_of(prefixes, str(self.size - 1))))
        if operation == GroupOperation.InclusiveScan:
            return prefixes
        return self.before(prefixes, self.emitter.select(self._is_first_sub_group(), folding.identity, before))

    def _so_far(self, place: int, folding: Folding) -> Number:
        """The reduction of the sub-groups before this one."""
        return self.emitter.select(self._is_first_sub_group(), folding.neutral, self._get(place, folding.llvm))

    def _is_first_sub_group(self) -> Number:
        return Number("i1", self.writer.let("icmp eq i64 %sg, 0"))

    def broadcast_work_group(self, numbers: Numbers, local_id: Numbers) -> Numbers:
        """The numbers of one work-item of the work-group, for all."""
        member, writer = self._linear(local_id), self.writer
        is_own = writer.let(f"icmp eq i64 {writer.let(f'udiv i64 {member}, {self.size}')}, %sg")
        own, others = (writer.fresh(name)[1:] for name in ("own", "others"))
        self._shared_base()
        writer.do(f"br i1 {is_own}, label %{own}, label %{others}")
        writer.label(own)
        lane = Number("i64", writer.let(f"urem i64 {member}, {self.size}"))
        for place, number in enumerate(self.broadcast(numbers, lane)):
            self._put(place, number)
        writer.do(f"br label %{others}")
        writer.label(others)
        return self._agreed([number.type for number in numbers])

    def _linear(self, local_id: Numbers) -> str:
        """A local id as the position in the work-group."""
        emitter, first = self.emitter, self.first_lane()
        parts = [resized(emitter, Number(part.type, self.lane_of(part, first)), "i64", signed=False)
                 for part in local_id]
        position = parts[-1]
        for axis in reversed(range(len(parts) - 1)):
            size = Number("i64", self.frame.local_size(axis))
            position = add(emitter, multiply(emitter, position, size), parts[axis])
        return position.base

    # --- copies -----------------------------------------------------------------------

    def copy_together(self, copy: GroupCopy) -> Number:
        """Copy the sub-group's share, at once; an event has nothing to say."""
        copy_elements(self.writer, copy, *self._share(copy.count))
        return self.emitter.constant("i64", 1)

    def wait_for(self, count: Number, events: Number) -> None:
        """Wait for the sub-groups that copy."""
        self.barrier(Scope.Workgroup)

    def _share(self, count: str) -> tuple[str, str]:
        """The elements that the sub-group copies: the first one, and the one behind the last."""
        writer, sub_groups = self.writer, self.frame.field(Field.SUB_GROUPS)
        whole = writer.let(f"udiv i64 {count}, {sub_groups}")
        rest = writer.let(f"urem i64 {count}, {sub_groups}")
        ends = []
        for number in ("%sg", writer.let("add i64 %sg, 1")):
            before = writer.call("i64", "llvm.umin.i64", [("i64", number), ("i64", rest)])  # those with one piece more
            ends.append(writer.let(f"add i64 {writer.let(f'mul i64 {whole}, {number}')}, {before}"))
        return ends[0], ends[1]

    # --- what sub-groups share: one piece of local memory; each instruction ends with a barrier after its last use ----

    def _shared_base(self) -> str:
        if self._shared is None:
            self._shared = self.frame.local(MOST_SHARED * LEAF_BYTES)
        return self._shared

    def _address(self, place: int) -> str:
        return self.writer.let(f"getelementptr i8, ptr {self._shared_base()}, i64 {place * LEAF_BYTES}")

    def _put(self, place: int, number: Number) -> None:
        """Leave a uniform number for the others."""
        assert number.is_single
        self.writer.do(f"store {number.type} {number.base}, ptr {self._address(place)}, align {LEAF_BYTES}")

    def _get(self, place: int, llvm: str) -> Number:
        """What was left."""
        return Number(llvm, self.writer.let(f"load {llvm}, ptr {self._address(place)}, align {LEAF_BYTES}"))

    def _agreed(self, types: list[str]) -> Numbers:
        """What was left when all sub-groups have come, the same for each."""
        self.barrier(Scope.Workgroup)
        found = tuple(self._get(place, llvm) for place, llvm in enumerate(types))
        self.barrier(Scope.Workgroup)
        return found
