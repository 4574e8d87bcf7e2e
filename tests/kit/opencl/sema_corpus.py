"""Snippets of OpenCL C whose acceptance clang and the package must agree on, and where they differ on purpose."""

from __future__ import annotations

PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned long ulong; typedef unsigned short ushort;
typedef char char4 __attribute__((ext_vector_type(4))); typedef uchar uchar4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2))); typedef int int3 __attribute__((ext_vector_type(3)));
typedef int int4 __attribute__((ext_vector_type(4))); typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef long long4 __attribute__((ext_vector_type(4))); typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4))); typedef double double4 __attribute__((ext_vector_type(4)));
struct S { int a; float b; int c[3]; }; struct T { int a; }; union U { int i; float f; };
enum E { RED, GREEN = 5, BLUE };
int helper(int a, float4 b) { return a; } void nothing(void) { } int undef(int);
"""

PARAMETERS = """\
int i, uint u, long l, ulong ul, char ch, short sh, bool b, float x, double d, float4 v, int4 iv, uint4 uv, char4 cv,
long4 lv, int2 i2, int3 i3, float2 v2, double4 dv, __global int *p, __global float *q, __local int *lp,
__constant int *kp, const __global int *cp, __global void *vp, __private int *pp, struct S s, struct T t, union U un,
enum E e, __global struct S *sp, __global float4 *vecp"""

BODIES = """
i = 1; u = 2; x = i; i = x; d = x; ch = i; b = p; b = x;
i = v;
v = i; v = 1; v = 2.5f; v = d; iv = x;
iv = v;
uv = iv;
iv = (int4)v;
v = (float4)1; iv = (int4)(x); uv = (uint4)i;
v = (float4)(1, 2, 3, 4);
v = (float4)(1, 2, 3);
v = (float4)(1, 2, 3, 4, 5);
v = (float4)(v2, v2); v = (float4)(1, v2, 2);
v = (float4)(i2, i2);
iv = (int4)(iv);
v = v + 1; v = 1 + v; v = v * x;
v = v * d;
iv = iv + x;
iv = iv + l;
cv = cv + 1;
cv = cv + ch;
iv = iv + iv; iv = iv * 2; iv = iv / 3; iv = iv % 4;
iv = iv + uv;
v = v % v;
iv = v < v; iv = iv == iv;
uv = uv < uv;
iv = uv < uv;
lv = dv < dv;
i = v < v;
cv = cv == cv;
v = b ? v : v; v = i ? v : 1;
v = b ? v : iv;
v = iv ? v : v;
v = iv ? v : 1;
v = iv ? 1.0f : 2.0f;
iv = iv ? 1 : 2;
v = cv ? v : v;
v = v ? v : v;
x = x ? x : i; p = b ? p : 0; s = b ? s : s;
s = b ? s : t;
b ? nothing() : nothing();
p = b ? p : q;
p = b ? p : lp;
i = i2.x; i = iv.s0 + iv.sF;
v.x = 1; v.xy = v2; v.wzyx = v; v.lo = v2; v.hi = v.lo; v.even = v.odd; v.s01 = v2; v.S23 = v2; v.r = 1; v.rgba = v;
v.xx = v2;
v2 = v.xx;
v.xyz = v.xyz;
v.q = 1;
v.s4 = 1;
i2.z = 1;
v.xr = v2;
v.lo.x = 1; v.xyzw.lo.y = 2;
i = i.x;
v[0] = 1; x = v[i]; v[i] = x; iv[u] += 2;
p[i] = 1; i = p[l] + *p + *(p + 1) + 1[p]; p++; p += 3; p -= i; ++p; p--;
p[x] = 1;
p = p + x;
i = p - p; l = p - p;
i = p - q;
i = p - lp;
p = p * 2;
p = -p;
p = q;
p = lp;
lp = p;
p = cp;
cp = p;
vp = p; p = vp;
p = 0; p = (__global int *)0; p = (void *)0;
p = 1;
i = p;
l = (long)p; p = (__global int *)l; i = (int)l;
x = (float)p;
p = (__global int *)x;
p = (__global int *)q;
p = (__global int *)lp;
pp = &i; *pp = 3; int *gp = &i; gp = p; gp = lp; *gp = 1;
p = gp;
int *gp = p; p = (__global int *)gp;
int *gp = kp;
gp = &i; int *gp;
const int *gp = cp; gp = p;
int *gp = cp;
*cp = 1;
cp[2]++;
*kp = 1;
const int k = 1; k = 2;
const int k = 1; k++;
const int k = 1; const int *gp = &k;
int * const k = &i; *k = 1;
int * const k = &i; k = 0;
i = p == p; i = p < p; i = p == 0; i = !p; i = p && i; i = p != vp;
i = p == q;
i = p == lp;
i = p == 1;
i = p < x;
if (p) i = 1; if (x) i = 2; while (b) break; do i++; while (x > 1); for (;;) break;
if (v) i = 1;
while (s) i = 1;
if (iv == iv) i = 1;
i = s;
s = 1;
s = t;
s.a = 1; s.c[1] = s.a; s.b = x; sp->a = 2; sp->c[i]++; (*sp).b = 1; (&s)->a = 1;
s.z = 1;
s->a = 1;
sp.a = 1;
i.a = 1;
s.c = 0;
struct S z = { 1, 2, { 3 } }; z = s; struct S y = s; struct S w = { .b = 1, .c[1] = 3 };
struct S z = { .z = 1 };
struct S z = { 1, 2, 3, 4, 5, 6, 7 };
union U z = { 1 }; union U y = { .f = 2 }; z.f = z.i;
int a[3] = { 1, 2, 3 }; int c[] = { 1, 2 }; int m[2][2] = { { 1 }, { 2, 3 } }; int n[2][2] = { 1, 2, 3, 4 };
int a[2] = { 1, 2, 3 };
int a[2] = { [1] = 5 }; int c[] = { [4] = 1, 2 };
int a[2] = { [2] = 5 };
int a[2] = { [-1] = 5 };
int a[2] = { .x = 5 };
int a[];
int a[0 - 1];
int a[i];
int a[2.5];
int a[GREEN]; int c[sizeof(int)]; int m['a'];
int a[2]; a = 0;
int a[2]; int c[2]; a = c;
int a[2]; int *gp = a; a[0] = 1; i = *a; i = sizeof(a); gp = &a[1]; i = a == gp;
int a[2] = i;
char text[] = "abc"; char more[2] = "ab"; char c = "abc"[1];
__constant char *text = "abc";
char *text = "abc";
int a = { 1 };
int a = { 1, 2 };
int a = { };
float4 z = { 1, 2, 3, 4 };
float4 z = { 1, 2 };
int a, *c, d2[2], (*m)[2] = &d2;
int a; int a;
int a; { int a; } float a2;
int a; float a;
int i;
int x1 = x1;
undeclared = 1;
undeclared();
i = undef;
i();
i = helper(1, v);
i = helper(1);
i = helper(1, v, 3);
i = helper(v, v);
i = helper(1, 2);
i = helper(x, x);
i = helper(1, iv);
i = nothing();
nothing(1);
(void)i; (void)v; (void)s; (void)nothing();
i = (int)s;
s = (struct S)s;
i = +i - -i + ~i + !i; x = -x; u = ~u; v = -v; iv = ~iv; iv = !iv; l = !x;
x = ~x;
v = ~v;
s = -s;
i = !s;
i = *i;
i = *vp;
pp = &1;
pp = &v.x;
pp = &(i + 1);
i++; ++x; --u; d--; ch++; b++; iv++; --uv;
v++;
s++;
1++;
(i)++; (i) = 1; (i, u) = 1;
i + 1 = 2;
(b ? i : i) = 1;
(int)i = 1;
i += 1; i -= x; u *= 2; u /= 3; u %= 4; u &= 5; u |= 6; u ^= 7; u <<= 1; u >>= 2; v += 1; v *= v; iv <<= 1; p += 1;
v += iv;
i += v;
x %= 2;
x &= 1;
p *= 2;
iv += l;
i = i << 1; u = u >> l; iv = iv << 1; iv = iv << iv; iv = iv << uv; l = l << i; cv = cv << iv;
iv = i << iv;
x = x << 1;
i = i << x;
i = i & x;
i = 5 % 2.0f;
i = i && x || !p; iv = iv && iv; iv = iv || 1;
iv = v && v;
i = s && i;
i = iv && v;
i = (1, 2); for (i = 0, u = 1; i < 3; i++, u++) ;
switch (i) { case 1: case 2: i = 1; break; default: ; } switch (e) { case RED: ; case BLUE: break; } switch (l) { }
switch (i) { case 1: case 1: ; }
switch (i) { default: default: ; }
switch (x) { case 1: ; }
switch (i) { case i: ; }
switch (i) { case 1 ... 3: ; case 4: ; }
switch (i) { case 1 ... 3: ; case 2: ; }
switch (i) { case 1.5: ; }
case 1: ;
default: ;
break;
continue;
switch (i) { case 1: continue; }
while (1) { switch (i) { case 1: continue; } break; }
goto end; end: ;
goto nowhere;
end: ; end: ;
return;
return 1;
return nothing();
if (i) else i = 1;
if (i) ; else i = 1;
else i = 1;
for (int k = 0; k < 2; k++) i = k; for (;;) { break; } i = 1;
for (int k = 0; k < 2; k++) ; i = k;
int k = sizeof(int) + sizeof i + sizeof(struct S) + sizeof(v) + _Alignof(int4);
i = sizeof(void);
i = sizeof(struct Unknown);
i = sizeof int;
i = sizeof(int[3]) + sizeof(int *) + sizeof(__global int *);
enum E f = RED; f = 1; i = f; i = GREEN + 1; f++;
enum Unknown f;
struct Unknown f;
struct Unknown *f;
struct Local { int q; struct Local *next; }; struct Local z; z.q = 1; z.next = &z;
struct Local { int q; int q; };
struct Local { void q; };
struct Local { struct Local q; };
struct Local { int q[]; };
struct Local { int q : 3; };
struct Local { int (*q)(int); };
struct Local { __global int q; };
struct Local { struct { int inner; }; int outer; } z; z.inner = z.outer;
typedef int I; I z = 1; { float I = 2; x = I; } I y;
typedef int I; typedef int I;
typedef int I; typedef float I;
typedef int I = 2;
I z;
int (*z)(int);
int z(int);
void z;
void *z; z = p;
const z = 1;
unsigned z; signed y; long int w; unsigned short int sh2; short unsigned g; char signed h;
unsigned float z;
int float z;
short long z;
__local int z;
__global int z;
__private int z = 1; z++;
__local __global int *z;
static int z;
register int z = 1;
auto int z = 1;
volatile int z; z = 1; const volatile int y = 2;
__attribute__((aligned(16))) int z; int y __attribute__((aligned(8)));
__attribute__((aligned(3))) int z;
int z __attribute__((unknown_thing));
__attribute__((opencl_unroll_hint(4))) for (int k = 0; k < 4; k++) i++;
struct S *z = &(struct S){ 1 }; i = ((struct S){ 2 }).a; int *y = (int[]){ 1, 2 };
int z = 09;
float z = 1.0e;
i = 1 +;
i = (1;
i = p[1;
i = 1
helper(1, ;
{ i = 1;
i = 1; }
int z = 1, ;
i = "abc";
i = L"abc";
_Static_assert(1, "x"); _Static_assert(sizeof(int) == 4, "");
_Static_assert(0, "x");
_Static_assert(i, "x");
;;; { } { ; }
x = x ? x : i;
int a[(1, 2)];
int a[(int)2.5]; const int n = 3; int c[n]; switch (i) { case n: ; }
int a[i == i];
int a[1 ? 2 : i];
int a[3]; a++;
int a[3]; int *z = &a;
p = 1 - 1; p = 0L; p = (char)0;
p = 0.0f;
i = 3e10f; ch = 1000; u = -1; x = 16777217; b = 2.5;
i = p == lp;
p = 1 ? 0 : p; p = 0 ? p : (void *)0;
iv.s = 1;
i = i ? i : ;
i = ? 1 : 2;
int z[2][3]; z[1][2] = 1; i = sizeof(z[0]); int (*y)[3] = z; i = (*y)[1]; y[1][1] = 2;
int z[2][3]; int *y = z;
vecp->x = 1; vecp[1].xy = v2; (*vecp).lo = v2; x = vecp->w;
double4 z = dv * 2.0; d = 1.0 + d; d = d + x + i; dv = dv + x; dv = dv + l;
half h = 1.0h; h = h + h; h = 2; x = h * 2.0f; i = h;
i = ({ int z = u; z + 1; }); ({ i = 1; }); ({ ; }); ({}); i = ({ s; }).c[1]; i = ({ if (i) return; i; });
i = ({ if (i) u = 1; });
i = ({ int z; z; }) + ({ 2; }); x = sizeof(({ v; }));
for (int k = ({ 0; }); k < ({ 3; }); k += ({ 1; })) i = ({ if (k) break; k; });
i = ({ case 1: 2; });
int z[({ 3; })];
i = i ?: 3; x = x ?: i; p = p ?: 0; iv = iv ?: iv; iv = iv ?: 1; i = (i++) ?: u; l = b ?: l;
i = s ?: 1;
p = p ?: x;
i = i ? : 2;
__typeof__(i) z = 1; __typeof__(int *) y = &z; __typeof(z + 1.0f) w = 2; z = *y;
const __typeof__(v) q = v; __typeof__(p) r = p;
__typeof__(s.c) z = { 1, 2, 3 }; __typeof__(z[0]) *y = z; __typeof__(int[2]) w; w[1] = *y;
__typeof__(unknown) z;
const int k = 1; __typeof__(k) z = 1; z = 2;
typeof(i) z = 1;
__auto_type z = x; __auto_type y = p; *y = z; const __auto_type w = 1;
__auto_type z;
__auto_type z = { 1 };
__auto_type z[2] = { 1 };
i = _Generic(i, int: 1, float: 2, default: 3) + _Generic(x, float: 1) + _Generic(p, __global int *: 1, default: p);
i = _Generic(i, float: 1);
i = _Generic(i, int: 1, int: 2);
i = _Generic(i, default: 1, default: 2);
i = _Generic(i, struct Unknown: 1, default: 2);
i = _Generic(i++, int: i, default: undeclared(1));
i = _Generic(i, int: x, default: s);
struct S z = _Generic(i, int: s, default: t);
i = __builtin_popcount(u) + __builtin_popcountl(ul) + __builtin_popcountll(ul) + __builtin_ctz(u) + __builtin_clzl(ul);
i = __builtin_ffs(i) + __builtin_ffsl(l) + __builtin_parity(u) + __builtin_clrsb(i) + __builtin_clrsbl(l);
u = __builtin_bswap32(u); sh = __builtin_bswap16(sh); ul = __builtin_bswap64(ul); u = __builtin_rotateleft32(u, 3);
i = __builtin_popcount(p);
i = __builtin_popcount(v);
i = __builtin_popcount();
i = __builtin_popcount(i, u);
i = __builtin_popcount(x);
int z[__builtin_popcount(7)], y[__builtin_ctz(8)], w[__builtin_clz(1)], a2[__builtin_ffs(4)];
int z[__builtin_bswap32(0x1000000)];
int z[__builtin_ctz(0)];
int z[__builtin_popcount(i)];
__builtin_assume(i > 0); __builtin_assume(i); __builtin_assume(x); __builtin_assume(p); __builtin_assume(p[1] && s.a);
__builtin_assume(i++);
__builtin_assume(v);
__builtin_assume(s);
__builtin_assume();
__builtin_assume(i, u);
i = __builtin_assume(i);
int *y = (int *)__builtin_assume_aligned(pp, 16); y = (int *)__builtin_assume_aligned(pp, 16, 4);
int *y = (int *)__builtin_assume_aligned(pp, 15);
int *y = (int *)__builtin_assume_aligned(pp, i);
int *y = (int *)__builtin_assume_aligned(i, 16);
int *y = (int *)__builtin_assume_aligned(pp);
if (__builtin_expect(i > 0, 1)) i = __builtin_expect(u, i); i = __builtin_expect_with_probability(i, 1, 0.9);
i = __builtin_expect(p, 1);
i = __builtin_expect(i);
i = __builtin_expect_with_probability(i, 1, 1.5);
i = __builtin_expect_with_probability(i, 1, d);
if (i) __builtin_unreachable(); if (u) __builtin_trap(); i = u ? 1 : (__builtin_unreachable(), 2);
__builtin_unreachable(1);
i = __builtin_unreachable();
i = __builtin_astype(x, int); iv = __builtin_astype(v, int4); u = __builtin_astype(cv, uint);
iv = __builtin_astype(i3, int4);
i = __builtin_astype(v, int);
i = __builtin_astype(x);
l = __builtin_astype(p, long);
v = __builtin_convertvector(iv, float4); cv = __builtin_convertvector(v, char4);
lv = __builtin_convertvector(iv, long4);
v2 = __builtin_convertvector(iv, float2);
x = __builtin_convertvector(i, float);
v = __builtin_convertvector(iv, float);
i2 = __builtin_shufflevector(iv, iv, 0, 5); iv = __builtin_shufflevector(i2, i2, 3, 2, 1, -1);
iv = __builtin_shufflevector(iv, iv);
iv = __builtin_shufflevector(iv, uv, 0, 1, 2, 3);
iv = __builtin_shufflevector(iv, iv, 0, 1, 2, 8);
iv = __builtin_shufflevector(iv, iv, 0, 1, 2, i);
iv = __builtin_shufflevector(i, i, 0, 1, 2, 3);
iv = __builtin_shufflevector(iv);
iv = __builtin_shufflevector(iv, i, 0, 1, 2, 3);
int z[__builtin_offsetof(struct S, c[1])]; ul = __builtin_offsetof(struct S, c[i]) + __builtin_offsetof(union U, f);
i = __builtin_offsetof(int, a);
i = __builtin_offsetof(struct S, z);
i = __builtin_offsetof(struct S, a.b);
i = __builtin_offsetof(struct S, a[1]);
i = __builtin_offsetof(struct Unknown, a);
int z[1 + __builtin_types_compatible_p(int, int) + __builtin_types_compatible_p(int, float)];
i = __builtin_choose_expr(1, i, s); s = __builtin_choose_expr(0, i, s);
i = __builtin_choose_expr(i, 1, 2);
int z[1 + __builtin_constant_p(3)]; i = __builtin_constant_p(i) + __builtin_constant_p("a") + __builtin_constant_p(v);
x = __builtin_fabsf(x) + __builtin_sqrtf(2) + __builtin_inff() + __builtin_nanf("") + __builtin_huge_valf();
i = __builtin_isnan(x);
__builtin_prefetch(pp); __builtin_prefetch(pp, 0, 3);
i = __builtin_nontemporal_load(p); __builtin_nontemporal_store(i, p);
__builtin_prefetch(pp, i);
i = __builtin_unknown_thing(1);
i = __func__[0] + __FUNCTION__[1] + sizeof(__PRETTY_FUNCTION__);
__func__[0] = 1;
switch (l) { case 0x100000000: i = 1; break; case -1: ; } switch (b) { case 0: ; case 1: ; }
struct Local { int q; int m __attribute__((aligned(16))); char r; int n __attribute__((packed)); } z; z.m = z.n;
struct Local { struct { int q; union { int m; float n; }; }; int r; } z; z.q = z.m + z.r; z.n = 1;
struct Local { int q; _Static_assert(1, "x"); } z; z.q = 1;
struct Local { int q; int r[0]; } z; z.r[0] = 1; int y[0]; i = sizeof(y);
struct S z = { a: 1, b: 2 }; int y[4] = { [1 ... 2] = 3, 4 }; struct S w[2] = { [0 ... 1] = { 1 } };
int z[4] = { [2 ... 1] = 3 };
int z[4] = { [2 ... 4] = 3 };
int z[] = {};
int z __attribute__((aligned(32))) = 1; _Alignas(16) int y; _Alignas(long) char w; i = _Alignof(z) + _Alignof(int4);
int z __attribute__((aligned(0)));
int z __attribute__((aligned(i)));
int *z __attribute__((align_value(64))) = pp; int *y __attribute__((align_value(3)));
int z __attribute__((align_value(64)));
int z __attribute__((unused)), y __attribute__((__unused__, aligned(8))), w __attribute__((no_such_attribute(1, "x")));
__attribute__((opencl_unroll_hint)) while (i) i--; __attribute__((__opencl_unroll_hint__(2))) do i--; while (i);
__attribute__((opencl_unroll_hint(4))) i = 1;
__attribute__((opencl_unroll_hint(-1))) while (i) i--;
switch (i) { case 1: i = 2; __attribute__((fallthrough)); case 2: ; } l: __attribute__((unused)); goto l;
enum { K = 0xFFFFFFFF, M } z = K; l = z + M; switch (z) { case K: ; case M: ; } int y[K > 0 ? 1 : -1];
enum { K = 0x100000000, M }; int z[sizeof(K) == 8 ? 1 : -1];
enum { K = -1, M = 0xFFFFFFFF } z; int y[sizeof(z) == 8 ? 1 : -1];
enum { K } z = K; int y[sizeof(z) == 4 ? 1 : -1]; i = z - 1 < 0;
static int z; static int y = 3; z = y++; static const int w[2] = { 1, 2 }; i = w[i]; static __constant int k2 = 4;
static int z = i;
static __local int z;
static __private int z;
extern __global int z; i = z;
__global int z = 1;
long long z = 1LL; unsigned long long y = 2ULL;
float z = 1.0l;
""".strip("\n").split("\n")
"""Bodies of functions, one a line."""

FILES = """
int f(void) { return 1; } int f(void) { return 2; }
int f(void); int f(void) { return 1; } int f(void);
int f(void); float f(void) { return 1; }
int f(int); int f(float a) { return 1; }
void f(int a, int a) { }
void f(int a) { int a; }
void f(int a) { { int a = 1; a++; } }
void f(int) { }
void f(int, float b) { }
void f(a) { }
void f(int a[3], int b[]) { a[1] = b[2]; }
void f(int a[3]) { } void g(void) { int b[3]; f(b); }
void f(int a[3]) { } void g(__global int *p) { f(p); }
void f(int a[]) { } void g(int *p) { f(p); }
void f(int a[2][3]) { } void g(__private int (*p)[3]) { f(p); }
void f(__global int a[3]) { } void g(__global int *p) { f(p); }
typedef int A[3]; void f(A a) { } void g(__local int *p) { f(p); }
void f(int a[3]); void f(__private int *a) { }
void f(int a[3]); void f(int *a) { }
__kernel void f(int a[3]) { }
void f(void a) { }
void f(void) { } void g(void) { f(); }
void f(int a, ...);
void f(__global int a) { }
void f(__local int *a, __constant float *b, __private char *c) { }
int f(void)[3];
struct S { int a; }; struct S f(void) { struct S s = { 1 }; return s; } int g(void) { return f().a; }
struct S { int a[2]; }; struct S f(void) { struct S s; return s; } int g(void) { return f().a[1]; }
struct S f(void);
struct S; struct S { int a; }; struct S s(void);
struct S { int a; }; struct S { int b; };
struct S { int a; }; union S u(void);
enum E { A, B, A };
enum E { A = 1, B = A + 2, C = B << 1 }; int f(void) { int x[C]; return x[A]; }
enum E { A = x };
enum E { A = 1.5 };
enum E { };
enum E { A, };
__constant int a = 1; __constant int b[2] = { 1, 2 }; __constant float c = 1.0f / 3;
__constant struct { int x; } s = { 1 };
__constant int a;
__constant int a = 1; void f(void) { a = 2; }
int g(void) { return 1; } __constant int a = g();
__constant int a = 1; __constant int b = a + 1;
__constant int a = 1 << 3 | (4 > 3 ? 5 : 6); __constant int b[sizeof(a)] = { 0 };
__constant char text[] = "abc"; __constant char four[4] = "abc";
__constant int *a = 0;
__constant int a = (1, 2); __constant int b[(2)] = { a, a + 1 }; __constant int c = b[1] * 2;
__constant int a = 1 / 0;
__local int a;
__kernel void k(__global int *p, int n) { p[0] = n; }
__kernel int k(__global int *p) { return 1; }
__kernel void k(int *p) { }
__kernel void k(__private int *p) { }
__kernel void k(__global int **p) { }
__kernel void k(bool b) { }
__kernel void k(__local float *l, __constant int *c) { l[0] = c[0]; }
struct S { int a; }; __kernel void k(struct S s, __global struct S *p) { *p = s; }
struct S { bool b; }; __kernel void k(struct S s) { }
__kernel void k(__global int *p) { __local int a[4]; a[0] = p[0]; }
__kernel void k(__global int *p) { __local int a = 1; }
__kernel void k(__global int *p) { if (p[0]) { __local int a; a = 1; } }
void f(void) { __local int a; }
__kernel void k(__global int *p) { __constant int a = 1; p[0] = a; }
__kernel void k(__global int *p) { __constant int a; }
void f(void) { __constant int a = 1; }
__kernel void k(__global int *p) { p[0] = 1; } __kernel void j(__global int *p) { k(p); }
__kernel void k(void) { }
kernel void k(global int *p, constant int *c, local int *l) { private int z = c[0]; p[0] = z; l[0] = 1; }
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void k(__global int *p) { }
__attribute__((reqd_work_group_size(8, 8, 1))) __kernel void k(__global int *p) { }
__kernel void k(__global int *p) __attribute__((reqd_work_group_size(8, 8, 1))); __kernel void k(__global int *p) { }
__kernel __attribute__((reqd_work_group_size(8, 8))) void k(__global int *p) { }
__kernel __attribute__((reqd_work_group_size(0, 8, 8))) void k(__global int *p) { }
__kernel __attribute__((work_group_size_hint(8, 8, 1), vec_type_hint(float))) void k(__global int *p) { }
__kernel __attribute__((intel_reqd_sub_group_size(16))) void k(__global int *p) { }
__attribute__((reqd_work_group_size(8, 8, 1))) void f(void) { }
__kernel int a;
inline int a;
static inline int f(void) { return 1; }
static void f(void); static void f(void) { }
static static int f(void) { return 1; }
typedef struct S { int a; struct S *next; } S; void f(S *s) { s = s->next; }
typedef int I; void f(I I) { I = 1; }
typedef int I; I I;
typedef int A[3]; void f(void) { A a = { 1, 2, 3 }; a[0] = 1; }
typedef int F(int);
typedef const int C; void f(void) { C c = 1; c = 2; }
typedef __global int G; void f(G *g) { *g = 1; }
int x y;
int;
struct S { int a; }
struct S { int a };
struct { int a; };
void f(void) { int a
void f(void) { return 1; }
int f(void) { return; }
int f(void) { return "a"; }
}
void f(void) { } }
void f(void { }
void f(void) { void g(void) { } }
void f(int a b) { }
void f(int a, ) { }
case 1: ;
x = 3;
_Static_assert(1, "");
_Static_assert(0, "");
;
int f(int a) { int a2 = a; { typedef float a; a z = 1.5f; a2 = z; } return a + a2; }
unsigned f(signed a) { return a; } long g(unsigned long a) { return a; } short h(short int a) { return a; }
void f(const int a) { a = 1; }
void f(int n, int a[n]) { }
__attribute__((always_inline)) int f(void) { return 1; } int g(void) __attribute__((noinline));
int f(int x) { switch (x) { case 1: return 1; default: return 2; } }
void f(int x) { int a[3] = { 1, 2, 3 }; for (int i = 0, *p = a; i < 3; i++, p++) x += *p; }
void f(void) { float a = .5f, b = 1e3f, c = 0x1p-3f; int d = 'a', e = 0x1F, g = 017; unsigned long h = 1ul; }
void f(void) { int a = (int)sizeof(int) * -1; int b = (a) - 1; int c = (a)(1); }
void f(void) { int a = 1; a: a++; goto a; }
void f(event_t e) { event_t a = 0, b = e, c = 1 - 1, d = (event_t)0, g = 0ul, h[2], i[3] = { 0, e }; a = b; h[1] = e; }
void f(event_t e) { event_t *p = &e, q[2] = { 0 }; p = q; *p = e; e = p[1]; e; (void)e; }
event_t f(const event_t e, int i) { return i, e; } event_t g(void) { return 0; } void h(void) { f(0, 1); }
typedef event_t E; int f(E e) { return sizeof(e) + sizeof(event_t[2]) + __alignof__(event_t); }
typedef event_t E[2]; void f(void) { E e; e[0] = e[1]; }
void f(void) { event_t e = 1; }
void f(int i) { event_t e = i; }
void f(void) { event_t e = 0.0f; }
void f(int *p) { event_t e = p; }
void f(void) { event_t e = {0}; }
void f(event_t x) { event_t e = {x}; }
void f(void) { event_t e; e = 0; }
void f(void) { event_t e = (event_t)1; }
void f(int i) { event_t e = (event_t)i; }
void f(event_t e) { int i = (int)e; }
void f(event_t e) { int *p = (int *)e; }
void f(event_t e) { long i = e; }
void g(int i) { } void f(event_t e) { g(e); }
void g(event_t e) { } void f(void) { g(2); }
event_t f(void) { return 1; }
void f(event_t e) { e + e; }
void f(event_t e) { e += 1; }
void f(event_t e) { -e; }
void f(event_t e) { !e; }
void f(event_t e) { e++; }
void f(event_t e) { e == e; }
void f(event_t e) { e == 0; }
void f(event_t e) { e && 1; }
void f(event_t e) { if (e) ; }
void f(event_t e) { switch (e) { } }
void f(event_t e) { e ? 1 : 2; }
event_t f(event_t e, int i) { return i ? e : e; }
event_t f(event_t e, int i) { return i ? e : (event_t)0; }
event_t f(event_t e, int i) { return i ? e : 0; }
event_t f(event_t e, int i) { return i ? e : i; }
void f(event_t e) { e[0]; }
void f(event_t e) { *e; }
void f(event_t e) { e.x; }
event_t e;
__constant event_t e = 0;
__global event_t e;
struct S { event_t e; };
union U { event_t e; int i; };
struct S { __private event_t *e; };
struct S { event_t e[2]; };
__kernel void k(event_t e) { }
__kernel void k(__global event_t *e) { }
__kernel void k(void) { __local event_t e; }
__kernel void k(void) { __local event_t e[2]; }
__kernel void k(void) { __constant event_t e = 0; }
void f(void) { static event_t e; }
event_t e[2];
void f(int n) { event_t e[n]; }
void f(void) { int event_t = 1; event_t++; }
int f(int a) { return ({ int b = a; b; }); } int g(int); int g(int a) { return ({ if (a) return 1; 2; }); }
int a = ({ 1; });
int f(int a) { goto x; return ({ int b = 1; b; }); x: return a; }
typedef float fn(float); fn f, g; float f(float a) { return a; } float h(float a) { return f(a); }
typedef float fn(float); fn f { return 1; }
typedef float fn(float); fn *p;
typedef float fn(float); struct S { fn f; };
typedef float fn(float); fn a[3];
typedef void kfn(__global int *); __kernel kfn k; __kernel void k(__global int *p) { }
typedef int T(int) { return 1; }
int f(a) int a; { return a; } int g(a, b) int a; float *b; { return a + *b; }
int f(a, b) int a; { return a; }
struct S { int a; int b[]; }; int f(__global struct S *s) { return s->b[s->a] + sizeof(struct S); }
struct S { int b[]; };
struct S { int b[]; int a; };
union U { int a; int b[]; };
struct S { int a; int b[]; }; __constant struct S s = { 1 };
struct S { int b[0]; int a; }; void f(void) { struct S s = { 3 }; }
struct S { char c; int i; } __attribute__((packed)); _Static_assert(sizeof(struct S) == 5, "");
struct __attribute__((packed)) S { char c; int i; } s; _Static_assert(sizeof(struct S) == 5, "");
struct S { char c; int i __attribute__((aligned(16))); char d; }; _Static_assert(sizeof(struct S) == 32, "");
struct S { char c; __attribute__((aligned(16))) int i; }; _Static_assert(__builtin_offsetof(struct S, i) == 16, "");
struct S { char c; int i __attribute__((packed)); long l; }; _Static_assert(sizeof(struct S) == 16, "");
struct S { char c; int i __attribute__((packed, aligned(2))); }; _Static_assert(sizeof(struct S) == 6, "");
struct S { char c; int *p; } __attribute__((aligned)); _Static_assert(_Alignof(struct S) == 16, "");
struct __attribute__((aligned(32))) S; struct S { int a; }; _Static_assert(sizeof(struct S) == 32, "");
struct S { _Alignas(16) int a; }; _Static_assert(sizeof(struct S) == 16, "");
struct S { char c; struct { int i; } __attribute__((packed)); char d; }; _Static_assert(sizeof(struct S) == 6, "");
union U { char c[5]; int i; } __attribute__((packed)); _Static_assert(sizeof(union U) == 5, "");
union U { char c[5]; int i __attribute__((aligned(8))); }; _Static_assert(sizeof(union U) == 8, "");
typedef int A __attribute__((aligned(16))); struct S { char c; A i; }; _Static_assert(sizeof(struct S) == 32, "");
typedef int A __attribute__((aligned(2))); struct S { char c; A i; }; _Static_assert(sizeof(struct S) == 6, "");
typedef struct { char c; int i; } S __attribute__((aligned(16))); int z[_Alignof(S) == 16 && sizeof(S) == 8 ? 1 : -1];
typedef int A __attribute__((aligned(16))); A a[2];
typedef int A __attribute__((aligned(1))); int f(__global char *p) { return *(__global A *)(p + 1); }
_Pragma("pack(push, 1)") struct S { char c; int i; }; _Pragma("pack(pop)") _Static_assert(sizeof(struct S) == 5, "");
_Pragma("pack(2)") struct S { char c; long l; int i __attribute__((aligned(8))); }; int z[sizeof(struct S) == 14?1:-1];
_Pragma("pack(push, x, 1)") _Pragma("pack(push, 2)") _Pragma("pack(pop, x)") struct S { int i; char c; };
_Pragma("pack(1)") _Pragma("pack()") struct S { char c; int i; }; _Static_assert(sizeof(struct S) == 8, "");
_Pragma("pack(3)") struct S { char c; int i; }; _Static_assert(sizeof(struct S) == 8, "");
enum E { A = 0x80000000, B = 0xFFFFFFFF }; _Static_assert(sizeof(enum E) == 4 && B > 0, "");
enum E { A = 0x7fffffff, B }; _Static_assert(B > 0, "");
enum E { A = 0xffffffffffffffff, B }; _Static_assert(sizeof(enum E) == 8, "");
enum E { A = 1UL << 63, B = -1L };
enum E { A, B = 300 } __attribute__((packed)); _Static_assert(sizeof(enum E) == 2, "");
enum __attribute__((packed)) E { A = -1, B = 127 }; _Static_assert(sizeof(enum E) == 1, "");
enum E { A, B = A + 2, C = sizeof(enum { X, Y }) } __attribute__((unused)); enum F { D __attribute__((deprecated)) };
enum E { A }; int *f(enum E *e, unsigned *u) { e = u; u = e; return 0; }
__global int a; __global int a; __global int a = 3; int f(void) { return a; }
int a = 1; int a = 2;
int a; float a;
int a; void f(void) { a = 1; } static int b = 2; const int c = 3;
const int c = 3; void f(void) { c = 1; }
extern int a; int a = 3; int f(void) { return a; }
extern __constant int a; __constant int a = 3; extern __constant int a; int f(void) { return a; }
extern __constant int a[]; __constant int a[3] = { 1, 2, 3 }; int f(int i) { return a[i]; }
extern int a; __constant int a = 3;
__local int a; __private int b;
__constant char *s = "text"; __constant char *__constant t = "abc"; __constant char *__constant u[] = { "a", "bc" };
char *s = "text";
const char *s = "text";
__constant int a[3] = { 1, 2, 3 }; __constant int *__constant p[] = { a, &a[1] }; __constant int *__constant q = p[1];
__constant int a = 1; __constant int *__constant p = &a; __constant long l = (long)&a;
__constant int a = 1; __global int *p = &a;
__global int g[3]; __global int *p = &g[1]; int *q = g + 2; int f(void) { return *p + *q; }
struct N { __constant char *name; int v; }; __constant struct N n[] = { { "a", 1 }, { .v = 2, .name = "b" } };
__constant unsigned char *__constant p = (__constant unsigned char *)"abc"; __constant void *__constant q = "abc" + 1;
__constant int *p = (__constant int[]){ 1, 2 };
int x; int y = x;
const int x = 1; int y[x];
__constant float t[2] = { [0 ... 1] = 1.5f };
int f(int n) { static int calls; return calls += n; }
int f(int n) { static int a = n; return a; }
void f(void) { static __local int a; }
__kernel static void k(void) { }
static __kernel void k(void) { }
__kernel void main(void) { }
void main(void) { }
__kernel void k(unsigned long n, long m) { }
typedef __typeof__(sizeof(int)) size_type; __kernel void k(size_type n) { }
__kernel void k(__global int *__global *p) { }
__kernel void k(__global int *__local *p, __constant int *__constant *q) { }
__kernel void k(__global int **p) { }
__kernel void k(enum E { A, B } e) { }
__attribute__((vec_type_hint(int))) __kernel void k(void) { }
__attribute__((vec_type_hint(void))) __kernel void k(void) { }
__attribute__((vec_type_hint(int))) void f(void) { }
typedef float V __attribute__((vector_size(16))); V f(V a, V b) { return a + b; }
typedef float V __attribute__((vector_size(6)));
typedef float V __attribute__((ext_vector_type(4))); float f(V a) { return a.x; }
__attribute__((always_inline)) __attribute__((const, pure, nothrow)) int f(void) { return 1; }
__attribute__((noinline, unused, weak, visibility("default"))) int f(void) __attribute__((deprecated("old")));
__attribute__((format(printf, 1, 2))) int f(__constant char *a, int b);
__kernel __attribute__((no_such_attribute)) void k(__global int *p __attribute__((nosvm))) { }
int f(int *p __attribute__((align_value(64))), int * __attribute__((align_value(64))) q) { return *p + *q; }
_Noreturn void f(void);
_Static_assert(sizeof(int) == 4, "a" "b"); struct S { int a; _Static_assert(sizeof(int) == 4, ""); };
int f(void), g(void), *h(void), a; int f(void) { return 1; }
__auto_type a = 3; int f(void) { return a; }
long long f(unsigned long long a) { return a; }
long long long a;
""".strip("\n").split("\n")
"""Whole files, one a line."""

STRICTER: dict[str, str] = {
    "struct S { event_t e[2]; };": "an array of events is no more a member than an event is",
    "event_t e[2];": "an array of events is no more a program-scope variable than an event is",
    "__kernel void k(void) { __local event_t e[2]; }": "an array of events is no more in local memory than an event",
    "__kernel void k(__global event_t *e) { }": "no memory that the host could pass holds events",
    "extern __global int z; i = z;": "a program is one translation unit: nothing else can define the variable",
}
"""What clang accepts and the package refuses, and why."""

LAXER: dict[str, str] = {
    "int a[1 ? 2 : i];": "C99 6.6 lets the operand that is not evaluated be anything",
    **dict.fromkeys(("p = q;", "int a[3]; int *z = &a;", "int z[2][3]; int *y = z;",
                     "int O f(__global int *a) D int O f(float a) D int g(__global float *p) { return f(p); }"),
                    "pointers of incompatible types are a warning up to clang 21, and in the drivers made of it"),
    'enum E { A = 0xffffffffffffffff, B }; _Static_assert(sizeof(enum E) == 8, "");': "a warning in clang 16",
}
"""What clang refuses and the package accepts, and why."""
