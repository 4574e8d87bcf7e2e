"""The parameters of a kernel: its own, and those that stand for the arrays that it captures."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np

from coopmat.runtime.device_arrays import is_writable
from coopmat.runtime.element_types import ElementType, boolean, element_type, of_dtype
from coopmat.sycl.compiler import messages
from coopmat.sycl.compiler.annotations import type_of_annotation
from coopmat.sycl.compiler.context import Compiler
from coopmat.sycl.compiler.numbers import truth
from coopmat.sycl.compiler.scopes import arguments_of
from coopmat.sycl.compiler.statics import static_value
from coopmat.sycl.compiler.values import Element, Item, LayoutValue, LocalArray, Runtime, Value
from coopmat.sycl.enumerations import address_space, layout
from coopmat.sycl.pointers import LocalAccessor, LocalAccessorType, PointerType, annotated_ptr
from coopmat.sycl.properties import properties
from coopmat.sycl.ranges import NdItemType
from coopmat.sycl.vectors import VectorType
from coopmat.tree import nodes as n
from coopmat.tree import types as t


@dataclass
class KernelParameters:
    """The parameters of the kernel ``function`` so far; ``annotations`` are the evaluated ones, by name."""

    function: Compiler
    annotations: Mapping[str, Any]
    variables: list[n.Variable] = field(default_factory=list)
    arrays: dict[str, Value] = field(default_factory=dict)

    def declare(self, f: Compiler) -> None:
        """The parameters that the function has."""
        check_kinds(f)
        arguments = arguments_of(f.node)
        first = None if not arguments else self._annotation(f, arguments[0])
        if not isinstance(first, NdItemType):
            raise f.fail(messages.FIRST_PARAMETER, arguments[0] if arguments else f.node,
                         found=_shown(first, arguments))
        f.bind(arguments[0].arg, Item(first.dimensions))
        for argument in arguments[1:]:
            type_ = self._annotation(f, argument)
            f.bind(argument.arg, self._parameter(f, argument.arg, type_, argument))

    def _annotation(self, f: Compiler, argument: ast.arg) -> Any:
        if argument.annotation is None:  # a lambda's are given as an attribute
            found = self.annotations.get(argument.arg)
            return element_type(found) or found
        return type_of_annotation(f, argument.annotation)

    def _parameter(self, f: Compiler, name: str, type_: Any, node: ast.AST) -> Value:
        """A parameter of the kernel, and what it is in there."""
        location = f.location(node)
        tree: t.Type
        if isinstance(type_, VectorType) or (isinstance(type_, ElementType) and type_.format is not None):
            tree, hints = type_.type, properties()
        elif isinstance(type_, PointerType):
            tree, hints = type_.tree, type_.hints
        elif isinstance(type_, LocalAccessorType) and type_.dimensions == 1:
            tree, hints = type_.pointer.tree, properties()
        elif type_ in (layout, boolean):  # which kernels cannot have as parameters: they get a number
            tree, hints = t.INT if type_ is layout else t.UCHAR, properties()
        else:
            raise f.fail(messages.PARAMETER_TYPE, node, name=name, found=_shown_type_of_parameter(type_))
        variable = n.Variable(name, tree, location)
        self.variables.append(variable)
        place = n.VariablePlace(tree, location, variable)
        if isinstance(type_, LocalAccessorType):
            return LocalArray(n.Load(tree, location, place), (None,))
        if type_ is layout:
            return LayoutValue(n.Load(tree, location, place))
        if type_ == boolean:
            return Runtime(truth(f, Element(place), node))
        return Element(place, hints)

    def captured(self, f: Compiler, name: str, value: Any, node: ast.AST) -> Value:
        """What a name from outside of the kernel is in there; arrays become parameters of the kernel."""
        return static_value(f, value, node, name, memory=self._captured_memory)

    def _captured_memory(self, f: Compiler, name: str, value: Any, node: ast.AST) -> Value:
        """An array, or one in a tuple or list; ``name`` is what the source could call it."""
        if self.function is not f:
            found = "an array read in a helper (the kernel itself captures arrays: pass it as an argument)"
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=found)
        if name not in self.arrays:
            self.arrays[name] = self._captured_array(f, name, value, node)
        return self.arrays[name]

    def _captured_array(self, f: Compiler, name: str, value: Any, node: ast.AST) -> Value:
        if isinstance(value, LocalAccessor):
            found = self._parameter(f, name, replace(value.type, dimensions=1), node)
            assert isinstance(found, LocalArray)
            return replace(found, shape=value.shape)
        array = value if isinstance(value, np.ndarray) else value.__coopmat_array__()
        element = of_dtype(array.dtype)
        if element is None:
            raise f.fail(messages.CANNOT_CAPTURE, node, name=name, found=f"an array of {array.dtype}")
        hints = value.hints if isinstance(value, annotated_ptr) else properties()
        type_ = PointerType(element, address_space.global_space, not is_writable(array), hints)
        return self._parameter(f, name, type_, node)


def check_kinds(f: Compiler) -> None:
    """Refuse ``*args`` and ``**named``."""
    found = f.node.args
    for what, node in (("'*'", found.vararg), ("'**'", found.kwarg)):
        if node is not None:
            raise f.fail(messages.PARAMETER_KIND, node, what=what)


def _shown(found: Any, arguments: list[ast.arg]) -> str:
    if not arguments:
        return "no parameter"
    return f"'{arguments[0].arg}' without a type" if found is None else f"'{arguments[0].arg}: {_name_of(found)}'"


def _shown_type_of_parameter(found: Any) -> str:
    if isinstance(found, LocalAccessorType):
        return f"{found}: a local accessor of several dimensions must be captured, so that its shape is known"
    return "none" if found is None else _name_of(found)


def _name_of(found: Any) -> str:
    return found.__name__ if isinstance(found, (type, ModuleType)) else str(found)
