"""The text that a function was compiled from by Python: of its file, its notebook cell, or ``python -c``."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import marshal
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from coopmat.diagnostics import Error

_FUTURES = 0x1FF_0000  # flags of code that ``from __future__ import …`` sets
_FOUND: WeakKeyDictionary[FunctionType, tuple[str, str]] = WeakKeyDictionary()


def text_of(function: FunctionType) -> tuple[str, str]:
    """Name and text of the file that a function comes from, as it was when the function was defined.

    Raises Error if the text cannot be had: there is none, or the file has changed since then.
    """
    if function not in _FOUND:
        _FOUND[function] = _find(function)
    return _FOUND[function]


def share_text(function: FunctionType, copy: FunctionType) -> None:
    """Note that a copy of a function comes from the same text, as far as that can be had."""
    with suppress(Error):
        _FOUND[copy] = text_of(function)


def _find(function: FunctionType) -> tuple[str, str]:
    name = function.__code__.co_filename
    if name == "<string>" and "-c" in sys.orig_argv:  # python -c TEXT
        text = sys.orig_argv[sys.orig_argv.index("-c") + 1]
        if _holds(name, text, function.__code__):
            return name, text
    if name.startswith("<"):
        with suppress(Exception):  # Python 3.13 keeps what is typed at its prompt
            text = "".join(inspect.findsource(function)[0])
            if _holds(name, text, function.__code__):
                return name, text
    for _ in range(2):
        lines = linecache.getlines(name, function.__globals__)
        if lines and _holds(name, "".join(lines), function.__code__):
            return name, "".join(lines)
        linecache.checkcache(name)  # what is on the disk now
    if not lines:
        raise Error(f"the source of '{function.__qualname__}' is not available (it was defined in {name}): kernels are "
                    "compiled from their source; define it in a file or a notebook, or make it by "
                    "kernel.from_source(text)")
    raise Error(f"{name} does not hold '{function.__qualname__}' at line {function.__code__.co_firstlineno} as it was "
                "defined: the file has changed since it was loaded; import it again")


def _holds(name: str, text: str, code: CodeType) -> bool:
    """Whether Python makes this code from the text. Functions with asserts may differ: pytest rewrites those."""
    found = [other for other in _codes(name, text, code.co_flags & _FUTURES)
             if (other.co_name, other.co_firstlineno) == (code.co_name, code.co_firstlineno)]
    return any(_same(other, code) or _asserts(other) for other in found)


def _asserts(code: CodeType) -> bool:
    return any(instruction.opname == "LOAD_ASSERTION_ERROR" for instruction in dis.get_instructions(code))


def _same(first: CodeType, second: CodeType) -> bool:
    return (first.co_code, first.co_names, first.co_varnames, first.co_freevars, _constants(first)) == (
        second.co_code, second.co_names, second.co_varnames, second.co_freevars, _constants(second))


_WITHOUT_REFERENCES = 2  # marshal's version of which equal constants have equal bytes


def _constants(code: CodeType) -> list[object]:
    """The constants, and what the functions inside are made of."""
    return [[*_constants(constant), constant.co_code, constant.co_names] if isinstance(constant, CodeType)
            else marshal.dumps(constant, _WITHOUT_REFERENCES) for constant in code.co_consts]


@lru_cache(maxsize=32)
def _codes(name: str, text: str, futures: int) -> list[CodeType]:
    """The code objects of a file; none if it is not Python."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | futures
    try:
        return list(_inside(compile(text, name, "exec", flags, dont_inherit=True)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _inside(constant)
