"""What is declared and never used, and declarations that hide others: -Wunused, -Wshadow."""

from __future__ import annotations

from collections.abc import Iterable

from coopmat.diagnostics import note
from coopmat.opencl.base.symbols import FunctionState
from coopmat.opencl.messages import warnings
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Function, Variable
from coopmat.tree.types import AddressSpace

_SILENCERS = frozenset({"unused", "maybe_unused", "used"})


def is_silenced(*attributes: Iterable[syntax.Attribute]) -> bool:
    """Whether an attribute says that a name may go unused."""
    return any(attribute.name in _SILENCERS for group in attributes for attribute in group)


def stored(context: Context, node: syntax.Expression) -> None:
    """Note that a statement does nothing with a variable but write it: ``x = …``, ``x += …``, ``x++``."""
    match node:
        case syntax.Assignment(target=syntax.Name(name=name)) \
                | syntax.Unary(operator="++" | "--", operand=syntax.Name(name=name)) \
                | syntax.Postfix(operand=syntax.Name(name=name)):
            symbol = context.lookup(name)
            if isinstance(symbol, Variable):
                context.stores[symbol] += 1


def function(context: Context, state: FunctionState) -> None:
    """The variables, parameters, labels and type names of a function at its end."""
    for variable in state.variables:
        if not context.references[variable]:
            context.report(warnings.UNUSED_VARIABLE, variable.location, name=variable.name)
        elif context.references[variable] == context.stores[variable]:
            context.report(warnings.SET_VARIABLE, variable.location, name=variable.name)
    for parameter in state.function.parameters:
        if parameter.name and parameter not in context.silenced:
            _parameter(context, parameter)
    targets = {name for name, *_ in state.gotos}
    for name, label in state.labels.items():
        if name not in targets:
            context.report(warnings.UNUSED_LABEL, label.location, name=name)
    for name, location in state.typedefs.items():
        context.report(warnings.UNUSED_TYPEDEF, location, name=name)


def _parameter(context: Context, parameter: Variable) -> None:
    if not context.references[parameter]:
        context.report(warnings.UNUSED_PARAMETER, parameter.location, name=parameter.name)
    elif context.references[parameter] == context.stores[parameter]:
        context.report(warnings.SET_PARAMETER, parameter.location, name=parameter.name)


def functions(context: Context, candidates: Iterable[Function]) -> None:
    """The static functions of the main file that nobody calls."""
    called = {callee for callees in context.calls.values() for callee in callees}
    for candidate in dict.fromkeys(candidates):
        location = candidate.location
        if candidate not in called and location is not None and location.file.included_from is None:
            context.report(warnings.UNUSED_FUNCTION, location, name=candidate.name)


def static_variables(context: Context, candidates: Iterable[Variable]) -> None:
    """The static variables of the main file that are never named."""
    for candidate in candidates:
        location = candidate.location
        if not context.references[candidate] and location is not None and location.file.included_from is None \
                and candidate.address_space is not AddressSpace.CONSTANT:
            context.report(warnings.UNUSED_VARIABLE, location, name=candidate.name)


def shadow(context: Context, variable: Variable) -> None:
    """A local variable with the name of another one further out."""
    if not context.sink.is_on(warnings.SHADOW, variable.location):
        return
    for depth, scope in reversed(list(enumerate(context.scopes[:-1]))):
        outer = scope.symbols.get(variable.name)
        if outer is None:
            continue
        if isinstance(outer, Variable) and outer.location is not None:
            what = "variable in the global scope" if depth <= 1 else "local variable"
            context.report(warnings.SHADOW, variable.location, (note("previous declaration is here", outer.location),),
                           what=what)
        return
