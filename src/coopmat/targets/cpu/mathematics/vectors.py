"""What AVX-512 has instructions for: look-ups in tables that registers hold, exponents, fractions, scaling. Each has
another form with the same bits, for processors without, narrow registers, and what is the same for all work-items."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coopmat.targets.cpu.mathematics.parts import kind_of
from coopmat.targets.llvm.emitter import Emitter
from coopmat.targets.llvm.terms import Term, choose
from coopmat.targets.llvm.values import Number, literal
from coopmat.targets.llvm.writer import Writer

ENTRIES = 16  # of a table: as many floats as a register of AVX-512 has
ROUND_BY_MODE = ("i32", "4")
SUFFIXES = {"float": (16, "ps"), "double": (8, "pd")}
"""How many numbers of a type a register of AVX-512 has, and the end of its instructions' names."""

Call = Callable[[list[str]], str]
"""Writes an instruction on registers, and names its result."""


def has_avx512(*terms: Term) -> bool:
    """Whether these numbers, of each work-item one, may lie in registers of AVX-512 for its instructions (DQ included).
    """
    emitter = terms[0].emitter
    assert isinstance(emitter, Emitter)
    return {"avx512f", "avx512dq"} <= set(emitter.machine.features) and not all(
        term.number.is_single for term in terms)


def _by_registers(width: int, result: str, call: Call, *terms: Term) -> Term:
    """An instruction on vectors of ``width`` numbers, on each part of the work-items, filled up if they are fewer."""
    emitter = terms[0].emitter
    assert isinstance(emitter, Emitter)
    size, writer = emitter.size, emitter.writer
    texts = [emitter.lanes(term.number) for term in terms]
    parts = [call([_lanes(writer, f"<{size} x {term.type}>", text, range(start, start + width), size)
                   for term, text in zip(terms, texts, strict=True)]) for start in range(0, size, width)]
    if size < width:
        parts = [_lanes(writer, f"<{width} x {result}>", parts[0], range(size), width)]
    while len(parts) > 1:
        count = size // len(parts)
        order = ", ".join(f"i32 {lane}" for lane in range(2 * count))
        parts = [writer.let(f"shufflevector <{count} x {result}> {a}, <{count} x {result}> {b}, "
                            f"<{2 * count} x i32> <{order}>") for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return Term(emitter, Number(result, lanes=parts[0]))


def _lanes(writer: Writer, vector: str, text: str, lanes: range, size: int) -> str:
    """Some elements of a vector of ``size``; beyond its end, whatever."""
    if lanes == range(size):
        return text
    order = ", ".join(f"i32 {lane}" if lane < size else "i32 poison" for lane in lanes)
    return writer.let(f"shufflevector {vector} {text}, {vector} poison, <{len(lanes)} x i32> <{order}>")


def _masked(name: str, *terms: Term, immediate: int | None = None) -> Term:
    """An AVX-512 instruction on floating-point numbers, for all lanes of a register; ``immediate`` says how."""
    width, letters = SUFFIXES[terms[0].type]
    vector, emitter = f"<{width} x {terms[0].type}>", terms[0].emitter

    def call(texts: list[str]) -> str:
        operands = [(vector, text) for text in texts]
        operands += [] if immediate is None else [("i32", str(immediate))]
        operands += [(vector, "zeroinitializer"), (f"i{width}", "-1"), ROUND_BY_MODE]
        return emitter.writer.call(vector, f"llvm.x86.avx512.mask.{name}.{letters}.512", operands)

    return _by_registers(width, terms[0].type, call, *terms)


# --------------------------------------------------------------------------------------
# Tables
# --------------------------------------------------------------------------------------


def looked_up(index: Term, table: Sequence[float]) -> Term:
    """A float of a table of :data:`ENTRIES`; the index stands in the lowest bits of an i32, whose others do not count.
    """
    emitter = index.emitter
    assert isinstance(emitter, Emitter)
    assert len(table) == ENTRIES
    if index.number.is_single:
        place = (index & (ENTRIES - 1)).number.base
        return Term(emitter, Number("float", emitter.writer.let(
            f"extractelement <{ENTRIES} x float> {_constants(table)}, i32 {place}")))
    if has_avx512(index):
        return _by_registers(ENTRIES, "float", _permutation(emitter.writer, "avx512.permvar.sf.512", table), index)
    half = ENTRIES // 2
    if "avx2" in emitter.machine.features:
        low, high = (_by_registers(half, "float", _permutation(emitter.writer, "avx2.permps", part), index)
                     for part in (table[:half], table[half:]))
        return choose((index & half).equals(0), low, high)
    return _one_by_one(emitter, index, table)


def _constants(table: Sequence[float]) -> str:
    """A table as an operand."""
    return "<" + ", ".join(f"float {literal('float', number)}" for number in table) + ">"


def _permutation(writer: Writer, name: str, table: Sequence[float]) -> Call:
    count = len(table)
    return lambda texts: writer.call(f"<{count} x float>", f"llvm.x86.{name}", [
        (f"<{count} x float>", _constants(table)), (f"<{count} x i32>", texts[0])])


def _one_by_one(emitter: Emitter, index: Term, table: Sequence[float]) -> Term:
    writer, vector = emitter.writer, emitter.vector("i32")
    places = emitter.lanes((index & (ENTRIES - 1)).number)
    found = "poison"
    for lane in range(emitter.size):
        place = writer.let(f"extractelement {vector} {places}, i32 {lane}")
        number = writer.let(f"extractelement <{ENTRIES} x float> {_constants(table)}, i32 {place}")
        found = writer.let(f"insertelement {emitter.vector('float')} {found}, float {number}, i32 {lane}")
    return Term(emitter, Number("float", lanes=found))


# --------------------------------------------------------------------------------------
# Exponents and fractions
# --------------------------------------------------------------------------------------


def exponent_and_significand(x: Term) -> tuple[Term, Term]:
    """k and m, from 1 to 2, of a positive normal number 2**k m.

    With AVX-512 of others, too: k is infinite for an infinity and minus infinity for 0, with m 1 or -1, and one of both
    is a NaN for a NaN or a negative number.
    """
    if has_avx512(x):
        return _masked("getexp", x), _masked("getmant", x, immediate=0b1000)
    kind = kind_of(x)
    one = kind.bias << kind.fraction
    k = (x.bits - one).right(kind.fraction, signed=True).of_integer(x.type)
    return k, ((x.bits & ((1 << kind.fraction) - 1)) | one).cast(x.type)


def less_sixteenths(x: Term) -> Term:
    """x without the nearest multiple of 1/16; 0 for an infinity. For AVX-512 only."""
    return _masked("reduce", x, immediate=0x48)


def no_larger(x: Term, bound: float) -> Term:
    """The one of both of the smaller magnitude, with the sign of x; the bound for a NaN. For AVX-512 only."""
    return _masked("range", x, x.constant(bound), immediate=0b0010)


def scaled(x: Term, exponent: Term) -> Term:
    """x times 2 to the power of a whole number, rounded once: ``exponent`` may lead out of the range of the type, twice
    as far as it goes. With AVX-512 it may be any number, of which the next lower whole one counts."""
    return _masked("scalef", x, exponent) if has_avx512(x, exponent) else _scaled_twice(x, exponent)


def _scaled_twice(x: Term, exponent: Term) -> Term:
    """By two factors, of which the first one is exact where the result is no normal number."""
    kind = kind_of(x)
    whole = (exponent.intrinsic("floor") + kind.magic).bits
    whole = whole - whole.constant(kind.magic_bits)
    half = whole.right(1, signed=True)
    for part in (half, whole - half):
        x = x * ((part + kind.bias) << kind.fraction).cast(kind.name)
    return x
