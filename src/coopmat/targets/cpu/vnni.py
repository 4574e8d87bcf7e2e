"""Dot products of four bytes, added to 32-bit integers, with VPDPBUSD: the bytes of one operand are unsigned there,
those of the other one signed.

Other signs are made of it: 128 is taken from, or added to, the bytes of A by turning their highest bits, and
:func:`excess` is what the sum has too much of then; it depends on B alone.
"""

from __future__ import annotations

from coopmat.targets.cpu.emitter import Emitter
from coopmat.targets.cpu.values import Number

Signs = tuple[bool, bool]  # of A and B
HIGHEST_BITS = -0x7F7F7F80  # 0x80808080


def widest(emitter: Emitter, count: int) -> int | None:
    """How many of ``count`` 32-bit integers one instruction takes; None if the processor has none for them."""
    features = emitter.variant.features
    wide = 16 if "avx512vnni" in features else 0
    narrow = 8 if "avxvnni" in features or {"avx512vnni", "avx512vl"} <= features else 0
    return next((size for size in (wide, narrow, narrow // 2) if size and count % size == 0), None)


def turned(emitter: Emitter, a: str, count: int, signs: Signs) -> str:
    """A as :func:`accumulated` takes it: ``count`` words of four bytes."""
    if signs[0] != signs[1]:
        return a
    return emitter.writer.let(f"xor <{count} x i32> {a}, splat (i32 {HIGHEST_BITS})")


def turned_number(emitter: Emitter, a: Number, signs: Signs) -> str:
    """As :func:`turned`, a word of each work-item. If all have the same, it is turned before it becomes a vector: LLVM
    22 does not end where it must combine a word from memory for all, the constant, and the constant as an operand."""
    if signs[0] != signs[1]:
        return emitter.lanes(a)
    return emitter.lanes(emitter.apply("xor {t} {0}, {1}", "i32", a, Number("i32", str(HIGHEST_BITS))))


def accumulated(emitter: Emitter, total: str, a: str, b: str, count: int, signs: Signs) -> str:
    """``total`` plus the dot products of the words of A, turned, and B, and their :func:`excess`."""
    unsigned, signed = (a, b) if signs[1] else (b, a)
    size = widest(emitter, count)
    assert size is not None
    parts = [_instruction(emitter, [_part(emitter, operand, count, start, size)
                                    for operand in (total, unsigned, signed)], size)
             for start in range(0, count, size)]
    while len(parts) > 1:
        size *= 2
        parts = [_joined(emitter, parts[place], parts[place + 1], size) for place in range(0, len(parts), 2)]
    return parts[0]


def excess(emitter: Emitter, total: str, b: str, count: int, signs: Signs) -> str:
    """``total`` plus what the products with B's words have too much of."""
    if signs[0] != signs[1]:
        return total
    return accumulated(emitter, total, f"splat (i32 {HIGHEST_BITS})", b, count, signs)


def _part(emitter: Emitter, text: str, count: int, start: int, size: int) -> str:
    if count == size or text.startswith("splat") or text == "zeroinitializer":
        return text
    places = ", ".join(f"i32 {start + place}" for place in range(size))
    whole = f"<{count} x i32>"
    return emitter.writer.let(f"shufflevector {whole} {text}, {whole} poison, <{size} x i32> <{places}>")


def _joined(emitter: Emitter, low: str, high: str, size: int) -> str:
    places = ", ".join(f"i32 {place}" for place in range(size))
    half = f"<{size // 2} x i32>"
    return emitter.writer.let(f"shufflevector {half} {low}, {half} {high}, <{size} x i32> <{places}>")


def _instruction(emitter: Emitter, operands: list[str], size: int) -> str:
    total, *factors = operands
    words, octets = f"<{size} x i32>", f"<{4 * size} x i8>"
    a, b = (emitter.writer.let(f"bitcast {words} {text} to {octets}") for text in factors)
    return emitter.writer.call(words, f"llvm.x86.avx512.vpdpbusd.{32 * size}", [
        (words, total), (octets, a), (octets, b)])
