"""Statements and function bodies (C99 6.8, 6.9.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.conversions import Purpose, condition, convert
from coopmat.opencl.base.symbols import FunctionState, OpenSwitch
from coopmat.opencl.base.values import ERROR, is_error, value_of
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema import assertions, attributes, declarations
from coopmat.opencl.sema.checks import conditions, control, uninitialized, unused
from coopmat.opencl.sema.checks import statements as checks
from coopmat.opencl.sema.context import Context
from coopmat.opencl.sema.flow import completes
from coopmat.tree import constants
from coopmat.tree.conversions import promote
from coopmat.tree.nodes import (
    AddressOf,
    Bitcast,
    Block,
    Break,
    Case,
    CastAddressSpace,
    Comma,
    Conditional,
    Continue,
    Declare,
    Dereference,
    ElementPlace,
    Evaluate,
    Expression,
    FieldPlace,
    Function,
    Goto,
    If,
    Label,
    Loop,
    Place,
    PointerOffset,
    Return,
    Statement,
    StatementExpression,
    Switch,
    Variable,
    VariablePlace,
)
from coopmat.tree.types import VOID, AddressSpace, Scalar, Type

MAX_CASE_RANGE = 4096


# ------------------------------------------------------------------ functions


def function_body(context: Context, function: Function, body: syntax.Compound) -> None:
    """Analyse a function's body; parameters and outermost declarations share a scope (C99 6.2.1p4)."""
    state = FunctionState(function)
    errors = context.sink.error_count
    context.function = state
    with context.new_scope() as scope:
        for parameter in function.parameters:
            if parameter.name in scope.symbols:
                context.report(messages.REDEFINITION_OF_PARAMETER, parameter.location, name=parameter.name)
            elif parameter.name:
                scope.symbols[parameter.name] = parameter
        statements = _items(context, body.items)
    _check_jumps(context, state)
    temporaries = [Declare(variable.location, variable) for variable in state.temporaries]
    function.body = Block(body.location, (*temporaries, *statements))
    if function.result not in (VOID, ERROR) and completes(function.body):
        context.report(messages.MISSING_RETURN, body.end, name=function.name)
    if context.sink.error_count == errors:
        unused.function(context, state)
        uninitialized.check(context, function)
    context.calls[function] = state.calls
    context.function = None


def _check_jumps(context: Context, state: FunctionState) -> None:
    """Every goto has its label, and none leads into a statement expression."""
    for name, location, inside in state.gotos:
        if name not in state.labels:
            context.report(messages.UNDECLARED_LABEL, location, name=name)
        elif inside[:len(state.places[name])] != state.places[name]:
            spot = note(f"label '{name}' is in the statement expression", state.labels[name].location)
            context.report(messages.JUMP_INTO_EXPRESSION, location, (spot,), what="this goto")


# ------------------------------------------------------------------ dispatch


def statement(context: Context, node: syntax.Statement) -> list[Statement]:
    """The statements that one of the syntax becomes; labels stand in front of what they label."""
    with context.analyzing(node):
        return _HANDLERS[type(node)](context, node)


def _items(context: Context, items: list[syntax.Statement]) -> list[Statement]:
    checks.block(context, items)
    return [result for item in items for result in statement(context, item)]


def statement_expression(context: Context, node: syntax.StatementExpression, target: Type | None) -> Expression:
    """``({ …; value; })``: the last statement, if it is an expression, gives the value."""
    state = context.function
    if state is None:
        return context.error(messages.STATEMENT_EXPRESSION_AT_FILE_SCOPE, node.location)
    outside = state.inside
    state.statement_expressions += 1
    state.inside = (*outside, state.statement_expressions)
    with context.new_scope():
        *items, last = [*node.body.items] or [syntax.ExpressionStatement(node.location, None)]
        statements = _items(context, items)
        while isinstance(last, syntax.Labelled):
            statements.append(_label(context, last))
            last = last.statement
        if isinstance(last, syntax.ExpressionStatement) and last.expression is not None:
            result = context.value(last.expression)
        else:
            statements += statement(context, last)
            result = None
    state.inside = outside
    if result is not None and is_error(result):
        return result
    if result is None or result.type == VOID:
        statements += [] if result is None else _evaluated(last.location, result)
        return StatementExpression(VOID, node.location, tuple(statements), None)
    return StatementExpression(result.type, node.location, tuple(statements), result)


def _evaluated(location: SourceLocation, expression: Expression) -> list[Statement]:
    """An expression as statements: those of a statement expression without a value are the enclosing block's."""
    if isinstance(expression, StatementExpression) and expression.value is None:
        return [Block(location, expression.statements)]
    return [Evaluate(location, expression)]


def _single(context: Context, node: syntax.Statement) -> Statement:
    """A statement's body as one statement in a scope of its own."""
    with context.new_scope():
        statements = statement(context, node)
    return statements[0] if len(statements) == 1 else Block(node.location, tuple(statements))


def _compound(context: Context, node: syntax.Compound) -> list[Statement]:
    with context.new_scope():
        return [Block(node.location, tuple(_items(context, node.items)))]


def _declaration(context: Context, node: syntax.Declaration) -> list[Statement]:
    return declarations.declaration(context, node)


def _expression(context: Context, node: syntax.ExpressionStatement) -> list[Statement]:
    if node.expression is None:
        return []
    operand = context.analyze_whole(node.expression)
    if is_error(operand):
        return []
    value = value_of(operand)
    checks.unused_value(context, node.expression, value)
    unused.stored(context, node.expression)
    return _evaluated(node.location, value)


def _attributed(context: Context, node: syntax.Attributed) -> list[Statement]:
    attributes.report_unknown(context, node.attributes, ("fallthrough",))
    return statement(context, node.statement)


# ------------------------------------------------------------------ choices


def _condition(context: Context, node: syntax.Expression) -> Expression:
    conditions.condition(context, node)
    return condition(context, context.whole_value(node), location=start_of(node))


def _if(context: Context, node: syntax.If) -> list[Statement]:
    """Chains of ``else if`` are walked in a loop, so that they may be long."""
    chain: list[tuple[syntax.If, Expression, Statement]] = []
    last: syntax.Statement | None = node
    while isinstance(last, syntax.If):
        checks.dangling_else(context, last)
        chain.append((last, _condition(context, last.condition), _single(context, last.then)))
        last = last.otherwise
    otherwise = None if last is None else _single(context, last)
    for item, test, then in reversed(chain):
        otherwise = If(item.location, test, then, otherwise)
    assert otherwise is not None
    return [otherwise]


def _switch(context: Context, node: syntax.Switch) -> list[Statement]:
    assert context.function is not None
    value = context.whole_value(node.value)
    if not is_error(value) and (not value.type.is_arithmetic or value.type.is_float):
        value = context.error(messages.SWITCH_VALUE, start_of(node.value), type=value.type)
    switched = value
    if not is_error(value):
        value = promote(value)
    cases: list[Case] = []
    context.function.switches.append(OpenSwitch(value, cases, context.function.inside))
    context.function.breakables += 1
    body = _single(context, node.body)
    context.function.breakables -= 1
    context.function.switches.pop()
    control.switch(context, node, switched, cases)
    return [Switch(node.location, value, body, tuple(cases))]


def _case(context: Context, node: syntax.Case) -> list[Statement]:
    """A label and what it stands in front of; several labels in a row are walked in a loop."""
    result: list[Statement] = []
    inner: syntax.Statement = node
    while isinstance(inner, syntax.Case):
        result += _case_labels(context, inner)
        inner = inner.statement
    return result + statement(context, inner)


def _case_labels(context: Context, node: syntax.Case) -> list[Case]:
    """The labels of one ``case``: several for a range."""
    assert context.function is not None
    if not context.function.switches:
        context.report(messages.CASE_OUTSIDE_SWITCH, node.location, word="case" if node.value else "default")
        return []
    switch = context.function.switches[-1]
    if switch.inside != context.function.inside:
        context.report(messages.JUMP_INTO_EXPRESSION, node.location, what="the switch around it")
        return []
    if node.value is None:
        return _new_cases(context, node.location, [None], switch.cases)
    first = _case_value(context, node.value, switch.value)
    last = first if node.last is None else _case_value(context, node.last, switch.value)
    if first is None or last is None:
        return []
    if last < first:
        context.report(messages.EMPTY_CASE_RANGE, node.location)
    if last - first >= MAX_CASE_RANGE:
        context.report(messages.LONG_CASE_RANGE, node.location, limit=MAX_CASE_RANGE)
        return []
    return _new_cases(context, start_of(node.value), range(first, last + 1), switch.cases)


def _case_value(context: Context, node: syntax.Expression, switched: Expression) -> int | None:
    """A label's value in the type of what is switched over; None after a report."""
    expression = context.value(node)
    if is_error(expression) or is_error(switched):
        return None
    number = context.constant_integer(expression)
    if number is None:
        context.report(messages.NOT_INTEGER_CONSTANT, start_of(node))
        return None
    assert isinstance(switched.type, Scalar)
    return constants.wrap(number, switched.type)


def _new_cases(context: Context, location: SourceLocation, values: Sequence[int | None],
               cases: list[Case]) -> list[Case]:
    """Labels for these values; one that is there already is reported."""
    known = {case.value: case for case in cases}
    result: list[Case] = []
    for value in values:
        if value in known:
            message = messages.DUPLICATE_DEFAULT if value is None else messages.DUPLICATE_CASE
            context.report(message, location, (note("previous case defined here", known[value].location),),
                           value=value)
            return result
        result.append(Case(location, value))
    cases += result
    return result


# ------------------------------------------------------------------ loops and jumps


def _body(context: Context, node: syntax.Statement) -> Statement:
    assert context.function is not None
    context.function.loops += 1
    context.function.breakables += 1
    body = _single(context, node)
    context.function.loops -= 1
    context.function.breakables -= 1
    return body


def _while(context: Context, node: syntax.While) -> list[Statement]:
    unroll = attributes.unroll_hint(context, node.attributes, node.unroll)
    if node.tests_last:
        body = _body(context, node.body)
        test = _condition(context, node.condition)
    else:
        test = _condition(context, node.condition)
        body = _body(context, node.body)
    return [Loop(node.location, test, body, None, node.tests_last, unroll)]


def _for(context: Context, node: syntax.For) -> list[Statement]:
    unroll = attributes.unroll_hint(context, node.attributes, node.unroll)
    with context.new_scope():
        initial = [] if node.initial is None else statement(context, node.initial)
        test = None if node.condition is None else _condition(context, node.condition)
        step = None if node.step is None else context.whole_value(node.step)
        if node.step is not None and step is not None and not is_error(step):
            checks.unused_value(context, node.step, step)
            unused.stored(context, node.step)
        loop = Loop(node.location, test, _body(context, node.body), step, False, unroll)
        control.loop_condition(context, node, loop)
    return [Block(node.location, (*initial, loop))] if initial else [loop]


def _break(context: Context, node: syntax.Break) -> list[Statement]:
    assert context.function is not None
    if not context.function.breakables:
        context.report(messages.STRAY_BREAK, node.location)
    return [Break(node.location)]


def _continue(context: Context, node: syntax.Continue) -> list[Statement]:
    assert context.function is not None
    if not context.function.loops:
        context.report(messages.STRAY_CONTINUE, node.location)
    return [Continue(node.location)]


def _return(context: Context, node: syntax.Return) -> list[Statement]:
    assert context.function is not None
    function = context.function.function
    if node.value is None:
        if function.result not in (VOID, ERROR):
            context.report(messages.RETURN_NEEDS_VALUE, node.location, name=function.name)
        return [Return(node.location)]
    value = context.whole_value(node.value, function.result)
    if is_error(value) or function.result is ERROR:
        return [Return(node.location)]
    if function.result == VOID:
        if value.type != VOID:
            context.report(messages.RETURN_IN_VOID, node.location, name=function.name)
        return [Evaluate(node.location, value), Return(node.location)]
    converted = convert(context, value, function.result, start_of(node.value), Purpose.RETURN)
    for variable in _addressed(converted):
        if variable.address_space is AddressSpace.PRIVATE:
            context.report(messages.STACK_ADDRESS, start_of(node.value), what=_described(variable, function))
    return [Return(node.location, None if is_error(converted) else converted)]


def _addressed(pointer: Expression | Place) -> Iterator[Variable]:
    """The variables that a pointer, or the pointer to a place, certainly points into."""
    match pointer:
        case Bitcast(operand=inner) | CastAddressSpace(operand=inner) | PointerOffset(pointer=inner):
            yield from _addressed(inner)
        case AddressOf(place=inner) | ElementPlace(base=inner) | FieldPlace(base=inner) | Dereference(pointer=inner):
            yield from _addressed(inner)
        case Comma(second=inner):
            yield from _addressed(inner)
        case Conditional(if_true=first, if_false=second):
            yield from _addressed(first)
            yield from _addressed(second)
        case VariablePlace(variable=variable):
            yield variable


def _described(variable: Variable, function: Function) -> str:
    if variable.name.startswith("."):
        return "a compound literal"
    return f"{'parameter' if variable in function.parameters else 'local variable'} '{variable.name}'"


def _labelled(context: Context, node: syntax.Labelled) -> list[Statement]:
    return [_label(context, node), *statement(context, node.statement)]


def _label(context: Context, node: syntax.Labelled) -> Label:
    assert context.function is not None
    labels = context.function.labels
    if node.name in labels:
        context.report(messages.LABEL_REDEFINITION, node.location, context.previous(labels[node.name].location),
                       name=node.name)
    context.function.places.setdefault(node.name, context.function.inside)
    return labels.setdefault(node.name, Label(node.location, node.name))


def _goto(context: Context, node: syntax.Goto) -> list[Statement]:
    assert context.function is not None
    context.function.gotos.append((node.name, node.target, context.function.inside))
    return [Goto(node.location, node.name)]


# ------------------------------------------------------------------ pragmas and assertions


def pragma(context: Context, node: syntax.Pragma) -> list[Statement]:
    """``OPENCL EXTENSION name : behavior`` and ``OPENCL FP_CONTRACT state`` (OpenCL C 6.8)."""
    match node.words:
        case ["OPENCL", "EXTENSION", "all", ":", "disable"]:
            context.disabled_extensions |= context.features
        case ["OPENCL", "EXTENSION", name, ":", "disable"]:
            context.disabled_extensions.add(name)
        case ["OPENCL", "EXTENSION", name, ":", "enable"]:
            context.disabled_extensions.discard(name)
        case ["OPENCL", "FP_CONTRACT", state]:
            context.program.contract_floating_point = state != "OFF"
    return []


def _static_assert(context: Context, node: syntax.StaticAssert) -> list[Statement]:
    assertions.static_assert(context, node)
    return []


Handler = Callable[[Context, Any], list[Statement]]

_HANDLERS: dict[type[syntax.Statement], Handler] = {
    syntax.Compound: _compound, syntax.Declaration: _declaration, syntax.ExpressionStatement: _expression,
    syntax.Attributed: _attributed, syntax.If: _if, syntax.Switch: _switch, syntax.Case: _case, syntax.While: _while,
    syntax.For: _for, syntax.Break: _break, syntax.Continue: _continue, syntax.Return: _return,
    syntax.Labelled: _labelled, syntax.Goto: _goto, syntax.Pragma: pragma, syntax.StaticAssert: _static_assert,
}
