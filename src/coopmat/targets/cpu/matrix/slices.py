"""Matrices in private memory: every work-item's holds its own components, in order, as in the simulator.

That is where variables lie to which pointers lead that are chosen at run time. Whole matrices are loaded and stored
there component by component; a component alone is a number as any other.
"""

from __future__ import annotations

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.matrix.operations import (
    READS,
    WRITES,
    Operation,
    call,
    component_bytes,
    element_type,
    matrix_type,
)
from coopmat.targets.llvm.access import load_number, offset_pointer, store_number
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.places import reserve_stack
from coopmat.targets.llvm.values import Matrix, Number, size_of


def load_slices(emitter: Emitter, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
    """The matrix whose components the work-items have at their pointers."""
    writer, element, memory = emitter.writer, element_type(kind), _memory(emitter, kind)

    def turn(number: str) -> None:
        found = load_number(emitter, _moved(emitter, pointer, kind, number), element, alignment, is_checked=True)
        line = _line(emitter, memory, kind, number)
        writer.do(f"store {emitter.vector(element)} {emitter.lanes(found)}, ptr {line}, align {size_of(element)}")

    writer.count(kind.slice_length, turn)
    operation = Operation("from_memory", kind, (), (), emitter.size)
    return Matrix(kind, call(emitter, operation, [("ptr", memory)], matrix_type(kind), READS))


def store_slices(emitter: Emitter, pointer: Number, matrix: Matrix, alignment: int) -> None:
    """Have every work-item that is here keep its components of a matrix at its pointer."""
    writer, kind = emitter.writer, matrix.kind
    element, memory = element_type(kind), _memory(emitter, kind)
    operation = Operation("to_memory", None, (kind,), (), emitter.size)
    call(emitter, operation, [(matrix_type(kind), matrix.text), ("ptr", memory)], "void", WRITES)

    def turn(number: str) -> None:
        line = _line(emitter, memory, kind, number)
        value = writer.let(f"load {emitter.vector(element)}, ptr {line}, align {size_of(element)}")
        store_number(emitter, _moved(emitter, pointer, kind, number), emitter.varying(element, value), alignment,
                     is_checked=True)

    writer.count(kind.slice_length, turn)


def _memory(emitter: Emitter, kind: MatrixType) -> str:
    """Memory for the components of all work-items on their way: those of one number are neighbours."""
    key = ("slices", kind)
    if key not in emitter.slots:
        reserve_stack(emitter, component_bytes(kind))
        emitter.slots[key] = emitter.writer.slot(f"[{component_bytes(kind)} x i8]", align=64)
    return emitter.slots[key]


def _line(emitter: Emitter, memory: str, kind: MatrixType, number: str) -> str:
    """The address of all work-items' components of one number."""
    return emitter.writer.line(memory, number, emitter.size * kind.component.size)


def _moved(emitter: Emitter, pointer: Number, kind: MatrixType, number: str) -> Number:
    """The addresses of the work-items' components of one number."""
    return offset_pointer(emitter, pointer, Number("i64", number), kind.component.size)
