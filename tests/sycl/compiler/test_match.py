"""``match`` does what Python's does: constants, alternatives, names, guards, sequences, types and classes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest

import coopmat as cm
from coopmat.sycl import float32, int32, kernel, layout, nd_item, nd_range, ptr, uint8
from tests.kit.sycl.language import COUNT, results

ITEMS = range(COUNT)


class Mode(IntEnum):
    ADD = 1
    MULTIPLY = 2


@pytest.mark.parametrize("device", ["sim:generic", "cpu"])
def test_constants_alternatives_names_and_guards(device: str) -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        match i - 3:
            case Mode.ADD:
                y[i] = 100
            case 2 | 3 | 4:
                y[i] = 200 + i
            case -1 as small:
                y[i] = small
            case n if n % 2 == 0 and n < 0:
                y[i] = -n
            case n if n > 10:
                y[i] = n * n
            case _:
                y[i] = 7

    def expected(i: int) -> int:
        match i - 3:
            case Mode.ADD:
                return 100
            case 2 | 3 | 4:
                return 200 + i
            case -1 as small:
                return small
            case n if n % 2 == 0 and n < 0:
                return -n
            case n if n > 10:
                return n * n
            case _:
                return 7

    found = np.zeros(COUNT, np.int32)
    cm.Queue(device).parallel_for(nd_range(COUNT, COUNT), k, found).wait()
    assert found.tolist() == [expected(i) for i in ITEMS]


def test_sequences_with_stars_and_nested() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        pair, rest = (i % 3, i % 4), [i, 1, 2]
        match pair, rest:
            case (0, 0), _:
                y[i] = -1
            case (0, b), [first, *others]:
                y[i] = b + 10 * first + 100 * len(others) + others[1]
            case (a, b), [*_, 2] if a == b:
                y[i] = 1000 + a
            case [(1, _), (x, y_, z)]:
                y[i] = x + y_ + z
            case _:
                y[i] = 5

    def expected(i: int) -> int:
        pair, rest = (i % 3, i % 4), [i, 1, 2]
        match pair, rest:
            case (0, 0), _:
                return -1
            case (0, b), [first, *others]:
                return b + 10 * first + 100 * len(others) + others[1]
            case (a, b), [*_, 2] if a == b:
                return 1000 + a
            case [(1, _), (x, y_, z)]:
                return x + y_ + z
            case _:
                return 5

    assert results(k) == [expected(i) for i in ITEMS]


def test_what_is_known_decides_what_is_compiled() -> None:
    kind = "double"

    def scaled(x, how):
        match how:
            case "half":
                return x / 2
            case "double" | "twice":
                return x * 2
            case None:
                return undefined_name  # noqa: F821 (never compiled)
            case layout.row_major:
                return x + 1
            case _:
                return x

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = scaled(i, kind) + 1000 * scaled(i, "half") + 100000 * scaled(1, layout.row_major)

    assert results(k) == [2 * i + 1000 * (i // 2) + 200000 for i in ITEMS]


def test_types_of_numbers() -> None:
    def kind_of(x):
        match x:
            case bool():
                return 1
            case uint8():
                return 2
            case int(n) if n > 3:
                return 3
            case int():
                return 4
            case float():
                return 5

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        y[i] = (kind_of(i > 2) + 10 * kind_of(uint8(1)) + 100 * kind_of(i) + 1000 * kind_of(float32(i))
                + 10000 * kind_of(True) + 100000 * kind_of(2) + 1000000 * kind_of(0.5))

    assert results(k) == [5415021 + (300 if i > 3 else 400) for i in ITEMS]


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Segment:
    start: Point
    length: int = 1


ORIGIN = Segment(Point(0, 0), 5)


def test_classes() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        match Segment(Point(i % 2, i), length=i % 5):
            case Segment(Point(0, n), 0):
                y[i] = n
            case Segment(start=Point(x=1, y=n), length=1 | 2 as size):
                y[i] = 100 * n + size
            case Segment(Point() as p):
                y[i] = -p.x - 10 * p.y
        match ORIGIN:
            case Segment(length=5):
                y[i] += 10000
        match i:
            case Point():
                y[i] = 0

    def expected(i: int) -> int:
        match Segment(Point(i % 2, i), length=i % 5):
            case Segment(Point(0, n), 0):
                found = n
            case Segment(start=Point(x=1, y=n), length=1 | 2 as size):
                found = 100 * n + size
            case Segment(Point() as p):
                found = -p.x - 10 * p.y
        return found + 10000

    assert results(k) == [expected(i) for i in ITEMS]


def test_the_subject_is_evaluated_once_and_names_are_values() -> None:
    def next_of(counter):
        counter[0] += 1
        return counter[0]

    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = item.get_global_id(0)
        counter = [0]
        match next_of(counter):
            case 5:
                y[i] = 0
            case n if next_of(counter) == 5:
                y[i] = n
            case n:
                counter[0] = 50
                y[i] = 10 * n + counter[0]

    assert results(k) == [60] * COUNT


def test_names_of_a_pattern_may_be_variables() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        n = 100
        match i:
            case 3 | 4:
                pass
            case n if n > 8:
                n += 1
        y[i] = n

    assert results(k) == [100 if i in (3, 4) else i + 1 if i > 8 else i for i in ITEMS]


def test_variables_that_every_case_assigns_have_a_value() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = item.get_global_id(0)
        match i:
            case 0:
                v = 1
            case 1:
                return
            case _:
                v = 2
        y[i] = v

    @kernel
    def some(item: nd_item[1], y: ptr[int32]):
        i = item.get_global_id(0)
        match i:
            case 0:
                v = 1
        y[i] = v

    assert results(k) == [1, 0, *[2] * (COUNT - 2)]
    assert cm.build(k).warnings == []
    assert [warning.code for warning in cm.build(some).warnings] == ["CM6067"]


def test_jumps_leave_loops_from_cases() -> None:
    @kernel
    def k(item: nd_item[1], y: ptr[int32]):
        i = int(item.get_global_id(0))
        total = 0
        for j in range(10):
            match (i + j) % 5:
                case 1:
                    continue
                case 4 if j > 3:
                    break
            total += j
        y[i] = total

    def expected(i: int) -> int:
        total = 0
        for j in range(10):
            if (i + j) % 5 == 1:
                continue
            if (i + j) % 5 == 4 and j > 3:
                break
            total += j
        return total

    assert results(k) == [expected(i) for i in ITEMS]
