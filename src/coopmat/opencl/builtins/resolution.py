"""Overload resolution of built-in functions (how overloads compare: :mod:`coopmat.opencl.base.overloading`).

A pointer parameter takes pointers to the address spaces that it names, and a generic pointer if casts made it
of one of those: ``(ushort *)&x`` is written where ``ushort *`` means a private pointer, as in OpenCL C 1.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from coopmat.diagnostics import Diagnostic, SourceLocation, note
from coopmat.opencl.base import ranking
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.conversions import in_named_space, pass_argument
from coopmat.opencl.base.overloading import Fit, Fits, Rank, best
from coopmat.opencl.base.values import is_error
from coopmat.opencl.builtins.patterns import (
    WRITABLE_SPACES,
    BuiltinCall,
    Overload,
    Parameter,
    PointerPattern,
    Row,
    elements_of,
    expand,
)
from coopmat.opencl.messages import builtins as messages
from coopmat.opencl.messages import versions as version_messages
from coopmat.support.build_options import Language
from coopmat.tree.nodes import Expression, Undefined
from coopmat.tree.types import DOUBLE, EVENT, HALF, AddressSpace, Pointer, Type

MAX_NOTES = 6

_FLOAT_FEATURES: dict[Type, tuple[str, ...]] = {
    DOUBLE: ("cl_khr_fp64", "__opencl_c_fp64"),
    HALF: ("cl_khr_fp16",),
}
"""The feature macros, one of which a device must define to compute with a type."""


@dataclass(frozen=True, slots=True)
class BuiltinFamily:
    """All functions of one name: the rows of the table that declare it, with the component counts."""

    name: str
    members: tuple[tuple[Row, tuple[int, ...]], ...]
    since: int = 100  # the first version of OpenCL C that has it, as the value of __OPENCL_C_VERSION__

    def overloads(self, context: Analysis) -> list[Overload]:
        """The overloads that exist on the device."""
        return [overload for row, counts in self._available(context) for overload in expand(row, self.name, counts)
                if all(context.has(*_FLOAT_FEATURES[element]) for element in elements_of(overload)
                       if element in _FLOAT_FEATURES)]

    def _available(self, context: Analysis) -> list[tuple[Row, tuple[int, ...]]]:
        return [(row, counts) for row, counts in self.members if not row.needs or context.has(*row.needs)]

    def missing_extension(self, context: Analysis) -> str | None:
        """The extension for want of which the device has no function of this name, if so."""
        return None if self._available(context) else self.members[0][0].needs[0]

    def candidates(self, context: Analysis) -> list[Diagnostic]:
        """One note per row: what could have been called."""
        members = self._available(context)
        shown = [note(f"candidate: {row.describe(self.name, counts)}", None)
                 for row, counts in members[:MAX_NOTES]]
        left_out = len(members) - len(shown)
        return shown + ([note(f"{left_out} more candidates are not shown", None)] if left_out else [])


# ------------------------------------------------------------------ fits

_EXACT = Fit(Rank.EXACT)


def _fits(context: Analysis, arguments: Sequence[Expression], overload: Overload) -> Fits | None:
    """How all arguments fit, or None if the overload cannot be called with them."""
    if len(arguments) != len(overload.parameters):
        return None
    fits: list[Fit] = []
    for argument, parameter in zip(arguments, overload.parameters, strict=True):
        if isinstance(parameter, PointerPattern):
            fit = _EXACT if _as_pointer(context, argument, parameter) is not None else None
        else:
            fit = ranking.fit(argument, parameter, context.known)
        if fit is None:
            return None
        fits.append(fit)
    return tuple(fits)


def _as_pointer(context: Analysis, argument: Expression, pattern: PointerPattern) -> Expression | None:
    """The argument as a pointer that a parameter takes: itself, or what it was before casts made it generic."""
    if pattern.takes(argument.type):
        return argument
    if isinstance(argument.type, Pointer) and argument.type.address_space is AddressSpace.GENERIC:
        named = in_named_space(argument)
        if named is not None and pattern.takes(named.type):
            return named
    return None


def viable(context: Analysis, family: BuiltinFamily, arguments: Sequence[Expression]) -> list[tuple[Fits, Overload]]:
    """The overloads that can be called with these arguments."""
    return [(fits, overload) for overload in family.overloads(context)
            if (fits := _fits(context, arguments, overload)) is not None]


# ------------------------------------------------------------------ reports


def _join(types: list[Type]) -> str:
    return ", ".join(f"'{type_}'" for type_ in types)


def _report_no_match(context: Analysis, family: BuiltinFamily, arguments: list[Expression],
                     location: SourceLocation | None, close: SourceLocation | None) -> None:
    """Say why none of the overloads can be called."""
    overloads = family.overloads(context)
    if _report_count(context, family, overloads, arguments, location, close) \
            or _report_event(context, overloads, arguments) \
            or _report_pointer(context, family, overloads, arguments) \
            or _report_missing_address(context, family, overloads, arguments):
        return
    context.report(messages.NO_MATCH, location, family.candidates(context), name=family.name,
                   types=_join([argument.type for argument in arguments]))


def _report_count(context: Analysis, family: BuiltinFamily, overloads: list[Overload], arguments: list[Expression],
                  location: SourceLocation | None, close: SourceLocation | None) -> bool:
    """Report a number of arguments that no overload takes; whether there was something to report."""
    counts = sorted({len(overload.parameters) for overload in overloads})
    found = len(arguments)
    if not counts or found in counts:
        return False
    too_many = found > counts[-1]
    place = arguments[counts[-1]].location if too_many else close
    context.report(messages.TOO_MANY if too_many else messages.TOO_FEW, place or location, family.candidates(context),
                   name=family.name, expected=" or ".join(map(str, counts)), found=found)
    return True


def _report_event(context: Analysis, overloads: list[Overload], arguments: list[Expression]) -> bool:
    """Report an argument that is no event where every overload takes one."""
    for index, argument in enumerate(arguments):
        takers = [overload for overload in overloads if overload.parameters[index:index + 1] == (EVENT,)]
        if len(takers) == len(overloads) and ranking.fit(argument, EVENT, context.known) is None:
            pass_argument(context, argument, EVENT)
            return True
    return False


def _report_pointer(context: Analysis, family: BuiltinFamily, overloads: list[Overload],
                    arguments: list[Expression]) -> bool:
    """Report the pointer whose address space or qualifier alone keeps a call from matching."""
    for index, given in enumerate(arguments):
        argument = in_named_space(given) or given
        if not isinstance(argument.type, Pointer):
            continue
        for overload in overloads:
            pattern = overload.parameters[index] if index < len(overload.parameters) else None
            if not isinstance(pattern, PointerPattern):
                continue
            fitting = replace(argument, type=pattern.nearest(argument.type))
            if _fits(context, [*arguments[:index], fitting, *arguments[index + 1:]], overload) is None:
                continue
            _report_pointer_argument(context, family.name, index, given.location, argument.type, pattern)
            return True
    return False


def _report_missing_address(context: Analysis, family: BuiltinFamily, overloads: list[Overload],
                            arguments: list[Expression]) -> bool:
    """Report an object in the place of the pointer to it, if that alone keeps a call from matching."""
    for index, argument in enumerate(arguments):
        address = Undefined(Pointer(argument.type, AddressSpace.PRIVATE), argument.location)
        fitting = [*arguments[:index], address, *arguments[index + 1:]]
        if any(_fits(context, fitting, overload) is not None for overload in overloads):
            context.report(messages.MISSING_ADDRESS, argument.location, index=index + 1, name=family.name,
                           type=argument.type)
            return True
    return False


def _report_pointer_argument(context: Analysis, name: str, index: int, location: SourceLocation | None,
                             found: Pointer, pattern: PointerPattern) -> None:
    if found.address_space not in pattern.spaces:
        context.report(messages.WRONG_ADDRESS_SPACE, location, index=index + 1, name=name,
                       found=found.address_space, expected=_spell_spaces(pattern.spaces),
                       advice=_cast_advice(found, pattern))
        return
    qualifiers = [word for word in ("const", "volatile") if getattr(found, word) and not getattr(pattern, word)]
    reason = "which the function would write" if "const" in qualifiers else "which the function cannot respect"
    context.report(messages.DISCARDS_QUALIFIER, location, index=index + 1, name=name, reason=reason,
                   found=" ".join([*qualifiers, str(found.pointee)]), expected=found.pointee)


def _cast_advice(found: Pointer, pattern: PointerPattern) -> str:
    """The casts that make a generic pointer one that a parameter takes; nothing for other pointers."""
    if found.address_space is not AddressSpace.GENERIC:
        return ""
    casts = [f"'({replace(found, address_space=space)})'" for space in _in_order(pattern.spaces)]
    return f"; if that is where it points, cast it: {' or '.join(casts)}"


def _in_order(spaces: Iterable[AddressSpace]) -> list[AddressSpace]:
    return sorted(spaces, key=lambda space: space.value)


def _spell_spaces(spaces: frozenset[AddressSpace]) -> str:
    if spaces >= WRITABLE_SPACES:
        return "a writable address space" if AddressSpace.CONSTANT not in spaces else "any address space"
    return " or ".join(map(str, _in_order(spaces)))


# ------------------------------------------------------------------ calls


def resolve(context: Analysis, family: BuiltinFamily, arguments: list[Expression],
            location: SourceLocation | None, close: SourceLocation | None) -> Expression:
    """The node of a call of a built-in function, or the error expression after a report."""
    if any(is_error(argument) for argument in arguments):
        return context.error_expression(location)
    if family.since > context.language.number:
        return context.error(version_messages.FUNCTION_NEEDS_VERSION, location, name=family.name,
                             version=context.language, needed=Language(family.since).name)
    extension = family.missing_extension(context)
    if extension is not None:
        return context.error(messages.MISSING_EXTENSION, location, name=family.name, extension=extension)
    found = best(viable(context, family, arguments))
    if not found:
        _report_no_match(context, family, arguments, location, close)
        return context.error_expression(location)
    if len(found) > 1:
        notes = [note(f"candidate: {overload}", None) for overload in found[:MAX_NOTES]]
        return context.error(messages.AMBIGUOUS, location, notes, name=family.name,
                             types=_join([argument.type for argument in arguments]))
    return build(context, found[0], arguments, location)


def build(context: Analysis, overload: Overload, arguments: list[Expression],
          location: SourceLocation | None) -> Expression:
    """The node of a call of one overload, which is viable."""
    converted = tuple(_converted(context, argument, parameter)
                      for argument, parameter in zip(arguments, overload.parameters, strict=True))
    if any(is_error(argument) for argument in converted):
        return context.error_expression(location)
    return overload.row.make(BuiltinCall(context, overload, converted, location))


def _converted(context: Analysis, argument: Expression, parameter: Parameter) -> Expression:
    if not isinstance(parameter, PointerPattern):
        return pass_argument(context, argument, parameter)
    pointer = _as_pointer(context, argument, parameter)
    assert pointer is not None
    return pointer
