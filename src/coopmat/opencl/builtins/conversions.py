"""The families ``convert_<type>[_sat][_rt?]`` and ``as_<type>`` (OpenCL C 6.4.3, 6.4.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.values import is_error, scalar_of
from coopmat.opencl.builtins.predefined_types import TYPEDEFS
from coopmat.opencl.messages import semantic as messages
from coopmat.tree import constants
from coopmat.tree.conversions import make_convert
from coopmat.tree.nodes import Bitcast, Constant, Convert, Expression
from coopmat.tree.types import BFLOAT16, BOOL, DOUBLE, HALF, SCALARS, Type, Vector, size_of

_ELEMENTS = "char|uchar|short|ushort|int|uint|long|ulong|half|float|double"
_CONVERT = re.compile(rf"convert_({_ELEMENTS})(2|3|4|8|16)?(_sat)?(?:_(rte|rtz|rtp|rtn))?")
_AS = re.compile(rf"as_({_ELEMENTS})(2|3|4|8|16)?")
_AS_SIZE = {f"as_{name}": TYPEDEFS[name] for name in ("size_t", "ptrdiff_t", "intptr_t", "uintptr_t")}

_FEATURES: dict[Type, tuple[str, ...]] = {DOUBLE: ("cl_khr_fp64", "__opencl_c_fp64"), HALF: ("cl_khr_fp16",)}


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a function's name says: its result and, unless it keeps the bits, saturation and rounding."""

    type: Type
    keeps_bits: bool
    saturate: bool = False
    rounding: str | None = None


def conversion_named(name: str) -> Conversion | None:
    """The conversion that a function's name stands for, or None."""
    if name in _AS_SIZE:
        return Conversion(_AS_SIZE[name], keeps_bits=True)
    match = _CONVERT.fullmatch(name) or _AS.fullmatch(name)
    if match is None:
        return None
    scalar = SCALARS[match[1]]
    type_: Type = Vector(scalar, int(match[2])) if match[2] else scalar
    if match.re is _AS:
        return Conversion(type_, keeps_bits=True)
    if match[3] and scalar.is_float:
        return None  # OpenCL C 6.4.3.3: saturation is for integers
    return Conversion(type_, False, bool(match[3]), match[4])


def is_conversion(name: str) -> bool:
    """Whether a function of this name belongs to the two families."""
    return conversion_named(name) is not None


def call(context: Analysis, name: str, arguments: list[Expression], location: SourceLocation | None) -> Expression:
    """A call of one of these functions."""
    conversion = conversion_named(name)
    assert conversion is not None
    if len(arguments) != 1:
        return context.error(messages.ONE_ARGUMENT, location, name=name, found=len(arguments))
    (argument,) = arguments
    if is_error(argument):
        return argument
    element = conversion.type.element
    if element in _FEATURES and not context.has(*_FEATURES[element]):
        return context.error(messages.TYPE_NEEDS_FEATURE, location, name=name, feature=_FEATURES[element][0])
    if conversion.keeps_bits:
        return as_type(context, conversion.type, argument, location)
    return _convert(context, conversion, argument, location)


def as_type(context: Analysis, type_: Type, argument: Expression, location: SourceLocation | None) -> Expression:
    """The same bits; both types have one size, where a vector of three counts as four."""
    if argument.type == type_:
        return argument
    scalar = scalar_of(argument.type)
    if scalar is None or scalar == BOOL or size_of(argument.type) != size_of(type_):
        return context.error(messages.BAD_REINTERPRETATION, location, source=argument.type, target=type_)
    result = Bitcast(type_, location, argument)
    value = constants.evaluate(result) if isinstance(argument, Constant) else None
    return result if value is None or isinstance(value, tuple) else Constant(type_, location, value)


def _convert(context: Analysis, conversion: Conversion, argument: Expression,
             location: SourceLocation | None) -> Expression:
    type_ = conversion.type
    source, target = scalar_of(argument.type), scalar_of(type_)
    if argument.type.is_arithmetic and source is None:
        argument = make_convert(argument, SCALARS["int"])
        source = SCALARS["int"]
    counts = [t.count if isinstance(t, Vector) else 1 for t in (argument.type, type_)]
    if source is None or target is None or counts[0] != counts[1]:
        return context.error(messages.BAD_CONVERSION_ARGUMENT, location, source=argument.type, target=type_)
    rounds = source.is_float or target.is_float
    rounding = conversion.rounding if rounds else None
    if rounding == ("rte" if target.is_float else "rtz"):
        rounding = None  # what a conversion does anyway
    if not conversion.saturate and rounding is None:
        return make_convert(argument, type_, location)
    if argument.type == type_ and source != BFLOAT16:
        return argument
    return Convert(type_, location, argument, rounding, conversion.saturate)
