"""Barriers, and what the sub-groups of a work-group give each other.

The sub-groups of a work-group run on one thread; each runs until it comes to a barrier (fibers.py). Two things follow.
Between two barriers they run in their order, so that what one leaves in local memory is there for the next one: sums
over a work-group are made like that. And memory is in order without fences, except for other work-groups.
"""

from __future__ import annotations

from coopmat.spirv.grammar import MemorySemantics, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.analysis.group_scopes import known_barrier_scope
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Number, Value

NARROW_SCOPES = (Scope.Workgroup, Scope.Subgroup, Scope.Invocation)  # on one thread
LEAF_BYTES = 8
MOST_SHARED = 16  # numbers that a group instruction has: the components of a vector


def wait(emitter: Emitter) -> None:
    """Wait for the other sub-groups of the work-group."""
    emitter.extra["waits"] = True
    emitter.writer.do("call void @barrier(ptr %fiber)")


def _barrier(emitter: Emitter, row: Instruction) -> None:
    """OpControlBarrier. The work-items of a sub-group do everything together: they need not wait."""
    scope = known_barrier_scope(emitter.constant_of(row.words[0]), row.name)
    _fence(emitter, *row.words[1:3])
    if scope == Scope.Workgroup:
        wait(emitter)


def _arrive(emitter: Emitter, row: Instruction) -> None:
    """The first half of a split barrier; the second one waits for all to arrive there, and so for more than it must."""
    known_barrier_scope(emitter.constant_of(row.words[0]), row.name)
    _fence(emitter, *row.words[1:3])


def _memory_barrier(emitter: Emitter, row: Instruction) -> None:
    _fence(emitter, *row.words[:2])


def _fence(emitter: Emitter, scope: int, semantics: int) -> None:
    """Keep accesses in order for other threads, which other work-groups may run on."""
    found = emitter.constant_of(semantics)
    order = _order(found) if found is not None else "seq_cst"
    if order is not None and emitter.constant_of(scope) not in NARROW_SCOPES:
        emitter.writer.do(f"fence {order}")


def _order(semantics: int) -> str | None:
    if semantics & MemorySemantics.SequentiallyConsistent:
        return "seq_cst"
    if semantics & MemorySemantics.AcquireRelease:
        return "acq_rel"
    acquires, releases = semantics & MemorySemantics.Acquire, semantics & MemorySemantics.Release
    if acquires and releases:
        return "acq_rel"
    return "acquire" if acquires else "release" if releases else None


# --------------------------------------------------------------------------------------
# What sub-groups share
# --------------------------------------------------------------------------------------


class Shared:
    """Local memory for the numbers of a group instruction.

    It is one for all instructions of a kernel: each ends with a barrier after the last use.
    """

    def __init__(self, emitter: Emitter) -> None:
        if "shared numbers" not in emitter.extra:
            emitter.extra["shared numbers"] = emitter.extra["reserve local"](MOST_SHARED * LEAF_BYTES)
        self.emitter = emitter
        self.base: str = emitter.extra["shared numbers"]

    def _address(self, place: int) -> str:
        return self.emitter.writer.let(f"getelementptr i8, ptr {self.base}, i64 {place * LEAF_BYTES}")

    def put(self, place: int, number: Number) -> None:
        """Leave a uniform number for the others."""
        assert number.is_uniform
        self.emitter.writer.do(f"store {number.type} {number.base}, ptr {self._address(place)}, align {LEAF_BYTES}")

    def get(self, place: int, llvm: str) -> Number:
        """What was left."""
        return Number(llvm, self.emitter.writer.let(f"load {llvm}, ptr {self._address(place)}, align {LEAF_BYTES}"))

    def agreed(self, types: list[str]) -> Value:
        """What was left when all sub-groups have come, the same for each."""
        wait(self.emitter)
        found = tuple(self.get(place, llvm) for place, llvm in enumerate(types))
        wait(self.emitter)
        return found


OPERATIONS: dict[int, Handler] = {
    Op.ControlBarrier: _barrier,
    Op.ControlBarrierArriveEXT: _arrive,
    Op.ControlBarrierWaitEXT: _barrier,
    Op.MemoryBarrier: _memory_barrier,
}
