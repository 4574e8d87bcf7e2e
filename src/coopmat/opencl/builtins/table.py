"""The table of built-in functions: all rows, and what a call of one of them becomes.

Each row (see :mod:`.patterns`) gives names, a signature over generic types, and the operation or the
nodes that a call becomes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from coopmat.diagnostics import Diagnostic, SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.overloading import Fits
from coopmat.opencl.builtins import (
    arithmetic,
    async_copies,
    atomics,
    block_io,
    compiler,
    dot_products,
    matrix_mad,
    memory,
    resolution,
    sub_groups,
    synchronization,
    work_items,
)
from coopmat.opencl.builtins.patterns import Overload, Row
from coopmat.opencl.builtins.resolution import BuiltinFamily, resolve
from coopmat.opencl.messages import builtins as messages
from coopmat.support.build_options import LATEST, Language
from coopmat.tree.nodes import Expression

ROWS: tuple[Row, ...] = (
    *work_items.ROWS, *arithmetic.ROWS, *dot_products.ROWS, *memory.ROWS, *async_copies.ROWS, *synchronization.ROWS,
    *atomics.ROWS, *sub_groups.ROWS, *block_io.ROWS, *matrix_mad.ROWS, *compiler.ROWS)
"""The table."""

UNSUPPORTED: dict[str, str] = {
    "async_work_group_copy_2D2D": "copy each line with async_work_group_copy, all with one event",
    "async_work_group_copy_3D3D": "copy each line with async_work_group_copy, all with one event",
}
"""Functions of OpenCL C that are known by name only, with what to do instead."""


def _versions() -> dict[str, int]:
    """The first version of OpenCL C that has a function, for those that are not in all. Functions of
    extensions are in all, as drivers have them."""
    c11_atomics = (name for row in atomics.ATOMICS for name, _ in row.functions())
    collectives = (name for row in sub_groups.WORK_GROUP_ROWS for name, _ in row.functions())
    others = ("work_group_barrier", "atomic_work_item_fence", "ctz", "get_fence", "to_global", "to_local", "to_private",
              "get_enqueued_local_size", "get_global_linear_id", "get_local_linear_id")
    return {"popcount": 120, "printf": 120, **dict.fromkeys([*c11_atomics, *collectives, *others], 200)}


SINCE: dict[str, int] = _versions()
PRINTF = "printf"
"""The one variadic function, for which the table has no row: :mod:`.printf` analyses its calls."""


def _families() -> dict[str, BuiltinFamily]:
    members: dict[str, list[tuple[Row, tuple[int, ...]]]] = {}
    for row in ROWS:
        for name, counts in row.functions():
            members.setdefault(name, []).append((row, counts))
    return {name: BuiltinFamily(name, tuple(rows), SINCE.get(name, 100)) for name, rows in members.items()}


TABLE: dict[str, BuiltinFamily] = _families()
"""Every built-in function by name."""


def names() -> frozenset[str]:
    """The names of all built-in functions."""
    return frozenset({*TABLE, PRINTF})


def has_builtin(name: str, features: Collection[str], language: Language = LATEST) -> bool:
    """Whether a device with these feature macros has the function in a version of the language."""
    if SINCE.get(name, 0) > language.number:
        return False
    if name == PRINTF:
        return True
    if name not in TABLE:
        return False
    return any(not row.needs or any(need in features for need in row.needs) for row, _ in TABLE[name].members)


def is_known(name: str) -> bool:
    """Whether ``name`` is a built-in function, or one that is known by name only."""
    return name == PRINTF or name in TABLE or name in UNSUPPORTED


def resolve_call(context: Analysis, name: str, arguments: list[Expression], location: SourceLocation | None,
                 close: SourceLocation | None) -> Expression:
    """The node of a call of a built-in function (``is_known(name)``) other than printf.

    ``arguments`` are values (arrays decayed); ``location`` is the callee and ``close`` the closing
    parenthesis. Where no overload fits, or several do equally well, that is reported and the error
    expression returned.
    """
    if name in UNSUPPORTED:
        return context.error(messages.UNSUPPORTED, location, name=name, advice=UNSUPPORTED[name])
    return resolve(context, TABLE[name], arguments, location, close)


def viable(context: Analysis, name: str, arguments: Sequence[Expression]) -> list[tuple[Fits, Overload]]:
    """The overloads of a built-in function that can be called with these arguments on the device."""
    return resolution.viable(context, TABLE[name], arguments) if name in TABLE else []


def candidates(context: Analysis, name: str) -> list[Diagnostic]:
    """Notes that tell what the built-in function takes, if there is one of this name on the device."""
    return TABLE[name].candidates(context) if name in TABLE else []

