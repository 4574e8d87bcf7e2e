"""What a function reads from around it, and the key that stands for all of it in a cache."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import lru_cache
from itertools import islice
from operator import is_
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from coopmat.diagnostics import Error
from coopmat.runtime.device_arrays import is_writable
from coopmat.runtime.element_types import ElementType, element_type
from coopmat.sycl.pointers import LocalAccessor, LocalAccessorType, PointerType, annotated_ptr, multi_ptr
from coopmat.sycl.ranges import NdItemType
from coopmat.sycl.source import definition_of
from coopmat.sycl.texts import text_of
from coopmat.sycl.vectors import VectorType

PACKAGE = "coopmat."
"""How the names of modules begin whose functions are no part of a kernel."""
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_FIXED_MODULES = ("coopmat", "numpy", "ml_dtypes", "math", "builtins", "typing")
_ANNOTATIONS = (ElementType, VectorType, PointerType, LocalAccessorType, NdItemType)


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
    return {name: value for name, cell in cells_of(function) if (value := content(cell)) is not NOTHING}


def cells_of(function: FunctionType) -> Iterable[tuple[str, CellType]]:
    """The variables of the functions around ``function`` that it reads, where they are held."""
    return zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)


NOTHING: Any = object()
"""Stands for a variable that is not assigned."""


def content(cell: CellType) -> Any:
    """What a variable holds; NOTHING if it is not assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return NOTHING


def annotation_scope(function: FunctionType) -> dict[str, Any]:
    """What the annotations of a function, and of the functions that it has captured, name in the functions around them.

    Annotations that are texts (``from __future__ import annotations``) capture nothing: their names are looked up while
    the functions around run, which is when a kernel is defined.
    """
    if not any(isinstance(value, str) for value in function.__annotations__.values()):
        return {}
    frames = list(_frames_around(function.__code__))
    if not frames:
        return {}
    wanted = set(_annotated_names(function, set())) - function.__globals__.keys() - closure_of(function).keys()
    return {name: frame.f_locals[name] for frame in reversed(frames) for name in wanted if name in frame.f_locals}


def _frames_around(code: CodeType) -> Iterator[FrameType]:
    """The running functions that a function is defined in, the innermost first."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_locals is frame.f_globals:
            return
        if any(constant is code for constant in frame.f_code.co_consts):
            yield frame
            code = frame.f_code
        frame = frame.f_back


def _annotated_names(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    """The names in the annotations inside of a function, and of the functions that it has captured."""
    if function in seen or str(function.__module__).startswith(PACKAGE):
        return
    seen.add(function)
    try:
        _, node = definition_of(function)
    except Error:  # reported where it is compiled
        return
    for part in ast.walk(node):
        for annotation in (getattr(part, "annotation", None), getattr(part, "returns", None)):
            if isinstance(annotation, ast.expr):
                yield from _IDENTIFIER.findall(ast.unparse(annotation))
    for captured in closure_of(function).values():
        if isinstance(captured, FunctionType):
            yield from _annotated_names(captured, seen)


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


class Watch:
    """What a key was made of, as objects: while all of them are where they were, so is the key.

    ``names``: what mappings hold under a name. ``cells``: variables of functions around. ``attributes``: what objects
    have. ``lists``: the items of lists. ``memory``: what the key says of arrays and pointers, of which only the type
    counts.
    """

    def __init__(self) -> None:
        self.names: list[tuple[Mapping[str, Any], str, Any]] = []
        self.cells: list[tuple[CellType, Any]] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.lists: list[tuple[list[Any], list[Any]]] = []
        self.memory: list[tuple[Any, tuple[Any, ...]]] = []

    def is_unchanged(self) -> bool:
        """Whether making the key again would give the same."""
        for mapping, name, value in self.names:
            found = mapping.get(name, NOTHING)
            if found is not value and not _is_alike(found, value):
                return False
        for cell, value in self.cells:
            found = content(cell)
            if found is not value and not _is_alike(found, value):
                return False
        return (all(getattr(owner, name, None) is value for owner, name, value in self.attributes)
                and all(len(items) == len(known) and all(map(is_, items, known)) for items, known in self.lists)
                and all(_memory_key(value) == known for value, known in self.memory))


def _is_alike(found: Any, known: Any) -> bool:
    """Whether two objects have one key: arrays of one type, numbers and texts of one value."""
    kind = type(found)
    if kind is not type(known):
        return False
    return found == known if kind in (int, str, bool) else is_memory(found) and _memory_key(found) == _memory_key(known)


@dataclass(frozen=True, slots=True)
class Key:
    """What a compilation depends on, as a text, and what to look at before the text is used again."""

    text: str
    watch: Watch


def key_of(function: FunctionType, captured: Mapping[str, Any], scope: Mapping[str, Any] = MappingProxyType({})) -> Key:
    """What a function's compilation depends on: its source, and the values that it reads; those that it has
    ``captured``, and those that its annotations name in the ``scope`` around it, are not read again.

    Raises Unkeyable for values whose changes cannot be seen, and Error for a function without source.
    """
    made = _KeyMaker()
    made.parts += [f"{name}={made.value(value)}" for name, value in scope.items()]
    made.function(function, captured)
    return Key("\0".join(made.parts), made.watch)


class _KeyMaker:
    """Puts a key together; ``seen`` numbers the functions and objects that are in it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.watch = Watch()
        self.seen: dict[Any, int] = {}

    def function(self, function: FunctionType, held: Mapping[str, Any] = MappingProxyType({})) -> str:
        """A function: its source, its annotations, what it captures, its defaults. What it holds already stays as it
        is, whatever becomes of the variables."""
        if id(function) in self.seen:
            return f"function:{self.seen[id(function)]}"
        self.seen[id(function)] = len(self.seen)
        name, source = text_of(function)
        code = function.__code__
        start = list(islice(code.co_positions(), 2))  # which tells lambdas of one line apart
        self.parts += [name, source, function.__qualname__, f"{code.co_firstlineno} {start}"]
        self.parts += [repr(sorted((name, _shown(value)) for name, value in function.__annotations__.items()))]
        names = frozenset(names_of(function.__code__))
        self._watch_function(function, names, held)
        for captured, value in captured_by(function, {**closure_of(function), **held}).items():
            self.parts += [captured, self.value(value, names)]
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
            self.parts.append(self.value(default))
        for word in sorted(_words(source, function.__code__.co_firstlineno) - names):
            value = function.__globals__.get(word, NOTHING)
            self.watch.names.append((function.__globals__, word, value))
            if _is_annotation(value):
                self.parts.append(f"{word}={value!r}")
        return f"function:{self.seen[id(function)]}"

    def _watch_function(self, function: FunctionType, names: Iterable[str], held: Mapping[str, Any]) -> None:
        self.watch.names += [(function.__globals__, name, function.__globals__.get(name, NOTHING)) for name in names]
        self.watch.cells += [(cell, content(cell)) for name, cell in cells_of(function) if name not in held]
        for name in ("__code__", "__defaults__", "__kwdefaults__", "__annotations__"):
            self.watch.attributes.append((function, name, getattr(function, name)))
        for mapping in (function.__annotations__, function.__kwdefaults__ or {}):
            self.watch.names += [(mapping, name, value) for name, value in mapping.items()]

    def value(self, value: Any, names: frozenset[str] = frozenset()) -> str:
        """A text that is the same for values that compile to the same; ``names`` are those that the function may read
        of a module."""
        if isinstance(value, ModuleType):
            return self._module(value, names)
        if value is None or isinstance(value, (bool, int, float, str, Enum, np.generic, BuiltinFunctionType)):
            return f"{type(value).__name__}:{value!r}"
        if isinstance(value, (tuple, list)):
            if isinstance(value, list):
                self.watch.lists.append((value, list(value)))
            owner = self.value(type(value)) if hasattr(value, "_fields") else type(value).__name__
            return f"{owner}({','.join(self.value(item) for item in value)})"
        if is_memory(value):
            self.watch.memory.append((value, _memory_key(value)))
            return ":".join(map(str, _memory_key(value)))
        if isinstance(value, FunctionType) and not str(value.__module__).startswith(PACKAGE):
            return self.function(value)
        if isinstance(value, MethodType):
            return f"method:{self.value(value.__func__)}:{self.value(value.__self__)}"
        return self._object(value)

    def _module(self, module: ModuleType, names: frozenset[str]) -> str:
        """What a function reads of a module; modules without source in Python do not change."""
        if module.__name__.startswith(PACKAGE) or getattr(module, "__file__", None) is None \
                or module.__name__.partition(".")[0] in _FIXED_MODULES:
            return f"module:{module.__name__}"
        held = []
        for name in sorted(names & vars(module).keys()):
            if (id(module), name) not in self.seen:
                self.seen[id(module), name] = len(self.seen)
                value = vars(module)[name]
                self.watch.names.append((vars(module), name, value))
                held.append(f"{name}={self.value(value, names)}")
        return f"module:{module.__name__}({','.join(held)})"

    def _object(self, value: Any) -> str:
        """Classes, objects of this package, and plain objects that hold numbers."""
        owner = value if isinstance(value, type) else type(value)
        if str(owner.__module__).startswith(PACKAGE) or owner.__module__ in ("builtins", "numpy", "ml_dtypes"):
            return repr(value)
        if id(value) in self.seen:
            return f"object:{self.seen[id(value)]}"
        self.seen[id(value)] = len(self.seen)
        if isinstance(value, SimpleNamespace) or is_dataclass(value) or isinstance(value, type):
            described = getattr(value, "_fields", ())  # by the class's methods
            names = [name for name in dir(value) if not name.startswith("_") and name not in described]
            self._methods(owner)
            held = []
            for name in names:
                item = getattr(value, name, None)
                if isinstance(item, property):
                    continue
                if not isinstance(item, MethodType):  # which are made anew for each look
                    self.watch.attributes.append((value, name, item))
                held.append(f"{name}={self.value(item)}")
            return f"{owner.__qualname__}({','.join(held)})"
        raise Unkeyable


    def _methods(self, owner: type) -> None:
        """The functions of a class: operators, properties and other methods; those that a decorator made follow from
        the fields."""
        self.parts.append(f"{getattr(owner, '_fields', None)}{getattr(owner, '_field_defaults', None)}")
        for base in owner.__mro__:
            for name, item in vars(base).items() if base.__module__ not in _FIXED_MODULES else ():
                found = getattr(item, "fget", None) or getattr(item, "__func__", item)
                if isinstance(found, FunctionType) and id(found) not in self.seen:
                    self.watch.names.append((vars(base), name, item))
                    with suppress(Error):
                        self.parts += [name, self.function(found)]


@lru_cache(maxsize=256)
def _words(source: str, line: int) -> frozenset[str]:
    """The words of the function that begins at a line of a source: among them are the names in annotations, which
    Python's code may not tell."""
    lines = source.splitlines(keepends=True)[line - 1:]
    with suppress(SyntaxError, tokenize.TokenError):
        lines = inspect.getblock(lines)
    return frozenset(_IDENTIFIER.findall("".join(lines)))


def _shown(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else repr(annotation)


def _is_annotation(value: Any) -> bool:
    """Whether this may be what an annotation names, which Python's code does not say."""
    return isinstance(value, _ANNOTATIONS) or (isinstance(value, type | np.dtype) and element_type(value) is not None)


def _memory_key(value: Any) -> tuple[Any, ...]:
    """What counts of memory that a kernel captures."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.flags.writeable
    if isinstance(value, annotated_ptr):
        return "annotated", value.array.dtype, value.hints, is_writable(value.array)
    if isinstance(value, multi_ptr):
        return "pointer", value.array.dtype, value.space, is_writable(value.array)
    if isinstance(value, LocalAccessor):
        return "local", value.type, value.shape
    return "device", value.__coopmat_array__().dtype
