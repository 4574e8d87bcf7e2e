"""What several devices are to do: a kernel with sizes, and which part of it is whose."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.runtime.device import Device, LoadedProgram
from coopmat.runtime.shares import Shares
from coopmat.runtime.streams import Sizes
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.analysis.sharing import Sharing
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.partition import Part


class PartsProgram:
    """The module whose kernels run parts of launches, on each of the devices."""

    source_name = "parts"

    def __init__(self, module: Module, cache: Cache | None) -> None:
        self.module = module
        self._cache = cache
        self._loaded: dict[Device, LoadedProgram] = {}

    def load(self, device: Device) -> LoadedProgram:
        """The module on a device."""
        if device not in self._loaded:
            self._loaded[device] = device.load(self.module, is_checked=True, cache=self._cache)
        return self._loaded[device]


@dataclass
class PartsKernel:
    """A kernel of it, as streams take one."""

    name: str
    program: PartsProgram


@dataclass(frozen=True)
class Work:
    """A kernel with sizes, to be run in parts. labels: what messages call the arguments; width: the bytes of each
    number that tells a part where it is."""

    kernel: PartsKernel
    geometry: Geometry
    sharing: Sharing
    shares: Shares
    labels: Sequence[str]
    width: int

    def sizes(self, part: Part) -> tuple[Sizes, Sizes]:
        """The global size of a part, and that of work-groups."""
        local = self.geometry.local_size
        return tuple(count * size for count, size in zip(part.counts, local, strict=True)), local

    def place(self, part: Part) -> list[bytes]:
        """The arguments that tell the kernel which part it runs."""
        return [number.to_bytes(self.width, sys.byteorder) for number in (*part.first, *self.geometry.group_counts)]
