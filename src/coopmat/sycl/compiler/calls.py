"""Calls: of device functions, of helpers and local functions, of types, and of host objects that are constants."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coopmat.runtime.element_types import ElementType, element_type
from coopmat.runtime.python_kernels import PythonKernel
from coopmat.sycl.compiler import messages, vectors
from coopmat.sycl.compiler.aggregates import defaults_of_fields, initializer_of, is_structure, made
from coopmat.sycl.compiler.context import CallSite, Compiler
from coopmat.sycl.compiler.numbers import cast, constant_integer
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import (
    Group,
    Local,
    Method,
    NewMatrix,
    Runtime,
    Static,
    Value,
)
from coopmat.sycl.compiler.values import Sequence as ValueSequence
from coopmat.sycl.device_functions import DeviceFunction, Instance
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.sycl.ranges import GroupType, sub_group
from coopmat.sycl.vectors import VectorType

LANGUAGE = ("coopmat.sycl.", "coopmat.runtime.element_types", "coopmat.runtime.information", "coopmat.runtime.ranges",
            "coopmat.diagnostics.error_codes")
"""Where the names of :mod:`coopmat.sycl` are defined."""
PURE: frozenset[Any] = frozenset((np.finfo, np.iinfo, ord, chr, hex, oct, bin))
"""Functions of the host that may be called with what is known, besides the methods of strings."""


def call(f: Compiler, node: ast.Call) -> Value:
    """The value of a call."""
    callee = f.read(node.func)
    arguments, named = _arguments(f, node)
    return call_value(f, callee, node, arguments, named)


def _arguments(f: Compiler, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    arguments: list[Value] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = f.read(argument.value)
            if not isinstance(value, ValueSequence):
                raise f.fail(messages.NOT_ITERABLE, argument, found=value)
            arguments += [f.loaded(item, argument) for item in value.items]
        else:
            arguments.append(f.read(argument))
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise f.fail(messages.UNSUPPORTED_EXPRESSION, keyword.value, what="'**' before an argument",
                         advice="write the arguments one by one")
        named[keyword.arg] = f.read(keyword.value)
    return arguments, named


def call_value(f: Compiler, callee: Value, node: ast.Call, arguments: Sequence[Value],
               named: Mapping[str, Value] | None = None) -> Value:
    """The value of a call of something that is known."""
    given = CallSite(f, "", node, list(arguments), dict(named or {}))
    if isinstance(callee, Method):
        handler = f.unit.handlers.methods.get(type(callee.receiver))
        if handler is None:
            raise f.fail(messages.NO_ATTRIBUTE, node.func, found=callee.receiver, name=callee.name, hint="")
        return handler(replace(given, name=callee.name, receiver=callee.receiver, template=callee.template))
    if isinstance(callee, Local):
        return f.unit.helpers.call(given, callee)
    if isinstance(callee, Runtime) and isinstance(node.func, ast.Attribute) and not arguments and not named:
        return callee  # v.x(), as C++ has it
    if not isinstance(callee, Static):
        raise f.fail(messages.NOT_CALLABLE, node.func, found=callee, hint="")
    return _call_static(given, callee.value)


def _call_static(given: CallSite, callee: Any) -> Value:
    if isinstance(callee, Instance):
        return _call_device(replace(given, template=callee.arguments), callee.function)
    if isinstance(callee, DeviceFunction):
        return _call_device(given, callee)
    python = given.f.unit.handlers.python_functions.get(callee) if callable(callee) and _is_hashable(callee) else None
    if python is not None:
        return python(replace(given, name=getattr(callee, "__name__", str(callee))))
    if isinstance(callee, VectorType):
        _no_names(given, str(callee))
        return vectors.made(given.f, callee, given.arguments, given.node)
    if isinstance(callee, JointMatrixType):
        _no_arguments(given, str(callee))
        return NewMatrix(callee)
    if is_structure(callee) and not str(callee.__module__).startswith(LANGUAGE):
        return _object(given, callee)
    local = given.f.unit.helpers.of_callable(given.f, callee, given.node)
    if local is not None:
        return given.f.unit.helpers.call(given, local)
    target = element_type(callee)
    if target is not None:
        return _conversion(given, target)
    return _call_host(given, callee)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except Exception:  # what a class of the user raises
        return False
    return True


def _call_device(given: CallSite, function: DeviceFunction) -> Value:
    handler = given.f.unit.handlers.device_functions[function.name]
    return handler(replace(given, name=function.name))


def _no_arguments(given: CallSite, name: str) -> None:
    if given.arguments or given.named:
        raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=name, signature="()",
                           reason="it takes no arguments")


def _object(given: CallSite, owner: Any) -> Value:
    """``Point(1, 2)``: an object of a dataclass or of a class of named tuples."""
    f = given.f
    reason = initializer_of(owner)
    if reason is not None:
        raise f.fail(messages.NOT_CALLABLE, given.node.func, found=_described(owner), hint=f"; {reason}")
    given = replace(given, name=owner.__name__)
    bound = given.bind(inspect.signature(owner))
    for name, default in defaults_of_fields(owner).items():
        if name not in bound:
            with f.host_errors_at(given.node):
                bound[name] = static_value(f, default(), given.node, name)
    return made(f, owner, bound, given.node)


def _no_names(given: CallSite, name: str) -> None:
    if given.named:
        raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=name, signature="(…)",
                           reason=f"it takes no argument called '{next(iter(given.named))}'")


def _conversion(given: CallSite, target: ElementType) -> Value:
    """``float32(x)``; ``int(x)`` and ``float(x)`` are int32 and float32, as in C++."""
    if len(given.arguments) != 1 or given.named:
        raise given.f.fail(messages.BAD_ARGUMENTS, given.node, name=str(target), signature="(x)",
                           reason=f"it takes one number, found {len(given.arguments) + len(given.named)}")
    return cast(given.f, given.arguments[0], target, given.node)


def _call_host(given: CallSite, callee: Any) -> Value:
    """A call whose arguments are known, of an object of this package (matrix_params, properties, …), or of a method of
    a string."""
    f = given.f
    module = getattr(callee, "__module__", None) or getattr(type(callee), "__module__", None) or ""
    is_pure = isinstance(getattr(callee, "__self__", None), str) or (_is_hashable(callee) and callee in PURE)
    if not callable(callee) or not (is_pure or str(module).startswith(LANGUAGE)):
        raise f.fail(messages.NOT_CALLABLE, given.node.func, found=_described(callee), hint=_instead_of(callee))
    values = [_known(f, value, given.place(index)) for index, value in enumerate(given.arguments)]
    named = {name: _known(f, value, given.place_of(name)) for name, value in given.named.items()}
    with f.host_errors_at(given.node):
        result = callee(*values, **named)
    return NewMatrix(result) if isinstance(result, JointMatrixType) else static_value(f, result, given.node)


def _instead_of(callee: Any) -> str:
    """What to do about an object that a kernel cannot call."""
    if isinstance(callee, PythonKernel):
        return "; what several kernels do belongs into a function without @kernel"
    if isinstance(callee, type):
        return "; pass numbers to the kernel instead of making objects in it"
    if callable(callee):
        return "; it is no Python function with source, and none of those that docs/joint-matrix.md lists"
    return ""


def _described(callee: Any) -> str:
    return f"'{getattr(callee, '__qualname__', None) or callee}'"


def _known(f: Compiler, value: Value, node: ast.AST) -> Any:
    """The Python object that a value is."""
    if isinstance(value, Static):
        return value.value
    if isinstance(value, ValueSequence):
        return tuple(_known(f, item, node) for item in value.items)
    if isinstance(value, Group):
        return GroupType(value.dimensions) if value.dimensions else sub_group
    raise f.fail(messages.NOT_CONSTANT, node, what="this argument", found=value)


def constant_argument(given: CallSite, value: Value, what: str, node: ast.AST | None = None) -> int:
    """An integer argument that must be known."""
    return constant_integer(given.f, value, node or given.node, f"{what} of {given.name}")
