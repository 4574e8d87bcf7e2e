"""Built-in functions from source to result on the simulator, against Python's integers, math and numpy."""

from __future__ import annotations

import itertools
import math
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.devices import describe
from coopmat.lowering import to_spirv
from coopmat.opencl import compile_source
from coopmat.opencl.builtins import TABLE, arithmetic
from coopmat.opencl.builtins.patterns import Overload, PointerPattern, expand
from coopmat.tree.types import BOOL, EVENT, FLOAT, VOID, AddressSpace
from tests.kit.builtin_references import FLOATING, NATIVE_FUNCTIONS, assert_close, clamp_to, wrap

LANES = 16
DTYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
}


@pytest.fixture
def random() -> np.random.Generator:
    """The same numbers for each test, whichever tests run."""
    return np.random.default_rng(20)


def run(source: str, arrays: Iterable[np.ndarray], lanes: int = LANES, kernel: str = "k") -> None:
    """Run a kernel with one work-item for each lane; the arrays hold the results."""
    device = cm.device("sim:generic")
    program = cm.build(source, device=device)
    cm.Queue(device).enqueue(program.kernel(kernel), (lanes,), (LANES,), *arrays).wait()


def evaluate(calls: dict[str, str], element: str, result: str, inputs: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The value of each expression of ``a``, ``b``, … for all inputs, as a ``result``.

    Each is computed twice, on scalars and on vectors of 4, which must agree; the scalar and vector types
    are written ``T``, the results' ``R``.
    """
    count = len(inputs[0])
    parameters = "".join(f"global const {element} *in_{name}, " for name, _ in zip("abc", inputs, strict=False))
    kernels: list[str] = []
    for width in (1, 4):
        suffix = "" if width == 1 else "4"
        loads = "".join(
            f"{element}{suffix} {name} = " + (f"in_{name}[i]; " if width == 1 else f"vload4(i, in_{name}); ")
            for name, _ in zip("abc", inputs, strict=False))
        stores = "".join(
            f"{{ {result}{suffix} r = {expression.replace('T', element + suffix).replace('R', result + suffix)}; "
            + (f"out[{index * count} + i] = r; }}" if width == 1 else f"vstore4(r, i, out + {index * count}); }}")
            for index, expression in enumerate(calls.values()))
        kernels.append(f"kernel void k{width}({parameters}global {result} *out) "
                       f"{{ size_t i = get_global_id(0); {loads}\n{stores} }}")
    outputs = [np.zeros((len(calls), count), DTYPES[result]) for _ in kernels]
    for width, output in zip((1, 4), outputs, strict=True):
        run("\n".join(kernels), [*inputs, output], count // width, f"k{width}")
    if outputs[0].dtype.kind == "f":  # numpy's own loops differ in the last place between lengths
        np.testing.assert_array_max_ulp(*outputs, maxulp=2)
    else:
        np.testing.assert_array_equal(*outputs)
    return dict(zip(calls, outputs[0], strict=True))


# ------------------------------------------------------------------ integer functions

# OpenCL C 6.15.3, on Python's integers: expression → value from (a, b, c, bits, signed).
INTEGER: dict[str, Callable[[int, int, int, int, bool], int]] = {
    "convert_R(abs(a))": lambda a, b, c, n, s: wrap(abs(a), n, s),
    "convert_R(abs_diff(a, b))": lambda a, b, c, n, s: wrap(abs(a - b), n, s),
    "add_sat(a, b)": lambda a, b, c, n, s: clamp_to(a + b, n, s),
    "hadd(a, b)": lambda a, b, c, n, s: (a + b) >> 1,
    "rhadd(a, b)": lambda a, b, c, n, s: (a + b + 1) >> 1,
    "clamp(a, min(b, c), max(b, c))": lambda a, b, c, n, s: min(max(a, min(b, c)), max(b, c)),
    "clamp(a, (T)3, (T)9)": lambda a, b, c, n, s: min(max(a, 3), 9),
    "clz(a)": lambda a, b, c, n, s: n - (a % (1 << n)).bit_length(),
    "ctz(a)": lambda a, b, c, n, s: ((a & -a) % (1 << n)).bit_length() - 1 if a else n,
    "mad_hi(a, b, c)": lambda a, b, c, n, s: wrap((a * b >> n) + c, n, s),
    "mad_sat(a, b, c)": lambda a, b, c, n, s: clamp_to(a * b + c, n, s),
    "max(a, b)": lambda a, b, c, n, s: max(a, b),
    "min(a, b)": lambda a, b, c, n, s: min(a, b),
    "mul_hi(a, b)": lambda a, b, c, n, s: a * b >> n,
    "rotate(a, b)": lambda a, b, c, n, s: wrap(
        (a % (1 << n)) << (b % n) | (a % (1 << n)) >> (n - b % n), n, s),
    "sub_sat(a, b)": lambda a, b, c, n, s: clamp_to(a - b, n, s),
    "popcount(a)": lambda a, b, c, n, s: (a % (1 << n)).bit_count(),
    "bitselect(a, b, c)": lambda a, b, c, n, s: a & ~c | b & c,
}


def integers(element: str, count: int, random: np.random.Generator) -> list[np.ndarray]:
    """Three columns of integers: all combinations of the extremes and small values, then random ones."""
    info = np.iinfo(DTYPES[element])
    edges = sorted({info.min, info.min + 1, info.max, info.max - 1, max(info.min, -1), 0, 1, 5})
    rows = list(itertools.product(edges, repeat=3))[:count // 2]
    rows += [tuple(int(v) for v in random.integers(info.min, info.max, 3, endpoint=True, dtype=DTYPES[element]))
             for _ in range(count - len(rows))]
    return [np.array(column, DTYPES[element]) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("element", ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"])
def test_integer_functions(element: str, random: np.random.Generator) -> None:
    inputs = integers(element, 512, random)
    results = evaluate({name: name for name in INTEGER}, element, element, inputs)
    bits, signed = DTYPES[element](0).nbytes * 8, not element.startswith("u")
    for name, reference in INTEGER.items():
        expected = [reference(*(int(v) for v in row), bits, signed) for row in zip(*inputs, strict=True)]
        assert results[name].tolist() == expected, name


@pytest.mark.parametrize(("element", "wide"), [
    ("char", "short"), ("uchar", "ushort"), ("short", "int"), ("ushort", "uint"), ("int", "long"), ("uint", "ulong")])
def test_upsample(element: str, wide: str, random: np.random.Generator) -> None:
    high, low, _ = integers(element, 64, random)
    unsigned = element if element.startswith("u") else f"u{element}"
    source = f"""kernel void k(global const {element} *a, global const {unsigned} *b, global {wide} *out) {{
        size_t i = get_global_id(0); out[i] = upsample(a[i], b[i]); }}"""
    out = np.zeros(64, DTYPES[wide])
    run(source, [high, low.view(DTYPES[unsigned]), out], 64)
    bits = high.itemsize * 8
    assert out.tolist() == [int(h) * 2**bits + int(v) % 2**bits for h, v in zip(high, low, strict=True)]


@pytest.mark.parametrize("element", ["int", "uint"])
def test_24_bit_functions(element: str, random: np.random.Generator) -> None:
    low, high = (0, 2**24) if element == "uint" else (-2**23, 2**23)
    inputs = [random.integers(low, high, 64).astype(DTYPES[element]) for _ in range(3)]
    results = evaluate({"mul24": "mul24(a, b)", "mad24": "mad24(a, b, c)"}, element, element, inputs)
    rows = [tuple(int(v) for v in row) for row in zip(*inputs, strict=True)]
    signed = element == "int"
    assert results["mul24"].tolist() == [wrap(a * b, 32, signed) for a, b, _ in rows]
    assert results["mad24"].tolist() == [wrap(a * b + c, 32, signed) for a, b, c in rows]


# ------------------------------------------------------------------ floating-point functions


def check_floating(element: str, table: dict[str, tuple[Callable[..., np.ndarray], tuple[float, float]]],
                   random: np.random.Generator) -> None:
    by_range: dict[tuple[float, float], list[str]] = {}
    for name, (_, limits) in table.items():
        by_range.setdefault(limits, []).append(name)
    for limits, expressions in by_range.items():
        inputs = [random.uniform(*limits, 64).astype(DTYPES[element]) for _ in range(3)]
        results = evaluate({name: name for name in expressions}, element, element, inputs)
        for name in expressions:
            used = [column.astype(np.float64) for letter, column in zip("abc", inputs, strict=True)
                    if f"({letter}" in name or f" {letter}" in name]
            assert_close(name, results[name], table[name][0](*used))


@pytest.mark.parametrize("element", ["half", "float", "double"])
def test_math_and_common_functions(element: str, random: np.random.Generator) -> None:
    check_floating(element, FLOATING, random)


@pytest.mark.parametrize("prefix", ["half", "native"])
def test_half_and_native_functions(prefix: str, random: np.random.Generator) -> None:
    check_floating("float", {f"{prefix}_{name}(a{', b' if name in ('divide', 'powr') else ''})": row
                             for name, row in NATIVE_FUNCTIONS.items()}, random)


def test_every_math_function_is_checked() -> None:
    checked = " ".join((*FLOATING, *INTEGER))
    elsewhere = {"fract", "modf", "sincos", "frexp", "lgamma_r", "remquo", "ilogb", "nan", "nextafter", "upsample",
                 "mul24", "mad24", "cross", "dot", "distance", "length", "normalize", "select", "any", "all"}
    for name, family in TABLE.items():
        elsewhere_by_prefix = name.startswith(("half_", "native_", "is", "fast_", "signbit"))
        if family.members[0][0] in arithmetic.ROWS and not elsewhere_by_prefix:
            assert name in elsewhere or f"{name}(" in checked, name


def test_functions_with_a_second_result(random: np.random.Generator) -> None:
    source = """kernel void k(global const float *x, global const float *y, global float *out, global int *whole) {
        size_t i = get_global_id(0), n = get_global_size(0);
        float p; int q; local float l[16];
        out[i] = fract(x[i], &p); out[n + i] = p;
        out[2 * n + i] = modf(x[i], out + 3 * n + i);
        out[4 * n + i] = sincos(x[i], &l[i]); out[5 * n + i] = l[i];
        out[6 * n + i] = frexp(x[i], &q); whole[i] = q;
        out[7 * n + i] = lgamma_r(y[i], &q); whole[n + i] = q;
        out[8 * n + i] = remquo(x[i], y[i], whole + 2 * n + i);
        whole[3 * n + i] = ilogb(x[i]);
        out[9 * n + i] = nextafter(x[i], INFINITY);
    }"""
    x = random.uniform(-9, 9, LANES).astype(np.float32)
    y = random.uniform(0.5, 3, LANES).astype(np.float32)
    out, whole = np.zeros((10, LANES), np.float32), np.zeros((4, LANES), np.int32)
    run(source, [x, y, out, whole])
    wide = x.astype(np.float64)
    mantissa, exponent = np.frexp(x)
    fraction, integer = np.modf(x)
    np.testing.assert_array_equal(out[:2], [x - np.floor(x), np.floor(x)])
    np.testing.assert_array_equal(out[2:4], [fraction, integer])
    assert_close("sincos", out[4], np.sin(wide))
    assert_close("sincos", out[5], np.cos(wide))
    np.testing.assert_array_equal(out[6], mantissa)
    np.testing.assert_allclose(out[7], [math.lgamma(v) for v in y], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(out[8], [math.remainder(a, b) for a, b in zip(x, y, strict=True)])
    np.testing.assert_array_equal(out[9], np.nextafter(x, np.float32(np.inf)))
    np.testing.assert_array_equal(whole[0], exponent)
    assert whole[1].tolist() == [1] * LANES
    quotients = np.rint(wide / y.astype(np.float64)).astype(int)
    assert [(int(q) - int(w)) % 8 for q, w in zip(quotients, whole[2], strict=True)] == [0] * LANES
    np.testing.assert_array_equal(whole[3], exponent - 1)


def test_nan_has_the_given_payload() -> None:
    out, bits = np.zeros(LANES, np.float32), np.full(LANES, 0x1234, np.uint32)
    run("kernel void k(global const uint *c, global float *o) { size_t i = get_global_id(0); o[i] = nan(c[i]); }",
        [bits, out])
    assert np.isnan(out).all()
    assert (out.view(np.uint32) & 0x3FFFFF).tolist() == bits.tolist()


GEOMETRIC = """kernel void k(global const float4 *a, global const float4 *b, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    out[i] = dot(a[i], b[i]); out[n + i] = length(a[i]); out[2 * n + i] = distance(a[i], b[i]);
    out[3 * n + i] = fast_length(a[i].xy); out[4 * n + i] = fast_distance(a[i].x, b[i].x);
    vstore4(normalize(a[i]), i, out + 5 * n); vstore4(cross(a[i], b[i]), i, out + 9 * n);
    vstore3(fast_normalize(a[i].xyz), i, out + 13 * n); vstore3(cross(a[i].xyz, b[i].xyz), i, out + 16 * n);
}"""


def test_geometric_functions(random: np.random.Generator) -> None:
    a, b = (random.uniform(-3, 3, (LANES, 4)).astype(np.float32) for _ in range(2))
    out = np.zeros((19, LANES), np.float32)
    run(GEOMETRIC, [a, b, out])
    wide, other = a.astype(np.float64), b.astype(np.float64)
    expected = [(wide * other).sum(1), np.linalg.norm(wide, axis=1), np.linalg.norm(wide - other, axis=1),
                np.linalg.norm(wide[:, :2], axis=1), np.abs(wide[:, 0] - other[:, 0])]
    np.testing.assert_allclose(out[:5], expected, rtol=1e-5, atol=1e-5)
    crossed = np.cross(wide[:, :3], other[:, :3])
    flat = out.reshape(-1)
    for start, columns, values in (
            (5, 4, wide / expected[1][:, None]), (9, 4, np.pad(crossed, ((0, 0), (0, 1)))),
            (13, 3, wide[:, :3] / np.linalg.norm(wide[:, :3], axis=1)[:, None]), (16, 3, crossed)):
        found = flat[start * LANES:(start + columns) * LANES].reshape(LANES, columns)
        np.testing.assert_allclose(found, values, rtol=1e-3 if columns == 3 else 1e-5, atol=1e-5)


# ------------------------------------------------------------------ relational functions

SPECIAL = (0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 6e-8)

RELATIONAL: dict[str, Callable[[float, float], bool]] = {
    "isequal(a, b)": lambda a, b: a == b, "isnotequal(a, b)": lambda a, b: a != b,
    "isgreater(a, b)": lambda a, b: a > b, "isgreaterequal(a, b)": lambda a, b: a >= b,
    "isless(a, b)": lambda a, b: a < b, "islessequal(a, b)": lambda a, b: a <= b,
    "islessgreater(a, b)": lambda a, b: a < b or a > b,
    "isordered(a, b)": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "isunordered(a, b)": lambda a, b: math.isnan(a) or math.isnan(b),
    "isfinite(a)": lambda a, b: math.isfinite(a), "isinf(a)": lambda a, b: math.isinf(a),
    "isnan(a)": lambda a, b: math.isnan(a), "signbit(a)": lambda a, b: math.copysign(1, a) < 0,
    "isnormal(a)": lambda a, b: math.isfinite(a) and abs(a) > 1e-6,
}


@pytest.mark.parametrize(("element", "integer"), [("half", "short"), ("float", "int"), ("double", "long")])
def test_relational_functions(element: str, integer: str) -> None:
    smallest = float(np.finfo(DTYPES[element]).smallest_subnormal)
    values = [smallest if v == SPECIAL[-1] else v for v in SPECIAL]
    pairs = list(itertools.product(values, repeat=2))
    a, b = (np.array(column, DTYPES[element]) for column in zip(*pairs, strict=True))
    scalars, vectors = (np.zeros((len(RELATIONAL), len(pairs)), DTYPES[name]) for name in ("int", integer))
    rows = enumerate(RELATIONAL)
    source = "\n".join(
        f"kernel void k{width}(global const {element} *in_a, global const {element} *in_b, global {result} *out) "
        f"{{ size_t i = get_global_id(0); {loads} {' '.join(stores)} }}"
        for width, result, loads, stores in (
            (1, "int", f"{element} a = in_a[i], b = in_b[i];",
             [f"out[{index * len(pairs)} + i] = {call};" for index, call in enumerate(RELATIONAL)]),
            (4, integer, f"{element}4 a = vload4(i, in_a), b = vload4(i, in_b);",
             [f"vstore4({call}, i, out + {index * len(pairs)});" for index, call in rows])))
    run(source, [a, b, scalars], len(pairs), "k1")
    run(source, [a, b, vectors], len(pairs) // 4, "k4")
    for index, (call, reference) in enumerate(RELATIONAL.items()):
        expected = [bool(reference(x, y)) for x, y in pairs]
        assert scalars[index].tolist() == [int(v) for v in expected], call
        assert vectors[index].tolist() == [-int(v) for v in expected], call


def test_select_any_and_all() -> None:
    source = """kernel void k(global const int *a, global const int *b, global const int *c, global int *out) {
        size_t i = get_global_id(0), n = get_global_size(0);
        out[i] = select(a[i], b[i], c[i]); out[n + i] = any(c[i]); out[2 * n + i] = all(c[i]);
        int4 v = vload4(i % 4, c); out[3 * n + i] = any(v); out[4 * n + i] = all(v);
        if (i < 4) vstore4(select(vload4(i, a), vload4(i, b), v), i, out + 5 * n);
    }"""
    a, b = np.arange(16, dtype=np.int32), np.arange(100, 116, dtype=np.int32)
    c = np.array([0, 1, -1, 5, -3, -4, -5, -6, 1, 2, 3, 4, 0, 0, -1, 0], np.int32)
    out = np.zeros((6, 16), np.int32)
    run(source, [a, b, c, out])
    groups = (c < 0).reshape(4, 4)[np.arange(16) % 4]
    np.testing.assert_array_equal(out, [np.where(c != 0, b, a), c < 0, c < 0, groups.any(1), groups.all(1),
                                        np.where(c < 0, b, a)])


# ------------------------------------------------------------------ memory


def test_vector_loads_and_stores() -> None:
    for element, width in itertools.product(("char", "ushort", "int", "ulong", "half", "double"), (2, 3, 4, 8, 16)):
        source = (f"kernel void k(global const {element} *a, global {element} *out) {{ size_t i = get_global_id(0); "
                  f"{element}{width} v = vload{width}(i, a + 1); vstore{width}(v, i, out + 1); }}")
        values = np.arange(LANES * width + 1).astype(DTYPES[element])
        out = np.zeros_like(values)
        run(source, [values, out])
        assert out.tolist() == [0, *values[1:].tolist()]


def directed_half(values: np.ndarray, mode: str) -> np.ndarray:
    """float32 to float16 in one of the rounding modes, from numpy's rounding to nearest."""
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float16)
        wide = nearest.astype(np.float32)
        below = np.where(wide > values, np.nextafter(nearest, np.float16(-np.inf)), nearest)
        above = np.where(wide < values, np.nextafter(nearest, np.float16(np.inf)), nearest)
    return {"": nearest, "_rte": nearest, "_rtn": below, "_rtp": above,
            "_rtz": np.where(values < 0, above, below)}[mode]


@pytest.mark.parametrize("mode", ["", "_rte", "_rtz", "_rtp", "_rtn"])
def test_half_in_memory(mode: str, random: np.random.Generator) -> None:
    values = np.concatenate([random.uniform(-70, 70, 60), [1e-7, -1e-7, 3e-6, -65519.0]]).astype(np.float32)
    source = f"""kernel void k(global const float *a, global half *one, global half *four, global half *aligned,
                              global float *back) {{
        size_t i = get_global_id(0);
        for (size_t j = 4 * i; j < 4 * i + 4; ++j) vstore_half{mode}(a[j], j, one);
        float4 v = vload4(i, a);
        vstore_half4{mode}(v, i, four); vstorea_half4{mode}(v, i, aligned);
        back[4 * i] = vload_half(4 * i, one); vstore3(vload_half4(i, four).yzw, 0, back + 4 * i + 1);
        vstore4(vload4(i, back) + vloada_half4(i, aligned), i, back);
    }}"""
    halves = [np.zeros(64, np.float16) for _ in range(3)]
    back = np.zeros(64, np.float32)
    run(source, [values, *halves, back])
    expected = directed_half(values, mode)
    for found in halves:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(back, 2 * expected.astype(np.float32))


def test_three_component_halves_with_alignment() -> None:
    source = """kernel void k(global const float *a, global half *h, global float *out) {
        size_t i = get_global_id(0);
        vstorea_half3(vload3(i, a), i, h); vstore3(vloada_half3(i, h), i, out); }"""
    values, out = np.arange(48, dtype=np.float32), np.zeros(48, np.float32)
    stored = np.zeros(64, np.float16)
    run(source, [values, stored, out])
    np.testing.assert_array_equal(out, values)
    np.testing.assert_array_equal(stored.reshape(16, 4)[:, :3].reshape(-1), values)


def test_shuffles(random: np.random.Generator) -> None:
    source = """kernel void k(global const ushort *a, global const ushort *mask, global ushort *out) {
        size_t i = get_global_id(0);
        ushort8 v = vload8(i, a); ushort4 w = vload4(i, a);
        vstore4(shuffle(v, vload4(i, mask)), i, out);
        vstore8(shuffle2(w, (ushort4)(7, 8, 9, 10), vload8(i, mask)), i, out + 64);
    }"""
    a, mask = np.arange(128, dtype=np.uint16), random.integers(0, 64, 128).astype(np.uint16)
    out = np.zeros(192, np.uint16)
    run(source, [a, mask, out])
    for lane in range(LANES):
        picked = a[8 * lane:8 * lane + 8][mask[4 * lane:4 * lane + 4] % 8]
        np.testing.assert_array_equal(out[4 * lane:4 * lane + 4], picked)
        both = np.concatenate([a[4 * lane:4 * lane + 4], [7, 8, 9, 10]])
        np.testing.assert_array_equal(out[64 + 8 * lane:72 + 8 * lane], both[mask[8 * lane:8 * lane + 8] % 8])


def test_address_space_functions() -> None:
    source = """kernel void k(global int *out) {
        size_t i = get_global_id(0), n = get_global_size(0);
        local int l[16]; int p; generic int *g = i % 2 ? (generic int *)&l[i] : (generic int *)out;
        out[i] = get_fence(g); out[n + i] = to_global(g) != 0; out[2 * n + i] = to_local(g) != 0;
        out[3 * n + i] = to_private(g) != 0; out[4 * n + i] = to_private(&p) != 0;
    }"""
    out = np.zeros((5, LANES), np.int32)
    run(source, [out])
    odd = np.arange(LANES) % 2
    np.testing.assert_array_equal(out, [np.where(odd, 1, 2), 1 - odd, odd, 0 * odd, 0 * odd + 1])


# ------------------------------------------------------------------ work-items and atomics


def test_work_item_functions() -> None:
    names = ("get_global_id(0)", "get_local_id(0)", "get_group_id(0)", "get_global_size(0)", "get_local_size(0)",
             "get_num_groups(0)", "get_enqueued_local_size(0)", "get_global_offset(0)", "get_global_id(3)",
             "get_global_size(3)", "get_local_size(n)", "get_group_id(n)", "get_work_dim()", "get_global_linear_id()",
             "get_local_linear_id()", "get_sub_group_size()", "get_max_sub_group_size()", "get_num_sub_groups()",
             "get_enqueued_num_sub_groups()", "get_sub_group_id()", "get_sub_group_local_id()")
    stores = "".join(f"out[{index} * 64 + i] = {name};" for index, name in enumerate(names))
    source = f"kernel void k(uint n, global uint *out) {{ size_t i = get_global_id(0); {stores} }}"
    out = np.zeros((len(names), 64), np.uint32)
    device = cm.device("sim:generic")
    kernel = cm.build(source, device=device).kernel("k")
    cm.Queue(device).enqueue(kernel, (64,), (32,), np.uint32(7), out).wait()
    i = np.arange(64)
    expected = [i, i % 32, i // 32, 64, 32, 2, 32, 0, 0, 1, 1, 0, 1, i, i % 32, 16, 16, 2, 2, i % 32 // 16, i % 16]
    for name, found, value in zip(names, out, expected, strict=True):
        assert found.tolist() == np.broadcast_to(value, 64).tolist(), name


def test_atomics() -> None:
    source = """kernel void k(global int *a, global atomic_uint *b, global float *c, global ulong *d) {
        int i = get_global_id(0);
        atomic_add(a, i); atomic_sub(a + 1, i); atomic_inc(a + 2); atomic_dec(a + 3); atomic_min(a + 4, -i);
        atomic_max(a + 5, i); atomic_and(a + 6, ~(1 << i)); atomic_or(a + 7, 1 << i); atomic_xor(a + 8, 1 << i);
        atomic_cmpxchg(a + 9, 0, i + 1);
        atomic_fetch_add(b, 3); atomic_fetch_max_explicit(b + 1, i, memory_order_relaxed);
        atomic_fetch_min_explicit(b + 2, 0x80000000u + i, memory_order_relaxed, memory_scope_device);
        uint seen = atomic_load(b + 3);
        while (!atomic_compare_exchange_weak(b + 3, &seen, seen + i)) { }
        float sum = atomic_load((global atomic_float *)c);
        while (!atomic_compare_exchange_strong((global atomic_float *)c, &sum, sum + 0.5f)) { }
        atom_add(d, 1UL << 33);
        if (i == 3) { atomic_store(b + 4, 77); atomic_init(b + 5, 78); a[10] = atomic_xchg(a + 11, 5); }
        if (i == 4) a[12] = atomic_flag_test_and_set(a + 13) + 2 * atomic_flag_test_and_set(a + 13);
    }"""
    a, b = np.zeros(14, np.int32), np.zeros(6, np.uint32)
    a[6], a[11], b[2] = -1, 9, 0xFFFFFFFF
    c, d = np.zeros(1, np.float32), np.zeros(1, np.uint64)
    run(source, [a, b, c, d])
    assert a[:9].tolist() == [120, -120, 16, -16, -15, 15, ~0xFFFF, 0xFFFF, 0xFFFF]
    assert 1 <= a[9] <= 16
    assert a[10:13].tolist() == [9, 5, 2]
    assert a[13] != 0
    assert b.tolist() == [48, 15, 0x80000000, 120, 77, 78]
    assert (c[0], d[0]) == (8.0, 16 << 33)


def test_local_memory_and_barriers() -> None:
    source = """kernel void k(global const int *a, global int *out) {
        local int l[16]; size_t i = get_local_id(0);
        l[i] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); out[i] = l[15 - i];
        work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);
        sub_group_barrier(CLK_LOCAL_MEM_FENCE); mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
        prefetch(a, 16);
    }"""
    a, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    run(source, [a, out])
    assert out.tolist() == a[::-1].tolist()


# ------------------------------------------------------------------ the whole table to SPIR-V

BUFFERS = {AddressSpace.PRIVATE: "own", AddressSpace.GLOBAL: "out", AddressSpace.LOCAL: "shared",
           AddressSpace.CONSTANT: "fixed", AddressSpace.GENERIC: "anything"}


def statement(overload: Overload, spaces: tuple[AddressSpace, ...]) -> str:
    """A statement that calls an overload and stores its result."""
    terms = overload.row.signature.partition("(")[2].rstrip(")").split(",")
    arguments, left = [], list(spaces)
    for term, parameter in zip(terms, overload.parameters, strict=False):
        if isinstance(parameter, PointerPattern):
            space = left.pop(0)
            pointee = FLOAT if parameter.pointee == VOID else parameter.pointee
            arguments.append(f"({space} {'volatile ' if parameter.volatile else ''}{pointee} *){BUFFERS[space]}")
        elif term.strip() in ("memory_order", "memory_scope", "cl_mem_fence_flags", "event_t"):
            arguments.append("0")
        else:
            arguments.append(f"*(global {parameter} *)out")
    call = f"{overload.name}({', '.join(arguments)})"
    if overload.result == VOID:
        return f"*(global ulong *)out = (ulong){call};" if "void*" in overload.row.signature else f"{call};"
    if overload.result == EVENT:
        return f"{call};"
    return f"*(global {'int' if overload.result == BOOL else overload.result} *)out = {call};"


@pytest.mark.oracle("spirv-val")
def test_every_overload_becomes_valid_spirv(tmp_path: Path, long_form: bool) -> None:
    """Those of core OpenCL C; functions of extensions have tests of their own."""
    kernels = []
    for name, family in TABLE.items():
        statements = []
        for overload in (overload for row, counts in family.members if not row.needs
                         for overload in expand(row, name, counts)):
            choices = [sorted(parameter.spaces, key=lambda space: space.value) for parameter in overload.parameters
                       if isinstance(parameter, PointerPattern)]
            combinations = list(itertools.product(*choices))
            statements += [statement(overload, spaces) for spaces in (combinations if long_form else combinations[-1:])]
        kernels.append(f"kernel void test_{name}(global char *out, local char *shared, constant char *fixed) {{\n"
                       "char own[256]; generic char *anything = out;\n" + "\n".join(statements) + "\n}")
    program, diagnostics = compile_source("\n".join(kernels), device=describe("generic"))
    assert diagnostics == []
    module = tmp_path / "table.spv"
    module.write_bytes(to_spirv(program).to_bytes())
    check = subprocess.run(["spirv-val", "--target-env", "spv1.4", str(module)], capture_output=True, text=True,
                           check=False)
    assert (check.returncode, check.stdout + check.stderr) == (0, "")
