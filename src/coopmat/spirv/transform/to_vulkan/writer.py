"""Writes the shader's instructions: constants, arithmetic that is folded where it can be, bits of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

from coopmat.spirv.analysis.types import BoolType, IntType, Type, VectorType
from coopmat.spirv.edit.builder import ModuleBuilder
from coopmat.spirv.grammar import EXTENDED_INSTRUCTIONS, AddressingModel, MemoryModel, Op
from coopmat.spirv.module.instruction import make
from coopmat.spirv.transform.to_vulkan.types import LONGEST, U32, U64, UNITS, UNSIGNED, ShaderTypes, as_number

Word = int | IntEnum
VERSION = (1, 6)
GLSL = "GLSL.std.450"
_FOLDED = {Op.IAdd: lambda a, b: a + b, Op.ISub: lambda a, b: a - b, Op.IMul: lambda a, b: a * b,
           Op.ShiftRightArithmetic: lambda a, b: a >> b}
"""Of numbers with a sign."""
_NEUTRAL = {Op.IAdd: 0, Op.ISub: 0, Op.IMul: 1, Op.ShiftLeftLogical: 0, Op.ShiftRightLogical: 0,
            Op.ShiftRightArithmetic: 0, Op.BitwiseOr: 0}


class Writer:
    """Instructions at the end of the open block; types are those of the analysis."""

    def __init__(self) -> None:
        self.out = ModuleBuilder(version=VERSION, addressing=AddressingModel.PhysicalStorageBuffer64,
                                 memory=MemoryModel.Vulkan)
        self.types = ShaderTypes(self.out)
        self._integers: dict[int, int] = {}
        self.label = 0

    # -- constants ---------------------------------------------------------------------

    def integer(self, value: int, kind: Type = U32) -> int:
        """An integer constant, of a vector in every component."""
        scalar = self.out.constant(self.types(kind.scalar), value)
        bits = kind.dtype.itemsize * 8
        self._integers[scalar] = value & (1 << bits) - 1
        if isinstance(kind, VectorType):
            return self.out.constant_composite(self.types(kind), [scalar] * kind.length)
        return scalar

    def number(self, value: float, kind: Type) -> int:
        """A constant of a floating-point type, or of an integer type."""
        scalar = self.out.constant(self.types(kind.scalar), value)
        if isinstance(kind, VectorType):
            return self.out.constant_composite(self.types(kind), [scalar] * kind.length)
        return scalar

    def known(self, identifier: int) -> int | None:
        """The value of an integer constant."""
        return self._integers.get(identifier)

    # -- instructions ------------------------------------------------------------------

    def op(self, op: Op, kind: Type | int, *words: Word, result: int | None = None) -> int:
        """An instruction with a result of a type (or type id)."""
        type_id = kind if isinstance(kind, int) else self.types(kind)
        identifier = self.out.new_id() if result is None else result
        self.out.append(make(op, *words, type_id=type_id, result_id=identifier))
        return identifier

    def glsl(self, name: str, kind: Type, *words: Word, result: int | None = None) -> int:
        """An instruction of GLSL.std.450."""
        number = EXTENDED_INSTRUCTIONS[GLSL][name]
        identifier = self.out.new_id() if result is None else result
        self.out.append(make(Op.ExtInst, self.out.extended_set(GLSL), number, *words, type_id=self.types(kind),
                             result_id=identifier, context=GLSL))
        return identifier

    def begin(self, label: int) -> None:
        """Begin a block."""
        self.out.begin_block(label)
        self.label = label

    def arithmetic(self, op: Op, kind: Type, a: int, b: int) -> int:
        """Integers added, subtracted, multiplied or shifted; constants are folded."""
        known_a, known_b = self.known(a), self.known(b)
        if known_b is not None and known_b == _NEUTRAL.get(op):
            return a
        if op in (Op.IAdd, Op.IMul) and known_a is not None and known_a == _NEUTRAL[op]:
            return b
        if op in _FOLDED and known_a is not None and known_b is not None:
            bits = kind.scalar.size * 8
            known_a, known_b = (one - (one >> bits - 1 << bits) for one in (known_a, known_b))
            return self.integer(_FOLDED[op](known_a, known_b), kind)
        return self.op(op, kind, a, b)

    def add(self, kind: Type, a: int, b: int) -> int:
        """a + b."""
        return self.arithmetic(Op.IAdd, kind, a, b)

    def multiply(self, kind: Type, a: int, b: int) -> int:
        """a * b."""
        return self.arithmetic(Op.IMul, kind, a, b)

    def converted(self, value: int, before: Type, after: Type, *, signed: bool = False) -> int:
        """An integer of another width."""
        if before == after:
            return value
        known = self.known(value)
        if known is not None and before.count == 1:
            bits = before.size * 8
            return self.integer(known - (1 << bits) if signed and known >> bits - 1 else known, after)
        return self.op(Op.SConvert if signed else Op.UConvert, after, value)

    def extract(self, kind: Type, value: int, *path: int, result: int | None = None) -> int:
        """A member of a composite."""
        return self.op(Op.CompositeExtract, kind, value, *path, result=result)

    def construct(self, kind: Type, parts: Sequence[int], result: int | None = None) -> int:
        """A composite of its members."""
        return self.op(Op.CompositeConstruct, kind, *parts, result=result)

    def if_then(self, condition: int) -> _If:
        """A context manager: what is written in it runs where the condition holds."""
        return _If(self, condition)

    def count(self, first: int, end: int, step: int, body: Callable[[int], None]) -> None:
        """``body`` for each number of 32 bits from ``first`` on, below ``end``, ``step`` apart."""
        header, inside, going_on, merge = (self.out.new_id() for _ in range(4))
        following, index, before = self.out.new_id(), self.out.new_id(), self.label
        self.out.emit(Op.Branch, header)
        self.begin(header)
        self.op(Op.Phi, U32, first, before, following, going_on, result=index)
        is_inside = self.op(Op.ULessThan, BoolType(), index, end)
        self.out.emit(Op.LoopMerge, merge, going_on, 0)
        self.out.emit(Op.BranchConditional, is_inside, inside, merge)
        self.begin(inside)
        body(index)
        self.out.emit(Op.Branch, going_on)
        self.begin(going_on)
        self.op(Op.IAdd, U32, index, step, result=following)
        self.out.emit(Op.Branch, header)
        self.begin(merge)

    def repeat(self, kind: Type, first: int, body: Callable[[int], tuple[int, int]]) -> int:
        """``body`` on a value until it says that it is done: it gives whether it is, and the next value, which the last
        time is the result."""
        header, going_on, merge = (self.out.new_id() for _ in range(3))
        value, before = self.out.new_id(), self.label
        phi = make(Op.Phi, type_id=self.types(kind), result_id=value)
        self.out.emit(Op.Branch, header)
        self.begin(header)
        self.out.append(phi)
        self.out.emit(Op.LoopMerge, merge, going_on, 0)
        inside = self.out.new_id()
        self.out.emit(Op.Branch, inside)
        self.begin(inside)
        is_done, following = body(value)
        phi.words = (first, before, following, going_on)
        self.out.emit(Op.BranchConditional, is_done, merge, going_on)
        self.begin(going_on)
        self.out.emit(Op.Branch, header)
        self.begin(merge)
        return following

    # -- bits --------------------------------------------------------------------------

    def components(self, value: int, kind: Type) -> list[int]:
        """The scalars of a scalar or short vector."""
        if kind.count == 1:
            return [value]
        return [self.extract(kind.scalar, value, index) for index in range(kind.count)]

    def as_unsigned(self, value: int, kind: Type) -> int:
        """A scalar's bits."""
        if isinstance(as_number(kind), IntType):
            return value
        if isinstance(kind, BoolType):
            byte = UNSIGNED[1]
            return self.op(Op.Select, byte, value, self.integer(1, byte), self.integer(0, byte))
        return self.op(Op.Bitcast, UNSIGNED[kind.size], value)

    def of_unsigned(self, bits: int, kind: Type) -> int:
        """The scalar with these bits."""
        if isinstance(as_number(kind), IntType):
            return bits
        if isinstance(kind, BoolType):
            return self.op(Op.INotEqual, kind, bits, self.integer(0, UNSIGNED[1]))
        return self.op(Op.Bitcast, kind, bits)

    def split(self, bits: int, size: int, unit: int) -> list[int]:
        """An unsigned integer of ``size`` bytes as smaller ones of ``unit`` bytes, the lowest first."""
        if size == unit:
            return [bits]
        step = max(unit, size // LONGEST)
        kind = VectorType(UNSIGNED[step], size // step)
        vector = self.op(Op.Bitcast, kind, bits)
        return [low for index in range(kind.length)
                for low in self.split(self.extract(UNSIGNED[step], vector, index), step, unit)]

    def join(self, units: Sequence[int], unit: int, size: int) -> int:
        """The unsigned integer of ``size`` bytes that consists of smaller ones of ``unit`` bytes."""
        if size == unit:
            return units[0]
        step = max(unit, size // LONGEST)
        count = step // unit
        parts = [self.join(units[i:i + count], unit, step) for i in range(0, len(units), count)]
        return self.op(Op.Bitcast, UNSIGNED[size], self.construct(VectorType(UNSIGNED[step], size // step), parts))

    def units(self, value: int, kind: Type, unit: int) -> list[int]:
        """A scalar or short vector as units of so many bytes: parts of a scalar, or several."""
        number = as_number(kind)
        together = unit // number.scalar.size
        if together > 1:
            return [self._cast(self._slice(value, number, first, together), VectorType(number.scalar, together),
                               UNITS[unit]) for first in range(0, number.count, together)]
        return [low for scalar in self.components(value, number)
                for low in self.split(self.as_unsigned(scalar, number.scalar), number.scalar.size, unit)]

    def of_units(self, units: Sequence[int], kind: Type, unit: int) -> int:
        """The opposite of :meth:`units`."""
        number = as_number(kind)
        size = number.scalar.size
        if unit > size:
            part = VectorType(number.scalar, unit // size)
            parts = [self._cast(one, UNITS[unit], part) for one in units]
            return parts[0] if len(parts) == 1 else self.construct(number, parts)
        count = size // unit
        scalars = [self.of_unsigned(self.join(units[i:i + count], unit, size), number.scalar)
                   for i in range(0, len(units), count)]
        return scalars[0] if number.count == 1 else self.construct(number, scalars)

    def _cast(self, value: int, before: Type, after: Type) -> int:
        return value if before == after else self.op(Op.Bitcast, after, value)

    def _slice(self, value: int, kind: Type, first: int, count: int) -> int:
        """Some components of a vector, as a vector."""
        if count == kind.count:
            return value
        return self.op(Op.VectorShuffle, VectorType(kind.scalar, count), value, value, *range(first, first + count))


class _If:
    """A selection without an other side."""

    def __init__(self, writer: Writer, condition: int) -> None:
        self.writer = writer
        self.condition = condition
        self.merge = writer.out.new_id()

    def __enter__(self) -> None:
        inside = self.writer.out.new_id()
        self.writer.out.emit(Op.SelectionMerge, self.merge, 0)
        self.writer.out.emit(Op.BranchConditional, self.condition, inside, self.merge)
        self.writer.begin(inside)

    def __exit__(self, *error: object) -> None:
        self.writer.out.emit(Op.Branch, self.merge)
        self.writer.begin(self.merge)


__all__ = ["GLSL", "U32", "U64", "VERSION", "Writer"]
