"""Pointers: the types that parameters have, and the pointers that a host program makes of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, value_text
from coopmat.runtime.device_arrays import DeviceArray, Memory
from coopmat.runtime.element_types import ElementType, element_type
from coopmat.runtime.ranges import MAX_DIMENSIONS, sizes
from coopmat.sycl.enumerations import address_space, decorated
from coopmat.sycl.properties import CacheHint, properties
from coopmat.sycl.vectors import VectorType
from coopmat.tree import types as t

NO_PROPERTIES = properties()


@dataclass(frozen=True, slots=True)
class Const:
    """``const[T]``: what a pointer points to is only read."""

    element: ElementType | VectorType


class const:
    """``ptr[const[T]]`` is a pointer through which nothing is written; read-only arrays bind to it."""

    def __class_getitem__(cls, given: Any) -> Const:
        return Const(_element("const", given))


def _element(what: str, given: Any) -> ElementType | VectorType:
    if isinstance(given, VectorType):
        return given
    found = element_type(given)
    if found is None:
        raise Error(f"{what}[T] takes an element type, such as {what}[float32], or a vector type; "
                    f"found {value_text(given)}")
    if found.is_abstract:
        raise Error(f"{what}[{found}]: memory has the storage type, {what}[{found.storage}]")
    return found


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer to elements of a type in an address space; ``hints`` are an annotated_ptr's."""

    element: ElementType | VectorType
    space: address_space = address_space.global_space
    const: bool = False
    hints: properties = NO_PROPERTIES

    @classmethod
    def of(cls, what: str, given: Any, space: address_space, annotations: properties = NO_PROPERTIES) -> PointerType:
        """The pointer to ``T`` or ``const[T]``."""
        if isinstance(given, Const):
            return cls(given.element, space, True, annotations)
        return cls(_element(what, given), space, False, annotations)

    @property
    def tree(self) -> t.Pointer:
        """The type in the kernel tree."""
        return t.Pointer(self.element.type, self.space.value, self.const)

    def __or__(self, other: None) -> PointerType:
        """``ptr[T] | None``: every pointer may be null."""
        return self if other is None else NotImplemented

    def __str__(self) -> str:
        inner = f"const[{self.element}]" if self.const else str(self.element)
        if self.hints != NO_PROPERTIES:
            return f"annotated_ptr[{inner}, {self.hints}]"
        name = {address_space.global_space: "ptr", address_space.local_space: "local_ptr"}.get(self.space)
        return f"{name}[{inner}]" if name else f"multi_ptr[{inner}, {self.space}]"

    __repr__ = __str__


class _PointerTemplate:
    def __init__(self, name: str, space: address_space) -> None:
        self.name = name
        self.space = space

    def __getitem__(self, given: Any) -> PointerType:
        return PointerType.of(self.name, given, self.space)

    def __repr__(self) -> str:
        return self.name


ptr = _PointerTemplate("ptr", address_space.global_space)
global_ptr = _PointerTemplate("global_ptr", address_space.global_space)
local_ptr = _PointerTemplate("local_ptr", address_space.local_space)


# -------------------------------------------------------------------------------- pointers of the host


class multi_ptr:
    """A host array as a pointer with an address space (``address_space_cast`` makes one).

    As a type: ``multi_ptr[T, access.address_space.global_space, access.decorated.no]``.
    """

    def __init__(self, memory: Any, space: address_space = address_space.global_space) -> None:
        self._memory = memory_of("multi_ptr", memory)
        self.space = space

    def __class_getitem__(cls, arguments: Any) -> PointerType:
        given, *rest = arguments if isinstance(arguments, tuple) else (arguments,)
        space = rest.pop(0) if rest else address_space.generic_space
        if not isinstance(space, address_space) or (rest and not (len(rest) == 1 and isinstance(rest[0], decorated))):
            raise Error("multi_ptr takes a type, an address space and decorated, such as multi_ptr[float32, "
                        f"access.address_space.global_space, access.decorated.no]; found {value_text(arguments)}")
        return PointerType.of("multi_ptr", given, space)

    @property
    def array(self) -> Memory:
        """The array that the pointer refers to, also where it is the device's."""
        return array_of("multi_ptr", self._memory)

    def get(self) -> Any:
        """The memory: an array, or what malloc_device returned."""
        return self._memory

    def __coopmat_array__(self) -> Memory:
        return self.array

    def __add__(self, elements: int) -> multi_ptr:
        """A pointer to a later element of the memory."""
        return multi_ptr(_after("multi_ptr", self._memory, elements), self.space)


class annotated_ptr:
    """A host array with properties: cache hints for the accesses through it (section "Load").

    As a type: ``annotated_ptr[T, properties(...)]``.
    """

    def __init__(self, memory: Any, annotations: properties = NO_PROPERTIES) -> None:
        self._memory = memory_of("annotated_ptr", memory)
        self.hints = cache_hints(annotations)

    def __class_getitem__(cls, arguments: Any) -> PointerType:
        given, *rest = arguments if isinstance(arguments, tuple) else (arguments,)
        if len(rest) > 1:
            raise Error(f"annotated_ptr takes a type and properties; found {value_text(arguments)}")
        return PointerType.of("annotated_ptr", given, address_space.global_space,
                              cache_hints(rest[0] if rest else NO_PROPERTIES))

    @property
    def array(self) -> Memory:
        """The array that the pointer refers to, also where it is the device's."""
        return array_of("annotated_ptr", self._memory)

    def get(self) -> Any:
        """The memory: an array, or what malloc_device returned."""
        return self._memory

    def __coopmat_array__(self) -> Memory:
        return self.array

    def __add__(self, elements: int) -> annotated_ptr:
        """A pointer to a later element of the memory, with the same hints."""
        return annotated_ptr(_after("annotated_ptr", self._memory, elements), self.hints)


def cache_hints(annotations: Any) -> properties:
    """The properties of an annotated_ptr, checked."""
    if not isinstance(annotations, properties):
        raise Error(f"annotated_ptr takes properties(...); found {value_text(annotations)}")
    for item in annotations.items:
        if not isinstance(item, CacheHint):
            raise Error(f"annotated_ptr takes read_hint[...] and write_hint[...]; {value_text(item)} is for "
                        "joint_matrix_prefetch")
    return annotations


def memory_of(what: str, given: Any) -> Any:
    """The memory that a pointer of the host refers to: an array, or what malloc_device returned."""
    found = given.get() if isinstance(given, (multi_ptr, annotated_ptr)) else given
    array_of(what, found)
    return found


def array_of(what: str, given: Any) -> Memory:
    """The array of a pointer, or of memory; Error for anything else."""
    found = given.__coopmat_array__() if hasattr(type(given), "__coopmat_array__") else given
    if not isinstance(found, np.ndarray | DeviceArray):
        raise Error(f"{what} takes memory, such as what malloc_shared returns or a numpy array; "
                    f"found {value_text(given)}")
    return found


def _after(what: str, memory: Any, elements: Any) -> Any:
    """Memory from its element ``elements`` on."""
    if not isinstance(memory, np.ndarray):
        return memory + elements
    if isinstance(elements, bool) or not hasattr(elements, "__index__") or not 0 <= elements <= memory.size:
        raise Error(f"{what} + n: n must be an int from 0 to {memory.size}, the number of elements; "
                    f"found {value_text(elements)}")
    if not memory.flags.c_contiguous:
        raise Error(f"{what} + n: the array of shape {memory.shape} is not contiguous; make a copy of it first, with "
                    "numpy.ascontiguousarray")
    return memory.reshape(-1)[elements:]


_SPACES_OF_MEMORY = (address_space.global_space, address_space.generic_space)
"""The address spaces that memory of the host program can be in, as a kernel sees it."""


def cast_address_space(space: Any, is_decorated: Any, pointer: Any) -> multi_ptr:
    """``address_space_cast[space, is_decorated](pointer)`` on the host (SYCL 4.7.7.2).

    ``pointer`` is memory (a numpy array, what malloc_* returns) or a pointer to it. Error for an address space that
    it cannot be in.
    """
    if not isinstance(space, address_space):
        raise Error("address_space_cast takes an address space, such as access.address_space.global_space; "
                    f"found {value_text(space)}")
    if not isinstance(is_decorated, decorated):
        raise Error(f"address_space_cast takes access.decorated.no or access.decorated.yes; "
                    f"found {value_text(is_decorated)}")
    if space not in _SPACES_OF_MEMORY:
        raise Error(f"address_space_cast cannot make a pointer to {space}: memory that the host program passes to a "
                    f"kernel is in {' or '.join(map(str, _SPACES_OF_MEMORY))}")
    return multi_ptr(memory_of("address_space_cast", pointer), space)


# -------------------------------------------------------------------------------- local memory


@dataclass(frozen=True, slots=True)
class LocalAccessorType:
    """``local_accessor[T, D]``: local memory of each work-group, an array of D dimensions."""

    element: ElementType | VectorType
    dimensions: int = 1

    def __call__(self, shape: Any, handler: Any = None) -> LocalAccessor:
        """The accessor of an array of this shape; ``handler`` is there as in C++ and says nothing."""
        extents = sizes("local_accessor's range", shape)
        if len(extents) != self.dimensions or min(extents) < 1:
            raise Error(f"{self} takes {self.dimensions} positive sizes; found {value_text(shape)}")
        return LocalAccessor(self, extents)

    @property
    def pointer(self) -> PointerType:
        """The pointer that it is in a kernel."""
        return PointerType(self.element, address_space.local_space)

    def __str__(self) -> str:
        return f"local_accessor[{self.element}, {self.dimensions}]"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class LocalAccessor:
    """Local memory that a kernel gets: pass it as an argument, or capture it."""

    type: LocalAccessorType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return int(np.prod(self.shape)) * self.type.element.nbytes

    def __coopmat_local_bytes__(self) -> int:
        return self.nbytes


class local_accessor:
    """``local_accessor[T, D](shape)``: local memory for each work-group (SYCL 4.7.6.11)."""

    def __class_getitem__(cls, arguments: Any) -> LocalAccessorType:
        given, *rest = arguments if isinstance(arguments, tuple) else (arguments,)
        dimensions = rest[0] if rest else 1
        if len(rest) > 1 or dimensions not in range(1, MAX_DIMENSIONS + 1):
            raise Error(f"local_accessor takes a type and 1 to 3 dimensions; found {value_text(arguments)}")
        return LocalAccessorType(_element("local_accessor", given), int(dimensions))
