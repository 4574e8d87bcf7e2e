"""PTX of kernels without a GPU: of those that a program launches, for chips of NVIDIA's, and what ptxas says of it."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coopmat.devices import Combination, describe
from coopmat.runtime.executable import executable
from coopmat.runtime.simulated_device import SimulatedDevice
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.targets.analysis.flatten import Flat
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.cuda.chips import CHIPS, Chip
from coopmat.targets.cuda.kernel import type_table
from coopmat.targets.cuda.lanes import Variant
from coopmat.targets.cuda.program import SUB_GROUP_SIZES, PtxProgram
from coopmat.targets.cuda.work_groups.pipeline import NoSchedule
from coopmat.targets.llvm.kernel import flattened
from tests.kit.oracles import ptxas

NAMES = ("sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")
"""A chip of each kind; sm_87, 103 and 121 have the instructions of their neighbours."""
MULTIPROCESSORS = 132
SERIALIZED = re.compile(r"\(C75\d\d\)|serializ", re.IGNORECASE)
"""What ptxas says where it cannot let a wgmma run while others do."""


@dataclass(frozen=True)
class Ptx:
    """A kernel's PTX for a variant."""

    kernel: str
    variant: Variant
    text: str

    @property
    def chip(self) -> str:
        return self.variant.chip.name

    def __str__(self) -> str:
        pipeline = "" if self.variant.pipeline == "none" else f" {self.variant.pipeline} {self.variant.cluster}"
        return f"{self.kernel} for {self.chip}{pipeline}"


@dataclass(frozen=True)
class Assembled:
    """What ptxas made, and said."""

    code: bytes
    log: str

    @property
    def spilled(self) -> int:
        """Bytes that registers are stored and loaded with."""
        return sum(int(found) for found in re.findall(r"(\d+) bytes spill", self.log))


def assembled(ptx: Ptx) -> Assembled | None:
    """The machine code of PTX; None where there is no ptxas that knows the chip. AssertionError if it refuses, if a
    function is called that is not there, or if wgmma instructions wait for each other."""
    assert ".extern .func" not in ptx.text, ptx
    executable = ptxas.for_chip(ptx.chip)
    if executable is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.o")
        source.write_text(ptx.text)
        command = [executable, "-v", f"-arch={ptx.chip}", "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{ptx}: {done.stderr}"
        found = Assembled(target.read_bytes(), done.stdout + done.stderr)
    assert not SERIALIZED.search(found.log), f"{ptx}: {found.log}"
    return found


def ptx_of(program: PtxProgram, kernel: str, local_size: Sequence[int], nulls: tuple[int, ...] = (),
           group_counts: Sequence[int] = (2, 2, 1)) -> list[Ptx]:
    """The PTX of a kernel for work-groups of a size: of every variant that there is for so many of them."""
    found = []
    variant = program.variant(program.signatures[kernel], local_size, nulls)
    for form in program.forms(kernel, variant, group_counts, MULTIPROCESSORS):
        with suppress(NoSchedule):
            found.append(Ptx(kernel, form.variant, form.program.compiled(kernel, form.variant)[1]))
    return found


def flat_of(program: PtxProgram, variant: Variant, kernel: str = "kernel") -> Flat:
    """The instructions of a kernel, as code for a variant is made of them."""
    entry = next(entry for entry in program.module.entry_points if entry.name == kernel)
    return flattened(program.prepared, entry, type_table(program.prepared, entry, variant))


Sink = Callable[[Ptx], None]


class PtxDevice(SimulatedDevice):
    """``sim:generic``, with the sub-groups and the table of combinations of chips of NVIDIA's; the PTX of every kernel
    that is launched goes to ``sink`` before it is simulated."""

    def __init__(self, chips: Sequence[Chip], sink: Sink) -> None:
        super().__init__(replace(describe("generic"), sub_group_sizes=SUB_GROUP_SIZES))
        self.chips, self.sink = tuple(chips), sink
        self.name = "ptx"

    @property
    def identity(self) -> tuple[Any, ...]:
        return self.name, id(self)

    @property
    def architecture(self) -> str:
        return self.chips[-1].table

    @property
    def matrix_combinations(self) -> list[Combination]:
        return list(dict.fromkeys(row for chip in self.chips for row in chip.description.combinations))

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> Any:
        return _Program(self, super().load(module, is_checked=is_checked), module)


class _Program:
    """A module whose kernels are compiled for all chips at their first launch with work-groups of a size."""

    def __init__(self, device: PtxDevice, simulated: Any, module: Module) -> None:
        self.sink, self.simulated = device.sink, simulated
        self.programs = [PtxProgram(executable(module), chip, validates=False) for chip in device.chips]
        self.seen: set[Any] = set()

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Any:
        for program in self.programs:
            signature = program.signatures[kernel_name]
            geometry = Geometry.checked(signature, global_size, local_size, None, signature.sub_group_size or 32)
            nulls = tuple(place for place, argument in enumerate(arguments) if argument is None)
            several = tuple(count > 1 for count in geometry.group_counts)
            key = (program.chip, kernel_name, geometry.local_size, nulls, several)
            if key not in self.seen:
                self.seen.add(key)
                for one in ptx_of(program, kernel_name, geometry.local_size, nulls, geometry.group_counts):
                    self.sink(one)
        return self.simulated.launcher(kernel_name, global_size, local_size, arguments)


def chips(names: Sequence[str]) -> list[Chip]:
    """The rows of chips."""
    return [CHIPS[name] for name in names]
