"""A compiled kernel as bytes: a line of JSON about the code, then the object file; and the key that finds it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from coopmat.spirv.analysis import types
from coopmat.support.cache import key
from coopmat.targets.cpu.checks.faults import AccessSite
from coopmat.targets.cpu.features import CpuFeatures
from coopmat.targets.cpu.frame import Slot
from coopmat.targets.cpu.kernel import KernelCode
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.llvm.print_buffer import PrintCall

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
    members = {field.name: _encoded(getattr(code, field.name)) for field in fields(code) if field.name not in _LEFT_OUT}
    head = json.dumps(members).encode()
    return len(head).to_bytes(8, "little") + head + object_


def from_bytes(data: bytes) -> tuple[KernelCode, bytes] | None:
    """The code and the object file; None if the bytes are none."""
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        members = {name: _decoded(value) for name, value in json.loads(data[8:end]).items()}
        return KernelCode(ir="", matrices={}, **members), data[end:]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


# --------------------------------------------------------------------------------------
# Values as JSON: numbers, texts and None are themselves, everything else is {kind: content}
# --------------------------------------------------------------------------------------

_RECORDS: dict[str, type] = {kind.__name__: kind for kind in (AccessSite, Slot, PrintCall)} | {
    name: kind for name, kind in vars(types).items() if isinstance(kind, type) and is_dataclass(kind)}
"""What a kernel's code consists of: its own records, and types of SPIR-V."""


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_encoded(one) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[_encoded(one) for one in item] for item in value.items()]}
    if is_dataclass(value):
        return {"record": [type(value).__name__, *(_encoded(getattr(value, field.name)) for field in fields(value))]}
    return value


def _decoded(saved: Any) -> Any:
    if not isinstance(saved, dict):
        return saved
    (kind, content), = saved.items()
    return _DECODERS[kind](content)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "bytes": lambda content: content.encode("latin-1"),
    "list": lambda content: list(map(_decoded, content)),
    "tuple": lambda content: tuple(map(_decoded, content)),
    "dict": lambda content: {_decoded(name): _decoded(value) for name, value in content},
    "record": lambda content: _RECORDS[content[0]](*map(_decoded, content[1:])),
}
