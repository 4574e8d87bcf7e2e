"""Small programs compute what clang's code computes: structures, arrays, pointers, calls and control flow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coopmat as cm
from tests.kit.oracles import native

RESULTS = 64

PRELUDE = """
typedef unsigned char uchar; typedef unsigned int uint; typedef unsigned long ulong; typedef unsigned short ushort;
typedef int int2 __attribute__((ext_vector_type(2))); typedef int int3 __attribute__((ext_vector_type(3)));
typedef int int4 __attribute__((ext_vector_type(4))); typedef int int8 __attribute__((ext_vector_type(8)));
typedef uchar uchar4 __attribute__((ext_vector_type(4))); typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
"""

# Each writes to out[0], out[1], …; what stands before "|" is at file scope.
PROGRAMS = {
    "structures by value": """
struct in { int a[3]; short b; };
struct s { char c; struct in in; float f; };
struct s make(int x) { struct s s = { x, { { 1, x, 3 }, 4 }, 1.5f }; return s; }
int sum(struct s s) { s.in.a[0] += 100; return s.c + s.in.a[0] + s.in.a[1] + s.in.a[2] + s.in.b + (int)(s.f * 2); }
| struct s s = make(7), t = s; t.in.a[1] = 50; out[0] = sum(s); out[1] = sum(t); out[2] = s.in.a[0];
  out[3] = make(9).in.a[1]; out[4] = (t = s, t.in.b); out[5] = (s = make(2)).c; out[6] = sizeof(struct s);
""",
    "unions": """
union u { uint i; float f; uchar b[4]; struct { ushort low, high; }; };
union padded { struct { char c; int i; } s; ulong l; };
struct p { int x; union u u; };
__constant union u c = { 5 }; __constant union u f = { .f = -1.5f };
__constant struct p table[3] = { { 1 }, { .x = 5 }, [2] = { 7, { 8 } } };
__constant union padded wide = { .l = 0x1122334455667788 };
| union u u = { 0x3f800000 }; out[0] = (int)u.f; u.b[3] = 0x40; out[1] = u.i; out[2] = u.high; union u v = { .f
  = -2 };
  out[3] = v.i; u = v; out[4] = u.b[3]; out[5] = sizeof(u);
  int n = out[5]; out[6] = c.i + n; out[7] = f.i; out[8] = table[n - 2].u.i + table[n - 3].x; out[9] = wide.l;
  struct p own[3] = { { 1 }, { .x = n }, [2] = { 7, { n + 4 } } }; out[10] = own[n - 2].u.i + own[1].x;
  union padded copy = wide, other = copy; out[11] = other.l; out[12] = ((union u){ .f = n }).i;
""",
    "designated initialisers": """
struct p { int x, y; };
__constant struct p table[4] = { [2] = { .y = 5 }, { 6, 7 }, [0].x = 1 };
__constant int sparse[] = { [5] = 1, 2, [1] = 9 };
| for (int i = 0; i < 4; i++) { out[2 * i] = table[i].x; out[2 * i + 1] = table[i].y; }
  for (int i = 0; i < sizeof(sparse) / sizeof(int); i++) out[8 + i] = sparse[i];
  int m[2][3][2] = { { { 1 }, 2, 3, 4 }, [1][2] = { [1] = 8 } }; int n = 16;
  for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 2; k++) out[n++] = m[i][j][k];
  struct p q[] = { 1, 2, 3 }; out[n++] = q[1].x + 10 * q[1].y; out[n++] = sizeof(q);
  struct { struct p a; int b[2]; } z = { .a.y = 3, 4, .b[1] = 5 }; out[n++] = z.a.x; out[n++] = z.a.y;
  out[n++] = z.b[0]; out[n++] = z.b[1];
""",
    "pointers": """
void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
int total(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int *pick(int *a, int *b, int which) { return which ? a : b; }
| int a[5] = { 1, 2, 3, 4, 5 }; swap(a, &a[4]); swap(a + 1, a + 3); for (int i = 0; i < 5; i++) out[i] = a[i];
  out[5] = total(a, 5); int *p = a + 1, *q = &a[4]; out[6] = q - p; out[7] = *p++ + *--q; out[8] = p[-1] + 2[a];
  *pick(p, q, 1) = 77; out[9] = a[2]; int **pp = &p; **pp += 1; *pp += 1; out[10] = *p; out[11] = p == q;
  out[12] = p < q; out[13] = (p && q) + !p; long offset = -2; out[14] = p[offset]; int m[2][3] = { 1, 2, 3, 4, 5, 6 };
  int (*row)[3] = m; out[15] = row[1][2] + (*row)[1] + **(row + 1); int *end = &m[1][3]; out[16] = end[-1];
  char *bytes = (char *)a; bytes[1] = 3; out[17] = a[0]; struct { int x; int *p; } s = { 4, &a[2] }; *s.p += s.x;
  out[18] = a[2]; out[19] = (ulong)(p + 1) - (ulong)p;
""",
    "address spaces": """
__constant int table[3] = { 10, 20, 30 };
__constant char *text(void) { return "hello"; }
int constant_sum(__constant int *p) { return p[0] + p[2]; }
int generic_sum(int *p) { return p[0] + p[1]; }
void store(__global long *p, long v) { *p = v; }
| int mine[2] = { 1, 2 }; out[0] = generic_sum(mine); out[1] = constant_sum(table); store(out + 2, 5);
  store(&out[3], 6);
  __global long *g = out; g[4] = text()[1]; __constant char *c = "ab" "c"; out[5] = c[2]; out[6] = sizeof("abc");
  char copy[] = "xyz"; copy[0]++; out[7] = copy[0] + copy[3]; long *any = out; any[8] = any[3] + 1;
  any = (long *)0; out[9] = any == 0; out[10] = table[1];
""",
    "loops": """
| int n = 0; for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 7) break; n += i; } out[0] = n;
  int i = 0; while (1) { if (++i > 5) break; if (i & 1) continue; n += 100; } out[1] = n; do { n--; if (n <
  200) continue;
  n -= 10; } while (n > 190); out[2] = n; for (;;) { for (;;) { break; } break; } int j, k;
  for (j = 0, k = 10; j < k; j++, k--) ; out[3] = j * 100 + k; do n = 1; while (0); out[4] = n;
  for (int i = 0; i < 2; i++) { int fresh = 5; fresh += i; out[5 + i] = fresh; } while (n < 50) n *= 3; out[7] = n;
  for (uint u = 3; u-- > 0;) out[8 + u] = u;
""",
    "switches": """
int f(int x) { switch (x) { case 1: return 10; case 2: case 3: x += 5; case 4: x += 7; break; case -1: { x =
  99; break; }
  default: x = -x; case 100: x++; } return x; }
int g(long x) { int n = 0; switch (x) { case 1 ... 3: n = 1; break; case 0x100000000: n = 2; } return n; }
enum e { A, B = 5, C };
enum e next(enum e e) { return e == A ? B : e == B ? C : A; } struct boxed { enum e e; };
struct boxed box(enum e e) { struct boxed b = { e }; return b; }
int h(enum e e) { switch (e) { case A: return 1; case B: return 2; case C: return 3; } return 4; }
| for (int i = -1; i < 6; i++) out[i + 1] = f(i); out[7] = f(100); out[8] = g(2); out[9] = g(0x100000000);
  out[10] = g(0);
  out[11] = h(A) + 10 * h(B) + 100 * h(C) + 1000 * h(7); int n = 0; switch (3) { case 1: while (n < 3) { case
  3: n++; } }
  out[12] = n; switch (n) n = 50; out[13] = n; for (int i = 0; i < 5; i++) { switch (i) { case 2: continue; }
  out[14 + i] = i; }
  out[20] = next(A); out[21] = box(next(B)).e + (next(C) < B);
""",
    "jumps": """
int collatz(int n) { int steps = 0; again: if (n == 1) goto done; n = n & 1 ? 3 * n + 1 : n / 2; steps++; goto again;
  done: return steps; }
| out[0] = collatz(27); int i = 0; top: for (; i < 5; i++) { if (i == 2) { i += 2; goto top; } if (i == 4) goto
  out_; }
  out_: out[1] = i; { int x = 1; goto skip; x = 2; skip: out[2] = x; } goto end; out[3] = 9; end: ;
""",
    "vectors in memory": """
int4 twice(int4 v) { v.x += 1; return v * 2; }
| int4 v = (int4)(1, 2, 3, 4); v.xy = v.zw; v.w += 10; v.s2++; int4 w = twice(v); out[0] = v.x; out[1] = v.y;
  out[2] = v.z;
  out[3] = v.w; out[4] = w.x; out[5] = w.w; v.wzyx = w; out[6] = v.x; v.lo *= 2; out[7] = v.y; v.even = v.odd;
  out[8] = v.x + v.z; int8 big = (int8)(v, w); big.hi.lo.y = 77; out[9] = big.s5; big.s01234567 = big.s76543210;
  out[10] = big.s2; int4 a[2] = { v, w }; a[1].yz = (int2)(5, 6); out[11] = a[1].y + a[1].z; int n = 3; v[n] =
  8; out[12] = v[n - 0];
  uchar4 c = (uchar4)(250, 1, 2, 3); c += (uchar)10; out[13] = c.x; c.x--; out[14] = c.x; int4 m = v == v;
  out[15] = m.x;
  m = v < w ? v : w; out[16] = m.x + m.y; float4 f = 2; f = f * 1.5f + v.x; out[17] = (int)f.z; float2 g = f.xw / 2;
  out[18] = (int)(g.x * 100); int3 t = (int3)(1, 2, 3); t = t.zyx; out[19] = t.x * 100 + t.y * 10 + t.z;
  out[20] = sizeof(t);
  struct { int3 v; int s; } r = { t, 4 }; out[21] = r.v.z + r.s; __private int4 *p = &v; p->y = 31; out[22] =
  (*p).y; v = -v; v = ~v;
  out[23] = v.y; int2 b = (int2)(1, 0) && 1; out[24] = b.x * 10 + b.y; v = (int4)(1, 2, 3, 4) << (int4)(1, 2,
  33, 0); out[25] = v.z;
  out[26] = ((int4)(7)).w; v = (int4){ 4, 3, 2, 1 }; out[27] = v.y; v++; --v; v %= 3; out[28] = v.x; out[29] = !v.y;
""",
    "conversions": """
int narrow(char c) { return c; }
uchar wide(int x) { return x; }
bool truth(float f) { return f; }
| out[0] = narrow(300); out[1] = wide(-1); out[2] = truth(0.25f) + truth(0); char c = 127; c++; out[3] = c;
  uchar u = 0; u--;
  out[4] = u; short s = 40000; out[5] = s; uint big = -1; out[6] = big; out[7] = big > -1; out[8] = (long)big +
  1; out[9] = -1 < 1u;
  out[10] = (char)200 < 0; out[11] = (int)-2.9f; out[12] = (uint)3.99f; float f = 16777217; out[13] = (int)f;
  out[14] = 7 / -2;
  out[15] = -7 % 3; out[16] = -7 >> 1; out[17] = (uint)-7 >> 1; out[18] = 1 << 31; out[19] = 'a' + '\\n'; bool
  b = 5; b++;
  out[20] = b; out[21] = !!7 + !0; c = 1; c <<= 7; out[22] = c; c = -128; c /= -1; out[23] = c; u = 200; u *=
  2; out[24] = u;
  s = -1; s >>= 1; out[25] = s; long l = 1; l <<= 40; out[26] = l; int i = 5; i *= 1.5f; out[27] = i; i -= 0.5;
  out[28] = i;
  out[29] = 5 / 2 * 2.0f; out[30] = (5, 6); out[31] = sizeof(c + c) + sizeof(c) * 10; out[32] = 0xffffffff + 1;
  out[33] = 0x7fffffff + 1u;
""",
    "side effects": """
int calls(__private int *counter, int result) { (*counter)++; return result; }
| int n = 0; out[0] = calls(&n, 0) && calls(&n, 1); out[1] = n; out[2] = calls(&n, 1) || calls(&n, 0); out[3] = n;
  out[4] = calls(&n, 1) ? calls(&n, 5) : calls(&n, 6); out[5] = n; int a[3] = { 0 }; int i = 0; a[i++] += 5;
  out[6] = a[0] * 10 + i;
  out[7] = i; int *p = a; *p++ = 9; out[8] = a[0]; out[9] = *p; int x = 1; x += x++ * 0 + 2; out[10] = sizeof(x++);
  out[11] = x > 0; int y = (x = 4, x + 1); out[12] = y; x = y = 7; out[13] = x; out[14] = (x += 2) * 2; int z =
  -x++ - --y; out[15] = z;
  out[16] = n ? n > 3 ? 1 : 2 : 3; i = 0; int b[2] = { i++, i++ }; out[17] = b[0] + b[1]; a[calls(&n, 1)] += 3;
  out[18] = n;
""",
    "compound literals": """
struct p { int x, y; };
int sum(struct p p) { return p.x * 10 + p.y; }
int first(const int *p) { return p[0] + p[1]; }
| out[0] = sum((struct p){ 3, 4 }); out[1] = sum((struct p){ .y = 5 }); out[2] = first((int[]){ 7, 8, 9 });
  struct p *q = &(struct p){ 1, 2 }; q->x = 6; out[3] = sum(*q); for (int i = 0; i < 3; i++) { struct p *r =
  &(struct p){ i };
  r->y++; out[4 + i] = sum(*r); } out[7] = ((int[2]){ 1, 2 })[1]; out[8] = (struct p){ 8, 9 }.y; out[9] =
  sizeof((int[5]){ 0 });
""",
    "scopes": """
enum { N = 4 };
typedef int T;
__constant int x = 1;
int f(int T) { return T + N; }
| out[0] = x; int x = 2; out[1] = x; { int x = 3; { out[2] = x; } x++; out[3] = x; } out[4] = x; for (int x =
  9; x < 10; x++) out[5] = x;
  T a = 5; { float T = 2.5f; out[6] = (int)(T * 2); } T b = a; out[7] = b; { enum { N = 6 }; out[8] = N; }
  out[9] = N; out[10] = f(1);
  struct T { int T; } T = { 11 }; out[11] = T.T; if (x) { int x = 20; out[12] = x; } else { int x = 30; out[12]
  = x; } out[13] = x;
  const int size = N + 1; int array[size]; array[4] = 3; out[14] = sizeof(array) + array[4];
""",
    "functions": """
int later(int);
static int square(int x) { return x * x; }
static inline int cube(int x) { return x * square(x); }
void none(void) { return; }
void early(__global long *out, int x) { if (x) { *out = 1; return; } *out = 2; }
float mixed(char c, float f, double d, long l) { return c + f + d + l; }
static int many(int a, int b, int c, int d, int e, int f, int g, int h) { return a - b + c * d - e + f * g - h; }
| out[0] = later(3); out[1] = cube(3) + square(later(1)); none(); early(out + 2, 1); early(&out[3], 0); out[4]
  = mixed(1, 2, 3, 4);
  out[5] = mixed(1.9f, 2, 3.5f, 4.9f); out[6] = many(1, 2, 3, 4, 5, 6, 7, 8); int a = 2; a = square(a = 3);
  out[7] = a;
  out[8] = square(square(square(2)));
} int later(int x) { return x + 1;
""",
}


def source(program: str) -> str:
    """The whole file: the declarations, then the kernel with the program's body."""
    declarations, _, body = program.partition("\n| ")
    body, _, behind = body.partition("\n} ")
    tail = f"\n{behind}\n}}" if behind else ""
    return f"{PRELUDE}{declarations}\n__kernel void k(__global long *out) {{\n{body}\n}}{tail}\n"


@native.needed
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_what_clang_computes(name: str, tmp_path: Path) -> None:
    text = source(PROGRAMS[name])
    expected, found = np.full(RESULTS, -12345), np.full(RESULTS, -12345)
    native.run_natively(tmp_path)(text, [expected])
    native.run_simulated(text, [found])
    assert expected[0] != -12345
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["unions", "switches"])
def test_llvm_computes_the_same(name: str, tmp_path: Path) -> None:
    """Constant unions and enumerations as parameters are where the two builders could differ."""
    text, path = source(PROGRAMS[name]), tmp_path / "k.ll"
    expected, found = np.full(RESULTS, -12345), np.full(RESULTS, -12345)
    native.run_simulated(text, [expected])
    path.write_text(cm.build(text, device=cm.device("sim:generic")).llvm_ir, encoding="utf-8")
    native.run_simulated(path, [found])
    assert found.tolist() == expected.tolist()
