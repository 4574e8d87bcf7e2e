"""Handlers for instructions that do the same with every component of their operands."""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.arithmetic.floats import from_bf16, through_float
from coopmat.targets.llvm.arithmetic.integers import Function, each, is_bf16
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Value


def on_numbers(function: Function, *, count: int | None = None) -> Handler:
    """A handler for the components of operands; scalars go with every component. ``count``: so many of the words are
    operands."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        return each(emitter, function, [emitter.numbers(word) for word in row.words[:count]])

    return handle


def on_floats(function: Function) -> Handler:
    """A handler for operands and a result of one floating-point type."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        narrow = is_bf16(emitter.result_type(row).scalar)
        return each(emitter, through_float(function, narrow), [emitter.numbers(word) for word in row.words])

    return handle


def on_float_operands(function: Function) -> Handler:
    """A handler for tests of floating-point numbers, bf16 among them."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        operands = []
        for word in row.words:
            numbers = emitter.numbers(word)
            if is_bf16(emitter.type_of(word).scalar):
                numbers = tuple(from_bf16(emitter, one) for one in numbers)
            operands.append(numbers)
        return each(emitter, function, operands)

    return handle


def on_matrices(name: str, of_numbers: Handler | None = None) -> Handler:
    """A handler for the arithmetic of that name on numbers and, element by element, on matrices. ``of_numbers``: what
    handles numbers, if the components need more than the arithmetic."""
    otherwise = of_numbers if of_numbers is not None else on_numbers(ELEMENTWISE[name])

    def handle(emitter: Emitter, row: Instruction) -> Value | None:
        kind = emitter.result_type(row)
        if isinstance(kind, MatrixType):
            return (emitter.matrices.elementwise(kind, name, [emitter.matrix(word) for word in row.words]),)
        return otherwise(emitter, row)

    return handle
