"""A compiled kernel as bytes: a line of JSON about the code, then what was made of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from coopmat.spirv.analysis import types
from coopmat.targets.llvm.print_buffer import PrintCall

_Code = TypeVar("_Code")


def canonical(value: Any) -> str:
    """The same text for equal values, in every process."""
    if is_dataclass(value):
        members = (f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(members)})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(canonical, value)))}}}"
    return repr(value)


def to_bytes(code: Any, made: bytes, left_out: Collection[str]) -> bytes:
    """The form that :func:`from_bytes` reads. ``code``: a dataclass; ``left_out``: its members that only the compiler
    needs."""
    members = {field.name: _encoded(getattr(code, field.name)) for field in fields(code) if field.name not in left_out}
    head = json.dumps(members).encode()
    return len(head).to_bytes(8, "little") + head + made


def from_bytes(kind: Callable[..., _Code], data: bytes, records: Collection[type] = (), **left_out: Any
               ) -> tuple[_Code, bytes] | None:
    """The code and what was made of it; None if the bytes are none. ``records``: the classes of its members;
    ``left_out``: the members that were."""
    known = _RECORDS | {one.__name__: one for one in records}
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        members = {name: _decoded(value, known) for name, value in json.loads(data[8:end]).items()}
        return kind(**left_out, **members), data[end:]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


# --------------------------------------------------------------------------------------
# Values as JSON: numbers, texts and None are themselves, everything else is {kind: content}
# --------------------------------------------------------------------------------------

_RECORDS: dict[str, type] = {PrintCall.__name__: PrintCall} | {
    name: kind for name, kind in vars(types).items() if isinstance(kind, type) and is_dataclass(kind)}
"""What the code of any kernel consists of: calls of printf, and types of SPIR-V."""


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


def _decoded(saved: Any, records: dict[str, type]) -> Any:
    if not isinstance(saved, dict):
        return saved
    (kind, content), = saved.items()
    if kind == "bytes":
        return content.encode("latin-1")
    if kind == "dict":
        return {_decoded(name, records): _decoded(value, records) for name, value in content}
    if kind == "record":
        return records[content[0]](*(_decoded(one, records) for one in content[1:]))
    return {"list": list, "tuple": tuple}[kind](_decoded(one, records) for one in content)
