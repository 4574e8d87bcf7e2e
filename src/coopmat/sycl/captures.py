"""What a function reads from around it, and the key that stands for all of it in a cache."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from coopmat.sycl.element_types import ElementType, element_type
from coopmat.sycl.pointers import LocalAccessor, LocalAccessorType, PointerType, annotated_ptr, multi_ptr
from coopmat.sycl.ranges import NdItemType
from coopmat.sycl.texts import text_of

_PACKAGE = "coopmat."
_FIXED_MODULES = ("coopmat", "numpy", "ml_dtypes", "math")
_ANNOTATIONS = (ElementType, PointerType, LocalAccessorType, NdItemType)


class Unkeyable(Exception):
    """An object that no key can stand for: what it is compiled into is not kept."""


def is_memory(value: Any) -> bool:
    """Whether a kernel that captures ``value`` gets it as a parameter: an array, a pointer, local memory."""
    return isinstance(value, np.ndarray | LocalAccessor) or hasattr(type(value), "__coopmat_array__")


def call_operator(owner: type) -> FunctionType | None:
    """The function that calls of a class's objects run, if it is written in Python."""
    found = inspect.getattr_static(owner, "__call__", None)
    return found if isinstance(found, FunctionType) else None


def closure_of(function: FunctionType) -> dict[str, Any]:
    """The variables of the functions around ``function`` that it reads, with their values now."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def names_of(code: CodeType) -> Iterator[str]:
    """The names that code, and the functions inside of it, may take from its module."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_of(constant)


def captured_by(function: FunctionType, closure: Mapping[str, Any]) -> dict[str, Any]:
    """Everything outside of a function that its compilation may read, by name."""
    found = {name: function.__globals__[name] for name in sorted(set(names_of(function.__code__)))
             if name in function.__globals__}
    return {**found, **closure}


def key_of(function: FunctionType, closure: Mapping[str, Any]) -> str:
    """What a function's compilation depends on: its source, and the values that it reads.

    Raises Unkeyable for values whose changes cannot be seen, and Error for a function without source.
    """
    parts: list[str] = []
    _function_key(function, closure, parts, {id(function): 0})
    return "\0".join(parts)


def _function_key(function: FunctionType, closure: Mapping[str, Any], parts: list[str],
                  seen: dict[Any, int]) -> None:
    name, source = text_of(function)
    parts += [name, source, function.__qualname__, str(function.__code__.co_firstlineno)]
    parts += [repr(sorted((name, _shown(value)) for name, value in function.__annotations__.items()))]
    names = frozenset(names_of(function.__code__))
    for captured, value in captured_by(function, closure).items():
        parts += [captured, _key(value, parts, seen, names)]
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
        parts.append(_key(default, parts, seen, names))
    parts += [f"{name}={value!r}" for name, value in function.__globals__.items() if _is_annotation(value)]


def _shown(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else repr(annotation)


def _is_annotation(value: Any) -> bool:
    """Whether this may be what an annotation names, which Python's code does not say."""
    return isinstance(value, _ANNOTATIONS) or (isinstance(value, type | np.dtype) and element_type(value) is not None)


def _key(value: Any, parts: list[str], seen: dict[Any, int], names: frozenset[str] = frozenset()) -> str:
    """A text that is the same for values that compile to the same; ``seen`` numbers functions and objects, ``names``
    are those that the function may read of a module."""
    if isinstance(value, ModuleType):
        return _module_key(value, parts, seen, names)
    if value is None or isinstance(value, (bool, int, float, str, Enum, np.generic, BuiltinFunctionType)):
        return f"{type(value).__name__}:{value!r}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(_key(item, parts, seen, names) for item in value)})"
    if isinstance(value, np.ndarray):
        return f"array:{value.dtype}:{value.flags.writeable}"
    if isinstance(value, annotated_ptr):
        return f"annotated:{value.array.dtype}:{value.hints}:{value.array.flags.writeable}"
    if isinstance(value, multi_ptr):
        return f"pointer:{value.array.dtype}:{value.space}:{value.array.flags.writeable}"
    if isinstance(value, LocalAccessor):
        return f"local:{value.type}:{value.shape}"
    if hasattr(type(value), "__coopmat_array__"):
        return f"device:{value.__coopmat_array__().dtype}"
    if isinstance(value, FunctionType) and not str(value.__module__).startswith(_PACKAGE):
        if id(value) not in seen:
            seen[id(value)] = len(seen)
            _function_key(value, closure_of(value), parts, seen)
        return f"function:{seen[id(value)]}"
    if isinstance(value, MethodType):
        return f"method:{_key(value.__func__, parts, seen)}:{_key(value.__self__, parts, seen)}"
    return _object_key(value, parts, seen)


def _module_key(module: ModuleType, parts: list[str], seen: dict[Any, int], names: frozenset[str]) -> str:
    """What a function reads of a module; modules without source in Python do not change."""
    if module.__name__.startswith(_PACKAGE) or getattr(module, "__file__", None) is None \
            or module.__name__.partition(".")[0] in _FIXED_MODULES:
        return f"module:{module.__name__}"
    held = []
    for name in sorted(names & vars(module).keys()):
        if (id(module), name) not in seen:
            seen[id(module), name] = len(seen)
            held.append(f"{name}={_key(vars(module)[name], parts, seen, names)}")
    return f"module:{module.__name__}({','.join(held)})"


def _object_key(value: Any, parts: list[str], seen: dict[Any, int]) -> str:
    """Classes, objects of this package, and plain objects that hold numbers."""
    owner = value if isinstance(value, type) else type(value)
    if str(owner.__module__).startswith(_PACKAGE) or owner.__module__ in ("builtins", "numpy", "ml_dtypes"):
        return repr(value)
    if id(value) in seen:
        return f"object:{seen[id(value)]}"
    seen[id(value)] = len(seen)
    if isinstance(value, SimpleNamespace) or is_dataclass(value) or isinstance(value, type):
        names = [name for name in dir(value) if not name.startswith("_")]
        operator = call_operator(owner)
        if operator is not None:
            parts.append(_key(operator, parts, seen))
        held = ",".join(f"{name}={_key(getattr(value, name, None), parts, seen)}" for name in names)
        return f"{owner.__qualname__}({held})"
    raise Unkeyable
