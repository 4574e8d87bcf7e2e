"""The parser: how expressions group, what declarators mean, the shape of statements (C99 6.5 to 6.9)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coopmat.opencl.parse import syntax
from coopmat.opencl.parse.declarations import declared_name
from tests.kit.opencl.dump import declarator_text, grouped, parse_text, specifier_text, syntax_text


def unit(text: str) -> syntax.TranslationUnit:
    """The tree of a source without errors."""
    tree, sink = parse_text(text)
    assert [d.header for d in sink.diagnostics] == []
    return tree


def statements(body: str) -> list[syntax.Statement]:
    """The statements of a function's body."""
    (function,) = unit(f"void f(void) {{ {body} }}").items
    assert isinstance(function, syntax.FunctionDefinition)
    return function.body.items


def expression(text: str) -> syntax.Expression:
    (statement,) = statements(f"{text};")
    assert isinstance(statement, syntax.ExpressionStatement)
    assert statement.expression is not None
    return statement.expression


# ------------------------------------------------------------------ expressions


@pytest.mark.parametrize(("text", "expected"), [
    ("a + b * c", "(a + (b * c))"),
    ("a * b + c", "((a * b) + c)"),
    ("a - b - c", "((a - b) - c)"),
    ("a = b = c", "(a = (b = c))"),
    ("a += b -= c", "(a += (b -= c))"),
    ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
    ("a ? b, c : d", "(a ? (b , c) : d)"),
    ("a = b ? c : d", "(a = (b ? c : d))"),
    ("a, b = c, d", "((a , (b = c)) , d)"),
    ("a || b && c | d ^ e & f", "(a || (b && (c | (d ^ (e & f)))))"),
    ("a & b ^ c | d && e || f", "(((((a & b) ^ c) | d) && e) || f)"),
    ("a == b < c << d + e * f", "(a == (b < (c << (d + (e * f)))))"),
    ("a << b >> c", "((a << b) >> c)"),
    ("a != b == c", "((a != b) == c)"),
    ("a % b / c * d", "(((a % b) / c) * d)"),
    ("-a * !b", "((-a) * (!b))"),
    ("- - a", "(-(-a))"),
    ("*p++", "(*(p++))"),
    ("(*p)++", "((*p)++)"),
    ("++*p--", "(++(*(p--)))"),
    ("&a[1]", "(&a[1])"),
    ("*a.b", "(*a.b)"),
    ("a.b->c[d](e, f).g", "a.b->c[d](e, f).g"),
    ("f()", "f()"),
    ("a[b, c]", "a[(b , c)]"),
    ("((a))", "a"),
    ("sizeof a + b", "(sizeof(a) + b)"),
    ("sizeof(int) * 2", "(sizeof(int) * 2)"),
    ("sizeof(a) - 1", "(sizeof(a) - 1)"),
    ("sizeof(int[3])", "sizeof(array 3 of int)"),
    ("sizeof (a)[1]", "sizeof(a[1])"),
    ("sizeof (int){1}", "sizeof((int){1})"),
    ("_Alignof(float4)", "alignof(float4)"),
    ("vec_step(float4)", "vec_step(float4)"),
    ("vec_step(a + b)", "vec_step((a + b))"),
    ("(int)a + b", "(((int)a) + b)"),
    ("(int)-a", "((int)(-a))"),
    ("(int)(a)(b)", "((int)a(b))"),
    ("(int)a[1]", "((int)a[1])"),
    ("(int)(float)a", "((int)((float)a))"),
    ("(float4)(1, 2, a, b + c)", "((float4)<1, 2, a, (b + c)>)"),
    ("(float4)(a)", "((float4)a)"),
    ("(float4)(a).x", "((float4)a.x)"),
    ("(float4)(float4)(1, 2, 3, 4)", "((float4)((float4)<1, 2, 3, 4>))"),
    ("((float2)(1, 2)).x", "((float2)<1, 2>).x"),
    ("(float4)((float2)(1, 2), c)", "((float4)<((float2)<1, 2>), c>)"),
    ("(__global const int *)p", "((pointer to __global const int)p)"),
    ("(int (*)[3])p", "((pointer to array 3 of int)p)"),
    ("(struct s){ .a = 1, .b[2] = { 3 }, 4, }", "(struct s){.a = 1, .b[2] = {3}, 4}"),
    ("(int[]){ [2] = 5 }[1]", "(array ? of int){[2] = 5}[1]"),
    ("1 ? -1 : +2", "(1 ? (-1) : (+2))"),
    ('"a" "b\\0c"', "'ab\\x00c'"),
    ("'a'", "97"),
    ("1.5f + 0x10u", "(1.5 + 16)"),
    ("__extension__ a", "a"),
])
def test_expressions_group_as_in_c(text: str, expected: str) -> None:
    assert grouped(expression(text)) == expected


PYTHON_OPERATORS = ["*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|"]


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PYTHON_OPERATORS), st.integers(1, 5)), max_size=12))
def test_binary_operators_group_as_pythons_do(tail: list[tuple[str, int]]) -> None:
    """These operators have the same precedence in both languages, and group from the left."""
    text = "1" + "".join(f" {operator} {value}" for operator, value in tail)
    shown = grouped(expression(text))
    expected = compile(text, "", "eval", flags=0x400)  # an abstract syntax tree
    assert shown == _python(expected.body)


def _python(node: object) -> str:
    import ast

    signs = {ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.Add: "+", ast.Sub: "-", ast.LShift: "<<",
             ast.RShift: ">>", ast.BitAnd: "&", ast.BitXor: "^", ast.BitOr: "|"}
    if isinstance(node, ast.BinOp):
        return f"({_python(node.left)} {signs[type(node.op)]} {_python(node.right)})"
    assert isinstance(node, ast.Constant)
    return str(node.value)


# ------------------------------------------------------------------ declarations


@pytest.mark.parametrize(("text", "expected"), [
    ("int a", ["a: int"]),
    ("unsigned long int a, b", ["a: unsigned long int", "b: unsigned long int"]),
    ("int *a, b", ["a: pointer to int", "b: int"]),
    ("int *a[3]", ["a: array 3 of pointer to int"]),
    ("int (*a)[3]", ["a: pointer to array 3 of int"]),
    ("int a[2][3]", ["a: array 2 of array 3 of int"]),
    ("int *const *volatile a", ["a: volatile pointer to const pointer to int"]),
    ("int f(int, float b[3], __local char *)",
     ["f: function(_: int, b: array 3 of float, _: pointer to __local char) returning int"]),
    ("int f()", ["f: function() returning int"]),
    ("int f(void)", ["f: function() returning int"]),
    ("int *f(int a, ...)", ["f: function(a: int, ...) returning pointer to int"]),
    ("int (*f)(int)", ["f: pointer to function(_: int) returning int"]),
    ("int (*f(int a))[2]", ["f: function(a: int) returning pointer to array 2 of int"]),
    ("int (*a[2])(void)", ["a: array 2 of pointer to function() returning int"]),
    ("int (a)", ["a: int"]),
    ("int ((*(a)))", ["a: pointer to int"]),
    ("__global const float *restrict p", ["p: restrict pointer to __global const float"]),
    ("const __constant float4 a", ["a: const __constant float4"]),
    ("float const volatile a", ["a: const volatile float"]),
    ("global int *local *a", ["a: pointer to __local pointer to __global int"]),
    ("typedef float T", ["T: typedef float"]),
    ("static inline int f(void)", ["f: function() returning static inline int"]),
    ("kernel void f(void)", ["f: function() returning kernel void"]),
    ("__kernel __attribute__((a)) void f(void) __attribute__((b))", ["f: function() returning kernel void"]),
    ("struct S { int a; } s, *p", ["s: struct S", "p: pointer to struct S"]),
    ("union { int a; } u", ["u: union None"]),
    ("enum E { A, B = 2 } e", ["e: enum E"]),
    ("int a[static 3]", ["a: array 3 of int"]),
    ("int __attribute__((aligned(4))) *__attribute__((unused)) a", ["a: pointer to int"]),
    ("int (__attribute__((unused)) a)", ["a: int"]),
    ("__bf16 a", ["a: __bf16"]),
])
def test_declarators(text: str, expected: list[str]) -> None:
    (declaration,) = unit(f"{text};").items
    assert isinstance(declaration, syntax.Declaration)
    base = specifier_text(declaration.specifiers)
    assert [declarator_text(item.declarator, base) for item in declaration.declarators] == expected


@pytest.mark.parametrize("name", ["a", "T", "uchar", "float4", "size_t"])
def test_typedef_names_can_be_hidden(name: str) -> None:
    """A name that means a type is an ordinary one in the scope where it is declared so (C99 6.2.1)."""
    body = f"typedef int T; {{ int {name} = 1; {name} * {name}; }} {{ float4 *z; }}"
    _, inner, last = statements(body)
    assert isinstance(inner, syntax.Compound)
    product = inner.items[1]
    assert isinstance(product, syntax.ExpressionStatement)
    assert product.expression is not None
    assert grouped(product.expression) == f"({name} * {name})"
    assert isinstance(last, syntax.Compound)
    assert isinstance(last.items[0], syntax.Declaration)


def test_typedef_ends_with_its_scope() -> None:
    inner, outer = statements("{ typedef int T; T * a; } T * a;")
    assert isinstance(inner, syntax.Compound)
    assert isinstance(inner.items[1], syntax.Declaration)
    assert isinstance(outer, syntax.ExpressionStatement)


def test_parameter_hides_a_type() -> None:
    (_, function) = unit("typedef int T; void f(int T) { T * 2; }").items
    assert isinstance(function, syntax.FunctionDefinition)
    assert isinstance(function.body.items[0], syntax.ExpressionStatement)


def test_loop_variable_hides_a_type_in_the_loop_only() -> None:
    loop, after = statements("for (int uint = 0; uint < 2; uint++) uint * 2; uint a;")
    assert isinstance(loop, syntax.For)
    assert isinstance(loop.body, syntax.ExpressionStatement)
    assert isinstance(after, syntax.Declaration)


def test_a_typedefs_name_can_be_a_member_or_label() -> None:
    assert len(statements("typedef int T; struct { int T; } s; s.T = 1; T: ; goto T;")) == 5


def test_attributes_are_kept_where_they_stand() -> None:
    text = ("__attribute__((a(1, 2))) int *x __attribute__((b, __c__)), y __attribute__((d)); "
            "typedef struct __attribute__((e)) S { int m __attribute__((f)); } __attribute__((g)) S;")
    first, second = unit(text).items
    assert isinstance(first, syntax.Declaration)
    assert syntax_text(first.specifiers.attributes) == (
        "[(Attribute name=a arguments=[(IntegerLiteral value=1 type_name=int) "
        "(IntegerLiteral value=2 type_name=int)])]")
    assert [[a.name for a in item.attributes] for item in first.declarators] == [["b", "c"], ["d"]]
    assert isinstance(second, syntax.Declaration)
    record = second.specifiers.record
    assert record is not None
    assert record.members is not None
    assert [a.name for a in record.attributes] == ["e", "g"]
    assert [a.name for a in record.members[0].declarators[0].attributes] == ["f"]
    assert declared_name(second.declarators[0].declarator) == "S"


# ------------------------------------------------------------------ statements


@pytest.mark.parametrize(("text", "expected"), [
    (";", "(ExpressionStatement)"),
    ("a;", "(ExpressionStatement expression=(Name name=a))"),
    ("{ }", "(Compound)"),
    ("if (a) b; else c;",
     "(If condition=(Name name=a) then=(ExpressionStatement expression=(Name name=b)) "
     "otherwise=(ExpressionStatement expression=(Name name=c)))"),
    ("if (a) if (b) c; else d;",
     "(If condition=(Name name=a) then=(If condition=(Name name=b) "
     "then=(ExpressionStatement expression=(Name name=c)) otherwise=(ExpressionStatement expression=(Name name=d))))"),
    ("while (a) ;", "(While condition=(Name name=a) body=(ExpressionStatement))"),
    ("do ; while (a);", "(While condition=(Name name=a) body=(ExpressionStatement) tests_last=True)"),
    ("for (;;) ;", "(For body=(ExpressionStatement))"),
    ("for (a; b; c) ;",
     "(For initial=(ExpressionStatement expression=(Name name=a)) condition=(Name name=b) step=(Name name=c) "
     "body=(ExpressionStatement))"),
    ("switch (a) default: ;", "(Switch value=(Name name=a) body=(Case statement=(ExpressionStatement)))"),
    ("case 1 ... 3: ;",
     "(Case value=(IntegerLiteral value=1 type_name=int) statement=(ExpressionStatement) "
     "last=(IntegerLiteral value=3 type_name=int))"),
    ("a: b: ;", "(Labelled name=a statement=(Labelled name=b statement=(ExpressionStatement)))"),
    ("goto a;", "(Goto name=a)"),
    ("break; ", "(Break)"),
    ("continue;", "(Continue)"),
    ("return;", "(Return)"),
    ("return a;", "(Return value=(Name name=a))"),
    ("end: }  void g(void) { ", "(Labelled name=end statement=(ExpressionStatement))"),
    ("__attribute__((opencl_unroll_hint(2))) while (a) ;",
     "(While condition=(Name name=a) body=(ExpressionStatement) "
     "attributes=[(Attribute name=opencl_unroll_hint arguments=[(IntegerLiteral value=2 type_name=int)])])"),
    ("__attribute__((x)) a;",
     "(Attributed attributes=[(Attribute name=x)] statement=(ExpressionStatement expression=(Name name=a)))"),
    ('_Static_assert(a, "b");', "(StaticAssert condition=(Name name=a) message=b'b')"),
])
def test_statements(text: str, expected: str) -> None:
    function = unit(f"void f(void) {{ {text} }}").items[0]
    assert isinstance(function, syntax.FunctionDefinition)
    (statement,) = function.body.items
    assert syntax_text(statement) == expected


@pytest.mark.parametrize(("pragma", "factor"), [
    ("unroll", 0), ("unroll 4", 4), ("nounroll", 1), ("unroll(3)", 3),
])
def test_unroll_pragmas_belong_to_the_loop(pragma: str, factor: int) -> None:
    for loop in ("for (;;) ;", "while (a) ;", "do ; while (a);"):
        (statement,) = statements(f"\n#pragma {pragma}\n{loop}\n")
        assert isinstance(statement, (syntax.For, syntax.While))
        assert statement.unroll == factor


def test_other_pragmas_become_statements_and_declarations() -> None:
    tree = unit("#pragma OPENCL FP_CONTRACT OFF\nvoid f(void) {\n#pragma OPENCL EXTENSION all : disable\n}")
    pragma, function = tree.items
    assert isinstance(pragma, syntax.Pragma)
    assert pragma.words == ["OPENCL", "FP_CONTRACT", "OFF"]
    assert isinstance(function, syntax.FunctionDefinition)
    assert isinstance(function.body.items[0], syntax.Pragma)


def test_locations_are_those_of_operators_and_names() -> None:
    (_, second) = statements("a;\n  bb + c ? d : e;")
    assert isinstance(second, syntax.ExpressionStatement)
    choice = second.expression
    assert isinstance(choice, syntax.Conditional)
    assert (choice.location.line, choice.location.column) == (2, 10)
    assert (choice.condition.location.line, choice.condition.location.column) == (2, 6)
    assert isinstance(choice.condition, syntax.Binary)
    assert (choice.condition.left.location.column, choice.condition.left.location.length) == (3, 2)


@pytest.mark.parametrize("text", ["", " \n", "// nothing", ";;;", "#define A 1"])
def test_empty_sources(text: str) -> None:
    assert unit(text).items == []


def test_long_chains_are_no_nesting() -> None:
    total = " + ".join(["a"] * 3000)
    choice = "if (a) ; else " * 900 + ";"
    assert len(statements(f"{total}; {choice}")) == 2
