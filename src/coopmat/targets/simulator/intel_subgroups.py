"""SPV_INTEL_subgroups: shuffles of two data sources, block reads and writes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.devices.subgroup_layout import block_io_element
from coopmat.diagnostics import UndefinedBehavior, ValidationError
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.composites import nothing
from coopmat.targets.simulator.convergence import first_active, require_sub_groups, uniform_value
from coopmat.targets.simulator.non_uniform import shuffled
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array, unsigned

READ_ALIGNMENT = 4  # bytes, of the pointer of a block read (cl_intel_subgroups)
WRITE_ALIGNMENT = 16
BLOCK_STORAGES = (StorageClass.CrossWorkgroup, StorageClass.Workgroup, StorageClass.UniformConstant)

# --------------------------------------------------------------------------------------
# Shuffles
# --------------------------------------------------------------------------------------

Index = Callable[[Array, Array], Array]  # (own lane, last operand) -> index


def _shuffle(index_of: Index) -> Handler:
    """Shuffle and ShuffleXor: one data source, and an index below the sub-group size."""

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        data, operand = map(compiler.slot, row.words)
        site, result = compiler.site(row), compiler.result(row)

        def execute(frame: Frame) -> None:
            slots = frame.slots
            index = index_of(np.arange(frame.batch.lanes)[None, :], unsigned(slots[operand]).astype(np.int64))
            _check_range(frame, site, index, 0, frame.batch.lanes)
            slots[result] = shuffled(frame, slots[data], index)

        return execute

    return handle


def _shuffle_relative(index_of: Index, lowest: int) -> Handler:
    """ShuffleDown and ShuffleUp: two data sources that lie beside each other, the first at lane 0.

    ``lowest`` is the smallest index in units of the sub-group size: 0 if the operands are (current,
    next), -1 if they are (previous, current).
    """

    def handle(compiler: FunctionCompiler, row: Instruction) -> Step:
        first, second, delta = map(compiler.slot, row.words)
        site, result = compiler.site(row), compiler.result(row)

        def execute(frame: Frame) -> None:
            slots, size = frame.slots, frame.batch.lanes
            index = index_of(np.arange(size)[None, :], unsigned(slots[delta]).astype(np.int64))
            _check_range(frame, site, index, lowest * size, (lowest + 2) * size)
            place = index - lowest * size
            one, two = (shuffled(frame, slots[slot], place % size) for slot in (first, second))
            is_first = (place < size).reshape(*place.shape, *[1] * (one.ndim - 2))
            slots[result] = np.where(is_first, one, two)

        return execute

    return handle


def _check_range(frame: Frame, site: Site, index: Array, low: int, high: int) -> None:
    place = first_active(frame, (index < low) | (index >= high))
    if place is not None and frame.batch.options.undefined:
        found = int(np.broadcast_to(index, frame.mask.expanded.shape)[place])
        raise UndefinedBehavior(f"the shuffle index of {site.instruction} must be from {low} to {high - 1}; "
                                f"it is {found}", site.where(frame, *place))


# --------------------------------------------------------------------------------------
# Block reads and writes
# --------------------------------------------------------------------------------------


def _block_address(compiler: FunctionCompiler, row: Instruction, kind: Type) -> Callable[[Frame], Array]:
    """A closure for the addresses of all components, ``[S, L, components]``, after all checks of the pointer."""
    pointee = compiler.types.pointee(compiler.type_of(row.words[0]))
    if pointee != kind.scalar:
        raise ValidationError("block-io-type", f"{row.name} of {kind} needs a pointer to {kind.scalar}, "
                              f"not to {pointee}", row.offset)
    site, pointer = compiler.site(row), compiler.slot(row.words[0])

    def evaluate(frame: Frame) -> Array:
        require_sub_groups(frame, site)
        base = uniform_value(frame, frame.slots[pointer], site, "pointer")[:, None]
        private = ~np.isin(frame.memory.storage_of(base), BLOCK_STORAGES) & (frame.memory.storage_of(base) >= 0)
        place = first_active(frame, private)
        if place is not None:
            raise UndefinedBehavior(f"{site.instruction} needs a pointer to global or local memory",
                                    site.where(frame, *place))
        lane, component = np.ogrid[:frame.batch.lanes, :kind.count]
        return base[..., None] + block_io_element(lane, component, frame.batch.lanes) * kind.scalar.size

    return evaluate


def _block_read(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind, result, site = compiler.result_type(row), compiler.result(row), compiler.site(row)
    address_of = _block_address(compiler, row, kind)

    def execute(frame: Frame) -> None:
        address = address_of(frame)
        frame.memory.check_alignment(frame, address[:, :1, 0], READ_ALIGNMENT, site)
        parts = [frame.memory.read_elements(frame, address[..., i], kind.dtype, 1, kind.scalar.size, site)
                 for i in range(kind.count)]
        value = np.concatenate(parts, axis=-1)
        frame.slots[result] = value if kind.scalar is not kind else value[..., 0]

    return execute


def _block_write(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind, data, site = compiler.type_of(row.words[1]), compiler.slot(row.words[1]), compiler.site(row)
    address_of = _block_address(compiler, row, kind)

    def execute(frame: Frame) -> None:
        address = address_of(frame)
        frame.memory.check_alignment(frame, address[:, :1, 0], WRITE_ALIGNMENT, site)
        value = frame.slots[data] if kind.scalar is not kind else frame.slots[data][..., None]
        for i in range(kind.count):
            frame.memory.write_elements(frame, address[..., i], value[..., i:i + 1], kind.scalar.size, site)

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.SubgroupShuffleINTEL: _shuffle(lambda lane, chosen: chosen + 0 * lane),
    Op.SubgroupShuffleXorINTEL: _shuffle(lambda lane, mask: lane ^ mask),
    Op.SubgroupShuffleDownINTEL: _shuffle_relative(lambda lane, delta: lane + delta, 0),
    Op.SubgroupShuffleUpINTEL: _shuffle_relative(lambda lane, delta: lane - delta, -1),
    Op.SubgroupBlockReadINTEL: _block_read,
    Op.SubgroupBlockWriteINTEL: _block_write,
    Op.SubgroupBlockPrefetchINTEL: nothing,
}
