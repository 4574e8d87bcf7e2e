"""Attributes: what each one means and where it may stand (OpenCL C 6.11, and clang's)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coopmat.opencl.base.symbols import QualifiedType
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.builtins import matrices
from coopmat.opencl.messages import overloads as overload_messages
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Expression, Function
from coopmat.tree.types import BOOL, VECTOR_COUNTS, Array, Pointer, Record, Scalar, Type, Vector, size_of

TYPE_ATTRIBUTES: frozenset[str] = frozenset({"coop_mat", "ext_vector_type", "vector_size"})
OBJECT: frozenset[str] = TYPE_ATTRIBUTES | {"aligned", "align_value"}
"""What means something on a variable, a parameter, or the name of a type."""
MEMBER: frozenset[str] = OBJECT | {"packed"}
RECORD: frozenset[str] = frozenset({"packed", "aligned"})
ENUMERATION: frozenset[str] = frozenset({"packed"})
WORK_GROUP_ATTRIBUTES = {"reqd_work_group_size": "required_work_group_size",
                         "work_group_size_hint": "work_group_size_hint"}
SUB_GROUP_ATTRIBUTES = frozenset({"intel_reqd_sub_group_size", "reqd_sub_group_size"})
TYPE_HINT = "vec_type_hint"
UNROLL_ATTRIBUTE = "opencl_unroll_hint"
OVERLOADABLE = "overloadable"
FUNCTION: frozenset[str] = SUB_GROUP_ATTRIBUTES | WORK_GROUP_ATTRIBUTES.keys() | {TYPE_HINT, OVERLOADABLE}
MEANINGFUL: frozenset[str] = MEMBER | RECORD | FUNCTION | {UNROLL_ATTRIBUTE}

IGNORED: frozenset[str] = frozenset({
    "alloc_size", "always_inline", "amdgpu_flat_work_group_size", "amdgpu_num_sgpr", "amdgpu_num_vgpr",
    "amdgpu_waves_per_eu", "annotate", "assume", "assume_aligned", "availability", "cold", "const", "convergent",
    "deprecated", "endian", "fallthrough", "flag_enum", "flatten", "format", "format_arg", "hot", "internal_linkage",
    "malloc", "may_alias", "no_builtin", "no_sanitize", "noduplicate", "noescape", "noinline", "nomerge", "nonnull",
    "noreturn", "nosvm", "nothrow", "nouwtable", "optnone", "pure", "returns_nonnull", "section", "target",
    "unavailable", "uninitialized", "unused", "used", "visibility", "warn_unused_result", "weak",
})
"""Attributes that change nothing in what a kernel computes."""

REFUSED: dict[str, str] = {
    "address_space": "write __global, __local, __constant or __private",
    "alias": "a program is one translation unit",
    "cleanup": "call the function where the variable's scope ends",
    "constructor": "kernels are all that is called from outside",
    "destructor": "kernels are all that is called from outside",
    "enable_if": "overloads differ in the types of their parameters",
    "ifunc": "OpenCL C has no function pointers",
    "mode": "name a type of that size",
    "transparent_union": "name the member that is meant",
    "weakref": "a program is one translation unit",
}
"""Attributes without which a program would mean something else, and what to do instead."""

MAX_ALIGNMENT = 4096
DEFAULT_ALIGNMENT = 16  # of ``aligned`` without an argument
MAX_WORK_GROUP = 1 << 20


def is_known(name: str) -> bool:
    """Whether an attribute is taken, which ``__has_attribute`` asks."""
    return name in MEANINGFUL or name in IGNORED


def analyze_arguments(context: Context, attribute: syntax.Attribute) -> list[Expression]:
    """The arguments as values. Strings among them leave nothing behind in the program."""
    with context.discarding():
        return [context.value(argument) for argument in attribute.arguments]


def report_unknown(context: Context, attributes: Iterable[syntax.Attribute], known: Iterable[str]) -> None:
    """Report attributes that nothing is known of, that mean nothing where they stand, or that are refused."""
    for attribute in attributes:
        name = attribute.name
        if name in IGNORED or name in known:
            continue
        if name == OVERLOADABLE:
            context.report(overload_messages.ONLY_FUNCTIONS, attribute.location)
        elif name in REFUSED:
            context.report(messages.REFUSED_ATTRIBUTE, attribute.location, name=name, advice=REFUSED[name])
        elif name == UNROLL_ATTRIBUTE:
            context.report(messages.UNROLL_NEEDS_LOOP, attribute.location, name=name)
        elif name in MEANINGFUL:
            context.report(messages.MISPLACED_ATTRIBUTE, attribute.location, name=name)
        else:
            context.report(messages.UNKNOWN_ATTRIBUTE, attribute.location, name=name,
                           suggestion=context.suggestion(name, MEANINGFUL | IGNORED))


# ------------------------------------------------------------------ types and objects


def apply_to_type(context: Context, type_: QualifiedType, attributes: Iterable[syntax.Attribute]) -> QualifiedType:
    """A declared type with its type attributes and alignment."""
    for attribute in attributes:
        if attribute.name in TYPE_ATTRIBUTES:
            type_ = replace(type_, type=_attributed_type(context, type_.type, attribute))
        elif attribute.name == "aligned":
            alignment = alignment_of(context, attribute)
            type_ = replace(type_, alignment=max(alignment or 1, type_.alignment or 1))
        elif attribute.name == "align_value":
            _check_align_value(context, type_.type, attribute)
    return type_


def _check_align_value(context: Context, type_: Type, attribute: syntax.Attribute) -> None:
    """``align_value(n)``, a promise about a pointer that nothing is made of."""
    if alignment_of(context, attribute, (1,)) is not None and type_ is not ERROR \
            and not isinstance(type_, Pointer):
        context.report(messages.ALIGN_VALUE, attribute.location, type=type_)


def _attributed_type(context: Context, type_: Type, attribute: syntax.Attribute) -> Type:
    """The type attribute applied to the elements of an array, or to the type itself."""
    if type_ is ERROR:
        return ERROR
    if isinstance(type_, Array):
        item = _attributed_type(context, type_.item, attribute)
        return ERROR if item is ERROR else Array(item, type_.count)
    arguments = analyze_arguments(context, attribute)
    if attribute.name == "coop_mat":
        return matrices.matrix_type(context, type_, arguments, attribute.location)
    return _vector_type(context, type_, arguments, attribute)


def _vector_type(context: Context, element: Type, arguments: list[Expression], attribute: syntax.Attribute) -> Type:
    """``ext_vector_type(count)`` and ``vector_size(bytes)``, clang's and GCC's ways to write a vector type."""
    if any(map(is_error, arguments)):
        return ERROR
    count = context.constant_integer(arguments[0]) if len(arguments) == 1 else None
    valid = isinstance(element, Scalar) and element.kind not in ("bool", "bfloat")
    if valid and count is not None and attribute.name == "vector_size":
        count = count // size_of(element) if count % size_of(element) == 0 else None
    if count not in VECTOR_COUNTS or not valid:
        context.report(messages.BAD_VECTOR_TYPE, attribute.location, type=element,
                       counts=", ".join(map(str, VECTOR_COUNTS)))
        return ERROR
    assert isinstance(element, Scalar)
    return Vector(element, count)


def alignment_of(context: Context, attribute: syntax.Attribute, counts: tuple[int, ...] = (0, 1)) -> int | None:
    """The bytes of ``aligned(n)``, or of ``aligned`` alone; None after a report."""
    arguments = analyze_arguments(context, attribute)
    if len(arguments) not in counts:
        context.report(messages.ATTRIBUTE_ARGUMENT_COUNT, attribute.location, name=attribute.name,
                       expected=counts[-1], found=len(arguments))
        return None
    if not arguments:
        return DEFAULT_ALIGNMENT
    alignment = context.constant_integer(arguments[0])
    if is_error(arguments[0]):
        return None
    if alignment is None or not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
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
    report_unknown(context, attributes, RECORD)


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
        elif attribute.name == TYPE_HINT:
            _check_type_hint(context, attribute)
        else:
            continue
        if not function.is_kernel:
            context.report(messages.ATTRIBUTE_NEEDS_KERNEL, attribute.location, name=attribute.name)
    report_unknown(context, attributes, FUNCTION | {"aligned"})


def _apply_overloadable(context: Context, function: Function, attribute: syntax.Attribute) -> None:
    if attribute.arguments:
        context.report(overload_messages.TAKES_NO_ARGUMENTS, attribute.location)
    elif function.is_kernel:
        context.report(overload_messages.OVERLOADABLE_KERNEL, attribute.location, name=function.name)
    function.overloadable = True


def _check_type_hint(context: Context, attribute: syntax.Attribute) -> None:
    """``vec_type_hint(type)``: a number or a vector; nothing is made of it (OpenCL C 6.11.2)."""
    types = [context.resolve_type_name(name) for name in attribute.types]
    if len(types) != 1 or attribute.arguments:
        context.report(messages.ATTRIBUTE_ARGUMENT_COUNT, attribute.location, name=TYPE_HINT, expected=1,
                       found=len(types) + len(attribute.arguments))
    elif types[0] is not ERROR and (not isinstance(types[0], (Scalar, Vector)) or types[0] == BOOL):
        context.report(messages.TYPE_HINT, attribute.location, type=types[0])


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
