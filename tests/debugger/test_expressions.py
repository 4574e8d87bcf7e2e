"""Expressions of the debugger: their form, their arithmetic, and what is said of those without a value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from coopmat.debugger.engine import Engine
from coopmat.debugger.expressions import parse
from coopmat.diagnostics import Error
from tests.kit.debugger import broken, engine_of, value

SOURCE = """\
typedef struct { int x; float y[3]; short4 v; } item;
constant int table[4] = {1, 2, 4, 8};
kernel void look(global int *p, uint n, global const uchar *u, global item *q, int a, int b, float f, half h) {
    local int shared[4];
    item s = {7, {1, 2, 3}, (short4)(4, 5, 6, 7)};
    int array[4] = {10, 20, 30, 40};
    float4 v = (float4)(1, 2, 3, 4);
    long big = 1L << 40;
    int i = get_global_id(0);
    shared[i] = i * i;
    array[i] += 1;
    q[i].v.y = i;
    global int *end = p + 4;
    p[i] = s.x + array[0] + table[i] + v.x + big;
}
"""


def launched(a: int = 5, b: int = 3, f: float = 1.5) -> Engine:
    items = np.zeros(4, np.dtype([("x", np.int32), ("y", np.float32, 3), ("v", np.int16, 4)], align=True))
    items["x"] = [1, 2, 3, 4]
    engine = engine_of(SOURCE, "look", 4, 4, np.arange(10, 14, dtype=np.int32), 3, np.array([200, 1], np.uint8),
                       items.view(np.uint8), a, b, f, np.float16(0.5))
    broken(engine, 14)
    engine.start("continue")
    return engine


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = launched()
    engine.select((2, 0, 0))
    yield engine
    engine.close()


@pytest.mark.parametrize(("text", "expected"), [
    ("i", "2"), ("a + b * 2", "11"), ("(a + b) * 2", "16"), ("a - b - 1", "1"), ("-a / 2", "-2"), ("-a // 2", "-3"),
    ("-a % 3", "-2"), ("a << 2 | 1", "21"), ("~a", "-6"), ("!a", "false"), ("a > b && b > a", "false"),
    ("a > b or b > a", "true"), ("not (a > b)", "false"), ("a == 5 ? 1 : 2", "1"), ("a > b ? f : b", "1.5"),
    ("n - 4", "4294967295"), ("(int)n - 4", "-1"), ("(uchar)300", "44"), ("(char)200", "-56"), ("(float)a / 2", "2.5"),
    ("u[0]", "200"), ("u[0] + u[0]", "400"), ("0x10", "16"), ("0xffffffff", "4294967295"), ("1 << 31", "-2147483648"),
    ("2147483647 + 1", "-2147483648"), ("1u - 2", "4294967295"), ("3000000000", "3000000000"), ("1e3", "1000.0"),
    ("f * 2", "3.0"), ("h + h", "1.0"), ("1 / 3.0f", str(np.float32(1) / np.float32(3))), ("big >> 38", "4"),
    ("s.x", "7"), ("s.y[1]", "2.0"), ("s.v.z", "6"), ("s.v", "(4, 5, 6, 7)"), ("s", "{x = 7, y = {1.0, 2.0, 3.0}, "
     "v = (4, 5, 6, 7)}"), ("array[i]", "31"), ("array[i - 1] + 1", "21"), ("array", "{10, 20, 31, 40}"),
    ("v.w", "4.0"), ("v.wx", "(4.0, 1.0)"), ("v.s1", "2.0"), ("v[i]", "3.0"), ("p[i]", "12"), ("*p", "10"),
    ("*(p + 3)", "13"), ("p[3] - *p", "3"), ("end - p", "4"), ("end == p + 4", "true"), ("(&p[2])[1]", "13"),
    ("*&p[1]", "11"), ("q->x", "1"), ("(q + 1)->x", "2"), ("q[i].x", "3"), ("q[i].v.y", "2"), ("table[3]", "8"),
    ("shared[i]", "4"), ("p", "element 0 of argument 0 'p'"), ("p + 5", "element 5 of argument 0 'p'"),
    ("get_global_id(0)", "2"), ("get_local_size(0)", "4"), ("get_global_size(1)", "1"), ("get_work_dim()", "1"),
    ("get_sub_group_local_id()", "2"), ("true", "true"),
])
def test_values(engine: Engine, text: str, expected: str) -> None:
    assert value(engine, text) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("nothing", "no variable 'nothing' in look; it has p, n, u, q, a, b, f, h, s, array"),
    ("a +", "expected a value: the end"), ("a b", "the expression has ended before this: 'b'"), ("(a", "expected ')'"),
    ("a $ b", "'$' is not part of expressions"), ("a / 0", "division by zero"),
    ("array[4]", "index 4 is outside of array"),
    ("p[4]", "element 4"), ("*a", "a is no pointer"), ("a.x", "a has no members"),
    ("s.z", "s has no member 'z'; it has x"),
    ("q.x", "write q->x"), ("s->x", "write s.x"), ("v.q", "v has no component 'q'"), ("f & 1", "'&' takes integers"),
    ("p * 2", "'*' has no meaning for a pointer"), ("&a", "a has no address"),
    ("sin(f)", "'sin' cannot be called here"),
    ("get_global_id()", "takes a dimension"), ("get_global_id(a)", "the dimension of get_global_id is 0, 1 or 2"),
    ("s + 1", "s is no number"), ("1f", "'1f' is no number"), ("99999999999999999999", "does not fit"),
    ("a[1, 2]", "only a matrix takes a row and a column"), ("(" * 200 + "a" + ")" * 200, "nested more than"),
    ("-" * 200 + "a", "nested more than"), ("", "expected a value"), ("s.", "expected the name of a member"),
])
def test_what_has_no_value_is_an_error(engine: Engine, text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        value(engine, text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["a + (b * c)", "p->x[3].y", "f(a, 1)", "(int)(a + b)", "-a", "a ? b : c", "m[1, 2]"])
def test_a_tree_is_shown_as_what_it_means(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@seed(19)
@settings(max_examples=60, deadline=None)
@given(st.integers(-2**31, 2**31 - 1), st.integers(-2**31, 2**31 - 1), st.sampled_from("+-*/%&|^"))
def test_integers_are_those_of_c(a: int, b: int, sign: str) -> None:
    if not ENGINE:
        ENGINE.append(launched())
    engine = ENGINE[0]
    if sign in "/%" and b == 0:
        return
    exact = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    cut = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0
    result = exact.get(sign, cut if sign == "/" else a - b * cut)
    wrapped = (result + 2**31) % 2**32 - 2**31
    assert value(engine, f"(int){a & 0xffffffff}u {sign} (int){b & 0xffffffff}u") == str(wrapped)


ENGINE: list[Engine] = []
