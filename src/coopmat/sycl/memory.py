"""Unified shared memory (SYCL 4.8): malloc_shared, malloc_host, malloc_device, their aligned forms, and free.

Shared memory and the host's are numpy arrays of the type's dtype, aligned to pages. What malloc_device returns is
for kernels and for a queue's copies only. SYCL leaves new memory undefined; here it is zero.
"""

from __future__ import annotations

import mmap
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from coopmat.diagnostics import Error, LaunchError, value_text
from coopmat.runtime.commands import Context
from coopmat.runtime.device import Device
from coopmat.runtime.element_types import ElementType, element_type, uint8
from coopmat.runtime.queue import Queue
from coopmat.support.templates import Template, template_function

_Array = np.ndarray[Any, Any]
_host_memory: WeakValueDictionary[int, _Array] = WeakValueDictionary()
"""What malloc_shared and malloc_host returned and free has not seen yet, by address."""


@dataclass(slots=True)
class _Block:
    """One allocation of malloc_device; without an array when it is freed."""

    array: _Array | None


class DeviceMemory:
    """Memory of malloc_device, or a place in it (``memory + n``): ``count`` elements of a type.

    The host cannot read it. It binds to pointer parameters of kernels, and a queue's memcpy, copy, fill and memset
    take it.
    """

    def __init__(self, element: ElementType, block: _Block, offset: int, count: int) -> None:
        self.element = element
        self._block = block
        self._offset = offset
        self.count = count

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.count * self.element.dtype.itemsize

    def __coopmat_array__(self) -> _Array:
        """What a device sees of the memory. LaunchError if it was freed."""
        if self._block.array is None:
            raise LaunchError(f"{self} was freed")
        return self._block.array[self._offset:self._offset + self.count]

    def __bool__(self) -> bool:
        return True  # it is no null pointer

    def __add__(self, elements: Any) -> DeviceMemory:
        try:
            step = operator.index(elements)
        except TypeError:
            return NotImplemented
        if not -self._offset <= step <= self.count:
            raise Error(f"{self} + {step} is outside of the allocation")
        return DeviceMemory(self.element, self._block, self._offset + step, self.count - step)

    __radd__ = __add__

    def __sub__(self, elements: Any) -> DeviceMemory:
        try:
            return self + -operator.index(elements)
        except TypeError:
            return NotImplemented

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Error("memory of malloc_device is not accessible on the host: copy it with "
                    "q.memcpy(array, memory, nbytes), or take malloc_shared")

    __array__ = __getitem__ = __setitem__ = __iter__ = __len__ = _refuse

    def free(self) -> None:
        """Give the memory back."""
        if self._block.array is None:
            raise Error(f"free: {self} was freed already")
        if self._offset:
            raise Error(f"free takes what malloc_device returned; found {self}, a place {self._offset} elements in")
        self._block.array = None

    def __repr__(self) -> str:
        return f"malloc_device[{self.element}]({self.count})"


# -------------------------------------------------------------------------------- allocation


def _allocate(what: str, T: Any, alignment: int, count: Any, where: tuple[Any, ...]) -> tuple[ElementType, _Array]:
    """A zeroed array of ``count`` elements of T (bytes if T is None)."""
    element = _element(what, T)
    for one in where:
        if not isinstance(one, (Queue, Device, Context)):
            raise Error(f"{what} takes a queue, or a device and a context; found {value_text(one)}")
    if len(where) > 2:
        raise Error(f"{what} takes a queue, or a device and a context; found {len(where)} arguments after the size")
    unit = "bytes" if T is None else "elements"
    size = _whole(f"{what}: the number of {unit}", count, 0) * element.dtype.itemsize
    try:
        raw = np.zeros(size + alignment, np.uint8)
    except (MemoryError, ValueError, OverflowError):
        raise Error(f"{what}: cannot allocate {size} bytes") from None
    start = -raw.ctypes.data % alignment
    return element, raw[start:start + size].view(element.dtype)


def _element(what: str, T: Any) -> ElementType:
    if T is None:
        return uint8
    found = element_type(T)
    if found is None:
        raise Error(f"{what}[T] takes an element type, such as {what}[float32]; found {value_text(T)}")
    if found.is_abstract:
        raise Error(f"{what}[{found}]: memory has the storage type, {what}[{found.storage}]")
    return found


def _whole(what: str, given: Any, least: int) -> int:
    try:
        value = operator.index(given)
    except TypeError:
        value = -1
    if isinstance(given, (bool, np.bool_)) or value < least:
        raise Error(f"{what} must be an int, {least} or more; found {value_text(given)}")
    return value


def _host_array(what: str, T: Any, alignment: int, count: Any, where: tuple[Any, ...]) -> _Array:
    _, array = _allocate(what, T, alignment, count, where)
    owner = array.base
    assert isinstance(owner, np.ndarray)
    _host_memory[array.ctypes.data] = owner
    return array


def _device_memory(what: str, T: Any, alignment: int, count: Any, where: tuple[Any, ...]) -> DeviceMemory:
    element, array = _allocate(what, T, alignment, count, where)
    return DeviceMemory(element, _Block(array), 0, array.size)


Make = Callable[[str, Any, int, Any, tuple[Any, ...]], Any]


def _plain(name: str, make: Make, text: str) -> Template:
    def allocate(T: Any, count: int, *where: Any) -> Any:
        return make(name, T, mmap.PAGESIZE, count, where)

    return _named(allocate, name, f"``{name}[T](count, q)``: {text}; ``{name}(nbytes, q)``: as bytes. "
                                  "A queue, or a device and a context, may be named as in C++, or left out.")


def _aligned(name: str, make: Make, text: str) -> Template:
    def allocate(T: Any, alignment: int, count: int, *where: Any) -> Any:
        exact = _whole(f"{name}: the alignment", alignment, 1)
        if exact & (exact - 1) or exact > _LARGEST_ALIGNMENT:
            raise Error(f"{name}: the alignment must be a power of two up to {_LARGEST_ALIGNMENT}; "
                        f"found {value_text(alignment)}")
        return make(name, T, exact, count, where)

    return _named(allocate, name, f"``{name}[T](alignment, count, q)``: {text}, aligned to so many bytes.")


def _named(function: Callable[..., Any], name: str, text: str) -> Template:
    function.__name__ = name
    function.__doc__ = text
    return template_function(function)


_LARGEST_ALIGNMENT = 1 << 30
_SHARED, _HOST = "an array of count elements that kernels and the host share", "an array of count elements on the host"
_DEVICE = "memory of count elements that the host cannot read"
malloc_shared = _plain("malloc_shared", _host_array, _SHARED)
malloc_host = _plain("malloc_host", _host_array, _HOST)
malloc_device = _plain("malloc_device", _device_memory, _DEVICE)
aligned_alloc_shared = _aligned("aligned_alloc_shared", _host_array, _SHARED)
aligned_alloc_host = _aligned("aligned_alloc_host", _host_array, _HOST)
aligned_alloc_device = _aligned("aligned_alloc_device", _device_memory, _DEVICE)


def free(memory: Any, where: Any = None) -> None:
    """Give memory back that one of the malloc functions returned; nothing happens for None.

    Device memory cannot be used afterwards. An array remains one: numpy keeps its memory as long as it is used.
    Error for other memory, and for what was freed already.
    """
    if where is not None and not isinstance(where, (Queue, Context)):
        raise Error(f"free takes memory and a queue or a context; found {value_text(where)}")
    if memory is None:
        return
    if isinstance(memory, DeviceMemory):
        memory.free()
    elif not isinstance(memory, np.ndarray) or _host_memory.pop(memory.ctypes.data, None) is None:
        shown = f"an array of shape {memory.shape}" if isinstance(memory, np.ndarray) else repr(memory)
        raise Error(f"free takes what a malloc function returned, once; found {shown}")
