"""An NVIDIA GPU for tests: what runs kernels on it, and what it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import coopmat as cm
from coopmat.devices import describe
from coopmat.formats import format_of
from coopmat.runtime.cuda_device import CudaDevice
from coopmat.runtime.executable import executable
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.cuda.program import SUB_GROUP_SIZES, CudaProgram
from coopmat.targets.simulator import SimulatorOptions

GPU = "cuda:0"


def architecture() -> str:
    """The row of the tables whose matrix instructions the GPU has."""
    return cm.device(GPU).architecture


def program(source: Module) -> CudaProgram:
    """A module on the GPU."""
    return CudaProgram(executable(source), validates=False)


class NarrowGpu(CudaDevice):
    """The GPU with sub-groups of half a warp for kernels that require none, as ``sim:generic`` has them."""

    @property
    def identity(self) -> tuple[Any, ...]:
        return "half warps", self.name

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> CudaProgram:
        return CudaProgram(module, self.gpu.ordinal, self.options, cache, sub_group_size=16)


class WarpSimulator(SimulatedDevice):
    """``sim:generic`` with the GPU's sizes of sub-groups, of which the first is the default."""

    def __init__(self) -> None:
        super().__init__(replace(describe("generic"), sub_group_sizes=SUB_GROUP_SIZES), SimulatorOptions(races=False))

    @property
    def identity(self) -> tuple[Any, ...]:
        return "warps", self.options


def numbers_of(bits: np.ndarray, fmt: str) -> np.ndarray:
    """Bit patterns as elements of a format."""
    return np.ascontiguousarray(bits).view(format_of(fmt).dtype)


def bits_of(numbers: np.ndarray) -> np.ndarray:
    """Elements as bit patterns."""
    return np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}")


def assert_same_bits(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Compare elements bit for bit; the message shows the first that differ."""
    differs = bits_of(found) != bits_of(expected)
    if differs.any():
        places = np.argwhere(differs)[:4]
        shown = "; ".join(f"{place.tolist()}: {found[tuple(place)]!r} ({bits_of(found)[tuple(place)]:#x}), expected "
                          f"{expected[tuple(place)]!r} ({bits_of(expected)[tuple(place)]:#x})" for place in places)
        raise AssertionError(f"{what}: {int(differs.sum())} of {differs.size} differ: {shown}")
