"""Expressions that are written as constants (front ends fold what can be folded)."""

from __future__ import annotations

from coopmat.lowering.builder import Builder, Value
from coopmat.lowering.memory import memory_type, value_type
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def is_constant(node: n.Expression) -> bool:
    """Whether :func:`constant` accepts the expression."""
    match node:
        case n.Constant() | n.Zero() | n.Undefined():
            return not t.contains_matrix(node.type)
        case n.Aggregate(elements=parts) | n.VectorOf(parts=parts):
            return all(map(is_constant, parts))
        case n.Splat(operand=operand):
            return is_constant(operand)
    return False


def constant(builder: Builder, node: n.Expression, in_memory: bool) -> Value:
    """The value of a constant expression; ``in_memory``: as memory holds it, else as a value."""
    type_ = memory_type(node.type) if in_memory else value_type(node.type)
    match node:
        case n.Constant(value=value):
            return builder.constant(type_, int(value) if isinstance(value, bool) and in_memory else value)
        case n.Undefined():
            return builder.undefined(type_)
        case n.Aggregate(elements=elements):
            return builder.constant_composite(type_, [constant(builder, e, True) for e in elements])
        case n.VectorOf() | n.Splat():
            return builder.constant_composite(type_, [constant(builder, c, in_memory) for c in _components(node)])
    return builder.zero(type_)


def _components(node: n.Expression) -> list[n.Expression]:
    """The scalar constants of which a constant vector consists."""
    match node:
        case n.VectorOf(parts=parts):
            return [component for part in parts for component in _components(part)]
        case n.Splat(operand=operand, type=t.Vector(count=count)):
            return [operand] * count
        case n.Zero(type=t.Vector(scalar=scalar, count=count), location=location):
            return [n.Zero(scalar, location)] * count
        case n.Undefined(type=t.Vector(scalar=scalar, count=count), location=location):
            return [n.Undefined(scalar, location)] * count
    return [node]
