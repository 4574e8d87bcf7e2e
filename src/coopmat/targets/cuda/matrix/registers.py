"""A thread's registers of a matrix, and the numbers in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cuda.matrix.fragments import REGISTER_BITS, Fragment, fragment_of
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.values import Matrix, Number, zero_of


class Registers:
    """Takes matrices apart and puts them together."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.writer = emitter.writer

    def registers(self, matrix: Matrix) -> list[str]:
        """The registers of a matrix, as operands."""
        fragment = fragment_of(matrix.kind)
        return [self.writer.let(f"extractvalue {fragment.type} {matrix.text}, {place}")
                for place in range(fragment.registers)]

    def matrix(self, kind: MatrixType, registers: Sequence[str]) -> Matrix:
        """The matrix with these registers."""
        fragment, text = fragment_of(kind), "poison"
        for place, register in enumerate(registers):
            text = self.writer.let(f"insertvalue {fragment.type} {text}, {fragment.register} {register}, {place}")
        return Matrix(kind, text)

    def components(self, matrix: Matrix) -> list[Number]:
        """The components of a matrix as numbers; those of 4 bits with their sign in 8."""
        fragment = fragment_of(matrix.kind)
        return [one for register in self.registers(matrix) for one in self.unpacked(fragment, register)
                ][:fragment.components]

    def of_components(self, kind: MatrixType, numbers: Sequence[Number]) -> Matrix:
        """The matrix with these components."""
        fragment = fragment_of(kind)
        size = fragment.per_register
        return self.matrix(kind, [self.packed(fragment, numbers[first:first + size])
                                  for first in range(0, len(numbers), size)])

    def each(self, kind: MatrixType, operands: Sequence[Matrix], function: Callable[..., Number]) -> Matrix:
        """A function of the components of matrices whose components lie alike."""
        rows = zip(*(self.components(one) for one in operands), strict=True)
        return self.of_components(kind, [function(*row) for row in rows])

    # --- one register -----------------------------------------------------------------

    def unpacked(self, fragment: Fragment, register: str) -> list[Number]:
        """The numbers in a register."""
        count, element = fragment.per_register, fragment.element
        if count == 1:
            return [Number(element, register)]
        if fragment.bits < 8:
            return [self._nibble(register, place) for place in range(count)]
        vector = f"<{count} x {element}>"
        whole = self.writer.let(f"bitcast i{REGISTER_BITS} {register} to {vector}")
        return [Number(element, self.writer.let(f"extractelement {vector} {whole}, i32 {place}"))
                for place in range(count)]

    def _nibble(self, register: str, place: int) -> Number:
        up = self.writer.let(f"shl i32 {register}, {28 - 4 * place}")
        return Number("i8", self.writer.let(f"trunc i32 {self.writer.let(f'ashr i32 {up}, 28')} to i8"))

    def packed(self, fragment: Fragment, numbers: Sequence[Number]) -> str:
        """A register with numbers in it; where there are fewer than it holds, zeros follow."""
        count, element = fragment.per_register, fragment.element
        if count == 1:
            return numbers[0].base
        if fragment.bits < 8:
            return self._nibbles(numbers)
        vector = f"<{count} x {element}>"
        text = "zeroinitializer" if len(numbers) < count else "poison"
        for place, number in enumerate(numbers):
            text = self.writer.let(f"insertelement {vector} {text}, {element} {number.base}, i32 {place}")
        return self.writer.let(f"bitcast {vector} {text} to i{REGISTER_BITS}")

    def _nibbles(self, numbers: Sequence[Number]) -> str:
        text = "0"
        for place, number in enumerate(numbers):
            wide = self.writer.let(f"zext i8 {number.base} to i32")
            low = self.writer.let(f"and i32 {wide}, 15")
            text = self.writer.let(f"or i32 {text}, {self.writer.let(f'shl i32 {low}, {4 * place}')}")
        return text

    def zero(self, kind: MatrixType) -> Number:
        """A component that is zero."""
        element = fragment_of(kind).element
        return Number(element, zero_of(element))
