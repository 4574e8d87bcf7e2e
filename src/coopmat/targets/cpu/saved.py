"""A compiled kernel as bytes: a line of JSON about the code, then the object file; and the key that finds it again."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from coopmat.cache import key
from coopmat.targets.cpu.emitter import Variant
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.kernel import KernelCode, Slot

_LEFT_OUT = ("ir", "matrices")
"""Members of KernelCode that only the compiler needs."""


def entry_key(module: bytes, kernel: str, variant: Variant, features: CpuFeatures, options: str) -> str:
    """The key of a compiled kernel in a cache: of everything that decides what it is."""
    import llvmlite

    return key("kernel for the CPU", module, kernel, canonical(variant), features.cpu, features.for_llvm, options,
               llvmlite.__version__)


def canonical(value: Any) -> str:
    """The same text for equal values, in every process."""
    if is_dataclass(value):
        members = (f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(members)})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(canonical, value)))}}}"
    return repr(value)


def to_bytes(code: KernelCode, object_: bytes) -> bytes:
    """The form that :func:`from_bytes` reads."""
    members = {field.name: getattr(code, field.name) for field in fields(code) if field.name not in _LEFT_OUT}
    head = json.dumps(members, default=_slot_to_json).encode()
    return len(head).to_bytes(8, "little") + head + object_


def from_bytes(data: bytes) -> tuple[KernelCode, bytes] | None:
    """The code and the object file; None if the bytes are none."""
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        members = json.loads(data[8:end])
        members["parameters"] = tuple(_slot(one) for one in members["parameters"])
        members["globals"] = {int(number): _slot(one) for number, one in members["globals"].items()}
        return KernelCode(ir="", matrices={}, **members), data[end:]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _slot_to_json(value: Any) -> list[int]:
    if not isinstance(value, Slot):
        raise TypeError(f"a compiled kernel cannot keep {value!r}")
    return [value.offset, value.size]


def _slot(saved: list[int]) -> Slot:
    offset, size = saved
    return Slot(int(offset), int(size))
