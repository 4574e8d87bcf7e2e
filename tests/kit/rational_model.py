"""An exact model of floating-point formats, with rational numbers and nothing of the package."""

from fractions import Fraction

# bits of exponent, fraction and padding, written down a second time on purpose
FIELDS = {"fp16": (5, 10, 0), "bf16": (8, 7, 0), "tf32": (8, 10, 13), "fp32": (8, 23, 0), "fp64": (11, 52, 0)}


def decode(bits: int, name: str) -> Fraction | float:
    """The value of a bit pattern; floats stand for NaN and the infinities."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    bits >>= padding
    sign = -1 if bits >> (exponent_bits + fraction_bits) else 1
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return float("nan") if fraction else sign * float("inf")
    if exponent == 0:
        return sign * Fraction(fraction, 1 << fraction_bits) * Fraction(2) ** (1 - bias)
    return sign * (1 + Fraction(fraction, 1 << fraction_bits)) * Fraction(2) ** (exponent - bias)


def round_exactly(value: Fraction, name: str, rounding: str = "rte", negative: bool = False) -> int:
    """The bit pattern nearest to a rational number; ``negative`` is the sign of a zero."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    negative = value < 0 or (value == 0 and negative)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    exponent = max(exponent, 1 - bias) if magnitude else 1 - bias
    scaled = magnitude / Fraction(2) ** (exponent - fraction_bits)
    integer, rest = divmod(scaled, 1)
    up = {"rte": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and integer % 2 == 1),
          "rtz": False, "rtp": rest > 0 and not negative, "rtn": rest > 0 and negative}[rounding]
    integer += up
    # The encoding is monotonic: an integer that grew past the fraction runs into the exponent.
    pattern = ((exponent + bias - 1) << fraction_bits) + int(integer)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if pattern >= infinity:
        away = rounding == "rte" or (rounding == "rtp" and not negative) or (rounding == "rtn" and negative)
        pattern = infinity if away else infinity - 1
    return (pattern | negative << (exponent_bits + fraction_bits)) << padding


# --------------------------------------------------------------------------------------
# Sums
# --------------------------------------------------------------------------------------

Number = tuple[Fraction | float, bool]  # and whether it is negative, which a zero may be too


def number(bits: int, name: str) -> Number:
    """The value and the sign of a bit pattern."""
    exponent_bits, fraction_bits, padding = FIELDS[name]
    return decode(bits, name), bool(bits >> (exponent_bits + fraction_bits + padding))


def product(x: Number, y: Number) -> Number:
    """The exact product."""
    negative = x[1] != y[1]
    if isinstance(x[0], Fraction) and isinstance(y[0], Fraction):
        return x[0] * y[0], negative
    invalid = 0 in (x[0], y[0]) or any(value != value for value in (x[0], y[0]))
    return (float("nan") if invalid else float("-inf" if negative else "inf")), negative


def rounded_sum(terms: list[Number], name: str, rounding: str = "rte") -> Number:
    """The exact sum, rounded once to a format; of zeros, -0 where all are."""
    special = {value for value, _ in terms if isinstance(value, float)}
    if special:
        return sum(special), sum(special) < 0  # infinities of both signs, or a NaN: NaN
    total = sum((Fraction(value) for value, _ in terms), Fraction(0))
    return number(round_exactly(total, name, rounding, all(negative for _, negative in terms)), name)
