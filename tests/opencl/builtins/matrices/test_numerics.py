"""Cooperative matrices from source to result on the simulator, against numpy and ml_dtypes."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import coopmat as cm
from coopmat.opencl import compile_source

DTYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
    "__bf16": ml_dtypes.bfloat16,
}
ROWS, COLUMNS = 5, 7


def run(source: str, *arrays: np.ndarray) -> None:
    device = cm.device("sim:generic")
    program = cm.build(source, device=device)
    cm.Queue(device).enqueue(program.kernel("k"), (16,), (16,), *arrays).wait()


def declared(element: str, use: str = "A", name: str = "M", rows: int = ROWS, columns: int = COLUMNS) -> str:
    return (f"typedef {element} {name} __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, {rows}, "
            f"{columns}, CLK_COOPERATIVE_MATRIX_{use})));\n")


def values(element: str, seed: int = 0) -> np.ndarray:
    """Numbers that are exact in every element type, none of them zero."""
    random = np.random.default_rng(seed)
    low = 1 if np.dtype(DTYPES[element]).kind == "u" else -7
    numbers = random.integers(low, 8, (ROWS, COLUMNS))
    return np.where(numbers == 0, 3, numbers).astype(DTYPES[element])


def divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C's division, which truncates, computed in the arrays' type."""
    if a.dtype.kind not in "iu":
        return a / b
    quotient = np.abs(a) // np.abs(b)
    return quotient if a.dtype.kind == "u" else quotient * np.sign(a) * np.sign(b)


@pytest.mark.parametrize("element", DTYPES)
def test_operators(element: str) -> None:
    a, b = values(element, 1), values(element, 2)
    pointer = f"global {element} *"
    source = declared(element) + f"""kernel void k({pointer}pa, {pointer}pb, {pointer}out) {{
        M a = coop_mat_load(pa, 0, {COLUMNS}), b = coop_mat_load(pb, 0, {COLUMNS});
        M results[] = {{ a + b, a - b, a * b, a / b, -a, a * 3, 3 * a, a, a }};
        results[7] += b; results[7] *= 2; results[8] -= b; results[8] /= b;
        for (int i = 0; i < 9; ++i) coop_mat_store(out + i * {ROWS * COLUMNS}, results[i], 0, {COLUMNS});
    }}"""
    out = np.zeros((9, ROWS, COLUMNS), DTYPES[element])
    run(source, a, b, out)
    with np.errstate(over="ignore"):
        three, two = a.dtype.type(3), a.dtype.type(2)
        expected = [a + b, a - b, a * b, divided(a, b), -a, a * three, a * three, (a + b) * two, divided(a - b, b)]
    for index, (found, value) in enumerate(zip(out, expected, strict=True)):
        np.testing.assert_array_equal(found, value.astype(DTYPES[element]), err_msg=f"result {index}")


@pytest.mark.parametrize(("source_element", "target_element"), list(itertools.permutations(DTYPES, 2)))
def test_conversions(source_element: str, target_element: str) -> None:
    a = values(source_element, 3)
    target = np.dtype(DTYPES[target_element])
    if target.kind == "u" and np.dtype(DTYPES[source_element]).kind not in "iu":
        a = abs(a)  # a negative number has no value in an unsigned type (C99 6.3.1.4)
    source = declared(source_element, name="S") + declared(target_element, name="T") + f"""
        kernel void k(global const {source_element} *a, global {target_element} *out) {{
            S s = coop_mat_load(a, 0, {COLUMNS});
            T t = coop_mat_convert(s);
            coop_mat_store(out, t, 1, {ROWS});
        }}"""
    out = np.zeros((COLUMNS, ROWS), target)
    run(source, a, out)
    np.testing.assert_array_equal(out.T, a.astype(target))


@pytest.mark.parametrize("element", DTYPES)
def test_fill_components_and_coordinates(element: str) -> None:
    source = declared(element) + f"""kernel void k(global {element} *out, global uint *length) {{
        M m = coop_mat_init(100);
        for (uint i = 0; i < coop_mat_length(m); ++i) {{
            int2 at = coop_mat_get_coord(m, i);
            if (at.x < {ROWS}) m[i] = m[i] + ({element})(at.x * {COLUMNS} + at.y - 100);
        }}
        coop_mat_store(out, m, 0, {COLUMNS});
        length[get_global_id(0)] = coop_mat_length(m);
    }}"""
    out, length = np.zeros((ROWS, COLUMNS), DTYPES[element]), np.zeros(16, np.uint32)
    run(source, out, length)
    np.testing.assert_array_equal(out.astype(float).reshape(-1), np.arange(ROWS * COLUMNS))
    assert length.tolist() == [3] * 16  # 35 elements over 16 work-items


@pytest.mark.parametrize("flags", list(itertools.product((False, True), repeat=3)))
@pytest.mark.parametrize("saturating", [False, True])
def test_operand_flags_decide_over_the_sign_of_bits(flags: tuple[bool, bool, bool], saturating: bool) -> None:
    a_signed, b_signed, c_signed = flags
    operands = a_signed * 1 | b_signed * 2 | c_signed * 12 | saturating * 16
    source = (declared("uchar", "A", "A_t", 3, 4) + declared("uchar", "B", "B_t", 4, 2)
              + declared("uint", "ACCUMULATOR", "C_t", 3, 2) + f"""
        kernel void k(global uchar *pa, global uchar *pb, global uint *pc) {{
            A_t a = coop_mat_load(pa, 0, 4); B_t b = coop_mat_load(pb, 0, 2); C_t c = coop_mat_load(pc, 0, 2);
            c = coop_matmul_add(a, b, c, {operands});
            coop_mat_store(pc, c, 0, 2);
        }}""")
    random = np.random.default_rng(5)
    a, b = random.integers(0, 256, (3, 4)).astype(np.uint8), random.integers(0, 256, (4, 2)).astype(np.uint8)
    c = np.array([[0, 1], [2**31 - 1, 2**31], [2**32 - 1, 2**32 - 9]], np.uint32)
    wide = [matrix.view(np.dtype(f"i{matrix.itemsize}") if signed else matrix.dtype).astype(object)
            for matrix, signed in ((a, a_signed), (b, b_signed), (c, c_signed))]
    exact = wide[0] @ wide[1] + wide[2]
    if saturating:
        low, high = (-2**31, 2**31 - 1) if c_signed else (0, 2**32 - 1)
        exact = np.clip(exact, low, high)
    found = c.copy()
    run(source, a, b, found)
    assert found.tolist() == (exact % 2**32).tolist()


def test_bfloat16_is_rounded_after_each_operation() -> None:
    """As ml_dtypes computes: in float, then rounded to nearest even."""
    random = np.random.default_rng(6)
    a, b = (random.uniform(-4, 4, (ROWS, COLUMNS)).astype(ml_dtypes.bfloat16) for _ in range(2))
    source = declared("__bf16") + f"""kernel void k(global __bf16 *pa, global __bf16 *pb, global __bf16 *out) {{
        M a = coop_mat_load(pa, 0, {COLUMNS}), b = coop_mat_load(pb, 0, {COLUMNS});
        coop_mat_store(out, (a + b) * a / b - a * 0.3f, 0, {COLUMNS});
    }}"""
    out = np.zeros_like(a)
    run(source, a, b, out)
    np.testing.assert_array_equal(out, (a + b) * a / b - a * ml_dtypes.bfloat16(0.3))


@pytest.mark.parametrize("statement", ["a[100] = 2;", "*out = a[100];", "*out = (a + a)[100];", "*out = a[3];"])
def test_a_component_that_does_not_exist(statement: str) -> None:
    """How many there are depends on the sub-group's size: 5 x 7 elements are 3 for each of 16 work-items."""
    source = declared("float") + f"kernel void k(global float *out) {{\n    M a = coop_mat_init(1.0f);\n{statement}\n}}"
    with pytest.raises(cm.OutOfBounds, match=r"<source>:4:.* element (100|3)\b"):
        run(source, np.zeros(1, np.float32))


def test_warning_of_a_component_that_no_sub_group_has() -> None:
    source = declared("float") + "void f(M a, float x) { x = a[34]; x = a[35]; }"
    (warning,) = compile_source(source)[1]
    assert warning.header.startswith("<source>:2:41: warning: index 35 is past the end of 'float __attribute__((")
