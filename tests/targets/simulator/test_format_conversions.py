"""Rounding to tf32, and conversions between float and bf16 bits, against formulas on the bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from coopmat.diagnostics import ValidationError
from tests.kit.targets.short_kernels import evaluate

RNG = np.random.default_rng(17)


def floats(count: int) -> np.ndarray:
    """Random bit patterns and ties: float32 numbers whose dropped bits are exactly one half, or next to it."""
    bits = RNG.integers(0, 1 << 32, count, np.uint32)
    quarter = count // 4
    bits[:quarter] = bits[:quarter] & 0xFFFF0000 | 0x8000
    bits[quarter:2 * quarter] = (bits[quarter:2 * quarter] & 0xFFFFE000) + RNG.choice(
        np.array([0xFFF, 0x1000, 0x1001], np.uint32), quarter)
    bits[:8] = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF, 1, 0x807FFFFF]
    return bits.view(np.float32)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_rounding_to_tf32(count: int) -> None:
    values = floats(512 * count)
    shape = (512, count) if count > 1 else (512,)
    name = f"v{count}_f32" if count > 1 else "f32"
    found = evaluate(f"OpRoundFToTF32INTEL %{name} {{0}}", name, values.reshape(shape)).ravel()
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0xFFF + (bits >> np.uint64(13) & np.uint64(1))) & np.uint64(0xFFFFE000)).astype(np.uint32)
    nan = np.isnan(values)
    np.testing.assert_array_equal(found[~nan].view(np.uint32), rounded[~nan])
    assert np.isnan(found[nan]).all()
    assert (found.view(np.uint32) & 0x1FFF == 0).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_float_to_bf16(count: int) -> None:
    values = floats(512 * count)
    shape = (512, count) if count > 1 else (512,)
    kind = f"v{count}_{{}}" if count > 1 else "{}"
    found = evaluate(f"OpConvertFToBF16INTEL %{kind.format('i16')} {{0}}", kind.format("i16"),
                     values.reshape(shape)).ravel().view(np.uint16)
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
    nan = np.isnan(values)
    np.testing.assert_array_equal(found[~nan], rounded[~nan])
    assert np.isnan(found[nan].view(ml_dtypes.bfloat16)).all()


def test_bf16_to_float_for_all_bits() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    found = evaluate("OpConvertBF16ToFINTEL %f32 {0}", "f32", bits)
    np.testing.assert_array_equal(found.view(np.uint32), bits.astype(np.uint32) << 16)
    found = evaluate("OpConvertBF16ToFINTEL %v4_f32 {0}", "v4_f32", bits.reshape(-1, 4))
    np.testing.assert_array_equal(found.ravel().view(np.uint32), bits.astype(np.uint32) << 16)


@pytest.mark.parametrize(("line", "result", "operand", "rule"), [
    ("OpRoundFToTF32INTEL %f16 {0}", "f16", np.float16, "tf32-rounding"),
    ("OpConvertFToBF16INTEL %i32 {0}", "i32", np.float32, "bfloat16-conversion"),
    ("OpConvertBF16ToFINTEL %f32 {0}", "f32", np.int32, "bfloat16-conversion")])
def test_types_are_checked(line: str, result: str, operand: type, rule: str) -> None:
    with pytest.raises(ValidationError) as error:
        evaluate(line, result, np.zeros(16, operand))
    assert error.value.rule == rule
