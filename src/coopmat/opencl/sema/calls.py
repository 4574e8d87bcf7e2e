"""Calls: of the program's functions, of built-in functions, of matrix functions (C99 6.5.2.2)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl import builtins, syntax
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import conversion_builtins, declarators, expressions, matrix
from coopmat.opencl.sema.context import Context
from coopmat.opencl.sema.conversions import Purpose, convert
from coopmat.opencl.sema.values import ERROR, is_error
from coopmat.tree.nodes import Call, Expression, Function, Variable
from coopmat.tree.types import INT, VOID, Type


def is_builtin(name: str) -> bool:
    """Whether a function of this name exists without being declared."""
    return name in matrix.FUNCTION_NAMES or builtins.is_known(name) or conversion_builtins.is_conversion(name)


def call(context: Context, node: syntax.Call, target: Type | None) -> Expression:
    """``name(arguments)``. What the program declares hides built-in functions."""
    if not isinstance(node.function, syntax.Name):
        _analyze_arguments(context, node)
        return context.error(messages.NOT_A_FUNCTION_NAME, node.location)
    name = node.function.name
    symbol = context.lookup(name)
    if isinstance(symbol, Function):
        return _call_function(context, symbol, node)
    arguments = _analyze_arguments(context, node)
    if isinstance(symbol, Variable) and symbol.type is ERROR:
        return context.error_expression(node.location)
    if symbol is not None:
        type_ = symbol.type if isinstance(symbol, Variable) else INT
        return context.error(messages.NOT_A_FUNCTION, node.location, type=type_)
    if name in matrix.FUNCTION_NAMES:
        return matrix.call(context, name, arguments, node.location, node.close, target)
    if conversion_builtins.is_conversion(name):
        return conversion_builtins.call(context, name, arguments, node.location)
    if builtins.is_known(name):
        return builtins.resolve_call(context, name, arguments, node.location, node.close)
    return context.error(messages.UNDECLARED_FUNCTION, node.location, name=name,
                         suggestion=context.suggestion(name, context.function_names()))


def _analyze_arguments(context: Context, node: syntax.Call) -> list[Expression]:
    return [expressions.value(context, argument) for argument in node.arguments]


def _call_function(context: Context, function: Function, node: syntax.Call) -> Expression:
    """A call of a function of the program."""
    if context.function is None:
        _analyze_arguments(context, node)
        return context.error(messages.NOT_CONSTANT_INITIALIZER, node.location)
    context.function.calls.setdefault(function, node.location)
    if function.result not in (VOID, ERROR) and not declarators.has_size(function.result):
        _analyze_arguments(context, node)
        return context.error(messages.INCOMPLETE_TYPE, node.location, type=function.result)
    parameters = function.parameters
    if len(node.arguments) != len(parameters):
        _analyze_arguments(context, node)
        return _wrong_count(context, function, node)
    arguments: list[Expression] = []
    for parameter, argument in zip(parameters, node.arguments, strict=True):
        given = expressions.value(context, argument, parameter.type)
        arguments.append(convert(context, given, parameter.type, start_of(argument), Purpose.PASS,
                                 _parameter_note(parameter.name, parameter.location)))
    if any(map(is_error, arguments)) or function.result is ERROR:
        return context.error_expression(node.location)
    return Call(function.result, node.location, function, tuple(arguments))


def _parameter_note(name: str, location: SourceLocation | None) -> tuple:
    what = f"parameter '{name}'" if name else "parameter"
    return (note(f"passing argument to {what} here", location),)


def _wrong_count(context: Context, function: Function, node: syntax.Call) -> Expression:
    expected, found = len(function.parameters), len(node.arguments)
    spot = (note(f"'{function.name}' declared here", function.location),)
    if found < expected:
        return context.error(messages.TOO_FEW_ARGUMENTS, node.close, spot, expected=expected, found=found)
    return context.error(messages.TOO_MANY_ARGUMENTS, start_of(node.arguments[expected]), spot,
                         expected=expected, found=found)


def start_of(node: syntax.Expression) -> SourceLocation:
    """Where an expression begins; its own location may be that of an operator in its middle."""
    while True:
        match node:
            case syntax.Binary(left=inner) | syntax.Assignment(target=inner) | syntax.Conditional(condition=inner) \
                    | syntax.Index(base=inner) | syntax.Member(base=inner) | syntax.Postfix(operand=inner):
                node = inner
            case _:
                return node.location
