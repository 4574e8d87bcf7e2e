"""Dot products of four bytes, added to 32-bit integers, with VPDPBUSD, and of two 16-bit integers, with PMADDWD.

VPDPBUSD takes bytes without sign of one operand and bytes with sign of the other one. Other signs are made of it: 128
is taken from, or added to, the bytes of A by turning their highest bits, and :meth:`ByteProducts.excess` is what the
sum has too much of then; it depends on B alone.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from coopmat.targets.llvm.ir_text import has_any_length
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, bits_of, literal
from coopmat.targets.llvm.writer import Writer

Signs = tuple[bool, bool]  # of A and B


@dataclass(frozen=True)
class ByteProducts:
    """Writes dot products of vectors of numbers. features: of the processor."""

    numbers: NumberWriter
    features: Set[str]

    def widest(self, count: int) -> int | None:
        """How many of ``count`` 32-bit integers one instruction takes; None if the processor has none for them."""
        features = self.features
        wide = 16 if "avx512vnni" in features else 0
        narrow = 8 if "avxvnni" in features or {"avx512vnni", "avx512vl"} <= features else 0
        return next((size for size in (wide, narrow, narrow // 2) if size and count % size == 0), None)

    def turned(self, a: Number, signs: Signs, bits: int = 8) -> Number:
        """A as :func:`accumulated` takes it; of elements of 4 bits, before they become bytes.

        A number that is the same for all is turned before it is repeated: LLVM 22's back end does not come to an end
        with the other order.
        """
        if signs[0] != signs[1]:
            return a
        pattern = sum(1 << place for place in range(bits - 1, bits_of(a.type), bits))
        return self.numbers.apply("xor {t} {0}, {1}", a.type, a, self.numbers.constant(a.type, pattern))

    def accumulated(self, total: str, a: str, b: str, count: int, signs: Signs) -> str:
        """``total`` plus the dot products of the words of A, turned, and B, and their :func:`excess`."""
        unsigned, signed = (a, b) if signs[1] else (b, a)
        size = self.widest(count)
        assert size is not None
        parts = []
        for start in range(0, count, size):
            total_part, x, y = (self._part(one, count, start, size) for one in (total, unsigned, signed))
            parts.append(dot(self.numbers.writer, total_part, x, y, size))
        while len(parts) > 1:
            size *= 2
            parts = [self._joined(parts[place], parts[place + 1], size) for place in range(0, len(parts), 2)]
        return parts[0]

    def excess(self, total: str, b: str, count: int, signs: Signs, bits: int = 8) -> str:
        """``total`` plus what the products with B's words have too much of."""
        if signs[0] != signs[1]:
            return total
        pattern = literal("i32", 0x01010101 << bits - 1)
        return self.accumulated(total, f"splat (i32 {pattern})", b, count, signs)

    def _part(self, text: str, count: int, start: int, size: int) -> str:
        if count == size or has_any_length(text):
            return text
        places = ", ".join(f"i32 {start + place}" for place in range(size))
        whole = f"<{count} x i32>"
        return self.numbers.writer.let(f"shufflevector {whole} {text}, {whole} poison, <{size} x i32> <{places}>")

    def _joined(self, low: str, high: str, size: int) -> str:
        places = ", ".join(f"i32 {place}" for place in range(size))
        half = f"<{size // 2} x i32>"
        return self.numbers.writer.let(f"shufflevector {half} {low}, {half} {high}, <{size} x i32> <{places}>")


def dot(writer: Writer, total: str, unsigned: str, signed: str, size: int) -> str:
    """VPDPBUSD on ``size`` words: ``total`` plus the dot products of bytes without sign and bytes with sign."""
    words, octets = f"<{size} x i32>", f"<{4 * size} x i8>"
    a, b = (writer.let(f"bitcast {words} {text} to {octets}") for text in (unsigned, signed))
    return writer.call(words, f"llvm.x86.avx512.vpdpbusd.{32 * size}", [(words, total), (octets, a), (octets, b)])


PAIRS = (("avx512bw", 16, "avx512.pmaddw.d.512"), ("avx2", 8, "avx2.pmadd.wd"), ("", 4, "sse2.pmadd.wd"))
"""Features with PMADDWD, the words that it takes, and the intrinsic."""


def add_pairs(numbers: NumberWriter, features: Set[str], total: str, x: str, y: str) -> str:
    """``total`` plus the dot products of two 16-bit integers with a sign in each word."""
    count, writer = numbers.size, numbers.writer
    size, name = next((size, name) for feature, size, name in PAIRS if not feature or feature in features)
    parts = []
    for start in range(0, count, size):
        operands = []
        for text in (x, y):
            part = text if size == count else writer.let(
                f"shufflevector <{count} x i32> {text}, <{count} x i32> poison, <{size} x i32> "
                f"<{', '.join(f'i32 {start + place}' for place in range(size))}>")
            operands.append((f"<{2 * size} x i16>", writer.let(f"bitcast <{size} x i32> {part} to <{2 * size} x i16>")))
        parts.append(writer.call(f"<{size} x i32>", f"llvm.x86.{name}", operands))
    while len(parts) > 1:
        order = ", ".join(f"i32 {place}" for place in range(2 * size))
        parts = [writer.let(f"shufflevector <{size} x i32> {parts[place]}, <{size} x i32> {parts[place + 1]}, "
                            f"<{2 * size} x i32> <{order}>") for place in range(0, len(parts), 2)]
        size *= 2
    return writer.let(f"add <{count} x i32> {total}, {parts[0]}")
