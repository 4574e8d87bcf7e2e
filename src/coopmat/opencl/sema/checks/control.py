"""Loops whose condition cannot change, and switches that leave cases out or run from one into the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema.context import Context
from coopmat.tree.conversions import is_bool_valued
from coopmat.tree.nodes import Break, Case, Expression, Goto, Load, Loop, Return, Variable, VariablePlace
from coopmat.tree.types import BOOL, AddressSpace, Enumeration
from coopmat.tree.walk import descendants

MAX_NAMES = 4

# ------------------------------------------------------------------ loops


def loop_condition(context: Context, node: syntax.For, loop: Loop) -> None:
    """A condition on variables that the loop does not change."""
    names = list(_names(node.condition)) if node.condition is not None else []
    if not names or None in names or not context.sink.is_on(warnings.UNCHANGED_LOOP_VARIABLES, node.location):
        return
    found: dict[Variable, SourceLocation] = {}
    for name in names:
        symbol = context.lookup(name.name) if name is not None else None
        if not isinstance(symbol, Variable) or symbol.volatile or symbol.address_space is not AddressSpace.PRIVATE:
            return
        assert name is not None
        found.setdefault(symbol, name.location)
    inside = list(descendants(loop))
    read = {id(part.place) for part in inside if isinstance(part, Load)}
    if any(isinstance(part, (Break, Return, Goto))
           or (isinstance(part, VariablePlace) and part.variable in found and id(part) not in read) for part in inside):
        return
    listed = _enumerate([variable.name for variable in found]) if len(found) <= MAX_NAMES else ""
    context.report(warnings.UNCHANGED_LOOP_VARIABLES, next(iter(found.values())), plural="s" * (len(found) > 1),
                   names=listed)


def _names(node: syntax.Expression) -> Iterator[syntax.Name | None]:
    """The names in a simple condition; None for anything that may change by itself."""
    match node:
        case syntax.Name():
            yield node
        case syntax.Binary(left=left, right=right):
            yield from _names(left)
            yield from _names(right)
        case syntax.Unary(operator="-" | "+" | "!" | "~", operand=inner) | syntax.Cast(operand=inner):
            yield from _names(inner)
        case syntax.IntegerLiteral() | syntax.FloatLiteral() | syntax.SizeOf():
            return
        case _:
            yield None


def _enumerate(names: list[str]) -> str:
    """``'a', 'b', and 'c'``."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) <= 2:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


# ------------------------------------------------------------------ switches


def switch(context: Context, node: syntax.Switch, value: Expression, cases: Iterable[Case]) -> None:
    """A switch over an enumeration that leaves values out, or over a truth value; runs from case to case."""
    if value.type == BOOL or is_bool_valued(value):
        context.report(warnings.SWITCH_OVER_BOOLEAN, node.location)
    elif isinstance(value.type, Enumeration):
        _enumeration(context, node, value.type, list(cases))
    if isinstance(node.body, syntax.Compound):
        _fallthrough(context, node.body.items)


def _enumeration(context: Context, node: syntax.Switch, enumeration: Enumeration, cases: list[Case]) -> None:
    known: dict[int, str] = {}
    for name, constant in context.enumerators(enumeration):
        known.setdefault(int(constant.value), name)
    for case in cases:
        if known and case.value is not None and case.value not in known:
            context.report(warnings.NOT_IN_ENUMERATION, case.location, type=enumeration)
    handled = {case.value for case in cases}
    missing = [name for value, name in sorted(known.items()) if value not in handled]
    if not missing or None in handled:
        return
    if len(missing) == 1:
        what = f"enumeration value '{missing[0]}' not handled in switch"
    elif len(missing) <= 3:
        what = f"enumeration values {_enumerate(missing)} not handled in switch"
    else:
        listed = ", ".join(f"'{name}'" for name in missing[:3])
        what = f"{len(missing)} enumeration values not handled in switch: {listed}..."
    context.report(warnings.UNHANDLED_ENUMERATORS, start_of(node.value), what=what)


def _fallthrough(context: Context, items: list[syntax.Statement]) -> None:
    """A case that begins where the statements of the one before it go on."""
    before: syntax.Statement | None = None
    for item in items:
        if isinstance(item, syntax.Case) and before is not None and _goes_on(before):
            context.report(warnings.FALLTHROUGH, item.location)
        before = item
        while isinstance(before, syntax.Case | syntax.Labelled):
            before = before.statement


def _goes_on(statement: syntax.Statement | None) -> bool:
    """Whether control goes on behind a statement."""
    match statement:
        case syntax.Break() | syntax.Continue() | syntax.Return() | syntax.Goto():
            return False
        case syntax.Attributed(attributes=attributes, statement=inner):
            return not any(attribute.name == "fallthrough" for attribute in attributes) and _goes_on(inner)
        case syntax.Compound(items=items):
            return not items or _goes_on(items[-1])
        case syntax.If(then=then, otherwise=otherwise):
            return otherwise is None or _goes_on(then) or _goes_on(otherwise)
        case syntax.While(condition=syntax.IntegerLiteral(value=value)) if value:
            return False
        case syntax.For(condition=None):
            return False
        case syntax.Case(statement=inner) | syntax.Labelled(statement=inner):
            return _goes_on(inner)
    return True
