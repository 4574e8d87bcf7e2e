"""An arithmetic that differs in one respect from a model is found out in that respect, and in no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from coopmat.formats import FORMATS
from coopmat.numerics import hardware
from coopmat.numerics.aligned_sum import AlignedSum
from coopmat.numerics.float32_steps import Float64Chain, PairwiseTree, TwoChains
from coopmat.numerics.xmx import Chain, XmxArithmetic
from coopmat.probing import Multiply, names
from tests.kit.probing.arithmetics import BF16, FP16, FP16_ONLY, FP64, INT8, TF32, Types, differing, model

NANS = (names.ZERO_TIMES_INFINITY, names.INFINITIES, *names.QUIET.values(), *names.SIGNALLING.values(),
        *names.WINS.values())
HOPPER = "nvidia_gpu_sm_90"


def changed(monkeypatch: pytest.MonkeyPatch, architecture: str, types: Types, **fields: object) -> Multiply:
    """The model with other parameters; those of ``arithmetic`` by their names."""
    rows = hardware.ROWS[architecture]
    found = next(row for row in rows if (row.inputs, row.d_format) == (types[0], types[3])
                 and row.only_c in (None, types[2]))
    of_row = {name: value for name, value in fields.items() if name in ("nan", "c_format")}
    of_model = {name: value for name, value in fields.items() if name not in of_row}
    row = replace(found, arithmetic=replace(found.arithmetic, **of_model), **of_row)
    monkeypatch.setitem(hardware.ROWS, f"changed {architecture}", (row,))
    return model(f"changed {architecture}", types)


@pytest.mark.parametrize(("architecture", "types", "k", "fields", "expected"), [
    (HOPPER, FP16, 16, {"products": 8}, {names.ORDER: "C + {p0…p7} + {p8…p15}", names.AT_ONCE: "8"}),
    ("nvidia_gpu_sm_80", BF16, 16, {"products": 16}, {names.ORDER: "C + {p0…p15}", names.AT_ONCE: "16"}),
    (HOPPER, FP16, 16, {"fraction_bits": 24}, {names.KEPT: "24"}),
    ("nvidia_gpu_sm_70", FP16, 16, {"fraction_bits": 24}, {names.KEPT: "24"}),
    (HOPPER, BF16, 16, {"floor": -132}, {names.QUANTUM: "2^-157"}),
    (HOPPER, BF16, 16, {"floor": None}, {names.QUANTUM: "none seen (2^-165 counts)"}),
    (HOPPER, FP16_ONLY, 16, {"floor": -20}, {names.QUANTUM: "2^-45"}),
    (HOPPER, TF32, 8, {"truncates": False}, {names.RESULT: "to nearest even"}),
    (HOPPER, FP16, 16, {"nan": 0x7FC00000}, dict.fromkeys(NANS, "NaN 7FC00000")),
    (HOPPER, FP16_ONLY, 16, {"nan": 0x7E00}, dict.fromkeys(NANS, "NaN 7E00")),
    ("intel_cpu_spr", BF16, 32, {"products": 16}, {
        names.ORDER: "C + ((p0 + p2 + … + p14) + (p1 + p3 + … + p15)) + "
                     "((p16 + p18 + … + p30) + (p17 + p19 + … + p31))"}),
    ("amd_gpu_gfx90a", FP16, 16, {"group": 2}, {names.ORDER: "C + (p0 + p1) + (p2 + p3) + … + (p14 + p15)"}),
    ("amd_gpu_gfx90a", FP16, 16, {"least_input": 0.0}, {names.SUBNORMAL["A"]: "kept", names.SUBNORMAL["B"]: "kept"}),
    (HOPPER, FP64, 4, {"nan_order": "abc"}, {names.WINS["AB"]: "that of A", names.WINS["AC"]: "that of A",
                                             names.WINS["p0 p2"]: "that of p2"}),
    (HOPPER, FP64, 4, {"default_nan": 0x7FF8000000000000}, {
        names.ZERO_TIMES_INFINITY: "NaN 7FF8000000000000", names.INFINITIES: "NaN 7FF8000000000000"}),
], ids=lambda value: "-".join(value) if isinstance(value, (dict, tuple)) else None)
def test_another_parameter(monkeypatch: pytest.MonkeyPatch, architecture: str, types: Types, k: int,
                           fields: dict[str, object], expected: dict[str, str]) -> None:
    assert differing(changed(monkeypatch, architecture, types, **fields), architecture, types, k) == expected


def test_the_models_that_are_changed_are_those_of_the_table() -> None:
    """So that a new model does not go without deviations of its own."""
    models = {type(row.arithmetic) for rows in hardware.ROWS.values() for row in rows}
    assert models == {AlignedSum, TwoChains, PairwiseTree, Float64Chain, Chain}


@pytest.mark.parametrize(("types", "choice", "value", "expected"), [
    (BF16, "stage_sum", "exact", {names.ORDER: "C + {p0, p1} + {p2, p3} + … + {p14, p15}", names.AT_ONCE: "2",
                                  names.PRODUCT_OVERFLOW: "no overflow"}),
    (FP16, "stage_sum", "pairwise", {names.ORDER: "C + (p0 + p1) + (p2 + p3) + … + (p14 + p15)"}),
    (FP16, "rounding", "toward_zero", {names.PARTIAL: "23 fraction bits, towards zero",
                                       names.RESULT: "towards zero"}),
    (BF16, "subnormal_operands", "flushed", {names.SUBNORMAL[key]: "flushed" for key in "ABC"}),
    (BF16, "subnormal_results", "flushed", {names.SUBNORMAL["D"]: "flushed"}),
    (TF32, "tf32_operands", "nearest_even", {names.TF32["A"]: "to nearest even", names.TF32["B"]: "to nearest even",
                                             names.TF32_NAN: "NaN 7FC00000"}),
])
def test_another_choice_of_xmx(types: Types, choice: str, value: str, expected: dict[str, str]) -> None:
    multiply = model("intel_gpu_pvc", types, xmx=XmxArithmetic(**{choice: value}))
    found = differing(multiply, "intel_gpu_pvc", types, 16)
    assert {name: found.get(name) for name in expected} == expected
    assert set(found) - set(expected) <= {names.PARTIAL_OVERFLOW, names.PRODUCT_OVERFLOW}


# ------------------------------------------------------------------ operands and results


Change = Callable[[np.ndarray], np.ndarray]


def around(multiply: Multiply, a: Change | None = None, b: Change | None = None, c: Change | None = None,
           d: Change | None = None) -> Multiply:
    """A multiplication whose operands and results are changed, as bits."""
    def same(bits: np.ndarray) -> np.ndarray:
        return bits

    def changed_multiply(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (d or same)(multiply((a or same)(x), (b or same)(y), (c or same)(z)))

    return changed_multiply


def flushing(name: str) -> Change:
    """Subnormal numbers of a format become zeros with their sign."""
    fmt = FORMATS[name]
    places = fmt.fraction_bits + fmt.unused_bits
    exponent = fmt.bits_dtype.type((1 << fmt.exponent_bits) - 1 << places)
    sign = fmt.bits_dtype.type(1 << fmt.bits - 1)
    return lambda bits: np.where(bits & exponent, bits, bits & sign)


def replaced(old: int, new: int) -> Change:
    return lambda bits: np.where(bits == bits.dtype.type(old), bits.dtype.type(new), bits)


def rounded_away(bits: np.ndarray) -> np.ndarray:
    """float32 rounded to tf32, ties away from zero."""
    is_finite = bits & np.uint32(0x7F800000) != np.uint32(0x7F800000)
    return np.where(is_finite, (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000), bits)


@pytest.mark.parametrize(("changes", "types", "expected"), [
    ({"a": flushing("bf16")}, BF16, {names.SUBNORMAL["A"]: "flushed"}),
    ({"b": flushing("bf16")}, BF16, {names.SUBNORMAL["B"]: "flushed"}),
    ({"c": flushing("fp32")}, BF16, {names.SUBNORMAL["C"]: "flushed"}),
    ({"d": flushing("fp32")}, BF16, {names.SUBNORMAL["D"]: "flushed", names.QUANTUM: None}),
    ({"a": rounded_away}, TF32, {names.TF32["A"]: "to nearest, ties away"}),
    ({"b": rounded_away}, TF32, {names.TF32["B"]: "to nearest, ties away"}),
    ({"d": replaced(0x7F800000, 0x7F7FFFFF)}, BF16, {names.OVERFLOW: "largest finite number / infinity",
                                                   names.INFINITY: None}),
], ids=["A", "B", "C", "D", "tf32 A", "tf32 B", "overflow"])
def test_changed_operands_and_results(changes: dict[str, Change], types: Types,
                                      expected: dict[str, str | None]) -> None:
    found = differing(around(model(HOPPER, types), **changes), HOPPER, types, 8)
    assert set(found) == set(expected)
    assert {name: found[name] for name, text in expected.items() if text} == {
        name: text for name, text in expected.items() if text}


def test_one_element_that_differs() -> None:
    def one_more(bits: np.ndarray) -> np.ndarray:
        changed_bits = bits.copy()
        changed_bits[7, 1, 2] += 1
        return changed_bits

    found = differing(around(model(HOPPER, FP16), d=one_more), HOPPER, FP16, 16)
    assert list(found) == [names.ALIKE]
    assert found[names.ALIKE].startswith("no: elements differ in 1 of ")


def test_results_of_nothing() -> None:
    """A chip that writes no results, or only NaNs, ends in a report, too."""
    for bits in (0, 0x7FFFFFFF, 0x3F800000, 0xFF800000):
        found = differing(lambda a, b, c, bits=bits: np.full(c.shape, bits, np.uint32), HOPPER, BF16, 16)
        assert {names.PRODUCTS, names.RESULT, names.ZERO_TIMES_INFINITY} <= set(found) | (
            {names.ZERO_TIMES_INFINITY} if bits == 0x7FFFFFFF else set())


# ------------------------------------------------------------------ integers


def test_integers_of_other_signs_or_with_clamping() -> None:
    assert differing(model("intel_cpu_spr", INT8), "intel_cpu_spr", INT8, 64) == {}
    assert differing(model("intel_cpu_spr", INT8, saturating=True), "intel_cpu_spr", INT8, 64) == {
        names.ABOVE: "clamped", names.BELOW: "clamped"}
    assert differing(model("intel_cpu_spr", INT8, saturating=True), "intel_cpu_spr", INT8, 64, saturating=True) == {}
    unsigned = model("intel_cpu_spr", ("uint8", "uint8", "sint32", "sint32"))
    assert set(differing(unsigned, "intel_cpu_spr", INT8, 64)) == {names.SIGN["A"], names.EXACT, names.BELOW}
    swapped = model("intel_cpu_spr", ("uint8", "sint8", "sint32", "sint32"))
    found = differing(swapped, "intel_cpu_spr", INT8, 64)
    assert (found[names.SIGN["A"]], found[names.SIGN["B"]]) == ("unsigned", "signed")


def test_integers_that_are_not_exact() -> None:
    def lossy(bits: np.ndarray) -> np.ndarray:
        return bits & np.uint32(0xFFFFFF00)

    found = differing(around(model("intel_cpu_spr", INT8), d=lossy), "intel_cpu_spr", INT8, 64)
    assert names.EXACT in found
    assert found[names.EXACT].startswith(("-", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"))


@pytest.mark.parametrize(("types", "k"), [(FP16, 16), (FP16_ONLY, 5), (BF16, 8), (TF32, 8), (FP64, 4), (INT8, 8)],
                         ids=lambda value: "-".join(value) if isinstance(value, tuple) else None)
def test_any_results_end_in_a_report(types: Types, k: int) -> None:
    rng = np.random.default_rng((k, *types[0].encode()))
    right = model("nvidia_gpu_sm_80", types)
    for share in (1.0, 0.5, 0.05, 0.005):
        for kind in ("any", "exchanged", "off by one bit"):
            def spoilt(bits: np.ndarray, share: float = share, kind: str = kind) -> np.ndarray:
                other = {"any": rng.integers(0, 1 << 62, bits.shape).astype(bits.dtype),
                         "exchanged": rng.choice(bits.reshape(-1), bits.shape),
                         "off by one bit": bits ^ bits.dtype.type(1)}[kind]
                return np.where(rng.random(bits.shape) < share, other, bits)

            found = differing(around(right, d=spoilt), "nvidia_gpu_sm_80", types, k)
            assert names.ALIKE in found or kind != "any" or share < 0.05
