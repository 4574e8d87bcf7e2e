"""A work-item as a thread: what :class:`~coopmat.targets.llvm.lanes.Lanes` asks, but for the hardware's own part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from coopmat.spirv.grammar import Scope
from coopmat.targets.llvm.lanes import Numbers, Ordering
from coopmat.targets.llvm.threads.inputs import Inputs
from coopmat.targets.llvm.values import Number


class ThreadLanes(Inputs):
    """The lanes of a GPU; its abstract methods are what the hardware says."""

    @abstractmethod
    def scope_name(self, scope: Scope) -> str | None:
        """What LLVM calls a scope on this machine; None for all of the system."""

    def fence(self, scope: int | None, order: str) -> None:
        """Keep accesses in order for a scope."""
        self.writer.do(f"fence {self.ordered(Ordering(order, scope))}")

    def ordered(self, ordering: Ordering) -> str:
        """Of a scope that is not known, for all of the system."""
        name = self.name_of(ordering)
        return f'syncscope("{name}") {ordering.order}' if name else ordering.order

    def name_of(self, ordering: Ordering) -> str | None:
        """What LLVM calls an ordering's scope; None for all of the system."""
        return self.scope_name(Scope(ordering.scope)) if ordering.scope in set(Scope) else None

    def updated(self, name: str, address: str, number: Number, ordering: Ordering) -> str:
        """``atomicrmw``."""
        return self.writer.let(f"atomicrmw {name} ptr {address}, {number.type} {number.base} {self.ordered(ordering)}")

    @abstractmethod
    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        """Whether a generic pointer leads to a storage class."""

    @abstractmethod
    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        """Ask for so many elements (an i64) of ``nbytes`` bytes at each work-item's pointer; never a fault."""

    @abstractmethod
    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        """A function of C's mathematical library, by its name there; it gives a double."""

    @abstractmethod
    def dot_bytes(self, a: Numbers, b: Numbers, signs: tuple[bool, bool]) -> Number | None:
        """The dot product of words of four bytes, with or without signs; None if there is no instruction."""
