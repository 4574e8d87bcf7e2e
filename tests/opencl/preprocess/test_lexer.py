"""Lexer: tokens, their white space and their places; what only the parser's tokens show is in test_preprocess."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import CompileError, DiagnosticSink, Message, SourceFile
from coopmat.opencl.preprocess import lexer
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from coopmat.opencl.preprocess.tokens import PUNCTUATORS, MacroOrigin, Token, TokenKind, resolve


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text without errors, the END left out."""
    sink = DiagnosticSink()
    tokens = lexer.tokenize(lexer.normalize(SourceFile("k.cl", text), sink), sink)
    assert sink.finish() == []
    assert tokens[-1].kind is TokenKind.END
    return tokens[:-1]


def run(text: str) -> tuple[list[Token], list[str]]:
    """The parser's tokens without END, and the headers of the diagnostics."""
    sink = DiagnosticSink()
    tokens = Preprocessor(sink).run(SourceFile("k.cl", text))
    return tokens[:-1], [diagnostic.header for diagnostic in sink.diagnostics]


def places(text: str) -> list[tuple[str, int, int]]:
    return [(token.text, token.location.line, token.location.column) for token in tokens_of(text)]


# ------------------------------------------------------------------ kinds


@pytest.mark.parametrize(("text", "kind"), [
    ("x", "IDENTIFIER"), ("_x9", "IDENTIFIER"), ("größe", "IDENTIFIER"), ("x²", "IDENTIFIER"),
    ("0", "NUMBER"), ("1.5e+3f", "NUMBER"), (".5", "NUMBER"), ("0x1.8p-3", "NUMBER"), ("1..2", "NUMBER"),
    ("1e+2e-3x", "NUMBER"), ("0b101u", "NUMBER"),
    ('"a\\"b"', "STRING"), ('""', "STRING"), ('"\\\\"', "STRING"), ("'\\''", "CHARACTER"), ("''", "CHARACTER"),
    ('"open', "UNTERMINATED"), ('"open\\"', "UNTERMINATED"), ("'", "UNTERMINATED"),
    ("@", "OTHER"), ("$", "OTHER"), ("\0", "OTHER"), ("\u00a0", "OTHER"), ("\ud800", "OTHER"),
    *((text, "PUNCTUATOR") for text in PUNCTUATORS),
])
def test_a_single_token(text: str, kind: str) -> None:
    (token,) = tokens_of(text)
    assert (token.kind.name, token.text) == (kind, text)


@pytest.mark.parametrize(("text", "expected"), [
    ("a+++++b", "a ++ ++ + b"), ("x<<=>>=<<>", "x <<= >>= << >"), ("a->b.c...d", "a -> b . c ... d"),
    ("1+2", "1 + 2"), ("1e+2", "1e+2"), ("0xe+1", "0xe+1"), ("a/**/b", "a b"), ("a//b\nc", "a c"),
    ("%:%:%:<::>", "%:%: %: <: :>"), ("v.s0.x", "v . s0 . x"), ("1.f.x", "1.f.x"), ("(1.f).x", "( 1.f ) . x"),
    ("a/ *b", "a / * b"), ('"a/*"b', '"a/*" b'), ("'//'b", "'//' b"), ("/*\"*/a", "a"), ("//'\na", "a"),
    ("/***/a/*/*/b", "a b"), ("/* ** / */a", "a"), ("..", ". ."), ("#include<a", "# include < a"),
    ("#include <a b>c", "# include <a b> c"), ("x #include <a>", "x # include < a >"),
    ("# /**/ include /**/ <a>", "# include < a >"),
])
def test_longest_match(text: str, expected: str) -> None:
    assert " ".join(token.text for token in tokens_of(text)) == expected


def test_white_space_flags() -> None:
    flags = [(token.text, token.leading_space, token.at_line_start) for token in tokens_of("a b/**/c\n\n d;\\\n e")]
    assert flags == [("a", False, True), ("b", True, False), ("c", True, False), ("d", False, True),
                     (";", False, False), ("e", True, False)]


def test_a_comment_over_lines_does_not_end_the_line() -> None:
    assert [token.at_line_start for token in tokens_of("a /* \n */ b\nc")] == [True, False, True]


# ------------------------------------------------------------------ places


def test_places_count_from_one() -> None:
    assert places("a\n  bc d\n\n\te") == [("a", 1, 1), ("bc", 2, 3), ("d", 2, 6), ("e", 4, 2)]


def test_columns_count_characters() -> None:
    assert places('"ä€𝄞" x /* ∀ */ y') == [('"ä€𝄞"', 1, 1), ("x", 1, 7), ("y", 1, 17)]


def test_places_after_comments_over_lines() -> None:
    assert places("/* 1\n2 */ a // b \\\n c\nd") == [("a", 2, 6), ("d", 4, 1)]


def test_spliced_lines_keep_their_physical_places() -> None:
    text = "ab\\\ncd e\\\n  f \\\n\\\ng\nh"
    assert places(text) == [("abcd", 1, 1), ("e", 2, 4), ("f", 3, 3), ("g", 5, 1), ("h", 6, 1)]


def test_splices_join_everything() -> None:
    assert places("+\\\n+ /\\\n* c *\\\n/ \"a\\\nb\" 1\\\n2") == [("++", 1, 1), ('"ab"', 4, 3), ("12", 5, 4)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    text = end.join(["#define A \\", "  1", "A /*", "*/ b", "", "c@"])
    tokens, messages_ = run(text)
    assert [(token.text, token.location.line) for token in tokens] == [("1", 3), ("b", 4), ("c", 6)]
    assert messages_ == ["k.cl:6:2: error: unexpected character '@' [CM1003]"]
    assert tokens[-1].location.source_line == "c@"


def test_byte_order_mark_and_missing_last_line_end() -> None:
    assert places("\ufeffa b") == [("a", 1, 1), ("b", 1, 3)]
    assert places("") == []
    assert places("a\\") == [("a", 1, 1)]


@settings(derandomize=True, max_examples=200)
@given(st.text(alphabet="ab1.+-<>=#%:/*\"'\\ \t\n\r()éλ\0@_", max_size=60))
def test_every_token_stands_where_it_says(text: str) -> None:
    sink = DiagnosticSink(error_limit=1000)
    file = lexer.normalize(SourceFile("k.cl", text), sink)
    tokens = lexer.tokenize(file, sink)
    lines = file.text.split("\n")
    previous = (0, 0)
    for token in tokens[:-1]:
        place = token.location
        start = lines[place.line - 1][place.column - 1:]
        spliced = re.search(r"\\[ \t]*\Z", lines[place.line - 1])
        assert start.startswith(token.text) or spliced
        assert (place.line, place.column) > previous
        previous = (place.line, place.column)


@settings(derandomize=True, max_examples=200)
@given(st.lists(st.sampled_from([*PUNCTUATORS, "x", "y1", "12", "1.5f", '"s"', "'c'", "include"]), max_size=20))
def test_separated_tokens_read_back(spellings: list[str]) -> None:
    assert [token.text for token in tokens_of("; " + " ".join(spellings))][1:] == spellings


@settings(derandomize=True, max_examples=300)
@given(st.sampled_from([*PUNCTUATORS, "x", "12", "1e", '"s"']), st.sampled_from([*PUNCTUATORS, "x", "12", ".5", '"s"']))
def test_would_paste_says_whether_a_space_is_needed(left: str, right: str) -> None:
    sink = DiagnosticSink()
    joined = [token.text for token in lexer.tokenize(SourceFile("k.cl", left + right), sink)][:-1]
    assert lexer.would_paste(left, right) == (joined != [left, right])


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(("text", "expected"), [
    ("a @ b", "k.cl:1:3: error: unexpected character '@' [CM1003]"),
    ("a\0b", "k.cl:1:2: error: unexpected character U+0000 [CM1003]"),
    ("a\u00a0= 1", "k.cl:1:2: error: unexpected character U+00A0 (no-break space) [CM1003]"),
    ("\u200b", "k.cl:1:1: error: unexpected character U+200B (zero width space) [CM1003]"),
    ("a \\ b", "k.cl:1:3: error: unexpected character '\\' [CM1003]"),
    ("x² = 1;", "k.cl:1:1: error: 'x²' is not a valid identifier [CM1006]"),
    ("int a; /* b", "k.cl:1:8: error: unterminated /* comment; expected '*/' [CM1002]"),
    ("#if 0\n/*\n#endif", "k.cl:2:1: error: unterminated /* comment; expected '*/' [CM1002]"),
    ('x = "abc;\ny', "k.cl:1:5: error: missing terminating \" character before the end of the line [CM1004]"),
    ("x = 'a;\ny", "k.cl:1:5: error: missing terminating ' character before the end of the line [CM1004]"),
    ("#define A \\ \n 1", "k.cl:1:11: warning: backslash and line end are separated by space; the lines are joined "
                          "[CM1005, -Wbackslash-newline-escape]"),
])
def test_malformed_text(text: str, expected: str) -> None:
    _, headers = run(text)
    assert headers[0] == expected


def test_nothing_is_reported_in_skipped_groups() -> None:
    tokens, headers = run("#if 0\ndon't \" @ 0x 1e\n#else\nok\n#endif\n")
    assert [token.text for token in tokens] == ["ok"]
    assert headers == []


def test_a_huge_source_is_refused() -> None:
    with pytest.raises(CompileError, match=r"k\.cl:1:1: error: source has 16777217 characters; at most 16777216"):
        run(" " * (lexer.MAX_SOURCE_CHARACTERS + 1))


def test_too_many_tokens_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexer, "MAX_TOKENS", 1000)
    assert len(run("+ " * 900)[0]) == 900
    with pytest.raises(CompileError, match="CM1164"):
        run("+ " * 1001)


def test_a_long_trail_of_macros_is_shortened() -> None:
    (token,) = tokens_of("x")
    origin = token.location
    chain = origin
    for index in range(50_000):
        chain = MacroOrigin(chain, f"M{index}", origin)
    macros, location = [], resolve(chain)
    while location.spelling is not None:
        macros.append(location.macro)
        location = location.spelling
    assert macros == ["M0", "M1", "M2", "M3", "M49996", "M49997", "M49998", "M49999"]


# ------------------------------------------------------------------ the message tables


def _message_rows() -> list[tuple[str, Message]]:
    rows = []
    package = importlib.import_module("coopmat.opencl.messages")
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        rows += [(f"{info.name}.{name}", row) for name, row in vars(module).items() if isinstance(row, Message)]
    return list({id(row): (name, row) for name, row in rows}.values())  # a module may import another's rows


def test_message_codes_are_unique() -> None:
    rows = _message_rows()
    codes = [row.code for _, row in rows]
    assert len(rows) > 50
    assert sorted(set(codes)) == sorted(codes)


def test_message_rows_are_well_formed() -> None:
    for name, row in _message_rows():
        assert re.fullmatch(r"CM\d{4}", row.code), name
        assert row.severity in ("error", "warning", "note"), name
        assert (row.option is not None) == (row.severity == "warning"), name
