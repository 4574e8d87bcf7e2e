"""Helpers, local functions, lambdas and closures of kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, float64, int8, int32, int64, kernel, nd_item, ptr, uint8
from tests.kit.sycl.language import COUNT, error_of, results
from tests.kit.sycl.refused import loaded


def halved(x, limit=3):
    if x > limit:
        return x * 0.5
    return limit


def sum_of_two(a, b):
    return halved(a) + halved(b, limit=7)


def narrowed(x: int8) -> uint8:
    return x


def rounded(x: float) -> int:
    return x + 0.5


def stored(y: ptr[int32], index, value):
    if index > 5:
        return
    y[index] = value


def advanced(p, count):
    return p + count


def weighted(x, *, factor, offset=1):
    return x * factor + offset


def test_helpers_with_defaults_and_keyword_arguments() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_global_id(0))
        y[i] = sum_of_two(i, b=i + 1) + weighted(i, factor=100) - weighted(factor=i, offset=2, x=3)

    def expected(i: int) -> float:
        return (i * 0.5 if i > 3 else 3) + ((i + 1) * 0.5 if i > 6 else 7) + 100 * i + 1 - (3 * i + 2)

    assert results(k, dtype=np.float32) == [expected(i) for i in range(COUNT)]


def test_annotated_parameters_and_results_convert() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = narrowed(i * 40 - 300) * 1000 + rounded(i * 0.3)

    def expected(i: int) -> int:
        return ((i * 40 - 300) & 255) * 1000 + int(np.float32(i) * np.float32(0.3) + np.float32(0.5))

    assert results(k) == [expected(i) for i in range(COUNT)]


def test_helpers_without_a_result_and_pointers() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        stored(y, i, i * i)
        if i > 5:
            advanced(y, i - 1)[1] = -i

    assert results(k) == [i * i if i <= 5 else -i for i in range(COUNT)]


def test_one_helper_for_many_types() -> None:
    def square(x):
        return x * x

    @kernel
    def k(item: nd_item[1], y: ptr[float64]):
        i = int(item.get_global_id(0))
        y[i] = square(int8(i)) + square(int64(i) << 33) + square(i + 0.5) + square(float64(0.1))

    expected = [float(i * i + ((i * i << 66) + 2**63) % 2**64 - 2**63) + (i + 0.5) ** 2 + 0.1 * 0.1
                for i in range(COUNT)]
    assert results(k, dtype=np.float64) == expected
    functions = [line for line in cm.build(k).spirv_asm.splitlines() if "OpFunction " in line]
    assert len(functions) == 5


def test_local_functions_read_what_is_around_them_when_they_are_called() -> None:
    @kernel
    def k(item: nd_item[1], a: float, y: ptr[float32]):
        i = int(item.get_global_id(0))
        b = a

        def scaled(x):
            def plus(z):
                return z + i

            return plus(x * b)

        before = scaled(2.0)
        b += 1
        y[i] = before + 100 * scaled(2.0)

    assert results(k, 3.0, dtype=np.float32) == [6 + i + 100 * (8 + i) for i in range(COUNT)]


def test_local_functions_have_their_own_variables() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        value = 5

        def changed(x):
            value = x
            value += 1
            return value

        y[item.get_global_id(0)] = changed(item.get_global_id(0)) + 100 * value

    assert results(k) == [i + 501 for i in range(COUNT)]


def test_defaults_are_computed_where_the_function_is_defined() -> None:
    def made_by(a):
        def helper(x, b=a, *, c=a + 1):
            return x + 10 * b + 100 * c
        return helper

    third = made_by(3)

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        n = i
        plus = lambda x, a=n: x + a  # noqa: E731

        def times(x, by=n, *, limit=n + 1):
            return x * by if x < limit else limit

        n = 1000
        y[i] = third(1) + third(0, 1, c=0) + plus(n) + times(2) + times(2, by=0, limit=n)

    assert results(k) == [1 + 30 + 400 + 10 + 1000 + i + (2 * i if i >= 2 else i + 1) for i in range(COUNT)]


def test_lambdas() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        apply = lambda f, x: f(f(x))  # noqa: E731
        twice, thrice = lambda x: 2 * x, lambda x: 3 * x
        y[i] = apply(twice, i) + (lambda a, b: a - b)(apply(thrice, 1), i) + (lambda: 7)()

    assert results(k) == [4 * i + 9 - i + 7 for i in range(COUNT)]


def test_functions_as_values() -> None:
    operations = [min, max, abs, math.sqrt, halved]

    @kernel
    def k(item: nd_item[1], y: ptr[float32]):
        i = int(item.get_global_id(0))
        chosen = operations[1]
        y[i] = operations[0](i, 3) + chosen(i, 8) + operations[2](-i) + operations[4](i)

    expected = [min(i, 3) + max(i, 8) + i + (i * 0.5 if i > 3 else 3) for i in range(COUNT)]
    assert results(k, dtype=np.float32) == expected


def test_helpers_of_any_depth_are_compiled_once() -> None:
    text = ["from coopmat.sycl import *", "def f0(x): return x + 1"]
    text += [f"def f{n}(x): return f{n - 1}(x) + f{n - 1}(x)" for n in range(1, 28)]
    text += ["@kernel", "def k(item: nd_item[1], y: ptr[int64]):", "    y[item.get_global_id(0)] = f27(0)"]
    _, names = loaded("\n".join(text))
    program = cm.build(names["k"])
    assert sum("OpFunction " in line for line in program.spirv_asm.splitlines()) == 29


def calls_itself(n):
    return 0 if n == 0 else calls_itself(n - 1)


def calls_the_other(n):
    return is_called_back(n)


def is_called_back(n):
    return calls_the_other(n) + 1


def variadic(*values):
    return values[0]


@pytest.mark.parametrize(("call", "code", "text"), [
    (lambda y: calls_itself(y[0]), "CM6052", "'calls_itself' calls itself"),
    (lambda y: calls_the_other(y[0]), "CM6052", "'calls_the_other' calls itself"),
    (lambda y: variadic(1), "CM6003", "'*' parameters cannot be compiled"),
    (lambda y: halved(), "CM6051", "halved(x, limit): argument 'x' is missing"),
    (lambda y: halved(1, 2, 3), "CM6051", "it takes 2 arguments, found 3"),
    (lambda y: halved(1, x=3), "CM6051", "argument 'x' is given twice"),
    (lambda y: halved(1, y=3), "CM6051", "argument 'y' does not exist"),
    (lambda y: weighted(1), "CM6051", "argument 'factor' is missing"),
    (lambda y: stored(3, 1, 2), "CM6055", "stored: argument 'y' must be a ptr[int32]; found the constant 3"),
    (lambda y: narrowed(y), "CM6038", "cannot be converted to int8"),
    (lambda y: y[0] + stored(y, 1, 2), "CM6028", "this call has no value"),
    (lambda y: sorted([1, 2]), "CM6050", "'sorted' cannot be called in a kernel"),
])
def test_calls_that_are_refused(call, code: str, text: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        y[0] = call(y)

    found, message, _ = error_of(k)
    assert (found, text in message) == (code, True), message


def test_a_result_of_one_type() -> None:
    def either(x):
        return x if x > 2 else (1, 2)

    def sometimes(x):  # noqa: RET503
        if x > 2:
            return x

    @kernel
    def tuples(item: nd_item[1], y: ptr[int32]):
        y[0] = either(y[1])

    @kernel
    def missing(item: nd_item[1], y: ptr[int32]):
        y[0] = sometimes(y[1])

    def declared(x) -> int32:
        if x:
            return  # noqa: RET502
        return x

    @kernel
    def empty(item: nd_item[1], y: ptr[int32]):
        y[0] = declared(y[1])

    assert [error_of(k)[0] for k in (tuples, missing, empty)] == ["CM6091", "CM6061", "CM6061"]
