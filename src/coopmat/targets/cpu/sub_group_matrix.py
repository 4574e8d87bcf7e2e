"""OpSubgroupMatrixMultiplyAccumulateINTEL: SPV_INTEL_subgroup_matrix_multiply_accumulate.

The operands are vectors of each work-item. Of every combination, a row of A and a column of B are eight words of 32
bits with K / 8 elements each: B's are the components of the work-item that has the column, and A's follow each other
in the lanes of one component (devices/subgroup_layout.py). A row of the result, a vector over the work-items, is the
sum of eight products: of a word of A, the same for all, and the word of B that each work-item has.

Integers are exact and wrap. Floating-point numbers are multiplied and added as float, with fused multiply-add, in
ascending k; an accumulator in fp16 or bf16 is rounded once at the end. The error is at most K * 2**-23 of the sum of
the products' magnitudes, before that rounding. With other ``numerics`` they are what these say (:mod:`.matrix.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence

from coopmat.devices.lane_layout import WORD_BITS, LaneLayout
from coopmat.devices.subgroup_layout import SubGroupMatrixRow
from coopmat.formats import format_of
from coopmat.spirv.grammar import Op
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.cpu.byte_products import ByteProducts, Signs
from coopmat.targets.cpu.lanes.vector import lanes_of
from coopmat.targets.cpu.matrix.multiply_as import rule_of
from coopmat.targets.cpu.matrix.rows import BYTES, DOUBLE, Factors, Rule, pitch_of, stored, stored_forms
from coopmat.targets.cpu.options import HARDWARE
from coopmat.targets.llvm.arithmetic.floats import from_bf16, to_bf16
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.intel_matrices import known_multiply
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.terms import Term
from coopmat.targets.llvm.values import Number, Value, bits_of
from coopmat.targets.llvm.writer import Writer

WORDS = 8  # of a row of A and of a column of B
TF32_BITS = -0x2000  # the upper 19 bits of a float


def a_word(layout: LaneLayout, m: int, word: int) -> tuple[int, int]:
    """Where a word of a row of A is: the component, and its number among the words of this component's lanes."""
    places = layout.of_elements
    k = word * (WORD_BITS // layout.element_bits)
    start = int(places.lane[m, k]) * layout.register_bits + int(places.bit[m, k])
    return int(places.register[m, k]), start // WORD_BITS


class _Multiply:
    """Writes the code of one instruction."""

    def __init__(self, emitter: Emitter, row: SubGroupMatrixRow, m: int) -> None:
        self.emitter = emitter
        self.writer: Writer = emitter.writer
        self.size = emitter.size
        self.row = row
        self.m = m
        self.layout = row.layout("a", m)
        self.products = ByteProducts(emitter, lanes_of(emitter).variant.features)

    def words_of_a(self, a: tuple[Number, ...]) -> list[str]:
        """The rows of A as vectors of words."""
        per_component = []
        for number in a:
            count = self.size * bits_of(number.type) // WORD_BITS
            per_component.append((count, self.writer.let(
                f"bitcast {self.emitter.vector(number.type)} {self.emitter.lanes(number)} to <{count} x i32>")))
        return [self._row(per_component, m) for m in range(self.m)]

    def _row(self, components: list[tuple[int, str]], m: int) -> str:
        places = [a_word(self.layout, m, word) for word in range(WORDS)]
        count, text = components[places[0][0]]
        chosen = ", ".join(f"i32 {place}" for _, place in places)
        whole = f"<{count} x i32>"
        return self.writer.let(f"shufflevector {whole} {text}, {whole} poison, <{WORDS} x i32> <{chosen}>")

    def words_of_b(self, b: tuple[Number, ...]) -> list[str]:
        """The words of all work-items' columns."""
        return [self.emitter.lanes(self.emitter.apply("bitcast {t} {0} to {r}", "i32", one)) for one in b]

    def same(self, vector: str, llvm: str, word: int) -> str:
        """One of eight numbers for all work-items."""
        places = ", ".join([f"i32 {word}"] * self.size)
        whole = f"<{WORDS} x {llvm}>"
        return self.writer.let(f"shufflevector {whole} {vector}, {whole} poison, <{self.size} x i32> <{places}>")

    # --- integers ---------------------------------------------------------------------

    def integers(self, a: tuple[Number, ...], b: list[str], c: list[str]) -> list[str]:
        """The rows of the result."""
        bits = format_of(self.row.a).bits
        signs = (self.row.a.startswith("s"), self.row.b.startswith("s"))
        if self.products.widest(self.size) is None:
            return self._by_elements(self.words_of_a(a), b, c, signs)
        if bits == 8:
            rows = self.words_of_a(tuple(self.products.turned(number, signs) for number in a))
            return self._by_octets(rows, b, c, signs)
        if signs == (False, False):
            signs = (False, True)  # numbers up to 15 are signed bytes, too
        rows = self.words_of_a(tuple(self.products.turned(number, signs, bits) for number in a))
        is_signed = signs == (True, False)  # turned, they are not
        rows = [part for words in rows for part in self._octets(words, WORDS, is_signed)]
        b = [part for words in b for part in self._octets(words, self.size, self.row.b.startswith("s"))]
        return self._by_octets(rows, b, c, signs)

    def _by_octets(self, a: list[str], b: list[str], c: list[str], signs: Signs) -> list[str]:
        """With VNNI. Of a row of A there are as many vectors as words for each word of B: of 4-bit integers two."""
        size, parts = self.size, len(b) // WORDS
        over = "zeroinitializer"
        for word in b:
            over = self.products.excess(over, word, size, signs, format_of(self.row.a).bits)
        found = []
        for m, start in enumerate(c):
            total = start if over == "zeroinitializer" else self.writer.let(f"sub <{size} x i32> {start}, {over}")
            for place, word in enumerate(b):
                left = self.same(a[m * parts + place % parts], "i32", place // parts)
                total = self.products.accumulated(total, left, word, size, signs)
            found.append(total)
        return found

    def _octets(self, words: str, count: int, signed: bool) -> tuple[str, str]:
        """Words of 4-bit integers as two of bytes: those at even places, and those at odd ones."""
        kind, let = f"<{4 * count} x i8>", self.writer.let
        both = let(f"bitcast <{count} x i32> {words} to {kind}")
        high = let(f"{'ashr' if signed else 'lshr'} {kind} {both}, splat (i8 4)")
        low = let(f"ashr {kind} {let(f'shl {kind} {both}, splat (i8 4)')}, splat (i8 4)") if signed else let(
            f"and {kind} {both}, splat (i8 15)")
        even, odd = (let(f"bitcast {kind} {part} to <{count} x i32>") for part in (low, high))
        return even, odd

    def _by_elements(self, a: list[str], b: list[str], c: list[str], signs: Signs) -> list[str]:
        """Without VNNI: element by element."""
        bits = format_of(self.row.a).bits
        places = range(WORD_BITS // bits)
        factors = [[self._field(word, self.size, place, bits, signs[1]) for place in places] for word in b]
        found, vector = [], f"<{self.size} x i32>"
        for row, total in zip(a, c, strict=True):
            fields = [self._field(row, WORDS, place, bits, signs[0]) for place in places]
            for word, columns in enumerate(factors):
                for field, factor in zip(fields, columns, strict=True):
                    product = self.writer.let(f"mul {vector} {self.same(field, 'i32', word)}, {factor}")
                    total = self.writer.let(f"add {vector} {total}, {product}")
            found.append(total)
        return found

    def _field(self, words: str, count: int, place: int, bits: int, signed: bool) -> str:
        """An element of each word."""
        kind = f"<{count} x i32>"
        left = self.writer.let(f"shl {kind} {words}, splat (i32 {WORD_BITS - bits * (place + 1)})")
        return self.writer.let(f"{'ashr' if signed else 'lshr'} {kind} {left}, splat (i32 {WORD_BITS - bits})")

    # --- floating point ---------------------------------------------------------------

    def floats(self, a: list[str], b: list[str], c: list[str]) -> list[str]:
        """The rows of the result, as float."""
        vector, columns = f"<{self.size} x float>", [self._floats(word, self.size) for word in b]
        found = []
        for row, total in zip(a, c, strict=True):
            parts = self._floats(row, WORDS)
            for word, factors in enumerate(columns):
                for part, factor in zip(parts, factors, strict=True):
                    total = self.writer.call(vector, f"llvm.fma.v{self.size}f32", [
                        (vector, self.same(part, "float", word)), (vector, factor), (vector, total)])
            found.append(total)
        return found

    def by_rule(self, rule: Rule, a: list[str], b: list[str], c: tuple[Number, ...]) -> Value:
        """The rows of the result, computed in double."""
        emitter = self.emitter
        columns = [self._wide(part, emitter) for word in b for part in self._floats(word, self.size)]
        b_slots = stored_forms(rule, columns)
        found = []
        for words, start in zip(a, c, strict=True):
            added = Term(emitter, emitter.apply("fpext {t} {0} to {r}", DOUBLE,
                                                _to_float(emitter, start, self.row.accumulator)))
            factors = Factors(emitter, len(columns), self._stored_row(rule, words), b_slots, pitch_of(self.size),
                              stored([rule.accumulator(added)]))
            found.append(rule.row(factors))
        return tuple(found)

    def _wide(self, floats: str, numbers: NumberWriter) -> Term:
        return Term(numbers, Number("float", lanes=floats)).to_float(DOUBLE)

    def _stored_row(self, rule: Rule, words: str) -> list[str]:
        """A row of A in memory, in the rule's forms: a word's elements follow each other."""
        numbers = NumberWriter(self.writer, WORDS)
        parts = [rule.forms(self._wide(part, numbers)) for part in self._floats(words, WORDS)]
        return [self._interleaved(form) for form in zip(*parts, strict=True)]

    def _interleaved(self, parts: Sequence[Term]) -> str:
        """Memory with the first element of each part, the second one, and so on."""
        kind = f"<{WORDS} x double>"
        slot = self.writer.slot(f"[{WORDS * len(parts)} x double]", align=64)
        for place, part in enumerate(parts):
            for word in range(WORDS):
                one = self.writer.let(f"extractelement {kind} {part.number.lanes}, i32 {word}")
                self.writer.do(f"store double {one}, ptr {self.writer.line(slot, word * len(parts) + place, BYTES)}")
        return slot

    def _floats(self, words: str, count: int) -> list[str]:
        """The elements of words as vectors of float: the first one of each word, the second one."""
        let, kind, result = self.writer.let, f"<{count} x i32>", f"<{count} x float>"
        if self.row.a == "tf32":
            parts = [let(f"and {kind} {words}, splat (i32 {TF32_BITS})")]
        elif self.row.a == "bf16":
            parts = [let(f"shl {kind} {words}, splat (i32 16)"), let(f"and {kind} {words}, splat (i32 -65536)")]
        else:
            return [self._of_halves(words, count, shift) for shift in (0, 16)]
        return [let(f"bitcast {kind} {part} to {result}") for part in parts]

    def _of_halves(self, words: str, count: int, shift: int) -> str:
        let = self.writer.let
        moved = let(f"lshr <{count} x i32> {words}, splat (i32 {shift})")
        low = let(f"trunc <{count} x i32> {moved} to <{count} x i16>")
        half = let(f"bitcast <{count} x i16> {low} to <{count} x half>")
        return let(f"fpext <{count} x half> {half} to <{count} x float>")


def _multiply(emitter: Emitter, instruction: Instruction) -> Value:
    row, m = known_multiply(emitter, instruction)
    multiply = _Multiply(emitter, row, m)
    a, b, c = (emitter.numbers(word) for word in instruction.words[1:4])
    columns = multiply.words_of_b(b)
    if row.accumulator == "sint32":
        rows = multiply.integers(a, columns, [emitter.lanes(number) for number in c])
        return tuple(emitter.varying("i32", text) for text in rows)
    numerics = lanes_of(emitter).variant.numerics
    if numerics != HARDWARE:
        return multiply.by_rule(rule_of(numerics, row.formats), multiply.words_of_a(a), columns, c)
    starts = [emitter.lanes(_to_float(emitter, number, row.accumulator)) for number in c]
    return tuple(_from_float(emitter, emitter.varying("float", text), row.accumulator)
                 for text in multiply.floats(multiply.words_of_a(a), columns, starts))


def _to_float(emitter: Emitter, number: Number, accumulator: str) -> Number:
    if accumulator == "bf16":
        return from_bf16(emitter, number)
    return number if accumulator == "fp32" else emitter.apply("fpext {t} {0} to {r}", "float", number)


def _from_float(emitter: Emitter, number: Number, accumulator: str) -> Number:
    if accumulator == "bf16":
        return to_bf16(emitter, number)
    return number if accumulator == "fp32" else emitter.apply("fptrunc {t} {0} to {r}", "half", number)


OPERATIONS: dict[int, Handler] = {Op.SubgroupMatrixMultiplyAccumulateINTEL: _multiply}
