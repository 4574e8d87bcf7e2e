"""Variables, loads, stores, access chains, copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.diagnostics import OutOfBounds, UndefinedBehavior, ValidationError
from coopmat.spirv.analysis.types import ArrayType, StructType, Type, round_up
from coopmat.spirv.grammar import CHAINS, MemorySemantics, Op, StorageClass
from coopmat.spirv.module import Instruction
from coopmat.targets.base.out_of_bounds import index_outside
from coopmat.targets.simulator.address_space import member_offsets
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.composites import nothing
from coopmat.targets.simulator.convergence import first_active
from coopmat.targets.simulator.registers import Index, path_type
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, scalar, unsigned

MEMORIES = {StorageClass.Workgroup: int(MemorySemantics.WorkgroupMemory),
            StorageClass.CrossWorkgroup: int(MemorySemantics.CrossWorkgroupMemory)}
"""Storage class → the bit of the memory semantics that stands for it."""


def _variable(compiler: FunctionCompiler, row: Instruction) -> Step | None:
    return compiler.variable(row)


def _load(compiler: FunctionCompiler, row: Instruction) -> Step:
    pointer, *operands = row.words
    read, result = compiler.reader(pointer, row, compiler.alignment(operands)), compiler.result(row)

    def execute(frame: Frame) -> None:
        frame.slots[result] = read(frame)

    return execute


def _store(compiler: FunctionCompiler, row: Instruction) -> Step:
    pointer, value, *operands = row.words
    write, slot = compiler.writer(pointer, row, compiler.alignment(operands)), compiler.slot(value)
    return lambda frame: write(frame, frame.slots[slot])


def _copy_memory(compiler: FunctionCompiler, row: Instruction) -> Step:
    target, source, *operands = row.words
    alignment = compiler.alignment(operands)
    read, write = compiler.reader(source, row, alignment), compiler.writer(target, row, alignment)
    return lambda frame: write(frame, read(frame))


def _copy_memory_sized(compiler: FunctionCompiler, row: Instruction) -> Step:
    target, source, size = map(compiler.slot, row.words[:3])
    site = compiler.site(row)

    def execute(frame: Frame) -> None:
        slots, mask = frame.slots, frame.mask
        sizes = np.unique(unsigned(mask.active(slots[size]))).tolist()
        for number in sizes:
            frame.mask = mask if len(sizes) == 1 else mask.select(unsigned(slots[size]) == number)
            frame.memory.copy(frame, slots[target], slots[source], number, site)
        frame.mask = mask

    return execute


def _size_of(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpSizeOf: the bytes of what a pointer points to."""
    size = compiler.types.pointee(compiler.type_of(row.words[0])).size
    value, result = scalar(size, compiler.result_type(row)), compiler.result(row)

    def execute(frame: Frame) -> None:
        frame.slots[result] = value

    return execute


def _memory_semantics(compiler: FunctionCompiler, row: Instruction) -> Step:
    """OpGenericPtrMemSemantics: which memory a generic pointer points to."""
    dtype, pointer, result = compiler.result_type(row).dtype, compiler.slot(row.words[0]), compiler.result(row)

    def execute(frame: Frame) -> None:
        storage = frame.memory.storage_of(frame.slots[pointer])
        frame.slots[result] = np.select([storage == where for where in MEMORIES], list(MEMORIES.values())).astype(dtype)

    return execute


# --------------------------------------------------------------------------------------
# Access chains
# --------------------------------------------------------------------------------------


def element_stride(kind: Type) -> int:
    """Bytes from one element of type ``kind`` to the next."""
    return round_up(kind.size, kind.alignment)


def _chain(compiler: FunctionCompiler, row: Instruction) -> Step | None:
    if compiler.extend(row):
        return None
    first = CHAINS[Op(row.opcode)]
    kind = compiler.types.pointee(compiler.type_of(row.words[0]))
    offset, scaled = 0, []
    limits: list[tuple[int, int]] = []
    is_final = compiler.is_only_accessed(row)
    is_whole = compiler.module.definition(row.words[0]).opcode == Op.Variable
    if first == 2:
        scaled.append((row.words[1], element_stride(kind)))
    for place, word in enumerate(row.words[first:]):
        step, stride = _index_step(compiler, kind, word, row)
        inside = place > 0 or not is_whole  # behind a variable itself there is nothing: its bounds are checked
        if is_final and inside and isinstance(kind, ArrayType) and kind.length and compiler.constant(word) is None:
            limits.append((compiler.slot(word), kind.length))
        kind = path_type(kind, [Index(compiler.constant(word))])
        offset += step
        if stride:
            scaled.append((word, stride))
    step_to = _address_step(compiler, row, offset, scaled)
    return step_to if not limits else _limited(compiler, row, limits, step_to)


def _limited(compiler: FunctionCompiler, row: Instruction, limits: Sequence[tuple[int, int]], step: Step) -> Step:
    """The step, after a check that each index lies in its array: what lies behind may be another member."""
    site, base = compiler.site(row), compiler.slot(row.words[0])

    def execute(frame: Frame) -> None:
        for slot, length in limits if frame.batch.options.bounds else ():
            index: Array = frame.slots[slot]
            if index.min() >= 0 and index.max() < length:
                continue
            place = first_active(frame, (index < 0) | (index >= length))
            if place is not None:
                element, address = (int(np.broadcast_to(frame.slots[one], frame.mask.expanded.shape)[place])
                                    for one in (slot, base))
                buffer = frame.memory.buffer_at(address)
                raise OutOfBounds(index_outside(element, length),
                                  site.where(frame, *place, None if buffer is None else buffer.row.name, element))
        step(frame)

    return execute


def _index_step(compiler: FunctionCompiler, kind: Type, word: int, row: Instruction) -> tuple[int, int]:
    """A constant byte offset, or bytes per unit of the index."""
    if isinstance(kind, StructType):
        index = compiler.constant(word)
        if index is None or not 0 <= index < len(kind.members):
            raise ValidationError("access-chain-index", f"the index into a {kind} must be a constant below "
                                  f"{len(kind.members)}", row.offset)
        return member_offsets(kind)[index], 0
    return 0, kind.stride if isinstance(kind, ArrayType) else kind.scalar.size


def _address_step(compiler: FunctionCompiler, row: Instruction, offset: int,
                  scaled: Sequence[tuple[int, int]]) -> Step:
    """result = base + offset + sum of index * stride, in bytes."""
    base, result = compiler.slot(row.words[0]), compiler.result(row)
    terms = [(compiler.slot(word), stride) for word, stride in scaled]

    def execute(frame: Frame) -> None:
        slots = frame.slots
        slots[result] = frame.memory.displaced(frame, slots[base], [(slots[slot], stride) for slot, stride in terms],
                                               offset)

    return execute


def _assume(compiler: FunctionCompiler, row: Instruction) -> Step:
    condition, site = compiler.slot(row.words[0]), compiler.site(row)

    def execute(frame: Frame) -> None:
        place = first_active(frame, ~frame.slots[condition])
        if place is not None and frame.batch.options.undefined:
            raise UndefinedBehavior("an assumption of the kernel is false", site.where(frame, *place))

    return execute


OPERATIONS: dict[int, Handler] = {
    Op.Variable: _variable,
    Op.Load: _load,
    Op.Store: _store,
    Op.CopyMemory: _copy_memory,
    Op.CopyMemorySized: _copy_memory_sized,
    Op.SizeOf: _size_of,
    Op.GenericPtrMemSemantics: _memory_semantics,
    Op.AccessChain: _chain,
    Op.InBoundsAccessChain: _chain,
    Op.PtrAccessChain: _chain,
    Op.InBoundsPtrAccessChain: _chain,
    Op.LifetimeStart: nothing,
    Op.LifetimeStop: nothing,
    Op.AssumeTrueKHR: _assume,
}
