"""What the instructions for groups and atomic objects are called and how they are encoded, for both front ends."""

from __future__ import annotations

from coopmat.tree.types import AddressSpace

REDUCE, INCLUSIVE_SCAN, EXCLUSIVE_SCAN, CLUSTERED_REDUCE = range(4)
"""SPIR-V's Group Operation."""

COMBINATIONS: dict[str, dict[str, str]] = {
    "add": {"sint": "IAdd", "uint": "IAdd", "float": "FAdd"},
    "mul": {"sint": "IMul", "uint": "IMul", "float": "FMul"},
    "min": {"sint": "SMin", "uint": "UMin", "float": "FMin"},
    "max": {"sint": "SMax", "uint": "UMax", "float": "FMax"},
    **{name: dict.fromkeys(("sint", "uint"), f"Bitwise{name.capitalize()}") for name in ("and", "or", "xor")},
}
"""The end of a reduction's or scan's name by what it computes and the kind of its elements."""

UNIFORM_OPERATIONS = ("add", "min", "max")
"""Those that every device has for whole groups (OpGroupIAdd and so on), without an extension."""

RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIALLY_CONSISTENT = 0, 0x2, 0x4, 0x8, 0x10
"""Memory orders, as bits of Memory Semantics."""

STORAGE_SEMANTICS = {
    AddressSpace.GLOBAL: 0x200, AddressSpace.LOCAL: 0x100, AddressSpace.GENERIC: 0x300, AddressSpace.PRIVATE: 0,
}
"""The Memory Semantics bits of the memory in which an atomic object lies."""

READ_MODIFY_WRITE = {
    "add": "AtomicIAdd", "sub": "AtomicISub", "min": "Atomic{SIGN}Min", "max": "Atomic{SIGN}Max",
    "and": "AtomicAnd", "or": "AtomicOr", "xor": "AtomicXor",
}
"""Atomic updates of integers; ``{SIGN}`` is S or U."""

FLOAT_READ_MODIFY_WRITE = {"add": "AtomicFAddEXT", "min": "AtomicFMinEXT", "max": "AtomicFMaxEXT"}
"""Atomic updates of floating-point numbers; the opposite is added where one is subtracted."""


def strengthened(success: int, failure: int) -> int:
    """The order of a successful exchange, made as strong as that of a failed one, which SPIR-V demands."""
    if failure == SEQUENTIALLY_CONSISTENT:
        return failure
    return {RELAXED: ACQUIRE, RELEASE: ACQUIRE_RELEASE}.get(success, success) if failure == ACQUIRE else success
