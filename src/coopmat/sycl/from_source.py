"""Kernels from texts: for programs that write kernels, and for places where Python keeps no source, such as exec."""

from __future__ import annotations

import hashlib
import importlib
import linecache
import textwrap
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from coopmat.diagnostics import CompileError, Diagnostic, Error, SourceFile, SourceLocation


def executed(text: str, names: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Execute a text of Python, which finds the names of coopmat.sycl and ``names``: what its file is called by Python
    and in messages, and what it defines.

    Raises CompileError for what is not Python, Error for what raises an exception when it is executed.
    """
    if not isinstance(text, str):
        raise Error(f"the source of a kernel is a text, found {type(text).__name__}")
    text = textwrap.dedent(text)
    file = f"<kernel source {hashlib.sha256(text.encode(errors='replace')).hexdigest()[:12]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = importlib.import_module("coopmat.sycl")
    found: dict[str, Any] = {**{name: getattr(module, name) for name in module.__all__}, **names, "__name__": file}
    before = dict(found)
    try:
        exec(compile(text, file, "exec", dont_inherit=True), found)
    except SyntaxError as error:
        location = SourceLocation(SourceFile(file, text), error.lineno or 1, max(1, error.offset or 1))
        raise CompileError([Diagnostic("error", f"this is not Python: {error.msg}", location)]) from None
    except Error:
        raise
    except Exception as error:  # whatever the text does
        raise Error(f"{file}: executing it raised {type(error).__name__}: {error}") from error
    return file, {name: value for name, value in found.items() if before.get(name) is not value}


def defined_in(file: str, value: Any) -> bool:
    """Whether a function comes from a text."""
    return isinstance(value, FunctionType) and value.__code__.co_filename == file
