"""How deeply types are inside one another, which has a limit."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema.context import Context
from coopmat.support.limits import DEEPEST_DECLARED_TYPE
from coopmat.tree.types import Array, Pointer, Record, Type


def nesting(context: Context, type_: Type) -> int:
    """How many arrays, pointers and records are inside one another; what a pointer to a record leads to is
    not counted."""
    levels, is_inside = 0, True
    while isinstance(type_, Array | Pointer):
        levels += 1
        is_inside = is_inside and isinstance(type_, Array)
        type_ = type_.item if isinstance(type_, Array) else type_.pointee
    return levels + context.nesting.get(type_, 0) if is_inside and isinstance(type_, Record) else levels


def check_nesting(context: Context, inner: Type, location: SourceLocation | None) -> bool:
    """Whether another level around ``inner`` is possible; False after a report."""
    if nesting(context, inner) < DEEPEST_DECLARED_TYPE:
        return True
    context.report(messages.TYPE_TOO_DEEP, location, limit=DEEPEST_DECLARED_TYPE)
    return False
