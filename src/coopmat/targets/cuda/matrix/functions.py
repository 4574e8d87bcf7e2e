"""Operations on each element of a matrix by a function that only computes: its instructions, for each component."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.matrix_functions import straight_body
from coopmat.targets.llvm.arithmetic.integers import resized
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.values import Matrix, Number, Value, llvm_type

if TYPE_CHECKING:
    from coopmat.targets.cuda.matrix.form import FragmentMatrices


def _per_element(emitter: Emitter, row: Instruction) -> Value:
    """OpCooperativeMatrixPerElementOpEXT."""
    from coopmat.targets.cuda.matrix.form import FragmentMatrices

    kind = emitter.result_type(row)
    assert isinstance(kind, MatrixType)
    form = emitter.matrices
    if not isinstance(form, FragmentMatrices):  # a role that has no matrices
        return (form.fill(kind, "0"),)
    return (_Function(emitter, form, row.words[1]).result(kind, (row.words[0], *row.words[2:])),)


class _Function:
    """Writes what a function computes. Its values have places among the emitter's constants while that is done."""

    def __init__(self, emitter: Emitter, form: FragmentMatrices, function: int) -> None:
        self.emitter, self.form = emitter, form
        self.body = straight_body(emitter.module, function)
        parameters = emitter.module.function(function).parameters
        self.names = [one.result_id or 0 for one in parameters]
        used = {word for row in self.body for word in row.ids()}
        self.needs_place = bool(used & set(self.names[:2]))
        self.integer = llvm_type(emitter.types[parameters[0].type_id or 0])

    def result(self, kind: MatrixType, operands: tuple[int, ...]) -> Matrix:
        """A matrix of what the function returns for the components of the operands; others are numbers."""
        values = [self.emitter.value(one) for one in operands]
        matrices = [one for one, *_ in values if isinstance(one, Matrix)]
        found: list[Number] = []
        for columns in self._in_parts(kind, matrices):
            for numbers in zip(*columns, strict=True):
                components = iter(numbers)
                arguments: list[Value] = [(next(components),) if isinstance(value[0], Matrix) else value
                                          for value in values]
                found.append(self._call(self._place(kind, len(found)) + arguments))
        return self.form.of_components(kind, found)

    def _in_parts(self, kind: MatrixType, matrices: list[Matrix]) -> Iterator[list[list[Number]]]:
        """The components of operands, as those of a type lie."""
        form = self.form
        if all(form.lie_alike(kind, one.kind) for one in matrices):
            yield from form.in_parts(matrices)
            return
        found = []
        for one in matrices:
            numbers = [number for [column] in form.in_parts([one]) for number in column]
            found.append(numbers if form.lie_alike(kind, one.kind) else form.taken_as(kind, one.kind, numbers))
        yield found

    def _place(self, kind: MatrixType, number: int) -> list[Value]:
        """Row and column of a component."""
        if not self.needs_place:
            zero = self.emitter.constant(self.integer, 0)
            return [(zero,), (zero,)]
        place = self.form.coordinates(kind, self.emitter.constant("i32", number))
        return [(resized(self.emitter, one, self.integer, signed=False),) for one in place]

    def _call(self, arguments: list[Value]) -> Number:
        emitter, outer = self.emitter, self.emitter.row
        known = emitter.constants
        known.update(zip(self.names, arguments, strict=True))
        *rows, end = self.body
        for row in rows:
            emitter.row = row
            value = emitter.machine.handlers[row.opcode](emitter, row)
            assert row.result_id is not None
            assert value is not None
            known[row.result_id] = value
        emitter.row = outer
        found = emitter.number(end.words[0])
        for name in (*self.names, *(row.result_id for row in rows)):
            known.pop(name or 0, None)
        return found


OPERATIONS: dict[int, Handler] = {Op.CooperativeMatrixPerElementOpEXT: _per_element}
