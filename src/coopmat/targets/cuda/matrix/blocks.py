"""Blocks of eight lines of 16 bytes, which a warp moves at once (PTX ISA, ldmatrix, stmatrix and movmatrix)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from coopmat.spirv.analysis.types import MatrixType, PointerType
from coopmat.spirv.grammar import CooperativeMatrixLayout as Layout
from coopmat.spirv.grammar import CooperativeMatrixUse as Use
from coopmat.spirv.grammar import StorageClass
from coopmat.targets.cuda.chips import Chip
from coopmat.targets.cuda.lanes import CONVERGENT, SHARED
from coopmat.targets.cuda.matrix.fragments import REGISTER_BITS, Fragment, fragment_of
from coopmat.targets.cuda.matrix.orders import Order, are_neighbours
from coopmat.targets.cuda.matrix.registers import Registers
from coopmat.targets.llvm.arithmetic.integers import add, multiply
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.matrices import MatrixAccess
from coopmat.targets.llvm.threads.spread import Position
from coopmat.targets.llvm.values import Matrix, Number

LINES, LINE_BYTES, WORD_BYTES = 8, 16, 4
MOST_AT_ONCE = 4
MOVMATRIX = "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;"
STMATRIX = "stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [$0], {{{}}};"
Place = tuple[int, int]  # a line of memory, and a byte of it


@dataclass(frozen=True)
class Blocks:
    """The blocks that the registers of a warp are. places: where they begin, from where the matrix does. is_turned:
    whether each lies in memory across the pairs of 16-bit elements that the registers hold. order: the registers in the
    order in which instructions take them."""

    places: tuple[Place, ...]
    is_turned: bool
    order: tuple[int, ...]

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, kind: MatrixType, layout: Layout) -> Blocks | None:
        """None where the registers are no such blocks."""
        fragment, order = fragment_of(kind), Order.of(kind, layout)
        step, spread = fragment.per_register, fragment.spread
        axis = 1 if fragment.is_by_rows(step) else 0  # along which a register's components are neighbours
        is_turned = order.along != axis
        if (order.together > 1 or fragment.bits * step != REGISTER_BITS or not all(spread.everywhere)
                or not (fragment.is_by_rows(step) or fragment.is_by_columns(step))
                or (is_turned and fragment.bits != 16)
                or not all(are_neighbours(spread.offsets[first:first + step], axis)
                           for first in range(0, spread.components, step))):
            return None
        offsets = spread.offsets[::step]
        return cls(tuple((offset[1 - order.along], offset[order.along] * fragment.bits // 8) for offset in offsets),
                   is_turned, _order_of_instructions(kind.use, offsets, 4 * step))

    @property
    def groups(self) -> Iterator[tuple[tuple[int, ...], tuple[Place, ...]]]:
        """Registers that are moved at once, and the steps from block to block that the bits of a block's number stand
        for."""
        first = 0
        while first < len(self.order):
            for count in (MOST_AT_ONCE, 2, 1):
                registers = self.order[first:first + count]
                some = [self.places[register] for register in registers]
                steps = tuple((some[1 << bit][0] - some[0][0], some[1 << bit][1] - some[0][1])
                              for bit in range(count.bit_length() - 1)) if len(some) == count else ()
                if len(some) == count and all(place == _sum(some[0], steps, number)
                                              for number, place in enumerate(some)):
                    break
            yield registers, steps
            first += count


def _order_of_instructions(use: int, offsets: Sequence[tuple[int, int]], along_k: int) -> tuple[int, ...]:
    """Registers, by their first elements, in the order in which mma.sync takes them: of A two blocks of rows, then the
    next ones along K; of B two along K, then the next columns. What is loaded at once stays together."""
    def place(register: int) -> tuple[int, ...]:
        row, column = offsets[register]
        if use == Use.MatrixAKHR:
            return row // (2 * LINES), column // (2 * along_k), column, row
        return column // (2 * LINES), row // (2 * along_k), column, row

    registers = range(len(offsets))
    return tuple(registers if use == Use.MatrixAccumulatorKHR else sorted(registers, key=place))


def _sum(start: Place, steps: Sequence[Place], number: int) -> Place:
    """The place that a block's number leads to."""
    taken = [step for bit, step in enumerate(steps) if number >> bit & 1]
    return start[0] + sum(line for line, _ in taken), start[1] + sum(byte for _, byte in taken)


class BlockMemory(Registers):
    """Loads and stores of blocks."""

    def __init__(self, emitter: Emitter, chip: Chip) -> None:
        super().__init__(emitter)
        self.can_turn = self.can_load_blocks = chip.has(75)
        self.can_store_blocks = chip.has(90)

    def is_shared(self, access: MatrixAccess) -> bool:
        """Whether a matrix is known to lie in local memory."""
        pointer = self.emitter.type_of(access.pointer)
        return isinstance(pointer, PointerType) and pointer.storage == StorageClass.Workgroup

    def load_blocks(self, kind: MatrixType, access: MatrixAccess, blocks: Blocks) -> Matrix:
        """From local memory, lines aligned to 16 bytes: a thread gives the address of a line (ldmatrix)."""
        words: dict[int, str] = {}
        for registers, address in self._lines(access, blocks):
            found = self.loaded_blocks(address, len(registers), is_turned=blocks.is_turned)
            words |= zip(registers, found, strict=True)
        llvm = fragment_of(kind).register
        return self.matrix(kind, [self.writer.of_word(llvm, words[register]) for register in sorted(words)])

    def loaded_blocks(self, address: str, count: int, *, is_turned: bool = False) -> list[str]:
        """The words of so many blocks; a thread gives the address of a line in shared memory (ldmatrix)."""
        result = "i32" if count == 1 else f"{{ {', '.join(['i32'] * count)} }}"
        found = self.writer.call(
            result, f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{'.trans' * is_turned}.b16.p{SHARED}",
            [(f"ptr addrspace({SHARED})", address)], CONVERGENT)
        return [found] if count == 1 else [
            self.writer.let(f"extractvalue {result} {found}, {place}") for place in range(count)]

    def store_blocks(self, matrix: Matrix, access: MatrixAccess, blocks: Blocks) -> None:
        """To local memory, likewise (stmatrix)."""
        fragment = fragment_of(matrix.kind)
        words = [self._word(fragment, register) for register in self.registers(matrix)]
        for registers, address in self._lines(access, blocks):
            count = len(registers)
            text = STMATRIX.format(count, ".trans" * blocks.is_turned,
                                   ", ".join(f"${place}" for place in range(1, count + 1)))
            operands = ", ".join([f"ptr addrspace({SHARED}) {address}",
                                  *(f"i32 {words[register]}" for register in registers)])
            self.writer.do(f'call void asm sideeffect "{text}", "{",".join(["r"] * (count + 1))},~{{memory}}"'
                           f"({operands}) convergent")

    def load_turned(self, kind: MatrixType, access: MatrixAccess, blocks: Blocks) -> Matrix:
        """Blocks as they lie in memory, word by word, which the warp then transposes (movmatrix)."""
        return self.matrix(kind, [self._turned(self.writer.let(f"load i32, ptr {address}, align {WORD_BYTES}"))
                                  for address in self._words(access, blocks)])

    def store_turned(self, matrix: Matrix, access: MatrixAccess, blocks: Blocks) -> None:
        """The other way round."""
        for register, address in zip(self.registers(matrix), self._words(access, blocks), strict=True):
            self.writer.do(f"store i32 {self._turned(register)}, ptr {address}, align {WORD_BYTES}")

    def _turned(self, word: str) -> str:
        return self.writer.let(f'call i32 asm sideeffect "{MOVMATRIX}", "=r,r"(i32 {word}) convergent')

    def _lines(self, access: MatrixAccess, blocks: Blocks) -> Iterator[tuple[tuple[int, ...], str]]:
        """Of each group of blocks the registers, and in shared memory the address of the line that a thread stands for:
        of the block that its number's upper bits count."""
        emitter = self.emitter
        lane, stride = emitter.lane_number("i64"), Number("i64", access.stride)
        starts: dict[tuple[Place, ...], str] = {}
        for registers, steps in blocks.groups:
            if steps not in starts:
                line, byte = self.line_of(lane, steps)
                starts[steps] = self.in_shared(self.address_of_byte(access.address, line, byte, stride))
            down, beside = blocks.places[registers[0]]
            way = add(emitter, multiply(emitter, stride, emitter.constant("i64", down)),
                      emitter.constant("i64", beside))
            yield registers, self.writer.let(
                f"getelementptr i8, ptr addrspace({SHARED}) {starts[steps]}, i64 {way.base}")

    def line_of(self, lane: Number, steps: Sequence[Place]) -> Position:
        """The line that a thread stands for, and the byte where it begins, from where the first block does."""
        emitter = self.emitter
        line = emitter.apply("and {t} {0}, {1}", "i64", lane, emitter.constant("i64", LINES - 1))
        byte = emitter.constant("i64", 0)
        for bit, (down, beside) in enumerate(steps, LINES.bit_length() - 1):
            one = emitter.apply("and {t} {0}, {1}", "i64", emitter.apply(
                "lshr {t} {0}, {1}", "i64", lane, emitter.constant("i64", bit)), emitter.constant("i64", 1))
            line = add(emitter, line, multiply(emitter, one, emitter.constant("i64", down)))
            byte = add(emitter, byte, multiply(emitter, one, emitter.constant("i64", beside)))
        return line, byte

    def _words(self, access: MatrixAccess, blocks: Blocks) -> Iterator[str]:
        """The address of a thread's word in each block, as the blocks lie in memory."""
        emitter, writer = self.emitter, self.writer
        lane, stride = emitter.lane_number("i64"), Number("i64", access.stride)
        line = emitter.apply("lshr {t} {0}, {1}", "i64", lane, emitter.constant("i64", 2))
        word = emitter.apply("and {t} {0}, {1}", "i64", lane, emitter.constant("i64", 3))
        byte = multiply(emitter, word, emitter.constant("i64", WORD_BYTES))
        start = self.address_of_byte(access.address, line, byte, stride)
        lines: dict[int, str] = {0: start}
        for down, beside in blocks.places:
            if down not in lines:
                way = multiply(emitter, stride, emitter.constant("i64", down))
                lines[down] = writer.let(f"getelementptr i8, ptr {start}, i64 {way.base}")
            yield writer.let(f"getelementptr i8, ptr {lines[down]}, i64 {beside}")

    # --- addresses --------------------------------------------------------------------

    def address(self, access: MatrixAccess, fragment: Fragment, where: Position) -> str:
        """The address of an element, by its line and its place there; of 4-bit ones, of their byte."""
        emitter, (line, place) = self.emitter, where
        if fragment.bits < 8:
            byte = emitter.apply("lshr {t} {0}, {1}", "i64", place, emitter.constant("i64", 1))
        else:
            byte = multiply(emitter, place, emitter.constant("i64", fragment.bits // 8))
        return self.address_of_byte(access.address, line, byte, Number("i64", access.stride))

    def address_of_byte(self, start: str, line: Number, byte: Number, stride: Number) -> str:
        """The address of a byte of a line."""
        way = add(self.emitter, multiply(self.emitter, line, stride), byte)
        return self.writer.let(f"getelementptr i8, ptr {start}, i64 {way.base}")

    def is_aligned(self, access: MatrixAccess, nbytes: int) -> str:
        """Whether all lines of a matrix begin at multiples of so many bytes."""
        if access.alignment >= nbytes and access.stride.lstrip("-").isdigit() and int(access.stride) % nbytes == 0:
            return "true"
        let = self.writer.let
        place = let(f"ptrtoint ptr {access.address} to i64")
        origin = self.emitter.origins.of(access.pointer) if self.is_shared(access) else None
        if origin is not None:  # whose variables are aligned: LLVM sees it by one way or by the other
            start = let(f"ptrtoint ptr {self.emitter.number(origin).base} to i64")
            offset = let(f"ptrtoint ptr addrspace({SHARED}) {self.in_shared(access.address)} to i64")
            place = let(f"and i64 {offset}, {let(f'sub i64 {place}, {start}')}")
        rest = let(f"and i64 {let(f'or i64 {place}, {access.stride}')}, {nbytes - 1}")
        return let(f"icmp eq i64 {rest}, 0")

    def in_shared(self, address: str) -> str:
        """A generic address as one of shared memory."""
        return self.writer.let(f"addrspacecast ptr {address} to ptr addrspace({SHARED})")

    def _word(self, fragment: Fragment, register: str) -> str:
        return register if fragment.register == "i32" else self.writer.let(
            f"bitcast {fragment.register} {register} to i32")
