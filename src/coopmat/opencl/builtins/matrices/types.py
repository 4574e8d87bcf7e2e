"""Names and types of the cooperative matrix extension, and where matrices may live (RFC 4.1, 4.4)."""

from __future__ import annotations

from typing import TypeVar

from coopmat.devices import WORK_GROUP_MULTIPLE
from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.analysis import Analysis
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.messages import matrix as messages
from coopmat.opencl.messages.semantic import INDEX_PAST_END
from coopmat.tree.matrices import AXES, COMBINATIONS
from coopmat.tree.nodes import (
    AddressOf,
    Aggregate,
    Constant,
    Declare,
    ElementPlace,
    Expression,
    Variable,
    VariablePlace,
)
from coopmat.tree.types import (
    VOID,
    AddressSpace,
    Array,
    Enumeration,
    ExecutionScope,
    Matrix,
    Pointer,
    Record,
    Scalar,
    Type,
    Use,
    contains_matrix,
)
from coopmat.tree.walk import Node, descendants

EXTENSION = "cl_khr_cooperative_matrix"
FEATURE = "__opencl_c_ext_cooperative_matrix"
FEATURES = (FEATURE, EXTENSION)
"""The feature macros of the extension, in the RFC's and in the newer draft's spelling."""

MAX_ELEMENTS = 1 << 20
"""Limit on rows times columns; the largest device table row has 2,048 elements."""

PACKED = 2
LAYOUTS = {
    "CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR": 0,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR": 1,
    "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED_INTEL": PACKED,
}
"""The layouts of a matrix in memory; the packed one of B is SPV_INTEL_joint_matrix's, and not in the RFC."""

ENUMERATIONS: dict[str, dict[str, int]] = {
    "coop_matrix_scope_t": {"CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP": ExecutionScope.SUBGROUP.value,
                            "CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP": ExecutionScope.WORKGROUP.value},
    "coop_matrix_use_t": {str(use): use.value for use in Use},
    "coop_matrix_layout_t": LAYOUTS,
    "coop_matrix_operands_t": {
        "CLK_COOPERATIVE_MATRIX_OPERAND_NONE": 0,
        "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED": 1,
        "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED": 2,
        "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_C_SIGNED": 4,
        "CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED": 8,
        "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION": 16,
    },
    "coop_matrix_reduce_t": {f"CLK_COOPERATIVE_MATRIX_REDUCE_{name.upper()}": axes for name, axes in AXES.items()},
    "coop_matrix_combine_t": {
        f"CLK_COOPERATIVE_MATRIX_COMBINE_{name.upper()}": number for number, name in enumerate(COMBINATIONS)},
}
"""The extension's enumerations, and those of reductions, which are not in the RFC, as little as work-groups' scope is;
scopes, layouts, uses, operands and what is reduced have SPIR-V's values."""

TYPE_NAMES: frozenset[str] = frozenset(ENUMERATIONS)

SCOPES: dict[int, ExecutionScope] = {
    **{value: ExecutionScope(value) for value in ENUMERATIONS["coop_matrix_scope_t"].values()},
    1: ExecutionScope.WORKGROUP, 4: ExecutionScope.SUBGROUP,
}
"""Scope arguments: the extension's own constants, and OpenCL's memory_scope_work_group and memory_scope_sub_group."""

USES: dict[int, Use] = {use.value: use for use in Use}

_INVALID_ARGUMENT = {"scope": messages.INVALID_SCOPE, "use": messages.INVALID_USE}
_ARGUMENT_NAMES = {
    **ENUMERATIONS["coop_matrix_scope_t"], **ENUMERATIONS["coop_matrix_use_t"], "memory_scope_sub_group": 4,
    "memory_scope_work_group": 1,
}

T = TypeVar("T")


def declare_predefined(context: Analysis) -> None:
    """Declare the extension's type names and enumerators, on every device: what needs the feature is the type."""
    for name, values in ENUMERATIONS.items():
        enumeration = Enumeration(name)
        context.declare_typedef(name, enumeration)
        context.declare_enumerators(enumeration, values)


# ------------------------------------------------------------------ the coop_mat attribute


def matrix_type(context: Analysis, element: Type, arguments: list[Expression],
                location: SourceLocation | None) -> Type:
    """The type that ``element __attribute__((coop_mat(scope, rows, columns, use)))`` names.

    All wrong arguments are reported; then the result is ERROR.
    """
    if any(is_error(argument) for argument in arguments) or element is ERROR or not _is_enabled(context, location):
        return ERROR
    if len(arguments) != 4:
        context.report(messages.ATTRIBUTE_COUNT, location, found=len(arguments))
        return ERROR
    valid_element = _check_element(context, element, location)
    scope = _scope(context, arguments[0])
    rows = _dimension(context, arguments[1], "rows")
    columns = _dimension(context, arguments[2], "columns")
    use = _use(context, arguments[3])
    if not valid_element or scope is None or rows is None or columns is None or use is None:
        return ERROR
    if rows * columns > MAX_ELEMENTS:
        context.report(messages.TOO_MANY_ELEMENTS, arguments[1].location, rows=rows, columns=columns,
                       limit=MAX_ELEMENTS)
        return ERROR
    if scope is ExecutionScope.WORKGROUP and not _is_of_work_group(context, arguments, rows, columns):
        return ERROR
    assert isinstance(element, Scalar)
    return Matrix(element, scope, rows, columns, use)


def check_work_groups(context: Analysis) -> None:
    """Report the kernels of a program with matrices at work-group scope whose work-groups may have any size.

    SPV_NV_cooperative_matrix2 wants all of a module's entry points to require one.
    """
    bodies = (function.body for function in context.program.functions if function.body is not None)
    first = next((node for body in bodies for node in descendants(body) if _has_matrix_of_work_group(node)), None)
    if first is None:
        return
    for kernel in context.program.functions:
        if kernel.is_kernel and kernel.required_work_group_size is None:
            context.report(messages.NEEDS_WORK_GROUP_SIZE, kernel.location,
                           (note("the matrix is used here", first.location),), name=kernel.name)


def _has_matrix_of_work_group(node: Node) -> bool:
    type_ = node.variable.type if isinstance(node, Declare) else getattr(node, "type", VOID)
    matrix = _matrix_in(type_)
    return matrix is not None and matrix.scope is ExecutionScope.WORKGROUP


def _is_of_work_group(context: Analysis, arguments: list[Expression], rows: int, columns: int) -> bool:
    """Whether a matrix at work-group scope can have these sizes; False after a report."""
    for size, what, argument in ((rows, "rows", arguments[1]), (columns, "columns", arguments[2])):
        if size % WORK_GROUP_MULTIPLE:
            context.report(messages.NOT_OF_WORK_GROUP, argument.location, what=what, value=size,
                           multiple=WORK_GROUP_MULTIPLE)
            return False
    return True


def _is_enabled(context: Analysis, location: SourceLocation | None) -> bool:
    if not context.has(*FEATURES):
        reason = f"the device does not define {FEATURE}"
    elif EXTENSION in context.disabled_extensions:
        reason = f"'#pragma OPENCL EXTENSION {EXTENSION} : disable' is in effect"
    else:
        return True
    context.report(messages.EXTENSION_DISABLED, location, reason=reason)
    return False


def _check_element(context: Analysis, element: Type, location: SourceLocation | None) -> bool:
    if element.is_integer or element.is_float:
        return True
    context.report(messages.INVALID_ELEMENT_TYPE, location, type=element)
    return False


def _scope(context: Analysis, argument: Expression) -> ExecutionScope | None:
    return _enumerant(context, argument, "scope", SCOPES)


def _use(context: Analysis, argument: Expression) -> Use | None:
    return _enumerant(context, argument, "use", USES)


def _enumerant(context: Analysis, argument: Expression, what: str, values: dict[int, T]) -> T | None:
    """What an argument of the attribute stands for; a string names its enumerant."""
    text = _string_value(argument)
    value = context.constant_integer(argument) if text is None else _ARGUMENT_NAMES.get(text)
    if value is None or value not in values:
        found = f"the string \"{text}\"" if text is not None else (
            value if value is not None else f"an expression of type '{argument.type}' that is no integer constant")
        context.report(_INVALID_ARGUMENT[what], argument.location, found=found)
        return None
    if text is not None:
        context.report(messages.STRING_ARGUMENT, argument.location, what=what, name=text)
    return values[value]


def _string_value(argument: Expression) -> str | None:
    """The text of a string literal, which the analysis has made a constant array."""
    match argument:
        case AddressOf(place=ElementPlace(base=VariablePlace(
                variable=Variable(initializer=Aggregate(elements=elements))))):
            codes = [element.value for element in elements if isinstance(element, Constant)]
            return "".join(chr(int(code) & 0xFF) for code in codes).rstrip("\0")
    return None


def _dimension(context: Analysis, argument: Expression, what: str) -> int | None:
    value = context.constant_integer(argument)
    if value is None:
        context.report(messages.DIMENSION_NOT_CONSTANT, argument.location, what=what)
    elif value <= 0:
        context.report(messages.DIMENSION_NOT_POSITIVE, argument.location, what=what, value=value)
        return None
    return value


# ------------------------------------------------------------------ where matrices may live

KERNEL_PARAMETER = "kernel parameter"


def check_object(context: Analysis, type_: Type, space: AddressSpace, location: SourceLocation | None,
                 what: str) -> bool:
    """Whether an object of ``type_`` may be declared in ``space``; False after a report.

    ``what`` is "variable", "parameter", "kernel parameter", "member" or "result". Matrices are
    allocated in private memory only, also as parts of arrays and structures, and no buffer holds them.
    """
    if contains_matrix(type_):
        if what == KERNEL_PARAMETER:
            advice = note("pass a pointer to the elements and use coop_mat_load in the kernel", None)
            context.report(messages.KERNEL_PARAMETER, location, (advice,), type=type_)
            return False
        if space is not AddressSpace.PRIVATE:
            context.report(messages.WRONG_STORAGE, location, type=type_, what=what, space=space)
            return False
    return _check_pointee(context, type_, location, what)


def _check_pointee(context: Analysis, type_: Type, location: SourceLocation | None, what: str) -> bool:
    """Pointers to matrices are for passing private ones to functions; they do not come from the host."""
    inner = type_
    while isinstance(inner, (Array, Pointer)):
        if isinstance(inner, Pointer):
            matrix = _matrix_in(inner.pointee)
            if matrix is not None and inner.address_space not in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
                context.report(messages.MATRIX_IN_MEMORY, location, type=type_, space=inner.address_space,
                               element=matrix.scalar)
                return False
            inner = inner.pointee
        else:
            inner = inner.item
    return True


def _matrix_in(type_: Type) -> Matrix | None:
    """The first matrix that is, or is part of, ``type_``."""
    match type_:
        case Matrix():
            return type_
        case Array(item=item):
            return _matrix_in(item)
        case Record(fields=fields):
            return next((matrix for member in fields or () if (matrix := _matrix_in(member.type))), None)
    return None


# ------------------------------------------------------------------ operands and components


def shape(matrix: Matrix) -> str:
    """Rows and columns as messages show them."""
    return f"{matrix.rows}x{matrix.columns}"


def same_type(context: Analysis, left: Matrix, right: Matrix, location: SourceLocation | None) -> bool:
    """Whether two operands have one type; the first difference is reported."""
    rule = "the operands must have one type"
    if left.scalar != right.scalar:
        context.report(messages.INCONSISTENT_ELEMENTS, location, left="left operand", left_type=left.scalar,
                       right="right operand", right_type=right.scalar, rule=rule)
    elif (left.rows, left.columns) != (right.rows, right.columns):
        context.report(messages.INCOMPATIBLE_SHAPES, location, left="left operand", left_shape=shape(left),
                       right="right operand", right_shape=shape(right), rule=rule)
    elif left.use is not right.use:
        context.report(messages.INCONSISTENT_USE, location, expected=left.use, found=right.use)
    return left == right


def check_index(context: Analysis, index: Expression, matrix: Matrix) -> bool:
    """Whether ``index`` can be a component's number; False after a report. One that is too large on every
    device is warned about."""
    if not index.type.is_arithmetic or index.type.is_float:
        context.report(messages.NOT_AN_INDEX, index.location, type=index.type)
        return False
    value = context.constant_integer(index)
    if value is not None and value < 0:
        context.report(messages.NEGATIVE_INDEX, index.location, value=value)
        return False
    if value is not None and value >= matrix.rows * matrix.columns:
        context.report(INDEX_PAST_END, index.location, index=value, type=matrix)
    return True
