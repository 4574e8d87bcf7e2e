"""Reductions, functions of each element and conversions of matrices in OpenCL C: against numpy, on the simulator and
the CPU, by both code generators."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.numerics.folding import fold
from coopmat.opencl import compile_source
from tests.opencl.builtins.matrices.test_numerics import COLUMNS, DTYPES, ROWS, declared, values

AXES = {"ROW": 1, "COLUMN": 2, "ALL": 3}
BFLOAT = ml_dtypes.bfloat16
COMBINATIONS: dict[str, Callable[..., np.ndarray]] = {
    "ADD": np.add, "MIN": np.fmin, "MAX": np.fmax, "MUL": np.multiply}
WAYS = ["sim:generic", "cpu", "LLVM"]
"""Devices, and the simulator with what LLVM makes of our IR."""


def run(way: str, folder: Path, source: str, *arrays: np.ndarray) -> None:
    device = cm.device("sim:generic" if way == "LLVM" else way)
    given: str | Path = source
    if way == "LLVM":
        given = folder / "kernel.ll"
        given.write_text(cm.build(source).llvm_ir)
    cm.Queue(device).enqueue(cm.build(given, device=device).kernel("k"), 16, 16, *arrays).wait()


def kernel(element: str, parameters: str, body: str, before: str = "", use: str = "ACCUMULATOR") -> str:
    """A kernel that has two matrices, ``a`` and ``b``, of ``pa`` and ``pb``, and changes ``a``."""
    return declared(element, use) + f"""{before}
    kernel void k(global {element} *pa, global {element} *pb{parameters and ', ' + parameters}) {{
        M a = coop_mat_load(pa, 0, {COLUMNS}), b = coop_mat_load(pb, 0, {COLUMNS});
        {body}
        coop_mat_store(pa, a, 0, {COLUMNS});
    }}"""


def in_float(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A function of bfloat16 numbers, computed in float."""
    return lambda *given: function(*(one.astype(np.float32) for one in given)).astype(BFLOAT)


# ------------------------------------------------------------------ reductions


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", DTYPES)
def test_reductions(element: str, way: str, tmp_path: Path) -> None:
    cases = list(itertools.product(AXES, COMBINATIONS))
    lines = "".join(f"coop_mat_store(out + {number * ROWS * COLUMNS}, coop_mat_reduce(a, CLK_COOPERATIVE_MATRIX_REDUCE_"
                    f"{axis}, CLK_COOPERATIVE_MATRIX_COMBINE_{operation}), 0, {COLUMNS});\n"
                    for number, (axis, operation) in enumerate(cases))
    a = values(element, 1)
    a = (a * 1.37).astype(a.dtype) if a.dtype.kind not in "iu" else a
    out = np.zeros((len(cases), ROWS, COLUMNS), a.dtype)
    run(way, tmp_path, kernel(element, f"global {element} *out", lines), a.copy(), a, out)
    for found, (axis, operation) in zip(out, cases, strict=True):
        combine = COMBINATIONS[operation] if element != "__bf16" else in_float(COMBINATIONS[operation])
        with np.errstate(over="ignore"):
            expected = fold(combine, a, 0) if AXES[axis] & 2 else a
            expected = fold(combine, expected, 1) if AXES[axis] & 1 else expected
        np.testing.assert_array_equal(found, np.broadcast_to(expected, a.shape))


# ------------------------------------------------------------------ built-in functions


def check_functions(way: str, folder: Path, element: str, cases: dict[str, Callable[..., np.ndarray]],
                    tolerance: float = 0) -> None:
    """Expressions of the matrices a and b, and of the scalar s, 3, beside what they give of arrays."""
    lines = "".join(f"coop_mat_store(out + {number * ROWS * COLUMNS}, {expression}, 0, {COLUMNS});\n"
                    for number, expression in enumerate(cases))
    a, b = values(element, 1), values(element, 2)
    out = np.zeros((len(cases), ROWS, COLUMNS), a.dtype)
    run(way, folder, kernel(element, f"global {element} *out, {'float' if element == '__bf16' else element} s", lines),
        a.copy(), b, out, np.float32(3) if element == "__bf16" else a.dtype.type(3))
    for found, (expression, expected) in zip(out, cases.items(), strict=True):
        wanted = expected(a, b) if element != "__bf16" else in_float(expected)(a, b)
        np.testing.assert_allclose(found.astype(float), wanted.astype(a.dtype).astype(float), tolerance, 0, True,
                                   expression)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("element", "tolerance"), [("half", 1e-3), ("float", 1e-6), ("double", 1e-14),
                                                    ("__bf16", 8e-3)])
def test_functions_of_real_numbers(element: str, tolerance: float, way: str, tmp_path: Path) -> None:
    check_functions(way, tmp_path, element, {
        "exp(a)": lambda a, b: np.exp(a), "exp(-a)": lambda a, b: np.exp(-a), "tanh(b)": lambda a, b: np.tanh(b),
        "fmax(a, b)": np.fmax, "fmax(a, 0)": lambda a, b: np.fmax(a, 0), "fmin(s, a)": lambda a, b: np.fmin(3, a),
        "mad(a, b, a)": lambda a, b: a * b + a, "clamp(a, -1, 2)": lambda a, b: np.clip(a, -1, 2),
        "fabs(a * b)": lambda a, b: np.abs(a * b), "rsqrt(fabs(a))": lambda a, b: 1 / np.sqrt(np.abs(a)),
        "ldexp(a, 2)": lambda a, b: a * 4, "max(a, b)": np.maximum,
    } if element != "half" else {
        "exp(a)": lambda a, b: np.exp(a.astype(float)), "fmax(a, b)": np.fmax,
        "clamp(a, -s, s)": lambda a, b: np.clip(a, -3, 3)}, tolerance)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("element", ["char", "uint", "long"])
def test_functions_of_integers(element: str, way: str, tmp_path: Path) -> None:
    check_functions(way, tmp_path, element, {
        "max(a, b)": np.maximum, "min(a, s)": lambda a, b: np.minimum(a, 3), "abs(a)": lambda a, b: np.abs(a),
        "clamp(a, s, s + s)": lambda a, b: np.clip(a, 3, 6),
    } if element != "uint" else {"max(a, b)": np.maximum, "popcount(a)": lambda a, b: np.bitwise_count(a)})


# ------------------------------------------------------------------ coop_mat_apply

FUNCTIONS = """
float place(uint row, uint column, float x) { return x + 100 * row + column; }
float signed_place(int row, short column, double x) { return x + 100 * row + column; }
static float twice(float x) { return 2 * x; }
int truncated(float x) { return (int)x; }
float with_bias(uint row, uint column, float x, global const float *bias) { return x + bias[column]; }
float maybe(uint row, uint column, float x, global const float *bias, float s) { return (bias ? bias[column] : x) * s; }
float sum(float x, float y, int factor) { return x + y * factor; }
float first(float x, float2 v) { return x * v.x + v.y; }
float __attribute__((overloadable)) chosen(int x) { return 0; }
float __attribute__((overloadable)) chosen(float x) { return x + 1; }
float swap_in_loop(float x) {
    float parts[4], y = 0;
    for (int i = 0; i < 4; i++) parts[i] = x * i;
    for (int i = 3; i >= 0; i--) { float f; y += parts[i] + fract(x, &f); if (y > 20) break; }
    return y;
}
"""
PLACE = 100 * np.arange(ROWS)[:, None] + np.arange(COLUMNS)
BIAS = np.arange(COLUMNS, dtype=np.float32) / 4


def swapped(a: np.ndarray) -> np.ndarray:
    y, going = np.zeros_like(a), np.ones(a.shape, bool)
    for i in range(3, -1, -1):
        y = np.where(going, y + (a * i + (a - np.floor(a))), y)
        going &= y <= 20
    return y


APPLIED: dict[str, Callable[..., np.ndarray]] = {
    "coop_mat_apply(a, place)": lambda a, b: a + PLACE,
    "coop_mat_apply(a, signed_place)": lambda a, b: a + PLACE,
    "coop_mat_apply(a, twice)": lambda a, b: 2 * a,
    "coop_mat_apply(a * 0.5f, truncated)": lambda a, b: np.trunc(a / 2),
    "coop_mat_apply(a, with_bias, bias)": lambda a, b: a + BIAS,
    "coop_mat_apply(a, maybe, bias, 0)": lambda a, b: 0 * a,
    "coop_mat_apply(a, maybe, 0, 3)": lambda a, b: 3 * a,
    "coop_mat_apply(a, maybe, NULL, 2)": lambda a, b: 2 * a,
    "coop_mat_apply(a, sum, b, 3)": lambda a, b: a + b * 3,
    "coop_mat_apply(a, first, (float2)(2, 5))": lambda a, b: a * 2 + 5,
    "coop_mat_apply(a, chosen)": lambda a, b: a + 1,
    "coop_mat_apply(a, fmax, b)": np.fmax,
    "coop_mat_apply(coop_mat_apply(a, twice), twice)": lambda a, b: 4 * a,
    "coop_mat_apply(a * 0.375f, swap_in_loop)": lambda a, b: swapped(a * np.float32(0.375)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", ["A", "B", "ACCUMULATOR"])
def test_functions_of_the_program(use: str, way: str, tmp_path: Path) -> None:
    lines = "".join(f"coop_mat_store(out + {number * ROWS * COLUMNS}, {expression}, 0, {COLUMNS});\n"
                    for number, expression in enumerate(APPLIED))
    a, b = values("float", 1), values("float", 2)
    out = np.zeros((len(APPLIED), ROWS, COLUMNS), np.float32)
    source = kernel("float", "global float *out, global const float *bias", lines, FUNCTIONS, use)
    run(way, tmp_path, source, a.copy(), b, out, BIAS)
    for found, (expression, expected) in zip(out, APPLIED.items(), strict=True):
        np.testing.assert_allclose(found, expected(a, b), 1e-6, err_msg=expression)


def test_one_function_for_all_uses() -> None:
    source = kernel("float", "", "a = exp(exp(a)); b = fmax(exp(b), a); a = coop_mat_reduce(a, "
                    "CLK_COOPERATIVE_MATRIX_REDUCE_ROW, CLK_COOPERATIVE_MATRIX_COMBINE_MAX) + coop_mat_reduce(b, "
                    "CLK_COOPERATIVE_MATRIX_REDUCE_ALL, CLK_COOPERATIVE_MATRIX_COMBINE_MAX);")
    module = cm.build(source).module
    assert len(module.functions) == 4, "the kernel, exp, fmax, and that of reductions"
    assert module.validate() == []


@pytest.mark.parametrize(("functions", "call", "expected"), [
    ("float f(float x);", "coop_mat_apply(a, f)", "'f' is called but has no definition"),
    ("float f(float x) { return f(x); }", "coop_mat_apply(a, f)", "recursive call of 'f'"),
    ("float g(float x); float f(float x) { return g(x); } float g(float x) { return sub_group_reduce_max(x); }",
     "coop_mat_apply(a, f)", "'f' cannot be applied to the elements of a cooperative matrix: it works together with"),
    ("float f(float x) { printf(\"%f\", x); return x; }", "coop_mat_apply(a, f)", "it prints"),
    ("", "coop_mat_apply(a)", "expected 2 or more, have 1"),
    ("", "coop_mat_apply(a, convert_int_rte)", "'convert_int_rte' changes the type of elements"),
    ("", "coop_mat_apply(a, fmaxx, b)", "did you mean 'fmax'?"),
    ("", "coop_mat_apply(1, exp)", "argument 1 of 'coop_mat_apply' has type 'int'"),
    ("", "exp(a, a)", "no function 'exp' of scalars makes a 'float'"),
    ("", "fmax(a, h)", "inconsistent cooperative matrix element types"),
    ("", "fract(a, &t)", "it changes memory that other work-items may see"),
    ("", "fract(a, &own)", "argument 2 of 'fract' cannot be passed to a function of elements"),
])
def test_what_cannot_be_applied(functions: str, call: str, expected: str) -> None:
    before = functions + declared("half", "ACCUMULATOR", "H") + "float t;"
    with pytest.raises(cm.CompileError, match=re.escape(expected)):
        compile_source(kernel("float", "", f"H h = coop_mat_init(1); float own; a = {call};", before))


# ------------------------------------------------------------------ conversions

USES = ("A", "B", "ACCUMULATOR")
TYPES = [("float", "half"), ("float", "__bf16"), ("half", "float"), ("__bf16", "float"), ("__bf16", "half"),
         ("half", "__bf16"), ("int", "char"), ("char", "int"), ("float", "char"), ("uchar", "half"), ("int", "uint"),
         ("float", "float"), ("double", "__bf16"), ("int", "__bf16"), ("__bf16", "__bf16")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("given", "wanted"), TYPES)
def test_conversions(given: str, wanted: str, way: str, tmp_path: Path) -> None:
    """Between all uses, as they are and transposed."""
    a, size = np.abs(values(given, 3)), ROWS * COLUMNS
    types, lines = "", ""
    for number, (source, target) in enumerate(itertools.product(USES, USES)):
        types += declared(given, source, f"S{number}") + declared(wanted, target, f"T{number}")
        types += declared(wanted, target, f"X{number}", COLUMNS, ROWS)
        lines += f"""S{number} s{number} = coop_mat_load(given, 0, {COLUMNS});
            T{number} t{number} = coop_mat_convert(s{number}); X{number} x{number} = coop_mat_transpose(s{number});
            coop_mat_store(out + {2 * number * size}, t{number}, 0, {COLUMNS});
            coop_mat_store(out + {(2 * number + 1) * size}, x{number}, 0, {ROWS});"""
    out = np.zeros((9, 2, size), DTYPES[wanted])
    run(way, tmp_path, f"{types} kernel void k(global {given} *given, global {wanted} *out) {{ {lines} }}", a, out)
    expected = a.astype(out.dtype)
    for found in out:
        np.testing.assert_array_equal(found[0].reshape(ROWS, COLUMNS), expected)
        np.testing.assert_array_equal(found[1].reshape(COLUMNS, ROWS), expected.T)
