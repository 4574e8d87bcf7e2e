"""Products of every element type, layout and shape on sim:generic, against numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from tests.kit.gemm import COLUMN, ELEMENTS, ROW, Elements, random_array, reference, run_tile

SHAPES = [(1, 1, 1), (1, 7, 3), (5, 1, 9), (3, 2, 1), (8, 16, 32), (13, 17, 11), (16, 16, 16), (32, 8, 64)]


def check(elements: Elements, m: int, n: int, k: int, layouts: tuple[str, str, str], padding: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_array(rng, (m, k), elements.dtype), random_array(rng, (k, n), elements.dtype)
    c = random_array(rng, (m, n), elements.accumulator)
    result = run_tile(cm.device("sim:generic"), elements, a, b, c, layouts, padding)
    expected = reference(a, b, c)
    if elements.name == "fp64":
        scale = np.abs(a) @ np.abs(b) + np.abs(c)
        np.testing.assert_array_less(np.abs(result - expected), 2.0**-52 * scale + 1e-300)
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.parametrize("elements", ELEMENTS, ids=lambda elements: elements.name)
def test_every_type_and_shape(elements: Elements, shape: tuple[int, int, int]) -> None:
    check(elements, *shape, (ROW, ROW, ROW), 0, seed=sum(shape))


@pytest.mark.parametrize("layouts", list(itertools.product((ROW, COLUMN), repeat=3)), ids="-".join)
@pytest.mark.parametrize("elements", ELEMENTS, ids=lambda elements: elements.name)
def test_every_layout(elements: Elements, layouts: tuple[str, str, str]) -> None:
    check(elements, 7, 5, 6, layouts, padding=3, seed=1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(elements=st.sampled_from(ELEMENTS), m=st.integers(1, 40), n=st.integers(1, 40), k=st.integers(1, 70),
       layouts=st.tuples(*[st.sampled_from((ROW, COLUMN))] * 3), padding=st.integers(0, 5),
       seed=st.integers(0, 2**32 - 1))
def test_any_size(elements: Elements, m: int, n: int, k: int, layouts: tuple[str, str, str], padding: int,
                  seed: int) -> None:
    check(elements, m, n, k, layouts, padding, seed)


def _rows() -> list[tuple[str, cm.Combination]]:
    return [(device.name, row) for device in cm.devices() if device.name.startswith("sim:")
            for row in device.matrix_combinations]


C_TYPES = {"fp16": ("half", np.float16), "fp32": ("float", np.float32), "fp64": ("double", np.float64),
           "sint8": ("char", np.int8), "uint8": ("uchar", np.uint8), "sint32": ("int", np.int32),
           "bf16": ("__bf16", None)}


def _is_opencl_row(row: cm.Combination) -> bool:
    """tf32 is not an element type of OpenCL C; mixed A and B need a kernel with two input types."""
    return row.atype == row.btype and row.ctype == row.dtype and "tf32" not in row.types


@pytest.mark.parametrize(("name", "row"), [pair for pair in _rows() if _is_opencl_row(pair[1])],
                         ids=lambda value: str(value).replace(" ", ""))
def test_every_row_of_every_device(name: str, row: cm.Combination) -> None:
    """Each combination of a simulated device runs there, with the device's arithmetic or, if asked for, exactly."""
    import ml_dtypes

    inner, dtype = C_TYPES[row.atype]
    outer, accumulator = C_TYPES[row.ctype]
    flags = "|".join(f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{operand}_SIGNED"
                     for operand, kind in (("A", row.atype), ("B", row.btype), ("C", row.ctype), ("RESULT", row.dtype))
                     if kind.startswith("sint")) or "0"
    elements = Elements(row.atype, inner, outer, dtype or ml_dtypes.bfloat16, accumulator, flags)
    m, n, k = row.max_msize or row.msize, row.max_nsize or row.nsize, row.max_ksize or row.ksize
    rng = np.random.default_rng(0)
    a, b = random_array(rng, (m, k), elements.dtype), random_array(rng, (k, n), elements.dtype)
    c = random_array(rng, (m, n), accumulator)
    result = run_tile(cm.device(name), elements, a, b, c)
    modelled = cm.matrix_multiply_accumulate(a, b, c, a_type=row.atype, b_type=row.btype, c_type=row.ctype,
                                             architecture=name)
    np.testing.assert_array_equal(result, modelled)
    exact = run_tile(cm.device(name, options=cm.SimulatorOptions(numerics="exact")), elements, a, b, c)
    if row.ctype == "fp64":
        np.testing.assert_allclose(exact, reference(a, b, c), rtol=0, atol=1e-14 * k)
    else:
        np.testing.assert_array_equal(exact, reference(a, b, c))


def test_shape_that_a_device_lacks_is_refused_with_its_neighbours() -> None:
    elements = ELEMENTS[0]
    a, b, c = np.zeros((16, 32), np.int8), np.zeros((32, 16), np.int8), np.zeros((16, 16), np.int32)
    with pytest.raises(cm.KernelNotSupported) as caught:
        run_tile(cm.device("sim:intel_gpu_pvc"), elements, a, b, c)
    message = str(caught.value)
    assert "intel_gpu_pvc" in message
    assert "sint8" in message
    assert "M<=8" in message
