"""Functions with ``__attribute__((overloadable))``: which declarations go together, and which one a call means."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.diagnostics import Diagnostic, Message, note
from coopmat.opencl.base.conversions import space_converts
from coopmat.opencl.base.ranking import fit
from coopmat.opencl.base.values import ERROR
from coopmat.opencl.messages import overloads as messages
from coopmat.opencl.messages import semantic
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Expression, Function
from coopmat.tree.types import Pointer

# ------------------------------------------------------------------ declarations


def has_error(function: Function) -> bool:
    """Whether an error in the function's declaration has been reported."""
    return ERROR in (function.result, *function.type.parameters)


def redeclared(function: Function, known: Sequence[Function]) -> Function | None:
    """The function of the same name that this one declares again; None if it is a new one."""
    if not any(other.overloadable for other in (function, *known)):
        return known[0] if known else None
    types = function.type.parameters
    return next((other for other in known if other.type.parameters == types and ERROR not in types), None)


def check_redeclaration(context: Context, function: Function, previous: Function | None,
                        known: Sequence[Function]) -> bool:
    """Whether a function may be declared beside those ``known`` of its name; False after a report."""
    others = [other for other in known if other is not previous]
    if function.is_kernel and any(other.is_kernel for other in others):
        return _refuse(context, function, messages.SECOND_KERNEL, next(other for other in others if other.is_kernel))
    if has_error(function) or (previous is not None and has_error(previous)):
        return True
    if previous is None:
        unmarked = next((other for other in others if not other.overloadable), None)
        if function.overloadable or unmarked is None:
            return True
        return _refuse(context, function, messages.SECOND_UNMARKED, unmarked)
    if function.overloadable != previous.overloadable:
        message = messages.MISSING_ATTRIBUTE if previous.overloadable else messages.EXTRA_ATTRIBUTE
        return _refuse(context, function, message, previous)
    if function.type == previous.type:
        return True
    message = messages.RESULT_DIFFERS if function.overloadable else semantic.CONFLICTING_TYPES
    return _refuse(context, function, message, previous)


def _refuse(context: Context, function: Function, message: Message, other: Function) -> bool:
    """Report that a declaration does not go with another one."""
    context.report(message, function.location, context.previous(other.location), name=function.name,
                   found=function.result, previous=other.result)
    return False


# ------------------------------------------------------------------ calls


def candidate_note(function: Function) -> Diagnostic:
    """The note about an overload that could be meant."""
    return note(f"candidate function: {function.signature}", function.location)


def reason_note(context: Context, function: Function, arguments: Sequence[Expression]) -> Diagnostic:
    """The note that says why an overload cannot be called."""
    return note(f"candidate function not viable: {_reason(context, function, arguments)}", function.location)


def _reason(context: Context, function: Function, arguments: Sequence[Expression]) -> str:
    expected, found = len(function.parameters), len(arguments)
    if expected != found:
        return (f"requires {expected} argument{'s' * (expected != 1)}, "
                f"but {found} {'was' if found == 1 else 'were'} provided")
    position, source, target = next(
        (index, argument.type, parameter.type)
        for index, (argument, parameter) in enumerate(zip(arguments, function.parameters, strict=True), 1)
        if fit(argument, parameter.type, context.known) is None)
    if isinstance(source, Pointer) and isinstance(target, Pointer) \
            and not space_converts(source.address_space, target.address_space):
        return (f"cannot pass pointer to address space '{source.address_space}' as a pointer to address space "
                f"'{target.address_space}' in {_ordinal(position)} argument")
    return f"no known conversion from '{source}' to '{target}' for {_ordinal(position)} argument"


def _ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th`` …"""
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else endings.get(number % 10, 'th')}"
