"""Products of narrow elements with AVX-512's and AVX's dot-product instructions (VNNI, BF16).

The instructions take vectors of 32-bit words of four bytes or two bf16 numbers, and add the products within each word
to 32-bit sums: rows of B that belong together are interleaved once, and a word of A meets all columns at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coopmat.formats import Format
from coopmat.spirv.analysis.types import MatrixType
from coopmat.targets.cpu.byte_products import dot
from coopmat.targets.cpu.matrix.along_k import Add, Pieces, in_code, in_loops
from coopmat.targets.cpu.matrix.body import Body, Features
from coopmat.targets.cpu.matrix.packing import interleaved
from coopmat.targets.cpu.matrix.sums import MOST_UNROLLED
from coopmat.targets.cpu.matrix.types import element_type
from coopmat.targets.llvm.numbers import NumberWriter

WIDTHS: dict[str, tuple[tuple[str, int], ...]] = {
    "int8": (("avx512vnni", 16), ("avxvnni", 8)),
    "bf16": (("avx512bf16", 16),),
}
"""Per kind of product, the features that have it, each with the columns of one instruction."""


def can_multiply(features: Features, kinds: Sequence[MatrixType], formats: Sequence[Format]) -> bool:
    """Whether these instructions do a multiply-accumulate."""
    return _columns_at_once(features, kinds, formats) > 0


def _columns_at_once(features: Features, kinds: Sequence[MatrixType], formats: Sequence[Format]) -> int:
    kind = _kind(formats)
    a, b, _ = kinds
    if kind is None or a.columns % _together(kind):
        return 0
    if a.rows * a.columns // _together(kind) * -(-b.columns // 16) > 2048:
        return 0
    for feature, columns in WIDTHS[kind]:
        if feature in features and b.columns % columns == 0:
            return columns
    return 0


def _kind(formats: Sequence[Format]) -> str | None:
    a, b, c, d = formats
    if {a.bits, b.bits} == {8} and a.is_integer and c.bits == d.bits == 32:
        return "int8"
    return "bf16" if [one.name for one in formats] == ["bf16", "bf16", "fp32", "fp32"] else None


def _together(kind: str) -> int:
    """Elements in a word."""
    return 4 if kind == "int8" else 2


def multiply_rows(body: Body, kinds: Sequence[MatrixType], formats: Sequence[Format]) -> list[str]:
    """The rows of D, whose type is that of C."""
    a, b, c = kinds
    kind = _kind(formats)
    assert kind is not None
    at_once = _columns_at_once(body.features, kinds, formats)
    words = interleaved(body, body.rows("%1", b), b, _together(kind))
    if kind == "bf16":
        return _bf16_rows(body, _Words.of(body, a), words, c, at_once)
    a_signed, b_signed = (one.is_signed for one in formats[:2])
    a_words = _Words.of(body, a, FLIP if a_signed and b_signed else 0)
    return _int8_rows(body, a_words, words, c, at_once, a_signed, b_signed)


@dataclass(frozen=True)
class _Words:
    """The words of each row of A, in memory: rows are ``pitch`` bytes apart and have ``count`` words."""

    body: Body
    memory: str
    pitch: int
    count: int

    @classmethod
    def of(cls, body: Body, a: MatrixType, flip: int = 0) -> _Words:
        """Those of A, the first operand; ``flip``: bits that are turned."""
        count = a.columns * a.component.size // 4
        rows, vector, let = [], f"<{count} x i32>", body.writer.let
        for row in body.rows("%0", a):
            words = let(f"bitcast <{a.columns} x {element_type(a)}> {row} to {vector}")
            rows.append(let(f"xor {vector} {words}, splat (i32 {flip})") if flip else words)
        return cls(body, body.spilled(rows, vector), 1 << (4 * count - 1).bit_length(), count)

    def word(self, row: int, k: int | str) -> str:
        """A word of a row."""
        line = self.body.writer.let(f"getelementptr i8, ptr {self.memory}, i64 {row * self.pitch}")
        return self.body.writer.let(f"load i32, ptr {self.body.address(line, 'i32', k)}")


def _added_up(body: Body, sums: Pieces, a: _Words, b_parts: Pieces, kinds: tuple[str, str], add: Add) -> Pieces:
    """The sums with the products of all words; ``kinds``: types of a piece of sums and of B."""
    across = len(b_parts[0])
    if body.calls * len(sums) * len(b_parts) * across <= MOST_UNROLLED:
        return in_code(sums, b_parts, a.word, add)
    memory = body.spilled([part for parts in b_parts for part in parts], kinds[1])

    def factors(k: str) -> list[str]:
        line = body.address(memory, f"[{across} x {kinds[1]}]", k)
        return [body.writer.let(f"load {kinds[1]}, ptr {body.address(line, kinds[1], place)}")
                for place in range(across)]

    return in_loops(body, sums, kinds[0], across, len(b_parts), factors, a.word, add)


def _parts(body: Body, vector: str, element: str, columns: int, at_once: int) -> list[str]:
    """A row in pieces of the instruction's width."""
    if columns == at_once:
        return [vector]
    pieces = []
    for start in range(0, columns, at_once):
        order = ", ".join(f"i32 {place}" for place in range(start, start + at_once))
        whole = f"<{columns} x {element}>"
        pieces.append(body.writer.let(f"shufflevector {whole} {vector}, {whole} poison, <{at_once} x i32> <{order}>"))
    return pieces


def _joined(body: Body, pieces: list[str], element: str, columns: int, at_once: int) -> str:
    result, length = pieces[0], at_once
    if len(pieces) == 1:
        return result
    whole = f"<{columns} x {element}>"
    result = "poison"
    for number, piece in enumerate(pieces):
        order = ", ".join(f"i32 {place}" if place < length else "i32 poison" for place in range(columns))
        wide = body.writer.let(f"shufflevector <{length} x {element}> {piece}, <{length} x {element}> poison, "
                               f"<{columns} x i32> <{order}>")
        start = number * at_once
        chosen = ", ".join(f"i32 {columns + place - start}" if start <= place < start + at_once else f"i32 {place}"
                           for place in range(columns))
        result = body.writer.let(f"shufflevector {whole} {result}, {whole} {wide}, <{columns} x i32> <{chosen}>")
    return result


def _bf16_rows(body: Body, a_words: _Words, words: list[str], c: MatrixType, at_once: int) -> list[str]:
    columns, vector, pairs = c.columns, f"<{at_once} x float>", f"<{2 * at_once} x bfloat>"
    lanes = NumberWriter(body.writer, at_once)
    b_parts = [[body.writer.let(f"bitcast <{at_once} x i32> {part} to {pairs}")
                for part in _parts(body, word, "i32", columns, at_once)] for word in words]

    def add(total: str, word: str, part: str) -> str:
        pair = body.writer.let(f"bitcast <{at_once} x i32> {lanes.splat('i32', word)} to {pairs}")
        return body.writer.call(vector, f"llvm.x86.avx512bf16.dpbf16ps.{32 * at_once}",
                                [(vector, total), (pairs, pair), (pairs, part)])

    sums = [_parts(body, row, "float", columns, at_once) for row in body.rows("%2", c)]
    sums = _added_up(body, sums, a_words, b_parts, (vector, pairs), add)
    return [_joined(body, row, "float", columns, at_once) for row in sums]


def _int8_rows(body: Body, a_words: _Words, words: list[str], c: MatrixType, at_once: int, a_signed: bool,
               b_signed: bool) -> list[str]:
    """The instruction multiplies bytes without sign by bytes with sign. An operand of the other sign is moved by 128,
    and what that adds is taken away again: 128 times the sum of the other operand's elements."""
    columns, vector, let = c.columns, f"<{at_once} x i32>", body.writer.let
    lanes = NumberWriter(body.writer, at_once)
    b_parts = [_parts(body, word, "i32", columns, at_once) for word in words]
    sums = [_parts(body, row, "i32", columns, at_once) for row in body.rows("%2", c)]
    swapped = a_signed and not b_signed
    if a_signed and b_signed:
        _take_away(body, sums, b_parts, at_once)
    if not a_signed and not b_signed:
        b_parts = [[let(f"xor {vector} {part}, splat (i32 {FLIP})") for part in parts] for parts in b_parts]
        _add_row_sums(body, sums, a_words, at_once)

    def add(total: str, word: str, part: str) -> str:
        unsigned, signed = (part, lanes.splat("i32", word)) if swapped else (lanes.splat("i32", word), part)
        return dot(body.writer, total, unsigned, signed, at_once)

    sums = _added_up(body, sums, a_words, b_parts, (vector, vector), add)
    return [_joined(body, row, "i32", columns, at_once) for row in sums]


FLIP = 0x80808080 - (1 << 32)
ONES = 0x01010101


def _take_away(body: Body, sums: Pieces, b_parts: Pieces, at_once: int) -> None:
    """Subtract 128 times the sum of each column of B from every row."""
    vector = f"<{at_once} x i32>"
    for place in range(len(b_parts[0])):
        total = "zeroinitializer"
        for parts in b_parts:
            total = dot(body.writer, total, f"splat (i32 {ONES})", parts[place], at_once)
        moved = body.writer.let(f"shl {vector} {total}, splat (i32 7)")
        for row in sums:
            row[place] = body.writer.let(f"sub {vector} {row[place]}, {moved}")


def _add_row_sums(body: Body, sums: Pieces, a: _Words, at_once: int) -> None:
    """Add 128 times the sum of each row of A to it."""
    vector, lanes = f"<{at_once} x i32>", NumberWriter(body.writer, at_once)
    for m, row in enumerate(sums):
        total = "zeroinitializer"
        for k in range(a.count):
            total = dot(body.writer, total, lanes.splat("i32", a.word(m, k)), f"splat (i32 {ONES})", at_once)
        moved = body.writer.let(f"shl {vector} {total}, splat (i32 7)")
        for place in range(len(row)):
            row[place] = body.writer.let(f"add {vector} {row[place]}, {moved}")
