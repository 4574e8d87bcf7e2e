"""The pass ``opencl-std``: no instruction of OpenCL.std is left, modules are valid, and results are those of the CPU's
own functions where these are exact, and otherwise within the bounds of OpenCL C's full profile.

Of the sweeps a few functions are in the short form.
"""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.spirv import Module
from coopmat.spirv.grammar import OPENCL_STD, Op
from coopmat.spirv.transform.opencl_std import library, without_opencl_std
from coopmat.spirv.transform.to_vulkan.instructions.mathematics import KEPT
from tests.kit.targets.error_bounds import HALF, SINGLE
from tests.kit.targets.real_functions import (
    BINARY,
    DTYPES,
    UNARY,
    WITH_INTEGER,
    errors_of,
    expected,
    given_for,
)

SIZE = 256
DEVICE = cm.device("cpu")
INTEGERS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
            "uint": np.uint32, "long": np.int64, "ulong": np.uint64}


def plain(source: str, kept: frozenset[str] = frozenset()) -> Module:
    """The module of a source after the pass, which is valid and has nothing of OpenCL.std but what is kept."""
    module = without_opencl_std(Module.from_bytes(cm.build(source).spirv), kept)
    assert not [one for one in module.validate() if one.severity == "error"]
    names = {number: name for name, number in OPENCL_STD.items()}
    left = {names[row.words[1]] for row in module.of_opcode(Op.ExtInst)}
    assert left <= {one.partition(".")[0] for one in kept}
    return module


def run(program: str | bytes, size: int, *arguments: np.ndarray) -> None:
    """A launch on the CPU."""
    cm.Queue(DEVICE).enqueue(cm.build(program, (), DEVICE).kernel("k"), size, 32, *arguments).wait()


DRIVERS = frozenset(name for name in KEPT if not name.startswith(("native_", "half_")))
"""What stays where it is not what is tested: kernels of nothing but core instructions take LLVM long."""


def both(source: str, given: list[np.ndarray], out: np.ndarray,
         kept: frozenset[str] = frozenset()) -> tuple[np.ndarray, np.ndarray]:
    """What a kernel writes after the pass, and before it."""
    ours, theirs = out.copy(), out.copy()
    run(plain(source, kept).to_bytes(), SIZE, ours, *given)
    run(source, SIZE, theirs, *given)
    return ours, theirs


def table(calls: list[str], kind: str, result: str, given: dict[str, str]) -> str:
    """A kernel that writes the results of calls of a, b and c one behind the other."""
    parameters = ", ".join(f"global const {one} *{name}s" for name, one in given.items())
    reads = " ".join(f"{one} {name} = {name}s[i];" for name, one in given.items())
    lines = " ".join(f"y[{place * SIZE} + i] = {call};" for place, call in enumerate(calls))
    return f"kernel void k(global {result} *y, {parameters}) {{ size_t i = get_global_id(0); {reads} {lines} }}"


def bits(values: np.ndarray) -> np.ndarray:
    """The bits, those of all NaNs alike."""
    if values.dtype.kind != "f":
        return values
    return np.where(np.isnan(values), np.nan, values).astype(values.dtype).view(f"i{values.dtype.itemsize}")


def assert_same(calls: list[str], ours: np.ndarray, theirs: np.ndarray) -> None:
    for call, one, other in zip(calls, ours.reshape(len(calls), -1), theirs.reshape(len(calls), -1), strict=True):
        np.testing.assert_array_equal(bits(one), bits(other), call)


# ------------------------------------------------------------------------------ integers

OF_INTEGERS = ["abs(a)", "abs_diff(a, b)", "add_sat(a, b)", "sub_sat(a, b)", "hadd(a, b)", "rhadd(a, b)",
               "clamp(a, min(b, c), max(b, c))", "clz(a)", "ctz(a)", "clz((T)0)", "ctz((T)0)", "mad_hi(a, b, c)",
               "mad_sat(a, b, c)", "mad_sat((T)(a >> 1), (T)2, c)", "max(a, b)", "min(a, b)", "mul_hi(a, b)",
               "rotate(a, b)", "popcount(a)", "bitselect(a, b, c)"]
CHOOSING = ["select(a, b, c)", "select(a, b, as_U((T)(c & (T)1)))"]


@pytest.mark.parametrize("width", [1, 3, 16])
@pytest.mark.parametrize("kind", INTEGERS)
def test_integers(kind: str, width: int, long_form: bool) -> None:
    if width > 1 and kind not in ("char", "uint", "long"):
        pytest.skip("vectors are tested of three types")
    if not long_form and (kind, width) in (("char", 16), ("uint", 3), ("long", 16)):
        pytest.skip("the long form of a sweep: run with --long")
    dtype = INTEGERS[kind]
    rng = np.random.default_rng(11)
    limits = np.iinfo(dtype)
    vector = f"{kind}{width}" if width > 1 else kind
    room = 4 if width == 3 else width
    given = [rng.integers(limits.min, limits.max, SIZE * room, dtype, endpoint=True) for _ in range(3)]
    given[1][::5] = given[0][::5]
    given[2][::7] = 0
    calls = [*OF_INTEGERS, *CHOOSING]
    if kind in ("int", "uint"):
        calls += ["mul24(a << 8 >> 8, b << 8 >> 8)", "mad24(a << 8 >> 8, b << 8 >> 8, c)"]
    unsigned = vector if vector.startswith("u") else f"u{vector}"
    calls = [f"as_{vector}({call})" for call in calls]
    source = f"typedef {vector} T; " + table(
        calls, kind, vector, dict.fromkeys("abc", vector)).replace("as_U", f"as_{unsigned}")
    ours, theirs = both(source, given, np.zeros(len(calls) * SIZE * room, dtype))
    assert_same(calls, ours, theirs)


def test_upsample() -> None:
    rng = np.random.default_rng(12)
    for narrow, wide in (("char", "short"), ("short", "int"), ("int", "long")):
        high = rng.integers(-100, 100, SIZE).astype(INTEGERS[narrow])
        low = rng.integers(0, 200, SIZE).astype(INTEGERS[f"u{narrow}"])
        calls = ["upsample(a, b)", f"as_{wide}(upsample(as_u{narrow}(a), b))"]
        source = table(calls, narrow, wide, {"a": narrow, "b": f"u{narrow}"})
        assert_same(calls, *both(source, [high, low], np.zeros(2 * SIZE, INTEGERS[wide])))


# ----------------------------------------------------------------------- exact functions

EXACT = ["fabs(a)", "copysign(a, b)", "ceil(a)", "floor(a)", "rint(a)", "round(a)", "trunc(a)", "fdim(a, b)",
         "fmod(a, b)", "remainder(a, b)", "fmin(a, b) + (T)0", "fmax(a, b) + (T)0", "maxmag(a, b) + (T)0",
         "minmag(a, b) + (T)0", "nextafter(a, b)", "sqrt(a)", "logb(a)",
         "ldexp(a, n)", "step(a, b)", "sign(a)", "bitselect(a, b, c)", "ldexp(a, n / 16)",
         "nan(as_N(c))", "(T)ilogb(a)"]


def numbers(kind: str, count: int, seed: int) -> np.ndarray:
    """Random bits, numbers of ordinary size, and special ones."""
    dtype = DTYPES[kind]
    rng = np.random.default_rng(seed)
    random = np.frombuffer(rng.bytes(count // 2 * np.dtype(dtype).itemsize), dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 1.5, -2.5, 3, np.finfo(dtype).tiny,
                        np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype)
    usual = np.concatenate([(rng.standard_normal(count - count // 2 - 64) * 4).astype(dtype), np.resize(special, 64)])
    found = rng.permutation(np.concatenate([random, usual]))
    return np.where(np.isnan(found), dtype(np.nan), found).astype(dtype)


@pytest.mark.parametrize("kind", DTYPES)
def test_exact_functions(kind: str) -> None:
    """All but the fused multiply-add without the driver's own."""
    given = [numbers(kind, SIZE, seed) for seed in (1, 2, 3)]
    given[1][::9] = given[0][::9]
    rng = np.random.default_rng(4)
    n = rng.integers(-300, 300, SIZE).astype(np.int32)
    bits_of = {"half": "ushort", "float": "uint", "double": "ulong"}[kind]
    source = f"typedef {kind} T; " + table(EXACT, kind, kind, {**dict.fromkeys("abc", kind), "n": "int"}).replace(
        "as_N", f"as_{bits_of}")
    ours, theirs = both(source, [*given, n], np.zeros(len(EXACT) * SIZE, DTYPES[kind]), frozenset({"fma"}))
    same = [one for one, call in enumerate(EXACT) if call == "nextafter(a, b)"]
    for place in same:  # of equal numbers either is right
        rows = slice(place * SIZE, (place + 1) * SIZE)
        for values in (ours, theirs):
            values[rows] = np.where(given[0] == given[1], 0, values[rows])
    assert_same(EXACT, ours, theirs)


@pytest.mark.parametrize("kind", ["half", "float", pytest.param("double", marks=pytest.mark.slow)])
def test_fused_multiply_add(kind: str) -> None:
    """In integers, for drivers that round the product."""
    given = [numbers(kind, SIZE, seed) for seed in (14, 15, 16)]
    with np.errstate(all="ignore"):
        given[2][::2] = (-given[0] * given[1])[::2]
    source = table(["fma(a, b, c)"], kind, kind, dict.fromkeys("abc", kind))
    assert_same(["fma"], *both(source, given, np.zeros(SIZE, DTYPES[kind])))


PAIRS = {"fract": "T", "modf": "T", "frexp": "int", "remquo": "int", "lgamma_r": "int", "sincos": "T"}


@pytest.mark.parametrize(("kind", "memory"), [("half", "private"), ("float", "global"), ("double", "local"),
                                              ("float", "generic")])
def test_second_results(kind: str, memory: str) -> None:
    """Through pointers to every memory."""
    given = [numbers(kind, SIZE, seed) for seed in (5, 6)]
    lines = []
    for place, (name, second) in enumerate(PAIRS.items()):
        operands = "a, b" if name == "remquo" else "a"
        at = f"(z + {place * SIZE} + i)"
        pointer = {"private": "&p", "global": f"(global S *){at}", "local": "room + get_local_id(0)",
                   "generic": f"(S *){at}"}[memory].replace("S", second)
        rest = {"private": f"{second} p;", "local": f"local {second} room[32];"}.get(memory, "")
        value = {"private": "p", "local": "room[get_local_id(0)]"}.get(
            memory, f"*({'global ' if memory == 'global' else ''}{second} *){at}")
        lines.append(f"y[{2 * place * SIZE} + i] = {name}({operands}, {pointer}); "
                     f"y[{(2 * place + 1) * SIZE} + i] = (T){value};".replace("y[", f"{rest} y[", 1))
    body = " ".join(f"{{ {line} }}" for line in lines) if memory != "local" else " ".join(
        line.replace("room", f"room{place}") for place, line in enumerate(lines))
    source = (f"typedef {kind} T; kernel void k(global T *y, global T *z, global const T *as, global const T *bs) "
              f"{{ size_t i = get_global_id(0); T a = as[i], b = bs[i]; {body} }}")
    out, room = np.zeros(2 * len(PAIRS) * SIZE, DTYPES[kind]), np.zeros(len(PAIRS) * SIZE * 2, DTYPES[kind])
    ours, theirs = both(source, [room, *given], out, DRIVERS)
    exact = ours.reshape(-1, SIZE)[:8], theirs.reshape(-1, SIZE)[:8]
    for one, other in zip(*exact, strict=True):
        np.testing.assert_array_equal(bits(one + DTYPES[kind](0)), bits(other + DTYPES[kind](0)))
    near = ours.reshape(-1, SIZE)[10:].astype(float), theirs.reshape(-1, SIZE)[10:].astype(float)
    np.testing.assert_allclose(*near, rtol={"half": 2e-3, "float": 1e-6, "double": 1e-13}[kind], atol=1e-6)


# -------------------------------------------------------------------------------- memory

ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")


@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 16])
def test_memory(width: int) -> None:
    n = "" if width == 1 else str(width)
    lines, place = [], 0
    for kind, rounding, aligned in product(("float", "double"), ROUNDINGS, ("", "a") if width > 1 else ("",)):
        lines.append(f"vstore{aligned}_half{n}{rounding}(convert_{kind}{n}(v), i, h + {place * SIZE * 16});")
        place += 1
    if width > 1:
        lines.append(f"vstore{n}(vload{n}(i, x) * (float)2, i, y);")
    back = f"vload_half{n}(i, h) + vload{'a' if width > 1 else ''}_half{n}(i, h + {SIZE * 16})"
    lines.append(f"float{n} w = {back}; z[i] = {'w' if width == 1 else 'w.s0 + w.s1'};")
    first = f"vload{n}(i, x)" if width > 1 else "x[i]"
    source = (f"kernel void k(global half *h, global const float *x, global float *y, global float *z) "
              f"{{ size_t i = get_global_id(0); float{n} v = {first}; {' '.join(lines)} }}")
    rng = np.random.default_rng(width)
    special = rng.choice([np.inf, np.nan, 1e-6, 3e-8, 65519.0, 65520.0, 1e9], SIZE * 16)
    x = np.where(rng.random(SIZE * 16) < 0.1, special,
                 rng.standard_normal(SIZE * 16) * rng.choice([1e-6, 1, 1e4], SIZE * 16)).astype(np.float32)
    found = []
    for program in (plain(source).to_bytes(), source):
        h, y, z = np.zeros(place * SIZE * 16, np.float16), np.zeros(SIZE * 16, np.float32), np.zeros(SIZE, np.float32)
        run(program, SIZE, h, x, y, z)
        found.append((h, y, z))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(bits(one), bits(other))


def test_shuffle_and_prefetch() -> None:
    calls = ["shuffle(a, m)", "shuffle2(a, b, m)", "shuffle(shuffle(a, convert_uint16(m.s0123012301230123)), m)"]
    source = table(calls, "float", "float4", {"a": "float4", "b": "float4", "m": "uint4"}).replace(
        "float4 a =", "prefetch(as + i, 1); float4 a =")
    rng = np.random.default_rng(8)
    given = [rng.standard_normal(4 * SIZE).astype(np.float32) for _ in range(2)]
    mask = rng.integers(0, 1 << 32, 4 * SIZE, np.uint32)
    assert_same(calls, *both(source, [*given, mask], np.zeros(len(calls) * SIZE * 4, np.float32)))


# -------------------------------------------------------------------------------- bounds

GEOMETRY = ["length(a)", "distance(a, b)", "normalize(a).s0", "cross(a, b).s1 * 0 + length(b)", "fast_length(a)",
            "fast_normalize(b).s1", "fast_distance(a, b)"]
COMMON = ["mix(a, b, c)", "smoothstep((T)-1, (T)2, a)", "degrees(a)", "radians(a)", "clamp(a, (T)-1, (T)1)"]


@pytest.mark.parametrize("kind", DTYPES)
def test_geometry_and_common_functions(kind: str) -> None:
    dtype = DTYPES[kind]
    rng = np.random.default_rng(9)
    room = 4
    scale = {"half": [1, 100], "float": [1, 1e-30, 1e30], "double": [1, 1e-250, 1e250]}[kind]
    given = [np.repeat(rng.choice(scale, SIZE), room) * rng.uniform(0.5, 2, SIZE * room) for _ in range(3)]
    given = [one.astype(dtype) for one in given]
    calls = [call for call in GEOMETRY if kind == "float" or "fast" not in call]
    source = table(calls, kind, kind, {"a": f"{kind}3", "b": f"{kind}3"})
    ours, theirs = both(source, given[:2], np.zeros(len(calls) * SIZE, dtype), DRIVERS)
    np.testing.assert_allclose(ours, theirs, rtol=4 * float(np.finfo(dtype).eps))
    source = f"typedef {kind} T; " + table(COMMON, kind, kind, dict.fromkeys("abc", kind))
    small = [rng.uniform(-3, 3, SIZE).astype(dtype) for _ in range(3)]
    ours, theirs = both(source, small, np.zeros(len(COMMON) * SIZE, dtype), DRIVERS)
    np.testing.assert_allclose(ours, theirs, rtol=8 * float(np.finfo(dtype).eps), atol=8 * float(np.finfo(dtype).eps))


SHORT = {("float", "sin"), ("float", "pow"), ("float", "tgamma"), ("float", "erfc"), ("double", "cos"),
         ("double", "pow"), ("double", "log1p"), ("half", "exp"), ("float", "rootn"), ("double", "erf")}
COUNT = 100_000


@pytest.mark.parametrize(("kind", "name"), [
    pytest.param(kind, name, marks=() if (kind, name) in SHORT else pytest.mark.slow)
    for kind in DTYPES for name in (*UNARY, *BINARY, *WITH_INTEGER)])
def test_bounds(kind: str, name: str) -> None:
    """With the instructions that Vulkan's drivers have."""
    given = given_for(name, kind)
    types = ["int" if one.dtype.kind == "i" else kind for one in given]
    operands = dict(zip("abc", types, strict=False))
    source = table([f"{name}({', '.join(operands)})"], kind, kind, operands).replace("y[0 + i]", "y[i]")
    found = np.zeros(len(given[0]), DTYPES[kind])
    run(plain(source, KEPT).to_bytes(), len(found), found, *given)
    exact = expected(name, *given)
    error = errors_of(name, found, given, exact)
    worst = int(np.argmax(error))
    bound = HALF if kind == "half" else SINGLE[name]
    assert error[worst] <= bound, (error[worst], [one[worst] for one in given], found[worst], exact[worst])


# ------------------------------------------------------------------------- the pass itself


def test_vectors_are_computed_by_components() -> None:
    source = ("kernel void k(global float16 *y, global const float16 *x) { size_t i = get_global_id(0); "
              "y[i] = exp(x[i]) + pow(x[i], (float16)2); }")
    x = np.linspace(-2, 2, SIZE * 16, dtype=np.float32)
    y = np.zeros_like(x)
    run(plain(source, DRIVERS).to_bytes(), SIZE, y, x)
    np.testing.assert_allclose(y, np.exp(x) + x * x, rtol=1e-6)


def test_what_is_kept_stays() -> None:
    source = "kernel void k(global float *y, global double *z) { *y = exp(fma(*y, 2, floor(*y))); *z = fma(*z, 2, 1); }"
    module = plain(source, frozenset({"fma.f32", "floor"}))
    names = {number: name for name, number in OPENCL_STD.items()}
    left = [(names[row.words[1]], module.definition(row.type_id or 0).words[0]) for row in module.of_opcode(Op.ExtInst)]
    assert set(left) == {("fma", 32), ("floor", 32)}
    assert not any("LinkageAttributes" in line for line in module.to_text().splitlines())


def test_printf_stays() -> None:
    module = without_opencl_std(Module.from_bytes(cm.build('kernel void k(float x) { printf("%f", exp(x)); }').spirv))
    assert [row.words[1] for row in module.of_opcode(Op.ExtInst)] == [OPENCL_STD["printf"]]


def test_a_module_without_functions_is_the_same() -> None:
    module = Module.from_bytes(cm.build("kernel void k(global int *y) { *y = 1; }").spirv)
    assert without_opencl_std(module) is module


def test_modules_are_valid_for_spirv_tools(tmp_path: Path) -> None:
    tool = shutil.which("spirv-val")
    if tool is None:
        pytest.skip("there is no spirv-val: `make oracles` installs it")
    calls = [f"{name}(a{', b' if name in BINARY else ', n' if name in WITH_INTEGER else ''})"
             for name in (*UNARY, *BINARY, *WITH_INTEGER)]
    for kind in ("float", "double"):
        path = tmp_path / f"{kind}.spv"
        path.write_bytes(plain(table(calls, kind, kind, {"a": kind, "b": kind, "n": "int"})).to_bytes())
        done = subprocess.run([tool, "--target-env", "spv1.6", path], capture_output=True, text=True, check=False,
                              timeout=60)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_library_is_what_its_sources_make() -> None:
    pytest.importorskip("mpmath", reason="mpmath fits polynomials")
    from tools import opencl_std_library

    for name, precisions in opencl_std_library.FILES.items():
        for precision in precisions:
            made = opencl_std_library.single_functions(opencl_std_library.compiled(name, precision))
            for function, module in made.items():
                assert library.function(function).to_bytes() == module.to_bytes(), function
