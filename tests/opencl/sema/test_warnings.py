"""Warnings about what is allowed and rarely meant: the same places and names as clang's, at every level of -W."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from coopmat.diagnostics import CompileError, Diagnostic, Message
from coopmat.opencl import BuildOptions, compile_source
from coopmat.opencl.messages import rows, warning_names
from coopmat.opencl.messages import warnings as messages
from tests.kit.opencl.language_corpus import CLANG_PRELUDE

FOLDER = Path(__file__).parent / "warnings"
FILES = sorted(path.name for path in FOLDER.glob("*.cl"))
CLANG = (sys.executable, "-m", "ziglang", "clang", "-cc1", "-fno-caret-diagnostics", "-x", "cl", "-cl-std=CL3.0",
         "-triple", "spirv64", "-cl-ext=+all", "-fdeclare-opencl-builtins", "-fsyntax-only")
BY_NAME = ("-Wshadow", "-Wimplicit-fallthrough", "-Wconversion", "-Wdouble-promotion", "-Wundef")
LEVELS = {"default": (), "all": ("-Wall",), "extra": ("-Wall", "-Wextra"), "names": ("-Wall", "-Wextra", *BY_NAME)}

Place = tuple[int, int, str]

OURS: dict[str, dict[Place, str]] = {
    "uninitialized.cl": {(41, 22, "uninitialized"): "clang does not follow single components of vectors"},
    "conversions.cl": {
        (2, 46, "sign-conversion"): "clang 16 has it, later ones leave bit masks out",
        (11, 108, "sign-conversion"): "clang 16 has it, later ones leave hexadecimal constants out",
        (14, 37, "implicit-float-conversion"): "the operator is pointed at, not the operand",
        (15, 141, "sign-conversion"): "the operator of a conditional is pointed at, not its operand"},
    "operators.cl": {(36, 12, "sign-conversion"): "the operator of a conditional is pointed at, not its operand"},
}
THEIRS: dict[str, dict[Place, str]] = {
    "conversions.cl": {
        (14, 40, "implicit-float-conversion"): "see above", (15, 143, "sign-conversion"): "see above",
        (15, 132, "implicit-int-float-conversion"): "operands of conditionals are not looked at"},
    "operators.cl": {(36, 14, "sign-conversion"): "see above"},
}
"""What only one of the two reports, and why."""


@cache
def clang(file: str, level: str, folder: Path) -> frozenset[Place]:
    """Where clang warns of what."""
    prelude = folder / "prelude.h"
    prelude.write_text(CLANG_PRELUDE, encoding="utf-8")
    result = subprocess.run([*CLANG, *LEVELS[level], "-include", prelude, FOLDER / file], capture_output=True,
                            text=True, timeout=60, check=False)
    assert "error: " not in result.stderr, result.stderr
    found = re.findall(r"^\S+?:(\d+):(\d+): warning: .*\[-W([\w-]+)\]$", result.stderr, re.M)
    return frozenset((int(line), int(column), name) for line, column, name in found)


def ours(source: str, *options: str) -> list[Diagnostic]:
    return compile_source(source, options=BuildOptions(warnings=options))[1]


def places(diagnostics: list[Diagnostic]) -> frozenset[Place]:
    return frozenset((diagnostic.location.line, diagnostic.location.column, diagnostic.option or "")
                     for diagnostic in diagnostics if diagnostic.location is not None)


@pytest.mark.oracle("clang")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("file", FILES)
def test_places_and_names_are_clangs(file: str, level: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    expected = clang(file, level, tmp_path_factory.mktemp("clang"))
    found = places(ours((FOLDER / file).read_text(encoding="utf-8"), *LEVELS[level]))
    assert found - OURS.get(file, {}).keys() == expected - THEIRS.get(file, {}).keys()
    assert level == "default" or len(found) > 15


def test_exceptions_are_found() -> None:
    for file, exceptions in OURS.items():
        found = places(ours((FOLDER / file).read_text(encoding="utf-8"), *LEVELS["names"]))
        assert exceptions.keys() <= found


def test_every_warning_of_the_table_is_in_the_corpus() -> None:
    """So that each row of the table is compared with clang."""
    found = {diagnostic.code for file in FILES
             for diagnostic in ours((FOLDER / file).read_text(encoding="utf-8"), "-Weverything")}
    table = {row.code: name for name, row in vars(messages).items() if isinstance(row, Message)}
    assert {name for code, name in table.items() if code not in found} == set()


KERNEL = "kernel void k(global int *p, int n, uint u)\n{\n%s\n}\n"


@pytest.mark.parametrize(("body", "options", "expected"), [
    ("    if (n = 3) p[0] = 1;", (), """\
<source>:3:11: warning: using the result of an assignment as a condition without parentheses [CM3901, -Wparentheses]
    3 |     if (n = 3) p[0] = 1;
      |         ~ ^ ~
<source>:3:11: note: place parentheses around the assignment to silence this warning
    3 |     if (n = 3) p[0] = 1;
      |           ^
      |        (     )
<source>:3:11: note: use '==' to turn this assignment into an equality comparison
    3 |     if (n = 3) p[0] = 1;
      |           ^
      |           =="""),
    ("    int x;\n    if (n > 3)\n        x = 1;\n    p[0] = x;", ("-Wall",), """\
<source>:4:9: warning: variable 'x' is used uninitialized whenever 'if' condition is false \
[CM3928, -Wsometimes-uninitialized]
    4 |     if (n > 3)
      |         ^~~~~
<source>:6:12: note: uninitialized use occurs here
    6 |     p[0] = x;
      |            ^
<source>:4:5: note: remove the 'if' if its condition is always true
    4 |     if (n > 3)
      |     ^~
<source>:3:9: note: initialize the variable 'x' to silence this warning
    3 |     int x;
      |         ^
      |           = 0"""),
    ("    p[0] = n & 1 == 0;", (), """\
<source>:3:14: warning: & has lower precedence than ==; == will be evaluated first [CM3904, -Wparentheses]
    3 |     p[0] = n & 1 == 0;
      |            ~ ^ ~~~~~~
<source>:3:18: note: place parentheses around the '==' expression to silence this warning
    3 |     p[0] = n & 1 == 0;
      |                  ^~
      |               (      )"""),
    ("    for (int i = 0; i < u; i++);\n    {\n    }", ("-Wextra",), """\
<source>:3:23: warning: comparison of integers of different signs: 'int' and 'uint' [CM3916, -Wsign-compare]
    3 |     for (int i = 0; i < u; i++);
      |                     ~ ^ ~
<source>:3:32: warning: for loop has empty body [CM3910, -Wempty-body]
    3 |     for (int i = 0; i < u; i++);
      |                                ^
<source>:3:32: note: put the semicolon on a separate line to silence this warning
    3 |     for (int i = 0; i < u; i++);
      |                                ^"""),
    ("    int a[4];\n    p[0] = a[4];", (), """\
<source>:4:14: warning: index 4 is past the end of 'int[4]' [CM3232, -Warray-bounds]
    4 |     p[0] = a[4];
      |              ^
<source>:3:9: note: array 'a' declared here
    3 |     int a[4];
      |         ^"""),
])
def test_what_is_shown(body: str, options: tuple[str, ...], expected: str) -> None:
    found = ours(KERNEL % body, *options, "-Wno-unused", "-Wno-unused-parameter")
    assert "\n".join(map(str, found)) == expected


# ------------------------------------------------------------------ -W


UNUSED = KERNEL % "    int x = 1.5;"
BOTH = ["literal-conversion", "unused-variable"]


def severities(source: str, *options: str) -> dict[str, str]:
    """The names of what is reported, with its severity."""
    try:
        found = ours(source, *options)
    except CompileError as error:
        found = error.diagnostics
    return {diagnostic.option or "": diagnostic.severity for diagnostic in found}


@pytest.mark.parametrize(("options", "expected"), [
    ((), {"literal-conversion": "warning"}),
    (("-Wall",), dict.fromkeys(BOTH, "warning")),
    (("-Wall", "-w"), {}), (("-w", "-Wall"), {}), (("-w", "-Werror=unused-variable"), {}),
    (("-Wunused", "-Wno-unused-variable"), {"literal-conversion": "warning"}),
    (("-Wno-unused-variable", "-Wunused"), dict.fromkeys(BOTH, "warning")),
    (("-Wno-all", "-Wunused-variable"), dict.fromkeys(BOTH, "warning")),
    (("-Wno-everything",), {}), (("-Wno-everything", "-Wall"), {"unused-variable": "warning"}),
    (("-Wall", "-Wno-everything"), {}),
    (("-Wno-conversion",), {}), (("-Wno-literal-conversion",), {}),
    (("-Werror",), {"literal-conversion": "error"}), (("-Werror", "-Wno-error"), {"literal-conversion": "warning"}),
    (("-Werror=unused-variable",), {"literal-conversion": "warning", "unused-variable": "error"}),
    (("-Werror=unused-variable", "-Wno-error"), {"literal-conversion": "warning", "unused-variable": "error"}),
    (("-Wall", "-Werror", "-Wno-error=unused-variable"),
     {"literal-conversion": "error", "unused-variable": "warning"}),
    (("-Wall", "-Wno-error=unused", "-Werror"), {"literal-conversion": "error", "unused-variable": "warning"}),
    (("-Werror=unused", "-Wno-unused-variable"), {"literal-conversion": "warning"}),
    (("-Werror=unused", "-Wunused"), {"literal-conversion": "warning", "unused-variable": "error"}),
])
def test_the_last_option_wins(options: tuple[str, ...], expected: dict[str, str]) -> None:
    """As clang 16 does it: each row was tried there."""
    parameters = ("-Wno-unused-parameter",)
    assert severities(UNUSED, *options, *parameters) == expected


def test_everything_turns_all_on() -> None:
    assert {"unused-variable", "unused-parameter", "literal-conversion"} <= severities(UNUSED, "-Weverything").keys()


@pytest.mark.parametrize(("option", "message"), [
    ("-Wunused-varable", "unknown warning option '-Wunused-varable'; did you mean '-Wunused-variable'?"),
    ("-Wno-shadw", "unknown warning option '-Wno-shadw'; did you mean '-Wno-shadow'?"),
    ("-Werror=qqqqqqqqqq", "unknown warning option '-Werror=qqqqqqqqqq'"),
    ("-Wno-error=unsed", "unknown warning option '-Wno-error=unsed'; did you mean '-Wno-error=unused'?"),
])
def test_unknown_names_are_warnings(option: str, message: str) -> None:
    (found,) = ours("", option)
    assert (found.severity, found.message, found.location) == ("warning", message, None)
    assert ours("", option, "-Wno-unknown-warning-option") == []


def test_names_of_the_tables_are_known() -> None:
    assert {row.option for row in rows() if row.option} <= warning_names()


# ------------------------------------------------------------------ #pragma clang diagnostic


PRAGMAS = """
void a(int i) { i == 1; }
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-comparison"
void b(int i) { i == 1; }
#pragma clang diagnostic warning "-Wunused-variable"
void c(int i) { i == 1; int x; }
#pragma GCC diagnostic error "-Wunused-comparison"
void d(int i) { i == 1; }
#pragma clang diagnostic pop
void e(int i) { i == 1; int x; }
#define QUIET(s) _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \\"-Wunused\\"") s \\
    _Pragma("clang diagnostic pop")
QUIET(void f(int i) { i == 1; })
void g(int i) { i == 1; }
"""


def test_pragmas_hold_from_their_place_on() -> None:
    with pytest.raises(CompileError) as caught:
        compile_source(PRAGMAS)
    assert [(d.location.line, d.severity, d.option) for d in caught.value.diagnostics if d.location is not None] == [
        (2, "warning", "unused-comparison"), (7, "warning", "unused-variable"), (9, "error", "unused-comparison"),
        (11, "warning", "unused-comparison"), (15, "warning", "unused-comparison")]


def test_a_pragma_in_a_header_goes_on_behind_it(tmp_path: Path) -> None:
    (tmp_path / "quiet.h").write_text('#pragma clang diagnostic ignored "-Wunused-comparison"\n')
    (tmp_path / "inside.h").write_text("void inside(int i) { i == 1; }\n")
    source = 'void a(int i) { i == 1; }\n#include "quiet.h"\n#include "inside.h"\nvoid b(int i) { i == 1; }\n'
    found = compile_source(source, options=BuildOptions(include_paths=(tmp_path,)))[1]
    assert [d.location.line for d in found if d.location is not None] == [1]


@pytest.mark.parametrize(("pragma", "expected"), [
    ("pop", "1:26: warning: pragma diagnostic pop could not pop, no matching push [CM1154, -Wunknown-pragmas]"),
    ("ignore \"-Wunused\"", "1:26: warning: pragma diagnostic expected 'error', 'warning', 'ignored', 'fatal', 'push', "
                            "or 'pop' [CM1153, -Wunknown-pragmas]"),
    ("ignored unused", "1:34: warning: pragma diagnostic expected a warning's name as a string, such as \"-Wshadow\" "
                       "[CM1153, -Wunknown-pragmas]"),
    ("ignored \"-Wunsed\"", "1:34: warning: unknown warning option '-Wunsed'; did you mean '-Wunused'? "
                            "[CM1151, -Wunknown-warning-option]"),
    ("push 1", "1:31: warning: pragma diagnostic expected nothing more [CM1153, -Wunknown-pragmas]"),
])
def test_wrong_pragmas(pragma: str, expected: str) -> None:
    (found,) = ours(f"#pragma clang diagnostic {pragma}\n")
    assert found.header == f"<source>:{expected}"
