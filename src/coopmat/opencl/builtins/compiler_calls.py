"""Built-in functions of the compiler that look at their operands themselves: types, constants, promises.

:mod:`coopmat.opencl.builtins.compiler` has the ones with a plain signature. Each function here gets the call
as it is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from coopmat.diagnostics import SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.conversions import Purpose, cast, condition, convert, make_pointer
from coopmat.opencl.base.temporaries import hold
from coopmat.opencl.base.types import find_member, has_size, visible_members
from coopmat.opencl.base.values import ERROR, Operand, dereference, is_error, value_of
from coopmat.opencl.builtins import choices, conversions, table
from coopmat.opencl.messages import builtins as messages
from coopmat.opencl.messages import semantic
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.tree.conversions import make_convert
from coopmat.tree.nodes import (
    Assign,
    Binary,
    BinaryOperator,
    Bitcast,
    Call,
    Comma,
    Constant,
    Expression,
    MatrixStore,
    Operation,
    StatementExpression,
    Swizzle,
    Unreachable,
    Update,
    VectorOf,
)
from coopmat.tree.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    SCALARS,
    SIZE_T,
    ULONG,
    VECTOR_COUNTS,
    VOID,
    Array,
    Pointer,
    Record,
    Type,
    Vector,
    layout_of,
    size_of,
)
from coopmat.tree.walk import descendants

MAX_ASSUMED_ALIGNMENT = 1 << 32

# ------------------------------------------------------------------ arguments


def _count_is(context: Analysis, node: syntax.FunctionCall, least: int, most: int | None) -> bool:
    """Whether a call has as many arguments as the function takes; False after a report."""
    found = len(node.arguments)
    if least <= found and (most is None or found <= most):
        return True
    too_many = found > least
    context.report(messages.TOO_MANY if too_many else messages.TOO_FEW,
                   start_of(node.arguments[most or 0]) if too_many else node.close, name=_name(node),
                   expected=least if most == least else f"at least {least}" if most is None else f"{least} or {most}",
                   found=found)
    return False


def _name(node: syntax.FunctionCall) -> str:
    assert isinstance(node.function, syntax.Name)
    return node.function.name


def _constant(context: Analysis, node: syntax.Expression, what: str, name: str) -> int | None:
    """The value of an argument that has to be an integer constant; None after a report."""
    value = context.value(node)
    if is_error(value):
        return None
    number = context.constant_integer(value)
    if number is None:
        context.report(messages.NOT_CONSTANT, start_of(node), what=what, name=name)
    return number


def _pointer(context: Analysis, node: syntax.Expression, name: str) -> Expression:
    """An argument that has to be a pointer; an error expression after a report."""
    value = context.value(node)
    if is_error(value) or isinstance(value.type, Pointer):
        return value
    return context.error(messages.NOT_A_POINTER, start_of(node), name=name, type=value.type)


# ------------------------------------------------------------------ promises


def _has_effects(expression: Expression) -> bool:
    """Whether evaluating an expression may do more than give a value."""
    return any(isinstance(part, (Assign, Update, Call, StatementExpression, MatrixStore))
               or (isinstance(part, Operation)
                   and (part.type == VOID or part.name.startswith(("core.Atomic", "core.Group"))))
               for part in descendants(expression))


def _assumption(test: Expression, location: SourceLocation) -> Expression:
    return Operation(VOID, location, "core.AssumeTrueKHR", (test,))


def _assume(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_assume(condition)``, which has no effects: a condition that would have some is dropped."""
    if not _count_is(context, node, 1, 1):
        return context.error_expression(node.location)
    argument = node.arguments[0]
    test = condition(context, context.value(argument), semantic.BAD_CAST_OPERAND, start_of(argument))
    if is_error(test):
        return test
    if _has_effects(test):
        context.report(messages.ASSUMPTION_DROPPED, start_of(argument))
        return StatementExpression(VOID, node.location, (), None)
    return _assumption(test, node.location)


def _assume_aligned(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_assume_aligned(pointer, alignment, offset)``: the pointer, as one to void."""
    if not _count_is(context, node, 2, 3):
        return context.error_expression(node.location)
    pointer = _pointer(context, node.arguments[0], _name(node))
    alignment = _constant(context, node.arguments[1], "alignment", _name(node))
    offset = None
    if len(node.arguments) == 3:
        offset = convert(context, context.value(node.arguments[2]), ULONG, start_of(node.arguments[2]),
                         Purpose.PASS)
    if is_error(pointer) or alignment is None or (offset is not None and is_error(offset)):
        return context.error_expression(node.location)
    if not 0 < alignment <= MAX_ASSUMED_ALIGNMENT or alignment & (alignment - 1):
        return context.error(messages.ASSUMED_ALIGNMENT, start_of(node.arguments[1]), found=alignment)
    assert isinstance(pointer.type, Pointer)
    type_ = Pointer(VOID, pointer.type.address_space, pointer.type.const, pointer.type.volatile)
    store, held = hold(context, pointer)
    promise = _assumption(_is_multiple(held, alignment, offset, node.location), node.location)
    result = Comma(type_, node.location, promise, make_pointer(held, type_, node.location))
    return result if store is None else Comma(type_, node.location, store, result)


def _is_multiple(pointer: Expression, alignment: int, offset: Expression | None,
                 location: SourceLocation) -> Expression:
    """Whether an address, less an offset, is a multiple of a power of two."""
    address: Expression = Bitcast(ULONG, location, pointer)
    if offset is not None:
        address = Binary(ULONG, location, BinaryOperator.SUBTRACT, address, offset)
    low_bits = Binary(ULONG, location, BinaryOperator.AND, address, Constant(ULONG, location, alignment - 1))
    return Binary(BOOL, location, BinaryOperator.EQUAL, low_bits, Constant(ULONG, location, 0))


def _expect_with_probability(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_expect_with_probability(value, expected, probability)``: the value."""
    if not _count_is(context, node, 3, 3):
        return context.error_expression(node.location)
    *values, probability = (context.value(argument) for argument in node.arguments)
    number = context.constant_number(probability)
    if not is_error(probability) and (number is None or isinstance(number, tuple) or not 0 <= number <= 1):
        return context.error(messages.PROBABILITY, start_of(node.arguments[2]))
    return table.resolve_call(context, "__builtin_expect", values, node.location, node.close)


def _unreachable(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_unreachable()``; ``__builtin_trap()`` is the same, as SPIR-V has no way to stop a kernel."""
    if not _count_is(context, node, 0, 0):
        return context.error_expression(node.location)
    return StatementExpression(VOID, node.location, (Unreachable(node.location),), None)


# ------------------------------------------------------------------ questions


def _constant_p(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_constant_p(expression)``: whether its value is known now; it is not evaluated."""
    if not _count_is(context, node, 1, 1):
        return context.error_expression(node.location)
    with context.discarding():
        value = context.value(node.arguments[0])
    if is_error(value):
        return value
    is_known = isinstance(node.arguments[0], syntax.StringLiteral) or context.constant_number(value) is not None
    return Constant(INT, node.location, int(is_known))


def _line(context: Analysis, node: syntax.FunctionCall) -> Expression:
    return Constant(INT, node.location, node.location.line)


def _file(context: Analysis, node: syntax.FunctionCall) -> Operand:
    return context.value(syntax.StringLiteral(node.location, node.location.name.encode()))


def _function(context: Analysis, node: syntax.FunctionCall) -> Operand:
    return context.value(syntax.Name(node.location, "__func__"))


def _nan(type_: Type) -> Handler:
    """``__builtin_nan("")``: a quiet NaN, whatever the string."""
    def build(context: Analysis, node: syntax.FunctionCall) -> Expression:
        if not _count_is(context, node, 1, 1):
            return context.error_expression(node.location)
        if not isinstance(node.arguments[0], syntax.StringLiteral):
            return context.error(messages.NOT_A_STRING, start_of(node.arguments[0]), name=_name(node))
        return Constant(type_, node.location, math.nan)
    return build


# ------------------------------------------------------------------ memory and vectors


def _prefetch(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_prefetch(pointer, writes, locality)``: a hint that is not passed on."""
    if not _count_is(context, node, 1, 3):
        return context.error_expression(node.location)
    pointer = _pointer(context, node.arguments[0], _name(node))
    hints = [_constant(context, argument, "hint", _name(node)) for argument in node.arguments[1:]]
    return context.error_expression(node.location) if None in hints or is_error(pointer) \
        else cast(context, pointer, VOID, node.location)


def _nontemporal_load(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_nontemporal_load(pointer)``: a load."""
    if not _count_is(context, node, 1, 1):
        return context.error_expression(node.location)
    pointer = _pointer(context, node.arguments[0], _name(node))
    return pointer if is_error(pointer) else value_of(dereference(pointer, node.location))


def _nontemporal_store(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_nontemporal_store(value, pointer)``: a store."""
    if not _count_is(context, node, 2, 2):
        return context.error_expression(node.location)
    value = context.value(node.arguments[0])
    pointer = _pointer(context, node.arguments[1], _name(node))
    if is_error(value) or is_error(pointer):
        return context.error_expression(node.location)
    return context.assign(dereference(pointer, node.location), value, node.location)


def _shuffle_vector(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """``__builtin_shufflevector(a, b, index, …)``, or ``(a, mask)`` with the indices in a vector."""
    if not _count_is(context, node, 2, None):
        return context.error_expression(node.location)
    left, right = (context.value(argument) for argument in node.arguments[:2])
    if is_error(left) or is_error(right):
        return context.error_expression(node.location)
    if not isinstance(left.type, Vector) or not isinstance(right.type, Vector):
        return context.error(messages.NOT_VECTORS, node.location, name=_name(node))
    if len(node.arguments) == 2:
        return table.resolve_call(context, "shuffle", [left, _as_indices(left.type, right)], node.location,
                                     node.close)
    if left.type != right.type:
        return context.error(messages.VECTORS_DIFFER, node.location, name=_name(node), left=left.type,
                             right=right.type)
    indices = [_constant(context, argument, "index", _name(node)) for argument in node.arguments[2:]]
    known = [index for index in indices if index is not None]
    for index, argument in zip(indices, node.arguments[2:], strict=True):
        if index is not None and not -1 <= index < 2 * left.type.count:
            return context.error(messages.SHUFFLE_INDEX, start_of(argument), index=index, count=2 * left.type.count)
    if len(known) < len(indices):
        return context.error_expression(node.location)
    if len(indices) not in VECTOR_COUNTS:
        return context.error(messages.SHUFFLE_COUNT, node.location, count=len(indices))
    return _chosen_components(left, right, [max(index, 0) for index in known], node.location)


def _as_indices(vector: Vector, mask: Expression) -> Expression:
    """The mask with unsigned integers of the vector's component size, as ``shuffle`` takes it."""
    assert isinstance(mask.type, Vector)
    unsigned = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size_of(vector.scalar)]
    return make_convert(mask, Vector(SCALARS[unsigned], mask.type.count))


def _chosen_components(left: Expression, right: Expression, indices: list[int],
                       location: SourceLocation) -> Expression:
    """A vector of components of two; index -1, which may be anything, has become 0."""
    assert isinstance(left.type, Vector)
    count, type_ = left.type.count, Vector(left.type.scalar, len(indices))
    if max(indices) < count:
        return Swizzle(type_, location, left, tuple(indices))
    if min(indices) >= count:
        return Swizzle(type_, location, right, tuple(index - count for index in indices))
    parts = (Swizzle(left.type.scalar, location, *((left, (index,)) if index < count else (right, (index - count,))))
             for index in indices)
    return VectorOf(type_, location, tuple(parts))


# ------------------------------------------------------------------ operands that are types


def _as_type(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """``__builtin_astype(value, type)``: the same bits."""
    value, type_ = _value_and_type(context, node)
    if is_error(value) or type_ is ERROR:
        return context.error_expression(node.location)
    if isinstance(value.type, Pointer) or isinstance(type_, Pointer):
        sizes = [size_of(each) if has_size(each) else 0 for each in (value.type, type_)]
        if sizes[0] != sizes[1]:
            return context.error(semantic.BAD_REINTERPRETATION, node.location, source=value.type, target=type_)
        return cast(context, value, type_, node.location)
    return conversions.as_type(context, type_, value, node.location)


def _value_and_type(context: Analysis, node: syntax.BuiltinOperation) -> tuple[Expression, Type]:
    operand, name = node.operands
    assert isinstance(operand, syntax.Expression)
    assert isinstance(name, syntax.TypeName)
    return context.value(operand), context.resolve_type_name(name)


def _convert_vector(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """``__builtin_convertvector(vector, type)``: component by component, as a C cast converts."""
    value, type_ = _value_and_type(context, node)
    if is_error(value) or type_ is ERROR:
        return context.error_expression(node.location)
    if not isinstance(value.type, Vector) or not isinstance(type_, Vector) or value.type.count != type_.count:
        return context.error(semantic.BAD_CONVERSION_ARGUMENT, node.location, source=value.type, target=type_)
    return make_convert(value, type_, node.location)


def _offset_of(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """``__builtin_offsetof(type, member)``, in bytes."""
    name, path = node.operands
    assert isinstance(name, syntax.TypeName)
    assert isinstance(path, syntax.MemberPath)
    type_ = context.resolve_type_name(name)
    fixed, moving = 0, None
    for designator in path.designators:
        if type_ is ERROR:
            return context.error_expression(node.location)
        if designator.index is None:
            type_, offset = _member_offset(context, type_, designator)
            fixed += offset
            continue
        if not isinstance(type_, Array):
            return context.error(messages.OFFSET_OF_ELEMENT, designator.location, type=type_)
        index = context.value(designator.index)
        type_ = type_.item
        scaled = _scaled(context, index, type_, designator.location)
        if is_error(scaled):
            return scaled
        moving = scaled if moving is None else Binary(SIZE_T, node.location, BinaryOperator.ADD, moving, scaled)
    offset_value = Constant(SIZE_T, node.location, fixed)
    if moving is None:
        return offset_value if type_ is not ERROR else context.error_expression(node.location)
    if isinstance(moving, Constant):
        return Constant(SIZE_T, node.location, fixed + int(moving.value))
    return Binary(SIZE_T, node.location, BinaryOperator.ADD, offset_value, moving)


def _member_offset(context: Analysis, type_: Type, designator: syntax.Designator) -> tuple[Type, int]:
    """A member's type and offset; ERROR after a report."""
    assert designator.name is not None
    if not isinstance(type_, Record) or type_.fields is None:
        context.report(messages.OFFSET_OF_NO_RECORD, designator.location, type=type_)
        return ERROR, 0
    path = find_member(type_, designator.name)
    if path is None:
        context.report(semantic.NO_MEMBER, designator.location, name=designator.name, type=type_,
                       suggestion=context.suggestion(designator.name, visible_members(type_)))
        return ERROR, 0
    offset = 0
    inner: Type = type_
    for position in path:
        assert isinstance(inner, Record)
        assert inner.fields is not None
        offset += layout_of(inner).offsets[position]
        inner = inner.fields[position].type
    return inner, offset


def _scaled(context: Analysis, index: Expression, item: Type, location: SourceLocation) -> Expression:
    """An index in bytes."""
    if is_error(index):
        return index
    if not index.type.is_arithmetic or index.type.is_float:
        return context.error(semantic.SUBSCRIPT_NOT_INTEGER, location)
    number = context.constant_integer(index)
    if number is not None:
        return Constant(SIZE_T, location, number * size_of(item))
    return Binary(SIZE_T, location, BinaryOperator.MULTIPLY, make_convert(index, SIZE_T),
                  Constant(SIZE_T, location, size_of(item)))


# ------------------------------------------------------------------ the tables

Handler = Callable[[Analysis, syntax.FunctionCall], Operand]

CALLS: dict[str, Handler] = {
    "__builtin_assume": _assume,
    "__builtin_assume_aligned": _assume_aligned,
    "__builtin_constant_p": _constant_p,
    "__builtin_expect_with_probability": _expect_with_probability,
    "__builtin_FILE": _file,
    "__builtin_FUNCTION": _function,
    "__builtin_LINE": _line,
    "__builtin_nan": _nan(DOUBLE),
    "__builtin_nanf": _nan(FLOAT),
    "__builtin_nontemporal_load": _nontemporal_load,
    "__builtin_nontemporal_store": _nontemporal_store,
    "__builtin_prefetch": _prefetch,
    "__builtin_shufflevector": _shuffle_vector,
    "__builtin_trap": _unreachable,
    "__builtin_unreachable": _unreachable,
}

_OPERATIONS: dict[str, Callable[[Analysis, syntax.BuiltinOperation, Type | None], Operand]] = {
    "__builtin_astype": _as_type,
    "__builtin_choose_expr": choices.choose,
    "__builtin_convertvector": _convert_vector,
    "__builtin_offsetof": _offset_of,
    "__builtin_types_compatible_p": choices.types_compatible,
}
assert _OPERATIONS.keys() == keywords.OPERATIONS.keys()

NAMES: frozenset[str] = frozenset(CALLS) | frozenset(_OPERATIONS)
"""The names of the functions of this module."""


def call(context: Analysis, node: syntax.FunctionCall) -> Expression:
    """A call of one of :data:`CALLS`."""
    return value_of(CALLS[_name(node)](context, node))


def operation(context: Analysis, node: syntax.BuiltinOperation, target: Type | None) -> Operand:
    """One of the functions that take types."""
    return _OPERATIONS[node.name](context, node, target)
