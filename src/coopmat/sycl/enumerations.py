"""Enumerations of the extension and of the parts of SYCL that it refers to."""

from __future__ import annotations

from coopmat.diagnostics import SpelledEnum
from coopmat.tree import types as t


class use(SpelledEnum):
    """The role of a matrix in ``D = A*B + C`` (section "Matrix Use")."""

    a = t.Use.A
    b = t.Use.B
    accumulator = t.Use.ACCUMULATOR


class layout(SpelledEnum):
    """How a matrix lies in memory (section "Matrix Layout"). The values are SPIR-V's, but for ``dynamic``.

    ``ext_intel_packed`` (sycl_ext_intel_matrix), for A and B of 8- and 16-bit elements: of each 4 bytes' worth of rows
    of B, the elements of one column lie side by side; A is as in row_major.
    """

    row_major = 0
    col_major = 1
    ext_intel_packed = 2
    dynamic = -1


class address_space(SpelledEnum):
    """Where a pointer points to (SYCL 4.7.7.1)."""

    global_space = t.AddressSpace.GLOBAL
    local_space = t.AddressSpace.LOCAL
    private_space = t.AddressSpace.PRIVATE
    constant_space = t.AddressSpace.CONSTANT
    generic_space = t.AddressSpace.GENERIC

    def __str__(self) -> str:
        return f"access.address_space.{self.name}"


class decorated(SpelledEnum):
    """Whether a multi_ptr's pointer type shows its address space; it makes no difference here."""

    no = 0
    yes = 1
    legacy = 2

    def __str__(self) -> str:
        return f"access.decorated.{self.name}"


class fence_space(SpelledEnum):
    """What a barrier of an nd_item orders (SYCL 4.9.1.5); the values are SPIR-V's Memory Semantics."""

    local_space = 0x100
    global_space = 0x200
    global_and_local = 0x300


class access:
    """SYCL's namespace ``access``."""

    address_space = address_space
    decorated = decorated
    fence_space = fence_space


class memory_order(SpelledEnum):
    """Orders of atomic operations and fences (SYCL 3.8.3.1); the values are SPIR-V's Memory Semantics."""

    relaxed = 0x0
    acquire = 0x2
    release = 0x4
    acq_rel = 0x8
    seq_cst = 0x10


class memory_scope(SpelledEnum):
    """Scopes of atomic operations and barriers (SYCL 3.8.3.2)."""

    work_item = t.ExecutionScope.INVOCATION
    sub_group = t.ExecutionScope.SUBGROUP
    work_group = t.ExecutionScope.WORKGROUP
    device = t.ExecutionScope.DEVICE
    system = t.ExecutionScope.CROSS_DEVICE


class cache_mode(SpelledEnum):
    """What a cache does with an access (sycl_ext_intel_cache_controls)."""

    uncached = 0
    cached = 1
    streaming = 2
    invalidate = 3
    constant = 4
    write_through = 5
    write_back = 6


class cache_level(SpelledEnum):
    """Levels of the cache; the values are SPIR-V's."""

    L1 = 0
    L2 = 1
    L3 = 2
    L4 = 3
