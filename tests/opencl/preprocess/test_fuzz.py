"""Whatever the source is, the preprocessor ends, and with nothing but tokens and diagnostics."""

from __future__ import annotations

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.diagnostics import CompileError, DiagnosticSink, SourceFile
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from coopmat.opencl.preprocess.tokens import TokenKind

SEED = r"""
#ifndef TILE /* default */
#define TILE 16
#endif
#define STR(x) #x
#define CAT(a, b) a##b
#define LOG(format, ...) printf(format , ## __VA_ARGS__)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#if defined(TILE) && TILE >= 4 && !(TILE % 4u) || __has_include("x.h")
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#elif __LINE__ == 0x10 && 'a' == 97
#line 100 "other.cl"
#include STR(nowhere.h)
#else
#error unsupported TILE
#endif
_Pragma("unroll 4")
kernel void CAT(k, TILE)(global float *p) { p[MAX(1, MAX(2, 3))] += 1.5e-3f * 0x1.8p3h - 'x' + "s\n\x41"[0]; \
  LOG(STR(a "b" c), TILE, __FILE__); } // end
%: undef TILE
"""

# Pieces that mean something to a preprocessor, to be put anywhere.
PIECES = ["#", "##", "#define ", "#if ", "#ifdef ", "#else\n", "#elif ", "#endif\n", "#include ", "#line ", "#undef ",
          "#pragma ", "#pragma unroll ", "_Pragma", "\n", "\\\n", "\\", "\r", "\r\n", "(", ")", ",", "...", "\"", "'",
          "/*", "*/", "//", "__VA_ARGS__", "__LINE__", "__FILE__", "defined", "__has_include", "<", ">", "STR", "CAT(",
          "LOG(", "MAX(", "MAX", "TILE", "\0", "\ufeff", "\u2028", "é", "\ud800", "0x", "1e", "1.f.", "'\\", "\"\\x",
          "99999999999999999999", "0b2", "1/0", "? :", "@", " ", "\t", "\f", "%:", "%:%:", "<:", "$", "`"]


@st.composite
def mutated_sources(draw: st.DrawFn) -> str:
    """The seed with pieces put in, parts taken out, and parts moved."""
    text = SEED
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + 30)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.just(""), st.just(text[start:stop] * 2),
                               st.text(max_size=3)))
        text = text[:start] + piece + text[stop:]
    return text


def preprocess(text: str) -> None:
    """Preprocess, and check what must hold for every source."""
    sink = DiagnosticSink()
    try:
        tokens = Preprocessor(sink, features=["cl_khr_fp16"]).run(SourceFile("k.cl", text))
    except CompileError:
        assert sink.error_count > 0
        return
    assert tokens[-1].kind is TokenKind.END
    allowed = set(list(TokenKind)[:list(TokenKind).index(TokenKind.UNTERMINATED) + 1])
    for token in tokens:
        assert token.kind in allowed
        assert token.location.line >= 0
        assert token.location.column >= 1
    assert all(str(diagnostic) for diagnostic in sink.diagnostics)


@settings(derandomize=True, max_examples=500, deadline=None)
@given(mutated_sources())
def test_mutated_sources(text: str) -> None:
    preprocess(text)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_piles_of_pieces(text: str) -> None:
    preprocess(text)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    preprocess(text)


def test_deep_nesting_needs_no_deep_stack() -> None:
    deep = 3000
    assert deep > sys.getrecursionlimit()
    for text in ("#if 1\n" * deep, "#if 0\n" * deep, "(" * deep, "#define F(x) x\n" + "F(" * deep,
                 "#define F(x) x\n" + "F(" * deep + ")" * deep, "#if " + "(" * deep, "#if " + "-" * deep,
                 "#if " + "1?" * deep, "#if " + "defined(" * deep, "\\\n" * deep, "/*" * deep, "\"" * deep,
                 "#define F() F() F()\n" + "F() " * deep, "_Pragma(" * deep, "__has_include(" * deep):
        preprocess(text)
