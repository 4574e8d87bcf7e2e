"""Memory at one address that several GPUs of a machine have, each a piece of it, and all reach."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.diagnostics import Error, LaunchError
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.host.allocations import BYTES
from coopmat.targets.cuda.host.context import Context, keeps_current
from coopmat.targets.cuda.host.driver import bindings, call


class SpreadMemory:
    """Zeroed memory, freed when nothing refers to it: the first GPU has its first piece, and so on, all of about the
    same size. ``nbytes``: as many are needed, from a multiple of ``alignment`` on. LaunchError if there are not so
    many."""

    @keeps_current
    def __init__(self, contexts: Sequence[Context], nbytes: int, alignment: int) -> None:
        self.contexts = contexts
        what = f"malloc_device: {nbytes} bytes"
        step = max(_granularity(one) for one in contexts)
        steps, count = -(-nbytes // step), len(contexts)
        borders = [round(steps * number / count) * step for number in range(count + 1)]
        self.nbytes = borders[-1]
        self.pieces: list[tuple[int, int]] = []
        """Where each mapped piece begins, and its bytes."""
        contexts[0].use()
        self.address = int(call("cuMemAddressReserve", self.nbytes, max(step, alignment), 0, 0, what=what))
        try:
            for one, start, end in zip(contexts, borders[:-1], borders[1:], strict=True):
                self._map(one, start, end - start, what)
            call("cuMemSetAccess", self.address, self.nbytes, [_access(one) for one in contexts], count, what=what)
            for one, (start, size) in zip(contexts, self.pieces, strict=True):
                one.use()
                call("cuMemsetD8", self.address + start, 0, size)
                one.wait()
        except LaunchError:
            self._free()
            raise

    def _map(self, context: Context, start: int, nbytes: int, what: str) -> None:
        if not nbytes:
            return
        context.use()
        handle = call("cuMemCreate", nbytes, _properties(context), 0, what=what)
        try:
            call("cuMemMap", self.address + start, nbytes, 0, handle, 0, what=what)
            self.pieces.append((start, nbytes))
        finally:
            call("cuMemRelease", handle)  # what is mapped stays

    @keeps_current
    def content(self, array: DeviceArray) -> np.ndarray[Any, Any]:
        """A copy for the host, when everything submitted to the GPUs has been done."""
        found = np.empty(array.nbytes, np.uint8)
        for one in self.contexts:
            one.wait()
        if found.nbytes:
            self.contexts[0].use()
            call("cuMemcpyDtoH", found.ctypes.data, array.address, found.nbytes)
        return found.view(array.dtype).reshape(array.shape)

    def device_array(self, nbytes: int) -> DeviceArray:
        """The memory as an array of bytes, which is said to be the first GPU's."""
        return DeviceArray(self.address, (nbytes,), BYTES, device=self.contexts[0].ordinal, owner=self)

    @keeps_current
    def _free(self) -> None:
        for one in self.contexts:
            one.wait()
        self.contexts[0].use()
        for start, size in self.pieces:
            call("cuMemUnmap", self.address + start, size)
        self.pieces = []
        call("cuMemAddressFree", self.address, self.nbytes)

    def __del__(self) -> None:
        if hasattr(self, "address") and self.pieces and all(one.lost is None for one in self.contexts):
            with contextlib.suppress(Error, TypeError):  # in a forked process; at the interpreter's end
                self._free()


def can_spread(contexts: Sequence[Context], nbytes: int) -> bool:
    """Whether memory is so large, and the GPUs such, that it can be spread."""
    return all(one.attribute("VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED") for one in contexts) and (
        nbytes >= len(contexts) * max(_granularity(one) for one in contexts))


def _properties(context: Context) -> Any:
    driver = bindings()
    found = driver.CUmemAllocationProp()
    found.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    found.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    found.location.id = context.ordinal
    return found


def _access(context: Context) -> Any:
    driver = bindings()
    found = driver.CUmemAccessDesc()
    found.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    found.location.id = context.ordinal
    found.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return found


def _granularity(context: Context) -> int:
    """The bytes of which pieces are multiples."""
    way = bindings().CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
    return int(call("cuMemGetAllocationGranularity", _properties(context), way))
