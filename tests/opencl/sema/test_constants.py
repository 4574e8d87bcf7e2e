"""Constant folding: C's arithmetic at each type's width, against exact numbers, numpy and clang."""

from __future__ import annotations

import math
import operator
import random
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.opencl import BuildOptions, compile_source
from coopmat.tree import constants
from coopmat.tree.nodes import Constant
from coopmat.tree.types import (
    BFLOAT16,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    Scalar,
)
from tests.kit.oracles import clang

INTEGERS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
DTYPES = {HALF: np.float16, FLOAT: np.float32, DOUBLE: np.float64, BFLOAT16: ml_dtypes.bfloat16}


def value(expression: str) -> object:
    """The value of a constant expression: as a double if it has a decimal point, else as a long."""
    type_ = "double" if "." in expression else "long"
    options = BuildOptions(warnings=("-w",))
    (variable,) = compile_source(f"__constant {type_} x = {expression};", options=options)[0].globals
    assert isinstance(variable.initializer, Constant)
    return variable.initializer.value


# ------------------------------------------------------------------ conversions of numbers


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.integers(-2**70, 2**70), st.sampled_from(INTEGERS))
def test_wrapping_is_modulo_the_width(number: int, type_: Scalar) -> None:
    wrapped = constants.wrap(number, type_)
    low = -(2 ** (type_.bits - 1)) if type_.kind == "sint" else 0
    assert low <= wrapped < low + 2**type_.bits
    assert (wrapped - number) % 2**type_.bits == 0


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.floats(width=64), st.sampled_from([HALF, FLOAT, BFLOAT16]))
def test_floats_are_rounded_as_numpy_rounds(number: float, type_: Scalar) -> None:
    rounded = constants.round_float(number, type_)
    if type_ == BFLOAT16 and math.isfinite(number):  # ml_dtypes goes through float: the nearest of two steps
        exact = Fraction(number)
        with np.errstate(over="ignore"):
            candidates = [float(np.float32(number).astype(ml_dtypes.bfloat16)), rounded]
        finite = [c for c in candidates if math.isfinite(c)]
        assert all(abs(Fraction(rounded) - exact) <= abs(Fraction(c) - exact) for c in finite
                   if math.isfinite(rounded))
        return
    with np.errstate(over="ignore"):
        expected = float(np.float64(number).astype(DTYPES[type_]))
    assert rounded == expected or (math.isnan(rounded) and math.isnan(expected))
    assert math.copysign(1, rounded) == math.copysign(1, expected) or math.isnan(expected)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.integers(-2**63, 2**64 - 1), st.sampled_from([HALF, FLOAT, DOUBLE]))
def test_integers_become_floats_in_one_rounding(number: int, type_: Scalar) -> None:
    found = constants.convert_number(number, LONG, type_)
    assert isinstance(found, float)
    if math.isinf(found):
        assert abs(number) >= 65520
        return
    below, above = (float(np.nextafter(DTYPES[type_](found), DTYPES[type_](side))) for side in (-np.inf, np.inf))
    nearest = min(abs(Fraction(c) - number) for c in (below, found, above) if math.isfinite(c))
    assert abs(Fraction(found) - number) == nearest


@pytest.mark.parametrize(("number", "type_", "expected"), [
    (2.9, INT, 2), (-2.9, INT, -2), (1e30, INT, None), (math.nan, INT, None), (math.inf, LONG, None),
    (-1.0, UINT, None),
    (255.9, UCHAR, 255), (256.0, UCHAR, None), (300, UCHAR, 44), (-1, UINT, 2**32 - 1), (2**63, LONG, -2**63),
    (1e-320, FLOAT, 0.0), (1e39, FLOAT, math.inf), (65520.0, HALF, math.inf), (65519.0, HALF, 65504.0),
    (2**24 + 1, FLOAT, 2.0**24), (2**24 + 3, FLOAT, 2.0**24 + 4), (True, INT, 1), (False, FLOAT, 0.0),
])
def test_conversion_of_numbers(number: float, type_: Scalar, expected: object) -> None:
    source = DOUBLE if isinstance(number, float) else LONG
    assert constants.convert_number(number, source, type_) == expected


# ------------------------------------------------------------------ expressions


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.floats(width=32), st.floats(width=32), st.sampled_from("+-*/"))
def test_float_arithmetic_is_numpys(left: float, right: float, symbol: str) -> None:
    function = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[symbol]
    with np.errstate(all="ignore"):
        expected = float(function(np.float32(left), np.float32(right)))
    bits = [f"as_float({np.float32(number).view(np.uint32)}u)" for number in (left, right)]
    (variable,) = compile_source(f"__constant float x = {bits[0]} {symbol} {bits[1]};")[0].globals
    assert isinstance(variable.initializer, Constant)
    found = variable.initializer.value
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(expected)


@pytest.mark.parametrize(("expression", "expected"), [
    ("0x7fffffff + 1", -2**31), ("0x7fffffffffffffff + 1", -2**63), ("0u - 1", 2**32 - 1), ("-7 / 2", -3),
    ("-7 % 2", -1),
    ("7 % -2", 1), ("-1 >> 1", -1), ("-1u >> 31", 1), ("1 << 31", -2**31), ("1 << 33", 2), ("1l << 33", 2**33),
    ("-1 < 0u", 0), ("-1 < 0l", 1), ("(char)200", -56), ("(uchar)-1", 255), ("~0u", 2**32 - 1), ("!5", 0), ("!0.5f", 0),
    ("5 && 0", 0), ("0 || 7", 1), ("0 && 1 / 0", 0), ("1 || 1 / 0", 1), ("1 ? 2 : 1 / 0", 2), ("(int)2.9f * 2", 4),
    ("sizeof(int) == 4 ? 'a' : 'b'", 97), ("(bool)0.5f + (bool)2", 2), ("sizeof(1 ? (char)1 : (char)2)", 4),
    ("convert_uchar_sat(1)", None), ("as_uint(-1)", 2**32 - 1), ("as_int(1.0f)", 0x3F800000), ("_Alignof(int4)", 16),
    ("1.0 / 3", 1 / 3), ("1.0f / 3 + 0.0", float(np.float32(1) / np.float32(3))),
    ("(half)0.1 + 0.0", float(np.float16(0.1))), ("1.0 / 0", math.inf), ("-1.0 / 0", -math.inf),
    ("16777217.0f + 0.0", 16777216.0),
    ("0.1f + 0.2f + 0.0", float(np.float32(0.1) + np.float32(0.2))), ("vec_step(int3)", 4),
])
def test_values(expression: str, expected: object) -> None:
    if expected is None:  # a function's value is not known to the front end
        with pytest.raises(Exception, match="not a compile-time constant"):
            value(expression)
    else:
        assert value(expression) == expected


class Expressions:
    """Random integer constant expressions without undefined behaviour."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def make(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice(("0", "1", "7", "2u", "3l", "5ul", "255", "0x7fffffff", "0x80000000",
                               "0xffffffffffffffff", "'z'", "sizeof(long)", "(int)2.5f"))
        one, two = self.make(depth - 1), self.make(rng.randrange(depth))
        match rng.randrange(7):
            case 0:
                return f"({one} {rng.choice('&|^')} {two})"
            case 1:
                return f"((ulong){one} {rng.choice('+-*')} {two})"
            case 2:
                return f"({one} {rng.choice(('<', '>', '<=', '>=', '==', '!=', '&&', '||'))} {two})"
            case 3:
                return f"({one} {rng.choice('/%')} (({two} & 15) + 1))"
            case 4:
                return f"({rng.choice('~!')} {one})"
            case 5:
                return f"(({rng.choice(('char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong'))}){one})"
        return f"({one} ? {two} : {self.make(rng.randrange(depth))})"


@pytest.mark.oracle("clang")
def test_integer_constant_expressions_have_clangs_values(tmp_path: Path) -> None:
    """clang is asked to assert what the package found: the value, and the size of its type."""
    generator = Expressions(1)
    names = ("uchar", "char"), ("ushort", "short"), ("uint", "int"), ("ulong", "long")
    lines = [f"typedef unsigned {signed} {name};" for name, signed in names]
    for _ in range(400):
        expression = generator.make(generator.rng.randrange(1, 5))
        source = f"__constant ulong x = (ulong)({expression}); __constant int y = sizeof({expression});"
        x, y = compile_source(source, options=BuildOptions(warnings=("-w",)))[0].globals
        assert isinstance(x.initializer, Constant)
        assert isinstance(y.initializer, Constant)
        lines.append(f'_Static_assert((ulong)({expression}) == {x.initializer.value}ul, "");')
        lines.append(f'_Static_assert(sizeof({expression}) == {y.initializer.value}, "");')
    _, messages = clang.run("\n".join(lines), tmp_path, *clang.OPENCL, "-fsyntax-only", "-w")
    assert not clang.has_errors(messages), messages[:1000]
