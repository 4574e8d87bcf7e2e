"""Quads, votes without a scope, and integer functions as instructions, against numpy and Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from coopmat.diagnostics import UndefinedBehavior
from tests.kit.targets.short_kernels import UNCHECKED, evaluate, module, run
from tests.kit.targets.values import floats, integers, wrapped

RNG = np.random.default_rng(21)
COUNT, LANES = 128, 16
ITEMS = np.arange(COUNT)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("kind", ["i8", "i64", "f32"])
def test_quad_broadcast(index: int, kind: str) -> None:
    data = floats(RNG, "f32", COUNT) if kind == "f32" else integers(RNG, int(kind[1:]), COUNT)
    found = evaluate(f"OpGroupNonUniformQuadBroadcast %{kind} %i32_c3 {{0}} %i32_c{index}", kind, data)
    np.testing.assert_array_equal(found, data[ITEMS // 4 * 4 + index])


def test_quad_broadcast_of_vectors_by_a_run_time_index() -> None:
    data, index = integers(RNG, 16, 3 * COUNT).reshape(COUNT, 3), (ITEMS // LANES % 4).astype(np.int32)
    found = evaluate("OpGroupNonUniformQuadBroadcast %v3_i16 %i32_c3 {0} {1}", "v3_i16", data, index)
    np.testing.assert_array_equal(found, data[ITEMS // 4 * 4 + index])
    with pytest.raises(UndefinedBehavior, match="OpGroupNonUniformQuadBroadcast must be below 4; it is 4"):
        evaluate("OpGroupNonUniformQuadBroadcast %v3_i16 %i32_c3 {0} {1}", "v3_i16", data, index + 1)


@pytest.mark.parametrize(("direction", "order"), [(0, [1, 0, 3, 2]), (1, [2, 3, 0, 1]), (2, [3, 2, 1, 0])])
def test_quad_swap(direction: int, order: list[int]) -> None:
    data = integers(RNG, 32, COUNT)
    found = evaluate(f"OpGroupNonUniformQuadSwap %i32 %i32_c3 {{0}} %i32_c{direction}", "i32", data)
    np.testing.assert_array_equal(found.reshape(-1, 4), data.reshape(-1, 4)[:, order])


def test_of_an_inactive_work_item_there_is_zero() -> None:
    out = np.zeros(16, np.int32)
    run(module("g_i32 out", """
        %n = OpUConvert %i32 %gx
        %low = OpULessThan %bool %gx %i64_c6
        OpBranchConditional %low %then %end
        %then = OpLabel
        %m = OpIAdd %i32 %n %i32_c1
        %r = OpGroupNonUniformQuadSwap %i32 %i32_c3 %m %i32_c1
        %place = OpInBoundsPtrAccessChain %g_i32 %out %gx
        OpStore %place %r
        OpBranch %end
        %end = OpLabel"""), [out], options=UNCHECKED)
    np.testing.assert_array_equal(out, [3, 4, 1, 2, *[0] * 12])


PREDICATES = RNG.integers(0, 4, COUNT).astype(np.int32)
PREDICATES[:32], PREDICATES[32:64] = 0, 1


@pytest.mark.parametrize(("op", "size", "holds"), [
    ("OpGroupNonUniformQuadAllKHR", 4, np.all), ("OpGroupNonUniformQuadAnyKHR", 4, np.any),
    ("OpSubgroupAllKHR", None, np.all), ("OpSubgroupAnyKHR", None, np.any)])
def test_votes(op: str, size: int | None, holds: Callable[..., np.ndarray]) -> None:
    size = size or LANES
    found = evaluate(f"%some = OpINotEqual %bool {{0}} %i32_c0\n%r = {op} %bool %some", "bool", PREDICATES)
    np.testing.assert_array_equal(found, np.repeat(holds(PREDICATES.reshape(-1, size) != 0, axis=1), size))


def test_ballots_without_a_scope() -> None:
    data = integers(RNG, 32, COUNT)
    found = evaluate("%some = OpINotEqual %bool {0} %i32_c0\n%r = OpSubgroupBallotKHR %v4_i32 %some", "v4_i32",
                     PREDICATES)
    words = wrapped([sum(1 << lane for lane in range(LANES) if PREDICATES[start + lane])
                     for start in range(0, COUNT, LANES)], 32)
    np.testing.assert_array_equal(found, np.repeat([[word, 0, 0, 0] for word in words], LANES, axis=0))
    first = evaluate("OpSubgroupFirstInvocationKHR %i32 {0}", "i32", data)
    np.testing.assert_array_equal(first, data[ITEMS // LANES * LANES])
    read = evaluate("OpSubgroupReadInvocationKHR %i32 {0} %i32_c5", "i32", data)
    np.testing.assert_array_equal(read, data[ITEMS // LANES * LANES + 5])
    equal = evaluate("OpSubgroupAllEqualKHR %bool {0}", "bool", PREDICATES)
    np.testing.assert_array_equal(equal, np.repeat((PREDICATES.reshape(-1, LANES) ==
                                                    PREDICATES[::LANES, None]).all(axis=1), LANES))


# name: the function of two (or one) Python integers of 32 bits; whether they are unsigned
SIGNED, UNSIGNED = (-(2**31), 2**31 - 1), (0, 2**32 - 1)


def clamp(value: int, limits: tuple[int, int]) -> int:
    return min(max(value, limits[0]), limits[1])


def low_half(value: int, signed: bool) -> int:
    half = value & 0xFFFF
    return half - 0x10000 if signed and half > 0x7FFF else half


FUNCTIONS: dict[str, tuple[Callable[..., int], bool]] = {
    "UCountLeadingZeros": (lambda a: 32 - a.bit_length(), True),
    "UCountTrailingZeros": (lambda a: (a & -a).bit_length() - 1 if a else 32, True),
    "AbsISub": (lambda a, b: abs(a - b), False), "AbsUSub": (lambda a, b: abs(a - b), True),
    "IAddSat": (lambda a, b: clamp(a + b, SIGNED), False), "UAddSat": (lambda a, b: clamp(a + b, UNSIGNED), True),
    "ISubSat": (lambda a, b: clamp(a - b, SIGNED), False), "USubSat": (lambda a, b: clamp(a - b, UNSIGNED), True),
    "IAverage": (lambda a, b: a + b >> 1, False), "UAverage": (lambda a, b: a + b >> 1, True),
    "IAverageRounded": (lambda a, b: a + b + 1 >> 1, False), "UAverageRounded": (lambda a, b: a + b + 1 >> 1, True),
    "IMul32x16": (lambda a, b: a * low_half(b, True), False), "UMul32x16": (lambda a, b: a * low_half(b, False), True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_integer_functions(name: str) -> None:
    function, is_unsigned = FUNCTIONS[name]
    count = function.__code__.co_argcount
    operands = [integers(RNG, 32, COUNT) for _ in range(count)]
    operands[0][:4], operands[-1][1:3] = [0, -1, 2**31 - 1, -(2**31)], [-1, 0]
    found = evaluate(f"Op{name}INTEL %i32 " + " ".join(f"{{{i}}}" for i in range(count)), "i32", *operands)
    numbers = [(operand.view(np.uint32) if is_unsigned else operand).tolist() for operand in operands]
    expected = [function(*row) & 0xFFFFFFFF for row in zip(*numbers, strict=True)]
    np.testing.assert_array_equal(found.view(np.uint32), expected)
