"""Build options: the table's rows, what each does, and what is said about wrong ones."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coopmat as cm
from coopmat.opencl import compile_source
from coopmat.runtime.options import GROUPS, OPTIONS, Form, parse_options, split_options
from coopmat.spirv.edit.processing import schedule_of
from coopmat.spirv.grammar import OPENCL_STD_NAMES, Decoration, FPFastMathMode, Op
from coopmat.support.build_options import LANGUAGES, BuildOptions
from coopmat.sycl import float32, int32, kernel, nd_item, ptr, sin


@pytest.mark.parametrize(("options", "expected"), [
    ("", {}), (None, {}), ((), {}),
    ("-DA -DB=2 -D C=3 -D 'F(x)=x + 1' -UA -U B", {"macros": (
        ("A", "1"), ("B", "2"), ("C", "3"), ("F(x)", "x + 1"), ("A", None), ("B", None))}),
    (("-D", "A=a b", "-DE="), {"macros": (("A", "a b"), ("E", ""))}),
    ("-Iinclude -I 'my folder'", {"include_paths": (Path("include"), Path("my folder"))}),
    (["-I", Path("here")], {"include_paths": (Path("here"),)}),
    ("-isystem sys -isystemother", {"system_include_paths": (Path("sys"), Path("other"))}),
    ("-include a.h -include b.h", {"included_files": ("a.h", "b.h")}),
    ("-cl-std=CL1.2", {"language": LANGUAGES["CL1.2"]}), ("-cl-std=cl2.0", {"language": LANGUAGES["CL2.0"]}),
    ("-cl-std=CL1.1 -cl-std=CL3.0", {}),
    ("-cl-ext=-all,+cl_khr_fp16", {"extensions": (("all", False), ("cl_khr_fp16", True))}),
    ("-cl-single-precision-constant", {"single_precision_constants": True}),
    ("-cl-fast-relaxed-math", {"macros": (("__FAST_RELAXED_MATH__", None), ("__FAST_RELAXED_MATH__", "1"),
                                          ("__FINITE_MATH_ONLY__", None), ("__FINITE_MATH_ONLY__", "1")),
                               "fast_math": ("NotNaN", "NotInf", "NSZ", "AllowRecip", "Fast")}),
    ("-cl-finite-math-only", {"macros": (("__FINITE_MATH_ONLY__", None), ("__FINITE_MATH_ONLY__", "1")),
                              "fast_math": ("NotNaN", "NotInf")}),
    ("-cl-no-signed-zeros -cl-unsafe-math-optimizations", {"fast_math": ("NSZ", "AllowRecip")}),
    ("-w -Wall -Wno-shadow -Werror -Werror=unused -Wno-error=unused -W -pedantic -pedantic-errors",
     {"warnings": ("-w", "-Wall", "-Wno-shadow", "-Werror", "-Werror=unused", "-Wno-error=unused", "-Wextra",
                   "-Wpedantic", "-Werror=pedantic")}),
    ("-coopmat-schedule=block:128x256,cluster:y", {"schedule": "block:128x256,cluster:y"}),
    ("-fsanitize=signed-integer-overflow", {"marks_overflow": True}),
    ("-ferror-limit=3", {"error_limit": 3}), ("-Wfatal-errors", {"error_limit": 1}),
    ("-cl-opt-disable -cl-strict-aliasing -cl-mad-enable "
     "-cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt -cl-kernel-arg-info -cl-uniform-work-group-size "
     "-cl-no-subgroup-ifp -g -O -O0 -O1 -O2 -O3 -Os -x cl -xcl", {}),
    ("-cl-intel-256-GRF-per-thread -ze-opt-large-register-file -cl-nv-verbose -cl-nv-maxrregcount=64",
     {"unused": ("-cl-intel-256-GRF-per-thread", "-ze-opt-large-register-file", "-cl-nv-verbose",
                 "-cl-nv-maxrregcount=64")}),
])
def test_what_options_say(options: cm.runtime.options.Options, expected: dict[str, object]) -> None:
    assert parse_options(options) == BuildOptions(**expected)  # type: ignore[arg-type]


@given(st.text(st.sampled_from(" \t\n\r'\"\\ab\v\u2003"), max_size=12) | st.text())
def test_a_text_is_split_as_a_shell_does(text: str) -> None:
    try:
        expected = shlex.split(text)
    except ValueError:
        with pytest.raises(cm.Error, match=r"cannot be split into words: no (closing quotation|escaped character)"):
            split_options(text)
    else:
        assert split_options(text) == expected


def test_every_row_of_the_table_has_been_tried() -> None:
    """The rows that do something occur in the test above, those that refuse in the one below."""
    text = Path(__file__).read_text(encoding="utf-8")
    for option in OPTIONS:
        assert re.search(rf"(?<![\w-]){re.escape(option.name)}", text), option.name


@pytest.mark.parametrize(("options", "message"), [
    ("-cl-std=CL9.9", "invalid value 'CL9.9' in '-cl-std=CL9.9': the versions are CL1.0, CL1.1, CL1.2, CL2.0, CL3.0"),
    ("-cl-std=CLC++2021", "invalid value 'CLC++2021' in '-cl-std=CLC++2021': C++ for OpenCL is not supported; kernels "
                          "are written in OpenCL C: CL1.0, CL1.1, CL1.2, CL2.0, CL3.0"),
    ("-cl-std=", "option -cl-std= needs a value: -cl-std=VERSION"),
    ("-cl-ext=cl_khr_fp16", "invalid value 'cl_khr_fp16' in '-cl-ext=cl_khr_fp16': it is a list of +NAME and -NAME, "
                            "such as -cl-ext=-all,+cl_khr_fp16"),
    ("-D", "option -D needs a value: -D NAME[=VALUE]"), (("-D", ""), "option -D needs a value: -D NAME[=VALUE]"),
    ("-include", "option -include needs a value: -include FILE"),
    ("-ferror-limit=many", "invalid value 'many' in '-ferror-limit=many': it is a number of errors, 0 for no limit"),
    ("-fsanitize=address", "invalid value 'address' in '-fsanitize=address': it is signed-integer-overflow; what "
                           "simulated devices check besides needs no option"),
    ("-x c++", "invalid value 'c++' in '-x c++': kernels are written in OpenCL C, which is '-x cl'"),
    ("-O9", "invalid value in '-O9': the levels are -O0, -O1, -O2 and -O3"),
    ("-MD", "option '-MD' is not supported: dependencies are not written"),
    ("-Wp,-DX", "option '-Wp,-DX' is not supported: give the preprocessor's options without -Wp,"),
    ("-cl-fast-relaxed-maths", "unknown option '-cl-fast-relaxed-maths'; did you mean '-cl-fast-relaxed-math'?"),
    ("-cl-sdt=CL1.2", "unknown option '-cl-sdt=CL1.2'; did you mean '-cl-std=CL1.2'?"),
    ("-Zz", "unknown option '-Zz'; `coopmat check --help` and docs/build-options.md list the options"),
    ("K=3", "'K=3' is no option: options begin with '-', and a value with blanks needs quotes"),
    ("-DA='", "options '-DA='' cannot be split into words: no closing quotation"),
    (7, 'options are a str such as "-DK=64 -I include" or a sequence such as ("-DK=64", "-I", "include"); found 7'),
    (("-DK", 3), "options are strings, found 3"),
])
def test_wrong_options(options: object, message: str) -> None:
    with pytest.raises(cm.Error) as caught:
        parse_options(options)  # type: ignore[arg-type]
    assert str(caught.value) == message


# ------------------------------------------------------------------ what they do


def headers(source: str, options: str) -> list[str]:
    return [diagnostic.header for diagnostic in compile_source(source, options=parse_options(options))[1]]


def test_one_text_builds_as_a_sequence_does() -> None:
    device = cm.device("sim:generic")
    for options in ("-D K=64 -D 'NAME(x)=x' -cl-std=CL2.0", ("-DK=64", "-D", "NAME(x)=x", "-cl-std=CL2.0")):
        out = np.zeros(16, np.int32)
        program = cm.build("kernel void k(global int *p) { p[get_global_id(0)] = NAME(K); }", options, device)
        cm.Queue(device).enqueue(program.kernel("k"), 16, 16, out).wait()
        np.testing.assert_array_equal(out, 64)


def test_single_precision_constants() -> None:
    source = "_Static_assert(sizeof(1.0) == %d, \"\"); _Static_assert(sizeof(M_PI) == %d, \"\"); " \
             "_Static_assert(sizeof(1.0f) + sizeof(1.0h) == 6, \"\");"
    assert headers(source % (8, 8), "") == []
    assert headers(source % (4, 4), "-cl-single-precision-constant") == []
    assert headers("constant float x = 0.1;", "-cl-single-precision-constant -Wconversion") == []


@pytest.mark.parametrize(("options", "macros"), [
    ("", {"__FINITE_MATH_ONLY__": "0"}), ("-cl-finite-math-only", {"__FINITE_MATH_ONLY__": "1"}),
    ("-cl-fast-relaxed-math", {"__FINITE_MATH_ONLY__": "1", "__FAST_RELAXED_MATH__": "1"}),
    ("-UA -DA=2", {"A": "2"}), ("-DA=2 -DA=3", {"A": "3"}),
])
def test_macros_of_options(options: str, macros: dict[str, str]) -> None:
    """As clang 16 defines them."""
    source = "\n".join(f"_Static_assert({name} == {value}, \"\");" for name, value in macros.items())
    assert headers(source, f"{options} -Wno-macro-redefined") == []


FAST = FPFastMathMode.NotNaN | FPFastMathMode.NotInf | FPFastMathMode.NSZ | FPFastMathMode.AllowRecip \
    | FPFastMathMode.Fast


@pytest.mark.parametrize(("options", "flags"), [
    ("-cl-fast-relaxed-math", FAST), ("-cl-unsafe-math-optimizations -cl-finite-math-only", FAST ^ FPFastMathMode.Fast),
    ("-cl-no-signed-zeros", FPFastMathMode.NSZ), ("-cl-mad-enable", None)])
def test_fast_math_in_the_module(options: str, flags: int | None) -> None:
    """Arithmetic of floating-point numbers and functions of them are decorated, in both languages."""
    source = """kernel void k(global float *y, global int *n) {
        y[0] = sin(y[0]) / y[1] + (float)max(n[0], 2 * n[1]); }"""

    @kernel
    def python(item: nd_item[1], y: ptr[float32], n: ptr[int32]):
        y[0] = sin(y[0]) / y[1] + float32(max(n[0], 2 * n[1]))

    decorated_with = kernel(options=options)(python.function)
    for built in (cm.build(source, options), cm.build(python, options), cm.build(decorated_with)):
        module = built.module
        assert not [found for found in module.validate() if found.severity == "error"]
        found = {row.words[0]: row.words[2] for row in module.of_opcode(Op.Decorate)
                 if row.words[1] == Decoration.FPFastMathMode}
        decorated = [OPENCL_STD_NAMES[row.words[1]] if row.opcode == Op.ExtInst else Op(row.opcode).name
                     for row in module.instructions if row.result_id in found]
        assert decorated == ([] if flags is None else ["sin", "FDiv", "FAdd"])
        assert set(found.values()) == (set() if flags is None else {flags})


def test_options_of_python_kernels_come_before_those_of_the_build() -> None:
    """-fsanitize= and -coopmat-schedule= reach the module from both; of a schedule the build's counts."""
    def adds(item: nd_item[1], n: ptr[int32]):
        n[0] = n[1] + n[2]

    sanitizes, first, last = ("-fsanitize=signed-integer-overflow", "-coopmat-schedule=cluster:x",
                              "-coopmat-schedule=cluster:y")
    for own, of_build, marks, cluster in (("", "", 0, None), (sanitizes, "", 1, None), ("", sanitizes, 1, None),
                                      (first, sanitizes, 1, "x"), (f"{sanitizes} {first}", last, 1, "y")):
        module = cm.build(kernel(options=own)(adds), of_build).module
        found = sum(row.words[1] == Decoration.NoSignedWrap for row in module.of_opcode(Op.Decorate))
        assert (found, schedule_of(module).cluster) == (marks, cluster), (own, of_build)


def test_schedules_of_what_is_compiled_already(tmp_path: Path) -> None:
    """-coopmat-schedule= counts for SPIR-V and LLVM IR in every form, and more than what is fixed there."""
    program = cm.build("kernel void k(global int *n) { n[0] = 1; }", "-coopmat-schedule=block:none,cluster:x")
    assert schedule_of(program.optimized(1).module) == schedule_of(program.module)
    files = {name: tmp_path / f"k{name}" for name in (".spv", ".spvasm", ".ll")}
    files[".spv"].write_bytes(program.spirv)
    files[".spvasm"].write_text(program.spirv_asm)
    files[".ll"].write_text(program.llvm_ir)
    for source in (program.spirv, program.module, *files.values()):
        assert schedule_of(cm.build(source, "-coopmat-schedule=block:64x32").module).block == (64, 32)
        with pytest.raises(cm.Error, match="unknown option '-coopmat-scedule=block:none'; did you mean"):
            cm.build(source, "-coopmat-scedule=block:none")
    assert schedule_of(cm.build(program.spirv).module).cluster == "x"


def test_undefined_macros() -> None:
    assert headers("#if defined(A) || defined(__FAST_RELAXED_MATH__) || defined(CHAR_BIT)\n#error\n#endif",
                   "-DA -UA -UCHAR_BIT") == []


def test_extensions() -> None:
    source = "#if defined(cl_khr_fp16) != %d || defined(cl_khr_subgroups) != %d\n#error\n#endif"
    for options, (half, groups) in {"": (1, 1), "-cl-ext=-cl_khr_fp16": (0, 1), "-cl-ext=-all": (0, 0),
                                    "-cl-ext=-all,+cl_khr_fp16": (1, 0), "-cl-ext=-all,+all": (1, 1)}.items():
        assert headers(source % (half, groups), options) == []
    assert headers("", "-cl-ext=+cl_khr_sparkles") == [
        "warning: extension 'cl_khr_sparkles' is not supported by this device; the option is ignored "
        "[CM1172, -Wignored-pragmas]"]
    with pytest.raises(cm.CompileError, match="requires cl_khr_fp64"):
        headers("double x(double y) { return y; }", "-cl-ext=-cl_khr_fp64,-__opencl_c_fp64")


def test_options_of_drivers_are_ignored_with_a_warning() -> None:
    assert headers("", "-cl-intel-no-prera-scheduling") == [
        "warning: argument unused during compilation: '-cl-intel-no-prera-scheduling' "
        "[CM1152, -Wunused-command-line-argument]"]
    assert headers("", "-cl-nv-verbose -Wno-unused-command-line-argument") == []
    assert headers("", "-cl-nv-verbose -w") == []


def test_included_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.h").write_text("#define ONE 1\n")
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "two.h").write_text("#define TWO (ONE + 1)\n#warning quiet\nvoid loud(int i) { i == 1; }\n")
    source = "_Static_assert(TWO == 2, \"\"); void f(int i) { i == 1; }"
    assert [line.partition(" [")[0] for line in headers(source, "-include one.h -include two.h -isystem system")] == [
        "<source>:1:49: warning: equality comparison result unused"]
    with pytest.raises(cm.CompileError) as caught:
        headers("", "-include none.h -I system -I nowhere")
    assert str(caught.value) == (
        "<command line>:1:10: error: 'none.h' file not found; searched in '.', 'system', 'nowhere' (no such folder) "
        "[CM1131]\n    1 | #include \"none.h\"\n      |          ^~~~~~~~")


def test_a_folder_that_does_not_exist_is_silent() -> None:
    assert headers("", "-I there/is/no/such/folder") == []


def test_error_limit() -> None:
    source = "void f(void) { " + "a;\n" * 30 + "}"
    for options, count in (("", 20), ("-ferror-limit=3", 3), ("-Wfatal-errors", 1), ("-ferror-limit=0", 30)):
        with pytest.raises(cm.CompileError) as caught:
            headers(source, options)
        found = [diagnostic.message for diagnostic in caught.value.diagnostics]
        assert found.count("use of undeclared identifier 'a'") == count
        assert (found[-1] == f"too many errors emitted, stopping now [-ferror-limit={count}]") == (count < 30)


# ------------------------------------------------------------------ the command line


def coopmat(*arguments: str | Path, text: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "coopmat", *map(str, arguments)], input=text, capture_output=True,
                          cwd=cwd, text=True, timeout=120, check=False)


def test_help_lists_the_table() -> None:
    shown = " ".join(coopmat("check", "--help").stdout.split())
    for title, options in GROUPS.items():
        assert f"Build options: {title.lower()}" in shown
        for option in options:
            assert not option.help or str(option) in shown
            assert not option.help or option.help.split(";")[0].split("-")[0] in shown


KERNEL = "kernel void k(global float *p) { p[get_global_id(0)] = VALUE; int x; }\n"


@pytest.mark.parametrize("command", [
    ("check",), ("compile", "-o", "out.spv"),
    ("run", "--kernel", "k", "--global", "16", "--local", "16", "--arg", "zeros:float32:16", "--out", "0=p.npy")])
def test_every_command_that_builds_takes_all_options(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    name, *own = command
    result = coopmat(name, "-D", "VALUE=-1", "k.cl", *own, "-cl-std=CL1.2", "-Wall", "-I", "nowhere", "-g",
                     "-cl-intel-256-GRF-per-thread", "-cl-fast-relaxed-math", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "k.cl:1:67: warning: unused variable 'x' [CM3921, -Wunused-variable]" in result.stderr
    assert "warning: argument unused during compilation: '-cl-intel-256-GRF-per-thread'" in result.stderr
    if name == "run":
        np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), -1)


def test_several_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "good.cl").write_text("kernel void k(global float *p) { p[0] = 1; }\n")
    for name in ("bad.cl", "worse.cl"):
        (tmp_path / name).write_text(f"kernel void k(global float *p) {{ p[0] = {name[:3]}; }}\n")
    assert coopmat("check", "good.cl", "good.cl", cwd=tmp_path).returncode == 0
    result = coopmat("check", "bad.cl", "good.cl", "worse.cl", "-", text=KERNEL, cwd=tmp_path)
    assert result.returncode == 1
    found = [line for line in result.stderr.splitlines() if "error:" in line]
    assert found == ["bad.cl:1:41: error: use of undeclared identifier 'bad' [CM3101]",
                     "worse.cl:1:41: error: use of undeclared identifier 'wor' [CM3101]",
                     "<source>:1:56: error: use of undeclared identifier 'VALUE' [CM3101]"]
    assert coopmat("check", "-", "-DVALUE=1", text=KERNEL).returncode == 0
    assert "cannot read standard input: not UTF-8 text (byte 0)" in subprocess.run(
        [sys.executable, "-m", "coopmat", "check", "-"], input=b"\xff", capture_output=True, timeout=60,
        check=False).stderr.decode()


def test_an_included_file_says_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "a.cl").write_text('#include "b.h"\n#include "b.h"\n')
    (tmp_path / "b.h").write_text("\n#include \"c.h\"\n")
    (tmp_path / "c.h").write_text("#ifdef SECOND\nint f(void) { return x; }\nint g(void) { return y; }\n#endif\n"
                                  "#define SECOND\n")
    result = coopmat("check", "a.cl", cwd=tmp_path)
    assert result.stderr == """\
In file included from b.h:2:
                 from a.cl:2:
c.h:2:22: error: use of undeclared identifier 'x' [CM3101]
    2 | int f(void) { return x; }
      |                      ^
c.h:3:22: error: use of undeclared identifier 'y' [CM3101]
    3 | int g(void) { return y; }
      |                      ^
"""


def test_a_prefix_option_is_never_a_flag() -> None:
    assert all(option.value or option.form in (Form.FLAG, Form.PREFIX) for option in OPTIONS)
