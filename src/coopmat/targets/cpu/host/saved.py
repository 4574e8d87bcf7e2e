"""A compiled kernel as bytes, and the key that finds it again."""

from __future__ import annotations

from coopmat.support.cache import key
from coopmat.targets.cpu.checks.faults import AccessSite
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.frame import Slot
from coopmat.targets.cpu.kernel import KernelCode
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.llvm import saved
from coopmat.targets.llvm.saved import canonical


def entry_key(module: bytes, kernel: str, variant: Variant, features: CpuFeatures, options: str) -> str:
    """The key of a compiled kernel in a cache: of everything that decides what it is."""
    import llvmlite

    return key("kernel for the CPU", module, kernel, canonical(variant), features.cpu, features.for_llvm, options,
               llvmlite.__version__)


def to_bytes(code: KernelCode, object_: bytes) -> bytes:
    """The form that :func:`from_bytes` reads."""
    return saved.to_bytes(code, object_, ("ir", "matrices"))


def from_bytes(data: bytes) -> tuple[KernelCode, bytes] | None:
    """The code and the object file; None if the bytes are none."""
    return saved.from_bytes(KernelCode, data, (AccessSite, Slot), ir="", matrices={})
