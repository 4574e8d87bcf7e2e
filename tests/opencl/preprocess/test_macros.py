"""Macro definitions and expansion (C99 6.10.3), the standard's own examples included."""

from __future__ import annotations

import sys

import pytest

from coopmat.diagnostics import CompileError, DiagnosticSink, SourceFile, SourceLocation
from coopmat.opencl.preprocess import macros
from coopmat.opencl.preprocess.lexer import MAX_TOKENS
from coopmat.opencl.preprocess.preprocessor import Preprocessor, preprocess_text
from coopmat.opencl.preprocess.tokens import Token


def expand(text: str) -> str:
    """The spellings after preprocessing, one space between them; no diagnostics may come up."""
    tokens, headers = expand_with_headers(text)
    assert headers == []
    return " ".join(token.text for token in tokens)


def expand_with_headers(text: str) -> tuple[list[Token], list[str]]:
    sink = DiagnosticSink()
    tokens = list(Preprocessor(sink).expand(SourceFile("k.cl", text)))[:-1]
    return tokens, [diagnostic.header for diagnostic in sink.diagnostics]


# ------------------------------------------------------------------ C99 6.10.3.5


def test_example_3_redefinition_and_reexamination() -> None:
    text = """
#define x       3
#define f(a)    f(x * (a))
#undef  x
#define x       2
#define g       f
#define z       z[0]
#define h       g(~
#define m(a)    a(w)
#define w       0,1
#define t(a)    a
#define p()     int
#define q(x)    x
#define r(x,y)  x ## y
#define str(x)  # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
    (f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
"""
    assert expand(text) == " ".join([
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;",
        "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;",
        "int i [ ] = { 1 , 23 , 4 , 5 , } ;",
        'char c [ 2 ] [ 6 ] = { "hello" , "" } ;',
    ])


def test_example_4_strings_and_pastes() -> None:
    text = r"""
#define str(s)      # s
#define xstr(s)     str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", \
                        x ## s, x ## t)
#define INCFILE(n)  vers ## n
#define glue(a, b)  a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW     "hello"
#define LOW         LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\0d", "abc", '\4') // this goes away
    == 0) str(: @\n), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)
"""
    assert expand(text) == " ".join([
        r'printf ( "x" "1" "= %d, x" "2" "= %s" , x1 , x2 ) ;',
        r'fputs ( "strncmp(\"abc\\0d\", \"abc\", ' + r"'\\4') == 0" + r'" ": @\n" , s ) ;',
        '"vers2.h"',
        '"hello" ;',
        '"hello" ", world"',
    ])


def test_example_hash_hash_is_not_an_operator_after_expansion() -> None:
    text = """
#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
join(x, y);
"""
    assert expand(text) == '"x ## y" ;'


def test_example_5_placemarkers() -> None:
    assert expand("#define t(x,y,z) x ## y ## z\n"
                  "int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };") == \
        "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;"


OBJ_LIKE = "#define OBJ_LIKE (1-1)\n"
FUNC_LIKE = "#define FUNC_LIKE(a) ( a )\n"


@pytest.mark.parametrize("again", [
    OBJ_LIKE, "#define OBJ_LIKE /* white space */ (1-1) /* other */\n",
])
def test_example_6_valid_object_redefinitions(again: str) -> None:
    assert expand(OBJ_LIKE + again + "OBJ_LIKE") == "( 1 - 1 )"


def test_example_6_valid_function_redefinitions() -> None:
    again = "#define FUNC_LIKE( a )( /* note the white space */ \\\n a /* other stuff on this line\n */ )\n"
    assert expand(FUNC_LIKE + again + "FUNC_LIKE(3)") == "( 3 )"


@pytest.mark.parametrize(("first", "again", "name"), [
    (OBJ_LIKE, "#define OBJ_LIKE (0)", "OBJ_LIKE"),
    (OBJ_LIKE, "#define OBJ_LIKE (1 - 1)", "OBJ_LIKE"),
    (FUNC_LIKE, "#define FUNC_LIKE(b) ( a )", "FUNC_LIKE"),
    (FUNC_LIKE, "#define FUNC_LIKE(b) ( b )", "FUNC_LIKE"),
    (FUNC_LIKE, "#define FUNC_LIKE ( a )", "FUNC_LIKE"),
])
def test_example_6_invalid_redefinitions(first: str, again: str, name: str) -> None:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", first + again))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.header == f"k.cl:2:9: warning: '{name}' macro redefined [CM1149, -Wmacro-redefined]"
    assert [note.header for note in diagnostic.notes] == ["k.cl:1:9: note: previous definition is here"]


def test_example_7_variable_arguments() -> None:
    text = r"""
#define debug(...)       fprintf(stderr, __VA_ARGS__)
#define showlist(...)    puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
debug("Flag");
debug("X = %d\n", x);
showlist(The first, second, and third items.);
report(x>y, "x is %d but y is %d", x, y);
"""
    assert expand(text) == " ".join([
        'fprintf ( stderr , "Flag" ) ;', r'fprintf ( stderr , "X = %d\n" , x ) ;',
        'puts ( "The first, second, and third items." ) ;',
        '( ( x > y ) ? puts ( "x>y" ) : printf ( "x is %d but y is %d" , x , y ) ) ;',
    ])


# ------------------------------------------------------------------ expansion


@pytest.mark.parametrize(("text", "expected"), [
    # the name of a function-like macro without a call
    ("#define F(x) [x]\nF F (1) F\n(2)\n\n F", "F [ 1 ] [ 2 ] F"),
    # a call that the replacement starts and the source ends
    ("#define F(x) [x]\n#define G F\n#define H F(\nG(1) H 2)", "[ 1 ] [ 2 ]"),
    # recursion stops, directly and mutually, also for later rescans
    ("#define A A B\n#define B A\nA", "A A"),
    ("#define F(x) F(x+1)\nF(F(1))", "F ( F ( 1 + 1 ) + 1 )"),
    ("#define N N\n#define ID(x) x\nID(ID(N))", "N"),
    # the case that C99 6.10.3.4p4 leaves open, as gcc and clang do it
    ("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g"),
    # empty arguments and no arguments
    ("#define F(x,y) <x|y>\n#define E\nF(,) F(E,E) F( , 1)", "< | > < | > < | 1 >"),
    ("#define Z() z\nZ() Z( ) Z(\n)", "z z z"),
    # parentheses protect commas, brackets do not
    ("#define P(a,b) b;a\nP((1,2),{3}) P([1,2])", "{ 3 } ; ( 1 , 2 ) 2 ] ; [ 1"),
    # arguments over lines, with directives in between
    ("#define P(a,b) a-b\nP(1\n#ifdef P\n,2\n#else\n,3\n#endif\n)", "1 - 2"),
    ("#define P(a) a X\nP(\n#define X 7\nX)", "7 7"),
    # an argument is expanded by itself, not with what follows
    ("#define F(x) x (1)\n#define G(y) [y]\nF(G)", "[ 1 ]"),
    ("#define L (\n#define F(x) <x>\nF L 1)", "F ( 1 )"),
    ("#define REST(x) x 1)\n#define G(y) [y]\nREST(G L)\n", "G L 1 )"),
    # deferred expansion
    ("#define EMPTY\n#define DEFER(x) x EMPTY\n#define A() 1\n#define EXPAND(x) x\nDEFER(A)() EXPAND(DEFER(A)())",
     "A ( ) 1"),
    # the name of the macro in its own argument
    ("#define MAX(a,b) (a>b?a:b)\nMAX(MAX(1,2),3)", "( ( 1 > 2 ? 1 : 2 ) > 3 ? ( 1 > 2 ? 1 : 2 ) : 3 )"),
    ("#undef NOT_DEFINED\n#define A 1\n#undef A\nA", "A"),
    ("%:define A 1\nA <: A :>", "1 <: 1 :>"),
])
def test_expansion(text: str, expected: str) -> None:
    assert expand(text) == expected


@pytest.mark.parametrize(("argument", "expected"), [
    ("a+b", '"a+b"'), (" a  +\t\n b ", '"a + b"'), ("a/**/b", '"a b"'), ('"x\\n"', '"\\"x\\\\n\\""'),
    ("'\"'", "\"'\\\"'\""), ("'\\''", "\"'\\\\''\""), ("\\n", '"\\n"'), ("", '""'), ("@ <:", '"@ <:"'), ("X", '"X"'),
    ("(a,b)", '"(a,b)"'), ("L\"a\"", '"L\\"a\\""'), ("é", '"é"'),
])
def test_stringize(argument: str, expected: str) -> None:
    assert expand(f"#define X 1\n#define S(x) #x\nS({argument})") == expected


def test_stringize_of_expanded_and_vanished_macros() -> None:
    text = "#define S(x) #x\n#define XS(x) S(x)\n#define E\n#define V() \n#define T 1 + 2\n"
    assert expand(text + "XS(T) XS(a E b) XS(a V()b) XS(E) XS(aE)") == '"1 + 2" "a b" "a b" "" "aE"'


def test_stringize_of_a_lone_backslash() -> None:
    tokens, headers = expand_with_headers("#define S(x) #x\nS(a\\) S(\\\\)")
    assert [token.text for token in tokens] == ['"a"', '"\\\\"']
    assert headers == ["k.cl:2:1: warning: '#' made an invalid string literal; the final '\\' is dropped "
                       "[CM1163, -Winvalid-pp-token]"]


@pytest.mark.parametrize(("text", "expected"), [
    ("#define C(a,b) a##b\nC(x,y) C(1,e5) C(<,<=) C(-,>) C(.,5) C(x,1) C(,) C(%:,%:)", "xy 1e5 <<= -> .5 x1 %:%:"),
    ("#define C(a,b) a##b\n#define AB 7\n#define A 1\nC(A,B) C(A B,C D)", "7 1 BC D"),  # operands not expanded
    ("#define F(a) pre##a##_post = a\n#define X 3\nF(X)", "preX_post = 3"),
    ("#define O a ## b ## c\nO", "abc"),
    ("#define C(a,b) a##b\n#define CC(a) C(a,a)\nCC(x) C(C,C)(1)", "xx 11"),
    ("#define P(a) a ## 1 a\nP(f g) P()", "f g1 f g 1"),
])
def test_paste(text: str, expected: str) -> None:
    assert expand(text) == expected


@pytest.mark.parametrize(("left", "right"), [
    ("+", "-"), ("/", "/"), ("/", "*"), ('"a"', '"b"'), ("1", "+"), ("]", "x"),
])
def test_paste_that_gives_no_token(left: str, right: str) -> None:
    tokens, headers = expand_with_headers(f"#define C(a,b) a##b\nC({left},{right})")
    assert headers == [f"k.cl:2:1: error: pasting formed '{left}{right}', an invalid preprocessing token [CM1162]"]
    assert [token.text for token in tokens] == [left, right]


@pytest.mark.parametrize(("text", "expected"), [
    ("#define V(...) <__VA_ARGS__>\nV() V(1) V(1, 2,)", "< > < 1 > < 1 , 2 , >"),
    ("#define V(a, ...) a:__VA_ARGS__\nV(1) V(1,) V(1,2,3)", "1 : 1 : 1 : 2 , 3"),
    ("#define V(a, ...) f(a , ## __VA_ARGS__)\n#define X 9\nV(1) V(1,) V(1,X) V(1,X,Y)",
     "f ( 1 ) f ( 1 , ) f ( 1 , 9 ) f ( 1 , 9 , Y )"),
    ("#define V(...) f(a , ## __VA_ARGS__)\nV() V(1)", "f ( a , ) f ( a , 1 )"),
    ("#define V(a, rest...) f(a , ## rest) #rest\nV(1) V(1,2,3)", 'f ( 1 ) "" f ( 1 , 2 , 3 ) "2,3"'),
    ("#define V(...) x ## __VA_ARGS__\nV(1,2) V()", "x1 , 2 x"),
])
def test_variadic_macros(text: str, expected: str) -> None:
    assert expand(text) == expected


def test_spacing_of_the_output() -> None:
    text = "#define A x\n#define F(a) -a+A\n#define E\n [A]F(-1) A A;E E A\n+E+ A(1)1"
    assert preprocess_text(text) == "[x]- -1+x x x; x\n+ + x(1)1\n"


# ------------------------------------------------------------------ computed macros


def test_line_and_file() -> None:
    text = ("__LINE__ __FILE__\n#define L __LINE__\n#define ID(x) x\nL ID(L\n) ID(\n__LINE__)\n"
            "#line 70 \"a\\\"b.cl\"\nL __FILE__")
    assert expand(text) == '1 "k.cl" 4 4 6 70 "a\\"b.cl"'


def test_counter() -> None:
    assert expand("__COUNTER__ __COUNTER__\n#define C __COUNTER__\nC") == "0 1 2"


@pytest.mark.parametrize("name", ["__DATE__", "__TIME__", "__IMAGE_SUPPORT__"])
def test_macros_that_opencl_does_not_define(name: str) -> None:
    assert expand(f"#ifdef {name}\nyes\n#else\nno\n#endif") == "no"


# ------------------------------------------------------------------ wrong definitions and calls


@pytest.mark.parametrize(("text", "expected"), [
    ("#define", "k.cl:1:8: error: #define requires a macro name, found the end of the line [CM1122]"),
    ("#define 3x", "k.cl:1:9: error: #define requires a macro name, found '3x' [CM1122]"),
    ("#define defined", "k.cl:1:9: error: 'defined' cannot be used as a macro name [CM1140]"),
    ("#undef defined", "k.cl:1:8: error: 'defined' cannot be used as a macro name [CM1140]"),
    ("#undef A B", "k.cl:1:10: warning: extra tokens at end of #undef directive [CM1102, -Wextra-tokens]"),
    ("#define F(a", "k.cl:1:12: error: expected ',' or ')' in the macro's parameter list, found the end of the line "
                    "[CM1142]"),
    ("#define F(", "k.cl:1:11: error: expected a parameter name in the macro's parameter list, found the end of the "
                   "line [CM1141]"),
    ("#define F(a,) a", "k.cl:1:13: error: expected a parameter name in the macro's parameter list, found ')' "
                      "[CM1141]"),
    ("#define F(a b) a", "k.cl:1:13: error: expected ',' or ')' in the macro's parameter list, found 'b' [CM1142]"),
    ("#define F(a, a) a", "k.cl:1:14: error: duplicate macro parameter name 'a' [CM1143]"),
    ("#define F(..., a) a", "k.cl:1:14: error: expected ')' after '...' in the macro's parameter list [CM1144]"),
    ("#define A+1", "k.cl:1:10: warning: whitespace is required after the macro name [CM1145, -Wc99-compat]"),
    ("#define F(a) #b", "k.cl:1:14: error: '#' is not followed by a macro parameter [CM1146]"),
    ("#define F(a) #", "k.cl:1:14: error: '#' is not followed by a macro parameter [CM1146]"),
    ("#define A ## b", "k.cl:1:11: error: '##' cannot be at the beginning of a macro's replacement [CM1147]"),
    ("#define A b ##", "k.cl:1:13: error: '##' cannot be at the end of a macro's replacement [CM1147]"),
    ("#define A ##", "k.cl:1:11: error: '##' cannot be at the beginning of a macro's replacement [CM1147]"),
    ("#define F(__VA_ARGS__) 1", "k.cl:1:11: error: __VA_ARGS__ can only be used in the replacement of a variadic "
                                 "macro [CM1148]"),
    ("#define A __VA_ARGS__", "k.cl:1:11: error: __VA_ARGS__ can only be used in the replacement of a variadic macro "
                              "[CM1148]"),
    ("#define __VA_ARGS__ 1", "k.cl:1:9: error: __VA_ARGS__ can only be used in the replacement of a variadic macro "
                              "[CM1148]"),
    ("#define __LINE__ 1", "k.cl:1:9: warning: redefining built-in macro '__LINE__' [CM1150, "
                           "-Wbuiltin-macro-redefined]"),
    ("#undef __FILE__", "k.cl:1:8: warning: undefining built-in macro '__FILE__' [CM1150, "
                        "-Wbuiltin-macro-redefined]"),
])
def test_wrong_definitions(text: str, expected: str) -> None:
    assert expand_with_headers(text)[1] == [expected]


def test_hash_is_plain_in_object_like_macros() -> None:
    assert expand("#define A #b\nA") == "# b"


@pytest.mark.parametrize(("call", "expected"), [
    ("F(1)", "k.cl:2:1: error: macro 'F' requires 2 arguments, but 1 was given [CM1161]"),
    ("F(1,2,3)", "k.cl:2:1: error: macro 'F' requires 2 arguments, but 3 were given [CM1161]"),
    ("F(1,", "k.cl:2:1: error: unterminated call of macro 'F'; expected ')' before the end of the file [CM1160]"),
    ("#if F(1", "k.cl:2:5: error: unterminated call of macro 'F'; expected ')' before the end of the directive "
                "[CM1160]"),
])
def test_wrong_calls(call: str, expected: str) -> None:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", f"#define F(a,b) a b\n{call}\n#endif" if "#" in call else
                                      f"#define F(a,b) a b\n{call}"))
    (diagnostic,) = sink.diagnostics
    assert diagnostic.header == expected
    assert diagnostic.notes[0].header == "k.cl:1:9: note: macro 'F' defined here"


@pytest.mark.parametrize(("text", "expected"), [
    ("#define Z() 1\nZ(2)", "macro 'Z' requires 0 arguments, but 1 was given"),
    ("#define V(a,b,...) 1\nV(2)", "macro 'V' requires at least 2 arguments, but 1 was given"),
    ("#define O(a) 1\nO(1,2)", "macro 'O' requires 1 argument, but 2 were given"),
])
def test_wrong_argument_counts(text: str, expected: str) -> None:
    assert expected in expand_with_headers(text)[1][0]


@pytest.mark.parametrize("directive", ["include <a>", "pragma unroll"])
def test_directives_refused_in_arguments(directive: str) -> None:
    _, headers = expand_with_headers(f"#define F(a) a\nF(\n#{directive}\n1)")
    name = directive.split()[0]
    assert headers == [f"k.cl:3:2: error: #{name} is not supported within macro arguments [CM1107]"]


# ------------------------------------------------------------------ places


def trail(location: SourceLocation | None) -> list[tuple[str | None, int, int]]:
    """(macro that is expanded there, line, column) from the use in the source inwards."""
    steps = []
    while location is not None:
        steps.append((location.macro, location.line, location.column))
        location = location.spelling
    return steps


def token_trail(text: str, spelling: str) -> list[tuple[str | None, int, int]]:
    tokens, _ = expand_with_headers(text)
    (token,) = [token for token in tokens if token.text == spelling]
    return trail(token.location)


def test_tokens_of_nested_macros_know_the_way() -> None:
    text = "#define INNER a + b\n#define OUTER (INNER)\n  OUTER"
    assert token_trail(text, "+") == [("OUTER", 3, 3), ("INNER", 2, 16), (None, 1, 17)]
    assert token_trail(text, "(") == [("OUTER", 3, 3), (None, 2, 15)]


def test_tokens_of_arguments_point_at_the_argument() -> None:
    text = "#define F(x) x + 1\n#define G(y) F(y)\nG(  a)"
    assert token_trail(text, "a") == [("G", 3, 5), ("F", 2, 16), (None, 1, 14)]
    assert token_trail(text, "1") == [("G", 3, 1), ("F", 2, 14), (None, 1, 18)]


def test_made_tokens_point_at_their_operator() -> None:
    text = "#define M(x) s#x, p##x\nM(q)"
    assert token_trail(text, '"q"') == [("M", 2, 1), (None, 1, 15)]
    assert token_trail(text, "pq") == [("M", 2, 1), (None, 1, 20)]


def test_a_diagnostic_shows_where_a_macro_came_from() -> None:
    sink = DiagnosticSink()
    Preprocessor(sink).run(SourceFile("k.cl", "#define BAD 09\nint x = BAD;"))
    assert str(sink.diagnostics[0]) == "\n".join([
        "k.cl:2:9: error: invalid digit '9' in octal constant [CM1012]",
        "    2 | int x = BAD;",
        "      |         ^~~",
        "k.cl:1:13: note: expanded from macro 'BAD'",
        "    1 | #define BAD 09",
        "      |             ^~",
    ])


# ------------------------------------------------------------------ limits


def fatal(text: str) -> str:
    sink = DiagnosticSink()
    with pytest.raises(CompileError) as caught:
        Preprocessor(sink).run(SourceFile("k.cl", text))
    return caught.value.diagnostics[-1].header


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macros, "MAX_TOKENS", 20_000)


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("text", [
    "#define A0 x x\n" + "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, 40)) + "A39",
    "#define T(x) x x x x\n" + "T(" * 60 + "1" + ")" * 60,
    "#define C(x) x##x\n#define D(x) C(x)\n" + "D(" * 60 + "a" + ")" * 60,
    "#define S(x) #x\n#define X(x) S(x x)\n" + "X(" * 60 + '"a"' + ")" * 60,
])
def test_expansion_bombs_are_stopped(text: str) -> None:
    assert "preprocessing makes more than 20000 tokens" in fatal(text)


def test_the_limit_leaves_room_for_real_programs() -> None:
    assert MAX_TOKENS >= 1_000_000
    assert len(expand("#define R(x) x x x x x x x x x x\nR(R(R(R(1))))").split()) == 10_000


def test_calls_nested_in_arguments() -> None:
    depth = macros.MAX_NESTING
    text = "#define F(x) x\n" + "F(" * depth + "1" + ")" * depth
    assert expand(text) == "1"
    header = fatal("#define F(x) x\n" + "F(" * 5000 + "1" + ")" * 5000)
    assert "macro calls are nested too deeply (limit 100)" in header


def test_long_chains_of_macros() -> None:
    count = 3 * sys.getrecursionlimit()
    text = "#define A0 end\n" + "".join(f"#define A{i} A{i - 1}\n" for i in range(1, count)) + f"A{count - 1}"
    tokens, headers = expand_with_headers(text)
    assert ([token.text for token in tokens], headers) == (["end"], [])
    assert len(trail(tokens[0].location)) == 9
