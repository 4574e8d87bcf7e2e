"""The message tables of the OpenCL C front end, one module per stage, one row per message.

Codes: ``CM10xx`` lexer and literals, ``CM11xx`` preprocessor (:mod:`.lexical`), ``CM2xxx`` parser,
``CM3xxx`` semantic analysis, ``CM4xxx`` cooperative matrix rules. A code is never used twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from coopmat.diagnostics import Message
from coopmat.opencl.messages import builtins, lexical, matrix, overloads, printf, semantic, syntax

TABLES = (lexical, syntax, semantic, overloads, builtins, printf, matrix)


def rows() -> list[Message]:
    """Every row of every table."""
    return [value for table in TABLES for value in vars(table).values() if isinstance(value, Message)]


def with_groups(names: Iterable[str]) -> frozenset[str]:
    """Names of warnings, and with each, as in clang, those that it is the beginning of: ``format`` is also
    ``format-extra-args``."""
    given = frozenset(names)
    return given | {name for name in warning_names() if any(name.startswith(f"{one}-") for one in given)}


@cache
def warning_names() -> frozenset[str]:
    """The names that ``-Wno-NAME`` takes."""
    return frozenset(row.option for row in rows() if row.option is not None)
