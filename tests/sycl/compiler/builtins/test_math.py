"""SYCL's floating-point functions, on simulated devices against numpy and Python's math; on the host."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
import coopmat.sycl as sycl
from coopmat.devices import describe
from coopmat.sycl import (
    abs_diff,
    acospi,
    bfloat16,
    clamp,
    exp,
    float32,
    half_precision,
    joint_matrix,
    joint_matrix_apply,
    joint_matrix_load,
    joint_matrix_store,
    kernel,
    layout,
    mix,
    native,
    nd_item,
    ptr,
    sqrt,
    use,
)
from coopmat.sycl.math_functions import FUNCTIONS
from tests.kit.builtin_references import HALF_ULPS, NATIVE_FUNCTIONS, NATIVE_ULPS, assert_close
from tests.kit.sycl.launches import DEVICES, launch, validate
from tests.kit.sycl.mathematics import FLOATING_NAMES, REFERENCES, SMALL, TYPES, assert_near, table_kernel
from tests.kit.sycl.refused import Case, check, read_cases


def test_every_function_has_a_reference() -> None:
    assert not set(FLOATING_NAMES) - set(REFERENCES)


@pytest.mark.parametrize("element", TYPES)
def test_floating_point_functions(element: str) -> None:
    random = np.random.default_rng(5)
    by_range: dict[tuple[float, float], list[str]] = {}
    for name in FLOATING_NAMES:
        by_range.setdefault(REFERENCES[name][1], []).append(name)
    for limits, names in by_range.items():
        columns = [random.uniform(*limits, 64).astype(TYPES[element]) for _ in range(3)]
        out = np.zeros((len(names), 64), TYPES[element])
        launch(table_kernel([FUNCTIONS[name] for name in names], columns, out), 64, 16)
        for name, found in zip(names, out, strict=True):
            count = len(FUNCTIONS[name].signature.parameters)
            expected = REFERENCES[name][0](*(column.astype(np.float64) for column in columns[:count]))
            assert_near(name, found, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_every_device_has_them(device: str) -> None:
    names = [name for name in FLOATING_NAMES if REFERENCES[name][1] == SMALL]
    columns = [np.random.default_rng(6).uniform(*SMALL, 64).astype(np.float32) for _ in range(3)]
    out = np.zeros((len(names), 64), np.float32)
    launch(table_kernel([FUNCTIONS[name] for name in names], columns, out), 64, 64, device=device)
    for name, found in zip(names, out, strict=True):
        used = [column.astype(np.float64) for column in columns][:len(FUNCTIONS[name].signature.parameters)]
        assert_close(name, found, REFERENCES[name][0](*used))


@pytest.mark.parametrize("namespace", [native, half_precision], ids=str)
def test_native_and_half_precision(namespace) -> None:
    random = np.random.default_rng(7)
    for name, (reference, limits) in NATIVE_FUNCTIONS.items():
        columns = [random.uniform(*limits, 64).astype(np.float32) for _ in range(3)]
        out = np.zeros((1, 64), np.float32)
        function = getattr(namespace, name)
        launch(table_kernel([function], columns, out), 64, 16)
        used = [column.astype(np.float64) for column in columns][:len(function.signature.parameters)]
        assert_close(name, out[0], reference(*used), NATIVE_ULPS if namespace is native else HALF_ULPS)


def test_functions_with_an_exponent() -> None:
    x, out = np.array([2.0, -3.0, 0.5, 8.0], np.float32), np.zeros((5, 4), np.float32)

    @kernel
    def exponents(item: nd_item[1]):
        i = item.get_global_id(0)
        n = int(i) + 1
        out[i] = sycl.ldexp(x[i], n)
        out[4 + i] = sycl.pown(x[i], n)
        out[8 + i] = sycl.rootn(x[i] * x[i], 2)
        out[12 + i] = sycl.nextafter(x[i], math.inf)
        out[16 + i] = math.ldexp(x[i], -1)

    launch(exponents, 4, 4)
    n = np.arange(1, 5)
    np.testing.assert_array_equal(out[0], np.ldexp(x, n))
    np.testing.assert_allclose(out[1], x.astype(float)**n, rtol=1e-6)
    np.testing.assert_allclose(out[2], np.abs(x), rtol=1e-6)
    np.testing.assert_array_equal(out[3], np.nextafter(x, np.float32(np.inf)))
    np.testing.assert_array_equal(out[4], x / 2)


@pytest.mark.parametrize("element", TYPES)
def test_functions_between_two_edges(element: str) -> None:
    x = np.linspace(-6, 6, 64).astype(TYPES[element])
    out, has_next = np.zeros((3, 64), TYPES[element]), element != "bfloat16"

    @kernel
    def edges(item: nd_item[1]):
        i = item.get_global_id(0)
        out[i] = clamp(x[i], -1, 2.5)
        out[64 + i] = sycl.smoothstep(-5.0, 5.0, x[i])
        if has_next:
            out[128 + i] = sycl.nextafter(x[i], 7)

    launch(edges, 64, 16)
    wide = x.astype(np.float64)
    part = np.clip((wide + 5) / 10, 0, 1)
    assert_near("clamp", out[0], np.clip(wide, -1, 2.5))
    assert_near("smoothstep", out[1], part * part * (3 - 2 * part))
    assert_near("smoothstep", sycl.smoothstep(-5.0, 5.0, x), part * part * (3 - 2 * part))
    if has_next:
        np.testing.assert_array_equal(out[2], np.nextafter(x, TYPES[element](7)))


SPECIAL = (0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan)
TESTS: dict[str, Callable[..., object]] = {
    "isequal": lambda a, b: a == b, "isnotequal": lambda a, b: a != b, "isgreater": lambda a, b: a > b,
    "isgreaterequal": lambda a, b: a >= b, "isless": lambda a, b: a < b, "islessequal": lambda a, b: a <= b,
    "islessgreater": lambda a, b: a < b or a > b, "isordered": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "isunordered": lambda a, b: math.isnan(a) or math.isnan(b), "isfinite": math.isfinite, "isinf": math.isinf,
    "isnan": math.isnan, "signbit": lambda a: math.copysign(1, a) < 0,
    "isnormal": lambda a: math.isfinite(a) and abs(a) > 1e-6,
}


@pytest.mark.parametrize("element", TYPES)
def test_relational_functions(element: str) -> None:
    smallest = float(ml_dtypes.finfo(TYPES[element]).smallest_subnormal)
    pairs = [(a, b) for a in (*SPECIAL, smallest) for b in (*SPECIAL, smallest)]
    a, b = (np.array(column, TYPES[element]) for column in zip(*pairs, strict=True))
    functions = [FUNCTIONS[name] for name in TESTS]
    out = np.zeros((len(TESTS), len(pairs)), np.int32)
    launch(table_kernel(functions, [a, b, a], out), len(pairs), 16)
    for (name, reference), found in zip(TESTS.items(), out, strict=True):
        count = len(FUNCTIONS[name].signature.parameters)
        expected = [int(bool(reference(*map(float, pair[:count])))) for pair in zip(a, b, strict=True)]
        assert found.tolist() == expected, name
        on_host = [int(FUNCTIONS[name](*pair[:count])) for pair in zip(a, b, strict=True)]
        assert on_host == expected, name


@pytest.mark.oracle("spirv-val")
def test_spirv_val_accepts_them(tmp_path) -> None:
    columns = [np.ones(4, np.float16)] * 3
    out = np.zeros((len(FLOATING_NAMES), 4), np.float16)
    text = validate(table_kernel([FUNCTIONS[name] for name in FLOATING_NAMES], columns, out), tmp_path)
    assert sum("OpExtInst" in line for line in text.split("\n")) >= len(FLOATING_NAMES)


# ------------------------------------------------------------------ on the host


def test_the_host_agrees_with_the_device() -> None:
    random = np.random.default_rng(9)
    for name in FLOATING_NAMES:
        function = FUNCTIONS[name]
        if function.host is None:
            with pytest.raises(cm.Error, match=f"{name} is a device function: it can be called in kernels only"):
                function(*[1.0] * len(function.signature.parameters))
            continue
        reference, limits = REFERENCES[name]
        columns = [random.uniform(*limits, 64).astype(np.float32) for _ in function.signature.parameters]
        found = function(*columns)
        assert_close(name, np.asarray(found, np.float32), reference(*(c.astype(np.float64) for c in columns)))


def test_the_host_keeps_types() -> None:
    assert exp(np.float16(1)).dtype == np.float16
    assert sycl.erf(np.float32(1)).dtype == np.float32
    assert exp(bfloat16(1)).dtype == ml_dtypes.bfloat16
    assert exp(1.0) == math.e
    assert sycl.round(-2.5) == -3.0
    assert sycl.round(0.49999999999999994) == 0.0
    assert math.copysign(1, sycl.sign(-0.0)) == -1
    assert mix(0.0, 10.0, 0.25) == 2.5
    assert sycl.select(1, 2, True) == 2


def test_names_of_python_are_not_shadowed() -> None:
    names: dict[str, object] = {}
    exec("from coopmat.sycl import *", names)
    assert "exp" in names
    assert "native" in names
    assert not {"abs", "min", "max", "pow", "round"} & names.keys()
    assert all(function.__doc__ for function in FUNCTIONS.values())


# ------------------------------------------------------------------ in joint_matrix_apply


def gelu(x):
    """The function that a device and the host run."""
    return 0.5 * x * (1 + sycl.erf(x / sqrt(2.0)))


SHAPES = {"intel_gpu_pvc": (8, 16), "nvidia_gpu_sm_80": (16, 16), "amd_gpu_gfx90a": (16, 16),
          "intel_cpu_spr": (16, 16), "generic": (16, 16)}


@pytest.mark.parametrize("device", DEVICES)
def test_element_wise_functions_of_matrices(device: str) -> None:
    """A helper, a lambda and a device function itself, for each element; the host computes the same."""
    rows, columns = SHAPES[device]
    x = np.random.default_rng(4).uniform(-3, 3, (rows, columns)).astype(np.float32)
    out = np.zeros((3, rows, columns), np.float32)
    size = rows * columns
    items = max(describe(device).sub_group_sizes[0], 1)

    @kernel(sub_group_size=items)
    def epilogues(item: nd_item[1], C: ptr[float32], R: ptr[float32]):
        sg = item.get_sub_group()
        c = joint_matrix(sg, float32, use.accumulator, rows, columns)
        joint_matrix_load(sg, c, C, columns, layout.row_major)
        joint_matrix_apply(sg, c, gelu)
        joint_matrix_store(sg, c, R, columns, layout.row_major)
        joint_matrix_load(sg, c, C, columns, layout.row_major)
        joint_matrix_apply(sg, c, lambda v: native.exp(clamp(v, -1, 1)) + math.pi)
        joint_matrix_store(sg, c, R + size, columns, layout.row_major)
        joint_matrix_load(sg, c, C, columns, layout.row_major)
        joint_matrix_apply(sg, c, sycl.tanh)
        joint_matrix_store(sg, c, R + 2 * size, columns, layout.row_major)

    launch(epilogues, items, items, x, out, device=device)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(out[0], gelu(wide), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(out[0], gelu(x), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(out[1], np.exp(np.clip(wide, -1, 1)) + math.pi, rtol=1e-5)  # native
    np.testing.assert_allclose(out[2], np.tanh(wide), rtol=1e-6)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize("case", read_cases("math.txt"), ids=lambda case: case.text)
def test_a_message(case: Case) -> None:
    check(case)


def test_what_the_host_cannot_compute() -> None:
    with pytest.raises(cm.Error, match="abs_diff is a device function"):
        abs_diff(1, 2)
    with pytest.raises(TypeError, match="too many positional arguments"):
        acospi(1, 2)


def test_infinity_has_no_integer() -> None:
    @kernel
    def k(item: nd_item[1], x: ptr[float32]):
        x[0] = math.floor(math.inf)

    with pytest.raises(cm.CompileError, match="cannot convert float infinity to integer"):
        cm.build(k)
