"""Intel XMX: every combination of the choices that its documents leave open, against rational numbers."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from itertools import product as every
from typing import get_args, get_type_hints

import numpy as np
import pytest
from inputs import KINDS, operands

import coopmat as cm
from coopmat.formats import FORMATS
from tests.kit.rational_model import FIELDS, Number, number, product, round_exactly, rounded_sum

VALUES = {row.name: tuple(row.metadata["meanings"]) for row in fields(cm.XmxArithmetic)}
TYPES = [("bf16", "fp32"), ("bf16", "bf16"), ("fp16", "fp32"), ("fp16", "fp16"), ("tf32", "fp32")]
ROUNDING = {"nearest_even": "rte", "toward_zero": "rtz"}
K = 21  # more than one instruction, and half a stage more


def combinations(name: str, d: str) -> list[cm.XmxArithmetic]:
    """Of the choices that these types can show."""
    silent = {"tf32_operands"} if name != "tf32" else set()
    silent |= {"conversion", "conversion_rounding"} if d == "fp32" else set()
    values = [found[:1] if choice in silent else found for choice, found in VALUES.items()]
    return [cm.XmxArithmetic(**dict(zip(VALUES, found, strict=True))) for found in every(*values)]


def flush(value: Number, name: str) -> Number:
    exponent_bits = FIELDS[name][0]
    least = Fraction(2) ** (2 - (1 << exponent_bits - 1))
    return (Fraction(0), value[1]) if abs(value[0]) < least else value


def expected_number(a: list[Number], b: list[Number], total: Number, name: str, d: str,
                    choices: cm.XmxArithmetic) -> Number:
    """A dot product step by step."""
    def step(*terms: Number) -> Number:
        result = rounded_sum(list(terms), "fp32", ROUNDING[choices.rounding])
        return flush(result, "fp32") if choices.subnormal_results == "flushed" else result

    if choices.subnormal_operands == "flushed":
        a, b = ([flush(x, name) for x in operand] for operand in (a, b))
    size = 1 if name == "tf32" else 2
    for start in range(0, len(a), size):
        if start // size % 8 == 0 and choices.subnormal_operands == "flushed":
            total = flush(total, "fp32")
        products = [product(x, y) for x, y in zip(a[start:start + size], b[start:start + size], strict=True)]
        if choices.stage_sum == "exact":
            total = step(*products, total)
        elif choices.stage_sum == "pairwise":
            total = step(step(*map(step, products)) if len(products) == 2 else step(*products), total)
        else:
            for one in products:
                total = step(one, total)
        if choices.conversion == "each_stage" or start // size % 8 == 7:
            total = rounded_sum([total], d, ROUNDING[choices.conversion_rounding])
    return rounded_sum([total], d, ROUNDING[choices.conversion_rounding])


def is_nan(bits: int, name: str) -> bool:
    return decode_is_nan(number(bits, name))


def decode_is_nan(value: Number) -> bool:
    return value[0] != value[0]


def expected_bits(a: list[int], b: list[int], c: int, name: str, d: str, choices: cm.XmxArithmetic) -> int:
    if name == "tf32" and choices.tf32_operands == "nearest_even":
        a, b = ([bits if is_nan(bits, "fp32") else rounded_tf32(bits) for bits in operand] for operand in (a, b))
    elif name == "tf32":
        a, b = ([bits & 0xFFFFE000 for bits in operand] for operand in (a, b))
    result = expected_number([number(x, name) for x in a], [number(x, name) for x in b], number(c, d), name, d, choices)
    if not decode_is_nan(result):
        value, negative = result
        exponent_bits, fraction_bits, _ = FIELDS[d]
        if isinstance(value, float):
            return ((1 << exponent_bits) - 1) << fraction_bits | negative << exponent_bits + fraction_bits
        return round_exactly(value, d, negative=negative)
    named = [(c, d), *((x, name) for pair in zip(a, b, strict=True) for x in pair)]
    held = [row for row in named if is_nan(*row)] if choices.nan == "payload" else []
    return nan_of(d, *held[0]) if held else nan_of(d, 0x7FC00000, "fp32")


def rounded_tf32(bits: int) -> int:
    value, negative = number(bits, "fp32")
    return bits if isinstance(value, float) else round_exactly(value, "tf32", negative=negative)


def nan_of(d: str, bits: int, name: str) -> int:
    """A NaN in another format: sign and the upper bits of the payload, quiet."""
    (exponent_bits, fraction_bits, _), (source_exponent, source_fraction, padding) = FIELDS[d], FIELDS[name]
    bits >>= padding
    payload = bits & (1 << source_fraction) - 1
    payload = payload << fraction_bits >> source_fraction | 1 << fraction_bits - 1
    sign = bits >> source_exponent + source_fraction
    return sign << exponent_bits + fraction_bits | ((1 << exponent_bits) - 1) << fraction_bits | payload


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "d"), TYPES)
def test_every_combination(name: str, d: str, kind: str) -> None:
    count = 3
    for seed, choices in enumerate(combinations(name, d)):
        shapes = ((count, 1, K), (count, K, 1), (count, 1, 1))
        a, b, c = operands((seed, KINDS.index(kind)), kind, (name, name, d), shapes)
        found = cm.matrix_multiply_accumulate(
            a.view(FORMATS[name].dtype), b.view(FORMATS[name].dtype), c.view(FORMATS[d].dtype), a_type=name,
            b_type=name, c_type=d, architecture="intel_gpu_pvc", xmx=choices).view(FORMATS[d].bits_dtype)
        for index in range(count):
            operand = a[index, 0].tolist(), b[index, :, 0].tolist(), int(c[index, 0, 0])
            assert int(found[index, 0, 0]) == expected_bits(*operand, name, d, choices), (choices, index)


@pytest.mark.parametrize(("change", "name", "d"), [
    *(({"stage_sum": value}, "fp16", "fp32") for value in ("exact", "pairwise")),
    ({"rounding": "toward_zero"}, "bf16", "fp32"), ({"subnormal_operands": "flushed"}, "fp16", "fp32"),
    ({"subnormal_results": "flushed"}, "bf16", "fp32"), ({"tf32_operands": "nearest_even"}, "tf32", "fp32"),
    ({"conversion": "each_stage"}, "fp16", "fp16"), ({"conversion_rounding": "toward_zero"}, "bf16", "bf16"),
    ({"nan": "payload"}, "bf16", "fp32")])
def test_every_choice_shows(change: dict[str, str], name: str, d: str) -> None:
    kind = {"subnormal_operands": "small", "subnormal_results": "vanishing", "nan": "special"}.get(
        next(iter(change)), "wide")
    a, b, c = operands((1,), kind, (name, name, d), ((8, 8, 16), (8, 16, 8), (8, 8, 8)))
    usual, other = (cm.matrix_multiply_accumulate(
        a.view(FORMATS[name].dtype), b.view(FORMATS[name].dtype), c.view(FORMATS[d].dtype), a_type=name, b_type=name,
        c_type=d, architecture="intel_gpu_dg2_g10", xmx=xmx) for xmx in (None, cm.XmxArithmetic(**change)))
    assert (usual.view(FORMATS[d].bits_dtype) != other.view(FORMATS[d].bits_dtype)).any()


def test_the_defaults_are_what_is_computed_without_choices() -> None:
    a, b, c = operands((2,), "special", ("fp16", "fp16", "fp16"), ((9, 8, 40), (9, 40, 8), (9, 8, 8)))
    usual, same = (cm.matrix_multiply_accumulate(
        a.view(np.float16), b.view(np.float16), c.view(np.float16), a_type="fp16", b_type="fp16", c_type="fp16",
        architecture="intel_gpu_pvc", xmx=xmx) for xmx in (None, cm.XmxArithmetic()))
    np.testing.assert_array_equal(usual.view(np.uint16), same.view(np.uint16))


def test_types_and_descriptions_name_the_same_values() -> None:
    hints = get_type_hints(cm.XmxArithmetic)
    assert {name: get_args(hints[name]) for name in VALUES} == VALUES


@pytest.mark.parametrize("value", ["other", None, 3, ["fused"]])
def test_unknown_values(value: object) -> None:
    with pytest.raises(cm.Error) as error:
        cm.XmxArithmetic(stage_sum=value)
    assert str(error.value) == f"XmxArithmetic: stage_sum must be 'fused' or 'exact' or 'pairwise'; found {value!r}"


def test_it_is_for_architectures_with_xmx() -> None:
    x = np.zeros((2, 2), np.float16)
    message = (r"^xmx says how Intel's XMX computes, which nvidia_gpu_sm_90 does not have; these do: intel_gpu_pvc, "
               r"intel_gpu_dg2_g10, intel_gpu_dg2_g11, intel_gpu_dg2_g12$")
    with pytest.raises(cm.Error, match=message):
        cm.matrix_multiply_accumulate(x, x, x, a_type="fp16", b_type="fp16", c_type="fp16",
                                      architecture="nvidia_gpu_sm_90", xmx=cm.XmxArithmetic())
    with pytest.raises(cm.Error, match=r"^xmx must be a coopmat.XmxArithmetic or None; found 'exact' of type str$"):
        cm.matrix_multiply_accumulate(x, x, x, a_type="fp16", b_type="fp16", c_type="fp16",
                                      architecture="intel_gpu_pvc", xmx="exact")
    options = cm.SimulatorOptions(xmx=cm.XmxArithmetic())
    for name in ("generic", "intel_cpu_spr", "amd_gpu_gfx90a"):
        with pytest.raises(cm.Error, match=f"which {name} does not have"):
            cm.device(f"sim:{name}", options=options)
    with pytest.raises(cm.Error, match=r"option xmx must be a coopmat\.XmxArithmetic, or None; found 'exact' of type"):
        cm.SimulatorOptions(xmx="exact")
    with pytest.raises(cm.Error, match="with numerics='exact' there is nothing for it to choose"):
        cm.SimulatorOptions(numerics="exact", xmx=cm.XmxArithmetic())


SOURCE = """
#define MATRIX(use, r, c) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, use)))
typedef half tile_a MATRIX(CLK_COOPERATIVE_MATRIX_A, 8, 16);
typedef half tile_b MATRIX(CLK_COOPERATIVE_MATRIX_B, 16, 16);
typedef float tile_c MATRIX(CLK_COOPERATIVE_MATRIX_ACCUMULATOR, 8, 16);

__attribute__((intel_reqd_sub_group_size(16)))
kernel void cooperative(global const half *a, global const half *b, global float *d) {
    tile_a x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    tile_b y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    tile_c z = coop_mat_init(1.0f);
    z = coop_matmul_add(x, y, z, CLK_COOPERATIVE_MATRIX_OPERAND_NONE);
    coop_mat_store(d, z, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}

__attribute__((intel_reqd_sub_group_size(16)))
kernel void built_in(global const ushort *a, global const ushort *b, global float *d) {
    int lane = get_sub_group_local_id();
    int8 y;
    for (int i = 0; i < 8; i++)
        y[i] = b[32 * i + lane] | b[32 * i + 16 + lane] << 16;
    d[lane] = intel_sub_group_f16_f16_matrix_mad_k16(as_short(a[lane]), y, 1.0f);
}
"""


@pytest.mark.parametrize("name", ["cooperative", "built_in"])
def test_simulated_devices_follow(name: str) -> None:
    """1 + 2**-24 + 2**-24: a chain loses both products, an exact stage keeps their sum."""
    a, b = np.zeros((8, 16), np.float16), np.zeros((16, 16), np.float16)
    a[:, :2], b[:2, :] = 2.0**-12, 2.0**-12
    for xmx, expected in ((None, 1.0), (cm.XmxArithmetic(stage_sum="exact"), 1 + 2.0**-23)):
        device = cm.device("sim:intel_gpu_pvc", options=cm.SimulatorOptions(xmx=xmx))
        d = np.zeros((8, 16), np.float32)
        arrays = [a, b] if name == "cooperative" else [a.view(np.uint16), b.view(np.uint16)]
        cm.Queue(device).enqueue(cm.build(SOURCE, device=device).kernel(name), (16,), (16,), *arrays, d).wait()
        assert (d[:1 if name == "built_in" else 8] == np.float32(expected)).all()
