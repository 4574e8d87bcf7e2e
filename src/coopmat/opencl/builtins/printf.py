"""Calls of printf, the one variadic function of OpenCL C (6.15.14)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.conversions import Purpose, convert
from coopmat.opencl.base.types import FP64_FEATURES
from coopmat.opencl.base.values import is_error
from coopmat.opencl.builtins import PRINTF, SINCE, printf_formats
from coopmat.opencl.messages import builtins as builtin_messages
from coopmat.opencl.messages import printf as messages
from coopmat.opencl.messages import semantic as semantic_messages
from coopmat.opencl.messages.versions import FUNCTION_NEEDS_VERSION
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.support.build_options import Language
from coopmat.tree.conversions import make_convert, promote
from coopmat.tree.nodes import Expression, Operation
from coopmat.tree.types import BFLOAT16, CHAR, DOUBLE, FLOAT, INT, VOID, AddressSpace, Pointer, Vector

FORMAT = Pointer(CHAR, AddressSpace.CONSTANT, const=True)


def is_prototype(function: syntax.FunctionDeclarator | None) -> bool:
    """Whether a declaration of a function called printf has the form of the built-in one's."""
    return function is not None and function.variadic and len(function.parameters) == 1


def call(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``printf(format, arguments)``; the format is checked where it is known."""
    values = [context.value(argument) for argument in node.arguments]
    places = [start_of(argument) for argument in node.arguments]
    if context.function is None:
        return context.error(builtin_messages.NOT_AT_FILE_SCOPE, node.location, name=PRINTF)
    if SINCE[PRINTF] > context.language.number:
        return context.error(FUNCTION_NEEDS_VERSION, node.location, name=PRINTF, version=context.language,
                             needed=Language(SINCE[PRINTF]).name)
    if not values:
        return context.error(builtin_messages.TOO_FEW, node.close, name=PRINTF, expected="at least 1", found=0)
    format = convert(context, values[0], FORMAT, places[0], Purpose.PASS)
    arguments = tuple(_promoted(context, value, place) for value, place in zip(values[1:], places[1:], strict=True))
    if any(map(is_error, (format, *arguments))):
        return context.error_expression(node.location)
    given = [printf_formats.Argument(argument, value.type, place)
             for argument, value, place in zip(arguments, values[1:], places[1:], strict=True)]
    printf_formats.check(context, format, places[0], given)
    return Operation(INT, node.location, "std.printf", (format, *arguments))


def _promoted(context: Analysis, argument: Expression, place: SourceLocation) -> Expression:
    """The default argument promotions (C99 6.5.2.2p6); vectors keep their type, and a scalar becomes a
    double only on a device that has it."""
    type_ = argument.type
    if is_error(argument) or isinstance(type_, (Pointer, Vector)):
        return argument
    if type_.is_float:
        if type_ == BFLOAT16:
            argument = make_convert(argument, FLOAT)
        return make_convert(argument, DOUBLE if context.has(*FP64_FEATURES) else FLOAT)
    if type_.is_arithmetic:
        return promote(argument)
    if type_ == VOID:
        return context.error(semantic_messages.INCOMPLETE_TYPE, place, type=type_)
    return context.error(messages.ARGUMENT_TYPE, place, type=type_)
