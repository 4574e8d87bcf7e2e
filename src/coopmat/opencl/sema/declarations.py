"""Declarations of types, variables and functions (C99 6.7, 6.9; OpenCL C 6.7 to 6.9)."""

from __future__ import annotations

from dataclasses import replace

from coopmat.diagnostics import SourceLocation
from coopmat.opencl import builtins
from coopmat.opencl.base.symbols import Declared, FunctionSet, QualifiedType, Typedef
from coopmat.opencl.base.types import UNSIZED, find_kind, has_size, is_bool_or_pointer, is_half, member_of_device
from coopmat.opencl.base.values import AUTO, ERROR
from coopmat.opencl.builtins import matrices, printf, printf_formats
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import versions as version_messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import (
    attributes,
    declarators,
    events,
    overloads,
    records,
    static_variables,
    variables,
)
from coopmat.opencl.sema.checks import unused
from coopmat.opencl.sema.context import Context
from coopmat.tree import constants
from coopmat.tree.nodes import Declare, Function, Statement, Variable
from coopmat.tree.types import VOID, AddressSpace, Array, FunctionType, Pointer, Type


def declaration(context: Context, node: syntax.Declaration) -> list[Statement]:
    """A declaration; at block scope the statements that bring its variables to life."""
    specifiers = node.specifiers
    check_storage_classes(context, specifiers)
    base = declarators.specified_type(context, specifiers, declares_tag=not node.declarators)
    attributes.report_unknown(context, _foreign(specifiers.attributes, node, base.type), _known_attributes(specifiers))
    if not node.declarators and specifiers.record is None and specifiers.enumeration is None:
        context.report(messages.DECLARES_NOTHING, node.location)
    statements: list[Statement] = []
    for item in node.declarators:
        found = declarators.declared(context, base, item.declarator)
        if (found.function is not None and found.type.type is not ERROR) or isinstance(found.type.type, FunctionType):
            _function_declaration(context, specifiers, found, item)
            continue
        if found.type.type is AUTO:
            found = _deduced(context, found, item)
        found = replace(found, function=None,
                        type=attributes.apply_to_type(context, found.type, item.attributes))
        attributes.report_unknown(context, item.attributes, attributes.OBJECT)
        if specifiers.is_kernel:
            context.report(messages.KERNEL_NEEDS_FUNCTION, found.location)
        if "inline" in specifiers.storage:
            context.report(messages.INLINE_NEEDS_FUNCTION, specifiers.storage["inline"])
        if "typedef" in specifiers.storage:
            _typedef(context, found, item)
        elif context.at_file_scope:
            static_variables.of_program(context, specifiers, found, item)
        else:
            statements += _local_variable(context, specifiers, found, item)
    return statements


def check_storage_classes(context: Context, specifiers: syntax.Specifiers) -> None:
    """Report ``static`` and ``extern`` where the language does not have them."""
    for name in ("static", "extern"):
        if name in specifiers.storage and not context.language.has_storage_classes:
            context.report(version_messages.STORAGE_CLASS_NEEDS_VERSION, specifiers.storage[name], name=name,
                           version=context.language)


def _foreign(found: list[syntax.Attribute], node: syntax.Declaration, base: Type) -> list[syntax.Attribute]:
    """The attributes in front of a declaration that are no function's."""
    is_function = isinstance(base, FunctionType) or any(
        isinstance(item.declarator, syntax.FunctionDeclarator) for item in node.declarators)
    return [] if is_function else found


def _deduced(context: Context, found: Declared, item: syntax.InitDeclarator) -> Declared:
    """A variable of ``__auto_type`` with its initialiser's type."""
    if item.initializer is None or isinstance(item.initializer, syntax.InitializerList):
        context.report(messages.AUTO_NEEDS_VALUE, found.location, name=found.name)
        return replace(found, type=replace(found.type, type=ERROR))
    return replace(found, type=replace(found.type, type=context.unevaluated(item.initializer)))


def _known_attributes(specifiers: syntax.Specifiers) -> frozenset[str]:
    return attributes.OBJECT | (attributes.RECORD if specifiers.record is not None else frozenset())


# ------------------------------------------------------------------ type definitions


def _typedef(context: Context, found: Declared, item: syntax.InitDeclarator) -> None:
    name = found.name
    if name is None:
        return
    if item.initializer is not None:
        context.report(messages.ILLEGAL_INITIALIZER, found.location)
    type_ = found.type.type
    if isinstance(type_, Array) and type_.count == UNSIZED:
        context.report(messages.UNSIZED_ARRAY, found.location, name=name)
        type_ = ERROR
    alignment = found.type.alignment or found.type.type_alignment
    qualified = replace(found.type, type=records.rename_unnamed(context, type_, name), alignment=None,
                        type_alignment=alignment)
    previous = context.scope.symbols.get(name)
    if previous is not None and not (isinstance(previous, Typedef) and _agree(previous.type, qualified)):
        variables.report_redefinition(context, name, found.location, previous, isinstance(previous, Typedef))
    context.scope.symbols[name] = Typedef(name, qualified, found.location)
    if context.function is not None and not unused.is_silenced(item.attributes):
        context.function.typedefs[name] = found.location


def _agree(left: QualifiedType, right: QualifiedType) -> bool:
    """Whether two definitions of a type name say the same."""
    if ERROR in (left.type, right.type):
        return True
    return left == right


def _local_variable(context: Context, specifiers: syntax.Specifiers, found: Declared,
                    item: syntax.InitDeclarator) -> list[Statement]:
    """A variable in a function (OpenCL C 6.7.2 to 6.7.4)."""
    if found.name is None:
        return []
    if specifiers.storage.keys() & {"static", "extern"}:
        static_variables.of_function(context, specifiers, found, item)
        return []
    space = found.type.address_space or AddressSpace.PRIVATE
    valid = (variables.check_type(context, found, space, item.initializer is not None)
             and _check_space(context, found, space, item.initializer))
    variable = variables.make_variable(found, space)
    if not valid:
        variable.type = ERROR
    if valid and space is AddressSpace.CONSTANT:
        static_variables.define(context, variable, item)
        variables.expect_use(context, variable, specifiers, item)
        return []
    variables.declare_variable(context, variable)
    variables.expect_use(context, variable, specifiers, item)
    if not valid:
        if item.initializer is not None:
            context.value(_first_expression(item.initializer), found.type.type)
        return []
    value = variables.initialize(context, variable, item.initializer)
    if value is not None and variable.const and not variable.volatile and variable.type.is_arithmetic:
        constant = constants.fold(value, context.known)
        if constant is not None:
            context.known[variable] = constant
    elif value is not None and variable.const and isinstance(variable.type, Pointer):
        printf_formats.remember(context, variable, value)
    return [Declare(found.location, variable, value)]


def _first_expression(node: syntax.Expression) -> syntax.Expression:
    """The initialiser, or the first expression in its braces, which is looked at for errors only."""
    while isinstance(node, syntax.InitializerList) and node.items:
        node = node.items[0].value
    return node if not isinstance(node, syntax.InitializerList) else syntax.IntegerLiteral(node.location, 0, "int")


def _check_space(context: Context, found: Declared, space: AddressSpace,
                 initializer: syntax.Expression | None) -> bool:
    """Whether a function's variable may live in this address space; False after a report."""
    assert context.function is not None
    location = found.location
    if space in (AddressSpace.GLOBAL, AddressSpace.GENERIC):
        context.report(messages.FUNCTION_VARIABLE_SPACE, location, space=space)
        return False
    if space in (AddressSpace.LOCAL, AddressSpace.CONSTANT):
        if not context.function.function.is_kernel:
            context.report(messages.LOCAL_OUTSIDE_KERNEL, location, space=space)
            return False
        if not context.in_outermost_block:
            context.report(messages.LOCAL_IN_INNER_SCOPE, location, space=space)
            return False
    if space is AddressSpace.LOCAL and initializer is not None:
        context.report(messages.LOCAL_INITIALIZER, location)
        return False
    return True


# ------------------------------------------------------------------ functions


def _function_declaration(context: Context, specifiers: syntax.Specifiers, found: Declared,
                          item: syntax.InitDeclarator) -> None:
    """A prototype, or the name of a function type; printf's, of the one variadic function, says nothing new."""
    if found.name == builtins.PRINTF and printf.is_prototype(found.function):
        return
    if "typedef" in specifiers.storage:
        if found.function is not None:
            found = replace(found, type=QualifiedType(make_function(context, specifiers, found).type), function=None)
        _typedef(context, found, item)
        return
    if item.initializer is not None:
        context.report(messages.ILLEGAL_INITIALIZER, found.location)
    function = make_function(context, specifiers, found)
    attributes.apply_to_function(context, function, function_attributes(specifiers, item.attributes))
    known = declare_function(context, function)
    if "static" in specifiers.storage and not unused.is_silenced(specifiers.attributes, item.attributes):
        context.static_functions.append(known)


def function_attributes(specifiers: syntax.Specifiers, trailing: list[syntax.Attribute]) -> list[syntax.Attribute]:
    """Those of the function; attributes of its result's type have been applied already."""
    everything = specifiers.attributes + trailing
    return [attribute for attribute in everything if attribute.name not in attributes.TYPE_ATTRIBUTES]


def make_function(context: Context, specifiers: syntax.Specifiers, found: Declared) -> Function:
    """A function without body from its declarator, its parameters checked, or from the name of its type."""
    assert found.name is not None
    if isinstance(found.type.type, FunctionType):
        return _of_type(specifiers, found, found.type.type)
    assert found.function is not None
    if found.function.variadic:
        context.report(messages.VARIADIC, found.function.location)
    result = found.type.type
    if isinstance(result, (Array, FunctionType)):
        context.report(messages.BAD_RESULT, found.location, type=result)
        result = ERROR
    elif not matrices.check_object(context, result, AddressSpace.PRIVATE, found.location, "result"):
        result = ERROR
    parameters = [_parameter(context, node, specifiers.is_kernel) for node in found.function.parameters]
    if found.name == "main":
        context.report(messages.CALLED_MAIN, found.location, what="kernel" if specifiers.is_kernel else "function")
    if specifiers.is_kernel and "static" in specifiers.storage:
        context.report(messages.STATIC_KERNEL, specifiers.storage["static"])
    if specifiers.is_kernel and result not in (VOID, ERROR):
        context.report(messages.KERNEL_RESULT, found.location)
        result = ERROR
    return Function(found.name, result, parameters, found.location, specifiers.is_kernel,
                    inline="inline" in specifiers.storage)


def _of_type(specifiers: syntax.Specifiers, found: Declared, type_: FunctionType) -> Function:
    """A function of a type that has a name (C99 6.9.1p2)."""
    assert found.name is not None
    parameters = [Variable("", parameter, found.location) for parameter in type_.parameters]
    return Function(found.name, type_.result, parameters, found.location, specifiers.is_kernel,
                    inline="inline" in specifiers.storage)


def _parameter(context: Context, node: syntax.Parameter, of_kernel: bool) -> Variable:
    """A parameter; arrays become pointers (C99 6.7.5.3p7)."""
    base = declarators.specified_type(context, node.specifiers)
    found = declarators.declared(context, base, node.declarator)
    qualified = attributes.apply_to_type(context, found.type, node.attributes)
    attributes.report_unknown(context, [*node.specifiers.attributes, *node.attributes], attributes.OBJECT)
    location = found.location if found.name is not None else node.location
    type_ = qualified.type
    if found.function is not None or isinstance(type_, FunctionType):
        context.report(messages.FUNCTION_POINTER, location)
        type_ = ERROR
    if type_ is AUTO:
        context.report(messages.AUTO_ALONE, location)
        type_ = ERROR
    if isinstance(type_, Array):
        space = qualified.address_space or AddressSpace.PRIVATE  # where an array that is declared so lives
        type_ = Pointer(type_.item, space, qualified.const, qualified.volatile, qualified.type_alignment)
        qualified = QualifiedType(type_)
    if type_ is not ERROR and not _check_parameter(context, replace(qualified, type=type_), location, of_kernel):
        type_ = ERROR
    variable = Variable(found.name or "", type_, location, AddressSpace.PRIVATE, qualified.const, qualified.volatile,
                        qualified.restrict, qualified.alignment)
    if unused.is_silenced(node.specifiers.attributes, node.attributes):
        context.silenced.add(variable)
    return variable


def _check_parameter(context: Context, qualified: QualifiedType, location: SourceLocation, of_kernel: bool) -> bool:
    type_ = qualified.type
    if not has_size(type_):
        context.report(messages.INCOMPLETE_PARAMETER, location, type=type_)
        return False
    if qualified.address_space not in (None, AddressSpace.PRIVATE):
        context.report(messages.PARAMETER_ADDRESS_SPACE, location, space=qualified.address_space)
        return False
    if is_half(type_) and not context.has("cl_khr_fp16"):
        context.report(messages.NEEDS_FP16, location, type=type_)
        return False
    what = "kernel parameter" if of_kernel else "parameter"
    if not (matrices.check_object(context, type_, AddressSpace.PRIVATE, location, what)
            and events.check_object(context, type_, AddressSpace.PRIVATE, location, what)):
        return False
    return not of_kernel or _check_kernel_parameter(context, qualified, location)


def _check_kernel_parameter(context: Context, qualified: QualifiedType, location: SourceLocation) -> bool:
    """What the host can pass (OpenCL C 6.11.a, 6.11.k, 6.11.p)."""
    type_ = qualified.type
    pointer = type_
    while isinstance(pointer, Pointer):
        if pointer.address_space in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
            context.report(messages.KERNEL_POINTER_SPACE, location)
            return False
        pointer = pointer.pointee
    if isinstance(type_, Pointer):
        if isinstance(type_.pointee, Pointer) and not context.language.has_pointers_to_pointers_in_kernels:
            context.report(messages.KERNEL_POINTER_TO_POINTER, location)
            return False
        return True
    if qualified.of_device is not None:
        context.report(messages.KERNEL_DEVICE_SIZE, location, name=qualified.of_device)
        return False
    member = member_of_device(type_)
    if member is not None:
        context.report(messages.KERNEL_DEVICE_MEMBER, location, type=type_, name=member.name)
        return False
    unsuitable = find_kind(type_, is_bool_or_pointer)
    if unsuitable is not None:
        message = messages.KERNEL_PARAMETER_TYPE if unsuitable == type_ else messages.KERNEL_PARAMETER_MEMBER
        context.report(message, location, type=type_, inner=unsuitable)
        return False
    return True


def declare_function(context: Context, function: Function) -> Function:
    """Enter a function into the innermost scope, or find the one declared before; mismatches are reported."""
    visible = context.scope.symbols.setdefault(function.name, FunctionSet(function.name, []))
    if not isinstance(visible, FunctionSet):
        variables.report_redefinition(context, function.name, function.location, visible)  # type differs in kind
        return function
    known = context.functions.setdefault(function.name, [])
    previous = overloads.redeclared(function, known)
    valid = overloads.check_redeclaration(context, function, previous, known)
    declared = previous or function
    if valid and previous is None:
        known.append(function)
    if declared not in visible.members:
        visible.members.append(declared)
    if not valid or previous is None:
        return function
    previous.is_kernel = previous.is_kernel or function.is_kernel
    previous.inline = previous.inline or function.inline
    for name in ("required_work_group_size", "work_group_size_hint", "required_sub_group_size"):
        if getattr(previous, name) is None:
            setattr(previous, name, getattr(function, name))
    return previous
