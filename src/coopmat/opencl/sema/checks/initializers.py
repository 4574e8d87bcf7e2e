"""Initialiser lists without inner braces, or with members left out: -Wmissing-braces, -Wmissing-field-initializers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coopmat.diagnostics import FixIt, Marks
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import end_of, start_of
from coopmat.opencl.sema.context import Context
from coopmat.tree.types import Record, Type


def _is_zero(items: Sequence[syntax.InitializerItem]) -> bool:
    """Whether a list is ``{0}``, which sets everything to zero."""
    return len(items) == 1 and isinstance(items[0].value, syntax.IntegerLiteral) and items[0].value.value == 0


def suggest_braces(context: Context, outer: Type, items: Sequence[syntax.InitializerItem], first: int,
                   stop: int) -> None:
    """Several items initialise an array or structure inside ``outer``, unless that holds nothing else."""
    used = items[first:stop]
    if not used or _is_zero(items) or (isinstance(outer, Record) and len(outer.fields or ()) == 1):
        return
    start, end = start_of(used[0].value), end_of(used[-1].value)
    fix = None
    if start.line == end.line and start.macro is None and end.macro is None:
        width = end.column + end.length - start.column
        fix = FixIt(replace(start, column=max(1, start.column - 1)), f"{{{' ' * width}}}")
    context.sink.report(warnings.MISSING_BRACES, start, marks=Marks(fix=fix))


def missing_field(context: Context, type_: Type, given: int, node: syntax.InitializerList) -> None:
    """Members behind the last one that a list gives a value."""
    if not isinstance(type_, Record) or type_.is_union or not node.items or _is_zero(node.items):
        return
    fields = type_.fields or ()
    if given < len(fields) and not any(item.designators for item in node.items):
        context.report(warnings.MISSING_FIELD, node.end, name=fields[given].name)
