"""Declarations of types, variables and functions (C99 6.7, 6.9; OpenCL C 6.7 to 6.9)."""

from __future__ import annotations

from dataclasses import replace

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl import builtins, syntax
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import versions as version_messages
from coopmat.opencl.sema import (
    attributes,
    constants,
    declarators,
    events,
    expressions,
    formats,
    initializers,
    matrix,
    overloads,
    printf,
    records,
)
from coopmat.opencl.sema.checks import unused
from coopmat.opencl.sema.context import Context, FunctionSet, QualifiedType, Typedef
from coopmat.opencl.sema.declarators import Declared
from coopmat.opencl.sema.values import ERROR, is_error
from coopmat.tree.nodes import Declare, Expression, Function, Statement, Variable
from coopmat.tree.types import VOID, AddressSpace, Array, FunctionType, Pointer, Type

VARIABLE_ATTRIBUTES: frozenset[str] = attributes.TYPE_ATTRIBUTES | attributes.OBJECT_ATTRIBUTES


def declaration(context: Context, node: syntax.Declaration) -> list[Statement]:
    """A declaration; at block scope the statements that bring its variables to life."""
    specifiers = node.specifiers
    check_storage_classes(context, specifiers)
    base = declarators.specified_type(context, specifiers, declares_tag=not node.declarators)
    attributes.report_unknown(context, _foreign(specifiers.attributes, node), _known_attributes(specifiers))
    if not node.declarators and specifiers.record is None and specifiers.enumeration is None:
        context.report(messages.DECLARES_NOTHING, node.location)
    statements: list[Statement] = []
    for item in node.declarators:
        found = declarators.declared(context, base, item.declarator)
        if found.function is not None and found.type.type is not ERROR:
            _function_declaration(context, specifiers, found, item)
            continue
        found = replace(found, function=None,
                        type=attributes.apply_to_type(context, found.type, item.attributes))
        attributes.report_unknown(context, item.attributes, VARIABLE_ATTRIBUTES)
        if specifiers.is_kernel:
            context.report(messages.KERNEL_NEEDS_FUNCTION, found.location)
        if "inline" in specifiers.storage:
            context.report(messages.INLINE_NEEDS_FUNCTION, specifiers.storage["inline"])
        if "typedef" in specifiers.storage:
            _typedef(context, found, item)
        elif context.at_file_scope:
            _program_variable(context, specifiers, found, item)
        else:
            statements += _local_variable(context, specifiers, found, item)
    return statements


def check_storage_classes(context: Context, specifiers: syntax.Specifiers) -> None:
    """Report ``static`` and ``extern`` where the language does not have them."""
    for name in ("static", "extern"):
        if name in specifiers.storage and not context.language.has_storage_classes:
            context.report(version_messages.STORAGE_CLASS_NEEDS_VERSION, specifiers.storage[name], name=name,
                           version=context.language)


def _foreign(found: list[syntax.Attribute], node: syntax.Declaration) -> list[syntax.Attribute]:
    """The attributes in front of a declaration that are no function's."""
    is_function = any(isinstance(item.declarator, syntax.FunctionDeclarator) for item in node.declarators)
    return [] if is_function else found


def _known_attributes(specifiers: syntax.Specifiers) -> frozenset[str]:
    return VARIABLE_ATTRIBUTES | (attributes.RECORD_ATTRIBUTES if specifiers.record is not None else frozenset())


# ------------------------------------------------------------------ type definitions


def _typedef(context: Context, found: Declared, item: syntax.InitDeclarator) -> None:
    name = found.name
    if name is None:
        return
    if item.initializer is not None:
        context.report(messages.ILLEGAL_INITIALIZER, found.location)
    type_ = found.type.type
    if isinstance(type_, Array) and type_.count == declarators.UNSIZED:
        context.report(messages.UNSIZED_ARRAY, found.location, name=name)
        type_ = ERROR
    qualified = replace(found.type, type=records.rename_unnamed(type_, name))
    previous = context.scope.symbols.get(name)
    if previous is not None and not (isinstance(previous, Typedef) and _agree(previous.type, qualified)):
        _report_redefinition(context, name, found.location, previous, isinstance(previous, Typedef))
    context.scope.symbols[name] = Typedef(name, qualified, found.location)
    if context.function is not None and not unused.is_silenced(item.attributes):
        context.function.typedefs[name] = found.location


def _agree(left: QualifiedType, right: QualifiedType) -> bool:
    """Whether two definitions of a type name say the same."""
    if ERROR in (left.type, right.type):
        return True
    return left == right


def _report_redefinition(context: Context, name: str, location: SourceLocation | None, previous: object,
                         is_typedef: bool = False) -> None:
    message = messages.TYPEDEF_REDEFINITION if is_typedef else messages.REDEFINITION
    place = getattr(previous, "location", None)
    notes = (note("previous definition is here", place),) if place is not None else ()
    context.report(message, location, notes, name=name)


# ------------------------------------------------------------------ variables


def _declare_variable(context: Context, variable: Variable) -> bool:
    """Enter a variable into the innermost scope; False after a report."""
    previous = context.scope.symbols.get(variable.name)
    types = (variable.type, previous.type) if isinstance(previous, Variable) else ()
    if isinstance(previous, Variable) and variable.type != previous.type and ERROR not in types:
        context.report(messages.REDEFINITION_TYPE, variable.location,
                       (note("previous definition is here", previous.location),), name=variable.name,
                       type=variable.type, previous=previous.type)
    elif previous is not None:
        _report_redefinition(context, variable.name, variable.location, previous)
        if variable.type is ERROR:
            return False
    context.scope.symbols[variable.name] = variable
    return previous is None


def _make_variable(found: Declared, space: AddressSpace) -> Variable:
    assert found.name is not None
    qualified = found.type
    return Variable(found.name, qualified.type, found.location, space, qualified.const, qualified.volatile,
                    qualified.restrict, qualified.alignment)


def _check_type(context: Context, found: Declared, space: AddressSpace, has_initializer: bool) -> bool:
    """Whether a variable of this type can exist; False after a report."""
    type_ = found.type.type
    if type_ is ERROR:
        return False
    if isinstance(type_, Array) and type_.count == declarators.UNSIZED:
        if not has_initializer:
            context.report(messages.UNSIZED_ARRAY, found.location, name=found.name)
        return has_initializer
    if not declarators.has_size(type_):
        context.report(messages.INCOMPLETE_VARIABLE, found.location, type=type_)
        return False
    if declarators.is_half(type_) and not context.has("cl_khr_fp16"):
        context.report(messages.NEEDS_FP16, found.location, type=type_)
        return False
    return (matrix.check_object(context, type_, space, found.location, "variable")
            and events.check_object(context, type_, space, found.location, "variable"))


def _initialize(context: Context, variable: Variable, node: syntax.Expression | None) -> Expression | None:
    """The converted initialiser; the variable's type gets its size from it."""
    if node is None:
        return None
    type_, value = initializers.initialize(context, variable.type, node, variable.location)
    variable.type = type_
    if isinstance(type_, Array) and type_.count == declarators.UNSIZED:
        variable.type = ERROR
    return value


def _program_variable(context: Context, specifiers: syntax.Specifiers, found: Declared,
                      item: syntax.InitDeclarator) -> None:
    """A variable outside of functions: a constant with its value (OpenCL C 6.7.1)."""
    if found.name is None:
        return
    space = found.type.address_space
    valid = _check_type(context, found, AddressSpace.CONSTANT, item.initializer is not None)
    if valid and space is not AddressSpace.CONSTANT:
        context.report(messages.PROGRAM_SCOPE_VARIABLE, found.location, name=found.name)
        valid = False
    variable = _make_variable(found, AddressSpace.CONSTANT)
    if not valid:
        variable.type = ERROR
        _declare_variable(context, variable)
        return
    _constant_variable(context, variable, item, "extern" in specifiers.storage)


def _constant_variable(context: Context, variable: Variable, item: syntax.InitDeclarator, is_extern: bool) -> None:
    """A variable in constant memory, which the program owns wherever it is declared."""
    is_new = _declare_variable(context, variable)
    if item.initializer is None:
        message = messages.EXTERN_VARIABLE if is_extern else messages.CONSTANT_NEEDS_VALUE
        context.report(message, variable.location, name=variable.name)
        return
    value = _initialize(context, variable, item.initializer)
    if value is None or is_error(value):
        return
    variable.initializer = constants.fold(value, context.known)
    if variable.initializer is None:
        message = messages.CONSTANT_POINTER if isinstance(value.type, Pointer) else messages.NOT_CONSTANT_INITIALIZER
        context.report(message, value.location or variable.location)
    elif is_new:
        context.known[variable] = variable.initializer
        context.program.globals.append(variable)
        literal = initializers.sole_string(item.initializer)
        if literal is not None:
            context.literals[variable] = literal


def _local_variable(context: Context, specifiers: syntax.Specifiers, found: Declared,
                    item: syntax.InitDeclarator) -> list[Statement]:
    """A variable in a function (OpenCL C 6.7.2 to 6.7.4)."""
    if found.name is None:
        return []
    space = found.type.address_space or AddressSpace.PRIVATE
    valid = (_check_type(context, found, space, item.initializer is not None)
             and _check_space(context, specifiers, found, space, item.initializer))
    variable = _make_variable(found, space)
    if not valid:
        variable.type = ERROR
    if valid and space is AddressSpace.CONSTANT:
        _constant_variable(context, variable, item, False)
        _expect_use(context, variable, specifiers, item)
        return []
    _declare_variable(context, variable)
    _expect_use(context, variable, specifiers, item)
    if not valid:
        if item.initializer is not None:
            expressions.value(context, _first_expression(item.initializer), found.type.type)
        return []
    value = _initialize(context, variable, item.initializer)
    if value is not None and variable.const and not variable.volatile and variable.type.is_arithmetic:
        constant = constants.fold(value, context.known)
        if constant is not None:
            context.known[variable] = constant
    elif value is not None and variable.const and isinstance(variable.type, Pointer):
        formats.remember(context, variable, value)
    return [Declare(found.location, variable, value)]


def _expect_use(context: Context, variable: Variable, specifiers: syntax.Specifiers,
                item: syntax.InitDeclarator) -> None:
    """A local variable is to be used, and not to be mistaken for another one."""
    assert context.function is not None
    unused.shadow(context, variable)
    if not unused.is_silenced(specifiers.attributes, item.attributes):
        context.function.variables.append(variable)


def _first_expression(node: syntax.Expression) -> syntax.Expression:
    """The initialiser, or the first expression in its braces, which is looked at for errors only."""
    while isinstance(node, syntax.InitializerList) and node.items:
        node = node.items[0].value
    return node if not isinstance(node, syntax.InitializerList) else syntax.IntegerLiteral(node.location, 0, "int")


def _check_space(context: Context, specifiers: syntax.Specifiers, found: Declared, space: AddressSpace,
                 initializer: syntax.Expression | None) -> bool:
    """Whether a function's variable may live in this address space; False after a report."""
    assert context.function is not None
    location = found.location
    if "extern" in specifiers.storage:
        context.report(messages.EXTERN_VARIABLE, location, name=found.name)
        return False
    if "static" in specifiers.storage and not context.language.has_program_scope_variables:
        context.report(version_messages.STATIC_VARIABLE, location, version=context.language)
        return False
    if "static" in specifiers.storage and space is not AddressSpace.CONSTANT:
        context.report(messages.STATIC_LOCAL, location, name=found.name)
        return False
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
    """A prototype; that of printf, the one variadic function, says nothing new."""
    if found.name == builtins.PRINTF and printf.is_prototype(found.function):
        return
    if "typedef" in specifiers.storage:
        context.report(messages.FUNCTION_TYPEDEF, found.location)
        if found.name is not None:
            context.scope.symbols[found.name] = Typedef(found.name, QualifiedType(ERROR), found.location)
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
    """A function without body from its declarator, its parameters checked."""
    assert found.function is not None
    assert found.name is not None
    if found.function.variadic:
        context.report(messages.VARIADIC, found.function.location)
    result = found.type.type
    if isinstance(result, (Array, FunctionType)):
        context.report(messages.BAD_RESULT, found.location, type=result)
        result = ERROR
    elif not matrix.check_object(context, result, AddressSpace.PRIVATE, found.location, "result"):
        result = ERROR
    parameters = [_parameter(context, node, specifiers.is_kernel) for node in found.function.parameters]
    if specifiers.is_kernel and result not in (VOID, ERROR):
        context.report(messages.KERNEL_RESULT, found.location)
        result = ERROR
    return Function(found.name, result, parameters, found.location, specifiers.is_kernel,
                    inline="inline" in specifiers.storage)


def _parameter(context: Context, node: syntax.Parameter, of_kernel: bool) -> Variable:
    """A parameter; arrays become pointers (C99 6.7.5.3p7)."""
    base = declarators.specified_type(context, node.specifiers)
    found = declarators.declared(context, base, node.declarator)
    qualified = attributes.apply_to_type(context, found.type, node.attributes)
    attributes.report_unknown(context, [*node.specifiers.attributes, *node.attributes], VARIABLE_ATTRIBUTES)
    location = found.location if found.name is not None else node.location
    type_ = qualified.type
    if found.function is not None:
        context.report(messages.FUNCTION_POINTER, location)
        type_ = ERROR
    if isinstance(type_, Array):
        space = qualified.address_space or AddressSpace.PRIVATE  # where an array that is declared so lives
        type_ = Pointer(type_.item, space, qualified.const, qualified.volatile)
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
    if not declarators.has_size(type_):
        context.report(messages.INCOMPLETE_PARAMETER, location, type=type_)
        return False
    if qualified.address_space not in (None, AddressSpace.PRIVATE):
        context.report(messages.PARAMETER_ADDRESS_SPACE, location, space=qualified.address_space)
        return False
    if declarators.is_half(type_) and not context.has("cl_khr_fp16"):
        context.report(messages.NEEDS_FP16, location, type=type_)
        return False
    what = "kernel parameter" if of_kernel else "parameter"
    if not (matrix.check_object(context, type_, AddressSpace.PRIVATE, location, what)
            and events.check_object(context, type_, AddressSpace.PRIVATE, location, what)):
        return False
    return not of_kernel or _check_kernel_parameter(context, type_, location)


def _check_kernel_parameter(context: Context, type_: Type, location: SourceLocation) -> bool:
    """What the host can pass (OpenCL C 6.11.a, 6.11.p)."""
    if isinstance(type_, Pointer):
        if type_.address_space in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
            context.report(messages.KERNEL_POINTER_SPACE, location)
            return False
        if isinstance(type_.pointee, Pointer):
            context.report(messages.KERNEL_POINTER_TO_POINTER, location)
            return False
        return True
    unsuitable = records.find_kind(type_, records.is_bool_or_pointer)
    if unsuitable is not None:
        message = messages.KERNEL_PARAMETER_TYPE if unsuitable == type_ else messages.KERNEL_PARAMETER_MEMBER
        context.report(message, location, type=type_, inner=unsuitable)
        return False
    return True


def declare_function(context: Context, function: Function) -> Function:
    """Enter a function into the innermost scope, or find the one declared before; mismatches are reported."""
    visible = context.scope.symbols.setdefault(function.name, FunctionSet(function.name, []))
    if not isinstance(visible, FunctionSet):
        _report_redefinition(context, function.name, function.location, visible)  # type differs in kind
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
