"""Objects of Python that a kernel reads, as values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from coopmat.runtime.element_types import of_dtype
from coopmat.sycl.captures import is_memory
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.values import Sequence, Static, Value

Memory = Callable[[Compiler, str, Any, ast.AST], Value]


def static_value(f: Compiler, value: Any, node: ast.AST, name: str = "this",
                 memory: Memory | None = None) -> Value:
    """A Python object, which the source calls ``name``, as a value; ``memory`` tells what arrays are."""
    if isinstance(value, (tuple, list)):
        owner = type(value) if hasattr(value, "_fields") else None
        found = Sequence((), isinstance(value, list), owner)
        names = found.with_items(map(Static, value)).spelled(name)
        return found.with_items(static_value(f, item, node, part, memory)
                                for item, part in zip(value, names, strict=True))
    if is_memory(value):
        if memory is None:
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found="an array that an object has")
        return memory(f, name, value, node)
    if isinstance(value, np.generic) and of_dtype(value.dtype) is None:
        raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a number of type {value.dtype}")
    if isinstance(value, (dict, set, bytes, complex)):
        raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"a {type(value).__name__}")
    return Static(value)
