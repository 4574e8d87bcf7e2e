"""Enumerations of the extension and of the parts of SYCL that it refers to."""

from __future__ import annotations

from enum import Enum, StrEnum

from coopmat.devices import ARCHITECTURES
from coopmat.tree import types as t


class _Spelled(Enum):
    """Members print as the user writes them: ``use.a``."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __repr__ = __str__


class use(_Spelled):
    """The role of a matrix in ``D = A*B + C`` (section "Matrix Use")."""

    a = t.Use.A
    b = t.Use.B
    accumulator = t.Use.ACCUMULATOR


class layout(_Spelled):
    """How a matrix lies in memory (section "Matrix Layout"). The values are SPIR-V's, but for ``dynamic``.

    ``ext_intel_packed`` (sycl_ext_intel_matrix), for A and B of 8- and 16-bit elements: of each 4 bytes' worth of rows
    of B, the elements of one column lie side by side; A is as in row_major.
    """

    row_major = 0
    col_major = 1
    ext_intel_packed = 2
    dynamic = -1


class address_space(_Spelled):
    """Where a pointer points to (SYCL 4.7.7.1)."""

    global_space = t.AddressSpace.GLOBAL
    local_space = t.AddressSpace.LOCAL
    private_space = t.AddressSpace.PRIVATE
    constant_space = t.AddressSpace.CONSTANT
    generic_space = t.AddressSpace.GENERIC

    def __str__(self) -> str:
        return f"access.address_space.{self.name}"


class decorated(_Spelled):
    """Whether a multi_ptr's pointer type shows its address space; it makes no difference here."""

    no = 0
    yes = 1
    legacy = 2

    def __str__(self) -> str:
        return f"access.decorated.{self.name}"


class fence_space(_Spelled):
    """What a barrier of an nd_item orders (SYCL 4.9.1.5); the values are SPIR-V's Memory Semantics."""

    local_space = 0x100
    global_space = 0x200
    global_and_local = 0x300


class access:
    """SYCL's namespace ``access``."""

    address_space = address_space
    decorated = decorated
    fence_space = fence_space


class memory_order(_Spelled):
    """Orders of atomic operations and fences (SYCL 3.8.3.1); the values are SPIR-V's Memory Semantics."""

    relaxed = 0x0
    acquire = 0x2
    release = 0x4
    acq_rel = 0x8
    seq_cst = 0x10


class memory_scope(_Spelled):
    """Scopes of atomic operations and barriers (SYCL 3.8.3.2)."""

    work_item = t.Scope.INVOCATION
    sub_group = t.Scope.SUBGROUP
    work_group = t.Scope.WORKGROUP
    device = t.Scope.DEVICE
    system = t.Scope.CROSS_DEVICE


class cache_mode(_Spelled):
    """What a cache does with an access (sycl_ext_intel_cache_controls)."""

    uncached = 0
    cached = 1
    streaming = 2
    invalidate = 3
    constant = 4
    write_through = 5
    write_back = 6


class cache_level(_Spelled):
    """Levels of the cache; the values are SPIR-V's."""

    L1 = 0
    L2 = 1
    L3 = 2
    L4 = 3


class errc(_Spelled):
    """Error codes of SYCL's exceptions (SYCL 4.13.2), as far as coopmat raises them."""

    success = 0
    runtime = 1
    kernel = 2
    nd_range = 3
    invalid = 4
    kernel_not_supported = 5
    feature_not_supported = 6
    build = 7


class aspect(_Spelled):
    """What a device can have: ``device.has(aspect.fp64)`` (SYCL 4.6.4.5)."""

    cpu = "cpu"
    gpu = "gpu"
    emulated = "emulated"
    fp16 = "fp16"
    fp64 = "fp64"
    atomic64 = "atomic64"
    queue_profiling = "queue_profiling"
    usm_device_allocations = "usm_device_allocations"
    usm_host_allocations = "usm_host_allocations"
    usm_shared_allocations = "usm_shared_allocations"
    usm_system_allocations = "usm_system_allocations"
    ext_intel_matrix = "ext_intel_matrix"


class device_type(_Spelled):
    """Kinds of devices; ``custom`` is what models neither a CPU nor a GPU (``sim:generic``)."""

    cpu = "cpu"
    gpu = "gpu"
    custom = "none"

    def __str__(self) -> str:
        return f"info.device_type.{self.name}"


class event_command_status(_Spelled):
    """How far a command has come. A command is complete when the call that submits it returns."""

    submitted = 0
    running = 1
    complete = 2

    def __str__(self) -> str:
        return f"info.event_command_status.{self.name}"


class _Name(StrEnum):
    """Members equal their names, which devices and combinations have as plain texts."""

    __repr__ = _Spelled.__str__


architecture = _Name("architecture", [  # type: ignore[call-arg]
    name for name in ARCHITECTURES if name != "generic"])
architecture.__doc__ = "Architectures (sycl_ext_oneapi_device_architecture) whose combinations are in the tables."
