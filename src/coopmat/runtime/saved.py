"""The results of compilations as bytes: JSON, then the SPIR-V module."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from coopmat import diagnostics
from coopmat.diagnostics import Diagnostic, Error
from coopmat.spirv.analysis import kernels
from coopmat.spirv.module import Module


@dataclass(frozen=True, slots=True)
class Compilation:
    """What the front end made of a source, the record of the files that it saw on the way, and whether the device
    that it was made for can load the module."""

    module: Module
    warnings: list[Diagnostic]
    files: dict[str, Any]
    is_loadable: bool

    def to_bytes(self) -> bytes:
        """The form that :meth:`from_bytes` reads."""
        head = {
            "files": self.files,
            "is_loadable": self.is_loadable,
            "records": _records_to_json((self.warnings, list(self.module.kernel_signatures.values()))),
        }
        return join(json.dumps(head), self.module.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Compilation | None:
        """The compilation; None if the bytes are none."""
        try:
            text, spirv = split(data)
            head = json.loads(text)
            warnings, signatures = _records_from_json(head["records"])
            module = Module.saved(spirv, {signature.name: signature for signature in signatures})
            return cls(module, list(warnings), dict(head["files"]), bool(head["is_loadable"]))
        except (Error, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Optimization:
    """LLVM IR that was optimised at ``level``, and the module of it; ``reason`` says why at no higher level, if a
    higher one was asked for."""

    ir: str
    module: Module
    level: int
    reason: str | None = None

    def to_bytes(self) -> bytes:
        """The form that :meth:`from_bytes` reads."""
        return join(json.dumps([self.ir, self.level, self.reason]), self.module.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> Optimization:
        """The optimisation that was saved."""
        text, spirv = split(data)
        ir, level, reason = json.loads(text)
        return cls(ir, Module.from_bytes(spirv), level, reason)


def join(head: str, body: bytes) -> bytes:
    """A text and bytes as one."""
    encoded = head.encode()
    return len(encoded).to_bytes(8, "little") + encoded + body


def split(data: bytes) -> tuple[str, bytes]:
    """What :func:`join` joined."""
    end = 8 + int.from_bytes(data[:8], "little")
    return data[8:end].decode(), data[end:]


# --------------------------------------------------------------------------------------
# Records
# --------------------------------------------------------------------------------------
#
# Diagnostics share source files and locations, and which are shared matters. So each record stands once in a
# list, behind those that it refers to: [class, field, …]. A field is a number, a text, null, a list (for a tuple),
# or {"record": index}.


def _records_to_json(values: Any) -> dict[str, Any]:
    records: list[list[Any]] = []
    known: dict[int, int] = {}  # id → index

    def encode(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [encode(item) for item in value]
        if not is_dataclass(value):
            return value
        if id(value) not in known:
            record = [type(value).__name__, *(encode(getattr(value, field.name)) for field in fields(value))]
            known[id(value)] = len(records)
            records.append(record)
        return {"record": known[id(value)]}

    return {"values": encode(values), "records": records}


def _records_from_json(saved: dict[str, Any]) -> Any:
    made: list[Any] = []

    def decode(value: Any) -> Any:
        if isinstance(value, list):
            return tuple(decode(item) for item in value)
        return made[value["record"]] if isinstance(value, dict) else value

    for name, *values in saved["records"]:
        made.append(_RECORDS[name](*map(decode, values)))
    return decode(saved["values"])


_RECORDS: dict[str, type] = {name: value for module in (diagnostics, kernels) for name, value in vars(module).items()
                             if isinstance(value, type) and is_dataclass(value)}
