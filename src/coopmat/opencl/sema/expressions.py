"""Analysis of expressions (C99 6.5): syntax to typed values and places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coopmat.diagnostics import SourceLocation
from coopmat.opencl import builtins
from coopmat.opencl.base.conversions import cast, condition, is_null_pointer_constant, make_pointer, splat
from coopmat.opencl.base.symbols import Enumerator, FunctionSet
from coopmat.opencl.base.temporaries import hold, materialize
from coopmat.opencl.base.types import FP64_FEATURES, has_size
from coopmat.opencl.base.values import ERROR, Operand, dereference, is_error, pointer_to
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import keywords, syntax
from coopmat.opencl.parse.extents import start_of
from coopmat.opencl.sema import assignment, declarators, initializers, members, operators, pointers
from coopmat.opencl.sema.checks import comparisons, conditions
from coopmat.opencl.sema.checks import statements as layout
from coopmat.opencl.sema.context import Context
from coopmat.tree.conversions import common_type, make_convert
from coopmat.tree.nodes import (
    AddressOf,
    Binary,
    BinaryOperator,
    Comma,
    Conditional,
    Constant,
    Convert,
    Dereference,
    Expression,
    Select,
    Variable,
    VariablePlace,
    Zero,
)
from coopmat.tree.types import (
    DOUBLE,
    FLOAT,
    SCALARS,
    SIZE_T,
    VOID,
    AddressSpace,
    Array,
    Matrix,
    Pointer,
    Scalar,
    Type,
    Vector,
    layout_of,
    size_of,
)

# ------------------------------------------------------------------ names and literals


def _name(context: Context, node: syntax.Name, target: Type | None) -> Operand:
    symbol = context.lookup(node.name)
    match symbol:
        case Variable(type=type_):
            if type_ is ERROR:
                return context.error_expression(node.location)
            context.references[symbol] += 1
            if symbol in context.undefined:
                context.undefined[symbol] = context.undefined[symbol] or node.location
            return VariablePlace(type_, node.location, symbol)
        case Enumerator(value=constant):
            return Constant(constant.type, node.location, constant.value)
        case FunctionSet():
            return context.error(messages.FUNCTION_NOT_CALLED, node.location, name=node.name)
    if node.name in keywords.FUNCTION_NAME_WORDS:
        return _function_name(context, node)
    if builtins.is_builtin(node.name):
        return context.error(messages.FUNCTION_NOT_CALLED, node.location, name=node.name)
    if node.name == "__func__" and context.function is not None:  # C99 6.4.2.2
        return _string(context, syntax.StringLiteral(node.location, context.function.function.name.encode()), target)
    return context.misspelt(messages.UNDECLARED, node.name, node.location, context.names_to_suggest())


def _function_name(context: Context, node: syntax.Name) -> Operand:
    """``__func__`` (C99 6.4.2.2) and GNU's words for it: an array with the function's name."""
    text = ""
    if context.function is None:
        context.report(messages.OUTSIDE_FUNCTION, node.location)
    else:
        function = context.function.function
        parameters = ", ".join(str(parameter.type) for parameter in function.parameters) or "void"
        text = f"{function.result} {function.name}({parameters})" if node.name == "__PRETTY_FUNCTION__" \
            else function.name
    return _string(context, syntax.StringLiteral(node.location, text.encode()), None)


def _integer(context: Context, node: syntax.IntegerLiteral, target: Type | None) -> Expression:
    return Constant(SCALARS[node.type_name], node.location, node.value)


def _float(context: Context, node: syntax.FloatLiteral, target: Type | None) -> Expression:
    type_ = SCALARS[node.type_name]
    if type_ == DOUBLE and context.single_precision_constants:
        return Constant(FLOAT, node.location, node.as_float)
    if type_ == DOUBLE and not context.has(*FP64_FEATURES):
        context.report(messages.DOUBLE_LITERAL, node.location)
        return Constant(FLOAT, node.location, node.as_float)
    return Constant(type_, node.location, node.value)


def _string(context: Context, node: syntax.StringLiteral, target: Type | None) -> Operand:
    """A string is a nameless array in constant memory."""
    type_, elements = initializers.string_array(context, node)
    variable = Variable(f".string{len(context.program.globals)}", type_, node.location, AddressSpace.CONSTANT,
                        initializer=elements)
    context.program.globals.append(variable)
    context.literals[variable] = node
    return VariablePlace(type_, node.location, variable)


# ------------------------------------------------------------------ unary operators


def _unary(context: Context, node: syntax.Unary, target: Type | None) -> Operand:
    if node.operator in ("++", "--"):
        context.modifications += 1
        return assignment.increment(context, context.analyze(node.operand), node.operator, node.location,
                                    returns_old=False)
    if node.operator == "&" and isinstance(node.operand, syntax.Index):
        return _address(context, _index(context, node.operand, None, for_address=True), node.location)
    if node.operator == "&":
        return _address(context, context.analyze(node.operand), node.location)
    operand = context.value(node.operand)
    if node.operator == "*":
        return _dereference(context, operand, node.location)
    return operators.unary(context, node.operator, operand, node.location)


def _postfix(context: Context, node: syntax.Postfix, target: Type | None) -> Operand:
    context.modifications += 1
    return assignment.increment(context, context.analyze(node.operand), node.operator, node.location,
                                returns_old=True)


def _address(context: Context, operand: Operand, location: SourceLocation) -> Expression:
    """``&`` (C99 6.5.3.2): the operand must be a place, and no component of a vector."""
    if is_error(operand):
        return context.error_expression(location)
    if isinstance(operand, Expression):
        return context.error(messages.ADDRESS_OF_VALUE, location, type=operand.type)
    if members.is_component(operand):
        return context.error(messages.ADDRESS_OF_COMPONENT, location)
    type_ = pointer_to(operand, operand.type)
    if isinstance(operand, Dereference) and operand.pointer.type == type_:
        return operand.pointer  # C99 6.5.3.2p3
    return AddressOf(type_, location, operand)


def _dereference(context: Context, operand: Expression, location: SourceLocation) -> Operand:
    if is_error(operand):
        return operand
    if not isinstance(operand.type, Pointer):
        return context.error(messages.INDIRECTION, location, type=operand.type)
    if not has_size(operand.type.pointee):
        message = messages.VOID_ACCESS if operand.type.pointee == VOID else messages.INCOMPLETE_TYPE
        return context.error(message, location, type=operand.type.pointee)
    return dereference(operand, location)


# ------------------------------------------------------------------ binary operators


def _binary(context: Context, node: syntax.Binary, target: Type | None) -> Operand:
    """A chain ``a + b + c …`` leans to the left and is walked in a loop, so that it may be long."""
    chain: list[syntax.Binary] = []
    first: syntax.Expression = node
    while isinstance(first, syntax.Binary):
        chain.append(first)
        first = first.left
    left = context.value(first)
    for item in reversed(chain):
        right = context.value(item.right, target if item.operator == "," else None)
        if not (is_error(left) or is_error(right)):
            _check_binary(context, item, left, right)
        if item.operator == ",":
            layout.left_of_comma(context, item.left)
        if item.operator != ",":
            left = operators.binary(context, item.operator, left, right, item.location)
        elif is_error(left) or is_error(right):
            left = context.error_expression(item.location)
        else:
            left = Comma(right.type, item.location, left, right)
    return left


def _check_binary(context: Context, node: syntax.Binary, left: Expression, right: Expression) -> None:
    """Warn about an operator that is allowed and may not be meant."""
    conditions.binary(context, node, left, right)
    if node.operator in operators.COMPARISONS:
        comparisons.check(context, node, left, right)
    elif node.operator == "/":
        comparisons.quotient(context, node)


def _assignment(context: Context, node: syntax.Assignment, target: Type | None) -> Operand:
    place = context.analyze(node.target)
    context.modifications += 1
    comparisons.assignment(context, node, place.type)
    if node.operator == "=":
        goal = None if is_error(place) else place.type
        assigned = context.value(node.value, goal)
        if isinstance(node.target, syntax.Cast):
            return context.error(messages.ASSIGNMENT_TO_CAST, node.target.location)
        return assignment.assign(context, place, assigned, node.location)
    operand = context.value(node.value)
    return assignment.update(context, place, node.operator[:-1], operand, node.location)


# ------------------------------------------------------------------ the conditional operator


def _conditional(context: Context, node: syntax.Conditional, target: Type | None) -> Operand:
    conditions.conditional(context, node)
    test = context.value(node.condition)
    if node.if_true is None:
        return _condition_or(context, test, node, target)
    if_true, if_false = context.value(node.if_true, target), context.value(node.if_false, target)
    return _chosen(context, test, if_true, if_false, node)


def _condition_or(context: Context, test: Expression, node: syntax.Conditional, target: Type | None) -> Operand:
    """GNU's ``a ?: b``: ``a`` is evaluated once, into a temporary."""
    if_false = context.value(node.if_false, target)
    if is_error(test) or test.type == VOID or context.function is None:
        return _chosen(context, test, test, if_false, node)
    store, once = hold(context, test)
    result = _chosen(context, once, once, if_false, node)
    return result if store is None or is_error(result) else Comma(result.type, node.location, store, result)


def _chosen(context: Context, test: Expression, if_true: Expression, if_false: Expression,
            node: syntax.Conditional) -> Expression:
    if is_error(test) or is_error(if_true) or is_error(if_false):
        return context.error_expression(node.location)
    if isinstance(test.type, Vector):
        return _vector_conditional(context, test, if_true, if_false, node.location)
    if test.type.is_float:
        return context.error(messages.FLOAT_CONDITION, start_of(node.condition), type=test.type)
    truth = condition(context, test, messages.SCALAR_REQUIRED)
    arms = _common_arms(context, if_true, if_false, node.location)
    if arms is None or is_error(truth):
        return context.error_expression(node.location)
    return operators.folded(Conditional(arms[0].type, node.location, truth, *arms))


def _common_arms(context: Context, left: Expression, right: Expression,
                 location: SourceLocation) -> tuple[Expression, Expression] | None:
    """Both arms in one type (C99 6.5.15p5); None after a report."""
    if left.type.is_arithmetic and right.type.is_arithmetic:
        type_ = common_type(left.type, right.type)
        return make_convert(left, type_), make_convert(right, type_)
    if left.type == right.type:
        return left, right
    if isinstance(left.type, Vector) or isinstance(right.type, Vector):
        return operators.unify(context, left, right, location)
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        arms = _pointer_arms(context, left, right, location)
        if arms is not None:
            return arms
    if VOID in (left.type, right.type):
        return (cast(context, left, VOID, location), cast(context, right, VOID, location))
    context.report(messages.INCOMPATIBLE_ARMS, location, left=left.type, right=right.type)
    return None


def _pointer_arms(context: Context, left: Expression, right: Expression,
                  location: SourceLocation) -> tuple[Expression, Expression] | None:
    if isinstance(left.type, Pointer) and is_null_pointer_constant(right):
        return left, Zero(left.type, right.location)
    if isinstance(right.type, Pointer) and is_null_pointer_constant(left):
        return Zero(right.type, left.location), right
    if isinstance(left.type, Pointer) and isinstance(right.type, Pointer):
        type_ = pointers.composite(left.type, right.type)
        if type_ is not None:
            if left.type.pointee != right.type.pointee and VOID not in (left.type.pointee, right.type.pointee):
                context.report(messages.POINTER_ARMS, location, left=left.type, right=right.type)
            return make_pointer(left, type_, location), make_pointer(right, type_, location)
    return None


def _vector_conditional(context: Context, test: Expression, if_true: Expression, if_false: Expression,
                        location: SourceLocation) -> Expression:
    """``vector ? a : b``: component by component, by the most significant bit (OpenCL C 6.4.6)."""
    assert isinstance(test.type, Vector)
    if test.type.scalar.is_float:
        return context.error(messages.VECTOR_CONDITION_FLOAT, location, type=test.type)
    if not isinstance(if_true.type, Vector) and not isinstance(if_false.type, Vector):
        arms = _common_arms(context, if_true, if_false, location)
        if arms is None or not isinstance(arms[0].type, Scalar):
            return operators.invalid_operands(context, if_true, if_false, location)
        vector = Vector(arms[0].type, test.type.count)
        arms = (splat(arms[0], vector), splat(arms[1], vector))
    else:
        arms = operators.unify(context, if_true, if_false, location)
    if arms is None:
        return context.error_expression(location)
    result = arms[0].type
    assert isinstance(result, Vector)
    if result.count != test.type.count or result.scalar.bits != test.type.scalar.bits:
        return context.error(messages.VECTOR_CONDITION_SIZE, location, condition=test.type, result=result)
    return Select(result, location, most_significant_bits(test), *arms)


def most_significant_bits(test: Expression) -> Expression:
    """The vector of bool that says in which components the most significant bit is set."""
    assert isinstance(test.type, Vector)
    truth = Vector(Scalar("bool", 1), test.type.count)
    if isinstance(test, Convert) and test.operand.type == truth:
        return test.operand
    signed = operators.signed_result(test.type)
    return Binary(truth, test.location, BinaryOperator.LESS, make_convert(test, signed), Zero(signed, test.location))


# ------------------------------------------------------------------ parts, casts, sizes


def _index(context: Context, node: syntax.Index, target: Type | None, for_address: bool = False) -> Operand:
    base, subscript = context.analyze(node.base), context.value(node.index)
    return members.index(context, base, subscript, node.location, for_address)


def _member(context: Context, node: syntax.Member, target: Type | None) -> Operand:
    return members.member(context, context.analyze(node.base), node.name, node.arrow, node.location)


def _cast(context: Context, node: syntax.Cast, target: Type | None) -> Operand:
    type_ = context.resolve_type_name(node.type_name)
    if isinstance(node.operand, syntax.ParenthesizedList):
        if isinstance(type_, Vector):
            parts = [context.value(item) for item in node.operand.items]
            return initializers.vector_from_parts(context, type_, parts, node.location)
        operand: Expression = context.value(_comma_of(node.operand))
    else:
        operand = context.value(node.operand, type_ if isinstance(type_, Matrix) else None)
    if type_ is ERROR:
        return context.error_expression(node.location)
    return cast(context, operand, type_, node.location)


def _comma_of(items: syntax.ParenthesizedList) -> syntax.Expression:
    """``(a, b)`` as the comma expression that it is behind a cast to no vector."""
    result = items.items[0]
    for item in items.items[1:]:
        result = syntax.Binary(items.location, ",", result, item)
    return result


def _parenthesized(context: Context, node: syntax.ParenthesizedList, target: Type | None) -> Operand:
    return context.analyze(_comma_of(node), target)


def _compound_literal(context: Context, node: syntax.CompoundLiteral, target: Type | None) -> Operand:
    """``(type){ … }`` (C99 6.5.2.5): an object without a name; at file scope only its value."""
    qualified = declarators.qualified_type_name(context, node.type_name)
    if qualified.type is ERROR:
        return context.error_expression(node.location)
    type_, initial = initializers.initialize(context, qualified.type, node.initializer, node.location)
    if is_error(initial):
        return initial
    if context.function is None and isinstance(type_, Array):
        return _static_array(context, qualified.address_space, initial)
    return initial if context.function is None else materialize(context, initial)


def _static_array(context: Context, space: AddressSpace | None, initial: Expression) -> Operand:
    """The nameless array of a compound literal outside of functions."""
    folded = context.fold(initial)
    if folded is None:
        return context.error(messages.NOT_CONSTANT_INITIALIZER, initial.location)
    variable = Variable(f".literal{len(context.program.globals)}", folded.type, initial.location,
                        space or AddressSpace.GLOBAL, initializer=folded)
    context.program.globals.append(variable)
    return VariablePlace(folded.type, initial.location, variable)


def _size_of(context: Context, node: syntax.SizeOf, target: Type | None) -> Operand:
    operator = "_Alignof" if node.is_alignment else "sizeof"
    type_ = context.operand_type(node.operand)
    if type_ is ERROR:
        return context.error_expression(node.location)
    if not has_size(type_):
        return context.error(messages.BAD_SIZEOF, node.location, operator=operator, type=type_)
    if node.is_alignment:
        return Constant(SIZE_T, node.location, _named_alignment(context, node.operand) or layout_of(type_).alignment)
    return Constant(SIZE_T, node.location, size_of(type_))


def _named_alignment(context: Context, operand: syntax.TypeName | syntax.Expression) -> int | None:
    """The alignment that ``aligned`` gives a variable or the name of a type, if it does."""
    if isinstance(operand, syntax.TypeName):
        return declarators.qualified_type_name(context, operand).type_alignment
    symbol = context.lookup(operand.name) if isinstance(operand, syntax.Name) else None
    return symbol.alignment if isinstance(symbol, Variable) else None


def _vec_step(context: Context, node: syntax.VecStep, target: Type | None) -> Operand:
    """``vec_step``: the number of components, 4 for three (OpenCL C 6.15.13)."""
    type_ = context.operand_type(node.operand)
    if type_ is ERROR:
        return context.error_expression(node.location)
    if isinstance(type_, Vector):
        return Constant(SCALARS["int"], node.location, 4 if type_.count == 3 else type_.count)
    if not isinstance(type_, Scalar):
        return context.error(messages.BAD_SIZEOF, node.location, operator="vec_step", type=type_)
    return Constant(SCALARS["int"], node.location, 1)


def _stray_list(context: Context, node: syntax.InitializerList, target: Type | None) -> Operand:
    return context.error(messages.STRAY_INITIALIZER, node.location)


Handler = Callable[[Context, Any, Type | None], Operand]

HANDLERS: dict[type[syntax.Expression], Handler] = {
    syntax.Name: _name, syntax.IntegerLiteral: _integer, syntax.FloatLiteral: _float, syntax.StringLiteral: _string,
    syntax.Unary: _unary, syntax.Postfix: _postfix, syntax.Binary: _binary, syntax.Assignment: _assignment,
    syntax.Conditional: _conditional, syntax.Index: _index, syntax.Member: _member,
    syntax.Cast: _cast, syntax.ParenthesizedList: _parenthesized, syntax.CompoundLiteral: _compound_literal,
    syntax.SizeOf: _size_of, syntax.VecStep: _vec_step, syntax.InitializerList: _stray_list,
}
"""What analyses each kind of expression that has a place here; :mod:`.analyzer` adds the others."""
