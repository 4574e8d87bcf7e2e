"""The message tables of the OpenCL C front end, one module per stage, one row per message.

Codes: ``CM10xx`` lexer and literals, ``CM11xx`` preprocessor (:mod:`.lexical`), ``CM2xxx`` parser,
``CM3xxx`` semantic analysis, ``CM39xx`` warnings about what is allowed and rarely meant (:mod:`.warnings`),
``CM4xxx`` cooperative matrix rules. A code is never used twice. The names of warnings are clang's wherever
clang has the warning; :mod:`.groups` puts them into clang's groups.
"""

from __future__ import annotations

from functools import cache

from coopmat.diagnostics import Message
from coopmat.opencl.messages import (
    builtins,
    events,
    lexical,
    matrix,
    overloads,
    printf,
    semantic,
    syntax,
    versions,
    warnings,
)
from coopmat.opencl.messages.groups import GROUPS

TABLES = (lexical, syntax, semantic, warnings, versions, overloads, builtins, events, printf, matrix)


def rows() -> list[Message]:
    """Every row of every table."""
    return [value for table in TABLES for value in vars(table).values() if isinstance(value, Message)]


@cache
def warning_names() -> frozenset[str]:
    """The names that ``-WNAME`` and ``-Wno-NAME`` take: of warnings and of groups."""
    inner = {name for names in GROUPS.values() for name in names}
    return frozenset(row.option for row in rows() if row.option is not None) | GROUPS.keys() | inner
