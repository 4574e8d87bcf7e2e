"""Scopes and memory semantics of shaders as kernels have them.

A kernel's memory is available and visible to all of the scope by every release and acquire, so that what the Vulkan
memory model says about that is not needed any more; a queue family is the device.
"""

from __future__ import annotations

from coopmat.diagnostics import Error
from coopmat.spirv.grammar import MemorySemantics, Op, Scope
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.from_shader.state import Translation

_ATOMIC = (("scope", 1), ("semantics", 2))
PLACES: dict[Op, tuple[tuple[str, int], ...]] = {
    Op.ControlBarrier: (("scope", 0), ("scope", 1), ("semantics", 2)),
    Op.MemoryBarrier: (("scope", 0), ("semantics", 1)),
    **{op: _ATOMIC for op in Op if op.name.startswith("Atomic") and not op.name.startswith("AtomicCompare")},
    **dict.fromkeys((Op.AtomicCompareExchange, Op.AtomicCompareExchangeWeak), (*_ATOMIC, ("semantics", 3))),
}
"""Instruction → the places of its scopes and semantics among its operands."""
_ORDERS = (MemorySemantics.Acquire | MemorySemantics.Release | MemorySemantics.AcquireRelease
           | MemorySemantics.SequentiallyConsistent)
_SCOPES = {Scope.QueueFamily: Scope.Device, Scope.ShaderCallKHR: Scope.Invocation}


def translated(to: Translation, row: Instruction) -> list[int]:
    """The operands of a barrier or an atomic instruction."""
    words = [to.id(word) for word in row.words]
    for kind, place in PLACES[Op(row.opcode)]:
        number = to.number(row.words[place])
        if number is None:
            raise Error(f"the {kind} of {row.name} is no constant")
        words[place] = to.uint(scope(number) if kind == "scope" else semantics(number))
    return words


def scope(number: int) -> int:
    """A kernel's scope."""
    return int(_SCOPES.get(Scope(number), number)) if number in set(Scope) else number


def semantics(number: int) -> int:
    """A kernel's memory semantics."""
    found = MemorySemantics(number)
    kept = found & (_ORDERS | MemorySemantics.WorkgroupMemory | MemorySemantics.SubgroupMemory
                    | MemorySemantics.CrossWorkgroupMemory)
    if found & MemorySemantics.UniformMemory:
        kept |= MemorySemantics.CrossWorkgroupMemory
    return int(kept)
