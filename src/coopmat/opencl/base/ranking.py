"""How arguments fit parameters: the implicit conversions of C and OpenCL C, ranked for overload resolution."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.opencl.base.conversions import (
    is_null_event_constant,
    is_null_pointer_constant,
    nested_spaces_differ,
    space_converts,
)
from coopmat.opencl.base.overloading import Fit, Fits, Rank
from coopmat.opencl.base.values import ERROR
from coopmat.tree.constants import Known
from coopmat.tree.conversions import promoted_type
from coopmat.tree.nodes import Expression, Function
from coopmat.tree.types import BOOL, DOUBLE, EVENT, FLOAT, VOID, Pointer, Type, Vector

_FITS = {rank: Fit(rank) for rank in Rank}


def fit(argument: Expression, parameter: Type, known: Known) -> Fit | None:
    """How an argument becomes a parameter of this type, or None if it cannot; ``known`` are constant variables.

    As in clang's overload resolution float to double is a promotion, half to float is none, and vectors do
    not convert.
    """
    source = argument.type
    if source == parameter or ERROR in (source, parameter):
        return _FITS[Rank.EXACT]
    if isinstance(parameter, Pointer):
        return _pointer_fit(argument, parameter)
    if parameter == EVENT:
        return _FITS[Rank.EXACT] if is_null_event_constant(argument, known) else None
    if isinstance(source, Pointer):
        return _FITS[Rank.POINTER_TO_BOOL] if parameter == BOOL else None
    if not source.is_arithmetic:
        return None
    if parameter.is_arithmetic:
        promoted = DOUBLE if source == FLOAT else promoted_type(source)
        return _FITS[Rank.PROMOTION if promoted == parameter else Rank.CONVERSION]
    return _FITS[Rank.SPLAT] if isinstance(parameter, Vector) else None


def _pointer_fit(argument: Expression, target: Pointer) -> Fit | None:
    """How an argument becomes a pointer."""
    source = argument.type
    if is_null_pointer_constant(argument):
        to_void = isinstance(source, Pointer) and target.pointee == VOID
        return _FITS[Rank.TO_VOID_POINTER if to_void else Rank.CONVERSION]
    if not isinstance(source, Pointer) or not space_converts(source.address_space, target.address_space) \
            or nested_spaces_differ(source, target):
        return None
    if (source.const and not target.const) or (source.volatile and not target.volatile):
        return _FITS[Rank.ILL_FORMED]
    if source.pointee == target.pointee:
        return Fit(Rank.EXACT, target)
    if target.pointee == VOID:
        is_qualified = (source.address_space, source.const, source.volatile) \
            != (target.address_space, target.const, target.volatile)
        return Fit(Rank.TO_VOID_POINTER, target if is_qualified else None)
    return _FITS[Rank.FROM_VOID_POINTER if source.pointee == VOID else Rank.ILL_FORMED]


def fits(function: Function, arguments: Sequence[Expression], known: Known) -> Fits | None:
    """How the arguments fit the parameters; None if the function cannot be called with them."""
    if len(arguments) != len(function.parameters):
        return None
    found = [fit(argument, parameter.type, known)
             for argument, parameter in zip(arguments, function.parameters, strict=True)]
    return tuple(one for one in found if one is not None) if None not in found else None
