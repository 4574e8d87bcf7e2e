"""Devices: what every kind of them has in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from coopmat.devices import Combination, DeviceDescription, describe
from coopmat.diagnostics import Error
from coopmat.spirv.module import Module
from coopmat.support.cache import Cache
from coopmat.support.cached import cached_property
from coopmat.support.templates import template_method
from coopmat.targets.base.modules import check

if TYPE_CHECKING:
    from coopmat.runtime.timing import Restore, Timer

Launcher = Callable[[Sequence[Any]], None]
"""Runs a kernel that is ready, with arguments; returns when it is done."""


class LoadedProgram(Protocol):
    """A module that is ready to run on a device."""

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any]) -> Launcher:
        """Compile a kernel for these sizes and the null pointers among the arguments, if that has not been done."""


class Device:
    """A device that kernels can be built for and run on. Get one from :func:`coopmat.device`.

    ``name`` is what that function takes; ``options`` are those of its kind of device.
    """

    def __init__(self, description: DeviceDescription, options: Any) -> None:
        self.description = description
        self.options = options
        self.name = description.device_name

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

    def load(self, module: Module, *, is_checked: bool = False, cache: Cache | None = None) -> LoadedProgram:
        """Prepare a module for execution; KernelNotSupported if its matrices are not the device's.

        ``is_checked``: a device with this description has loaded the module before. What is compiled is kept in
        ``cache``.
        """
        raise NotImplementedError

    def can_load(self, module: Module) -> bool:
        """Whether :meth:`load` raises no error."""
        try:
            check(module, self.description)
        except Error:
            return False
        return True

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
