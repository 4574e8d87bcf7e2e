"""Error bounds of the sums of products, against exact rational numbers."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.formats import FORMATS
from coopmat.numerics import summation

relaxed = settings(derandomize=True, deadline=None, max_examples=300)

scaled = st.builds(lambda mantissa, exponent: mantissa * 2.0**exponent, st.floats(-2, 2), st.integers(-60, 60))
few_bits = st.builds(lambda mantissa, exponent: mantissa * 2.0**exponent, st.integers(-15, 15), st.integers(-8, 8))
tiny = st.builds(lambda mantissa, exponent: mantissa * 2.0**exponent, st.floats(1, 2), st.integers(-535, -500))
numbers = st.one_of(scaled, few_bits, st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def sums(draw, elements=numbers):
    k = draw(st.integers(0, 9))
    vector = st.lists(elements, min_size=k, max_size=k)
    return np.array(draw(vector)), np.array(draw(vector)), draw(elements)


def exact_sum(a, b, c):
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)), Fraction(c))


@relaxed
@given(sums())
def test_float64_sum_is_within_its_error(terms):
    a, b, c = terms
    total, _, error = summation.float64_sum(a[None, :], b[:, None], np.array([[c]]))
    if np.isfinite(error):
        bound = Fraction(error.item()) + Fraction(summation.underflow_error(len(a)))
        assert abs(Fraction(total.item()) - exact_sum(a, b, c)) <= bound


@relaxed
@given(st.one_of(sums(), sums(few_bits)))
def test_a_sum_that_claims_to_be_exact_is(terms):
    a, b, c = terms
    operands = a[None, :], b[:, None], np.array([[c]])
    total, magnitude, _ = summation.float64_sum(*operands)
    if summation.has_exact_float64_sum(*operands, magnitude):
        assert Fraction(total.item()) == exact_sum(a, b, c)


def test_sums_of_small_integers_are_recognised_as_exact():
    rng = np.random.default_rng(21)
    a, b, c = (rng.integers(-1000, 1000, shape).astype(float) for shape in ((7, 30), (30, 9), (7, 9)))
    a[0] = 0
    _, magnitude, _ = summation.float64_sum(a, b, c)
    assert summation.has_exact_float64_sum(a, b, c, magnitude).all()
    assert not summation.has_exact_float64_sum(a + 2.0**-40, b, c, magnitude)[1:].any()


@relaxed
@given(st.one_of(sums(), sums(tiny)))
def test_compensated_sum_is_within_its_error(terms):
    a, b, c = terms
    high, low, error = summation.compensated_sum(a[None, :], b[None, :], np.array([c]), exact_products=False)
    if np.isfinite(error):
        found = Fraction(high.item()) + Fraction(low.item())
        assert abs(found - exact_sum(a, b, c)) <= Fraction(error.item())


@relaxed
@given(sums(scaled))
def test_compensated_sum_is_nearly_exact_in_the_usual_range(terms):
    a, b, c = terms
    a, b, c = (np.where(np.abs(x) < 2.0**-300, 1.0, x) for x in (a, b, np.array([c])))
    _, _, error = summation.compensated_sum(a[None, :], b[None, :], c, exact_products=False)
    magnitude = np.abs(a * b).sum() + np.abs(c)
    assert error <= 100 * 2.0**-106 * magnitude


@relaxed
@given(sums())
def test_the_integer_path_rounds_the_exact_sum(terms):
    a, b, c = terms
    exact = exact_sum(a, b, c)
    found = summation.rounded_exact_sum(a, b, c, FORMATS["fp64"])
    limit = Fraction(2) ** 1024 - Fraction(2) ** 970
    if abs(exact) >= limit:
        assert found == (np.inf if exact > 0 else -np.inf)
    else:
        assert found == float(exact)  # Python divides integers with one rounding
