"""Attributes: what each one means and where it may stand (OpenCL C 6.11, and clang's)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coopmat.opencl import syntax
from coopmat.opencl.messages import overloads as overload_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.sema import expressions, matrix
from coopmat.opencl.sema.context import Context, QualifiedType
from coopmat.opencl.sema.values import ERROR, is_error
from coopmat.tree.nodes import Expression, Function
from coopmat.tree.types import VECTOR_COUNTS, Array, Record, Scalar, Type, Vector

TYPE_ATTRIBUTES: frozenset[str] = frozenset({"coop_mat", "ext_vector_type"})
OBJECT_ATTRIBUTES: frozenset[str] = frozenset({"aligned"})
RECORD_ATTRIBUTES: frozenset[str] = frozenset({"packed", "aligned"})
WORK_GROUP_ATTRIBUTES = {"reqd_work_group_size": "required_work_group_size",
                         "work_group_size_hint": "work_group_size_hint"}
SUB_GROUP_ATTRIBUTES = frozenset({"intel_reqd_sub_group_size", "reqd_sub_group_size"})
UNROLL_ATTRIBUTE = "opencl_unroll_hint"
OVERLOADABLE = "overloadable"
IGNORED_ATTRIBUTES = frozenset({
    "always_inline", "annotate", "cold", "const", "convergent", "deprecated", "endian", "flatten", "hot", "may_alias",
    "noinline", "nothrow", "nonnull", "nosvm", "pure", "unused", "used", "vec_type_hint", "visibility",
    "warn_unused_result", "internal_linkage", "noconvergent",
})
"""Attributes that change nothing in what a kernel computes."""

MAX_ALIGNMENT = 4096
MAX_WORK_GROUP = 1 << 20


def analyze_arguments(context: Context, attribute: syntax.Attribute) -> list[Expression]:
    """The arguments as values. Strings among them leave nothing behind in the program."""
    count = len(context.program.globals)
    arguments = [expressions.value(context, argument) for argument in attribute.arguments]
    del context.program.globals[count:]
    return arguments


def report_unknown(context: Context, attributes: Iterable[syntax.Attribute], known: Iterable[str]) -> None:
    """Warn about attributes that nothing is known of, or that mean nothing where they stand."""
    everything = (TYPE_ATTRIBUTES | OBJECT_ATTRIBUTES | RECORD_ATTRIBUTES | WORK_GROUP_ATTRIBUTES.keys()
                  | SUB_GROUP_ATTRIBUTES | {UNROLL_ATTRIBUTE, OVERLOADABLE})
    for attribute in attributes:
        if attribute.name in IGNORED_ATTRIBUTES or attribute.name in known:
            continue
        if attribute.name == OVERLOADABLE:
            context.report(overload_messages.ONLY_FUNCTIONS, attribute.location)
        elif attribute.name in everything:
            context.report(messages.MISPLACED_ATTRIBUTE, attribute.location, name=attribute.name)
        else:
            context.report(messages.UNKNOWN_ATTRIBUTE, attribute.location, name=attribute.name,
                           suggestion=context.suggestion(attribute.name, everything | IGNORED_ATTRIBUTES))


# ------------------------------------------------------------------ types and objects


def apply_to_type(context: Context, type_: QualifiedType, attributes: Iterable[syntax.Attribute]) -> QualifiedType:
    """A declared type with its type attributes and alignment."""
    for attribute in attributes:
        if attribute.name in TYPE_ATTRIBUTES:
            type_ = replace(type_, type=_attributed_type(context, type_.type, attribute))
        elif attribute.name == "aligned":
            alignment = alignment_of(context, attribute)
            type_ = replace(type_, alignment=max(alignment or 1, type_.alignment or 1))
    return type_


def _attributed_type(context: Context, type_: Type, attribute: syntax.Attribute) -> Type:
    """The type attribute applied to the elements of an array, or to the type itself."""
    if type_ is ERROR:
        return ERROR
    if isinstance(type_, Array):
        item = _attributed_type(context, type_.item, attribute)
        return ERROR if item is ERROR else Array(item, type_.count)
    arguments = analyze_arguments(context, attribute)
    if attribute.name == "coop_mat":
        return matrix.matrix_type(context, type_, arguments, attribute.location)
    return _vector_type(context, type_, arguments, attribute)


def _vector_type(context: Context, element: Type, arguments: list[Expression], attribute: syntax.Attribute) -> Type:
    """``ext_vector_type(n)``, clang's way to write a vector type."""
    if any(map(is_error, arguments)):
        return ERROR
    count = context.constant_integer(arguments[0]) if len(arguments) == 1 else None
    valid = isinstance(element, Scalar) and element.kind not in ("bool", "bfloat")
    if count not in VECTOR_COUNTS or not valid:
        context.report(messages.BAD_VECTOR_TYPE, attribute.location, type=element,
                       counts=", ".join(map(str, VECTOR_COUNTS)))
        return ERROR
    assert isinstance(element, Scalar)
    return Vector(element, count)


def alignment_of(context: Context, attribute: syntax.Attribute) -> int | None:
    """The bytes of ``aligned(n)``; without argument the largest alignment, that of a long16."""
    arguments = analyze_arguments(context, attribute)
    if not arguments:
        return 128
    alignment = context.constant_integer(arguments[0])
    if is_error(arguments[0]):
        return None
    if len(arguments) != 1 or alignment is None or not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
        context.report(messages.BAD_ALIGNMENT, arguments[0].location, limit=MAX_ALIGNMENT)
        return None
    return alignment


def apply_to_record(context: Context, record: Record, attributes: Iterable[syntax.Attribute]) -> None:
    """``packed`` and ``aligned`` of a structure or union."""
    for attribute in attributes:
        if attribute.name == "packed":
            record.packed = True
        elif attribute.name == "aligned":
            record.alignment = max(alignment_of(context, attribute) or 1, record.alignment or 1)
    report_unknown(context, attributes, RECORD_ATTRIBUTES)


# ------------------------------------------------------------------ functions and loops


def apply_to_function(context: Context, function: Function, attributes: list[syntax.Attribute]) -> None:
    """Work-group and sub-group sizes of kernels, and ``overloadable``."""
    for attribute in attributes:
        if attribute.name == OVERLOADABLE:
            _apply_overloadable(context, function, attribute)
            continue
        if attribute.name in WORK_GROUP_ATTRIBUTES:
            sizes = _sizes(context, attribute, (1, 2, 3) if "hint" in attribute.name else (3,))
            if sizes is not None:
                setattr(function, WORK_GROUP_ATTRIBUTES[attribute.name], sizes + (1,) * (3 - len(sizes)))
        elif attribute.name in SUB_GROUP_ATTRIBUTES:
            sizes = _sizes(context, attribute, (1,))
            if sizes is not None:
                function.required_sub_group_size = sizes[0]
        else:
            continue
        if not function.is_kernel:
            context.report(messages.ATTRIBUTE_NEEDS_KERNEL, attribute.location, name=attribute.name)
    report_unknown(context, attributes, WORK_GROUP_ATTRIBUTES.keys() | SUB_GROUP_ATTRIBUTES | {OVERLOADABLE})


def _apply_overloadable(context: Context, function: Function, attribute: syntax.Attribute) -> None:
    if attribute.arguments:
        context.report(overload_messages.TAKES_NO_ARGUMENTS, attribute.location)
    elif function.is_kernel:
        context.report(overload_messages.OVERLOADABLE_KERNEL, attribute.location, name=function.name)
    function.overloadable = True


def _sizes(context: Context, attribute: syntax.Attribute, counts: tuple[int, ...]) -> tuple[int, ...] | None:
    """The arguments as positive integers; None after a report."""
    arguments = analyze_arguments(context, attribute)
    if len(arguments) not in counts:
        context.report(messages.ATTRIBUTE_ARGUMENT_COUNT, attribute.location, name=attribute.name,
                       expected=counts[-1], found=len(arguments))
        return None
    sizes: list[int] = []
    for argument in arguments:
        value = context.constant_integer(argument)
        if is_error(argument):
            return None
        if value is None or not 0 < value <= MAX_WORK_GROUP:
            context.report(messages.ATTRIBUTE_NEEDS_POSITIVE, argument.location, name=attribute.name)
            return None
        sizes.append(value)
    return tuple(sizes)


def unroll_hint(context: Context, attributes: list[syntax.Attribute], pragma: int | None) -> int | None:
    """A loop's unroll factor, from its attributes or its pragma."""
    result = pragma
    for attribute in attributes:
        if attribute.name == UNROLL_ATTRIBUTE:
            if not attribute.arguments:
                result = 0
            elif (sizes := _sizes(context, attribute, (0, 1))) is not None:
                result = sizes[0]
    report_unknown(context, attributes, {UNROLL_ATTRIBUTE})
    return result
