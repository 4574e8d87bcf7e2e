"""Variables that live as long as the program: at program scope, ``static``, and constants in kernels.

They lie in constant or global memory (OpenCL C 6.7.1), the latter being an optional feature. Several
declarations of one variable are possible, one of which defines it (C99 6.9.2).
"""

from __future__ import annotations

from coopmat.diagnostics import Message
from coopmat.opencl.base.symbols import Declared
from coopmat.opencl.base.types import UNSIZED
from coopmat.opencl.base.values import ERROR, is_error
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.messages import versions as version_messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import initializers, variables
from coopmat.opencl.sema.checks import unused
from coopmat.opencl.sema.context import Context
from coopmat.tree import constants
from coopmat.tree.nodes import Variable, Zero
from coopmat.tree.types import AddressSpace, Array

FEATURE = "__opencl_c_program_scope_global_variables"


def of_program(context: Context, specifiers: syntax.Specifiers, found: Declared, item: syntax.InitDeclarator) -> None:
    """A variable outside of functions; without an address space it is in global memory."""
    if found.name is None:
        return
    space = found.type.address_space or (AddressSpace.GLOBAL if context.has(FEATURE) else None)
    variable = _declared(context, specifiers, found, item, space, messages.PROGRAM_SCOPE_VARIABLE)
    is_silenced = unused.is_silenced(specifiers.attributes, item.attributes)
    if "static" in specifiers.storage and variable is not None and not variable.const and not is_silenced:
        context.static_variables.append(variable)


def of_function(context: Context, specifiers: syntax.Specifiers, found: Declared, item: syntax.InitDeclarator) -> None:
    """A ``static`` or ``extern`` variable in a function; only its name is local."""
    if "static" in specifiers.storage and not context.language.has_program_scope_variables:
        context.report(version_messages.STATIC_VARIABLE, found.location, version=context.language)
    space = found.type.address_space or (AddressSpace.GLOBAL if context.has(FEATURE) else None)
    variable = _declared(context, specifiers, found, item, space, messages.STATIC_LOCAL)
    if "static" in specifiers.storage and variable is not None:
        variables.expect_use(context, variable, specifiers, item)


def _declared(context: Context, specifiers: syntax.Specifiers, found: Declared, item: syntax.InitDeclarator,
              space: AddressSpace | None, misplaced: Message) -> Variable | None:
    """A variable in constant or global memory; None after ``misplaced`` has reported any other."""
    is_extern = "extern" in specifiers.storage and item.initializer is None
    memory = space or AddressSpace.CONSTANT
    valid = variables.check_type(context, found, memory, item.initializer is not None or is_extern)
    if valid and space not in _possible_spaces(context):
        advice = "__constant" if not context.has(FEATURE) else "__global or __constant"
        context.report(misplaced, found.location, name=found.name, advice=advice)
        valid = False
    variable = variables.make_variable(found, memory)
    if not valid:
        variable.type = ERROR
        variables.declare_variable(context, variable)
        return None
    if is_extern:
        _announce(context, variable)
    else:
        define(context, variable, item)
    return variable


def _possible_spaces(context: Context) -> tuple[AddressSpace, ...]:
    return (AddressSpace.CONSTANT, AddressSpace.GLOBAL) if context.has(FEATURE) else (AddressSpace.CONSTANT,)


def _announce(context: Context, variable: Variable) -> None:
    """``extern`` without a value: the variable is defined elsewhere in the file."""
    previous = _earlier(context, variable)
    if previous is not None:
        context.scope.symbols[variable.name] = previous
    elif variables.declare_variable(context, variable):
        context.file_scope.symbols.setdefault(variable.name, variable)
        context.undefined[variable] = None


def _earlier(context: Context, variable: Variable) -> Variable | None:
    """The variable of the file that another declaration declares once more."""
    visible = context.scope.symbols.get(variable.name)
    previous = context.file_scope.symbols.get(variable.name)
    if not isinstance(previous, Variable) or visible not in (None, previous):
        return None
    return previous if previous.address_space is variable.address_space and _same(previous, variable) else None


def _same(left: Variable, right: Variable) -> bool:
    """Whether two declarations have one type; an array may lack its size in one of them."""
    first, second = left.type, right.type
    if isinstance(first, Array) and isinstance(second, Array) and UNSIZED in (first.count, second.count):
        return first.item == second.item
    return first == second


def define(context: Context, variable: Variable, item: syntax.InitDeclarator) -> None:
    """A definition; at file scope it may be of a variable that was declared before."""
    previous = _earlier(context, variable) if context.at_file_scope else None
    if previous is None or (item.initializer is not None and previous.initializer is not None
                            and previous not in context.tentative):
        is_new = variables.declare_variable(context, variable)
    else:
        if isinstance(previous.type, Array) and previous.type.count == UNSIZED:
            previous.type = variable.type
        variable, is_new = previous, True
    if item.initializer is None:
        _define_as_zero(context, variable)
    else:
        value = variables.initialize(context, variable, item.initializer)
        if value is None or is_error(value):
            return
        variable.initializer = constants.fold(value, context.known)
        if variable.initializer is None:
            context.report(messages.NOT_CONSTANT_INITIALIZER, value.location or variable.location)
            return
        context.tentative.discard(variable)
        if not variable.volatile and (variable.const or variable.address_space is AddressSpace.CONSTANT):
            context.known[variable] = variable.initializer
        literal = initializers.sole_string(item.initializer)
        if literal is not None and variable.address_space is AddressSpace.CONSTANT:
            context.literals[variable] = literal
    context.undefined.pop(variable, None)
    if is_new and variable not in context.program.globals:
        context.program.globals.append(variable)


def _define_as_zero(context: Context, variable: Variable) -> None:
    """Without a value a global variable is zero, unless another declaration gives one (C99 6.9.2p2)."""
    if variable.address_space is AddressSpace.CONSTANT:
        if variable.initializer is None:
            context.report(messages.CONSTANT_NEEDS_VALUE, variable.location, name=variable.name)
            variable.initializer = Zero(variable.type, variable.location)
    elif variable.initializer is None:
        variable.initializer = Zero(variable.type, variable.location)
        context.tentative.add(variable)


def check_definitions(context: Context) -> None:
    """Report variables that are used and defined nowhere, and static ones that are not used."""
    for variable, use in context.undefined.items():
        if use is not None and variable.type is not ERROR:
            context.report(messages.UNDEFINED_VARIABLE, use, context.previous(variable.location), name=variable.name)
    unused.static_variables(context, context.static_variables)
