"""A module made ready for a simulated device: all instruction tables, and one compiled form per kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import Error, LaunchError
from coopmat.numerics import Model
from coopmat.spirv.analysis.kernels import KernelSignature, Parameter
from coopmat.spirv.analysis.matrix_uses import MatrixUses, required_matrix_uses
from coopmat.spirv.analysis.types import MatrixType, Type, TypeTable
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.support.cached import cached_property
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.modules import check
from coopmat.targets.simulator import (
    arithmetic,
    async_copies,
    atomics,
    block_2d,
    composites,
    conversions,
    dot_product,
    group_operations,
    groups,
    integer_functions,
    intel_subgroups,
    matrix,
    matrix_functions,
    memory,
    non_uniform,
    opencl_std,
    quads,
    relational,
    sub_group_matrix,
)
from coopmat.targets.simulator.compiler import Handler, KernelCompiler
from coopmat.targets.simulator.launch import ByValue, CompiledKernel, launch
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.values import Array

HANDLERS: dict[int, Handler] = {
    **arithmetic.OPERATIONS, **relational.OPERATIONS, **conversions.OPERATIONS, **composites.OPERATIONS,
    **memory.OPERATIONS, **matrix.OPERATIONS, **matrix_functions.OPERATIONS, **atomics.OPERATIONS,
    **groups.OPERATIONS, **opencl_std.OPERATIONS, **group_operations.OPERATIONS, **non_uniform.OPERATIONS,
    **intel_subgroups.OPERATIONS, **dot_product.OPERATIONS, **sub_group_matrix.OPERATIONS, **block_2d.OPERATIONS,
    **async_copies.OPERATIONS, **quads.OPERATIONS, **integer_functions.OPERATIONS,
}
"""Every instruction that the simulator has, by its opcode."""

VALUES_PER_MATRIX = 4  # of each matrix type, that are alive at once: an estimate for the batch size


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

    def __init__(self, module: Module, description: DeviceDescription, options: SimulatorOptions) -> None:
        self.module = module
        self.description = description
        self.options = options
        self.arithmetic = options.arithmetic(description.name)
        self.kernels = {name: KernelInfo(module, signature) for name, signature in module.kernel_signatures.items()}
        self._compiled: dict[str, CompiledKernel] = {}
        self._kept: dict[int, Array] = {}  # the memory of global variables of the module

    def launch(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
               arguments: Sequence[Any], global_offset: Sequence[int] | None = None) -> None:
        """Run a kernel over ``global_size`` work-items in groups of ``local_size``; returns when it is done.

        arguments: contiguous numpy arrays for pointers (written in place), numbers or numpy values for
            scalars and vectors, bytes for structures, :class:`LocalMemory` for local pointers.

        Raises LaunchError for sizes or arguments that do not fit, KernelNotSupported, and a
        SimulationError for undefined behaviour.
        """
        self.launcher(kernel_name, global_size, local_size, arguments, global_offset)(arguments)

    def launcher(self, kernel_name: str, global_size: Sequence[int], local_size: Sequence[int],
                 arguments: Sequence[Any], global_offset: Sequence[int] | None = None
                 ) -> Callable[[Sequence[Any]], None]:
        """Compile a kernel, if that has not been done; what launches it with arguments. The code is the same for all
        sizes and arguments. Raises LaunchError for sizes that do not fit."""
        if kernel_name not in self.kernels:
            raise LaunchError(f"there is no kernel '{kernel_name}'; the kernels are {', '.join(self.kernels)}")
        kernel = self._compile(kernel_name)
        geometry = Geometry.checked(kernel.signature, global_size, local_size, global_offset, kernel.sub_group_size)
        return partial(self._launch, kernel, geometry)

    def _launch(self, kernel: CompiledKernel, geometry: Geometry, arguments: Sequence[Any]) -> None:
        try:
            launch(kernel, geometry, arguments, self.options)
        except MemoryError as error:
            raise Error(f"kernel '{kernel.signature.name}' needs more memory than there is: {error}") from error

    def _compile(self, name: str) -> CompiledKernel:
        if name not in self._compiled:
            self._compiled[name] = compile_kernel(self.module, self.kernels[name].signature, self.description,
                                                  self._kept, self.arithmetic)
        return self._compiled[name]


def compile(module: Module, description: DeviceDescription, options: SimulatorOptions | None = None, *,
            is_checked: bool = False) -> SimulatedProgram:
    """Prepare a module for a simulated device; each kernel is compiled at its first launch.

    ``is_checked``: :func:`~coopmat.targets.base.modules.check` has accepted the module before; otherwise this raises
    what that raises.
    """
    if not is_checked:
        check(module, description)
    with well_formed("the module"):
        return SimulatedProgram(module, description, options if options is not None else SimulatorOptions())


def compile_kernel(module: Module, signature: KernelSignature, description: DeviceDescription,
                   kept: dict[int, Array], arithmetic: Model) -> CompiledKernel:
    """Compile a kernel and all functions that it calls for its sub-group size; ``kept`` is the memory of the
    module's global variables, ``arithmetic`` that of matrices."""
    size = signature.sub_group_size or description.sub_group_sizes[0]
    if size not in description.sub_group_sizes:
        raise LaunchError(f"kernel '{signature.name}' requires sub-groups of {size}; {description.name} has "
                          f"{', '.join(map(str, description.sub_group_sizes))}")
    entry = next(entry for entry in module.entry_points
                 if entry.name == signature.name and entry.model == ExecutionModel.Kernel)
    with well_formed(f"kernel '{signature.name}'"):
        compiler = KernelCompiler(module, signature.name, size, HANDLERS, description, kept, arithmetic)
        function = compiler.function(entry.function_id)
        return CompiledKernel(signature, function, tuple(compiler.buffers),
                              _parameter_types(module, compiler.types, entry), size,
                              _matrix_bytes(module, compiler.types), description)


def _parameter_types(module: Module, types: TypeTable, entry: EntryPoint) -> tuple[Type, ...]:
    """The types of a kernel's parameters; a structure that is passed by value through a pointer is marked."""
    function = module.function(entry.function_id)
    found: list[Type] = []
    for parameter, described in zip(function.parameters, module.kernel_signatures[entry.name].parameters,
                                    strict=True):
        assert parameter.type_id is not None
        kind = types[parameter.type_id]
        is_pointer = module.definition(parameter.type_id).opcode == Op.TypePointer
        found.append(ByValue(types.pointee(kind)) if is_pointer and described.kind == "value" else kind)
    return tuple(found)


def _matrix_bytes(module: Module, types: TypeTable) -> int:
    """An estimate of the bytes that the matrices of one sub-group take while the kernel runs."""
    kinds = {types[row.result_id or 0] for row in module.of_opcode(Op.TypeCooperativeMatrixKHR)}
    return sum(VALUES_PER_MATRIX * 8 * kind.rows * kind.columns for kind in kinds if isinstance(kind, MatrixType))
