"""What the parser says about wrong sources, with line, column and code; where clang has the message, in its words."""

from __future__ import annotations

import pytest

from coopmat.opencl.messages import syntax as messages
from coopmat.opencl.parse.token_stream import MAX_NESTING
from tests.kit.opencl.dump import parse_text

ERRORS: list[tuple[str, str | tuple[str, ...]]] = [
    ("void f(void) { a = 1 + ; }", "1:24: error: expected expression [CM2002]"),
    ("void f(void) { a = 3\n  b = 4; }", "1:21: error: expected ';' after expression [CM2001]"),
    ("void f(void) { a = 3 b = 4; }", "1:21: error: expected ';' after expression [CM2001]"),
    ("void f(void) { a = (1 + 2; }", (
        "1:26: error: expected ')' [CM2001]",
        "1:20: note: to match this '('",
    )),
    ("void f(void) { a = b[3; }", (
        "1:23: error: expected ']' [CM2001]",
        "1:21: note: to match this '['",
    )),
    ("void f(void) { g(1, ; }", "1:21: error: expected expression [CM2002]"),
    ("void f(void) { if a) b; }", "1:19: error: expected '(' after 'if' [CM2001]"),
    ("void f(void) { while (a b; }", (
        "1:25: error: expected ')' [CM2001]",
        "1:22: note: to match this '('",
    )),
    ("void f(void) { for (a; b) ; }", "1:25: error: expected ';' in 'for' statement specifier [CM2001]"),
    ("void f(void) { for (a, b; c; d ; }", (
        "1:32: error: expected ')' [CM2001]",
        "1:20: note: to match this '('",
    )),
    ("void f(void) { do a; (1); }", "1:22: error: expected 'while' in do/while loop [CM2001]"),
    ("void f(void) { do a; while (1) }", "1:31: error: expected ';' after do/while statement [CM2001]"),
    ("void f(void) { return 3\n}", "1:24: error: expected ';' after return statement [CM2001]"),
    ("void f(void) { else a; }", "1:16: error: 'else' without a previous 'if' [CM2019]"),
    ("void f(void) { case 1 a; }", "1:23: error: expected ':' after 'case' [CM2001]"),
    ("void f(void) { goto ; }", "1:21: error: expected identifier [CM2004]"),
    ("void f(void) { break }", "1:21: error: expected ';' after break statement [CM2001]"),
    ("void f(void) { a. = 1; }", "1:19: error: expected identifier [CM2004]"),
    ("void f(void) { a->1; }", "1:19: error: expected identifier [CM2004]"),
    ("void f(void) { int 3; }", "1:20: error: expected identifier or '(' [CM2005]"),
    ("void f(void) { int a = { 1, 2 ; }", (
        "1:31: error: expected '}' [CM2001]",
        "1:24: note: to match this '{'",
    )),
    ("void f(void) { int a[3 = 4; }", (
        "1:27: error: expected ']' [CM2001]",
        "1:21: note: to match this '['",
    )),
    ("void f(void) { if (a) int b; }", "1:23: error: a declaration is no statement; put it into braces [CM2015]"),
    ("void f(void) { a ? b; }", "1:21: error: expected ':' [CM2001]"),
    ("void f(void) { int g(void) { } }", "1:28: error: function definition is not allowed here [CM2020]"),
    ("void f(void) { sizeof int; }",
     "1:23: error: expected parentheses around type name in sizeof expression [CM2012]"),
    ("void f(void) { int a = int; }", "1:24: error: expected expression [CM2002]"),
    ("void f(void) { a = (float4)(1, 2, 3, 4).xy; }",
     "1:40: error: a vector literal needs parentheses around it before '.xy': '((type)(...)).xy' [CM2014]"),
    ("void f(void) { a = (int){ .b 3 }; }", "1:30: error: expected '=' after the designator [CM2001]"),
    ("void f(void) { a = ({ 1; }; }", ("1:27: error: expected ')' [CM2001]", "1:20: note: to match this '('")),
    ('void f(void) { asm("x"); }', "1:16: error: inline assembly is not supported in OpenCL C [CM2030]"),
    ("void f(void) { auto int a; }", "1:16: error: the storage class 'auto' is not supported in OpenCL C [CM2030]"),
    ("void f(void) { _Generic(a, 1: 2); }", "1:28: error: expected a type or 'default' [CM2001]"),
    ("void f(void) { _Generic(a, int 2); }", "1:32: error: expected ':' in a generic association [CM2001]"),
    ("void f(void) { __builtin_astype(a, 1); }", "1:36: error: expected a type [CM2001]"),
    ("void f(void) { __builtin_offsetof(int); }",
     "1:38: error: expected ',' between the operands of '__builtin_offsetof' [CM2001]"),
    ("void f(void) { __builtin_offsetof(int, 1); }", "1:40: error: expected identifier [CM2004]"),
    ("struct S s = { a: 1 };", "1:16: warning: use of GNU old-style field designator extension [CM2051]"),
    ("int f(a) int a; { return a; }",
     "1:6: warning: a function definition without a prototype is deprecated; write the types of the parameters into "
     "the parameter list [CM2050]"),
    ("void f(void) { new int; }", "1:16: error: 'new' belongs to C++; kernels are written in OpenCL C [CM2031]"),
    ("void f(void) { a = static_cast<int>(b); }",
     "1:20: error: 'static_cast' belongs to C++; kernels are written in OpenCL C [CM2031]"),
    ("void f(void) { image2d_t a; }", "1:16: error: images are not supported in OpenCL C [CM2030]"),
    ("void f(sampler_t s) { }", "1:8: error: samplers are not supported in OpenCL C [CM2030]"),
    ("void f(read_only image2d_t s) { }", "1:8: error: images are not supported in OpenCL C [CM2030]"),
    ("void f(pipe int s) { }", "1:8: error: pipes are not supported in OpenCL C [CM2030]"),
    ("typeof(1) a;", "1:1: error: 'typeof' (write '__typeof__') is not supported in OpenCL C [CM2030]"),
    ("_Atomic int a;", "1:1: error: the qualifier '_Atomic' is not supported in OpenCL C [CM2030]"),
    ("_Complex float a;", "1:1: error: complex numbers are not supported in OpenCL C [CM2030]"),
    ("class C { };", "1:1: error: 'class' belongs to C++; kernels are written in OpenCL C [CM2031]"),
    ("template <int N> void f(void) { }",
     "1:1: error: 'template' belongs to C++; kernels are written in OpenCL C [CM2031]"),
    ("namespace n { }", "1:1: error: 'namespace' belongs to C++; kernels are written in OpenCL C [CM2031]"),
    ("void f(int a b) { }", (
        "1:14: error: expected ')' [CM2001]",
        "1:7: note: to match this '('",
    )),
    ("void f(int a, ) { }", "1:15: error: expected parameter declarator [CM2006]"),
    ("void f(int a, 3) { }", "1:15: error: expected parameter declarator [CM2006]"),
    ("int 3;", "1:5: error: expected identifier or '(' [CM2005]"),
    ("int x y;", "1:6: error: expected ';' after top level declarator [CM2001]"),
    ("x = 3;", "1:1: error: type specifier missing; OpenCL C does not support implicit int [CM2009]"),
    ("struct { int a } b;", "1:15: warning: expected ';' at end of declaration list [CM2023]"),
    ("struct { int a b; } c;", "1:15: error: expected ';' at end of declaration list [CM2001]"),
    ("struct ;", "1:8: error: expected identifier or '{' after 'struct' [CM2001]"),
    ("struct S { int a; }", "1:20: error: expected ';' after struct [CM2001]"),
    ("enum E { A B };", (
        "1:12: error: expected '}' [CM2001]",
        "1:8: note: to match this '{'",
    )),
    ("enum E { 3 };", "1:10: error: expected identifier [CM2004]"),
    ("enum ;", "1:6: error: expected identifier or '{' after 'enum' [CM2001]"),
    ("}", "1:1: error: extraneous closing brace ('}') [CM2010]"),
    ("void f(void) { } }", "1:18: error: extraneous closing brace ('}') [CM2010]"),
    ("void f(void) {", (
        "1:15: error: expected '}' [CM2001]",
        "1:14: note: to match this '{'",
    )),
    ("void f(void) { { a;", (
        "1:20: error: expected '}' [CM2001]",
        "1:16: note: to match this '{'",
    )),
    ("__global __local int *p;", "1:10: error: multiple address spaces specified for type [CM2017]"),
    ("struct S int a;", "1:10: error: cannot combine 'int' with the type specifier 'struct' before it [CM2013]"),
    ("static extern int a;", "1:8: error: cannot combine with previous 'static' declaration specifier [CM2018]"),
    ("static static int a;", "1:8: warning: duplicate 'static' declaration specifier [CM2016]"),
    ("int f(void) __attribute__((1));", "1:28: error: malformed attribute: expected its name [CM2022]"),
    ("int f(void) __attribute__(unused);", "1:26: error: expected '((' after '__attribute__' [CM2001]"),
    ("int f(void) __attribute__((unused);", (
        "1:35: error: expected ')' [CM2001]",
        "1:26: note: to match this '('",
    )),
    ("#pragma unroll\nint a;",
     "1:2: error: expected a for, while, or do-while loop to follow '#pragma unroll' [CM2041]"),
    ("void f(void) {\n#pragma unroll 2\na; }",
     "2:2: error: expected a for, while, or do-while loop to follow '#pragma unroll' [CM2041]"),
    ("void f(void) { a = 1 +\n#pragma unroll\n2; }",
     "2:2: warning: pragma in the middle of a statement is ignored [CM2040]"),
    ("_Static_assert(1, 2);", "1:19: error: expected string literal [CM2001]"),
    ("void f(void) { a = 1;; b = ; c = ; d }", (
        "1:28: error: expected expression [CM2002]",
        "1:34: error: expected expression [CM2002]",
        "1:37: error: expected ';' after expression [CM2001]",
    )),
    ("if (a) b;", "1:1: error: expected identifier or '(' [CM2005]"),
    ("void f(int a[3 b) { }", (
        "1:16: error: expected ']' [CM2001]",
        "1:13: note: to match this '['",
    )),
    ("void f(void) { a = b ? : ; }", "1:26: error: expected expression [CM2002]"),
    ("void f(void) { int a, ; }", "1:23: error: expected identifier or '(' [CM2005]"),
    ("void f(void) { unsigned struct S a; }",
     "1:25: error: cannot combine 'struct' with the type specifier 'unsigned' before it [CM2013]"),
    ("void n::f(void) { }", "1:7: error: expected ';' after top level declarator [CM2001]"),
    ("void f(void) { if (a) }", "1:23: error: expected statement [CM2003]"),
    ("void f(void) { a = float4; }", "1:20: error: unexpected type name 'float4': expected expression [CM2008]"),
    ("void f(void) { for (int i = ; i < 3; i++) { a = ; } b = ; }", (
        "1:29: error: expected expression [CM2002]",
        "1:49: error: expected expression [CM2002]",
        "1:57: error: expected expression [CM2002]",
    )),
    ("void f(void) { if (a b) c = ; else d = ; }", (
        "1:22: error: expected ')' [CM2001]",
        "1:29: error: expected expression [CM2002]",
        "1:40: error: expected expression [CM2002]",
        "1:19: note: to match this '('",
    )),
    ("void f(void) { while (1 + ) { } a = ; }", (
        "1:27: error: expected expression [CM2002]",
        "1:37: error: expected expression [CM2002]",
    )),
    ("void f(void) { { d = [; } e = ; }", (
        "1:22: error: expected expression [CM2002]",
        "1:31: error: expected expression [CM2002]",
    )),
    ("void f(void) { switch (a { case 1: ; } b = ; }", (
        "1:26: error: expected ')' [CM2001]",
        "1:44: error: expected expression [CM2002]",
        "1:23: note: to match this '('",
    )),
    ("void f(void) { a = (1 + (2 * 3; b = ; }", (
        "1:31: error: expected ')' [CM2001]",
        "1:37: error: expected expression [CM2002]",
        "1:25: note: to match this '('",
    )),
]


def reports(source: str) -> list[str]:
    """All diagnostics of the parser, then their notes."""
    _, sink = parse_text(source)
    found = [f"{d.location}: {d.severity}: {d.message} [{d.code}]" for d in sink.diagnostics]
    found += [f"{note.location}: note: {note.message}" for d in sink.diagnostics for note in d.notes]
    return [text.removeprefix("k.cl:") for text in found]


@pytest.mark.parametrize(("source", "expected"), ERRORS)
def test_reports(source: str, expected: str | tuple[str, ...]) -> None:
    assert reports(source) == ([expected] if isinstance(expected, str) else list(expected))


def test_every_message_is_tested() -> None:
    codes = {row.code for row in vars(messages).values() if isinstance(row, messages.Message)}
    tested = " ".join(text if isinstance(text, str) else " ".join(text) for _, text in ERRORS)
    untested = {code for code in codes if code not in tested}
    assert untested == {messages.TOO_DEEP.code}  # below


def test_several_errors_are_found_in_one_run() -> None:
    source = """\
void f(void) {
  a = ;
  b = 1
  c = (2;
  { d = [; }
  e = 3;
}
struct S { int x; int 3; int y; };
void g(int a, int) { return 1 +; }
"""
    assert [text.split(":")[0] for text in reports(source) if "note" not in text] == ["2", "3", "4", "5", "8", "9"]


def test_what_is_right_is_parsed_around_errors() -> None:
    tree, sink = parse_text("int f(void) { a = ; b; } int x y; int g(void) { return 1; }")
    assert sink.error_count == 2
    assert len(tree.items) == 3


DEEP = {
    "parentheses": "void f(void) { a = " + "(" * 5000 + "1" + ")" * 5000 + "; }",
    "unary operators": "void f(void) { a = " + "-" * 5000 + "1; }",
    "casts": "void f(void) { a = " + "(int)" * 5000 + "1; }",
    "blocks": "void f(void) { " + "{" * 5000 + "}" * 5000 + " }",
    "loops": "void f(void) { " + "for (;;) " * 5000 + "; }",
    "conditionals": "void f(void) { a = " + "b ? " * 5000 + "1" + " : 0" * 5000 + "; }",
    "assignments": "void f(void) { " + "a = " * 5000 + "1; }",
    "pointers": "int " + "*" * 5000 + "a;",
    "declarators": "int " + "(" * 5000 + "a" + ")" * 5000 + ";",
    "structures": "struct { " * 5000 + "int a; " + "} a;" * 5000,
    "initialisers": "int a[] = " + "{" * 5000 + "1" + "}" * 5000 + ";",
    "sizeof": "void f(void) { a = " + "sizeof " * 5000 + "1; }",
    "statement expressions": "void f(void) { a = " + "({ " * 5000 + "1; " + "}); " * 5000 + "}",
    "selections": "void f(void) { a = " + "_Generic(1, int: " * 5000 + "1" + ")" * 5000 + "; }",
    "typeof": "void f(void) { " + "__typeof__((" * 5000 + "1" + "))" * 5000 + " a; }",
    "labels": "void f(void) { " + "case 1: " * 5000 + "; }",
    "attributes": "int a " + "__attribute__((a(" * 3000 + "1" + ")))" * 3000 + ";",
    "parameters": "void f(" + "int a[sizeof(int (*)(" * 3000 + ")" * 6000 + ");",
    "array sizes": "int a" + "[1]" * 30000 + ";",
    "else if": "void f(void) { " + "if (a) ; else " * 2000 + "; }",
}


@pytest.mark.parametrize("what", DEEP)
def test_deep_nesting_is_an_error(what: str) -> None:
    """Python's own recursion limit is never met, and the message says what the limit is."""
    found = [text for text in reports(DEEP[what]) if "nesting" in text]
    assert found, reports(DEEP[what])[:3]
    assert found[0].endswith("[CM2011]")


@pytest.mark.parametrize("depth", [1, 100, MAX_NESTING - 4])
def test_nesting_below_the_limit(depth: int) -> None:
    assert reports("void f(void) { a = " + "(" * depth + "1" + ")" * depth + "; }") == []


def test_many_errors_end_the_run() -> None:
    """The sink's limit on errors stops the parser, which raises with all of them."""
    from coopmat.diagnostics import CompileError

    with pytest.raises(CompileError) as caught:
        parse_text("void f(void) { " + "a = ;\n" * 1000 + "}")
    assert [d.message for d in caught.value.diagnostics[:-1]] == ["expected expression"] * 20
    assert str(caught.value.diagnostics[-1]) == (
        "error: too many errors emitted, stopping now [-ferror-limit=20] [CM0001]")
