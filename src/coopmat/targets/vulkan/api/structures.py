"""Vulkan's structures, made of their rows in the table."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from coopmat.targets.vulkan.api.table import FEATURES, STRUCTURES

CODES: dict[str, Any] = {
    "u8": ctypes.c_uint8, "u32": ctypes.c_uint32, "i32": ctypes.c_int32, "u64": ctypes.c_uint64, "f32": ctypes.c_float,
    "size": ctypes.c_size_t, "ptr": ctypes.c_void_p, "char": ctypes.c_char, "void": None}
"""The types of members and parameters."""


def rows(text: str) -> Iterator[list[str]]:
    """The words of each row of a table: lines that are indented go on with the row before them."""
    for row in re.split(r"\n(?! )", text.strip()):
        yield row.split()


@cache
def _table() -> dict[str, list[str]]:
    found = {name: words for name, *words in rows(STRUCTURES)}
    return found | {name: [kind, *(f"{member}:u32" for member in members)]
                    for name, kind, *members in rows(FEATURES)}


@cache
def feature_names() -> dict[str, tuple[str, ...]]:
    """The members of each structure of features."""
    core = [word.partition(":")[0] for word in _table()["PhysicalDeviceFeatures"][1:]]
    return {"PhysicalDeviceFeatures": tuple(core)} | {name: tuple(members) for name, _, *members in rows(FEATURES)}


@cache
def structure(name: str) -> Any:
    """The class of a structure."""
    kind, *members = _table()[name]
    fields = [] if kind == "-" else [("sType", ctypes.c_uint32), ("pNext", ctypes.c_void_p)]
    fields += [(member, _type(code)) for member, _, code in (word.partition(":") for word in members)]
    return type(name, (ctypes.Structure,), {"_fields_": fields, "s_type": None if kind == "-" else int(kind)})


def _type(code: str) -> Any:
    base, *counts = re.findall(r"\w+", code)
    found = CODES[base] if base in CODES else structure(base.removeprefix("Vk"))
    for count in reversed(counts):
        found = found * int(count)
    return found


def make(kind: str, *, after: Any = None, **members: Any) -> Any:
    """A structure with these members; all others are 0. For a pointer: a structure, an array, or text, which live as
    long as the structure does. ``after``: what pNext points to."""
    found = structure(kind)()
    found.kept = [after, *members.values()]
    if found.s_type is not None:
        found.sType = found.s_type
        found.pNext = None if after is None else ctypes.addressof(after)
    types = dict(found._fields_)
    for name, value in members.items():
        if types[name] is ctypes.c_void_p:
            value = _pointer(value, found.kept)
        setattr(found, name, value)
    return found


def _pointer(value: Any, kept: list[Any]) -> Any:
    """What a pointer to a value is; what it points to is kept."""
    if value is None or isinstance(value, int | ctypes.c_void_p):
        return value
    if isinstance(value, str | bytes):
        value = ctypes.create_string_buffer(value.encode() if isinstance(value, str) else value)
    elif isinstance(value, list):
        value = texts(value)
    kept.append(value)
    return ctypes.addressof(value)


def array(kind: str, values: Sequence[Any]) -> Any:
    """An array of numbers of a type, or of structures."""
    found = ((CODES[kind] if kind in CODES else structure(kind)) * len(values))(*values)
    found.kept = list(values)
    return found


def texts(values: Sequence[str]) -> Any:
    """An array of pointers to texts; None if there are none."""
    if not values:
        return array("ptr", [])
    buffers = [ctypes.create_string_buffer(value.encode()) for value in values]
    found = array("ptr", [ctypes.addressof(one) for one in buffers])
    found.kept = buffers
    return found


def members(found: Any) -> dict[str, Any]:
    """A structure's members by their names, texts as str."""
    return {name: _read(getattr(found, name)) for name, *_ in found._fields_}


def _read(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return list(value) if isinstance(value, ctypes.Array) else value
