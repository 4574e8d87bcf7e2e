"""Intel's sub-group built-ins as sub-group code: multiply-accumulate of what lies in the registers of work-items, 2D
blocks, block reads and writes, shuffles, tf32."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coopmat.devices import Use
from coopmat.devices.lane_layout import LaneLayout
from coopmat.devices.subgroup_layout import SubGroupMatrixRow, block_elements
from coopmat.diagnostics import KernelNotSupported, ValidationError
from coopmat.formats import format_of
from coopmat.spirv.analysis.blocks_2d import block_of
from coopmat.spirv.analysis.places import place_of
from coopmat.spirv.analysis.sub_group_uses import multiply_of
from coopmat.spirv.analysis.types import ArrayType, VectorType
from coopmat.spirv.grammar import Op, StorageClass
from coopmat.spirv.module import Module
from coopmat.spirv.module.instruction import Instruction
from coopmat.spirv.transform.goal import (
    BLOCKS,
    BLOCKS_2D,
    JOINT_MATRIX,
    ROUND_TO_TF32,
    SUB_GROUP_PRODUCTS,
    MatrixSupport,
)
from coopmat.spirv.transform.matrices.layout import Held
from coopmat.spirv.transform.matrices.lowering import Handler, Lowering
from coopmat.spirv.transform.matrices.numbers import (
    HALF_WORD,
    WORD,
    Numbers,
    from_bf16,
    narrowed,
    numbers_for,
    to_tf32,
    truncated_to_tf32,
    widened,
)
from coopmat.spirv.transform.matrices.products import Operand, Wanted, summed

# --- multiply-accumulate -----------------------------------------------------------------------


def multiply(to: Lowering, row: Instruction) -> bool:
    """OpSubgroupMatrixMultiplyAccumulateINTEL."""
    use = multiply_of(to.editor.module, to.table, row)
    known = use.row_for(to.lanes.size)
    if known is None:
        sizes = " or ".join(map(str, use.sub_group_sizes)) or "no size"
        raise KernelNotSupported(f"{row.name} with {use} is for sub-groups of {sizes}; the kernel has sub-groups of "
                                 f"{to.lanes.size}: require the size with intel_reqd_sub_group_size", None,
                                 place_of(to.editor.module, row))
    numbers = numbers_for(to, known.formats)
    a = _operand(to, known, "a", use.m, row.words[1], numbers)
    b = _operand(to, known, "b", use.m, row.words[2], numbers)
    layout = known.layout("accumulator", use.m)
    wanted = Wanted(list(layout.held.row.T), list(layout.held.column.T))
    first = [widened(to, one, known.accumulator, numbers) for one in _registers(to, row.words[3])]
    totals = summed(to, a, b, first, wanted, known.k, numbers)
    kind = to.editor.definition(row.type_id or 0)
    part = kind.words[0] if kind.opcode == Op.TypeVector else row.type_id or 0
    if len(totals) == 1:
        narrowed(to, totals[0], known.accumulator, numbers, part, row.result_id)
        return True
    found = [narrowed(to, total, known.accumulator, numbers, part) for total in totals]
    to.let(Op.CompositeConstruct, row.type_id or 0, *found, result=row.result_id)
    return True


def _registers(to: Lowering, vector: int) -> list[int]:
    """The components of a vector; a scalar is one."""
    kind = to.kind(to.type_id(vector))
    if not isinstance(kind, VectorType):
        return [vector]
    part = to.editor.definition(to.type_id(vector)).words[0]
    return [to.let(Op.CompositeExtract, part, vector, place) for place in range(kind.length)]


def _operand(to: Lowering, row: SubGroupMatrixRow, use: Use, m: int, vector: int, numbers: Numbers) -> Operand:
    """A or B as numbers: each element of each register by itself."""
    layout: LaneLayout = row.layout(use, m)
    fmt, = row.types_of(use)
    places = layout.of_elements
    per_register = layout.register_bits // layout.element_bits
    values = [_element(to, register, layout.element_bits * part, fmt, numbers)
              for register in _registers(to, vector) for part in range(per_register)]
    return Operand(values, Held(places.lane, places.register * per_register + places.bit // layout.element_bits))


def _element(to: Lowering, register: int, bit: int, fmt: str, numbers: Numbers) -> int:
    """The element that begins at a bit of a register."""
    if fmt == "tf32":
        return truncated_to_tf32(to, register)
    kind, bits = format_of(fmt), to.editor.definition(to.type_id(register)).words[0]
    word = register if bits == WORD else to.let(Op.UConvert, to.uint, register)
    if not kind.is_float:
        upper = _shifted(to, Op.ShiftLeftLogical, word, WORD - bit - kind.bits)
        return _shifted(to, Op.ShiftRightArithmetic if kind.is_signed else Op.ShiftRightLogical, upper,
                        WORD - kind.bits)
    half = to.let(Op.UConvert, to.integer(HALF_WORD), _shifted(to, Op.ShiftRightLogical, word, bit))
    if fmt == "bf16":
        return from_bf16(to, half)
    return to.let(Op.FConvert, numbers.type_id, to.let(Op.Bitcast, to.float(HALF_WORD), half))


def _shifted(to: Lowering, op: Op, value: int, bits: int) -> int:
    return to.let(op, to.uint, value, to.constant(bits)) if bits else value


# --- 2D blocks -----------------------------------------------------------------------------------


class _Surface:
    """A matrix in memory that blocks are read from: sizes and pitch in bytes."""

    def __init__(self, to: Lowering, row: Instruction, first: int, *, transpose: bool = False,
                 transform: bool = False) -> None:
        self.to = to
        numbers = [to.editor.module.constant_value(word) for word in row.words[:4]]
        self.block = block_of(row, [one if isinstance(one, int) else None for one in numbers], transform=transform)
        size = self.block.element_size
        self.element = to.integer(8 * size)
        self.elements = block_elements(self.block.width, self.block.height, self.block.count, to.lanes.size,
                                       transpose=transpose, rows_per_word=4 // size if transform else 1)
        base, width, height, pitch, coordinate = row.words[first:first + 5]
        self.long = to.integer(64)
        byte = to.editor.type_pointer(StorageClass.CrossWorkgroup, to.integer(8))
        self.base = base if to.type_id(base) == byte else to.let(Op.Bitcast, byte, base)
        self.byte = byte
        self.width, self.height, self.pitch = width, height, to.let(Op.SConvert, self.long, pitch)
        integer = to.editor.definition(to.type_id(coordinate)).words[0]
        self.x, self.y = (to.let(Op.CompositeExtract, integer, coordinate, place) for place in range(2))

    @property
    def count(self) -> int:
        """Elements of a work-item."""
        return self.elements.row.shape[1]

    def place(self, number: int) -> tuple[int, int]:
        """Of an element its address, and the condition that it is there."""
        to, size = self.to, self.block.element_size
        held = self.elements
        row, column, valid = held.row[:, number], held.column[:, number], held.valid[:, number]
        y, x = (self._plus(start, np.where(valid, part, 0)) for start, part in ((self.y, row), (self.x, column)))
        end = to.let(Op.IMul, to.uint, x, to.constant(size))
        conditions = [to.let(Op.ULessThan, to.bool, y, self.height), to.let(Op.ULessThan, to.bool, end, self.width),
                      to.let(Op.SGreaterThanEqual, to.bool, x, to.constant(0))]
        if not valid.all():
            conditions.append(to.lanes.flag(valid))
        inside = conditions[0]
        for one in conditions[1:]:
            inside = to.let(Op.LogicalAnd, to.bool, inside, one)
        start = to.let(Op.IMul, self.long, to.let(Op.SConvert, self.long, y), self.pitch)
        offset = to.let(Op.IAdd, self.long, start, to.let(Op.SConvert, self.long, end))
        found = to.let(Op.PtrAccessChain, self.byte, self.base, offset)
        pointer = to.editor.type_pointer(StorageClass.CrossWorkgroup, self.element)
        return (found if pointer == self.byte else to.let(Op.Bitcast, pointer, found)), inside

    def _plus(self, start: int, part: np.ndarray) -> int:
        to = self.to
        varying, further = to.lanes.parts(part, to.uint)
        place = to.plus(start, further)
        return place if varying is None else to.let(Op.IAdd, to.uint, place, varying)


class _Private:
    """The elements that a work-item has of a block, in its own memory, whose numbers may be wider or narrower."""

    def __init__(self, to: Lowering, pointer: int, surface: _Surface, row: Instruction) -> None:
        self.to = to
        self.pointer = pointer
        self.element = surface.element
        self.size = surface.block.element_size
        self.storage, pointee = to.editor.definition(to.type_id(pointer)).words
        self.is_array = isinstance(to.kind(pointee), ArrayType)
        self.lengths: list[int] = []
        while isinstance(kind := to.kind(pointee), ArrayType | VectorType):
            self.lengths.append(kind.length)
            pointee = to.editor.definition(pointee).words[0]
        self.pointee = pointee
        if (surface.count * self.size) % kind.size:
            raise ValidationError("2D-7", f"{surface.count} elements of {self.size} bytes are no whole {kind}s",
                                  row.offset)
        self.width = kind.size
        self.word = to.integer(8 * kind.size)
        self.count = surface.count * self.size // kind.size

    def _address(self, number: int) -> int:
        """Where a number is: in arrays and vectors, whose first the pointer leads to, or behind a number."""
        to, places = self.to, list[int]()
        for length in reversed(self.lengths):
            number, place = divmod(number, length)
            places.insert(0, to.constant(place))
        kind = to.editor.type_pointer(self.storage, self.pointee)
        if self.is_array and not number:
            return to.let(Op.AccessChain, kind, self.pointer, *places)
        return to.let(Op.PtrAccessChain, kind, self.pointer, to.constant(number), *places)

    def store(self, values: Sequence[int]) -> None:
        """Write all elements."""
        to = self.to
        for number in range(self.count):
            word = self._joined(values, number)
            if self.word != self.pointee:
                word = to.let(Op.Bitcast, self.pointee, word)
            to.do(Op.Store, self._address(number), word)

    def _joined(self, values: Sequence[int], number: int) -> int:
        to = self.to
        if self.width <= self.size:
            parts = self.size // self.width
            bits = 8 * self.width * (number % parts)
            return self._part(values[number // parts], bits, self.element, self.word)
        parts = self.width // self.size
        word = 0
        for place, value in enumerate(values[number * parts:(number + 1) * parts]):
            wide = to.let(Op.UConvert, self.word, value)
            moved = wide if not place else to.let(Op.ShiftLeftLogical, self.word, wide,
                                                  to.number(8 * self.size * place, self.word))
            word = moved if not place else to.let(Op.BitwiseOr, self.word, word, moved)
        return word

    def _part(self, value: int, bits: int, kind: int, wanted: int) -> int:
        """So many bits further the low ones of an integer."""
        to = self.to
        if bits:
            value = to.let(Op.ShiftRightLogical, kind, value, to.number(bits, kind))
        return value if kind == wanted else to.let(Op.UConvert, wanted, value)

    def loaded(self) -> list[int]:
        """Read all elements."""
        to = self.to
        words = []
        for number in range(self.count):
            word = to.let(Op.Load, self.pointee, self._address(number))
            words.append(word if self.word == self.pointee else to.let(Op.Bitcast, self.word, word))
        if self.width >= self.size:
            parts = self.width // self.size
            return [self._part(word, 8 * self.size * place, self.word, self.element)
                    for word in words for place in range(parts)]
        return list(self._wide(words))

    def _wide(self, words: Sequence[int]) -> Iterator[int]:
        to, parts = self.to, self.size // self.width
        for first in range(0, len(words), parts):
            found = 0
            for place, word in enumerate(words[first:first + parts]):
                moved = to.let(Op.UConvert, self.element, word)
                if place:
                    moved = to.let(Op.ShiftLeftLogical, self.element, moved,
                                   to.number(8 * self.width * place, self.element))
                found = to.let(Op.BitwiseOr, self.element, found, moved) if place else moved
            yield found


def _load_block(*, transpose: bool = False, transform: bool = False) -> Handler:
    def handle(to: Lowering, row: Instruction) -> bool:
        surface = _Surface(to, row, 4, transpose=transpose, transform=transform)
        private = _Private(to, row.words[9], surface, row)
        nothing = to.editor.unique(Op.ConstantNull, type_id=surface.element)
        values = []
        for number in range(surface.count):
            pointer, inside = surface.place(number)
            values.append(to.value_when(inside, surface.element, lambda pointer=pointer: to.let(  # type: ignore[misc]
                Op.Load, surface.element, pointer), nothing))
        private.store(values)
        return True

    return handle


def store_block(to: Lowering, row: Instruction) -> bool:
    """OpSubgroup2DBlockStoreINTEL."""
    surface = _Surface(to, row, 5)
    private = _Private(to, row.words[4], surface, row)
    to.synchronize(surface.base)
    for number, value in enumerate(private.loaded()):
        pointer, inside = surface.place(number)
        to.when(inside, lambda pointer=pointer, value=value: to.do(Op.Store, pointer, value))  # type: ignore[misc]
    to.synchronize(surface.base)
    return True


# --- block reads and writes, shuffles, tf32 --------------------------------------------------------


def read_block(to: Lowering, row: Instruction) -> bool:
    """OpSubgroupBlockReadINTEL: component i of work-item w is element i * S + w."""
    kind = to.editor.definition(row.type_id or 0)
    if kind.opcode != Op.TypeVector:
        to.let(Op.Load, row.type_id or 0, _block_address(to, row.words[0], 0), result=row.result_id)
        return True
    found = [to.let(Op.Load, kind.words[0], _block_address(to, row.words[0], place)) for place in range(kind.words[1])]
    to.let(Op.CompositeConstruct, row.type_id or 0, *found, result=row.result_id)
    return True


def write_block(to: Lowering, row: Instruction) -> bool:
    """OpSubgroupBlockWriteINTEL."""
    to.synchronize(row.words[0])
    for place, value in enumerate(_registers(to, row.words[1])):
        to.do(Op.Store, _block_address(to, row.words[0], place), value)
    to.synchronize(row.words[0])
    return True


def _block_address(to: Lowering, pointer: int, place: int) -> int:
    offset = to.plus(to.lanes.lane, place * to.lanes.size)
    return to.let(Op.PtrAccessChain, to.type_id(pointer), pointer, offset)


def round_tf32(to: Lowering, row: Instruction) -> bool:
    """OpRoundFToTF32INTEL, of numbers or of a matrix."""
    if to.matrix(row.words[0]) is not None:
        for value, result in zip(to.tiles_of(row.words[0]), to.results(row), strict=True):
            to_tf32(to, value, result)
        return True
    values = _registers(to, row.words[0])
    if len(values) == 1:
        to_tf32(to, values[0], row.result_id)
        return True
    to.let(Op.CompositeConstruct, row.type_id or 0, *(to_tf32(to, one) for one in values), result=row.result_id)
    return True


def nothing(to: Lowering, row: Instruction) -> bool:
    """A hint that nobody takes."""
    return True


HANDLERS: Mapping[str, Mapping[Op, Handler]] = {
    SUB_GROUP_PRODUCTS: {Op.SubgroupMatrixMultiplyAccumulateINTEL: multiply},
    BLOCKS_2D: {
        Op.Subgroup2DBlockLoadINTEL: _load_block(),
        Op.Subgroup2DBlockLoadTransformINTEL: _load_block(transform=True),
        Op.Subgroup2DBlockLoadTransposeINTEL: _load_block(transpose=True),
        Op.Subgroup2DBlockStoreINTEL: store_block,
        Op.Subgroup2DBlockPrefetchINTEL: nothing,
    },
    BLOCKS: {
        Op.SubgroupBlockReadINTEL: read_block,
        Op.SubgroupBlockWriteINTEL: write_block,
        Op.SubgroupBlockPrefetchINTEL: nothing,
    },
    JOINT_MATRIX: {Op.CooperativeMatrixPrefetchINTEL: nothing},
    ROUND_TO_TF32: {Op.RoundFToTF32INTEL: round_tf32},
}
"""Extension → what stands for its instructions where a driver does not have it."""


def missing(module: Module, support: MatrixSupport) -> dict[int, Handler]:
    """What stands for the instructions of a module that the driver does not have."""
    found = {op: handler for extension, handlers in HANDLERS.items() if extension not in support.extensions
             for op, handler in handlers.items()}
    used = {row.opcode for row in module.of_opcode(*found)} if found else set()
    return {op: handler for op, handler in found.items() if op in used}


ALONE = frozenset({Op.RoundFToTF32INTEL, Op.Subgroup2DBlockPrefetchINTEL, Op.SubgroupBlockPrefetchINTEL,
                   Op.CooperativeMatrixPrefetchINTEL})
"""What each work-item does by itself, or nobody does."""
