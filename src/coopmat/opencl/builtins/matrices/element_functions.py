"""Functions that are applied to each element of a matrix: ``coop_mat_apply(m, f, …)``, and ``exp(m)``.

The program's functions and the built-in ones of scalars become functions of an element's place, the element and what
else there is (:class:`coopmat.tree.nodes.MatrixApply`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base import ranking
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.conversions import Purpose, convert, is_null_pointer_constant, pass_argument
from coopmat.opencl.base.overloading import Fits, best
from coopmat.opencl.base.symbols import AppliedFunction
from coopmat.opencl.base.values import is_error
from coopmat.opencl.builtins import resolution, table
from coopmat.opencl.builtins.matrices.types import same_type
from coopmat.opencl.messages import matrix as messages
from coopmat.opencl.messages import overloads as overload_messages
from coopmat.tree.effects import effect_of
from coopmat.tree.matrices import combination, computable, converted, of_elements, value_of
from coopmat.tree.nodes import Block, Call, Expression, Function, MatrixApply, Return, Variable
from coopmat.tree.types import INT, UINT, AddressSpace, Matrix, Pointer, Scalar, Type, Vector

APPLY = "coop_mat_apply"
_PLACES = (UINT, INT)  # of a row or column


def combine_function(context: Analysis, operation: str, element: Scalar) -> Function:
    """The function of a reduction, one for all reductions of a type in a program."""
    return _known(context, (operation, element), lambda: combination(operation, element))


def _known(context: Analysis, key: tuple[object, ...], make: Callable[[], Function]) -> Function:
    """A function of the program that stands for something; it is made where that occurs first."""
    if key not in context.element_functions:
        function = context.element_functions[key] = make()
        context.program.functions.append(function)
    return context.element_functions[key]


# ------------------------------------------------------------------ built-in functions


def builtin(context: Analysis, name: str, arguments: Sequence[Expression],
            location: SourceLocation | None) -> Expression:
    """A call of a built-in function of scalars with at least one matrix: each element is computed of those of the
    matrices, which have one type, and of the scalars."""
    if any(map(is_error, arguments)):
        return context.error_expression(location)
    matrices = [argument for argument in arguments if isinstance(argument.type, Matrix)]
    first = matrices[0].type
    assert isinstance(first, Matrix)
    if not all(_can_be_given(context, first, argument, name, place)
               for place, argument in enumerate(arguments, 1) if argument is not matrices[0]):
        return context.error_expression(location)
    key = (name, first.scalar, *(argument.type for argument in arguments))
    function = context.element_functions.get(key) or _of_builtin(context, name, first, arguments, location)
    if function is None:
        types = ", ".join(f"'{argument.type}'" for argument in arguments)
        return context.error(messages.NO_ELEMENT_FUNCTION, location, table.candidates(context, name), name=name,
                             types=types, element=computable(first.scalar))
    effect = effect_of(function)
    if effect is not None:
        return context.error(messages.APPLIED_EFFECT, location, name=name, effect=effect.what)
    _known(context, key, lambda: function)
    at = arguments.index(matrices[0])
    others = [argument for place, argument in enumerate(arguments) if place != at]
    return _applied(context, matrices[0], function, others, location)


def _of_builtin(context: Analysis, name: str, matrix: Matrix, arguments: Sequence[Expression],
                location: SourceLocation | None) -> Function | None:
    """The function of an element that calls a built-in one; None if there is none of these types."""
    element = computable(matrix.scalar)
    at = next(place for place, argument in enumerate(arguments) if argument.type == matrix)
    others = [_of_element(argument.type) for place, argument in enumerate(arguments) if place != at]
    found: list[Expression] = []

    def compute(values: Sequence[Expression]) -> Expression:
        given = [*values[1:at + 1], values[0], *values[at + 1:]]
        for overload in best([
                (fits, overload) for fits, overload in table.viable(context, name, given)
                if overload.count == 1 and _is_like(overload.result, element)
                and all(parameter == element for parameter, argument in zip(overload.parameters, arguments, strict=True)
                        if argument.type == matrix)]):
            found.append(converted(resolution.build(context, overload, given, location), element))
        return found[0] if found else values[0]

    function = of_elements(f"apply_{name}", matrix.scalar, others, compute, location)
    return function if len(found) == 1 else None


def _is_like(result: Type, element: Scalar) -> bool:
    """Whether a result is an element, but for the sign of its type: ``abs`` gives unsigned numbers."""
    return result == element or (isinstance(result, Scalar) and result.is_integer and element.is_integer
                                 and result.bits == element.bits)


def _of_element(type_: Type) -> Type:
    return type_.scalar if isinstance(type_, Matrix) else type_


# ------------------------------------------------------------------ coop_mat_apply


def apply(context: Analysis, functions: Sequence[Function], arguments: Sequence[Expression],
          location: SourceLocation | None) -> Expression:
    """``coop_mat_apply(m, f, …)`` for one of the functions that the name ``f`` means: ``arguments`` are without it. The
    function takes the element and the others, or row, column, the element and the others."""
    matrix, *others = arguments
    if any(map(is_error, arguments)):
        return context.error_expression(location)
    if not isinstance(matrix.type, Matrix):
        return context.error(messages.NOT_A_MATRIX, matrix.location, index=1, name=APPLY, type=matrix.type)
    if not all(is_null_pointer_constant(other) or _can_be_given(context, matrix.type, other, APPLY, place)
               for place, other in enumerate(others, 3)):
        return context.error_expression(location)
    row, column, x = Variable("row", UINT, location), Variable("column", UINT, location), \
        Variable("x", matrix.type.scalar, location)
    more = [Variable(f"y{number}", _of_element(other.type), location) for number, other in enumerate(others)]
    nulls = {variable: other for variable, other in zip(more, others, strict=True) if is_null_pointer_constant(other)}
    chosen = best(list(_candidates(context, functions, [x, *more], nulls, location))) \
        or best(list(_candidates(context, functions, [row, column, x, *more], nulls, location)))
    if len(chosen) != 1:
        return _not_chosen(context, functions, arguments, len(chosen), location)
    [(function, given)] = chosen
    types = dict(zip(given, (parameter.type for parameter in function.parameters), strict=True))
    for place, variable in enumerate(more):
        if variable in nulls and isinstance(types[variable], Pointer):
            others[place], variable.type = pass_argument(context, nulls[variable], types[variable]), types[variable]
    context.applied.append(AppliedFunction(function, location))
    if _is_direct(function, [row, column, x, *more]):
        return _applied(context, matrix, function, others, location)

    def wrapper() -> Function:
        values = [pass_argument(context, value_of(variable, location), parameter.type)
                  for variable, parameter in zip(given, function.parameters, strict=True)]
        result = Call(function.result, location, function, tuple(values))
        call = convert(context, result, x.type, location, Purpose.ASSIGN)
        body = Block(location, (Return(location, call),))
        made = Function(f"apply_{function.name}", x.type, [row, column, x, *more], location, body=body)
        context.calls[made] = {function: location}
        return made

    key = (function, len(given), x.type, *(variable.type for variable in more))
    return _applied(context, matrix, _known(context, key, wrapper), others, location)


def _candidates(context: Analysis, functions: Sequence[Function], given: list[Variable],
                nulls: Mapping[Variable, Expression], location: SourceLocation | None
                ) -> Iterator[tuple[Fits, tuple[Function, list[Variable]]]]:
    """The functions that can be called with these, some of which are null pointers, and that give an element."""
    values = [nulls[variable] if variable in nulls else value_of(variable, location) for variable in given]
    for function in functions:
        fits = ranking.fits(function, values, context.known)
        if fits is not None and function.result.is_arithmetic:
            yield fits, (function, given)


def _can_be_given(context: Analysis, matrix: Matrix, argument: Expression, name: str, index: int) -> bool:
    """Whether an argument can be passed to a function of elements; False after a report."""
    if isinstance(argument.type, Matrix):
        return same_type(context, matrix, argument.type, argument.location)
    is_private = isinstance(argument.type, Pointer) and argument.type.address_space is AddressSpace.PRIVATE
    if is_private or not isinstance(argument.type, (Scalar, Vector, Pointer)):
        context.report(messages.APPLIED_ARGUMENT, argument.location, name=name, index=index, type=argument.type)
        return False
    return True


def _is_direct(function: Function, given: Sequence[Variable]) -> bool:
    """Whether a function is one of an element as it stands."""
    wanted = [variable.type for variable in given]
    found = list(function.type.parameters)
    return (not function.is_kernel and function.result == wanted[2] and found[2:] == wanted[2:]
            and all(type_ in _PLACES for type_ in found[:2]))


def _not_chosen(context: Analysis, functions: Sequence[Function], arguments: Sequence[Expression], found: int,
                location: SourceLocation | None) -> Expression:
    """Report that no function fits, or several do."""
    name, types = functions[0].name, ", ".join(f"'{_of_element(argument.type)}'" for argument in arguments)
    notes = [note(f"candidate function: {one.signature}, which returns '{one.result}'", one.location)
             for one in functions]
    if found:
        return context.error(overload_messages.AMBIGUOUS, location, notes, name=name, types=types)
    return context.error(messages.NOT_APPLICABLE, location, notes, name=name, types=types)


def _applied(context: Analysis, matrix: Expression, function: Function, others: Sequence[Expression],
             location: SourceLocation | None) -> Expression:
    assert context.function is not None
    context.function.calls.setdefault(function, location)
    return MatrixApply(matrix.type, location, matrix, function, tuple(others))


def check_applied(context: Analysis) -> None:
    """Report the functions that do more than compute an element: they are known now, with all that they call."""
    for one in context.applied:
        effect = effect_of(one.function)
        if effect is not None:
            context.report(messages.APPLIED_EFFECT, one.location, (note("it does so here", effect.location),),
                           name=one.function.label, effect=effect.what)
