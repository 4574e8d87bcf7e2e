"""The built-in input variables: work-item ids, sizes, sub-group positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import Type
from coopmat.spirv.grammar import BuiltIn
from coopmat.targets.simulator.state import Batch, Frame
from coopmat.targets.simulator.values import Array

Triple = tuple[Array, Array, Array]


def read_input(frame: Frame, builtin: BuiltIn, kind: Type) -> Array:
    """The value of a built-in variable of type ``kind``; computed once per batch."""
    batch, key = frame.batch, (builtin, kind)
    if key not in batch.inputs:
        parts = INPUTS[builtin](batch)
        if kind.scalar is kind:
            parts = parts[:1]
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        value = np.stack([np.broadcast_to(part, shape) for part in parts], axis=-1).astype(kind.dtype)
        batch.inputs[key] = value[..., 0] if kind.scalar is kind else value
    return batch.inputs[key]


def check_input(builtin: BuiltIn | int, kind: Type) -> BuiltIn:
    """The built-in, if the simulator has it with this type."""
    if not isinstance(builtin, BuiltIn) or builtin not in INPUTS:
        name = builtin.name if isinstance(builtin, BuiltIn) else builtin
        raise Error(f"the built-in variable {name} is not supported")
    if kind.count not in (1, 3, MASK_WORDS) or kind.dtype.kind != "i":
        raise Error(f"the built-in variable {builtin.name} cannot have the type {kind}")
    return builtin


def _linear_local_id(batch: Batch) -> Array:
    """Position of each lane in its work-group, ``[S, L]``."""
    index = np.arange(batch.sub_groups_per_group * batch.lanes).reshape(-1, batch.lanes)
    return narrow(np.tile(index, (batch.group_count, 1)))


def narrow(value: Array) -> Array:
    """The same value with axes of length 1 where it does not change along them."""
    if (value == value[:, :1]).all():
        value = value[:, :1]
    if (value == value[:1]).all():
        value = value[:1]
    return value


def _uniform(*numbers: int) -> tuple[Array, ...]:
    return tuple(np.full((1, 1), number, np.int64) for number in numbers)


def _local_id(batch: Batch) -> Triple:
    x, y, _ = batch.geometry.local_size
    linear = _linear_local_id(batch)
    return narrow(linear % x), narrow(linear // x % y), narrow(linear // (x * y))


def _group_id(batch: Batch) -> Triple:
    x, y, _ = batch.geometry.group_counts
    index = batch.first_group + np.arange(batch.sub_groups)[:, None] // batch.sub_groups_per_group
    return narrow(index % x), narrow(index // x % y), narrow(index // (x * y))


def _global_id(batch: Batch) -> Triple:
    geometry = batch.geometry
    x, y, z = (group * size + local + offset for group, size, local, offset in zip(
        _group_id(batch), geometry.local_size, _local_id(batch), geometry.global_offset, strict=True))
    return x, y, z


def _global_linear_id(batch: Batch) -> tuple[Array]:
    """The linear id counts from the global offset (OpenCL C 6.15.1)."""
    x, y, z = (i - o for i, o in zip(_global_id(batch), batch.geometry.global_offset, strict=True))
    width, height, _ = batch.geometry.global_size
    return ((z * height + y) * width + x,)


def _sub_group_size(batch: Batch) -> tuple[Array]:
    """Lanes that exist in each sub-group; the last one of a work-group may have fewer."""
    return (narrow(batch.existing.expanded.sum(axis=1, keepdims=True)),)


def _sub_group_id(batch: Batch) -> tuple[Array]:
    return (narrow(np.arange(batch.sub_groups)[:, None] % batch.sub_groups_per_group),)


MASK_WORDS = 4


def _mask(relation: Callable[[Array, Array], Array]) -> Callable[[Batch], tuple[Array, ...]]:
    """128 bits, the lowest first: those of the lanes that stand in a relation to a lane's own number."""
    def read(batch: Batch) -> tuple[Array, ...]:
        lane = np.arange(batch.lanes)
        bit = np.arange(32 * MASK_WORDS)[:, None]
        chosen = (relation(bit, lane) & (bit < batch.lanes)).reshape(MASK_WORDS, 32, batch.lanes)
        words = (chosen.astype(np.int64) << np.arange(32)[:, None]).sum(axis=1)
        return tuple(words[:, None, :])
    return read


INPUTS: dict[BuiltIn, Callable[[Batch], tuple[Array, ...]]] = {
    BuiltIn.NumWorkgroups: lambda batch: _uniform(*batch.geometry.group_counts),
    BuiltIn.WorkgroupSize: lambda batch: _uniform(*batch.geometry.local_size),
    BuiltIn.EnqueuedWorkgroupSize: lambda batch: _uniform(*batch.geometry.local_size),
    BuiltIn.WorkgroupId: _group_id,
    BuiltIn.LocalInvocationId: _local_id,
    BuiltIn.GlobalInvocationId: _global_id,
    BuiltIn.LocalInvocationIndex: lambda batch: (_linear_local_id(batch),),
    BuiltIn.WorkDim: lambda batch: _uniform(batch.geometry.dimensions),
    BuiltIn.GlobalSize: lambda batch: _uniform(*batch.geometry.global_size),
    BuiltIn.GlobalOffset: lambda batch: _uniform(*batch.geometry.global_offset),
    BuiltIn.GlobalLinearId: _global_linear_id,
    BuiltIn.SubgroupSize: _sub_group_size,
    BuiltIn.SubgroupMaxSize: lambda batch: _uniform(batch.lanes),
    BuiltIn.NumSubgroups: lambda batch: _uniform(batch.sub_groups_per_group),
    BuiltIn.NumEnqueuedSubgroups: lambda batch: _uniform(batch.sub_groups_per_group),
    BuiltIn.SubgroupId: _sub_group_id,
    BuiltIn.SubgroupLocalInvocationId: lambda batch: (np.arange(batch.lanes)[None, :],),
    BuiltIn.SubgroupEqMask: _mask(np.equal),
    BuiltIn.SubgroupGeMask: _mask(np.greater_equal),
    BuiltIn.SubgroupGtMask: _mask(np.greater),
    BuiltIn.SubgroupLeMask: _mask(np.less_equal),
    BuiltIn.SubgroupLtMask: _mask(np.less),
}
