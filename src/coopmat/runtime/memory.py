"""Unified shared memory (SYCL 4.8): malloc_shared, malloc_host, malloc_device, their aligned forms, and free.

Shared memory and the host's are numpy arrays of the type's dtype, aligned to pages. What malloc_device returns is
for kernels and for a queue's copies only. SYCL leaves new memory undefined; here it is zero,
and simulated devices report what depends on memory of malloc_device that nobody has written. Memory for a GPU is the
driver's: of the GPU, pinned memory of the host, or memory that the driver moves to whoever uses it.
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
from coopmat.runtime.selection import device as find_device
from coopmat.support import dlpack
from coopmat.support.templates import Template, template_function
from coopmat.targets.base.device_array import DeviceArray

_Array = np.ndarray[Any, Any]
_host_memory: WeakValueDictionary[int, _Array] = WeakValueDictionary()
"""What malloc_shared and malloc_host returned and free has not seen yet, by address."""


@dataclass(slots=True)
class _Block:
    """One allocation of malloc_device: an array of elements, or memory of a GPU; without one when it is freed."""

    array: _Array | DeviceArray | None


class DeviceMemory:
    """Memory of malloc_device, or a place in it (``memory + n``): ``count`` elements of a type.

    The host cannot read it. It binds to pointer parameters of kernels, and a queue's memcpy, copy, fill and memset
    take it. On a GPU it is memory of the GPU, which torch, cupy, numba and JAX take, too, without a copy
    (``torch.as_tensor(memory)``, ``cupy.asarray(memory)``, ``jax.dlpack.from_dlpack(memory)``).
    """

    def __init__(self, element: ElementType, block: _Block, offset: int, count: int) -> None:
        self.element = element
        self._block = block
        self._offset = offset
        self.count = count
        self._seen: DeviceArray | None = None

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self.count * self.element.dtype.itemsize

    def __coopmat_array__(self) -> _Array | DeviceArray:
        """What a device sees of the memory. LaunchError if it was freed."""
        whole = self._block.array
        if whole is None:
            raise LaunchError(f"{self} was freed")
        if isinstance(whole, DeviceArray):
            if self._seen is None:
                dtype = self.element.dtype
                self._seen = DeviceArray(whole.address + self._offset * dtype.itemsize, (self.count,), dtype,
                                         device=whole.device, owner=whole.owner,
                                         place=None if whole.is_cuda else whole.place)
            return self._seen
        return whole[self._offset:self._offset + self.count]

    def to_host(self) -> _Array:
        """A copy as a numpy array, of what is there when everything that was submitted to the GPU has been done."""
        found = self.__coopmat_array__()
        if not isinstance(found, DeviceArray):
            return found.copy()
        content: _Array = found.owner.content(found)
        return content

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For other libraries. AttributeError, as they expect, where it is no memory of a GPU."""
        found = self._of_gpu()
        if self.element.dtype.kind == "V":
            raise AttributeError(f"__cuda_array_interface__ has no elements of {self.element}: use __dlpack__")
        return {"data": (found.address, False), "shape": tuple(found.shape), "typestr": self.element.dtype.str,
                "strides": None, "stream": None, "version": 3}

    @property
    def __dlpack_device__(self) -> Callable[[], tuple[int, int]]:
        """For other libraries: where the memory is. AttributeError where it is no memory of a GPU."""
        found = self._of_gpu()
        return lambda: (int(dlpack.Kind.CUDA), found.device or 0)

    @property
    def __dlpack__(self) -> Callable[..., Any]:
        """For other libraries: the memory. The queue that works with it must have been waited for."""
        found = self._of_gpu()
        return lambda *_, **__: dlpack.capsule(found.address, dlpack.Kind.CUDA, found.device or 0, found.shape,
                                               found.dtype, found.owner)

    def _of_gpu(self) -> DeviceArray:
        found = self.__coopmat_array__()
        if not isinstance(found, DeviceArray):
            raise AttributeError("this memory is not a GPU's: it was allocated for a device that uses the host's")
        if not found.is_cuda:
            raise AttributeError(f"this memory is {found.place}'s, which other libraries do not know: copy it with "
                                 "memory.to_host()")
        return found

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
                    "q.memcpy(array, memory, nbytes) or memory.to_host(), or take malloc_shared")

    __array__ = __getitem__ = __setitem__ = __iter__ = __len__ = _refuse

    def free(self) -> None:
        """Give the memory back."""
        if self._block.array is None:
            raise Error(f"free: {self} was freed already")
        if self._offset:
            raise Error(f"free takes what malloc_device returned; found {self}, a place {self._offset} elements in")
        self._block.array = self._seen = None

    def __repr__(self) -> str:
        return f"malloc_device[{self.element}]({self.count})"


# -------------------------------------------------------------------------------- allocation


def _allocate(what: str, T: Any, alignment: int, count: Any, where: tuple[Any, ...]
              ) -> tuple[ElementType, _Array | DeviceArray]:
    """Zeroed memory for ``count`` elements of T (bytes if T is None)."""
    element = _element(what, T)
    for one in where:
        if not isinstance(one, (Queue, Device, Context)):
            raise Error(f"{what} takes a queue, or a device and a context; found {value_text(one)}")
    if len(where) > 2:
        raise Error(f"{what} takes a queue, or a device and a context; found {len(where)} arguments after the size")
    unit = "bytes" if T is None else "elements"
    size = _whole(f"{what}: the number of {unit}", count, 0) * element.dtype.itemsize
    kind: Any = what.rpartition("_")[2]
    memory = _device(where).allocate(kind, size, alignment)
    if isinstance(memory, DeviceArray):
        return element, memory
    return element, memory.view(element.dtype)


def _device(where: tuple[Any, ...]) -> Device:
    """The device that memory is for; where none is named, the default one."""
    for one in where:
        if isinstance(one, Device):
            return one
        if isinstance(one, Queue | Context):
            return one.device
    return find_device()


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
    assert isinstance(array, np.ndarray)
    owner = array.base
    assert isinstance(owner, np.ndarray)
    _host_memory[array.ctypes.data] = owner
    return array


def _device_memory(what: str, T: Any, alignment: int, count: Any, where: tuple[Any, ...]) -> DeviceMemory:
    element, array = _allocate(what, T, alignment, count, where)
    return DeviceMemory(element, _Block(array), 0, array.nbytes // element.dtype.itemsize)


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
