"""Cooperative-matrix expressions; arithmetic and conversions are with the scalars' and vectors'."""

from __future__ import annotations

from coopmat.lowering import messages
from coopmat.lowering.builder import Value, Window
from coopmat.lowering.context import Context, evaluate, failure
from coopmat.lowering.conversions import convert, transpose
from coopmat.tree import nodes as n
from coopmat.tree import types as t


def _matrix(type_: t.Type) -> t.Matrix:
    assert isinstance(type_, t.Matrix)
    return type_


def _window(node: n.MatrixLoad | n.MatrixStore | n.MatrixFill, context: Context) -> Window | None:
    """The node's window, in the widths that SPIR-V's checked instructions have."""
    window = node.window
    if window is None:
        return None
    offsets = [convert(context, context.evaluate(part), t.INT) for part in (window.row, window.column)]
    sizes = [convert(context, context.evaluate(part), t.UINT) for part in (window.height, window.width)]
    context.builder.locate(node.location)
    return Window(*offsets, *sizes)


@evaluate.register
def _(node: n.MatrixLoad, context: Context) -> Value:
    pointer, stride = context.evaluate_all((node.pointer, node.stride), node)
    return context.builder.matrix_load(_matrix(node.type), pointer, node.layout, stride, _window(node, context))


@evaluate.register
def _(node: n.MatrixStore, context: Context) -> Value:
    pointer, matrix, stride = context.evaluate_all((node.pointer, node.matrix, node.stride), node)
    context.builder.matrix_store(pointer, matrix, node.layout, stride, _window(node, context))
    return Value(t.VOID, None)


@evaluate.register
def _(node: n.MatrixPrefetch, context: Context) -> Value:
    pointer, stride = context.evaluate_all((node.pointer, node.stride), node)
    context.builder.matrix_prefetch(pointer, node.rows, node.columns, node.level, node.layout, stride)
    return Value(t.VOID, None)


@evaluate.register
def _(node: n.MatrixMultiplyAdd, context: Context) -> Value:
    a, b, c = context.evaluate_all((node.a, node.b, node.c), node)
    return context.builder.matrix_multiply_add(_matrix(node.type), a, b, c, node.operands)


@evaluate.register
def _(node: n.MatrixFill, context: Context) -> Value:
    value, = context.evaluate_all((node.value,), node)
    return context.builder.matrix_fill(_matrix(node.type), value, _window(node, context))


@evaluate.register
def _(node: n.MatrixTimesScalar, context: Context) -> Value:
    matrix, scalar = context.evaluate_all((node.matrix, node.scalar), node)
    return context.builder.matrix_times_scalar(matrix, scalar)


@evaluate.register
def _(node: n.MatrixTranspose, context: Context) -> Value:
    matrix, = context.evaluate_all((node.matrix,), node)
    return transpose(context, matrix, _matrix(node.type))


@evaluate.register
def _(node: n.MatrixReduce, context: Context) -> Value:
    matrix, = context.evaluate_all((node.matrix,), node)
    return context.builder.matrix_reduce(_matrix(node.type), matrix, node.axes, node.combine)


@evaluate.register
def _(node: n.MatrixApply, context: Context) -> Value:
    if node.function.body is None:
        raise failure(messages.NO_DEFINITION, node.location, name=node.function.name)
    matrix, *others = context.evaluate_all((node.matrix, *node.arguments), node)
    return context.builder.matrix_apply(matrix, node.function, others)


@evaluate.register
def _(node: n.MatrixLength, context: Context) -> Value:
    return context.builder.matrix_length(node.matrix)


@evaluate.register
def _(node: n.MatrixCoordinates, context: Context) -> Value:
    matrix, index = context.evaluate_all((node.matrix, node.index), node)
    if index.type not in (t.INT, t.UINT):
        index = convert(context, index, t.INT)
    return context.builder.matrix_coordinates(matrix, index)
