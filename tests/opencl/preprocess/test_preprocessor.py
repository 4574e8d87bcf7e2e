"""The preprocessor as a whole: the parser's tokens, files, ``#line``, pragmas, options and predefined macros."""

from __future__ import annotations

import math
import os
from decimal import Decimal, localcontext
from pathlib import Path

import pytest

from coopmat.diagnostics import CompileError, DiagnosticSink, SourceFile
from coopmat.opencl.preprocess import literals, predefined_macros, preprocessor
from coopmat.opencl.preprocess.preprocessor import Preprocessor, preprocess_text
from coopmat.opencl.preprocess.token_values import ContractPragma, ExtensionPragma, UnrollPragma
from coopmat.opencl.preprocess.tokens import Token, TokenKind

FEATURES = ("cl_khr_fp16", "cl_khr_fp64", "__opencl_c_ext_cooperative_matrix")


def run(text: str, name: str = "k.cl", **options: object) -> tuple[list[Token], list[str]]:
    """The parser's tokens without END, and the headers of the diagnostics."""
    sink = DiagnosticSink()
    tokens = Preprocessor(sink, **options).run(SourceFile(name, text))
    assert tokens[-1].kind is TokenKind.END
    return tokens[:-1], [diagnostic.header for diagnostic in sink.diagnostics]


def spelled(text: str, name: str = "k.cl", **options: object) -> str:
    tokens, headers = run(text, name, **options)
    assert headers == []
    return " ".join(token.text for token in tokens)


# ------------------------------------------------------------------ the parser's tokens


def test_kinds_and_values() -> None:
    tokens, headers = run("kernel 1u 2.5f 'a' \"s\" +")
    assert headers == []
    assert [token.kind.name for token in tokens] == ["IDENTIFIER", "INTEGER", "FLOATING", "CHARACTER", "STRING",
                                                     "PUNCTUATOR"]
    assert [token.value for token in tokens if not isinstance(token.value, literals.FloatingConstant)] == [
        None, literals.IntegerConstant(1, "uint"), literals.IntegerConstant(97, "int"), b"s", None]
    assert isinstance(tokens[2].value, literals.FloatingConstant)
    assert (tokens[2].value.value, tokens[2].value.type_name) == (2.5, "float")


def test_digraphs_become_the_usual_punctuators() -> None:
    tokens, _ = run("<: :> <% %>")
    assert [(token.text, token.location.length) for token in tokens] == [("[", 2), ("]", 2), ("{", 2), ("}", 2)]


def test_an_empty_file_is_a_valid_program() -> None:
    assert run("") == ([], [])
    assert run("\n/* nothing */\n#define A") == ([], [])


def test_numbers_in_dead_code_are_not_looked_at() -> None:
    assert run("#define BAD 0x\n#if 0\n09\n#endif\n#define S(x) #x\nS(09)")[1] == []


# ------------------------------------------------------------------ directives


@pytest.mark.parametrize(("text", "expected"), [
    ("#error", "k.cl:1:2: error: #error [CM1103]"),
    ("#error @ \"x\" don't  do ", "k.cl:1:2: error: #error @ \"x\" don't  do  [CM1103]"),
    ("#error a  b", "k.cl:1:2: error: #error a b [CM1103]"),
    ("#warning careful", "k.cl:1:2: warning: #warning careful [CM1104, -W#warnings]"),
    ("#foo bar", "k.cl:1:2: error: invalid preprocessing directive '#foo' [CM1101]"),
    ("#ifdeff X", "k.cl:1:2: error: invalid preprocessing directive '#ifdeff'; did you mean '#ifdef'? [CM1101]"),
    ("# + 1", "k.cl:1:3: error: invalid preprocessing directive '#+' [CM1101]"),
])
def test_messages_of_directives(text: str, expected: str) -> None:
    assert run(text)[1] == [expected]


def test_null_directives_and_hashes_in_text() -> None:
    assert spelled("#\n # /* c */\n%:\nx # define y") == "x # define y"


# ------------------------------------------------------------------ #line


def test_line_changes_messages_but_not_the_shown_source() -> None:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", "a\n#line 100 \"gen.cl\"\nb @\n#line 7\nc @"))
    first, second = sink.diagnostics
    assert first.header == "gen.cl:100:3: error: unexpected character '@' [CM1003]"
    assert second.header == "gen.cl:7:3: error: unexpected character '@' [CM1003]"
    assert str(first).splitlines()[1:] == ["  100 | b @", "      |   ^"]
    assert first.location is not None
    assert first.location.physical_line == 3


@pytest.mark.parametrize(("text", "expected"), [
    ("#line 010\n__LINE__", "10"), ("#define N 5\n#define F \"f\"\n#line N F\n__LINE__ __FILE__", '5 "f"'),
    ("# 5 \"f.cl\" 2\n__LINE__ __FILE__", '5 "f.cl"'), ("#line 2147483647\n__LINE__", "2147483647"),
    ("#line 9 \\\n \"x\"\n__LINE__", "9"), ("# 0 \"f.cl\"\n__LINE__", "0"),
])
def test_line_numbers(text: str, expected: str) -> None:
    assert spelled(text) == expected


@pytest.mark.parametrize("argument", ["0", "2147483648", "99999999999999999999", "x", "1.5", "0x10", "-1", "", "'1'"])
def test_invalid_line_numbers(argument: str) -> None:
    (header,) = run(f"#line {argument}\n")[1]
    assert "error: #line requires a line number from 1 to 2147483647" in header


def test_other_wrong_line_directives() -> None:
    assert run("#line 5 x")[1] == ["k.cl:1:9: error: invalid file name 'x' for #line; expected a string [CM1106]"]
    assert run('#line 5 "x" y')[1] == ["k.cl:1:13: warning: extra tokens at end of #line directive [CM1102, "
                                       "-Wextra-tokens]"]


# ------------------------------------------------------------------ #include


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "a.h").write_text('a __FILE__ __LINE__\n#include "sub/b.h"\n')
    (tmp_path / "sub" / "b.h").write_text('#include "c.h"\n#include <c.h>\n')
    (tmp_path / "sub" / "c.h").write_text("own\n")
    (tmp_path / "lib" / "c.h").write_text("lib\n")
    return tmp_path


def test_include_looks_beside_the_file_and_in_the_folders(tree: Path) -> None:
    text = spelled('#include "a.h"\nend __LINE__', str(tree / "k.cl"), include_paths=[tree / "lib"])
    assert text == f'a "{tree / "a.h"}" 1 own lib end 2'


@pytest.mark.parametrize("line", ['#include "a.h"', "#include NAME", "#include ANGLED", "#include <a.h>",
                                  '# /**/ include /**/ "a.h" // c', "#include STR(a.h)", "%:include <a.h>"])
def test_ways_to_name_a_file(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.h").write_text("found")
    macros = '#define NAME "a.h"\n#define ANGLED <a.h>\n#define STR(x) STR2(x)\n#define STR2(x) #x\n'
    assert spelled(macros + line + "\nend", include_paths=[tmp_path]) == "found end"


def test_places_in_included_files(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("#define BAD 09\n  @\n")
    _, headers = run('#include "a.h"\nx = BAD;', str(tmp_path / "k.cl"))
    assert headers == [f"{tmp_path / 'a.h'}:2:3: error: unexpected character '@' [CM1003]",
                       f"{tmp_path / 'k.cl'}:2:5: error: invalid digit '9' in octal constant [CM1012]"]


def test_guards_and_pragma_once(tmp_path: Path) -> None:
    (tmp_path / "guard.h").write_text("#ifndef G\n#define G\nguarded\n#endif\n")
    (tmp_path / "once.h").write_text("#pragma once\nonce\n")
    text = '#include "guard.h"\n#include "once.h"\n' * 3
    assert spelled(text, str(tmp_path / "k.cl")) == "guarded once"


@pytest.mark.parametrize(("line", "expected"), [
    ('#include "no.h"', ":1:10: error: 'no.h' file not found; searched in '{0}', '{0}/lib' [CM1131]"),
    ("#include <no.h>", ":1:10: error: 'no.h' file not found; searched in '{0}/lib' [CM1131]"),
    ("#include", ":1:9: error: #include requires \"file\" or <file>, found the end of the line [CM1130]"),
    ("#include x", ":1:10: error: #include requires \"file\" or <file>, found 'x' [CM1130]"),
    ("#include <x", ":1:10: error: #include requires \"file\" or <file>, found '<' [CM1130]"),
    ('#include ""', ":1:10: error: empty file name in #include [CM1134]"),
    ("#include <sub>", ":1:10: error: 'sub' file not found; searched in '{0}/lib' [CM1131]"),
    ('#include "sub"', ":1:10: error: 'sub' file not found; searched in '{0}', '{0}/lib' [CM1131]"),
    ('#include "sub/c.h" x', ":1:20: warning: extra tokens at end of #include directive [CM1102, -Wextra-tokens]"),
    ('#include "/dev/zero"', ":1:10: error: '/dev/zero' file not found; searched in '{0}', '{0}/lib' [CM1131]"),
])
def test_wrong_includes(tree: Path, line: str, expected: str) -> None:
    _, headers = run(line, str(tree / "k.cl"), include_paths=[tree / "lib"])
    assert headers == [str(tree / "k.cl") + expected.format(tree)]


def test_include_without_folders() -> None:
    assert run("#include <x.h>")[1] == ["k.cl:1:10: error: 'x.h' file not found; no folder is given with -I [CM1131]"]


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    (header,) = run(f"#include <{name}>", include_paths=[tmp_path])[1]
    assert "file not found" in header


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "bytes.h").write_bytes(b"abc\xff")
    with (tmp_path / "huge.h").open("wb") as file:
        file.truncate(2**27)  # sparse
    _, headers = run('#include "bytes.h"\n#include "huge.h"', str(tmp_path / "k.cl"))
    assert headers == [
        f"{tmp_path}/k.cl:1:10: error: cannot read '{tmp_path}/bytes.h': not UTF-8 text (byte 3) [CM1132]",
        f"{tmp_path}/k.cl:2:10: error: source has 134217728 characters; at most 16777216 are supported [CM1001]",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_files_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("x")
    (tmp_path / "a.h").chmod(0)
    (header,) = run('#include "a.h"', str(tmp_path / "k.cl"))[1]
    assert f"cannot read '{tmp_path}/a.h': Permission denied" in header


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text('#include "k.cl"\n')
    with pytest.raises(CompileError, match=r"#include is nested too deeply \(limit 200 files\) \[CM1133\]"):
        run('#include "k.cl"\n', str(tmp_path / "k.cl"))


def test_files_that_multiply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coopmat.opencl.preprocess.macros.MAX_TOKENS", 100_000)
    monkeypatch.setattr(preprocessor, "MAX_INCLUDE_DEPTH", 10**6)
    (tmp_path / "k.cl").write_text('#include "k.cl"\n#include "k.cl"\n')
    with pytest.raises(CompileError, match="CM1164"):
        run('#include "k.cl"\n', str(tmp_path / "k.cl"))


@pytest.mark.parametrize(("inner", "expected"), [
    ("#if 1\n", "{}/a.h:1:2: error: unterminated conditional directive; expected #endif [CM1110]"),
    ("#endif\n", "{}/a.h:1:2: error: #endif without #if [CM1111]"),
    ("F(1\n", "{}/a.h:1:1: error: unterminated call of macro 'F'; expected ')' before the end of the file [CM1160]"),
])
def test_files_are_complete_by_themselves(tmp_path: Path, inner: str, expected: str) -> None:
    (tmp_path / "a.h").write_text(inner)
    tokens, headers = run('#define F(x) x\n#if 1\n#include "a.h"\n#endif\nend', str(tmp_path / "k.cl"))
    assert headers == [expected.format(tmp_path)]
    assert tokens[-1].text == "end"


# ------------------------------------------------------------------ pragmas


@pytest.mark.parametrize(("text", "expected"), [
    ("OPENCL EXTENSION cl_khr_fp16 : enable", ExtensionPragma("cl_khr_fp16", True)),
    ("OPENCL EXTENSION cl_khr_fp64:disable", ExtensionPragma("cl_khr_fp64", False)),
    ("OPENCL EXTENSION all : disable", ExtensionPragma("all", False)),
    ("OPENCL EXTENSION cl_khr_byte_addressable_store : enable",
     ExtensionPragma("cl_khr_byte_addressable_store", True)),
    ("OPENCL FP_CONTRACT ON", ContractPragma("ON")), ("STDC FP_CONTRACT OFF", ContractPragma("OFF")),
    ("OPENCL FP_CONTRACT DEFAULT", ContractPragma("DEFAULT")),
    ("unroll", UnrollPragma(0)), ("unroll 4", UnrollPragma(4)), ("unroll (2 * N)", UnrollPragma(16)),
    ("unroll(1)", UnrollPragma(1)), ("nounroll", UnrollPragma(1)),
])
def test_pragmas(text: str, expected: object) -> None:
    tokens, headers = run(f"#define N 8\na\n  #pragma {text}\nb", features=FEATURES)
    assert headers == []
    before, pragma, after = tokens
    assert (before.text, after.text) == ("a", "b")
    assert (pragma.kind, pragma.value) == (TokenKind.PRAGMA, expected)
    assert (pragma.location.line, pragma.location.column) == (3, 4)


def test_pragma_words() -> None:
    tokens, _ = run("#pragma STDC FP_CONTRACT ON\n#pragma OPENCL EXTENSION all:disable\n#pragma unroll 0x10\n"
                    "#pragma nounroll\n#pragma unroll\n")
    assert [token.text for token in tokens] == ["OPENCL FP_CONTRACT ON", "OPENCL EXTENSION all : disable", "unroll 16",
                                                "nounroll", "unroll"]


@pytest.mark.parametrize(("text", "expected"), [
    ("OPENCL EXTENSION", "k.cl:1:25: warning: malformed '#pragma OPENCL EXTENSION' is ignored: expected an "
                         "extension's name or 'all', found the end of the line [CM1171, -Wignored-pragmas]"),
    ("OPENCL EXTENSION a enable", "k.cl:1:28: warning: malformed '#pragma OPENCL EXTENSION' is ignored: expected ':', "
                                  "found 'enable' [CM1171, -Wignored-pragmas]"),
    ("OPENCL EXTENSION a : on",
     "k.cl:1:30: warning: malformed '#pragma OPENCL EXTENSION' is ignored: expected 'enable' "
                                "or 'disable', found 'on' [CM1171, -Wignored-pragmas]"),
    ("OPENCL EXTENSION all : enable", "k.cl:1:32: warning: malformed '#pragma OPENCL EXTENSION' is ignored: expected "
                                      "'disable', found 'enable' [CM1171, -Wignored-pragmas]"),
    ("OPENCL EXTENSION cl_x : enable", "k.cl:1:26: warning: extension 'cl_x' is not supported by this device; "
                                       "the pragma is ignored [CM1172, -Wignored-pragmas]"),
    ("OPENCL FP_CONTRACT", "k.cl:1:27: warning: malformed '#pragma OPENCL FP_CONTRACT' is ignored: expected ON, OFF "
                           "or DEFAULT, found the end of the line [CM1171, -Wignored-pragmas]"),
    ("OPENCL FP_CONTRACT ON x", "k.cl:1:31: warning: extra tokens at end of #pragma OPENCL FP_CONTRACT directive "
                                "[CM1102, -Wextra-tokens]"),
    ("unroll 0", "k.cl:1:16: error: #pragma unroll requires a positive integer constant, found '0' [CM1174]"),
    ("unroll -3", "k.cl:1:16: error: #pragma unroll requires a positive integer constant, found '-3' [CM1174]"),
    ("unroll n", "k.cl:1:16: error: #pragma unroll requires a positive integer constant, found 'n' [CM1174]"),
    ("unroll 2147483648", "k.cl:1:16: error: #pragma unroll requires a positive integer constant, found '2147483648' "
                          "[CM1174]"),
    ("omp parallel for", "k.cl:1:9: warning: unknown pragma 'omp parallel' is ignored [CM1170, -Wunknown-pragmas]"),
    ("", "k.cl:1:8: warning: unknown pragma '' is ignored [CM1170, -Wunknown-pragmas]"),
])
def test_wrong_pragmas(text: str, expected: str) -> None:
    assert run(f"#pragma {text}".rstrip())[1] == [expected]


def test_the_pragma_operator() -> None:
    text = '#define UNROLL(n) _Pragma(STR(unroll n))\n#define STR(x) #x\n'
    text += '_Pragma("OPENCL FP_CONTRACT OFF") a UNROLL(4) b'
    tokens, headers = run(text)
    assert headers == []
    assert [token.value or token.text for token in tokens] == [ContractPragma("OFF"), "a", UnrollPragma(4), "b"]
    assert tokens[0].location.column == 1


@pytest.mark.parametrize("text", ["_Pragma", "_Pragma x", "_Pragma(x)", "_Pragma(\"unroll\"", "_Pragma()"])
def test_wrong_pragma_operators(text: str) -> None:
    assert "k.cl:1:1: error: _Pragma takes a parenthesized string literal [CM1173]" in run(text)[1]


def test_the_pragma_operator_unescapes_its_string() -> None:
    assert run(r'_Pragma("x \"a\\b\"")')[1] == ['k.cl:1:1: warning: unknown pragma \'x "a\\b"\' is ignored '
                                                "[CM1170, -Wunknown-pragmas]"]


# ------------------------------------------------------------------ options


def test_defines_and_undefines() -> None:
    text = "A B C F(1,2) D"
    macros = [("A", "1"), ("B", "2 + 2"), ("C", ""), ("F(x, y)", "y-x"), ("D", "9"), ("D", None), ("not_there", None)]
    assert spelled(text, macros=macros) == "1 2 + 2 2 - 1 D"
    assert spelled("D", macros=[("D", None), ("D", "9")]) == "9"


def test_options_come_before_the_source() -> None:
    assert spelled("#ifndef K\n#define K 1\n#endif\nK", macros=[("K", "64")]) == "64"
    tokens, headers = run("#define K 1\nK", macros=[("K", "64")])
    assert tokens[0].text == "1"
    assert headers == ["k.cl:1:9: warning: 'K' macro redefined [CM1149, -Wmacro-redefined]"]


def test_undefine_reaches_predefined_macros() -> None:
    assert spelled("CHAR_BIT __LINE__", macros=[("CHAR_BIT", None), ("__LINE__", None)]) == "CHAR_BIT __LINE__"


@pytest.mark.parametrize(("macro", "expected"), [
    (("3x", "1"), "error: option -D '3x': expected a macro name, or a name with parameters: NAME(a, b) [CM1175]"),
    (("", "1"), "error: option -D '': expected a macro name"),
    (("a b", "1"), "error: option -D 'a b': expected a macro name"),
    (("A", "1\n#include <x>"), "error: option -D 'A': a macro's value cannot have line ends [CM1175]"),
    (("F(x", "1"), "error: option -D 'F(x': expected a macro name"),
    (("F(x x)", "1"), "<command line>:1:13: error: expected ',' or ')' in the macro's parameter list"),
    (("defined", "1"), "<command line>:1:9: error: 'defined' cannot be used as a macro name [CM1140]"),
    (("A", "/*"), "<command line>:1:11: error: unterminated /* comment"),
    (("1", None), "error: option -U '1': expected a macro name [CM1175]"),
])
def test_wrong_options(macro: tuple[str, str | None], expected: str) -> None:
    with pytest.raises(CompileError) as caught:
        run("", macros=[macro])
    assert str(caught.value).startswith(expected)


# ------------------------------------------------------------------ predefined macros


def value(expression: str) -> object:
    (token,) = run(expression, features=FEATURES)[0]
    return token.value


def test_version_macros() -> None:
    assert spelled("__OPENCL_VERSION__ __OPENCL_C_VERSION__ CL_VERSION_1_0 CL_VERSION_1_1 CL_VERSION_1_2 "
                   "CL_VERSION_2_0 CL_VERSION_3_0 __ENDIAN_LITTLE__") == "300 300 100 110 120 200 300 1"


def test_features_are_macros_with_value_one() -> None:
    assert spelled(" ".join(FEATURES), features=FEATURES) == "1 1 1"
    assert spelled("cl_khr_fp16 HALF_MAX DBL_MAX M_PI") == "cl_khr_fp16 HALF_MAX DBL_MAX M_PI"


def test_a_device_may_name_a_feature_that_is_predefined() -> None:
    assert spelled("__opencl_c_int64", features=["__opencl_c_int64"]) == "1"


@pytest.mark.parametrize("expression", [
    "CHAR_BIT == 8", "SCHAR_MIN == -128", "CHAR_MAX == 127", "UCHAR_MAX == 255", "SHRT_MIN == -32768",
    "USHRT_MAX == 65535", "INT_MIN == -0x80000000", "INT_MAX == 0x7fffffff", "UINT_MAX == 0xffffffff",
    "LONG_MAX == 0x7fffffffffffffff", "LONG_MIN < 0 && LONG_MIN + LONG_MAX == -1", "ULONG_MAX == ~0u",
    "CLK_LOCAL_MEM_FENCE == 1 && CLK_GLOBAL_MEM_FENCE == 2", "FP_ILOGB0 == INT_MIN && FP_ILOGBNAN == INT_MAX",
    "FLT_MIN_EXP == -125 && DBL_MIN_10_EXP == -307 && HALF_MAX_EXP == 16",
])
def test_integer_limits(expression: str) -> None:
    assert spelled(f"#if {expression}\nyes\n#endif", features=FEATURES) == "yes"


@pytest.mark.parametrize(("prefix", "type_name", "mantissa", "max_exponent"), [
    ("FLT", "float", 24, 128), ("DBL", "double", 53, 1024), ("HALF", "half", 11, 16),
])
def test_floating_limits(prefix: str, type_name: str, mantissa: int, max_exponent: int) -> None:
    expected = {"MAX": math.ldexp(2.0 - 2.0 ** (1 - mantissa), max_exponent - 1),
                "MIN": 2.0 ** (2 - max_exponent), "EPSILON": 2.0 ** (1 - mantissa)}
    for name, number in expected.items():
        constant = value(f"{prefix}_{name}")
        assert isinstance(constant, literals.FloatingConstant)
        assert (constant.value, constant.type_name) == (number, type_name)
    integers = {"MANT_DIG": mantissa, "DIG": math.floor((mantissa - 1) * math.log10(2)), "MAX_EXP": max_exponent,
                "MAX_10_EXP": math.floor(math.log10(2) * max_exponent), "RADIX": 2}
    for name, integer in integers.items():
        assert value(f"{prefix}_{name}") == literals.IntegerConstant(integer, "int")


def test_mathematical_constants() -> None:
    with localcontext() as context:
        context.prec = 60
        two, ten = Decimal(2), Decimal(10)
        # Machin's formula
        def arctan_inverse(number: int) -> Decimal:
            return sum((Decimal((-1) ** k) / ((2 * k + 1) * Decimal(number) ** (2 * k + 1)) for k in range(60)),
                       Decimal(0))
        pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
        exact = {"E": Decimal(1).exp(), "LOG2E": 1 / two.ln(), "LOG10E": 1 / ten.ln(), "LN2": two.ln(),
                 "LN10": ten.ln(), "PI": pi, "PI_2": pi / 2, "PI_4": pi / 4, "1_PI": 1 / pi, "2_PI": 2 / pi,
                 "2_SQRTPI": 2 / pi.sqrt(), "SQRT2": two.sqrt(), "SQRT1_2": 1 / two.sqrt()}
        for name, number in exact.items():
            for suffix, type_name in (("", "double"), ("_F", "float"), ("_H", "half")):
                constant = value(f"M_{name}{suffix}")
                assert isinstance(constant, literals.FloatingConstant)
                assert constant.type_name == type_name
                assert abs(Decimal(constant.exact.numerator) / constant.exact.denominator - number) < Decimal("1e-34")


def test_the_table_of_predefined_macros_has_no_doubles() -> None:
    names = [row.name for row in predefined_macros.PREDEFINED]
    assert len(names) > 100
    assert len(set(names)) == len(names)


def test_special_values_are_expressions_of_built_ins() -> None:
    assert spelled("INFINITY NAN HUGE_VALF NULL HUGE_VAL", features=FEATURES) == (
        "as_float ( 0x7f800000 ) as_float ( 0x7fc00000 ) as_float ( 0x7f800000 ) ( ( void * ) 0 ) "
        "as_double ( 0x7ff0000000000000L )")


# ------------------------------------------------------------------ preprocess_text


def test_preprocessed_text() -> None:
    text = "#define F(x) x + 1\n#pragma unroll 2\nint a = F(3);\n\n/* c */ int b = -F(-1);\n_Pragma(\"unroll\") c"
    assert preprocess_text(text) == "#pragma unroll 2\nint a = 3 + 1;\nint b = - -1 + 1;\n#pragma unroll\nc\n"
    assert preprocess_text("") == ""
    with pytest.raises(CompileError, match="CM1103"):
        preprocess_text("#error x")
