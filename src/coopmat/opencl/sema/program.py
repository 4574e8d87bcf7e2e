"""Whole programs: external declarations, and the rules that look at all functions together."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.types import has_size
from coopmat.opencl.base.values import ERROR
from coopmat.opencl.builtins import matrices
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import assertions, attributes, declarations, declarators, statements, static_variables
from coopmat.opencl.sema.checks import unused
from coopmat.opencl.sema.context import Context
from coopmat.opencl.sema.declarations import declare_function, function_attributes, make_function
from coopmat.support.assertions import ASSERTION_FUNCTIONS
from coopmat.support.limits import DEEPEST_CALL
from coopmat.tree.nodes import Function
from coopmat.tree.types import VOID


def analyze(context: Context, unit: syntax.TranslationUnit) -> None:
    """Analyse all declarations and fill ``context.program``."""
    for item in unit.items:
        with context.analyzing(item):
            _external_declaration(context, item)
    static_variables.check_definitions(context)
    _check_calls(context)
    matrices.check_applied(context)
    matrices.check_work_groups(context)
    unused.functions(context, context.static_functions)


def _external_declaration(context: Context, item: syntax.Node) -> None:
    match item:
        case syntax.FunctionDefinition():
            _function_definition(context, item)
        case syntax.Declaration():
            declarations.declaration(context, item)
        case syntax.Pragma():
            statements.pragma(context, item)
        case syntax.StaticAssert():
            assertions.static_assert(context, item)


def _function_definition(context: Context, node: syntax.FunctionDefinition) -> None:
    declarations.check_storage_classes(context, node.specifiers)
    base = declarators.specified_type(context, node.specifiers)
    found = declarators.declared(context, base, node.declarator)
    if found.function is None or found.name is None:
        return
    if "typedef" in node.specifiers.storage:
        context.report(messages.DEFINED_TYPE, found.location)
    function = make_function(context, node.specifiers, found)
    if function.result not in (VOID, ERROR) and not has_size(function.result):
        context.report(messages.INCOMPLETE_RESULT, found.location, type=function.result)
        function.result = ERROR
    attributes.apply_to_function(context, function, function_attributes(node.specifiers, node.attributes))
    known = declare_function(context, function)
    if known.body is not None:
        context.report(messages.REDEFINITION, found.location,
                       (note("previous definition is here", known.location),), name=found.name)
        known = function
    else:
        known.parameters = function.parameters
        known.location = function.location
        if known.result is ERROR:
            known.result = function.result
        context.program.functions.append(known)
    if "static" in node.specifiers.storage and not unused.is_silenced(node.specifiers.attributes, node.attributes):
        context.static_functions.append(known)
    statements.function_body(context, known, node.body)


# ------------------------------------------------------------------ calls


def _check_calls(context: Context) -> None:
    """Functions that are called have a body, except those that every target has, and none calls itself (OpenCL C
    6.11.i)."""
    for callees in context.calls.values():
        for callee, location in callees.items():
            is_known = callee.body is not None or callee.name in ASSERTION_FUNCTIONS
            if not is_known and ERROR not in (callee.result, *callee.type.parameters):
                spot = (note(f"'{callee.label}' declared here", callee.location),)
                context.report(messages.UNDEFINED_FUNCTION, location, spot, name=callee.label)
    cycles, order = _cycles(context.calls)
    for path, location in cycles:
        names = " -> ".join(f"'{function.label}'" for function in path)
        message = messages.RECURSION if len(path) == 2 else messages.INDIRECT_RECURSION
        context.report(message, location, (), name=path[0].label, path=names)
    if not cycles:
        _check_depth(context, order)


CallGraph = dict[Function, dict[Function, SourceLocation | None]]


def _cycles(calls: CallGraph) -> tuple[list[tuple[list[Function], SourceLocation | None]], list[Function]]:
    """Each call that closes a cycle, as the functions on the cycle, the first one again at the end; and all
    functions, callees before their callers where there is no cycle."""
    done: dict[Function, None] = {}
    found: list[tuple[list[Function], SourceLocation | None]] = []
    for root in calls:
        if root in done:
            continue
        path, pending = [root], [iter(calls.get(root, {}).items())]
        while path:
            callee, location = next(pending[-1], (None, None))
            if callee is None:
                done[path.pop()] = None
                pending.pop()
            elif callee in path:
                found.append(([*path[path.index(callee):], callee], location))
            elif callee not in done:
                path.append(callee)
                pending.append(iter(calls.get(callee, {}).items()))
    return found, list(done)


def _check_depth(context: Context, order: list[Function]) -> None:
    """Report the first functions whose calls nest too deeply. A kernel that is called is two functions: the
    entry point, and the one with its body."""
    levels: dict[Function, int] = {}
    for function in order:
        callees = context.calls.get(function, {})
        deepest = max(callees, key=levels.__getitem__, default=None)
        levels[function] = 1 if deepest is None else 1 + levels[deepest]
    called = {callee for callees in context.calls.values() for callee in callees}
    for function, level in levels.items():
        callees = context.calls.get(function, {})
        if level + (function.is_kernel and function in called) <= DEEPEST_CALL or not callees:
            continue
        deepest = max(callees, key=levels.__getitem__)
        if levels[deepest] <= DEEPEST_CALL:
            context.report(messages.CALLS_TOO_DEEP, callees[deepest], (), name=function.label, limit=DEEPEST_CALL)
