"""Aligned sums by the published rule: each choice that differs from Hopper's is found, and nothing else."""

from __future__ import annotations

import pytest

from coopmat.probing import names
from tests.kit.probing.arithmetics import BF16, FP16, FP16_ONLY, Types, differing
from tests.kit.probing.fixed_point import AWAY, DOWN, EVEN, UP, ZERO, Rounded, aligned_sum

HOPPER = "nvidia_gpu_sm_90"
DIRECTIONS = {EVEN: "to nearest even", AWAY: "to nearest, ties away", ZERO: "towards zero", UP: "up", DOWN: "down"}
FLOORS = {FP16: -133, BF16: -133, FP16_ONLY: -21}
RESULTS = {FP16: ZERO, BF16: ZERO, FP16_ONLY: EVEN}
K = 5


@pytest.mark.parametrize("types", FLOORS, ids="-".join)
def test_the_rule_itself(types: Types) -> None:
    multiply = aligned_sum(types, bits=25, floor=FLOORS[types], result=RESULTS[types])
    assert differing(multiply, HOPPER, types, K) == {}


@pytest.mark.parametrize("types", FLOORS, ids="-".join)
@pytest.mark.parametrize("bits", [22, 26, 30])
def test_bits_kept(types: Types, bits: int) -> None:
    multiply = aligned_sum(types, bits=bits, floor=FLOORS[types], result=RESULTS[types])
    found = differing(multiply, HOPPER, types, K)
    assert found.pop(names.KEPT) == (str(bits) if types != FP16_ONLY or bits < 28 else "all (at least 28)")
    assert set(found) <= {names.QUANTUM, *([names.RESULT] if bits < 23 and types != FP16_ONLY else [])}


@pytest.mark.parametrize("cut", [each for each in DIRECTIONS if each is not ZERO], ids=DIRECTIONS.get)
def test_how_terms_are_cut(cut: Rounded) -> None:
    found = differing(aligned_sum(FP16, bits=25, floor=-133, cut=cut), HOPPER, FP16, K)
    assert found == {names.CUT: DIRECTIONS[cut]}


@pytest.mark.parametrize("types", FLOORS, ids="-".join)
@pytest.mark.parametrize("result", DIRECTIONS, ids=DIRECTIONS.get)
def test_how_the_result_is_rounded(types: Types, result: Rounded) -> None:
    found = differing(aligned_sum(types, bits=25, floor=FLOORS[types], result=result), HOPPER, types, K)
    if result is RESULTS[types]:
        assert found == {}
    else:
        assert found.pop(names.RESULT) == DIRECTIONS[result]
        assert set(found) <= {names.UNDERFLOW, names.QUANTUM}


def test_products_that_are_normalised_first() -> None:
    found = differing(aligned_sum(FP16, bits=25, floor=-133, is_normalised=True), HOPPER, FP16, K)
    assert found == {names.ALIGNED_AT: "at the product's exponent"}
