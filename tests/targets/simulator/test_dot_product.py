"""Integer dot products against Python's integers of any size."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.diagnostics import Error, UndefinedBehavior, ValidationError
from coopmat.spirv.grammar import Op
from coopmat.spirv.module import Module
from tests.kit.targets.short_kernels import evaluate, module, refuses, run
from tests.kit.targets.values import integers, wrapped

RNG = np.random.default_rng(7)
SIGNS = {"S": (True, True), "U": (False, False), "SU": (True, False)}
WIDTHS = [(8, 8), (8, 16), (8, 32), (8, 64), (16, 16), (16, 32), (16, 64), (32, 32), (32, 64), (64, 64)]


def vectors(width: int, length: int, count: int = 64) -> np.ndarray:
    return integers(RNG, width, count * length).reshape(count, length)


def numbers(values: np.ndarray, is_signed: bool) -> list[list[int]]:
    return (values if is_signed else values.view(f"u{values.itemsize}")).tolist()


@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize("length", [2, 3, 4, 8, 16])
@pytest.mark.parametrize(("width", "result"), WIDTHS)
def test_vectors(form: str, length: int, width: int, result: int) -> None:
    a, b = vectors(width, length), vectors(width, length)
    a[0], b[0] = -1 << width - 1, -1 << width - 1
    a[1], b[1] = -1, -1
    first, second = SIGNS[form]
    exact = [sum(map(int.__mul__, x, y)) for x, y in zip(numbers(a, first), numbers(b, second), strict=True)]
    found = evaluate(f"Op{form}Dot %i{result} {{0}} {{1}}", f"i{result}", a, b)
    np.testing.assert_array_equal(found, wrapped(exact, result))


@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize("result", [8, 16, 32, 64])
def test_packed_bytes(form: str, result: int) -> None:
    """Component 0 is the least significant byte."""
    a, b = integers(RNG, 32, 96), integers(RNG, 32, 96)
    a[:2], b[:2] = (-0x7F7F7F80, -1), (-0x7F7F7F80, -1)

    def components(values: np.ndarray, is_signed: bool) -> list[list[int]]:
        fields = [[value >> 8 * i & 255 for i in range(4)] for value in values.tolist()]
        return [[x - 256 if is_signed and x > 127 else x for x in row] for row in fields]

    pairs = zip(components(a, SIGNS[form][0]), components(b, SIGNS[form][1]), strict=True)
    exact = [sum(map(int.__mul__, x, y)) for x, y in pairs]
    packed = "PackedVectorFormat4x8Bit"
    found = evaluate(f"Op{form}Dot %i{result} {{0}} {{1}} {packed}", f"i{result}", a, b)
    np.testing.assert_array_equal(found, wrapped(exact, result))
    if result >= 32:
        accumulator = integers(RNG, result, 96)
        found = evaluate(f"Op{form}DotAccSat %i{result} {{0}} {{1}} {{2}} {packed}", f"i{result}", a, b, accumulator)
        expected = saturated(exact, accumulator, result, SIGNS[form][0])
        np.testing.assert_array_equal(found, wrapped(expected, result))


def saturated(dots: list[int], accumulator: np.ndarray, width: int, is_signed: bool) -> list[int]:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
    numbers = accumulator if is_signed else accumulator.view(f"u{width // 8}")
    return [min(max(dot + c, low), high) for dot, c in zip(dots, numbers.tolist(), strict=True)]


def limits(width: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)


@pytest.mark.parametrize("form", SIGNS)
@pytest.mark.parametrize("length", [2, 4, 16])
@pytest.mark.parametrize(("width", "result"), WIDTHS)
def test_saturating_accumulation(form: str, length: int, width: int, result: int) -> None:
    """Rows without an overflow are exact; every row with one is refused."""
    a, b, c = vectors(width, length), vectors(width, length), integers(RNG, result, 64)
    a[8:], b[8:] = RNG.integers(0, 3, (56, length)), RNG.integers(0, 3, (56, length))
    a[20:30, 0] = [limits(width, SIGNS[form][0])[1] if SIGNS[form][0] else -1] * 10
    b[20:30], b[20:30, 0] = 0, 1
    low, high = limits(result, SIGNS[form][0])
    defined, dots = [], []
    for x, y in zip(numbers(a, SIGNS[form][0]), numbers(b, SIGNS[form][1]), strict=True):
        products = [p * q for p, q in zip(x, y, strict=True)]
        sums = [sum(products[:i + 1]) for i in range(length)]
        defined.append(all(low <= step <= high for step in products + sums))
        dots.append(sums[-1])
    line = f"Op{form}DotAccSat %i{result} {{0}} {{1}} {{2}}"
    good = np.array(defined)
    count = int(good.sum()) // 8 * 8
    assert count >= 32
    rows = np.flatnonzero(good)[:count]
    expected = saturated([dots[i] for i in rows], c[rows], result, SIGNS[form][0])
    found = evaluate(line, f"i{result}", a[rows], b[rows], c[rows])
    np.testing.assert_array_equal(found, wrapped(expected, result))
    assert any(x in (low, high) for x in expected)
    for row in np.flatnonzero(~good)[:3]:
        operands = [np.repeat(array[row:row + 1], 16, axis=0) for array in (a, b, c)]
        with refuses(UndefinedBehavior, "overflows the type of the result"):
            evaluate(line, f"i{result}", *operands)


def test_overflow_of_a_partial_sum_is_found_though_the_sum_fits() -> None:
    a = np.tile(np.array([127, 127, -128, 1], np.int8), (16, 1))
    b = np.tile(np.array([1, 1, 1, 0], np.int8), (16, 1))
    c = np.zeros(16, np.int8)
    with refuses(UndefinedBehavior, "the sum of the products of the components 0 to 1, 254, is not from "
                       "-128 to 127: OpSDotAccSat is undefined"):
        evaluate("OpSDotAccSat %i8 {0} {1} {2}", "i8", a, b, c)
    found = evaluate("OpSDotAccSat %i8 {0} {1} {2}", "i8", a[:, [0, 2, 1, 3]].copy(), b, c)
    assert (found == 126).all()


def test_an_overflow_in_a_work_item_that_is_not_there_is_no_error() -> None:
    a, b = np.full((16, 2), -128, np.int8), np.full((16, 2), -128, np.int8)
    a[3] = 1
    which = (np.arange(16) == 3).astype(np.int32)
    found = evaluate("""
        %some = OpINotEqual %bool {2} %i32_c0
        OpBranchConditional %some %then %end
        %then = OpLabel
        %t = OpSDotAccSat %i16 {0} {1} %i16_c100
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %i16 %t %then %i16_c7 %entry""", "i16", a, b, which)
    assert found.tolist() == [-156 if i == 3 else 7 for i in range(16)]


@pytest.mark.parametrize(("line", "result", "kinds", "rule"), [
    ("OpSDot %i8 {0} {1}", "i8", (np.int16, 4, np.int16, 4), "dot-result"),
    ("OpSDot %f32 {0} {1}", "f32", (np.int8, 4, np.int8, 4), "dot-result"),
    ("OpSDot %i32 {0} {1}", "i32", (np.int8, 4, np.int8, 2), "dot-vectors"),
    ("OpSDot %i32 {0} {1}", "i32", (np.int32, 0, np.int32, 0), "dot-vectors"),
    ("OpSDot %i32 {0} {1} PackedVectorFormat4x8Bit", "i32", (np.int16, 0, np.int16, 0), "dot-vectors"),
    ("OpSDot %i32 {0} {1}", "i32", (np.float32, 4, np.float32, 4), "dot-vectors"),
    ("OpSDotAccSat %i32 {0} {1} %i16_c1", "i32", (np.int8, 4, np.int8, 4), "dot-accumulator")])
def test_types_are_checked(line: str, result: str, kinds: tuple, rule: str) -> None:
    operands = [np.zeros((16, n) if n else 16, dtype) for dtype, n in (kinds[:2], kinds[2:])]
    with pytest.raises(ValidationError) as error:
        evaluate(line, result, *operands)
    assert error.value.rule == rule


def test_an_unknown_packed_format() -> None:
    source = module("i32 a", "%r = OpUDot %i32 %a %a PackedVectorFormat4x8Bit")
    data = bytearray(source.to_bytes())
    (row,) = source.of_opcode(Op.UDot)
    start = data.index(np.array([6 << 16 | Op.UDot], "<u4").tobytes())
    data[start + 20] = 5
    assert row.words[2] == 0
    with pytest.raises(Error, match="5"):
        run(Module.from_bytes(bytes(data)), [0])
