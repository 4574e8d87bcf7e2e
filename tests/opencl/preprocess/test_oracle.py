"""Macro expansion and conditionals against clang: random macro programs, and what people write."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from coopmat.diagnostics import DiagnosticSink, SourceFile
from coopmat.opencl.preprocess.preprocessor import Preprocessor
from tests.kit.oracles import clang

pytestmark = pytest.mark.oracle("clang")

NAMES = ["f", "g", "h", "A", "B", "C", "x", "y"]
WORD = re.compile(r"[A-Za-z_]\w*|[0-9]\w*")


def ours(source: str) -> tuple[list[str], bool]:
    """The spellings after preprocessing, and whether there were errors."""
    sink = DiagnosticSink(error_limit=100_000)
    tokens = list(Preprocessor(sink).expand(SourceFile("source.c", source)))[:-1]
    return [token.text for token in tokens], sink.error_count > 0


class ProgramMaker:
    """Makes random macro definitions and uses of them: calls, recursion, ``#``, ``##``, unbalanced parentheses."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)

    def _token(self, parameters: list[str]) -> str:
        choose, kind = self._choose, self._choose.random()
        if parameters and kind < 0.35:
            return choose.choice(parameters)
        if kind < 0.6:
            return choose.choice(NAMES)
        if kind < 0.7:
            return choose.choice("()")
        if kind < 0.8:
            return choose.choice([",", "+", "1", "2z", "."])
        if kind < 0.95:
            return f"{choose.choice(NAMES)}({' '.join(self._tokens(parameters, 2))})"
        return '"s\\n"'

    def _tokens(self, parameters: list[str], limit: int = 6) -> list[str]:
        return [self._token(parameters) for _ in range(self._choose.randint(0, limit))]

    def _replacement(self, parameters: list[str], function_like: bool) -> str:
        """Tokens with some ``##`` between words and some ``#`` before parameters."""
        parts: list[str] = []
        for token in self._tokens(parameters):
            if parts and WORD.fullmatch(parts[-1]) and WORD.fullmatch(token) and self._choose.random() < 0.2:
                parts.append("##")
            elif function_like and token in parameters and self._choose.random() < 0.2:
                parts.append("#")
            parts.append(token)
        return " ".join(parts)

    def program(self) -> str:
        """Some definitions and three lines of uses."""
        choose, lines = self._choose, []
        for name in NAMES:
            kind = choose.random()
            if kind < 0.25:
                continue
            if kind < 0.6:
                lines.append(f"#define {name} {self._replacement([], False)}")
                continue
            named = choose.sample(["p", "q", "r"], choose.randint(0, 2))
            variadic = choose.random() < 0.25
            body = self._replacement(named + ["__VA_ARGS__"] * variadic, True)
            if variadic and choose.random() < 0.5:
                body += " , ## __VA_ARGS__"
            lines.append(f"#define {name}({','.join(named + ['...'] * variadic)}) {body}")
        lines += [" ".join(self._tokens([])) + ";" for _ in range(3)]
        return "\n".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_random_macro_programs(seed: int, tmp_path: Path) -> None:
    maker = ProgramMaker(seed)
    programs = [maker.program() for _ in range(400)]
    results = [ours(program) for program in programs]
    valid = [index for index, (_, failed) in enumerate(results) if not failed]
    undefine = "".join(f"\n#undef {name}" for name in NAMES)
    output, messages = clang.run("".join(f'{programs[index]}{undefine}\n"program {index}"\n' for index in valid),
                                 tmp_path, *clang.C99, "-E", "-P")
    assert not clang.has_errors(messages)
    expected = re.split(r'"program [0-9]+"', output)
    assert len(valid) > 100
    for index, text in zip(valid, expected, strict=False):
        assert results[index][0] == clang.spellings(text), programs[index]
    for index in [index for index in range(len(programs)) if index not in valid][:12]:
        _, messages = clang.run(programs[index], tmp_path, *clang.C99, "-E", "-P")
        assert clang.has_errors(messages), programs[index]


PROGRAMS = {
    "gnu comma": """
#define LOG(format, ...) printf(format , ## __VA_ARGS__)
#define ONLY(...) f(a , ## __VA_ARGS__)
#define NAMED(format, args...) printf(format , ## args)
#define EMPTY
LOG("a") LOG("a",) LOG("a", EMPTY) LOG("a", 1, 2) ONLY() ONLY(EMPTY) ONLY(1) NAMED("a") NAMED("a", ) NAMED("a", 1)
""",
    "lines and files": """
__LINE__ __FILE__
#line 77 "other.c"
__LINE__ __FILE__
#if __LINE__ == 79
right
#endif
# 200 "marked.c" 1
__LINE__ __FILE__
""",
    "strings": r"""
#define S(x) #x
#define X(x) S(x)
S( a  "b\n" 'c\'' /* k */ d
  e ) X(__LINE__) S(@) S(<: %>) S(a // b
) X(S("\n")) X(X(X("\\")))
""",
    "deferred": """
#define EMPTY()
#define DEFER(x) x EMPTY()
#define OBSTRUCT(x) x DEFER(EMPTY)()
#define EXPAND(x) x
#define EVAL(x) EXPAND(EXPAND(EXPAND(x)))
#define REPEAT_INDIRECT() REPEAT
#define REPEAT(x) x OBSTRUCT(REPEAT_INDIRECT)()(x x)
EVAL(REPEAT(1))
#define CAT(a, ...) a ## __VA_ARGS__
#define IIF(c) CAT(IIF_, c)
#define IIF_0(t, ...) __VA_ARGS__
#define IIF_1(t, ...) t
#define COMPL(b) CAT(COMPL_, b)
#define COMPL_0 1
#define COMPL_1 0
#define CHECK_N(x, n, ...) n
#define CHECK(...) CHECK_N(__VA_ARGS__, 0,)
#define PROBE(x) x, 1,
#define NOT(x) CHECK(CAT(NOT_, x))
#define NOT_0 PROBE(~)
NOT(0) NOT(1) NOT(x) IIF(NOT(0))(a, b) IIF(NOT(1))(a, b) COMPL(NOT(0))
""",
    "a list of types": """
#define TYPES(X) X(char, 8) X(short, 16) X(int, 32)
#define DECLARE(type, bits) type##2 convert_##type##2(u##type##2 x); constant int type##_bits = bits;
#define NAME(type, bits) #type,
TYPES(DECLARE) TYPES(NAME)
#undef DECLARE
DECLARE(a, b)
""",
    "directives in arguments": """
#define F(x, y) [x|y]
F(
#ifdef F
yes
#else
no
#endif
,
#define LATE 1
LATE)
F
#if 1
(1, 2)
#endif
""",
    "a tiled kernel": """
#ifndef TILE
#define TILE 16
#endif
#define INDEX(row, column, stride) ((row) * (stride) + (column))
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define VLOAD(n) CONCAT(vload, n)
#if defined(TILE) && TILE >= 16 && !(TILE % 4) /* vector width */
#  define WIDTH 4
#elif TILE == 8
#  define WIDTH 2
#else
#  error unsupported TILE
#endif
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void multiply(const __global float *a, __global float *c, uint stride) {
    CONCAT(float, WIDTH) v = VLOAD(WIDTH)(INDEX(get_global_id(1), \\
        get_global_id(0), stride), a);
    c[INDEX(0, get_local_id(0) * WIDTH, stride)] = v.s0 + -1.0e+3f;
}
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=list(PROGRAMS))
def test_programs(source: str, tmp_path: Path) -> None:
    output, messages = clang.run(source, tmp_path, *clang.C99, "-E", "-P")
    assert not clang.has_errors(messages)
    spellings, failed = ours(source)
    assert not failed
    file = f'"{tmp_path / "source.c"}"'
    assert [text.replace('"source.c"', file) for text in spellings] == clang.spellings(output)
