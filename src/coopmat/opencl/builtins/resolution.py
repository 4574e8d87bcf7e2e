"""Overload resolution of built-in functions, ranked as clang ranks overloads in OpenCL C.

An argument fits exactly, by promotion, by conversion, or, worst, as a scalar that becomes a vector.
The best overload is better than each other one for some argument and worse for none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coopmat.diagnostics import Diagnostic, SourceLocation, note
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
from coopmat.tree.nodes import Expression
from coopmat.tree.types import DOUBLE, HALF, VOID, AddressSpace, Pointer, Type, Vector

if TYPE_CHECKING:
    from coopmat.opencl.sema.context import Context

SPLAT_RANK = 3
"""Below every conversion between scalars: a scalar made a vector."""

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

    def overloads(self, context: Context) -> list[Overload]:
        """The overloads that exist on the device."""
        return [overload for row, counts in self._available(context) for overload in expand(row, self.name, counts)
                if all(context.has(*_FLOAT_FEATURES[element]) for element in elements_of(overload)
                       if element in _FLOAT_FEATURES)]

    def _available(self, context: Context) -> list[tuple[Row, tuple[int, ...]]]:
        return [(row, counts) for row, counts in self.members if not row.needs or context.has(*row.needs)]

    def missing_extension(self, context: Context) -> str | None:
        """The extension for want of which the device has no function of this name, if so."""
        return None if self._available(context) else self.members[0][0].needs[0]

    def candidates(self, context: Context) -> list[Diagnostic]:
        """One note per row: what could have been called."""
        members = self._available(context)
        shown = [note(f"candidate: {row.describe(self.name, counts)}", None)
                 for row, counts in members[:MAX_NOTES]]
        left_out = len(members) - len(shown)
        return shown + ([note(f"{left_out} more candidates are not shown", None)] if left_out else [])


# ------------------------------------------------------------------ ranking


def _rank(context: Context, argument: Type, parameter: Parameter) -> int | None:
    """How well an argument fits a parameter, the smaller the better; None: not at all."""
    if isinstance(parameter, PointerPattern):
        return 0 if _pointer_fits(argument, parameter) else None
    rank = context.conversion_rank(argument, parameter)
    if rank and isinstance(parameter, Vector) and not isinstance(argument, Vector):
        return SPLAT_RANK
    return rank


def _pointer_fits(argument: Type, pattern: PointerPattern) -> bool:
    return (isinstance(argument, Pointer)
            and pattern.pointee in (argument.pointee, VOID)
            and argument.address_space in pattern.spaces
            and (pattern.const or not argument.const)
            and (pattern.volatile or not argument.volatile))


def _ranks(context: Context, types: list[Type], overload: Overload) -> tuple[int, ...] | None:
    """The ranks of all arguments, or None if the overload cannot be called with them."""
    if len(types) != len(overload.parameters):
        return None
    ranks: list[int] = []
    for type_, parameter in zip(types, overload.parameters, strict=True):
        rank = _rank(context, type_, parameter)
        if rank is None:
            return None
        ranks.append(rank)
    return tuple(ranks)


def _is_better(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return left != right and all(a <= b for a, b in zip(left, right, strict=True))


# ------------------------------------------------------------------ reports


def _join(types: list[Type]) -> str:
    return ", ".join(f"'{type_}'" for type_ in types)


def _report_count(context: Context, family: BuiltinFamily, overloads: list[Overload], arguments: list[Expression],
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


def _report_pointer(context: Context, family: BuiltinFamily, overloads: list[Overload], arguments: list[Expression],
                    types: list[Type]) -> bool:
    """Report the pointer whose address space or qualifier alone keeps a call from matching."""
    for index, type_ in enumerate(types):
        if not isinstance(type_, Pointer):
            continue
        for overload in overloads:
            pattern = overload.parameters[index] if index < len(overload.parameters) else None
            if not isinstance(pattern, PointerPattern):
                continue
            space = type_.address_space if type_.address_space in pattern.spaces else min(
                pattern.spaces, key=lambda s: s.value)
            fitting = replace(type_, address_space=space, const=type_.const and pattern.const,
                              volatile=type_.volatile and pattern.volatile)
            if _ranks(context, [*types[:index], fitting, *types[index + 1:]], overload) is None:
                continue
            _report_pointer_argument(context, family.name, index, arguments[index], type_, pattern)
            return True
    return False


def _report_pointer_argument(context: Context, name: str, index: int, argument: Expression, found: Pointer,
                             pattern: PointerPattern) -> None:
    if found.address_space not in pattern.spaces:
        context.report(messages.WRONG_ADDRESS_SPACE, argument.location, index=index + 1, name=name,
                       found=found.address_space, expected=_spell_spaces(pattern.spaces))
        return
    qualifiers = [word for word in ("const", "volatile") if getattr(found, word) and not getattr(pattern, word)]
    context.report(messages.DISCARDS_QUALIFIER, argument.location, index=index + 1, name=name,
                   found=" ".join([*qualifiers, str(found.pointee)]), expected=found.pointee)


def _spell_spaces(spaces: frozenset[AddressSpace]) -> str:
    if spaces >= WRITABLE_SPACES:
        return "a writable address space" if AddressSpace.CONSTANT not in spaces else "any address space"
    return " or ".join(str(space) for space in sorted(spaces, key=lambda s: s.value))


# ------------------------------------------------------------------ calls


def resolve(context: Context, family: BuiltinFamily, arguments: list[Expression],
            location: SourceLocation | None, close: SourceLocation | None) -> Expression:
    """The node of a call of a built-in function, or the error expression after a report."""
    if any(context.is_error(argument) for argument in arguments):
        return context.error_expression(location)
    extension = family.missing_extension(context)
    if extension is not None:
        return context.error(messages.MISSING_EXTENSION, location, name=family.name, extension=extension)
    overloads = family.overloads(context)
    if _report_count(context, family, overloads, arguments, location, close):
        return context.error_expression(location)
    types = [argument.type for argument in arguments]
    viable = [(ranks, overload) for overload in overloads
              if (ranks := _ranks(context, types, overload)) is not None]
    best = [(ranks, overload) for ranks, overload in viable
            if not any(_is_better(others, ranks) for others, _ in viable)]
    if not best:
        if not _report_pointer(context, family, overloads, arguments, types):
            context.report(messages.NO_MATCH, location, family.candidates(context), name=family.name,
                           types=_join(types))
        return context.error_expression(location)
    if len(best) > 1:
        notes = [note(f"candidate: {overload}", None) for _, overload in best[:MAX_NOTES]]
        return context.error(messages.AMBIGUOUS, location, notes, name=family.name, types=_join(types))
    return _build(context, best[0][1], arguments, location)


def _build(context: Context, overload: Overload, arguments: list[Expression],
           location: SourceLocation | None) -> Expression:
    converted = tuple(argument if isinstance(parameter, PointerPattern) else context.convert(argument, parameter)
                      for argument, parameter in zip(arguments, overload.parameters, strict=True))
    if any(context.is_error(argument) for argument in converted):
        return context.error_expression(location)
    return overload.row.make(BuiltinCall(context, overload, converted, location))
