"""Calls: of the program's functions, of built-in functions, of matrix functions (C99 6.5.2.2)."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl import builtins
from coopmat.opencl.base import ranking
from coopmat.opencl.base.conversions import Purpose, convert
from coopmat.opencl.base.overloading import Fits, best, is_exact
from coopmat.opencl.base.symbols import FunctionSet
from coopmat.opencl.base.types import has_size
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.builtins import compiler_calls, conversions, matrices, printf
from coopmat.opencl.messages import builtins as builtin_messages
from coopmat.opencl.messages import matrix as matrix_messages
from coopmat.opencl.messages import overloads as overload_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema import overloads
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Call, Expression, Function, Variable
from coopmat.tree.types import INT, VOID, Matrix, Type

APPLY_ARGUMENTS = 2  # at least, of coop_mat_apply
COMPILER_PREFIXES = ("__builtin_", "__sync_", "__atomic_", "__c11_")
"""How the names of compilers' own functions begin."""


def call(context: Context, node: syntax.FunctionCall, target: Type | None) -> Expression:
    """``name(arguments)``. What the program declares hides built-in functions, unless it is overloadable."""
    if not isinstance(node.function, syntax.Name):
        _analyze_arguments(context, node)
        return context.error(messages.NOT_A_FUNCTION_NAME, node.location)
    name = node.function.name
    symbol = context.lookup(name)
    if isinstance(symbol, FunctionSet):
        if _is_overloaded(context, symbol):
            return _call_overloaded(context, symbol, node, target)
        return _call_function(context, symbol.members[0], node)
    if symbol is None and name == builtins.PRINTF:
        return printf.call(context, node)
    if symbol is None and name in compiler_calls.CALLS:
        return compiler_calls.call(context, node)
    if symbol is None and name == matrices.APPLY:
        return _apply(context, node)
    arguments = _analyze_arguments(context, node)
    if isinstance(symbol, Variable) and symbol.type is ERROR:
        return context.error_expression(node.location)
    if symbol is not None:
        type_ = symbol.type if isinstance(symbol, Variable) else INT
        return context.error(messages.NOT_A_FUNCTION, node.location, type=type_)
    if builtins.is_builtin(name):
        return _call_builtin(context, name, arguments, node, target)
    if name.startswith(COMPILER_PREFIXES):
        return context.error(builtin_messages.UNSUPPORTED_COMPILER_BUILTIN, node.location, name=name)
    return context.misspelt(messages.UNDECLARED_FUNCTION, name, node.location, context.function_names())


def _analyze_arguments(context: Context, node: syntax.FunctionCall) -> list[Expression]:
    return [context.value(argument) for argument in node.arguments]


def _call_builtin(context: Context, name: str, arguments: list[Expression], node: syntax.FunctionCall,
                  target: Type | None) -> Expression:
    """A call of a function that exists without being declared."""
    if name in matrices.FUNCTION_NAMES:
        return matrices.call(context, name, arguments, node.location, node.close, target)
    if conversions.is_conversion(name):
        return conversions.call(context, name, arguments, node.location)
    if name in builtins.TABLE and any(isinstance(argument.type, Matrix) for argument in arguments):
        return matrices.builtin(context, name, arguments, node.location)
    return builtins.resolve_call(context, name, arguments, node.location, node.close)


def _apply(context: Context, node: syntax.FunctionCall) -> Expression:
    """``coop_mat_apply(matrix, function, …)``."""
    given = [context.value(argument) for place, argument in enumerate(node.arguments) if place != 1]
    if len(node.arguments) < APPLY_ARGUMENTS:
        return context.error(matrix_messages.TOO_FEW_ARGUMENTS, node.close or node.location, name=matrices.APPLY,
                             expected=f"{APPLY_ARGUMENTS} or more", found=len(node.arguments), hint="")
    function = node.arguments[1]
    if not isinstance(function, syntax.Name):
        return context.error(matrix_messages.NOT_A_FUNCTION_NAME, start_of(function), name=matrices.APPLY)
    symbol = context.lookup(function.name)
    if symbol is None and conversions.is_conversion(function.name):
        return context.error(matrix_messages.CONVERTS_ELEMENTS, function.location, name=function.name,
                             apply=matrices.APPLY)
    if symbol is None and not builtins.is_known(function.name):
        return context.misspelt(messages.UNDECLARED_FUNCTION, function.name, function.location,
                                context.function_names())
    if context.function is None:
        return context.error(messages.NOT_CONSTANT_INITIALIZER, node.location)
    if isinstance(symbol, FunctionSet):
        sound = [one for one in symbol.members if not overloads.has_error(one)]
        if not sound:
            return context.error_expression(node.location)
        return matrices.apply(context, sound, given, node.location)
    if symbol is not None:
        return context.error(matrix_messages.NOT_A_FUNCTION_NAME, function.location, name=matrices.APPLY)
    if not isinstance(given[0].type, Matrix):
        return context.error(matrix_messages.NOT_A_MATRIX, given[0].location, index=1, name=matrices.APPLY,
                             type=given[0].type)
    return matrices.builtin(context, function.name, given, node.location)


# ------------------------------------------------------------------ functions of the program


def _call_function(context: Context, function: Function, node: syntax.FunctionCall) -> Expression:
    """A call of a function that is alone with its name."""
    parameters = function.parameters
    can_be_called = _can_be_called(context, function, node)
    if not can_be_called or len(node.arguments) != len(parameters):
        _analyze_arguments(context, node)
        if can_be_called:
            _report_count(context, function, node)
        return context.error_expression(node.location)
    arguments = [_pass(context, context.value(argument, parameter.type), parameter, argument)
                 for parameter, argument in zip(parameters, node.arguments, strict=True)]
    return _make_call(context, function, arguments, node)


def _can_be_called(context: Context, function: Function, node: syntax.FunctionCall) -> bool:
    """Whether a function can be called here; False after a report."""
    if context.function is None:
        context.report(messages.NOT_CONSTANT_INITIALIZER, node.location)
        return False
    if function.result not in (VOID, ERROR) and not has_size(function.result):
        context.report(messages.INCOMPLETE_TYPE, node.location, type=function.result)
        return False
    return True


def _pass(context: Context, given: Expression, parameter: Variable, argument: syntax.Expression) -> Expression:
    """An argument, converted to its parameter's type."""
    return convert(context, given, parameter.type, start_of(argument), Purpose.PASS,
                   _parameter_note(parameter.name, parameter.location))


def _make_call(context: Context, function: Function, arguments: list[Expression],
               node: syntax.FunctionCall) -> Expression:
    if any(map(is_error, arguments)) or function.result is ERROR:
        return context.error_expression(node.location)
    assert context.function is not None
    context.function.calls.setdefault(function, node.location)
    return Call(function.result, node.location, function, tuple(arguments))


def _parameter_note(name: str, location: SourceLocation | None) -> tuple:
    what = f"parameter '{name}'" if name else "parameter"
    return (note(f"passing argument to {what} here", location),)


def _report_count(context: Context, function: Function, node: syntax.FunctionCall) -> None:
    expected, found = len(function.parameters), len(node.arguments)
    spot = (note(f"'{function.name}' declared here", function.location),)
    too_few = found < expected
    message = messages.TOO_FEW_ARGUMENTS if too_few else messages.TOO_MANY_ARGUMENTS
    context.report(message, node.close if too_few else start_of(node.arguments[expected]), spot,
                   expected=expected, found=found)


# ------------------------------------------------------------------ overloads

Candidate = Function | builtins.Overload


def _is_overloaded(context: Context, functions: FunctionSet) -> bool:
    """Whether a call has a choice: between functions of the program, or with built-in ones of the name."""
    return len(functions.members) > 1 or _adds_to_builtins(context, functions)


def _adds_to_builtins(context: Context, functions: FunctionSet) -> bool:
    """Whether the functions stand beside the built-in ones of their name: all are overloadable, and no block
    hides the others of the name."""
    return (builtins.is_builtin(functions.name) and all(function.overloadable for function in functions.members)
            and context.file_scope.symbols.get(functions.name) is functions)


def _call_overloaded(context: Context, functions: FunctionSet, node: syntax.FunctionCall,
                     target: Type | None) -> Expression:
    """A call of the function that fits the arguments best."""
    name, arguments = functions.name, _analyze_arguments(context, node)
    sound = [function for function in functions.members if not overloads.has_error(function)]
    if any(map(is_error, arguments)):
        return context.error_expression(node.location)
    candidates: list[tuple[Fits, Candidate]] = [
        (fits, function) for function in sound
        if (fits := ranking.fits(function, arguments, context.known)) is not None]
    if _adds_to_builtins(context, functions):
        has_overloads = builtins.is_known(name) and not any(isinstance(one.type, Matrix) for one in arguments)
        if not has_overloads and not any(is_exact(fits) for fits, _ in candidates):
            return _call_builtin(context, name, arguments, node, target)  # convert_…, coop_mat_…, exp(matrix)
        candidates += [(fits, overload) for fits, overload in builtins.viable(context, name, arguments)
                       if not any(overload.has_parameters(function.type.parameters) for function in sound)]
    chosen = best(candidates)
    if len(chosen) != 1:
        if chosen or len(sound) == len(functions.members):
            _report_choice(context, name, sound, chosen, arguments, node)
        return context.error_expression(node.location)
    if isinstance(chosen[0], builtins.Overload):
        return builtins.build(context, chosen[0], arguments, node.location)
    function = chosen[0]
    if not _can_be_called(context, function, node):
        return context.error_expression(node.location)
    return _make_call(context, function, [
        _pass(context, given, parameter, argument)
        for given, parameter, argument in zip(arguments, function.parameters, node.arguments, strict=True)], node)


def _report_choice(context: Context, name: str, functions: list[Function], chosen: list[Candidate],
                   arguments: list[Expression], node: syntax.FunctionCall) -> None:
    """Report that no overload can be called, or none is the best, with a note for each."""
    types = ", ".join(f"'{argument.type}'" for argument in arguments)
    if chosen:
        notes = [overloads.candidate_note(candidate) if isinstance(candidate, Function)
                 else note(f"candidate built-in function: {candidate}", None) for candidate in chosen]
        context.report(overload_messages.AMBIGUOUS, node.location, notes, name=name, types=types)
        return
    notes = [overloads.reason_note(context, function, arguments) for function in functions]
    notes += builtins.candidates(context, name)
    context.report(overload_messages.NO_MATCH, node.location, notes, name=name, types=types)
