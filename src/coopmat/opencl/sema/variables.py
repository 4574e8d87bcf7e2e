"""Variables as they are declared, wherever they live: their types, names and initialisers."""

from __future__ import annotations

from coopmat.diagnostics import SourceLocation, note
from coopmat.opencl.base.symbols import Declared
from coopmat.opencl.base.types import UNSIZED, has_size, is_half
from coopmat.opencl.base.values import ERROR
from coopmat.opencl.builtins import matrices
from coopmat.opencl.messages import semantic as messages
from coopmat.opencl.parse import syntax
from coopmat.opencl.sema import events, initializers
from coopmat.opencl.sema.checks import unused
from coopmat.opencl.sema.context import Context
from coopmat.tree.nodes import Expression, Variable
from coopmat.tree.types import AddressSpace, Array


def report_redefinition(context: Context, name: str, location: SourceLocation | None, previous: object,
                        is_typedef: bool = False) -> None:
    """Report a name that means something else in this scope already."""
    message = messages.TYPEDEF_REDEFINITION if is_typedef else messages.REDEFINITION
    place = getattr(previous, "location", None)
    notes = (note("previous definition is here", place),) if place is not None else ()
    context.report(message, location, notes, name=name)


# ------------------------------------------------------------------ variables


def declare_variable(context: Context, variable: Variable) -> bool:
    """Enter a variable into the innermost scope; False after a report."""
    previous = context.scope.symbols.get(variable.name)
    if previous is None and context.at_file_scope:
        previous = context.predefined.symbols.get(variable.name)
    types = (variable.type, previous.type) if isinstance(previous, Variable) else ()
    if isinstance(previous, Variable) and variable.type != previous.type and ERROR not in types:
        context.report(messages.REDEFINITION_TYPE, variable.location,
                       (note("previous definition is here", previous.location),), name=variable.name,
                       type=variable.type, previous=previous.type)
    elif previous is not None:
        report_redefinition(context, variable.name, variable.location, previous)
        if variable.type is ERROR:
            return False
    context.scope.symbols[variable.name] = variable
    return previous is None


def make_variable(found: Declared, space: AddressSpace) -> Variable:
    """The variable that a declarator declares."""
    assert found.name is not None
    qualified = found.type
    return Variable(found.name, qualified.type, found.location, space, qualified.const, qualified.volatile,
                    qualified.restrict, qualified.alignment or qualified.type_alignment)


def check_type(context: Context, found: Declared, space: AddressSpace, has_initializer: bool) -> bool:
    """Whether a variable of this type can exist; False after a report."""
    type_ = found.type.type
    if type_ is ERROR:
        return False
    if isinstance(type_, Array) and type_.count == UNSIZED:
        if not has_initializer:
            context.report(messages.UNSIZED_ARRAY, found.location, name=found.name)
        return has_initializer
    if not has_size(type_):
        context.report(messages.INCOMPLETE_VARIABLE, found.location, type=type_)
        return False
    if is_half(type_) and not context.has("cl_khr_fp16"):
        context.report(messages.NEEDS_FP16, found.location, type=type_)
        return False
    return (matrices.check_object(context, type_, space, found.location, "variable")
            and events.check_object(context, type_, space, found.location, "variable"))


def initialize(context: Context, variable: Variable, node: syntax.Expression | None) -> Expression | None:
    """The converted initialiser; the variable's type gets its size from it."""
    if node is None:
        return None
    type_, value = initializers.initialize(context, variable.type, node, variable.location)
    variable.type = type_
    if isinstance(type_, Array) and type_.count == UNSIZED:
        variable.type = ERROR
    return value


def expect_use(context: Context, variable: Variable, specifiers: syntax.Specifiers,
                item: syntax.InitDeclarator) -> None:
    """A local variable is to be used, and not to be mistaken for another one."""
    assert context.function is not None
    unused.shadow(context, variable)
    if not unused.is_silenced(specifiers.attributes, item.attributes):
        context.function.variables.append(variable)
