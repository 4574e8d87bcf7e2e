"""The library's functions: each a module that exports it under its name, ``exp_f32``, made by
tools/opencl_std_library.py."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from coopmat.spirv.module import Module

_FILE = Path(__file__).with_name("library.zip")


@cache
def _archive() -> ZipFile:
    return ZipFile(BytesIO(_FILE.read_bytes()))


@cache
def names() -> frozenset[str]:
    """All functions."""
    return frozenset(_archive().namelist())


@cache
def function(name: str) -> Module:
    """The module that exports a function."""
    return Module.from_bytes(_archive().read(name))
