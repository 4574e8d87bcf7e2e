"""``#if`` and its like: grouping, and the integer expressions (C99 6.10.1)."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from coopmat.diagnostics import DiagnosticSink, SourceFile
from coopmat.opencl.preprocess import conditions
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from tests.kit.oracles import clang


def run(text: str, features: tuple[str, ...] = (), **options: frozenset[str]) -> tuple[str, list[str]]:
    sink = DiagnosticSink()
    preprocessor = Preprocessor(sink, features=features, **options)
    tokens = list(preprocessor.expand(SourceFile("k.cl", text)))[:-1]
    return " ".join(token.text for token in tokens), [diagnostic.header for diagnostic in sink.diagnostics]


def holds(expression: str, features: tuple[str, ...] = (), **options: frozenset[str]) -> bool:
    text, headers = run(f"#if {expression}\nyes\n#else\nno\n#endif", features, **options)
    assert headers == []
    return {"yes": True, "no": False}[text]


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("expression", [
    "1", "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "10 - 4 - 3 == 3", "7 / 2 == 3", "-7 / 2 == -3", "-7 % 3 == -1",
    "7 % -3 == 1", "1 << 4 == 16", "-8 >> 1 == -4", "(5 & 3) == 1", "(5 | 3) == 7", "(5 ^ 3) == 6", "~0 == -1", "!0",
    "!!7 == 1", "- - 1 == 1", "+5 == 5", "1 ? 1 : 0", "0 ? 0 : 1", "1 ? 1 : 0 ? 0 : 0", "(0 ? 1 : 2) == 2",
    "2 > 1 > 0", "1 < 2 == 1", "1 == 1 & 1", "0 && 0 || 1", "1 || 0 && 0", "0x10 == 16", "010 == 8", "0b11 == 3",
    "'a' == 97", "'\\n' == 10", "'\\377' < 0", "1L + 1u == 2ul", "undefined == 0", "true == 1", "false == 0",
    "0x7fffffffffffffff > 0", "0xffffffffffffffff > 0", "0xffffffffffffffff == ~0u", "-1 < 1",
    "0x7fffffff + 1 > 0", "0xffffffff + 1 == 0x100000000", "18446744073709551615u + 1 == 0", "-1 >> 63 == -1",
    "~0u >> 63 == 1", "(0 ? 1u : 2) == 2", "1 << -1 == 0", "4 >> -1 == 8", "1u << 64 == 0",
    "(2 || 1 / 0) == 1", "(0 && 1 / 0) == 0", "(1 ? 2 : 1 / 0) == 2", "(0 ? 1 % 0 : 2) == 2", "1 ||\\\n0",
    "defined __FILE__", "!defined X", "!defined(X)", "defined(__LINE__) && __LINE__ == 1", "/**/1/**/",
])
def test_true_expressions(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize("expression", ["0", "1 - 1", "!1", "x", "1 > 2", "0x0", "'\\0'", "1 & 2"])
def test_false_expressions(expression: str) -> None:
    assert not holds(expression)


@pytest.mark.parametrize("expression", ["-1 > 0u", "(1 ? -1 : 0u) > 0"])
def test_negative_numbers_become_unsigned(expression: str) -> None:
    text, headers = run(f"#if {expression}\nyes\n#endif")
    assert text == "yes"
    assert all("CM1124" in header for header in headers)


@pytest.mark.parametrize("expression", ["0x7fffffffffffffff + 1 < 0", "-0x7fffffffffffffff - 2 > 0",
                                        "0x7fffffffffffffff * 2 == -2", "1 << 63 < 0",
                                        "(-0x7fffffffffffffff - 1) / -1 < 0"])
def test_overflow_wraps_with_a_warning(expression: str) -> None:
    text, headers = run(f"#if {expression}\nyes\n#endif")
    assert text == "yes"
    (header,) = headers
    assert header.endswith("warning: integer overflow in preprocessor expression [CM1120, -Winteger-overflow]")


ATOMS = ["0", "1", "2", "7", "20", "0u", "3u", "0x7fffffffffffffff", "0xffffffffffffffffu", "undefined", "'a'",
         "2147483648"]
BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"]


def random_expression(choose: random.Random, depth: int = 4) -> str:
    """An expression, without shifts: past the width, every compiler does what it likes."""
    def inner() -> str:
        return random_expression(choose, depth - 1)

    kind = choose.randrange(8) if depth else 0
    if kind == 0:
        return choose.choice(ATOMS)
    if kind == 1:
        return f"({inner()})"
    if kind == 2:
        return f"{choose.choice('+-~!')} {inner()}"
    if kind == 3:
        return f"{inner()} ? {inner()} : {inner()}"
    return f"{inner()} {choose.choice(BINARY)} {inner()}"


@pytest.mark.oracle("clang")
def test_expressions_are_clangs(tmp_path: Path) -> None:
    choose = random.Random(7)
    lines = [line for index in range(1500) for line in (f"#if {random_expression(choose)}", f"{index}", "#endif")]
    text = "\n".join(lines)
    sink = DiagnosticSink(error_limit=len(lines))
    tokens = list(Preprocessor(sink).expand(SourceFile("k.cl", text)))[:-1]
    output, messages = clang.run(text, tmp_path, *clang.C99, "-E", "-P")
    assert [token.text for token in tokens] == clang.spellings(output)
    theirs = {line.split(":")[1] for line in messages.splitlines() if " error: " in line}
    ours = {str(diagnostic.location.line) for diagnostic in sink.diagnostics
            if diagnostic.severity == "error" and diagnostic.location is not None}
    assert ours == theirs
    assert 20 < len(ours) < 500 < len(tokens)


def test_shifts_within_the_width() -> None:
    for amount in range(64):
        assert holds(f"1u << {amount} == {1 << amount}u")
        assert holds(f"~0u >> {amount} == {(2**64 - 1) >> amount}u")
        assert holds(f"-0x7fffffffffffffff >> {amount} == {-(2**63 - 1) >> amount}")


# ------------------------------------------------------------------ groups


@pytest.mark.parametrize(("text", "expected"), [
    ("#ifdef A\n1\n#else\n2\n#endif", "2"), ("#define A\n#ifdef A\n1\n#else\n2\n#endif", "1"),
    ("#ifndef A\n1\n#else\n2\n#endif", "1"), ("#if 0\n1\n#elif 1\n2\n#elif 1\n3\n#else\n4\n#endif 5", "2 "),
    ("#if 0\n#elif 0\n#else\n4\n#endif", "4"), ("#if 1\n1\n#elif 1/0 nonsense\n2\n#endif", "1"),
    ("#if 0\n#if 1\n1\n#else\n2\n#endif\n#elif 1\n3\n#endif", "3"),
    ("#if 0\n#elif 1\n#if 0\n1\n#else\n2\n#endif\n3\n#else\n4\n#endif", "2 3"),
    ("#if 0\n#unknown directive\n#error no\n#include <nowhere>\n# 99999999999\n#if\n#endif\n#endif\nx", "x"),
    ("#if 1 // c\n1\n#endif /* c */", "1"), ("  #  if 1\n1\n # \n#\n#endif", "1"),
    ("#if 1\n#endif\n#if 1\n1\n#endif", "1"),
])
def test_groups(text: str, expected: str) -> None:
    assert run(text)[0] == expected.strip()


@pytest.mark.parametrize(("text", "expected"), [
    ("#if\n#endif", "k.cl:1:2: error: #if has no expression [CM1113]"),
    ("#if 0\n#elif\n#endif", "k.cl:2:2: error: #elif has no expression [CM1113]"),
    ("#ifdef\n#endif", "k.cl:1:7: error: #ifdef requires a macro name, found the end of the line [CM1122]"),
    ("#ifdef 3\n#endif", "k.cl:1:8: error: #ifdef requires a macro name, found '3' [CM1122]"),
    ("#ifdef A B\n#endif", "k.cl:1:10: warning: extra tokens at end of #ifdef directive [CM1102, -Wextra-tokens]"),
    ("#else", "k.cl:1:2: error: #else without #if [CM1111]"),
    ("#elif 1", "k.cl:1:2: error: #elif without #if [CM1111]"),
    ("#endif", "k.cl:1:2: error: #endif without #if [CM1111]"),
    ("a\n#if 1\nb", "k.cl:2:2: error: unterminated conditional directive; expected #endif [CM1110]"),
    ("#if 0\nb", "k.cl:1:2: error: unterminated conditional directive; expected #endif [CM1110]"),
    ("#if 1\n#else\n#else\n#endif", "k.cl:3:2: error: #else after #else [CM1112]"),
    ("#if 0\n#else\n#elif 1\n#endif", "k.cl:3:2: error: #elif after #else [CM1112]"),
    ("#if 1\n#else x\n#endif", "k.cl:2:7: warning: extra tokens at end of #else directive [CM1102, -Wextra-tokens]"),
    ("#if 1 +\n#endif", "k.cl:1:8: error: expected a value in preprocessor expression, found the end of the line "
                        "[CM1114]"),
    ("#if * 1\n#endif", "k.cl:1:5: error: expected a value in preprocessor expression, found '*' [CM1114]"),
    ("#if (1\n#endif", "k.cl:1:7: error: expected ')' in preprocessor expression, found the end of the line [CM1115]"),
    ("#if 1 ? 2\n#endif", "k.cl:1:10: error: expected ':' in preprocessor expression, found the end of the line "
                          "[CM1115]"),
    ("#if 1 2\n#endif", "k.cl:1:7: error: expected the end of the line in preprocessor expression, found '2' [CM1115]"),
    ("#if 1, 2\n#endif", "k.cl:1:6: error: expected the end of the line in preprocessor expression, found ',' "
                         "[CM1115]"),
    ("#if a = 1\n#endif", "k.cl:1:7: error: expected the end of the line in preprocessor expression, found '=' "
                          "[CM1115]"),
    ("#if 1.0\n#endif", "k.cl:1:5: error: floating constant '1.0' in preprocessor expression; only integers are "
                        "allowed [CM1116]"),
    ('#if "a"\n#endif', "k.cl:1:5: error: string literal in preprocessor expression; only integers are allowed "
                        "[CM1117]"),
    ("#if f(1)\n#endif", "k.cl:1:5: error: function-like macro 'f' is not defined [CM1118]"),
    ("#if 1 / 0\n#endif", "k.cl:1:7: error: division by zero in preprocessor expression [CM1119]"),
    ("#if 1 % 0u\n#endif", "k.cl:1:7: error: division by zero in preprocessor expression [CM1119]"),
    ("#if 09\n#endif", "k.cl:1:5: error: invalid digit '9' in octal constant [CM1012]"),
    ("#if defined\n#endif", "k.cl:1:5: error: expected a macro name after 'defined', found the end of the line "
                            "[CM1123]"),
    ("#if defined(A\n#endif", "k.cl:1:5: error: expected ')' after 'defined', found the end of the line [CM1123]"),
    ("#if defined(1)\n#endif", "k.cl:1:13: error: expected a macro name after 'defined', found '1' [CM1123]"),
    ("#if __has_builtin x\n#endif", "k.cl:1:19: error: expected '(' after '__has_builtin', found 'x' [CM1123]"),
    ("#if __has_include(x)\n#endif", "k.cl:1:19: error: expected \"file\" or <file> after '__has_include', found 'x' "
                                     "[CM1123]"),
])
def test_wrong_conditions(text: str, expected: str) -> None:
    assert run(text)[1] == [expected]


def test_the_group_of_a_wrong_condition_is_skipped() -> None:
    assert run("#if 1 +\na\n#else\nb\n#endif")[0] == "b"


def test_directives_after_else_point_back_at_if() -> None:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", "#if 1\n#else\n#else\n#endif"))
    assert [note.header for note in sink.diagnostics[0].notes] == ["k.cl:1:2: note: the #if is here"]


@pytest.mark.parametrize("expression", [
    "(" * 70 + "1" + ")" * 70,
    "!" * 100_000 + "1",
    "0 || " * 10_000 + "1",
    "1 + " * 10_000 + "1",
])
def test_deep_expressions(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize("expression", [
    "(" * 5000 + "1" + ")" * 5000,
    "(1||2&&3|4^5&6==7<8<<9+10*" * 5000 + "1" + ")" * 5000,
    "1?" * 5000 + "1" + ":1" * 5000,
    "0?1:" * 5000 + "1",
])
def test_too_deep_expressions(expression: str) -> None:
    _, headers = run(f"#if {expression}\n#endif")
    assert len(headers) == 1
    assert f"preprocessor expression is nested too deeply (limit {conditions.MAX_DEPTH}) [CM1121]" in headers[0]
    assert sys.getrecursionlimit() > 10 * conditions.MAX_DEPTH


# ------------------------------------------------------------------ operators


def test_defined_may_come_out_of_a_macro() -> None:
    assert run("#define X\n#define HAS defined(X) && !defined Y\n#if HAS\nyes\n#endif")[0] == "yes"
    assert run("#define X 0\n#if defined X && !X\nyes\n#endif\ndefined(X)")[0] == "yes defined ( 0 )"


def test_has_operators() -> None:
    options = {"has_builtin": frozenset({"convert_int"}), "has_attribute": frozenset({"coop_mat"})}
    features = ("cl_khr_fp16",)
    assert holds("__has_builtin(convert_int) && !__has_builtin(nonsense)", **options)
    assert holds("__has_extension(cl_khr_fp16) && !__has_extension(cl_khr_fp64)", features)
    assert holds("__has_feature(cl_khr_fp16)", features)
    assert holds("__has_attribute(coop_mat) && __has_attribute(__coop_mat__) && !__has_attribute(x)", **options)
    for name in ("builtin", "attribute", "extension", "feature", "include"):
        assert holds(f"defined(__has_{name}) && defined __has_{name}")
    assert run("#define convert_int 1\n__has_builtin(convert_int)", **options)[0] == "1"


def test_has_include(tmp_path: Path) -> None:
    (tmp_path / "there.h").write_text("")
    sink = DiagnosticSink()
    preprocessor = Preprocessor(sink, include_paths=[tmp_path])
    text = '#if __has_include("there.h") && __has_include(<there.h>) && !__has_include(<not.h>)\nyes\n#endif'
    tokens = preprocessor.run(SourceFile("k.cl", text))
    assert [token.text for token in tokens] == ["yes", ""]
    assert sink.diagnostics == []
