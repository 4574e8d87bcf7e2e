"""Launching a kernel: arguments into buffers, work-groups in batches."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coopmat.devices import DeviceDescription
from coopmat.diagnostics import LaunchError, value_text
from coopmat.spirv.analysis.kernels import KernelSignature, Parameter
from coopmat.spirv.analysis.types import PointerType, Type
from coopmat.spirv.grammar import StorageClass
from coopmat.support.unwritten import marks_of
from coopmat.targets.base.geometry import Geometry
from coopmat.targets.base.local_memory import check_local_memory
from coopmat.targets.base.out_of_bounds import argument_name
from coopmat.targets.base.output import Output
from coopmat.targets.simulator import control
from coopmat.targets.simulator.address_space import AddressSpace, BufferRow, Extent, member_offsets
from coopmat.targets.simulator.definedness.instrument import Definedness
from coopmat.targets.simulator.layouts import LayoutWatch
from coopmat.targets.simulator.options import SimulatorOptions
from coopmat.targets.simulator.races import RaceDetector
from coopmat.targets.simulator.races.memory import RaceWatch
from coopmat.targets.simulator.state import Batch, StepCounter
from coopmat.targets.simulator.traffic import Traffic
from coopmat.targets.simulator.values import Array, Value, members_of

MOST_SUB_GROUPS = 4096  # in one batch
MOST_BYTES = 1 << 28  # of local and private memory in one batch
STORAGES = {"global": StorageClass.CrossWorkgroup, "constant": StorageClass.UniformConstant,
            "local": StorageClass.Workgroup}
REMARK = ", which returned -1 (the simulator's option printf_limit allows more)"


@dataclass(frozen=True)
class WatchedMemory:
    """What has to be watched for data races. ``constant``: the positions of the parameters through which the kernel
    only reads; ``has_atomics``: whether atomics or fences may order something."""

    constant: frozenset[int]
    has_atomics: bool


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel ready to run on a device: its compiled function and the module's own buffers."""

    signature: KernelSignature
    function: control.Function
    buffers: tuple[BufferRow, ...]
    types: tuple[Type, ...]  # of the parameters; of a structure passed by value, the structure
    sub_group_size: int
    matrix_bytes: int  # that the matrices of one sub-group take at most
    device: DeviceDescription
    watched: WatchedMemory


@dataclass(frozen=True)
class Argument:
    """An argument in the simulator's form: a buffer that the parameter points to, or a value."""

    row: BufferRow | None
    memory: Array | None = None
    value: Value = None


def launch(kernel: CompiledKernel, geometry: Geometry, arguments: Sequence[Any],
           options: SimulatorOptions, traffic: Traffic | None = None, group_limit: int | None = None) -> None:
    """Run a kernel over all work-groups, or over the first ones. The arrays among the arguments hold the results
    afterwards. ``traffic`` is told of all accesses to memory.

    Raises LaunchError for arguments that do not fit, and a SimulationError for undefined behaviour.
    """
    bound = bind_arguments(kernel, arguments)
    check_local_memory(kernel.signature.name, _local_parts(kernel, bound), kernel.device.device_name,
                       kernel.device.limits.local_memory)
    start = time.monotonic()
    size = _groups_per_batch(kernel, geometry, bound)
    watches = Watches(_race_detector(kernel, geometry, bound, options), traffic, options)
    output = Output(kernel.signature.name, options.printf_limit, REMARK)
    total = geometry.group_total if group_limit is None else min(group_limit, geometry.group_total)
    try:
        for first in range(0, total, size):
            batch = watches.batch(geometry, first, min(size, total - first), StepCounter(options, start), output)
            for row in kernel.buffers:
                batch.memory.add(row)
            values = [_value(batch.memory, argument) for argument in bound]
            if options.uninitialized:
                batch.definedness = _definedness(batch)
            with np.errstate(all="ignore"):
                kernel.function.call(batch, batch.existing, values)
            batch.copies.check_finished()
            batch.arrivals.check_finished()
    finally:
        output.close()
        if watches.races is not None:
            watches.races.end()


@dataclass
class Watches:
    """What is told of the accesses of a launch to memory."""

    races: RaceDetector | None
    traffic: Traffic | None
    options: SimulatorOptions
    warned: set[tuple[str | None, str]] = field(default_factory=set)

    def batch(self, geometry: Geometry, first: int, count: int, counter: StepCounter, output: Output) -> Batch:
        """The ``count`` work-groups from ``first`` on, whose memory is watched."""
        layouts = LayoutWatch(self.warned) if self.options.layouts else None
        watches = [RaceWatch(self.races) if self.races is not None else None, layouts, self.traffic]
        memory = AddressSpace(count * geometry.sub_groups_per_group, geometry.sub_group_size,
                              geometry.sub_groups_per_group, [watch for watch in watches if watch is not None])
        batch = Batch(geometry, first, count, memory, self.options, counter, output)
        batch.races, batch.traffic, batch.layouts, batch.warned = self.races, self.traffic, layouts, self.warned
        for watch in (self.races, self.traffic):
            if watch is not None:
                watch.begin(batch)
        return batch


def _race_detector(kernel: CompiledKernel, geometry: Geometry, arguments: Sequence[Argument],
                   options: SimulatorOptions) -> RaceDetector | None:
    """What watches the memory that a launch may write, if anything does."""
    if not options.races:
        return None
    races = RaceDetector(geometry, options.races, follows_atomics=kernel.watched.has_atomics)
    arrays = [(argument.memory, number not in kernel.watched.constant) for number, argument in enumerate(arguments)
              if argument.row is not None and argument.memory is not None and argument.row.writable]
    arrays += [(row.initial, True) for row in kernel.buffers
               if row.extent is Extent.LAUNCH and row.writable and row.initial is not None]
    races.watch(arrays)
    return races


def _definedness(batch: Batch) -> Definedness:
    """What is not defined of a batch's memory when it begins."""
    known = Definedness(batch.sub_groups, batch.lanes, batch.sub_groups_per_group,
                        "decisions" if batch.options.uninitialized == "decisions" else "stores")
    for row, content in zip(batch.memory.rows, batch.memory.contents, strict=True):
        known.add(row, marks_of(content) if row.extent is Extent.LAUNCH else None)
    return known


def _local_parts(kernel: CompiledKernel, arguments: Sequence[Argument]) -> list[tuple[int, str]]:
    """What a work-group's local memory is for, and how many bytes of it."""
    return [(row.nbytes, row.name) for row in (*kernel.buffers, *(argument.row for argument in arguments))
            if row is not None and row.extent is Extent.GROUP]


def _value(memory: AddressSpace, argument: Argument) -> Value:
    if argument.row is None:
        return argument.value
    return np.full((1, 1), memory.add(argument.row, argument.memory))


def _groups_per_batch(kernel: CompiledKernel, geometry: Geometry, arguments: Sequence[Argument]) -> int:
    """So many work-groups that the batch's memory stays bounded."""
    rows = [*kernel.buffers, *(argument.row for argument in arguments if argument.row is not None)]
    per_group = sum(row.stride for row in rows if row.extent is Extent.GROUP)
    per_lane = sum(row.stride for row in rows if row.extent is Extent.LANE)
    sub_groups = geometry.sub_groups_per_group
    nbytes = per_group + sub_groups * (per_lane * geometry.sub_group_size + kernel.matrix_bytes)
    return max(1, min(MOST_SUB_GROUPS // sub_groups, MOST_BYTES // max(nbytes, 1)))


# --------------------------------------------------------------------------------------
# Arguments
# --------------------------------------------------------------------------------------


def bind_arguments(kernel: CompiledKernel, arguments: Sequence[Any]) -> list[Argument]:
    """Bring the arguments to the simulator's form. Raises LaunchError naming the one that does not fit."""
    parameters = kernel.signature.parameters
    if len(arguments) != len(parameters):
        raise LaunchError(f"kernel '{kernel.signature.name}' takes {len(parameters)} arguments, "
                          f"found {len(arguments)}")
    bound = []
    for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        label = argument_name(index, parameter.name)
        if isinstance(argument, np.ma.MaskedArray):
            raise LaunchError(f"{label}: a masked array cannot be passed, a kernel knows no masks; pass its "
                              "values: array.data, or array.filled(value)")
        if parameter.kind == "local":
            bound.append(_local(label, argument))
        elif parameter.kind == "value":
            bound.append(_by_value(label, kernel.types[index], argument))
        else:
            bound.append(_array(label, parameter, argument))
    return bound


def _array(label: str, parameter: Parameter, argument: Any) -> Argument:
    if argument is None:
        return Argument(None, value=np.zeros((1, 1), np.int64))
    if not isinstance(argument, np.ndarray) or not argument.flags.c_contiguous or argument.dtype.hasobject:
        raise LaunchError(f"{label}: a {parameter.kind} pointer needs a contiguous numpy array, "
                          f"found {type(argument).__name__}")
    memory = np.asarray(argument).reshape(-1).view(np.uint8)  # a subclass may have its own idea of shapes
    writable = argument.flags.writeable and parameter.kind == "global"
    row = BufferRow(label, memory.size, Extent.LAUNCH, STORAGES[parameter.kind], writable)
    return Argument(row, memory)


def _local(label: str, argument: Any) -> Argument:
    size = getattr(argument, "nbytes", None)
    if isinstance(argument, np.ndarray | np.generic) or not isinstance(size, int) or size < 1:
        raise LaunchError(f"{label}: a local pointer needs local memory of a positive size")
    return Argument(BufferRow(label, size, Extent.GROUP, StorageClass.Workgroup))


def _by_value(label: str, kind: Type, argument: Any) -> Argument:
    """A number, vector or structure; the latter as bytes, and in memory if it is passed by a pointer."""
    pointee = kind.pointee if isinstance(kind, ByValue) else kind
    try:
        content = as_bytes(pointee, argument)
    except (TypeError, ValueError, OverflowError) as error:
        raise LaunchError(f"{label}: {value_text(argument)} is no value of type {pointee}") from error
    if content.size != pointee.size:
        raise LaunchError(f"{label}: a value of {pointee.size} bytes is needed, found {content.size} bytes")
    if isinstance(kind, ByValue):
        return Argument(BufferRow(label, pointee.size, Extent.LANE, StorageClass.Function, True, content))
    return Argument(None, value=from_bytes(pointee, content))


@dataclass(frozen=True)
class ByValue(Type):
    """The type of a parameter that is a pointer to the work-item's own copy of the argument."""

    pointee: Type


def as_bytes(kind: Type, argument: Any) -> Array:
    """The bytes of an argument; a Python number is converted to the scalar type."""
    if isinstance(argument, bytes | bytearray):
        return np.frombuffer(bytes(argument), np.uint8)
    if isinstance(argument, np.ndarray | np.generic):
        data = np.ascontiguousarray(argument).reshape(-1)
        if kind.count == 3 and data.size == 3 and members_of(kind) is None:
            data = np.append(data, data[:1])
        return data.view(np.uint8)
    if members_of(kind) is not None or kind.count != 1:
        raise TypeError(f"{kind} needs a numpy array or bytes")
    if kind.dtype.kind == "i":
        return np.frombuffer(int(argument).to_bytes(kind.size, sys.byteorder, signed=argument < 0), np.uint8)
    return np.array([argument], kind.dtype).view(np.uint8)


def from_bytes(kind: Type, content: Array) -> Value:
    """A uniform value from its bytes in memory."""
    members = members_of(kind)
    if members is not None:
        return tuple(from_bytes(member, content[offset:offset + member.size])
                     for member, offset in zip(members, member_offsets(kind), strict=True))
    if isinstance(kind, PointerType):
        raise LaunchError("a pointer inside of a value cannot be set from the host")
    values = content[:kind.count * kind.dtype.itemsize].copy().view(kind.dtype)
    return values.reshape(1, 1) if kind.count == 1 else values.reshape(1, 1, -1)
