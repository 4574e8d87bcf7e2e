"""The compiler's own functions: values against Python and clang's constants, promises, messages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from coopmat.diagnostics import Message, UndefinedBehavior
from coopmat.opencl import compile_source, is_builtin_function
from coopmat.opencl.builtins import compiler_calls
from coopmat.opencl.messages import builtins as messages
from coopmat.spirv.grammar import Op
from tests.kit.opencl.reports import reports

VALUES = np.array([1, 2, 3, 0x80, 0xFF00, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xDEADBEEF], np.uint32)
LONG_VALUES = np.concatenate([VALUES.astype(np.uint64), np.array([1 << 32, 1 << 63, 2**64 - 1, 0x0123456789ABCDEF],
                                                                 np.uint64)])


def _swap(value: int, bits: int) -> int:
    return int.from_bytes(value.to_bytes(bits // 8, "little"), "big")


def _redundant(value: int, bits: int) -> int:
    text = f"{value:0{bits}b}"
    return bits - len(text.lstrip(text[0])) - 1


BIT_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "popcount": lambda value, bits: bin(value).count("1"),
    "parity": lambda value, bits: bin(value).count("1") % 2,
    "ctz": lambda value, bits: f"{value:b}"[::-1].index("1"),
    "clz": lambda value, bits: bits - len(f"{value:b}"),
    "ffs": lambda value, bits: f"{value:b}"[::-1].index("1") + 1,
    "clrsb": _redundant,
}


def run(expression: str, type_: str, values: np.ndarray) -> np.ndarray:
    """``expression`` of each of the values, called x; the constants among them are folded where they can be."""
    program = cm.build(f"kernel void k(global long *o, global const {type_} *in) "
                       f"{{ size_t i = get_global_id(0); {type_} x = in[i]; o[i] = {expression}; }}")
    out = np.zeros(len(values), np.int64)
    cm.Queue("sim:generic").enqueue(program.kernel("k"), len(values), len(values), out, values).wait()
    return out


@pytest.mark.parametrize("name", BIT_FUNCTIONS)
@pytest.mark.parametrize(("suffix", "type_", "values"), [("", "uint", VALUES), ("l", "ulong", LONG_VALUES),
                                                         ("ll", "ulong", LONG_VALUES)])
def test_bit_functions(name: str, suffix: str, type_: str, values: np.ndarray) -> None:
    bits = values.dtype.itemsize * 8
    expected = [BIT_FUNCTIONS[name](int(value), bits) for value in values]
    np.testing.assert_array_equal(run(f"__builtin_{name}{suffix}(x)", type_, values), expected)


def test_zero_has_no_set_bit() -> None:
    zero = np.zeros(1, np.uint32)
    assert run("__builtin_ffs(x) + __builtin_popcount(x) * 100 + __builtin_clrsb(x) * 1000", "uint", zero) == [31000]


@pytest.mark.parametrize(("bits", "type_"), [(16, "ushort"), (32, "uint"), (64, "ulong")])
def test_bytes_are_swapped(bits: int, type_: str) -> None:
    values = LONG_VALUES.astype(f"u{bits // 8}")
    expected = np.array([_swap(int(value), bits) for value in values], np.uint64).view(np.int64)
    np.testing.assert_array_equal(run(f"__builtin_bswap{bits}(x)", type_, values), expected)


@pytest.mark.parametrize(("bits", "type_"), [(8, "uchar"), (16, "ushort"), (32, "uint"), (64, "ulong")])
def test_rotations(bits: int, type_: str) -> None:
    values = LONG_VALUES.astype(f"u{bits // 8}")
    left = [(int(v) << 3 | int(v) >> (bits - 3)) % (1 << bits) for v in values]
    right = [(int(v) >> 3 | int(v) << (bits - 3)) % (1 << bits) for v in values]
    for name, expected in (("left", left), ("right", right)):
        np.testing.assert_array_equal(run(f"__builtin_rotate{name}{bits}(x, 3)", type_, values),
                                      np.array(expected, np.uint64).view(np.int64))


@pytest.mark.oracle("clang")
def test_folded_values_are_clangs(tmp_path: Path) -> None:
    """Both refuse a false _Static_assert."""
    lines = []
    for name, function in BIT_FUNCTIONS.items():
        lines += [f"_Static_assert(__builtin_{name}({value}u) == {function(int(value), 32)}, \"\");"
                  for value in VALUES]
        lines += [f"_Static_assert(__builtin_{name}l({value}ul) == {function(int(value), 64)}, \"\");"
                  for value in LONG_VALUES]
    lines += [f"_Static_assert(__builtin_bswap32({value}u) == {_swap(int(value), 32)}u, \"\");" for value in VALUES]
    lines += ["struct S { char c; int a[4]; struct { long x, y; } in[2]; };"]
    lines += [f"_Static_assert(__builtin_offsetof(struct S, {path}) == {offset}, \"\");" for path, offset in
              (("a", 4), ("a[3]", 16), ("in[1].y", 48), ("in", 24))]
    lines += [f'_Static_assert({test}, "");' for test in (
        "__builtin_types_compatible_p(int, signed) && !__builtin_types_compatible_p(int, long)",
        '__builtin_choose_expr(sizeof(int) == 4, 3, "a") == 3',
        '__builtin_constant_p(1 + 2) && __builtin_constant_p(1.5f) && __builtin_constant_p("a")',
        "_Generic(1u, int: 0, unsigned: 1, default: 2) && _Generic((char)1, int: 0, char: 1)")]
    source = "\n".join(lines) + "\n"
    compile_source(source)
    file = tmp_path / "folded.cl"
    file.write_text(source, encoding="utf-8")
    result = subprocess.run([sys.executable, "-m", "ziglang", "clang", "-cc1", "-x", "cl", "-cl-std=CL3.0", "-triple",
                             "spirv64", "-fsyntax-only", str(file)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]


def test_mathematical_functions() -> None:
    values = np.array([0.25, 1.5, 2, -3.75, 100], np.float32)
    expected = np.abs(values) + np.floor(values) + np.sqrt(np.float32(4)) + values
    actual = run("1000 * (__builtin_fabsf(x) + __builtin_floorf(x) + __builtin_sqrtf(4) + __builtin_fmaf(x, 1, 0))",
                 "float", values)
    np.testing.assert_array_equal(actual, (1000 * expected).astype(np.int64))
    tests = "__builtin_isnan(x) + 2 * __builtin_isinf(x) + 4 * __builtin_isfinite(x) + 8 * __builtin_signbitf(x)"
    special = np.array([np.nan, np.inf, -np.inf, -1, 0], np.float32)
    np.testing.assert_array_equal(run(tests, "float", special), [1, 2, 10, 12, 4])
    constants = """__builtin_isinf(__builtin_inf())+__builtin_isnan(__builtin_nanf("")) + isinf(__builtin_huge_val())"""
    assert run(constants, "float", special)[0] == 3


def test_vectors() -> None:
    source = """
    kernel void k(global int4 *o, global const float4 *in)
    {
        int4 a = __builtin_convertvector(in[0], int4), b = (int4)(10, 11, 12, 13);
        o[0] = __builtin_shufflevector(a, b, 0, 5, 2, 7);
        o[1] = __builtin_shufflevector(a, b, 3, 2, 1, -1);
        o[2] = __builtin_shufflevector(a, b, 4, 4, 6, 7);
        o[3] = __builtin_shufflevector(a, (int4)(3, 2, 1, 0));
        o[4] = (int4)(__builtin_shufflevector(a, b, 1, 6), __builtin_astype(1.0f, int),
                       __builtin_astype(in, long) != 0);
        o[5] = __builtin_nontemporal_load(&o[4]).yxwz;
        __builtin_nontemporal_store(o[5] + 1, &o[6]);
    }"""
    out = np.zeros((7, 4), np.int32)
    cm.Queue("sim:generic").enqueue(cm.build(source).kernel("k"), 1, 1, out,
                                    np.array([0.5, 1.5, 2.5, -3.5], np.float32)).wait()
    one = int(np.float32(1).view(np.int32))
    out[1, 3] = 0  # index -1: may be anything
    assert out.tolist() == [[0, 11, 2, 13], [-3, 2, 1, 0], [10, 10, 12, 13], [-3, 2, 1, 0], [1, 12, one, 1],
                            [12, 1, 1, one], [13, 2, 2, one + 1]]


# ------------------------------------------------------------------ promises


def execute(body: str, *arguments: object) -> None:
    program = cm.build(f"kernel void k(global int *o, int n) {{\n{body}\n}}")
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, *arguments).wait()


PROMISES = {
    "__builtin_assume(n == 3);": "an assumption of the kernel is false",
    "__builtin_assume(o[0] != n);": "an assumption of the kernel is false",
    "if (n != 3) __builtin_unreachable();": "code that must not be reached",
    "if (n != 3) __builtin_trap();": "code that must not be reached",
    "o[0] = n == 3 ? 1 : (__builtin_unreachable(), 2);": "code that must not be reached",
    "switch (n) { case 3: break; default: __builtin_unreachable(); }": "code that must not be reached",
    "o = __builtin_assume_aligned(o + n, 8, 12);": "an assumption of the kernel is false",
}


@pytest.mark.parametrize("body", PROMISES)
def test_the_simulator_checks_promises(body: str) -> None:
    memory = np.arange(4, 8, dtype=np.int32)
    execute(body, memory.copy(), 3)
    with pytest.raises(UndefinedBehavior, match=PROMISES[body]) as caught:
        execute(body, memory.copy(), 4)
    assert ":2" in str(caught.value)  # the line of the promise


def test_an_assumption_has_no_effects() -> None:
    source = "int g(int x) { return x; } kernel void k(global int *o) { __builtin_assume(%s); }"
    for effect in ("o[0]++", "g(1)", "(o[0] = 1)", "atomic_inc(o) > 0"):
        assert messages.ASSUMPTION_DROPPED.code in [warning.code for warning in compile_source(source % effect)[1]]
    program = cm.build(source % "o[0]++")
    assert not any(item.opcode == Op.AssumeTrueKHR for item in program.module.instructions)
    assert any(item.opcode == Op.AssumeTrueKHR for item in cm.build(source % "o[0] > 1").module.instructions)


def test_llvm_gets_its_own_assumption() -> None:
    program = cm.build("kernel void k(global int *o) { __builtin_assume(o[0] > 1); }")
    assert "call void @llvm.assume(i1 " in program.llvm_ir


def test_an_aligned_pointer_goes_wherever_its_pointer_goes() -> None:
    execute("""global int *p = __builtin_assume_aligned(o, 16); p[1] = 5;
               const global float *q = (const global float *)__builtin_assume_aligned(p + 4, 16);
               int a[4] = {7}; private int *r = __builtin_assume_aligned(a, 4); p[2] = r[0] + (q == 0);""",
            out := np.zeros(4, np.int32), 0)
    assert out.tolist() == [0, 5, 7, 0]


# ------------------------------------------------------------------ messages


REPORTS: list[tuple[str, str]] = [
    ("void f(int *p) { __builtin_assume((*p)++); }",
     "1:35: warning: the argument to '__builtin_assume' has side effects that will be discarded [CM3740]"),
    ("void f(int *p) { __builtin_assume_aligned(p, 12); }",
     "1:46: error: requested alignment 12 is not a power of 2 [CM3741]"),
    ("void f(int *p, int n) { __builtin_assume_aligned(p, n); }",
     "1:53: error: alignment argument of '__builtin_assume_aligned' must be an integer constant expression [CM3707]"),
    ("void f(int p) { __builtin_assume_aligned(p, 16); }",
     "1:42: error: '__builtin_assume_aligned' takes a pointer, found 'int' [CM3742]"),
    ("void f(int p) { __builtin_expect_with_probability(p, 1, 2.0); }",
     "1:57: error: the probability of '__builtin_expect_with_probability' must be a constant in the range [0.0, 1.0] "
     "[CM3743]"),
    ("void f(float x) { x = __builtin_nanf(0); }", "1:38: error: '__builtin_nanf' takes a string literal [CM3744]"),
    ("void f(int i) { __builtin_shufflevector(i, i, 0, 1); }",
     "1:17: error: first two arguments to '__builtin_shufflevector' must be vectors [CM3745]"),
    ("void f(int4 a, uint4 b) { __builtin_shufflevector(a, b, 0, 1); }",
     "1:27: error: first two arguments to '__builtin_shufflevector' must have the same type, found 'int4' and 'uint4' "
     "[CM3746]"),
    ("void f(int4 a) { __builtin_shufflevector(a, a, 0, 8); }",
     "1:51: error: index 8 for __builtin_shufflevector must be -1 or less than the total number of vector elements (8) "
     "[CM3747]"),
    ("void f(int4 a) { __builtin_shufflevector(a, a, 0, 1, 2, 3, 4); }",
     "1:18: error: __builtin_shufflevector with 5 indices gives no vector of OpenCL C; expected 2, 3, 4, 8 or 16 "
     "indices [CM3748]"),
    ("int a = __builtin_offsetof(int, a);", "1:33: error: offsetof requires struct or union, 'int' invalid [CM3749]"),
    ("struct S { int a; }; int b = __builtin_offsetof(struct S, a[1]);",
     "1:61: error: offsetof requires array type, 'int' invalid [CM3778]"),
    ("struct S { int alpha; }; int b = __builtin_offsetof(struct S, alhpa);",
     "1:63: error: no member named 'alhpa' in 'struct S'; did you mean 'alpha'? [CM3237]"),
    ("void f(void) { __builtin_memcpy(0, 0, 0); }",
     "1:16: error: the compiler's built-in function '__builtin_memcpy' is not supported [CM3779]"),
    ("void f(void) { __builtin_assume(); }",
     "1:33: error: too few arguments to '__builtin_assume': expected 1, have 0 [CM3703]"),
    ("void f(int i) { __builtin_unreachable(i); }",
     "1:39: error: too many arguments to '__builtin_unreachable': expected 0, have 1 [CM3704]"),
    ("int a = __builtin_choose_expr(x, 1, 2);", "1:31: error: use of undeclared identifier 'x' [CM3101]"),
    ("void f(int i) { __builtin_choose_expr(i, 1, 2); }",
     "1:39: error: first argument of '__builtin_choose_expr' must be an integer constant expression [CM3707]"),
    ("void f(int4 v) { __builtin_convertvector(v, float2); }",
     "1:18: error: cannot convert 'int4' to 'float2': expected a scalar or vector with as many components [CM3115]"),
]


@pytest.mark.parametrize(("source", "expected"), REPORTS)
def test_reports(source: str, expected: str) -> None:
    assert reports(source) == [expected]


def test_every_message_is_tested() -> None:
    codes = {value.code for value in vars(messages).values() if isinstance(value, Message)}
    rows = {code for code in codes if "CM3740" <= code < "CM3770"}
    assert {code for code in rows if not any(code in text for _, text in REPORTS)} == set()


def test_has_builtin_tells_the_truth() -> None:
    for name in (*compiler_calls.NAMES, "__builtin_popcount", "__builtin_expect", "__builtin_fabsf"):
        assert is_builtin_function(name)
    assert not is_builtin_function("__builtin_memcpy")
    source = """
    #if __has_builtin(__builtin_assume) && __has_builtin(__builtin_astype) && !__has_builtin(__builtin_memcpy) \\
        && __has_attribute(opencl_unroll_hint) && __has_attribute(__aligned__) && !__has_attribute(cleanup) \\
        && __has_extension(c_generic_selections) && !__has_feature(c_generic_selections) \\
        && __has_feature(attribute_ext_vector_type)
    int right;
    #endif"""
    assert [variable.name for variable in compile_source(source)[0].globals] == ["right"]
