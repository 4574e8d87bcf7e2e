"""What an expression of a kernel is while the kernel is compiled.

A :class:`Static` is a Python object that is known now: a number, a type, an enumerator, a function. A
:class:`Runtime` is computed by the kernel. The others are things that a kernel can name but not compute with:
matrices, lists, work-items and groups, local functions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Self

import numpy as np

from coopmat.diagnostics import SourceLocation, number_text
from coopmat.runtime.element_types import BY_SCALAR, ElementType
from coopmat.sycl.enumerations import address_space
from coopmat.sycl.joint_matrices import JointMatrixType
from coopmat.sycl.pointers import NO_PROPERTIES, PointerType
from coopmat.sycl.properties import properties
from coopmat.sycl.source import Source
from coopmat.sycl.vectors import vector_of
from coopmat.tree import nodes as n
from coopmat.tree import types as t


@dataclass(frozen=True, slots=True)
class Value:
    """Base of all values; ``str()`` says in a message what it is."""


@dataclass(frozen=True, slots=True)
class Static(Value):
    """A Python object that is known when the kernel is compiled."""

    value: Any

    @property
    def is_number(self) -> bool:
        """Whether this is a Python int, float or bool, or of a class that is derived from one, such as an IntEnum."""
        return isinstance(self.value, (int, float)) and not isinstance(self.value, np.generic)

    def __str__(self) -> str:
        if self.value is None:
            return "None"
        if self.is_number:
            return f"the constant {number_text(self.value)}"
        if isinstance(self.value, FunctionType | BuiltinFunctionType):
            return f"the function {self.value.__name__}"
        if isinstance(self.value, str) and not isinstance(self.value, Enum):
            return f"the text {self.value!r}"
        try:
            return self.value.__name__ if isinstance(self.value, type | ModuleType) else str(self.value)
        except Exception:  # what a class of the user raises
            return f"an object of class {type(self.value).__name__}"


@dataclass(frozen=True, slots=True)
class Runtime(Value):
    """A scalar or pointer that the kernel computes. ``hints`` are those of an annotated_ptr."""

    expression: n.Expression
    hints: properties = NO_PROPERTIES

    @property
    def type(self) -> t.Type:
        """Its type in the tree."""
        return self.expression.type

    @property
    def pointer(self) -> PointerType | None:
        """The pointer type, if it is a pointer."""
        return pointer_type(self.type, self.hints)

    def __str__(self) -> str:
        return f"a value of type {shown_type(self.type, self.hints)}"


@dataclass(frozen=True, slots=True)
class Element(Value):
    """A part of memory that can be assigned to: a variable, or an element behind a pointer. ``hints`` are those of a
    pointer that it holds."""

    place: n.Place
    hints: properties = NO_PROPERTIES

    @property
    def type(self) -> t.Type:
        """Its type in the tree."""
        return self.place.type

    def __str__(self) -> str:
        return f"a value of type {shown_type(self.type)}"


@dataclass(frozen=True, slots=True)
class Matrix(Value):
    """A joint_matrix object."""

    type: JointMatrixType
    place: n.Place

    def load(self, location: SourceLocation) -> n.Load:
        """Its value."""
        return n.Load(self.type.tree, location, self.place)

    def __str__(self) -> str:
        return f"a {self.type}"


@dataclass(frozen=True, slots=True)
class NewMatrix(Value):
    """What ``joint_matrix(...)`` gives: an object that the assignment names."""

    type: JointMatrixType

    def __str__(self) -> str:
        return f"a {self.type}"


@dataclass(frozen=True, slots=True)
class MatrixValue(Value):
    """What an operation on matrices gives: elements, which an assignment makes an object."""

    type: JointMatrixType
    expression: n.Expression

    def __str__(self) -> str:
        return f"a {self.type}"


MATRICES = (Matrix, NewMatrix, MatrixValue)


@dataclass(frozen=True, slots=True)
class Aggregate(Value):
    """Several values, whose number and structure are known now."""

    items: tuple[Value, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items; of lists and plain tuples none."""
        return ()

    @property
    def is_mutable(self) -> bool:
        """Whether items can be assigned."""
        raise NotImplementedError

    def spelled(self, name: str) -> list[str]:
        """The items of what is called ``name``, as the source has them."""
        if self.names:
            return [f"{name}.{inner}" for inner in self.names]
        return [f"{name}[{index}]" for index in range(len(self.items))]

    def with_items(self, items: Iterable[Value]) -> Self:
        """The same with other items."""
        return replace(self, items=tuple(items))

    def is_like(self, other: Value) -> bool:
        """Whether the other value has the same form, apart from what its items are."""
        return isinstance(other, Aggregate) and replace(self, items=()) == replace(other, items=()) \
            and len(self.items) == len(other.items)


@dataclass(frozen=True, slots=True)
class Sequence(Aggregate):
    """A list (``is_list``) or tuple; a named tuple has its class as ``owner``.

    ``array`` is the memory that the items are the elements of, where the kernel computes indices. ``origin`` tells the
    list from others, so that it gets such memory when the kernel is compiled again.
    """

    is_list: bool
    owner: type | None = None
    array: n.Place | None = field(default=None, compare=False)
    origin: Any = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return getattr(self.owner, "_fields", ())

    @property
    def is_mutable(self) -> bool:
        return self.is_list

    def with_items(self, items: Iterable[Value]) -> Self:
        return replace(self, items=tuple(items), array=None, origin=None)

    def __str__(self) -> str:
        if self.owner is not None:
            return f"a {self.owner.__name__}"
        return f"a {'list' if self.is_list else 'tuple'} of {len(self.items)}"


@dataclass(frozen=True, slots=True)
class Structure(Aggregate):
    """An object of a dataclass."""

    owner: type

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in fields(self.owner))

    @property
    def is_mutable(self) -> bool:
        return not self.owner.__dataclass_params__.frozen  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return f"a {self.owner.__name__}"


@dataclass(frozen=True, slots=True)
class Text(Aggregate):
    """A string with values that the kernel computes: ``conversions`` are printf's, one for each item, ``literals`` what
    stands before, between and behind them."""

    literals: tuple[str, ...]
    conversions: tuple[str, ...]

    @property
    def is_mutable(self) -> bool:
        return False

    def __str__(self) -> str:
        return "a text that the kernel completes"


@dataclass(frozen=True, slots=True)
class Range(Value):
    """``range(start, stop, step)`` with a part that is not known now."""

    start: Value
    stop: Value
    step: Value

    def __str__(self) -> str:
        return "a range"


@dataclass(frozen=True, slots=True)
class Local(Value):
    """A function or lambda of the kernel. ``captured`` holds what it reads from around it, once that is known, and
    from the start the defaults of its parameters, under names that end with "="."""

    source: Source
    node: ast.FunctionDef | ast.Lambda
    module: Mapping[str, Any]
    scope: Any  # the Compiler that it stands in; None if ``captured`` says it all
    captured: Mapping[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name; "lambda" for one without."""
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from other functions: those that one ``def`` makes may have captured different values."""
        return id(self.node), id(self.module)

    @property
    def closure(self) -> dict[str, Value]:
        """What it reads from around it."""
        return {name: value for name, value in self.captured.items() if not name.endswith("=")}

    @property
    def defaults(self) -> dict[str, Value]:
        """The values of parameters that a call may leave out."""
        return {name[:-1]: value for name, value in self.captured.items() if name.endswith("=")}

    def __str__(self) -> str:
        return f"the function {self.name}"


@dataclass(frozen=True, slots=True)
class Item(Value):
    """The kernel's nd_item."""

    dimensions: int

    def __str__(self) -> str:
        return f"an nd_item[{self.dimensions}]"


@dataclass(frozen=True, slots=True)
class Group(Value):
    """A work-group (``dimensions`` > 0) or a sub-group (0)."""

    dimensions: int = 0

    @property
    def scope(self) -> t.ExecutionScope:
        """Its scope in SPIR-V."""
        return t.ExecutionScope.WORKGROUP if self.dimensions else t.ExecutionScope.SUBGROUP

    def __str__(self) -> str:
        return f"a group[{self.dimensions}]" if self.dimensions else "a sub_group"


@dataclass(frozen=True, slots=True)
class LocalArray(Value):
    """A local accessor: its first element's address, and its shape."""

    pointer: n.Expression
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        count = len(self.shape)
        return f"an array in local memory of {count} dimension{'s' * (count != 1)}"


@dataclass(frozen=True, slots=True)
class LayoutValue(Value):
    """A layout that is known at run time only: an int32, 0 for row_major and 1 for col_major."""

    expression: n.Expression

    def __str__(self) -> str:
        return "a layout"


@dataclass(frozen=True, slots=True)
class Method(Value):
    """A method of a value, not called yet."""

    receiver: Value
    name: str
    template: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"the method {self.name}"


@dataclass(frozen=True, slots=True)
class AtomicRef(Value):
    """atomic_ref: the object's address, and the defaults of its operations (in SPIR-V's numbers)."""

    pointer: n.Expression
    order: int
    scope: t.ExecutionScope

    @property
    def type(self) -> t.Scalar:
        """The object's type."""
        assert isinstance(self.pointer.type, t.Pointer)
        assert isinstance(self.pointer.type.pointee, t.Scalar)
        return self.pointer.type.pointee

    def __str__(self) -> str:
        return f"an atomic_ref[{self.type_name}]"

    @property
    def type_name(self) -> ElementType:
        """The object's type, as messages show it."""
        return BY_SCALAR[self.type]


@dataclass(frozen=True, slots=True)
class Nothing(Value):
    """What a call of a function without result gives."""

    expression: n.Expression | None

    def __str__(self) -> str:
        return "no value"


@dataclass(frozen=True, slots=True)
class Erroneous(Value):
    """What an assignment that was reported leaves in a name: nothing more is said about it."""


def root_of(place: n.Place) -> n.Place:
    """The variable, or what a pointer points to, that a place is a part of."""
    while isinstance(place, n.ElementPlace | n.FieldPlace | n.SwizzlePlace):
        place = place.base
    return place


def owner_of(value: Value) -> type | None:
    """The user's class that a tuple or structure is of."""
    return value.owner if isinstance(value, Sequence | Structure) else None


def is_number(value: Value | None) -> bool:
    """Whether a value is a number or pointer, known or computed, that a variable can hold."""
    return isinstance(value, Runtime) or (isinstance(value, Static) and (
        value.is_number or isinstance(value.value, np.generic)))


def shown_type(type_: t.Type, hints: properties = NO_PROPERTIES) -> str:
    """A type of the tree as the user writes it."""
    if isinstance(type_, t.Scalar):
        return str(BY_SCALAR[type_])
    if isinstance(type_, t.Vector) and type_.scalar in BY_SCALAR:
        return str(vector_of(type_))
    return str(pointer_type(type_, hints) or type_)


def pointer_type(type_: t.Type, hints: properties = NO_PROPERTIES) -> PointerType | None:
    """A pointer's type as the user writes it; None for other types."""
    pointee = type_.pointee if isinstance(type_, t.Pointer) else None
    if not isinstance(type_, t.Pointer) or not isinstance(pointee, t.Scalar | t.Vector):
        return None
    element = BY_SCALAR[pointee] if isinstance(pointee, t.Scalar) else vector_of(pointee)
    return PointerType(element, address_space(type_.address_space), type_.const, hints)


def leaves(value: Value) -> Iterator[Value]:
    """The values of a nested list, tuple or structure, in order; the value itself if it is none."""
    if isinstance(value, Aggregate):
        for item in value.items:
            yield from leaves(item)
    else:
        yield value
