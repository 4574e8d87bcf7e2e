"""The kernel tree that correct programs become, every conversion explicit (C99 6.3 to 6.8, OpenCL C 6.2 to 6.11)."""

from __future__ import annotations

import pytest

from coopmat.opencl import BuildOptions, compile_source, is_builtin_function
from coopmat.tree import nodes as n
from coopmat.tree.types import CHAR, FLOAT, INT, VOID, AddressSpace, Array, Pointer, Record, Vector, layout_of
from tests.kit.opencl.dump import expression_text, statement_text

PRELUDE = """\
struct S { int a; float b; int c[3]; };
union U { int i; float f; };
enum E { RED, GREEN = 5 };
struct S make(void) { struct S s; return s; }
float use(int a, float4 b) { return a; }
void void_function(void) { }
void test(int i, uint u, long l, ulong ul, char ch, short sh, bool b, float x, double d, half h, __bf16 bf, float4 v,
          float2 v2, int4 iv, int3 i3, int2 i2, uint4 uv, char4 cv, global int *p, global float *q, local int *lp,
          constant char *kc, private int *pp, int *gp, global void *vp, struct S s, global struct S *sp, enum E e) {
"""

BODIES = [
    ("x = i;", "x = (float)i;"),
    ("i = x;", "i = (int)x;"),
    ("ch = i;", "ch = (char)i;"),
    ("l = i; ul = i; i = l; u = -1;", "l = (long)i; ul = (ulong)i; i = (int)l; u = 4294967295:uint;"),
    ("d = x;", "d = (double)x;"),
    ("x = 1;", "x = 1.0:float;"),
    ("b = x;", "b = (bool)x;"),
    ("b = i < 2;", "b = (i < 2:int);"),
    ("i = b;", "i = (int)b;"),
    ("i = b + 1;", "i = ((int)b + 1:int);"),
    ("p = 0;", "p = zero:__global int *;"),
    ("b = p;", "b = (p != zero:__global int *);"),
    ("i = ch + sh;", "i = ((int)ch + (int)sh);"),
    ("i = ch << 1;", "i = ((int)ch << 1:int);"),
    ("ch += 1;", "ch := (char)((int)old + 1:int);"),
    ("ch++;", "post ch := (char)((int)old + 1:int);"),
    ("--x;", "x := (old - 1.0:float);"),
    ("b++;", "post b := (bool)((int)old + 1:int);"),
    ("x += i;", "x := (old + (float)i);"),
    ("i += x;", "i := (int)((float)old + x);"),
    ("u = i + u;", "u = ((uint)i + u);"),
    ("l = i + u;", "l = (long)((uint)i + u);"),
    ("l = u + l;", "l = ((long)u + l);"),
    ("ul = l + ul;", "ul = ((ulong)l + ul);"),
    ("x = h + x;", "x = ((float)h + x);"),
    ("h = h + 1;", "h = (h + 1.0:half);"),
    ("h = i * h;", "h = ((half)i * h);"),
    ("d = x * d;", "d = ((double)x * d);"),
    ("i = i < u;", "i = (int)((uint)i < u);"),
    ("i = x < i;", "i = (int)(x < (float)i);"),
    ("i = i == 1 && x > 2;", "i = (int)((i == 1:int) && (x > 2.0:float));"),
    ("i = !x; i = !!i;", "i = (int)!(bool)x; i = (int)!!(bool)i;"),
    ("if (i) ; if (!p) ; if (i < 2) ; if (x && p) ; if (!(i < 2)) ;",
     "if ((bool)i) { } if (!(p != zero:__global int *)) { } if ((i < 2:int)) { } if (((bool)x && (p "
     "!= zero:__global int *))) { } if (!(i < 2:int)) { }"),
    ("x = i ? x : l;", "x = ((bool)i ? x : (float)l);"),
    ("i = (i, 2);", "i = (i, 2:int);"),
    ("v = 1;", "v = splat<float4>(1.0:float);"),
    ("v = b;", "v = (float4)splat<bool4>(b);"),
    ("v = i < 1;", "v = splat<float4>((float)(i < 1:int));"),
    ("v = v + i;", "v = (v + splat<float4>((float)i));"),
    ("v = x * v;", "v = (splat<float4>(x) * v);"),
    ("iv = v < 1;", "iv = (int4)(v < splat<float4>(1.0:float));"),
    ("iv = !v;", "iv = (int4)!(bool4)v;"),
    ("iv = iv && iv == 1;", "iv = ((int4)(bool4)iv & (int4)(iv == splat<int4>(1:int)));"),
    ("v = iv ? v : 1;", "v = select((iv < zero:int4), v, splat<float4>(1.0:float));"),
    ("v = v < x ? v : -v;", "v = select((v < splat<float4>(x)), v, -v);"),
    ("uv = uv >> 1;", "uv = (uv >> splat<uint4>(1:uint));"),
    ("iv = iv << uv;", "iv = (iv << (int4)uv);"),
    ("cv = cv << iv;", "cv = (cv << (char4)iv);"),
    ("i = i << l;", "i = (i << (int)l);"),
    ("l = l << i;", "l = (l << (long)i);"),
    ("v = iv ? 1.0f : 2.0f;", "v = select((iv < zero:int4), splat<float4>(1.0:float), splat<float4>(2.0:float));"),
    ("uv = uv ? uv : 1;", "uv = select(((int4)uv < zero:int4), uv, splat<uint4>(1:uint));"),
    ("v.x = 1;", "v[0:int] = 1.0:float;"),
    ("v.wzyx = v;", "v.s3210 = v;"),
    ("v.xy += v2;", "v.s01 := (old + v2);"),
    ("v.lo.y = v.hi.x;", "v[1:int] = v[2:int];"),
    ("v2 = v.xx;", "v2 = v.s00;"),
    ("x = v.xyzw.zw.y;", "x = v[3:int];"),
    ("x = v[i]; v[1] = x;", "x = v[i]; v[1:int] = x;"),
    ("v = (float4)(1, v2, i);", "v = {1.0:float, v2, (float)i};"),
    ("v = (float4)(v2.xy, v2);", "v = {v2.s01, v2};"),
    ("iv = (int4)b;", "iv = (int4)splat<bool4>(b);"),
    ("iv = (int4)(x);", "iv = splat<int4>((int)x);"),
    ("i3 = i3.zyx; i2 = i3.hi;", "i3 = i3.s210; i2 = i3.s22;"),
    ("p[i] = 1;", "*(p +> (long)i) = 1:int;"),
    ("p[u]++;", "post *(p +> (long)u) := (old + 1:int);"),
    ("*p = 2;", "*p = 2:int;"),
    ("*(p + l) = 3;", "*(p +> l) = 3:int;"),
    ("i = p[1] + *p++;", "i = (*(p +> 1:long) + *post p := (old +> 1:long));"),
    ("p -= 2;", "p := (old +> -2:long);"),
    ("l = p - p;", "l = (p -> p);"),
    ("i = p == 0; i = p < p;", "i = (int)(p == zero:__global int *); i = (int)(p < p);"),
    ("gp = p; gp = &i; gp = lp;",
     "gp = space<__generic int *>(p); gp = space<__generic int *>(&i); gp = space<__generic int *>(lp);"),
    ("vp = p; p = vp;", "vp = bits<__global void *>(p); p = bits<__global int *>(vp);"),
    ("ul = (ulong)p; p = (global int *)ul; i = (int)p;",
     "ul = bits<ulong>(p); p = bits<__global int *>(ul); i = (int)bits<ulong>(p);"),
    ("p = (global int *)q;", "p = bits<__global int *>(q);"),
    ("s.a = s.c[i];", "s.#0 = s.#2[i];"),
    ("sp->a = sp[1].c[2];", "*sp.#0 = *(sp +> 1:long).#2[2:int];"),
    ("i = make().a; i = make().c[1];",
     "struct S .temporary0; i = make().#0; i = *(.temporary0 = make(), &.temporary0).#2[1:int];"),
    ("s = *sp;", "s = *sp;"),
    ("struct S z = { 1, 2.5f, { 3, [2] = i } };", "struct S z = {1:int, 2.5:float, {3:int, 0:int, i}};"),
    ("struct S z = { .c = { 1 }, .a = 2 };", "struct S z = {2:int, 0.0:float, {1:int, 0:int, 0:int}};"),
    ("int z[2][2] = { 1, 2, 3 };", "int[2][2] z = {{1:int, 2:int}, {3:int, 0:int}};"),
    ("int z[] = { [3] = 1, 2 };", "int[5] z = {0:int, 0:int, 0:int, 1:int, 2:int};"),
    ("int z[3] = { 0 };", "int[3] z = zero:int[3];"),
    ('char z[] = "ab";', "char[3] z = {97:char, 98:char, 0:char};"),
    ('char z[5] = "ab";', "char[5] z = {97:char, 98:char, 0:char, 0:char, 0:char};"),
    ("union U z = { 5 };",
     "union U z = {.#0 = 5:int};"),
    ("union U z = { .f = 5 };",
     "union U z = {.#1 = 5.0:float};"),
    ("float4 z = { 1, 2, 3, 4 };", "float4 z = {1.0:float, 2.0:float, 3.0:float, 4.0:float};"),
    ("e = GREEN; i = e + 1; e = i;", "e = 5:enum E; i = (int)((uint)e + 1:uint); e = (enum E)i;"),
    ("int z[3]; int *y = z; y = &z[1]; i = *z + z[2];",
     "int[3] z; __generic int * y = space<__generic int *>(&z[0:int]); y = space<__generic int "
     "*>(&z[1:int]); i = (z[0:int] + z[2:int]);"),
    ("int z[2][3]; z[1][2] = 4; i = **z;", "int[2][3] z; z[1:int][2:int] = 4:int; i = z[0:int][0:int];"),
    ("i = sizeof(i++) + sizeof(struct S);", "i = 24:int;"),
    ("i = convert_int_sat(x); i = convert_int_rte(x); x = convert_float_rtz(i); x = "
     "convert_float_rte(d); ch = convert_char_sat(i); iv = convert_int4(v);",
     "i = (int_sat)x; i = (int_rte)x; x = (float_rtz)i; x = (float)d; ch = (char_sat)i; iv = (int4)v;"),
    ("i = as_int(x); v = as_float4(iv); i3 = as_int3(v); i = as_int(1.0f);",
     "i = bits<int>(x); v = bits<float4>(iv); i3 = bits<int3>(v); i = 1065353216:int;"),
    ("x = use(i, v); use(1, 2);", "x = use(i, v); use(1:int, splat<float4>(2.0:float));"),
    ("void_function();", "void_function();"),
    ("switch (i) { case 1: case 2: x = 1; break; default: x = 2; }",
     "switch (i) [1, 2, default] { case 1: case 2: x = 1.0:float; break; default: x = 2.0:float; }"),
    ("switch (l) { case 1 ... 3: ; }", "switch (l) [1, 2, 3] { case 1: case 2: case 3: }"),
    ("for (int k = 0; k < 3; k++) { if (k) continue; break; }",
     "{ int k = 0:int; loop ((k < 3:int); post k := (old + 1:int)) { if ((bool)k) continue; break; } }"),
    ("while (i) i--;", "loop ((bool)i; ) post i := (old - 1:int);"),
    ("do i--; while (i);", "until-last ((bool)i; ) post i := (old - 1:int);"),
    ("goto end; end: ;", "goto end; end:"),
    ("return;", "return;"),
    ("bf = bf + 1; bf += x; i = bf < bf; bf = -bf;",
     "bf = (__bf16)((float)bf + 1.0:float); bf := (__bf16)((float)old + x); i = (int)((float)bf < "
     "(float)bf); bf = (__bf16)-(float)bf;"),
    ("(void)i;", "(i, 0:int);"),
    ("i = 1 + 2 * 3; x = 1.0f / 3; i = -1; i = ~0; u = 1u << 31; i = 'a'; i = 5 > 3;",
     "i = 7:int; x = 0.3333333432674408:float; i = -1:int; i = -1:int; u = 2147483648:uint; i = 97:int; i = 1:int;"),
    ("x = (float)(i); i = (int)2.7; l = (long)-1;", "x = (float)i; i = 2:int; l = -1:long;"),
    ("i = *&i; p = &*p; p = &p[2]; pp = &s.a;", "i = i; p = p; p = (p +> 2:long); pp = &s.#0;"),
    ("struct S *y = &(struct S){ 1 };",
     "struct S .temporary0; __generic struct S * y = space<__generic struct S *>((.temporary0 = "
     "{1:int, 0.0:float, zero:int[3]}, &.temporary0));"),
    ('i = "abc"[1]; kc = "abc";', "i = (int).string0[1:int]; kc = &.string1[0:int];"),
    ("i = i ? i : x;", "i = (int)((bool)i ? (float)i : x);"),
    ("p = b ? p : 0; vp = b ? p : vp;",
     "p = (b ? p : zero:__global int *); vp = (b ? bits<__global void *>(p) : vp);"),
    ("b ? void_function() : (void)0;", "(b ? void_function() : (0:int, 0:int));"),
    ("int z = sizeof(char) == 1 ? i : 0;", "int z = (True:bool ? i : 0:int);"),
    ("const int n = 3; int z[n + 1]; z[0] = n;", "int n = 3:int; int[4] z; z[0:int] = n;"),
    ("enum { N = 4 }; int z[N]; i = N;", "int[4] z; i = 4:int;"),
    ("struct { struct { int m; }; int n; } z = { { 1 }, 2 }; i = z.m + z.n;",
     "struct (unnamed at <source>:10:1) z = {{1:int}, 2:int}; i = (z.#0.#0 + z.#1);"),
    ("v = v * 2; v = 2 * v; v2 = v.lo + v.hi.xy;",
     "v = (v * splat<float4>(2.0:float)); v = (splat<float4>(2.0:float) * v); v2 = (v.s01 + v.s23);"),
    ("struct S z[2] = { s, { 1 } };", "struct S[2] z = {s, {1:int, 0.0:float, zero:int[3]}};"),
    ("volatile int z = 1; z = z;", "int z = 1:int; z = z;"),
    ("i = h < 2 && bf > 1;", "i = (int)((h < 2.0:half) && ((float)bf > 1.0:float));"),
    ("l = i = ch = 3;", "l = (long)i = (int)ch = 3:char;"),
    ("i = p != 0 && *p > 2 || l;", "i = (int)(((p != zero:__global int *) && (*p > 2:int)) || (bool)l);"),
    ("i = ((i));", "i = i;"),
]


def program(source: str) -> n.Program:
    """A program that compiles without a warning but of statements without effect."""
    quiet = BuildOptions(warnings=("-Wno-unused", "-Wno-empty-body", "-Wno-unsequenced",
                                   "-Wno-tautological-compare"))
    tree, diagnostics = compile_source(source, options=quiet)
    assert [d.header for d in diagnostics] == []
    return tree


def function(source: str, name: str = "f") -> n.Function:
    return next(found for found in program(source).functions if found.name == name)


def body(source: str, name: str = "f") -> str:
    block = function(source, name).body
    assert block is not None
    return " ".join(map(statement_text, block.statements))


@pytest.mark.parametrize(("source", "expected"), BODIES)
def test_conversions_and_places(source: str, expected: str) -> None:
    """``old`` is the value before an update, ``+>`` moves a pointer, ``.#1`` is a member by number."""
    assert body(f"{PRELUDE}{source}\n}}", "test") == expected


# ------------------------------------------------------------------ functions


def test_kernel_with_attributes() -> None:
    kernel = function("__kernel __attribute__((reqd_work_group_size(8, 4, 1))) "
                      "__attribute__((work_group_size_hint(16, 1, 1), intel_reqd_sub_group_size(16))) "
                      "void f(__global const float *restrict a, __local int *b, __constant char *c, const int n) { }")
    assert kernel.is_kernel
    assert kernel.result == VOID
    assert kernel.required_work_group_size == (8, 4, 1)
    assert kernel.work_group_size_hint == (16, 1, 1)
    assert kernel.required_sub_group_size == 16
    a, b, c, count = kernel.parameters
    assert (a.name, a.type, a.restrict) == ("a", Pointer(FLOAT, AddressSpace.GLOBAL, const=True), True)
    assert b.type == Pointer(INT, AddressSpace.LOCAL)
    assert c.type == Pointer(CHAR, AddressSpace.CONSTANT)
    assert (count.type, count.const, a.const) == (INT, True, False)


@pytest.mark.parametrize("spelling", ["reqd_sub_group_size(8)", "__intel_reqd_sub_group_size__(4 + 4)"])
def test_sub_group_size(spelling: str) -> None:
    assert function(f"__kernel __attribute__(({spelling})) void f(void) {{ }}").required_sub_group_size == 8


def test_attributes_of_a_prototype_hold_for_the_definition() -> None:
    tree = program("__kernel void f(int a) __attribute__((reqd_work_group_size(2, 1, 1))); "
                   "__kernel void f(int renamed) { renamed++; }")
    (kernel,) = tree.functions
    assert kernel.required_work_group_size == (2, 1, 1)
    assert [parameter.name for parameter in kernel.parameters] == ["renamed"]


def test_functions_may_be_called_before_their_definition() -> None:
    tree = program("int later(int); int f(void) { return later(1); } int later(int a) { return a; }")
    first, second = tree.functions
    assert first.body is not None
    (statement,) = first.body.statements
    assert isinstance(statement, n.Return)
    assert isinstance(statement.value, n.Call)
    assert statement.value.function is second
    assert second.body is not None


def test_array_parameters_are_pointers() -> None:
    parameters = function("void f(__global int a[3], const float b[][2], __local char *c[2]) { }").parameters
    assert [str(parameter.type) for parameter in parameters] == [
        "__global int *", "__private const float[2] *", "__private __local char * *"]


def test_kernels_can_be_called() -> None:
    assert body("kernel void g(global int *p) { } kernel void f(global int *p) { g(p); }") == "g(p);"


def test_user_functions_hide_builtin_ones() -> None:
    assert body("float sqrt(float x) { return x; } float f(float x) { return sqrt(x); }") == "return sqrt(x);"


def test_variables_hide_types_and_functions() -> None:
    assert body("typedef int T; int f(float sqrt) { int T = 1; return T + (int)sqrt; }") == (
        "int T = 1:int; return (T + (int)sqrt);")


# ------------------------------------------------------------------ variables


def test_qualifiers_of_variables() -> None:
    block = function("kernel void f(void) { __local float4 a[2] __attribute__((aligned(64))); volatile const int b = 1;"
                     " int *restrict c; __private int *__private d; }").body
    assert block is not None
    declared = [s.variable for s in block.statements if isinstance(s, n.Declare)]
    assert [(v.name, v.address_space) for v in declared] == [
        ("a", AddressSpace.LOCAL), ("b", AddressSpace.PRIVATE), ("c", AddressSpace.PRIVATE),
        ("d", AddressSpace.PRIVATE)]
    assert (declared[0].alignment, declared[0].type) == (64, Array(Vector(FLOAT, 4), 2))
    assert (declared[1].const, declared[1].volatile, declared[2].restrict) == (True, True, True)
    assert declared[2].type == Pointer(INT, AddressSpace.GENERIC)
    assert declared[3].type == Pointer(INT, AddressSpace.PRIVATE)


@pytest.mark.parametrize(("declaration", "expected"), [
    ("__constant int x = 1 + 2 * 3;", "7:int"),
    ("__constant float x = 1;", "1.0:float"),
    ("__constant int x[] = { 1, 2, [4] = 5 };", "{1:int, 2:int, 0:int, 0:int, 5:int}"),
    ("__constant int x[2][2] = { { 1 } };", "{{1:int, 0:int}, zero:int[2]}"),
    ("__constant int x[9] = { 0 };", "zero:int[9]"),
    ("__constant float x[2] = { -0.0f };", "{-0.0:float, 0.0:float}"),
    ("__constant float4 x = (float4)(1, 2, 3, 4);", "{1.0:float, 2.0:float, 3.0:float, 4.0:float}"),
    ("__constant float4 x = 1.5f;", "{1.5:float, 1.5:float, 1.5:float, 1.5:float}"),
    ("__constant float4 x = ((float4)(1, 2, 3, 4)).wzyx * 2;",
     "{8.0:float, 6.0:float, 4.0:float, 2.0:float}"),
    ('__constant char x[] = "a\\n";', "{97:char, 10:char, 0:char}"),
    ("__constant struct { int a; float b; } x = { .b = 2 };", "{0:int, 2.0:float}"),
    ("__constant union { int a; float b; } x = { 3 };", "{.#0 = 3:int}"),
    ("__constant union { int a; float b; } x = { .b = 3 };", "{.#1 = 3.0:float}"),
    ("__constant int *__constant x = 0;", "zero:__constant int *"),
    ("__constant bool x = 3;", "True:bool"),
    ("enum { A, B } ; __constant int x = B;", "1:int"),
    ("__constant int y[2] = { 3, 4 }; __constant int x = y[1] * 2;", "8:int"),
    ("__constant struct { int a[2]; } y = { { 5, 6 } }; __constant int x = y.a[0] + sizeof(y);", "13:int"),
    ("__constant int x = as_int(1.0f);", "1065353216:int"),
    ("__constant int x = (1, 2);", "2:int"),
    ("__constant long x = 5 > 3 ? -1 : 1.5f;", "-1:long"),
])
def test_program_scope_constants(declaration: str, expected: str) -> None:
    variable = program(declaration).globals[-1]
    assert variable.name == "x"
    assert variable.address_space is AddressSpace.CONSTANT
    assert variable.initializer is not None
    assert expression_text(variable.initializer) == expected


def test_constants_of_a_kernel_are_the_programs() -> None:
    tree = program("kernel void f(global int *p) { __constant int table[2] = { 1, 2 }; p[0] = table[p[1]]; }")
    assert [variable.name for variable in tree.globals] == ["table"]
    assert body("kernel void f(global int *p) { __constant int table[2] = { 1, 2 }; p[0] = table[p[1]]; }") == (
        "*(p +> 0:long) = table[*(p +> 1:long)];")


def test_const_variables_count_as_constants() -> None:
    source = "__constant int N = 3; void f(void) { const int m = N * 2; int a[m]; int b[sizeof(a)]; b[0] = a[0]; }"
    block = function(source).body
    assert block is not None
    types = [s.variable.type for s in block.statements if isinstance(s, n.Declare)]
    assert types == [INT, Array(INT, 6), Array(INT, 24)]


def test_records_have_the_layout_of_c() -> None:
    source = """
struct plain { char a; int b; short c; double d; float3 e; };
struct packed { char a; int b; } __attribute__((packed));
struct aligned { char a; } __attribute__((aligned(32)));
union both { char a[5]; short b; };
void f(struct plain *a, struct packed *b, struct aligned *c, union both *d) { }
"""
    layouts = []
    for parameter in function(source).parameters:
        assert isinstance(parameter.type, Pointer)
        layouts.append(layout_of(parameter.type.pointee))
    assert [(layout.size, layout.alignment) for layout in layouts] == [(48, 16), (5, 1), (32, 32), (6, 2)]
    assert layouts[0].offsets == (0, 4, 8, 16, 32)


def test_a_record_may_point_to_itself() -> None:
    (parameter,) = function("typedef struct node { int value; __global struct node *next; } node;"
                            "int f(__global node *p) { return p->next->value; }").parameters
    assert isinstance(parameter.type, Pointer)
    record = parameter.type.pointee
    assert isinstance(record, Record)
    assert record.fields is not None
    assert record.fields[1].type == parameter.type


# ------------------------------------------------------------------ statements


@pytest.mark.parametrize(("text", "unroll"), [
    ("\n#pragma unroll\n", 0), ("\n#pragma unroll 4\n", 4), ("\n#pragma nounroll\n", 1),
    ("__attribute__((opencl_unroll_hint)) ", 0), ("__attribute__((opencl_unroll_hint(2 + 1))) ", 3), ("", None),
])
def test_unroll_hints(text: str, unroll: int | None) -> None:
    block = function(f"void f(int i) {{ {text}while (i) i--; }}").body
    assert block is not None
    (loop,) = block.statements
    assert isinstance(loop, n.Loop)
    assert loop.unroll == unroll


@pytest.mark.parametrize(("pragma", "contract"), [
    ("", True), ("#pragma OPENCL FP_CONTRACT OFF", False), ("#pragma OPENCL FP_CONTRACT ON", True),
])
def test_contraction(pragma: str, contract: bool) -> None:
    assert program(f"{pragma}\nvoid f(void) {{ }}").contract_floating_point is contract


@pytest.mark.parametrize("source", [
    "int f(int i) { if (i) return 1; else return 2; }",
    "int f(int i) { while (1) { if (i) return 1; } }",
    "int f(int i) { for (;;) { } }",
    "int f(int i) { do { return 1; } while (i); }",
    "int f(int i) { switch (i) { case 1: return 1; default: return 2; } }",
    "int f(int i) { goto end; end: return 1; }",
    "int f(int i) { { { return 1; } } }",
    "int f(int i) { for (;;) { switch (i) { case 1: break; } } }",
])
def test_all_paths_return(source: str) -> None:
    assert program(source).functions


@pytest.mark.parametrize("source", [
    "int f(int i) { }",
    "int f(int i) { if (i) return 1; }",
    "int f(int i) { while (i) return 1; }",
    "int f(int i) { for (;;) { break; } }",
    "int f(int i) { for (;;) { if (i) break; } }",
    "int f(int i) { switch (i) { case 1: return 1; } }",
    "int f(int i) { switch (i) { default: break; } }",
    "int f(int i) { do { if (i) continue; return 1; } while (i); }",
    "int f(int i) { do { switch (i) { case 1: continue; } return 1; } while (i); }",
    "int f(int i) { return 1; end: ; }",
])
def test_some_path_does_not_return(source: str) -> None:
    _, (warning,) = compile_source(source)
    assert warning.option == "return-type"


# ------------------------------------------------------------------ the package's functions


def test_builtin_function_names() -> None:
    assert is_builtin_function("get_global_id")
    assert is_builtin_function("convert_uchar4_sat_rte")
    assert is_builtin_function("as_double2")
    assert is_builtin_function("coop_mat_load")
    assert not is_builtin_function("convert_float_sat")
    assert not is_builtin_function("as_int5")
    assert not is_builtin_function("f")


def test_an_empty_source_is_a_program() -> None:
    assert program("").functions == []


def test_defined_macros() -> None:
    tree, _ = compile_source("int f(void) { return N; }", options=BuildOptions(macros=(("N", "3"),)))
    assert tree.functions[0].body is not None
    assert statement_text(tree.functions[0].body.statements[0]) == "return 3:int;"
