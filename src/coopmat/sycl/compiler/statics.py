"""Objects of Python that a kernel reads, as values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.values import Sequence, Static, Value
from coopmat.sycl.element_types import of_dtype

if TYPE_CHECKING:
    from coopmat.sycl.compiler.function import FunctionCompiler


def static_value(f: FunctionCompiler, value: Any, node: ast.AST, name: str = "this") -> Value:
    """A Python object as a value."""
    if isinstance(value, (tuple, list)):
        owner = type(value) if hasattr(value, "_fields") else None
        return Sequence(tuple(static_value(f, item, node, name) for item in value), isinstance(value, list), owner)
    if isinstance(value, np.ndarray):
        raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found="an array inside of another object")
    if isinstance(value, np.generic) and of_dtype(value.dtype) is None:
        raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a number of type {value.dtype}")
    if isinstance(value, (dict, set, bytes, complex)):
        raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a {type(value).__name__}")
    return Static(value)
