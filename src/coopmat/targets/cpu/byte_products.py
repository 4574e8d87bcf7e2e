"""Dot products of four bytes, added to 32-bit integers, with VPDPBUSD: the bytes of one operand are unsigned there,
those of the other one signed.

Other signs are made of it: 128 is taken from, or added to, the bytes of A by turning their highest bits, and
:meth:`ByteProducts.excess` is what the sum has too much of then; it depends on B alone.
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
