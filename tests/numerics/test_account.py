"""Accounts of arithmetic models: after each step the model has the sum that it goes on from."""

from __future__ import annotations

import numpy as np
import pytest

from coopmat import Error, XmxArithmetic, matrix_multiply_accumulate
from coopmat.formats import FORMATS
from coopmat.numerics.account import account_of
from coopmat.numerics.hardware import ROWS, Row

EVERY = [(name, row) for name, rows in ROWS.items() for row in rows]
K = 64


def formats_of(row: Row) -> tuple[str, str, str, str]:
    return row.inputs, row.inputs, row.only_c or row.d_format, row.d_format


@pytest.mark.parametrize(("architecture", "row"), EVERY, ids=[
    f"{name}-{'-'.join(formats_of(row)[1:])}" for name, row in EVERY])
def test_a_product_is_its_steps_one_after_the_other(architecture: str, row: Row) -> None:
    """D over all k is D over the first step, then over the next with that as its C; where it is not, is_kept tells."""
    formats = formats_of(row)
    account = account_of(architecture, formats)
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(FORMATS[row.inputs].dtype) for shape in ((8, K), (K, 8)))
    c = np.zeros((8, 8), FORMATS[formats[2]].dtype)
    types = dict(zip(("a_type", "b_type", "c_type", "d_type"), formats, strict=True))

    def multiply(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return matrix_multiply_accumulate(a, b, c, architecture=architecture, **types)

    whole, chained = multiply(a, b, c), c
    for start in range(0, K, account.products):
        part = slice(start, start + account.products)
        chained = multiply(a[:, part], b[part], chained.astype(c.dtype))
    same = np.array_equal(whole.view(np.uint8), chained.astype(whole.dtype).view(np.uint8))
    assert same == account.is_kept


def test_the_choices_for_xmx_are_told() -> None:
    formats = "fp16", "fp16", "fp32", "fp32"
    fused, exact = (account_of("intel_gpu_pvc", formats, XmxArithmetic(stage_sum=name)) for name in ("fused", "exact"))
    assert (fused.products, exact.products) == (1, 2)
    assert "fused multiply-adds" in fused.words
    assert "2 products and the sum so far are added exactly" in exact.words
    toward_zero = account_of("intel_gpu_pvc", formats, XmxArithmetic(rounding="toward_zero"))
    assert "towards zero" in toward_zero.words


def test_types_without_arithmetic_are_refused() -> None:
    with pytest.raises(Error, match="no model of fp32"):
        account_of("nvidia_gpu_sm_90", ("fp32", "fp32", "fp32", "fp32"))
