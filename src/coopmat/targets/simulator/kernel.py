"""A kernel made ready for a simulated device: all instruction tables, and its compiled form."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import LaunchError
from coopmat.numerics import Model
from coopmat.spirv.analysis.kernels import KernelSignature
from coopmat.spirv.analysis.types import MatrixType, Type, TypeTable
from coopmat.spirv.grammar import ExecutionModel, Op
from coopmat.spirv.module import EntryPoint, Module
from coopmat.spirv.module.malformed import well_formed
from coopmat.targets.analysis.flatten import Flat, flatten
from coopmat.targets.analysis.origins import Origins
from coopmat.targets.analysis.pointer_uses import PointerUses
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
from coopmat.targets.simulator.compiler import Handler, Instrument, KernelCompiler
from coopmat.targets.simulator.definedness.instrument import definedness
from coopmat.targets.simulator.launch import ByValue, CompiledKernel, WatchedMemory
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.overflow import overflow
from coopmat.targets.simulator.turns.cut import without_calls
from coopmat.targets.simulator.turns.loops import waiting_loops
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


def checks_of(options: SimulatorOptions) -> list[Instrument]:
    """The checks that watch each instruction, the first one nearest to it."""
    checks = {overflow: options.overflow, definedness: bool(options.uninitialized)}
    return [check for check, is_wanted in checks.items() if is_wanted]


def compile_kernel(module: Module, signature: KernelSignature, description: DeviceDescription,
                   kept: dict[int, Array], arithmetic: Model, options: SimulatorOptions,
                   instruments: Sequence[Instrument] = ()) -> CompiledKernel:
    """Compile a kernel and all functions that it calls for its sub-group size; ``kept`` is the memory of the
    module's global variables, ``arithmetic`` that of matrices; ``instruments`` watch it beside the checks of the
    options."""
    size = signature.sub_group_size or description.sub_group_sizes[0]
    if size not in description.sub_group_sizes:
        raise LaunchError(f"kernel '{signature.name}' requires sub-groups of {size}; {description.name} has "
                          f"{', '.join(map(str, description.sub_group_sizes))}")
    entry = next(entry for entry in module.entry_points
                 if entry.name == signature.name and entry.model == ExecutionModel.Kernel)
    with well_formed(f"kernel '{signature.name}'"):
        compiler = KernelCompiler(module, signature.name, size, HANDLERS, description, kept, arithmetic,
                                  signature.work_items, [*checks_of(options), *instruments])
        function = compiler.function(entry.function_id)
        flat = flatten(module, entry.function_id, compiler.types)
        if waiting_loops(flat.blocks, flat.flow.loops, flat.type_of):
            compiler = compiler.taking_turns(without_calls(module))
            function = compiler.function(entry.function_id)
        return CompiledKernel(signature, function, tuple(compiler.buffers),
                              _parameter_types(module, compiler.types, entry), size,
                              _matrix_bytes(module, compiler.types), description, _watched_memory(flat))


def _watched_memory(flat: Flat) -> WatchedMemory:
    """What of a kernel's memory may be written, and whether something may order its accesses but barriers."""
    constant = Origins(PointerUses(flat)).constant_parameters
    numbers = {row.result_id: number for number, row in enumerate(flat.parameters)}
    orders = any(row.name.startswith("OpAtomic") or row.opcode == Op.MemoryBarrier
                 for block in flat.blocks for row in block.instructions)
    return WatchedMemory(frozenset(numbers[parameter] for parameter in constant), orders)


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
    return sum(VALUES_PER_MATRIX * 8 * (kind.slice_length * types.sub_group_size if kind.is_of_work_group else
                                        kind.rows * kind.columns) for kind in kinds if isinstance(kind, MatrixType))
