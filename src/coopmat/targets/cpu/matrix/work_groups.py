"""Matrices of work-groups: the first sub-group does the operations, on the whole matrix, the others go along.

All sub-groups of a work-group run on one thread, so nothing is lost. A kernel with such matrices has two versions of
its code: the leading one does everything, the following one is the same without the operations on these matrices.
Variables whose components are accessed one by one are private memory, in which each work-item has its own. A matrix
gets there and back by way of the leader's memory, of which it tells the others where it is, and barriers keep everybody
in step. A matrix of a work-group that is just one whole sub-group is one of the sub-group.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coopmat.diagnostics import Error
from coopmat.spirv.analysis.types import MatrixType
from coopmat.spirv.grammar import BuiltIn, Op, Scope
from coopmat.targets.cpu.lanes.inputs import INPUTS
from coopmat.targets.cpu.matrix import operation
from coopmat.targets.cpu.matrix.form import PURE, READS, WRITES, OpaqueMatrices, operand_of
from coopmat.targets.cpu.matrix.operation import Operation
from coopmat.targets.cpu.matrix.types import element_type, matrix_type
from coopmat.targets.llvm.access import offset_pointer
from coopmat.targets.llvm.arithmetic.integers import divide, remainder, resized
from coopmat.targets.llvm.values import Matrix, Number, zero_of
from coopmat.targets.llvm.writer import Operand

_COORDINATES = (Op.CooperativeMatrixGetElementCoordINTEL, Op.CooperativeMatrixGetCoordinateEXT)
_CALL = re.compile(r"(?P<start>\s*(?:%\S+ = )?)call .*? @(?P<name>matrix\.[\w.]+)\(")


def is_shared(kind: MatrixType, sub_group_size: int) -> bool:
    """Whether several sub-groups share a matrix, or a part of one does."""
    return kind.is_of_work_group and kind.work_items != sub_group_size


class GroupMatrices(OpaqueMatrices):
    """The CPU's form of matrices, those of work-groups included.

    has_leader: whether there are operations that only the first sub-group does.
    """

    _idle: dict[str, str] | None = None
    _cell: str | None = None

    @property
    def has_leader(self) -> bool:
        return bool(self._idle)

    def following(self, line: str) -> str:
        """A line of code as the sub-groups other than the first have it; empty where they do nothing."""
        found = _CALL.match(line)
        if found is None or self._idle is None or found["name"] not in self._idle:
            return line
        idle = self._idle[found["name"]]
        return f"{found['start']}{idle}" if idle else ""

    def _is_shared(self, kind: MatrixType) -> bool:
        return is_shared(kind, self._size)

    def _call(self, operation: Operation, operands: Sequence[Operand], attributes: str) -> str:
        if any(map(self._is_shared, operation.kinds)):
            self._lead(operation)
        return super()._call(operation, operands, attributes)

    def _lead(self, done: Operation) -> None:
        """Let only the first sub-group do an operation; for the others its matrix is one of zeros."""
        if self._idle is None:
            self._idle = {}
        name = self._name(done)
        if name not in self._idle:
            self._idle[name] = "" if done.result is None else self._zeros(done.result)

    def _zeros(self, kind: MatrixType) -> str:
        """The call that makes a matrix of zeros."""
        fill, element = self._name(operation.Fill(result=kind, sub_group_size=self._size)), element_type(kind)
        self._writer.declarations.setdefault(fill, f"declare {matrix_type(kind)} @{fill}({element}) {PURE}")
        return f"call {matrix_type(kind)} @{fill}({element} {zero_of(element)})"

    # --- components -----------------------------------------------------------------------------------------------

    def extract(self, matrix: Matrix, index: Number) -> Number:
        """A component of every work-item."""
        if not self._is_shared(matrix.kind):
            return super().extract(matrix, index)
        found = self._read(matrix.kind, self._shown(matrix), index)
        self._lanes.barrier(Scope.Workgroup)
        return found

    def insert(self, matrix: Matrix, index: Number, number: Number) -> Matrix:
        """The matrix with a component of every work-item that is here replaced."""
        kind = matrix.kind
        if not self._is_shared(kind):
            return super().insert(matrix, index, number)
        self._write(kind, self._shown(matrix), index, number)
        return self._taken(kind)

    def coordinates(self, kind: MatrixType, index: Number) -> tuple[Number, Number]:
        """Row and column: elements are dealt out to the work-items in turn."""
        if not self._is_shared(kind):
            return super().coordinates(kind, index)
        emitter = self._emitter
        number = resized(emitter, self._number_of(kind, resized(emitter, index, "i64", signed=False)), "i32",
                         signed=False)
        columns = emitter.constant("i32", kind.columns)
        return divide(False)(emitter, number, columns), remainder(False)(emitter, number, columns)

    def load_private(self, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
        """The matrix whose components the work-items have at their pointers."""
        if not self._is_shared(kind):
            return super().load_private(pointer, kind, alignment)
        if self._is_for_coordinates():
            return self.fill(kind, zero_of(element_type(kind)))
        memory, emitter = self._published(kind), self._emitter

        def turn(number: str) -> None:
            found = emitter.execution.load(self._own(pointer, kind, number), element_type(kind), alignment)
            self._write(kind, memory, Number("i64", number), found)

        self._writer.count(kind.slice_length, turn)
        return self._taken(kind)

    def _is_for_coordinates(self) -> bool:
        """Whether only the type counts of what an instruction loads: a work-item may ask for coordinates by itself."""
        row = self._emitter.row
        users = [] if row is None else self._emitter.uses.users.get(row.result_id or 0, [])
        return bool(users) and all(user.opcode in _COORDINATES for user in users)

    def store_private(self, pointer: Number, matrix: Matrix, alignment: int) -> None:
        """Have every work-item that is here keep its components of a matrix at its pointer."""
        kind, emitter = matrix.kind, self._emitter
        if not self._is_shared(kind):
            super().store_private(pointer, matrix, alignment)
            return
        memory = self._shown(matrix)

        def turn(number: str) -> None:
            value = self._read(kind, memory, Number("i64", number))
            emitter.execution.store(self._own(pointer, kind, number), value, alignment)

        self._writer.count(kind.slice_length, turn)
        self._lanes.barrier(Scope.Workgroup)

    # --- what the sub-groups share --------------------------------------------------------------------------------

    def _shown(self, matrix: Matrix) -> str:
        """The address of memory in which all work-items find the components of a matrix. After their last use all must
        wait for each other."""
        to_memory = operation.ToMemory(operands=(matrix.kind,), sub_group_size=self._size)
        self._call(to_memory, [operand_of(matrix), ("ptr", self._components(matrix.kind))], WRITES)
        return self._published(matrix.kind)

    def _published(self, kind: MatrixType) -> str:
        """The address of the first sub-group's memory for components."""
        if self._emitter.block in self._lanes.layout.partial:
            raise Error("a matrix that a work-group shares is taken from a variable or stored in one, or a component "
                        "of its value is, where only some of its work-items may come to; all must: put it where all "
                        "are")
        if self._cell is None:
            self._cell = self._lanes.frame.local(8)
        publish = operation.Publish(sub_group_size=self._size)
        self._lead(publish)
        self._call(publish, [("ptr", self._components(kind)), ("ptr", self._cell)], WRITES)
        self._lanes.barrier(Scope.Workgroup)
        return self._writer.let(f"load ptr, ptr {self._cell}, align 8")

    def _taken(self, kind: MatrixType) -> Matrix:
        """The matrix whose components all work-items have written."""
        self._lanes.barrier(Scope.Workgroup)
        from_memory = operation.FromMemory(result=kind, sub_group_size=self._size)
        return Matrix(kind, self._call(from_memory, [("ptr", self._components(kind))], READS))

    def _read(self, kind: MatrixType, memory: str, index: Number) -> Number:
        """A component of every work-item that is here."""
        llvm = element_type(kind)
        return self._emitter.execution.load(self._place(kind, memory, index), llvm, kind.component.size)

    def _write(self, kind: MatrixType, memory: str, index: Number, number: Number) -> None:
        """Replace a component of every work-item that is here."""
        self._emitter.execution.store(self._place(kind, memory, index), number, kind.component.size)

    def _place(self, kind: MatrixType, memory: str, index: Number) -> Number:
        """The address of a component of every work-item; past the last one is the last one."""
        emitter = self._emitter
        wide = resized(emitter, index, "i64", signed=False)
        known = emitter.intrinsic("umin", "i64", wide, emitter.constant("i64", kind.slice_length - 1))
        return offset_pointer(emitter, Number("ptr", memory), self._number_of(kind, known), kind.component.size)

    def _number_of(self, kind: MatrixType, index: Number) -> Number:
        """The number of the element that a component of every work-item is, an i64."""
        emitter = self._emitter
        item, = INPUTS[BuiltIn.LocalInvocationIndex](self._lanes)
        first = emitter.apply("mul {t} {0}, {1}", "i64", index, emitter.constant("i64", kind.work_items))
        if first.is_single:
            return Number("i64", self._writer.let(f"add i64 {first.base}, {item.base}"), item.stride)
        return emitter.apply("add {t} {0}, {1}", "i64", first, item)
