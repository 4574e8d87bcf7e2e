"""The built-in functions of the cooperative matrix extension (RFC 4.4 and the newer draft, with our additions).

Functions that make a matrix out of something else (load, init, convert) have no type of their own:
it is that of the variable that they initialise or are assigned to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from coopmat.devices.lane_layout import can_be_packed
from coopmat.diagnostics import Message, SourceLocation
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.conversions import Purpose, cast, convert
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.builtins.matrices.element_functions import APPLY, combine_function
from coopmat.opencl.builtins.matrices.types import ENUMERATIONS, LAYOUTS, PACKED, check_index, shape
from coopmat.opencl.messages import matrix as messages
from coopmat.tree.conversions import promote
from coopmat.tree.matrices import COMBINATIONS
from coopmat.tree.nodes import (
    Comma,
    Convert,
    Expression,
    Load,
    MatrixCoordinates,
    MatrixFill,
    MatrixLength,
    MatrixLoad,
    MatrixMultiplyAdd,
    MatrixReduce,
    MatrixStore,
    MatrixTranspose,
)
from coopmat.tree.types import INT, SIZE_T, UINT, VOID, AddressSpace, Matrix, Pointer, Scalar, Type, Use, Vector

MEMORY_SPACES = (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.GENERIC)
"""Address spaces that matrices are loaded from and stored to."""


class _Reported(Exception):
    """A call is wrong; the report has been made."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: ``target`` is the type that its result goes to, if known."""

    context: Analysis
    name: str
    arguments: list[Expression]
    location: SourceLocation | None
    target: Type | None

    def fail(self, message: Message, location: SourceLocation | None, **values: Any) -> _Reported:
        """Report, and give the exception to raise."""
        self.context.report(message, location, (), **values)
        return _Reported()

    def matrix(self, index: int) -> Matrix:
        """The type of an argument that must be a matrix."""
        argument = self.arguments[index]
        if not isinstance(argument.type, Matrix):
            raise self.fail(messages.NOT_A_MATRIX, argument.location, index=index + 1, name=self.name,
                            type=argument.type)
        return argument.type

    def target_matrix(self) -> Matrix:
        """The matrix type of the variable that the result goes to."""
        if not isinstance(self.target, Matrix):
            found = "here is no such variable" if self.target is None else f"here it goes to '{self.target}'"
            raise self.fail(messages.NO_MATRIX_TARGET, self.location, name=self.name, found=found)
        return self.target


# ------------------------------------------------------------------ load and store


def _load(call: _Call) -> Expression:
    """``coop_mat_load(pointer, layout, stride)``."""
    matrix = call.target_matrix()
    pointer, layout, stride = call.arguments
    _check_pointer(call, pointer, matrix)
    return MatrixLoad(matrix, call.location, pointer, _layout(call, layout, matrix),
                      _stride(call, stride, 0, "not be negative"))


def _store(call: _Call) -> Expression:
    """``coop_mat_store(pointer, matrix, layout, stride)``."""
    pointer, value, layout, stride = call.arguments
    matrix = call.matrix(1)
    type_ = _check_pointer(call, pointer, matrix)
    if type_.const:
        raise call.fail(messages.STORE_TO_CONST, pointer.location, name=call.name, pointer=type_)
    return MatrixStore(VOID, call.location, pointer, value, _layout(call, layout, matrix),
                       _stride(call, stride, 1, "be positive"))


def _check_pointer(call: _Call, pointer: Expression, matrix: Matrix) -> Pointer:
    """The type of a pointer to elements of ``matrix`` in global or local memory."""
    type_ = pointer.type
    if not isinstance(type_, Pointer):
        raise call.fail(messages.NOT_A_POINTER, pointer.location, name=call.name, type=type_)
    if type_.address_space not in MEMORY_SPACES:
        raise call.fail(messages.POINTER_SPACE, pointer.location, name=call.name, space=type_.address_space)
    if type_.pointee != matrix.scalar:
        raise call.fail(messages.ELEMENT_POINTER_MISMATCH, pointer.location, element=matrix.scalar, pointer=type_)
    return type_


def _layout(call: _Call, layout: Expression, matrix: Matrix) -> int:
    """The layout's number: a constant, as SPIR-V wants it."""
    value = call.context.constant_integer(layout)
    if value is None or value not in LAYOUTS.values():
        found = value if value is not None else f"an expression of type '{layout.type}' that is no integer constant"
        raise call.fail(messages.INVALID_LAYOUT, layout.location, found=found)
    if value == PACKED and matrix.use is not Use.A and not (
            matrix.use is Use.B and can_be_packed(matrix.rows, matrix.scalar.bits)):
        raise call.fail(messages.INVALID_PACKED, layout.location, found=matrix)
    return value


def _stride(call: _Call, stride: Expression, minimum: int, rule: str) -> Expression:
    """The stride in elements, as a size_t; it may be of any integer type, and a constant one is checked."""
    if not stride.type.is_arithmetic or stride.type.is_float:
        raise call.fail(messages.INVALID_STRIDE_TYPE, stride.location, type=stride.type)
    value = call.context.constant_integer(stride)
    if value is not None and value < minimum:
        raise call.fail(messages.STRIDE_OUT_OF_RANGE, stride.location, name=call.name, rule=rule, value=value)
    return cast(call.context, stride, SIZE_T, stride.location)


# ------------------------------------------------------------------ fill, convert and queries


def _init(call: _Call) -> Expression:
    """``coop_mat_init(scalar)``: all elements are the scalar, converted as by assignment."""
    matrix = call.target_matrix()
    (value,) = call.arguments
    if not value.type.is_arithmetic:
        raise call.fail(messages.INVALID_FILL, value.location, name=call.name, element=matrix.scalar,
                        type=value.type)
    filling = convert(call.context, value, matrix.scalar, value.location, Purpose.ASSIGN)
    return MatrixFill(matrix, call.location, filling)


def _convert(call: _Call) -> Expression:
    """``coop_mat_convert(matrix)``: each element converted as by a cast."""
    source, target = call.matrix(0), call.target_matrix()
    if (source.scope, source.rows, source.columns) != (target.scope, target.rows, target.columns):
        raise call.fail(messages.CONVERT_MISMATCH, call.arguments[0].location, name=call.name, source=source,
                        target=target)
    (value,) = call.arguments
    return value if source == target else Convert(target, call.location, value)


def _transpose(call: _Call) -> Expression:
    """``coop_mat_transpose(matrix)``: rows and columns exchanged, each element converted as by a cast."""
    source, target = call.matrix(0), call.target_matrix()
    if (source.scope, source.rows, source.columns) != (target.scope, target.columns, target.rows):
        raise call.fail(messages.TRANSPOSE_MISMATCH, call.arguments[0].location, name=call.name, source=source,
                        target=target, shape=f"{source.columns}x{source.rows}")
    return MatrixTranspose(target, call.location, call.arguments[0])


def _reduce(call: _Call) -> Expression:
    """``coop_mat_reduce(matrix, axis, operation)``: each element is what all of its row, of its column, or of the
    matrix give."""
    matrix = call.matrix(0)
    value, axis, operation = call.arguments
    if matrix.use is not Use.ACCUMULATOR:
        raise call.fail(messages.WRONG_USE, value.location, expected=Use.ACCUMULATOR, found=matrix.use, index=1,
                        name=call.name)
    axes = _enumerant(call, axis, "coop_matrix_reduce_t")
    combine = COMBINATIONS[_enumerant(call, operation, "coop_matrix_combine_t")]
    return MatrixReduce(matrix, call.location, value, axes, combine_function(call.context, combine, matrix.scalar))


def _enumerant(call: _Call, argument: Expression, enumeration: str) -> int:
    """The value of an argument that must be a constant of an enumeration."""
    value = call.context.constant_integer(argument)
    constants = ENUMERATIONS[enumeration]
    if value is None or value not in constants.values():
        found = value if value is not None else f"an expression of type '{argument.type}' that is no integer constant"
        raise call.fail(messages.NO_ENUMERANT, argument.location, name=call.name,
                        index=call.arguments.index(argument) + 1, expected=" or ".join(constants), found=found)
    return value


def _length(call: _Call) -> Expression:
    """``coop_mat_length(matrix)``: how many components each work-item holds."""
    length = MatrixLength(UINT, call.location, call.matrix(0))
    (value,) = call.arguments
    return length if isinstance(value, Load) else Comma(UINT, call.location, value, length)


def _get_coord(call: _Call) -> Expression:
    """``coop_mat_get_coord(matrix, index)``: row and column of this work-item's component."""
    matrix = call.matrix(0)
    value, index = call.arguments
    if not check_index(call.context, index, matrix):
        raise _Reported
    return MatrixCoordinates(Vector(INT, 2), call.location, value, promote(index))


# ------------------------------------------------------------------ multiply-add

SATURATING = 16


@dataclass(frozen=True, slots=True)
class _Role:
    """One of the four matrices of a multiplication, with its flag for signed elements."""

    name: str
    flag: int

    @property
    def flag_name(self) -> str:
        """The enumerant of the flag."""
        return f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{self.name}_SIGNED"


ROLES = (_Role("A", 1), _Role("B", 2), _Role("C", 4), _Role("RESULT", 8))


def _multiply_add(call: _Call) -> Expression:
    """``coop_matmul_add(a, b, c, operands)`` or ``coop_mat_mulAdd(a, b, c[, operands])``.

    The result has the type of ``c``, or that of the accumulator that it is assigned to.
    """
    a, b, c = (call.matrix(index) for index in range(3))
    for index, (matrix, use) in enumerate(zip((a, b, c), (Use.A, Use.B, Use.ACCUMULATOR), strict=True)):
        if matrix.use is not use:
            raise call.fail(messages.WRONG_USE, call.arguments[index].location, expected=use, found=matrix.use,
                            index=index + 1, name=call.name)
    _check_elements(call, a, b, c)
    _check_shapes(call, a, b, c)
    result = _result_type(call, c)
    operands = _operands(call, (a.scalar, b.scalar, c.scalar, result.scalar))
    left, right, addend = call.arguments[:3]
    return MatrixMultiplyAdd(result, call.location, left, right, addend, operands)


def _kind(scalar: Scalar) -> str:
    return "floating-point" if scalar.is_float else "integer"


def _check_elements(call: _Call, a: Matrix, b: Matrix, c: Matrix) -> None:
    """A and B have one element type up to its sign; the accumulator is of the same kind."""
    if a.scalar.is_float != b.scalar.is_float or a.scalar.bits != b.scalar.bits or (
            a.scalar.is_float and a.scalar != b.scalar):
        raise call.fail(messages.INCONSISTENT_ELEMENTS, call.arguments[1].location, left="A", left_type=a.scalar,
                        right="B", right_type=b.scalar,
                        rule="A and B must have one element type, apart from its sign")
    if a.scalar.is_float != c.scalar.is_float:
        raise call.fail(messages.INCONSISTENT_ELEMENTS, call.arguments[2].location, left="A", left_type=a.scalar,
                        right="C", right_type=c.scalar,
                        rule="the accumulator must be of the same kind, integer or floating-point")


def _check_shapes(call: _Call, a: Matrix, b: Matrix, c: Matrix) -> None:
    """A is M×K, B is K×N and C is M×N."""
    for index, left, right, fits, rule in (
            (1, ("A", a), ("B", b), a.columns == b.rows, "the columns of A must be the rows of B (K)"),
            (2, ("A", a), ("C", c), a.rows == c.rows, "A and C must have the same rows (M)"),
            (2, ("B", b), ("C", c), b.columns == c.columns, "B and C must have the same columns (N)")):
        if not fits:
            raise call.fail(messages.INCOMPATIBLE_SHAPES, call.arguments[index].location, left=left[0],
                            left_shape=shape(left[1]), right=right[0], right_shape=shape(right[1]), rule=rule)


def _result_type(call: _Call, c: Matrix) -> Matrix:
    """C's type; a target that differs from it in the element type's size alone is taken as it is."""
    target = call.target
    if not isinstance(target, Matrix) or target == c:
        return c
    if (target.use, target.rows, target.columns) != (c.use, c.rows, c.columns) or (
            target.scalar.is_float != c.scalar.is_float):
        raise call.fail(messages.RESULT_MISMATCH, call.location, name=call.name, shape=shape(c),
                        kind=_kind(c.scalar), target=target)
    return target


def _operands(call: _Call, elements: tuple[Scalar, Scalar, Scalar, Scalar]) -> int:
    """The Cooperative Matrix Operands: given as fourth argument, or taken from the element types."""
    signed = sum(role.flag for role, element in zip(ROLES, elements, strict=True) if element.kind == "sint")
    if len(call.arguments) == 3:
        return signed
    given = _given_operands(call)
    location = call.arguments[3].location
    for name, flag, element in _flags_without_meaning(given, elements):
        given &= ~flag
        call.context.report(messages.FLAG_ON_FLOAT, location, flag=name, element=element)
    relevant = _relevant_flags(given, elements)
    for message, differing in ((messages.SIGNED_AS_UNSIGNED, signed & ~given & relevant),
                               (messages.UNSIGNED_AS_SIGNED, given & ~signed & relevant)):
        roles = [(role, element) for role, element in zip(ROLES, elements, strict=True) if differing & role.flag]
        if roles:
            call.context.report(message, location, flags=" | ".join(role.flag_name for role, _ in roles),
                                matrices=", ".join(f"{role.name} ('{element}')" for role, element in roles))
    return given


def _relevant_flags(given: int, elements: tuple[Scalar, ...]) -> int:
    """The flags that make a difference: a matrix as wide as the result wraps alike, signed or not."""
    return sum(role.flag for role, element in zip(ROLES, elements, strict=True)
               if given & SATURATING or element.bits < elements[-1].bits)


def _flags_without_meaning(given: int, elements: tuple[Scalar, ...]) -> Iterator[tuple[str, int, Scalar]]:
    """The flags that are given for floating-point matrices: name, bit and element type."""
    for role, element in zip(ROLES, elements, strict=True):
        if element.is_float and given & role.flag:
            yield role.flag_name, role.flag, element
    if elements[-1].is_float and given & SATURATING:
        yield "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION", SATURATING, elements[-1]


def _given_operands(call: _Call) -> int:
    """The value of the fourth argument."""
    operands = call.arguments[3]
    if not operands.type.is_arithmetic or operands.type.is_float:
        raise call.fail(messages.OPERANDS_TYPE, operands.location, name=call.name, type=operands.type)
    value = call.context.constant_integer(operands)
    if value is None:
        raise call.fail(messages.OPERANDS_NOT_CONSTANT, operands.location, name=call.name)
    if value & ~(SATURATING | sum(role.flag for role in ROLES)):
        raise call.fail(messages.INVALID_OPERANDS, operands.location, name=call.name, value=value)
    return value


# ------------------------------------------------------------------ the table


@dataclass(frozen=True, slots=True)
class _Function:
    """A built-in function: how many arguments it takes, and what makes its node."""

    counts: tuple[int, ...]
    make: Callable[[_Call], Expression]


FUNCTIONS: dict[str, _Function] = {
    "coop_mat_load": _Function((3,), _load),
    "coop_mat_store": _Function((4,), _store),
    "coop_matmul_add": _Function((4,), _multiply_add),
    "coop_mat_mulAdd": _Function((3, 4), _multiply_add),
    "coop_mat_init": _Function((1,), _init),
    "coop_mat_convert": _Function((1,), _convert),
    "coop_mat_transpose": _Function((1,), _transpose),
    "coop_mat_reduce": _Function((3,), _reduce),
    "coop_mat_length": _Function((1,), _length),
    "coop_mat_get_coord": _Function((2,), _get_coord),
}
"""The RFC's functions, those of the newer draft, and our additions."""

FUNCTION_NAMES: frozenset[str] = frozenset({*FUNCTIONS, APPLY})
"""With the function that takes the name of another one: :mod:`coopmat.opencl.sema.calls` looks it up."""


_WITHOUT_OPERANDS = "; the last is CLK_COOPERATIVE_MATRIX_OPERAND_NONE, or call coop_mat_mulAdd, which needs none"


def call(context: Analysis, name: str, arguments: list[Expression], location: SourceLocation | None,
         close: SourceLocation | None, target: Type | None) -> Expression:
    """The node of a call; ``target`` is the type that the result is assigned to, if there is one."""
    if any(is_error(argument) for argument in arguments) or target is ERROR:
        return context.error_expression(location)
    counts = FUNCTIONS[name].counts
    if len(arguments) not in counts:
        expected = " or ".join(map(str, counts))
        if len(arguments) > counts[-1]:
            return context.error(messages.TOO_MANY_ARGUMENTS, arguments[counts[-1]].location or location, name=name,
                                 found=len(arguments), expected=expected)
        hint = _WITHOUT_OPERANDS if name == "coop_matmul_add" and len(arguments) == counts[0] - 1 else ""
        return context.error(messages.TOO_FEW_ARGUMENTS, close or location, name=name, found=len(arguments),
                             expected=expected, hint=hint)
    try:
        return FUNCTIONS[name].make(_Call(context, name, arguments, location, target))
    except _Reported:
        return context.error_expression(location)
