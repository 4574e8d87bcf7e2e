"""Memory that programs allocate: of the GPU, of the host for the GPU to reach, and of both.

What the host can reach are numpy arrays; kernels find them by their addresses (:func:`reachable`).
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from bisect import bisect_right, insort
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, LaunchError
from coopmat.support.forks import ForkSafeLock
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.host.context import Context, keeps_current
from coopmat.targets.cuda.host.driver import bindings, call

BYTES = np.dtype(np.uint8)
ALIGNMENT = 256  # of what the driver allocates, at least
_PINNED = 3  # CU_MEMHOSTALLOC_PORTABLE | DEVICEMAP
_GLOBAL = 1  # CU_MEM_ATTACH_GLOBAL
_LOCK = ForkSafeLock(threading.RLock)
_STARTS: list[int] = []
_SIZES: dict[int, int] = {}
_MANAGED: set[int] = set()
"""Memory that the host and GPUs can reach: the sorted addresses, the bytes at each, and the addresses of that which the
driver moves."""


class Allocation:
    """Memory that is freed when nothing refers to it. kind: "device", "host" or "shared". nbytes: as many are needed,
    from a multiple of ``alignment`` on, which is ``start``."""

    def __init__(self, context: Context, kind: str, nbytes: int, alignment: int) -> None:
        self.context, self.kind = context, kind
        self.nbytes = max(nbytes, 1) + (alignment if alignment > ALIGNMENT else 0)
        context.use()
        what = f"malloc_{kind}: {nbytes} bytes"
        if kind != "host" and self.nbytes > context.memory:
            raise LaunchError(f"{what} are more than cuda:{context.ordinal} has, {context.memory}")
        if kind == "device":
            self.address = int(call("cuMemAlloc", self.nbytes, what=what))
            call("cuMemsetD8", self.address, 0, self.nbytes)
            call("cuStreamSynchronize", 0)  # other streams do not wait for it
        elif kind == "host":
            self.address = int(call("cuMemHostAlloc", self.nbytes, _PINNED, what=what))
        else:
            self.address = int(call("cuMemAllocManaged", self.nbytes, _GLOBAL, what=what))
        self.start = self.address + -self.address % alignment
        if kind != "device":
            ctypes.memset(self.address, 0, self.nbytes)
            with _LOCK:
                insort(_STARTS, self.address)
                _SIZES[self.address] = self.nbytes
                if kind == "shared":
                    _MANAGED.add(self.address)
        self.__array_interface__ = {"data": (self.address, False), "shape": (self.nbytes,), "typestr": "|u1",
                                    "version": 3}

    def array(self, nbytes: int) -> np.ndarray[Any, Any]:
        """Memory that the host can reach, as an array of bytes."""
        first = self.start - self.address
        return np.asarray(self)[first:first + nbytes]

    @keeps_current
    def content(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """A copy of memory of the GPU for the host, when everything submitted there has been done."""
        found = np.empty(array.nbytes, np.uint8)
        self.context.wait()
        if found.nbytes:
            self.context.use()
            call("cuMemcpyDtoH", found.ctypes.data, array.address, found.nbytes)
        return found.view(array.dtype).reshape(array.shape)

    def device_array(self, nbytes: int) -> DeviceArray:
        """Memory of the GPU, as an array of bytes."""
        return DeviceArray(self.start, (nbytes,), BYTES, device=self.context.ordinal, owner=self)

    def __del__(self) -> None:
        if not hasattr(self, "address"):
            return
        if self.kind != "device":
            with _LOCK:
                if _SIZES.pop(self.address, None) is not None:
                    _STARTS.remove(self.address)
                    _MANAGED.discard(self.address)
        if self.context.lost is None:
            with contextlib.suppress(Error, TypeError):  # in a forked process; at the interpreter's end
                self._free()

    @keeps_current
    def _free(self) -> None:
        if self.kind != "device":
            self.context.wait()  # freeing memory of the GPU waits by itself
        self.context.use()
        call("cuMemFreeHost" if self.kind == "host" else "cuMemFree", self.address)


def device_of(address: int) -> int:
    """The GPU whose memory is at an address. LaunchError if it is nobody's."""
    number = bindings().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(call("cuPointerGetAttribute", number, address, what=f"the address {address:#x}"))


def reachable(address: int, nbytes: int) -> bool:
    """Whether memory of the host is what a GPU reaches as it is."""
    return bool(_STARTS) and _start(address, nbytes) is not None


def is_managed(address: int, nbytes: int) -> bool:
    """Whether the driver moves the memory to whoever uses it."""
    return bool(_MANAGED) and _start(address, nbytes) in _MANAGED


def _start(address: int, nbytes: int) -> int | None:
    """The beginning of the allocation that memory lies in; None if it is in none that the host and GPUs reach."""
    with _LOCK:
        index = bisect_right(_STARTS, address) - 1
        if index < 0:
            return None
        start = _STARTS[index]
        return start if address + nbytes <= start + _SIZES.get(start, 0) else None


def prefetch(context: Context, address: int, nbytes: int, stream: Any) -> None:
    """Have the driver move managed memory to a GPU, if it can."""
    driver = bindings()
    if not context.attribute("CONCURRENT_MANAGED_ACCESS"):
        return
    place = driver.CUmemLocation()
    place.type, place.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, context.ordinal
    name = "cuMemPrefetchAsync_v2" if hasattr(driver, "cuMemPrefetchAsync_v2") else "cuMemPrefetchAsync"
    call(name, address, nbytes, place, 0, stream)
