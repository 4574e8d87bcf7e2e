"""Memory of a device: buffers with addresses, the host's memory as such, and blocks that serve again."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.device_array import DeviceArray, Memory
from coopmat.targets.vulkan.api import constants as vk
from coopmat.targets.vulkan.api.failures import OutOfMemory
from coopmat.targets.vulkan.api.structures import make
from coopmat.targets.vulkan.host.context import Context
from coopmat.targets.vulkan.host.query import HOST_MEMORY

Place = Literal["device", "host"]
"""Where a buffer is: in the device's own memory, or where the host reaches it as well. On devices that share the host's
memory all buffers are of the second kind."""
LOCAL, VISIBLE = vk.MEMORY_PROPERTY_DEVICE_LOCAL_BIT, vk.MEMORY_PROPERTY_HOST_VISIBLE_BIT
COHERENT, CACHED = vk.MEMORY_PROPERTY_HOST_COHERENT_BIT, vk.MEMORY_PROPERTY_HOST_CACHED_BIT
WISHES: dict[Place, tuple[int, ...]] = {
    "device": (LOCAL, 0),
    "host": (VISIBLE | COHERENT | CACHED, VISIBLE | COHERENT)}
"""The properties of memory, the best ones first."""
SHARED_WISHES = (LOCAL | VISIBLE | COHERENT | CACHED, *WISHES["host"])
USAGE = (vk.BUFFER_USAGE_TRANSFER_SRC_BIT | vk.BUFFER_USAGE_TRANSFER_DST_BIT | vk.BUFFER_USAGE_STORAGE_BUFFER_BIT
         | vk.BUFFER_USAGE_UNIFORM_BUFFER_BIT | vk.BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)
ON_HOST = vk.EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
SMALLEST = 512  # bytes of a block
ALIGNMENT = 256  # of every buffer
MOST_KEPT = 1 << 30  # bytes of free blocks
WORD = 4


class Buffer:
    """A buffer with memory of its own, freed when nothing refers to it. handle: Vulkan's. address: on the device.
    mapped: where the host reaches it, None if it does not.

    host: the address and the bytes of the host's memory that is to be the buffer's.
    """

    def __init__(self, context: Context, nbytes: int, place: Place, host: int | None = None) -> None:
        self.context, self.nbytes = context, nbytes
        self.handle = self._memory = 0
        self.mapped: int | None = host
        context.use()
        commands, device = context.commands, context.device
        self._check_size()
        external = None if host is None else make("ExternalMemoryBufferCreateInfo", handleTypes=ON_HOST)
        with context.noting(f"{nbytes} bytes of {context.name}'s memory"):
            self.handle = commands.handle("CreateBuffer", device, ctypes.byref(
                make("BufferCreateInfo", after=external, size=nbytes, usage=USAGE)))
            needs = make("MemoryRequirements")
            commands.GetBufferMemoryRequirements(device, self.handle, ctypes.byref(needs))
            after, types = None, needs.memoryTypeBits
            if host is not None:
                types &= self._importable(host)
                after = make("ImportMemoryHostPointerInfoEXT", handleType=ON_HOST, pHostPointer=host)
            flags = make("MemoryAllocateFlagsInfo", after=after, flags=vk.MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT)
            kind = self._memory_type(types, place, nbytes)
            size = nbytes if host is not None else needs.size
            self._memory = commands.handle("AllocateMemory", device, ctypes.byref(
                make("MemoryAllocateInfo", after=flags, allocationSize=size, memoryTypeIndex=kind)))
            commands.BindBufferMemory(device, self.handle, self._memory, 0)
            self.address: int = commands.GetBufferDeviceAddress(device, ctypes.byref(
                make("BufferDeviceAddressInfo", buffer=self.handle)))
            if host is None and context.memory.memoryTypes[kind].propertyFlags & COHERENT and (
                    place == "host" or context.facts.shares_memory):
                found = ctypes.c_void_p()
                commands.MapMemory(device, self._memory, 0, needs.size, 0, ctypes.byref(found))
                self.mapped = found.value
        context.check_messages()

    def _check_size(self) -> None:
        limits = self.context.facts.limits
        most = min(limits["maxMemoryAllocationSize"], limits["maxBufferSize"])
        if self.nbytes > most:
            raise OutOfMemory(f"{self.nbytes} bytes are more than {self.context.name} has in one piece of memory, "
                              f"{most}")

    def _importable(self, host: int) -> int:
        found = make("MemoryHostPointerPropertiesEXT")
        self.context.commands.GetMemoryHostPointerPropertiesEXT(self.context.device, ON_HOST, host, ctypes.byref(found))
        return int(found.memoryTypeBits)

    def _memory_type(self, possible: int, place: Place, nbytes: int) -> int:
        """The number of the best kind of memory. OutOfMemory if none is so large."""
        memory = self.context.memory
        wishes = SHARED_WISHES if self.context.facts.shares_memory else WISHES[place]
        kinds = [index for index in range(memory.memoryTypeCount) if possible >> index & 1]
        roomy = [index for index in kinds if memory.memoryHeaps[memory.memoryTypes[index].heapIndex].size >= nbytes]
        for wish in (*wishes, 0) if self.mapped is not None else wishes:
            for index in roomy:
                if memory.memoryTypes[index].propertyFlags & wish == wish:
                    return index
        raise OutOfMemory(f"{nbytes} bytes are more than {self.context.name} has of the memory that is needed")

    def write(self, content: Any, offset: int = 0) -> None:
        """Write bytes; the host reaches the buffer."""
        data = np.frombuffer(content, np.uint8)
        if data.nbytes:
            ctypes.memmove((self.mapped or 0) + offset, data.ctypes.data, data.nbytes)

    def view(self) -> np.ndarray[Any, Any]:
        """What is in the buffer, which the host reaches; it lives as long as the array does."""
        return np.asarray(_Window(self))

    def __del__(self) -> None:
        if not self.handle or self.context.lost is not None:
            return
        with contextlib.suppress(Error, TypeError, AttributeError):  # in a forked process; at the interpreter's end
            self.context.use()
            self.context.commands.DestroyBuffer(self.context.device, self.handle, None)
            if self._memory:
                self.context.commands.FreeMemory(self.context.device, self._memory, None)


class _Window:
    """A buffer as numpy sees memory."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self.__array_interface__ = {"data": (buffer.mapped, False), "shape": (buffer.nbytes,), "typestr": "|u1",
                                    "version": 3}


def imported(context: Context, start: int, nbytes: int) -> tuple[Buffer, int] | None:
    """The host's memory at an address as a buffer, and where it begins in that; None if the driver does not take it."""
    page = context.facts.limits.get("minImportedHostPointerAlignment", 0)
    if HOST_MEMORY not in context.extensions or not page:
        return None
    first = start - start % page
    try:
        return Buffer(context, -(-(start + nbytes - first) // page) * page, "host", first), start - first
    except LaunchError:
        if context.lost is not None:
            raise
        return None


# --------------------------------------------------------------------------- blocks


class Blocks:
    """Buffers of a device that serve again. LaunchError if there is no room."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._free: dict[tuple[Place, int], list[Buffer]] = defaultdict(list)
        self._kept = 0
        self._lock = threading.Lock()

    def take(self, nbytes: int, place: Place) -> Buffer:
        """A buffer of at least so many bytes."""
        size = _rounded(nbytes)
        with self._lock:
            if self._free[place, size]:
                self._kept -= size
                return self._free[place, size].pop()
        try:
            return Buffer(self.context, size, place)
        except OutOfMemory:
            self.clear()
            return Buffer(self.context, size, place)

    def give_back(self, buffer: Buffer, place: Place) -> None:
        """Let a buffer serve again; nothing works with it any more."""
        with self._lock:
            if self._kept + buffer.nbytes <= MOST_KEPT:
                self._kept += buffer.nbytes
                self._free[place, buffer.nbytes].append(buffer)

    def clear(self) -> None:
        """Free all buffers that nobody uses."""
        with self._lock:
            self._free.clear()
            self._kept = 0


def _rounded(nbytes: int) -> int:
    """Sizes with two significant bits, so that similar ones share blocks."""
    size = max(nbytes, SMALLEST)
    step = 1 << max(size.bit_length() - 3, 8)
    return -(-size // step) * step


_BLOCKS: dict[Context, Blocks] = {}
_LOCK = ForkSafeLock(threading.RLock)


def blocks_of(context: Context) -> Blocks:
    """The blocks of a device."""
    with _LOCK:
        if context not in _BLOCKS:
            _BLOCKS[context] = Blocks(context)
        return _BLOCKS[context]


# --------------------------------------------------------------------------- what programs allocate


class Allocation:
    """Memory of malloc_*: zeroed, and known by its address on the device and, where it reaches it, the host.
    kind: "device", "host" or "shared"."""

    def __init__(self, context: Context, kind: str, nbytes: int, alignment: int) -> None:
        self.context, self.alignment = context, alignment
        try:
            size = -(-max(nbytes, 1) // WORD) * WORD + (alignment if alignment > ALIGNMENT else 0)
            self.buffer = Buffer(context, size, "device" if kind == "device" else "host")
        except LaunchError as error:
            raise type(error)(f"malloc_{kind}: {nbytes} bytes: {error}") from None
        by = self.buffer.address if self.buffer.mapped is None or kind == "device" else self.buffer.mapped
        self.first = -by % alignment
        context.submit(lambda to: context.commands.CmdFillBuffer(to, self.buffer.handle, 0, size, 0),
                       f"malloc_{kind}: {nbytes} bytes", [self.buffer]).wait()
        with _LOCK:
            _Known.of(context).add(self.buffer)

    def device_array(self, nbytes: int) -> DeviceArray:
        """The memory, for the device."""
        return DeviceArray(self.buffer.address + self.first, (nbytes,), np.dtype(np.uint8), owner=self,
                           place=self.context.name)

    def array(self, nbytes: int) -> np.ndarray[Any, Any]:
        """The memory, for the host; it keeps the allocation."""
        return np.asarray(_Shown(self, nbytes))

    def content(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """A copy of memory of the device for the host, when everything submitted there has been done."""
        found = np.empty(array.nbytes, np.uint8)
        transfer(self.context, found, array, found.nbytes)
        return found.view(array.dtype).reshape(array.shape)

    def __del__(self) -> None:
        if hasattr(self, "first"):
            with contextlib.suppress(TypeError):
                self._forget()

    def _forget(self) -> None:
        with _LOCK:
            _Known.of(self.context).remove(self.buffer)
        with self.context.lock:  # nothing that is submitted may lose its memory
            self.context.keep(self.buffer)


class _Shown:
    """An allocation as numpy sees memory."""

    def __init__(self, allocation: Allocation, nbytes: int) -> None:
        self._allocation = allocation
        start = (allocation.buffer.mapped or 0) + allocation.first
        self.__array_interface__ = {"data": (start, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


class _Known:
    """The allocations of a device by their addresses."""

    _all: dict[Context, _Known] = {}

    def __init__(self) -> None:
        self.starts: dict[str, list[int]] = {"address": [], "mapped": []}
        self.buffers: dict[tuple[str, int], Buffer] = {}

    @classmethod
    def of(cls, context: Context) -> _Known:
        """Those of a device."""
        return cls._all.setdefault(context, cls())

    def add(self, buffer: Buffer) -> None:
        """Note an allocation."""
        for by, starts in self.starts.items():
            start = getattr(buffer, by)
            if start is not None:
                insort(starts, start)
                self.buffers[by, start] = buffer

    def remove(self, buffer: Buffer) -> None:
        """Forget an allocation."""
        for by, starts in self.starts.items():
            start = getattr(buffer, by)
            if self.buffers.pop((by, start), None) is not None:
                starts.remove(start)

    def find(self, by: str, address: int, nbytes: int) -> tuple[Buffer, int] | None:
        """The allocation that memory lies in, and where in it."""
        starts = self.starts[by]
        index = bisect_right(starts, address) - 1
        if index < 0:
            return None
        buffer = self.buffers[by, starts[index]]
        offset = address - starts[index]
        return (buffer, offset) if offset + nbytes <= buffer.nbytes else None


def known(context: Context, memory: Memory) -> tuple[Buffer, int] | None:
    """The buffer of memory that a program has allocated for a device, and where in it; None for memory of the host that
    the device does not reach. LaunchError for an address on the device that is nobody's."""
    with _LOCK:
        if isinstance(memory, DeviceArray):
            found = _Known.of(context).find("address", memory.address, memory.nbytes)
            if found is None:
                raise LaunchError(f"there is no memory of {context.name} at {memory.address:#x}")
            return found
        if not _Known.of(context).starts["mapped"]:
            return None
        return _Known.of(context).find("mapped", int(memory.ctypes.data), memory.nbytes)


# --------------------------------------------------------------------------- copies


def copy(context: Context, to: int, source: Buffer, first: int, target: Buffer, start: int, nbytes: int) -> None:
    """Write the copy of bytes between buffers into a command buffer."""
    region = make("BufferCopy", srcOffset=first, dstOffset=start, size=nbytes)
    context.commands.CmdCopyBuffer(to, source.handle, target.handle, 1, ctypes.byref(region))


def transfer(context: Context, target: Memory, source: Memory, nbytes: int) -> Any:
    """Copy bytes to, from or on a device, in the order of its queue; the ticket of the last part. It has ended, if any
    memory is the host's."""
    blocks = blocks_of(context)
    ends = known(context, source), known(context, target)
    what = f"a copy of {nbytes} bytes on {context.name}"
    staged: list[Buffer] = []
    for place, memory in enumerate((source, target)):
        if ends[place] is None:
            staged.append(blocks.take(nbytes, "host"))
            if place == 0:
                staged[-1].write(_bytes(memory)[:nbytes])
    (first, offset), (second, start) = (end if end is not None else (staged[0 if place == 0 else -1], 0)
                                        for place, end in enumerate(ends))
    ticket = context.submit(lambda to: copy(context, to, first, offset, second, start, nbytes), what, [first, second])
    if staged:
        ticket.wait()
        if ends[1] is None:
            _bytes(target)[:nbytes] = second.view()[:nbytes]
        for buffer in staged:
            blocks.give_back(buffer, "host")
    return ticket


def fill(context: Context, target: Memory, pattern: np.ndarray[Any, Any], count: int) -> Any:
    """Write a pattern of bytes so many times, in the order of the device's queue; its ticket."""
    end, nbytes = known(context, target), count * pattern.size
    word = np.tile(pattern, WORD)[:WORD] if WORD % pattern.size == 0 else pattern
    if end is None or end[1] % WORD or nbytes % WORD or word.size != WORD:
        return transfer(context, target, np.tile(pattern, count), nbytes)
    buffer, start = end
    number = int.from_bytes(word.tobytes(), "little")
    return context.submit(lambda to: context.commands.CmdFillBuffer(to, buffer.handle, start, nbytes, number),
                          f"a fill of {nbytes} bytes on {context.name}", [buffer])


def _bytes(memory: Memory) -> np.ndarray[Any, Any]:
    assert isinstance(memory, np.ndarray)
    return memory.reshape(-1).view(np.uint8)


def spans(arrays: Sequence[tuple[np.ndarray[Any, Any], bool]]) -> list[tuple[int, int, bool]]:
    """The host's memory of arrays, each with whether it is written: beginning, end, and whether any part of it is
    written. Arrays that overlap are one span."""
    found: list[tuple[int, int, bool]] = []
    places = sorted((int(array.ctypes.data), int(array.ctypes.data) + array.nbytes, written)
                    for array, written in arrays if array.nbytes)
    for start, end, written in places:
        if found and start < found[-1][1]:
            first, last, was_written = found.pop()
            found.append((first, max(last, end), was_written or written))
        else:
            found.append((start, end, written))
    return found
