"""The execution model: how the work-items of a sub-group run, and all that follows from it.

On a CPU a sub-group is a vector, and a number that varies is one of so many lanes; on a GPU a work-item is a thread,
and every number is one. Everything else of the compiler is the same for all machines and asks these methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coopmat.spirv.grammar import BuiltIn, Scope
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.reductions import Folding
from coopmat.targets.llvm.values import Number

Numbers = tuple[Number, ...]


@dataclass(frozen=True)
class Source:
    """Which work-item of the sub-group a shuffle takes a number from.

    of: from the own lane and the operand the lane, for operands that are known when code is made. written: the same as
    instructions on i32; None: the operand is the lane. wraps: of the operand its low 32 bits count; otherwise large
    ones are lanes that no sub-group has.
    """

    of: Callable[[int, int], int]
    written: Callable[[NumberWriter, Number, Number], Number] | None = None
    wraps: bool = False


@dataclass(frozen=True)
class GroupCopy:
    """A copy that a work-group makes. to, source: addresses. steps: the bytes between elements of both. count: of the
    elements, an i64. size, alignment: of one, in bytes. fills_local: whether it brings them to local memory."""

    to: str
    source: str
    steps: tuple[str, str]
    count: str
    size: int
    alignment: int
    fills_local: bool


@dataclass(frozen=True)
class Ordering:
    """What an atomic instruction keeps in order. order: LLVM's name. scope: SPIR-V's; None: one that is not known."""

    order: str
    scope: int | None


@dataclass(frozen=True)
class Update:
    """What an atomic instruction makes of a number in memory.

    name: LLVM's operation of ``atomicrmw``. reduction: what makes one operand of those of all work-items, where they
    may be combined in any order. neutral: what does not change a number of so many bits then.
    """

    name: str
    reduction: str = ""
    neutral: Callable[[int], int] = lambda bits: 0


class Lanes(Protocol):
    """How work-items run. Where it says "here", work-items that wait elsewhere, or do not exist, are not meant.

    Addresses are generic pointers: ``ptr`` in LLVM's address space 0.
    """

    most_aligned: int
    """Up to how many bytes memory is aligned as the types of values say; 0: not beyond a number's own size, as arrays
    of the host are not aligned to what vectors need."""

    # --- control flow: blocks are numbers; those behind the kernel's own are latches that the layout adds -------------

    @property
    def order(self) -> Sequence[int]:
        """The blocks and latches in the order of the code; what is defined before it is used comes first."""

    def dominates(self, defining: int, using: int) -> bool:
        """Whether the code of one block always runs before that of another, so that its values are there."""

    def begin(self) -> None:
        """Write what comes before the first block."""

    def enter(self, block: int) -> None:
        """Begin a block."""

    def leave_latch(self) -> None:
        """From an added latch to the head of its loop."""

    def finish(self) -> None:
        """Behind the last block: where the kernel returns."""

    def jump(self, label: int) -> None:
        """Go to a block, by its id."""

    def branch(self, condition: Number, then: int, otherwise: int) -> None:
        """Go to one of two blocks."""

    def switch(self, value: Number, default: int, cases: Mapping[int, int]) -> None:
        """Go to the block of the case (literal → block) that a value is, or to the default one."""

    def end(self) -> None:
        """Return from the kernel."""

    # --- slots: numbers that cross blocks, or that variables hold -----------------------------------------------------

    def load_slot(self, key: Any, llvm: str) -> Number:
        """What a slot holds; zero before anything is stored."""

    def store_slot(self, key: Any, number: Number, *, everywhere: bool = False) -> None:
        """Keep a number, of the work-items that are here or of all."""

    def load_element(self, key: Any, count: int, llvm: str, index: Number) -> Number:
        """A number of an array in slots, of ``count`` numbers; the index is an i64 in range."""

    def store_element(self, key: Any, count: int, index: Number, number: Number) -> None:
        """Replace a number of an array in slots."""

    def clear_elements(self, key: Any, count: int, llvm: str) -> None:
        """Set an array in slots to zero; a work-item that is not here has no use for it yet."""

    # --- memory -------------------------------------------------------------------------------------------------------

    def load(self, pointer: Number, llvm: str, alignment: int, *, volatile: bool = False) -> Number:
        """A number of each work-item that is here."""

    def store(self, pointer: Number, number: Number, alignment: int, *, volatile: bool = False) -> None:
        """Write a number of each work-item that is here; of several at one place, the last one's."""

    def copy_bytes(self, target: Number, source: Number, count: Number) -> None:
        """Copy so many bytes, an i64, for each work-item that is here."""

    def private(self, nbytes: int) -> tuple[Number, int]:
        """Memory of each work-item: the pointer, and the bytes from the first one's on that all have together."""

    def local(self, nbytes: int) -> str:
        """So many bytes of the work-group's local memory; the address, of which the last six bits are zero."""

    def variable(self, identifier: int) -> str:
        """The address of a variable of the module in global or constant memory."""

    def is_in_storage(self, pointer: Number, storage: int) -> Number:
        """Whether a generic pointer leads to a storage class."""

    def beside(self, address: str, nbytes: int) -> Number:
        """Pointers of neighbouring work-items so many bytes apart, the first one's at an address."""

    def prefetch(self, pointer: Number, count: Number, nbytes: int) -> None:
        """Ask for so many elements (an i64) of ``nbytes`` bytes at each work-item's pointer; never a fault."""

    # --- work-items one by one, and what they have in common ----------------------------------------------------------

    def each(self, name: str, operands: Sequence[Number], result: str | None,
             body: Callable[..., str | None]) -> Number:
        """Do something for each work-item that is here, in their order.

        name: of the code; all uses of a name must have operands of the same types and the same body. body: writes the
        code for one work-item, given its operands, and returns the operand of what it gives, of type ``result`` (None:
        nothing, and the number that comes back means nothing).
        """

    def each_value(self, number: Number, body: Callable[[Number], None]) -> None:
        """Do something once for each value that a number has among the work-items that are here; only those with the
        value are here meanwhile."""

    def by_value(self, number: Number, llvm: str, body: Callable[[Number], Number]) -> Number:
        """As ``each_value``, for what ``body`` gives."""

    def lane_number(self, llvm: str) -> Number:
        """Each work-item's position in its sub-group."""

    def first(self, *numbers: Number) -> list[str]:
        """The operands of numbers that all work-items must have alike: those of the first that is here."""

    def last(self, number: Number) -> str:
        """The operand of the last work-item that is here."""

    def is_joint(self, number: Number) -> bool:
        """Whether a number is known to be the same for all work-items."""

    # --- atomics ------------------------------------------------------------------------------------------------------

    def ordered(self, ordering: Ordering) -> str:
        """An ordering as LLVM's instructions have it."""

    def updated(self, name: str, address: str, number: Number, ordering: Ordering) -> str:
        """``atomicrmw`` by its operation's name: the number that was there."""

    def update_together(self, update: Update, pointer: Number, number: Number, ordering: Ordering, *,
                        is_used: bool) -> Number | None:
        """One update of memory for all work-items that are here, and what each has found there (nothing that counts,
        if it is not used); None if there is no better way than one after the other."""

    # --- groups -------------------------------------------------------------------------------------------------------

    def barrier(self, scope: Scope) -> None:
        """Wait for all work-items of the work-group or the sub-group."""

    def arrive(self, scope: Scope) -> None:
        """The first half of a barrier: let the others know."""

    def wait_for_arrivals(self, scope: Scope) -> None:
        """The second half: wait until all have arrived."""

    def barriers_order(self, scope: Scope, memory: int | None) -> bool:
        """Whether a barrier of a scope, or both halves of one, keeps accesses in order for another one, too."""

    def fence(self, scope: int | None, order: str) -> None:
        """Keep accesses in order for a scope (None: one that is not known)."""

    def elect(self) -> Number:
        """Whether a work-item is the first that is here."""

    def all(self, predicate: Number) -> Number:
        """Whether a predicate holds for all that are here."""

    def any(self, predicate: Number) -> Number:
        """Whether a predicate holds for one that is here."""

    def ballot(self, predicate: Number) -> Number:
        """Who is here and has a predicate hold: an integer with a bit for each work-item of a sub-group."""

    def own_bit(self, bits: Number) -> Number:
        """Of an integer that all have alike the bit of each work-item."""

    def bits_before(self, llvm: str, *, own: bool) -> Number:
        """An integer with a bit for each work-item before one, and for itself."""

    def shuffle(self, numbers: Numbers, operand: Number, source: Source) -> Numbers:
        """The numbers of another work-item; zero where that is not here."""

    def shuffle_two(self, ones: Numbers, twos: Numbers, delta: Number, *, down: bool) -> Numbers:
        """As ``shuffle``, of two numbers of each work-item, of which the second ones lie behind the first ones: the one
        ``delta`` further, counted from the first ones (``down``), or before, counted from the second ones."""

    def broadcast_first(self, numbers: Numbers) -> Numbers:
        """The numbers of the first work-item that is here, for all."""

    def broadcast(self, numbers: Numbers, lane: Number) -> Numbers:
        """The numbers of one work-item for all; that there is one is the program's duty."""

    def scan(self, operation: int, folding: Folding, number: Number) -> Number:
        """A reduction or a scan of the sub-group's work-items that are here."""

    def clustered(self, folding: Folding, number: Number, size: int) -> Number:
        """The reduction of every ``size`` neighbouring work-items, for each of them."""

    def scan_work_group(self, operation: int, folding: Folding, numbers: Numbers) -> Numbers:
        """A reduction or a scan of all work-items of the work-group."""

    def broadcast_work_group(self, numbers: Numbers, local_id: Numbers) -> Numbers:
        """The numbers of one work-item of the work-group, for all."""

    def copy_together(self, copy: GroupCopy) -> Number:
        """Have the work-group begin a copy; its event, an i64 that is not 0, is that of the copies before it, too."""

    def wait_for(self, count: Number, events: Number) -> None:
        """Wait until the copies of so many events are done, which lie in memory, for all of the work-group."""

    # --- what the machine gives ---------------------------------------------------------------------------------------

    def input(self, builtin: BuiltIn) -> Numbers | None:
        """The numbers of a built-in variable, of any integer type; None if there is none."""

    def output(self) -> str:
        """The address of the launch's buffer for printf, an i64."""

    def call_library(self, name: str, numbers: Sequence[Number]) -> Number:
        """A function of C's mathematical library, by its name there, of numbers of its types; it gives a double."""

    def dot_bytes(self, a: Numbers, b: Numbers, signs: tuple[bool, bool]) -> Number | None:
        """The dot product of words of four bytes, with or without signs; None if the machine has no instruction."""
