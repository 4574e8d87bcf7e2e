"""Cooperative matrices in a kernel's IR, before it is known how the hardware does them.

A matrix has LLVM's opaque type for cooperative matrices, and every operation on it is a call of a function without a
body. LLVM can so unroll loops over arrays of matrices, and keep matrices out of memory, before :mod:`.lowering` gives
type and operations the form that the hardware needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coopmat.formats import Rounding, format_of
from coopmat.spirv.analysis.types import MatrixType, PointerType
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import Op
from coopmat.targets.cpu.host.frame import Field
from coopmat.targets.cpu.lanes.masks import Variant
from coopmat.targets.cpu.lanes.vector import VectorLanes
from coopmat.targets.cpu.matrix import amx, operation
from coopmat.targets.cpu.matrix.operation import Formats, Operation
from coopmat.targets.cpu.matrix.reuse import KeptTiles, is_kept
from coopmat.targets.cpu.matrix.types import component_bytes, element_type, matrix_type, slot_type
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.cpu.prefetch import prefetch
from coopmat.targets.llvm.access import offset_pointer
from coopmat.targets.llvm.arithmetic.integers import divide, remainder
from coopmat.targets.llvm.emitter import Emitter, uniform_text
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.values import Matrix, Number, size_of, zero_of
from coopmat.targets.llvm.writer import Operand

PURE = "nounwind willreturn memory(none)"
READS = "nounwind willreturn memory(read)"
WRITES = "nounwind willreturn"


class OpaqueMatrices:
    """The CPU's form of matrices; see :class:`~coopmat.targets.llvm.matrices.MatrixForm`.

    operations: by the names of the functions that stand for them. kept: tiles that loads may take again. read: the
    parameters to whose memory functions of elements take nobody to write.
    """

    def __init__(self, emitter: Emitter, lanes: VectorLanes, variant: Variant) -> None:
        self.operations: dict[str, Operation] = {}
        self.kept = KeptTiles(emitter, lanes.frame)
        self.read: set[int] = set()
        self._emitter = emitter
        self._lanes = lanes
        self._writer = emitter.writer
        self._size = emitter.sub_group_size
        self._variant = variant
        self._names: dict[Operation, str] = {}
        self._slots: dict[Any, str] = {}

    def type(self, kind: MatrixType) -> str:
        """LLVM's type of a matrix until it gets the form that the hardware needs."""
        return matrix_type(kind)

    def _call(self, operation: Operation, operands: Sequence[Operand], attributes: str) -> str:
        """A call of the function that stands for an operation."""
        return self._writer.call(operation.returned, self._name(operation), operands, attributes)

    def _name(self, operation: Operation) -> str:
        """The function that stands for an operation."""
        if operation not in self._names:
            name = self._names[operation] = f"matrix.{operation.name}.{len(self._names)}"
            self.operations[name] = operation
        return self._names[operation]

    def _pure(self, operation: Operation, operands: Sequence[Matrix], others: Sequence[Operand] = ()) -> Matrix:
        """The matrix that an operation without other effects gives."""
        assert operation.result is not None
        return Matrix(operation.result, self._call(operation, [*map(operand_of, operands), *others], PURE))

    # --- places -----------------------------------------------------------------------

    def load_slot(self, key: Any, kind: MatrixType) -> Matrix:
        """What a slot holds."""
        return Matrix(kind, self._writer.let(f"load {matrix_type(kind)}, ptr {self._slot(key, kind)}"))

    def store_slot(self, key: Any, matrix: Matrix) -> None:
        """Keep a matrix."""
        self._writer.do(f"store {matrix_type(matrix.kind)} {matrix.text}, ptr {self._slot(key, matrix.kind)}")

    def _slot(self, key: Any, kind: MatrixType) -> str:
        """A stack slot; it holds zeros at the start."""
        if key not in self._slots:
            self._slots[key] = slot = self._writer.slot(slot_type(kind), align=64)
            with self._writer.in_entry():
                zero = self.fill(kind, zero_of(element_type(kind)))
                self._writer.do(f"store {matrix_type(kind)} {zero.text}, ptr {slot}")
        return self._slots[key]

    def load_element(self, key: Any, count: int, kind: MatrixType, index: Number) -> Matrix:
        """A matrix of an array in slots."""
        address = self._element(key, count, kind, index)
        return Matrix(kind, self._writer.let(f"load {matrix_type(kind)}, ptr {address}"))

    def store_element(self, key: Any, count: int, matrix: Matrix, index: Number) -> None:
        """Replace a matrix of an array in slots."""
        address = self._element(key, count, matrix.kind, index)
        self._writer.do(f"store {matrix_type(matrix.kind)} {matrix.text}, ptr {address}")

    def _element(self, key: Any, count: int, kind: MatrixType, index: Number) -> str:
        """The address of a matrix in an array: all work-items need the same."""
        if key not in self._slots:
            self._lanes.frame.reserve_stack(count * kind.rows * kind.columns * kind.component.size)
            self._slots[key] = self._writer.slot(f"[{count} x {slot_type(kind)}]", align=64)
        text = uniform_text(self._emitter, index)
        return self._writer.let(f"getelementptr {slot_type(kind)}, ptr {self._slots[key]}, i64 {text}")

    # --- private memory: every work-item has its own components, as in the simulator; whole matrices go there component
    # by component, and a component alone is a number as any other -------------------------------------------------

    def load_private(self, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
        """The matrix whose components the work-items have at their pointers."""
        emitter, element, memory = self._emitter, element_type(kind), self._components(kind)

        def turn(number: str) -> None:
            found = emitter.execution.load(self._own(pointer, kind, number), element, alignment)
            line = self._line(memory, kind, number)
            self._writer.do(f"store {emitter.vector(element)} {emitter.lanes(found)}, ptr {line}, "
                            f"align {size_of(element)}")

        self._writer.count(kind.slice_length, turn)
        from_memory = operation.FromMemory(result=kind, sub_group_size=self._size)
        return Matrix(kind, self._call(from_memory, [("ptr", memory)], READS))

    def store_private(self, pointer: Number, matrix: Matrix, alignment: int) -> None:
        """Have every work-item that is here keep its components of a matrix at its pointer."""
        emitter, kind = self._emitter, matrix.kind
        element, memory = element_type(kind), self._components(kind)
        to_memory = operation.ToMemory(operands=(kind,), sub_group_size=self._size)
        self._call(to_memory, [operand_of(matrix), ("ptr", memory)], WRITES)

        def turn(number: str) -> None:
            line = self._line(memory, kind, number)
            value = self._writer.let(f"load {emitter.vector(element)}, ptr {line}, align {size_of(element)}")
            emitter.execution.store(self._own(pointer, kind, number), emitter.varying(element, value), alignment)

        self._writer.count(kind.slice_length, turn)

    def _components(self, kind: MatrixType) -> str:
        """Memory for the components of all work-items on their way: those of one number are neighbours."""
        key = ("components", kind)
        if key not in self._slots:
            self._lanes.frame.reserve_stack(component_bytes(kind))
            self._slots[key] = self._writer.slot(f"[{component_bytes(kind)} x i8]", align=64)
        return self._slots[key]

    def _line(self, memory: str, kind: MatrixType, number: str) -> str:
        """The address of all work-items' components of one number."""
        return self._writer.line(memory, number, self._size * kind.component.size)

    def _own(self, pointer: Number, kind: MatrixType, number: str) -> Number:
        """The addresses of the work-items' components of one number."""
        return offset_pointer(self._emitter, pointer, Number("i64", number), kind.component.size)

    # --- memory -----------------------------------------------------------------------

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """A matrix in memory, or what of it lies in a window."""
        kept = self._kept(kind, access)
        load = (operation.LoadWindow if access.window else operation.Load)(
            result=kind, layout=access.layout, alignment=access.alignment, is_kept=bool(kept),
            sub_group_size=self._size)
        return Matrix(kind, self._call(load, [*_place(access), *kept], READS))

    def _kept(self, kind: MatrixType, access: MatrixAccess) -> list[Operand]:
        """The operands by which a load may take what was converted before; empty where it need not, or must not: a tile
        of A or B, or an operand of a product, if other work-groups take it, too: B, and A that becomes tiles."""
        has_tiles = "amx-tile" in self._variant.features
        if has_tiles and amx.tile_shape(kind) is not None:
            wanted = is_kept(kind, amx.is_direct(kind, access.layout)) and not access.window
        else:
            a, b = self._variant.shared
            wanted = (kind.use == Use.MatrixBKHR and b) or (kind.use == Use.MatrixAKHR and has_tiles and a)
        return self.kept.operands(access.pointer) if wanted else []

    def store(self, matrix: Matrix, access: MatrixAccess) -> None:
        """Write a matrix, or what of it lies in a window."""
        store = (operation.StoreWindow if access.window else operation.Store)(
            operands=(matrix.kind,), layout=access.layout, alignment=access.alignment, sub_group_size=self._size)
        self._call(store, [operand_of(matrix), *_place(access)], WRITES)

    def prefetch(self, address: str, rows: int, row_bytes: int, stride: str) -> None:
        """Ask for some rows of memory, by cache lines."""
        prefetch(self._writer, address, str(rows), str(row_bytes), stride)

    # --- values -----------------------------------------------------------------------

    def fill(self, kind: MatrixType, text: str) -> Matrix:
        """A matrix of equal elements."""
        return self._pure(operation.Fill(result=kind, sub_group_size=self._size), [], [(element_type(kind), text)])

    def fill_window(self, kind: MatrixType, text: str, window: Sequence[str]) -> Matrix:
        """A matrix of equal elements inside of a window."""
        operands = [(element_type(kind), text), *(("i64", one) for one in window)]
        return self._pure(operation.Inside(result=kind, sub_group_size=self._size), [], operands)

    def elementwise(self, kind: MatrixType, name: str, operands: Sequence[Matrix]) -> Matrix:
        """An arithmetic instruction on each element."""
        kinds = tuple(one.kind for one in operands)
        return self._pure(operation.Elementwise(
            result=kind, operands=kinds, function=name, sub_group_size=self._size), operands)

    def scale(self, matrix: Matrix, factor: str) -> Matrix:
        """Each element times a number."""
        scale = operation.Scale(result=matrix.kind, operands=(matrix.kind,), sub_group_size=self._size)
        return self._pure(scale, [matrix], [(element_type(matrix.kind), factor)])

    def convert(self, kind: MatrixType, matrix: Matrix, opcode: int, rounding: Rounding, saturates: bool) -> Matrix:
        """A conversion of each element."""
        return self._pure(operation.Convert(
            result=kind, operands=(matrix.kind,), instruction=Op(opcode), rounding=rounding, saturates=saturates,
            sub_group_size=self._size), [matrix])

    def change_use(self, kind: MatrixType, matrix: Matrix, *, transposed: bool) -> Matrix:
        """The same elements for another use."""
        return self._pure(operation.ChangeUse(
            result=kind, operands=(matrix.kind,), transposes=transposed, sub_group_size=self._size), [matrix])

    def reduce(self, kind: MatrixType, matrix: Matrix, axes: int, name: str) -> Matrix:
        """The reduction of rows, columns or squares."""
        return self._pure(operation.Reduce(
            result=kind, operands=(matrix.kind,), axes=axes, combination=name, sub_group_size=self._size), [matrix])

    def apply(self, operation: operation.Apply, matrices: Sequence[Matrix], others: Sequence[Operand]) -> Matrix:
        """A function of each element; ``others``: its operands behind the matrices."""
        attributes = READS if operation.reads else PURE
        return Matrix(operation.result, self._call(operation, [*map(operand_of, matrices), *others], attributes))

    def apart(self, pointers: Sequence[int]) -> str:
        """Whether nothing in the launch writes to the memory that some operands lead to, an i1."""
        emitter, origins = self._emitter, self._emitter.origins
        roots = [origins.of(one) for one in pointers if isinstance(emitter.type_of(one), PointerType)]
        if not all(one in origins.constant_parameters for one in roots):
            return "false"
        self.read |= {one for one in roots if one is not None}
        return self._writer.let(f"icmp ne i64 {self._lanes.frame.field(Field.APART)}, 0")

    def multiply(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats, *, saturates: bool) -> Matrix:
        """``A*B + C`` by the processor's instructions, or as the option ``numerics`` says."""
        a, b, c = (one.kind for one in operands)
        if self._variant.numerics == HARDWARE or format_of(formats[3]).is_integer:
            return self._pure(operation.Multiply(
                result=kind, operands=(a, b, c), formats=formats, saturates=saturates, step=self._variant.step,
                runs=self._variant.runs, sub_group_size=self._size), operands)
        return self._pure(operation.MultiplyAs(
            result=kind, operands=(a, b, c), formats=formats, numerics=self._variant.numerics,
            sub_group_size=self._size), operands)

    # --- components -------------------------------------------------------------------

    def extract(self, matrix: Matrix, index: Number) -> Number:
        """A component of every work-item: element ``index`` * work-items + work-item, counted along the rows; zero
        behind the last one."""
        extract = operation.Extract(operands=(matrix.kind,), is_uniform=index.is_single, sub_group_size=self._size)
        text = self._call(extract, [operand_of(matrix), self._number(index)], PURE)
        return self._emitter.varying(element_type(matrix.kind), text)

    def insert(self, matrix: Matrix, index: Number, number: Number) -> Matrix:
        """The matrix with a component of every work-item that is here replaced."""
        emitter, lanes = self._emitter, self._lanes
        insert = operation.Insert(result=matrix.kind, operands=(matrix.kind,), is_uniform=index.is_single,
                                  sub_group_size=self._size)
        where, new = self._number(index), (emitter.vector(element_type(matrix.kind)), emitter.lanes(number))
        return self._pure(insert, [matrix], [where, new, (lanes.mask_type, lanes.mask_text)])

    def _number(self, index: Number) -> Operand:
        """The number of a component, or of each work-item's."""
        emitter = self._emitter
        return ("i32", index.base) if index.is_single else (emitter.vector("i32"), emitter.lanes(index))

    def coordinates(self, kind: MatrixType, index: Number) -> tuple[Number, Number]:
        """Row and column: elements are dealt out to the work-items in turn."""
        emitter = self._emitter
        number = emitter.apply("mul {t} {0}, {1}", "i32", index, emitter.constant("i32", self._size))
        number = emitter.apply("add {t} {0}, {1}", "i32", number, emitter.lane_number())
        columns = emitter.constant("i32", kind.columns)
        return divide(False)(emitter, number, columns), remainder(False)(emitter, number, columns)


def operand_of(matrix: Matrix) -> Operand:
    """A matrix as an operand."""
    return matrix_type(matrix.kind), matrix.text


def _place(access: MatrixAccess) -> list[Operand]:
    """Where a matrix is, as operands."""
    return [("ptr", access.address), ("i64", access.stride), *(("i64", one) for one in access.window)]
