"""The form of matrices on NVIDIA's GPUs: every thread has its part in registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import IntType, MatrixType
from coopmat.spirv.grammar import Op
from coopmat.targets.cuda.lanes import CudaLanes
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.matrix.late import Late, LateUses, parts
from coopmat.targets.cuda.matrix.positions import dealt_position, lane_of, positions
from coopmat.targets.cuda.matrix.reductions import Reductions
from coopmat.targets.llvm.access import moved
from coopmat.targets.llvm.arithmetic.conversions import converted
from coopmat.targets.llvm.arithmetic.elementwise import ELEMENTWISE
from coopmat.targets.llvm.arithmetic.floats import through_float
from coopmat.targets.llvm.arithmetic.integers import add, is_bf16, multiply
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.values import Matrix, Number

_CONSTRAINTS = {"float": "f", "i32": "r", "double": "d", "i64": "l"}
"""Of inline assembly, by LLVM's types."""


class FragmentMatrices(Reductions):
    """See :class:`~coopmat.targets.llvm.matrices.MatrixForm`."""

    def __init__(self, emitter: Emitter, lanes: CudaLanes) -> None:
        super().__init__(emitter, lanes)
        self._slots: dict[Any, str] = {}
        self._late: dict[str, Late] = {}  # by what stands for them
        self._late_uses = LateUses(emitter.flat)

    def type(self, kind: MatrixType) -> str:
        """LLVM's type of a thread's part of a matrix."""
        return fragment_of(kind).type

    # --- matrices that are loaded where they are used ---------------------------------

    def load(self, kind: MatrixType, access: MatrixAccess) -> Matrix:
        """A matrix in memory."""
        row = self.emitter.row
        found = self.late(kind, access) if row is not None and row.result_id in self._late_uses else None
        return super().load(kind, access) if found is None else self._as_late(found)

    def _as_late(self, found: Late) -> Matrix:
        text = f"late.{len(self._late)}"  # nothing but its use takes it
        self._late[text] = found
        return Matrix(found.kind, text)

    @staticmethod
    def lie_alike(one: MatrixType, other: MatrixType) -> bool:
        """Whether threads have the same components of both."""
        first, second = fragment_of(one).spread, fragment_of(other).spread
        return first.is_regular == second.is_regular and first.offsets == second.offsets and (
            not first.is_regular or first.lane_bits == second.lane_bits)

    def in_parts(self, matrices: Sequence[Matrix]) -> Iterator[list[list[Number]]]:
        """The components of matrices that lie alike, part by part."""
        late = [self._late.get(one.text) for one in matrices]
        if not any(late):
            yield [self.components(one) for one in matrices]
            return
        whole = [[] if one is not None else self._computed(self.components(matrix))
                 for one, matrix in zip(late, matrices, strict=True)]
        for part in parts(fragment_of(matrices[0].kind).components):
            yield [numbers[part.start:part.stop] if one is None else one.part(part)
                   for one, numbers in zip(late, whole, strict=True)]

    def _computed(self, numbers: Sequence[Number]) -> list[Number]:
        """The same numbers, which are computed here: not where they are used, for which LLVM would keep what they are
        made of."""
        constraint = _CONSTRAINTS.get(numbers[0].type)
        if constraint is None:
            return list(numbers)
        found: list[Number] = []
        for part in parts(len(numbers)):
            some = numbers[part.start:part.stop]
            result = f"{{ {', '.join(one.type for one in some)} }}"
            constraints = ",".join([f"={constraint}"] * len(some) + [str(place) for place in range(len(some))])
            given = ", ".join(f"{one.type} {one.base}" for one in some)
            both = self.writer.let(f'call {result} asm sideeffect "", "{constraints}"({given})')
            found += [Number(one.type, self.writer.let(f"extractvalue {result} {both}, {place}"))
                      for place, one in enumerate(some)]
        return found

    def each(self, kind: MatrixType, operands: Sequence[Matrix], function: Callable[..., Number]) -> Matrix:
        """A function of the components of matrices whose components lie alike."""
        return self.of_components(kind, [function(*row) for columns in self.in_parts(operands)
                                         for row in zip(*columns, strict=True)])

    # --- places -----------------------------------------------------------------------

    def load_slot(self, key: Any, kind: MatrixType) -> Matrix:
        """What a slot holds; zeros before anything is stored."""
        return Matrix(kind, self.writer.let(f"load {self.type(kind)}, ptr {self._slot(key, kind)}"))

    def store_slot(self, key: Any, matrix: Matrix) -> None:
        """Keep a matrix."""
        self.writer.do(f"store {self.type(matrix.kind)} {matrix.text}, ptr {self._slot(key, matrix.kind)}")

    def _slot(self, key: Any, kind: MatrixType, count: int = 0) -> str:
        if key not in self._slots:
            llvm = f"[{count} x {self.type(kind)}]" if count else self.type(kind)
            self._slots[key] = self.writer.slot(llvm, align=16, initial="zeroinitializer")
        return self._slots[key]

    def load_element(self, key: Any, count: int, kind: MatrixType, index: Number) -> Matrix:
        """A matrix of an array in slots."""
        return Matrix(kind, self.writer.let(f"load {self.type(kind)}, ptr {self._element(key, count, kind, index)}"))

    def store_element(self, key: Any, count: int, matrix: Matrix, index: Number) -> None:
        """Replace a matrix of an array in slots."""
        address = self._element(key, count, matrix.kind, index)
        self.writer.do(f"store {self.type(matrix.kind)} {matrix.text}, ptr {address}")

    def _element(self, key: Any, count: int, kind: MatrixType, index: Number) -> str:
        return self.writer.let(f"getelementptr {self.type(kind)}, ptr {self._slot(key, kind, count)}, i64 {index.base}")

    def load_private(self, pointer: Number, kind: MatrixType, alignment: int) -> Matrix:
        """The matrix whose components the work-items have in private memory."""
        fragment, size = fragment_of(kind), kind.component.size
        return self.of_components(kind, [self.lanes.load(moved(self.emitter, pointer, place * size), fragment.element,
                                                         alignment) for place in range(fragment.components)])

    def store_private(self, pointer: Number, matrix: Matrix, alignment: int) -> None:
        """Have every work-item keep its components in private memory, repeated ones, too."""
        numbers, size = self.components(matrix), matrix.kind.component.size
        for place in range(matrix.kind.slice_length):
            self.lanes.store(moved(self.emitter, pointer, place * size), numbers[place % len(numbers)], alignment)

    def prefetch(self, address: str, rows: int, row_bytes: int, stride: str) -> None:
        """A hint, which is not followed: threads wait for memory while others run."""

    # --- values -----------------------------------------------------------------------

    def fill(self, kind: MatrixType, text: str) -> Matrix:
        """A matrix of equal elements."""
        fragment = fragment_of(kind)
        number = Number(fragment.element, text)
        register = self.packed(fragment, [number] * fragment.per_register)
        return self.matrix(kind, [register] * fragment.registers)

    def fill_window(self, kind: MatrixType, text: str, window: Sequence[str]) -> Matrix:
        """A matrix of equal elements inside of a window, zeros elsewhere."""
        emitter = self.emitter
        first = [Number("i64", one) for one in window[:2]]
        numbers = []
        for position in positions(emitter, kind, "i64"):
            inside = [emitter.apply("icmp ult {t} {0}, {1}", "i1", add(emitter, place, start), Number("i64", limit))
                      for place, start, limit in zip(position, first, window[2:], strict=True)]
            both = emitter.apply("and {t} {0}, {1}", "i1", *inside)
            numbers.append(emitter.select(both, Number(fragment_of(kind).element, text), self.zero(kind)))
        return self.of_components(kind, numbers)

    def elementwise(self, kind: MatrixType, name: str, operands: Sequence[Matrix]) -> Matrix:
        """An arithmetic instruction on each element."""
        function = through_float(ELEMENTWISE[name], is_bf16(kind.component))
        return self.each(kind, operands, lambda *numbers: function(self.emitter, *numbers))

    def scale(self, matrix: Matrix, factor: str) -> Matrix:
        """Each element times a number."""
        kind = matrix.kind
        function = through_float(ELEMENTWISE["IMul" if isinstance(kind.component, IntType) else "FMul"],
                                 is_bf16(kind.component))
        number = Number(fragment_of(kind).element, factor)
        return self.each(kind, [matrix], lambda one: function(self.emitter, one, number))

    def convert(self, kind: MatrixType, matrix: Matrix, opcode: int, rounding: Rounding, saturates: bool) -> Matrix:
        """A conversion instruction on each element; the layouts of both types may differ."""
        source = matrix.kind.component

        def of_one(number: Number) -> Number:
            if source == IntType(4) and opcode in (Op.UConvert, Op.ConvertUToF):
                number = self.emitter.apply("and {t} {0}, {1}", "i8", number, self.emitter.constant("i8", 15))
            return converted(self.emitter, opcode, number, source, kind.component, rounding, saturates)

        late = self._late.get(matrix.text)
        if late is not None and self.lie_alike(kind, matrix.kind):
            return self._as_late(Late(kind, lambda part: [of_one(number) for number in late.part(part)]))
        numbers = [of_one(number) for [column] in self.in_parts([matrix]) for number in column]
        return self._arranged(kind, matrix.kind, numbers)

    def _arranged(self, kind: MatrixType, given: MatrixType, numbers: Sequence[Number]) -> Matrix:
        """The matrix of numbers that lie as the components of another type do, whose shape is the same."""
        own, other = fragment_of(kind).spread, fragment_of(given).spread
        if own.is_regular and other.is_regular and own.lane_bits == other.lane_bits and all(
                offset in other.component_at for offset in own.offsets):
            return self.of_components(kind, [numbers[other.component_at[offset]] for offset in own.offsets])
        if not own.is_regular and not other.is_regular and own.offsets == other.offsets:  # both are dealt out
            return self.of_components(kind, numbers)
        return self.moved(kind, given, numbers)

    def change_use(self, kind: MatrixType, matrix: Matrix, *, transposed: bool) -> Matrix:
        """The same elements for another use, or their bits with another sign; transposed or not."""
        if transposed:
            return self.in_other_layout(kind, matrix, transposed=True)
        return self._arranged(kind, matrix.kind, self.components(matrix))

    # --- components -------------------------------------------------------------------

    def extract(self, matrix: Matrix, index: Number) -> Number:
        """A component of every work-item; one that is repeated is the first of its kind."""
        numbers = self.components(matrix)
        if not index.base.startswith("%"):
            return numbers[int(index.base) % len(numbers)]
        slot, fragment = self._in_slot(matrix), fragment_of(matrix.kind)
        return Number(fragment.element, self.writer.let(
            f"load {fragment.element}, ptr {self._component(slot, matrix.kind, index)}"))

    def insert(self, matrix: Matrix, index: Number, number: Number) -> Matrix:
        """The matrix with a component of every work-item replaced."""
        kind, numbers = matrix.kind, self.components(matrix)
        if not index.base.startswith("%"):
            numbers[int(index.base) % len(numbers)] = number
            return self.of_components(kind, numbers)
        slot, fragment = self._in_slot(matrix), fragment_of(kind)
        self.writer.do(f"store {fragment.element} {number.base}, ptr {self._component(slot, kind, index)}")
        whole = self.writer.let(f"load [{fragment.components} x {fragment.element}], ptr {slot}")
        return self.of_components(kind, [
            Number(fragment.element, self.writer.let(
                f"extractvalue [{fragment.components} x {fragment.element}] {whole}, {place}"))
            for place in range(fragment.components)])

    def _in_slot(self, matrix: Matrix) -> str:
        """The components of a matrix, in an array on the stack."""
        fragment = fragment_of(matrix.kind)
        llvm = f"[{fragment.components} x {fragment.element}]"
        slot, text = self.writer.slot(llvm, align=16), "poison"
        for place, number in enumerate(self.components(matrix)):
            text = self.writer.let(f"insertvalue {llvm} {text}, {number.type} {number.base}, {place}")
        self.writer.do(f"store {llvm} {text}, ptr {slot}")
        return slot

    def _component(self, slot: str, kind: MatrixType, index: Number) -> str:
        fragment = fragment_of(kind)
        place = self.writer.let(f"urem i32 {index.base}, {fragment.components}")
        return self.writer.let(f"getelementptr {fragment.element}, ptr {slot}, i32 {place}")

    def coordinates(self, kind: MatrixType, index: Number) -> tuple[Number, Number]:
        """Row and column of a component of every work-item."""
        emitter, fragment = self.emitter, fragment_of(kind)
        if not fragment.spread.is_regular:
            step = multiply(emitter, index, emitter.constant("i32", fragment.spread.lanes))
            return dealt_position(emitter, kind, add(emitter, step, lane_of(emitter, kind, "i32")))
        start = fragment.spread.start(emitter, lane_of(emitter, kind, "i32"))
        if not index.base.startswith("%"):
            offset = fragment.spread.offsets[int(index.base) % fragment.components]
            row, column = (add(emitter, one, emitter.constant("i32", way))
                           for one, way in zip(start, offset, strict=True))
            return row, column
        offsets = [self._looked_up([offset[axis] for offset in fragment.spread.offsets], index) for axis in (0, 1)]
        return add(emitter, start[0], offsets[0]), add(emitter, start[1], offsets[1])

    def _looked_up(self, table: Sequence[int], index: Number) -> Number:
        """An entry of a table that is known: the sum of what the bits of the index stand for, where there is such."""
        emitter, count = self.emitter, len(table)
        place = emitter.apply("urem {t} {0}, {1}", "i32", index, emitter.constant("i32", count))
        steps = [table[1 << bit] for bit in range((count - 1).bit_length())]
        if count & count - 1 or any(table[number] != sum(step for bit, step in enumerate(steps) if number >> bit & 1)
                                    for number in range(count)):
            found = emitter.constant("i32", table[0])
            for number, entry in enumerate(table[1:], 1):
                is_it = emitter.apply("icmp eq {t} {0}, {1}", "i1", place, emitter.constant("i32", number))
                found = emitter.select(is_it, emitter.constant("i32", entry), found)
            return found
        found = emitter.constant("i32", 0)
        for bit, step in enumerate(steps):
            one = emitter.apply("and {t} {0}, {1}", "i32", emitter.apply(
                "lshr {t} {0}, {1}", "i32", place, emitter.constant("i32", bit)), emitter.constant("i32", 1))
            found = add(emitter, found, multiply(emitter, one, emitter.constant("i32", step)))
        return found
