"""Who writes one element of a result: what corresponds even where instructions do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coopmat.comparison.differences import differs_from
from coopmat.comparison.steps import Launch
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.base.matrix_grid import grid_of
from coopmat.targets.simulator.address_space import BIAS, OFFSET_BITS
from coopmat.targets.simulator.compiler import FunctionCompiler, Instrument
from coopmat.targets.simulator.matrix_groups import acting
from coopmat.targets.simulator.state import Frame, Site, Step
from coopmat.targets.simulator.values import Array

MOST_WRITES = 100_000
"""So many writes that change an element are kept; what comes later is not looked at."""


@dataclass(frozen=True)
class Target:
    """An element of an argument: ``index`` as the array's shape has it, ``offset`` in bytes from its beginning."""

    argument: int
    index: tuple[int, ...]
    offset: int
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Write:
    """An instruction that changed the element, what it left there, and who did it as far as that is known."""

    site: Site
    content: Array  # of bytes
    is_of_matrix: bool
    work_group: tuple[int, ...] | None
    sub_group: int | None
    lane: int | None


def first_write_apart(first: Launch, second: Launch, target: Target) -> tuple[Write | None, Write | None] | None:
    """The first writes to an element that differ on two devices, None for one that does not come; None if all are
    equal, as far as they are kept."""
    one, other = writes_to(first, target), writes_to(second, target)
    for pair in zip(one, other, strict=False):
        values = [write.content.view(target.dtype) for write in pair]
        if differs_from(*values).any():
            return pair
    shared = min(len(one), len(other))
    if len(one) == len(other) or max(len(one), len(other)) == MOST_WRITES:
        return None
    return (one[shared], None) if len(one) > shared else (None, other[shared])


def writes_to(launch: Launch, target: Target) -> list[Write]:
    """The writes that change an element, in the order of the launch."""
    arguments = launch.make_arguments()
    memory = arguments[target.argument].reshape(-1).view(np.uint8)
    element = memory[target.offset:target.offset + target.dtype.itemsize]
    found: list[Write] = []
    launch.run(_watch(memory, target.offset, element, found), arguments)
    return found


def _watch(memory: Array, offset: int, element: Array, found: list[Write]) -> Instrument:
    last = [element.tobytes()]

    def instrument(compiler: FunctionCompiler, row: Instruction, step: Step | None) -> Step | None:
        if step is None or compiler.source is None or row.opcode == Op.FunctionCall:
            return step
        inner, site, who = step, compiler.site(row), _who(compiler, row, memory, offset)

        def execute(frame: Frame) -> None:
            inner(frame)
            content = element.tobytes()
            if content != last[0]:
                last[0] = content
                if len(found) < MOST_WRITES:
                    is_of_matrix = row.opcode in _MATRIX_STORES
                    found.append(Write(site, np.frombuffer(content, np.uint8), is_of_matrix, *who(frame)))

        return execute

    return instrument


_MATRIX_STORES = (Op.CooperativeMatrixStoreKHR, Op.CooperativeMatrixStoreCheckedINTEL)
_NOBODY = None, None, None


def _who(compiler: FunctionCompiler, row: Instruction, memory: Array, offset: int) -> Any:
    """What gives the work-group, sub-group and lane that wrote a byte of a buffer, as far as they are known."""
    if row.opcode == Op.Store and row.words[0] not in compiler.places:
        pointer, size = compiler.slot(row.words[0]), compiler.type_of(row.words[1]).size

        def of_store(frame: Frame) -> Any:
            address = np.broadcast_to(frame.slots[pointer], frame.mask.expanded.shape)
            distance = offset - ((address & (1 << OFFSET_BITS) - 1) - BIAS)
            there = frame.mask.expanded & (distance >= 0) & (distance < size) & _in_buffer(frame, address, memory)
            if not there.any():
                return _NOBODY
            sub_group, lane = (int(axis[-1]) for axis in np.nonzero(there))  # the last one wins
            return *_group(frame, sub_group), lane

        return of_store
    if row.opcode == Op.CooperativeMatrixStoreKHR:
        return _of_matrix_store(compiler, row, memory, offset)
    return lambda frame: _NOBODY


def _of_matrix_store(compiler: FunctionCompiler, row: Instruction, memory: Array, offset: int) -> Any:
    pointer, value, layout, *rest = row.words
    kind = compiler.type_of(value)
    slots = [compiler.slot(word) for word in (pointer, layout, *rest[:1])]
    unit = compiler.types.pointee(compiler.type_of(pointer)).size

    def who(frame: Frame) -> Any:
        assert isinstance(kind, MatrixType)
        values = [np.broadcast_to(frame.slots[slot], frame.mask.expanded.shape)[:, 0] for slot in slots]
        for sub_group in acting(frame, kind)[::-1]:  # the last one wins
            address, order, stride = (int(one[sub_group]) for one in (*values, np.zeros_like(values[0]))[:3])
            grid = grid_of(kind, order, stride * unit)
            start = (address & (1 << OFFSET_BITS) - 1) - BIAS
            if grid is not None and _in_buffer(frame, np.array([address]), memory)[0] and (
                    (grid.offsets + start <= offset) & (offset < grid.offsets + start + grid.dtype.itemsize)).any():
                return *_group(frame, int(sub_group)), None
        return _NOBODY

    return who


def _group(frame: Frame, sub_group: int) -> tuple[tuple[int, ...], int]:
    return frame.batch.work_group(sub_group), sub_group % frame.batch.sub_groups_per_group


def _in_buffer(frame: Frame, address: Array, memory: Array) -> Array:
    """Which addresses lie in the buffer that is this memory."""
    numbers = address >> OFFSET_BITS
    ours = [number for number in np.unique(numbers).tolist()
            if (buffer := frame.memory.buffer_at(number << OFFSET_BITS)) is not None
            and buffer.memory.ctypes.data == memory.ctypes.data]
    return np.isin(numbers, ours)
