"""The coefficients of the CPU's mathematical functions: ``python tools/polynomials.py [NAME…] [--check]``.

Each polynomial has the least possible largest error, relative to a weight, on its interval (the exchange algorithm of
Remez). Coefficients are rounded to their type; where all of the interval is positive, one after the other, and those
that are left are fitted again, so that they make up for what is lost. Rational functions are fitted by weighted least
squares whose weights grow where the error is large (Lawson's algorithm). Writes
``src/coopmat/targets/cpu/mathematics/coefficients.py``; needs mpmath.
"""

from __future__ import annotations

import argparse
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mpmath
from mpmath import mp, mpf

Function = Callable[[mpf], mpf]

OUTPUT = Path(__file__).parents[1] / "src/coopmat/targets/cpu/mathematics/coefficients.py"
POINTS = 300  # at which errors are looked at
ROUNDS = 20  # of an exchange, at most
REFITS = 60  # of a rational function
SEQUENTIAL = 4  # coefficients that are rounded one after the other; what later ones lose is small
CODES = {"SINGLE": "f", "DOUBLE": "d"}
mp.dps = 50


@dataclass(frozen=True)
class Fit:
    """What is to be fitted: ``function`` from ``low`` to ``high`` by ``terms`` coefficients, with the least largest
    error relative to ``weight``; the first coefficients may be given. ``below``: the coefficients of the denominator
    behind its 1; none for a polynomial."""

    function: Function
    weight: Function
    low: float
    high: float
    terms: int
    first: tuple[float, ...] = ()
    below: int = 0


# ------------------------------------------------------------------------- the exchange


def nodes(low: mpf, high: mpf, count: int) -> list[mpf]:
    """Chebyshev's points."""
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def value(coefficients: Sequence[mpf], x: mpf) -> mpf:
    """A polynomial; the constant comes first."""
    return mpmath.polyval(list(reversed(coefficients)), x)


def exchange(samples: list[tuple[mpf, mpf, mpf]], terms: int) -> list[mpf]:
    """So many coefficients with the least largest error relative to a weight, of samples (place, function, weight)."""
    chosen = spread(len(samples), terms + 1)
    coefficients: list[mpf] = []
    for _ in range(ROUNDS):
        matrix, right = mp.matrix(terms + 1, terms + 1), mp.matrix(terms + 1, 1)
        for row, index in enumerate(chosen):
            x, wanted, weight = samples[index]
            for power in range(terms):
                matrix[row, power] = x**power
            matrix[row, terms] = (-1)**row * weight
            right[row] = wanted
        coefficients = list(mp.lu_solve(matrix, right))[:-1]
        errors = [(wanted - value(coefficients, x)) / weight for x, wanted, weight in samples]
        new = alternating(errors, len(chosen))
        if new == chosen:
            break
        chosen = new
    return coefficients


def spread(count: int, chosen: int) -> list[int]:
    """So many of the numbers up to a count, the first and the last among them."""
    return [round(i * (count - 1) / (chosen - 1)) for i in range(chosen)]


def alternating(errors: list[mpf], count: int) -> list[int]:
    """The samples with the largest errors of alternating sign, so many of them."""
    found: list[int] = []
    for index, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = index
        else:
            found.append(index)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return found if len(found) == count else spread(len(errors), count)


def rounded(number: mpf, code: str) -> float:
    """The nearest number of a type."""
    return struct.unpack(code, struct.pack(code, float(number)))[0]


def polynomial(fit: Fit, code: str) -> list[float]:
    """Coefficients of a type; the constant comes first."""
    places = nodes(mpf(fit.low), mpf(fit.high), POINTS)
    samples = [(x, fit.function(x), fit.weight(x)) for x in places]
    found: list[float] = list(fit.first)
    while len(found) < fit.terms:
        known = [mpf(one) for one in found] or [mpf(0)]
        rest = [(x, (wanted - value(known, x)) / x**len(found), weight / abs(x)**len(found))
                for x, wanted, weight in samples]
        best = [rounded(one, code) for one in exchange(rest, fit.terms - len(found))]
        found += best[:1] if fit.low > 0 and len(found) < SEQUENTIAL else best
    return found


def rational(fit: Fit, code: str) -> tuple[list[float], list[float]]:
    """Coefficients above and below; the constant below is 1."""
    places = nodes(mpf(fit.low), mpf(fit.high), POINTS)
    samples = [(x, fit.function(x), fit.weight(x)) for x in places]
    scale, below = [mpf(1)] * POINTS, [mpf(1)] * POINTS
    given = [mpf(one) for one in fit.first]
    best, least = ([mpf(0)], [mpf(1)]), mpf("inf")
    for _ in range(REFITS):
        rows = mp.matrix(POINTS, fit.terms - len(given) + fit.below)
        right = mp.matrix(POINTS, 1)
        for row, (x, wanted, weight) in enumerate(samples):
            factor = mp.sqrt(scale[row]) / (weight * below[row])
            for place, power in enumerate(range(len(given), fit.terms)):
                rows[row, place] = x**power * factor
            for place in range(fit.below):
                rows[row, fit.terms - len(given) + place] = -wanted * x**(place + 1) * factor
            right[row] = (wanted - (value(given, x) if given else 0)) * factor
        found = list(mp.lu_solve(rows.T * rows, rows.T * right))
        above, divisor = [*given, *found[:fit.terms - len(given)]], [mpf(1), *found[fit.terms - len(given):]]
        below = [value(divisor, x) for x, _, _ in samples]
        errors = [abs(value(above, x) / low - wanted) / weight
                  for (x, wanted, weight), low in zip(samples, below, strict=True)]
        if max(errors) < least:
            best, least = (above, divisor), max(errors)
        scale = [one * (error + least / 1000) for one, error in zip(scale, errors, strict=True)]
        total = sum(scale) / POINTS
        scale = [one / total for one in scale]
    return [rounded(one, code) for one in best[0]], [rounded(one, code) for one in best[1]]


def error(fit: Fit, found: list[float] | tuple[list[float], list[float]]) -> mpf:
    """The largest error, relative to the weight."""
    above, below = found if isinstance(found, tuple) else (found, [1.0])
    return max(abs(value(above, x) / value(below, x) - fit.function(x)) / fit.weight(x)
               for x in nodes(mpf(fit.low), mpf(fit.high), 2 * POINTS + 1))


# ----------------------------------------------------------------------------- the table

HALF_LN2 = float(mp.log(2)) / 2 + 1e-4
FEW = 1 / 32 + 1e-5  # half of a table's step
RIGHT = 1.62  # half of pi, and what the number of half turns may be off


def over(function: Function, *, odd: bool = True) -> Function:
    """Of z = x², what an odd function, without x and divided by x³, is; or an even one, without 1 and divided by z."""
    if odd:
        return lambda z: (function(mp.sqrt(z)) / mp.sqrt(z) - 1) / z
    return lambda z: (function(mp.sqrt(z)) - 1) / z


def relative(function: Function, *, odd: bool = True) -> Function:
    """The weight with which an error of :func:`over` is one relative to the function."""
    if odd:
        return lambda z: abs(function(mp.sqrt(z)) / mp.sqrt(z)) / z
    return lambda z: abs(function(mp.sqrt(z))) / z


def by_odd(function: Function, high: float, terms: int) -> Fit:
    """A fit of an odd function x + x³ p(x²)."""
    return Fit(over(function), relative(function), 1e-9, high**2, terms)


def by_even(function: Function, high: float, terms: int) -> Fit:
    """A fit of an even function 1 + x² p(x²)."""
    return Fit(over(function, odd=False), relative(function, odd=False), 1e-9, high**2, terms)


def quotient(function: Function, low: float, high: float, terms: int, first: tuple[float, ...] = ()) -> Fit:
    """A fit of x p(x)."""
    of = lambda x: function(x) / x  # noqa: E731
    return Fit(of, lambda x: abs(of(x)), low, high, terms, first)


def power_minus_one(base: mpf) -> Function:
    """base to the power of x, less 1."""
    return lambda x: mp.expm1(x * mp.log(base))


def power_less_one(base: mpf, terms: int = 3) -> Fit:
    """A fit of x p(x), to which 1 is added, for exponents of 2 up to half of a table's step."""
    most, function = FEW / mp.log(base, 2), power_minus_one(base)
    return Fit(lambda x: function(x) / x, lambda x: base**x / abs(x), -most, most, terms)


def tail_of_logarithm(f: mpf) -> mpf:
    """The binary logarithm of 1 + f without f / log(2), divided by f²."""
    return (mp.log1p(f) - f) / mp.log(2) / f**2


def of_quotient(z: mpf) -> mpf:
    """log((1 + s) / (1 - s)), divided by s, less 2, divided by z = s²."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def rational_odd(function: Function, high: float, terms: int, below: int) -> Fit:
    """A fit of x p(x²) / q(x²)."""
    of = lambda z: function(mp.sqrt(z)) / mp.sqrt(z)  # noqa: E731
    return Fit(of, of, 1e-6, high**2, terms, (), below)


ERFC_LIMIT = {"SINGLE": 10.5, "DOUBLE": 28.0}
"""Where erfc rounds to 0."""


def of_erfc(t: mpf) -> mpf:
    """erfc(x) exp(x²) (1 + 2 x), of t = (x - 2) / (x + 2)."""
    x = 2 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)


def of_erf(z: mpf) -> mpf:
    """erf(x) / x of z = x²."""
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z)


def log_gamma(t: mpf) -> mpf:
    """log(gamma(2 + t)) / t."""
    return mp.loggamma(2 + t) / t if abs(t) > 1e-20 else mp.digamma(2)


def special(precision: str, erfc: int, erf: int, gamma: int) -> dict[str, Fit]:
    """The fits of erfc from 1/2 on, of erf up to 1, and of the logarithm of the gamma function around 2, of so many
    terms."""
    low, high = ((mpf(end) - 2) / (mpf(end) + 2) for end in (0.49, ERFC_LIMIT[precision]))
    return {"ERFC": Fit(of_erfc, of_erfc, float(low), float(high), erfc), "ERF": Fit(of_erf, of_erf, 1e-9, 1.0, erf),
            "LGAMMA": Fit(log_gamma, log_gamma, -0.5001, 0.5001, gamma)}


FITS: dict[str, dict[str, Fit]] = {
    "SINGLE": {
        "EXP": power_less_one(mp.e),
        "EXP2": power_less_one(mpf(2)),
        "EXP10": power_less_one(mpf(10)),
        "EXPM1": quotient(mp.expm1, -HALF_LN2, HALF_LN2, 6, (1.0,)),
        "EXP2M1": quotient(power_minus_one(2), -0.5001, 0.5001, 6),
        "LOG": quotient(mp.log1p, -FEW, 2 * FEW, 5),
        "LOG2": quotient(lambda f: mp.log1p(f) / mp.log(2), -FEW, 2 * FEW, 5),
        "LOG10": quotient(lambda f: mp.log1p(f) / mp.log(10), -FEW, 2 * FEW, 5),
        "LOG2_TAIL": Fit(tail_of_logarithm, lambda f: abs(mp.log1p(f) / f**2), -0.0372, 2 * FEW, 4),
        "SIN": by_odd(mp.sin, RIGHT, 5),
        "TAN": by_odd(mp.tan, RIGHT / 2, 6),
        "ATAN": by_odd(mp.atan, 1.0, 8),
        "ASIN": by_odd(mp.asin, 0.5, 5),
        "SINH": by_odd(mp.sinh, HALF_LN2, 2),
        "COSH": by_even(mp.cosh, HALF_LN2, 3),
        "ERF_QUOTIENT": rational_odd(mp.erf, 3.93, 6, 5),
        **special("SINGLE", 11, 7, 11),
        "NATIVE_EXP2": power_less_one(mpf(2), 2),
        "NATIVE_LOG2": quotient(lambda f: mp.log1p(f) / mp.log(2), -FEW, 2 * FEW, 3),
        "NATIVE_SIN": by_odd(mp.sin, RIGHT, 3),
        "RELAXED_LOG": quotient(mp.log1p, -FEW, 2 * FEW, 2),
        "RELAXED_ROOT": Fit(lambda x: 1 / mp.sqrt(x), lambda x: 1 / mp.sqrt(x), 0.9319, 1.0705, 3),
        "RELAXED_TAN": by_odd(mp.tan, RIGHT / 2, 3),
        "RELAXED_ATAN": by_odd(mp.atan, 1.0, 4),
        "RELAXED_ASIN": by_odd(mp.asin, 0.5, 2),
    },
    "DOUBLE": {
        "EXPM1": quotient(mp.expm1, -HALF_LN2, HALF_LN2, 12, (1.0, 0.5)),
        "EXP2M1": quotient(power_minus_one(2), -0.5001, 0.5001, 12),
        "EXP10M1": quotient(power_minus_one(10), -0.1507, 0.1507, 12),
        "LOG_SERIES": Fit(of_quotient, lambda z: 2 / z, 1e-9, 0.1717**2, 8),
        "SIN": by_odd(mp.sin, RIGHT, 10),
        "ATAN": by_odd(mp.atan, 1.0, 21),
        "ASIN": by_odd(mp.asin, 0.5, 13),
        "SINH": by_odd(mp.sinh, HALF_LN2, 6),
        "COSH": by_even(mp.cosh, HALF_LN2, 6),
        **special("DOUBLE", 24, 14, 24),
    },
}
"""What is fitted, by type and name; docstrings of the functions that use them say how."""


CONSTANTS: dict[str, tuple[mpf, int]] = {
    "LN2": (mp.log(2), 2), "LOG10_2": (mp.log10(2), 2), "LOG2_E": (1 / mp.log(2), 2), "LOG10_E": (1 / mp.log(10), 2),
    "LOG2_10": (mp.log(10, 2), 1), "PI": (mp.pi, 3), "INVERSE_PI": (1 / mp.pi, 1),
}
"""Constants, and as the sum of how many numbers of a type they are given, the largest first."""

# ---------------------------------------------------------------------------- the tables

ARTANH_TERMS = {"SINGLE": 6, "DOUBLE": 13}
STIRLING_TERMS = 7


def series(precision: str) -> dict[str, list[float]]:
    """Coefficients that are known: those of log((1 + s) / (1 - s)) / s in s² from the third one on, and of Stirling's
    logarithm of the gamma function in 1 / x²."""
    stirling = [mp.bernoulli(2 * place) / (2 * place * (2 * place - 1)) for place in range(1, STIRLING_TERMS + 1)]
    return {"ARTANH": [2 / (2 * place + 5) for place in range(ARTANH_TERMS[precision])],
            "STIRLING": [float(one) for one in stirling]}


ENTRIES = 16  # of a table
CANDIDATES = 1 << 12  # floats near a reciprocal, of which one is chosen


def powers_of_two() -> list[float]:
    """Of the multiples of 1/16 below 1."""
    return [rounded(mpf(2) ** (mpf(place) / ENTRIES), "f") for place in range(ENTRIES)]


def offsets_of(inverse: float, base: mpf, place: int) -> tuple[float, float]:
    """The number of a table that stands for less a logarithm, and its error. Above 3/2, where the logarithm of 1/2 will
    be added first, it makes up for what that one is rounded."""
    two = mp.log(2, base)
    more = rounded(two, "f") - two if place >= ENTRIES // 2 else 0
    wanted = more - mp.log(mpf(inverse), base)
    found = rounded(wanted, "f")
    return found, abs(found - wanted)


def logarithms() -> dict[str, list[float]]:
    """For each sixteenth from 1 to 2 a number near its reciprocal, and less its logarithms to three bases: a number
    whose logarithms are nearly floats."""
    bases = {"LOG_OFFSET": mp.e, "LOG2_OFFSET": mpf(2), "LOG10_OFFSET": mpf(10)}
    found: dict[str, list[float]] = {"INVERSE": [], **{name: [] for name in bases}}
    for place in range(ENTRIES):
        middle = rounded(1 / (1 + (place + mpf(1) / 2) / ENTRIES), "f")
        exact = {0: [1.0], ENTRIES - 1: [0.5]}.get(place)
        step = 2.0**-24
        candidates = exact or [middle + step * (i - CANDIDATES // 2) for i in range(CANDIDATES)]
        mp.prec = 80
        best = min(candidates, key=lambda one: max(offsets_of(one, base, place)[1] for base in bases.values()))
        mp.dps = 50
        found["INVERSE"].append(best)
        for name, base in bases.items():
            found[name].append(offsets_of(best, base, place)[0])
    return found


def short_logarithms() -> dict[str, list[float]]:
    """The same for pow: multiples of 1/32, whose products with a float are within 1/16 of 1, and exact less 1; and less
    their binary logarithms, as a number with 15 bits after the point and the rest."""
    found: dict[str, list[float]] = {"SHORT_INVERSE": [], "SHORT_LOG2_HIGH": [], "SHORT_LOG2_LOW": []}
    for place in range(ENTRIES):
        low, high = 1 + mpf(place) / ENTRIES, 1 + mpf(place + 1) / ENTRIES
        best = min((i / 32 for i in range(16, 33)), key=lambda one: max(abs(low * one - 1), abs(high * one - 1)))
        best = {0: 1.0, ENTRIES - 1: 0.5}.get(place, best)
        logarithm = -mp.log(mpf(best), 2)
        first = float(mp.nint(logarithm * 2**15)) / 2**15
        for name, one in zip(found, (best, first, rounded(logarithm - first, "f")), strict=True):
            found[name].append(one)
    return found


TANH_STEP = 19 / 32  # from the middle of an interval to that of the next one


def hyperbolic_tangents(name: str, terms: int) -> dict[str, list[float]]:
    """tanh(x) / x by a polynomial around each multiple of a step: one table for each power."""
    fits = []
    for place in range(ENTRIES):
        of = lambda t, middle=place * TANH_STEP: mp.tanh(middle + t) / (middle + t)  # noqa: E731
        fits.append(Fit(of, of, -TANH_STEP / 2, TANH_STEP / 2, terms))
    columns = zip(*(polynomial(fit, "f") for fit in fits), strict=True)
    return {f"{name}_{power}": list(column) for power, column in enumerate(columns)}


def tables() -> dict[str, list[float]]:
    """What floats are looked up in, by names."""
    return {"POWERS_OF_TWO": powers_of_two(), **logarithms(), **short_logarithms(),
            **hyperbolic_tangents("TANH", 7), **hyperbolic_tangents("RELAXED_TANH", 4)}


# -------------------------------------------------------------------------------- output


def split(number: mpf, count: int, code: str) -> list[float]:
    """A positive constant as the sum of so many numbers; of three, none is negative, so that what they are multiplied
    with and taken from keeps the sign of a zero."""
    found: list[float] = []
    for _ in range(count):
        rest = number - sum(map(mpf, found))
        one = rounded(rest, code)
        if count == 3 and one > rest:
            whole = int.from_bytes(struct.pack(f"<{code}", one), "little") - 1
            one = struct.unpack(f"<{code}", whole.to_bytes(struct.calcsize(code), "little"))[0]
        found.append(one)
    return found


def text_of(name: str, numbers: list[float]) -> str:
    """A line, or several, of the table."""
    words = [repr(number) for number in numbers]
    lines, line = [], "        "
    for word in words:
        if len(line) + len(word) + 2 > 118:
            lines.append(line.rstrip())
            line = "        "
        line += word + ", "
    one = f'    "{name}": ({", ".join(words)}{"," if len(words) == 1 else ""}),'
    return one if len(one) <= 120 else "\n".join([f'    "{name}": (', *lines, line.rstrip(), "    ),"])


def module() -> str:
    """The text of the module with all coefficients."""
    parts = ['"""Coefficients of polynomials, the constant first, and constants: made by tools/polynomials.py, which '
             'says of what."""', ""]
    for precision, fits in FITS.items():
        code = CODES[precision]
        parts.append(f"{precision}: dict[str, tuple[float, ...]] = {{")
        parts += [text_of(name, split(*constant, code)) for name, constant in CONSTANTS.items()]
        parts += [text_of(*one) for one in tables().items()] if precision == "SINGLE" else []
        parts += [text_of(*one) for one in series(precision).items()]
        for name, fit in fits.items():
            found = rational(fit, code) if fit.below else polynomial(fit, code)
            print(f"{precision} {name}: 2^{float(mp.log(error(fit, found), 2)):.1f}", flush=True)
            for end, one in zip(("_ABOVE", "_BELOW"), found, strict=True) if fit.below else (("", found),):
                parts.append(text_of(f"{name}{end}", one))
        parts += ["}", ""]
    return "\n".join([*parts, 'OF = {"float": SINGLE, "double": DOUBLE}', ""])


def main() -> None:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the file is what would be written")
    options = parser.parse_args()
    text = module()
    if options.check:
        raise SystemExit(None if OUTPUT.read_text() == text else f"{OUTPUT.name} is not what the table makes")
    OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
