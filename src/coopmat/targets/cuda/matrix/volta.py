"""Volta's tensor cores: wmma on matrices in local memory, as PTX leaves its fragments open (PTX ISA, wmma)."""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cuda.lanes import CONVERGENT, SHARED, WARP
from coopmat.targets.cuda.matrix.exchange import Exchange
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.llvm.values import Matrix
from coopmat.targets.llvm.writer import Operand

WMMA_SHAPES = ((16, 16, 16), (8, 32, 16), (32, 8, 16))
HALVES = "<2 x half>"
_NAMES = {"fp16": "f16", "fp32": "f32"}
_FACTOR = (HALVES, 8)  # registers of A and B, whatever the shape; those that there are repeat
_SUMS = {"fp16": (HALVES, 4), "fp32": ("float", 8)}
"""LLVM's type of the registers of an accumulator, and how many a thread has."""


class Volta(Exchange):
    """Multiplies by wmma with loads and stores of its own."""

    def is_for_volta(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str]) -> bool:
        """Whether wmma has the types, a shape of it divides the matrices, and nothing newer is there."""
        return (not self.lanes.variant.chip.has(75) and self.lanes.size == WARP and not kind.is_of_work_group
                and formats[:2] == ("fp16", "fp16") and formats[2] in _SUMS and formats[3] in _SUMS
                and self._shape(kind, operands) is not None)

    def _shape(self, kind: MatrixType, operands: Sequence[Matrix]) -> tuple[int, int, int] | None:
        sizes = kind.rows, kind.columns, operands[0].kind.columns
        return next((shape for shape in WMMA_SHAPES
                     if not any(size % one for size, one in zip(sizes, shape, strict=True))), None)

    def on_volta(self, kind: MatrixType, operands: Sequence[Matrix], formats: tuple[str, str, str, str]) -> Matrix:
        """``A*B + C``, tile by tile."""
        shape = self._shape(kind, operands)
        assert shape is not None
        places = [self.left(one, name) for one, name in zip(operands, "abc", strict=True)]
        result = self.region(kind, kind.rows * kind.columns * kind.component.size, "d")
        m, n, k = shape
        depth = operands[0].kind.columns
        self._name = f"llvm.nvvm.wmma.m{m}n{n}k{k}"
        c_type, d_type = (_NAMES[one] for one in formats[2:])
        register, count = _SUMS[formats[3]]
        for row in range(0, kind.rows, m):
            for column in range(0, kind.columns, n):
                sums = self._loaded("c", places[2], (row, column), kind.columns, formats[2])
                before = c_type
                for at in range(0, depth, k):
                    factors = [*self._loaded("a", places[0], (row, at), depth, "fp16"),
                               *self._loaded("b", places[1], (at, column), kind.columns, "fp16")]
                    sums = self._taken(register, count, f"{self._name}.mma.row.row.{d_type}.{before}",
                                       [*factors, *sums])
                    before = d_type
                self.writer.call("void", f"{self._name}.store.d.row.stride.{d_type}.p{SHARED}", [
                    self._at(result, (row, column), kind.columns, kind.component.size), *sums,
                    ("i32", str(kind.columns))], CONVERGENT)
        self.lanes.barrier(kind.scope)
        numbers = [self.zero(kind)] * fragment_of(kind).components
        for number, position in self._present(kind):
            numbers[number] = self.element(result, kind, position)
        self.done(kind)
        return self.of_components(kind, numbers)

    def _loaded(self, name: str, address: str, place: tuple[int, int], stride: int, fmt: str) -> list[Operand]:
        """The registers of a tile in local memory."""
        register, count = _SUMS[fmt] if name == "c" else _FACTOR
        return self._taken(register, count, f"{self._name}.load.{name}.row.stride.{_NAMES[fmt]}.p{SHARED}", [
            self._at(address, place, stride, 2 if fmt == "fp16" else 4), ("i32", str(stride))])

    def _taken(self, register: str, count: int, name: str, operands: Sequence[Operand]) -> list[Operand]:
        """The registers that an instruction gives."""
        kind = f"{{ {', '.join([register] * count)} }}"
        found = self.writer.call(kind, name, operands, CONVERGENT)
        return [(register, self.writer.let(f"extractvalue {kind} {found}, {place}")) for place in range(count)]

    def _at(self, address: str, place: tuple[int, int], stride: int, size: int) -> Operand:
        offset = (place[0] * stride + place[1]) * size
        text = self.writer.let(f"getelementptr i8, ptr {address}, i64 {offset}")
        return f"ptr addrspace({SHARED})", self.in_shared(text)
