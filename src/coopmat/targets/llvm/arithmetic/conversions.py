"""Conversions of numbers between types, with rounding modes and saturation, and reinterpretation of bits."""

from __future__ import annotations

from coopmat.formats import Rounding
from coopmat.spirv.analysis.types import FloatType, Type
from coopmat.spirv.grammar import Op
from coopmat.targets.llvm.arithmetic.floats import bits, from_bf16, is_nan, of_bits, to_bf16
from coopmat.targets.llvm.arithmetic.integers import is_bf16, resized
from coopmat.targets.llvm.numbers import NumberWriter
from coopmat.targets.llvm.values import Number, bits_of, float_bits, llvm_type

TO_WHOLE = {"rte": "rint", "rtz": "trunc", "rtp": "ceil", "rtn": "floor"}
"""LLVM's intrinsic that rounds to a whole number, by rounding mode."""


def to_float(emitter: NumberWriter, number: Number, source: Type, target: Type, rounding: Rounding, *,
             signed: bool = True) -> Number:
    """A number rounded once to a floating-point type."""
    if isinstance(source, FloatType):
        if is_bf16(source):
            number = from_bf16(emitter, number)
        return narrowed(emitter, number, target, rounding)
    return _of_integer(emitter, number, target, rounding, signed)


def narrowed(emitter: NumberWriter, number: Number, target: Type, rounding: Rounding) -> Number:
    """A half, float or double as a floating-point type."""
    llvm = "float" if is_bf16(target) else llvm_type(target)
    if bits_of(llvm) == bits_of(number.type):
        converted = number
    elif bits_of(llvm) > bits_of(number.type):
        converted = emitter.apply("fpext {t} {0} to {r}", llvm, number)
    elif llvm == "half" and number.type == "double":
        converted = _narrow_directly(emitter, round_to_odd(emitter, number), "half", rounding)
    elif is_bf16(target):
        converted = round_to_odd(emitter, number)
    else:
        converted = _narrow_directly(emitter, number, llvm, rounding)
    return _to_bf16(emitter, converted, rounding) if is_bf16(target) else converted


def _narrow_directly(emitter: NumberWriter, number: Number, llvm: str, rounding: Rounding) -> Number:
    nearest = emitter.apply("fptrunc {t} {0} to {r}", llvm, number)
    if rounding == "rte":
        return nearest
    back = emitter.apply("fpext {t} {0} to {r}", number.type, nearest)
    below = emitter.apply("fcmp olt {t} {0}, {1}", "i1", back, number)
    above = emitter.apply("fcmp ogt {t} {0}, {1}", "i1", back, number)
    return _directed(emitter, nearest, below, above, rounding)


def _directed(emitter: NumberWriter, nearest: Number, below: Number, above: Number, rounding: Rounding) -> Number:
    """The nearest number, which lies below or above the exact one, or its neighbour on the side of the mode."""
    up, down = neighbour(emitter, nearest, upwards=True), neighbour(emitter, nearest, upwards=False)
    if rounding == "rtp":
        return emitter.select(below, up, nearest)
    if rounding == "rtn":
        return emitter.select(above, down, nearest)
    whole = bits(emitter, nearest)  # of -0 the exact number is negative, too
    is_negative = emitter.apply("icmp slt {t} {0}, {1}", "i1", whole, emitter.constant(whole.type, 0))
    inwards = emitter.select(is_negative, below, above)
    return emitter.select(inwards, emitter.select(is_negative, up, down), nearest)


def neighbour(emitter: NumberWriter, number: Number, *, upwards: bool) -> Number:
    """The next number up or down."""
    whole = bits(emitter, number)
    integer = whole.type
    one = emitter.constant(integer, 1)
    minus = emitter.apply("icmp slt {t} {0}, {1}", "i1", whole, emitter.constant(integer, 0))
    more = emitter.apply("add {t} {0}, {1}", integer, whole, one)
    less = emitter.apply("sub {t} {0}, {1}", integer, whole, one)
    moved = emitter.select(minus, less, more) if upwards else emitter.select(minus, more, less)
    is_zero = emitter.apply("fcmp oeq {t} {0}, {1}", "i1", number, Number(number.type, "0.0"))
    smallest = emitter.constant(integer, 1 if upwards else 1 | 1 << bits_of(integer) - 1)
    return of_bits(emitter, emitter.select(is_zero, smallest, moved), number.type)


def round_to_odd(emitter: NumberWriter, number: Number) -> Number:
    """A double as float; where inexact, its last bit is 1, so that a later rounding is as if it were the only one."""
    if number.type != "double":
        return number
    truncated = _narrow_directly(emitter, number, "float", "rtz")
    back = emitter.apply("fpext {t} {0} to {r}", "double", truncated)
    is_inexact = emitter.apply("fcmp one {t} {0}, {1}", "i1", back, number)
    odd = emitter.apply("or {t} {0}, {1}", "i32", bits(emitter, truncated), emitter.constant("i32", 1))
    return emitter.select(is_inexact, of_bits(emitter, odd, "float"), truncated)


def _to_bf16(emitter: NumberWriter, number: Number, rounding: Rounding) -> Number:
    """A float rounded to bf16, the upper half of its bits."""
    nearest = to_bf16(emitter, number)
    if rounding == "rte":
        return nearest
    whole = bits(emitter, number)
    inwards = emitter.apply("trunc {t} {0} to {r}", "i16", emitter.apply(
        "lshr {t} {0}, {1}", "i32", whole, emitter.constant("i32", 16)))
    found = inwards
    if rounding != "rtz":  # outwards on one side of zero
        side = ("sgt", -1) if rounding == "rtp" else ("slt", 0)
        is_outwards = emitter.apply(f"icmp {side[0]} {{t}} {{0}}, {{1}}", "i1", whole, emitter.constant("i32", side[1]))
        low = emitter.apply("trunc {t} {0} to {r}", "i16", whole)
        is_inexact = emitter.apply("icmp ne {t} {0}, {1}", "i1", low, emitter.constant("i16", 0))
        moved = emitter.apply("and {t} {0}, {1}", "i1", is_outwards, is_inexact)
        found = emitter.apply("add {t} {0}, {1}", "i16", inwards, emitter.apply("zext {t} {0} to {r}", "i16", moved))
    return emitter.select(is_nan(emitter, number), nearest, found)


def _of_integer(emitter: NumberWriter, number: Number, target: Type, rounding: Rounding, signed: bool) -> Number:
    letter = "s" if signed else "u"
    if is_bf16(target) or (llvm_type(target) == "half" and rounding != "rte"):
        wide = number if bits_of(number.type) <= 32 else _odd_integer(emitter, number, signed)
        exact = emitter.apply(f"{letter}itofp {{t}} {{0}} to {{r}}", "double", wide)
        return narrowed(emitter, exact, target, rounding)
    llvm = llvm_type(target)
    nearest = emitter.apply(f"{letter}itofp {{t}} {{0}} to {{r}}", llvm, number)
    if rounding == "rte" or bits_of(number.type) < 24:
        return nearest
    if bits_of(number.type) <= 32:
        exact = emitter.apply(f"{letter}itofp {{t}} {{0}} to {{r}}", "double", number)
        return narrowed(emitter, exact, target, rounding)
    back = emitter.intrinsic(f"fpto{letter}i.sat", number.type, nearest, of=llvm)
    below = emitter.apply(f"icmp {letter}lt {{t}} {{0}}, {{1}}", "i1", back, number)
    above = emitter.apply(f"icmp {letter}gt {{t}} {{0}}, {{1}}", "i1", back, number)
    limit = Number(llvm, float_bits(llvm, {"float": 0x5F000000 if signed else 0x5F800000,
                                           "double": 0x43E0 << 48 if signed else 0x43F0 << 48}[llvm]))
    is_beyond = emitter.apply("fcmp oge {t} {0}, {1}", "i1", nearest, limit)
    above = emitter.apply("or {t} {0}, {1}", "i1", above, is_beyond)
    return _directed(emitter, nearest, below, above, rounding)


def _odd_integer(emitter: NumberWriter, number: Number, signed: bool) -> Number:
    """A 64-bit integer that a double holds, and that rounds to narrow types as the given one does."""
    low = emitter.apply("and {t} {0}, {1}", "i64", number, emitter.constant("i64", 0xFFFF))
    is_inexact = emitter.apply("icmp ne {t} {0}, {1}", "i1", low, emitter.constant("i64", 0))
    high = emitter.apply("and {t} {0}, {1}", "i64", number, emitter.constant("i64", ~0xFFFF))
    odd = emitter.apply("or {t} {0}, {1}", "i64", high, emitter.constant("i64", 0x10000))
    magnitude = emitter.intrinsic("abs", "i64", number, immediate=[("i1", "false")]) if signed else number
    is_large = emitter.apply("icmp ugt {t} {0}, {1}", "i1", magnitude, emitter.constant("i64", 1 << 52))
    return emitter.select(is_large, emitter.select(is_inexact, odd, number), number)


def to_integer(emitter: NumberWriter, number: Number, source: Type, target: Type, rounding: Rounding, *, signed: bool,
               saturate: bool) -> Number:
    """A floating-point number as an integer; out of range without saturation the result is arbitrary."""
    if is_bf16(source):
        number = from_bf16(emitter, number)
    if rounding != "rtz":
        number = emitter.intrinsic(TO_WHOLE[rounding], number.type, number)
    llvm, letter = llvm_type(target), "s" if signed else "u"
    if saturate:
        if number.type == "half":  # with AVX512-FP16, LLVM's fptosi.sat from half makes -32768 of a NaN
            number = emitter.apply("fpext {t} {0} to {r}", "float", number)
        return emitter.intrinsic(f"fpto{letter}i.sat", llvm, number, of=number.type)
    found = emitter.apply(f"fpto{letter}i {{t}} {{0}} to {{r}}", llvm, number)
    return emitter.apply("freeze {t} {0}", llvm, found)


def saturated(emitter: NumberWriter, number: Number, llvm: str, *, from_signed: bool, to_signed: bool) -> Number:
    """An integer brought into the range of another integer type."""
    width = bits_of(llvm)
    wide = f"i{max(bits_of(number.type) + (not from_signed), width + (not to_signed))}"  # holds both ranges
    value = number if wide == number.type else emitter.apply(
        ("sext" if from_signed else "zext") + " {t} {0} to {r}", wide, number)
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if to_signed else (0, (1 << width) - 1)
    value = emitter.intrinsic("smax", wide, value, emitter.constant(wide, low))
    value = emitter.intrinsic("smin", wide, value, emitter.constant(wide, high))
    return value if wide == llvm else emitter.apply("trunc {t} {0} to {r}", llvm, value)


def converted(emitter: NumberWriter, op: int, number: Number, source: Type, target: Type, rounding: Rounding,
              saturate: bool) -> Number:
    """What a conversion makes of one number."""
    if op == Op.FConvert or op in (Op.ConvertSToF, Op.ConvertUToF):
        return to_float(emitter, number, source, target, rounding, signed=op != Op.ConvertUToF)
    if op in (Op.ConvertFToS, Op.ConvertFToU):
        return to_integer(emitter, number, source, target, rounding, signed=op == Op.ConvertFToS, saturate=saturate)
    llvm, from_signed = llvm_type(target), op in (Op.SConvert, Op.SatConvertSToU)
    if op in (Op.SatConvertSToU, Op.SatConvertUToS):
        return saturated(emitter, number, llvm, from_signed=from_signed, to_signed=not from_signed)
    if saturate:
        return saturated(emitter, number, llvm, from_signed=from_signed, to_signed=from_signed)
    return resized(emitter, number, llvm, signed=from_signed)


def reinterpreted(emitter: NumberWriter, numbers: tuple[Number, ...], llvm: str) -> tuple[Number, ...]:
    """The bits of some numbers as numbers of another type, the first ones lowest."""
    old, new = bits_of(numbers[0].type), bits_of(llvm)
    if numbers[0].type == llvm:
        return numbers
    if old == new:
        return tuple(_as_type(emitter, one, llvm) for one in numbers)
    raw = [_as_type(emitter, one, f"i{old}") for one in numbers]
    if old > new:
        parts = [emitter.apply("trunc {t} {0} to {r}", f"i{new}", emitter.apply(
            "lshr {t} {0}, {1}", f"i{old}", one, emitter.constant(f"i{old}", place * new)))
            for one in raw for place in range(old // new)]
        return tuple(_as_type(emitter, one, llvm) for one in parts)
    joined = []
    for start in range(0, len(raw), new // old):
        total = emitter.constant(f"i{new}", 0)
        for place, one in enumerate(raw[start:start + new // old]):
            wide = emitter.apply("zext {t} {0} to {r}", f"i{new}", one)
            moved = emitter.apply("shl {t} {0}, {1}", f"i{new}", wide, emitter.constant(f"i{new}", place * old))
            total = emitter.apply("or {t} {0}, {1}", f"i{new}", total, moved)
        joined.append(_as_type(emitter, total, llvm))
    return tuple(joined)


def _as_type(emitter: NumberWriter, number: Number, llvm: str) -> Number:
    """The bits of a number as another type of its width."""
    if number.type == llvm:
        return number
    if number.type == "ptr":
        return _as_type(emitter, emitter.apply("ptrtoint {t} {0} to {r}", "i64", number), llvm)
    if llvm == "ptr":
        return emitter.apply("inttoptr {t} {0} to {r}", "ptr", _as_type(emitter, number, "i64"))
    return emitter.apply("bitcast {t} {0} to {r}", llvm, number)


def to_tf32(emitter: NumberWriter, number: Number) -> Number:
    """A float rounded to tf32's 10 bits of fraction, to nearest with ties to even; NaNs stay."""
    i32 = lambda value: emitter.constant("i32", value)  # noqa: E731
    whole = bits(emitter, number)
    odd = emitter.apply("and {t} {0}, {1}", "i32", emitter.apply("lshr {t} {0}, {1}", "i32", whole, i32(13)), i32(1))
    raised = emitter.apply("add {t} {0}, {1}", "i32", emitter.apply("add {t} {0}, {1}", "i32", whole, i32(0xFFF)), odd)
    kept = emitter.apply("and {t} {0}, {1}", "i32", raised, i32(~0x1FFF))
    exponent = emitter.apply("and {t} {0}, {1}", "i32", whole, i32(0x7F800000))
    is_special = emitter.apply("icmp eq {t} {0}, {1}", "i1", exponent, i32(0x7F800000))
    quiet = emitter.apply("or {t} {0}, {1}", "i32", emitter.apply("and {t} {0}, {1}", "i32", whole, i32(~0x1FFF)),
                          i32(0x400000))
    special = emitter.select(is_nan(emitter, number), quiet, whole)
    return of_bits(emitter, emitter.select(is_special, special, kept), "float")
