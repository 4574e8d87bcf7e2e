"""Calls of printf: what is passed, what -Wformat says and where, and that clang warns of the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import coopmat as cm
from coopmat.devices import describe
from coopmat.diagnostics import CompileError, Diagnostic
from coopmat.lowering import to_llvm_ir
from coopmat.lowering.analysis import descendants
from coopmat.opencl import compile_source, is_builtin_function
from coopmat.opencl.messages import printf as messages
from coopmat.support.build_options import BuildOptions
from coopmat.tree import nodes as n

PARAMETERS = ("int i, uint u, long l, ulong ul, char c, short s, float f, double d, half h, float2 f2, float4 f4, "
              "double4 d4, half4 h4, int4 i4, uint4 u4, long4 l4, short4 s4, char4 c4, uchar4 uc4, global int *p, "
              "global char *gs, constant char *cs")
HEAD = f"constant char shared[] = \"%s\\n\";\nkernel void test({PARAMETERS})\n"


def found(body: str, *, device: str = "generic", ignored: tuple[str, ...] = ()) -> list[Diagnostic]:
    """All diagnostics of a kernel with this body, which stands in line 3."""
    try:
        return compile_source(f"{HEAD}{{ {body} }}", device=describe(device),
                              options=BuildOptions(warnings=tuple(f"-Wno-{name}" for name in ignored)))[1]
    except CompileError as error:
        return error.diagnostics


def marked(diagnostic: Diagnostic) -> str:
    """The piece of the source under the caret and its tildes."""
    place = diagnostic.location
    return place.source_line[place.column - 1:place.column - 1 + place.length]


# ------------------------------------------------------------------------------- messages

MISMATCH = "format specifies type '{}' but the argument has type '{}'; use '{}'"
REPORTS: list[tuple[str, str, str, str]] = [  # arguments, what is marked, code, message
    ('"%d", l', "%d", "CM3751", MISMATCH.format("int", "long", "%ld")),
    ('"%d", ul', "%d", "CM3751", MISMATCH.format("int", "ulong", "%lu")),
    ('"%-8lx", i', "%-8lx", "CM3751", MISMATCH.format("ulong", "int", "%-8x")),
    ('"%.3d", f', "%.3d", "CM3751", MISMATCH.format("int", "float", "%.3f")),
    ('"%#x", d', "%#x", "CM3751", MISMATCH.format("uint", "double", "%#f")),
    ('"%5.1e", i', "%5.1e", "CM3751", MISMATCH.format("double", "int", "%5.1d")),
    ('"%hhd", l', "%hhd", "CM3751", MISMATCH.format("char", "long", "%ld")),
    ('"%s", i', "%s", "CM3751", MISMATCH.format("constant char *", "int", "%d")),
    ('"%p", i', "%p", "CM3751", MISMATCH.format("void *", "int", "%d")),
    ('"%x", p', "%x", "CM3751", MISMATCH.format("uint", "__global int *", "%p")),
    ('"%d", cs', "%d", "CM3751", MISMATCH.format("int", "__constant char *", "%s")),
    ('"%d", f4', "%d", "CM3751", MISMATCH.format("int", "float4", "%v4hlf")),
    ('"%v4hlf", i4', "%v4hlf", "CM3751", MISMATCH.format("float4", "int4", "%v4hld")),
    ('"%.2v4lf", f4', "%.2v4lf", "CM3751", MISMATCH.format("double4", "float4", "%.2v4hlf")),
    ('"%v4hf", f4', "%v4hf", "CM3751", MISMATCH.format("half4", "float4", "%v4hlf")),
    ('"%v2hlf", f4', "%v2hlf", "CM3751", MISMATCH.format("float2", "float4", "%v4hlf")),
    ('"%v4hd", uc4', "%v4hd", "CM3751", MISMATCH.format("short4", "uchar4", "%v4hhu")),
    ('"%v4hlx", l4', "%v4hlx", "CM3751", MISMATCH.format("uint4", "long4", "%v4lx")),
    ('"%d %d", i', "%d", "CM3752", "more '%' conversions than data arguments"),
    ('"%d", i, u', "u", "CM3753", "data argument not used by format string"),
    ('i ? "%d" : "none", i, u', "u", "CM3753", "data argument not used by format string"),
    ('"%d %", i', "%", "CM3754", "incomplete format specifier"),
    ('"%vhlf", f4', "%vhlf", "CM3754", "incomplete format specifier"),
    ('"%n", p', "%n", "CM3755", "invalid conversion specifier 'n'"),
    ('"%\\n"', "%\\n", "CM3755", "invalid conversion specifier '\\x0a'"),
    ('"%v4c", c4', "%v4c", "CM3755", "invalid conversion specifier 'c' for a vector"),
    ('"%*d", i, i', "%*d", "CM3756", "'*' as field width or precision is not supported in OpenCL C; expected a "
                                     "decimal number"),
    ('"%v5hlf", f4', "%v5hlf", "CM3757", "invalid vector length in format specifier; expected 2, 3, 4, 8 or 16"),
    ('"%v4f", f4', "%v4f", "CM3758", "vector specifier without a length modifier results in undefined behavior; "
                                     "use '%v4hlf'"),
    ('"%lf", d', "%lf", "CM3759", "length modifier 'l' results in undefined behavior or no effect with 'f' conversion "
                                  "specifier; use '%f'"),
    ('"%hld", i', "%hld", "CM3759", "length modifier 'hl' results in undefined behavior or no effect with 'd' "
                                    "conversion specifier; use '%d'"),
    ('"%ls", "a"', "%ls", "CM3759", "length modifier 'l' results in undefined behavior or no effect with 's' "
                                    "conversion specifier; use '%s'"),
    ('"%lld", l', "%lld", "CM3760", "length modifier 'll' is not supported in OpenCL C; use '%ld'"),
    ('"%zu", ul', "%zu", "CM3760", "length modifier 'z' is not supported in OpenCL C; use '%lu'"),
    ('"%+u", u', "%+u", "CM3761", "flag '+' results in undefined behavior with 'u' conversion specifier"),
    ('"%#d", i', "%#d", "CM3761", "flag '#' results in undefined behavior with 'd' conversion specifier"),
    ('"%-05d", i', "%-05d", "CM3762", "flag '0' is ignored when flag '-' is present"),
    ('"%+ d", i', "%+ d", "CM3762", "flag ' ' is ignored when flag '+' is present"),
    ('"%.3c", i', "%.3c", "CM3763", "precision used with 'c' conversion specifier, resulting in undefined behavior"),
    ('"a\\0b"', "\\0", "CM3764", "format string contains '\\0' within the string body"),
    ("cs, i", "cs", "CM3765", "format string is not a string literal, as OpenCL C requires; its arguments cannot be "
                              "checked"),
    ("cs", "cs", "CM3766", "format string is not a string literal (potentially insecure)"),
    ('"%s", gs', "%s", "CM3767", "'%s' prints string literals only in OpenCL C, but the argument points to the "
                                 "__global address space"),
]


@pytest.mark.parametrize(("arguments", "piece", "code", "text"), REPORTS, ids=lambda value: str(value)[:24])
def test_warnings(arguments: str, piece: str, code: str, text: str) -> None:
    report, = found(f"printf({arguments});")
    assert (report.severity, report.code, report.message) == ("warning", code, text)
    assert report.option is not None
    assert report.option.startswith("format")
    assert marked(report) == piece


ERRORS = [
    ("printf();", "too few arguments to 'printf': expected at least 1, have 0", ")"),
    ("printf(i);", "incompatible integer to pointer conversion passing 'int' to parameter of type "
                   "'__constant const char *'", "i"),
    ("printf(gs);", "passing '__global char *' to parameter of type '__constant const char *' changes address space "
                    "of pointer", "gs"),
    ('struct s { int a; } r; printf("%d", r);', "cannot pass an argument of type 'struct s' to 'printf'; expected a "
     "number, a vector, a pointer or a string literal", "r"),
    ('printf("%d", barrier(1));', "incomplete type 'void' where a complete type is required", "barrier"),
    ("int r = printf;", "function 'printf' can only be called; OpenCL C has no function pointers", "printf"),
]


@pytest.mark.parametrize(("body", "text", "piece"), ERRORS, ids=lambda value: str(value)[:24])
def test_errors(body: str, text: str, piece: str) -> None:
    report, = found(body)
    assert (report.severity, report.message, marked(report)) == ("error", text, piece)


def test_every_message_is_tested() -> None:
    codes = {value.code for name, value in vars(messages).items() if name.isupper() and hasattr(value, "code")}
    assert codes == {code for _, _, code, _ in REPORTS} | {messages.ARGUMENT_TYPE.code}


@pytest.mark.parametrize("arguments", [
    '"%d %i %u %x %X %o", i, u, c, s, true, i == 1', '"%hhd %hhu %hd %hx", c, i, s, i',
    '"%ld %lu %lx", l, ul, sizeof(i)',
    '"%f %e %g %a %F", f, d, h, 1.0f, 1.0', '"%c%c", c, i', '"%s %s", "a", i ? "b" : "c"', '"%s", cs',
    '"%p %p %p", p, cs, &i',
    '"%v4hlf %v2hlf %v4lf %v4hf", f4, f2, d4, h4', '"%v4hld %v4hld %v4hlx %v4hlu", i4, u4, i4, u4',
    '"%v4hhd %v4hhx %v4hd %v4ld", c4, uc4, s4, l4', '"%%", 1 ? i : i',
    '"%5.2v4hlf|%-8ld|%+.3e|%05d|%#x", f4, l, f, i, u',
    '"", 0'])
def test_what_fits_is_silent(arguments: str) -> None:
    expected = [messages.EXTRA_ARGUMENT.code] if arguments.startswith(('"%%"', '"",')) else []
    assert [report.code for report in found(f"printf({arguments});")] == expected


# ------------------------------------------------------------------------------- places


@pytest.mark.parametrize(("call", "piece", "line"), [
    ('printf("\\t\\x41\\101é%d\\n", f);', "%d", 3),
    ('printf("%d " "%" "s", i, i);', "%", 3),
    ('printf("a" "b%d"\n  "c%s", i, i);', "%s", 4),
    ('printf(("%s"), i);', "%s", 3),
    ('printf(i ? "%d" : "%-5f", i);', "%-5f", 3),
    ('printf("%d%s" + 2, i);', "%s", 3),
    ('printf(&"%d%s"[2], i);', "%s", 3),
    ('printf("%d\\\n%s", i, i);', '"%d\\', 3),
])
def test_the_caret_is_in_the_literal(call: str, piece: str, line: int) -> None:
    report, = found(call)
    assert report.location.line == line
    assert marked(report).startswith(piece)


def test_the_caret_in_macros() -> None:
    report, = found('\n#define LOG(text, ...) printf(text "%d\\n", __VA_ARGS__)\nLOG("%s: ", i, i);')
    assert (report.location.line, marked(report)) == (5, "%s")
    report, = found('\n#define LOG(text, ...) printf(text "%d\\n", __VA_ARGS__)\nLOG("%d: ", i, f);')
    assert str(report).splitlines()[-1].strip(" |^~") == ""
    assert report.location.spelling is not None
    spelling = report.location.spelling
    assert spelling.source_line[spelling.column - 1:][:spelling.length] == "%d"


@pytest.mark.parametrize("call", [
    "printf(shared, i);", 'constant char *const local_format = "%s"; printf(local_format, i);',
    'constant char list[] = {37, 115, 0}; printf(list, i);'])
def test_a_format_with_a_name(call: str) -> None:
    """The message is at the call, a note where the format is."""
    report, = found(call)
    assert report.code == messages.TYPE_MISMATCH.code
    assert marked(report) in ("shared", "local_format", "list")
    note, = report.notes
    assert note.message == "format string is defined here"
    assert marked(note) == ("list" if "list" in call else "%s")


def test_many_choices_of_formats_end_soon() -> None:
    """Each pointer may be what the one before it may be, twice."""
    steps = "".join(f"constant char *const t{n + 1} = i ? t{n} : t{n}; " for n in range(60))
    reports = found(f'constant char *const t0 = i ? "%d" : "%f"; {steps} printf(t60, i);')
    assert [report.message for report in reports] == [MISMATCH.format("double", "int", "%d")]


# ------------------------------------------------------------------------------- options


def test_warnings_are_turned_off_by_name_and_by_group() -> None:
    body = 'printf("%d", f, f); printf("%y"); printf(cs);'
    assert len(found(body)) == 4
    assert len(found(body, ignored=("format-extra-args",))) == 3
    assert len(found(body, ignored=("format-security",))) == 3
    assert found(body, ignored=("format",)) == []
    cm.build(f"{HEAD}{{ {body} }}", options=("-Wno-format", "-Werror"))


# ------------------------------------------------------------------------------- what is passed


def passed(arguments: str, device: str = "generic", parameters: str = PARAMETERS) -> list[str]:
    source = f"kernel void test({parameters}) {{ printf({arguments}); }}"
    program, _ = compile_source(source, device=describe(device))
    call, = (node for node in descendants(program.functions[0].body)
             if isinstance(node, n.Operation) and node.name == "std.printf")
    return [str(argument.type) for argument in call.arguments]


def test_promotions() -> None:
    arguments = '"", c, s, i == 1, true, u, l, f, h, d, f4, h4, c4, p, "a"'
    assert passed(arguments) == [
        "__constant const char *", "int", "int", "int", "int", "uint", "long", "double", "double", "double", "float4",
        "half4", "char4", "__global int *", "__constant char *"]


def test_without_double_a_float_stays_a_float() -> None:
    assert passed('"%f %f %d", f, h, c', "intel_gpu_dg2_g10", "float f, half h, char c") == [
        "__constant const char *", "float", "float", "int"]


def test_the_call_in_llvm_ir() -> None:
    program, _ = compile_source('kernel void k(int i, float f) { printf("%d %f", i, f); }')
    ir = to_llvm_ir(program)
    assert "declare spir_func i32 @printf(ptr addrspace(2), ...)" in ir
    assert re.search(r"call spir_func i32 \(ptr addrspace\(2\), \.\.\.\) @printf\(ptr addrspace\(2\) %\w+, i32 %i, "
                     r"double %\w+\)", ir)


def test_the_prototype_may_be_declared() -> None:
    prototype = "int printf(constant char * restrict format, ...) __attribute__((format(printf, 1, 2)));"
    assert compile_source(f'{prototype} kernel void k(void) {{ printf("a"); }}')[1] == []
    with pytest.raises(CompileError, match="variadic"):
        compile_source("int printf(constant char *format, int i, ...);")
    with pytest.raises(CompileError, match="variadic"):
        compile_source("int print(constant char *format, ...);")


def test_a_function_of_the_program_hides_it() -> None:
    program, warnings = compile_source("void printf(int i) { } kernel void k(void) { printf(3); }")
    assert not warnings
    assert [function.name for function in program.functions] == ["printf", "k"]


def test_it_is_known_by_name() -> None:
    assert is_builtin_function("printf")
    with pytest.raises(CompileError, match="did you mean 'printf'"):
        compile_source('kernel void k(void) { prinft("a"); }')
    with pytest.raises(CompileError, match="cannot be called outside of a function"):
        compile_source('constant int x = printf("a");')


def test_it_is_as_old_as_opencl_1_2() -> None:
    source = 'kernel void k(void) { printf("a"); }'
    cm.build(source, options=("-cl-std=CL1.2",))
    with pytest.raises(CompileError, match=r"'printf' does not exist in OpenCL C 1\.1; compile with -cl-std=CL1\.2"):
        cm.build(source, options=("-cl-std=CL1.1",))


def test_the_functions_name_is_a_string() -> None:
    assert compile_source('void g(void) { printf("%s\\n", __func__); } kernel void k(void) { g(); }')[1] == []


# ------------------------------------------------------------------------------- clang

# clang has no word on these: it takes C's modifiers and '*', and strings of any memory.
OPENCL_ONLY = {messages.STAR.code, messages.FOREIGN_LENGTH.code, messages.NOT_A_LITERAL.code,
               messages.STRING_ARGUMENT.code}
CALLED_OTHERWISE = {'"%v4c", c4': {"format"}}  # clang knows vectors of %c, and no argument for them
VECTORS = "".join(f"typedef {scalar} {scalar}{count} __attribute__((ext_vector_type({count})));\n"
                  for scalar in ("float", "double", "half", "int", "uint", "long", "short", "char", "uchar")
                  for count in (2, 4))
CLANG_HEAD = ("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\ntypedef unsigned char uchar; typedef unsigned int uint; "
              "typedef unsigned long ulong;\n" + VECTORS +
              "int printf(constant const char *, ...) __attribute__((format(printf, 1, 2)));\n")


def clang_warns(calls: list[str], folder: Path) -> list[set[str]]:
    """The names of clang's format warnings for each call."""
    file = folder / "calls.cl"
    head = CLANG_HEAD + HEAD + "{\n"
    file.write_text(head + "".join(f"printf({call});\n" for call in calls) + "}\n", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-x", "cl", "-cl-std=CL3.0", "-cl-no-stdinc", "-fsyntax-only",
         "-fno-caret-diagnostics", "--target=spirv64-unknown-unknown", str(file)],
        capture_output=True, text=True, timeout=120, check=False)
    assert " error: " not in result.stderr, result.stderr
    names: list[set[str]] = [set() for _ in calls]
    for line, name in re.findall(r"calls\.cl:(\d+):\d+: warning: .*\[-W(format[\w-]*)\]", result.stderr):
        names[int(line) - head.count("\n") - 1].add(name)
    return names


@pytest.mark.oracle("clang")
def test_clang_warns_of_the_same(tmp_path: Path) -> None:
    calls = [arguments for arguments, _, code, _ in REPORTS if code not in OPENCL_ONLY]
    silent = ['"%d %u", i, u', '"%s", "a"', '"%v4hlf", f4', '"%hhd %hd", c, s', '"%f", h', '"%c", i', '"%p", p', '"%%"']
    for call, names in zip(calls + silent, clang_warns(calls + silent, tmp_path), strict=True):
        ours = {report.option for report in found(f"printf({call});")}
        assert CALLED_OTHERWISE.get(call, ours) == names, call
