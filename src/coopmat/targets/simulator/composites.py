"""Composites: making them, taking them apart, shuffling vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coopmat.diagnostics import ValidationError
from coopmat.spirv.analysis.types import MatrixType, Type
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.arithmetic import elementwise
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler, compose, replicate
from coopmat.targets.simulator.matrix_groups import agreed_value, require_components
from coopmat.targets.simulator.registers import Index, path_type, put_component, take_component
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, Value, from_slices, members_of, slices_of, zero

NO_COMPONENT = 0xFFFFFFFF


def _construct(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind = compiler.result_type(row)
    step = compiler.compute(row, lambda *parts: compose(kind, parts), *row.words)
    if not isinstance(kind, MatrixType):
        return step
    site, fill = compiler.site(row), compiler.slot(row.words[0])

    def execute(frame: Frame) -> None:
        agreed_value(frame, kind, frame.slots[fill], site, "component")
        step(frame)

    return execute


def _replicate(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind = compiler.result_type(row)
    return compiler.compute(row, lambda part: replicate(kind, part), row.words[0])


def extract(kind: Type, value: Value, path: Sequence[int]) -> Value:
    """The part of a composite that constant indices lead to; of a matrix, the lane's own component."""
    for index in path:
        members = members_of(kind)
        if members is None:
            return (slices_of(kind, value) if isinstance(kind, MatrixType) else value)[..., index]
        kind, value = members[index], value[index]
    return value


def insert(kind: Type, value: Value, path: Sequence[int], part: Value) -> Value:
    """The composite with one part replaced."""
    if not path:
        return part
    index, *rest = path
    members = members_of(kind)
    if members is not None:
        return (*value[:index], insert(members[index], value[index], rest, part), *value[index + 1:])
    where = np.full((1, 1), index)
    if isinstance(kind, MatrixType):
        return from_slices(kind, put_component(slices_of(kind, value), where, part))
    return put_component(value, where, part)


def _extract(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind, path = compiler.type_of(row.words[0]), row.words[1:]
    path_type(kind, [Index(index) for index in path])
    step = compiler.apply(row, lambda value: extract(kind, value, path), row.words[0])
    return _of_components(compiler, row, kind, path, step)


def _insert(compiler: FunctionCompiler, row: Instruction) -> Step:
    kind, path = compiler.result_type(row), row.words[2:]
    path_type(kind, [Index(index) for index in path])
    step = compiler.apply(row, lambda part, value: insert(kind, value, path, part), *row.words[:2])
    return _of_components(compiler, row, kind, path, step)


def _of_components(compiler: FunctionCompiler, row: Instruction, kind: Type, path: Sequence[int], step: Step) -> Step:
    """The step, which a whole work-group takes where the path leads to a component of its matrix."""
    holder = path_type(kind, [Index(index) for index in path[:-1]])
    if not path or not isinstance(holder, MatrixType):
        return step
    site, matrix = compiler.site(row), holder

    def execute(frame: Frame) -> None:
        require_components(frame, site, matrix)
        step(frame)

    return execute


def _shuffle(compiler: FunctionCompiler, row: Instruction) -> Step:
    first, second, *literals = row.words
    count = compiler.type_of(first).count + compiler.type_of(second).count
    if any(literal >= count and literal != NO_COMPONENT for literal in literals):
        raise ValidationError("vector-shuffle", f"a component of OpVectorShuffle is not below {count}", row.offset)
    chosen = [0 if literal == NO_COMPONENT else literal for literal in literals]

    def shuffle(a: Array, b: Array) -> Array:
        return compose(joined, (a, b))[..., chosen]

    joined = compiler.result_type(row)
    return compiler.compute(row, shuffle, first, second)


def _index_checked(index: Array, count: int) -> Array:
    """A component index; one out of range, which is undefined, is brought into it."""
    return np.clip(index, 0, count - 1)


def _extract_dynamic(compiler: FunctionCompiler, row: Instruction) -> Step:
    count = compiler.type_of(row.words[0]).count
    return compiler.compute(
        row, lambda vector, index: take_component(vector, _index_checked(index, count)), *row.words)


def _insert_dynamic(compiler: FunctionCompiler, row: Instruction) -> Step:
    return compiler.compute(row, lambda vector, part, index: put_component(vector, index, part), *row.words)


def _undefined(compiler: FunctionCompiler, row: Instruction) -> Step:
    value, result = zero(compiler.result_type(row)), compiler.result(row)

    def execute(frame: Frame) -> None:
        frame.slots[result] = value

    return execute


def nothing(compiler: FunctionCompiler, row: Instruction) -> None:
    """A handler for instructions without an effect in the simulator."""


def _copy(compiler: FunctionCompiler, row: Instruction) -> Step | None:
    place = compiler.place(row.words[0])
    if place is not None and row.result_id is not None:
        compiler.places[row.result_id] = place
        return None
    return compiler.apply(row, lambda value: value, row.words[0])


OPERATIONS: dict[int, Handler] = {
    Op.Nop: nothing,
    Op.Phi: nothing,  # done on the edge that leads to it: see control.Edge
    Op.SelectionMerge: nothing,
    Op.LoopMerge: nothing,
    Op.LoopControlINTEL: nothing,
    Op.ExpectKHR: elementwise(lambda value, expected: value),
    Op.Undef: _undefined,
    Op.PoisonKHR: _undefined,
    Op.FreezeKHR: _copy,
    Op.ArithmeticFenceEXT: _copy,
    Op.CopyObject: _copy,
    Op.CopyLogical: _copy,
    Op.CompositeConstruct: _construct,
    Op.CompositeConstructReplicateEXT: _replicate,
    Op.CompositeExtract: _extract,
    Op.CompositeInsert: _insert,
    Op.VectorShuffle: _shuffle,
    Op.VectorExtractDynamic: _extract_dynamic,
    Op.VectorInsertDynamic: _insert_dynamic,
}
