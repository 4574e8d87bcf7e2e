"""The math, common and geometric functions of OpenCL.std.

Functions of real numbers are those of ``opencl_real``; the others here are exact, or rounded once, bit for bit as the
simulator has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from coopmat.spirv.analysis.types import FloatType, Type
from coopmat.spirv.grammar import Decoration, FPFastMathMode
from coopmat.spirv.module.instruction import Instruction
from coopmat.targets.llvm.arithmetic.conversions import neighbour, to_float
from coopmat.targets.llvm.arithmetic.floats import from_bf16, to_bf16
from coopmat.targets.llvm.arithmetic.integers import each, is_bf16
from coopmat.targets.llvm.emitter import Emitter, Handler
from coopmat.targets.llvm.instructions.memory import write
from coopmat.targets.llvm.instructions.opencl.geometry import GEOMETRY
from coopmat.targets.llvm.instructions.opencl.real import REAL, gamma_sign, library, minimum
from coopmat.targets.llvm.terms import Formula, Function, Term, choose, function
from coopmat.targets.llvm.values import Number, Value, llvm_type

FIRST = 2  # of the words of OpExtInst: before them are the set and the number
ILOGB_ZERO = -(1 << 31)
ILOGB_NAN = (1 << 31) - 1
QUOTIENT_BITS = 7  # of remquo
SINGLE, DOUBLE = FloatType(32), FloatType(64)
_RELAXED = FPFastMathMode.AllowRecip | FPFastMathMode.Fast

# --------------------------------------------------------------------------------------
# Handlers
# --------------------------------------------------------------------------------------


def in_precision(wide: FloatType, formula: Formula) -> Handler:
    """A handler for a formula of floats or doubles, whose result is rounded once more."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        operands = [_widened(emitter, word, wide) for word in row.words[FIRST:]]
        return _rounded(emitter, each(emitter, function(formula), operands), emitter.result_type(row), wide)

    return handle


def in_double(formula: Formula) -> Handler:
    """A handler for a formula of doubles, whose result is rounded once."""
    return in_precision(DOUBLE, formula)


def _real(name: str) -> Handler:
    """A handler for a function of real numbers: the machine's own in its precision, or one of doubles."""
    exact = in_double(REAL[name])

    def handle(emitter: Emitter, row: Instruction) -> Value | None:
        wide = DOUBLE if emitter.result_type(row).scalar == DOUBLE else SINGLE
        relaxed = emitter.machine.relaxed.get(name) if wide == SINGLE and _is_relaxed(emitter, row) else None
        own = relaxed or _own_function(emitter, name, wide)
        return exact(emitter, row) if own is None else in_precision(wide, own)(emitter, row)

    return handle


def _is_relaxed(emitter: Emitter, row: Instruction) -> bool:
    """Whether the bounds with -cl-unsafe-math-optimizations are enough: reciprocals may stand for divisions."""
    return any(decoration == Decoration.FPFastMathMode and bool(words[0] & _RELAXED)
               for decoration, words in emitter.module.decorations(emitter.flat.original(row.result_id or 0)))


def _own_function(emitter: Emitter, name: str, wide: FloatType) -> Formula | None:
    """The machine's function of floats or doubles, if it has one."""
    return (emitter.machine.double if wide == DOUBLE else emitter.machine.single).get(name)


def _direct(name: str) -> Handler:
    """A handler for a function that is computed in its own type, or by the machine's approximation of it."""
    exact = in_own_type(_OWN[name])

    def handle(emitter: Emitter, row: Instruction) -> Value | None:
        for kind in (SINGLE, DOUBLE):
            own = _own_function(emitter, name, kind)
            if own is not None and emitter.result_type(row).scalar == kind:
                return in_precision(kind, own)(emitter, row)
        return exact(emitter, row)

    return handle


def on_vectors(formula: Callable[..., tuple[Term, ...]]) -> Handler:
    """A handler for a formula of vectors of doubles: tuples of their components."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        operands = [tuple(Term(emitter, one) for one in _in_double(emitter, word)) for word in row.words[FIRST:]]
        return _rounded(emitter, tuple(term.number for term in formula(*operands)), emitter.result_type(row))

    return handle


def _widened(emitter: Emitter, word: int, wide: FloatType) -> tuple[Number, ...]:
    kind = emitter.type_of(word).scalar
    if not isinstance(kind, FloatType):
        return emitter.numbers(word)
    return tuple(to_float(emitter, one, kind, wide, "rte") for one in emitter.numbers(word))


def _in_double(emitter: Emitter, word: int) -> tuple[Number, ...]:
    return _widened(emitter, word, DOUBLE)


def _rounded(emitter: Emitter, value: Value, kind: Type, wide: FloatType | None = None) -> Value:
    return tuple(to_float(emitter, one, wide or DOUBLE, kind.scalar, "rte") for one in value if isinstance(one, Number))


def in_own_type(formula: Formula) -> Handler:
    """A handler for a formula of numbers of the operands' type; of bf16 as float."""
    return lambda emitter, row: _to_own(emitter, each(
        emitter, function(formula), [_own(emitter, word) for word in row.words[FIRST:]]), emitter.result_type(row))


def _own(emitter: Emitter, word: int) -> tuple[Number, ...]:
    numbers = emitter.numbers(word)
    return tuple(from_bf16(emitter, one) for one in numbers) if is_bf16(emitter.type_of(word).scalar) else numbers


def _to_own(emitter: Emitter, value: Value, kind: Type) -> Value:
    if not is_bf16(kind.scalar):
        return value
    return tuple(to_bf16(emitter, one) for one in value if isinstance(one, Number))


def _in_float(formula: Formula) -> Formula:
    """A formula whose results need no rounding, of half numbers in float, which every processor has."""

    def of_float(*terms: Term) -> Term:
        own = terms[0].type
        if own != "half":
            return formula(*terms)
        return formula(*(term.to_float("float") for term in terms)).to_float(own)

    return of_float


def _rounding(name: str) -> Handler:
    return in_own_type(_in_float(lambda term: term.intrinsic(name)))


Pair = Callable[..., tuple[Term, Term]]


def in_pairs(formula: Pair) -> Handler:
    """A handler for two results, the second one stored through the last operand."""

    def handle(emitter: Emitter, row: Instruction) -> Value:
        *words, pointer = row.words[FIRST:]
        operands = [[Term(emitter, one) for one in _own(emitter, word)] for word in words]
        found = [formula(*terms) for terms in zip(*operands, strict=True)]
        second = tuple(term.number for _, term in found)
        write(emitter, pointer, _to_own(emitter, second, emitter.pointee(pointer)))
        return _to_own(emitter, tuple(term.number for term, _ in found), emitter.result_type(row))

    return handle


# --------------------------------------------------------------------------------------
# Fused multiply-add
# --------------------------------------------------------------------------------------


def fused_multiply_add(emitter: Emitter, words: tuple[int, ...], kind: Type) -> Value:
    """a * b + c, rounded once. Of narrow types the product is exact in double."""
    if kind.scalar in (FloatType(32), DOUBLE):
        fused: Function = lambda emitter, a, b, c: emitter.intrinsic("fma", a.type, a, b, c)  # noqa: E731
        return each(emitter, fused, [emitter.numbers(word) for word in words])
    exact = function(lambda a, b, c: _odd_sum(a * b, c))
    return _rounded(emitter, each(emitter, exact, [_in_double(emitter, word) for word in words]), kind)


def _odd_sum(a: Term, b: Term) -> Term:
    """The sum of two doubles, its last bit 1 where inexact, so that a later rounding is as if it were the only one."""
    total = a + b
    part = total - a
    rest = (a - (total - part)) + (b - part)
    is_even = (total.bits & 1).equals(0)
    step = choose((rest > 0.0) ^ (total > 0.0), total.bits.constant(-1), 1)
    return choose(rest.compare("one", 0.0) & is_even, (total.bits + step).cast("double"), total)


# --------------------------------------------------------------------------------------
# Choosing
# --------------------------------------------------------------------------------------


def smaller(a: Term, b: Term) -> Term:
    """``fmin``: a NaN counts as missing."""
    return choose(b.is_nan, a, choose(a < b, a, b))


def larger(a: Term, b: Term) -> Term:
    """``fmax``: a NaN counts as missing."""
    return choose(b.is_nan, a, choose(a > b, a, b))


def _larger_magnitude(a: Term, b: Term) -> Term:
    x, y = a.magnitude, b.magnitude
    return choose(x > y, a, choose(y > x, b, larger(a, b)))


def _smaller_magnitude(a: Term, b: Term) -> Term:
    x, y = a.magnitude, b.magnitude
    return choose(x < y, a, choose(y < x, b, smaller(a, b)))


def _positive_difference(a: Term, b: Term) -> Term:
    return choose(a.is_nan | b.is_nan, a + b, choose(a > b, a - b, 0.0))


def _next_after(a: Term, b: Term) -> Term:
    up, down = (Term(a.emitter, neighbour(a.emitter, a.number, upwards=upwards)) for upwards in (True, False))
    moved = choose(a < b, up, down)
    return choose(a.is_nan | b.is_nan, math.nan, choose(a.equals(b), b, moved))


# --------------------------------------------------------------------------------------
# Significands and exponents
# --------------------------------------------------------------------------------------


def _parts(value: Term) -> tuple[Term, Term]:
    """``frexp`` in double: the significand in [0.5, 1) and the exponent, an i64; numbers that have none as they are."""
    wide = value.to_float("double")
    is_small = wide.magnitude < 2.0**-1022
    usual = choose(is_small, wide * 2.0**54, wide)
    bits = usual.bits
    field = bits.right(52, signed=False) & 0x7FF
    power = field - choose(is_small, field.constant(1022 + 54), 1022)
    significand = ((bits & ~(0x7FF << 52)) | 1022 << 52).cast("double")
    is_special = wide.equals(0.0) | ~wide.is_finite
    return choose(is_special, wide, significand), choose(is_special, 0, power)


def _significand_and_exponent(value: Term) -> tuple[Term, Term]:
    significand, power = _parts(value)
    return significand.to_float(value.type), power.resized("i32", signed=True)


def _exponent(value: Term) -> Term:
    """``logb``."""
    power = (_parts(value)[1] - 1).of_integer(value.type)
    return choose(value.is_finite, choose(value.equals(0.0), -math.inf, power), value.magnitude)


def _integer_exponent(value: Term) -> Term:
    """``ilogb``."""
    power = (_parts(value)[1] - 1).resized("i32", signed=True)
    return choose(value.is_finite, choose(value.equals(0.0), ILOGB_ZERO, power), ILOGB_NAN)


def _load_exponent(value: Term, power: Term) -> Term:
    """``ldexp``: in double a power of two is a factor that leaves narrower numbers exact."""
    if value.type == "double":
        return library("ldexp")(value, power)
    limited = power.intrinsic("smax", -1000).intrinsic("smin", 1000).resized("i64", signed=True)
    factor = ((limited + 1023) << 52).cast("double")
    return (value.to_float("double") * factor).to_float(value.type)


def _fraction_and_floor(value: Term) -> tuple[Term, Term]:
    """``fract``: the fraction, below 1, and the floor."""
    floor = _in_float(lambda term: term.intrinsic("floor"))(value)
    digits = {"half": 11, "float": 24, "double": 53}[value.type]
    fraction = minimum(value - floor, 1.0 - 2.0**-digits)
    is_special = value.equals(0.0) | value.is_infinite
    return choose(is_special, value.constant(0.0).with_sign(value), fraction), floor


def _fraction_and_whole(value: Term) -> tuple[Term, Term]:
    """``modf``: both parts with the sign of the number."""
    whole = _in_float(lambda term: term.intrinsic("trunc"))(value)
    return choose(value.is_infinite, 0.0, value - whole).with_sign(value), whole


def _not_a_number(payload: Term) -> Term:
    """``nan``: a quiet NaN with the payload in its low bits."""
    fraction = {16: 10, 32: 23, 64: 52}[payload.width]
    quiet = (1 << payload.width - 1) - (1 << fraction - 1)
    kept = payload & (1 << fraction - 1) - 1
    return (kept | quiet).cast({16: "half", 32: "float", 64: "double"}[payload.width])


# --------------------------------------------------------------------------------------
# Remainders
# --------------------------------------------------------------------------------------


def _remainder_and_quotient(a: Term, b: Term) -> tuple[Term, Term]:
    """``remquo``: the IEEE remainder, and the low bits of the rounded quotient with its sign."""
    x, y = (term.to_float("double").magnitude for term in (a, b))
    scale = choose(y > 2.0**1000, x.constant(2.0**-QUOTIENT_BITS), 1.0)  # so that multiples of y do not overflow
    unit = y * scale
    rest = (x * scale) % (unit * 2.0**QUOTIENT_BITS)
    whole = (rest / unit).intrinsic("trunc")  # or the next one, where the quotient is rounded up
    rest = (-whole).intrinsic("fma", unit, rest)  # exact
    over = rest < 0.0
    rest = choose(over, rest + unit, rest)
    quotient = choose(over, whole - 1.0, whole).apply("fptosi {t} {0} to {r}", "i32")
    beyond = unit - rest
    above = (rest > beyond) | (rest.equals(beyond) & (quotient & 1).differs(0))
    rest = choose(above, rest - unit, rest) / scale
    quotient = choose(above, quotient + 1, quotient) & (1 << QUOTIENT_BITS) - 1
    is_small = x < y * 0.5
    is_undefined = a.is_nan | b.is_nan | a.is_infinite | b.equals(0.0)
    rest = choose(is_undefined, math.nan, choose(is_small, x, rest))
    quotient = choose(is_undefined | is_small, 0, quotient)
    rest = choose(a.has_sign, -rest, rest)
    return rest.to_float(a.type), choose(a.has_sign ^ b.has_sign, -quotient, quotient)


# --------------------------------------------------------------------------------------
# The table
# --------------------------------------------------------------------------------------

_OWN: dict[str, Formula] = {
    **{f"{prefix}_divide": lambda a, b: a / b for prefix in ("half", "native")},
    **{f"{prefix}_recip": lambda x: 1.0 / x for prefix in ("half", "native")},
    "fabs": lambda x: x.magnitude,
    "copysign": lambda a, b: a.with_sign(b),
    "fdim": _positive_difference,
    "fmax": larger, "fmax_common": larger,
    "fmin": smaller, "fmin_common": smaller,
    "fclamp": lambda value, low, high: smaller(larger(value, low), high),
    "fmod": _in_float(lambda a, b: a % b),
    "ilogb": _integer_exponent, "ldexp": _load_exponent, "logb": _exponent,
    "maxmag": _larger_magnitude, "minmag": _smaller_magnitude,
    "nan": _not_a_number, "nextafter": _next_after,
    "remainder": lambda a, b: _remainder_and_quotient(a, b)[0],
    "step": lambda edge, value: choose(value < edge, 0.0, value.constant(1.0)),
}
_PAIRS: dict[str, Pair] = {
    "fract": _fraction_and_floor,
    "frexp": _significand_and_exponent,
    "modf": _fraction_and_whole,
    "remquo": _remainder_and_quotient,
    "lgamma_r": lambda x: (_by_name("lgamma", x), gamma_sign(x.to_float("double"))),
    "sincos": lambda x: (_by_name("sin", x), _by_name("cos", x)),
}


def _by_name(name: str, value: Term) -> Term:
    """A function of real numbers, as :func:`_real` has it."""
    emitter, wide = value.emitter, DOUBLE if value.type == "double" else SINGLE
    assert isinstance(emitter, Emitter)
    own = _own_function(emitter, name, wide)
    if own is None:
        return REAL[name](value.to_float("double")).to_float(value.type)
    return own(value.to_float(llvm_type(wide))).to_float(value.type)


def _fma(emitter: Emitter, row: Instruction) -> Value:
    return fused_multiply_add(emitter, row.words[FIRST:], emitter.result_type(row))


def fma_instruction(emitter: Emitter, row: Instruction) -> Value:
    """OpFmaKHR."""
    return fused_multiply_add(emitter, row.words, emitter.result_type(row))


FUNCTIONS: dict[str, Handler] = {
    **{name: _real(name) for name in REAL},
    **{name: on_vectors(formula) for name, formula in GEOMETRY.items()},
    **{name: _rounding(name) for name in ("ceil", "floor", "rint", "round", "trunc")},
    **{name: _direct(name) for name in _OWN},
    **{name: in_pairs(formula) for name, formula in _PAIRS.items()},
    "fma": _fma, "mad": _fma,
}
