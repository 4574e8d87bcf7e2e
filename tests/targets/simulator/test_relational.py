"""Comparisons, logic and selection, against Python's and numpy's comparisons."""

import math
import operator

import numpy as np
import pytest

from tests.kit.targets.short_kernels import evaluate, module, run
from tests.kit.targets.values import floats, integers, unsigned

RNG = np.random.default_rng(11)
ORDER = {"LessThan": operator.lt, "LessThanEqual": operator.le, "GreaterThan": operator.gt,
         "GreaterThanEqual": operator.ge}


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("name", ["IEqual", "INotEqual", *(f"{sign}{order}" for sign in "SU" for order in ORDER)])
def test_integer_comparison(name: str, width: int) -> None:
    a, b = integers(RNG, width), RNG.permutation(integers(RNG, width))
    b[::5] = a[::5]
    compare = {"IEqual": operator.eq, "INotEqual": operator.ne}.get(name) or ORDER[name[1:]]
    read = (lambda x: unsigned(x, width)) if name.startswith("U") else (lambda x: x)
    expected = [compare(read(x), read(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(evaluate(f"Op{name} %bool {{0}} {{1}}", "bool", a, b), expected)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("name", ["Equal", "NotEqual", *ORDER])
def test_float_comparison(name: str, ordered: bool, kind: str) -> None:
    """An ordered comparison with NaN is false, an unordered one true."""
    a, b = floats(RNG, kind), RNG.permutation(floats(RNG, kind))
    b[::5] = a[::5]
    compare = {"Equal": operator.eq, "NotEqual": operator.ne}.get(name) or ORDER[name]
    expected = [not ordered if math.isnan(x) or math.isnan(y) else compare(x, y)
                for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    code = f"Op{'FOrd' if ordered else 'FUnord'}{name} %bool {{0}} {{1}}"
    np.testing.assert_array_equal(evaluate(code, "bool", a, b), expected)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize(("name", "function"), [
    ("IsNan", math.isnan), ("IsInf", math.isinf), ("IsFinite", math.isfinite),
    ("SignBitSet", lambda x: math.copysign(1, x) < 0)])
def test_classification(name: str, function, kind: str) -> None:
    a = floats(RNG, kind)
    expected = [function(x) for x in a.tolist()]
    if name == "SignBitSet":
        expected = np.signbit(a)  # Python's floats do not keep the sign of every NaN
    np.testing.assert_array_equal(evaluate(f"Op{name} %bool {{0}}", "bool", a), expected)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_is_normal(kind: str) -> None:
    a = floats(RNG, kind)
    smallest = float(np.finfo(a.dtype).smallest_normal)
    expected = [math.isfinite(x) and abs(x) >= smallest for x in a.tolist()]
    np.testing.assert_array_equal(evaluate("OpIsNormal %bool {0}", "bool", a), expected)


def test_ordered_unordered_and_less_or_greater() -> None:
    a, b = floats(RNG, "f32"), RNG.permutation(floats(RNG, "f32"))
    b[::5] = a[::5]
    nan = np.isnan(a) | np.isnan(b)
    np.testing.assert_array_equal(evaluate("OpOrdered %bool {0} {1}", "bool", a, b), ~nan)
    np.testing.assert_array_equal(evaluate("OpUnordered %bool {0} {1}", "bool", a, b), nan)
    np.testing.assert_array_equal(evaluate("OpLessOrGreater %bool {0} {1}", "bool", a, b), ~nan & (a != b))


@pytest.mark.parametrize(("name", "function"), [
    ("LogicalAnd", operator.and_), ("LogicalOr", operator.or_), ("LogicalEqual", operator.eq),
    ("LogicalNotEqual", operator.ne)])
def test_logic(name: str, function) -> None:
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    code = ("%x = OpINotEqual %bool {0} %i32_c0\n%y = OpINotEqual %bool {1} %i32_c0\n"
            f"%r = Op{name} %bool %x %y")
    np.testing.assert_array_equal(evaluate(code, "bool", a, b), function(a.astype(bool), b.astype(bool)))


def test_logical_not_any_all() -> None:
    a = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32)
    compare = "%x = OpIEqual %v2_bool {0} %none\n"
    zero = "%none = OpConstantNull %v2_i32"
    for code, expected in (("%r = OpAny %bool %x", [1, 1, 1, 0]), ("%r = OpAll %bool %x", [1, 0, 0, 0])):
        np.testing.assert_array_equal(evaluate(compare + code, "bool", a, declarations=zero), expected)
    found = evaluate(compare + "%r = OpLogicalNot %v2_bool %x", "v2_bool", a, declarations=zero)
    np.testing.assert_array_equal(found, a != 0)


def test_select_by_scalar_and_by_component() -> None:
    condition = RNG.integers(0, 2, 64).astype(np.int32)
    a, b = (RNG.standard_normal((64, 4)).astype(np.float32) for _ in range(2))
    code = "%c = OpINotEqual %bool {0} %i32_c0\n%r = OpSelect %v4_f32 %c {1} {2}"
    found = evaluate(code, "v4_f32", condition, a, b)
    np.testing.assert_array_equal(found, np.where(condition[:, None] != 0, a, b))
    code = "%c = OpFOrdLessThan %v4_bool {0} {1}\n%r = OpSelect %v4_f32 %c {0} {1}"
    np.testing.assert_array_equal(evaluate(code, "v4_f32", a, b), np.minimum(a, b))


def test_pointer_comparison_and_difference() -> None:
    source = module("g_i64 out, g_v4_f32 a", """
        %p = OpPtrAccessChain %g_v4_f32 %a %i64_c7
        %d = OpPtrDiff %i64 %p %a
        %d2 = OpPtrDiff %i64 %a %p
        %equal = OpPtrEqual %bool %p %a
        %different = OpPtrNotEqual %bool %p %a
        %e = OpSelect %i64 %equal %i64_c1 %i64_c0
        %f = OpSelect %i64 %different %i64_c1 %i64_c0
        OpStore %out %d
        %o1 = OpPtrAccessChain %g_i64 %out %i64_c1
        OpStore %o1 %d2
        %o2 = OpPtrAccessChain %g_i64 %out %i64_c2
        OpStore %o2 %e
        %o3 = OpPtrAccessChain %g_i64 %out %i64_c3
        OpStore %o3 %f""")
    out = np.zeros(4, np.int64)
    run(source, [out, np.zeros((8, 4), np.float32)], 1, 1)
    assert out.tolist() == [7, -7, 0, 1]
