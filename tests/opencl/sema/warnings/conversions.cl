kernel void k(global int *p, int n, uint u, long l, ulong ul, short s, ushort us, float f, half h, double d, char c, uchar uc) {
  char c1 = n; c1 = s; c1 = n & 0x7f; c1 = n & 0xff; uchar u1 = n & 0xff; c1 = n >> 24; u1 = u >> 24; c1 = n % 100; 
  short s1 = n; s1 = c; s1 = uc; s1 = us; us = s; us = n; 
  int i1 = l; i1 = ul; i1 = u; u = n; u = s; u = c; u = uc; i1 = us; n = u / 2; n = u & 1; u = n & 3; n = l & 0xff;
  long l1 = n; l1 = u; l1 = ul; ul = l; ul = n; ul = u;
  size_t g = n; int gi = get_global_id(0); uint gu = get_global_id(0); g = n * 4; g = u * 4;
  float f1 = n; f1 = s; f1 = l; f1 = d; f1 = 1.0; f1 = 0.1; f1 = u; f1 = uc; f1 = n & 0xff;
  half h1 = f; h1 = s; h1 = c; h1 = d; h1 = 1.5f; h1 = 0.1f;
  double d1 = f; d1 = l; d1 = n; d1 = h; d1 = 1.5f;
  n = f; n = d; n = h; u = f; c = f; bool b = f; b = n; b = 3; 
  char k1 = 200; char k2 = 255; uchar k3 = 256; uchar k4 = -1; uchar k5 = -200; uchar k6 = -300; char k7 = 0x80; char k8 = 200u; short k9 = 40000; ushort k10 = -1; uint k11 = -1; int k12 = 4294967295; int k13 = 0xffffffff; int k14 = 0x80000000; uint k15 = 4294967296; char k16 = -129; long k17 = 0xffffffffffffffff; ulong k18 = -1; int k19 = 3000000000u; uint k20 = 5000000000;
  n = 16777217; f = 16777217; f = 16777216; h = 2049; h = 100000;
  n = 1.5; n = 1.0; n = 1e20; u = -1.5f; c = 300.0f; n = 1.5f;
  n += f; c += n; c += 1; n += l; f += d; u += n; f *= n; c <<= 1; n -= u;
  n = n + u; f = f * n; f = f + d; l = l + u; ul = ul + n; u = u + n; u = u * 4; u = u + -1; if (u == n) {} d = f * d; f = n ? f : n; n = n ? u : n;
  p[n] = ul; p[u] = 1; p[l] = c;
}
int rn(long l) { return l; }
char rc(void) { return 300; }
float rf(int n) { return n; }
void pa(char c, uint u, float f) { }
void call(int n, long l, double d) { pa(n, n, n); pa(l, l, l); pa(1, -1, d); pa(300, 1, 1.5); }
