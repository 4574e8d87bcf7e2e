"""A module made ready for a simulated device. Most of the simulator is loaded when the first kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error, LaunchError
from coopmat.spirv.analysis.kernels import KernelSignature, Parameter
from coopmat.spirv.analysis.matrix_uses import MatrixUses, required_matrix_uses
from coopmat.spirv.module import Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.support.allocator import keep_freed_memory
from coopmat.support.cached import cached_property
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.modules import check
from coopmat.targets.simulator.options import SimulatorOptions

if TYPE_CHECKING:
    from coopmat.targets.simulator.compiler import Instrument
    from coopmat.targets.simulator.launch import CompiledKernel
    from coopmat.targets.simulator.traffic import Traffic
    from coopmat.targets.simulator.values import Array


@dataclass(frozen=True)
class KernelInfo:
    """What a host needs to know of a kernel of ``module``, and what the kernel needs of a device."""

    module: Module
    signature: KernelSignature

    @cached_property
    def matrix_uses(self) -> MatrixUses:
        return required_matrix_uses(self.module, self.name)

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.signature.parameters

    @property
    def required_sub_group_size(self) -> int | None:
        return self.signature.sub_group_size

    @property
    def required_local_size(self) -> tuple[int, int, int] | None:
        return self.signature.work_group_size


class SimulatedProgram:
    """The kernels of a module on one simulated device; get it from :func:`compile`."""

    def __init__(self, module: Module, description: DeviceDescription, options: SimulatorOptions,
                 instruments: Sequence[Instrument] = (), traffic: Traffic | None = None) -> None:
        self.module = module
        self.instruments = instruments
        self.traffic = traffic
        self.description = description
        self.options = options
        self.arithmetic = options.arithmetic(description.name)
        self.kernels = {name: KernelInfo(module, signature) for name, signature in module.kernel_signatures.items()}
        self._compiled: dict[str, CompiledKernel] = {}
        self._kept: dict[int, Array] = {}  # the memory of global variables of the module

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None, *,
               group_limit: int | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done.

        arguments: contiguous numpy arrays for pointers (written in place), numbers or numpy values for
            scalars and vectors, bytes for structures, :class:`LocalMemory` for local pointers.
        group_limit: so many work-groups are run, the first ones; None for all.

        Raises LaunchError for sizes or arguments that do not fit, KernelNotSupported, and a
        SimulationError for undefined behaviour.
        """
        self.launcher(kernel_name, global_size, local_size, arguments, global_offset, group_limit)(arguments)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None,
                 group_limit: int | None = None) -> Callable[[Sequence[Any]], None]:
        """Compile a kernel, if that has not been done; what launches it with arguments. The code is the same for all
        sizes and arguments. Raises LaunchError for sizes that do not fit."""
        if kernel_name not in self.kernels:
            raise LaunchError(f"there is no kernel '{kernel_name}'; the kernels are {', '.join(self.kernels)}")
        kernel = self._compile(kernel_name)
        geometry = Geometry.checked(kernel.signature, global_size, local_size, global_offset, kernel.sub_group_size)
        return partial(self._launch, kernel, geometry, group_limit)

    def _launch(self, kernel: CompiledKernel, geometry: Geometry, group_limit: int | None,
                arguments: Sequence[Any]) -> None:
        from coopmat.targets.simulator.launch import launch

        keep_freed_memory()
        try:
            launch(kernel, geometry, arguments, self.options, self.traffic, group_limit)
        except MemoryError as error:
            raise Error(f"kernel '{kernel.signature.name}' needs more memory than there is: {error}") from error

    def _compile(self, name: str) -> CompiledKernel:
        from coopmat.targets.simulator.kernel import compile_kernel

        if name not in self._compiled:
            self._compiled[name] = compile_kernel(self.module, self.kernels[name].signature, self.description,
                                                  self._kept, self.arithmetic, self.options, self.instruments)
        return self._compiled[name]


def compile(module: Module, description: DeviceDescription, options: SimulatorOptions | None = None, *,
            is_checked: bool = False, instruments: Sequence[Instrument] = (),
            traffic: Traffic | None = None) -> SimulatedProgram:
    """Prepare a module for a simulated device; each kernel is compiled at its first launch, and watched by
    ``instruments``; ``traffic`` is told of its accesses to memory.

    ``is_checked``: :func:`~coopmat.targets.base.modules.check` has accepted the module before; otherwise this raises
    what that raises.
    """
    if not is_checked:
        check(module, description)
    with well_formed("the module"):
        return SimulatedProgram(module, description, options if options is not None else SimulatorOptions(),
                                instruments, traffic)
