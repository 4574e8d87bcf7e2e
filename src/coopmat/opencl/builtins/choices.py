"""Choices between expressions by their types: ``_Generic`` (C11 6.5.1.1) and clang's built-in choices."""

from __future__ import annotations

from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.values import ERROR, Operand, is_error
from coopmat.opencl.messages import builtins as builtin_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.tree.nodes import Constant
from coopmat.tree.types import INT, Enumeration, Type


def selection(context: Analysis, node: syntax.GenericSelection, target: Type | None) -> Operand:
    """``_Generic``: the value whose type is the operand's; only that one is evaluated."""
    operand = context.unevaluated(node.operand)
    found: dict[Type | None, syntax.Expression] = {}
    for association in node.associations:
        type_ = None
        if association.type_name is not None:
            type_ = context.resolve_type_name(association.type_name)
            if type_ is ERROR:
                return context.error_expression(node.location)
        if type_ in found:
            return context.error(messages.DUPLICATE_ASSOCIATION, association.location,
                                 what=f"type '{type_}'" if type_ is not None else "'default'")
        found[type_] = association.value
    if operand is ERROR:
        return context.error_expression(node.location)
    chosen = found.get(operand, found.get(None))
    if chosen is None:
        return context.error(messages.NO_ASSOCIATION, start_of(node.operand), type=operand)
    return _only(context, chosen, list(found.values()), target)


def _only(context: Analysis, chosen: syntax.Expression, choices: list[syntax.Expression],
          target: Type | None) -> Operand:
    """The value of one of several expressions; the others are looked at for errors only."""
    results = [context.analyze(choice, target) if choice is chosen
               else context.unevaluated(choice) for choice in choices]
    return next(result for result in results if not isinstance(result, Type))


def choose(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """``__builtin_choose_expr(constant, a, b)``."""
    test, *choices = node.operands
    assert isinstance(test, syntax.Expression)
    value = context.value(test)
    if is_error(value):
        return value
    number = context.constant_integer(value)
    if number is None:
        return context.error(builtin_messages.NOT_CONSTANT, start_of(test), what="first", name=node.name)
    values = [choice for choice in choices if isinstance(choice, syntax.Expression)]
    return _only(context, values[0 if number else 1], values, target)


def types_compatible(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """``__builtin_types_compatible_p(type, type)``."""
    types = [context.resolve_type_name(operand) for operand in node.operands
             if isinstance(operand, syntax.TypeName)]
    if ERROR in types:
        return context.error_expression(node.location)
    left, right = (type_.underlying if isinstance(type_, Enumeration) and type_ != other else type_
                   for type_, other in (types, types[::-1]))
    return Constant(INT, node.location, int(left == right))
