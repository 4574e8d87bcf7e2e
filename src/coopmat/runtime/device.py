"""Devices: what every kind of them has in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from coopmat.devices import Combination, DeviceDescription, describe
from coopmat.diagnostics import Error, LaunchError
from coopmat.spirv.analysis.shader_interface import Interface
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.support.templates import template_method
from coopmat.targets.base.modules import check

if TYPE_CHECKING:
    from coopmat.runtime.streams import Stream
    from coopmat.runtime.timing import Restore, Timer
    from coopmat.targets.base.device_array import DeviceArray, Memory
    from coopmat.targets.cuda.program import PtxProgram

Launcher = Callable[..., Any]
"""Runs a kernel that is ready, with a sequence of arguments; returns when it is done. Those of GPUs take a stream, too,
to which they submit it."""


class LoadedProgram(Protocol):
    """A module that is ready to run on a device."""

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Launcher:
        """Compile a kernel for these sizes and the null pointers among the arguments, if that has not been done."""


class Device:
    """A device that kernels can be built for and run on. Get one from :func:`coopmat.device`.

    ``name`` is what that function takes; ``options`` are those of its kind of device. ``is_apart``: whether it has
    memory of its own, beside the host's. ``sees_what_is_written``: whether its launches keep the marks of memory that
    nobody has written (``support.unwritten``). ``takes_shaders``: whether compute shaders run on it as they are.
    """

    is_apart = False
    sees_what_is_written = False
    takes_shaders = False

    def __init__(self, description: DeviceDescription, options: Any) -> None:
        self.description = description
        self.options = options
        self.name = description.device_name

    @property
    def chip(self) -> str:
        """What it is, as people call it."""
        return "simulated"

    @property
    def driver(self) -> str:
        """Its driver, with the version; empty for what has none."""
        return ""

    @property
    def identity(self) -> tuple[Any, ...]:
        """What makes two devices the same: their name, their options, and the settings that they follow."""
        return self.name, self.options

    @cached_property
    def _hash(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Device) and self.identity == other.identity)

    def __hash__(self) -> int:
        return self._hash

    @property
    def architecture(self) -> str:
        """Name of the architecture in ``sycl_ext_oneapi_device_architecture``, or another that tells what it is."""
        return self.description.name

    @property
    def sub_group_sizes(self) -> tuple[int, ...]:
        """Sub-group sizes; the first is used for kernels that require none."""
        return self.description.sub_group_sizes

    @property
    def matrix_combinations(self) -> list[Combination]:
        """The supported matrix types and sizes (``info::device::matrix_combinations`` of the SYCL
        extension). ``cpu`` takes every other shape and type, too; empty for ``sim:generic``, which takes them all."""
        return list(self.description.combinations)

    @property
    def own_matrices(self) -> list[Combination]:
        """Of a device that takes every combination: those that its driver has shown, and no table of ours."""
        return []

    @property
    def has_matrices(self) -> bool:
        """Whether kernels with matrices can run on it at all."""
        return True

    @property
    def max_work_group_size(self) -> int:
        """The largest number of work-items in a work-group."""
        return self.description.limits.work_group

    @property
    def local_memory_size(self) -> int:
        """The local memory of a work-group in bytes, at most: the kernel's own and what the launch adds."""
        return self.description.limits.local_memory

    @template_method
    def get_info(self, template: Any = None, descriptor: Any = None) -> Any:
        """What a descriptor asks for: ``get_info(info.device.matrix_combinations)``, or with the descriptor in
        square brackets, as SYCL has it. Error, naming the descriptors, for anything else."""
        from coopmat.runtime.information import info  # imported late: few programs ask

        return info.device.ask(self, descriptor if template is None else template)

    def is_cpu(self) -> bool:
        """Whether it is a CPU, or simulates one."""
        return self.description.kind == "cpu"

    def is_gpu(self) -> bool:
        """Whether it is a GPU, or simulates one."""
        return self.description.kind == "gpu"

    def is_accelerator(self) -> bool:
        """Whether it is neither CPU nor GPU, but hardware all the same: no device is, so far."""
        return False

    def has(self, aspect: Any) -> bool:
        """Whether the device has an aspect, such as ``aspect.fp64``."""
        from coopmat.runtime.information import has_aspect

        return has_aspect(self.description, aspect)

    def ext_oneapi_architecture_is(self, architecture: str) -> bool:
        """Whether this is the device's architecture: a member of ``architecture``, or a name. Error if unknown."""
        return describe(architecture).name == self.architecture

    def with_options(self, options: Any) -> Device:
        """The device with other options. Error if they are not those of its kind."""
        raise NotImplementedError

    def load_shaders(self, shaders: Module, kernels: Module, interfaces: Mapping[str, Interface],
                     cache: Cache, refusal: Error | None) -> LoadedProgram:
        """Prepare compute shaders for execution: as ``kernels``, which are the same, unless the device takes shaders.
        ``refusal``: why the kernels do nothing, if they are only declarations."""
        if refusal is not None:
            raise refusal
        return self.load(kernels, cache=cache)

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> LoadedProgram:
        """Prepare a module for execution; KernelNotSupported if its matrices are not the device's.

        ``is_checked``: a device with this description has loaded the module before. What is compiled is kept in
        ``cache``.
        """
        raise NotImplementedError

    def explanation(self, program: LoadedProgram) -> list[str]:
        """What the device chose for the last launch of a program, and why, in lines."""
        return [f"{self.name} runs kernels as they are written"]

    def overview(self, load: Callable[[], LoadedProgram], ptx: Callable[[], PtxProgram]) -> list[str]:
        """What the device chooses for the kernels of a program: here for the last one that was launched; Error before
        that. ``load``: loads it on the device; ``ptx``: makes :meth:`ptx_program` of it."""
        found = self.explanation(load())
        if not found:
            raise Error(f"the device '{self.name}' chooses when a kernel is launched, and none has been: ask after a "
                        "launch, or with coopmat run --explain")
        return found

    def can_load(self, module: Module) -> bool:
        """Whether :meth:`load` raises no error."""
        try:
            check(module, self.description)
        except Error:
            return False
        return True

    def stream(self, handle: int | None = None) -> Stream:
        """What a queue submits its commands to. ``handle``: of one that another library has made; Error if the device
        has none such."""
        from coopmat.runtime.streams import HostStream

        if handle is not None:
            raise Error(f"a queue on '{self.name}' has no stream: streams are of NVIDIA's GPUs, such as cuda:0")
        return HostStream(self)

    def foreign(self, given: Any) -> DeviceArray | None:
        """The memory of a GPU that an object shows, as kernels on this device take it; None if it shows none.
        LaunchError, saying what would work, for memory that they cannot reach."""
        from coopmat.runtime.device_arrays import refused_by

        return refused_by(self.name)(given)

    def allocate(self, kind: Literal["device", "host", "shared"], nbytes: int, alignment: int) -> Memory:
        """Zeroed memory of a kind for kernels on this device, as an array of bytes; LaunchError if there is not so
        much of it."""
        try:
            raw = np.zeros(nbytes + alignment, np.uint8)
        except (MemoryError, ValueError, OverflowError):
            raise LaunchError(f"malloc_{kind}: cannot allocate {nbytes} bytes") from None
        start = -raw.ctypes.data % alignment
        return raw[start:start + nbytes]

    def ptx_program(self, module: Module, cache: Cache, load: Callable[[], LoadedProgram]) -> PtxProgram:
        """A module as PTX and machine code of NVIDIA's GPUs. Error if the device is none, and simulates none.
        ``load``: loads the module on the device."""
        raise Error(f"the device '{self.name}' is no NVIDIA GPU: PTX and cubins are made for cuda:0 and the like, and "
                    "without a GPU for sim:nvidia_gpu_sm_90 and its relatives")

    def assembly(self, program: LoadedProgram) -> str:
        """The assembly language of a program that the device has loaded. Error if the device has none."""
        raise Error(f"the device '{self.name}' runs no machine code: assembly is made for the device 'cpu'")

    def timer(self) -> Timer:
        """What times work on the device (:func:`coopmat.do_bench`)."""
        raise NotImplementedError

    def snapshot(self, memory: Any) -> Restore | None:
        """A function that gives an argument's memory its content of now again; None for what is no memory, or
        memory that cannot be written to."""
        from coopmat.runtime.timing import host_snapshot  # imported late: few programs tune

        return host_snapshot(memory)

    def to_json(self) -> dict[str, Any]:
        """What ``coopmat devices NAME --json`` prints."""
        return {
            "name": self.name,
            "architecture": self.architecture,
            "sub_group_sizes": list(self.sub_group_sizes),
            "matrix_combinations": [asdict(combination) for combination in self.matrix_combinations],
        }

    def __repr__(self) -> str:
        return f"<coopmat.Device {self.name}>"
