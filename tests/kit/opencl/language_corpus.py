"""Programs whose acceptance depends on the version of OpenCL C, or must not; clang and the package must agree on each
in every version, except where the reason is stated."""

from __future__ import annotations

# What clang's headers would declare; the package knows it.
CLANG_PRELUDE = """\
#ifndef __COOPMAT__
typedef unsigned long size_t; typedef long ptrdiff_t; typedef long intptr_t; typedef unsigned long uintptr_t;
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
typedef uint cl_mem_fence_flags;
#define VECTORS(t) typedef t t##2 __attribute__((ext_vector_type(2))); \\
    typedef t t##3 __attribute__((ext_vector_type(3))); \\
    typedef t t##4 __attribute__((ext_vector_type(4))); typedef t t##8 __attribute__((ext_vector_type(8))); \\
    typedef t t##16 __attribute__((ext_vector_type(16)));
VECTORS(char) VECTORS(uchar) VECTORS(short) VECTORS(ushort) VECTORS(int) VECTORS(uint) VECTORS(long) VECTORS(ulong)
VECTORS(float) VECTORS(double)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define NULL ((void *)0)
#define CHAR_BIT 8
#define CLK_LOCAL_MEM_FENCE 1
#define as_int(x) __builtin_astype((x), int)
#define __opencl_c_named_address_space_builtins 1
#if __OPENCL_C_VERSION__ >= 200
typedef enum memory_order { memory_order_relaxed, memory_order_acquire = 2, memory_order_release, memory_order_acq_rel,
    memory_order_seq_cst } memory_order;
typedef enum memory_scope { memory_scope_work_item, memory_scope_work_group, memory_scope_device,
    memory_scope_all_svm_devices, memory_scope_sub_group } memory_scope;
#endif
#endif
"""

PROGRAMS = r"""
void f(void) { int x; int *p = &x; *p = 1; }
kernel void k(global int *p) { int *q = p; *q = 1; }
kernel void k(local int *p) { int *q = p; *q = 1; }
kernel void k(constant int *p) { int *q = p; }
void g(int *p) { *p = 1; } kernel void k(global int *p) { g(p); }
void g(int *p) { *p = 1; } kernel void k(global int *p) { int x; g(&x); p[0] = x; }
void g(global int *p) { *p = 1; } kernel void k(global int *p) { int *q; g(q); }
kernel void k(int *p) { }
kernel void k(private int *p) { }
kernel void k(global int *p) { uint v = 3; ushort *s = (ushort *)&v; p[0] = s[1]; }
kernel void k(global int *p) { float *s = (float *)p; }
kernel void k(global int *p) { float *s = (global float *)p; }
kernel void k(global int *p) { global float *s = (global float *)p; }
typedef int *ip; kernel void k(global int *p) { ip q = p; }
typedef int *ip; void f(void) { int x; ip q = &x; }
typedef int *ip; kernel void k(ip p) { }
typedef struct { int *p; } S; kernel void k(global int *p) { S s; s.p = p; }
typedef struct { int *p; } S; void f(void) { S s; int x; s.p = &x; }
typedef int arr[4]; void g(arr a) { a[0] = 1; } void f(void) { int a[4]; g(a); }
void g(int a[4]) { a[0] = 1; } kernel void k(global int *p) { g(p); }
int *f(int *p) { return p; } kernel void k(global int *p) { int *q = f(p); }
int *f(global int *p) { return p; }
void f(void) { __generic int *p; }
void f(void) { generic int *p; }
void f(void) { int generic = 1; generic++; }
kernel void k(global int *generic) { generic[0] = 1; }
kernel void k(global int *p) { __generic int *q = p; global int *r = (global int *)q; }
void f(void) { int pipe = 1; pipe++; }
void f(int pipe) { }
int pipe(int x) { return x; }
global int x;
global int x = 3;
int x;
int x = 3;
static int x;
static global int x = 1;
constant int x = 3;
static constant int x = 3;
extern constant int x;
extern global int x;
local int x;
private int x = 1;
const int x = 3;
constant int a[2] = {1, 2}; int f(int i) { return a[i]; }
kernel void k(global int *p) { static int x = 1; p[0] = x; }
kernel void k(global int *p) { static constant int x = 1; p[0] = x; }
kernel void k(global int *p) { static global int x = 1; p[0] = x; }
kernel void k(global int *p) { constant int x = 1; p[0] = x; }
void f(void) { constant int x = 1; }
kernel void k(global int *p) { { constant int x = 1; p[0] = x; } }
kernel void k(global int *p) { local int x; x = 1; p[0] = x; }
kernel void k(global int *p) { { local int x; x = 1; p[0] = x; } }
kernel void k(global int **p) { }
kernel void k(global int * global *p) { }
kernel void k(global int * private *p) { }
kernel void k(bool b) { }
kernel void k(global bool *b) { }
kernel void k(size_t n) { }
kernel void k(global size_t *n) { }
static void f(void) { }
extern void f(void);
inline void f(void) { }
static inline int f(void) { return 1; }
double f(double x) { return x; }
float f(void) { return 1.0; }
half f(half x) { return x; }
kernel void k(global half *p) { vstore_half(1.0f, 0, p); }
kernel void k(atomic_int x) { }
int atomic_int = 1;
void f(void) { int atomic_int = 1; atomic_int++; }
kernel void k(global atomic_int *p) { atomic_fetch_add(p, 1); }
kernel void k(volatile global atomic_int *p) { atomic_store(p, 1); }
kernel void k(volatile global int *p) { atomic_add(p, 1); atomic_inc(p); }
kernel void k(volatile global int *p) { atom_add(p, 1); }
kernel void k(volatile local int *p) { atomic_max(p, 1); }
void f(void) { int memory_order = 1; }
void f(void) { int memory_order_relaxed = 1; memory_order_relaxed++; }
void f(void) { memory_order o = memory_order_relaxed; }
void f(void) { memory_scope o = memory_scope_device; }
kernel void k(global int *p) { barrier(CLK_LOCAL_MEM_FENCE); }
kernel void k(global int *p) { work_group_barrier(CLK_LOCAL_MEM_FENCE); }
kernel void k(global int *p) { work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group); }
void f(void) { atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group); }
kernel void k(global int *p) { mem_fence(CLK_LOCAL_MEM_FENCE); }
kernel void k(global int *p) { p[0] = get_global_linear_id(); }
kernel void k(global int *p) { p[0] = get_local_linear_id(); }
kernel void k(global int *p) { p[0] = get_enqueued_local_size(0); }
kernel void k(global int *p) { p[0] = get_global_offset(0); }
kernel void k(global int *p) { p[0] = ctz(p[1]); }
kernel void k(global int *p) { p[0] = popcount(p[1]); }
kernel void k(global int *p) { p[0] = clz(p[1]); }
kernel void k(global int *p) { p[0] = work_group_all(p[1]); }
kernel void k(global int *p) { p[0] = work_group_any(p[1]); }
kernel void k(global int *p) { p[0] = work_group_reduce_add(p[1]); }
kernel void k(global int *p) { p[0] = work_group_broadcast(p[1], 0); }
kernel void k(global int *p) { p[0] = work_group_scan_inclusive_max(p[1]); }
int ctz(int x) { return x; } kernel void k(global int *p) { p[0] = ctz(p[1]); }
int popcount(int x) { return x; } kernel void k(global int *p) { p[0] = popcount(p[1]); }
int work_group_all(int x) { return x; } kernel void k(global int *p) { p[0] = work_group_all(p[1]); }
kernel void k(global float *p) { float i; p[0] = fract(p[1], &i); }
kernel void k(global float *p) { p[0] = fract(p[1], p + 2); }
kernel void k(global float *p, local float *q) { p[0] = fract(p[1], q); }
kernel void k(global float *p) { float c; p[0] = sincos(p[1], &c) + c; }
kernel void k(global float *p) { int e; p[0] = frexp(p[1], &e) + e; }
kernel void k(global float4 *p) { int4 e; p[0] = frexp(p[1], &e); }
kernel void k(global float *p) { p[0] = vload4(0, p).x; }
kernel void k(global float *p) { float a[4]; p[0] = vload4(0, a).x; }
kernel void k(constant float *q, global float *p) { p[0] = vload4(0, q).x; }
kernel void k(global float *p) { vstore4((float4)(1), 0, p); }
kernel void k(global float *p) { float a[4]; vstore4((float4)(1), 0, a); p[0] = a[1]; }
kernel void k(global int *p) { global int *q = to_global(p); }
kernel void k(global int *p) { int x; int *q = &x; int **r = &q; **r = 1; p[0] = x; }
kernel void k(global int *p) { global int *q = p; global int **r = &q; **r = 1; }
kernel void k(global int *p) { int *a[2]; a[0] = p; }
kernel void k(global int *p) { global int *a[2]; a[0] = p; a[0][0] = 1; }
kernel void k(global int *p) { void *v = p; }
kernel void k(global int *p) { global void *v = p; global int *q = v; }
kernel void k(global int *p) { int x; void *v = &x; int *q = v; }
kernel void k(global int *p) { p = 0; int *q = 0; q = NULL; p = NULL; }
kernel void k(global int *p) { int x; int *q = &x; if (q == p) *p = 1; }
kernel void k(global int *p, local int *l) { int *q = p[0] ? p : l; }
kernel void k(global int *p) { int x; int *q = p[0] ? p : &x; }
kernel void k(global int *p, local int *l) { if (p == l) *p = 1; }
kernel void k(global int *p) { *(int *)p = 1; }
kernel void k(global int *p) { long a = (long)p; int *q = (int *)a; }
kernel void k(global int *p) { private int *q = (private int *)p; }
kernel void k(global int *p) { int *q; private int *r = q; private int *s = (private int *)q; }
kernel void k(global int *p) { int *q; private int *s = (private int *)q; }
void g(private int *p) { *p = 1; } void f(void) { int x; int *q = &x; g(q); }
void g(private int *p) { *p = 1; } void f(void) { int x; g(&x); }
struct S { int a; }; void g(struct S *s) { s->a = 1; } kernel void k(global struct S *s) { g(s); }
struct S { int a; }; void g(struct S *s) { } kernel void k(global struct S *s) { struct S t = *s; g(&t); }
struct S { int a; }; kernel void k(global int *p) { struct S s = {1}; struct S *q = &s; p[0] = q->a; }
kernel void k(global int *p) { p[0] = (&p[1])[0]; int *q = &p[1]; }
kernel void k(global int4 *p) { int *q = (int *)p; }
kernel void k(global int4 *p) { int4 v = p[0]; int *q = (int *)&v; p[0].x = q[2]; }
kernel void k(constant int *c, global int *p) { const int *q = c; }
kernel void k(global int *p) { const char *s = "x"; }
kernel void k(global int *p) { constant char *s = "x"; }
void g(const int *s) { } kernel void k(global int *p) { g("x"); }
kernel void k(global int *p) { for (int i = 0; i < 4; i++) p[i] = i; }
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void k(global int *p) { p[0] = 1; }
kernel void k(global int *p) { __attribute__((opencl_unroll_hint(2))) for (int i = 0; i < 4; i++) p[i] = i; }
kernel void k(__attribute__((nosvm)) global int *p) { p[0] = 1; }
void g(int n, ...) { }
void f(void) { int read_write = 1; }
kernel void k(global int *p) { int x = p[0]; switch (x) { case 1 ... 3: p[1] = 2; } }
typedef enum { A, B } E; kernel void k(global int *p) { E e = A; p[0] = e; }
kernel void k(global int *p) { int a[] = { [1] = 2 }; p[0] = a[1]; }
kernel void k(global int *p) { p[0] = CHAR_BIT; }
kernel void k(global long *p) { long long x = 1; }
kernel void k(global int *p) { p[0] = isnan(1.0f); }
kernel void k(global uchar *p) { p[0] = 1; }
kernel void k(global int *p) { p[0] = as_int(1.0f); }
kernel void k(global int *p) { *p = sub_group_all(1); }
kernel void k(global int *p) { int3 v = (int3)(1, 2, 3); p[0] = v.z; }
kernel void k(global int *p) { float3 v = vload3(0, (global float *)p); }
kernel void k(global float *p) { p[0] = shuffle((float4)(1), (uint4)(0)).x; }
void f(void) { goto x; x: ; }
kernel void k(global int *p) { int a = 1; { int a = 2; p[0] = a; } p[1] = a; }
kernel void k(void) { }
kernel void k() { }
kernel void k(global int *p) { p[0] = __OPENCL_C_VERSION__; }
_Static_assert(1, "x");
kernel void k(global int *p) { p[0] = sizeof(size_t) + sizeof(intptr_t) + sizeof(uintptr_t) + sizeof(ptrdiff_t); }
""".strip().splitlines()

STRICTER = {
    **dict.fromkeys(("void f(void) { int pipe = 1; pipe++; }", "void f(int pipe) { }",
                     "int pipe(int x) { return x; }"), "'pipe' is a word of the language in every version"),
}
"""What the package refuses in every version though clang accepts it in some, and why."""

LAXER = {
    "kernel void k(__attribute__((nosvm)) global int *p) { p[0] = 1; }": "the attribute means nothing here",
    "kernel void k(global int *p) { *p = sub_group_all(1); }": "drivers have the functions of extensions always",
}
"""What the package accepts in every version though clang refuses it in some, and why."""
