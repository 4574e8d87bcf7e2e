"""The order that memory semantics ask for (SPIR-V, Memory Semantics), by LLVM's names."""

from __future__ import annotations

from coopmat.spirv.grammar import MemorySemantics


def order_of(semantics: int | None) -> str | None:
    """None where they ask for none; the strongest for those that are not known before the kernel runs."""
    if semantics is None or semantics & MemorySemantics.SequentiallyConsistent:
        return "seq_cst"
    if semantics & MemorySemantics.AcquireRelease:
        return "acq_rel"
    acquires, releases = semantics & MemorySemantics.Acquire, semantics & MemorySemantics.Release
    if acquires and releases:
        return "acq_rel"
    return "acquire" if acquires else "release" if releases else None


LOADING = {"acq_rel": "acquire", "release": "monotonic"}
STORING = {"acq_rel": "release", "acquire": "monotonic"}
"""What is left of an order for an instruction that only loads, or only stores."""
