"""The arguments of a helper's call, by its parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from coopmat.runtime.element_types import ElementType
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.context import CallSite, Compiler
from coopmat.sycl.compiler.function import FunctionCompiler
from coopmat.sycl.compiler.numbers import expression, type_of
from coopmat.sycl.compiler.parameters import check_kinds
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.compiler.values import Erroneous, Local, Runtime, Value
from coopmat.sycl.pointers import PointerType
from coopmat.sycl.vectors import VectorType
from coopmat.tree import types as t


def bind(given: CallSite, local: Local) -> dict[str, Value]:
    """The arguments of a helper by its parameters' names, converted to the annotated types."""
    f = FunctionCompiler(given.f.unit, local.source, local.node, local.module, {})
    check_kinds(f)
    parameters = arguments_of(local.node)
    names = [parameter.arg for parameter in parameters]
    by_position = len(names) - len(local.node.args.kwonlyargs)
    bound: dict[str, Value] = {**local.defaults, **dict(zip(names[:by_position], given.arguments, strict=False)),
                               **given.named}
    problem = _problem(given, local, names, by_position, bound)
    if problem is not None:
        raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=local.name, signature=f"({', '.join(names)})",
                           reason=problem)
    for parameter in parameters:
        if parameter.annotation is not None:
            bound[parameter.arg] = _annotated(given, f, parameter, bound[parameter.arg])
    return {name: bound[name] for name in names}


def _problem(given: CallSite, local: Local, names: list[str], by_position: int,
             bound: Mapping[str, Value]) -> str | None:
    """What is wrong with the arguments of a call, if anything is."""
    taken = names[:min(len(given.arguments), by_position)]
    only_by_position = [parameter.arg for parameter in local.node.args.posonlyargs]
    for name in given.named:
        if name not in names:
            return f"argument '{name}' does not exist"
        if name in taken:
            return f"argument '{name}' is given twice"
        if name in only_by_position:
            return f"argument '{name}' must be given by position"
    missing = [name for name in names if name not in bound]
    if missing:
        return f"argument '{missing[0]}' is missing"
    if len(given.arguments) > by_position:
        others = f" and {len(names) - by_position} by name" if len(names) > by_position else ""
        return f"it takes {by_position} arguments{others}, found {len(given.arguments)}"
    return None


def local_name(f: Compiler) -> str:
    """What messages call a helper."""
    return f.node.name if isinstance(f.node, ast.FunctionDef) else "lambda"


def _annotated(given: CallSite, f: Compiler, parameter: ast.arg, value: Value) -> Value:
    """An argument as the parameter's annotation has it: numbers are converted, pointers checked."""
    assert parameter.annotation is not None
    type_ = type_of_annotation(f, parameter.annotation)
    if isinstance(type_, ElementType) and not isinstance(value, Erroneous):
        return Runtime(expression(given.f, value, given.node, type_.storage.scalar))
    if isinstance(type_, VectorType):
        if type_of(given.f, value, given.node) != type_.type:
            raise given.f.fail(messages.ARGUMENT_TYPE, given.node, name=local_name(f), parameter=parameter.arg,
                               expected=f"a {type_}", found=value)
        return value
    if isinstance(type_, PointerType):
        found = type_of(given.f, value, given.node)
        if not isinstance(found, t.Pointer):
            raise given.f.fail(messages.ARGUMENT_TYPE, given.node, name=local_name(f), parameter=parameter.arg,
                               expected=f"a {type_}", found=value)
        return Runtime(expression(given.f, value, given.node, type_.tree), type_.hints)
    return value
