"""Several GPUs of one machine that work on each other's memory, through the driver's peer access.

What a kernel writes stays where it is, and all GPUs write there. What it only reads is copied to each GPU, and kept
until a command of these GPUs, or torch by its own count, has changed it. Memory that is spread over the GPUs is read
where it is at first: it is copied for a kernel that reads it again and again, when it is read a second time, and when
that is wanted.
"""

from __future__ import annotations

import weakref
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import LaunchError
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.host.allocations import ALIGNMENT, Allocation
from coopmat.targets.cuda.host.context import Context, keeps_current
from coopmat.targets.cuda.host.driver import call, started
from coopmat.targets.cuda.host.spread import SpreadMemory

_ENABLED = "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"
_NO_VERSION = -1


@dataclass
class _Read:
    """Memory that a GPU reads. owner: as the program gave it; version: of its content, as the owner counts; readings
    since the content changed; copy: of the content, if ``is_copied``, for the GPU."""

    owner: weakref.ref[Any]
    start: int
    end: int
    version: int = _NO_VERSION
    readings: int = 0
    copy: DeviceArray | None = None
    is_copied: bool = False

    def changed(self) -> None:
        """Note that the content is another one now."""
        self.readings, self.is_copied = 0, False


class PeerMemory:
    """The memory of several GPUs. LaunchError where they do not reach each other's."""

    @keeps_current
    def __init__(self, contexts: Sequence[Context]) -> None:
        self.contexts = {context.ordinal: context for context in contexts}
        self._reads: dict[tuple[int, int, int], _Read] = {}
        for one in self.contexts.values():
            for other in self.contexts.values():
                if one is not other:
                    _let_reach(one, other)

    def arguments(self, given: Sequence[Any], ordinal: int, written: Container[int], *, is_reused: bool) -> list[Any]:
        """The arguments of a launch, as one of the GPUs takes them. ``written``: the positions of those that it may
        write; ``is_reused``: whether it reads the others more than once."""
        return [self.at(one, ordinal, self.address(one, ordinal, place in written, is_reused))
                if isinstance(one, DeviceArray) else one for place, one in enumerate(given)]

    def at(self, array: DeviceArray, ordinal: int, address: int) -> DeviceArray:
        """An array, as one of the GPUs finds it at an address."""
        if array.device == ordinal and array.address == address:
            return array
        return DeviceArray(address, array.shape, array.dtype, is_read_only=array.is_read_only, device=ordinal,
                           owner=array.owner)

    def address(self, array: DeviceArray, ordinal: int, is_written: bool, is_reused: bool) -> int:
        """Where one of the GPUs finds memory: where it is, or in a copy."""
        is_spread = isinstance(array.owner, SpreadMemory)
        if is_written or (array.device == ordinal and not is_spread) or not array.nbytes:
            return array.address
        known = self._known(array, ordinal)
        if known is None:
            return array.address
        known.readings += 1
        if known.readings == 1 and is_spread and not is_reused:
            return array.address
        if not known.is_copied:
            self._copy(array, known, ordinal)
        assert known.copy is not None
        return known.copy.address

    def _known(self, array: DeviceArray, ordinal: int) -> _Read | None:
        """What is known of memory that a GPU reads; None where nobody can tell when it is somebody else's."""
        key, owner = (array.address, array.nbytes, ordinal), array.owner
        version = getattr(owner, "_version", _NO_VERSION)
        known = self._reads.get(key)
        if known is None or known.owner() is not owner:
            try:
                known = _Read(weakref.ref(owner), array.address, array.address + array.nbytes)
            except TypeError:
                return None
            self._reads[key] = known
        if known.version != version:
            known.version = version
            known.changed()
        return known

    @keeps_current
    def _copy(self, array: DeviceArray, known: _Read, ordinal: int) -> None:
        """Copy memory to a GPU, when everything that was submitted has been done."""
        target = self.contexts[ordinal]
        for context in self.contexts.values():
            context.wait()
        if known.copy is None:
            known.copy = Allocation(target, "device", array.nbytes, ALIGNMENT).device_array(array.nbytes)
        target.use()
        call("cuMemcpy", known.copy.address, array.address, array.nbytes, what=f"a copy to cuda:{ordinal}")
        target.wait()
        known.is_copied = True

    def wanted(self, array: DeviceArray) -> None:
        """Have each GPU read memory in a copy, from its next reading on; it has been written by somebody else."""
        self.changed([array])
        for ordinal in self.contexts:
            known = self._known(array, ordinal)
            if known is not None:
                known.readings = 1

    def changed(self, given: Iterable[Any]) -> None:
        """Note that memory has been written."""
        if not self._reads:
            return
        spans = [(one.address, one.address + one.nbytes) for one in given if isinstance(one, DeviceArray)]
        for key, one in list(self._reads.items()):
            if one.owner() is None:
                del self._reads[key]
            elif any(one.start < end and start < one.end for start, end in spans):
                one.changed()


def _let_reach(one: Context, other: Context) -> None:
    """Let a GPU reach another one's memory."""
    if not call("cuDeviceCanAccessPeer", one.device, other.device):
        raise LaunchError(f"cuda:{one.ordinal} does not reach the memory of cuda:{other.ordinal}: give arrays of the "
                          "host, which are copied to each GPU")
    one.use()
    status, *_ = started().cuCtxEnablePeerAccess(other.handle, 0)
    if status and status.name != _ENABLED:
        raise LaunchError(f"cuda:{one.ordinal} does not reach the memory of cuda:{other.ordinal}: {status.name}")
