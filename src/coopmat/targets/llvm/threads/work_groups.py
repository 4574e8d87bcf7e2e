"""What the threads of a work-group give each other, by way of local memory."""

from __future__ import annotations

from abc import abstractmethod

from coopmat.spirv.grammar import GroupOperation, Scope
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.lanes import GroupCopy, Numbers
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.threads.copies import copy_by_threads
from coopmat.targets.llvm.threads.memory import store_bytes
from coopmat.targets.llvm.threads.sub_groups import SubGroups
from coopmat.targets.llvm.values import Number


class WorkGroups(SubGroups):
    """Does what a work-group does together. local_size: its work-items, along each axis."""

    local_size: tuple[int, int, int]

    @abstractmethod
    def barrier(self, scope: Scope) -> None:
        """Wait for all work-items of the work-group or the sub-group."""

    def arrive(self, scope: Scope) -> None:
        """Nothing: who waits, waits for all to come there, and so for more than it must."""

    def wait_for_arrivals(self, scope: Scope) -> None:
        """Wait for all."""
        self.barrier(scope)

    def barriers_order(self, scope: Scope, memory: int | None) -> bool:
        """Whether barriers keep accesses in order; not where nothing else is known."""
        return False

    @abstractmethod
    def local(self, nbytes: int) -> str:
        """So many bytes of the work-group's local memory; the address."""

    @abstractmethod
    def position(self) -> Number:
        """A work-item's position in its work-group, an i64."""

    @property
    def total(self) -> int:
        """Work-items of a work-group."""
        x, y, z = self.local_size
        return x * y * z

    def scan_work_group(self, operation: int, folding: Folding, numbers: Numbers) -> Numbers:
        """A reduction or a scan of all work-items of the work-group."""
        return tuple(self._scanned(operation, folding, number) for number in numbers)

    def _scanned(self, operation: int, folding: Folding, number: Number) -> Number:
        """Each sub-group scans its own numbers; then all add what the sub-groups before have."""
        emitter, writer, llvm = self.emitter, self.writer, folding.llvm
        own = self.scan(operation, folding, number)
        if self.total <= self.size:
            return own
        whole = own if operation == GroupOperation.Reduce else self.scan(GroupOperation.Reduce, folding, number)
        groups, nbytes = -(-self.total // self.size), store_bytes(llvm)
        memory = self.local(groups * nbytes)
        group = writer.let(f"udiv i64 {self.position().base}, {self.size}")
        self._leave(writer.line(memory, group, nbytes), whole)
        self.barrier(Scope.Workgroup)
        result = folding.neutral
        for place in range(groups):
            one = self._left(writer.line(memory, place, nbytes), llvm)
            both = folding.both(result, one)
            if operation != GroupOperation.Reduce:
                both = emitter.select(Number("i1", writer.let(f"icmp ult i64 {place}, {group}")), both, result)
            result = both
        self.barrier(Scope.Workgroup)  # before the memory is written again
        return result if operation == GroupOperation.Reduce else folding.both(result, own)

    def _leave(self, address: str, number: Number) -> None:
        """Put a number into memory."""
        kept = self.emitter.apply("zext {t} {0} to {r}", "i8", number) if number.type == "i1" else number
        self.writer.do(f"store {kept.type} {kept.base}, ptr {address}")

    def _left(self, address: str, llvm: str) -> Number:
        """A number in memory."""
        kind = "i8" if llvm == "i1" else llvm
        found = Number(kind, self.writer.let(f"load {kind}, ptr {address}"))
        return self.emitter.apply("trunc {t} {0} to {r}", "i1", found) if llvm == "i1" else found

    def broadcast_work_group(self, numbers: Numbers, local_id: Numbers) -> Numbers:
        """The numbers of one work-item of the work-group, for all."""
        emitter, writer, chosen = self.emitter, self.writer, Number("i64", "0")
        for axis in reversed(range(len(local_id))):
            wide = resized(emitter, local_id[axis], "i64", signed=False)
            scaled = emitter.apply("mul {t} {0}, {1}", "i64", chosen, emitter.constant("i64", self.local_size[axis]))
            chosen = emitter.apply("add {t} {0}, {1}", "i64", scaled, wide)
        places = [self.local(store_bytes(number.type)) for number in numbers]

        def leave() -> None:
            for number, place in zip(numbers, places, strict=True):
                self._leave(place, number)

        writer.when(writer.let(f"icmp eq i64 {chosen.base}, {self.position().base}"), leave)
        self.barrier(Scope.Workgroup)
        found = tuple(self._left(place, number.type) for number, place in zip(numbers, places, strict=True))
        self.barrier(Scope.Workgroup)
        return found

    def copy_together(self, copy: GroupCopy) -> Number:
        """Copy a thread's part, at once; an event has nothing to say."""
        copy_by_threads(self.writer, copy, self.position().base, self.total)
        return self.emitter.constant("i64", 1)

    def wait_for(self, count: Number, events: Number) -> None:
        """Wait for the threads that copy."""
        self.barrier(Scope.Workgroup)
