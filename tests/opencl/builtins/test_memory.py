"""Built-in functions on memory and bits in every type, address space and mode: against numpy, here and on a driver."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import coopmat as cm
from coopmat import llvm
from tests.kit.oracles import intel_runtime

DTYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64,
}
WIDTHS = (2, 3, 4, 8, 16)
SPACES = ("global", "local", "private", "generic")
SLOT = 256  # bytes for the results of one call

Run = Callable[[str, list[np.ndarray]], list[np.ndarray]]


def on_the_simulator(source: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """One work-item of kernel ``k``."""
    copies = [array.copy() for array in arrays]
    cm.Queue("sim:generic").enqueue(cm.build(source).kernel("k"), 1, 1, *copies).wait()
    return copies


def through_llvm(source: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same for the module that LLVM makes from our IR."""
    copies = [array.copy() for array in arrays]
    program = cm.build(llvm.to_spirv(cm.build(source).llvm_ir))
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, *copies).wait()
    return copies


def on_a_driver(source: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same on Intel's runtime."""
    return intel_runtime.run(cm.build(source).spirv, "k", (1,), (1,), arrays)


RUNS = [pytest.param(on_the_simulator, id="simulator"), pytest.param(through_llvm, id="llvm"),
        pytest.param(on_a_driver, id="driver", marks=pytest.mark.oracle("intel-opencl"))]


def random_bytes(count: int) -> np.ndarray:
    return np.random.default_rng(11).integers(0, 256, count, np.uint8)


def values_of(element: str, count: int, seed: int = 5) -> np.ndarray:
    """Numbers of a type, small enough for a half to hold them."""
    return np.random.default_rng(seed).integers(-100, 100, count).astype(DTYPES[element])


# ------------------------------------------------------------------ vector loads and stores

MEMORY = """
    local long16 shared[3]; long16 own[3];
    local uchar *in_local = (local uchar *)shared; private uchar *in_private = (private uchar *)own;
    for (int i = 0; i < 384; ++i) { in_local[i] = in[i]; in_private[i] = in[i]; }
    global const uchar *in_global = in; generic const uchar *in_generic = in_private;"""
LOADED = [(element, width, space) for element in DTYPES for width in WIDTHS for space in (*SPACES, "constant")]


@pytest.mark.parametrize("run", RUNS)
def test_vector_loads(run: Run) -> None:
    """From an address that is a multiple of the element's size only."""
    calls = "\n".join(
        f"vstore{width}(vload{width}(1, (const {space} {element} *)in_{space} + 1), 0, "
        f"(global {element} *)(out + {slot * SLOT}));" for slot, (element, width, space) in enumerate(LOADED))
    source = ("kernel void k(global const uchar *in, constant uchar *in_constant, global uchar *out) {"
              f"{MEMORY}{calls}}}")
    data, out = random_bytes(384), np.zeros((len(LOADED), SLOT), np.uint8)
    _, _, out = run(source, [data, data, out])
    for row, (element, width, space) in zip(out, LOADED, strict=True):
        size = np.dtype(DTYPES[element]).itemsize
        expected = data[(1 + width) * size:(1 + 2 * width) * size]
        assert row[:width * size].tolist() == expected.tolist(), (element, width, space)


STORED = [(element, width, space) for element in DTYPES for width in WIDTHS for space in SPACES]


@pytest.mark.parametrize("run", RUNS)
def test_vector_stores(run: Run) -> None:
    """The elements beside them stay as they were."""
    calls = []
    for slot, (element, width, space) in enumerate(STORED):
        base = f"({space} {element} *)" + {"global": f"(work + {slot * SLOT})", "local": "shared", "private": "own",
                                           "generic": "own"}[space]
        calls.append(f"""{{
            {space} {element} *p = {base}; global {element} *o = (global {element} *)(out + {slot * SLOT});
            p[0] = p[{width + 1}] = 77;
            vstore{width}(vload{width}(0, (global const {element} *)in), 0, p + 1);
            vstore{width}(vload{width}(0, p + 1), 0, o + 1); o[0] = p[0]; o[{width + 1}] = p[{width + 1}]; }}""")
    source = ("kernel void k(global const uchar *in, global uchar *work, global uchar *out) {"
              f"local long16 shared[3]; long16 own[3]; {' '.join(calls)} }}")
    data, out = random_bytes(SLOT), np.zeros((len(STORED), SLOT), np.uint8)
    _, _, out = run(source, [data, np.zeros_like(out), out])
    for row, (element, width, space) in zip(out, STORED, strict=True):
        dtype = np.dtype(DTYPES[element])
        guard = np.array([77], dtype).tobytes()
        expected = guard + data[:width * dtype.itemsize].tobytes() + guard
        assert row[:len(expected)].tobytes() == expected, (element, width, space)


# ------------------------------------------------------------------ half in memory

MODES = ("", "_rte", "_rtz", "_rtp", "_rtn")
SPECIAL = [0.0, -0.0, np.inf, -np.inf, 65504.0, 65519.0, 65520.0, 65536.0, -65519.99, -1e30, 6e-8, 2.9e-8, -3e-8, 1e-30,
           6.1e-5, 1 + 2**-11, 1 + 3 * 2**-11, 2049.0, 2051.0, -2049.5]


def half_of(values: np.ndarray, mode: str) -> np.ndarray:
    """Floating-point numbers to float16 in one of the rounding modes, from numpy's rounding to nearest."""
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float16)
        wide = nearest.astype(np.float64)
        below = np.where(wide > values, np.nextafter(nearest, np.float16(-np.inf)), nearest)
        above = np.where(wide < values, np.nextafter(nearest, np.float16(np.inf)), nearest)
    toward_zero = np.where(values < 0, above, below)
    return {"": nearest, "_rte": nearest, "_rtn": below, "_rtp": above, "_rtz": toward_zero}[mode].astype(np.float16)


def halves(element: str) -> np.ndarray:
    """48 numbers that are hard to round."""
    random = np.random.default_rng(8)
    return np.concatenate([SPECIAL, random.standard_normal(28) * 10.0 ** random.integers(-6, 5, 28)]).astype(
        DTYPES[element])


@pytest.mark.thinned(2)
@pytest.mark.parametrize("element", ["float", "double"])
@pytest.mark.parametrize("run", RUNS)
def test_stores_of_half(run: Run, element: str) -> None:
    """All 48 numbers with each function; the forms without a mode into each address space."""
    calls, expected = [], []
    values = halves(element)
    for mode, width, aligned, space in itertools.product(MODES, (1, *WIDTHS), (False, True), SPACES):
        if (aligned and width == 1) or (mode and space != "global"):
            continue
        name = f"vstore{'a' * aligned}_half{width if width > 1 else ''}{mode}"
        step = 4 if aligned and width == 3 else width
        base = {"global": f"out + {64 * len(calls)}", "local": "shared", "private": "own", "generic": "own"}[space]
        load = f"vload{width}(i, in)" if width > 1 else "in[i]"
        calls.append(f"""{{ {space} half *p = ({space} half *)({base});
            for (int i = 0; i < {48 // width}; ++i) {name}({load}, i, p);
            for (int i = 0; i < 64; ++i) out[{64 * len(calls)} + i] = as_ushort(p[i]); }}""")
        row = np.zeros((48 // width, step), np.float16)
        row[:, :width] = half_of(values, mode).reshape(-1, width)
        expected.append((name, space, width, row))
    source = (f"kernel void k(global const {element} *in, global ushort *out) {{"
              f"local long16 shared[1]; long16 own[1] = {{0}}; shared[0] = 0; {' '.join(calls)} }}")
    _, out = run(source, [values, np.zeros((len(calls), 64), np.uint16)])
    for found, (name, space, width, row) in zip(out, expected, strict=True):
        written = found[:row.size].reshape(row.shape)[:, :width]
        assert written.tolist() == row.view(np.uint16)[:, :width].tolist(), (name, space)


@pytest.mark.parametrize("run", RUNS)
def test_loads_of_half(run: Run) -> None:
    calls, expected = [], []
    data = np.concatenate([half_of(halves("float"), ""), values_of("half", 144)])
    for width, aligned, space in itertools.product((1, *WIDTHS), (False, True), (*SPACES, "constant")):
        if aligned and width == 1:
            continue
        name = f"vload{'a' * aligned}_half{width if width > 1 else ''}"
        step = 4 if aligned and width == 3 else width
        store = f"vstore{width}" if width > 1 else "*"
        call = f"{name}(i, (const {space} half *)in_{space})"
        target = f"out + {64 * len(calls)}"
        statement = f"{store}({call}, i, {target});" if width > 1 else f"({target})[i] = {call};"
        calls.append(f"for (int i = 0; i < {48 // width}; ++i) {statement}")
        expected.append((name, space, data[:48 // width * step].reshape(-1, step)[:, :width].ravel()))
    source = ("kernel void k(global const uchar *in, constant uchar *in_constant, global float *out) {"
              f"{MEMORY}{' '.join(calls)} }}")
    raw = data.view(np.uint8)
    _, _, out = run(source, [raw, raw, np.zeros((len(calls), 64), np.float32)])
    for found, (name, space, row) in zip(out, expected, strict=True):
        np.testing.assert_array_equal(found[:48], row.astype(np.float32), err_msg=f"{name} {space}")


# ------------------------------------------------------------------ select, bitselect, shuffle


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("run", RUNS)
def test_select_and_bitselect(run: Run, element: str) -> None:
    """A scalar is chosen by a condition that is not zero, a component by its condition's highest bit."""
    size = np.dtype(DTYPES[element]).itemsize
    conditions = {1: ("char", "uchar"), 2: ("short", "ushort"), 4: ("int", "uint"), 8: ("long", "ulong")}[size]
    calls = []
    for width in (1, *WIDTHS):
        n = width if width > 1 else ""
        loads = [f"vload{n}(i, {name})" if n else f"{name}[i]" for name in "ab"]
        for test in (*conditions, None):
            if test is None:
                given = f"vload{n}(i, c)" if n else "c[i]"
                call = f"bitselect({', '.join(loads)}, as_{element}{n}({given}))"
            else:
                given = f"vload{n}(i, (global const {test} *)c)" if n else f"((global const {test} *)c)[i]"
                call = f"select({', '.join(loads)}, {given})"
            target = f"out + {48 * len(calls)}"
            store = f"vstore{n}({call}, i, {target});" if n else f"({target})[i] = {call};"
            calls.append(f"for (int i = 0; i < {48 // width}; ++i) {store}")
    source = (f"kernel void k(global const {element} *a, global const {element} *b, global const {conditions[0]} *c, "
              f"global {element} *out) {{ {' '.join(calls)} }}")
    a, b = values_of(element, 48), values_of(element, 48, 6)
    c = np.random.default_rng(7).integers(0, 256, 48 * size, np.uint8).view(DTYPES[conditions[0]])
    c[:4] = 0, 1, -1, 2
    *_, out = run(source, [a, b, c, np.zeros((len(calls), 48), a.dtype)])
    bitwise = (bits(a) & ~bits(c) | bits(b) & bits(c)).view(a.dtype)
    for row, (width, what) in zip(out, itertools.product((1, *WIDTHS), ("signed", "unsigned", "bits")), strict=True):
        chosen = np.where(c != 0 if width == 1 else c < 0, b, a)
        expected = bitwise if what == "bits" else chosen
        assert bits(row).tolist() == bits(expected).tolist(), (width, what)


@pytest.mark.parametrize("run", RUNS)
def test_bits_as_the_size_of_something(run: Run) -> None:
    source = """kernel void k(global const double *in, global long *out) {
        out[0] = as_size_t(in[0]); out[1] = as_ptrdiff_t(in[1]);
        out[2] = as_intptr_t((uint2)(1, 2)); out[3] = as_uintptr_t((char8)(-1)); }"""
    data = np.array([1.5, -3.25])
    _, out = run(source, [data, np.zeros(4, np.int64)])
    assert out.tolist() == [*data.view(np.int64).tolist(), 1 | 2 << 32, -1]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("run", RUNS)
def test_shuffles_of_every_length(run: Run, element: str) -> None:
    """The mask's bits beyond those that count are ignored. The driver's library lacks the functions for half."""
    if run is on_a_driver and element == "half":
        pytest.skip("the driver has no shuffle of half")
    size = np.dtype(DTYPES[element]).itemsize
    mask = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size]
    lengths = list(itertools.product((2, 4, 8, 16), repeat=2))
    calls = "".join(
        f"vstore{n}(shuffle(vload{m}(0, a), vload{n}(0, c)), 0, out + {32 * row});"
        f"vstore{n}(shuffle2(vload{m}(0, a), vload{m}(0, b), vload{n}(0, c)), 0, out + {32 * row + 16});"
        for row, (m, n) in enumerate(lengths))
    source = (f"kernel void k(global const {element} *a, global const {element} *b, global const {mask} *c, "
              f"global {element} *out) {{ {calls} }}")
    a, b = values_of(element, 16), values_of(element, 16, 6)
    c = np.random.default_rng(7).integers(0, 256, 16).astype(DTYPES[mask])
    *_, out = run(source, [a, b, c, np.zeros((len(lengths), 2, 16), a.dtype)])
    for (one, two), (m, n) in zip(out, lengths, strict=True):
        assert one[:n].tolist() == a[:m][c[:n] % m].tolist(), (m, n)
        assert two[:n].tolist() == np.concatenate([a[:m], b[:m]])[c[:n] % (2 * m)].tolist(), (m, n)
