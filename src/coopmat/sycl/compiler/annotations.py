"""What the names and annotations of a function mean outside of kernels."""

from __future__ import annotations

import ast
import builtins
import typing
from collections import ChainMap
from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from coopmat.runtime.element_types import element_type
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.constraints import ABSTRACT_VALUE
from coopmat.sycl.pointers import PointerType
from coopmat.sycl.source import Definition


class Module(ChainMap[str, Any]):
    """What the names that a function does not assign stand for. ``annotations``: those of its parameters that Python
    has evaluated, by their text; names that nothing else reads are not in its closure."""

    annotations: Mapping[str, Any] = MappingProxyType({})


def module_of(function: FunctionType, closure: Mapping[str, Any], node: Definition) -> Module:
    """The names of a function's closure, module, and Python."""
    found = Module(dict(closure), function.__globals__, vars(builtins))
    values = function.__annotations__
    found.annotations = {ast.unparse(argument.annotation): values[argument.arg] for argument in arguments_of(node)
                         if argument.annotation is not None and not isinstance(values.get(argument.arg, ""), str)}
    return found


def type_of_annotation(f: Compiler, node: ast.expr) -> Any:
    """The type that an annotation means; Python's numbers and numpy's types are element types."""
    found = _without_none(_evaluated(f, node))
    type_ = element_type(found)
    if type_ is not None and type_.is_abstract:
        raise f.fail(ABSTRACT_VALUE, node, type=type_, storage=type_.storage)
    return type_ or found


def _without_none(found: Any) -> Any:
    """``Optional[ptr[T]]`` is ptr[T]: every pointer may be null."""
    parts = [part for part in typing.get_args(found) if part is not type(None)]
    is_optional = typing.get_origin(found) is typing.Union and len(parts) == 1
    return parts[0] if is_optional and isinstance(parts[0], PointerType) else found


def _evaluated(f: Compiler, node: ast.expr) -> Any:
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
    evaluated = getattr(f.module, "annotations", {})
    if text in evaluated:
        return evaluated[text]
    try:
        return eval(text, {"__builtins__": {}}, ChainMap(f.module, f.unit.scope))  # type: ignore[arg-type]
    except Exception as error:
        raise f.fail(messages.BAD_ANNOTATION, node, text=text, reason=error) from None
