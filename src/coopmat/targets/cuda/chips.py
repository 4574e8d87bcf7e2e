"""The chips that code is made for: what LLVM calls them, and what they are capable of.

LLVM's names and PTX versions: the NVPTX back end's table of processors (LLVM 22). Shared memory, registers and threads:
CUDA C++ Programming Guide, technical specifications per compute capability.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coopmat.devices import ARCHITECTURES, DeviceDescription
from coopmat.diagnostics import Error

TRIPLE = "nvptx64-nvidia-cuda"
LARGEST_GROUP = 1024


@dataclass(frozen=True)
class Chip:
    """A row. capability: ten times the compute capability. is_specific: LLVM has a variant of it with what only this
    architecture has (``a``). ptx: the PTX version that its code is written in, ten times. table: the architecture
    whose matrix instructions it has."""

    capability: int
    ptx: int
    table: str
    is_specific: bool = False

    @property
    def name(self) -> str:
        """As LLVM and ptxas call it."""
        return f"sm_{self.capability}{'a' * self.is_specific}"

    @property
    def features(self) -> str:
        """LLVM's features."""
        return f"+ptx{self.ptx}"

    @property
    def description(self) -> DeviceDescription:
        """The row of the device tables that it follows."""
        return ARCHITECTURES[self.table]

    @property
    def has_wgmma(self) -> bool:
        """Whether warp groups multiply tiles in shared memory, which tensor maps bring."""
        return self.name == "sm_90a"

    def has(self, capability: int) -> bool:
        """Whether it has what a compute capability brought."""
        return self.capability >= capability


CHIPS = {chip.name: chip for chip in (
    Chip(70, 64, "nvidia_gpu_sm_70"),
    Chip(72, 64, "nvidia_gpu_sm_72"),
    Chip(75, 78, "nvidia_gpu_sm_75"),
    Chip(80, 78, "nvidia_gpu_sm_80"),
    Chip(86, 78, "nvidia_gpu_sm_86"),
    Chip(87, 78, "nvidia_gpu_sm_80"),
    Chip(89, 81, "nvidia_gpu_sm_89"),
    Chip(90, 86, "nvidia_gpu_sm_90", is_specific=True),
    Chip(100, 86, "nvidia_gpu_sm_89", is_specific=True),
    Chip(103, 88, "nvidia_gpu_sm_89", is_specific=True),
    Chip(120, 87, "nvidia_gpu_sm_89", is_specific=True),
    Chip(121, 88, "nvidia_gpu_sm_89", is_specific=True),
)}
"""By LLVM's names. Chips after Hopper have the mma.sync of Ampere and Ada, and instructions of their own beside it."""


def chip_of(capability: int) -> Chip:
    """The row for a device: its own, or the last one before it whose code its driver takes. Error if it is too old."""
    rows = [chip for chip in CHIPS.values() if chip.capability <= capability]
    if not rows:
        raise Error(f"an NVIDIA GPU of compute capability {capability // 10}.{capability % 10} is too old: code is "
                    f"made for {min(chip.capability for chip in CHIPS.values()) / 10:.1f} and later")
    found = max(rows, key=lambda chip: chip.capability)
    return found if found.capability == capability else replace(found, is_specific=False)


def chip_for(description: DeviceDescription) -> Chip | None:
    """The row of an architecture in the device tables; None if it is none of NVIDIA's."""
    return next((chip for chip in CHIPS.values() if chip.table == description.name), None)
