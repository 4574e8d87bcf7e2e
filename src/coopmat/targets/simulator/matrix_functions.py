"""Functions that matrix instructions run for elements: reductions, and operations on each element.

SPV_EXT_cooperative_matrix_maintenance1 and SPV_NV_cooperative_matrix2. Both leave the order of the calls open: a
reduction folds by halves here (:mod:`coopmat.numerics.folding`), and each work-item's components come in order.
"""

from __future__ import annotations

import numpy as np

from coopmat.diagnostics import ValidationError
from coopmat.numerics.folding import fold
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import CooperativeMatrixReduce, Op
from coopmat.spirv.module import Instruction
from coopmat.targets.simulator.compiler import FunctionCompiler, Handler
from coopmat.targets.simulator.control import Function
from coopmat.targets.simulator.definedness.marks import NOTHING, Mark, set_mark
from coopmat.targets.simulator.matrix import matrix_type
from coopmat.targets.simulator.matrix_groups import count, dealt, held, in_layout, per_group, require_group, whole
from coopmat.targets.simulator.state import Frame, Step
from coopmat.targets.simulator.values import Array, from_slices, slices_of


def _callee(compiler: FunctionCompiler, row: Instruction, word: int, parameters: int) -> Function:
    """The function that an instruction runs, which must have so many parameters."""
    found = len(compiler.module.function(word).parameters)
    if found != parameters:
        raise ValidationError("call-arguments", f"{row.name} runs a function of {found} parameters; "
                              f"{parameters} are needed", row.offset)
    return compiler.kernel.function(word)


# --------------------------------------------------------------------------------------
# Reductions
# --------------------------------------------------------------------------------------


def _reduce(compiler: FunctionCompiler, row: Instruction) -> Step:
    matrix, axes, function = row.words
    given, kind = matrix_type(compiler.type_of(matrix), row), matrix_type(compiler.result_type(row), row)
    callee = _callee(compiler, row, function, 2)
    site, slot, result = compiler.site(row), compiler.slot(matrix), compiler.result(row)

    def execute(frame: Frame) -> None:
        require_group(frame, site, given)
        number = count(frame, given)

        def combine(low: Array, high: Array) -> Array:
            """Pairs ``[n, …, matrices]``."""
            pairs = [side.reshape(-1, number).T for side in (low, high)]
            return _combined(frame, callee, given, *pairs).T.reshape(low.shape)

        matrices = whole(frame, given, frame.slots[slot])
        value = np.moveaxis(np.broadcast_to(matrices, (number, given.rows, given.columns)), 0, -1)
        if axes == CooperativeMatrixReduce._2x2:
            squares = value.reshape(kind.rows, 2, kind.columns, 2, number)
            reduced = fold(combine, fold(combine, squares, 1), 3)[:, 0, :, 0]
        else:
            reduced = fold(combine, value, 0) if axes & CooperativeMatrixReduce.Column else value
            reduced = fold(combine, reduced, 1) if axes & CooperativeMatrixReduce.Row else reduced
        found = np.broadcast_to(np.moveaxis(reduced, -1, 0), (number, kind.rows, kind.columns))
        frame.slots[result] = dealt(frame, kind, found)

    return execute


def _combined(frame: Frame, callee: Function, kind: MatrixType, low: Array, high: Array) -> Array:
    """What a function makes of pairs ``[matrices, n]``, as many at a time as a sub-group has work-items; of a
    work-group's the first sub-group counts, and the others do the same."""
    lanes, per, parts = frame.batch.lanes, per_group(frame, kind), []
    low, high = (np.repeat(side, per, axis=0) for side in (low, high))
    at_once = min(lanes, kind.work_items)
    for first in range(0, low.shape[1], at_once):
        sides = [side[:, first:first + at_once] for side in (low, high)]
        there = sides[0].shape[1]
        mask = frame.mask if there == lanes else frame.mask.select(np.arange(lanes)[None] < there)
        found = callee.call(frame.batch, mask, [np.pad(side, ((0, 0), (0, lanes - there)), "edge") for side in sides])
        parts.append(np.broadcast_to(found, (len(low), lanes))[::per, :there])
    return np.concatenate(parts, axis=1)


# --------------------------------------------------------------------------------------
# Each element
# --------------------------------------------------------------------------------------


def _apply(compiler: FunctionCompiler, row: Instruction) -> Step:
    matrix, function, *others = row.words
    kind = matrix_type(compiler.type_of(matrix), row)
    callee = _callee(compiler, row, function, 3 + len(others))
    site, result = compiler.site(row), compiler.result(row)
    operands = [(compiler.slot(word), compiler.type_of(word)) for word in (matrix, *others)]

    def execute(frame: Frame) -> None:
        require_group(frame, site, kind)
        rows, columns, valid = held(frame, kind)
        values = [slices_of(kind, in_layout(frame, kind, type_, frame.slots[slot]))
                  if isinstance(type_, MatrixType) else frame.slots[slot] for slot, type_ in operands]
        marks = {number: mark._replace(value=slices_of(kind, in_layout(frame, kind, type_, mark.value))
                                       if isinstance(type_, MatrixType) else mark.value)
                 for number, (slot, type_) in enumerate(operands) if (mark := frame.undefined.get(slot)) is not None}
        found, found_marks = [], []
        for component in range(kind.slice_length):
            here = valid[..., component]
            place = [one[..., component].astype(np.int32) for one in (rows, columns)]
            arguments = [value[..., component] if isinstance(type_, MatrixType) else value
                         for value, (_, type_) in zip(values, operands, strict=True)]
            mask = frame.mask if here.all() else frame.mask.select(here)
            given = {2 + number: mark._replace(value=mark.value[..., component])
                     if isinstance(operands[number][1], MatrixType) else mark for number, mark in marks.items()}
            value, mark = callee.call_marked(frame.batch, mask, [*place, *arguments], given)
            found.append(value)
            found_marks.append(mark)
        frame.slots[result] = _of_components(frame, kind, found)
        _set_marks(frame, result, kind, found_marks)

    return execute


def _of_components(frame: Frame, kind: MatrixType, found: list[Array]) -> Array:
    """The value whose work-items have these components."""
    shape = (frame.batch.sub_groups, frame.batch.lanes)
    return from_slices(kind, np.stack([np.broadcast_to(value, shape) for value in found], axis=-1))


def _set_marks(frame: Frame, slot: int, kind: MatrixType, found: list[Mark | None]) -> None:
    """What is undefined of a matrix, by the components of its work-items."""
    marks = [mark for mark in found if mark is not None]
    if marks or slot in frame.undefined:
        nothing = np.zeros((1, 1), kind.dtype)
        value = _of_components(frame, kind, [nothing if mark is None else mark.value for mark in found])
        set_mark(frame, slot, kind, value, marks[0].origin if marks else NOTHING)


OPERATIONS: dict[int, Handler] = {
    Op.CooperativeMatrixReduceEXT: _reduce,
    Op.CooperativeMatrixPerElementOpEXT: _apply,
}
