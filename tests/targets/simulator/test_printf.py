"""printf in the simulator: order, divergence, limits, errors, and programs that other compilers made."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coopmat as cm
from coopmat.diagnostics import Error, OutOfBounds, SimulationError, UndefinedBehavior
from coopmat.targets.simulator import SimulatorOptions
from tests.kit.oracles import intel_runtime
from tests.kit.targets.short_kernels import module, run

Capture = pytest.CaptureFixture[str]


def launch(body: str, items: int = 4, local: int = 4, *arguments: object, parameters: str = "",
           options: SimulatorOptions | None = None) -> None:
    """Run the kernel with this body; warnings are turned off."""
    program = cm.build(f"kernel void k({parameters}) {{ {body} }}", options=("-w",))
    device = cm.device("sim:generic", options=options) if options is not None else "sim:generic"
    cm.Queue(device).enqueue(program.kernel("k"), items, local, *arguments).wait()


ID = "int i = get_global_id(0);"


# ------------------------------------------------------------------------------- order


def test_a_call_prints_in_the_order_of_work_groups_and_local_ids(capsys: Capture) -> None:
    launch(f'{ID} printf("%d.%d ", (int)get_group_id(0), (int)get_local_id(0)); printf("| ");', 6, 3)
    assert capsys.readouterr().out == "0.0 0.1 0.2 1.0 1.1 1.2 " + "| " * 6


def test_work_groups_of_several_sub_groups(capsys: Capture) -> None:
    launch(f'{ID} printf("%d ", i);', 120, 40)
    assert capsys.readouterr().out == "".join(f"{i} " for i in range(120))


def test_branches_print_one_after_the_other(capsys: Capture) -> None:
    launch(f'{ID} if (i & 1) printf("odd %d\\n", i); else printf("even %d\\n", i); printf("all %d\\n", i);')
    out = capsys.readouterr().out.splitlines()
    assert sorted(out[:4]) == ["even 0", "even 2", "odd 1", "odd 3"]
    assert [line for line in out if line.startswith("odd")] == ["odd 1", "odd 3"]
    assert out[4:] == [f"all {i}" for i in range(4)]


def test_loops_of_different_lengths(capsys: Capture) -> None:
    launch(f'{ID} for (int n = 0; n < i; ++n) printf("%d/%d ", i, n);')
    assert capsys.readouterr().out == "1/0 2/0 3/0 2/1 3/1 3/2 "


def test_a_format_that_differs_between_work_items(capsys: Capture) -> None:
    launch(f'{ID} printf(i & 1 ? "odd %d\\n" : "even %04d\\n", i);')
    assert capsys.readouterr().out == "even 0000\nodd 1\neven 0002\nodd 3\n"


def test_the_result_is_zero() -> None:
    out = np.full(4, 7, np.int32)
    launch(f'{ID} out[i] = printf("");', 4, 4, out, parameters="global int *out")
    assert not out.any()


# ------------------------------------------------------------------------------- values


def test_values_that_are_the_same_for_all(capsys: Capture) -> None:
    launch('printf("%d %.1f %v2hld %s %c;", n, x, (int2)(n, 3), "s", 65);', 2, 2, -5, 0.25, parameters="int n, float x")
    assert capsys.readouterr().out == "-5 0.2 -5,3 s A;" * 2


def test_every_kind_of_argument(capsys: Capture) -> None:
    """bfloat16, half, unsigned, integers of another width than the specifier's, pointers."""
    launch('half h = 0.5h; __bf16 b = 1.5f; long big = (1L << 32) + 7; '
           'printf("%g %g %u %lu %d %ld %x ", h, b, -1, -1, big, -2, (char)-1);'
           'printf("%d %v2d %lld %zu", (bool)3, (short2)(1, -1), big, big);', 1, 1)
    assert capsys.readouterr().out == "0.5 1.5 4294967295 4294967295 7 -2 ffffffff 1 1,-1 4294967303 4294967303"


@pytest.mark.parametrize(("declaration", "value", "expected"), [
    ("char text[] = \"ab\"; text[0] += i;", "text", "ab bb cb db "),
    ("local char text[4]; text[i] = i < 3 ? 'x' : 0; barrier(CLK_LOCAL_MEM_FENCE);", "text", "xxx " * 4),
    ("", "p + i", "hello ello llo lo "),
    ("", '&"work"[i]', "work ork rk k "),
])
def test_strings_from_any_memory(declaration: str, value: str, expected: str, capsys: Capture) -> None:
    launch(f'{ID} {declaration} printf("%s ", {value});', 4, 4, np.frombuffer(b"hello\0", np.int8),
           parameters="global const char *p")
    assert capsys.readouterr().out == expected


def test_precision_limits_what_is_read(capsys: Capture) -> None:
    launch('printf("%.3s %.5s %.0s|", p, p, p);', 1, 1, np.frombuffer(b"hello", np.int8),
           parameters="global const char *p")
    assert capsys.readouterr().out == "hel hello |"


def test_a_string_longer_than_what_is_searched_at_once(capsys: Capture) -> None:
    text = np.full(10_000, ord("y"), np.int8)
    text[-1] = 0
    launch('printf("%s", p);', 1, 1, text, parameters="global const char *p")
    assert capsys.readouterr().out == "y" * 9999


def test_a_format_in_a_buffer(capsys: Capture) -> None:
    launch("printf(p, 5);", 1, 1, np.frombuffer(b"<%d>\0", np.int8), parameters="constant char *p")
    assert capsys.readouterr().out == "<5>"


def test_vectors_pointers_and_constants_of_another_producer(capsys: Capture) -> None:
    """Pointers to arrays instead of characters, as LLVM's back end writes them."""
    text, word = "%d %5.2f %s|%v2d|%u%%\n\0", "ab\0"
    declarations = f"""
        %text = OpConstantComposite %a{len(text)}_i8 {" ".join(f"%i8_c{ord(letter)}" for letter in text)}
        %word = OpConstantComposite %a3_i8 {" ".join(f"%i8_c{ord(letter)}" for letter in word)}
        %format = OpVariable %c_a{len(text)}_i8 UniformConstant %text
        %name = OpVariable %c_a3_i8 UniformConstant %word
        %pair = OpConstantComposite %v2_i32 %i32_c7 %i32_cm8"""
    source = module("g_i32 a", """
        %p = OpPtrAccessChain %g_i32 %a %gx
        %v = OpLoad %i32 %p
        %f = OpConvertSToF %f64 %v
        %n = OpExtInst %i32 %std printf %format %v %f %name %pair %v""", declarations=declarations)
    run(source, [np.array([3, -1], np.int32)], 2, 2)
    assert capsys.readouterr().out == "3  3.00 ab|7,-8|3%\n-1 -1.00 ab|7,-8|4294967295%\n"


# ------------------------------------------------------------------------------- limits


def test_what_does_not_fit_is_dropped_whole(capsys: Capture) -> None:
    out = np.zeros(8, np.int32)
    launch(f'{ID} out[i] = printf("item %d\\n", i);', 8, 8, out, parameters="global int *out",
           options=SimulatorOptions(printf_limit=30))
    captured = capsys.readouterr()
    assert captured.out == "".join(f"item {i}\n" for i in range(4))
    assert out.tolist() == [0] * 4 + [-1] * 4
    assert captured.err == ("coopmat: kernel 'k' prints more than 30 bytes: 4 calls of printf dropped, which "
                            "returned -1 (the simulator's option printf_limit allows more)\n")


def test_after_the_limit_nothing_is_printed(capsys: Capture) -> None:
    """Shorter texts would fit, but what is shown is the beginning; the limit holds for one launch."""
    for _ in range(2):
        launch('printf("long text\\n"); printf("a");', 1, 1, options=SimulatorOptions(printf_limit=5))
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "2 calls of printf dropped" in captured.err


def test_exactly_the_limit(capsys: Capture) -> None:
    launch('printf("12345");', 1, 1, options=SimulatorOptions(printf_limit=5))
    assert capsys.readouterr() == ("12345", "")
    launch('printf("1");', 1, 1, options=SimulatorOptions(printf_limit=0))
    assert "a call of printf dropped" in capsys.readouterr().err


@pytest.mark.parametrize("call", ['"%999999999d", 1', '"%.999999999f", 1.0', '"%-999999999s", "a"', '"%.999999999x", 0',
                                  '"%500000d%500000d%500000d", 1, 2, 3', '"%s", p'])
def test_a_text_beyond_the_limit_is_not_made(call: str, capsys: Capture) -> None:
    launch(f'printf("before "); printf({call});', 1, 1, np.ones(1 << 22, np.int8), parameters="global const char *p")
    captured = capsys.readouterr()
    assert captured.out == "before "
    assert "prints more than 1048576 bytes: a call of printf dropped" in captured.err


def test_a_million_work_items_end_soon(capsys: Capture) -> None:
    out = np.zeros(1 << 20, np.int32)
    launch(f'{ID} out[i] = printf("item number %d of %d\\n", i, n);', 1 << 20, 256, 1 << 20, out,
           parameters="int n, global int *out")
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert len(captured.out) <= 1 << 20
    assert lines[-1] == f"item number {len(lines) - 1} of 1048576"
    assert (out == -1).sum() == (1 << 20) - len(lines)
    assert not out[:len(lines)].any()
    assert f"{(1 << 20) - len(lines)} calls of printf dropped" in captured.err


def test_empty_texts_end_as_well(capsys: Capture) -> None:
    launch('for (int i = 0; i < 100; ++i) printf("");', 1, 1, options=SimulatorOptions(printf_limit=10))
    assert "90 calls of printf dropped" in capsys.readouterr().err


# ------------------------------------------------------------------------------- errors


def test_what_was_printed_before_an_error_is_shown(capsys: Capture) -> None:
    with pytest.raises(OutOfBounds):
        launch(f'{ID} printf("before %d\\n", i); out[i + 1] = 0; printf("after");', 4, 4, np.zeros(4, np.int32),
               parameters="global int *out")
    assert capsys.readouterr().out == "before 0\nbefore 1\nbefore 2\nbefore 3\n"


def test_an_error_in_the_middle_of_a_call(capsys: Capture) -> None:
    with pytest.raises(OutOfBounds) as error:
        launch(f'{ID} printf("%s\\n", p + 2 * i);', 4, 4, np.frombuffer(b"a\0bcd", np.int8),
               parameters="global const char *p")
    assert capsys.readouterr().out == "a\n"
    assert error.value.where.lane == 1


def test_an_endless_loop_that_prints(capsys: Capture) -> None:
    with pytest.raises(SimulationError, match="without an end"):
        launch('for (;;) printf("again\\n");', 1, 1, options=SimulatorOptions(step_limit=50))
    assert capsys.readouterr().out.startswith("again\nagain\n")


@pytest.mark.parametrize(("call", "message"), [
    ('"%s", p', r"printf reads a string without an end: no zero follows in the 4 bytes up to the end of the buffer .*"
                r"lane 0, buffer argument 0 'p', element 0"),
    ('"%s", p + 2', r"no zero follows in the 2 bytes .*element 2"),
    ('"%.6s", p', r"no zero follows in the 4 bytes"),
    ('"%s", p + 4', r"printf reads a string at element 4 of argument 0 'p'"),
    ('"%s", p - 1', r"printf reads a string at element -1 of argument 0 'p'"),
    ('"%s", (global char *)0', r"printf reads a string at a null pointer"),
    ('"%s", (global char *)7', r"printf reads a string at the address 0x7, which is in no buffer"),
    ("(constant char *)0", r"printf reads a string at a null pointer"),
])
def test_bad_strings(call: str, message: str) -> None:
    with pytest.raises(OutOfBounds, match=message):
        launch(f"printf({call});", 1, 1, np.ones(4, np.int8), parameters="global const char *p")


@pytest.mark.parametrize(("call", "message"), [
    ('"%d"', "the format of printf has '%d': there is no argument for it, the call has 0"),
    ('"%d %5d", n', "the format of printf has '%5d': there is no argument for it, the call has 1"),
    ('"%f", n', "has '%f': it prints a floating-point number, but argument 1 is of type int32"),
    ('"%d %d", n, 1.5f', "has '%d': it prints an integer, but argument 2 is of type float64"),
    ('"%v4hld", (int2)(n)', "has '%v4hld': it prints a vector of 4 integers, but argument 1 is of type int32 vector"),
    ('"%v2hlf", (int2)(n)', "has '%v2hlf': it prints a vector of 2 floating-point numbers, but argument 1 is of type"),
    ('"%d", (int2)(n)', "has '%d': it prints an integer, but argument 1 is of type int32 vector of 2"),
    ('"%s", n', "has '%s': it prints a string, but argument 1 is of type int32"),
    ('"%n", n', "has '%n': invalid conversion specifier"),
    ('"%*d", n, n', r"has '%\*d': '\*' as field width or precision, which OpenCL C does not have"),
    ('"50% yes", n', "has '% y': invalid conversion specifier"),
    ('"100%", n', "has '%': incomplete format specifier"),
    ('"%v7hld", n', "has '%v7hld': invalid vector length"),
])
def test_undefined_formats(call: str, message: str) -> None:
    with pytest.raises(UndefinedBehavior, match=message):
        launch(f"printf({call});", 1, 1, 3, parameters="int n")


def test_without_bounds_a_bad_string_is_empty(capsys: Capture) -> None:
    launch('printf("<%s><%s>", p + 9, p);', 1, 1, np.full(2, 65, np.int8), parameters="global const char *p",
           options=SimulatorOptions(bounds=False))
    assert capsys.readouterr().out == "<><AA>"


def test_a_structure_cannot_be_printed() -> None:
    source = module("g_i32 a", "%n = OpExtInst %i32 %std printf %null %pair",
                    declarations="%null = OpConstantNull %c_i8\n%pair = OpConstantNull %a2_i32")
    with pytest.raises(Error, match="printf cannot print a value of type"):
        run(source, [np.zeros(1, np.int32)])


PIECES = ["%", "d", "f", "s", "v4", "hl", "l", "h", "%d", "%f", "%s", "%v4hlf", "%v4hld", "\\n", "\\0", "\\x25", "*",
          "-", "#", "0", "5", ".", "c", "p", "é", "%%", " ", "2147483648"]
ARGUMENTS = ["n", "(long)n", "x", "h", "v", "(int4)(n)", "p", "cs", '"text"', "(char)n", "1.0", "&n", "cs + n"]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.lists(st.sampled_from(ARGUMENTS), max_size=3))
@settings(max_examples=60, deadline=None)
def test_whatever_is_printed_ends_well(format: str, arguments: list[str]) -> None:
    """A text, or an error of the package."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), \
            contextlib.suppress(Error):
        call = ", ".join([f'"{format}"', *arguments])
        launch(f"printf({call});", 2, 2, 5, 1.5, np.float16(0.5), np.ones(4, np.float32), np.zeros(1, np.int32),
               np.full(3, 65, np.int8),
               parameters="int n, float x, half h, float4 v, global int *p, constant char *cs")


# ------------------------------------------------------------------------------- the stream


def test_bytes_that_are_no_text(capsys: Capture) -> None:
    launch('printf("%c%c", 0xc3, 0xa4); printf("%c", 0xff); printf("%c", 0xc3);', 1, 1)
    assert capsys.readouterr().out == "ä\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


def test_a_stream_of_another_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(data, encoding="ascii"))
    launch('printf("größer\\n");', 1, 1)
    assert data.getvalue() == b"gr??er\n"


def test_without_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    launch('printf("nobody reads this");', 1, 1)


# ------------------------------------------------------------------------------- other producers

CLANGS = """
int printf(constant const char *, ...) __attribute__((format(printf, 1, 2)));
typedef float float4 __attribute__((ext_vector_type(4)));
constant char shared[] = "shared %d\\n";
kernel void k(int i, float f, float4 v, global int *p)
{
    int r = printf("%d %f %s|%s %c\\n", i, f, "one", i ? "two" : "three", 'c');
    printf(shared, r);
    printf("%v4hlf\\n", v);
    printf(i > 5 ? "large\\n" : "small %d\\n", i);
    constant char *text = i == 3 ? "chosen\\n" : "other\\n";
    printf(text);
    printf("%p\\n", (global int *)0);
}
"""


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("suffix", ["spv", "ll"])
def test_programs_compiled_by_clang(level: str, suffix: str, tmp_path: Path, capsys: Capture) -> None:
    """By its own SPIR-V back end, and by ours after its LLVM IR."""
    source, output = tmp_path / "k.cl", tmp_path / f"k.{suffix}"
    source.write_text(CLANGS, encoding="utf-8")
    form = ["-S", "-emit-llvm"] if suffix == "ll" else ["-c"]
    subprocess.run([sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", level, "-w",
                    "--target=spirv64-unknown-unknown", *form, str(source), "-o", str(output)], check=True, timeout=120)
    kernel = cm.build(output).kernel("k")
    arguments = (3, 1.5, np.array([1, 2, 3, 4.5], np.float32), np.zeros(1, np.int32))
    cm.Queue("sim:generic").enqueue(kernel, 1, 1, *arguments).wait()
    assert capsys.readouterr().out == ("3 1.500000 one|two c\nshared 0\n1.000000,2.000000,3.000000,4.500000\nsmall 3\n"
                                       "chosen\n(nil)\n")


# ------------------------------------------------------------------------------- Intel's runtime

INTEL = [
    '"%d|%5d|%-5d|%+d|% d|%05d|%.3d|%+.0d", 42, -42, 42, 42, 42, 42, 7, 0',
    '"%u|%x|%#X|%o|%#o|%08x", -1, 255, 255, 8, 8, 48879', '"%hhd|%hhu|%hd|%hu|%ld|%lu", 200, 200, 40000, -1, -5L, -5L',
    '"%f|%.0f|%#.0f|%10.3f|%-10.2f|%+f|%010.1f", 1.5, 2.5, 2.0, -3.14159, 2.0, 1.0, -2.25',
    '"%e|%.2E|%g|%G|%#g|%.3g", 12345.678, 0.00012, 1e-5, 1e20, 1.0, 100000.0',
    '"%a|%A|%.1a|%a|%a", 1.0, -0.1, 1.999, 0.0, 1e-310',
    '"%f|%F|%e|%5g|%-6a|%05f", INFINITY, -INFINITY, NAN, NAN, INFINITY, INFINITY',
    '"%c|%3c|%-3c|%s|%10s|%-10s|%.2s|%%", 65, 66, 67, "text", "text", "text", "text"',
    '"%v4hld|%#v2hlx|%+v3hld", (int4)(1, -2, 3, -4), (uint2)(16, 0), (int3)(1, 2, 3)',
    '"%v4hlf|%8.2v2hlf|%v2lf|%v2hle", (float4)(1, -2, 0.1f, 1e10f), (float2)(1, 2), (double2)(0.1, 2), (float2)(1, 2)',
    '"%v2hhd|%v16hhu|%v8hd|%v2ld", (char2)(-1, 1), (uchar16)(200), (short8)(-3), (long2)(1L << 40, -1)',
    '"%s %s", "a", i ? "b" : "c"', '"%d %s %f %v2hld", true, "x", (float)i, (int2)(i)', '"%p", (global int *)0',
]


@pytest.mark.oracle("intel-opencl")
def test_intels_runtime_prints_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    body = "".join(f'printf({call}); printf("\\n");\n' for call in INTEL)
    program = cm.build(f"kernel void k(int i) {{\n{body}}}", options=("-w",))
    cm.Queue("sim:generic").enqueue(program.kernel("k"), 1, 1, 3).wait()
    ours = capfd.readouterr().out
    printed = intel_runtime.run_printing(program.spirv, "k", (1,), (1,), [np.array(3, np.int32)])[1].decode()
    assert ours.splitlines() == printed.splitlines()
