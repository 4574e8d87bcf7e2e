"""Several GPUs of one machine that work on each other's memory, through the driver's peer access.

What a kernel writes stays where it is, and all GPUs write there; what it only reads is copied to each GPU once, and
kept until a launch of these GPUs, or torch by its own count, has changed it.
"""

from __future__ import annotations

import weakref
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.diagnostics import LaunchError
from coopmat.targets.base.device_array import DeviceArray
from coopmat.targets.cuda.host.allocations import ALIGNMENT, Allocation
from coopmat.targets.cuda.host.context import Context, keeps_current
from coopmat.targets.cuda.host.driver import call, started

_ENABLED = "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"
_NO_VERSION = -1


@dataclass
class _Replica:
    """Memory of one GPU, copied to another. owner: of the original, as the program gave it; version: of its content, as
    the owner counts."""

    owner: weakref.ref[Any]
    version: int
    start: int
    end: int
    copy: DeviceArray


class PeerMemory:
    """The memory of several GPUs. LaunchError where they do not reach each other's."""

    @keeps_current
    def __init__(self, contexts: Sequence[Context]) -> None:
        self.contexts = {context.ordinal: context for context in contexts}
        self._replicas: dict[tuple[int, int, int], _Replica] = {}
        for one in self.contexts.values():
            for other in self.contexts.values():
                if one is not other:
                    _let_reach(one, other)

    @keeps_current
    def arguments(self, given: Sequence[Any], ordinal: int, written: Container[int]) -> list[Any]:
        """The arguments of a launch, as one of the GPUs takes them; ``written``: the positions of those that it may
        write. What others have submitted before is done when this returns."""
        return [self._argument(one, ordinal, is_written=place in written) if isinstance(one, DeviceArray) else one
                for place, one in enumerate(given)]

    def _argument(self, array: DeviceArray, ordinal: int, *, is_written: bool) -> DeviceArray:
        if array.device == ordinal:
            return array
        address = array.address if is_written or not array.nbytes else self._copy(array, ordinal).address
        return DeviceArray(address, array.shape, array.dtype, is_read_only=array.is_read_only, device=ordinal,
                           owner=array.owner)

    def _copy(self, array: DeviceArray, ordinal: int) -> DeviceArray:
        """What is kept of memory on another GPU, or a new copy."""
        key = array.address, array.nbytes, ordinal
        version = getattr(array.owner, "_version", _NO_VERSION)
        known = self._replicas.get(key)
        if known is not None and known.owner() is array.owner and known.version == version:
            return known.copy
        source, target = self.contexts[array.device or 0], self.contexts[ordinal]
        copy = known.copy if known is not None else Allocation(target, "device", array.nbytes, ALIGNMENT).device_array(
            array.nbytes)
        source.wait()
        target.use()
        call("cuMemcpy", copy.address, array.address, array.nbytes, what=f"a copy from cuda:{source.ordinal} to "
             f"cuda:{target.ordinal}")
        target.wait()
        try:
            self._replicas[key] = _Replica(weakref.ref(array.owner), version, array.address,
                                           array.address + array.nbytes, copy)
        except TypeError:
            self._replicas.pop(key, None)  # nobody can tell when the memory is somebody else's: copied each time
        return copy

    @keeps_current
    def wait(self, given: Sequence[Any]) -> None:
        """Return when the GPUs whose memory is among the arguments have done what was submitted to them."""
        for ordinal in dict.fromkeys(one.device for one in given if isinstance(one, DeviceArray)):
            self.contexts[ordinal or 0].wait()

    def changed(self, given: Sequence[Any]) -> None:
        """Forget the copies of memory that has been written."""
        spans = [(one.address, one.address + one.nbytes) for one in given if isinstance(one, DeviceArray)]
        self._replicas = {key: one for key, one in self._replicas.items() if one.owner() is not None and not any(
            one.start < end and start < one.end for start, end in spans)}


def _let_reach(one: Context, other: Context) -> None:
    """Let a GPU reach another one's memory."""
    if not call("cuDeviceCanAccessPeer", one.device, other.device):
        raise LaunchError(f"cuda:{one.ordinal} does not reach the memory of cuda:{other.ordinal}: give arrays of the "
                          "host, which are copied to each GPU")
    one.use()
    status, *_ = started().cuCtxEnablePeerAccess(other.handle, 0)
    if status and status.name != _ENABLED:
        raise LaunchError(f"cuda:{one.ordinal} does not reach the memory of cuda:{other.ordinal}: {status.name}")
