"""Snippets about overloadable functions whose acceptance clang and the package must agree on (see sema_corpus).

``O`` is the attribute, ``D`` a body.
"""

from __future__ import annotations

PRELUDE = "#define O __attribute__((overloadable))\n#define D { return 0; }\n"

FILES = """
int O f(int a) D int O f(float a) D int g(void) { return f(1) + f(1.0f); }
O int f(int a) D O int f(float a) D int g(void) { return f(1); }
int f(int a) O; int f(float a) O; int O f(int a) D int O f(float a) D int g(void) { return f(1); }
int __attribute__((__overloadable__)) f(int a) D int __attribute__((overloadable)) f(float a) D
O static inline int f(int a) D static O inline int f(float b) D static inline O int f(char b) D
int *O f(int a) D int *O f(float a) D int *g(void) { return f(1); }
__global int * __attribute__((overloadable)) f(int a) D __global int *O f(float a) D
int (O f)(int a) D int (O f)(float a) D
int O f(int a), f(float a);
int f(int a), O f(float a);
int O f(int); int O f(float); int O f(int a) D int O f(float a) D int g(void) { return f(1); }
int O f(int); int O f(float a) { return f(1); } int O f(int a) D
int O f(int a) D int g(void) { return f(1.0f); } int O f(float a) D
int O f(int); float O f(int);
int O f(int); int O f(int);
int O f(int a) D int O f(int a) D
int O f(int a) D int O f(int);
int O f(int); int O f(const int a) D int g(void) { return f(1); }
int O f(int p[4]) D int O f(int *p) D int g(int *p) { int a[4]; return f(a) + f(p); }
int O f(int p[4]); int O f(__private int *p) D int g(void) { int a[4]; return f(a); }
int O f(void) D int O f(int a) D int g(void) { return f() + f(1); }
int O f() D int O f(int a) D int g(void) { return f() + f(1); }
int O f(int a) D int f(float a) D int g(void) { return f(1) + f(1.0f); }
int f(int a) D int O f(float a) D int g(void) { return f(1) + f(1.0f); }
int f(int); int f(float);
int f(int); int O f(int);
int O f(int); int f(int);
int O f(int); int f(int a) D
int f(int); int O f(float); int f(char);
int O f(int); int f(float); int f(char);
int O f(int); int f(float); int f(float a) D
__attribute__((overloadable(1))) int f(int);
O int f(int) D int g(void) { return 0; }
__constant int O x = 1;
typedef int O T;
struct O S { int a; };
struct S { int O a; };
void g(void) { int O x; }
void g(int O x) { }
enum O E { A };
typedef int f; int O f(int);
int O f(int); typedef int f;
__constant int f = 1; int O f(int);
int O f(int a) D int g(void) { int f = 1; return f; }
int O f(int a) D int g(int f) { return f(1); }
int O f(int a) D int O f(float a) D int g(void) { return (f)(1); }
int O f(int a) D int O f(float a) D void g(void) { f; }
int O f(int a) D int O f(float a) D void g(void) { int x = (int)f; }
int O f(int a) D int O f(float a) D int g(void) { return f(1.0); }
int O f(int a) D int O f(float a) D int g(uint u) { return f(u); }
int O f(int a) D int O f(float a) D int g(char c) { return f(c); }
int O f(int a) D int O f(int a, int b) D int g(void) { return f(1, 2) + f(1); }
int O f(int a) D int O f(int a, int b) D int g(void) { return f(); }
int O f(int a) D int O f(int a, int b) D int g(void) { return f(1, 2, 3); }
int O f(int a, float b) D int O f(float a, int b) D int g(void) { return f(1, 1); }
int O f(int a, float b) D int O f(float a, int b) D int g(void) { return f(1, 1.0f); }
int O f(int a, int b) D int O f(int a, float b) D int O f(float a, int b) D int g(long l) { return f(l, 1); }
int O f(float4 a) D int O f(int4 a) D int g(uint4 u) { return f(u); }
int O f(float4 a) D int O f(int4 a) D int g(float4 v, int4 i) { return f(v) + f(i); }
int O f(float4 a) D int O f(int4 a) D int g(void) { return f(1); }
int O f(float4 a) D int O f(float a) D int g(void) { return f(1); }
int O f(float4 a) D int g(uint4 u) { return f(u); }
int O f(float4 a) D int g(void) { return f(1); }
int O f(float4 a) D int O f(float2 a) D int g(float4 v) { return f(v.xy) + f(v.wzyx); }
int O f(__global int *a) D int O f(__local int *a) D int g(__global int *p, __local int *q) { return f(p) + f(q); }
int O f(__global int *a) D int O f(__local int *a) D int g(int *p) { return f(p); }
int O f(__global int *a) D int O f(__local int *a) D int g(__global int *p) { return f((int *)p); }
int O f(__global int *a) D int O f(int *a) D int g(__global int *p, __local int *q) { return f(p) + f(q); }
int O f(__global int *a) D int O f(int *a) D int g(__constant int *p) { return f(p); }
int O f(__global int *a) D int O f(const __global int *a) D int g(const __global int *p) { return f(p); }
int O f(const int *a) D int O f(volatile int *a) D int g(int *p) { return f(p); }
int O f(__global int *a) D int O f(float a) D int g(const __global int *p) { return f(p); }
int O f(__global int *a) D int O f(float a) D int g(__global uint *p) { return f(p); }
int O f(__global int *a) D int O f(float a) D int g(__global float *p) { return f(p); }
int O f(int *a) D int O f(void *a) D int g(int *p, float *q) { return f(p) + f(q); }
int O f(int *a) D int O f(float *a) D int g(void *p) { return f(p); }
int O f(int *a) D int O f(float *a) D int g(void) { return f(0); }
int O f(int *a) D int O f(bool a) D int g(float *p) { return f(p); }
int O f(__constant char *a) D int O f(const char *a) D int g(void) { return f("a"); }
int O f(struct S a) D int O f(struct T a) D int g(struct S s, struct T t) { return f(s) + f(t); }
int O f(struct S a) D int O f(struct T a) D int g(union U u) { return f(u); }
int O f(enum E a) D int O f(int a) D int g(enum E e) { return f(e) + f(RED) + f(1); }
int O f(int a) D int O f(unknown a) D int g(void) { return f(1); }
int O f(int a) D int g(int x) { return x; } int h(void) { return g(f(f(1))); }
void O f(int a) { } int O f(float a) D int g(void) { return f(1); }
short O f(int a) D long O f(float a) D void g(void) { int a[sizeof(f(1)) == 2 ? 1 : -1]; int b[sizeof(f(1.0f))]; }
int O f(int a) D int g(void) { int O f(float a); return f(2.0f); } int O f(float a) D
int O f(int a, ...);
__kernel void k(__global int *p) { } void O k(float a) { }
void O k(float a) { } __kernel void k(__global int *p) { k(1.0f); }
__kernel void O k(__global int *p) { }
__kernel void O k(__global int *p) { } __kernel void O k(float a) { }
int O f(int a) { return f(a); }
int O f(float); int O f(int a) { return f(1.0f); } int O f(float a) { return f(1); }
int O f(int a) D int O f(float a) { return f(1); } int O f(char a) { return f(1.0f); }
int O f(int a) D __constant int x = f(1);
""".strip("\n").split("\n")
"""Whole files, one a line; the types of sema_corpus are declared."""

STRICTER: dict[str, str] = {
    "__kernel void O k(__global int *p) { } __kernel void O k(float a) { }":
        "the host finds kernels by their names, of which clang makes mangled ones",
    "int O f(int a) { return f(a); }": "OpenCL C has no recursion",
    "int O f(float); int O f(int a) { return f(1.0f); } int O f(float a) { return f(1); }": "nor an indirect one",
}
"""What clang accepts and the package refuses, and why."""
