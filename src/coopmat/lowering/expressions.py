"""Expressions: scalars, vectors, pointers, records, assignments and calls."""

from __future__ import annotations

from dataclasses import replace

from coopmat.lowering import messages, places
from coopmat.lowering.analysis import branches
from coopmat.lowering.builder import BasicBlock, Value, is_union
from coopmat.lowering.constants import constant, is_constant
from coopmat.lowering.context import Context, evaluate, failure, is_imported
from coopmat.lowering.conversions import bitcast, convert, from_memory, to_memory
from coopmat.lowering.memory import memory_type, value_type
from coopmat.lowering.statements import run
from coopmat.tree import nodes as n
from coopmat.tree import types as t

Operator = n.BinaryOperator


# -- Constants -----------------------------------------------------------------------------


@evaluate.register(n.Constant)
@evaluate.register(n.Zero)
@evaluate.register(n.Undefined)
def _(node: n.Expression, context: Context) -> Value:
    return constant(context.builder, node, in_memory=False)


@evaluate.register
def _(node: n.Aggregate, context: Context) -> Value:
    if is_constant(node):
        return constant(context.builder, node, in_memory=True)
    elements = [to_memory(context, value) for value in context.evaluate_all(node.elements, node)]
    return context.builder.composite(memory_type(node.type), elements)


@evaluate.register
def _(node: n.UnionOf, context: Context) -> Value:
    """Through memory, where a member overlays the others."""
    if is_constant(node):
        return constant(context.builder, node, in_memory=True)
    value, = context.evaluate_all((node.value,), node)
    alignment = t.layout_of(node.type).alignment
    whole = context.temporary(context.builder.zero(node.type))
    assert isinstance(whole.type, t.Pointer)
    member = context.builder.bitcast(whole, replace(whole.type, pointee=node.value.type))
    context.builder.store(member, to_memory(context, value), alignment)
    return context.builder.load(whole, alignment)


# -- Memory --------------------------------------------------------------------------------


@evaluate.register
def _(node: n.Load, context: Context) -> Value:
    if isinstance(node.place, n.VariablePlace) and node.place.variable in context.values:
        return context.values[node.place.variable]
    address = context.resolve(node.place)
    context.builder.locate(node.location)
    return places.load(context, address)


@evaluate.register
def _(node: n.AddressOf, context: Context) -> Value:
    address = context.resolve(node.place)
    context.builder.locate(node.location)
    return context.builder.bitcast(places.address_value(context, address), node.type)


@evaluate.register
def _(node: n.Assign, context: Context) -> Value:
    address = context.resolve(node.place)
    value = context.evaluate(node.value)
    context.builder.locate(node.location)
    places.store(context, address, value)
    return value


@evaluate.register
def _(node: n.Update, context: Context) -> Value:
    address = places.pinned(context, context.resolve(node.place))
    context.builder.locate(node.location)
    old = places.load(context, address)
    context.current[id(node.current)] = old
    new = context.evaluate(node.value)
    context.builder.locate(node.location)
    places.store(context, address, new)
    return old if node.returns_old else new


@evaluate.register
def _(node: n.CurrentValue, context: Context) -> Value:
    return context.current[id(node)]


# -- Operators -----------------------------------------------------------------------------


@evaluate.register
def _(node: n.Unary, context: Context) -> Value:
    operand, = context.evaluate_all((node.operand,), node)
    return context.builder.unary(node.operator, operand)


@evaluate.register
def _(node: n.Binary, context: Context) -> Value:
    """A long sum leans to the left: its operators are walked without recursion."""
    operators: list[n.Binary] = []
    first: n.Expression = node
    while isinstance(first, n.Binary):
        operators.append(first)
        first = first.left
    value = context.evaluate(first)
    for operator in reversed(operators):
        value = _binary(operator, value, context)
    return value


def _binary(node: n.Binary, left: Value, context: Context) -> Value:
    if node.operator in (Operator.SHIFT_LEFT, Operator.SHIFT_RIGHT):
        right = _shift_amount(node.right, left.type, context)
    else:
        right = context.evaluate(node.right)
    context.builder.locate(node.location)
    if isinstance(left.type, t.Pointer):
        left, right = (context.builder.bitcast(pointer, t.ULONG) for pointer in (left, right))
    return context.builder.binary(node.operator, left, right)


def _shift_amount(node: n.Expression, left: t.Type, context: Context) -> Value:
    """The amount as a value of type ``left``; modulo the width of its components where the language says so."""
    if not context.is_shift_modular:
        return convert(context, context.evaluate(node), left)
    assert isinstance(left.element, t.Scalar)
    mask = left.element.bits - 1
    if isinstance(node, n.Constant):
        return context.constant(left, int(node.value) & mask)
    amount = convert(context, context.evaluate(node), left)
    return context.builder.binary(Operator.AND, amount, context.constant(left, mask))


@evaluate.register
def _(node: n.Logical, context: Context) -> Value:
    left, = context.evaluate_all((node.left,), node)
    builder = context.builder
    if not branches(node, context.speculation):
        right, = context.evaluate_all((node.right,), node)
        return builder.binary(Operator.AND if node.is_and else Operator.OR, left, right)
    start = builder.current_block
    right_block, merge = builder.new_block("logical.right"), builder.new_block("logical.end")
    if_true, if_false = (right_block, merge) if node.is_and else (merge, right_block)
    context.jump_if(left, if_true, if_false, _merge(merge, context))
    context.open(right_block)
    right, = context.evaluate_all((node.right,), node)
    end = builder.current_block
    context.jump(merge)
    context.open(merge)
    decided = builder.constant(t.BOOL, not node.is_and)
    return builder.phi(t.BOOL, ((decided, start), (right, end)))


@evaluate.register
def _(node: n.Conditional, context: Context) -> Value:
    condition, = context.evaluate_all((node.condition,), node)
    sides = node.if_true, node.if_false
    if not branches(node, context.speculation):
        if_true, if_false = context.evaluate_all(sides, node)
        return context.builder.select(condition, if_true, if_false)
    new_block = context.builder.new_block
    true_block, false_block = new_block("conditional.true"), new_block("conditional.false")
    merge = new_block("conditional.end")
    context.jump_if(condition, true_block, false_block, _merge(merge, context))
    incoming = []
    for block, side in zip((true_block, false_block), sides, strict=True):
        context.open(block)
        value, = context.evaluate_all((side,), node)
        incoming.append((value, context.builder.current_block))
        context.jump(merge)
    context.open(merge)
    if isinstance(node.type, t.Void):
        return incoming[0][0]
    return context.builder.phi(value_type(node.type), incoming)


def _merge(block: BasicBlock, context: Context) -> BasicBlock | None:
    return None if context.facts.has_labels else block


@evaluate.register
def _(node: n.Select, context: Context) -> Value:
    return context.builder.select(*context.evaluate_all((node.condition, node.if_true, node.if_false), node))


@evaluate.register
def _(node: n.Comma, context: Context) -> Value:
    context.evaluate(node.first)
    return context.evaluate(node.second)


@evaluate.register
def _(node: n.StatementExpression, context: Context) -> Value:
    """The statements, which may leave the expression: what follows then cannot be reached."""
    for statement in node.statements:
        run(statement, context)
    if not context.is_open:
        context.open(context.builder.new_block("unreachable"))
    return context.constant(t.INT, 0) if node.value is None else context.evaluate(node.value)


@evaluate.register
def _(node: n.Convert, context: Context) -> Value:
    operand, = context.evaluate_all((node.operand,), node)
    return convert(context, operand, node.type, node.rounding, node.saturate)


@evaluate.register
def _(node: n.Bitcast, context: Context) -> Value:
    operand, = context.evaluate_all((node.operand,), node)
    return bitcast(context, operand, node.type)


# -- Vectors and records -------------------------------------------------------------------


@evaluate.register
def _(node: n.VectorOf, context: Context) -> Value:
    if is_constant(node):
        return constant(context.builder, node, in_memory=False)
    return context.builder.composite(node.type, context.evaluate_all(node.parts, node))


@evaluate.register
def _(node: n.Splat, context: Context) -> Value:
    assert isinstance(node.type, t.Vector)
    if is_constant(node):
        return constant(context.builder, node, in_memory=False)
    operand, = context.evaluate_all((node.operand,), node)
    return context.builder.composite(node.type, [operand] * node.type.count)


@evaluate.register
def _(node: n.Swizzle, context: Context) -> Value:
    operand, = context.evaluate_all((node.operand,), node)
    if len(node.components) == 1:
        return context.builder.extract(operand, node.components[0])
    assert isinstance(node.type, t.Vector)
    return context.builder.shuffle(operand, node.components, node.type)


@evaluate.register
def _(node: n.ExtractComponent, context: Context) -> Value:
    operand = context.evaluate(node.operand)
    index = places.index_of(context, node.index, operand.type)
    context.builder.locate(node.location)
    if isinstance(index, int):
        return context.builder.extract(operand, index)
    if isinstance(operand.type, t.Vector):
        return context.builder.extract_dynamic(operand, index)
    element = context.builder.access(context.temporary(operand), (index,))
    return context.builder.load(element, t.layout_of(operand.type.element).alignment)


@evaluate.register
def _(node: n.ExtractField, context: Context) -> Value:
    record, = context.evaluate_all((node.operand,), node)
    if not is_union(record.type):
        return from_memory(context, context.builder.extract(record, node.index), node.type)
    pointer = context.temporary(record)
    assert isinstance(pointer.type, t.Pointer)
    field = context.builder.bitcast(pointer, replace(pointer.type, pointee=node.type))
    value = context.builder.load(field, t.layout_of(record.type).alignment)
    return from_memory(context, value, node.type)


# -- Pointers ------------------------------------------------------------------------------


@evaluate.register
def _(node: n.CastAddressSpace, context: Context) -> Value:
    operand, = context.evaluate_all((node.operand,), node)
    return context.builder.cast_address_space(operand, node.type)


@evaluate.register
def _(node: n.PointerOffset, context: Context) -> Value:
    pointer, offset = context.evaluate_all((node.pointer, node.offset), node)
    return context.builder.offset_pointer(pointer, offset)


@evaluate.register
def _(node: n.WithCacheControls, context: Context) -> Value:
    pointer, = context.evaluate_all((node.pointer,), node)
    assert isinstance(pointer.type, t.Pointer)
    if pointer.type.address_space is t.AddressSpace.LOCAL:  # no cache is there, and the extension allows none
        return pointer
    return context.builder.with_cache_controls(pointer, node.loads, node.stores)


@evaluate.register
def _(node: n.PointerDifference, context: Context) -> Value:
    left, right = context.evaluate_all((node.left, node.right), node)
    assert isinstance(left.type, t.Pointer)
    left, right = (context.builder.bitcast(pointer, t.ULONG) for pointer in (left, right))
    difference = context.builder.bitcast(context.builder.binary(Operator.SUBTRACT, left, right), t.LONG)
    size = t.size_of(node.left.type.pointee) if isinstance(node.left.type, t.Pointer) else 1
    if size == 1:
        return difference
    return context.builder.binary(Operator.DIVIDE, difference, context.constant(t.LONG, size))


# -- Calls and operations ------------------------------------------------------------------


@evaluate.register
def _(node: n.Call, context: Context) -> Value:
    function = context.substitutes.get(node.function, node.function)
    if function.body is None and not is_imported(function):
        raise failure(messages.NO_DEFINITION, node.location, name=function.name)
    arguments = context.evaluate_all(node.arguments, node)
    return replace(context.builder.call(function, arguments), type=value_type(function.result))


@evaluate.register
def _(node: n.WorkItemQuery, context: Context) -> Value:
    type_ = value_type(node.type)
    dimension: Value | int | None = None
    if isinstance(node.dimension, n.Constant):
        dimension = int(node.dimension.value)
        if not 0 <= dimension <= 2:
            return context.constant(type_, node.out_of_range)
    elif node.dimension is not None:
        dimension = context.evaluate(node.dimension)
    context.builder.locate(node.location)
    return context.builder.work_item_query(node.builtin, type_, dimension, node.out_of_range)


@evaluate.register
def _(node: n.Operation, context: Context) -> Value:
    family, _, name = node.name.partition(".")
    arguments = context.evaluate_all(node.arguments, node)
    operations = {"std": context.builder.std, "core": context.builder.core}
    return operations[family](name, value_type(node.type), arguments, node.literals)
