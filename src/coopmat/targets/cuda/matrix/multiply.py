"""``A*B + C``: by mma.sync where the chip has it for the types, else a thread computes its own elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coopmat.formats import FORMATS
from coopmat.spirv.analysis.types import BFLOAT16_ENCODING, FloatType, IntType, MatrixType, Type
from coopmat.targets.cuda.chips import Chip
from coopmat.targets.cuda.lanes import SHARED, WARP
from coopmat.targets.cuda.matrix.blocks import LINE_BYTES, Blocks, Place
from coopmat.targets.cuda.matrix.exchange import Exchange
from coopmat.targets.cuda.matrix.fragments import fragment_of
from coopmat.targets.cuda.matrix.positions import is_element, lane_of
from coopmat.targets.cuda.matrix.volta import HALVES, WMMA_SHAPES, Volta
from coopmat.targets.llvm.arithmetic.conversions import to_float
from coopmat.targets.llvm.arithmetic.integers import add, resized
from coopmat.targets.llvm.values import Matrix, Number, bits_of, literal
from coopmat.targets.llvm.writer import Operand

Formats = tuple[str, str, str, str]
COLUMNS = 8  # of every instruction's D
EIGHT = 8  # rows of A, or columns of B, that the threads of a warp hold in a register
PADDING = 16  # bytes behind a line in local memory, so that lines begin in different banks
TF32_DROPPED = 0x1FFF  # the bits of a float that tf32 does not have


@dataclass(frozen=True)
class Instruction:
    """One mma.sync of PTX, as LLVM's intrinsic. capability: of the first chip that has it. rows, k: M and K; N is 8.
    types: the end of its name. register: LLVM's type of the registers of A and B, vector: as the intrinsic takes them.
    """

    capability: int
    rows: int
    k: int
    types: str
    operand: str
    accumulator: str

    def name(self, types: str, *, saturates: bool) -> str:
        """LLVM's name."""
        return f"llvm.nvvm.mma.m{self.rows}n8k{self.k}.row.col.{'satfinite.' * saturates}{types}"


_WORDS = "i32"
INSTRUCTIONS: dict[str, tuple[Instruction, ...]] = {
    "fp16": (Instruction(80, 16, 16, "f32.f32", HALVES, "float"), Instruction(75, 16, 8, "f32.f32", HALVES, "float")),
    "bf16": (Instruction(80, 16, 16, "bf16", _WORDS, "float"), Instruction(80, 16, 8, "bf16", _WORDS, "float")),
    "tf32": (Instruction(80, 16, 8, "tf32", _WORDS, "float"), Instruction(80, 16, 4, "tf32", _WORDS, "float")),
    "int8": (Instruction(80, 16, 32, "", _WORDS, "i32"), Instruction(80, 16, 16, "", _WORDS, "i32"),
             Instruction(75, 8, 16, "", _WORDS, "i32")),
    "int4": (Instruction(80, 16, 64, "", _WORDS, "i32"), Instruction(80, 16, 32, "", _WORDS, "i32"),
             Instruction(75, 8, 32, "", _WORDS, "i32")),
    "fp64": (Instruction(90, 16, 16, "f64", "double", "double"), Instruction(90, 16, 8, "f64", "double", "double"),
             Instruction(90, 16, 4, "f64", "double", "double"), Instruction(80, 8, 4, "f64", "double", "double")),
}
"""By the types of A and B, those with the largest K first. Source: PTX ISA, mma.sync; LLVM's table of intrinsics."""
WMMA_PAIRS = 8  # registers of A and B of fp16, whatever the shape; those that there are repeat
_INTEGERS = {"sint8": ("int8", "s8"), "uint8": ("int8", "u8"), "sint4": ("int4", "s4"), "uint4": ("int4", "u4")}


def instructions_for(formats: Formats, chip: Chip) -> list[Instruction]:
    """The instructions that compute such products on a chip; none if it has none."""
    a, b, c, d = formats
    names = [_INTEGERS.get(one, (one, ""))[0] for one in (a, b)]
    if names[0] != names[1] or names[0] not in INSTRUCTIONS:
        return []
    found = [one for one in INSTRUCTIONS[names[0]] if chip.has(one.capability)]
    accumulators = {"double": ("fp64",), "float": ("fp32", "fp16", "bf16"), "i32": ("sint32", "uint32")}
    return [one for one in found if c in accumulators[one.accumulator] and d in accumulators[one.accumulator]]


class Multiply(Volta):
    """Multiplies and accumulates."""

    def multiply(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats, *,
                 saturates: bool) -> Matrix:
        """``A*B + C`` of numbers of these formats."""
        if self._is_whole_wmma(kind, operands, formats):
            return self._by_wmma(kind, operands)
        if self.is_for_volta(kind, operands, formats):
            return self.on_volta(kind, operands, formats)
        instructions = instructions_for(formats, self.lanes.variant.chip)
        most = max((one.k for one in instructions), default=0)
        if saturates and (formats[3] != "sint32" or operands[0].kind.columns > most):
            instructions = []  # they saturate to 32 bits with a sign, and each does
        if instructions and kind.is_of_work_group and self._are_shared_tiles(kind, operands):
            return self._by_shared_tiles(kind, operands, formats, instructions, saturates)
        if instructions and self._are_tiles(kind, operands):
            return self._by_instructions(kind, operands, formats, instructions, saturates)
        return self._by_threads(kind, operands, formats, saturates)

    def _are_tiles(self, kind: MatrixType, operands: Sequence[Matrix]) -> bool:
        """Whether the threads hold what the instructions want of them."""
        a, b, c, d = (fragment_of(one) for one in (*(operand.kind for operand in operands), kind))
        return a.is_by_rows(a.per_register) and b.is_by_columns(b.per_register) and (
            (c.is_by_rows(2) and d.is_by_rows(2)) or (c.is_by_columns(2) and d.is_by_columns(2)))

    # --- wmma -------------------------------------------------------------------------

    def _is_whole_wmma(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats) -> bool:
        """Whether the product is one that mma.sync does not have: C of fp32 is added as such, and the sum rounded to
        fp16."""
        shape = (kind.rows, kind.columns, operands[0].kind.columns)
        return formats == ("fp16", "fp16", "fp32", "fp16") and shape in WMMA_SHAPES and self._are_tiles(
            kind, operands) and self.lanes.variant.chip.has(75)

    def _by_wmma(self, kind: MatrixType, operands: Sequence[Matrix]) -> Matrix:
        a, b, c = operands
        name = f"m{kind.rows}n{kind.columns}k{a.kind.columns}"
        given: list[Operand] = []
        for one in (a, b):
            pairs = [self.writer.let(f"bitcast i32 {register} to {HALVES}") for register in self.registers(one)]
            given += [(HALVES, pair) for pair in (pairs * WMMA_PAIRS)[:WMMA_PAIRS]]
        given += [("float", register) for register in self.registers(c)]
        result = f"{{ {', '.join([HALVES] * fragment_of(kind).registers)} }}"
        found = self.writer.call(result, f"llvm.nvvm.wmma.{name}.mma.row.col.f16.f32", given, "convergent nounwind")
        parts = [self.writer.let(f"extractvalue {result} {found}, {place}")
                 for place in range(fragment_of(kind).registers)]
        return self.matrix(kind, [self.writer.let(f"bitcast {HALVES} {part} to i32") for part in parts])

    # --- mma.sync ---------------------------------------------------------------------

    def _by_instructions(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats,
                         instructions: Sequence[Instruction], saturates: bool) -> Matrix:
        """By tiles of the instructions' shapes; of an accumulator that lies by columns, ``B^T * A^T + C^T`` is
        computed."""
        a, b, c = operands
        turned = fragment_of(kind).is_by_columns(2)
        in_half = formats[0] == "fp16" and formats[2] == formats[3] == "fp16"
        tiles = _Tiles(self, kind, c, formats, turned, in_half)
        rows, columns = (kind.columns, kind.rows) if turned else (kind.rows, kind.columns)
        above, beside = (Factor(self, one, is_a=one is a) for one in ((b, a) if turned else (a, b)))
        types = (formats[1], formats[0]) if turned else (formats[0], formats[1])
        for instruction, k in _steps(a.kind.columns, instructions):
            name = instruction.name(_types(instruction, types, in_half), saturates=saturates)
            for row in range(0, rows, instruction.rows):
                left = above.registers(instruction, row, k, instruction.rows)
                for column in range(0, columns, COLUMNS):
                    right = beside.registers(instruction, column, k, COLUMNS)
                    tiles.update(instruction, name, row, column, [*left, *right])
        return tiles.matrix()

    # --- mma.sync, of a work-group ----------------------------------------------------

    def _are_shared_tiles(self, kind: MatrixType, operands: Sequence[Matrix]) -> bool:
        """Whether the accumulator lies as the warps' instructions want it, and elements of A and B have bytes."""
        a, _, c = (fragment_of(operand.kind) for operand in operands)
        own = fragment_of(kind).spread
        return own.is_regular and own.lanes % WARP == 0 and c.spread.offsets == own.offsets and a.bits >= 8

    def _by_shared_tiles(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats,
                         instructions: Sequence[Instruction], saturates: bool) -> Matrix:
        """A and B lie in local memory, along K, and every warp takes what it needs of them."""
        a, b, _ = operands
        lane, top, beside = self.warp_of(kind)
        held = kind.layout.held
        above = (Factor(self, a, is_a=True) if fragment_of(a.kind).lies_like(fragment_of(kind))
                 else _SharedFactor(self, a, 0, int(held.row.max()) + 1, top, lane))
        across = _SharedFactor(self, b, 1, int(held.column.max()) + 1, beside, lane)
        self.lanes.barrier(kind.scope)
        found = self.by_factors(kind, operands, formats, instructions, above, across, saturates=saturates)
        self.done(kind)
        return found

    def warp_of(self, kind: MatrixType) -> tuple[Number, Number, Number]:
        """A thread's number in its warp, and the first row and column of an accumulator that the warp has."""
        emitter = self.emitter
        row, column = fragment_of(kind).spread.start(emitter, lane_of(emitter, kind, "i64"))
        lane = emitter.apply("and {t} {0}, {1}", "i64", lane_of(emitter, kind, "i64"),
                             emitter.constant("i64", WARP - 1))
        quad = emitter.apply("lshr {t} {0}, {1}", "i64", lane, emitter.constant("i64", 2))
        within = emitter.apply("and {t} {0}, {1}", "i64", lane, emitter.constant("i64", 3))
        top = emitter.apply("sub {t} {0}, {1}", "i64", row, quad)
        beside = emitter.apply("sub {t} {0}, {1}", "i64", column, emitter.apply(
            "shl {t} {0}, {1}", "i64", within, emitter.constant("i64", 1)))
        return lane, top, beside

    def by_factors(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats,
                   instructions: Sequence[Instruction], above: FactorRegisters, across: FactorRegisters, *,
                   saturates: bool) -> Matrix:
        """Of a warp's rows of A and columns of B."""
        in_half = formats[0] == "fp16" and formats[2] == formats[3] == "fp16"
        tiles = _Tiles(self, kind, operands[2], formats, False, in_half)
        rows, columns = (sorted({offset[axis] - offset[axis] % step for offset in fragment_of(kind).spread.offsets})
                         for axis, step in ((0, EIGHT), (1, COLUMNS)))
        for instruction, k in _steps(operands[0].kind.columns, instructions):
            name = instruction.name(_types(instruction, formats[:2], in_half), saturates=saturates)
            left = {down: above.registers(instruction, down, k, instruction.rows)
                    for down in rows[::instruction.rows // EIGHT]}  # a warp has few rows, and many columns
            for first in range(0, len(columns), 2):
                places = columns[first:first + 2]
                for place, right in zip(places, across.pair(instruction, places, k), strict=True):
                    for down, factor in left.items():
                        tiles.update(instruction, name, down, place, [*factor, *right])
        return tiles.matrix()

    # --- a thread's own elements ------------------------------------------------------

    def _by_threads(self, kind: MatrixType, operands: Sequence[Matrix], formats: Formats, saturates: bool) -> Matrix:
        """Each thread reads rows of A and columns of B in local memory."""
        a, b, c = operands
        emitter, writer = self.emitter, self.writer
        left, right = self.left(a, "a"), self.left(b, "b")
        is_alike = fragment_of(c.kind).spread.offsets == fragment_of(kind).spread.offsets
        own = c if is_alike else self.moved(replace(kind, component=c.kind.component), c.kind, self.components(c))
        wide = _wide_type(formats, saturates=saturates)
        signs = [one.startswith("s") for one in formats]
        starts = self.components(own)
        made = [self.zero(kind)] * len(starts)
        for number, (row, column) in self._present(kind):

            def turn(k: str, carried: list[str], row: Number = row, column: Number = column) -> list[str]:
                place = Number("i64", k)
                x = self._widened(self.element(left, a.kind, (row, place)), a.kind, formats[0], wide)
                y = self._widened(self.element(right, b.kind, (place, column)), b.kind, formats[1],
                                  wide)
                return [self._accumulated(wide, carried[0], x, y)]

            first = self._widened(starts[number], own.kind, formats[2], wide)
            total = literal(wide, 0) if saturates else first.base
            [total] = writer.repeat(a.kind.columns, [(wide, total)], turn)
            found = Number(wide, total)
            if saturates:
                found = self._saturated(add(emitter, found, first), kind, signed=signs[3])
            made[number] = self._narrowed(found, kind, formats[3], wide)
        self.done(kind)
        return self.of_components(kind, made)

    def _accumulated(self, wide: str, total: str, x: Number, y: Number) -> str:
        if wide.startswith("i"):
            return self.writer.let(f"add {wide} {self.writer.let(f'mul {wide} {x.base}, {y.base}')}, {total}")
        return self.emitter.intrinsic("fma", wide, x, y, Number(wide, total)).base

    def _widened(self, number: Number, kind: MatrixType, fmt: str, wide: str) -> Number:
        if wide.startswith("i"):
            if kind.component == IntType(4) and fmt.startswith("u"):
                number = self.emitter.apply("and {t} {0}, {1}", "i8", number, self.emitter.constant("i8", 15))
            return resized(self.emitter, number, wide, signed=fmt.startswith("s"))
        if fmt == "tf32":
            whole = self.writer.let(f"bitcast float {number.base} to i32")
            kept = self.writer.let(f"and i32 {whole}, {~TF32_DROPPED}")
            number = Number("float", self.writer.let(f"bitcast i32 {kept} to float"))
        return to_float(self.emitter, number, FLOAT_TYPES[fmt], _FLOATS[wide], "rte")

    def _narrowed(self, number: Number, kind: MatrixType, fmt: str, wide: str) -> Number:
        if wide.startswith("i"):
            return resized(self.emitter, number, self.zero(kind).type, signed=True)
        return to_float(self.emitter, number, _FLOATS[wide], FLOAT_TYPES[fmt], "rte")

    def _saturated(self, number: Number, kind: MatrixType, *, signed: bool) -> Number:
        """An exact sum in the range of the result's type."""
        bits = bits_of(self.zero(kind).type)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        emitter = self.emitter
        above = emitter.intrinsic("smax", number.type, number, emitter.constant(number.type, low))
        return emitter.intrinsic("smin", number.type, above, emitter.constant(number.type, high))


_FLOATS: dict[str, Type] = {"float": FloatType(32), "double": FloatType(64)}


FLOAT_TYPES: dict[str, Type] = {"fp16": FloatType(16), "bf16": FloatType(16, BFLOAT16_ENCODING), "fp32": FloatType(32),
                                "tf32": FloatType(32), "fp64": FloatType(64)}
"""The types of numbers of each format; matrices may hold bf16 as integers."""


def _wide_type(formats: Formats, *, saturates: bool) -> str:
    """LLVM's type in which sums are computed; exactly, where they saturate."""
    if FORMATS[formats[0]].is_float:
        return "double" if "fp64" in formats else "float"
    return "i128" if saturates and 64 in (FORMATS[formats[2]].bits, FORMATS[formats[3]].bits) else "i64"


def _types(instruction: Instruction, inputs: tuple[str, str], in_half: bool) -> str:
    """The end of the intrinsic's name."""
    if in_half:
        return "f16.f16"
    if instruction.types:
        return instruction.types
    names = [_INTEGERS[one][1] for one in inputs]
    return names[0] if names[0] == names[1] else ".".join(names)


def _steps(k: int, instructions: Sequence[Instruction]) -> list[tuple[Instruction, int]]:
    """Which instruction computes which part of K: the largest that fit; what is left is padded with zeros."""
    found, place = [], 0
    while place < k:
        one = next((one for one in instructions if place + one.k <= k), instructions[-1])
        one = min((other for other in instructions if other.k >= k - place), key=lambda other: other.k, default=one) \
            if place + one.k > k else one
        found.append((one, place))
        place += one.k
    return found


class FactorRegisters(ABC):
    """A or B, with registers for instructions."""

    @abstractmethod
    def registers(self, instruction: Instruction, outer: int, k: int, count: int) -> list[Operand]:
        """The registers of a tile: ``count`` rows of A or columns of B from ``outer`` on, those from ``k`` on of K."""

    def pair(self, instruction: Instruction, outers: Sequence[int], k: int) -> list[list[Operand]]:
        """Those of B's tiles from one column on, or from two."""
        return [self.registers(instruction, outer, k, COLUMNS) for outer in outers]


class Factor(FactorRegisters):
    """Of a matrix that the threads hold so."""

    def __init__(self, form: Exchange, matrix: Matrix, *, is_a: bool) -> None:
        self.form = form
        self.fragment = fragment_of(matrix.kind)
        self.is_a = is_a
        self.found = form.registers(matrix)

    def registers(self, instruction: Instruction, outer: int, k: int, count: int) -> list[Operand]:
        step = 4 * self.fragment.per_register
        return [(instruction.operand, self._register(beside, inner, instruction.operand))
                for inner in range(k, k + instruction.k, step) for beside in range(outer, outer + count, EIGHT)]

    def _register(self, outer: int, inner: int, llvm: str) -> str:
        component = self.fragment.spread.component_at.get((outer, inner) if self.is_a else (inner, outer))
        if component is None:
            return _zero(llvm)
        register, own = self.found[component // self.fragment.per_register], self.fragment.register
        return register if own == llvm else self.form.writer.let(f"bitcast {own} {register} to {llvm}")


class _SharedFactor(FactorRegisters):
    """A or B of a work-group, in local memory with K along the lines. count: rows or columns that warps read, of which
    the last ones may lie outside of the matrix. outer: a warp's first one."""

    def __init__(self, form: Exchange, matrix: Matrix, axis: int, count: int, outer: Number, lane: Number) -> None:
        self.form, self.kind, self.outer, self.lane = form, matrix.kind, outer, lane
        self.fragment = fragment_of(matrix.kind)
        nbytes = self.fragment.bits // 8
        depth = (self.kind.columns, self.kind.rows)[axis]
        self.pitch = depth * nbytes + PADDING
        self.base = form.region(self.kind, count * self.pitch, "ab"[axis])
        emitter, writer = form.emitter, form.writer
        components = form.components(matrix)
        for number, position in form.possible(self.kind):
            line = writer.line(self.base, position[axis].base, self.pitch)
            place = writer.line(line, position[1 - axis].base, nbytes)
            text = f"store {components[number].type} {components[number].base}, ptr {place}"
            if self.fragment.spread.everywhere[number]:
                writer.do(text)
            else:
                writer.when(is_element(emitter, self.kind, position).base,
                            lambda text=text: writer.do(text))  # type: ignore[misc]
        self.has_blocks = form.can_load_blocks and self.fragment.bits <= 32 and self.pitch % LINE_BYTES == 0
        quad = emitter.apply("lshr {t} {0}, {1}", "i64", lane, emitter.constant("i64", 2))
        within = emitter.apply("and {t} {0}, {1}", "i64", lane, emitter.constant("i64", 3))
        first = writer.line(self.base, add(emitter, outer, quad).base, self.pitch)
        self.own = writer.line(first, within.base, nbytes * self.fragment.per_register)
        self._lines: dict[tuple[Place, ...], str] = {}

    def registers(self, instruction: Instruction, outer: int, k: int, count: int) -> list[Operand]:
        each, nbytes = self.fragment.per_register, self.fragment.bits // 8
        places = [(outer + beside, inner * nbytes) for inner in range(k, k + instruction.k, 4 * each)
                  for beside in range(0, count, EIGHT)]
        llvm, writer = instruction.operand, self.form.writer
        if not self.has_blocks:
            return [(llvm, self._register(line * self.pitch + byte, llvm)) for line, byte in places]
        words: list[str] = []
        for registers, steps in Blocks(tuple(places), False, tuple(range(len(places)))).groups:
            line, byte = places[registers[0]]
            words += self.form.loaded_blocks(self._line(steps, line * self.pitch + byte), len(registers))
        return [(llvm, writer.of_word(llvm, word)) for word in words]

    def _line(self, steps: tuple[Place, ...], offset: int) -> str:
        """The address of the line that a thread gives for blocks from an offset on, in shared memory."""
        form = self.form
        if steps not in self._lines:
            line, byte = form.line_of(self.lane, steps)
            start = form.writer.line(self.base, add(form.emitter, self.outer, line).base, self.pitch)
            self._lines[steps] = form.in_shared(form.writer.let(f"getelementptr i8, ptr {start}, i64 {byte.base}"))
        return form.writer.let(f"getelementptr i8, ptr addrspace({SHARED}) {self._lines[steps]}, i64 {offset}")

    def _register(self, offset: int, llvm: str) -> str:
        writer = self.form.writer
        address = writer.let(f"getelementptr i8, ptr {self.own}, i64 {offset}")
        return writer.let(f"load {llvm}, ptr {address}, align {max(4, self.fragment.bits // 8)}")


class _Tiles:
    """The accumulator, in registers as the instructions have them: float, double, i32, or two halves."""

    def __init__(self, form: Multiply, kind: MatrixType, c: Matrix, formats: Formats, turned: bool,
                 in_half: bool) -> None:
        self.form, self.kind, self.format, self.turned = form, kind, formats[3], turned
        self.fragment = fragment_of(kind)
        self.each = 2 if in_half else 1  # components in such a register
        if in_half:
            self.type = HALVES
            self.values = [form.writer.let(f"bitcast i32 {one} to {HALVES}") for one in form.registers(c)]
            return
        numbers = form.components(c)
        if formats[2] in ("fp16", "bf16"):
            numbers = [to_float(form.emitter, one, FLOAT_TYPES[formats[2]], FloatType(32), "rte") for one in numbers]
        self.type = numbers[0].type
        self.values = [one.base for one in numbers]

    def update(self, instruction: Instruction, name: str, row: int, column: int, factors: list[Operand]) -> None:
        """Add a product of tiles."""
        places = self._places(row, column, instruction.rows)
        operands = [*factors, *((self.type, _zero(self.type) if place is None else self.values[place])
                                for place in places)]
        kind = f"{{ {', '.join([self.type] * len(places))} }}"
        found = self.form.writer.call(kind, name, operands, "convergent nounwind")
        for number, place in enumerate(places):
            if place is not None:
                self.values[place] = self.form.writer.let(f"extractvalue {kind} {found}, {number}")

    def _places(self, row: int, column: int, rows: int) -> list[int | None]:
        """The numbers of the registers of a tile, None for padding."""
        found: list[int | None] = []
        for down in range(row, row + rows, EIGHT):
            for beside in range(column, column + 2, self.each):
                component = self.fragment.spread.component_at.get((beside, down) if self.turned else (down, beside))
                found.append(None if component is None else component // self.each)
        return found

    def matrix(self) -> Matrix:
        """The result."""
        form, kind = self.form, self.kind
        if self.each == 2:
            return form.matrix(kind, [form.writer.let(f"bitcast {HALVES} {one} to i32") for one in self.values])
        numbers = [Number(self.type, one) for one in self.values]
        if self.format in ("fp16", "bf16"):
            numbers = [to_float(form.emitter, one, FloatType(32), FLOAT_TYPES[self.format], "rte") for one in numbers]
        return form.of_components(kind, numbers)


def _zero(llvm: str) -> str:
    return "zeroinitializer" if llvm.startswith("<") else literal(llvm, 0)
